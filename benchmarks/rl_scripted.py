"""A run of reinforcement learning with a Lean that only sleeps, timed from inside: what `benchmarks.rl` starts.

    SCRIPTED_RL='{"slots": 16, "tactic_seconds": 0.05, "report": "report"}' python -m benchmarks.rl_scripted ARGUMENTS

What a tactic does is decided by a hash, and what it costs by the clock. The network is a real one with random weights,
whose time counts; the tactics are made up. Each rank writes `<report>_r<rank>.json`: where the time of phases and
actors went. With "lockstep" all actors ask together, and wait for each other after Lean too: no work overlaps. With
"alternate" the learner sleeps instead of training, with the pause and asynchronously in turns (see `Alternation`).
"""

import hashlib
import json
import os
import random
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from unittest import mock

import psutil

from nanoproof.actors.actor import ActorPool
from nanoproof.actors.fleet import Fleet
from nanoproof.common.distributed import DistInfo
from nanoproof.common.errors import run_main
from nanoproof.data.theorems import theorem_sets as sets
from nanoproof.inference.engine import Engine
from nanoproof.inference.sampling import Completion, EngineRequest, SamplingOptions
from nanoproof.lean.declarations import declared_names
from nanoproof.lean.project.layout import EMBEDDED_LEAN
from nanoproof.lean.source import name_examples
from nanoproof.lean.types import Branch, CheckReport, Goal, ProofState, TacticApplied, TacticFailed, Theorem
from nanoproof.policy import models
from nanoproof.policy.tactic_policy import TacticPolicy
from nanoproof.rl import __main__ as rl
from nanoproof.rl.collection import Collection
from nanoproof.rl.learner import Learner
from nanoproof.rl.loop import ReinforcementLearning
from nanoproof.search.policy import PolicyError, Suggestion

NUM_THEOREMS = 20_000
REFUSED, CLOSED = 0.55, 0.2
"""Parts of the tactics that Lean refuses, and that close a goal."""


class Lockstep:
    """All actors ask before any is answered, and all have run their tactics before any asks again."""

    def __init__(self, actors: int) -> None:
        self._gate = threading.Barrier(actors)

    def wait(self) -> None:
        """Wait for all others. Raises PolicyError when the run ends."""
        try:
            self._gate.wait()
        except threading.BrokenBarrierError as error:
            raise PolicyError("the run ends") from error

    def abort(self) -> None:
        """Release all waiting actors."""
        self._gate.abort()


class SleepingLean:
    """A session whose every tactic takes the same time, and whose answers depend on the texts alone."""

    def __init__(self, tactic_seconds: float) -> None:
        self._seconds = tactic_seconds

    def start(self, theorem: Theorem) -> Branch:
        """Return the branch at a theorem."""
        time.sleep(self._seconds)
        return _branch(theorem.id)

    def apply(self, branch: Branch, tactics: Sequence[str]) -> list[TacticApplied | TacticFailed]:
        """Apply tactics one after the other, as a Lean process does."""
        time.sleep(self._seconds * len(tactics))
        return [self._result(branch.state.text, tactic) for tactic in tactics]

    def _result(self, state: str, tactic: str) -> TacticApplied | TacticFailed:
        # By a hash of the texts, so that every run meets the same tree whatever order its threads come in.
        digest = hashlib.blake2b(f"{state}/{tactic}".encode(), digest_size=8)
        fate = int.from_bytes(digest.digest(), "big") / 2**64
        if fate < REFUSED:
            return TacticFailed("rejected", "no")
        if fate < REFUSED + CLOSED:
            return TacticApplied(())
        return TacticApplied((_branch(digest.hexdigest()[:8]),))

    def check(self, source: str, seconds: float | None = None, since: int = 0) -> CheckReport:
        """Find nothing wrong."""
        time.sleep(self._seconds)
        # The check compares the statements of a proof with the theorem's: both are named alike, and so say the same.
        statements = []
        for name in declared_names(name_examples(source)):
            statements.append((name, f"{name} : as it stands"))
        return CheckReport(errors=(), sorries=0, axioms=(), statements=tuple(statements))

    def close(self) -> None:
        """Do nothing: there is nothing to release."""


def _branch(name: str) -> Branch:
    return Branch(ProofState((Goal(f"G {name}"),)), handle=name)


class Slot:
    """A source of sessions for one actor."""

    address = "scripted:1"

    def __init__(self, tactic_seconds: float) -> None:
        self._seconds = tactic_seconds

    def lease(self, timeout: float) -> SleepingLean:
        """Return a session."""
        return SleepingLean(self._seconds)


