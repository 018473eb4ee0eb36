"""Steps about numbers that are computed: what they say is proved by NanoLean, in the proofs that need them."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanolean.data.replay import start
from nanolean.tactic_state import run_tactic
from nanolean.tests.each import each
from nanoproof.policy.polynomials import polynomial
from nanoproof.policy.printed_types import tokens_of
from nanoproof.policy.statement_definitions import Definitions
from nanoproof.policy.step_tactics import steps

LISTS = """def total : List Nat → Nat
  | [] => 0
  | x :: xs => x + total xs
def snoc : List Nat → Nat → List Nat
  | [], a => [a]
  | x :: xs, a => x :: snoc xs a
def back : List Nat → List Nat
  | [] => []
  | x :: xs => snoc (back xs) x
"""
REPEATED = """def repeated (f : Nat → Nat) : Nat → Nat → Nat
  | 0, x => x
  | n + 1, x => f (repeated f n x)
"""
BELOW = """inductive Below : Nat → Nat → Prop where
  | same : ∀ n, Below n n
  | next : ∀ m n, Below m n → Below m (n + 1)
"""
FIB = """def fib : Nat → Nat
  | 0 => 0
  | 1 => 1
  | n + 2 => fib (n + 1) + fib n
"""
SPAN = """structure Span where
  first : Nat
  last : Nat
def Span.width (s : Span) : Nat := s.last - s.first
def Span.moved (k : Nat) (s : Span) : Span := { first := s.first + k, last := s.last + k }
"""
PART = """inductive Part : List Nat → List Nat → Prop where
  | nil : Part [] []
  | skip (x : Nat) (l m : List Nat) (h : Part l m) : Part l (x :: m)
  | keep (x : Nat) (l m : List Nat) (h : Part l m) : Part (x :: l) (x :: m)
"""
BUSH = """inductive Bush where
  | tip : Bush
  | fork (l r : Bush) : Bush
def Bush.size : Bush → Nat
  | .tip => 0
  | .fork l r => l.size + 1 + r.size
def Bush.height : Bush → Nat
  | .tip => 0
  | .fork l r => max l.height r.height + 1
def Bush.leaves : Bush → List Nat
  | .tip => [0]
  | .fork l r => l.leaves ++ r.leaves
"""
TERM = """inductive Term where
  | num (n : Nat) : Term
  | add (a b : Term) : Term
def value : Term → Nat
  | .num n => n
  | .add a b => value a + value b
"""
COMPILER = (
    TERM
    + """inductive Instr where
  | push (n : Nat) : Instr
  | plus : Instr
def done : Instr → List Nat → List Nat
  | .push n, s => n :: s
  | .plus, y :: x :: s => (x + y) :: s
  | _, s => s
def run : List Instr → List Nat → List Nat
  | [], s => s
  | i :: l, s => run l (done i s)
def compile : Term → List Instr
  | .num n => [.push n]
  | .add a b => compile a ++ compile b ++ [.plus]
"""
)
FOLDED = (
    TERM
    + """def both : Term → Term → Term
  | .num m, .num n => .num (m + n)
  | a, b => .add a b
def folded : Term → Term
  | .num n => .num n
  | .add a b => both (folded a) (folded b)
"""
)
ITERATED = """def iterated {α : Type} (f : α → α) : Nat → α → α
  | 0, x => x
  | n + 1, x => iterated f n (f x)
"""
PUT = """def put (x : Nat) : List Nat → List Nat
  | [] => [x]
  | y :: l => if x ≤ y then x :: y :: l else y :: put x l
"""
SUMS = """def total : List Nat → Nat
  | [] => 0
  | x :: l => x + total l
def added : List Nat → Nat → Nat
  | [], s => s
  | x :: l, s => added l (s + x)
def turned : List Nat → List Nat
  | [] => []
  | x :: l => turned l ++ [x]
"""
SURJECTIVE = """def Surjective' {α β : Type} (f : α → β) : Prop := ∀ y, ∃ x, f x = y
"""
FACTORIAL = """def fac : Nat → Nat
  | 0 => 1
  | n + 1 => (n + 1) * fac n
"""
PLUS = """def plus : Nat → Nat → Nat
  | 0, m => m
  | n + 1, m => plus n m + 1
"""
EVEN = """inductive Ev : Nat → Prop where
  | zero : Ev 0
  | add_two {n : Nat} (h : Ev n) : Ev (n + 2)
"""
CHOICES = """def choices : Nat → Nat → Nat
  | _, 0 => 1
  | 0, _ + 1 => 0
  | n + 1, k + 1 => choices n k + choices n (k + 1)
"""
SQUARE = "def Square (n : Nat) : Prop := ∃ r, n = r * r\n"
PATH = """inductive Path (edge : Nat → Nat → Prop) : Nat → Nat → Prop where
  | stay (u : Nat) : Path edge u u
  | walk (u v w : Nat) (first : edge u v) (rest : Path edge v w) : Path edge u w
"""
PARITY = """def IsEven (n : Nat) : Prop := ∃ k, n = k + k
def IsOdd (n : Nat) : Prop := ∃ k, n = 2 * k + 1
"""
LARGER = """def larger : Nat → Nat → Nat
  | 0, m => m
  | n + 1, 0 => n + 1
  | n + 1, m + 1 => larger n m + 1
