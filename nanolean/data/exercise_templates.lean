-- Exercises as people set them, each with a proof: the texts that `exercises.py` makes supervised proofs of.
-- A block begins with `--- name`. In it `$n` is a variable, `$f` a function, `$F` a definition, `$T` a type, `$P` a
-- predicate, `$h` a hypothesis, `$l` a list (further ones with a digit: `$n1`); `#a` is a small number, `#(a+b)` a sum
-- computed from such; `⟦this¦that⟧` is one of several texts.

--- sum_of_constants
def $F : Nat → Nat
  | 0 => 0
  | n + 1 => ⟦$F n + #a¦#a + $F n⟧

theorem $t ($n : Nat) : $F $n = ⟦#a * $n¦$n * #a⟧ := by
  induction $n with
  | zero => ⟦rfl¦simp [$F]⟧
  | succ $n ih =>
    ⟦rw [$F, ih]¦rw [$F]¦simp only [$F, ih]⟧
    omega

--- sum_with_start
def $F : Nat → Nat
  | 0 => #b
  | n + 1 => $F n + #a

theorem $t ($n : Nat) : $F $n = #a * $n + #b := by
  induction $n with
  | zero => rfl
  | succ $n ih =>
    ⟦rw [$F, ih]¦rw [$F]⟧
    omega

--- sum_of_numbers
def $F : Nat → Nat
  | 0 => 0
  | n + 1 => $F n + (n + 1)

theorem $t ($n : Nat) : 2 * $F $n = $n * ($n + 1) := by
  induction $n with
  | zero => rfl
  | succ $n ih =>
    rw [$F, Nat.mul_add, ih]
    grind

--- sum_of_multiples
def $F : Nat → Nat
  | 0 => 0
  | n + 1 => $F n + #(2*a) * (n + 1)

theorem $t ($n : Nat) : $F $n = #a * ($n * ($n + 1)) := by
  induction $n with
  | zero => rfl
  | succ $n ih =>
    rw [$F, ih]
    grind

--- sum_of_odd_numbers
def $F : Nat → Nat
  | 0 => 0
  | n + 1 => $F n + (2 * n + 1)

theorem $t ($n : Nat) : $F $n = ⟦$n * $n¦$n ^ 2⟧ := by
  induction $n with
  | zero => rfl
  | succ $n ih =>
    rw [$F, ih]
    grind

--- sum_of_odd_numbers_multiple
def $F : Nat → Nat
  | 0 => 0
  | n + 1 => $F n + #a * (2 * n + 1)

theorem $t ($n : Nat) : $F $n = #a * ($n * $n) := by
  induction $n with
  | zero => rfl
  | succ $n ih =>
    rw [$F, ih]
    grind

