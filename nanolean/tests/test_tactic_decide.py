"""`decide` on bounded quantifiers, lists and Booleans: what it proves, and Lean's words where it does not."""

import pytest

from nanolean.tests.each import each
from nanolean.tests.library import errors
from nanolean.tests.proving import proves, refusal, with_commands


@each(
    "statement",
    [
        "∀ x, x < 10 → x % 2 = 0 ∨ x % 2 = 1",
        "∀ x < 6, ∀ y < x, x + y = y + x",
        "∀ x ≤ 10, x < 11",
        "∃ x < 10, x * x = 49",
        "∃ x ≤ 10, x * x = 100 ∧ 5 ∣ x",
        "¬∃ x < 10, x * x = 50",
        "[1, 2, 3] = [1] ++ [2, 3]",
        "[1, 2, 3] ≠ [1, 3]",
        "[[1], [2]].reverse = [[2], [1]]",
        "List.map Nat.succ [1, 2] = [2, 3]",
        "3 ∈ [1, 2, 3] ∧ 4 ∉ [1, 2, 3]",
        "∀ x ∈ [1, 2, 3], x < 4",
        "∃ x ∈ [1, 2, 3], x = 2",
        "∀ a b : Bool, (a && b) = (b && a)",
        "∃ b : Bool, (!b) = true",
        "Nat.gcd 12 18 = 6 ∧ 3 ∣ 12 ∧ ¬5 ∣ 12",
        "min 2 3 = 2 ∧ max 2 3 = 3",
    ],
)
def test_decide_evaluates(statement):
    assert proves(f": {statement}", "decide")


@pytest.mark.parametrize("statement", ["∀ x < 10, x * x < 81", "∃ x < 10, x * x = 50", "4 ∈ [1, 2, 3]", "[1] = [2]"])
def test_decide_says_that_a_proposition_is_false(statement):
    message = refusal(f": {statement}", "decide")
    assert message.startswith("Tactic `decide` proved that the proposition\n")
    assert message.endswith("\nis false")


def test_there_is_no_instance_for_all_numbers():
    expected = "failed to synthesize\n  Decidable (∀ (x : Nat), x = x)"
    assert refusal(": ∀ x : Nat, x = x", "decide").startswith(expected)


def test_a_large_bound_is_beyond_the_recursion_depth():
    assert proves(": ∀ x < 30, x < 40", "decide")
    assert refusal(": ∀ x < 1000, x < 1001", "decide").startswith("maximum recursion depth has been reached")
    assert refusal(": ∃ x ≤ 10 * 100, x = 999", "decide").startswith("maximum recursion depth has been reached")


@each("statement", ["2 ^ 300 % 7 = 1", "10 ^ 300 < 10 ^ 301", "(2 ^ 300) = 2 * 2 ^ 299"])
@each("tactic", ["simp", "decide", "rfl", "omega", "grind", "trivial", "exact rfl", "simp_all"])
def test_powers_above_the_threshold_are_not_evaluated(statement, tactic):
    """Lean's limit for exponents, `exponentiation.threshold`, is 256 (lean4#4637)."""
    assert refusal(f": {statement}", tactic)
    assert proves(f": {statement.replace('30', '25').replace('299', '249')}".replace("= 1", "= 2"), "decide")


@pytest.mark.parametrize("tactic", ["decide", "rfl"])
def test_the_threshold_is_named_where_it_stops_an_evaluation(tactic):
    message = refusal(": 2 ^ 300 % 7 = 1", tactic)
    assert "exponent 300 exceeds the threshold 256, exponentiation operation was not evaluated" in message


@pytest.mark.parametrize("tactic", ["simp", "decide", "rfl", "omega"])
def test_the_threshold_is_an_option_of_the_scope(tactic):
    theorem = f"theorem boom : 2 ^ 300 % 7 = 1 := by {tactic}\n"
    raised = "set_option exponentiation.threshold 300"
    assert not errors(f"{raised} in\n{theorem}") and not errors(f"{raised}\n{theorem}")
    for below in (theorem, f"{raised} in\n{theorem}", f"section\n{raised}\nend\n"):
        assert errors(below + theorem.replace("boom", "later"))
    assert errors(f"set_option exponentiation.threshold 299 in\n{theorem}")


def test_an_instance_that_does_not_reduce_is_shown():
    base = with_commands("@[irreducible] def hidden : Nat := 3")
    message = refusal(": hidden = 3", "decide", base=base)
    assert "because its `Decidable` instance\n" in message
    assert message.endswith("did not reduce to `isTrue` or `isFalse`.")


def test_variables_have_to_be_reverted():
    message = refusal("(p : Nat → Prop) : ∀ x < 3, p x", "decide")
    assert message.startswith("Tactic `decide` failed: expected type must not contain free variables")
