/-
Lists: the functions on them and how they compute, concatenation, length, map.
-/
universe u v w

/-! Functions -/

def List.reverseAux {α : Type u} : List α → List α → List α
  | [], r => r
  | a :: l, r => List.reverseAux l (a :: r)

def List.reverse {α : Type u} (as : List α) : List α := List.reverseAux as []

def List.filter {α : Type u} (p : α → Bool) : (l : List α) → List α
  | [] => []
  | a :: as => match p a with
    | true => a :: List.filter p as
    | false => List.filter p as

def List.foldl {α : Type u} {β : Type v} (f : α → β → α) : (init : α) → List β → α
  | a, [] => a
  | a, b :: l => List.foldl f (f a b) l

def List.foldr {α : Type u} {β : Type v} (f : α → β → β) (init : β) : (l : List α) → β
  | [] => init
  | a :: l => f a (List.foldr f init l)

def List.replicate {α : Type u} : (n : Nat) → (a : α) → List α
  | 0, _ => []
  | n + 1, a => a :: List.replicate n a

def List.take {α : Type u} : (n : Nat) → (xs : List α) → List α
  | 0, _ => []
  | _ + 1, [] => []
  | n + 1, a :: as => a :: List.take n as

def List.drop {α : Type u} : (n : Nat) → (xs : List α) → List α
  | 0, as => as
  | _ + 1, [] => []
  | n + 1, _ :: as => List.drop n as

def List.tail {α : Type u} : List α → List α
  | [] => []
  | _ :: as => as

def List.isEmpty {α : Type u} : List α → Bool
  | [] => true
  | _ :: _ => false

/-! Constructors -/

theorem List.cons_ne_nil {α : Type u} (a : α) (l : List α) : a :: l ≠ [] := by
  intro h
  injection h

@[simp] theorem List.cons_ne_self {α : Type u} (a : α) (l : List α) : a :: l ≠ l := by
  induction l generalizing a with
  | nil => exact List.cons_ne_nil a []
  | cons b l ih =>
    intro h
    injection h with h1 h2
    exact ih b h2

