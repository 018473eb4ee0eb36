/-
Natural numbers: quotient and remainder. Both are defined by counting up: the remainder starts again at zero when it
reaches the divisor, and the quotient grows by one there. As in Lean they are not to be unfolded: the facts below are
all there is to know about them.
-/

protected def Nat.mod (x y : Nat) : Nat :=
  @Nat.rec (fun _ => Nat) 0
    (fun _ r => @Bool.rec (fun _ => Nat) (Nat.succ r) 0 (Nat.beq (Nat.succ r) y)) x

protected def Nat.div (x y : Nat) : Nat :=
  @Nat.rec (fun _ => Nat) 0
    (fun k q => @Bool.rec (fun _ => Nat) q (Nat.succ q) (Nat.beq (Nat.succ (Nat.mod k y)) y)) x

/-! What follows from the definitions themselves -/

@[simp] theorem Nat.mod_zero (a : Nat) : a % 0 = a := by
  have key : ∀ k : Nat, k % 0 = k := by
    intro k
    induction k with
    | zero => rfl
    | succ k ih => exact congrArg Nat.succ ih
  exact key a

@[simp] protected theorem Nat.div_zero (b : Nat) : b / 0 = 0 := by
  have key : ∀ k : Nat, k / 0 = 0 := by
    intro k
    induction k with
    | zero => rfl
    | succ k ih => exact ih
  exact key b

@[simp] theorem Nat.zero_mod (b : Nat) : 0 % b = 0 := by
  have key : ∀ k : Nat, 0 % k = 0 := by
    intro k
    rfl
  exact key b

@[simp] protected theorem Nat.zero_div (b : Nat) : 0 / b = 0 := by
  have key : ∀ k : Nat, 0 / k = 0 := by
    intro k
    rfl
  exact key b

theorem Nat.mod_lt (x : Nat) {y : Nat} : y > 0 → x % y < y := by
  intro hy
  have key : ∀ k : Nat, k % y < y := by
    intro k
    induction k with
    | zero => exact hy
    | succ k ih =>
      have step : ∀ b, Nat.beq (Nat.succ (k % y)) y = b → @Bool.rec (fun _ => Nat) (Nat.succ (k % y)) 0 b < y := by
        intro b hb
        cases b with
        | false => exact Nat.lt_of_le_of_ne ih (Nat.ne_of_beq_eq_false hb)
        | true => exact hy
      exact step (Nat.beq (Nat.succ (k % y)) y) rfl
  exact key x

theorem Nat.div_add_mod (m n : Nat) : n * (m / n) + m % n = m := by
  have key : ∀ k : Nat, n * (k / n) + k % n = k := by
    intro k
    induction k with
    | zero => rfl
    | succ k ih =>
      have step : ∀ b, Nat.beq (Nat.succ (k % n)) n = b →
          n * @Bool.rec (fun _ => Nat) (k / n) (Nat.succ (k / n)) b
            + @Bool.rec (fun _ => Nat) (Nat.succ (k % n)) 0 b = k + 1 := by
        intro b hb
        cases b with
        | false => exact congrArg Nat.succ ih
        | true =>
          have hn : n * (k / n) + n = n * (k / n) + Nat.succ (k % n) := by
            exact congrArg (fun r => n * (k / n) + r) (Nat.eq_of_beq_eq_true hb).symm
          exact hn.trans (congrArg Nat.succ ih)
      exact step (Nat.beq (Nat.succ (k % n)) n) rfl
  exact key m

attribute [irreducible] Nat.mod Nat.div

/-! Quotient and remainder together -/

theorem Nat.mod_add_div (m k : Nat) : m % k + k * (m / k) = m := by
  rw [Nat.add_comm]
  exact Nat.div_add_mod m k

theorem Nat.mod_def (m k : Nat) : m % k = m - k * (m / k) := by
  apply Eq.symm
  apply Nat.sub_eq_of_eq_add
  exact (Nat.mod_add_div m k).symm

theorem Nat.mod_le (x y : Nat) : x % y ≤ x := by
  rw [Nat.mod_def]
  exact Nat.sub_le x (y * (x / y))

theorem Nat.div_mul_le_self (m n : Nat) : m / n * n ≤ m := by
  rw [Nat.mul_comm]
  exact Nat.le.intro (Nat.div_add_mod m n)

protected theorem Nat.mul_div_le (m n : Nat) : n * (m / n) ≤ m := by
  exact Nat.le.intro (Nat.div_add_mod m n)

