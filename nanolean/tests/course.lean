/-! Exercises of first courses, with proofs in the words of those who set and solve them: Theorem Proving in Lean, Functional
Programming in Lean, the Natural Number Game. Each is Lean 4 without Mathlib. -/

namespace Logic

/-! Logic in the style of TPIL -/
section propositional
variable (p q r : Prop)

-- 1 commutativity
example : p ∧ q ↔ q ∧ p :=
  Iff.intro
    (fun h : p ∧ q => show q ∧ p from ⟨h.right, h.left⟩)
    (fun h : q ∧ p => show p ∧ q from And.intro h.right h.left)

-- 2
example : p ∨ q ↔ q ∨ p := by
  constructor <;> (intro h; cases h with
    | inl hp => exact Or.inr hp
    | inr hq => exact Or.inl hq)

-- 3
example : (p ∨ q) ∨ r ↔ p ∨ (q ∨ r) := by
  apply Iff.intro
  · rintro ((hp | hq) | hr)
    · exact .inl hp
    · exact .inr (.inl hq)
    · exact .inr (.inr hr)
  · rintro (hp | hq | hr)
    · left; left; assumption
    · left; right; assumption
    · right; assumption

-- 4 distributivity
example : p ∧ (q ∨ r) ↔ (p ∧ q) ∨ (p ∧ r) := by
  apply Iff.intro
  . intro h
    cases h.right with
    | inl hq => exact Or.inl ⟨h.left, hq⟩
    | inr hr => exact Or.inr ⟨h.left, hr⟩
  . intro h
    cases h with
    | inl hpq => exact ⟨hpq.left, Or.inl hpq.right⟩
    | inr hpr => exact ⟨hpr.left, Or.inr hpr.right⟩

-- 5
example : (p → (q → r)) ↔ (p ∧ q → r) :=
  ⟨fun h ⟨hp, hq⟩ => h hp hq, fun h hp hq => h ⟨hp, hq⟩⟩

-- 6
example : ¬(p ∨ q) ↔ ¬p ∧ ¬q := by
  constructor
  . intro h
    constructor
    . intro hp
      apply h
      left
      exact hp
    . intro hq
      exact h (Or.inr hq)
  . rintro ⟨hnp, hnq⟩ (hp | hq)
    . contradiction
    . exact absurd hq hnq

-- 7
example : ¬(p ∧ ¬p) := fun h => h.2 h.1

-- 8
example : (¬p ∨ q) → (p → q) := by
  intro h hp
  match h with
  | Or.inl hnp => exact absurd hp hnp
  | Or.inr hq => exact hq

-- 9
example (h : p ∨ False) : p := by simpa using h

end propositional

section classical
open Classical

variable {p q r : Prop}

-- 10
theorem dne {p : Prop} (h : ¬¬p) : p :=
  Or.elim (em p)
    (fun hp : p => hp)
    (fun hnp : ¬p => absurd hnp h)

-- 11
example (h : ¬ (p ∧ q)) : ¬ p ∨ ¬ q := by
  by_cases hp : p
  · right
    intro hq
    exact h ⟨hp, hq⟩
  · left; exact hp

-- 12
example (h : p → q) : ¬p ∨ q := by
  cases em p with
  | inl hp => exact Or.inr (h hp)
  | inr hnp => exact Or.inl hnp

-- 13 Peirce
example : (((p → q) → p) → p) := by
  intro h
  apply byContradiction
  intro hnp
  apply hnp
  exact h (fun hp => absurd hp hnp)
end classical

end Logic

namespace Quantifiers

/-! Quantifiers -/
section
variable (α : Type) (p q : α → Prop) (r : Prop)

-- 14
example : (∀ x, p x ∧ q x) ↔ (∀ x, p x) ∧ (∀ x, q x) :=
  ⟨fun h => ⟨fun x => (h x).left, fun x => (h x).right⟩,
   fun h x => ⟨h.left x, h.right x⟩⟩

-- 15
example : (∃ x : α, r) → r := fun ⟨_, hr⟩ => hr

-- 16
example (a : α) : r → (∃ x : α, r) := fun hr => ⟨a, hr⟩

-- 17
example : (∃ x, p x ∧ r) ↔ (∃ x, p x) ∧ r := by
  constructor
  · intro ⟨w, hp, hr⟩
    exact ⟨⟨w, hp⟩, hr⟩
  · intro ⟨⟨w, hp⟩, hr⟩
    exists w

-- 18
example : (∀ x, p x) → ¬ ∃ x, ¬ p x := by
  intro h ⟨x, hnp⟩
  exact hnp (h x)

-- 19
open Classical in
example (h : ¬ ∀ x, p x) : ∃ x, ¬ p x := by
  apply byContradiction
  intro h1
  apply h
  intro x
  apply byContradiction
  intro h2
  exact h1 ⟨x, h2⟩

-- 20 barber
variable (men : Type) (barber : men) (shaves : men → men → Prop)
example (h : ∀ x : men, shaves barber x ↔ ¬ shaves x x) : False := by
  have hb := h barber
  by_cases hs : shaves barber barber
  · exact hb.mp hs hs
  · exact hs (hb.mpr hs)
end

