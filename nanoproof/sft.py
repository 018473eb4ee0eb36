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

from nanoproof.common.config import Given
from nanoproof.common.errors import run_main
from nanoproof.model.network_options import LoraOptions
from nanoproof.training import options
from nanoproof.training.named_data import choose_data
from nanoproof.training.setup import means_hub, parse_hub_sft, parse_stage

GROUPS = (
    options.RunOptions,
    options.StartOptions,
    options.TriggerOptions,
    options.SFTOptions,
    LoraOptions,
    options.ModelOptions,
    options.BatchOptions,
    options.OptimizerOptions,
)


def main(argv: Given = None) -> int:
    """Train by a command line, or by options from Python, and return the exit code."""
    # What imports torch comes after the options, which may be mistyped.
    if means_hub(argv):
        args = parse_hub_sft(argv, __doc__ or "")
        from nanoproof.training.hub_finetuning import train_hub

        return train_hub(args)
    args = parse_stage("sft", (*GROUPS, options.ComputeOptions), __doc__ or "", argv, choose=choose_data)
    from nanoproof.training.finetuning import Finetuning
    from nanoproof.training.loop import train

    return train(Finetuning, GROUPS, args)


if __name__ == "__main__":
    run_main(main)
