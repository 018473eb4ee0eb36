/-
Natural numbers: divisibility. `a ∣ b` means `∃ c, b = a * c`.
-/

@[simp] protected theorem Nat.dvd_refl (a : Nat) : a ∣ a := by
  exists 1
  rw [Nat.mul_one]

@[simp] protected theorem Nat.dvd_zero (a : Nat) : a ∣ 0 := by
  exists 0

@[simp] protected theorem Nat.one_dvd (n : Nat) : 1 ∣ n := by
  exists n
  rw [Nat.one_mul]

@[simp] protected theorem Nat.dvd_mul_right (a b : Nat) : a ∣ a * b := by
  exists b

@[simp] protected theorem Nat.dvd_mul_left (a b : Nat) : a ∣ b * a := by
  exists b
  rw [Nat.mul_comm]

protected theorem Nat.dvd_trans {a b c : Nat} (h₁ : a ∣ b) (h₂ : b ∣ c) : a ∣ c := by
  cases h₁ with
  | intro k hk =>
    cases h₂ with
    | intro l hl =>
      exists k * l
      rw [hl]
      rw [hk]
      rw [Nat.mul_assoc]

protected theorem Nat.dvd_add {m n k : Nat} (h₁ : k ∣ m) (h₂ : k ∣ n) : k ∣ m + n := by
  cases h₁ with
  | intro c hc =>
    cases h₂ with
    | intro d hd =>
      exists c + d
      rw [hc]
      rw [hd]
      rw [Nat.mul_add]

protected theorem Nat.dvd_mul_right_of_dvd {m n : Nat} (h : n ∣ m) (k : Nat) : n ∣ m * k := by
  exact Nat.dvd_trans h (Nat.dvd_mul_right m k)

protected theorem Nat.dvd_mul_left_of_dvd {m n : Nat} (h : n ∣ m) (k : Nat) : n ∣ k * m := by
  exact Nat.dvd_trans h (Nat.dvd_mul_left m k)

protected theorem Nat.mul_dvd_mul {a b c d : Nat} (h₁ : a ∣ b) (h₂ : c ∣ d) : a * c ∣ b * d := by
  cases h₁ with
  | intro k hk =>
    cases h₂ with
    | intro l hl =>
      exists k * l
      rw [hk]
      rw [hl]
      rw [Nat.mul_mul_mul_comm]

protected theorem Nat.mul_dvd_mul_left {b c : Nat} (a : Nat) (h : b ∣ c) : a * b ∣ a * c := by
  exact Nat.mul_dvd_mul (Nat.dvd_refl a) h

protected theorem Nat.mul_dvd_mul_right {a b : Nat} (h : a ∣ b) (c : Nat) : a * c ∣ b * c := by
  exact Nat.mul_dvd_mul h (Nat.dvd_refl c)

theorem Nat.eq_zero_of_zero_dvd {a : Nat} (h : 0 ∣ a) : a = 0 := by
  cases h with
  | intro c hc =>
    rw [Nat.zero_mul] at hc
    exact hc

theorem Nat.le_of_dvd {m n : Nat} (h1 : 0 < n) : m ∣ n → m ≤ n := by
  intro h2
  cases h2 with
  | intro c hc =>
    cases c with
    | zero =>
      exfalso
      rw [Nat.mul_zero] at hc
      rw [hc] at h1
      exact Nat.lt_irrefl 0 h1
    | succ c =>
      rw [hc]
      exact Nat.le_mul_of_pos_right m (Nat.zero_lt_succ c)

protected theorem Nat.dvd_antisymm {m n : Nat} (h₁ : m ∣ n) (h₂ : n ∣ m) : m = n := by
  cases Nat.eq_zero_or_pos n with
  | inl hn =>
    rw [hn] at h₂
    rw [hn]
    exact Nat.eq_zero_of_zero_dvd h₂
  | inr hn =>
    cases Nat.eq_zero_or_pos m with
    | inl hm =>
      rw [hm] at h₁
      rw [hm]
      exact (Nat.eq_zero_of_zero_dvd h₁).symm
    | inr hm =>
      apply Nat.le_antisymm
      · exact Nat.le_of_dvd hn h₁
      · exact Nat.le_of_dvd hm h₂

protected theorem Nat.dvd_add_right {m k n : Nat} (h : k ∣ m) : k ∣ m + n ↔ k ∣ n := by
  constructor
  · intro hs
    cases h with
    | intro c hc =>
      cases hs with
      | intro d hd =>
        exists d - c
        apply @Nat.add_left_cancel m
        rw [hd]
        rw [hc]
        cases Nat.le_total c d with
        | inl hcd =>
          rw [← Nat.mul_add]
          rw [Nat.add_sub_of_le hcd]
        | inr hdc =>
          rw [Nat.sub_eq_zero_of_le hdc]
          rw [Nat.mul_zero]
          rw [Nat.add_zero]
          apply Nat.le_antisymm
          · exact Nat.mul_le_mul_left k hdc
          · rw [← hd]
            rw [← hc]
            exact Nat.le_add_right m n
  · intro hn
    exact Nat.dvd_add h hn
