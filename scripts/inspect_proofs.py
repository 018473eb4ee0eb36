"""Look at what a run or an evaluation proved and did not prove: attempts, their proofs, and trees where they were kept.

python -m scripts.inspect_proofs rl/RUN
python -m scripts.inspect_proofs rl/RUN --outcome proven --dataset nanolean --min-tactics 5 --full --max 3
python -m scripts.inspect_proofs rl/RUN --newest --tree --full --max 1
python -m scripts.inspect_proofs sft/RUN/eval_400_nanolean_test --outcome unproven error
python -m scripts.inspect_proofs proofs/ --id "lists_*" --full
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import get_args

from nanoproof.common.config import Parser, add_flags, from_args, opt, validated
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


@validated("inspect")
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

    def wants(self, record: Record) -> bool:
        """Return whether an attempt passes the filters."""
        ended_so = not self.outcome or record.outcome in self.outcome
        return ended_so and record.num_tactics >= self.min_tactics and self.concerns(record)

    def concerns(self, record: Record) -> bool:
        """Return whether an attempt passes the filters that do not ask how it ended: rates are of all these."""
        # What the index has first: an attempt is read from the log only where all of that fits.
        if self.origin and record.origin not in self.origin:
            return False
        if self.step is not None and record.step != self.step - 1:
            return False
        if self.tree and not record.has_tree:
            return False
        if not (matches(self.dataset, record.dataset) and matches(self.id, record.id)):
            return False
        if self.search is None:
            return True
        attempt = record.load()  # and forgotten: a log may be longer than the memory
        return contains(self.search, attempt.theorem.source, attempt.proof, attempt.message)


def listing(records_shown: Sequence[Record], paint: Paint) -> Iterator[str]:
    """Render a line for each attempt."""
    rows: list[tuple[object, ...]] = []
    texts: list[str] = []
    for record in records_shown:
        attempt = record.attempt
        seconds = None
        if "search" in attempt.seconds:
            seconds = f"{attempt.seconds['search']:.1f}"
        outcome = paint(attempt.outcome, COLORS[attempt.outcome])
        cells = (shorten(record.where, 24), shorten(attempt.theorem.id, 40), outcome)
        rows.append((*cells, attempt.num_tactics or None, attempt.simulations or None, seconds))
        texts.append(attempt.proof.replace("\n", "; ") or attempt.message or attempt.source)
    # The last column has what is left of a line beside the others, which are as wide as their contents.
    available = max(20, width() - 2 - max(map(len, table(HEADERS[:-1], rows))))
    for number, text in enumerate(texts):
        rows[number] = (*rows[number], shorten(text, available))
    yield from table(HEADERS, rows, paint)


HEADERS = ("where", "theorem", "outcome", ">tactics", ">simulations", ">seconds", "proof, or why not")


def overview(chosen: Iterable[Record], concerned: Iterable[Record], paint: Paint) -> Iterator[str]:
    """Render the number of chosen attempts by outcome, for each directory and data set.

    Behind it all attempts there, however they ended, and how many per cent of these are proofs: a choice by outcome
    does not change them.
    """
    all_counts = _by_place(concerned)
    rows: list[tuple[object, ...]] = []
    for place, counts in _by_place(chosen).items():
        total = all_counts[place].total()
        share = f"{100 * all_counts[place]['proven'] / total:.0f}%"
        rows.append((*place, *(counts[outcome] or None for outcome in OUTCOMES), total, share))
    yield from table(("place", "data set", *(f">{name}" for name in OUTCOMES), ">all", ">proven"), rows, paint)


def _by_place(records: Iterable[Record]) -> dict[tuple[str, str], Counter[str]]:
    counts: dict[tuple[str, str], Counter[str]] = {}
    for record in records:
        place = record.where
        if record.origin == "collect":  # of all steps together
            place = "collection"
        counts.setdefault((place, record.dataset), Counter())[record.outcome] += 1
    return counts


def full_text(record: Record, max_tree_nodes: int, paint: Paint) -> Iterator[str]:
    """Render an attempt with its statement, its proof or why there is none, and its tree."""
    attempt = record.attempt
    outcome = paint(attempt.outcome, COLORS[attempt.outcome])
    yield heading(attempt.theorem.id, paint, attempt.theorem.dataset, record.where) + f"  {outcome}"
    yield from indented(attempt.source or attempt.theorem.source)
    if attempt.message:
        yield f"  {paint('message', 'bold')}  {shorten(attempt.message, width() - 11)}"
    counts = [f"{count:,} {name.replace('_', ' ')}" for name, count in attempt.counts.items() if count]
    if counts:
        yield f"  {paint('search', 'bold')}  {', '.join(counts)}, {attempt.stop_reason}"
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
    steps = []
    for step in attempt.transitions:
        target = shorten(shorten_state(step.state), width() // 2)
        steps.append((step.depth, shorten(step.tactic, width() // 2), target))
    if steps:
        for line in table(("to go", "tactic", "target"), steps, paint):
            yield "  " + line


def show(concerned: Sequence[Record], options: ProofOptions, view: ViewOptions, paint: Paint) -> Iterator[str]:
    """Render the output about those attempts that pass the filters."""
    wanted = [record for record in concerned if options.wants(record)]
    chosen = view.choose(wanted)
    if view.json:
        yield from json_lines(record.to_json() for record in chosen)
        return
    if not wanted:
        yield "no attempt passes the filters"
        return
    if view.full:
        for record in chosen:
            yield from full_text(record, options.max_tree_nodes, paint)
    else:
        yield from listing(chosen, paint)
    yield from not_shown(len(wanted), len(chosen))
    yield ""
    yield from overview(wanted, concerned, paint)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the attempts; exit code 1 if none passes the filters."""
    parser = Parser(prog="python -m scripts.inspect_proofs", description=(__doc__ or "").splitlines()[0])
    text = "Run directory, evaluation directory, folder of .lean files, or a file of attempts; also as in `rl/RUN`."
    parser.add_argument("paths", nargs="+", metavar="PATH", help=text)
    add_flags(parser, ProofOptions)
    add_flags(parser, ViewOptions)
    args = parser.parse_args(argv)
    options = from_args(ProofOptions, args)
    concerned: list[Record] = []
    for path in args.paths:
        concerned += records(path, options.concerns)
    if options.newest:
        concerned.reverse()
    print_lines(show(concerned, options, from_args(ViewOptions, args), Paint()))
    return int(not any(map(options.wants, concerned)))


if __name__ == "__main__":
    run_main(main)
