/-
Pairs, `==` at any type with decidable equality, and more functions on lists and options: what exercises about programs
use beside the rest. No training data are made of this file.
-/
universe u v w x

/-! Pairs -/

structure Prod (α : Type u) (β : Type v) where
  fst : α
  snd : β

@[ext] theorem Prod.ext {α : Type u} {β : Type v} {p q : α × β} (fst : p.fst = q.fst) (snd : p.snd = q.snd) : p = q := by
  cases p with
  | mk a b =>
    cases q with
    | mk c d =>
      have h : a = c := fst
      have k : b = d := snd
      rw [h, k]

theorem Prod.ext_iff {α : Type u} {β : Type v} {p q : α × β} : p = q ↔ p.fst = q.fst ∧ p.snd = q.snd :=
  ⟨fun h => h ▸ ⟨rfl, rfl⟩, fun h => Prod.ext h.1 h.2⟩

@[simp] theorem Prod.mk.eta {α : Type u} {β : Type v} {p : α × β} : (p.fst, p.snd) = p := rfl

def Prod.map {α₁ : Type u} {α₂ : Type v} {β₁ : Type w} {β₂ : Type x} (f : α₁ → α₂) (g : β₁ → β₂) (p : α₁ × β₁) :
    α₂ × β₂ :=
  (f p.fst, g p.snd)

@[simp] theorem Prod.map_apply {α : Type u} {β : Type v} {γ : Type w} {δ : Type x} (f : α → β) (g : γ → δ) (x : α)
    (y : γ) : Prod.map f g (x, y) = (f x, g y) := rfl

@[simp] theorem Prod.map_fst {α : Type u} {β : Type v} {γ : Type w} {δ : Type x} (f : α → β) (g : γ → δ) (x : α × γ) :
    (Prod.map f g x).fst = f x.fst := rfl

@[simp] theorem Prod.map_snd {α : Type u} {β : Type v} {γ : Type w} {δ : Type x} (f : α → β) (g : γ → δ) (x : α × γ) :
    (Prod.map f g x).snd = g x.snd := rfl

def Prod.swap {α : Type u} {β : Type v} : α × β → β × α := fun p => (p.snd, p.fst)

@[simp] theorem Prod.swap_swap {α : Type u} {β : Type v} (p : α × β) : p.swap.swap = p := rfl

@[simp] theorem Prod.fst_swap {α : Type u} {β : Type v} {p : α × β} : p.swap.fst = p.snd := rfl

@[simp] theorem Prod.snd_swap {α : Type u} {β : Type v} {p : α × β} : p.swap.snd = p.fst := rfl

@[simp] theorem Prod.swap_prod_mk {α : Type u} {β : Type v} {a : α} {b : β} : (a, b).swap = (b, a) := rfl

def instDecidableEqOption {α : Type u} [inst : DecidableEq α] : DecidableEq (Option α)
  | none, none => isTrue rfl
  | none, some _ => isFalse nofun
  | some _, none => isFalse nofun
  | some a, some b =>
    match inst a b with
    | isTrue h => isTrue (h ▸ rfl)
    | isFalse n => isFalse (fun h => n (Option.some_inj.mp h))

def instDecidableEqProd {α : Type u} {β : Type v} [inst₁ : DecidableEq α] [inst₂ : DecidableEq β] :
    DecidableEq (α × β) :=
  fun p q =>
    match inst₁ p.fst q.fst with
    | isFalse n => isFalse (fun h => n (h ▸ rfl))
    | isTrue h₁ =>
      match inst₂ p.snd q.snd with
      | isFalse n => isFalse (fun h => n (h ▸ rfl))
      | isTrue h₂ => isTrue (Prod.ext h₁ h₂)

/-! `==` where equality is decidable (that of numbers is `Nat.beq`) -/

def BEq.beq {α : Type u} [inst : DecidableEq α] (a b : α) : Bool := decide (a = b)

@[simp] theorem instBEqOfDecidableEq.beq_self_eq_true {α : Type u} [inst : DecidableEq α] (a : α) : (a == a) = true :=
  decide_eq_true rfl

@[simp] theorem instBEqOfDecidableEq.beq_iff_eq {α : Type u} [inst : DecidableEq α] {a b : α} :
    (a == b) = true ↔ a = b :=
  decide_eq_true_iff

@[simp] theorem instBEqOfDecidableEq.beq_eq_false_iff_ne {α : Type u} [inst : DecidableEq α] {a b : α} :
    (a == b) = false ↔ a ≠ b :=
  decide_eq_false_iff_not

