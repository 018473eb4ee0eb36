"""What a person sees while a search runs: two lines that change in place on a terminal, plain lines elsewhere."""

import os
import sys
import time
from typing import TextIO

from nanoproof.common.terminal import Paint, shorten, use_color
from nanoproof.prover.meter import AttemptObserver
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import Kind, Node
from nanoproof.search.render import shorten as shorten_state

_TERMINAL_SECONDS = 0.15
_PLAIN_SECONDS = 10.0
_FALLBACK_WIDTH = 100


class LiveView(AttemptObserver):
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
        """Watch this search from now on."""
        self._root, self._log = root, log
        self._start = self._last = time.monotonic()

    def update(self) -> None:
        """Show how far the search is, if it is time to."""
        now = time.monotonic()
        if self._root is None or now - self._last < (_TERMINAL_SECONDS if self._terminal else _PLAIN_SECONDS):
            return
        self._last = now
        if self._terminal:
            self._draw(self.lines(now - self._start))
        else:
            print(", ".join(self.lines(now - self._start)), file=self._stream, flush=True)

    def lines(self, seconds: float) -> tuple[str, str]:
        """How far the search is, and the line of tactics that it follows most."""
        assert self._root is not None and self._log is not None
        counts = self._log.counts
        to_go = f", about {-self._root.value:.1f} tactics to go" if self._root.visits else ""
        head = f"{counts.simulations}/{self._budget} simulations, {counts.nodes} nodes{to_go}, {seconds:.0f} s"
        return head, best_line(self._root)

    def close(self) -> None:
        """Take the lines away: what comes next is the result."""
        if self._drawn:
            self._draw(())

    def _draw(self, lines: tuple[str, ...]) -> None:
        width = _columns(self._stream)
        up = f"\x1b[{self._drawn}A" if self._drawn else ""
        shown = [shorten(line, width - 3) for line in lines]
        styled = [self._paint("  " + line, "bold" if i == 0 else "dim") for i, line in enumerate(shown)]
        self._stream.write(up + "\x1b[J" + "".join(line + "\n" for line in styled))
        self._stream.flush()
        self._drawn = len(lines)

    def __enter__(self) -> "LiveView":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def best_line(root: Node) -> str:
    """The tactics of the most visited path (solved branches of an AND node are passed over), and what is left there."""
    node, words = root, []
    while node.children:
        children = list(node.children)
        if node.kind is Kind.AND:
            children = [child for child in children if not child.solved] or children
            words.append(f"[{sum(child.solved for child in node.children)} of {len(node.children)} branches done]")
        child = max(children, key=lambda candidate: (candidate.solved, candidate.visits))
        if not child.visits and not child.solved:
            break
        if child.tactic is not None:
            words.append(" ".join(child.tactic.split()))
        node = child
    words.append("done" if node.kind is Kind.CLOSED else shorten_state(node.state))
    return " ▸ ".join(words)


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or _FALLBACK_WIDTH
    except OSError:
        return _FALLBACK_WIDTH
