/-! 60 exercises, 20 each easy, middle and hard, as texts on logic, numbers, functional programming and semantics set
them. Written without a look at the steps or at the other sets. docs/experiments.md says what was proved. -/

-- Induction on numbers

def sumOdd : Nat → Nat
  | 0 => 0
  | n + 1 => sumOdd n + (2 * n + 1)

-- easy
theorem ind_sum_of_odds (n : Nat) : sumOdd n = n ^ 2 := by sorry

-- easy
theorem ind_lt_two_pow : ∀ n : Nat, n < 2 ^ n := by sorry

def isEven : Nat → Bool
  | 0 => true
  | n + 1 => !isEven n

-- easy
theorem ind_isEven_add (m n : Nat) : isEven (m + n) = (isEven m == isEven n) := by sorry

-- easy
theorem ind_strictly_increasing {f : Nat → Nat} (hf : ∀ n, f n < f (n + 1)) : ∀ n, n ≤ f n := by sorry

-- middle
theorem ind_square_le_two_pow (n : Nat) (hn : 4 ≤ n) : n ^ 2 ≤ 2 ^ n := by sorry

def sumCubes (n : Nat) : Nat :=
  match n with
  | 0 => 0
  | k + 1 => sumCubes k + (k + 1) ^ 3

-- middle
theorem ind_sum_of_cubes : ∀ n, 4 * sumCubes n = n ^ 2 * (n + 1) ^ 2 := by sorry

def fact : Nat → Nat
  | 0 => 1
  | n + 1 => (n + 1) * fact n

def sumKFact : Nat → Nat
  | 0 => 0
  | n + 1 => sumKFact n + (n + 1) * fact (n + 1)

-- middle
theorem ind_sum_k_times_factorial (n : Nat) : sumKFact n = fact (n + 1) - 1 := by sorry

def fib : Nat → Nat
  | 0 => 0
  | 1 => 1
  | n + 2 => fib n + fib (n + 1)

-- hard
theorem ind_fib_add (m n : Nat) : fib (m + n + 1) = fib m * fib n + fib (m + 1) * fib (n + 1) := by sorry

-- hard
theorem ind_cassini (n : Nat) : fib (2 * n + 1) ^ 2 = fib (2 * n) * fib (2 * n + 2) + 1 := by sorry

-- hard
theorem ind_two_step_recurrence (a : Nat → Nat) (h0 : a 0 = 2) (h1 : a 1 = 5)
    (h : ∀ n, a (n + 2) + 6 * a n = 5 * a (n + 1)) : ∀ n, a n = 2 ^ n + 3 ^ n := by sorry

-- Divisibility, remainders, gcd, primes

-- easy
theorem dvd_linear_combination (a b c : Nat) (hb : a ∣ b) (hc : a ∣ c) : a ∣ 2 * b + 3 * c := by sorry

-- easy
theorem dvd_digit_sum_by_three : ∀ a b : Nat, 3 ∣ 10 * a + b ↔ 3 ∣ a + b := by sorry

-- easy
theorem dvd_congruence_add {a b n : Nat} (c : Nat) (h : a % n = b % n) :
    (a + c) % n = (b + c) % n := by sorry

-- middle
theorem dvd_square_mod_four (n : Nat) : n ^ 2 % 4 = 0 ∨ n ^ 2 % 4 = 1 := by sorry

-- middle
theorem dvd_odd_part (n : Nat) (h : 0 < n) : ∃ k m, m % 2 = 1 ∧ n = 2 ^ k * m := by sorry

-- middle
theorem dvd_gcd_add_self (a b : Nat) : Nat.gcd a (a + b) = Nat.gcd a b := by sorry

-- middle
theorem dvd_fermat_five (n : Nat) : 5 ∣ n ^ 5 + 4 * n := by sorry

def IsPrime (p : Nat) : Prop := 2 ≤ p ∧ ∀ d, d ∣ p → d = 1 ∨ d = p

-- hard
theorem dvd_sqrt_two_irrational (a b : Nat) (h : a ^ 2 = 2 * b ^ 2) : b = 0 := by sorry

-- hard
theorem dvd_euclid_lemma (p a b : Nat) (hp : IsPrime p) (h : p ∣ a * b) : p ∣ a ∨ p ∣ b := by sorry

-- Lists

-- easy
theorem list_length_map_append {α β : Type} (f : α → β) (xs ys : List α) :
    ((xs ++ ys).map f).length = ys.length + xs.length := by sorry

def stutter {α : Type} : List α → List α
  | [] => []
  | x :: xs => x :: x :: stutter xs

-- easy
theorem list_length_stutter {α : Type} (xs : List α) : (stutter xs).length = 2 * xs.length := by sorry