"""


@each(
    ("definitions", "statement", "proof"),
    [
        (
            "",
            "(n : Nat) (h : n % 3 = 2) : n * n % 3 = 1",
            ["obtain ⟨k, rfl⟩ : ∃ k, n = 3 * k + 2 := ⟨n / 3, by omega⟩", "solver grind"],
        ),
        (
            "",
            "(n : Nat) : n ^ 2 % 4 = 0 ∨ n ^ 2 % 4 = 1",
            [
                "obtain ⟨k, rfl | rfl | rfl | rfl⟩ : ∃ k, n = 4 * k ∨ n = 4 * k + 1 ∨ n = 4 * k + 2 ∨ n = 4 * k + 3 := "
                "⟨n / 4, by omega⟩ <;> grind"
            ],
        ),
        (
            "",
            "(f : Nat → Nat) (m n : Nat) (h : m < n) : f (m + (n - m)) = f n",
            ["obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_lt h", "solver grind"],
        ),
        ("", "(a b c : Nat) (h : a ∣ b) (h2 : a ∣ b + c) : a ∣ c", ["exact (Nat.dvd_add_right h).mp h2"]),
        (
            BELOW,  # whose first index Lean makes a parameter: no case has it
            "(a b c : Nat) (h : Below a b) (h2 : Below b c) : Below a c",
            [
                "induction h2 with | same => ?_ | next n h2 ih => ?_",
                "solver grind",
                "apply Below.next",
                "solver grind",
            ],
        ),
        (
            "",
            "(n k : Nat) (h : n = 2 * k + 1) : ∃ j, n * n = 4 * j + 1",
            ["rw [h]", "exact ⟨k * k + k, by grind⟩"],
        ),
        ("", "(a k l : Nat) : a ∣ 3 * (a * k) + 2 * (a * l)", ["exact ⟨3 * k + 2 * l, by grind⟩"]),
        ("", "(n : Nat) : ∃ m, n < m ∧ 5 ∣ m", ["refine ⟨5 * (n + 1), ?_⟩", "solver omega"]),
        (
            "",
            "(n : Nat) (h : 1 < n) (h2 : n ∣ 6) (h3 : n ≠ 6) : n = 2 ∨ n = 3",
            ["have h1 := Nat.le_of_dvd (by omega) h2", "rcases (by omega : n = 0 ∨ n = 1 ∨ n = 2"],
        ),
        (
            "",
            "(a b c d : Nat) (h : 0 < c) (h1 : d ≠ 0) (h2 : c * (a * (d * (c + 1))) ≤ (c + 1) * (b * c) * d) : a ≤ b",
            ["exact Nat.le_of_mul_le_mul_left"],
        ),
        ("", "(a b c : Nat) (h : c ≠ 0) (h1 : (a + 1) * c = c * b) : b = a + 1", ["exact Nat.eq_of_mul_eq_mul_left"]),
        ("", "(a b c : Nat) (h : 0 < c) (h1 : a * c < c * b) : a < b", ["exact (Nat.mul_lt_mul_left"]),
        (
            "",
            "(a b c d u : Nat) (h : b ∣ c) (h1 : d ∣ u) : a * b * d ∣ a * a * a * c * u * b",
            ["obtain ⟨k, rfl⟩ := h <;> obtain ⟨k1, rfl⟩ := h1 <;> exact ⟨a * a * b * k * k1, by ac_rfl⟩"],
        ),
        (
            "",  # of two hypotheses about one variable the second one says enough
            "(k l n u v : Nat) (h : l ∣ u) (h1 : v = n * n * u) (h2 : n * l ∣ u) : n * l ∣ n * l * k + k * v + u",
            ["obtain ⟨k1, rfl⟩ := h2 <;> subst h1 <;> exact ⟨"],
        ),
        (
            "",
            "(k l m n : Nat) (h : m ∣ k) (h1 : l ∣ n * m) : l ∣ n * n * n * k",
            ["obtain ⟨k1, rfl⟩ := h <;> exact Nat.dvd_trans h1 ⟨k1 * n * n, by ac_rfl⟩"],
        ),
        ("", "(k l m n : Nat) (h : 2 * l * m ∣ n * m) : l ∣ n * k * m", ["exact Nat.dvd_trans ⟨2 * m, by grind⟩ ("]),
        (
            FIB,
            "(n : Nat) (h : 0 < n) : 0 < fib n",
            ["revert h <;> refine (?_ : (0 < n → 0 < fib n) ∧ (0 < (n + 1) → 0"],
        ),
        (
            FIB,
            "(n : Nat) : fib n % 2 = 0 ↔ n % 3 = 0",
            ["refine (?_ : (fib n % 2 = 0 ↔ n % 3 = 0) ∧ (fib (n + 1) % 2 = 0 ↔ (n + 1) % 3 = 0)).1 <;> induction"],
        ),
        (
            "",
            "(f : Nat → Nat) (h : f 0 = 1) (h1 : f 1 = 2) (h2 : ∀ n, f (n + 2) = 3 * f (n + 1) - 2 * f n) (n : Nat) : "
            "f n = 2 ^ n",
            ["refine (?_ : f n = 2 ^ n ∧ f (n + 1) = 2 ^ (n + 1)).1 <;> induction n <;>"],
        ),
        (SPAN, "(k : Nat) (s : Span) : (Span.moved k s).width = s.width", ["simp_all [Span.width, Span.moved]"]),
        (
            PART,  # by which rules a part of `x :: m` is one
            "(l m k : List Nat) (h : Part l m) (h1 : Part m k) : Part l k",
            [
                "induction h1 generalizing l with | nil => ?_",
                "solver assumption",
                "grind [Part.skip, Part.keep]",
                "rcases h with _ | ⟨x1, l2, m, h⟩ | ⟨x1, l2, m, h⟩",
                "grind [Part.skip, Part.keep]",
                "grind [Part.skip, Part.keep]",
            ],
        ),
        (
            PUT,
            "(x z : Nat) (l : List Nat) : z ∈ put x l ↔ z = x ∨ z ∈ l",
            ["induction l <;> first | (simp_all [put] <;> (repeat' split)"],
        ),
        (
            "",
            "(f : Nat → Nat) (h : ∀ n, f n < f (n + 1)) (a b : Nat) (h1 : f a = f b) : ¬a < b",
            ["have h2 : ∀ i j, i < j → f i < f j := by intro i j hij <;> induction hij <;> grind", "solver grind"],
        ),
        (
            "",
            "(f : Nat → Nat) (h : ∀ n, f (n + 1) ≤ f n) (a b : Nat) (h1 : a ≤ b) : f b ≤ f a",
            ["have h2 : ∀ i j, i ≤ j → f j ≤ f i := by intro i j hij <;> induction hij <;> grind", "solver grind"],
        ),
        ("", "(f : Nat → Nat) (h : ∀ n, f (n + 1) < f n) : False", ["have h1 : ∀ i, f i + i ≤ f 0 := (by intro i"]),
        (
            "",
            "(n : Nat) : Nat.gcd n (n + 2) ∣ 2",
            [
                "obtain ⟨h, h1⟩ := And.intro (Nat.gcd_dvd_left n (n + 2)) (Nat.gcd_dvd_right n (n + 2))",
                "exact (Nat.dvd_add_right h).mp h1",
            ],
        ),
        ("", "(a b : Nat) (h : 3 ∣ a * a + b * b) : 3 ∣ a", ["obtain ⟨k, rfl | rfl | rfl⟩ : ∃ k, a = 3 * k ∨"]),
        *(
            (
                "",
                f"(f : Nat → Nat → {values}) (h : ∀ g : Nat → {values}, ∃ n, f n = g) : False",
                ["obtain ⟨a, ha⟩ := h (fun x => "],
            )
            for values in ("Prop", "Nat")
        ),
        (
            BELOW,
            "(a b c d : Nat) (h : Below a b) (h1 : Below b c) (h2 : Below c d) : Below a d",
            ["have h3 : ∀ a1 b1 c1, Below a1 b1 → Below b1 c1 → Below a1 c1 := by intro", "solver grind"],
        ),
        (
            SUMS,  # for any accumulator
            "(l : List Nat) : added l 0 = total l",
            ["have h : ∀ (l : List Nat) a, added l a = (total l) + a := by intro l", "solver simp [h]"],
        ),
        (
            SUMS,  # for lists put together
            "(l : List Nat) : total (turned l) = total l",
            [
                "have h : ∀ (l1 m : List Nat), total (l1 ++ m) = total l1 + total m",
                "induction l <;> first | (simp_all [total, tu",
            ],
        ),
        (
            SURJECTIVE,
            "(f g : Nat → Nat) (hf : Surjective' f) (hg : Surjective' g) : Surjective' (g ∘ f)",
            ["intro y", "obtain ⟨x, rfl⟩ := hg y", "obtain ⟨x', rfl⟩ := hf x", "exact ⟨_, rfl⟩"],
        ),
        (
            "",  # the least number with a property
            "(P : Nat → Prop) (n : Nat) (ih : ∀ m, m < n → P m → ∃ k, P k ∧ ∀ j, P j → k ≤ j) (h : P n) : "
            "∃ k, P k ∧ ∀ j, P j → k ≤ j",
            [
                "by_cases h1 : ∃ m, m < n ∧ P m",
                "obtain ⟨m, h2, h3⟩ := h1",
                "solver exact ih m h2 h3",
                "refine ⟨n, ?_⟩",
                "constructor",
                "solver assumption",
                "solver grind",
            ],
        ),
        ("", "(f : Bool → Bool) (b : Bool) : f (f (f b)) = f b", ["cases htrue : f true <;> cases hfalse : f false"]),
        ("", "(f g : Nat → Nat) (h : ∀ n, f n = g n) : f = g", ["funext x", "solver simp [h]"]),
        ("", "(n : Nat) (h : n % 2 = 1) : n * n % 8 = 1", ["rcases (by omega : n % 8 = 0 ∨ n % 8 = 1"]),
        ("", "(n : Nat) : 5 ∣ n ^ 5 + 4 * n", ["apply Nat.dvd_of_mod_eq_zero <;> rcases"]),
        (
            LARGER,
            "(n m : Nat) : n ≤ larger n m",
            ["induction n generalizing m <;> cases m <;> first | (simp_all [larger] <;> first | omega"],
        ),
        (
            REPEATED,
            "(f : Nat → Nat) (m n x : Nat) : repeated f (m + n) x = repeated f m (repeated f n x)",
            [
                "induction m with | zero => ?_ | succ m ih => ?_",
                "solver simp [repeated]",
                "rw [Nat.add_right_comm m 1 n]",
                "simp_all [repeated]",
            ],
        ),
        (
            LISTS,
            "(xs : List Nat) : total (back xs) = total xs",
            [
                "induction xs with | nil => ?_ | cons x xs ih => ?_",
                "rw [back]",
                "simp only [total, back]",
                "rw [← ih]",
                "generalize back xs = t <;> induction t <;> simp_all [total, snoc, back] <;> omega",
            ],
        ),
        (
            "",
            "(α : Type) (p q : α → Bool) (l : List α) : (l.filter q).filter p = l.filter (fun x => p x && q x)",
            ["induction l with", "simp_all", "cases h : p x <;> cases h1 : q x <;> simp_all [List.filter]"],
        ),
        (
            "",
            "(a b c d m : Nat) (h : a % m = c % m) (h1 : d % m = b % m) : (a * b + 1) % m = (c * d + 1) % m",
            [
                "solver have h2 : a * b % m = c * d % m := by rw [Nat.mul_mod, h, ← h1, ← Nat.mul_mod]",
                "rw [Nat.add_mod, h2, ← Nat.add_mod]",
            ],
        ),
        (
            "",
            "(a b c d m : Nat) (h : a % m = c % m) (h1 : d % m = b % m) : a * b % m = c * d % m",
            ["rw [Nat.mul_mod, h, ← h1, ← Nat.mul_mod]"],
        ),
        (
            "",
            "(α : Type) (m : α → Nat) (P : α → Prop) (h : ∀ x, (∀ y, m y < m x → P y) → P x) (x : α) : P x",
            ["induction hk : m x using Nat.strongRecOn generalizing x with", "apply h", "intro y h1", "solver grind"],
        ),
        (
            "",
            "(x n : Nat) : 1 + n * x ≤ (1 + x) ^ n",
            ["induction n with", "simp_all", "have h := Nat.mul_le_mul_right (1 + x) ih <;> grind"],
        ),
        (
            "",
            "(n : Nat) (h : 4 ≤ n) : n * n ≤ 2 ^ n",
            ["induction h with | refl", "solver simp", "have h1 := Nat.mul_le_mul_right n h <;> grind"],
        ),
        (
            "",
            "(n : Nat) : ∃ s : Nat, s * s ≤ n ∧ n < (s + 1) * (s + 1)",
            [
                "induction n with",
                "solver exact ⟨0, by simp⟩",
                "obtain ⟨s, h, h1⟩ := ih",
                "by_cases h2 : n + 1 < (s + 1)",
            ],
        ),
        (
            "",
            "(t : Nat → Nat) (h0 : t 0 = 0) (h : ∀ n, t (n + 1) = t n + n + 1) (n : Nat) : ∃ k r, r ≤ k ∧ n = t k + r",
            [
                "induction n with",
                "solver exact ⟨0, 0, by grind⟩",
                "obtain ⟨k, r, h1, rfl⟩ := ih",
                "by_cases h2 : (r + 1) ≤ k <;>",
            ],
        ),
        ("", "(n : Nat) (h : 12 ≤ n) : ∃ a b : Nat, n = 4 * a + 5 * b", ["rcases (by omega : n % 4 = 0 ∨"]),
        ("", "(n : Nat) (h : 2 ≤ n) : ∃ x y, y * 3 + 2 * x = n", ["rcases (by omega : n % 2 = 0 ∨"]),
        ("", "(n : Nat) : Nat.gcd n (n * n + 1) = 1", ["exact Nat.eq_one_of_dvd_one"]),
        (
            SQUARE,
            "(m n : Nat) (hm : Square m) (hn : Square n) : Square (4 * m * n)",
            ["obtain ⟨r, rfl⟩ := hn", "obtain ⟨r1, rfl⟩ := hm", "exact ⟨2 * r * r1, by grind⟩"],
        ),
        (
            PATH,
            "(edge : Nat → Nat → Prop) (sym : ∀ x y, edge x y → edge y x) (a b : Nat) (h : Path edge a b) : "
            "Path edge b a",
            [
                "have h1 : ∀ a1 b1 c, Path edge a1 b1 → Path edge b1 c → Path edge a1 c",
                "have h2 : ∀ a1 b1, edge a1 b1 → Path edge a1 b1",
                "induction h with",
                "apply Path.stay",
                "solver grind",
            ],
        ),
        ("", "(n : Nat) : Nat.gcd (2 * n + 1) (3 * n + 1) = 1", ["exact Nat.eq_one_of_dvd_one"]),
        (
            CHOICES,
            "(n k : Nat) (h : n < k) : choices n k = 0",
            ["induction n generalizing k <;> cases k <;> first | (simp_all [choices] <;> first | omega"],
        ),
        ("", "(n : Nat) : Nat.gcd (4 * n + 3) (2 * n + 1) = 1", ["exact Nat.eq_one_of_dvd_one"]),
        ("", "(a b x y : Nat) (h : a * x = b * y + 1) : Nat.gcd a b = 1", ["exact Nat.eq_one_of_dvd_one"]),
        (
            "",
            "(a b c d : Nat) (ha : a ∣ c) (hb : b ∣ d) (h : Nat.gcd c d = 1) : Nat.gcd a b = 1",
            ["refine Nat.eq_one_of_dvd_one (h ▸"],
        ),
        ("", "(d n : Nat) (h : d ∣ n * n + 1) (h1 : d ∣ n) : d = 1", ["exact Nat.eq_one_of_dvd_one"]),
        (
            FACTORIAL,
            "(n : Nat) (h : 4 ≤ n) : 2 ^ n < fac n",
            [
                "induction h with | refl",
                "solver decide",
                "have h1 := Nat.mul_le_mul ih (by omega : 2 ≤ n + 1) <;> grind [fac, Nat.pow_succ]",
            ],
        ),
        (
            PLUS,
            "(n m : Nat) : plus n m = plus m n",
            [
                "induction n with",
                "induction m <;> first | (simp_all [plus]",
                "simp only [plus] <;> rw [ih] <;> clear ih <;> induction m <;>",
            ],
        ),
        (
            LISTS,
            "(xs : List Nat) : back (back xs) = xs",
            [
                "induction xs with",
                "solver rfl",
                "rw [back]",
                "have h : ∀ t, back (snoc t x) = x :: (back t) := by intro t <;> induction t",
                "simp_all",
            ],
        ),
        (
            BUSH,
            "(t : Bush) : t.size < 2 ^ t.height",
            [
                "induction t with",
                "solver decide",
                "simp only [Bush.size, Bush.height]",
                "have h := Nat.pow_le_pow_right (by omega : 0 < 2) (Nat.le_max_left",
            ],
        ),
        (
            "",
            "(a b m n : Nat) (h : m ≤ 2 ^ a) (h1 : n ≤ 2 ^ b) : m + n ≤ 2 ^ (1 + max a b)",
            ["have h2 := Nat.pow_le_pow_right"],
        ),
        (
            BUSH,
            "(t : Bush) : t.leaves.length = t.size + 1",
            ["induction t <;> first | (simp_all [Bush.size, Bush.leaves]"],
        ),
        (
            f"{PUT}def sorted : List Nat → List Nat\n  | [] => []\n  | x :: l => put x (sorted l)\n",
            "(l : List Nat) : (sorted l).length = l.length",
            [
                "induction l with",
                "solver rfl",
                "simp_all [sorted]",
                "have h : ∀ t, (put x t).length = (t.length) + 1",
                "solver grind",
            ],
        ),
        (
            "",
            "{α : Type} (a : α) (p : α → Prop) : ∃ x, p x → ∀ y, p y",
            [
                "by_cases h : ∀ (y : α), p y",
                "refine ⟨a, ?_⟩",
                "solver simp_all",
                "obtain ⟨x, h1⟩ := Classical.not_forall.mp h",
                "refine ⟨x, ?_⟩",
                "solver simp_all",
            ],
        ),
        (
            "",
            "{α β : Type} (p : α → β → Prop) (q : β → α → Prop) (f : α → β) (h : ∀ x y, p x (f y) ↔ q (f x) y) "
            "(h1 : ∀ x, q (f x) x) (x : α) : p x (f x)",
            ["refine (h _ _).mpr ?_", "solver simp_all"],
        ),
        (
            "",
            "{α : Type} (f : α → α → Prop) : ¬ ∀ p : α → Prop, ∃ a, ∀ x, f a x ↔ p x",
            ["intro h", "obtain ⟨a, ha⟩ := h (fun x => ¬ f x x) <;> have h1 := ha a <;> grind"],
        ),
        (
            "def even : Nat → Bool\n  | 0 => true\n  | n + 1 => !(even n)\n",
            "(n : Nat) : even n = true ↔ ∃ k, n = 2 * k",
            [
                "have h : ∀ n1, even n1 = true ↔ n1 % 2 = 0 := by",
                "rw [h]",
                "constructor",
                "intro h",
                "exact ⟨n / 2, by omega⟩",
                "solver grind",
            ],
        ),
        (
            "def even : Nat → Bool\n  | 0 => true\n  | 1 => false\n  | n + 2 => even n\n",
            "(n : Nat) : even (2 * n) = true",
            ["have h : ∀ n1, (even n1 = true ↔ n1 % 2 = 0) ∧ (even (n1 + 1) = true", "solver grind"],
        ),
        ("", "(p q : Prop) (h : ¬(p → q)) : p ∧ ¬q", ["obtain ⟨h1, h2⟩ := Classical.not_imp.mp h", "solver simp_all"]),
        (
            "",
            "(p : Nat) (hp : ∀ d, d ∣ p → d = 1 ∨ d = p) (h : 3 ≤ p) : p % 2 = 1",
            [
                "rcases Nat.mod_two_eq_zero_or_one p",
                "rcases hp 2 (by omega) with",
                "solver omega",
                "solver omega",
                "solver omega",
            ],
        ),
        (
            COMPILER,
            "(e : Term) : run (compile e) [] = [value e]",
            ["have h : ∀ l s, run ((compile e) ++ l) s = run l ((value e) :: s)"],
        ),
        (
            COMPILER,
            "(s : List Nat) (e : Term) : run (compile e) s = value e :: s",
            ["have h : ∀ l s, run ((compile e) ++ l) s = run l (value e :: s)"],
        ),
        (
            FOLDED,
            "(e : Term) : value (folded e) = value e",
            ["induction e <;> simp_all [value, folded] <;> unfold both"],
        ),
        (
            ITERATED,
            "{α : Type} (f : α → α) (m n : Nat) (x : α) : iterated f (m + n) x = iterated f n (iterated f m x)",
            ["induction m generalizing n x <;> first | (simp_all [iterated, Nat.succ_add"],
        ),
        (EVEN, "(n : Nat) (h : Ev n) : ∃ k, n = 2 * k", ["exact ⟨n / 2, by induction h <;> omega⟩"]),
        (EVEN, "(k : Nat) : Ev (2 * k)", ["induction k <;> simp_all [Nat.mul_add, Ev.zero, Ev.add_two]"]),
        (
            PARITY,
            "(n : Nat) : IsEven n ∨ IsOdd n",
            [
                "rcases Nat.mod_two_eq_zero_or_one n",
                "left",
                "exact ⟨n / 2, by omega⟩",
                "right",
                "exact ⟨n / 2, by omega⟩",
            ],
        ),
        (
            PARITY,
            "(n : Nat) (h : IsEven n ∨ IsOdd n) : IsEven n ∨ IsOdd n",
            ["rcases h with ⟨k, rfl⟩ | ⟨k, rfl⟩", "left", "exact ⟨_, rfl⟩", "right", "exact ⟨_, rfl⟩"],
        ),
        (
            "",
            "(a b m n : Nat) (h : a % m = b % m) : a ^ n % m = b ^ n % m",
            [
                "induction n with",
                "solver simp",
                "rw [Nat.pow_succ, Nat.pow_succ, Nat.mul_mod, ih, h, ← Nat.mul_mod]",
            ],
        ),
        ("", "(n : Nat) : 133 ∣ 11 ^ (n + 2) + 12 ^ (2 * n + 1)", ["induction n <;> simp_all [Nat.mul_add"]),
        ("", "(a b c : Nat) (h : a ∣ b * c) (h1 : Nat.gcd a b = 1) : a ∣ c", ["simpa [Nat.gcd_mul_right"]),
        ("", "(a b c : Nat) (h : a ∣ c * b) (h1 : Nat.gcd b a = 1) : a ∣ c", ["simpa [Nat.gcd_mul_right"]),
        ("", "(n : Nat) : ∃ q r, n = 3 * q + r ∧ r < 3", ["exact ⟨n / 3, n % 3, by omega⟩"]),
        ("", "(n b : Nat) (h : 0 < b) : ∃ r q, b * q + r = n ∧ r < b", ["refine ⟨n % b, n / b, ?_⟩ <;> simp_all"]),
        (
            "",
            "(a b : Nat) (h : a * a = 2 * (b * b)) : b = 0",
            [
                "induction b using Nat.strongRecOn generalizing a",
                "obtain ⟨k, rfl | rfl⟩ : ∃ k, a = 2 * k ∨ a = 2 * k + 1",
                "rcases Nat.eq_zero_or_pos k1 with h1 | h1 <;> first | omega | (have h2 := ih k1 (by omega) k",
            ],
        ),
        (
            "",
            "(P : Nat → Prop) (h : ∃ n, P n) : ∃ m, P m ∧ ∀ k, k < m → ¬ P k",
            [
                "obtain ⟨n, h1⟩ := h",
                "induction n using Nat.strongRecOn with",
                "by_cases h : ∀ (k : Nat), k <",
                "solver grind",
            ],
        ),
        # Larger moduli by the powers of primes in them, which `omega` puts together.
        ("", "(n : Nat) : 12 ∣ n * n * (n * n + 11)", ["have h : 4 ∣", "have h1 : 3 ∣", "solver omega"]),
        (
            "",
            "(n : Nat) (h : n % 2 = 1) (h1 : n % 5 ≠ 0) : n ^ 4 % 10 = 1",
            ["have h2 : n ^ 4 % 2 = 1", "have h3 : n ^ 4 % 5 = 1", "solver omega"],
        ),
        # Remainders of three numbers together, and of squares by 4, of which nothing in the state speaks.
        (
            "",
            "(a b c : Nat) (h : a * a + b * b = c * c) : 2 ∣ a ∨ 2 ∣ b",
            ["obtain ⟨k, rfl | rfl⟩ : ∃ k, a = 2 * k ∨ a = 2 * k + 1 := ⟨a / 2, by omega⟩ <;> obtain ⟨k1"],
        ),
        ("", "(n a : Nat) : n * n ≠ 4 * a + 2", ["obtain ⟨k, rfl | rfl⟩ : ∃ k, n = 2 * k"]),
        # Numbers in order by what the other orders say of products.
        (
            "",
            "(n s t : Nat) (h : s * s ≤ n) (h1 : n < (s + 1) * (s + 1)) (h2 : t * t ≤ n) (h3 : n < (t + 1) * (t + 1)) "
            ": s = t",
            ["rcases Nat.lt_trichotomy s t"],
        ),
        (
            "",
            "(b q r s t : Nat) (h : b * q + r = b * s + t) (h1 : r < b) (h2 : t < b) : q = s ∧ r = t",
            ["rcases Nat.lt_trichotomy q s"],
        ),
        # Products by the squares of their factors.
        (
            "",
            "(a b c : Nat) : a * b + b * c + c * a ≤ a * a + b * b + c * c",
            ["have h : ∀ x y : Nat, x * y + x * y ≤"],
        ),
        (
            "",
            "(a b c d : Nat) : (a * c + b * d) ^ 2 ≤ (a * a + b * b) * (c * c + d * d)",
            [
                "have h : ∀ x y : Nat, x * y + x * y ≤ x * x + y * y := (by intro x y <;> rcases Nat.le_total x y with "
                "h1 | h1 <;> obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h1 <;> grind) <;> have h2 := h (a * d) (b * c) "
                "<;> clear h <;> simp only"
            ],
        ),
        # A compiled program where variables have values, and an optimizer with a pattern inside of another.
        (
            """inductive Amount where
  | num (n : Nat)
  | var (v : Nat)
  | add (a b : Amount)
