"""The batches of a step: buffers of proofs and of failed tactics, and SFT data.

Buffers and batches are pure functions of the sequence of attempts, so a resumed run rebuilds them from its logs, and
draws from them what it would have drawn.
"""

import logging
import math
import re
from collections import Counter, OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from nanoproof.common.distributed import DistInfo
from nanoproof.common.errors import UserError
from nanoproof.data.transitions.leantree import select
from nanoproof.data.transitions.packing import Example, ExampleLimits
from nanoproof.lean.types import Transition
from nanoproof.prover.attempt import Attempt
from nanoproof.rl.learner import PolicyLearner
from nanoproof.rl.options import RLConfig, RLOptions
from nanoproof.search.expand import solver_pattern
from nanoproof.training.batches import EpochSampler, TransitionSet, balanced_depth_weights, shard
from nanoproof.training.named_data import load_transitions

log = logging.getLogger(__name__)

# -- Replay buffers --------------------------------------------------------------------------------------------------

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class _Entry(NamedTuple, Generic[V]):
    """An item, the collection step that it came from, and its index in the list that samples are drawn from."""

    item: V
    step: int
    position: int


class WindowBuffer(Generic[K, V]):
    """The newest `window` items with distinct keys; adding a known key replaces its item and makes it new again.

    Each item remembers the collection step that it came from. Whatever the buffer is asked for takes a time that does
    not depend on its size, lists of all items excepted.
    """

    def __init__(self, window: int) -> None:
        self.window = window
        self._entries: OrderedDict[K, _Entry[V]] = OrderedDict()  # oldest first
        self._keys: list[K] = []  # in the order of positions
        self._steps = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def add(self, key: K, item: V, step: int) -> list[V]:
        """Add one item; returns the items that are gone: the one of this key, or the oldest if there are too many."""
        gone = []
        earlier = self._entries.pop(key, None)  # taken out, so that it comes in at the new end
        if earlier is not None:
            gone.append(earlier.item)
            self._steps -= earlier.step
            index = earlier.position
        else:
            index = len(self._keys)
            self._keys.append(key)
        self._entries[key] = _Entry(item, step, index)
        self._steps += step
        while len(self._entries) > self.window:
            _, entry = self._entries.popitem(last=False)
            self._leave(entry)
            gone.append(entry.item)
        return gone

    def discard(self, key: K) -> None:
        """Take an item out, if it is there."""
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._leave(entry)

    def _leave(self, entry: _Entry[V]) -> None:
        """Move the last key to the index of one that is gone."""
        # So that the list has no gaps: 512 samples of 250,000 transitions take 1.1 ms, with a list that is made anew
        # 85 ms (experiments.md, matchmaker and replay buffer).
        self._steps -= entry.step
        last = self._keys.pop()
        if entry.position < len(self._keys):
            self._keys[entry.position] = last
            moved = self._entries[last]
            # An OrderedDict leaves a key that it has where it is: the item becomes no newer.
            self._entries[last] = moved._replace(position=entry.position)

    def sample(self, rng: np.random.Generator, count: int) -> list[V]:
        """Draw `count` items, uniformly with replacement. Raises IndexError if the buffer is empty."""
        if not self._keys:
            raise IndexError("the buffer is empty")
        return [self._entries[self._keys[index]].item for index in rng.integers(len(self._keys), size=count)]

    def items(self) -> list[V]:
        """Return all items, oldest first."""
        return [entry.item for entry in self._entries.values()]

    def entries(self) -> list[tuple[K, V, int]]:
        """Return key, item and the step that it came from, oldest first."""
        return [(key, entry.item, entry.step) for key, entry in self._entries.items()]

    def staleness(self, step: int) -> float:
        """Return the mean number of collection steps since the items came in (0 for an empty buffer)."""
        if not self._entries:
            return 0.0
        return step - self._steps / len(self._entries)


