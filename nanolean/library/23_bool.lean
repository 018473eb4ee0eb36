/-
Booleans: `&&`, `||`, `!` compute like the connectives, and what an equation with `true` or `false` says.
-/
universe u

def cond {α : Sort u} (c : Bool) (x y : α) : α :=
  match c with
  | true => x
  | false => y

@[simp] theorem cond_true {α : Sort u} (a b : α) : cond true a b = a := by
  rfl

@[simp] theorem cond_false {α : Sort u} (a b : α) : cond false a b = b := by
  rfl

/-! Negation -/

@[simp] theorem Bool.not_true : (!true) = false := by
  rfl

@[simp] theorem Bool.not_false : (!false) = true := by
  rfl

@[simp] theorem Bool.not_not (b : Bool) : (!!b) = b := by
  cases b with
  | false => rfl
  | true => rfl

/-! Units and zeros -/

@[simp] theorem Bool.and_true (b : Bool) : (b && true) = b := by
  cases b with
  | false => rfl
  | true => rfl

@[simp] theorem Bool.true_and (b : Bool) : (true && b) = b := by
  rfl

@[simp] theorem Bool.and_false (b : Bool) : (b && false) = false := by
  cases b with
  | false => rfl
  | true => rfl

@[simp] theorem Bool.false_and (b : Bool) : (false && b) = false := by
  rfl

@[simp] theorem Bool.or_true (b : Bool) : (b || true) = true := by
  cases b with
  | false => rfl
  | true => rfl

@[simp] theorem Bool.true_or (b : Bool) : (true || b) = true := by
  rfl

@[simp] theorem Bool.or_false (b : Bool) : (b || false) = b := by
  cases b with
  | false => rfl
  | true => rfl

@[simp] theorem Bool.false_or (b : Bool) : (false || b) = b := by
  rfl

@[simp] theorem Bool.and_self (b : Bool) : (b && b) = b := by
  cases b with
  | false => rfl
  | true => rfl

@[simp] theorem Bool.or_self (b : Bool) : (b || b) = b := by
  cases b with
  | false => rfl
  | true => rfl

@[simp] theorem Bool.and_not_self (x : Bool) : (x && !x) = false := by
  cases x with
  | false => rfl
  | true => rfl

@[simp] theorem Bool.not_and_self (x : Bool) : (!x && x) = false := by
  cases x with
  | false => rfl
  | true => rfl

@[simp] theorem Bool.or_not_self (x : Bool) : (x || !x) = true := by
  cases x with
  | false => rfl
  | true => rfl

@[simp] theorem Bool.not_or_self (x : Bool) : (!x || x) = true := by
  cases x with
  | false => rfl
  | true => rfl

/-! Laws -/

theorem Bool.and_comm (x y : Bool) : (x && y) = (y && x) := by
  cases x with
  | false => rw [Bool.false_and, Bool.and_false]
  | true => rw [Bool.true_and, Bool.and_true]

theorem Bool.or_comm (x y : Bool) : (x || y) = (y || x) := by
  cases x with
  | false => rw [Bool.false_or, Bool.or_false]
  | true => rw [Bool.true_or, Bool.or_true]

theorem Bool.and_assoc (x y z : Bool) : (x && y && z) = (x && (y && z)) := by
  cases x with
  | false => rfl
  | true => rfl

theorem Bool.or_assoc (x y z : Bool) : (x || y || z) = (x || (y || z)) := by
  cases x with
  | false => rfl
  | true => rfl

theorem Bool.and_left_comm (x y z : Bool) : (x && (y && z)) = (y && (x && z)) := by
  rw [← Bool.and_assoc, Bool.and_comm x y, Bool.and_assoc]

theorem Bool.and_right_comm (x y z : Bool) : (x && y && z) = (x && z && y) := by
  rw [Bool.and_assoc, Bool.and_comm y z, ← Bool.and_assoc]

theorem Bool.or_left_comm (x y z : Bool) : (x || (y || z)) = (y || (x || z)) := by
  rw [← Bool.or_assoc, Bool.or_comm x y, Bool.or_assoc]

theorem Bool.or_right_comm (x y z : Bool) : (x || y || z) = (x || z || y) := by
  rw [Bool.or_assoc, Bool.or_comm y z, ← Bool.or_assoc]