protected theorem Nat.lt_mul_div_succ (m : Nat) {n : Nat} (n0 : 0 < n) : m < n * (m / n + 1) := by
  have h : n * (m / n) + m % n < n * (m / n) + n := by
    exact Nat.add_lt_add_left (Nat.mod_lt m n0) (n * (m / n))
  rw [Nat.div_add_mod] at h
  exact h

protected theorem Nat.div_eq_of_lt_le {k n m : Nat} (lo : k * n ≤ m) (hi : m < (k + 1) * n) : m / n = k := by
  cases Nat.eq_zero_or_pos n with
  | inl hn =>
    exfalso
    rw [hn, Nat.mul_zero] at hi
    exact Nat.not_lt_zero m hi
  | inr hn =>
    apply Nat.le_antisymm
    · apply Nat.le_of_not_lt
      intro h
      apply Nat.not_le_of_lt hi
      apply Nat.le_trans (Nat.mul_le_mul_right n h)
      exact Nat.div_mul_le_self m n
    · apply Nat.le_of_not_lt
      intro h
      apply Nat.not_le_of_lt (Nat.lt_mul_div_succ m hn)
      apply Nat.le_trans (Nat.mul_le_mul_left n h)
      rw [Nat.mul_comm]
      exact lo

theorem Nat.div_eq_of_lt {a b : Nat} (h₀ : a < b) : a / b = 0 := by
  apply Nat.div_eq_of_lt_le
  · rw [Nat.zero_mul]
    exact Nat.zero_le a
  · rw [Nat.zero_add, Nat.one_mul]
    exact h₀

theorem Nat.mod_eq_of_lt {a b : Nat} (h : a < b) : a % b = a := by
  have hd : b * (a / b) + a % b = a := by
    exact Nat.div_add_mod a b
  rw [Nat.div_eq_of_lt h, Nat.mul_zero, Nat.zero_add] at hd
  exact hd

@[simp] protected theorem Nat.div_one (n : Nat) : n / 1 = n := by
  apply Nat.div_eq_of_lt_le
  · rw [Nat.mul_one]
  · rw [Nat.mul_one]
    exact Nat.lt_add_one n

@[simp] theorem Nat.mod_one (x : Nat) : x % 1 = 0 := by
  apply Nat.eq_zero_of_le_zero
  apply Nat.le_of_lt_add_one
  exact Nat.mod_lt x Nat.zero_lt_one

/-! Adding multiples of the divisor -/

protected theorem Nat.add_mul_div_left (x z : Nat) {y : Nat} (H : 0 < y) : (x + y * z) / y = x / y + z := by
  apply Nat.div_eq_of_lt_le
  · rw [Nat.add_mul, Nat.mul_comm z y]
    exact Nat.add_le_add_right (Nat.div_mul_le_self x y) (y * z)
  · rw [Nat.add_right_comm, Nat.add_mul, Nat.mul_comm z y]
    apply Nat.add_lt_add_right
    rw [Nat.mul_comm]
    exact Nat.lt_mul_div_succ x H

protected theorem Nat.add_mul_div_right (x y : Nat) {z : Nat} (H : 0 < z) : (x + y * z) / z = x / z + y := by
  rw [Nat.mul_comm]
  exact Nat.add_mul_div_left x y H

@[simp] protected theorem Nat.add_div_right (x : Nat) {z : Nat} (H : 0 < z) : (x + z) / z = x / z + 1 := by
  have h : (x + z * 1) / z = x / z + 1 := by
    exact Nat.add_mul_div_left x 1 H
  rw [Nat.mul_one] at h
  exact h

@[simp] protected theorem Nat.add_div_left (x : Nat) {z : Nat} (H : 0 < z) : (z + x) / z = x / z + 1 := by
  rw [Nat.add_comm]
  exact Nat.add_div_right x H

@[simp] protected theorem Nat.mul_div_right (n : Nat) {m : Nat} (H : 0 < m) : m * n / m = n := by
  have h : (0 + m * n) / m = 0 / m + n := by
    exact Nat.add_mul_div_left 0 n H
  rw [Nat.zero_add, Nat.zero_div, Nat.zero_add] at h
  exact h

@[simp] protected theorem Nat.mul_div_left (m : Nat) {n : Nat} (H : 0 < n) : m * n / n = m := by
  rw [Nat.mul_comm]
  exact Nat.mul_div_right m H

