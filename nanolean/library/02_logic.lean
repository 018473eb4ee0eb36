/-
Propositional and predicate logic. Statements as in Lean 4 core; the proofs are written plainly, one step per
line, because they are also examples to learn from.
-/
universe u v

/-! Conjunction -/

theorem And.symm {a b : Prop} (h : a ∧ b) : b ∧ a := by
  cases h with
  | intro ha hb =>
    constructor
    · exact hb
    · exact ha

theorem And.imp {a b c d : Prop} (f : a → c) (g : b → d) (h : a ∧ b) : c ∧ d := by
  cases h with
  | intro ha hb =>
    constructor
    · apply f
      exact ha
    · apply g
      exact hb

theorem And.imp_left {a b c : Prop} (h : a → b) (hac : a ∧ c) : b ∧ c := by
  constructor
  · apply h
    exact hac.left
  · exact hac.right

theorem And.imp_right {a b c : Prop} (h : a → b) (hca : c ∧ a) : c ∧ b := by
  constructor
  · exact hca.left
  · exact h hca.right

theorem and_comm {a b : Prop} : a ∧ b ↔ b ∧ a := by
  constructor
  · intro h
    exact ⟨h.2, h.1⟩
  · intro h
    exact ⟨h.2, h.1⟩

theorem and_assoc {a b c : Prop} : (a ∧ b) ∧ c ↔ a ∧ (b ∧ c) := by
  constructor
  · intro h
    cases h with
    | intro hab hc =>
      cases hab with
      | intro ha hb => exact ⟨ha, hb, hc⟩
  · intro h
    cases h with
    | intro ha hbc =>
      cases hbc with
      | intro hb hc => exact ⟨⟨ha, hb⟩, hc⟩

theorem and_left_comm {a b c : Prop} : a ∧ (b ∧ c) ↔ b ∧ (a ∧ c) := by
  constructor
  · intro h
    exact ⟨h.2.1, h.1, h.2.2⟩
  · intro h
    exact ⟨h.2.1, h.1, h.2.2⟩

theorem and_right_comm {a b c : Prop} : (a ∧ b) ∧ c ↔ (a ∧ c) ∧ b := by
  constructor
  · intro h
    exact ⟨⟨h.1.1, h.2⟩, h.1.2⟩
  · intro h
    exact ⟨⟨h.1.1, h.2⟩, h.1.2⟩

theorem and_congr {a b c d : Prop} (h₁ : a ↔ c) (h₂ : b ↔ d) : a ∧ b ↔ c ∧ d := by
  constructor
  · intro h
    exact ⟨h₁.mp h.1, h₂.mp h.2⟩
  · intro h
    exact ⟨h₁.mpr h.1, h₂.mpr h.2⟩

@[simp] theorem and_not_self {a : Prop} : ¬(a ∧ ¬a) := by
  intro h
  exact h.2 h.1

@[simp] theorem not_and_self {a : Prop} : ¬(¬a ∧ a) := by
  intro h
  cases h with
  | intro hna ha =>
    apply hna
    exact ha

theorem not_and_of_not_left {a : Prop} (b : Prop) (h : ¬a) : ¬(a ∧ b) := by
  intro hab
  exact h hab.left

theorem not_and_of_not_right (a : Prop) {b : Prop} (h : ¬b) : ¬(a ∧ b) := by
  intro hab
  exact h hab.right

/-! Disjunction -/

theorem Or.symm {a b : Prop} (h : a ∨ b) : b ∨ a := by
  cases h with
  | inl ha =>
    right
    exact ha
  | inr hb =>
    left
    exact hb

theorem Or.imp {a b c d : Prop} (f : a → c) (g : b → d) (h : a ∨ b) : c ∨ d := by
  cases h with
  | inl ha =>
    left
    exact f ha
  | inr hb =>
    right
    exact g hb

theorem Or.imp_left {a b c : Prop} (f : a → b) (h : a ∨ c) : b ∨ c := by
  cases h with
  | inl ha => exact Or.inl (f ha)
  | inr hc => exact Or.inr hc

