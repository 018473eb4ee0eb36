"""pass@k of results with many samples of each statement: means over blocks, the unbiased estimator, its interval.

Two numbers answer two questions. The *mean over blocks* is what papers on whole proofs print: the samples of every
statement are cut into consecutive blocks of k, a block's rate is the share of statements that one of its samples
proves, and `+-` is the population standard deviation of these rates, where there are at least four (so that 3,200 +-
needs 12,800 samples). It says how much a score moves when the same statements are sampled again. The *unbiased
estimator* (Chen et al. 2021) uses all samples at once; the interval beside it is a bootstrap over statements, and says
how much the score would move on other statements of the kind.

What is read: `results.jsonl` of our evaluations (one line for each sample), and the files
`generated_proofs_<name>.jsonl.gz` of the Self-play Theorem Prover, one line for each distinct attempt, with `iter`.
"""

import gzip
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any, Literal

import numpy as np

from nanoproof.common.errors import UserError
from nanoproof.common.files import parse_json, read_jsonl, read_object
from nanoproof.evaluation.summary import pass_at_k, theorem_key
from nanoproof.lean.types import SourceError, Theorem, TheoremRejected

RESULTS, SETTINGS = "results.jsonl", "settings.json"
BUDGETS = (1, 32, 128, 640, 3200, 6400, 25600)
MOST_WITHOUT_VERDICT = 0.01
"""Share of samples without a verdict above which a score means nothing."""
LEAST_BLOCKS = 4
"""From so many blocks on their deviation is told."""
BOOTSTRAP_DRAWS = 10_000
_DRAWS_AT_ONCE = 1_000_000
"""Numbers drawn at a time, so that a bootstrap takes 8 MB, whatever the number of statements."""
_MOST_SAMPLES = 10_000_000
"""A file may number its samples as it likes, and each takes a byte of memory up to the highest number."""

Verdict = Literal["absent", "none", "refused", "failed", "solved"]
VERDICTS: tuple[Verdict, ...] = ("absent", "none", "refused", "failed", "solved")
"""What is known of a sample, from nothing to most; of two lines about one sample the one that knows more counts.

`none`: Lean gave no verdict (its server was lost, or it ran out of time). `refused`: Lean refuses the statement itself.
"""
_ABSENT, _NONE, _REFUSED, _FAILED, _SOLVED = range(len(VERDICTS))
_REFUSALS = (TheoremRejected.__name__, SourceError.__name__)


# -- Samples of statements -------------------------------------------------------------------------------------------


@dataclass
class SampleTable:
    """What is known of the samples of each statement of one group (a benchmark and its split).

    `rows` has a byte for each sample of a statement, in the order of their numbers: an index into `VERDICTS`.
    """

    name: str
    rows: dict[str, bytearray] = field(default_factory=dict)

    def add(self, statement: str, sample: int, verdict: Verdict) -> None:
        """Note what became of a sample, numbered from 0."""
        row = self.rows.setdefault(statement, bytearray())
        if sample >= len(row):
            row.extend(bytes(sample + 1 - len(row)))
        row[sample] = max(row[sample], VERDICTS.index(verdict))

    def count(self, verdict: Verdict) -> int:
        """Count the samples of all statements with this verdict."""
        return sum(row.count(VERDICTS.index(verdict)) for row in self.rows.values())

    @property
    def num_samples(self) -> int:
        """Return how many samples there are of all statements together."""
        return sum(map(_num_samples, self.rows.values()))

    @property
    def depth(self) -> int:
        """Return how many samples every statement has, counted from the first without a gap."""
        return min((_until_gap(row) for row in self.rows.values()), default=0)

    @property
    def deepest(self) -> int:
        """Return how many samples the statement with the most has."""
        return max(map(_num_samples, self.rows.values()), default=0)


def _num_samples(row: bytearray) -> int:
    return len(row) - row.count(_ABSENT)


def _until_gap(row: bytearray) -> int:
    gap = row.find(_ABSENT)
    return len(row) if gap < 0 else gap


@dataclass(frozen=True)
class PassRow:
    """pass@k, in percent of the statements.

    `mean` over `blocks` blocks of k samples, and their population standard deviation (None below four blocks).
    `unbiased` is the estimator of Chen et al. 2021 over all samples, `low` to `high` its 95% bootstrap interval over
    statements. `dropped` samples of each statement are in no block.
    """

    k: int
    blocks: int
    mean: float
    deviation: float | None
    unbiased: float
    low: float
    high: float
    dropped: int


