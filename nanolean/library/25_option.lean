/-
Options: a value or none, and the head of a list.
-/
universe u v

inductive Option (α : Type u) : Type u where
  | none : Option α
  | some (val : α) : Option α

def Option.isSome {α : Type u} : Option α → Bool
  | some _ => true
  | none => false

def Option.isNone {α : Type u} : Option α → Bool
  | some _ => false
  | none => true

def Option.getD {α : Type u} (opt : Option α) (dflt : α) : α :=
  match opt with
  | some x => x
  | none => dflt

def Option.map {α : Type u} {β : Type v} (f : α → β) : Option α → Option β
  | some x => some (f x)
  | none => none

theorem Option.some_ne_none {α : Type u} (x : α) : some x ≠ none := by
  intro h
  injection h

theorem Option.some_inj {α : Type u} {a b : α} : some a = some b ↔ a = b := by
  constructor
  · intro h
    injection h
  · intro h
    rw [h]

@[simp] theorem Option.isSome_none {α : Type u} : (none : Option α).isSome = false := by
  rfl

@[simp] theorem Option.isSome_some {α : Type u} {a : α} : (some a).isSome = true := by
  rfl

@[simp] theorem Option.isNone_none {α : Type u} : (none : Option α).isNone = true := by
  rfl

@[simp] theorem Option.isNone_some {α : Type u} {a : α} : (some a).isNone = false := by
  rfl

@[simp] theorem Option.getD_none {α : Type u} {a : α} : (none : Option α).getD a = a := by
  rfl

@[simp] theorem Option.getD_some {α : Type u} {a b : α} : (some a).getD b = a := by
  rfl

@[simp] theorem Option.map_none {α : Type u} {β : Type v} {f : α → β} : Option.map f none = none := by
  rfl

@[simp] theorem Option.map_some {α : Type u} {β : Type v} {a : α} {f : α → β} : Option.map f (some a) = some (f a) := by
  rfl

@[simp] theorem Option.map_id {α : Type u} : (Option.map id : Option α → Option α) = id := by
  funext o
  cases o <;> rfl

theorem Option.ne_none_iff_exists {α : Type u} {o : Option α} : o ≠ none ↔ ∃ x, some x = o := by
  constructor
  · intro h
    cases o with
    | none => contradiction
    | some x => exact ⟨x, rfl⟩
  · intro h
    cases h with
    | intro x hx =>
      rw [← hx]
      exact Option.some_ne_none x

theorem Option.ne_none_iff_exists' {α : Type u} {o : Option α} : o ≠ none ↔ ∃ x, o = some x := by
  rw [Option.ne_none_iff_exists]
  constructor
  · intro h
    cases h with
    | intro x hx => exact ⟨x, hx.symm⟩
  · intro h
    cases h with
    | intro x hx => exact ⟨x, hx.symm⟩

theorem Option.eq_none_iff_forall_ne_some {α : Type u} {o : Option α} : o = none ↔ ∀ a, o ≠ some a := by
  constructor
  · intro h a ha
    rw [h] at ha
    exact Option.some_ne_none a ha.symm
  · intro h
    cases o with
    | none => rfl
    | some x =>
      exfalso
      exact h x rfl

/-! The head of a list -/

def List.head? {α : Type u} : List α → Option α
  | [] => none
  | a :: _ => some a

@[simp] theorem List.head?_nil {α : Type u} : ([] : List α).head? = none := by
  rfl

@[simp] theorem List.head?_cons {α : Type u} {a : α} {l : List α} : (a :: l).head? = some a := by
  rfl

@[simp] theorem List.head?_eq_none_iff {α : Type u} {l : List α} : l.head? = none ↔ l = [] := by
  constructor
  · intro h
    cases l with
    | nil => rfl
    | cons a l =>
      exfalso
      exact Option.some_ne_none a h
  · intro h
    rw [h, List.head?_nil]

theorem List.mem_of_head? {α : Type u} {l : List α} {a : α} (h : l.head? = some a) : a ∈ l := by
  cases l with
  | nil =>
    exfalso
    exact Option.some_ne_none a h.symm
  | cons b l =>
    rw [List.head?_cons, Option.some_inj] at h
    rw [h]
    exact List.mem_cons_self
