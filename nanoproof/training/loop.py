"""The loop that pretraining, midtraining and supervised finetuning share: steps, evaluations, checkpoints.

A stage says what a step and an evaluation are, and where it is in its data; `LoopState` is all that a checkpoint keeps
beside weights and optimizer state, so that a resumed run goes on as if it had not been stopped.
"""

import logging
import time
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from nanoproof.common.dist import DistInfo
from nanoproof.common.errors import UserError
from nanoproof.common.progress import Progress
from nanoproof.common.run_dir import resolve_run_dir
from nanoproof.gpt.checkpoint import load_model, load_optimizer, read_manifest, save_checkpoint
from nanoproof.gpt.model import GPT
from nanoproof.gpt.optim import MuonAdamW
from nanoproof.gpt.tokenizer import Tokenizer
from nanoproof.training.options import CadenceOptions, ModelOptions, OptimizerOptions, RunOptions, StartOptions
from nanoproof.training.resume import StopSignal, check_stage
from nanoproof.training.schedule import Trigger, learning_rate_factor
from nanoproof.training.setup import Stage, load_or_build_model
from nanoproof.training.step import build_optimizer

log = logging.getLogger(__name__)


@dataclass
class LoopState:
    """Where the loop is. `data` is the position in the training data, in JSON."""

    step: int = 0
    seconds: float = 0.0
    data: dict[str, Any] = field(default_factory=dict)


class TrainingLoop(ABC):
    """A stage of training. Everything that can be wrong with options and data is found in constructors, before any
    file is written; subclasses set `num_steps` and take up `self.state.data`."""

    stage_name: ClassVar[str]
    num_steps: int

    def __init__(
        self,
        run_options: RunOptions,
        start: StartOptions,
        cadence: CadenceOptions,
        model_options: ModelOptions,
        optim: OptimizerOptions,
        dist: DistInfo,
    ) -> None:
        self.run_options, self.start, self.optim, self.dist = run_options, start, optim, dist
        self.eval_trigger = Trigger.parse(cadence.eval_every, "--eval-every")
        self.save_trigger = Trigger.parse(cadence.save_every, "--save-every")
        self.state = LoopState()
        self.model, self.tokenizer, self.optimizer = self._load(model_options)
        self.stop = StopSignal()
        self._saved_step = -1

    def _load(self, model_options: ModelOptions) -> tuple[GPT, Tokenizer, MuonAdamW]:
        """A fresh model, the one of `--model-path`, or the last checkpoint of `--resume-from` with its state."""
        if self.start.resume_from is None:
            model, tokenizer = load_or_build_model(
                model_options, self.start.model_path, self.dist, self.run_options.seed
            )
            return model, tokenizer, build_optimizer(model, self.optim)
        path = resolve_run_dir(self.start.resume_from, "--resume-from")
        check_stage(read_manifest(path), self.stage_name, path)
        model, tokenizer, manifest = load_model(path, self.dist.device, self.dist.dtype)
        try:
            self.state = LoopState(**manifest["extra"]["loop"])
        except (KeyError, TypeError) as error:
            raise UserError(f"--resume-from {path}: the checkpoint does not say where the loop was: {error}") from error
        optimizer = build_optimizer(model, self.optim)
        if not self.start.resume_fresh_optimizer:
            load_optimizer(path, optimizer)
        return model, tokenizer, optimizer

    @abstractmethod
    def decisions(self) -> dict[str, str]:
        """What was decided from options and data, for the log."""

    @abstractmethod
    def train_one(self) -> dict[str, float]:
        """One optimizer step; returns its metrics, with "loss"."""

    @abstractmethod
    def evaluate(self) -> dict[str, float]:
        """Metrics on validation data over all ranks."""

    @abstractmethod
    def data_state(self) -> dict[str, Any]:
        """The position in the training data, for a checkpoint. All ranks call it together."""

    def after_evaluation(self, stage: Stage) -> None:  # noqa: B027 (a hook)
        """What else to show after an evaluation (samples ...); nothing by default. All ranks call it together."""

    @property
    def lr_factor(self) -> float:
        """The schedule's factor on the learning rates for the step at hand."""
        options, progress = self.optim, self.state.step / max(1, self.num_steps)
        return learning_rate_factor(
            progress, options.warmup_frac, options.warmdown_frac, options.init_lr_frac, options.final_lr_frac
        )

    def run(self, stage: Stage) -> None:
        """Train to the end or to a signal, evaluating and saving on the way."""
        self.stop.install()
        if self.start.resume_from is not None and self.dist.is_main:
            stage.run.event("resumed", step=self.state.step)
        with Progress(self.num_steps, self.stage_name, "steps", show=self.dist.is_main) as progress:
            progress.update(self.state.step)
            while self.state.step < self.num_steps:
                self._step(stage, progress)
                if self.stop.agreed(self.dist.device):
                    log.warning("stopped by a signal at step %d", self.state.step)
                    break
        self.save(stage)

    def _step(self, stage: Stage, progress: Progress) -> None:
        started = time.monotonic()
        metrics = self.train_one()
        self.state.step += 1
        step_seconds = time.monotonic() - started
        self.state.seconds += step_seconds
        self.record(stage, {**metrics, "step_seconds": step_seconds})
        progress.update(note=self.note(metrics))
        if self.eval_trigger.due(self.state.step) or self.state.step == self.num_steps:
            self.record(stage, {f"valid/{name}": value for name, value in self.evaluate().items()})
            self.after_evaluation(stage)
        if self.wants_save() and self.state.step < self.num_steps:
            self.save(stage)

    def wants_save(self) -> bool:
        """Whether to save after this step; all ranks ask together."""
        return self.save_trigger.due(self.state.step)

    def note(self, metrics: dict[str, float]) -> str:
        """What the progress line says about a step."""
        return f"loss {metrics['loss']:.3f}"

    def record(self, stage: Stage, metrics: dict[str, float]) -> None:
        """Write metrics down (rank 0)."""
        if self.dist.is_main and metrics:
            stage.run.metrics(self.state.step, **metrics)
            stage.tracker.log(metrics, self.state.step)

    def save(self, stage: Stage) -> None:
        """Save a checkpoint, unless this step has one. All ranks call it together."""
        if self._saved_step == self.state.step:
            return
        self._saved_step = self.state.step
        self.state.data = self.data_state()
        extra = {"stage": self.stage_name, "loop": asdict(self.state)}
        path = save_checkpoint(
            stage.run.path, self.state.step, self.model, self.tokenizer, self.optimizer, extra, self.dist
        )
        if self.dist.is_main:
            stage.run.event("checkpoint", step=self.state.step, path=path.name)
            log.info("saved %s", path)
