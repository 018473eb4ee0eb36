"""`omega`: what it reads, what it proves, what it refuses and how it says so."""

import pytest

from nanolean.kernel.budget import Budget, BudgetExceeded
from nanolean.kernel.expr import Const, Expr
from nanolean.meta.mctx import MetaContext
from nanolean.proof_errors import ProofError
from nanolean.tactic_state import TacticState, open_state, run_tactic
from nanolean.tactics.omega import solve
from nanolean.tactics.omega.propositions import is_linear_fact
from nanolean.tests.each import each
from nanolean.tests.proving import goals, proves, refusal, start, status

PROVED = {
    "transitivity": "(x y z : Nat) (h : x < y) (h' : y < z) : x + 1 < z",
    "equations": "(x y z : Nat) (h : x = y + 2) (h' : y = z + 3) : x = z + 5",
    "commutativity": "(x y : Nat) : x + y = y + x",
    "collecting": "(x y : Nat) : 2 * (x + 3 * y) + x * 4 = 6 * y + 6 * x",
    "succ": "(x y : Nat) (h : Nat.succ x ≤ y) : x < y",
    "greater": "(x y : Nat) (h : x > y) : x ≥ y + 1",
    "let in a fact": "(a : Nat) (h : let m := a + 1; m = 3) : a = 2",
    "zero is the least": "(x : Nat) : 0 ≤ x",
    "large numbers": "(x y : Nat) (h : 10000000000000000 * x < 10000000000000000 * y + 1) : x ≤ y",
    "closed arithmetic": "(x : Nat) (h : x < 2 ^ 5 - 3 * 4) : x < 20",
    "power of a number to a number": "(x : Nat) (h : x < 2 ^ 256) : x < 2 ^ 256 + 2",
    "closed factor": "(x y : Nat) (h : (1 + 2) * x = y * 2 ^ 2) : 6 * x = 8 * y",
    "parity": "(x y : Nat) (h : 2 * x = 2 * y + 1) : False",
    "rounding": "(x y : Nat) (h : 3 * x ≤ 3 * y + 2) : x ≤ y",
    "rounding twice": "(x y : Nat) (h : 1 ≤ 2 * x + 4 * y) (h' : 3 * x + 6 * y ≤ 5) : x + 2 * y = 1",
    "no solution": "(x y : Nat) (h : 6 * x + 9 * y = 20) : False",
    "no unit coefficient": "(x y z : Nat) (h : 5 * x + 7 * y = 3 * z) (h' : 7 * x = 5 * y + 2) (h'' : z < 5) : x ≠ 2",
    "quotient atoms": "(x y z w : Nat) (h : 12345 * x + 67891 * y = 98765 * z + 43211) "
    "(h' : 5551 * x + 12 * z = 777 * w + 13) (h'' : 99 * y + w = 1234 * x + 5) : x + y > z",
    "not equal": "(x : Nat) (h : x ≠ 0) (h' : x ≠ 1) (h'' : x ≠ 2) : 3 ≤ x",
    "not less": "(x y : Nat) (h : ¬x < y) : y ≤ x",
    "not at most": "(x y : Nat) (h : ¬x ≤ y) : y < x",
    "double negation": "(x y : Nat) (h : ¬¬x < y) : x ≤ y",
    "and": "(x y : Nat) (h : x < y ∧ y < 3) : x < 2",
    "not and": "(x y : Nat) (h : ¬(x < 3 ∧ y < 3)) (h' : x < 3) : 3 ≤ y",
    "or": "(x y : Nat) (h : x < y ∨ x < 3) (h' : y ≤ 3) : x < 3",
    "not or": "(x y : Nat) (h : ¬(x < y ∨ y < x)) : x = y",
    "implication": "(x y : Nat) (h : x < 3 → y < 3) (h' : 3 ≤ y) : 3 ≤ x",
    "not an implication": "(x y : Nat) (h : ¬(x < 3 → y < 3)) : x < y",
    "equivalence": "(x y : Nat) (h : x < 3 ↔ y < 3) (h' : y = 2) : x ≤ 2",
    "no equivalence": "(x y : Nat) (h : ¬(x < 3 ↔ y < 3)) (h' : y = 2) : 3 ≤ x",
    "part of a conjunction": "(p : Prop) (x : Nat) (h : p ∧ x = 3) : x < 4",
    "goal with or": "(x y : Nat) : x < y ∨ x = y ∨ y < x",
    "goal with and": "(x y : Nat) (h : x = y) : x ≤ y ∧ y ≤ x",
    "goal with iff": "(x y : Nat) : x < y ↔ x + 1 ≤ y",
    "goal with not": "(x y : Nat) (h : x < y) : ¬y < x",
    "goal with ne": "(x y : Nat) (h : x < y) : x ≠ y",
    "goal with binders": ": ∀ x y : Nat, x < y → ¬y < x",
    "goal with a decidable part": "(p : Prop) (h : Decidable p) (x : Nat) : p ∨ x ≤ x",
    "any goal": "(p : Prop) (x : Nat) (h : x < 0) : p",
    "subtraction": "(x y : Nat) (h : y ≤ x) : x - y + y = x",
    "truncation": "(x y : Nat) (h : x ≤ y) : x - y = 0",
    "nested subtraction": "(x y z : Nat) : x - y - z = x - (y + z)",
    "divides": "(x : Nat) (h : 4 ∣ x) : 2 ∣ x",
    "divides a sum": "(x y : Nat) (h : 6 ∣ x) (h' : 4 ∣ y) : 2 ∣ x + y",
    "does not divide": "(x : Nat) (h : ¬2 ∣ x) : 2 ∣ x + 1",
    "a variable divides": "(x y : Nat) (h : y ∣ x) : x % y < 1",
    "zero divides": "(x : Nat) (h : 0 ∣ x) : x = 0",
    "quotient": "(x : Nat) (h : x / 3 = 4) : 12 ≤ x ∧ x < 15",
    "remainder": "(x : Nat) (h : x % 2 = 1) : x / 2 + x / 2 + 1 = x",
    "remainder and divisibility": "(x : Nat) : x % 6 = 0 ↔ 2 ∣ x ∧ 3 ∣ x",
    "division by zero": "(x : Nat) : x / 0 + x % 0 = x",
    "remainders": "(x : Nat) (h : x % 3 = 2) (h' : x % 5 = 3) (h'' : x < 15) : x = 8",
    "nested quotients": "(x : Nat) : x / 2 / 3 = x / 6",
    "power of a number": "(n : Nat) : 2 ^ (n + 1) = 2 ^ n + 2 ^ n",
    "if": "(x y : Nat) : (if x ≤ y then x else y) ≤ x",
    "if with a hypothesis": "(x y : Nat) (h : (if x < 3 then y else 2 * y) = 5) : x < 3 ∧ y = 5",
    "if with an opaque condition": "(p : Prop) (h : Decidable p) (x : Nat) : (if p then x else x + 1) ≥ x",
    "minimum": "(x y : Nat) : min x y ≤ x ∧ min x y + max x y = x + y",
    "maximum": "(x y z : Nat) (h : max x y < z) : x < z ∧ y < z",
    "products are atoms": "(x y : Nat) (h : x * y < 3) : x * y ≤ 5",
    "applications are atoms": "(f : Nat → Nat) (x : Nat) (h : f x < 3) : 2 * f x < 6",
    "lengths": "(l : List Nat) (h : l.length ≠ 0) : 0 < l.length",
    "bound in the goal": "(n : Nat) (h : n = 2) : ∀ m, m < n → m ≤ 1",
}