class NamedTactics(TacticPolicy):
    """The network's time, and made-up tactics in place of its own: random weights draw what no proof can hold."""

    lockstep: Lockstep | None = None

    def suggest(self, state_text: str, seed: int = 0, **options: Any) -> Suggestion:
        """Return as many tactics as the network drew samples."""
        if self.lockstep is not None:
            self.lockstep.wait()
        suggestion = super().suggest(state_text, seed, **options)
        if self.lockstep is not None:
            self.lockstep.wait()
        draw = random.Random(f"{state_text}/{seed}")
        names = tuple(f"t{draw.getrandbits(32):08x}" for _ in range(self.sampling.num_sampled_tactics))
        count = len(names)
        return replace(suggestion, tactics=names, logprobs=(-1.5,) * count, counts=(1,) * count, num_dropped=0)

    def close(self, drain_seconds: float = 0.0) -> None:
        """End the worker, and let actors out of the lockstep."""
        if self.lockstep is not None:
            self.lockstep.abort()
        super().close(drain_seconds)


class SleepingEngine(Engine):
    """An engine whose steps take the same time whatever is asked, as a GPU's do while a batch is small."""

    STEPS, SECONDS = 8, 0.005

    def __init__(self, *args: Any, **options: Any) -> None:
        self._left: dict[EngineRequest, int] = {}  # steps until it is answered
        super().__init__(*args, **options)

    def submit(self, prompt: Sequence[int], options: SamplingOptions, seed: int) -> EngineRequest:
        """Queue a request that is answered after `STEPS` steps."""
        request = EngineRequest(prompt, options, seed)
        self._left[request] = self.STEPS
        return request

    def step(self) -> list[EngineRequest]:
        """Wait, and complete the requests that are due."""
        time.sleep(self.SECONDS)
        ended = []
        for request in list(self._left):
            self._left[request] -= 1
            if self._left[request] == 0:
                del self._left[request]
                request.completion = Completion([], request.options.num_samples, [0.2] * 5)
                ended.append(request)
        return ended

    def refresh(self) -> None:
        """Begin all requests again, as the engine does when weights change."""
        self._left = dict.fromkeys(self._left, self.STEPS)

    def cancel(self, request: EngineRequest) -> None:
        """Forget a request."""
        if self._left.pop(request, None) is not None:
            request.cancelled = True

    @property
    def idle(self) -> bool:
        """Whether there is no request."""
        return not self._left


