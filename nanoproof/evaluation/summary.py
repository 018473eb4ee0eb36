"""Statistics and summaries of evaluations: solved of total with intervals, paired tests, pass@k, cost, the curve."""

import gc
import hashlib
import math
import operator
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

from nanoproof.lean.certificates import verdict_line
from nanoproof.lean.types import Theorem
from nanoproof.prover.attempt import ON_RETRY, Attempt

# -- Statistics for reports ------------------------------------------------------------------------------------------


def wilson(solved: int, total: int, z: float = 1.959964) -> tuple[float, float]:
    """Compute the Wilson score interval for a proportion (Wilson 1927), 95% by default; (0, 1) of nothing."""
    if total == 0:
        return 0.0, 1.0
    rate = solved / total
    centre = rate + z * z / (2 * total)
    spread = z * math.sqrt(rate * (1 - rate) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """Compute the two-sided exact McNemar test: the p-value of so uneven discordant pairs if both were equally good.

    It is the binomial test of `only_first` successes in `only_first + only_second` fair trials; 1 without any.
    """
    trials = only_first + only_second
    tail = sum(math.comb(trials, count) for count in range(min(only_first, only_second) + 1))
    return min(1.0, 2 * tail / 2**trials)


def paired_difference(only_first: int, only_second: int, total: int, z: float = 1.959964) -> tuple[float, float, float]:
    """Subtract the first of two paired proportions from the second; returns the interval too, 95% by default.

    The interval is Wald's after half a pair was added to each of the four cells (Agresti and Min 2005); (0, -1, 1) when
    nothing was tried.
    """
    if total == 0:
        return 0.0, -1.0, 1.0
    first, second, count = only_first + 0.5, only_second + 0.5, total + 2
    centre = (second - first) / count
    spread = z * math.sqrt(max(0.0, first + second - (second - first) ** 2 / count)) / count
    return (only_second - only_first) / total, max(-1.0, centre - spread), min(1.0, centre + spread)


def sign_flip_test(differences: Sequence[float], draws: int = 10_000) -> float:
    """Compute the two-sided paired permutation test: the p-value of so large a mean if signs are random.

    All sign patterns are tried where there are no more than `draws`, else that many random ones (always the same).
    """
    nonzero = [difference for difference in differences if difference]
    limit = abs(sum(nonzero)) - 1e-9
    if 2 ** len(nonzero) <= draws:
        patterns = [
            [1 if pattern >> i & 1 else -1 for i in range(len(nonzero))] for pattern in range(2 ** len(nonzero))
        ]
        extreme = sum(abs(sum(map(operator.mul, signs, nonzero))) >= limit for signs in patterns)
        return extreme / len(patterns)
    rng = random.Random(0)
    extreme = sum(abs(sum(rng.choice((-1, 1)) * value for value in nonzero)) >= limit for _ in range(draws))
    return (extreme + 1) / (draws + 1)


def pass_at_k(runs: int, solved: int, k: int) -> float:
    """Estimate, unbiased, the probability that one of `k` runs succeeds: `solved` of `runs` did (Chen et al. 2021)."""
    assert 0 <= solved <= runs and 1 <= k <= runs
    return 1.0 - math.comb(runs - solved, k) / math.comb(runs, k)


# -- Repeated evaluations with different seeds -----------------------------------------------------------------------


def summarize_repeats(runs: Sequence[Mapping[str, Attempt]]) -> dict[str, Any]:
    """Summarize repeats: mean and spread of the share solved, solve rates, pass@k for k = 1, 2, 4, ... and all runs.

    Each run has the same theorems, by their keys. An attempt that ended in an error is one that did not solve; `errors`
    counts them.
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
    """Format the summary of repeats as lines of text."""
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


# -- The curve of solved theorems by simulations ---------------------------------------------------------------------

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


# -- The summary of one evaluation -----------------------------------------------------------------------------------

KEY_DIGITS = 16
_EXAMPLE = ("lost", "reason", "server")
_TIMEOUT_COUNTS = ("timeouts", "retried", "passed_on_retry")


def theorem_key(theorem: Theorem) -> str:
    """Hash data set, id and source of a theorem: its key in evaluations."""
    text = f"{theorem.dataset}\n{theorem.id}\n{theorem.source}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:KEY_DIGITS]


def by_theorem(attempts: Iterable[Attempt]) -> dict[str, Attempt]:
    """Return one attempt for each theorem, by its key: the first that proves it, else the newest without an error.

    Theorems have several where they were tried again after an error, and where many proofs of each were sampled.
    """
    found: dict[str, Attempt] = {}
    for attempt in attempts:
        key = theorem_key(attempt.theorem)
        known = found.get(key)
        if known is None or (known.outcome != "proven" and (attempt.outcome != "error" or known.outcome == "error")):
            found[key] = attempt
    return found


def theorem_set_hash(theorems: Iterable[Theorem]) -> str:
    """Hash a set of theorems, in whatever order they come; evaluations on equal sets can be compared."""
    keys = sorted(theorem_key(theorem) for theorem in theorems)
    return hashlib.sha256("\n".join(keys).encode()).hexdigest()[:KEY_DIGITS]


def solved_at(attempts: Iterable[Attempt], budget: int) -> dict[str, int]:
    """Count the theorems solved within 1, 2, 4, 8, ... simulations and within the whole budget."""
    budgets = [2**power for power in range(budget.bit_length()) if 2**power < budget] + [budget]
    used = [attempt.simulations for attempt in attempts if attempt.outcome == "proven"]
    return {str(limit): sum(simulations <= limit for simulations in used) for limit in budgets}


def attempt_seconds(attempt: Attempt) -> float:
    """Return the seconds of an attempt: of its phases, which waiting for Lean and for the policy are parts of."""
    return sum(value for name, value in attempt.seconds.items() if name not in ("lean", "policy"))


def summarize(attempts: Sequence[Attempt], budget: int, seconds: float) -> dict[str, Any]:
    """Summarize an evaluation that took `seconds`.

    A theorem that ended in an error counts in `total` and not in `solved`; `error_kinds` counts errors by kind.
    `refused_proofs` are proofs that the search had found and the final check refused: more than a few in a hundred mean
    that search and check do not see the same Lean. `lost_proofs` are those that it did not even refuse; `lost_kinds`
    counts them by how they were lost.
    """
    total = len(attempts)
    outcomes = Counter(attempt.outcome for attempt in attempts)
    solved = outcomes["proven"]
    low, high = wilson(solved, total)
    errors = Counter(attempt.stop_reason for attempt in attempts if attempt.outcome == "error")
    samples = sum(attempt.counts.get("tactic_samples", 0) for attempt in attempts)
    return {
        "solved": solved,
        "total": total,
        "low": low,
        "high": high,
        "failed": outcomes["unproven"] + outcomes["disproven"],
        "disproven": outcomes["disproven"],
        "errors": outcomes["error"],
        "error_kinds": dict(sorted(errors.items())),
        **_lost(attempts),
        **{name: sum(attempt.counts.get(name, 0) for attempt in attempts) for name in _TIMEOUT_COUNTS},
        "solved_on_retry": sum(attempt.stop_reason == ON_RETRY and attempt.outcome == "proven" for attempt in attempts),
        "simulations": budget,
        "simulations_used": sum(attempt.simulations for attempt in attempts),
        "tactic_samples": samples,
        "solved_at": solved_at(attempts, budget),
        "seconds": round(seconds, 1),
        "per_theorem": _per_theorem(attempts, samples, seconds),
    }


def _lost(attempts: Sequence[Attempt]) -> dict[str, Any]:
    """How many proofs were found that are none after the final check, and the first reason of both ways."""
    refused = [attempt for attempt in attempts if attempt.lost and not attempt.lost_by_server]
    lost = [attempt for attempt in attempts if attempt.lost_by_server]
    examples = {"refused_example": refused[:1], "lost_example": lost[:1]}
    return {
        "refused_proofs": len(refused),
        "lost_proofs": len(lost),
        "lost_kinds": dict(sorted(Counter(attempt.lost for attempt in lost).items())),
        **{
            name: {"id": attempt.theorem.id, **{field: (attempt.check or {}).get(field) for field in _EXAMPLE}}
            for name, found in examples.items()
            for attempt in found
        },
    }


def _per_theorem(attempts: Sequence[Attempt], samples: int, seconds: float) -> dict[str, float]:
    """Time and cost of a theorem on average. An attempt's time includes its waits; several are under way at once."""
    if not attempts:
        return {}
    times = [attempt_seconds(attempt) for attempt in attempts]
    solved = sum(attempt.outcome == "proven" for attempt in attempts)

    def mean(values: Iterable[float]) -> float:
        return round(fmean(values), 3)

    return {
        "wall_seconds": round(seconds / len(attempts), 3),
        "seconds": mean(times),
        "seconds_median": round(median(times), 3),
        "seconds_max": round(max(times), 3),
        "lean_seconds": mean(attempt.seconds.get("lean", 0.0) for attempt in attempts),
        "policy_seconds": mean(attempt.seconds.get("policy", 0.0) for attempt in attempts),
        "simulations": mean(attempt.simulations for attempt in attempts),
        "tactic_samples": mean(attempt.counts.get("tactic_samples", 0) for attempt in attempts),
        "tactics_run": mean(attempt.counts.get("tactics_run", 0) for attempt in attempts),
        **({"tactic_samples_of_a_proof": round(samples / solved, 1)} if solved else {}),
    }


def event_fields(summary: dict[str, Any]) -> dict[str, Any]:
    """Select the fields of a summary for a run's `events.jsonl`: its numbers, without settings and versions."""
    left_out = ("settings", "parts", "baseline", "versions", "model")
    return {name: value for name, value in summary.items() if name not in left_out}


def headline(summary: dict[str, Any]) -> str:
    """Format the score in one line."""
    kinds = ", ".join(f"{count} {kind}" for kind, count in summary["error_kinds"].items())
    return (
        f"{summary['dataset']} {summary['split']}: {summary['solved']}/{summary['total']} solved, "
        f"95% interval {100 * summary['low']:.1f}-{100 * summary['high']:.1f}%, "
        f"{_budget(summary)}, "
        f"{summary['errors']} errors{f' ({kinds})' if kinds else ''}, {summary['seconds']} s"
    )


def _budget(summary: dict[str, Any]) -> str:
    if "whole_proofs" in summary:
        return f"{summary['simulations']} whole proofs of each, {summary['tactic_samples']:,} samples"
    return f"{summary['simulations']} simulations, {summary['tactic_samples']:,} tactic samples"


def checked_by(summary: dict[str, Any]) -> str:
    """Name in a line the Lean that checked the proofs; empty for evaluations that did not record it."""
    fleets = dict.fromkeys(part["lean"] for part in summary.get("parts", ()) if part.get("lean"))
    return f"  proofs checked by {'; '.join(fleets)}" if fleets else ""


def report(summary: dict[str, Any]) -> str:
    """Format the score with its curve, its cost and the baseline beside it, as lines of text."""
    curve = {int(budget): count for budget, count in summary["solved_at"].items()}
    shown = [f"{count} at {budget}" for budget, count in curve.items() if budget >= 8 or budget == max(curve)]
    cost = summary["per_theorem"]
    whole = summary.get("whole_proofs")
    unit = "simulations" if whole is None else "samples"
    lines = [headline(summary), f"  solved: {', '.join(shown)} {unit}", *(report_whole(whole) if whole else ())]
    settings = summary.get("settings") or {}
    solvers = settings.get("search_finishers")
    if solvers is not None:
        lines.append(f"  solvers besides the policy: {', '.join(solvers) or 'none'}")
    # Small networks have them by default: a score must not be read as the network's alone.
    if settings.get("step_tactics"):
        lines.append(f"  steps besides the policy: {settings['step_tactics']} that a state suggests (--step-tactics)")
    if cost and whole is None:
        lines.append(
            f"  a theorem on average: {cost['simulations']:.1f} simulations, {cost['tactic_samples']:.1f} tactic "
            f"samples, {cost['seconds']:.2f} s (Lean {cost['lean_seconds']:.2f} s, policy "
            f"{cost['policy_seconds']:.2f} s), {cost['wall_seconds']:.2f} s of the clock"
        )
    lines += [*_report_lost(summary), *_report_timeouts(summary)]
    if "certificates" in summary:
        lines.append(f"  certificates for external checkers: {summary['certificates']} of {summary['solved']} proofs")
    if summary.get("verdicts", {}).get("proofs"):
        lines.append(verdict_line(summary["verdicts"]))
    lines += filter(None, [checked_by(summary)])
    lines += [f"  not in the score: {note}" for note in summary.get("skipped", {}).get("notes", ())]
    baseline = summary.get("baseline")
    if baseline:
        lines.append(
            f"  solver tactics alone: {baseline['solved']}/{baseline['total']}, "
            f"{100 * baseline['low']:.1f}-{100 * baseline['high']:.1f}%, {baseline['simulations']} simulations "
            f"({baseline['path']})"
        )
    return "\n".join(lines)


def report_whole(whole: dict[str, Any]) -> list[str]:
    """Format what a summary says of whole proofs as lines of text."""
    rates = ", ".join(f"{k}: {100 * rate:.1f}%" for k, rate in whole["pass_at"].items())
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in whole["refusals"].items())
    return [
        f"  pass@k, unbiased: {rates}",
        f"  {whole['proven']:,} samples are proofs; refused: {reasons or 'none'}; without a verdict: "
        f"{whole['without_verdict']:,}; {whole['copies']:,} were copies of others, {whole['cut_off']:,} cut off",
        f"  {whole['tokens']:,} tokens generated" + (f", {whole['repairs']:,} repairs" if whole["repairs"] else ""),
    ]


def _report_lost(summary: dict[str, Any]) -> list[str]:
    """Report proofs that were found and refused or lost by the final check."""
    kinds = ", ".join(f"{count} {kind}" for kind, count in summary.get("lost_kinds", {}).items())
    ways = (
        ("refused", "proofs were found and refused by the final check"),
        ("lost", f"proofs were found and lost in the final check, through no fault of theirs ({kinds})"),
    )
    lines = []
    for how, words in ways:
        if count := summary.get(f"{how}_proofs"):
            example = summary.get(f"{how}_example")
            first = f": {example['id']} on {example['server']}, {example['reason']}" if example else ""
            lines.append(f"  {count} {words}{first}")
    return lines


def _report_timeouts(summary: dict[str, Any]) -> list[str]:
    """Report tactics that ran out of time."""
    if not summary.get("timeouts"):
        return []
    line = f"  {summary['timeouts']:,} tactics ran out of time"
    if summary["retried"]:
        line += (
            f"; of {summary['retried']:,} in theorems given up, tried once more when nothing else ran, "
            f"{summary['passed_on_retry']:,} worked, and {summary['solved_on_retry']:,} theorems were proved by that"
        )
    return [line]
