"""Data of self-play: rows for the first finetuning, lemmas for the conjecturer, and the tables that STP published.

python -m nanoproof.data.download stp                                            # kfdong/STP_Lean_SFT
python -m nanoproof.data.stp prepare                                             # three files of rows from that table
python -m nanoproof.data.stp theorem-dict --data repo:NAME --source DIR --out lemmas.json
python -m nanoproof.data.stp build --data BENCHMARK --source MATHLIB --out DIR   # rows from traced source files
python -m nanoproof.data.stp show FILE.parquet --max 3                           # rows of a published table

`--data` is what was traced of a repository (`repo:NAME`, or the folder of a trace) or a data set as LeanDojo exports,
and `--source` the folder with its files; NanoLean's library is one like any other (docs/self-play.md). A row has a
`prompt`, a `target` and maybe a `weight`. The examples are those of arXiv 2502.00212: a theorem to complete after the
text of its file, and a theorem to state after a lemma and an earlier theorem of the file that uses it.
"""

import ast
import io
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from nanoproof.common.config import Parser
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import read_json, read_object, read_text
from nanoproof.common.run_dir import home, repo_name, trace_folder
from nanoproof.data.sources.manifest import file_paths
from nanoproof.data.theorems.theorem_sets import json_rows, jsonl_rows, parquet_rows
from nanoproof.data.weighted_rows import CONJECTURE_MARKER, Row, conjecture_text, row_of, write_packed_json, write_rows
from nanoproof.lean.declarations import Declaration, outline
from nanoproof.lean.lexical import blank_comments, mask
from nanoproof.lean.source import sorries
from nanoproof.lean.types import SourceError, Theorem
from nanoproof.policy.prompt import proof_prompt

NAME = "stp"
# The prompt of DeepSeek-Prover-V1.5, the model that STP begins with.
COMPLETE = "Complete the following Lean 4 code:\n\n```lean4\n"
HELD_OUT = 4096
"""Proof examples that are kept apart to validate on."""
OF_LEANWORKBOOK = "lean_workbook"
"""What a prompt on a problem of LeanWorkbook holds."""
FORMATS = ("stp", "nanoproof")
_BY = re.compile(r":=\s*by(?![\w.'!?])")
_BEHIND_BLOCK = re.compile(r"(?<![\w.'«])(?:where|termination_by|decreasing_by)(?![\w.'»])")
_CODE = re.compile(r"\S")

# -- Traced theorems -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SourceTheorem:
    """A theorem with its text, whole lines, statement and proof; `before` is the text of its file up to there.

    `premises` are the full names of those that its tactics name, each once, in order.
    """

    full_name: str
    path: str
    before: str
    text: str
    premises: tuple[str, ...]

    @property
    def statement(self) -> str:
        """Return the text up to its first `:=`, where the published program cuts, be that in a default value."""
        return self.text.partition(":=")[0].strip()

    @property
    def declaration(self) -> Declaration | None:
        """Return the theorem in its text, on whose lines there may be others; None where there is none."""
        theorems = [each for each in outline(self.text).declarations if each.keyword in ("theorem", "lemma")]
        for declaration in theorems:
            # Its text may be without the namespaces around it.
            if f".{self.full_name}".endswith(f".{declaration.full_name}"):
                return declaration
        return theorems[0] if theorems else None  # one that `to_additive` has made has another name


def whole_statement(text: str) -> str:
    """Return the text of a theorem or other declaration up to its proof or value, documentation and all."""
    declarations = outline(text).declarations
    if declarations:
        text = text[: declarations[0].statement_end]
    return text.strip()


def traced_theorems(data: str, source: Path, left_out: Counter[str] | None = None) -> dict[str, list[SourceTheorem]]:
    """Read the theorems with at least one traced tactic, by file, in the order of their lines.

    Those with a `sorry` have no proof to learn from; `left_out` counts them. Raises UserError for data that are no
    trace, and where a file is not below `source` or is shorter than traced.
    """
    by_file: dict[str, list[Mapping[str, Any]]] = {}
    for record in _records(data):
        if record["traced_tactics"]:
            by_file.setdefault(record["file_path"], []).append(record)
    if not by_file:
        raise UserError(f"--data {data} holds no theorem with a tactic")
    theorems: dict[str, list[SourceTheorem]] = {}
    for path, records in sorted(by_file.items()):
        # Not by `splitlines`, for which Unicode has line breaks that are none to Lean.
        lines = io.StringIO(read_text(source / path)).readlines()
        records.sort(key=lambda record: record["start"][0])
        theorems[path] = []
        for record in records:
            # [line, column], both from 1; whole lines are taken, with what else may be on them.
            first, last = record["start"][0], record["end"][0]
            if not 1 <= first <= last <= len(lines):
                raise UserError(f"{source / path} has {len(lines)} lines; {record['full_name']} was traced at {first}")
            before, text = "".join(lines[: first - 1]), "".join(lines[first - 1 : last]).rstrip("\n")
            if sorries(mask(text)):
                if left_out is not None:
                    left_out["it has a sorry"] += 1
                continue
            names: list[str] = []
            for tactic in record["traced_tactics"]:
                names += _names(tactic)
            theorems[path].append(SourceTheorem(record["full_name"], path, before, text, tuple(dict.fromkeys(names))))
    return theorems


