"""The figures of the page, computed again from a run's files by other means than the monitor's, and written as people
read them. Nothing of `nanoproof` is imported here.

`of_rl`, `of_finetuning` and `of_evaluation` take a run's folder and return what its pages must show.
"""

import json
import math
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist, correlation, fmean
from typing import Any, NamedTuple

Z = NormalDist().inv_cdf(0.975)


class Shown(NamedTuple):
    """A figure on a page: where it is, its value, and the text that is on show."""

    page: str
    """What follows `#/`."""
    name: str
    """The title of the figure, as the page has it."""
    value: float | int | None
    text: str


# -- Numbers as the page writes them -----------------------------------------------------------------------------------


def integer(value: float) -> str:
    return f"{math.floor(value + 0.5):,}"


def compact(value: float) -> str:
    if value < 999.5:
        return integer(value)
    unit, letter = (1e6, "M") if value >= 999_500 else (1e3, "k")
    return f"{value / unit:.{0 if value / unit >= 9.95 else 1}f}{letter}"


def percent(value: float) -> str:
    return f"{100 * value:.1f}%"


def measure(value: float) -> str:
    size = abs(value)
    if value == int(value) and size < 1000:
        return str(int(value))
    if size >= 1000:
        return integer(value)
    if size < 0.001:
        mantissa, exponent = f"{value:.1e}".split("e")
        return f"{mantissa}e{int(exponent):+d}"
    return f"{value:.{1 if size >= 100 else 2 if size >= 10 else 3 if size >= 0.1 else 4}f}"


def duration(seconds: float) -> str:
    if seconds < 0.9995:
        return "0 s" if seconds <= 0 else f"{1000 * seconds:.0f} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = math.floor(seconds + 0.5)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} m {whole % 60:02} s"
    days, hours, minutes = whole // 86400, whole // 3600, whole // 60 % 60
    return f"{hours} h {minutes:02} m" if hours < 48 else f"{days} d {hours % 24:02} h"


def signed(value: float, text: str) -> str:
    return "±0" if value == 0 else f"{'+' if value > 0 else '−'}{text}"


# -- Statistics --------------------------------------------------------------------------------------------------------


def score_interval(solved: int, total: int) -> tuple[float, float]:
    """The rates p that a test of |solved/total - p| = z √(p(1-p)/total) does not refuse, found by halving."""
    seen = solved / total

    def edge(inside: float, outside: float) -> float:
        for _ in range(80):
            middle = (inside + outside) / 2
            refused = abs(seen - middle) > Z * math.sqrt(middle * (1 - middle) / total)
            inside, outside = (inside, middle) if refused else (middle, outside)
        return inside

    return edge(seen, 0.0), edge(seen, 1.0)


def binomial_p(lost: int, gained: int) -> float:
    """Both tails of a fair coin, as exact fractions."""
    trials, few = lost + gained, min(lost, gained)
    row = [1]
    for _ in range(trials):
        row = [a + b for a, b in zip([0, *row], [*row, 0], strict=True)]
    return float(min(Fraction(1), 2 * Fraction(sum(row[: few + 1]), 2**trials)))


def matched_interval(both: int, lost: int, gained: int, neither: int) -> tuple[float, float, float]:
    """The difference of two paired rates, and Wald's interval with half a pair more in each cell, from the cells."""
    cells = [cell + 0.5 for cell in (both, lost, gained, neither)]
    total = sum(cells)
    p = [cell / total for cell in cells]
    first, second = p[0] + p[1], p[0] + p[2]
    variance = (first * (1 - first) + second * (1 - second) - 2 * (p[0] * p[3] - p[1] * p[2])) / total
    half = Z * math.sqrt(variance)
    return (gained - lost) / (both + lost + gained + neither), second - first - half, second - first + half


# -- Files -------------------------------------------------------------------------------------------------------------


def read(file: Path) -> list[dict[str, Any]]:
    """The records of a JSONL file whose last line may be torn."""
    text = file.read_text(encoding="utf-8")
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def every(path: Path, pattern: str) -> list[dict[str, Any]]:
    return [record for file in sorted(path.glob(pattern)) for record in read(file)]


def steps_of(path: Path) -> dict[int, dict[str, Any]]:
    """The metrics by step; a step that was made again counts as it was the last time."""
    return {record["step"]: record for record in read(path / "metrics.jsonl")}


def evaluated(path: Path) -> dict[str, dict[str, Any]]:
    """The results of an evaluation by theorem."""
    return {record["theorem"]["id"]: record for record in every(path, "results*.jsonl")}


def evaluations(path: Path) -> list[Path]:
    """Those of the first benchmark, by step."""
    found = sorted(path.glob("evals/*"), key=lambda one: (one.name.partition("_")[2], int(one.name.split("_")[0])))
    return [one for one in found if one.name.partition("_")[2] == found[0].name.partition("_")[2]]


