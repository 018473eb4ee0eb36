/-
Natural numbers: the greatest common divisor, by Euclid's algorithm. The recursion counts down a number that is large
enough; as in Lean the definition is not to be unfolded.
-/

def Nat.gcd (m n : Nat) : Nat :=
  @Nat.rec (fun _ => Nat → Nat → Nat) (fun _ n => n)
    (fun _ gcd m n => @Nat.rec (fun _ => Nat) n (fun k _ => gcd (Nat.mod n (Nat.succ k)) (Nat.succ k)) m) m m n

@[simp] theorem Nat.gcd_zero_left (y : Nat) : Nat.gcd 0 y = y := by
  have key : ∀ k : Nat, Nat.gcd 0 k = k := by
    intro k
    rfl
  exact key y

theorem Nat.gcd_rec (m n : Nat) : Nat.gcd m n = Nat.gcd (n % m) m := by
  have step : ∀ g : Nat → Nat → Nat → Nat,
      (∀ a b, g 0 a b = b) →
      (∀ f b, g (f + 1) 0 b = b) →
      (∀ f a b, g (f + 1) (a + 1) b = g f (b % (a + 1)) (a + 1)) →
      (∀ a b, Nat.gcd a b = g a a b) →
      Nat.gcd m n = Nat.gcd (n % m) m := by
    intro g g1 g2 g3 hg
    have g0 : ∀ f b, g f 0 b = b := by
      intro f b
      cases f with
      | zero => exact g1 0 b
      | succ f => exact g2 f b
    have enough : ∀ d f a b, a ≤ f → a ≤ d → g f a b = g d a b := by
      intro d
      induction d with
      | zero =>
        intro f a b hf hd
        rw [Nat.eq_zero_of_le_zero hd, g0, g0]
      | succ d ih =>
        intro f a b hf hd
        cases f with
        | zero => rw [Nat.eq_zero_of_le_zero hf, g0, g0]
        | succ f =>
          cases a with
          | zero => rw [g0, g0]
          | succ a =>
            rw [g3, g3]
            have hlt : b % (a + 1) ≤ a := by
              exact Nat.le_of_lt_succ (Nat.mod_lt b (Nat.zero_lt_succ a))
            apply ih
            · exact Nat.le_trans hlt (Nat.le_of_succ_le_succ hf)
            · exact Nat.le_trans hlt (Nat.le_of_succ_le_succ hd)
    cases m with
    | zero =>
      rw [Nat.mod_zero, hg, hg, g0]
      cases n with
      | zero => rw [g0]
      | succ n => rw [g3, Nat.zero_mod, g0]
    | succ m =>
      rw [hg, hg, g3]
      exact enough (n % (m + 1)) m (n % (m + 1)) (m + 1) (Nat.le_of_lt_succ (Nat.mod_lt n (Nat.zero_lt_succ m)))
        (Nat.le_refl (n % (m + 1)))
  exact step
    (fun f a b => @Nat.rec (fun _ => Nat → Nat → Nat) (fun _ n => n)
      (fun _ gcd m n => @Nat.rec (fun _ => Nat) n (fun k _ => gcd (Nat.mod n (Nat.succ k)) (Nat.succ k)) m) f a b)
    (fun _ _ => rfl) (fun _ _ => rfl) (fun _ _ _ => rfl) (fun _ _ => rfl)

attribute [irreducible] Nat.gcd

theorem Nat.gcd_succ (x y : Nat) : Nat.gcd (Nat.succ x) y = Nat.gcd (y % Nat.succ x) (Nat.succ x) := by
  exact Nat.gcd_rec (Nat.succ x) y

theorem Nat.gcd_add_one (x y : Nat) : Nat.gcd (x + 1) y = Nat.gcd (y % (x + 1)) (x + 1) := by
  exact Nat.gcd_rec (x + 1) y

@[simp] theorem Nat.gcd_zero_right (n : Nat) : Nat.gcd n 0 = n := by
  rw [Nat.gcd_rec, Nat.zero_mod, Nat.gcd_zero_left]

