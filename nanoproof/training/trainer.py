"""What pretraining, finetuning and reinforcement learning share: model, optimizer and loop state.

A trainer loads or resumes them, saves them to checkpoints, and explains a step that fails: one for which memory does
not suffice, or whose loss or gradient is not finite.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import torch

from nanoproof.common.config import to_dict
from nanoproof.common.distributed import DistInfo, is_out_of_memory
from nanoproof.common.errors import UserError
from nanoproof.common.process import peak_memory_bytes
from nanoproof.common.run_dir import RunDir, home, resolve_model_path, resolve_run_dir, run_name
from nanoproof.model import checkpoint
from nanoproof.model.checkpoint_files import find_checkpoint, read_manifest, weights_sha256
from nanoproof.model.gpt import GPT, GPTConfig
from nanoproof.model.lora import LoraSettings, add_adapters, describe_adapters, settings_of
from nanoproof.model.network_options import LoraOptions
from nanoproof.model.optim import MuonAdamW, NonFiniteLoss
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.training.options import ModelOptions, OptimizerOptions, StartOptions
from nanoproof.training.schedule import learning_rate_factor, short
from nanoproof.training.setup import check_stage
from nanoproof.training.step import FailedStep, build_optimizer


@dataclass
class LoopState:
    """Where a loop is: what a checkpoint stores beside weights and optimizer state; loops add fields of their own.

    `seconds` are those of the whole run so far, before each resumption too; `since_evaluation` those from the last
    evaluation to the checkpoint.
    """

    step: int = 0
    seconds: float = 0.0
    since_evaluation: float = 0.0


S = TypeVar("S", bound=LoopState)


class BaseTrainer(ABC, Generic[S]):
    """What a loop on any network has: its `state`, its schedule, and an explanation of steps that fail."""

    stage_name: ClassVar[str]
    memory_advice: ClassVar[str] = "try a smaller --device-batch-size"
    """What may help when a step runs out of memory."""
    model: Any

    def __init__(self, start: StartOptions, optim: OptimizerOptions, dist: DistInfo, state: S) -> None:
        self.start, self.optim, self.dist = start, optim, dist
        self.state = state
        self.saved_step = -1
        """The step of the last checkpoint; -1 before the first one."""

    @property
    def saved(self) -> bool:
        """Whether there is a checkpoint of the present weights."""
        return self.saved_step == self.state.step

    @property
    def last_saved(self) -> str:
        """What is left of a run that cannot go on."""
        return f"the last checkpoint is of step {self.saved_step}" if self.saved_step >= 0 else "nothing is saved"

    def lr_factor_at(self, progress: float) -> float:
        """Return the schedule's factor on the learning rates at `progress` (0 to 1) through the run."""
        options = self.optim
        return learning_rate_factor(
            progress, options.warmup_frac, options.warmdown_frac, options.init_lr_frac, options.final_lr_frac
        )

    @abstractmethod
    def write_checkpoint(self, run_path: Path, keep: int | None, protect: Collection[int] = ()) -> Path:
        """Save a checkpoint and prune all but the newest `keep` and those of the steps `protect` (a collective)."""

    @contextmanager
    def failures_explained(self, run: RunDir) -> Iterator[None]:
        """Raise what ends a step anew, with its number and what a user can do or read.

        Raises UserError for memory that does not suffice. Raises NonFiniteLoss for a loss or gradient that is not
        finite, once each rank has written its batch to the run directory (`FailedStep.write_to`).
        """
        try:
            yield
        except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            raise UserError(
                f"step {self.state.step + 1}: out of memory on {self.dist.device} "
                f"({short(peak_memory_bytes(self.dist.device))}B in use at most); {self.memory_advice}"
            ) from error
        except NonFiniteLoss as error:
            step, what_remains = self.state.step + 1, self.last_saved
            # No checkpoint is written: the next step from there would fail again, and hide the last one that did not.
            if isinstance(error, FailedStep):
                record = error.write_to(run.path, step, self.dist.rank, self.model)
                run.event("not_finite", step=step, problem=str(error), path=record.name)
                what_remains += f"; {record} tells of the step"
            raise NonFiniteLoss(f"step {step}: {error}; the run ends here, {what_remains}") from error


