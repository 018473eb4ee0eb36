"""Statistics and summaries of evaluations: solved of total with intervals, paired tests, pass@k, cost, the curve."""

import gc
import hashlib
import math
import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from operator import mul
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

from nanoproof.lean.certificates import verdict_line
from nanoproof.lean.types import Theorem
from nanoproof.prover.attempt import ON_RETRY, Attempt, Outcome

# -- Statistics for reports ------------------------------------------------------------------------------------------


# `z` is the 97.5% quantile of the normal distribution: 2.5% are left out on each side.


def wilson(solved: int, total: int, z: float = 1.959964) -> tuple[float, float]:
    """Compute the Wilson score interval for a proportion (Wilson 1927), 95% by default; (0, 1) of nothing."""
    # Not the normal interval, whose width is zero at 0 and at `total`: what small networks and easy sets reach.
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
    # Both tails of an even split have its middle in common, so twice one of them may be above 1.
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
    # Differences of 0 have no sign: with them the same patterns would be counted several times.
    nonzero = [difference for difference in differences if difference]
    # Patterns as extreme as the observed one count, and rounding of their sums must not decide whether they do.
    limit = abs(sum(nonzero)) - 1e-9
    extreme = 0
    num_patterns = 2 ** len(nonzero)
    if num_patterns <= draws:
        for pattern in product((-1, 1), repeat=len(nonzero)):
            extreme += abs(sum(map(mul, pattern, nonzero))) >= limit
        return extreme / num_patterns
    rng = random.Random(0)
    for _ in range(draws):
        signs = [rng.choice((-1, 1)) for _ in nonzero]
        extreme += abs(sum(map(mul, signs, nonzero))) >= limit
    # The observed pattern is one of those possible, so p is never 0 (Phipson and Smyth 2010).
    return (extreme + 1) / (draws + 1)


def pass_at_k(runs: int, solved: int, k: int) -> float:
    """Estimate, unbiased, the probability that one of `k` runs succeeds: `solved` of `runs` did (Chen et al. 2021)."""
    assert 0 <= solved <= runs and 1 <= k <= runs
    # Exact integers of any size; the paper multiplies fractions, since its binomials overflow floats.
    return 1.0 - math.comb(runs - solved, k) / math.comb(runs, k)


# -- Repeated evaluations with different seeds -----------------------------------------------------------------------


def summarize_repeats(runs: Sequence[Mapping[str, Attempt]]) -> dict[str, Any]:
    """Summarize repeats: mean and spread of the share solved, solve rates, pass@k for k = 1, 2, 4, ... and all runs.

    Each run has the same theorems, by their keys. An attempt that ended in an error is one that did not solve; `errors`
    counts them.
    """
    assert runs and all(run.keys() == runs[0].keys() for run in runs)
    total, count = len(runs[0]), len(runs)
    solved, errors, shares = [], [], []
    for run in runs:
        solved.append(count_outcome(run.values(), "proven"))
        errors.append(count_outcome(run.values(), "error"))
        shares.append(solved[-1] / max(1, total))
    # One run tells nothing about the spread between runs.
    deviation = standard_error = None
    if count > 1:
        deviation = stdev(shares)
        standard_error = deviation / count**0.5
    theorems: dict[str, dict[str, Any]] = {}
    times: list[int] = []
    """In how many of the runs each theorem was solved."""
    for key, attempt in runs[0].items():
        times.append(sum(run[key].outcome == "proven" for run in runs))
        theorems[attempt.theorem.id] = {"key": key, "solved": times[-1]}
    always, never = times.count(count), times.count(0)
    return {
        "runs": count,
        "total": total,
        "solved": solved,
        "solved_mean": fmean(solved),
        "share_mean": fmean(shares),
        "share_sd": deviation,
        "share_se": standard_error,
        "share_min": min(shares),
        "share_max": max(shares),
        "errors": errors,
        "pass_at": pass_rates(count, times),
        "always": always,
        "sometimes": total - always - never,
        "never": never,
        "theorems": theorems,
    }


def pass_rates(runs: int, times: Sequence[int]) -> dict[str, float]:
    """Compute pass@k for k = 1, 2, 4, ... and all `runs`; each theorem was solved in so many of them."""
    rates = {}
    for k in powers_of_two(runs):
        chances = [pass_at_k(runs, solved, k) for solved in times]
        rates[str(k)] = fmean(chances or (0.0,))
    return rates


