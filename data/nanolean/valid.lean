/-
Held-out theorems of NanoLean (valid), levels 1 to 6.
The text is fixed, so that scores stay comparable. Made by scripts/make_nanolean_benchmark.py.
-/

theorem exists_l1_h0008 : ∃ n : Nat, n * n = 9 ∧ 0 ≤ n := by
  sorry

theorem lists_l2_h0005 (α : Type) (x : α) (as bs : List α) : List.length (as ++ x :: bs) = 1 + List.length bs + List.length as := by
  sorry

theorem nat_identity_l3_h0007 (x : Nat) : x * (x ^ x * x ^ x) = (x * x) ^ x * x := by
  sorry

theorem lists_l4_h0001 (α : Type) (b : α) (m k : List α) : List.length (List.reverse (k ++ b :: m ++ k)) = List.length (m ++ k) + (1 + List.length k) := by
  sorry

theorem order_l5_h0011 (a b c d e u : Nat) (h : b ≤ a) (h1 : c ≤ b) (h2 : d = a ^ 2 + a) (h3 : e = u) : c ^ 2 + (d + e) ≤ d + (d + u) := by
  sorry

theorem mixed_l6_h0023 (p : Prop) (c e b n d : Nat) (h1 : e ≤ b) (h2 : n ≤ e) : ¬p ∨ (∀ a : Nat, 1 ≤ (c + 1) ^ a) ∧ n + b ≤ b + (b + d) := by
  sorry

theorem order_l1_h0009 (x y : Nat) (h1 : x ≤ y) : x ^ 2 ≤ y ^ 2 := by
  sorry

theorem involution_injective_l2 (f : Nat → Nat) (a b : Nat) (h : ∀ x : Nat, f (f x) = x) (h1 : f a = f b) : a = b := by
  sorry

theorem exists_l3_h0002 (a b d : Nat) (h : a ∣ b) (h1 : a ∣ d) : ∃ n : Nat, b + d = a * n := by
  sorry

theorem sum_of_odds_l4 (f : Nat → Nat) (h0 : f 0 = 0) (hs : ∀ n : Nat, f (n + 1) = f n + (2 * n + 1)) (n : Nat) : f n = n * n := by
  sorry

theorem nat_identity_l5_h0011 (x y : Nat) : (y * x) ^ y * y = x ^ y * y * y ^ y := by
  sorry

theorem mixed_l6_h0011 (A B : Nat → Prop) (c a : Nat) : (∀ n : Nat, A n → B n) → ((∀ n : Nat, A n) → (∀ n : Nat, B n)) ∧ 0 < (c + 1) ^ a := by
  sorry

theorem exists_l1_h0005 : ∃ n : Nat, 5 + n = 12 := by
  sorry

theorem mixed_l2_h0006 (p : Prop) (m n : Nat) (h1 : m = n * n) : n ∣ m ∨ p := by
  sorry

theorem equation_l3_h0003 (a b c d : Nat) (h1 : c = a * a) (h2 : b * c = d) : b * d = a * (a * (b * b)) := by
  sorry

theorem odd_add_odd_l4 (a b : Nat) (h : ∃ k : Nat, a = 2 * k + 1) (h1 : ∃ k : Nat, b = 2 * k + 1) : ∃ k : Nat, a + b = 2 * k := by
  sorry

theorem mixed_l5_h0009 (a b c d e : Nat) : 0 < c → a * c ≤ b * c → a ≤ b ∧ d + d + e = d + e + d := by
  sorry

theorem mixed_l6_h0013 (p : Prop) (k l m n a b : Nat) (h1 : n ≤ m) (h2 : l = k * m) (h : k * n * k ≤ l * k → p) (h3 : 0 < a) : p ∧ 0 < a ^ b := by
  sorry

theorem mixed_l1_h0007 (p : Prop) (h : (∃ n : Nat, 2 + n = 2) → p) : p := by
  sorry

theorem divides_l2_h0003 (k l m : Nat) (h1 : m ∣ k) (h2 : l ∣ m) : l ∣ k * (k * k) := by
  sorry

theorem mixed_l3_h0001 (P : Nat → Prop) (p : Prop) (n : Nat) (h0 : P 0) (hs : ∀ x : Nat, P x → P (x + 1)) : P n ∨ p := by
  sorry

theorem exists_l4_h0007 (a b c d u v : Nat) (h : b = a * c) (h1 : d = a * u) (h2 : a ∣ v) : ∃ k : Nat, b + d + v = a * k := by
  sorry

theorem induction_l5_h0005 (f : Nat → Nat) (c : Nat) (h0 : f 0 = 1) (hs : ∀ m : Nat, f (m + 1) = f m + c) : ∀ k : Nat, f k = c * k + 1 := by
  sorry

theorem mixed_l6_h0009 (a b : Prop) (e c d : Nat) (h8 : (a ∧ b ∨ a) ∧ (a → b)) (h6 : e ∣ c) (h7 : d ∣ e) : ((a ∨ b) ∧ b) ∧ d ∣ c := by
  sorry