class Buffers:
    """The buffers: transitions of proofs, and tactics that Lean refused.

    A tactic that is in a proof is no failed one, even if Lean once refused it in the same state. Nothing that uses one
    of the `solvers` gets in: with `--disable-solvers` the search leaves it out too.
    """

    def __init__(self, replay_window: int, negative_window: int, solvers: Sequence[str] = ()) -> None:
        self._solver: re.Pattern[str] | None = None
        if solvers:
            self._solver = solver_pattern(tuple(solvers))
        self.replay: WindowBuffer[tuple[str, str], Transition] = WindowBuffer(replay_window)
        self.negative: WindowBuffer[tuple[str, str], Transition] = WindowBuffer(negative_window)
        self.depths: Counter[int] = Counter()
        """How many transitions of the replay buffer have each depth."""

    def add(self, attempts: Iterable[Attempt], step: int) -> int:
        """Add transitions and failed tactics of attempts; returns the number of transitions of proofs."""
        count = 0
        for attempt in attempts:
            for transition in attempt.transitions:
                if not self._uses_solver(transition.tactic):
                    self._add_played(transition, step)
                    count += 1
            if self.negative.window:
                for key in attempt.failed_tactics:
                    if key not in self.replay and not self._uses_solver(key.tactic):
                        self.negative.add((key.state, key.tactic), Transition(key.state, key.tactic, 1), step)
        return count

    def _add_played(self, transition: Transition, step: int) -> None:
        key = (transition.state, transition.tactic)
        replaced = self.replay.add(key, transition, step)
        self.negative.discard(key)
        self.depths[transition.depth] += 1
        self.depths.subtract(item.depth for item in replaced)

    def _uses_solver(self, tactic: str) -> bool:
        return self._solver is not None and self._solver.search(tactic) is not None


def buffers_of(options: RLOptions, solvers: Sequence[str], negative_window: int | None = None) -> Buffers:
    """Make the empty buffers of a run; `negative_window` instead of the run's own."""
    negative = options.negative_window if negative_window is None else negative_window
    window = options.replay_buffer_window_size
    return Buffers(window, negative, solvers)


# -- Batches ---------------------------------------------------------------------------------------------------------

DRAWS = 4
"""How often as many transitions as are needed are drawn, until enough of them can be used.

Each time costs a forward pass where log-probabilities have limits.
"""


@dataclass
class Batch:
    """One rank's examples of an update, and figures of how they were drawn.

    The first `num_sft` are SFT data.
    """

    examples: list[Example]
    num_sft: int
    metrics: dict[str, float] = field(default_factory=dict)

    def kind(self, number: int) -> str:
        """Return where an example is from: sft, replay, or negative."""
        if number < self.num_sft:
            return "sft"
        if self.examples[number].continuations[0].kind == "negative":
            return "negative"
        return "replay"


