/-! 90 exercises as a course of first steps sets them, 15 each about inductions, divisibility, lists, own definitions,
logic and cuts, a third of each easy, middle and hard; written without a look at the steps that states suggest
(`nanoproof/policy/step_tactics.py`). Some steps were then made for those that were open. docs/experiments.md says what
was proved. -/

-- Topic 1: induction on natural numbers

-- easy
def triangle : Nat → Nat
  | 0 => 0
  | n + 1 => triangle n + (n + 1)

theorem two_mul_triangle (n : Nat) : 2 * triangle n = n * (n + 1) := by
  sorry

def twice : Nat → Nat
  | 0 => 0
  | n + 1 => twice n + 2

theorem twice_eq_add_self (n : Nat) : twice n = n + n := by
  sorry

theorem constant_of_step (f : Nat → Nat) (h0 : f 0 = 7) (hs : ∀ n, f (n + 1) = f n) :
    ∀ n, f n = 7 := by
  sorry

def power (b : Nat) : Nat → Nat
  | 0 => 1
  | n + 1 => power b n * b

theorem one_power (n : Nat) : power 1 n = 1 := by
  sorry

def fac : Nat → Nat
  | 0 => 1
  | n + 1 => (n + 1) * fac n

theorem fac_pos (n : Nat) : 0 < fac n := by
  sorry

-- middle
theorem power_add (b m n : Nat) : power b (m + n) = power b m * power b n := by
  sorry

def oddSum : Nat → Nat
  | 0 => 0
  | n + 1 => oddSum n + (2 * n + 1)

theorem oddSum_eq_square (n : Nat) : oddSum n = n * n := by
  sorry

theorem doubling_sum (f : Nat → Nat) (h0 : f 0 = 1) (hs : ∀ n, f (n + 1) = f n + 2 ^ (n + 1))
    (n : Nat) : f n + 1 = 2 ^ (n + 1) := by
  sorry

def plus : Nat → Nat → Nat
  | 0, m => m
  | n + 1, m => plus n m + 1

theorem plus_comm (n m : Nat) : plus n m = plus m n := by
  sorry

theorem monotone_of_step (f : Nat → Nat) (step : ∀ n, f n ≤ f (n + 1)) (m n : Nat) (h : m ≤ n) :
    f m ≤ f n := by
  sorry

-- hard
def fibo : Nat → Nat
  | 0 => 0
  | 1 => 1
  | n + 2 => fibo (n + 1) + fibo n

theorem fibo_lt_two_pow (n : Nat) : fibo n < 2 ^ n := by
  sorry

theorem fibo_add (m n : Nat) :
    fibo (m + n + 1) = fibo (m + 1) * fibo (n + 1) + fibo m * fibo n := by
  sorry

def sumCubes : Nat → Nat
  | 0 => 0
  | n + 1 => sumCubes n + (n + 1) ^ 3

theorem four_mul_sumCubes (n : Nat) : 4 * sumCubes n = (n * (n + 1)) ^ 2 := by
  sorry

theorem two_pow_lt_fac (n : Nat) (h : 4 ≤ n) : 2 ^ n < fac n := by
  sorry

theorem ackermann_gt (A : Nat → Nat → Nat) (h0 : ∀ n, A 0 n = n + 1)
    (h1 : ∀ m, A (m + 1) 0 = A m 1) (h2 : ∀ m n, A (m + 1) (n + 1) = A m (A (m + 1) n))
    (m n : Nat) : n < A m n := by
  sorry

-- Topic 2: divisibility, remainders, gcd and parity

-- easy
theorem dvd_mul_of_dvd (a b c : Nat) (h : a ∣ b) : a ∣ b * c := by
  sorry

theorem three_dvd_of_six_dvd (n : Nat) (h : 6 ∣ n) : 3 ∣ n := by
  sorry

def IsEven (n : Nat) : Prop := ∃ k, n = k + k

theorem IsEven.plus {m n : Nat} (hm : IsEven m) (hn : IsEven n) : IsEven (m + n) := by
  sorry

theorem mod_two_cases (n : Nat) (h : n % 2 ≠ 1) : (n + 1) % 2 = 1 := by
  sorry

