"""`rw`, `rewrite`, `unfold`."""

import pytest

from nanolean.tests.proving import goals, proves, refusal, targets, with_commands


def test_rw_replaces_all_instances_of_the_first_match():
    assert targets("(a b c : Nat) (h : a + b = c) : a + b = b + a + (a + b)", "rw [h]") == ["c = b + a + c"]
    assert targets("(a b c d : Nat) : a + b = c + d", "rw [Nat.add_comm]") == ["b + a = c + d"]


def test_rw_uses_several_rules_and_directions():
    assert targets("(a b c : Nat) (h : a = b) : b * c = c", "rw [← h, Nat.mul_comm]") == ["c * a = c"]


def test_rw_tries_rfl_afterwards():
    assert proves("(a b : Nat) (h : a = b) : a = b", "rw [h]")
    assert proves("(a b : Nat) (h : a = b) : a ≤ b", "rw [h]")
    assert proves("(p q : Prop) (h : p ↔ q) : q ↔ p", "rw [h]")


def test_that_rfl_does_not_unfold():
    assert targets("(a b : Nat) (h : b = 0) : a + b = Nat.succ a - 1", "rw [h]") == ["a + 0 = a.succ - 1"]


def test_rewrite_does_not_try_rfl():
    assert targets("(a b : Nat) (h : a = b) : a = b", "rewrite [h]") == ["b = b"]


def test_rw_with_given_arguments_picks_the_place():
    assert targets("(a b c : Nat) : a + b + c = c", "rw [Nat.add_comm a b]") == ["b + a + c = c"]
    assert targets("(a b c : Nat) : a + b + c = c", "rw [Nat.add_comm _ c]") == ["c + (a + b) = c"]


def test_rw_by_an_equivalence():
    assert targets("(p q r : Prop) (h : p ↔ q) : p ∧ r", "rw [h]") == ["q ∧ r"]
    assert targets("(p q : Prop) : p ∧ q", "rw [and_comm]") == ["q ∧ p"]


def test_rw_at_a_hypothesis_keeps_its_place():
    statement = "(a b : Nat) (h : a = b) (h2 : a + 1 = 3) (k : b = b) : b = 2"
    assert goals(statement, "rw [h] at h2") == ["a b : Nat\nh : a = b\nh2 : b + 1 = 3\nk : b = b\n⊢ b = 2"]


def test_rw_at_hypothesis_and_goal():
    statement = "(a b : Nat) (h : a = b) (h2 : a + 1 = 3) : a = 2"
    assert goals(statement, "rw [h] at h2 ⊢") == ["a b : Nat\nh : a = b\nh2 : b + 1 = 3\n⊢ b = 2"]


def test_conditions_become_goals_after_the_main_one():
    statement = "(a b c : Nat) (h : 0 < c → a = b) : a + c = c"
    assert targets(statement, "rw [h]") == ["b + c = c", "0 < c"]
    assert goals("(a b : Nat) (h : (k : 0 < b) → a = b) : a = a * b", "rw [h]")[1].startswith("case k\n")


def test_rw_matches_numbers_as_successors():
    assert targets("(a : Nat) : a * 3 = a", "rw [Nat.mul_succ]") == ["a * 2 + a = a"]


def test_rw_rewrites_propositions_under_negation():
    assert targets("(a b : Nat) (h : a = b) : ¬a = 3", "rw [h]") == ["¬b = 3"]


def test_no_instance_is_refused_with_the_pattern():
    message = refusal("(a b : Nat) (h : a = b) : b = 3", "rw [h]")
    assert message == (
        "Tactic `rewrite` failed: Did not find an occurrence of the pattern\n  a\nin the target expression\n  b = 3"
        "\n\na b : Nat\nh : a = b\n⊢ b = 3"
    )


def test_bound_variables_are_out_of_reach():
    statement = "(f : Nat → Nat) (h : ∀ x, f x = x) : ∀ x, f x = x"
    assert "Did not find an occurrence of the pattern\n  f ?x" in refusal(statement, "rw [h]")


def test_only_equations_and_equivalences_rewrite():
    message = refusal("(a b : Nat) (h : a ≤ b) : a = b", "rw [h]")
    assert message == (
        "Invalid rewrite argument: Expected an equality or iff proof or definition name, but `h` is a proof of\n  a ≤ b"
    )


