"""Theorem sets: the splits of the catalog's sets, and theorems in files of the user's own.

    list_theorems("leanworkbook", "train", "v4.27.0")       # a set of the catalog, filtered by a whitelist
    list_theorems("mine.lean", "valid")                     # a file

A set's module (`nanoproof.data.rl.leanworkbook`, ..) defines a `TheoremSet` and is imported when the set is asked for:

    SET = TheoremSet("leanworkbook", RL_SPLITS, read)       # `read` returns `ParsedTheorems`

The rows of a set are parsed, freed of duplicates, shuffled and split; then theorems are left out that the prover cannot
work with or that a whitelist calls failing. So neither our parser of sources nor a whitelist moves a theorem from one
split to the other.

In a Lean file, every `theorem` or `lemma` at the start of a line (maybe after `open Nat in` or the like) whose proof is
a `sorry` is a theorem of the set, under its own name. Its source is all text before it except the header (the server
has its own imports) and the other such theorems with their attributes and documentation: so it may use definitions,
notation, `variable` lines, and what is proved there. In a JSONL file every line is a theorem, with `source` and
optionally `id` in place of its name. A file has no splits and is never filtered.

`repo:NAME` is what `python -m nanoproof.repos trace` found in a repository: its theorems, each without its proof, and
its `sorry`s. A hash of path and name puts a tenth of them into `valid`, so that no later trace moves one.
"""

import hashlib
import importlib
import logging
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from nanoproof.common.errors import UserError
from nanoproof.common.files import parse_json, read_text
from nanoproof.common.run_dir import repo_name, traced_file
from nanoproof.data.sources.catalog import CATALOG
from nanoproof.data.theorems.whitelists import filter_theorems, load_whitelist
from nanoproof.lean.lexical import mask, without_header
from nanoproof.lean.source import COMMAND, IN_FRONT, SORRY, parse_declaration, theorem_name
from nanoproof.lean.types import SourceError, Theorem

log = logging.getLogger(__name__)

Split = Literal["train", "valid", "test"]
SPLITS: tuple[Split, ...] = ("train", "valid", "test")
RL_SPLITS = ("train", "valid")
BENCH_SPLITS: tuple[Split, ...] = ("valid", "test")
VALID_COUNT = 500
"""Number of validation theorems of a set for reinforcement learning."""
SHUFFLE_SEED = 0
DUPLICATE = "duplicate id"
"""The reason for leaving out a row whose id has occurred before."""

_BEFORE = rf"^(?:{IN_FRONT}[ \t]+)*(?:public[ \t]+)?"
_NAME = r"[ \t\n]+(?P<name>[^\s:({\[⦃]+)"
_IN_FRONT = re.compile(rf"(?:^[ \t]*{IN_FRONT}|@\[[^\]]*\])\s*\Z", re.MULTILINE)
"""What belongs to the declaration after it, besides its documentation comment."""


# -- Theorems in Lean text -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TheoremBlock:
    """A theorem of a text: its line (from 1 on), its name, its own text, and the position at which that begins."""

    line: int
    name: str
    text: str
    start: int


def theorem_blocks(text: str, keywords: tuple[str, ...] = ("theorem",)) -> Iterator[TheoremBlock]:
    """Yield each theorem that begins a line with one of the keywords; comments after its last word are not part of it.

    The keyword may follow `public` and prefixes of a single declaration, such as `open Nat in`.
    """
    masked = mask(text)
    for match in re.compile(f"{_BEFORE}(?:{'|'.join(keywords)}){_NAME}", re.MULTILINE).finditer(masked):
        following = COMMAND.search(masked, match.end())
        end = following.start() if following else len(masked)
        end = match.start() + len(masked[match.start() : end].rstrip())
        line = text.count("\n", 0, match.start()) + 1
        yield TheoremBlock(line, match["name"], text[match.start() : end], match.start())


