"""The loop of supervised finetuning."""

import logging
import math
from dataclasses import dataclass

from nanoproof.common.config import opt, validate
from nanoproof.common.dist import DistInfo
from nanoproof.common.errors import UserError
from nanoproof.common.progress import Progress
from nanoproof.data.packing import ExampleLimits
from nanoproof.gpt.checkpoint import save_checkpoint
from nanoproof.training.batches import EncodedSet, EpochSampler, deal
from nanoproof.training.data import load_transitions
from nanoproof.training.loss import LossWeights
from nanoproof.training.options import BatchOptions, ModelOptions, OptimizerOptions, RunOptions
from nanoproof.training.schedule import Trigger, learning_rate_factor
from nanoproof.training.setup import Stage, load_or_build_model
from nanoproof.training.step import build_optimizer, train_step, validation_loss

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SFTOptions:
    """Supervised finetuning."""

    model_path: str | None = opt(None, "Checkpoint to start from; without one the model has fresh weights.")
    data: str = opt("nanolean", "Transitions: `nanolean`, or a file of LeanTree JSONL.")
    epochs: float = opt(1.0, "How often each transition is seen; 0 saves the model as it is.", min=0)
    eval_every: str = opt("200steps", "When to measure the validation loss: Nsteps, H:M:S or never.")
    save_every: str = opt("never", "When to save besides the end: Nsteps, H:M:S or never.")

    def __post_init__(self) -> None:
        validate(self, "sft")


@dataclass
class LoopState:
    """Where the loop is."""

    step: int
    num_steps: int


class Finetuning:
    """The loop: a few named phases over one state."""

    def __init__(
        self,
        run_options: RunOptions,
        options: SFTOptions,
        model_options: ModelOptions,
        batch: BatchOptions,
        optim: OptimizerOptions,
        dist: DistInfo,
    ) -> None:
        self.run_options, self.options, self.batch, self.optim, self.dist = run_options, options, batch, optim, dist
        self.eval_trigger = Trigger.parse(self.options.eval_every, "--eval-every")
        self.save_trigger = Trigger.parse(self.options.save_every, "--save-every")
        if self.batch.target_examples_per_step < dist.world_size:
            raise UserError("--target-examples-per-step must be at least the number of ranks")
        train, valid = load_transitions(self.options.data)
        self.model, self.tokenizer = load_or_build_model(
            model_options, self.options.model_path, dist, self.run_options.seed
        )
        limits = ExampleLimits(sequence=min(self.batch.row_length, self.model.config.sequence_len))
        self.train = EncodedSet.encode(self.tokenizer, train, limits)
        self.valid = EncodedSet.encode(self.tokenizer, valid, limits)
        if not self.train.examples:
            raise UserError(f"--data {self.options.data}: no transition fits in {limits.sequence} tokens")
        steps = self.options.epochs * len(self.train.examples) / self.batch.target_examples_per_step
        self.state = LoopState(step=0, num_steps=math.ceil(steps))
        self.sampler = EpochSampler(len(self.train.examples), self.run_options.seed)
        self.optimizer = build_optimizer(self.model, self.optim)

    def decisions(self) -> dict[str, str]:
        """What was decided from options and data, for the log."""
        sets = f"{len(self.train.examples)} to train, {len(self.valid.examples)} to validate"
        return {
            "model": f"{self.model.num_parameters():,} parameters",
            "transitions": f"{sets}, {self.train.too_long + self.valid.too_long} left out as too long",
            "steps": f"{self.state.num_steps} of {self.batch.target_examples_per_step} examples",
        }

    def run(self, stage: Stage) -> None:
        """Train to the end, evaluating and saving on the way."""
        with Progress(self.state.num_steps, "sft", "steps", show=self.dist.is_main) as progress:
            while self.state.step < self.state.num_steps:
                losses = self.train_one()
                self.state.step += 1
                self.record(stage, losses)
                progress.update(note=f"loss {losses['loss']:.3f}, tactic {losses['tactic_loss']:.3f}")
                if self.eval_trigger.due(self.state.step) or self.state.step == self.state.num_steps:
                    self.record(stage, {f"valid/{name}": value for name, value in self.evaluate().items()})
                if self.save_trigger.due(self.state.step) and self.state.step < self.state.num_steps:
                    self.save(stage)
        self.save(stage)

    def train_one(self) -> dict[str, float]:
        """One optimizer step."""
        indices = deal(self.sampler.batch(self.batch.target_examples_per_step), self.dist)
        options = self.optim
        factor = learning_rate_factor(
            self.state.step / self.state.num_steps,
            options.warmup_frac,
            options.warmdown_frac,
            options.init_lr_frac,
            options.final_lr_frac,
        )
        return train_step(
            self.model,
            self.optimizer,
            [self.train.examples[index] for index in indices],
            factor,
            self.batch,
            LossWeights(self.batch.value_weight),
            options.max_grad_norm,
            self.dist,
            self.tokenizer.pad,
        )

    def evaluate(self) -> dict[str, float]:
        """Validation losses over all ranks."""
        if not self.valid.examples:
            return {}
        share = [self.valid.examples[index] for index in deal(range(len(self.valid.examples)), self.dist)]
        return validation_loss(self.model, share, self.batch, self.dist, self.tokenizer.pad)

    def record(self, stage: Stage, metrics: dict[str, float]) -> None:
        """Write metrics down (rank 0)."""
        if self.dist.is_main:
            stage.run.metrics(self.state.step, **metrics)
            stage.tracker.log(metrics, self.state.step)

    def save(self, stage: Stage) -> None:
        """Save a checkpoint (rank 0)."""
        if self.dist.is_main:
            step = self.state.step
            path = save_checkpoint(stage.run.path, step, self.model, self.tokenizer, self.optimizer, {"stage": "sft"})
            stage.run.event("checkpoint", step=step, path=path.name)
            log.info("saved %s", path)