-- 21 relations
def Reflexive' {α : Type u} (r : α → α → Prop) := ∀ x, r x x
def Symmetric' {α : Type u} (r : α → α → Prop) := ∀ ⦃x y⦄, r x y → r y x
def Transitive' {α : Type u} (r : α → α → Prop) := ∀ {x y z}, r x y → r y z → r x z

theorem euclid {α : Type u} {r : α → α → Prop} (hs : Symmetric' r) (ht : Transitive' r)
    {a b c : α} (hab : r a b) (hac : r a c) : r b c :=
  ht (hs hab) hac

-- 22 Divides
def isEven (a : Nat) := ∃ b, a = 2 * b

theorem even_plus_even (h1 : isEven a) (h2 : isEven b) : isEven (a + b) :=
  match h1, h2 with
  | ⟨w1, hw1⟩, ⟨w2, hw2⟩ => ⟨w1 + w2, by rw [hw1, hw2, Nat.mul_add]⟩

theorem even_plus_even' (h1 : isEven a) (h2 : isEven b) : isEven (a + b) :=
  Exists.elim h1 (fun w1 (hw1 : a = 2 * w1) =>
  Exists.elim h2 (fun w2 (hw2 : b = 2 * w2) =>
    Exists.intro (w1 + w2)
      (calc a + b
        _ = 2 * w1 + 2 * w2 := by rw [hw1, hw2]
        _ = 2 * (w1 + w2)   := by rw [Nat.mul_add])))

-- 23 calc
theorem T1 (a b c d e : Nat) (h1 : a = b) (h2 : b = c + 1) (h3 : c = d) (h4 : e = 1 + d) : a = e :=
  calc
    a = b      := h1
    _ = c + 1  := h2
    _ = d + 1  := congrArg Nat.succ h3
    _ = 1 + d  := Nat.add_comm d 1
    _ = e      := Eq.symm h4

theorem T2 (a b c : Nat) (h1 : a ≤ b) (h2 : b < c) : a < c := by
  calc
    a ≤ b := by assumption
    _ < c := h2

-- 24 unique
theorem uniq (f : Nat → Nat) (h : ∀ x y, f x = f y → x = y) {a b c : Nat} (ha : f a = c) (hb : f b = c) : a = b := by
  have hab : f a = f b := by
    rw [ha, hb]
  exact h a b hab

-- 25 show ... from
example (x y : Nat) (h : x = y) : y = x := by
  show y = x
  exact h ▸ rfl
-- 26
example : ∃ x, x * x = 16 := ⟨4, rfl⟩
example : ∃ x > 3, x < 5 := ⟨4, by decide, by decide⟩
example : ∃ x, x > 0 := by
  have h : 1 > 0 := Nat.zero_lt_succ 0
  exact Exists.intro 1 h
example (x : Nat) (h : x > 0) : ∃ y, y < x :=
  Exists.intro 0 h
example (x y z : Nat) (hxy : x < y) (hyz : y < z) : ∃ w, x < w ∧ w < z :=
  ⟨y, hxy, hyz⟩
-- 27
example (f : Nat → Nat) (h : ∀ x : Nat, f x ≤ f (x + 1)) : f 0 ≥ f 1 → f 0 = f 1 := by
  intro
  apply Nat.le_antisymm
  · show f 0 ≤ f 1
    exact h 0
  · show f 0 ≥ f 1
    assumption
example (f : Nat → Nat) (h : ∀ x : Nat, f x ≤ f (x + 1)) : f 0 ≤ f 3 :=
  have : f 0 ≤ f 1 := h 0
  have : f 0 ≤ f 2 := Nat.le_trans this (h 1)
  show f 0 ≤ f 3 from Nat.le_trans this (h 2)
example (f : Nat → Nat) (h : ∀ x : Nat, f x ≤ f (x + 1)) : f 0 ≥ f 1 → f 1 ≥ f 2 → f 0 = f 2 :=
  fun _ : f 0 ≥ f 1 =>
  fun _ : f 1 ≥ f 2 =>
  have : f 0 ≥ f 2 := Nat.le_trans ‹f 1 ≥ f 2› ‹f 0 ≥ f 1›
  have : f 0 ≤ f 2 := Nat.le_trans (h 0) (h 1)
  show f 0 = f 2 from Nat.le_antisymm this ‹f 0 ≥ f 2›

end Quantifiers

namespace Types

/-! Inductive types -/
-- 28 weekdays
inductive Weekday where
  | sunday | monday | tuesday | wednesday
  | thursday | friday | saturday
  deriving Repr, DecidableEq

namespace Weekday
def next (d : Weekday) : Weekday :=
  match d with
  | sunday    => monday
  | monday    => tuesday
  | tuesday   => wednesday
  | wednesday => thursday
  | thursday  => friday
  | friday    => saturday
  | saturday  => sunday

def previous : Weekday → Weekday
  | monday    => sunday
  | tuesday   => monday
  | wednesday => tuesday
  | thursday  => wednesday
  | friday    => thursday
  | saturday  => friday
  | sunday    => saturday

theorem next_previous (d : Weekday) : next (previous d) = d :=
  match d with
  | sunday    => rfl
  | monday    => rfl
  | tuesday   => rfl
  | wednesday => rfl
  | thursday  => rfl
  | friday    => rfl
  | saturday  => rfl