@each("kind", PROVED)
def test_it_proves(kind):
    assert status(PROVED[kind], "omega") == "Completed"


REFUSED = {
    "a false claim": "(x y : Nat) (h : x ≤ y) : x < y",
    "subtraction as in the integers": "(x y : Nat) : x - y + y = x",
    "division that leaves something": "(x : Nat) : 2 * (x / 2) = x",
    "a product of variables": "(x y : Nat) : x * y = y * x",
    "a proposition that is no arithmetic": "(p : Prop) (h : p) : p",
    "an undecidable goal": "(p : Prop) (x : Nat) : p ∨ x ≤ x",
    "half of a disjunction": "(p : Prop) (x : Nat) (h : p ∨ x < 3) : x < 3",
    "a universal hypothesis": "(h : ∀ x : Nat, x < 3) : False",
    "False among the hypotheses": "(x : Nat) (h : False) : x = x + 1",
    "other types": "(a b : Bool) (h : a = b) : b = a",
    "a power that is not evaluated": "(x : Nat) (h : x < 2 ^ 257) : x < 2 ^ 258",
    "a variable as divisor": "(x y : Nat) : x / y ≤ x",
    "a variable as exponent": "(n : Nat) : 0 < 2 ^ n",
    "what needs the shadows of the Omega test": "(x y : Nat) (h : 27 ≤ 11 * x + 13 * y) (h' : 11 * x + 13 * y ≤ 45) "
    "(h'' : 7 * x ≤ 9 * y + 4) (h''' : 9 * y ≤ 7 * x + 10) : False",
}


