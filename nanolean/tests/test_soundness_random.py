"""Random claims, true and false by trying values: nothing proves a false one, the finishers prove the true ones.

`NANOPROOF_NIGHTLY=1 pytest ...` takes the full number, 20 twenty times as many; `NANOPROOF_SEED` draws others.
"""

from collections import Counter
from itertools import islice
from random import Random

import pytest

from nanolean.proof_errors import ProofError
from nanolean.tactic_state import TacticState, proof_status, run_tactic
from nanolean.tests.library import SEED, sized
from nanolean.tests.proving import start
from nanolean.tests.random_claims import claims, tactic

COUNT = sized(1_000)
FINISHERS = {
    "linear": ["omega", "grind", "simp_all"],
    "products": ["omega", "grind", "simp_all", "ac_rfl"],
    "logic": ["grind", "simp_all", "omega", "decide"],
}


def attempt(state: TacticState, text: str) -> TacticState | None:
    """The state after a tactic, None where it is refused; anything but a typed error fails the test."""
    try:
        return run_tactic(state, text).state
    except ProofError:
        return None


def closes(state: TacticState, text: str) -> bool:
    after = attempt(state, text)
    return after is not None and proof_status(after) == "Completed"


@pytest.mark.parametrize("kind", FINISHERS)
def test_no_finisher_proves_a_false_claim(kind):
    for claim in islice(claims(SEED, kind, False), COUNT // 3):
        state = start(claim.text)
        for finisher in FINISHERS[kind]:
            assert not closes(state, finisher), (claim.text, finisher)


@pytest.mark.parametrize("kind", FINISHERS)
def test_no_random_proof_proves_a_false_claim(kind):
    rng = Random(SEED + 1)
    ends: Counter[str] = Counter()
    for claim in islice(claims(SEED + 1, kind, False), COUNT // 6):
        state = start(claim.text)
        for _ in range(8):
            after = attempt(state, tactic(rng))
            if after is not None:
                state = after
        ends[proof_status(state)] += 1
    assert ends["Completed"] == 0
    assert ends["Incomplete: open goals remain"] > 0


@pytest.mark.parametrize(("kind", "share"), [("linear", 0.95), ("logic", 0.95)])
def test_the_finishers_prove_nearly_all_true_claims(kind, share):
    count = COUNT // 4
    missed = []
    for claim in islice(claims(SEED + 2, kind, True), count):
        state = start(claim.text)
        if not any(closes(state, finisher) for finisher in FINISHERS[kind]):
            missed.append(claim.text)
    assert len(missed) <= (1 - share) * count, (len(missed), missed[:10])


@pytest.mark.parametrize("kind", FINISHERS)
def test_random_proofs_of_true_claims_are_accepted_by_the_kernel_or_left_open(kind):
    """A finished proof is never refused by the kernel: no tactic makes terms that do not check."""
    rng = Random(SEED + 3)
    ends: Counter[str] = Counter()
    for claim in islice(claims(SEED + 3, kind, True), COUNT // 6):
        state = start(claim.text)
        for _ in range(8):
            if not state.goals:
                break
            after = attempt(state, tactic(rng))
            state = after or state
        ends[proof_status(state)] += 1
    assert not [end for end in ends if end.startswith("Error")], ends
    assert ends["Completed"] > 0
