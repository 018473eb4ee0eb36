/-
Natural numbers: subtraction, and how it moves from one side of an inequality to the other.
-/

/-! Predecessors -/

protected theorem Nat.sub_one (n : Nat) : n - 1 = Nat.pred n := by
  rfl

protected theorem Nat.succ_sub_one (n : Nat) : Nat.succ n - 1 = n := by
  rfl

protected theorem Nat.succ_pred {a : Nat} (h : a ≠ 0) : Nat.succ (Nat.pred a) = a := by
  cases a with
  | zero => contradiction
  | succ a => rfl

protected theorem Nat.succ_pred_eq_of_pos {n : Nat} (h : 0 < n) : Nat.succ (Nat.pred n) = n := by
  apply Nat.succ_pred
  exact Nat.ne_zero_of_lt h

protected theorem Nat.sub_one_add_one {a : Nat} (h : a ≠ 0) : a - 1 + 1 = a := by
  exact Nat.succ_pred h

theorem Nat.pred_lt {n : Nat} (h : n ≠ 0) : Nat.pred n < n := by
  cases n with
  | zero => contradiction
  | succ n => exact Nat.lt_succ_self n

protected theorem Nat.sub_one_lt {n : Nat} (h : n ≠ 0) : n - 1 < n := by
  exact Nat.pred_lt h

protected theorem Nat.sub_lt {n m : Nat} (h₁ : 0 < n) (h₂ : 0 < m) : n - m < n := by
  cases n with
  | zero =>
    exfalso
    exact Nat.lt_irrefl 0 h₁
  | succ n =>
    cases m with
    | zero =>
      exfalso
      exact Nat.lt_irrefl 0 h₂
    | succ m =>
      rw [Nat.add_sub_add_right]
      apply Nat.lt_succ_of_le
      exact Nat.sub_le n m

protected theorem Nat.succ_sub {m n : Nat} (h : n ≤ m) : Nat.succ m - n = Nat.succ (m - n) := by
  cases Nat.le.dest h with
  | intro k hk =>
    rw [← hk, Nat.add_sub_cancel_left, Nat.succ_eq_add_one, Nat.add_assoc, Nat.add_sub_cancel_left]

/-! Sums and differences -/

protected theorem Nat.add_sub_cancel' {n m : Nat} (h : m ≤ n) : m + (n - m) = n := by
  exact Nat.add_sub_of_le h

protected theorem Nat.sub_add_comm {n m k : Nat} (h : k ≤ n) : n + m - k = n - k + m := by
  rw [Nat.add_comm, Nat.add_sub_assoc h, Nat.add_comm]

protected theorem Nat.sub_right_comm (m n k : Nat) : m - n - k = m - k - n := by
  rw [Nat.sub_sub, Nat.sub_sub, Nat.add_comm]

protected theorem Nat.sub_sub_self {n m : Nat} (h : m ≤ n) : n - (n - m) = m := by
  apply Nat.sub_eq_of_eq_add
  rw [Nat.add_sub_of_le h]

protected theorem Nat.sub_eq_iff_eq_add {a b c : Nat} (h : b ≤ a) : a - b = c ↔ a = c + b := by
  constructor
  · intro hc
    rw [← hc, Nat.sub_add_cancel h]
  · intro ha
    exact Nat.sub_eq_of_eq_add ha

protected theorem Nat.sub_eq_iff_eq_add' {a b c : Nat} (h : b ≤ a) : a - b = c ↔ a = b + c := by
  rw [Nat.add_comm]
  exact Nat.sub_eq_iff_eq_add h

protected theorem Nat.sub_eq_zero_iff_le {n m : Nat} : n - m = 0 ↔ n ≤ m := by
  constructor
  · intro h
    exact Nat.le_of_sub_eq_zero h
  · intro h
    exact Nat.sub_eq_zero_of_le h

/-! Inequalities -/

protected theorem Nat.sub_le_iff_le_add {a b c : Nat} : a - b ≤ c ↔ a ≤ c + b := by
  constructor
  · intro h
    cases Nat.le_total b a with
    | inl hba =>
      rw [← Nat.sub_add_cancel hba]
      exact Nat.add_le_add_right h b
    | inr hab => exact Nat.le_trans hab (Nat.le_add_left b c)
  · intro h
    have hs : a - b ≤ c + b - b := by exact Nat.sub_le_sub_right h b
    rw [Nat.add_sub_cancel] at hs
    exact hs

