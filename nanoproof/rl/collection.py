"""The collection phase: actors attempt theorems that the matchmaker picks; the attempts are logged and learned from.

An attempt is numbered (step, rank, sequence), where `step` counts the collections that were learned from before it,
and never goes back. Matchmaker and buffers are functions of the attempts in that order, so every rank holds the same,
and a resumed run rebuilds them.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, Literal, Self

from nanoproof.actors.actor import JOIN_SECONDS, ActorPool, wait_together
from nanoproof.actors.fleet import Fleet
from nanoproof.actors.pool import AttemptPool
from nanoproof.actors.remote import PURPOSES, ProverSpec, Purpose
from nanoproof.actors.tasks import NULL_OBSERVER, Observer, Task, Worker
from nanoproof.common.distributed import DistInfo, SharedCounter, gather_json
from nanoproof.common.errors import UserError
from nanoproof.common.run_dir import resolve_run_dir
from nanoproof.common.terminal import Progress
from nanoproof.data.theorems.theorem_sets import list_theorems, parse_set_names
from nanoproof.data.theorems.whitelists import LeanChoice
from nanoproof.lean.types import Theorem
from nanoproof.policy.added_tactics import with_added_tactics
from nanoproof.policy.tactic_policy import PolicyLoad, TacticPolicy
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.attempt_log import START_STATES, AttemptLog, attempt_logs, attempt_of, logged_attempts, number_of
from nanoproof.prover.prover import Prover, ProverOptions
from nanoproof.retrieval.premises import Retriever
from nanoproof.rl.batch_sampler import Buffers, buffers_of
from nanoproof.rl.learner import PolicyLearner, TrainedPolicy
from nanoproof.rl.matchmaker import Assignment, Matchmaker, event_of
from nanoproof.rl.options import RLConfig
from nanoproof.rl.start_states import StartStates
from nanoproof.search.policy import Policy
from nanoproof.training.setup import Stage

log = logging.getLogger(__name__)

TELL_SECONDS = 15.0
"""A collection that takes longer says so often how far it is."""

# -- Experience, and the task source that adds to it -----------------------------------------------------------------

BEFORE_THIS_RUN = -1
"""The step of attempts of an earlier run."""
DRAWS_OF_TASK = 20
"""How often a theorem is drawn for a task, until one is that nobody attempts."""
ERRORS_AT_LEAST, ERRORS_PER_ACTOR = 50, 10
"""So many errors in a row mean that nothing else will come. Other attempts take longer: where half of a data
set is refused, each actor meets one refusal before it is at work."""
LEARNED_FIELDS: tuple[str, ...] = (
    *("number", "theorem", "outcome", "disproving", "stop_reason", "num_tactics", "transitions", "counts"),
    "revisions",
)
"""What ranks must know of each other's attempts; also how a proof was lost, if one was.

