/-! 36 exercises as of a first course, 12 each easy, middle and hard, on which nothing was trained. They were written
without a look at the steps that states suggest (`nanoproof/policy/step_tactics.py`), before those of
`product_steps.py` and `fact_steps.py`. docs/experiments.md says what was proved. -/

/-! Easy -/

def oddSum : Nat → Nat
  | 0 => 0
  | n + 1 => oddSum n + (2 * n + 1)

theorem v01 (n : Nat) : oddSum n = n * n := by
  sorry

theorem v02 {α : Type} (p q : α → Prop) (h : ∃ x, p x ∧ ¬ q x) : ¬ ∀ x, p x → q x := by
  sorry

theorem v03 (a b : Nat) (ha : 6 ∣ a) (hb : 9 ∣ b) : 3 ∣ a + b := by
  sorry

def twice {α : Type} : List α → List α
  | [] => []
  | x :: l => x :: x :: twice l

theorem v04 {α : Type} (l : List α) : (twice l).length = 2 * l.length := by
  sorry

theorem v05 {α β γ : Type} (f : α → β) (g : β → γ) (hf : ∀ x y, f x = f y → x = y)
    (hg : ∀ x y, g x = g y → x = y) : ∀ x y, g (f x) = g (f y) → x = y := by
  sorry

def absDiff (a b : Nat) : Nat := if a ≤ b then b - a else a - b

theorem v06 (a b : Nat) : absDiff a b = absDiff b a := by
  sorry

inductive Tree (α : Type) where
  | leaf : Tree α
  | node (l : Tree α) (x : α) (r : Tree α) : Tree α

def mirror {α : Type} : Tree α → Tree α
  | Tree.leaf => Tree.leaf
  | Tree.node l x r => Tree.node (mirror r) x (mirror l)

theorem v07 {α : Type} (t : Tree α) : mirror (mirror t) = t := by
  sorry

structure Interval where
  lo : Nat
  hi : Nat

def Interval.width (i : Interval) : Nat := i.hi - i.lo

def Interval.shift (k : Nat) (i : Interval) : Interval := { lo := i.lo + k, hi := i.hi + k }

theorem v08 (k : Nat) (i : Interval) : (Interval.shift k i).width = i.width := by
  sorry

theorem v09 : ∀ m : Nat, ∃ n, m < n ∧ 5 ∣ n := by
  sorry

theorem v10 {α β : Type} (f : α → β) (o : Option α) (h : Option.map f o = none) : o = none := by
  sorry

theorem v11 (f : Nat → Nat) (h : ∀ n, f n ≤ f (n + 1)) (n : Nat) : f 0 ≤ f n := by
  sorry

inductive Path {α : Type} (R : α → α → Prop) : α → α → Prop where
  | refl (a : α) : Path R a a
  | step (a b c : α) (h : R a b) (t : Path R b c) : Path R a c

theorem v12 {α : Type} (R : α → α → Prop) (a b c : α) (h1 : R a b) (h2 : R b c) : Path R a c := by
  sorry

/-! Middle -/

def fib : Nat → Nat
  | 0 => 0
  | 1 => 1
  | n + 2 => fib n + fib (n + 1)

def fibSum : Nat → Nat
  | 0 => 0
  | n + 1 => fibSum n + fib (n + 1)

theorem v13 (n : Nat) : fibSum n + 1 = fib (n + 2) := by
  sorry

theorem v14 (n : Nat) : Nat.gcd n (n + 2) ∣ 2 := by
  sorry

def occ (x : Nat) : List Nat → Nat
  | [] => 0
  | y :: l => if x = y then occ x l + 1 else occ x l

theorem v15 (x : Nat) (l m : List Nat) : occ x (l ++ m) = occ x l + occ x m := by
  sorry

def inorder {α : Type} : Tree α → List α
  | Tree.leaf => []
  | Tree.node l x r => inorder l ++ x :: inorder r

theorem v16 {α : Type} (t : Tree α) : inorder (mirror t) = (inorder t).reverse := by
  sorry

def total : List Nat → Nat
  | [] => 0
  | x :: l => x + total l

theorem v17 (l : List Nat) (a : Nat) : l.foldl (fun s x => s + x) a = a + total l := by
  sorry

inductive Ev : Nat → Prop where
  | zero : Ev 0
  | next (n : Nat) (h : Ev n) : Ev (n + 2)

theorem v18 (m n : Nat) (h : Ev (m + n)) (hn : Ev n) : Ev m := by
  sorry

