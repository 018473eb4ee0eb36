/-
Classic small theorems of the benchmark, with reference proofs. Only the statements go to `data/nanolean`.
-/

theorem imp_distrib (p q r : Prop) : (p → q → r) → (p → q) → p → r := by
  intro h1 h2 h3
  exact h1 h3 (h2 h3)

theorem not_and_of_or_not (p q : Prop) : ¬p ∨ ¬q → ¬(p ∧ q) := by
  intro h h1
  cases h with
  | inl h2 => exact h2 h1.left
  | inr h2 => exact h2 h1.right

theorem peirce_double_negation (p q : Prop) : ¬¬(((p → q) → p) → p) := by
  intro h
  apply h
  intro h1
  apply h1
  intro h2
  exfalso
  apply h
  intro h3
  exact h2

theorem and_iff_of_iff (p q r : Prop) (h : p ↔ q) : p ∧ r ↔ q ∧ r := by
  rw [h]

theorem or_and_factor (p q r : Prop) : (p ∨ q) ∧ (p ∨ r) → p ∨ (q ∧ r) := by
  intro h
  cases h with
  | intro h1 h2 =>
    cases h1 with
    | inl h3 =>
      left
      exact h3
    | inr h3 =>
      cases h2 with
      | inl h4 =>
        left
        exact h4
      | inr h4 =>
        right
        exact ⟨h3, h4⟩

theorem no_iff_not (p : Prop) : ¬(p ↔ ¬p) := by
  intro h
  have h1 : ¬p := fun hp => h.mp hp hp
  exact h1 (h.mpr h1)

theorem imp_pair (p q r s : Prop) : (p → q) ∧ (r → s) → p ∧ r → q ∧ s := by
  intro h h1
  constructor
  · exact h.left h1.left
  · exact h.right h1.right

theorem constructive_dilemma (p q r s : Prop) (h : p → r) (h1 : q → s) (h2 : p ∨ q) (h3 : ¬s) : r := by
  cases h2 with
  | inl h4 => exact h h4
  | inr h4 =>
    exfalso
    exact h3 (h1 h4)

theorem imp_double_negation (p q : Prop) : (p → q) → ¬¬p → ¬¬q := by
  intro h h1 h2
  apply h1
  intro h3
  exact h2 (h h3)

theorem barber (R : Nat → Nat → Prop) (h : ∃ x : Nat, ∀ y : Nat, R x y ↔ ¬R y y) : False := by
  cases h with
  | intro x hx =>
    have h1 : ¬R x x := fun h2 => (hx x).mp h2 h2
    exact h1 ((hx x).mpr h1)

theorem exists_forall_swap (R : Nat → Nat → Prop) (h : ∃ x : Nat, ∀ y : Nat, R x y ∧ R y x) : ∀ y : Nat, ∃ x : Nat, R x y := by
  intro y
  cases h with
  | intro x hx =>
    exists x
    exact (hx y).left

theorem syllogism (P Q S : Nat → Prop) (h : ∀ x : Nat, P x → Q x) (h1 : ∃ x : Nat, P x ∧ ¬S x) : ∃ x : Nat, Q x ∧ ¬S x := by
  cases h1 with
  | intro x hx =>
    exists x
    constructor
    · apply h
      exact hx.left
    · exact hx.right

theorem refl_of_symm_trans (R : Nat → Nat → Prop) (hs : ∀ x y : Nat, R x y → R y x) (ht : ∀ x y z : Nat, R x y → R y z → R x z) (a b : Nat) (h : R a b) : R a a := by
  apply ht a b a
  · exact h
  · apply hs
    exact h

theorem forall_or_of_or (P Q : Nat → Prop) : (∀ x : Nat, P x) ∨ (∀ x : Nat, Q x) → ∀ x : Nat, P x ∨ Q x := by
  intro h x
  cases h with
  | inl h1 =>
    left
    exact h1 x
  | inr h1 =>
    right
    exact h1 x

theorem add_sq (a b : Nat) : (a + b) * (a + b) = a * a + 2 * (a * b) + b * b := by
  rw [Nat.mul_add]
  rw [Nat.add_mul]
  rw [Nat.add_mul]
  rw [Nat.mul_comm b a]
  rw [Nat.two_mul]
  simp [Nat.add_assoc]

theorem add_pow_two (a b : Nat) : (a + b) ^ 2 = a ^ 2 + 2 * (a * b) + b ^ 2 := by
  rw [Nat.pow_two]
  rw [Nat.pow_two]
  rw [Nat.pow_two]
  rw [Nat.mul_add]
  rw [Nat.add_mul]
  rw [Nat.add_mul]
  rw [Nat.mul_comm b a]
  rw [Nat.two_mul]
  simp [Nat.add_assoc]

