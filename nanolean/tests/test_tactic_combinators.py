"""Combinators, cases by tag, and the order of goals."""

from nanolean.tests.proving import goals, proves, refusal, targets

AND = "(p q : Prop) (hp : p) (hq : q) : p ∧ q"


def test_and_then_runs_on_all_new_goals():
    assert proves(AND, "constructor <;> assumption")
    assert refusal(AND, "constructor <;> exact hp").startswith("Type mismatch")


def test_and_then_leaves_other_goals_alone():
    assert targets("(p q r : Prop) : (p ∧ q) ∧ r", "constructor", "constructor <;> skip") == ["p", "q", "r"]


def test_bullets_close_the_first_goal():
    assert targets(AND, "constructor", "· exact hp") == ["q"]
    assert refusal(AND, "constructor", "· skip").startswith("unsolved goals\ncase left\n")


def test_all_goals_and_any_goals():
    assert proves(AND, "constructor", "all_goals assumption")
    assert refusal(AND, "constructor", "all_goals exact hp").startswith("Type mismatch")
    assert targets(AND, "constructor", "any_goals exact hp") == ["q"]
    assert "any_goals" in refusal("(p q : Prop) : p ∧ q", "constructor", "any_goals assumption")


def test_first_takes_the_first_that_works():
    assert proves(AND, "first | exact hp | exact ⟨hp, hq⟩")
    assert refusal(AND, "first | exact hp | assumption").startswith("Tactic `assumption` failed")


def test_try_and_skip_never_fail():
    assert targets(AND, "try exact hp") == ["p ∧ q"]
    assert targets(AND, "skip") == ["p ∧ q"]


def test_a_failed_attempt_leaves_no_trace():
    assert targets(AND, "try (constructor; exact hq)") == ["p ∧ q"]


def test_repeat_runs_until_failure():
    assert targets("(p q r : Prop) : p → q → r", "repeat intro _") == ["r"]
    assert targets(AND, "repeat assumption") == ["p ∧ q"]


def test_repeat_without_end_runs_out_of_steps():
    assert refusal(AND, "repeat skip") == "maximum number of steps exceeded"


def test_case_selects_by_tag_and_must_close():
    assert targets(AND, "constructor", "case right => exact hq") == ["p"]
    assert refusal(AND, "constructor", "case right => skip").startswith("unsolved goals\ncase right\n")
    assert refusal(AND, "constructor", "case foo => skip") == (
        "Case tag `foo` not found.\n\nNote: The available case tags are `left` and `right`."
    )
    assert refusal(AND, "case foo => skip") == "Case tag `foo` not found.\n\nNote: There are no cases to select."


def test_case_finds_the_end_of_a_tag_and_names_hypotheses():
    statement = "(p q r : Prop) (h : p ∧ (q ∨ r)) : r ∨ q"
    steps = ("cases h with | intro a b => ?_", "cases b", "case inr x => exact Or.inl x")
    assert goals(statement, *steps) == ["case intro.inl\np q r : Prop\na : p\nh✝ : q\n⊢ r ∨ q"]


def test_next_names_hypotheses():
    assert proves("(p q : Prop) : p → q → p", "intros", "next hp _ => exact hp")
    assert refusal("(p : Prop) : p → p", "intros", "next h => skip").startswith("unsolved goals")


def test_focus_keeps_the_others_behind():
    assert targets("(p q r : Prop) : (p ∧ q) ∧ r", "constructor", "focus constructor") == ["p", "q", "r"]


def test_rotation():
    assert targets(AND, "constructor", "rotate_left") == ["q", "p"]
    assert targets("(p q r : Prop) : p ∧ q ∧ r", "refine ⟨?_, ?_, ?_⟩", "rotate_right") == ["r", "p", "q"]
    assert targets("(p q r : Prop) : p ∧ q ∧ r", "refine ⟨?_, ?_, ?_⟩", "rotate_left 2") == ["r", "p", "q"]


def test_parentheses_hold_a_sequence():
    assert proves(AND, "(constructor; exact hp; exact hq)")


def test_done_needs_no_goals():
    assert refusal(AND, "done").startswith("unsolved goals\np q : Prop")
    assert proves(AND, "(exact ⟨hp, hq⟩; done)")


def test_siblings_come_back_untouched():
    before = goals(AND, "constructor")
    assert goals(AND, "constructor", "rotate_left 1", "focus (skip)", "rotate_left 1") == before
