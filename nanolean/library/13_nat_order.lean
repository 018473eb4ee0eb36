/-
Natural numbers: more about the order, and about the order and addition or multiplication.
-/

/-! Ways to say less and equal -/

protected theorem Nat.lt_or_gt_of_ne {a b : Nat} (ne : a ≠ b) : a < b ∨ a > b := by
  cases Nat.lt_trichotomy a b with
  | inl h =>
    left
    exact h
  | inr h =>
    cases h with
    | inl heq => contradiction
    | inr hgt =>
      right
      exact hgt

protected theorem Nat.le_antisymm_iff {a b : Nat} : a = b ↔ a ≤ b ∧ b ≤ a := by
  constructor
  · intro h
    rw [h]
    exact ⟨Nat.le_refl b, Nat.le_refl b⟩
  · intro h
    exact Nat.le_antisymm h.1 h.2

protected theorem Nat.lt_iff_le_and_ne {m n : Nat} : m < n ↔ m ≤ n ∧ m ≠ n := by
  constructor
  · intro h
    constructor
    · exact Nat.le_of_lt h
    · exact Nat.ne_of_lt h
  · intro h
    exact Nat.lt_of_le_of_ne h.1 h.2

protected theorem Nat.le_iff_lt_or_eq {n m : Nat} : n ≤ m ↔ n < m ∨ n = m := by
  constructor
  · intro h
    exact Nat.lt_or_eq_of_le h
  · intro h
    cases h with
    | inl hlt => exact Nat.le_of_lt hlt
    | inr heq => exact Nat.le_of_eq heq

protected theorem Nat.lt_add_one_iff_lt_or_eq {m n : Nat} : m < n + 1 ↔ m < n ∨ m = n := by
  rw [Nat.lt_add_one_iff]
  exact Nat.le_iff_lt_or_eq

protected theorem Nat.lt_succ_iff_lt_or_eq {m n : Nat} : m < Nat.succ n ↔ m < n ∨ m = n := by
  exact Nat.lt_add_one_iff_lt_or_eq

protected theorem Nat.eq_of_le_of_lt_succ {n m : Nat} (h₁ : n ≤ m) (h₂ : m < n + 1) : m = n := by
  apply Nat.le_antisymm
  · exact Nat.le_of_lt_succ h₂
  · exact h₁

protected theorem Nat.eq_of_lt_succ_of_not_lt {m n : Nat} (hmn : m < n + 1) (h : ¬m < n) : m = n := by
  apply Nat.le_antisymm
  · exact Nat.le_of_lt_succ hmn
  · exact Nat.le_of_not_lt h

protected theorem Nat.le_of_not_le {a b : Nat} (h : ¬b ≤ a) : a ≤ b := by
  cases Nat.le_total a b with
  | inl hab => exact hab
  | inr hba => contradiction

protected theorem Nat.gt_of_not_le {n m : Nat} (h : ¬n ≤ m) : n > m := by
  exact Nat.lt_of_not_le h

protected theorem Nat.ge_of_not_lt {n m : Nat} (h : ¬n < m) : n ≥ m := by
  exact Nat.le_of_not_lt h

protected theorem Nat.of_le_succ {n m : Nat} (h : n ≤ Nat.succ m) : n ≤ m ∨ n = Nat.succ m := by
  cases h with
  | refl =>
    right
    rfl
  | step h =>
    left
    exact h

protected theorem Nat.le_or_eq_of_le_succ {m n : Nat} (h : m ≤ Nat.succ n) : m ≤ n ∨ m = Nat.succ n := by
  exact Nat.of_le_succ h

/-! Successors -/

protected theorem Nat.add_one_inj {a b : Nat} : a + 1 = b + 1 ↔ a = b := by
  exact Nat.succ_inj

@[simp] theorem Nat.succ_ne_self (n : Nat) : Nat.succ n ≠ n := by
  intro h
  apply Nat.not_succ_le_self n
  exact Nat.le_of_eq h

protected theorem Nat.not_add_one_le_zero (n : Nat) : ¬n + 1 ≤ 0 := by
  exact Nat.not_succ_le_zero n

protected theorem Nat.not_add_one_le_self (n : Nat) : ¬n + 1 ≤ n := by
  exact Nat.not_succ_le_self n

