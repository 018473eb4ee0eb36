"""The source of tasks with conjectures: a part of the attempts goes to them, and actors propose new ones in between.

A proposal is a task of its own: the actor asks the network for a batch of conjectures, has Lean examine them, and takes
the next task. Where attempts are made on other machines, a thread beside the network asks it, and what is a task is to
examine what it wrote. New ones wait in `ready` until the part of the attempts that is theirs comes to them.
"""

import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from nanoproof.actors.pool import IDLE_POLL_SECONDS, AttemptPool
from nanoproof.actors.tasks import NULL_OBSERVER, Observer, Task
from nanoproof.common.distributed import DistInfo
from nanoproof.common.errors import UserError
from nanoproof.common.files import append_whole, json_line
from nanoproof.conjectures.experience import DATASET, ConjectureExperience, Shown
from nanoproof.conjectures.filters import Proposed, Statements, embedded_key, examined, read_proposed
from nanoproof.data.weighted_rows import CONJECTURE_MARKER
from nanoproof.inference.language_model import GenerationOptions, LanguageModel
from nanoproof.lean.types import LeanError, LeanSession, Theorem
from nanoproof.policy.prompt import prefix_text
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.prover import AttemptObserver
from nanoproof.rl.collection import CollectSource
from nanoproof.rl.options import ConjectureOptions
from nanoproof.search.policy import PolicyError, PolicyUnavailable

PROPOSALS = "proposals_r{rank}.jsonl"
"""File of a run with every text that was proposed on a rank, its seed and its verdict; for people, never read back."""
MOST_PROPOSALS = 2
"""Proposals at a time on a rank where an attempt at a conjecture is due and none is ready; else one."""
NO_ATTEMPT = Theorem("", DATASET, "proposal")
"""What a proposal's task is about."""


@dataclass
class Ready:
    """A new conjecture that waits for its first attempt; `score` is what the guide gave it."""

    theorem: Theorem
    origin: dict[str, str]
    score: float | None = None


class Examination:
    """Has Lean examine what was `written`, as an actor's work, here or elsewhere; `proposed` has it with its verdicts.

    If the server fails, `proposed` has what was examined by then.
    """

    def __init__(self, written: Sequence[Proposed], statements: Statements, finishers: Sequence[str]) -> None:
        self._written, self._statements, self._finishers = list(written), statements, finishers
        self.proposed: list[Proposed] = []

    def run(self, session: LeanSession, observer: AttemptObserver) -> Attempt:
        """Examine them one by one."""
        self.proposed = []
        for proposed in self._written:
            if proposed.verdict == "new":
                try:
                    with observer.waiting("lean"):
                        proposed = examined(session, proposed, self._statements, self._finishers)
                except LeanError as error:
                    return Attempt(NO_ATTEMPT, "error", str(error), stop_reason=type(error).__name__)
            self.proposed.append(proposed)
        return Attempt(NO_ATTEMPT, "unproven", "a proposal")

    def to_json(self) -> dict[str, Any]:
        """Tell the statements that Lean is to be asked about."""
        return {"statements": [proposed.source for proposed in self._written if proposed.verdict == "new"]}

    def found(self) -> list[list[str]]:
        """Return verdict, reason and key of each statement."""
        return [[proposed.verdict, proposed.reason, proposed.key] for proposed in self.proposed]

    def take(self, found: Sequence[Sequence[Any]]) -> None:
        """Take the verdicts on the statements; those that elaborate are compared with what is known here."""
        self.proposed, verdicts = [], iter(found)
        for proposed in self._written:
            if proposed.verdict == "new":
                told = next(verdicts, None)
                if told is None:
                    return
                verdict, reason, key = told
                proposed = replace(proposed, verdict=verdict, reason=reason, key=key)
                if verdict not in ("refused", "known"):
                    proposed = self._statements.checked(proposed, claim=True)
            self.proposed.append(proposed)


@dataclass(frozen=True)
class Examiner:
    """Makes the examinations that another process was told of. What is known, it leaves to those who told it."""

    finishers: tuple[str, ...]
    embedded: bool

    def work(self, theorem: Theorem, told: Mapping[str, Any]) -> Examination:
        """Make an examination of the statements; equal ones among them are known after the first."""
        statements = Statements(key=embedded_key) if self.embedded else Statements()
        return Examination([Proposed("", {}, source) for source in told["statements"]], statements, self.finishers)


