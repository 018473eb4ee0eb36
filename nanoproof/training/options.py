"""Options of the training stages. Nothing here needs torch, which is slow to import."""

from dataclasses import dataclass
from typing import Literal

from nanoproof.common.config import MOST_SEED, change, check, group, opt, validated
from nanoproof.common.errors import UserError
from nanoproof.common.option_groups import CheckpointOption, DeviceOption, LeanOptions
from nanoproof.common.run_dir import check_run_name
from nanoproof.common.trackers import TRACKERS
from nanoproof.data.weighted_rows import is_row_file
from nanoproof.lean.solvers import AUTO
from nanoproof.model.network_options import ATTENTION_CHOICES, COMPILE_CHOICES, LoraOptions, NetworkShape
from nanoproof.policy.policy_options import MAX_LENGTH

_LEVELS = ("debug", "info", "warning", "error")


@validated("run")
class RunOptions:
    """Run."""

    run: str = opt("dummy", "Name of the run, for its directory and for trackers.")
    run_dir: str | None = opt(
        None, "Directory to write to, instead of a dated one: relative to $NANOPROOF_HOME, or as ./DIR to here."
    )
    seed: int = opt(0, "Seed of every random choice.", min=0, max=MOST_SEED)
    device: DeviceOption = group(DeviceOption)
    log_level: str = opt(
        "info", "How much to log.", choices=(*_LEVELS, *(level.upper() for level in _LEVELS)), advanced=True
    )
    loggers: tuple[str, ...] = opt((), "Trackers to send metrics to.", choices=TRACKERS)

    def __post_init__(self) -> None:
        check_run_name(self.run)  # before data are made for it, which takes minutes


@validated("start")
class StartOptions:
    """Where to start."""

    checkpoint: CheckpointOption = group(
        CheckpointOption, model_path=change(help="Checkpoint whose weights to start from.")
    )
    resume_from: str | None = opt(None, "Run directory to resume; options not given are those of that run.")
    resume_fresh_optimizer: bool = opt(False, "On resuming, start with fresh optimizer state.", advanced=True)
    force: bool = opt(False, "Resume a run whose process died on another machine and left its run.lock.", advanced=True)

    def __post_init__(self) -> None:
        check(
            self.checkpoint.model_path is None or self.resume_from is None,
            "give either --model-path (a new run) or --resume-from (resume one)",
        )
        check(
            not self.resume_fresh_optimizer or self.resume_from is not None,
            "--resume-fresh-optimizer says how to resume a run; it needs --resume-from",
        )

    def check_length(self, step: int, num_steps: int) -> None:
        """Raise UserError if the run that is resumed is longer than it is to be."""
        if step > num_steps:
            raise UserError(
                f"--resume-from {self.resume_from}: the run has {step} steps already, "
                f"more than the {num_steps} that the options ask for"
            )


@validated("cadence")
class TriggerOptions:
    """When to evaluate and save."""

    eval_every: str = opt("200steps", "When to evaluate: Nsteps, H:M:S or never; always at the end.")
    save_every: str = opt("never", "When to save: Nsteps, H:M:S or never; always at the end.")
    keep_checkpoints: int | None = opt(
        None, "How many checkpoints to keep, the newest; none keeps all.", min=1, advanced=True
    )


@validated("model")
class ModelOptions:
    """Model (when none is loaded)."""

    network: NetworkShape = group(NetworkShape, sequence_len=change(min=16))
    tokenizer: str | None = opt(None, "Directory of the tokenizer; default $NANOPROOF_HOME/tokenizer.")


@validated("compute")
class ComputeOptions:
    """Computing."""

    attention: str = opt("auto", "How attention is computed.", choices=ATTENTION_CHOICES, advanced=True)
    compile: str = opt("auto", "Whether the network is compiled.", choices=COMPILE_CHOICES)
    fp8: bool = opt(False, "Matrix products of the layers in 8 bits (GPUs that have them).", advanced=True)


@validated("optimizer")
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
        check(
            self.warmup_frac + self.warmdown_frac <= 1,
            f"optimizer.warmup_frac + optimizer.warmdown_frac must be <= 1, "
            f"got {self.warmup_frac} + {self.warmdown_frac}",
            "optimizer",
        )


@validated("batch")
class BatchOptions:
    """Batches."""

    target_examples_per_step: int = opt(512, "Examples in one optimizer step, over all ranks.", min=1)
    device_batch_size: int = opt(8, "Packed rows in one forward pass.", min=1)
    row_length: int = opt(768, "Tokens in a packed row.", min=16, advanced=True)
    value_weight: float = opt(0.01, "Weight of the value loss beside the tactic loss.", min=0, advanced=True)


@dataclass(frozen=True)
class LearningOptions:
    """How transitions are learned from."""

    augment_data: bool = opt(True, "Rename and reorder what may be in the SFT data, anew in each epoch.")
    balance_value_by_depth: bool = opt(False, "In the value loss, proofs of all lengths count alike.", advanced=True)


# -- Text --------------------------------------------------------------------------------------------------------------


