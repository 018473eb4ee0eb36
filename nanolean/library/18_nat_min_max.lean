/-
Natural numbers: minimum and maximum, and quotients and remainders by cases.
-/

def Min.min (n m : Nat) : Nat := if n ≤ m then n else m

def Max.max (n m : Nat) : Nat := if n ≤ m then m else n

protected theorem Nat.min_def {n m : Nat} : min n m = if n ≤ m then n else m := by
  rfl

protected theorem Nat.max_def {n m : Nat} : max n m = if n ≤ m then m else n := by
  rfl

/-! Which of the two it is -/

protected theorem Nat.min_eq_left {a b : Nat} (h : a ≤ b) : min a b = a := by
  rw [Nat.min_def, if_pos h]

protected theorem Nat.min_eq_right {a b : Nat} (h : b ≤ a) : min a b = b := by
  rw [Nat.min_def]
  by_cases hab : a ≤ b
  · rw [if_pos hab]
    exact Nat.le_antisymm hab h
  · rw [if_neg hab]

protected theorem Nat.max_eq_right {a b : Nat} (h : a ≤ b) : max a b = b := by
  rw [Nat.max_def, if_pos h]

protected theorem Nat.max_eq_left {a b : Nat} (h : b ≤ a) : max a b = a := by
  rw [Nat.max_def]
  by_cases hab : a ≤ b
  · rw [if_pos hab]
    exact Nat.le_antisymm h hab
  · rw [if_neg hab]

protected theorem Nat.min_comm (a b : Nat) : min a b = min b a := by
  cases Nat.le_total a b with
  | inl h => rw [Nat.min_eq_left h, Nat.min_eq_right h]
  | inr h => rw [Nat.min_eq_right h, Nat.min_eq_left h]

protected theorem Nat.max_comm (a b : Nat) : max a b = max b a := by
  cases Nat.le_total a b with
  | inl h => rw [Nat.max_eq_right h, Nat.max_eq_left h]
  | inr h => rw [Nat.max_eq_left h, Nat.max_eq_right h]

@[simp] protected theorem Nat.min_self (a : Nat) : min a a = a := by
  exact Nat.min_eq_left (Nat.le_refl a)

@[simp] protected theorem Nat.max_self (a : Nat) : max a a = a := by
  exact Nat.max_eq_left (Nat.le_refl a)

@[simp] protected theorem Nat.zero_min (a : Nat) : min 0 a = 0 := by
  exact Nat.min_eq_left (Nat.zero_le a)

@[simp] protected theorem Nat.min_zero (a : Nat) : min a 0 = 0 := by
  exact Nat.min_eq_right (Nat.zero_le a)

@[simp] protected theorem Nat.zero_max (a : Nat) : max 0 a = a := by
  exact Nat.max_eq_right (Nat.zero_le a)

@[simp] protected theorem Nat.max_zero (a : Nat) : max a 0 = a := by
  exact Nat.max_eq_left (Nat.zero_le a)

/-! Order -/

protected theorem Nat.min_le_left (a b : Nat) : min a b ≤ a := by
  cases Nat.le_total a b with
  | inl h => rw [Nat.min_eq_left h]
  | inr h =>
    rw [Nat.min_eq_right h]
    exact h

protected theorem Nat.min_le_right (a b : Nat) : min a b ≤ b := by
  rw [Nat.min_comm]
  exact Nat.min_le_left b a

protected theorem Nat.le_max_left (a b : Nat) : a ≤ max a b := by
  cases Nat.le_total a b with
  | inl h =>
    rw [Nat.max_eq_right h]
    exact h
  | inr h => rw [Nat.max_eq_left h]

protected theorem Nat.le_max_right (a b : Nat) : b ≤ max a b := by
  rw [Nat.max_comm]
  exact Nat.le_max_left b a

protected theorem Nat.le_min_of_le_of_le {a b c : Nat} (hab : a ≤ b) (hac : a ≤ c) : a ≤ min b c := by
  cases Nat.le_total b c with
  | inl h =>
    rw [Nat.min_eq_left h]
    exact hab
  | inr h =>
    rw [Nat.min_eq_right h]
    exact hac

protected theorem Nat.le_min {a b c : Nat} : a ≤ min b c ↔ a ≤ b ∧ a ≤ c := by
  constructor
  · intro h
    exact ⟨Nat.le_trans h (Nat.min_le_left b c), Nat.le_trans h (Nat.min_le_right b c)⟩
  · intro h
    exact Nat.le_min_of_le_of_le h.1 h.2

protected theorem Nat.lt_min {a b c : Nat} : a < min b c ↔ a < b ∧ a < c := by
  exact Nat.le_min

protected theorem Nat.max_le_of_le_of_le {a b c : Nat} (hac : a ≤ c) (hbc : b ≤ c) : max a b ≤ c := by
  cases Nat.le_total a b with
  | inl h =>
    rw [Nat.max_eq_right h]
    exact hbc
  | inr h =>
    rw [Nat.max_eq_left h]
    exact hac

protected theorem Nat.max_le {a b c : Nat} : max a b ≤ c ↔ a ≤ c ∧ b ≤ c := by
  constructor
  · intro h
    exact ⟨Nat.le_trans (Nat.le_max_left a b) h, Nat.le_trans (Nat.le_max_right a b) h⟩
  · intro h
    exact Nat.max_le_of_le_of_le h.1 h.2

