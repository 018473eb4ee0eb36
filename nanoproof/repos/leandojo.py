"""LeanDojo's data set: a folder of splits, premises and metadata, written from repositories and read into the store.

    OUT/random/{train,val,test}.json, OUT/novel_premises/{train,val,test}.json    theorems with their tactics
    OUT/corpus.jsonl                a file a line, imports first: its path, imports and premises
    OUT/traced_files.jsonl          the files that were traced
    OUT/metadata.json               when and from what it was made

The shape is that of LeanDojo-v2 (`generate_benchmark` for one repository, `export_merged_data` for several); the older
LeanDojo Benchmark 4, without statements and `traced_files.jsonl`, is read too. Theorems are written and read one at a
time. A tactic without a goal before it, or with the bullet `·` in it, is not exported, nor a theorem of Lean itself; a
premise whose place is not known loses its mark.
"""

import json
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import IO, Any, Protocol

from nanoproof.common.errors import UserError, cannot
from nanoproof.common.files import atomic_write_json, json_items, lone_surrogate, parse_json, read_json
from nanoproof.repos.splits import (
    SPLITS,
    STRATEGIES,
    HoldOut,
    LeanDojoSplits,
    MergeKey,
    Split,
    Splits,
    StableSplits,
    exported_tactics,
    merge_key,
)
from nanoproof.repos.store import Store, tool_version
from nanoproof.repos.traced_files import (
    Position,
    Premise,
    Provenance,
    Repository,
    TracedFile,
    TracedTactic,
    TracedTheorem,
    open_places,
)

CORPUS, TRACED_FILES, METADATA = "corpus.jsonl", "traced_files.jsonl", "metadata.json"
MARK = re.compile(r"<a>(.*?)</a>", re.DOTALL)
LEAN_ITSELF = re.compile(r"(?:\./)?\.lake/packages/lean4/")
"""Where LeanDojo has Lean's own files: theorems of Lean are premises, and none to prove."""
HELD_OUT = "held_out_premises"
"""Name of the setting that keeps which premises are held out."""


class Source(Protocol):
    """A repository to export: the store's, or one in memory."""

    @property
    def about(self) -> Repository: ...

    def counts(self) -> Mapping[str, int]:
        """Count as `Store.counts`."""
        ...

    def theorems(self) -> Iterable[TracedTheorem]: ...

    def files(self) -> Iterable[TracedFile]:
        """Its files, in any order, with or without theorems."""
        ...


@dataclass(frozen=True)
class StoredSource:
    """A repository of the store."""

    store: Store
    about: Repository

    def counts(self) -> Mapping[str, int]:
        """Count what the repository holds."""
        return self.store.counts(self.about)

    def theorems(self) -> Iterator[TracedTheorem]:
        """Yield its theorems, one file in memory at a time."""
        return (stored.theorem for stored in self.store.theorems(self.about))

    def files(self) -> Iterator[TracedFile]:
        """Yield its files without theorems, one in memory at a time."""
        return self.store.files(self.about, theorems=False)


@dataclass(frozen=True)
class Exported:
    """What an export holds: theorems by strategy and split, the premises held out, and how many files and premises."""

    theorems: Mapping[str, Mapping[str, int]]
    held_out: HoldOut | None
    files: int
    premises: int


# -- Writing ---------------------------------------------------------------------------------------------------------


def export(sources: Sequence[Source], out: Path, drawing: str = "stable", held_out: HoldOut | None = None) -> Exported:
    """Write the data set of one or several repositories to a folder, in place of an earlier export in it.

    A theorem that several repositories have (by path, name and place) is that of the repository processed last, a file
    of premises that of the first that has it. `drawing` is `stable` or `leandojo` (see `splits`); without `held_out`
    the premises held out are chosen here and returned. The folder changes in one step, at the end. Raises UserError
    where there is something else, and for files that import each other in a circle.
    """
    _check_replaceable(out)
    splits: Splits
    theorems = (theorem for _, theorem in _merged(sources))
    if drawing == "leandojo":
        splits = LeanDojoSplits(theorems)
    else:
        held_out = held_out or HoldOut.choose(theorems)
        splits = StableSplits(held_out)
    with cannot(f"write {out}"):
        out.parent.mkdir(parents=True, exist_ok=True)
        # Beside its place, so that moving it there is a rename on one disk.
        temporary = Path(tempfile.mkdtemp(prefix=f".{out.name}.", suffix=".tmp", dir=out.parent))
    try:
        temporary.chmod(0o755)  # `mkdtemp` makes folders for their owner alone
        counts = _write_theorems(sources, temporary, splits)
        files, premises = _write_corpus(sources, temporary)
        atomic_write_json(temporary / METADATA, _metadata(sources, splits))
        _replace(out, temporary)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return Exported(counts, None if drawing == "leandojo" else held_out, files, premises)


