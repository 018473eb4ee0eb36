from nanolean.tests.each import each
from nanoproof.prover.linearize import layouts, linearize
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


def test_a_tactic_that_begins_with_spaces_is_moved_to_its_column() -> None:
    steps = proof(("constructor", 2), ("   have h : p := by\n     simp", 1), ("  exact h \n", 0), (" rfl", 0))
    assert linearize(steps).split("\n") == ["constructor", "· have h : p := by", "    simp", "  exact h", "· rfl"]


def test_depth_is_the_longest_way_down() -> None:
    steps = proof(("split", 2), ("a", 0), ("b", 2), ("c", 1), ("d", 0), ("e", 0))
    assert depths(steps) == [4, 1, 3, 2, 1, 1]


def test_parts_of_a_proof_are_found_by_their_branches() -> None:
    steps = proof(("split", 2), ("a", 0), ("b", 2), ("c", 1), ("d", 0), ("e", 0))
    assert end_of(steps, 0) == 6
    assert end_of(steps, 3) == 5
    assert [[step.tactic for step in part] for part in subproofs(steps, 2)] == [["c", "d"], ["e"]]
    assert [[step.tactic for step in part] for part in subproofs(steps, 0)] == [["a"], ["b", "c", "d", "e"]]


# Holes filled where they stand


def tagged(tactic: str, branches: int, tag: str = "") -> Step:
    return Step(tactic, branches, f"case {tag}\n⊢ p" if tag else "⊢ p", 1)


ARMS = "cases h with | inl a => ?_ | inr b => ?_"


def test_alternatives_are_filled_and_short_ones_stay_on_their_line() -> None:
    steps = (tagged(ARMS, 2), tagged("exact a", 0, "inl"), tagged("right", 1, "inr"), tagged("exact b", 0))
    assert linearize(steps).split("\n") == ["cases h with", "| inl a => exact a", "| inr b =>", "  right", "  exact b"]


def test_alternatives_inside_of_a_bullet_and_of_each_other_are_indented_with_it() -> None:
    below = (tagged(ARMS, 2, "inl"), tagged("x", 0, "inl.inl"), tagged("y", 0, "inl.inr"), tagged("z", 0, "inr"))
    steps = (tagged("constructor", 2), tagged(ARMS, 2, "left"), *below, tagged("w", 0, "right"))
    assert linearize(steps).split("\n") == [
        "constructor",
        "· cases h with",
        "  | inl a =>",
        "    cases h with",
        "    | inl a => x",
        "    | inr b => y",
        "  | inr b => z",
        "· w",
    ]


def test_alternatives_on_lines_of_their_own_and_finished_ones_are_understood() -> None:
    tactic = "induction n using rec generalizing m with\n| zero => simp\n| succ n ih => ?_"
    steps = (tagged(tactic, 1), tagged("a", 1, "succ"), tagged("b", 0, "succ"))
    assert linearize(steps).split("\n") == [
        "induction n using rec generalizing m with",
        "| zero => simp",
        "| succ n ih =>",
        "  a",
        "  b",
    ]


@each(
    ("tactic", "tags"),
    [
        (ARMS, ("inr", "inl")),
        (ARMS, ("inl", "")),
        (ARMS, ("left", "right")),
        ("cases h with | inl a | inr b => ?_", ("inl", "inr")),
        ("cases h with | inl a => refine ⟨?_, ?_⟩ | inr b => simp", ("left", "right")),
        ("cases h with | inl a => rcases a with b | c | inr b => simp", ("inl", "inr")),
        ("cases' h with a b", ("inl", "inr")),
        ("rcases h with a | b", ("inl", "inr")),
        ("cases h <;> simp", ("inl", "inr")),
        ("cases h; swap", ("inr", "inl")),
        ("cases h", ("inl", "inl")),
        ("cases h", ("h✝", "inr")),
        ("by_cases h : p", ("pos", "neg")),
    ],
)
def test_where_it_is_not_sure_which_goal_a_hole_is_bullets_are_used(tactic: str, tags: tuple[str, str]) -> None:
    steps = (tagged(tactic, 2), tagged("a", 0, tags[0]), tagged("b", 0, tags[1]))
    assert linearize(steps) == f"{tactic}\n· a\n· b"


def test_goals_of_plain_cases_are_called_by_their_tags_and_named_by_the_case() -> None:
    steps = (
        tagged("cases h", 2),
        tagged("rename_i a b", 1, "succ.inl"),
        tagged("exact a", 0, "succ.inl"),
        tagged("simp", 1, "succ.inr"),
        tagged("exact c", 0, "succ.inr"),
    )
    assert linearize(steps).split("\n") == [
        "cases h",
        "case inl a b => exact a",
        "case inr =>",
        "  simp",
        "  exact c",
    ]


def test_a_rename_that_is_all_there_is_or_splits_stays_a_tactic() -> None:
    steps = (tagged("cases h", 2), tagged("rename_i a", 2, "inl"), *[tagged("x", 0)] * 2, tagged("y", 0, "inr"))
    assert linearize(steps).split("\n")[1:3] == ["case inl =>", "  rename_i a"]


def test_the_proof_of_a_have_stands_in_it() -> None:
    steps = (tagged("have h : p := ?_", 2), tagged("exact h", 0), tagged("simp", 1), tagged("rfl", 0))
    assert linearize(steps) == "have h : p := by\n  simp\n  rfl\nexact h"
    assert linearize((steps[0], steps[1], tagged("simp", 0))) == "have h : p := by simp\nexact h"
    assert linearize((steps[0], steps[1], tagged(f"exact {'x' * 80}", 0))).split("\n")[0] == "have h : p := by"


def test_goals_are_not_called_by_their_tags_where_others_stand_behind_them() -> None:
    coupled = Step("exact c", 1, "⊢ x\n\n⊢ y", 2)
    steps = (tagged("apply f", 2), coupled, tagged("cases h", 2), *[tagged("a", 0, tag) for tag in ("inl", "inr")])
    assert linearize((*steps, tagged("z", 0))).split("\n") == [
        "apply f",
        "exact c",
        "· cases h",
        "  case inl => a",
        "  case inr => a",
        "· z",
    ]


def test_layouts_are_the_nice_one_and_the_plain_one_if_they_differ() -> None:
    steps = (tagged(ARMS, 2), tagged("a", 0, "inl"), tagged("b", 0, "inr"))
    assert layouts(steps) == ["cases h with\n| inl a => a\n| inr b => b", f"{ARMS}\n· a\n· b"]
    assert layouts(steps[1:2]) == ["a"]
