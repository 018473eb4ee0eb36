/-! Three times 36 exercises as people set them, on which nothing was trained: `x01` to `x36` were written before the
steps of `nanoproof/policy/number_steps.py`, `z01` to `z36` before the last of these, `w01` to `w36` after.
docs/experiments.md says what was proved. -/

def tri : Nat → Nat
  | 0 => 0
  | n + 1 => tri n + (n + 1)
def dbl : Nat → Nat
  | 0 => 0
  | n + 1 => dbl n + 2
def fac : Nat → Nat
  | 0 => 1
  | n + 1 => (n + 1) * fac n
def tw : Nat → Nat
  | 0 => 1
  | n + 1 => 2 * tw n
def snoc : List Nat → Nat → List Nat
  | [], a => [a]
  | x :: xs, a => x :: snoc xs a
def total : List Nat → Nat
  | [] => 0
  | x :: xs => x + total xs
def rv : List Nat → List Nat
  | [] => []
  | x :: xs => snoc (rv xs) x
def alt : Nat → Bool
  | 0 => true
  | n + 1 => !alt n
def mx : Nat → Nat → Nat
  | 0, m => m
  | n + 1, 0 => n + 1
  | n + 1, m + 1 => mx n m + 1
theorem x01 (n : Nat) : 2 * tri n = n * (n + 1) := by
  sorry
theorem x02 (n : Nat) : dbl n = 2 * n := by
  sorry
theorem x03 (a b : Nat) : dbl (a + b) = dbl a + dbl b := by
  sorry
theorem x04 (n : Nat) : 0 < fac n := by
  sorry
theorem x05 (n : Nat) : n < tw n := by
  sorry
theorem x06 (m n : Nat) : tw (m + n) = tw m * tw n := by
  sorry
theorem x07 (xs : List Nat) (a : Nat) : (snoc xs a).length = xs.length + 1 := by
  sorry
theorem x08 (xs : List Nat) (a : Nat) : total (snoc xs a) = total xs + a := by
  sorry
theorem x09 (xs : List Nat) : total (rv xs) = total xs := by
  sorry
theorem x10 (xs ys : List Nat) : total (xs ++ ys) = total xs + total ys := by
  sorry
theorem x11 (n : Nat) : alt (n + 2) = alt n := by
  sorry
theorem x12 (n : Nat) : alt (n + n) = true := by
  sorry
theorem x13 (n : Nat) : mx n n = n := by
  sorry
theorem x14 (n m : Nat) : n ≤ mx n m := by
  sorry
theorem x15 (a b c : Nat) (h : a ∣ b) (h2 : a ∣ c) : a ∣ 3 * b + 2 * c := by
  sorry
theorem x16 (n : Nat) : 2 ∣ n * (n + 1) := by
  sorry
theorem x17 (n : Nat) (h : n % 3 = 2) : n * n % 3 = 1 := by
  sorry
theorem x18 (a b : Nat) (h : a ∣ b) (hb : 0 < b) : a ≤ b := by
  sorry
theorem x19 (p q r : Prop) (h : p ∨ q → r) : (p → r) ∧ (q → r) := by
  sorry
theorem x20 (P Q : Nat → Prop) (h : ∀ n, P n → Q (n + 1)) (hp : ∃ n, P n) : ∃ n, Q n := by
  sorry
theorem x21 (P : Nat → Prop) (h : ¬ ∃ n, P n) : ∀ n, ¬ P n := by
  sorry
theorem x22 (f : Nat → Nat) (h : ∀ n, f (n + 1) = 3 * f n) (h0 : f 0 = 2) (n : Nat) : f n = 2 * 3 ^ n := by
  sorry
theorem x23 (f : Nat → Nat) (hf : ∀ n, f n < f (n + 1)) (n : Nat) : n ≤ f n := by
  sorry
theorem x24 (f : Nat → Nat) (hf : ∀ n, f n ≤ f (n + 1)) (m k : Nat) : f m ≤ f (m + k) := by
  sorry
theorem x25 (xs ys : List Nat) (h : xs ++ ys = []) : xs = [] ∧ ys = [] := by
  sorry
theorem x26 (xs : List Nat) (a : Nat) (h : a ∈ xs) : a ∈ xs ++ xs := by
  sorry
theorem x27 (xs : List Nat) (f : Nat → Nat) : (xs.map f).length = xs.length := by
  sorry
theorem x28 (xs : List Nat) (f g : Nat → Nat) : (xs.map f).map g = xs.map (fun x => g (f x)) := by
  sorry