def export_stored(
    store: Store, names: Sequence[str], out: Path, drawing: str = "stable", redraw: bool = False
) -> Exported:
    """Export repositories of the store, which keeps the premises held out; `redraw` chooses them anew."""
    kept = None if redraw else store.setting(HELD_OUT)
    held_out = HoldOut.parse(kept) if kept else None
    sources = [StoredSource(store, store.repository(name)) for name in dict.fromkeys(names)]
    done = export(sources, out, drawing, held_out)
    # After the export, so that one that fails leaves nothing chosen. Another process may have chosen first; what it
    # keeps holds from the next export on.
    if done.held_out is not None and held_out is None:
        store.set_once(HELD_OUT, str(done.held_out), replace=redraw)
    return done


def _check_replaceable(out: Path) -> None:
    """Raise UserError unless a folder is missing, empty, or holds an earlier export."""
    if out.is_dir():
        names = {entry.name for entry in out.iterdir()}
        if names and not {CORPUS, METADATA} <= names:
            raise UserError(f"--out {out}: there are other files in it; name a new folder, or one of an earlier export")
    elif out.exists() or out.is_symlink():
        raise UserError(f"--out {out}: there is a file of that name; name a folder")


def _replace(out: Path, finished: Path) -> None:
    """Put a finished folder in the place of an earlier one."""
    if out.exists():
        # A folder with files in it cannot be renamed over: between the two renames there is none, but never a mixture.
        aside = Path(tempfile.mkdtemp(prefix=f".{out.name}.", suffix=".old", dir=out.parent))
        out.rename(aside / out.name)
        finished.rename(out)
        shutil.rmtree(aside, ignore_errors=True)
    else:
        finished.rename(out)


def _merged(sources: Sequence[Source]) -> Iterator[tuple[Repository, TracedTheorem]]:
    """Yield each theorem once, from the repository processed last (the first of them if several were at once)."""
    newest = sorted(sources, key=lambda source: _moment(source.about.date), reverse=True)
    seen: set[MergeKey] = set()
    for source in newest:
        about = source.about
        for theorem in source.theorems():
            if LEAN_ITSELF.match(theorem.path):
                continue
            # Within a repository a name and place occur once; its keys need no memory.
            if len(sources) > 1:
                key = merge_key(theorem)
                if key in seen:
                    continue
                seen.add(key)
            yield about, theorem


def _moment(date: str) -> datetime:
    """Read an ISO date; one without a zone is taken as UTC, and none is before all others."""
    try:
        moment = datetime.fromisoformat(date)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    if moment.tzinfo is None:  # LeanDojo writes the local time of some machine; Python does not compare the two kinds
        moment = moment.replace(tzinfo=UTC)
    return moment


def _write_theorems(sources: Sequence[Source], folder: Path, splits: Splits) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {strategy: dict.fromkeys(SPLITS, 0) for strategy in STRATEGIES}
    with ExitStack() as stack:
        files: dict[tuple[str, Split], IO[str]] = {}
        for strategy in STRATEGIES:
            (folder / strategy).mkdir()
            for split in SPLITS:
                path = folder / strategy / f"{split}.json"
                files[strategy, split] = stack.enter_context(open(path, "w", encoding="utf-8"))
                files[strategy, split].write("[")
        # A JSON list in each, written theorem by theorem: Mathlib's do not fit into memory together.
        for about, theorem in _merged(sources):
            line = json.dumps(theorem_record(theorem, about.url, about.commit), ensure_ascii=False)
            for strategy, split in zip(STRATEGIES, splits.assign(theorem), strict=True):
                if counts[strategy][split]:
                    files[strategy, split].write(",")
                files[strategy, split].write(f"\n{line}")
                counts[strategy][split] += 1
        for (strategy, split), file in files.items():
            if counts[strategy][split]:
                file.write("\n")
            file.write("]\n")
    return counts


def theorem_record(theorem: TracedTheorem, url: str, commit: str) -> dict[str, Any]:
    """Return a theorem as LeanDojo's JSON has it, with the tactics that are exported."""
    return {
        "url": url,
        "commit": commit,
        "file_path": theorem.path,
        "full_name": theorem.full_name,
        "theorem_statement": theorem.statement or None,
        "start": list(theorem.start),
        "end": list(theorem.end),
        "traced_tactics": list(map(tactic_record, exported_tactics(theorem))),
    }


