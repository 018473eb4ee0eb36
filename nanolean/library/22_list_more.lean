/-
Lists: reverse, folds, filter, replicate, take and drop.
-/
universe u v w

/-! Reverse -/

theorem List.reverseAux_eq {α : Type u} {as bs : List α} : List.reverseAux as bs = as.reverse ++ bs := by
  have key : ∀ xs ys zs : List α, List.reverseAux xs (ys ++ zs) = List.reverseAux xs ys ++ zs := by
    intro xs
    induction xs with
    | nil =>
      intro ys zs
      rfl
    | cons x xs ih =>
      intro ys zs
      exact ih (x :: ys) zs
  exact key as [] bs

@[simp] theorem List.reverse_nil {α : Type u} : List.reverse ([] : List α) = [] := by
  rfl

@[simp] theorem List.reverse_cons {α : Type u} {a : α} {as : List α} : (a :: as).reverse = as.reverse ++ [a] := by
  show List.reverseAux as [a] = as.reverse ++ [a]
  exact List.reverseAux_eq

@[simp] theorem List.reverse_append {α : Type u} {as bs : List α} :
    (as ++ bs).reverse = bs.reverse ++ as.reverse := by
  induction as with
  | nil => rw [List.nil_append, List.reverse_nil, List.append_nil]
  | cons a as ih => rw [List.cons_append, List.reverse_cons, List.reverse_cons, ih, List.append_assoc]

@[simp] theorem List.reverse_reverse {α : Type u} (as : List α) : as.reverse.reverse = as := by
  induction as with
  | nil => rfl
  | cons a as ih =>
    rw [List.reverse_cons, List.reverse_append, ih, List.reverse_cons, List.reverse_nil, List.nil_append]
    rfl

@[simp] theorem List.length_reverse {α : Type u} {as : List α} : as.reverse.length = as.length := by
  induction as with
  | nil => rfl
  | cons a as ih => rw [List.reverse_cons, List.length_append, List.length_singleton, List.length_cons, ih]

@[simp] theorem List.reverse_eq_nil_iff {α : Type u} {xs : List α} : xs.reverse = [] ↔ xs = [] := by
  constructor
  · intro h
    rw [← List.reverse_reverse xs, h, List.reverse_nil]
  · intro h
    rw [h, List.reverse_nil]

@[simp] theorem List.reverse_inj {α : Type u} {xs ys : List α} : xs.reverse = ys.reverse ↔ xs = ys := by
  constructor
  · intro h
    rw [← List.reverse_reverse xs, h, List.reverse_reverse]
  · intro h
    rw [h]

theorem List.reverse_eq_iff {α : Type u} {as bs : List α} : as.reverse = bs ↔ as = bs.reverse := by
  constructor
  · intro h
    rw [← h, List.reverse_reverse]
  · intro h
    rw [h, List.reverse_reverse]

@[simp] theorem List.map_reverse {α : Type u} {β : Type v} {f : α → β} {l : List α} :
    l.reverse.map f = (l.map f).reverse := by
  induction l with
  | nil => rfl
  | cons a l ih => rw [List.reverse_cons, List.map_append, ih, List.map_singleton, List.map_cons, List.reverse_cons]

@[simp] theorem List.mem_reverse {α : Type u} {x : α} {as : List α} : x ∈ as.reverse ↔ x ∈ as := by
  induction as with
  | nil => exact Iff.rfl
  | cons a as ih => rw [List.reverse_cons, List.mem_append, ih, List.mem_singleton, List.mem_cons, or_comm]

/-! Folds -/

@[simp] theorem List.foldr_nil {α : Type u} {β : Type v} {f : α → β → β} {b : β} : [].foldr f b = b := by
  rfl

@[simp] theorem List.foldr_cons {α : Type u} {β : Type v} {a : α} {l : List α} {f : α → β → β} {b : β} :
    (a :: l).foldr f b = f a (l.foldr f b) := by
  rfl

@[simp] theorem List.foldl_nil {α : Type u} {β : Type v} {f : α → β → α} {b : α} : [].foldl f b = b := by
  rfl

