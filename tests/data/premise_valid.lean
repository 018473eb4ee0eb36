/-
Theorems of the premise-novel split (valid), with reference proofs: each proof uses the library theorem that is named
above it, and no proof of the training data does.
-/

-- premise: Nat.add_mul_div_right
theorem quotient_of_remainder (a b c : Nat) (h : a < c) : (a + b * c) / c = b := by
  have hc : 0 < c := by omega
  rw [Nat.add_mul_div_right a b hc]
  rw [Nat.div_eq_of_lt h]
  rw [Nat.zero_add]

-- premise: Nat.gcd_assoc
theorem gcd_swap_inner (a b c : Nat) : (a.gcd b).gcd c = (a.gcd c).gcd b := by
  rw [Nat.gcd_assoc]
  rw [Nat.gcd_comm b c]
  rw [Nat.gcd_assoc]

-- premise: Nat.sub_mul
theorem sub_mul_add_eq_sq_sub (a b : Nat) : (a - b) * (a + b) = a * a - b * b := by
  rw [Nat.sub_mul]
  rw [Nat.mul_add]
  rw [Nat.mul_add]
  rw [Nat.mul_comm b a]
  omega

-- premise: List.ne_nil_iff_exists_cons
theorem filter_pos_length_cons (p : Nat → Bool) (l : List Nat) (h : 0 < (l.filter p).length) : ∃ (a : Nat) (m : List Nat), l.filter p = a :: m := by
  rw [← List.ne_nil_iff_exists_cons]
  intro h1
  rw [h1] at h
  contradiction

-- premise: Classical.skolem
theorem choose_bound (R : Nat → Nat → Prop) (h : ∀ x, ∃ y, R x y) (h1 : ∀ x y, R x y → x < y) : ∃ f : Nat → Nat, ∀ x, x < f x := by
  obtain ⟨f, hf⟩ := Classical.skolem.mp h
  exists f
  intro x
  exact h1 x (f x) (hf x)

-- premise: Nat.add_min_add_left
theorem two_pow_min_add (a b c : Nat) : 2 ^ min (a + b) (a + c) = 2 ^ a * 2 ^ min b c := by
  rw [Nat.add_min_add_left]
  rw [Nat.pow_add]

-- premise: Nat.add_mod
theorem add_mod_congr (a b c d n : Nat) (h : a % n = b % n) (h1 : c % n = d % n) : (a + c) % n = (b + d) % n := by
  rw [Nat.add_mod]
  rw [h]
  rw [h1]
  rw [← Nat.add_mod]

-- premise: Nat.gcd_dvd_gcd_of_dvd_left
theorem gcd_one_of_dvd_coprime (a b c : Nat) (h : a ∣ b) (h1 : b.gcd c = 1) : a.gcd c = 1 := by
  have h2 := Nat.gcd_dvd_gcd_of_dvd_left c h
  rw [h1] at h2
  exact Nat.dvd_one.mp h2

-- premise: Nat.pow_lt_pow_left
theorem lt_of_pow_le_pow (a b n : Nat) (hn : n ≠ 0) (h : b ^ n ≤ a ^ n) : b ≤ a := by
  apply Nat.le_of_not_lt
  intro h1
  have h2 := Nat.pow_lt_pow_left h1 hn
  omega

-- premise: List.map_congr_left
theorem map_filter_congr (p : Nat → Bool) (f g : Nat → Nat) (l : List Nat) (h : ∀ x, p x = true → f x = g x) : (l.filter p).map f = (l.filter p).map g := by
  apply List.map_congr_left
  intro x hx
  rw [List.mem_filter] at hx
  exact h x hx.2

-- premise: Nat.div_lt_self
theorem div_succ_succ_lt (n k : Nat) (h : 0 < n) : n / (k + 2) + k < n + k := by
  apply Nat.add_lt_add_right
  apply Nat.div_lt_self h
  omega

