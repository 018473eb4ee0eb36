"""`cases`, `by_cases`, `subst`, `injection`, `rcases`, `obtain`."""

import re

import pytest

from nanolean.tests.proving import goals, proves, refusal, targets, with_commands

OR = "(p q : Prop) (h : p ∨ q) : q ∨ p"


def test_cases_without_alternatives_tags_goals():
    assert goals(OR, "cases h") == [
        "case inl\np q : Prop\nh✝ : p\n⊢ q ∨ p",
        "case inr\np q : Prop\nh✝ : q\n⊢ q ∨ p",
    ]


def test_cases_with_alternatives_names_fields():
    assert goals(OR, "cases h with | inl hp => ?_ | inr hq => ?_") == [
        "case inl\np q : Prop\nhp : p\n⊢ q ∨ p",
        "case inr\np q : Prop\nhq : q\n⊢ q ∨ p",
    ]
    assert proves(OR, "cases h with | inl hp => exact Or.inr hp | inr hq => exact Or.inl hq")


def test_alternatives_in_another_order_give_goals_in_the_order_of_constructors():
    assert [text.split("\n")[0] for text in goals(OR, "cases h with | inr hq => ?_ | inl hp => ?_")] == [
        "case inl",
        "case inr",
    ]


def test_the_wildcard_alternative_covers_the_rest():
    assert proves(OR, "cases h with | inl hp => exact Or.inr hp | _ => left; assumption")


def test_wrong_alternatives_are_refused():
    assert refusal(OR, "cases h with | inl hp => ?_") == "Alternative `inr` has not been provided"
    assert refusal(OR, "cases h with | zero => ?_ | inr hq => ?_") == (
        "Invalid alternative name `zero`: Expected `inl` or `inr`"
    )
    message = refusal(OR, "cases h with | inl a b => ?_ | inr hq => ?_")
    assert message == "Too many variable names provided at alternative `inl`: 2 provided, but 1 expected"


def test_an_alternative_has_the_constructor_s_name_without_a_namespace():
    for tactic in ("cases", "induction"):
        message = refusal("(n : Nat) : n = n", f"{tactic} n with | Nat.zero => rfl | Nat.succ m => rfl")
        assert message == "Invalid alternative name `Nat.zero`: Expected `zero` or `succ`"
        assert "Wrong.Name.zero" in refusal("(n : Nat) : n = n", f"{tactic} n with | Wrong.Name.zero => rfl | _ => rfl")


@pytest.mark.parametrize(
    "alternatives",
    ["| inl h => ?_ | inr h => ?_ | _ => skip", "| _ => ?_ | _ => skip", "| inl h => ?_ | _ => ?_ | _ => skip"],
)
def test_a_wildcard_for_which_no_case_is_left_is_refused(alternatives: str):
    assert "`_` is not needed" in refusal(OR, f"cases h with {alternatives}")


def test_a_wildcard_for_no_cases_at_all_is_refused():
    assert "`_` is not needed" in refusal("(h : False) : 1 = 2", "cases h with | _ => skip")


def test_an_alternative_must_close_its_goal():
    message = refusal(OR, "cases h with | inl hp => skip | inr hq => ?_")
    assert message == "unsolved goals\ncase inl\np q : Prop\nhp : p\n⊢ q ∨ p"


def test_tags_are_nested():
    tags = goals("(p q r : Prop) (h : p ∧ (q ∨ r)) : q ∨ r", "cases h with | intro a b => ?_", "cases b")
    assert [text.split("\n")[0] for text in tags] == ["case intro.inl", "case intro.inr"]


def test_cases_on_a_number_shows_zero_and_successor():
    assert goals("(n : Nat) (h : 0 < n) : n = n", "cases n with | zero => ?_ | succ k => ?_") == [
        "case zero\nh : 0 < 0\n⊢ 0 = 0",
        "case succ\nk : Nat\nh : 0 < k + 1\n⊢ k + 1 = k + 1",
    ]


def test_cases_on_a_term_generalizes_the_goal():
    assert goals(": 1 = 0", "cases 1") == ["case zero\n⊢ 0 = 0", "case succ\nn✝ : Nat\n⊢ n✝ + 1 = 0"]


def test_cases_keeps_an_equation_when_asked():
    assert goals("(f : Nat → Nat) : f 0 = 0", "cases h : f 0")[0] == ("case zero\nf : Nat → Nat\nh : f 0 = 0\n⊢ 0 = 0")


