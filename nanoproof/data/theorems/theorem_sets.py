"""Theorem sets: the splits of the catalog's sets, and theorems in files of the user's own.

    list_theorems("leanworkbook", "train", "v4.27.0")       # a set of the catalog, filtered by a whitelist
    list_theorems("mine.lean", "valid")                     # a file

A set's module (`nanoproof.data.rl.leanworkbook`, ..) defines a `TheoremSet` and is imported when the set is asked for:

    SET = TheoremSet("leanworkbook", RL_SPLITS, read)       # `read` returns `ParsedTheorems`

The rows of a set are parsed, freed of duplicates, shuffled and split; then theorems are left out that the prover cannot
work with or that a whitelist calls failing. So neither our parser of sources nor a whitelist moves a theorem from one
split to the other.

In a Lean file, every `theorem` or `lemma` whose proof is a `sorry` is a theorem of the set, under its full name. Its
source is all text before it except the header (the server has its own imports) and what else holds a `sorry`: so it may
use definitions, notation, `variable` lines, and what is proved there. In a JSONL file every line is a theorem, with
`source` and optionally `id` in place of its name. What cannot be used is skipped, and said with line and reason. A file
has no splits and is never filtered.

`repo:NAME` is what `python -m nanoproof.repos trace` found in a repository: its theorems, each without its proof, and
its `sorry`s. A hash of path and name puts a tenth of them into `valid`, so that no later trace moves one.
"""

import hashlib
import importlib
import logging
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from nanoproof.common.errors import UserError, did_you_mean
from nanoproof.common.files import HALF_CHARACTER, lone_surrogate, parse_json, read_text
from nanoproof.common.run_dir import repo_name, traced_file
from nanoproof.data.sources.catalog import CATALOG, of_stages
from nanoproof.data.theorems.whitelists import filter_theorems, load_whitelist
from nanoproof.lean.file_theorems import TWICE, theorems_of, unusable_because
from nanoproof.lean.lexical import mask
from nanoproof.lean.source import parse_declaration, theorem_name
from nanoproof.lean.types import SourceError, Theorem

log = logging.getLogger(__name__)

Split = Literal["train", "valid", "test"]
SPLITS: tuple[Split, ...] = ("train", "valid", "test")
RL_SPLITS = ("train", "valid")
BENCH_SPLITS: tuple[Split, ...] = ("valid", "test")
VALID_COUNT = 500
"""Number of validation theorems of a set for reinforcement learning."""
SHUFFLE_SEED = 0
_LINES_SHOWN = 5  # of each reason for skipping
DUPLICATE = "duplicate id"
"""The reason for leaving out a row whose id has occurred before."""


# -- Theorems in Lean text -------------------------------------------------------------------------------------------


def with_sorry(statement: str, after_by: str, after_assign: str) -> str | None:
    """Append a `sorry`: `after_by` to a statement that ends in `:= by`, `after_assign` after `:=`; else None."""
    if statement.endswith(":= by"):
        return statement + after_by
    return statement + after_assign if statement.endswith(":=") else None


def remove_lines(text: str, *beginnings: str) -> str:
    """Remove the lines that begin with one of the given texts, indented or not, but none of a comment."""
    kept = []
    for line, code in zip(text.split("\n"), mask(text).split("\n"), strict=True):
        if not code.lstrip().startswith(beginnings):  # in `code` comments are blanks
            kept.append(line)
    return "\n".join(kept)


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
        named: dict[str, list[Theorem]] = {"": [], "valid": [], "test": []}
        for split, theorem in self._theorems.values():
            named[split].append(theorem)
        theorems = named.pop("")
        if named["valid"] or named["test"]:
            assert not theorems, "either all theorems have a split of their own, or none"
            return named
        # A fixed seed and the files' order: nothing moves from one split to the other as long as the file stays.
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
        """Tell whether its theorems measure provers and are never trained on."""
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
        counts = {}
        for split in self.splits:
            listing = self._listing(theorems[split], split, lean_version)
            left_out = dict(listing.left_out.most_common())
            counts[split] = {"theorems": len(listing.theorems), "left_out": left_out, "unknown": listing.unknown}
        if self.is_benchmark:
            lean_version = None
        left_out = dict(parsed.left_out.most_common())
        return {
            "name": self.name,
            "rows": parsed.rows,
            "left_out": left_out,
            "lean_version": lean_version,
            "splits": counts,
        }

    def _listing(self, theorems: Sequence[Theorem], split: str, lean_version: str | None) -> Listing:
        # A score is of all theorems or of none: one that cannot be worked with ends the reading.
        if self.is_benchmark:
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
    data = path.read_bytes()
    try:
        records = parse_json(data)
    except ValueError as error:
        raise UserError(f"{path} is not valid JSON: {error}") from error
    if not isinstance(records, list):
        raise UserError(f"{path} must hold a list of objects, got {_kind(records)}")
    for number, record in enumerate(records, start=1):
        yield (place := f"{path}, row {number}"), _object(record, place, data)


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
                yield place, _object(record, place, line)