def Amount.value (values : Nat → Nat) : Amount → Nat
  | num n => n
  | var v => values v
  | add a b => value values a + value values b
inductive Code where
  | push (n : Nat)
  | load (v : Nat)
  | plus
def Code.done (values : Nat → Nat) : Code → List Nat → List Nat
  | push n, s => n :: s
  | load v, s => values v :: s
  | plus, x :: y :: s => (y + x) :: s
  | _, s => s
def run (values : Nat → Nat) : List Code → List Nat → List Nat
  | [], s => s
  | c :: l, s => run values l (c.done values s)
def Amount.code : Amount → List Code
  | num n => [Code.push n]
  | var v => [Code.load v]
  | add a b => a.code ++ b.code ++ [Code.plus]
""",
            "(values : Nat → Nat) (t : Amount) : run values t.code [] = [t.value values]",
            ["have h : ∀ l s, run values"],
        ),
        (
            TERM
            + """def lean : Term → Term
  | .num n => .num n
  | .add (.num 0) b => lean b
  | .add a b => .add (lean a) (lean b)
""",
            "(t : Term) : value (lean t) = value t",
            ["induction t <;> simp_all [value] <;> unfold lean <;> split <;> simp_all [value]"],
        ),
        # Booleans that are compared, and what a sorting function keeps.
        (
            "def alternating : Nat → Bool\n  | 0 => true\n  | n + 1 => !alternating n\n",
            "(m n : Nat) : alternating (m + n) = (alternating m == alternating n)",
            [
                "induction n with",
                "solver simp [alternating]",
                "simp_all [alternating",
                "cases alternating m <;> cases alternating n",
            ],
        ),
        (
            PUT
            + """def sorted : List Nat → List Nat
  | [] => []
  | x :: l => put x (sorted l)