@validated("text")
class TextOptions:
    """Text and batches."""

    data: str = opt("nemotron", "nemotron, leangithubraw, nanolean, or a directory or file (parquet, jsonl, txt).")
    device_batch_size: int = opt(32, "Rows in one forward pass.", min=1)
    total_batch_size: int | None = opt(
        None, "Tokens in one step, over all ranks; none takes what suits the length of the run.", min=1
    )
    eval_tokens: int = opt(1_048_576, "Tokens of validation text to evaluate on, at most.", min=1)
    sample_every: str = opt("1000steps", "When to show texts of the model: Nsteps, H:M:S or never; also at the end.")


# -- Finetuning --------------------------------------------------------------------------------------------------------


@validated("sft")
class SFTOptions:
    """Supervised finetuning."""

    data: str = opt(
        AUTO,
        "Transitions: `nanolean`, `leantree`, `repo:NAME`, or a file of LeanTree JSONL; or FILE.json, a list of "
        '{"prompt", "target", "weight"}. auto: leantree if it is here, else this has to be given.',
    )
    eval_data: str | None = opt(
        None, "Rows to validate on, where --data is a file of rows.", metavar="FILE.json", advanced=True
    )
    continuations: Literal["tactic", "proof"] = opt(
        "tactic", "What follows a prefix: tactic, a state's next tactic; proof, a statement's whole proof."
    )
    epochs: float = opt(1.0, "How often each transition is seen; 0 saves the model as it is.", min=0)
    learning: LearningOptions = group(
        LearningOptions, augment_data=change(help="Rename and reorder what may be, anew in each epoch.")
    )
    prefix_lm: bool = opt(False, "State tokens see each other both ways; a model made so stays so.")
    state_after_weight: float = opt(
        0.0, "Weight of predicting the goals that the tactic leaves (0: not at all).", min=0, advanced=True
    )
    max_eval_examples: int | None = opt(None, "Evaluate on so many validation transitions, evenly spread.", min=1)
    save_epochs: bool = opt(True, "Save a checkpoint after each epoch.", advanced=True)

    def __post_init__(self) -> None:
        rows = is_row_file(self.data)
        check(self.eval_data is None or rows, f"--eval-data goes with --data FILE.json, not with {self.data}")
        check(not rows or self.state_after_weight == 0, "--state-after-weight: rows of texts have no goals")
        check(
            not rows or not self.learning.balance_value_by_depth,
            "--balance-value-by-depth: rows of texts have no depth",
        )


@validated("sft")
class HubOptions:
    """Finetuning of models of transformers."""

    data: str = opt(
        AUTO,
        "Transitions: `nanolean`, `leantree`, a file of LeanTree JSONL, or a folder as LeanDojo exports; or FILE.json, "
        'a list of {"prompt", "target", "weight"}. auto: leantree if it is here, else this has to be given.',
    )
    eval_data: str | None = opt(
        None, "Rows to validate on, where --data is a file of rows.", metavar="FILE.json", advanced=True
    )
    prompt_format: str | None = opt(
        None,
        "How a state is asked for a tactic (default: the format that the model was trained with, or `chat`); with rows "
        "of texts, how the model will be asked for proofs (default: the same, or `stp`).",
    )
    value_weight: float = opt(
        0.0,
        "Weight of the value loss beside that of the tactics (0: no value head): a search then knows how far each "
        "state is from a proof.",
        min=0,
    )
    epochs: float = opt(1.0, "How often each transition is seen; 0 saves the model as it is.", min=0)
    lr: float = opt(2e-5, "Learning rate of the whole model (AdamW); adapters have --lora-lr.", min=0)
    weight_decay: float = opt(0.0, "Weight decay.", min=0, advanced=True)
    warmup_frac: float = opt(
        0.0, "Fraction of training over which the learning rate rises from 0; then it falls to 0.", min=0, max=0.99
    )
    constant_lr: bool = opt(False, "After its rise the learning rate stays as it is.", advanced=True)
    beta2: float = opt(0.999, "AdamW's second beta.", min=0, max=0.99999, advanced=True)
    epsilon: float = opt(1e-8, "AdamW's epsilon.", above=0, advanced=True)
    max_grad_norm: float = opt(1.0, "Gradients are clipped to this norm (0: never).", min=0, advanced=True)
    target_examples_per_step: int = opt(32, "Examples in one optimizer step, over all ranks.", min=1)
    device_batch_size: int = opt(8, "Examples in one forward pass.", min=1)
    shard: bool = opt(
        False,
        "Under torchrun: weights, gradients and optimizer over the ranks (FSDP2).",
        advanced=True,
    )
    max_length: int = opt(
        1024,
        "Most tokens of prompt and answer (of either, in an encoder-decoder); longer ones are left out, of rows of "
        "texts the end is kept.",
        min=2,
    )
    max_eval_examples: int | None = opt(None, "Evaluate on so many validation transitions, evenly spread.", min=1)

    def __post_init__(self) -> None:
        rows = is_row_file(self.data)
        check(not (rows and self.value_weight), "--value-weight goes with transitions: rows of texts have no depths")
        check(self.eval_data is None or rows, f"--eval-data goes with --data FILE.json, not with {self.data}")


