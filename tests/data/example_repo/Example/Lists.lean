import Example.Sum

namespace Example

def total : List Nat → Nat
  | [] => 0
  | x :: xs => x + total xs

theorem total_nil : total [] = 0 := rfl

theorem total_append (xs ys : List Nat) : total (xs ++ ys) = total xs + total ys := by
  induction xs with
  | nil => simp [total]
  | cons x xs ih =>
    rw [List.cons_append, total, total, ih]
    omega

theorem length_append_swap (xs ys : List Nat) : (xs ++ ys).length = (ys ++ xs).length := by
  simp only [List.length_append]
  exact Nat.add_comm xs.length ys.length

end Example
