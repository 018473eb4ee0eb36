/- 60 exercises as a teacher sets them, 20 easy, 20 middle, 20 hard; written without a look at the steps
or the other sets of exercises. docs/experiments.md says what was proved. -/

/-! Induction on numbers -/

namespace Induction

def ladder : Nat → Nat
  | 0 => 1
  | n + 1 => 2 * ladder n + 1

-- easy
theorem ladder_closed (n : Nat) : ladder n + 1 = 2 ^ (n + 1) := by sorry

-- easy
theorem six_pow_last_digit : ∀ n : Nat, 6 ^ (n + 1) % 10 = 6 := by sorry

-- easy
theorem arithmetic_progression (a : Nat → Nat) (d : Nat) (h : ∀ n, a (n + 1) = a n + d) (n : Nat) :
    a n = a 0 + n * d := by sorry

def oblong : Nat → Nat
  | 0 => 0
  | n + 1 => oblong n + (n + 1) * (n + 2)

-- middle
theorem oblong_closed (n : Nat) : 3 * oblong n = n * (n + 1) * (n + 2) := by sorry

-- middle
theorem grows_step_by_step (f : Nat → Nat) (h : ∀ n, f n < f (n + 1)) : ∀ m n, m < n → f m < f n := by sorry

-- middle
theorem two_powers_recurrence (a : Nat → Nat) (h0 : a 0 = 2) (h1 : a 1 = 5)
    (h : ∀ n, a (n + 2) + 6 * a n = 5 * a (n + 1)) : ∀ n, a n = 2 ^ n + 3 ^ n := by sorry

-- middle
theorem bernoulli (x n : Nat) : 1 + n * x ≤ (1 + x) ^ n := by sorry

def total (f : Nat → Nat) : Nat → Nat
  | 0 => 0
  | n + 1 => total f n + f n

-- hard
theorem total_backwards (f : Nat → Nat) (n : Nat) : total (fun i => f (n - 1 - i)) n = total f n := by sorry

def pick : Nat → Nat → Nat
  | _, 0 => 1
  | 0, _ + 1 => 0
  | n + 1, k + 1 => pick n k + pick n (k + 1)

-- hard
theorem pick_absorb (n k : Nat) : (n + 1) * pick n k = (k + 1) * pick (n + 1) (k + 1) := by sorry

-- hard
theorem odd_part (n : Nat) (hn : 0 < n) : ∃ k m, n = 2 ^ k * (2 * m + 1) := by sorry

end Induction

/-! Divisibility -/

namespace Divisibility

variable {a b c n p : Nat}

-- easy
theorem dvd_quadratic (h : a ∣ b) : a ∣ b * b + c * b := by sorry

-- easy
theorem mod_six_five (h : n % 6 = 5) : n % 3 = 2 ∧ n % 2 = 1 := by sorry

-- easy
theorem gcd_dvd_combination (x y : Nat) : Nat.gcd a b ∣ x * a + y * b := by sorry

-- middle
theorem gcd_of_two_lines (n : Nat) : Nat.gcd (2 * n + 1) (3 * n + 2) = 1 := by sorry

-- middle
theorem two_squares_mod_four (a b : Nat) : (a * a + b * b) % 4 ≠ 3 := by sorry

/-- A prime number has no divisors but one and itself. -/
def IsPrime (p : Nat) : Prop :=
  2 ≤ p ∧ ∀ d, d ∣ p → d = 1 ∨ d = p

-- middle
theorem prime_mod_six (hp : IsPrime p) (h : 3 < p) : p % 6 = 1 ∨ p % 6 = 5 := by sorry

-- hard
theorem exists_prime_divisor : ∀ n : Nat, 2 ≤ n → ∃ p, IsPrime p ∧ p ∣ n := by sorry

-- hard
theorem IsPrime.dvd_or_dvd (hp : IsPrime p) (h : p ∣ a * b) : p ∣ a ∨ p ∣ b := by sorry

-- hard
theorem coprime_product_dvd (hab : Nat.gcd a b = 1) (ha : a ∣ c) (hb : b ∣ c) : a * b ∣ c := by sorry

-- hard
theorem no_square_is_three_squares : ∀ a b : Nat, a * a = 3 * (b * b) → b = 0 := by sorry

end Divisibility

/-! Lists -/

namespace Lists

