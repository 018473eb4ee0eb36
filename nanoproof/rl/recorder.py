"""The recorder of a rank: one thread that writes status, timeline, samples, trees and warnings for the monitor.

`status_r<rank>.json` is written once a second:

    {"time": ..., "pid": 4711, "rank": 0, "phase": "collect", "step": 12, "num_steps": 1000,
     "seconds": 812.4, "remaining": 3600.0,          # of the whole run so far, and to its end at the present pace
     "collected": 57, "collect_transitions": 100,    # transitions of this step so far, and how many it is to have
     "attempts": 9000, "proofs": 4100, "theorems_proven": 700, "theorems": 2000,
     "replay": 5000, "negative": 250000, "hindsight": 400, "staleness": {"replay": 3.2, "negative": 1.0},
     "memory": 1200000000, "gpu": {"name": ..., "utilization": 0.9, "memory": ..., "memory_total": ...},
     "servers": [{"address": "host:8000", "state": "up", "actors": 16}],
     "actors": [{"actor": 0, "state": "lean", "state_seconds": 0.1, "theorem": "lists_17", "simulations": 12,
                 "budget": 64, "server": "host:8000",
                 "seconds": {"model": 1.0, "lean": 7.5, "idle": 0.2, "error": 0, "paused": 3.0}}]}

"paused" are the waits for a model that is paused for training; "model" are those for one that computes.

A run that was killed leaves its last status; `time` says how old it is. The last phase of one that ended is `stopped`.

Actors and the loop only leave notes; what cannot be written is reported once, and the run continues.
"""

import logging
import os
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Protocol

from nanoproof.actors.live_tree import LiveTree
from nanoproof.actors.pool import WatchedActor
from nanoproof.actors.state_questions import StateQuestions
from nanoproof.actors.tasks import Trace
from nanoproof.common.config import opt, validated
from nanoproof.common.files import atomic_write, json_line
from nanoproof.common.process import resident_bytes
from nanoproof.common.run_dir import RunDir
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.attempt_log import Number
from nanoproof.prover.prover import NULL_ATTEMPT_OBSERVER, AttemptObserver
from nanoproof.rl import records
from nanoproof.search.policy import Policy

log = logging.getLogger(__name__)


@validated("records")
class RecordOptions:
    """Records."""

    keep_trees: int = opt(1000, "Search trees that each rank keeps, the newest ones (0: none).", min=0, advanced=True)
    timeline_minutes: float = opt(
        10.0,
        "Minutes, of the newest, for which it is kept what each actor and the model did when (0: none).",
        min=0,
        advanced=True,
    )
    samples_per_step: int = opt(
        4,
        "States of each rank in a step, and examples, that are shown with what the model made of them.",
        min=0,
        advanced=True,
    )


REPEAT_SECONDS = 60.0
"""A warning of one kind is reported once in this time: a server that is down is warned of by each of its actors."""
MAX_LENGTH = 500
"""Letters of a warning in `events.jsonl`, which the monitor reads as a whole; the log has all."""


class WarningEvents(logging.Handler):
    """Log handler that writes warnings to `events.jsonl`; a context manager around the run."""

    def __init__(self, run: RunDir) -> None:
        super().__init__(logging.WARNING)
        self._run = run
        self._last: dict[tuple[str, str], float] = {}

    def emit(self, record: logging.LogRecord) -> None:
        # By the text before its arguments are filled in: those of the same kind name different theorems.
        kind, now = (record.name, str(record.msg)), time.monotonic()
        if now - self._last.get(kind, float("-inf")) < REPEAT_SECONDS:
            return
        self._last[kind] = now
        with suppress(OSError, ValueError):  # a full disk, a closed file: the log has it anyway
            self._run.event(
                "warning", level=record.levelname, logger=record.name, message=record.getMessage()[:MAX_LENGTH]
            )

    def __enter__(self) -> "WarningEvents":
        logging.getLogger().addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger().removeHandler(self)


# -- Status ----------------------------------------------------------------------------------------------------------

PACE_STEPS = 20
"""The pace is measured over so many of the newest steps."""


def status_file(run_path: Path, rank: int) -> Path:
    """Return the path of the status of a rank."""
    return run_path / f"status_r{rank}.json"


class StatusFile:
    """Writes the status; a failure is logged once."""

    def __init__(self, run_path: Path, rank: int) -> None:
        self._path = status_file(run_path, rank)
        self._pace = Pace()
        self._failed = False

    def write(self, snapshot: dict[str, Any]) -> None:
        """Write the present status."""
        remaining = self._pace.remaining(
            snapshot.get("step"), snapshot.get("seconds"), snapshot.get("num_steps"), snapshot.get("max_seconds")
        )
        status = {"time": round(time.time(), 3), "pid": os.getpid(), **snapshot, "remaining": remaining}
        status["memory"] = resident_bytes()
        try:
            # Not synced: it is worth nothing a second later, and a sync may hold the thread up for longer than that.
            atomic_write(self._path, lambda file: file.write(json_line(status).encode()), sync=False)
        except OSError as error:
            if not self._failed:
                log.warning("cannot write %s: %s; the run continues without it", self._path, error)
            self._failed = True


