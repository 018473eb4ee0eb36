/-
More that `decide` evaluates: quantifiers with a bound, equality of lists, membership and quantifiers over a list.
-/
universe u

/-! Numbers below a bound -/

def Nat.decidableBallLT (n : Nat) (P : ∀ k, k < n → Prop) [H : ∀ n h, Decidable (P n h)] :
    Decidable (∀ n h, P n h) :=
  @Nat.rec (fun n => ∀ P : (∀ k, k < n → Prop), (∀ k h, Decidable (P k h)) → Decidable (∀ k h, P k h))
    (fun _ _ => Decidable.isTrue (fun k h => absurd h (Nat.not_lt_zero k)))
    (fun n ih P H =>
      @Decidable.rec (∀ k h, P k (Nat.lt_succ_of_lt h)) (fun _ => Decidable (∀ k h, P k h))
        (fun hn => Decidable.isFalse (fun h => hn (fun k hk => h k (Nat.lt_succ_of_lt hk))))
        (fun hall => @Decidable.rec (P n (Nat.lt_succ_self n)) (fun _ => Decidable (∀ k h, P k h))
          (fun hn => Decidable.isFalse (fun h => hn (h n (Nat.lt_succ_self n))))
          (fun hp => Decidable.isTrue (fun k hk => by
            cases Nat.lt_succ_iff_lt_or_eq.mp hk with
            | inl h1 => exact hall k h1
            | inr h2 =>
              subst h2
              exact hp))
          (H n (Nat.lt_succ_self n)))
        (ih (fun k h => P k (Nat.lt_succ_of_lt h)) (fun k h => H k (Nat.lt_succ_of_lt h))))
    n P H

def Nat.decidableBallLE (n : Nat) (P : ∀ k, k ≤ n → Prop) [H : ∀ n h, Decidable (P n h)] :
    Decidable (∀ n h, P n h) :=
  @Decidable.rec (∀ k h, P k (Nat.le_of_lt_succ h)) (fun _ => Decidable (∀ k h, P k h))
    (fun hn => Decidable.isFalse (fun h => hn (fun k hk => h k (Nat.le_of_lt_succ hk))))
    (fun hall => Decidable.isTrue (fun k hk => hall k (Nat.lt_succ_of_le hk)))
    (@Nat.decidableBallLT (n + 1) (fun k h => P k (Nat.le_of_lt_succ h)) (fun k h => H k (Nat.le_of_lt_succ h)))

def Nat.decidableExistsLT {p : Nat → Prop} [h : DecidablePred p] : DecidablePred fun n => ∃ m, m < n ∧ p m :=
  fun n => @Nat.rec (fun n => Decidable (∃ m, m < n ∧ p m))
    (Decidable.isFalse (fun h => by
      cases h with
      | intro m hm => exact Nat.not_lt_zero m hm.1))
    (fun n ih => @Decidable.rec (∃ m, m < n ∧ p m) (fun _ => Decidable (∃ m, m < n + 1 ∧ p m))
      (fun hn => @Decidable.rec (p n) (fun _ => Decidable (∃ m, m < n + 1 ∧ p m))
        (fun hp => Decidable.isFalse (fun h => by
          cases h with
          | intro m hm =>
            cases Nat.lt_succ_iff_lt_or_eq.mp hm.1 with
            | inl h1 => exact hn ⟨m, h1, hm.2⟩
            | inr h2 =>
              subst h2
              exact hp hm.2))
        (fun hp => Decidable.isTrue ⟨n, Nat.lt_succ_self n, hp⟩) (h n))
      (fun hex => Decidable.isTrue (by
        cases hex with
        | intro m hm => exact ⟨m, Nat.lt_succ_of_lt hm.1, hm.2⟩)) ih)
    n

def Nat.decidableExistsLE {p : Nat → Prop} [h : DecidablePred p] : DecidablePred fun n => ∃ m, m ≤ n ∧ p m :=
  fun n => @Decidable.rec (∃ m, m < n + 1 ∧ p m) (fun _ => Decidable (∃ m, m ≤ n ∧ p m))
    (fun hn => Decidable.isFalse (fun h => by
      cases h with
      | intro m hm => exact hn ⟨m, Nat.lt_succ_of_le hm.1, hm.2⟩))
    (fun hex => Decidable.isTrue (by
      cases hex with
      | intro m hm => exact ⟨m, Nat.le_of_lt_succ hm.1, hm.2⟩))
    (@Nat.decidableExistsLT p h (n + 1))

