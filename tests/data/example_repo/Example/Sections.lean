import Example.Basic

section Functions

variable {α β : Type}
variable (f : α → β)

theorem eq_of_image_eq {x y : α} (hf : ∀ x y, f x = f y → x = y) (h : f x = f y) : x = y := by
  apply hf
  assumption

theorem image_eq_of_eq {x y : α} (h : x = y) : f x = f y := by
  rw [h]

end Functions

section
variable (n : Nat)

namespace Example

section Inner
variable (m : Nat)

theorem square_add_comm : square (n + m) = square (m + n) := by
  rw [Nat.add_comm]

end Inner

theorem square_le : n ≤ square n := le_square n

end Example
end