theorem Bool.and_or_distrib_left (x y z : Bool) : (x && (y || z)) = (x && y || x && z) := by
  cases x with
  | false => rfl
  | true => rfl

theorem Bool.and_or_distrib_right (x y z : Bool) : ((x || y) && z) = (x && z || y && z) := by
  rw [Bool.and_comm, Bool.and_or_distrib_left, Bool.and_comm z x, Bool.and_comm z y]

theorem Bool.or_and_distrib_left (x y z : Bool) : (x || y && z) = ((x || y) && (x || z)) := by
  cases x with
  | false => rfl
  | true => rfl

theorem Bool.or_and_distrib_right (x y z : Bool) : (x && y || z) = ((x || z) && (y || z)) := by
  rw [Bool.or_comm, Bool.or_and_distrib_left, Bool.or_comm z x, Bool.or_comm z y]

@[simp] theorem Bool.not_and (x y : Bool) : (!(x && y)) = (!x || !y) := by
  cases x with
  | false => rfl
  | true => rfl

@[simp] theorem Bool.not_or (x y : Bool) : (!(x || y)) = (!x && !y) := by
  cases x with
  | false => rfl
  | true => rfl

/-! What is true -/

theorem Bool.eq_false_or_eq_true (b : Bool) : b = true ∨ b = false := by
  cases b with
  | false => exact Or.inr rfl
  | true => exact Or.inl rfl

@[simp] theorem Bool.not_eq_true (b : Bool) : (¬b = true) = (b = false) := by
  apply propext
  constructor
  · intro h
    exact Bool.eq_false_of_ne_true h
  · intro h
    exact ne_true_of_eq_false h

@[simp] theorem Bool.not_eq_false (b : Bool) : (¬b = false) = (b = true) := by
  apply propext
  constructor
  · intro h
    exact (Bool.eq_false_or_eq_true b).resolve_right h
  · intro h hf
    rw [h] at hf
    exact Bool.true_ne_false hf

theorem Bool.eq_false_iff {b : Bool} : b = false ↔ b ≠ true := by
  constructor
  · intro h
    exact ne_true_of_eq_false h
  · intro h
    exact Bool.eq_false_of_ne_true h

theorem Bool.ne_false_iff {b : Bool} : b ≠ false ↔ b = true := by
  rw [ne_eq, Bool.not_eq_false]

theorem Bool.eq_iff_iff {a b : Bool} : a = b ↔ (a ↔ b) := by
  constructor
  · intro h
    rw [h]
  · intro h
    cases b with
    | false => exact Bool.eq_false_of_ne_true (fun ha => Bool.false_ne_true (h.mp ha))
    | true => exact h.mpr rfl

@[simp] theorem Bool.coe_iff_coe (a b : Bool) : (a ↔ b) ↔ a = b := by
  exact Bool.eq_iff_iff.symm

@[simp] theorem Bool.not_eq_true' (b : Bool) : ((!b) = true) = (b = false) := by
  apply propext
  cases b with
  | false =>
    constructor
    · intro h
      rfl
    · intro h
      rfl
  | true =>
    constructor
    · intro h
      exact h.symm
    · intro h
      exact h.symm

@[simp] theorem Bool.not_eq_false' (b : Bool) : ((!b) = false) = (b = true) := by
  apply propext
  cases b with
  | false =>
    constructor
    · intro h
      exact h.symm
    · intro h
      exact h.symm
  | true =>
    constructor
    · intro h
      rfl
    · intro h
      rfl

@[simp] theorem Bool.and_eq_true (a b : Bool) : ((a && b) = true) = (a = true ∧ b = true) := by
  apply propext
  cases a with
  | false =>
    constructor
    · intro h
      contradiction
    · intro h
      exact h.1
  | true =>
    constructor
    · intro h
      exact ⟨rfl, h⟩
    · intro h
      exact h.2

@[simp] theorem Bool.or_eq_true (a b : Bool) : ((a || b) = true) = (a = true ∨ b = true) := by
  apply propext
  cases a with
  | false =>
    constructor
    · intro h
      exact Or.inr h
    · intro h
      exact h.resolve_left Bool.false_ne_true
  | true =>
    constructor
    · intro h
      exact Or.inl rfl
    · intro h
      rfl

