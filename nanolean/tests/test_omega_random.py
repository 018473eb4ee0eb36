"""`omega` on random claims: it proves nothing false, and nearly everything that holds."""

from nanolean.proof_errors import ProofError
from nanolean.tactic_state import TacticState, proof_status, run_tactic
from nanolean.tests.library import sized
from nanolean.tests.linear_claims import derived_claim, random_claim
from nanolean.tests.proving import start

CLAIMS = sized(500)
DERIVED = sized(80)


def after_omega(statement: str) -> TacticState | None:
    """The state after `omega`, None where it is refused."""
    try:
        return run_tactic(start(statement), "omega").state
    except ProofError:
        return None


def test_no_false_claim_is_proved_and_nearly_all_true_ones_are():
    proved = false = missed = 0
    for seed in range(CLAIMS):
        claim = random_claim(seed)
        counterexample = claim.counterexample()
        state = after_omega(claim.statement)
        if state is not None:
            assert counterexample is None, f"{claim.statement} fails for {counterexample}"
            assert proof_status(state) == "Completed", claim.statement
            proved += 1
        elif counterexample is not None or claim.counterexample(thorough=True) is not None:
            false += 1
        else:
            missed += 1
    print(f"proved {proved} of {proved + missed} that hold, refused all of {false} that do not")
    assert min(proved, false) > CLAIMS // 4
    assert proved >= 0.95 * (proved + missed)


def test_sums_of_hypotheses_are_proved():
    for seed in range(DERIVED):
        statement = derived_claim(seed).statement
        state = after_omega(statement)
        assert state is not None and proof_status(state) == "Completed", statement