@[simp] theorem Nat.gcd_one_left (n : Nat) : Nat.gcd 1 n = 1 := by
  rw [Nat.gcd_rec, Nat.mod_one, Nat.gcd_zero_left]

@[simp] theorem Nat.gcd_self (n : Nat) : Nat.gcd n n = n := by
  rw [Nat.gcd_rec, Nat.mod_self, Nat.gcd_zero_left]

@[elab_as_elim] theorem Nat.gcd.induction {P : Nat → Nat → Prop} (m n : Nat) (H0 : ∀ n, P 0 n)
    (H1 : ∀ m n, 0 < m → P (n % m) m → P m n) : P m n := by
  have key : ∀ k b, P k b := by
    intro k
    refine Nat.strongRecOn k ?_
    intro k ih b
    cases Nat.eq_zero_or_pos k with
    | inl hk =>
      rw [hk]
      exact H0 b
    | inr hk =>
      apply H1 k b hk
      exact ih (b % k) (Nat.mod_lt b hk) k
  exact key m n

/-! It divides both, and every common divisor divides it -/

protected theorem Nat.dvd_mod_iff {k m n : Nat} (h : k ∣ n) : k ∣ m % n ↔ k ∣ m := by
  have hn : k ∣ n * (m / n) := by
    exact Nat.dvd_mul_right_of_dvd h (m / n)
  constructor
  · intro hm
    rw [← Nat.div_add_mod m n]
    exact Nat.dvd_add hn hm
  · intro hm
    apply (Nat.dvd_add_right hn).mp
    rw [Nat.div_add_mod]
    exact hm

theorem Nat.gcd_dvd (m n : Nat) : Nat.gcd m n ∣ m ∧ Nat.gcd m n ∣ n := by
  refine Nat.gcd.induction m n ?_ ?_
  · intro n
    rw [Nat.gcd_zero_left]
    exact ⟨Nat.dvd_zero n, Nat.dvd_refl n⟩
  · intro m n hm ih
    rw [Nat.gcd_rec]
    constructor
    · exact ih.2
    · exact (Nat.dvd_mod_iff ih.2).mp ih.1

theorem Nat.gcd_dvd_left (m n : Nat) : Nat.gcd m n ∣ m := by
  exact (Nat.gcd_dvd m n).left

theorem Nat.gcd_dvd_right (m n : Nat) : Nat.gcd m n ∣ n := by
  exact (Nat.gcd_dvd m n).right

theorem Nat.gcd_le_left {m : Nat} (n : Nat) (h : 0 < m) : Nat.gcd m n ≤ m := by
  exact Nat.le_of_dvd h (Nat.gcd_dvd_left m n)

theorem Nat.dvd_gcd {k m n : Nat} : k ∣ m → k ∣ n → k ∣ Nat.gcd m n := by
  refine Nat.gcd.induction m n ?_ ?_
  · intro n h1 h2
    rw [Nat.gcd_zero_left]
    exact h2
  · intro m n hm ih h1 h2
    rw [Nat.gcd_rec]
    apply ih
    · exact (Nat.dvd_mod_iff h1).mpr h2
    · exact h1

protected theorem Nat.dvd_gcd_iff {k m n : Nat} : k ∣ Nat.gcd m n ↔ k ∣ m ∧ k ∣ n := by
  constructor
  · intro h
    constructor
    · exact Nat.dvd_trans h (Nat.gcd_dvd_left m n)
    · exact Nat.dvd_trans h (Nat.gcd_dvd_right m n)
  · intro h
    exact Nat.dvd_gcd h.1 h.2

theorem Nat.gcd_comm (m n : Nat) : Nat.gcd m n = Nat.gcd n m := by
  apply Nat.dvd_antisymm
  · apply Nat.dvd_gcd
    · exact Nat.gcd_dvd_right m n
    · exact Nat.gcd_dvd_left m n
  · apply Nat.dvd_gcd
    · exact Nat.gcd_dvd_right n m
    · exact Nat.gcd_dvd_left n m