-- easy
theorem list_sum_of_zeros (xs : List Nat) (h : ∀ x ∈ xs, x = 0) : xs.sum = 0 := by sorry

def lookup {α : Type} (key : Nat) : List (Nat × α) → Option α
  | [] => none
  | (k, v) :: rest => if k = key then some v else lookup key rest

-- easy
theorem list_lookup_append {α : Type} (key : Nat) (xs ys : List (Nat × α)) (h : lookup key xs = none) :
    lookup key (xs ++ ys) = lookup key ys := by sorry

-- middle
theorem list_filter_filter (p q : α → Bool) (xs : List α) :
    (xs.filter p).filter q = xs.filter (fun x => p x && q x) := by sorry

def occurrences (a : Nat) : List Nat → Nat
  | [] => 0
  | x :: xs => if x = a then occurrences a xs + 1 else occurrences a xs

-- middle
theorem list_mem_iff_occurrences_pos (a : Nat) (xs : List Nat) : a ∈ xs ↔ 0 < occurrences a xs := by sorry

-- middle
theorem list_length_flatten {α : Type} (xss : List (List α)) :
    xss.flatten.length = (xss.map List.length).sum := by sorry

def insertSorted (x : Nat) : List Nat → List Nat
  | [] => [x]
  | y :: ys => if x ≤ y then x :: y :: ys else y :: insertSorted x ys

def insertionSort : List Nat → List Nat
  | [] => []
  | x :: xs => insertSorted x (insertionSort xs)

inductive Sorted : List Nat → Prop where
  | nil : Sorted []
  | single (x : Nat) : Sorted [x]
  | cons (x y : Nat) (l : List Nat) : x ≤ y → Sorted (y :: l) → Sorted (x :: y :: l)

-- hard
theorem list_insertionSort_sorted (l : List Nat) : Sorted (insertionSort l) := by sorry

inductive Palindrome {α : Type} : List α → Prop where
  | empty : Palindrome []
  | single (a : α) : Palindrome [a]
  | step (a : α) (l : List α) (h : Palindrome l) : Palindrome (a :: (l ++ [a]))

-- hard
theorem list_palindrome_of_reverse_eq {α : Type} (l : List α) (h : l.reverse = l) : Palindrome l := by sorry

inductive Subseq {α : Type} : List α → List α → Prop where
  | nil : Subseq [] []
  | skip (x : α) (xs ys : List α) : Subseq xs ys → Subseq xs (x :: ys)
  | keep (x : α) (xs ys : List α) : Subseq xs ys → Subseq (x :: xs) (x :: ys)

-- hard
theorem list_subseq_trans {α : Type} {xs ys zs : List α} (h₁ : Subseq xs ys) (h₂ : Subseq ys zs) :
    Subseq xs zs := by sorry

-- Own definitions

inductive Tree (α : Type) where
  | leaf : Tree α
  | node (left : Tree α) (value : α) (right : Tree α) : Tree α

namespace Tree

def mirror {α : Type} : Tree α → Tree α
  | leaf => leaf
  | node l x r => node r.mirror x l.mirror

def toList {α : Type} : Tree α → List α
  | leaf => []
  | node l x r => l.toList ++ [x] ++ r.toList

-- easy
theorem own_mirror_mirror {α : Type} (t : Tree α) : t.mirror.mirror = t := by sorry

-- middle
theorem own_toList_mirror {α : Type} (t : Tree α) : t.mirror.toList = t.toList.reverse := by sorry

end Tree

structure Vec2 where
  x : Nat
  y : Nat
deriving DecidableEq

namespace Vec2

def add (u v : Vec2) : Vec2 := { x := u.x + v.x, y := u.y + v.y }

def smul (k : Nat) (v : Vec2) : Vec2 := ⟨k * v.x, k * v.y⟩

-- easy
theorem own_smul_add (k : Nat) (u v : Vec2) : smul k (u.add v) = (smul k u).add (smul k v) := by sorry

end Vec2

inductive Weekday where
  | monday | tuesday | wednesday | thursday | friday | saturday | sunday

def Weekday.next : Weekday → Weekday
  | monday => tuesday
  | tuesday => wednesday
  | wednesday => thursday
  | thursday => friday
  | friday => saturday
  | saturday => sunday
  | sunday => monday

-- easy
theorem own_week_has_seven_days : ∀ d : Weekday, d.next.next.next.next.next.next.next = d := by sorry

inductive Ev : Nat → Prop
  | zero : Ev 0
  | step {n : Nat} : Ev n → Ev (n + 2)

-- middle
theorem own_ev_iff_double (n : Nat) : Ev n ↔ ∃ k, n = 2 * k := by sorry

