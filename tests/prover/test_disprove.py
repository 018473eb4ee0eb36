"""Attempts to prove that a statement is false, at the root and inside of the tree."""

import pytest

from nanoproof.lean.errors import TheoremRejected
from nanoproof.lean.theorem import Theorem
from nanoproof.lean.wire import Branch
from nanoproof.prover.prover import ProverOptions
from tests.fakes.lean import ScriptedLean
from tests.prover.test_prover import CHAIN, attempt

ALWAYS = ProverOptions(disprove_fraction=1.0)


class NoNegation(ScriptedLean):
    """Refuses every negated statement."""

    def start(self, theorem: Theorem) -> Branch:
        if "_negated" in theorem.source:
            raise TheoremRejected("unknown identifier")
        return super().start(theorem)


@pytest.mark.parametrize(
    "source", ["variable (p : Prop)\ntheorem foo : A := by sorry", "theorem foo : A := by\n  exact (sorry)"]
)
def test_what_cannot_be_negated_is_tried_as_it_stands(source: str) -> None:
    result = attempt(CHAIN, NoNegation(CHAIN), options=ALWAYS, theorem=Theorem(source))
    assert (result.outcome, result.disproving) == ("proven", False)


def test_a_negation_that_lean_refuses_leaves_the_statement_to_be_proved() -> None:
    result = attempt(CHAIN, NoNegation(CHAIN), options=ALWAYS)
    assert (result.outcome, result.disproving) == ("proven", False)
    assert result.source == "theorem foo : A := by\n  a\n  b\n  c"


def test_a_refused_statement_is_refused_whichever_way_it_was_tried() -> None:
    result = attempt(CHAIN, ScriptedLean(CHAIN, root=None), options=ALWAYS)
    assert (result.outcome, result.disproving, result.refused) == ("error", False, True)


def test_the_checked_text_of_a_disproof_states_the_negation() -> None:
    lean = ScriptedLean(CHAIN)
    result = attempt(CHAIN, lean, options=ALWAYS)
    assert result.outcome == "disproven"
    assert result.source in lean.checked
    assert "theorem foo_negated : ¬ (A) := by\n  a\n" in result.source
    assert result.check is not None and result.check["accepted"]
