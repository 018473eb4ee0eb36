"""The attempts of a run and the theorems that were tried: an index in memory to page, filter and sum over.

An attempt takes 60 bytes here. Its record stays in the log, where the index says it is.
"""

import math
import os
import re
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np

from nanoproof.monitor import record_schema
from nanoproof.monitor.records import HEAD_BYTES, one_line, source_in
from nanoproof.monitor.tail import as_counts, as_float, as_list, as_text, file_stat, parse_object, read_range
from nanoproof.prover.attempt import NOT_REPLAYED, REFUSED
from nanoproof.prover.attempt_log import START_STATES, IndexEntry, IndexReader, attempts_file, index_file, logged_ranks

_TREE_NAME = re.compile(r"(\d{1,11})_(\d{1,11})_(\d{1,11})", re.ASCII)
OUTCOMES: tuple[record_schema.Outcome, ...] = ("proven", "disproven", "unproven", "error")
PROVEN, DISPROVEN, _, ERROR = range(4)
MAX_ATTEMPTS = 5_000_000
MAX_TREES = 1_000_000
POLL_BYTES = 256 << 10
_OUTCOME_NUMBERS: dict[str, int] = {name: number for number, name in enumerate(OUTCOMES)}
# What fits into the 63 bits of a key (`_key`), and into the columns.
_MAX_STEP, _MAX_SEQUENCE, _MAX_RANK, _MAX_COUNT = 1 << 23, 1 << 28, 1 << 11, (1 << 31) - 1
# 60 bytes for each attempt; an object of Python would take some hundreds, of five million attempts gigabytes.
_COLUMNS = np.dtype(
    [
        *[("key", "i8"), ("at", "i8"), ("time", "f8"), ("size", "i4"), ("theorem", "i4"), ("step", "i4")],
        *[("seq", "i4"), ("simulations", "i4"), ("budget", "i4"), ("tactics", "i4"), ("seconds", "f4")],
        *[("rank", "i2"), ("outcome", "i1"), ("disproving", "?")],
    ]
)


@dataclass(slots=True)
class TheoremStats:
    """Statistics of the attempts at one theorem."""

    number: int
    dataset: str
    id: str
    outcome: int = 2
    attempts: int = 0
    proven: int = 0
    disproven: int = 0
    errors: int = 0
    budget: int = 0
    simulations: int = 0
    seconds: float = 0.0
    tactics: int | None = None
    best: int = -1
    """Row of the shortest proof."""
    first_proven: int | None = None
    last: int = -1
    """Key of the last attempt."""
    last_row: int = -1
    last_step: int = 0
    last_time: float | None = None


