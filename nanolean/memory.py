"""Keeps a long-lived process from growing: terms that nothing refers to any more are dropped now and then."""

from __future__ import annotations

from collections.abc import Iterable

from nanolean.env_state import EnvState
from nanolean.kernel.expr import node_count, sweep

GROWTH = 200_000
"""Terms that may be added to the intern table before the unused ones are dropped."""


class Sweeper:
    """Watches the table of terms from now on. Not for use while another thread makes terms."""

    def __init__(self, growth: int = GROWTH) -> None:
        self.growth = growth
        self._swept_at = node_count()

    def tidy(self, states: Iterable[EnvState]) -> None:
        """Drop unused terms if enough of them may have gathered; the caches of `states` are emptied then."""
        if node_count() - self._swept_at < self.growth:
            return
        for state in states:
            state.caches.clear()
        sweep()
        self._swept_at = node_count()
