/-
The types, operations and axioms that everything else stands on. Names and types agree with Lean 4 core;
functions on numbers are written with explicit recursors, because there is no equation compiler here.
-/
universe u v w

/-! Propositions -/

inductive True : Prop where
  | intro : True

inductive False : Prop

inductive And (a b : Prop) : Prop where
  | intro (left : a) (right : b) : And a b

inductive Or (a b : Prop) : Prop where
  | inl (h : a) : Or a b
  | inr (h : b) : Or a b

inductive Iff (a b : Prop) : Prop where
  | intro (mp : a → b) (mpr : b → a) : Iff a b

inductive Exists {α : Sort u} (p : α → Prop) : Prop where
  | intro (w : α) (h : p w) : Exists p

inductive Eq {α : Sort u} : α → α → Prop where
  | refl (a : α) : Eq a a

def Not (a : Prop) : Prop := a → False

@[reducible] def Ne {α : Sort u} (a b : α) : Prop := ¬(a = b)

/-! Data -/

inductive Nat : Type where
  | zero : Nat
  | succ (n : Nat) : Nat

inductive Bool : Type where
  | false : Bool
  | true : Bool

inductive List (α : Type u) : Type u where
  | nil : List α
  | cons (head : α) (tail : List α) : List α

inductive Nonempty (α : Sort u) : Prop where
  | intro (val : α) : Nonempty α

inductive Decidable (p : Prop) : Type where
  | isFalse (h : ¬p) : Decidable p
  | isTrue (h : p) : Decidable p

inductive PUnit : Sort u where
  | unit : PUnit

structure PProd (α : Sort u) (β : Sort v) : Sort (max 1 u v) where
  fst : α
  snd : β

/-! Axioms. `sorryAx` is refused in every finished proof. -/

axiom propext {a b : Prop} : (a ↔ b) → a = b

axiom Classical.choice {α : Sort u} (h : Nonempty α) : α

axiom sorryAx (α : Sort u) (synthetic : Bool) : α

/-! Functions -/

def id {α : Sort u} (a : α) : α := a

set_option checkBinderAnnotations false in
@[reducible] def inferInstance {α : Sort u} [i : α] : α := i

def Function.comp {α : Sort u} {β : Sort v} {δ : Sort w} (f : β → δ) (g : α → β) : α → δ :=
  fun x => f (g x)

/-! False and negation -/

theorem trivial : True := True.intro

def False.elim {C : Sort u} (h : False) : C := @False.rec (fun _ => C) h

def absurd {a : Prop} {b : Sort v} (h₁ : a) (h₂ : ¬a) : b := False.elim (h₂ h₁)

def Not.elim {a : Prop} {b : Sort v} (h₁ : ¬a) (h₂ : a) : b := absurd h₂ h₁

theorem mt {a b : Prop} (h₁ : a → b) (h₂ : ¬b) : ¬a := fun ha => h₂ (h₁ ha)

theorem not_false : ¬False := id

theorem not_not_intro {p : Prop} (h : p) : ¬¬p := fun hn => hn h

/-! The parts of a connective -/

theorem And.left {a b : Prop} (self : a ∧ b) : a := @And.rec a b (fun _ => a) (fun l _ => l) self

theorem And.right {a b : Prop} (self : a ∧ b) : b := @And.rec a b (fun _ => b) (fun _ r => r) self

theorem Iff.mp {a b : Prop} (self : a ↔ b) : a → b := @Iff.rec a b (fun _ => a → b) (fun h _ => h) self

theorem Iff.mpr {a b : Prop} (self : a ↔ b) : b → a := @Iff.rec a b (fun _ => b → a) (fun _ h => h) self

theorem Or.elim {a b c : Prop} (h : a ∨ b) (left : a → c) (right : b → c) : c :=
  @Or.rec a b (fun _ => c) left right h

theorem Exists.elim {α : Sort u} {p : α → Prop} {b : Prop} (h₁ : ∃ x, p x) (h₂ : ∀ a, p a → b) : b :=
  @Exists.rec α p (fun _ => b) h₂ h₁

/-! Equality -/

theorem rfl {α : Sort u} {a : α} : a = a := Eq.refl a

theorem Eq.subst {α : Sort u} {motive : α → Prop} {a b : α} (h₁ : a = b) (h₂ : motive a) : motive b :=
  @Eq.rec α a (fun x _ => motive x) h₂ b h₁

theorem Eq.symm {α : Sort u} {a b : α} (h : a = b) : b = a :=
  @Eq.rec α a (fun x _ => x = a) (Eq.refl a) b h