theorem previous_next (d : Weekday) : previous (next d) = d := by
  cases d <;> rfl

theorem next_ne (d : Weekday) : d.next ≠ d := by
  cases d <;> decide

theorem sunday_ne_monday : sunday ≠ monday := by
  intro h
  cases h

theorem sunday_ne_monday' : sunday ≠ monday := nofun
theorem sunday_ne_monday'' : sunday ≠ monday := by simp
end Weekday

-- 29 own Nat
namespace Hidden
inductive MyNat where
  | zero : MyNat
  | succ : MyNat → MyNat

namespace MyNat
def add (m n : MyNat) : MyNat :=
  match n with
  | MyNat.zero   => m
  | MyNat.succ n => MyNat.succ (add m n)

theorem add_zero (m : MyNat) : add m zero = m := rfl
theorem add_succ (m n : MyNat) : add m (succ n) = succ (add m n) := rfl

theorem zero_add (n : MyNat) : add zero n = n :=
  MyNat.recOn (motive := fun x => add zero x = x)
    n
    (show add zero zero = zero from rfl)
    (fun (n : MyNat) (ih : add zero n = n) =>
      show add zero (succ n) = succ n from
      calc add zero (succ n)
        _ = succ (add zero n) := rfl
        _ = succ n            := by rw [ih])

theorem succ_add (m n : MyNat) : add (succ m) n = succ (add m n) := by
  induction n with
  | zero => rfl
  | succ n ih => rw [add_succ, add_succ, ih]

theorem add_comm (m n : MyNat) : add m n = add n m := by
  induction n with
  | zero => rw [add_zero, zero_add]
  | succ n ih => simp only [add_succ, succ_add, ih]

theorem succ_inj {a b : MyNat} (h : succ a = succ b) : a = b := by
  injection h

theorem zero_ne_succ (n : MyNat) : zero ≠ succ n := by
  intro h
  injection h

def toNat : MyNat → Nat
  | .zero => 0
  | .succ n => n.toNat + 1

theorem toNat_add (a b : MyNat) : (add a b).toNat = a.toNat + b.toNat := by
  induction b with
  | zero => rfl
  | succ b ih =>
    simp [add, toNat, ih, Nat.add_assoc]
end MyNat
end Hidden

-- 30 own lists
inductive MyList (α : Type u) where
  | nil  : MyList α
  | cons : α → MyList α → MyList α
deriving Repr

namespace MyList
variable {α : Type u}

def append (as bs : MyList α) : MyList α :=
  match as with
  | nil => bs
  | cons a as => cons a (append as bs)

theorem nil_append (as : MyList α) : append nil as = as := rfl
theorem cons_append (a : α) (as bs : MyList α) : append (cons a as) bs = cons a (append as bs) := rfl

@[simp] theorem append_nil (as : MyList α) : append as nil = as := by
  induction as with
  | nil => rfl
  | cons a as ih => simp [append, ih]

theorem append_assoc (as bs cs : MyList α) : append (append as bs) cs = append as (append bs cs) := by
  induction as with
  | nil => rfl
  | cons a as ih => rw [cons_append, cons_append, cons_append, ih]

def length : MyList α → Nat
  | nil => 0
  | cons _ t => 1 + length t

theorem length_append (s t : MyList α) : length (append s t) = length s + length t := by
  induction s <;> simp_all [append, length, Nat.add_assoc]

def reverse : MyList α → MyList α
  | nil => nil
  | cons a t => append (reverse t) (cons a nil)

theorem length_reverse (t : MyList α) : length (reverse t) = length t := by
  induction t with
  | nil => rfl
  | cons a t ih =>
    unfold reverse
    rw [length_append, ih]
    simp [length]
    omega
end MyList

-- 31 trees
inductive Tree (α : Type) where
  | leaf : Tree α
  | node (left : Tree α) (value : α) (right : Tree α) : Tree α

namespace Tree
def size {α : Type} : Tree α → Nat
  | leaf => 0
  | node l _ r => l.size + 1 + r.size

def mirror : Tree α → Tree α
  | leaf => leaf
  | node l x r => node r.mirror x l.mirror

def depth : Tree α → Nat
  | .leaf => 0
  | .node l _ r => max l.depth r.depth + 1

def toList : Tree α → List α
  | leaf => []
  | node l x r => l.toList ++ x :: r.toList

theorem size_mirror (t : Tree α) : t.mirror.size = t.size := by
  induction t with
  | leaf => rfl
  | node l x r ihl ihr =>
    simp only [mirror, size, ihl, ihr]
    omega

theorem mirror_mirror : ∀ t : Tree α, t.mirror.mirror = t
  | leaf => rfl
  | node l x r => by rw [mirror, mirror, mirror_mirror l, mirror_mirror r]

theorem depth_le_size (t : Tree α) : t.depth ≤ t.size := by
  induction t with
  | leaf => exact Nat.le_refl _
  | node l x r ihl ihr =>
    simp only [depth, size]
    omega

theorem length_toList (t : Tree α) : t.toList.length = t.size := by
  induction t with
  | leaf => rfl
  | node l x r ihl ihr => simp [toList, size, ihl, ihr]; omega

