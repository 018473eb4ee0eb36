"""Compare RL on NanoLean with a control: as many updates on supervised data alone.

Both begin with the same finetuned network and are scored on held-out test theorems, of the hard set and of the other
one; all on two cores. Solvers are tried at every node of every search, in collection too.

bash runs/rl_cpu.sh                        # seeds 0 and 1, 30 minutes of RL each; about two hours and a half
SEEDS=2 RL_MINUTES=10 bash runs/rl_cpu.sh
ABLATIONS=1 bash runs/rl_cpu.sh            # besides, RL of 8 minutes each with one thing changed
bash runs/rl_cpu.sh --arms starts steps    # besides, RL of as many minutes that begins inside proofs, that tries steps
bash runs/rl_cpu.sh --quick                # everything very small, to see it run

Whatever is finished is kept: the same command resumes where it was stopped. It writes `table.md`, `curves.png` and
`summary.json`, first when the main comparison of a seed is there and again at the end.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nanoproof.common.config import Parser, add_flags, change, check, from_args, group, opt, to_dict, validated
from nanoproof.common.errors import run_main
from nanoproof.common.option_groups import MonitorAddress
from nanoproof.common.run_dir import home
from scripts import small_runs
from scripts.rl_cpu_report import Point, write_report

ABLATIONS: dict[str, tuple[list[str], list[str]]] = {
    # What the others are compared with: the main run is longer.
    "as in the main run": ([], []),
    "no value": (["--value-weight", "0", "--no-search-use-value"], ["--no-search-use-value"]),
    "uniform choice of theorems": (["--mm-low", "1", "--mm-undecided", "1"], []),
    "failed tactics, a quarter": (["--negative-fraction", "0.25"], []),
    "disproofs, half": (["--disprove-fraction", "0.5"], []),
    "value loss by depth": (["--balance-value-by-depth"], []),
    "tactics filtered": (["--replay-logprob-min", "-10", "--replay-logprob-max", "-0.05"], []),
}
"""What is changed, as flags of RL and of the evaluation."""
STARTS = ["--start-states", "nanolean-hard"]
STEPS = ["--step-tactics", "6"]
ARMS: dict[str, list[str]] = {"starts": STARTS, "steps": STEPS, "starts-and-steps": [*STARTS, *STEPS]}
"""Recipes of RL, by the flags that are added: attempts that begin inside of train's classics, and steps that a state
suggests beside the network's (while it collects: the scores are without)."""
CURVE_POINTS = 4


@validated("rl_cpu")
class RLCPUOptions:
    """Comparison of RL with its control."""

    seeds: tuple[int, ...] = opt((0, 1), "Seeds; each has its own finetuned start.")
    minutes: float = opt(30.0, "Minutes of RL.", above=0)
    arms: tuple[str, ...] = opt((), f"Besides, for each seed: RL by other recipes ({', '.join(ARMS)}).")
    ablations: bool = opt(False, "Besides, with the first seed: RL with one thing changed at a time.")
    ablation_minutes: float = opt(8.0, "Minutes of RL of each of these.", above=0)
    sft_epochs: float = opt(9.0, "Epochs of supervised finetuning before: until it has converged.", above=0)
    theorems: int = opt(120, "Test theorems of each set to score on, the first so many.", min=1)
    simulations: int = opt(64, "Simulations for each of them.", min=1)
    quick: bool = opt(False, "Everything very small, to see it run: one seed, one rank, seconds instead of minutes.")
    monitor: MonitorAddress = group(
        MonitorAddress,
        "monitor-",
        without=("host", "token"),
        port=change(None, help="Port of the dashboard during RL; none turns it off."),
    )
    out: str | None = opt(None, "Where to write; default $NANOPROOF_HOME/rl_cpu (rl_cpu_quick).")

    def __post_init__(self) -> None:
        check(set(self.arms) <= ARMS.keys(), f"rl_cpu.arms must be of {', '.join(ARMS)}", "rl_cpu")
        check(len(set(self.seeds)) == len(self.seeds) > 0, "rl_cpu.seeds must be different, and at least one", "rl_cpu")

    def quick_version(self) -> "RLCPUOptions":
        """Return the same options with very small sizes."""
        return replace(
            self,
            seeds=self.seeds[:1],
            minutes=0.4,
            ablation_minutes=0.2,
            sft_epochs=0.25,
            theorems=8,
            simulations=8,
        )


