/-
Natural numbers: multiplication and powers.
-/

@[simp] protected theorem Nat.mul_zero (n : Nat) : n * 0 = 0 := by
  rfl

theorem Nat.mul_succ (n m : Nat) : n * Nat.succ m = n * m + n := by
  rfl

protected theorem Nat.mul_add_one (n m : Nat) : n * (m + 1) = n * m + n := by
  rfl

@[simp] protected theorem Nat.zero_mul (n : Nat) : 0 * n = 0 := by
  induction n with
  | zero => rfl
  | succ n ih =>
    rw [Nat.mul_add_one]
    rw [ih]

@[simp] protected theorem Nat.mul_one (n : Nat) : n * 1 = n := by
  exact Nat.zero_add n

@[simp] protected theorem Nat.one_mul (n : Nat) : 1 * n = n := by
  induction n with
  | zero => rfl
  | succ n ih =>
    rw [Nat.mul_add_one]
    rw [ih]

protected theorem Nat.add_one_mul (n m : Nat) : (n + 1) * m = n * m + m := by
  induction m with
  | zero => rfl
  | succ m ih =>
    rw [Nat.mul_add_one]
    rw [Nat.mul_add_one]
    rw [ih]
    rw [Nat.add_assoc]
    rw [Nat.add_assoc]
    rw [Nat.add_left_comm m n 1]

theorem Nat.succ_mul (n m : Nat) : Nat.succ n * m = n * m + m := by
  exact Nat.add_one_mul n m

protected theorem Nat.mul_comm (n m : Nat) : n * m = m * n := by
  induction m with
  | zero =>
    rw [Nat.mul_zero]
    rw [Nat.zero_mul]
  | succ m ih =>
    rw [Nat.mul_add_one]
    rw [Nat.add_one_mul]
    rw [ih]

protected theorem Nat.left_distrib (n m k : Nat) : n * (m + k) = n * m + n * k := by
  induction n with
  | zero =>
    rw [Nat.zero_mul]
    rw [Nat.zero_mul]
    rw [Nat.zero_mul]
  | succ n ih =>
    rw [Nat.add_one_mul]
    rw [Nat.add_one_mul]
    rw [Nat.add_one_mul]
    rw [ih]
    rw [Nat.add_add_add_comm]

protected theorem Nat.mul_add (x y z : Nat) : x * (y + z) = x * y + x * z := by
  exact Nat.left_distrib x y z

protected theorem Nat.right_distrib (n m k : Nat) : (n + m) * k = n * k + m * k := by
  rw [Nat.mul_comm]
  rw [Nat.mul_add]
  rw [Nat.mul_comm k n]
  rw [Nat.mul_comm k m]

protected theorem Nat.add_mul (x y z : Nat) : (x + y) * z = x * z + y * z := by
  exact Nat.right_distrib x y z

protected theorem Nat.mul_assoc (n m k : Nat) : n * m * k = n * (m * k) := by
  induction k with
  | zero => rfl
  | succ k ih =>
    rw [Nat.mul_add_one]
    rw [Nat.mul_add_one]
    rw [Nat.mul_add]
    rw [ih]

protected theorem Nat.mul_left_comm (n m k : Nat) : n * (m * k) = m * (n * k) := by
  rw [← Nat.mul_assoc]
  rw [Nat.mul_comm n m]
  rw [Nat.mul_assoc]

protected theorem Nat.mul_right_comm (n m k : Nat) : n * m * k = n * k * m := by
  rw [Nat.mul_assoc]
  rw [Nat.mul_comm m k]
  rw [← Nat.mul_assoc]

protected theorem Nat.mul_mul_mul_comm (a b c d : Nat) : (a * b) * (c * d) = (a * c) * (b * d) := by
  rw [Nat.mul_assoc]
  rw [Nat.mul_left_comm b c d]
  rw [← Nat.mul_assoc]