theorem Bool.and_eq_true_iff {x y : Bool} : (x && y) = true ↔ x = true ∧ y = true := by
  rw [Bool.and_eq_true]

theorem Bool.or_eq_true_iff {x y : Bool} : (x || y) = true ↔ x = true ∨ y = true := by
  rw [Bool.or_eq_true]

theorem Bool.and_eq_false_iff {x y : Bool} : (x && y) = false ↔ x = false ∨ y = false := by
  cases x with
  | false =>
    constructor
    · intro h
      exact Or.inl rfl
    · intro h
      rfl
  | true =>
    constructor
    · intro h
      exact Or.inr h
    · intro h
      exact h.resolve_left Bool.true_ne_false

@[simp] theorem Bool.or_eq_false_iff {x y : Bool} : (x || y) = false ↔ x = false ∧ y = false := by
  cases x with
  | false =>
    constructor
    · intro h
      exact ⟨rfl, h⟩
    · intro h
      exact h.2
  | true =>
    constructor
    · intro h
      contradiction
    · intro h
      exact h.1

theorem Bool.forall_bool {p : Bool → Prop} : (∀ b, p b) ↔ p false ∧ p true := by
  constructor
  · intro h
    exact ⟨h false, h true⟩
  · intro h b
    cases b with
    | false => exact h.1
    | true => exact h.2

theorem Bool.exists_bool {p : Bool → Prop} : (∃ b, p b) ↔ p false ∨ p true := by
  constructor
  · intro h
    cases h with
    | intro b hb =>
      cases b with
      | false => exact Or.inl hb
      | true => exact Or.inr hb
  · intro h
    cases h with
    | inl hf => exact ⟨false, hf⟩
    | inr ht => exact ⟨true, ht⟩

/-! More rules of the simplifier -/

@[simp] theorem Bool.and_self_left (a b : Bool) : (a && (a && b)) = (a && b) := by
  rw [← Bool.and_assoc, Bool.and_self]

@[simp] theorem Bool.and_self_right (a b : Bool) : ((a && b) && b) = (a && b) := by
  rw [Bool.and_assoc, Bool.and_self]

@[simp] theorem Bool.or_self_left (a b : Bool) : (a || (a || b)) = (a || b) := by
  rw [← Bool.or_assoc, Bool.or_self]

@[simp] theorem Bool.or_self_right (a b : Bool) : ((a || b) || b) = (a || b) := by
  rw [Bool.or_assoc, Bool.or_self]

@[simp] theorem Bool.not_eq_eq_eq_not {a b : Bool} : (!a) = b ↔ a = !b := by
  constructor
  · intro h
    rw [← h, Bool.not_not]
  · intro h
    rw [h, Bool.not_not]

theorem Bool.not_inj_iff {x y : Bool} : (!x) = (!y) ↔ x = y := by
  constructor
  · intro h
    rw [← Bool.not_not x, h, Bool.not_not]
  · intro h
    rw [h]

@[simp] theorem Bool.and_eq_false_imp {x y : Bool} : (x && y) = false ↔ (x = true → y = false) := by
  cases x with
  | false =>
    constructor
    · intro h hx
      contradiction
    · intro h
      rfl
  | true =>
    constructor
    · intro h hx
      exact h
    · intro h
      exact h rfl

/-! `==` on numbers, the only type that has it here -/

theorem eq_of_beq {a b : Nat} (h : (a == b) = true) : a = b := by
  exact Nat.eq_of_beq_eq_true h

@[simp] theorem beq_self_eq_true (a : Nat) : (a == a) = true := by
  exact Nat.beq_refl a

@[simp] theorem beq_iff_eq {a b : Nat} : (a == b) = true ↔ a = b := by
  constructor
  · intro h
    exact eq_of_beq h
  · intro h
    rw [h, beq_self_eq_true]

@[simp] theorem beq_eq_false_iff_ne {a b : Nat} : (a == b) = false ↔ a ≠ b := by
  constructor
  · intro h
    exact Nat.ne_of_beq_eq_false h
  · intro h
    exact Bool.eq_false_of_ne_true (fun e => h (eq_of_beq e))

@[simp] theorem bne_iff_ne {a b : Nat} : (a != b) = true ↔ a ≠ b := by
  rw [Bool.not_eq_true', beq_eq_false_iff_ne]
