/-
Held-out theorems of NanoLean (test), levels 1 to 6.
The text is fixed, so that scores stay comparable. Made by scripts/make_nanolean_benchmark.py.
-/

theorem mixed_l1_h0008 (p : Prop) (h : (∃ x : Nat, x * x = 49) → p) : p := by
  sorry

theorem sq_dvd_sq_l2 (a b : Nat) (h : a ∣ b) : a * a ∣ b * b := by
  sorry

theorem nat_identity_l3_h0008 (x : Nat) : x * x * (x ^ x * (x * x) * x ^ x) = (x * x) ^ (x + 2) := by
  sorry

theorem divides_l4_h0002 (b c d e u : Nat) (h : b ∣ c) (h1 : b ∣ d) (h2 : e ∣ u) : b * e ∣ (c + d + b * c) * u := by
  sorry

theorem mixed_l5_h0012 (p : Prop) (a b c x y z : Nat) (h1 : 0 < c) (h3 : p → c * a = b * c) (h : p) (h4 : x ≤ y) (h5 : z ≤ x + y) : a = b ∧ z ≤ y + y + 1 := by
  sorry

theorem nat_identity_l6_h0024 (a b d : Nat) : d * a ^ (d + 2) * (d * d ^ d * b) = (d * a) ^ (d + 2) * b := by
  sorry

theorem divides_l1_h0010 (a b : Nat) : a ∣ b * a * b := by
  sorry

theorem order_l2_h0006 (a b c : Nat) (h1 : a ≤ b) (h2 : c ≤ a ^ 2) : c ≤ b ^ 2 := by
  sorry

theorem exists_l3_h0003 (w x y z : Nat) (h1 : y = x * z) (h2 : x ∣ w) : ∃ u : Nat, y + w = x * u := by
  sorry

theorem gauss_sum_l4 (f : Nat → Nat) (h0 : f 0 = 0) (hs : ∀ n : Nat, f (n + 1) = f n + (n + 1)) (n : Nat) : 2 * f n = n * (n + 1) := by
  sorry

theorem order_l5_h0010 (a b c d u v : Nat) (h1 : a < b) (h2 : c ≤ d) (h3 : u < v) : (a + (c + u)) * u * v ≤ (b + (d + v)) * u * v := by
  sorry

theorem nat_identity_l6_h0012 (a b : Nat) : a * (a * a) * a ^ b * b ^ (b + 2) = (b * a) ^ (b + 2) * a := by
  sorry

theorem mixed_l1_h0006 (p : Prop) (k l m n : Nat) (h : n ≤ m) (h1 : k ≤ l) (h2 : n * k ≤ m * l → p) : p := by
  sorry

theorem cancel_l2_h0006 (k l m n : Nat) (h : 0 < k) (h1 : l ≠ 0) (h2 : n * (k + 1) * l ≤ m * (k + 1) * l) : n ≤ m := by
  sorry

theorem equation_l3_h0004 (k m n : Nat) (h1 : m = n + 3) (h2 : n * m = k) : (k + m) * m = (3 + (n + n * (3 + n))) * (3 + n) := by
  sorry

theorem induction_l4_h0008 (f : Nat → Nat) (c m : Nat) (h0 : f 0 = 3) (hs : ∀ x : Nat, f (x + 1) = f x + c) : f m = m * c + 3 := by
  sorry

theorem induction_l5_h0010 (f : Nat → Nat) (h0 : f 0 = 3) (hs : ∀ i : Nat, f (i + 1) = f i + 4) : ∀ k : Nat, f k = k * 4 + 3 := by
  sorry

theorem nat_identity_l6_h0014 (n m : Nat) : (n * m) ^ m * n = n * (n ^ m * m ^ m) := by
  sorry

theorem nat_identity_l1_h0008 (n m : Nat) : (n * m) ^ m = n ^ m * m ^ m := by
  sorry

theorem nat_identity_l2_h0004 (n : Nat) : ∀ m : Nat, (m * m) ^ m * n = m ^ m * m ^ m * n := by
  sorry

theorem mixed_l3_h0002 (a b c : Nat) (h2 : 0 < c ∧ a * c * (c + 1) = c * b * (c + 1)) : a = b := by
  sorry

theorem divides_l4_h0008 (u w x y z : Nat) (h1 : y ∣ z) (h2 : w = z) (h3 : u ∣ y) : u ∣ y * x + (y * z + w) := by
  sorry

theorem divides_l5_h0004 (k l m n u : Nat) (h1 : m ∣ k) (h2 : m ∣ n) (h3 : u = (l * m + (k + n) + m * m) * l) : m ∣ u := by
  sorry

theorem nat_identity_l6_h0010 (n : Nat) : ∀ m : Nat, (n * n) ^ (m + 2) = n ^ m * (n ^ m * (n * n * n) * n) := by
  sorry

theorem cancel_l1_h0006 (x y z : Nat) (h : 0 < z) (h1 : z * x ≤ z * y) : x ≤ y := by
  sorry