protected theorem Nat.two_mul (n : Nat) : 2 * n = n + n := by
  rw [Nat.add_one_mul 1 n]
  rw [Nat.one_mul]

protected theorem Nat.mul_two (n : Nat) : n * 2 = n + n := by
  rw [Nat.mul_comm]
  rw [Nat.two_mul]

@[simp] protected theorem Nat.mul_eq_zero {m n : Nat} : n * m = 0 ↔ n = 0 ∨ m = 0 := by
  constructor
  · intro h
    cases m with
    | zero =>
      right
      rfl
    | succ m =>
      left
      rw [Nat.mul_add_one] at h
      exact Nat.eq_zero_of_add_eq_zero_left h
  · intro h
    cases h with
    | inl h1 =>
      rw [h1]
      rw [Nat.zero_mul]
    | inr h2 =>
      rw [h2]
      rw [Nat.mul_zero]

protected theorem Nat.eq_zero_of_mul_eq_zero {m n : Nat} (h : n * m = 0) : n = 0 ∨ m = 0 := by
  exact Nat.mul_eq_zero.mp h

protected theorem Nat.mul_ne_zero {n m : Nat} (hn : n ≠ 0) (hm : m ≠ 0) : n * m ≠ 0 := by
  intro h
  cases Nat.eq_zero_of_mul_eq_zero h with
  | inl h1 => exact hn h1
  | inr h2 => exact hm h2

/-! Powers -/

@[simp] protected theorem Nat.pow_zero (b : Nat) : b ^ 0 = 1 := by
  rfl

protected theorem Nat.pow_succ {b n : Nat} : b ^ (n + 1) = b ^ n * b := by
  rfl

protected theorem Nat.pow_add_one {b n : Nat} : b ^ (n + 1) = b ^ n * b := by
  rfl

@[simp] protected theorem Nat.pow_one (a : Nat) : a ^ 1 = a := by
  exact Nat.one_mul a

protected theorem Nat.pow_two (a : Nat) : a ^ 2 = a * a := by
  rw [@Nat.pow_succ a 1]
  rw [Nat.pow_one]

@[simp] protected theorem Nat.one_pow (n : Nat) : 1 ^ n = 1 := by
  induction n with
  | zero => rfl
  | succ n ih =>
    rw [Nat.pow_succ]
    rw [ih]

protected theorem Nat.pow_add (a m n : Nat) : a ^ (m + n) = a ^ m * a ^ n := by
  induction n with
  | zero =>
    rw [Nat.add_zero]
    rw [Nat.pow_zero]
    rw [Nat.mul_one]
  | succ n ih =>
    rw [← Nat.add_assoc]
    rw [Nat.pow_succ]
    rw [Nat.pow_succ]
    rw [ih]
    rw [Nat.mul_assoc]

protected theorem Nat.pow_succ' {m n : Nat} : m ^ (n + 1) = m * m ^ n := by
  rw [Nat.pow_succ]
  rw [Nat.mul_comm]

protected theorem Nat.mul_pow (a b n : Nat) : (a * b) ^ n = a ^ n * b ^ n := by
  induction n with
  | zero => rfl
  | succ n ih =>
    rw [Nat.pow_succ]
    rw [Nat.pow_succ]
    rw [Nat.pow_succ]
    rw [ih]
    rw [Nat.mul_mul_mul_comm]

protected theorem Nat.pow_mul (a m n : Nat) : a ^ (m * n) = (a ^ m) ^ n := by
  induction n with
  | zero => rfl
  | succ n ih =>
    rw [Nat.mul_add_one]
    rw [Nat.pow_add]
    rw [Nat.pow_succ]
    rw [ih]

protected theorem Nat.pow_right_comm (a m n : Nat) : (a ^ m) ^ n = (a ^ n) ^ m := by
  rw [← Nat.pow_mul]
  rw [Nat.mul_comm]
  rw [Nat.pow_mul]