theorem lists_l1_h0005 (α : Type) (bs cs : List α) : List.length (List.reverse (cs ++ List.reverse bs)) = List.length (cs ++ List.reverse bs) := by
  sorry

theorem order_l2_h0005 (a b c : Nat) (h1 : a < b) (h2 : c ≤ (a * a) ^ 2) : c ≤ (a * b) ^ 2 := by
  sorry

theorem lists_l3_h0006 (α : Type) (F : List α → Nat) (l1 : List α) (h : F [] = 0) (h1 : ∀ y t, F (y :: t) = F t + 1) : F l1 = l1.length := by
  sorry

theorem lists_l4_h0007 (α : Type) (b : α) (l1 l2 : List α) : List.length l1 + 1 + List.length l2 = List.length (b :: [] ++ (l2 ++ (l1 ++ []))) := by
  sorry

theorem mixed_l5_h0011 (p : Prop) (k m n : Nat) (h : n ∣ m) : (p → n ∣ k) → p → n ∣ m + k := by
  sorry

theorem nat_identity_l6_h0001 (x z : Nat) : (x * z) ^ (z + 2) = z ^ z * (x * z) * x ^ z * x * z := by
  sorry

theorem lists_l1_h0009 (α : Type) (as bs : List α) : List.length (bs ++ as ++ as) = List.length as + List.length (bs ++ as) := by
  sorry

theorem induction_l2_h0001 (s : Nat → Nat) (c a : Nat) (h0 : s 0 ≤ c) (hs : ∀ k : Nat, s (k + 1) ≤ s k) : s a ≤ c := by
  sorry

theorem mixed_l3_h0005 (x y a : Nat) : (x ∣ y → (∃ n : Nat, y = x * n)) ∧ a * 3 = 3 * a := by
  sorry

theorem order_l4_h0001 (a b c d e : Nat) (h : a ≤ b) (h1 : c ≤ a) (h2 : d ≤ c) (h3 : e ≤ d) : a * e ≤ a * (b + a) + 1 := by
  sorry

theorem nat_identity_l5_h0005 (n l : Nat) : (l * n) ^ (l + 2) = n ^ l * (l * (n * n * l)) * l ^ l := by
  sorry

theorem nat_identity_l6_h0023 (x y : Nat) : (y * x) ^ (x + 2) * y = x ^ x * (x * x * y ^ (x + 2) * y) := by
  sorry

theorem mixed_l1_h0001 (p : Prop) (h : (∃ n : Nat, n + 4 = 5) → p) : p := by
  sorry

theorem cancel_l2_h0001 (a b c d : Nat) (h : 0 < c) (h1 : 0 < d) (h2 : d * (a * (c + 1)) ≤ d * ((c + 1) * b)) : a ≤ b := by
  sorry

theorem order_l3_h0003 (a b c d : Nat) (h : a < b) (h1 : c = b) : (b * a) ^ d ≤ (b * c) ^ d := by
  sorry

theorem divides_l4_h0005 (a b c d e : Nat) (h : b ∣ c) (h1 : e = b * a) : b * a ∣ a * (b * d + c) * e := by
  sorry

theorem order_l5_h0007 (k l m n u : Nat) (h : k = n + n + m + 1) (h1 : l ≤ u) : n + (n + m + l) ^ l ≤ n + (k + (u + 1)) ^ l := by
  sorry

theorem mixed_l6_h0025 (f : Nat → Nat) (c m a b : Nat) (hs : ∀ k : Nat, f k ≤ f (k + 1)) : f 0 ≤ f m + c ∧ 1 ≤ (a + 1) ^ b := by
  sorry

theorem lists_l1_h0007 (α : Type) (l1 l2 : List α) : List.length l1 + List.length l2 = List.length (l2 ++ l1) := by
  sorry

theorem exists_l2_h0001 (a b c : Nat) (h : b = c * 1 + a) : ∃ x : Nat, a + x = b := by
  sorry

theorem lists_l3_h0001 (α : Type) (F : List α → List α) (l : List α) (h : F [] = []) (h1 : ∀ y t, F (y :: t) = F t ++ [y]) : F l = l.reverse := by
  sorry

theorem nat_identity_l4_h0005 (x z w : Nat) : z ^ z * w * x ^ z = (x * z) ^ z * w := by
  sorry

theorem exists_l5_h0001 (a b d e : Nat) (h1 : a ∣ b) (h2 : a ∣ d) (h3 : a ∣ e) : ∃ n : Nat, b + d + e = a * n := by
  sorry

theorem mixed_l6_h0027 (p : Prop) (c d u a : Nat) (h : c ∣ d) (h2 : p ∧ ¬p ∨ u ∣ c) : u ∣ d + d ∧ a * (a + a) + a = a * a + (a + a * a) := by
  sorry

