/-
More propositional logic: rearranging, congruence in one part, what a true or false part leaves of a connective.
-/
universe u v

/-! Rearranging -/

theorem and_rotate {a b c : Prop} : a ∧ b ∧ c ↔ b ∧ c ∧ a := by
  rw [and_left_comm, @and_comm a c]

theorem or_rotate {a b c : Prop} : a ∨ b ∨ c ↔ b ∨ c ∨ a := by
  rw [or_left_comm, @or_comm a c]

theorem and_and_and_comm {a b c d : Prop} : (a ∧ b) ∧ c ∧ d ↔ (a ∧ c) ∧ b ∧ d := by
  rw [and_assoc, and_assoc, @and_left_comm b c d]

theorem or_or_or_comm {a b c d : Prop} : (a ∨ b) ∨ c ∨ d ↔ (a ∨ c) ∨ b ∨ d := by
  rw [or_assoc, or_assoc, @or_left_comm b c d]

theorem and_and_left {a b c : Prop} : a ∧ (b ∧ c) ↔ (a ∧ b) ∧ a ∧ c := by
  constructor
  · intro h
    exact ⟨⟨h.1, h.2.1⟩, h.1, h.2.2⟩
  · intro h
    exact ⟨h.1.1, h.1.2, h.2.2⟩

theorem and_and_right {a b c : Prop} : (a ∧ b) ∧ c ↔ (a ∧ c) ∧ b ∧ c := by
  constructor
  · intro h
    exact ⟨⟨h.1.1, h.2⟩, h.1.2, h.2⟩
  · intro h
    exact ⟨⟨h.1.1, h.2.1⟩, h.1.2⟩

@[simp] theorem and_self_right {a b : Prop} : (a ∧ b) ∧ b ↔ a ∧ b := by
  constructor
  · intro h
    exact h.1
  · intro h
    exact ⟨h, h.2⟩

@[simp] theorem or_self_right {a b : Prop} : (a ∨ b) ∨ b ↔ a ∨ b := by
  rw [or_assoc, or_self]

theorem imp.swap {a b c : Prop} : (a → b → c) ↔ (b → a → c) := by
  constructor
  · intro h hb ha
    exact h ha hb
  · intro h ha hb
    exact h hb ha

/-! Congruence in one part -/

theorem and_congr_left {a b c : Prop} (h : c → (a ↔ b)) : a ∧ c ↔ b ∧ c := by
  constructor
  · intro hac
    exact ⟨(h hac.2).mp hac.1, hac.2⟩
  · intro hbc
    exact ⟨(h hbc.2).mpr hbc.1, hbc.2⟩

theorem and_congr_right {a b c : Prop} (h : a → (b ↔ c)) : a ∧ b ↔ a ∧ c := by
  constructor
  · intro hab
    exact ⟨hab.1, (h hab.1).mp hab.2⟩
  · intro hac
    exact ⟨hac.1, (h hac.1).mpr hac.2⟩

theorem and_congr_left' {a b c : Prop} (h : a ↔ b) : a ∧ c ↔ b ∧ c := by
  rw [h]

theorem and_congr_right' {a b c : Prop} (h : b ↔ c) : a ∧ b ↔ a ∧ c := by
  rw [h]

theorem or_congr_left {a b c : Prop} (h : a ↔ b) : a ∨ c ↔ b ∨ c := by
  rw [h]

theorem or_congr_right {a b c : Prop} (h : b ↔ c) : a ∨ b ↔ a ∨ c := by
  rw [h]

theorem imp_congr_left {a b c : Prop} (h : a ↔ b) : (a → c) ↔ (b → c) := by
  constructor
  · intro hac hb
    exact hac (h.mpr hb)
  · intro hbc ha
    exact hbc (h.mp ha)

theorem imp_congr_right {a b c : Prop} (h : a → (b ↔ c)) : (a → b) ↔ (a → c) := by
  constructor
  · intro hab ha
    exact (h ha).mp (hab ha)
  · intro hac ha
    exact (h ha).mpr (hac ha)

@[simp] theorem and_congr_left_iff {a b c : Prop} : (a ∧ c ↔ b ∧ c) ↔ c → (a ↔ b) := by
  constructor
  · intro h hc
    constructor
    · intro ha
      exact (h.mp ⟨ha, hc⟩).1
    · intro hb
      exact (h.mpr ⟨hb, hc⟩).1
  · intro h
    exact and_congr_left h