def parquet_rows(path: Path, columns: Sequence[str], batch_rows: int = 1024) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield place and row of a parquet file with the given columns; it is read in batches.

    Raises UserError if a column is missing or the file is damaged.
    """
    import pyarrow as pa  # here, as commands name theorem sets among their options
    import pyarrow.parquet as pq

    number = 0
    try:
        with pq.ParquetFile(path) as file:
            missing = [column for column in columns if column not in file.schema_arrow.names]
            if missing:
                there = ", ".join(file.schema_arrow.names)
                raise UserError(f"{path} has no column {', '.join(missing)}; it has: {there}")
            # Batches: as objects of Python, a whole table would take several times the memory of its file.
            for batch in file.iter_batches(batch_size=batch_rows, columns=list(columns)):
                for record in batch.to_pylist():
                    number += 1
                    yield f"{path}, row {number}", record
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        problem = f"{path} is not a whole parquet file"
        if number:
            problem += f", after row {number}"
        raise UserError(f"{problem}: {str(error).splitlines()[0]}") from error


def text_field(record: dict[str, Any], name: str, place: str) -> str:
    """Return a field that must be a text. Raises UserError that names place and field."""
    value = record.get(name)
    if not isinstance(value, str):
        problem = f"got {_kind(value)}" if name in record else "it is missing"
        raise UserError(f"{place}: the field {name!r} must be a text, {problem}")
    return value


def text_field_if_any(record: dict[str, Any], name: str, place: str) -> str:
    """Return a field that must be a text; "" if there is none. Raises UserError as `text_field` does."""
    return "" if name not in record else text_field(record, name, place)


def _object(record: Any, place: str, data: bytes) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise UserError(f"{place}: expected an object, got {_kind(record)}")
    if HALF_CHARACTER.search(data) and (field := lone_surrogate(record)) is not None:
        raise UserError(f"{place}: `{field}` is not Unicode: it has a lone surrogate")
    return record


def _kind(value: Any) -> str:
    """Name a value's type in the words of JSON, which people who write rows by hand know."""
    names = {
        type(None): "nothing (null)",
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "true or false",
        int: "a number",
        float: "a number",
    }
    return names.get(type(value), type(value).__name__)


# -- Files of theorems -----------------------------------------------------------------------------------------------


def is_theorem_file(name: str) -> bool:
    """Return whether a data set's name is that of a file of theorems, which may not exist."""
    return Path(name).suffix in (".lean", ".jsonl")


def set_name(name: str) -> str:
    """Return the name of a data set in results: for a file, its name without folder and suffix."""
    if is_theorem_file(name):
        return Path(name).stem
    if repo_name(name) is not None:
        return name.replace(":", "-").replace("/", "-")  # it becomes a part of names of files
    return name


@dataclass(frozen=True, slots=True)
class Skipped:
    """What of a file is no theorem to prove: its line (from 1 on), its name if it has one, and the reason."""

    line: int
    name: str
    reason: str


@dataclass(frozen=True)
class TheoremFile:
    """The theorems of a file in its order, and what was skipped: that counts wherever a score is made of the file."""

    theorems: list[Theorem]
    skipped: list[Skipped]


