"""Short proofs in which names, tags and orders of hypotheses could be mistaken for something else.

Each block is a statement (binders and goal) and the tactics of a proof, each on the first goal that is left.
"""

import re

BLOCKS = """\
(p q : Prop) : p → q → p ∧ q
  intros
  rename_i x y
  exact ⟨x, y⟩

(p q : Prop) : p → q → p ∧ q
  intro _ h
  (rename_i k; exact ⟨k, h⟩)

(p q : Prop) : p → q → p ∧ q
  intro h h
  constructor
  assumption

(p q r : Prop) (h : p ∨ q) (hp : p → r) (hq : q → r) : r
  (rcases h with h | h <;> first | exact hp h | exact hq h)

(p q r : Prop) (h : p ∨ q) (hp : p → r) (hq : q → r) : r
  (cases h; (case inl h => exact hp h); (case inr a => exact hq a))

(p q r : Prop) (h : p ∨ q) (hp : p → r) (hq : q → r) : r
  cases h
  next h => exact hp h

(p q r : Prop) (h : p ∨ q) (hp : p → r) (hq : q → r) : r
  exact h.elim (fun h => hp h) fun hp => hq hp

(p q r : Prop) (h : p ∨ q) (hp : p → r) (hq : q → r) : r
  cases h with | inl h => exact hp h | inr h => exact hq h

(p q r : Prop) (inl : p ∨ q) (inr : p → r) (hq : q → r) : r
  cases inl with | inl h => exact inr h | inr h => exact hq h

(p q : Prop) (left : p) (right : q) : p ∧ q
  constructor
  exact left

(p q : Prop) (left : p) : p ∨ q
  (left; exact left)

(p q : Prop) (h : p ∧ q ∧ p) : q ∧ p
  obtain ⟨h, h1, h2⟩ := h
  exact ⟨h1, h⟩

(p q : Prop) (h : p ∧ q ∧ p) : q ∧ p
  have h : q := h.2.1
  exact ⟨h, ‹p ∧ q ∧ p›.1⟩

(p q : Prop) (h : p ∧ q) : q ∧ p
  match h with | ⟨a, b⟩ => exact ⟨b, a⟩

(p q : Prop) (h : p ∧ q) : q ∧ p
  refine ⟨?left, ?right⟩
  case left => exact h.right

(n m k : Nat) (h : n = m) (h' : m = k) : n = k
  subst h
  exact h'

(n m k : Nat) (h : n = m) (h' : m = k) : n = k
  exact h ▸ h'

(n m k : Nat) (h : n = m) (h' : m = k) : n = k
  exact Eq.trans (b := m) h h'

(n m k : Nat) (h : n = m) (h' : m = k) : n = k
  calc
    n = m := h
    _ = k := h'

(n m : Nat) (h : ∀ n, n + m = m + n) : m + n = n + m
  rw [h n]

(n m : Nat) (f : Nat → Nat) (h : ∀ n, f n = m) : ∃ m, f m = f n
  exact ⟨n, rfl⟩

(n m : Nat) (f : Nat → Nat) (h : ∀ n, f n = m) : f m = f n
  simp only [h]

(n m : Nat) (zero : n < m) : ∃ k, k = m
  induction m with | zero => exact ⟨0, rfl⟩ | succ m _ => exact ⟨m + 1, rfl⟩

(n m : Nat) : n + m = m + n
  induction n generalizing m with | zero => ?_ | succ n ih => ?_

(n m : Nat) : n + m = m + n
  (revert m n; intro a b)
  exact Nat.add_comm a b

(α : Type) (x y : α) (p : α → Prop) (h : p x) (e : x = y) : p y
  rw [← e]
  exact h

(α : Type) (xs ys : List α) (h : xs = ys) : xs.length = ys.length
  rw [h]

(p q : Prop) (hpq : p → q) (hq : ¬q) : ¬p
  intro hp
  exact hq (hpq hp)

(p : Prop) : p ∨ ¬p
  by_cases h : p
  exact Or.inl h

(n m : Nat) (h : n ≤ m) (h2 : m ≤ n) : n = m
  omega

(p q : Prop) (h : p) (hq : p → q) : q
  specialize hq h
  exact hq

(p q : Prop) (h : p) (hq : p → q) : q
  (show q; exact by exact hq h)

(p q : Prop) (h : p) (hq : p → q) : p ∧ q
  (and_intros <;> simp_all)

(n : Nat) (h : ∃ k, n = 2 * k ∧ 0 < k) : 0 < n
  obtain ⟨n', rfl, h'⟩ := h
  omega

(n : Nat) (h : ∃ k, n = 2 * k ∧ 0 < k) : 0 < n
  let ⟨k, e, pos⟩ := h
  omega
"""


def tricky_proofs() -> list[tuple[str, list[str]]]:
    """Sources with `sorry`, and tactics."""
    blocks = [re.split(r"\n  (?! )", block.strip("\n")) for block in BLOCKS.split("\n\n")]
    return [(f"theorem t {statement} := by\n  sorry", tactics) for statement, *tactics in blocks]
