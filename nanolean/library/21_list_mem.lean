/-
Lists: membership, `a ∈ l`.
-/
universe u v

inductive List.Mem {α : Type u} (a : α) : List α → Prop where
  | head (as : List α) : List.Mem a (a :: as)
  | tail (b : α) {as : List α} : List.Mem a as → List.Mem a (b :: as)

@[simp] theorem List.not_mem_nil {α : Type u} {a : α} : ¬a ∈ [] := by
  intro h
  cases h

@[simp] theorem List.mem_cons {α : Type u} {a b : α} {l : List α} : a ∈ b :: l ↔ a = b ∨ a ∈ l := by
  constructor
  · intro h
    cases h with
    | head => exact Or.inl rfl
    | tail _ h => exact Or.inr h
  · intro h
    cases h with
    | inl h1 =>
      rw [h1]
      exact List.Mem.head l
    | inr h2 => exact List.Mem.tail b h2

theorem List.mem_cons_self {α : Type u} {a : α} {l : List α} : a ∈ a :: l := by
  exact List.Mem.head l

theorem List.mem_cons_of_mem {α : Type u} (y : α) {a : α} {l : List α} : a ∈ l → a ∈ y :: l := by
  intro h
  exact List.Mem.tail y h

@[simp] theorem List.mem_singleton {α : Type u} {a b : α} : a ∈ [b] ↔ a = b := by
  rw [List.mem_cons]
  constructor
  · intro h
    cases h with
    | inl h1 => exact h1
    | inr h2 =>
      exfalso
      exact List.not_mem_nil h2
  · intro h
    exact Or.inl h

theorem List.mem_singleton_self {α : Type u} (a : α) : a ∈ [a] := by
  exact List.mem_cons_self

theorem List.eq_of_mem_singleton {α : Type u} {a b : α} (h : a ∈ [b]) : a = b := by
  exact List.mem_singleton.mp h

theorem List.eq_or_mem_of_mem_cons {α : Type u} {a y : α} {l : List α} (h : a ∈ y :: l) : a = y ∨ a ∈ l := by
  exact List.mem_cons.mp h

theorem List.ne_nil_of_mem {α : Type u} {a : α} {l : List α} (h : a ∈ l) : l ≠ [] := by
  intro hl
  rw [hl] at h
  exact List.not_mem_nil h

theorem List.length_pos_of_mem {α : Type u} {a : α} {l : List α} (h : a ∈ l) : 0 < l.length := by
  apply List.length_pos_of_ne_nil
  exact List.ne_nil_of_mem h

theorem List.exists_mem_of_ne_nil {α : Type u} (l : List α) (h : l ≠ []) : ∃ x, x ∈ l := by
  cases l with
  | nil => contradiction
  | cons a l =>
    exists a
    exact List.mem_cons_self

theorem List.eq_nil_iff_forall_not_mem {α : Type u} {l : List α} : l = [] ↔ ∀ a, a ∉ l := by
  constructor
  · intro h a ha
    rw [h] at ha
    exact List.not_mem_nil ha
  · intro h
    cases l with
    | nil => rfl
    | cons a l =>
      exfalso
      exact h a List.mem_cons_self

theorem List.eq_nil_of_forall_not_mem {α : Type u} {l : List α} (h : ∀ a, a ∉ l) : l = [] := by
  exact List.eq_nil_iff_forall_not_mem.mpr h

theorem List.not_mem_of_not_mem_cons {α : Type u} {a b : α} {l : List α} (h : a ∉ b :: l) : a ∉ l := by
  intro hl
  apply h
  exact List.mem_cons_of_mem b hl

theorem List.ne_of_not_mem_cons {α : Type u} {a b : α} {l : List α} (h : a ∉ b :: l) : a ≠ b := by
  intro hab
  apply h
  rw [hab]
  exact List.mem_cons_self

theorem List.not_mem_cons_of_ne_of_not_mem {α : Type u} {a y : α} {l : List α} (h₁ : a ≠ y) (h₂ : a ∉ l) :
    a ∉ y :: l := by
  intro h
  cases List.mem_cons.mp h with
  | inl h3 => exact h₁ h3
  | inr h4 => exact h₂ h4

/-! Concatenation and map -/

@[simp] theorem List.mem_append {α : Type u} {a : α} {s t : List α} : a ∈ s ++ t ↔ a ∈ s ∨ a ∈ t := by
  induction s with
  | nil =>
    rw [List.nil_append]
    constructor
    · intro h
      exact Or.inr h
    · intro h
      exact h.resolve_left List.not_mem_nil
  | cons b s ih => rw [List.cons_append, List.mem_cons, List.mem_cons, ih, or_assoc]

theorem List.mem_append_left {α : Type u} {a : α} {as : List α} (bs : List α) : a ∈ as → a ∈ as ++ bs := by
  intro h
  rw [List.mem_append]
  exact Or.inl h

