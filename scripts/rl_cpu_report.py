"""The report on RL and its control: `table.md`, `curves.png`, `summary.json`."""

import itertools
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nanoproof.common.files import atomic_write_json, atomic_write_text
from nanoproof.common.run_dir import versions
from nanoproof.evaluation.compare import Evaluated, compare, compare_rates, read_evaluation
from scripts.small_runs import SETS, evaluation_name, read_metrics

SFT, RL, CONTROL = "after SFT", "RL", "control"
HARD = SETS[-1]
GREY, PALE, DARK = "#8d8d88", "#9db8d9", "#1f4e8c"
COLORS = (DARK, "#b35c1e", "#3c7a4b", "#7a4b8a")


@dataclass(frozen=True)
class Point:
    """A scored policy: its evaluation, and where on which curve it stands."""

    stage: str
    path: str
    seed: int | None = None
    step: int = 0
    updates: int = 0
    run_dir: str = ""
    ablation: bool = False


@dataclass(frozen=True)
class Scored:
    """A point with what its evaluations found, by set."""

    point: Point
    sets: dict[str, Evaluated]

    @classmethod
    def read(cls, point: Point) -> "Scored":
        """Read the evaluations of a point."""
        return cls(point, {name: read_evaluation(Path(point.path) / evaluation_name(name)) for name in SETS})

    @property
    def rate(self) -> float:
        """Percent of the hard set solved."""
        summary = self.sets[HARD].summary
        return 100 * summary["solved"] / summary["total"]

    @property
    def low(self) -> float:
        """Lower end of the rate's 95% interval."""
        return 100 * self.sets[HARD].summary["low"]

    @property
    def high(self) -> float:
        """Upper end of the rate's 95% interval."""
        return 100 * self.sets[HARD].summary["high"]

    def to_json(self) -> dict[str, Any]:
        """Return the point and what was solved of each set as a JSON object."""
        record = asdict(self.point)
        for name, evaluated in self.sets.items():
            record[name] = {key: evaluated.summary[key] for key in ("solved", "total")}
        return record


def write_report(out: Path, points: Sequence[Point], options: dict[str, Any], seconds: dict[str, float]) -> None:
    """Write the files for what is scored so far, and print the table."""
    scored = sorted(map(Scored.read, points), key=ablations_last)
    pairs = comparisons(scored)
    text = "\n\n".join([scores_table(scored, options), pairs_table(pairs), *both_seeds(scored)]) + "\n"
    atomic_write_text(out / "table.md", text)
    summary = {
        "options": options,
        "scores": [policy.to_json() for policy in scored],
        "comparisons": [{"name": name, **comparison} for name, comparison in pairs.items()],
        "seconds": seconds,
        "versions": versions(),
    }
    atomic_write_json(out / "summary.json", summary)
    plot(scored, out / "curves.png")
    print(f"\n{text}\nWritten: {out / 'table.md'}, {out / 'curves.png'}, {out / 'summary.json'}", flush=True)


def ablations_last(policy: Scored) -> tuple[bool, int]:
    """Order policies: those without a network, those of each seed, and the ablations behind them."""
    seed = policy.point.seed
    if seed is None:
        seed = -1
    return policy.point.ablation, seed


def last(scored: Sequence[Scored], stage: str, seed: int) -> Scored | None:
    """Return the last point of a stage's curve; None where nothing of it is scored yet."""
    end = None
    for policy in curve(scored, stage, seed):
        if policy.point.stage == stage:
            end = policy
    return end


def curve(scored: Sequence[Scored], stage: str, seed: int) -> list[Scored]:
    """Return the start and the points of a stage, by updates."""
    points = []
    for policy in scored:
        point = policy.point
        if point.seed == seed and point.stage in (SFT, stage) and not point.ablation:
            points.append(policy)
    return sorted(points, key=lambda policy: policy.point.updates)


def seeds_of(scored: Sequence[Scored]) -> list[int]:
    """Return all seeds."""
    return sorted({policy.point.seed for policy in scored if policy.point.seed is not None})


