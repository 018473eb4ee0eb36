"""The whole pipeline once, small: train a prover from nothing on NanoLean and report what each stage can prove.

Every stage is one of the commands that users run themselves; this script prints each, runs it, times it, watches the
memory, and puts the scores side by side. It writes `summary.json` and `learning_curve.png`.
"""

import os
import select
import shlex
import shutil
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nanoproof.common.config import Parser, add_flags, change, from_args, group, opt, validated
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import atomic_write_json, atomic_write_text, read_json, read_text
from nanoproof.common.option_groups import MonitorAddress
from nanoproof.common.run_dir import SCRIPTS, home, run_name, versions
from nanoproof.monitor.server import MonitorProcess, start_monitor_process
from scripts import small_runs
from scripts.quickstart_report import plot, print_proofs, print_table

SIMULATIONS = 32
THEOREMS = 50  # of each test set, from its beginning: a fair sample of it
THEOREMS_DURING_RL = 40  # of the hard set's valid split, during RL
EXAMPLE = (
    "theorem odds (s : Nat → Nat) (h0 : s 0 = 0) (hs : ∀ n, s (n + 1) = s n + (2 * n + 1)) (n : Nat) : s n = n * n"
)
"""Neither solver tactics alone nor general tactics without a network prove it."""
OPEN_MINUTES = 30  # for which the page stays there for a person who watches, once all is done
SCORE_FIELDS = ("solved", "total", "low", "high", "simulations", "tactic_samples")
"""What the report keeps of an evaluation's summary."""


@validated("quickstart")
class QuickstartOptions:
    """Quickstart."""

    seed: int = opt(0, "Seed of every random choice.", min=0)
    out: str | None = opt(None, "Where to write; default $NANOPROOF_HOME/quickstart.")
    monitor: MonitorAddress = group(
        MonitorAddress,
        "monitor-",
        without=("host", "token"),
        port=change(5050, help="Port of the page that shows all stages, from the first on; none turns it off."),
    )
    rl_seconds: int = opt(220, "Time for reinforcement learning, but for its last evaluation.", min=1)
    sft_epochs: float = opt(2.0, "Epochs of supervised finetuning.", above=0)
    control: bool = opt(False, "Also train the SFT model for as many updates as RL on SFT data alone, and score it.")
    started: float | None = opt(None, "When the whole began, in seconds since the epoch (runs/quickstart.sh says it).")


