"""`simpa` and the combinators beyond `repeat`."""

from nanolean.tests.each import each
from nanolean.tests.proving import goals, proves, refusal, targets


@each(
    ("statement", "tactic"),
    [
        ("(a b : Nat) (h : a + 0 = b) : a = b + 0", "simpa using h"),
        ("(a b : Nat) (h : a + 0 = b) : b = a + 0", "simpa using h.symm"),
        ("(a b : Nat) (h : a = b) : 0 + a = b + 0", "simpa"),
        ("(a b : Nat) (this : a + 0 = b) : 0 + a = b + 0", "simpa"),
        ("(a b : Nat) (h : 0 = 1) : a = b", "simpa using h"),
        ("(a b : Nat) (p : Nat → Prop) (h : a = b) (k : p b) : p a", "simpa [h] using k"),
        ("(a b : Nat) (p : Nat → Prop) (h : a = b) (k : p b) : p a", "simpa only [h] using k"),
    ],
)
def test_simpa_proves_what_agrees_after_simplification(statement: str, tactic: str) -> None:
    assert proves(statement, tactic)


def test_simpa_tells_what_does_not_agree() -> None:
    assert refusal("(a b : Nat) (h : a + 0 = b) : b = a", "simpa using h") == (
        "Type mismatch: After simplification, term\n  h\nhas type\n  a = b\nbut is expected to have type\n  b = a"
    )


def test_simpa_without_a_term_needs_an_assumption() -> None:
    assert refusal("(a b : Nat) : a + 0 = b", "simpa").startswith("Tactic `assumption` failed")


def test_repeat_prime_goes_into_every_goal() -> None:
    statement = "(p q : Prop) (hp : p) (hq : q) : (p ∧ q) ∧ q"
    assert targets(statement, "repeat' constructor") == ["p", "q", "q"]
    assert proves(statement, "repeat' first | assumption | constructor")


def test_repeat1_prime_must_succeed_once() -> None:
    assert refusal("(p : Prop) : p", "repeat1' constructor") == "repeat1' made no progress"
    assert targets("(p q : Prop) : p ∧ q", "repeat1' constructor") == ["p", "q"]


def test_iterate_runs_a_number_of_times() -> None:
    assert targets("(p q r : Prop) : p → q → r → p", "iterate 2 intro") == ["r → p"]
    assert targets("(p q r : Prop) : p → q → r → p", "iterate intro") == ["p"]
    assert "additional binders" in refusal("(p q : Prop) : p → q", "iterate 2 intro")


def test_solve_takes_the_first_alternative_that_closes_the_goal() -> None:
    assert proves("(p q : Prop) (h : p) (k : q) : p ∧ q", "solve | constructor | constructor <;> assumption")
    assert "unsolved goals" in refusal("(p q : Prop) : p ∧ q", "solve | rfl | constructor")


def test_fail_if_success() -> None:
    assert targets("(p : Prop) : p", "fail_if_success assumption") == ["p"]
    assert "expected to fail" in refusal("(p : Prop) (h : p) : p", "fail_if_success assumption")


def test_and_intros_splits_all_conjunctions() -> None:
    assert goals("(p q : Prop) : p ∧ q ∧ p", "and_intros") == [
        "case refine_1\np q : Prop\n⊢ p",
        "case refine_2.refine_1\np q : Prop\n⊢ q",
        "case refine_2.refine_2\np q : Prop\n⊢ p",
    ]
