"""Evaluation of a policy on a benchmark, over all actors of all ranks.

Ranks take theorems from a shared counter as they become free, so a slow theorem holds up nobody, and no collective is
pending while they work.
"""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from nanoproof.common.dist import SharedCounter, gather_json
from nanoproof.common.files import atomic_write, atomic_write_json, atomic_write_text
from nanoproof.common.progress import Progress
from nanoproof.common.stats import wilson
from nanoproof.lean.theorem import Theorem
from nanoproof.prover.attempt import Attempt
from nanoproof.selfplay.actors import ActorPool, Task


@dataclass(frozen=True)
class Evaluation:
    """Attempts at every theorem of a benchmark, in its order, under one budget."""

    dataset: str
    split: str
    num_simulations: int
    seed: int
    seconds: float
    attempts: list[Attempt] = field(repr=False)

    @property
    def solved(self) -> int:
        return sum(attempt.outcome == "proven" for attempt in self.attempts)

    def summary(self) -> dict[str, Any]:
        """Solved of total with its 95% Wilson interval, errors apart from failures, and what it cost."""
        total = len(self.attempts)
        low, high = wilson(self.solved, total)
        return {
            "dataset": self.dataset,
            "split": self.split,
            "solved": self.solved,
            "total": total,
            "low": low,
            "high": high,
            "errors": sum(attempt.outcome == "error" for attempt in self.attempts),
            "simulations": self.num_simulations,
            "simulations_used": sum(attempt.simulations for attempt in self.attempts),
            "tactic_samples": sum(attempt.counts.get("tactic_samples", 0) for attempt in self.attempts),
            "solved_at": self.solved_at(),
            "seconds": round(self.seconds, 1),
            "seed": self.seed,
        }

    def solved_at(self) -> dict[str, int]:
        """How many were solved within 1, 2, 4, ... simulations."""
        budgets = [2**power for power in range(0, 20) if 2**power < self.num_simulations] + [self.num_simulations]
        proven = [attempt.simulations for attempt in self.attempts if attempt.outcome == "proven"]
        return {str(budget): sum(used <= budget for used in proven) for budget in budgets}

    def write(self, directory: Path, extra: dict[str, Any]) -> None:
        """Write `results.jsonl`, `proofs/*.lean` and, last, `summary.json`; those of an earlier evaluation go first."""
        directory.mkdir(parents=True, exist_ok=True)
        for file in (directory / "summary.json", directory / "results.jsonl", *(directory / "proofs").glob("*.lean")):
            file.unlink(missing_ok=True)
        lines = [json.dumps(attempt.to_json(), ensure_ascii=False) + "\n" for attempt in self.attempts]
        atomic_write(directory / "results.jsonl", lambda file: file.write("".join(lines).encode("utf-8")))
        for attempt in self.attempts:
            if attempt.outcome == "proven":
                atomic_write_text(directory / "proofs" / f"{attempt.theorem.id}.lean", attempt.source + "\n")
        atomic_write_json(directory / "summary.json", {**self.summary(), **extra})


class EvaluationSource:
    """Hands out the theorems of a benchmark, each once over all ranks."""

    purpose: Literal["collect", "evaluate"] = "evaluate"

    def __init__(self, name: str, theorems: Sequence[Theorem], num_simulations: int, seed: int) -> None:
        self._theorems, self._num_simulations, self._seed = theorems, num_simulations, seed
        self._next = SharedCounter(f"evaluation/{name}/next")
        self._done = SharedCounter(f"evaluation/{name}/done")
        self.done = 0
        self.attempts: dict[int, dict[str, Any]] = {}
        self._exhausted = False

    def next(self) -> Task | None:
        """The next theorem that no rank has begun."""
        if self._exhausted:
            return None
        index = self._next.add(1) - 1
        if index >= len(self._theorems):
            self._exhausted = True
            return None
        return Task(self._theorems[index], self._num_simulations, index, hash_seed(self._seed, index))

    def finish(self, task: Task, attempt: Attempt) -> None:
        """Keep the attempt."""
        self.attempts[task.index] = attempt.to_json()
        self._done.add(1)

    def finished(self) -> bool:
        """Whether all theorems are done, on whichever rank."""
        self.done = self._done.add(0)
        return self.done >= len(self._theorems)


def hash_seed(seed: int, index: int) -> int:
    """A seed for theorem `index` that does not depend on which actor takes it."""
    return seed * 1_000_003 + index


def evaluate(
    pool: ActorPool,
    name: str,
    theorems: Sequence[Theorem],
    num_simulations: int,
    seed: int,
    dataset: str,
    split: str,
    show: bool = True,
) -> Evaluation:
    """Try every theorem once (all ranks call it together, with the same `name` that was never used before).

    The actors are left without a task source afterwards.
    """
    start = time.monotonic()
    source = EvaluationSource(name, theorems, num_simulations, seed)
    pool.set_source(source)
    with Progress(len(theorems), f"evaluate {dataset} {split}", "theorems", show=show) as progress:
        pool.wait(lambda: _advance(source, progress))
    pool.set_source(None)
    merged: dict[int, dict[str, Any]] = {}
    for share in gather_json([[index, record] for index, record in source.attempts.items()]):
        merged.update(dict(share))
    attempts = [Attempt.from_json(merged[index]) for index in range(len(theorems))]
    return Evaluation(dataset, split, num_simulations, seed, time.monotonic() - start, attempts)


def _advance(source: EvaluationSource, progress: Progress) -> bool:
    before = progress.count
    finished = source.finished()
    if source.done > before:
        solved = sum(record["outcome"] == "proven" for record in source.attempts.values())
        progress.update(source.done - before, note=f"{solved} proved here")
    return finished