-- premise: Nat.dvd_gcd_iff
theorem dvd_gcd_three (a b c d : Nat) (h : d ∣ c) : d ∣ a.gcd (b.gcd c) ↔ d ∣ a ∧ d ∣ b := by
  rw [Nat.dvd_gcd_iff]
  rw [Nat.dvd_gcd_iff]
  constructor
  · intro h1
    exact ⟨h1.1, h1.2.1⟩
  · intro h1
    exact ⟨h1.1, h1.2, h⟩

-- premise: Nat.lt_pow_self
theorem exists_pow_gt (a m n : Nat) (h : 1 < a) : ∃ k : Nat, m + n < a ^ k := by
  exists m + n
  exact Nat.lt_pow_self h

-- premise: List.foldl_map
theorem foldl_map_map (f g : Nat → Nat) (h : Nat → Nat → Nat) (l : List Nat) (b : Nat) : ((l.map f).map g).foldl h b = l.foldl (fun x y => h x (g (f y))) b := by
  rw [List.foldl_map]
  rw [List.foldl_map]

-- premise: Bool.and_or_distrib_right
theorem filter_or_and (p q r : Nat → Bool) (l : List Nat) : l.filter (fun x => (p x || q x) && r x) = l.filter (fun x => p x && r x || q x && r x) := by
  congr
  funext x
  rw [Bool.and_or_distrib_right]

-- premise: forall_and
theorem forall_and_apply (p q : Nat → Prop) (F : Prop → Prop) (h : F (∀ x, q x ∧ p x)) : F ((∀ x, q x) ∧ ∀ x, p x) := by
  rw [forall_and] at h
  exact h

-- premise: Nat.div_pos
theorem lt_of_div_eq_zero (a b : Nat) (hb : 0 < b) (h : a / b = 0) : a < b := by
  apply Nat.lt_of_not_le
  intro h1
  have h2 := Nat.div_pos h1 hb
  omega

-- premise: Nat.dvd_sub
theorem dvd_of_dvd_succ_sq (d n : Nat) (h : d ∣ n) (h1 : d ∣ n * n + 1) : d = 1 := by
  have h2 : d ∣ n * n := Nat.dvd_mul_right_of_dvd h n
  have h3 := Nat.dvd_sub h1 h2
  rw [Nat.add_sub_cancel_left] at h3
  exact Nat.dvd_one.mp h3

-- premise: Nat.max_lt
theorem apply_max_lt (F : Prop → Prop) (a b c : Nat) (h : F (a < c ∧ b < c)) : F (max b a < c) := by
  rw [Nat.max_comm]
  rw [Nat.max_lt]
  exact h

-- premise: Nat.pow_right_comm
theorem pow_pow_mul_comm (a b m n : Nat) : (a ^ m) ^ n * b = b * (a ^ n) ^ m := by
  rw [Nat.pow_right_comm]
  rw [Nat.mul_comm]

-- premise: List.length_pos_of_mem
theorem not_mem_of_short (α : Type) (a : α) (n : Nat) (l : List α) (h : l.length + n ≤ n) : a ∉ l.reverse := by
  intro h1
  have h2 := List.length_pos_of_mem h1
  rw [List.length_reverse] at h2
  omega

-- premise: Nat.mul_div_assoc
theorem mul_div_swap (a b c : Nat) (h : c ∣ b) : a * b / c = b / c * a := by
  rw [Nat.mul_div_assoc a h]
  rw [Nat.mul_comm]

-- premise: Nat.eq_zero_of_dvd_of_lt
theorem mod_eq_zero_of_dvd_mod (a b : Nat) (ha : 0 < a) (h : a ∣ b % a) : b % a = 0 := by
  apply Nat.eq_zero_of_dvd_of_lt h
  exact Nat.mod_lt b ha

