"""Options that the training stages share."""

from dataclasses import dataclass

from nanoproof.common.config import change, check, group, opt, validate
from nanoproof.common.option_groups import CheckpointOption, DeviceOption
from nanoproof.common.run_dir import check_run_name
from nanoproof.common.trackers import TRACKERS
from nanoproof.model.compute import COMPILE_CHOICES
from nanoproof.model.flash_attention import ATTENTION_CHOICES
from nanoproof.model.gpt import NetworkShape

_LEVELS = ("debug", "info", "warning", "error")


@dataclass(frozen=True)
class RunOptions:
    """Run."""

    run: str = opt("dummy", "Name of the run, for its directory and for trackers.")
    run_dir: str | None = opt(
        None, "Directory to write to, instead of a dated one: relative to $NANOPROOF_HOME, or as ./DIR to here."
    )
    seed: int = opt(0, "Seed of every random choice.", min=0)
    device: DeviceOption = group(DeviceOption)
    log_level: str = opt(
        "info", "How much to log.", choices=(*_LEVELS, *(level.upper() for level in _LEVELS)), advanced=True
    )
    loggers: tuple[str, ...] = opt((), "Trackers to send metrics to.", choices=TRACKERS)

    def __post_init__(self) -> None:
        validate(self, "run")
        check_run_name(self.run)  # before data are made for it, which takes minutes


@dataclass(frozen=True)
class StartOptions:
    """Where to start."""

    checkpoint: CheckpointOption = group(
        CheckpointOption, model_path=change(help="Checkpoint whose weights to start from.")
    )
    resume_from: str | None = opt(None, "Run directory to resume; options not given are those of that run.")
    resume_fresh_optimizer: bool = opt(False, "On resuming, start with fresh optimizer state.", advanced=True)
    force: bool = opt(False, "Resume a run whose process died on another machine and left its run.lock.", advanced=True)

    def __post_init__(self) -> None:
        validate(self, "start")
        check(
            self.checkpoint.model_path is None or self.resume_from is None,
            "give either --model-path (a new run) or --resume-from (resume one)",
        )
        check(
            not self.resume_fresh_optimizer or self.resume_from is not None,
            "--resume-fresh-optimizer says how to resume a run; it needs --resume-from",
        )


@dataclass(frozen=True)
class TriggerOptions:
    """When to evaluate and save."""

    eval_every: str = opt("200steps", "When to evaluate: Nsteps, H:M:S or never; always at the end.")
    save_every: str = opt("never", "When to save: Nsteps, H:M:S or never; always at the end.")
    keep_checkpoints: int | None = opt(
        None, "How many checkpoints to keep, the newest; none keeps all.", min=1, advanced=True
    )

    def __post_init__(self) -> None:
        validate(self, "cadence")


@dataclass(frozen=True)
class ModelOptions:
    """Model (when none is loaded)."""

    network: NetworkShape = group(NetworkShape, sequence_len=change(min=16))
    tokenizer: str | None = opt(None, "Directory of the tokenizer; default $NANOPROOF_HOME/tokenizer.")

    def __post_init__(self) -> None:
        validate(self, "model")


@dataclass(frozen=True)
class ComputeOptions:
    """Computing."""

    attention: str = opt("auto", "How attention is computed.", choices=ATTENTION_CHOICES, advanced=True)
    compile: str = opt("auto", "Whether the network is compiled.", choices=COMPILE_CHOICES)
    fp8: bool = opt(False, "Matrix products of the layers in 8 bits (GPUs that have them).", advanced=True)

    def __post_init__(self) -> None:
        validate(self, "compute")


@dataclass(frozen=True)
class OptimizerOptions:
    """Optimizer."""

    matrix_lr: float = opt(0.02, "Learning rate of the matrices (Muon).", min=0)
    embedding_lr: float = opt(0.3, "Learning rate of the token embedding (AdamW).", min=0, advanced=True)
    unembedding_lr: float = opt(0.004, "Learning rate of the output matrix (AdamW).", min=0, advanced=True)
    scalar_lr: float = opt(0.5, "Learning rate of the per-layer scalars (AdamW).", min=0, advanced=True)
    weight_decay: float = opt(0.0, "Weight decay of the matrices.", min=0)
    momentum: float = opt(0.95, "Momentum of the matrices (Muon).", min=0, max=0.999, advanced=True)
    momentum_warmup_steps: int = opt(
        0, "Steps over which the momentum rises from 0.85 to its value.", min=0, advanced=True
    )
    init_lr_frac: float = opt(0.8, "Fraction of the learning rates to start with.", min=0)
    warmup_frac: float = opt(
        0.0, "Fraction of training over which the learning rates rise from 0.", min=0, max=1, advanced=True
    )
    warmdown_frac: float = opt(0.5, "Fraction of training over which they fall at the end.", min=0, max=1)
    final_lr_frac: float = opt(0.0, "Fraction of the learning rates to end with.", min=0, advanced=True)
    max_grad_norm: float = opt(1.0, "Gradients are clipped to this norm (0: never).", min=0, advanced=True)

    def __post_init__(self) -> None:
        validate(self, "optimizer")
        check(
            self.warmup_frac + self.warmdown_frac <= 1,
            f"optimizer.warmup_frac + optimizer.warmdown_frac must be <= 1, "
            f"got {self.warmup_frac} + {self.warmdown_frac}",
            "optimizer",
        )


@dataclass(frozen=True)
class BatchOptions:
    """Batches."""

    target_examples_per_step: int = opt(512, "Examples in one optimizer step, over all ranks.", min=1)
    device_batch_size: int = opt(8, "Packed rows in one forward pass.", min=1)
    row_length: int = opt(768, "Tokens in a packed row.", min=16, advanced=True)
    value_weight: float = opt(0.01, "Weight of the value loss beside the tactic loss.", min=0, advanced=True)

    def __post_init__(self) -> None:
        validate(self, "batch")


@dataclass(frozen=True)
class LearningOptions:
    """How transitions are learned from."""

    augment_data: bool = opt(True, "Rename and reorder what may be in the SFT data, anew in each epoch.")
    balance_value_by_depth: bool = opt(False, "In the value loss, proofs of all lengths count alike.", advanced=True)
