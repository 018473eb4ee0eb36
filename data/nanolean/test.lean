/-
Held-out theorems of NanoLean (test), levels 1 to 6.
The text is fixed, so that scores stay comparable. Made by scripts/make_nanolean_benchmark.py.
-/

theorem and_iff_of_iff_l1 (p q r : Prop) (h : p ↔ q) : p ∧ r ↔ q ∧ r := by
  sorry

theorem no_iff_not_l2 (p : Prop) : ¬(p ↔ ¬p) := by
  sorry

theorem equation_l3_h0004 (a b c d : Nat) (h : c = a * 1) (h1 : d = b) : c * d = b * a := by
  sorry

theorem induction_l4_h0004 (f : Nat → Nat) (c n : Nat) (h0 : f 0 = 1) (hs : ∀ k : Nat, f (k + 1) = c * f k) : f n = c ^ n := by
  sorry

theorem prop_l5_h0004 (a b : Prop) (h1 : (a → b) → a) (h2 : ¬a) : ¬(¬b → ¬a) ∧ ((a → b) ∨ b) := by
  sorry

theorem mixed_l6_h0004 (x y z k l u v : Nat) (h2 : y = x * x ∧ z = y * y) (h3 : k ∣ l) (h4 : u ∣ v) : x ∣ z ∧ k * u ∣ (k * k + l) * (v * u) := by
  sorry

theorem nat_identity_l1_h0002 (b : Nat) : 0 + (0 + b) * (0 + b) = b * b := by
  sorry

theorem constructive_dilemma_l2 (p q r s : Prop) (h : p → r) (h1 : q → s) (h2 : p ∨ q) (h3 : ¬s) : r := by
  sorry

theorem order_l3_h0002 (w x y z : Nat) (h : y ≤ 0 + x) (h1 : z ≤ w) : y * (y + z) ≤ y * (x + x + w) := by
  sorry

theorem equation_l4_h0004 (a b c d : Nat) (h1 : c = 2 + b) (h2 : d = b + b) (h3 : a = b) : d * (b + c) = a * a + (a + a) * (a + 2) + a * a := by
  sorry

theorem induction_l5_h0004 (s : Nat → Nat) (c : Nat) (h0 : s 0 = 1) (hs : ∀ x : Nat, s (x + 1) = s x + c) : ∀ n : Nat, s n = n * c + 1 := by
  sorry

theorem equation_l6_h0004 (k l m n u : Nat) (h1 : m + m = l) (h2 : u = k * n) (h3 : k = n + n) : (u + l) * k = (n + n) * (m + n * (n + n) + m) := by
  sorry

theorem exists_l1_h0004 : ∃ k : Nat, 2 ≤ k ∧ k ≤ 7 := by
  sorry

theorem equation_l2_h0002 (a c : Nat) (h1 : c = a * a) : c * c = a * (a * a) * a := by
  sorry

theorem exists_l3_h0002 (k l m n : Nat) (h1 : m = n * k) (h2 : n ∣ l) : ∃ u : Nat, m + l = n * u := by
  sorry

theorem equation_l4_h0002 (k l m n : Nat) (h : m = n * n) (h1 : k = n) (h2 : l = n + n) : l + m * k = n * (n * n) + n + n := by
  sorry

theorem order_l5_h0002 (k l m n u v : Nat) (h : m ≤ k) (h1 : l ≤ u) (h2 : v = (n + 1) * (n + 1) + (k * u + 1)) : ¬v ≤ 0 + m * l := by
  sorry

theorem cancel_l6_h0004 (a b c : Nat) (h : c + (b + a + b + b + b + b) ≤ b + (b + (b + (b + b) + b)) + c) : a ≤ b := by
  sorry

theorem equation_l1_h0002 (y z : Nat) (h : y = z) : z + z = y + y := by
  sorry

theorem sq_dvd_sq_l2 (a b : Nat) (h : a ∣ b) : a * a ∣ b * b := by
  sorry

theorem mixed_l3_h0003 (P : Nat → Prop) (p : Prop) (n : Nat) (h0 : P 0) (hs : ∀ x : Nat, P x → P (x + 1)) : P n ∨ p := by
  sorry

theorem gauss_sum_l4 (f : Nat → Nat) (h0 : f 0 = 0) (hs : ∀ n : Nat, f (n + 1) = f n + (n + 1)) (n : Nat) : 2 * f n = n * (n + 1) := by
  sorry

theorem nat_identity_l5_h0002 (n m : Nat) : n * n * (n * (m * n)) = n * (m * (n * n)) * n := by
  sorry

theorem cancel_l6_h0006 (a b c : Nat) (h : a + (c + (a + (2 + (c + (b + a))))) = 2 + (b + b + c) + a + c + a) : a = b := by
  sorry

