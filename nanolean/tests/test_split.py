"""`split`: the goals it makes from `if` and `match`, their tags and hypotheses."""

import pytest

from nanolean.tests.proving import goals, proves, refusal, with_commands

ONE = (
    "def one (x y z : Nat) : Nat := match x, y, z with\n"
    "  | 1, _, _ => y\n  | _, 1, _ => y\n  | _, _, 1 => y\n  | _, _, _ => 0\n"
)


def test_an_if_gives_a_goal_for_each_value_of_the_condition() -> None:
    assert goals("(a b : Nat) : (if a ≤ b then b else a) = 3", "split") == [
        "case isTrue\na b : Nat\nh✝ : a ≤ b\n⊢ b = 3",
        "case isFalse\na b : Nat\nh✝ : ¬a ≤ b\n⊢ a = 3",
    ]


def test_every_if_on_the_same_condition_is_decided() -> None:
    assert goals("(a b : Nat) : (if a = b then 1 else 2) = (if a = b then 3 else 4)", "split") == [
        "case isTrue\na b : Nat\nh✝ : a = b\n⊢ 1 = 3",
        "case isFalse\na b : Nat\nh✝ : ¬a = b\n⊢ 2 = 4",
    ]


def test_a_dependent_if_gets_the_hypothesis() -> None:
    assert goals("(f : Nat → Nat) (n : Nat) : f (if h : n = 0 then 1 else n) = 3", "split") == [
        "case isTrue\nf : Nat → Nat\nn : Nat\nh✝ : n = 0\n⊢ f 1 = 3",
        "case isFalse\nf : Nat → Nat\nn : Nat\nh✝ : ¬n = 0\n⊢ f n = 3",
    ]


def test_an_if_in_the_condition_comes_first() -> None:
    first, _ = goals(
        "(p : Nat → Prop) [Decidable (p 1)] (n : Nat) : (if (if n = 0 then 1 else 2) = 1 then 3 else 4) = 3", "split"
    )
    assert "h✝ : n = 0" in first


def test_an_if_in_a_hypothesis() -> None:
    assert goals("(a b : Nat) (h : (if a ≤ b then b else a) = 3) : a = b", "split at h") == [
        "case isTrue\na b : Nat\nh : b = 3\nh✝ : a ≤ b\n⊢ a = b",
        "case isFalse\na b : Nat\nh : a = 3\nh✝ : ¬a ≤ b\n⊢ a = b",
    ]


def test_a_match_gives_a_goal_for_each_alternative() -> None:
    assert goals("(f : Nat → Nat) (n : Nat) : (match f n with | 0 => 1 | k + 1 => k) = 3", "split") == [
        "case h_1\nf : Nat → Nat\nn x✝ : Nat\nheq✝ : f n = 0\n⊢ 1 = 3",
        "case h_2\nf : Nat → Nat\nn x✝ k✝ : Nat\nheq✝ : f n = k✝.succ\n⊢ k✝ = 3",
    ]


def test_a_variable_that_is_matched_is_replaced_everywhere() -> None:
    first, second = goals("(n : Nat) : n > 0 ∧ (match n with | 0 => 1 | k + 1 => k) = 3", "split")
    assert first == "case h_1\nx✝ : Nat\n⊢ 0 > 0 ∧ 1 = 3"
    assert second == "case h_2\nx✝ k✝ : Nat\n⊢ k✝.succ > 0 ∧ k✝ = 3"


def test_a_wildcard_knows_that_earlier_alternatives_do_not_apply() -> None:
    _, second = goals("(n : Nat) : (match n with | 0 => 1 | _ => n) = 3", "split")
    assert second == "case h_2\nn x✝¹ : Nat\nx✝ : n = 0 → False\n⊢ n = 3"


def test_a_match_in_a_hypothesis() -> None:
    first, second = goals("(n : Nat) (h : (match n with | 0 => 1 | k + 1 => k) = 3) : n = 4", "split at h")
    assert first == "case h_1\nx✝ : Nat\nh : 1 = 3\n⊢ 0 = 4"
    assert second == "case h_2\nx✝ k✝ : Nat\nh : k✝ = 3\n⊢ k✝.succ = 4"


@pytest.mark.nightly
def test_a_match_on_several_terms_with_overlapping_alternatives() -> None:
    base = with_commands(ONE)
    statement = "(x y z : Nat) (hx : x ≠ 1) (hy : y ≠ 1) (hz : z ≠ 1) : one x y z = 0"
    steps = ("unfold one", "split", "contradiction", "contradiction", "contradiction")
    assert goals(statement, *steps, base=base)[0].startswith("case h_4\nx y z : Nat\n")
    assert proves(statement, *steps, "rfl", base=base)


def test_goals_after_split_prove_the_whole() -> None:
    assert proves("(p : Prop) [Decidable p] : (if p then 1 else 2) ≤ 2", "split <;> decide")
    assert proves("(n : Nat) : (match n with | 0 => 1 | _ + 1 => 1) = 1", "split <;> rfl")


def test_nothing_to_split() -> None:
    message = refusal("(n : Nat) : n = n", "split")
    assert message == (
        "Tactic `split` failed: Could not split an `if` or `match` expression in the goal\n\nn : Nat\n⊢ n = n"
    )


def test_a_condition_on_a_bound_variable_is_not_split() -> None:
    assert "Could not split" in refusal("(b : Nat) : ∀ a, (if a = b then 1 else 1) = 1", "split")


def test_split_does_not_prove_a_false_statement() -> None:
    assert not proves("(n : Nat) : (match n with | 0 => 1 | _ => 2) = 1", "split", "rfl", "skip")
