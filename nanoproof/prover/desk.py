"""Proving in front of a person: the search is shown while it runs, Ctrl-C ends it, and what came of it is printed."""

import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_text
from nanoproof.common.terminal import print_lines
from nanoproof.lean.theorem import Theorem
from nanoproof.lean.wire import LeanCalls
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.live import LiveView
from nanoproof.prover.prover import Prover
from nanoproof.prover.sorries import Filled, SorryFiller
from nanoproof.search.render import SearchView, render_tree, tree_page
from nanoproof.search.tree_json import tree_from_json


class Desk:
    """Proves one theorem after the other with one prover; keeps the searches for the page of trees."""

    def __init__(self, prover: Prover, num_simulations: int, max_seconds: float | None, seed: int) -> None:
        self._prover = prover
        self._num_simulations = num_simulations
        self._max_seconds = max_seconds
        self._seed = seed
        self._searches: list[SearchView] = []
        self.interrupted = False

    def prove(self, session: LeanCalls, theorem: Theorem, title: str = "") -> Attempt:
        """One attempt, shown while it runs. Ctrl-C ends its search; a second one is a KeyboardInterrupt."""
        deadline = float("inf") if self._max_seconds is None else time.monotonic() + self._max_seconds
        rng = random.Random(self._seed)
        with LiveView(self._num_simulations) as view, _ctrl_c(self._interrupt):

            def should_stop() -> bool:
                view.update()
                return self.interrupted or time.monotonic() > deadline

            attempt = self._prover.prove(session, theorem, self._num_simulations, rng, should_stop, view)
        if attempt.tree is not None:
            refused = [(entry.state, entry.tactic) for entry in attempt.failed_tactics]
            shown = title or " ".join(theorem.source.split("sorry")[0].removesuffix(":= by ").split())
            root = tree_from_json(attempt.tree)
            self._searches.append(SearchView(shown, f"{_outcome(attempt)}; {effort(attempt)}", root, refused))
        return attempt

    def fill(self, filler: SorryFiller) -> bool:
        """Try every `sorry` of a file and print a line on each; whether all that could be tried are proved.

        It goes on where nobody reads what is printed any more. Raises UserError if the server fails. `filler.file`
        holds what was proved, whatever happens.
        """
        gaps = filler.file.gaps
        width = max(len(f"{gap.line} {gap.name}") for gap in gaps) + 1
        proved = 0
        for gap in gaps:
            done = filler.fill(gap)
            proved += done.outcome == "proved"
            print_lines([f"  line {f'{gap.line} {gap.name}':<{width}} {_line(done)}"])
            if done.attempt is not None and done.attempt.outcome == "error" and not done.attempt.refused:
                raise UserError(" ".join(done.attempt.message.split()))
            if self.interrupted:
                break
        rest = f", {len(filler.file.open_gaps)} left in the file" if filler.file.open_gaps else ""
        print_lines([f"{proved} of {len(gaps)} proved{rest}"])
        if not filler.file.open_gaps and not filler.complete:
            print_lines([f"but the file rests on {', '.join(filler.foreign_axioms) or 'a sorry that is not in it'}"])
        return filler.complete

    def write_page(self, path: str) -> None:
        """Write the trees of all searches so far as one page; UserError if that is not possible."""
        if self._searches:
            write(path, tree_page(self._searches), "--html")

    def _interrupt(self) -> None:
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True


def report(attempt: Attempt, max_tree_nodes: int) -> None:
    """Print the tree, what became of the attempt, and the proof."""
    if attempt.tree is not None:
        print_lines(["\n" + render_tree(tree_from_json(attempt.tree), max_tree_nodes) + "\n"])
    if attempt.outcome in ("proven", "disproven") and attempt.check is not None:
        axioms = ", ".join(attempt.check["axioms"]) or "none"
        checked = f"{_outcome(attempt)}, checked in a fresh environment (axioms: {axioms}); {effort(attempt)}\n"
        print_lines([checked, attempt.source])
    else:
        print_lines([f"{_outcome(attempt)}; {effort(attempt)}"])


def effort(attempt: Attempt) -> str:
    """What the search took, in words."""
    return (
        f"{_count(attempt.simulations, 'simulation')}, {attempt.counts.get('tactic_samples', 0)} tactic samples, "
        f"{attempt.counts.get('tactics_run', 0)} tactics run, {attempt.seconds.get('search', 0.0):.1f} s of search"
    )


def write(path: str, text: str, option: str) -> None:
    """Write a file; UserError that names the option if that is not possible."""
    try:
        atomic_write_text(Path(path), text)
    except OSError as error:
        raise UserError(f"cannot write {option} {path}: {error.strerror}") from error


def _outcome(attempt: Attempt) -> str:
    if attempt.outcome in ("proven", "disproven"):
        return f"{attempt.outcome} in {_count(attempt.num_tactics, 'tactic')}"
    stopped = " (stopped)" if attempt.stop_reason == "stopped" else ""
    return f"not proven: {' '.join(attempt.message.split())}{stopped}"


def _line(done: Filled) -> str:
    if done.attempt is None:
        return f"{done.outcome}: {done.message}"
    size = f" in {_count(done.attempt.num_tactics, 'tactic')}" if done.outcome == "proved" else f": {done.message}"
    seconds = done.attempt.seconds.get("search", 0.0)
    return f"{done.outcome}{size} ({_count(done.attempt.simulations, 'simulation')}, {seconds:.1f} s)"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


@contextmanager
def _ctrl_c(handle: Callable[[], None]) -> Iterator[None]:
    """Call `handle` on Ctrl-C inside the block."""

    def on_signal(number: int, frame: FrameType | None) -> None:
        handle()

    previous = signal.signal(signal.SIGINT, on_signal)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