@dataclass
class Comparison:
    """The parts, each of which is skipped if it is there."""

    options: RLCPUOptions
    out: Path
    commands: small_runs.Commands

    def run(self) -> None:
        """Run the comparison: finetuning, RL and control for all seeds first, then the curves and the ablations."""
        self.commands.data_and_tokenizer(self.out / "tokenizer")
        points = [
            self.score(self.out / "solver_only", "solver tactics alone", ["--policy", "solver-only"]),
            self.score(self.out / "no_network", "no network, general tactics", ["--policy", "uniform"]),
        ]
        for seed in self.options.seeds:
            points += self.main_comparison(seed)
            # Two hours before the end: the answer to the question is there, curves and ablations only add to it.
            write_report(self.out, points, to_dict(self.options), self.commands.seconds)
        for seed in self.options.seeds:
            points += self.curve_points(seed)
        if self.options.ablations:
            points += self.ablations(self.options.seeds[0])
        write_report(self.out, points, to_dict(self.options), self.commands.seconds)

    def main_comparison(self, seed: int) -> list[Point]:
        """Train and score finetuning, RL, its other recipes and the control."""
        folder, label = self.out / f"seed_{seed}", f"seed {seed}"
        sft, rl, control = folder / "sft", folder / "rl", folder / "control"
        sft_command = ["nanoproof.sft", *small_runs.SFT, "--epochs", f"{self.options.sft_epochs:g}"]
        sft_command += ["--seed", str(seed), "--tokenizer", str(self.out / "tokenizer"), "--log-level", "warning"]
        self.commands.train(f"sft, {label}", f"Supervised finetuning ({label})", sft_command, sft)
        points = [self.score_run(seed, "after SFT", sft, 0)]

        rl_command = self.rl_command(sft, seed, self.options.minutes)
        self.commands.train(f"rl, {label}", f"RL for {self.options.minutes:g} minutes ({label})", rl_command, rl)
        steps = small_runs.checkpoint_steps(rl)[-1]
        points.append(self.score_run(seed, "RL", rl, steps))

        for arm in self.options.arms:
            title = f"RL for {self.options.minutes:g} minutes, {arm} ({label})"
            self.commands.train(f"{arm}, {label}", title, [*rl_command, *ARMS[arm]], folder / arm)
            points.append(self.score_last(seed, arm, folder / arm))

        # As many steps as RL came to in its time, which is known only now.
        control_command = [*self.rl_command(sft, seed, None), *small_runs.SFT_ONLY, "--num-steps", str(steps)]
        control_command += ["--save-every", f"{max(1, steps // 2)}steps"]
        title = f"Control: as many updates on supervised data alone ({label})"
        self.commands.train(f"control, {label}", title, control_command, control)
        points.append(self.score_last(seed, "control", control))
        return points

    def curve_points(self, seed: int) -> list[Point]:
        """Score checkpoints between start and end: RL at its quarters, the control at its half."""
        points = []
        for stage, name, quarters in (("RL", "rl", (1, 2, 3)), ("control", "control", (2,))):
            run_dir = self.out / f"seed_{seed}" / name
            steps = small_runs.checkpoint_steps(run_dir)
            chosen = set()
            for quarter in quarters:
                # Checkpoints are saved by the clock: the nearest one stands for a quarter of the steps.
                chosen.add(nearest(steps, steps[-1] * quarter / CURVE_POINTS))
            for step in sorted(chosen - {0, steps[-1]}):
                points.append(self.score_run(seed, stage, run_dir, step))
        return points

    def ablations(self, seed: int) -> list[Point]:
        """Run RL with one thing changed, from the same start, for less time, and score it."""
        points, sft = [], self.out / f"seed_{seed}" / "sft"
        minutes = self.options.ablation_minutes
        for number, (name, (rl_flags, eval_flags)) in enumerate(ABLATIONS.items()):
            run_dir = self.out / "ablations" / f"{number}_{name.split(',')[0].replace(' ', '_')}"
            command = [*self.rl_command(sft, seed, minutes), *rl_flags]
            self.commands.train(f"ablation, {name}", f"RL of {minutes:g} minutes: {name}", command, run_dir)
            point = self.score_last(seed, name, run_dir, eval_flags)
            points.append(replace(point, ablation=True))
        return points

    def rl_command(self, sft: Path, seed: int, minutes: float | None) -> list[str]:
        """Return the command of an RL run of so many minutes, without its directory."""
        command = ["nanoproof.rl", "--model-path", str(sft), "--seed", str(seed), *small_runs.RL]
        # The scores are those of the whole test split, made afterwards by `score`.
        command += ["--monitor-port", str(self.options.monitor.port).lower(), "--max-eval-theorems", "20"]
        if minutes is None:
            command += ["--max-time", "never"]
        else:
            seconds = 60 * minutes
            # Twelve checkpoints: one is near each quarter, and a killed run loses some minutes.
            command += ["--max-time", small_runs.hms(seconds), "--save-every", small_runs.hms(seconds / 12)]
        if self.options.quick:
            command += ["--lean-processes", str(self.commands.lean_processes), "--mm-base-simulations", "2"]
            command += ["--collect-transitions", "8", "--target-examples-per-step", "32"]
        return command

    def score_last(self, seed: int, stage: str, run_dir: Path, eval_flags: Sequence[str] = ()) -> Point:
        """Score the last checkpoint of an RL run."""
        return self.score_run(seed, stage, run_dir, small_runs.checkpoint_steps(run_dir)[-1], eval_flags)

    def score_run(self, seed: int, stage: str, run_dir: Path, step: int, eval_flags: Sequence[str] = ()) -> Point:
        """Score the checkpoint of a step (of finetuning the last one, whose `step` here is 0)."""
        out, model, updates = run_dir.with_name(f"eval_{run_dir.name}"), run_dir, 0
        if step > 0:
            out = run_dir.with_name(f"eval_{run_dir.name}_{step}")
            model = run_dir / f"model_{step}.pt"
            updates = small_runs.updates_of(run_dir, step)
        title = f"{stage}, {updates:,} updates (seed {seed})"
        point = self.score(out, title, ["--model-path", str(model), "--seed", str(seed), *eval_flags])
        return replace(point, stage=stage, seed=seed, step=step, updates=updates, run_dir=str(run_dir))

    def score(self, out: Path, title: str, policy: list[str]) -> Point:
        """Score a policy."""
        flags = [*policy, "--max-theorems", str(self.options.theorems)]
        self.commands.evaluate("evaluations", f"Scoring: {title}", flags, out, self.options.simulations)
        return Point(stage=title, path=str(out))


