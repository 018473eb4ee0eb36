"""Compare two data sets: shared theorem names, statements, and 13-grams of words.

    python -m nanoproof.data.contamination leangithubraw minif2f
    python -m nanoproof.data.contamination numinamath:train proofnet:test --json
    python -m nanoproof.data.contamination ~/corpus/lean.parquet minif2f:valid

A set is the name of a data set, `NAME:SPLIT` for a split of it, or a file or directory (parquet or jsonl with a column
`text`, `source` or `formal_statement`, LeanTree's jsonl, .lean, .txt). The first may be large: it is read once, piece
by piece; the index of the second is kept in memory. Statements are compared by their text (`theorems/overlap.py` says
what counts as equal); two sets of the embedded prover are compared as elaborated, too.
"""

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from nanoproof.common.config import Parser
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.terminal import Progress
from nanoproof.data.nanolean import statement_key
from nanoproof.data.sources.manifest import file_path
from nanoproof.data.text.documents import NAMED_CORPORA, Documents, text_corpus
from nanoproof.data.text.text_files import files_below
from nanoproof.data.theorems import overlap
from nanoproof.data.theorems.theorem_sets import DATASETS, FIXED, jsonl_rows, list_theorems, splits_of
from nanoproof.data.transitions.leantree import first_goal_statement, split_lines
from nanoproof.lean.types import Theorem

EMBEDDED = "nanolean"
SUFFIXES = (".parquet", ".jsonl", ".lean", ".txt")
FIELDS = ("text", "source", "formal_statement")
MOSTLY = 0.5
"""A theorem is mostly contained in a document that holds this share of its n-grams."""

Key = Callable[[str], str] | None
Read = Callable[[str, str], Iterable[overlap.Piece]]
"""Makes pieces of a text and its label."""


@dataclass
class Found:
    """The overlaps of one kind: the labels of the pieces of both sets, and the first examples."""

    of_a: set[str] = field(default_factory=set)
    of_b: set[str] = field(default_factory=set)
    mostly: set[str] = field(default_factory=set)
    examples: list[dict[str, Any]] = field(default_factory=list)

    def add(self, hit: overlap.Hit, examples: int) -> None:
        """Add an overlap, and keep it as an example if there are fewer than `examples`."""
        self.of_a.add(hit.piece.label)
        if hit.share >= MOSTLY:
            self.mostly.add(hit.other.label)
        # One example for each theorem of B: a theorem that is everywhere in A says no more by a second.
        if hit.other.label not in self.of_b and len(self.examples) < examples:
            self.examples.append({"a": hit.piece.label, "line": hit.line, "b": hit.other.label, "what": hit.what})
        self.of_b.add(hit.other.label)

    def to_json(self) -> dict[str, Any]:
        """Return the counts, by pieces of both sets, and the examples."""
        return {
            "a": len(self.of_a),
            "b": len(self.of_b),
            "b_mostly": len(self.mostly),
            "examples": self.examples,
        }


def compare(a: str, b: str, examples: int = 5, show: bool = False) -> dict[str, Any]:
    """Return the report on two sets. Raises UserError for a set that is unknown, missing, empty or misshapen."""
    key: Key = None
    # Only NanoLean elaborates without a server.
    if {a.split(":")[0], b.split(":")[0]} <= {EMBEDDED, *FIXED}:
        key = statement_key
    index = overlap.Index(read_set(b, key, by_statement=True))
    overlaps: dict[overlap.Kind, Found] = {kind: Found() for kind in overlap.KINDS if key or kind != "key"}
    count = statements = 0
    with Progress(0, f"read {a}", unit="pieces", show=show) as progress:
        for piece in read_set(a, key):
            count, statements = count + 1, statements + len(piece.forms)
            for hit in index.hits(piece):
                overlaps[hit.kind].add(hit, examples)
            progress.update()
    # "No overlap" of nothing would read like a clean bill.
    for name, pieces in ((a, count), (b, len(index.pieces))):
        if not pieces:
            raise UserError(f"{name} is empty: there is nothing to compare")
    report: dict[str, Any] = {
        "a": {"name": a, "pieces": count, "statements": statements},
        "b": {
            "name": b,
            "pieces": len(index.pieces),
            "statements": sum(len(piece.forms) for piece in index.pieces),
            "too_short_for_words": index.without_grams,
        },
        "overlap": {},
    }
    for kind, found_of_kind in overlaps.items():
        report["overlap"][kind] = found_of_kind.to_json()
    return report