protected theorem Nat.add_one_le_iff {n m : Nat} : n + 1 ≤ m ↔ n < m := by
  exact Iff.rfl

protected theorem Nat.add_one_pos (n : Nat) : 0 < n + 1 := by
  exact Nat.zero_lt_succ n

protected theorem Nat.succ_lt_succ_iff {a b : Nat} : Nat.succ a < Nat.succ b ↔ a < b := by
  constructor
  · intro h
    exact Nat.lt_of_succ_lt_succ h
  · intro h
    exact Nat.succ_lt_succ h

protected theorem Nat.add_one_le_add_one_iff {a b : Nat} : a + 1 ≤ b + 1 ↔ a ≤ b := by
  exact Nat.succ_le_succ_iff

protected theorem Nat.add_one_lt_add_one_iff {a b : Nat} : a + 1 < b + 1 ↔ a < b := by
  exact Nat.succ_lt_succ_iff

protected theorem Nat.lt_succ_of_lt {a b : Nat} (h : a < b) : a < Nat.succ b := by
  exact Nat.le_succ_of_le h

protected theorem Nat.lt_add_one_of_lt {a b : Nat} (h : a < b) : a < b + 1 := by
  exact Nat.le_succ_of_le h

protected theorem Nat.lt_of_succ_lt {n m : Nat} (h : Nat.succ n < m) : n < m := by
  exact Nat.le_of_succ_le h

/-! Zero and one -/

protected theorem Nat.pos_iff_ne_zero {n : Nat} : 0 < n ↔ n ≠ 0 := by
  constructor
  · intro h
    exact Nat.ne_zero_of_lt h
  · intro h
    exact Nat.pos_of_ne_zero h

protected theorem Nat.le_zero {i : Nat} : i ≤ 0 ↔ i = 0 := by
  rw [Nat.le_zero_eq]

@[simp] protected theorem Nat.lt_one_iff {n : Nat} : n < 1 ↔ n = 0 := by
  rw [Nat.lt_add_one_iff, Nat.le_zero_eq]

protected theorem Nat.eq_zero_of_not_pos {n : Nat} (h : ¬0 < n) : n = 0 := by
  rw [Nat.not_lt] at h
  exact Nat.eq_zero_of_le_zero h

protected theorem Nat.one_le_of_lt {a b : Nat} (h : a < b) : 1 ≤ b := by
  apply Nat.succ_le_of_lt
  exact Nat.lt_of_le_of_lt (Nat.zero_le a) h

/-! Order and addition -/

@[simp] protected theorem Nat.left_eq_add {a b : Nat} : a = a + b ↔ b = 0 := by
  rw [eq_comm, Nat.add_eq_left]

@[simp] protected theorem Nat.right_eq_add {a b : Nat} : b = a + b ↔ a = 0 := by
  rw [eq_comm, Nat.add_eq_right]

@[simp] protected theorem Nat.lt_add_right_iff_pos {n k : Nat} : n < n + k ↔ 0 < k := by
  constructor
  · intro h
    apply @Nat.lt_of_add_lt_add_left n
    exact h
  · intro h
    exact Nat.lt_add_of_pos_right h

@[simp] protected theorem Nat.lt_add_left_iff_pos {n k : Nat} : n < k + n ↔ 0 < k := by
  rw [Nat.add_comm]
  exact Nat.lt_add_right_iff_pos

protected theorem Nat.add_pos_iff_pos_or_pos {m n : Nat} : 0 < m + n ↔ 0 < m ∨ 0 < n := by
  constructor
  · intro h
    cases Nat.eq_zero_or_pos m with
    | inl hm =>
      right
      rw [hm, Nat.zero_add] at h
      exact h
    | inr hm =>
      left
      exact hm
  · intro h
    cases h with
    | inl hm => exact Nat.add_pos_left hm n
    | inr hn => exact Nat.add_pos_right m hn

