import Example.Double

open Example.Double in
/-- The sum of the first numbers, doubled. -/
theorem double_two : double 2 = 4 := by
  rfl

namespace Example

def sumTo : Nat → Nat
  | 0 => 0
  | n + 1 => sumTo n + (n + 1)

theorem sumTo_succ (n : Nat) : sumTo (n + 1) = sumTo n + (n + 1) := rfl

theorem two_mul_sumTo (n : Nat) : 2 * sumTo n = n * (n + 1) := by
  induction n with
  | zero => rfl
  | succ n ih =>
    rw [sumTo_succ, Nat.mul_add, ih, ← Nat.add_mul, Nat.mul_comm]

theorem sumTo_mono (n : Nat) : sumTo n ≤ sumTo (n + 1) := by
  rw [sumTo_succ]
  exact Nat.le_add_right (sumTo n) (n + 1)

end Example