inductive Rising : List Nat → Prop where
  | nil : Rising []
  | one (x : Nat) : Rising [x]
  | more (x y : Nat) (l : List Nat) : x ≤ y → Rising (y :: l) → Rising (x :: y :: l)
""",
            "(l : List Nat) : Rising (sorted l)",
            ["induction l with", "apply Rising.nil", "rw [sorted]", "exact (by intro t h <;> induction h"],
        ),
        # Euclid's lemma for a number with two divisors, his step, and that two has no square root.
        (
            "",
            "(p a b : Nat) (hp : ∀ d, d ∣ p → d = 1 ∨ d = p) (h : p ∣ a * b) : p ∣ a ∨ p ∣ b",
            ["rcases hp (Nat.gcd p a)"],
        ),
        ("", "(a b : Nat) : Nat.gcd a (b + a) = Nat.gcd a b", ["simp [Nat.gcd_rec a]"]),
        (
            "",
            "(a b : Nat) (h : a ^ 2 = 2 * b ^ 2) : b = 0",
            [
                "induction a using Nat.strongRecOn generalizing b",
                "obtain ⟨k, rfl | rfl⟩ : ∃ k, a = 2 * k ∨ a = 2 * k + 1 := ⟨a / 2, by omega⟩ <;> (try grind) <;> ",
                "rcases Nat.eq_zero_or_pos k",
            ],
        ),
        ("", "(n : Nat) : ∃ m, m > n ∧ m % 7 = 3", ["exact ⟨7 * (n + 1) + 3, by omega⟩"]),
        # Where an instance says that there is something.
        (
            "",
            "{α : Type} [Nonempty α] (p : α → Prop) (h1 : ∀ x, p x) : ∃ x, p x",
            ["obtain ⟨x⟩ := ‹Nonempty α›", "refine ⟨x, ?_⟩", "solver grind"],
        ),
        # What a function chooses that the goal asks for.
        (
            "",
            "(α β : Type) (f : α → β) (h : ∀ y, ∃ x, f x = y) : ∃ g : β → α, ∀ y, f (g y) = y",
            ["obtain ⟨g, hg⟩ := Classical.skolem.mp h", "exact ⟨_, hg⟩"],
        ),
        # An exponent that a hypothesis alone has, and what divides the factors of a factorial.
        (
            "",
            "(p a n : Nat) (h : ∀ x y : Nat, p ∣ x * y → p ∣ x ∨ p ∣ y) (h1 : p ≠ 1) (h2 : p ∣ a ^ n) : p ∣ a",
            ["induction n <;> first"],
        ),
        (
            "",
            "(f : Nat → Nat) (hs : ∀ n, f (n + 1) = (n + 1) * f n) (m n : Nat) (h : m ≤ n) : f m ∣ f n",
            ["induction h <;> simp_all [Nat.dvd_mul_left_of_dvd"],
        ),
        (
            "def fac : Nat → Nat\n  | 0 => 1\n  | n + 1 => (n + 1) * fac n\n",
            "(m n : Nat) (h : m ≤ n) : fac m ∣ fac n",
            ["induction h <;> simp_all [fac, Nat.dvd_mul_left_of_dvd"],
        ),
        # A difference as a sum, of which an induction's hypothesis says more.
        (
            "",
            "(s f : Nat → Nat) (f0 : f 0 = 1) (fs : ∀ n, f (n + 1) = (n + 1) * f n) (s0 : s 0 = 0) "
            "(ss : ∀ n, s (n + 1) = s n + n * f n) (n : Nat) : s n = f n - 1",
            ["suffices h : s n + 1 = f n by omega", "induction n <;>"],
        ),
        # A function of the context that has a factor of its own.
        (
            "",
            "(f : Nat → Nat) (h0 : f 0 = 1) (hs : ∀ n : Nat, f (n + 1) = (n + 1) * f n) (n : Nat) (h : 4 ≤ n) "
            ": 2 ^ n < f n",
            ["induction h with", "solver grind", "have h1 := Nat.mul_le_mul ih (by omega : 2 ≤ n + 1) <;> grind"],
        ),
        (
            "",
            "(f : Bool → Bool) (h : ∀ x y, f x = f y → x = y) (b : Bool) : ∃ x, f x = b",
            ["cases htrue : f true <;> cases hfalse : f false <;> cases b <;> first"],
        ),
        # Functions that hypotheses define have what those of definitions have: a lemma for any accumulator, and for
        # lists put together, with the cases of an `if`, and two arguments that change places.
        (
            "",
            "(α : Type) (r : List α → List α → List α) (h0 : ∀ a, r [] a = a) "
            "(h1 : ∀ x l a, r (x :: l) a = r l (x :: a)) (l : List α) : r l [] = l.reverse",
            ["have h : ∀ (l : List α) a, r l a = l.reverse ++ a := by intro l", "simp_all"],
        ),
        (
            "",
            "(c : List Nat → Nat) (a : Nat) (h0 : c [] = 0) "
            "(h1 : ∀ x l, c (x :: l) = (if x = a then 1 else 0) + c l) (l : List Nat) : c l.reverse = c l",
            [
                "have h : ∀ (l1 m : List Nat), c (l1 ++ m) = c l1 + c m := by",
                "induction l <;> first | (simp_all <;> (repeat' split)",
            ],
        ),
        (
            "",
            "(w : List Nat → List Nat → List Nat) (h0 : ∀ m, w [] m = m) "
            "(h1 : ∀ x l m, w (x :: l) m = x :: w m l) (l m : List Nat) : (w l m).length = l.length + m.length",
            ["induction l generalizing m <;> cases m <;> first"],
        ),
        (
            "",
            "(α β : Type) (f : α → β) (hf : ∀ x y, f x = f y → x = y) (l m : List α) (h : l.map f = m.map f) : l = m",
            ["induction l generalizing m <;> cases m <;> first"],
        ),
        (
            "",
            "(α : Type) (a b c d : List α) (hl : a.length = c.length) (h : a ++ b = c ++ d) : a = c ∧ b = d",
            ["induction a generalizing b c d <;> cases c <;> first"],
        ),
        (
            "",
            "(s t f : Nat → Nat) (m n : Nat) (h0 : t 0 = 0) (hs : ∀ n, s (n + 1) = s n + f n) "
            "(ht : ∀ n, t (n + 1) = t n + f (m + n)) (h : m ≤ n) : s n = s m + t (n - m)",
            ["obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h <;> simp only", "induction k <;> first"],
        ),
        # What has no common divisor with factors has none with their product, nor with powers.
        (
            "",
            "(a b c : Nat) (hb : Nat.gcd a b = 1) (hc : Nat.gcd a c = 1) : Nat.gcd a (b * c) = 1",
            ["have h : ∀ x y z, Nat.gcd x y = 1 → Nat.gcd x z = 1 → Nat.gcd x (y * z) = 1", "simp_all"],
        ),
        (
            "",
            "(a b m n : Nat) (h : Nat.Coprime a b) : Nat.Coprime (a ^ m) (b ^ n)",
            [
                "simp only [← Nat.coprime_iff_gcd_eq_one] at *",
                "have h1 : ∀ x y z, Nat.gcd x y = 1 → Nat.gcd x z = 1 → Nat.gcd x (y * z) = 1",
                "have h2 : ∀ x y k, Nat.gcd x y = 1 → Nat.gcd x (y ^ k) = 1",
                "exact h2 _ _ _ ((Nat.gcd_comm _ _).trans (h2 _ _ _",
            ],
        ),
        (
            "",
            "(a b : Nat) (h : Nat.gcd a b = 1) : Nat.gcd (a + b) a = 1",
            ["refine Nat.eq_one_of_dvd_one (h ▸ Nat.dvd_gcd ?_ ?_)"],
        ),
        (
            "",
            "(a b c : Nat) (hb : Nat.gcd b a = 1) (hc : Nat.gcd c a = 1) : Nat.gcd (b * c) a = 1",
            ["have h : ∀ x y z, Nat.gcd y x = 1 → Nat.gcd z x = 1 → Nat.gcd (y * z) x = 1", "simp_all"],
        ),
        (
            "",
            "(a b c m : Nat) (h : Nat.gcd m c = 1) (h2 : m ∣ c * a - c * b) : m ∣ a - b",
            ["rw [← Nat.mul_sub] at h2", "simpa [Nat.gcd_mul_right"],
        ),
        (
            "",
            "(a b n : Nat) (h : 0 < n) : a ^ n + b ^ n ≤ (a + b) ^ n",
            ["induction h with", "solver simp", "have h1 := Nat.mul_le_mul_right (a + b) ih <;> grind"],
        ),
        ("", "(n : Nat) : Nat.gcd (2 * n + 1) (2 * n + 3) = 1", ["exact Nat.eq_one_of_dvd_one"]),
        ("", "(a b x y : Nat) (h : Nat.gcd a b = 1) (h1 : a * x = b * y) : b ∣ x", ["simpa [Nat.gcd_mul_right"]),
        (
            "",
            "(a b : Nat) (h : Nat.gcd a b = 1) (h1 : a ∣ b) : a = 1",
            ["refine (Nat.gcd_eq_left h1).symm.trans ?_ <;> clear h1", "solver assumption"],
        ),
        (
            "",
            "(f : Nat → Nat) (p : Nat) (hf : ∀ n, f (n + 1) = (n + 1) * f n) (h1 : ¬p ∣ f 0) (n : Nat) "
            "(h : ∀ x y, p ∣ x * y → p ∣ x ∨ p ∣ y) (h2 : p ∣ f n) : p ≤ n",
            ["induction n <;> grind [Nat.pow_succ, Nat.dvd_one, Nat.le_of_dvd]"],
        ),
        (
            "",
            "(a b c : Nat) (hab : Nat.gcd a b = 1) (ha : a ∣ c) (hb : b ∣ c) : a * b ∣ c",
            ["obtain ⟨k, rfl⟩ := ha <;> exact Nat.mul_dvd_mul_left a"],
        ),
        ("", "(a b x y : Nat) : Nat.gcd a b ∣ x * a + y * (b * x)", ["exact (Nat.dvd_add (Nat.dvd_mul_left_of_dvd"]),
        (
            "def Prime2 (p : Nat) : Prop := 2 ≤ p ∧ ∀ d, d ∣ p → d = 1 ∨ d = p\n",
            "(p : Nat) (hp : Prime2 p) (h : 3 < p) : p % 6 = 1 ∨ p % 6 = 5",
            ["obtain ⟨h1, h2⟩ := hp", "have h3 := h2 2 <;> have h4 := h2 3 <;> omega"],
        ),
        (
            "def Prime2 (p : Nat) : Prop := 2 ≤ p ∧ ∀ d, d ∣ p → d = 1 ∨ d = p\n",
            "(n : Nat) (h : 2 ≤ n) : ∃ p, Prime2 p ∧ p ∣ n",
            [
                "induction n using Nat.strongRecOn",
                "by_cases h1 : Prime2 n <;> (try exact ⟨n, h1, Nat.dvd_refl n⟩)",
                "obtain ⟨d, h3⟩ := Classical.not_forall.mp (fun h2 => h1 ⟨by omega, h2⟩)",
                "obtain ⟨p, h2, h7⟩ := ih d h6 h5",
                "exact ⟨_, h2, Nat.dvd_trans h7 h3⟩",
            ],
        ),
        (
            "",
            "{α β : Type} (f : α → β) (g : β → α) (hg : ∀ y, f (g y) = y) (x y : β) (h : g x = g y) : x = y",
            ["simpa [hg] using congrArg f h"],
        ),
        (
            "",
            "(f : Nat → Nat) (x : Nat × Bool) (h : ∀ a b, f a = b → a = b) : (x.1, x.2) = x",
            ["obtain ⟨a, b⟩ := x", "solver rfl"],
        ),
        # What rules never reach, a fixed point by the diagonal, and the factor of an additive function.
        (
            """inductive Reached : Nat → Prop where
  | one : Reached 1
  | double {n : Nat} : Reached n → Reached (2 * n)
  | more {n : Nat} : Reached n → Reached (n + 3)
