/-
Theorems of elementary number theory without reference proofs: true, and tested on small values, but open here.
-/

theorem gcd_fib_fib (f : Nat → Nat) (h0 : f 0 = 0) (h1 : f 1 = 1) (h : ∀ n, f (n + 2) = f n + f (n + 1)) (m n : Nat) : Nat.gcd (f m) (f n) = f (Nat.gcd m n) := by
  sorry

theorem fermat_little (p n : Nat) (hp : 1 < p) (h : ∀ d, d ∣ p → d = 1 ∨ d = p) : n ^ p % p = n % p := by
  sorry

theorem wilson (f : Nat → Nat) (p : Nat) (h0 : f 0 = 1) (hf : ∀ n, f (n + 1) = (n + 1) * f n) (hp : 1 < p) (h : ∀ d, d ∣ p → d = 1 ∨ d = p) : p ∣ f (p - 1) + 1 := by
  sorry

theorem not_dvd_two_pow_sub_one (n : Nat) (h : 1 < n) : ¬n ∣ 2 ^ n - 1 := by
  sorry

theorem prime_three_mod_four_dvd_sum_squares (p a b : Nat) (h : ∀ d, d ∣ p → d = 1 ∨ d = p) (hp : p % 4 = 3) (h1 : p ∣ a * a + b * b) : p ∣ a := by
  sorry

theorem am_gm_four (a b c d : Nat) : 256 * (a * b * c * d) ≤ (a + b + c + d) ^ 4 := by
  sorry

theorem am_gm_three (a b c : Nat) : 27 * (a * b * c) ≤ (a + b + c) ^ 3 := by
  sorry

theorem succ_pow_le_pow_succ (n : Nat) (h : 3 ≤ n) : (n + 1) ^ n ≤ n ^ (n + 1) := by
  sorry

theorem factorial_double_le_four_pow (f : Nat → Nat) (h0 : f 0 = 1) (hf : ∀ n, f (n + 1) = (n + 1) * f n) (n : Nat) : f (2 * n) ≤ 4 ^ n * (f n * f n) := by
  sorry

theorem fermat_four (a b c : Nat) (h : a ^ 4 + b ^ 4 = c * c) : a * b = 0 := by
  sorry

theorem power_mean_two (a b n : Nat) : (a + b) ^ n ≤ 2 ^ (n - 1) * (a ^ n + b ^ n) := by
  sorry

theorem catalan_divisibility (f : Nat → Nat) (h0 : f 0 = 1) (hf : ∀ n, f (n + 1) = (n + 1) * f n) (n : Nat) : f n * f (n + 1) ∣ f (2 * n) := by
  sorry

theorem primes_infinite_three_mod_four (n : Nat) : ∃ p, n < p ∧ p % 4 = 3 ∧ ∀ d, d ∣ p → d = 1 ∨ d = p := by
  sorry