def _names(tactic: Mapping[str, Any]) -> Iterator[str]:
    # [the tactic's text with marks, its premises], as LeanDojo exports; nothing where none was found.
    annotated: Sequence[Any] = tactic.get("annotated_tactic") or ("", [])
    for premise in annotated[1]:
        yield premise["full_name"]


def _records(data: str) -> Iterator[Mapping[str, Any]]:
    """Yield the theorems of a trace or of a LeanDojo export, with the fields of the latter."""
    repo = repo_name(data)
    if repo is None:
        folder = Path(data).expanduser()
    else:
        folder = trace_folder(repo)
    try:
        if (folder / "random").is_dir():
            # The strategy does not matter here: the splits of each have all theorems between them.
            for split in ("train", "val", "test"):
                yield from read_json(folder / "random" / f"{split}.json")
            return
        order = (read_object(folder / "summary.json") or {}).get("order")
        if not isinstance(order, list):
            raise UserError(
                f"--data {data}: neither a trace (python -m nanoproof.repos trace DIR) nor LeanDojo's export"
            )
        for name in order:
            for theorem in read_json(folder / "files" / f"{name}.json")["file"]["theorems"]:
                tactics = []
                for tactic in theorem["tactics"]:
                    tactics.append({"annotated_tactic": (tactic["marked"], tactic["premises"])})
                yield {**theorem, "file_path": theorem["path"], "traced_tactics": tactics}
    except (KeyError, TypeError, IndexError) as error:
        raise UserError(f"--data {data} is damaged: {error!r}") from error


def theorem_dict(theorems: Mapping[str, Sequence[SourceTheorem]]) -> dict[str, tuple[str, str]]:
    """Return file and text of each theorem, by full name."""
    texts = {}
    for theorem in chain.from_iterable(theorems.values()):
        texts[theorem.full_name] = theorem.path, theorem.text
    return texts


# -- Examples --------------------------------------------------------------------------------------------------------


def conjecture_pairs(
    theorems: Sequence[SourceTheorem], lemmas: Mapping[str, tuple[str, str]]
) -> Iterator[tuple[str, SourceTheorem, SourceTheorem]]:
    """Yield all (lemma, earlier theorem, theorem) of a file such that both proofs use the lemma, in order."""
    using: dict[str, list[SourceTheorem]] = {}
    for hard in theorems:
        # A premise of another library has no text here, and the conjecturer is shown the text.
        used_lemmas = [name for name in hard.premises if name in lemmas]
        for name in used_lemmas:
            for easy in using.get(name, ()):
                yield name, easy, hard
        for name in used_lemmas:
            using.setdefault(name, []).append(hard)


class LeftOut(Exception):
    """A theorem gives no example for a network of ours; the message is the reason."""


def proof_rows(
    theorems: Mapping[str, Sequence[SourceTheorem]], how: str, left_out: Counter[str] | None = None
) -> list[Row]:
    """Write the proof examples of all files: the theorem after its file's text, or for `nanoproof` after its statement.

    The latter leaves out theorems whose proof is no block of tactics; `left_out` counts them by reason.
    """
    rows = []
    for theorem in chain.from_iterable(theorems.values()):
        if how == "stp":
            rows.append(Row(f"{COMPLETE}{theorem.before}", theorem.text))
            continue
        try:
            rows.append(_own_proof(theorem))
        except LeftOut as reason:
            if left_out is not None:
                left_out[str(reason)] += 1
    return rows


