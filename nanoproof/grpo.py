"""GRPO: tactics sampled in groups, made likelier by what they are worth, by Lean's verdict or a function.

python -m nanoproof.grpo --model-path sft/RUN --data nanolean --reward lean --lora 16
python -m nanoproof.grpo --model-path sft/RUN --data nanolean --reward rewards.py:shortest
python -m nanoproof.grpo --model-path hf:PATH_OR_ID --data nanolean --reward lean
python -m nanoproof.grpo --resume-from grpo/RUN
"""

from nanoproof.common.errors import UserError, run_main
from nanoproof.model.network_options import LoraOptions
from nanoproof.training import options
from nanoproof.training.named_data import choose_data
from nanoproof.training.setup import means_hub, parse_stage

GROUPS = (
    options.RunOptions,
    options.StartOptions,
    options.TriggerOptions,
    options.GRPOOptions,
    options.RewardOptions,
    LoraOptions,
    options.OptimizerOptions,
)
DEFAULTS = {"eval_every": "20steps", "init_lr_frac": 0.02, "warmdown_frac": 0.5}
"""Learning rates begin as low as those of reinforcement learning."""


def main(argv: list[str] | None = None) -> int:
    """Train, and return the exit code."""
    # What imports torch comes after the options, which may be mistyped.
    if means_hub(argv):
        command = "grpo --model-path hf:PATH_OR_ID"
        args = parse_stage(command, options.HUB_GRPO, __doc__ or "", argv, choose=choose_data)
        if args.resume_from is not None:
            raise UserError(
                "--resume-from: GRPO on models of transformers starts anew; give its last checkpoint-<step>"
            )
        from nanoproof.training.hub_grpo import train_hub_grpo

        return train_hub_grpo(args)
    args = parse_stage("grpo", (*GROUPS, options.ComputeOptions), __doc__ or "", argv, DEFAULTS, choose_data)
    from nanoproof.training.grpo import GRPO
    from nanoproof.training.loop import train

    return train(GRPO, GROUPS, args)


if __name__ == "__main__":
    run_main(main)