class AttemptStore:
    """Follows the logs of all ranks. `version` changes whenever anything else does."""

    def __init__(self, run_path: Path) -> None:
        self._path = Path(run_path)
        self.version = 0
        self._reset()

    def _reset(self) -> None:
        self._readers: dict[int, IndexReader] = {}
        self._rows = np.zeros(1024, _COLUMNS)
        self._count = 0
        self._order: np.ndarray | None = None
        self._time_order: np.ndarray | None = None
        self.theorems: list[TheoremStats] = []
        self._numbers: dict[tuple[str, str], int] = {}
        self._statements: dict[int, str] = {}
        self.outcomes = dict.fromkeys(OUTCOMES, 0)
        self.refused = self.lost = 0
        self._last_lost: tuple[float, str] = (0.0, "")
        self.proven_theorems = 0
        self.datasets: set[str] = set()
        self._trees: set[str] = set()
        self._trees_stamp = -1
        self.version += 1

    def __len__(self) -> int:
        return self._count

    def poll(self) -> bool:
        """Read a bounded part of what is new; return whether there was anything."""
        ranks = [rank for rank in logged_ranks(self._path) if self._is_readable(rank)]
        if not self._readers.keys() <= set(ranks):
            self._reset()
        before = self._count, self.covered
        for rank in ranks:
            reader = self._readers.setdefault(rank, IndexReader(self._path, rank))
            resets = reader.resets
            entries = reader.poll(POLL_BYTES)
            if reader.resets > resets:
                self._reset()
                return True
            self._add(entries)
        if self._count != before[0]:
            self.version += 1
            self._order = self._time_order = None
        self._list_trees()
        return (self._count, self.covered) != before

    def _is_readable(self, rank: int) -> bool:
        index = index_file(self._path, rank)
        # A log without an index is read itself. One whose index is a link or a pipe is left alone.
        index_is_fine = file_stat(index) is not None or not index.exists()
        return file_stat(attempts_file(self._path, rank)) is not None and index_is_fine

    @property
    def covered(self) -> int:
        """Bytes of the logs that are accounted for."""
        return sum(reader.covered for reader in self._readers.values())

    @property
    def size(self) -> int:
        """Bytes of the logs."""
        return sum(reader.size for reader in self._readers.values())

    def _list_trees(self) -> None:
        """List the trees that are there: the index says which were kept, and only the newest ones stay."""
        try:
            stamp = os.stat(self._path / "trees").st_mtime_ns
            if stamp != self._trees_stamp:
                self._trees = {name.split(".")[0] for name in os.listdir(self._path / "trees")[:MAX_TREES]}
                self._trees_stamp = stamp
        except OSError:
            self._trees, self._trees_stamp = set(), -1

    def _add(self, entries: list[IndexEntry]) -> None:
        """Add attempts, all at once: there may be a million of them."""
        rows: list[tuple[Any, ...]] = []
        for entry in entries:
            row = self._row_of(entry, self._count + len(rows))
            if row is not None:
                rows.append(row)
        count = self._count + len(rows)
        while count > len(self._rows):
            larger = np.zeros(2 * len(self._rows), _COLUMNS)
            larger[: self._count] = self._rows[: self._count]
            self._rows = larger
        self._rows[self._count : count] = np.array(rows, _COLUMNS)
        self._count = count

    def _row_of(self, entry: IndexEntry, place: int) -> tuple[Any, ...] | None:
        """Return the columns of an attempt, which is counted; None if there is no such attempt, or no room."""
        step, rank, sequence = entry.number
        counts = entry.simulations, entry.budget, entry.tactics
        outcome = _OUTCOME_NUMBERS.get(entry.outcome)
        # By type and not isinstance: true and false are whole numbers to Python.
        if {*map(type, (step, rank, sequence, *counts))} != {int} or outcome is None or place >= MAX_ATTEMPTS:
            return None
        fits = 0 <= step < _MAX_STEP and 0 <= sequence < _MAX_SEQUENCE and 0 <= rank < _MAX_RANK
        if not fits or not isinstance(entry.dataset, str) or not isinstance(entry.id, str):
            return None
        if min(counts) < 0 or max(counts) > _MAX_COUNT:
            counts = tuple(min(max(0, number), _MAX_COUNT) for number in counts)  # type: ignore[assignment]
        stats = self._stats(entry.dataset, entry.id)
        key = _key(step, rank, sequence)
        moment = float(entry.time) if isinstance(entry.time, (int, float)) else math.nan  # older runs have no times
        self.outcomes[entry.outcome] += 1  # type: ignore[index]
        if entry.lost:
            self._count_lost(entry)
        # A state inside of a reference proof is no theorem of the data: proved, it must not raise that count.
        if outcome == PROVEN and stats.proven == 0 and entry.dataset != START_STATES:
            self.proven_theorems += 1
        _update_stats(stats, place, entry, key, outcome)
        place_of = entry.at, moment, entry.size, stats.number
        return (key, *place_of, step, sequence, *counts, entry.seconds, rank, outcome, bool(entry.disproving))

    def _stats(self, dataset: str, name: str) -> TheoremStats:
        number = self._numbers.setdefault((dataset, name), len(self.theorems))
        if number == len(self.theorems):
            self.theorems.append(TheoremStats(number, dataset, name))
            self.datasets.add(dataset)
        return self.theorems[number]

    def _count_lost(self, entry: IndexEntry) -> None:
        # A refusal is a verdict. What had no verdict, as from a checker that is not there, is a loss to be mended.
        if entry.lost in (REFUSED, NOT_REPLAYED):
            self.refused += 1
            return
        self.lost += 1
        loss = as_float(entry.time) or 0.0, as_text(f"{entry.lost}: {entry.reason}", 400)
        self._last_lost = max(self._last_lost, loss)

    # -- queries ---------------------------------------------------------------------------------------------------

    @property
    def last_loss(self) -> str | None:
        """How the newest of the lost proofs was lost."""
        return self._last_lost[1] or None

    def find_theorem(self, dataset: str, name: str) -> TheoremStats | None:
        """Return the statistics of a theorem, or None if it was never tried."""
        number = self._numbers.get((dataset, name))
        return None if number is None else self.theorems[number]

    def find_attempt(self, rank: int, step: int, sequence: int) -> int | None:
        """Return the row of an attempt, or None."""
        if not (rank < _MAX_RANK and step < _MAX_STEP and sequence < _MAX_SEQUENCE):
            return None
        order, key = self._ordered(), _key(step, rank, sequence)
        place = int(np.searchsorted(self._rows["key"][order], key))
        if place == len(order) or self._rows["key"][order[place]] != key:
            return None
        return int(order[place])

    def page(
        self,
        page: int,
        size: int,
        dataset: str | None = None,
        theorem: int | None = None,
        outcome: str | None = None,
        with_tree: bool = False,
    ) -> tuple[list[record_schema.AttemptRow], int]:
        """Return a page of attempts, newest first, and how many match in all."""
        rows = self._rows[: self._count]
        keep = np.ones(self._count, bool)
        if with_tree:
            keep = self._having_trees()
        if theorem is not None:
            keep &= rows["theorem"] == theorem
        if dataset is not None:
            # Texts are compared once for each theorem, and its attempts look that up.
            keep &= np.array([stats.dataset == dataset for stats in self.theorems], bool)[rows["theorem"]]
        if outcome is not None:
            keep &= rows["outcome"] == OUTCOMES.index(outcome)
        order = self.by_time()
        chosen = order[keep[order]][::-1]
        return [self.row(int(number)) for number in chosen[(page - 1) * size : page * size]], len(chosen)

    def _having_trees(self) -> np.ndarray:
        # By keys, all at once: among 100,000 attempts, to make the name of each and look it up took too long.
        keys: list[int] = []
        for match in filter(None, map(_TREE_NAME.fullmatch, self._trees)):
            step, rank, sequence = map(int, match.groups())
            if step < _MAX_STEP and rank < _MAX_RANK and sequence < _MAX_SEQUENCE:
                keys.append(_key(step, rank, sequence))
        return np.isin(self._rows["key"][: self._count], np.array(keys, np.int64))

    def row(self, number: int) -> record_schema.AttemptRow:
        """Return the summary of an attempt."""
        row = self._rows[number]
        stats = self.theorems[row["theorem"]]
        return {
            "rank": int(row["rank"]),
            "step": int(row["step"]),
            "seq": int(row["seq"]),
            "dataset": stats.dataset,
            "id": stats.id,
            "outcome": OUTCOMES[row["outcome"]],
            "disproving": bool(row["disproving"]),
            "simulations": int(row["simulations"]),
            "budget": int(row["budget"]),
            "tactics": int(row["tactics"]),
            "seconds": round(float(row["seconds"]), 3),
            "time": None if np.isnan(row["time"]) else float(row["time"]),
            "tree": f"{row['step']}_{row['rank']}_{row['seq']}" in self._trees,
        }

    def statement(self, stats: TheoremStats) -> str:
        """Return the statement of a theorem in one line, shortened; empty where its record cannot be read."""
        # The index has no statements, which would be most of it: each is read when somebody first sees its row.
        if stats.number not in self._statements:
            rank, at, size = self.record_range(stats.last_row)
            head = read_range(attempts_file(self._path, rank), at, min(size, HEAD_BYTES))
            self._statements[stats.number] = one_line(source_in(head))
        return self._statements[stats.number]

    def record_range(self, number: int) -> tuple[int, int, int]:
        """Return where the record of an attempt is: rank, byte position and size."""
        row = self._rows[number]
        return int(row["rank"]), int(row["at"]), int(row["size"])

    def proofs_per_hour(self, now: float) -> float | None:
        """Return the rate over the last hour, or over the time since the run began; None without attempts."""
        times = self._rows["time"][: self._count]
        known = times[~np.isnan(times)]
        if len(known) == 0:
            return None
        begin = max(now - 3600.0, float(known.min()))
        proven = self._rows["outcome"][: self._count] == PROVEN
        # By at least a minute: two proofs in the first second of a run are no 7,200 an hour.
        return 3600.0 * int((proven & (times >= begin)).sum()) / max(60.0, now - begin)

    def theorem_row(self, stats: TheoremStats) -> record_schema.TheoremRow:
        """Return a theorem's statistics and its statement as the API's row."""
        return {
            "dataset": stats.dataset,
            "id": stats.id,
            "statement": self.statement(stats),
            "outcome": OUTCOMES[stats.outcome],
            "attempts": stats.attempts,
            "proven": stats.proven,
            "disproven": stats.disproven,
            "errors": stats.errors,
            "budget": stats.budget,
            "simulations": stats.simulations,
            "seconds": round(stats.seconds, 3),
            "tactics": stats.tactics,
            "first_proven": stats.first_proven,
            "last_step": stats.last_step,
            "last_time": stats.last_time,
        }

    def count_from(self, step: int) -> int:
        """Return how many attempts were made by the network of this step, or of later ones."""
        return int(np.count_nonzero(self._rows["step"][: self._count] >= step))

    def last_time(self) -> float | None:
        """Return when the newest attempt ended, in seconds since the epoch."""
        times = self._rows["time"][: self._count]
        return None if np.isnan(times).all() else float(np.nanmax(times))

    def by_time(self) -> np.ndarray:
        """Return the rows in the order in which their attempts ended; those without a time, of older runs, by name."""
        if self._time_order is None:
            rows = self._rows[: self._count]
            self._time_order = np.lexsort((rows["key"], np.nan_to_num(rows["time"])))
        return self._time_order

    def _ordered(self) -> np.ndarray:
        if self._order is None:
            self._order = np.argsort(self._rows["key"][: self._count], kind="stable")
        return self._order