theorem List.cons_inj_right {α : Type u} (a : α) {l l' : List α} : a :: l = a :: l' ↔ l = l' := by
  constructor
  · intro h
    injection h
  · intro h
    rw [h]

theorem List.cons_eq_cons {α : Type u} {a b : α} {l l' : List α} : a :: l = b :: l' ↔ a = b ∧ l = l' := by
  constructor
  · intro h
    injection h with h1 h2
    exact ⟨h1, h2⟩
  · intro h
    rw [h.1, h.2]

theorem List.exists_cons_of_ne_nil {α : Type u} {l : List α} (h : l ≠ []) : ∃ b L, l = b :: L := by
  cases l with
  | nil => contradiction
  | cons b L => exact ⟨b, L, rfl⟩

theorem List.ne_nil_iff_exists_cons {α : Type u} {l : List α} : l ≠ [] ↔ ∃ b L, l = b :: L := by
  constructor
  · intro h
    exact List.exists_cons_of_ne_nil h
  · intro h
    cases h with
    | intro b hb =>
      cases hb with
      | intro L hL =>
        rw [hL]
        exact List.cons_ne_nil b L

/-! Concatenation -/

@[simp] theorem List.nil_append {α : Type u} (as : List α) : [] ++ as = as := by
  rfl

@[simp] theorem List.cons_append {α : Type u} {a : α} {as bs : List α} : (a :: as) ++ bs = a :: (as ++ bs) := by
  rfl

@[simp] theorem List.append_nil {α : Type u} (as : List α) : as ++ [] = as := by
  induction as with
  | nil => rfl
  | cons a as ih => rw [List.cons_append, ih]

@[simp] theorem List.append_assoc {α : Type u} (as bs cs : List α) : (as ++ bs) ++ cs = as ++ (bs ++ cs) := by
  induction as with
  | nil => rfl
  | cons a as ih => rw [List.cons_append, List.cons_append, List.cons_append, ih]

theorem List.append_cons {α : Type u} (as : List α) (b : α) (bs : List α) : as ++ b :: bs = as ++ [b] ++ bs := by
  rw [List.append_assoc, List.cons_append, List.nil_append]

@[simp] theorem List.append_eq_nil_iff {α : Type u} {p q : List α} : p ++ q = [] ↔ p = [] ∧ q = [] := by
  constructor
  · intro h
    cases p with
    | nil => exact ⟨rfl, h⟩
    | cons a p =>
      exfalso
      rw [List.cons_append] at h
      exact List.cons_ne_nil a (p ++ q) h
  · intro h
    rw [h.1, h.2, List.append_nil]

theorem List.append_cancel_left {α : Type u} {as bs cs : List α} (h : as ++ bs = as ++ cs) : bs = cs := by
  induction as with
  | nil => exact h
  | cons a as ih =>
    rw [List.cons_append, List.cons_append] at h
    apply ih
    exact (List.cons_inj_right a).mp h

theorem List.append_right_inj {α : Type u} {t₁ t₂ : List α} (s : List α) : s ++ t₁ = s ++ t₂ ↔ t₁ = t₂ := by
  constructor
  · intro h
    exact List.append_cancel_left h
  · intro h
    rw [h]

@[simp] theorem List.append_cancel_left_eq {α : Type u} (as bs cs : List α) : (as ++ bs = as ++ cs) = (bs = cs) := by
  apply propext
  exact List.append_right_inj as

/-! Length -/

@[simp] theorem List.length_nil {α : Type u} : List.length ([] : List α) = 0 := by
  rfl

@[simp] theorem List.length_cons {α : Type u} {a : α} {as : List α} : (a :: as).length = as.length + 1 := by
  rfl

@[simp] theorem List.length_singleton {α : Type u} {a : α} : [a].length = 1 := by
  rfl

@[simp] theorem List.length_append {α : Type u} {as bs : List α} : (as ++ bs).length = as.length + bs.length := by
  induction as with
  | nil => rw [List.nil_append, List.length_nil, Nat.zero_add]
  | cons a as ih => rw [List.cons_append, List.length_cons, List.length_cons, ih, Nat.add_right_comm]

theorem List.eq_nil_of_length_eq_zero {α : Type u} {l : List α} (h : l.length = 0) : l = [] := by
  cases l with
  | nil => rfl
  | cons a l =>
    exfalso
    rw [List.length_cons] at h
    exact Nat.add_one_ne_zero l.length h

@[simp] theorem List.length_eq_zero_iff {α : Type u} {l : List α} : l.length = 0 ↔ l = [] := by
  constructor
  · intro h
    exact List.eq_nil_of_length_eq_zero h
  · intro h
    rw [h, List.length_nil]

theorem List.length_pos_iff {α : Type u} {l : List α} : 0 < l.length ↔ l ≠ [] := by
  rw [Nat.pos_iff_ne_zero]
  constructor
  · intro h hl
    rw [hl] at h
    exact h rfl
  · intro h hl
    exact h (List.eq_nil_of_length_eq_zero hl)

theorem List.length_pos_of_ne_nil {α : Type u} {l : List α} (h : l ≠ []) : 0 < l.length := by
  exact List.length_pos_iff.mpr h

theorem List.length_eq_one_iff {α : Type u} {l : List α} : l.length = 1 ↔ ∃ a, l = [a] := by
  constructor
  · intro h
    cases l with
    | nil =>
      exfalso
      exact Nat.zero_ne_one h
    | cons a l =>
      exists a
      rw [List.length_cons] at h
      rw [List.eq_nil_of_length_eq_zero (Nat.succ.inj h)]
  · intro h
    cases h with
    | intro a ha => rw [ha, List.length_singleton]

theorem List.append_cancel_right {α : Type u} {as bs cs : List α} (h : as ++ bs = cs ++ bs) : as = cs := by
  induction as generalizing cs with
  | nil =>
    cases cs with
    | nil => rfl
    | cons c cs =>
      exfalso
      have hl : ([] ++ bs).length = (c :: cs ++ bs).length := by exact congrArg List.length h
      rw [List.nil_append, List.cons_append, List.length_cons, List.length_append] at hl
      apply Nat.ne_of_lt (Nat.lt_succ_of_le (Nat.le_add_left bs.length cs.length))
      exact hl
  | cons a as ih =>
    cases cs with
    | nil =>
      exfalso
      have hl : (a :: as ++ bs).length = ([] ++ bs).length := by exact congrArg List.length h
      rw [List.nil_append, List.cons_append, List.length_cons, List.length_append] at hl
      apply Nat.ne_of_gt (Nat.lt_succ_of_le (Nat.le_add_left bs.length as.length))
      exact hl
    | cons c cs =>
      rw [List.cons_append, List.cons_append, List.cons_eq_cons] at h
      rw [h.1, ih h.2]

theorem List.append_left_inj {α : Type u} {s₁ s₂ : List α} (t : List α) : s₁ ++ t = s₂ ++ t ↔ s₁ = s₂ := by
  constructor
  · intro h
    exact List.append_cancel_right h
  · intro h
    rw [h]

@[simp] theorem List.append_cancel_right_eq {α : Type u} (as bs cs : List α) : (as ++ bs = cs ++ bs) = (as = cs) := by
  apply propext
  exact List.append_left_inj bs

/-! Map -/

@[simp] theorem List.map_nil {α : Type u} {β : Type v} {f : α → β} : List.map f [] = [] := by
  rfl

@[simp] theorem List.map_cons {α : Type u} {β : Type v} {f : α → β} {a : α} {l : List α} :
    List.map f (a :: l) = f a :: List.map f l := by
  rfl

theorem List.map_singleton {α : Type u} {β : Type v} {f : α → β} {a : α} : List.map f [a] = [f a] := by
  rfl

@[simp] theorem List.map_id {α : Type u} (l : List α) : List.map (id : α → α) l = l := by
  induction l with
  | nil => rfl
  | cons a l ih => rw [List.map_cons, ih, id]

@[simp] theorem List.map_id' {α : Type u} (l : List α) : List.map (fun (a : α) => a) l = l := by
  exact List.map_id l

@[simp] theorem List.map_map {β : Type v} {γ : Type w} {α : Type u} {g : β → γ} {f : α → β} {l : List α} :
    List.map g (List.map f l) = List.map (g ∘ f) l := by
  induction l with
  | nil => rfl
  | cons a l ih =>
    rw [List.map_cons, List.map_cons, List.map_cons, ih]
    rfl

@[simp] theorem List.length_map {α : Type u} {β : Type v} {as : List α} (f : α → β) :
    (as.map f).length = as.length := by
  induction as with
  | nil => rfl
  | cons a as ih => rw [List.map_cons, List.length_cons, List.length_cons, ih]

@[simp] theorem List.map_append {α : Type u} {β : Type v} {f : α → β} {l₁ l₂ : List α} :
    List.map f (l₁ ++ l₂) = List.map f l₁ ++ List.map f l₂ := by
  induction l₁ with
  | nil => rfl
  | cons a l₁ ih => rw [List.cons_append, List.map_cons, List.map_cons, List.cons_append, ih]

@[simp] theorem List.map_eq_nil_iff {α : Type u} {β : Type v} {f : α → β} {l : List α} :
    List.map f l = [] ↔ l = [] := by
  constructor
  · intro h
    cases l with
    | nil => rfl
    | cons a l =>
      exfalso
      rw [List.map_cons] at h
      exact List.cons_ne_nil (f a) (List.map f l) h
  · intro h
    rw [h, List.map_nil]

/-! Tail -/

@[simp] theorem List.tail_nil {α : Type u} : ([] : List α).tail = [] := by
  rfl

@[simp] theorem List.tail_cons {α : Type u} {a : α} {as : List α} : (a :: as).tail = as := by
  rfl

@[simp] theorem List.length_tail {α : Type u} {l : List α} : l.tail.length = l.length - 1 := by
  cases l with
  | nil => rfl
  | cons a l => rfl

@[simp] theorem List.isEmpty_nil {α : Type u} : ([] : List α).isEmpty = true := by
  rfl

@[simp] theorem List.isEmpty_cons {α : Type u} {x : α} {xs : List α} : (x :: xs).isEmpty = false := by
  rfl