protected theorem Nat.max_lt {a b c : Nat} : max a b < c ↔ a < c ∧ b < c := by
  constructor
  · intro h
    exact ⟨Nat.lt_of_le_of_lt (Nat.le_max_left a b) h, Nat.lt_of_le_of_lt (Nat.le_max_right a b) h⟩
  · intro h
    cases Nat.le_total a b with
    | inl hab =>
      rw [Nat.max_eq_right hab]
      exact h.2
    | inr hba =>
      rw [Nat.max_eq_left hba]
      exact h.1

/-! Laws -/

protected theorem Nat.min_assoc (a b c : Nat) : min (min a b) c = min a (min b c) := by
  apply Nat.le_antisymm
  · rw [Nat.le_min, Nat.le_min]
    constructor
    · exact Nat.le_trans (Nat.min_le_left (min a b) c) (Nat.min_le_left a b)
    · constructor
      · exact Nat.le_trans (Nat.min_le_left (min a b) c) (Nat.min_le_right a b)
      · exact Nat.min_le_right (min a b) c
  · rw [Nat.le_min, Nat.le_min]
    constructor
    · constructor
      · exact Nat.min_le_left a (min b c)
      · exact Nat.le_trans (Nat.min_le_right a (min b c)) (Nat.min_le_left b c)
    · exact Nat.le_trans (Nat.min_le_right a (min b c)) (Nat.min_le_right b c)

protected theorem Nat.max_assoc (a b c : Nat) : max (max a b) c = max a (max b c) := by
  apply Nat.le_antisymm
  · rw [Nat.max_le, Nat.max_le]
    constructor
    · constructor
      · exact Nat.le_max_left a (max b c)
      · exact Nat.le_trans (Nat.le_max_left b c) (Nat.le_max_right a (max b c))
    · exact Nat.le_trans (Nat.le_max_right b c) (Nat.le_max_right a (max b c))
  · rw [Nat.max_le, Nat.max_le]
    constructor
    · exact Nat.le_trans (Nat.le_max_left a b) (Nat.le_max_left (max a b) c)
    · constructor
      · exact Nat.le_trans (Nat.le_max_right a b) (Nat.le_max_left (max a b) c)
      · exact Nat.le_max_right (max a b) c

protected theorem Nat.add_min_add_right (a b c : Nat) : min (a + c) (b + c) = min a b + c := by
  cases Nat.le_total a b with
  | inl h => rw [Nat.min_eq_left h, Nat.min_eq_left (Nat.add_le_add_right h c)]
  | inr h => rw [Nat.min_eq_right h, Nat.min_eq_right (Nat.add_le_add_right h c)]

protected theorem Nat.add_min_add_left (a b c : Nat) : min (a + b) (a + c) = a + min b c := by
  rw [Nat.add_comm a b, Nat.add_comm a c, Nat.add_min_add_right, Nat.add_comm]

protected theorem Nat.add_max_add_right (a b c : Nat) : max (a + c) (b + c) = max a b + c := by
  cases Nat.le_total a b with
  | inl h => rw [Nat.max_eq_right h, Nat.max_eq_right (Nat.add_le_add_right h c)]
  | inr h => rw [Nat.max_eq_left h, Nat.max_eq_left (Nat.add_le_add_right h c)]

protected theorem Nat.add_max_add_left (a b c : Nat) : max (a + b) (a + c) = a + max b c := by
  rw [Nat.add_comm a b, Nat.add_comm a c, Nat.add_max_add_right, Nat.add_comm]

protected theorem Nat.sub_eq_sub_min (n m : Nat) : n - m = n - min n m := by
  cases Nat.le_total n m with
  | inl h => rw [Nat.min_eq_left h, Nat.sub_eq_zero_of_le h, Nat.sub_self]
  | inr h => rw [Nat.min_eq_right h]

/-! Quotients and remainders by cases -/

protected theorem Nat.div_eq (x y : Nat) : x / y = if 0 < y ∧ y ≤ x then (x - y) / y + 1 else 0 := by
  by_cases h : 0 < y ∧ y ≤ x
  · rw [if_pos h]
    exact Nat.div_eq_sub_div h.1 h.2
  · rw [if_neg h]
    cases Nat.eq_zero_or_pos y with
    | inl hy => rw [hy, Nat.div_zero]
    | inr hy =>
      apply Nat.div_eq_of_lt
      apply Nat.lt_of_not_le
      intro hxy
      exact h ⟨hy, hxy⟩

protected theorem Nat.mod_eq (x y : Nat) : x % y = if 0 < y ∧ y ≤ x then (x - y) % y else x := by
  by_cases h : 0 < y ∧ y ≤ x
  · rw [if_pos h]
    exact Nat.mod_eq_sub_mod h.2
  · rw [if_neg h]
    cases Nat.eq_zero_or_pos y with
    | inl hy => rw [hy, Nat.mod_zero]
    | inr hy =>
      apply Nat.mod_eq_of_lt
      apply Nat.lt_of_not_le
      intro hxy
      exact h ⟨hy, hxy⟩

theorem Nat.gcd_def (x y : Nat) : Nat.gcd x y = if x = 0 then y else Nat.gcd (y % x) x := by
  by_cases h : x = 0
  · rw [if_pos h, h, Nat.gcd_zero_left]
  · rw [if_neg h]
    exact Nat.gcd_rec x y
