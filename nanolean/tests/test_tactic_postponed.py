"""`by` blocks in the terms of `rw`, `apply` and `simpa` run once the rest of the term is known."""

from nanolean.tests.each import each
from nanolean.tests.proving import goals, proves, refusal, targets

FIX = "(f : Nat → Nat) (h : ∀ n, 2 ≤ n → f n = n) (a : Nat) (ha : 5 ≤ a)"
RANGE = "(f : Nat → Nat) (h : ∀ n, (2 ≤ n ∧ n ≤ 9) → f n = n) (a : Nat) (ha : a ≤ 5) (hb : 3 ≤ a)"
BELOW = "(f : Nat → Nat) (h : ∀ n, (∀ m, m < n → m < 100) → f n = n) (a : Nat) (ha : a ≤ 50)"


@each(
    ("statement", "tactic"),
    [
        (f"{FIX} : f a = a", "rw [h _ (by omega)]"),
        (f"{FIX} (k : a = 6) : f a = 6", "rwa [h _ (by omega)]"),
        (f"{FIX} : f a = a", "conv => lhs; rw [h _ (by omega)]"),
        (f"{FIX} (k : f a = 7) : a = 7", "(rw [h _ (by omega)] at k; exact k)"),
        (f"{FIX} (b : Nat) (hb : 4 ≤ b) (k : f b = 7) : f a + b = a + 7", "(rw [h _ (by omega)] at k ⊢; omega)"),
        (f"{RANGE} : f a = a", "rw [h _ ⟨by omega, by omega⟩]"),
        (f"{BELOW} : f a = a", "rw [h _ (fun m hm => by omega)]"),
        ("(a b : Nat) (h : a < b) : (if a < b then 1 else 2) = 1", "rw [if_pos (by omega)]"),
        ("(a b : Nat) (h : a < b) : (if b < a then 1 else 2) = 2", "rw [if_neg (by omega)]"),
        ("(a b : Nat) (h : a < b) : (if _ : a < b then b - a else 2) = b - a", "rw [dif_pos (by omega)]"),
        ("(a b : Nat) (h : a ≤ b) : b - a + a = b", "rw [Nat.sub_add_cancel (by omega)]"),
        ("(a b : Nat) (h : 0 < b) : a * b / b = a", "rw [Nat.mul_div_cancel _ (by omega)]"),
        (
            "(p : Nat → Bool) (x : Nat) (l : List Nat) (h : p x = true) : (x :: l).filter p = x :: l.filter p",
            "rw [List.filter_cons_of_pos (by simp [h])]",
        ),
        # The block itself may tell what the pattern leaves open.
        ("(f : Nat → Nat) (h : ∀ n m, n ≤ m → f n = n) (a b : Nat) (k : a ≤ b) : f a = a", "rw [h a _ (by exact k)]"),
        (f"{FIX} : f a = a", "apply h _ (by omega)"),
        (f"{BELOW} : f a = a", "apply h _ (fun m hm => by omega)"),
        ("(a b c : Nat) (h : a ≤ b) (k : b ≤ c) : a ≤ c", "apply Nat.le_trans (by assumption) (by omega)"),
        (f"{FIX} : f a + 0 = a", "simpa using h _ (by omega)"),
        (f"{FIX} : f a = a", "(have := h a (by omega); exact this)"),
        (f"{FIX} : f a = a", "(specialize h a (by omega); exact h)"),
        (f"{FIX} : f a ≤ a + 1", "calc f a = a := h _ (by omega)\n    _ ≤ a + 1 := by omega"),
        ("(a : Nat) (h : a < 3) (k : 5 ≤ a) : False", "exact absurd h (by omega)"),
    ],
)
def test_what_unification_tells_is_known_to_the_block(statement: str, tactic: str) -> None:
    assert proves(statement, tactic)


def test_what_stays_open_is_a_goal_after_the_others() -> None:
    assert targets(f"{RANGE} : f a = 7", "rw [h _ ⟨by omega, ?_⟩]") == ["a = 7", "a ≤ 9"]
    assert targets(f"{BELOW} : f a = a", "apply h _ (fun m hm => ?_)") == ["m < 100"]
    assert targets("(p q : Prop) (hq : q) : p ∧ q", "apply And.intro ?_ (by assumption)") == ["p"]
    assert targets(f"{FIX} : f a + 0 = a", "simpa using h _ ?_") == ["2 ≤ a"]


UNSOLVED = f"unsolved goals\n{goals(f'{FIX} : 2 ≤ a')[0]}"
OPEN = "(f : Nat → Nat) (h : ∀ n m, n ≤ m → f n = n) (a : Nat) : f a = a"


@each(
    ("statement", "tactic", "message"),
    [
        (f"{FIX} : f a = a", "rw [h a (by skip)]", UNSOLVED),
        (f"{FIX} : f a = a", "apply h a (by skip)", UNSOLVED),
        (f"{FIX} : f a = a", "rw [h a (by exact foo)]", "Unknown identifier `foo`"),
        (f"{FIX} : f a = a", "rw [by exact h a ha]", "invalid 'by' tactic, expected type has not been provided"),
        # What nothing tells stays a metavariable: a block that does not find it either has not proved anything.
        (OPEN, "rw [h _ _ (by omega)]", "omega could not prove the goal"),
        (OPEN, "rw [h _ _ (by skip)]", "unsolved goals"),
        (OPEN, "apply h _ _ (by skip)", "unsolved goals"),
        (OPEN, "simpa using h a _ (by omega)", "omega could not prove the goal"),
        (OPEN.replace("n ≤ m", "0 ≤ m"), "simpa using h a _ (by omega)", "don't know how to synthesize placeholder"),
    ],
)
def test_an_error_in_a_block_is_one_of_the_tactic(statement: str, tactic: str, message: str) -> None:
    assert message in refusal(statement, tactic)
