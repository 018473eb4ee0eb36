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

    @property
    def rate(self) -> tuple[float, float, float]:
        """Percent of the hard set solved, and its 95% interval."""
        summary = self.sets[HARD].summary
        return 100 * summary["solved"] / summary["total"], 100 * summary["low"], 100 * summary["high"]


def write_report(out: Path, points: Sequence[Point], options: dict[str, Any], seconds: dict[str, float]) -> None:
    """Write the files for what is scored so far, and print the table."""
    scored = [
        Scored(point, {name: read_evaluation(Path(point.path) / evaluation_name(name)) for name in SETS})
        for point in points
    ]
    scored.sort(key=lambda one: (one.point.ablation, one.point.seed if one.point.seed is not None else -1))
    pairs = comparisons(scored)
    text = "\n\n".join([scores_table(scored, options), pairs_table(pairs), *both_seeds(scored)]) + "\n"
    atomic_write_text(out / "table.md", text)
    summary = {
        "options": options,
        "scores": [
            {
                **asdict(one.point),
                **{name: {k: found.summary[k] for k in ("solved", "total")} for name, found in one.sets.items()},
            }
            for one in scored
        ],
        "comparisons": [{"name": name, **found} for name, found in pairs.items()],
        "seconds": seconds,
        "versions": versions(),
    }
    atomic_write_json(out / "summary.json", summary)
    plot(scored, out / "curves.png")
    print(f"\n{text}\nWritten: {out / 'table.md'}, {out / 'curves.png'}, {out / 'summary.json'}", flush=True)


def last(scored: Sequence[Scored], stage: str, seed: int) -> Scored | None:
    """Return the last point of a stage's curve."""
    found = [one for one in curve(scored, stage, seed) if one.point.stage == stage]
    return found[-1] if found else None


def curve(scored: Sequence[Scored], stage: str, seed: int) -> list[Scored]:
    """Return the start and the points of a stage, by updates."""
    found = [one for one in scored if one.point.seed == seed and one.point.stage in (SFT, stage)]
    return sorted((one for one in found if not one.point.ablation), key=lambda one: one.point.updates)


def seeds_of(scored: Sequence[Scored]) -> list[int]:
    """Return all seeds."""
    return sorted({one.point.seed for one in scored if one.point.seed is not None})


def arms_of(scored: Sequence[Scored]) -> list[str]:
    """Return the other recipes of RL, in the order of their points."""
    stages = [one.point.stage for one in scored if one.point.seed is not None and not one.point.ablation]
    return [stage for stage in dict.fromkeys(stages) if stage not in (SFT, RL, CONTROL)]


def scores_table(scored: Sequence[Scored], options: dict[str, Any]) -> str:
    """Solved, with Wilson's interval, and what the run did."""
    lines = [
        f"NanoLean, held-out test theorems, {options['simulations']} simulations each, solvers at every node; RL for "
        f"{options['minutes']:g} minutes (ablations {options['ablation_minutes']:g})",
        "",
        f"| seed | policy | updates | {' | '.join(f'{name} | 95% interval' for name in SETS)} | attempts | training "
        "theorems proved |",
        "|---|---|---" + 2 * len(SETS) * "|---" + "|---|---|",
    ]
    for one in scored:
        point = one.point
        seed = "" if point.seed is None else str(point.seed)
        shares: list[str] = []
        for summary in (one.sets[name].summary for name in SETS):
            shares.append(f"{summary['solved']}/{summary['total']} ({100 * summary['solved'] / summary['total']:.1f}%)")
            shares.append(f"{100 * summary['low']:.1f}-{100 * summary['high']:.1f}%")
        attempts, proved = experience(point)
        prefix = "ablation: " if point.ablation else ""
        cells = [seed, prefix + point.stage, f"{point.updates:,}", *shares, attempts, proved]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def experience(point: Point) -> tuple[str, str]:
    """Attempts, and theorems proved, in a run up to a point; empty where nothing was collected."""
    metrics = read_metrics(Path(point.run_dir)) if point.run_dir else []
    collected = [record for record in metrics if "attempts" in record and record["step"] <= point.step]
    if not collected:
        return "", ""
    return f"{sum(int(record['attempts']) for record in collected):,}", f"{int(collected[-1]['theorems_proven']):,}"


