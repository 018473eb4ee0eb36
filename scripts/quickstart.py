"""The whole path once, small: trains a prover from nothing on NanoLean and reports what each stage can prove.

Every stage is one of the commands that users run themselves; this script prints each, runs it, times it, watches the
memory, and puts the scores side by side. It writes `summary.json` and `learning_curve.png`.
"""

import os
import shlex
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from nanoproof.common.config import Parser, add_flags, from_args, opt, validate
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import atomic_write_json, read_json, read_jsonl
from nanoproof.common.run_dir import home, versions

SIMULATIONS, SAMPLES = 32, 6
THEOREMS = 100  # of the benchmark, from its beginning: a fair sample of it
RANKS = max(1, min(2, os.cpu_count() or 1))
MODEL = ["--depth", "4", "--aspect-ratio", "32", "--head-dim", "32", "--num-kv-heads", "1"]
MODEL += ["--sequence-len", "256", "--window-pattern", "L"]
BATCH = ["--row-length", "128", "--device-batch-size", "32", "--value-weight", "0.1", "--device-type", "cpu"]
SAMPLING = ["--num-sampled-tactics", str(SAMPLES), "--max-gen-tokens", "32"]
ACTORS = ["--lean-processes", "16"]


@dataclass(frozen=True)
class QuickstartOptions:
    """Quickstart."""

    seed: int = opt(0, "Seed of every random choice.", min=0)
    out: str | None = opt(None, "Where to write; default $NANOPROOF_HOME/quickstart.")
    monitor_port: int | None = opt(5050, "Port of the dashboard during RL; none turns it off.", min=0, max=65535)
    rl_seconds: int = opt(240, "Time for collecting and training in reinforcement learning.", min=1)
    sft_epochs: float = opt(3.0, "Epochs of supervised finetuning.", above=0)
    control: bool = opt(False, "Also train the SFT model for as many updates as RL on SFT data alone, and score it.")
    started: float | None = opt(None, "When the whole began, in seconds since the epoch (runs/quickstart.sh says it).")

    def __post_init__(self) -> None:
        validate(self, "quickstart")


class PeakMemory(threading.Thread):
    """Watches the resident memory of this process and all its children."""

    def __init__(self) -> None:
        super().__init__(name="peak-memory", daemon=True)
        self.peak_bytes = 0

    def run(self) -> None:
        process = psutil.Process()
        while True:
            total = 0
            for member in [process, *process.children(recursive=True)]:
                try:
                    total += member.memory_info().rss
                except psutil.Error:
                    continue
            self.peak_bytes = max(self.peak_bytes, total)
            time.sleep(0.5)


