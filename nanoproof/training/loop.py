"""The training loop that pretraining, midtraining and supervised finetuning share, and how a command starts it.

A stage defines a step, an evaluation, and its position in the data. `StageState` is all that a checkpoint stores beside
weights and optimizer state, so that a resumed run continues as if it had not been stopped.
"""

import argparse
import logging
import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, ClassVar

from nanoproof.common.config import from_args
from nanoproof.common.distributed import DistInfo, StopSignal, cleanup
from nanoproof.common.process import freeze_gc, peak_memory_bytes
from nanoproof.common.run_dir import SCRIPTS, run_name
from nanoproof.common.terminal import Progress
from nanoproof.model.compute import Compute, choose_compute
from nanoproof.model.gpt import GPT
from nanoproof.model.network_options import LoraOptions
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.training import options
from nanoproof.training.schedule import Trigger, clock, short
from nanoproof.training.setup import Stage, start_ranks, start_stage
from nanoproof.training.trainer import BaseTrainer, LoopState, Trainer, load_or_build_model

log = logging.getLogger(__name__)


@dataclass
class StageState(LoopState):
    """State of a stage: also the position in the training data, as JSON, and the step of the last evaluation."""

    data: dict[str, Any] = field(default_factory=dict)
    evaluated: int = -1


class StageLoop(BaseTrainer[StageState]):
    """A stage of training, on any network. Everything that can be wrong with options and data is found in constructors,
    before any file is written; subclasses set `num_steps` and continue from `self.state.data`."""

    next_command: ClassVar[str] = f"{SCRIPTS}prover_eval --model-path {{run}}"
    """The command that comes next for a user; `{run}` stands for the run directory, `{path}` for the whole path of it,
    `{checkpoint}` for the last checkpoint in it."""
    num_steps: int
    stop: StopSignal

    def prepare(self, run_options: options.RunOptions, triggers: options.TriggerOptions) -> None:
        """Set up triggers and signals; subclasses call it first, and `self.eval_trigger.resume` if they resume."""
        self.run_options = run_options
        self.eval_trigger = Trigger.parse(triggers.eval_every, "--eval-every")
        self.save_trigger = Trigger.parse(triggers.save_every, "--save-every")
        self.keep_checkpoints = triggers.keep_checkpoints
        self.last_metrics: dict[str, float] = {}

    @abstractmethod
    def decisions(self) -> dict[str, str]:
        """Describe what was decided from options and data, for the log."""

    @abstractmethod
    def train_one(self) -> dict[str, float]:
        """Make one optimizer step; returns its metrics, with "loss"."""

    @abstractmethod
    def evaluate(self) -> dict[str, float]:
        """Compute metrics on validation data over all ranks. A long evaluation asks `self.stop.agreed` on the way, and
        returns no metrics if the run is to end."""

    @abstractmethod
    def data_state(self) -> dict[str, Any]:
        """Return the position in the training data, for a checkpoint. All ranks call it together."""

    def after_evaluation(self, stage: Stage) -> None:
        """Report more of an evaluation than its metrics; nothing by default. All ranks call it together."""

    def after_step(self, stage: Stage) -> None:
        """Do more after a step (samples ...); nothing by default. All ranks call it together."""

    def close(self) -> None:
        """Release what the constructor opened; nothing by default."""

    @property
    def lr_factor(self) -> float:
        """The schedule's factor on the learning rates for the step at hand, taken in the middle of the step."""
        return self.lr_factor_at((self.state.step + 0.5) / max(1, self.num_steps))

    def run(self, stage: Stage) -> None:
        """Train to the end or to a signal, evaluating and saving on the way.

        A run that a signal ended where an evaluation was due makes that one when it is resumed.
        """
        stopped = False
        steps = Progress(self.num_steps, self.stage_name, "steps", show=self.dist.is_main, initial=self.state.step)
        with self.stop, steps as progress:
            # Model and data are 1.5 million objects that a full collection would pass over again and again.
            freeze_gc()
            step = self.state.step
            if step != self.state.evaluated and (step == self.num_steps or self.eval_trigger.due(step)):
                metrics, stopped = self._validate()
                self.record(stage, metrics)
                if not stopped:
                    self.after_evaluation(stage)
            while self.state.step < self.num_steps and not stopped:
                stopped = self._step(stage, progress)
            if stopped and self.dist.is_main:
                log.warning("stopped by a signal after step %d of %d", self.state.step, self.num_steps)
            self.save(stage)
        if self.dist.is_main:
            if self.state.step == self.num_steps and not stopped:
                stage.run.finish(self.state.step)
            self._summarize(stage)

    def _step(self, stage: Stage, progress: Progress) -> bool:
        """Make a step and what is due after it; returns whether a signal asked to end (the same on all ranks)."""
        started = time.monotonic()
        with self.failures_explained(stage.run):
            metrics = self.train_one()
        self.state.step += 1
        metrics["step_seconds"] = time.monotonic() - started
        self.state.seconds += metrics["step_seconds"]
        progress.update(note=self.note(metrics))
        last = self.state.step == self.num_steps
        # Agreed among the ranks: evaluations and checkpoints are collectives, which a rank that has stopped alone would
        # leave the others waiting in.
        stopping = self.stop.agreed()
        evaluated = not stopping and (self.eval_trigger.due(self.state.step) or last)
        if evaluated:
            validation, stopping = self._validate()
            metrics |= validation
        # Before whatever may fail: a step that was made has its record, and one record only.
        self.record(stage, metrics)
        if evaluated and not stopping:
            self.after_evaluation(stage)
        if not stopping:
            self.after_step(stage)
        # After the last step, and when stopped, `run` saves.
        if not (stopping or last) and self.wants_save():
            self.save(stage)
        return stopping

    def _validate(self) -> tuple[dict[str, float], bool]:
        """Evaluate; returns the metrics, and whether a signal asked to end meanwhile (the same on all ranks)."""
        metrics = {f"valid/{name}": value for name, value in self.evaluate().items()}
        # A signal may have cut the evaluation short: then it does not count, and a resumed run makes it again.
        stopping = self.stop.agreed()
        if not stopping:
            self.state.evaluated = self.state.step
        return metrics, stopping

    def wants_save(self) -> bool:
        """Return whether to save after this step; all ranks ask together."""
        return self.save_trigger.due(self.state.step)

    def note(self, metrics: dict[str, float]) -> str:
        """Describe a step for the progress line."""
        return f"loss {metrics['loss']:.3f}"

    def record(self, stage: Stage, metrics: dict[str, float]) -> None:
        """Write the metrics of a step down (rank 0): one record for each step, with those of its evaluation."""
        self.last_metrics |= metrics
        if self.dist.is_main and metrics:
            stage.run.metrics(self.state.step, **metrics)
            stage.tracker.log(metrics, self.state.step)

    def save(self, stage: Stage) -> None:
        """Save a checkpoint, unless this step has one. All ranks call it together."""
        if self.saved:
            return
        self.state.data = self.data_state()
        self.state.since_evaluation = self.eval_trigger.elapsed()
        path = self.write_checkpoint(stage.run.path, self.keep_checkpoints)
        if self.dist.is_main:
            stage.run.event("checkpoint", step=self.state.step, path=path.name)
            log.info("saved %s", path)

    @property
    def checkpoint_name(self) -> str:
        """The name of the checkpoint of the present step in the run directory."""
        return f"model_{self.state.step}.pt"

    def summary(self) -> dict[str, str]:
        """Return what the last lines of the log report, in order; stages add their own numbers."""
        lines = {"steps": f"{self.state.step} of {self.num_steps} in {clock(self.state.seconds)}"}
        names = [name for name in self.last_metrics if name.startswith("valid/")]
        if "loss" in self.last_metrics:
            names.insert(0, "loss")
        for name in names:
            lines[name.replace("valid/", "validation ").replace("_", " ")] = f"{self.last_metrics[name]:.4f}"
        memory = f"{short(peak_memory_bytes(self.dist.device))}B"
        lines["peak memory"] = f"{memory} ({self.dist.device.type}, one rank)"
        return lines

    def _summarize(self, stage: Stage) -> None:
        run = run_name(stage.run.path)
        for name, text in self.summary().items():
            log.info("%s: %s", name, text)
        log.info("checkpoint: %s", stage.run.path / self.checkpoint_name)
        if self.state.step < self.num_steps:
            log.info("to resume: python -m nanoproof.%s --resume-from %s", self.stage_name, run)
        else:
            where = {"run": run, "path": stage.run.path, "checkpoint": self.checkpoint_name}
            log.info("next: %s", self.next_command.format(**where))


