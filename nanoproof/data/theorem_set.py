"""What theorem sets share: rows with checked fields, ids that occur once, the split, and what was left out and why.

    SET = TheoremSet("leanworkbook", RL_SPLITS, read)       # `read` fills a `Parsed`
    SET.list_theorems("train", "v4.27.0")
    SET.stats()

Order of work: parse, drop duplicates, shuffle, split, then leave out what the prover cannot work with or a whitelist
calls failing. So neither our parser of sources nor a whitelist moves a theorem from one split to the other.
"""

import json
import logging
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from nanoproof.common.errors import UserError
from nanoproof.data.whitelist import filter_theorems, load_whitelist
from nanoproof.lean.errors import SourceError
from nanoproof.lean.source import parts
from nanoproof.lean.theorem import Theorem

log = logging.getLogger(__name__)

RL_SPLITS = ("train", "valid")
BENCH_SPLITS = ("valid", "test")
VALID_COUNT = 500
"""Theorems of a set for reinforcement learning that are for validation."""
SHUFFLE_SEED = 0
DUPLICATE = "duplicate id"
"""Why a row is left out whose id was there before."""


class Parsed:
    """The theorems of a data set in the order of its files, each id once; `left_out` counts the rest by reason."""

    def __init__(self, dataset: str) -> None:
        self.rows = 0
        self.left_out: Counter[str] = Counter()
        self._dataset = dataset
        self._theorems: dict[str, tuple[str, Theorem]] = {}

    def add(self, theorem_id: str, source: str, split: str = "") -> None:
        """One more row with a theorem; a later one with the same id is a duplicate."""
        if theorem_id in self._theorems:
            self.leave_out(DUPLICATE)
            return
        self.rows += 1
        self._theorems[theorem_id] = (split, Theorem(source, self._dataset, theorem_id))

    def leave_out(self, reason: str) -> None:
        """One more row without."""
        self.rows += 1
        self.left_out[reason] += 1

    def splits(self) -> dict[str, list[Theorem]]:
        """Theorems by split: as the data set says, or shuffled with the last `VALID_COUNT` for validation."""
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
    """The theorems of a split, and what was left out of it; `unknown` are those that the whitelist does not know."""

    theorems: list[Theorem]
    left_out: Counter[str] = field(default_factory=Counter)
    unknown: int = 0


@dataclass(frozen=True)
class TheoremSet:
    """A theorem set by its reader. Benchmarks are never filtered."""

    name: str
    splits: tuple[str, ...]
    read: Callable[[], Parsed]

    @property
    def is_benchmark(self) -> bool:
        """Whether its theorems are there to measure, not to learn from."""
        return "train" not in self.splits

    def list_theorems(self, split: str, lean_version: str | None = None) -> list[Theorem]:
        """The theorems of a split in a fixed order; with a Lean version, without those that fail by its whitelist.

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
        """Rows, what was left out of them, and for each split theorems, those left out of it, and unknown ones."""
        parsed = self.read()
        listings = {split: self._listing(theorems, split, lean_version) for split, theorems in parsed.splits().items()}
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


def unusable_because(source: str) -> str | None:
    """Why the prover cannot work with a source, in few words without the source; None if it can."""
    try:
        parts(source)
    except SourceError as error:
        return str(error).split(" in '")[0].split(' in "')[0].split(", got '")[0]
    return None


def require_usable(source: str, place: str) -> None:
    """Raises UserError that names the place, for sets that promise theorems that the prover can work with."""
    try:
        parts(source)
    except SourceError as error:
        raise UserError(f"{place}: {error}") from error


# ---------------------------------------------------------------------------------------------------------------------
# Rows


def json_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a JSON list, each with its place for messages."""
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UserError(f"{path} is not valid JSON: {error}") from error
    if not isinstance(records, list):
        raise UserError(f"{path} must hold a list of objects, got {_kind(records)}")
    for number, record in enumerate(records, start=1):
        yield (place := f"{path}, row {number}"), _object(record, place)


def jsonl_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a file with one on each line, each with its place for messages."""
    with open(path, "rb") as file:
        for number, line in enumerate(file, start=1):
            place = f"{path}, line {number}"
            if line.strip():
                try:
                    record = json.loads(line)
                except ValueError as error:
                    raise UserError(f"{place}: not valid JSON: {error}") from error
                yield place, _object(record, place)


def parquet_rows(path: Path, columns: Sequence[str], batch_rows: int = 1024) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of a parquet file with the given columns, each with its place for messages; read in batches."""
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
    """A field that must be a text. Raises UserError that names place and field."""
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


# ---------------------------------------------------------------------------------------------------------------------
# Statements


def with_sorry(statement: str, after_by: str, after_assign: str) -> str | None:
    """The statement with a `sorry` behind its `:= by` or bare `:=`; None if it ends in neither."""
    if statement.endswith(":= by"):
        return statement + after_by
    return statement + after_assign if statement.endswith(":=") else None


def remove_lines(text: str, *beginnings: str) -> str:
    """The text without the lines that begin so, indented or not."""
    return "\n".join(line for line in text.split("\n") if not line.lstrip().startswith(beginnings))