theorem cancel_l1_h0005 (x y z : Nat) (h1 : 0 < z) (h2 : z * x ≤ z * (y + 1)) : x ≤ y + 1 := by
  sorry

theorem lists_l2_h0003 (α : Type) (ys zs : List α) : List.length (ys ++ zs ++ zs) = List.length (zs ++ zs) + List.length ys := by
  sorry

theorem dvd_linear_l3 (a b c x y : Nat) (h : a ∣ b) (h1 : a ∣ c) : a ∣ x * b + y * c := by
  sorry

theorem lt_two_pow_l4 (n : Nat) : n < 2 ^ n := by
  sorry

theorem mixed_l5_h0003 (P : Nat → Prop) (m n k : Nat) (h0 : P 0) (hs : ∀ x : Nat, P x → P (x + 1)) : (n + m < m + m → n < m) ∧ P k := by
  sorry

theorem divides_l6_h0005 (u w x y z : Nat) (h : z ∣ w) (h1 : y ∣ w) (h2 : u = (w * x + z * z) * w * (y * (z * y + y * y) + w)) : z * y ∣ u := by
  sorry

theorem mixed_l1_h0009 (p : Prop) : p ∨ (∃ k : Nat, 5 + k = 9) := by
  sorry

theorem induction_l2_h0003 (f : Nat → Nat) (n : Nat) (hs : ∀ k : Nat, f k < f (k + 1)) : n ≤ f n := by
  sorry

theorem divides_l3_h0001 (w y z : Nat) (h : y ∣ z) (h1 : w ∣ y) : w ∣ z * y + y := by
  sorry

theorem mixed_l4_h0001 (w y z a b n m : Nat) (h : y ∣ z) (h1 : a ≤ b) : (y ∣ z + y * w ∧ b + a ≤ b + b) ∧ n * m = m * n := by
  sorry

theorem nat_identity_l5_h0003 (a b : Nat) : (b * a) ^ a * a = a * a ^ a * b ^ a := by
  sorry

theorem mixed_l6_h0017 (x y z : Nat) : z = x * y → (∀ k : Nat, 0 < 4 ^ k) ∧ x ∣ z + x * x := by
  sorry

theorem cancel_l1_h0003 (a b c : Nat) (h1 : 0 < c) (h2 : a * (c + 1) ≤ b * (c + 1)) : a ≤ b := by
  sorry

theorem order_l2_h0001 (w x y z : Nat) (h : x ≤ y) (h1 : z ≤ w) : (x + z + x) * x ≤ (y + w + x) * x := by
  sorry

theorem divides_l3_h0005 (u w x z : Nat) (h : z ∣ w) (h1 : u = w) : z ∣ z * z + (z * x + u) := by
  sorry

theorem divides_l4_h0003 (b c d e u : Nat) (h : b ∣ c) (h1 : d ∣ b) (h2 : e = b * d + c) (h3 : u ∣ d) : u ∣ c * d + e := by
  sorry

theorem order_l5_h0001 (u w x y z : Nat) (h1 : x ≤ y) (h2 : z ≤ w) (h3 : u = w + 1) : (x * x + z) * w ≤ (y * x + w) * u + 1 := by
  sorry

theorem nat_identity_l6_h0019 (m l : Nat) : (m * l) ^ (l + 2) = l ^ l * (m * m * m ^ l * (l * l)) := by
  sorry

theorem nat_identity_l1_h0009 (a : Nat) : (3 * a) ^ (a + 2) * a = (3 * a) ^ a * (3 * a) ^ 2 * a := by
  sorry

theorem exists_l2_h0005 (a b c : Nat) (h : b = c * 3 + a) : ∃ x : Nat, a + x = b := by
  sorry

theorem mixed_l3_h0007 (a b c d e n : Nat) (h : b ≤ c) (h2 : 0 < n) (h1 : 0 < e) : d + a * b ≤ d + (a + a) * c ∧ 0 < n * e := by
  sorry

theorem cancel_l4_h0001 (k m n u : Nat) (h : 0 < k) (h1 : 0 < u) (h2 : u * ((k + 1) * (n * k)) * u = (k + 1) * (k * m) * u * u) : n = m := by
  sorry

theorem mixed_l5_h0005 (w y z : Nat) : y ∣ z → w = z → y ∣ w * (w + w * y) + z := by
  sorry

theorem nat_identity_l6_h0017 (b : Nat) : b * b * b * (b * b) ^ b * (b * b) = (b * b) ^ (b + 2) * b := by
  sorry

theorem divides_l1_h0003 (b c d u : Nat) (h : b ∣ c) (h1 : d ∣ b) (h2 : u ∣ d) : u ∣ c := by
  sorry

theorem mixed_l2_h0002 (p : Prop) (m n : Nat) (h : n * m = 0) (hn : n ≠ 0) : m = 0 ∨ p := by
  sorry

