"""What an evaluation comes to: solved of total with its interval, errors apart from failures, and what it cost."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean, median
from typing import Any

from nanoproof.common.stats import wilson
from nanoproof.lean.theorem import Theorem
from nanoproof.prover.attempt import ON_RETRY, Attempt

KEY_DIGITS = 16
_EXAMPLE = ("lost", "reason", "server")
_TIMEOUT_COUNTS = ("timeouts", "retried", "passed_on_retry")


def theorem_key(theorem: Theorem) -> str:
    """What a theorem goes by in evaluations: a hash of its data set, its id and its source."""
    text = f"{theorem.dataset}\n{theorem.id}\n{theorem.source}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:KEY_DIGITS]


def theorem_set_hash(theorems: Iterable[Theorem]) -> str:
    """What a set of theorems goes by, in whatever order they come; evaluations on equal sets can be compared."""
    keys = sorted(theorem_key(theorem) for theorem in theorems)
    return hashlib.sha256("\n".join(keys).encode()).hexdigest()[:KEY_DIGITS]


def solved_at(attempts: Iterable[Attempt], budget: int) -> dict[str, int]:
    """How many were solved within 1, 2, 4, 8, ... simulations and within the whole budget."""
    budgets = [2**power for power in range(budget.bit_length()) if 2**power < budget] + [budget]
    used = [attempt.simulations for attempt in attempts if attempt.outcome == "proven"]
    return {str(limit): sum(simulations <= limit for simulations in used) for limit in budgets}


def attempt_seconds(attempt: Attempt) -> float:
    """The time of an attempt: that of its phases, which waiting for Lean and for the policy are parts of."""
    return sum(value for name, value in attempt.seconds.items() if name not in ("lean", "policy"))


def summarize(attempts: Sequence[Attempt], budget: int, seconds: float) -> dict[str, Any]:
    """The numbers of an evaluation that took `seconds`.

    A theorem that ended in an error counts in `total` and not in `solved`; `error_kinds` says what the errors were.
    `refused_proofs` are proofs that the search had found and the final check refused: more than a few in a hundred mean
    that search and check do not see the same Lean. `lost_proofs` are those that it did not even refuse; `lost_kinds`
    says how they were lost.
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
    """What a run's `events.jsonl` says about an evaluation: its numbers, without how it was made."""
    left_out = ("settings", "parts", "baseline", "versions", "model")
    return {name: value for name, value in summary.items() if name not in left_out}


def headline(summary: dict[str, Any]) -> str:
    """The score in one line."""
    kinds = ", ".join(f"{count} {kind}" for kind, count in summary["error_kinds"].items())
    return (
        f"{summary['dataset']} {summary['split']}: {summary['solved']}/{summary['total']} solved, "
        f"95% interval {100 * summary['low']:.1f}-{100 * summary['high']:.1f}%, "
        f"{summary['simulations']} simulations, {summary['tactic_samples']:,} tactic samples, "
        f"{summary['errors']} errors{f' ({kinds})' if kinds else ''}, {summary['seconds']} s"
    )


def checked_by(summary: dict[str, Any]) -> str:
    """Whose word it is that the proofs are proofs, as a line; empty for evaluations that did not note it."""
    said = dict.fromkeys(part["lean"] for part in summary.get("parts", ()) if part.get("lean"))
    return f"  proofs checked by {'; '.join(said)}" if said else ""


def report(summary: dict[str, Any]) -> str:
    """The score with its curve, its cost and the baseline beside it, as lines of text."""
    curve = {int(budget): count for budget, count in summary["solved_at"].items()}
    shown = [f"{count} at {budget}" for budget, count in curve.items() if budget >= 8 or budget == max(curve)]
    cost = summary["per_theorem"]
    lines = [headline(summary), f"  solved: {', '.join(shown)} simulations"]
    if cost:
        lines.append(
            f"  a theorem on average: {cost['simulations']:.1f} simulations, {cost['tactic_samples']:.1f} tactic "
            f"samples, {cost['seconds']:.2f} s (Lean {cost['lean_seconds']:.2f} s, policy "
            f"{cost['policy_seconds']:.2f} s), {cost['wall_seconds']:.2f} s of the clock"
        )
    lines += [*_report_lost(summary), *_report_timeouts(summary)]
    if "certificates" in summary:
        lines.append(f"  certificates for external checkers: {summary['certificates']} of {summary['solved']} proofs")
    lines += filter(None, [checked_by(summary)])
    baseline = summary.get("baseline")
    if baseline:
        lines.append(
            f"  solver tactics alone: {baseline['solved']}/{baseline['total']}, "
            f"{100 * baseline['low']:.1f}-{100 * baseline['high']:.1f}%, {baseline['simulations']} simulations "
            f"({baseline['path']})"
        )
    return "\n".join(lines)


def _report_lost(summary: dict[str, Any]) -> list[str]:
    """What is to be said of proofs that were found and are none."""
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
    """What is to be said of tactics that ran out of time."""
    if not summary.get("timeouts"):
        return []
    line = f"  {summary['timeouts']:,} tactics ran out of time"
    if summary["retried"]:
        line += (
            f"; of {summary['retried']:,} in theorems given up, tried once more when nothing else ran, "
            f"{summary['passed_on_retry']:,} worked, and {summary['solved_on_retry']:,} theorems were proved by that"
        )
    return [line]
