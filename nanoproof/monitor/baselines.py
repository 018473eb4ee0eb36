"""What solver tactics alone prove of the theorems that a run is evaluated on: a score only says something beside that.

It is the score of `scripts.prover_eval --policy solver-only`, which writes to `$NANOPROOF_HOME/baselines` or, as the
quickstart does, to a folder beside the run.
"""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nanoproof.common.run_dir import baseline_dir
from nanoproof.evaluation.summary import wilson
from nanoproof.monitor import schema
from nanoproof.monitor.tail import Stamp, as_counts, as_dict, as_int, as_text, file_stamp, folders_in, read_object

_LOOK_SECONDS = 20.0
MAX_FOLDERS = 500
"""Folders beside a run that are looked into."""
_SUMMARY_BYTES = 4 << 20


class _Score(NamedTuple):
    """An evaluation of solver tactics alone."""

    path: Path
    theorems: tuple[str, str]
    """The hash of the set of theorems, and the Lean: a newer one may prove more by the same tactics."""
    total: int
    simulations: int
    solved_at: dict[str, int]

    def within(self, simulations: int) -> int | None:
        """Return how many theorems it solved with so many simulations each; None if it does not tell."""
        # Not what it solved with fewer: that would be too low a bar for the run.
        if simulations > self.simulations:
            return None
        return self.solved_at.get(str(simulations))


class SolverBaselines:
    """Finds the solvers' scores beside a run, and looks again now and then."""

    def __init__(self, run_path: Path) -> None:
        self._run_path = run_path
        self._looked = float("-inf")
        self._scores: list[_Score] = []
        self._read_already: dict[Path, tuple[Stamp, _Score | None]] = {}

    def beside(self, benchmarks: Sequence[schema.Benchmark]) -> list[schema.Benchmark]:
        """Return the benchmarks with the solvers' score on the same theorems and budget, where there is one."""
        # The overview is asked for again and again, and a home may have hundreds of folders.
        if time.monotonic() - self._looked > _LOOK_SECONDS:
            self._scores = list(filter(None, map(self._read, self._summaries())))
            self._looked = time.monotonic()
        return [{**benchmark, "solvers": self._score_on(benchmark)} for benchmark in benchmarks]

    def _score_on(self, benchmark: schema.Benchmark) -> schema.SolverScore | None:
        theorems = benchmark["theorem_set"], benchmark["lean"]
        for score in self._scores:
            if score.theorems != theorems:
                continue
            solved = score.within(benchmark["simulations"])
            if solved is not None:
                low, high = wilson(solved, score.total)
                return {"solved": solved, "total": score.total, "low": low, "high": high, "where": str(score.path)}
        return None

    def _summaries(self) -> Iterator[Path]:
        """Yield the summaries of evaluations beside the run, those in its own folder first."""
        beside = self._run_path.parent
        folders = [self._run_path, beside, *folders_in(beside)[:MAX_FOLDERS], baseline_dir("solver-only")]
        for folder in folders:
            for evaluation in folders_in(folder):
                if evaluation.name.startswith("eval_"):
                    yield evaluation / "summary.json"

    def _read(self, file: Path) -> _Score | None:
        stamp = file_stamp(file)
        if stamp is None:
            return None
        if file not in self._read_already or self._read_already[file][0] != stamp:
            self._read_already[file] = stamp, _score_of(file.parent, read_object(file, _SUMMARY_BYTES) or {})
        return self._read_already[file][1]


def _score_of(path: Path, summary: dict[str, Any]) -> _Score | None:
    settings = as_dict(summary.get("settings"))
    theorems = as_text(settings.get("theorem_set")), as_text(settings.get("lean"))
    total = as_int(summary.get("total"))
    # Evaluations of versions that did not record their theorems cannot be told to be of the same ones.
    if settings.get("policy") != "solver-only" or not all(theorems) or total == 0:
        return None
    simulations = as_int(settings.get("num_simulations"))
    solved_at = {**as_counts(summary.get("solved_at")), str(simulations): as_int(summary.get("solved"))}
    return _Score(path, theorems, total, simulations, solved_at)