All else stays in the log of the rank that made the attempt.
"""


class Experience:
    """What all attempts so far lead to: the matchmaker's histories and the buffers. The same on every rank."""

    def __init__(
        self, theorems: Sequence[Theorem], matchmaker: Matchmaker, buffers: Buffers, starts: StartStates | None = None
    ) -> None:
        """`starts`, where they are wanted, learn from attempts too."""
        self.theorems, self.matchmaker, self.buffers, self.starts = list(theorems), matchmaker, buffers, starts
        self.attempts = self.proofs = 0
        self.ever_proven: set[tuple[str, str]] = set()
        self._index = {name_of(theorem): index for index, theorem in enumerate(theorems)}

    @classmethod
    def create(cls, config: RLConfig, theorems: Sequence[Theorem], starts: StartStates | None = None) -> Self:
        """Make the experience of a run that has no attempts yet."""
        buffers = buffers_of(config.rl, config.solvers_left_out)
        return cls(theorems, Matchmaker(len(theorems), config.matchmaker), buffers, starts)

    def theorem(self, index: int) -> Theorem:
        """Return the theorem that the matchmaker knows by a number."""
        return self.theorems[index]

    def extend(self, theorems: Sequence[Theorem]) -> None:
        """Add theorems without attempts; all ranks add the same."""
        for theorem in theorems:
            self._index[name_of(theorem)] = len(self.theorems)
            self.theorems.append(theorem)
        self.matchmaker.extend(len(theorems))

    def learn(self, step: int, attempts: Sequence[Attempt]) -> int:
        """Take in the attempts of one step, in order; returns how many transitions they hold."""
        for attempt in attempts:
            self.attempts += 1
            self.proofs += attempt.outcome == "proven"
            # In the order of the attempts, as all else: every rank has the same index, and a resumed run too.
            # Also without --start-states, where a resumed run or the one of --load-buffer had them.
            if attempt.theorem.dataset == START_STATES:
                if self.starts is not None:
                    self.starts.learn(attempt)
                continue
            if attempt.outcome == "proven":
                self.ever_proven.add(name_of(attempt.theorem))
            index = self._index.get(name_of(attempt.theorem))
            if index is not None:
                self.matchmaker.update(index, event_of(attempt))
        return self.buffers.add(attempts, step)