theorem pred_l1_h0002 (P Q S : Nat → Prop) (p : Prop) (a : Nat) (h : S a) (h1 : ∀ n : Nat, S n → Q n ∧ p) (h2 : ∀ n : Nat, Q n → P n) : P a := by
  sorry

theorem double_injective_l2 (a b : Nat) (h : a + a = b + b) : a = b := by
  sorry

theorem cancel_l3_h0002 (a b c d : Nat) (h1 : a + (a + c) + d < d + (a + (c + b))) : a < b := by
  sorry

theorem mixed_l4_h0002 (P Q : Nat → Prop) (p : Prop) (h5 : (∀ n : Nat, P n ↔ Q n) ∧ (∃ n : Nat, P n)) (h6 : (∃ n : Nat, Q n) → p) : p := by
  sorry

theorem prop_l5_h0002 (p q : Prop) (h : ¬(q ∧ (p → q))) (h1 : p) : ¬q ∧ (¬p → p) := by
  sorry

theorem nat_identity_l6_h0004 (x y z : Nat) : x * (y * (x * z)) = x * ((0 + z) * (y * x)) := by
  sorry

theorem order_l1_h0002 (k m n : Nat) (h1 : n < m) (h2 : k < n) : k < m := by
  sorry

theorem not_and_of_or_not_l2 (p q : Prop) : ¬p ∨ ¬q → ¬(p ∧ q) := by
  sorry

theorem equation_l3_h0002 (x y z : Nat) (h : z = y * y) (h1 : y = x) : z * (y * y) = x * (x * (x * x)) := by
  sorry

theorem order_l4_h0002 (a b c d e : Nat) (h : a ≤ b) (h1 : c ≤ a) (h2 : d ≤ c) (h3 : e ≤ d) : a * e ≤ a * (b + a) + 1 := by
  sorry

theorem cancel_l5_h0002 (x y : Nat) (h1 : y + (3 + (1 + x + y)) + y ≤ y + (3 + (y + (y + 1)) + y)) : x ≤ y := by
  sorry

theorem prop_l6_h0002 (p q r : Prop) (h1 : q) (h2 : ¬p) (h3 : ((r → ¬p) → p ∨ q) → p) : r ∧ ¬r := by
  sorry

theorem double_sum_l1 (a b : Nat) : a + b + (a + b) = 2 * a + 2 * b := by
  sorry

theorem le_mul_add_one_l2 (a b c d : Nat) (h : a ≤ b) (h1 : c ≤ d) : a * c < b * d + 1 := by
  sorry

theorem pred_l3_h0002 (P : Nat → Prop) (a : Prop) (h : ∃ x : Nat, (P x → a) → a) : (∀ x : Nat, P x → a) → a := by
  sorry

theorem exists_l4_h0004 (a b d e u : Nat) (h : a ∣ b) (h1 : d = a * e) (h2 : a ∣ u) : a ∣ b + d + u := by
  sorry

theorem induction_l5_h0002 (P Q : Nat → Prop) (h0 : P 0) (hs : ∀ k : Nat, P k → Q (k + 1)) (ht : ∀ k : Nat, Q k → P (k + 1)) : ∀ a : Nat, P a ∨ Q a := by
  sorry

theorem nat_identity_l6_h0006 (x y w : Nat) : x + y + (w + y) = w + (y + (y + x)) := by
  sorry

theorem prop_l1_h0004 (b : Prop) (h1 : b) : b := by
  sorry

theorem le_mul_self_l2 (n : Nat) : n ≤ n * n := by
  sorry

theorem divides_l3_h0002 (a b d u : Nat) (h1 : b ∣ a) (h2 : d ∣ u) : b * d ∣ a * a * b * u := by
  sorry

theorem divides_l4_h0004 (k m n : Nat) (h : n * n ∣ n) (h1 : k = n * (n * n * (n * m) + n)) : n * n ∣ k := by
  sorry

theorem mixed_l5_h0002 (P Q S : Nat → Prop) (k m n : Nat) (h1 : ∀ n : Nat, P n ∧ Q n → S n) : n * k ∣ m * n * (m * k) ∧ (∀ n : Nat, P n → Q n → S n) := by
  sorry

theorem equation_l6_h0006 (a b c d e : Nat) (h1 : c = a + 2) (h2 : a = b) (h3 : e = c) (h4 : b = d) : d + (e + d) = a + (a + (2 + a)) := by
  sorry

theorem exists_l1_h0002 : ∃ k : Nat, 3 + k = 6 := by
  sorry

theorem exists_l2_h0003 (P : Nat → Prop) (w y z : Nat) (h : z = y + w) (h1 : P w) : ∃ x : Nat, y + x = z ∧ P x := by
  sorry

