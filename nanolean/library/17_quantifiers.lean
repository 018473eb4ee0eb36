/-
More predicate logic: quantifiers over equations, negated quantifiers, choice.
-/
universe u v

theorem forall_congr' {α : Sort u} {p q : α → Prop} (h : ∀ a, p a ↔ q a) : (∀ a, p a) ↔ ∀ a, q a := by
  constructor
  · intro H a
    exact (h a).mp (H a)
  · intro H a
    exact (h a).mpr (H a)

theorem not_exists_of_forall_not {α : Sort u} {p : α → Prop} (h : ∀ x, ¬p x) : ¬∃ x, p x := by
  intro hex
  cases hex with
  | intro x hx => exact h x hx

theorem forall_not_of_not_exists {α : Sort u} {p : α → Prop} (hne : ¬∃ x, p x) : ∀ x, ¬p x := by
  intro x hx
  exact hne ⟨x, hx⟩

@[simp] theorem exists_prop {b a : Prop} : (∃ _h : a, b) ↔ a ∧ b := by
  constructor
  · intro h
    cases h with
    | intro ha hb => exact ⟨ha, hb⟩
  · intro h
    exact ⟨h.left, h.right⟩

@[simp] theorem exists_false {α : Sort u} : ¬∃ _a : α, False := by
  intro h
  cases h with
  | intro x hx => exact hx

/-! Equations under quantifiers -/

@[simp] theorem exists_eq_left' {α : Sort u} {p : α → Prop} {a' : α} : (∃ a, a' = a ∧ p a) ↔ p a' := by
  constructor
  · intro h
    cases h with
    | intro a ha =>
      rw [ha.1]
      exact ha.2
  · intro h
    exact ⟨a', rfl, h⟩

@[simp] theorem exists_eq_right' {α : Sort u} {p : α → Prop} {a' : α} : (∃ a, p a ∧ a' = a) ↔ p a' := by
  constructor
  · intro h
    cases h with
    | intro a ha =>
      rw [ha.2]
      exact ha.1
  · intro h
    exact ⟨a', h, rfl⟩

@[simp] theorem exists_eq_right_right {α : Sort u} {p q : α → Prop} {a' : α} :
    (∃ a, p a ∧ q a ∧ a = a') ↔ p a' ∧ q a' := by
  constructor
  · intro h
    cases h with
    | intro a ha =>
      rw [← ha.2.2]
      exact ⟨ha.1, ha.2.1⟩
  · intro h
    exact ⟨a', h.1, h.2, rfl⟩

@[simp] theorem forall_eq_or_imp {α : Sort u} {p q : α → Prop} {a' : α} :
    (∀ a, a = a' ∨ q a → p a) ↔ p a' ∧ ∀ a, q a → p a := by
  constructor
  · intro h
    constructor
    · apply h
      left
      rfl
    · intro a ha
      apply h
      right
      exact ha
  · intro h a ha
    cases ha with
    | inl heq =>
      rw [heq]
      exact h.1
    | inr hq => exact h.2 a hq

@[simp] theorem exists_eq_or_imp {α : Sort u} {p q : α → Prop} {a' : α} :
    (∃ a, (a = a' ∨ q a) ∧ p a) ↔ p a' ∨ ∃ a, q a ∧ p a := by
  constructor
  · intro h
    cases h with
    | intro a ha =>
      cases ha.1 with
      | inl heq =>
        left
        rw [← heq]
        exact ha.2
      | inr hq =>
        right
        exact ⟨a, hq, ha.2⟩
  · intro h
    cases h with
    | inl hp => exact ⟨a', Or.inl rfl, hp⟩
    | inr hex =>
      cases hex with
      | intro a ha => exact ⟨a, Or.inr ha.1, ha.2⟩

@[simp] theorem forall_apply_eq_imp_iff {α : Sort u} {β : Sort v} {f : α → β} {p : β → Prop} :
    (∀ b a, f a = b → p b) ↔ ∀ a, p (f a) := by
  constructor
  · intro h a
    exact h (f a) a rfl
  · intro h b a hb
    rw [← hb]
    exact h a

@[simp] theorem forall_eq_apply_imp_iff {α : Sort u} {β : Sort v} {f : α → β} {p : β → Prop} :
    (∀ b a, b = f a → p b) ↔ ∀ a, p (f a) := by
  constructor
  · intro h a
    exact h (f a) a rfl
  · intro h b a hb
    rw [hb]
    exact h a

@[simp] theorem forall_apply_eq_imp_iff₂ {α : Sort u} {β : Sort v} {f : α → β} {p : α → Prop} {q : β → Prop} :
    (∀ b a, p a → f a = b → q b) ↔ ∀ a, p a → q (f a) := by
  constructor
  · intro h a ha
    exact h (f a) a ha rfl
  · intro h b a ha hb
    rw [← hb]
    exact h a ha

/-! Negated quantifiers -/

theorem Classical.not_forall_not {α : Sort u} {p : α → Prop} : (¬∀ x, ¬p x) ↔ ∃ x, p x := by
  constructor
  · intro h
    apply Classical.byContradiction
    intro hn
    apply h
    intro x hx
    exact hn ⟨x, hx⟩
  · intro h hall
    cases h with
    | intro x hx => exact hall x hx

theorem Classical.not_exists_not {α : Sort u} {p : α → Prop} : (¬∃ x, ¬p x) ↔ ∀ x, p x := by
  constructor
  · intro h x
    apply Classical.byContradiction
    intro hx
    exact h ⟨x, hx⟩
  · intro h hex
    cases hex with
    | intro x hx => exact hx (h x)

theorem Classical.forall_or_exists_not {α : Sort u} (P : α → Prop) : (∀ a, P a) ∨ ∃ a, ¬P a := by
  rw [← Classical.not_forall]
  exact Classical.em (∀ a, P a)

theorem Classical.exists_or_forall_not {α : Sort u} (P : α → Prop) : (∃ a, P a) ∨ ∀ a, ¬P a := by
  cases Classical.em (∃ a, P a) with
  | inl h => exact Or.inl h
  | inr h => exact Or.inr (not_exists.mp h)

/-! Choice -/

theorem Classical.axiomOfChoice {α : Sort u} {β : α → Sort v} {r : ∀ x, β x → Prop} (h : ∀ x, ∃ y, r x y) :
    ∃ f : ∀ x, β x, ∀ x, r x (f x) := by
  exact ⟨fun x => Classical.choose (h x), fun x => Classical.choose_spec (h x)⟩

theorem Classical.skolem {α : Sort u} {b : α → Sort v} {p : ∀ x, b x → Prop} :
    (∀ x, ∃ y, p x y) ↔ ∃ f : ∀ x, b x, ∀ x, p x (f x) := by
  constructor
  · intro h
    exact Classical.axiomOfChoice h
  · intro h x
    cases h with
    | intro f hf => exact ⟨f x, hf x⟩