variable {α β : Type}

-- easy
theorem sum_map_double (l : List Nat) : (l.map (2 * ·)).sum = 2 * l.sum := by sorry

-- easy
theorem filter_twice (p : α → Bool) (l : List α) : (l.filter p).filter p = l.filter p := by sorry

def stutter : List α → List α
  | [] => []
  | x :: l => x :: x :: stutter l

-- easy
theorem length_stutter (l : List α) : (stutter l).length = 2 * l.length := by sorry

-- easy
theorem map_nonempty (f : α → β) (l : List α) (h : l ≠ []) : l.map f ≠ [] := by sorry

def alternate : List α → List α
  | [] => []
  | [x] => [x]
  | x :: _ :: l => x :: alternate l

-- middle
theorem length_alternate : ∀ l : List α, (alternate l).length = (l.length + 1) / 2 := by sorry

def valueAt (k : Nat) : List (Nat × α) → Option α
  | [] => none
  | (j, v) :: l => if j = k then some v else valueAt k l

-- middle
theorem valueAt_none (k : Nat) (l : List (Nat × α)) : valueAt k l = none ↔ ∀ v, (k, v) ∉ l := by sorry

-- middle
theorem filter_split_length (p : α → Bool) (l : List α) :
    (l.filter p).length + (l.filter fun x => !p x).length = l.length := by sorry

def cycle : Nat → List α → List α
  | 0, l => l
  | _ + 1, [] => []
  | n + 1, x :: l => cycle n (l ++ [x])

-- hard
theorem cycle_full (l : List α) : cycle l.length l = l := by sorry

def Ascending : List Nat → Prop
  | [] => True
  | x :: l => (∀ y, y ∈ l → x ≤ y) ∧ Ascending l

def place (x : Nat) : List Nat → List Nat
  | [] => [x]
  | y :: l => if x ≤ y then x :: y :: l else y :: place x l

-- hard
theorem place_ascending (x : Nat) (l : List Nat) (h : Ascending l) : Ascending (place x l) := by sorry

def Distinct : List α → Prop
  | [] => True
  | x :: l => x ∉ l ∧ Distinct l

-- hard
theorem distinct_below_length (n : Nat) (l : List Nat) (hd : Distinct l) (h : ∀ x, x ∈ l → x < n) :
    l.length ≤ n := by sorry

end Lists

/-! Own definitions -/

namespace Own

inductive Season where
  | spring | summer | autumn | winter

def Season.next : Season → Season
  | spring => summer
  | summer => autumn
  | autumn => winter
  | winter => spring

-- easy
theorem Season.next_four (s : Season) : s.next.next.next.next = s := by sorry

structure Block where
  start : Nat
  len : Nat

namespace Block

def stop (b : Block) : Nat := b.start + b.len

def shift (b : Block) (k : Nat) : Block := { b with start := b.start + k }

def Has (b : Block) (n : Nat) : Prop := b.start ≤ n ∧ n < b.stop

-- easy
theorem has_shift (b : Block) (k n : Nat) : (b.shift k).Has (n + k) ↔ b.Has n := by sorry

end Block

inductive Bush (α : Type) where
  | leaf : α → Bush α
  | twig : Bush α → Bush α
  | fork : Bush α → Bush α → Bush α

namespace Bush

variable {α β : Type}

def map (f : α → β) : Bush α → Bush β
  | leaf a => leaf (f a)
  | twig t => twig (map f t)
  | fork s t => fork (map f s) (map f t)

def leaves : Bush α → Nat
  | leaf _ => 1
  | twig t => leaves t
  | fork s t => leaves s + leaves t

def fringe : Bush α → List α
  | leaf a => [a]
  | twig t => fringe t
  | fork s t => fringe s ++ fringe t

def collect : Bush α → List α → List α
  | leaf a, l => a :: l
  | twig t, l => collect t l
  | fork s t, l => collect s (collect t l)

-- easy
theorem leaves_map (f : α → β) (t : Bush α) : leaves (map f t) = leaves t := by sorry

-- middle
theorem collect_eq_fringe (t : Bush α) : collect t [] = fringe t := by sorry

end Bush

inductive Makes : Nat → Prop where
  | one : Makes 1
  | double {n : Nat} : Makes n → Makes (2 * n)
  | three_more {n : Nat} : Makes n → Makes (n + 3)

