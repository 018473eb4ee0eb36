/-
Natural numbers: order. `a < b` is `a + 1 ≤ b`; `a ≥ b` and `a > b` are `b ≤ a` and `b < a`.
-/

/-! Basic facts -/

@[simp] protected theorem Nat.le_refl (n : Nat) : n ≤ n := by
  exact Nat.le.refl

@[simp] theorem ge_iff_le {x y : Nat} : x ≥ y ↔ y ≤ x := by
  exact Iff.rfl

@[simp] theorem gt_iff_lt {x y : Nat} : x > y ↔ y < x := by
  exact Iff.rfl

theorem Nat.le_succ (n : Nat) : n ≤ Nat.succ n := by
  exact Nat.le.step Nat.le.refl

theorem Nat.le_succ_of_le {n m : Nat} (h : n ≤ m) : n ≤ Nat.succ m := by
  exact Nat.le.step h

protected theorem Nat.le_of_eq {n m : Nat} (p : n = m) : n ≤ m := by
  rw [p]

@[simp] theorem Nat.zero_le (n : Nat) : 0 ≤ n := by
  induction n with
  | zero => exact Nat.le_refl 0
  | succ n ih => exact Nat.le.step ih

protected theorem Nat.le_trans {n m k : Nat} : n ≤ m → m ≤ k → n ≤ k := by
  intro h₁ h₂
  induction h₂ with
  | refl => exact h₁
  | step h ih => exact Nat.le.step ih

theorem Nat.succ_le_succ {n m : Nat} (h : n ≤ m) : Nat.succ n ≤ Nat.succ m := by
  induction h with
  | refl => exact Nat.le.refl
  | step h ih => exact Nat.le.step ih

@[simp] theorem Nat.pred_le (n : Nat) : Nat.pred n ≤ n := by
  cases n with
  | zero => exact Nat.le.refl
  | succ n => exact Nat.le_succ n

theorem Nat.pred_le_pred {n m : Nat} (h : n ≤ m) : Nat.pred n ≤ Nat.pred m := by
  cases h with
  | refl => exact Nat.le.refl
  | step h => exact Nat.le_trans (Nat.pred_le n) h

theorem Nat.le_of_succ_le_succ {n m : Nat} (h : Nat.succ n ≤ Nat.succ m) : n ≤ m := by
  exact Nat.pred_le_pred h

protected theorem Nat.succ_le_succ_iff {m n : Nat} : Nat.succ m ≤ Nat.succ n ↔ m ≤ n := by
  constructor
  · intro h
    exact Nat.le_of_succ_le_succ h
  · intro h
    exact Nat.succ_le_succ h

theorem Nat.not_succ_le_zero (n : Nat) : ¬Nat.succ n ≤ 0 := by
  intro h
  cases h

theorem Nat.not_succ_le_self (n : Nat) : ¬Nat.succ n ≤ n := by
  induction n with
  | zero => exact Nat.not_succ_le_zero 0
  | succ n ih =>
    intro h
    apply ih
    exact Nat.le_of_succ_le_succ h

protected theorem Nat.eq_zero_of_le_zero {n : Nat} (h : n ≤ 0) : n = 0 := by
  cases n with
  | zero => rfl
  | succ n =>
    exfalso
    exact Nat.not_succ_le_zero n h

@[simp] protected theorem Nat.le_zero_eq (a : Nat) : (a ≤ 0) = (a = 0) := by
  apply propext
  constructor
  · intro h
    exact Nat.eq_zero_of_le_zero h
  · intro h
    exact Nat.le_of_eq h

@[simp] theorem Nat.le_add_right (n k : Nat) : n ≤ n + k := by
  induction k with
  | zero => exact Nat.le_refl n
  | succ k ih => exact Nat.le.step ih

@[simp] theorem Nat.le_add_left (n m : Nat) : n ≤ m + n := by
  rw [Nat.add_comm]
  exact Nat.le_add_right n m