# -- Reading sets ----------------------------------------------------------------------------------------------------


def read_set(spec: str, key: Key = None, by_statement: bool = False) -> Iterator[overlap.Piece]:
    """Yield the pieces of a set given by name, split or path: theorems, and documents whole or by their statements."""
    read: Read = overlap.statement_pieces if by_statement else _whole
    name, _, split = spec.partition(":")
    if name in DATASETS:
        splits = splits_of(name)
        if split and split not in splits:
            raise UserError(f"{name} has no split {split!r}; there are: {', '.join(splits)}")
        for chosen in splits:
            if split in ("", chosen):
                for theorem in list_theorems(name, chosen):
                    yield overlap.theorem_piece(theorem, key)
    elif name == "leantree":
        path = file_path("leantree", "leantree_mathlib.jsonl")
        rows: Iterable[tuple[str, dict[str, Any]]] = jsonl_rows(path)
        match split:
            case "":
                pass
            case "train":
                rows = islice(rows, split_lines(path)[1])
            case "valid":
                rows = islice(rows, split_lines(path)[1], None)
            case _:
                raise UserError(f"leantree has no split {split!r}; there are: train, valid")
        yield from _of_rows(rows, read)
    elif name in NAMED_CORPORA:
        corpus = text_corpus(name)
        parts: dict[str, Documents] = {"train": corpus.train, "valid": corpus.valid}
        if split and split not in parts:
            raise UserError(f"{name} has no split {split!r}; there are: {', '.join(parts)}")
        for part, documents in parts.items():
            if split in ("", part):
                yield from _of_documents(documents, read)
    else:
        yield from _of_path(Path(spec).expanduser(), read)


def _whole(text: str, label: str) -> list[overlap.Piece]:
    return [overlap.document_piece(text, label)]


def _of_documents(documents: Documents, read: Read) -> Iterator[overlap.Piece]:
    for segment in documents.segments:
        for number, text in enumerate(segment.read(), start=segment.start):
            if text:
                yield from read(text, f"{segment.file.path.name} {segment.group}/{number}")


def _of_path(path: Path, read: Read) -> Iterator[overlap.Piece]:
    if path.is_dir():
        for file in files_below(path, SUFFIXES):
            yield from _of_path(file, read)
        return
    if not path.is_file():
        names = ", ".join(dict.fromkeys([*DATASETS, "leantree", *NAMED_CORPORA]))
        raise UserError(
            f"no set {path}: neither a data set ({names}; a split behind a colon) "
            f"nor a file ({', '.join(SUFFIXES)}) or directory"
        )
    if path.suffix == ".jsonl":
        yield from _of_rows(jsonl_rows(path), read)
    elif path.suffix == ".parquet":
        yield from _of_parquet(path, read)
    elif path.suffix in SUFFIXES:
        # A corpus may hold anything, and what is no UTF-8 is no statement.
        yield from read(path.read_text(encoding="utf-8", errors="replace"), str(path))
    else:
        raise UserError(f"{path}: sets are read from {', '.join(SUFFIXES)} files")