theorem equation_l3_h0001 (u w x y z : Nat) (h1 : w = y * z) (h2 : z = x + x) (h3 : u = y) : w * (u + y) = y * (2 * x) * y + y * (2 * x) * y := by
  sorry

theorem exists_l4_h0005 (a b d i u v : Nat) (h1 : a ∣ b) (h2 : d = a * u) (h3 : v = a * i) : ∃ x : Nat, b + d + v = a * x := by
  sorry

theorem divides_l5_h0011 (k l m n u v : Nat) (h1 : m = n * n) (h2 : u ∣ v) (h3 : n * u ∣ m) (h4 : n * u ∣ l) : n * u ∣ k * (m * v + m) + l := by
  sorry

theorem mixed_l6_h0003 (x y z a b d : Nat) (h : x ∣ y) (h1 : x ∣ z) (h2 : a ≤ b) : ((∃ n : Nat, y + z = x * n) ∧ a < b + 1) ∧ d ∣ d * d * d + d * d := by
  sorry

theorem exists_l1_h0003 : ∃ k : Nat, 2 ≤ k ∧ k ≤ 7 := by
  sorry

theorem nat_identity_l2_h0003 (a b c : Nat) : (a * b) ^ b * c = b ^ b * (a ^ b * c) := by
  sorry

theorem lists_l3_h0004 (α : Type) (s : List α → List α) (l m : List α) (h0 : s [] = []) (hs : ∀ x t, s (x :: t) = s t ++ [x]) : s (l ++ m) = s m ++ s l := by
  sorry

theorem exists_l4_h0003 (k l m n u : Nat) (h1 : n ∣ m) (h2 : k = n * l) (h3 : n ∣ u) : ∃ v : Nat, m + k + u = n * v := by
  sorry

theorem divides_l5_h0003 (a c d u v : Nat) (h1 : c ∣ d) (h2 : u = d * (d * a)) (h3 : v ∣ c * d) (h4 : v ∣ u) : v ∣ u + c * d * a + u := by
  sorry

theorem equation_l6_h0001 (k m n : Nat) (h : m = 1 + n) (h1 : k = n * m) : n * (n * k + n) = (n + n * n * (n + 1)) * n := by
  sorry

theorem divides_l1_h0009 (k m n : Nat) (h : k ∣ n) : k ∣ m * (n * m) := by
  sorry

theorem cancel_l2_h0003 (a b c : Nat) (h1 : 0 < c) (h2 : c * a * c ≤ c * b * c) : a ≤ b := by
  sorry

theorem mixed_l3_h0003 (P : Nat → Prop) (p : Prop) (h0 : P 0) (hs : ∀ k : Nat, P k → P (k + 1)) : (∀ n : Nat, P n) ∨ p := by
  sorry

theorem nat_identity_l4_h0001 (x : Nat) : (x * x) ^ x * x = x ^ x * x * x ^ x := by
  sorry

theorem mixed_l5_h0001 (P Q S : Nat → Prop) (k m n : Nat) (h1 : ∀ n : Nat, P n ∧ Q n → S n) : n * k ∣ m * n * (m * k) ∧ (∀ n : Nat, P n → Q n → S n) := by
  sorry

theorem nat_identity_l6_h0003 (x y : Nat) : (x * y) ^ (x + 2) * y = y ^ 2 * x ^ 2 * ((y * x) ^ x * y) := by
  sorry

theorem mixed_l1_h0005 (p : Prop) (a b : Nat) (h1 : b ∣ a) (h : b ∣ a * a → p) : p := by
  sorry

theorem order_l2_h0007 (a b : Nat) (h1 : a ≤ b) : a * b ≤ (b + 1) * b := by
  sorry

theorem equation_l3_h0005 (a b c d : Nat) (h1 : c = a * b) (h2 : d = a) : c * (d * d) = b * (a * a * a) := by
  sorry

theorem cancel_l4_h0003 (a b c d : Nat) (h1 : 0 < c) (h2 : 0 < d) (h3 : a * c * d * d * c ≤ c * (d * (b * c * d))) : a ≤ b := by
  sorry

theorem order_l5_h0003 (a b c d u v : Nat) (h1 : a = b) (h2 : d = c + c) (h3 : u ≤ v) : a + c + d * u + u ≤ b + d + d * v + u := by
  sorry

theorem nat_identity_l6_h0025 (a b c : Nat) : (a * b) ^ (c + 2) * b = b * b * (a * (a * b) ^ c * a * b) := by
  sorry

theorem order_l1_h0001 (a b : Nat) (h1 : a ≤ b) : a * a ≤ b * a := by
  sorry

theorem nat_identity_l2_h0005 (a b : Nat) : a ^ b * a * b ^ b = (b * a) ^ b * a := by
  sorry

theorem nat_identity_l3_h0003 (x y : Nat) : (x * x) ^ x * y = x ^ x * (y * x ^ x) := by
  sorry

theorem nat_identity_l4_h0003 (a b : Nat) : (a * b) ^ b * b = b ^ b * a ^ b * b := by
  sorry