theorem Or.imp_right {a b c : Prop} (f : b → c) (h : a ∨ b) : a ∨ c := by
  cases h with
  | inl ha => exact Or.inl ha
  | inr hb => exact Or.inr (f hb)

theorem Or.resolve_left {a b : Prop} (h : a ∨ b) (na : ¬a) : b := by
  cases h with
  | inl ha => contradiction
  | inr hb => exact hb

theorem Or.resolve_right {a b : Prop} (h : a ∨ b) (nb : ¬b) : a := by
  cases h with
  | inl ha => exact ha
  | inr hb =>
    exfalso
    exact nb hb

theorem or_comm {a b : Prop} : a ∨ b ↔ b ∨ a := by
  constructor
  · intro h
    exact h.symm
  · intro h
    exact h.symm

theorem or_assoc {a b c : Prop} : (a ∨ b) ∨ c ↔ a ∨ (b ∨ c) := by
  constructor
  · intro h
    cases h with
    | inl hab =>
      cases hab with
      | inl ha =>
        left
        exact ha
      | inr hb =>
        right
        left
        exact hb
    | inr hc =>
      right
      right
      exact hc
  · intro h
    cases h with
    | inl ha =>
      left
      left
      exact ha
    | inr hbc =>
      cases hbc with
      | inl hb =>
        left
        right
        exact hb
      | inr hc =>
        right
        exact hc

theorem or_left_comm {a b c : Prop} : a ∨ (b ∨ c) ↔ b ∨ (a ∨ c) := by
  rw [← or_assoc]
  rw [← or_assoc]
  rw [@or_comm a b]

theorem or_right_comm {a b c : Prop} : (a ∨ b) ∨ c ↔ (a ∨ c) ∨ b := by
  rw [or_assoc]
  rw [or_assoc]
  rw [@or_comm b c]

theorem or_congr {a b c d : Prop} (h₁ : a ↔ c) (h₂ : b ↔ d) : a ∨ b ↔ c ∨ d := by
  constructor
  · intro h
    exact Or.imp h₁.mp h₂.mp h
  · intro h
    exact Or.imp h₁.mpr h₂.mpr h

theorem not_or_intro {a b : Prop} (ha : ¬a) (hb : ¬b) : ¬(a ∨ b) := by
  intro h
  cases h with
  | inl h1 => exact ha h1
  | inr h2 => exact hb h2

@[simp] theorem not_or {p q : Prop} : ¬(p ∨ q) ↔ ¬p ∧ ¬q := by
  constructor
  · intro h
    constructor
    · intro hp
      apply h
      left
      exact hp
    · intro hq
      apply h
      right
      exact hq
  · intro h
    exact not_or_intro h.left h.right

theorem or_iff_right_of_imp {a b : Prop} (ha : a → b) : (a ∨ b) ↔ b := by
  constructor
  · intro h
    cases h with
    | inl h1 => exact ha h1
    | inr h2 => exact h2
  · intro h
    right
    exact h

theorem or_iff_left_of_imp {a b : Prop} (hb : b → a) : (a ∨ b) ↔ a := by
  constructor
  · intro h
    cases h with
    | inl h1 => exact h1
    | inr h2 => exact hb h2
  · intro h
    left
    exact h

/-! Distribution -/

theorem and_or_left {a b c : Prop} : a ∧ (b ∨ c) ↔ (a ∧ b) ∨ (a ∧ c) := by
  constructor
  · intro h
    cases h with
    | intro ha hbc =>
      cases hbc with
      | inl hb =>
        left
        exact ⟨ha, hb⟩
      | inr hc =>
        right
        exact ⟨ha, hc⟩
  · intro h
    cases h with
    | inl hab =>
      constructor
      · exact hab.left
      · left
        exact hab.right
    | inr hac =>
      constructor
      · exact hac.left
      · right
        exact hac.right