""",
            ": ¬Reached 30",
            ["first | exact fun h => (fun n (h : Reached n) => (by induction h <;> omega : n % 3 ≠ 0)) 30 h rfl"],
        ),
        (
            "",
            "{α β : Type} (e : α → α → β) (h : ∀ g : α → β, ∃ a, ∀ x, e a x = g x) (t : β → β) : ∃ b, t b = b",
            ["obtain ⟨a, ha⟩ := h (fun x => t (e x x))"],
        ),
        (
            "",
            "(f : Nat → Nat) (h : ∀ x y, f (x + y) = f x + f y) : ∃ c, ∀ n, f n = c * n",
            ["have h1 := h 0 0", "refine ⟨f 1, ?_⟩", "solver intro n <;> induction n <;> grind"],
        ),
        # An order of a tree that is made of what holds of every value, a negation that is pushed inwards, odd parts.
        (
            """inductive Wood where
  | tip : Wood
  | node : Wood → Nat → Wood → Wood
namespace Wood
def Every (p : Nat → Prop) : Wood → Prop
  | tip => True
  | node l k r => Every p l ∧ p k ∧ Every p r
def Search : Wood → Prop
  | tip => True
  | node l k r => Search l ∧ Search r ∧ Every (· < k) l ∧ Every (k < ·) r