def skipped_notes(skipped: Sequence[Skipped]) -> list[str]:
    """Describe what was skipped: a line for each reason, with how many there are and on which lines."""
    by_reason: dict[str, list[int]] = {}
    for entry in skipped:
        by_reason.setdefault(entry.reason, []).append(entry.line)
    notes = []
    for reason, lines in by_reason.items():
        shown = ", ".join(map(str, lines[:_LINES_SHOWN]))
        if len(lines) > _LINES_SHOWN:
            shown += ", .."
        place = "lines" if len(lines) > 1 else "line"
        notes.append(f"{len(lines)} skipped ({place} {shown}): {reason}")
    return notes


def read_theorem_file(file: str) -> TheoremFile:
    """Read the theorems of a file, and what of it cannot be used.

    Raises UserError if there is no such file, if it cannot be read, and if no theorem can be used.
    """
    path = Path(file).expanduser()
    if not path.is_file():
        raise UserError(f"no such file of theorems: {path}")
    theorems: dict[str, Theorem] = {}
    skipped: list[Skipped] = []
    read = _of_lean if path.suffix == ".lean" else _of_jsonl
    for line, theorem, reason in read(path, set_name(file)):
        # Results go by the id: a second theorem would be counted as another attempt at the first.
        if not reason and theorem.id in theorems:
            reason = TWICE
        if reason:
            skipped.append(Skipped(line, theorem.id, reason))
        else:
            theorems[theorem.id] = theorem
    if not theorems:
        problem = f"{path} holds no theorem whose proof is a sorry"
        if skipped:
            problem += f": {'; '.join(skipped_notes(skipped))}"
        raise UserError(problem)
    return TheoremFile(list(theorems.values()), skipped)


def read_theorems(file: str) -> list[Theorem]:
    """Read the theorems of a file, in its order, and log what was skipped.

    Raises UserError where `read_theorem_file` does.
    """
    read = read_theorem_file(file)
    for note in skipped_notes(read.skipped):
        log.warning("%s: %s", file, note)
    return read.theorems


def skipped_of(name: str) -> list[Skipped]:
    """List what of a data set was skipped: of a file what is no theorem to prove, of other sets nothing."""
    if not is_theorem_file(name):
        return []
    return read_theorem_file(name).skipped


def _of_lean(path: Path, dataset: str) -> Iterator[tuple[int, Theorem, str]]:
    """Yield line, theorem, and the reason for not using it, of each theorem of a Lean file."""
    try:
        theorems = theorems_of(read_text(path))
    except SourceError as error:
        raise UserError(f"{path}: {error}") from error
    for theorem in theorems:
        yield theorem.line, Theorem(theorem.source, dataset, theorem.name), theorem.skipped


def _of_jsonl(path: Path, dataset: str) -> Iterator[tuple[int, Theorem, str]]:
    """Yield line, theorem, and the reason for not using it, of each line of a JSONL file.

    Lines that say what was skipped of another file, as `inspect_problems --json` prints them, are skipped here too.
    """
    for place, record in jsonl_rows(path):
        line = int(place.rpartition(" ")[2])  # as `jsonl_rows` ends it
        name = text_field_if_any(record, "id", place)
        if "skipped" in record:
            yield line, Theorem("", dataset, name), text_field(record, "skipped", place)
            continue
        source = text_field(record, "source", place)
        reason = unusable_because(source) or ""
        if not reason:
            name = name or theorem_name(source) or str(line)
        yield line, Theorem(source, dataset, name, text_field_if_any(record, "as_written", place)), reason


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
    rows = list(jsonl_rows(file))
    if not rows:
        raise UserError(f"{name} holds no theorem to prove ({file})")
    theorems = []
    for place, record in rows:
        theorem_id, path = text_field(record, "id", place), text_field(record, "path", place)
        # Behind `#` is the number of a `sorry` in the theorem: all of them are in its split.
        if split_of_repo(path, theorem_id.partition("#")[0]) == split:
            theorems.append(Theorem(text_field(record, "source", place), set_name(name), theorem_id))
    return theorems


# -- Theorem sets by name --------------------------------------------------------------------------------------------


class ListTheorems(Protocol):
    """A theorem set's listing of a split, without the theorems that fail under a Lean version."""

    def __call__(self, split: str, lean_version: str | None = None) -> list[Theorem]: ...


# Modules are imported when a set is asked for: they import this one for `TheoremSet`.


