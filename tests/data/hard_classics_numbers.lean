/-
Theorems of elementary number theory for the hard benchmark, with reference proofs: divisibility, gcd, congruences, primes, powers,
inequalities, sums and functions given by recursion equations. Only the statements go to `data/nanolean-hard`.
-/

theorem dvd_of_coprime_of_dvd_mul (a b c : Nat) (h : Nat.gcd a b = 1) (h1 : a ∣ b * c) : a ∣ c := by
  have h2 : Nat.gcd (a * c) (b * c) = c := by rw [Nat.gcd_mul_right, h, Nat.one_mul]
  rw [← h2]
  apply Nat.dvd_gcd
  · exact Nat.dvd_mul_right a c
  · exact h1

theorem mul_dvd_of_coprime (a b c : Nat) (h : Nat.gcd a b = 1) (ha : a ∣ c) (hb : b ∣ c) : a * b ∣ c := by
  obtain ⟨k, rfl⟩ := ha
  apply Nat.mul_dvd_mul_left
  have h2 : Nat.gcd (a * k) (b * k) = k := by rw [Nat.gcd_mul_right, h, Nat.one_mul]
  rw [← h2]
  apply Nat.dvd_gcd
  · exact hb
  · exact Nat.dvd_mul_right b k

theorem coprime_mul_right (a b c : Nat) (hb : Nat.gcd a b = 1) (hc : Nat.gcd a c = 1) : Nat.gcd a (b * c) = 1 := by
  apply Nat.eq_one_of_dvd_one
  rw [← hc]
  apply Nat.dvd_gcd
  · exact Nat.gcd_dvd_left a (b * c)
  have h : Nat.gcd (a * c) (b * c) = c := by rw [Nat.gcd_mul_right, hb, Nat.one_mul]
  obtain h1 : Nat.gcd a (b * c) ∣ Nat.gcd (a * c) (b * c)
  · apply Nat.dvd_gcd
    · exact Nat.dvd_trans (Nat.gcd_dvd_left a (b * c)) (Nat.dvd_mul_right a c)
    · exact Nat.gcd_dvd_right a (b * c)
  rw [h] at h1
  exact h1

theorem coprime_pow_right (a b n : Nat) (h : Nat.gcd a b = 1) : Nat.gcd a (b ^ n) = 1 := by
  induction n with
  | zero => exact Nat.gcd_one_right a
  | succ n ih =>
    rw [Nat.pow_succ]
    apply Nat.eq_one_of_dvd_one
    rw [← h]
    apply Nat.dvd_gcd
    · exact Nat.gcd_dvd_left a (b ^ n * b)
    have h1 : Nat.gcd (a * b) (b ^ n * b) = b := by rw [Nat.gcd_mul_right, ih, Nat.one_mul]
    have h2 : Nat.gcd a (b ^ n * b) ∣ Nat.gcd (a * b) (b ^ n * b) := Nat.gcd_dvd_gcd_of_dvd_left _ (Nat.dvd_mul_right a b)
    rw [h1] at h2
    exact h2

theorem euclid_lemma (p a b : Nat) (h : ∀ d : Nat, d ∣ p → d = 1 ∨ d = p) (h1 : p ∣ a * b) : p ∣ a ∨ p ∣ b := by
  cases h (Nat.gcd p a) (Nat.gcd_dvd_left p a) with
  | inl h2 =>
    right
    have h3 : Nat.gcd (p * b) (a * b) = b := by rw [Nat.gcd_mul_right, h2, Nat.one_mul]
    rw [← h3]
    apply Nat.dvd_gcd
    · exact Nat.dvd_mul_right p b
    · exact h1
  | inr h2 =>
    left
    rw [← h2]
    exact Nat.gcd_dvd_right p a

theorem prime_dvd_of_dvd_pow (p a n : Nat) (h : ∀ x y : Nat, p ∣ x * y → p ∣ x ∨ p ∣ y) (h1 : p ≠ 1) (h2 : p ∣ a ^ n) : p ∣ a := by
  induction n with
  | zero =>
    exfalso
    apply h1
    exact Nat.eq_one_of_dvd_one h2
  | succ n ih =>
    rw [Nat.pow_succ] at h2
    cases h (a ^ n) a h2 with
    | inl h3 => exact ih h3
    | inr h3 => exact h3

theorem exists_prime_divisor (n : Nat) (h : 1 < n) : ∃ p : Nat, 1 < p ∧ p ∣ n ∧ ∀ d : Nat, d ∣ p → d = 1 ∨ d = p := by
  induction n using Nat.strongRecOn with
  | ind n ih =>
    by_cases hp : ∀ d : Nat, d ∣ n → d = 1 ∨ d = n
    · exact ⟨n, h, Nat.dvd_refl n, hp⟩
    simp only [Classical.not_forall] at hp
    obtain ⟨d, hd, hne⟩ := hp
    have hle : d ≤ n := Nat.le_of_dvd (by omega) hd
    have hpos : 0 < d := Nat.pos_of_dvd_of_pos hd (by omega)
    obtain ⟨p, h1, h2, h3⟩ := ih d (by omega) (by omega)
    exact ⟨p, h1, Nat.dvd_trans h2 hd, h3⟩

theorem gcd_succ_self_eq_one (n : Nat) : Nat.gcd n (n + 1) = 1 := by
  apply Nat.eq_one_of_dvd_one
  have h : Nat.gcd n (n + 1) ∣ n + 1 := Nat.gcd_dvd_right n (n + 1)
  rw [Nat.dvd_add_right] at h
  · exact h
  · exact Nat.gcd_dvd_left n (n + 1)

theorem gcd_consecutive_odds (n : Nat) : Nat.gcd (2 * n + 1) (2 * n + 3) = 1 := by
  have h1 : Nat.gcd (2 * n + 1) (2 * n + 3) ∣ 2 * n + 1 := Nat.gcd_dvd_left _ _
  have h2 : Nat.gcd (2 * n + 1) (2 * n + 3) ∣ 2 * n + 1 + 2 := Nat.gcd_dvd_right _ _
  rw [Nat.dvd_add_right h1] at h2
  have h3 : Nat.gcd (2 * n + 1) (2 * n + 3) ∣ 2 * n := Nat.dvd_mul_right_of_dvd h2 n
  rw [Nat.dvd_add_right h3] at h1
  exact Nat.eq_one_of_dvd_one h1

theorem gcd_fib_succ (f : Nat → Nat) (h0 : f 0 = 0) (h1 : f 1 = 1) (h : ∀ n : Nat, f (n + 2) = f n + f (n + 1)) (n : Nat) : Nat.gcd (f n) (f (n + 1)) = 1 := by
  induction n with
  | zero => rw [h1, Nat.gcd_one_right]
  | succ n ih =>
    apply Nat.eq_one_of_dvd_one
    refine Nat.dvd_trans ?_ (Nat.dvd_of_mod_eq_zero (n := 1) (k := Nat.gcd (f n) (f (n + 1))) (by rw [ih, Nat.mod_one]))
    apply Nat.dvd_gcd
    · apply (Nat.dvd_add_iff_left (Nat.gcd_dvd_left (f (n + 1)) (f (n + 2)))).mpr
      rw [← h]
      exact Nat.gcd_dvd_right _ _
    · exact Nat.gcd_dvd_left _ _