class Proposal(Examination):
    """A batch of conjectures that the network is asked for, and their examination."""

    def __init__(
        self,
        seeds: Sequence[Shown],
        model: LanguageModel,
        statements: Statements,
        finishers: Sequence[str],
        options: ConjectureOptions,
        seed: int,
    ) -> None:
        super().__init__([], statements, finishers)
        self._seeds, self._model, self._options, self._seed = seeds, model, options, seed
        self._asked = False

    def write(self) -> None:
        """Ask the network. Raises PolicyError."""
        options = GenerationOptions(
            max_new_tokens=self._options.conjecture_tokens, temperature=self._options.conjecture_temperature
        )
        prompts = [prefix_text(shown.prompt) + CONJECTURE_MARKER for shown in self._seeds]
        texts = self._model.generate(prompts, options, [self._seed + number for number in range(len(prompts))])
        read = [
            read_proposed(sample.text, sample.finished, shown.before, shown.origin)
            for shown, (sample,) in zip(self._seeds, texts, strict=True)
        ]
        self._written = [self._statements.checked(each) if each.verdict == "new" else each for each in read]
        self._asked = True

    def run(self, session: LeanSession, observer: AttemptObserver) -> Attempt:
        """Ask the network, if nobody did, then Lean."""
        if not self._asked:
            with observer.waiting("model"):
                self.write()
        return super().run(session, observer)


class Writing(threading.Thread):
    """Asks the network for the conjectures that others examine."""

    def __init__(self, pool: AttemptPool, source: "ConjectureSource") -> None:
        super().__init__(name="conjectures", daemon=True)
        self._pool, self._source = pool, source

    def run(self) -> None:
        """Write until the pool closes, while few conjectures are ready."""
        pool, source = self._pool, self._source
        try:
            while not pool.closing:
                with pool.locked():
                    task = source.new_proposal()
                    if task is None:
                        pool.locked().wait(IDLE_POLL_SECONDS)
                        continue
                self._write(task)
        except Exception as error:  # it must reach the main thread
            if not pool.closing:
                pool.fail(error)

    def _write(self, task: Task) -> None:
        assert isinstance(task.work, Proposal)
        error = None
        try:
            task.work.write()
        except PolicyUnavailable:
            raise
        except PolicyError as problem:  # about these prompts alone
            error = Attempt(NO_ATTEMPT, "error", str(problem), stop_reason=type(problem).__name__)
        with self._pool.locked():
            if error is None and self._source.written is not None:
                self._source.written.append(task)
            elif error is not None:
                self._source.finish(task, error)
            self._pool.locked().notify_all()