theorem mixed_l2_h0007 (p : Prop) (x y z : Nat) (h2 : p → y ∣ z) (h1 : p) : y ∣ x * y + z := by
  sorry

theorem lists_l3_h0007 (α : Type) (f : List α → Nat) (l m : List α) (h : f [] = 0) (h1 : ∀ x t, f (x :: t) = f t + 2) : f (l ++ m) = f l + f m := by
  sorry

theorem two_step_induction_l4 (P : Nat → Prop) (h0 : P 0) (h1 : P 1) (h2 : ∀ n : Nat, P n → P (n + 2)) (n : Nat) : P n ∧ P (n + 1) := by
  sorry

theorem induction_l5_h0012 (f : Nat → Nat) (h0 : f 0 = 1) (hs : ∀ k : Nat, f (k + 1) = f k + 4) : ∀ a : Nat, f a = a * 4 + 1 := by
  sorry

theorem divides_l6_h0002 (a b c d u : Nat) (h1 : b = a * (a * a)) (h2 : u = a * a * (a * d) * c) : a * (a * d) ∣ c * ((b + a * c) * u) := by
  sorry

theorem nat_identity_l1_h0002 (a c : Nat) : a ^ a * a ^ a * c = (a * a) ^ a * c := by
  sorry

theorem divides_l2_h0002 (u v w y z : Nat) (h : y ∣ z) (h1 : w ∣ y) (h2 : u = z) (h3 : v ∣ w) : v ∣ u := by
  sorry

theorem mixed_l3_h0006 (f : Nat → Nat) (k m n a : Nat) (h1 : 3 + (n + k) < 3 + (m + k)) (h0 : f 0 = 5) (hs : ∀ x : Nat, f (x + 1) = f x) : n < m ∧ f a = 5 := by
  sorry

theorem nat_identity_l4_h0002 (a b : Nat) : (b * a) ^ (a + 1) * a = a ^ (a + 1) * (b ^ (a + 1) * a) := by
  sorry

theorem order_l5_h0004 (u v w x y z : Nat) (h : x ≤ y) (h1 : w ≤ u) (h2 : v < x * z * w ^ 2) : v ≠ y * z * u ^ 2 + 1 + y := by
  sorry

theorem mixed_l6_h0022 (b a e c d : Nat) (h1 : e ∣ a) (h2 : c ∣ d) : 2 + (b + b + b) = b + (b + (2 + b)) ∧ e * c ∣ a * a * (e * c + d) := by
  sorry

theorem cancel_l1_h0008 (a b c : Nat) (h1 : c ≠ 0) (h2 : c * a = c * b) : a = b := by
  sorry

theorem le_mul_self_l2 (n : Nat) : n ≤ n * n := by
  sorry

theorem order_l3_h0004 (u w x y z : Nat) (h1 : y ≤ 0) (h2 : z ≤ w) (h3 : u ≤ y + z) : u * u ≤ (x + w) * u := by
  sorry

theorem exists_l4_h0006 (k l m n u : Nat) (h : n ∣ m) (h1 : n ∣ k) (h2 : l = n * u) : n ∣ m + k + l := by
  sorry

theorem mixed_l5_h0008 (f : Nat → Nat) (a b : Nat) (hs : ∀ k : Nat, f k < f (k + 1)) : b + a * (b * a) = a * b * a + b ∧ (∀ n : Nat, n ≤ f n) := by
  sorry

theorem nat_identity_l6_h0026 (n k : Nat) : (n * k) ^ (n + 2) = k * k ^ n * n ^ n * (k * (n * n)) := by
  sorry

theorem order_l1_h0008 (x y : Nat) (h : y ≤ 0) : y ^ 2 ≤ x ^ 2 := by
  sorry

theorem induction_l2_h0002 (f : Nat → Nat) (hs : ∀ m : Nat, f m ≤ f (m + 1)) : ∀ n : Nat, f 0 ≤ f n := by
  sorry

theorem lists_l3_h0002 (α β : Type) (g : α → β) (f : List α → List β) (xs : List α) (h : f [] = []) (h1 : ∀ x t, f (x :: t) = g x :: f t) : f xs = List.map g xs := by
  sorry

theorem mixed_l4_h0006 (p : Prop) (x k m n : Nat) (h : 0 < x) (h1 : k ≠ 0) (h2 : n * k ≤ m * k) : p ∨ 0 < (x + 1) * x ∧ n ≤ m := by
  sorry

theorem induction_l5_h0004 (s : Nat → Nat) (c : Nat) (h0 : s 0 = 1) (hs : ∀ x : Nat, s (x + 1) = s x + c) : ∀ n : Nat, s n = n * c + 1 := by
  sorry

theorem nat_identity_l6_h0028 (x y z : Nat) : (z * y) ^ (x + 2) * x = z * x * (z * y ^ (x + 2)) * z ^ x := by
  sorry

theorem nat_identity_l1_h0010 (a : Nat) : a ^ a * a * a ^ a = (a * a) ^ a * a := by
  sorry

