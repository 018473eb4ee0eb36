/-
Theorems of the premise-novel split (test), with reference proofs: each proof uses the library theorem that is named
above it, and no proof of the training data does.
-/

-- premise: Nat.mul_mod
theorem mul_mod_congr (a b c n : Nat) (h : a % n = b % n) : c * a % n = c * b % n := by
  rw [Nat.mul_mod]
  rw [h]
  rw [← Nat.mul_mod]

-- premise: Nat.gcd_mul_right
theorem gcd_scaled_coprime (a b c : Nat) (h : a.gcd b = 1) : (a * c).gcd (b * c) = c := by
  rw [Nat.gcd_mul_right]
  rw [h]
  rw [Nat.one_mul]

-- premise: List.length_eq_one_iff
theorem exists_of_filter_length_one (p : Nat → Bool) (l : List Nat) (h : (l.filter p).length = 1) : ∃ a : Nat, a ∈ l ∧ p a = true := by
  obtain ⟨a, ha⟩ := List.length_eq_one_iff.mp h
  exists a
  rw [← List.mem_filter]
  rw [ha]
  exact List.mem_cons_self

-- premise: Nat.pow_mul'
theorem pow_even (a n : Nat) : a ^ (2 * n) = a ^ n * a ^ n := by
  rw [Nat.pow_mul']
  rw [Nat.pow_two]

-- premise: Nat.lt_min
theorem apply_lt_min (F : Prop → Prop) (a b c : Nat) (h : F (a < c ∧ a < b)) : F (a < min b c) := by
  rw [Nat.lt_min]
  rw [and_comm]
  exact h

-- premise: funext_iff
theorem ne_fun_exists (f g : Nat → Nat) (h : f ≠ g) : ∃ x, f x ≠ g x := by
  rw [ne_eq] at h
  rw [funext_iff] at h
  exact Classical.not_forall.mp h

-- premise: Nat.div_le_of_le_mul
theorem div_le_sq_root (a b c : Nat) (h : a + c ≤ b ^ 2) : a / b ≤ b := by
  apply Nat.div_le_of_le_mul
  rw [← Nat.pow_two]
  omega

-- premise: Nat.mul_dvd_mul_iff_left
theorem mul_dvd_mul_add (a b c : Nat) (h : 0 < a) : a * b ∣ a * (b + c) ↔ b ∣ c := by
  rw [Nat.mul_dvd_mul_iff_left h]
  rw [Nat.dvd_add_right (Nat.dvd_refl b)]

-- premise: List.mem_iff_append
theorem mem_split_reverse (α : Type) (a : α) (l : List α) (h : a ∈ l) : ∃ s t : List α, l.reverse = s ++ a :: t := by
  apply List.mem_iff_append.mp
  rw [List.mem_reverse]
  exact h

-- premise: Nat.mul_left_cancel_iff
theorem mul_add_cancel_iff (a b c d : Nat) (h : 0 < a) : a * b + a * c = a * d ↔ b + c = d := by
  rw [← Nat.mul_add]
  exact Nat.mul_left_cancel_iff h

-- premise: Nat.sub_mul_mod
theorem sub_sq_mod (a n : Nat) (h : n * n ≤ a) : (a - n ^ 2) % n = a % n := by
  rw [Nat.pow_two]
  exact Nat.sub_mul_mod h

-- premise: Nat.dvd_iff_mod_eq_zero
theorem mod_zero_trans (a b c : Nat) (h : b % a = 0) (h1 : c % b = 0) : c % a = 0 := by
  rw [← Nat.dvd_iff_mod_eq_zero] at h h1
  rw [← Nat.dvd_iff_mod_eq_zero]
  exact Nat.dvd_trans h h1

-- premise: List.mem_of_head?
theorem head_filter_mem (p : Nat → Bool) (a : Nat) (l : List Nat) (h : (l.filter p).head? = some a) : p a = true := by
  have h1 := List.mem_of_head? h
  rw [List.mem_filter] at h1
  exact h1.2

-- premise: Nat.mod_mod_of_dvd
theorem mod_eq_of_mod_mul_eq (a b m n : Nat) (h : a % (m * n) = b % (m * n)) : a % m = b % m := by
  rw [← Nat.mod_mod_of_dvd a (Nat.dvd_mul_right m n)]
  rw [h]
  exact Nat.mod_mod_of_dvd b (Nat.dvd_mul_right m n)

-- premise: Nat.pow_lt_pow_right
theorem lt_of_pow_eq (a m n : Nat) (ha : 1 < a) (h : a ^ m = a ^ n) : ¬m < n := by
  intro h1
  have h2 := Nat.pow_lt_pow_right ha h1
  omega

-- premise: Nat.sub_eq_sub_min
theorem pow_sub_min (x a b : Nat) : x ^ (a - b) * x ^ min a b = x ^ a := by
  rw [Nat.sub_eq_sub_min]
  rw [← Nat.pow_add]
  rw [Nat.sub_add_cancel]
  exact Nat.min_le_left a b

-- premise: Bool.forall_bool
theorem forall_bool_fn (R : Bool → Bool → Prop) (F : Prop → Prop) (h : F (∀ b c : Bool, R b c)) : F ((∀ c : Bool, R false c) ∧ ∀ c : Bool, R true c) := by
  rw [Bool.forall_bool] at h
  exact h

-- premise: Nat.pos_of_dvd_of_pos
theorem le_cancel_divisor (a b c d : Nat) (h : a ∣ b) (hb : b ≠ 0) (h1 : a * c ≤ a * d) : c ≤ d := by
  apply Nat.le_of_mul_le_mul_left h1
  apply Nat.pos_of_dvd_of_pos h
  omega

-- premise: exists_or
theorem exists_or_apply (p q : Nat → Prop) (F : Prop → Prop) (h : F ((∃ x, p x) ∨ ∃ x, q x)) : F (∃ x, q x ∨ p x) := by
  rw [exists_or]
  rw [or_comm]
  exact h

-- premise: List.mem_of_mem_drop
theorem not_mem_drop_map (f : Nat → Nat) (a n : Nat) (l : List Nat) (h : ∀ x ∈ l, f x ≠ a) : a ∉ (l.map f).drop n := by
  intro h1
  have h2 := List.mem_of_mem_drop h1
  rw [List.mem_map] at h2
  obtain ⟨x, hx⟩ := h2
  exact h x hx.1 hx.2

-- premise: Nat.pos_of_div_pos
theorem lt_mul_of_div_gt (a b c : Nat) (h : c < a / b) (hc : 1 < c) : a < c * a := by
  have ha : 0 < a := Nat.pos_of_div_pos (b := b) (by omega)
  have h1 := Nat.mul_le_mul_right a hc
  omega

-- premise: Nat.mul_self_inj
theorem eq_of_pow_four (a b : Nat) (h : a * a * (a * a) = b * b * (b * b)) : a = b := by
  rw [Nat.mul_self_inj] at h
  rw [Nat.mul_self_inj] at h
  exact h

-- premise: Nat.gcd_eq_right
theorem gcd_sq_self (a : Nat) : (a ^ 2 + a).gcd a = a := by
  apply Nat.gcd_eq_right
  rw [Nat.pow_two]
  exact Nat.dvd_add (Nat.dvd_mul_right a a) (Nat.dvd_refl a)

-- premise: Nat.div_self
theorem mul_div_mul_self (a b : Nat) (ha : 0 < a) (hb : 0 < b) : a * b / (b * a) = 1 := by
  rw [Nat.mul_comm b a]
  apply Nat.div_self
  exact Nat.mul_pos ha hb

-- premise: List.exists_mem_of_ne_nil
theorem exists_of_filter_ne_nil (p : Nat → Bool) (l : List Nat) (h : l.filter p ≠ []) : ∃ x : Nat, x ∈ l ∧ p x = true := by
  obtain ⟨x, hx⟩ := List.exists_mem_of_ne_nil (l.filter p) h
  exists x
  exact List.mem_filter.mp hx

-- premise: Nat.exists_eq_add_of_le
theorem monotone_of_superadd (f : Nat → Nat) (h : ∀ a b : Nat, f a + b ≤ f (a + b)) (a b : Nat) (hab : a ≤ b) : f a ≤ f b := by
  obtain ⟨k, hk⟩ := Nat.exists_eq_add_of_le hab
  rw [hk]
  exact Nat.le_trans (Nat.le_add_right (f a) k) (h a k)

-- premise: Nat.pow_dvd_pow
theorem pow_dvd_add_pow (a m n k : Nat) (h : m ≤ n) (h1 : n ≤ k) : a ^ m ∣ a ^ n + a ^ k := by
  apply Nat.dvd_add
  · exact Nat.pow_dvd_pow a h
  · exact Nat.pow_dvd_pow a (Nat.le_trans h h1)

-- premise: Nat.gcd_eq_zero_iff
theorem gcd_sq_eq_zero (a b : Nat) : (a ^ 2).gcd b = 0 ↔ a = 0 ∧ b = 0 := by
  rw [Nat.gcd_eq_zero_iff]
  rw [Nat.pow_two]
  simp

-- premise: Nat.sub_mul_mod
theorem mod_of_sub_small (x k n : Nat) (h : n * k ≤ x) (h1 : x - n * k < n) : x % n = x - n * k := by
  rw [← Nat.sub_mul_mod h]
  exact Nat.mod_eq_of_lt h1

-- premise: List.reverse_eq_iff
theorem reverse_eq_append_iff (α : Type) (l m k : List α) : l.reverse = m ++ k ↔ l = k.reverse ++ m.reverse := by
  rw [List.reverse_eq_iff]
  rw [List.reverse_append]

-- premise: exists_comm
theorem exists_comm_apply (R : Nat → Bool → Prop) (F : Prop → Prop) (p : Prop) (h : F ((∃ n b, R n b) ∧ p)) : F (p ∧ ∃ b n, R n b) := by
  rw [exists_comm]
  rw [and_comm]
  exact h

-- premise: Nat.mul_div_mul_right
theorem sq_div_mul (a b : Nat) (h : a ≠ 0) : a ^ 2 / (b * a) = a / b := by
  rw [Nat.pow_two]
  apply Nat.mul_div_mul_right
  exact Nat.pos_of_ne_zero h

-- premise: Nat.gcd_pos_of_pos_right
theorem cancel_gcd (a b c d : Nat) (hb : b ≠ 0) (h : a.gcd b * c = a.gcd b * d) : c = d := by
  apply Nat.eq_of_mul_eq_mul_left _ h
  apply Nat.gcd_pos_of_pos_right
  omega

-- premise: Nat.mul_ne_zero
theorem cancel_product (a b x y : Nat) (ha : a ≠ 0) (hb : b ≠ 0) (h : a * b * x = a * b * y) : x = y := by
  apply Nat.eq_of_mul_eq_mul_left _ h
  apply Nat.pos_of_ne_zero
  exact Nat.mul_ne_zero ha hb

-- premise: Nat.le_sub_iff_add_le
theorem apply_le_sub (F : Prop → Prop) (k m n : Nat) (h : k ≤ m) (h1 : F (k + n ≤ m)) : F (n ≤ m - k) := by
  rw [Nat.le_sub_iff_add_le h]
  rw [Nat.add_comm]
  exact h1

-- premise: List.length_filter_le
theorem length_filter_map_lt (p : Nat → Bool) (f : Nat → Nat) (l : List Nat) : ((l.map f).filter p).length < l.length + 1 := by
  apply Nat.lt_succ_of_le
  rw [← List.length_map (as := l) f]
  exact List.length_filter_le p (l.map f)

-- premise: Nat.eq_mul_of_div_eq_left
theorem eq_of_div_eq_div (a b d : Nat) (h : d ∣ a) (h1 : d ∣ b) (h2 : a / d = b / d) : a = b := by
  have h3 := Nat.eq_mul_of_div_eq_left h h2
  rw [h3]
  exact Nat.div_mul_cancel h1

-- premise: Nat.mul_dvd_mul_iff_right
theorem mul_dvd_self_iff (a b : Nat) (h : 0 < b) : a * b ∣ b ↔ a = 1 := by
  have h1 := @Nat.mul_dvd_mul_iff_right a 1 b h
  rw [Nat.one_mul] at h1
  rw [h1]
  exact Nat.dvd_one

-- premise: Nat.pow_mul'
theorem pow_mul_dvd (a m n : Nat) (h : 0 < m) : a ^ n ∣ a ^ (m * n) := by
  rw [Nat.pow_mul']
  cases m with
  | zero => contradiction
  | succ k =>
    rw [Nat.pow_succ]
    exact Nat.dvd_mul_left (a ^ n) ((a ^ n) ^ k)

-- premise: Nat.div_self
theorem pow_div_pow_add (a b c : Nat) (h : a ^ b ≠ 0) : a ^ b / a ^ b * c = c := by
  rw [Nat.div_self]
  · rw [Nat.one_mul]
  · exact Nat.pos_of_ne_zero h

-- premise: List.mem_of_mem_take
theorem take_all_zero (l : List Nat) (n : Nat) (h : ∀ x ∈ l, x = 0) (x : Nat) (hx : x ∈ l.take n) : x * x = 0 := by
  have h1 := List.mem_of_mem_take hx
  rw [h x h1]

-- premise: Classical.propComplete
theorem three_apply (f : Prop → Prop) (p : Prop) : f True → f False → f p := by
  intro h h1
  cases Classical.propComplete p with
  | inl h2 =>
    rw [h2]
    exact h
  | inr h2 =>
    rw [h2]
    exact h1

-- premise: Nat.gcd_eq_right
theorem gcd_of_multiple (a b c : Nat) (h : c ∣ a) : (a * b).gcd c + b = c + b := by
  rw [Nat.gcd_eq_right]
  exact Nat.dvd_mul_right_of_dvd h b

-- premise: Nat.div_le_of_le_mul
theorem mul_div_succ_le (a b : Nat) : a * b / (b + 1) ≤ a := by
  apply Nat.div_le_of_le_mul
  rw [Nat.mul_comm]
  apply Nat.mul_le_mul_right
  omega

-- premise: Nat.mul_right_cancel_iff
theorem mul_self_eq_mul_iff (a b : Nat) (h : a ≠ 0) : a ^ 2 = b * a ↔ a = b := by
  rw [Nat.pow_two]
  apply Nat.mul_right_cancel_iff
  exact Nat.pos_of_ne_zero h

-- premise: Nat.add_eq_one_iff
theorem sum_pow_eq_one (a b c : Nat) (h : a ^ c + b ^ c = 1) : a ^ c * b ^ c = 0 := by
  rw [Nat.add_eq_one_iff] at h
  rcases h with ⟨h, h1⟩ | ⟨h, h1⟩
  · rw [h]
    exact Nat.zero_mul (b ^ c)
  · rw [h1]
    rfl

-- premise: Bool.exists_bool
theorem exists_bool_fn (F : Prop → Prop) (p : Bool → Prop) (h : F (∃ b : Bool, ¬p b)) : F (¬p false ∨ ¬p true) := by
  rw [Bool.exists_bool] at h
  exact h

-- premise: List.mem_iff_append
theorem map_append_split (f : Nat → Nat) (a : Nat) (l m : List Nat) (h : a ∈ l) : ∃ s t : List Nat, l.map f ++ m = s ++ f a :: t := by
  rw [← List.mem_iff_append]
  apply List.mem_append_left
  rw [List.mem_map]
  exact ⟨a, h, rfl⟩

-- premise: Nat.dvd_iff_mod_eq_zero
theorem mod_zero_comb (a b d x : Nat) (h : a % d = 0) (h1 : b % d = 0) : (a * x + b) % d = 0 := by
  rw [← Nat.dvd_iff_mod_eq_zero] at h h1
  rw [← Nat.dvd_iff_mod_eq_zero]
  exact Nat.dvd_add (Nat.dvd_mul_right_of_dvd h x) h1

-- premise: Nat.mul_mod
theorem sq_mod_of_mod_one (a n : Nat) (h : a % n = 1) : a * a % n = 1 % n := by
  rw [Nat.mul_mod]
  rw [h]

-- premise: Nat.pow_lt_pow_right
theorem two_pow_lt_of_lt (m n : Nat) (h : m < n) : 2 ^ m + 1 ≤ 2 ^ n := by
  apply Nat.pow_lt_pow_right
  · omega
  · exact h

-- premise: Option.eq_none_iff_forall_ne_some
theorem head_eq_none_of_all (l : List Nat) (h : ∀ a, l.head? ≠ some a) : l = [] := by
  rw [← Option.eq_none_iff_forall_ne_some] at h
  exact List.head?_eq_none_iff.mp h

-- premise: Nat.gcd_mul_right
theorem gcd_six_four (n : Nat) : (6 * n).gcd (4 * n) = 2 * n := by
  rw [Nat.gcd_mul_right]
  rfl

-- premise: Nat.mod_mod_of_dvd
theorem mod_mul_mod_right (a b c : Nat) : a % (b * c) % c = a % c := by
  apply Nat.mod_mod_of_dvd
  exact Nat.dvd_mul_left c b

-- premise: or_imp
theorem forall_or_imp_split (p q r : Nat → Prop) (F : Prop → Prop) (h : F (∀ x, (p x → r x) ∧ (q x → r x))) : F (∀ x, p x ∨ q x → r x) := by
  simp only [or_imp]
  exact h

-- premise: Nat.max_assoc
theorem apply_max_three (F : Nat → Prop) (a b c : Nat) (h : F (max (max c b) a)) : F (max (max a b) c) := by
  rw [Nat.max_assoc]
  rw [Nat.max_comm b c]
  rw [Nat.max_comm]
  exact h

-- premise: Nat.mul_self_inj
theorem sq_inj_iff (a b : Nat) (h : a ^ 2 = b ^ 2) : a + b = b + b := by
  rw [Nat.pow_two] at h
  rw [Nat.pow_two] at h
  rw [Nat.mul_self_inj] at h
  rw [h]

-- premise: List.length_eq_one_iff
theorem map_of_length_one (f : Nat → Nat) (l : List Nat) (h : l.length = 1) : ∃ a : Nat, l.map f = [f a] := by
  rw [List.length_eq_one_iff] at h
  obtain ⟨a, ha⟩ := h
  exists a
  rw [ha]
  rfl

-- premise: Nat.pos_of_dvd_of_pos
theorem mod_divisor_lt (a b c : Nat) (h : a ∣ b) (hb : b ≠ 0) : c % a < a := by
  apply Nat.mod_lt
  apply Nat.pos_of_dvd_of_pos h
  omega

-- premise: Nat.pos_of_div_pos
theorem cancel_of_div_pos (a b c d : Nat) (h : a / b ≠ 0) (h1 : a * c = a * d) : c = d := by
  apply Nat.eq_of_mul_eq_mul_left _ h1
  apply Nat.pos_of_div_pos (b := b)
  omega