@[simp] theorem and_congr_right_iff {a b c : Prop} : (a ∧ b ↔ a ∧ c) ↔ (a → (b ↔ c)) := by
  constructor
  · intro h ha
    constructor
    · intro hb
      exact (h.mp ⟨ha, hb⟩).2
    · intro hc
      exact (h.mpr ⟨ha, hc⟩).2
  · intro h
    exact and_congr_right h

/-! When a part says nothing -/

@[simp] theorem and_iff_left_iff_imp {a b : Prop} : (a ∧ b ↔ a) ↔ (a → b) := by
  constructor
  · intro h ha
    exact (h.mpr ha).2
  · intro h
    exact and_iff_left_of_imp h

@[simp] theorem and_iff_right_iff_imp {a b : Prop} : (a ∧ b ↔ b) ↔ (b → a) := by
  constructor
  · intro h hb
    exact (h.mpr hb).1
  · intro h
    exact and_iff_right_of_imp h

@[simp] theorem iff_self_and {p q : Prop} : (p ↔ p ∧ q) ↔ (p → q) := by
  rw [@iff_comm p (p ∧ q)]
  exact and_iff_left_iff_imp

@[simp] theorem iff_and_self {p q : Prop} : (p ↔ q ∧ p) ↔ (p → q) := by
  rw [@iff_comm p (q ∧ p)]
  exact and_iff_right_iff_imp

@[simp] theorem or_iff_left_iff_imp {a b : Prop} : (a ∨ b ↔ a) ↔ (b → a) := by
  constructor
  · intro h hb
    exact h.mp (Or.inr hb)
  · intro h
    exact or_iff_left_of_imp h

@[simp] theorem or_iff_right_iff_imp {a b : Prop} : (a ∨ b ↔ b) ↔ (a → b) := by
  constructor
  · intro h ha
    exact h.mp (Or.inl ha)
  · intro h
    exact or_iff_right_of_imp h

theorem or_iff_left {a b : Prop} (hb : ¬b) : a ∨ b ↔ a := by
  constructor
  · intro h
    exact h.resolve_right hb
  · intro ha
    exact Or.inl ha

theorem or_iff_right {a b : Prop} (ha : ¬a) : a ∨ b ↔ b := by
  constructor
  · intro h
    exact h.resolve_left ha
  · intro hb
    exact Or.inr hb

theorem imp_iff_right {a b : Prop} (ha : a) : (a → b) ↔ b := by
  constructor
  · intro h
    exact h ha
  · intro hb _
    exact hb

theorem imp_iff_not {a b : Prop} (hb : ¬b) : (a → b) ↔ ¬a := by
  constructor
  · intro h ha
    exact hb (h ha)
  · intro hn ha
    contradiction

theorem iff_true_left {a b : Prop} (ha : a) : (a ↔ b) ↔ b := by
  constructor
  · intro h
    exact h.mp ha
  · intro hb
    exact iff_of_true ha hb

theorem iff_true_right {a b : Prop} (ha : a) : (b ↔ a) ↔ b := by
  rw [@iff_comm b a]
  exact iff_true_left ha

theorem iff_false_left {a b : Prop} (ha : ¬a) : (a ↔ b) ↔ ¬b := by
  constructor
  · intro h hb
    exact ha (h.mpr hb)
  · intro hb
    exact iff_of_false ha hb

theorem iff_false_right {a b : Prop} (ha : ¬a) : (b ↔ a) ↔ ¬b := by
  rw [@iff_comm b a]
  exact iff_false_left ha

theorem of_iff_true {a : Prop} (h : a ↔ True) : a := by
  rw [h]
  trivial

theorem not_of_iff_false {p : Prop} : (p ↔ False) → ¬p := by
  intro h hp
  exact h.mp hp

theorem iff_iff_implies_and_implies {a b : Prop} : (a ↔ b) ↔ (a → b) ∧ (b → a) := by
  constructor
  · intro h
    exact ⟨h.mp, h.mpr⟩
  · intro h
    exact ⟨h.1, h.2⟩

@[simp] theorem eq_iff_iff {a b : Prop} : a = b ↔ (a ↔ b) := by
  constructor
  · intro h
    rw [h]
  · intro h
    exact propext h

/-! Negation -/

theorem Not.imp {a b : Prop} (H2 : ¬b) (H1 : a → b) : ¬a := by
  intro ha
  exact H2 (H1 ha)

theorem not_and' {a b : Prop} : ¬(a ∧ b) ↔ b → ¬a := by
  constructor
  · intro h hb ha
    exact h ⟨ha, hb⟩
  · intro h hab
    exact h hab.2 hab.1