theorem nat_identity_l5_h0001 (a b d : Nat) : (a * d) ^ b * b = d ^ b * b * a ^ b := by
  sorry

theorem mixed_l6_h0015 (x y k l u a b : Nat) (h : k ∣ l) (h2 : u = l) (h3 : a < b) : ((x + 3 = 3 + y → x = y) ∧ k ∣ u + l * k) ∧ a ≠ b := by
  sorry

theorem divides_l1_h0001 (x y : Nat) : x ∣ x * y * y := by
  sorry

theorem divides_l2_h0005 (x y z : Nat) (h : y ∣ z) : x * y ∣ x * x * z * x := by
  sorry

theorem order_l3_h0007 (w x y z : Nat) (h1 : x ≤ y) (h2 : z ≤ w) : (x + z) * x * x ≤ (y + w) * x * x := by
  sorry

theorem order_l4_h0003 (a b c d : Nat) (h : b ≤ c) (h1 : d = c) : (0 ^ a + a) * b ≤ (a ^ a + a) * (d + 1) := by
  sorry

theorem divides_l5_h0009 (a b c d e : Nat) (h : b ∣ c) (h1 : b ∣ d) (h2 : e = b * (a * (c * c)) + d) : b ∣ b * b + e := by
  sorry

theorem nat_identity_l6_h0009 (a : Nat) : ∀ c : Nat, (a * c) ^ (c + 2) * a = c ^ c * (a ^ c * (c * a) ^ 2) * a := by
  sorry

theorem order_l1_h0007 (m n : Nat) (h1 : n ≤ m) : n * n ≤ n * m := by
  sorry

theorem mixed_l2_h0004 (x y z : Nat) (h1 : x ≤ y) : z = y → x ^ 2 ≤ z ^ 2 := by
  sorry

theorem order_l3_h0005 (a b c d : Nat) (h1 : a < b) (h2 : c = b) (h3 : d < b * a) : d < b * c + 1 := by
  sorry

theorem induction_l4_h0007 (f : Nat → Nat) (c d : Nat) (h0 : f 0 = c * d) (hs : ∀ m : Nat, f (m + 1) = f m + 1) : ∀ a : Nat, f a = a + c * d := by
  sorry

theorem equation_l5_h0001 (w x z : Nat) (h : z + x = w) (h1 : z = x * 3) : w * z * w = 3 * (x + 3 * x) * (x + 3 * x) * x := by
  sorry

theorem mixed_l6_h0019 (f : Nat → Nat) (k l m n : Nat) : m ∣ k → (∀ x : Nat, f x ≤ f (x + 1)) → n * m ∣ n * n * k * l ∧ (∀ n : Nat, f 0 ≤ f n) := by
  sorry

theorem lists_l1_h0001 (α : Type) (l k : List α) : List.length (l ++ k ++ l) = List.length l + List.length (l ++ k) := by
  sorry

theorem divides_l2_h0001 (k m n : Nat) : n ∣ n * k + n * m := by
  sorry

theorem lists_l3_h0008 (α : Type) (s : List α → List α) (l1 l2 : List α) (h : s [] = []) (h1 : ∀ x t, s (x :: t) = x :: s t) : s (l1 ++ l2) = s l1 ++ s l2 := by
  sorry

theorem exists_l4_h0001 (a b d e u v : Nat) (h : a ∣ b) (h1 : d = a * e) (h2 : u = a * v) : a ∣ b + d + u := by
  sorry

theorem induction_l5_h0007 (s : Nat → Nat) (c : Nat) (h0 : s 0 = 1) (hs : ∀ x : Nat, s (x + 1) = s x + (c + 2)) : ∀ a : Nat, s a = (c + 2) * a + 1 := by
  sorry

theorem nat_identity_l6_h0011 (a b c : Nat) : (a * b) ^ (c + 2) * b = a * b ^ 2 * ((a * b) ^ c * a) * b := by
  sorry

theorem nat_identity_l1_h0005 (a : Nat) : a ^ a * a ^ a = (a * a) ^ a := by
  sorry

theorem fixed_by_doubling_l2 (f : Nat → Nat) (a : Nat) (h : ∀ x : Nat, f (x + x) = f x) (h1 : a = 2) : f (a + a + (a + a)) = f 2 := by
  sorry

theorem cancel_l3_h0007 (a b c d : Nat) (h : c ≠ 0) (h1 : 0 < d) (h2 : a * c * d * d = d * (c * (b + 1) * d)) : a = b + 1 := by
  sorry

theorem order_l4_h0005 (u w x y z : Nat) (h : x ≤ y) (h1 : z ≤ w) (h2 : u = (x + y) * w) : (x + x) * z ≤ u + 1 := by
  sorry

theorem induction_l5_h0009 (f : Nat → Nat) (h0 : f 0 = 1) (hs : ∀ m : Nat, f (m + 1) = f m + 1) : ∀ n : Nat, f n = 1 * n + 1 := by
  sorry

