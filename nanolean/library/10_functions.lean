/-
Functions that agree everywhere are equal, from quotients as in Lean 4 core, and a few facts about functions.
-/
universe u v w

axiom Quot.sound {α : Sort u} {r : α → α → Prop} {a b : α} (h : r a b) : Quot.mk r a = Quot.mk r b

theorem funext {α : Sort u} {β : α → Sort v} {f g : (x : α) → β x} (h : ∀ x, f x = g x) : f = g :=
  congrArg
    (fun (q : @Quot ((x : α) → β x) (fun f g => ∀ x, f x = g x)) (x : α) =>
      @Quot.lift ((x : α) → β x) (fun f g => ∀ x, f x = g x) (β x) (fun k => k x) (fun _ _ e => e x) q)
    (Quot.sound h)

theorem funext_iff {α : Sort u} {β : α → Sort v} {f g : (x : α) → β x} : f = g ↔ ∀ x, f x = g x := by
  constructor
  · intro h x
    rw [h]
  · intro h
    apply funext
    exact h

@[simp] theorem id_eq {α : Sort u} (a : α) : id a = a := by
  rfl

def Function.const {α : Sort u} (β : Sort v) (a : α) : β → α := fun _ => a

@[simp] theorem Function.const_apply {β : Sort u} {α : Sort v} {y : β} {x : α} : Function.const α y x = y := by
  rfl

@[simp] theorem Function.comp_apply {β : Sort u} {δ : Sort v} {α : Sort w} {f : β → δ} {g : α → β} {x : α} :
    (f ∘ g) x = f (g x) := by
  rfl

theorem Function.comp_def {α : Sort u} {β : Sort v} {δ : Sort w} (f : β → δ) (g : α → β) :
    f ∘ g = fun x => f (g x) := by
  rfl

def Function.Injective {α : Sort u} {β : Sort v} (f : α → β) : Prop := ∀ ⦃a₁ a₂⦄, f a₁ = f a₂ → a₁ = a₂

def Function.Surjective {α : Sort u} {β : Sort v} (f : α → β) : Prop := ∀ b, ∃ a, f a = b

def Function.LeftInverse {α : Sort u} {β : Sort v} (g : β → α) (f : α → β) : Prop := ∀ x, g (f x) = x

def Function.RightInverse {α : Sort u} {β : Sort v} (g : β → α) (f : α → β) : Prop := Function.LeftInverse f g
