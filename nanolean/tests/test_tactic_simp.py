"""`simp` and `simp_all`."""

import pytest

from nanolean.tactic_state import proof_status, run_tactic
from nanolean.tests.each import each
from nanolean.tests.proving import goals, proves, refusal, start, targets, with_commands


@each(
    "statement",
    [
        "(a : Nat) : a + 0 = a",
        "(a : Nat) : 0 * a + a * 1 = a",
        "(p : Prop) : p ∧ True ↔ p",
        "(p : Prop) : ¬(p ∧ False)",
        "(p : Prop) (h : p) : p ∨ False ↔ True ∧ p",
        ": 2 + 3 = 5 ∧ 2 < 3 ∧ ¬3 ≤ 2 ∧ 2 ≠ 3",
        ": 2 ^ 10 * 3 = 3072 ∧ 7 - 9 = 0",
        "(a : Nat) : a + 1 ≠ 0",
        "(a b : Nat) : a + 3 = b + 3 ↔ a = b",
        "(a b : Nat) : a + 3 ≤ b + 5 ↔ a ≤ b + 2",
        "(P : Nat → Prop) : (∃ x, x = 3 ∧ P x) ↔ P 3",
        "(P : Nat → Prop) : (∀ x, x = 3 → P x) ↔ P 3",
        "(P : Nat → Prop) : (∀ x, P (x + 0)) ↔ ∀ x, P x",
        "(P : Nat → Prop) : (∃ x, P (x * 1)) ↔ ∃ x, P x",
        "(α : Type) (a b : α) (l m : List α) : a :: l = b :: m ↔ a = b ∧ l = m",
        "(α : Type) (a : α) (l : List α) : a :: l ≠ []",
    ],
)
def test_simp_proves(statement):
    assert proves(statement, "simp")


def test_a_goal_that_is_not_closed_is_left_simplified():
    assert targets("(a b : Nat) : a + 0 = b * 1", "simp") == ["a = b"]
    assert targets("(a b : Nat) : ¬a ≤ b", "simp") == ["b < a"]
    assert targets(": 2 = 3", "simp") == ["False"]


def test_simp_makes_progress_or_is_refused():
    assert refusal("(a b : Nat) : a = b", "simp") == "`simp` made no progress"
    assert refusal("(a b : Nat) (h : a = b) : a = b", "simp at h") == "`simp` made no progress"


def test_given_rules_in_both_directions():
    assert proves("(f : Nat → Nat) (h : ∀ x, f x = x + 1) : f (f 2) = 4", "simp [h]")
    assert targets("(a b : Nat) (P : Nat → Prop) (h : b = a) : P a", "simp [← h]") == ["P b"]
    assert proves("(a b c : Nat) : a * (b + c) = a * b + a * c", "simp [Nat.mul_add]")


@pytest.mark.parametrize(
    "statement",
    [
        "(f : Nat → Nat → Nat) (g : Nat → Nat) (a b : Nat) (h : f a = g) : f a b = g b",
        "(f g : Nat → Nat → Nat) (a b : Nat) (h : f = g) : f a b = g a b",
        "(f : Nat → Nat → Nat) (h : ∀ a, 0 < a → f a = fun x => x + a) : f 2 3 = 5",
        "(f g : (n : Nat) → 0 < n → Nat) (a : Nat) (ha : 0 < a) (h : f = g) : f a ha = g a ha",
    ],
)
def test_a_rule_for_a_function_rewrites_what_the_function_is_applied_to(statement):
    assert proves(statement, "simp [h]")
    assert proves(statement, "simp_all")


def test_hypotheses_that_are_propositions():
    assert proves("(p q : Prop) (hp : p) (hq : q) : q ∧ p", "simp [hp, hq]")
    assert proves("(p q : Prop) (hp : ¬p) (h : p ∨ q) : q", "simp [hp] at h", "exact h")
    assert proves("(a b : Nat) (h : a ≠ b) : ¬(a = b)", "simp [h]")
    assert proves("(p q : Prop) (h : p ∧ q) : q", "simp [h]")
    assert proves("(p q : Prop) (h : p ∧ q) : q", "simp [*]")


def test_each_part_of_a_conjunction_is_a_rule_also_behind_quantifiers():
    """As Lean's `preprocess` of simp theorems takes them apart."""
    assert proves("(p : Nat) (f : Nat → Nat) (h : p = 1 ∧ ∀ x, f x = x) : f 3 = 3", "simp [h]")
    assert proves("(f : Nat → Nat) (g : Nat → Nat → Nat) (h : ∀ x, f x = x ∧ ∀ y, g y x = f x) : g 2 3 = 3", "simp [h]")
    assert proves(
        "(f : List Nat → Nat) (l : List Nat) (h : f l = 1 ∧ ∀ x, f (x :: l) = 2) : ∀ y, f (y :: l) = 2", "simp_all"
    )