class Clock:
    """Seconds by phase, and in collection those of actors and network too."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.collect: defaultdict[str, float] = defaultdict(float)
        self.rows: list[dict[str, float]] = []

    def timed(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a method: its calls are timed under a name."""

        def call(*args: Any, **kwargs: Any) -> Any:
            started = time.perf_counter()
            try:
                return method(*args, **kwargs)
            finally:
                self.seconds[name] += time.perf_counter() - started

        return call

    def timed_collection(self, gather: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap the collection of a step; the first is left out, as nothing is warm."""
        first = True

        def call(self_: Collection, *args: Any, **kwargs: Any) -> Any:
            nonlocal first
            before, started = self._spent(self_), time.perf_counter()
            try:
                return gather(self_, *args, **kwargs)
            finally:
                seconds = time.perf_counter() - started
                self.seconds["collect"] += seconds
                # Nothing is warm in the first: threads start, torch allocates.
                if not first:
                    self.collect["wall"] += seconds
                    for name, value in self._spent(self_).items():
                        self.collect[name] += value - before[name]
                first = False

        return call

    def timed_step(self, step: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a step of the loop: memory is recorded after it."""

        def call(*args: Any, **kwargs: Any) -> Any:
            result = self.timed("step", step)(*args, **kwargs)
            memory = psutil.Process().memory_info().rss
            self.rows.append({"step": len(self.rows) + 1, "rss": memory, "threads": threading.active_count()})
            return result

        return call

    @staticmethod
    def _spent(running: Collection) -> defaultdict[str, float]:
        """Return what actors and network have spent so far, an actor's present state included."""
        assert isinstance(running.pool, ActorPool) and isinstance(running.policy, TacticPolicy)
        stats, now = running.policy.stats, time.monotonic()
        spent = defaultdict(float, network=stats.busy_seconds, answered=stats.answered)
        for actor in running.pool.actors:
            for name, seconds in actor.seconds.items():
                spent[name] += seconds
            # An actor adds a state's time when it leaves it. A collection ends while actors are in the middle of one.
            spent[actor.state] += now - actor.since
        return spent


def answered_by(loop: ReinforcementLearning) -> int:
    """Return how many states the policy of a run has answered so far."""
    assert isinstance(loop.collection.policy, TacticPolicy)
    return loop.collection.policy.stats.answered


def scripted_theorems(split: str, lean_version: str | None = None) -> list[Theorem]:
    """Return theorems, many in train and few in valid."""
    count = NUM_THEOREMS if split == "train" else 64
    return [Theorem(f"theorem {split}{n} : True := by sorry", "scripted", f"{split}{n}") for n in range(count)]


def main() -> int:
    """Run `nanoproof.rl` over the script, and write down where the time went."""
    settings = json.loads(os.environ["SCRIPTED_RL"])
    clock, slots = Clock(), [Slot(settings["tactic_seconds"])] * settings["slots"]
    lockstep = Lockstep(len(slots)) if settings.get("lockstep") else None
    alternation = Alternation(**settings["alternate"]) if "alternate" in settings else None
    engine = SleepingEngine if settings.get("sleeping_network") else Engine
    started = time.perf_counter()

    def open_fleet(options: Any, dist: DistInfo) -> Fleet:
        return Fleet(slots, None, "sleeps", EMBEDDED_LEAN)  # type: ignore[arg-type]

    step, exchange, update = ReinforcementLearning.step, Collection.exchange, Learner.update
    if alternation is not None:
        step, exchange, update = alternation.step(step), alternation.exchange(exchange), alternation.update  # type: ignore[assignment]
    # Lockstep is without evaluations, in which an actor that runs out of theorems would stop all others.
    evaluate = ReinforcementLearning.evaluate if lockstep is None else lambda loop: None
    # The run is the real one; replaced are Lean, the tactics, what is timed, and what would not fit into lockstep.
    with (
        mock.patch.dict(sets.DATASETS, scripted=scripted_theorems),
        mock.patch.object(rl, "open_fleet", open_fleet),
        mock.patch.object(models, "TacticPolicy", NamedTactics),
        mock.patch.object(models, "Engine", engine),
        mock.patch.object(NamedTactics, "lockstep", lockstep),
        mock.patch.object(Collection, "gather", clock.timed_collection(Collection.gather)),
        mock.patch.object(Collection, "exchange", clock.timed("exchange", exchange)),
        mock.patch.object(Learner, "update", clock.timed("train", update)),
        mock.patch.object(ReinforcementLearning, "save", clock.timed("save", ReinforcementLearning.save)),
        mock.patch.object(ReinforcementLearning, "step", clock.timed_step(step)),
        mock.patch.object(ReinforcementLearning, "evaluate", clock.timed("evaluate", evaluate)),
        mock.patch.object(ActorPool, "stop", _stop(lockstep)),
    ):
        code = rl.main()
    report = {
        "phases": clock.seconds,
        "collect": clock.collect,
        "actors": len(slots),
        "wall": time.perf_counter() - started,
        "rows": clock.rows,
        "alternated": [] if alternation is None else alternation.rows,
    }
    with open(f"{settings['report']}_r{os.environ.get('RANK', '0')}.json", "w", encoding="utf-8") as file:
        json.dump(report, file)
    return code


class Alternation:
    """Blocks of steps without training, with the pause and asynchronously, in turns; for a run with `--asynchronous`.

    In the first block, without training, a collection takes `--collect-max-time`: what it brings on average, but for
    its first step, is then the target of all others, whatever time that takes. An update sleeps `seconds`.
    """

    MODES = ("ideal", "pause", "asynchronous")

    def __init__(self, block: int, seconds: float) -> None:
        self._block, self._seconds = block, seconds
        self._collected: list[float] = []
        self._gathered: dict[str, float] = {}
        self.mode = ""
        self.rows: list[dict[str, Any]] = []

    def step(self, step: Callable[[ReinforcementLearning], None]) -> Callable[[ReinforcementLearning], None]:
        """Wrap a step of the loop: it is made in the mode that is due, and noted."""

        def call(loop: ReinforcementLearning) -> None:
            number = len(self.rows)
            self.mode = self.MODES[number // self._block % len(self.MODES)]
            loop.options = replace(loop.options, asynchronous=self.mode == "asynchronous")
            # After the block without training: from here on all collect as much, so that updates are equal, too.
            if number == self._block:
                wanted = round(sum(self._collected[1:]) / (self._block - 1))
                config = loop.collection._config
                loop.collection._config = replace(config, rl=replace(config.rl, collect_transitions=wanted))
                loop.collect_seconds = None
            began, answered = time.perf_counter(), answered_by(loop)
            step(loop)
            self._collected.append(self._gathered["transitions"])
            ended = {"ended": time.perf_counter(), "answered": answered_by(loop) - answered}
            self.rows.append({"mode": self.mode, "began": began, **ended, **self._gathered})

        return call

    def exchange(self, exchange: Callable[[Collection], dict[str, float]]) -> Callable[[Collection], dict[str, float]]:
        """Wrap the exchange of attempts, whose metrics are noted."""

        def call(collection: Collection) -> dict[str, float]:
            self._gathered = exchange(collection)
            return self._gathered

        return call

    def update(self, learner: Learner, examples: Sequence[Any], progress: float) -> dict[str, float]:
        """Sleep in place of an update of the learner."""
        if self.mode != "ideal":
            time.sleep(self._seconds)
        return {"loss": 0.0}


def _stop(lockstep: Lockstep | None) -> Callable[[ActorPool], None]:
    """Make an `ActorPool.stop` that lets actors out of the lockstep too."""
    stop = ActorPool.stop

    def call(pool: ActorPool) -> None:
        stop(pool)
        if lockstep is not None:
            lockstep.abort()

    return call


if __name__ == "__main__":
    run_main(main)