def put (x : Nat) : Wood → Wood
  | tip => node tip x tip
  | node l k r => if x < k then node (put x l) k r else if k < x then node l k (put x r) else node l k r
""",
            "(x : Nat) (t : Wood) (ht : Search t) : Search (put x t)",
            [
                "have h : ∀ (p : Nat → Prop) t1, p x → Wood.Every p t1 → Wood.Every p (Wood.put x t1)",
                "induction t <;> first",
            ],
        ),
        (
            """inductive Claim where
  | atom : Nat → Claim
  | neg : Claim → Claim
  | both : Claim → Claim → Claim
  | either : Claim → Claim → Claim
def value (v : Nat → Bool) : Claim → Bool
  | .atom n => v n
  | .neg f => !value v f
  | .both f g => value v f && value v g
  | .either f g => value v f || value v g
def push : Bool → Claim → Claim
  | true, .atom n => .atom n
  | false, .atom n => .neg (.atom n)
  | s, .neg f => push (!s) f
  | true, .both f g => .both (push true f) (push true g)
  | false, .both f g => .either (push false f) (push false g)
  | true, .either f g => .either (push true f) (push true g)
  | false, .either f g => .both (push false f) (push false g)
""",
            "(v : Nat → Bool) (f : Claim) : value v (push true f) = value v f",
            ["refine (?_ : value v (push true f) = value v f ∧ value v (push false f) = ! (value v f)).1"],
        ),
        (
            "",
            "(n : Nat) (hn : 0 < n) : ∃ k m, n = 2 ^ k * (2 * m + 1)",
            [
                "induction n using Nat.strongRecOn",
                "rcases Nat.mod_two_eq_zero_or_one n",
                "have h1 := ih (n / 2) (by omega) (by omega)",
                "obtain ⟨k, m, h2⟩ := h1",
                "first | exact ⟨k, m",
                "exact ⟨0, n / 2",
            ],
        ),
        # A list without its first two elements.
        (
            """def alternate {α : Type} : List α → List α
  | [] => []
  | [x] => [x]
  | x :: _ :: l => x :: alternate l