theorem one_of_dvd_consecutive (d n : Nat) (h1 : d ∣ n) (h2 : d ∣ n + 1) : d = 1 := by
  sorry

-- middle
def IsOdd (n : Nat) : Prop := ∃ k, n = 2 * k + 1

theorem IsOdd.times {m n : Nat} (hm : IsOdd m) (hn : IsOdd n) : IsOdd (m * n) := by
  sorry

theorem even_or_odd (n : Nat) : IsEven n ∨ IsOdd n := by
  sorry

theorem pow_congr (a b n k : Nat) (h : a % n = b % n) : a ^ k % n = b ^ k % n := by
  sorry

theorem gcd_consecutive (n : Nat) : Nat.gcd n (n + 1) = 1 := by
  sorry

theorem dvd_antisymm' (a b : Nat) (hab : a ∣ b) (hba : b ∣ a) : a = b := by
  sorry

-- hard
theorem three_dvd_cube_add (n : Nat) : 3 ∣ n ^ 3 + 2 * n := by
  sorry

theorem seven_dvd_pow_eight (n : Nat) : ∃ k, 8 ^ n = 7 * k + 1 := by
  sorry

theorem square_mod_four (n : Nat) : n * n % 4 = 0 ∨ n * n % 4 = 1 := by
  sorry

theorem odd_square (n : Nat) (h : n % 2 = 1) : 8 ∣ n * n - 1 := by
  sorry

theorem three_dvd_mul (a b : Nat) (h : 3 ∣ a * b) : 3 ∣ a ∨ 3 ∣ b := by
  sorry

-- Topic 3: lists

-- easy
def total : List Nat → Nat
  | [] => 0
  | x :: xs => x + total xs

theorem total_append (xs ys : List Nat) : total (xs ++ ys) = total xs + total ys := by
  sorry

theorem map_map_own (f : α → β) (g : β → γ) (xs : List α) :
    (xs.map f).map g = xs.map (fun x => g (f x)) := by
  sorry

def len : List α → Nat
  | [] => 0
  | _ :: xs => len xs + 1

theorem len_eq_length (xs : List α) : len xs = xs.length := by
  sorry

theorem mem_append_of_left (a : α) (xs ys : List α) (h : a ∈ xs) : a ∈ xs ++ ys := by
  sorry

theorem eq_nil_of_append_eq_nil (xs ys : List α) (h : xs ++ ys = []) : xs = [] ∧ ys = [] := by
  sorry

-- middle
def firstN : Nat → List α → List α
  | 0, _ => []
  | _ + 1, [] => []
  | n + 1, x :: xs => x :: firstN n xs

def skipN : Nat → List α → List α
  | 0, xs => xs
  | _ + 1, [] => []
  | n + 1, _ :: xs => skipN n xs

theorem firstN_append_skipN (n : Nat) (xs : List α) : firstN n xs ++ skipN n xs = xs := by
  sorry

theorem filter_length_le (p : Nat → Bool) (xs : List Nat) : (xs.filter p).length ≤ xs.length := by
  sorry

theorem foldr_cons_eq (xs ys : List α) : xs.foldr List.cons ys = xs ++ ys := by
  sorry

theorem mem_map_own (f : Nat → Nat) (xs : List Nat) (b : Nat) :
    b ∈ xs.map f ↔ ∃ a, a ∈ xs ∧ f a = b := by
  sorry

def stutter : List α → List α
  | [] => []
  | x :: xs => x :: x :: stutter xs

theorem stutter_append (xs ys : List α) : stutter (xs ++ ys) = stutter xs ++ stutter ys := by
  sorry

-- hard
def snoc (xs : List α) (a : α) : List α :=
  match xs with
  | [] => [a]
  | x :: xs => x :: snoc xs a

def rev : List α → List α
  | [] => []
  | x :: xs => snoc (rev xs) x

theorem rev_rev (xs : List α) : rev (rev xs) = xs := by
  sorry

def interleave : List α → List α → List α
  | [], ys => ys
  | x :: xs, [] => x :: xs
  | x :: xs, y :: ys => x :: y :: interleave xs ys

