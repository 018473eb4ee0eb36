"""Look at the theorems of any data set: which there are, how long they are, and their source.

python -m scripts.inspect_problems nanolean
python -m scripts.inspect_problems minif2f proofnet --split valid --search "Real.sqrt" --full
python -m scripts.inspect_problems leanworkbook --id "lean_workbook_1*" --lean-project DIR --json
"""

import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nanoproof.common.config import Parser, add_flags, change, from_args, group, opt, validated
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.option_groups import LeanOptions
from nanoproof.common.terminal import Paint, print_lines, shorten, table, width
from nanoproof.data.theorems.theorem_sets import (
    DATASETS,
    SPLITS,
    list_theorems,
    parse_set_names,
    set_name,
    skipped_of,
    splits_of,
)
from nanoproof.data.theorems.whitelists import choose_lean, theorem_hash
from nanoproof.lean.types import Theorem
from scripts.viewing import ViewOptions, contains, heading, indented, json_lines, matches, not_shown


@validated("inspect")
class ProblemOptions:
    """Which theorems."""

    split: tuple[str, ...] = opt((), "Splits; default: all that a data set has.", choices=SPLITS)
    id: tuple[str, ...] = opt((), "Ids; * and ? stand for anything.")
    search: str | None = opt(None, "Text in the source or the id, upper and lower case alike.")
    min_chars: int = opt(0, "Shortest source.", min=0)
    max_chars: int | None = opt(None, "Longest source.", min=1)
    lean: LeanOptions = group(
        LeanOptions,
        "lean-",
        without=("servers", "token"),
        project=change(
            help="Lean project whose version picks the whitelists; default LEAN_PROJECT_PATH, or none.", advanced=False
        ),
    )

    def wants(self, theorem: Theorem) -> bool:
        """Return whether a theorem passes the filters."""
        long_enough = self.min_chars <= len(theorem.source)
        short_enough = self.max_chars is None or len(theorem.source) <= self.max_chars
        named = matches(self.id, theorem.id) and contains(self.search, theorem.source, theorem.id)
        return long_enough and short_enough and named


@dataclass(frozen=True)
class Problem:
    """A theorem and the split that it is in."""

    split: str
    theorem: Theorem

    def to_json(self) -> dict[str, Any]:
        """Return the theorem as a JSON object."""
        theorem = self.theorem
        record = {"dataset": theorem.dataset, "split": self.split, "id": theorem.id, "source": theorem.source}
        return {**record, "chars": len(theorem.source), "hash": theorem_hash(theorem.source)}


def skipped_rows(names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield what was skipped of files of theorems, each with its line and the reason, as JSON objects."""
    for name in parse_set_names(names):
        for entry in skipped_of(name):
            yield {"dataset": set_name(name), "id": entry.name, "line": entry.line, "skipped": entry.reason}


def read(names: Sequence[str], options: ProblemOptions) -> list[Problem]:
    """Read the theorems that pass the filters. Raises UserError for missing data and unknown splits."""
    # Whitelists are of a version of Lean: statements that it refuses are no problems there.
    lean = choose_lean(options.lean.project)
    problems: list[Problem] = []
    has_split = False
    for name in parse_set_names(names):
        for split in splits_of(name):
            if options.split and split not in options.split:
                continue
            has_split = True
            for theorem in list_theorems(name, split, lean.version_for(name)):
                if options.wants(theorem):
                    problems.append(Problem(split, theorem))
    if not has_split:
        raise UserError(f"--split {' '.join(options.split)}: {', '.join(names)} has no such split")
    return problems


def overview(problems: Iterable[Problem], paint: Paint) -> Iterator[str]:
    """Yield counts and lengths of each split."""
    lengths: dict[tuple[str, str], list[int]] = {}
    for problem in problems:
        lengths.setdefault((problem.theorem.dataset, problem.split), []).append(len(problem.theorem.source))
    rows = []
    for (dataset, split), sizes in lengths.items():
        rows.append((dataset, split, len(sizes), min(sizes), int(statistics.median(sizes)), max(sizes)))
    yield from table(("data set", "split", "theorems", "shortest", "median", "longest"), rows, paint)


def listing(problems: Sequence[Problem], paint: Paint) -> Iterator[str]:
    """Render a line for each theorem."""
    longest_id = max(len("id"), *(len(problem.theorem.id) for problem in problems))
    available = max(20, width() - longest_id - 30)
    rows = []
    for problem in problems:
        theorem = problem.theorem
        # The name stands beside it, and the line is short.
        start = shorten(theorem.source.removeprefix(f"theorem {theorem.id}"), available)
        rows.append((theorem.dataset, problem.split, shorten(theorem.id, 60), len(theorem.source), start))
    yield from table(("data set", "split", "id", "chars", "source"), rows, paint)


def show(
    problems: Sequence[Problem], view: ViewOptions, paint: Paint, skipped: Iterable[dict[str, Any]] = ()
) -> Iterator[str]:
    """Render the output about the theorems that were found, in JSON with what was `skipped`."""
    chosen = view.choose(problems)
    if view.json:
        yield from json_lines(problem.to_json() for problem in chosen)
        # A program that reads this has no terminal in which the warnings about them would be seen.
        yield from json_lines(skipped)
        return
    if not problems:
        yield "no theorem passes the filters"
        return
    if view.full:
        for problem in chosen:
            theorem = problem.theorem
            yield heading(theorem.id, paint, theorem.dataset, problem.split, f"{len(theorem.source):,} characters")
            yield from indented(theorem.source)
            yield ""
    else:
        yield from listing(chosen, paint)
    yield from not_shown(len(problems), len(chosen))
    yield ""
    yield from overview(problems, paint)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the theorems; exit code 1 if none passes the filters."""
    parser = Parser(prog="python -m scripts.inspect_problems", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("datasets", nargs="+", metavar="DATASET", help=f"Data sets: {', '.join(DATASETS)}.")
    add_flags(parser, ProblemOptions)
    add_flags(parser, ViewOptions)
    args = parser.parse_args(argv)
    problems = read(args.datasets, from_args(ProblemOptions, args))
    print_lines(show(problems, from_args(ViewOptions, args), Paint(), skipped_rows(args.datasets)))
    return int(not problems)


if __name__ == "__main__":
    run_main(main)