theorem equation_l2_h0002 (a b c d : Nat) (h : b * c = d) (h1 : c = a + b) : c * c * d = b * ((b + a) * (b + a) * (b + a)) := by
  sorry

theorem divides_l3_h0002 (a b d u : Nat) (h1 : b ∣ a) (h2 : d ∣ u) : b * d ∣ a * a * b * u := by
  sorry

theorem cancel_l4_h0008 (a b c d : Nat) (h : 0 < c) (h1 : d ≠ 0) (h2 : c * a * d * (d + 1) = (d + 1) * (d * (b * c))) : a = b := by
  sorry

theorem order_l5_h0002 (a b c d u v : Nat) (h : a ≤ b) (h1 : c ≤ d) (h2 : u ≤ a + 0 + c ^ a) (h3 : v ≤ d + u) : v ≤ d + (b + a + d ^ a) := by
  sorry

theorem mixed_l6_h0004 (a b c d k m n : Nat) (h : 0 < c) (h1 : 0 < d) : d * (a * c) ≤ d * (c * b) → k + (k + n) = m + k + k → a ≤ b ∧ n = m := by
  sorry

theorem order_l1_h0006 (a b : Nat) (h : a ≤ b) : a * b ≤ b * b := by
  sorry

theorem order_l2_h0004 (x y : Nat) (h : x ≤ y) : x ^ y ≤ y ^ y + x := by
  sorry

theorem divides_l3_h0006 (u v w y z : Nat) (h : y ∣ z) (h1 : w ∣ u) (h2 : v = y * w * z + z * u) : y * w ∣ v := by
  sorry

theorem cancel_l4_h0002 (k m n u : Nat) (h : 0 < k) (h1 : 0 < u) (h2 : (u + 1) * (k * n * (k + 1)) = (k + 1) * (m * k) * (u + 1)) : n = m := by
  sorry

theorem equation_l5_h0002 (w x y z : Nat) (h1 : w = z * x) (h2 : y = 1) (h3 : z = y + x) : x + w * (y * w) = x + x * x * (x + 1) * (x + 1) := by
  sorry

theorem nat_identity_l6_h0018 (n m k : Nat) : (m * k) ^ (n + 2) * m = m * m ^ n * (m * k ^ (n + 2)) * m := by
  sorry

theorem lists_l1_h0010 (α : Type) (l1 : List α) : List.length (l1 ++ (l1 ++ l1)) = List.length (l1 ++ l1) + List.length l1 := by
  sorry

theorem divides_l2_h0004 (k l m n : Nat) (h : m ∣ k) (h1 : l = n * n * k) : n * m ∣ l := by
  sorry

theorem mixed_l3_h0008 (p : Prop) (a b c : Nat) (h : b = a * c ∨ p ∧ ¬p) : a ∣ b := by
  sorry

theorem exists_l4_h0004 (a b d u v : Nat) (h1 : a ∣ b) (h2 : d = a * u) (h3 : a ∣ v) : a ∣ b + d + v := by
  sorry

theorem two_dvd_consecutive_l5 (n : Nat) : 2 ∣ n * (n + 1) := by
  sorry

theorem mixed_l6_h0018 (k a b c d e : Nat) (h5 : 0 < k ∧ a ≤ b) (h4 : c ≤ a) (h2 : d = c) (h3 : e ≤ d) : (∀ m : Nat, 0 < k ^ m) ∧ e ≤ b := by
  sorry

theorem exists_l1_h0004 : ∃ n : Nat, n * n = 144 := by
  sorry

theorem mixed_l2_h0003 (n m a b : Nat) (h : b < a) : (n * n) ^ m = n ^ m * n ^ m ∧ (b < a ∨ b = a) := by
  sorry

theorem equation_l3_h0002 (w x y z : Nat) (h : x + y = w) (h1 : x = z) : z * w * w = (x + y) * y * x + (x + y) * x * x := by
  sorry

theorem lists_l4_h0002 (α : Type) (a : α) (l m : List α) : List.length (a :: l ++ m ++ m ++ m) = 1 + List.length (l ++ (m ++ (m ++ m))) := by
  sorry

theorem induction_l5_h0006 (s : Nat → Nat) (h0 : s 0 = 3) (hs : ∀ k : Nat, s (k + 1) = s k + 3) : ∀ a : Nat, s a = 3 * a + 3 := by
  sorry

theorem mixed_l6_h0016 (p : Prop) (a x y z : Nat) : (0 < 3 ^ a ∨ p) ∧ (z + y) * x + z = z * x + (z + y * x) := by
  sorry

theorem mixed_l1_h0004 (p : Prop) (h : (∃ k : Nat, k * k = 36) → p) : p := by
  sorry

theorem lists_l2_h0006 (α : Type) (xs ys : List α) : List.length (ys ++ (xs ++ ys)) = List.length ys + List.length (ys ++ xs) := by
  sorry