theorem toList_mirror (t : Tree α) : t.mirror.toList = t.toList.reverse := by
  induction t with
  | leaf => rfl
  | node l x r ihl ihr => simp [mirror, toList, ihl, ihr]
def map (f : α → β) : Tree α → Tree β
  | leaf => leaf
  | node l x r => node (map f l) (f x) (map f r)
theorem map_id (t : Tree α) : t.map id = t := by
  induction t with
  | leaf => rfl
  | node l x r ihl ihr => simp [map, *]
theorem map_comp (f : α → β) (g : β → γ) (t : Tree α) : (t.map f).map g = t.map (g ∘ f) := by
  induction t <;> simp [map, *]
inductive Mem (a : α) : Tree α → Prop
  | root : Mem a (node l a r)
  | left : Mem a l → Mem a (node l x r)
  | right : Mem a r → Mem a (node l x r)
theorem mem_mirror {a : α} {t : Tree α} (h : Mem a t) : Mem a t.mirror := by
  induction h with
  | root => exact Mem.root
  | left _ ih => exact .right ih
  | right _ ih => exact .left ih
end Tree

-- 32 expressions
inductive Expr where
  | const : Nat → Expr
  | var : Nat → Expr
  | plus : Expr → Expr → Expr
  | times : Expr → Expr → Expr
  deriving Repr

open Expr

def eval (v : Nat → Nat) : Expr → Nat
  | const n     => n
  | var n       => v n
  | plus e₁ e₂  => eval v e₁ + eval v e₂
  | times e₁ e₂ => eval v e₁ * eval v e₂

def simpConst : Expr → Expr
  | plus (const n₁) (const n₂)  => const (n₁ + n₂)
  | times (const n₁) (const n₂) => const (n₁ * n₂)
  | e                           => e

def fuse : Expr → Expr
  | plus e₁ e₂  => simpConst (plus (fuse e₁) (fuse e₂))
  | times e₁ e₂ => simpConst (times (fuse e₁) (fuse e₂))
  | e => e

theorem simpConst_eq (v : Nat → Nat)
        : ∀ e : Expr, eval v (simpConst e) = eval v e := by
  intro e
  unfold simpConst
  split <;> rfl

theorem fuse_eq (v : Nat → Nat)
        : ∀ e : Expr, eval v (fuse e) = eval v e := by
  intro e
  induction e with
  | const n => rfl
  | var n => rfl
  | plus a b iha ihb => simp [fuse, simpConst_eq, eval, iha, ihb]
  | times a b iha ihb => simp [fuse, simpConst_eq, eval, iha, ihb]

-- 33 stack machine
inductive Instr where
  | push (n : Nat)
  | add
  | mul

def exec : List Instr → List Nat → List Nat
  | [], s => s
  | .push n :: is, s => exec is (n :: s)
  | .add :: is, a :: b :: s => exec is ((b + a) :: s)
  | .mul :: is, a :: b :: s => exec is ((b * a) :: s)
  | _ :: is, s => exec is s

def compile : Expr → List Instr
  | .const n => [.push n]
  | .var _ => [.push 0]
  | .plus a b => compile a ++ compile b ++ [.add]
  | .times a b => compile a ++ compile b ++ [.mul]

theorem exec_append (is js : List Instr) (s : List Nat) : exec (is ++ js) s = exec js (exec is s) := by
  induction is generalizing s with
  | nil => rfl
  | cons i is ih =>
    cases i with
    | push n => simp [exec, ih]
    | add =>
      match s with
      | [] => simp [exec, ih]
      | [a] => simp [exec, ih]
      | a :: b :: s => simp [exec, ih]
    | mul =>
      rcases s with _ | ⟨a, _ | ⟨b, s⟩⟩ <;> simp [exec, ih]

theorem compile_correct (e : Expr) (s : List Nat) : exec (compile e) s = eval (fun _ => 0) e :: s := by
  induction e generalizing s with
  | const n => rfl
  | var n => rfl
  | plus a b iha ihb => simp [compile, exec_append, iha, ihb, exec, eval]
  | times a b iha ihb => simp [compile, exec_append, iha, ihb, exec, eval]

end Types

namespace Numbers

/-! Natural numbers -/
-- 34
theorem zero_add' (n : Nat) : 0 + n = n := by
  induction n with
  | zero => rfl
  | succ n ih => rw [← Nat.add_assoc, ih]

-- 35
theorem add_right_comm' (a b c : Nat) : a + b + c = a + c + b := by
  rw [Nat.add_assoc, Nat.add_comm b, ← Nat.add_assoc]

-- 36 
theorem two_mul' (n : Nat) : 2 * n = n + n := by
  induction n with
  | zero => rfl
  | succ n ih => omega

-- 37
example (m n k : Nat) : m * n * k = m * k * n := by
  rw [Nat.mul_assoc]
  conv => lhs; rw [Nat.mul_comm n k]
  rw [Nat.mul_assoc]

example (a b : Nat) : a + b = b + a := by
  conv => rhs; rw [Nat.add_comm]

-- 38 fib
def fib : Nat → Nat
  | 0 => 0
  | 1 => 1
  | n + 2 => fib (n + 1) + fib n

