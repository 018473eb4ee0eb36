"""The tactic `grind`: what each of its parts can do, and that it refuses the rest. Every proof passes the kernel."""

import re

from nanolean.kernel.expr import MVar, show
from nanolean.tactic_state import TacticState, open_state
from nanolean.tests.each import each
from nanolean.tests.proving import after, proves, refusal, with_commands

PROPOSITIONAL = {
    "conjunction": "(p q : Prop) (h : p ∧ q) : q ∧ p",
    "disjunction": "(p q : Prop) (h : p ∨ q) : q ∨ p",
    "chain": "(p q r : Prop) : (p → q) → (q → r) → p → r",
    "peirce": "(p q : Prop) : ((p → q) → p) → p",
    "de morgan": "(p q : Prop) : ¬(p ∧ q) ↔ ¬p ∨ ¬q",
    "iff is associative": "(p q r : Prop) : ((p ↔ q) ↔ r) ↔ (p ↔ (q ↔ r))",
    "distribution": "(p q r : Prop) : p ∧ (q ∨ r) ↔ (p ∧ q) ∨ (p ∧ r)",
    "excluded middle": "(p : Prop) : p ∨ ¬p",
    "equal propositions": "(p q : Prop) (h : p = q) (hp : p) : q",
    "unequal propositions": "(p q : Prop) (h : p ≠ q) (hp : p) : ¬q",
    "nested cases": "(p q r s : Prop) (h : p ∨ q) (a : p → r ∨ s) (b : q → r ∨ s) (c : ¬r) : s",
}
EQUATIONS = {
    "transitivity": "{α : Type} (a b c : α) (h : a = b) (k : c = b) : a = c",
    "congruence": "{α : Type} (a b : α) (f : α → α → α) (h : a = b) : f a (f a b) = f b (f b a)",
    "five and three": "{α : Type} (a : α) (f : α → α) (h : f (f (f a)) = a) (k : f (f (f (f (f a)))) = a) : f a = a",
    "equal functions": "{α : Type} (a b : α) (f g : α → α) (h : f = g) (k : a = b) : f a = g b",
    "disequality": "{α : Type} (a b c : α) (h : a ≠ b) (k : b = c) : c ≠ a",
    "symmetric equations are one proposition": "{α : Type} (a b : α) (f : Prop → α) : f (a = b) = f (b = a)",
    "predicates": "{α : Type} (a b : α) (p : α → Prop) (h : a = b) (k : p a) : p b",
    "connectives as functions": "(p q : Prop) (f : (Prop → Prop) → Nat) (h : p ↔ q) : f (And p) = f (And q)",
    "propositions as arguments": "(p q : Prop) (f : Prop → Nat) (h : p ↔ q) : f p = f q",
    "implications as arguments": "(p q r : Prop) (f : Prop → Nat) (h : p ↔ q) : f (p → r) = f (q → r)",
    "cases": "{α : Type} (a b c : α) (f : α → α) (h : a = b ∨ a = c) (k : f b = c) (l : f c = c) : f a = c",
    "let": "(a : Nat) (f : Nat → Nat) : let b := a; f b = f a",
}
CONSTRUCTORS = {
    "succ is injective": "(x y : Nat) (f : Nat → Nat) (h : x + 1 = y + 1) : f x = f y",
    "succ is not zero": "(x : Nat) (h : x + 1 = 0) : False",
    "offset of a literal": "(x : Nat) (f : Nat → Nat) (h : x + 3 = 5) : f x = f 2",
    "literals differ": "(x : Nat) (h : x = 2) (k : x = 3) : False",
    "cons is injective": "(α : Type) (a b : α) (as bs : List α) (h : a :: as = b :: bs) : as = bs ∧ a = b",
    "nil is not cons": "(α : Type) (a : α) (as : List α) : [] ≠ a :: as",
    "true is not false": "(b : Bool) (h : b = true) (k : b = false) : False",
    "not true is false": "(a b : Bool) (h : a ≠ true) (k : b ≠ false) (f : Bool → Nat) : f a = f (false)",
    "not false is true": "(b : Bool) (h : ¬false = b) : b = true",
}
QUANTIFIERS = {
    "instance": "(p q : Nat → Prop) (h : ∀ x, p x → q x) (k : p 3) : q 3",
    "instance of an instance": "(p : Nat → Prop) (h : ∀ x, p x → p (x + 1)) (k : p 0) : p 2",
    "two patterns": "{α : Type} (r : α → α → Prop) (h : ∀ a b c, r a b → r b c → r a c) (a b c d : α) "
    "(k : r a b) (l : r b c) (m : r c d) : r a d",
    "modulo equality": "{α : Type} (p : α → Prop) (f : α → α) (h : ∀ x, p (f x)) (a b : α) (k : b = f a) : p b",
    "witness": "(p q : Nat → Prop) (h : ∀ x, p x → q x) (k : ∃ x, p x) : ∃ x, q x",
    "negated for all": "(p : Nat → Prop) (h : ¬∀ x, p x) : ∃ x, ¬p x",
    "negated exists": "(p : Nat → Prop) (h : ¬∃ x, p x) : ∀ x, ¬p x",
    "parts of a conjunction": "(p q : Nat → Prop) (h : ∀ x, p x ∧ q x) : (∀ x, p x) ∧ ∀ x, q x",
    "under a premise": "(p q : Nat → Prop) (r : Prop) (h : r → ∀ x, p x → q x) (k : r) (l : p 1) : q 1",
    "nested exists": "(α β : Type) (p : α → β → Prop) : (∃ a b, p a b) ↔ ∃ b a, p a b",
    "exists and or": "(α : Type) (p q : α → Prop) : (∃ x, p x ∨ q x) ↔ (∃ x, p x) ∨ ∃ x, q x",
    "exists over a proposition": "(p q : Prop) : (∃ _h : p, q) ↔ p ∧ q",
    "implications inside": "(p q s : Nat → Prop) (a : Nat) (h : ∀ x, (p x → q x) ↔ (q x → s x)) : "
    "(q a → s a) ↔ (p a → q a)",
    "either side of an equivalence": "(p q : Nat → Prop) (h : ∀ x, p x ↔ q x) : (∃ x, p x) ↔ ∃ x, q x",
    "symmetric and transitive": "(α : Type) (r : α → α → Prop) (s : ∀ a b, r a b → r b a) "
    "(t : ∀ a b c, r a b → r b c → r a c) (a b c d : α) (h : r a b) (k : r c b) (l : r c d) : r d a",
    "offset in a pattern": "(p : Nat → Prop) (h : ∀ x, p (x + 1) → p x) (k : p 3) : p 1",
    "equation": "{α : Type} (f g : α → α) (h : ∀ x, f x = g x) (a b : α) (k : a = b) : f a = g b",
    "inverse": "{α : Type} (f g : α → α) (h : ∀ x, g (f x) = x) (a b : α) (k : f a = b) (l : g b = b) : a = b",
}
NUMBERS = {
    "order": "(x y z : Nat) (h : x < y) (k : y < z) : x + 1 < z",
    "order is total": "(a b : Nat) : a ≤ b ∨ b < a",
    "cases": "(a b c : Nat) (h : a ≤ b ∨ a ≤ c) (k : b ≤ 3) (l : c ≤ 3) : a < 4",
    "implication with a relation on the left": "(a : Nat) (p : Prop) (h : a ≤ 3 → p) (k : 3 < a → p) : p",
    "equations into arithmetic": "(a b : Nat) (f : Nat → Nat) (h : f a = b + 1) (k : a = b) : f b > b",
    "arithmetic into equations": "(x y : Nat) (f : Nat → Nat) (h : x ≤ y) (k : y ≤ x) : f x = f y",
    "arguments equal by arithmetic": "(x y : Nat) (f : Nat → Nat) : f (x + y) = f (y + x)",
    "subtraction": "(x y : Nat) (h : x - y = 0) : x ≤ y",
    "instances": "(f : Nat → Nat) (h : ∀ x, f x ≤ x) (k : ∀ x, x ≤ f x) (a : Nat) : f a = a",
    "monotone": "(f : Nat → Nat) (h : ∀ x y, x ≤ y → f x ≤ f y) (a b c : Nat) (k : a ≤ b) (l : b < c) : f a ≤ f c",
    "products commute": "(a b c : Nat) : a * (b * c) = c * b * a",
    "products distribute": "(a b : Nat) : (a + b) ^ 2 = a ^ 2 + 2 * a * b + b ^ 2",
    "products as atoms": "(a b c d : Nat) (h : a * b ≤ c * d) : 2 * (b * a) ≤ d * c * 2 + 1",
    "a geometric sum": "(s : Nat → Nat) (n x : Nat) (hs : ∀ n, s (n + 1) = s n + (x + 1) ^ n) "
    "(h : x * s n + 1 = (x + 1) ^ n) : x * s (n + 1) + 1 = (x + 1) ^ (n + 1)",
    "a power that is 1": "(s : Nat → Nat) (h0 : s 0 = 0) (x : Nat) : x * s 0 + 1 = (x + 1) ^ 0",
    "the next power": "(x m n : Nat) : x ^ (m + (n + 1)) = x * (x ^ n * x ^ m)",
    "products of sums known by name": "(x y z w : Nat) (h : x = y + z) (k : z = w + 1) : x * x = (y + w + 1) ^ 2",
    "products of numbers known by name": "(x y : Nat) (h : x = 3) : x * x + x * y = 9 + y + 2 * y",
    "products as arguments": "(a b : Nat) (f : Nat → Nat) : f (a * b) = f (b * a)",
}
CONDITIONS = {
    "if by its condition": "(a b : Nat) (h : a < b) (f : Nat → Nat) : f (if a ≤ b then a else b) = f a",
    "if by cases": "(a b : Nat) : (if a = b then a else b) = b",
    "if in arithmetic": "(a b : Nat) : (if a ≤ b then a else b) ≤ a",
    "condition of an if": "(n : Nat) (h : (if n = 0 then 1 else 2) = 2) : 0 < n",
    "decide": "(a b : Nat) (h : a < b) : decide (b ≤ a) = false",
    "decided": "(a b : Nat) (h : decide (a = b) = true) : a = b",
    "and is true": "(a b : Bool) (h : (a && b) = true) : b = true",
    "and is false": "(a b : Bool) (h : (a && b) = false) (k : a = true) : b = false",
    "or is true": "(a b c : Bool) (h : (a && b || c) = true) (k : c = false) : a",
    "not": "(a b : Bool) (h : (!a) = true) (f : Bool → Nat) : f (a && b) = f false",
}
ALL = {**PROPOSITIONAL, **EQUATIONS, **CONSTRUCTORS, **QUANTIFIERS, **NUMBERS, **CONDITIONS}