def place (x : Nat) : List Nat → List Nat
  | [] => [x]
  | y :: l => if x ≤ y then x :: y :: l else y :: place x l

theorem v19 (x z : Nat) (l : List Nat) : z ∈ place x l ↔ z = x ∨ z ∈ l := by
  sorry

theorem v20 (n : Nat) : 7 ∣ 8 ^ n + 6 := by
  sorry

theorem v21 (f : Nat → Nat) (h : ∀ n, f n < f (n + 1)) (a b : Nat) (hab : f a = f b) : ¬ a < b := by
  sorry

theorem v22 {α : Type} : ¬ ∃ f : α → α → Prop, ∀ s : α → Prop, ∃ a, f a = s := by
  sorry

def final {α : Type} : List α → Option α
  | [] => none
  | x :: l => match l with
    | [] => some x
    | y :: m => final (y :: m)

theorem v23 {α : Type} (l : List α) (x : α) : final (l ++ [x]) = some x := by
  sorry

def value : List Bool → Nat
  | [] => 0
  | true :: l => 2 * value l + 1
  | false :: l => 2 * value l

def inc : List Bool → List Bool
  | [] => [true]
  | false :: l => true :: l
  | true :: l => false :: inc l

theorem v24 (l : List Bool) : value (inc l) = value l + 1 := by
  sorry

/-! Hard -/

def fibLoop : Nat → Nat → Nat → Nat
  | 0, a, _ => a
  | n + 1, a, b => fibLoop n b (a + b)

theorem v25 (n : Nat) : fibLoop n 0 1 = fib n := by
  sorry

def isort : List Nat → List Nat
  | [] => []
  | x :: l => place x (isort l)

def Ordered : List Nat → Prop
  | [] => True
  | x :: l => (∀ y, y ∈ l → x ≤ y) ∧ Ordered l

theorem v26 (l : List Nat) : Ordered (isort l) := by
  sorry

theorem v27 (n : Nat) : Nat.gcd (fib n) (fib (n + 1)) = 1 := by
  sorry

def tri : Nat → Nat
  | 0 => 0
  | n + 1 => tri n + (n + 1)

def cubes : Nat → Nat
  | 0 => 0
  | n + 1 => cubes n + (n + 1) * (n + 1) * (n + 1)

theorem v28 (n : Nat) : cubes n = tri n * tri n := by
  sorry

inductive Subseq {α : Type} : List α → List α → Prop where
  | nil : Subseq [] []
  | skip (x : α) (l m : List α) (h : Subseq l m) : Subseq l (x :: m)
  | keep (x : α) (l m : List α) (h : Subseq l m) : Subseq (x :: l) (x :: m)

theorem v29 {α : Type} (l m k : List α) (h1 : Subseq l m) (h2 : Subseq m k) : Subseq l k := by
  sorry

def size {α : Type} : Tree α → Nat
  | Tree.leaf => 0
  | Tree.node l _ r => size l + size r + 1

def height {α : Type} : Tree α → Nat
  | Tree.leaf => 0
  | Tree.node l _ r => max (height l) (height r) + 1

theorem v30 {α : Type} (t : Tree α) : size t < 2 ^ height t := by
  sorry

theorem v31 {α : Type} (R : α → α → Prop) (sym : ∀ a b, R a b → R b a) (a b : α) (h : Path R a b) :
    Path R b a := by
  sorry

theorem v32 : ¬ ∃ f : Nat → Nat, ∀ n, f (n + 1) < f n := by
  sorry

theorem v33 (n : Nat) (h : 0 < n) : ∃ k m, n = 2 ^ k * (2 * m + 1) := by
  sorry

def maxl : List Nat → Nat
  | [] => 0
  | x :: l => if maxl l ≤ x then x else maxl l

theorem v34 (l : List Nat) (h : l ≠ []) : maxl l ∈ l ∧ ∀ x, x ∈ l → x ≤ maxl l := by
  sorry

inductive Perm {α : Type} : List α → List α → Prop where
  | nil : Perm [] []
  | cons (x : α) (l m : List α) (h : Perm l m) : Perm (x :: l) (x :: m)
  | swap (x y : α) (l : List α) : Perm (x :: y :: l) (y :: x :: l)
  | trans (l m k : List α) (h1 : Perm l m) (h2 : Perm m k) : Perm l k

theorem v35 {α : Type} (l m : List α) : Perm (l ++ m) (m ++ l) := by
  sorry

theorem v36 (a b : Nat) (h : 3 ∣ a * a + b * b) : 3 ∣ a := by
  sorry