# -- GRPO --------------------------------------------------------------------------------------------------------------

LEAN = "lean"


@validated("grpo")
class GRPOOptions:
    """GRPO."""

    data: str = opt(
        AUTO,
        "Where states come from: `nanolean`, `leantree`, `repo:NAME`, LeanTree JSONL, or a folder as LeanDojo exports.",
    )
    num_generations: int = opt(8, "Completions of each state: its group.", min=2)
    batch_size: int = opt(64, "Completions in one step, over all ranks; rounded up to whole groups.", min=1)
    epochs: float = opt(1.0, "How often each state is seen; 0 saves the model as it is.", min=0)
    max_steps: int | None = opt(None, "At most so many steps.", min=1)
    max_completion_length: int = opt(64, "Most tokens of a completion.", min=1)
    iterations: int = opt(1, "Updates with each batch.", min=1, advanced=True)
    epsilon: float = opt(0.2, "Ratios of probabilities are clipped to 1 +- epsilon.", above=0, max=1, advanced=True)
    demonstration_weight: float = opt(
        0.0, "Learn the data's own tactics of the states as well, those of a state with this advantage.", min=0
    )
    eval_states: int = opt(64, "Held-out states that evaluations sample from.", min=0)
    device_batch_size: int = opt(8, "Rows in one forward pass.", min=1)
    row_length: int = opt(768, "Tokens in a packed row.", min=64, advanced=True)


@validated("grpo")
class HubGRPOOptions:
    """GRPO on models of transformers."""

    data: str = opt(
        AUTO,
        "Where states come from: `nanolean`, `leantree`, `repo:NAME`, LeanTree JSONL, or a folder as LeanDojo exports.",
    )
    prompt_format: str | None = opt(
        None, "How a state is asked for a tactic (default: the format that the model was trained with, or `chat`)."
    )
    num_generations: int = opt(8, "Completions of each state: its group.", min=2)
    batch_size: int = opt(8, "Completions in one step; rounded up to whole groups.", min=1)
    epochs: float = opt(1.0, "How often each state is seen.", above=0)
    max_steps: int | None = opt(None, "At most so many steps.", min=1)
    lr: float = opt(2e-5, "Learning rate (AdamW), which falls linearly to 0; adapters have --lora-lr.", min=0)
    max_completion_length: int = opt(256, "Most tokens of a completion.", min=1)
    max_length: int = opt(1024, "Most tokens of prompt and completion; longer states are left out.", min=2)
    temperature: float = opt(1.0, "Temperature of the samples.", above=0)
    beta: float = opt(0.0, "Weight of the divergence from the model at first; 0 keeps no such model.", min=0)


@validated("reward")
class RewardOptions:
    """Reward."""

    reward: str = opt(LEAN, "What completions are worth: lean, or FILE.py:FUNCTION.", metavar="lean|FILE:FUNCTION")
    reward_changed: float = opt(0.5, "Worth of a tactic that changes the goals (lean).", min=0)
    reward_shorter: float = opt(
        0.25, "Added to it where the value head then expects fewer tactics (lean); 0 asks no value head.", min=0
    )
    reward_closed: float = opt(1.0, "Worth of a tactic that leaves no goal (lean).", min=0)
    reward_shared: bool = opt(
        False,
        "Tactics of a group that leave the same goals share the worth of one, those that leave none apart (lean).",
    )
    value_model: str | None = opt(
        None,
        "Checkpoint whose value head that is (default: the one of --model-path as it is at first, if it is ours).",
        advanced=True,
    )
    servers: LeanOptions = group(LeanOptions, "lean-", without=("project",))
    lean_processes: int = opt(2, "Lean processes that judge at a time.", min=1)


# -- Steps remaining ---------------------------------------------------------------------------------------------------

SCRATCH = "scratch"
"""In place of a model: a small encoder with fresh weights, and a vocabulary made of the rows."""


@validated("progress")
class ProgressSettings:
    """Training of steps remaining."""

    model_name: str = opt(
        "bert-base-uncased",
        f"Encoder to start from, a folder or an id of the hub; {SCRATCH}: a small one with fresh weights.",
    )
    max_length: int = opt(MAX_LENGTH, "Most tokens of a text; longer ones lose their beginning.", min=8)
    batch_size: int = opt(8, "Rows in one step.", min=1)
    epochs: float = opt(3.0, "How often each row is seen.", above=0)
    learning_rate: float = opt(1e-5, "Learning rate (AdamW, weight decay 0.01), which falls linearly to 0.", min=0)
    eval_ratio: float = opt(0.2, "Share of the rows that is held out.", above=0, max=0.9)
    seed: int = opt(42, "Seed of the split, of the order, and of fresh weights.", min=0, max=MOST_SEED)


# -- Models of transformers: groups of options, and defaults in which their stages differ from the groups --------------

HUB_SFT = (RunOptions, StartOptions, TriggerOptions, HubOptions, LoraOptions)
HUB_SFT_DEFAULTS = {"save_every": "0:30:00", "keep_checkpoints": 2}
HUB_GRPO = (RunOptions, StartOptions, HubGRPOOptions, RewardOptions, LoraOptions)
