/-
`if` and decidable propositions: what `if c then a else b` and `if h : c then a else b` mean, and the laws that
rewrite them. Names and statements agree with Lean 4 core.
-/
universe u v

abbrev DecidableEq (α : Sort u) := (a b : α) → Decidable (a = b)

abbrev DecidablePred {α : Sort u} (r : α → Prop) := (a : α) → Decidable (r a)

abbrev DecidableRel {α : Sort u} {β : Sort v} (r : α → β → Prop) := (a : α) → (b : β) → Decidable (r a b)

def ite {α : Sort u} (c : Prop) [h : Decidable c] (t e : α) : α :=
  @Decidable.rec c (fun _ => α) (fun _ => e) (fun _ => t) h

def dite {α : Sort u} (c : Prop) [h : Decidable c] (t : c → α) (e : ¬c → α) : α :=
  @Decidable.rec c (fun _ => α) (fun hn => e hn) (fun hc => t hc) h

def Decidable.byCases {p : Prop} {q : Sort u} [dec : Decidable p] (h1 : p → q) (h2 : ¬p → q) : q :=
  match dec with
  | isTrue h => h1 h
  | isFalse h => h2 h

theorem Decidable.em (p : Prop) [inst : Decidable p] : p ∨ ¬p :=
  Decidable.byCases Or.inl Or.inr

theorem Decidable.byContradiction {p : Prop} [dec : Decidable p] (h : ¬p → False) : p :=
  Decidable.byCases id (fun np => False.elim (h np))

theorem Decidable.of_not_not {p : Prop} [inst : Decidable p] (h : ¬¬p) : p :=
  Decidable.byContradiction (fun hn => h hn)

/-! `if` with a condition that is known -/

theorem if_pos {c : Prop} {h : Decidable c} (hc : c) {α : Sort u} {t e : α} : ite c t e = t :=
  match h with
  | isTrue _ => rfl
  | isFalse hnc => absurd hc hnc

theorem if_neg {c : Prop} {h : Decidable c} (hnc : ¬c) {α : Sort u} {t e : α} : ite c t e = e :=
  match h with
  | isTrue hc => absurd hc hnc
  | isFalse _ => rfl

theorem dif_pos {c : Prop} {h : Decidable c} (hc : c) {α : Sort u} {t : c → α} {e : ¬c → α} : dite c t e = t hc :=
  match h with
  | isTrue _ => rfl
  | isFalse hnc => absurd hc hnc

theorem dif_neg {c : Prop} {h : Decidable c} (hnc : ¬c) {α : Sort u} {t : c → α} {e : ¬c → α} : dite c t e = e hnc :=
  match h with
  | isTrue hc => absurd hc hnc
  | isFalse _ => rfl

@[simp] theorem if_true {α : Sort u} {inst : Decidable True} (t e : α) : ite True t e = t := if_pos trivial

@[simp] theorem if_false {α : Sort u} {inst : Decidable False} (t e : α) : ite False t e = e := if_neg id

@[simp] theorem ite_self {α : Sort u} {c : Prop} {d : Decidable c} (a : α) : ite c a a = a :=
  match d with
  | isTrue _ => rfl
  | isFalse _ => rfl

theorem ite_cond_eq_true {α : Sort u} {c : Prop} {inst : Decidable c} (a b : α) (h : c = True) :
    (if c then a else b) = a :=
  if_pos (of_eq_true h)

theorem ite_cond_eq_false {α : Sort u} {c : Prop} {inst : Decidable c} (a b : α) (h : c = False) :
    (if c then a else b) = b :=
  if_neg (of_eq_false h)

theorem dite_cond_eq_true {α : Sort u} {c : Prop} {inst : Decidable c} {t : c → α} {e : ¬c → α} (h : c = True) :
    dite c t e = t (of_eq_true h) :=
  dif_pos (of_eq_true h)

theorem dite_cond_eq_false {α : Sort u} {c : Prop} {inst : Decidable c} {t : c → α} {e : ¬c → α} (h : c = False) :
    dite c t e = e (of_eq_false h) :=
  dif_neg (of_eq_false h)

theorem ite_congr {α : Sort u} {b c : Prop} {x y u v : α} {s : Decidable b} [inst : Decidable c] (h₁ : b = c)
    (h₂ : c → x = u) (h₃ : ¬c → y = v) : ite b x y = ite c u v := by
  cases Decidable.em c with
  | inl h =>
    rw [if_pos h]
    subst h₁
    rw [if_pos h]
    exact h₂ h
  | inr h =>
    rw [if_neg h]
    subst h₁
    rw [if_neg h]
    exact h₃ h

@[simp] theorem dite_eq_ite {α : Sort u} {P : Prop} {a b : α} [inst : Decidable P] :
    (dite P (fun _ => a) (fun _ => b)) = ite P a b :=
  match inst with
  | isTrue _ => rfl
  | isFalse _ => rfl

theorem apply_ite {α : Sort u} {β : Sort v} (f : α → β) (P : Prop) [inst : Decidable P] (x y : α) :
    f (ite P x y) = ite P (f x) (f y) := by
  cases Decidable.em P with
  | inl h => rw [if_pos h, if_pos h]
  | inr h => rw [if_neg h, if_neg h]

@[simp] theorem ite_not {α : Sort u} (P : Prop) [inst : Decidable P] (x y : α) : ite (¬P) x y = ite P y x := by
  cases Decidable.em P with
  | inl h => rw [if_pos h, if_neg (not_not_intro h)]
  | inr h => rw [if_neg h, if_pos h]

@[simp] theorem ite_eq_left_iff {α : Sort u} {P : Prop} {a b : α} [inst : Decidable P] :
    ite P a b = a ↔ (¬P → b = a) := by
  cases Decidable.em P with
  | inl h =>
    rw [if_pos h]
    exact Iff.intro (fun _ hn => absurd h hn) (fun _ => rfl)
  | inr h =>
    rw [if_neg h]
    exact Iff.intro (fun e _ => e) (fun e => e h)

@[simp] theorem ite_eq_right_iff {α : Sort u} {P : Prop} {a b : α} [inst : Decidable P] :
    ite P a b = b ↔ (P → a = b) := by
  cases Decidable.em P with
  | inl h =>
    rw [if_pos h]
    exact Iff.intro (fun e _ => e) (fun e => e h)
  | inr h =>
    rw [if_neg h]
    exact Iff.intro (fun _ hp => absurd hp h) (fun _ => rfl)

/-! `decide` -/

theorem decide_eq_true {p : Prop} [inst : Decidable p] (h : p) : decide p = true :=
  match inst with
  | isTrue _ => rfl
  | isFalse hn => absurd h hn

theorem decide_eq_false {p : Prop} [inst : Decidable p] (h : ¬p) : decide p = false :=
  match inst with
  | isTrue hp => absurd hp h
  | isFalse _ => rfl

theorem decide_eq_true_iff {p : Prop} [inst : Decidable p] : decide p = true ↔ p :=
  Iff.intro of_decide_eq_true decide_eq_true

@[simp] theorem decide_eq_true_eq {p : Prop} [inst : Decidable p] : (decide p = true) = p :=
  propext decide_eq_true_iff

@[simp] theorem decide_eq_false_iff_not {p : Prop} {inst : Decidable p} : decide p = false ↔ ¬p :=
  Iff.intro of_decide_eq_false decide_eq_false