def _own_proof(theorem: SourceTheorem) -> Row:
    declaration = theorem.declaration
    if declaration is None:
        raise LeftOut("its lines hold no theorem")
    block = _BY.match(declaration.masked, declaration.statement_end)
    if block is None:
        raise LeftOut("its proof is no block of tactics")
    masked, end = declaration.masked, declaration.end
    if more := _BEHIND_BLOCK.search(masked, block.end(), end):
        raise LeftOut(f"`{more.group()}` belongs to its proof")
    first = _CODE.search(masked, block.end(), end)
    if first is None:
        raise LeftOut("its proof is empty")
    column = first.start() - theorem.text.rfind("\n", 0, first.start()) - 1
    is_below = "\n" in masked[block.end() : first.start()]
    proof = _dedented(theorem.text[first.start() : end].split("\n"), column, is_below)
    head = theorem.text[: declaration.statement_end].rstrip()
    try:
        # On a line of its own: a comment at the end of the statement would swallow it.
        return Row(proof_prompt(Theorem(f"{head}\n  := by sorry")), proof)
    except SourceError as error:
        raise LeftOut("its statement cannot be read") from error


def _dedented(lines: Sequence[str], column: int, is_below: bool) -> str:
    """Move a block of tactics to the margin; the first of its lines begins with the tactic that is at `column`.

    `is_below` is false if that is on the line of the `by`.
    """
    margins = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
    if not is_below and margins and min(margins) < column:
        column = min(margins) - 2  # none is in the column of the first tactic, so that all go on with it
    moved = [lines[0].rstrip()]
    for line in lines[1:]:
        code = line.strip()
        margin = len(line) - len(line.lstrip()) - column
        # Tactics begin in the first one's column: what is further to the left goes on with the one above.
        moved.append(" " * (margin if margin >= 0 else 2) + code if code else "")
    return "\n".join(moved)


def conjecture_rows(
    theorems: Mapping[str, Sequence[SourceTheorem]], lemmas: Mapping[str, tuple[str, str]], how: str
) -> list[Row]:
    """Write the conjecture examples of all files.

    For `nanoproof` without the file's text, and with the lemma's statement alone, as the conjecturer is asked.
    """
    rows = []
    for of_file in theorems.values():
        for name, easy, hard in conjecture_pairs(of_file, lemmas):
            lemma = lemmas[name][1]
            if how == "stp":
                prompt = f"{COMPLETE}{easy.before.strip()}\n{conjecture_text(lemma, easy.text)}"
                rows.append(Row(prompt, f"\n{hard.statement}\n</hard theorem>"))
            elif (own := hard.declaration) is not None:
                prompt = conjecture_text(whole_statement(lemma), easy.text.strip())
                # A comment at its end would swallow the `:=`.
                stated = hard.text[own.head : len(blank_comments(hard.text[: own.statement_end]).rstrip())]
                rows.append(Row(f"{prompt}\n{CONJECTURE_MARKER}", f"{stated} := by\n</hard theorem>"))
    return rows


def split_rows(proofs: Sequence[Row], conjectures: Sequence[Row], held_out: int) -> tuple[list[Row], list[Row]]:
    """Return rows to train on and to validate on: the first proof examples in random order are held out."""
    proofs = list(proofs)
    random.Random(0).shuffle(proofs)  # neighbours in a file are alike
    train = [*conjectures, *proofs[held_out:]]
    random.Random(0).shuffle(train)
    return train, proofs[:held_out]


# -- Published tables ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReleasedRow:
    """A row of a published table: of `kfdong/STP_Lean_0320` with its tags, such as `conjecture`, and its iteration."""

    row: Row
    tags: tuple[str, ...] = ()
    iteration: int | None = None


def read_released(path: Path) -> Iterator[ReleasedRow]:
    """Read a published table: Parquet, JSON or JSONL, with `prompt`, `target` and maybe `weight`, `tag`, `iteration`.

    Raises UserError for other rows.
    """
    for place, record in _table(path):
        iteration = record.get("iteration")
        if iteration is not None and (isinstance(iteration, bool) or not isinstance(iteration, int)):
            raise UserError(f"{place}: `iteration` must be a number, got {iteration!r}")
        yield ReleasedRow(row_of(record, place), _tags(record.get("tag"), place), iteration)


