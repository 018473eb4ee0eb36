"""What the value could save: give up hopeless searches, or give simulations to those that look nearest to a proof.

    python -m benchmarks.search_value EVALUATION... [--budget 256] [--after 16 32 64] [--json PATH] [--markdown PATH]

Reads the attempts of evaluations (directories of `scripts.prover_eval`, or files of attempts) and runs nothing: each
attempt records how many tactics seemed to be left after 1, 2, 4, ... simulations, and how many it took. So the table
says exactly what `--search-stop-value` and `--search-stop-after` would have done. Attempts with an error do not count.

- **separation**: the chance that of a search that will find a proof and one that will not, both still without one
  after N simulations, the first is estimated to be nearer (the area under the ROC curve; 0.5 is chance).
- **giving up**: searches given up after N simulations, the share of all simulations that this saves, and proofs lost.
  The last row of each N takes for each half of the theorems the lowest threshold that loses no proof of the other half:
  that is what may be expected on other theorems.
- **halving**: all searches get a few simulations; of those without a proof the half that seems nearest gets as many
  again, and so on. Beside it what halves by chance would find on average, and one budget for all, at as many
  simulations.
"""

import argparse
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nanoproof.common.config import Parser, add_flags, from_args, opt, validate
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import atomic_write_json, atomic_write_text, read_jsonl
from nanoproof.evaluation.summary import wilson
from nanoproof.prover.attempt import Attempt
from nanoproof.search.expand import Estimate

MEASURES: dict[str, Callable[[Estimate], float]] = {
    "V": lambda estimate: estimate.mean,
    "best": lambda estimate: estimate.best,
}
DRAWS = 1000


@dataclass(frozen=True)
class ValueOptions:
    """Worth of the value"""

    budget: int | None = opt(None, "As with this budget of simulations; default: that of the attempts.", min=2)
    after: tuple[int, ...] = opt((8, 16, 32), "Simulations after which a search may be given up: powers of two.")
    thresholds: tuple[float, ...] = opt((3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0), "Tactics left from which it is.")
    json: str | None = opt(None, "Write the figures to this file.")
    markdown: str | None = opt(None, "Write the tables to this file.")

    def __post_init__(self) -> None:
        validate(self, "value")


@dataclass(frozen=True)
class Search:
    """One search: simulations spent within the budget, whether they found a proof, and the estimates on the way."""

    simulations: int
    solved: bool
    estimates: tuple[Estimate, ...]

    def estimate(self, after: int) -> Estimate | None:
        """Return the first estimate after at least so many simulations."""
        return next((estimate for estimate in self.estimates if estimate.simulations >= after), None)

    def given_up(self, measure: Callable[[Estimate], float], after: int, threshold: float) -> int | None:
        """Return the simulations after which the search would have been given up; None if it would not have been."""
        found = (one.simulations for one in self.estimates if one.simulations >= after and measure(one) > threshold)
        return next(found, None)


def read_searches(paths: Sequence[Path], budget: int | None) -> list[Search]:
    """Read the searches of evaluations, cut at `budget` simulations. Raises UserError where estimates are missing."""
    searches: list[Search] = []
    for path in paths:
        files = sorted(path.glob("results*.jsonl")) if path.is_dir() else [path]
        if not files or not all(file.is_file() for file in files):
            raise UserError(f"{path} is no evaluation: it has no results.jsonl")
        try:
            attempts = [Attempt.from_json(record) for file in files for record in read_jsonl(file)]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UserError(f"{path} holds something that is no attempt: {error}") from error
        searches += [search_of(attempt, budget) for attempt in attempts if attempt.outcome != "error"]
    if not any(search.estimates for search in searches):
        raise UserError("no attempt says how many tactics seemed to be left: evaluate again, these records are older")
    return searches