def _of_module(module: str) -> ListTheorems:
    def read(split: str, lean_version: str | None = None) -> list[Theorem]:
        return importlib.import_module(module).list_theorems(split, lean_version)

    return read


def _nanolean(split: str, lean_version: str | None = None) -> list[Theorem]:
    """List a split of the embedded set; its valid and test are a benchmark, which is never filtered."""
    theorems: list[Theorem] = importlib.import_module("nanoproof.data.nanolean").list_theorems(split)
    if split != "train" or lean_version is None:
        return theorems
    return filter_theorems(theorems, load_whitelist("nanolean", lean_version), "nanolean train").theorems


def _fixed(name: str) -> ListTheorems:
    """Return the listing of fixed theorems of the embedded prover, which are never filtered."""

    def read(split: str, lean_version: str | None = None) -> list[Theorem]:
        return importlib.import_module("nanoproof.data.nanolean").fixed_theorems(name, split)

    return read


FIXED = {"nanolean-hard": ("rl", "bench"), "nanolean-premise": ("bench",), "nanolean-exercises": ("bench",)}
"""Sets that come with the code, and the stages that they are for."""
DATASETS: dict[str, ListTheorems] = {}
for _name in of_stages(("rl", "bench")):
    DATASETS[_name] = _of_module(CATALOG[_name].reader)
DATASETS["nanolean"] = _nanolean
for _name in FIXED:
    DATASETS[_name] = _fixed(_name)


def is_benchmark(name: str, split: str) -> bool:
    """Return whether a split measures provers: it is never filtered, nor trained on (a user's file may be)."""
    if is_theorem_file(name):
        return True
    if repo_name(name) is not None:
        return False
    return "bench" in _stages(name) and split != "train"


def _stages(name: str) -> tuple[str, ...]:
    return CATALOG[name].stages if name in CATALOG else FIXED.get(name, ())


def splits_of(name: str) -> tuple[Split, ...]:
    """Return the splits of a data set; a file or a set that has none counts as the default split."""
    if is_theorem_file(name) or (name in CATALOG and CATALOG[name].unsplit):
        return ("valid",)
    if repo_name(name) is not None:
        return ("train", "valid")
    # Sets for training have no test split, benchmarks no training split; NanoLean's are both.
    stages = _stages(name)
    splits: list[Split] = ["valid"]
    if "rl" in stages or not stages:
        splits.insert(0, "train")
    if "bench" in stages or not stages:
        splits.append("test")
    return tuple(splits)


def _is_known(name: str) -> bool:
    return name in DATASETS or repo_name(name) is not None or is_theorem_file(name)


def parse_set_names(values: Iterable[str]) -> list[str]:
    """Parse names of data sets and files of theorems, separated by spaces or commas; each once, in order.

    Raises UserError for unknown ones, and for two that would go by the same name.
    """
    names: list[str] = []
    for value in values:
        if is_theorem_file(value) and Path(value).expanduser().is_file():
            names.append(value)  # its path may have blanks and commas
        else:
            names += value.replace(",", " ").split()
    unknown = [name for name in names if not _is_known(name)]
    if unknown or not names:
        there = f"{', '.join(DATASETS)}, repo:NAME, and files of theorems (.lean, .jsonl)"
        near = did_you_mean(" ".join(unknown), DATASETS)
        raise UserError(f"unknown data set {', '.join(unknown) or '(none)'}; there are: {there}{near}")
    distinct = list(dict.fromkeys(names))
    by_result_name: dict[str, str] = {}
    for name in distinct:
        if (other := by_result_name.setdefault(set_name(name), name)) != name:
            raise UserError(f"{other} and {name} would both be called {set_name(name)}: rename one of them")
    return distinct


def list_theorems(name: str, split: Split, lean_version: str | None = None) -> list[Theorem]:
    """List the theorems of a data set's split, in a fixed order.

    With a Lean version, those that its whitelist calls failing are left out (never of a benchmark). Raises UserError
    for an unknown name or split, for data that is missing or misshapen, and for a missing whitelist.
    """
    if is_theorem_file(name):
        return read_theorems(name)
    parse_set_names([name])  # raises for one that is unknown
    if repo_name(name) is not None:
        return repo_theorems(name, split)
    return DATASETS[name](split, lean_version)