def _table(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    if path.suffix == ".parquet":
        import pyarrow.parquet

        try:
            names = pyarrow.parquet.read_schema(path).names
        except (OSError, ValueError) as error:
            raise UserError(f"{path} cannot be read: {error}") from error
        columns = [name for name in ("prompt", "target", "weight", "tag", "iteration") if name in names]
        yield from parquet_rows(path, columns)
    elif path.suffix == ".jsonl":
        yield from jsonl_rows(path)
    else:
        yield from json_rows(path)


def _tags(value: Any, place: str) -> tuple[str, ...]:
    """Read tags: a list, the text of one (as Python prints it, in the published tables), or a single tag."""
    tags = value
    try:
        if isinstance(value, str) and value.startswith("["):
            tags = ast.literal_eval(value)
    except (ValueError, SyntaxError) as error:
        raise UserError(f"{place}: `tag` is not the text of a list: {value!r}") from error
    if isinstance(tags, str):
        tags = [tags]
    tags = tags or []
    if not isinstance(tags, list | tuple) or not all(isinstance(tag, str) for tag in tags):
        raise UserError(f"{place}: `tag` must hold texts, got {value!r}")
    return tuple(tags)


def prepare(out: Path) -> dict[str, int]:
    """Write the three files of rows from the table of the first finetuning; returns the rows of each.

    Raises UserError if it was not downloaded.
    """
    train = _released_rows("*train-*.parquet")
    # The table has no column for it; names of LeanWorkbook's theorems tell.
    mathlib = [row for row in train if OF_LEANWORKBOOK not in row.prompt]
    files = {
        "mathlib_leanworkbook.json": train,
        "mathlib.json": mathlib,
        "eval.json": _released_rows("*eval-*.parquet"),
    }
    counts = {}
    for name, rows in files.items():
        write_rows(out / name, rows)
        counts[name] = len(rows)
    return counts


def _released_rows(pattern: str) -> list[Row]:
    tables = map(read_released, file_paths(NAME, pattern))
    return [released.row for released in chain.from_iterable(tables)]


# -- The command -----------------------------------------------------------------------------------------------------


def _make_parser() -> Parser:
    parser = Parser(prog="python -m nanoproof.data.stp", description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    prepared = commands.add_parser("prepare", help="Write rows from the downloaded table.")
    prepared.add_argument("--out", metavar="DIR", help="Where to (default: $NANOPROOF_HOME/data/SFT).")
    lemmas = commands.add_parser("theorem-dict", help="Write the lemmas that the conjecturer may be shown.")
    build = commands.add_parser("build", help="Write proof and conjecture examples.")
    for command in (lemmas, build):
        command.add_argument("--data", required=True, metavar="repo:NAME|DIR", help="A trace, or LeanDojo's export.")
        command.add_argument("--source", required=True, metavar="DIR", help="Folder with the files that were traced.")
    lemmas.add_argument("--out", required=True, metavar="FILE", help="JSON: full name -> [file, text].")
    build.add_argument("--out", required=True, metavar="DIR", help="Folder for train.json and eval.json.")
    build.add_argument("--format", choices=FORMATS, default="stp", help="nanoproof: prompts for a network of ours.")
    build.add_argument("--held-out", type=int, default=HELD_OUT, metavar="N", help="Proof examples to validate on.")
    show = commands.add_parser("show", help="Print rows of a published table.")
    show.add_argument("file", metavar="FILE")
    show.add_argument("--max", type=int, default=5, metavar="N", help="The first so many.")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and print what it wrote."""
    args = _make_parser().parse_args(argv)
    if args.command == "show":
        for number, released in zip(range(args.max), read_released(Path(args.file).expanduser())):
            row, tags = released.row, ", ".join(released.tags) or "none"
            about = f"weight {row.weight:g}, tags {tags}, iteration {released.iteration}"
            print(f"-- row {number}: {about}\n{row.prompt}\n-- target\n{row.target}\n")
        return 0
    if args.command == "prepare":
        out = Path(args.out).expanduser() if args.out else home() / "data" / "SFT"
        for name, count in prepare(out).items():
            print(f"{count:>10,} rows -> {out / name}")
        return 0
    left_out: Counter[str] = Counter()
    theorems = traced_theorems(args.data, Path(args.source).expanduser(), left_out)
    lemma_texts, out = theorem_dict(theorems), Path(args.out).expanduser()
    if args.command == "theorem-dict":
        write_packed_json(out, {name: list(entry) for name, entry in lemma_texts.items()})
        print(f"{len(lemma_texts):,} theorems -> {out}")
        return 0
    if args.held_out < 0:
        raise UserError(f"--held-out must be >= 0, got {args.held_out}")
    conjectures = conjecture_rows(theorems, lemma_texts, args.format)
    train, valid = split_rows(proof_rows(theorems, args.format, left_out), conjectures, args.held_out)
    write_rows(out / "train.json", train)
    write_rows(out / "eval.json", valid)
    print(f"{len(train):,} rows, {len(conjectures):,} of them conjectures -> {out / 'train.json'}")
    print(f"{len(valid):,} rows -> {out / 'eval.json'}")
    for reason, count in left_out.most_common():
        print(f"{count:,} theorems without a proof row: {reason}")
    return 0


if __name__ == "__main__":
    run_main(main)