theorem or_and_right {a b c : Prop} : (a ∨ b) ∧ c ↔ (a ∧ c) ∨ (b ∧ c) := by
  rw [and_comm]
  rw [and_or_left]
  rw [@and_comm c a]
  rw [@and_comm c b]

theorem or_and_left {a b c : Prop} : a ∨ (b ∧ c) ↔ (a ∨ b) ∧ (a ∨ c) := by
  constructor
  · intro h
    cases h with
    | inl ha => exact ⟨Or.inl ha, Or.inl ha⟩
    | inr hbc => exact ⟨Or.inr hbc.1, Or.inr hbc.2⟩
  · intro h
    cases h with
    | intro h1 h2 =>
      cases h1 with
      | inl ha =>
        left
        exact ha
      | inr hb =>
        cases h2 with
        | inl ha =>
          left
          exact ha
        | inr hc =>
          right
          exact ⟨hb, hc⟩

theorem and_or_right {a b c : Prop} : (a ∧ b) ∨ c ↔ (a ∨ c) ∧ (b ∨ c) := by
  rw [or_comm]
  rw [or_and_left]
  rw [@or_comm c a]
  rw [@or_comm c b]

/-! Implication and negation -/

@[simp] theorem and_imp {a b c : Prop} : (a ∧ b → c) ↔ (a → b → c) := by
  constructor
  · intro h ha hb
    apply h
    exact ⟨ha, hb⟩
  · intro h hab
    exact h hab.1 hab.2

theorem or_imp {a b c : Prop} : (a ∨ b → c) ↔ (a → c) ∧ (b → c) := by
  constructor
  · intro h
    constructor
    · intro ha
      apply h
      left
      exact ha
    · intro hb
      apply h
      right
      exact hb
  · intro h hab
    cases hab with
    | inl ha => exact h.left ha
    | inr hb => exact h.right hb

theorem imp_and {a b c : Prop} : (a → b ∧ c) ↔ (a → b) ∧ (a → c) := by
  constructor
  · intro h
    constructor
    · intro ha
      exact (h ha).left
    · intro ha
      exact (h ha).right
  · intro h ha
    constructor
    · exact h.left ha
    · exact h.right ha

theorem imp_congr {a b c d : Prop} (h₁ : a ↔ c) (h₂ : b ↔ d) : (a → b) ↔ (c → d) := by
  constructor
  · intro h hc
    apply h₂.mp
    apply h
    apply h₁.mpr
    exact hc
  · intro h ha
    apply h₂.mpr
    apply h
    apply h₁.mp
    exact ha

theorem imp_not_comm {a b : Prop} : (a → ¬b) ↔ (b → ¬a) := by
  constructor
  · intro h hb ha
    exact h ha hb
  · intro h ha hb
    exact h hb ha

theorem not_congr {a b : Prop} (h : a ↔ b) : ¬a ↔ ¬b := by
  constructor
  · intro hna hb
    apply hna
    exact h.mpr hb
  · intro hnb ha
    apply hnb
    exact h.mp ha

theorem not_not_not {a : Prop} : ¬¬¬a ↔ ¬a := by
  constructor
  · intro h ha
    apply h
    intro hna
    exact hna ha
  · intro h hn
    exact hn h

theorem not_not_em (a : Prop) : ¬¬(a ∨ ¬a) := by
  intro h
  apply h
  right
  intro ha
  apply h
  left
  exact ha

@[simp] theorem not_and {a b : Prop} : ¬(a ∧ b) ↔ (a → ¬b) := by
  constructor
  · intro h ha hb
    apply h
    constructor
    · exact ha
    · exact hb
  · intro h hab
    cases hab with
    | intro ha hb => exact h ha hb

theorem not_iff_false_intro {a : Prop} (h : a) : ¬a ↔ False := by
  constructor
  · intro hna
    exact hna h
  · intro hf
    contradiction

/-! Equivalence -/

theorem iff_comm {a b : Prop} : (a ↔ b) ↔ (b ↔ a) := by
  constructor
  · intro h
    exact h.symm
  · intro h
    exact h.symm