@dataclass
class Quickstart:
    """The stages in order, with what they cost and what they scored."""

    options: QuickstartOptions
    out: Path
    seconds: dict[str, float] = field(default_factory=dict)
    stages: dict[str, dict[str, Any]] = field(default_factory=dict)

    def command(self, stage: str, text: str, words: list[str], ranks: int = 1) -> None:
        """Say what happens, run a command (on several ranks), and note its time. Raises UserError if it fails."""
        launcher = ["torch.distributed.run", "--standalone", f"--nproc_per_node={ranks}", "-m"] if ranks > 1 else []
        shown = f"torchrun {shlex.join(launcher[1:])}" if launcher else "python -m"
        print(f"\n== {text}\n   $ {shown} {shlex.join(words)}", flush=True)
        started = time.monotonic()
        threads = str(max(1, (os.cpu_count() or 1) // ranks))
        environment = {**os.environ, "OMP_NUM_THREADS": threads}
        done = subprocess.run([sys.executable, "-m", *launcher, *words], env=environment)
        self.seconds[stage] = round(self.seconds.get(stage, 0.0) + time.monotonic() - started, 1)
        if done.returncode != 0:
            raise UserError(f"the stage '{stage}' failed with exit code {done.returncode}; its message is above")

    def evaluate(self, stage: str, split: str, text: str, policy: list[str]) -> dict[str, Any]:
        """Score a policy at the quickstart's budget."""
        path = self.out / f"eval_{stage}_{split}"
        words = ["scripts.prover_eval", *policy, "--datasets", "nanolean", "--split", split, "--force"]
        words += ["--num-simulations", str(SIMULATIONS), "--seed", str(self.options.seed), *SAMPLING, *ACTORS]
        words += ["--max-theorems", str(THEOREMS), "--device-type", "cpu", "--output-dir", str(path)]
        words += ["--log-level", "warning"]
        baseline = self.out / f"eval_solver_only_{split}"
        if (baseline / "summary.json").exists():
            words += ["--baseline", str(baseline)]
        self.command(f"evaluate {stage}", text, words, RANKS)
        return read_json(path / "summary.json")

    def score(self, stage: str, text: str, policy: list[str]) -> None:
        """Score a stage on the held-out test theorems."""
        summary = self.evaluate(stage, "test", text, policy)
        names = ("solved", "total", "low", "high", "simulations", "tactic_samples")
        self.stages[stage] = {name: summary[name] for name in names}

    def run(self) -> None:
        """All stages."""
        seed = ["--seed", str(self.options.seed)]
        sft, rl, seconds = self.out / "sft", self.out / "rl", self.options.rl_seconds
        self.command(
            "data",
            "Making training data: proofs of the library and of generated statements",
            ["nanoproof.data.nanolean", "make"],
        )
        self.command(
            "tokenizer",
            "Training a tokenizer on it",
            ["scripts.tok_train", "--vocab-size", "1024", "--out", str(self.out / "tokenizer")],
        )
        fresh = [
            *MODEL,
            *BATCH,
            *seed,
            "--target-examples-per-step",
            "64",
            "--eval-every",
            "100steps",
            "--tokenizer",
            str(self.out / "tokenizer"),
            "--log-level",
            "warning",
        ]
        self.command(
            "untrained",
            "Making a network that knows nothing",
            ["nanoproof.sft", *fresh, "--epochs", "0", "--run-dir", str(self.out / "untrained")],
        )
        self.command(
            "sft",
            "Supervised finetuning: learning the tactics of these proofs",
            ["nanoproof.sft", *fresh, "--epochs", str(self.options.sft_epochs), "--run-dir", str(sft)],
            RANKS,
        )
        self.score("solver_only", "Scoring the baseline: solver tactics, no network", ["--policy", "solver-only"])
        self.score("untrained", "Scoring the untrained network", ["--model-path", str(self.out / "untrained")])
        self.score("sft", "Scoring the finetuned network", ["--model-path", str(sft)])
        self.command(
            "rl",
            f"Reinforcement learning: proving theorems and learning from the proofs{self.watch()}",
            [*self.rl_words(sft, rl), "--max-time", clock(seconds), "--eval-every", clock(seconds * 3 // 5)],
            RANKS,
        )
        self.score(
            "rl", "Scoring the network after RL (best step on valid)", ["--model-path", str(best_checkpoint(rl))]
        )
        if self.options.control:
            self.run_control(sft, rl, self.out / "control")

    def watch(self) -> str:
        """Where to look while RL runs."""
        port = self.options.monitor_port
        return f"; watch it on http://localhost:{port}" if port else ""

    def run_control(self, sft: Path, rl: Path, run_dir: Path) -> None:
        """Train the SFT model further, as many updates as RL made, on supervised data alone, and score it."""
        steps = len({record["step"] for record in read_jsonl(rl / "metrics.jsonl")})
        only_sft = ["--collect-transitions", "0", "--fraction-sft", "1", "--monitor-port", "none"]
        length = ["--num-steps", str(steps), "--eval-every", f"{max(1, steps // 2)}steps", "--no-eval-start"]
        words = [*self.rl_words(sft, run_dir), *only_sft, *length]
        self.command("control", "Control: as many updates on the supervised data alone", words, RANKS)
        self.score("control", "Scoring the control", ["--model-path", str(best_checkpoint(run_dir))])

    def rl_words(self, sft: Path, run_dir: Path) -> list[str]:
        """The command for reinforcement learning, but for its length."""
        port = self.options.monitor_port
        words = ["nanoproof.rl", "--model-path", str(sft), "--run-dir", str(run_dir), "--seed", str(self.options.seed)]
        words += [*SAMPLING, *BATCH, *ACTORS, "--monitor-port", "none" if port is None else str(port)]
        words += ["--collect-transitions", "300", "--num-updates-per-step", "8", "--target-examples-per-step", "128"]
        words += ["--fraction-sft", "0.25", "--init-lr-frac", "0.3", "--warmdown-frac", "0.5"]
        words += [
            "--save-every",
            "never",
            "--num-simulations-eval",
            str(SIMULATIONS),
            "--max-eval-theorems",
            str(THEOREMS),
        ]
        return [*words, "--mm-base-simulations", str(SIMULATIONS // 2), "--mm-max-simulations", str(2 * SIMULATIONS)]

    def recheck(self) -> dict[str, int]:
        """Check the exported proofs in a process that sees only the files."""
        proofs = self.out / "proofs"
        shutil.copytree(self.out / "eval_rl_test" / "proofs", proofs)
        result = self.out / "recheck.json"
        words = ["scripts.check_with_lean", str(proofs), "--lean", "nanolean", "--json", str(result)]
        self.command("recheck", "Checking the exported proofs again, from the files alone", words)
        found = read_json(result)
        return {"exported": found["files"], "rechecked": found["accepted"]}


def clock(seconds: int) -> str:
    """Seconds as H:M:S."""
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def best_checkpoint(run_dir: Path) -> Path:
    """The checkpoint that solved most on valid."""
    return run_dir / f"model_{read_json(run_dir / 'best.json')['step']}.pt"


def print_table(stages: dict[str, dict[str, Any]], seconds: dict[str, float]) -> None:
    """The scores side by side, and the time of each stage."""
    print(f"\nHeld-out test theorems (nanolean), {SIMULATIONS} simulations, {SAMPLES} tactics each")
    print(f"  {'stage':<14}{'solved':>10}{'95% interval':>18}{'tactic samples':>17}")
    for name, row in stages.items():
        interval = f"{100 * row['low']:.1f} - {100 * row['high']:.1f}%"
        print(f"  {name:<14}{row['solved']:>6}/{row['total']:<3}{interval:>18}{row['tactic_samples']:>17,}")
    print("\nTime: " + ", ".join(f"{name} {value:.0f} s" for name, value in seconds.items()))


def print_proofs(results: Path, count: int = 3) -> None:
    """The most interesting proofs: the longest ones, of different families of theorems."""
    proven = [record for record in read_jsonl(results) if record["outcome"] == "proven"]
    proven.sort(key=lambda record: (-record["num_tactics"], -record["counts"]["simulations"], record["theorem"]["id"]))
    seen: set[str] = set()
    print("\nThree of its proofs:")
    for record in proven:
        family = record["theorem"]["id"].split("_l")[0]
        if family not in seen and len(seen) < count:
            seen.add(family)
            print("\n" + "\n".join("  " + line for line in record["source"].splitlines()))


def plot(rl_dir: Path, stages: dict[str, dict[str, Any]], file: Path) -> None:
    """The learning curve: what was solved on valid during RL, and the scores on test with their intervals."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    events = [event for event in read_jsonl(rl_dir / "events.jsonl") if event["kind"] == "evaluation"]
    metrics = list(read_jsonl(rl_dir / "metrics.jsonl"))
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), width_ratios=(3, 2))
    rates = [100 * record["proofs"] / max(1, record["attempts"]) for record in metrics if "proofs" in record]
    left.plot(range(1, len(rates) + 1), rates, color="#9db8d9", label="training theorems proved per attempt")
    steps = [event["step"] for event in events]
    left.plot(
        steps,
        [100 * event["solved"] / event["total"] for event in events],
        "o-",
        color="#1f4e8c",
        label="held-out valid",
    )
    left.set(xlabel="RL step", ylabel="proved (%)", ylim=(0, 100), title="Reinforcement learning")
    left.xaxis.get_major_locator().set_params(integer=True)
    left.legend(loc="lower right", frameon=False)
    names = [name.replace("_", "\n") for name in stages]
    heights = [100 * row["solved"] / row["total"] for row in stages.values()]
    low = [max(0.0, height - 100 * row["low"]) for height, row in zip(heights, stages.values())]
    high = [max(0.0, 100 * row["high"] - height) for height, row in zip(heights, stages.values())]
    right.bar(
        names,
        heights,
        yerr=(low, high),
        color=["#c9c9c4"] * 2 + ["#9db8d9", "#1f4e8c"] + ["#c9c9c4"] * (len(names) - 4),
        capsize=4,
    )
    right.set(ylim=(0, 100), ylabel="solved (%)", title="Held-out test, 95% interval")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(file, dpi=130)


def main(argv: list[str] | None = None) -> int:
    """Entry point."""
    parser = Parser(prog="python -m scripts.quickstart", description=(__doc__ or "").splitlines()[0])
    add_flags(parser, QuickstartOptions)
    options = from_args(QuickstartOptions, parser.parse_args(argv))
    started = options.started or time.time()
    out = Path(options.out) if options.out else home() / "quickstart"
    prepare(out)
    memory = PeakMemory()
    memory.start()
    quickstart = Quickstart(options, out, seconds={"setup": round(time.time() - started, 1)})
    quickstart.run()
    proofs = quickstart.recheck()
    quickstart.seconds["total"] = round(time.time() - started, 1)
    plot(out / "rl", quickstart.stages, out / "learning_curve.png")
    summary = {
        "stages": quickstart.stages,
        "seconds": quickstart.seconds,
        "proofs": proofs,
        "peak_rss_mb": round(memory.peak_bytes / 2**20),
        "seed": options.seed,
        "versions": versions(),
    }
    atomic_write_json(out / "summary.json", summary)
    print_proofs(out / "eval_rl_test" / "results.jsonl")
    print_table(quickstart.stages, quickstart.seconds)
    print(f"Proofs: {proofs['exported']} exported, {proofs['rechecked']} rechecked")
    print(f"Peak memory: {summary['peak_rss_mb']} MB")
    print(f"Written: {out / 'summary.json'}, {out / 'learning_curve.png'}, {out / 'proofs'}")
    return 0


def prepare(out: Path) -> None:
    """An empty folder for this quickstart; an earlier one's folder is moved aside."""
    if out.exists():
        earlier = out.with_name(f"{out.name}_{time.strftime('%Y-%m-%d_%H-%M-%S')}")
        os.rename(out, earlier)
        print(f"moved the earlier quickstart to {earlier}")
    out.mkdir(parents=True)


if __name__ == "__main__":
    run_main(main)