-- premise: Nat.pow_pos
theorem cancel_pow (a b c n : Nat) (h : a ≠ 0) (h1 : a ^ n * b = a ^ n * c) : b = c := by
  apply Nat.eq_of_mul_eq_mul_left _ h1
  apply Nat.pow_pos
  exact Nat.pos_of_ne_zero h

-- premise: List.take_take
theorem take_take_swap (α : Type) (i j : Nat) (l : List α) : (l.take i).take j = (l.take j).take i := by
  rw [List.take_take]
  rw [Nat.min_comm]
  rw [List.take_take]

-- premise: Classical.forall_or_exists_not
theorem drinker (p : Nat → Prop) : ∃ x, p x → ∀ y, p y := by
  cases Classical.forall_or_exists_not p with
  | inl h => exact ⟨0, fun _ => h⟩
  | inr h =>
    obtain ⟨x, hx⟩ := h
    exact ⟨x, fun hp => absurd hp hx⟩

-- premise: Nat.mul_mod_mul_right
theorem mul_mod_mul_small (a b c : Nat) (h : a < b) : a * c % (c * b) = c * a := by
  rw [Nat.mul_comm c b]
  rw [Nat.mul_mod_mul_right]
  rw [Nat.mod_eq_of_lt h]
  rw [Nat.mul_comm]

-- premise: Nat.gcd_le_left
theorem gcd_le_right_of_pos (a b c : Nat) (h : 0 < b) : a.gcd b ≤ b + c := by
  rw [Nat.gcd_comm]
  have h1 := Nat.gcd_le_left a h
  omega

-- premise: Nat.mul_mod_mul_right
theorem mul_mod_mul_zero (a b c : Nat) (h : b ∣ a) : a * c % (b * c) = 0 := by
  rw [Nat.mul_mod_mul_right]
  rw [Nat.mod_eq_zero_of_dvd h]
  rw [Nat.zero_mul]

