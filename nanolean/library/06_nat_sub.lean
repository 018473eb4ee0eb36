/-
Natural numbers: truncated subtraction.
-/

@[simp] protected theorem Nat.sub_zero (n : Nat) : n - 0 = n := by
  rfl

theorem Nat.sub_succ (n m : Nat) : n - Nat.succ m = Nat.pred (n - m) := by
  rfl

@[simp] protected theorem Nat.zero_sub (n : Nat) : 0 - n = 0 := by
  induction n with
  | zero => rfl
  | succ n ih => exact congrArg Nat.pred ih

protected theorem Nat.succ_sub_succ (n m : Nat) : Nat.succ n - Nat.succ m = n - m := by
  induction m with
  | zero => rfl
  | succ m ih => exact congrArg Nat.pred ih

@[simp] protected theorem Nat.add_sub_add_right (n k m : Nat) : (n + k) - (m + k) = n - m := by
  induction k with
  | zero => rfl
  | succ k ih =>
    rw [← Nat.add_assoc]
    rw [← Nat.add_assoc]
    rw [← ih]
    exact Nat.succ_sub_succ (n + k) (m + k)

@[simp] protected theorem Nat.add_sub_add_left (k n m : Nat) : (k + n) - (k + m) = n - m := by
  rw [Nat.add_comm k n]
  rw [Nat.add_comm k m]
  rw [Nat.add_sub_add_right]

@[simp] protected theorem Nat.sub_self (n : Nat) : n - n = 0 := by
  induction n with
  | zero => rfl
  | succ n ih =>
    rw [Nat.add_sub_add_right]
    exact ih

@[simp] protected theorem Nat.add_sub_cancel (n m : Nat) : n + m - m = n := by
  induction m with
  | zero => rfl
  | succ m ih =>
    rw [← Nat.add_assoc]
    rw [Nat.add_sub_add_right]
    exact ih

@[simp] protected theorem Nat.add_sub_cancel_left (n m : Nat) : n + m - n = m := by
  rw [Nat.add_comm]
  rw [Nat.add_sub_cancel]

@[simp] protected theorem Nat.add_one_sub_one (n : Nat) : n + 1 - 1 = n := by
  rfl

@[simp] protected theorem Nat.sub_le (n m : Nat) : n - m ≤ n := by
  induction m with
  | zero => exact Nat.le_refl n
  | succ m ih =>
    rw [Nat.sub_succ]
    apply Nat.le_trans (Nat.pred_le (n - m))
    exact ih

protected theorem Nat.sub_eq_zero_of_le {n m : Nat} (h : n ≤ m) : n - m = 0 := by
  induction h with
  | refl => exact Nat.sub_self n
  | step h ih =>
    rw [Nat.sub_succ]
    rw [ih]
    rfl

protected theorem Nat.add_sub_of_le {a b : Nat} (h : a ≤ b) : a + (b - a) = b := by
  cases Nat.le.dest h with
  | intro c hc =>
    rw [← hc]
    rw [Nat.add_sub_cancel_left]

@[simp] protected theorem Nat.sub_add_cancel {n m : Nat} (h : m ≤ n) : n - m + m = n := by
  rw [Nat.add_comm]
  exact Nat.add_sub_of_le h

protected theorem Nat.add_sub_assoc {m k : Nat} (h : k ≤ m) (n : Nat) : n + m - k = n + (m - k) := by
  cases Nat.le.dest h with
  | intro c hc =>
    rw [← hc]
    rw [Nat.add_sub_cancel_left]
    rw [Nat.add_left_comm]
    rw [Nat.add_sub_cancel_left]

protected theorem Nat.sub_add_eq (a b c : Nat) : a - (b + c) = a - b - c := by
  induction c with
  | zero => rfl
  | succ c ih => exact congrArg Nat.pred ih

protected theorem Nat.sub_sub (n m k : Nat) : n - m - k = n - (m + k) := by
  rw [Nat.sub_add_eq]

protected theorem Nat.sub_eq_of_eq_add {a b c : Nat} (h : a = c + b) : a - b = c := by
  rw [h]
  rw [Nat.add_sub_cancel]

protected theorem Nat.le_of_sub_eq_zero {n m : Nat} (h : n - m = 0) : n ≤ m := by
  cases Nat.le_total n m with
  | inl h1 => exact h1
  | inr h2 =>
    have h3 : m + (n - m) = n := by
      exact Nat.add_sub_of_le h2
    rw [h] at h3
    exact Nat.le_of_eq h3.symm

protected theorem Nat.sub_le_sub_right {n m : Nat} (h : n ≤ m) (k : Nat) : n - k ≤ m - k := by
  induction k with
  | zero => exact h
  | succ k ih => exact Nat.pred_le_pred ih
