from nanoproof.prover.linearize import linearize
from nanoproof.prover.proof import Proof, Step, depths, end_of, subproofs


def proof(*steps: tuple[str, int] | tuple[str, int, int]) -> Proof:
    """Steps (tactic, branches left, goals of its branch = 1)."""
    return tuple(
        Step(tactic, branches, "", *goals) if goals else Step(tactic, branches, "", 1)
        for tactic, branches, *goals in steps
    )


def test_a_chain_stays_one_line_each() -> None:
    assert linearize(proof(("intro h", 1), ("exact h", 0))) == "intro h\nexact h"


def test_several_branches_get_bullets_and_what_follows_is_indented() -> None:
    steps = proof(("constructor", 2), ("simp", 1), ("rfl", 0), ("cases h", 2), ("left", 1), ("rfl", 0), ("right", 0))
    assert linearize(steps).split("\n") == [
        "constructor",
        "· simp",
        "  rfl",
        "· cases h",
        "  · left",
        "    rfl",
        "  · right",
    ]


def test_alternatives_on_one_line_stay_on_one_line() -> None:
    induction = "induction n with | zero => ?_ | succ n ih => ?_"
    assert linearize(proof((induction, 2), ("rfl", 0), ("rw [ih]", 0))) == f"{induction}\n· rfl\n· rw [ih]"


def test_coupled_goals_get_no_bullet() -> None:
    steps = proof(("apply Exists.intro", 1), ("exact h", 1, 2), ("exact 0", 0, 1))
    assert linearize(steps) == "apply Exists.intro\nexact h\nexact 0"


def test_coupled_goals_beside_other_branches_stand_bare_between_their_bullets() -> None:
    steps = proof(("apply f", 3), ("simp", 0, 1), ("use", 1, 2), ("done", 0, 1), ("rfl", 0, 1))
    assert linearize(steps).split("\n") == ["apply f", "· simp", "use", "· done", "· rfl"]


def test_coupled_goals_that_come_apart_get_bullets() -> None:
    steps = proof(("apply f", 1), ("exact 0", 2, 2), ("a", 0, 1), ("b", 0, 1))
    assert linearize(steps).split("\n") == ["apply f", "exact 0", "· a", "· b"]


def test_further_lines_of_a_tactic_are_indented_with_it() -> None:
    steps = proof(("constructor", 2), ("have h : p := by\n  simp\n  rfl", 1), ("exact h", 0), ("rfl", 0))
    assert linearize(steps).split("\n") == [
        "constructor",
        "· have h : p := by",
        "    simp",
        "    rfl",
        "  exact h",
        "· rfl",
    ]


def test_depth_is_the_longest_way_down() -> None:
    steps = proof(("split", 2), ("a", 0), ("b", 2), ("c", 1), ("d", 0), ("e", 0))
    assert depths(steps) == [4, 1, 3, 2, 1, 1]


def test_parts_of_a_proof_are_found_by_their_branches() -> None:
    steps = proof(("split", 2), ("a", 0), ("b", 2), ("c", 1), ("d", 0), ("e", 0))
    assert end_of(steps, 0) == 6
    assert end_of(steps, 3) == 5
    assert [[step.tactic for step in part] for part in subproofs(steps, 2)] == [["c", "d"], ["e"]]
    assert [[step.tactic for step in part] for part in subproofs(steps, 0)] == [["a"], ["b", "c", "d", "e"]]