class Pace:
    """Estimates how long a run will take from its newest steps."""

    def __init__(self) -> None:
        self._steps: deque[tuple[int, float]] = deque(maxlen=PACE_STEPS + 1)

    def remaining(
        self, step: int | None, seconds: float | None, num_steps: int | None, max_seconds: float | None
    ) -> float | None:
        """Estimate the seconds to the last step or to the time limit, whichever is first; None if not known yet."""
        if step is None or seconds is None:
            return None
        if not self._steps or step != self._steps[-1][0]:
            self._steps.append((step, seconds))
        (first, began), (last, ended) = self._steps[0], self._steps[-1]
        ends = []
        if max_seconds is not None:
            ends.append(max(0.0, max_seconds - seconds))
        if last > first and num_steps is not None:
            of_steps_left = (num_steps - step) * (ended - began) / (last - first)
            into_this_step = seconds - ended
            ends.append(max(0.0, of_steps_left - into_this_step))
        if not ends:
            return None
        return round(min(ends), 1)


# -- The recorder ----------------------------------------------------------------------------------------------------

LOOK_SECONDS = 0.1
"""How often the load of the model is sampled."""
WRITE_SECONDS = 1.0
MAX_WAITING = 4
"""Attempts whose trees and samples are waiting to be written; more are not kept in memory."""
SAMPLES_BYTES = 16 << 20
SAMPLES_OF_ATTEMPT = 2
"""States of one attempt at most, so that those of a step come from several theorems."""
TRAIN_SAMPLE_SECONDS = 5.0
"""Training examples are recorded as often as this, and take no more than `TRAIN_SAMPLE_SHARE` of the time."""
TRAIN_SAMPLE_SHARE = 0.01


class Load(Protocol):
    """How busy a model is (see `policy.tactic_policy.PolicyLoad`)."""

    @property
    def steps(self) -> int: ...
    @property
    def busy_seconds(self) -> float: ...
    @property
    def rows(self) -> int: ...
    @property
    def states(self) -> int: ...
    @property
    def waiting(self) -> int: ...


class _Ended(NamedTuple):
    """An attempt that has ended: whether it was watched, whether its tree is to be written, how many of its states."""

    number: Number
    attempt: Attempt
    trace: Trace
    watched: bool
    tree: bool
    num_samples: int


