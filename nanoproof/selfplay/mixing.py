"""What a step trains on: SFT data, transitions of proofs and failed tactics, in their proportions."""

import numpy as np

from nanoproof.common.dist import DistInfo
from nanoproof.common.errors import UserError
from nanoproof.data.packing import Example, ExampleLimits, encode_transition
from nanoproof.data.transitions import Transition
from nanoproof.selfplay.buffers import Buffers
from nanoproof.selfplay.config import RLConfig
from nanoproof.selfplay.learner import Learner
from nanoproof.training.batches import EpochSampler, TransitionSet, deal
from nanoproof.training.data import load_transitions


class Mixture:
    """The examples of each update: this rank's share of them, the same for the same seed, step and buffers."""

    def __init__(self, config: RLConfig, learner: Learner, buffers: Buffers, dist: DistInfo) -> None:
        """Raises UserError if the SFT data cannot be used, or is not that of the run that goes on."""
        self._config, self._buffers, self._dist = config, buffers, dist
        options, seed = config.rl, config.run.seed
        self._tokenizer = learner.tokenizer
        self.num_sft = 0
        """How many of the examples that were made last are SFT data: the first ones."""
        self._limits = ExampleLimits(sequence=min(config.batch.row_length, learner.model.config.sequence_len))
        if config.batch.target_examples_per_step < dist.world_size:
            raise UserError("--target-examples-per-step must be at least the number of ranks")
        transitions = load_transitions(options.sft_data)[0]
        self.sft = TransitionSet(self._tokenizer, transitions, self._limits, seed=seed, augment=options.augment_data)
        if len(self.sft) == 0:
            raise UserError(f"--sft-data {options.sft_data}: no transition fits in {self._limits.sequence} tokens")
        self._sampler = EpochSampler(len(self.sft), seed, self.sft.fingerprint())
        if learner.state.sft_position:
            try:
                self._sampler.restore(learner.state.sft_position)
            except ValueError as error:
                raise UserError(f"--sft-data {options.sft_data} is not as in the resumed run: {error}") from error

    def position(self) -> dict[str, int]:
        """Where the SFT data is at, for a checkpoint."""
        return self._sampler.state()

    def examples(self, step: int, update: int) -> list[Example]:
        """This rank's examples of an update of a step."""
        options, dist = self._config.rl, self._dist
        rng = np.random.default_rng([self._config.run.seed, dist.rank, step, update])
        total = self._config.batch.target_examples_per_step
        replay, negative = self._buffers.replay, self._buffers.negative
        sft_total = round(options.fraction_sft * total) if len(replay) else total
        sft = self.sft.examples(list(deal(self._sampler.picks(sft_total), dist)))
        self.num_sft = len(sft)
        rest = len(range(dist.rank, total, dist.world_size)) - len(sft)
        failed = int(rng.binomial(rest, options.negative_fraction)) if rest > 0 and len(negative) else 0
        drawn = [(item, False) for item in replay.sample(rng, max(0, rest - failed))] if rest > failed else []
        drawn += [(item, True) for item in negative.sample(rng, failed)] if failed else []
        return sft + self._encode(drawn)

    def _encode(self, drawn: list[tuple[Transition, bool]]) -> list[Example]:
        examples = [encode_transition(self._tokenizer, item, self._limits, failed) for item, failed in drawn]
        return [example for example in examples if example is not None]
