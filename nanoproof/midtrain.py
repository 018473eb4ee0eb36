"""Midtraining: continue training a pretrained network (or a fresh one) on Lean code.

python -m nanoproof.midtrain --model-path pretrain/RUN --data leangithubraw
torchrun --standalone --nproc_per_node=8 -m nanoproof.midtrain -- --model-path pretrain/RUN
python -m nanoproof.midtrain --model-path pretrain/RUN --data nanolean --epochs 2
python -m nanoproof.midtrain --resume-from midtrain/RUN
"""

from nanoproof.common.errors import run_main
from nanoproof.training import options
from nanoproof.training.schedule import MidtrainLength
from nanoproof.training.setup import parse_stage

GROUPS = (
    options.RunOptions,
    options.StartOptions,
    options.TriggerOptions,
    options.TextOptions,
    MidtrainLength,
    options.ModelOptions,
    options.OptimizerOptions,
)
DEFAULTS = {
    "data": "leangithubraw",
    "device_batch_size": 16,
    "eval_every": "250steps",
    "save_every": "1:00:00",
    "keep_checkpoints": 3,
}


def main(argv: list[str] | None = None) -> int:
    """Train, and return the exit code."""
    args = parse_stage("midtrain", (*GROUPS, options.ComputeOptions), __doc__ or "", argv, DEFAULTS)
    from nanoproof.training.loop import train  # what imports torch comes after the options, which may be mistyped
    from nanoproof.training.pretraining import Midtraining

    return train(Midtraining, GROUPS, args)


if __name__ == "__main__":
    run_main(main)