@each("name", ALL)
def test_grind_proves(name: str) -> None:
    assert proves(ALL[name], "grind")


@each(
    "statement",
    [
        "(p q : Prop) : p ∨ q",
        "(p q : Prop) (h : p → q) : q → p",
        "(p q r : Prop) : (p ↔ q) ↔ r",
        "{α : Type} (a b : α) (f : α → α) (h : f a = f b) : a = b",
        "(p : Nat → Prop) (h : ∃ x, p x) : ∀ x, p x",
        "(α : Type) (a b : α) (as : List α) (h : a :: as = b :: as) : as = []",
        "(a b c : Nat) (h : a * b = a * c) : b = c",
        "(x y : Nat) (f : Nat → Nat) (h : f x ≤ f y) : x ≤ y",
    ],
)
def test_grind_refuses_what_is_false(statement: str) -> None:
    assert refusal(statement, "grind").startswith("`grind` failed\n\n")


def test_the_refusal_ends_with_the_goal() -> None:
    assert refusal("(p q : Prop) (h : p) : q", "grind") == "`grind` failed\n\np q : Prop\nh : p\n⊢ q"


def test_a_contradiction_proves_a_goal_that_is_no_proposition() -> None:
    assert proves("(p : Prop) (h : p) (k : ¬p) : ∃ _x : Nat, p", "refine ⟨?_, ?_⟩", "grind", "grind")