def with_sorry(statement: str, after_by: str, after_assign: str) -> str | None:
    """Append a `sorry`: `after_by` to a statement that ends in `:= by`, `after_assign` after `:=`; else None."""
    if statement.endswith(":= by"):
        return statement + after_by
    return statement + after_assign if statement.endswith(":=") else None


def remove_lines(text: str, *beginnings: str) -> str:
    """Remove the lines that begin with one of the given texts, indented or not."""
    return "\n".join(line for line in text.split("\n") if not line.lstrip().startswith(beginnings))


def unusable_because(source: str) -> str | None:
    """Tell in a few words why the prover cannot work with a source; None if it can."""
    try:
        parse_declaration(source)
    except SourceError as error:
        return str(error).split(" in '")[0].split(' in "')[0].split(", got '")[0]
    return None


def require_usable(source: str, place: str) -> None:
    """Check that the prover can work with a source. Raises UserError that names the place of its row."""
    try:
        parse_declaration(source)
    except SourceError as error:
        raise UserError(f"{place}: {error}") from error


# -- Theorem sets of the catalog -------------------------------------------------------------------------------------


class ParsedTheorems:
    """The theorems of a data set in the order of its files, each id once; `left_out` counts the rest by reason."""

    def __init__(self, dataset: str) -> None:
        self.rows = 0
        self.left_out: Counter[str] = Counter()
        self._dataset = dataset
        self._theorems: dict[str, tuple[str, Theorem]] = {}

    def add(self, theorem_id: str, source: str, split: str = "") -> None:
        """Add a row with a theorem; a later one with the same id is a duplicate."""
        if theorem_id in self._theorems:
            self.leave_out(DUPLICATE)
            return
        self.rows += 1
        self._theorems[theorem_id] = (split, Theorem(source, self._dataset, theorem_id))

    def leave_out(self, reason: str) -> None:
        """Count a row that gives no theorem, with the reason."""
        self.rows += 1
        self.left_out[reason] += 1

    def splits(self) -> dict[str, list[Theorem]]:
        """Return the theorems by split: the data set's own, or shuffled with the last `VALID_COUNT` for validation."""
        if any(split for split, _ in self._theorems.values()):
            named: dict[str, list[Theorem]] = {split: [] for split in BENCH_SPLITS}
            for split, theorem in self._theorems.values():
                named[split].append(theorem)
            return named
        theorems = [theorem for _, theorem in self._theorems.values()]
        random.Random(SHUFFLE_SEED).shuffle(theorems)
        return {"train": theorems[:-VALID_COUNT], "valid": theorems[-VALID_COUNT:]}


@dataclass(frozen=True)
class Listing:
    """The theorems of a split, and counts of what was left out; `unknown` is how many the whitelist does not know."""

    theorems: list[Theorem]
    left_out: Counter[str] = field(default_factory=Counter)
    unknown: int = 0