def test_conditional_rules_fire_when_the_condition_simplifies_to_true():
    statement = "(f : Nat → Nat) (h : ∀ x, 0 < x → f x = 0) : f 3 = 0"
    assert proves(statement, "simp [h]")
    assert refusal("(f : Nat → Nat) (a : Nat) (h : ∀ x, 0 < x → f x = 0) : f a = 0", "simp [h]") == (
        "`simp` made no progress"
    )


def test_commutative_rules_are_ordered():
    assert proves("(a b : Nat) : b + a = a + b", "simp [Nat.add_comm]")
    assert targets("(a b c : Nat) : b + a = c", "simp [Nat.add_comm]") == ["a + b = c"]
    statement = "(a b c d : Nat) : a + (b + c) + d = d + (c + (b + a))"
    assert proves(statement, "simp [Nat.add_comm, Nat.add_assoc, Nat.add_left_comm]")


def test_only_uses_nothing_but_the_list():
    assert refusal("(a : Nat) : a + 0 = a", "simp only []") == "`simp` made no progress"
    assert proves("(a : Nat) : a + 0 = a", "simp only [Nat.add_zero]")
    assert targets("(a b : Nat) (h : a = b) : a + 0 = 3", "simp only [h]") == ["b + 0 = 3"]
    assert targets("(a b : Nat) (h : a = 2) : a * 2 ≤ b", "simp only [h]") == ["2 * 2 ≤ b"]
    assert targets("(a b : Nat) (h : a = 2) : a * 2 ≤ b", "simp only [h, Nat.reduceMul]") == ["4 ≤ b"]


def test_rules_can_be_erased():
    assert refusal("(a b : Nat) : a + 0 = b", "simp [-Nat.add_zero]") == "`simp` made no progress"
    assert "does not have the `[simp]` attribute" in refusal("(a : Nat) : a + 0 = a", "simp [-Nat.add_comm]")


def test_simp_at_a_hypothesis():
    assert goals("(n : Nat) (h : n + 3 = 5) : n = 2", "simp at h") == ["n : Nat\nh : n = 2\n⊢ n = 2"]
    assert proves("(n : Nat) (h : n + 1 = 0) : n = 5", "simp at h")
    assert goals("(p q : Prop) (h : p ∨ True) : q", "simp at h") == ["p q : Prop\n⊢ q"]


def test_simp_everywhere():
    assert goals("(a b : Nat) (h : a + 0 = b) : b * 1 = a", "simp at *") == ["a b : Nat\nh : a = b\n⊢ b = a"]
    assert goals("(a b : Nat) (h : a + 0 = b) : b * 1 = a", "simp at h ⊢") == ["a b : Nat\nh : a = b\n⊢ b = a"]


def test_a_hypothesis_is_not_used_on_itself():
    assert goals("(a b : Nat) (h : a + 0 = b) : a = b", "simp [h] at h") == ["a b : Nat\nh : a = b\n⊢ a = b"]


def test_definitions_unfold_when_named():
    base = with_commands("def double (n : Nat) : Nat := n + n")
    assert targets("(a : Nat) : double a = 2", "simp [double]", base=base) == ["a + a = 2"]
    assert proves(": double 2 = 4", "simp [double]", base=base)


def test_own_simp_lemmas_are_used():
    base = with_commands("def three : Nat := 3\n@[simp] theorem three_eq : three = 3 := rfl")
    assert proves(": three + 1 = 4", "simp", base=base)


def test_loops_end_with_an_error():
    message = refusal("(f : Nat → Nat) (h : ∀ x, f x = f (x + 1)) : f 0 = 1", "simp [h]")
    assert message.endswith("maximum recursion depth has been reached")


def test_rules_that_say_nothing_are_refused():
    assert "Invalid" in refusal("(h : True) : 1 = 2", "simp [h]")
    assert refusal("(a : Nat) : a = 1", "simp [foo]") == "Unknown identifier `foo`"


def test_simp_all_uses_hypotheses_on_each_other():
    assert proves("(p q r : Prop) (h : p → q) (h2 : q → r) (hp : p) : r", "simp_all")
    assert proves("(p q : Prop) (h : p ∨ q) (hp : ¬p) : q", "simp_all")
    assert refusal("(a b : Nat) : a = b", "simp_all") == "`simp_all` made no progress"


