/-
Natural numbers: powers, their order and their divisors.
-/

protected theorem Nat.pow_add_one' {m n : Nat} : m ^ (n + 1) = m * m ^ n := by
  exact Nat.pow_succ'

protected theorem Nat.pow_mul' (a m n : Nat) : a ^ (m * n) = (a ^ n) ^ m := by
  rw [Nat.mul_comm, Nat.pow_mul]

protected theorem Nat.pow_pos {p : Nat} (hp : 0 < p) {n : Nat} : 0 < p ^ n := by
  induction n with
  | zero => exact Nat.zero_lt_one
  | succ n ih =>
    rw [Nat.pow_succ]
    exact Nat.mul_pos ih hp

protected theorem Nat.zero_pow {n : Nat} (H : 0 < n) : 0 ^ n = 0 := by
  cases n with
  | zero =>
    exfalso
    exact Nat.lt_irrefl 0 H
  | succ n => rw [Nat.pow_succ, Nat.mul_zero]

protected theorem Nat.pow_eq_zero {a n : Nat} : a ^ n = 0 ↔ a = 0 ∧ n ≠ 0 := by
  constructor
  · intro h
    induction n with
    | zero =>
      exfalso
      exact Nat.one_ne_zero h
    | succ n ih =>
      constructor
      · rw [Nat.pow_succ, Nat.mul_eq_zero] at h
        cases h with
        | inl hp => exact (ih hp).1
        | inr ha => exact ha
      · exact Nat.add_one_ne_zero n
  · intro h
    rw [h.1]
    apply Nat.zero_pow
    exact Nat.pos_of_ne_zero h.2

protected theorem Nat.two_pow_pos (w : Nat) : 0 < 2 ^ w := by
  apply Nat.pos_of_ne_zero
  intro h
  exact Nat.add_one_ne_zero 1 (Nat.pow_eq_zero.mp h).1

theorem Nat.pow_le_pow_right {n m k : Nat} (h : n > 0) : m ≤ k → n ^ m ≤ n ^ k := by
  intro hmk
  induction hmk with
  | refl => exact Nat.le_refl (n ^ m)
  | step hmk ih =>
    rw [Nat.pow_succ]
    apply Nat.le_trans ih
    exact Nat.le_mul_of_pos_right (n ^ _) h

protected theorem Nat.pow_lt_pow_succ {a n : Nat} (h : 1 < a) : a ^ n < a ^ (n + 1) := by
  rw [Nat.pow_succ]
  have hpos : 0 < a ^ n := by
    apply Nat.pos_of_ne_zero
    intro h0
    rw [(Nat.pow_eq_zero.mp h0).1] at h
    exact Nat.not_lt_zero 1 h
  have hlt : a ^ n * 1 < a ^ n * a := by exact Nat.mul_lt_mul_of_pos_left h hpos
  rw [Nat.mul_one] at hlt
  exact hlt

protected theorem Nat.pow_lt_pow_right {a m n : Nat} (ha : 1 < a) (h : m < n) : a ^ m < a ^ n := by
  apply Nat.lt_of_lt_of_le (Nat.pow_lt_pow_succ ha)
  apply Nat.pow_le_pow_right
  · exact Nat.lt_trans Nat.zero_lt_one ha
  · exact h

protected theorem Nat.pow_lt_pow_left {a b n : Nat} (h : a < b) (hn : n ≠ 0) : a ^ n < b ^ n := by
  cases n with
  | zero => contradiction
  | succ n =>
    rw [Nat.pow_succ, Nat.pow_succ]
    apply Nat.lt_of_le_of_lt (Nat.mul_le_mul_right a (Nat.pow_le_pow_left (Nat.le_of_lt h) n))
    apply Nat.mul_lt_mul_of_pos_left h
    apply Nat.pos_of_ne_zero
    intro h0
    rw [(Nat.pow_eq_zero.mp h0).1] at h
    exact Nat.not_lt_zero a h

theorem Nat.lt_pow_self {n a : Nat} (ha : 1 < a) : n < a ^ n := by
  induction n with
  | zero => exact Nat.zero_lt_one
  | succ n ih =>
    apply Nat.lt_of_le_of_lt (Nat.succ_le_of_lt ih)
    exact Nat.pow_lt_pow_succ ha

protected theorem Nat.pow_dvd_pow {m n : Nat} (a : Nat) (h : m ≤ n) : a ^ m ∣ a ^ n := by
  cases Nat.le.dest h with
  | intro k hk =>
    rw [← hk, Nat.pow_add]
    exact Nat.dvd_mul_right (a ^ m) (a ^ k)
