"""Interactive proving: the search is shown while it runs, Ctrl-C ends it, and the outcome is printed."""

import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Protocol, TextIO

from nanoproof.common.errors import UserError, cannot
from nanoproof.common.files import atomic_write_text
from nanoproof.common.process import Closing
from nanoproof.common.terminal import Paint, counted, print_lines, shorten, use_color
from nanoproof.lean.types import LeanCalls, Theorem
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.cli_input import Filled, SorryFiller
from nanoproof.prover.prover import NULL_ATTEMPT_OBSERVER, AttemptObserver
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import Kind, Node
from nanoproof.search.render import SearchView, render_tree, tree_page
from nanoproof.search.render import shorten as shorten_state
from nanoproof.search.tree_json import tree_from_json

_TERMINAL_SECONDS = 0.15
_PLAIN_SECONDS = 10.0
"""Time between two lines of progress where these stay, as in a log."""
_FALLBACK_WIDTH = 100


class LiveView(Closing, AttemptObserver):
    """Shows a search of at most `num_simulations`; `update` is cheap and may be called before every simulation."""

    def __init__(self, num_simulations: int, stream: TextIO | None = None) -> None:
        self._budget = num_simulations
        self._stream = sys.stderr if stream is None else stream
        self._terminal = self._stream.isatty()
        self._paint = Paint(use_color(self._stream))
        self._root: Node | None = None
        self._log: SearchLog | None = None
        self._start = self._last = time.monotonic()
        self._drawn = 0

    def begin(self, root: Node, log: SearchLog) -> None:
        """Start to watch a search."""
        self._root, self._log = root, log
        self._start = self._last = time.monotonic()

    def update(self) -> None:
        """Show the progress, unless it was shown just before."""
        now = time.monotonic()
        pause = _PLAIN_SECONDS
        if self._terminal:
            pause = _TERMINAL_SECONDS
        if self._root is None or now - self._last < pause:
            return
        self._last = now
        if self._terminal:
            self._draw(self.lines(now - self._start))
        else:
            print(", ".join(self.lines(now - self._start)), file=self._stream, flush=True)

    def lines(self, seconds: float) -> tuple[str, str]:
        """Describe the progress of the search, and its most visited line of tactics."""
        assert self._root is not None and self._log is not None
        counts = self._log.counts
        to_go = ""
        if self._root.visits:
            to_go = f", about {-self._root.value:.1f} tactics to go"  # a value is minus that number
        head = f"{counts.simulations}/{self._budget} simulations, {counts.nodes} nodes{to_go}, {seconds:.0f} s"
        return head, best_line(self._root)

    def close(self) -> None:
        """Erase the progress lines; the result comes next."""
        if self._drawn:
            self._draw(())

    def _draw(self, lines: tuple[str, ...]) -> None:
        # Each line is cut to the terminal: one that wraps is two, and the cursor would go up too few.
        width = _columns(self._stream)
        up = ""
        if self._drawn:
            up = f"\x1b[{self._drawn}A"
        shown = [shorten(line, width - 3) for line in lines]
        styled = [self._paint("  " + line, "bold" if i == 0 else "dim") for i, line in enumerate(shown)]
        self._stream.write(up + "\x1b[J" + "".join(line + "\n" for line in styled))
        self._stream.flush()
        self._drawn = len(lines)


def best_line(root: Node) -> str:
    """Describe the most visited path: its tactics and the state at its end; solved AND branches are skipped."""
    node, parts = root, []
    while node.children:
        children = list(node.children)
        if node.kind is Kind.AND:
            # Work goes on at the branches that are left.
            children = [child for child in children if not child.solved] or children
            parts.append(f"[{sum(child.solved for child in node.children)} of {len(node.children)} branches done]")
        child = max(children, key=lambda candidate: (candidate.solved, candidate.visits))
        if not child.visits and not child.solved:
            break
        if child.tactic is not None:
            parts.append(" ".join(child.tactic.split()))
        node = child
    parts.append("done" if node.kind is Kind.CLOSED else shorten_state(node.state))
    return " ▸ ".join(parts)


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or _FALLBACK_WIDTH
    except OSError:
        return _FALLBACK_WIDTH


class Proves(Protocol):
    """What proves a theorem: a search, or the sampling of whole proofs."""

    def prove(
        self,
        session: LeanCalls,
        theorem: Theorem,
        num_simulations: int,
        rng: random.Random,
        should_stop: Callable[[], bool] | None = None,
        observer: AttemptObserver = NULL_ATTEMPT_OBSERVER,
    ) -> Attempt: ...


