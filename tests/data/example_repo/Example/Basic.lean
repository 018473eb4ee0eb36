/-! Facts about numbers that the other files use. -/

namespace Example

/-- The square of a number. -/
def square (n : Nat) : Nat := n * n

theorem square_zero : square 0 = 0 := rfl

@[simp] theorem square_one : square 1 = 1 := by
  rfl

theorem add_swap (a b c : Nat) : a + (b + c) = b + (a + c) := by
  rw [← Nat.add_assoc, Nat.add_comm a b, Nat.add_assoc]

theorem le_square (n : Nat) : n ≤ square n := by
  cases n with
  | zero => exact Nat.le_refl 0
  | succ m =>
    have h : m + 1 ≤ (m + 1) * (m + 1) := by
      exact Nat.le_mul_of_pos_right (m + 1) (Nat.succ_pos m)
    exact h

end Example
