"""Does RL make a decoder of transformers a better prover? Small ones, on NanoLean, on a few cores.

python -m scripts.rl_hub --arm lora --seed 0          # half an hour of RL beside finetuning and two evaluations
python -m scripts.rl_hub --arm lora --seed 1
python -m scripts.rl_hub --arm whole --seed 0 --shape qwen2
python -m scripts.rl_hub --arm lora --seed 0 --quick  # everything very small, to see it run

An arm and a seed are one run, which the same command goes on with where it was stopped. A Llama (or Qwen) of about a
million parameters with a tokenizer of ours is finetuned with a value head, then learns by RL; both are scored on the
held-out test theorems by the same search, with solvers at every node. `table.md` in the output folder has all that is
there so far, compared in pairs.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from nanoproof.common.config import Parser, add_flags, from_args, opt, to_dict, validated
from nanoproof.common.errors import run_main
from nanoproof.common.files import atomic_write_text
from nanoproof.common.run_dir import home
from nanoproof.evaluation.compare import Evaluated, compare, read_evaluation
from scripts import small_runs

ADAPTERS = ["--lora", "16", "--lora-targets", "q,k,v,o,up,down"]
TACTIC = ["--model-tactic-tokens", "56"]
STAGES = ("sft", "rl")
TITLES = {"sft": "finetuning", "rl": "RL"}


@validated("rl_hub")
class HubRunOptions:
    """RL of a small decoder of transformers."""

    arm: Literal["lora", "whole"] = opt("lora", "What RL trains: adapters of rank 16, or the whole network.")
    seed: int = opt(0, "Seed of weights, data and search.", min=0)
    shape: Literal["llama", "qwen2"] = opt("llama", "Kind of network.")
    minutes: float = opt(30.0, "Minutes of RL.", above=0)
    sft_epochs: float = opt(9.0, "Epochs of supervised finetuning before.", above=0)
    theorems: int = opt(120, "Test theorems of each set to score on, the first so many.", min=1)
    simulations: int = opt(64, "Simulations for each of them.", min=1)
    quick: bool = opt(False, "Everything very small, to see it run.")
    out: str | None = opt(None, "Where to write; default $NANOPROOF_HOME/rl_hub (rl_hub_quick).")

    def quick_version(self) -> "HubRunOptions":
        """Return the same options with very small sizes."""
        return replace(self, minutes=0.4, sft_epochs=0.1, theorems=8, simulations=8)


@dataclass
class HubRun:
    """The stages of an arm and a seed, each of which is skipped if it is there."""

    options: HubRunOptions
    out: Path
    commands: small_runs.Commands

    @property
    def folder(self) -> Path:
        """Where this seed's networks are; the finetuned one is that of both arms."""
        return self.out / f"{self.options.shape}_{self.options.seed}"

    def run(self) -> None:
        """Make, finetune, score, learn, score."""
        options, tokenizer = self.options, self.out / "tokenizer"
        self.commands.data_and_tokenizer(tokenizer)
        base, sft, rl = self.folder / "base", self.folder / "sft", self.folder / options.arm
        if not (base / "config.json").exists():
            command = ["scripts.tiny_decoder", str(base), "--shape", options.shape, "--tokenizer", str(tokenizer)]
            self.commands.run("decoder", "Making a decoder", [*command, "--seed", str(options.seed)])
        # Larger rates than for published networks: this one begins with random weights.
        command = ["nanoproof.sft", "--model-path", f"hf:{base}", "--data", "nanolean", "--value-weight", "0.1"]
        command += ["--epochs", f"{options.sft_epochs:g}", "--lr", "0.002", "--lora-lr", "0.002"]
        command += ["--warmup-frac", "0.02", "--target-examples-per-step", "64", "--device-batch-size", "64"]
        command += ["--max-length", "320", "--max-eval-examples", "500", "--eval-every", "500steps"]
        command += ["--device-type", "cpu", "--prompt-format", "bfs-prover", "--seed", str(options.seed)]
        command += ["--save-every", "0:05:00"]
        self.commands.train("sft", "Supervised finetuning with a value head", command, sft)
        self.score(sft, "sft")
        self.commands.train("rl", f"RL for {options.minutes:g} minutes", self.rl_command(sft), rl)
        self.score(rl, "rl")
        write_table(self.out)

    def rl_command(self, sft: Path) -> list[str]:
        """Return the command of RL, without its directory."""
        options = self.options
        command = ["nanoproof.rl", "--model-path", last_spec(sft), "--seed", str(options.seed)]
        command += [*small_runs.RL, *TACTIC, "--lean-processes", str(self.commands.lean_processes)]
        # The score is that of the last checkpoint on test, made afterwards: half an hour is for learning alone.
        command += ["--eval-every", "never", "--no-eval-start"]
        command += ["--max-eval-theorems", "20", "--num-simulations-eval", str(options.simulations)]
        command += ["--mm-base-simulations", str(max(1, options.simulations // 4))]
        command += ["--mm-max-simulations", str(2 * options.simulations), "--monitor-port", "none"]
        seconds = 60 * options.minutes
        command += ["--max-time", small_runs.hms(seconds), "--save-every", small_runs.hms(seconds / 12)]
        command += ["--keep-checkpoints", "2"]
        if options.arm == "lora":
            command += ADAPTERS
        if options.quick:
            command += ["--collect-transitions", "8", "--target-examples-per-step", "32"]
        return command

    def score(self, run_dir: Path, stage: str) -> None:
        """Score the last checkpoint of a run."""
        options = self.options
        out = run_dir.with_name(f"eval_{run_dir.name}")
        policy = ["--model-path", last_spec(run_dir), "--seed", str(options.seed), *TACTIC]
        policy += ["--max-theorems", str(options.theorems)]
        title = f"Scoring after {TITLES[stage]}"
        self.commands.evaluate(f"evaluation after {stage}", title, policy, out, options.simulations)


def last_spec(run_dir: Path) -> str:
    """Return what `--model-path` takes for the last checkpoint of a run."""
    steps = [int(folder.name.rpartition("-")[2]) for folder in run_dir.glob("checkpoint-*")]
    return f"hf:{run_dir / f'checkpoint-{max(steps)}'}"


def write_table(out: Path) -> None:
    """Write and print what is there of all arms and seeds: percent solved, and RL against finetuning in pairs."""
    lines = ["| network | seed | arm | set | finetuned | after RL | points | p |", "|---|---|---|---|---|---|---|---|"]
    for evaluated in sorted(out.glob("*/eval_*")):
        arm = evaluated.name.removeprefix("eval_")
        before = evaluated.with_name("eval_sft")
        shape, _, seed = evaluated.parent.name.rpartition("_")
        # Finetuning is the left side of every row.
        if arm == "sft":
            continue
        for name in small_runs.SETS:
            of_sft = before / small_runs.evaluation_name(name)
            of_rl = evaluated / small_runs.evaluation_name(name)
            if (of_sft / "summary.json").exists() and (of_rl / "summary.json").exists():
                cells = compared_cells(read_evaluation(of_sft), read_evaluation(of_rl))
                lines.append("| " + " | ".join([shape, seed, arm, name, *cells]) + " |")
    text = "\n".join(lines) + "\n"
    atomic_write_text(out / "table.md", text)
    print(f"\n{text}\nWritten: {out / 'table.md'}", flush=True)


def compared_cells(sft: Evaluated, rl: Evaluated) -> list[str]:
    """Format the percentages solved before and after, the points between them, and McNemar's p."""
    before = 100 * sft.summary["solved"] / sft.summary["total"]
    after = 100 * rl.summary["solved"] / rl.summary["total"]
    p_value = compare(sft, rl)["p"]
    return [f"{before:.1f}%", f"{after:.1f}%", f"{after - before:+.1f}", f"{p_value:.3g}"]


def main(argv: list[str] | None = None) -> int:
    """Run the stages of an arm and a seed, or go on with them."""
    parser = Parser(prog="python -m scripts.rl_hub", description=(__doc__ or "").splitlines()[0])
    add_flags(parser, HubRunOptions)
    options = from_args(HubRunOptions, parser.parse_args(argv))
    name = "rl_hub"
    if options.quick:
        options, name = options.quick_version(), "rl_hub_quick"
    out = Path(options.out or home() / name).expanduser().absolute()
    # Runs of other arms, seeds and shapes go into folders of their own there, and are compared in one table.
    settings = {key: value for key, value in to_dict(options).items() if key not in ("arm", "seed", "shape", "out")}
    small_runs.keep_settings(out / "settings.json", settings)
    HubRun(options, out, small_runs.Commands(lock=small_runs.take_lock(out / "lock"))).run()
    return 0


if __name__ == "__main__":
    run_main(main)