@dataclass
class Quickstart:
    """The stages in order, with what they scored."""

    options: QuickstartOptions
    out: Path
    commands: small_runs.Commands
    stages: dict[str, dict[str, Any]] = field(default_factory=dict)

    def run(self) -> None:
        """Run all stages."""
        commands, tokenizer = self.commands, self.out / "tokenizer"
        sft, rl = self.out / "sft", self.out / "rl"
        commands.data_and_tokenizer(tokenizer)
        sft_command = ["nanoproof.sft", *small_runs.SFT, "--epochs", f"{self.options.sft_epochs:g}"]
        sft_command += ["--log-level", "warning", "--tokenizer", str(tokenizer), "--seed", str(self.options.seed)]
        commands.train("sft", "Supervised finetuning: learning the tactics of these proofs", sft_command, sft)

        # Solvers are tried at every node of all searches: what they prove alone is nothing that a network learned.
        self.score("solver_only", "the first baseline: solver tactics alone", ["--policy", "solver-only"])
        self.score("no_network", "the second one: general tactics, equally likely", ["--policy", "uniform"])
        self.score("sft", "the finetuned network", ["--model-path", str(sft)])

        rl_command = [*self.rl_command(sft), "--max-time", small_runs.hms(self.options.rl_seconds)]
        commands.train("rl", "Reinforcement learning: proving theorems and learning from the proofs", rl_command, rl)
        # Chosen on valid: the best of several steps on test itself would be a score with the luck of the choice in it.
        self.score("rl", "the network after RL (best step on valid)", ["--model-path", str(best_checkpoint(rl))])
        if self.options.control:
            self.run_control(sft, small_runs.checkpoint_steps(rl)[-1], self.out / "control")

    def score(self, stage: str, text: str, policy: list[str]) -> None:
        """Score a stage on the held-out test theorems, with solvers at every node."""
        flags = [*policy, "--seed", str(self.options.seed), "--max-theorems", str(THEOREMS)]
        out = self.out / f"eval_{stage}"
        summaries = self.commands.evaluate(f"evaluate {stage}", f"Scoring {text}", flags, out, SIMULATIONS)
        self.stages[stage] = {}
        for dataset, summary in summaries.items():
            self.stages[stage][dataset] = {name: summary[name] for name in SCORE_FIELDS}

    def run_control(self, sft: Path, steps: int, run_dir: Path) -> None:
        """Train the SFT model further, as many updates as RL made, on supervised data alone, and score it."""
        command = [*self.rl_command(sft), *small_runs.SFT_ONLY, "--num-steps", str(steps)]
        # In the middle and at the end, for the choice on valid that RL has too.
        command += ["--eval-every", f"{max(1, steps // 2)}steps"]
        self.commands.train("control", "Control: as many updates on the supervised data alone", command, run_dir)
        self.score("control", "the control", ["--model-path", str(best_checkpoint(run_dir))])

    def rl_command(self, sft: Path) -> list[str]:
        """Return the command for reinforcement learning, without its length."""
        command = ["nanoproof.rl", "--model-path", str(sft), "--seed", str(self.options.seed), *small_runs.RL]
        # Scored before it, too: the better of the two networks is kept. This script's page shows RL with all stages.
        return [*command, "--monitor-port", "none", "--eval-start", "--max-eval-theorems", str(THEOREMS_DURING_RL)]

    def recheck(self) -> dict[str, Any]:
        """Check the exported proofs in a process that sees only the files, and the record of what they should prove."""
        proofs = self.out / "proofs"
        evaluations = [self.evaluation("rl", dataset) for dataset in small_runs.SETS]
        for evaluation in evaluations:
            shutil.copytree(evaluation / "proofs", proofs, dirs_exist_ok=True)
        records = "".join(read_text(evaluation / "results.jsonl") for evaluation in evaluations)
        atomic_write_text(self.out / "results.jsonl", records)  # found there by whoever checks them again
        report = self.out / "recheck.json"
        command = ["scripts.check_with_lean", str(proofs), "--lean", "nanolean", "--json", str(report)]
        self.commands.run("recheck", "Checking the exported proofs again, from the files alone", command)

        recheck = read_json(report)
        certificates = 0
        verdicts = []
        for evaluation in evaluations:
            summary = read_json(evaluation / "summary.json")
            certificates += summary.get("certificates", 0)
            if summary.get("verdicts"):
                verdicts.append(summary["verdicts"])
        counts = {"exported": recheck["files"], "rechecked": recheck["accepted"], "certificates": certificates}
        return {**counts, **total_verdicts(verdicts)}

    def evaluation(self, stage: str, dataset: str) -> Path:
        """Return the directory of a stage's evaluation on a set."""
        return self.out / f"eval_{stage}" / small_runs.evaluation_name(dataset)


def total_verdicts(verdicts: list[dict[str, Any]]) -> dict[str, Any]:
    """Add up how many proofs of several evaluations each checker accepts."""
    by_nanolean = 0
    outside = Counter[str]()
    for verdict in verdicts:
        by_nanolean += verdict["nanolean"]
        outside.update(verdict["outside"])
    return {"nanolean": by_nanolean, "outside": dict(outside)}


def best_checkpoint(run_dir: Path) -> Path:
    """Return the checkpoint that solved most on valid."""
    return run_dir / f"model_{read_json(run_dir / 'best.json')['step']}.pt"


def main(argv: list[str] | None = None) -> int:
    """Run the quickstart and print its report."""
    parser = Parser(prog="python -m scripts.quickstart", description=(__doc__ or "").splitlines()[0])
    add_flags(parser, QuickstartOptions)
    options = from_args(QuickstartOptions, parser.parse_args(argv))
    started = options.started or time.time()
    out = Path(options.out or home() / "quickstart")
    page = open_page(options.monitor.port)
    try:
        return run_all(options, out, started, page)
    finally:
        if page is not None:
            page.close()