def comparisons(scored: Sequence[Scored]) -> dict[str, dict[str, Any]]:
    """Paired comparisons, by their names: RL with start and control of each seed, ablations; on each set."""
    pairs: dict[str, tuple[Scored | None, Scored | None]] = {}
    for seed in seeds_of(scored):
        start, rl, control = (last(scored, stage, seed) for stage in (SFT, RL, CONTROL))
        pairs |= {f"seed {seed}: RL - SFT": (start, rl), f"seed {seed}: RL - control": (control, rl)}
        for arm in arms_of(scored):
            pairs[f"seed {seed}: {arm} - RL"] = (rl, last(scored, arm, seed))
    changed = [one for one in scored if one.point.ablation]
    pairs |= {f"{one.point.stage} - {changed[0].point.stage}": (changed[0], one) for one in changed[1:]}
    return {
        f"{dataset}, {name}": compare(a.sets[dataset], b.sets[dataset])
        for dataset in SETS
        for name, (a, b) in pairs.items()
        if a is not None and b is not None
    }


def pairs_table(pairs: dict[str, dict[str, Any]]) -> str:
    """Render the comparisons as a table."""
    lines = [
        "| comparison | difference | 95% interval | only the first | only the second | McNemar's p |",
        "|---|---|---|---|---|---|",
    ]
    for name, found in pairs.items():
        cells = found["cells"]
        lines.append(
            f"| {name} | {100 * found['difference']:+.1f} | {100 * found['low']:+.1f} to {100 * found['high']:+.1f} "
            f"| {cells['only_second']} | {cells['only_first']} | {found['p']:.2g} |"
        )
    return "\n".join(lines)


def both_seeds(scored: Sequence[Scored]) -> list[str]:
    """Means over the seeds, compared by theorem; nothing where there is one seed."""
    seeds, lines = seeds_of(scored), []
    stages = [(SFT, RL), (CONTROL, RL), *((RL, arm) for arm in arms_of(scored))]
    for dataset, (stage, later) in itertools.product(SETS, stages):
        ends = {seed: (last(scored, stage, seed), last(scored, later, seed)) for seed in seeds}
        first = {str(seed): a.sets[dataset] for seed, (a, b) in ends.items() if a is not None and b is not None}
        second = {str(seed): b.sets[dataset] for seed, (a, b) in ends.items() if a is not None and b is not None}
        if len(first) > 1:
            found = compare_rates(first, second)
            lines.append(
                f"{dataset}, {len(first)} seeds, {later} - {stage}: {100 * found['difference']:+.1f} points on "
                f"average, permutation test over {found['total']} theorems p = {found['p']:.2g}."
            )
    return ["\n".join(lines)] if lines else []


def plot(scored: Sequence[Scored], file: Path) -> None:
    """Held-out curves of RL and control for each seed, on the hard set; beside them any ablations."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    changed = [one for one in scored if one.point.ablation]
    figure, panels = plt.subplots(1, 2 if changed else 1, figsize=(12 if changed else 7, 4.2), squeeze=False)
    left = panels[0][0]
    for seed, color in zip(seeds_of(scored), COLORS * 10):
        for stage, style in ((RL, "o-"), (CONTROL, "s--")):
            points = curve(scored, stage, seed)
            rates = [one.rate for one in points]
            x = [one.point.updates for one in points]
            left.plot(x, [rate[0] for rate in rates], style, color=color, label=f"{stage}, seed {seed}")
            if stage == RL:
                left.fill_between(x, [rate[1] for rate in rates], [rate[2] for rate in rates], color=color, alpha=0.12)
    for one in scored:
        if one.point.seed is None:
            left.axhline(one.rate[0], color=GREY, linestyle=":", label=one.point.stage)
    left.set(xlabel="optimizer updates", ylabel="held-out theorems of nanolean-hard solved (%)", ylim=(0, 100))
    left.set_title("RL and control (95% interval shaded)")
    left.legend(frameon=False, fontsize=8, loc="upper left", ncol=2)
    if changed:
        right, names = panels[0][1], [one.point.stage for one in changed]
        heights = [one.rate[0] for one in changed]
        errors = [[one.rate[0] - one.rate[1] for one in changed], [one.rate[2] - one.rate[0] for one in changed]]
        right.barh(names, heights, xerr=errors, color=[DARK] + [PALE] * (len(changed) - 1), capsize=3)
        right.invert_yaxis()
        start = last(scored, SFT, seeds_of(scored)[0])
        if start is not None:
            right.axvline(start.rate[0], color=GREY, linestyle=":", label=SFT)
            right.legend(frameon=False, fontsize=8, loc="lower right")
        right.set(xlabel="held-out theorems solved (%)", xlim=(0, 100), title="Shorter runs with one thing changed")
    for axes in panels[0]:
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(file, dpi=130)
    plt.close(figure)
