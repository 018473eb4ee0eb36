/-
Excluded middle from the axiom of choice, and what follows from it.
-/
universe u

inductive Subtype {α : Sort u} (p : α → Prop) : Sort (max 1 u) where
  | mk (val : α) (property : p val) : Subtype p

def Subtype.val {α : Sort u} {p : α → Prop} (self : Subtype p) : α :=
  @Subtype.rec α p (fun _ => α) (fun x _ => x) self

theorem Subtype.property {α : Sort u} {p : α → Prop} (self : Subtype p) : p (Subtype.val self) :=
  @Subtype.rec α p (fun s => p (Subtype.val s)) (fun _ h => h) self

theorem Classical.nonempty_subtype {α : Sort u} {p : α → Prop} (h : ∃ x, p x) : Nonempty (Subtype p) :=
  Exists.elim h (fun x hx => Nonempty.intro (Subtype.mk x hx))

def Classical.choose {α : Sort u} {p : α → Prop} (h : ∃ x, p x) : α :=
  Subtype.val (Classical.choice (Classical.nonempty_subtype h))

theorem Classical.choose_spec {α : Sort u} {p : α → Prop} (h : ∃ x, p x) : p (Classical.choose h) :=
  Subtype.property (Classical.choice (Classical.nonempty_subtype h))

/-- The predicate of Diaconescu's argument, with its two propositions as parameters, so that no function
extensionality is needed. -/
def Classical.emPred (x y : Prop) (b : Bool) : Prop := (b = Bool.true ∧ x) ∨ (b = Bool.false ∧ y)

theorem Classical.em_choose_eq (q : Prop) (e : True = q) :
    ∀ (h₁ : ∃ b, Classical.emPred True q b) (h₂ : ∃ b, Classical.emPred q True b),
      Classical.choose h₁ = Classical.choose h₂ :=
  @Eq.rec Prop True
    (fun x _ => ∀ (h₁ : ∃ b, Classical.emPred True x b) (h₂ : ∃ b, Classical.emPred x True b),
      Classical.choose h₁ = Classical.choose h₂)
    (fun h₁ _ => Eq.refl (Classical.choose h₁)) q e

theorem Classical.em (p : Prop) : p ∨ ¬p := by
  have hu : ∃ b, Classical.emPred True p b := by
    exact ⟨Bool.true, Or.inl ⟨rfl, trivial⟩⟩
  have hv : ∃ b, Classical.emPred p True b := by
    exact ⟨Bool.false, Or.inr ⟨rfl, trivial⟩⟩
  cases Classical.choose_spec hu with
  | inl h1 =>
    cases Classical.choose_spec hv with
    | inl h =>
      left
      exact h.2
    | inr h2 =>
      right
      intro hp
      have e : Classical.choose hu = Classical.choose hv := by
        exact Classical.em_choose_eq p (eq_true hp).symm hu hv
      apply Bool.true_ne_false
      exact Eq.trans h1.1.symm (Eq.trans e h2.1)
  | inr h =>
    left
    exact h.2

def Classical.propDecidable (a : Prop) : Decidable a :=
  Classical.choice (Or.elim (Classical.em a)
    (fun h => Nonempty.intro (Decidable.isTrue h)) (fun h => Nonempty.intro (Decidable.isFalse h)))

@[reducible] def Exists.choose {α : Sort u} {p : α → Prop} (P : ∃ a, p a) : α := Classical.choose P

theorem Exists.choose_spec {α : Sort u} {p : α → Prop} (P : ∃ a, p a) : p P.choose := Classical.choose_spec P

protected theorem Nonempty.elim {α : Sort u} {p : Prop} (h₁ : Nonempty α) (h₂ : α → p) : p := by
  cases h₁ with
  | intro a => exact h₂ a

theorem Classical.byContradiction {p : Prop} (h : ¬p → False) : p := by
  cases Classical.em p with
  | inl hp => exact hp
  | inr hn =>
    exfalso
    exact h hn

theorem Classical.byCases {p q : Prop} (hpq : p → q) (hnpq : ¬p → q) : q := by
  cases Classical.em p with
  | inl hp => exact hpq hp
  | inr hn => exact hnpq hn

@[simp] theorem Classical.not_not {a : Prop} : ¬¬a ↔ a := by
  constructor
  · intro h
    apply Classical.byContradiction
    exact h
  · intro ha hn
    exact hn ha

@[simp] theorem Classical.not_imp {a b : Prop} : ¬(a → b) ↔ a ∧ ¬b := by
  constructor
  · intro h
    constructor
    · apply Classical.byContradiction
      intro hn
      apply h
      intro ha
      contradiction
    · intro hb
      apply h
      intro ha
      exact hb
  · intro h hab
    exact h.2 (hab h.1)

@[simp] theorem Classical.not_forall {α : Sort u} {p : α → Prop} : (¬∀ x, p x) ↔ ∃ x, ¬p x := by
  constructor
  · intro h
    apply Classical.byContradiction
    intro hn
    apply h
    intro x
    apply Classical.byContradiction
    intro hx
    apply hn
    exact ⟨x, hx⟩
  · intro h hall
    cases h with
    | intro x hx => exact hx (hall x)

theorem Classical.not_and_iff_not_or_not {a b : Prop} : ¬(a ∧ b) ↔ ¬a ∨ ¬b := by
  constructor
  · intro h
    cases Classical.em a with
    | inl ha =>
      right
      intro hb
      exact h ⟨ha, hb⟩
    | inr hn =>
      left
      exact hn
  · intro h hab
    cases h with
    | inl hn => exact hn hab.1
    | inr hn => exact hn hab.2

theorem Classical.or_iff_not_imp_left {a b : Prop} : a ∨ b ↔ (¬a → b) := by
  constructor
  · intro h hn
    exact h.resolve_left hn
  · intro h
    cases Classical.em a with
    | inl ha =>
      left
      exact ha
    | inr hn =>
      right
      exact h hn