theorem length_interleave (xs ys : List α) :
    (interleave xs ys).length = xs.length + ys.length := by
  sorry

theorem append_cancel_right (xs ys zs : List α) (h : xs ++ zs = ys ++ zs) : xs = ys := by
  sorry

def prefixOf : List α → List α → Prop
  | [], _ => True
  | _ :: _, [] => False
  | x :: xs, y :: ys => x = y ∧ prefixOf xs ys

theorem prefixOf_iff (xs ys : List α) : prefixOf xs ys ↔ ∃ zs, xs ++ zs = ys := by
  sorry

def count (a : Nat) : List Nat → Nat
  | [] => 0
  | x :: xs => if x = a then count a xs + 1 else count a xs

theorem count_pos_iff_mem (a : Nat) (xs : List Nat) : 0 < count a xs ↔ a ∈ xs := by
  sorry

-- Topic 4: own definitions

-- easy
inductive BinTree (α : Type) where
  | leaf : BinTree α
  | node (l : BinTree α) (x : α) (r : BinTree α) : BinTree α

namespace BinTree

def mirror : BinTree α → BinTree α
  | leaf => leaf
  | node l x r => node r.mirror x l.mirror

theorem mirror_mirror (t : BinTree α) : t.mirror.mirror = t := by
  sorry

end BinTree

inductive Light where
  | red
  | amber
  | green

def Light.next : Light → Light
  | red => green
  | green => amber
  | amber => red

theorem Light.next_cycle (c : Light) : c.next.next.next = c := by
  sorry

structure Vec where
  x : Nat
  y : Nat

def Vec.add (u v : Vec) : Vec := ⟨u.x + v.x, u.y + v.y⟩

theorem Vec.add_comm (u v : Vec) : u.add v = v.add u := by
  sorry

def safePred : Nat → Option Nat
  | 0 => none
  | n + 1 => some n

theorem safePred_eq_some (n m : Nat) (h : safePred n = some m) : n = m + 1 := by
  sorry

def implb (a b : Bool) : Bool :=
  match a with
  | true => b
  | false => true

theorem implb_trans (a b c : Bool) (h1 : implb a b = true) (h2 : implb b c = true) :
    implb a c = true := by
  sorry

-- middle
namespace BinTree

def size : BinTree α → Nat
  | leaf => 0
  | node l _ r => l.size + r.size + 1

def toList : BinTree α → List α
  | leaf => []
  | node l x r => l.toList ++ x :: r.toList

theorem toList_mirror (t : BinTree α) : t.mirror.toList = t.toList.reverse := by
  sorry

def depth : BinTree α → Nat
  | leaf => 0
  | node l _ r => max l.depth r.depth + 1

theorem depth_le_size (t : BinTree α) : t.depth ≤ t.size := by
  sorry

end BinTree

inductive Ev : Nat → Prop where
  | zero : Ev 0
  | add_two {n : Nat} (h : Ev n) : Ev (n + 2)

theorem Ev.iff_double (n : Nat) : Ev n ↔ ∃ k, n = 2 * k := by
  sorry

structure Grp (α : Type) where
  op : α → α → α
  one : α
  inv : α → α
  assoc : ∀ a b c, op (op a b) c = op a (op b c)
  one_op : ∀ a, op one a = a
  inv_op : ∀ a, op (inv a) a = one

theorem Grp.cancel_left (G : Grp α) (a b c : α) (h : G.op a b = G.op a c) : b = c := by
  sorry

inductive Bin where
  | nil
  | b0 (n : Bin)
  | b1 (n : Bin)

def Bin.toNat : Bin → Nat
  | nil => 0
  | b0 n => 2 * n.toNat
  | b1 n => 2 * n.toNat + 1

def Bin.incr : Bin → Bin
  | nil => b1 nil
  | b0 n => b1 n
  | b1 n => b0 n.incr

theorem Bin.toNat_incr (b : Bin) : b.incr.toNat = b.toNat + 1 := by
  sorry

-- hard
inductive Expr where
  | num (n : Nat)
  | plus (a b : Expr)
  | times (a b : Expr)

def Expr.eval : Expr → Nat
  | num n => n
  | plus a b => a.eval + b.eval
  | times a b => a.eval * b.eval

