"""The quickstart's report: the table of scores, some proofs, and the learning curve."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nanoproof.common.files import read_jsonl
from scripts.small_runs import SAMPLES, read_metrics

STAGES = {
    "solver_only": "solver tactics alone",
    "no_network": "no network",
    "sft": "after finetuning",
    "rl": "after RL",
    "control": "control: finetuning alone",
}
"""Names in the table of the stages of `summary.json`."""
COLORS = {"nanolean": "#9db8d9", "nanolean-hard": "#1f4e8c"}


def print_table(
    stages: Mapping[str, Mapping[str, Mapping[str, Any]]], seconds: Mapping[str, float], simulations: int
) -> None:
    """Print the scores side by side, and the time of each stage."""
    print(
        f"\nHeld-out test theorems solved, with 95% interval: {simulations} simulations of {SAMPLES} tactics each,\n"
        "and simp, omega and grind at every node of every search"
    )
    width = max(len(STAGES[name]) for name in stages) + 2
    print(f"  {'':<{width}}" + "".join(f"{name:>28}" for name in COLORS))
    for stage, sets in stages.items():
        line = f"  {STAGES[stage]:<{width}}"
        for score in sets.values():
            cell = f"{score['solved']:>4}/{score['total']:<3} {100 * score['low']:>5.1f} - {100 * score['high']:.1f}%"
            line += f"{cell:>28}"
        print(line)
    print("\nTime: " + ", ".join(f"{name} {value:.0f} s" for name, value in seconds.items()))


def print_proofs(results: Path, count: int = 3) -> None:
    """Print the most interesting proofs: the longest ones, of different families of theorems."""
    proven = [record for record in read_jsonl(results) if record["outcome"] == "proven"]
    # The id decides between equals, so that one seed prints the same proofs each time.
    proven.sort(key=lambda record: (-record["num_tactics"], -record["counts"]["simulations"], record["theorem"]["id"]))
    families: set[str] = set()
    print("\nThree of its proofs:")
    for record in proven:
        # Generated theorems are called FAMILY_lLEVEL_..., those written by hand as they are.
        family, is_generated, _ = record["theorem"]["id"].partition("_l")
        if not is_generated:
            family = "classic"
        if family not in families and len(families) < count:
            families.add(family)
            print()
            for line in record["source"].splitlines():
                print("  " + line)


def plot(rl_dir: Path, stages: Mapping[str, Mapping[str, Mapping[str, Any]]], file: Path) -> None:
    """Plot the learning curve: what was solved on valid during RL, and the scores on test with their intervals."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), width_ratios=(3, 2))
    _plot_learning(left, rl_dir)
    _plot_scores(right, stages)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(file, dpi=130)


def _plot_learning(axes: Any, rl_dir: Path) -> None:
    """Draw what RL proved by its steps: training theorems, and those of valid."""
    training_rates: list[float] = []
    for record in read_metrics(rl_dir):
        # A step that only trained (`--collect-transitions 0`, the control) has none.
        if "proofs" in record:
            training_rates.append(100 * record["proofs"] / max(1, record["attempts"]))
    steps, valid_rates = [], []
    for event in read_jsonl(rl_dir / "events.jsonl"):
        if event["kind"] == "evaluation":
            steps.append(event["step"])
            valid_rates.append(100 * event["solved"] / event["total"])
    collected = range(1, len(training_rates) + 1)
    axes.plot(collected, training_rates, color="#9db8d9", label="training theorems proved per attempt")
    axes.plot(steps, valid_rates, "o-", color="#1f4e8c", label="held-out valid, nanolean-hard")
    axes.set(xlabel="RL step", ylabel="proved (%)", ylim=(0, 100), title="Reinforcement learning")
    # A quickstart has a few steps: ticks at 2.5 would say nothing.
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend(loc="upper left", frameon=False)


def _plot_scores(axes: Any, stages: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
    """Draw the scores of the stages on each set, as bars with their intervals."""
    for number, (dataset, color) in enumerate(COLORS.items()):
        places: list[float] = []
        heights: list[float] = []
        below: list[float] = []
        above: list[float] = []
        for place, sets in enumerate(stages.values()):
            score = sets[dataset]
            height = 100 * score["solved"] / score["total"]
            places.append(place + 0.4 * (number - 0.5))
            heights.append(height)
            # At 0 and 100% Wilson's bound is the rate itself, but for the rounding: matplotlib refuses -1e-15.
            below.append(max(0.0, height - 100 * score["low"]))
            above.append(max(0.0, 100 * score["high"] - height))
        axes.bar(places, heights, 0.38, yerr=(below, above), color=color, capsize=3, label=dataset)
    labels = [STAGES[name].replace(" ", "\n", 1) for name in stages]
    axes.set_xticks(list(range(len(stages))), labels, fontsize=7)
    axes.legend(frameon=False, fontsize=8)
    axes.set(ylim=(0, 100), ylabel="solved (%)", title="Held-out test, 95% interval")