theorem lists_l3_h0005 (F : List Nat → Nat) (l1 l2 : List Nat) (h0 : F [] = 1) (hs : ∀ x t, F (x :: t) = x * F t) : F (l1 ++ l2) = F l1 * F l2 := by
  sorry

theorem induction_l4_h0006 (s : Nat → Nat) (c k : Nat) (h0 : s 0 = 3) (hs : ∀ m : Nat, s (m + 1) = s m + c) : s k = c * k + 3 := by
  sorry

theorem nat_identity_l5_h0012 (n m : Nat) : (m * n) ^ (n + 2) * m = m * m * (m ^ n * n ^ (n + 2) * m) := by
  sorry

theorem nat_identity_l6_h0004 (b : Nat) : ∀ d : Nat, (b * b) ^ 2 * (b ^ b * d) * b ^ b = (b * b) ^ (b + 2) * d := by
  sorry

theorem exists_l1_h0011 : ∃ n : Nat, 4 + n = 8 := by
  sorry

theorem exists_l2_h0002 (k l m n : Nat) (h : m = n * k) : n ∣ m * l := by
  sorry

theorem mixed_l3_h0004 (n a b c : Nat) (h1 : c ≠ 0) (h2 : a * c = b * c) : n ∣ n * (n * n) ∧ a = b := by
  sorry

theorem equation_l4_h0004 (a b c d u : Nat) (h1 : c = b + a) (h2 : a * c = d) (h3 : u = d) : a * (b * u) = a * ((a + b) * a * b) := by
  sorry

theorem divides_l5_h0012 (w x y z : Nat) (h1 : y ∣ x) (h2 : x * y ∣ z) (h3 : w = (x * x + x * x) * x * (x * x) + z + x * y * x) : x * y ∣ w := by
  sorry

theorem divides_l6_h0004 (k l m n u : Nat) (h1 : k ∣ n * n * n) (h2 : u = m * (n * n * (n * n) * (n * m + n * m)) + k * l) : k ∣ u := by
  sorry

theorem nat_identity_l1_h0006 (a : Nat) : (a * a) ^ (a + 2) = a ^ a * a ^ a * (a * a) ^ 2 := by
  sorry

theorem cancel_l2_h0002 (a b c : Nat) (h1 : 0 < c) (h2 : c * a ≤ b * c) : a ≤ b := by
  sorry

theorem equation_l3_h0006 (k l m n : Nat) (h1 : k = n * 2) (h2 : l = k * m) : n * l * k = n * (m * (2 * n)) * (2 * n) := by
  sorry

theorem mixed_l4_h0002 (A : Nat → Prop) (k a y : Nat) (h1 : A 0 ∧ (∀ x : Nat, A x → A (x + 1))) (h : a ≤ y) : A k ∧ a + y ≤ y + y := by
  sorry

theorem mixed_l5_h0004 (p : Prop) (k l m n a b c : Nat) (h : l = n * m * k) (h1 : c ∣ a) : p ∨ n ∣ l ∧ c ∣ c * b + c * a := by
  sorry

theorem mixed_l6_h0024 (A : Nat → Prop) (h0 : A 0) (hs : ∀ x : Nat, A x → A (x + 1)) : (∀ a : Nat, 1 ≤ 3 ^ a) ∧ (∀ k : Nat, A k) := by
  sorry

theorem divides_l1_h0002 (m n : Nat) (h : m = n * n) : n ∣ m := by
  sorry

theorem exists_l2_h0006 (a b c : Nat) (h : b = c * c + a) : ∃ k : Nat, a + k = b := by
  sorry

theorem nat_identity_l3_h0004 (x y : Nat) : (x * y) ^ x * x = x ^ x * (y ^ x * x) := by
  sorry

theorem lists_l4_h0004 (α : Type) (b : α) (l1 l2 : List α) : List.length (b :: l1 ++ (l2 ++ l1)) = List.length l1 + List.length (l1 ++ l2) + 1 := by
  sorry

theorem exists_l5_h0002 (a b d u : Nat) (h : a ∣ b) (h1 : a ∣ d) (h2 : a ∣ u) : a ∣ b + d + u := by
  sorry

theorem nat_identity_l6_h0016 (x : Nat) : ∀ y : Nat, (y * x) ^ (x + 2) * x = x * (y * y * x ^ (x + 2)) * y ^ x := by
  sorry

theorem exists_l1_h0002 : ∃ k : Nat, 3 + k = 6 := by
  sorry

theorem induction_l2_h0004 (P : Nat → Prop) (k : Nat) (h0 : P 0) (hs : ∀ i : Nat, P i → P (i + 1)) : P k := by
  sorry

theorem order_l3_h0008 (a b c : Nat) (h1 : a ≤ b) (h2 : c < a * b) : c ≠ b * b + 2 := by
  sorry

theorem mixed_l4_h0004 (p : Prop) (k m n : Nat) (h1 : n ∣ m) (h2 : n ∣ k) : (∃ l : Nat, m + k = n * l) ∨ ¬p := by
  sorry

