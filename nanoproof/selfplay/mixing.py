"""What a step trains on: SFT data, transitions of proofs and failed tactics, in their proportions."""

import logging
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from nanoproof.common.dist import DistInfo
from nanoproof.common.errors import UserError
from nanoproof.data.packing import Example, ExampleLimits, encode_transitions
from nanoproof.data.transitions import Transition, select
from nanoproof.search.expand import solver_pattern
from nanoproof.selfplay.buffers import Buffers
from nanoproof.selfplay.config import RLConfig
from nanoproof.selfplay.learner import Learner
from nanoproof.training.batches import EpochSampler, TransitionSet, balanced_depth_weights, deal
from nanoproof.training.data import load_transitions

log = logging.getLogger(__name__)

DRAWS = 4
"""How often as many transitions as are needed are drawn, until enough of them can be used."""


@dataclass
class Batch:
    """One rank's examples of an update, the first `num_sft` of them SFT data, and figures of how they were drawn."""

    examples: list[Example]
    num_sft: int
    metrics: dict[str, float] = field(default_factory=dict)


class Mixture:
    """The examples of each update: this rank's share of them, the same for the same seed, step and buffers."""

    def __init__(self, config: RLConfig, learner: Learner, buffers: Buffers, dist: DistInfo) -> None:
        """Raises UserError if the SFT data cannot be used."""
        self._config, self._buffers, self._dist = config, buffers, dist
        options, seed = config.rl, config.run.seed
        self._tokenizer = learner.tokenizer
        self._learner = learner
        self._limits = ExampleLimits(sequence=min(config.batch.row_length, learner.model.config.sequence_len))
        if config.batch.target_examples_per_step < dist.world_size:
            raise UserError("--target-examples-per-step must be at least the number of ranks")
        if options.learning.balance_value_by_depth and config.batch.value_weight == 0:
            raise UserError("--balance-value-by-depth weighs a loss that --value-weight 0 leaves out")
        transitions: Sequence[Transition] = load_transitions(options.sft_data)[0]
        if config.solvers_left_out:
            solver = solver_pattern(config.solvers_left_out)
            kept = [place for place, item in enumerate(transitions) if not solver.search(item.tactic)]
            transitions = select(transitions, kept)
        depths = Counter(item.depth for item in transitions) if options.learning.balance_value_by_depth else None
        self.sft = TransitionSet(
            self._tokenizer,
            transitions,
            self._limits,
            seed=seed,
            augment=options.learning.augment_data,
            depth_weights=balanced_depth_weights(depths) if depths is not None else None,
        )
        if len(self.sft) == 0:
            raise UserError(f"--sft-data {options.sft_data}: no transition fits in {self._limits.sequence} tokens")
        self._sampler = EpochSampler(len(self.sft), seed, self.sft.fingerprint())
        if learner.state.sft_position:
            try:
                self._sampler.restore(learner.state.sft_position)
            except ValueError as error:
                if dist.is_main:
                    log.warning("the SFT data begin anew, as they are not those of before the resumption: %s", error)

    def position(self) -> dict[str, int]:
        """Where the SFT data is at, for a checkpoint."""
        return self._sampler.state()

    def batch(self, step: int, update: int) -> Batch:
        """This rank's examples of an update of a step."""
        options, dist = self._config.rl, self._dist
        rng = np.random.default_rng([self._config.run.seed, dist.rank, step, update])
        total = self._config.batch.target_examples_per_step
        sft_total = round(options.fraction_sft * total) if len(self._buffers.replay) else total
        sft = self.sft.examples(list(deal(self._sampler.picks(sft_total), dist)))
        rest = len(range(dist.rank, total, dist.world_size)) - len(sft)
        failed = int(rng.binomial(rest, options.negative_fraction)) if rest > 0 and len(self._buffers.negative) else 0
        wanted, metrics, replayed = rest - failed, dict[str, float](), list[Example]()
        if wanted > 0:
            fitting, usable, metrics = self._replayed(rng, wanted)
            replayed = (usable if usable or sft else fitting)[:wanted]
        if replayed and len(replayed) < wanted:  # a smaller batch, in the same proportions
            sft = sft[: math.ceil(len(sft) * len(replayed) / wanted)]
            failed = math.ceil(failed * len(replayed) / wanted)
        refused = self._encode(self._buffers.negative.sample(rng, failed), negative=True) if failed else []
        return Batch(sft + replayed + refused, len(sft), metrics)

    def _replayed(self, rng: np.random.Generator, count: int) -> tuple[list[Example], list[Example], dict[str, float]]:
        """Transitions of proofs that fit in a row, those of them with log-probabilities within the limits, and figures.

        So many of the latter, if there are so many among `DRAWS` times as many.
        """
        weights = (
            balanced_depth_weights(self._buffers.depths) if self._config.rl.learning.balance_value_by_depth else None
        )
        fitting: list[Example] = []
        usable: list[Example] = []
        draws = 0
        while len(usable) < count and draws < DRAWS:
            draws += 1
            drawn = self._encode(self._buffers.replay.sample(rng, count), depth_weights=weights)
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
        logprobs = self._learner.tactic_logprobs(examples)
        return [
            example
            for example, logprob in zip(examples, logprobs)
            if (low is None or logprob >= low) and (high is None or logprob <= high)
        ]

    def _encode(
        self, drawn: list[Transition], negative: bool = False, depth_weights: list[float] | None = None
    ) -> list[Example]:
        made = encode_transitions(self._tokenizer, drawn, self._limits, negative=negative, depth_weights=depth_weights)
        return [example for example in made if example is not None]