def tactic_record(tactic: TracedTactic) -> dict[str, Any]:
    """Return a tactic as LeanDojo's JSON has it."""
    text, premises = _known_marks(tactic)
    return {
        "tactic": tactic.tactic,
        "annotated_tactic": [text, premises],
        "state_before": tactic.state_before,
        "state_after": tactic.state_after,
    }


def _known_marks(tactic: TracedTactic) -> tuple[str, list[dict[str, Any]]]:
    """Return the marked text and the premise of each mark, without those whose place is not known."""
    # LeanDojo's readers take mark number n to be of premise number n, and look a premise up by its place.
    kept: list[dict[str, Any]] = []
    waiting = iter(tactic.premises)

    def marked_or_plain(mark: re.Match[str]) -> str:
        premise = next(waiting, None)
        if premise is None or premise.start is None:
            return mark[1]
        place = {"def_path": premise.path, "def_pos": list(premise.start)}
        kept.append({"full_name": premise.full_name, **place, "def_end_pos": list(premise.end or premise.start)})
        return mark[0]

    return MARK.sub(marked_or_plain, tactic.marked), kept


def _write_corpus(sources: Sequence[Source], folder: Path) -> tuple[int, int]:
    """Write `corpus.jsonl` in the order of imports, and `traced_files.jsonl`; returns how many files and premises.

    Imports of files that are not in the corpus are left out: its readers take each line's imports to be lines before.
    """
    owners: dict[str, int] = {}
    imports: dict[str, tuple[str, ...]] = {}
    traced: dict[str, None] = {}
    offsets: dict[str, tuple[int, int]] = {}
    premises = 0
    # The order is known when the last import is: until then premises, most of the data set, wait on the disk.
    with tempfile.TemporaryFile(dir=folder) as unordered, open(folder / CORPUS, "wb") as corpus:
        for number, source in enumerate(sources):
            for file in source.files():
                if file.error is None:
                    traced[file.path] = None
                if owners.setdefault(file.path, number) != number:
                    continue
                imports[file.path] = file.imports
                premises += len(file.premises)
                start = unordered.tell()
                records = list(map(premise_record, file.premises))
                unordered.write(json.dumps(records, ensure_ascii=False).encode())
                offsets[file.path] = (start, unordered.tell() - start)
        for path in dependency_order(imports):
            start, length = offsets[path]
            unordered.seek(start)
            present = [name for name in dict.fromkeys(imports[path]) if name in imports]
            head = json.dumps({"path": path, "imports": present}, ensure_ascii=False)[:-1].encode()
            corpus.write(head + b', "premises": ' + unordered.read(length) + b"}\n")
    with open(folder / TRACED_FILES, "w", encoding="utf-8") as file_list:
        for path in traced:
            file_list.write(json.dumps({"traced_file_path": path}, ensure_ascii=False) + "\n")
    return len(imports), premises


def premise_record(premise: Premise) -> dict[str, Any]:
    """Return a premise as LeanDojo's JSON has it."""
    place = {"start": list(premise.start), "end": list(premise.end)}
    return {"full_name": premise.full_name, "code": premise.code, **place, "kind": premise.kind}


def dependency_order(imports: Mapping[str, Sequence[str]]) -> list[str]:
    """Order files so that each comes after those that it imports. Raises UserError if they go in a circle."""
    graph = {}
    for path, imported in imports.items():
        graph[path] = [name for name in imported if name in imports]
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise UserError(f"files import each other in a circle: {' <- '.join(error.args[1])}") from error


def _metadata(sources: Sequence[Source], splits: Splits) -> dict[str, Any]:
    totals = dict.fromkeys(_TOTALS, 0)
    traced = 0
    repositories = []
    for source in sources:
        counts, about = source.counts(), source.about
        for name, key in _TOTALS.items():
            totals[name] += counts[key]
        # LeanDojo-v2 has no word for what is proved if others hold; nobody shall count that as proved.
        totals["num_sorry_theorems_unproved"] += counts.get("conditional", 0)
        traced += counts["files"] - counts["failed"]
        record = {"url": about.url, "name": about.name, "commit": about.commit, "lean_version": about.lean_version}
        record["lean_dojo_version"] = about.tool
        repositories.append({**record, "metadata": {**about.metadata, "date_processed": about.date}})
    single: dict[str, Any] = {}
    tool = tool_version()
    if len(sources) == 1:  # `from_repo` is what LeanDojo's own reader asks for; of several it has none
        about = sources[0].about
        single["from_repo"] = {"url": about.url, "commit": about.commit}
        tool = about.tool
    return {
        "creation_time": datetime.now().isoformat(sep=" "),
        **single,
        "leandojo_version": tool,
        **splits.describe(),
        "repositories": repositories,
        **totals,
        "num_sorry_theorems": totals["num_sorry_theorems_proved"] + totals["num_sorry_theorems_unproved"],
        "num_files_traced": traced,
    }