@each("kind", REFUSED)
def test_it_refuses(kind):
    assert refusal(REFUSED[kind], "omega").startswith("omega could not prove the goal:\n")


def test_the_message_lists_the_constraints():
    assert refusal("(x y : Nat) (f : Nat → Nat) (h : x < f y) : f y ≤ x", "omega") == (
        "omega could not prove the goal:\na possible counterexample may satisfy the constraints\n"
        "  a ≥ 0\n  b ≥ 0\n  a - b ≤ -1\nwhere\n a := ↑x\n b := ↑(f y)"
    )


def test_the_message_has_intervals_and_coefficients():
    message = refusal("(x y : Nat) (h : 3 ≤ 2 * x + 3 * y) (h' : 2 * x + 3 * y ≤ 9) : x = 0", "omega")
    assert "\n  3 ≤ 2*a + 3*b ≤ 9\n" in message


def test_the_message_does_not_mention_what_the_search_made_up():
    assert refusal("(x y : Nat) (h : 5 * x = 7 * y + 3) : False", "omega").endswith("where\n a := ↑x\n b := ↑y")


def test_the_message_does_not_use_names_of_the_context():
    assert refusal("(a c : Nat) (h : a < c) : False", "omega").endswith("where\n b := ↑a\n d := ↑c")


def test_the_message_is_about_a_case_that_is_possible():
    message = refusal("(x y : Nat) (h : x < 3 ∨ y < x) (h' : 5 ≤ x) (h'' : x ≠ y + 1) : False", "omega")
    assert "a - b ≥ 2" in message or "b - a ≤ -2" in message


def test_the_message_is_about_a_case_where_cases_were_distinguished():
    assert "  a - b ≤ -1\n" in refusal("(x y : Nat) : x = y", "omega")


def test_without_facts_the_message_says_so():
    assert refusal("(p : Prop) : p", "omega").startswith(
        "omega could not prove the goal:\nNo usable constraints found. You may need to unfold definitions"
    )


def test_a_refusal_leaves_the_goal_as_it_was():
    statement = "(p : Prop) (x : Nat) (h : p) : x < 1 ∨ p"
    assert goals(statement, "first | omega | skip") == goals(statement)


def test_it_works_on_the_main_goal_only():
    statement = "(x y : Nat) (p : Prop) (hp : p) (h : x < y) : x ≤ y ∧ p"
    assert goals(statement, "constructor", "omega") == ["case right\nx y : Nat\np : Prop\nhp : p\nh : x < y\n⊢ p"]
    assert proves(statement, "constructor", "omega", "exact hp")