def _key(step: int, rank: int, sequence: int) -> int:
    """Return the name of an attempt as one number, which sorts by step; the ranks of a step are interleaved."""
    return (step << 39) | (sequence << 11) | rank


def _update_stats(stats: TheoremStats, row: int, entry: IndexEntry, key: int, outcome: int) -> None:
    stats.attempts += 1
    stats.proven += outcome == PROVEN
    stats.disproven += outcome == DISPROVEN
    stats.errors += outcome == ERROR
    stats.simulations += entry.simulations
    stats.seconds += entry.seconds
    if outcome == PROVEN:
        if stats.tactics is None or entry.tactics < stats.tactics:
            stats.tactics, stats.best = entry.tactics, row
        if stats.first_proven is None or entry.step < stats.first_proven:
            stats.first_proven = entry.step
    # The logs of ranks are read one after the other: what is added last need not be the newest.
    is_newest = key > stats.last
    if is_newest:
        stats.last, stats.last_row, stats.last_step = key, row, entry.step
        stats.last_time, stats.budget = entry.time, entry.budget
    # A proof stays one, however many later attempts fail.
    if stats.proven:
        stats.outcome = PROVEN
    elif stats.disproven:
        stats.outcome = DISPROVEN
    elif is_newest:
        stats.outcome = outcome


