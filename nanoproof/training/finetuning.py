"""Supervised finetuning: the loop's steps are on packed transitions."""

import math
from dataclasses import dataclass
from typing import Any

from nanoproof.common.config import opt, validate
from nanoproof.common.dist import DistInfo
from nanoproof.common.errors import UserError
from nanoproof.data.packing import ExampleLimits
from nanoproof.training.batches import EncodedSet, EpochSampler, deal
from nanoproof.training.data import load_transitions
from nanoproof.training.loop import TrainingLoop
from nanoproof.training.loss import LossWeights
from nanoproof.training.options import (
    BatchOptions,
    CadenceOptions,
    ModelOptions,
    OptimizerOptions,
    RunOptions,
    StartOptions,
)
from nanoproof.training.step import train_step, validation_loss


@dataclass(frozen=True)
class SFTOptions:
    """Supervised finetuning."""

    data: str = opt("nanolean", "Transitions: `nanolean`, or a file of LeanTree JSONL.")
    epochs: float = opt(1.0, "How often each transition is seen; 0 saves the model as it is.", min=0)

    def __post_init__(self) -> None:
        validate(self, "sft")


class Finetuning(TrainingLoop):
    """Finetuning on transitions."""

    stage_name = "sft"

    def __init__(
        self,
        run_options: RunOptions,
        start: StartOptions,
        cadence: CadenceOptions,
        options: SFTOptions,
        model_options: ModelOptions,
        batch: BatchOptions,
        optim: OptimizerOptions,
        dist: DistInfo,
    ) -> None:
        self.options, self.batch = options, batch
        if batch.target_examples_per_step < dist.world_size:
            raise UserError("--target-examples-per-step must be at least the number of ranks")
        train, valid = load_transitions(options.data)
        super().__init__(run_options, start, cadence, model_options, optim, dist)
        limits = ExampleLimits(sequence=min(batch.row_length, self.model.config.sequence_len))
        self.train = EncodedSet.encode(self.tokenizer, train, limits)
        self.valid = EncodedSet.encode(self.tokenizer, valid, limits)
        if not self.train.examples:
            raise UserError(f"--data {options.data}: no transition fits in {limits.sequence} tokens")
        self.num_steps = math.ceil(options.epochs * len(self.train.examples) / batch.target_examples_per_step)
        self.sampler = EpochSampler(len(self.train.examples), run_options.seed)
        if self.state.data:
            try:
                self.sampler.restore(self.state.data)
            except ValueError as error:
                raise UserError(f"--data {options.data} is not that of the resumed run: {error}") from error

    def decisions(self) -> dict[str, str]:
        """What was decided from options and data, for the log."""
        sets = f"{len(self.train.examples)} to train, {len(self.valid.examples)} to validate"
        return {
            "model": f"{self.model.num_parameters():,} parameters",
            "transitions": f"{sets}, {self.train.too_long + self.valid.too_long} left out as too long",
            "steps": f"{self.num_steps} of {self.batch.target_examples_per_step} examples",
        }

    def train_one(self) -> dict[str, float]:
        indices = deal(self.sampler.batch(self.batch.target_examples_per_step), self.dist)
        return train_step(
            self.model,
            self.optimizer,
            [self.train.examples[index] for index in indices],
            self.lr_factor,
            self.batch,
            LossWeights(self.batch.value_weight),
            self.optim.max_grad_norm,
            self.dist,
            self.tokenizer.pad,
        )

    def note(self, metrics: dict[str, float]) -> str:
        return f"loss {metrics['loss']:.3f}, tactic {metrics['tactic_loss']:.3f}"

    def data_state(self) -> dict[str, Any]:
        return self.sampler.state()

    def evaluate(self) -> dict[str, float]:
        if not self.valid.examples:
            return {}
        share = [self.valid.examples[index] for index in deal(range(len(self.valid.examples)), self.dist)]
        return validation_loss(self.model, share, self.batch, self.dist, self.tokenizer.pad)