protected theorem Nat.mul_div_cancel (m : Nat) {n : Nat} (H : 0 < n) : m * n / n = m := by
  exact Nat.mul_div_left m H

protected theorem Nat.mul_div_cancel_left (m : Nat) {n : Nat} (H : 0 < n) : n * m / n = m := by
  exact Nat.mul_div_right m H

protected theorem Nat.div_self {n : Nat} (H : 0 < n) : n / n = 1 := by
  have h : 1 * n / n = 1 := by
    exact Nat.mul_div_left 1 H
  rw [Nat.one_mul] at h
  exact h

@[simp] theorem Nat.add_mul_mod_self_left (x y z : Nat) : (x + y * z) % y = x % y := by
  cases Nat.eq_zero_or_pos y with
  | inl hy => rw [hy, Nat.zero_mul, Nat.add_zero]
  | inr hy =>
    apply @Nat.add_left_cancel (y * ((x + y * z) / y))
    rw [Nat.div_add_mod, Nat.add_mul_div_left x z hy, Nat.mul_add, Nat.add_right_comm, Nat.div_add_mod]

@[simp] theorem Nat.add_mul_mod_self_right (x y z : Nat) : (x + y * z) % z = x % z := by
  rw [Nat.mul_comm]
  exact Nat.add_mul_mod_self_left x z y

@[simp] theorem Nat.add_mod_right (x z : Nat) : (x + z) % z = x % z := by
  have h : (x + z * 1) % z = x % z := by
    exact Nat.add_mul_mod_self_left x z 1
  rw [Nat.mul_one] at h
  exact h

@[simp] theorem Nat.add_mod_left (x z : Nat) : (x + z) % x = z % x := by
  rw [Nat.add_comm]
  exact Nat.add_mod_right z x

@[simp] theorem Nat.mul_mod_right (m n : Nat) : m * n % m = 0 := by
  have h : (0 + m * n) % m = 0 % m := by
    exact Nat.add_mul_mod_self_left 0 m n
  rw [Nat.zero_add, Nat.zero_mod] at h
  exact h

@[simp] theorem Nat.mul_mod_left (m n : Nat) : m * n % n = 0 := by
  rw [Nat.mul_comm]
  exact Nat.mul_mod_right n m

@[simp] theorem Nat.mod_self (n : Nat) : n % n = 0 := by
  have h : n * 1 % n = 0 := by
    exact Nat.mul_mod_right n 1
  rw [Nat.mul_one] at h
  exact h

theorem Nat.mod_eq_sub_mod {a b : Nat} (h : a ≥ b) : a % b = (a - b) % b := by
  have hs : (a - b + b) % b = (a - b) % b := by
    exact Nat.add_mod_right (a - b) b
  rw [Nat.sub_add_cancel h] at hs
  exact hs

protected theorem Nat.div_eq_sub_div {b a : Nat} (h₁ : 0 < b) (h₂ : b ≤ a) : a / b = (a - b) / b + 1 := by
  have hs : (a - b + b) / b = (a - b) / b + 1 := by
    exact Nat.add_div_right (a - b) h₁
  rw [Nat.sub_add_cancel h₂] at hs
  exact hs

/-! Remainders and divisibility -/

theorem Nat.dvd_of_mod_eq_zero {k n : Nat} (h : n % k = 0) : k ∣ n := by
  exists n / k
  rw [Nat.mod_def] at h
  apply Nat.le_antisymm
  · exact Nat.le_of_sub_eq_zero h
  · exact Nat.mul_div_le n k

theorem Nat.mod_eq_zero_of_dvd {k n : Nat} (h : k ∣ n) : n % k = 0 := by
  cases h with
  | intro c hc =>
    rw [hc]
    exact Nat.mul_mod_right k c

theorem Nat.dvd_iff_mod_eq_zero {k n : Nat} : k ∣ n ↔ n % k = 0 := by
  constructor
  · intro h
    exact Nat.mod_eq_zero_of_dvd h
  · intro h
    exact Nat.dvd_of_mod_eq_zero h

def Nat.decidable_dvd (m n : Nat) : Decidable (m ∣ n) :=
  @Decidable.rec (n % m = 0) (fun _ => Decidable (m ∣ n))
    (fun h => Decidable.isFalse (fun hd => h (Nat.mod_eq_zero_of_dvd hd)))
    (fun h => Decidable.isTrue (Nat.dvd_of_mod_eq_zero h))
    (Nat.decEq (n % m) 0)