theorem even_add_even_l3 (a b : Nat) (h : ∃ k : Nat, a = 2 * k) (h1 : ∃ k : Nat, b = 2 * k) : ∃ k : Nat, a + b = 2 * k := by
  sorry

theorem induction_l4_h0002 (f : Nat → Nat) (h0 : f 0 = 3) (hs : ∀ m : Nat, f (m + 1) = f m + 1) : ∀ k : Nat, f k = 3 + k := by
  sorry

theorem add_pow_two_l5 (a b : Nat) : (a + b) ^ 2 = a ^ 2 + 2 * (a * b) + b ^ 2 := by
  sorry

theorem pred_l6_h0004 (A B : Nat → Prop) (p : Prop) (h1 : ∃ k : Nat, A k ∧ (B k ∨ p)) : ∃ k : Nat, (B k ∨ p) ∧ A k := by
  sorry

theorem order_l1_h0004 (n : Nat) : 0 < n + (n + 1) := by
  sorry

theorem cube_l2 (a : Nat) : a ^ 3 = a * (a * a) := by
  sorry

theorem induction_l3_h0002 (s : Nat → Nat) (c : Nat) (h0 : s 0 = c) (hs : ∀ k : Nat, s (k + 1) = s k) : ∀ m : Nat, s m = c := by
  sorry

theorem prop_l4_h0002 (p q : Prop) (h1 : q ∨ p ∧ q) (h2 : ¬q ∧ ¬p ∨ (q → p)) : p := by
  sorry

theorem pred_l5_h0004 (A B : Nat → Prop) (a : Prop) (h : ∀ x : Nat, A x ∧ B x ∧ a) : ∀ x : Nat, (B x ∧ a) ∧ A x := by
  sorry

theorem pred_l6_h0006 (A B : Nat → Prop) (a : Prop) (h : ∃ n : Nat, (A n ∧ a) ∧ B n) : a → a ∧ (∃ n : Nat, B n ∧ A n ∧ a) := by
  sorry

theorem ne_of_lt_of_le_l1 (a b c : Nat) (h : a < b) (h1 : b ≤ c) : a ≠ c := by
  sorry

theorem composition_injective_l2 (f g : Nat → Nat) (a b : Nat) (hf : ∀ x y : Nat, f x = f y → x = y) (hg : ∀ x y : Nat, g x = g y → x = y) (h : f (g a) = f (g b)) : a = b := by
  sorry

theorem exists_l3_h0005 (a b d : Nat) (h1 : a ∣ b) (h2 : a ∣ d) : ∃ k : Nat, b + d = a * k := by
  sorry

theorem exists_l4_h0002 (a b c d e u : Nat) (h : b = a * c) (h1 : d = a * e) (h2 : a ∣ u) : a ∣ b + d + u := by
  sorry

theorem nat_identity_l5_h0004 (x : Nat) : ∀ y : Nat, x + (x + y) + (x + x) = x + (x + (y + x + x)) := by
  sorry

theorem mixed_l6_h0002 (k m n c b : Nat) (h1 : m * n = k) (h : 0 < b) : (n * k = n * m * n ∧ c = c - c + c) ∧ (∀ a : Nat, 0 < b ^ a) := by
  sorry

theorem cancel_l1_h0002 (a b : Nat) (h1 : b + (a + 1) = b) : False := by
  sorry

theorem mixed_l2_h0003 (p : Prop) (m n : Nat) (h : n * m = 0) (hn : n ≠ 0) : m = 0 ∨ p := by
  sorry

theorem syllogism_l3 (P Q S : Nat → Prop) (h : ∀ x : Nat, P x → Q x) (h1 : ∃ x : Nat, P x ∧ ¬S x) : ∃ x : Nat, Q x ∧ ¬S x := by
  sorry

theorem divides_l4_h0002 (b c d e u : Nat) (h : b ∣ c) (h1 : b ∣ d) (h2 : e ∣ u) : b * e ∣ (c + d + b * c) * u := by
  sorry

theorem divides_l5_h0002 (a b c d e u : Nat) (h : b ∣ c) (h1 : b ∣ a) (h2 : d = c + a) (h3 : e ∣ b) (h4 : u ∣ e) : u ∣ c * u + (u * a + d) := by
  sorry

theorem equation_l6_h0002 (u w x y z : Nat) (h1 : w = x) (h2 : 3 + w = u) (h3 : x + y = z) : u + z = y + (x + 3 + x) := by
  sorry

theorem mixed_l1_h0002 (p : Prop) (x : Nat) (h2 : p → x + 1 = 0) (h : p) : False := by
  sorry

