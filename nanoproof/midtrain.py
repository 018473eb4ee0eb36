"""Midtraining: continue training a pretrained network (or a fresh one) on Lean code.

python -m nanoproof.midtrain --model-path pretrain/RUN --data leangithubraw
torchrun --standalone --nproc_per_node=8 -m nanoproof.midtrain -- --model-path pretrain/RUN
python -m nanoproof.midtrain --model-path pretrain/RUN --data nanolean --epochs 2
python -m nanoproof.midtrain --resume-from midtrain/RUN
"""

from nanoproof.common.errors import run_main
from nanoproof.training.loop import train_main
from nanoproof.training.options import ModelOptions, OptimizerOptions, RunOptions, StartOptions, TriggerOptions
from nanoproof.training.pretraining import Midtraining, TextOptions
from nanoproof.training.schedule import MidtrainLength

GROUPS = (RunOptions, StartOptions, TriggerOptions, TextOptions, MidtrainLength, ModelOptions, OptimizerOptions)
DEFAULTS = {
    "data": "leangithubraw",
    "device_batch_size": 16,
    "eval_every": "250steps",
    "save_every": "1:00:00",
    "keep_checkpoints": 3,
}


def main(argv: list[str] | None = None) -> int:
    """Train, and return the exit code."""
    return train_main(Midtraining, GROUPS, __doc__ or "", argv, DEFAULTS)


if __name__ == "__main__":
    run_main(main)
