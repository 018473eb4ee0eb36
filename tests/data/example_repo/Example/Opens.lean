import Example.Double
import Example.Sum

namespace Left

theorem one_le_two : 1 ≤ 2 := by
  exact Nat.le_succ 1

end Left

namespace Right
open Left

theorem one_le_three : 1 ≤ 3 := by
  exact Nat.le_succ_of_le one_le_two

end Right

namespace Left
open Right Example

theorem one_le_four : 1 ≤ 4 := by
  exact Nat.le_succ_of_le one_le_three

theorem square_swap (a b : Nat) : a + (b + square 0) = b + (a + square 0) := by
  apply add_swap

end Left

open Left Right in
theorem both : 1 ≤ 3 ∧ 1 ≤ 4 := by
  constructor
  · exact one_le_three
  · exact one_le_four