def powers_of_two(last: int) -> list[int]:
    """List 1, 2, 4, ... below `last`, and `last` itself."""
    return [*(2**power for power in range(last.bit_length()) if 2**power < last), last]


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
    budgets, percent = _curve(summary)
    lows, highs = [], []
    for count in summary["solved_at"].values():
        low, high = wilson(count, total)
        lows.append(100 * low)
        highs.append(100 * high)
    axes.fill_between(budgets, lows, highs, color=BAND, alpha=0.4, lw=0)
    label = f"{summary['solved']} of {total} solved (95% interval shaded)"
    axes.plot(budgets, percent, "o-", color=INK, ms=4, label=label)
    baseline = summary.get("baseline")
    if baseline:
        xs, ys = _curve(baseline)
        axes.plot(xs, ys, "s--", color=GREY, ms=3, lw=1, label=f"solver tactics alone: {baseline['solved']}")
        # The baseline may have had another budget than this evaluation.
        budgets = sorted({*budgets, *xs})
    axes.set_xscale("log", base=2)
    # More than a dozen numbers side by side run into each other.
    shown = budgets[::2] if len(budgets) > 12 else budgets
    axes.xaxis.set_major_locator(FixedLocator(shown))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels(list(map(str, shown)))
    highest = max(highs)
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
    # Replaced in one step: a page that shows the picture reads it at any moment.
    partial = file.with_name(f".{file.name}.tmp")
    figure.savefig(partial, dpi=130, format="png")
    partial.replace(file)


def _curve(summary: dict[str, Any]) -> tuple[list[int], list[float]]:
    """Return the budgets (keys of JSON, so texts) and the percentage solved within each."""
    counts = summary["solved_at"]
    return list(map(int, counts)), [100 * count / max(1, summary["total"]) for count in counts.values()]


# -- The summary of one evaluation -----------------------------------------------------------------------------------

KEY_DIGITS = 16
"""64 bits: among a million theorems two equal keys have a chance of 1 in 37 million."""


def count_outcome(attempts: Iterable[Attempt], outcome: Outcome) -> int:
    """Count the attempts that ended so."""
    return sum(attempt.outcome == outcome for attempt in attempts)


def theorem_key(theorem: Theorem) -> str:
    """Hash data set, id and source of a theorem: its key in evaluations."""
    text = f"{theorem.dataset}\n{theorem.id}\n{theorem.source}"
    # Half a surrogate pair is no UTF-8, and escapes of JSON (backslash, ud835) bring it into a source.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:KEY_DIGITS]


def by_theorem(attempts: Iterable[Attempt]) -> dict[str, Attempt]:
    """Return one attempt for each theorem, by its key: the first that proves it, else the newest without an error.

    Theorems have several where they were tried again after an error, and where many proofs of each were sampled.
    """
    chosen: dict[str, Attempt] = {}
    for attempt in attempts:
        key = theorem_key(attempt.theorem)
        best = chosen.get(key)
        if best is None or (best.outcome != "proven" and (attempt.outcome != "error" or best.outcome == "error")):
            chosen[key] = attempt
    return chosen


def theorem_set_hash(theorems: Iterable[Theorem]) -> str:
    """Hash a set of theorems, in whatever order they come; evaluations on equal sets can be compared."""
    keys = sorted(map(theorem_key, theorems))
    return hashlib.sha256("\n".join(keys).encode()).hexdigest()[:KEY_DIGITS]


def solved_at(attempts: Iterable[Attempt], budget: int) -> dict[str, int]:
    """Count the theorems solved within 1, 2, 4, 8, ... simulations and within the whole budget."""
    used = sorted(attempt.simulations for attempt in attempts if attempt.outcome == "proven")
    return {str(limit): bisect_right(used, limit) for limit in powers_of_two(budget)}


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
    outcomes, errors, counts = Counter[str](), Counter[str](), Counter[str]()
    solved_on_retry = 0
    for attempt in attempts:
        outcomes[attempt.outcome] += 1
        counts.update(attempt.counts)
        if attempt.outcome == "error":
            errors[attempt.stop_reason] += 1
        elif attempt.outcome == "proven" and attempt.stop_reason == ON_RETRY:
            solved_on_retry += 1
    solved = outcomes["proven"]
    low, high = wilson(solved, total)
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
        "timeouts": counts["timeouts"],
        "retried": counts["retried"],
        "passed_on_retry": counts["passed_on_retry"],
        "solved_on_retry": solved_on_retry,
        "simulations": budget,
        "simulations_used": counts["simulations"],
        "tactic_samples": counts["tactic_samples"],
        "solved_at": solved_at(attempts, budget),
        "seconds": round(seconds, 1),
        "per_theorem": _per_theorem(attempts, counts, seconds, solved),
    }


def _lost(attempts: Sequence[Attempt]) -> dict[str, Any]:
    """Count proofs that were found and are none after the final check, with the first reason of both ways."""
    kinds = Counter[str]()
    refused = 0
    examples: dict[str, dict[str, Any]] = {}
    for attempt in attempts:
        if not attempt.lost:
            continue
        if attempt.lost_by_server:
            kinds[attempt.lost] += 1
            name = "lost_example"
        else:
            refused += 1
            name = "refused_example"
        check = attempt.check or {}
        example: dict[str, Any] = {"id": attempt.theorem.id}
        for field in ("lost", "reason", "server"):
            example[field] = check.get(field)
        examples.setdefault(name, example)
    # The order of the examples in the file follows their kind, not which of them happened to be lost first.
    return {
        "refused_proofs": refused,
        "lost_proofs": kinds.total(),
        "lost_kinds": dict(sorted(kinds.items())),
        **dict(sorted(examples.items(), reverse=True)),
    }


