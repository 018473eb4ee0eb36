/-
The 42 levels of the Natural Number Game's worlds Tutorial, Addition, Multiplication, Implication and Algorithm, read over
Lean's own `Nat`, with the game's proofs adapted to Lean 4 core.

The levels and their proofs are from NNG4 (https://github.com/leanprover-community/NNG4, Apache License 2.0), by its
authors. What was changed and why is in nanolean/docs/number_game.md; the statements are numbered as the levels are.
-/

namespace NumberGame

/-! What the game unlocks and core does not have under this form -/

theorem one_eq_succ_zero : 1 = Nat.succ 0 := rfl

theorem two_eq_succ_one : 2 = Nat.succ 1 := rfl

theorem three_eq_succ_two : 3 = Nat.succ 2 := rfl

theorem four_eq_succ_three : 4 = Nat.succ 3 := rfl

theorem zero_ne_succ (n : Nat) : 0 ≠ Nat.succ n := (Nat.succ_ne_zero n).symm

def isZero (n : Nat) : Prop :=
  match n with
  | 0 => True
  | _ + 1 => False

theorem isZero_zero : isZero 0 = True := rfl

theorem isZero_succ (n : Nat) : isZero (Nat.succ n) = False := rfl

/-! Tutorial -/

theorem tutorial_1 (x q : Nat) : 37 * x + q = 37 * x + q := by
  rfl

theorem tutorial_2 (x y : Nat) (h : y = x + 7) : 2 * y = 2 * (x + 7) := by
  rewrite [h]
  rfl

theorem tutorial_3 : 2 = Nat.succ (Nat.succ 0) := by
  rewrite [two_eq_succ_one]
  rewrite [one_eq_succ_zero]
  rfl

theorem tutorial_4 : 2 = Nat.succ (Nat.succ 0) := by
  rewrite [← one_eq_succ_zero]
  rewrite [← two_eq_succ_one]
  rfl

theorem tutorial_5 (a b c : Nat) : a + (b + 0) + (c + 0) = a + b + c := by
  rewrite [Nat.add_zero]
  rewrite [Nat.add_zero]
  rfl

theorem tutorial_6 (a b c : Nat) : a + (b + 0) + (c + 0) = a + b + c := by
  rewrite [Nat.add_zero c]
  rewrite [Nat.add_zero]
  rfl

theorem tutorial_7 (n : Nat) : Nat.succ n = n + 1 := by
  rewrite [one_eq_succ_zero]
  rewrite [Nat.add_succ]
  rewrite [Nat.add_zero]
  rfl

theorem tutorial_8 : (2 : Nat) + 2 = 4 := by
  rewrite (occs := .pos [2]) [two_eq_succ_one]
  rewrite [Nat.add_succ]
  rewrite [one_eq_succ_zero]
  rewrite [Nat.add_succ]
  rewrite [Nat.add_zero]
  rewrite [four_eq_succ_three]
  rewrite [three_eq_succ_two]
  rfl

/-! Addition -/

theorem addition_1 (n : Nat) : 0 + n = n := by
  induction n with
  | zero =>
    rewrite [Nat.add_zero]
    rfl
  | succ d hd =>
    rewrite [Nat.add_succ]
    rewrite [hd]
    rfl

theorem addition_2 (a b : Nat) : Nat.succ a + b = Nat.succ (a + b) := by
  induction b with
  | zero =>
    rewrite [Nat.add_zero]
    rewrite [Nat.add_zero]
    rfl
  | succ d hd =>
    rewrite [Nat.add_succ, Nat.add_succ, hd]
    rfl

theorem addition_3 (a b : Nat) : a + b = b + a := by
  induction b with
  | zero =>
    rewrite [Nat.add_zero, Nat.zero_add]
    rfl
  | succ d hd =>
    rewrite [Nat.add_succ, Nat.succ_add, hd]
    rfl

theorem addition_4 (a b c : Nat) : a + b + c = a + (b + c) := by
  induction c with
  | zero =>
    rewrite [Nat.add_zero, Nat.add_zero]
    rfl
  | succ d hd =>
    rewrite [Nat.add_succ, Nat.add_succ, hd, Nat.add_succ]
    rfl

theorem addition_5 (a b c : Nat) : a + b + c = a + c + b := by
  rewrite [Nat.add_assoc]
  rewrite [Nat.add_comm b, Nat.add_assoc]
  rfl

/-! Multiplication -/

theorem multiplication_1 (m : Nat) : m * 1 = m := by
  rewrite [one_eq_succ_zero]
  rewrite [Nat.mul_succ]
  rewrite [Nat.mul_zero]
  rewrite [Nat.zero_add]
  rfl

theorem multiplication_2 (m : Nat) : 0 * m = 0 := by
  induction m with
  | zero =>
    rewrite [Nat.mul_zero]
    rfl
  | succ d hd =>
    rewrite [Nat.mul_succ]
    rewrite [hd]
    rewrite [Nat.add_zero]
    rfl

theorem multiplication_3 (a b : Nat) : Nat.succ a * b = a * b + b := by
  induction b with
  | zero =>
    rewrite [Nat.mul_zero]
    rewrite [Nat.mul_zero]
    rewrite [Nat.add_zero]
    rfl
  | succ d hd =>
    rewrite [Nat.mul_succ]
    rewrite [Nat.mul_succ]
    rewrite [hd]
    rewrite [Nat.add_succ]
    rewrite [Nat.add_succ]
    rewrite [Nat.add_right_comm]
    rfl

theorem multiplication_4 (a b : Nat) : a * b = b * a := by
  induction b with
  | zero =>
    rewrite [Nat.zero_mul]
    rewrite [Nat.mul_zero]
    rfl
  | succ d hd =>
    rewrite [Nat.succ_mul]
    rewrite [← hd]
    rewrite [Nat.mul_succ]
    rfl

theorem multiplication_5 (m : Nat) : 1 * m = m := by
  rewrite [Nat.mul_comm, Nat.mul_one]
  rfl

theorem multiplication_6 (m : Nat) : 2 * m = m + m := by
  rewrite [two_eq_succ_one, Nat.succ_mul, Nat.one_mul]
  rfl

theorem multiplication_7 (a b c : Nat) : a * (b + c) = a * b + a * c := by
  induction c with
  | zero =>
    rewrite [Nat.add_zero, Nat.mul_zero, Nat.add_zero]
    rfl
  | succ d hd =>
    rewrite [Nat.add_succ, Nat.mul_succ, hd, Nat.mul_succ, Nat.add_assoc]
    rfl

theorem multiplication_8 (a b c : Nat) : (a + b) * c = a * c + b * c := by
  rewrite [Nat.mul_comm, Nat.mul_add]
  repeat rewrite [Nat.mul_comm c]
  rfl

theorem multiplication_9 (a b c : Nat) : (a * b) * c = a * (b * c) := by
  induction c with
  | zero =>
    rewrite [Nat.mul_zero, Nat.mul_zero, Nat.mul_zero]
    rfl
  | succ d hd =>
    rewrite [Nat.mul_succ]
    rewrite [Nat.mul_succ]
    rewrite [hd]
    rewrite [Nat.mul_add]
    rfl

/-! Implication -/

theorem implication_1 (x y z : Nat) (h1 : x + y = 37) (h2 : 3 * x + z = 42) : x + y = 37 := by
  exact h1

theorem implication_2 (x y : Nat) (h : 0 + x = 0 + y + 2) : x = y + 2 := by
  rewrite [Nat.zero_add] at h
  rewrite [Nat.zero_add] at h
  exact h

theorem implication_3 (x y : Nat) (h1 : x = 37) (h2 : x = 37 → y = 42) : y = 42 := by
  have h1 : y = 42 := h2 h1
  exact h1

theorem implication_4 (x : Nat) (h : x + 1 = 4) : x = 3 := by
  rewrite [four_eq_succ_three] at h
  rewrite [← Nat.succ_eq_add_one] at h
  have h : x = 3 := Nat.succ.inj h
  exact h

theorem implication_5 (x : Nat) (h : x + 1 = 4) : x = 3 := by
  apply Nat.succ.inj
  rewrite [Nat.succ_eq_add_one]
  rewrite [← four_eq_succ_three]
  exact h

theorem implication_6 (x : Nat) : x = 37 → x = 37 := by
  intro h
  exact h

theorem implication_7 (x y : Nat) : x + 1 = y + 1 → x = y := by
  intro h
  repeat rewrite [← Nat.succ_eq_add_one] at h
  have h : x = y := Nat.succ.inj h
  exact h

theorem implication_8 (x y : Nat) (h1 : x = y) (h2 : x ≠ y) : False := by
  have h1 : False := h2 h1
  exact h1

theorem implication_9 : (0 : Nat) ≠ 1 := by
  intro h
  rewrite [one_eq_succ_zero] at h
  have h : False := zero_ne_succ 0 h
  exact h

theorem implication_10 : (1 : Nat) ≠ 0 := by
  symm
  exact implication_9

theorem implication_11 :
    Nat.succ (Nat.succ 0) + Nat.succ (Nat.succ 0) ≠
      Nat.succ (Nat.succ (Nat.succ (Nat.succ (Nat.succ 0)))) := by
  intro h
  rewrite [Nat.add_succ, Nat.add_succ, Nat.add_zero] at h
  repeat have h := Nat.succ.inj h
  have h : False := zero_ne_succ 0 h
  exact h

/-! Algorithm -/

theorem algorithm_1 (a b c : Nat) : a + (b + c) = b + (a + c) := by
  rewrite [← Nat.add_assoc]
  rewrite [Nat.add_comm a b]
  rewrite [Nat.add_assoc]
  rfl

theorem algorithm_2 (a b c d : Nat) : a + b + (c + d) = a + c + d + b := by
  repeat rewrite [Nat.add_assoc]
  rewrite [Nat.add_left_comm b c]
  rewrite [Nat.add_comm b d]
  rfl

theorem algorithm_3 (a b c d e f g h : Nat) :
    (d + f) + (h + (a + c)) + (g + e + b) = a + b + c + d + e + f + g + h := by
  simp only [Nat.add_left_comm, Nat.add_comm]

theorem algorithm_4 (a b c d e f g h : Nat) :
    (d + f) + (h + (a + c)) + (g + e + b) = a + b + c + d + e + f + g + h := by
  simp only [Nat.add_assoc, Nat.add_left_comm, Nat.add_comm]

theorem algorithm_5 (a b : Nat) (h : Nat.succ a = Nat.succ b) : a = b := by
  rewrite [← Nat.pred_succ a]
  rewrite [h]
  rewrite [Nat.pred_succ]
  rfl

theorem algorithm_6 (a : Nat) : Nat.succ a ≠ 0 := by
  intro h
  rewrite [← isZero_succ a]
  rewrite [h]
  rewrite [isZero_zero]
  trivial

theorem algorithm_7 (m n : Nat) (h : m ≠ n) : Nat.succ m ≠ Nat.succ n := by
  intro h1
  apply h
  have h1 : m = n := Nat.succ.inj h1
  exact h1

theorem algorithm_8 : (20 : Nat) + 20 = 40 := by
  decide

theorem algorithm_9 : (2 : Nat) + 2 ≠ 5 := by
  decide

end NumberGame
