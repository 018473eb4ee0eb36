import Example.Lists
import Example.Sections

namespace Example

-- Solvers alone prove these.
theorem add_zero_gap (n : Nat) : n + 0 = n := by
  sorry

theorem le_gap (a b : Nat) (h : a < b) : a + 1 ≤ b := sorry

theorem and_gap (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
  constructor
  · sorry
  · exact hq

-- One step, then a solver.
theorem have_gap (n : Nat) : square n + n = n * (n + 1) := by
  have h : n * (n + 1) = n * n + n := by
    sorry
  rw [h, square]

theorem total_single (x : Nat) : total [x] = x := by
  sorry

-- An induction comes first.
theorem sumTo_ge (n : Nat) : n ≤ sumTo n := by
  sorry

theorem total_reverse (xs : List Nat) : total xs.reverse = total xs := by
  sorry

theorem double_sub (n : Nat) : Double.double n - n = n := by
  sorry

theorem total_le_append (xs ys : List Nat) : total xs ≤ total (xs ++ ys) :=
  sorry

theorem sumTo_double (n : Nat) : sumTo (n + n) = 2 * sumTo n + n * n := by
  sorry

end Example
