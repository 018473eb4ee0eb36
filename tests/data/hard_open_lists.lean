/-
True statements of the hard benchmark without a proof yet; each was tested on small values, or follows by a short proof on paper.
-/

theorem ramsey_three_three (c : Nat → Nat → Bool) : ∃ i j k, i < j ∧ j < k ∧ k < 6 ∧ c i j = c j k ∧ c j k = c i k := by
  sorry

theorem five_distinct_numbers_monotone_triple (f : Nat → Nat) (h : ∀ i j, i < j → j < 5 → f i ≠ f j) : ∃ i j k, i < j ∧ j < k ∧ k < 5 ∧ (f i < f j ∧ f j < f k ∨ f k < f j ∧ f j < f i) := by
  sorry

theorem tripling_twice_at_four (f : Nat → Nat) (hm : ∀ a b, a < b → f a < f b) (h : ∀ n, f (f n) = 3 * n) : f 4 = 7 := by
  sorry

theorem sum_of_squared_binomials (c s : Nat → Nat → Nat) (h0 : ∀ n, c n 0 = 1) (h1 : ∀ k, c 0 (k + 1) = 0) (h2 : ∀ n k, c (n + 1) (k + 1) = c n k + c n (k + 1)) (s0 : ∀ n, s n 0 = 0) (hs : ∀ n k, s n (k + 1) = s n k + c n k * c n k) (n : Nat) : s n (n + 1) = c (2 * n) n := by
  sorry