-- premise: Nat.pow_add_one'
theorem pow_succ_factor (a b n : Nat) : a ^ (n + 1) + a * b = a * (a ^ n + b) := by
  rw [Nat.pow_add_one']
  rw [Nat.mul_add]

-- premise: Nat.sub_add_comm
theorem pow_sub_add_comm (x m n k : Nat) (h : k ≤ n) : x ^ (n + m - k) = x ^ m * x ^ (n - k) := by
  rw [Nat.sub_add_comm h]
  rw [Nat.pow_add]
  rw [Nat.mul_comm]

-- premise: List.eq_nil_of_forall_not_mem
theorem filter_eq_nil_of_false (p : Nat → Bool) (l : List Nat) (h : ∀ x ∈ l, p x = false) : l.filter p = [] := by
  apply List.eq_nil_of_forall_not_mem
  intro x hx
  rw [List.mem_filter] at hx
  rw [h x hx.1] at hx
  exact absurd hx.2 (by decide)

-- premise: Nat.gcd_dvd_gcd_of_dvd_right
theorem gcd_le_gcd_of_dvd (a b c : Nat) (h : b ∣ c) (ha : 0 < a.gcd c) : a.gcd b ≤ a.gcd c := by
  apply Nat.le_of_dvd ha
  exact Nat.gcd_dvd_gcd_of_dvd_right a h

-- premise: Nat.mod_lt_of_lt
theorem mul_mod_le (a b c d : Nat) (h : a < c) (hd : 0 < d) : d * (a % b) < d * c := by
  apply Nat.mul_lt_mul_of_pos_left _ hd
  exact Nat.mod_lt_of_lt h

-- premise: Classical.not_iff
theorem apply_not_iff (p q : Prop) (F : Prop → Prop) (h : F (q ↔ ¬p)) : F ¬(p ↔ q) := by
  rw [Classical.not_iff]
  rw [iff_comm]
  exact h

-- premise: Nat.le_mul_of_pos_left
theorem add_le_mul_add_mul (a b x y : Nat) (ha : 0 < a) (hb : 0 < b) : x + y ≤ a * x + b * y := by
  apply Nat.add_le_add
  · exact Nat.le_mul_of_pos_left x ha
  · exact Nat.le_mul_of_pos_left y hb

-- premise: List.exists_of_mem_map
theorem mem_of_mem_map_fixed (f : Nat → Nat) (l : List Nat) (b : Nat) (hf : ∀ x ∈ l, f x = x) (h : b ∈ l.map f) : b ∈ l := by
  obtain ⟨a, ha⟩ := List.exists_of_mem_map h
  rw [← ha.2]
  rw [hf a ha.1]
  exact ha.1

-- premise: Nat.gcd_assoc
theorem gcd_absorb_left (a b : Nat) : a.gcd (a.gcd b) = a.gcd b := by
  rw [← Nat.gcd_assoc]
  rw [Nat.gcd_self]

-- premise: Nat.add_mod
theorem mod_add_congr_zero (a b n : Nat) (h : a % n = 0) : (a + b) % n = b % n := by
  rw [Nat.add_mod]
  rw [h]
  rw [Nat.zero_add]
  exact Nat.mod_mod b n

-- premise: Nat.pow_lt_pow_left
theorem pow_lt_succ_pow (a n : Nat) : a ^ (n + 1) < (a + 1) ^ (n + 1) := by
  apply Nat.pow_lt_pow_left
  · exact Nat.lt_add_one a
  · exact Nat.add_one_ne_zero n

-- premise: Option.ne_none_iff_exists'
theorem option_map_ne_none (f : Nat → Nat) (o : Option Nat) (h : o ≠ none) : ∃ x : Nat, o.map f = some (f x) := by
  rw [Option.ne_none_iff_exists'] at h
  obtain ⟨x, hx⟩ := h
  exists x
  rw [hx]
  rfl

-- premise: Nat.exists_eq_add_one_of_ne_zero
theorem dvd_pow_of_ne_zero (a n : Nat) (h : n ≠ 0) : a ∣ a ^ n := by
  obtain ⟨k, hk⟩ := Nat.exists_eq_add_one_of_ne_zero h
  rw [hk]
  rw [Nat.pow_succ]
  exact Nat.dvd_mul_left a (a ^ k)

-- premise: Nat.dvd_add_iff_left
theorem dvd_of_dvd_add_sq (a b d : Nat) (h : d ∣ b) (h1 : d ∣ a + b ^ 2) : d ∣ a := by
  rw [Nat.pow_two] at h1
  rw [← Nat.dvd_add_iff_left] at h1
  · exact h1
  · exact Nat.dvd_mul_right_of_dvd h b

-- premise: Nat.div_eq_iff_eq_mul_left
theorem mul_div_eq_iff (a b c d : Nat) (hb : 0 < b) (h : b ∣ a) : a * d / b = c ↔ a * d = c * b := by
  apply Nat.div_eq_iff_eq_mul_left hb
  exact Nat.dvd_mul_right_of_dvd h d

-- premise: Bool.and_eq_false_iff
theorem forall_and_false (p q : Nat → Bool) (F : Prop → Prop) (h : F (∀ n, p n = false ∨ q n = false)) : F (∀ n, (p n && q n) = false) := by
  simp only [Bool.and_eq_false_iff]
  exact h

-- premise: Classical.exists_or_forall_not
theorem smullyan (p : Nat → Prop) : ∃ x, (∃ y, p y) → p x := by
  cases Classical.exists_or_forall_not p with
  | inl h =>
    obtain ⟨x, hx⟩ := h
    exact ⟨x, fun _ => hx⟩
  | inr h => exact ⟨0, fun h1 => h1.elim (fun y hy => absurd hy (h y))⟩

-- premise: Nat.two_pow_pos
theorem mod_two_pow_lt (a n : Nat) : a % 2 ^ n + 1 ≤ 2 ^ n := by
  apply Nat.mod_lt
  exact Nat.two_pow_pos n

-- premise: List.foldr_map
theorem foldr_map_app (f : Nat → Nat) (h : Nat → Nat → Nat) (l m : List Nat) (b : Nat) : (m ++ l.map f).foldr h b = m.foldr h (l.foldr (fun x => h (f x)) b) := by
  rw [List.foldr_append]
  rw [List.foldr_map]

-- premise: Nat.gcd_add_one
theorem gcd_succ_mod (n m : Nat) : (n + 1).gcd (m % (n + 1)) = (n + 1).gcd m := by
  rw [Nat.gcd_add_one]
  rw [Nat.mod_mod]
  rw [← Nat.gcd_add_one]

-- premise: Nat.div_pos
theorem cancel_quotient (a b c d : Nat) (h : b ≤ a) (hb : 0 < b) (h1 : a / b * c = a / b * d) : c = d := by
  apply Nat.eq_of_mul_eq_mul_left _ h1
  exact Nat.div_pos h hb

-- premise: Nat.sub_mul
theorem sub_mul_mul_sub (a b c d : Nat) : (a - b) * c * d = a * c * d - b * c * d := by
  rw [Nat.sub_mul]
  rw [Nat.sub_mul]

-- premise: List.map_congr_left
theorem map_eq_self_of_fixed (f : Nat → Nat) (l : List Nat) (h : ∀ x ∈ l, f x = x) : l.map f = l := by
  rw [List.map_congr_left h]
  exact List.map_id' l

-- premise: Nat.dvd_sub
theorem dvd_mul_sub_mul (a b d x y : Nat) (h : d ∣ a) (h1 : d ∣ b) : d ∣ a * x - y * b := by
  apply Nat.dvd_sub
  · exact Nat.dvd_mul_right_of_dvd h x
  · exact Nat.dvd_mul_left_of_dvd h1 y

-- premise: Nat.div_lt_self
theorem twice_div_lt (a b c : Nat) (h : a / b ≠ 0) (hc : 1 < c) : a / b / c < a / b := by
  apply Nat.div_lt_self
  · exact Nat.pos_of_ne_zero h
  · exact hc

-- premise: Nat.le_antisymm_iff
theorem apply_eq_iff_le (F : Prop → Prop) (a b : Nat) (h : F (b ≤ a ∧ a ≤ b)) : F (a = b) := by
  rw [Nat.le_antisymm_iff]
  rw [and_comm]
  exact h

-- premise: imp.swap
theorem apply_imp_swap (a b : Prop) (p : Nat → Prop) (F : Prop → Prop) (h : F (a → b → ∀ n, p n)) : F (b → a → ∀ n, p n) := by
  rw [imp.swap]
  exact h

-- premise: Nat.lt_pow_self
theorem self_mul_le_pow (a b n : Nat) (h : 1 < a) : n * b ≤ a ^ n * b := by
  apply Nat.mul_le_mul_right
  apply Nat.le_of_lt
  exact Nat.lt_pow_self h

-- premise: List.append_cons
theorem length_filter_append_cons (p : Nat → Bool) (a : Nat) (l m : List Nat) : (l ++ a :: m).filter p = (l ++ [a]).filter p ++ m.filter p := by
  rw [List.append_cons]
  rw [List.filter_append]

-- premise: Nat.eq_zero_of_dvd_of_lt
theorem mul_eq_zero_of_dvd_small (a b c : Nat) (h : a ∣ b) (h1 : b + c < a) : b * c = 0 := by
  have h2 : b = 0 := Nat.eq_zero_of_dvd_of_lt h (by omega)
  rw [h2]
  rw [Nat.zero_mul]

-- premise: Nat.mul_div_assoc
theorem div_mul_div (a b c : Nat) (h : c ∣ a) (h1 : c ∣ b) : a / c * b = a * (b / c) := by
  rw [← Nat.mul_div_assoc a h1]
  rw [Nat.mul_comm]
  rw [← Nat.mul_div_assoc b h]
  rw [Nat.mul_comm]