class CollectSource:
    """Hands out theorems by the matchmaker's weights; logs this rank's attempts and keeps them for the exchange."""

    purpose: Literal["collect", "evaluate"] = "collect"
    ends_step = True
    """Whether the network learns after the collection, so that later attempts are of another step."""

    def __init__(
        self,
        experience: Experience,
        run_path: Path,
        dist: DistInfo,
        seed: int,
        first_step: int,
        observer: Observer = NULL_OBSERVER,
    ) -> None:
        self._experience, self._dist, self.step = experience, dist, first_step
        self._shared = LEARNED_FIELDS
        if experience.buffers.negative.window:
            self._shared += ("failed_tactics",)
        # Errors in a row, and the message of the last one.
        self._errors, self._error = 0, ""
        self._observer = observer
        self._log = AttemptLog(run_path, dist.rank)
        # Of the step, too: a resumed run must not draw again what the part before it drew.
        self._rng = Random(f"{seed}/{dist.rank}/{first_step}")
        self._fresh: list[dict[str, Any]] = []
        self._under_way: set[int] = set()
        self._sequence = 0
        self._target, self._deadline = 1, float("inf")
        self._drained = first_step
        self._collections = 0
        self._transitions = SharedCounter("transitions/0")
        self.collected = 0

    def next(self) -> Task | None:
        """Return a task: a theorem that no other actor of this rank attempts, or a state of a reference proof."""
        # Where nearly all theorems left are under way, actors ask again a little later: they hold the pool's lock here.
        for _ in range(DRAWS_OF_TASK):
            starts = self._experience.starts
            if starts is not None and self._rng.random() < starts.fraction:
                task = self._start_task(starts)
                if task is not None:
                    return task
            assignment = self.choose(self._rng)
            if assignment is None:
                return None
            if assignment.index not in self._under_way:
                self._under_way.add(assignment.index)
                return Task(
                    self._experience.theorem(assignment.index),
                    assignment.num_simulations,
                    assignment.index,
                    # Of the attempt alone: its samples then do not depend on what other actors ask the policy about.
                    self._rng.getrandbits(48),
                    # What is proved has no disproof, and trying would be half of the work.
                    may_disprove=not assignment.proven,
                    trace=self._observer.trace(),
                )
        return None

    def _start_task(self, starts: StartStates) -> Task | None:
        """Return a task inside of a reference proof; None if all are done, or if the one drawn is under way."""
        start = starts.choose(self._rng)
        if start is None:
            return None
        # Below 0: theorems have the numbers from 0 on.
        index = -1 - start.proof
        if index in self._under_way:
            return None
        self._under_way.add(index)
        seed = self._rng.getrandbits(48)
        trace = self._observer.trace()
        # It has a proof: to try its negation would be wasted.
        return Task(
            start.theorem, start.num_simulations, index, seed, may_disprove=False, trace=trace, given=start.given
        )

    def choose(self, rng: Random) -> Assignment | None:
        """Choose the theorem of the next task and its budget; None if there is none to try."""
        return self._experience.matchmaker.assign(rng)

    def finish(self, task: Task, attempt: Attempt) -> None:
        """Log the attempt under the number of the current step."""
        self._under_way.discard(task.index)
        number = {"step": self.step, "rank": self._dist.rank, "sequence": self._sequence}
        self._sequence += 1
        record = {"number": number, "time": round(time.time(), 3), **attempt.to_json()}
        # Before it counts: a rank that dies now has it in its log, and a resumed run learns from it.
        self._log.write(record, self._observer.finished(number_of(record), attempt, task.trace))
        shared = self._shared
        if attempt.lost:
            shared += ("check",)
        self._fresh.append({name: record[name] for name in shared if name in record})
        self.collected = self._transitions.add(len(attempt.transitions))
        # Proofs that the final check loses have a watch of their own (`ProofWatch`).
        if attempt.outcome == "error" and not attempt.lost:
            self._errors, self._error = self._errors + 1, attempt.message
            if attempt.refused:
                refusal = "Lean refuses the statement; do the servers import what the theorems of --datasets need?"
                self._error = f"{refusal} {attempt.message}"
        else:
            self._errors = 0

    @property
    def progress(self) -> str:
        """What this rank has done in the step, for people who wait."""
        return f"{len(self._fresh)} attempts"

    def hand_over(self, task: Task) -> bool:
        """Return False: other ranks have theorems enough."""
        return False

    def begin(self, target: int, max_seconds: float | None) -> None:
        """Begin a collection of `target` transitions over all ranks, for at most so many seconds."""
        self._target, self._deadline = target, float("inf")
        if max_seconds is not None:
            self._deadline = time.monotonic() + max_seconds

    def enough(self) -> bool:
        """Return whether the ranks together have the transitions of this step, or one of them ran out of time.

        Raises UserError if attempt after attempt ends in an error: nothing would ever be learned.
        """
        if self._errors >= max(ERRORS_AT_LEAST, ERRORS_PER_ACTOR * len(self._under_way)):
            raise UserError(f"the last {self._errors} attempts ended in errors: {self._error}")
        if time.monotonic() > self._deadline:
            # So that all ranks see enough: each waits by itself, and no collective tells them of this rank's clock.
            self._transitions.add(self._target)
        self.collected = self._transitions.add(0)
        return self.collected >= self._target

    def drain(self) -> list[dict[str, Any]]:
        """End the collection and return its attempts: later ones count for the next. Call it under the pool's lock."""
        fresh, self._fresh = self._fresh, []
        self._drained = self.step
        self.step += self.ends_step
        # A counter for each collection: set back to 0 it would lose what faster ranks have added for the next one.
        self._collections += 1
        self._transitions = SharedCounter(f"transitions/{self._collections}")
        return fresh

    def exchange(self, fresh: list[dict[str, Any]]) -> tuple[int, list[Attempt]]:
        """Gather all ranks' attempts of the collection that was drained, in order (a collective)."""
        records = [record for share in gather_json(fresh) for record in share]
        return self._drained, [attempt_of(record) for record in sorted(records, key=number_of)]

    def close(self) -> None:
        """Close the log."""
        self._log.close()


def name_of(theorem: Theorem) -> tuple[str, str]:
    """Return the pair that identifies a theorem: data sets may use the same ids."""
    return theorem.dataset, theorem.id


def relearn(experience: Experience, run_path: Path, show: bool = False) -> int:
    """Learn from a run's log; returns the number of the next step. All ranks call it together, before any continues.

    `show` progress where the log is long. Raises UserError if not all ranks found the same log.
    """
    next_step = 0
    for step, attempt in logged_attempts(run_path, show):
        experience.learn(step, [attempt])
        next_step = step + 1
    _compare(experience, run_path)
    return next_step