theorem x29 (a b : Nat) (h : a * a = b * b) : a = b := by
  sorry
theorem x30 (n : Nat) (h : ∃ k, n = 2 * k + 1) : ∃ j, n * n = 4 * j + 1 := by
  sorry
theorem x31 (P : Nat → Prop) (h0 : P 0) (h1 : P 1) (hs : ∀ n, P n → P (n + 2)) (n : Nat) : P n := by
  sorry
theorem x32 (a b c : Nat) (h : a < b) (h2 : 0 < c) : a * c < b * c := by
  sorry
theorem x33 (n : Nat) : ∃ m, n < m ∧ 5 ∣ m := by
  sorry
theorem x34 (P : Nat → Prop) (h : ∀ n, (∀ m, m < n → P m) → P n) : P 7 := by
  sorry
theorem x35 (R : Nat → Nat → Prop) (hs : ∀ a b, R a b → R b a) (ht : ∀ a b c, R a b → R b c → R a c) (a b : Nat) (h : R a b) : R a a := by
  sorry
theorem x36 (n : Nat) (h : 1 < n) (h2 : n ∣ 6) (h3 : n ≠ 6) : n = 2 ∨ n = 3 := by
  sorry
def fib : Nat → Nat
  | 0 => 0
  | 1 => 1
  | n + 2 => fib (n + 1) + fib n
def sumf (f : Nat → Nat) : Nat → Nat
  | 0 => 0
  | n + 1 => sumf f n + f n
def app : List Nat → List Nat → List Nat
  | [], ys => ys
  | x :: xs, ys => x :: app xs ys
def len : List Nat → Nat
  | [] => 0
  | _ :: xs => len xs + 1
def has (a : Nat) : List Nat → Prop
  | [] => False
  | x :: xs => a = x ∨ has a xs
def rep : Nat → Nat → List Nat
  | 0, _ => []
  | n + 1, a => a :: rep n a
inductive Tree where
  | leaf : Tree
  | node : Tree → Nat → Tree → Tree
def size : Tree → Nat
  | Tree.leaf => 0
  | Tree.node l _ r => size l + 1 + size r
def mirror : Tree → Tree
  | Tree.leaf => Tree.leaf
  | Tree.node l a r => Tree.node (mirror r) a (mirror l)
inductive Ev : Nat → Prop where
  | zero : Ev 0
  | step : ∀ n, Ev n → Ev (n + 2)
def iter (f : Nat → Nat) : Nat → Nat → Nat
  | 0, x => x
  | n + 1, x => f (iter f n x)
theorem z01 (n : Nat) : fib (n + 2) = fib (n + 1) + fib n := by
  sorry
theorem z02 (n : Nat) : 0 < fib (n + 1) := by
  sorry
theorem z03 (f g : Nat → Nat) (n : Nat) : sumf (fun i => f i + g i) n = sumf f n + sumf g n := by
  sorry
theorem z04 (n : Nat) : sumf (fun _ => 1) n = n := by
  sorry
theorem z05 (n : Nat) : 2 * sumf (fun i => i) n + n = n * n := by
  sorry
theorem z06 (xs ys zs : List Nat) : app (app xs ys) zs = app xs (app ys zs) := by
  sorry
theorem z07 (xs : List Nat) : app xs [] = xs := by
  sorry
theorem z08 (xs ys : List Nat) : len (app xs ys) = len ys + len xs := by
  sorry
theorem z09 (a : Nat) (xs ys : List Nat) : has a (app xs ys) ↔ has a xs ∨ has a ys := by
  sorry
theorem z10 (n a : Nat) : len (rep n a) = n := by
  sorry
theorem z11 (n a b : Nat) (h : has b (rep n a)) : b = a := by
  sorry
theorem z12 (t : Tree) : mirror (mirror t) = t := by
  sorry
theorem z13 (t : Tree) : size (mirror t) = size t := by
  sorry
theorem z14 (n : Nat) (h : Ev n) : ∃ k, n = 2 * k := by
  sorry
theorem z15 (m n : Nat) (hm : Ev m) (hn : Ev n) : Ev (m + n) := by
  sorry
theorem z16 (k : Nat) : Ev (2 * k) := by
  sorry
theorem z17 : ¬ Ev 3 := by
  sorry
theorem z18 (f : Nat → Nat) (m n x : Nat) : iter f (m + n) x = iter f m (iter f n x) := by
  sorry
theorem z19 (f : Nat → Nat) (n x : Nat) : iter f (n + 1) x = iter f n (f x) := by
  sorry