theorem equation_l5_h0004 (a b c d : Nat) (h1 : c = a + b) (h2 : d = a) : c * (d * d) = a * ((b + a) * a) := by
  sorry

theorem mixed_l6_h0008 (p : Prop) (a b c d i : Nat) (h : a ≤ b) (h1 : d ≤ c + a) (h2 : 0 < i) : d ≤ c + b ∧ (∀ m : Nat, 0 < i ^ m) ∨ p := by
  sorry

theorem order_l1_h0002 (a b c d : Nat) (h : a ≤ b) (h1 : c ≤ a) : c ^ d ≤ b ^ d := by
  sorry

theorem mixed_l2_h0010 (p : Prop) (x y z : Nat) (h : 0 < z) (h3 : p → z * x ≤ z * (y + 1)) (h2 : p) : x ≤ y + 1 := by
  sorry

theorem order_l3_h0006 (a b : Nat) (h1 : a ≤ b) : a * (a ^ 2 * a) ≤ a * (b ^ 2 * a + a) := by
  sorry

theorem nat_identity_l4_h0004 (a b c : Nat) : (b * a) ^ (c + 2) = b ^ c * (b * b) * (a * a * a ^ c) := by
  sorry

theorem induction_l5_h0002 (P Q : Nat → Prop) (h0 : P 0) (hs : ∀ k : Nat, P k → Q (k + 1)) (ht : ∀ k : Nat, Q k → P (k + 1)) : ∀ a : Nat, P a ∨ Q a := by
  sorry

theorem nat_identity_l6_h0020 (a b : Nat) : (a * b) ^ (b + 2) * a = a ^ b * (a * b ^ b * (b * a) ^ 2) := by
  sorry

theorem divides_l1_h0008 (a b c : Nat) (h1 : c = a * b) : a ∣ c := by
  sorry

theorem exists_l2_h0008 (x y z : Nat) (h : y = z + 3 + x) : ∃ n : Nat, x + n = y := by
  sorry

theorem lists_l3_h0009 (α : Type) (b : α) (l1 : List α) : List.length (b :: [] ++ List.reverse (List.reverse l1)) = 1 + List.length l1 := by
  sorry

theorem order_l4_h0006 (a b c d u : Nat) (h : b ≤ c) (h1 : d ≤ a + b) (h2 : u = a + a + c) : (b + d) ^ 2 ≤ (b + u) ^ 2 + c := by
  sorry

theorem nat_identity_l5_h0010 (n m : Nat) : ∀ k : Nat, (m * k) ^ m * n = k ^ m * (m ^ m * n) := by
  sorry

theorem mixed_l6_h0010 (c k a n : Nat) : 0 < a → 1 ≤ (c + 1) ^ k ∧ 0 < a ^ n := by
  sorry

theorem cancel_l1_h0002 (k m n : Nat) (h : 0 < k) (h1 : n * k ≤ m * k) : n ≤ m := by
  sorry

theorem nat_identity_l2_h0006 (a : Nat) : (a * a) ^ a * a = a ^ a * (a ^ a * a) := by
  sorry

theorem cancel_l3_h0008 (k m n : Nat) (h1 : 0 < k) (h2 : (k + 1) * (k * n) ≤ m * k * (k + 1)) : n ≤ m := by
  sorry

theorem equation_l4_h0002 (a b c d : Nat) (h : c = a * b) (h1 : d = a) : b * c * d = a * b * (a * b) := by
  sorry

theorem nat_identity_l5_h0002 (x y : Nat) : ∀ z : Nat, (z * x) ^ y * z = x ^ y * z * z ^ y := by
  sorry

theorem mixed_l6_h0012 (k l m c a : Nat) (h : m ∣ k) (h1 : l = k) : m ∣ (l + m * m) * l ∧ 1 ≤ (c + 1) ^ a := by
  sorry

theorem lists_l1_h0006 (α : Type) (bs cs : List α) : List.length (bs ++ (cs ++ cs)) = List.length (cs ++ cs) + List.length bs := by
  sorry

theorem cancel_l2_h0004 (k m n : Nat) (h1 : k ≠ 0) (h2 : (k + 1) * (n * k) ≤ (k + 1) * (m * k)) : n ≤ m := by
  sorry

theorem induction_l3_h0004 (f : Nat → Nat) (c n : Nat) (h0 : f 0 = 1) (hs : ∀ k : Nat, f (k + 1) = f k * c) : f n = c ^ n := by
  sorry

theorem lists_l4_h0008 (α : Type) (b : α) (xs ys : List α) : List.length ([] ++ b :: [] ++ xs ++ ys) = List.length ys + 1 + List.length xs := by
  sorry

theorem divides_l5_h0006 (u w x y z : Nat) (h : y ∣ z) (h1 : w ∣ x * y) (h2 : w * y ∣ x) (h3 : u = x * x * z * (w * (y * w)) + x) : w * y ∣ u * z := by
  sorry