class Recorder:
    """Records one rank; use it as a context manager. An `Observer` for actors and task sources."""

    def __init__(self, run: RunDir, rank: int, options: RecordOptions) -> None:
        self._run, self._rank, self._options = run, rank, options
        self._trees = records.TreeStore(run.path, rank, options.keep_trees)
        self._timeline: records.Timeline | None = None
        if options.timeline_minutes:
            self._timeline = records.Timeline(run.path, rank, options.timeline_minutes)
        self._samples = records.RotatingJsonl(records.samples_file(run.path, rank), SAMPLES_BYTES)
        self._train_samples = records.RotatingJsonl(records.train_samples_file(run.path), SAMPLES_BYTES)
        self._status = StatusFile(run.path, rank)
        self._live = LiveTree(run.path, rank)
        self._questions: StateQuestions | None = None
        self._warnings = WarningEvents(run)
        self._ended: deque[_Ended] = deque()
        self._trained: deque[list[dict[str, Any]]] = deque()
        self._step, self._step_samples = -1, 0
        self._next_train_sample = 0.0
        self._snapshot: Callable[[], dict[str, Any]] | None = None
        self._actors: Sequence[WatchedActor] = ()
        self._load: Callable[[], Load] | None = None
        self._rng = random.Random(rank)
        self._failed = False
        self._phase_began = time.monotonic()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="recorder", daemon=True)

    # -- Observing actors and task sources: others wait meanwhile, so that only notes are taken --------------------

    def trace(self) -> AttemptObserver:
        if self._options.keep_trees or self._options.samples_per_step:
            return Trace()
        return NULL_ATTEMPT_OBSERVER

    def finished(self, number: Number, attempt: Attempt, trace: AttemptObserver) -> bool:
        # Rather a record less than a tree more in memory, where attempts end faster than the thread writes.
        if not isinstance(trace, Trace) or trace.root is None or len(self._ended) >= MAX_WAITING or self._stop.is_set():
            return False
        if number[0] != self._step:
            self._step, self._step_samples = number[0], 0
        proven = attempt.outcome == "proven"
        # Half of the samples are left to proofs, as most attempts may fail.
        most_samples = self._options.samples_per_step
        if not proven:
            most_samples = (most_samples + 1) // 2
        num_samples = max(0, min(SAMPLES_OF_ATTEMPT, most_samples - self._step_samples))
        self._step_samples += num_samples
        watched = self._live.shows(trace)
        tree = self._trees.wants(proven, attempt.counts.get("nodes", 0), watched)
        if tree or num_samples or watched:
            self._ended.append(_Ended(number, attempt, trace, watched, tree, num_samples))
        return tree

    def span(self, actor: int, state: str, began: float, ended: float) -> None:
        if self._timeline is not None:
            self._timeline.actor_spans.append(records.ActorSpan(actor, state, began, ended))

    # -- For the loop ----------------------------------------------------------------------------------------------

    def watch(
        self,
        snapshot: Callable[[], dict[str, Any]],
        actors: Sequence[WatchedActor],
        load: Callable[[], Load],
        policy: Policy | None = None,
    ) -> None:
        """Begin to write the status that `snapshot` returns, and what the actors and the model do; `policy` answers
        about states that somebody types into the monitor's page."""
        self._snapshot, self._actors, self._load = snapshot, actors, load
        if policy is not None:
            answer = partial(self._suggested, policy)
            self._questions = StateQuestions(self._run.path, self._rank, answer)
        self._thread.start()

    def _suggested(self, policy: Policy, state: str) -> dict[str, Any]:
        suggestion = policy.suggest(state)
        step = 0
        if self._snapshot is not None:
            step = self._snapshot().get("step", 0)
        return {"rank": self._rank, "step": step, **records.sample_of(state, suggestion, None, {})}

    def phase(self, name: str, step: int) -> None:
        """Note that a phase begins."""
        self._phase_began = time.monotonic()
        if self._timeline is not None:
            self._timeline.phase(name)
        if self._rank == 0:  # the phases of all ranks are the same, and they share `events.jsonl`
            self._run.event("phase", phase=name, step=step)

    @property
    def wants_training(self) -> bool:
        """Whether examples that are trained on now are to be handed to `trained`."""
        return self._rank == 0 and self._options.samples_per_step > 0 and time.monotonic() >= self._next_train_sample

    @property
    def samples_per_step(self) -> int:
        """How many examples to hand to `trained`."""
        return self._options.samples_per_step

    def trained(self, samples: list[dict[str, Any]], seconds: float) -> None:
        """Take examples with the losses of their tokens, and the seconds that computing them took."""
        self._next_train_sample = time.monotonic() + max(TRAIN_SAMPLE_SECONDS, seconds / TRAIN_SAMPLE_SHARE)
        self._trained.append(samples)

    def __enter__(self) -> "Recorder":
        self._warnings.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write what is left, and the last status."""
        self._warnings.__exit__()
        self._stop.set()
        if self._thread.is_alive():  # it was never started where the run failed before `watch`
            self._thread.join()
        self._safely(self._write)
        self._safely(self._live.close)
        if self._questions is not None:
            self._safely(self._questions.close)
        for file in (self._timeline, self._samples, self._train_samples):
            if file is not None:
                file.close()

    # -- The thread ------------------------------------------------------------------------------------------------

    def _work(self) -> None:
        last, next_write = self._look(None, 0.0), time.monotonic() + WRITE_SECONDS
        began = time.monotonic()
        while not self._stop.wait(LOOK_SECONDS):
            now = time.monotonic()
            last, began = self._look(last, now - began), now
            # One at a time: a large tree takes longer than the time between two looks.
            self._safely(lambda: self._write_attempts(limit=1))
            self._safely(lambda: self._live.poll(self._actors))
            if self._questions is not None:
                self._safely(self._questions.poll)
            if now >= next_write:
                self._safely(self._write)
                next_write = now + WRITE_SECONDS

    def _safely(self, write: Callable[[], None]) -> None:
        try:
            write()
        except Exception:  # whatever it is, it must not be the run's end
            if not self._failed:
                log.exception("not all that the run tells of itself can be written; the run continues")
            self._failed = True

    def _look(self, last: Load | None, seconds: float) -> Load | None:
        """Note what the model did in the last seconds."""
        if self._timeline is None or self._load is None:
            return None
        load = self._load()
        if last is not None and load.steps > last.steps:
            # A step that ended now may have begun before the last look, and counts for all its seconds at once.
            busy = min(seconds, load.busy_seconds - last.busy_seconds)
            span = records.ModelSpan(time.monotonic() - busy, busy, load.rows, load.states, load.waiting)
            self._timeline.model_spans.append(span)
        return load

    def _write(self) -> None:
        self._write_attempts()
        while self._trained:
            self._train_samples.write(self._trained.popleft())
        if self._snapshot is None:
            return
        if self._timeline is not None:
            states = []
            for actor in self._actors:
                # A wait for a model that trains is none for one that is slow; nor is it idle, which the option
                # --lean-processes is chosen by.
                state = "paused" if actor.paused else actor.state
                since = max(actor.since, self._phase_began) if actor.paused else actor.since
                states.append((actor.number, state, since))
            self._timeline.flush(states)
        self._status.write(self._snapshot())

    def _write_attempts(self, limit: int = MAX_WAITING) -> None:
        for _ in range(min(limit, len(self._ended))):
            ended = self._ended.popleft()
            step, rank, sequence = ended.number
            about = {"rank": rank, "step": step, "sequence": sequence}
            samples = records.samples_of(ended.attempt, ended.trace, ended.num_samples, self._rng)
            self._samples.write([{**about, **sample} for sample in samples])
            if ended.tree and ended.trace.root is not None:
                self._trees.write(ended.number, ended.trace.root)
            if ended.watched:  # only now: who is told of a tree goes to it at once
                self._live.logged(ended.trace, step, sequence, ended.tree)