protected theorem Nat.le_add_right_of_le {n m k : Nat} (h : n ≤ m) : n ≤ m + k := by
  exact Nat.le_trans h (Nat.le_add_right m k)

theorem Nat.le_of_succ_le {n m : Nat} (h : Nat.succ n ≤ m) : n ≤ m := by
  exact Nat.le_trans (Nat.le_succ n) h

protected theorem Nat.le.dest {n m : Nat} (h : n ≤ m) : ∃ k, n + k = m := by
  induction h with
  | refl => exact ⟨0, rfl⟩
  | step h ih =>
    cases ih with
    | intro k hk =>
      exists k + 1
      rw [← Nat.add_assoc]
      rw [hk]

protected theorem Nat.le.intro {n m k : Nat} (h : n + k = m) : n ≤ m := by
  rw [← h]
  exact Nat.le_add_right n k

protected theorem Nat.exists_eq_add_of_le {m n : Nat} (h : m ≤ n) : ∃ k, n = m + k := by
  cases Nat.le.dest h with
  | intro k hk =>
    exists k
    exact hk.symm

protected theorem Nat.exists_eq_add_of_le' {m n : Nat} (h : m ≤ n) : ∃ k, n = k + m := by
  cases Nat.le.dest h with
  | intro k hk =>
    exists k
    rw [Nat.add_comm]
    exact hk.symm

protected theorem Nat.le_total (m n : Nat) : m ≤ n ∨ n ≤ m := by
  induction m with
  | zero =>
    left
    exact Nat.zero_le n
  | succ m ih =>
    cases ih with
    | inl h =>
      cases h with
      | refl =>
        right
        exact Nat.le_succ m
      | step h =>
        left
        exact Nat.succ_le_succ h
    | inr h =>
      right
      exact Nat.le.step h

/-! Strict order -/

theorem Nat.lt_of_succ_le {n m : Nat} (h : Nat.succ n ≤ m) : n < m := by
  exact h

theorem Nat.succ_le_of_lt {n m : Nat} (h : n < m) : Nat.succ n ≤ m := by
  exact h

protected theorem Nat.succ_le_iff {m n : Nat} : Nat.succ m ≤ n ↔ m < n := by
  exact Iff.rfl

protected theorem Nat.lt_iff_add_one_le {m n : Nat} : m < n ↔ m + 1 ≤ n := by
  exact Iff.rfl

theorem Nat.lt_succ_self (n : Nat) : n < Nat.succ n := by
  exact Nat.le.refl

@[simp] protected theorem Nat.lt_add_one (n : Nat) : n < n + 1 := by
  exact Nat.le.refl

@[simp] theorem Nat.not_lt_zero (n : Nat) : ¬n < 0 := by
  exact Nat.not_succ_le_zero n

@[simp] protected theorem Nat.lt_irrefl (n : Nat) : ¬n < n := by
  exact Nat.not_succ_le_self n

protected theorem Nat.le_of_lt {n m : Nat} (h : n < m) : n ≤ m := by
  exact Nat.le_of_succ_le h

protected theorem Nat.lt_of_lt_of_le {n m k : Nat} : n < m → m ≤ k → n < k := by
  exact Nat.le_trans

protected theorem Nat.lt_of_le_of_lt {n m k : Nat} (h₁ : n ≤ m) (h₂ : m < k) : n < k := by
  apply Nat.lt_of_succ_le
  exact Nat.le_trans (Nat.succ_le_succ h₁) h₂

protected theorem Nat.lt_trans {n m k : Nat} (h₁ : n < m) : m < k → n < k := by
  intro h₂
  apply Nat.lt_of_lt_of_le h₁
  exact Nat.le_of_lt h₂

protected theorem Nat.lt_of_lt_of_eq {n m k : Nat} (h₁ : n < m) (h₂ : m = k) : n < k := by
  rw [← h₂]
  exact h₁