class BatchSampler:
    """Draws the examples of each update: this rank's share of them, the same for the same seed, step and buffers."""

    def __init__(self, config: RLConfig, learner: PolicyLearner, buffers: Buffers, dist: DistInfo) -> None:
        """Load the SFT data. Raises UserError if they cannot be used."""
        self._config, self._buffers, self._dist = config, buffers, dist
        options, seed = config.rl, config.run.seed
        self._learner = learner
        if config.batch.target_examples_per_step < dist.world_size:
            raise UserError("--target-examples-per-step must be at least the number of ranks")
        if options.learning.balance_value_by_depth and config.batch.value_weight == 0:
            raise UserError("--balance-value-by-depth weighs a loss that --value-weight 0 leaves out")
        transitions: Sequence[Transition] = load_transitions(options.sft_data)[0]
        if config.solvers_left_out:
            solver = solver_pattern(config.solvers_left_out)
            without_solver = [index for index, item in enumerate(transitions) if not solver.search(item.tactic)]
            transitions = select(transitions, without_solver)
        depth_weights: list[float] | None = None
        if options.learning.balance_value_by_depth:
            depth_weights = balanced_depth_weights(Counter(item.depth for item in transitions))
        self.sft = TransitionSet(
            None,
            transitions,
            ExampleLimits(sequence=learner.longest),
            seed=seed,
            augment=options.learning.augment_data,
            depth_weights=depth_weights,
            encode=learner.encode,
        )
        if len(self.sft) == 0:
            raise UserError(f"--sft-data {options.sft_data}: no transition fits in {learner.longest} tokens")
        self._sampler = EpochSampler(len(self.sft), seed, self.sft.fingerprint())
        if learner.state.sft_position:
            try:
                self._sampler.restore(learner.state.sft_position)
            except ValueError as error:  # a position in other data means nothing, and is no reason not to go on
                if dist.is_main:
                    log.warning("the SFT data begin anew, as they are not those of before the resumption: %s", error)

    def position(self) -> dict[str, int]:
        """Return the position in the SFT data, for a checkpoint."""
        return self._sampler.state()

    def batch(self, step: int, update: int) -> Batch:
        """Draw this rank's examples of an update of a step."""
        options, dist = self._config.rl, self._dist
        # Of step and update, not one generator for the run: a resumed run draws what it would have drawn.
        rng = np.random.default_rng([self._config.run.seed, dist.rank, step, update])
        total = self._config.batch.target_examples_per_step
        sft_total = total  # until something is proved
        if len(self._buffers.replay):
            sft_total = round(options.fraction_sft * total)
        # All ranks draw the same and take their share, where each draws from the buffers by itself: an epoch of SFT
        # data is then one over all ranks, and its order does not depend on how many there are.
        sft = self.sft.examples(list(shard(self._sampler.picks(sft_total), dist)))
        rest = len(range(dist.rank, total, dist.world_size)) - len(sft)
        failed = 0
        if options.negative_fraction and len(self._buffers.negative) and rest > 0:
            failed = int(rng.binomial(rest, options.negative_fraction))
        wanted, metrics, replayed = rest - failed, dict[str, float](), list[Example]()
        if wanted > 0:
            fitting, usable, metrics = self._drawn(rng, self._buffers.replay, wanted)
            # A batch without any example has no loss: rather those that the limits leave out.
            if not usable and not sft:
                usable = fitting
            replayed = usable[:wanted]
        if replayed and len(replayed) < wanted:  # a smaller batch, in the same proportions
            sft = sft[: math.ceil(len(sft) * len(replayed) / wanted)]
            failed = math.ceil(failed * len(replayed) / wanted)
        refused = self._encode(self._buffers.negative.sample(rng, failed), negative=True) if failed else []
        return Batch(sft + replayed + refused, len(sft), metrics)

    def _depth_weights(self) -> list[float] | None:
        """Return the factors on the value losses of the depths; None if all depths weigh as they come."""
        if not self._config.rl.learning.balance_value_by_depth:
            return None
        return balanced_depth_weights(self._buffers.depths)

    def _drawn(
        self, rng: np.random.Generator, buffer: WindowBuffer[tuple[str, str], Transition], count: int
    ) -> tuple[list[Example], list[Example], dict[str, float]]:
        """Draw transitions that fit in a row, those with log-probabilities within the limits, and figures.

        So many of the latter, if there are so many among `DRAWS` times as many.
        """
        weights = self._depth_weights()
        fitting: list[Example] = []
        usable: list[Example] = []
        draws = 0
        while len(usable) < count and draws < DRAWS:
            draws += 1
            drawn = self._encode(buffer.sample(rng, count), depth_weights=weights)
            fitting += drawn
            usable += self._within_limits(drawn)
        metrics = {"replay_too_long": 1 - len(fitting) / (draws * count)}
        if self._limited:
            metrics["replay_within_logprobs"] = len(usable) / max(1, len(fitting))
        return fitting, usable, metrics

    @property
    def _limited(self) -> bool:
        return self._config.rl.replay_logprob_min is not None or self._config.rl.replay_logprob_max is not None

    def _within_limits(self, examples: list[Example]) -> list[Example]:
        if not self._limited or not examples:
            return examples
        low, high = self._config.rl.replay_logprob_min, self._config.rl.replay_logprob_max
        within = []
        for example, logprob in zip(examples, self._learner.tactic_logprobs(examples)):
            if (low is None or logprob >= low) and (high is None or logprob <= high):
                within.append(example)
        return within

    def _encode(
        self, drawn: list[Transition], negative: bool = False, depth_weights: list[float] | None = None
    ) -> list[Example]:
        examples = self._learner.encode(drawn, depth_weights, negative)
        return [example for example in examples if example is not None]  # None: too long for a row