theorem z20 (n : Nat) : 3 ∣ 4 ^ n + 2 := by
  sorry
theorem z21 (n : Nat) : 6 ∣ n * (n + 1) * (n + 2) := by
  sorry
theorem z22 (a b c d : Nat) (h : a ∣ b) (h2 : b ∣ c) (h3 : a ∣ d) : a ∣ c * 5 + d := by
  sorry
theorem z23 (a b : Nat) (h : a + b = a * b) (ha : 0 < a) (hb : 0 < b) : a = 2 := by
  sorry
theorem z24 (p q : Prop) : ¬ (p ∧ q) ↔ (p → ¬ q) := by
  sorry
theorem z25 (p q : Prop) (h : ¬ (p → q)) : p ∧ ¬ q := by
  sorry
theorem z26 (P Q : Nat → Prop) : (∀ n, P n ∧ Q n) ↔ (∀ n, P n) ∧ (∀ n, Q n) := by
  sorry
theorem z27 (P : Nat → Prop) (n : Nat) (h : P n) (h2 : ∀ m, P (m + 1) → P m) : P 0 := by
  sorry
theorem z28 (f : Nat → Nat) (h : ∀ n, f (f n) = n) (a b : Nat) (hab : f a = f b) : a = b := by
  sorry
theorem z29 (f : Nat → Nat) (h : ∀ x y, f (x + y) = f x + f y) (n : Nat) : f n = n * f 1 := by
  sorry
theorem z30 (P : Nat → Prop) (h : ∃ n, P n ∧ ∀ m, P m → m = n) (a b : Nat) (ha : P a) (hb : P b) : a = b := by
  sorry
theorem z31 (n : Nat) : n ^ 2 % 4 = 0 ∨ n ^ 2 % 4 = 1 := by
  sorry
theorem z32 (n : Nat) (h : 4 ≤ n) : n * n < 2 ^ n + n * n := by
  sorry
theorem z33 (n : Nat) (h : 4 ≤ n) : n < 2 ^ (n - 1) := by
  sorry
theorem z34 (a b m : Nat) (h : a % m = b % m) : (a + 1) % m = (b + 1) % m := by
  sorry
theorem z35 (xs ys : List Nat) (h : xs.length = ys.length) : (xs ++ ys).length = 2 * ys.length := by
  sorry
theorem z36 (xs : List Nat) (x : Nat) (h : x ∈ xs) : 0 < xs.length := by
  sorry
def sq : Nat → Nat
  | 0 => 0
  | n + 1 => sq n + 2 * n + 1
def addTo : Nat → Nat → Nat
  | 0, m => m
  | n + 1, m => addTo n (m + 1)
def mul' : Nat → Nat → Nat
  | 0, _ => 0
  | n + 1, m => mul' n m + m
def sumAcc : List Nat → Nat → Nat
  | [], acc => acc
  | x :: xs, acc => sumAcc xs (x + acc)
def sumL : List Nat → Nat
  | [] => 0
  | x :: xs => x + sumL xs
def revAcc : List Nat → List Nat → List Nat
  | [], acc => acc
  | x :: xs, acc => revAcc xs (x :: acc)
def keep (p : Nat → Bool) : List Nat → List Nat
  | [] => []
  | x :: xs => if p x then x :: keep p xs else keep p xs
def cnt (a : Nat) : List Nat → Nat
  | [] => 0
  | x :: xs => if x = a then cnt a xs + 1 else cnt a xs
def allP (p : Nat → Prop) : List Nat → Prop
  | [] => True
  | x :: xs => p x ∧ allP p xs
def isEven : Nat → Bool
  | 0 => true
  | 1 => false
  | n + 2 => isEven n
def minus : Nat → Nat → Nat
  | n, 0 => n
  | 0, _ + 1 => 0
  | n + 1, m + 1 => minus n m
inductive Bin where
  | tip : Nat → Bin
  | fork : Bin → Bin → Bin
def leaves : Bin → Nat
  | Bin.tip _ => 1
  | Bin.fork l r => leaves l + leaves r
def forks : Bin → Nat
  | Bin.tip _ => 0
  | Bin.fork l r => forks l + forks r + 1
def inc : Bin → Bin
  | Bin.tip n => Bin.tip (n + 1)
  | Bin.fork l r => Bin.fork (inc l) (inc r)
inductive Le : Nat → Nat → Prop where
  | refl : ∀ n, Le n n
  | step : ∀ m n, Le m n → Le m (n + 1)
inductive Color where
  | red : Color
  | green : Color
  | blue : Color