theorem iff_of_true {a b : Prop} (ha : a) (hb : b) : a ↔ b := by
  constructor
  · intro h
    exact hb
  · intro h
    exact ha

theorem iff_of_false {a b : Prop} (ha : ¬a) (hb : ¬b) : a ↔ b := by
  constructor
  · intro h
    exfalso
    exact ha h
  · intro h
    exfalso
    exact hb h

theorem iff_true_intro {a : Prop} (h : a) : a ↔ True := by
  constructor
  · intro ha
    exact True.intro
  · intro ht
    exact h

theorem iff_false_intro {a : Prop} (h : ¬a) : a ↔ False := by
  constructor
  · intro ha
    exact h ha
  · intro hf
    contradiction

theorem iff_congr {a b c d : Prop} (h₁ : a ↔ c) (h₂ : b ↔ d) : (a ↔ b) ↔ (c ↔ d) := by
  rw [h₁]
  rw [h₂]

theorem and_iff_left {a b : Prop} (hb : b) : a ∧ b ↔ a := by
  constructor
  · intro h
    exact h.left
  · intro ha
    constructor
    · exact ha
    · exact hb

theorem and_iff_right {a b : Prop} (ha : a) : a ∧ b ↔ b := by
  constructor
  · intro h
    exact h.right
  · intro hb
    constructor
    · exact ha
    · exact hb

theorem and_iff_left_of_imp {a b : Prop} (h : a → b) : a ∧ b ↔ a := by
  constructor
  · intro hab
    exact hab.1
  · intro ha
    exact ⟨ha, h ha⟩

theorem and_iff_right_of_imp {a b : Prop} (h : b → a) : a ∧ b ↔ b := by
  constructor
  · intro hab
    exact hab.2
  · intro hb
    exact ⟨h hb, hb⟩

/-! Rules of the simplifier -/

@[simp] theorem and_self (p : Prop) : (p ∧ p) = p := by
  apply propext
  constructor
  · intro h
    exact h.left
  · intro h
    exact ⟨h, h⟩

@[simp] theorem and_true (p : Prop) : (p ∧ True) = p := by
  apply propext
  constructor
  · intro h
    exact h.left
  · intro h
    exact ⟨h, trivial⟩

@[simp] theorem true_and (p : Prop) : (True ∧ p) = p := by
  apply propext
  constructor
  · intro h
    exact h.right
  · intro h
    exact ⟨trivial, h⟩

@[simp] theorem and_false (p : Prop) : (p ∧ False) = False := by
  apply propext
  constructor
  · intro h
    exact h.right
  · intro h
    contradiction

@[simp] theorem false_and (p : Prop) : (False ∧ p) = False := by
  apply propext
  constructor
  · intro h
    exact h.left
  · intro h
    contradiction

@[simp] theorem or_self (p : Prop) : (p ∨ p) = p := by
  apply propext
  constructor
  · intro h
    cases h with
    | inl h1 => exact h1
    | inr h2 => exact h2
  · intro h
    left
    exact h

@[simp] theorem or_true (p : Prop) : (p ∨ True) = True := by
  apply propext
  constructor
  · intro h
    exact trivial
  · intro h
    right
    exact h

@[simp] theorem true_or (p : Prop) : (True ∨ p) = True := by
  apply propext
  constructor
  · intro h
    exact trivial
  · intro h
    left
    exact h

@[simp] theorem or_false (p : Prop) : (p ∨ False) = p := by
  apply propext
  constructor
  · intro h
    cases h with
    | inl h1 => exact h1
    | inr h2 => contradiction
  · intro h
    left
    exact h

@[simp] theorem false_or (p : Prop) : (False ∨ p) = p := by
  apply propext
  constructor
  · intro h
    cases h with
    | inl h1 => contradiction
    | inr h2 => exact h2
  · intro h
    right
    exact h

@[simp] theorem not_true_eq_false : (¬True) = False := by
  apply propext
  constructor
  · intro h
    exact h trivial
  · intro h
    contradiction