protected theorem Nat.sub_le_iff_le_add' {a b c : Nat} : a - b ≤ c ↔ a ≤ b + c := by
  rw [Nat.add_comm]
  exact Nat.sub_le_iff_le_add

protected theorem Nat.le_add_of_sub_le {a b c : Nat} (h : a - b ≤ c) : a ≤ c + b := by
  exact Nat.sub_le_iff_le_add.mp h

protected theorem Nat.le_sub_of_add_le {a b c : Nat} (h : a + b ≤ c) : a ≤ c - b := by
  have hs : a + b - b ≤ c - b := by exact Nat.sub_le_sub_right h b
  rw [Nat.add_sub_cancel] at hs
  exact hs

protected theorem Nat.add_le_of_le_sub {a b c : Nat} (hle : b ≤ c) (h : a ≤ c - b) : a + b ≤ c := by
  rw [← Nat.sub_add_cancel hle]
  exact Nat.add_le_add_right h b

protected theorem Nat.le_sub_iff_add_le {k m n : Nat} (h : k ≤ m) : n ≤ m - k ↔ n + k ≤ m := by
  constructor
  · intro hn
    exact Nat.add_le_of_le_sub h hn
  · intro hn
    exact Nat.le_sub_of_add_le hn

protected theorem Nat.lt_sub_of_add_lt {a b c : Nat} (h : a + b < c) : a < c - b := by
  apply Nat.lt_of_succ_le
  apply Nat.le_sub_of_add_le
  rw [Nat.succ_add]
  exact h

protected theorem Nat.add_lt_of_lt_sub {a b c : Nat} (h : a < c - b) : a + b < c := by
  apply Nat.lt_of_not_le
  intro hle
  apply Nat.not_le_of_lt h
  exact Nat.sub_le_iff_le_add.mpr hle

protected theorem Nat.lt_sub_iff_add_lt {a b c : Nat} : a < c - b ↔ a + b < c := by
  constructor
  · intro h
    exact Nat.add_lt_of_lt_sub h
  · intro h
    exact Nat.lt_sub_of_add_lt h

protected theorem Nat.sub_pos_of_lt {m n : Nat} (h : m < n) : 0 < n - m := by
  apply Nat.lt_sub_of_add_lt
  rw [Nat.zero_add]
  exact h

protected theorem Nat.sub_pos_iff_lt {m n : Nat} : 0 < n - m ↔ m < n := by
  rw [Nat.lt_sub_iff_add_lt, Nat.zero_add]

protected theorem Nat.sub_ne_zero_of_lt {a b : Nat} (h : a < b) : b - a ≠ 0 := by
  have hpos : 0 < b - a := by exact Nat.sub_pos_of_lt h
  exact Nat.ne_zero_of_lt hpos

protected theorem Nat.sub_lt_left_of_lt_add {n k m : Nat} (H : n ≤ k) (h : k < n + m) : k - n < m := by
  apply Nat.lt_of_not_le
  intro hm
  apply Nat.not_le_of_lt h
  rw [Nat.add_comm]
  exact Nat.add_le_of_le_sub H hm

protected theorem Nat.sub_lt_right_of_lt_add {n k m : Nat} (H : n ≤ k) (h : k < m + n) : k - n < m := by
  apply Nat.sub_lt_left_of_lt_add H
  rw [Nat.add_comm]
  exact h

protected theorem Nat.sub_le_sub_left {n m : Nat} (h : n ≤ m) (k : Nat) : k - m ≤ k - n := by
  rw [Nat.sub_le_iff_le_add]
  apply Nat.le_trans (Nat.le_add_of_sub_le (Nat.le_refl (k - n)))
  exact Nat.add_le_add_left h (k - n)

protected theorem Nat.lt_of_sub_pos {m n : Nat} (h : 0 < n - m) : m < n := by
  exact Nat.sub_pos_iff_lt.mp h

/-! Products -/

protected theorem Nat.mul_sub (k m n : Nat) : k * (m - n) = k * m - k * n := by
  cases Nat.le_total n m with
  | inl h =>
    apply Eq.symm
    apply Nat.sub_eq_of_eq_add
    rw [← Nat.mul_add, Nat.sub_add_cancel h]
  | inr h => rw [Nat.sub_eq_zero_of_le h, Nat.mul_zero, Nat.sub_eq_zero_of_le (Nat.mul_le_mul_left k h)]

protected theorem Nat.sub_mul (n m k : Nat) : (n - m) * k = n * k - m * k := by
  rw [Nat.mul_comm, Nat.mul_sub, Nat.mul_comm k n, Nat.mul_comm k m]