_TOTALS = {
    "total_theorems": "theorems",
    "num_proven_theorems": "proved",
    "num_sorry_theorems_proved": "sorry_proved",
    "num_sorry_theorems_unproved": "sorry",
    "num_premise_files": "files",
    "num_premises": "premises",
}


# -- Reading ---------------------------------------------------------------------------------------------------------


def is_data_set(folder: Path) -> bool:
    """Tell whether a folder holds LeanDojo's data set, or one strategy's splits of it."""
    return _split_folder(folder) is not None


def _split_folder(folder: Path) -> Path | None:
    # All strategies have the same theorems, so that reading the first is reading all of them.
    for base in (*map(folder.joinpath, STRATEGIES), folder):
        if (base / "train.json").is_file():
            return base
    return None


def import_folder(store: Store, folder: Path, name: str | None = None) -> list[Repository]:
    """Read LeanDojo's data set into the store: all of it, or nothing if it is damaged or the process is killed.

    The theorems of each address and commit become a repository (or are added to the one that is there); `name` is
    for data of a single one. Files and premises are those of the first. Raises UserError with the file and the field.
    """
    metadata = read_json(folder / METADATA) if (folder / METADATA).exists() else {}
    if not isinstance(metadata, dict):
        metadata = {}
    base = _split_folder(folder)
    assert base is not None, "callers ask is_data_set"
    repositories: dict[tuple[str, str], Repository] = {}

    def repository(url: str, commit: str) -> Repository:
        known = repositories.get((url, commit)) or store.find_repository(url, commit)
        if known is None:
            # Further ones are called after their addresses: the name is of one.
            chosen = None if repositories else name
            known = store.add_repository(url, commit, chosen, **_about(metadata, url, commit))
        repositories[url, commit] = known
        return known

    with store.all_or_nothing():
        origin = metadata.get("from_repo")
        if isinstance(origin, dict):
            repository(str(origin.get("url", "")), str(origin.get("commit", "")))
        for split in SPLITS:
            path = base / f"{split}.json"
            if not path.exists():
                continue
            for number, record in enumerate(json_items(path)):
                try:
                    theorem = read_theorem(record)
                    owner = repository(_text(record, "url"), _text(record, "commit"))
                except ShapeError as error:
                    raise UserError(f"{path}, theorem {number}: {error}") from None
                store.add_theorems(owner, [theorem])
        if not repositories:
            raise UserError(f"{folder} holds no theorems")
        if (folder / CORPUS).exists():
            _import_corpus(store, next(iter(repositories.values())), folder)
    return list(repositories.values())


def _about(metadata: Mapping[str, Any], url: str, commit: str) -> dict[str, Any]:
    """Return what the metadata say of a repository, as arguments of `Store.add_repository`."""
    listed = metadata.get("repositories")
    if not isinstance(listed, list):
        listed = []
    for record in listed:
        if isinstance(record, dict) and (record.get("url"), record.get("commit")) == (url, commit):
            rest = dict(record.get("metadata") or {})
            date = rest.pop("date_processed", None)
            versions = {"lean_version": str(record.get("lean_version") or ""), "tool": record.get("lean_dojo_version")}
            return {**versions, "date": date, "metadata": rest}
    # LeanDojo Benchmark 4 lists no repositories; what it says is of the one that it was made of.
    tool = "LeanDojo"
    if version := metadata.get("leandojo_version"):
        tool += f" {version}"
    return {"tool": tool, "date": metadata.get("creation_time")}


def _import_corpus(store: Store, repository: Repository, folder: Path) -> None:
    traced: set[str] | None = None
    if (folder / TRACED_FILES).exists():
        traced = set()
        for _, record in _lines(folder / TRACED_FILES):
            traced.add(_text(record, "traced_file_path"))
    for file in read_corpus(folder / CORPUS):
        if traced is not None and file.path not in traced:
            file = replace(file, error="it is not among the traced files")
        store.put_premises(repository, file)


def read_corpus(path: Path) -> Iterator[TracedFile]:
    """Yield the files of `corpus.jsonl`, without theorems. Raises UserError with the line for another shape."""
    for number, record in _lines(path):
        try:
            yield read_corpus_line(record)
        except ShapeError as error:
            raise UserError(f"{path}, line {number}: {error}") from None