""",
            "{α : Type} (l : List α) : (alternate l).length = (l.length + 1) / 2",
            ["refine (?_ : ((alternate l).length = (l.length + 1) / 2) ∧ ∀ x, ((alternate (x :: l)).length ="],
        ),
        # In a namespace types and functions are written by their last names.
        (
            """namespace Own
inductive Twig where
  | tip : Twig
  | bud : Twig → Twig
def Twig.turn : Twig → Twig
  | tip => tip
  | bud t => bud t.turn
""",
            "(t : Twig) : t.turn = t",
            ["induction t <;> first | (simp_all [Own.Twig.turn]"],
        ),
        # The last of the numbers up to `n + 1`, and the lengths of lists that are equal.
        (
            "",
            "(f : Nat → Nat) (hs : ∀ n, f (n + 1) = (n + 1) * f n) (k n : Nat) (h0 : 0 < k) (h : k ≤ n) : k ∣ f n",
            ["induction n with", "solver omega", "rcases (by omega : k ≤ n ∨ k = n + 1) with h1 | rfl <;> simp_all"],
        ),
        (
            "",
            "(α : Type) (l m : List α) (h : l ++ m = m) : l = []",
            ["have h1 := congrArg List.length h <;> simp only"],
        ),
    ],
)
def test_a_theorem_is_proved_by_steps_that_its_states_suggest(
    definitions: str, statement: str, proof: list[str]
) -> None:
    """Each of the proof's tactics, by how it begins, is suggested where it is run, but for those of solvers."""
    source = f"{definitions}theorem t {statement} := by\n  sorry"
    state = start(source)
    for wanted in proof:
        tactic = wanted.removeprefix("solver ")
        if tactic == wanted:
            suggested = steps(state.goal_texts()[0], Definitions.of(source), most=40)
            tactic = next((step for step in suggested if step.startswith(wanted)), "")
            assert tactic, f"{wanted} is not among {suggested}"
        state = run_tactic(state, tactic).state
    assert not state.goals