def nearest(steps: Sequence[int], target: float) -> int:
    """Return the first of the steps that are nearest to a target."""
    return min(steps, key=lambda step: abs(step - target))


def prepare_output_dir(out: Path, options: RLCPUOptions) -> None:
    """Make the folder, or continue in it. Raises UserError if what is in it was made with other options."""
    # Seeds, arms and ablations may be added later: what is there stays comparable with them.
    values = to_dict(options)
    fixed = ("minutes", "ablation_minutes", "sft_epochs", "theorems", "simulations", "quick")
    settings = {name: values[name] for name in values if name in fixed}
    small_runs.keep_settings(out / "settings.json", settings)


def main(argv: list[str] | None = None) -> int:
    """Run the comparison."""
    parser = Parser(prog="python -m scripts.rl_cpu", description=(__doc__ or "").splitlines()[0])
    add_flags(parser, RLCPUOptions)
    options = from_args(RLCPUOptions, parser.parse_args(argv))
    commands, name = small_runs.Commands(), "rl_cpu"
    if options.quick:
        options = options.quick_version()
        commands, name = small_runs.Commands(ranks=1, lean_processes=4), "rl_cpu_quick"
    out = Path(options.out or home() / name)
    prepare_output_dir(out, options)
    commands.lock = small_runs.take_lock(out / "lock")
    Comparison(options, out, commands).run()
    return 0


if __name__ == "__main__":
    run_main(main)
