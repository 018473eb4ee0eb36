/-! 48 exercises more of the same kinds, 8 each, written without a look at the first ones; no step was made before they
were run. docs/experiments.md says what was proved. -/

def savings : Nat → Nat
  | 0 => 5
  | n + 1 => savings n + 3

theorem savings_eq (n : Nat) : savings n = 3 * n + 5 := by
  sorry

theorem bacteria_pos (pop : Nat → Nat) (start : pop 0 = 1) (grow : ∀ t, pop (t + 1) = pop t + pop t) (t : Nat) :
    0 < pop t := by
  sorry

def hanoi : Nat → Nat
  | 0 => 0
  | n + 1 => hanoi n + 1 + hanoi n

theorem hanoi_moves (n : Nat) : hanoi n + 1 = 2 ^ n := by
  sorry

def repeatFn {α : Type} (f : α → α) : Nat → α → α
  | 0, x => x
  | n + 1, x => repeatFn f n (f x)

theorem repeatFn_add {α : Type} (f : α → α) (m n : Nat) (x : α) :
    repeatFn f (m + n) x = repeatFn f n (repeatFn f m x) := by
  sorry

theorem additive_is_linear (f : Nat → Nat) (hf : ∀ x y, f (x + y) = f x + f y) : ∀ n, f n = n * f 1 := by
  sorry

theorem recurrence_closed (a : Nat → Nat) (h0 : a 0 = 1) (h1 : a 1 = 3)
    (step : ∀ n, a (n + 2) + 2 * a n = 3 * a (n + 1)) (n : Nat) : a n + 1 = 2 ^ (n + 1) := by
  sorry

def binom : Nat → Nat → Nat
  | _, 0 => 1
  | 0, _ + 1 => 0
  | n + 1, k + 1 => binom n k + binom n (k + 1)

theorem binom_eq_zero_of_lt (n k : Nat) (h : n < k) : binom n k = 0 := by
  sorry

theorem strict_below_identity (f : Nat → Nat) (up : ∀ n, f n < f (n + 1)) (below : ∀ n, f n ≤ n) (n : Nat) :
    f n = n := by
  sorry

theorem three_dvd_expr (n : Nat) (h : 3 ∣ n) : 3 ∣ n * n + 6 := by
  sorry

theorem odd_plus_odd (m n : Nat) (hm : m % 2 = 1) (hn : n % 2 = 1) : 2 ∣ m + n := by
  sorry

theorem dvd_combination (a b c : Nat) (hb : a ∣ b) (hc : b ∣ c) : a ∣ 4 * b + 9 * c := by
  sorry

theorem consecutive_product_even (n : Nat) : n * (n + 1) % 2 = 0 := by
  sorry

theorem ten_pow_mod_nine (n : Nat) : 10 ^ n % 9 = 1 := by
  sorry

theorem odd_square_mod_eight (n : Nat) (h : n % 2 = 1) : n * n % 8 = 1 := by
  sorry

theorem coprime_linear (n : Nat) : Nat.gcd (2 * n + 1) (3 * n + 1) = 1 := by
  sorry

theorem seven_dvd_powers (n : Nat) : 7 ∣ 3 ^ (2 * n + 1) + 2 ^ (n + 2) := by
  sorry

def stutter {α : Type} : List α → List α
  | [] => []
  | x :: xs => x :: x :: stutter xs

theorem stutter_length {α : Type} (l : List α) : (stutter l).length = 2 * l.length := by
  sorry

theorem map_append_singleton {α β : Type} (f : α → β) (xs : List α) (a : α) :
    ((xs ++ [a]).map f).length = xs.length + 1 := by
  sorry

def snoc {α : Type} : List α → α → List α
  | [], a => [a]
  | x :: xs, a => x :: snoc xs a

theorem reverse_snoc {α : Type} (l : List α) (a : α) : (snoc l a).reverse = a :: l.reverse := by
  sorry

theorem filter_after_filter {α : Type} (p q : α → Bool) (l : List α) :
    (l.filter p).filter q = l.filter (fun x => p x && q x) := by
  sorry

def every {α : Type} (p : α → Bool) : List α → Bool
  | [] => true
  | x :: xs => p x && every p xs