protected theorem Nat.lt_of_eq_of_lt {n m k : Nat} (h₁ : n = m) (h₂ : m < k) : n < k := by
  rw [h₁]
  exact h₂

protected theorem Nat.ne_of_lt {a b : Nat} (h : a < b) : a ≠ b := by
  intro hab
  rw [hab] at h
  exact Nat.lt_irrefl b h

protected theorem Nat.ne_of_gt {a b : Nat} (h : b < a) : a ≠ b := by
  apply Ne.symm
  exact Nat.ne_of_lt h

protected theorem Nat.lt_asymm {a b : Nat} (h : a < b) : ¬b < a := by
  intro hba
  exact Nat.lt_irrefl a (Nat.lt_trans h hba)

protected theorem Nat.not_le_of_lt {a b : Nat} (h : a < b) : ¬b ≤ a := by
  intro hba
  exact Nat.lt_irrefl a (Nat.lt_of_lt_of_le h hba)

protected theorem Nat.not_le_of_gt {n m : Nat} (h : n > m) : ¬n ≤ m := by
  intro hnm
  exact Nat.lt_irrefl m (Nat.lt_of_lt_of_le h hnm)

protected theorem Nat.not_lt_of_le {n m : Nat} (h : n ≤ m) : ¬m < n := by
  intro hmn
  exact Nat.lt_irrefl m (Nat.lt_of_lt_of_le hmn h)

protected theorem Nat.not_lt_of_ge {b a : Nat} (h : b ≥ a) : ¬b < a := by
  exact Nat.not_lt_of_le h

@[simp] theorem Nat.zero_lt_succ (n : Nat) : 0 < Nat.succ n := by
  exact Nat.succ_le_succ (Nat.zero_le n)

theorem Nat.succ_pos (n : Nat) : 0 < Nat.succ n := by
  exact Nat.zero_lt_succ n

protected theorem Nat.zero_lt_one : 0 < 1 := by
  exact Nat.zero_lt_succ 0

theorem Nat.succ_lt_succ {n m : Nat} (h : n < m) : Nat.succ n < Nat.succ m := by
  exact Nat.succ_le_succ h

theorem Nat.lt_of_succ_lt_succ {n m : Nat} (h : Nat.succ n < Nat.succ m) : n < m := by
  exact Nat.le_of_succ_le_succ h

theorem Nat.lt_succ_of_le {n m : Nat} (h : n ≤ m) : n < Nat.succ m := by
  exact Nat.succ_le_succ h

theorem Nat.le_of_lt_succ {m n : Nat} (h : m < Nat.succ n) : m ≤ n := by
  exact Nat.le_of_succ_le_succ h

protected theorem Nat.lt_succ_iff {m n : Nat} : m < Nat.succ n ↔ m ≤ n := by
  constructor
  · intro h
    exact Nat.le_of_lt_succ h
  · intro h
    exact Nat.lt_succ_of_le h

theorem Nat.lt_add_one_of_le {n m : Nat} (h : n ≤ m) : n < m + 1 := by
  exact Nat.succ_le_succ h

theorem Nat.le_of_lt_add_one {n m : Nat} (h : n < m + 1) : n ≤ m := by
  exact Nat.le_of_succ_le_succ h

protected theorem Nat.lt_add_one_iff {m n : Nat} : m < n + 1 ↔ m ≤ n := by
  exact Nat.lt_succ_iff

protected theorem Nat.lt_or_ge (a b : Nat) : a < b ∨ a ≥ b := by
  cases Nat.le_total b a with
  | inl h =>
    right
    exact h
  | inr h =>
    cases h with
    | refl =>
      right
      exact Nat.le_refl a
    | step h =>
      left
      exact Nat.succ_le_succ h

protected theorem Nat.eq_or_lt_of_le {n m : Nat} (h : n ≤ m) : n = m ∨ n < m := by
  cases h with
  | refl =>
    left
    rfl
  | step h =>
    right
    exact Nat.succ_le_succ h