--- quadratic_of_recursion
theorem $t ($f : Nat → Nat) ($h : $f 0 = #c) ($h1 : ∀ $n, $f ($n + 1) = $f $n + #(2*a) * $n + #(a+b)) ($n : Nat) : $f $n = #a * ($n * $n) + #b * $n + #c := by
  induction $n with
  | zero =>
    rw [$h]
  | succ $n ih =>
    rw [$h1, ih]
    grind

--- sum_of_function_bounded
theorem $t ($f $f1 : Nat → Nat) ($h : $f 0 = 0) ($h1 : ∀ $n, $f ($n + 1) = $f $n + $f1 $n) ($h2 : ∀ $n, $f1 $n ≤ #a) ($n : Nat) : $f $n ≤ #a * $n := by
  induction $n with
  | zero => ⟦omega¦rw [$h]⟧
  | succ $n ih =>
    have $h3 := $h2 $n
    rw [$h1]
    omega

--- sum_of_function_linear
theorem $t ($f $f1 : Nat → Nat) ($h : $f 0 = 0) ($h1 : ∀ $n, $f ($n + 1) = $f $n + #a * $f1 $n) ($h2 : ∀ $n, $f1 $n = #b) ($n : Nat) : $f $n = #(a*b) * $n := by
  induction $n with
  | zero => exact $h
  | succ $n ih =>
    rw [$h1, $h2, ih]
    omega

--- double_is_twice
def $F : Nat → Nat
  | 0 => 0
  | n + 1 => $F n + #a

theorem $t ($n $n1 : Nat) : $F ($n + $n1) = $F $n + $F $n1 := by
  induction $n1 with
  | zero => ⟦rfl¦rw [Nat.add_zero, $F, Nat.add_zero]⟧
  | succ $n1 ih =>
    rw [← Nat.add_assoc, $F, $F, ih]
    omega

--- additive_from_closed_form
def $F : Nat → Nat
  | 0 => 0
  | n + 1 => $F n + #a

theorem $t ($n $n1 : Nat) : $F ($n + $n1) = $F $n + $F $n1 := by
  have $h : ∀ $n2, $F $n2 = #a * $n2 := ?_
  · rw [$h, $h, $h]
    omega
  · intro $n2
    induction $n2 with
    | zero => rfl
    | succ $n2 ih =>
      rw [$F, ih]
      omega

--- power_definition
def $F : Nat → Nat
  | 0 => 1
  | n + 1 => ⟦1:#a * $F n¦$F n * #a⟧

theorem $t ($n : Nat) : $F $n = #a ^ $n := by
  induction $n with
  | zero => rfl
  | succ $n ih =>
    rw [$F, ih, Nat.pow_succ]
    ⟦1:omega¦⟧

--- power_definition_positive
def $F : Nat → Nat
  | 0 => 1
  | n + 1 => #a * $F n

theorem $t ($n : Nat) : ⟦0 < $F $n¦1 ≤ $F $n¦$F $n ≠ 0⟧ := by
  induction $n with
  | zero => decide
  | succ $n ih =>
    rw [$F]
    omega

--- power_definition_product
def $F ($n3 : Nat) : Nat → Nat
  | 0 => 1
  | n + 1 => $n3 * $F $n3 n

theorem $t ($n $n1 $n2 : Nat) : $F $n ($n1 + $n2) = $F $n $n1 * $F $n $n2 := by
  induction $n1 with
  | zero => rw [Nat.zero_add, $F, Nat.one_mul]
  | succ $n1 ih =>
    rw [Nat.add_right_comm, $F, $F, ih]
    rw [Nat.mul_assoc]

--- power_grows
theorem $t ($n : Nat) : $n < ⟦2¦3¦4¦5⟧ ^ $n := by
  induction $n with
  | zero => decide
  | succ $n ih =>
    rw [Nat.pow_succ]
    omega

--- power_grows_from
theorem $t ($n : Nat) ($h : #a ≤ $n) : $n + #a < ⟦3¦4⟧ ^ $n := by
  induction $h with
  | refl => decide
  | step $h ih =>
    rw [Nat.pow_succ]
    ⟦omega¦grind⟧

--- power_beats_multiple
theorem $t ($n : Nat) ($h : 4 ≤ $n) : 3 * $n < 2 ^ $n := by
  induction $h with
  | refl => decide
  | step $h ih =>
    rw [Nat.pow_succ]
    ⟦omega¦grind⟧

--- square_below_power
theorem $t ($n : Nat) : ($n + 5) * ($n + 5) ⟦<¦+ 1 ≤⟧ 2 ^ ($n + 5) := by
  induction $n with
  | zero => decide
  | succ $n ih =>
    rw [Nat.add_right_comm, Nat.pow_succ]
    grind

--- bernoulli
theorem $t ($n $n1 : Nat) : 1 + $n1 * $n ≤ (1 + $n) ^ $n1 := by
  induction $n1 with
  | zero => rw [Nat.zero_mul, Nat.pow_zero, Nat.add_zero]
  | succ $n1 ih =>
    rw [Nat.pow_succ]
    have $h := Nat.mul_le_mul_right (1 + $n) ih
    have $h1 := Nat.zero_le ($n1 * $n * $n)
    grind

--- factorial_positive
def $F : Nat → Nat
  | 0 => 1
  | n + 1 => (n + 1) * $F n

theorem $t ($n : Nat) : 0 < $F $n := by
  induction $n with
  | zero => decide
  | succ $n ih =>
    rw [$F]
    ⟦apply Nat.mul_pos¦refine Nat.mul_pos ?_ ?_⟧
    · exact Nat.succ_pos $n
    · exact ih

--- factorial_grows
def $F : Nat → Nat
  | 0 => 1
  | n + 1 => (n + 1) * $F n

theorem $t ($n : Nat) : $F $n ≤ $F ($n + 1) := by
  rw [$F]
  exact Nat.le_mul_of_pos_left ($F $n) (Nat.succ_pos $n)

--- factorial_divides
def $F : Nat → Nat
  | 0 => 1
  | n + 1 => (n + 1) * $F n

theorem $t ($n $n1 : Nat) : $F $n ∣ $F ($n + $n1) := by
  induction $n1 with
  | zero => exact Nat.dvd_refl ($F $n)
  | succ $n1 ih =>
    rw [← Nat.add_assoc, $F]
    exact Nat.dvd_mul_left_of_dvd ih _

--- factorial_divides_le
theorem $t ($f : Nat → Nat) ($h : ∀ $n, $f ($n + 1) = ⟦1:($n + 1) * $f $n¦#a * $f $n¦$f $n * #a⟧) ($n $n1 : Nat) ($h1 : $n ≤ $n1) : $f $n ∣ $f $n1 := by
  induction $h1 with
  | refl => exact Nat.dvd_refl ($f $n)
  | step $h1 ih =>
    rw [$h]
    exact Nat.dvd_trans ih (Nat.⟦1:dvd_mul_left¦dvd_mul_left¦dvd_mul_right⟧ _ _)

--- every_factor_divides
def $F : Nat → Nat
  | 0 => 1
  | n + 1 => (n + 1) * $F n

theorem $t ($n $n1 : Nat) ($h : 0 < $n) ($h1 : $n ≤ $n1) : $n ∣ $F $n1 := by
  induction $n1 with
  | zero => omega
  | succ $n1 ih =>
    rw [$F]
    by_cases $h2 : $n = $n1 + 1
    · rw [$h2]
      exact Nat.dvd_mul_right ($n1 + 1) ($F $n1)
    · have $h3 := ih (by omega)
      exact Nat.dvd_mul_left_of_dvd $h3 ($n1 + 1)

--- fibonacci_monotone
def $F : Nat → Nat
  | 0 => 0
  | 1 => 1
  | n + 2 => $F n + $F (n + 1)

theorem $t ($n : Nat) : $F $n ≤ $F ($n + 1) := by
  cases $n with
  | zero => decide
  | succ $n =>
    rw [$F]
    exact Nat.le_add_left _ _

--- fibonacci_sum
theorem $t ($f $f1 : Nat → Nat) ($h : $f 0 = 0) ($h1 : $f 1 = 1) ($h2 : ∀ $n, $f ($n + 2) = $f ($n + 1) + $f $n) ($h3 : $f1 0 = 0) ($h4 : ∀ $n, $f1 ($n + 1) = $f1 $n + $f ($n + 1)) ($n : Nat) : $f1 $n + 1 = $f ($n + 2) := by
  induction $n with
  | zero =>
    rw [$h3, $h2, $h1, $h]
  | succ $n ih =>
    rw [$h4, $h2 ($n + 1), ← ih]
    omega

--- fibonacci_pair
theorem $t ($f : Nat → Nat) ($h : $f 0 = 0) ($h1 : $f 1 = 1) ($h2 : ∀ $n, $f ($n + 2) = $f ($n + 1) + $f $n) ($n : Nat) : $f $n < 2 ^ $n ∧ $f ($n + 1) ≤ 2 ^ $n := by
  induction $n with
  | zero =>
    rw [$h, $h1]
    decide
  | succ $n ih =>
    obtain ⟨$h3, $h4⟩ := ih
    rw [$h2, Nat.pow_succ]
    omega

--- fibonacci_positive
theorem $t ($f : Nat → Nat) ($h : 0 < $f 0) ($h1 : 0 < $f 1) ($h2 : ∀ $n, $f ($n + 2) = $f ($n + 1) + $f $n) ($n : Nat) : 0 < $f $n := by
  have $h3 : 0 < $f $n ∧ 0 < $f ($n + 1) := ?_
  · exact $h3.1
  · induction $n with
    | zero => exact ⟨$h, $h1⟩
    | succ $n ih =>
      obtain ⟨$h4, $h5⟩ := ih
      constructor
      · exact $h5
      · rw [$h2]
        omega

--- fibonacci_positive_strong
theorem $t ($f : Nat → Nat) ($h : $f 0 = 1) ($h1 : $f 1 = #a) ($h2 : ∀ $n, $f ($n + 2) = $f ($n + 1) + $f $n) ($n : Nat) : 0 < $f $n := by
  induction $n using Nat.strongRecOn with
  | ind $n ih =>
    cases $n with
    | zero =>
      rw [$h]
      decide
    | succ $n =>
      cases $n with
      | zero =>
        rw [$h1]
        decide
      | succ $n =>
        rw [$h2]
        have $h3 := ih $n (by omega)
        omega

--- two_step_induction
theorem $t ($P : Nat → Prop) ($h : $P 0) ($h1 : $P 1) ($h2 : ∀ $n, $P $n → $P ($n + 2)) ($n : Nat) : $P $n := by
  have $h3 : $P $n ∧ $P ($n + 1) := ?_
  · exact $h3.1
  · induction $n with
    | zero => exact ⟨$h, $h1⟩
    | succ $n ih =>
      obtain ⟨$h4, $h5⟩ := ih
      exact ⟨$h5, $h2 $n $h4⟩

--- two_step_induction_strong
theorem $t ($P : Nat → Prop) ($h : $P 0) ($h1 : $P 1) ($h2 : ∀ $n, $P $n → $P ($n + 1) → $P ($n + 2)) ($n : Nat) : $P $n := by
  induction $n using Nat.strongRecOn with
  | ind $n ih =>
    cases $n with
    | zero => exact $h
    | succ $n =>
      cases $n with
      | zero => exact $h1
      | succ $n =>
        apply $h2
        · exact ih $n (by omega)
        · exact ih ($n + 1) (by omega)

--- course_of_values
theorem $t ($P : Nat → Prop) ($h : ∀ $n, (∀ $n1, $n1 < $n → $P $n1) → $P $n) ($n : Nat) : $P $n := by
  have $h1 : ∀ $n2 $n3, $n3 < $n2 → $P $n3 := ?_
  · exact $h1 ($n + 1) $n (Nat.lt_succ_self $n)
  · intro $n2
    induction $n2 with
    | zero =>
      intro $n3 $h2
      omega
    | succ $n2 ih =>
      intro $n3 $h2
      apply $h
      intro $n4 $h3
      apply ih
      omega

--- strong_by_halving
theorem $t ($P : Nat → Prop) ($h : $P 0) ($h1 : ∀ $n, $P $n → $P (2 * $n)) ($h2 : ∀ $n, $P $n → $P (2 * $n + 1)) ($n : Nat) : $P $n := by
  induction $n using Nat.strongRecOn with
  | ind $n ih =>
    by_cases $h3 : $n = 0
    · rw [$h3]
      exact $h
    · have $h4 := ih ($n / 2) (by omega)
      rcases Nat.mod_two_eq_zero_or_one $n with $h5 | $h5
      · have $h6 : $n = 2 * ($n / 2) := by omega
        rw [$h6]
        exact $h1 _ $h4
      · have $h6 : $n = 2 * ($n / 2) + 1 := by omega
        rw [$h6]
        exact $h2 _ $h4

--- coins
theorem $t ($n : Nat) ($h : 8 ≤ $n) : ∃ $n1 $n2, $n = 3 * $n1 + 5 * $n2 := by
  induction $n using Nat.strongRecOn with
  | ind $n ih =>
    by_cases $h1 : $n < 11
    · have $h2 : $n = 8 ∨ $n = 9 ∨ $n = 10 := by omega
      rcases $h2 with $h2 | $h2 | $h2
      · exact ⟨1, 1, by omega⟩
      · exact ⟨3, 0, by omega⟩
      · exact ⟨0, 2, by omega⟩
    · obtain ⟨$n1, $n2, $h3⟩ := ih ($n - 3) (by omega) (by omega)
      exact ⟨$n1 + 1, $n2, by omega⟩

--- coins_two_and
theorem $t ($n : Nat) ($h : #(2*a) ≤ $n) : ∃ $n1 $n2, $n = 2 * $n1 + #(2*a+1) * $n2 := by
  rcases Nat.mod_two_eq_zero_or_one $n with $h1 | $h1
  · exact ⟨$n / 2, 0, by omega⟩
  · exact ⟨($n - #(2*a+1)) / 2, 1, by omega⟩

--- parity_function
def $F : Nat → Bool
  | 0 => true
  | n + 1 => !$F n

theorem $t ($n : Nat) : $F ($n + 2) = $F $n := by
  rw [$F, $F]
  ⟦cases $F $n <;> rfl¦simp⟧

--- parity_function_double
def $F : Nat → Bool
  | 0 => true
  | n + 1 => !$F n

theorem $t ($n : Nat) : $F (2 * $n) = true := by
  induction $n with
  | zero => rfl
  | succ $n ih =>
    rw [Nat.mul_add_one, $F, $F, ih]
    rfl

--- parity_function_mod
def $F : Nat → Bool
  | 0 => true
  | n + 1 => !$F n

theorem $t ($n : Nat) : $F $n = true ↔ $n % 2 = 0 := by
  induction $n with
  | zero => decide
  | succ $n ih =>
    rw [$F]
    cases $h : $F $n with
    | true =>
      rw [$h] at ih
      simp at ih
      simp
      omega
    | false =>
      rw [$h] at ih
      simp at ih
      simp
      omega

--- even_or_odd
theorem $t ($n : Nat) : (∃ $n1, $n = 2 * $n1) ∨ ∃ $n1, $n = 2 * $n1 + 1 := by
  induction $n with
  | zero => exact Or.inl ⟨0, rfl⟩
  | succ $n ih =>
    rcases ih with ⟨$n1, $h⟩ | ⟨$n1, $h⟩
    · right
      exact ⟨$n1, by omega⟩
    · left
      exact ⟨$n1 + 1, by omega⟩

--- even_plus_even
theorem $t ($n $n1 : Nat) ($h : ∃ $n2, $n = #a * $n2) ($h1 : ∃ $n2, $n1 = #a * $n2) : ∃ $n2, $n + $n1 = #a * $n2 := by
  obtain ⟨$n3, $h2⟩ := $h
  obtain ⟨$n4, $h3⟩ := $h1
  exact ⟨$n3 + $n4, by ⟦omega¦rw [$h2, $h3, Nat.mul_add]⟧⟩

--- odd_times_odd
theorem $t ($n $n1 : Nat) ($h : ∃ $n2, $n = 2 * $n2 + 1) ($h1 : ∃ $n2, $n1 = 2 * $n2 + 1) : ∃ $n2, $n * $n1 = 2 * $n2 + 1 := by
  obtain ⟨$n3, rfl⟩ := $h
  obtain ⟨$n4, rfl⟩ := $h1
  exact ⟨2 * $n3 * $n4 + $n3 + $n4, by grind⟩

--- even_times_any
theorem $t ($n $n1 : Nat) ($h : ∃ $n2, $n = #a * $n2) : ∃ $n2, ⟦$n * $n1¦$n1 * $n⟧ = #a * $n2 := by
  obtain ⟨$n3, rfl⟩ := $h
  exact ⟨$n3 * $n1, by grind⟩

--- odd_square
theorem $t ($n : Nat) ($h : $n % 2 = 1) : $n * $n % ⟦2¦4⟧ = 1 := by
  obtain ⟨$n1, rfl⟩ : ∃ $n1, $n = 2 * $n1 + 1 := ⟨$n / 2, by omega⟩
  have $h1 : (2 * $n1 + 1) * (2 * $n1 + 1) = 4 * ($n1 * $n1 + $n1) + 1 := by grind
  omega

--- consecutive_product_even
theorem $t ($n : Nat) : ⟦2 ∣ $n * ($n + 1)¦$n * ($n + 1) % 2 = 0⟧ := by
  induction $n with
  | zero => decide
  | succ $n ih =>
    have $h : ($n + 1) * ($n + 1 + 1) = $n * ($n + 1) + 2 * ($n + 1) := by grind
    omega

--- square_mod
theorem $t ($n : Nat) : $n * $n % 3 = 0 ∨ $n * $n % 3 = 1 := by
  rw [Nat.mul_mod]
  have $h : $n % 3 = 0 ∨ $n % 3 = 1 ∨ $n % 3 = 2 := by omega
  rcases $h with $h | $h | $h
  · rw [$h]
    decide
  · rw [$h]
    decide
  · rw [$h]
    decide

--- square_mod_four
theorem $t ($n : Nat) : $n * $n % 4 = 0 ∨ $n * $n % 4 = 1 := by
  rw [Nat.mul_mod]
  have $h : $n % 4 = 0 ∨ $n % 4 = 1 ∨ $n % 4 = 2 ∨ $n % 4 = 3 := by omega
  rcases $h with $h | $h | $h | $h <;> rw [$h] <;> decide

--- square_never
theorem $t ($n $n1 : Nat) : $n * $n ≠ ⟦1:3 * $n1 + 2¦4 * $n1 + 2¦4 * $n1 + 3¦5 * $n1 + 2¦5 * $n1 + 3⟧ := by
  intro $h
  have $h1 := Nat.mul_mod $n $n ⟦1:3¦4¦4¦5¦5⟧
  rw [$h] at $h1
  have $h3 : $n % ⟦1:3¦4¦4¦5¦5⟧ = 0 ∨ $n % ⟦1:3¦4¦4¦5¦5⟧ = 1 ∨ $n % ⟦1:3¦4¦4¦5¦5⟧ = 2⟦1:¦ ∨ $n % 4 = 3¦ ∨ $n % 4 = 3¦ ∨ $n % 5 = 3 ∨ $n % 5 = 4¦ ∨ $n % 5 = 3 ∨ $n % 5 = 4⟧ := by omega
  rcases $h3 with ⟦1:$h3 | $h3 | $h3¦$h3 | $h3 | $h3 | $h3¦$h3 | $h3 | $h3 | $h3¦$h3 | $h3 | $h3 | $h3 | $h3¦$h3 | $h3 | $h3 | $h3 | $h3⟧
  · rw [$h3] at $h1
    omega
  · rw [$h3] at $h1
    omega
  · rw [$h3] at $h1
    omega
  ⟦1:¦· rw [$h3] at $h1¦· rw [$h3] at $h1¦· rw [$h3] at $h1¦· rw [$h3] at $h1⟧
  ⟦1:¦  omega¦  omega¦  omega¦  omega⟧
  ⟦1:¦¦¦· rw [$h3] at $h1¦· rw [$h3] at $h1⟧
  ⟦1:¦¦¦  omega¦  omega⟧

--- power_mod
theorem $t ($n : Nat) : #(a+1) ^ $n % #a = 1 % #a := by
  induction $n with
  | zero => rfl
  | succ $n ih =>
    rw [Nat.pow_succ, Nat.mul_mod, ih]

--- power_minus_one_divides
theorem $t ($n : Nat) : ∃ $n1, #(a+1) ^ $n = #a * $n1 + 1 := by
  induction $n with
  | zero => exact ⟨0, rfl⟩
  | succ $n ih =>
    obtain ⟨$n1, $h⟩ := ih
    rw [Nat.pow_succ, $h]
    exact ⟨#(a+1) * $n1 + 1, by omega⟩

--- power_plus_divides
theorem $t ($n : Nat) : #a ∣ #(a+1) ^ $n + #(a-1) := by
  induction $n with
  | zero => decide
  | succ $n ih =>
    rw [Nat.pow_succ]
    omega

--- mod_sum_of_squares
theorem $t ($n : Nat) : #a ∣ $n * #(2*a) + #(3*a) := by
  exact ⟨2 * $n + 3, by omega⟩

--- divides_linear
theorem $t ($n $n1 $n2 $n3 $n4 : Nat) ($h : $n ∣ $n1) ($h1 : $n ∣ $n2) : $n ∣ $n1 * $n3 + $n2 * $n4 := by
  obtain ⟨$n5, rfl⟩ := $h
  obtain ⟨$n6, rfl⟩ := $h1
  exact ⟨$n5 * $n3 + $n6 * $n4, by grind⟩

--- divides_linear_lemmas
theorem $t ($n $n1 $n2 $n3 : Nat) ($h : $n ∣ $n1) ($h1 : $n ∣ $n2) : $n ∣ ⟦1:$n1 * $n3 + $n2¦$n1 + $n2 * $n3¦$n3 * $n1 + $n2¦$n1 + $n3 * $n2⟧ := by
  apply Nat.dvd_add
  · exact ⟦1:Nat.dvd_mul_right_of_dvd $h $n3¦$h¦Nat.dvd_mul_left_of_dvd $h $n3¦$h⟧
  · exact ⟦1:$h1¦Nat.dvd_mul_right_of_dvd $h1 $n3¦$h1¦Nat.dvd_mul_left_of_dvd $h1 $n3⟧

--- divides_trans_mul
theorem $t ($n $n1 $n2 $n3 : Nat) ($h : $n ∣ $n1) ($h1 : $n1 ∣ $n2) : $n ∣ ⟦$n2 * $n3¦$n3 * $n2⟧ := by
  obtain ⟨$n4, rfl⟩ := $h
  obtain ⟨$n5, rfl⟩ := $h1
  exact ⟨$n4 * $n5 * $n3, by grind⟩

--- divides_product
theorem $t ($n $n1 $n2 $n3 : Nat) ($h : $n ∣ $n1) ($h1 : $n2 ∣ $n3) : $n * $n2 ∣ $n1 * $n3 := by
  obtain ⟨$n4, rfl⟩ := $h
  obtain ⟨$n5, rfl⟩ := $h1
  exact ⟨$n4 * $n5, by grind⟩

--- divides_square
theorem $t ($n $n1 : Nat) ($h : $n ∣ $n1) : $n ^ 2 ∣ $n1 ^ 2 := by
  obtain ⟨$n2, rfl⟩ := $h
  exact ⟨$n2 ^ 2, by grind⟩

--- divides_power
theorem $t ($n $n1 : Nat) ($h : 0 < $n1) : $n ∣ $n ^ $n1 := by
  obtain ⟨$n2, rfl⟩ : ∃ $n2, $n1 = $n2 + 1 := ⟨$n1 - 1, by omega⟩
  rw [Nat.pow_succ]
  exact Nat.dvd_mul_left $n ($n ^ $n2)

--- divides_one_of_successor
theorem $t ($n $n1 : Nat) ($h : $n ∣ $n1) ($h1 : $n ∣ $n1 + 1) : $n = 1 := by
  obtain ⟨$n2, $h2⟩ := $h
  obtain ⟨$n3, $h3⟩ := $h1
  have $h4 : $n * $n3 = $n * $n2 + 1 := by omega
  have $h5 : $n ∣ 1 := (Nat.dvd_add_right ⟨$n2, rfl⟩).mp ⟨$n3, $h4.symm⟩
  exact Nat.eq_one_of_dvd_one $h5

--- divides_difference
theorem $t ($n $n1 $n2 : Nat) ($h : $n ∣ $n1) ($h1 : $n ∣ $n1 + $n2) : $n ∣ $n2 := by
  ⟦1:exact (Nat.dvd_add_right $h).mp $h1¦rw [Nat.dvd_add_right $h] at $h1⟧
  ⟦1:¦exact $h1⟧

--- divides_le
theorem $t ($n $n1 : Nat) ($h : $n ∣ $n1) ($h1 : 0 < $n1) : $n ≤ $n1 := by
  obtain ⟨$n2, rfl⟩ := $h
  cases $n2 with
  | zero => omega
  | succ $n2 =>
    rw [Nat.mul_add_one]
    exact Nat.le_add_left _ _

--- divides_antisymm
theorem $t ($n $n1 : Nat) ($h : 0 < $n) ($h1 : 0 < $n1) ($h2 : $n ∣ $n1) ($h3 : $n1 ∣ $n) : $n = $n1 := by
  apply Nat.le_antisymm
  · exact Nat.le_of_dvd $h1 $h2
  · exact Nat.le_of_dvd $h $h3

--- cancel_in_divides
theorem $t ($n $n1 $n2 : Nat) ($h : 0 < $n) ($h1 : $n * $n1 ∣ $n * $n2) : $n1 ∣ $n2 := by
  obtain ⟨$n3, $h2⟩ := $h1
  rw [Nat.mul_assoc] at $h2
  exact ⟨$n3, Nat.eq_of_mul_eq_mul_left $h $h2⟩

--- mod_of_sum
theorem $t ($n $n1 : Nat) ($h : $n % #(a+2) = #b % #(a+2)) : ($n + #(a+2) * $n1) % #(a+2) = #b % #(a+2) := by
  rw [Nat.add_mul_mod_self_left]
  exact $h

--- mod_add_eq
theorem $t ($n $n1 $n2 $n3 : Nat) ($h : $n % #(a+1) = $n1 % #(a+1)) ($h1 : $n2 % #(a+1) = $n3 % #(a+1)) : ($n + $n2) % #(a+1) = ($n1 + $n3) % #(a+1) := by
  ⟦omega¦rw [Nat.add_mod, $h, $h1, ← Nat.add_mod]⟧

--- mod_mul_eq
theorem $t ($n $n1 $n2 $n3 $n4 : Nat) ($h : $n % $n4 = $n1 % $n4) ($h1 : $n2 % $n4 = $n3 % $n4) : ($n * $n2) % $n4 = ($n1 * $n3) % $n4 := by
  rw [Nat.mul_mod, $h, $h1, ← Nat.mul_mod]

--- mod_pow_eq
theorem $t ($n $n1 $n2 $n3 : Nat) ($h : $n % $n1 = $n2 % $n1) : $n ^ $n3 % $n1 = $n2 ^ $n3 % $n1 := by
  induction $n3 with
  | zero => rfl
  | succ $n3 ih =>
    rw [Nat.pow_succ, Nat.pow_succ, Nat.mul_mod, ih, $h, ← Nat.mul_mod]

--- gcd_consecutive
theorem $t ($n : Nat) : Nat.gcd $n ($n + 1) = 1 := by
  apply Nat.eq_one_of_dvd_one
  have $h := Nat.gcd_dvd_left $n ($n + 1)
  have $h1 := Nat.gcd_dvd_right $n ($n + 1)
  exact (Nat.dvd_add_right $h).mp $h1

--- gcd_linear_one
theorem $t ($n : Nat) : Nat.gcd $n (#a * $n + 1) = 1 := by
  apply Nat.eq_one_of_dvd_one
  have $h := Nat.gcd_dvd_left $n (#a * $n + 1)
  have $h1 := Nat.gcd_dvd_right $n (#a * $n + 1)
  have $h2 := Nat.dvd_mul_left_of_dvd $h #a
  exact (Nat.dvd_add_right $h2).mp $h1

--- gcd_divides_combination
theorem $t ($n $n1 $n2 : Nat) : Nat.gcd $n $n1 ∣ ⟦1:$n * $n2 + $n1¦$n2 * $n + $n1⟧ := by
  have $h := Nat.gcd_dvd_left $n $n1
  have $h1 := Nat.gcd_dvd_right $n $n1
  apply Nat.dvd_add
  · exact Nat.⟦1:dvd_mul_right_of_dvd¦dvd_mul_left_of_dvd⟧ $h $n2
  · exact $h1

--- exists_large_with_remainder
theorem $t ($n : Nat) : ∃ $n1, $n < $n1 ∧ $n1 % #(a+b) = #(b) % #(a+b) := by
  exact ⟨#(a+b) * ($n + 1) + #b, by omega, by omega⟩

--- exists_between
theorem $t ($n $n1 : Nat) ($h : $n + 1 < $n1) : ∃ $n2, $n < $n2 ∧ $n2 < $n1 := by
  exact ⟨⟦$n + 1¦$n1 - 1⟧, by omega, by omega⟩

--- exists_sum
theorem $t ($n $n1 : Nat) ($h : $n ≤ $n1) : ∃ $n2, $n1 = ⟦$n + $n2¦$n2 + $n⟧ := by
  ⟦1:exact ⟨$n1 - $n, by omega⟩¦refine ⟨$n1 - $n, ?_⟩¦exists $n1 - $n⟧
  ⟦1:¦omega¦omega⟧

--- no_largest
theorem $t ($f : Nat → Nat) ($h : ∀ $n, $n < $f $n) : ¬∃ $n1, ∀ $n, $f $n ≤ $n1 := by
  intro ⟨$n1, $h1⟩
  have $h2 := $h $n1
  have $h3 := $h1 $n1
  omega

--- own_length_append
def $F : List Nat → Nat
  | [] => 0
  | _ :: l => ⟦$F l + 1¦1 + $F l⟧

theorem $t ($l $l1 : List Nat) : $F ($l ++ $l1) = $F $l + $F $l1 := by
  induction $l with
  | nil =>
    rw [List.nil_append, $F, Nat.zero_add]
  | cons $x $l ih =>
    rw [List.cons_append, $F, $F, ih]
    omega

--- own_length_is_length
def $F : List Nat → Nat
  | [] => 0
  | _ :: l => $F l + 1

theorem $t ($l : List Nat) : $F $l = $l.length := by
  induction $l with
  | nil => rfl
  | cons $x $l ih => rw [$F, ih, List.length_cons]

--- own_sum_append
def $F : List Nat → Nat
  | [] => 0
  | x :: l => ⟦x + $F l¦$F l + x¦x + (#a + $F l)⟧

theorem $t ($l $l1 : List Nat) : $F ($l ++ $l1) = $F $l + $F $l1 := by
  induction $l with
  | nil => ⟦simp [$F]¦rw [List.nil_append, $F, Nat.zero_add]⟧
  | cons $x $l ih =>
    ⟦rw [List.cons_append, $F, $F, ih]¦simp only [List.cons_append, $F, ih]⟧
    omega

--- own_sum_reverse
def $F : List Nat → Nat
  | [] => 0
  | x :: l => x + $F l

theorem $t ($l : List Nat) : $F $l.reverse = $F $l := by
  have $h : ∀ $l1 $l2, $F ($l1 ++ $l2) = $F $l1 + $F $l2 := ?_
  · induction $l with
    | nil => rfl
    | cons $x $l ih =>
      rw [List.reverse_cons, $h, ih]
      simp [$F]
      omega
  · intro $l1 $l2
    induction $l1 with
    | nil => simp [$F]
    | cons $x $l1 ih =>
      rw [List.cons_append, $F, $F, ih]
      omega

--- own_sum_map_add
def $F : List Nat → Nat
  | [] => 0
  | x :: l => x + $F l

theorem $t ($l : List Nat) : $F ($l.map (fun x => x + #a)) = $F $l + #a * $l.length := by
  induction $l with
  | nil => rfl
  | cons $x $l ih =>
    rw [List.map_cons, $F, $F, ih, List.length_cons]
    omega

--- own_sum_map_mul
def $F : List Nat → Nat
  | [] => 0
  | x :: l => x + $F l

theorem $t ($l : List Nat) : $F ($l.map (fun x => ⟦#a * x¦x * #a⟧)) = #a * $F $l := by
  induction $l with
  | nil => rfl
  | cons $x $l ih =>
    rw [List.map_cons, $F, $F, ih]
    omega

--- own_sum_bounds_member
def $F : List Nat → Nat
  | [] => 0
  | x :: l => x + $F l

theorem $t ($l : List Nat) ($n : Nat) ($h : $n ∈ $l) : $n ≤ $F $l := by
  induction $l with
  | nil => ⟦exact absurd $h List.not_mem_nil¦cases $h⟧
  | cons $x $l ih =>
    rw [$F]
    rcases List.mem_cons.mp $h with $h1 | $h1
    · omega
    · have $h2 := ih $h1
      omega

--- own_sum_of_bounded
def $F : List Nat → Nat
  | [] => 0
  | x :: l => x + $F l

theorem $t ($l : List Nat) ($n : Nat) ($h : ∀ $x, $x ∈ $l → $x ≤ $n) : $F $l ≤ $l.length * $n := by
  induction $l with
  | nil => exact Nat.zero_le _
  | cons $x $l ih =>
    rw [$F, List.length_cons, Nat.add_one_mul]
    have $h1 := $h $x List.mem_cons_self
    have $h2 := ih (fun $x1 $h3 => $h $x1 (List.mem_cons_of_mem $x $h3))
    omega

--- own_product_positive
def $F : List Nat → Nat
  | [] => 1
  | x :: l => x * $F l

theorem $t ($l : List Nat) ($h : ∀ $x, $x ∈ $l → 0 < $x) : 0 < $F $l := by
  induction $l with
  | nil => decide
  | cons $x $l ih =>
    rw [$F]
    apply Nat.mul_pos
    · exact $h $x List.mem_cons_self
    · apply ih
      intro $x1 $h1
      exact $h $x1 (List.mem_cons_of_mem $x $h1)

--- own_product_divides
def $F : List Nat → Nat
  | [] => 1
  | x :: l => x * $F l

theorem $t ($l : List Nat) ($n : Nat) ($h : $n ∈ $l) : $n ∣ $F $l := by
  induction $l with
  | nil => exact absurd $h List.not_mem_nil
  | cons $x $l ih =>
    rw [$F]
    rcases List.mem_cons.mp $h with $h1 | $h1
    · rw [$h1]
      exact Nat.dvd_mul_right $x ($F $l)
    · exact Nat.dvd_mul_left_of_dvd (ih $h1) $x

--- own_append
def $F : List Nat → List Nat → List Nat
  | [], l => l
  | x :: k, l => x :: $F k l

theorem $t ($l $l1 $l2 : List Nat) : $F ($F $l $l1) $l2 = $F $l ($F $l1 $l2) := by
  induction $l with
  | nil => rfl
  | cons $x $l ih => rw [$F, $F, $F, ih]

--- own_append_nil
def $F : List Nat → List Nat → List Nat
  | [], l => l
  | x :: k, l => x :: $F k l

theorem $t ($l : List Nat) : ⟦1:$F $l []¦$F $l ([] ++ [])⟧ = $l := by
  induction $l with
  | nil => rfl
  | cons $x $l ih =>
    ⟦1:rw [$F, ih]¦simp [$F]⟧
    ⟦1:¦exact ih⟧

--- own_append_is_append
def $F : List Nat → List Nat → List Nat
  | [], l => l
  | x :: k, l => x :: $F k l

theorem $t ($l $l1 : List Nat) : $F $l $l1 = $l ++ $l1 := by
  induction $l with
  | nil => rfl
  | cons $x $l ih => rw [$F, ih, List.cons_append]

--- own_reverse_append
def $F : List Nat → List Nat
  | [] => []
  | x :: l => $F l ++ [x]

theorem $t ($l $l1 : List Nat) : $F ($l ++ $l1) = $F $l1 ++ $F $l := by
  induction $l with
  | nil => rw [List.nil_append, $F, List.append_nil]
  | cons $x $l ih => rw [List.cons_append, $F, $F, ih, List.append_assoc]

--- own_reverse_twice
def $F : List Nat → List Nat
  | [] => []
  | x :: l => $F l ++ [x]

theorem $t ($l : List Nat) : $F ($F $l) = $l := by
  have $h : ∀ $l1 $x1, $F ($l1 ++ [$x1]) = $x1 :: $F $l1 := ?_
  · induction $l with
    | nil => rfl
    | cons $x $l ih => rw [$F, $h, ih]
  · intro $l1 $x1
    induction $l1 with
    | nil => rfl
    | cons $x $l1 ih =>
      rw [List.cons_append, $F, ih]
      rfl

--- own_reverse_length
def $F : List Nat → List Nat
  | [] => []
  | x :: l => $F l ++ [x]

theorem $t ($l : List Nat) : ($F $l).length = $l.length := by
  induction $l with
  | nil => rfl
  | cons $x $l ih =>
    rw [$F, List.length_append, ih]
    rfl

--- reverse_with_accumulator
def $F : List Nat → List Nat → List Nat
  | [], a => a
  | x :: l, a => $F l (x :: a)

theorem $t ($l $l1 : List Nat) : $F $l $l1 = $l.reverse ++ $l1 := by
  induction $l generalizing $l1 with
  | nil => rfl
  | cons $x $l ih =>
    rw [$F, ih, List.reverse_cons, List.append_assoc]
    rfl

--- sum_with_accumulator
def $F : List Nat → Nat → Nat
  | [], a => a
  | x :: l, a => $F l (⟦a + x¦x + a⟧)

theorem $t ($l : List Nat) ($n : Nat) : $F $l $n = ⟦$F $l 0 + $n¦$n + $F $l 0⟧ := by
  induction $l generalizing $n with
  | nil =>
    rw [$F, $F]
    omega
  | cons $x $l ih =>
    have $h := ih ($n + $x)
    have $h1 := ih (0 + $x)
    simp only [$F]
    grind

--- sum_with_accumulator_of_sum
def $F : List Nat → Nat
  | [] => 0
  | x :: l => x + $F l

def $F1 : List Nat → Nat → Nat
  | [], a => a
  | x :: l, a => $F1 l (a + x)

theorem $t ($l : List Nat) ($n : Nat) : $F1 $l $n = $n + $F $l := by
  induction $l generalizing $n with
  | nil => rfl
  | cons $x $l ih =>
    rw [$F1, ih, $F]
    omega

--- length_with_accumulator
def $F : List Nat → Nat → Nat
  | [], a => a
  | _ :: l, a => $F l (a + 1)

theorem $t ($l : List Nat) : $F $l 0 = $l.length := by
  have $h : ∀ $l1 $n, $F $l1 $n = $n + $l1.length := ?_
  · rw [$h, Nat.zero_add]
  · intro $l1
    induction $l1 with
    | nil =>
      intro $n
      rfl
    | cons $x $l1 ih =>
      intro $n
      rw [$F, ih, List.length_cons]
      omega

--- count_with_accumulator_of_numbers
def $F : Nat → Nat → Nat
  | 0, a => a
  | n + 1, a => $F n (a + #a)

theorem $t ($n $n1 : Nat) : $F $n $n1 = #a * $n + $n1 := by
  induction $n generalizing $n1 with
  | zero =>
    rw [$F]
    omega
  | succ $n ih =>
    rw [$F, ih]
    omega

--- power_with_accumulator
def $F : Nat → Nat → Nat
  | 0, a => a
  | n + 1, a => $F n (#a * a)

theorem $t ($n $n1 : Nat) : $F $n $n1 = #a ^ $n * $n1 := by
  induction $n generalizing $n1 with
  | zero => rw [$F, Nat.pow_zero, Nat.one_mul]
  | succ $n ih =>
    rw [$F, ih, Nat.pow_succ, Nat.mul_assoc]

--- own_map_length
def $F ($f : Nat → Nat) : List Nat → List Nat
  | [] => []
  | x :: l => $f x :: $F $f l

theorem $t ($f : Nat → Nat) ($l : List Nat) : ($F $f $l).length = $l.length := by
  induction $l with
  | nil => rfl
  | cons $x $l ih => rw [$F, List.length_cons, ih, List.length_cons]

--- own_map_append
def $F ($f : Nat → Nat) : List Nat → List Nat
  | [] => []
  | x :: l => $f x :: $F $f l

theorem $t ($f : Nat → Nat) ($l $l1 : List Nat) : $F $f ($l ++ $l1) = $F $f $l ++ $F $f $l1 := by
  induction $l with
  | nil => rfl
  | cons $x $l ih => rw [List.cons_append, $F, $F, ih, List.cons_append]

--- own_map_compose
def $F ($f : Nat → Nat) : List Nat → List Nat
  | [] => []
  | x :: l => $f x :: $F $f l

theorem $t ($f $f1 : Nat → Nat) ($l : List Nat) : $F $f ($F $f1 $l) = $F (fun x => $f ($f1 x)) $l := by
  induction $l with
  | nil => rfl
  | cons $x $l ih => rw [$F, $F, $F, ih]

--- own_filter_shorter
def $F ($f : Nat → Bool) : List Nat → List Nat
  | [] => []
  | x :: l => if $f x = true then x :: $F $f l else $F $f l

theorem $t ($f : Nat → Bool) ($l : List Nat) : ($F $f $l).length ≤ $l.length := by
  induction $l with
  | nil => exact Nat.le_refl _
  | cons $x $l ih =>
    rw [$F, List.length_cons]
    split
    · rw [List.length_cons]
      omega
    · omega

--- own_filter_append
def $F ($f : Nat → Bool) : List Nat → List Nat
  | [] => []
  | x :: l => if $f x = true then x :: $F $f l else $F $f l

theorem $t ($f : Nat → Bool) ($l $l1 : List Nat) : $F $f ($l ++ $l1) = $F $f $l ++ $F $f $l1 := by
  induction $l with
  | nil => rfl
  | cons $x $l ih =>
    rw [List.cons_append, $F, $F, ih]
    by_cases $h : $f $x = true
    · rw [if_pos $h, if_pos $h, List.cons_append]
    · rw [if_neg $h, if_neg $h]

--- own_filter_members
def $F ($f : Nat → Bool) : List Nat → List Nat
  | [] => []
  | x :: l => if $f x = true then x :: $F $f l else $F $f l

theorem $t ($f : Nat → Bool) ($l : List Nat) ($n : Nat) ($h : $n ∈ $F $f $l) : $n ∈ $l := by
  induction $l with
  | nil => exact $h
  | cons $x $l ih =>
    rw [$F] at $h
    split at $h
    · rcases List.mem_cons.mp $h with $h1 | $h1
      · rw [$h1]
        exact List.mem_cons_self
      · exact List.mem_cons_of_mem $x (ih $h1)
    · exact List.mem_cons_of_mem $x (ih $h)

--- own_count_append
def $F ($n : Nat) : List Nat → Nat
  | [] => 0
  | x :: l => if x = $n then $F $n l + 1 else $F $n l

theorem $t ($n : Nat) ($l $l1 : List Nat) : $F $n ($l ++ $l1) = $F $n $l + $F $n $l1 := by
  induction $l with
  | nil => rw [List.nil_append, $F, Nat.zero_add]
  | cons $x $l ih =>
    rw [List.cons_append, $F, $F, ih]
    ⟦split <;> omega¦grind⟧

--- own_count_bounded
def $F ($n : Nat) : List Nat → Nat
  | [] => 0
  | x :: l => if x = $n then $F $n l + 1 else $F $n l

theorem $t ($n : Nat) ($l : List Nat) : $F $n $l ≤ $l.length := by
  induction $l with
  | nil => exact Nat.le_refl _
  | cons $x $l ih =>
    rw [$F, List.length_cons]
    split
    · omega
    · omega

--- own_all_append
def $F ($f : Nat → Bool) : List Nat → Bool
  | [] => true
  | x :: l => $f x && $F $f l

theorem $t ($f : Nat → Bool) ($l $l1 : List Nat) : $F $f ($l ++ $l1) = ($F $f $l && $F $f $l1) := by
  induction $l with
  | nil => rfl
  | cons $x $l ih =>
    rw [List.cons_append, $F, $F, ih]
    cases $f $x <;> rfl

--- own_repeat_length
def $F ($x : Nat) : Nat → List Nat
  | 0 => []
  | n + 1 => $x :: $F $x n

theorem $t ($x $n : Nat) : ($F $x $n).length = $n := by
  induction $n with
  | zero => rfl
  | succ $n ih => rw [$F, List.length_cons, ih]

--- own_repeat_add
def $F ($x : Nat) : Nat → List Nat
  | 0 => []
  | n + 1 => $x :: $F $x n

theorem $t ($x $n $n1 : Nat) : $F $x ($n + $n1) = $F $x $n ++ $F $x $n1 := by
  induction $n with
  | zero => rw [Nat.zero_add, $F, List.nil_append]
  | succ $n ih => rw [Nat.add_right_comm, $F, ih, $F, List.cons_append]

--- own_repeat_members
def $F ($x : Nat) : Nat → List Nat
  | 0 => []
  | n + 1 => $x :: $F $x n

theorem $t ($x $x1 $n : Nat) ($h : $x1 ∈ $F $x $n) : $x1 = $x := by
  induction $n with
  | zero => exact absurd $h List.not_mem_nil
  | succ $n ih =>
    rw [$F] at $h
    rcases List.mem_cons.mp $h with $h1 | $h1
    · exact $h1
    · exact ih $h1

--- own_insert_length
def $F ($x : Nat) : List Nat → List Nat
  | [] => [$x]
  | y :: l => if $x ≤ y then $x :: y :: l else y :: $F $x l

theorem $t ($x : Nat) ($l : List Nat) : ($F $x $l).length = $l.length + 1 := by
  induction $l with
  | nil => rfl
  | cons $x1 $l ih =>
    rw [$F]
    split
    · rfl
    · rw [List.length_cons, ih, List.length_cons]

--- own_insert_sum
def $F ($x : Nat) : List Nat → List Nat
  | [] => [$x]
  | y :: l => if $x ≤ y then $x :: y :: l else y :: $F $x l

def $F1 : List Nat → Nat
  | [] => 0
  | x :: l => x + $F1 l

theorem $t ($x : Nat) ($l : List Nat) : $F1 ($F $x $l) = $x + $F1 $l := by
  induction $l with
  | nil => rfl
  | cons $x1 $l ih =>
    rw [$F]
    split
    · rfl
    · rw [$F1, ih, $F1]
      omega

--- own_double_list
def $F : List Nat → List Nat
  | [] => []
  | x :: l => x :: x :: $F l

theorem $t ($l : List Nat) : ($F $l).length = 2 * $l.length := by
  induction $l with
  | nil => rfl
  | cons $x $l ih =>
    rw [$F, List.length_cons, List.length_cons, ih, List.length_cons]
    omega

--- own_count_down
def $F : Nat → List Nat
  | 0 => []
  | n + 1 => n :: $F n

theorem $t ($n $n1 : Nat) : $n1 ∈ $F $n ↔ $n1 < $n := by
  induction $n with
  | zero => simp [$F]
  | succ $n ih =>
    rw [$F, List.mem_cons, ih]
    omega

--- own_last_of_append
def $F : List Nat → Nat
  | [] => 0
  | [x] => x
  | _ :: y :: l => $F (y :: l)

theorem $t ($l : List Nat) ($x : Nat) : $F ($l ++ [$x]) = $x := by
  induction $l with
  | nil => rfl
  | cons $x1 $l ih =>
    cases $l with
    | nil => rfl
    | cons $x2 $l =>
      rw [List.cons_append, List.cons_append, $F]
      exact ih

--- zip_of_maps
theorem $t (α β : Type) ($f : α → β) ($l $l1 : List α) : ($l ++ $l1).map $f = $l.map $f ++ $l1.map $f := by
  induction $l with
  | nil => rfl
  | cons $x $l ih => rw [List.cons_append, List.map_cons, ih, List.map_cons, List.cons_append]

--- map_injective
theorem $t (α β : Type) ($f : α → β) ($h : ∀ $x $x1, $f $x = $f $x1 → $x = $x1) ($l $l1 : List α) ($h1 : $l.map $f = $l1.map $f) : $l = $l1 := by
  induction $l generalizing $l1 with
  | nil =>
    cases $l1 with
    | nil => rfl
    | cons $x $l1 => cases $h1
  | cons $x $l ih =>
    cases $l1 with
    | nil => cases $h1
    | cons $x1 $l1 =>
      rw [List.map_cons, List.map_cons] at $h1
      injection $h1 with $h2 $h3
      rw [$h $x $x1 $h2, ih $l1 $h3]

--- member_of_map
theorem $t (α β : Type) ($f : α → β) ($l : List α) ($x : α) ($h : $x ∈ $l) : $f $x ∈ $l.map $f := by
  induction $l with
  | nil => exact absurd $h List.not_mem_nil
  | cons $x1 $l ih =>
    rw [List.map_cons]
    rcases List.mem_cons.mp $h with $h1 | $h1
    · rw [$h1]
      exact List.mem_cons_self
    · exact List.mem_cons_of_mem _ (ih $h1)

--- member_splits
theorem $t ($l : List Nat) ($x : Nat) ($h : $x ∈ $l) : ∃ $l1 $l2, $l = $l1 ++ $x :: $l2 := by
  induction $l with
  | nil => exact absurd $h List.not_mem_nil
  | cons $x1 $l ih =>
    rcases List.mem_cons.mp $h with $h1 | $h1
    · exact ⟨[], $l, by rw [$h1]; rfl⟩
    · obtain ⟨$l1, $l2, $h2⟩ := ih $h1
      exact ⟨$x1 :: $l1, $l2, by rw [$h2]; rfl⟩

--- nonempty_list
theorem $t ($l : List Nat) ($h : $l ≠ []) : ∃ $x $l1, $l = $x :: $l1 := by
  cases $l with
  | nil => exact absurd rfl $h
  | cons $x $l1 => exact ⟨$x, $l1, rfl⟩

--- fold_sum
theorem $t ($l : List Nat) ($n : Nat) : $l.foldl (fun a x => a + x) $n = $n + $l.foldl (fun a x => a + x) 0 := by
  induction $l generalizing $n with
  | nil => rfl
  | cons $x $l ih =>
    rw [List.foldl_cons, List.foldl_cons, ih, ih (0 + $x)]
    omega

--- list_with_two_ends
theorem $t ($l $l1 : List Nat) ($h : $l ++ $l1 = []) : $l = [] ∧ $l1 = [] := by
  cases $l with
  | nil => exact ⟨rfl, $h⟩
  | cons $x $l => cases $h

--- tree_mirror_twice
inductive $T where
  | leaf : $T
  | node (l : $T) (x : Nat) (r : $T) : $T

def $F : $T → $T
  | .leaf => .leaf
  | .node l x r => .node ($F r) x ($F l)

theorem $t ($s : $T) : $F ($F $s) = $s := by
  induction $s with
  | leaf => rfl
  | node $s1 $x $s2 ih ih1 => rw [$F, $F, ih, ih1]

--- tree_mirror_size
inductive $T where
  | leaf : $T
  | node (l : $T) (x : Nat) (r : $T) : $T

def $F : $T → $T
  | .leaf => .leaf
  | .node l x r => .node ($F r) x ($F l)

def $F1 : $T → Nat
  | .leaf => ⟦0¦1¦#a⟧
  | .node l _ r => $F1 l + $F1 r + 1

theorem $t ($s : $T) : $F1 ($F $s) = $F1 $s := by
  induction $s with
  | leaf => rfl
  | node $s1 $x $s2 ih ih1 =>
    rw [$F, $F1, ih, ih1, $F1]
    omega

--- tree_leaves_and_nodes
inductive $T where
  | leaf : $T
  | node (l r : $T) : $T

def $F : $T → Nat
  | .leaf => 1
  | .node l r => $F l + $F r

def $F1 : $T → Nat
  | .leaf => 0
  | .node l r => $F1 l + $F1 r + 1

theorem $t ($s : $T) : $F $s = $F1 $s + 1 := by
  induction $s with
  | leaf => rfl
  | node $s1 $s2 ih ih1 =>
    rw [$F, $F1, ih, ih1]
    omega

--- tree_depth
inductive $T where
  | leaf : $T
  | node (l r : $T) : $T

def $F : $T → Nat
  | .leaf => 0
  | .node l r => max ($F l) ($F r) + 1

def $F1 : $T → Nat
  | .leaf => 0
  | .node l r => $F1 l + $F1 r + 1

theorem $t ($s : $T) : $F $s ≤ $F1 $s := by
  induction $s with
  | leaf => exact Nat.le_refl 0
  | node $s1 $s2 ih ih1 =>
    rw [$F, $F1]
    omega

--- tree_sum_map
inductive $T where
  | leaf (x : Nat) : $T
  | node (l r : $T) : $T

def $F : $T → Nat
  | .leaf x => x
  | .node l r => $F l + $F r

def $F1 : $T → $T
  | .leaf x => .leaf (#a * x)
  | .node l r => .node ($F1 l) ($F1 r)

theorem $t ($s : $T) : $F ($F1 $s) = #a * $F $s := by
  induction $s with
  | leaf $x => rfl
  | node $s1 $s2 ih ih1 =>
    rw [$F1, $F, ih, ih1, $F]
    omega

--- tree_flatten_length
inductive $T where
  | leaf : $T
  | node (l : $T) (x : Nat) (r : $T) : $T

def $F : $T → List Nat
  | .leaf => []
  | .node l x r => $F l ++ x :: $F r

def $F1 : $T → Nat
  | .leaf => 0
  | .node l _ r => $F1 l + $F1 r + 1

theorem $t ($s : $T) : ($F $s).length = $F1 $s := by
  induction $s with
  | leaf => rfl
  | node $s1 $x $s2 ih ih1 =>
    rw [$F, $F1, List.length_append, List.length_cons, ih, ih1]
    omega

--- unary_zero_add
inductive $T where
  | zero : $T
  | succ (n : $T) : $T

def $F ($s : $T) : $T → $T
  | .zero => $s
  | .succ n => .succ ($F $s n)

theorem $t ($s : $T) : $F .zero $s = $s := by
  induction $s with
  | zero => rfl
  | succ $s ih => rw [$F, ih]

--- unary_add_assoc
inductive $T where
  | zero : $T
  | succ (n : $T) : $T

def $F ($s : $T) : $T → $T
  | .zero => $s
  | .succ n => .succ ($F $s n)

theorem $t ($s $s1 $s2 : $T) : $F ($F $s $s1) $s2 = $F $s ($F $s1 $s2) := by
  induction $s2 with
  | zero => rfl
  | succ $s2 ih => rw [$F, ih, $F, $F]

--- unary_succ_add
inductive $T where
  | zero : $T
  | succ (n : $T) : $T

def $F ($s : $T) : $T → $T
  | .zero => $s
  | .succ n => .succ ($F $s n)

theorem $t ($s $s1 : $T) : $F (.succ $s) $s1 = .succ ($F $s $s1) := by
  induction $s1 with
  | zero => rfl
  | succ $s1 ih => rw [$F, ih, $F]

--- unary_add_comm
inductive $T where
  | zero : $T
  | succ (n : $T) : $T

def $F ($s : $T) : $T → $T
  | .zero => $s
  | .succ n => .succ ($F $s n)

theorem $t ($s $s1 : $T) : $F $s $s1 = $F $s1 $s := by
  have $h : ∀ $s2, $F .zero $s2 = $s2 := ?_
  · have $h1 : ∀ $s2 $s3, $F (.succ $s2) $s3 = .succ ($F $s2 $s3) := ?_
    · induction $s1 with
      | zero => rw [$h, $F]
      | succ $s1 ih => rw [$h1, ← ih, $F]
    · intro $s2 $s3
      induction $s3 with
      | zero => rfl
      | succ $s3 ih => rw [$F, ih, $F]
  · intro $s2
    induction $s2 with
    | zero => rfl
    | succ $s2 ih => rw [$F, ih]

--- unary_to_number
inductive $T where
  | zero : $T
  | succ (n : $T) : $T

def $F ($s : $T) : $T → $T
  | .zero => $s
  | .succ n => .succ ($F $s n)

def $F1 : $T → Nat
  | .zero => 0
  | .succ n => $F1 n + 1

theorem $t ($s $s1 : $T) : $F1 ($F $s $s1) = $F1 $s + $F1 $s1 := by
  induction $s1 with
  | zero => rfl
  | succ $s1 ih =>
    rw [$F, $F1, ih, $F1]
    omega

--- predicate_even_number
inductive $T : Nat → Prop where
  | zero : $T 0
  | step (n : Nat) (h : $T n) : $T (n + #a)

theorem $t ($n : Nat) ($h : $T $n) : ∃ $n1, $n = #a * $n1 := by
  induction $h with
  | zero => exact ⟨0, rfl⟩
  | step $n $h ih =>
    obtain ⟨$n1, $h1⟩ := ih
    exact ⟨$n1 + 1, by omega⟩

--- predicate_even_sum
inductive $T : Nat → Prop where
  | zero : $T 0
  | step (n : Nat) (h : $T n) : $T (n + #a)

theorem $t ($n $n1 : Nat) ($h : $T $n) ($h1 : $T $n1) : $T ($n + $n1) := by
  induction $h1 with
  | zero => exact $h
  | step $n1 $h1 ih =>
    rw [← Nat.add_assoc]
    ⟦1:exact $T.step ($n + $n1) ih¦apply $T.step¦exact $T.step _ ih⟧
    ⟦1:¦exact ih¦⟧

--- predicate_even_multiple
inductive $T : Nat → Prop where
  | zero : $T 0
  | step (n : Nat) (h : $T n) : $T (n + #a)

theorem $t ($n : Nat) : $T (#a * $n) := by
  induction $n with
  | zero => exact $T.zero
  | succ $n ih =>
    rw [Nat.mul_add_one]
    exact $T.step (#a * $n) ih

--- closure_transitive
inductive $T (R : Nat → Nat → Prop) : Nat → Nat → Prop where
  | refl (x : Nat) : $T R x x
  | step (x y z : Nat) (h : R x y) (h1 : $T R y z) : $T R x z

theorem $t (R : Nat → Nat → Prop) ($x $x1 $x2 : Nat) ($h : $T R $x $x1) ($h1 : $T R $x1 $x2) : $T R $x $x2 := by
  induction $h with
  | refl $x => exact $h1
  | step $x $x3 $x4 $h2 $h3 ih => exact $T.step $x $x3 $x2 $h2 (ih $h1)

--- closure_invariant
inductive $T (R : Nat → Nat → Prop) : Nat → Nat → Prop where
  | refl (x : Nat) : $T R x x
  | step (x y z : Nat) (h : R x y) (h1 : $T R y z) : $T R x z

theorem $t (R : Nat → Nat → Prop) ($P : Nat → Prop) ($h : ∀ $x $x1, R $x $x1 → $P $x → $P $x1) ($x $x1 : Nat) ($h1 : $T R $x $x1) ($h2 : $P $x) : $P $x1 := by
  induction $h1 with
  | refl $x => exact $h2
  | step $x $x3 $x4 $h3 $h4 ih => exact ih ($h $x $x3 $h3 $h2)

--- less_or_equal_predicate
inductive $T : Nat → Nat → Prop where
  | zero (n : Nat) : $T 0 n
  | succ (n m : Nat) (h : $T n m) : $T (n + 1) (m + 1)

theorem $t ($n $n1 : Nat) ($h : $T $n $n1) : $n ≤ $n1 := by
  induction $h with
  | zero $n => exact Nat.zero_le $n
  | succ $n $n1 $h ih => exact Nat.succ_le_succ ih

--- type_of_colours
inductive $T where
  | red : $T
  | green : $T
  | blue : $T

def $F : $T → $T
  | .red => .green
  | .green => .blue
  | .blue => .red

theorem $t ($s : $T) : $F ($F ($F $s)) = $s := by
  cases $s with
  | red => rfl
  | green => rfl
  | blue => rfl

--- type_of_colours_moves
inductive $T where
  | red : $T
  | green : $T
  | blue : $T

def $F : $T → $T
  | .red => .green
  | .green => .blue
  | .blue => .red

theorem $t ($s : $T) : $F $s ≠ $s := by
  cases $s <;> intro $h <;> cases $h

--- expression_evaluator
inductive $T where
  | num (n : Nat) : $T
  | plus (a b : $T) : $T

def $F : $T → Nat
  | .num n => n
  | .plus a b => $F a + $F b

def $F1 : $T → $T
  | .num n => .num n
  | .plus a b => .plus ($F1 b) ($F1 a)

theorem $t ($s : $T) : $F ($F1 $s) = $F $s := by
  induction $s with
  | num $n => rfl
  | plus $s1 $s2 ih ih1 =>
    rw [$F1, $F, ih, ih1, $F]
    ⟦exact Nat.add_comm _ _¦omega⟧

--- iterate_add
def $F ($f : Nat → Nat) : Nat → Nat → Nat
  | 0, x => x
  | n + 1, x => $F $f n ($f x)

theorem $t ($f : Nat → Nat) ($n $n1 $x : Nat) : $F $f ($n + $n1) $x = $F $f $n1 ($F $f $n $x) := by
  induction $n generalizing $x with
  | zero => rw [Nat.zero_add, $F]
  | succ $n ih => rw [Nat.add_right_comm, $F, ih, $F]

--- iterate_commutes
def $F ($f : Nat → Nat) : Nat → Nat → Nat
  | 0, x => x
  | n + 1, x => $F $f n ($f x)

theorem $t ($f : Nat → Nat) ($n $x : Nat) : $F $f $n ($f $x) = $f ($F $f $n $x) := by
  induction $n generalizing $x with
  | zero => rfl
  | succ $n ih => rw [$F, ih, $F]

--- iterate_fixed_point
def $F ($f : Nat → Nat) : Nat → Nat → Nat
  | 0, x => x
  | n + 1, x => $F $f n ($f x)

theorem $t ($f : Nat → Nat) ($n $x : Nat) ($h : $f $x = $x) : $F $f $n $x = $x := by
  induction $n with
  | zero => rfl
  | succ $n ih => rw [$F, $h, ih]

--- own_maximum
def $F : Nat → Nat → Nat
  | a, b => if a ≤ b then b else a

theorem $t ($n $n1 : Nat) : ⟦$n ≤ $F $n $n1¦$n1 ≤ $F $n $n1⟧ := by
  ⟦rw [$F]¦unfold $F⟧
  split
  · omega
  · omega

--- own_maximum_comm
def $F ($n $n1 : Nat) : Nat := if $n ≤ $n1 then $n1 else $n

theorem $t ($n $n1 : Nat) : $F $n $n1 = $F $n1 $n := by
  ⟦rw [$F, $F]¦unfold $F⟧
  by_cases $h : $n ≤ $n1
  · rw [if_pos $h]
    split
    · omega
    · rfl
  · rw [if_neg $h]
    split
    · rfl
    · omega

--- own_minimum_bound
def $F ($n $n1 : Nat) : Nat := if $n ≤ $n1 then $n else $n1

theorem $t ($n $n1 $n2 : Nat) ($h : $n2 ≤ $n) ($h1 : $n2 ≤ $n1) : $n2 ≤ $F $n $n1 := by
  unfold $F
  split
  · exact $h
  · exact $h1

--- own_subtraction_definition
def $F ($n $n1 : Nat) : Nat := ($n - $n1) + ($n1 - $n)

theorem $t ($n $n1 : Nat) : ⟦$F $n $n1 = $F $n1 $n¦$F $n $n1 = 0 ↔ $n = $n1¦$F $n ($n + $n1) = $n1⟧ := by
  ⟦unfold $F¦rw [$F]⟧
  ⟦omega¦grind [$F]⟧

--- own_property_definition
def $F ($n : Nat) : Prop := ∃ $n1, $n = #a * $n1

theorem $t ($n $n1 : Nat) ($h : $F $n) ($h1 : $F $n1) : $F ($n + $n1) := by
  obtain ⟨$n2, $h2⟩ := $h
  obtain ⟨$n3, $h3⟩ := $h1
  exact ⟨$n2 + $n3, by omega⟩

--- own_property_of_function
def $F ($f : Nat → Nat) : Prop := ∀ $n $n1, $n ≤ $n1 → $f $n ≤ $f $n1

theorem $t ($f $f1 : Nat → Nat) ($h : $F $f) ($h1 : $F $f1) : $F (fun x => ⟦1:$f x + $f1 x¦$f ($f1 x)⟧) := by
  intro $n $n1 $h2
  ⟦1:exact Nat.add_le_add ($h $n $n1 $h2) ($h1 $n $n1 $h2)¦exact $h _ _ ($h1 $n $n1 $h2)⟧

--- own_injective_compose
def $F (α β : Type) ($f : α → β) : Prop := ∀ $x $x1, $f $x = $f $x1 → $x = $x1

theorem $t (α β γ : Type) ($f : α → β) ($f1 : β → γ) ($h : $F α β $f) ($h1 : $F β γ $f1) : $F α γ (fun x => $f1 ($f x)) := by
  intro $x $x1 $h2
  apply $h
  apply $h1
  exact $h2

--- injective_of_left_inverse
theorem $t (α β : Type) ($f : α → β) ($f1 : β → α) ($h : ∀ $x, $f1 ($f $x) = $x) ($x $x1 : α) ($h1 : $f $x = $f $x1) : $x = $x1 := by
  ⟦1:rw [← $h $x, ← $h $x1, $h1]¦have $h2 := $h $x⟧
  ⟦1:¦rw [$h1, $h] at $h2⟧
  ⟦1:¦exact $h2.symm⟧

--- surjective_compose
theorem $t (α β γ : Type) ($f : α → β) ($f1 : β → γ) ($h : ∀ $y, ∃ $x, $f $x = $y) ($h1 : ∀ $y, ∃ $x, $f1 $x = $y) ($y1 : γ) : ∃ $x, $f1 ($f $x) = $y1 := by
  obtain ⟨$x1, $h2⟩ := $h1 $y1
  obtain ⟨$x2, $h3⟩ := $h $x1
  exact ⟨$x2, by rw [$h3, $h2]⟩

--- injective_of_composition
theorem $t (α β γ : Type) ($f : α → β) ($f1 : β → γ) ($h : ∀ $x $x1, $f1 ($f $x) = $f1 ($f $x1) → $x = $x1) ($x $x1 : α) ($h1 : $f $x = $f $x1) : $x = $x1 := by
  apply $h
  rw [$h1]

--- surjective_of_composition
theorem $t (α β γ : Type) ($f : α → β) ($f1 : β → γ) ($h : ∀ $y, ∃ $x, $f1 ($f $x) = $y) ($y : γ) : ∃ $x, $f1 $x = $y := by
  obtain ⟨$x1, $h1⟩ := $h $y
  exact ⟨$f $x1, $h1⟩

--- involution_is_bijective
theorem $t (α : Type) ($f : α → α) ($h : ∀ $x, $f ($f $x) = $x) : (∀ $x $x1, $f $x = $f $x1 → $x = $x1) ∧ ∀ $y, ∃ $x, $f $x = $y := by
  constructor
  · intro $x $x1 $h1
    rw [← $h $x, $h1, $h]
  · intro $y
    exact ⟨$f $y, $h $y⟩

--- no_surjection_to_predicates
theorem $t (α : Type) ($f : α → α → Prop) : ¬∀ $P : α → Prop, ∃ $x, ∀ $y, $f $x $y ↔ $P $y := by
  intro $h
  obtain ⟨$x, $h1⟩ := $h (fun $y => ¬$f $y $y)
  have $h2 := $h1 $x
  ⟦by_cases $h3 : $f $x $x¦rcases Classical.em ($f $x $x) with $h3 | $h3⟧
  · exact $h2.mp $h3 $h3
  · exact $h3 ($h2.mpr $h3)

--- strictly_monotone_grows
theorem $t ($f : Nat → Nat) ($h : ∀ $n, $f $n < $f ($n + 1)) ($n : Nat) : ⟦$n ≤ $f $n¦$n + $f 0 ≤ $f $n⟧ := by
  induction $n with
  | zero => omega
  | succ $n ih =>
    have $h1 := $h $n
    omega

--- monotone_of_steps
theorem $t ($f : Nat → Nat) ($h : ∀ $n, $f $n ≤ $f ($n + 1)) ($n $n1 : Nat) ($h1 : $n ≤ $n1) : $f $n ≤ $f $n1 := by
  induction $h1 with
  | refl => exact Nat.le_refl ($f $n)
  | step $h1 ih => exact Nat.le_trans ih ($h _)

--- strictly_monotone_of_steps
theorem $t ($f : Nat → Nat) ($h : ∀ $n, $f $n < $f ($n + 1)) ($n $n1 : Nat) ($h1 : $n < $n1) : $f $n < $f $n1 := by
  induction $h1 with
  | refl => exact $h $n
  | step $h1 ih => exact Nat.lt_trans ih ($h _)

--- monotone_with_sum
theorem $t ($f : Nat → Nat) ($h : ∀ $n, $f $n + #a ≤ $f ($n + 1)) ($n $n1 : Nat) : $f $n + #a * $n1 ≤ $f ($n + $n1) := by
  induction $n1 with
  | zero => exact Nat.le_refl _
  | succ $n1 ih =>
    have $h1 := $h ($n + $n1)
    rw [← Nat.add_assoc]
    omega

--- decreasing_sequence_ends
theorem $t ($f : Nat → Nat) ($h : ∀ $n, $f ($n + 1) ≤ $f $n) ($n : Nat) : $f $n ≤ $f 0 := by
  induction $n with
  | zero => exact Nat.le_refl ($f 0)
  | succ $n ih => exact Nat.le_trans ($h $n) ih

--- constant_function
theorem $t ($f : Nat → Nat) ($h : ∀ $n, $f ($n + 1) = $f $n) ($n $n1 : Nat) : $f $n = $f $n1 := by
  have $h1 : ∀ $n2, $f $n2 = $f 0 := ?_
  · rw [$h1 $n, $h1 $n1]
  · intro $n2
    induction $n2 with
    | zero => rfl
    | succ $n2 ih => rw [$h, ih]

--- additive_function
theorem $t ($f : Nat → Nat) ($h : ∀ $n $n1, $f ($n + $n1) = $f $n + $f $n1) ($n : Nat) : $f $n = $n * $f 1 := by
  induction $n with
  | zero =>
    have $h1 := $h 0 0
    omega
  | succ $n ih =>
    rw [$h, ih, Nat.add_one_mul]

--- additive_function_zero
theorem $t ($f : Nat → Nat) ($h : ∀ $n $n1, $f ($n + $n1) = $f $n + $f $n1) : $f 0 = 0 := by
  have $h1 := $h 0 0
  rw [Nat.add_zero] at $h1
  omega

--- periodic_function
theorem $t ($f : Nat → Nat) ($h : ∀ $n, $f ($n + #a) = $f $n) ($n $n1 : Nat) : $f ($n + #a * $n1) = $f $n := by
  induction $n1 with
  | zero => rfl
  | succ $n1 ih => rw [Nat.mul_add_one, ← Nat.add_assoc, $h, ih]

--- sum_and_square
theorem $t ($n $n1 : Nat) : 2 * ($n * $n1) ≤ $n * $n + $n1 * $n1 := by
  rcases Nat.le_total $n $n1 with $h | $h
  · obtain ⟨$n2, rfl⟩ := Nat.exists_eq_add_of_le $h
    grind
  · obtain ⟨$n2, rfl⟩ := Nat.exists_eq_add_of_le $h
    grind

--- square_monotone
theorem $t ($n $n1 : Nat) ($h : $n ≤ $n1) : ⟦$n * $n ≤ $n1 * $n1¦$n ^ 2 ≤ $n1 ^ 2¦$n * ($n + #a) ≤ $n1 * ($n1 + #a)⟧ := by
  obtain ⟨$n2, rfl⟩ := Nat.exists_eq_add_of_le $h
  grind

--- square_reflects
theorem $t ($n $n1 : Nat) ($h : $n * $n ≤ $n1 * $n1) : $n ≤ $n1 := by
  apply Nat.le_of_not_lt
  intro $h1
  obtain ⟨$n2, rfl⟩ := Nat.exists_eq_add_of_lt $h1
  grind

--- square_injective
theorem $t ($n $n1 : Nat) ($h : $n * $n = $n1 * $n1) : $n = $n1 := by
  rcases Nat.lt_trichotomy $n $n1 with $h1 | $h1 | $h1
  · obtain ⟨$n2, rfl⟩ := Nat.exists_eq_add_of_lt $h1
    grind
  · exact $h1
  · obtain ⟨$n2, rfl⟩ := Nat.exists_eq_add_of_lt $h1
    grind

--- product_zero
theorem $t ($n $n1 : Nat) ($h : $n * $n1 = 0) : $n = 0 ∨ $n1 = 0 := by
  cases $n with
  | zero => exact Or.inl rfl
  | succ $n =>
    right
    rw [Nat.add_one_mul] at $h
    omega

--- product_one
theorem $t ($n $n1 : Nat) ($h : $n * $n1 = 1) : $n = 1 := by
  have $h1 : $n ∣ 1 := ⟨$n1, $h.symm⟩
  exact Nat.eq_one_of_dvd_one $h1

--- product_le
theorem $t ($n $n1 $n2 $n3 : Nat) ($h : $n ≤ $n1) ($h1 : $n2 ≤ $n3) : $n * $n2 ≤ $n1 * $n3 := by
  ⟦1:exact Nat.mul_le_mul $h $h1¦obtain ⟨$n4, rfl⟩ := Nat.exists_eq_add_of_le $h⟧
  ⟦1:¦obtain ⟨$n5, rfl⟩ := Nat.exists_eq_add_of_le $h1⟧
  ⟦1:¦grind⟧

--- difference_of_squares
theorem $t ($n $n1 : Nat) ($h : $n1 ≤ $n) : ($n - $n1) * ($n + $n1) = $n * $n - $n1 * $n1 := by
  obtain ⟨$n2, rfl⟩ := Nat.exists_eq_add_of_le $h
  rw [Nat.add_sub_cancel_left]
  have $h1 : ($n1 + $n2) * ($n1 + $n2) = $n1 * $n1 + $n2 * ($n1 + $n2 + $n1) := by grind
  omega

--- relation_symmetric_transitive
theorem $t (α : Type) (R : α → α → Prop) ($h : ∀ $x $x1, R $x $x1 → R $x1 $x) ($h1 : ∀ $x $x1 $x2, R $x $x1 → R $x1 $x2 → R $x $x2) ($x $x1 : α) ($h2 : R $x $x1) : R $x $x := by
  exact $h1 $x $x1 $x $h2 ($h $x $x1 $h2)

--- relation_irreflexive
theorem $t (α : Type) (R : α → α → Prop) ($h : ∀ $x, ¬R $x $x) ($h1 : ∀ $x $x1 $x2, R $x $x1 → R $x1 $x2 → R $x $x2) ($x $x1 : α) ($h2 : R $x $x1) : ¬R $x1 $x := by
  intro $h3
  ⟦1:exact $h $x ($h1 $x $x1 $x $h2 $h3)¦apply $h $x⟧
  ⟦1:¦exact $h1 $x $x1 $x $h2 $h3⟧

--- not_exists
theorem $t (α : Type) ($P : α → Prop) : (¬∃ $x, $P $x) ↔ ∀ $x, ¬$P $x := by
  constructor
  · intro $h $x $h1
    exact $h ⟨$x, $h1⟩
  · intro $h $h1
    obtain ⟨$x, $h2⟩ := $h1
    exact $h $x $h2

--- not_forall
theorem $t (α : Type) ($P : α → Prop) ($h : ¬∀ $x, $P $x) : ∃ $x, ¬$P $x := by
  apply Classical.byContradiction
  intro $h1
  apply $h
  intro $x
  apply Classical.byContradiction
  intro $h2
  exact $h1 ⟨$x, $h2⟩

--- exists_or
theorem $t (α : Type) ($P $P1 : α → Prop) : (∃ $x, $P $x ∨ $P1 $x) ↔ (∃ $x, $P $x) ∨ ∃ $x, $P1 $x := by
  constructor
  · intro ⟨$x, $h⟩
    rcases $h with $h1 | $h1
    · exact Or.inl ⟨$x, $h1⟩
    · exact Or.inr ⟨$x, $h1⟩
  · intro $h
    rcases $h with ⟨$x, $h1⟩ | ⟨$x, $h1⟩
    · exact ⟨$x, Or.inl $h1⟩
    · exact ⟨$x, Or.inr $h1⟩

--- exists_and_const
theorem $t (α : Type) ($P : α → Prop) (q : Prop) : (∃ $x, $P $x ∧ q) ↔ (∃ $x, $P $x) ∧ q := by
  constructor
  · intro $h
    obtain ⟨$x, $h1, $h2⟩ := $h
    exact ⟨⟨$x, $h1⟩, $h2⟩
  · intro $h
    obtain ⟨⟨$x, $h1⟩, $h2⟩ := $h
    exact ⟨$x, $h1, $h2⟩

--- forall_and
theorem $t (α : Type) ($P $P1 : α → Prop) : (∀ $x, $P $x ∧ $P1 $x) ↔ (∀ $x, $P $x) ∧ ∀ $x, $P1 $x := by
  constructor
  · intro $h
    constructor
    · intro $x
      exact ($h $x).1
    · intro $x
      exact ($h $x).2
  · intro ⟨$h, $h1⟩ $x
    exact ⟨$h $x, $h1 $x⟩

--- exists_forall
theorem $t (α β : Type) (R : α → β → Prop) ($h : ∃ $x, ∀ $y, R $x $y) ($y1 : β) : ∃ $x, R $x $y1 := by
  obtain ⟨$x, $h1⟩ := $h
  exact ⟨$x, $h1 $y1⟩

--- drinker
theorem $t (α : Type) ($x : α) ($P : α → Prop) : ∃ $x1, $P $x1 → ∀ $x2, $P $x2 := by
  rcases Classical.em (∀ $x2, $P $x2) with $h | $h
  · exact ⟨$x, fun _ => $h⟩
  · have $h1 : ∃ $x2, ¬$P $x2 := ?_
    · obtain ⟨$x2, $h2⟩ := $h1
      exact ⟨$x2, fun $h3 => absurd $h3 $h2⟩
    · apply Classical.byContradiction
      intro $h2
      apply $h
      intro $x2
      apply Classical.byContradiction
      intro $h3
      exact $h2 ⟨$x2, $h3⟩

--- unique_witness
theorem $t (α : Type) ($P : α → Prop) ($x $x1 : α) ($h : ∀ $x2 $x3, $P $x2 → $P $x3 → $x2 = $x3) ($h1 : $P $x) ($h2 : $P $x1) (Q : α → Prop) ($h3 : Q $x) : Q $x1 := by
  have $h4 := $h $x $x1 $h1 $h2
  ⟦rw [← $h4]¦rw [$h4] at $h3⟧
  exact $h3

--- contraposition
theorem $t (p q : Prop) : (p → q) ↔ (¬q → ¬p) := by
  constructor
  · intro $h $h1 $h2
    exact $h1 ($h $h2)
  · intro $h $h1
    apply Classical.byContradiction
    intro $h2
    exact $h $h2 $h1

--- or_distributes
theorem $t (p q r : Prop) : p ∧ (q ∨ r) ↔ p ∧ q ∨ p ∧ r := by
  constructor
  · intro ⟨$h, $h1⟩
    rcases $h1 with $h2 | $h2
    · exact Or.inl ⟨$h, $h2⟩
    · exact Or.inr ⟨$h, $h2⟩
  · intro $h
    rcases $h with ⟨$h1, $h2⟩ | ⟨$h1, $h2⟩
    · exact ⟨$h1, Or.inl $h2⟩
    · exact ⟨$h1, Or.inr $h2⟩

--- excluded_middle_not_false
theorem $t (p : Prop) : ¬¬(p ∨ ¬p) := by
  intro $h
  apply $h
  right
  intro $h1
  exact $h (Or.inl $h1)

--- chain_of_implications
theorem $t ($P : Nat → Prop) ($h : ∀ $n, $P $n → $P ($n + 1)) ($n $n1 : Nat) ($h1 : $P $n) : $P ($n + $n1) := by
  induction $n1 with
  | zero => exact $h1
  | succ $n1 ih => exact $h ($n + $n1) ih

--- step_of_larger_size
theorem $t ($P : Nat → Prop) ($h : $P 0) ($h1 : ∀ $n, $P $n → $P ($n + #a)) ($n : Nat) : $P (#a * $n) := by
  induction $n with
  | zero => exact $h
  | succ $n ih =>
    rw [Nat.mul_add_one]
    exact $h1 (#a * $n) ih

--- least_number
theorem $t ($P : Nat → Prop) ($n : Nat) ($h : $P $n) : ∃ $n1, $P $n1 ∧ ∀ $n2, $n2 < $n1 → ¬$P $n2 := by
  induction $n using Nat.strongRecOn with
  | ind $n ih =>
    by_cases $h1 : ∃ $n3, $n3 < $n ∧ $P $n3
    · obtain ⟨$n3, $h2, $h3⟩ := $h1
      exact ih $n3 $h2 $h3
    · exact ⟨$n, $h, fun $n2 $h4 $h5 => $h1 ⟨$n2, $h4, $h5⟩⟩

--- bounded_search
theorem $t ($P : Nat → Prop) ($n : Nat) : (∃ $n1, $n1 < $n ∧ $P $n1) ∨ ∀ $n1, $n1 < $n → ¬$P $n1 := by
  induction $n with
  | zero =>
    right
    intro $n1 $h
    omega
  | succ $n ih =>
    rcases ih with $h | $h
    · left
      obtain ⟨$n1, $h1, $h2⟩ := $h
      exact ⟨$n1, by omega, $h2⟩
    · by_cases $h1 : $P $n
      · left
        exact ⟨$n, by omega, $h1⟩
      · right
        intro $n1 $h2
        by_cases $h3 : $n1 = $n
        · rw [$h3]
          exact $h1
        · exact $h $n1 (by omega)

--- maximum_of_function
theorem $t ($f : Nat → Nat) ($n : Nat) : ∃ $n1, ∀ $n2, $n2 ≤ $n → $f $n2 ≤ $n1 := by
  induction $n with
  | zero =>
    refine ⟨$f 0, ?_⟩
    intro $n2 $h
    rw [Nat.eq_zero_of_le_zero $h]
  | succ $n ih =>
    obtain ⟨$n1, $h⟩ := ih
    refine ⟨$n1 + $f ($n + 1), ?_⟩
    intro $n2 $h1
    by_cases $h2 : $n2 = $n + 1
    · rw [$h2]
      exact Nat.le_add_left _ _
    · have $h3 := $h $n2 (by omega)
      omega

--- bool_functions
theorem $t ($f : Bool → Bool) ($y : Bool) : $f ($f ($f $y)) = $f $y := by
  cases $h : $f true <;> cases $h1 : $f false <;> cases $y <;> simp_all

--- bool_cases
theorem $t ($y $y1 $y2 : Bool) : ⟦1:(($y && $y1) || ($y && $y2)) = ($y && ($y1 || $y2))¦($y || ($y && $y1)) = $y¦(!($y && $y1)) = (!$y || !$y1)⟧ := by
  cases $y <;> cases $y1 <;> ⟦1:cases $y2 <;> ¦¦⟧decide

--- option_map
theorem $t (α β : Type) ($f : α → β) ($y : Option α) : $y.map $f = none ↔ $y = none := by
  cases $y with
  | none => simp
  | some $x => simp

--- binary_digits
theorem $t ($n : Nat) : ∃ $n1 $n2, $n = #a * $n1 + $n2 ∧ $n2 < #a := by
  exact ⟨$n / #a, $n % #a, by omega, by omega⟩

--- sum_swap
theorem $t ($f $f1 $f2 : Nat → Nat) ($h : $f 0 = $f1 0 + $f2 0) ($h1 : ∀ $n, $f ($n + 1) = $f $n + ($f1 ($n + 1) + $f2 ($n + 1)) - ($f1 $n + $f2 $n)) ($h2 : ∀ $n, $f1 $n ≤ $f1 ($n + 1)) ($h3 : ∀ $n, $f2 $n ≤ $f2 ($n + 1)) ($n : Nat) : $f $n = $f1 $n + $f2 $n := by
  induction $n with
  | zero => exact $h
  | succ $n ih =>
    have $h4 := $h2 $n
    have $h5 := $h3 $n
    rw [$h1, ih]
    omega

--- sums_agree
theorem $t ($f $f1 $f2 : Nat → Nat) ($h : $f 0 = $f1 0) ($h1 : ∀ $n, $f ($n + 1) = $f $n + $f2 $n) ($h2 : ∀ $n, $f1 ($n + 1) = $f2 $n + $f1 $n) ($n : Nat) : $f $n = $f1 $n := by
  induction $n with
  | zero => exact $h
  | succ $n ih => rw [$h1, $h2, ih, Nat.add_comm]

--- sum_of_doubled
theorem $t ($f $f1 $f2 : Nat → Nat) ($h : $f 0 = 0) ($h1 : $f1 0 = 0) ($h2 : ∀ $n, $f ($n + 1) = $f $n + $f2 $n) ($h3 : ∀ $n, $f1 ($n + 1) = $f1 $n + #a * $f2 $n) ($n : Nat) : $f1 $n = #a * $f $n := by
  induction $n with
  | zero => rw [$h, $h1]
  | succ $n ih =>
    rw [$h2, $h3, ih]
    omega

--- telescoping_sum
theorem $t ($f $f1 : Nat → Nat) ($h : $f 0 = 0) ($h1 : ∀ $n, $f ($n + 1) + $f1 $n = $f $n + $f1 ($n + 1)) ($n : Nat) : $f $n + $f1 0 = $f1 $n := by
  induction $n with
  | zero =>
    rw [$h]
    omega
  | succ $n ih =>
    have $h2 := $h1 $n
    omega

--- geometric_sum
def $F : Nat → Nat
  | 0 => 0
  | n + 1 => $F n + #(a+1) ^ n

theorem $t ($n : Nat) : #a * $F $n + 1 = #(a+1) ^ $n := by
  induction $n with
  | zero => rfl
  | succ $n ih =>
    rw [$F, Nat.pow_succ]
    omega

--- sum_of_powers_of_two
theorem $t ($f : Nat → Nat) ($h : $f 0 = 1) ($h1 : ∀ $n, $f ($n + 1) = $f $n + 2 ^ ($n + 1)) ($n : Nat) : $f $n + 1 = 2 ^ ($n + 1) := by
  induction $n with
  | zero => ⟦rw [$h]¦omega⟧
  | succ $n ih =>
    have $h2 : 2 ^ ($n + 1 + 1) = 2 ^ ($n + 1) * 2 := Nat.pow_succ
    rw [$h1]
    omega

--- sum_of_squares
def $F : Nat → Nat
  | 0 => 0
  | n + 1 => $F n + (n + 1) * (n + 1)

theorem $t ($n : Nat) : 6 * $F $n = $n * ($n + 1) * (2 * $n + 1) := by
  induction $n with
  | zero => rfl
  | succ $n ih =>
    rw [$F, Nat.mul_add, ih]
    grind

--- sum_of_cubes
def $F : Nat → Nat
  | 0 => 0
  | n + 1 => $F n + (n + 1) * (n + 1) * (n + 1)

theorem $t ($n : Nat) : 4 * $F $n = $n * $n * (($n + 1) * ($n + 1)) := by
  induction $n with
  | zero => rfl
  | succ $n ih =>
    rw [$F, Nat.mul_add, ih]
    grind

--- sum_of_products_of_neighbours
def $F : Nat → Nat
  | 0 => 0
  | n + 1 => $F n + (n + 1) * (n + 2)

theorem $t ($n : Nat) : 3 * $F $n = $n * ($n + 1) * ($n + 2) := by
  induction $n with
  | zero => rfl
  | succ $n ih =>
    rw [$F, Nat.mul_add, ih]
    grind

--- affine_recursion
theorem $t ($f : Nat → Nat) ($h : $f 0 = 0) ($h1 : ∀ $n, $f ($n + 1) = 2 * $f $n + #a) ($n : Nat) : $f $n + #a = #a * 2 ^ $n := by
  induction $n with
  | zero => ⟦rw [$h]¦simp [$h]⟧
  | succ $n ih =>
    rw [$h1, Nat.pow_succ]
    omega

--- doubling_recursion
theorem $t ($f : Nat → Nat) ($h : $f 0 = #b) ($h1 : ∀ $n, $f ($n + 1) = #a * $f $n) ($n : Nat) : $f $n = #b * #a ^ $n := by
  induction $n with
  | zero => rw [$h, Nat.pow_zero, Nat.mul_one]
  | succ $n ih =>
    rw [$h1, ih, Nat.pow_succ]
    ⟦grind¦omega⟧

--- recursion_stays_below
theorem $t ($f : Nat → Nat) ($h : $f 0 ≤ #(2*a)) ($h1 : ∀ $n, $f ($n + 1) = ($f $n + #(2*a)) / 2) ($n : Nat) : $f $n ≤ #(2*a) := by
  induction $n with
  | zero => exact $h
  | succ $n ih =>
    rw [$h1]
    omega

--- recursion_keeps_parity
theorem $t ($f : Nat → Nat) ($h : $f 0 = #(2*a)) ($h1 : ∀ $n, $f ($n + 1) = ⟦$f $n + #(2*b)¦3 * $f $n¦$f $n + 2 * $n¦5 * $f $n + 4⟧) ($n : Nat) : $f $n % 2 = 0 := by
  induction $n with
  | zero => rw [$h]
  | succ $n ih =>
    rw [$h1]
    omega

--- recursion_divisible
theorem $t ($f : Nat → Nat) ($h : #a ∣ $f 0) ($h1 : ∀ $n, $f ($n + 1) = $f $n + #a * $n) ($n : Nat) : #a ∣ $f $n := by
  induction $n with
  | zero => exact $h
  | succ $n ih =>
    rw [$h1]
    ⟦omega¦exact Nat.dvd_add ih (Nat.dvd_mul_right #a $n)⟧

--- cube_minus
theorem $t ($n : Nat) : 3 ∣ $n * $n * $n + 2 * $n := by
  induction $n with
  | zero => decide
  | succ $n ih =>
    have $h : ($n + 1) * ($n + 1) * ($n + 1) + 2 * ($n + 1) = $n * $n * $n + 2 * $n + 3 * ($n * $n + $n + 1) := by grind
    rw [$h]
    exact Nat.dvd_add ih (Nat.dvd_mul_right 3 _)

--- product_of_three
theorem $t ($n : Nat) : 3 ∣ $n * ($n + 1) * ($n + 2) := by
  induction $n with
  | zero => decide
  | succ $n ih =>
    have $h : ($n + 1) * ($n + 1 + 1) * ($n + 1 + 2) = $n * ($n + 1) * ($n + 2) + 3 * (($n + 1) * ($n + 2)) := by grind
    rw [$h]
    exact Nat.dvd_add ih (Nat.dvd_mul_right 3 _)

--- square_plus_number_even
theorem $t ($n : Nat) : ($n ⟦* $n¦^ 2⟧ + $n) % 2 = 0 := by
  induction $n with
  | zero => rfl
  | succ $n ih => grind

--- square_same_parity
theorem $t ($n : Nat) : $n * $n % 2 = $n % 2 := by
  rw [Nat.mul_mod]
  rcases Nat.mod_two_eq_zero_or_one $n with $h | $h
  · rw [$h]
  · rw [$h]

--- even_of_even_square
theorem $t ($n : Nat) ($h : 2 ∣ $n * $n) : 2 ∣ $n := by
  have $h1 := Nat.mul_mod $n $n 2
  rcases Nat.mod_two_eq_zero_or_one $n with $h2 | $h2
  · omega
  · rw [$h2] at $h1
    omega

--- three_divides_of_square
theorem $t ($n : Nat) ($h : 3 ∣ $n * $n) : 3 ∣ $n := by
  have $h1 := Nat.mul_mod $n $n 3
  have $h2 : $n % 3 = 0 ∨ $n % 3 = 1 ∨ $n % 3 = 2 := by omega
  rcases $h2 with $h2 | $h2 | $h2
  · omega
  · rw [$h2] at $h1
    omega
  · rw [$h2] at $h1
    omega

--- odd_not_divisible
theorem $t ($n : Nat) : ¬#(a) ∣ #a * $n + 1 := by
  intro $h
  obtain ⟨$n1, $h1⟩ := $h
  omega

--- sum_of_odd_numbers_even
theorem $t ($n $n1 : Nat) ($h : $n % 2 = 1) ($h1 : $n1 % 2 = 1) : ∃ $n2, $n + $n1 = 2 * $n2 := by
  exact ⟨($n + $n1) / 2, by omega⟩

--- divides_both_or
theorem $t ($n $n1 : Nat) ($h : 2 ∣ $n * $n1) : 2 ∣ $n ∨ 2 ∣ $n1 := by
  have $h1 := Nat.mul_mod $n $n1 2
  rcases Nat.mod_two_eq_zero_or_one $n with $h2 | $h2
  · left
    omega
  · right
    rw [$h2] at $h1
    omega

--- divides_of_mod
theorem $t ($n $n1 : Nat) ($h : $n % $n1 = 0) : ∃ $n2, $n = $n1 * $n2 := by
  ⟦1:obtain ⟨$n2, $h1⟩ := Nat.dvd_of_mod_eq_zero $h¦exact Nat.dvd_of_mod_eq_zero $h¦have $h1 := Nat.div_add_mod $n $n1⟧
  ⟦1:exact ⟨$n2, $h1⟩¦¦exact ⟨$n / $n1, by omega⟩⟧

--- multiple_of_both
theorem $t ($n : Nat) ($h : 2 ∣ $n) ($h1 : ⟦1:3¦5¦7⟧ ∣ $n) : ⟦1:6¦10¦14⟧ ∣ $n := by
  obtain ⟨$n1, $h2⟩ := $h
  obtain ⟨$n2, $h3⟩ := $h1
  omega

--- divides_sum_of_three
theorem $t ($n : Nat) : 3 ∣ $n + ($n + 1) + ($n + 2) := by
  exact ⟨$n + 1, by omega⟩

--- common_divisor_of_difference
theorem $t ($n $n1 $n2 : Nat) ($h : $n ∣ $n1) ($h1 : $n ∣ $n2) : $n ∣ $n1 - $n2 := by
  obtain ⟨$n3, rfl⟩ := $h
  obtain ⟨$n4, rfl⟩ := $h1
  exact ⟨$n3 - $n4, by rw [Nat.mul_sub]⟩

--- power_divides_power
theorem $t ($n $n1 $n2 : Nat) ($h : $n ∣ $n1) : $n ^ $n2 ∣ $n1 ^ $n2 := by
  induction $n2 with
  | zero => exact Nat.dvd_refl _
  | succ $n2 ih =>
    rw [Nat.pow_succ, Nat.pow_succ]
    exact Nat.mul_dvd_mul ih $h

--- power_of_divides
theorem $t ($n $n1 $n2 : Nat) ($h : $n1 ≤ $n2) : $n ^ $n1 ∣ $n ^ $n2 := by
  obtain ⟨$n3, rfl⟩ := Nat.exists_eq_add_of_le $h
  rw [Nat.pow_add]
  exact Nat.dvd_mul_right _ _

--- power_monotone
theorem $t ($n $n1 $n2 : Nat) ($h : $n ≤ $n1) : $n ^ $n2 ≤ $n1 ^ $n2 := by
  induction $n2 with
  | zero => exact Nat.le_refl _
  | succ $n2 ih =>
    rw [Nat.pow_succ, Nat.pow_succ]
    exact Nat.mul_le_mul ih $h

--- power_at_least_one
theorem $t ($n $n1 : Nat) ($h : 0 < $n) : 0 < $n ^ $n1 := by
  induction $n1 with
  | zero => exact Nat.zero_lt_one
  | succ $n1 ih =>
    rw [Nat.pow_succ]
    exact Nat.mul_pos ih $h

--- own_equality_test
def $F : Nat → Nat → Bool
  | 0, 0 => true
  | 0, _ + 1 => false
  | _ + 1, 0 => false
  | n + 1, m + 1 => $F n m

theorem $t ($n : Nat) : $F $n $n = true := by
  induction $n with
  | zero => rfl
  | succ $n ih =>
    rw [$F]
    exact ih

--- own_equality_test_sound
def $F : Nat → Nat → Bool
  | 0, 0 => true
  | 0, _ + 1 => false
  | _ + 1, 0 => false
  | n + 1, m + 1 => $F n m

theorem $t ($n $n1 : Nat) ($h : $F $n $n1 = true) : $n = $n1 := by
  induction $n generalizing $n1 with
  | zero =>
    cases $n1 with
    | zero => rfl
    | succ $n1 => cases $h
  | succ $n ih =>
    cases $n1 with
    | zero => cases $h
    | succ $n1 =>
      rw [$F] at $h
      rw [ih $n1 $h]

--- own_less_or_equal_test
def $F : Nat → Nat → Bool
  | 0, _ => true
  | _ + 1, 0 => false
  | n + 1, m + 1 => $F n m

theorem $t ($n $n1 : Nat) ($h : $F $n $n1 = true) : $n ≤ $n1 := by
  induction $n generalizing $n1 with
  | zero => exact Nat.zero_le $n1
  | succ $n ih =>
    cases $n1 with
    | zero => cases $h
    | succ $n1 =>
      rw [$F] at $h
      exact Nat.succ_le_succ (ih $n1 $h)

--- own_less_or_equal_test_complete
def $F : Nat → Nat → Bool
  | 0, _ => true
  | _ + 1, 0 => false
  | n + 1, m + 1 => $F n m

theorem $t ($n $n1 : Nat) ($h : $n ≤ $n1) : $F $n $n1 = true := by
  induction $n generalizing $n1 with
  | zero => ⟦rfl¦rw [$F]⟧
  | succ $n ih =>
    cases $n1 with
    | zero => omega
    | succ $n1 =>
      rw [$F]
      exact ih $n1 (by omega)

--- own_subtraction
def $F : Nat → Nat → Nat
  | n, 0 => n
  | 0, _ + 1 => 0
  | n + 1, m + 1 => $F n m

theorem $t ($n : Nat) : $F $n $n = 0 := by
  induction $n with
  | zero => rfl
  | succ $n ih => ⟦rw [$F, ih]¦exact ih⟧

--- own_addition
def $F : Nat → Nat → Nat
  | 0, m => m
  | n + 1, m => ⟦$F n m + 1¦$F n (m + 1)⟧

theorem $t ($n $n1 : Nat) : $F $n $n1 = $n + $n1 := by
  induction $n generalizing $n1 with
  | zero => ⟦rw [$F, Nat.zero_add]¦simp [$F]⟧
  | succ $n ih =>
    rw [$F, ih]
    omega

--- own_multiplication
def $F : Nat → Nat → Nat
  | 0, _ => 0
  | n + 1, m => ⟦1:m + $F n m¦$F n m + m⟧

theorem $t ($n $n1 : Nat) : $F $n $n1 = $n * $n1 := by
  induction $n with
  | zero => rw [$F, Nat.zero_mul]
  | succ $n ih =>
    rw [$F, ih, Nat.add_one_mul]
    ⟦1:omega¦⟧

--- own_halving
def $F : Nat → Nat
  | 0 => 0
  | 1 => 0
  | n + 2 => $F n + 1

theorem $t ($n : Nat) : $F (2 * $n) = $n := by
  induction $n with
  | zero => rfl
  | succ $n ih => rw [Nat.mul_add_one, $F, ih]

--- own_halving_bound
def $F : Nat → Nat
  | 0 => 0
  | 1 => 0
  | n + 2 => $F n + 1

theorem $t ($n : Nat) : $F $n ≤ $n := by
  induction $n using Nat.strongRecOn with
  | ind $n ih =>
    cases $n with
    | zero => exact Nat.le_refl _
    | succ $n =>
      cases $n with
      | zero => decide
      | succ $n =>
        rw [$F]
        have $h := ih $n (by omega)
        omega

--- own_mod_two
def $F : Nat → Nat
  | 0 => 0
  | 1 => 1
  | n + 2 => $F n

theorem $t ($n : Nat) : $F $n < 2 := by
  induction $n using Nat.strongRecOn with
  | ind $n ih =>
    cases $n with
    | zero => decide
    | succ $n =>
      cases $n with
      | zero => decide
      | succ $n =>
        rw [$F]
        exact ih $n (by omega)

--- own_collatz_step
def $F ($n : Nat) : Nat := if $n % 2 = 0 then $n / 2 else 3 * $n + 1

theorem $t ($n : Nat) : ⟦$F (2 * $n) = $n¦$F (2 * $n + 1) = 6 * $n + 4⟧ := by
  unfold $F
  split
  · omega
  · omega

--- own_absolute_value
def $F ($n $n1 : Nat) : Nat := if $n ≤ $n1 then $n1 - $n else $n - $n1

theorem $t ($n $n1 $n2 : Nat) : $F $n $n2 ≤ $F $n $n1 + $F $n1 $n2 := by
  unfold $F
  grind

--- own_sign_of_condition
def $F ($n : Nat) : Nat := if $n < #a then 0 else 1

theorem $t ($n $n1 : Nat) ($h : $n ≤ $n1) : $F $n ≤ $F $n1 := by
  unfold $F
  by_cases $h1 : $n < #a
  · rw [if_pos $h1]
    exact Nat.zero_le _
  · have $h2 : ¬$n1 < #a := by omega
    rw [if_neg $h1, if_neg $h2]

--- own_clamp
def $F ($n $n1 $n2 : Nat) : Nat := if $n2 < $n then $n else if $n1 < $n2 then $n1 else $n2

theorem $t ($n $n1 $n2 : Nat) ($h : $n ≤ $n1) : $n ≤ $F $n $n1 $n2 ∧ $F $n $n1 $n2 ≤ $n1 := by
  unfold $F
  split
  · omega
  · split
    · omega
    · omega

--- binary_number_successor
inductive $T where
  | zero : $T
  | even (b : $T) : $T
  | odd (b : $T) : $T

def $F : $T → $T
  | .zero => .odd .zero
  | .even b => .odd b
  | .odd b => .even ($F b)

def $F1 : $T → Nat
  | .zero => 0
  | .even b => 2 * $F1 b
  | .odd b => 2 * $F1 b + 1

theorem $t ($s : $T) : $F1 ($F $s) = $F1 $s + 1 := by
  induction $s with
  | zero => rfl
  | even $s ih => rfl
  | odd $s ih =>
    rw [$F, $F1, ih, $F1]
    omega

--- expression_simplifier
inductive $T where
  | num (n : Nat) : $T
  | plus (a b : $T) : $T
  | twice (a : $T) : $T

def $F : $T → Nat
  | .num n => n
  | .plus a b => $F a + $F b
  | .twice a => 2 * $F a

def $F1 : $T → $T
  | .num n => .num n
  | .plus a b => .plus ($F1 a) ($F1 b)
  | .twice a => .plus ($F1 a) ($F1 a)

theorem $t ($s : $T) : $F ($F1 $s) = $F $s := by
  induction $s with
  | num $n => rfl
  | plus $s1 $s2 ih ih1 => rw [$F1, $F, ih, ih1, $F]
  | twice $s1 ih =>
    rw [$F1, $F, ih, $F]
    omega

--- expression_size_positive
inductive $T where
  | num (n : Nat) : $T
  | plus (a b : $T) : $T

def $F : $T → Nat
  | .num _ => 1
  | .plus a b => $F a + $F b + #a

theorem $t ($s : $T) : 0 < $F $s := by
  induction $s with
  | num $n => exact Nat.zero_lt_one
  | plus $s1 $s2 ih ih1 =>
    rw [$F]
    omega

--- expression_variables_evaluated
inductive $T where
  | num (n : Nat) : $T
  | var (n : Nat) : $T
  | plus (a b : $T) : $T

def $F ($f : Nat → Nat) : $T → Nat
  | .num n => n
  | .var n => $f n
  | .plus a b => $F $f a + $F $f b

theorem $t ($f $f1 : Nat → Nat) ($h : ∀ $n, $f $n ≤ $f1 $n) ($s : $T) : $F $f $s ≤ $F $f1 $s := by
  induction $s with
  | num $n => exact Nat.le_refl _
  | var $n => exact $h $n
  | plus $s1 $s2 ih ih1 =>
    rw [$F, $F]
    ⟦omega¦exact Nat.add_le_add ih ih1⟧

--- tree_flatten_mirror
inductive $T where
  | leaf (x : Nat) : $T
  | node (l r : $T) : $T

def $F : $T → $T
  | .leaf x => .leaf x
  | .node l r => .node ($F r) ($F l)

def $F1 : $T → List Nat
  | .leaf x => [x]
  | .node l r => $F1 l ++ $F1 r

theorem $t ($s : $T) : $F1 ($F $s) = ($F1 $s).reverse := by
  induction $s with
  | leaf $x => rfl
  | node $s1 $s2 ih ih1 => rw [$F, $F1, ih, ih1, $F1, List.reverse_append]

--- tree_members_mirror
inductive $T where
  | leaf : $T
  | node (l : $T) (x : Nat) (r : $T) : $T

def $F : $T → $T
  | .leaf => .leaf
  | .node l x r => .node ($F r) x ($F l)

def $F1 ($n : Nat) : $T → Nat
  | .leaf => 0
  | .node l x r => (if x = $n then 1 else 0) + $F1 $n l + $F1 $n r

theorem $t ($n : Nat) ($s : $T) : $F1 $n ($F $s) = $F1 $n $s := by
  induction $s with
  | leaf => rfl
  | node $s1 $x $s2 ih ih1 =>
    rw [$F, $F1, ih, ih1, $F1]
    omega

--- tree_depth_power
inductive $T where
  | leaf : $T
  | node (l r : $T) : $T

def $F : $T → Nat
  | .leaf => 0
  | .node l r => $F l + $F r + 1

def $F1 : $T → $T → $T
  | .leaf, s => s
  | .node l r, s => .node ($F1 l s) r

theorem $t ($s $s1 : $T) : $F ($F1 $s $s1) = $F $s + $F $s1 := by
  induction $s with
  | leaf => rw [$F1, $F, Nat.zero_add]
  | node $s2 $s3 ih ih1 =>
    rw [$F1, $F, ih, $F]
    omega

--- unary_multiplication_zero
inductive $T where
  | zero : $T
  | succ (n : $T) : $T

def $F ($s : $T) : $T → $T
  | .zero => $s
  | .succ n => .succ ($F $s n)

def $F1 ($s : $T) : $T → $T
  | .zero => .zero
  | .succ n => $F ($F1 $s n) $s

theorem $t ($s : $T) : $F1 .zero $s = .zero := by
  induction $s with
  | zero => rfl
  | succ $s ih => rw [$F1, ih, $F]

--- unary_double
inductive $T where
  | zero : $T
  | succ (n : $T) : $T

def $F : $T → $T
  | .zero => .zero
  | .succ n => .succ (.succ ($F n))

def $F1 : $T → Nat
  | .zero => 0
  | .succ n => $F1 n + 1

theorem $t ($s : $T) : $F1 ($F $s) = 2 * $F1 $s := by
  induction $s with
  | zero => rfl
  | succ $s ih =>
    rw [$F, $F1, $F1, ih, $F1]
    omega

--- predicate_parity_inversion
inductive $T : Nat → Prop where
  | zero : $T 0
  | step (n : Nat) (h : $T n) : $T (n + 2)

theorem $t ($n : Nat) ($h : $T ($n + 2)) : $T $n := by
  cases $h with
  | step $n $h1 => exact $h1

--- predicate_parity_not_one
inductive $T : Nat → Prop where
  | zero : $T 0
  | step (n : Nat) (h : $T n) : $T (n + 2)

theorem $t : ¬$T 1 := by
  intro $h
  cases $h

--- predicate_difference
inductive $T : Nat → Prop where
  | zero : $T 0
  | step (n : Nat) (h : $T n) : $T (n + 2)

theorem $t ($n : Nat) ($h : $T $n) : $n % 2 = 0 := by
  induction $h with
  | zero => rfl
  | step $n $h ih => omega

--- predicate_of_mod
inductive $T : Nat → Prop where
  | zero : $T 0
  | step (n : Nat) (h : $T n) : $T (n + 2)

theorem $t ($n : Nat) ($h : $n % 2 = 0) : $T $n := by
  have $h1 : ∀ $n1, $T (2 * $n1) := ?_
  · have $h2 : $n = 2 * ($n / 2) := by omega
    rw [$h2]
    exact $h1 ($n / 2)
  · intro $n1
    induction $n1 with
    | zero => exact $T.zero
    | succ $n1 ih => exact $T.step (2 * $n1) ih

--- predicate_two_kinds
inductive $T : Nat → Prop where
  | base : $T #a
  | add (n m : Nat) (h : $T n) (h1 : $T m) : $T (n + m)

theorem $t ($n : Nat) ($h : $T $n) : #a ∣ $n := by
  induction $h with
  | base => exact Nat.dvd_refl #a
  | add $n1 $n2 $h1 $h2 ih ih1 => exact Nat.dvd_add ih ih1

--- predicate_reachable
inductive $T : Nat → Nat → Prop where
  | start : $T 0 0
  | right (x y : Nat) (h : $T x y) : $T (x + 1) (y + #a)
  | wait (x y : Nat) (h : $T x y) : $T x y

theorem $t ($x $y : Nat) ($h : $T $x $y) : $y = #a * $x := by
  induction $h with
  | start => rfl
  | right $x1 $y1 $h1 ih => omega
  | wait $x1 $y1 $h1 ih => exact ih

--- closure_single_step
inductive $T (R : Nat → Nat → Prop) : Nat → Nat → Prop where
  | refl (x : Nat) : $T R x x
  | step (x y z : Nat) (h : R x y) (h1 : $T R y z) : $T R x z

theorem $t (R : Nat → Nat → Prop) ($x $x1 : Nat) ($h : R $x $x1) : $T R $x $x1 := by
  exact $T.step $x $x1 $x1 $h ($T.refl $x1)

--- closure_monotone
inductive $T (R : Nat → Nat → Prop) : Nat → Nat → Prop where
  | refl (x : Nat) : $T R x x
  | step (x y z : Nat) (h : R x y) (h1 : $T R y z) : $T R x z

theorem $t (R Q : Nat → Nat → Prop) ($h : ∀ $x $y, R $x $y → Q $x $y) ($x $y : Nat) ($h1 : $T R $x $y) : $T Q $x $y := by
  induction $h1 with
  | refl $x => exact $T.refl $x
  | step $x $x2 $x3 $h2 $h3 ih => exact $T.step $x $x2 $x3 ($h $x $x2 $h2) ih

--- closure_of_order
inductive $T (R : Nat → Nat → Prop) : Nat → Nat → Prop where
  | refl (x : Nat) : $T R x x
  | step (x y z : Nat) (h : R x y) (h1 : $T R y z) : $T R x z

theorem $t (R : Nat → Nat → Prop) ($h : ∀ $x $y, R $x $y → $x ≤ $y) ($x $y : Nat) ($h1 : $T R $x $y) : $x ≤ $y := by
  induction $h1 with
  | refl $x => exact Nat.le_refl $x
  | step $x $x2 $x3 $h2 $h3 ih => exact Nat.le_trans ($h $x $x2 $h2) ih

--- sorted_predicate_tail
inductive $T : List Nat → Prop where
  | nil : $T []
  | one (x : Nat) : $T [x]
  | cons (x y : Nat) (l : List Nat) (h : x ≤ y) (h1 : $T (y :: l)) : $T (x :: y :: l)

theorem $t ($x : Nat) ($l : List Nat) ($h : $T ($x :: $l)) : $T $l := by
  cases $h with
  | one => exact $T.nil
  | cons $x1 $y $l1 $h1 $h2 => exact $h2

--- permutation_length
inductive $T : List Nat → List Nat → Prop where
  | nil : $T [] []
  | cons (x : Nat) (l m : List Nat) (h : $T l m) : $T (x :: l) (x :: m)
  | swap (x y : Nat) (l : List Nat) : $T (x :: y :: l) (y :: x :: l)
  | trans (k l m : List Nat) (h : $T k l) (h1 : $T l m) : $T k m

theorem $t ($l $l1 : List Nat) ($h : $T $l $l1) : $l.length = $l1.length := by
  induction $h with
  | nil => rfl
  | cons $x $l2 $l3 $h1 ih => rw [List.length_cons, ih, List.length_cons]
  | swap $x $y $l2 => rfl
  | trans $l2 $l3 $l4 $h1 $h2 ih ih1 => rw [ih, ih1]

--- permutation_refl
inductive $T : List Nat → List Nat → Prop where
  | nil : $T [] []
  | cons (x : Nat) (l m : List Nat) (h : $T l m) : $T (x :: l) (x :: m)

theorem $t ($l : List Nat) : $T $l $l := by
  induction $l with
  | nil => exact $T.nil
  | cons $x $l ih => exact $T.cons $x $l $l ih

--- permutation_symm
inductive $T : List Nat → List Nat → Prop where
  | nil : $T [] []
  | cons (x : Nat) (l m : List Nat) (h : $T l m) : $T (x :: l) (x :: m)
  | swap (x y : Nat) (l : List Nat) : $T (x :: y :: l) (y :: x :: l)
  | trans (k l m : List Nat) (h : $T k l) (h1 : $T l m) : $T k m

theorem $t ($l $l1 : List Nat) ($h : $T $l $l1) : $T $l1 $l := by
  induction $h with
  | nil => exact $T.nil
  | cons $x $l2 $l3 $h1 ih => exact $T.cons $x $l3 $l2 ih
  | swap $x $y $l2 => exact $T.swap $y $x $l2
  | trans $l2 $l3 $l4 $h1 $h2 ih ih1 => exact $T.trans $l4 $l3 $l2 ih1 ih

--- sublist_length
inductive $T : List Nat → List Nat → Prop where
  | nil : $T [] []
  | skip (x : Nat) (l m : List Nat) (h : $T l m) : $T l (x :: m)
  | keep (x : Nat) (l m : List Nat) (h : $T l m) : $T (x :: l) (x :: m)

theorem $t ($l $l1 : List Nat) ($h : $T $l $l1) : $l.length ≤ $l1.length := by
  induction $h with
  | nil => exact Nat.le_refl 0
  | skip $x $l2 $l3 $h1 ih =>
    rw [List.length_cons]
    omega
  | keep $x $l2 $l3 $h1 ih =>
    rw [List.length_cons, List.length_cons]
    omega

--- own_take_and_drop
def $F : Nat → List Nat → List Nat
  | 0, _ => []
  | _ + 1, [] => []
  | n + 1, x :: l => x :: $F n l

def $F1 : Nat → List Nat → List Nat
  | 0, l => l
  | _ + 1, [] => []
  | n + 1, _ :: l => $F1 n l

theorem $t ($n : Nat) ($l : List Nat) : $F $n $l ++ $F1 $n $l = $l := by
  induction $n generalizing $l with
  | zero => rfl
  | succ $n ih =>
    cases $l with
    | nil => rfl
    | cons $x $l => rw [$F, $F1, List.cons_append, ih]

--- own_take_length
def $F : Nat → List Nat → List Nat
  | 0, _ => []
  | _ + 1, [] => []
  | n + 1, x :: l => x :: $F n l

theorem $t ($n : Nat) ($l : List Nat) : ($F $n $l).length ≤ $n := by
  induction $n generalizing $l with
  | zero => exact Nat.le_refl 0
  | succ $n ih =>
    cases $l with
    | nil => exact Nat.zero_le _
    | cons $x $l =>
      rw [$F, List.length_cons]
      exact Nat.succ_le_succ (ih $l)

--- own_drop_everything
def $F : Nat → List Nat → List Nat
  | 0, l => l
  | _ + 1, [] => []
  | n + 1, _ :: l => $F n l

theorem $t ($l : List Nat) : $F $l.length $l = [] := by
  induction $l with
  | nil => rfl
  | cons $x $l ih =>
    rw [List.length_cons, $F]
    exact ih

--- own_drop_add
def $F : Nat → List Nat → List Nat
  | 0, l => l
  | _ + 1, [] => []
  | n + 1, _ :: l => $F n l

theorem $t ($n : Nat) : $F $n [] = [] := by
  cases $n with
  | zero => rfl
  | succ $n => rfl

--- own_interleave_length
def $F : List Nat → List Nat → List Nat
  | [], l => l
  | x :: k, [] => x :: k
  | x :: k, y :: l => x :: y :: $F k l

theorem $t ($l $l1 : List Nat) : ($F $l $l1).length = $l.length + $l1.length := by
  induction $l generalizing $l1 with
  | nil =>
    rw [$F, List.length_nil, Nat.zero_add]
  | cons $x $l ih =>
    cases $l1 with
    | nil => rfl
    | cons $y $l1 =>
      rw [$F, List.length_cons, List.length_cons, ih, List.length_cons, List.length_cons]
      omega

--- own_zip_length
def $F : List Nat → List Nat → List Nat
  | [], _ => []
  | _ :: _, [] => []
  | x :: k, y :: l => (x + y) :: $F k l

theorem $t ($l $l1 : List Nat) ($h : $l.length = $l1.length) : ($F $l $l1).length = $l.length := by
  induction $l generalizing $l1 with
  | nil => rfl
  | cons $x $l ih =>
    cases $l1 with
    | nil => cases $h
    | cons $y $l1 =>
      rw [$F, List.length_cons, List.length_cons, ih]
      rw [List.length_cons, List.length_cons] at $h
      omega

--- own_zip_comm
def $F : List Nat → List Nat → List Nat
  | [], _ => []
  | _ :: _, [] => []
  | x :: k, y :: l => (x + y) :: $F k l

theorem $t ($l $l1 : List Nat) : $F $l $l1 = $F $l1 $l := by
  induction $l generalizing $l1 with
  | nil =>
    cases $l1 with
    | nil => rfl
    | cons $y $l1 => rfl
  | cons $x $l ih =>
    cases $l1 with
    | nil => rfl
    | cons $y $l1 => rw [$F, $F, ih, Nat.add_comm]

--- own_member_test
def $F ($n : Nat) : List Nat → Bool
  | [] => false
  | x :: l => if x = $n then true else $F $n l

theorem $t ($n : Nat) ($l : List Nat) ($h : $F $n $l = true) : $n ∈ $l := by
  induction $l with
  | nil => cases $h
  | cons $x $l ih =>
    rw [$F] at $h
    by_cases $h1 : $x = $n
    · rw [$h1]
      exact List.mem_cons_self
    · rw [if_neg $h1] at $h
      exact List.mem_cons_of_mem $x (ih $h)

--- own_exists_test_append
def $F ($f : Nat → Bool) : List Nat → Bool
  | [] => false
  | x :: l => $f x || $F $f l

theorem $t ($f : Nat → Bool) ($l $l1 : List Nat) : $F $f ($l ++ $l1) = ($F $f $l || $F $f $l1) := by
  induction $l with
  | nil => rfl
  | cons $x $l ih =>
    rw [List.cons_append, $F, $F, ih]
    cases $f $x <;> rfl

--- own_exists_and_all
def $F ($f : Nat → Bool) : List Nat → Bool
  | [] => false
  | x :: l => $f x || $F $f l

def $F1 ($f : Nat → Bool) : List Nat → Bool
  | [] => true
  | x :: l => $f x && $F1 $f l

theorem $t ($f : Nat → Bool) ($l : List Nat) : $F (fun x => !$f x) $l = !$F1 $f $l := by
  induction $l with
  | nil => rfl
  | cons $x $l ih =>
    rw [$F, $F1, ih]
    cases $f $x <;> rfl

--- own_maximum_of_list
def $F : List Nat → Nat
  | [] => 0
  | x :: l => if $F l ≤ x then x else $F l

theorem $t ($l : List Nat) ($n : Nat) ($h : $n ∈ $l) : $n ≤ $F $l := by
  induction $l with
  | nil => exact absurd $h List.not_mem_nil
  | cons $x $l ih =>
    rw [$F]
    rcases List.mem_cons.mp $h with $h1 | $h1
    · split
      · omega
      · omega
    · have $h2 := ih $h1
      split
      · omega
      · omega

--- own_flatten_length
def $F : List (List Nat) → List Nat
  | [] => []
  | l :: k => l ++ $F k

theorem $t ($l $l1 : List (List Nat)) : $F ($l ++ $l1) = $F $l ++ $F $l1 := by
  induction $l with
  | nil => rfl
  | cons $x $l ih => rw [List.cons_append, $F, $F, ih, List.append_assoc]

--- own_pairs_of_list
def $F : List Nat → Nat → Nat
  | [], n => n
  | x :: l, n => $F l (#a * n + x)

theorem $t ($l $l1 : List Nat) ($n : Nat) : $F ($l ++ $l1) $n = $F $l1 ($F $l $n) := by
  induction $l generalizing $n with
  | nil => rfl
  | cons $x $l ih => rw [List.cons_append, $F, ih, $F]

--- own_fold
def $F ($f : Nat → Nat → Nat) : Nat → List Nat → Nat
  | n, [] => n
  | n, x :: l => $f x ($F $f n l)

theorem $t ($f : Nat → Nat → Nat) ($n : Nat) ($l $l1 : List Nat) : $F $f $n ($l ++ $l1) = $F $f ($F $f $n $l1) $l := by
  induction $l with
  | nil => rfl
  | cons $x $l ih => rw [List.cons_append, $F, ih, $F]

--- own_lookup_option
def $F : List Nat → Nat → Option Nat
  | [], _ => none
  | x :: _, 0 => some x
  | _ :: l, n + 1 => $F l n

theorem $t ($l : List Nat) : $F $l $l.length = none := by
  induction $l with
  | nil => rfl
  | cons $x $l ih =>
    rw [List.length_cons, $F]
    exact ih

--- own_update_function
def $F ($f : Nat → Nat) ($n $n1 : Nat) : Nat → Nat := fun x => if x = $n then $n1 else $f x

theorem $t ($f : Nat → Nat) ($n $n1 : Nat) : ⟦1:$F $f $n $n1 $n = $n1¦∀ $n2, $n2 ≠ $n → $F $f $n $n1 $n2 = $f $n2⟧ := by
  ⟦1:unfold $F¦intro $n2 $h⟧
  ⟦1:exact if_pos rfl¦exact if_neg $h⟧

--- group_left_cancel
theorem $t (α : Type) ($f : α → α → α) ($x : α) ($f1 : α → α) ($h : ∀ a b c, $f ($f a b) c = $f a ($f b c)) ($h1 : ∀ a, $f $x a = a) ($h2 : ∀ a, $f ($f1 a) a = $x) (a b c : α) ($h3 : $f a b = $f a c) : b = c := by
  have $h4 : $f ($f1 a) ($f a b) = $f ($f1 a) ($f a c) := by rw [$h3]
  rw [← $h, ← $h, $h2, $h1, $h1] at $h4
  exact $h4

--- unit_is_unique
theorem $t (α : Type) ($f : α → α → α) ($x $x1 : α) ($h : ∀ a, $f $x a = a) ($h1 : ∀ a, $f a $x1 = a) : $x = $x1 := by
  ⟦1:rw [← $h $x1, $h1]¦have $h2 := $h $x1⟧
  ⟦1:¦rw [$h1] at $h2⟧
  ⟦1:¦exact $h2⟧

--- inverse_is_unique
theorem $t (α : Type) ($f : α → α → α) ($x : α) ($h : ∀ a b c, $f ($f a b) c = $f a ($f b c)) ($h1 : ∀ a, $f $x a = a) ($h2 : ∀ a, $f a $x = a) (a b c : α) ($h3 : $f b a = $x) ($h4 : $f a c = $x) : b = c := by
  have $h5 : $f ($f b a) c = $f b ($f a c) := $h b a c
  rw [$h3, $h4, $h1, $h2] at $h5
  exact $h5.symm

--- commutative_rearranged
theorem $t (α : Type) ($f : α → α → α) ($h : ∀ a b c, $f ($f a b) c = $f a ($f b c)) ($h1 : ∀ a b, $f a b = $f b a) (a b c : α) : $f a ($f b c) = $f b ($f a c) := by
  rw [← $h, $h1 a b, $h]

--- idempotent_order
theorem $t (α : Type) ($f : α → α → α) ($h : ∀ a b c, $f ($f a b) c = $f a ($f b c)) ($h1 : ∀ a, $f a a = a) (a b : α) : $f a ($f a b) = $f a b := by
  rw [← $h, $h1]

--- galois_unit
theorem $t ($f $f1 : Nat → Nat) ($h : ∀ $x $y, $f $x ≤ $y ↔ $x ≤ $f1 $y) ($x : Nat) : ⟦1:$x ≤ $f1 ($f $x)¦$f ($f1 $x) ≤ $x⟧ := by
  exact ($h ⟦1:$x ($f $x)).mp¦($f1 $x) $x).mpr⟧ (Nat.le_refl _)

--- galois_monotone
theorem $t ($f $f1 : Nat → Nat) ($h : ∀ $x $y, $f $x ≤ $y ↔ $x ≤ $f1 $y) ($x $x1 : Nat) ($h1 : $x ≤ $x1) : $f $x ≤ $f $x1 := by
  rw [$h]
  have $h2 := ($h $x1 ($f $x1)).mp (Nat.le_refl _)
  exact Nat.le_trans $h1 $h2

--- monotone_fixed_point
theorem $t ($f : Nat → Nat) ($h : ∀ $x $y, $x ≤ $y → $f $x ≤ $f $y) ($x : Nat) ($h1 : $x ≤ $f $x) : $f $x ≤ $f ($f $x) := by
  ⟦1:exact $h $x ($f $x) $h1¦apply $h⟧
  ⟦1:¦exact $h1⟧

--- barber
theorem $t (α : Type) (R : α → α → Prop) : ¬∃ $x, ∀ $y, R $x $y ↔ ¬R $y $y := by
  intro $h
  obtain ⟨$x, $h1⟩ := $h
  have $h2 := $h1 $x
  by_cases $h3 : R $x $x
  · exact $h2.mp $h3 $h3
  · exact $h3 ($h2.mpr $h3)

--- peirce
theorem $t (p q : Prop) : ((p → q) → p) → p := by
  intro $h
  by_cases $h1 : p
  · exact $h1
  · apply $h
    intro $h2
    exact absurd $h2 $h1

--- de_morgan
theorem $t (p q : Prop) : ¬(p ∧ q) ↔ ¬p ∨ ¬q := by
  constructor
  · intro $h
    by_cases $h1 : p
    · right
      intro $h2
      exact $h ⟨$h1, $h2⟩
    · left
      exact $h1
  · intro $h $h1
    rcases $h with $h2 | $h2
    · exact $h2 $h1.1
    · exact $h2 $h1.2

--- de_morgan_or
theorem $t (p q : Prop) : ¬(p ∨ q) ↔ ¬p ∧ ¬q := by
  constructor
  · intro $h
    constructor
    · intro $h1
      exact $h (Or.inl $h1)
    · intro $h1
      exact $h (Or.inr $h1)
  · intro ⟨$h, $h1⟩ $h2
    rcases $h2 with $h3 | $h3
    · exact $h $h3
    · exact $h1 $h3

--- implication_as_or
theorem $t (p q : Prop) : (p → q) ↔ ¬p ∨ q := by
  constructor
  · intro $h
    by_cases $h1 : p
    · exact Or.inr ($h $h1)
    · exact Or.inl $h1
  · intro $h $h1
    rcases $h with $h2 | $h2
    · exact absurd $h1 $h2
    · exact $h2

--- forall_exists_swap
theorem $t (α : Type) ($P $P1 : α → Prop) ($h : ∃ $x, $P $x) ($h1 : ∀ $x, $P $x → $P1 $x) : ∃ $x, $P1 $x := by
  obtain ⟨$x, $h2⟩ := $h
  exact ⟨$x, $h1 $x $h2⟩

--- exists_unique_value
theorem $t (α : Type) ($P : α → Prop) ($h : ∃ $x, $P $x ∧ ∀ $y, $P $y → $y = $x) ($x1 $x2 : α) ($h1 : $P $x1) ($h2 : $P $x2) : $x1 = $x2 := by
  obtain ⟨$x, $h3, $h4⟩ := $h
  rw [$h4 $x1 $h1, $h4 $x2 $h2]

--- forall_or_constant
theorem $t (α : Type) ($P : α → Prop) (q : Prop) : (∀ $x, $P $x ∨ q) ↔ (∀ $x, $P $x) ∨ q := by
  constructor
  · intro $h
    by_cases $h1 : q
    · exact Or.inr $h1
    · left
      intro $x
      rcases $h $x with $h2 | $h2
      · exact $h2
      · exact absurd $h2 $h1
  · intro $h $x
    rcases $h with $h1 | $h1
    · exact Or.inl ($h1 $x)
    · exact Or.inr $h1

--- sets_intersection
def $F (α : Type) ($P $P1 : α → Prop) : Prop := ∀ x, $P x → $P1 x

theorem $t (α : Type) ($P $P1 $P2 : α → Prop) ($h : $F α $P $P1) ($h1 : $F α $P1 $P2) : $F α $P $P2 := by
  intro $x $h2
  ⟦1:exact $h1 $x ($h $x $h2)¦apply $h1⟧
  ⟦1:¦apply $h⟧
  ⟦1:¦exact $h2⟧

--- sets_union_subset
def $F (α : Type) ($P $P1 : α → Prop) : Prop := ∀ x, $P x → $P1 x

theorem $t (α : Type) ($P $P1 $P2 : α → Prop) ($h : $F α $P $P2) ($h1 : $F α $P1 $P2) : $F α (fun x => $P x ∨ $P1 x) $P2 := by
  intro $x $h2
  rcases $h2 with $h3 | $h3
  · exact $h $x $h3
  · exact $h1 $x $h3

--- preimage_of_intersection
theorem $t (α β : Type) ($f : α → β) ($P $P1 : β → Prop) ($x : α) : ($P ($f $x) ∧ $P1 ($f $x)) ↔ ($P1 ($f $x) ∧ $P ($f $x)) := by
  constructor
  · intro ⟨$h, $h1⟩
    exact ⟨$h1, $h⟩
  · intro ⟨$h, $h1⟩
    exact ⟨$h1, $h⟩

--- equivalence_classes
theorem $t (α : Type) (R : α → α → Prop) ($h : ∀ $x $y, R $x $y → R $y $x) ($h1 : ∀ $x $y $x1, R $x $y → R $y $x1 → R $x $x1) ($x2 $x3 : α) ($h2 : R $x2 $x3) ($y1 : α) : R $x2 $y1 ↔ R $x3 $y1 := by
  constructor
  · intro $h3
    exact $h1 $x3 $x2 $y1 ($h $x2 $x3 $h2) $h3
  · intro $h3
    exact $h1 $x2 $x3 $y1 $h2 $h3

--- euclidean_relation
theorem $t (α : Type) (R : α → α → Prop) ($h : ∀ $x, R $x $x) ($h1 : ∀ $x $y $x1, R $x $y → R $x $x1 → R $y $x1) ($x2 $x3 : α) ($h2 : R $x2 $x3) : R $x3 $x2 := by
  exact $h1 $x2 $x3 $x2 $h2 ($h $x2)

--- inverse_functions
theorem $t (α β : Type) ($f : α → β) ($f1 $f2 : β → α) ($h : ∀ $x, $f1 ($f $x) = $x) ($h1 : ∀ $y, $f ($f2 $y) = $y) ($y1 : β) : $f1 $y1 = $f2 $y1 := by
  have $h2 := $h ($f2 $y1)
  rw [$h1] at $h2
  exact $h2

--- bijection_from_inverse
theorem $t (α β : Type) ($f : α → β) ($h : ∀ $x $x1, $f $x = $f $x1 → $x = $x1) ($h1 : ∀ $y, ∃ $x, $f $x = $y) ($y1 : β) : ∃ $x, $f $x = $y1 ∧ ∀ $x1, $f $x1 = $y1 → $x1 = $x := by
  obtain ⟨$x, $h2⟩ := $h1 $y1
  refine ⟨$x, $h2, ?_⟩
  intro $x1 $h3
  apply $h
  rw [$h2, $h3]

--- constant_of_idempotent
theorem $t (α : Type) ($f : α → α) ($h : ∀ $x, $f ($f $x) = $f $x) ($h1 : ∀ $x $x1, $f $x = $f $x1 → $x = $x1) ($x : α) : $f $x = $x := by
  apply $h1
  exact $h $x

--- three_pigeons
theorem $t ($f : Nat → Bool) : $f 0 = $f 1 ∨ $f 1 = $f 2 ∨ $f 0 = $f 2 := by
  cases $h : $f 0 <;> cases $h1 : $f 1 <;> cases $h2 : $f 2 <;> simp

--- infinitely_many
theorem $t ($P : Nat → Prop) ($h : ∀ $n, $P (#a * $n)) ($n : Nat) : ∃ $n1, $n ≤ $n1 ∧ $P $n1 := by
  exact ⟨#a * $n, by omega, $h $n⟩

--- unbounded_sequence
theorem $t ($f : Nat → Nat) ($h : ∀ $n, $f $n < $f ($n + 1)) ($n : Nat) : ∃ $n1, $n ≤ $f $n1 := by
  have $h1 : ∀ $n2, $n2 ≤ $f $n2 := ?_
  · exact ⟨$n, $h1 $n⟩
  · intro $n2
    induction $n2 with
    | zero => exact Nat.zero_le _
    | succ $n2 ih =>
      have $h3 := $h $n2
      omega

--- backward_induction
theorem $t ($P : Nat → Prop) ($n : Nat) ($h : $P $n) ($h1 : ∀ $n1, $P ($n1 + 1) → $P $n1) : $P 0 := by
  induction $n with
  | zero => exact $h
  | succ $n ih =>
    apply ih
    exact $h1 $n $h

--- induction_from_a_start
theorem $t ($P : Nat → Prop) ($n : Nat) ($h : $P $n) ($h1 : ∀ $n1, $n ≤ $n1 → $P $n1 → $P ($n1 + 1)) ($n2 : Nat) ($h2 : $n ≤ $n2) : $P $n2 := by
  induction $h2 with
  | refl => exact $h
  | step $h3 ih => exact $h1 _ $h3 ih

--- double_induction
theorem $t (R : Nat → Nat → Prop) ($h : ∀ $n, R 0 $n) ($h1 : ∀ $n, R ($n + 1) 0) ($h2 : ∀ $n $n1, R $n $n1 → R ($n + 1) ($n1 + 1)) ($n $n1 : Nat) : R $n $n1 := by
  induction $n generalizing $n1 with
  | zero => exact $h $n1
  | succ $n ih =>
    cases $n1 with
    | zero => exact $h1 $n
    | succ $n1 => exact $h2 $n $n1 (ih $n1)

--- subtraction_witness
theorem $t ($n $n1 $n2 : Nat) ($h : $n + $n1 = $n + $n2) : $n1 = $n2 := by
  induction $n with
  | zero =>
    rw [Nat.zero_add, Nat.zero_add] at $h
    exact $h
  | succ $n ih =>
    apply ih
    omega

--- inequality_chain
theorem $t ($n $n1 $n2 $n3 : Nat) ($h : $n ≤ $n1) ($h1 : $n1 < $n2) ($h2 : $n2 ≤ $n3) : $n < $n3 := by
  ⟦1:omega¦exact Nat.lt_of_le_of_lt $h (Nat.lt_of_lt_of_le $h1 $h2)¦apply Nat.lt_of_le_of_lt $h⟧
  ⟦1:¦¦exact Nat.lt_of_lt_of_le $h1 $h2⟧

--- product_of_differences
theorem $t ($n $n1 : Nat) ($h : 2 ≤ $n) ($h1 : 2 ≤ $n1) : $n + $n1 ≤ $n * $n1 := by
  obtain ⟨$n2, rfl⟩ := Nat.exists_eq_add_of_le $h
  obtain ⟨$n3, rfl⟩ := Nat.exists_eq_add_of_le $h1
  grind

--- square_of_sum
theorem $t ($n $n1 : Nat) : ($n + $n1) * ($n + $n1) ≤ 2 * ($n * $n + $n1 * $n1) := by
  rcases Nat.le_total $n $n1 with $h | $h
  · obtain ⟨$n2, rfl⟩ := Nat.exists_eq_add_of_le $h
    grind
  · obtain ⟨$n2, rfl⟩ := Nat.exists_eq_add_of_le $h
    grind

--- product_fixed_sum
theorem $t ($n $n1 : Nat) : 4 * ($n * $n1) ≤ ($n + $n1) * ($n + $n1) := by
  rcases Nat.le_total $n $n1 with $h | $h
  · obtain ⟨$n2, rfl⟩ := Nat.exists_eq_add_of_le $h
    grind
  · obtain ⟨$n2, rfl⟩ := Nat.exists_eq_add_of_le $h
    grind
