import Example.Basic

namespace Example.Double

def double : Nat → Nat
  | 0 => 0
  | n + 1 => double n + 2

theorem double_eq (n : Nat) : double n = 2 * n := by
  induction n with
  | zero => rfl
  | succ n ih =>
    rw [double, ih]
    omega

theorem double_add (m n : Nat) : double (m + n) = double m + double n := by
  rw [double_eq, double_eq, double_eq, Nat.mul_add]

theorem double_square (n : Nat) : double (square n) = n * double n := by
  rw [double_eq, double_eq, square]
  rw [Nat.mul_left_comm]

end Example.Double