protected theorem Nat.lt_or_eq_of_le {n m : Nat} (h : n ≤ m) : n < m ∨ n = m := by
  exact (Nat.eq_or_lt_of_le h).symm

protected theorem Nat.le_antisymm {n m : Nat} (h₁ : n ≤ m) (h₂ : m ≤ n) : n = m := by
  cases Nat.eq_or_lt_of_le h₁ with
  | inl h => exact h
  | inr h =>
    exfalso
    exact Nat.not_lt_of_le h₂ h

protected theorem Nat.lt_of_le_of_ne {n m : Nat} (h₁ : n ≤ m) (h₂ : ¬n = m) : n < m := by
  cases Nat.eq_or_lt_of_le h₁ with
  | inl h => contradiction
  | inr h => exact h

protected theorem Nat.lt_trichotomy (a b : Nat) : a < b ∨ a = b ∨ b < a := by
  cases Nat.lt_or_ge a b with
  | inl h =>
    left
    exact h
  | inr h =>
    right
    cases Nat.eq_or_lt_of_le h with
    | inl h1 =>
      left
      exact h1.symm
    | inr h2 =>
      right
      exact h2

protected theorem Nat.lt_of_not_le {a b : Nat} (h : ¬a ≤ b) : b < a := by
  cases Nat.lt_or_ge b a with
  | inl h1 => exact h1
  | inr h2 => contradiction

protected theorem Nat.le_of_not_lt {a b : Nat} (h : ¬a < b) : b ≤ a := by
  cases Nat.lt_or_ge a b with
  | inl h1 => contradiction
  | inr h2 => exact h2

@[simp] protected theorem Nat.not_le {n m : Nat} : ¬n ≤ m ↔ m < n := by
  constructor
  · intro h
    exact Nat.lt_of_not_le h
  · intro h
    exact Nat.not_le_of_lt h

@[simp] protected theorem Nat.not_lt {n m : Nat} : ¬n < m ↔ m ≤ n := by
  constructor
  · intro h
    exact Nat.le_of_not_lt h
  · intro h
    exact Nat.not_lt_of_le h

protected theorem Nat.eq_zero_or_pos (n : Nat) : n = 0 ∨ 0 < n := by
  cases n with
  | zero =>
    left
    rfl
  | succ n =>
    right
    exact Nat.zero_lt_succ n

protected theorem Nat.pos_of_ne_zero {n : Nat} (h : n ≠ 0) : 0 < n := by
  cases Nat.eq_zero_or_pos n with
  | inl h0 => contradiction
  | inr hp => exact hp

protected theorem Nat.ne_zero_of_lt {b a : Nat} (h : b < a) : a ≠ 0 := by
  intro h0
  rw [h0] at h
  exact Nat.not_lt_zero b h

protected theorem Nat.add_pos_left {m : Nat} (h : 0 < m) (n : Nat) : 0 < m + n := by
  exact Nat.lt_of_lt_of_le h (Nat.le_add_right m n)

protected theorem Nat.add_pos_right {n : Nat} (m : Nat) (h : 0 < n) : 0 < m + n := by
  exact Nat.lt_of_lt_of_le h (Nat.le_add_left n m)

protected theorem Nat.exists_eq_add_of_lt {m n : Nat} (h : m < n) : ∃ k, n = m + k + 1 := by
  cases Nat.le.dest h with
  | intro k hk =>
    exists k
    rw [Nat.add_right_comm]
    exact hk.symm

/-! Order and addition -/

protected theorem Nat.add_le_add_left {n m : Nat} (h : n ≤ m) (k : Nat) : k + n ≤ k + m := by
  induction h with
  | refl => exact Nat.le_refl (k + n)
  | step h ih => exact Nat.le.step ih

protected theorem Nat.add_le_add_right {n m : Nat} (h : n ≤ m) (k : Nat) : n + k ≤ m + k := by
  rw [Nat.add_comm n k]
  rw [Nat.add_comm m k]
  exact Nat.add_le_add_left h k