theorem Eq.trans {α : Sort u} {a b c : α} (h₁ : a = b) (h₂ : b = c) : a = c :=
  @Eq.rec α b (fun x _ => a = x) h₁ c h₂

def Eq.mp {α β : Sort u} (h : α = β) (a : α) : β :=
  @Eq.rec (Sort u) α (fun x _ => x) a β h

def Eq.mpr {α β : Sort u} (h : α = β) (b : β) : α :=
  @Eq.rec (Sort u) β (fun x _ => x) b α (Eq.symm h)

def cast {α β : Sort u} (h : α = β) (a : α) : β := Eq.mp h a

theorem congrArg {α : Sort u} {β : Sort v} {a₁ a₂ : α} (f : α → β) (h : a₁ = a₂) : f a₁ = f a₂ :=
  @Eq.rec α a₁ (fun x _ => f a₁ = f x) (Eq.refl (f a₁)) a₂ h

theorem congrFun {α : Sort u} {β : α → Sort v} {f g : (x : α) → β x} (h : f = g) (a : α) : f a = g a :=
  @Eq.rec ((x : α) → β x) f (fun k _ => f a = k a) (Eq.refl (f a)) g h

theorem congr {α : Sort u} {β : Sort v} {f₁ f₂ : α → β} {a₁ a₂ : α} (h₁ : f₁ = f₂) (h₂ : a₁ = a₂) :
    f₁ a₁ = f₂ a₂ :=
  Eq.trans (congrFun h₁ a₁) (congrArg f₂ h₂)

theorem Ne.intro {α : Sort u} {a b : α} (h : a = b → False) : a ≠ b := h

theorem Ne.elim {α : Sort u} {a b : α} (h : a ≠ b) : a = b → False := h

theorem Ne.irrefl {α : Sort u} {a : α} (h : a ≠ a) : False := h rfl

theorem Ne.symm {α : Sort u} {a b : α} (h : a ≠ b) : b ≠ a := fun h₁ => h (Eq.symm h₁)

theorem ne_of_eq_of_ne {α : Sort u} {a b c : α} (h₁ : a = b) (h₂ : b ≠ c) : a ≠ c :=
  fun h => h₂ (Eq.trans (Eq.symm h₁) h)

theorem ne_of_ne_of_eq {α : Sort u} {a b c : α} (h₁ : a ≠ b) (h₂ : b = c) : a ≠ c :=
  fun h => h₁ (Eq.trans h (Eq.symm h₂))

/-! Equivalence -/

theorem Iff.refl (a : Prop) : a ↔ a := Iff.intro (fun h => h) (fun h => h)

theorem Iff.rfl {a : Prop} : a ↔ a := Iff.refl a

theorem Iff.symm {a b : Prop} (h : a ↔ b) : b ↔ a := Iff.intro (Iff.mpr h) (Iff.mp h)

theorem Iff.trans {a b c : Prop} (h₁ : a ↔ b) (h₂ : b ↔ c) : a ↔ c :=
  Iff.intro (fun ha => Iff.mp h₂ (Iff.mp h₁ ha)) (fun hc => Iff.mpr h₁ (Iff.mpr h₂ hc))

theorem Iff.of_eq {a b : Prop} (h : a = b) : a ↔ b :=
  @Eq.rec Prop a (fun x _ => a ↔ x) (Iff.refl a) b h

theorem iff_of_eq {a b : Prop} (h : a = b) : a ↔ b := Iff.of_eq h

/-! What the simplifier is built from -/

theorem of_eq_true {p : Prop} (h : p = True) : p := Eq.mpr h True.intro

theorem of_eq_false {p : Prop} (h : p = False) : ¬p := fun hp => Eq.mp h hp

theorem eq_true {p : Prop} (h : p) : p = True := propext (Iff.intro (fun _ => True.intro) (fun _ => h))

theorem eq_false {p : Prop} (h : ¬p) : p = False := propext (Iff.intro (fun hp => h hp) (fun hf => False.elim hf))

@[simp] theorem eq_self {α : Sort u} (a : α) : (a = a) = True := eq_true (Eq.refl a)

@[simp] theorem ne_eq {α : Sort u} (a b : α) : (a ≠ b) = ¬(a = b) := Eq.refl (a ≠ b)

theorem implies_congr {p₁ p₂ : Sort u} {q₁ q₂ : Sort v} (h₁ : p₁ = p₂) (h₂ : q₁ = q₂) :
    (p₁ → q₁) = (p₂ → q₂) :=
  Eq.trans (congrArg (fun p : Sort u => p → q₁) h₁) (congrArg (fun q : Sort v => p₂ → q) h₂)

