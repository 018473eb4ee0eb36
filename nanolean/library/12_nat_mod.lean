/-
Natural numbers: more about quotients, remainders and divisibility.
-/

/-! Quotients and order -/

protected theorem Nat.le_div_iff_mul_le {k x y : Nat} (k0 : 0 < k) : x ≤ y / k ↔ x * k ≤ y := by
  constructor
  · intro h
    apply Nat.le_trans (Nat.mul_le_mul_right k h)
    exact Nat.div_mul_le_self y k
  · intro h
    apply Nat.le_of_lt_add_one
    apply Nat.lt_of_not_le
    intro hle
    have hlt : y < k * (y / k + 1) := by
      exact Nat.lt_mul_div_succ y k0
    apply Nat.not_le_of_lt hlt
    rw [Nat.mul_comm]
    exact Nat.le_trans (Nat.mul_le_mul_right k hle) h

protected theorem Nat.div_lt_iff_lt_mul {k x y : Nat} (Hk : 0 < k) : x / k < y ↔ x < y * k := by
  rw [← Nat.not_le, Nat.le_div_iff_mul_le Hk, Nat.not_le]

theorem Nat.div_le_self (n k : Nat) : n / k ≤ n := by
  cases k with
  | zero =>
    rw [Nat.div_zero]
    exact Nat.zero_le n
  | succ k =>
    apply Nat.le_trans (Nat.le_mul_of_pos_right (n / (k + 1)) (Nat.zero_lt_succ k))
    exact Nat.div_mul_le_self n (k + 1)

theorem Nat.div_lt_self {n k : Nat} (hLtN : 0 < n) (hLtK : 1 < k) : n / k < n := by
  have hk : 0 < k := by exact Nat.lt_trans Nat.zero_lt_one hLtK
  rw [Nat.div_lt_iff_lt_mul hk]
  have h : n * 1 < n * k := by exact Nat.mul_lt_mul_of_pos_left hLtK hLtN
  rw [Nat.mul_one] at h
  exact h

protected theorem Nat.div_le_of_le_mul {m n k : Nat} (h : m ≤ k * n) : m / k ≤ n := by
  cases Nat.eq_zero_or_pos k with
  | inl hk =>
    rw [hk, Nat.div_zero]
    exact Nat.zero_le n
  | inr hk =>
    apply Nat.le_of_lt_add_one
    rw [Nat.div_lt_iff_lt_mul hk, Nat.mul_comm, Nat.mul_add, Nat.mul_one]
    exact Nat.lt_of_le_of_lt h (Nat.lt_add_of_pos_right hk)

protected theorem Nat.pos_of_div_pos {a b : Nat} (h : 0 < a / b) : 0 < a := by
  exact Nat.lt_of_lt_of_le h (Nat.div_le_self a b)

protected theorem Nat.div_pos {a b : Nat} (hba : b ≤ a) (hb : 0 < b) : 0 < a / b := by
  rw [← Nat.succ_le_iff, Nat.le_div_iff_mul_le hb, Nat.one_mul]
  exact hba

protected theorem Nat.mod_lt_of_lt {a b c : Nat} (h : a < c) : a % b < c := by
  exact Nat.lt_of_le_of_lt (Nat.mod_le a b) h

/-! Quotients of products and of quotients -/

protected theorem Nat.div_div_eq_div_mul (m n k : Nat) : m / n / k = m / (n * k) := by
  cases Nat.eq_zero_or_pos n with
  | inl hn => rw [hn, Nat.div_zero, Nat.zero_div, Nat.zero_mul, Nat.div_zero]
  | inr hn =>
    cases Nat.eq_zero_or_pos k with
    | inl hk => rw [hk, Nat.mul_zero, Nat.div_zero, Nat.div_zero]
    | inr hk =>
      apply Nat.le_antisymm
      · rw [Nat.le_div_iff_mul_le (Nat.mul_pos hn hk), Nat.mul_comm n k, ← Nat.mul_assoc]
        apply (Nat.le_div_iff_mul_le hn).mp
        exact Nat.div_mul_le_self (m / n) k
      · rw [Nat.le_div_iff_mul_le hk, Nat.le_div_iff_mul_le hn, Nat.mul_assoc, Nat.mul_comm k n]
        exact Nat.div_mul_le_self m (n * k)