theorem succ_sq (a : Nat) : (a + 1) * (a + 1) = a * a + 2 * a + 1 := by
  rw [Nat.mul_add_one]
  rw [Nat.add_one_mul]
  rw [Nat.two_mul]
  simp [Nat.add_assoc]

theorem three_mul (a : Nat) : 3 * a = a + a + a := by
  rw [Nat.add_one_mul 2 a]
  rw [Nat.two_mul]

theorem reverse_sum (a b c : Nat) : a + b + c = c + b + a := by
  rw [Nat.add_comm a b]
  rw [Nat.add_comm (b + a) c]
  rw [Nat.add_assoc]

theorem reverse_product (a b c d : Nat) : a * b * c * d = d * c * b * a := by
  rw [Nat.mul_comm (a * b * c) d]
  rw [Nat.mul_comm (a * b) c]
  rw [Nat.mul_comm a b]
  rw [← Nat.mul_assoc]
  rw [← Nat.mul_assoc]

theorem foil (a b c d : Nat) : (a + b) * (c + d) = a * c + a * d + (b * c + b * d) := by
  rw [Nat.add_mul]
  rw [Nat.mul_add]
  rw [Nat.mul_add]

theorem double_sum (a b : Nat) : a + b + (a + b) = 2 * a + 2 * b := by
  rw [← Nat.two_mul]
  rw [Nat.mul_add]

theorem sub_middle (a b c : Nat) : a + b + c - b = a + c := by
  rw [Nat.add_right_comm]
  rw [Nat.add_sub_cancel]

theorem cube (a : Nat) : a ^ 3 = a * (a * a) := by
  rw [@Nat.pow_succ a 2]
  rw [Nat.pow_two]
  rw [Nat.mul_assoc]

theorem sq_of_product (a b : Nat) : (a * b) ^ 2 = a * a * (b * b) := by
  rw [Nat.mul_pow]
  rw [Nat.pow_two]
  rw [Nat.pow_two]

theorem double_injective (a b : Nat) (h : a + a = b + b) : a = b := by
  rw [← Nat.two_mul] at h
  rw [← Nat.two_mul] at h
  exact Nat.eq_of_mul_eq_mul_left (Nat.zero_lt_succ 1) h

theorem cycle_of_le (a b c : Nat) (h : a ≤ b) (h1 : b ≤ c) (h2 : c ≤ a) : a = c := by
  apply Nat.le_antisymm
  · exact Nat.le_trans h h1
  · exact h2

theorem ne_of_lt_of_le (a b c : Nat) (h : a < b) (h1 : b ≤ c) : a ≠ c := by
  apply Nat.ne_of_lt
  exact Nat.lt_of_lt_of_le h h1

theorem pos_of_sum_product (a b : Nat) (h : 0 < a) (h1 : 0 < b) : 0 < a + b * a := by
  apply Nat.add_pos_left
  exact h

theorem le_mul_add_one (a b c d : Nat) (h : a ≤ b) (h1 : c ≤ d) : a * c < b * d + 1 := by
  apply Nat.lt_succ_of_le
  apply Nat.mul_le_mul
  · exact h
  · exact h1

theorem no_number_between (a b : Nat) (h : a < b) (h1 : b < a + 1) : False := by
  apply Nat.lt_irrefl a
  apply Nat.lt_of_lt_of_le h
  exact Nat.le_of_lt_succ h1

theorem even_add_even (a b : Nat) (h : ∃ k : Nat, a = 2 * k) (h1 : ∃ k : Nat, b = 2 * k) : ∃ k : Nat, a + b = 2 * k := by
  cases h with
  | intro k hk =>
    cases h1 with
    | intro m hm =>
      exists k + m
      rw [hk]
      rw [hm]
      rw [Nat.mul_add]

theorem odd_add_odd (a b : Nat) (h : ∃ k : Nat, a = 2 * k + 1) (h1 : ∃ k : Nat, b = 2 * k + 1) : ∃ k : Nat, a + b = 2 * k := by
  cases h with
  | intro k hk =>
    cases h1 with
    | intro m hm =>
      exists k + m + 1
      rw [hk]
      rw [hm]
      rw [Nat.add_add_add_comm]
      rw [← Nat.mul_add]
      rw [Nat.mul_add_one]

theorem sq_dvd_sq (a b : Nat) (h : a ∣ b) : a * a ∣ b * b := by
  apply Nat.mul_dvd_mul
  · exact h
  · exact h

theorem dvd_linear (a b c x y : Nat) (h : a ∣ b) (h1 : a ∣ c) : a ∣ x * b + y * c := by
  apply Nat.dvd_add
  · apply Nat.dvd_mul_left_of_dvd
    exact h
  · apply Nat.dvd_mul_left_of_dvd
    exact h1

