"""Evaluation of a policy on a benchmark, over all actors of all ranks.

Ranks take theorems from a shared counter as they become free, so a slow theorem holds up nobody, and no collective is
pending while they work. Every attempt is written down as it ends.
"""

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

from nanoproof.common.dist import DistInfo, HandedOver, SharedCounter, barrier, on_main
from nanoproof.common.progress import Progress
from nanoproof.lean.theorem import Theorem
from nanoproof.prover.attempt import Attempt
from nanoproof.selfplay.actor_pool import ActorPool, wait_together
from nanoproof.selfplay.eval_files import EvaluationFiles, Mode
from nanoproof.selfplay.eval_summary import theorem_key
from nanoproof.selfplay.tasks import Task

_LOOK_SECONDS = 0.3
"""How often a rank that has no theorem looks for those that another left."""
_RETURNS_BITS = 3
_RETURNS_MASK = (1 << _RETURNS_BITS) - 1


class EvaluationSource:
    """Hands out the theorems of a benchmark, each once over all ranks.

    `todo` are the numbers of those to try, and `keep` takes the attempts; it is called under the pool's lock.
    """

    purpose: Literal["collect", "evaluate"] = "evaluate"

    def __init__(
        self,
        name: str,
        theorems: Sequence[Theorem],
        todo: Sequence[int],
        num_simulations: int,
        seed: int,
        keep: Callable[[Attempt], None],
    ) -> None:
        self._theorems, self._todo, self._num_simulations, self._seed = theorems, todo, num_simulations, seed
        self._keep = keep
        self._next, self._done, self._solved = (
            SharedCounter(f"evaluation/{name}/{what}") for what in ("next", "done", "solved")
        )
        self._left = HandedOver(f"evaluation/{name}/left")
        self.done = self.solved = 0
        self._exhausted, self._look_again = False, 0.0

    def next(self) -> Task | None:
        """The next theorem that no rank has begun."""
        if not self._exhausted:
            turn = self._next.add(1) - 1
            self._exhausted = turn >= len(self._todo)
            if not self._exhausted:
                return self._task(self._todo[turn])
        if time.monotonic() < self._look_again:
            return None
        self._look_again = time.monotonic() + _LOOK_SECONDS
        left = self._left.take()
        return None if left is None else replace(self._task(left >> _RETURNS_BITS), returns=left & _RETURNS_MASK)

    def _task(self, index: int) -> Task:
        theorem = self._theorems[index]
        return Task(theorem, self._num_simulations, index, attempt_seed(self._seed, theorem))

    def hand_over(self, task: Task) -> bool:
        """Leave the theorem to whichever rank is next to ask."""
        self._left.put((task.index << _RETURNS_BITS) + min(task.returns, _RETURNS_MASK))
        return True

    def finish(self, task: Task, attempt: Attempt) -> None:
        """Keep the attempt. What is counted has been kept."""
        self._keep(attempt)
        if attempt.outcome == "proven":
            self._solved.add(1)
        self._done.add(1)

    def finished(self) -> bool:
        """Whether all theorems are done, on whichever rank."""
        self.solved, self.done = self._solved.add(0), self._done.add(0)
        return self.done >= len(self._todo)


def attempt_seed(seed: int, theorem: Theorem) -> int:
    """The seed of the attempt at a theorem: the same whichever actor takes it, and among whichever other theorems."""
    digest = hashlib.blake2b(f"{seed}/{theorem_key(theorem)}".encode(), digest_size=6).digest()
    return int.from_bytes(digest, "little")


def try_theorems(
    pool: ActorPool,
    name: str,
    theorems: Sequence[Theorem],
    todo: Sequence[int],
    num_simulations: int,
    seed: int,
    keep: Callable[[Attempt], None],
    title: str = "evaluate",
    show: bool = True,
) -> None:
    """Try the theorems numbered `todo` once each, and `keep` the attempts as they end.

    All ranks call it together, with the same `name` that was never used before. The actors are left without a task
    source afterwards, unless the wait is ended by an exception.
    """
    source = EvaluationSource(name, theorems, todo, num_simulations, seed, keep)
    pool.set_source(source)
    with Progress(len(theorems), title, "theorems", show=show, initial=len(theorems) - len(todo)) as progress:
        wait_together(pool, lambda: _advance(source, progress))
    pool.set_source(None)


def _advance(source: EvaluationSource, progress: Progress) -> bool:
    before = source.done
    finished = source.finished()
    if source.done > before:
        progress.update(source.done - before, note=f"{source.solved} proved")
    return finished


def evaluate(
    pool: ActorPool,
    name: str,
    files: EvaluationFiles,
    dist: DistInfo,
    mode: Mode = "new",
    about: dict[str, Any] | None = None,
    extra: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Evaluate what `files` say, write the results there as they come, and return the summary.

    All ranks call it together, with the same `name` that was never used before, and get the same summary. `about` is
    what to note about this part of the work, `extra` goes into the summary. Raises UserError if `mode` does not allow
    for what is there already, and what ends the pool's wait: everything that was done is written then. The pool stops.
    """
    todo = on_main(lambda: files.begin(about or {}, mode))
    started = time.monotonic()
    if todo:
        settings = files.settings
        title = f"evaluate {settings['dataset']} {settings['split']}"
        budget, seed = settings["num_simulations"], settings["seed"]
        with files.writer(dist.rank) as writer:
            try:
                try_theorems(pool, name, files.theorems, todo, budget, seed, writer.add, title, dist.is_main)
            except BaseException:
                pool.stop()  # no attempt that ends now can be written any more
                raise
        barrier()  # a network's file system promises to show what others wrote once they have closed it
    summary: dict[str, Any] = on_main(lambda: files.finish(time.monotonic() - started, extra))
    return summary