def _lines(path: Path) -> Iterator[tuple[int, Any]]:
    # Not `read_jsonl`, which leaves out a last line without a line feed as one of a killed writer: such a file of
    # somebody else is whole.
    with open(path, "rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                try:
                    yield number, parse_json(line)
                except ValueError as error:
                    raise UserError(f"{path}, line {number}: not valid JSON: {error}") from None


class ShapeError(ValueError):
    """A record has another shape; the message names the field."""


def read_theorem(record: Any) -> TracedTheorem:
    """Read a theorem of LeanDojo's JSON, as theirs or as the database has it. Raises ShapeError."""
    _require_unicode(record)
    tactics = tuple(map(read_tactic, record.get("traced_tactics") or ()))
    statement = record.get("theorem_statement")
    if not isinstance(statement, str):  # LeanDojo Benchmark 4 has none
        statement = ""
    # What the statement and term-style parts use is not told: the tactics are all that is known here.
    names: dict[str, None] = {}
    for tactic in tactics:
        names |= dict.fromkeys(premise.full_name for premise in tactic.premises)
    theorem = TracedTheorem(
        *(_text(record, "full_name"), _text(record, "file_path"), position(record, "start"), position(record, "end")),
        *(statement, tactics, tuple(names)),
    )
    return replace(theorem, sorries=open_places(theorem))


def read_tactic(record: Any) -> TracedTactic:
    """Read a tactic of LeanDojo's JSON. Raises ShapeError."""
    tactic, before, after = (_text(record, name) for name in ("tactic", "state_before", "state_after"))
    marked = record.get("annotated_tactic") or [tactic, []]
    if not (isinstance(marked, list | tuple) and len(marked) == 2 and isinstance(marked[0], str)):
        raise ShapeError("annotated_tactic: expected a text and a list of premises")
    premises = []
    for premise in marked[1] or ():
        start: Position | None = position(premise, "def_pos")
        end = None
        if premise.get("def_end_pos"):
            end = position(premise, "def_end_pos")
        if start == (0, 0):  # lines count from 1: it stands for a place that is not known (see `tactic_json`)
            start = end = None
        premises.append(Provenance(_text(premise, "full_name"), _text(premise, "def_path"), start, end))
    return TracedTactic(tactic, before, after, marked[0], tuple(premises))


def read_corpus_line(record: Any) -> TracedFile:
    """Read a file of LeanDojo's corpus, without theorems. Raises ShapeError.

    Premises without a name (of mutual definitions and the like) are left out.
    """
    _require_unicode(record)
    path = _text(record, "path")
    imports = record.get("imports") or []
    if not (isinstance(imports, list) and all(isinstance(name, str) for name in imports)):
        raise ShapeError("imports: expected a list of paths")
    premises = []
    for premise in record.get("premises") or ():
        _require_object(premise)
        if premise.get("full_name") is not None:
            place = position(premise, "start"), position(premise, "end")
            kind = str(premise.get("kind") or "")
            premises.append(Premise(_text(premise, "full_name"), _text(premise, "code"), *place, kind))
    return TracedFile(path, tuple(imports), tuple(premises), ())


def position(record: Any, name: str) -> Position:
    """Read a place: `[line, column]`, or a text such as `(line, column)` or `Pos(line, column)`. Raises ShapeError."""
    _require_object(record)
    value = record.get(name)
    if isinstance(value, str):
        # What Python prints for LeanDojo's `Pos`, by `str` and by `repr`.
        numbers = re.fullmatch(r"\s*(?:Pos)?\(\s*(?:line_nb=)?(\d+)\s*,\s*(?:column_nb=)?(\d+)\s*\)\s*", value)
        if numbers:
            value = list(map(int, numbers.groups()))
    # `type`, as true and false are numbers to `isinstance`.
    if isinstance(value, list | tuple) and len(value) == 2 and set(map(type, value)) == {int}:
        return Position(*value)
    raise ShapeError(f"{name}: expected a place such as [12, 1], got {value!r:.60}")


def _require_unicode(record: Any) -> None:
    _require_object(record)
    if (field := lone_surrogate(record)) is not None:  # no database takes it
        raise ShapeError(f"{field}: it is not Unicode: it has a lone surrogate")


def _require_object(record: Any) -> None:
    if not isinstance(record, dict):
        raise ShapeError(f"expected an object, got {record!r:.60}")


def _text(record: Any, name: str) -> str:
    _require_object(record)
    value = record.get(name)
    if not isinstance(value, str):
        raise ShapeError(f"{name}: expected a text, got {value!r:.60}")
    return value
