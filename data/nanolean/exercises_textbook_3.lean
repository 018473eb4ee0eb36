/-! 45 exercises that books set and people know: sorting, trees, search trees, expressions, parity, sums, divisors,
primes. Written without a look at the steps, but by who knew which kinds there are. docs/experiments.md says what was
proved. -/

inductive Sorted : List Nat → Prop where
  | nil : Sorted []
  | single (x : Nat) : Sorted [x]
  | cons (x y : Nat) (l : List Nat) (h : x ≤ y) (t : Sorted (y :: l)) : Sorted (x :: y :: l)

def insert' (x : Nat) : List Nat → List Nat
  | [] => [x]
  | y :: ys => if x ≤ y then x :: y :: ys else y :: insert' x ys

def isort : List Nat → List Nat
  | [] => []
  | x :: xs => insert' x (isort xs)

theorem insert_sorted (x : Nat) (l : List Nat) (h : Sorted l) : Sorted (insert' x l) := by
  sorry

theorem isort_sorted (hi : ∀ x l, Sorted l → Sorted (insert' x l)) (l : List Nat) : Sorted (isort l) := by
  sorry

def cnt (a : Nat) : List Nat → Nat
  | [] => 0
  | x :: xs => (if x = a then 1 else 0) + cnt a xs

theorem cnt_insert (a x : Nat) (l : List Nat) : cnt a (insert' x l) = (if x = a then 1 else 0) + cnt a l := by
  sorry

theorem cnt_isort (a : Nat) (l : List Nat) : cnt a (isort l) = cnt a l := by
  sorry

theorem length_isort (l : List Nat) : (isort l).length = l.length := by
  sorry

theorem cnt_append (a : Nat) (l m : List Nat) : cnt a (l ++ m) = cnt a l + cnt a m := by
  sorry

theorem cnt_le_length (a : Nat) (l : List Nat) : cnt a l ≤ l.length := by
  sorry

inductive T where
  | leaf : T
  | node (l : T) (k : Nat) (r : T) : T

def T.ins (x : Nat) : T → T
  | leaf => node leaf x leaf
  | node l k r => if x < k then node (l.ins x) k r else if k < x then node l k (r.ins x) else node l k r

def T.has (x : Nat) : T → Prop
  | leaf => False
  | node l k r => x = k ∨ l.has x ∨ r.has x

def T.toList : T → List Nat
  | leaf => []
  | node l k r => l.toList ++ k :: r.toList

def T.mirror : T → T
  | leaf => leaf
  | node l k r => node r.mirror k l.mirror

def T.size : T → Nat
  | leaf => 0
  | node l _ r => l.size + r.size + 1

def T.depth : T → Nat
  | leaf => 0
  | node l _ r => 1 + max l.depth r.depth

def T.toListAcc : T → List Nat → List Nat
  | leaf, acc => acc
  | node l k r, acc => l.toListAcc (k :: r.toListAcc acc)

theorem has_ins (x y : Nat) (t : T) : (t.ins x).has y ↔ y = x ∨ t.has y := by
  sorry

theorem mem_toList (x : Nat) (t : T) : x ∈ t.toList ↔ t.has x := by
  sorry

theorem toList_mirror (t : T) : t.mirror.toList = t.toList.reverse := by
  sorry

theorem depth_le_size (t : T) : t.depth ≤ t.size := by
  sorry

theorem size_ins (x : Nat) (t : T) : (t.ins x).size ≤ t.size + 1 := by
  sorry

theorem toListAcc_eq (t : T) : t.toListAcc [] = t.toList := by
  sorry

theorem length_toList (t : T) : t.toList.length = t.size := by
  sorry

theorem size_lt_pow (t : T) : t.size + 1 ≤ 2 ^ t.depth := by
  sorry

inductive Bx where
  | tt | ff
  | var (n : Nat)
  | not (b : Bx)
  | and (a b : Bx)
  | or (a b : Bx)

def Bx.ev (v : Nat → Bool) : Bx → Bool
  | tt => true
  | ff => false
  | var n => v n
  | not b => !(b.ev v)
  | and a b => a.ev v && b.ev v
  | or a b => a.ev v || b.ev v

def Bx.nnf : Bool → Bx → Bx
  | true, tt => tt
  | false, tt => ff
  | true, ff => ff
  | false, ff => tt
  | true, var n => var n
  | false, var n => not (var n)
  | p, not b => b.nnf (!p)
  | true, and a b => and (a.nnf true) (b.nnf true)
  | false, and a b => or (a.nnf false) (b.nnf false)
  | true, or a b => or (a.nnf true) (b.nnf true)
  | false, or a b => and (a.nnf false) (b.nnf false)

def Bx.subst (s : Nat → Bx) : Bx → Bx
  | tt => tt
  | ff => ff
  | var n => s n
  | not b => not (b.subst s)
  | and a b => and (a.subst s) (b.subst s)
  | or a b => or (a.subst s) (b.subst s)

theorem ev_subst (s : Nat → Bx) (v : Nat → Bool) (b : Bx) : (b.subst s).ev v = b.ev (fun n => (s n).ev v) := by
  sorry

theorem ev_nnf (v : Nat → Bool) (b : Bx) : (b.nnf true).ev v = b.ev v := by
  sorry

def evenb : Nat → Bool
  | 0 => true
  | n + 1 => !(evenb n)

theorem evenb_add (m n : Nat) : evenb (m + n) = true ↔ evenb m = evenb n := by
  sorry

theorem evenb_double (n : Nat) : evenb (2 * n) = true := by
  sorry

theorem evenb_iff (n : Nat) : evenb n = true ↔ ∃ k, n = 2 * k := by
  sorry

def tri : Nat → Nat
  | 0 => 0
  | n + 1 => tri n + (n + 1)

theorem tri_closed (n : Nat) : 2 * tri n = n * (n + 1) := by
  sorry

theorem tri_add (m n : Nat) : tri (m + n) = tri m + tri n + m * n := by
  sorry

def upto : Nat → List Nat
  | 0 => []
  | n + 1 => upto n ++ [n]

theorem mem_upto (x n : Nat) : x ∈ upto n ↔ x < n := by
  sorry

theorem length_upto (n : Nat) : (upto n).length = n := by
  sorry

def sumTo (f : Nat → Nat) : Nat → Nat
  | 0 => 0
  | n + 1 => sumTo f n + f n

theorem sumTo_add (f g : Nat → Nat) (n : Nat) : sumTo (fun i => f i + g i) n = sumTo f n + sumTo g n := by
  sorry

theorem sumTo_le (f g : Nat → Nat) (h : ∀ i, f i ≤ g i) (n : Nat) : sumTo f n ≤ sumTo g n := by
  sorry

theorem sumTo_split (f : Nat → Nat) (m n : Nat) : sumTo f (m + n) = sumTo f m + sumTo (fun i => f (m + i)) n := by
  sorry

theorem sum_odd (n : Nat) : sumTo (fun i => 2 * i + 1) n = n * n := by
  sorry

def Prime' (p : Nat) : Prop := 2 ≤ p ∧ ∀ d, d ∣ p → d = 1 ∨ d = p

theorem exists_prime_factor (n : Nat) (h : 2 ≤ n) : ∃ p, Prime' p ∧ p ∣ n := by
  sorry

theorem prime_not_even (p : Nat) (hp : Prime' p) (h : 3 ≤ p) : p % 2 = 1 := by
  sorry

theorem coins (n : Nat) (h : 8 ≤ n) : ∃ a b, n = 3 * a + 5 * b := by
  sorry

theorem consecutive_product_even (n : Nat) : 2 ∣ n * (n + 1) := by
  sorry

theorem three_dvd_cube_sub (n : Nat) : 3 ∣ n * n * n + 2 * n := by
  sorry

theorem sq_mod_four (n : Nat) : n * n % 4 = 0 ∨ n * n % 4 = 1 := by
  sorry

theorem no_sum_two_squares (a b : Nat) : (a * a + b * b) % 4 ≠ 3 := by
  sorry

theorem left_inverse_injective (f : Nat → Nat) (g : Nat → Nat) (h : ∀ x, g (f x) = x) (x y : Nat) (e : f x = f y) : x = y := by
  sorry

theorem strictly_increasing_ge (f : Nat → Nat) (h : ∀ n, f n < f (n + 1)) (n : Nat) : n ≤ f n := by
  sorry

theorem exists_max (l : List Nat) (h : l ≠ []) : ∃ x, x ∈ l ∧ ∀ y, y ∈ l → y ≤ x := by
  sorry

theorem pow_two_gt (n : Nat) : n < 2 ^ n := by
  sorry

theorem sq_lt_pow (n : Nat) (h : 5 ≤ n) : n * n < 2 ^ n := by
  sorry

theorem bernoulli (x n : Nat) : 1 + n * x ≤ (1 + x) ^ n := by
  sorry

theorem geom (n : Nat) : sumTo (fun i => 2 ^ i) n + 1 = 2 ^ n := by
  sorry

theorem filter_append_perm (p : Nat → Bool) (l : List Nat) : (l.filter p).length + (l.filter (fun x => !(p x))).length = l.length := by
  sorry

theorem map_eq_self (f : Nat → Nat) (l : List Nat) (h : ∀ x, x ∈ l → f x = x) : l.map f = l := by
  sorry

theorem foldl_add (l : List Nat) (a : Nat) : l.foldl (fun s x => s + x) a = a + l.foldl (fun s x => s + x) 0 := by
  sorry