protected theorem Nat.add_le_add {a b c d : Nat} (h₁ : a ≤ b) (h₂ : c ≤ d) : a + c ≤ b + d := by
  apply Nat.le_trans (Nat.add_le_add_right h₁ c)
  exact Nat.add_le_add_left h₂ b

protected theorem Nat.add_lt_add_left {n m : Nat} (h : n < m) (k : Nat) : k + n < k + m := by
  exact Nat.add_le_add_left h k

protected theorem Nat.add_lt_add_right {n m : Nat} (h : n < m) (k : Nat) : n + k < m + k := by
  rw [Nat.add_comm n k]
  rw [Nat.add_comm m k]
  exact Nat.add_lt_add_left h k

protected theorem Nat.add_lt_add {a b c d : Nat} (h : a < b) (h' : c < d) : a + c < b + d := by
  apply Nat.lt_trans (Nat.add_lt_add_right h c)
  exact Nat.add_lt_add_left h' b

protected theorem Nat.add_lt_add_of_le_of_lt {a b c d : Nat} (hle : a ≤ b) (hlt : c < d) : a + c < b + d := by
  apply Nat.lt_of_le_of_lt (Nat.add_le_add_right hle c)
  exact Nat.add_lt_add_left hlt b

protected theorem Nat.add_lt_add_of_lt_of_le {a b c d : Nat} (hlt : a < b) (hle : c ≤ d) : a + c < b + d := by
  apply Nat.lt_of_lt_of_le (Nat.add_lt_add_right hlt c)
  exact Nat.add_le_add_left hle b

protected theorem Nat.le_of_add_le_add_left {a b c : Nat} (h : a + b ≤ a + c) : b ≤ c := by
  cases Nat.le.dest h with
  | intro k hk =>
    rw [Nat.add_assoc] at hk
    exact Nat.le.intro (Nat.add_left_cancel hk)

protected theorem Nat.le_of_add_le_add_right {a b c : Nat} (h : a + b ≤ c + b) : a ≤ c := by
  rw [Nat.add_comm a b] at h
  rw [Nat.add_comm c b] at h
  exact Nat.le_of_add_le_add_left h

protected theorem Nat.lt_of_add_lt_add_left {n k m : Nat} (h : n + k < n + m) : k < m := by
  exact Nat.le_of_add_le_add_left h

protected theorem Nat.lt_of_add_lt_add_right {n k m : Nat} (h : k + n < m + n) : k < m := by
  rw [Nat.add_comm k n] at h
  rw [Nat.add_comm m n] at h
  exact Nat.lt_of_add_lt_add_left h

@[simp] protected theorem Nat.add_le_add_iff_left {m k n : Nat} : n + m ≤ n + k ↔ m ≤ k := by
  constructor
  · intro h
    exact Nat.le_of_add_le_add_left h
  · intro h
    exact Nat.add_le_add_left h n

@[simp] protected theorem Nat.add_le_add_iff_right {m k n : Nat} : m + n ≤ k + n ↔ m ≤ k := by
  constructor
  · intro h
    exact Nat.le_of_add_le_add_right h
  · intro h
    exact Nat.add_le_add_right h n

@[simp] protected theorem Nat.add_lt_add_iff_left {k n m : Nat} : k + n < k + m ↔ n < m := by
  constructor
  · intro h
    exact Nat.lt_of_add_lt_add_left h
  · intro h
    exact Nat.add_lt_add_left h k

@[simp] protected theorem Nat.add_lt_add_iff_right {k n m : Nat} : n + k < m + k ↔ n < m := by
  constructor
  · intro h
    exact Nat.lt_of_add_lt_add_right h
  · intro h
    exact Nat.add_lt_add_right h k

protected theorem Nat.le_of_add_right_le {n m k : Nat} (h : n + k ≤ m) : n ≤ m := by
  exact Nat.le_trans (Nat.le_add_right n k) h

protected theorem Nat.lt_add_of_pos_right {k n : Nat} (h : 0 < k) : n < n + k := by
  exact Nat.add_lt_add_left h n

protected theorem Nat.lt_add_of_pos_left {k n : Nat} (h : 0 < k) : n < k + n := by
  rw [Nat.add_comm]
  exact Nat.lt_add_of_pos_right h

protected theorem Nat.lt_add_right {a b : Nat} (c : Nat) (h : a < b) : a < b + c := by
  exact Nat.lt_of_lt_of_le h (Nat.le_add_right b c)

protected theorem Nat.lt_add_left {a b : Nat} (c : Nat) (h : a < b) : a < c + b := by
  exact Nat.lt_of_lt_of_le h (Nat.le_add_left b c)

/-! Order and multiplication -/

protected theorem Nat.mul_le_mul_left {m n : Nat} (k : Nat) (h : m ≤ n) : k * m ≤ k * n := by
  cases Nat.le.dest h with
  | intro c hc =>
    rw [← hc]
    rw [Nat.mul_add]
    exact Nat.le_add_right (k * m) (k * c)

protected theorem Nat.mul_le_mul_right {m n : Nat} (k : Nat) (h : m ≤ n) : m * k ≤ n * k := by
  rw [Nat.mul_comm m k]
  rw [Nat.mul_comm n k]
  exact Nat.mul_le_mul_left k h

protected theorem Nat.mul_le_mul {p q m n : Nat} (h₁ : p ≤ m) (h₂ : q ≤ n) : p * q ≤ m * n := by
  apply Nat.le_trans (Nat.mul_le_mul_right q h₁)
  exact Nat.mul_le_mul_left m h₂

protected theorem Nat.mul_pos {n m : Nat} (ha : 0 < n) (hb : 0 < m) : 0 < n * m := by
  have h : 1 * 1 ≤ n * m := by
    exact Nat.mul_le_mul ha hb
  exact h

protected theorem Nat.le_mul_of_pos_right {n : Nat} (m : Nat) (h : 0 < n) : m ≤ m * n := by
  have h2 : m * 1 ≤ m * n := by
    exact Nat.mul_le_mul_left m h
  rw [Nat.mul_one] at h2
  exact h2

protected theorem Nat.mul_lt_mul_of_pos_left {m n k : Nat} (h : m < n) (hk : 0 < k) : k * m < k * n := by
  cases Nat.exists_eq_add_of_lt h with
  | intro c hc =>
    rw [hc]
    rw [Nat.add_assoc]
    rw [Nat.mul_add]
    apply Nat.lt_add_of_pos_right
    apply Nat.mul_pos hk
    exact Nat.zero_lt_succ c

protected theorem Nat.eq_of_mul_eq_mul_left {a b c : Nat} (ha : 0 < a) (h : a * b = a * c) : b = c := by
  cases Nat.lt_trichotomy b c with
  | inl h1 =>
    exfalso
    exact Nat.ne_of_lt (Nat.mul_lt_mul_of_pos_left h1 ha) h
  | inr h2 =>
    cases h2 with
    | inl h3 => exact h3
    | inr h4 =>
      exfalso
      exact Nat.ne_of_gt (Nat.mul_lt_mul_of_pos_left h4 ha) h

protected theorem Nat.eq_of_mul_eq_mul_right {a m b : Nat} (hm : 0 < m) (h : a * m = b * m) : a = b := by
  rw [Nat.mul_comm a m] at h
  rw [Nat.mul_comm b m] at h
  exact Nat.eq_of_mul_eq_mul_left hm h

theorem Nat.pow_le_pow_left {m n : Nat} (h : m ≤ n) (i : Nat) : m ^ i ≤ n ^ i := by
  induction i with
  | zero => exact Nat.le_refl 1
  | succ i ih =>
    rw [Nat.pow_succ]
    rw [Nat.pow_succ]
    exact Nat.mul_le_mul ih h