theorem forall_congr {α : Sort u} {p q : α → Prop} (h : ∀ a, p a = q a) : (∀ a, p a) = (∀ a, q a) :=
  propext (Iff.intro (fun H a => Eq.mp (h a) (H a)) (fun H a => Eq.mpr (h a) (H a)))

theorem exists_congr {α : Sort u} {p q : α → Prop} (h : ∀ a, p a ↔ q a) : (∃ a, p a) ↔ (∃ a, q a) :=
  Iff.intro
    (fun H => Exists.elim H (fun a hp => Exists.intro a (Iff.mp (h a) hp)))
    (fun H => Exists.elim H (fun a hq => Exists.intro a (Iff.mpr (h a) hq)))

/-! Arithmetic on natural numbers -/

protected def Nat.add (n m : Nat) : Nat := @Nat.rec (fun _ => Nat) n (fun _ ih => Nat.succ ih) m

protected def Nat.mul (n m : Nat) : Nat := @Nat.rec (fun _ => Nat) Nat.zero (fun _ ih => Nat.add ih n) m

protected def Nat.pow (m n : Nat) : Nat := @Nat.rec (fun _ => Nat) (Nat.succ Nat.zero) (fun _ ih => Nat.mul ih m) n

def Nat.pred (n : Nat) : Nat := @Nat.rec (fun _ => Nat) Nat.zero (fun k _ => k) n

protected def Nat.sub (n m : Nat) : Nat := @Nat.rec (fun _ => Nat) n (fun _ ih => Nat.pred ih) m

def Nat.beq (n : Nat) : Nat → Bool :=
  @Nat.rec (fun _ => Nat → Bool)
    (fun m => @Nat.rec (fun _ => Bool) Bool.true (fun _ _ => Bool.false) m)
    (fun _ ih m => @Nat.rec (fun _ => Bool) Bool.false (fun k _ => ih k) m)
    n

def Nat.ble (n : Nat) : Nat → Bool :=
  @Nat.rec (fun _ => Nat → Bool)
    (fun _ => Bool.true)
    (fun _ ih m => @Nat.rec (fun _ => Bool) Bool.false (fun k _ => ih k) m)
    n

/-! Order and divisibility -/

inductive Nat.le (n : Nat) : Nat → Prop where
  | refl : Nat.le n n
  | step {m : Nat} : Nat.le n m → Nat.le n (Nat.succ m)

protected def Nat.lt (n m : Nat) : Prop := Nat.le (n + 1) m

@[reducible] protected def Nat.ge (n m : Nat) : Prop := Nat.le m n

@[reducible] protected def Nat.gt (n m : Nat) : Prop := Nat.lt m n

protected def Nat.dvd (a b : Nat) : Prop := ∃ c, b = a * c

/-! Booleans -/

def not (b : Bool) : Bool := @Bool.rec (fun _ => Bool) Bool.true Bool.false b

def and (x y : Bool) : Bool := @Bool.rec (fun _ => Bool) Bool.false y x

def or (x y : Bool) : Bool := @Bool.rec (fun _ => Bool) y Bool.true x

theorem Bool.false_ne_true (h : Bool.false = Bool.true) : False :=
  Eq.mp (congrArg (fun b => @Bool.rec (fun _ => Prop) True False b) h) True.intro

theorem Bool.true_ne_false (h : Bool.true = Bool.false) : False := Bool.false_ne_true (Eq.symm h)

theorem Bool.eq_false_of_ne_true {b : Bool} (h : ¬b = Bool.true) : b = Bool.false :=
  @Bool.rec (fun c => ¬c = Bool.true → c = Bool.false) (fun _ => rfl) (fun hn => False.elim (hn rfl)) b h

theorem ne_true_of_eq_false {b : Bool} (h : b = Bool.false) : ¬b = Bool.true :=
  fun ht => Bool.false_ne_true (Eq.trans (Eq.symm h) ht)

/-! Lists -/

def List.append {α : Type u} (xs ys : List α) : List α :=
  @List.rec α (fun _ => List α) ys (fun x _ ih => List.cons x ih) xs

def List.length {α : Type u} (xs : List α) : Nat :=
  @List.rec α (fun _ => Nat) 0 (fun _ _ ih => ih + 1) xs

def List.map {α : Type u} {β : Type v} (f : α → β) (xs : List α) : List β :=
  @List.rec α (fun _ => List β) List.nil (fun x _ ih => List.cons (f x) ih) xs
