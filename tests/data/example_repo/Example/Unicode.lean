import Example.Logic

namespace Ωμεγα

/-- `𝔸` is outside of the basic plane, `₂` a subscript. -/
theorem ist_wahr₁ : True := by
  trivial

theorem ε_δ₂ (α₁ β' : Nat) (h₀ : α₁ = β') : β' = α₁ := by
  exact h₀.symm

theorem β_und_φ' {φ ψ : Prop} (hφ : φ) (hψ : ψ) : ψ ∧ φ := by
  apply and_swap_example
  exact ⟨hφ, hψ⟩

theorem nutzt : True ∧ True := by
  exact ⟨ist_wahr₁, ist_wahr₁⟩

end Ωμεγα