def _of_parquet(path: Path, read: Read) -> Iterator[overlap.Piece]:
    try:
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            column = next((name for name in FIELDS if name in names), None)
            if column is None:
                raise UserError(f"{path} has none of the columns {', '.join(FIELDS)}; it has: {', '.join(names)}")
            place = [name for name in ("url", "path") if name in names]
            number = 0
            for batch in file.iter_batches(128, columns=[column, *place]):
                for row in batch.to_pylist():
                    number += 1
                    label = " ".join(str(row[name]) for name in place) or f"{path}, row {number}"
                    if row[column]:
                        yield from _pieces(column, row[column], label, read)
    except (OSError, pa.ArrowException) as error:
        raise UserError(f"{path} is not a whole parquet file: {error}") from error


def _of_rows(rows: Iterable[tuple[str, dict[str, Any]]], read: Read) -> Iterator[overlap.Piece]:
    for place, row in rows:
        column = next((name for name in FIELDS if isinstance(row.get(name), str)), None)
        if column is not None:
            yield from _pieces(column, row[column], str(row.get("id") or row.get("name") or place), read)
        elif isinstance(row.get("theorems"), list):
            yield from _of_leantree(row, place)
        else:
            raise UserError(f"{place}: none of the fields {', '.join(FIELDS)} is a text")


def _pieces(column: str, text: str, label: str, read: Read) -> Iterable[overlap.Piece]:
    if column == "text":
        return read(text, label)
    # A row with a statement is one theorem, whatever definitions its source has before it.
    return [overlap.theorem_piece(Theorem(text, "", label))]


def _of_leantree(row: dict[str, Any], place: str) -> Iterator[overlap.Piece]:
    """Yield the theorems of a LeanTree record; a statement is the first goal of the first proof, as Lean printed it."""
    for number, theorem in enumerate(row["theorems"]):
        statement = first_goal_statement(theorem)
        if statement is None:
            continue  # a theorem without a tactic proof, or one that LeanTree could not read
        name = theorem.get("name") or "_"
        source = f"theorem {name} {statement} := by\n  sorry"
        yield overlap.theorem_piece(Theorem(source, "", f"{row.get('path') or place}: {name} ({number})"))


# -- Command line ----------------------------------------------------------------------------------------------------


def table(report: dict[str, Any]) -> str:
    """Format the report as text."""
    b = report["b"]
    lines = []
    for side, counts in (("A", report["a"]), ("B", b)):
        lines.append(f"{side}: {counts['name']}, {counts['pieces']:,} pieces, {counts['statements']:,} statements")
    if b["too_short_for_words"]:
        lines.append(f"   {b['too_short_for_words']:,} pieces of B have too few words for the last comparison")
    for kind, counts in report["overlap"].items():
        of_b = f"{counts['b']:>8,} of B"
        if kind == "words":
            of_b += f" ({counts['b_mostly']:,} with at least {MOSTLY:.0%} of its runs)"
        lines.append(f"{overlap.KINDS[kind]:<28} {of_b}  in {counts['a']:>8,} of A")
        for example in counts["examples"]:
            place = example["a"]
            if example["line"]:
                place += f", line {example['line']}"
            lines.append(f"    {example['b']}  in  {place}: {example['what'][:120]}")
    return "\n".join(lines)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    command = Parser(prog="python -m nanoproof.data.contamination", description=(__doc__ or "").splitlines()[0])
    command.add_argument(
        "a", metavar="A", help="The set that may be contaminated: NAME, NAME:SPLIT, file or directory."
    )
    command.add_argument("b", metavar="B", help="The set that should not be in it.")
    command.add_argument("--examples", type=int, default=5, metavar="N", help="Examples to print of each kind.")
    command.add_argument("--json", action="store_true", help="Print one JSON object.")
    return command


def main(argv: Sequence[str] | None = None) -> int:
    """Print the report."""
    args = parser().parse_args(argv)
    report = compare(args.a, args.b, args.examples, show=not args.json)
    if args.json:
        print(json.dumps(report, ensure_ascii=False))
    else:
        print(table(report))
    return 0


if __name__ == "__main__":
    run_main(main)