def next : Color → Color
  | Color.red => Color.green
  | Color.green => Color.blue
  | Color.blue => Color.red
theorem w01 (n : Nat) : sq n = n * n := by
  sorry
theorem w02 (n m : Nat) : addTo n m = n + m := by
  sorry
theorem w03 (n m : Nat) : mul' n m = n * m := by
  sorry
theorem w04 (xs : List Nat) (a : Nat) : sumAcc xs a = sumL xs + a := by
  sorry
theorem w05 (xs ys : List Nat) : revAcc xs ys = revAcc xs [] ++ ys := by
  sorry
theorem w06 (xs ys : List Nat) : (revAcc xs ys).length = xs.length + ys.length := by
  sorry
theorem w07 (p : Nat → Bool) (xs : List Nat) : (keep p xs).length ≤ xs.length := by
  sorry
theorem w08 (p : Nat → Bool) (xs ys : List Nat) : keep p (xs ++ ys) = keep p xs ++ keep p ys := by
  sorry
theorem w09 (p : Nat → Bool) (xs : List Nat) : keep p (keep p xs) = keep p xs := by
  sorry
theorem w10 (a : Nat) (xs ys : List Nat) : cnt a (xs ++ ys) = cnt a xs + cnt a ys := by
  sorry
theorem w11 (a : Nat) (xs : List Nat) : cnt a xs ≤ xs.length := by
  sorry
theorem w12 (p q : Nat → Prop) (h : ∀ x, p x → q x) (xs : List Nat) (hp : allP p xs) : allP q xs := by
  sorry
theorem w13 (p : Nat → Prop) (xs ys : List Nat) : allP p (xs ++ ys) ↔ allP p xs ∧ allP p ys := by
  sorry
theorem w14 (n : Nat) : isEven (n + n) = true := by
  sorry
theorem w15 (n : Nat) (h : isEven n = true) : isEven (n + 1) = false := by
  sorry
theorem w16 (n : Nat) : minus n n = 0 := by
  sorry
theorem w17 (n m : Nat) : minus (n + m) m = n := by
  sorry
theorem w18 (t : Bin) : leaves t = forks t + 1 := by
  sorry
theorem w19 (t : Bin) : leaves (inc t) = leaves t := by
  sorry
theorem w20 (n : Nat) : Le 0 n := by
  sorry
theorem w21 (m n : Nat) (h : Le m n) : m ≤ n := by
  sorry
theorem w22 (a b c : Nat) (h : Le a b) (h2 : Le b c) : Le a c := by
  sorry
theorem w23 (c : Color) : next (next (next c)) = c := by
  sorry
theorem w24 (c : Color) : next c ≠ c := by
  sorry
theorem w25 (n : Nat) : 7 ∣ 8 ^ n + 6 := by
  sorry
theorem w26 (n : Nat) : (n * n + n) % 2 = 0 := by
  sorry
theorem w27 (a b c : Nat) (h : a ∣ b) (h2 : a ∣ b + c) : a ∣ c := by
  sorry
theorem w28 (n : Nat) (h : 3 ≤ n) : 2 * n + 1 ≤ n * n := by
  sorry
theorem w29 (a b : Nat) (h : a ≤ b) : ∃ c, b = a + c := by
  sorry
theorem w30 (p q r : Prop) : (p ∧ q → r) ↔ (p → q → r) := by
  sorry
theorem w31 (p q : Prop) (h : p → q) : ¬ p ∨ q := by
  sorry
theorem w32 (P : Nat → Prop) (h : ¬ ∀ n, P n) : ∃ n, ¬ P n := by
  sorry
theorem w33 (f : Nat → Nat) (hf : ∀ a b, f a = f b → a = b) (g : Nat → Nat) (hg : ∀ a b, g a = g b → a = b) (a b : Nat) (h : f (g a) = f (g b)) : a = b := by
  sorry
theorem w34 (f : Nat → Nat) (h : ∀ n, f (n + 1) = f n + 2 * n + 3) (h0 : f 0 = 0) (n : Nat) : f n = n * n + 2 * n := by
  sorry
theorem w35 (P : Nat → Prop) (h0 : P 0) (hd : ∀ n, P n → P (2 * n + 1)) (he : ∀ n, P n → P (2 * n + 2)) (n : Nat) : P n := by
  sorry
theorem w36 (xs : List Nat) (f : Nat → Nat) (y : Nat) (h : y ∈ xs.map f) : ∃ x, x ∈ xs ∧ f x = y := by
  sorry