# -- The figures -------------------------------------------------------------------------------------------------------


def of_rl(path: Path) -> list[Shown]:
    """Figures of the overview, of a theorem, of the calibration and of the actors."""
    log = [record for record in every(path, "attempts_r*.jsonl") if "index" not in record]
    log = [record for record in log if "theorem" in record]
    steps, status = steps_of(path), json.loads((path / "status_r0.json").read_text())
    last = max(steps)
    proofs = [record for record in log if record["outcome"] == "proven"]
    ends = [record["time"] for record in log]
    hour = max(max(ends) - 3600, min(ends))
    pace = sum(record["time"] >= hour for record in proofs) / max(60.0, max(ends) - hour) * 3600
    own = {r["theorem"]["id"] for r in proofs}
    moments = [r["time"] for r in [*every(path, "metrics*.jsonl"), *every(path, "events*.jsonl")] if r.get("time")]
    later = sum(record["number"]["step"] >= last for record in log)
    attempts = integer(len(log)) + (f" {integer(later)} since the last step" if later else "")
    seconds = max(max(moments) - min(moments), status["seconds"])
    shown = [
        Shown("", "Step", last, f"{integer(last)} of {integer(status['num_steps'])}"),
        Shown("", "Time", seconds, duration(seconds)),
        Shown("", "Loss", steps[last]["loss"], loss_text(steps)),
        Shown("", "Theorems proved", len(own), f"{integer(len(own))} of {compact(status['theorems'])}"),
        Shown("", "Proofs per hour", pace, integer(pace)),
        Shown("", "Attempts", len(log), attempts),
        Shown("", "Replay buffer", status["replay"], f"{compact(status['replay'])} transitions"),
    ]
    if status.get("max_seconds"):
        shown = [one for one in shown if one.name not in ("Step", "Time")]
    return [*shown, *_of_theorem(log), *_of_calibration(path), *_of_actors(status, path)]