def test_a_theorem_in_brackets_is_instantiated() -> None:
    base = with_commands(
        "axiom op : Nat → Nat\naxiom twice (n : Nat) : op (op n) = n\naxiom rel : Nat → Nat → Prop\n"
        "axiom mono {n m : Nat} (h : rel n m) : rel (op n) (op m)"
    )
    assert proves("(n : Nat) : op (op (op n)) = op n", "grind [twice]", base=base)
    assert proves("(n m : Nat) (h : rel n m) : rel (op n) (op m)", "grind [← mono]", base=base)
    assert refusal("(n : Nat) : op (op (op n)) = op n", "grind", base=base).startswith("`grind` failed")


def test_a_definition_in_brackets_is_unfolded() -> None:
    base = with_commands("def double (n : Nat) : Nat := n + n")
    assert proves("(n m : Nat) (h : n + n = m) : double n = m", "grind [double]", base=base)


def test_a_recursive_definition_in_brackets_computes_on_constructors() -> None:
    base = with_commands(
        "def double : Nat → Nat\n  | 0 => 0\n  | n + 1 => double n + 2\n"
        "def isZero (n : Nat) : Bool := match n with\n  | 0 => true\n  | _ + 1 => false"
    )
    assert proves("(n : Nat) (ih : double n = 2 * n) : double (n + 1) = 2 * (n + 1)", "grind [double]", base=base)
    assert proves("(n : Nat) (h : n = 2) : double n = 4", "grind [double]", base=base)
    assert proves("(n : Nat) (h : n = 0) : isZero n = true", "grind [isZero]", base=base)


