"""Look into the buffers that a run of reinforcement learning trains from, rebuilt from its log of attempts.

python -m scripts.inspect_buffer rl/RUN
python -m scripts.inspect_buffer rl/RUN --kind negative --negative-buffer-window-size 100000 --id "lists_*" --max 5
python -m scripts.inspect_buffer rl/RUN --until-step 10 --search "omega" --json
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from nanoproof.common.config import Parser, add_flags, from_args, opt, validated
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import read_json
from nanoproof.common.run_dir import resolve_run_dir
from nanoproof.common.terminal import Paint, print_lines, printable, shorten, table, width
from nanoproof.lean.types import Transition
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.attempt_log import logged_attempts
from nanoproof.rl.options import RLOptions
from nanoproof.search.config import SearchConfig, SolverOption
from nanoproof.search.render import shorten as shorten_state
from scripts.viewing import ViewOptions, contains, heading, indented, json_lines, matches, not_shown

# What imports torch comes after the options, which may be mistyped.
if TYPE_CHECKING:
    from nanoproof.rl.batch_sampler import Buffers, WindowBuffer

Kind = Literal["replay", "negative"]
WINDOWS: dict[Kind, str] = {
    "replay": "replay_buffer_window_size",
    "negative": "negative_buffer_window_size",
}
OF_BUFFERS = (*WINDOWS.values(), "load_buffer", "negative_fraction", "unlikelihood_weight", "disable_solvers")
"""Options of a run that its buffers depend on."""
BARS = 30
"""Characters of the longest bar of a histogram."""


@validated("inspect")
class BufferOptions:
    """Buffer and filters."""

    kind: Kind = opt("replay", "Transitions of proofs, or tactics that Lean refused.")
    dataset: tuple[str, ...] = opt((), "Data sets of the theorems; * and ? stand for anything.")
    id: tuple[str, ...] = opt((), "Ids of the theorems; * and ? stand for anything.")
    search: str | None = opt(None, "Text in the state or the tactic, upper and lower case alike.")
    depth: tuple[int, ...] = opt((), "Numbers of tactics still to go.")
    until_step: int | None = opt(None, "As after this collection step.", min=0)
    replay_buffer_window_size: int | None = opt(None, "As with this window; default: the run's own.", min=1)
    negative_buffer_window_size: int | None = opt(
        None, "As with this window; default: the run's own, which is 0 if it learns from no failed tactics.", min=0
    )


@dataclass(frozen=True)
class Item:
    """A transition of a buffer, its age in collection steps, and the theorem that added it last."""

    transition: Transition
    step: int
    age: int
    dataset: str
    theorem: str

    def to_json(self) -> dict[str, Any]:
        """Return the item as a JSON object."""
        state, tactic, depth = self.transition.state, self.transition.tactic, self.transition.depth
        known = {"dataset": self.dataset, "theorem": self.theorem, "step": self.step, "age": self.age}
        return {"state": state, "tactic": tactic, "depth": depth, **known}


@dataclass(frozen=True)
class Rebuilt:
    """The buffers after the last collection step that counts, and whom their items are from."""

    buffers: "Buffers"
    origins: dict[Kind, dict[tuple[str, str], tuple[str, str]]]
    attempts: int
    last_step: int

    def items(self, kind: Kind) -> list[Item]:
        """Return the contents of a buffer, newest first."""
        items = []
        for key, transition, step in self.buffer(kind).entries():
            dataset, theorem = self.origins[kind][key]
            items.append(Item(transition, step, self.last_step - step, dataset, theorem))
        return items[::-1]

    def buffer(self, kind: Kind) -> "WindowBuffer[tuple[str, str], Transition]":
        """Return a buffer."""
        if kind == "negative":
            return self.buffers.negative
        return self.buffers.replay


def buffer_options(run: Path, options: BufferOptions) -> tuple[RLOptions, Sequence[str]]:
    """Return the run's buffer options, with the windows of the command line, and the solver tactics it leaves out."""
    file = run / "args.json"
    args: dict[str, Any] = {}
    if file.exists():
        args = read_json(file)
    # Those alone that a buffer depends on: runs of older revisions have options that are gone.
    values = {name: args[name] for name in OF_BUFFERS if name in args}
    for name in WINDOWS.values():
        if getattr(options, name) is not None:
            values[name] = getattr(options, name)
    try:
        solvers = SolverOption(bool(values.pop("disable_solvers", False)))
        own = RLOptions(solvers=solvers, **values)
    except (TypeError, ValueError) as error:
        raise UserError(f"{file} does not say the size of the buffers: {error}") from error
    # What solvers do at every node by themselves, such a run does not learn.
    if own.solvers.disable_solvers:
        return own, args.get("search_solver_tactics", SearchConfig().solver_tactics)
    return own, ()


