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
        cells = [
            f"{row['solved']:>4}/{row['total']:<3} {100 * row['low']:>5.1f} - {100 * row['high']:.1f}%"
            for row in sets.values()
        ]
        print(f"  {STAGES[stage]:<{width}}" + "".join(f"{cell:>28}" for cell in cells))
    print("\nTime: " + ", ".join(f"{name} {value:.0f} s" for name, value in seconds.items()))


def print_proofs(results: Path, count: int = 3) -> None:
    """Print the most interesting proofs: the longest ones, of different families of theorems."""
    proven = [record for record in read_jsonl(results) if record["outcome"] == "proven"]
    proven.sort(key=lambda record: (-record["num_tactics"], -record["counts"]["simulations"], record["theorem"]["id"]))
    seen: set[str] = set()
    print("\nThree of its proofs:")
    for record in proven:
        family = record["theorem"]["id"].split("_l")[0] if "_l" in record["theorem"]["id"] else "classic"
        if family not in seen and len(seen) < count:
            seen.add(family)
            print("\n" + "\n".join("  " + line for line in record["source"].splitlines()))


def plot(rl_dir: Path, stages: Mapping[str, Mapping[str, Mapping[str, Any]]], file: Path) -> None:
    """Plot the learning curve: what was solved on valid during RL, and the scores on test with their intervals."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    events = [event for event in read_jsonl(rl_dir / "events.jsonl") if event["kind"] == "evaluation"]
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), width_ratios=(3, 2))
    rates = [
        100 * record["proofs"] / max(1, record["attempts"]) for record in read_metrics(rl_dir) if "proofs" in record
    ]
    left.plot(range(1, len(rates) + 1), rates, color="#9db8d9", label="training theorems proved per attempt")
    steps = [event["step"] for event in events]
    left.plot(
        steps,
        [100 * event["solved"] / event["total"] for event in events],
        "o-",
        color="#1f4e8c",
        label="held-out valid, nanolean-hard",
    )
    left.set(xlabel="RL step", ylabel="proved (%)", ylim=(0, 100), title="Reinforcement learning")
    left.xaxis.get_major_locator().set_params(integer=True)
    left.legend(loc="upper left", frameon=False)
    places = range(len(stages))
    for number, (dataset, color) in enumerate(COLORS.items()):
        rows = [sets[dataset] for sets in stages.values()]
        heights = [100 * row["solved"] / row["total"] for row in rows]
        low = [max(0.0, height - 100 * row["low"]) for height, row in zip(heights, rows)]
        high = [max(0.0, 100 * row["high"] - height) for height, row in zip(heights, rows)]
        at = [place + 0.4 * (number - 0.5) for place in places]
        right.bar(at, heights, 0.38, yerr=(low, high), color=color, capsize=3, label=dataset)
    right.set_xticks(list(places), [STAGES[name].replace(" ", "\n", 1) for name in stages], fontsize=7)
    right.legend(frameon=False, fontsize=8)
    right.set(ylim=(0, 100), ylabel="solved (%)", title="Held-out test, 95% interval")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(file, dpi=130)
