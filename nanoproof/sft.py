"""Supervised finetuning on transitions: proof state -> tactic and proof depth.

python -m nanoproof.sft --model-path midtrain/RUN --data path/to/leantree_mathlib.jsonl
python -m nanoproof.sft --depth 4 --aspect-ratio 48 --head-dim 32 --data nanolean
torchrun --standalone --nproc_per_node=2 -m nanoproof.sft ...
python -m nanoproof.sft --resume-from sft/RUN
python -m nanoproof.sft --model-path sft/RUN --data nanolean --continuations proof      # statement -> whole proof
python -m nanoproof.sft --model-path sft/RUN --data nanolean --lora 16                  # adapters alone
python -m nanoproof.sft --model-path hf:PATH_OR_ID --data nanolean                      # a model of transformers
python -m nanoproof.sft --model-path SPEC --data FILE.json     # rows {"prompt", "target", "weight"}, for either kind
"""

import argparse

from nanoproof.common.config import Given
from nanoproof.common.errors import run_main
from nanoproof.model.lora import LoraOptions
from nanoproof.training import options
from nanoproof.training.finetuning import Finetuning, SFTOptions
from nanoproof.training.hub_finetuning import hub_main, means_hub
from nanoproof.training.loop import train_main
from nanoproof.training.named_data import chosen_transitions

GROUPS = (
    options.RunOptions,
    options.StartOptions,
    options.TriggerOptions,
    SFTOptions,
    LoraOptions,
    options.ModelOptions,
    options.BatchOptions,
    options.OptimizerOptions,
)


def choose_data(args: argparse.Namespace) -> None:
    """Replace `--data auto` by the data set that is there; raises UserError if that is not unique."""
    args.data = chosen_transitions(args.data)


def main(argv: Given = None) -> int:
    """Train by a command line, or by options from Python, and return the exit code."""
    if means_hub(argv):
        return hub_main(argv, __doc__.splitlines()[0] if __doc__ else "")
    return train_main(Finetuning, GROUPS, __doc__ or "", argv, choose=choose_data)


if __name__ == "__main__":
    run_main(main)