inductive Expr where
  | num (n : Nat)
  | var (name : Nat)
  | plus (a b : Expr)
  | times (a b : Expr)

def Expr.eval (env : Nat → Nat) : Expr → Nat
  | num n => n
  | var v => env v
  | plus a b => eval env a + eval env b
  | times a b => eval env a * eval env b

def Expr.dropZero : Expr → Expr
  | num n => num n
  | var v => var v
  | plus (num 0) b => dropZero b
  | plus a b => plus (dropZero a) (dropZero b)
  | times a b => times (dropZero a) (dropZero b)

-- middle
theorem own_dropZero_correct (env : Nat → Nat) (e : Expr) : e.dropZero.eval env = e.eval env := by sorry

inductive Bin where
  | zero
  | twice (b : Bin)
  | twicePlusOne (b : Bin)

namespace Bin

def incr : Bin → Bin
  | zero => twicePlusOne zero
  | twice b => twicePlusOne b
  | twicePlusOne b => twice (incr b)

def value : Bin → Nat
  | zero => 0
  | twice b => 2 * value b
  | twicePlusOne b => 2 * value b + 1

def ofNat : Nat → Bin
  | 0 => zero
  | n + 1 => incr (ofNat n)

-- middle
theorem own_value_ofNat (n : Nat) : value (ofNat n) = n := by sorry

end Bin

inductive Instr where
  | push (n : Nat)
  | load (v : Nat)
  | add
  | mul

def Instr.run (env : Nat → Nat) : Instr → List Nat → List Nat
  | push n, s => n :: s
  | load v, s => env v :: s
  | add, a :: b :: s => (b + a) :: s
  | mul, a :: b :: s => (b * a) :: s
  | _, s => s

def exec (env : Nat → Nat) : List Instr → List Nat → List Nat
  | [], s => s
  | i :: is, s => exec env is (i.run env s)

def Expr.compile : Expr → List Instr
  | num n => [Instr.push n]
  | var v => [Instr.load v]
  | plus a b => a.compile ++ b.compile ++ [Instr.add]
  | times a b => a.compile ++ b.compile ++ [Instr.mul]

-- hard
theorem own_compile_correct (env : Nat → Nat) (e : Expr) : exec env e.compile [] = [e.eval env] := by sorry

namespace Tree

def All (p : Nat → Prop) : Tree Nat → Prop
  | leaf => True
  | node l x r => All p l ∧ p x ∧ All p r

def IsSearchTree : Tree Nat → Prop
  | leaf => True
  | node l x r => All (fun y => y < x) l ∧ All (fun y => x < y) r ∧ IsSearchTree l ∧ IsSearchTree r

def insert (a : Nat) : Tree Nat → Tree Nat
  | leaf => node leaf a leaf
  | node l x r => if a < x then node (insert a l) x r else if x < a then node l x (insert a r) else node l x r

-- hard
theorem own_insert_isSearchTree (a : Nat) (t : Tree Nat) (ht : IsSearchTree t) :
    IsSearchTree (insert a t) := by sorry

end Tree

inductive Star {α : Type} (r : α → α → Prop) : α → α → Prop where
  | refl (a : α) : Star r a a
  | step (a b c : α) : r a b → Star r b c → Star r a c

inductive StarR {α : Type} (r : α → α → Prop) : α → α → Prop where
  | refl (a : α) : StarR r a a
  | step (a b c : α) : StarR r a b → r b c → StarR r a c

-- hard
theorem own_star_iff_starR {α : Type} (r : α → α → Prop) (a b : α) : Star r a b ↔ StarR r a b := by sorry

-- Logic with quantifiers

-- easy
theorem logic_not_forall_of_exists_not {α : Type} (P : α → Prop) : (∃ x, ¬ P x) → ¬ ∀ x, P x := by sorry

-- easy
theorem logic_peirce (p q : Prop) : ((p → q) → p) → p := by sorry

-- easy
theorem logic_diff_antitone {α : Type} (A B C : α → Prop) (h : ∀ x, A x → B x) :
    ∀ x, C x ∧ ¬ B x → C x ∧ ¬ A x := by sorry

def Injective {α β : Type} (f : α → β) : Prop := ∀ x y, f x = f y → x = y

def Surjective {α β : Type} (f : α → β) : Prop := ∀ b, ∃ a, f a = b

-- easy
theorem logic_comp_injective {α β γ : Type} {f : α → β} {g : β → γ} (hf : Injective f) (hg : Injective g) :
    Injective (fun x => g (f x)) := by sorry

-- middle
theorem logic_drinker {Person : Type} [Nonempty Person] (drinks : Person → Prop) :
    ∃ x, drinks x → ∀ y, drinks y := by sorry