theorem nat_identity_l6_h0002 (y z w : Nat) : (w * z) ^ y * w = w * (w ^ y * z ^ y) := by
  sorry

theorem order_l1_h0010 (k m n : Nat) (h1 : n = m) (h2 : k ≤ n) : m * k ≤ m * m := by
  sorry

theorem nat_identity_l2_h0002 (a b : Nat) : (b * a) ^ a * b = b ^ a * (b * a ^ a) := by
  sorry

theorem even_add_even_l3 (a b : Nat) (h : ∃ k : Nat, a = 2 * k) (h1 : ∃ k : Nat, b = 2 * k) : ∃ k : Nat, a + b = 2 * k := by
  sorry

theorem nat_identity_l4_h0006 (x y : Nat) : ∀ z : Nat, (z * x) ^ y * y = y * (x ^ y * z ^ y) := by
  sorry

theorem divides_l5_h0008 (a b c d e : Nat) (h1 : b ∣ c) (h2 : e = b * (b * d) + a * (c * (d * a))) : b * d ∣ e * (e + d * (b * d)) := by
  sorry

theorem mixed_l6_h0006 (p : Prop) (a b x y : Nat) (h : (∀ c : Nat, b * (c * a * b * c) = a * (b * (c * (b * c)))) → p) : p ∧ x ∣ x * y + x * y := by
  sorry

theorem cancel_l1_h0004 (a b c : Nat) (h1 : c ≠ 0) (h2 : a * c ≤ b * c) : a ≤ b := by
  sorry

theorem exists_l2_h0004 (a b c d u : Nat) (h : b = a * c) (h1 : d = a * u) : a ∣ b + d := by
  sorry

theorem divides_l3_h0008 (k l m : Nat) (h1 : m ∣ k) (h2 : l = k) : m ∣ l * (l + k * m) := by
  sorry

theorem lists_l4_h0006 (α : Type) (a : α) (ys : List α) : List.length (List.reverse (a :: ys ++ a :: ys)) = 1 + (List.length ys + (1 + List.length ys)) := by
  sorry

theorem nat_identity_l5_h0006 (n k l : Nat) : (l * n) ^ k * l = l ^ k * (l * n ^ k) := by
  sorry

theorem mixed_l6_h0026 (p : Prop) (i a b c : Nat) (h2 : p → 0 < i) (h1 : p) (h3 : 0 < c) (h4 : (c + 1) * a ≤ b * (c + 1)) : (∀ m : Nat, 0 < i ^ m) ∧ a ≤ b := by
  sorry

theorem exists_l1_h0007 : ∃ k : Nat, k * k = 100 := by
  sorry

theorem divides_l2_h0006 (k l m : Nat) (h : m ∣ k) (h1 : l = m * k) : m ∣ l := by
  sorry

theorem cancel_l3_h0004 (a b c d : Nat) (h : c ≠ 0) (h1 : 0 < d) (h2 : a * c * d * c = c * (d * (b * c))) : a = b := by
  sorry

theorem divides_l4_h0004 (b c d u : Nat) (h : b ∣ c) (h1 : d ∣ b) (h2 : u = c) : d ∣ d * c + (d * d + u) := by
  sorry

theorem mixed_l5_h0010 (P Q : Nat → Prop) (b c d : Nat) (h1 : ∀ x : Nat, P x ↔ Q x) (h5 : b ∣ c) : ((∀ x : Nat, Q x) → (∀ x : Nat, P x)) ∧ b ∣ c + d * b := by
  sorry

theorem nat_identity_l6_h0008 (n k : Nat) : ∀ l : Nat, (n * l) ^ (k + 2) * k = l * n ^ 2 * l * k * l ^ k * n ^ k := by
  sorry

theorem mixed_l1_h0002 (p : Prop) (w y z : Nat) (h : y ∣ z) (h1 : w ∣ y) (h2 : w ∣ z → p) : p := by
  sorry

theorem lists_l2_h0008 (α : Type) (m k : List α) : List.length (m ++ k ++ m) = List.length (k ++ m) + List.length m := by
  sorry

theorem induction_l3_h0002 (s : Nat → Nat) (c : Nat) (h0 : s 0 = c) (hs : ∀ k : Nat, s (k + 1) = s k) : ∀ m : Nat, s m = c := by
  sorry

theorem exists_l4_h0002 (a b c d e u : Nat) (h : b = a * c) (h1 : d = a * e) (h2 : a ∣ u) : a ∣ b + d + u := by
  sorry

theorem order_l5_h0006 (k l m n u v : Nat) (h : n ≤ m) (h1 : k ≤ n) (h2 : l ≤ k) (h3 : u < v) : (l + u + k + l) ^ n ≤ (m + v + k + l) ^ n := by
  sorry

theorem mixed_l6_h0020 (c a k : Nat) : (∀ n : Nat, 0 < (c + 1) ^ n) ∧ 0 + ((k + a) * 1 + k) = a + k + k := by
  sorry