-- middle
theorem not_makes_thirty : ¬ Makes 30 := by sorry

inductive Walk {α : Type} (r : α → α → Prop) : α → α → Prop where
  | stay (x : α) : Walk r x x
  | step {x y z : α} : r x y → Walk r y z → Walk r x z

-- middle
theorem Walk.back {α : Type} {r : α → α → Prop} (hr : ∀ x y, r x y → r y x) {x y : α} (h : Walk r x y) :
    Walk r y x := by sorry

inductive Formula where
  | lit : Bool → Formula
  | atom : Nat → Formula
  | neg : Formula → Formula
  | conj : Formula → Formula → Formula
  | disj : Formula → Formula → Formula

namespace Formula

def value (v : Nat → Bool) : Formula → Bool
  | lit b => b
  | atom n => v n
  | neg f => !value v f
  | conj f g => value v f && value v g
  | disj f g => value v f || value v g

def push : Bool → Formula → Formula
  | s, lit b => lit (b == s)
  | true, atom n => atom n
  | false, atom n => neg (atom n)
  | s, neg f => push (!s) f
  | true, conj f g => conj (push true f) (push true g)
  | false, conj f g => disj (push false f) (push false g)
  | true, disj f g => disj (push true f) (push true g)
  | false, disj f g => conj (push false f) (push false g)

-- middle
theorem value_push (v : Nat → Bool) (f : Formula) : (push true f).value v = f.value v := by sorry

end Formula

inductive Bracketed : List Bool → Prop where
  | empty : Bracketed []
  | wrap {u v : List Bool} : Bracketed u → Bracketed v → Bracketed (true :: u ++ false :: v)

def descend : Nat → List Bool → Option Nat
  | n, [] => some n
  | n, true :: w => descend (n + 1) w
  | 0, false :: _ => none
  | n + 1, false :: w => descend n w

-- hard
theorem Bracketed.descends {w : List Bool} (h : Bracketed w) : descend 0 w = some 0 := by sorry

inductive Tree where
  | tip : Tree
  | node : Tree → Nat → Tree → Tree

namespace Tree

def Every (p : Nat → Prop) : Tree → Prop
  | tip => True
  | node l k r => Every p l ∧ p k ∧ Every p r

def Search : Tree → Prop
  | tip => True
  | node l k r => Search l ∧ Search r ∧ Every (· < k) l ∧ Every (k < ·) r

def put (x : Nat) : Tree → Tree
  | tip => node tip x tip
  | node l k r => if x < k then node (put x l) k r else if k < x then node l k (put x r) else node l k r

-- hard
theorem search_put (x : Nat) (t : Tree) (ht : Search t) : Search (put x t) := by sorry

end Tree

inductive Op where
  | push : Nat → Op
  | add : Op
  | swap : Op
  | monus : Op

inductive Term where
  | num : Nat → Term
  | plus : Term → Term → Term
  | minus : Term → Term → Term

def Term.value : Term → Nat
  | num n => n
  | plus s t => s.value + t.value
  | minus s t => s.value - t.value

def run : List Op → List Nat → Option (List Nat)
  | [], s => some s
  | Op.push n :: code, s => run code (n :: s)
  | Op.add :: code, a :: b :: s => run code ((a + b) :: s)
  | Op.swap :: code, a :: b :: s => run code (b :: a :: s)
  | Op.monus :: code, a :: b :: s => run code ((a - b) :: s)
  | _, _ => none

def Term.code : Term → List Op
  | num n => [Op.push n]
  | plus s t => s.code ++ t.code ++ [Op.add]
  | minus s t => s.code ++ t.code ++ [Op.swap, Op.monus]

-- hard
theorem run_code (t : Term) : run t.code [] = some [t.value] := by sorry

end Own

/-! Logic -/

namespace Logic

-- easy
theorem cases_apart (p q r : Prop) : (p ∨ q → r) ↔ (p → r) ∧ (q → r) := by sorry

-- easy
theorem counterexample {α : Type} (p q : α → Prop) (h : ∃ x, p x ∧ ¬ q x) : ¬ ∀ x, p x → q x := by sorry

-- easy
theorem bool_one_of_two : ∀ a b : Bool, (a && b) = (a == b) → a = true ∨ b = true := by sorry