class Trainer(BaseTrainer[S]):
    """Model, tokenizer, optimizer and `state` of a loop: fresh ones, or those of the last checkpoint of a run."""

    model: GPT

    def __init__(
        self,
        start: StartOptions,
        optim: OptimizerOptions,
        dist: DistInfo,
        state: S,
        load: Callable[[], tuple[GPT, Tokenizer]],
        lora: LoraOptions | None = None,
        seed: int = 0,
    ) -> None:
        """Resume the run `--resume-from`; without one, take the model that `load` returns, and `state` as it is.

        With a rank in `lora` only adapters are trained, drawn from `seed`.

        Raises UserError if there is no checkpoint, or if it is of another stage.
        """
        super().__init__(start, optim, dist, state)
        self.lora = lora or LoraOptions()
        if start.resume_from is None:
            self.model, self.tokenizer = load()
            if self.lora.lora is not None:
                self._adapt_to_base(seed)
            self.optimizer = self.fresh_optimizer()
        else:
            self._resume(resolve_run_dir(start.resume_from, "--resume-from"))

    def _resume(self, path: Path) -> None:
        check_stage(read_manifest(path), self.stage_name, path)
        self.model, self.tokenizer, manifest = checkpoint.load_trained(path, self.dist.device, self.dist.dtype)
        adapters = settings_of(self.model)
        if adapters is None and self.lora.lora is not None:
            raise UserError(f"--lora {self.lora.lora}: --resume-from {path} trains the whole network")
        # The optimizer's state is that of adapters of one shape: with another, it would be of other matrices.
        if adapters is not None and (differences := adapters.differences(self.lora)):
            raise UserError(f"--resume-from {path} trains adapters: {'; '.join(differences)}")
        try:
            self.state = type(self.state)(**manifest["extra"]["loop"])
        except (KeyError, TypeError) as error:
            raise UserError(f"--resume-from {path}: the checkpoint does not say where the loop was: {error}") from error
        self.saved_step = self.state.step
        self.optimizer = self.fresh_optimizer()
        if not self.start.resume_fresh_optimizer:
            self.load_optimizer(path)

    def load_optimizer(self, path: Path) -> None:
        """Restore the optimizer's state of a run's last checkpoint (a collective)."""
        checkpoint.load_optimizer(path, self.optimizer, self.dist)

    def _adapt_to_base(self, seed: int) -> None:
        """Put fresh adapters into the model of `--model-path`."""
        if self.start.checkpoint.model_path is None:
            raise UserError(f"--lora {self.lora.lora} adapts a network that there is: give --model-path")
        base = find_checkpoint(resolve_model_path(self.start.checkpoint.model_path))
        name = run_name(base.with_suffix(".pt").resolve())
        # Adapters are saved alone: name and hash of their base say on which weights they may be put again.
        add_adapters(self.model, LoraSettings.of(self.lora, seed, name, weights_sha256(base)))

    def fresh_optimizer(self) -> MuonAdamW:
        """Make the optimizer of the model, which knows nothing yet."""
        return build_optimizer(self.model, self.optim, self.lora.lora_lr)

    def adapter_decisions(self) -> dict[str, str]:
        """Describe the adapters that are trained, for the log; nothing where the whole network is."""
        adapters = settings_of(self.model)
        if adapters is None:
            return {}
        return {"lora": describe_adapters(self.model, adapters)}

    def write_checkpoint(self, run_path: Path, keep: int | None, protect: Collection[int] = ()) -> Path:
        """Save a checkpoint and prune all but the newest `keep` and those of the steps `protect` (a collective)."""
        step = self.state.step
        # A step that was too large shows in the loss of the next one only. By then a checkpoint of it is the last one,
        # and those before it, which can be resumed, are pruned.
        if not all(bool(weight.isfinite().all()) for weight in self.model.parameters()):
            raise NonFiniteLoss(f"step {step} left weights that are not finite, which are not saved; {self.last_saved}")
        self.saved_step = step
        extra = {"stage": self.stage_name, "loop": asdict(self.state)}
        path = checkpoint.save_checkpoint(run_path, step, self.model, self.tokenizer, self.optimizer, extra, self.dist)
        if self.dist.is_main:
            checkpoint.prune_checkpoints(run_path, keep, protect=protect)
        return path


def load_or_build_model(
    options: ModelOptions, model_path: str | None, dist: DistInfo, seed: int
) -> tuple[GPT, Tokenizer]:
    """Load `model_path`, or make a model with fresh weights (the same on all ranks) for the tokenizer of `options`.

    Raises UserError if the checkpoint or the tokenizer is missing or of another shape.
    """
    if model_path is not None:
        model, tokenizer, _ = checkpoint.load_model(resolve_model_path(model_path), dist.device, dist.dtype)
        return model, tokenizer
    folder = home() / "tokenizer"
    if options.tokenizer:
        folder = Path(options.tokenizer)
    tokenizer = Tokenizer.load(folder)
    try:
        config = GPTConfig(vocab_size=tokenizer.vocab_size, **to_dict(options.network))
    except ValueError as error:
        raise UserError(str(error)) from error
    # Not the seed of `start_ranks`, which is another on each rank: all ranks train one network.
    torch.manual_seed(seed)
    return GPT.create(config, dist.device, dist.dtype), tokenizer