example : fib 10 = 55 := rfl
example : fib 10 = 55 := by decide

theorem fib_pos' : ∀ n, 0 < n → 0 < fib n
  | 1, _ => by decide
  | n + 2, _ => by
    have := fib_pos' (n + 1) (by omega)
    simp [fib]
    omega

theorem fib_le (n : Nat) : fib n ≤ 2 ^ n := by
  match n with
  | 0 => decide
  | 1 => decide
  | n + 2 =>
    have h1 := fib_le n
    have h2 := fib_le (n + 1)
    rw [fib, Nat.pow_succ, Nat.pow_succ]
    rw [Nat.pow_succ] at h2
    omega

theorem fib_add (m n : Nat) : fib (m + n + 1) = fib (m + 1) * fib (n + 1) + fib m * fib n := by
  induction n generalizing m with
  | zero => simp [fib]
  | succ n ih =>
    have h := ih (m + 1)
    rw [show m + 1 + n + 1 = m + (n + 1) + 1 by omega] at h
    rw [h]
    simp only [fib, Nat.add_mul, Nat.mul_add]
    omega

theorem fib_two : fib 2 = 1 := by
  simp [fib]

-- 39 factorial
def fact : Nat → Nat
  | 0 => 1
  | n+1 => (n+1) * fact n

@[simp] theorem fact_zero : fact 0 = 1 := rfl
@[simp] theorem fact_succ (n : Nat) : fact (n + 1) = (n + 1) * fact n := rfl

theorem fact_pos (n : Nat) : fact n > 0 := by
  induction n with
  | zero => simp
  | succ n ih => exact Nat.mul_pos (Nat.succ_pos n) ih