class TrainingLoop(StageLoop, Trainer[StageState]):
    """A stage of training on a network of ours."""

    def __init__(
        self,
        run_options: options.RunOptions,
        start: options.StartOptions,
        triggers: options.TriggerOptions,
        model_options: options.ModelOptions,
        optim: options.OptimizerOptions,
        dist: DistInfo,
        lora: LoraOptions | None = None,
    ) -> None:
        """Load a fresh model, the one of `--model-path`, or the last checkpoint of `--resume-from`."""
        self.prepare(run_options, triggers)

        def load() -> tuple[GPT, Tokenizer]:
            model, tokenizer = load_or_build_model(model_options, start.checkpoint.model_path, dist, run_options.seed)
            return self.adapt(model), tokenizer

        super().__init__(start, optim, dist, StageState(), load, lora, run_options.seed)
        if start.resume_from is not None:
            self.eval_trigger.resume(self.state.since_evaluation)
        self.stop = StopSignal()

    def adapt(self, model: GPT) -> GPT:
        """Return the model that a new run trains, given the one that it starts from."""
        return model


def train(loop_class: type[TrainingLoop], groups: Sequence[type], args: argparse.Namespace) -> int:
    """Build the loop from one instance of each group of options (in the order of its constructor), and run it."""
    run_options, wanted = from_args(options.RunOptions, args), from_args(options.ComputeOptions, args)
    values: list[Any] = [from_args(group, args) for group in groups]
    dist = start_ranks(run_options)
    build: Callable[..., TrainingLoop] = loop_class
    try:
        compute = choose_compute(dist.device, dist.dtype, wanted.attention, wanted.compile, wanted.fp8)
        run_loop(build(*values, dist), compute, args, run_options, dist)
    finally:
        cleanup()
    return 0


def run_loop(
    loop: StageLoop, compute: Compute | None, args: argparse.Namespace, run_options: options.RunOptions, dist: DistInfo
) -> None:
    """Make the run directory of a loop, and run it to its end; `compute` is for networks of ours."""
    with ExitStack() as stack:
        stack.callback(loop.close)
        loop.start.check_length(loop.state.step, loop.num_steps)
        decisions = loop.decisions()
        if compute is not None:
            compute.apply(loop.model)
            decisions = {**compute.decisions(), **decisions}
        resumed = args.resume_from is not None
        step: int | None = None
        if resumed:
            step = loop.saved_step
        stage = start_stage(loop.stage_name, run_options, vars(args), dist, decisions, resumed, step)
        stack.callback(stage.run.close)
        stack.callback(stage.tracker.close)
        loop.run(stage)
