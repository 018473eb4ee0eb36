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
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import IO, Any, Protocol

from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_json, parse_json, read_json
from nanoproof.repos.splits import (
    SPLITS,
    STRATEGIES,
    HoldOut,
    LeanDojoSplits,
    MergeKey,
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
HELD_OUT = "held_out_premises"
"""Name of the setting that keeps which premises are held out."""
_CHUNK = 1 << 20
_SPACE = re.compile(r"\s*")


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
        return (each.theorem for each in self.store.theorems(self.about))

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
    if drawing == "leandojo":
        splits = LeanDojoSplits(theorem for _, theorem in _merged(sources))
    else:
        held_out = held_out or HoldOut.choose(theorem for _, theorem in _merged(sources))
        splits = StableSplits(held_out)
    out.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{out.name}.", suffix=".tmp", dir=out.parent))
    try:
        temporary.chmod(0o755)
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
    sources = [StoredSource(store, store.repository(name)) for name in dict.fromkeys(names)]
    done = export(sources, out, drawing, HoldOut.parse(kept) if kept else None)
    if done.held_out is not None and kept is None:
        store.set_once(HELD_OUT, str(done.held_out), replace=redraw)
    return done


def _check_replaceable(out: Path) -> None:
    """Raise UserError unless a folder is missing, empty, or holds an earlier export."""
    if out.is_dir():
        found = {each.name for each in out.iterdir()}
        if found and not {CORPUS, METADATA} <= found:
            raise UserError(f"--out {out}: there are other files in it; name a new folder, or one of an earlier export")
    elif out.exists() or out.is_symlink():
        raise UserError(f"--out {out}: there is a file of that name; name a folder")


def _replace(out: Path, made: Path) -> None:
    """Put a finished folder in the place of an earlier one."""
    if out.exists():
        aside = Path(tempfile.mkdtemp(prefix=f".{out.name}.", suffix=".old", dir=out.parent))
        out.rename(aside / out.name)
        made.rename(out)
        shutil.rmtree(aside, ignore_errors=True)
    else:
        made.rename(out)


def _merged(sources: Sequence[Source]) -> Iterator[tuple[Repository, TracedTheorem]]:
    """Yield each theorem once, from the repository processed last (the first of them if several were at once)."""
    newest = sorted(sources, key=lambda source: _moment(source.about.date), reverse=True)
    seen: set[MergeKey] = set()
    for source in newest:
        about = source.about
        for theorem in source.theorems():
            if LEAN_ITSELF.match(theorem.path):
                continue
            if len(sources) > 1:
                key = merge_key(theorem)
                if key in seen:
                    continue
                seen.add(key)
            yield about, theorem


def _moment(date: str) -> datetime:
    """Read an ISO date; one without a zone is taken as UTC, and none is before all others."""
    try:
        found = datetime.fromisoformat(date)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _write_theorems(sources: Sequence[Source], folder: Path, splits: Splits) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {strategy: dict.fromkeys(SPLITS, 0) for strategy in STRATEGIES}
    with ExitStack() as stack:
        files: dict[tuple[str, str], IO[str]] = {}
        for strategy in STRATEGIES:
            (folder / strategy).mkdir()
            for each in SPLITS:
                path = folder / strategy / f"{each}.json"
                files[strategy, each] = stack.enter_context(open(path, "w", encoding="utf-8"))
        split: str
        for about, theorem in _merged(sources):
            line = json.dumps(theorem_record(theorem, about.url, about.commit), ensure_ascii=False)
            for strategy, split in zip(STRATEGIES, splits.assign(theorem), strict=True):
                files[strategy, split].write(f"{',' if counts[strategy][split] else '['}\n{line}")
                counts[strategy][split] += 1
        for (strategy, split), file in files.items():
            file.write("\n]\n" if counts[strategy][split] else "[]\n")
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
        "traced_tactics": [tactic_record(each) for each in exported_tactics(theorem)],
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
    kept: list[dict[str, Any]] = []
    waiting = iter(tactic.premises)

    def mark(found: re.Match[str]) -> str:
        premise = next(waiting, None)
        if premise is None or premise.start is None:
            return found[1]
        place = {"def_path": premise.path, "def_pos": list(premise.start)}
        kept.append({"full_name": premise.full_name, **place, "def_end_pos": list(premise.end or premise.start)})
        return found[0]

    return MARK.sub(mark, tactic.marked), kept


def _write_corpus(sources: Sequence[Source], folder: Path) -> tuple[int, int]:
    """Write `corpus.jsonl` in the order of imports, and `traced_files.jsonl`; returns how many files and premises.

    Imports of files that are not in the corpus are left out: its readers take each line's imports to be lines before.
    """
    owners: dict[str, int] = {}
    imports: dict[str, tuple[str, ...]] = {}
    traced: dict[str, None] = {}
    offsets: dict[str, tuple[int, int]] = {}
    premises = 0
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
                unordered.write(
                    json.dumps([premise_record(each) for each in file.premises], ensure_ascii=False).encode()
                )
                offsets[file.path] = (start, unordered.tell() - start)
        for path in dependency_order(imports):
            unordered.seek(offsets[path][0])
            there = [each for each in dict.fromkeys(imports[path]) if each in imports]
            head = json.dumps({"path": path, "imports": there}, ensure_ascii=False)[:-1].encode()
            corpus.write(head + b', "premises": ' + unordered.read(offsets[path][1]) + b"}\n")
    with open(folder / TRACED_FILES, "w", encoding="utf-8") as file_list:
        file_list.writelines(json.dumps({"traced_file_path": path}, ensure_ascii=False) + "\n" for path in traced)
    return len(imports), premises


def premise_record(premise: Premise) -> dict[str, Any]:
    """Return a premise as LeanDojo's JSON has it."""
    place = {"start": list(premise.start), "end": list(premise.end)}
    return {"full_name": premise.full_name, "code": premise.code, **place, "kind": premise.kind}


def dependency_order(imports: Mapping[str, Sequence[str]]) -> list[str]:
    """Order files so that each comes after those that it imports. Raises UserError if they go in a circle."""
    graph = {path: [each for each in listed if each in imports] for path, listed in imports.items()}
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise UserError(f"files import each other in a circle: {' <- '.join(error.args[1])}") from error


def _metadata(sources: Sequence[Source], splits: Splits) -> dict[str, Any]:
    about = [source.about for source in sources]
    counted = [source.counts() for source in sources]
    single = {"from_repo": {"url": about[0].url, "commit": about[0].commit}} if len(about) == 1 else {}
    totals = {name: sum(counts[key] for counts in counted) for name, key in _TOTALS.items()}
    totals["num_sorry_theorems_unproved"] += sum(counts.get("conditional", 0) for counts in counted)
    return {
        "creation_time": datetime.now().isoformat(sep=" "),
        **single,
        "leandojo_version": about[0].tool if len(about) == 1 else tool_version(),
        **splits.describe(),
        "repositories": [
            {
                **{"url": each.url, "name": each.name, "commit": each.commit, "lean_version": each.lean_version},
                **{"lean_dojo_version": each.tool, "metadata": {**each.metadata, "date_processed": each.date}},
            }
            for each in about
        ],
        **totals,
        "num_sorry_theorems": totals["num_sorry_theorems_proved"] + totals["num_sorry_theorems_unproved"],
        "num_files_traced": sum(counts["files"] - counts["failed"] for counts in counted),
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
    return any((each / "train.json").is_file() for each in (folder, *(folder / name for name in STRATEGIES)))


def import_folder(store: Store, folder: Path, name: str | None = None) -> list[Repository]:
    """Read LeanDojo's data set into the store: all of it, or nothing if it is damaged or the process is killed.

    The theorems of each address and commit become a repository (or are added to the one that is there); `name` is
    for data of a single one. Files and premises are those of the first. Raises UserError with the file and the field.
    """
    metadata = read_json(folder / METADATA) if (folder / METADATA).exists() else {}
    metadata = metadata if isinstance(metadata, dict) else {}
    base = next(each for each in (*(folder / name for name in STRATEGIES), folder) if (each / "train.json").is_file())
    found: dict[tuple[str, str], Repository] = {}

    def repository(url: str, commit: str) -> Repository:
        if (url, commit) not in found:
            chosen = name if not found else None
            about = _about(metadata, url, commit)
            present = store.find_repository(url, commit)
            found[url, commit] = present or store.add_repository(url, commit, chosen, **about)
        return found[url, commit]

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
        if not found:
            raise UserError(f"{folder} holds no theorems")
        if (folder / CORPUS).exists():
            _read_corpus(store, next(iter(found.values())), folder)
    return list(found.values())


def _about(metadata: Mapping[str, Any], url: str, commit: str) -> dict[str, Any]:
    """Return what the metadata say of a repository, as arguments of `Store.add_repository`."""
    listed = metadata.get("repositories")
    for each in listed if isinstance(listed, list) else []:
        if isinstance(each, dict) and (each.get("url"), each.get("commit")) == (url, commit):
            extra = each.get("metadata") or {}
            date = extra.get("date_processed")
            rest = {key: value for key, value in extra.items() if key != "date_processed"}
            versions = {"lean_version": str(each.get("lean_version") or ""), "tool": each.get("lean_dojo_version")}
            return {**versions, "date": date, "metadata": rest}
    version = metadata.get("leandojo_version")
    return {"tool": f"LeanDojo {version}" if version else "LeanDojo", "date": metadata.get("creation_time")}


def _read_corpus(store: Store, repository: Repository, folder: Path) -> None:
    path = folder / CORPUS
    traced: set[str] | None = None
    if (folder / TRACED_FILES).exists():
        traced = {_text(line, "traced_file_path") for line in _lines(folder / TRACED_FILES)}
    for number, line in enumerate(_lines(path), start=1):
        try:
            file = read_corpus_line(line)
        except ShapeError as error:
            raise UserError(f"{path}, line {number}: {error}") from None
        error_text = None if traced is None or file.path in traced else "it is not among the traced files"
        store.put_premises(repository, TracedFile(file.path, file.imports, file.premises, (), error_text))


def _lines(path: Path) -> Iterator[Any]:
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                try:
                    yield parse_json(line)
                except ValueError as error:
                    raise UserError(f"{path}, line {number}: not valid JSON: {error}") from None


def json_items(path: Path) -> Iterator[Any]:
    """Yield the items of the JSON list in a file, one in memory at a time. Raises UserError if it is damaged."""
    decoder = json.JSONDecoder()
    try:
        with open(path, encoding="utf-8-sig") as file:
            text, place, state = "", 0, "start"  # then: first item, item, after an item
            while True:
                place = _SPACE.match(text, place).end()  # type: ignore[union-attr]
                mark = text[place : place + 1]
                if mark == "[" and state == "start":
                    place, state = place + 1, "first"
                    continue
                if mark == "]" and state in ("first", "after"):
                    return
                if mark == "," and state == "after":
                    place, state = place + 1, "item"
                    continue
                if mark and state in ("first", "item"):
                    with suppress(ValueError):  # it may not be complete yet
                        item, end = decoder.raw_decode(text, place)
                        if end < len(text):  # a number at the end may go on
                            yield item
                            place, state = end, "after"
                            continue
                elif mark:
                    raise UserError(f"{path} is not a list of JSON near {text[place : place + 60]!r}")
                more = file.read(max(_CHUNK, len(text) - place))
                if not more:
                    near = text[place : place + 60]
                    raise UserError(f"{path} is not a list of JSON: it ends too early, or is damaged near {near!r}")
                text, place = text[place:] + more, 0
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}") from error


class ShapeError(ValueError):
    """A record has another shape; the message names the field."""


def read_theorem(record: Any) -> TracedTheorem:
    """Read a theorem of LeanDojo's JSON, as theirs or as the database has it. Raises ShapeError."""
    tactics = tuple(read_tactic(each) for each in record.get("traced_tactics") or ()) if _object(record) else ()
    statement = record.get("theorem_statement")
    names = dict.fromkeys(premise.full_name for tactic in tactics for premise in tactic.premises)
    found = TracedTheorem(
        *(_text(record, "full_name"), _text(record, "file_path"), position(record, "start"), position(record, "end")),
        *(statement if isinstance(statement, str) else "", tactics, tuple(names)),
    )
    return replace(found, sorries=open_places(found))


def read_tactic(record: Any) -> TracedTactic:
    """Read a tactic of LeanDojo's JSON. Raises ShapeError."""
    texts = [_text(record, name) for name in ("tactic", "state_before", "state_after")]
    marked = record.get("annotated_tactic") or [texts[0], []]
    if not (isinstance(marked, list | tuple) and len(marked) == 2 and isinstance(marked[0], str)):
        raise ShapeError("annotated_tactic: expected a text and a list of premises")
    premises = []
    for each in marked[1] or ():
        end = position(each, "def_end_pos") if _object(each) and each.get("def_end_pos") else None
        start = position(each, "def_pos")
        place = (None, None) if start == (0, 0) else (start, end)
        premises.append(Provenance(_text(each, "full_name"), _text(each, "def_path"), *place))
    return TracedTactic(texts[0], texts[1], texts[2], marked[0], tuple(premises))


def read_corpus_line(record: Any) -> TracedFile:
    """Read a file of LeanDojo's corpus, without theorems. Raises ShapeError.

    Premises without a name (of mutual definitions and the like) are left out.
    """
    path = _text(record, "path")
    imports = record.get("imports") or []
    if not (isinstance(imports, list) and all(isinstance(each, str) for each in imports)):
        raise ShapeError("imports: expected a list of paths")
    premises = []
    for each in record.get("premises") or ():
        if _object(each) and each.get("full_name") is not None:
            place = position(each, "start"), position(each, "end")
            kind = each.get("kind") or ""
            premises.append(Premise(_text(each, "full_name"), _text(each, "code"), *place, str(kind)))
    return TracedFile(path, tuple(imports), tuple(premises), ())


def position(record: Any, name: str) -> Position:
    """Read a place: `[line, column]`, or a text such as `(line, column)` or `Pos(line, column)`. Raises ShapeError."""
    value = record.get(name) if _object(record) else None
    if isinstance(value, str):
        numbers = re.fullmatch(r"\s*(?:Pos)?\(\s*(?:line_nb=)?(\d+)\s*,\s*(?:column_nb=)?(\d+)\s*\)\s*", value)
        value = list(map(int, numbers.groups())) if numbers else value
    if isinstance(value, list | tuple) and len(value) == 2 and all(type(each) is int for each in value):
        return Position(*value)
    raise ShapeError(f"{name}: expected a place such as [12, 1], got {value!r:.60}")


def _object(record: Any) -> bool:
    if not isinstance(record, dict):
        raise ShapeError(f"expected an object, got {record!r:.60}")
    return True


def _text(record: Any, name: str) -> str:
    value = record.get(name) if _object(record) else None
    if not isinstance(value, str):
        raise ShapeError(f"{name}: expected a text, got {value!r:.60}")
    return value