@dataclass(frozen=True)
class PassTable:
    """pass@k of one group for several budgets; `notes` say what was left out, and why."""

    name: str
    statements: int
    samples: int
    without_verdict: int
    rows: tuple[PassRow, ...]
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Convert to plain JSON data."""
        return asdict(self)


# -- pass@k ----------------------------------------------------------------------------------------------------------


def pass_table(table: SampleTable, budgets: Sequence[int], samples: int | None = None, seed: int = 0) -> PassTable:
    """Compute pass@k for each of the budgets that the samples suffice for.

    Blocks are cut out of the first `samples` of each statement, or as many as every statement has: an incomplete last
    block is dropped. A sample without a verdict counts as one that proves nothing. `seed` decides the bootstrap.
    Raises UserError if more than 1% of the samples have no verdict, and if a statement has fewer than `samples`.
    """
    _require_verdicts(table)
    depth = table.depth
    if samples is not None and samples > depth:
        raise UserError(f"--samples {samples}: {table.name} has a statement with only {depth} samples in a row")
    # Unless the user cuts them off, the unbiased estimate takes all samples of a statement, also those beyond `used`.
    used = samples or depth
    solved: list[np.ndarray] = []
    counts: list[tuple[int, int]] = []
    for row in table.rows.values():
        row = row[:samples]
        solved.append(np.frombuffer(bytes(row), dtype=np.uint8) == _SOLVED)
        counts.append((_num_samples(row), row.count(_SOLVED)))
    pass_rows = []
    for k in sorted(set(budgets)):
        if 1 <= k <= used:
            pass_rows.append(_pass_row(k, used, solved, counts, seed))
    return PassTable(
        name=table.name,
        statements=len(table.rows),
        samples=used,
        without_verdict=table.count("none"),
        rows=tuple(pass_rows),
        notes=tuple(_notes(table, budgets, used, samples, pass_rows)),
    )


def _require_verdicts(table: SampleTable) -> None:
    missing, total = table.count("none"), table.num_samples
    if missing > MOST_WITHOUT_VERDICT * total:
        raise UserError(
            f"{table.name}: {missing} of {total} samples ({100 * missing / total:.1f}%) have no verdict, and more than "
            f"{100 * MOST_WITHOUT_VERDICT:g}% mean nothing; --continue of the evaluation tries them again"
        )


def _pass_row(k: int, used: int, solved: Sequence[np.ndarray], counts: Sequence[tuple[int, int]], seed: int) -> PassRow:
    blocks = used // k
    hits = np.zeros(blocks)
    for row in solved:
        hits += row[: blocks * k].reshape(blocks, k).any(axis=1)
    rates = (100 * hits / len(solved)).tolist()
    deviation = None
    if blocks >= LEAST_BLOCKS:
        deviation = pstdev(rates)  # of the population, as the Self-play Theorem Prover prints it
    # A statement with more samples than others has a better estimate, and still weighs as much as they do.
    chances = 100 * np.array([pass_at_k(total, right, k) for total, right in counts])
    low, high = bootstrap_interval(chances, seed)
    return PassRow(
        k=k,
        blocks=blocks,
        mean=fmean(rates),
        deviation=deviation,
        unbiased=float(chances.mean()),
        low=low,
        high=high,
        dropped=used - blocks * k,
    )


def bootstrap_interval(values: np.ndarray, seed: int = 0, draws: int = BOOTSTRAP_DRAWS) -> tuple[float, float]:
    """Return the 95% percentile interval of the mean of `values` (N,) when N of them are drawn with replacement.

    The same values and seed give the same interval (Efron 1979). `values` must not be empty.
    """
    rng = np.random.default_rng(seed)
    size = len(values)
    step = max(1, _DRAWS_AT_ONCE // size)
    means = []
    for start in range(0, draws, step):
        chosen = rng.integers(size, size=(min(step, draws - start), size))
        means.append(values[chosen].mean(axis=1))
    low, high = np.percentile(np.concatenate(means), (2.5, 97.5))
    return float(low), float(high)


def _notes(
    table: SampleTable, budgets: Sequence[int], used: int, samples: int | None, rows: Iterable[PassRow]
) -> Iterator[str]:
    if (deepest := table.deepest) > used and samples is None:
        more = sum(_num_samples(row) > used for row in table.rows.values())
        yield (
            f"{more} of {len(table.rows)} statements have more than {used} samples (up to {deepest}): in the unbiased "
            "estimate they all count, blocks end where the first statement has no more"
        )
    for row in rows:
        if row.dropped:
            yield f"k = {row.k}: the last {row.dropped} samples of each statement are no whole block, and are dropped"
    if missing := sorted({k for k in budgets if k > used}):
        yield f"no row for k = {', '.join(map(str, missing))}: there are {used} samples of each statement"
    if none := table.count("none"):
        yield f"{none} samples have no verdict of Lean and count as not proved"
    if refused := sum(_REFUSED in row for row in table.rows.values()):
        yield f"Lean refuses {refused} of the statements; they count as not proved"


# -- Reading results -------------------------------------------------------------------------------------------------


def read_tables(paths: Sequence[Path]) -> list[SampleTable]:
    """Read results, one table for each benchmark (and split) in them, in the order in which these appear.

    A path is a directory with `results.jsonl`, one with several such directories (repeats, whose samples follow each
    other), or a file. The samples in a later one of the paths follow those of the earlier ones. Raises UserError for
    what is missing or misshapen, and for an evaluation that is not over.
    """
    tables: dict[str, SampleTable] = {}
    for source in chain.from_iterable(map(_sources, paths)):
        # The numbers of a repeat's samples begin behind those of all statements before it, whatever each of them has.
        first = {name: max(map(len, table.rows.values()), default=0) for name, table in tables.items()}
        seen: set[str] = set()
        for name, statement, sample, verdict in _samples(source):
            table = tables.setdefault(name, SampleTable(name))
            table.add(statement, first.get(name, 0) + sample, verdict)
            seen.add(statement)
        _require_all(source, len(seen))
    if not tables:
        raise UserError(f"{', '.join(map(str, paths))}: there are no samples")
    for name, table in tables.items():
        if table.num_samples == table.count("none") + table.count("refused"):
            raise UserError(f"{name}: there is no score, as Lean gave no verdict on any of the samples")
    return list(tables.values())


def _sources(path: Path) -> list[Path]:
    """Return the files of a path; with repeats, those of one run after the other."""
    if path.is_file():
        return [path]
    if not path.exists() and path.with_name(path.name + ".gz").is_file():
        return [path.with_name(path.name + ".gz")]
    if (path / RESULTS).is_file():
        return [path / RESULTS]
    repeats = sorted(path.glob(f"*/{RESULTS}"), key=lambda file: _natural(file.parent.name))
    if not repeats:
        raise UserError(f"{path} holds no {RESULTS}, nor do the directories in it")
    return repeats


def _natural(name: str) -> list[tuple[int, str]]:
    """Return a key for sorting by which `run_2` comes before `run_10`."""
    key = []
    for part in re.split(r"(\d+)", name):  # the group keeps the numbers in the list
        if part.isdigit():
            key.append((int(part), ""))
        else:
            key.append((-1, part))
    return key


def _require_all(source: Path, seen: int) -> None:
    # Only results of ours have settings beside them; a file of another system is taken for whole.
    if source.name != RESULTS:
        return
    settings = (read_object(source.parent / SETTINGS) or {}).get("settings")
    if not isinstance(settings, dict):
        return
    total = settings.get("theorems")
    if isinstance(total, int) and seen < total:
        raise UserError(f"{source}: only {seen} of {total} theorems have samples; --continue ends that evaluation")


def _samples(source: Path) -> Iterator[tuple[str, str, int, Verdict]]:
    """Yield the group, the statement, the number and the verdict of each sample of a file."""
    numbers: dict[str, int] = {}
    read = _read_gzip if source.suffix == ".gz" else read_jsonl
    for number, record in enumerate(read(source), start=1):
        try:
            if "outcome" in record:
                yield _of_ours(record)
            else:
                yield from _of_stp(record, numbers)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UserError(f"{source}, record {number}: no sample of a proof ({error!r})") from error


def _of_ours(record: Mapping[str, Any]) -> tuple[str, str, int, Verdict]:
    theorem, outcome = Theorem(**record["theorem"]), record["outcome"]
    verdict: Verdict = "failed"
    if outcome == "proven":
        verdict = "solved"
    elif outcome == "error" and record.get("stop_reason") in _REFUSALS:
        verdict = "refused"
    elif outcome == "error":
        verdict = "none"
    return theorem.dataset or "theorems", theorem_key(theorem), _number(record.get("sample", 0)), verdict


def _of_stp(record: Mapping[str, Any], numbers: dict[str, int]) -> Iterator[tuple[str, str, int, Verdict]]:
    """Read a line of generated proofs; without `iter`, each of its copies is a sample that follows those before it."""
    statement = str(record.get("header") or "") + record["statement"]
    labels = record.get("label") or ["no label"]
    verdict: Verdict = "failed"
    # What that system writes where its Lean server gave no answer.
    if record.get("system_errors") == "test failed" or "complete" not in record:
        verdict = "none"
    elif record["complete"] is True:
        verdict = "solved"
    if record.get("iter") is not None:
        yield str(labels[0]), statement, _number(record["iter"]), verdict
        return
    for _ in range(_number(record.get("multiplicity", 1))):
        sample = numbers[statement] = numbers.get(statement, -1) + 1
        yield str(labels[0]), statement, sample, verdict


def _number(value: Any) -> int:
    # True and False are integers to Python.
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _MOST_SAMPLES:
        raise ValueError(f"not the number of a sample: {str(value)[:80]}")
    return value


def _read_gzip(path: Path) -> Iterator[Any]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    try:
                        yield parse_json(line)
                    except ValueError as error:
                        raise UserError(f"{path}, line {number}: not valid JSON: {error}") from error
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {path}: {error}") from error


# -- Printing --------------------------------------------------------------------------------------------------------


def format_table(table: PassTable) -> str:
    """Format pass@k of a group as lines of text."""
    lines = [
        f"{table.name}: {table.statements} statements, {table.samples} samples of each",
        f"{'k':>8}{'blocks':>8}{'mean over blocks':>20}{'unbiased':>10}{'95% interval':>16}",
    ]
    for row in table.rows:
        mean, interval = f"{row.mean:.1f}", f"{row.low:.1f} - {row.high:.1f}"
        if row.deviation is not None:
            mean += f" +- {row.deviation:.1f}"
        lines.append(f"{row.k:>8}{row.blocks:>8}{mean:>20}{row.unbiased:>10.1f}{interval:>16}")
    return "\n".join([*lines, *(f"  {note}" for note in table.notes)])