theorem every_iff {α : Type} (p : α → Bool) (l : List α) : every p l = true ↔ ∀ x, x ∈ l → p x = true := by
  sorry

def zipAdd : List Nat → List Nat → List Nat
  | x :: xs, y :: ys => (x + y) :: zipAdd xs ys
  | _, _ => []

theorem zipAdd_comm (xs ys : List Nat) : zipAdd xs ys = zipAdd ys xs := by
  sorry

def insertSorted (x : Nat) : List Nat → List Nat
  | [] => [x]
  | y :: ys => if x ≤ y then x :: y :: ys else y :: insertSorted x ys

theorem mem_insertSorted (x z : Nat) (l : List Nat) : z ∈ insertSorted x l ↔ z = x ∨ z ∈ l := by
  sorry

def StartsWith {α : Type} (m l : List α) : Prop := ∃ t, m = l ++ t

theorem startsWith_antisymm {α : Type} (l m : List α) (h1 : StartsWith m l) (h2 : StartsWith l m) : l = m := by
  sorry

def PerfectSquare (n : Nat) : Prop := ∃ r, n = r * r

theorem perfectSquare_mul (m n : Nat) (hm : PerfectSquare m) (hn : PerfectSquare n) : PerfectSquare (m * n) := by
  sorry

structure Rect where
  width : Nat
  height : Nat

def Rect.area (r : Rect) : Nat := r.width * r.height

def Rect.turn (r : Rect) : Rect := { width := r.height, height := r.width }

theorem area_turn (r : Rect) : r.turn.area = r.area := by
  sorry

inductive BTree where
  | leaf : BTree
  | fork (l r : BTree) : BTree

def BTree.leaves : BTree → Nat
  | .leaf => 1
  | .fork l r => l.leaves + r.leaves

def BTree.forks : BTree → Nat
  | .leaf => 0
  | .fork l r => l.forks + r.forks + 1

theorem leaves_forks (t : BTree) : t.leaves = t.forks + 1 := by
  sorry

inductive Reachable : Nat → Prop where
  | four : Reachable 4
  | triple (n : Nat) (h : Reachable n) : Reachable (3 * n)
  | sum (m n : Nat) (hm : Reachable m) (hn : Reachable n) : Reachable (m + n)

theorem reachable_multiple_of_four (n : Nat) (h : Reachable n) : ∃ k, n = 4 * k := by
  sorry

def andThen {α β : Type} (o : Option α) (f : α → Option β) : Option β :=
  match o with
  | none => none
  | some a => f a

theorem andThen_eq_some {α β : Type} (o : Option α) (f : α → Option β) (b : β) :
    andThen o f = some b ↔ ∃ a, o = some a ∧ f a = some b := by
  sorry

inductive Term where
  | const (n : Nat) : Term
  | var (i : Nat) : Term
  | plus (a b : Term) : Term

def Term.eval (env : Nat → Nat) : Term → Nat
  | .const n => n
  | .var i => env i
  | .plus a b => a.eval env + b.eval env

def addFolding : Term → Term → Term
  | .const m, .const n => .const (m + n)
  | a, b => .plus a b

def Term.fold : Term → Term
  | .const n => .const n
  | .var i => .var i
  | .plus a b => addFolding a.fold b.fold

theorem fold_sound (env : Nat → Nat) (t : Term) : t.fold.eval env = t.eval env := by
  sorry

inductive Path {α : Type} (edge : α → α → Prop) : α → α → Prop where
  | stay (a : α) : Path edge a a
  | walk (a b c : α) (first : edge a b) (rest : Path edge b c) : Path edge a c

theorem path_reversible {α : Type} (edge : α → α → Prop) (sym : ∀ x y, edge x y → edge y x) (a b : α)
    (h : Path edge a b) : Path edge b a := by
  sorry

inductive Bush where
  | tip : Bush
  | node (l : Bush) (label : Nat) (r : Bush) : Bush

def Bush.size : Bush → Nat
  | .tip => 0
  | .node l _ r => l.size + 1 + r.size

def Bush.height : Bush → Nat
  | .tip => 0
  | .node l _ r => max l.height r.height + 1