/-! Lists -/

def List.hasDecEq {α : Type u} [inst : DecidableEq α] : (a b : List α) → Decidable (a = b)
  | [], [] => isTrue rfl
  | [], _ :: _ => isFalse (fun h => by injection h)
  | _ :: _, [] => isFalse (fun h => by injection h)
  | a :: as, b :: bs =>
    match inst a b with
    | isFalse n => isFalse (fun h => n (List.cons_eq_cons.mp h).1)
    | isTrue h1 =>
      match List.hasDecEq as bs with
      | isFalse n => isFalse (fun h => n (List.cons_eq_cons.mp h).2)
      | isTrue h2 => isTrue (List.cons_eq_cons.mpr ⟨h1, h2⟩)

def instDecidableEqList {α : Type u} [inst : DecidableEq α] : DecidableEq (List α) :=
  fun a b => List.hasDecEq a b

def List.decidableMem {α : Type u} [inst : DecidableEq α] (a : α) : (as : List α) → Decidable (a ∈ as)
  | [] => isFalse List.not_mem_nil
  | b :: as =>
    match inst a b with
    | isTrue h => isTrue (List.mem_cons.mpr (Or.inl h))
    | isFalse n =>
      match List.decidableMem a as with
      | isTrue h => isTrue (List.mem_cons_of_mem b h)
      | isFalse m => isFalse (List.not_mem_cons_of_ne_of_not_mem n m)

def List.decidableBAll {α : Type u} (p : α → Prop) [inst : DecidablePred p] :
    (l : List α) → Decidable (∀ x, x ∈ l → p x)
  | [] => isTrue (List.forall_mem_nil p)
  | a :: l =>
    match inst a with
    | isFalse n => isFalse (fun h => n (List.forall_mem_cons.mp h).1)
    | isTrue h1 =>
      match List.decidableBAll p l with
      | isFalse n => isFalse (fun h => n (List.forall_mem_cons.mp h).2)
      | isTrue h2 => isTrue (List.forall_mem_cons.mpr ⟨h1, h2⟩)

def List.decidableBEx {α : Type u} (p : α → Prop) [inst : DecidablePred p] :
    (l : List α) → Decidable (∃ x, x ∈ l ∧ p x)
  | [] => isFalse (fun h => by
    cases h with
    | intro x hx => exact List.not_mem_nil hx.1)
  | a :: l =>
    match inst a with
    | isTrue h => isTrue ⟨a, List.mem_cons_self, h⟩
    | isFalse n =>
      match List.decidableBEx p l with
      | isTrue h => isTrue (by
        cases h with
        | intro x hx => exact ⟨x, List.mem_cons_of_mem a hx.1, hx.2⟩)
      | isFalse m => isFalse (fun h => by
        cases h with
        | intro x hx =>
          cases List.mem_cons.mp hx.1 with
          | inl h1 =>
            apply n
            rw [← h1]
            exact hx.2
          | inr h2 => exact m ⟨x, h2, hx.2⟩)

/-! Both Booleans -/

def Bool.instDecidableForallOfDecidablePred (p : Bool → Prop) [inst : DecidablePred p] : Decidable (∀ x, p x) :=
  match inst true, inst false with
  | isFalse ht, _ => isFalse (fun h => ht (h true))
  | _, isFalse hf => isFalse (fun h => hf (h false))
  | isTrue ht, isTrue hf => isTrue (Bool.forall_bool.mpr ⟨hf, ht⟩)

def Bool.instDecidableExistsOfDecidablePred (p : Bool → Prop) [inst : DecidablePred p] : Decidable (∃ x, p x) :=
  match inst true, inst false with
  | isTrue ht, _ => isTrue ⟨true, ht⟩
  | _, isTrue hf => isTrue ⟨false, hf⟩
  | isFalse ht, isFalse hf => isFalse (fun h => (Bool.exists_bool.mp h).elim hf ht)
