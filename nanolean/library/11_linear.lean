/-
What `omega` builds its proofs from. Names that start with `Omega.` are ours, Lean has none of them.

A sum of multiples of `1, x₁, .., xₙ` is coded as one number: its coefficients are the digits in a base `B`. As long as
the sum of the digits is smaller than `B`, sums with equal codes are equal, and the kernel compares codes by computing
with literals. `Omega.Code xs B v c s` says that `v` has the code `c` over `xs`, with digits that add up to `s`.
-/

def Omega.Code (xs : List Nat) (B : Nat) : Nat → Nat → Nat → Prop :=
  @List.rec Nat (fun _ => Nat → Nat → Nat → Prop)
    (fun v c s => (v = 0 ∧ c = 0) ∧ s = 0)
    (fun x _ ih v c s => ∃ a w d t, ((v = a * x + w ∧ c = a + B * d) ∧ s = a + t) ∧ ih w d t) xs

theorem Omega.Code.cons {x : Nat} {xs : List Nat} {B w d t v c s : Nat} (a : Nat) (h : Omega.Code xs B w d t)
    (hv : v = a * x + w) (hc : c = a + B * d) (hs : s = a + t) : Omega.Code (x :: xs) B v c s := by
  exact ⟨a, w, d, t, ⟨⟨hv, hc⟩, hs⟩, h⟩

theorem Omega.zero (B : Nat) (xs : List Nat) : Omega.Code xs B 0 0 0 := by
  induction xs with
  | nil => exact ⟨⟨rfl, rfl⟩, rfl⟩
  | cons x xs ih =>
    apply Omega.Code.cons 0 ih
    · rw [Nat.zero_mul]
    · rw [Nat.mul_zero]
    · rfl

theorem Omega.head (B : Nat) (x : Nat) (xs : List Nat) : Omega.Code (x :: xs) B x 1 1 := by
  apply Omega.Code.cons 1 (Omega.zero B xs)
  · rw [Nat.one_mul, Nat.add_zero]
  · rw [Nat.mul_zero]
  · rfl

theorem Omega.tail {B : Nat} {xs : List Nat} {v c s : Nat} (x : Nat) (h : Omega.Code xs B v c s) :
    Omega.Code (x :: xs) B v (B * c) s := by
  apply Omega.Code.cons 0 h
  · rw [Nat.zero_mul, Nat.zero_add]
  · rw [Nat.zero_add]
  · rw [Nat.zero_add]

theorem Omega.number (B : Nat) (xs : List Nat) (n : Nat) : Omega.Code (1 :: xs) B n n n := by
  apply Omega.Code.cons n (Omega.zero B xs)
  · rw [Nat.mul_one, Nat.add_zero]
  · rw [Nat.mul_zero, Nat.add_zero]
  · rfl

theorem Omega.add_all (B : Nat) (xs : List Nat) : ∀ v w c d s t : Nat,
    Omega.Code xs B v c s → Omega.Code xs B w d t → Omega.Code xs B (v + w) (c + d) (s + t) := by
  induction xs with
  | nil =>
    intro v w c d s t h k
    rw [h.1.1, h.1.2, h.2, k.1.1, k.1.2, k.2]
    exact Omega.zero B []
  | cons x xs ih =>
    intro v w c d s t h k
    obtain ⟨a, v', c', s', e, h⟩ := h
    obtain ⟨b, w', d', t', f, k⟩ := k
    apply Omega.Code.cons (a + b) (ih v' w' c' d' s' t' h k)
    · rw [e.1.1, f.1.1, Nat.add_mul]
      ac_rfl
    · rw [e.1.2, f.1.2, Nat.mul_add]
      ac_rfl
    · rw [e.2, f.2]
      ac_rfl

theorem Omega.add {xs : List Nat} {B v w c d s t : Nat} (h : Omega.Code xs B v c s) (k : Omega.Code xs B w d t) :
    Omega.Code xs B (v + w) (c + d) (s + t) := by
  exact Omega.add_all B xs v w c d s t h k

theorem Omega.succ {xs : List Nat} {B v c s : Nat} (h : Omega.Code (1 :: xs) B v c s) :
    Omega.Code (1 :: xs) B (Nat.succ v) (c + 1) (s + 1) := by
  exact Omega.add h (Omega.number B xs 1)