-- middle
theorem logic_reflexive_of_symm_trans_serial {α : Type} (R : α → α → Prop)
    (symm : ∀ x y, R x y → R y x) (trans : ∀ x y z, R x y → R y z → R x z)
    (serial : ∀ x, ∃ y, R x y) : ∀ x, R x x := by sorry

-- middle
theorem logic_injective_of_comp {α β γ : Type} (f : α → β) (g : β → γ)
    (hgf : Injective (g ∘ f)) (hf : Surjective f) : Injective g := by sorry

-- middle
theorem logic_negate_bounded (a : Nat → Nat) :
    (¬ ∃ M, ∀ n, a n ≤ M) ↔ ∀ M, ∃ n, M < a n := by sorry

-- hard
theorem logic_cantor {α : Type} : ¬ ∃ f : α → (α → Prop), ∀ S : α → Prop, ∃ a, f a = S := by sorry

section

variable {α : Type} (R : α → α → Prop)

-- hard
theorem logic_classes_equal_or_disjoint (refl : ∀ x, R x x)
    (euclidean : ∀ x y z, R x y → R x z → R y z) (a b : α) :
    (fun x => R a x) = (fun x => R b x) ∨ ¬ ∃ x, R a x ∧ R b x := by sorry

end

-- Proofs that need a cut

-- easy
theorem cut_unbounded_residue_class : ∀ n : Nat, ∃ m, m > n ∧ m % 7 = 3 := by sorry

def itrev {α : Type} : List α → List α → List α
  | [], acc => acc
  | x :: xs, acc => itrev xs (x :: acc)

-- easy
theorem cut_itrev_eq_reverse {α : Type} (xs : List α) : itrev xs [] = xs.reverse := by sorry

def factLoop (n acc : Nat) : Nat :=
  match n with
  | 0 => acc
  | k + 1 => factLoop k (acc * (k + 1))

-- middle
theorem cut_factLoop_eq_fact : ∀ n, factLoop n 1 = fact n := by sorry

inductive N where
  | z : N
  | s : N → N

def N.plus : N → N → N
  | z, m => m
  | s n, m => s (plus n m)

-- middle
theorem cut_plus_comm (n m : N) : n.plus m = m.plus n := by sorry

-- hard
theorem cut_infinitely_many_primes : ∀ n : Nat, ∃ p, n < p ∧ IsPrime p := by sorry

-- hard
theorem cut_knaster_tarski {α : Type} (F : (α → Prop) → α → Prop)
    (mono : ∀ A B : α → Prop, (∀ x, A x → B x) → ∀ x, F A x → F B x) :
    ∃ L : α → Prop, (∀ x, F L x ↔ L x) ∧
      ∀ A : α → Prop, (∀ x, F A x ↔ A x) → ∀ x, L x → A x := by sorry

inductive Distinct : List Nat → Prop where
  | nil : Distinct []
  | cons {x : Nat} {xs : List Nat} : ¬ x ∈ xs → Distinct xs → Distinct (x :: xs)

-- hard
theorem cut_pigeonhole (n : Nat) (xs : List Nat) (hd : Distinct xs) (hb : ∀ x ∈ xs, x < n) :
    xs.length ≤ n := by sorry

-- hard
theorem cut_olympiad_identity (f : Nat → Nat) (hf : ∀ n, f (f n) < f (n + 1)) : ∀ n, f n = n := by sorry

inductive Letter where
  | M | I | U
  deriving DecidableEq

inductive Derivable : List Letter → Prop where
  | axiom_MI : Derivable [.M, .I]
  | append_U (x : List Letter) : Derivable (x ++ [.I]) → Derivable (x ++ [.I, .U])
  | double (x : List Letter) : Derivable (.M :: x) → Derivable (.M :: (x ++ x))
  | three_I (x y : List Letter) : Derivable (x ++ [.I, .I, .I] ++ y) → Derivable (x ++ [.U] ++ y)
  | drop_UU (x y : List Letter) : Derivable (x ++ [.U, .U] ++ y) → Derivable (x ++ y)

-- hard
theorem cut_no_MU : ¬ Derivable [.M, .U] := by sorry

-- hard
theorem cut_pell_unbounded (n : Nat) : ∃ x y : Nat, n < y ∧ x ^ 2 = 2 * y ^ 2 + 1 := by sorry

structure Group (G : Type) where
  mul : G → G → G
  one : G
  inv : G → G
  assoc : ∀ a b c, mul (mul a b) c = mul a (mul b c)
  one_mul : ∀ a, mul one a = a
  inv_mul : ∀ a, mul (inv a) a = one

-- hard
theorem cut_group_right_inverse {G : Type} (g : Group G) (a : G) : g.mul a (g.inv a) = g.one := by sorry