def test_simp_goes_under_functions_by_funext():
    statement = "(f : (Nat → Nat) → Nat) (h : f (fun x => x) = 1) : f (fun x => x + 0) = 1"
    assert proves(statement, "simp", "exact h")


def test_metavariables_of_the_goal_are_left_alone():
    assert targets("(P : Nat → Prop) : ∃ x, P (x + 0)", "constructor", "simp") == ["P ?w", "Nat"]


def test_a_witness_that_is_a_proof_makes_a_conjunction():
    assert goals("(p q : Prop) (h : ¬(p → q)) : False", "simp at h") == ["p q : Prop\nh : p ∧ ¬q\n⊢ False"]


def test_terms_are_rules_too():
    assert proves("(a b : Nat) (h : a ≠ b) : ¬b = a", "simp [h.symm]")
    assert proves("(f : Nat → Nat) (h : ∀ x, f x = x) (a : Nat) : f a = a", "simp only [h a]")


def test_permutations_of_deep_terms_take_few_steps():
    rules = "Nat.add_mul, Nat.mul_add, Nat.add_comm, Nat.add_left_comm, Nat.add_assoc, Nat.mul_comm, Nat.mul_left_comm"
    statement = "(a b c d : Nat) : (a + b + c) * (a + b + c) * d = d * (c + b + a) * (c + a + b)"
    done = run_tactic(start(statement), f"simp [{rules}, Nat.mul_assoc]", steps=40_000)
    assert proof_status(done.state) == "Completed"


@pytest.mark.parametrize(
    ("equation", "expected"),
    [("x + 3 = 5", "x = 2"), ("5 = x + 3", "x = 2"), ("3 = x + 3", "x = 0"), ("y + 5 = x + 3", "y + 2 = x")],
)
def test_an_equation_with_a_number_ends_in_the_number(equation: str, expected: str):
    assert proves(f"(x y : Nat) (h : {equation}) : {expected}", "simp at h", "exact h")


@pytest.mark.parametrize("tactic", ["simp [List.length_append]", "grind [List.length_append]"])
def test_universes_of_the_goal_are_not_those_of_a_rule_with_the_same_names(tactic):
    # `List.length_append.{u}` at `u := u + 1`, where the lists themselves speak of the theorem's `u`
    assert proves("{α : Type u} (l m : List (Type u)) : (l ++ m).length = l.length + m.length", tactic)


@pytest.mark.parametrize("tactic", ["simp only", "simp", "simp_all"])
def test_fields_of_a_structure_that_is_written_out_are_computed(tactic: str) -> None:
    base = with_commands("structure Rect where\n  width : Nat\n  height : Nat")
    statement = "(a b : Nat) : (Rect.mk a b).width * (Rect.mk a b).height = b * a"
    assert targets(statement, tactic, base=base) == ["a * b = b * a"]


PRED = "def pred? : Nat → Option Nat\n  | 0 => none\n  | n + 1 => some n"


@pytest.mark.parametrize("tactic", ["simp [pred?]", "simp only [pred?]", "simp_all [pred?]", "rw [pred?]"])
def test_a_definition_by_patterns_on_numbers_computes_for_a_successor(tactic: str) -> None:
    base = with_commands(PRED)
    assert proves("(k : Nat) : pred? (k + 1) = some k", tactic, base=base)
    assert proves("(k : Nat) : pred? (k + 3) = some (k + 2)", tactic, base=base)


def test_a_match_on_a_successor_is_decided() -> None:
    assert proves("(n : Nat) : (match n + 1 with | 0 => 5 | _ => 6) = 6", "simp only")
    assert proves("(n m : Nat) : m = n + 1 → (match m with | 0 => 5 | k + 1 => k) = n", "intro h", "rw [h]")
    assert proves(
        "(k m : Nat) (h : pred? (k + 1) = some m) : k = m", "simp [pred?] at h", "exact h", base=with_commands(PRED)
    )


def test_a_comparison_that_answers_a_boolean_is_an_equation() -> None:
    assert goals("(x : Nat) (h : (x == 3) = true) : x = 3", "simp at h") == ["x : Nat\nh : x = 3\n⊢ x = 3"]
    assert targets("(x y : Nat) : (x != y) = true ∨ (x == y) = false", "simp") == ["¬x = y"]
    assert targets("(x : Nat) : x ∈ [x].filter (fun y => y % 2 == 0)", "simp") == ["x % 2 = 0"]
    assert proves("(x : Nat) (h : (x == 3) = true) : x = 3", "exact eq_of_beq h")
    assert proves(": (2 == 3) = false ∧ (2 == 2) = true", "simp only [Nat.reduceBeq]", "exact ⟨trivial, trivial⟩")