@dataclass(frozen=True)
class TheoremSet:
    """A theorem set: its name, its splits and the function that reads it. Benchmarks are never filtered."""

    name: str
    splits: tuple[str, ...]
    read: Callable[[], ParsedTheorems]

    @property
    def is_benchmark(self) -> bool:
        """Whether its theorems measure provers and are never trained on."""
        return "train" not in self.splits

    def list_theorems(self, split: str, lean_version: str | None = None) -> list[Theorem]:
        """List the theorems of a split in a fixed order; with a Lean version, without those that fail by its whitelist.

        Raises UserError for an unknown split, for data that is missing or misshapen, and for a missing whitelist.
        """
        if split not in self.splits:
            raise UserError(f"{self.name} has no split {split!r}; there are: {', '.join(self.splits)}")
        listing = self._listing(self.read().splits()[split], split, lean_version)
        if listing.left_out:
            reasons = ", ".join(f"{count} x {reason}" for reason, count in listing.left_out.most_common())
            log.info("%s %s: %d theorems; left out: %s", self.name, split, len(listing.theorems), reasons)
        return listing.theorems

    def stats(self, lean_version: str | None = None) -> dict[str, Any]:
        """Count rows and those left out, and for each split its theorems, those left out of it, and unknown ones."""
        parsed = self.read()
        theorems = parsed.splits()
        listings = {split: self._listing(theorems[split], split, lean_version) for split in self.splits}
        return {
            "name": self.name,
            "rows": parsed.rows,
            "left_out": dict(parsed.left_out.most_common()),
            "lean_version": None if self.is_benchmark else lean_version,
            "splits": {
                split: {
                    "theorems": len(listing.theorems),
                    "left_out": dict(listing.left_out.most_common()),
                    "unknown": listing.unknown,
                }
                for split, listing in listings.items()
            },
        }

    def _listing(self, theorems: Sequence[Theorem], split: str, lean_version: str | None) -> Listing:
        if self.is_benchmark:  # its reader has checked each theorem
            return Listing(list(theorems))
        left_out: Counter[str] = Counter()
        usable = []
        for theorem in theorems:
            reason = unusable_because(theorem.source)
            if reason is None:
                usable.append(theorem)
            else:
                left_out[reason] += 1
        if lean_version is None:
            return Listing(usable, left_out)
        filtered = filter_theorems(usable, load_whitelist(self.name, lean_version), f"{self.name} {split}")
        if filtered.failing:
            left_out[f"fails under Lean {lean_version}"] = filtered.failing
        return Listing(filtered.theorems, left_out, filtered.unknown)


# -- Rows of data files: each with its place for messages, such as `FILE, line 3` ------------------------------------


def json_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield place and object of each row of a JSON list. Raises UserError if the file is something else."""
    try:
        records = parse_json(path.read_bytes())
    except ValueError as error:
        raise UserError(f"{path} is not valid JSON: {error}") from error
    if not isinstance(records, list):
        raise UserError(f"{path} must hold a list of objects, got {_kind(records)}")
    for number, record in enumerate(records, start=1):
        yield (place := f"{path}, row {number}"), _object(record, place)


def jsonl_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield place and object of each line of a JSONL file. Raises UserError for a line that is something else."""
    with open(path, "rb") as file:
        for number, line in enumerate(file, start=1):
            place = f"{path}, line {number}"
            if line.strip():
                try:
                    record = parse_json(line)
                except ValueError as error:
                    raise UserError(f"{place}: not valid JSON: {error}") from error
                yield place, _object(record, place)


def parquet_rows(path: Path, columns: Sequence[str], batch_rows: int = 1024) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield place and row of a parquet file with the given columns; it is read in batches.

    Raises UserError if a column is missing or the file is damaged.
    """
    number = 0
    try:
        with pq.ParquetFile(path) as file:
            missing = [column for column in columns if column not in file.schema_arrow.names]
            if missing:
                there = ", ".join(file.schema_arrow.names)
                raise UserError(f"{path} has no column {', '.join(missing)}; it has: {there}")
            for batch in file.iter_batches(batch_size=batch_rows, columns=list(columns)):
                for record in batch.to_pylist():
                    number += 1
                    yield f"{path}, row {number}", record
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        where = f", after row {number}" if number else ""
        raise UserError(f"{path} is not a whole parquet file{where}: {str(error).splitlines()[0]}") from error


def text_field(record: dict[str, Any], name: str, place: str) -> str:
    """Return a field that must be a text. Raises UserError that names place and field."""
    value = record.get(name)
    if not isinstance(value, str):
        found = f"got {_kind(value)}" if name in record else "it is missing"
        raise UserError(f"{place}: the field {name!r} must be a text, {found}")
    return value


def _object(record: Any, place: str) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise UserError(f"{place}: expected an object, got {_kind(record)}")
    return record


def _kind(value: Any) -> str:
    names = {
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "true or false",
        int: "a number",
        float: "a number",
    }
    return "nothing (null)" if value is None else names.get(type(value), type(value).__name__)


# -- Files of theorems -----------------------------------------------------------------------------------------------


def is_theorem_file(name: str) -> bool:
    """Return whether a data set's name is that of a file of theorems, which may not exist."""
    return Path(name).suffix in (".lean", ".jsonl")