def search_of(attempt: Attempt, budget: int | None) -> Search:
    """Return the search of an attempt as it would have been with this budget."""
    most = attempt.budget if budget is None else min(budget, attempt.budget)
    spent = min(attempt.simulations, most)
    estimates = tuple(estimate for estimate in attempt.estimates if estimate.simulations < most)
    return Search(spent, attempt.outcome == "proven" and attempt.simulations <= most, estimates)


def separation(searches: Sequence[Search], measure: Callable[[Estimate], float], after: int) -> tuple[float, int, int]:
    """Compute the area under the ROC curve after so many simulations; also how many will find a proof, and will not."""
    found: dict[bool, list[float]] = {True: [], False: []}
    for search in searches:
        estimate = search.estimate(after)
        if estimate is not None and estimate.simulations == after:
            found[search.solved].append(measure(estimate))
    pairs = [(near < far) + 0.5 * (near == far) for near in found[True] for far in found[False]]
    return (sum(pairs) / len(pairs) if pairs else 0.5), len(found[True]), len(found[False])


@dataclass(frozen=True)
class GivenUp:
    """What giving up does: searches given up, simulations saved of all, proofs lost of all."""

    stopped: int
    saved: int
    simulations: int
    lost: int
    proofs: int

    @classmethod
    def of(cls, searches: Sequence[Search], ends: Sequence[int | None]) -> "GivenUp":
        """Add up what ends that early would do."""
        cut = [(search, end) for search, end in zip(searches, ends, strict=True) if end is not None]
        return cls(
            len(cut),
            sum(search.simulations - end for search, end in cut),
            sum(search.simulations for search in searches),
            sum(search.solved for search, _ in cut),
            sum(search.solved for search in searches),
        )

    @property
    def share(self) -> float:
        """The share of simulations that is saved."""
        return self.saved / max(1, self.simulations)


def saved_interval(searches: Sequence[Search], ends: Sequence[int | None]) -> tuple[float, float]:
    """Return the 95% percentile bootstrap interval, over searches, of the share of simulations that is saved."""
    rng, pairs = random.Random(0), list(zip(searches, ends, strict=True))
    shares = []
    for _ in range(DRAWS):
        drawn = rng.choices(pairs, k=len(pairs))
        shares.append(GivenUp.of([search for search, _ in drawn], [end for _, end in drawn]).share)
    shares.sort()
    return shares[int(0.025 * DRAWS)], shares[int(0.975 * DRAWS)]


def safe_threshold(searches: Sequence[Search], measure: Callable[[Estimate], float], after: int) -> float:
    """Return the lowest threshold that gives up no search that finds a proof; infinity if none does."""
    solved = [search for search in searches if search.solved]
    if not solved:
        return float("inf")
    return max((measure(one) for search in solved for one in search.estimates if one.simulations >= after), default=0.0)


def crossed_ends(searches: Sequence[Search], measure: Callable[[Estimate], float], after: int) -> list[int | None]:
    """Return where each search would be given up by the safe threshold of the other half (even and odd places)."""
    thresholds = [safe_threshold(searches[1 - half :: 2], measure, after) for half in (0, 1)]
    return [search.given_up(measure, after, thresholds[place % 2]) for place, search in enumerate(searches)]


@dataclass(frozen=True)
class Halving:
    """Proofs found when half of the searches go on at each doubling, and by other ways at as many simulations."""

    first: int
    simulations: int
    solved: int
    by_chance: float
    uniform_budget: int
    uniform_solved: int


