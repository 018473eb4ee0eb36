/-
Natural numbers: zero and successor, and addition. Every proof is by plain steps.
-/

/-! Zero and successor -/

theorem Nat.succ.inj {m n : Nat} (h : Nat.succ m = Nat.succ n) : m = n := congrArg Nat.pred h

theorem Nat.succ_ne_zero (n : Nat) : Nat.succ n ≠ 0 :=
  fun h => Eq.mp (congrArg (fun k => @Nat.rec (fun _ => Prop) False (fun _ _ => True) k) h) True.intro

@[simp] theorem Nat.zero_eq : Nat.zero = 0 := rfl

theorem Nat.succ_eq_add_one (n : Nat) : Nat.succ n = n + 1 := by
  rfl

theorem Nat.add_one (n : Nat) : n + 1 = Nat.succ n := by
  rfl

@[simp] theorem Nat.add_one_ne_zero (n : Nat) : n + 1 ≠ 0 := by
  exact Nat.succ_ne_zero n

protected theorem Nat.zero_ne_add_one (n : Nat) : 0 ≠ n + 1 := by
  exact (Nat.add_one_ne_zero n).symm

protected theorem Nat.zero_ne_one : 0 ≠ 1 := by
  exact Nat.zero_ne_add_one 0

protected theorem Nat.one_ne_zero : 1 ≠ 0 := by
  exact Nat.add_one_ne_zero 0

protected theorem Nat.succ_inj {a b : Nat} : Nat.succ a = Nat.succ b ↔ a = b := by
  constructor
  · intro h
    exact Nat.succ.inj h
  · intro h
    rw [h]

@[simp] theorem Nat.pred_zero : Nat.pred 0 = 0 := by
  rfl

@[simp] theorem Nat.pred_succ (n : Nat) : Nat.pred (Nat.succ n) = n := by
  rfl

/-! Addition -/

@[simp] protected theorem Nat.add_zero (n : Nat) : n + 0 = n := by
  rfl

theorem Nat.add_succ (n m : Nat) : n + Nat.succ m = Nat.succ (n + m) := by
  rfl

protected theorem Nat.add_assoc (n m k : Nat) : (n + m) + k = n + (m + k) := by
  induction k with
  | zero => rfl
  | succ k ih => exact congrArg Nat.succ ih

@[simp] protected theorem Nat.zero_add (n : Nat) : 0 + n = n := by
  induction n with
  | zero => rfl
  | succ n ih =>
    rw [← Nat.add_assoc]
    rw [ih]

theorem Nat.succ_add (n m : Nat) : Nat.succ n + m = Nat.succ (n + m) := by
  induction m with
  | zero => rfl
  | succ m ih => exact congrArg Nat.succ ih

theorem Nat.succ_add_eq_add_succ (a b : Nat) : Nat.succ a + b = a + Nat.succ b := by
  rw [Nat.succ_add]
  rw [Nat.add_succ]

protected theorem Nat.add_comm (n m : Nat) : n + m = m + n := by
  induction m with
  | zero =>
    rw [Nat.add_zero]
    rw [Nat.zero_add]
  | succ m ih =>
    rw [← Nat.add_assoc]
    rw [ih]
    exact (Nat.succ_add m n).symm

protected theorem Nat.add_left_comm (n m k : Nat) : n + (m + k) = m + (n + k) := by
  rw [← Nat.add_assoc]
  rw [← Nat.add_assoc]
  rw [Nat.add_comm n m]

protected theorem Nat.add_right_comm (n m k : Nat) : (n + m) + k = (n + k) + m := by
  rw [Nat.add_assoc]
  rw [Nat.add_comm m k]
  rw [← Nat.add_assoc]

protected theorem Nat.add_add_add_comm (a b c d : Nat) : (a + b) + (c + d) = (a + c) + (b + d) := by
  rw [Nat.add_assoc]
  rw [Nat.add_left_comm b c d]
  rw [← Nat.add_assoc]

protected theorem Nat.one_add (n : Nat) : 1 + n = Nat.succ n := by
  rw [Nat.add_comm]

protected theorem Nat.add_left_cancel {n m k : Nat} (h : n + m = n + k) : m = k := by
  induction n with
  | zero =>
    rw [Nat.zero_add] at h
    rw [Nat.zero_add] at h
    exact h
  | succ n ih =>
    apply ih
    rw [Nat.add_right_comm n 1 m] at h
    rw [Nat.add_right_comm n 1 k] at h
    exact Nat.succ.inj h

protected theorem Nat.add_right_cancel {n m k : Nat} (h : n + m = k + m) : n = k := by
  rw [Nat.add_comm n m] at h
  rw [Nat.add_comm k m] at h
  exact Nat.add_left_cancel h

@[simp] protected theorem Nat.add_left_cancel_iff {m k n : Nat} : n + m = n + k ↔ m = k := by
  constructor
  · intro h
    exact Nat.add_left_cancel h
  · intro h
    rw [h]

@[simp] protected theorem Nat.add_right_cancel_iff {m k n : Nat} : m + n = k + n ↔ m = k := by
  constructor
  · intro h
    exact Nat.add_right_cancel h
  · intro h
    rw [h]

protected theorem Nat.eq_zero_of_add_eq_zero_left {n m : Nat} (h : n + m = 0) : m = 0 := by
  cases m with
  | zero => rfl
  | succ m =>
    exfalso
    rw [← Nat.add_assoc] at h
    exact Nat.add_one_ne_zero (n + m) h

protected theorem Nat.eq_zero_of_add_eq_zero_right {n m : Nat} (h : n + m = 0) : n = 0 := by
  rw [Nat.add_comm] at h
  exact Nat.eq_zero_of_add_eq_zero_left h

protected theorem Nat.eq_zero_of_add_eq_zero {n m : Nat} (h : n + m = 0) : n = 0 ∧ m = 0 := by
  constructor
  · exact Nat.eq_zero_of_add_eq_zero_right h
  · exact Nat.eq_zero_of_add_eq_zero_left h

@[simp] protected theorem Nat.add_eq_zero_iff {n m : Nat} : n + m = 0 ↔ n = 0 ∧ m = 0 := by
  constructor
  · intro h
    exact Nat.eq_zero_of_add_eq_zero h
  · intro h
    rw [h.left]
    rw [h.right]

@[simp] protected theorem Nat.add_eq_left {a b : Nat} : a + b = a ↔ b = 0 := by
  constructor
  · intro h
    apply @Nat.add_left_cancel a
    rw [Nat.add_zero]
    exact h
  · intro h
    rw [h]
    rw [Nat.add_zero]

@[simp] protected theorem Nat.add_eq_right {a b : Nat} : a + b = b ↔ a = 0 := by
  rw [Nat.add_comm]
  exact Nat.add_eq_left

theorem Nat.exists_eq_add_one_of_ne_zero {n : Nat} (h : n ≠ 0) : ∃ k, n = k + 1 := by
  cases n with
  | zero => contradiction
  | succ k => exists k