theorem dvd_fact {k n : Nat} (hk : 0 < k) (h : k ≤ n) : k ∣ fact n := by
  induction n with
  | zero => omega
  | succ n ih =>
    rcases Nat.lt_or_ge n k with h' | h'
    · have : k = n + 1 := by omega
      subst this
      exact ⟨fact n, rfl⟩
    · exact Nat.dvd_trans (ih h') ⟨n + 1, Nat.mul_comm ..⟩

-- 40 sums
def sumTo (f : Nat → Nat) : Nat → Nat
  | 0 => 0
  | n + 1 => sumTo f n + f n

theorem gauss (n : Nat) : 2 * sumTo (fun i => i) (n + 1) = n * (n + 1) := by
  induction n with
  | zero => rfl
  | succ n ih =>
    rw [sumTo, Nat.mul_add, ih]
    rw [← Nat.add_mul, Nat.mul_comm, Nat.add_comm n 2]

-- 41 parity
def even (n : Nat) : Prop := ∃ k, n = k + k
def odd (n : Nat) : Prop := ∃ k, n = 2 * k + 1

theorem even_or_odd (n : Nat) : even n ∨ odd n := by
  induction n with
  | zero => exact Or.inl ⟨0, rfl⟩
  | succ n ih =>
    obtain ⟨k, hk⟩ | ⟨k, hk⟩ := ih
    · exact Or.inr ⟨k, by omega⟩
    · refine Or.inl ⟨k + 1, ?_⟩
      omega

theorem not_even_and_odd (n : Nat) : ¬ (even n ∧ odd n) := by
  rintro ⟨⟨a, ha⟩, ⟨b, hb⟩⟩
  omega

theorem odd_mul_odd {m n : Nat} : odd m → odd n → odd (m * n) := by
  rintro ⟨a, rfl⟩ ⟨b, rfl⟩
  refine ⟨2 * (a * b) + a + b, ?_⟩
  simp only [Nat.mul_add, Nat.add_mul, Nat.mul_one, Nat.one_mul]
  rw [Nat.mul_assoc, Nat.mul_left_comm a]
  omega

theorem even_sq {n : Nat} (h : even (n * n)) : even n := by
  cases even_or_odd n with
  | inl he => exact he
  | inr ho =>
    exfalso
    apply not_even_and_odd (n * n)
    exact ⟨h, odd_mul_odd ho ho⟩

-- 42 isEven Bool
def evenb : Nat → Bool
  | 0 => true
  | n + 1 => !evenb n

theorem evenb_double (n : Nat) : evenb (2 * n) = true := by
  induction n with
  | zero => rfl
  | succ n ih =>
    show evenb (2 * n + 1 + 1) = true
    simp [evenb, ih]

theorem evenb_iff (n : Nat) : evenb n = true ↔ n % 2 = 0 := by
  induction n with
  | zero => simp [evenb]
  | succ n ih =>
    rw [evenb]
    cases h : evenb n
    · rw [h] at ih
      simp at ih ⊢
      omega
    · simp [h] at ih
      simp
      omega

-- 43 divisibility
theorem dvd_add' {a b c : Nat} (h₁ : a ∣ b) (h₂ : a ∣ c) : a ∣ b + c := by
  obtain ⟨k, rfl⟩ := h₁
  obtain ⟨l, rfl⟩ := h₂
  exact ⟨k + l, (Nat.mul_add a k l).symm⟩

theorem dvd_trans' {a b c : Nat} : a ∣ b → b ∣ c → a ∣ c
  | ⟨k, hk⟩, ⟨l, hl⟩ => ⟨k * l, by rw [hl, hk, Nat.mul_assoc]⟩

example (n : Nat) : 6 ∣ n ↔ 2 ∣ n ∧ 3 ∣ n := by omega
example (n : Nat) (h : n % 4 = 3) : n % 2 = 1 := by omega
example (a b : Nat) (h : a ∣ b) (hb : 0 < b) : a ≤ b := Nat.le_of_dvd hb h
example {a b : Nat} (h : Nat.gcd a b = 1) (n : Nat) (ha : n ∣ a) (hb : n ∣ b) : n = 1 := by
  have := Nat.dvd_gcd ha hb
  rw [h] at this
  exact Nat.eq_one_of_dvd_one this
theorem cop (a b : Nat) (h : Nat.Coprime a b) : Nat.gcd a b = 1 := h

-- 44 strong induction
theorem exists_pow_two (n : Nat) (hn : 0 < n) : ∃ k m, n = 2 ^ k * m ∧ m % 2 = 1 := by
  induction n using Nat.strongRecOn with
  | ind n ih =>
    by_cases h : n % 2 = 1
    · exact ⟨0, n, by simp, h⟩
    · obtain ⟨k, m, hk, hm⟩ := ih (n / 2) (by omega) (by omega)
      refine ⟨k + 1, m, ?_, hm⟩
      rw [Nat.pow_succ, Nat.mul_assoc, Nat.mul_left_comm, ← hk]
      omega

-- 45 le
theorem le_antisymm' {a b : Nat} (h1 : a ≤ b) (h2 : b ≤ a) : a = b := by
  induction h1 with
  | refl => rfl
  | step h ih => exact absurd h2 (Nat.not_le_of_gt (Nat.lt_succ_of_le h))
theorem le_ind {P : Nat → Prop} {m : Nat} (h0 : P m) (hs : ∀ n, m ≤ n → P n → P (n + 1)) : ∀ n, m ≤ n → P n := by
  intro n hmn
  induction hmn with
  | refl => assumption
  | step h ih => exact hs _ h ih

end Numbers

namespace Programs

/-! Lists, options, structures, sets -/
-- 46
def myMap {α β : Type} (f : α → β) : List α → List β
  | [] => []
  | x :: xs => f x :: myMap f xs

theorem myMap_length (f : α → β) (xs : List α) : (myMap f xs).length = xs.length := by
  induction xs with
  | nil => rfl
  | cons x xs ih =>
    rw [myMap]
    rw [List.length_cons, List.length_cons, ih]

theorem myMap_append {α β} (f : α → β) (xs ys : List α) : myMap f (xs ++ ys) = myMap f xs ++ myMap f ys := by
  induction xs with
  | nil => simp [myMap]
  | cons x xs ih => simp [myMap, ih]

-- 47 sum
def mySum : List Nat → Nat
  | [] => 0
  | x :: xs => x + mySum xs

def mySumAcc (acc : Nat) : List Nat → Nat
  | [] => acc
  | x :: xs => mySumAcc (acc + x) xs

theorem mySumAcc_eq (acc : Nat) (xs : List Nat) : mySumAcc acc xs = acc + mySum xs := by
  induction xs generalizing acc with
  | nil => simp [mySumAcc, mySum]
  | cons x xs ih =>
    simp [mySumAcc, mySum]
    rw [ih]
    omega

theorem sum_eq (xs : List Nat) : xs.sum = mySum xs := by
  induction xs with
  | nil => rfl
  | cons x xs ih => simp [mySum, ih]

theorem foldr_sum (xs : List Nat) : xs.foldr (· + ·) 0 = mySum xs := by
  induction xs with
  | nil => rfl
  | cons x xs ih => simp [mySum, ih]

-- 48 all/any
theorem all_append' (p : α → Bool) (xs ys : List α) : (xs ++ ys).all p = (xs.all p && ys.all p) := by
  induction xs with
  | nil => rfl
  | cons x xs ih => simp [ih, Bool.and_assoc]

theorem any_iff (p : α → Bool) (xs : List α) : xs.any p = true ↔ ∃ x, x ∈ xs ∧ p x = true := by
  induction xs with
  | nil => simp
  | cons x xs ih => simp

theorem length_zip' (xs : List α) (ys : List β) : (xs.zip ys).length = min xs.length ys.length := by
  induction xs generalizing ys with
  | nil => simp
  | cons x xs ih =>
    cases ys with
    | nil => simp
    | cons y ys => simp [ih] <;> omega

-- 49 head
def head (l : List α) (h : l ≠ []) : α :=
  match l, h with
  | x :: _, _ => x

def last : (l : List α) → l ≠ [] → α
  | [x], _ => x
  | _ :: y :: ys, _ => last (y :: ys) (by simp)

theorem head_append {l m : List α} (h : l ≠ []) : head (l ++ m) (by simp [h]) = head l h := by
  cases l with
  | nil => contradiction
  | cons x xs => rfl

-- 50 membership with own elements
def elem (a : Nat) : List Nat → Bool
  | [] => false
  | b :: bs => if a == b then true else elem a bs

theorem elem_iff (a : Nat) (l : List Nat) : elem a l = true ↔ a ∈ l := by
  induction l with
  | nil => simp [elem]
  | cons b bs ih =>
    simp only [elem]
    split
    · simp_all
    · simp_all

def count (a : Nat) : List Nat → Nat
  | [] => 0
  | b :: bs => (if a = b then 1 else 0) + count a bs
theorem count_append (a : Nat) (xs ys : List Nat) : count a (xs ++ ys) = count a xs + count a ys := by
  induction xs with
  | nil => simp [count]
  | cons x xs ih =>
    simp only [List.cons_append, count, ih]
    omega

-- 51 insertion sort
def insert' (x : Nat) : List Nat → List Nat
  | [] => [x]
  | y :: ys => if x ≤ y then x :: y :: ys else y :: insert' x ys

def isort : List Nat → List Nat
  | [] => []
  | x :: xs => insert' x (isort xs)

theorem length_insert' (x : Nat) (l : List Nat) : (insert' x l).length = l.length + 1 := by
  induction l with
  | nil => rfl
  | cons y ys ih =>
    by_cases h : x ≤ y
    · simp [insert', h]
    · simp [insert', h, ih]

theorem length_isort (l : List Nat) : (isort l).length = l.length := by
  induction l with
  | nil => rfl
  | cons x xs ih => simp [isort, length_insert', ih]

inductive Sorted : List Nat → Prop
  | nil : Sorted []
  | single : Sorted [x]
  | cons : x ≤ y → Sorted (y :: ys) → Sorted (x :: y :: ys)

theorem sorted_insert (x : Nat) (l : List Nat) (h : Sorted l) : Sorted (insert' x l) := by
  induction h with
  | nil => exact .single
  | @single y =>
    simp only [insert']
    split
    next hxy => exact .cons hxy .single
    next hxy => exact .cons (by omega) .single
  | @cons y z ys hyz hs ih =>
    simp only [insert'] at ih ⊢
    split <;> rename_i hxy
    · exact .cons hxy (.cons hyz hs)
    · split at ih <;> rename_i hxz
      · rw [if_pos hxz]
        exact .cons (by omega) ih
      · rw [if_neg hxz]
        exact .cons hyz ih

example : isort [3, 1, 2] = [1, 2, 3] := by rfl
example : isort [3, 1, 2] = [1, 2, 3] := by decide

-- 52 options
def safeDiv (a b : Nat) : Option Nat :=
  if b = 0 then none else some (a / b)

theorem safeDiv_none (a b : Nat) : safeDiv a b = none ↔ b = 0 := by
  unfold safeDiv
  split
  · simp [*]
  · simp [*]

theorem safeDiv_some (a b : Nat) (h : b ≠ 0) : ∃ c, safeDiv a b = some c :=
  ⟨a / b, by simp [safeDiv, h]⟩

def lookup (k : Nat) : List (Nat × α) → Option α
  | [] => none
  | (k', v) :: rest => if k == k' then some v else lookup k rest

theorem lookup_cons_self (k : Nat) (v : α) (l : List (Nat × α)) : lookup k ((k, v) :: l) = some v := by
  simp [lookup]

theorem option_map_id (o : Option α) : o.map id = o := by
  cases o <;> rfl

theorem bind_assoc' (o : Option α) (f : α → Option β) (g : β → Option γ) :
    (o.bind f).bind g = o.bind (fun x => (f x).bind g) := by
  cases o <;> rfl

theorem bind_some (o : Option α) : o.bind some = o := by
  cases o with
  | none => rfl
  | some x => rfl

theorem map_eq_bind (f : α → β) (o : Option α) : o.map f = o.bind (some ∘ f) := by
  cases o <;> simp

-- 53 structures
structure Point where
  x : Nat
  y : Nat
  deriving Repr, BEq, DecidableEq

namespace Point
def add (p q : Point) : Point :=
  { x := p.x + q.x, y := p.y + q.y }

theorem add_comm (p q : Point) : p.add q = q.add p := by
  simp [add, Nat.add_comm]

theorem add_assoc (p q r : Point) : (p.add q).add r = p.add (q.add r) := by
  cases p; cases q; cases r
  simp [add, Nat.add_assoc]

@[ext] theorem ext' {p q : Point} (hx : p.x = q.x) (hy : p.y = q.y) : p = q := by
  cases p; cases q
  simp at hx hy
  simp [hx, hy]

theorem eta (p : Point) : { x := p.x, y := p.y : Point } = p := rfl
def translate (p : Point) (dx : Nat) : Point := { p with x := p.x + dx }
example (p : Point) : (p.translate 3).y = p.y := rfl
example : (⟨1, 2⟩ : Point) = { x := 1, y := 2 } := rfl
example : Point.mk 1 2 ≠ Point.mk 2 1 := by decide
example : Point.mk 1 2 ≠ ⟨2, 1⟩ := by simp
end Point

-- 54 sets as predicates
def Set (α : Type u) := α → Prop
namespace Set
def mem (s : Set α) (a : α) : Prop := s a
def inter (s t : Set α) : Set α := fun x => s x ∧ t x
def union (s t : Set α) : Set α := fun x => s x ∨ t x
def subset (s t : Set α) : Prop := ∀ x, s x → t x
def compl (s : Set α) : Set α := fun x => ¬ s x
theorem ext {s t : Set α} (h : ∀ x, s x ↔ t x) : s = t :=
  funext fun x => propext (h x)
theorem inter_comm (s t : Set α) : s.inter t = t.inter s := by
  apply ext
  intro x
  exact ⟨fun ⟨a, b⟩ => ⟨b, a⟩, fun ⟨a, b⟩ => ⟨b, a⟩⟩
theorem inter_union (s t u : Set α) : s.inter (t.union u) = (s.inter t).union (s.inter u) := by
  funext x
  apply propext
  unfold inter union
  constructor
  · rintro ⟨hs, ht | hu⟩
    · exact Or.inl ⟨hs, ht⟩
    · exact Or.inr ⟨hs, hu⟩
  · rintro (⟨hs, ht⟩ | ⟨hs, hu⟩)
    · exact ⟨hs, .inl ht⟩
    · exact ⟨hs, .inr hu⟩
theorem subset_inter {s t u : Set α} (h1 : s.subset t) (h2 : s.subset u) : s.subset (t.inter u) :=
  fun x hx => ⟨h1 x hx, h2 x hx⟩
theorem compl_union (s t : Set α) : (s.union t).compl = s.compl.inter t.compl := by
  funext x
  simp [union, compl, inter]
end Set

-- 55 functions
def Injective (f : α → β) : Prop := ∀ ⦃a b⦄, f a = f b → a = b
def Surjective (f : α → β) : Prop := ∀ b, ∃ a, f a = b
theorem inj_comp {f : α → β} {g : β → γ} (hg : Injective g) (hf : Injective f) : Injective (g ∘ f) :=
  fun _ _ h => hf (hg h)
theorem surj_comp {f : α → β} {g : β → γ} (hg : Surjective g) (hf : Surjective f) : Surjective (g ∘ f) := by
  intro c
  obtain ⟨b, rfl⟩ := hg c
  obtain ⟨a, rfl⟩ := hf b
  exact ⟨a, rfl⟩
theorem cantor (f : α → (α → Prop)) : ¬ Surjective f := by
  intro h
  have ⟨a, ha⟩ := h (fun x => ¬ f x x)
  have : f a a ↔ ¬ f a a := by
    constructor
    · intro hf
      rw [ha] at hf
      exact hf
    · intro hf
      rw [ha]
      exact hf
  by_cases hf : f a a
  · exact this.mp hf hf
  · exact hf (this.mpr hf)

-- 56 Bool
theorem and_true_iff (a b : Bool) : (a && b) = true ↔ a = true ∧ b = true := by
  cases a <;> cases b <;> simp
example (b : Bool) : (b == true) = b := by cases b <;> rfl
example (a b : Bool) : (a == b) = true ↔ a = b := by simp
example : ∀ a b : Bool, (a && b) = (b && a) := by decide
def xor' (a b : Bool) : Bool := a != b
example (a : Bool) : xor' a a = false := by cases a <;> rfl
example (a b : Bool) : (if a then b else false) = (a && b) := by cases a <;> simp
example (l : List Nat) : (l == []) = l.isEmpty := by cases l <;> rfl

-- 58
inductive Palindrome : List α → Prop where
  | nil : Palindrome []
  | single : (a : α) → Palindrome [a]
  | sandwich : (a : α) → Palindrome as → Palindrome ([a] ++ as ++ [a])
theorem palindrome_reverse (h : Palindrome as) : Palindrome as.reverse := by
  induction h with
  | nil => exact Palindrome.nil
  | single a => exact Palindrome.single a
  | sandwich a h ih => simp; exact Palindrome.sandwich _ ih
theorem reverse_eq_of_palindrome (h : Palindrome as) : as.reverse = as := by
  induction h with
  | nil => rfl
  | single a => rfl
  | sandwich a h ih => simp [ih]
-- 59
inductive Ev : Nat → Prop
  | zero : Ev 0
  | step : Ev n → Ev (n + 2)
theorem ev_double (n) : Ev (n + n) := by
  induction n with
  | zero => exact Ev.zero
  | succ n ih =>
    rw [show n + 1 + (n + 1) = n + n + 2 by omega]
    exact ih.step
theorem not_ev_one : ¬ Ev 1 := by
  intro h
  cases h
theorem ev_of_ev_add_two (h : Ev (n + 2)) : Ev n := by
  cases h with
  | step h => exact h
theorem ev_iff (n : Nat) : Ev n ↔ ∃ k, n = 2 * k := by
  constructor
  · intro h
    induction h with
    | zero => exact ⟨0, rfl⟩
    | step _ ih =>
      let ⟨k, hk⟩ := ih
      exact ⟨k + 1, by rw [hk, Nat.mul_add]⟩
  · rintro ⟨k, rfl⟩
    induction k with
    | zero => exact .zero
    | succ k ih => exact .step ih
-- 60
inductive Or3 (p q r : Prop) : Prop
  | a (h : p) | b (h : q) | c (h : r)
theorem Or3.rotate : Or3 p q r → Or3 q r p
  | a h => c h
  | b h => a h
  | c h => b h

end Programs