protected theorem Nat.mul_div_mul_left {m : Nat} (n k : Nat) (H : 0 < m) : m * n / (m * k) = n / k := by
  rw [← Nat.div_div_eq_div_mul, Nat.mul_div_cancel_left n H]

protected theorem Nat.mul_div_mul_right {m : Nat} (n k : Nat) (H : 0 < m) : n * m / (k * m) = n / k := by
  rw [Nat.mul_comm n m, Nat.mul_comm k m, Nat.mul_div_mul_left n k H]

protected theorem Nat.div_eq_of_eq_mul_left {n m k : Nat} (H1 : 0 < n) (H2 : m = k * n) : m / n = k := by
  rw [H2, Nat.mul_div_cancel k H1]

protected theorem Nat.div_eq_of_eq_mul_right {n m k : Nat} (H1 : 0 < n) (H2 : m = n * k) : m / n = k := by
  rw [H2, Nat.mul_div_cancel_left k H1]

/-! Remainders of remainders, sums and products -/

@[simp] theorem Nat.mod_mod (a n : Nat) : a % n % n = a % n := by
  cases Nat.eq_zero_or_pos n with
  | inl hn => rw [hn, Nat.mod_zero]
  | inr hn => exact Nat.mod_eq_of_lt (Nat.mod_lt a hn)

@[simp] protected theorem Nat.mod_add_mod (m n k : Nat) : (m % n + k) % n = (m + k) % n := by
  have h : (m % n + k + n * (m / n)) % n = (m % n + k) % n := by
    exact Nat.add_mul_mod_self_left (m % n + k) n (m / n)
  rw [Nat.add_right_comm, Nat.mod_add_div] at h
  exact h.symm

@[simp] protected theorem Nat.add_mod_mod (m n k : Nat) : (m + n % k) % k = (m + n) % k := by
  rw [Nat.add_comm, Nat.mod_add_mod, Nat.add_comm]

theorem Nat.add_mod (a b n : Nat) : (a + b) % n = (a % n + b % n) % n := by
  rw [Nat.add_mod_mod, Nat.mod_add_mod]

@[simp] protected theorem Nat.mod_mul_mod (a b c : Nat) : (a % c * b) % c = a * b % c := by
  have h : (a % c * b + c * (a / c * b)) % c = a % c * b % c := by
    exact Nat.add_mul_mod_self_left (a % c * b) c (a / c * b)
  rw [← Nat.mul_assoc, ← Nat.add_mul, Nat.mod_add_div] at h
  exact h.symm

@[simp] protected theorem Nat.mul_mod_mod (a b c : Nat) : (a * (b % c)) % c = a * b % c := by
  rw [Nat.mul_comm, Nat.mod_mul_mod, Nat.mul_comm]

theorem Nat.mul_mod (a b n : Nat) : a * b % n = (a % n) * (b % n) % n := by
  rw [Nat.mul_mod_mod, Nat.mod_mul_mod]

protected theorem Nat.mul_mod_mul_left (z x y : Nat) : z * x % (z * y) = z * (x % y) := by
  cases Nat.eq_zero_or_pos z with
  | inl hz => rw [hz, Nat.zero_mul, Nat.zero_mul, Nat.zero_mul, Nat.zero_mod]
  | inr hz =>
    apply @Nat.add_left_cancel (z * y * (z * x / (z * y)))
    rw [Nat.div_add_mod, Nat.mul_div_mul_left x y hz, Nat.mul_assoc, ← Nat.mul_add, Nat.div_add_mod]

protected theorem Nat.mul_mod_mul_right (z x y : Nat) : x * z % (y * z) = x % y * z := by
  rw [Nat.mul_comm x z, Nat.mul_comm y z, Nat.mul_mod_mul_left, Nat.mul_comm]