def test_cases_on_a_proof_term():
    statement = "(a b : Nat) : a ≤ b ∨ b ≤ a"
    assert targets(statement, "cases Nat.le_total a b") == ["a ≤ b ∨ b ≤ a", "a ≤ b ∨ b ≤ a"]


def test_cases_on_an_order_replaces_the_bound():
    assert goals("(n m : Nat) (h : n ≤ m) : n ≤ m + 1", "cases h with | refl => ?_ | step h => ?_")[0] == (
        "case refl\nn : Nat\n⊢ n ≤ n + 1"
    )


def test_impossible_constructors_disappear():
    assert goals("(n : Nat) (h : n ≤ 0) : n = 0", "cases h") == ["case refl\n⊢ 0 = 0"]
    assert proves("(n : Nat) (h : n < 0) : False", "cases h")
    assert proves("(h : 3 = 5) : False", "cases h")


def test_equations_are_used_up_by_injectivity():
    assert goals("(n m : Nat) (h : n + 2 = m + 2) : n = m", "cases h") == ["case refl\nn : Nat\n⊢ n = n"]


def test_unsolvable_equations_are_refused():
    message = refusal("(a b : Nat) (h : a + b = b + a) : a = b", "cases h")
    assert message.startswith("Dependent elimination failed: Failed to solve equation\n  ")


def test_cases_needs_an_inductive_type():
    assert refusal("(p : Prop) (h : p) : p", "cases h") == "target is not an inductive datatype"


def test_own_inductive_families():
    base = with_commands(
        "inductive Even : Nat → Prop where\n| zero : Even 0\n| add_two (n : Nat) (h : Even n) : Even (n + 2)"
    )
    assert proves("(h : Even 3) : False", "cases h with | add_two n h => ?_", "cases h", base=base)
    assert goals("(n : Nat) (h : Even (n + 2)) : Even n", "cases h with | add_two m h => ?_", base=base) == [
        "case add_two\nn : Nat\nh : Even n\n⊢ Even n"
    ]


# -- by_cases, subst, injection ----------------------------------------------------------------------------------------


def test_by_cases_gives_pos_and_neg():
    assert goals("(p : Prop) : p ∨ ¬p", "by_cases h : p") == [
        "case pos\np : Prop\nh : p\n⊢ p ∨ ¬p",
        "case neg\np : Prop\nh : ¬p\n⊢ p ∨ ¬p",
    ]
    assert proves("(p : Prop) : p ∨ ¬p", "by_cases h : p", "exact Or.inl h", "exact Or.inr h")


def test_subst_eliminates_the_right_side_first():
    assert goals("(a b : Nat) (h : a = b) : b = a", "subst h") == ["a : Nat\n⊢ a = a"]
    assert goals("(a b : Nat) (h : b = a + 1) (k : b = 2) : b = 2", "subst h") == [
        "a : Nat\nk : a + 1 = 2\n⊢ a + 1 = 2"
    ]


def test_subst_finds_the_equation_of_a_variable():
    assert goals("(a b : Nat) (h : b = a) : b = 0", "subst b") == ["a : Nat\n⊢ a = 0"]


def test_subst_refuses_what_is_no_equation_for_a_variable():
    assert "invalid equality proof" in refusal("(a b : Nat) (h : a + 1 = b + 1) : a = b", "subst h")
    assert "invalid equality proof" in refusal("(a : Nat) (h : a = a + 1) : False", "subst h")


def test_injection_gives_equations_of_fields():
    assert goals("(n m : Nat) (h : n + 1 = m + 1) : m = n", "injection h with h2") == ["n m : Nat\nh2 : n = m\n⊢ m = n"]
    assert goals("(n m : Nat) (h : n + 1 = m + 1) : m = n", "injection h") == ["n m : Nat\nn_eq✝ : n = m\n⊢ m = n"]
    statement = "(α : Type) (a b : α) (l m : List α) (h : a :: l = b :: m) : a = b ∧ l = m"
    assert proves(statement, "injection h with h1 h2", "exact ⟨h1, h2⟩")


def test_injection_closes_a_goal_that_is_one_of_its_equations():
    assert proves("(n m : Nat) (h : n + 1 = m + 1) : n = m", "injection h")


def test_injection_closes_a_clash():
    assert proves("(n : Nat) (h : n + 1 = 0) : False", "injection h")


def test_injection_needs_constructors():
    assert "equality of constructor applications expected" in refusal("(a b : Nat) (h : a = b) : a = b", "injection h")


# -- rcases, obtain ----------------------------------------------------------------------------------------------------


