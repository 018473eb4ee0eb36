/-
Held-out theorems of NanoLean (valid), levels 1 to 6.
The text is fixed, so that scores stay comparable. Made by scripts/make_nanolean_benchmark.py.
-/

theorem nat_identity_l1_h0001 (a b : Nat) : (b * a) ^ 2 * b = b ^ 2 * (a * a) * b := by
  sorry

theorem imp_pair_l2 (p q r s : Prop) : (p → q) ∧ (r → s) → p ∧ r → q ∧ s := by
  sorry

theorem nat_identity_l3_h0003 (a b c : Nat) : (b * a) ^ c * b = b * a ^ c * b ^ c := by
  sorry

theorem nat_identity_l4_h0001 (a : Nat) : 2 * (a * a * 2) = a * 2 * (2 * a) := by
  sorry

theorem or_and_factor_l5 (p q r : Prop) : (p ∨ q) ∧ (p ∨ r) → p ∨ (q ∧ r) := by
  sorry

theorem equation_l6_h0005 (u w x y z : Nat) (h : u = y * z) (h1 : z = y) (h2 : w = x + y) : u + w + y * u = y * y + (y + y * y * y + x) := by
  sorry

theorem exists_l1_h0003 : ∃ x : Nat, x * x = 4 ∧ x + 4 = 6 := by
  sorry

theorem pred_l2_h0001 (A B C D : Nat → Prop) (a : Nat) (h : D a) (h1 : ∀ n : Nat, B n → C n → A n) (h2 : C a) (h3 : D a → B a) : A a := by
  sorry

theorem pred_l3_h0001 (P Q : Nat → Prop) (h : ∀ k : Nat, P k → Q k) : ¬(∃ k : Nat, Q k) → ¬(∃ k : Nat, P k) := by
  sorry

theorem order_l4_h0001 (a b c d u : Nat) (h : a ≤ b) (h1 : c ≤ d) (h2 : u < a + c) : u ≤ b + 1 + (d + 2) := by
  sorry

theorem peirce_double_negation_l5 (p q : Prop) : ¬¬(((p → q) → p) → p) := by
  sorry

theorem pred_l6_h0003 (Q S : Nat → Prop) (R : Nat → Nat → Prop) (b : Nat) : (∀ x : Nat, R x b ↔ Q x → S x) → (∀ x : Nat, Q x → S x ↔ R x b) := by
  sorry

theorem equation_l1_h0001 (y z : Nat) (h1 : y = 3 * 3) (h2 : z = y + y) : z = 3 * 3 + 3 * 3 := by
  sorry

theorem exists_l2_h0002 (a b : Nat) (h1 : ∃ m : Nat, b = a + (m + 2 * 2)) : ∃ n : Nat, a + n = b := by
  sorry

theorem prop_l3_h0003 (a b c : Prop) (h : c) (h1 : ¬a ∧ (a → b)) : c ∧ a ∨ (a → b) ∧ (b → c) := by
  sorry

theorem odd_add_odd_l4 (a b : Nat) (h : ∃ k : Nat, a = 2 * k + 1) (h1 : ∃ k : Nat, b = 2 * k + 1) : ∃ k : Nat, a + b = 2 * k := by
  sorry

theorem pred_l5_h0003 (P Q S : Nat → Prop) (p : Prop) (h : ∀ x : Nat, (P x ∧ Q x) ∧ Q x ∧ p → S x) : ∀ x : Nat, P x ∧ Q x → Q x ∧ p → S x := by
  sorry

theorem nat_identity_l6_h0003 (b : Nat) : b + (1 + (b + 1 + 1)) = 1 + (b + (b + 1) + 1) := by
  sorry

theorem pred_l1_h0001 (P Q S : Nat → Prop) (a : Prop) (y : Nat) (h : ∀ x : Nat, Q x → P x) (h1 : S y) (h2 : ∀ x : Nat, S x → Q x ∧ a) : P y := by
  sorry

theorem sq_of_product_l2 (a b : Nat) : (a * b) ^ 2 = a * a * (b * b) := by
  sorry

theorem prop_l3_h0001 (p r : Prop) (h1 : (p ↔ r) ∧ ¬r) : ¬p := by
  sorry

theorem sum_of_odds_l4 (f : Nat → Nat) (h0 : f 0 = 0) (hs : ∀ n : Nat, f (n + 1) = f n + (2 * n + 1)) (n : Nat) : f n = n * n := by
  sorry

theorem nat_identity_l5_h0003 (a b c : Nat) : a * (b * (a * c) * b) = b * (b * (a * a)) * c := by
  sorry

theorem nat_identity_l6_h0005 (n m k : Nat) : 2 + (m + 2 + (k + n + n)) = n + n + k + 2 + 2 + m := by
  sorry