# -- A sample of the searches ----------------------------------------------------------------------------------------

MAX_SAMPLED = 400
"""Attempts whose records are read to say what searches did: some tens of milliseconds, however long the run is."""
MAX_RECORD_BYTES = 1 << 20
_MAX_BUCKETS = 24
_MAX_VALUE = 64


class SampledRecord(NamedTuple):
    """The step of an attempt, and where its record is: rank, byte position and size."""

    step: int
    rank: int
    at: int
    size: int


def sample_rows(store: AttemptStore, most: int = MAX_SAMPLED) -> list[SampledRecord]:
    """Choose attempts evenly over the run."""
    count, order = len(store), store.by_time()
    # Evenly and not by chance, so that the page shows the same figures when it is opened again.
    taken = min(count, most)
    chosen: list[SampledRecord] = []
    for place in range(taken):
        row = int(order[place * count // taken])
        record = SampledRecord(store.row(row)["step"], *store.record_range(row))
        if record.size <= MAX_RECORD_BYTES:
            chosen.append(record)
    return chosen


def read_searches(run_path: Path, rows: list[SampledRecord], total: int) -> record_schema.Searches:
    """Sum up what the searches of a sample did, by step, and what the value said of what was proved or not."""
    steps: dict[int, Counter[str]] = {}
    values: dict[str, list[float]] = {"proven": [], "unproven": []}
    for step, rank, at, size in rows:
        record = parse_object(read_range(attempts_file(run_path, rank), at, size)) or {}
        counts = as_counts(record.get("counts"))
        if counts.get("tactics_run"):
            steps.setdefault(step, Counter()).update({**counts, "attempts": 1})
        value = _root_value(record)
        if value is not None and record.get("outcome") in values:
            values[str(record["outcome"])].append(value)
    bucket = max(1, -(-len(steps) // _MAX_BUCKETS))
    ordered = sorted(steps)
    by_group: list[record_schema.SearchesOfStep] = []
    for first in range(0, len(ordered), bucket):
        group = ordered[first : first + bucket]
        counts_of_group = sum(map(steps.__getitem__, group), Counter[str]())
        by_group.append({"step": group[-1], "counts": dict(counts_of_group)})
    return {
        "attempts": len(rows),
        "total": total,
        "counts": dict(sum(steps.values(), Counter[str]())),
        "steps": by_group,
        "values": {outcome: _spread(values_of_outcome) for outcome, values_of_outcome in values.items()},
        "told_apart": _told_apart(values["proven"], values["unproven"]),
    }


def _root_value(record: dict[str, Any]) -> float | None:
    """Return how many tactics the network expected a theorem to need, before its search knew better."""
    # Rows of `search/expand.py:Estimate`, the first one after a single simulation: the value of the network alone.
    rows = as_list(record.get("estimates"))[:1]
    if not rows or not isinstance(rows[0], list) or len(rows[0]) != 3:
        return None
    value = as_float(rows[0][1])
    return value if value is not None and 0 <= value <= _MAX_VALUE else None


def _spread(values: list[float]) -> record_schema.RootValues:
    """Count the values of theorems by the whole number nearest to each."""
    counts = Counter(map(round, values))
    mean = sum(values) / len(values) if values else None
    return {"count": len(values), "mean": mean, "by_value": {str(value): counts[value] for value in sorted(counts)}}


def _told_apart(proven: list[float], unproven: list[float]) -> float | None:
    """Return how often the value of a theorem that was proved is lower than that of one that was not (ties count half).

    One half is chance: the value then says nothing of what can be proved.
    """
    if not proven or not unproven:
        return None
    # The area under the ROC curve, as the Mann-Whitney U statistic over all pairs.
    ordered = np.sort(np.array(unproven))
    above = len(ordered) - np.searchsorted(ordered, proven, "right")
    ties = np.searchsorted(ordered, proven, "right") - np.searchsorted(ordered, proven, "left")
    return float((above + ties / 2).sum() / (len(proven) * len(unproven)))


# -- The table of theorems: search, filter and sort --------------------------------------------------------------------

SORTS: tuple[str, ...] = get_args(record_schema.TheoremSort)
_MAX_CACHED_QUERIES = 16
_SORT_KEYS: dict[str, Callable[[TheoremStats], Any]] = {
    **{name: attrgetter(name) for name in SORTS if name not in ("first", "last")},
    "first": attrgetter("first_proven"),
    "last": lambda stats: (stats.last_time or 0.0, stats.last),
}


class TheoremTable:
    """Pages of theorems; the order that a query gives is cached until an attempt is added."""

    def __init__(self, attempts: AttemptStore) -> None:
        self._attempts = attempts
        self._version = -1
        self._cache: OrderedDict[tuple[Any, ...], list[TheoremStats]] = OrderedDict()
        self._datasets: dict[str, int] = {}
        self._outcomes: dict[str, int] = {}

    def page(
        self, q: str, dataset: str | None, outcome: str | None, sort: str, descending: bool, page: int, size: int
    ) -> record_schema.Theorems:
        """Return a page of the theorems that match."""
        if self._version != self._attempts.version:
            self._version = self._attempts.version
            self._cache.clear()
            self._datasets = dict(sorted(Counter(stats.dataset for stats in self._attempts.theorems).items()))
            counts = Counter(stats.outcome for stats in self._attempts.theorems)
            self._outcomes = {name: counts[number] for number, name in enumerate(OUTCOMES)}
        # The page asks for the next 50 of the same query while somebody scrolls: the order is made once for that.
        query = (q.lower(), dataset, outcome, sort, descending)
        if query not in self._cache:
            self._cache[query] = self._choose(*query)
            if len(self._cache) > _MAX_CACHED_QUERIES:
                self._cache.popitem(last=False)
        chosen = self._cache[query]
        return {
            "items": list(map(self._attempts.theorem_row, chosen[(page - 1) * size : page * size])),
            "total": len(chosen),
            "page": page,
            "size": size,
            "datasets": self._datasets,
            "outcomes": self._outcomes,
        }

    def _fits(self, stats: TheoremStats, parts: list[str]) -> bool:
        """Tell whether all parts stand in its name or statement, which is read only where the name does not do."""
        name = stats.id.lower()
        missing = [part for part in parts if part not in name]
        if not missing:
            return True
        statement = self._attempts.statement(stats).lower()
        return all(part in statement for part in missing)

    def _choose(
        self, q: str, dataset: str | None, outcome: str | None, sort: str, descending: bool
    ) -> list[TheoremStats]:
        chosen = self._attempts.theorems
        if dataset is not None:
            chosen = [stats for stats in chosen if stats.dataset == dataset]
        if outcome is not None:
            chosen = [stats for stats in chosen if OUTCOMES[stats.outcome] == outcome]
        if parts := q.split():  # last, since a statement may have to be read for it
            chosen = [stats for stats in chosen if self._fits(stats, parts)]
        key = _SORT_KEYS[sort]
        if sort in ("tactics", "first"):  # those without a proof come last, either way
            with_proof = [stats for stats in chosen if stats.tactics is not None]
            without = [stats for stats in chosen if stats.tactics is None]
            return sorted(with_proof, key=key, reverse=descending) + without
        return sorted(chosen, key=key, reverse=descending)