theorem nat_identity_l6_h0013 (a : Nat) : ∀ b : Nat, (b * a) ^ (a + 2) * a = a * a ^ a * (a * a) * b ^ (a + 2) := by
  sorry

theorem cancel_l1_h0007 (a b c : Nat) (h : c ≠ 0) (h1 : c * a ≤ c * b) : a ≤ b := by
  sorry

theorem nat_identity_l2_h0001 (a b : Nat) : b * (a ^ b * a ^ b) = (a * a) ^ b * b := by
  sorry

theorem induction_l3_h0003 (s : Nat → Nat) (c n : Nat) (h0 : s 0 = 0) (hs : ∀ x : Nat, s (x + 1) = s x + (c + 3)) : s n = (c + 3) * n := by
  sorry

theorem cancel_l4_h0005 (k l m n : Nat) (h1 : 0 < k) (h2 : 0 < l) (h3 : k * ((l + 1) * (k * n)) ≤ (m + 1) * k * (l + 1) * k) : n ≤ m + 1 := by
  sorry

theorem induction_l5_h0001 (P Q : Nat → Prop) (h0 : P 0 ∧ Q 0) (hs : ∀ x : Nat, P x → Q (x + 1)) (ht : ∀ x : Nat, Q x → P (x + 1)) : ∀ k : Nat, P k ∧ Q k := by
  sorry

theorem mixed_l6_h0001 (k m n c b : Nat) (h1 : m * n = k) (h : 0 < b) : (n * k = n * m * n ∧ c = c - c + c) ∧ (∀ a : Nat, 0 < b ^ a) := by
  sorry

theorem lists_l1_h0003 (α : Type) (as bs : List α) : List.length (as ++ bs) = List.length bs + List.length as := by
  sorry

theorem induction_l2_h0005 (f : Nat → Nat) (c d a : Nat) (h0 : f 0 = c * d) (hs : ∀ k : Nat, f (k + 1) = f k) : f a = c * d := by
  sorry

theorem cancel_l3_h0003 (w x y z : Nat) (h : z ≠ 0) (h1 : 0 < w) (h2 : w * (x * (z + 1)) ≤ (z + 1) * y * w) : x ≤ y := by
  sorry

theorem induction_l4_h0001 (f : Nat → Nat) (h0 : f 0 = 3) (hs : ∀ m : Nat, f (m + 1) = f m + 1) : ∀ k : Nat, f k = 3 + k := by
  sorry

theorem divides_l5_h0005 (a c d u v : Nat) (h : c ∣ d) (h1 : c ∣ a) (h2 : u ∣ c) (h3 : u * d ∣ a) (h4 : v = (d + a) * (u * d) + a) : u * d ∣ v := by
  sorry

theorem divides_l6_h0007 (c d u : Nat) (h : c ∣ d) (h1 : u = (c * c + (c * c + d)) * (d * d * d * d) * d) : c * d ∣ u + c * (c * d) := by
  sorry

theorem divides_l1_h0005 (k l u : Nat) (h1 : k ∣ l) (h2 : u ∣ k) : u ∣ l := by
  sorry

theorem exists_l2_h0007 (a b d : Nat) (h : a ∣ b) : ∃ x : Nat, b * d = a * x := by
  sorry

theorem induction_l3_h0001 (m : Nat) : 0 < 4 ^ m := by
  sorry

theorem lists_l4_h0003 (α : Type) (l1 l2 : List α) : List.length (l2 ++ [] ++ l1 ++ []) = List.length l1 + List.length l2 := by
  sorry

theorem order_l5_h0009 (x y z : Nat) (h1 : 0 < x) (h2 : y ≤ 0) (h3 : z ≤ y) : ¬x * (x + x) * x ≤ z := by
  sorry

theorem nat_identity_l6_h0027 (x y z : Nat) : (y * x) ^ (z + 2) = y * (y * y ^ z) * (x * x ^ z) * x := by
  sorry

theorem exists_l1_h0001 : ∃ k : Nat, k * k = 4 := by
  sorry

theorem mixed_l2_h0008 (u v w z : Nat) (h : z ∣ w ∧ u ∣ z) (h3 : v = w) : u ∣ v := by
  sorry

theorem order_l3_h0001 (w x y z : Nat) (h : y ≤ 0 + x) (h1 : z ≤ w) : y * (y + z) ≤ y * (x + x + w) := by
  sorry

theorem divides_l4_h0001 (k l m u : Nat) (h : m ∣ k) (h1 : l ∣ m) (h2 : u = l * l + (k + l * l)) : l ∣ u := by
  sorry

theorem nat_identity_l5_h0007 (b c : Nat) : (c * c) ^ b * b = c ^ b * (b * c ^ b) := by
  sorry