def relearn_other(experience: Experience, run_path: Path, show: bool = False) -> None:
    """Learn from the log of an earlier run, whose steps are not those of this one: all of it came before step 0.

    All ranks call it together. Raises UserError if not all ranks found the same log, as where that run is still going.
    """
    for _, attempt in logged_attempts(run_path, show):
        experience.learn(BEFORE_THIS_RUN, [attempt])
    _compare(experience, run_path)


def earlier_run(text: str | None, resumed: str | None) -> Path | None:
    """Find the run of `--load-buffer`. Raises UserError if it has no attempts to begin with, or is the resumed one."""
    if text is None:
        return None
    path = resolve_run_dir(text, "--load-buffer")
    if resumed is not None and path.samefile(resolve_run_dir(resumed, "--resume-from")):
        raise UserError(f"--load-buffer {text} is the run that is resumed: its attempts would count twice")
    if not any(file.stat().st_size for file in attempt_logs(path)):
        raise UserError(f"--load-buffer {text}: {path} holds no attempts (attempts_r<rank>.jsonl) to begin with")
    return path


def _compare(experience: Experience, run_path: Path) -> None:
    """Raise UserError if not all ranks have learned from as many attempts (a collective)."""
    counts = gather_json(experience.attempts)
    if len(set(counts)) > 1:
        numbers = ", ".join(map(str, counts))
        raise UserError(f"the ranks must see the same run directory {run_path}; they found {numbers} attempts in it")


def training_theorems(config: RLConfig, lean: LeanChoice) -> list[Theorem]:
    """List the theorems of `--datasets`. Raises UserError if there is none to train on."""
    datasets = parse_set_names(config.rl.datasets)
    theorems = []
    for name in datasets:
        theorems += list_theorems(name, "train", lean.version_for(name))
    if not theorems:
        raise UserError(f"--datasets {' '.join(datasets)}: no theorem is left to train on")
    return theorems


class NoPolicy(TacticPolicy):
    """The policy of a rank that only learns: it has no engine, and nobody asks it."""

    def __init__(self) -> None: ...

    def renew(self) -> None:
        """Do nothing: there are no weights to take."""

    def close(self, drain_seconds: float = 0.0) -> None:
        """Do nothing."""

    def load(self) -> PolicyLoad:
        """Report that nothing is asked."""
        return PolicyLoad(0, 0.0, 0, 0, 0)


# -- The phase -------------------------------------------------------------------------------------------------------