@pytest.mark.parametrize(
    "state",
    [
        "n : Nat\nh : n % 11 = 1 ∨ n % 11 = 2\n⊢ n ≠ 0",  # as many cases as nobody writes
        "n : Nat\nh : n < 100\n⊢ n * n < 10000",
        "x✝ : Nat\nh : x✝ < 3\n⊢ x✝ * x✝ < 9",
        "m : Int\nh : m < 3\n⊢ m ≤ 2",
    ],
)
def test_no_cases_are_made_of_what_is_large_or_has_no_name_or_is_no_natural_number(state: str) -> None:
    assert not [step for step in steps(state, most=60) if step.startswith(("rcases (by omega", "obtain ⟨k, rfl"))]


@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 5), st.integers(0, 3))
def test_a_polynomial_has_the_value_of_its_term(x: int, y: int, number: int, exponent: int) -> None:
    text = f"(x + {number} * y) ^ {exponent} * (x + 1) + {number} * (y * x) + f y"
    expanded = polynomial(tokens_of(text))
    assert expanded is not None
    values = {"x": x, "y": y, "(f y)": 7}
    total = 0
    for monomial, times in expanded.items():
        for factor in monomial:
            times *= values[factor]
        total += times
    assert total == (x + number * y) ** exponent * (x + 1) + number * y * x + 7


@each("text", ["a - b", "a / 2", "(a + b) ^ n", "a ^ 9", "xs ++ ys", "", "(a + b + c) ^ 4 * (d + e + f) ^ 4"])
def test_what_is_no_sum_of_few_products_is_none(text: str) -> None:
    assert polynomial(tokens_of(text)) is None


def test_a_number_is_a_polynomial() -> None:
    assert polynomial(tokens_of("2 * 3 + 0")) == Counter({(): 6})
