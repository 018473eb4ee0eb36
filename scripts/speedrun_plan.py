"""Estimate the whole pipeline: arithmetic, hours, disk and results of each stage.

python -m scripts.speedrun_plan --depth 20 --gpus 8

Arithmetic is counted as training counts it (nanoproof/model/compute.py); its share of the peak (--mfu), the sizes of
the data and the times of Lean are assumptions, which the page prints.
"""

from dataclasses import dataclass

from nanoproof.common.config import Parser, add_flags, from_args, opt, validated
from nanoproof.common.errors import UserError, run_main
from nanoproof.training.schedule import TOKENS_PER_PARAMETER, duration

VOCABULARY = 50_624
LEANGITHUB_TOKENS = 65e6  # assumed: what is said of the published set, of a longer list; ours is not counted
SFT_TOKENS = 300e6  # assumed: a million packed states, tactics and values of 300 tokens
NEMOTRON_TOKENS, NEMOTRON_SHARDS = 52e9, 45  # of part 4plus, as its makers say
NEMOTRON_BYTES_PER_TOKEN = 2.0  # assumed, of compressed parquet
THEOREMS = 256 + 185  # valid of miniF2F and about half of ProofNet
SIMULATIONS = 64
SECONDS_PER_SIMULATION = 1.5  # assumed: six tactics in Mathlib
EVALUATIONS = 2.5  # solver-only ends early
GB = 1e9


@validated("plan")
class PlanOptions:
    """The machine and the network."""

    depth: int = opt(26, "Layers of the network.", min=1)
    gpus: int = opt(8, "GPUs.", min=1)
    gpu: str = opt("H100", "Their name, as in nanoproof/model/compute.py.")
    mfu: float = opt(0.4, "Share of their peak that training reaches (assumed).", above=0, max=1)
    rl_time: str = opt("48:00:00", "Time of reinforcement learning, H:M:S.")
    lean_processes: int = opt(64, "Lean processes.", min=1)


@dataclass(frozen=True)
class Row:
    """A stage."""

    name: str
    work: str
    hours: float | None
    gigabytes: float
    leaves: str


def rows(options: PlanOptions) -> list[Row]:
    """Return the stages in order. Raises UserError for an unknown GPU, and for a time that cannot be parsed."""
    from nanoproof.model.compute import (  # what imports torch comes after the options, which may be mistyped
        flops_per_token,
        matrix_parameters,
        peak_flops,
    )
    from nanoproof.model.gpt import GPTConfig

    peak = peak_flops(options.gpu)
    if peak is None:
        raise UserError(f"--gpu {options.gpu}: its peak is not known; the table is in nanoproof/model/compute.py")
    config = GPTConfig(depth=options.depth, vocab_size=VOCABULARY)
    weights = sum(matrix_parameters(config).values())
    checkpoint = 12 * (weights + 2 * VOCABULARY * config.width) / GB  # weights and optimizer in fp32
    pretrain = TOKENS_PER_PARAMETER * weights
    shards = min(NEMOTRON_SHARDS, -int(-pretrain * NEMOTRON_SHARDS // NEMOTRON_TOKENS))

    def hours(tokens: float) -> float:
        return tokens * flops_per_token(config) / (peak * options.gpus * options.mfu) / 3600

    def tokens(count: float) -> str:
        return f"{count / 1e9:.2f}B tokens, {count * flops_per_token(config):.1e} FLOPs"

    rl_seconds = duration(options.rl_time, "--rl-time")
    rl_hours = None
    if rl_seconds is not None:
        rl_hours = rl_seconds / 3600
    proving = EVALUATIONS * THEOREMS * SIMULATIONS * SECONDS_PER_SIMULATION / options.lean_processes / 3600
    read = NEMOTRON_BYTES_PER_TOKEN * NEMOTRON_TOKENS / NEMOTRON_SHARDS * shards / GB
    midtrain = LEANGITHUB_TOKENS
    return [
        Row("download", f"nemotron (SHARDS={shards} suffice) and all others", 1.0, read + 5, "data/"),
        Row("tokenizer", "GPT-2's merges and Lean's symbols", 0.0, 0.0, "tokenizer/"),
        Row("pretrain", tokens(pretrain), hours(pretrain), 3 * checkpoint, "pretrain/NAME: a model of mathematics"),
        Row("midtrain", tokens(midtrain), hours(midtrain), 3 * checkpoint, "midtrain/NAME: and of Lean"),
        Row("sft", tokens(SFT_TOKENS), hours(SFT_TOKENS), 2 * checkpoint, "sft/NAME: a policy and a value"),
        Row("lean", "Lean, Mathlib as built, formal_conjectures, the REPL", 1.5, 20.0, "lean/, and a running server"),
        Row("rl", "as long as RL_TIME says", rl_hours, 4 * checkpoint + 20, "rl/NAME: the prover, attempts, proofs"),
        Row(
            "evaluation",
            f"{THEOREMS} theorems x {SIMULATIONS}: solvers, SFT, RL",
            proving,
            1.0,
            "eval_*/ beside models",
        ),
    ]


def page(options: PlanOptions) -> str:
    """Render the table and its assumptions."""
    plan = rows(options)
    lines = [
        f"The whole pipeline, depth {options.depth}, {options.gpus} x {options.gpu}: ESTIMATES, nothing is measured",
        f"  {'stage':<11}{'hours':>7}{'disk GB':>9}  {'what it is':<55}leaves behind",
    ]
    all_hours = all_gigabytes = 0.0
    for row in plan:
        # RL without an end has no hours.
        hours = "?"
        if row.hours is not None:
            hours = f"{row.hours:.1f}"
            all_hours += row.hours
        all_gigabytes += row.gigabytes
        lines.append(f"  {row.name:<11}{hours:>7}{row.gigabytes:>9.0f}  {row.work:<55}{row.leaves}")
    lines.append(f"  {'together':<11}{all_hours:>7.1f}{all_gigabytes:>9.0f}")
    assumptions = (
        f"{100 * options.mfu:.0f}% of the GPUs' peak",
        f"nemotron {NEMOTRON_TOKENS / 1e9:.0f}B tokens at {NEMOTRON_BYTES_PER_TOKEN:g} bytes",
        f"midtraining on {LEANGITHUB_TOKENS / 1e6:.0f}M tokens of Lean",
        f"finetuning on {SFT_TOKENS / 1e6:.0f}M tokens",
        f"{SECONDS_PER_SIMULATION:g} s of Lean for a simulation, {options.lean_processes} processes",
        "12 bytes of checkpoint for a weight, three kept for a stage",
        "a network of 50 MB/s",
    )
    return "\n".join([*lines, f"assumed: {'; '.join(assumptions)}"])


def main(argv: list[str] | None = None) -> int:
    """Print the estimate."""
    parser = Parser(prog="python -m scripts.speedrun_plan", description=(__doc__ or "").splitlines()[0])
    add_flags(parser, PlanOptions)
    print(page(from_args(PlanOptions, parser.parse_args(argv))))
    return 0


if __name__ == "__main__":
    run_main(main)