theorem mixed_l1_h0010 (w y z : Nat) (h : y ∣ z ∧ w ∣ y) : w ∣ z := by
  sorry

theorem cancel_l2_h0008 (a b c : Nat) (h : c ≠ 0) (h1 : a * c ≤ c * b) : a ≤ b := by
  sorry

theorem order_l3_h0002 (a b c d e u : Nat) (h1 : a ≤ b) (h2 : c = a) (h3 : e ≤ u) : d * c + e ≤ d * b + u := by
  sorry

theorem induction_l4_h0004 (f : Nat → Nat) (c : Nat) (h0 : f 0 = 0) (hs : ∀ k : Nat, f (k + 1) = f k + c) : ∀ m : Nat, f m = m * c := by
  sorry

theorem mixed_l5_h0006 (a c : Prop) (x y z e b n d : Nat) (h1 : c ∧ a) (h : x < y) (h4 : n = b * e) (h5 : d ∣ e) : (c ∧ x + z ≤ y + z) ∧ d ∣ n := by
  sorry

theorem divides_l6_h0008 (w x y z : Nat) (h1 : y ∣ z) (h2 : y ∣ x) (h3 : w = y * z + (z + z) + x + y * y) : y ∣ w + z * y := by
  sorry

theorem divides_l1_h0004 (m n : Nat) (h1 : m ∣ n) : m ∣ n * n := by
  sorry

theorem exists_forall_swap_l2 (R : Nat → Nat → Prop) (h : ∃ x : Nat, ∀ y : Nat, R x y ∧ R y x) : ∀ y : Nat, ∃ x : Nat, R x y := by
  sorry

theorem divides_l3_h0004 (u w x y z : Nat) (h1 : y ∣ z) (h2 : u = z * w) : x * y * w ∣ x * x * z * u := by
  sorry

theorem exists_l4_h0008 (a b c d u : Nat) (h : b = a * c) (h1 : a ∣ d) (h2 : a ∣ u) : a ∣ b + d + u := by
  sorry

theorem nat_identity_l5_h0004 (x y : Nat) : (x * y) ^ (y + 2) = x * x * (y ^ y * y * y) * x ^ y := by
  sorry

theorem mixed_l6_h0014 (p : Prop) (a b c d n : Nat) (h : b + (c + a + 2) < b + (c + b + 2)) : a < b ∧ 0 < (d + 1) ^ n ∨ ¬p := by
  sorry

theorem lists_l1_h0002 (α : Type) (l m : List α) : List.length (m ++ (l ++ m)) = List.length (l ++ m) + List.length m := by
  sorry

theorem order_l2_h0008 (a b : Nat) (h : 0 < a) (h1 : b ≤ 0) : b ^ a ≤ a ^ a := by
  sorry

theorem nat_identity_l3_h0006 (x : Nat) : (x * x) ^ x * x = x * x ^ x * x ^ x := by
  sorry

theorem order_l4_h0004 (a b c d u v : Nat) (h : a ≤ b) (h1 : c ≤ d) (h2 : u ≤ v) : (a + c) * a + b * u ≤ (b + d) * a + b * v := by
  sorry

theorem order_l5_h0008 (a b c d e : Nat) (h1 : c ≤ d) (h2 : e = d * (b + (a + 1) + b * (d + 1))) : d * (b + a + b * c) ≤ e := by
  sorry

theorem equation_l6_h0002 (w x y z : Nat) (h1 : w = y * x) (h2 : y = z) : (z + w * w) * z = y * (x * x * (y * y) + y) := by
  sorry

theorem exists_l1_h0009 : ∃ n : Nat, n * n = 1 ∧ n < 2 := by
  sorry

theorem induction_l2_h0008 (f : Nat → Nat) (n : Nat) (h0 : f 0 = 2) (hs : ∀ x : Nat, f (x + 1) = f x) : f n = 2 := by
  sorry

theorem exists_l3_h0005 (w x y z : Nat) (h : x ∣ y) (h1 : z = x * w) : ∃ n : Nat, y + z = x * n := by
  sorry

theorem cancel_l4_h0004 (a b c d : Nat) (h1 : 0 < c) (h2 : 0 < d) (h3 : c * a * d * c = c * (d * ((b + 1) * c))) : a = b + 1 := by
  sorry

theorem nat_identity_l5_h0008 (a b : Nat) : ∀ c : Nat, a * (a ^ c * b ^ c) = (b * a) ^ c * a := by
  sorry

theorem even_or_odd_l6 (n : Nat) : (∃ k : Nat, n = 2 * k) ∨ (∃ k : Nat, n = 2 * k + 1) := by
  sorry

theorem lists_l1_h0008 (α : Type) (l1 l2 : List α) : List.length (l1 ++ (l1 ++ l2)) = List.length (l1 ++ l2) + List.length l1 := by
  sorry

theorem induction_l2_h0006 (f : Nat → Nat) (c a : Nat) (h0 : f 0 ≤ c + 3) (hs : ∀ x : Nat, f (x + 1) ≤ f x) : f a ≤ c + 3 := by
  sorry