@[simp] theorem List.foldl_cons {β : Type v} {α : Type u} {a : β} {l : List β} {f : α → β → α} {b : α} :
    (a :: l).foldl f b = l.foldl f (f b a) := by
  rfl

@[simp] theorem List.foldr_append {α : Type u} {β : Type v} {f : α → β → β} {b : β} {l l' : List α} :
    (l ++ l').foldr f b = l.foldr f (l'.foldr f b) := by
  induction l with
  | nil => rfl
  | cons a l ih => rw [List.cons_append, List.foldr_cons, List.foldr_cons, ih]

@[simp] theorem List.foldl_append {α : Type u} {β : Type v} {f : β → α → β} {b : β} {l l' : List α} :
    (l ++ l').foldl f b = l'.foldl f (l.foldl f b) := by
  induction l generalizing b with
  | nil => rfl
  | cons a l ih => rw [List.cons_append, List.foldl_cons, List.foldl_cons, ih]

theorem List.foldr_map {α : Type u} {γ : Type v} {β : Type w} {f : α → γ} {g : γ → β → β} {l : List α} {init : β} :
    (l.map f).foldr g init = l.foldr (fun x y => g (f x) y) init := by
  induction l with
  | nil => rfl
  | cons a l ih => rw [List.map_cons, List.foldr_cons, List.foldr_cons, ih]

theorem List.foldl_map {γ : Type v} {β : Type w} {α : Type u} {f : γ → β} {g : α → β → α} {l : List γ} {init : α} :
    (l.map f).foldl g init = l.foldl (fun x y => g x (f y)) init := by
  induction l generalizing init with
  | nil => rfl
  | cons a l ih => rw [List.map_cons, List.foldl_cons, List.foldl_cons, ih]

@[simp] theorem List.foldr_reverse {α : Type u} {β : Type v} {l : List α} {f : α → β → β} {b : β} :
    l.reverse.foldr f b = l.foldl (fun x y => f y x) b := by
  induction l generalizing b with
  | nil => rfl
  | cons a l ih =>
    rw [List.reverse_cons, List.foldr_append, ih, List.foldl_cons]
    rfl

@[simp] theorem List.foldl_reverse {α : Type u} {β : Type v} {l : List α} {f : β → α → β} {b : β} :
    l.reverse.foldl f b = l.foldr (fun x y => f y x) b := by
  induction l with
  | nil => rfl
  | cons a l ih => rw [List.reverse_cons, List.foldl_append, ih, List.foldl_cons, List.foldl_nil, List.foldr_cons]

/-! Filter -/

@[simp] theorem List.filter_nil {α : Type u} {p : α → Bool} : List.filter p [] = [] := by
  rfl

@[simp] theorem List.filter_cons_of_pos {α : Type u} {p : α → Bool} {a : α} {l : List α} (pa : p a) :
    List.filter p (a :: l) = a :: List.filter p l := by
  rw [List.filter, pa]

@[simp] theorem List.filter_cons_of_neg {α : Type u} {p : α → Bool} {a : α} {l : List α} (pa : ¬p a) :
    List.filter p (a :: l) = List.filter p l := by
  rw [List.filter, Bool.eq_false_of_ne_true pa]

theorem List.filter_cons {α : Type u} {x : α} {xs : List α} {p : α → Bool} :
    List.filter p (x :: xs) = if p x then x :: List.filter p xs else List.filter p xs := by
  by_cases h : p x
  · rw [List.filter_cons_of_pos h, if_pos h]
  · rw [List.filter_cons_of_neg h, if_neg h]

@[simp] theorem List.filter_append {α : Type u} {p : α → Bool} (l₁ l₂ : List α) :
    List.filter p (l₁ ++ l₂) = List.filter p l₁ ++ List.filter p l₂ := by
  induction l₁ with
  | nil => rfl
  | cons a l₁ ih =>
    rw [List.cons_append]
    by_cases h : p a
    · rw [List.filter_cons_of_pos h, List.filter_cons_of_pos h, List.cons_append, ih]
    · rw [List.filter_cons_of_neg h, List.filter_cons_of_neg h, ih]

@[simp] theorem List.mem_filter {α : Type u} {x : α} {p : α → Bool} {as : List α} :
    x ∈ List.filter p as ↔ x ∈ as ∧ p x := by
  induction as with
  | nil =>
    constructor
    · intro h
      cases h
    · intro h
      cases h.1
  | cons a as ih =>
    by_cases h : p a
    · rw [List.filter_cons_of_pos h, List.mem_cons, List.mem_cons, ih]
      constructor
      · intro hx
        cases hx with
        | inl h1 =>
          rw [h1]
          exact ⟨Or.inl rfl, h⟩
        | inr h2 => exact ⟨Or.inr h2.1, h2.2⟩
      · intro hx
        cases hx.1 with
        | inl h1 => exact Or.inl h1
        | inr h2 => exact Or.inr ⟨h2, hx.2⟩
    · rw [List.filter_cons_of_neg h, List.mem_cons, ih]
      constructor
      · intro hx
        exact ⟨Or.inr hx.1, hx.2⟩
      · intro hx
        cases hx.1 with
        | inl h1 =>
          exfalso
          rw [h1] at hx
          exact h hx.2
        | inr h2 => exact ⟨h2, hx.2⟩

theorem List.length_filter_le {α : Type u} (p : α → Bool) (l : List α) : (List.filter p l).length ≤ l.length := by
  induction l with
  | nil => exact Nat.le_refl 0
  | cons a l ih =>
    by_cases h : p a
    · rw [List.filter_cons_of_pos h, List.length_cons, List.length_cons]
      exact Nat.succ_le_succ ih
    · rw [List.filter_cons_of_neg h, List.length_cons]
      exact Nat.le_succ_of_le ih

/-! Replicate -/

@[simp] theorem List.replicate_zero {α : Type u} {a : α} : List.replicate 0 a = [] := by
  rfl

theorem List.replicate_succ {α : Type u} {a : α} {n : Nat} :
    List.replicate (n + 1) a = a :: List.replicate n a := by
  rfl

@[simp] theorem List.length_replicate {α : Type u} {n : Nat} {a : α} : (List.replicate n a).length = n := by
  induction n with
  | zero => rfl
  | succ n ih => rw [List.replicate_succ, List.length_cons, ih]

@[simp] theorem List.mem_replicate {α : Type u} {a b : α} {n : Nat} : b ∈ List.replicate n a ↔ n ≠ 0 ∧ b = a := by
  induction n with
  | zero =>
    constructor
    · intro h
      cases h
    · intro h
      exfalso
      exact h.1 rfl
  | succ n ih =>
    rw [List.replicate_succ, List.mem_cons, ih]
    constructor
    · intro h
      cases h with
      | inl h1 => exact ⟨Nat.add_one_ne_zero n, h1⟩
      | inr h2 => exact ⟨Nat.add_one_ne_zero n, h2.2⟩
    · intro h
      exact Or.inl h.2

@[simp] theorem List.map_replicate {α : Type u} {n : Nat} {a : α} {β : Type v} {f : α → β} :
    (List.replicate n a).map f = List.replicate n (f a) := by
  induction n with
  | zero => rfl
  | succ n ih => rw [List.replicate_succ, List.map_cons, ih, List.replicate_succ]

@[simp] theorem List.replicate_append_replicate {α : Type u} {n : Nat} {a : α} {m : Nat} :
    List.replicate n a ++ List.replicate m a = List.replicate (n + m) a := by
  induction n with
  | zero => rw [List.replicate_zero, List.nil_append, Nat.zero_add]
  | succ n ih => rw [List.replicate_succ, List.cons_append, ih, Nat.add_right_comm, List.replicate_succ]

theorem List.replicate_succ' {n : Nat} {α : Type u} {a : α} :
    List.replicate (n + 1) a = List.replicate n a ++ [a] := by
  induction n with
  | zero => rfl
  | succ n ih => rw [List.replicate_succ, ih, ← List.cons_append, ← List.replicate_succ, ih]

@[simp] theorem List.reverse_replicate {α : Type u} {n : Nat} {a : α} :
    (List.replicate n a).reverse = List.replicate n a := by
  induction n with
  | zero => rfl
  | succ n ih => rw [List.replicate_succ, List.reverse_cons, ih, ← List.replicate_succ', List.replicate_succ]

/-! Take and drop -/

@[simp] theorem List.take_zero {α : Type u} {l : List α} : l.take 0 = [] := by
  rfl

@[simp] theorem List.take_nil {α : Type u} {i : Nat} : ([] : List α).take i = [] := by
  cases i with
  | zero => rfl
  | succ i => rfl

@[simp] theorem List.take_succ_cons {α : Type u} {a : α} {as : List α} {i : Nat} :
    (a :: as).take (i + 1) = a :: as.take i := by
  rfl

@[simp] theorem List.drop_zero {α : Type u} {l : List α} : l.drop 0 = l := by
  cases l with
  | nil => rfl
  | cons a l => rfl

@[simp] theorem List.drop_nil {α : Type u} {i : Nat} : ([] : List α).drop i = [] := by
  cases i with
  | zero => rfl
  | succ i => rfl

@[simp] theorem List.drop_succ_cons {α : Type u} {a : α} {l : List α} {i : Nat} :
    (a :: l).drop (i + 1) = l.drop i := by
  rfl

@[simp] theorem List.take_append_drop {α : Type u} (i : Nat) (l : List α) : l.take i ++ l.drop i = l := by
  induction l generalizing i with
  | nil => rw [List.take_nil, List.drop_nil, List.nil_append]
  | cons a l ih =>
    cases i with
    | zero => rfl
    | succ i => rw [List.take_succ_cons, List.drop_succ_cons, List.cons_append, ih]

@[simp] theorem List.length_drop {α : Type u} {i : Nat} {l : List α} : (l.drop i).length = l.length - i := by
  induction l generalizing i with
  | nil => rw [List.drop_nil, List.length_nil, Nat.zero_sub]
  | cons a l ih =>
    cases i with
    | zero => rfl
    | succ i => rw [List.drop_succ_cons, ih, List.length_cons, Nat.add_sub_add_right]

@[simp] theorem List.take_length {α : Type u} {l : List α} : l.take l.length = l := by
  induction l with
  | nil => rfl
  | cons a l ih => rw [List.length_cons, List.take_succ_cons, ih]

@[simp] theorem List.drop_length {α : Type u} {l : List α} : l.drop l.length = [] := by
  induction l with
  | nil => rfl
  | cons a l ih => rw [List.length_cons, List.drop_succ_cons, ih]

theorem List.mem_of_mem_take {α : Type u} {a : α} {i : Nat} {l : List α} (h : a ∈ l.take i) : a ∈ l := by
  rw [← List.take_append_drop i l]
  exact List.mem_append_left (l.drop i) h

theorem List.mem_of_mem_drop {α : Type u} {a : α} {i : Nat} {l : List α} (h : a ∈ l.drop i) : a ∈ l := by
  rw [← List.take_append_drop i l]
  exact List.mem_append_right (l.take i) h

@[simp] theorem List.length_take {α : Type u} {i : Nat} {l : List α} : (l.take i).length = min i l.length := by
  induction l generalizing i with
  | nil => rw [List.take_nil, List.length_nil, Nat.min_zero]
  | cons a l ih =>
    cases i with
    | zero => rw [List.take_zero, List.length_nil, Nat.zero_min]
    | succ i => rw [List.take_succ_cons, List.length_cons, List.length_cons, ih, Nat.add_min_add_right]

theorem List.take_take {α : Type u} {i j : Nat} {l : List α} : (l.take j).take i = l.take (min i j) := by
  induction l generalizing i j with
  | nil => rw [List.take_nil, List.take_nil, List.take_nil]
  | cons a l ih =>
    cases i with
    | zero => rw [List.take_zero, Nat.zero_min, List.take_zero]
    | succ i =>
      cases j with
      | zero => rw [List.take_zero, List.take_nil, Nat.min_zero, List.take_zero]
      | succ j => rw [List.take_succ_cons, List.take_succ_cons, ih, Nat.add_min_add_right, List.take_succ_cons]
