-- Lines of this file end as on Windows.
import Example.Basic

namespace Example

theorem add_three (n : Nat) :
    n + 3 = n + 1 + 2 := by
  rfl

theorem zero_or_pos (n : Nat) : n = 0 ∨ 0 < n := by
  cases n with
  | zero =>
    left
    rfl
  | succ m =>
    right
    exact Nat.succ_pos m

end Example