theorem Nat.mod_two_eq_zero_or_one (n : Nat) : n % 2 = 0 ∨ n % 2 = 1 := by
  have h : n % 2 < 2 := by
    exact Nat.mod_lt n (Nat.zero_lt_succ 1)
  cases Nat.eq_zero_or_pos (n % 2) with
  | inl h0 =>
    left
    exact h0
  | inr h1 =>
    right
    exact Nat.le_antisymm (Nat.le_of_lt_succ h) h1

protected theorem Nat.sub_mul_mod {x k n : Nat} (h₁ : n * k ≤ x) : (x - n * k) % n = x % n := by
  have h : (x - n * k + n * k) % n = (x - n * k) % n := by
    exact Nat.add_mul_mod_self_left (x - n * k) n k
  rw [Nat.sub_add_cancel h₁] at h
  exact h.symm

/-! Divisibility -/

protected theorem Nat.mul_div_cancel' {n m : Nat} (H : n ∣ m) : n * (m / n) = m := by
  have h : n * (m / n) + m % n = m := by
    exact Nat.div_add_mod m n
  rw [Nat.mod_eq_zero_of_dvd H, Nat.add_zero] at h
  exact h

protected theorem Nat.div_mul_cancel {n m : Nat} (H : n ∣ m) : m / n * n = m := by
  rw [Nat.mul_comm, Nat.mul_div_cancel' H]

protected theorem Nat.mul_div_assoc {k n : Nat} (m : Nat) (H : k ∣ n) : m * n / k = m * (n / k) := by
  cases Nat.eq_zero_or_pos k with
  | inl hk => rw [hk, Nat.div_zero, Nat.div_zero, Nat.mul_zero]
  | inr hk =>
    cases H with
    | intro c hc => rw [hc, Nat.mul_div_cancel_left c hk, Nat.mul_left_comm, Nat.mul_div_cancel_left (m * c) hk]

protected theorem Nat.eq_mul_of_div_eq_right {a b c : Nat} (H1 : b ∣ a) (H2 : a / b = c) : a = b * c := by
  rw [← H2, Nat.mul_div_cancel' H1]

protected theorem Nat.eq_mul_of_div_eq_left {a b c : Nat} (H1 : b ∣ a) (H2 : a / b = c) : a = c * b := by
  rw [← H2, Nat.div_mul_cancel H1]

protected theorem Nat.div_eq_iff_eq_mul_right {a b c : Nat} (H : 0 < b) (H' : b ∣ a) : a / b = c ↔ a = b * c := by
  constructor
  · intro h
    exact Nat.eq_mul_of_div_eq_right H' h
  · intro h
    exact Nat.div_eq_of_eq_mul_right H h

protected theorem Nat.div_eq_iff_eq_mul_left {a b c : Nat} (H : 0 < b) (H' : b ∣ a) : a / b = c ↔ a = c * b := by
  rw [Nat.mul_comm]
  exact Nat.div_eq_iff_eq_mul_right H H'

protected theorem Nat.mod_mod_of_dvd {c b : Nat} (a : Nat) (h : c ∣ b) : a % b % c = a % c := by
  cases h with
  | intro k hk =>
    have hd : (a % b + c * (k * (a / b))) % c = a % b % c := by
      exact Nat.add_mul_mod_self_left (a % b) c (k * (a / b))
    rw [← Nat.mul_assoc, ← hk, Nat.mod_add_div] at hd
    exact hd.symm

protected theorem Nat.dvd_sub {k m n : Nat} (h₁ : k ∣ m) (h₂ : k ∣ n) : k ∣ m - n := by
  cases Nat.le_total n m with
  | inl h =>
    apply (Nat.dvd_add_right h₂).mp
    rw [Nat.add_sub_of_le h]
    exact h₁
  | inr h =>
    rw [Nat.sub_eq_zero_of_le h]
    exact Nat.dvd_zero k

protected theorem Nat.dvd_add_iff_right {k m n : Nat} (h : k ∣ m) : k ∣ n ↔ k ∣ m + n := by
  exact (Nat.dvd_add_right h).symm

protected theorem Nat.dvd_add_iff_left {k m n : Nat} (h : k ∣ n) : k ∣ m ↔ k ∣ m + n := by
  rw [Nat.add_comm]
  exact Nat.dvd_add_iff_right h

@[simp] protected theorem Nat.zero_dvd {n : Nat} : 0 ∣ n ↔ n = 0 := by
  constructor
  · intro h
    exact Nat.eq_zero_of_zero_dvd h
  · intro h
    rw [h]
    exact Nat.dvd_refl 0

@[simp] protected theorem Nat.dvd_one {n : Nat} : n ∣ 1 ↔ n = 1 := by
  constructor
  · intro h
    exact Nat.dvd_antisymm h (Nat.one_dvd n)
  · intro h
    rw [h]
    exact Nat.dvd_refl 1

protected theorem Nat.eq_one_of_dvd_one {n : Nat} (H : n ∣ 1) : n = 1 := by
  exact Nat.dvd_one.mp H

protected theorem Nat.pos_of_dvd_of_pos {m n : Nat} (H1 : m ∣ n) (H2 : 0 < n) : 0 < m := by
  apply Nat.pos_of_ne_zero
  intro h
  rw [h, Nat.zero_dvd] at H1
  rw [H1] at H2
  exact Nat.lt_irrefl 0 H2

protected theorem Nat.eq_zero_of_dvd_of_lt {a b : Nat} (w : a ∣ b) (h : b < a) : b = 0 := by
  cases Nat.eq_zero_or_pos b with
  | inl h0 => exact h0
  | inr hp =>
    exfalso
    exact Nat.not_le_of_lt h (Nat.le_of_dvd hp w)

protected theorem Nat.dvd_of_mul_dvd_mul_left {k m n : Nat} (kpos : 0 < k) (H : k * m ∣ k * n) : m ∣ n := by
  cases H with
  | intro c hc =>
    exists c
    rw [Nat.mul_assoc] at hc
    exact Nat.eq_of_mul_eq_mul_left kpos hc

protected theorem Nat.dvd_of_mul_dvd_mul_right {k m n : Nat} (kpos : 0 < k) (H : m * k ∣ n * k) : m ∣ n := by
  rw [Nat.mul_comm m k, Nat.mul_comm n k] at H
  exact Nat.dvd_of_mul_dvd_mul_left kpos H

protected theorem Nat.mul_dvd_mul_iff_left {a b c : Nat} (h : 0 < a) : a * b ∣ a * c ↔ b ∣ c := by
  constructor
  · intro hd
    exact Nat.dvd_of_mul_dvd_mul_left h hd
  · intro hd
    exact Nat.mul_dvd_mul_left a hd

protected theorem Nat.mul_dvd_mul_iff_right {a b c : Nat} (h : 0 < c) : a * c ∣ b * c ↔ a ∣ b := by
  constructor
  · intro hd
    exact Nat.dvd_of_mul_dvd_mul_right h hd
  · intro hd
    exact Nat.mul_dvd_mul_right hd c

theorem Nat.gcd_mul_left (m n k : Nat) : Nat.gcd (m * n) (m * k) = m * Nat.gcd n k := by
  refine Nat.gcd.induction n k ?_ ?_
  · intro k
    rw [Nat.mul_zero, Nat.gcd_zero_left, Nat.gcd_zero_left]
  · intro n k hn ih
    rw [Nat.gcd_rec, Nat.mul_mod_mul_left, ih, Nat.gcd_rec n k]

theorem Nat.gcd_mul_right (m n k : Nat) : Nat.gcd (m * n) (k * n) = Nat.gcd m k * n := by
  rw [Nat.mul_comm m n, Nat.mul_comm k n, Nat.mul_comm (Nat.gcd m k) n, Nat.gcd_mul_left]