def test_a_definition_with_a_test_takes_an_equation_for_it() -> None:
    base = with_commands("def half (n : Nat) : Nat := if n % 2 == 0 then n / 2 else 0")
    assert proves("(n : Nat) (h : n % 2 = 0) : half n = n / 2", "simp [half, h]", base=base)
    assert targets("(n : Nat) : half n = 7", "simp only [half, beq_iff_eq]", base=base) == [
        "(if n % 2 = 0 then n / 2 else 0) = 7"
    ]


@each(
    ("statement", "tactic"),
    [
        ("(a : Nat) : (let x := a; x + 0) = a", "simp"),
        ("(a : Nat) : (let x := a; let y := x; y) = a", "simp only"),
        ("(a : Nat) : let m := a + 1; m = a + 1", "simp"),
        ("(a : Nat) (h : (let x := a; x + 0) = 3) : a = 3", "(simp at h; exact h)"),
        ("(a : Nat) (h : (let x := a; x) = 3) : a = 3", "(simp only at h; exact h)"),
        ("(a : Nat) (h : (let x := a; x + 0) = 3) : a = 3", "simp_all"),
        ("(P : Nat → Prop) (h : ∀ x, P x) : ∀ x, P (let y := x; y + 0)", "(simp; exact h)"),
        ("(a b : Nat) : (let f := fun x : Nat => x + b; f) a = a + b", "simp"),
        ("(a : Nat) (h : a ≠ 2) : step a = a + 1", "simp [step, h]"),
        ("(a : Nat) (h : a ≠ 2) : step a = a + 1", "(unfold step; simp only [Nat.reduceEqDiff, h])"),
    ],
)
def test_simp_puts_in_what_let_names(statement: str, tactic: str) -> None:
    base = with_commands("def step (n : Nat) : Nat := let m := n + 1; if m = 3 then 0 else m")
    assert proves(statement, tactic, base=base)


def test_a_let_variable_of_the_context_is_put_in_where_it_is_named() -> None:
    assert targets("(a : Nat) (P : Nat → Prop) : let x := a; P (x + 0)", "intro x", "simp") == ["P x"]
    assert targets("(a : Nat) (P : Nat → Prop) : let x := a; P (x + 0)", "intro x", "simp [x]") == ["P a"]


@each(
    ("statement", "steps"),
    [
        ("(a : Nat) : (let x := a; x) = a", ["dsimp only"]),
        ("(a : Nat) (h : (let x := a; x + 0) = 3) : a = 3", ["dsimp at h", "exact h"]),
        ("(n : Nat) : (fun x => double x + 0) n = 2 * n", ["dsimp [double]", "omega"]),
        ("(p : Nat × Nat) : (p.1, p.2).1 = p.1", ["dsimp"]),
        ("(f : Nat → Nat) (h : ∀ x, f (x + 0) = 2 + 3) : ∀ y, f y = 5", ["dsimp at h ⊢", "exact h"]),
        ("(h : (fun p : Prop => p) False) : 1 = 2", ["dsimp only at h"]),
        ("(a b c : Nat) (h : (fun x => x + 1) a = b) (k : (fun x => x) c = b) : b = c", ["dsimp only at *", "omega"]),
        # Where types depend on what changes `simp` cannot go, for want of an equation between the terms.
        ("(P : Nat → Type) (a : Nat) (x : P (a + 0)) (Q : ∀ n, P n → Prop) (h : Q (a + 0) x) : Q a x",
         ["dsimp at h", "exact h"]),
    ],
)  # fmt: skip
def test_dsimp_takes_steps_by_definition(statement: str, steps: list[str]) -> None:
    assert proves(statement, *steps, base=with_commands("def double (n : Nat) : Nat := n + n"))


def test_dsimp_leaves_what_a_proof_is_needed_for() -> None:
    message = "`dsimp` made no progress"
    assert refusal("(a b : Nat) : 0 + a = b", "dsimp") == message
    assert refusal("(a b : Nat) (h : a = b) : a = b", "dsimp [h]") == message
    assert refusal("(a b : Nat) (h : a + b = b) : a = 0", "dsimp at h") == message
    # Neither does it use what is proved by more than `rfl`, though it may be true by computing.
    base = with_commands("theorem two (n : Nat) : n * 2 = n + n := by omega")
    assert refusal("(a b : Nat) : a * 2 = b", "dsimp only [two]", base=base) == message
