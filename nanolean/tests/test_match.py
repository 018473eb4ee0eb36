"""`match` in terms, alternatives of `fun`, patterns after `fun`, `let` and `have`: meaning, printing, refusals."""

from nanolean.tests.each import each
from nanolean.tests.library import errors, run
from nanolean.tests.proving import start

ACCEPTED = {
    "constructors of numbers": "example : (match 3 with | 0 => 1 | n + 1 => n) = 2 := rfl",
    "a number is as many constructors": "example : (match 7 with | 5 => 1 | n + 6 => n | _ => 3) = 1 := rfl",
    "the first alternative that fits wins": "example : (match 0, 0 with | 0, _ => 1 | "
    "_, 0 => 2 | _, _ => 3) = 1 := rfl",
    "a wildcard takes what is left": "example : (match 4, 0 with | 0, _ => 1 | _, 0 => 2 | _, _ => 3) = 2 := rfl",
    "lists and nested patterns": (
        "example : (match [4, 5, 6] with | [] => 0 | [a] => a | a :: b :: _ => a * b) = 20 := rfl"
    ),
    "booleans": "example (b : Bool) : Nat := match b with | true => 1 | false => 0",
    "a variable may be given the whole term": "example : (match 3 with | 0 => 1 | n => n) = 3 := rfl",
    "open alternatives of or": "example (p q : Prop) (h : p ∨ q) : q ∨ p := "
    "match h with | .inl a => .inr a | .inr b => .inl b",
    "existentials into propositions": "example (h : ∃ x : Nat, x < 0) : False := "
    "match h with | ⟨x, hx⟩ => Nat.not_lt_zero x hx",
    "an equation with the pattern": (
        "example (n : Nat) : n = 0 ∨ ∃ k, n = k + 1 := match e : n with | 0 => .inl rfl | k + 1 => .inr ⟨k, rfl⟩"
    ),
    "the result may depend on the term": (
        "example (P : Nat → Prop) (h0 : P 0) (hs : ∀ n, P (n + 1)) (n : Nat) : P n := "
        "match n with | 0 => h0 | n + 1 => hs n"
    ),
    "a type without constructors needs no alternative": "example (h : False) : 1 = 2 := nomatch h",
    "alternatives may be joined": "example : (match 1 with | 0 | 1 => 5 | _ => 6) = 5 := rfl",
    "fun with alternatives": "example (p q : Prop) : p ∨ q → q ∨ p := fun | .inl a => .inr a | .inr b => .inl b",
    "fun takes pairs apart": "example (p q r : Prop) : p ∧ q → q ∧ r → p ∧ r := fun ⟨a, _⟩ ⟨_, c⟩ => ⟨a, c⟩",
    "patterns and variables in turn": "example (p q : Prop) : Nat → p ∧ q → Nat → q := fun n ⟨_, b⟩ m => b",
    "have takes apart": "example (p q : Prop) (h : p ∧ q) : q := have ⟨_, b⟩ := h\n  b",
    "let takes apart": "example (p q r : Prop) (h : p ∧ q ∧ r) : r := let ⟨_, _, c⟩ := h; c",
    "tactics in alternatives": "example (n : Nat) : 0 ≤ n := "
    "match n with | 0 => by decide | n + 1 => by exact Nat.zero_le (n + 1)",
    "a match inside of a match": (
        "example (p q r : Prop) (h : p ∨ q ∨ r) : r ∨ q ∨ p :=\n"
        "  match h with\n  | .inl a => .inr (.inr a)\n  | .inr k => match k with\n"
        "    | .inl b => .inr (.inl b)\n    | .inr c => .inl c"
    ),
    "decidable propositions": "example (p : Prop) (d : Decidable p) : Nat := "
    "match d with | isTrue _ => 1 | isFalse _ => 0",
    "types that depend on parameters": "example {α : Type} (l : List α) : Nat := match l with | [] => 0 | _ :: _ => 1",
    "shared matchers make equal terms": (
        "def f (n : Nat) : Nat := match n with | 0 => 1 | k + 1 => k\n"
        "example (n : Nat) : f n = match n with | 0 => 1 | j + 1 => j := rfl"
    ),
}
REFUSED = {
    "a missing constructor": ("def f (n : Nat) : Nat := match n with | 0 => 1", "Missing cases:\n(Nat.succ _)"),
    "a missing case behind a constructor": (
        "def f (n : Nat) : Nat := match n with | 0 => 1 | n + 2 => 2",
        "Missing cases:\n(Nat.succ Nat.zero)",
    ),
    "a missing combination": (
        "def f (a b : Bool) : Nat := match a, b with | true, _ => 1 | _, true => 2",
        "Missing cases:\nfalse, false",
    ),
    "an alternative that is never reached": (
        "def f (n : Nat) : Nat := match n with | 0 => 1 | n => 2 | 3 => 4",
        "Redundant alternative: Any expression matching\n  3\nwill match one of the preceding alternatives",
    ),
    "too few patterns": (
        "def f (n m : Nat) : Nat := match n, m with | 0 => 1",
        "Not enough patterns in match alternative",
    ),
    "a variable twice": (
        "def f (n m : Nat) : Nat := match n, m with | k, k => 1",
        "Variable `k` occurred more than once",
    ),
    "a pattern of another type": ("def f (n : Nat) : Nat := match n with | true => 1 | _ => 2", "Type mismatch"),
    "a function as a pattern": ("def f (n : Nat) : Nat := match n with | Nat.add a b => 1", "Invalid pattern"),
    "too many arguments of a constructor": (
        "def f (n : Nat) : Nat := match n with | .succ a b => 1 | _ => 2",
        "Too many",
    ),
    "a proof may not decide data": (
        "def f (p q : Prop) (h : p ∨ q) : Nat := match h with | .inl _ => 0 | .inr _ => 1",
        "can only eliminate `Or` into propositions",
    ),
    "a wrong branch": ("def f (n : Nat) : Nat := match n with | 0 => 1 | n + 1 => rfl", "Type mismatch"),
    "a family": ("example (a b : Nat) (h : a = b) : b = a := match h with | .refl => rfl", "not supported"),
}


