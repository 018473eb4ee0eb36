/- No imports: propositions alone. -/
theorem and_swap_example {p q : Prop} (h : p ∧ q) : q ∧ p := ⟨h.2, h.1⟩

theorem or_swap_example {p q : Prop} (h : p ∨ q) : q ∨ p := by
  cases h with
  | inl hp => exact Or.inr hp
  | inr hq => exact Or.inl hq

theorem imp_trans_example {p q r : Prop} (hpq : p → q) (hqr : q → r) : p → r :=
  fun hp => hqr (hpq hp)

theorem and_assoc_example (p q r : Prop) : (p ∧ q) ∧ r ↔ p ∧ q ∧ r := by
  constructor
  · intro h
    exact ⟨h.1.1, h.1.2, h.2⟩
  · intro h
    refine ⟨⟨h.1, ?_⟩, h.2.2⟩
    exact h.2.1

theorem no_contradiction (p : Prop) : ¬(p ∧ ¬p) := by
  intro h
  apply h.2
  exact h.1