@[simp] theorem not_false_eq_true : (¬False) = True := by
  apply propext
  constructor
  · intro h
    exact trivial
  · intro h
    exact not_false

@[simp] theorem iff_self (p : Prop) : (p ↔ p) = True := by
  apply eq_true
  exact Iff.refl p

@[simp] theorem iff_true (p : Prop) : (p ↔ True) = p := by
  apply propext
  constructor
  · intro h
    exact h.mpr trivial
  · intro h
    exact iff_true_intro h

@[simp] theorem true_iff (p : Prop) : (True ↔ p) = p := by
  apply propext
  constructor
  · intro h
    exact h.mp trivial
  · intro h
    exact (iff_true_intro h).symm

@[simp] theorem iff_false (p : Prop) : (p ↔ False) = ¬p := by
  apply propext
  constructor
  · intro h
    exact h.mp
  · intro h
    exact iff_false_intro h

@[simp] theorem false_iff (p : Prop) : (False ↔ p) = ¬p := by
  apply propext
  constructor
  · intro h
    exact h.mpr
  · intro h
    exact (iff_false_intro h).symm

@[simp] theorem implies_true (α : Sort u) : (α → True) = True := by
  apply eq_true
  intro h
  exact trivial

@[simp] theorem true_implies (p : Prop) : (True → p) = p := by
  apply propext
  constructor
  · intro h
    exact h trivial
  · intro hp ht
    exact hp

@[simp] theorem false_implies (p : Prop) : (False → p) = True := by
  apply eq_true
  intro h
  contradiction

@[simp] theorem imp_false {a : Prop} : (a → False) ↔ ¬a := by
  exact Iff.rfl

@[simp] theorem imp_self {a : Prop} : (a → a) ↔ True := by
  apply iff_true_intro
  intro h
  exact h

@[simp] theorem and_self_left {a b : Prop} : a ∧ (a ∧ b) ↔ a ∧ b := by
  constructor
  · intro h
    exact h.right
  · intro h
    exact ⟨h.left, h⟩

@[simp] theorem or_self_left {a b : Prop} : a ∨ (a ∨ b) ↔ a ∨ b := by
  constructor
  · intro h
    cases h with
    | inl ha =>
      left
      exact ha
    | inr hab => exact hab
  · intro h
    right
    exact h

/-! Quantifiers -/

theorem forall_imp {α : Sort u} {p q : α → Prop} (h : ∀ a, p a → q a) : (∀ a, p a) → ∀ a, q a := by
  intro hp a
  apply h
  exact hp a

theorem forall_and {α : Sort u} {p q : α → Prop} : (∀ x, p x ∧ q x) ↔ (∀ x, p x) ∧ (∀ x, q x) := by
  constructor
  · intro h
    constructor
    · intro x
      exact (h x).left
    · intro x
      exact (h x).right
  · intro h x
    exact ⟨h.left x, h.right x⟩

theorem Exists.imp {α : Sort u} {p q : α → Prop} (h : ∀ a, p a → q a) : (∃ a, p a) → ∃ a, q a := by
  intro hp
  cases hp with
  | intro a ha =>
    exists a
    exact h a ha

theorem exists_or {α : Sort u} {p q : α → Prop} : (∃ x, p x ∨ q x) ↔ (∃ x, p x) ∨ ∃ x, q x := by
  constructor
  · intro h
    cases h with
    | intro x hx =>
      cases hx with
      | inl hp =>
        left
        exact ⟨x, hp⟩
      | inr hq =>
        right
        exact ⟨x, hq⟩
  · intro h
    cases h with
    | inl hp =>
      cases hp with
      | intro x hx =>
        exists x
        left
        exact hx
    | inr hq =>
      cases hq with
      | intro x hx =>
        exists x
        right
        exact hx

@[simp] theorem not_exists {α : Sort u} {p : α → Prop} : (¬∃ x, p x) ↔ ∀ x, ¬p x := by
  constructor
  · intro h x hx
    apply h
    exact ⟨x, hx⟩
  · intro h hex
    cases hex with
    | intro x hx => exact h x hx

