"""Solver tactics: names for several of them, and what a server says of each."""

from collections.abc import Sequence

from nanoproof.lean.solvers import SOLVER_SETS, expand_solver_sets, measure_solvers
from nanoproof.lean.types import Branch, ProofState, TacticApplied, TacticFailed, Theorem, TheoremRejected, parse_goal


class ScriptedSession:
    """Refuses real numbers; `omega` closes goals with `<`, `simp` those with `+ 0`, nothing else is a tactic."""

    def start(self, theorem: Theorem) -> Branch:
        if "ℝ" in theorem.source:
            raise TheoremRejected("unknown identifier 'ℝ'")
        return Branch(ProofState((parse_goal(f"⊢ {theorem.source.split(' := by')[0].split(':')[-1].strip()}"),)), None)

    def apply(self, branch: Branch, tactics: Sequence[str]) -> list[TacticApplied | TacticFailed]:
        closes = {"omega": "<", "simp": "+ 0"}
        return [
            TacticApplied(()) if closes.get(tactic, "never") in branch.state.text else TacticFailed("rejected", "no")
            for tactic in tactics
        ]


def test_names_stand_for_several_tactics_each_once() -> None:
    assert expand_solver_sets(["omega", "nanolean", "none", "rfl"]) == ("omega", "simp", "grind", "rfl")
    assert "nlinarith" in SOLVER_SETS["mathlib"] and SOLVER_SETS["none"] == ()


def test_solvers_that_close_something_are_found_and_goals_that_a_server_lacks_are_left_out() -> None:
    found = {each.tactic: each for each in measure_solvers(ScriptedSession())}
    assert found.keys() == {"omega", "simp"}
    assert found["simp"].closed == 1 and found["omega"].closed == 2
    assert found["simp"].tried == found["omega"].tried < 14