theorem mixed_l6_h0007 (b c d u n : Nat) (h3 : b ∣ c ∧ d ∣ b) (h2 : u ∣ c) : d * u ∣ b * (c * (c * b)) ∧ (∀ m : Nat, m * n + m * n = m * (n + n)) := by
  sorry

theorem exists_l1_h0010 : ∃ n : Nat, 0 ≤ n ∧ n * n = 4 := by
  sorry

theorem barber_l2 (R : Nat → Nat → Prop) (h : ∃ x : Nat, ∀ y : Nat, R x y ↔ ¬R y y) : False := by
  sorry

theorem divides_l3_h0003 (x y z : Nat) (h : y = x * x) (h1 : z ∣ x) : z ∣ y + x * x := by
  sorry

theorem equation_l4_h0003 (k l m n u : Nat) (h1 : u = m) (h2 : k = n + n) (h3 : l = m + k) : u * (l * u) = (n + n + m) * (m * m) := by
  sorry

theorem order_l5_h0005 (a b c d e u : Nat) (h1 : b = a) (h2 : c ≤ d) (h3 : e ≤ (b ^ 2 + c * a) * c) (h4 : u ≤ e) : u ≤ (a ^ 2 + d * a) * c := by
  sorry

theorem nat_identity_l6_h0021 (n m : Nat) : (m * n) ^ (n + 2) * m = n * m * n * (n * m) ^ n * (m * m) := by
  sorry

theorem order_l1_h0003 (x y : Nat) (h : x < y) : x * x ≤ y * x := by
  sorry

theorem le_mul_add_one_l2 (a b c d : Nat) (h : a ≤ b) (h1 : c ≤ d) : a * c < b * d + 1 := by
  sorry

theorem zero_or_succ_l3 (n : Nat) : n = 0 ∨ ∃ m : Nat, n = m + 1 := by
  sorry

theorem divides_l4_h0007 (a c d e u : Nat) (h1 : c ∣ d) (h2 : e ∣ u) : c * e ∣ (d + c * a + d) * u := by
  sorry

theorem equation_l5_h0003 (u w x y z : Nat) (h : w = x) (h1 : u = z * y) (h2 : 2 = z) : w * w * (w * u) = x * y * x * x + x * y * x * x := by
  sorry

theorem nat_identity_l6_h0007 (a b c : Nat) : (a * c) ^ c * b = a ^ c * (b * c ^ c) := by
  sorry

theorem nat_identity_l1_h0001 (a b : Nat) : (b * b) ^ a = b ^ (a + a) := by
  sorry

theorem lists_l2_h0007 (α : Type) (a : α) (xs : List α) : List.length (a :: xs ++ xs) = 1 + (List.length xs + List.length xs) := by
  sorry

theorem nat_identity_l3_h0005 (m k : Nat) : (k * m) ^ k * k = k ^ k * (k * m ^ k) := by
  sorry

theorem induction_l4_h0005 (f : Nat → Nat) (h0 : f 0 = 1) (hs : ∀ i : Nat, f (i + 1) = f i * 1) : ∀ m : Nat, f m = 1 ^ m := by
  sorry

theorem nat_identity_l5_h0009 (b c d : Nat) : c * d ^ (d + 2) * c * (c ^ d * b) = (c * d) ^ (d + 2) * b := by
  sorry

theorem nat_identity_l6_h0015 (a b : Nat) : b ^ b * (a ^ b * a) = (b * a) ^ b * a := by
  sorry

theorem divides_l1_h0007 (m n : Nat) : n ∣ n * n * m := by
  sorry

theorem cancel_l2_h0007 (x y z : Nat) (h : 0 < z) (h1 : x * z ≤ z * y) : x ≤ y := by
  sorry

theorem exists_l3_h0004 (a b d e : Nat) (h : a ∣ b) (h1 : d = a * e) : a ∣ b + d := by
  sorry

theorem mixed_l4_h0003 (p : Prop) (k m n : Nat) (h1 : 0 < k) (h : p ∧ ¬p ∨ n * (k + 1) = m * (k + 1)) : n = m ∧ (∃ x : Nat, x * x = 1) := by
  sorry

theorem divides_l5_h0007 (a b c d u : Nat) (h : b ∣ c) (h1 : d = a * a * c) (h2 : u ∣ a * b) (h3 : c ∣ a) : u * c ∣ d * d * (c * b + a) := by
  sorry

theorem divides_l6_h0001 (w x y z : Nat) (h : x ∣ y) (h1 : x ∣ z) (h2 : w = x * z + (y * x + x * x + y) + z) : x ∣ x * z + w := by
  sorry

theorem nat_identity_l1_h0007 (a : Nat) : (a * a) ^ a * a = a ^ (a + a) * a := by
  sorry

theorem cancel_l2_h0005 (a b c : Nat) (h : c ≠ 0) (h1 : c * a ≤ b * c) : a ≤ b := by
  sorry

theorem nat_identity_l3_h0001 (a b c : Nat) : (b * a) ^ c * b = b * a ^ c * b ^ c := by
  sorry