@[simp] theorem exists_imp {α : Sort u} {p : α → Prop} {b : Prop} : ((∃ x, p x) → b) ↔ ∀ x, p x → b := by
  constructor
  · intro h x hx
    apply h
    exists x
  · intro h hex
    cases hex with
    | intro x hx => exact h x hx

theorem not_forall_of_exists_not {α : Sort u} {p : α → Prop} : (∃ x, ¬p x) → ¬∀ x, p x := by
  intro h hall
  cases h with
  | intro x hx =>
    apply hx
    exact hall x

@[simp] theorem exists_and_left {α : Sort u} {p : α → Prop} {b : Prop} : (∃ x, b ∧ p x) ↔ b ∧ (∃ x, p x) := by
  constructor
  · intro h
    cases h with
    | intro x hx => exact ⟨hx.1, x, hx.2⟩
  · intro h
    cases h with
    | intro hb hex =>
      cases hex with
      | intro x hx =>
        exists x

@[simp] theorem exists_and_right {α : Sort u} {p : α → Prop} {b : Prop} : (∃ x, p x ∧ b) ↔ (∃ x, p x) ∧ b := by
  constructor
  · intro h
    cases h with
    | intro x hx => exact ⟨⟨x, hx.1⟩, hx.2⟩
  · intro h
    cases h with
    | intro hex hb =>
      cases hex with
      | intro x hx =>
        exists x

@[simp] theorem forall_eq {α : Sort u} {p : α → Prop} {a' : α} : (∀ a, a = a' → p a) ↔ p a' := by
  constructor
  · intro h
    apply h
    rfl
  · intro h a ha
    rw [ha]
    exact h

@[simp] theorem forall_eq' {α : Sort u} {p : α → Prop} {a' : α} : (∀ a, a' = a → p a) ↔ p a' := by
  constructor
  · intro h
    apply h
    rfl
  · intro h a ha
    rw [← ha]
    exact h

@[simp] theorem exists_eq {α : Sort u} {a' : α} : ∃ a, a = a' := by
  exact ⟨a', rfl⟩

@[simp] theorem exists_eq' {α : Sort u} {a' : α} : ∃ a, a' = a := by
  exact ⟨a', rfl⟩

@[simp] theorem exists_eq_left {α : Sort u} {p : α → Prop} {a' : α} : (∃ a, a = a' ∧ p a) ↔ p a' := by
  constructor
  · intro h
    cases h with
    | intro a ha =>
      rw [← ha.1]
      exact ha.2
  · intro h
    exact ⟨a', rfl, h⟩

@[simp] theorem exists_eq_right {α : Sort u} {p : α → Prop} {a' : α} : (∃ a, p a ∧ a = a') ↔ p a' := by
  constructor
  · intro h
    cases h with
    | intro a ha =>
      rw [← ha.2]
      exact ha.1
  · intro h
    exact ⟨a', h, rfl⟩

theorem forall_comm {α : Sort u} {β : Sort v} {p : α → β → Prop} : (∀ a b, p a b) ↔ (∀ b a, p a b) := by
  constructor
  · intro h b a
    exact h a b
  · intro h a b
    exact h b a

theorem exists_comm {α : Sort u} {β : Sort v} {p : α → β → Prop} : (∃ a b, p a b) ↔ (∃ b a, p a b) := by
  constructor
  · intro h
    cases h with
    | intro a ha =>
      cases ha with
      | intro b hb => exact ⟨b, a, hb⟩
  · intro h
    cases h with
    | intro b hb =>
      cases hb with
      | intro a ha => exact ⟨a, b, ha⟩

/-! Equality -/

theorem eq_comm {α : Sort u} {a b : α} : a = b ↔ b = a := by
  constructor
  · intro h
    exact h.symm
  · intro h
    exact h.symm

theorem ne_comm {α : Sort u} {a b : α} : a ≠ b ↔ b ≠ a := by
  constructor
  · intro h
    exact h.symm
  · intro h
    exact h.symm
