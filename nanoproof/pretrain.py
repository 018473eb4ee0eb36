"""Pretraining: train a language model from scratch.

python -m nanoproof.pretrain --depth 20 --run d20
torchrun --standalone --nproc_per_node=8 -m nanoproof.pretrain -- --depth 20 --run d20
python -m nanoproof.pretrain --depth 4 --aspect-ratio 48 --head-dim 32 --sequence-len 256 --data nanolean
python -m nanoproof.pretrain --resume-from pretrain/RUN
"""

from nanoproof.common.errors import run_main
from nanoproof.training import options
from nanoproof.training.schedule import PretrainLength
from nanoproof.training.setup import parse_stage

GROUPS = (
    options.RunOptions,
    options.StartOptions,
    options.TriggerOptions,
    options.TextOptions,
    PretrainLength,
    options.ModelOptions,
    options.OptimizerOptions,
)
DEFAULTS = {
    "eval_every": "250steps",
    "save_every": "1:00:00",
    "keep_checkpoints": 3,
    "unembedding_lr": 0.008,
    "weight_decay": 0.28,
    "momentum_warmup_steps": 300,
    "init_lr_frac": 1.0,
    "warmup_frac": 0.005,
    "warmdown_frac": 0.65,
    "final_lr_frac": 0.05,
}


def main(argv: list[str] | None = None) -> int:
    """Train, and return the exit code."""
    args = parse_stage("pretrain", (*GROUPS, options.ComputeOptions), __doc__ or "", argv, DEFAULTS)
    from nanoproof.training.loop import train  # what imports torch comes after the options, which may be mistyped
    from nanoproof.training.pretraining import Pretraining

    return train(Pretraining, GROUPS, args)


if __name__ == "__main__":
    run_main(main)