theorem not_imp_of_and_not {a b : Prop} : a ∧ ¬b → ¬(a → b) := by
  intro h hab
  exact h.2 (hab h.1)

theorem and_not_self_iff (a : Prop) : a ∧ ¬a ↔ False := by
  constructor
  · intro h
    exact h.2 h.1
  · intro h
    contradiction

theorem not_and_self_iff (a : Prop) : ¬a ∧ a ↔ False := by
  constructor
  · intro h
    exact h.1 h.2
  · intro h
    contradiction

theorem Or.neg_resolve_left {a b : Prop} (h : ¬a ∨ b) (ha : a) : b := by
  cases h with
  | inl hn => contradiction
  | inr hb => exact hb

theorem Or.neg_resolve_right {a b : Prop} (h : a ∨ ¬b) (nb : b) : a := by
  cases h with
  | inl ha => exact ha
  | inr hn => contradiction

theorem false_ne_true : False ≠ True := by
  intro h
  rw [h]
  trivial

theorem ne_of_apply_ne {α : Sort u} {β : Sort v} (f : α → β) {x y : α} (h : f x ≠ f y) : x ≠ y := by
  intro hxy
  apply h
  rw [hxy]

theorem Eq.comm {α : Sort u} {a b : α} : a = b ↔ b = a := by
  exact eq_comm

/-! Excluded middle -/

theorem Classical.propComplete (a : Prop) : a = True ∨ a = False := by
  cases Classical.em a with
  | inl ha =>
    left
    exact eq_true ha
  | inr hn =>
    right
    exact eq_false hn

theorem Classical.or_iff_not_imp_right {a b : Prop} : a ∨ b ↔ (¬b → a) := by
  rw [or_comm]
  exact Classical.or_iff_not_imp_left

theorem Classical.not_imp_iff_and_not {a b : Prop} : ¬(a → b) ↔ a ∧ ¬b := by
  exact Classical.not_imp

theorem Classical.not_iff {a b : Prop} : ¬(a ↔ b) ↔ (¬a ↔ b) := by
  cases Classical.em a with
  | inl ha =>
    rw [iff_true_left ha, iff_false_left (not_not_intro ha)]
  | inr hn =>
    rw [iff_false_left hn, Classical.not_not, iff_true_left hn]

@[simp] theorem Classical.imp_iff_left_iff {a b : Prop} : (b ↔ a → b) ↔ a ∨ b := by
  constructor
  · intro h
    cases Classical.em a with
    | inl ha => exact Or.inl ha
    | inr hn => exact Or.inr (h.mpr (fun ha => absurd ha hn))
  · intro h
    cases h with
    | inl ha => exact (imp_iff_right ha).symm
    | inr hb => exact iff_of_true hb (fun _ => hb)

@[simp] theorem Classical.imp_iff_right_iff {a b : Prop} : (a → b ↔ b) ↔ a ∨ b := by
  rw [@iff_comm (a → b) b]
  exact Classical.imp_iff_left_iff

@[simp] theorem Classical.and_or_imp {a b c : Prop} : a ∧ b ∨ (a → c) ↔ a → b ∨ c := by
  constructor
  · intro h ha
    cases h with
    | inl hab => exact Or.inl hab.2
    | inr hac => exact Or.inr (hac ha)
  · intro h
    cases Classical.em a with
    | inl ha =>
      cases h ha with
      | inl hb => exact Or.inl ⟨ha, hb⟩
      | inr hc => exact Or.inr (fun _ => hc)
    | inr hn => exact Or.inr (fun ha => absurd ha hn)

@[simp] theorem Classical.imp_and_neg_imp_iff (p : Prop) {q : Prop} : (p → q) ∧ (¬p → q) ↔ q := by
  constructor
  · intro h
    exact Classical.byCases h.1 h.2
  · intro hq
    exact ⟨fun _ => hq, fun _ => hq⟩

theorem not_and_of_not_or_not {a b : Prop} (h : ¬a ∨ ¬b) : ¬(a ∧ b) := by
  intro hab
  cases h with
  | inl hna => exact hna hab.1
  | inr hnb => exact hnb hab.2

@[simp] theorem iff_not_self {a : Prop} : ¬(a ↔ ¬a) := by
  intro h
  have hna : ¬a := fun ha => h.1 ha ha
  exact hna (h.2 hna)

@[simp] theorem not_iff_self {a : Prop} : ¬(¬a ↔ a) := by
  intro h
  exact iff_not_self h.symm