def arms_of(scored: Sequence[Scored]) -> list[str]:
    """Return the other recipes of RL, in the order of their points."""
    arms: dict[str, None] = {}
    for policy in scored:
        point = policy.point
        if point.seed is not None and not point.ablation and point.stage not in (SFT, RL, CONTROL):
            arms[point.stage] = None
    return list(arms)


def scores_table(scored: Sequence[Scored], options: dict[str, Any]) -> str:
    """Write what was solved, with Wilson's interval, and what the run did."""
    lines = [
        f"NanoLean, held-out test theorems, {options['simulations']} simulations each, solvers at every node; RL for "
        f"{options['minutes']:g} minutes (ablations {options['ablation_minutes']:g})",
        "",
        f"| seed | policy | updates | {' | '.join(f'{name} | 95% interval' for name in SETS)} | attempts | training "
        "theorems proved |",
        "|---|---|---" + 2 * len(SETS) * "|---" + "|---|---|",
    ]
    for policy in scored:
        point = policy.point
        seed, title = "", point.stage
        if point.seed is not None:
            seed = str(point.seed)
        if point.ablation:
            title = f"ablation: {point.stage}"
        cells = [seed, title, f"{point.updates:,}"]
        for name in SETS:
            summary = policy.sets[name].summary
            cells.append(f"{summary['solved']}/{summary['total']} ({100 * summary['solved'] / summary['total']:.1f}%)")
            cells.append(f"{100 * summary['low']:.1f}-{100 * summary['high']:.1f}%")
        cells += experience(point)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def experience(point: Point) -> tuple[str, str]:
    """Count attempts, and theorems proved, in a run up to a point; empty where nothing was collected."""
    if not point.run_dir:
        return "", ""
    attempts = 0
    theorems_proved = None
    for record in read_metrics(Path(point.run_dir)):
        # Finetuning and the control collect nothing.
        if "attempts" in record and record["step"] <= point.step:
            attempts += int(record["attempts"])
            theorems_proved = int(record["theorems_proven"])  # since the run began
    if theorems_proved is None:
        return "", ""
    return f"{attempts:,}", f"{theorems_proved:,}"


def comparisons(scored: Sequence[Scored]) -> dict[str, dict[str, Any]]:
    """Return paired comparisons, by their names: RL with start and control of each seed, ablations; on each set."""
    pairs: dict[str, tuple[Scored | None, Scored | None]] = {}
    for seed in seeds_of(scored):
        rl = last(scored, RL, seed)
        pairs[f"seed {seed}: RL - SFT"] = (last(scored, SFT, seed), rl)
        pairs[f"seed {seed}: RL - control"] = (last(scored, CONTROL, seed), rl)
        for arm in arms_of(scored):
            pairs[f"seed {seed}: {arm} - RL"] = (rl, last(scored, arm, seed))
    # The first of the ablations changes nothing: RL is as long in all of them, and shorter than the main run.
    ablations = [policy for policy in scored if policy.point.ablation]
    for policy in ablations[1:]:
        pairs[f"{policy.point.stage} - {ablations[0].point.stage}"] = (ablations[0], policy)
    compared: dict[str, dict[str, Any]] = {}
    for dataset in SETS:
        for name, (first, second) in pairs.items():
            if first is not None and second is not None:
                compared[f"{dataset}, {name}"] = compare(first.sets[dataset], second.sets[dataset])
    return compared


def pairs_table(pairs: dict[str, dict[str, Any]]) -> str:
    """Render the comparisons as a table."""
    lines = [
        "| comparison | difference | 95% interval | only the first | only the second | McNemar's p |",
        "|---|---|---|---|---|---|",
    ]
    for name, comparison in pairs.items():
        cells = comparison["cells"]
        interval = f"{100 * comparison['low']:+.1f} to {100 * comparison['high']:+.1f}"
        # The difference is the second minus the first in `compare`, and the page names what is better first.
        lines.append(
            f"| {name} | {100 * comparison['difference']:+.1f} | {interval} "
            f"| {cells['only_second']} | {cells['only_first']} | {comparison['p']:.2g} |"
        )
    return "\n".join(lines)