@each("text", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_accepted(text: str) -> None:
    assert errors(text) == []


@each(("text", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(text: str, message: str) -> None:
    assert any(message in error for error in errors(text)), errors(text)


def test_a_match_prints_as_lean_prints_it() -> None:
    state = start(
        "(n : Nat) (h : (match n with | 0 => 1 | n + 1 => n) = 3) : match n with | 0 => True | k + 1 => k = 0"
    )
    assert state.goal_texts() == [
        "n : Nat\n"
        "h :\n"
        "  (match n with\n"
        "    | 0 => 1\n"
        "    | n.succ => n) =\n"
        "    3\n"
        "⊢ match n, h with\n"
        "  | 0, h => True\n"
        "  | k.succ, h => k = 0"
    ]


def test_unused_variables_of_patterns_get_names_that_differ() -> None:
    text = "def f (x y : Nat) : Nat := match x, y with | 5, _ => y | _, _ => 1\n#print f"
    assert run(text).messages[-1].text == (
        "def f : Nat → Nat → Nat :=\nfun x y =>\n  match x, y with\n  | 5, x => y\n  | x, x_1 => 1"
    )


def test_a_variable_of_a_pattern_does_not_capture() -> None:
    text = "example (m : Nat) : (match 5 with | 0 => m | n + 1 => m + n) = m + 4 := rfl"
    wrong = "example (n m : Nat) : (match n with | 0 => m | n + 1 => n) = n := rfl"
    assert errors(text) == []
    assert errors(wrong)


def test_a_match_on_different_alternatives_is_no_equal_term() -> None:
    assert errors(
        "example (n : Nat) : (match n with | 0 => 1 | k + 1 => k) = match n with | 0 => 2 | k + 1 => k := rfl"
    )


def test_a_match_in_a_tactic_lives_on_in_the_goals_after_it() -> None:
    text = (
        "example (n : Nat) : ∃ m, m = n := by\n"
        "  have h : (match n with | 0 => 0 | k + 1 => k + 1) = n := by\n    cases n with\n"
        "    | zero => rfl\n    | succ k => rfl\n"
        "  exact ⟨_, h⟩"
    )
    assert errors(text) == []
