"""The data set's part about the library from every fifth of its proofs: replaying all takes longer than all else of it.

Apart from tests and fixtures: the worker processes that make the data import it, and with them would import pytest.
"""

from typing import Any
from unittest import mock

from nanolean.data import make
from nanolean.data.problem import render
from nanolean.data.replay import GoalReader
from nanolean.data.statement_key import Entry, library_proofs

STEP, FIRST = 5, 2
"""With a tactic of every kind, and hundreds of nodes."""
_make_library = make.make_library


def some_library_proofs() -> list[Entry]:
    """Return a part of the library's proofs, in order, with all that must not be shown."""
    kept = []
    for number, proof in enumerate(library_proofs()):
        must_not_be_shown = proof.name in make.HELD_OUT_LIBRARY or make.names_any(
            render(proof.proof), make.HELD_OUT_LIBRARY
        )
        if number % STEP == FIRST or must_not_be_shown:
            kept.append(proof)
    return kept


def make_library_part(read_goal: GoalReader, unnamed: frozenset[str] = make.HELD_OUT_LIBRARY) -> list[dict[str, Any]]:
    """Make what `make_library` makes of a part of the proofs. Runs in a worker process."""
    with mock.patch.object(make, "library_proofs", some_library_proofs):
        return _make_library(read_goal, unnamed)


def make_no_library(*_arguments: object) -> list[dict[str, Any]]:
    """Make nothing."""
    return []