inductive Instr where
  | push (n : Nat)
  | add
  | mul

def exec : List Instr → List Nat → List Nat
  | [], st => st
  | .push n :: is, st => exec is (n :: st)
  | .add :: is, x :: y :: st => exec is ((y + x) :: st)
  | .mul :: is, x :: y :: st => exec is ((y * x) :: st)
  | _ :: is, st => exec is st

def Expr.compile : Expr → List Instr
  | num n => [.push n]
  | plus a b => a.compile ++ b.compile ++ [.add]
  | times a b => a.compile ++ b.compile ++ [.mul]

theorem Expr.exec_compile (e : Expr) : exec e.compile [] = [e.eval] := by
  sorry

def Expr.plus' : Expr → Expr → Expr
  | num 0, b => b
  | a, b => plus a b

def Expr.fold : Expr → Expr
  | num n => num n
  | plus a b => plus' a.fold b.fold
  | times a b => times a.fold b.fold

theorem Expr.eval_fold (e : Expr) : e.fold.eval = e.eval := by
  sorry

inductive Star (R : α → α → Prop) : α → α → Prop where
  | refl (x : α) : Star R x x
  | head {x y z : α} (h : R x y) (hs : Star R y z) : Star R x z

theorem Star.symm_of_symm {R : α → α → Prop} (hR : ∀ x y, R x y → R y x) {x y : α}
    (h : Star R x y) : Star R y x := by
  sorry

theorem Grp.op_inv (G : Grp α) (a : α) : G.op a (G.inv a) = G.one := by
  sorry

inductive Ordered : List Nat → Prop where
  | nil : Ordered []
  | one (x : Nat) : Ordered [x]
  | cons {x y : Nat} {l : List Nat} (h : x ≤ y) (hl : Ordered (y :: l)) : Ordered (x :: y :: l)

def insertInto (a : Nat) : List Nat → List Nat
  | [] => [a]
  | x :: l => if a ≤ x then a :: x :: l else x :: insertInto a l

theorem Ordered.inserted (a : Nat) (l : List Nat) (h : Ordered l) : Ordered (insertInto a l) := by
  sorry

-- Topic 5: logic

-- easy
theorem exists_or_distrib (p q : α → Prop) :
    (∃ x, p x ∨ q x) ↔ (∃ x, p x) ∨ (∃ x, q x) := by
  sorry

theorem contrapose_imp (p q r : Prop) (h : p ∧ q → r) (hq : q) : ¬ r → ¬ p := by
  sorry

theorem swap_quantifiers (R : α → β → Prop) (h : ∃ x, ∀ y, R x y) : ∀ y, ∃ x, R x y := by
  sorry

theorem and_or_cases (p q r : Prop) : p ∧ (q ∨ r) ↔ (p ∧ q) ∨ (p ∧ r) := by
  sorry

def Injective (f : α → β) : Prop := ∀ x y, f x = f y → x = y

theorem Injective.comp {f : α → β} {g : β → γ} (hg : Injective g) (hf : Injective f) :
    Injective (fun x => g (f x)) := by
  sorry

-- middle
theorem exists_not_of_not_forall (p : α → Prop) (h : ¬ ∀ x, p x) : ∃ x, ¬ p x := by
  sorry

theorem peirce_law (p q : Prop) : ((p → q) → p) → p := by
  sorry

theorem refl_of_symm_trans (R : α → α → Prop) (symm : ∀ x y, R x y → R y x)
    (trans : ∀ x y z, R x y → R y z → R x z) (serial : ∀ x, ∃ y, R x y) : ∀ x, R x x := by
  sorry

theorem imp_or_classical (p q r : Prop) (h : p → q ∨ r) : (p → q) ∨ (p → r) := by
  sorry

theorem classes_equal (R : α → α → Prop) (symm : ∀ {x y}, R x y → R y x)
    (trans : ∀ {x y z}, R x y → R y z → R x z) (a b : α) (h : ∃ c, R a c ∧ R b c) (d : α) :
    R a d ↔ R b d := by
  sorry

-- hard
theorem drinker (a : α) (drinks : α → Prop) : ∃ x, drinks x → ∀ y, drinks y := by
  sorry