def test_rcases_without_a_pattern_takes_the_cases_once():
    assert goals("(p q r : Prop) (h : p ∧ q ∨ r) : p", "rcases h") == [
        "case inl\np q r : Prop\nh✝ : p ∧ q\n⊢ p",
        "case inr\np q r : Prop\nh✝ : r\n⊢ p",
    ]
    assert goals("(f : Nat → Bool) (P : Bool → Prop) : P (f 0)", "rcases h : f 0") == [
        "case false\nf : Nat → Bool\nP : Bool → Prop\nh : f 0 = false\n⊢ P false",
        "case true\nf : Nat → Bool\nP : Bool → Prop\nh : f 0 = true\n⊢ P true",
    ]
    # Of several terms none is taken apart: each has the pattern `_` then.
    assert targets("(p q : Prop) (h : p ∨ q) (k : q ∨ p) : q", "rcases h, k") == ["q"]


def test_rcases_follows_nested_patterns():
    assert goals("(p q r : Prop) (h : p ∧ q ∨ r) : r ∨ p", "rcases h with ⟨hp, hq⟩ | hr") == [
        "case inl.intro\np q r : Prop\nhp : p\nhq : q\n⊢ r ∨ p",
        "case inr\np q r : Prop\nhr : r\n⊢ r ∨ p",
    ]


def test_the_last_tuple_pattern_takes_all_that_is_left():
    assert goals("(p q r : Prop) (h : p ∧ q ∧ r) : r", "obtain ⟨a, b, c⟩ := h") == [
        "case intro.intro\np q r : Prop\na : p\nb : q\nc : r\n⊢ r"
    ]


def test_rfl_in_a_pattern_substitutes():
    statement = "(x y : Nat) (h : ∃ z, x = z + y ∧ z = 0) : x = 0 + y"
    assert goals(statement, "obtain ⟨z, rfl, rfl⟩ := h") == ["case intro.intro\ny : Nat\n⊢ 0 + y = 0 + y"]
    assert proves(statement, "obtain ⟨z, rfl, rfl⟩ := h", "rfl")


def test_underscore_and_dash():
    assert goals("(p q : Prop) (h : p ∧ q) : q", "obtain ⟨-, hq⟩ := h") == ["case intro\np q : Prop\nhq : q\n⊢ q"]
    assert goals("(p q : Prop) (h : p ∧ q) : q", "obtain ⟨_, hq⟩ := h") == [
        "case intro\np q : Prop\nleft✝ : p\nhq : q\n⊢ q"
    ]


def test_obtain_with_a_type_and_a_value():
    statement = "(P : Nat → Prop) (h : ∀ n : Nat, ∃ m, P m) : ∃ m, P m"
    assert proves(statement, "obtain ⟨m, hm⟩ : ∃ m, P m := h 0", "exact ⟨m, hm⟩")


def test_obtain_refuses_a_wrong_type():
    assert refusal("(p q : Prop) (h : p) : q", "obtain ⟨x⟩ : q := h").startswith("Type mismatch")


def test_a_hole_that_sees_what_is_taken_apart_becomes_a_function_of_it():
    found = targets("(p : Nat → Prop) (n : Nat) : ∃ x, p x", "constructor", "cases n")
    assert [re.sub(r"m\.\d+", "m", text) for text in found] == ["p (?m 0)", "p (?m (n✝ + 1))"]


def test_such_a_hole_can_still_be_found():
    steps = ("apply Nat.le_trans", "revert n", "intro n", "exact Nat.le_refl n", "exact h _")
    assert proves("(n k : Nat) (h : ∀ m, m ≤ k) : n ≤ k", *steps)


def test_patterns_follow_hypotheses_that_depend_on_what_is_taken_apart():
    statement = "(P Q : Nat → Prop) (h : ∃ n, P n ∧ Q n) : ∃ n, Q n"
    assert goals(statement, "obtain ⟨_ | k, hp, hq⟩ := h") == [
        "case intro.zero.intro\nP Q : Nat → Prop\nhp : P 0\nhq : Q 0\n⊢ ∃ n, Q n",
        "case intro.succ.intro\nP Q : Nat → Prop\nk : Nat\nhp : P (k + 1)\nhq : Q (k + 1)\n⊢ ∃ n, Q n",
    ]


def test_injections_drop_equations_without_content():
    assert goals("(x y : Nat) (h : [x] = [y]) : y = x", "injections") == ["x y : Nat\nhead_eq✝ : x = y\n⊢ y = x"]