def test_without_goals_it_is_refused():
    assert refusal("(x : Nat) : x ≤ x", "omega", "omega") == "No goals to be solved"


def test_goals_that_are_data_are_closed_too():
    assert proves("(P : Nat → Prop) (x : Nat) (h : x < 0) : ∃ n, P n", "exact ⟨(by omega : Nat), by omega⟩")


def test_hypotheses_that_came_later_are_used():
    assert proves("(P : Nat → Prop) (x : Nat) (h : ∃ y, x = y + 3) : 2 < x", "cases h with | intro y hy => omega")


def test_it_proves_nested_goals():
    assert proves("(x y : Nat) (h : x < y) : x * 2 < y * 2 ∧ x ≠ y", "exact ⟨by omega, by omega⟩")


def test_too_many_cases_run_out_of_steps():
    names = [f"x{i}" for i in range(16)]
    hyps = " ".join(f"(h{i} : x{i} - x{i + 1} = x{(i * 5 + 3) % 16} - x{(i * 7 + 1) % 16})" for i in range(15))
    statement = f"({' '.join(names)} : Nat) {hyps} : x0 - x3 = x5"
    with pytest.raises(ProofError) as refused:
        run_tactic(start(statement), "omega", steps=20_000)
    assert refused.value.message == "maximum number of steps exceeded"


# -- for other tactics -------------------------------------------------------------------------------------------------


def hypotheses(state: TacticState) -> tuple[MetaContext, list[tuple[Expr, Expr]]]:
    """A context for the first goal and its hypotheses, with their proofs, from the third one on."""
    mctx = open_state(state)
    return mctx, [(decl.type, decl.fvar) for decl in list(mctx.decl(state.goals[0]).lctx)[2:]]


def test_solve_gives_a_proof_of_false():
    mctx, facts = hypotheses(start("(x y : Nat) (h : x < y) (h' : y < x) : False"))
    proof = solve(mctx, facts)
    assert proof is not None
    assert mctx.is_def_eq(mctx.infer_type(proof), Const("False"))


def test_solve_answers_none_without_a_contradiction():
    assert solve(*hypotheses(start("(x y : Nat) (h : x < y) : False"))) is None


def test_solve_spends_the_budget_of_its_context():
    mctx, facts = hypotheses(start("(x y : Nat) (h : x < y) (h' : y < x) : False"))
    mctx.budget = Budget(10)
    with pytest.raises(BudgetExceeded):
        solve(mctx, facts)


@each(
    ("prop", "linear"),
    [
        ("x < y", True),
        ("x ≠ y", True),
        ("¬3 ∣ x", True),
        ("y ∣ x", True),
        ("p", False),
        ("p ∧ x = y", True),
        ("p ∨ x = y", False),
        ("¬(p ∨ x = y)", True),
        ("¬(p ∧ x = y)", False),
        ("p → x = y", False),
        ("x < 2 → x = y", True),
        ("x < 2 ↔ x = y", True),
        ("∀ z : Nat, x < z", False),
    ],
)
def test_linear_facts_are_recognized(prop, linear):
    mctx, facts = hypotheses(start(f"(x y : Nat) (p : Prop) (h : {prop}) : False"))
    assert is_linear_fact(mctx, facts[-1][0]) is linear


def test_a_let_variable_is_its_value() -> None:
    assert proves("(a : Nat) : let m := a + 1; let n := m / 2; a < 2 * n + 1", "intro m n", "omega")
    assert proves("(a : Nat) (h : a ≤ 3) : a + 1 ≤ 4", "let b := a + 1", "show b ≤ 4", "omega")
    # Lean does not look into a `let` that is part of a number either.
    assert "omega could not prove the goal" in refusal("(a : Nat) (h : (let m := a + 1; m) = 3) : a = 2", "omega")