def rebuild(run: Path, options: BufferOptions) -> Rebuilt:
    """Rebuild the buffers from the log as a resumed run does. Raises UserError if there is none."""
    from nanoproof.rl.batch_sampler import buffers_of
    from nanoproof.rl.collection import BEFORE_THIS_RUN, name_of

    own, solvers = buffer_options(run, options)
    runs = [run]
    if own.load_buffer is not None:
        runs = [resolve_run_dir(own.load_buffer, "--load-buffer of the run"), run]
    buffers = buffers_of(own, solvers, options.negative_buffer_window_size)
    origins: dict[Kind, dict[tuple[str, str], tuple[str, str]]] = {kind: {} for kind in WINDOWS}
    rebuilt = Rebuilt(buffers, origins, 0, 0)
    attempts = last_step = 0
    for source in runs:
        for step, attempt in logged_attempts(source):
            if source != run:
                step = BEFORE_THIS_RUN
            elif options.until_step is not None and step > options.until_step:
                break
            buffers.add([attempt], step)
            attempts, last_step = attempts + 1, step
            name = name_of(attempt.theorem)
            for kind in WINDOWS:
                for key in _keys(attempt, kind):
                    origins[kind][key] = name
                _drop_evicted(origins[kind], rebuilt.buffer(kind))
    if not attempts:
        limit = ""
        if options.until_step:
            limit = " up to that step"
        raise UserError(f"{run} has no attempts (attempts_r*.jsonl){limit}")
    return replace(rebuilt, attempts=attempts, last_step=last_step)


def _keys(attempt: Attempt, kind: Kind) -> Iterator[tuple[str, str]]:
    """Yield state and tactic of what an attempt has for a buffer."""
    if kind == "negative":
        yield from attempt.failed_tactics
        return
    for step in attempt.transitions:
        yield step.state, step.tactic


def _drop_evicted(
    origins: dict[tuple[str, str], tuple[str, str]], buffer: "WindowBuffer[tuple[str, str], Transition]"
) -> None:
    """Drop what has left the buffer, now and then: a log has many times more."""
    # At twice the size: looking through all of them after each attempt would take the square of the time.
    if len(origins) > 2 * len(buffer) + 10_000:
        for key in [key for key in origins if key not in buffer]:
            del origins[key]


def filtered_items(rebuilt: Rebuilt, options: BufferOptions) -> list[Item]:
    """Return the items that pass the filters, newest first."""
    items = []
    for item in rebuilt.items(options.kind):
        transition = item.transition
        wanted = matches(options.dataset, item.dataset) and matches(options.id, item.theorem)
        wanted = wanted and contains(options.search, transition.state, transition.tactic)
        if wanted and (not options.depth or transition.depth in options.depth):
            items.append(item)
    return items


