"""Look at what a run or an evaluation proved and did not prove: attempts, their proofs, and trees where they were kept.

python -m scripts.inspect_proofs rl/RUN
python -m scripts.inspect_proofs rl/RUN --outcome proven --dataset nanolean --min-tactics 5 --full --max 3
python -m scripts.inspect_proofs rl/RUN --newest --tree --full --max 1
python -m scripts.inspect_proofs sft/RUN/eval_400_nanolean_test --outcome unproven error
python -m scripts.inspect_proofs proofs/ --id "lists_*" --full
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

from nanoproof.common.config import Parser, add_flags, from_args, opt, validate
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.terminal import Paint, print_lines, shorten, table, width
from nanoproof.prover.attempt import Outcome
from nanoproof.search.render import render_tree
from nanoproof.search.render import shorten as shorten_state
from nanoproof.search.tree_json import tree_from_json
from scripts.proof_records import Origin, Record, records
from scripts.viewing import ViewOptions, contains, heading, indented, json_lines, matches, not_shown

OUTCOMES = get_args(Outcome)
COLORS = {"proven": "green", "disproven": "cyan", "unproven": "yellow", "error": "red"}


@dataclass(frozen=True)
class ProofOptions:
    """Which attempts."""

    outcome: tuple[str, ...] = opt((), "How they ended.", choices=OUTCOMES)
    origin: tuple[str, ...] = opt((), "Where they come from.", choices=get_args(Origin))
    dataset: tuple[str, ...] = opt((), "Data sets; * and ? stand for anything.")
    id: tuple[str, ...] = opt((), "Ids of theorems; * and ? stand for anything.")
    step: int | None = opt(None, "Only attempts of this step; 1 is the first.", min=1)
    search: str | None = opt(None, "Text in statement, proof or message, upper and lower case alike.")
    min_tactics: int = opt(0, "Fewest tactics of the proof.", min=0)
    tree: bool = opt(False, "Only attempts whose search tree was kept.")
    newest: bool = opt(False, "Last ones first: what a running run has done just now.")
    max_tree_nodes: int = opt(60, "With --full: show at most so many nodes of a tree.", min=1)

    def __post_init__(self) -> None:
        validate(self, "inspect")

    def wants(self, record: Record) -> bool:
        """Return whether an attempt passes the filters."""
        chosen = not self.outcome or record.outcome in self.outcome
        return chosen and record.num_tactics >= self.min_tactics and self.concerns(record)

    def concerns(self, record: Record) -> bool:
        """Return whether an attempt passes the filters that do not ask how it ended: rates are of all these."""
        if not (
            (not self.origin or record.origin in self.origin)
            and matches(self.dataset, record.dataset)
            and matches(self.id, record.id)
            and (self.step is None or record.step == self.step - 1)
            and (not self.tree or record.has_tree)
        ):
            return False
        if self.search is None:
            return True
        attempt = record.load()
        return contains(self.search, attempt.theorem.source, attempt.proof, attempt.message)


def listing(found: Sequence[Record], paint: Paint) -> Iterator[str]:
    """Render a line for each attempt."""
    rows: list[tuple[object, ...]] = []
    for record in found:
        attempt = record.attempt
        seconds = f"{attempt.seconds['search']:.1f}" if "search" in attempt.seconds else None
        outcome = paint(attempt.outcome, COLORS[attempt.outcome])
        said = attempt.proof.replace("\n", "; ") if attempt.proof else attempt.message or attempt.source
        cells = (shorten(record.where, 24), shorten(attempt.theorem.id, 40), outcome)
        numbers = (attempt.num_tactics or None, attempt.simulations or None, seconds)
        rows.append((*cells, *numbers, said))
    available = max(20, width() - 2 - max(len(line) for line in table(HEADERS[:-1], [row[:-1] for row in rows])))
    yield from table(HEADERS, [(*row[:-1], shorten(str(row[-1]), available)) for row in rows], paint)


HEADERS = ("where", "theorem", "outcome", ">tactics", ">simulations", ">seconds", "proof, or why not")


def overview(found: Iterable[Record], concerned: Iterable[Record], paint: Paint) -> Iterator[str]:
    """Render the number of attempts found by outcome, for each directory and data set.

    Behind it all attempts there, however they ended, and how many per cent of these are proofs: a choice by outcome
    does not change them.
    """
    counts, every = _by_place(found), _by_place(concerned)
    rows = [
        (*place, *(count[outcome] or None for outcome in OUTCOMES), sum(every[place].values()), _share(every[place]))
        for place, count in counts.items()
    ]
    yield from table(("place", "data set", *(f">{name}" for name in OUTCOMES), ">all", ">proven"), rows, paint)


def _by_place(records: Iterable[Record]) -> dict[tuple[str, str], Counter[str]]:
    counts: dict[tuple[str, str], Counter[str]] = {}
    for record in records:
        place = "collection" if record.origin == "collect" else record.where
        counts.setdefault((place, record.dataset), Counter())[record.outcome] += 1
    return counts


def _share(count: Counter[str]) -> str:
    return f"{100 * count['proven'] / sum(count.values()):.0f}%"


def full_text(record: Record, max_tree_nodes: int, paint: Paint) -> Iterator[str]:
    """Render an attempt with its statement, its proof or why there is none, and its tree."""
    attempt = record.attempt
    outcome = paint(attempt.outcome, COLORS[attempt.outcome])
    yield heading(attempt.theorem.id, paint, attempt.theorem.dataset, record.where) + f"  {outcome}"
    yield from indented(attempt.source or attempt.theorem.source)
    if attempt.message:
        yield f"  {paint('message', 'bold')}  {shorten(attempt.message, width() - 11)}"
    numbers = [f"{value:,} {name.replace('_', ' ')}" for name, value in attempt.counts.items() if value]
    if numbers:
        yield f"  {paint('search', 'bold')}  {', '.join(numbers)}, {attempt.stop_reason}"
    if attempt.lost_by_server and attempt.check is not None:
        yield f"  {paint('check', 'bold')}  lost a found proof: {attempt.lost} on {attempt.check.get('server', '?')}"
    elif attempt.check is not None:
        axioms = ", ".join(attempt.check.get("axioms", ())) or "none"
        yield f"  {paint('check', 'bold')}  {attempt.check.get('environment', '?')} environment, axioms: {axioms}"
    yield from tree_lines(record, max_tree_nodes, paint)
    yield ""


def tree_lines(record: Record, max_tree_nodes: int, paint: Paint) -> Iterator[str]:
    """Render the search tree; if it was not kept, the steps of the proof with the goal of each."""
    attempt = record.attempt
    try:
        tree = record.tree()
    except UserError as error:  # it may have been removed meanwhile
        yield f"  {error}"
        tree = None
    if tree is not None:
        try:
            yield from indented(render_tree(tree_from_json(tree), max_tree_nodes))
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            yield f"  the tree is damaged: {error!r}"
        return
    steps = [
        (step.depth, shorten(step.tactic, width() // 2), shorten(shorten_state(step.state), width() // 2))
        for step in attempt.transitions
    ]
    if steps:
        yield from ("  " + line for line in table(("to go", "tactic", "target"), steps, paint))


def show(concerned: Sequence[Record], options: ProofOptions, view: ViewOptions, paint: Paint) -> Iterator[str]:
    """Render the output about those attempts that pass the filters."""
    found = [record for record in concerned if options.wants(record)]
    chosen = view.choose(found)
    if view.json:
        yield from json_lines(record.to_json() for record in chosen)
        return
    if not found:
        yield "no attempt passes the filters"
        return
    if view.full:
        for record in chosen:
            yield from full_text(record, options.max_tree_nodes, paint)
    else:
        yield from listing(chosen, paint)
    yield from not_shown(len(found), len(chosen))
    yield ""
    yield from overview(found, concerned, paint)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the attempts; exit code 1 if none passes the filters."""
    parser = Parser(prog="python -m scripts.inspect_proofs", description=(__doc__ or "").splitlines()[0])
    text = "Run directory, evaluation directory, folder of .lean files, or a file of attempts; also as in `rl/RUN`."
    parser.add_argument("paths", nargs="+", metavar="PATH", help=text)
    add_flags(parser, ProofOptions)
    add_flags(parser, ViewOptions)
    args = parser.parse_args(argv)
    options = from_args(ProofOptions, args)
    concerned = [record for path in args.paths for record in records(path, options.concerns)]
    if options.newest:
        concerned.reverse()
    print_lines(show(concerned, options, from_args(ViewOptions, args), Paint()))
    return 0 if any(map(options.wants, concerned)) else 1


if __name__ == "__main__":
    run_main(main)
