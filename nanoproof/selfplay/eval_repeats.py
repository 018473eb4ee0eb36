"""Several evaluations of the same theorems with different seeds: how far the score varies, and pass@k."""

from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

from nanoproof.common.stats import pass_at_k
from nanoproof.prover.attempt import Attempt


def summarize_repeats(runs: Sequence[Mapping[str, Attempt]]) -> dict[str, Any]:
    """Mean and spread of the share solved, solve rates by theorem, and pass@k for k = 1, 2, 4, ... and all runs.

    Each run has the same theorems, by their keys. An attempt that ended in an error is one that did not solve; how many
    did is said beside.
    """
    assert runs and all(run.keys() == runs[0].keys() for run in runs)
    total, count = len(runs[0]), len(runs)
    solved = [sum(attempt.outcome == "proven" for attempt in run.values()) for run in runs]
    shares = [number / max(1, total) for number in solved]
    times = {key: sum(run[key].outcome == "proven" for run in runs) for key in runs[0]}
    sizes = sorted({2**power for power in range(count.bit_length()) if 2**power <= count} | {count})
    return {
        "runs": count,
        "total": total,
        "solved": solved,
        "solved_mean": fmean(solved),
        "share_mean": fmean(shares),
        "share_sd": stdev(shares) if count > 1 else None,
        "share_se": stdev(shares) / count**0.5 if count > 1 else None,
        "share_min": min(shares),
        "share_max": max(shares),
        "errors": [sum(attempt.outcome == "error" for attempt in run.values()) for run in runs],
        "pass_at": {str(k): fmean(pass_at_k(count, times[key], k) for key in times) if times else 0.0 for k in sizes},
        "always": sum(number == count for number in times.values()),
        "sometimes": sum(0 < number < count for number in times.values()),
        "never": sum(number == 0 for number in times.values()),
        "theorems": {runs[0][key].theorem.id: {"key": key, "solved": times[key]} for key in times},
    }


def repeats_report(summary: dict[str, Any]) -> str:
    """The numbers as lines of text."""
    shares = f"{100 * summary['share_mean']:.1f}%"
    if summary["share_sd"] is not None:
        shares += f" +- {100 * summary['share_sd']:.1f} (standard deviation of a run)"
    solved = ", ".join(map(str, summary["solved"]))
    at = ", ".join(f"pass@{k} {100 * rate:.1f}%" for k, rate in summary["pass_at"].items())
    lines = [
        f"{summary['dataset']} {summary['split']}, {summary['runs']} runs of {summary['total']} theorems, "
        f"{summary['simulations']} simulations",
        f"  solved: {solved}; mean {summary['solved_mean']:.1f} = {shares}",
        f"  {at}",
        f"  theorems solved in every run: {summary['always']}, in some: {summary['sometimes']}, "
        f"in none: {summary['never']}; errors: {sum(summary['errors'])}",
    ]
    return "\n".join(lines)