class ConjectureSource(CollectSource):
    """Hands out conjectures as `--conjectures` says, theorems of the data sets otherwise.

    The main thread sets `seeds`; it and `ready` belong to the pool's lock.
    """

    def __init__(
        self,
        experience: ConjectureExperience,
        options: ConjectureOptions,
        propose: Callable[[Sequence[Shown], int], Proposal],
        run_path: Path,
        dist: DistInfo,
        seed: int,
        first_step: int,
        observer: Observer = NULL_OBSERVER,
    ) -> None:
        """`propose` makes a proposal of seeds and a random seed."""
        super().__init__(experience, run_path, dist, seed, first_step, observer)
        self._shared += ("proof", "origin")
        self._conjecturing, self._options, self._propose = experience, options, propose
        self.seeds: list[Shown] = []
        self.ready: list[Ready] = []
        self.counts: Counter[str] = Counter()
        self.lengths: list[int] = []
        """Characters of the new statements since the last exchange."""
        self._proposals: dict[int, Proposal] = {}
        self._new: dict[int, Ready] = {}
        self._tried: set[int] = set()
        self._handed = self._of_conjectures = self._made = self._numbered = 0
        self.written: deque[Task] | None = None
        """Proposals that a `Writing` has written, to be examined; None where whoever examines them has them written."""
        self._file = run_path / PROPOSALS.format(rank=dist.rank)

    def next(self) -> Task | None:
        """Return a proposal if few conjectures are ready, else a conjecture if they have had too few attempts."""
        if self.written is None:
            proposal = self.new_proposal()
        else:
            proposal = self.written.popleft() if self.written else None
        if proposal is not None:
            return proposal
        due = self._due
        task = conjecture = self._next_conjecture() if due else None
        if task is None:
            task = super().next()
        if task is not None and (conjecture is not None or not due):  # what is due and not to be had is not made up for
            self._handed += 1
            self._of_conjectures += conjecture is not None
        return task

    @property
    def _due(self) -> bool:
        """Whether conjectures have had too few attempts."""
        return self._of_conjectures < self._options.conjectures * (self._handed + 1)

    def new_proposal(self) -> Task | None:
        """Begin a proposal if few conjectures are ready."""
        most = MOST_PROPOSALS if self._due and not self.ready else 1
        if len(self._proposals) >= most or not self.seeds or len(self.ready) >= self._options.conjecture_batch:
            return None
        count = min(self._options.conjecture_batch, len(self.seeds))
        proposal = self._propose(self._rng.sample(self.seeds, count), self._rng.getrandbits(40))
        index = self._new_index()
        self._proposals[index] = proposal
        return Task(NO_ATTEMPT, 0, index, 0, work=proposal)

    def _next_conjecture(self) -> Task | None:
        """Return the next attempt at a conjecture: one that was tried in vain and a new one in turn."""
        experience, dist = self._conjecturing, self._dist
        again = [
            index
            for index in experience.open_conjectures()
            if index % dist.world_size == dist.rank and index not in self._under_way and index not in self._tried
        ]
        if again and (not self.ready or self._rng.random() < 0.5):
            assignment = experience.assignment(self._rng.choice(again))
            self._under_way.add(assignment.index)
            self._tried.add(assignment.index)
            return self._task(experience.theorem(assignment.index), assignment.num_simulations, assignment.index)
        if not self.ready:
            return None
        ready = self.ready.pop(self._best())
        index = self._new_index()
        self._new[index] = ready
        return self._task(ready.theorem, experience.matchmaker.config.base_simulations, index)

    def _new_index(self) -> int:
        """Return a number for a task that is about no theorem of the experience."""
        self._made += 1
        return -self._made

    def _best(self) -> int:
        """Return the place of the ready conjecture to try next: the first, or with a guide that of the best score."""
        if not self._options.guide:
            return 0
        rated = [(ready.score, -place) for place, ready in enumerate(self.ready) if ready.score is not None]
        return -max(rated)[1] if rated else 0

    def _task(self, theorem: Theorem, num_simulations: int, index: int) -> Task:
        return Task(theorem, num_simulations, index, self._rng.getrandbits(48), trace=self._observer.trace())

    def finish(self, task: Task, attempt: Attempt) -> None:
        """Take in a proposal, or log the attempt; one at a conjecture holds its origin."""
        if task.work is not None:
            self._take_in(self._proposals.pop(task.index))
            return
        ready = self._new.pop(task.index, None)
        if ready is not None:
            attempt = replace(attempt, origin=ready.origin)
        elif task.theorem.dataset == DATASET:
            given = task.index - len(self._conjecturing.theorems)
            attempt = replace(attempt, origin=self._conjecturing.conjectures[given].origin)
        super().finish(task, attempt)

    def _take_in(self, proposal: Proposal) -> None:
        rank = self._dist.rank
        lines = []
        for proposed in proposal.proposed:
            self.counts[proposed.verdict] += 1
            shown = {name: proposed.origin.get(name, "") for name in ("dataset", "seed", "statement", "lemma")}
            reason = {"reason": proposed.reason} if proposed.reason else {}
            about = {"step": self.step, "verdict": proposed.verdict, **reason}
            lines.append(json_line({**about, "conjecture": proposed.text, "from": shown}))
            if proposed.verdict == "new":
                self._numbered += 1
                theorem = Theorem(proposed.source, DATASET, f"c{self.step}_{rank}_{self._numbered}")
                key = proposed.key or proposed.form
                self.ready.append(Ready(theorem, {**proposed.origin, "form": proposed.form, "key": key}))
                self.lengths.append(len(proposed.text))
        try:
            with open(self._file, "ab", buffering=0) as file:
                append_whole(file, "".join(lines).encode())
        except OSError as error:
            raise UserError(f"{self._file} cannot be written: {error}") from error

    def drain(self) -> list[dict[str, Any]]:
        """End the step and return its attempts."""
        self._tried.clear()
        return super().drain()

    def take_counts(self) -> dict[str, Any]:
        """Return what became of the proposals since the last call, and the lengths of new ones. Hold the lock."""
        told = {"verdicts": dict(self.counts), "lengths": self.lengths}
        self.counts, self.lengths = Counter(), []
        return told


def random_of(seed: int, rank: int, step: int) -> Random:
    """Return the generator of what is drawn for conjectures on a rank in a step."""
    return Random(f"conjectures/{seed}/{rank}/{step}")