def test_a_variable_alone_is_no_pattern():
    assert "Pattern is a metavariable" in refusal("(h : ∀ a b : Nat, a = b) (c : Nat) : c = 1", "rw [h]")


def test_dependent_types_make_the_motive_ill_typed():
    statement = "(P : Nat → Type) (a b : Nat) (h : a = b) (x : P a) (Q : (n : Nat) → P n → Prop) : Q a x"
    assert "motive is not type correct" in refusal(statement, "rw [h]")


def test_unknown_rules_are_refused():
    assert refusal("(a : Nat) : a = a", "rw [foo]") == "Unknown identifier `foo`"
    assert refusal("(a : Nat) (h : a = 1) : a = 1", "rw [h] at k") == "Unknown identifier `k`"


def test_rw_and_unfold_by_a_definition():
    base = with_commands("def double (n : Nat) : Nat := n + n")
    assert targets("(a : Nat) : double a = 2 * a", "rw [double]", base=base) == ["a + a = 2 * a"]
    assert targets("(a : Nat) : double a = 2 * a", "unfold double", base=base) == ["a + a = 2 * a"]
    assert goals("(a : Nat) (h : double a = 2) : a = 1", "unfold double at h", base=base) == [
        "a : Nat\nh : a + a = 2\n⊢ a = 1"
    ]
    assert refusal("(a : Nat) : a = a", "unfold double", base=base).startswith("Tactic `unfold` failed to unfold")


def test_unfold_a_recursion_by_its_equation():
    base = with_commands("def twice (n : Nat) : Nat := @Nat.rec (fun _ => Nat) 0 (fun _ ih => ih + 2) n")
    assert targets("(n : Nat) : twice (n + 1) = 2 * n + 2", "unfold twice", base=base) == ["twice n + 2 = 2 * n + 2"]
    assert refusal("(n : Nat) : twice n = 2 * n", "unfold twice", base=base).startswith("Tactic `unfold` failed")


def test_rewriting_by_a_shown_equation():
    assert targets("(p : Nat → Prop) : p (1 + 1)", "rw [show 1 + 1 = 2 from rfl]") == ["p 2"]


def test_a_definition_is_rewritten_where_it_is_found_first():
    base = with_commands("def twice (n : Nat) : Nat := n + n")
    assert targets("(n : Nat) : twice (twice n) = 4 * n", "rw [twice]", base=base) == ["twice n + twice n = 4 * n"]
    assert targets("(n : Nat) : n + n = 4", "rw [← twice]", base=base) == ["twice n = 4"]
    assert "Expected an equality" in refusal("(n : Nat) : twice n = 4", "rw [twice n]", base=base)


@pytest.mark.parametrize(
    ("expression", "name", "expected"),
    [
        ("(a :: l).length", "List.length", "l.length + 1"),
        ("([] : List Nat).length", "List.length", "0"),
        ("(List.map f (a :: l)).length", "List.map", "(f a :: List.map f l).length"),
        ("(a + 1).pred", "Nat.pred", "a"),
    ],
)
def test_a_function_of_the_library_rewrites_by_its_equations(expression: str, name: str, expected: str) -> None:
    statement = f"(f : Nat → Nat) (a b : Nat) (l : List Nat) : {expression} = b"
    assert targets(statement, f"rw [{name}]") == [f"{expected} = b"]


def test_a_function_of_the_library_does_not_show_its_recursor() -> None:
    message = refusal("(l : List Nat) : l.length = 0", "rw [List.length]")
    assert "Failed to rewrite using equation theorems for `List.length`" in message


def test_rw_everywhere_goes_where_the_rule_applies() -> None:
    statement = "(a b : Nat) (h : a * 1 = b) (k : 0 = b) : b * 1 = a"
    assert goals(statement, "rw [Nat.mul_one] at *") == ["a b : Nat\nh : a = b\nk : 0 = b\n⊢ b = a"]
    assert "did not find instance of the pattern" in refusal(statement, "rw [Nat.mul_zero] at *")


def test_filter_of_a_list_is_a_case_distinction() -> None:
    statement = "(p : Nat → Bool) (x : Nat) (l : List Nat) (h : p x = true) : (x :: l).filter p = x :: l.filter p"
    assert proves(statement, "rw [List.filter_cons, if_pos h]")