theorem nat_identity_l3_h0002 (a : Nat) : (a * 2) ^ a * 2 = a ^ a * 2 * 2 ^ a := by
  sorry

theorem divides_l4_h0006 (u w y z : Nat) (h1 : y ∣ z) (h2 : w ∣ u) (h3 : y * w ∣ y) : y * w ∣ z * u + y + y * w * u := by
  sorry

theorem divides_l5_h0002 (a b c d e u : Nat) (h : b ∣ c) (h1 : e ∣ c) (h2 : u = c * c * (a * d) * (b * (c * b))) : b * d * e ∣ u := by
  sorry

theorem nat_identity_l6_h0006 (x : Nat) : ∀ y : Nat, (x * y) ^ (y + 2) = x * (x * x ^ y) * (y * y * y ^ y) := by
  sorry

theorem nat_identity_l1_h0004 (a : Nat) : (2 * a) ^ a = a ^ a * 2 ^ a := by
  sorry

theorem order_l2_h0002 (a b c : Nat) (h1 : a ≤ b) (h2 : c < a * b) : c < b * b := by
  sorry

theorem cancel_l3_h0002 (w x y z : Nat) (h : 0 < z) (h1 : w ≠ 0) (h2 : z * x * w * (z + 1) = (z + 1) * (w * (z * (y + 1)))) : x = y + 1 := by
  sorry

theorem order_l4_h0002 (k l m n : Nat) (h1 : n < m) (h2 : k ≤ l) : k * (n + k) ^ n ≤ k * (m + l + m) ^ n := by
  sorry

theorem induction_l5_h0008 (f : Nat → Nat) (h0 : f 0 = 1) (hs : ∀ m : Nat, f (m + 1) = f m + 3) : ∀ a : Nat, f a = a * 3 + 1 := by
  sorry

theorem nat_identity_l6_h0022 (n : Nat) : (n * n) ^ (n + 2) = n * (n * n ^ n * n ^ n) * (n * n) := by
  sorry

theorem lists_l1_h0004 (α : Type) (l1 l2 l3 : List α) : List.length (l1 ++ (l2 ++ l3)) = List.length (l2 ++ l3) + List.length l1 := by
  sorry

theorem mixed_l2_h0005 (p q : Prop) (b c d : Nat) (h1 : b ∣ c) (h2 : d ∣ b) : (¬p ∨ d ∣ c) ∨ ¬q := by
  sorry

theorem cancel_l3_h0006 (a b c e : Nat) (h1 : 0 < c) (h2 : 0 < e) (h3 : e * (a * c * (c + 1)) = e * (c * b * (c + 1))) : a = b := by
  sorry

theorem induction_l4_h0002 (f : Nat → Nat) (h0 : f 0 = 2) (hs : ∀ k : Nat, f (k + 1) = f k + 1) : ∀ a : Nat, f a = 2 + a := by
  sorry

theorem mixed_l5_h0002 (p : Prop) (i a : Nat) (h2 : p → 0 < i) (h : p) : (∀ k : Nat, 0 < i ^ k) ∧ a + 3 = 3 + a := by
  sorry

theorem mixed_l6_h0002 (p r : Prop) (w x y z : Nat) (h1 : p → ¬r) (h2 : ¬p ∨ p → r) (h3 : 0 < z) (h4 : 0 < w) (h5 : w * (z * x) ≤ y * z * w) : r ∧ x ≤ y := by
  sorry

theorem order_l1_h0004 (a b : Nat) (h : a ≤ b) : a ^ a ≤ b ^ a := by
  sorry

theorem lists_l2_h0004 (α : Type) (a : α) (xs ys : List α) : 1 + List.length ys + List.length xs = List.length (xs ++ a :: ys) := by
  sorry

theorem induction_l3_h0006 (c m : Nat) : 1 ≤ (c + 1) ^ m := by
  sorry

theorem cancel_l4_h0006 (a b c d e : Nat) (h1 : 0 < c) (h2 : 0 < d) (h3 : e ≠ 0) (h4 : d * (a * (c + 1)) * e ≤ e * ((c + 1) * b * d)) : a ≤ b := by
  sorry

theorem divides_l5_h0010 (k l m n u v : Nat) (h : m ∣ k) (h1 : l ∣ m) (h2 : u ∣ l) (h3 : v = m * (n * m + k)) : u ∣ v + m * u := by
  sorry

theorem divides_l6_h0006 (x y z : Nat) (h : y ∣ x) (h1 : y * x ∣ x) (h2 : z = (x * x + x * x) * (y * (x * y)) + y * x * x + x) : y * x ∣ z := by
  sorry

theorem divides_l1_h0006 (k m n : Nat) (h1 : k = m * n) : n ∣ k := by
  sorry

theorem lists_l2_h0002 (α : Type) (P : List α → Prop) (l1 : List α) (h : P []) (h1 : ∀ x t, P t → P (x :: t)) : P l1 := by
  sorry