theorem pred_l2_h0002 (P Q : Nat → Prop) (h1 : ∀ x : Nat, P x ∧ Q x) : ∀ x : Nat, Q x := by
  sorry

theorem nat_identity_l3_h0004 (a b c : Nat) : a * (a * c * b) = a * (a * (c * b)) := by
  sorry

theorem pred_l4_h0002 (P : Nat → Prop) (R : Nat → Nat → Prop) (b : Nat) (h1 : ∃ n : Nat, P n ∨ (R n b → P n)) : ∃ n : Nat, (R n b → P n) ∨ P n := by
  sorry

theorem exists_l5_h0002 (a b d u : Nat) (h : a ∣ b) (h1 : a ∣ d) (h2 : a ∣ u) : a ∣ b + d + u := by
  sorry

theorem nat_identity_l6_h0002 (a b c : Nat) : a + (c + c) + a + a + b = a + a + b + (c + a + c) := by
  sorry

theorem three_mul_l1 (a : Nat) : 3 * a = a + a + a := by
  sorry

theorem order_l2_h0002 (k l m n : Nat) (h1 : k ≤ n) : k + 0 ≤ m + n + l := by
  sorry

theorem forall_or_of_or_l3 (P Q : Nat → Prop) : (∀ x : Nat, P x) ∨ (∀ x : Nat, Q x) → ∀ x : Nat, P x ∨ Q x := by
  sorry

theorem nat_identity_l4_h0002 (x : Nat) : (x * x) ^ x * x = x ^ x * x * x ^ x := by
  sorry

theorem equation_l5_h0002 (x y z : Nat) (h1 : z = x * y) : z * z + z = y * x + y * x * y * x := by
  sorry

theorem cancel_l6_h0002 (m n : Nat) (h : 3 + (n + (n + (m + n + n)) + 2) < 2 + (n + (m + (m + 1)) + n + n) + 3) : n < m + 1 := by
  sorry

theorem divides_l1_h0002 (m n : Nat) (h : m = n * n) : n ∣ m := by
  sorry

theorem monotone_twice_l2 (f : Nat → Nat) (a b : Nat) (h : ∀ x y : Nat, x ≤ y → f x ≤ f y) (h1 : a < b) : f (f a) ≤ f (f b) := by
  sorry

theorem nat_identity_l3_h0002 (a b : Nat) : a + (b + a + a) = a + b + a + a := by
  sorry

theorem cancel_l4_h0002 (m n : Nat) (h1 : 2 + n + m + 2 < 2 + (m + (m + 2))) : n < m := by
  sorry

theorem pred_l5_h0002 (P Q : Nat → Prop) (p : Prop) (h : ∃ k : Nat, P k ∨ Q k) (h1 : p) : p ∧ (∃ k : Nat, Q k ∨ P k) := by
  sorry

theorem even_or_odd_l6 (n : Nat) : (∃ k : Nat, n = 2 * k) ∨ (∃ k : Nat, n = 2 * k + 1) := by
  sorry

theorem prop_l1_h0002 (p q : Prop) (h : ¬p ∧ q) : q := by
  sorry

theorem fixed_by_doubling_l2 (f : Nat → Nat) (a : Nat) (h : ∀ x : Nat, f (x + x) = f x) (h1 : a = 2) : f (a + a + (a + a)) = f 2 := by
  sorry

theorem reverse_product_l3 (a b c d : Nat) : a * b * c * d = d * c * b * a := by
  sorry

theorem prop_l4_h0004 (p q r : Prop) (h1 : p ∨ q) : (p ∧ r ∨ p) ∨ (¬q → r) := by
  sorry

theorem two_dvd_consecutive_l5 (n : Nat) : 2 ∣ n * (n + 1) := by
  sorry

theorem pred_l6_h0002 (P Q S : Nat → Prop) (h : ∀ k : Nat, P k ∨ S k ↔ Q k) (h1 : ∃ k : Nat, P k ∨ S k) : ∃ k : Nat, Q k := by
  sorry

theorem divides_l1_h0004 (b c d u : Nat) (h : b ∣ c) (h1 : d ∣ b) (h2 : u ∣ d) : u ∣ c := by
  sorry

theorem barber_l2 (R : Nat → Nat → Prop) (h : ∃ x : Nat, ∀ y : Nat, R x y ↔ ¬R y y) : False := by
  sorry

theorem prop_l3_h0002 (p q : Prop) (h1 : ¬(¬q ∨ q)) : p := by
  sorry

theorem pred_l4_h0004 (P Q : Nat → Prop) (h : ∀ k : Nat, P k ∧ Q k → Q k → P k) (h1 : ¬(∃ k : Nat, Q k → P k)) : ¬(∃ k : Nat, P k ∧ Q k) := by
  sorry