class InteractiveProver:
    """Proves one theorem after the other, shown live; keeps the searches for the HTML page of trees."""

    def __init__(self, prover: Proves, num_simulations: int, max_seconds: float | None, seed: int) -> None:
        self._prover = prover
        self._num_simulations = num_simulations
        self._max_seconds = max_seconds
        self._seed = seed
        self._searches: list[SearchView] = []
        self.interrupted = False

    def prove(self, session: LeanCalls, theorem: Theorem, title: str = "") -> Attempt:
        """Run one attempt, shown live. Ctrl-C ends its search; a second one raises KeyboardInterrupt."""
        deadline = float("inf")
        if self._max_seconds is not None:
            deadline = time.monotonic() + self._max_seconds
        rng = random.Random(self._seed)  # anew, so that a theorem has the same samples wherever it stands in a file
        with LiveView(self._num_simulations) as view, _ctrl_c(self._interrupt):

            def should_stop() -> bool:
                view.update()
                return self.interrupted or time.monotonic() > deadline

            attempt = self._prover.prove(session, theorem, self._num_simulations, rng, should_stop, view)
        if attempt.tree is not None:
            shown = title or " ".join(theorem.source.split("sorry")[0].removesuffix(":= by ").split())
            facts = f"{_outcome(attempt)}; {describe_effort(attempt)}"
            self._searches.append(SearchView(shown, facts, attempt.outcome, attempt.tree))
        return attempt

    def fill(self, filler: SorryFiller, session: LeanCalls) -> bool:
        """Try every `sorry` of a file and print a line on each; returns whether the file is complete.

        It continues when the output is closed. Raises UserError if the server fails. `filler.settled` always holds
        what was proved so far; proofs that rest on what is open are printed in the end.
        """
        gaps = filler.file.gaps
        width = max(len(f"{gap.line} {gap.name}") for gap in gaps) + 1
        tried: list[Filled] = []
        for gap in gaps:
            done = filler.fill(session, gap, lambda watched, theorem: self.prove(watched, theorem, theorem.id))
            tried.append(done)
            print_lines([f"  line {f'{gap.line} {gap.name}':<{width}} {_line(done)}"])
            if done.attempt is not None and done.attempt.outcome == "error" and not done.attempt.refused:
                raise UserError(" ".join(done.attempt.message.split()))
            if self.interrupted:
                break
        # Judged once all were tried: a proof that was conditional is none any more when its condition was proved.
        proved = len(filler.judge(session)) - len(filler.conditional)
        left = len(filler.settled.open_gaps)
        summary = f"{proved} of {len(gaps)} proved"
        if filler.conditional:
            summary += f", {len(filler.conditional)} if others hold"
        if left:
            summary += f", {left} left in the file"
        print_lines([summary])
        for done in tried:
            if done.outcome in ("proved", "conditional") and done.gap in filler.file.open_gaps:
                print_lines([f"line {done.gap.line} {done.gap.name} is not written: what follows refuses its proof"])
            if done.gap in filler.conditional and done.attempt is not None:
                condition = filler.conditional[done.gap].condition(filler.file.path)
                proof = "\n    ".join(done.attempt.proof.split("\n"))
                print_lines(
                    [f"line {done.gap.line} {done.gap.name} is not written: it is proved {condition}, by\n    {proof}"]
                )
        if not filler.file.open_gaps and not filler.complete:
            places = filler.file.places
            names = [places[axiom].described() if axiom in places else axiom for axiom in filler.foreign_axioms]
            print_lines([f"but the file rests on {', '.join(names) or 'a sorry that is not in it'}"])
        return filler.complete

    def write_page(self, path: str) -> None:
        """Write the trees of all searches so far as one HTML page; raises UserError if that is not possible."""
        if self._searches:
            write(path, tree_page(self._searches), "--html")

    def _interrupt(self) -> None:
        if self.interrupted:  # the second Ctrl-C: the search waits for Lean or the model and has not seen the first
            raise KeyboardInterrupt
        self.interrupted = True


def report(attempt: Attempt, max_tree_nodes: int) -> None:
    """Print the tree, the outcome of the attempt, and the proof."""
    if attempt.tree is not None:
        print_lines(["\n" + render_tree(tree_from_json(attempt.tree), max_tree_nodes) + "\n"])
    if attempt.outcome in ("proven", "disproven") and attempt.check is not None:
        axioms = ", ".join(attempt.check["axioms"]) or "none"
        outcome = f"{_outcome(attempt)}, checked in a fresh environment (axioms: {axioms})"
        print_lines([f"{outcome}; {describe_effort(attempt)}\n", attempt.source])
    else:
        print_lines([f"{_outcome(attempt)}; {describe_effort(attempt)}"])


def describe_effort(attempt: Attempt) -> str:
    """Describe the effort of the search, or of sampling, in words."""
    if "tokens" in attempt.counts:
        sampled = f"{attempt.simulations} sampled, {attempt.counts['tokens']} tokens"
        return f"whole proofs: {sampled}, {attempt.seconds.get('search', 0.0):.1f} s of sampling"
    return (
        f"{counted(attempt.simulations, 'simulation')}, {attempt.counts.get('tactic_samples', 0)} tactic samples, "
        f"{attempt.counts.get('tactics_run', 0)} tactics run, {attempt.seconds.get('search', 0.0):.1f} s of search"
    )


def write(path: str, text: str, option: str) -> None:
    """Write a file; raises UserError that names the option if that is not possible."""
    with cannot(f"write {option} {path}"):
        atomic_write_text(Path(path), text)


def _outcome(attempt: Attempt) -> str:
    if attempt.outcome in ("proven", "disproven"):
        return f"{attempt.outcome} in {counted(attempt.num_tactics, 'tactic')}"
    text = f"not proven: {' '.join(attempt.message.split())}"
    if attempt.stop_reason == "stopped":
        text += " (stopped)"
    return text


def _line(done: Filled) -> str:
    if done.attempt is None:
        return f"{done.outcome}: {done.message}"
    seconds = done.attempt.seconds.get("search", 0.0)
    effort = f"({counted(done.attempt.simulations, 'simulation')}, {seconds:.1f} s)"
    if done.outcome == "not proved":
        return f"not proved: {done.message} {effort}"
    size = f"in {counted(done.attempt.num_tactics, 'tactic')} {effort}"
    if done.outcome == "conditional":
        return f"proved, {done.rest.condition()}, {size}"
    if not done.rest.axioms:
        return f"proved {size}"
    axioms = "axioms" if len(done.rest.axioms) > 1 else "axiom"
    return f"proved {size}, by the {axioms} {', '.join(done.rest.axioms)} of the file"


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