theorem two_dvd_consecutive (n : Nat) : 2 ∣ n * (n + 1) := by
  induction n with
  | zero =>
    exists 0
  | succ n ih =>
    rw [Nat.mul_comm]
    rw [Nat.add_one_mul (n + 1)]
    rw [Nat.add_one_mul n]
    rw [Nat.add_assoc]
    apply Nat.dvd_add ih
    rw [← Nat.two_mul]
    exact Nat.dvd_mul_right 2 (n + 1)

theorem sum_of_odds (f : Nat → Nat) (h0 : f 0 = 0) (hs : ∀ n : Nat, f (n + 1) = f n + (2 * n + 1)) (n : Nat) : f n = n * n := by
  induction n with
  | zero =>
    rw [h0]
  | succ n ih =>
    rw [hs]
    rw [ih]
    rw [Nat.mul_add_one]
    rw [Nat.add_one_mul n n]
    rw [Nat.two_mul]
    simp [Nat.add_assoc]

theorem gauss_sum (f : Nat → Nat) (h0 : f 0 = 0) (hs : ∀ n : Nat, f (n + 1) = f n + (n + 1)) (n : Nat) : 2 * f n = n * (n + 1) := by
  induction n with
  | zero =>
    rw [h0]
  | succ n ih =>
    rw [hs]
    rw [Nat.mul_add]
    rw [ih]
    rw [← Nat.add_mul]
    rw [Nat.mul_comm]

theorem lt_two_pow (n : Nat) : n < 2 ^ n := by
  induction n with
  | zero => exact Nat.zero_lt_one
  | succ n ih =>
    rw [Nat.pow_succ]
    rw [Nat.mul_two]
    apply Nat.add_lt_add_of_lt_of_le
    · exact ih
    · exact Nat.le_trans (Nat.succ_le_succ (Nat.zero_le n)) ih

theorem le_mul_self (n : Nat) : n ≤ n * n := by
  cases n with
  | zero => exact Nat.zero_le 0
  | succ n =>
    apply Nat.le_mul_of_pos_right
    exact Nat.zero_lt_succ n

theorem zero_or_succ (n : Nat) : n = 0 ∨ ∃ m : Nat, n = m + 1 := by
  cases n with
  | zero =>
    left
    rfl
  | succ n =>
    right
    exists n

theorem even_or_odd (n : Nat) : (∃ k : Nat, n = 2 * k) ∨ (∃ k : Nat, n = 2 * k + 1) := by
  induction n with
  | zero =>
    left
    exists 0
  | succ n ih =>
    cases ih with
    | inl h =>
      right
      cases h with
      | intro k hk =>
        exists k
        rw [hk]
    | inr h =>
      left
      cases h with
      | intro k hk =>
        exists k + 1
        rw [hk]
        rw [Nat.mul_add_one]

theorem involution_injective (f : Nat → Nat) (a b : Nat) (h : ∀ x : Nat, f (f x) = x) (h1 : f a = f b) : a = b := by
  rw [← h a]
  rw [h1]
  rw [h]

theorem composition_injective (f g : Nat → Nat) (a b : Nat) (hf : ∀ x y : Nat, f x = f y → x = y) (hg : ∀ x y : Nat, g x = g y → x = y) (h : f (g a) = f (g b)) : a = b := by
  apply hg
  apply hf
  exact h

theorem idempotent_thrice (f : Nat → Nat) (a : Nat) (h : ∀ x : Nat, f (f x) = f x) : f (f (f (f a))) = f a := by
  rw [h]
  rw [h]
  rw [h]

theorem monotone_twice (f : Nat → Nat) (a b : Nat) (h : ∀ x y : Nat, x ≤ y → f x ≤ f y) (h1 : a < b) : f (f a) ≤ f (f b) := by
  apply h
  apply h
  exact Nat.le_of_lt h1

theorem two_step_induction (P : Nat → Prop) (h0 : P 0) (h1 : P 1) (h2 : ∀ n : Nat, P n → P (n + 2)) (n : Nat) : P n ∧ P (n + 1) := by
  induction n with
  | zero => exact ⟨h0, h1⟩
  | succ n ih =>
    cases ih with
    | intro h3 h4 =>
      constructor
      · exact h4
      · apply h2
        exact h3

theorem fixed_by_doubling (f : Nat → Nat) (a : Nat) (h : ∀ x : Nat, f (x + x) = f x) (h1 : a = 2) : f (a + a + (a + a)) = f 2 := by
  rw [h]
  rw [h]
  rw [h1]