theorem order_l1_h0001 (a b : Nat) (h1 : b ≤ 0) : b ≤ a + 1 := by
  sorry

theorem foil_l2 (a b c d : Nat) : (a + b) * (c + d) = a * c + a * d + (b * c + b * d) := by
  sorry

theorem mixed_l3_h0001 (p : Prop) (x y z : Nat) (h : z + (x + x) = x + y + z) (h1 : x = y → p) : p := by
  sorry

theorem pred_l4_h0001 (R : Nat → Nat → Prop) : (∀ k : Nat, ∀ l : Nat, R k l → R l k) → (∀ k : Nat, ∀ l : Nat, ¬R l k → ¬R k l) := by
  sorry

theorem cancel_l5_h0001 (a b c d : Nat) (h : a + (a + a) + c + 1 + d ≤ 1 + (c + (b + a + a)) + d) : a ≤ b := by
  sorry

theorem mixed_l6_h0003 (w x y z a b c : Nat) (h1 : x ≤ y) (h : False ∨ z ≤ w) (h3 : c + (a + (2 + a)) < a + (2 + b) + c) : x * z < y * w + 1 ∧ a < b := by
  sorry

theorem imp_distrib_l1 (p q r : Prop) : (p → q → r) → (p → q) → p → r := by
  sorry

theorem no_number_between_l2 (a b : Nat) (h : a < b) (h1 : b < a + 1) : False := by
  sorry

theorem nat_identity_l3_h0001 (a c : Nat) : (c + c) * (a * c) = c * a * (c + c) := by
  sorry

theorem mixed_l4_h0001 (P Q : Nat → Prop) (b : Nat) (h : ∀ n : Nat, P n ↔ Q n) (h1 : ∃ n : Nat, P n) (h5 : 1 + 1 = b) : (∃ n : Nat, Q n) ∧ b = 1 + 1 := by
  sorry

theorem prop_l5_h0001 (a b c : Prop) (h1 : a ∧ c ∨ b ∧ a) : ((a → b) ∨ a ∧ c) ∨ ¬c := by
  sorry

theorem equation_l6_h0001 (k m n : Nat) (h1 : m + 3 = k) (h2 : m = n * n) : k + m + (n + n) = 3 + n * n + (n * n + (n + n)) := by
  sorry

theorem prop_l1_h0003 (p q : Prop) (h : ¬q ∧ p) : ¬q := by
  sorry

theorem cycle_of_le_l2 (a b c : Nat) (h : a ≤ b) (h1 : b ≤ c) (h2 : c ≤ a) : a = c := by
  sorry

theorem equation_l3_h0003 (a b c d : Nat) (h : d = a + c) (h1 : c = b + a) (h2 : b = a + a) : d = a + a + (a + a) := by
  sorry

theorem induction_l4_h0003 (f : Nat → Nat) (c : Nat) (h0 : f 0 = c) (hs : ∀ i : Nat, f (i + 1) = f i + 1) : ∀ m : Nat, f m = m + c := by
  sorry

theorem pred_l5_h0001 (P Q : Nat → Prop) (h1 : ∀ k : Nat, P k ↔ Q k) : ∀ k : Nat, Q k ↔ P k := by
  sorry

theorem mixed_l6_h0005 (A P Q : Nat → Prop) (h0 : A 0) (h1 : ∀ n : Nat, P n ∧ Q n) : ((∀ x : Nat, A x → A (x + 1)) → A 3) ∧ (∀ n : Nat, Q n ∧ P n) := by
  sorry

theorem exists_l1_h0001 : ∃ k : Nat, k * k = 4 := by
  sorry

theorem involution_injective_l2 (f : Nat → Nat) (a b : Nat) (h : ∀ x : Nat, f (f x) = x) (h1 : f a = f b) : a = b := by
  sorry

theorem cancel_l3_h0001 (a b c d : Nat) (h : c + (a + a + a) + d = d + (c + (b + a + a))) : a = b := by
  sorry

theorem equation_l4_h0003 (w x y z : Nat) (h1 : z = x + y) (h2 : 3 + x = y) (h3 : w = x) : w + z = x + (x + 3) + x := by
  sorry

theorem induction_l5_h0003 (s : Nat → Nat) (c d : Nat) (h0 : s 0 = 2) (hs : ∀ x : Nat, s (x + 1) = s x + c * d) : ∀ a : Nat, s a = c * d * a + 2 := by
  sorry

theorem pred_l6_h0005 (P Q S : Nat → Prop) (a : Nat) : (∀ x : Nat, P x → Q x ↔ Q x → S x) → (Q a → S a ↔ P a → Q a) := by
  sorry