theorem lists_l4_h0005 (α : Type) (a : α) (xs : List α) : List.length (List.reverse (a :: xs ++ a :: xs)) = 1 + (List.length xs + 1 + List.length xs) := by
  sorry

theorem induction_l5_h0003 (s : Nat → Nat) (c d : Nat) (h0 : s 0 = 2) (hs : ∀ x : Nat, s (x + 1) = s x + c * d) : ∀ a : Nat, s a = c * d * a + 2 := by
  sorry

theorem mixed_l6_h0005 (k l m n w y z a b : Nat) (h1 : n < m) (h2 : k < n) (h3 : l < k) (h : y ∣ z) (h4 : y ∣ w) (h5 : b ∣ a) : (l ≤ m ∧ y ∣ z + w) ∧ b ∣ a := by
  sorry

theorem mixed_l1_h0003 (p : Prop) (h : (∃ x : Nat, x * x = 0) → p) : p := by
  sorry

theorem lists_l2_h0001 (α : Type) (s : List α → List α) (as : List α) (hn : s [] = []) (hc : ∀ x t, s (x :: t) = x :: s t) : s as = as := by
  sorry

theorem cancel_l3_h0001 (a b c d e : Nat) (h : 0 < c) (h1 : d ≠ 0) (h2 : 0 < e) (h3 : d * (c * a) * e ≤ e * (d * (c * b))) : a ≤ b := by
  sorry

theorem induction_l4_h0003 (s : Nat → Nat) (c : Nat) (h0 : s 0 = c) (hs : ∀ m : Nat, s (m + 1) = s m + 1) : ∀ n : Nat, s n = n + c := by
  sorry

theorem mixed_l5_h0007 (c k a b e d : Nat) (h1 : b = a * e) : 0 < (c + 1) ^ k ∧ (∃ x : Nat, b * d = a * x) := by
  sorry

theorem mixed_l6_h0021 (c k m : Nat) (h1 : 0 < k) : (∀ a : Nat, 1 ≤ (c + 1) ^ a) ∧ 0 < k ^ m := by
  sorry

theorem nat_identity_l1_h0003 (n m k : Nat) : (m * n) ^ k * n = m ^ k * (n ^ k * n) := by
  sorry

theorem order_l2_h0003 (k l m n : Nat) (h : n ≤ m) (h1 : k ≤ l) : (n * k) ^ 2 ≤ (m * l) ^ 2 := by
  sorry

theorem cancel_l3_h0005 (u x y z : Nat) (h : 0 < z) (h1 : 0 < u) (h2 : u * (z * x * z) ≤ u * (z * (y * z))) : x ≤ y := by
  sorry

theorem equation_l4_h0001 (a b c d : Nat) (h : b = a + a) (h1 : d = 2 + b) (h2 : c = 1 * b) : c * d * b = (a + a) * (a + a) * (a + 2 + a) := by
  sorry

theorem divides_l5_h0001 (b c d u v : Nat) (h : b ∣ c) (h1 : b ∣ d) (h2 : u ∣ b) (h3 : v = c + d) (h4 : u ∣ d) : u ∣ v + u * d + d := by
  sorry

theorem divides_l6_h0003 (b c d e : Nat) (h : b ∣ c) (h1 : e = (b * b + c + b * b) * (d * c + (c * b + c * d))) : b * c ∣ d * (b * c) + e := by
  sorry

theorem cancel_l1_h0001 (a b c : Nat) (h1 : 0 < c) (h2 : (c + 1) * a = (c + 1) * b) : a = b := by
  sorry

theorem exists_l2_h0003 (a b c : Nat) (h1 : b = c + a) : ∃ n : Nat, a + n = b := by
  sorry

theorem induction_l3_h0005 (f g : Nat → Nat) (h0 : f 0 = g 0) (hf : ∀ m : Nat, f (m + 1) = f m + 1) (hg : ∀ m : Nat, g (m + 1) = g m + 1) : ∀ a : Nat, f a = g a := by
  sorry

theorem mixed_l4_h0005 (a b c d x y z : Nat) (h : x ≤ y) : (c ∣ d → c * b ∣ d * (b * a)) ∧ z * x ≤ z * y := by
  sorry

theorem induction_l5_h0011 (f : Nat → Nat) (h0 : f 0 = 2) (hs : ∀ m : Nat, f (m + 1) = f m + 5) : ∀ a : Nat, f a = a * 5 + 2 := by
  sorry

theorem nat_identity_l6_h0005 (a : Nat) : ∀ c : Nat, a ^ a * (c ^ a * a) = (c * a) ^ a * a := by
  sorry

theorem order_l1_h0005 (a b c : Nat) (h1 : b ≤ c) : b + a * b ≤ b + (a + a) * c := by
  sorry

theorem equation_l2_h0001 (w x y z : Nat) (h : z = x + y) (h1 : x = w) : w * (z + w) = x * (x + y) + x * x := by
  sorry