protected theorem Nat.add_eq_one_iff {m n : Nat} : m + n = 1 ↔ m = 0 ∧ n = 1 ∨ m = 1 ∧ n = 0 := by
  constructor
  · intro h
    cases n with
    | zero =>
      right
      exact ⟨h, rfl⟩
    | succ n =>
      left
      rw [← Nat.add_assoc] at h
      have hmn : m = 0 ∧ n = 0 := by exact Nat.eq_zero_of_add_eq_zero (Nat.succ.inj h)
      rw [hmn.1, hmn.2]
      exact ⟨rfl, rfl⟩
  · intro h
    cases h with
    | inl h1 => rw [h1.1, h1.2]
    | inr h2 => rw [h2.1, h2.2]

/-! Order and multiplication -/

protected theorem Nat.le_mul_of_pos_left {n : Nat} (m : Nat) (h : 0 < n) : m ≤ n * m := by
  rw [Nat.mul_comm]
  exact Nat.le_mul_of_pos_right m h

protected theorem Nat.le_of_mul_le_mul_left {a b c : Nat} (h : c * a ≤ c * b) (hc : 0 < c) : a ≤ b := by
  apply Nat.le_of_not_lt
  intro hba
  exact Nat.not_le_of_lt (Nat.mul_lt_mul_of_pos_left hba hc) h

protected theorem Nat.le_of_mul_le_mul_right {a b c : Nat} (h : a * c ≤ b * c) (hc : 0 < c) : a ≤ b := by
  rw [Nat.mul_comm a c, Nat.mul_comm b c] at h
  exact Nat.le_of_mul_le_mul_left h hc

protected theorem Nat.mul_lt_mul_left {a b c : Nat} (a0 : 0 < a) : a * b < a * c ↔ b < c := by
  constructor
  · intro h
    apply Nat.lt_of_not_le
    intro hcb
    exact Nat.not_le_of_lt h (Nat.mul_le_mul_left a hcb)
  · intro h
    exact Nat.mul_lt_mul_of_pos_left h a0

protected theorem Nat.mul_lt_mul_right {a b c : Nat} (a0 : 0 < a) : b * a < c * a ↔ b < c := by
  rw [Nat.mul_comm b a, Nat.mul_comm c a]
  exact Nat.mul_lt_mul_left a0

protected theorem Nat.mul_left_cancel {n m k : Nat} (np : 0 < n) (h : n * m = n * k) : m = k := by
  exact Nat.eq_of_mul_eq_mul_left np h

protected theorem Nat.mul_right_cancel {n m k : Nat} (mp : 0 < m) (h : n * m = k * m) : n = k := by
  exact Nat.eq_of_mul_eq_mul_right mp h

protected theorem Nat.mul_left_cancel_iff {n : Nat} (p : 0 < n) {m k : Nat} : n * m = n * k ↔ m = k := by
  constructor
  · intro h
    exact Nat.mul_left_cancel p h
  · intro h
    rw [h]

protected theorem Nat.mul_right_cancel_iff {m : Nat} (p : 0 < m) {n k : Nat} : n * m = k * m ↔ n = k := by
  constructor
  · intro h
    exact Nat.mul_right_cancel p h
  · intro h
    rw [h]

protected theorem Nat.mul_self_le_mul_self {m n : Nat} (h : m ≤ n) : m * m ≤ n * n := by
  exact Nat.mul_le_mul h h

protected theorem Nat.mul_self_lt_mul_self {m n : Nat} (h : m < n) : m * m < n * n := by
  apply Nat.lt_of_le_of_lt (Nat.mul_le_mul_left m (Nat.le_of_lt h))
  rw [Nat.mul_lt_mul_right (Nat.lt_of_le_of_lt (Nat.zero_le m) h)]
  exact h

protected theorem Nat.mul_self_le_mul_self_iff {m n : Nat} : m * m ≤ n * n ↔ m ≤ n := by
  constructor
  · intro h
    apply Nat.le_of_not_lt
    intro hnm
    exact Nat.not_le_of_lt (Nat.mul_self_lt_mul_self hnm) h
  · intro h
    exact Nat.mul_self_le_mul_self h

protected theorem Nat.mul_self_inj {m n : Nat} : m * m = n * n ↔ m = n := by
  constructor
  · intro h
    apply Nat.le_antisymm
    · exact Nat.mul_self_le_mul_self_iff.mp (Nat.le_of_eq h)
    · exact Nat.mul_self_le_mul_self_iff.mp (Nat.le_of_eq h.symm)
  · intro h
    rw [h]