theorem Omega.scale_all (n : Nat) (B : Nat) (xs : List Nat) : ∀ v c s : Nat,
    Omega.Code xs B v c s → Omega.Code xs B (n * v) (n * c) (n * s) := by
  induction xs with
  | nil =>
    intro v c s h
    rw [h.1.1, h.1.2, h.2, Nat.mul_zero]
    exact Omega.zero B []
  | cons x xs ih =>
    intro v c s h
    obtain ⟨a, v', c', s', e, h⟩ := h
    apply Omega.Code.cons (n * a) (ih v' c' s' h)
    · rw [e.1.1, Nat.mul_add, Nat.mul_assoc]
    · rw [e.1.2, Nat.mul_add]
      rw [Nat.mul_left_comm]
    · rw [e.2, Nat.mul_add]

theorem Omega.mul_left {xs : List Nat} {B v c s : Nat} (n : Nat) (h : Omega.Code xs B v c s) :
    Omega.Code xs B (n * v) (n * c) (n * s) := by
  exact Omega.scale_all n B xs v c s h

theorem Omega.mul_right {xs : List Nat} {B v c s : Nat} (n : Nat) (h : Omega.Code xs B v c s) :
    Omega.Code xs B (v * n) (n * c) (n * s) := by
  rw [Nat.mul_comm]
  exact Omega.scale_all n B xs v c s h

/-! Equal codes, equal values -/

theorem Omega.digit_le {B a b q r : Nat} (ha : a < B) (h : a + B * q = b + B * r) : r ≤ q := by
  apply Nat.le_of_not_lt
  intro hlt
  apply Nat.lt_irrefl (B * r)
  apply Nat.lt_of_le_of_lt (Nat.le_add_left (B * r) b)
  rw [← h]
  apply Nat.lt_of_lt_of_le (Nat.add_lt_add_right ha (B * q))
  have hmul : B * (q + 1) ≤ B * r := by
    exact Nat.mul_le_mul_left B hlt
  rw [Nat.mul_add, Nat.mul_one, Nat.add_comm] at hmul
  exact hmul

theorem Omega.digits {B a b q r : Nat} (ha : a < B) (hb : b < B) (h : a + B * q = b + B * r) : a = b ∧ q = r := by
  have hq : q = r := by
    exact Nat.le_antisymm (Omega.digit_le hb h.symm) (Omega.digit_le ha h)
  rw [hq] at h
  exact ⟨Nat.add_right_cancel h, hq⟩

theorem Omega.unique (B : Nat) (xs : List Nat) : ∀ v w c s t : Nat,
    Omega.Code xs B v c s → Omega.Code xs B w c t → s < B → t < B → v = w := by
  induction xs with
  | nil =>
    intro v w c s t h k hs ht
    rw [h.1.1, k.1.1]
  | cons x xs ih =>
    intro v w c s t h k hs ht
    obtain ⟨a, v', c', s', e, h⟩ := h
    obtain ⟨b, w', d', t', f, k⟩ := k
    rw [e.2] at hs
    rw [f.2] at ht
    have hcode : a + B * c' = b + B * d' := by
      exact e.1.2.symm.trans f.1.2
    have both : a = b ∧ c' = d' := by
      exact Omega.digits (Nat.lt_of_le_of_lt (Nat.le_add_right a s') hs)
        (Nat.lt_of_le_of_lt (Nat.le_add_right b t') ht) hcode
    rw [← both.2] at k
    rw [e.1.1, f.1.1, both.1]
    rw [ih v' w' c' s' t' h k (Nat.lt_of_le_of_lt (Nat.le_add_left s' a) hs)
      (Nat.lt_of_le_of_lt (Nat.le_add_left t' b) ht)]

/-! Inequalities between coded sums: `Omega.Le xs B c d s` -/

def Omega.Le (xs : List Nat) (B c d s : Nat) : Prop :=
  ∃ v w p q, ((Omega.Code xs B v c p ∧ Omega.Code xs B w d q) ∧ s = p + q) ∧ v ≤ w

theorem Omega.of_le {xs : List Nat} {B v c p w d q : Nat} (hv : Omega.Code xs B v c p)
    (hw : Omega.Code xs B w d q) (h : v ≤ w) : Omega.Le xs B c d (p + q) := by
  exact ⟨v, w, p, q, ⟨⟨hv, hw⟩, rfl⟩, h⟩

theorem Omega.of_lt {xs : List Nat} {B v c p w d q : Nat} (hv : Omega.Code (1 :: xs) B v c p)
    (hw : Omega.Code (1 :: xs) B w d q) (h : v < w) : Omega.Le (1 :: xs) B (c + 1) d (p + 1 + q) := by
  exact Omega.of_le (Omega.succ hv) hw h

theorem Omega.of_eq {xs : List Nat} {B v c p w d q : Nat} (hv : Omega.Code xs B v c p)
    (hw : Omega.Code xs B w d q) (h : v = w) : Omega.Le xs B c d (p + q) := by
  exact Omega.of_le hv hw (Nat.le_of_eq h)

theorem Omega.of_eq_symm {xs : List Nat} {B v c p w d q : Nat} (hv : Omega.Code xs B v c p)
    (hw : Omega.Code xs B w d q) (h : v = w) : Omega.Le xs B d c (q + p) := by
  exact Omega.of_le hw hv (Nat.le_of_eq h.symm)

theorem Omega.nonneg {xs : List Nat} {B v c p : Nat} (h : Omega.Code xs B v c p) : Omega.Le xs B 0 c p := by
  exact ⟨0, v, 0, p, ⟨⟨Omega.zero B xs, h⟩, (Nat.zero_add p).symm⟩, Nat.zero_le v⟩

theorem Omega.le_add {xs : List Nat} {B c d s c' d' s' : Nat} (h : Omega.Le xs B c d s)
    (k : Omega.Le xs B c' d' s') : Omega.Le xs B (c + c') (d + d') (s + s') := by
  obtain ⟨v, w, p, q, e, h⟩ := h
  obtain ⟨v', w', p', q', f, k⟩ := k
  refine ⟨v + v', w + w', p + p', q + q', ⟨⟨Omega.add e.1.1 f.1.1, Omega.add e.1.2 f.1.2⟩, ?_⟩, Nat.add_le_add h k⟩
  rw [e.2, f.2]
  ac_rfl

theorem Omega.le_mul {xs : List Nat} {B c d s : Nat} (n : Nat) (h : Omega.Le xs B c d s) :
    Omega.Le xs B (n * c) (n * d) (n * s) := by
  obtain ⟨v, w, p, q, e, h⟩ := h
  refine ⟨n * v, n * w, n * p, n * q, ⟨⟨Omega.mul_left n e.1.1, Omega.mul_left n e.1.2⟩, ?_⟩, Nat.mul_le_mul_left n h⟩
  rw [e.2, Nat.mul_add]

theorem Omega.contradict {xs : List Nat} {B c d s : Nat} (m : Nat) (h : Omega.Le (1 :: xs) B c d s)
    (code : Nat.beq c (d + (m + 1)) = true) (bound : Nat.ble (s + (m + 2)) B = true) : False := by
  obtain ⟨v, w, p, q, e, h⟩ := h
  have hs : p + (q + (m + 1)) < B := by
    have hle : s + (m + 2) ≤ B := by
      exact Nat.le_of_ble_eq_true bound
    rw [e.2, Nat.add_assoc] at hle
    exact hle
  have hv : v = w + (m + 1) := by
    apply Omega.unique B (1 :: xs) v (w + (m + 1)) c p (q + (m + 1)) e.1.1
    · rw [Nat.eq_of_beq_eq_true code]
      exact Omega.add e.1.2 (Omega.number B xs (m + 1))
    · exact Nat.lt_of_le_of_lt (Nat.le_add_right p (q + (m + 1))) hs
    · exact Nat.lt_of_le_of_lt (Nat.le_add_left (q + (m + 1)) p) hs
  rw [hv] at h
  exact Nat.not_succ_le_self (w + m) (Nat.le_trans h (Nat.le_add_right w m))

/-- A consequence after division by `n` and rounding: if `l ≤ r` fails, `n` times its failure contradicts `h`. -/
theorem Omega.derive {xs : List Nat} {B c d s l c' p r d' q : Nat} (n m : Nat) (h : Omega.Le (1 :: xs) B c d s)
    (hl : Omega.Code (1 :: xs) B l c' p) (hr : Omega.Code (1 :: xs) B r d' q)
    (code : Nat.beq (c + n * (d' + 1)) (d + n * c' + (m + 1)) = true)
    (bound : Nat.ble (s + n * (q + 1 + p) + (m + 2)) B = true) : l ≤ r := by
  apply Nat.le_of_not_lt
  intro hlt
  exact Omega.contradict m (Omega.le_add h (Omega.le_mul n (Omega.of_lt hr hl hlt))) code bound

/-! Facts about operations -/

theorem Omega.sub_le_add (a b : Nat) : a ≤ a - b + b := by
  cases Nat.le_total b a with
  | inl h =>
    rw [Nat.sub_add_cancel h]
  | inr h => exact Nat.le_trans h (Nat.le_add_left b (a - b))

theorem Omega.sub_cases (a b : Nat) : a - b + b ≤ a ∨ a - b ≤ 0 := by
  cases Nat.le_total b a with
  | inl h =>
    left
    rw [Nat.sub_add_cancel h]
  | inr h =>
    right
    rw [Nat.sub_eq_zero_of_le h]

theorem Omega.quotient {n m k k' : Nat} (hm : Nat.ble 1 m = true) (h : n + m * k ≤ m * k') (h' : m * k' ≤ n + m * k) :
    m * (n / m) = n := by
  have hpos : 0 < m := by
    exact Nat.le_of_ble_eq_true hm
  have e : n + m * k = m * k' := by
    exact Nat.le_antisymm h h'
  have hdvd : m ∣ m * k + n := by
    exists k'
    rw [Nat.add_comm]
    exact e
  have hmod : n % m = 0 := by
    exact Nat.mod_eq_zero_of_dvd ((Nat.dvd_add_right (Nat.dvd_mul_right m k)).1 hdvd)
  have hdiv : m * (n / m) + n % m = n := by
    exact Nat.div_add_mod n m
  rw [hmod] at hdiv
  exact hdiv

theorem Omega.cases_of_ne {a b : Nat} (h : ¬a = b) : a < b ∨ b < a := by
  cases Nat.lt_trichotomy a b with
  | inl hl => exact Or.inl hl
  | inr hr =>
    cases hr with
    | inl he => exact absurd he h
    | inr hg => exact Or.inr hg

theorem Omega.ite_cases {p : Prop} [inst : Decidable p] (a b : Nat) :
    (p ∧ ite p a b = a) ∨ (¬p ∧ ite p a b = b) := by
  cases Decidable.em p with
  | inl h => exact Or.inl ⟨h, if_pos h⟩
  | inr h => exact Or.inr ⟨h, if_neg h⟩

theorem Omega.mod_lt (n : Nat) {m : Nat} (hm : Nat.ble 1 m = true) : n % m < m := by
  exact Nat.mod_lt n (Nat.le_of_ble_eq_true hm)

theorem Omega.mod_pos_of_not_dvd {m n : Nat} (h : ¬m ∣ n) : 0 < n % m := by
  cases Nat.eq_zero_or_pos (n % m) with
  | inl hz => exact False.elim (h (Nat.dvd_of_mod_eq_zero hz))
  | inr hp => exact hp

/-! Taking propositions apart -/

theorem Omega.not_and {p q : Prop} (h : ¬(p ∧ q)) : ¬p ∨ ¬q := by
  exact Classical.not_and_iff_not_or_not.1 h

theorem Omega.or_of_imp {p q : Prop} (h : p → q) : ¬p ∨ q := by
  cases Classical.em p with
  | inl hp => exact Or.inr (h hp)
  | inr hn => exact Or.inl hn

theorem Omega.and_not_of_not_imp {p q : Prop} (h : ¬(p → q)) : p ∧ ¬q := by
  exact Classical.not_imp.1 h

theorem Omega.cases_of_iff {p q : Prop} (h : p ↔ q) : (p ∧ q) ∨ (¬p ∧ ¬q) := by
  cases Classical.em p with
  | inl hp => exact Or.inl ⟨hp, h.1 hp⟩
  | inr hn => exact Or.inr ⟨hn, fun hq => hn (h.2 hq)⟩

theorem Omega.cases_of_not_iff {p q : Prop} (h : ¬(p ↔ q)) : (p ∧ ¬q) ∨ (¬p ∧ q) := by
  cases Classical.em p with
  | inl hp => exact Or.inl ⟨hp, fun hq => h ⟨fun _ => hq, fun _ => hp⟩⟩
  | inr hn =>
    right
    refine ⟨hn, ?_⟩
    apply Classical.byContradiction
    intro hq
    exact h ⟨fun hp => absurd hp hn, fun hp => absurd hp hq⟩