def OneToOne {α β : Type} (f : α → β) : Prop := ∀ x y, f x = f y → x = y

def Onto {α β : Type} (f : α → β) : Prop := ∀ y, ∃ x, f x = y

-- easy
theorem OneToOne.of_comp {α β γ : Type} (f : α → β) (g : β → γ) (h : OneToOne (g ∘ f)) : OneToOne f := by sorry

-- middle
theorem peirce_split (p q r : Prop) : ((p → q) → r) ↔ (¬p → r) ∧ (q → r) := by sorry

-- middle
theorem Onto.right_inverse {α β : Type} (f : α → β) (h : Onto f) :
    ∃ g : β → α, OneToOne g ∧ ∀ y, f (g y) = y := by sorry

section Classes

variable {α : Type} (r : α → α → Prop)

-- middle
theorem classes_equal_or_disjoint (symm : ∀ x y, r x y → r y x) (trans : ∀ x y z, r x y → r y z → r x z) (a b : α) :
    (∀ x, r a x ↔ r b x) ∨ ¬ ∃ x, r a x ∧ r b x := by sorry

end Classes

def Image {α β : Type} (f : α → β) (s : α → Prop) : β → Prop := fun y => ∃ x, s x ∧ f x = y

-- hard
theorem image_faithful_iff {α β : Type} (f : α → β) :
    (∀ s t : α → Prop, Image f s = Image f t → s = t) ↔ OneToOne f := by sorry

-- hard
theorem least_fixed_point {α : Type} (F : (α → Prop) → α → Prop)
    (mono : ∀ s t : α → Prop, (∀ x, s x → t x) → ∀ x, F s x → F t x) :
    ∃ s, (∀ x, F s x ↔ s x) ∧ ∀ t : α → Prop, (∀ x, F t x → t x) → ∀ x, s x → t x := by sorry

-- hard
theorem every_map_has_fixed_point {α β : Type} (e : α → α → β) (h : ∀ g : α → β, ∃ a, ∀ x, e a x = g x)
    (t : β → β) : ∃ b, t b = b := by sorry

end Logic

/-! Proofs with an intermediate fact -/

namespace Cuts

-- easy
theorem small_factor (a b : Nat) (h : a * b = 24) (hb : b = 3 ∨ b = 4 ∨ 10 < b) : a ≤ 8 := by sorry

-- easy
theorem additive_zero (f : Nat → Nat) (h : ∀ x y, f (x + y) = f x + f y) : f 0 = 0 := by sorry

-- easy
theorem even_times_odd (m n : Nat) (hm : ∃ k, m = 2 * k) (hn : ∃ k, n = 2 * k + 1) : ∃ k, m * n = 2 * k := by sorry

-- middle
theorem additive_linear (f : Nat → Nat) (h : ∀ x y, f (x + y) = f x + f y) : ∃ c, ∀ n, f n = c * n := by sorry

def sweep : Nat → Nat → Nat
  | 0, acc => acc
  | n + 1, acc => sweep n (acc + 2 * n + 1)

-- middle
theorem sweep_square (n : Nat) : sweep n 0 = n * n := by sorry

-- middle
theorem no_endless_descent : ¬ ∃ f : Nat → Nat, ∀ n, f (n + 1) < f n := by sorry

-- hard
theorem only_identity (f : Nat → Nat) (h : ∀ n, f (f n) < f (n + 1)) : ∀ n, f n = n := by sorry

-- hard
theorem bounded_growth_stops (f : Nat → Nat) (b : Nat) (mono : ∀ n, f n ≤ f (n + 1)) (hb : ∀ n, f n ≤ b) :
    ∃ s, ∀ n, s ≤ n → f n = f s := by sorry

-- hard
theorem two_in_one_box (n : Nat) (f : Nat → Nat) (h : ∀ i, i ≤ n → f i < n) :
    ∃ i j, i < j ∧ j ≤ n ∧ f i = f j := by sorry

def fastPower : Nat → Nat → Nat → Nat
  | 0, _, _ => 1
  | fuel + 1, b, n =>
    if n = 0 then 1
    else if n % 2 = 0 then fastPower fuel (b * b) (n / 2)
    else b * fastPower fuel (b * b) (n / 2)

-- hard
theorem fastPower_eq (b n : Nat) : fastPower n b n = b ^ n := by sorry

end Cuts