class Collection:
    """Holds the experience from the start, and actors and policy while `working`."""

    def __init__(self, config: RLConfig, learner: PolicyLearner, experience: Experience, dist: DistInfo) -> None:
        self._config, self.learner, self._dist = config, learner, dist
        self._earlier = earlier_run(config.rl.load_buffer, config.start.resume_from)
        self._staleness: dict[str, float] = {}
        self._stale = 0
        """Attempts that the pool had dropped as too old, when it was last asked."""
        self._retriever: Retriever | None = None
        if config.retrieving.count:
            self._retriever = Retriever.open(config.retrieving, dist.device)
        self.experience = experience
        self.pool_maker: Callable[..., AttemptPool] = self._local_pool
        """Makes what works on the attempts: of a fleet, `report` for events, and what an `AttemptPool` takes."""
        self.serves = True
        """Whether this rank has an engine and actors."""
        self.policy: TrainedPolicy = NoPolicy()

    @contextmanager
    def working(
        self,
        stage: Stage,
        fleet: Fleet,
        asked_to_end: Callable[[], bool],
        check: Callable[[], None],
        observer: Observer,
    ) -> Iterator[None]:
        """Rebuild the experience from logs and start actors and policy; stop them in the end, whatever happens.

        `check` is called now and then while waiting for actors; what it raises ends the wait. `observer` observes the
        actors.
        """
        run_path = stage.run.path
        config, learner = self._config, self.learner
        if self.serves:
            self.policy = learner.make_policy(run_path)
        first_step = self._relearn(run_path)
        self.source = self.make_source(run_path, first_step, observer)

        def check_all() -> None:
            fleet.check()
            check()

        self.pool = self.pool_maker(
            fleet,
            report=stage.run.event,
            check=check_all,
            asked_to_end=asked_to_end,
            observer=observer,
            report_server=lambda address, state, actors: stage.run.event(
                "server", address=address, state=state, actors=actors
            ),
            lost_proofs=config.fleet.lean_lost_proofs,
            max_staleness=config.most_stale,
        )
        self.pool.weights_changed(learner.state.step)
        try:
            yield
        finally:
            # The policy between the two, as actors that wait for it could not end; the log last, as they write it.
            self.pool.stop()
            self.policy.close()
            self.pool.join(JOIN_SECONDS)
            self.source.close()

    def make_source(self, run_path: Path, first_step: int, observer: Observer) -> CollectSource:
        """Make the source of tasks, whose first collection has the number `first_step`."""
        return CollectSource(self.experience, run_path, self._dist, self._config.run.seed, first_step, observer)

    def _relearn(self, run_path: Path) -> int:
        """Fill buffers and matchmaker from logs: `--load-buffer` first, then those of the resumed run."""
        if self._earlier is not None:
            relearn_other(self.experience, self._earlier, self._dist.is_main)
        if self._config.start.resume_from is None:
            return 0
        return relearn(self.experience, run_path, self._dist.is_main)

    def _local_pool(self, fleet: Fleet, report: Callable[..., None], **waits: Any) -> AttemptPool:
        """Make the threads that work on the attempts on this machine."""
        return ActorPool(fleet.slots, self.policy, self._make_prover, **waits)

    def worker(self) -> Callable[[], Worker] | None:
        """Return what makes the `Worker` of a host of a cluster; None, as all tasks of RL are searches."""
        return None

    def spec(self, purpose: Purpose) -> ProverSpec:
        """Return how to prove for a purpose."""
        config = self._config
        # Evaluations as `scripts.prover_eval` makes them, so that their scores can be compared with its.
        if purpose == "evaluate":
            search = replace(config.search, finisher_use="candidate")
            return ProverSpec(search, ProverOptions(keep_tree=False))
        options = ProverOptions(
            proof_simplification=config.rl.prover.proof_simplification,
            disprove_fraction=config.rl.prover.disprove_fraction,
            keep_tree=False,  # the recorder writes some of the trees, to files of their own
        )
        return ProverSpec(config.search, options)

    def _make_prover(self, purpose: str, policy: Policy) -> Prover:
        assert purpose in PURPOSES
        spec = self.spec(purpose)
        state = self.learner.state
        policy = with_added_tactics(policy, self._config.retrieving, self._retriever, lambda: state.step)
        return Prover(policy, spec.search, spec.options, lambda: f"step {state.step}")

    def gather(self, max_seconds: float | None) -> None:
        """Collect the transitions of a step, for at most so many seconds. All ranks call it together.

        Actors continue meanwhile and afterwards. Raises Interrupted on all ranks if one was asked to end.
        """
        target = self._config.rl.collect_transitions
        self.source.begin(target, max_seconds)
        self.pool.set_source(self.source)
        title, shown = f"step {self.learner.state.step + 1} collects", self._dist.is_main
        with Progress(target, title, "transitions", TELL_SECONDS, shown, say=log.info) as progress:

            def enough() -> bool:
                progress.reach(min(self.source.collected, target), target, self.source.progress)
                return self.source.enough()

            wait_together(self.pool, enough)

    def exchange(self) -> dict[str, float]:
        """Learn from the attempts of all ranks in the step that was gathered (a collective); returns its metrics."""
        # Not locked in between: the collective waits for the slowest rank, and the actors of this one go on meanwhile.
        with self.pool.locked():
            fresh = self.source.drain()
        step, attempts = self.source.exchange(fresh)
        with self.pool.locked():  # actors draw from the matchmaker
            transitions = self.experience.learn(step, attempts)
        buffers = self.experience.buffers
        self._staleness = {"replay": buffers.replay.staleness(step), "negative": buffers.negative.staleness(step)}
        outcomes = Counter(attempt.outcome for attempt in attempts)
        metrics: dict[str, float] = {
            "attempts": len(attempts),
            "proofs": outcomes["proven"],
            "errors": outcomes["error"],
            **self._lost(attempts),
            **self._ages(attempts),
            "transitions": transitions,
            "simulations": sum(attempt.simulations for attempt in attempts),
            "theorems_proven": len(self.experience.ever_proven),
            "replay": len(buffers.replay),
            "staleness": self._staleness["replay"],
        }
        return {**metrics, **self._of_starts(attempts)}

    def _of_starts(self, attempts: Sequence[Attempt]) -> dict[str, float]:
        """Count the attempts of a step inside of reference proofs, and tell how far back these have come."""
        starts = self.experience.starts
        if starts is None:
            return {}
        begun = [attempt for attempt in attempts if attempt.theorem.dataset == START_STATES]
        return {
            "start_attempts": len(begun),
            "start_proofs": sum(attempt.outcome == "proven" for attempt in begun),
            "start_states_proved": len(starts.solved),
            "start_position": round(starts.position, 4),
        }

    def _lost(self, attempts: Sequence[Attempt]) -> dict[str, float]:
        """Count found proofs that the final check lost or refused; logs the first of each."""
        lost, refused = [], []
        for attempt in attempts:
            if attempt.lost_by_server:
                lost.append(attempt)
            elif attempt.lost:
                refused.append(attempt)
        for how, of_kind in (("lost", lost), ("refused", refused)):
            if of_kind and self._dist.is_main:
                first, check = of_kind[0], of_kind[0].check or {}
                reason = f"{first.lost} on {check.get('server')}, {check.get('reason')}"
                text = "found proofs %s by the final check: %d; that of %s: %s"
                log.info(text, how, len(of_kind), first.theorem.id, reason)
        return {"lost_proofs": len(lost), "refused_proofs": len(refused)}

    def _ages(self, attempts: Sequence[Attempt]) -> dict[str, float]:
        """Tell how often the weights changed during attempts, and how many were dropped for that (a collective)."""
        ages = []
        for attempt in attempts:
            if attempt.revisions:  # evaluations and older logs have none
                began, ended = attempt.revisions
                ages.append(ended - began)
        metrics: dict[str, float] = {}
        if ages:
            metrics = {"attempt_staleness": fmean(ages), "attempt_staleness_max": max(ages)}
        if self.pool.max_staleness is not None:
            before, self._stale = self._stale, self.pool.stale
            metrics["stale"] = sum(gather_json(self._stale - before))
        return metrics

    def resume(self) -> None:
        """Give the actors theorems to train on again after an evaluation, if the run collects at all."""
        if self._config.rl.collect_transitions > 0:
            self.pool.set_source(self.source)

    def snapshot(self) -> dict[str, Any]:
        """Return what is collected so far and what the actors are doing, for the monitor."""
        experience = self.experience
        return {
            "collected": self.source.collected,
            "collect_transitions": self._config.rl.collect_transitions,
            "attempts": experience.attempts,
            "proofs": experience.proofs,
            "theorems_proven": len(experience.ever_proven),
            "theorems": len(experience.theorems),
            "replay": len(experience.buffers.replay),
            "negative": len(experience.buffers.negative),
            "staleness": self._staleness,
            **self.pool.snapshot(),
        }
