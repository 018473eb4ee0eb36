"""GRPO: tactics sampled in groups, made likelier by what they are worth, by Lean's verdict or a function.

python -m nanoproof.grpo --model-path sft/RUN --data nanolean --reward lean --lora 16
python -m nanoproof.grpo --model-path sft/RUN --data nanolean --reward rewards.py:shortest
python -m nanoproof.grpo --model-path hf:PATH_OR_ID --data nanolean --reward lean
python -m nanoproof.grpo --resume-from grpo/RUN
"""

import argparse

from nanoproof.common.errors import run_main
from nanoproof.model.lora import LoraOptions
from nanoproof.training import options
from nanoproof.training.grpo import GRPO, GRPOOptions
from nanoproof.training.hub_finetuning import means_hub
from nanoproof.training.hub_grpo import hub_grpo_main
from nanoproof.training.loop import train_main
from nanoproof.training.named_data import chosen_transitions
from nanoproof.training.rewards import RewardOptions

GROUPS = (
    options.RunOptions,
    options.StartOptions,
    options.TriggerOptions,
    GRPOOptions,
    RewardOptions,
    LoraOptions,
    options.OptimizerOptions,
)
DEFAULTS = {"eval_every": "20steps", "init_lr_frac": 0.02, "warmdown_frac": 0.5}
"""Learning rates begin as low as those of reinforcement learning."""


def choose_data(args: argparse.Namespace) -> None:
    """Replace `--data auto` by the data set that is there; raises UserError if that is not unique."""
    args.data = chosen_transitions(args.data)


def main(argv: list[str] | None = None) -> int:
    """Train, and return the exit code."""
    if means_hub(argv):
        return hub_grpo_main(argv, (__doc__ or "").splitlines()[0])
    return train_main(GRPO, GROUPS, __doc__ or "", argv, DEFAULTS, choose_data)


if __name__ == "__main__":
    run_main(main)