theorem Nat.gcd_assoc (m n k : Nat) : Nat.gcd (Nat.gcd m n) k = Nat.gcd m (Nat.gcd n k) := by
  apply Nat.dvd_antisymm
  · apply Nat.dvd_gcd
    · exact Nat.dvd_trans (Nat.gcd_dvd_left (Nat.gcd m n) k) (Nat.gcd_dvd_left m n)
    · apply Nat.dvd_gcd
      · exact Nat.dvd_trans (Nat.gcd_dvd_left (Nat.gcd m n) k) (Nat.gcd_dvd_right m n)
      · exact Nat.gcd_dvd_right (Nat.gcd m n) k
  · apply Nat.dvd_gcd
    · apply Nat.dvd_gcd
      · exact Nat.gcd_dvd_left m (Nat.gcd n k)
      · exact Nat.dvd_trans (Nat.gcd_dvd_right m (Nat.gcd n k)) (Nat.gcd_dvd_left n k)
    · exact Nat.dvd_trans (Nat.gcd_dvd_right m (Nat.gcd n k)) (Nat.gcd_dvd_right n k)

@[simp] theorem Nat.gcd_one_right (n : Nat) : Nat.gcd n 1 = 1 := by
  rw [Nat.gcd_comm, Nat.gcd_one_left]

theorem Nat.gcd_eq_left {m n : Nat} (h : m ∣ n) : Nat.gcd m n = m := by
  rw [Nat.gcd_rec, Nat.mod_eq_zero_of_dvd h, Nat.gcd_zero_left]

theorem Nat.gcd_eq_right {m n : Nat} (h : n ∣ m) : Nat.gcd m n = n := by
  rw [Nat.gcd_comm]
  exact Nat.gcd_eq_left h

theorem Nat.gcd_pos_of_pos_left {m : Nat} (n : Nat) (mpos : 0 < m) : 0 < Nat.gcd m n := by
  apply Nat.pos_of_ne_zero
  intro h
  have hd : Nat.gcd m n ∣ m := by
    exact Nat.gcd_dvd_left m n
  rw [h] at hd
  rw [Nat.eq_zero_of_zero_dvd hd] at mpos
  exact Nat.lt_irrefl 0 mpos

theorem Nat.gcd_pos_of_pos_right {n : Nat} (m : Nat) (npos : 0 < n) : 0 < Nat.gcd m n := by
  rw [Nat.gcd_comm]
  exact Nat.gcd_pos_of_pos_left m npos

protected theorem Nat.eq_zero_of_gcd_eq_zero_left {m n : Nat} (H : Nat.gcd m n = 0) : m = 0 := by
  apply Nat.eq_zero_of_zero_dvd
  rw [← H]
  exact Nat.gcd_dvd_left m n

protected theorem Nat.eq_zero_of_gcd_eq_zero_right {m n : Nat} (H : Nat.gcd m n = 0) : n = 0 := by
  apply Nat.eq_zero_of_zero_dvd
  rw [← H]
  exact Nat.gcd_dvd_right m n

theorem Nat.gcd_eq_zero_iff {i j : Nat} : Nat.gcd i j = 0 ↔ i = 0 ∧ j = 0 := by
  constructor
  · intro h
    constructor
    · exact Nat.eq_zero_of_gcd_eq_zero_left h
    · exact Nat.eq_zero_of_gcd_eq_zero_right h
  · intro h
    rw [h.1, h.2, Nat.gcd_zero_left]

theorem Nat.gcd_dvd_gcd_of_dvd_left {m k : Nat} (n : Nat) (H : m ∣ k) : Nat.gcd m n ∣ Nat.gcd k n := by
  apply Nat.dvd_gcd
  · exact Nat.dvd_trans (Nat.gcd_dvd_left m n) H
  · exact Nat.gcd_dvd_right m n

theorem Nat.gcd_dvd_gcd_of_dvd_right {m k : Nat} (n : Nat) (H : m ∣ k) : Nat.gcd n m ∣ Nat.gcd n k := by
  apply Nat.dvd_gcd
  · exact Nat.gcd_dvd_left n m
  · exact Nat.dvd_trans (Nat.gcd_dvd_right n m) H