def set_name(name: str) -> str:
    """Return the name of a data set in results: for a file, its name without folder and suffix."""
    if is_theorem_file(name):
        return Path(name).stem
    return name.replace(":", "-").replace("/", "-") if repo_name(name) is not None else name


def read_theorems(file: str) -> list[Theorem]:
    """Read the theorems of a file, in its order.

    Raises UserError, with the line, for what the prover cannot work with and for a name that occurs twice, and if there
    is no such file, or no theorem in it.
    """
    path = Path(file).expanduser()
    if not path.is_file():
        raise UserError(f"no such file of theorems: {path}")
    found: dict[str, Theorem] = {}
    for place, name, source in _of_lean(path) if path.suffix == ".lean" else _of_jsonl(path):
        require_usable(source, place)
        name = name or theorem_name(source) or place.rpartition(" ")[2]
        if name in found:
            raise UserError(f"{place}: the name {name} occurs twice")
        found[name] = Theorem(source, set_name(file), name)
    if not found:
        raise UserError(f"{path} holds no theorem whose proof is a sorry")
    return list(found.values())


def _of_lean(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield place, name and source of each theorem of a Lean file."""
    text = without_header(read_text(path))
    masked, before, position = mask(text), "", 0
    for block in theorem_blocks(text, ("theorem", "lemma")):
        end = block.start + len(block.text)
        if not SORRY.search(masked, block.start, end):
            continue
        between = text[position : block.start]
        head = _prefix_start(between, masked[position : block.start])
        before += between[:head]
        position = end
        yield f"{path}, line {block.line}", block.name, before + between[head:] + block.text


def _prefix_start(between: str, masked: str) -> int:
    """Find where, in the text before a declaration, its prefix begins: `open .. in`, documentation, attributes."""
    start = len(between)
    while True:
        code = len(masked[:start].rstrip())
        if (documented := between.find("/--", code, start)) >= 0:
            start = documented
        elif match := _IN_FRONT.search(masked, 0, code):
            start = match.start()
        else:
            return start


def _of_jsonl(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield place, name ("" for none) and source of each line of a JSONL file."""
    for place, record in jsonl_rows(path):
        name = text_field(record, "id", place) if "id" in record else ""
        yield place, name, text_field(record, "source", place)


# -- Theorems of repositories ----------------------------------------------------------------------------------------

REPO_TARGETS = "theorems.jsonl"
"""The file of a repository's trace with its theorems."""
_VALID_TENTH = 10


def split_of_repo(path: str, name: str) -> Split:
    """Return the split of a theorem of a repository, which depends on its file's path and its name alone."""
    digest = hashlib.sha256(f"{path}\0{name}".encode()).digest()
    return "valid" if int.from_bytes(digest[:8], "big") % _VALID_TENTH == 0 else "train"


def repo_theorems(name: str, split: str) -> list[Theorem]:
    """List the theorems of a split of `repo:NAME`, in the order of the trace.

    Raises UserError for a repository that is not traced, and one of which nothing is to prove.
    """
    repo = repo_name(name)
    assert repo is not None, "it is the name of a repository"
    file = traced_file(repo, REPO_TARGETS)
    rows = [(record, place) for place, record in jsonl_rows(file)]
    if not rows:
        raise UserError(f"{name} holds no theorem to prove ({file})")
    found = []
    for record, place in rows:
        theorem_id, path = text_field(record, "id", place), text_field(record, "path", place)
        if split_of_repo(path, theorem_id.partition("#")[0]) == split:
            found.append(Theorem(text_field(record, "source", place), set_name(name), theorem_id))
    return found


# -- Theorem sets by name --------------------------------------------------------------------------------------------


class ListTheorems(Protocol):
    """A theorem set's listing of a split, without the theorems that fail under a Lean version."""

    def __call__(self, split: str, lean_version: str | None = None) -> list[Theorem]: ...


def _of_module(module: str) -> ListTheorems:
    def read(split: str, lean_version: str | None = None) -> list[Theorem]:
        theorems: list[Theorem] = importlib.import_module(module).list_theorems(split, lean_version)
        return theorems

    return read


def _nanolean(split: str, lean_version: str | None = None) -> list[Theorem]:
    """List a split of the embedded set; its valid and test are a benchmark, which is never filtered."""
    theorems: list[Theorem] = importlib.import_module("nanoproof.data.nanolean").list_theorems(split)
    if split != "train" or lean_version is None:
        return theorems
    return filter_theorems(theorems, load_whitelist("nanolean", lean_version), "nanolean train").theorems


def _fixed(name: str) -> ListTheorems:
    """Fixed theorems of the embedded prover, which are never filtered."""

    def read(split: str, lean_version: str | None = None) -> list[Theorem]:
        theorems: list[Theorem] = importlib.import_module("nanoproof.data.nanolean").fixed_theorems(name, split)
        return theorems

    return read


FIXED = {"nanolean-hard": ("rl", "bench"), "nanolean-premise": ("bench",)}
"""Sets that come with the code, and the stages that they are for."""
DATASETS: dict[str, ListTheorems] = {
    **{
        name: _of_module(data_set.reader)
        for name, data_set in CATALOG.items()
        if {"rl", "bench"} & set(data_set.stages)
    },
    "nanolean": _nanolean,
    **{name: _fixed(name) for name in FIXED},
}


def is_benchmark(name: str, split: str) -> bool:
    """Return whether a split measures provers: it is never filtered, nor trained on (a user's file may be)."""
    if is_theorem_file(name):
        return True
    if repo_name(name) is not None:
        return False
    return "bench" in _stages(name) and split != "train"


def _stages(name: str) -> tuple[str, ...]:
    return FIXED.get(name) or (CATALOG[name].stages if name in CATALOG else ())


def splits_of(name: str) -> tuple[Split, ...]:
    """Return the splits of a data set; a file or a set that has none counts as the default split."""
    if is_theorem_file(name) or (name in CATALOG and CATALOG[name].unsplit):
        return ("valid",)
    if repo_name(name) is not None:
        return ("train", "valid")
    stages = _stages(name) or ("rl", "bench")
    wanted = {"valid", *(("train",) if "rl" in stages else ()), *(("test",) if "bench" in stages else ())}
    return tuple(split for split in SPLITS if split in wanted)


def _is_known(name: str) -> bool:
    return name in DATASETS or repo_name(name) is not None or is_theorem_file(name)


def parse_set_names(values: Iterable[str]) -> list[str]:
    """Parse names of data sets and files of theorems, separated by spaces or commas; each once, in order.

    Raises UserError for unknown ones, and for two that would go by the same name.
    """
    names = [name for value in values for name in value.replace(",", " ").split()]
    unknown = [name for name in names if not _is_known(name)]
    if unknown or not names:
        there = f"{', '.join(DATASETS)}, repo:NAME, and files of theorems (.lean, .jsonl)"
        raise UserError(f"unknown data set {', '.join(unknown) or '(none)'}; there are: {there}")
    distinct = list(dict.fromkeys(names))
    known: dict[str, str] = {}
    for name in distinct:
        if (other := known.setdefault(set_name(name), name)) != name:
            raise UserError(f"{other} and {name} would both be called {set_name(name)}: rename one of them")
    return distinct


def list_theorems(name: str, split: Split, lean_version: str | None = None) -> list[Theorem]:
    """List the theorems of a data set's split, in a fixed order.

    With a Lean version, those that its whitelist calls failing are left out (never of a benchmark). Raises UserError
    for an unknown name or split, for data that is missing or misshapen, and for a missing whitelist.
    """
    if is_theorem_file(name):
        return read_theorems(name)
    parse_set_names([name])
    if repo_name(name) is not None:
        return repo_theorems(name, split)
    return DATASETS[name](split, lean_version)
