"""The prover on a server whose process ends or talks nonsense at a statement or a tactic: what a user is told.

The scripted process answers no final check, so what is looked at is whether a proof was found and replayed.
"""

import random
from typing import Any

import pytest

from nanoproof.lean.types import Theorem
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.prover import Prover, ProverOptions
from nanoproof.search.config import SearchConfig
from tests.fakes.policy import saying
from tests.lean.conftest import AND, SCRIPT, THEOREM, Serve

TACTICS = ("constructor", "exact hp", "exact hq")
BOMB = Theorem("theorem bomb (p : Prop) : bomb p := by\n  sorry", "test", "bomb")


def prove(session: Any, theorem: Theorem, *tactics: str) -> Attempt:
    return Prover(saying(*tactics), SearchConfig(), ProverOptions()).prove(session, theorem, 8, random.Random(0))


@pytest.mark.nightly
@pytest.mark.parametrize("effect", ["crash", "garbage"])
def test_a_statement_that_ends_the_process_is_an_error_and_the_session_goes_on(serve: Serve, effect: str) -> None:
    script = {**SCRIPT, "commands": {**SCRIPT["commands"], ": bomb": {"do": effect}}}
    with serve(script).client().lease() as session:
        broken = prove(session, BOMB, *TACTICS)
        assert (broken.outcome, broken.refused) == ("error", False), broken.message
        assert "\n" not in broken.message and broken.stop_reason in ("ProcessLost", "ProtocolError")
        assert prove(session, THEOREM, *TACTICS).counts["tactics_found"] == 3


def test_a_statement_that_lean_does_not_accept_is_refused_with_its_words(serve: Serve) -> None:
    with serve().client().lease() as session:
        refused = prove(session, Theorem("theorem t : bad := by sorry"), *TACTICS)
        assert (refused.outcome, refused.refused) == ("error", True)
        assert "bad statement" in refused.message


def test_a_tactic_that_ends_the_process_is_not_learned_from_and_the_proof_is_found(serve: Serve) -> None:
    with serve().client().lease() as session:
        result = prove(session, THEOREM, "crash", *TACTICS)
        assert result.counts["tactics_found"] == 3
        assert (AND, "crash") not in result.failed_tactics
        assert result.counts["timeouts"] > 0