def loss_text(steps: dict[int, dict[str, Any]]) -> str:
    """The mean of the newest fifth of the steps, of at most 50: the loss of one batch jumps."""
    losses = [steps[step]["loss"] for step in sorted(steps)]
    return measure(fmean(losses[-max(1, min(50, len(losses) // 5)) :]))


def _of_theorem(log: list[dict[str, Any]]) -> list[Shown]:
    """The theorem that was tried most often."""
    by_theorem: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for record in log:
        by_theorem[record["theorem"]["dataset"], record["theorem"]["id"]].append(record)
    (dataset, name), tried = max(by_theorem.items(), key=lambda item: (len(item[1]), item[0]))
    done = [record for record in tried if record["outcome"] == "proven"]
    page = f"theorem?dataset={dataset}&id={name}"
    simulations = sum(record["counts"]["simulations"] for record in tried)
    phases = ("search", "simplify", "check")
    each = (sum(record.get("seconds", {}).get(phase, 0.0) for phase in phases) for record in tried)
    seconds = sum(round(one, 3) for one in each)  # as the index of attempts holds them
    shown = [
        Shown(page, "Attempts", len(tried), integer(len(tried))),
        Shown(page, "Proved", len(done), f"{integer(len(done))} of {integer(len(tried))}"),
        Shown(page, "Simulations", simulations, integer(simulations)),
        Shown(page, "Time", seconds, duration(seconds)),
    ]
    if done:
        first = 1 + min(record["number"]["step"] for record in done)
        shortest = min(record["num_tactics"] for record in done)
        words = f"{integer(shortest)} tactic{'' if shortest == 1 else 's'}"
        shown += [Shown(page, "First proof", first, f"step {first}"), Shown(page, "Shortest proof", shortest, words)]
    return shown


def _of_calibration(path: Path) -> list[Shown]:
    samples = [one for one in every(path, "samples_r*.jsonl") if one.get("value") is not None and one.get("depth")]
    if len(samples) < 2:
        return []
    page, errors = "model?view=calibration", [one["value"] - one["depth"] for one in samples]
    groups: dict[int, list[float]] = defaultdict(list)
    for one, error in zip(samples, errors, strict=True):
        groups[round(one["value"])].append(error)
    expected = sum(len(group) / len(errors) * abs(fmean(group)) for group in groups.values())
    bias, together = fmean(errors), correlation([one["value"] for one in samples], [one["depth"] for one in samples])
    return [
        Shown(page, "States", len(samples), integer(len(samples))),
        Shown(page, "Calibration error", expected, measure(expected)),
        Shown(page, "Mean error", bias, signed(bias, f"{abs(bias):.2f}")),
        Shown(page, "Mean absolute error", fmean(map(abs, errors)), measure(fmean(map(abs, errors)))),
        Shown(page, "Correlation", together, f"{together:.2f}"),
    ]


def _of_actors(status: dict[str, Any], path: Path) -> list[Shown]:
    """Shares of the actors' time, in the order of the page."""
    seconds: Counter[str] = Counter()
    for file in sorted(path.glob("status_r*.json")):
        for actor in json.loads(file.read_text())["actors"]:
            seconds.update(actor["seconds"])
    whole = sum(seconds.values())
    words = {"model": "waits for the model", "lean": "waits for Lean", "paused": "paused for training", "idle": "idle"}
    return [
        Shown("actors", word, seconds[state] / whole, f"{word} {percent(seconds[state] / whole)}")
        for state, word in words.items()
        if whole
    ]


def of_finetuning(path: Path) -> list[Shown]:
    """Figures of the overview and of the page about the run."""
    steps, args = steps_of(path), json.loads((path / "args.json").read_text())
    meta, last = json.loads((path / "meta.json").read_text()), max(steps)
    planned = int(meta["decisions"]["steps"].split()[0].replace(",", ""))
    validated = [record for _, record in sorted(steps.items()) if "valid/loss" in record]
    moments = [one["time"] for kind in ("metrics", "events") for one in every(path, f"{kind}*.jsonl")]
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    shown = [
        Shown("", "Step", last, f"{integer(last)} of {integer(planned)}"),
        Shown("", "Time", max(moments) - min(moments), duration(max(moments) - min(moments))),
        Shown("", "Loss", steps[last]["loss"], loss_text(steps)),
        Shown("run", "Seed", args["seed"], integer(args["seed"])),
        Shown("run", "bytes", size, ""),
    ]
    for name in ("tactic_loss", "value_loss", "tactic_token_accuracy", "step_seconds"):
        value = steps[last][name]
        text = {"tactic_token_accuracy": percent, "step_seconds": duration}.get(name, measure)(value)
        shown.append(Shown("", f"curve {name}", value, text))
    for name in ("valid/loss", "valid/tactic_loss", "valid/value_loss", "valid/tactic_exact_match"):
        value = validated[-1][name]
        shown.append(Shown("", f"curve {name}", value, percent(value) if name.endswith("match") else measure(value)))
    return shown


def of_evaluation(path: Path) -> list[Shown]:
    """Figures of the newest evaluation of a run on its first benchmark, and of its comparison with the first one."""
    first, *_, newest = evaluations(path)
    results, budget = evaluated(newest), json.loads((newest / "settings.json").read_text())["settings"]
    done = [one for one in results.values() if one["outcome"] == "proven"]
    total, solved, errors = len(results), len(done), sum(one["outcome"] == "error" for one in results.values())
    low, high = score_interval(solved, total)
    samples = sum(one["counts"]["tactic_samples"] for one in results.values())
    page, most = f"evaluation/{newest.name}", budget["num_simulations"]
    shown = [
        Shown(page, "Solved", solved / total, f"{percent(solved / total)} {integer(solved)} of {integer(total)}"),
        Shown(page, "Interval", low, f"{percent(low)} to {percent(high)}"),
        Shown(page, "Interval's end", high, f"{percent(low)} to {percent(high)}"),
        Shown(page, "Simulations", most, f"{integer(most)} at most, for each"),
        Shown(page, "Errors", errors, integer(errors)),
        Shown(page, "Took", samples, f"{samples} tactics sampled"),
    ]
    within = {limit: sum(one["counts"]["simulations"] <= limit for one in done) for limit in (1, 4)}
    shown += [Shown(page, f"within {limit}", count, "") for limit, count in within.items()]
    before = evaluated(first)
    cells = Counter((before[name]["outcome"] == "proven", results[name]["outcome"] == "proven") for name in results)
    both, lost, gained, neither = (cells[key] for key in ((True, True), (True, False), (False, True), (False, False)))
    difference, below, above = matched_interval(both, lost, gained, neither)
    p = binomial_p(lost, gained)
    page = f"compare?a={first.name}&b={newest.name}"
    ends = " to ".join(signed(value, f"{100 * abs(value):.1f}") for value in (below, above))
    points = f"{signed(difference, f'{100 * abs(difference):.1f}')} points 95%: {ends}"
    return [
        *shown,
        Shown(page, "Difference", difference, points),
        Shown(page, "Difference's low end", below, ""),
        Shown(page, "Gained", gained, integer(gained)),
        Shown(page, "Lost", lost, integer(lost)),
        Shown(page, "p", p, f"{'<0.001' if p < 0.001 else f'{p:.3f}'} McNemar, exact"),
    ]