theorem size_lt_two_pow_height (t : Bush) : t.size < 2 ^ t.height := by
  sorry

theorem exists_and_split {α : Type} (p q : α → Prop) (h : ∃ x, p x ∧ q x) : (∃ x, p x) ∧ (∃ x, q x) := by
  sorry

theorem currying (p q r : Prop) : (p ∧ q → r) ↔ (p → q → r) := by
  sorry

theorem inj_of_comp_inj_of_surj {α β γ : Type} (f : α → β) (g : β → γ)
    (inj : ∀ x y, g (f x) = g (f y) → x = y) (surj : ∀ b, ∃ a, f a = b) :
    ∀ u v, g u = g v → u = v := by
  sorry

theorem reflexive_of_serial {α : Type} (R : α → α → Prop) (sym : ∀ x y, R x y → R y x)
    (trans : ∀ x y z, R x y → R y z → R x z) (serial : ∀ x, ∃ y, R x y) : ∀ x, R x x := by
  sorry

theorem related_iff_same_class {α : Type} (R : α → α → Prop) (refl : ∀ x, R x x) (sym : ∀ x y, R x y → R y x)
    (trans : ∀ x y z, R x y → R y z → R x z) (x y : α) : R x y ↔ ∀ z, R x z ↔ R y z := by
  sorry

theorem drinker {α : Type} (somebody : α) (drinks : α → Prop) : ∃ x, drinks x → ∀ y, drinks y := by
  sorry

theorem no_listing_of_predicates {α : Type} (f : α → α → Prop) : ¬ ∀ p : α → Prop, ∃ a, ∀ x, f a x ↔ p x := by
  sorry

theorem galois_three {α β : Type} (le : α → α → Prop) (le' : β → β → Prop) (f : α → β) (g : β → α)
    (refl : ∀ x, le x x) (refl' : ∀ y, le' y y) (trans : ∀ x y z, le x y → le y z → le x z)
    (adj : ∀ x y, le' (f x) y ↔ le x (g y)) (x : α) : le' (f (g (f x))) (f x) ∧ le' (f x) (f (g (f x))) := by
  sorry

theorem three_steps_up (f : Nat → Nat) (h : ∀ n, f n + 2 ≤ f (n + 1)) : f 4 + 6 ≤ f 7 := by
  sorry

theorem one_witness_three_facts {α : Type} (p q r : α → Prop) (hex : ∃ x, p x) (hq : ∀ x, p x → q x)
    (hr : ∀ x, p x → q x → r x) : ∃ x, q x ∧ r x := by
  sorry

def factorial : Nat → Nat
  | 0 => 1
  | n + 1 => (n + 1) * factorial n

def factLoop : Nat → Nat → Nat
  | 0, acc => acc
  | n + 1, acc => factLoop n ((n + 1) * acc)

theorem factLoop_correct (n : Nat) : factLoop n 1 = factorial n := by
  sorry

theorem even_of_square (n m : Nat) (h : n * n = 2 * m) : ∃ k, n = 2 * k := by
  sorry

inductive Rope where
  | piece (n : Nat) : Rope
  | cat (a b : Rope) : Rope

def Rope.toList : Rope → List Nat
  | .piece n => [n]
  | .cat a b => a.toList ++ b.toList

def Rope.push : Rope → List Nat → List Nat
  | .piece n, acc => n :: acc
  | .cat a b, acc => a.push (b.push acc)

theorem rope_push_nil (r : Rope) : r.push [] = r.toList := by
  sorry

theorem stamps (n : Nat) : ∃ a b, n + 8 = 3 * a + 5 * b := by
  sorry

theorem power_of_two_times_odd (n : Nat) (pos : 0 < n) : ∃ k m, m % 2 = 1 ∧ n = 2 ^ k * m := by
  sorry

theorem common_period (f g : Nat → Nat) (hf : ∃ d, 0 < d ∧ ∀ n, f (n + d) = f n)
    (hg : ∃ d, 0 < d ∧ ∀ n, g (n + d) = g n) : ∃ d, 0 < d ∧ ∀ n, f (n + d) + g (n + d) = f n + g n := by
  sorry