theorem order_l1_h0003 (a b c d : Nat) (h1 : a = b) (h2 : c ≤ a) (h3 : d = c) : d ≤ b := by
  sorry

theorem order_l2_h0001 (w x y z : Nat) (h : x ≤ y) (h1 : z ≤ w) : (x + z + x) * x ≤ (y + w + x) * x := by
  sorry

theorem order_l3_h0001 (u v w x z : Nat) (h : z = x) (h1 : w ≤ u) (h2 : v ≤ w) : 0 + v ≤ z + u := by
  sorry

theorem exists_l4_h0001 (a b d e u v : Nat) (h : a ∣ b) (h1 : d = a * e) (h2 : u = a * v) : a ∣ b + d + u := by
  sorry

theorem exists_l5_h0001 (a b d e : Nat) (h1 : a ∣ b) (h2 : a ∣ d) (h3 : a ∣ e) : ∃ n : Nat, b + d + e = a * n := by
  sorry

theorem cancel_l6_h0003 (k l m n : Nat) (h : 1 + (3 + (k + (n + n) + m)) + l ≤ l + (m + (k + (n + m)) + 3 + 1)) : n ≤ m := by
  sorry

theorem cancel_l1_h0001 (a b : Nat) (h1 : a + a = a + b) : a = b := by
  sorry

theorem exists_forall_swap_l2 (R : Nat → Nat → Prop) (h : ∃ x : Nat, ∀ y : Nat, R x y ∧ R y x) : ∀ y : Nat, ∃ x : Nat, R x y := by
  sorry

theorem add_sq_l3 (a b : Nat) : (a + b) * (a + b) = a * a + 2 * (a * b) + b * b := by
  sorry

theorem induction_l4_h0001 (k : Nat) (h : 0 < k) : ∀ m : Nat, 0 < k ^ m := by
  sorry

theorem equation_l5_h0001 (x y z : Nat) (h1 : y = x) (h2 : x + x = z) : z * z + (y + z) = x + x + (x + x) * (x + x) + x := by
  sorry

theorem cancel_l6_h0005 (w x y z : Nat) (h1 : 2 + (z + (y + (x + 3) + 2)) + w = w + (2 + (3 + y + y) + z + 2)) : x = y := by
  sorry

theorem pos_of_sum_product_l1 (a b : Nat) (h : 0 < a) (h1 : 0 < b) : 0 < a + b * a := by
  sorry

theorem succ_sq_l2 (a : Nat) : (a + 1) * (a + 1) = a * a + 2 * a + 1 := by
  sorry

theorem divides_l3_h0001 (w y z : Nat) (h : y ∣ z) (h1 : w ∣ y) : w ∣ z * y + y := by
  sorry

theorem lt_two_pow_l4 (n : Nat) : n < 2 ^ n := by
  sorry

theorem prop_l5_h0003 (p q : Prop) (h1 : p ∧ ¬p ∨ (q → p) ∨ p) : q ∨ p → p := by
  sorry

theorem prop_l6_h0001 (a b : Prop) (h : b ∧ ¬a) (h1 : (b → a) ∨ b ∧ a) : a ∧ ¬b := by
  sorry

theorem mixed_l1_h0001 (p : Prop) (a : Nat) (h1 : a + 1 = 0) : False ∨ p := by
  sorry

theorem mixed_l2_h0001 (p : Prop) (a b : Nat) (h : 3 + a < b + 3) : ¬p ∨ a < b := by
  sorry

theorem induction_l3_h0001 (m : Nat) : 0 < 4 ^ m := by
  sorry

theorem equation_l4_h0001 (a b c d : Nat) (h : a + 2 = c) (h1 : d = b + c) : d = b + (2 + a) := by
  sorry

theorem order_l5_h0001 (a b c d e : Nat) (h1 : 0 < a) (h2 : b ≤ c) (h3 : d ≤ b) (h4 : e = d) : a + 0 + e ≤ a + 1 + a * a + c := by
  sorry

theorem equation_l6_h0003 (a b c d u : Nat) (h : c = b) (h1 : u = a) (h2 : d = c * a) : u * d * (u * b) = a * a * b * a * b := by
  sorry

theorem mixed_l1_h0003 (p : Prop) (z : Nat) (h1 : z = 1) (h : z * z = 1 * 1 → p) : p := by
  sorry

theorem refl_of_symm_trans_l2 (R : Nat → Nat → Prop) (hs : ∀ x y : Nat, R x y → R y x) (ht : ∀ x y z : Nat, R x y → R y z → R x z) (a b : Nat) (h : R a b) : R a a := by
  sorry