@[simp] theorem instBEqOfDecidableEq.bne_iff_ne {α : Type u} [inst : DecidableEq α] {a b : α} :
    (a != b) = true ↔ a ≠ b := by
  simp only [Bool.not_eq_true', instBEqOfDecidableEq.beq_eq_false_iff_ne]

theorem beq_eq_decide_eq {α : Type u} [inst : DecidableEq α] (a b : α) : (a == b) = decide (a = b) := rfl

@[simp] theorem Bool.beq_true : ∀ (b : Bool), (b == true) = b
  | true => rfl
  | false => rfl

@[simp] theorem Bool.beq_false : ∀ (b : Bool), (b == false) = !b
  | true => rfl
  | false => rfl

@[simp] theorem Bool.true_beq : ∀ (b : Bool), (true == b) = b
  | true => rfl
  | false => rfl

@[simp] theorem Bool.false_beq : ∀ (b : Bool), (false == b) = !b
  | true => rfl
  | false => rfl

/-! Lists -/

def List.sum (l : List Nat) : Nat := List.foldr (fun a b => a + b) 0 l

@[simp] theorem List.sum_nil : ([] : List Nat).sum = 0 := rfl

@[simp] theorem List.sum_cons {a : Nat} {l : List Nat} : (a :: l).sum = a + l.sum := rfl

@[simp] theorem List.sum_append {l₁ l₂ : List Nat} : (l₁ ++ l₂).sum = l₁.sum + l₂.sum := by
  induction l₁ with
  | nil => simp
  | cons a l ih => simp [ih, Nat.add_assoc]

def List.all {α : Type u} : List α → (α → Bool) → Bool
  | [], _ => true
  | h :: t, p => p h && List.all t p

def List.any {α : Type u} : (l : List α) → (p : α → Bool) → Bool
  | [], _ => false
  | h :: t, p => p h || List.any t p

@[simp] theorem List.all_nil {α : Type u} {f : α → Bool} : [].all f = true := rfl

@[simp] theorem List.all_cons {α : Type u} {f : α → Bool} {a : α} {l : List α} : (a :: l).all f = (f a && l.all f) := rfl

@[simp] theorem List.any_nil {α : Type u} {f : α → Bool} : [].any f = false := rfl

@[simp] theorem List.any_cons {α : Type u} {f : α → Bool} {a : α} {l : List α} : (a :: l).any f = (f a || l.any f) := rfl

@[simp] theorem List.all_append {α : Type u} {f : α → Bool} {xs ys : List α} :
    (xs ++ ys).all f = (xs.all f && ys.all f) := by
  induction xs with
  | nil => simp
  | cons x xs ih => simp [ih, Bool.and_assoc]

@[simp] theorem List.any_append {α : Type u} {f : α → Bool} {xs ys : List α} :
    (xs ++ ys).any f = (xs.any f || ys.any f) := by
  induction xs with
  | nil => simp
  | cons x xs ih => simp [ih, Bool.or_assoc]

@[simp] theorem List.all_eq_true {α : Type u} {p : α → Bool} {l : List α} :
    l.all p = true ↔ ∀ x, x ∈ l → p x = true := by
  induction l with
  | nil => simp
  | cons a l ih => simp [ih]

@[simp] theorem List.any_eq_true {α : Type u} {p : α → Bool} {l : List α} :
    l.any p = true ↔ ∃ x, x ∈ l ∧ p x = true := by
  induction l with
  | nil => simp
  | cons a l ih =>
    constructor
    · intro h
      rw [List.any_cons, Bool.or_eq_true] at h
      rcases h with h | h
      · exact ⟨a, List.mem_cons_self, h⟩
      · obtain ⟨x, hx, hp⟩ := ih.mp h
        exact ⟨x, List.mem_cons_of_mem a hx, hp⟩
    · intro ⟨x, hx, hp⟩
      rw [List.any_cons, Bool.or_eq_true]
      rcases List.mem_cons.mp hx with h | h
      · exact Or.inl (h ▸ hp)
      · exact Or.inr (ih.mpr ⟨x, h, hp⟩)

def List.zipWith {α : Type u} {β : Type v} {γ : Type w} (f : α → β → γ) : (xs : List α) → (ys : List β) → List γ
  | x :: xs, y :: ys => f x y :: List.zipWith f xs ys
  | _, _ => []

def List.zip {α : Type u} {β : Type v} (xs : List α) (ys : List β) : List (α × β) := List.zipWith Prod.mk xs ys

@[simp] theorem List.zipWith_nil_left {α : Type u} {β : Type v} {γ : Type w} {l : List β} {f : α → β → γ} :
    List.zipWith f [] l = [] := rfl

@[simp] theorem List.zipWith_nil_right {α : Type u} {β : Type v} {γ : Type w} {l : List α} {f : α → β → γ} :
    List.zipWith f l [] = [] := by
  cases l <;> rfl

@[simp] theorem List.zipWith_cons_cons {α : Type u} {β : Type v} {γ : Type w} {a : α} {as : List α} {b : β}
    {bs : List β} {f : α → β → γ} : List.zipWith f (a :: as) (b :: bs) = f a b :: List.zipWith f as bs := rfl

@[simp] theorem List.zip_nil_left {α : Type u} {β : Type v} {l : List β} : List.zip ([] : List α) l = [] := rfl

@[simp] theorem List.zip_nil_right {α : Type u} {β : Type v} {l : List α} : List.zip l ([] : List β) = [] := by
  cases l <;> rfl

@[simp] theorem List.zip_cons_cons {α : Type u} {β : Type v} {a : α} {as : List α} {b : β} {bs : List β} :
    List.zip (a :: as) (b :: bs) = (a, b) :: List.zip as bs := rfl

@[simp] theorem List.length_zipWith {α : Type u} {β : Type v} {γ : Type w} {f : α → β → γ} {l₁ : List α} {l₂ : List β} :
    (List.zipWith f l₁ l₂).length = min l₁.length l₂.length := by
  induction l₁ generalizing l₂ with
  | nil => simp
  | cons a l ih =>
    cases l₂ with
    | nil => simp
    | cons b m =>
      -- By cases, as the proof of `omega` is too deep for the second checker.
      show (List.zipWith f l m).length + 1 = min (l.length + 1) (m.length + 1)
      rw [ih]
      cases Nat.le_total l.length m.length with
      | inl h => rw [Nat.min_eq_left h, Nat.min_eq_left (Nat.succ_le_succ h)]
      | inr h => rw [Nat.min_eq_right h, Nat.min_eq_right (Nat.succ_le_succ h)]

@[simp] theorem List.length_zip {α : Type u} {β : Type v} {l₁ : List α} {l₂ : List β} :
    (List.zip l₁ l₂).length = min l₁.length l₂.length :=
  List.length_zipWith

def List.range.loop : Nat → List Nat → List Nat
  | 0, acc => acc
  | n + 1, acc => List.range.loop n (n :: acc)

def List.range (n : Nat) : List Nat := List.range.loop n []

theorem List.range_loop_eq (n : Nat) (l : List Nat) : List.range.loop n l = List.range n ++ l := by
  induction n generalizing l with
  | zero => rfl
  | succ n ih =>
    show List.range.loop n (n :: l) = List.range.loop n [n] ++ l
    rw [ih, ih [n]]
    simp

@[simp] theorem List.range_zero : List.range 0 = [] := rfl

theorem List.range_succ {n : Nat} : List.range (Nat.succ n) = List.range n ++ [n] :=
  List.range_loop_eq n [n]

@[simp] theorem List.length_range {n : Nat} : (List.range n).length = n := by
  induction n with
  | zero => rfl
  | succ n ih => simp [List.range_succ, ih]

@[simp] theorem List.mem_range {m n : Nat} : m ∈ List.range n ↔ m < n := by
  induction n with
  | zero => simp
  | succ n ih =>
    simp [List.range_succ, ih]
    omega

def List.flatten {α : Type u} : List (List α) → List α
  | [] => []
  | l :: L => l ++ List.flatten L

@[simp] theorem List.flatten_nil {α : Type u} : List.flatten ([] : List (List α)) = [] := rfl

@[simp] theorem List.flatten_cons {α : Type u} {l : List α} {L : List (List α)} :
    (l :: L).flatten = l ++ L.flatten := rfl

def List.flatMap {α : Type u} {β : Type v} (b : α → List β) (as : List α) : List β := List.flatten (List.map b as)

@[simp] theorem List.flatMap_nil {α : Type u} {β : Type v} {f : α → List β} : List.flatMap f [] = [] := rfl

@[simp] theorem List.flatMap_cons {α : Type u} {β : Type v} {x : α} {xs : List α} {f : α → List β} :
    List.flatMap f (x :: xs) = f x ++ List.flatMap f xs := rfl

/-! Options -/

def Option.bind {α : Type u} {β : Type v} : Option α → (α → Option β) → Option β
  | none, _ => none
  | some a, f => f a

@[simp] theorem Option.bind_none {α : Type u} {β : Type v} (f : α → Option β) : (none : Option α).bind f = none := rfl

@[simp] theorem Option.bind_some {α : Type u} {β : Type v} (a : α) (f : α → Option β) : (some a).bind f = f a := rfl

@[simp] theorem Option.bind_fun_some {α : Type u} (x : Option α) : x.bind some = x := by
  cases x <;> rfl

theorem Option.bind_assoc {α : Type u} {β : Type v} {γ : Type w} (x : Option α) (f : α → Option β)
    (g : β → Option γ) : (x.bind f).bind g = x.bind fun y => (f y).bind g := by
  cases x <;> rfl

@[simp] theorem Option.map_map {α : Type u} {β : Type v} {γ : Type w} (h : β → γ) (g : α → β) (x : Option α) :
    Option.map h (Option.map g x) = Option.map (h ∘ g) x := by
  cases x <;> rfl

/-! Numbers without a common divisor -/

@[reducible] def Nat.Coprime (m n : Nat) : Prop := Nat.gcd m n = 1

theorem Nat.coprime_iff_gcd_eq_one {m n : Nat} : Nat.gcd m n = 1 ↔ Nat.Coprime m n := Iff.rfl

theorem Nat.Coprime.gcd_eq_one {m n : Nat} : Nat.Coprime m n → Nat.gcd m n = 1 := id

theorem Nat.Coprime.symm {n m : Nat} : Nat.Coprime n m → Nat.Coprime m n := (Nat.gcd_comm m n).trans