def overview(rebuilt: Rebuilt, paint: Paint) -> Iterator[str]:
    """Render the sizes and ages of the buffers."""
    rows = []
    for kind in WINDOWS:
        buffer = rebuilt.buffer(kind)
        oldest = None
        theorems: set[tuple[str, str]] = set()
        for key, _, step in buffer.entries():
            age = rebuilt.last_step - step
            if oldest is None or age > oldest:
                oldest = age
            theorems.add(rebuilt.origins[kind][key])
        mean_age = f"{buffer.staleness(rebuilt.last_step):.2f}"
        rows.append((kind, len(buffer), buffer.window, len(theorems), mean_age, oldest))
    yield from table(("buffer", "items", "window", "theorems", ">mean age", ">oldest"), rows, paint)
    yield f"from {rebuilt.attempts:,} attempts up to step {rebuilt.last_step}; ages are in collection steps"


def histograms(items: Sequence[Item], kind: Kind, paint: Paint) -> Iterator[str]:
    """Render how many items are how old, and (unless they failed) how many tactics from the end."""
    values = {"age": [item.age for item in items]}
    # Of a tactic that Lean refused nobody knows how many would follow.
    if kind != "negative":
        values["to go"] = [item.transition.depth for item in items]
    for name in values:
        yield ""
        yield from table((name, "items", ""), _bars(values[name]), paint)


def _bars(values: Sequence[int]) -> list[tuple[str, int, str]]:
    """Return the rows of a histogram: about a dozen groups of values that are equally wide, empty ones too."""
    size = (max(values) - min(values)) // 12 + 1
    counts = Counter(value // size for value in values)
    most = max(counts.values())
    rows = []
    for group in range(min(counts), max(counts) + 1):
        first, count = group * size, counts[group]
        label = str(first)
        if size > 1:
            label = f"{first}-{first + size - 1}"
        bar = ""
        if count:  # one that has any is seen
            bar = "█" * max(1, round(BARS * count / most))
        rows.append((label, count, bar))
    return rows


def listing(items: Sequence[Item], paint: Paint) -> Iterator[str]:
    """Render a line for each item."""
    available = max(20, (width() - 50) // 2)  # columns for tactic and target each, beside the other three
    rows = []
    for item in items:
        tactic = shorten(item.transition.tactic, available)
        target = shorten(shorten_state(item.transition.state), available)
        rows.append((item.age, item.transition.depth, shorten(item.theorem, 28), tactic, target))
    yield from table(("age", "to go", "theorem", "tactic", "target"), rows, paint)


def full_text(item: Item, paint: Paint) -> Iterator[str]:
    """Render an item with its whole state."""
    yield heading(item.theorem, paint, item.dataset, f"{item.age} steps old", f"{item.transition.depth} to go")
    yield from indented(item.transition.state)
    yield f"  {paint('→', 'bold')} {printable(item.transition.tactic)}"
    yield ""


def show(rebuilt: Rebuilt, items: Sequence[Item], kind: Kind, view: ViewOptions, paint: Paint) -> Iterator[str]:
    """Render the output about the items that passed the filters."""
    chosen = view.choose(items)
    if view.json:
        yield from json_lines(item.to_json() for item in chosen)
        return
    yield from overview(rebuilt, paint)
    if not items:
        yield f"nothing in the {kind} buffer passes the filters"
        return
    yield from histograms(items, kind, paint)
    yield ""
    if view.full:
        for item in chosen:
            yield from full_text(item, paint)
    else:
        yield from listing(chosen, paint)
    yield from not_shown(len(items), len(chosen))


def main(argv: Sequence[str] | None = None) -> int:
    """Print the buffers; exit code 1 if nothing passes the filters."""
    parser = Parser(prog="python -m scripts.inspect_buffer", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("run", metavar="RUN", help="Run directory of reinforcement learning, as in `rl/RUN`.")
    add_flags(parser, BufferOptions)
    add_flags(parser, ViewOptions)
    args = parser.parse_args(argv)
    options = from_args(BufferOptions, args)
    rebuilt = rebuild(resolve_run_dir(args.run, "RUN"), options)
    items = filtered_items(rebuilt, options)
    print_lines(show(rebuilt, items, options.kind, from_args(ViewOptions, args), Paint()))
    return int(not items)


if __name__ == "__main__":
    run_main(main)