theorem exists_l3_h0004 (P : Nat → Prop) (y z : Nat) (h : z = 2 * 2 + y) (h1 : P (2 * 2)) : ∃ x : Nat, y + x = z ∧ P x := by
  sorry

theorem divides_l4_h0001 (k l m u : Nat) (h : m ∣ k) (h1 : l ∣ m) (h2 : u = l * l + (k + l * l)) : l ∣ u := by
  sorry

theorem nat_identity_l5_h0001 (b c : Nat) : (1 * (c + b + b) * c) ^ 1 = (b + (c + b)) * c := by
  sorry

theorem pred_l6_h0001 (P Q : Nat → Prop) (p : Prop) (h : ∀ k : Nat, P k ∨ p → Q k) (h1 : ∃ k : Nat, P k ∨ p) (h2 : p) : p ∧ (∃ k : Nat, Q k) := by
  sorry

theorem sub_middle_l1 (a b c : Nat) : a + b + c - b = a + c := by
  sorry

theorem equation_l2_h0001 (w x y z : Nat) (h : w = x + 2) (h1 : y = z) : z * w = y * x + (y + y) := by
  sorry

theorem exists_l3_h0001 (P : Nat → Prop) (a b c : Nat) (h : b = c + a) (h1 : P c) : ∃ n : Nat, a + n = b ∧ P n := by
  sorry

theorem cancel_l4_h0001 (a b : Nat) (h : b + (2 + a) + b + b = b + (b + (2 + b + b))) : a = b := by
  sorry

theorem divides_l5_h0001 (b c d u v : Nat) (h : b ∣ c) (h1 : b ∣ d) (h2 : u ∣ b) (h3 : v = c + d) (h4 : u ∣ d) : u ∣ v + u * d + d := by
  sorry

theorem mixed_l6_h0001 (p : Prop) (b c a d : Nat) (h : b ∣ c) (h1 : d = a * a) (h2 : a * a ∣ a) : b ∣ c + c ∧ a * a ∣ a * a * a * d + a ∨ ¬p := by
  sorry

theorem divides_l1_h0001 (x y : Nat) : x ∣ x * y * y := by
  sorry

theorem idempotent_thrice_l2 (f : Nat → Nat) (a : Nat) (h : ∀ x : Nat, f (f x) = f x) : f (f (f (f a))) = f a := by
  sorry

theorem zero_or_succ_l3 (n : Nat) : n = 0 ∨ ∃ m : Nat, n = m + 1 := by
  sorry

theorem prop_l4_h0001 (p q : Prop) : p ↔ (p ∨ q) ∧ p := by
  sorry

theorem induction_l5_h0001 (P Q : Nat → Prop) (h0 : P 0 ∧ Q 0) (hs : ∀ x : Nat, P x → Q (x + 1)) (ht : ∀ x : Nat, Q x → P (x + 1)) : ∀ k : Nat, P k ∧ Q k := by
  sorry

theorem nat_identity_l6_h0001 (n k l : Nat) : k * (n * (k + k)) * l = (0 + n * l) * (k * (k + k)) := by
  sorry

theorem prop_l1_h0001 (a b : Prop) (h1 : a ∧ ¬b) (h2 : b) : ¬b ∧ b := by
  sorry

theorem reverse_sum_l2 (a b c : Nat) : a + b + c = c + b + a := by
  sorry

theorem equation_l3_h0001 (x y z : Nat) (h1 : z = x * x) : (z + y) * z = x * y * x + x * x * (x * x) := by
  sorry

theorem exists_l4_h0003 (a b d u v : Nat) (h : a ∣ b) (h1 : a ∣ d) (h2 : u = a * v) : ∃ n : Nat, b + d + u = a * n := by
  sorry

theorem mixed_l5_h0001 (p : Prop) (a b x y : Nat) (h : y < x) : p ∨ a * a * a * (a * b) = (a * a) ^ 2 * b ∧ y < x + x := by
  sorry

theorem cancel_l6_h0001 (a b : Nat) (h1 : a + (b + (b + a) + b + 3) + 2 < 2 + (3 + (b + 1 + b + b + b) + a)) : a < b + 1 := by
  sorry

theorem divides_l1_h0003 (a : Nat) : a ∣ a * (a * a) := by
  sorry

theorem imp_double_negation_l2 (p q : Prop) : (p → q) → ¬¬p → ¬¬q := by
  sorry

theorem dvd_linear_l3 (a b c x y : Nat) (h : a ∣ b) (h1 : a ∣ c) : a ∣ x * b + y * c := by
  sorry

theorem two_step_induction_l4 (P : Nat → Prop) (h0 : P 0) (h1 : P 1) (h2 : ∀ n : Nat, P n → P (n + 2)) (n : Nat) : P n ∧ P (n + 1) := by
  sorry