def test_the_fields_of_a_value_are_factors_in_one_order() -> None:
    base = with_commands("structure Rect where\n  width : Nat\n  height : Nat")
    assert proves("(r : Rect) : r.height * r.width = r.width * r.height", "grind", base=base)


def test_an_operation_with_a_symbol_is_not_unfolded_by_its_name() -> None:
    statement = "(α : Type) (xs ys : List α) (h : xs = []) : xs ++ ys = ys"
    assert refusal(statement, "grind [List.append]").startswith("`grind` failed")
    assert proves(statement, "grind [List.nil_append]")


def test_a_lemma_with_implicit_types_is_instantiated() -> None:
    base = with_commands("universe u\naxiom nil_append {α : Type u} (xs : List α) : [] ++ xs = xs")
    assert proves("(xs ys : List Nat) (h : ys = [] ++ xs) : xs = ys", "grind [nil_append]", base=base)


def test_a_lemma_without_patterns_is_refused() -> None:
    base = with_commands("axiom all_equal : ∀ x y : Nat, x = y")
    assert refusal(": 1 = 2", "grind [all_equal]", base=base).startswith("invalid E-matching theorem")


def test_an_implication_is_split_only_where_lean_splits_it() -> None:
    statement = "(p q : Prop) : (p → q) → (p → ¬q) → (¬p → q) → (¬p → ¬q) → False"
    assert refusal(statement, "grind").startswith("`grind` failed")


def test_a_hypothesis_in_brackets_is_redundant() -> None:
    expected = "redundant parameter `h`, `grind` uses local hypotheses automatically"
    assert refusal("(p : Prop) (h : p) : p", "grind [h]") == expected


def test_what_is_unknown_in_brackets_is_refused() -> None:
    assert refusal("(p : Prop) (h : p) : p", "grind [no_such_lemma]").startswith("Unknown")
    assert refusal("(p : Prop) (h : p) : p", "grind [And]").startswith("invalid `grind` parameter")


def test_the_proof_is_the_same_each_time() -> None:
    statement = "(a b c : Nat) (f : Nat → Nat) (h : a ≤ b ∨ a ≤ c) (k : f b = 0) : a ≤ b + f b ∨ a ≤ c"
    first, second = (after(statement, "grind") for _ in range(2))
    assert _shape(first) == _shape(second)


def _shape(state: TacticState) -> str:
    """The proof with its locals numbered in the order in which they occur."""
    names: dict[str, str] = {}
    text = show(open_state(state).instantiate(MVar(state.root)))
    return re.sub(r"\b[fm]\d+\b", lambda found: names.setdefault(found[0], f"x{len(names)}"), text)


def test_terms_under_a_match_may_be_unknown_to_the_graph() -> None:
    function = "def sumTo : Nat → Nat\n  | 0 => 0\n  | n + 1 => sumTo n + (n + 1)"
    steps = ("rw [sumTo]", "unfold sumTo", "grind")
    refused = refusal("(n : Nat) : sumTo (n + n) = 2 * sumTo n + n * n", *steps, base=with_commands(function))
    assert refused.startswith("`grind` failed")


def test_other_goals_stay() -> None:
    assert proves("(p q : Prop) (hp : p) (hq : q) : p ∧ q", "constructor", "grind", "exact hq")


def test_a_hard_problem_ends_without_a_proof() -> None:
    statement = "(f : Nat → Nat) (p : Nat → Prop) (h : ∀ x, p x → p (f x) ∨ p (f (f x))) (k : p 0) : p 1"
    assert refusal(statement, "grind").startswith("`grind` failed")