def run_all(options: QuickstartOptions, out: Path, started: float, page: MonitorProcess | None) -> int:
    """Run all stages, with the page open if there is one, and print the report."""
    make_output_dir(out)
    if page is not None:
        page.show_runs(out)
        print(f"watch all stages on {page.address}", flush=True)
    memory = small_runs.PeakMemory()
    memory.start()
    # The set-up of `runs/quickstart.sh` counts as a stage: the promise of some minutes is from the first command on.
    commands = small_runs.Commands(seconds={"setup": round(time.time() - started, 1)})

    quickstart = Quickstart(options, out, commands)
    quickstart.run()
    proofs = quickstart.recheck()
    commands.seconds["total"] = round(time.time() - started, 1)

    plot(out / "rl", quickstart.stages, out / "learning_curve.png")
    summary = {
        "stages": quickstart.stages,
        "seconds": commands.seconds,
        "proofs": proofs,
        "peak_rss_mb": round(memory.peak_bytes / 2**20),
        "seed": options.seed,
        "versions": versions(),
    }
    atomic_write_json(out / "summary.json", summary)
    print_report(out, summary)
    # Nobody is there to press Enter where input or output is no terminal: CI would wait for half an hour.
    if page is not None and sys.stdin.isatty() and sys.stdout.isatty():
        print(f"\nThe page stays open on {page.address} for {OPEN_MINUTES} minutes, or until Enter.", flush=True)
        select.select([sys.stdin], [], [], 60 * OPEN_MINUTES)
    return 0


def print_report(out: Path, summary: dict[str, Any]) -> None:
    """Print some proofs, the scores, who accepts the proofs, and what can be done next."""
    proofs = summary["proofs"]
    print_proofs(out / "results.jsonl")
    print_table(summary["stages"], summary["seconds"], SIMULATIONS)
    counts = f"{proofs['exported']} exported, {proofs['rechecked']} rechecked, {proofs['certificates']} certificates"
    print(f"Proofs: {counts}")
    outside = ", ".join(f"{count} by {name}" for name, count in proofs["outside"].items()) or "not checked outside"
    print(f"Verdicts: {proofs['nanolean']} accepted by NanoLean's checker, {outside}")
    print(f"Peak memory: {summary['peak_rss_mb']} MB")
    print(f"Written: {out / 'summary.json'}, {out / 'learning_curve.png'}, {out / 'proofs'}")
    print("\n".join(what_next(out)))


def what_next(out: Path) -> list[str]:
    """Return the commands that come next for a user, for the networks in `out`."""
    best = run_name(best_checkpoint(out / "rl"))
    theorem = shlex.quote(EXAMPLE)
    purposes = {
        f"python -m nanoproof.monitor --run-dir {run_name(out)}": "look at all of it again",
        f"{SCRIPTS}prove {theorem} --model-path {best}": "prove a theorem of your own",
        f"python -m nanoproof.rl --resume-from {run_name(out / 'rl')} --max-time 1:00:00": "let it learn for longer",
    }
    lines = ["", "Next (after `source .venv/bin/activate`):"]
    for command, purpose in purposes.items():
        lines.append(f"  {command}  # {purpose}")
    return lines


def open_page(port: int | None) -> MonitorProcess | None:
    """Open the port of the page, before anything takes time. Raises UserError if it is taken."""
    if port is None:
        return None
    try:
        return start_monitor_process(port)
    except UserError as error:
        raise UserError(f"--monitor-port {port}: {error}") from error


def make_output_dir(out: Path) -> None:
    """Make an empty folder for this quickstart; the folder of an earlier one is renamed."""
    if out.exists():
        earlier = out.with_name(f"{out.name}_{time.strftime('%Y-%m-%d_%H-%M-%S')}")
        os.rename(out, earlier)
        print(f"moved the earlier quickstart to {earlier}")
    out.mkdir(parents=True)


if __name__ == "__main__":
    run_main(main)