theorem coprime_div_gcd (a b : Nat) (h : 0 < a) : Nat.gcd (a / Nat.gcd a b) (b / Nat.gcd a b) = 1 := by
  have hg : 0 < Nat.gcd a b := Nat.gcd_pos_of_pos_left b h
  apply Nat.eq_of_mul_eq_mul_left hg
  rw [← Nat.gcd_mul_left]
  rw [Nat.mul_div_cancel' (Nat.gcd_dvd_left a b)]
  rw [Nat.mul_div_cancel' (Nat.gcd_dvd_right a b)]
  rw [Nat.mul_one]

theorem gcd_mul_dvd_mul_gcd (a b c : Nat) : Nat.gcd a (b * c) ∣ Nat.gcd a b * Nat.gcd a c := by
  rw [← Nat.gcd_mul_right]
  apply Nat.dvd_gcd
  · exact Nat.dvd_trans (Nat.gcd_dvd_left a (b * c)) (Nat.dvd_mul_right a _)
  rw [← Nat.gcd_mul_left]
  apply Nat.dvd_gcd
  · exact Nat.dvd_trans (Nat.gcd_dvd_left a (b * c)) (Nat.dvd_mul_left a b)
  · exact Nat.gcd_dvd_right a (b * c)

theorem gcd_mul_of_coprime (a b c : Nat) (h : Nat.gcd a b = 1) : Nat.gcd a (b * c) = Nat.gcd a c := by
  apply Nat.dvd_antisymm
  · apply Nat.dvd_gcd
    · exact Nat.gcd_dvd_left a (b * c)
    have h1 : Nat.gcd (a * c) (b * c) = c := by rw [Nat.gcd_mul_right, h, Nat.one_mul]
    have h2 : Nat.gcd a (b * c) ∣ Nat.gcd (a * c) (b * c) := Nat.gcd_dvd_gcd_of_dvd_left _ (Nat.dvd_mul_right a c)
    rw [h1] at h2
    exact h2
  · exact Nat.gcd_dvd_gcd_of_dvd_right a (Nat.dvd_mul_left c b)

theorem dvd_of_mul_eq_mul_of_coprime (a b x y : Nat) (h : Nat.gcd a b = 1) (h1 : a * x = b * y) : b ∣ x := by
  have h2 : Nat.gcd (a * x) (b * x) = x := by rw [Nat.gcd_mul_right, h, Nat.one_mul]
  rw [h1] at h2
  rw [← h2]
  rw [Nat.gcd_mul_left]
  exact Nat.dvd_mul_right b (Nat.gcd y x)

theorem coprime_add_mul (a b : Nat) (h : Nat.gcd a b = 1) : Nat.gcd (a + b) (a * b) = 1 := by
  have ha : Nat.gcd (a + b) (a * b) ∣ a * (a + b) := Nat.dvd_mul_left_of_dvd (Nat.gcd_dvd_left _ _) a
  have hb : Nat.gcd (a + b) (a * b) ∣ b * (a + b) := Nat.dvd_mul_left_of_dvd (Nat.gcd_dvd_left _ _) b
  have hc : Nat.gcd (a + b) (a * b) ∣ a * b := Nat.gcd_dvd_right _ _
  rw [Nat.mul_add, ← Nat.dvd_add_iff_left hc] at ha
  rw [Nat.mul_add, Nat.mul_comm b a, Nat.dvd_add_right hc] at hb
  have h1 := Nat.dvd_gcd ha hc
  rw [Nat.gcd_mul_left, h, Nat.mul_one] at h1
  have h2 : Nat.gcd (a + b) (a * b) ∣ b := (Nat.dvd_add_right h1).mp (Nat.gcd_dvd_left _ _)
  apply Nat.eq_one_of_dvd_one
  rw [← h]
  exact Nat.dvd_gcd h1 h2

theorem gcd_self_sq_add_one (n : Nat) : Nat.gcd n (n * n + 1) = 1 := by
  apply Nat.eq_one_of_dvd_one
  have h : Nat.gcd n (n * n + 1) ∣ n * n + 1 := Nat.gcd_dvd_right _ _
  rw [Nat.dvd_add_right] at h
  · exact h
  · exact Nat.dvd_mul_right_of_dvd (Nat.gcd_dvd_left _ _) n

theorem lcm_dvd_of_dvd (a b m : Nat) (hpos : 0 < a) (ha : a ∣ m) (hb : b ∣ m) : a * b / Nat.gcd a b ∣ m := by
  have hg : 0 < Nat.gcd a b := Nat.gcd_pos_of_pos_left b hpos
  apply Nat.dvd_of_mul_dvd_mul_left hg
  rw [Nat.mul_div_cancel' (Nat.dvd_mul_right_of_dvd (Nat.gcd_dvd_left a b) b)]
  rw [← Nat.gcd_mul_right]
  apply Nat.dvd_gcd
  · exact Nat.mul_dvd_mul_left a hb
  · rw [Nat.mul_comm a b]
    exact Nat.mul_dvd_mul_left b ha

theorem dvd_of_sq_dvd_sq (a b : Nat) (h : a * a ∣ b * b) : a ∣ b := by
  cases Nat.eq_zero_or_pos (Nat.gcd a b) with
  | inl hg =>
    rw [Nat.eq_zero_of_gcd_eq_zero_right hg]
    exact Nat.dvd_zero a
  | inr hg =>
    obtain ⟨x, hx⟩ := Nat.gcd_dvd_left a b
    obtain ⟨y, hy⟩ := Nat.gcd_dvd_right a b
    obtain hxy : Nat.gcd x y = 1
    · apply Nat.eq_of_mul_eq_mul_left hg
      rw [← Nat.gcd_mul_left, ← hx, ← hy, Nat.mul_one]
    obtain h1 : x * x ∣ y * y
    · apply Nat.dvd_of_mul_dvd_mul_left (Nat.mul_pos hg hg)
      rw [Nat.mul_mul_mul_comm, Nat.mul_mul_mul_comm _ _ y y, ← hx, ← hy]
      exact h
    obtain h2 : x ∣ y
    · have h3 : Nat.gcd (x * y) (y * y) = y := by rw [Nat.gcd_mul_right, hxy, Nat.one_mul]
      rw [← h3]
      apply Nat.dvd_gcd
      · exact Nat.dvd_mul_right x y
      · exact Nat.dvd_trans (Nat.dvd_mul_right x x) h1
    have h4 := Nat.mul_dvd_mul_left (Nat.gcd a b) h2
    rw [← hx, ← hy] at h4
    exact h4

theorem coprime_of_dvd_coprime (a b c d : Nat) (ha : a ∣ c) (hb : b ∣ d) (h : Nat.gcd c d = 1) : Nat.gcd a b = 1 := by
  apply Nat.eq_one_of_dvd_one
  rw [← h]
  apply Nat.dvd_gcd
  · exact Nat.dvd_trans (Nat.gcd_dvd_left a b) ha
  · exact Nat.dvd_trans (Nat.gcd_dvd_right a b) hb

theorem coprime_of_bezout (a b x y : Nat) (h : a * x = b * y + 1) : Nat.gcd a b = 1 := by
  apply Nat.eq_one_of_dvd_one
  obtain h1 : Nat.gcd a b ∣ b * y + 1
  · rw [← h]
    exact Nat.dvd_mul_right_of_dvd (Nat.gcd_dvd_left a b) x
  rw [Nat.dvd_add_right] at h1
  · exact h1
  · exact Nat.dvd_mul_right_of_dvd (Nat.gcd_dvd_right a b) y

theorem sqrt_two_irrational (a b : Nat) (h : a * a = 2 * (b * b)) : b = 0 := by
  induction a using Nat.strongRecOn generalizing b with
  | ind a ih =>
    obtain h1 : a % 2 = 0
    · have h2 := Nat.mul_mod a a 2
      cases Nat.mod_two_eq_zero_or_one a with
      | inl h3 => exact h3
      | inr h3 =>
        rw [h3] at h2
        omega
    obtain ⟨c, rfl⟩ := Nat.dvd_of_mod_eq_zero h1
    have h4 : b * b = 2 * (c * c) := by grind
    cases Nat.eq_zero_or_pos b with
    | inl hb => exact hb
    | inr hb =>
      obtain h5 : b < 2 * c
      · apply Nat.lt_of_not_le
        intro h6
        have h7 := Nat.mul_self_le_mul_self h6
        have h8 := Nat.mul_pos hb hb
        grind
      have hc := ih b h5 c h4
      subst hc
      omega

theorem sqrt_three_irrational (a b : Nat) (h : a * a = 3 * (b * b)) : b = 0 := by
  induction a using Nat.strongRecOn generalizing b with
  | ind a ih =>
    obtain h1 : a % 3 = 0
    · have h2 := Nat.mul_mod a a 3
      have h3 : a % 3 = 0 ∨ a % 3 = 1 ∨ a % 3 = 2 := by omega
      rcases h3 with h3 | h3 | h3
      · exact h3
      · rw [h3] at h2
        omega
      · rw [h3] at h2
        omega
    obtain ⟨c, rfl⟩ := Nat.dvd_of_mod_eq_zero h1
    have h4 : b * b = 3 * (c * c) := by grind
    cases Nat.eq_zero_or_pos b with
    | inl hb => exact hb
    | inr hb =>
      obtain h5 : b < 3 * c
      · apply Nat.lt_of_not_le
        intro h6
        have h7 := Nat.mul_self_le_mul_self h6
        have h8 := Nat.mul_pos hb hb
        grind
      have hc := ih b h5 c h4
      subst hc
      omega

theorem even_of_even_mul (a b : Nat) (h : 2 ∣ a * b) : 2 ∣ a ∨ 2 ∣ b := by
  have h1 := Nat.mul_mod a b 2
  rcases Nat.mod_two_eq_zero_or_one a with ha | ha
  · left
    exact Nat.dvd_of_mod_eq_zero ha
  · rw [ha, Nat.one_mul, Nat.mod_mod] at h1
    right
    omega

theorem odd_sq_mod_eight (n : Nat) (h : n % 2 = 1) : n * n % 8 = 1 := by
  have h1 : n % 8 = 1 ∨ n % 8 = 3 ∨ n % 8 = 5 ∨ n % 8 = 7 := by omega
  rw [Nat.mul_mod]
  rcases h1 with h1 | h1 | h1 | h1
  · rw [h1]
  · rw [h1]
  · rw [h1]
  · rw [h1]

theorem sq_mod_three_ne_two (n : Nat) : n ^ 2 % 3 ≠ 2 := by
  rw [Nat.pow_two, Nat.mul_mod]
  have h : n % 3 = 0 ∨ n % 3 = 1 ∨ n % 3 = 2 := by omega
  rcases h with h | h | h
  · rw [h]
    decide
  · rw [h]
    decide
  · rw [h]
    decide

theorem sum_two_squares_mod_four (a b : Nat) : (a * a + b * b) % 4 ≠ 3 := by
  have ha := Nat.mul_mod a a 4
  have hb := Nat.mul_mod b b 4
  obtain ⟨x, hx⟩ : ∃ x, a % 4 = x := ⟨a % 4, rfl⟩
  obtain ⟨y, hy⟩ : ∃ y, b % 4 = y := ⟨b % 4, rfl⟩
  have h1 : x = 0 ∨ x = 1 ∨ x = 2 ∨ x = 3 := by omega
  have h2 : y = 0 ∨ y = 1 ∨ y = 2 ∨ y = 3 := by omega
  rw [hx] at ha
  rw [hy] at hb
  rcases h1 with rfl | rfl | rfl | rfl <;> rcases h2 with rfl | rfl | rfl | rfl <;> omega

theorem sq_mod_five_cases (n : Nat) : n * n % 5 = 0 ∨ n * n % 5 = 1 ∨ n * n % 5 = 4 := by
  rw [Nat.mul_mod]
  have h : n % 5 = 0 ∨ n % 5 = 1 ∨ n % 5 = 2 ∨ n % 5 = 3 ∨ n % 5 = 4 := by omega
  rcases h with h | h | h | h | h <;> rw [h]
  all_goals decide

theorem not_three_dvd_sq_add_one (n : Nat) : ¬3 ∣ n ^ 2 + 1 := by
  intro h
  rw [Nat.pow_two] at h
  have h1 := Nat.mul_mod n n 3
  have h2 : n % 3 = 0 ∨ n % 3 = 1 ∨ n % 3 = 2 := by omega
  rcases h2 with h2 | h2 | h2 <;> rw [h2] at h1 <;> omega

theorem twentyfour_dvd_sq_sub_one (n : Nat) (h : n % 6 = 1 ∨ n % 6 = 5) : 24 ∣ n * n - 1 := by
  have h1 : ∃ k, n = 6 * k + 1 ∨ n = 6 * k + 5 := ⟨n / 6, by omega⟩
  obtain ⟨k, h2⟩ := h1
  have h3 : k * (k + 1) % 2 = 0 := by rw [Nat.mul_mod]; rcases Nat.mod_two_eq_zero_or_one k with hk | hk <;> grind
  rcases h2 with rfl | rfl
  · have h4 : (6 * k + 1) * (6 * k + 1) = 24 * (k * k) + 12 * (k * (k + 1)) + 1 := by grind
    omega
  · have h4 : (6 * k + 5) * (6 * k + 5) = 24 * (k * k + 2 * k + 1) + 12 * (k * (k + 1)) + 1 := by grind
    omega

theorem six_dvd_three_consecutive (n : Nat) : 6 ∣ n * (n + 1) * (n + 2) := by
  obtain h2 : n * (n + 1) * (n + 2) % 2 = 0
  · rw [Nat.mul_mod, Nat.mul_mod n]
    rcases Nat.mod_two_eq_zero_or_one n with h | h <;> simp [Nat.add_mod, h]
  obtain h3 : n * (n + 1) * (n + 2) % 3 = 0
  · rw [Nat.mul_mod, Nat.mul_mod n]
    have h : n % 3 = 0 ∨ n % 3 = 1 ∨ n % 3 = 2 := by omega
    rcases h with h | h | h <;> simp [Nat.add_mod, h]
  omega

theorem five_dvd_pow_five_add_four_mul (n : Nat) : 5 ∣ n ^ 5 + 4 * n := by
  have h1 := Nat.mul_mod (n ^ 2) (n ^ 2) 5
  have h2 := Nat.mul_mod (n ^ 4) n 5
  have h3 := Nat.mul_mod n n 5
  rw [← Nat.pow_two] at h3
  rw [← Nat.pow_add] at h1
  rw [← Nat.pow_succ] at h2
  have h : n % 5 = 0 ∨ n % 5 = 1 ∨ n % 5 = 2 ∨ n % 5 = 3 ∨ n % 5 = 4 := by omega
  rcases h with h | h | h | h | h <;> rw [h] at h3 <;> rw [h3] at h1 <;> rw [h1, h] at h2 <;> omega

theorem sub_dvd_pow_sub_pow (a b n : Nat) (h : b ≤ a) : a - b ∣ a ^ n - b ^ n := by
  obtain ⟨d, rfl⟩ := Nat.exists_eq_add_of_le h
  rw [Nat.add_sub_cancel_left]
  obtain ⟨k, hk⟩ : ∃ k, (b + d) ^ n = b ^ n + d * k
  · induction n with
    | zero => exact ⟨0, rfl⟩
    | succ n ih =>
      obtain ⟨k, hk⟩ := ih
      exact ⟨k * (b + d) + b ^ n, by rw [Nat.pow_succ, Nat.pow_succ, hk]; grind⟩
  rw [hk, Nat.add_sub_cancel_left]
  exact Nat.dvd_mul_right d k

theorem add_dvd_odd_pow_add_pow (a b n : Nat) : a + b ∣ a ^ (2 * n + 1) + b ^ (2 * n + 1) := by
  induction n with
  | zero => simp
  | succ n ih =>
    have ha : a ^ (2 * n + 3) = a ^ (2 * n + 1) * a * a := by rw [Nat.pow_succ, Nat.pow_succ]
    have hb : b ^ (2 * n + 3) = b ^ (2 * n + 1) * b * b := by rw [Nat.pow_succ, Nat.pow_succ]
    show a + b ∣ a ^ (2 * n + 3) + b ^ (2 * n + 3)
    rw [Nat.dvd_add_iff_left (Nat.dvd_mul_left_of_dvd ih (a * b))]
    exists a ^ (2 * n + 1) * a + b ^ (2 * n + 1) * b
    rw [ha, hb]
    grind

theorem sixtyfour_dvd_nine_pow (n : Nat) : 64 ∣ 3 ^ (2 * n + 2) - 8 * n - 9 := by
  obtain ⟨k, hk⟩ : ∃ k, 3 ^ (2 * n + 2) = 64 * k + 8 * n + 9
  · induction n with
    | zero => exact ⟨0, rfl⟩
    | succ n ih =>
      obtain ⟨k, hk⟩ := ih
      have h : 3 ^ (2 * (n + 1) + 2) = 3 ^ (2 * n + 2) * 9 := Nat.pow_add 3 (2 * n + 2) 2
      exact ⟨9 * k + n + 1, by omega⟩
  omega

theorem seventeen_dvd_mixed_powers (n : Nat) : 17 ∣ 3 * 5 ^ (2 * n + 1) + 2 ^ (3 * n + 1) := by
  induction n with
  | zero => exact ⟨1, rfl⟩
  | succ n ih =>
    obtain ⟨k, hk⟩ := ih
    have h5 : 5 ^ (2 * (n + 1) + 1) = 5 ^ (2 * n + 1) * 25 := Nat.pow_add 5 (2 * n + 1) 2
    have h2 : 2 ^ (3 * (n + 1) + 1) = 2 ^ (3 * n + 1) * 8 := Nat.pow_add 2 (3 * n + 1) 3
    omega

theorem dvd_133_mixed_powers (n : Nat) : 133 ∣ 11 ^ (n + 2) + 12 ^ (2 * n + 1) := by
  induction n with
  | zero => exact ⟨1, rfl⟩
  | succ n ih =>
    obtain ⟨k, hk⟩ := ih
    have h5 : 11 ^ (n + 1 + 2) = 11 ^ (n + 2) * 11 := Nat.pow_succ
    have h2 : 12 ^ (2 * (n + 1) + 1) = 12 ^ (2 * n + 1) * 144 := Nat.pow_add 12 (2 * n + 1) 2
    omega

theorem three_squares_mod_eight_ne_seven (a b c : Nat) : (a * a + b * b + c * c) % 8 ≠ 7 := by
  obtain h : ∀ n : Nat, n * n % 8 = 0 ∨ n * n % 8 = 1 ∨ n * n % 8 = 4
  · intro n
    have h1 := Nat.mul_mod n n 8
    have h2 : n % 8 = 0 ∨ n % 8 = 1 ∨ n % 8 = 2 ∨ n % 8 = 3 ∨ n % 8 = 4 ∨ n % 8 = 5 ∨ n % 8 = 6 ∨ n % 8 = 7 := by omega
    rcases h2 with h2 | h2 | h2 | h2 | h2 | h2 | h2 | h2 <;> rw [h2] at h1 <;> omega
  have h1 := h a
  have h2 := h b
  have h3 := h c
  omega

theorem four_mul_le_add_sq (a b : Nat) : 4 * a * b ≤ (a + b) ^ 2 := by
  rcases Nat.le_total a b with h | h
  · obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h
    grind
  · obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h
    grind

theorem two_mul_le_sq_add_sq (a b : Nat) : 2 * (a * b) ≤ a * a + b * b := by
  rcases Nat.le_total a b with h | h
  · obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h
    grind
  · obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h
    grind

theorem rearrangement_two (a b c d : Nat) (h : a ≤ b) (h1 : c ≤ d) : a * d + b * c ≤ a * c + b * d := by
  obtain ⟨x, rfl⟩ := Nat.exists_eq_add_of_le h
  obtain ⟨y, rfl⟩ := Nat.exists_eq_add_of_le h1
  rw [Nat.mul_add, Nat.add_mul, Nat.add_mul, Nat.mul_add, Nat.mul_add]
  omega

theorem sum_products_le_sum_squares (a b c : Nat) : a * b + b * c + c * a ≤ a * a + b * b + c * c := by
  have h : ∀ x y : Nat, 2 * (x * y) ≤ x * x + y * y := ?_
  · have h1 := h a b
    have h2 := h b c
    have h3 := h c a
    omega
  · intro x y
    rcases Nat.le_total x y with h | h
    · obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h
      grind
    · obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h
      grind

theorem cauchy_schwarz_two (a b c d : Nat) : (a * c + b * d) ^ 2 ≤ (a * a + b * b) * (c * c + d * d) := by
  obtain h : 2 * ((a * d) * (b * c)) ≤ (a * d) * (a * d) + (b * c) * (b * c)
  · generalize a * d = x
    generalize b * c = y
    rcases Nat.le_total x y with h | h
    · obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h
      grind
    · obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h
      grind
  rw [Nat.mul_mul_mul_comm a d a d, Nat.mul_mul_mul_comm b c b c] at h
  have h1 : a * c * (b * d) = a * d * (b * c) := by ac_rfl
  rw [Nat.pow_two, Nat.add_mul, Nat.mul_add, Nat.mul_add, Nat.mul_comm (b * d) (a * c), h1]
  rw [Nat.add_mul, Nat.mul_add, Nat.mul_add, Nat.mul_mul_mul_comm a c a c, Nat.mul_mul_mul_comm b d b d]
  omega

theorem bernoulli_inequality (x n : Nat) : 1 + n * x ≤ (1 + x) ^ n := by
  induction n with
  | zero => simp
  | succ n ih =>
    rw [Nat.pow_succ, Nat.mul_add, Nat.mul_one]
    have h : x ≤ (1 + x) ^ n * x := Nat.le_mul_of_pos_left x (Nat.pow_pos (by omega))
    rw [Nat.add_one_mul]
    omega

theorem sq_le_two_pow (n : Nat) (h : 4 ≤ n) : n ^ 2 ≤ 2 ^ n := by
  obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h
  induction k with
  | zero => decide
  | succ k ih =>
    have h1 := ih (by omega)
    rw [← Nat.add_assoc, @Nat.pow_succ 2]
    have h2 : (4 + k + 1) ^ 2 = (4 + k) ^ 2 + 2 * (4 + k) + 1 := by grind
    have h3 : 2 * (4 + k) + 1 ≤ (4 + k) ^ 2 := by grind
    omega

theorem cube_le_two_pow (n : Nat) (h : 10 ≤ n) : n * n * n ≤ 2 ^ n := by
  induction n with
  | zero => omega
  | succ m ih =>
    rcases Nat.eq_or_lt_of_le h with h1 | h1
    · rw [← h1]
      decide
    · have h2 : 10 ≤ m := by omega
      have h3 := ih h2
      have h4 : 10 * m ≤ m * m := Nat.mul_le_mul_right m h2
      have h5 : m * m * 10 ≤ m * m * m := Nat.mul_le_mul_left (m * m) h2
      rw [Nat.pow_succ]
      have h6 : (m + 1) * (m + 1) * (m + 1) = m * m * m + 3 * (m * m) + 3 * m + 1 := by grind
      omega

theorem two_pow_lt_factorial (f : Nat → Nat) (h0 : f 0 = 1) (hs : ∀ n : Nat, f (n + 1) = (n + 1) * f n) (n : Nat) (h : 4 ≤ n) : 2 ^ n < f n := by
  obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h
  induction k with
  | zero => simp [hs, h0]
  | succ k ih =>
    have h1 := ih (by omega)
    rw [← Nat.add_assoc, hs, Nat.pow_succ']
    have h2 : 2 * 2 ^ (4 + k) < 2 * f (4 + k) := Nat.mul_lt_mul_of_pos_left h1 (by decide)
    apply Nat.lt_of_lt_of_le h2
    apply Nat.mul_le_mul_right
    omega

theorem factorial_le_pow_self (f : Nat → Nat) (h0 : f 0 = 1) (hs : ∀ n : Nat, f (n + 1) = (n + 1) * f n) (n : Nat) : f n ≤ n ^ n := by
  induction n with
  | zero => rw [h0, Nat.pow_zero]
  | succ n ih =>
    rw [hs, Nat.pow_succ']
    apply Nat.mul_le_mul_left
    apply Nat.le_trans ih
    apply Nat.pow_le_pow_left
    exact Nat.le_succ n

theorem pow_sum_le_two_pow (a b n : Nat) : (a + b) ^ n ≤ 2 ^ n * (a ^ n + b ^ n) := by
  rcases Nat.le_total a b with h | h
  · apply Nat.le_trans (Nat.pow_le_pow_left (show a + b ≤ 2 * b by omega) n)
    rw [Nat.mul_pow]
    apply Nat.mul_le_mul_left
    exact Nat.le_add_left _ _
  · apply Nat.le_trans (Nat.pow_le_pow_left (show a + b ≤ 2 * a by omega) n)
    rw [Nat.mul_pow]
    apply Nat.mul_le_mul_left
    exact Nat.le_add_right _ _

theorem pow_add_pow_le_add_pow (a b n : Nat) (h : 0 < n) : a ^ n + b ^ n ≤ (a + b) ^ n := by
  obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h
  rw [Nat.add_comm 1 k, Nat.pow_succ, Nat.pow_succ, Nat.pow_succ, Nat.mul_add]
  apply Nat.add_le_add
  · apply Nat.mul_le_mul_right
    apply Nat.pow_le_pow_left
    exact Nat.le_add_right a b
  · apply Nat.mul_le_mul_right
    apply Nat.pow_le_pow_left
    exact Nat.le_add_left b a

theorem exists_nat_sqrt (n : Nat) : ∃ s : Nat, s * s ≤ n ∧ n < (s + 1) * (s + 1) := by
  induction n with
  | zero => exact ⟨0, by decide, by decide⟩
  | succ n ih =>
    obtain ⟨s, h1, h2⟩ := ih
    cases Nat.lt_or_ge (n + 1) ((s + 1) * (s + 1)) with
    | inl h3 => exact ⟨s, by omega, h3⟩
    | inr h3 =>
      refine ⟨s + 1, h3, ?_⟩
      grind

theorem nat_sqrt_unique (n s t : Nat) (h : s * s ≤ n) (h1 : n < (s + 1) * (s + 1)) (h2 : t * t ≤ n) (h3 : n < (t + 1) * (t + 1)) : s = t := by
  apply Nat.le_antisymm
  · apply Nat.le_of_lt_succ
    apply Nat.lt_of_not_le
    intro h4
    have h5 := Nat.mul_self_le_mul_self h4
    exact absurd (Nat.lt_of_lt_of_le h3 (Nat.le_trans h5 h)) (Nat.lt_irrefl n)
  · apply Nat.le_of_lt_succ
    apply Nat.lt_of_not_le
    intro h4
    have h5 := Nat.mul_self_le_mul_self h4
    exact absurd (Nat.lt_of_lt_of_le h1 (Nat.le_trans h5 h2)) (Nat.lt_irrefl n)

theorem exists_log_base (b n : Nat) (hb : 1 < b) (hn : 0 < n) : ∃ k : Nat, b ^ k ≤ n ∧ n < b ^ (k + 1) := by
  induction n with
  | zero => omega
  | succ n ih =>
    cases Nat.eq_zero_or_pos n with
    | inl h =>
      subst h
      exact ⟨0, by simp, by simp; exact hb⟩
    | inr h =>
      obtain ⟨k, h1, h2⟩ := ih h
      cases Nat.lt_or_ge (n + 1) (b ^ (k + 1)) with
      | inl h3 => exact ⟨k, by omega, h3⟩
      | inr h3 =>
        refine ⟨k + 1, h3, ?_⟩
        have h4 : b ^ (k + 1) < b ^ (k + 1 + 1) := Nat.pow_lt_pow_right hb (by omega)
        omega

theorem exists_quotient_remainder (a b : Nat) (h : 0 < b) : ∃ q r : Nat, a = b * q + r ∧ r < b := by
  induction a with
  | zero => exact ⟨0, 0, rfl, h⟩
  | succ a ih =>
    obtain ⟨q, r, h1, h2⟩ := ih
    by_cases h3 : r + 1 < b
    · exact ⟨q, r + 1, by omega, h3⟩
    · exact ⟨q + 1, 0, by rw [Nat.mul_add_one]; omega, h⟩

theorem quotient_unique (b q r s t : Nat) (h : b * q + r = b * s + t) (h1 : r < b) (h2 : t < b) : q = s ∧ r = t := by
  have h3 : (b * q + r) % b = (b * s + t) % b := by rw [h]
  rw [Nat.add_comm, Nat.add_mul_mod_self_left, Nat.add_comm (b * s), Nat.add_mul_mod_self_left] at h3
  rw [Nat.mod_eq_of_lt h1, Nat.mod_eq_of_lt h2] at h3
  refine ⟨?_, h3⟩
  apply Nat.eq_of_mul_eq_mul_left (Nat.lt_of_le_of_lt (Nat.zero_le r) h1)
  omega

theorem no_infinite_descent (f : Nat → Nat) (h : ∀ n : Nat, f (n + 1) < f n) : False := by
  have h1 : ∀ n : Nat, f n + n ≤ f 0 := ?_
  · have h2 := h1 (f 0 + 1)
    omega
  · intro n
    induction n with
    | zero => exact Nat.le_refl (f 0)
    | succ n ih =>
      have h2 := h n
      omega

theorem least_number_principle (P : Nat → Prop) (n : Nat) (h : P n) : ∃ m : Nat, P m ∧ ∀ k : Nat, P k → m ≤ k := by
  induction n using Nat.strongRecOn with
  | ind n ih =>
    by_cases h1 : ∃ k : Nat, k < n ∧ P k
    · obtain ⟨k, h2, h3⟩ := h1
      exact ih k h2 h3
    · refine ⟨n, h, ?_⟩
      intro k h2
      apply Nat.le_of_not_lt
      intro h3
      exact h1 ⟨k, h3, h2⟩

theorem eq_id_of_involution_monotone (f : Nat → Nat) (h : ∀ n : Nat, f (f n) = n) (h1 : ∀ m n : Nat, m ≤ n → f m ≤ f n) (n : Nat) : f n = n := by
  apply Nat.le_antisymm
  · apply Nat.le_of_not_lt
    intro h2
    have h3 := h1 n (f n) (Nat.le_of_lt h2)
    rw [h] at h3
    omega
  · apply Nat.le_of_not_lt
    intro h2
    have h3 := h1 (f n) n (Nat.le_of_lt h2)
    rw [h] at h3
    omega

theorem imo_1977 (f : Nat → Nat) (h : ∀ n : Nat, f (f n) < f (n + 1)) (n : Nat) : f n = n := by
  obtain h1 : ∀ n m : Nat, n ≤ m → n ≤ f m
  · intro n
    induction n with
    | zero =>
      intro m hm
      exact Nat.zero_le (f m)
    | succ n ih =>
      intro m hm
      cases m with
      | zero => omega
      | succ m =>
        have h2 := ih (f m) (ih m (by omega))
        have h3 := h m
        omega
  obtain h2 : ∀ a k : Nat, f a ≤ f (a + k)
  · intro a k
    induction k with
    | zero => exact Nat.le_refl (f a)
    | succ k ih =>
      have h3 := h (a + k)
      have h4 := h1 (f (a + k)) (f (a + k)) (Nat.le_refl _)
      exact Nat.le_trans ih (Nat.le_trans h4 (Nat.le_of_lt h3))
  apply Nat.le_antisymm
  · apply Nat.le_of_not_lt
    intro h3
    obtain ⟨k, hk⟩ := Nat.exists_eq_add_of_le (Nat.succ_le_of_lt h3)
    have h4 := h n
    rw [hk] at h4
    have h5 := h2 (n + 1) k
    omega
  · exact h1 n n (Nat.le_refl n)

theorem fib_addition (f : Nat → Nat) (h0 : f 0 = 0) (h1 : f 1 = 1) (h : ∀ n, f (n + 2) = f n + f (n + 1)) (m n : Nat) : f (m + n + 1) = f m * f n + f (m + 1) * f (n + 1) := by
  induction n generalizing m with
  | zero =>
    rw [h0, h1]
    simp
  | succ n ih =>
    have h2 := ih (m + 1)
    have h3 := h m
    have h4 := h n
    rw [Nat.add_right_comm m 1 n] at h2
    show f (m + n + 1 + 1) = f m * f (n + 1) + f (m + 1) * f (n + 2)
    rw [h2, h4]
    grind

theorem fib_dvd_fib_mul (f : Nat → Nat) (h0 : f 0 = 0) (h : ∀ m n : Nat, f (m + n + 1) = f m * f n + f (m + 1) * f (n + 1)) (m n : Nat) : f m ∣ f (m * n) := by
  induction n with
  | zero =>
    rw [Nat.mul_zero, h0]
    exact Nat.dvd_zero (f m)
  | succ n ih =>
    cases m with
    | zero => exact Nat.dvd_of_mod_eq_zero (by simp)
    | succ k =>
      rw [Nat.mul_add_one, ← Nat.add_assoc, h]
      apply Nat.dvd_add
      · exact Nat.dvd_mul_right_of_dvd ih (f k)
      · exact Nat.dvd_mul_left (f (k + 1)) _

theorem cassini_identity (f : Nat → Nat) (h0 : f 0 = 0) (h1 : f 1 = 1) (h : ∀ n : Nat, f (n + 2) = f n + f (n + 1)) (n : Nat) : f (2 * n) * f (2 * n + 2) + 1 = f (2 * n + 1) ^ 2 := by
  induction n with
  | zero => simp [h0, h1]
  | succ n ih =>
    have h2 := h (2 * n)
    have h3 := h (2 * n + 1)
    have h4 := h (2 * n + 2)
    rw [Nat.mul_add_one]
    rw [h4, h3, h2]
    rw [h2] at ih
    grind

theorem fib_sum (f s : Nat → Nat) (h1 : f 1 = 1) (h : ∀ n : Nat, f (n + 2) = f n + f (n + 1)) (h2 : s 0 = 0) (hs : ∀ n : Nat, s (n + 1) = s n + f n) (n : Nat) : s n = f (n + 1) - 1 := by
  have h3 : s n + 1 = f (n + 1) := ?_
  · omega
  · induction n with
    | zero => rw [h2, h1]
    | succ n ih =>
      rw [hs, h n, ← ih]
      omega

theorem two_dvd_fib_three_mul (f : Nat → Nat) (h0 : f 0 = 0) (h : ∀ n : Nat, f (n + 2) = f n + f (n + 1)) (n : Nat) : 2 ∣ f (3 * n) := by
  induction n with
  | zero =>
    rw [Nat.mul_zero, h0]
    exact Nat.dvd_zero 2
  | succ n ih =>
    rw [Nat.mul_add_one]
    have h1 := h (3 * n)
    have h2 := h (3 * n + 1)
    rw [h2, h1]
    omega

theorem three_dvd_fib_four_mul (f : Nat → Nat) (h0 : f 0 = 0) (h : ∀ n : Nat, f (n + 2) = f n + f (n + 1)) (n : Nat) : 3 ∣ f (4 * n) := by
  induction n with
  | zero =>
    rw [Nat.mul_zero, h0]
    exact Nat.dvd_zero 3
  | succ n ih =>
    have h1 := h (4 * n)
    have h2 := h (4 * n + 1)
    have h3 := h (4 * n + 2)
    rw [Nat.mul_add_one]
    omega

theorem fib_lt_two_pow (f : Nat → Nat) (h0 : f 0 = 0) (h1 : f 1 = 1) (h : ∀ n : Nat, f (n + 2) = f n + f (n + 1)) (n : Nat) : f n < 2 ^ n := by
  have h2 : f n < 2 ^ n ∧ f (n + 1) < 2 ^ (n + 1) := ?_
  · exact h2.left
  · induction n with
    | zero => simp [h0, h1]
    | succ n ih =>
      obtain ⟨h2, h3⟩ := ih
      refine ⟨h3, ?_⟩
      rw [h, Nat.pow_succ]
      rw [Nat.pow_succ] at h3
      omega

theorem geometric_sum (s : Nat → Nat) (x : Nat) (h0 : s 0 = 0) (hs : ∀ n, s (n + 1) = s n + x ^ n) (n : Nat) : (x - 1) * s n = x ^ n - 1 := by
  cases x with
  | zero =>
    cases n with
    | zero => simp
    | succ n => simp [Nat.pow_succ]
  | succ y =>
    obtain h : y * s n + 1 = (y + 1) ^ n
    · induction n with
      | zero => simp [h0]
      | succ n ih =>
        rw [hs, Nat.pow_succ, ← ih, Nat.mul_add]
        grind
    rw [← h]
    simp

theorem sum_mul_factorial (f s : Nat → Nat) (h0 : f 0 = 1) (hf : ∀ n, f (n + 1) = (n + 1) * f n) (h1 : s 0 = 0) (hs : ∀ n, s (n + 1) = s n + n * f n) (n : Nat) : s (n + 1) = f (n + 1) - 1 := by
  obtain h : s (n + 1) + 1 = f (n + 1)
  · induction n with
    | zero => simp [hs, h1, hf, h0]
    | succ n ih =>
      rw [hs, hf (n + 1), ← ih]
      rw [Nat.add_one_mul (n + 1)]
      omega
  omega

theorem nicomachus (t c : Nat → Nat) (h0 : t 0 = 0) (ht : ∀ n, t (n + 1) = t n + (n + 1)) (h1 : c 0 = 0) (hc : ∀ n, c (n + 1) = c n + (n + 1) ^ 3) (n : Nat) : c n = t n ^ 2 := by
  obtain h : ∀ k : Nat, 2 * t k = k * (k + 1)
  · intro k
    induction k with
    | zero => simp [h0]
    | succ k ih =>
      rw [ht]
      grind
  induction n with
  | zero => simp [h0, h1]
  | succ n ih =>
    rw [hc, ih, ht]
    have h2 : (t n + (n + 1)) ^ 2 = t n ^ 2 + 2 * t n * (n + 1) + (n + 1) * (n + 1) := by grind
    rw [h2, h]
    grind

theorem sum_of_two_triangulars (t : Nat → Nat) (h0 : t 0 = 0) (ht : ∀ n : Nat, t (n + 1) = t n + (n + 1)) (m n : Nat) : t (m + n) = t m + t n + m * n := by
  induction n with
  | zero => simp [h0]
  | succ n ih =>
    rw [← Nat.add_assoc, ht, ih, ht]
    grind

theorem sum_reverse (S : (Nat → Nat) → Nat → Nat) (h0 : ∀ f, S f 0 = 0) (hs : ∀ f n, S f (n + 1) = S f n + f n) (f : Nat → Nat) (n : Nat) : S (fun i => f (n - 1 - i)) n = S f n := by
  obtain hp : ∀ (n : Nat) (f : Nat → Nat), S f (n + 1) = f 0 + S (fun i => f (i + 1)) n
  · intro n f
    induction n with
    | zero => simp [h0, hs]
    | succ n ih => rw [hs, ih, hs, Nat.add_assoc]
  induction n with
  | zero => rw [h0, h0]
  | succ n ih =>
    rw [hp, hs, ← ih, Nat.add_comm]
    have h1 : (fun i => f (n + 1 - 1 - (i + 1))) = fun i => f (n - 1 - i) := by funext i; congr 1; omega
    rw [h1]
    rfl

theorem sum_exchange (S : (Nat → Nat) → Nat → Nat) (h0 : ∀ f, S f 0 = 0) (hs : ∀ f n, S f (n + 1) = S f n + f n) (g : Nat → Nat → Nat) (m n : Nat) : S (fun i => S (g i) m) n = S (fun j => S (fun i => g i j) n) m := by
  obtain hl : ∀ (a b : Nat → Nat) (n : Nat), S (fun i => a i + b i) n = S a n + S b n
  · intro a b n
    induction n with
    | zero => rw [h0, h0, h0]
    | succ n ih => rw [hs, hs, hs, ih, Nat.add_add_add_comm]
  induction m with
  | zero =>
    rw [h0]
    induction n with
    | zero => rw [h0]
    | succ n ih => rw [hs, ih, h0]
  | succ m ih =>
    rw [hs, ← ih, ← hl]
    congr
    funext i
    exact hs (g i) m

theorem sum_telescope (s f : Nat → Nat) (h0 : s 0 = 0) (hs : ∀ n, s (n + 1) = s n + (f (n + 1) - f n)) (h : ∀ m n, m ≤ n → f m ≤ f n) (n : Nat) : s n = f n - f 0 := by
  induction n with
  | zero => rw [h0, Nat.sub_self]
  | succ n ih =>
    have h1 := h 0 n (Nat.zero_le n)
    have h2 := h n (n + 1) (Nat.le_succ n)
    rw [hs, ih]
    omega

theorem sum_le_mul_max (s f : Nat → Nat) (b : Nat) (h0 : s 0 = 0) (hs : ∀ n, s (n + 1) = s n + f n) (n : Nat) (h : ∀ i, i < n → f i ≤ b) : s n ≤ n * b := by
  induction n with
  | zero =>
    rw [h0, Nat.zero_mul]
  | succ n ih =>
    rw [hs, Nat.add_one_mul]
    apply Nat.add_le_add
    · apply ih
      intro i hi
      exact h i (Nat.lt_succ_of_lt hi)
    · exact h n (Nat.lt_succ_self n)

theorem sum_eq_zero_iff (s f : Nat → Nat) (h0 : s 0 = 0) (hs : ∀ n, s (n + 1) = s n + f n) (n : Nat) : s n = 0 ↔ ∀ i, i < n → f i = 0 := by
  induction n with
  | zero =>
    rw [h0]
    simp
  | succ n ih =>
    rw [hs, Nat.add_eq_zero_iff, ih]
    constructor
    · intro ⟨h1, h2⟩ i hi
      cases Nat.lt_or_eq_of_le (Nat.le_of_lt_succ hi) with
      | inl h3 => exact h1 i h3
      | inr h3 =>
        rw [h3]
        exact h2
    · intro h1
      exact ⟨fun i hi => h1 i (Nat.lt_succ_of_lt hi), h1 n (Nat.lt_succ_self n)⟩

theorem sum_dvd (s f : Nat → Nat) (d : Nat) (h0 : s 0 = 0) (hs : ∀ n, s (n + 1) = s n + f n) (n : Nat) (h : ∀ i, i < n → d ∣ f i) : d ∣ s n := by
  induction n with
  | zero =>
    rw [h0]
    exact Nat.dvd_zero d
  | succ n ih =>
    rw [hs]
    apply Nat.dvd_add
    · apply ih
      intro i hi
      exact h i (Nat.lt_succ_of_lt hi)
    · exact h n (Nat.lt_succ_self n)

theorem sum_split (s t f : Nat → Nat) (m : Nat) (h0 : t 0 = 0) (hs : ∀ n, s (n + 1) = s n + f n) (ht : ∀ n, t (n + 1) = t n + f (m + n)) (n : Nat) (h : m ≤ n) : s n = s m + t (n - m) := by
  obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h
  rw [Nat.add_sub_cancel_left]
  induction k with
  | zero => rw [h0, Nat.add_zero, Nat.add_zero]
  | succ k ih =>
    rw [← Nat.add_assoc, hs, ih (Nat.le_add_right m k), ht, Nat.add_assoc]

theorem sum_congruence_mod (s t f g : Nat → Nat) (m : Nat) (h : s 0 = t 0) (hs : ∀ n, s (n + 1) = s n + f n) (ht : ∀ n, t (n + 1) = t n + g n) (hf : ∀ n, f n % m = g n % m) (n : Nat) : s n % m = t n % m := by
  induction n with
  | zero => rw [h]
  | succ n ih =>
    rw [hs, ht]
    rw [Nat.add_mod, ih]
    rw [hf, ← Nat.add_mod]

theorem dvd_factorial (f : Nat → Nat) (hs : ∀ n, f (n + 1) = (n + 1) * f n) (k n : Nat) (h0 : 0 < k) (h : k ≤ n) : k ∣ f n := by
  induction n with
  | zero => omega
  | succ n ih =>
    rw [hs]
    cases Nat.lt_or_eq_of_le h with
    | inl h1 =>
      apply Nat.dvd_mul_left_of_dvd
      exact ih (Nat.le_of_lt_succ h1)
    | inr h1 =>
      rw [h1]
      exact Nat.dvd_mul_right (n + 1) (f n)

theorem factorial_dvd_factorial (f : Nat → Nat) (hs : ∀ n, f (n + 1) = (n + 1) * f n) (m n : Nat) (h : m ≤ n) : f m ∣ f n := by
  obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h
  induction k with
  | zero => exact Nat.dvd_refl (f m)
  | succ k ih =>
    rw [← Nat.add_assoc, hs]
    apply Nat.dvd_mul_left_of_dvd
    exact ih (Nat.le_add_right m k)

theorem double_factorial_split (f g : Nat → Nat) (h0 : f 0 = 1) (hf : ∀ n, f (n + 1) = (n + 1) * f n) (h1 : g 0 = 1) (hg : ∀ n, g (n + 1) = (2 * n + 1) * g n) (n : Nat) : f (2 * n) = 2 ^ n * f n * g n := by
  induction n with
  | zero => simp [h0, h1]
  | succ n ih =>
    rw [Nat.mul_add_one, hf (2 * n + 1), hf (2 * n), ih, hf n, hg, Nat.pow_succ]
    have h2 : 2 * n + 1 + 1 = 2 * (n + 1) := rfl
    rw [h2]
    ac_rfl

theorem pow_le_factorial_mul (f : Nat → Nat) (h0 : f 0 = 1) (hf : ∀ n, f (n + 1) = (n + 1) * f n) (m n : Nat) : f m * m ^ n ≤ f (m + n) := by
  induction n with
  | zero => rw [Nat.pow_zero, Nat.mul_one, Nat.add_zero]
  | succ n ih =>
    rw [Nat.pow_succ, ← Nat.add_assoc, hf, ← Nat.mul_assoc, Nat.mul_comm]
    apply Nat.mul_le_mul
    · omega
    · exact ih

theorem infinitely_many_primes (P : Nat → Prop) (f : Nat → Nat) (hf : ∀ k n, 0 < k → k ≤ n → k ∣ f n) (hpos : ∀ n, 0 < f n) (h : ∀ m, 1 < m → ∃ p, P p ∧ 1 < p ∧ p ∣ m) (n : Nat) : ∃ p, P p ∧ n < p := by
  have h1 := hpos n
  obtain ⟨p, h2, h3, h4⟩ := h (f n + 1) (by omega)
  refine ⟨p, h2, ?_⟩
  apply Nat.lt_of_not_le
  intro h5
  have h6 := hf p n (by omega) h5
  rw [Nat.dvd_add_right h6] at h4
  have h7 := Nat.eq_one_of_dvd_one h4
  omega

theorem pow_congruence (a b m n : Nat) (h : a % m = b % m) : a ^ n % m = b ^ n % m := by
  induction n with
  | zero => rfl
  | succ n ih =>
    rw [Nat.pow_succ, Nat.pow_succ]
    rw [Nat.mul_mod, ih, h]
    rw [← Nat.mul_mod]

theorem congruence_iff_dvd_sub (a b m : Nat) (h : b ≤ a) : a % m = b % m ↔ m ∣ a - b := by
  constructor
  · intro h1
    have ha := Nat.div_add_mod a m
    have hb := Nat.div_add_mod b m
    rw [h1] at ha
    exists a / m - b / m
    rw [Nat.mul_sub]
    omega
  · intro ⟨k, hk⟩
    have h1 : a = b + m * k := by omega
    rw [h1, Nat.add_mul_mod_self_left]

theorem congruence_cancel_coprime (a b c m : Nat) (h : Nat.gcd m c = 1) (h1 : b ≤ a) (h2 : m ∣ c * a - c * b) : m ∣ a - b := by
  rw [← Nat.mul_sub] at h2
  have h3 : Nat.gcd (m * (a - b)) (c * (a - b)) = a - b := by rw [Nat.gcd_mul_right, h, Nat.one_mul]
  rw [← h3]
  apply Nat.dvd_gcd
  · exact Nat.dvd_mul_right m (a - b)
  · exact h2

theorem add_congruence_cancel (a b c m : Nat) (h : (a + c) % m = (b + c) % m) : a % m = b % m := by
  cases Nat.eq_zero_or_pos m with
  | inl hm =>
    rw [hm, Nat.mod_zero, Nat.mod_zero] at h
    rw [Nat.add_right_cancel h]
  | inr hm =>
    have h1 : c ≤ m * c := Nat.le_mul_of_pos_left c hm
    rw [← Nat.add_mul_mod_self_left a m c, ← Nat.add_mul_mod_self_left b m c]
    have h2 : m * c = c + (m * c - c) := by omega
    rw [h2, ← Nat.add_assoc, ← Nat.add_assoc, Nat.add_mod, h, ← Nat.add_mod]

theorem two_pow_mod_three (n : Nat) : 2 ^ n % 3 = n % 2 + 1 := by
  induction n with
  | zero => rfl
  | succ n ih =>
    rw [Nat.pow_succ]
    rcases Nat.mod_two_eq_zero_or_one n with h | h
    · rw [h] at ih
      omega
    · rw [h] at ih
      omega

theorem pow_even_sub_one_mod (m n : Nat) (h : 1 < m) : (m - 1) ^ (2 * n) % m = 1 := by
  induction n with
  | zero => exact Nat.mod_eq_of_lt h
  | succ n ih =>
    obtain ⟨k, rfl⟩ : ∃ k, m = k + 2 := ⟨m - 2, by omega⟩
    rw [Nat.mul_add_one, Nat.pow_add, Nat.mul_mod, ih]
    have h1 : (k + 2 - 1) ^ 2 = 1 + (k + 2) * k := by show (k + 1) ^ 2 = 1 + (k + 2) * k; grind
    rw [h1, Nat.add_mul_mod_self_left, Nat.one_mul, Nat.mod_mod]
    exact Nat.mod_eq_of_lt h

theorem pow_mod_periodic (a m r n k : Nat) (h : a ^ r % m = 1 % m) : a ^ (n + r * k) % m = a ^ n % m := by
  obtain h1 : (a ^ r) ^ k % m = 1 % m
  · induction k with
    | zero => rfl
    | succ k ih => rw [Nat.pow_succ, Nat.mul_mod, ih, h, ← Nat.mul_mod, Nat.mul_one]
  rw [Nat.pow_add, Nat.pow_mul, Nat.mul_mod, h1, ← Nat.mul_mod, Nat.mul_one]

theorem last_digit_pow_four (n : Nat) (h : n % 2 = 1) (h1 : n % 5 ≠ 0) : n ^ 4 % 10 = 1 := by
  have h2 := Nat.mul_mod (n ^ 2) (n ^ 2) 10
  have h3 := Nat.mul_mod n n 10
  rw [← Nat.pow_two] at h3
  rw [← Nat.pow_add] at h2
  have h4 : n % 10 = 1 ∨ n % 10 = 3 ∨ n % 10 = 7 ∨ n % 10 = 9 := by omega
  rcases h4 with h4 | h4 | h4 | h4 <;> rw [h4] at h3 <;> rw [h3] at h2 <;> exact h2

theorem six_pow_mod_ten (n : Nat) (h : 0 < n) : 6 ^ n % 10 = 6 := by
  obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h
  induction k with
  | zero => rfl
  | succ k ih =>
    have h1 := ih (by omega)
    rw [← Nat.add_assoc, Nat.pow_succ]
    omega

theorem digit_sum_mod_nine (s : Nat → Nat) (h0 : s 0 = 0) (hs : ∀ q r, r < 10 → s (10 * q + r) = s q + r) (n : Nat) : s n % 9 = n % 9 := by
  induction n using Nat.strongRecOn with
  | ind n ih =>
    cases Nat.eq_zero_or_pos n with
    | inl h =>
      rw [h, h0]
    | inr h =>
      have h1 := ih (n / 10) (Nat.div_lt_self h (by decide))
      have h2 := hs (n / 10) (n % 10) (Nat.mod_lt n (by decide))
      rw [Nat.div_add_mod] at h2
      rw [h2]
      omega

theorem mod_pow_succ_base (b n k : Nat) (h : 0 < b) : n % b ^ (k + 1) = n % b + b * (n / b % b ^ k) := by
  rw [Nat.pow_succ']
  have h1 := Nat.div_add_mod n b
  have h2 : b * (n / b) = b * b ^ k * (n / b / b ^ k) + b * (n / b % b ^ k) := by rw [Nat.mul_assoc, ← Nat.mul_add, Nat.div_add_mod]
  obtain h3 : b * (n / b % b ^ k + 1) ≤ b * b ^ k
  · apply Nat.mul_le_mul_left
    exact Nat.mod_lt _ (Nat.pow_pos h)
  have h4 : n % b + b * (n / b % b ^ k) + b * b ^ k * (n / b / b ^ k) = n := by omega
  have h5 := Nat.add_mul_mod_self_left (n % b + b * (n / b % b ^ k)) (b * b ^ k) (n / b / b ^ k)
  rw [h4] at h5
  rw [h5]
  rw [Nat.mul_add_one] at h3
  have h6 := Nat.mod_lt n h
  exact Nat.mod_eq_of_lt (by omega)

theorem mul_div_le_div_mul (a b c : Nat) : a * (b / c) ≤ a * b / c := by
  cases Nat.eq_zero_or_pos c with
  | inl h =>
    rw [h, Nat.div_zero, Nat.div_zero, Nat.mul_zero]
  | inr h =>
    rw [Nat.le_div_iff_mul_le h]
    rw [Nat.mul_assoc]
    apply Nat.mul_le_mul_left
    exact Nat.div_mul_le_self b c

theorem add_div_le_div_add (a b c : Nat) : a / c + b / c ≤ (a + b) / c := by
  cases Nat.eq_zero_or_pos c with
  | inl h =>
    rw [h, Nat.div_zero, Nat.div_zero, Nat.div_zero]
  | inr h =>
    rw [Nat.le_div_iff_mul_le h, Nat.add_mul]
    apply Nat.add_le_add
    · exact Nat.div_mul_le_self a c
    · exact Nat.div_mul_le_self b c

theorem div_antitone_divisor (n a b : Nat) (h : 0 < a) (h1 : a ≤ b) : n / b ≤ n / a := by
  rw [Nat.le_div_iff_mul_le h]
  apply Nat.le_trans
  · exact Nat.mul_le_mul_left (n / b) h1
  · exact Nat.div_mul_le_self n b

theorem succ_div_eq_of_not_dvd (n d : Nat) (h : ¬d ∣ n + 1) : (n + 1) / d = n / d := by
  cases Nat.eq_zero_or_pos d with
  | inl h0 => rw [h0, Nat.div_zero, Nat.div_zero]
  | inr h0 =>
    have h1 := Nat.div_add_mod n d
    have h2 := Nat.mod_lt n h0
    apply Nat.div_eq_of_lt_le
    · rw [Nat.mul_comm]
      omega
    · rw [Nat.add_one_mul, Nat.mul_comm]
      apply Nat.lt_of_le_of_ne
      · omega
      · intro h3
        apply h
        exact ⟨n / d + 1, by rw [Nat.mul_add_one]; exact h3⟩

theorem dvd_sub_of_congruent_powers (a m n k : Nat) (h : a ^ m % k = a ^ n % k) (h1 : m ≤ n) : k ∣ a ^ m * (a ^ (n - m) - 1) := by
  rw [Nat.mul_sub, Nat.mul_one, ← Nat.pow_add, Nat.add_sub_of_le h1]
  have ha := Nat.div_add_mod (a ^ m) k
  have hb := Nat.div_add_mod (a ^ n) k
  rw [h] at ha
  exists a ^ n / k - a ^ m / k
  rw [Nat.mul_sub]
  omega

theorem mul_add_one_pow_mod (m k n : Nat) : (m * k + 1) ^ n % m = 1 % m := by
  induction n with
  | zero => rfl
  | succ n ih =>
    rw [Nat.pow_succ, Nat.mul_mod, ih]
    rw [← Nat.mul_mod, Nat.one_mul]
    rw [Nat.add_comm, Nat.add_mul_mod_self_left]

theorem chicken_nuggets (n : Nat) (h : 8 ≤ n) : ∃ a b : Nat, n = 3 * a + 5 * b := by
  obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h
  induction k with
  | zero => exact ⟨1, 1, rfl⟩
  | succ k ih =>
    obtain ⟨a, b, h1⟩ := ih (Nat.le_add_right 8 k)
    cases b with
    | zero => exact ⟨a - 3, 2, by omega⟩
    | succ b => exact ⟨a + 2, b, by omega⟩

theorem postage_four_five (n : Nat) (h : 12 ≤ n) : ∃ a b : Nat, n = 4 * a + 5 * b := by
  obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h
  induction k with
  | zero => exact ⟨3, 0, rfl⟩
  | succ k ih =>
    obtain ⟨a, b, h1⟩ := ih (Nat.le_add_right 12 k)
    cases a with
    | zero => exact ⟨4, b - 3, by omega⟩
    | succ a => exact ⟨a, b + 1, by omega⟩

theorem two_pow_mul_odd (n : Nat) (h : 0 < n) : ∃ k m : Nat, n = 2 ^ k * (2 * m + 1) := by
  induction n using Nat.strongRecOn with
  | ind n ih =>
    rcases Nat.mod_two_eq_zero_or_one n with h1 | h1
    · obtain ⟨k, m, h2⟩ := ih (n / 2) (by omega) (by omega)
      refine ⟨k + 1, m, ?_⟩
      rw [Nat.pow_succ', Nat.mul_assoc, ← h2]
      omega
    · exact ⟨0, n / 2, by omega⟩

theorem two_pow_mul_odd_unique (a b m n : Nat) (h : 2 ^ a * (2 * m + 1) = 2 ^ b * (2 * n + 1)) : a = b := by
  induction a generalizing b with
  | zero =>
    cases b with
    | zero => rfl
    | succ b =>
      rw [Nat.pow_succ', Nat.mul_assoc] at h
      omega
  | succ a ih =>
    cases b with
    | zero =>
      rw [Nat.pow_succ', Nat.mul_assoc] at h
      omega
    | succ b =>
      rw [Nat.pow_succ', Nat.pow_succ', Nat.mul_assoc, Nat.mul_assoc] at h
      rw [ih b (Nat.eq_of_mul_eq_mul_left (by decide) h)]

theorem pythagorean_even_leg (a b c : Nat) (h : a * a + b * b = c * c) : a * b % 2 = 0 := by
  have ha := Nat.mul_mod a a 4
  have hb := Nat.mul_mod b b 4
  have hc := Nat.mul_mod c c 4
  rcases Nat.mod_two_eq_zero_or_one a with h1 | h1
  · rw [Nat.mul_mod, h1, Nat.zero_mul]
  rcases Nat.mod_two_eq_zero_or_one b with h2 | h2
  · rw [Nat.mul_mod, h2, Nat.mul_zero]
  have h3 : a % 4 = 1 ∨ a % 4 = 3 := by omega
  have h4 : b % 4 = 1 ∨ b % 4 = 3 := by omega
  have h5 : c % 4 = 0 ∨ c % 4 = 1 ∨ c % 4 = 2 ∨ c % 4 = 3 := by omega
  exfalso
  rcases h3 with h3 | h3 <;> rw [h3] at ha <;> rcases h4 with h4 | h4 <;> rw [h4] at hb <;> rcases h5 with h5 | h5 | h5 | h5 <;> rw [h5] at hc <;> omega

theorem pythagorean_three_dvd_leg (a b c : Nat) (h : a * a + b * b = c * c) : 3 ∣ a ∨ 3 ∣ b := by
  have ha := Nat.mul_mod a a 3
  have hb := Nat.mul_mod b b 3
  have hc := Nat.mul_mod c c 3
  have h3 : a % 3 = 0 ∨ a % 3 = 1 ∨ a % 3 = 2 := by omega
  have h4 : b % 3 = 0 ∨ b % 3 = 1 ∨ b % 3 = 2 := by omega
  have h5 : c % 3 = 0 ∨ c % 3 = 1 ∨ c % 3 = 2 := by omega
  rcases h3 with h3 | h3 | h3 <;> rw [h3] at ha <;> rcases h4 with h4 | h4 | h4 <;> rw [h4] at hb <;> rcases h5 with h5 | h5 | h5 <;> rw [h5] at hc <;> omega

theorem sum_two_odd_squares_not_square (a b c : Nat) : (2 * a + 1) * (2 * a + 1) + (2 * b + 1) * (2 * b + 1) ≠ c * c := by
  intro h
  have h1 := Nat.mul_mod c c 4
  have h2 : (2 * a + 1) * (2 * a + 1) = 4 * (a * a + a) + 1 := by grind
  have h3 : (2 * b + 1) * (2 * b + 1) = 4 * (b * b + b) + 1 := by grind
  have h4 : c % 4 = 0 ∨ c % 4 = 1 ∨ c % 4 = 2 ∨ c % 4 = 3 := by omega
  rw [h2, h3] at h
  rcases h4 with h4 | h4 | h4 | h4 <;> rw [h4] at h1 <;> omega

theorem not_four_dvd_sq_add_two (n : Nat) : ¬4 ∣ n ^ 2 + 2 := by
  intro h
  rw [Nat.pow_two] at h
  have h1 := Nat.mul_mod n n 4
  have h2 : n % 4 = 0 ∨ n % 4 = 1 ∨ n % 4 = 2 ∨ n % 4 = 3 := by omega
  rcases h2 with h2 | h2 | h2 | h2 <;> rw [h2] at h1 <;> omega

theorem sophie_germain_composite (n : Nat) (h : 1 < n) : ∃ a b : Nat, 1 < a ∧ 1 < b ∧ n ^ 4 + 4 = a * b := by
  obtain ⟨m, rfl⟩ : ∃ m, n = m + 1 := ⟨n - 1, by omega⟩
  refine ⟨m ^ 2 + 1, (m + 2) ^ 2 + 1, ?_, ?_, ?_⟩
  · have h1 : 0 < m ^ 2 := Nat.pow_pos (by omega)
    omega
  · have h1 : 0 < (m + 2) ^ 2 := Nat.pow_pos (by omega)
    omega
  · grind

theorem mersenne_dvd (a b : Nat) : 2 ^ a - 1 ∣ 2 ^ (a * b) - 1 := by
  rw [Nat.pow_mul]
  obtain ⟨y, hy⟩ : ∃ y, 2 ^ a = y + 1 := Nat.exists_eq_add_one_of_ne_zero (Nat.ne_of_gt (Nat.two_pow_pos a))
  rw [hy, Nat.add_sub_cancel]
  induction b with
  | zero => exact ⟨0, by simp⟩
  | succ b ih =>
    obtain ⟨k, hk⟩ := ih
    have h1 : 0 < (y + 1) ^ b := Nat.pow_pos (Nat.succ_pos y)
    have h2 : (y + 1) ^ b = y * k + 1 := by omega
    have h3 : (y * k + 1) * (y + 1) = y * (k * (y + 1) + 1) + 1 := by grind
    rw [Nat.pow_succ, h2, h3, Nat.add_sub_cancel]
    exact Nat.dvd_mul_right y _

theorem prime_gt_three_mod_six (p : Nat) (h : ∀ d, d ∣ p → d = 1 ∨ d = p) (h1 : 3 < p) : p % 6 = 1 ∨ p % 6 = 5 := by
  obtain h2 : ¬2 ∣ p
  · intro h3
    have h4 := h 2 h3
    omega
  obtain h3 : ¬3 ∣ p
  · intro h3
    have h4 := h 3 h3
    omega
  omega

theorem prime_triplet (p : Nat) (h : ∀ d, d ∣ p → d = 1 ∨ d = p) (h1 : ∀ d, d ∣ p + 2 → d = 1 ∨ d = p + 2) (h2 : ∀ d, d ∣ p + 4 → d = 1 ∨ d = p + 4) (hp : 1 < p) : p = 3 := by
  have h3 : p % 3 = 0 ∨ p % 3 = 1 ∨ p % 3 = 2 := by omega
  rcases h3 with h3 | h3 | h3
  · have h4 := h 3 (by omega)
    omega
  · have h4 := h1 3 (by omega)
    omega
  · have h4 := h2 3 (by omega)
    omega

theorem prime_of_no_small_divisor (n : Nat) (h : 1 < n) (h1 : ∀ d, 1 < d → d * d ≤ n → ¬d ∣ n) (d : Nat) (h2 : d ∣ n) : d = 1 ∨ d = n := by
  obtain ⟨e, rfl⟩ := h2
  rcases Nat.lt_or_ge e d with h3 | h3
  · by_cases he : 1 < e
    · exfalso
      apply h1 e he
      · exact Nat.mul_le_mul_right e (Nat.le_of_lt h3)
      · exact Nat.dvd_mul_left e d
    · have h4 : e = 0 ∨ e = 1 := by omega
      rcases h4 with rfl | rfl
      · omega
      · right
        rw [Nat.mul_one]
  · by_cases hd : 1 < d
    · exfalso
      apply h1 d hd
      · exact Nat.mul_le_mul_left d h3
      · exact Nat.dvd_mul_right d e
    · have h4 : d = 0 ∨ d = 1 := by omega
      rcases h4 with rfl | rfl
      · omega
      · left
        rfl

theorem composite_has_small_divisor (n a b : Nat) (h : n = a * b) (ha : 1 < a) (hb : 1 < b) : ∃ d, 1 < d ∧ d * d ≤ n ∧ d ∣ n := by
  rcases Nat.le_total a b with h1 | h1
  · refine ⟨a, ha, ?_, ?_⟩
    · rw [h]
      exact Nat.mul_le_mul_left a h1
    · exact ⟨b, h⟩
  · refine ⟨b, hb, ?_, ?_⟩
    · rw [h]
      exact Nat.mul_le_mul_right b h1
    · rw [h]
      exact Nat.dvd_mul_left b a

theorem factorial_gap_composite (f : Nat → Nat) (hf : ∀ k n, 0 < k → k ≤ n → k ∣ f n) (k n : Nat) (h : 1 < k) (h1 : k ≤ n) (hp : n < f n) : ∃ d, d ∣ f n + k ∧ d ≠ 1 ∧ d ≠ f n + k := by
  refine ⟨k, ?_, ?_, ?_⟩
  · apply Nat.dvd_add
    · exact hf k n (by omega) h1
    · exact Nat.dvd_refl k
  · omega
  · omega

theorem even_prime_eq_two (p : Nat) (h : ∀ d, d ∣ p → d = 1 ∨ d = p) (h1 : p ^ 2 % 2 = 0) : p = 2 := by
  rcases Nat.mod_two_eq_zero_or_one p with h2 | h2
  · have h3 := h 2 (Nat.dvd_of_mod_eq_zero h2)
    omega
  · rw [Nat.pow_two, Nat.mul_mod, h2] at h1
    omega

theorem prime_not_dvd_factorial (f : Nat → Nat) (p : Nat) (hf : ∀ n, f (n + 1) = (n + 1) * f n) (h0 : f 0 = 1) (h : ∀ x y, p ∣ x * y → p ∣ x ∨ p ∣ y) (n : Nat) (h1 : n < p) (h2 : 1 < p) : ¬p ∣ f n := by
  induction n with
  | zero =>
    rw [h0]
    intro h3
    have h4 := Nat.eq_one_of_dvd_one h3
    omega
  | succ n ih =>
    rw [hf]
    intro h3
    cases h _ _ h3 with
    | inl h4 =>
      have h5 := Nat.le_of_dvd (Nat.succ_pos n) h4
      omega
    | inr h4 => exact ih (by omega) h4

theorem le_of_prime_dvd_factorial (f : Nat → Nat) (p : Nat) (hf : ∀ n, f (n + 1) = (n + 1) * f n) (h : ∀ x y, p ∣ x * y → p ∣ x ∨ p ∣ y) (n : Nat) (h1 : ¬p ∣ f 0) (h2 : p ∣ f n) : p ≤ n := by
  induction n with
  | zero => exact absurd h2 h1
  | succ n ih =>
    rw [hf] at h2
    cases h _ _ h2 with
    | inl h3 => exact Nat.le_of_dvd (Nat.succ_pos n) h3
    | inr h3 => exact Nat.le_succ_of_le (ih h3)

theorem additive_function_linear (f : Nat → Nat) (h : ∀ m n, f (m + n) = f m + f n) (n : Nat) : f n = n * f 1 := by
  induction n with
  | zero =>
    have h1 := h 0 0
    simp at h1
    rw [h1, Nat.zero_mul]
  | succ n ih => rw [h, ih, Nat.add_one_mul]

theorem increasing_multiplicative_eq_id (f : Nat → Nat) (h : ∀ m n, m < n → f m < f n) (hm : ∀ m n, f (m * n) = f m * f n) (h2 : f 2 = 2) (n : Nat) : f n = n := by
  obtain h3 : ∀ m k, f m + k ≤ f (m + k)
  · intro m k
    induction k with
    | zero => exact Nat.le_refl (f m)
    | succ k ih =>
      have h4 := h (m + k) (m + k + 1) (Nat.lt_succ_self _)
      rw [← Nat.add_assoc, ← Nat.add_assoc]
      omega
  obtain h5 : ∀ k, 0 < k → f (2 ^ k) = 2 ^ k
  · intro k hk
    induction k with
    | zero => omega
    | succ k ih =>
      cases Nat.eq_zero_or_pos k with
      | inl h6 =>
        rw [h6]
        exact h2
      | inr h6 => rw [Nat.pow_succ, hm, ih h6, h2]
  have h7 := h3 0 n
  have h8 := h3 n (2 ^ (n + 1) - n)
  have h9 : n < 2 ^ n := Nat.lt_pow_self (by decide)
  have h10 := h5 (n + 1) (Nat.succ_pos n)
  have h11 : n + (2 ^ (n + 1) - n) = 2 ^ (n + 1) := by rw [Nat.pow_succ]; omega
  rw [h11, h10] at h8
  rw [Nat.zero_add] at h7
  rw [Nat.pow_succ] at h8
  omega

theorem periodic_mod (f : Nat → Nat) (p : Nat) (h : ∀ n, f (n + p) = f n) (n : Nat) : f (n % p) = f n := by
  obtain h1 : ∀ m k : Nat, f (m + p * k) = f m
  · intro m k
    induction k with
    | zero => rfl
    | succ k ih => rw [Nat.mul_add_one, ← Nat.add_assoc, h, ih]
  have h2 := h1 (n % p) (n / p)
  rw [Nat.mod_add_div] at h2
  exact h2.symm

theorem periodic_gcd (f : Nat → Nat) (a b : Nat) : (∀ n, f (n + a) = f n) → (∀ n, f (n + b) = f n) → ∀ n, f (n + Nat.gcd a b) = f n := by
  refine Nat.gcd.induction a b ?_ ?_
  · intro b h h1 n
    rw [Nat.gcd_zero_left]
    exact h1 n
  · intro a b ha ih h h1
    rw [Nat.gcd_rec]
    apply ih
    · intro n
      obtain h2 : ∀ m k : Nat, f (m + a * k) = f m
      · intro m k
        induction k with
        | zero => rfl
        | succ k ih2 => rw [Nat.mul_add_one, ← Nat.add_assoc, h, ih2]
      rw [← h2 (n + b % a) (b / a), Nat.add_assoc, Nat.mod_add_div]
      exact h1 n
    · exact h

theorem pigeonhole (f : Nat → Nat) (n : Nat) (h : ∀ i, i ≤ n → f i < n) : ∃ i j, i < j ∧ j ≤ n ∧ f i = f j := by
  induction n generalizing f with
  | zero => exact absurd (h 0 (Nat.le_refl 0)) (Nat.not_lt_zero _)
  | succ n ih =>
    by_cases h1 : ∃ i, i ≤ n ∧ f i = f (n + 1)
    · obtain ⟨i, h2, h3⟩ := h1
      exact ⟨i, n + 1, Nat.lt_succ_of_le h2, Nat.le_refl _, h3⟩
    · have hn := h (n + 1) (Nat.le_refl _)
      have hne : ∀ i, i ≤ n → f i ≠ f (n + 1) := fun i hi h2 => h1 ⟨i, hi, h2⟩
      obtain ⟨i, j, hij, hj, he⟩ := ih (fun i => if f i < f (n + 1) then f i else f i - 1) ?_
      · refine ⟨i, j, hij, Nat.le_succ_of_le hj, ?_⟩
        have h3 := hne i (by omega)
        have h4 := hne j hj
        split at he <;> split at he <;> omega
      · intro i hi
        have h3 := hne i hi
        have h4 := h i (Nat.le_succ_of_le hi)
        show (if f i < f (n + 1) then f i else f i - 1) < n
        split <;> omega

theorem bounded_monotone_stabilizes (f : Nat → Nat) (b : Nat) (h : ∀ n, f n ≤ f (n + 1)) (hb : ∀ n, f n ≤ b) : ∃ m, ∀ n, m ≤ n → f n = f m := by
  obtain hm : ∀ m k, f m ≤ f (m + k)
  · intro m k
    induction k with
    | zero => exact Nat.le_refl _
    | succ k ih => exact Nat.le_trans ih (h (m + k))
  induction b with
  | zero => exact ⟨0, fun n hn => by have h1 := hb n; have h2 := hb 0; omega⟩
  | succ b ih =>
    by_cases h1 : ∃ m, b < f m
    · obtain ⟨m, h2⟩ := h1
      refine ⟨m, ?_⟩
      intro n hn
      obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le hn
      have h3 := hm m k
      have h4 := hb (m + k)
      omega
    · apply ih
      intro n
      apply Nat.le_of_not_lt
      intro h2
      exact h1 ⟨n, h2⟩

theorem exists_index_of_minimum (f : Nat → Nat) : ∃ i, ∀ j, f i ≤ f j := by
  obtain h : ∀ v i, f i ≤ v → ∃ i, ∀ j, f i ≤ f j
  · intro v
    induction v with
    | zero =>
      intro i hi
      exact ⟨i, fun j => Nat.le_trans hi (Nat.zero_le (f j))⟩
    | succ v ih =>
      intro i hi
      by_cases h1 : ∃ k, f k ≤ v
      · obtain ⟨k, h2⟩ := h1
        exact ih k h2
      · refine ⟨i, ?_⟩
        intro j
        have h2 : ¬f j ≤ v := fun h3 => h1 ⟨j, h3⟩
        omega
  exact h (f 0) 0 (Nat.le_refl _)

theorem exists_nondecreasing_pair (f : Nat → Nat) (g : Nat → Nat) (hg : ∀ n, n < g n) : ∃ i j, i < j ∧ f i ≤ f j := by
  obtain h : ∀ v n, f n ≤ v → ∃ i j, i < j ∧ f i ≤ f j
  · intro v
    induction v with
    | zero =>
      intro n hn
      exact ⟨n, g n, hg n, by omega⟩
    | succ v ih =>
      intro n hn
      rcases Nat.lt_or_ge (f (g n)) (f n) with h1 | h1
      · exact ih (g n) (by omega)
      · exact ⟨n, g n, hg n, h1⟩
  exact h (f 0) 0 (Nat.le_refl _)

theorem ackermann_two (a : Nat → Nat → Nat) (h0 : ∀ n, a 0 n = n + 1) (h1 : ∀ m, a (m + 1) 0 = a m 1) (h2 : ∀ m n, a (m + 1) (n + 1) = a m (a (m + 1) n)) (n : Nat) : a 2 n = 2 * n + 3 := by
  obtain h3 : ∀ k, a 1 k = k + 2
  · intro k
    induction k with
    | zero => rw [h1, h0]
    | succ k ih => rw [h2, ih, h0]
  induction n with
  | zero => rw [h1, h3]
  | succ n ih =>
    rw [h2, ih, h3]
    omega

theorem ackermann_gt (a : Nat → Nat → Nat) (h0 : ∀ n, a 0 n = n + 1) (h1 : ∀ m, a (m + 1) 0 = a m 1) (h2 : ∀ m n, a (m + 1) (n + 1) = a m (a (m + 1) n)) (m n : Nat) : n < a m n := by
  induction m generalizing n with
  | zero =>
    rw [h0]
    exact Nat.lt_succ_self n
  | succ m ih =>
    induction n with
    | zero =>
      rw [h1]
      have h3 := ih 1
      omega
    | succ n ih2 =>
      rw [h2]
      have h3 := ih (a (m + 1) n)
      omega

theorem mccarthy_ninety_one (m : Nat → Nat) (h : ∀ n, 100 < n → m n = n - 10) (h1 : ∀ n, n ≤ 100 → m n = m (m (n + 11))) (k : Nat) : m (100 - k) = 91 := by
  induction k using Nat.strongRecOn with
  | ind k ih =>
    rw [h1 _ (Nat.sub_le 100 k)]
    rcases Nat.lt_or_ge 10 k with h2 | h2
    · by_cases h3 : k ≤ 100
      · have h4 := ih (k - 11) (by omega)
        have h5 := ih 9 (by omega)
        rw [show 100 - k + 11 = 100 - (k - 11) by omega, h4]
        exact h5
      · have h4 := ih 89 (by omega)
        have h5 := ih 9 (by omega)
        rw [show 100 - k + 11 = 100 - 89 by omega, h4]
        exact h5
    · rw [h (100 - k + 11) (by omega)]
      cases k with
      | zero => exact h 101 (by decide)
      | succ k =>
        have h3 := ih k (Nat.lt_succ_self k)
        rw [show 100 - (k + 1) + 11 - 10 = 100 - k by omega]
        exact h3

theorem josephus_formula (j : Nat → Nat) (h1 : j 1 = 1) (he : ∀ n, 0 < n → j (2 * n) = 2 * j n - 1) (ho : ∀ n, 0 < n → j (2 * n + 1) = 2 * j n + 1) (k l : Nat) (h : l < 2 ^ k) : j (2 ^ k + l) = 2 * l + 1 := by
  induction k generalizing l with
  | zero =>
    have h2 : l = 0 := by rw [Nat.pow_zero] at h; omega
    rw [h2]
    exact h1
  | succ k ih =>
    rw [Nat.pow_succ] at h
    have h2 := ih (l / 2) (by omega)
    have h3 := Nat.two_pow_pos k
    rcases Nat.mod_two_eq_zero_or_one l with h4 | h4
    · have h5 : 2 ^ (k + 1) + l = 2 * (2 ^ k + l / 2) := by rw [Nat.pow_succ]; omega
      rw [h5, he (2 ^ k + l / 2) (by omega), h2]
      omega
    · have h5 : 2 ^ (k + 1) + l = 2 * (2 ^ k + l / 2) + 1 := by rw [Nat.pow_succ]; omega
      rw [h5, ho (2 ^ k + l / 2) (by omega), h2]
      omega

theorem recurrence_two_three (a : Nat → Nat) (h0 : a 0 = 2) (h1 : a 1 = 5) (h : ∀ n, a (n + 2) + 6 * a n = 5 * a (n + 1)) (n : Nat) : a n = 2 ^ n + 3 ^ n := by
  obtain h2 : a n = 2 ^ n + 3 ^ n ∧ a (n + 1) = 2 ^ (n + 1) + 3 ^ (n + 1)
  · induction n with
    | zero => exact ⟨h0, h1⟩
    | succ n ih =>
      obtain ⟨h3, h4⟩ := ih
      refine ⟨h4, ?_⟩
      have h5 := h n
      rw [Nat.pow_succ, Nat.pow_succ] at h4
      rw [Nat.pow_succ, Nat.pow_succ, Nat.pow_succ, Nat.pow_succ]
      omega
  exact h2.left

theorem jacobsthal_even (a : Nat → Nat) (h0 : a 0 = 0) (h1 : a 1 = 1) (h : ∀ n, a (n + 2) = a (n + 1) + 2 * a n) (n : Nat) : 3 * a (2 * n) + 1 = 4 ^ n := by
  obtain h2 : ∀ n, a n + a (n + 1) = 2 ^ n
  · intro n
    induction n with
    | zero => rw [h0, h1, Nat.pow_zero]
    | succ n ih =>
      rw [h, Nat.pow_succ]
      omega
  induction n with
  | zero => rw [Nat.mul_zero, h0, Nat.pow_zero]
  | succ n ih =>
    have h3 := h2 (2 * n)
    rw [Nat.mul_add_one, h, Nat.pow_succ]
    rw [Nat.pow_mul] at h3
    omega

theorem binomial_eq_zero_of_lt (c : Nat → Nat → Nat) (h0 : ∀ k, c 0 (k + 1) = 0) (hs : ∀ n k, c (n + 1) (k + 1) = c n k + c n (k + 1)) (n k : Nat) (h : n < k) : c n k = 0 := by
  induction n generalizing k with
  | zero =>
    obtain ⟨j, rfl⟩ := Nat.exists_eq_add_one_of_ne_zero (Nat.ne_of_gt h)
    exact h0 j
  | succ n ih =>
    cases k with
    | zero => exact absurd h (Nat.not_lt_zero _)
    | succ k => rw [hs, ih k (by omega), ih (k + 1) (by omega)]

theorem binomial_self (c : Nat → Nat → Nat) (h : c 0 0 = 1) (h0 : ∀ k, c 0 (k + 1) = 0) (hs : ∀ n k, c (n + 1) (k + 1) = c n k + c n (k + 1)) (n : Nat) : c n n = 1 := by
  obtain hz : ∀ n j, c n (n + j + 1) = 0
  · intro n
    induction n with
    | zero =>
      intro j
      exact h0 (0 + j)
    | succ n ih =>
      intro j
      have h1 := ih j
      have h2 := ih (j + 1)
      rw [Nat.add_right_comm n 1 j, hs, h1]
      rw [← Nat.add_assoc] at h2
      rw [h2]
  induction n with
  | zero => exact h
  | succ n ih => rw [hs, ih, hz n 0]

theorem binomial_two (c : Nat → Nat → Nat) (h : ∀ n, c n 0 = 1) (h0 : ∀ k, c 0 (k + 1) = 0) (hs : ∀ n k, c (n + 1) (k + 1) = c n k + c n (k + 1)) (n : Nat) : 2 * c n 2 = n * (n - 1) := by
  obtain h1 : ∀ m, c m 1 = m
  · intro m
    induction m with
    | zero => exact h0 0
    | succ m ih => rw [hs, h, ih, Nat.add_comm]
  induction n with
  | zero => rw [h0, Nat.zero_mul]
  | succ n ih =>
    rw [hs, h1, Nat.mul_add, ih]
    cases n with
    | zero => rfl
    | succ n =>
      simp only [Nat.add_sub_cancel]
      grind

theorem binomial_absorption (c : Nat → Nat → Nat) (h : ∀ n, c n 0 = 1) (h0 : ∀ k, c 0 (k + 1) = 0) (hs : ∀ n k, c (n + 1) (k + 1) = c n k + c n (k + 1)) (n k : Nat) : (k + 1) * c (n + 1) (k + 1) = (n + 1) * c n k := by
  induction n generalizing k with
  | zero =>
    cases k with
    | zero => rw [hs, h, h0]
    | succ k => simp [hs, h0]
  | succ n ih =>
    cases k with
    | zero =>
      have h1 := ih 0
      rw [h] at h1
      rw [hs, h]
      omega
    | succ k =>
      have h1 := ih k
      have h2 := ih (k + 1)
      rw [hs (n + 1) (k + 1), Nat.mul_add, h2, Nat.add_one_mul (k + 1), h1, hs n k]
      rw [Nat.add_one_mul (n + 1), Nat.mul_add (n + 1)]
      omega

theorem binomial_symmetric (c : Nat → Nat → Nat) (h : ∀ n, c n 0 = 1) (h1 : ∀ n, c n n = 1) (hs : ∀ n k, c (n + 1) (k + 1) = c n k + c n (k + 1)) (m n : Nat) : c (m + n) m = c (m + n) n := by
  induction m generalizing n with
  | zero => rw [Nat.zero_add, h, h1]
  | succ m ih =>
    induction n with
    | zero => rw [Nat.add_zero, h, h1]
    | succ n ih2 =>
      have h2 := ih (n + 1)
      rw [Nat.add_right_comm] at ih2
      show c (m + 1 + n + 1) (m + 1) = c (m + 1 + n + 1) (n + 1)
      rw [hs, hs, Nat.add_right_comm m 1 n, ih2]
      rw [← Nat.add_assoc] at h2
      rw [h2, Nat.add_comm]

theorem factorial_dvd_rising_product (f : Nat → Nat) (p : Nat → Nat → Nat) (h0 : f 0 = 1) (hf : ∀ n, f (n + 1) = (n + 1) * f n) (hp : ∀ m, p m 0 = 1) (hs : ∀ m n, p m (n + 1) = (m + n) * p m n) (m n : Nat) : f n ∣ p m n := by
  obtain h1 : ∀ n m, p m (n + 1) = m * p (m + 1) n
  · intro n m
    induction n with
    | zero => rw [hs, hp, hp, Nat.add_zero]
    | succ n ih =>
      rw [hs m (n + 1), ih, hs (m + 1) n]
      rw [Nat.add_right_comm m 1 n, Nat.mul_left_comm, Nat.add_assoc]
  induction n generalizing m with
  | zero =>
    rw [h0]
    exact Nat.one_dvd _
  | succ n ih =>
    induction m with
    | zero =>
      rw [h1, Nat.zero_mul]
      exact Nat.dvd_zero _
    | succ m ih2 =>
      have h2 : p (m + 1) (n + 1) = p m (n + 1) + (n + 1) * p (m + 1) n := by rw [h1 n m, hs (m + 1) n, ← Nat.add_mul, Nat.add_assoc, Nat.add_comm 1 n]
      rw [h2]
      apply Nat.dvd_add ih2
      rw [hf]
      exact Nat.mul_dvd_mul_left (n + 1) (ih (m + 1))

theorem two_pow_dvd_factorial_double (f : Nat → Nat) (hf : ∀ n, f (n + 1) = (n + 1) * f n) (n : Nat) : 2 ^ n ∣ f (2 * n) := by
  induction n with
  | zero => exact Nat.one_dvd (f 0)
  | succ n ih =>
    rw [Nat.mul_add_one, hf (2 * n + 1), hf (2 * n), Nat.pow_succ']
    apply Nat.mul_dvd_mul
    · exact ⟨n + 1, by omega⟩
    · exact Nat.dvd_mul_left_of_dvd ih (2 * n + 1)

theorem no_square_between_consecutive (n k : Nat) (h : n * n < k * k) : (n + 1) * (n + 1) ≤ k * k := by
  apply Nat.mul_self_le_mul_self
  apply Nat.lt_of_not_le
  intro h1
  have h2 := Nat.mul_self_le_mul_self h1
  exact Nat.not_lt_of_le h2 h

theorem consecutive_product_not_square (n k : Nat) (h : 0 < n) : n * (n + 1) ≠ k * k := by
  intro h1
  rcases Nat.lt_or_ge n k with h2 | h2
  · have h3 := Nat.mul_self_le_mul_self h2
    rw [← h1] at h3
    grind
  · have h3 := Nat.mul_self_le_mul_self h2
    rw [← h1] at h3
    grind

theorem brahmagupta_two_squares (a b c d : Nat) : ∃ x y, (a * a + b * b) * (c * c + d * d) = x * x + y * y := by
  rw [Nat.add_mul, Nat.mul_add, Nat.mul_add]
  rw [Nat.mul_mul_mul_comm a a c c, Nat.mul_mul_mul_comm a a d d]
  rw [Nat.mul_mul_mul_comm b b c c, Nat.mul_mul_mul_comm b b d d]
  have h : a * c * (b * d) = a * d * (b * c) := by ac_rfl
  revert h
  generalize a * c = p
  generalize b * d = q
  generalize a * d = r
  generalize b * c = s
  intro h
  exists p + q
  rcases Nat.le_total r s with h1 | h1
  · obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h1
    exact ⟨k, by grind⟩
  · obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h1
    exact ⟨k, by grind⟩

theorem eight_dvd_diff_odd_squares (a b : Nat) (ha : a % 2 = 1) (hb : b % 2 = 1) : 8 ∣ a * a - b * b := by
  obtain h : ∀ n : Nat, n % 2 = 1 → n * n % 8 = 1
  · intro n hn
    rw [Nat.mul_mod]
    have h1 : n % 8 = 1 ∨ n % 8 = 3 ∨ n % 8 = 5 ∨ n % 8 = 7 := by omega
    rcases h1 with h1 | h1 | h1 | h1 <;> rw [h1]
  have h1 := h a ha
  have h2 := h b hb
  omega

theorem sqrt_prime_irrational (p a b : Nat) (h1 : 1 < p) (hp : ∀ x y, p ∣ x * y → p ∣ x ∨ p ∣ y) (h : a * a = p * (b * b)) : b = 0 := by
  induction a using Nat.strongRecOn generalizing b with
  | ind a ih =>
    have h2 : p ∣ a := by cases hp a a ⟨b * b, h⟩ <;> assumption
    obtain ⟨c, rfl⟩ := h2
    rw [Nat.mul_assoc] at h
    have h3 := Nat.eq_of_mul_eq_mul_left (Nat.lt_of_succ_lt h1) h
    have h4 : b * b = p * (c * c) := by rw [← h3]; ac_rfl
    cases Nat.eq_zero_or_pos b with
    | inl hb => exact hb
    | inr hb =>
      obtain h5 : b < p * c
      · apply Nat.lt_of_not_le
        intro h6
        have h7 := Nat.mul_self_le_mul_self h6
        have h8 := Nat.mul_lt_mul_of_pos_left h1 (Nat.mul_pos hb hb)
        rw [Nat.mul_assoc, h] at h7
        rw [Nat.mul_comm (b * b) p, Nat.mul_one] at h8
        omega
      have hc := ih b h5 c h4
      subst hc
      exact absurd h5 (Nat.not_lt_zero b)

theorem cube_root_two_irrational (a b : Nat) (h : a * a * a = 2 * (b * b * b)) : b = 0 := by
  obtain hp : ∀ n : Nat, n * n * n % 2 = 0 → n % 2 = 0
  · intro n hn
    rcases Nat.mod_two_eq_zero_or_one n with h1 | h1
    · exact h1
    · rw [Nat.mul_mod, Nat.mul_mod n n, h1] at hn
      exact absurd hn (by decide)
  induction a using Nat.strongRecOn generalizing b with
  | ind a ih =>
    obtain ⟨c, rfl⟩ := Nat.dvd_of_mod_eq_zero (hp a (by omega))
    have h1 : b * b * b = 4 * (c * c * c) := by grind
    obtain ⟨d, rfl⟩ := Nat.dvd_of_mod_eq_zero (hp b (by omega))
    have h2 : c * c * c = 2 * (d * d * d) := by grind
    cases Nat.eq_zero_or_pos c with
    | inl hc =>
      subst hc
      cases d with
      | zero => rfl
      | succ d => grind
    | inr hc => rw [ih c (by omega) d h2]

theorem two_pow_eq_three_pow (a b : Nat) (h : 2 ^ a = 3 ^ b) : a = 0 ∧ b = 0 := by
  obtain h1 : 3 ^ b % 2 = 1
  · clear h
    induction b with
    | zero => rfl
    | succ b ih => rw [Nat.pow_succ, Nat.mul_mod, ih]
  cases a with
  | zero =>
    refine ⟨rfl, ?_⟩
    cases b with
    | zero => rfl
    | succ b =>
      have h2 : 0 < 3 ^ b := Nat.pow_pos (by decide)
      rw [Nat.pow_succ, Nat.pow_zero] at h
      omega
  | succ a =>
    rw [← h, Nat.pow_succ] at h1
    omega

theorem two_pow_sub_one_not_square (n k : Nat) (h : 1 < n) : 2 ^ n - 1 ≠ k * k := by
  intro h1
  obtain ⟨m, rfl⟩ : ∃ m, n = m + 2 := ⟨n - 2, by omega⟩
  have h2 := Nat.two_pow_pos m
  rw [Nat.pow_succ, Nat.pow_succ] at h1
  have h3 := Nat.mul_mod k k 4
  have h4 : k % 4 = 0 ∨ k % 4 = 1 ∨ k % 4 = 2 ∨ k % 4 = 3 := by omega
  rcases h4 with h4 | h4 | h4 | h4 <;> rw [h4] at h3 <;> omega

theorem square_power_of_two_even (k n : Nat) (h : n * n = 2 ^ k) : k % 2 = 0 := by
  induction k using Nat.strongRecOn generalizing n with
  | ind k ih =>
    cases k with
    | zero => rfl
    | succ k =>
      have h1 := Nat.mul_mod n n 2
      rw [h, Nat.pow_succ, Nat.mul_mod_left] at h1
      have h2 : n % 2 = 0 := by rcases Nat.mod_two_eq_zero_or_one n with h2 | h2 <;> simp [h2] at h1 ⊢
      obtain ⟨m, rfl⟩ := Nat.dvd_of_mod_eq_zero h2
      have h3 : 2 * m * (2 * m) = 4 * (m * m) := by grind
      cases k with
      | zero =>
        rw [h3] at h
        omega
      | succ k =>
        rw [h3, Nat.pow_succ, Nat.pow_succ] at h
        have h4 := ih k (by omega) m (by omega)
        omega

theorem gcd_of_euclid_sequence (f : Nat → Nat) (h0 : f 0 = 0) (h : ∀ m n, Nat.gcd (f m) (f n) = Nat.gcd (f (n % m)) (f m)) (m n : Nat) : Nat.gcd (f m) (f n) = f (Nat.gcd m n) := by
  refine Nat.gcd.induction m n ?_ ?_
  · intro n
    rw [h0, Nat.gcd_zero_left, Nat.gcd_zero_left]
  · intro m n hm ih
    rw [h, ih]
    rw [Nat.gcd_rec m n]

theorem fermat_little_seven (n : Nat) : n ^ 7 % 7 = n % 7 := by
  have h1 := Nat.mul_mod n n 7
  have h2 := Nat.mul_mod (n ^ 2) n 7
  have h3 := Nat.mul_mod (n ^ 3) (n ^ 3) 7
  have h4 := Nat.mul_mod (n ^ 6) n 7
  rw [← Nat.pow_two] at h1
  rw [← Nat.pow_succ] at h2 h4
  rw [← Nat.pow_add] at h3
  have h : n % 7 = 0 ∨ n % 7 = 1 ∨ n % 7 = 2 ∨ n % 7 = 3 ∨ n % 7 = 4 ∨ n % 7 = 5 ∨ n % 7 = 6 := by omega
  rcases h with h | h | h | h | h | h | h <;> rw [h] at h1 <;> rw [h1, h] at h2 <;> rw [h2] at h3 <;> rw [h3, h] at h4 <;> rw [h, h4]

theorem square_factor_of_coprime (a b c : Nat) (h : Nat.gcd a b = 1) (h1 : a * b = c * c) : ∃ d, a = d * d := by
  exists Nat.gcd a c
  rw [← Nat.gcd_mul_right, ← Nat.gcd_mul_left, ← Nat.gcd_mul_left]
  rw [← h1, Nat.mul_comm c a]
  rw [Nat.gcd_mul_left, Nat.gcd_mul_left, Nat.gcd_mul_left]
  obtain h2 : Nat.gcd (Nat.gcd a c) (Nat.gcd c b) = 1
  · apply Nat.eq_one_of_dvd_one
    rw [← h]
    apply Nat.dvd_gcd
    · exact Nat.dvd_trans (Nat.gcd_dvd_left _ _) (Nat.gcd_dvd_left a c)
    · exact Nat.dvd_trans (Nat.gcd_dvd_right _ _) (Nat.gcd_dvd_right c b)
  rw [h2, Nat.mul_one]

theorem bezout_either (a b : Nat) : ∃ x y, a * x = b * y + Nat.gcd a b ∨ b * x = a * y + Nat.gcd a b := by
  refine Nat.gcd.induction a b ?_ ?_
  · intro n
    exact ⟨1, 0, Or.inr (by simp)⟩
  · intro m n hm ih
    have h1 := Nat.div_add_mod n m
    rw [Nat.gcd_rec m n]
    revert ih h1
    generalize n / m = q
    generalize n % m = r
    generalize Nat.gcd r m = g
    intro ⟨x, y, h⟩ h1
    subst h1
    rcases h with h | h
    · exact ⟨x, y + q * x, Or.inr (by grind)⟩
    · exact ⟨x + q * y, y, Or.inl (by grind)⟩

theorem chinese_remainder (a b m n u v : Nat) (h : m * u = n * v + 1) : ∃ x, x % m = a % m ∧ x % n = b % n := by
  cases m with
  | zero => omega
  | succ k =>
    refine ⟨b * ((k + 1) * u) + a * (n * v * k), ?_, ?_⟩
    · rw [← Nat.add_mul_mod_self_left _ (k + 1) (a * u)]
      have h1 : a * ((k + 1) * u) = a * (n * v + 1) := by rw [h]
      have h2 : b * ((k + 1) * u) + a * (n * v * k) + (k + 1) * (a * u) = a + (k + 1) * (b * u + a * (n * v)) := by grind
      rw [h2, Nat.add_mul_mod_self_left]
    · rw [h]
      have h1 : b * (n * v + 1) + a * (n * v * k) = b + n * (b * v + a * (v * k)) := by grind
      rw [h1, Nat.add_mul_mod_self_left]

theorem chinese_remainder_unique (m n x y : Nat) (h : Nat.gcd m n = 1) (hm : m ∣ x - y) (hn : n ∣ x - y) (h1 : y ≤ x) (h2 : x < m * n) : x = y := by
  obtain h3 : m * n ∣ x - y
  · obtain ⟨k, hk⟩ := hm
    rw [hk]
    rw [hk] at hn
    apply Nat.mul_dvd_mul_left
    have h4 : Nat.gcd (m * k) (n * k) = k := by rw [Nat.gcd_mul_right, h, Nat.one_mul]
    rw [← h4]
    exact Nat.dvd_gcd hn (Nat.dvd_mul_right n k)
  have h5 := Nat.eq_zero_of_dvd_of_lt h3 (by omega)
  omega

theorem gcd_pow_sub_one (x a b : Nat) (hx : 0 < x) : Nat.gcd (x ^ a - 1) (x ^ b - 1) = x ^ Nat.gcd a b - 1 := by
  refine Nat.gcd.induction a b ?_ ?_
  · intro n
    rw [Nat.pow_zero, Nat.gcd_zero_left, Nat.gcd_zero_left]
  · intro m n hm ih
    have h1 : 0 < x ^ m := Nat.pow_pos hx
    have h2 : 0 < x ^ (n % m) := Nat.pow_pos hx
    obtain ⟨k, hk⟩ : ∃ k, x ^ (m * (n / m)) = (x ^ m - 1) * k + 1
    · rw [Nat.pow_mul]
      generalize n / m = q
      obtain ⟨y, hy⟩ : ∃ y, x ^ m = y + 1 := ⟨x ^ m - 1, by omega⟩
      rw [hy, Nat.add_sub_cancel]
      induction q with
      | zero => exact ⟨0, by simp⟩
      | succ q ih2 =>
        obtain ⟨k, hk⟩ := ih2
        exact ⟨k * (y + 1) + 1, by rw [Nat.pow_succ, hk]; grind⟩
    have h3 : x ^ n = x ^ (m * (n / m)) * x ^ (n % m) := by rw [← Nat.pow_add, Nat.div_add_mod]
    have h4 : x ^ n - 1 = (x ^ (n % m) - 1) + (x ^ m - 1) * (k * x ^ (n % m)) := by rw [h3, hk, Nat.add_mul, Nat.one_mul, Nat.mul_assoc]; omega
    rw [h4, Nat.gcd_rec, Nat.add_mul_mod_self_left, ← Nat.gcd_rec, Nat.gcd_comm, ih, Nat.gcd_rec m n]

theorem pow_left_injective (a b n : Nat) (hn : 0 < n) (h : a ^ n = b ^ n) : a = b := by
  rcases Nat.lt_trichotomy a b with h1 | h1 | h1
  · have h2 := Nat.pow_lt_pow_left h1 (Nat.ne_of_gt hn)
    omega
  · exact h1
  · have h2 := Nat.pow_lt_pow_left h1 (Nat.ne_of_gt hn)
    omega

theorem pow_right_injective (a m n : Nat) (ha : 1 < a) (h : a ^ m = a ^ n) : m = n := by
  rcases Nat.lt_trichotomy m n with h1 | h1 | h1
  · have h2 := Nat.pow_lt_pow_right ha h1
    omega
  · exact h1
  · have h2 := Nat.pow_lt_pow_right ha h1
    omega

theorem pow_dvd_pow_iff_le (a m n : Nat) (ha : 1 < a) : a ^ m ∣ a ^ n ↔ m ≤ n := by
  constructor
  · intro h
    apply Nat.le_of_not_lt
    intro h1
    have h2 := Nat.le_of_dvd (Nat.pow_pos (Nat.lt_of_succ_lt ha)) h
    have h3 := Nat.pow_lt_pow_right ha h1
    omega
  · intro h
    exact Nat.pow_dvd_pow a h

theorem two_mul_add_one_lt_two_pow (n : Nat) (h : 3 ≤ n) : 2 * n + 1 < 2 ^ n := by
  obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h
  induction k with
  | zero => decide
  | succ k ih =>
    have h1 := ih (Nat.le_add_right 3 k)
    rw [← Nat.add_assoc, Nat.pow_succ]
    omega

theorem sum_cubes_ge_three_products (a b c : Nat) (h : a ≤ b) (h1 : b ≤ c) : 3 * (a * b * c) ≤ a * a * a + b * b * b + c * c * c := by
  obtain hc : ∀ u v : Nat, (u + v) * (u + v) * (u + v) = u * u * u + 3 * (u * u * v) + 3 * (u * v * v) + v * v * v
  · intro u v
    rw [Nat.mul_assoc, Nat.add_mul u v (u + v), Nat.mul_add, Nat.mul_add]
    grind
  obtain ⟨x, rfl⟩ := Nat.exists_eq_add_of_le h
  obtain ⟨y, rfl⟩ := Nat.exists_eq_add_of_le h1
  rw [Nat.add_assoc, hc a x, hc a (x + y)]
  have e1 : a * (a + x) * (a + (x + y)) = a * a * a + 2 * (a * a * x) + a * a * y + a * x * x + a * x * y := by grind
  have e2 : a * (x + y) * (x + y) ≥ a * x * x + 2 * (a * x * y) := by grind
  have e3 : a * a * (x + y) = a * a * x + a * a * y := by grind
  omega

theorem product_max_at_middle (a b s : Nat) (h : a + b = 2 * s) : a * b ≤ s * s := by
  rcases Nat.le_total a s with h1 | h1
  · obtain ⟨k, hk⟩ := Nat.exists_eq_add_of_le h1
    have hb : b = a + k + k := by omega
    rw [hb, hk]
    grind
  · obtain ⟨k, hk⟩ := Nat.exists_eq_add_of_le h1
    have hs : s = b + k := by omega
    rw [hk, hs]
    grind

theorem isoperimetric_square (a b s : Nat) (h : a * b = s * s) : 2 * s ≤ a + b := by
  apply Nat.mul_self_le_mul_self_iff.mp
  obtain h1 : 4 * (a * b) ≤ (a + b) * (a + b)
  · rcases Nat.le_total a b with h1 | h1
    · obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h1
      grind
    · obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h1
      grind
  rw [h] at h1
  rw [Nat.mul_mul_mul_comm]
  exact h1

theorem chebyshev_two (a b c d : Nat) (h : a ≤ b) (h1 : c ≤ d) : (a + b) * (c + d) ≤ 2 * (a * c + b * d) := by
  obtain ⟨x, rfl⟩ := Nat.exists_eq_add_of_le h
  obtain ⟨y, rfl⟩ := Nat.exists_eq_add_of_le h1
  have h2 : (a + (a + x)) * (c + (c + y)) = 4 * (a * c) + 2 * (a * y) + 2 * (x * c) + x * y := by grind
  have h3 : (a + x) * (c + y) = a * c + a * y + x * c + x * y := by grind
  omega

theorem eq_zero_of_sum_squares_eq_products (a b : Nat) (h : a * a + b * b = a * b) : a = 0 ∧ b = 0 := by
  rcases Nat.le_total a b with h1 | h1
  · have h2 : a * b ≤ b * b := Nat.mul_le_mul_right b h1
    have h3 : a * a = 0 := by omega
    have h4 : a = 0 := by cases Nat.eq_zero_of_mul_eq_zero h3 <;> assumption
    rw [h4, Nat.zero_mul, Nat.zero_mul, Nat.zero_add] at h
    have h5 : b = 0 := by cases Nat.eq_zero_of_mul_eq_zero h <;> assumption
    exact ⟨h4, h5⟩
  · have h2 : a * b ≤ a * a := Nat.mul_le_mul_left a h1
    have h3 : b * b = 0 := by omega
    have h4 : b = 0 := by cases Nat.eq_zero_of_mul_eq_zero h3 <;> assumption
    rw [h4, Nat.mul_zero, Nat.add_zero] at h
    have h5 : a = 0 := by cases Nat.eq_zero_of_mul_eq_zero h <;> assumption
    exact ⟨h5, h4⟩

theorem sum_eq_product_iff (a b : Nat) (ha : 0 < a) (hb : 0 < b) (h : a * b = a + b) : a = 2 ∧ b = 2 := by
  obtain ⟨x, rfl⟩ := Nat.exists_eq_add_of_lt ha
  obtain ⟨y, rfl⟩ := Nat.exists_eq_add_of_lt hb
  have h1 : x * y = 1 := by grind
  have h2 : x ∣ 1 := ⟨y, h1.symm⟩
  have h3 := Nat.eq_one_of_dvd_one h2
  rw [h3, Nat.one_mul] at h1
  omega

theorem eq_of_succ_dvd_sq_add_one (n : Nat) (h : n + 1 ∣ n * n + 1) : n = 0 ∨ n = 1 := by
  have h1 : n * n + 1 + (2 * n) = (n + 1) * (n + 1) := by grind
  have h2 : n + 1 ∣ n * n + 1 + 2 * n := by rw [h1]; exact Nat.dvd_mul_right _ _
  rw [Nat.dvd_add_right h] at h2
  have h3 : n + 1 ∣ 2 * (n + 1) := Nat.dvd_mul_left (n + 1) 2
  rw [Nat.mul_add, Nat.dvd_add_right h2] at h3
  have h4 := Nat.le_of_dvd (by decide) h3
  omega

theorem three_dvd_sum_cubes_iff (a b c : Nat) : 3 ∣ a * a * a + b * b * b + c * c * c ↔ 3 ∣ a + b + c := by
  obtain h : ∀ n : Nat, n * n * n % 3 = n % 3
  · intro n
    have h1 : n % 3 = 0 ∨ n % 3 = 1 ∨ n % 3 = 2 := by omega
    rw [Nat.mul_mod, Nat.mul_mod n n]
    rcases h1 with h1 | h1 | h1 <;> rw [h1]
  have h1 := h a
  have h2 := h b
  have h3 := h c
  omega

theorem twentyfour_dvd_four_consecutive (n : Nat) : 24 ∣ n * (n + 1) * (n + 2) * (n + 3) := by
  obtain h3 : n * (n + 1) * (n + 2) * (n + 3) % 3 = 0
  · have h : n % 3 = 0 ∨ n % 3 = 1 ∨ n % 3 = 2 := by omega
    rw [Nat.mul_mod, Nat.mul_mod (n * (n + 1)), Nat.mul_mod n]
    rcases h with h | h | h <;> simp [Nat.add_mod, h]
  obtain h8 : n * (n + 1) * (n + 2) * (n + 3) % 8 = 0
  · have h : n % 8 = 0 ∨ n % 8 = 1 ∨ n % 8 = 2 ∨ n % 8 = 3 ∨ n % 8 = 4 ∨ n % 8 = 5 ∨ n % 8 = 6 ∨ n % 8 = 7 := by omega
    rw [Nat.mul_mod, Nat.mul_mod (n * (n + 1)), Nat.mul_mod n]
    rcases h with h | h | h | h | h | h | h | h <;> simp [Nat.add_mod, h]
  omega

theorem fifth_power_last_digit (n : Nat) : n ^ 5 % 10 = n % 10 := by
  have h1 := Nat.mul_mod (n ^ 2) (n ^ 2) 10
  have h2 := Nat.mul_mod (n ^ 4) n 10
  have h3 := Nat.mul_mod n n 10
  rw [← Nat.pow_two] at h3
  rw [← Nat.pow_add] at h1
  rw [← Nat.pow_succ] at h2
  have h : n % 10 = 0 ∨ n % 10 = 1 ∨ n % 10 = 2 ∨ n % 10 = 3 ∨ n % 10 = 4 ∨ n % 10 = 5 ∨ n % 10 = 6 ∨ n % 10 = 7 ∨ n % 10 = 8 ∨ n % 10 = 9 := by omega
  rcases h with h | h | h | h | h | h | h | h | h | h <;> rw [h] at h3 <;> rw [h3] at h1 <;> rw [h1, h] at h2 <;> rw [h, h2]

theorem cube_mod_nine (n : Nat) : n ^ 3 % 9 = 0 ∨ n ^ 3 % 9 = 1 ∨ n ^ 3 % 9 = 8 := by
  rw [Nat.pow_succ, Nat.pow_two]
  have h1 := Nat.mul_mod (n * n) n 9
  have h2 := Nat.mul_mod n n 9
  have h : n % 9 = 0 ∨ n % 9 = 1 ∨ n % 9 = 2 ∨ n % 9 = 3 ∨ n % 9 = 4 ∨ n % 9 = 5 ∨ n % 9 = 6 ∨ n % 9 = 7 ∨ n % 9 = 8 := by omega
  rcases h with h | h | h | h | h | h | h | h | h <;> rw [h] at h2 <;> rw [h2, h] at h1 <;> omega

theorem odd_iff_coprime_two (n : Nat) : n % 2 = 1 ↔ Nat.gcd n 2 = 1 := by
  constructor
  · intro h
    rw [Nat.gcd_comm, Nat.gcd_rec, h]
    exact Nat.gcd_one_left 2
  · intro h
    rcases Nat.mod_two_eq_zero_or_one n with h1 | h1
    · rw [Nat.gcd_eq_right (Nat.dvd_of_mod_eq_zero h1)] at h
      exact absurd h (by decide)
    · exact h1

theorem coprime_iff_no_common_divisor (a b : Nat) : Nat.gcd a b = 1 ↔ ∀ d, d ∣ a → d ∣ b → d = 1 := by
  constructor
  · intro h d ha hb
    apply Nat.eq_one_of_dvd_one
    rw [← h]
    exact Nat.dvd_gcd ha hb
  · intro h
    exact h _ (Nat.gcd_dvd_left a b) (Nat.gcd_dvd_right a b)

theorem coprime_prime_iff_not_dvd (p n : Nat) (h : ∀ d, d ∣ p → d = 1 ∨ d = p) (hp : 1 < p) : Nat.gcd p n = 1 ↔ ¬p ∣ n := by
  constructor
  · intro h1 h2
    rw [Nat.gcd_eq_left h2] at h1
    omega
  · intro h1
    cases h _ (Nat.gcd_dvd_left p n) with
    | inl h2 => exact h2
    | inr h2 =>
      exfalso
      apply h1
      rw [← h2]
      exact Nat.gcd_dvd_right p n

theorem gcd_sub_self_left (a b : Nat) (h : b ≤ a) : Nat.gcd (a - b) b = Nat.gcd a b := by
  obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h
  rw [Nat.add_sub_cancel_left]
  rw [Nat.gcd_comm, Nat.gcd_rec]
  rw [Nat.gcd_comm (b + k), Nat.gcd_rec b (b + k)]
  rw [Nat.add_mod_left]

theorem sub_one_dvd_sq_add_one (n : Nat) (h : 1 < n) (h1 : n - 1 ∣ n * n + 1) : n = 2 ∨ n = 3 := by
  obtain ⟨m, rfl⟩ : ∃ m, n = m + 2 := ⟨n - 2, by omega⟩
  have h2 : (m + 2) * (m + 2) + 1 = (m + 1) * (m + 3) + 2 := by grind
  have h3 : m + 2 - 1 = m + 1 := rfl
  rw [h2, h3, Nat.dvd_add_right (Nat.dvd_mul_right _ _)] at h1
  have h4 := Nat.le_of_dvd (by decide) h1
  omega

theorem twelve_dvd_sq_mul_sq_add_eleven (n : Nat) : 12 ∣ n * n * (n * n + 11) := by
  obtain h : n * n % 12 = 0 ∨ n * n % 12 = 1 ∨ n * n % 12 = 4 ∨ n * n % 12 = 9
  · have h1 := Nat.mul_mod n n 12
    have h2 : n % 12 = 0 ∨ n % 12 = 1 ∨ n % 12 = 2 ∨ n % 12 = 3 ∨ n % 12 = 4 ∨ n % 12 = 5 ∨ n % 12 = 6 ∨ n % 12 = 7 ∨ n % 12 = 8 ∨ n % 12 = 9 ∨ n % 12 = 10 ∨ n % 12 = 11 := by omega
    rcases h2 with h2 | h2 | h2 | h2 | h2 | h2 | h2 | h2 | h2 | h2 | h2 | h2 <;> rw [h2] at h1 <;> omega
  apply Nat.dvd_of_mod_eq_zero
  rw [Nat.mul_mod, Nat.add_mod]
  rcases h with h | h | h | h <;> rw [h]

theorem integer_sqrt_of_rational (a b n : Nat) (hb : 0 < b) (h : a * a = n * (b * b)) : ∃ c, n = c * c := by
  have hg : 0 < Nat.gcd a b := Nat.gcd_pos_of_pos_right a hb
  obtain ⟨x, hx⟩ := Nat.gcd_dvd_left a b
  obtain ⟨y, hy⟩ := Nat.gcd_dvd_right a b
  obtain hxy : Nat.gcd x y = 1
  · apply Nat.eq_of_mul_eq_mul_left hg
    rw [← Nat.gcd_mul_left, ← hx, ← hy, Nat.mul_one]
  obtain h1 : x * x = n * (y * y)
  · apply Nat.eq_of_mul_eq_mul_left (Nat.mul_pos hg hg)
    rw [Nat.mul_mul_mul_comm _ _ x x, Nat.mul_left_comm _ n, Nat.mul_mul_mul_comm _ _ y y, ← hx, ← hy, h]
  obtain h2 : y ∣ 1
  · have h3 : Nat.gcd (x * x) (y * x) = x := by rw [Nat.gcd_mul_right, hxy, Nat.one_mul]
    rw [← hxy]
    refine Nat.dvd_gcd ?_ (Nat.dvd_refl y)
    rw [← h3]
    refine Nat.dvd_gcd ?_ (Nat.dvd_mul_right y x)
    rw [h1]
    exact Nat.dvd_mul_left_of_dvd (Nat.dvd_mul_right y y) n
  rw [Nat.eq_one_of_dvd_one h2, Nat.mul_one] at h1
  exact ⟨x, h1.symm⟩

theorem coprime_powers (a b m n : Nat) (h : Nat.gcd a b = 1) : Nat.gcd (a ^ m) (b ^ n) = 1 := by
  obtain h1 : ∀ x y k : Nat, Nat.gcd x y = 1 → Nat.gcd x (y ^ k) = 1
  · intro x y k hxy
    induction k with
    | zero => exact Nat.gcd_one_right x
    | succ k ih =>
      have h2 : Nat.gcd (x * y) (y ^ k * y) = y := by rw [Nat.gcd_mul_right, ih, Nat.one_mul]
      have h3 := Nat.gcd_dvd_gcd_of_dvd_left (y ^ k * y) (Nat.dvd_mul_right x y)
      rw [h2] at h3
      have h4 := Nat.dvd_gcd (Nat.gcd_dvd_left x (y ^ k * y)) h3
      rw [hxy] at h4
      exact Nat.eq_one_of_dvd_one h4
  rw [Nat.gcd_comm]
  apply h1
  rw [Nat.gcd_comm]
  exact h1 a b n h

theorem dvd_of_pow_dvd_pow (a b n : Nat) (hn : 0 < n) (hc : ∀ x y, Nat.gcd x y = 1 → Nat.gcd x (y ^ n) = 1) (h : a ^ n ∣ b ^ n) : a ∣ b := by
  cases Nat.eq_zero_or_pos (Nat.gcd a b) with
  | inl hg =>
    rw [Nat.eq_zero_of_gcd_eq_zero_right hg]
    exact Nat.dvd_zero a
  | inr hg =>
    obtain ⟨x, hx⟩ := Nat.gcd_dvd_left a b
    obtain ⟨y, hy⟩ := Nat.gcd_dvd_right a b
    obtain hxy : Nat.gcd x y = 1
    · apply Nat.eq_of_mul_eq_mul_left hg
      rw [← Nat.gcd_mul_left, ← hx, ← hy, Nat.mul_one]
    obtain h1 : x ^ n ∣ y ^ n
    · apply Nat.dvd_of_mul_dvd_mul_left (Nat.pow_pos (n := n) hg)
      rw [← Nat.mul_pow, ← Nat.mul_pow, ← hx, ← hy]
      exact h
    obtain ⟨k, rfl⟩ := Nat.exists_eq_add_one_of_ne_zero (Nat.ne_of_gt hn)
    have h2 : x ∣ y ^ (k + 1) := Nat.dvd_trans (by rw [Nat.pow_succ]; exact Nat.dvd_mul_left _ _) h1
    have h3 := hc x y hxy
    rw [Nat.gcd_eq_left h2] at h3
    rw [hx, h3, Nat.mul_one]
    exact Nat.gcd_dvd_right a b

theorem factorial_mul_factorial_dvd (f : Nat → Nat) (h0 : f 0 = 1) (hf : ∀ n, f (n + 1) = (n + 1) * f n) (m n : Nat) : f m * f n ∣ f (m + n) := by
  induction m generalizing n with
  | zero =>
    rw [h0, Nat.one_mul, Nat.zero_add]
    exact Nat.dvd_refl (f n)
  | succ m ih =>
    induction n with
    | zero =>
      rw [h0, Nat.mul_one]
      exact Nat.dvd_refl _
    | succ n ih2 =>
      have h1 := ih (n + 1)
      have h2 : f (m + 1 + (n + 1)) = (m + 1) * f (m + (n + 1)) + (n + 1) * f (m + 1 + n) := by rw [← Nat.add_assoc, hf, Nat.add_assoc (m + 1), Nat.add_mul, Nat.add_right_comm m 1 n, Nat.add_assoc m n 1]
      rw [h2]
      apply Nat.dvd_add
      · rw [hf m, Nat.mul_assoc]
        exact Nat.mul_dvd_mul_left _ h1
      · rw [hf n, Nat.mul_left_comm]
        exact Nat.mul_dvd_mul_left _ ih2

theorem order_divides_gcd (a k m n : Nat) : a ^ m % k = 1 % k → a ^ n % k = 1 % k → a ^ Nat.gcd m n % k = 1 % k := by
  refine Nat.gcd.induction m n ?_ ?_
  · intro n h h1
    rw [Nat.gcd_zero_left]
    exact h1
  · intro m n hm ih h h1
    rw [Nat.gcd_rec]
    refine ih ?_ h
    obtain h2 : (a ^ m) ^ (n / m) % k = 1 % k
    · generalize n / m = q
      induction q with
      | zero => rfl
      | succ q ih2 => rw [Nat.pow_succ, Nat.mul_mod, ih2, h, ← Nat.mul_mod, Nat.mul_one]
    rw [← Nat.div_add_mod n m, Nat.pow_add, Nat.pow_mul, Nat.mul_mod, h2, ← Nat.mul_mod, Nat.one_mul] at h1
    exact h1

theorem eq_one_of_dvd_pow_of_coprime (a b n : Nat) (h : Nat.gcd a b = 1) (h1 : a ∣ b ^ n) : a = 1 := by
  induction n with
  | zero => exact Nat.eq_one_of_dvd_one h1
  | succ n ih =>
    apply ih
    have h2 : Nat.gcd (a * b ^ n) (b * b ^ n) = b ^ n := by rw [Nat.gcd_mul_right, h, Nat.one_mul]
    rw [← h2]
    apply Nat.dvd_gcd
    · exact Nat.dvd_mul_right a _
    · rw [← Nat.pow_succ']
      exact h1

theorem mersenne_prime_exponent (a b : Nat) (hd : 2 ^ a - 1 ∣ 2 ^ (a * b) - 1) (ha : 0 < a) (h : ∀ d, d ∣ 2 ^ (a * b) - 1 → d = 1 ∨ d = 2 ^ (a * b) - 1) : a = 1 ∨ b = 1 := by
  have h1 := Nat.two_pow_pos a
  have h2 := Nat.two_pow_pos (a * b)
  cases h _ hd with
  | inl h3 =>
    left
    apply Nat.le_antisymm
    · apply Nat.le_of_not_lt
      intro h4
      have h5 := Nat.pow_lt_pow_right (show 1 < 2 by decide) h4
      omega
    · exact ha
  | inr h3 =>
    right
    apply Nat.eq_of_mul_eq_mul_left ha
    rw [Nat.mul_one]
    rcases Nat.lt_trichotomy (a * b) a with h4 | h4 | h4
    · have h5 := Nat.pow_lt_pow_right (show 1 < 2 by decide) h4
      omega
    · exact h4
    · have h5 := Nat.pow_lt_pow_right (show 1 < 2 by decide) h4
      omega

theorem sylvester_coprime (s : Nat → Nat) (h0 : s 0 = 2) (hs : ∀ n, s (n + 1) = s n * (s n - 1) + 1) (m k : Nat) : Nat.gcd (s m) (s (m + k + 1)) = 1 := by
  obtain ⟨t, ht⟩ : ∃ t, s (m + k + 1) = s m * t + 1
  · induction k with
    | zero => exact ⟨s m - 1, hs m⟩
    | succ k ih =>
      obtain ⟨t, ht⟩ := ih
      refine ⟨(s m * t + 1) * t, ?_⟩
      rw [← Nat.add_assoc, hs, ht, Nat.add_sub_cancel]
      rw [Nat.mul_left_comm]
  rw [ht, Nat.gcd_rec, Nat.add_comm, Nat.add_mul_mod_self_left, ← Nat.gcd_rec]
  exact Nat.gcd_one_right (s m)

theorem fermat_numbers_coprime (f : Nat → Nat) (h0 : f 0 = 3) (hs : ∀ n, f (n + 1) = f n * (f n - 2) + 2) (m k : Nat) : Nat.gcd (f m) (f (m + k + 1)) = 1 := by
  obtain hodd : ∀ n, ∃ j, f n = 2 * j + 3
  · intro n
    induction n with
    | zero => exact ⟨0, h0⟩
    | succ n ih =>
      obtain ⟨j, hj⟩ := ih
      rw [hs, hj]
      show ∃ i, (2 * j + 3) * (2 * j + 1) + 2 = 2 * i + 3
      exact ⟨2 * (j * j) + 4 * j + 1, by grind⟩
  obtain ⟨t, ht⟩ : ∃ t, f (m + k + 1) = f m * t + 2
  · induction k with
    | zero => exact ⟨f m - 2, hs m⟩
    | succ k ih =>
      obtain ⟨t, ht⟩ := ih
      refine ⟨(f m * t + 2) * t, ?_⟩
      rw [← Nat.add_assoc, hs, ht, Nat.add_sub_cancel, Nat.mul_left_comm]
  rw [ht, Nat.gcd_rec, Nat.add_comm, Nat.add_mul_mod_self_left, ← Nat.gcd_rec]
  obtain ⟨j, hj⟩ := hodd m
  have h1 : (2 * j + 3) % 2 = 1 := by omega
  rw [hj, Nat.gcd_comm, Nat.gcd_rec, h1]
  exact Nat.gcd_one_left 2

theorem sum_of_digits_base_two_le (s : Nat → Nat) (h0 : s 0 = 0) (he : ∀ n, s (2 * n) = s n) (ho : ∀ n, s (2 * n + 1) = s n + 1) (k n : Nat) (h : n < 2 ^ k) : s n ≤ k := by
  induction k generalizing n with
  | zero =>
    have h1 : n = 0 := by rw [Nat.pow_zero] at h; omega
    rw [h1, h0]
  | succ k ih =>
    rw [Nat.pow_succ] at h
    have h1 := ih (n / 2) (by omega)
    rcases Nat.mod_two_eq_zero_or_one n with h2 | h2
    · have h3 : n = 2 * (n / 2) := by omega
      rw [h3, he]
      omega
    · have h3 : n = 2 * (n / 2) + 1 := by omega
      rw [h3, ho]
      omega

theorem binary_digits_subadditive (s : Nat → Nat) (h0 : s 0 = 0) (he : ∀ n, s (2 * n) = s n) (ho : ∀ n, s (2 * n + 1) = s n + 1) (n : Nat) : s (n + 1) ≤ s n + 1 := by
  induction n using Nat.strongRecOn with
  | ind n ih =>
    rcases Nat.mod_two_eq_zero_or_one n with h | h
    · obtain ⟨k, rfl⟩ := Nat.dvd_of_mod_eq_zero h
      rw [ho, he]
    · obtain ⟨k, rfl⟩ : ∃ k, n = 2 * k + 1 := ⟨n / 2, by omega⟩
      have h1 := ih k (by omega)
      rw [ho, Nat.add_assoc, ← Nat.mul_add_one 2 k, he]
      omega

theorem exists_binary_representation (P : Nat → Prop) (h0 : P 0) (h1 : ∀ n, P n → P (2 * n)) (h2 : ∀ n, P n → P (2 * n + 1)) (n : Nat) : P n := by
  induction n using Nat.strongRecOn with
  | ind n ih =>
    cases Nat.eq_zero_or_pos n with
    | inl h =>
      rw [h]
      exact h0
    | inr h =>
      have h3 := ih (n / 2) (Nat.div_lt_self h (by decide))
      rcases Nat.mod_two_eq_zero_or_one n with h4 | h4
      · have h5 := h1 _ h3
        rw [Nat.mul_div_cancel' (Nat.dvd_of_mod_eq_zero h4)] at h5
        exact h5
      · have h5 := h2 _ h3
        rw [← h4, Nat.div_add_mod] at h5
        exact h5

theorem forward_backward_induction (P : Nat → Prop) (h0 : P 1) (h2 : ∀ n, P n → P (2 * n)) (hd : ∀ n, P (n + 1) → P n) (n : Nat) : P n := by
  obtain h : ∀ k, P (2 ^ k)
  · intro k
    induction k with
    | zero => exact h0
    | succ k ih =>
      rw [Nat.pow_succ']
      exact h2 _ ih
  obtain h1 : ∀ j m, P (m + j) → P m
  · intro j
    induction j with
    | zero =>
      intro m hm
      exact hm
    | succ j ih =>
      intro m hm
      exact ih m (hd (m + j) hm)
  apply h1 (2 ^ n - n)
  rw [Nat.add_sub_of_le (Nat.le_of_lt (Nat.lt_pow_self (Nat.lt_succ_self 1)))]
  exact h n