def halve(searches: Sequence[Search], first: int, rank: Callable[[Search, int], float]) -> tuple[int, int]:
    """Return proofs and simulations when after `first`, 2 `first`, ... simulations the half of lowest rank goes on."""
    budget, going, solved, spent = first, list(searches), 0, 0
    before = 0
    while going:
        spent += sum(min(search.simulations, budget) - min(search.simulations, before) for search in going)
        solved += sum(search.solved and search.simulations <= budget for search in going)
        left = [search for search in going if search.simulations > budget]
        left.sort(key=lambda search: rank(search, budget))
        going, before, budget = left[: len(left) // 2], budget, 2 * budget
    return solved, spent


def halving(searches: Sequence[Search], measure: Callable[[Estimate], float], first: int) -> Halving:
    """Compare halving by a measure with halving by chance and with one budget for all, at as many simulations."""

    def nearest(search: Search, budget: int) -> float:
        estimate = search.estimate(budget)
        return float("inf") if estimate is None else measure(estimate)

    solved, spent = halve(searches, first, nearest)
    rng = random.Random(0)
    chance = [halve(searches, first, lambda *_: rng.random())[0] for _ in range(DRAWS // 10)]
    budget = 1
    longest = max(search.simulations for search in searches)
    while budget < longest and sum(min(search.simulations, budget + 1) for search in searches) <= spent:
        budget += 1
    same = sum(search.solved and search.simulations <= budget for search in searches)
    return Halving(first, spent, solved, sum(chance) / len(chance), budget, same)


def report(searches: Sequence[Search], options: ValueOptions) -> tuple[list[str], dict[str, Any]]:
    """Make the tables and their figures."""
    proofs = sum(search.solved for search in searches)
    lines = [f"{len(searches)} searches, {proofs} proofs, {sum(one.simulations for one in searches)} simulations"]
    figures: dict[str, Any] = {"searches": len(searches), "proofs": proofs, "separation": [], "given_up": []}
    lines += ["", "| after | by | separation | with a proof later | without |", "|---|---|---|---|---|"]
    for after in options.after:
        for name, measure in MEASURES.items():
            area, near, far = separation(searches, measure, after)
            lines.append(f"| {after} | {name} | {area:.2f} | {near} | {far} |")
            row = {"after": after, "by": name, "area": round(area, 4), "solved": near, "unsolved": far}
            figures["separation"].append(row)
    lines += ["", "| after | by | more than | given up | simulations saved | interval | proofs lost | interval |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    for after in options.after:
        for name, measure in MEASURES.items():
            rows = [
                (f"{limit:g}", [search.given_up(measure, after, limit) for search in searches])
                for limit in options.thresholds
            ]
            for limit, ends in [*rows, ("of the other half", crossed_ends(searches, measure, after))]:
                what, (low, high) = GivenUp.of(searches, ends), saved_interval(searches, ends)
                least, most = wilson(what.lost, what.proofs)
                saved = f"{100 * what.share:.1f}% | {100 * low:.1f}-{100 * high:.1f}%"
                lost = f"{what.lost} of {what.proofs} | {100 * least:.1f}-{100 * most:.1f}%"
                lines.append(f"| {after} | {name} | {limit} | {what.stopped} | {saved} | {lost} |")
                row = {
                    "after": after,
                    "by": name,
                    "more_than": limit,
                    **vars(what),
                    "saved_low": low,
                    "saved_high": high,
                }
                figures["given_up"].append(row)
    lines += ["", "| halving from | by | simulations | proofs | by chance | one budget | its proofs |"]
    lines.append("|---|---|---|---|---|---|---|")
    figures["halving"] = []
    for first in options.after:
        for name, measure in MEASURES.items():
            half = halving(searches, measure, first)
            lines.append(
                f"| {first} | {name} | {half.simulations} | {half.solved} | {half.by_chance:.1f} | "
                f"{half.uniform_budget} | {half.uniform_solved} |"
            )
            figures["halving"].append({"by": name, **vars(half)})
    return lines, figures


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = Parser(prog="python -m benchmarks.search_value", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("evaluations", nargs="+", type=Path, metavar="EVALUATION", help="Directories or files.")
    add_flags(parser, ValueOptions)
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Print the tables, and write them where asked to."""
    args = parse_args(argv)
    options = from_args(ValueOptions, args)
    lines, figures = report(read_searches(args.evaluations, options.budget), options)
    print("\n".join(lines))
    if options.json is not None:
        atomic_write_json(Path(options.json), figures)
    if options.markdown is not None:
        atomic_write_text(Path(options.markdown), "\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    run_main(main)
