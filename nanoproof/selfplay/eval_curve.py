"""`curve.png`: how many theorems were solved within how many simulations, with the interval and the baseline."""

import gc
from pathlib import Path
from typing import Any

from nanoproof.common.stats import wilson

INK, BAND, GREY = "#1f4e8c", "#9db8d9", "#77776f"


def plot_curve(summary: dict[str, Any], file: Path) -> None:
    """Draw the curve of a summary, and that of its solver-only baseline where it has one."""
    _draw(summary, file)
    gc.collect()  # a figure refers to itself, megabytes that would stay for long


def _draw(summary: dict[str, Any], file: Path) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import FixedLocator, NullLocator

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    total = summary["total"]
    budgets, counts = _curve(summary)
    bounds = [wilson(count, total) for count in counts]
    axes.fill_between(
        budgets, [100 * low for low, _ in bounds], [100 * high for _, high in bounds], color=BAND, alpha=0.4, lw=0
    )
    label = f"{summary['solved']} of {total} solved (95% interval shaded)"
    axes.plot(budgets, [100 * count / max(1, total) for count in counts], "o-", color=INK, ms=4, label=label)
    baseline = summary.get("baseline")
    if baseline:
        xs, ys = _curve(baseline)
        share = [100 * count / max(1, baseline["total"]) for count in ys]
        axes.plot(xs, share, "s--", color=GREY, ms=3, lw=1, label=f"solver tactics alone: {baseline['solved']}")
        budgets = sorted({*budgets, *xs})
    axes.set_xscale("log", base=2)
    shown = budgets if len(budgets) <= 12 else budgets[::2]
    axes.xaxis.set_major_locator(FixedLocator(shown))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([str(budget) for budget in shown])
    highest = max(100 * high for _, high in bounds)
    axes.set(
        xlabel="simulations per theorem",
        ylabel="theorems solved (%)",
        ylim=(0, min(100.0, max(10.0, 1.15 * highest))),
        title=f"{summary['dataset']} {summary['split']}",
    )
    axes.grid(axis="y", color="#e6e6e1", lw=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper left", frameon=False)
    partial = file.with_name(f".{file.name}.tmp")
    figure.savefig(partial, dpi=130, format="png")
    partial.replace(file)


def _curve(summary: dict[str, Any]) -> tuple[list[int], list[int]]:
    return [int(budget) for budget in summary["solved_at"]], list(summary["solved_at"].values())