theorem List.mem_append_right {α : Type u} {b : α} {bs : List α} (as : List α) : b ∈ bs → b ∈ as ++ bs := by
  intro h
  rw [List.mem_append]
  exact Or.inr h

theorem List.not_mem_append {α : Type u} {a : α} {s t : List α} (h₁ : a ∉ s) (h₂ : a ∉ t) : a ∉ s ++ t := by
  intro h
  cases List.mem_append.mp h with
  | inl h3 => exact h₁ h3
  | inr h4 => exact h₂ h4

@[simp] theorem List.mem_map {α : Type u} {β : Type v} {b : β} {f : α → β} {l : List α} :
    b ∈ l.map f ↔ ∃ a, a ∈ l ∧ f a = b := by
  induction l with
  | nil =>
    constructor
    · intro h
      cases h
    · intro h
      cases h with
      | intro a ha =>
        exfalso
        exact List.not_mem_nil ha.1
  | cons c l ih =>
    rw [List.map_cons, List.mem_cons, ih]
    constructor
    · intro h
      cases h with
      | inl h1 => exact ⟨c, List.mem_cons_self, h1.symm⟩
      | inr h2 =>
        cases h2 with
        | intro a ha => exact ⟨a, List.mem_cons_of_mem c ha.1, ha.2⟩
    · intro h
      cases h with
      | intro a ha =>
        cases List.mem_cons.mp ha.1 with
        | inl hc =>
          left
          rw [← ha.2, hc]
        | inr hl =>
          right
          exact ⟨a, hl, ha.2⟩

theorem List.mem_map_of_mem {α : Type u} {β : Type v} {a : α} {l : List α} {f : α → β} (h : a ∈ l) :
    f a ∈ l.map f := by
  rw [List.mem_map]
  exact ⟨a, h, rfl⟩

theorem List.exists_of_mem_map {α : Type u} {β : Type v} {f : α → β} {l : List α} {b : β} (h : b ∈ l.map f) :
    ∃ a, a ∈ l ∧ f a = b := by
  exact List.mem_map.mp h

theorem List.map_congr_left {α : Type u} {β : Type v} {l : List α} {f g : α → β} (h : ∀ a, a ∈ l → f a = g a) :
    l.map f = l.map g := by
  induction l with
  | nil => rfl
  | cons b l ih =>
    rw [List.map_cons, List.map_cons, h b List.mem_cons_self]
    rw [ih (fun a ha => h a (List.mem_cons_of_mem b ha))]

theorem List.append_of_mem {α : Type u} {a : α} {l : List α} : a ∈ l → ∃ s t : List α, l = s ++ a :: t := by
  intro h
  induction h with
  | head as => exact ⟨[], as, rfl⟩
  | tail b h ih =>
    cases ih with
    | intro s hs =>
      cases hs with
      | intro t ht =>
        exists b :: s, t
        rw [ht, List.cons_append]

theorem List.mem_iff_append {α : Type u} {a : α} {l : List α} : a ∈ l ↔ ∃ s t : List α, l = s ++ a :: t := by
  constructor
  · intro h
    exact List.append_of_mem h
  · intro h
    cases h with
    | intro s hs =>
      cases hs with
      | intro t ht =>
        rw [ht]
        exact List.mem_append_right s List.mem_cons_self

/-! Every member, some member -/

theorem List.forall_mem_nil {α : Type u} (p : α → Prop) : ∀ (x : α) (_ : x ∈ []), p x := by
  intro x h
  cases h

theorem List.forall_mem_cons {α : Type u} {p : α → Prop} {a : α} {l : List α} :
    (∀ x, x ∈ a :: l → p x) ↔ p a ∧ ∀ x, x ∈ l → p x := by
  constructor
  · intro h
    constructor
    · exact h a List.mem_cons_self
    · intro x hx
      exact h x (List.mem_cons_of_mem a hx)
  · intro h x hx
    cases List.mem_cons.mp hx with
    | inl h1 =>
      rw [h1]
      exact h.1
    | inr h2 => exact h.2 x h2

theorem List.forall_mem_singleton {α : Type u} {p : α → Prop} {a : α} : (∀ x, x ∈ [a] → p x) ↔ p a := by
  constructor
  · intro h
    exact h a List.mem_cons_self
  · intro h x hx
    rw [List.eq_of_mem_singleton hx]
    exact h

theorem List.forall_mem_append {α : Type u} {p : α → Prop} {l₁ l₂ : List α} :
    (∀ x, x ∈ l₁ ++ l₂ → p x) ↔ (∀ x, x ∈ l₁ → p x) ∧ ∀ x, x ∈ l₂ → p x := by
  constructor
  · intro h
    constructor
    · intro x hx
      exact h x (List.mem_append_left l₂ hx)
    · intro x hx
      exact h x (List.mem_append_right l₁ hx)
  · intro h x hx
    cases List.mem_append.mp hx with
    | inl h1 => exact h.1 x h1
    | inr h2 => exact h.2 x h2
