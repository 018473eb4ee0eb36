/-
Decision procedures as terms: what `decide` evaluates in the kernel. Comparisons of numbers go through
`Nat.beq` and `Nat.ble`, which the kernel computes on literals directly.
-/

def Decidable.decide (p : Prop) [h : Decidable p] : Bool :=
  @Decidable.rec p (fun _ => Bool) (fun _ => Bool.false) (fun _ => Bool.true) h

theorem of_decide_eq_true {p : Prop} [inst : Decidable p] (h : @Decidable.decide p inst = Bool.true) : p :=
  @Decidable.rec p (fun d => @Decidable.decide p d = Bool.true → p)
    (fun _ e => False.elim (Bool.false_ne_true e)) (fun hp _ => hp) inst h

theorem of_decide_eq_false {p : Prop} [inst : Decidable p] (h : @Decidable.decide p inst = Bool.false) : ¬p :=
  @Decidable.rec p (fun d => @Decidable.decide p d = Bool.false → ¬p)
    (fun hn _ => hn) (fun _ e => False.elim (Bool.true_ne_false e)) inst h

def instDecidableTrue : Decidable True := Decidable.isTrue trivial

def instDecidableFalse : Decidable False := Decidable.isFalse not_false

def instDecidableNot {p : Prop} [dp : Decidable p] : Decidable (¬p) :=
  @Decidable.rec p (fun _ => Decidable (¬p))
    (fun hn => Decidable.isTrue hn)
    (fun hp => Decidable.isFalse (not_not_intro hp)) dp

def instDecidableAnd {p q : Prop} [dp : Decidable p] [dq : Decidable q] : Decidable (p ∧ q) :=
  @Decidable.rec p (fun _ => Decidable (p ∧ q))
    (fun hn => Decidable.isFalse (not_and_of_not_left q hn))
    (fun hp => @Decidable.rec q (fun _ => Decidable (p ∧ q))
      (fun hn => Decidable.isFalse (not_and_of_not_right p hn))
      (fun hq => Decidable.isTrue (And.intro hp hq)) dq) dp

def instDecidableOr {p q : Prop} [dp : Decidable p] [dq : Decidable q] : Decidable (p ∨ q) :=
  @Decidable.rec p (fun _ => Decidable (p ∨ q))
    (fun hn => @Decidable.rec q (fun _ => Decidable (p ∨ q))
      (fun hm => Decidable.isFalse (not_or_intro hn hm))
      (fun hq => Decidable.isTrue (Or.inr hq)) dq)
    (fun hp => Decidable.isTrue (Or.inl hp)) dp

def instDecidableForall {p q : Prop} [dp : Decidable p] [dq : Decidable q] : Decidable (p → q) :=
  @Decidable.rec p (fun _ => Decidable (p → q))
    (fun hn => Decidable.isTrue (fun hp => absurd hp hn))
    (fun hp => @Decidable.rec q (fun _ => Decidable (p → q))
      (fun hm => Decidable.isFalse (fun h => hm (h hp)))
      (fun hq => Decidable.isTrue (fun _ => hq)) dq) dp

def instDecidableIff {p q : Prop} [dp : Decidable p] [dq : Decidable q] : Decidable (p ↔ q) :=
  @Decidable.rec p (fun _ => Decidable (p ↔ q))
    (fun hn => @Decidable.rec q (fun _ => Decidable (p ↔ q))
      (fun hm => Decidable.isTrue (iff_of_false hn hm))
      (fun hq => Decidable.isFalse (fun h => hn (Iff.mpr h hq))) dq)
    (fun hp => @Decidable.rec q (fun _ => Decidable (p ↔ q))
      (fun hm => Decidable.isFalse (fun h => hm (Iff.mp h hp)))
      (fun hq => Decidable.isTrue (iff_of_true hp hq)) dq) dp

def instDecidableEqBool (a b : Bool) : Decidable (a = b) :=
  @Bool.rec (fun x => Decidable (x = b))
    (@Bool.rec (fun y => Decidable (Bool.false = y)) (Decidable.isTrue rfl) (Decidable.isFalse Bool.false_ne_true) b)
    (@Bool.rec (fun y => Decidable (Bool.true = y)) (Decidable.isFalse Bool.true_ne_false) (Decidable.isTrue rfl) b)
    a

/-! Numbers -/

protected theorem Nat.beq_refl (n : Nat) : Nat.beq n n = Bool.true := by
  induction n with
  | zero => rfl
  | succ n ih => exact ih

theorem Nat.eq_of_beq_eq_true {n m : Nat} (h : Nat.beq n m = Bool.true) : n = m := by
  have key : ∀ a b, Nat.beq a b = Bool.true → a = b := by
    intro a
    induction a with
    | zero =>
      intro b hb
      cases b with
      | zero => rfl
      | succ b => exact False.elim (Bool.false_ne_true hb)
    | succ a ih =>
      intro b hb
      cases b with
      | zero => exact False.elim (Bool.false_ne_true hb)
      | succ b => exact congrArg Nat.succ (ih b hb)
  exact key n m h

theorem Nat.ne_of_beq_eq_false {n m : Nat} (h : Nat.beq n m = Bool.false) : ¬n = m := by
  intro e
  rw [e] at h
  exact Bool.true_ne_false (Eq.trans (Nat.beq_refl m).symm h)

theorem Nat.le_of_ble_eq_true {n m : Nat} (h : Nat.ble n m = Bool.true) : n ≤ m := by
  have key : ∀ a b, Nat.ble a b = Bool.true → a ≤ b := by
    intro a
    induction a with
    | zero =>
      intro b hb
      exact Nat.zero_le b
    | succ a ih =>
      intro b hb
      cases b with
      | zero => exact False.elim (Bool.false_ne_true hb)
      | succ b => exact Nat.succ_le_succ (ih b hb)
  exact key n m h

theorem Nat.ble_eq_true_of_le {n m : Nat} (h : n ≤ m) : Nat.ble n m = Bool.true := by
  have key : ∀ a b, a ≤ b → Nat.ble a b = Bool.true := by
    intro a
    induction a with
    | zero =>
      intro b hb
      rfl
    | succ a ih =>
      intro b hb
      cases b with
      | zero => exact False.elim (Nat.not_succ_le_zero a hb)
      | succ b => exact ih b (Nat.le_of_succ_le_succ hb)
  exact key n m h

theorem Nat.not_le_of_not_ble_eq_true {n m : Nat} (h : ¬Nat.ble n m = Bool.true) : ¬n ≤ m := by
  intro hle
  exact h (Nat.ble_eq_true_of_le hle)

def Nat.decEq (n m : Nat) : Decidable (n = m) :=
  @Bool.rec (fun b => Nat.beq n m = b → Decidable (n = m))
    (fun h => Decidable.isFalse (Nat.ne_of_beq_eq_false h))
    (fun h => Decidable.isTrue (Nat.eq_of_beq_eq_true h))
    (Nat.beq n m) rfl

def Nat.decLe (n m : Nat) : Decidable (n ≤ m) :=
  @Bool.rec (fun b => Nat.ble n m = b → Decidable (n ≤ m))
    (fun h => Decidable.isFalse (Nat.not_le_of_not_ble_eq_true (ne_true_of_eq_false h)))
    (fun h => Decidable.isTrue (Nat.le_of_ble_eq_true h))
    (Nat.ble n m) rfl

def Nat.decLt (n m : Nat) : Decidable (n < m) := Nat.decLe (n + 1) m