theorem cantor (f : α → α → Prop) : ¬ ∀ s : α → Prop, ∃ a, f a = s := by
  sorry

theorem right_inverse_of_surjective (f : α → β) (hf : ∀ y, ∃ x, f x = y) :
    ∃ g : β → α, (∀ y, f (g y) = y) ∧ ∀ y z, g y = g z → y = z := by
  sorry

theorem bool_three_times (f : Bool → Bool) (b : Bool) : f (f (f b)) = f b := by
  sorry

theorem galois_idempotent (le : α → α → Prop) (f g : α → α)
    (refl : ∀ x, le x x) (trans : ∀ x y z, le x y → le y z → le x z)
    (antisymm : ∀ x y, le x y → le y x → x = y)
    (gc : ∀ x y, le (f x) y ↔ le x (g y)) (x : α) : f (g (f x)) = f x := by
  sorry

-- Topic 6: cuts

-- easy
theorem witness_twice (n : Nat) (h : ∃ k, n = 3 * k) :
    (∃ l, 2 * n = 3 * l) ∧ ∃ m, n * n = 3 * m := by
  sorry

theorem involution_cancel (f : α → α) (hf : ∀ x, f (f x) = x) (a b : α) (h : f a = f b) :
    a = b := by
  sorry

theorem two_rounds (f : Nat → Nat) (mono : ∀ a b, a ≤ b → f a ≤ f b) (up : ∀ a, a ≤ f a) (a : Nat) :
    a ≤ f (f a) := by
  sorry

theorem exists_common_bound (a b c : Nat) : ∃ m, a ≤ m ∧ b ≤ m ∧ c ≤ m := by
  sorry

theorem unit_unique (op : α → α → α) (e e' : α) (left_unit : ∀ x, op e x = x)
    (right_unit : ∀ x, op x e' = x) (x : α) : op x e = x := by
  sorry

-- middle
theorem stamps (n : Nat) : ∃ a b, n + 8 = 3 * a + 5 * b := by
  sorry

def sumAcc : List Nat → Nat → Nat
  | [], acc => acc
  | x :: xs, acc => sumAcc xs (acc + x)

theorem sumAcc_append (xs ys : List Nat) : sumAcc (xs ++ ys) 0 = sumAcc xs 0 + sumAcc ys 0 := by
  sorry

def facLoop : Nat → Nat → Nat
  | 0, acc => acc
  | n + 1, acc => facLoop n ((n + 1) * acc)

def factorial : Nat → Nat
  | 0 => 1
  | n + 1 => (n + 1) * factorial n

theorem facLoop_eq (n : Nat) : facLoop n 1 = factorial n := by
  sorry

theorem halving_induction (p : Nat → Prop) (h0 : p 0) (he : ∀ n, p n → p (2 * n))
    (ho : ∀ n, p n → p (2 * n + 1)) (n : Nat) : p n := by
  sorry

theorem no_endless_descent (f : Nat → Nat) : ¬ ∀ n, f (n + 1) < f n := by
  sorry

-- hard
theorem least_number (p : Nat → Prop) (n : Nat) (hn : p n) : ∃ m, p m ∧ ∀ k, p k → m ≤ k := by
  sorry

def IsPrime (p : Nat) : Prop := 2 ≤ p ∧ ∀ d, d ∣ p → d = 1 ∨ d = p

theorem exists_prime_divisor (n : Nat) (hn : 2 ≤ n) : ∃ p, IsPrime p ∧ p ∣ n := by
  sorry

theorem no_sqrt_two (a b : Nat) (h : a * a = 2 * (b * b)) : a = 0 := by
  sorry

def iter (f : α → α) : Nat → α → α
  | 0, x => x
  | n + 1, x => f (iter f n x)

theorem iter_mul_fixed (f : α → α) (n : Nat) (x : α) (h : iter f n x = x) (k : Nat) :
    iter f (k * n) x = x := by
  sorry

theorem division_unique (b q q' r r' : Nat) (hr : r < b) (hr' : r' < b)
    (h : b * q + r = b * q' + r') : q = q' ∧ r = r' := by
  sorry