def both_seeds(scored: Sequence[Scored]) -> list[str]:
    """Return the means over the seeds, compared by theorem; nothing where there is one seed."""
    stages = [(SFT, RL), (CONTROL, RL)]
    for arm in arms_of(scored):
        stages.append((RL, arm))
    lines = []
    for dataset, (earlier, later) in itertools.product(SETS, stages):
        first: dict[str, Evaluated] = {}
        second: dict[str, Evaluated] = {}
        for seed in seeds_of(scored):
            before, after = last(scored, earlier, seed), last(scored, later, seed)
            # In pairs: a seed whose run is still to come counts on neither side.
            if before is not None and after is not None:
                first[str(seed)], second[str(seed)] = before.sets[dataset], after.sets[dataset]
        if len(first) > 1:
            comparison = compare_rates(first, second)
            lines.append(
                f"{dataset}, {len(first)} seeds, {later} - {earlier}: {100 * comparison['difference']:+.1f} points on "
                f"average, permutation test over {comparison['total']} theorems p = {comparison['p']:.2g}."
            )
    if not lines:
        return []
    return ["\n".join(lines)]


def plot(scored: Sequence[Scored], file: Path) -> None:
    """Plot held-out curves of RL and control for each seed, on the hard set; beside them any ablations."""
    import matplotlib

    matplotlib.use("Agg")  # no window, and no display needed
    import matplotlib.pyplot as plt

    ablations = [policy for policy in scored if policy.point.ablation]
    if ablations:
        figure, panels = plt.subplots(1, 2, figsize=(12, 4.2))
        _plot_curves(panels[0], scored)
        _plot_ablations(panels[1], ablations, last(scored, SFT, seeds_of(scored)[0]))
    else:
        figure, axes = plt.subplots(figsize=(7, 4.2))
        _plot_curves(axes, scored)
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(file, dpi=130)
    plt.close(figure)


def _plot_curves(axes: Any, scored: Sequence[Scored]) -> None:
    """Draw the curves of RL and control, and what is proved without a network as lines across."""
    for seed, color in zip(seeds_of(scored), COLORS * 10):
        for stage, style in ((RL, "o-"), (CONTROL, "s--")):
            updates: list[int] = []
            rates: list[float] = []
            low: list[float] = []
            high: list[float] = []
            for policy in curve(scored, stage, seed):
                updates.append(policy.point.updates)
                rates.append(policy.rate)
                low.append(policy.low)
                high.append(policy.high)
            axes.plot(updates, rates, style, color=color, label=f"{stage}, seed {seed}")
            # The control has as wide an interval: two shades over each other would hide both curves.
            if stage == RL:
                axes.fill_between(updates, low, high, color=color, alpha=0.12)
    for policy in scored:
        if policy.point.seed is None:
            axes.axhline(policy.rate, color=GREY, linestyle=":", label=policy.point.stage)
    axes.set(xlabel="optimizer updates", ylabel="held-out theorems of nanolean-hard solved (%)", ylim=(0, 100))
    axes.set_title("RL and control (95% interval shaded)")
    axes.legend(frameon=False, fontsize=8, loc="upper left", ncol=2)


def _plot_ablations(axes: Any, ablations: Sequence[Scored], start: Scored | None) -> None:
    """Draw the rates of the ablations as bars, and that of the network which all began with as a line."""
    names: list[str] = []
    rates: list[float] = []
    below: list[float] = []
    above: list[float] = []
    for policy in ablations:
        names.append(policy.point.stage)
        rates.append(policy.rate)
        below.append(policy.rate - policy.low)
        above.append(policy.high - policy.rate)
    colors = [DARK] + [PALE] * (len(ablations) - 1)  # the first one is what the others are held against
    axes.barh(names, rates, xerr=[below, above], color=colors, capsize=3)
    axes.invert_yaxis()
    if start is not None:
        axes.axvline(start.rate, color=GREY, linestyle=":", label=SFT)
        axes.legend(frameon=False, fontsize=8, loc="lower right")
    axes.set(xlabel="held-out theorems solved (%)", xlim=(0, 100), title="Shorter runs with one thing changed")