def _per_theorem(
    attempts: Sequence[Attempt], counts: Mapping[str, int], seconds: float, solved: int
) -> dict[str, float]:
    """Return time and cost of a theorem on average, in seconds; `counts` are those of all attempts together.

    An attempt's time includes its waits; several are under way at once, so it is longer than `wall_seconds`.
    """
    if not attempts:
        return {}
    times, lean, policy = [], [], []
    for attempt in attempts:
        times.append(attempt_seconds(attempt))
        lean.append(attempt.seconds.get("lean", 0.0))
        policy.append(attempt.seconds.get("policy", 0.0))
    costs = {
        "wall_seconds": round(seconds / len(attempts), 3),
        "seconds": round(fmean(times), 3),
        "seconds_median": round(median(times), 3),
        "seconds_max": round(max(times), 3),
        "lean_seconds": round(fmean(lean), 3),
        "policy_seconds": round(fmean(policy), 3),
    }
    for name in ("simulations", "tactic_samples", "tactics_run"):
        costs[name] = round(counts[name] / len(attempts), 3)
    if solved:
        costs["tactic_samples_of_a_proof"] = round(counts["tactic_samples"] / solved, 1)
    return costs


def event_fields(summary: dict[str, Any]) -> dict[str, Any]:
    """Select the fields of a summary for a run's `events.jsonl`: its numbers, without settings and versions."""
    left_out = ("settings", "parts", "baseline", "versions", "model")
    return {name: value for name, value in summary.items() if name not in left_out}


def headline(summary: dict[str, Any]) -> str:
    """Format the score in one line."""
    errors = f"{summary['errors']} errors"
    if kinds := _listed(summary["error_kinds"]):
        errors += f" ({kinds})"
    return (
        f"{summary['dataset']} {summary['split']}: {summary['solved']}/{summary['total']} solved, "
        f"95% interval {100 * summary['low']:.1f}-{100 * summary['high']:.1f}%, "
        f"{_budget(summary)}, {errors}, {summary['seconds']} s"
    )


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def _budget(summary: dict[str, Any]) -> str:
    if "whole_proofs" in summary:
        return f"{summary['simulations']} whole proofs of each, {summary['tactic_samples']:,} samples"
    return f"{summary['simulations']} simulations, {summary['tactic_samples']:,} tactic samples"


def checked_by(summary: dict[str, Any]) -> str:
    """Name in a line the Lean that checked the proofs; empty for evaluations that did not record it."""
    # Parts of an evaluation that was continued may have had other servers.
    fleets = dict.fromkeys(part["lean"] for part in summary.get("parts", ()) if part.get("lean"))
    if not fleets:
        return ""
    return f"  proofs checked by {'; '.join(fleets)}"


def report(summary: dict[str, Any]) -> str:
    """Format the score with its curve, its cost and the baseline beside it, as lines of text."""
    curve = summary["solved_at"]
    # The smallest budgets tell little of a search; where the whole is small, it is all that there is to tell.
    shown_from = min(8, max(map(int, curve)))
    shown = [f"{count} at {budget}" for budget, count in curve.items() if int(budget) >= shown_from]
    cost = summary["per_theorem"]
    whole = summary.get("whole_proofs")
    solved = f"  solved: {', '.join(shown)}"
    if whole is None:
        lines = [headline(summary), f"{solved} simulations"]
    else:
        lines = [headline(summary), f"{solved} samples", *report_whole(whole)]
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
    if checkers := checked_by(summary):
        lines.append(checkers)
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
    written = f"  {whole['tokens']:,} tokens generated"
    if whole["repairs"]:
        written += f", {whole['repairs']:,} repairs"
    return [
        f"  pass@k, unbiased: {rates}",
        f"  {whole['proven']:,} samples are proofs; refused: {reasons or 'none'}; without a verdict: "
        f"{whole['without_verdict']:,}; {whole['copies']:,} were copies of others, {whole['cut_off']:,} cut off",
        written,
    ]


def _report_lost(summary: dict[str, Any]) -> list[str]:
    """Report proofs that were found and refused or lost by the final check."""
    kinds = _listed(summary.get("lost_kinds", {}))
    ways = (
        ("refused", "proofs were found and refused by the final check"),
        ("lost", f"proofs were found and lost in the final check, through no fault of theirs ({kinds})"),
    )
    lines = []
    for how, meaning in ways:
        if count := summary.get(f"{how}_proofs"):
            line = f"  {count} {meaning}"
            if example := summary.get(f"{how}_example"):
                line += f": {example['id']} on {example['server']}, {example['reason']}"
            lines.append(line)
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
