---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : R y x) : Either (∀ z : A, R x z → Same x y) (Either (Same N.z n) (Same N.z n)) := by
  clear h
  cases n with
  | z => skip
  | s q => skip
  · assumption
/-
4:6 error: unsolved goals
case z
x y : A
m : N
l : L N
p : Pt
k : R y x
⊢ Either (∀ (z : A), R x z → Same x y) (Either (Same N.z N.z) (Same N.z N.z))
5:8 error: unsolved goals
case s
x y : A
m : N
l : L N
p : Pt
k : R y x
q : N
⊢ Either (∀ (z : A), R x z → Same x y) (Either (Same N.z q.s) (Same N.z q.s))
6:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : (R y x) → Either (Same N.z n) (Q)) : Some fun z : A => Both (R x z) (R y x) := by
  induction n
  refine Some.intro x ?_
  clear h
  revert x y
  apply Some.intro
/-
6:2 error: Tactic `apply` failed: could not unify the conclusion of `@Some.intro`
  ∀ {p : ?α → Prop} (w : ?α), p w → Some p
with the goal
  ∀ (x y : A), (R y x → Either (Same N.z N.z) Q) → Both (R x x) (R y x)

Note: The full type of `@Some.intro` is
  ∀ {α : Sort ?u._} {p : α → Prop} (w : α), p w → Some p

case z
m : N
l : L N
p : Pt
⊢ ∀ (x y : A), (R y x → Either (Same N.z N.z) Q) → Both (R x x) (R y x)
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Eq n m) : Q := by
  subst h
  revert n
  cases h
/-
4:8 error: Unknown identifier `h`
4:2 error: Tactic `cases` failed: major premise type is not an inductive type
  ?m._

Explanation: the `cases` tactic is for constructor-based reasoning as well as for applying custom cases principles with a 'using' clause or a registered '@[cases_eliminator]' theorem. The above type neither is an inductive type nor has a registered theorem.

x : A
m : N
l : L N
p : Pt
x✝ : ?m._
⊢ ∀ (n : N), n = m → Q
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Eq x y) : Both (Either (False) (Same x y)) (∀ z : A, R x z → R x y) := by
  clear h
/-
1:136 error: unsolved goals
x y : A
n m : N
l : L N
p : Pt
k : x = y
⊢ Both (Either False (Same x y)) (∀ (z : A), R x z → R x y)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Eq x y) : Q := by
  induction n with
  | z => skip
  | s q ih => skip
  subst h
/-
3:6 error: unsolved goals
case z
x y : A
m : N
l : L N
p : Pt
k : x = y
h : N.z = m
⊢ Q
4:11 error: unsolved goals
case s
x y : A
m : N
l : L N
p : Pt
k : x = y
q : N
ih : q = m → Q
h : q.s = m
⊢ Q
5:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Same n m) (k : Eq n m) : Same n m := by
  induction l with
  | nil => skip
  | cons b t ih => skip
  cases h with
  | inl a => skip
  | inr b => skip
/-
3:8 error: unsolved goals
case nil
x y : A
n m : N
p : Pt
h : Same n m
k : n = m
⊢ Same n m
4:16 error: unsolved goals
case cons
x y : A
n m : N
p : Pt
h : Same n m
k : n = m
b : N
t : L N
ih : Same n m
⊢ Same n m
5:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Eq n m) : Either (∀ z : A, R x z → Same N.z n) (Same n m) := by
  cases l
/-
1:130 error: unsolved goals
case nil
x y : A
n m : N
p : Pt
h : f x = y
k : n = m
⊢ Either (∀ (z : A), R x z → Same N.z n) (Same n m)

case cons
x y : A
n m : N
p : Pt
h : f x = y
k : n = m
head✝ : N
tail✝ : L N
⊢ Either (∀ (z : A), R x z → Same N.z n) (Same n m)
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Eq (f x) y) : Both (∀ z : A, R x z → R y x) (Some fun z : A => Both (R x z) (Same N.z n)) := by
  induction l
  cases n
  refine Some.intro x ?_
/-
4:2 error: Type mismatch
  Some.intro x ?m._
has type
  Some ?m._
but is expected to have type
  Both (∀ (z : A), R x z → R y x) (Some fun z => Both (R x z) (Same N.z N.z))
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : False) : Q := by
  induction n with
  | z => skip
  | s q ih => skip
  apply Both.mk
/-
3:6 error: unsolved goals
case z
x y : A
m : N
l : L N
p : Pt
k : False
h : N.z = m
⊢ Q
4:11 error: unsolved goals
case s
x y : A
m : N
l : L N
p : Pt
k : False
q : N
ih : q = m → Q
h : q.s = m
⊢ Q
5:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : False) : R y x := by
  induction l with
  | nil => skip
  | cons b t ih => skip
  apply Either.inl
/-
3:8 error: unsolved goals
case nil
x y : A
n m : N
p : Pt
h : x = y
k : False
⊢ R y x
4:16 error: unsolved goals
case cons
x y : A
n m : N
p : Pt
h : x = y
k : False
b : N
t : L N
ih : R y x
⊢ R y x
5:2 error: No goals to be solved
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Both (Either (Q) (Same x y)) (∀ z : A, R x z → P)) (k : Eq (f x) y) : (Some fun z : A => Both (R x z) (Same N.z n)) → Both (Same x y) (Same N.z n) := by
  cases n
  skip
  cases l with
  | nil => skip
  | cons b t => skip
  refine Some.intro x ?_
/-
5:8 error: unsolved goals
case z.nil
x y : A
m : N
p : Pt
h : Both (Either Q (Same x y)) (∀ (z : A), R x z → P)
k : f x = y
⊢ (Some fun z => Both (R x z) (Same N.z N.z)) → Both (Same x y) (Same N.z N.z)
6:13 error: unsolved goals
case z.cons
x y : A
m : N
p : Pt
h : Both (Either Q (Same x y)) (∀ (z : A), R x z → P)
k : f x = y
b : N
t : L N
⊢ (Some fun z => Both (R x z) (Same N.z N.z)) → Both (Same x y) (Same N.z N.z)
7:2 error: Type mismatch
  Some.intro x ?m._
has type
  Some ?m._
but is expected to have type
  (Some fun z => Both (R x z) (Same N.z n✝.s)) → Both (Same x y) (Same N.z n✝.s)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Some fun z : A => Both (R x z) (Same n m)) (k : Eq x y) : (Both (Same x y) (False)) → Either (False) (Same x y) := by
  induction n generalizing m
  cases k
  cases l
  cases p
/-
1:167 error: unsolved goals
case z.refl.nil.mk
x : A
m : N
h : Some fun z => Both (R x z) (Same N.z m)
x✝ y✝ : N
⊢ Both (Same x x) False → Either False (Same x x)

case z.refl.cons
x : A
p : Pt
m : N
h : Some fun z => Both (R x z) (Same N.z m)
head✝ : N
tail✝ : L N
⊢ Both (Same x x) False → Either False (Same x x)

case s
x y : A
l : L N
p : Pt
k : x = y
n✝ : N
n_ih✝ : ∀ (m : N), (Some fun z => Both (R x z) (Same n✝ m)) → Both (Same x y) False → Either False (Same x y)
m : N
h : Some fun z => Both (R x z) (Same n✝.s m)
⊢ Both (Same x y) False → Either False (Same x y)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Eq (f x) y) : Q := by
  cases n with
  | z => skip
  | s q => skip
  · skip
/-
3:6 error: unsolved goals
case z
x y : A
m : N
l : L N
p : Pt
k : f x = y
h : N.z = m
⊢ Q
4:8 error: unsolved goals
case s
x y : A
m : N
l : L N
p : Pt
k : f x = y
q : N
h : q.s = m
⊢ Q
5:2 error: No goals to be solved
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Eq (f x) y) : ∀ z : A, R x z → Either (Same n m) (Q) := by
  clear k
  rewrite [h] at k
/-
3:17 error: Unknown identifier `k`
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Eq x y) : Either (R y x) ((False) → Same N.z n) := by
  revert n
  cases p with
  | mk u v => skip
/-
4:11 error: unsolved goals
case mk
x y : A
m : N
l : L N
h : f x = y
k : x = y
u v : N
⊢ ∀ (n : N), Either (R y x) (False → Same N.z n)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Some fun z : A => Both (R x z) (∀ z : A, R x z → Same n m)) (k : Eq n m) : P := by
  cases p with
  | mk u v => skip
  refine ⟨_, h⟩
/-
3:11 error: unsolved goals
case mk
x y : A
n m : N
l : L N
h : Some fun z => Both (R x z) (∀ (z : A), R x z → Same n m)
k : n = m
u v : N
⊢ P
4:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Some fun z : A => Both (R x z) (Q)) : (Either (P) (Same x y)) → Both (Same n m) (R y x) := by
  rewrite [← h]
  cases n with
  | z => skip
  | s q => skip
  cases h with
  | mk => skip
/-
4:6 error: unsolved goals
case z
x y : A
m : N
l : L N
p : Pt
h : x = y
k : Some fun z => Both (R x z) Q
⊢ Either P (Same x x) → Both (Same N.z m) (R x x)
5:8 error: unsolved goals
case s
x y : A
m : N
l : L N
p : Pt
h : x = y
k : Some fun z => Both (R x z) Q
q : N
⊢ Either P (Same x x) → Both (Same q.s m) (R x x)
6:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : (Both (Same n m) (Q)) → Some fun z : A => Both (R x z) (R y x)) (k : Eq n m) : Some fun z : A => Both (R x z) (∀ z : A, R x z → Q) := by
  induction n with
  | z => skip
  | s q ih => skip
  refine Both.mk ?c h
/-
3:6 error: unsolved goals
case z
x y : A
m : N
l : L N
p : Pt
h : Both (Same N.z m) Q → Some fun z => Both (R x z) (R y x)
k : N.z = m
⊢ Some fun z => Both (R x z) (∀ (z : A), R x z → Q)
4:11 error: unsolved goals
case s
x y : A
m : N
l : L N
p : Pt
q : N
ih :
  (Both (Same q m) Q → Some fun z => Both (R x z) (R y x)) → q = m → Some fun z => Both (R x z) (∀ (z : A), R x z → Q)
h : Both (Same q.s m) Q → Some fun z => Both (R x z) (R y x)
k : q.s = m
⊢ Some fun z => Both (R x z) (∀ (z : A), R x z → Q)
5:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : R x y) (k : Eq (f x) y) : Either (Both (Same x y) (R y x)) (Some fun z : A => Both (R x z) (P)) := by
  rewrite [k]
/-
2:11 error: Tactic `rewrite` failed: Did not find an occurrence of the pattern
  f x
in the target expression
  Either (Both (Same x y) (R y x)) (Some fun z => Both (R x z) P)

x y : A
n m : N
l : L N
p : Pt
h : R x y
k : f x = y
⊢ Either (Both (Same x y) (R y x)) (Some fun z => Both (R x z) P)
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : R y x) : Either (∀ z : A, R x z → Same n m) (Same n m) := by
  induction h
/-
1:123 error: unsolved goals
case refl
x y : A
n m : N
l : L N
p : Pt
k : R y x
⊢ Either (∀ (z : A), R x z → Same n n) (Same n n)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : P) : Both (Q) (∀ z : A, R x z → Same x y) := by
  induction n generalizing m
/-
1:110 error: unsolved goals
case z
x y : A
l : L N
p : Pt
k : P
m : N
h : N.z = m
⊢ Both Q (∀ (z : A), R x z → Same x y)

case s
x y : A
l : L N
p : Pt
k : P
n✝ : N
n_ih✝ : ∀ (m : N), n✝ = m → Both Q (∀ (z : A), R x z → Same x y)
m : N
h : n✝.s = m
⊢ Both Q (∀ (z : A), R x z → Same x y)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Eq (f x) y) : (∀ z : A, R x z → R x y) → Same x y := by
  subst x
  constructor
/-
3:2 error: Tactic `constructor` failed: target is not an inductive datatype

y : A
n m : N
l : L N
p : Pt
k : f y = y
⊢ (∀ (z : A), R y z → R y y) → Same y y
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Eq n m) : Both (Q) ((Same n m) → R x y) := by
  cases p with
  | mk u v => skip
/-
3:11 error: unsolved goals
case mk
x y : A
n m : N
l : L N
h : x = y
k : n = m
u v : N
⊢ Both Q (Same n m → R x y)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Same n m) (k : ∀ z : A, R x z → P) : Some fun z : A => Both (R x z) (Either (Same n m) (Same N.z n)) := by
  clear k
  revert n
  · skip
  cases k with
  | intro w c => skip
/-
4:2 error: unsolved goals
x y : A
m : N
l : L N
p : Pt
⊢ ∀ (n : N), Same n m → Some fun z => Both (R x z) (Either (Same n m) (Same N.z n))
5:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Same x y) : Both ((Same N.z n) → R y x) (Either (R y x) (Q)) := by
  subst h
  cases k
  cases n
  skip
  induction l with
  | nil => skip
  | cons b t ih => skip
/-
7:8 error: unsolved goals
case mk.z.nil
x : A
p : Pt
⊢ Both (Same N.z N.z → R x x) (Either (R x x) Q)
8:16 error: unsolved goals
case mk.z.cons
x : A
p : Pt
b : N
t : L N
ih : Both (Same N.z N.z → R x x) (Either (R x x) Q)
⊢ Both (Same N.z N.z → R x x) (Either (R x x) Q)
1:129 error: unsolved goals
case mk.s
x : A
l : L N
p : Pt
n✝ : N
⊢ Both (Same N.z n✝.s → R x x) (Either (R x x) Q)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Eq (f x) y) : ∀ z : A, R x z → Same n m := by
  revert h
/-
1:108 error: unsolved goals
x y : A
n m : N
l : L N
p : Pt
k : f x = y
⊢ x = y → ∀ (z : A), R x z → Same n m
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : P) (k : Eq n m) : Either (Same n m) (R x y) := by
  skip
  rewrite [k]
  cases l with
  | nil => skip
  | cons b t => skip
/-
5:8 error: unsolved goals
case nil
x y : A
n m : N
p : Pt
h : P
k : n = m
⊢ Either (Same m m) (R x y)
6:13 error: unsolved goals
case cons
x y : A
n m : N
p : Pt
h : P
k : n = m
b : N
t : L N
⊢ Either (Same m m) (R x y)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Eq n m) : R x y := by
  subst k
  · skip
  subst x
/-
3:2 error: unsolved goals
x y : A
n : N
l : L N
p : Pt
h : f x = y
⊢ R x y
4:2 error: No goals to be solved
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : (R y x) → ∀ z : A, R x z → Same n m) (k : Either (Both (Same N.z n) (Same N.z n)) (Both (Same x y) (R x y))) : ∀ z : A, R x z → Both (Same x y) (R x y) := by
  revert h
  cases l
  revert x y
  apply Both.mk
/-
5:2 error: Tactic `apply` failed: could not unify the type of `@Both.mk`
  ∀ {a b : Prop}, a → b → Both a b
with the goal
  ∀ (x y : A),
    Either (Both (Same N.z n) (Same N.z n)) (Both (Same x y) (R x y)) →
      (R y x → ∀ (z : A), R x z → Same n m) → ∀ (z : A), R x z → Both (Same x y) (R x y)

case nil
n m : N
p : Pt
⊢ ∀ (x y : A),
    Either (Both (Same N.z n) (Same N.z n)) (Both (Same x y) (R x y)) →
      (R y x → ∀ (z : A), R x z → Same n m) → ∀ (z : A), R x z → Both (Same x y) (R x y)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Either (P) (False)) : Some fun z : A => Both (R x z) (Some fun z : A => Both (R x z) (Same n m)) := by
  rewrite [h]
  revert x y
  cases l
/-
1:165 error: unsolved goals
case nil
n m : N
p : Pt
h : n = m
k : Either P False
⊢ ∀ (x y : A), Some fun z => Both (R x z) (Some fun z => Both (R x z) (Same m m))

case cons
n m : N
p : Pt
h : n = m
k : Either P False
head✝ : N
tail✝ : L N
⊢ ∀ (x y : A), Some fun z => Both (R x z) (Some fun z => Both (R x z) (Same m m))
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Same N.z n) : (∀ z : A, R x z → P) → Q := by
  skip
  revert x y
/-
1:107 error: unsolved goals
n m : N
l : L N
p : Pt
h : n = m
k : Same N.z n
⊢ ∀ (x y : A), (∀ (z : A), R x z → P) → Q
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Q) (k : Eq (f x) y) : (∀ z : A, R x z → P) → ∀ z : A, R x z → Same x y := by
  · skip
  refine ⟨_, h⟩
/-
2:2 error: unsolved goals
x y : A
n m : N
l : L N
p : Pt
h : Q
k : f x = y
⊢ (∀ (z : A), R x z → P) → ∀ (z : A), R x z → Same x y
3:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : ∀ z : A, R x z → (False) → Same n m) (k : Both (False) (∀ z : A, R x z → Q)) : Either (Some fun z : A => Both (R x z) (R y x)) (Same N.z n) := by
  cases p with
  | mk u v => skip
  cases n
/-
3:11 error: unsolved goals
case mk
x y : A
n m : N
l : L N
h : ∀ (z : A), R x z → False → Same n m
k : Both False (∀ (z : A), R x z → Q)
u v : N
⊢ Either (Some fun z => Both (R x z) (R y x)) (Same N.z n)
4:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Both (R x y) ((Same x y) → Same N.z n)) (k : Eq x y) : Some fun z : A => Both (R x z) (Either (R y x) (R y x)) := by
  induction l with
  | nil => skip
  | cons b t ih => skip
  cases n with
  | z => skip
  | s q => skip
/-
3:8 error: unsolved goals
case nil
x y : A
n m : N
p : Pt
h : Both (R x y) (Same x y → Same N.z n)
k : x = y
⊢ Some fun z => Both (R x z) (Either (R y x) (R y x))
4:16 error: unsolved goals
case cons
x y : A
n m : N
p : Pt
h : Both (R x y) (Same x y → Same N.z n)
k : x = y
b : N
t : L N
ih : Some fun z => Both (R x z) (Either (R y x) (R y x))
⊢ Some fun z => Both (R x z) (Either (R y x) (R y x))
5:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Eq n m) : P := by
  · skip
  apply Some.intro
/-
2:2 error: unsolved goals
x y : A
n m : N
l : L N
p : Pt
h k : n = m
⊢ P
3:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : ∀ z : A, R x z → ∀ z : A, R x z → R y x) (k : Some fun z : A => Both (R x z) ((Same x y) → R x y)) : Both (P) (R x y) := by
  apply Either.inl
/-
2:2 error: Tactic `apply` failed: could not unify the conclusion of `@Either.inl`
  Either ?a ?b
with the goal
  Both P (R x y)

Note: The full type of `@Either.inl` is
  ∀ {a b : Prop}, a → Either a b

x y : A
n m : N
l : L N
p : Pt
h : ∀ (z : A), R x z → ∀ (z : A), R x z → R y x
k : Some fun z => Both (R x z) (Same x y → R x y)
⊢ Both P (R x y)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Eq (f x) y) : (Same N.z n) → False := by
  induction n generalizing m
  cases l
/-
1:107 error: unsolved goals
case z.nil
x y : A
p : Pt
h k : f x = y
m : N
⊢ Same N.z N.z → False

case z.cons
x y : A
p : Pt
h k : f x = y
m head✝ : N
tail✝ : L N
⊢ Same N.z N.z → False

case s
x y : A
l : L N
p : Pt
h k : f x = y
n✝ : N
n_ih✝ : ∀ (m : N), Same N.z n✝ → False
m : N
⊢ Same N.z n✝.s → False
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Either (∀ z : A, R x z → Same n m) (∀ z : A, R x z → Same n m)) (k : Both (Same N.z n) (∀ z : A, R x z → False)) : Same x y := by
  cases l
  intro
/-
3:2 error: Tactic `introN` failed: There are no additional binders or `let` bindings in the goal to introduce

case nil
x y : A
n m : N
p : Pt
h : Either (∀ (z : A), R x z → Same n m) (∀ (z : A), R x z → Same n m)
k : Both (Same N.z n) (∀ (z : A), R x z → False)
⊢ Same x y
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : (Both (Same x y) (R x y)) → (R y x) → Q) (k : Same n m) : ∀ z : A, R x z → (Same x y) → Same N.z n := by
  cases l
  induction n with
  | z => skip
  | s q ih => skip
  contradiction
/-
4:6 error: unsolved goals
case nil.z
x y : A
m : N
p : Pt
h : Both (Same x y) (R x y) → R y x → Q
k : Same N.z m
⊢ ∀ (z : A), R x z → Same x y → Same N.z N.z
5:11 error: unsolved goals
case nil.s
x y : A
m : N
p : Pt
h : Both (Same x y) (R x y) → R y x → Q
q : N
ih : Same q m → ∀ (z : A), R x z → Same x y → Same N.z q
k : Same q.s m
⊢ ∀ (z : A), R x z → Same x y → Same N.z q.s
6:2 error: Tactic `contradiction` failed

case cons
x y : A
n m : N
p : Pt
h : Both (Same x y) (R x y) → R y x → Q
k : Same n m
head✝ : N
tail✝ : L N
⊢ ∀ (z : A), R x z → Same x y → Same N.z n
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : (Some fun z : A => Both (R x z) (Q)) → ∀ z : A, R x z → R x y) : (Q) → Some fun z : A => Both (R x z) (Same n m) := by
  revert n
  cases p
  clear h
/-
1:185 error: unsolved goals
case mk
x y : A
m : N
l : L N
k : (Some fun z => Both (R x z) Q) → ∀ (z : A), R x z → R x y
x✝ y✝ : N
⊢ ∀ (n : N), Q → Some fun z => Both (R x z) (Same n m)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Eq (f x) y) : Some fun z : A => Both (R x z) ((P) → P) := by
  induction l
  cases p with
  | mk u v => skip
  induction n generalizing m
  assumption
/-
4:11 error: unsolved goals
case nil.mk
x y : A
n m : N
h k : f x = y
u v : N
⊢ Some fun z => Both (R x z) (P → P)
1:127 error: unsolved goals
case cons.s
x y : A
p : Pt
h k : f x = y
head✝ : N
tail✝ : L N
tail_ih✝ : Some fun z => Both (R x z) (P → P)
n✝ : N
n_ih✝ : ∀ (m : N), Some fun z => Both (R x z) (P → P)
m : N
⊢ Some fun z => Both (R x z) (P → P)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Either (Q) ((Same n m) → Same n m)) (k : Eq (f x) y) : Either ((Same n m) → R x y) (Same n m) := by
  cases h
/-
1:149 error: unsolved goals
case inl
x y : A
n m : N
l : L N
p : Pt
k : f x = y
h✝ : Q
⊢ Either (Same n m → R x y) (Same n m)

case inr
x y : A
n m : N
l : L N
p : Pt
k : f x = y
h✝ : Same n m → Same n m
⊢ Either (Same n m → R x y) (Same n m)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Both ((P) → Q) ((Same n m) → R y x)) (k : Eq n m) : R y x := by
  clear k
  clear h
  cases n
  cases p
  induction m
/-
1:113 error: unsolved goals
case z.mk.z
x y : A
l : L N
x✝ y✝ : N
⊢ R y x

case z.mk.s
x y : A
l : L N
x✝ y✝ n✝ : N
n_ih✝ : R y x
⊢ R y x

case s
x y : A
m : N
l : L N
p : Pt
n✝ : N
⊢ R y x
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Eq x y) : Either ((Same n m) → Same N.z n) ((R x y) → Q) := by
  rewrite [k]
  · skip
  rewrite [h] at k
/-
3:2 error: unsolved goals
x y : A
n m : N
l : L N
p : Pt
h : n = m
k : x = y
⊢ Either (Same n m → Same N.z n) (R y y → Q)
4:11 error: No goals to be solved
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : ∀ z : A, R x z → Both (P) (P)) (k : Some fun z : A => Both (R x z) (Q)) : False := by
  specialize h x
/-
1:135 error: unsolved goals
x y : A
n m : N
l : L N
p : Pt
h : R x x → Both P P
k : Some fun z => Both (R x z) Q
⊢ False
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Eq (f x) y) : Both (Same x y) (Some fun z : A => Both (R x z) (Same n m)) := by
  clear k
  skip
  induction n generalizing m
/-
1:146 error: unsolved goals
case z
x y : A
l : L N
p : Pt
h : f x = y
m : N
⊢ Both (Same x y) (Some fun z => Both (R x z) (Same N.z m))

case s
x y : A
l : L N
p : Pt
h : f x = y
n✝ : N
n_ih✝ : ∀ (m : N), Both (Same x y) (Some fun z => Both (R x z) (Same n✝ m))
m : N
⊢ Both (Same x y) (Some fun z => Both (R x z) (Same n✝.s m))
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : R y x) (k : Eq n m) : Some fun z : A => Both (R x z) (∀ z : A, R x z → False) := by
  constructor
  cases l
/-
1:133 error: unsolved goals
case h.nil
x y : A
n m : N
p : Pt
h : R y x
k : n = m
⊢ Both (R x (?m._ L.nil)) (∀ (z : A), R x z → False)

case h.cons
x y : A
n m : N
p : Pt
h : R y x
k : n = m
head✝ : N
tail✝ : L N
⊢ Both (R x (?m._ (L.cons head✝ tail✝))) (∀ (z : A), R x z → False)
1:0 error: (kernel) declaration has metavariables '_example'
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Eq x y) : Either (False) (Same n m) := by
  · skip
  subst h
/-
2:2 error: unsolved goals
x y : A
n m : N
l : L N
p : Pt
h : n = m
k : x = y
⊢ Either False (Same n m)
3:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : R x y) : Some fun z : A => Both (R x z) (R y x) := by
  cases l
  revert x y
/-
1:120 error: unsolved goals
case nil
n m : N
p : Pt
⊢ ∀ (x y : A), f x = y → R x y → Some fun z => Both (R x z) (R y x)

case cons
x y : A
n m : N
p : Pt
h : f x = y
k : R x y
head✝ : N
tail✝ : L N
⊢ Some fun z => Both (R x z) (R y x)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Some fun z : A => Both (R x z) ((Same n m) → P)) (k : Same x y) : Same x y := by
  · assumption
/-
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : ∀ z : A, R x z → Same N.z n) (k : Eq x y) : Some fun z : A => Both (R x z) (Same n m) := by
  subst k
  intro a b
/-
3:8 error: Tactic `introN` failed: There are no additional binders or `let` bindings in the goal to introduce

x : A
n m : N
l : L N
p : Pt
h : ∀ (z : A), R x z → Same N.z n
⊢ Some fun z => Both (R x z) (Same n m)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Eq (f x) y) : R x y := by
  · skip
  cases l
/-
2:2 error: unsolved goals
x y : A
n m : N
l : L N
p : Pt
h : x = y
k : f x = y
⊢ R x y
3:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Eq n m) : Either (Both (R x y) (Same n m)) (Both (R y x) (R x y)) := by
  subst k
  induction n
  revert h
/-
1:138 error: unsolved goals
case z
x y : A
l : L N
p : Pt
⊢ f x = y → Either (Both (R x y) (Same N.z N.z)) (Both (R y x) (R x y))

case s
x y : A
l : L N
p : Pt
h : f x = y
n✝ : N
n_ih✝ : Either (Both (R x y) (Same n✝ n✝)) (Both (R y x) (R x y))
⊢ Either (Both (R x y) (Same n✝.s n✝.s)) (Both (R y x) (R x y))
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Eq n m) : Both (R y x) ((R x y) → Same N.z n) := by
  rewrite [k]
  apply Both.mk
/-
1:114 error: unsolved goals
case left
x y : A
n m : N
l : L N
p : Pt
h : x = y
k : n = m
⊢ R y x

case right
x y : A
n m : N
l : L N
p : Pt
h : x = y
k : n = m
⊢ R x y → Same N.z m
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : ∀ z : A, R x z → R x y) (k : Eq x y) : R x y := by
  cases l with
  | nil => skip
  | cons b t => skip
  skip
  apply Either.inl
/-
3:8 error: unsolved goals
case nil
x y : A
n m : N
p : Pt
h : ∀ (z : A), R x z → R x y
k : x = y
⊢ R x y
4:13 error: unsolved goals
case cons
x y : A
n m : N
p : Pt
h : ∀ (z : A), R x z → R x y
k : x = y
b : N
t : L N
⊢ R x y
6:2 error: No goals to be solved
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Same N.z n) : Some fun z : A => Both (R x z) (∀ z : A, R x z → False) := by
  clear k
  right
/-
3:2 error: Tactic `right` failed: right tactic works for inductive types with exactly 2 constructors

x y : A
n m : N
l : L N
p : Pt
h : f x = y
⊢ Some fun z => Both (R x z) (∀ (z : A), R x z → False)
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : P) (k : Eq n m) : False := by
  cases n
  cases l with
  | nil => skip
  | cons b t => skip
  induction l with
  | nil => skip
  | cons b t ih => skip
  intro a
/-
4:8 error: unsolved goals
case z.nil
x y : A
m : N
p : Pt
h : P
k : N.z = m
⊢ False
5:13 error: unsolved goals
case z.cons
x y : A
m : N
p : Pt
h : P
k : N.z = m
b : N
t : L N
⊢ False
7:8 error: unsolved goals
case s.nil
x y : A
m : N
p : Pt
h : P
n✝ : N
k : n✝.s = m
⊢ False
8:16 error: unsolved goals
case s.cons
x y : A
m : N
p : Pt
h : P
n✝ : N
k : n✝.s = m
b : N
t : L N
ih : False
⊢ False
9:8 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : (∀ z : A, R x z → R x y) → P) : (Some fun z : A => Both (R x z) (Q)) → ∀ z : A, R x z → Q := by
  induction n generalizing m
  · skip
  revert h
  intro x
/-
3:2 error: unsolved goals
case z
x y : A
l : L N
p : Pt
h : f x = y
k : (∀ (z : A), R x z → R x y) → P
m : N
⊢ (Some fun z => Both (R x z) Q) → ∀ (z : A), R x z → Q
1:162 error: unsolved goals
case s
x✝ y : A
l : L N
p : Pt
k : (∀ (z : A), R x✝ z → R x✝ y) → P
n✝ : N
n_ih✝ : ∀ (m : N), (Some fun z => Both (R x✝ z) Q) → ∀ (z : A), R x✝ z → Q
m : N
x : f x✝ = y
⊢ (Some fun z => Both (R x✝ z) Q) → ∀ (z : A), R x✝ z → Q
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Eq x y) : False := by
  clear k
  cases n with
  | z => skip
  | s q => skip
  cases p
/-
4:6 error: unsolved goals
case z
x y : A
m : N
l : L N
p : Pt
h : N.z = m
⊢ False
5:8 error: unsolved goals
case s
x y : A
m : N
l : L N
p : Pt
q : N
h : q.s = m
⊢ False
6:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Both (Same N.z n) ((Same x y) → R y x)) (k : Eq x y) : R x y := by
  induction n with
  | z => skip
  | s q ih => skip
  apply Both.mk
/-
3:6 error: unsolved goals
case z
x y : A
m : N
l : L N
p : Pt
k : x = y
h : Both (Same N.z N.z) (Same x y → R y x)
⊢ R x y
4:11 error: unsolved goals
case s
x y : A
m : N
l : L N
p : Pt
k : x = y
q : N
ih : Both (Same N.z q) (Same x y → R y x) → R x y
h : Both (Same N.z q.s) (Same x y → R y x)
⊢ R x y
5:2 error: No goals to be solved
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Eq (f x) y) : Either (Either (Same n m) (R x y)) (∀ z : A, R x z → Same n m) := by
  right
/-
1:145 error: unsolved goals
x y : A
n m : N
l : L N
p : Pt
h : n = m
k : f x = y
⊢ ∀ (z : A), R x z → Same n m
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : False) (k : Eq x y) : (Some fun z : A => Both (R x z) (Q)) → Some fun z : A => Both (R x z) (Same x y) := by
  skip
  induction n
  intro x
  subst k
  clear h
/-
1:158 error: unsolved goals
case z
x✝ : A
m : N
l : L N
p : Pt
x : Some fun z => Both (R x✝ z) Q
⊢ Some fun z => Both (R x✝ z) (Same x✝ x✝)

case s
x y : A
m : N
l : L N
p : Pt
h : False
k : x = y
n✝ : N
n_ih✝ : (Some fun z => Both (R x z) Q) → Some fun z => Both (R x z) (Same x y)
⊢ (Some fun z => Both (R x z) Q) → Some fun z => Both (R x z) (Same x y)
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Either (Both (False) (False)) (Either (R x y) (P))) (k : ∀ z : A, R x z → (False) → False) : Same n m := by
  cases h
  induction m
  cases h with
  | mk => skip
/-
4:8 error: Unknown identifier `h`
4:2 error: Tactic `cases` failed: major premise type is not an inductive type
  ?m._

Explanation: the `cases` tactic is for constructor-based reasoning as well as for applying custom cases principles with a 'using' clause or a registered '@[cases_eliminator]' theorem. The above type neither is an inductive type nor has a registered theorem.

case inl.z
x y : A
n : N
l : L N
p : Pt
k : ∀ (z : A), R x z → False → False
h✝ : Both False False
x✝ : ?m._
⊢ Same n N.z
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : R x y) (k : Eq n m) : Both (Either (R x y) (P)) (∀ z : A, R x z → R y x) := by
  cases l
/-
1:128 error: unsolved goals
case nil
x y : A
n m : N
p : Pt
h : R x y
k : n = m
⊢ Both (Either (R x y) P) (∀ (z : A), R x z → R y x)

case cons
x y : A
n m : N
p : Pt
h : R x y
k : n = m
head✝ : N
tail✝ : L N
⊢ Both (Either (R x y) P) (∀ (z : A), R x z → R y x)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Both (∀ z : A, R x z → Q) (Both (False) (R y x))) : Both (Either (R x y) (R x y)) (Same x y) := by
  cases l with
  | nil => skip
  | cons b t => skip
/-
3:8 error: unsolved goals
case nil
x y : A
n m : N
p : Pt
h : n = m
k : Both (∀ (z : A), R x z → Q) (Both False (R y x))
⊢ Both (Either (R x y) (R x y)) (Same x y)
4:13 error: unsolved goals
case cons
x y : A
n m : N
p : Pt
h : n = m
k : Both (∀ (z : A), R x z → Q) (Both False (R y x))
b : N
t : L N
⊢ Both (Either (R x y) (R x y)) (Same x y)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : ((False) → R x y) → ∀ z : A, R x z → False) (k : Both (Either (False) (Q)) (Same x y)) : R x y := by
  cases n
  induction l
  apply Both.mk
/-
4:2 error: Tactic `apply` failed: could not unify the conclusion of `@Both.mk`
  Both ?a ?b
with the goal
  R x y

Note: The full type of `@Both.mk` is
  ∀ {a b : Prop}, a → b → Both a b

case z.nil
x y : A
m : N
p : Pt
h : (False → R x y) → ∀ (z : A), R x z → False
k : Both (Either False Q) (Same x y)
⊢ R x y
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Some fun z : A => Both (R x z) (Some fun z : A => Both (R x z) (False))) (k : P) : ∀ z : A, R x z → (P) → Same N.z n := by
  cases l with
  | nil => skip
  | cons b t => skip
  apply Either.inl
/-
3:8 error: unsolved goals
case nil
x y : A
n m : N
p : Pt
h : Some fun z => Both (R x z) (Some fun z => Both (R x z) False)
k : P
⊢ ∀ (z : A), R x z → P → Same N.z n
4:13 error: unsolved goals
case cons
x y : A
n m : N
p : Pt
h : Some fun z => Both (R x z) (Some fun z => Both (R x z) False)
k : P
b : N
t : L N
⊢ ∀ (z : A), R x z → P → Same N.z n
5:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Q) (k : Eq (f x) y) : (Same N.z n) → Both (P) (Same n m) := by
  revert x y
  intro a b
/-
1:112 error: unsolved goals
n m : N
l : L N
p : Pt
h : Q
a b : A
⊢ f a = b → Same N.z n → Both P (Same n m)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Eq (f x) y) : Same N.z n := by
  clear k
  skip
/-
1:93 error: unsolved goals
x y : A
n m : N
l : L N
p : Pt
h : x = y
⊢ Same N.z n
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Both (False) ((Same N.z n) → False)) : Either (Both (R y x) (R x y)) (Either (R x y) (Same n m)) := by
  clear k
  cases h
/-
1:169 error: unsolved goals
case refl
x : A
n m : N
l : L N
p : Pt
⊢ Either (Both (R (f x) x) (R x (f x))) (Either (R x (f x)) (Same n m))
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : R x y) : ∀ z : A, R x z → ∀ z : A, R x z → P := by
  induction m
/-
1:113 error: unsolved goals
case z
x y : A
n : N
l : L N
p : Pt
k : R x y
h : n = N.z
⊢ ∀ (z : A), R x z → ∀ (z : A), R x z → P

case s
x y : A
n : N
l : L N
p : Pt
k : R x y
n✝ : N
n_ih✝ : n = n✝ → ∀ (z : A), R x z → ∀ (z : A), R x z → P
h : n = n✝.s
⊢ ∀ (z : A), R x z → ∀ (z : A), R x z → P
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Eq x y) : Some fun z : A => Both (R x z) (Both (Q) (Q)) := by
  constructor
  induction l
  cases p with
  | mk u v => skip
/-
5:11 error: unsolved goals
case h.nil.mk
x y : A
n m : N
h k : x = y
u v : N
⊢ Both (R x (?m._ { x := u, y := v } L.nil)) (Both Q Q)
1:124 error: unsolved goals
case h.cons
x y : A
n m : N
p : Pt
h k : x = y
head✝ : N
tail✝ : L N
tail_ih✝ : Both (R x (?m._ p tail✝)) (Both Q Q)
⊢ Both (R x (?m._ p (L.cons head✝ tail✝))) (Both Q Q)
1:0 error: (kernel) declaration has metavariables '_example'
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : (Some fun z : A => Both (R x z) (Same x y)) → Either (False) (Q)) : ∀ z : A, R x z → ∀ z : A, R x z → Same x y := by
  subst h
  refine ⟨?_, ?_⟩
/-
3:9 error: Invalid `⟨...⟩` notation: The expected type
  ∀ (z : A), R x z → ∀ (z : A), R x z → Same x x
is not an inductive type

Note: This notation can only be used when the expected type is an inductive type with a single constructor
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Some fun z : A => Both (R x z) ((Same x y) → R y x)) (k : Eq x y) : Both (Some fun z : A => Both (R x z) (R x y)) (∀ z : A, R x z → False) := by
  induction l
  cases p with
  | mk u v => skip
  revert x y
/-
4:11 error: unsolved goals
case nil.mk
x y : A
n m : N
h : Some fun z => Both (R x z) (Same x y → R y x)
k : x = y
u v : N
⊢ Both (Some fun z => Both (R x z) (R x y)) (∀ (z : A), R x z → False)
1:194 error: unsolved goals
case cons
n m : N
p : Pt
head✝ : N
tail✝ : L N
⊢ ∀ (x y : A),
    (Some fun z => Both (R x z) (Same x y → R y x)) →
      x = y →
        Both (Some fun z => Both (R x z) (R x y)) (∀ (z : A), R x z → False) →
          Both (Some fun z => Both (R x z) (R x y)) (∀ (z : A), R x z → False)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : ((Same n m) → Same n m) → Same n m) : P := by
  induction l
  skip
  revert h
/-
1:108 error: unsolved goals
case nil
x y : A
n m : N
p : Pt
k : (Same n m → Same n m) → Same n m
⊢ x = y → P

case cons
x y : A
n m : N
p : Pt
h : x = y
k : (Same n m → Same n m) → Same n m
head✝ : N
tail✝ : L N
tail_ih✝ : P
⊢ P
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : (R y x) → Same N.z n) : Both ((R y x) → Same x y) (∀ z : A, R x z → R y x) := by
  cases n
/-
1:143 error: unsolved goals
case z
x y : A
m : N
l : L N
p : Pt
h : x = y
k : R y x → Same N.z N.z
⊢ Both (R y x → Same x y) (∀ (z : A), R x z → R y x)

case s
x y : A
m : N
l : L N
p : Pt
h : x = y
n✝ : N
k : R y x → Same N.z n✝.s
⊢ Both (R y x → Same x y) (∀ (z : A), R x z → R y x)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Eq n m) : Both (Q) (Both (False) (Same x y)) := by
  induction n
/-
1:113 error: unsolved goals
case z
x y : A
m : N
l : L N
p : Pt
h k : N.z = m
⊢ Both Q (Both False (Same x y))

case s
x y : A
m : N
l : L N
p : Pt
n✝ : N
n_ih✝ : n✝ = m → n✝ = m → Both Q (Both False (Same x y))
h k : n✝.s = m
⊢ Both Q (Both False (Same x y))
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Same x y) (k : Either (R y x) ((Q) → Same n m)) : Same N.z n := by
  revert h
  induction l
  cases n
  intro x
  clear x
/-
1:116 error: unsolved goals
case nil.z
x y : A
m : N
p : Pt
k : Either (R y x) (Q → Same N.z m)
⊢ Same N.z N.z

case nil.s
x y : A
m : N
p : Pt
n✝ : N
k : Either (R y x) (Q → Same n✝.s m)
⊢ Same x y → Same N.z n✝.s

case cons
x y : A
n m : N
p : Pt
k : Either (R y x) (Q → Same n m)
head✝ : N
tail✝ : L N
tail_ih✝ : Same x y → Same N.z n
⊢ Same x y → Same N.z n
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Eq n m) : R y x := by
  induction n generalizing m
/-
1:84 error: unsolved goals
case z
x y : A
l : L N
p : Pt
h : x = y
m : N
k : N.z = m
⊢ R y x

case s
x y : A
l : L N
p : Pt
h : x = y
n✝ : N
n_ih✝ : ∀ (m : N), n✝ = m → R y x
m : N
k : n✝.s = m
⊢ R y x
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : (P) → Same N.z n) : R y x := by
  rewrite [h] at k
  induction n
  specialize k hp
/-
1:94 error: unsolved goals
case z
x y : A
m : N
l : L N
p : Pt
k : Same N.z m
h : N.z = m
⊢ R y x

case s
x y : A
m : N
l : L N
p : Pt
k : P → Same N.z m
n✝ : N
n_ih✝ : n✝ = m → R y x
h : n✝.s = m
⊢ R y x
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Either (R x y) (Both (Q) (R y x))) (k : Eq x y) : Both (Some fun z : A => Both (R x z) (Q)) (Both (P) (P)) := by
  cases p with
  | mk u v => skip
  apply h
/-
3:11 error: unsolved goals
case mk
x y : A
n m : N
l : L N
h : Either (R x y) (Both Q (R y x))
k : x = y
u v : N
⊢ Both (Some fun z => Both (R x z) Q) (Both P P)
4:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Eq n m) : Some fun z : A => Both (R x z) (Both (Same n m) (Q)) := by
  rewrite [k]
  revert n
  revert x y
/-
1:135 error: unsolved goals
m : N
l : L N
p : Pt
⊢ ∀ (x y : A), f x = y → ∀ (n : N), n = m → Some fun z => Both (R x z) (Both (Same m m) Q)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Both (Same x y) (Same x y)) : Some fun z : A => Both (R x z) (R x y) := by
  induction n with
  | z => skip
  | s q ih => skip
  contradiction
/-
3:6 error: unsolved goals
case z
x y : A
m : N
l : L N
p : Pt
h : f x = y
k : Both (Same x y) (Same x y)
⊢ Some fun z => Both (R x z) (R x y)
4:11 error: unsolved goals
case s
x y : A
m : N
l : L N
p : Pt
h : f x = y
k : Both (Same x y) (Same x y)
q : N
ih : Some fun z => Both (R x z) (R x y)
⊢ Some fun z => Both (R x z) (R x y)
5:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Eq x y) : P := by
  · skip
  apply h
/-
2:2 error: unsolved goals
x y : A
n m : N
l : L N
p : Pt
h k : x = y
⊢ P
3:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : (∀ z : A, R x z → Same N.z n) → R y x) : Both (P) (Same N.z n) := by
  induction m
  induction l
  rewrite [← h]
/-
1:131 error: unsolved goals
case z.nil
x y : A
n : N
p : Pt
k : (∀ (z : A), R x z → Same N.z n) → R y x
h : n = N.z
⊢ Both P (Same n n)

case z.cons
x y : A
n : N
p : Pt
k : (∀ (z : A), R x z → Same N.z n) → R y x
h : n = N.z
head✝ : N
tail✝ : L N
tail_ih✝ : Both P (Same N.z n)
⊢ Both P (Same N.z n)

case s
x y : A
n : N
l : L N
p : Pt
k : (∀ (z : A), R x z → Same N.z n) → R y x
n✝ : N
n_ih✝ : n = n✝ → Both P (Same N.z n)
h : n = n✝.s
⊢ Both P (Same N.z n)
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : R y x) (k : Eq (f x) y) : (Same N.z n) → R x y := by
  intro
  clear h
  skip
  induction h
/-
5:12 error: Unknown identifier `h`
5:2 error: Tactic `induction` failed: major premise type is not an inductive type
  ?m._

Explanation: the `induction` tactic is for constructor-based reasoning as well as for applying custom induction principles with a 'using' clause or a registered '@[induction_eliminator]' theorem. The above type neither is an inductive type nor has a registered theorem.

x y : A
n m : N
l : L N
p : Pt
k : f x = y
a✝ : Same N.z n
x✝ : ?m._
⊢ R x y
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Eq n m) : False := by
  skip
  refine Some.intro x ?_
/-
3:2 error: Type mismatch
  Some.intro x ?m._
has type
  Some ?m._
but is expected to have type
  False
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Either (Same n m) ((R x y) → Same n m)) (k : Eq (f x) y) : Same x y := by
  cases l with
  | nil => skip
  | cons b t => skip
  induction l
/-
3:8 error: unsolved goals
case nil
x y : A
n m : N
p : Pt
h : Either (Same n m) (R x y → Same n m)
k : f x = y
⊢ Same x y
4:13 error: unsolved goals
case cons
x y : A
n m : N
p : Pt
h : Either (Same n m) (R x y → Same n m)
k : f x = y
b : N
t : L N
⊢ Same x y
5:2 error: No goals to be solved
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Both (Some fun z : A => Both (R x z) (Same N.z n)) (Same n m)) : Q := by
  skip
  cases h with
  | mk => skip
/-
4:2 error: Invalid alternative name `mk`: Expected `refl`
3:2 error: Alternative `refl` has not been provided
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : (Some fun z : A => Both (R x z) (Same x y)) → (P) → Q) (k : Both (Some fun z : A => Both (R x z) (False)) (P)) : Same x y := by
  cases k
/-
1:177 error: unsolved goals
case mk
x y : A
n m : N
l : L N
p : Pt
h : (Some fun z => Both (R x z) (Same x y)) → P → Q
left✝ : Some fun z => Both (R x z) False
right✝ : P
⊢ Same x y
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Eq x y) : False := by
  induction m
  specialize h x
/-
3:13 error: Function expected at
  h
but this term has type
  x = y

Note: Expected a function because this term is being applied to the argument
  x
3:2 error: 'specialize' requires a term of the form `h x_1 .. x_n` where `h` appears in the local context
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Eq x y) : Both (Same N.z n) (R y x) := by
  subst k
  refine ⟨?_, ?_⟩
  · skip
/-
4:2 error: unsolved goals
case refine_1
x : A
n m : N
l : L N
p : Pt
h : n = m
⊢ Same N.z n
1:104 error: unsolved goals
case refine_2
x : A
n m : N
l : L N
p : Pt
h : n = m
⊢ R x x
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : False) (k : Either (Same n m) ((Same n m) → R x y)) : Both (R x y) (P) := by
  induction n
  refine Both.mk ?_ ?_
  induction l
  cases p
  rewrite [h]
/-
6:11 error: Invalid rewrite argument: Expected an equality or iff proof or definition name, but `h` is a proof of
  False
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Either (Either (False) (R y x)) (∀ z : A, R x z → P)) : False := by
  induction n with
  | z => skip
  | s q ih => skip
  rewrite [h]
/-
3:6 error: unsolved goals
case z
x y : A
m : N
l : L N
p : Pt
k : Either (Either False (R y x)) (∀ (z : A), R x z → P)
h : N.z = m
⊢ False
4:11 error: unsolved goals
case s
x y : A
m : N
l : L N
p : Pt
k : Either (Either False (R y x)) (∀ (z : A), R x z → P)
q : N
ih : q = m → False
h : q.s = m
⊢ False
5:11 error: No goals to be solved
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Some fun z : A => Both (R x z) (Some fun z : A => Both (R x z) (Same x y))) : Some fun z : A => Both (R x z) (Q) := by
  apply Some.intro
  constructor
  cases l with
  | nil => skip
  | cons b t => skip
/-
5:8 error: unsolved goals
case h.left.nil
x y : A
n m : N
p : Pt
h : f x = y
k : Some fun z => Both (R x z) (Some fun z => Both (R x z) (Same x y))
⊢ R x (?m._ L.nil)
6:13 error: unsolved goals
case h.left.cons
x y : A
n m : N
p : Pt
h : f x = y
k : Some fun z => Both (R x z) (Some fun z => Both (R x z) (Same x y))
b : N
t : L N
⊢ R x (?m._ (L.cons b t))
1:185 error: unsolved goals
case h.right
x y : A
n m : N
l : L N
p : Pt
h : f x = y
k : Some fun z => Both (R x z) (Some fun z => Both (R x z) (Same x y))
⊢ Q
1:0 error: (kernel) declaration has metavariables '_example'
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : R x y) (k : Eq x y) : Some fun z : A => Both (R x z) (Same n m) := by
  clear h
  refine ⟨?_, ?_⟩
  cases n with
  | z => skip
  | s q => skip
  clear x
  revert n
/-
5:6 error: unsolved goals
case refine_1.z
x y : A
m : N
l : L N
p : Pt
k : x = y
⊢ A
6:8 error: unsolved goals
case refine_1.s
x y : A
m : N
l : L N
p : Pt
k : x = y
q : N
⊢ A
7:2 error: Tactic `clear` failed: variable 'k' depends on 'x'

case refine_2
x y : A
n m : N
l : L N
p : Pt
k : x = y
⊢ Both (R x (N.casesOn (motive := fun t => n = t → A) n (fun h => sorry) (fun q h => sorry) ⋯)) (Same n m)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Eq x y) : R y x := by
  induction l
  induction m
  induction n with
  | z => skip
  | s q ih => skip
  clear k
/-
5:6 error: unsolved goals
case nil.z.z
x y : A
p : Pt
k : x = y
h : N.z = N.z
⊢ R y x
6:11 error: unsolved goals
case nil.z.s
x y : A
p : Pt
k : x = y
q : N
ih : q = N.z → R y x
h : q.s = N.z
⊢ R y x
1:84 error: unsolved goals
case nil.s
x y : A
n : N
p : Pt
n✝ : N
n_ih✝ : n = n✝ → R y x
h : n = n✝.s
⊢ R y x

case cons
x y : A
n m : N
p : Pt
h : n = m
k : x = y
head✝ : N
tail✝ : L N
tail_ih✝ : R y x
⊢ R y x
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Eq (f x) y) : Q := by
  apply Either.inl
/-
2:2 error: Tactic `apply` failed: could not unify the conclusion of `@Either.inl`
  Either ?a ?b
with the goal
  Q

Note: The full type of `@Either.inl` is
  ∀ {a b : Prop}, a → Either a b

x y : A
n m : N
l : L N
p : Pt
h : n = m
k : f x = y
⊢ Q
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : (Either (P) (Same N.z n)) → Either (Same N.z n) (Same x y)) (k : Eq x y) : ∀ z : A, R x z → Some fun z : A => Both (R x z) (Q) := by
  induction l with
  | nil => skip
  | cons b t ih => skip
/-
3:8 error: unsolved goals
case nil
x y : A
n m : N
p : Pt
h : Either P (Same N.z n) → Either (Same N.z n) (Same x y)
k : x = y
⊢ ∀ (z : A), R x z → Some fun z => Both (R x z) Q
4:16 error: unsolved goals
case cons
x y : A
n m : N
p : Pt
h : Either P (Same N.z n) → Either (Same N.z n) (Same x y)
k : x = y
b : N
t : L N
ih : ∀ (z : A), R x z → Some fun z => Both (R x z) Q
⊢ ∀ (z : A), R x z → Some fun z => Both (R x z) Q
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Eq n m) : ∀ z : A, R x z → (Q) → Same x y := by
  cases h with
  | mk => skip
/-
3:2 error: Invalid alternative name `mk`: Expected `refl`
2:2 error: Alternative `refl` has not been provided
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Both (Both (R y x) (Same x y)) (Some fun z : A => Both (R x z) (P))) (k : R y x) : False := by
  induction n with
  | z => skip
  | s q ih => skip
/-
3:6 error: unsolved goals
case z
x y : A
m : N
l : L N
p : Pt
h : Both (Both (R y x) (Same x y)) (Some fun z => Both (R x z) P)
k : R y x
⊢ False
4:11 error: unsolved goals
case s
x y : A
m : N
l : L N
p : Pt
h : Both (Both (R y x) (Same x y)) (Some fun z => Both (R x z) P)
k : R y x
q : N
ih : False
⊢ False
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : R x y) : (Some fun z : A => Both (R x z) (Q)) → ∀ z : A, R x z → Q := by
  cases l
  cases n
/-
1:135 error: unsolved goals
case nil.z
x y : A
m : N
p : Pt
k : R x y
h : N.z = m
⊢ (Some fun z => Both (R x z) Q) → ∀ (z : A), R x z → Q

case nil.s
x y : A
m : N
p : Pt
k : R x y
n✝ : N
h : n✝.s = m
⊢ (Some fun z => Both (R x z) Q) → ∀ (z : A), R x z → Q

case cons
x y : A
n m : N
p : Pt
h : n = m
k : R x y
head✝ : N
tail✝ : L N
⊢ (Some fun z => Both (R x z) Q) → ∀ (z : A), R x z → Q
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Eq n m) : (Same x y) → Same n m := by
  intro x
  cases k
/-
1:100 error: unsolved goals
case refl
x✝ y : A
n : N
l : L N
p : Pt
h : x✝ = y
x : Same x✝ y
⊢ Same n n
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Eq x y) : Both (Some fun z : A => Both (R x z) (Same N.z n)) (Some fun z : A => Both (R x z) (Q)) := by
  cases n with
  | z => skip
  | s q => skip
  skip
  exact k.right
/-
3:6 error: unsolved goals
case z
x y : A
m : N
l : L N
p : Pt
h : f x = y
k : x = y
⊢ Both (Some fun z => Both (R x z) (Same N.z N.z)) (Some fun z => Both (R x z) Q)
4:8 error: unsolved goals
case s
x y : A
m : N
l : L N
p : Pt
h : f x = y
k : x = y
q : N
⊢ Both (Some fun z => Both (R x z) (Same N.z q.s)) (Some fun z => Both (R x z) Q)
6:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Either (R y x) (R x y)) (k : Eq x y) : (Some fun z : A => Both (R x z) (Same x y)) → Both (Same x y) (Same n m) := by
  cases n with
  | z => skip
  | s q => skip
  cases n with
  | z => skip
  | s q => skip
/-
3:6 error: unsolved goals
case z
x y : A
m : N
l : L N
p : Pt
h : Either (R y x) (R x y)
k : x = y
⊢ (Some fun z => Both (R x z) (Same x y)) → Both (Same x y) (Same N.z m)
4:8 error: unsolved goals
case s
x y : A
m : N
l : L N
p : Pt
h : Either (R y x) (R x y)
k : x = y
q : N
⊢ (Some fun z => Both (R x z) (Same x y)) → Both (Same x y) (Same q.s m)
5:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Same x y) (k : Eq (f x) y) : Both (∀ z : A, R x z → Same N.z n) (R y x) := by
  induction l
  revert n
  cases p
/-
1:127 error: unsolved goals
case nil.mk
x y : A
m : N
h : Same x y
k : f x = y
x✝ y✝ : N
⊢ ∀ (n : N), Both (∀ (z : A), R x z → Same N.z n) (R y x)

case cons
x y : A
n m : N
p : Pt
h : Same x y
k : f x = y
head✝ : N
tail✝ : L N
tail_ih✝ : Both (∀ (z : A), R x z → Same N.z n) (R y x)
⊢ Both (∀ (z : A), R x z → Same N.z n) (R y x)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Eq (f x) y) : ∀ z : A, R x z → Either (Same n m) (Same x y) := by
  induction l with
  | nil => skip
  | cons b t ih => skip
  cases p
/-
3:8 error: unsolved goals
case nil
x y : A
n m : N
p : Pt
h : n = m
k : f x = y
⊢ ∀ (z : A), R x z → Either (Same n m) (Same x y)
4:16 error: unsolved goals
case cons
x y : A
n m : N
p : Pt
h : n = m
k : f x = y
b : N
t : L N
ih : ∀ (z : A), R x z → Either (Same n m) (Same x y)
⊢ ∀ (z : A), R x z → Either (Same n m) (Same x y)
5:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Eq (f x) y) : ∀ z : A, R x z → False := by
  clear h
  induction n
  intro a
/-
1:105 error: unsolved goals
case z
x y : A
m : N
l : L N
p : Pt
k : f x = y
a : A
⊢ R x a → False

case s
x y : A
m : N
l : L N
p : Pt
k : f x = y
n✝ : N
n_ih✝ : ∀ (z : A), R x z → False
⊢ ∀ (z : A), R x z → False
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : (R x y) → Either (False) (False)) : ∀ z : A, R x z → ∀ z : A, R x z → Same x y := by
  intro a b
  revert h
/-
1:147 error: unsolved goals
x y : A
n m : N
l : L N
p : Pt
k : R x y → Either False False
a : A
b : R x a
⊢ x = y → ∀ (z : A), R x z → Same x y
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Eq x y) : (∀ z : A, R x z → R y x) → Either (Same N.z n) (R y x) := by
  · skip
  left
/-
2:2 error: unsolved goals
x y : A
n m : N
l : L N
p : Pt
h : f x = y
k : x = y
⊢ (∀ (z : A), R x z → R y x) → Either (Same N.z n) (R y x)
3:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : ∀ z : A, R x z → Both (P) (R y x)) (k : Eq x y) : Same x y := by
  revert n
  cases p
/-
1:114 error: unsolved goals
case mk
x y : A
m : N
l : L N
h : ∀ (z : A), R x z → Both P (R y x)
k : x = y
x✝ y✝ : N
⊢ ∀ (n : N), Same x y
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : ∀ z : A, R x z → (P) → Same n m) : R x y := by
  induction n with
  | z => skip
  | s q ih => skip
  apply h
/-
3:6 error: unsolved goals
case z
x y : A
m : N
l : L N
p : Pt
h : x = y
k : ∀ (z : A), R x z → P → Same N.z m
⊢ R x y
4:11 error: unsolved goals
case s
x y : A
m : N
l : L N
p : Pt
h : x = y
q : N
ih : (∀ (z : A), R x z → P → Same q m) → R x y
k : ∀ (z : A), R x z → P → Same q.s m
⊢ R x y
5:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Same x y) (k : Eq n m) : Some fun z : A => Both (R x z) (R x y) := by
  revert h
  cases p
  intro x
  apply Some.intro
  skip
/-
1:119 error: unsolved goals
case mk.h
x✝¹ y : A
n m : N
l : L N
k : n = m
x✝ y✝ : N
x : Same x✝¹ y
⊢ Both (R x✝¹ ?mk.w) (R x✝¹ y)

case mk.w
x✝¹ y : A
n m : N
l : L N
k : n = m
x✝ y✝ : N
x : Same x✝¹ y
⊢ A
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Same n m) (k : Some fun z : A => Both (R x z) (∀ z : A, R x z → Q)) : Some fun z : A => Both (R x z) (Both (False) (False)) := by
  cases n
  refine ⟨_, h⟩
/-
3:13 error: Application type mismatch: The argument
  h
has type
  Same N.z m
but is expected to have type
  Both (R x ?m._) (Both False False)
in the application
  Some.intro ?m._ h
1:179 error: unsolved goals
case z
x y : A
m : N
l : L N
p : Pt
k : Some fun z => Both (R x z) (∀ (z : A), R x z → Q)
h : Same N.z m
⊢ Some fun z => Both (R x z) (Both False False)

case s
x y : A
m : N
l : L N
p : Pt
k : Some fun z => Both (R x z) (∀ (z : A), R x z → Q)
n✝ : N
h : Same n✝.s m
⊢ Some fun z => Both (R x z) (Both False False)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : R y x) (k : Eq n m) : ∀ z : A, R x z → (R y x) → False := by
  intro a b
/-
1:110 error: unsolved goals
x y : A
n m : N
l : L N
p : Pt
h : R y x
k : n = m
a : A
b : R x a
⊢ R y x → False
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : ∀ z : A, R x z → (False) → Same N.z n) (k : Eq (f x) y) : Both ((Same N.z n) → Same n m) (Both (Same x y) (Same N.z n)) := by
  skip
  · skip
  cases p with
  | mk u v => skip
/-
3:2 error: unsolved goals
x y : A
n m : N
l : L N
p : Pt
h : ∀ (z : A), R x z → False → Same N.z n
k : f x = y
⊢ Both (Same N.z n → Same n m) (Both (Same x y) (Same N.z n))
4:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Eq x y) : Either (False) (P) := by
  skip
  · skip
/-
3:2 error: unsolved goals
x y : A
n m : N
l : L N
p : Pt
h : f x = y
k : x = y
⊢ Either False P
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : (∀ z : A, R x z → Same n m) → Both (Q) (Q)) (k : Eq (f x) y) : Both (R y x) (∀ z : A, R x z → R y x) := by
  induction l
  cases p
  revert h
  cases h with
  | inl a => skip
  | inr b => skip
/-
5:8 error: Unknown identifier `h`
5:2 error: Tactic `cases` failed: major premise type is not an inductive type
  ?m._

Explanation: the `cases` tactic is for constructor-based reasoning as well as for applying custom cases principles with a 'using' clause or a registered '@[cases_eliminator]' theorem. The above type neither is an inductive type nor has a registered theorem.

case nil.mk
x y : A
n m : N
k : f x = y
x✝¹ y✝ : N
x✝ : ?m._
⊢ ((∀ (z : A), R x z → Same n m) → Both Q Q) → Both (R y x) (∀ (z : A), R x z → R y x)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Eq (f x) y) : ∀ z : A, R x z → Same n m := by
  induction n
  intro a b
  induction m
  subst x
/-
1:108 error: unsolved goals
case z.z
y : A
l : L N
p : Pt
a : A
k : f y = y
b : R y a
⊢ Same N.z N.z

case z.s
x y : A
l : L N
p : Pt
h : x = y
k : f x = y
a : A
b : R x a
n✝ : N
n_ih✝ : Same N.z n✝
⊢ Same N.z n✝.s

case s
x y : A
m : N
l : L N
p : Pt
h : x = y
k : f x = y
n✝ : N
n_ih✝ : ∀ (z : A), R x z → Same n✝ m
⊢ ∀ (z : A), R x z → Same n✝.s m
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Eq (f x) y) : P := by
  cases l
/-
1:88 error: unsolved goals
case nil
x y : A
n m : N
p : Pt
h k : f x = y
⊢ P

case cons
x y : A
n m : N
p : Pt
h k : f x = y
head✝ : N
tail✝ : L N
⊢ P
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : R y x) : Same n m := by
  cases h with
  | mk => skip
/-
3:2 error: Invalid alternative name `mk`: Expected `refl`
2:2 error: Alternative `refl` has not been provided
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : ∀ z : A, R x z → Same n m) : Same N.z n := by
  cases n
  clear h
  cases l with
  | nil => skip
  | cons b t => skip
  cases l with
  | nil => skip
  | cons b t => skip
/-
5:8 error: unsolved goals
case z.nil
x y : A
m : N
p : Pt
k : ∀ (z : A), R x z → Same N.z m
⊢ Same N.z N.z
6:13 error: unsolved goals
case z.cons
x y : A
m : N
p : Pt
k : ∀ (z : A), R x z → Same N.z m
b : N
t : L N
⊢ Same N.z N.z
8:8 error: unsolved goals
case s.nil
x y : A
m : N
p : Pt
h : f x = y
n✝ : N
k : ∀ (z : A), R x z → Same n✝.s m
⊢ Same N.z n✝.s
9:13 error: unsolved goals
case s.cons
x y : A
m : N
p : Pt
h : f x = y
n✝ : N
k : ∀ (z : A), R x z → Same n✝.s m
b : N
t : L N
⊢ Same N.z n✝.s
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : ∀ z : A, R x z → Same n m) : Both (P) (Same n m) := by
  clear k
  · skip
/-
3:2 error: unsolved goals
x y : A
n m : N
l : L N
p : Pt
h : f x = y
⊢ Both P (Same n m)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Either (Same n m) (Either (Same n m) (P))) (k : Eq n m) : ∀ z : A, R x z → Either (False) (Same x y) := by
  revert n
  intro a
  · skip
/-
4:2 error: unsolved goals
x y : A
m : N
l : L N
p : Pt
a : N
⊢ Either (Same a m) (Either (Same a m) P) → a = m → ∀ (z : A), R x z → Either False (Same x y)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Same n m) (k : Eq n m) : Same x y := by
  cases k
/-
1:89 error: unsolved goals
case refl
x y : A
n : N
l : L N
p : Pt
h : Same n n
⊢ Same x y
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : (Q) → (P) → R x y) (k : Eq x y) : False := by
  cases l with
  | nil => skip
  | cons b t => skip
  · skip
/-
3:8 error: unsolved goals
case nil
x y : A
n m : N
p : Pt
h : Q → P → R x y
k : x = y
⊢ False
4:13 error: unsolved goals
case cons
x y : A
n m : N
p : Pt
h : Q → P → R x y
k : x = y
b : N
t : L N
⊢ False
5:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Same N.z n) (k : Same n m) : Some fun z : A => Both (R x z) ((Same N.z n) → Same N.z n) := by
  skip
  cases n with
  | z => skip
  | s q => skip
  · assumption
/-
4:6 error: unsolved goals
case z
x y : A
m : N
l : L N
p : Pt
h : Same N.z N.z
k : Same N.z m
⊢ Some fun z => Both (R x z) (Same N.z N.z → Same N.z N.z)
5:8 error: unsolved goals
case s
x y : A
m : N
l : L N
p : Pt
q : N
h : Same N.z q.s
k : Same q.s m
⊢ Some fun z => Both (R x z) (Same N.z q.s → Same N.z q.s)
6:2 error: No goals to be solved
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Either (R x y) (∀ z : A, R x z → P)) : Both (R y x) (Same n m) := by
  apply Both.mk
  induction h
  induction n with
  | z => skip
  | s q ih => skip
/-
5:6 error: unsolved goals
case left.refl.z
x y : A
m : N
l : L N
p : Pt
k : Either (R x y) (∀ (z : A), R x z → P)
⊢ R y x
6:11 error: unsolved goals
case left.refl.s
x y : A
m : N
l : L N
p : Pt
k : Either (R x y) (∀ (z : A), R x z → P)
q : N
ih : R y x
⊢ R y x
1:131 error: unsolved goals
case right
x y : A
n m : N
l : L N
p : Pt
h : n = m
k : Either (R x y) (∀ (z : A), R x z → P)
⊢ Same n m
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : ∀ z : A, R x z → Both (Q) (Q)) (k : Eq n m) : Some fun z : A => Both (R x z) (Same x y) := by
  induction l
/-
1:143 error: unsolved goals
case nil
x y : A
n m : N
p : Pt
h : ∀ (z : A), R x z → Both Q Q
k : n = m
⊢ Some fun z => Both (R x z) (Same x y)

case cons
x y : A
n m : N
p : Pt
h : ∀ (z : A), R x z → Both Q Q
k : n = m
head✝ : N
tail✝ : L N
tail_ih✝ : Some fun z => Both (R x z) (Same x y)
⊢ Some fun z => Both (R x z) (Same x y)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Eq x y) : Both ((Same n m) → Same N.z n) ((False) → Same N.z n) := by
  clear h
  refine ⟨?_, ?_⟩
  cases l
/-
1:132 error: unsolved goals
case refine_1.nil
x y : A
n m : N
p : Pt
k : x = y
⊢ Same n m → Same N.z n

case refine_1.cons
x y : A
n m : N
p : Pt
k : x = y
head✝ : N
tail✝ : L N
⊢ Same n m → Same N.z n

case refine_2
x y : A
n m : N
l : L N
p : Pt
k : x = y
⊢ False → Same N.z n
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Eq (f x) y) : Both (False) (Q) := by
  · skip
/-
2:2 error: unsolved goals
x y : A
n m : N
l : L N
p : Pt
h k : f x = y
⊢ Both False Q
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : ∀ z : A, R x z → ∀ z : A, R x z → P) (k : Eq (f x) y) : Same x y := by
  revert x y
  cases n
  induction m
/-
1:120 error: unsolved goals
case z.z
l : L N
p : Pt
⊢ ∀ (x y : A), (∀ (z : A), R x z → ∀ (z : A), R x z → P) → f x = y → Same x y

case z.s
l : L N
p : Pt
n✝ : N
n_ih✝ : ∀ (x y : A), (∀ (z : A), R x z → ∀ (z : A), R x z → P) → f x = y → Same x y
⊢ ∀ (x y : A), (∀ (z : A), R x z → ∀ (z : A), R x z → P) → f x = y → Same x y

case s
m : N
l : L N
p : Pt
n✝ : N
⊢ ∀ (x y : A), (∀ (z : A), R x z → ∀ (z : A), R x z → P) → f x = y → Same x y
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Eq n m) : Same n m := by
  revert n
  subst x
  intro a
  cases l with
  | nil => skip
  | cons b t => skip
  cases n with
  | z => skip
  | s q => skip
/-
6:8 error: unsolved goals
case nil
y : A
m : N
p : Pt
a : N
⊢ a = m → Same a m
7:13 error: unsolved goals
case cons
y : A
m : N
p : Pt
a b : N
t : L N
⊢ a = m → Same a m
8:2 error: No goals to be solved
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Both (False) (Some fun z : A => Both (R x z) (Same x y))) (k : ∀ z : A, R x z → Either (Same n m) (R x y)) : (Both (Q) (Same N.z n)) → Either (Same N.z n) (R y x) := by
  clear h
  exact Same.mk
/-
3:2 error: Type mismatch
  Same.mk
has type
  Same ?m._ ?m._
but is expected to have type
  Both Q (Same N.z n) → Either (Same N.z n) (R y x)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Either (∀ z : A, R x z → Same x y) ((False) → False)) (k : Eq n m) : P := by
  induction n generalizing m
  exact hp
  skip
  clear k
  induction m
/-
1:126 error: unsolved goals
case s.z
x y : A
l : L N
p : Pt
h : Either (∀ (z : A), R x z → Same x y) (False → False)
n✝ : N
n_ih✝ : ∀ (m : N), n✝ = m → P
⊢ P

case s.s
x y : A
l : L N
p : Pt
h : Either (∀ (z : A), R x z → Same x y) (False → False)
n✝¹ : N
n_ih✝¹ : ∀ (m : N), n✝¹ = m → P
n✝ : N
n_ih✝ : P
⊢ P
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Either (∀ z : A, R x z → Same N.z n) (∀ z : A, R x z → Same n m)) (k : (∀ z : A, R x z → P) → (Same N.z n) → Q) : Both (Both (Same N.z n) (Same x y)) ((R x y) → P) := by
  cases l
  induction m
  revert h
/-
1:219 error: unsolved goals
case nil.z
x y : A
n : N
p : Pt
k : (∀ (z : A), R x z → P) → Same N.z n → Q
⊢ Either (∀ (z : A), R x z → Same N.z n) (∀ (z : A), R x z → Same n N.z) →
    Both (Both (Same N.z n) (Same x y)) (R x y → P)

case nil.s
x y : A
n : N
p : Pt
k : (∀ (z : A), R x z → P) → Same N.z n → Q
n✝ : N
n_ih✝ :
  Either (∀ (z : A), R x z → Same N.z n) (∀ (z : A), R x z → Same n n✝) →
    Both (Both (Same N.z n) (Same x y)) (R x y → P)
h : Either (∀ (z : A), R x z → Same N.z n) (∀ (z : A), R x z → Same n n✝.s)
⊢ Both (Both (Same N.z n) (Same x y)) (R x y → P)

case cons
x y : A
n m : N
p : Pt
h : Either (∀ (z : A), R x z → Same N.z n) (∀ (z : A), R x z → Same n m)
k : (∀ (z : A), R x z → P) → Same N.z n → Q
head✝ : N
tail✝ : L N
⊢ Both (Both (Same N.z n) (Same x y)) (R x y → P)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : ∀ z : A, R x z → R y x) : Same x y := by
  cases l with
  | nil => skip
  | cons b t => skip
/-
3:8 error: unsolved goals
case nil
x y : A
n m : N
p : Pt
h : x = y
k : ∀ (z : A), R x z → R y x
⊢ Same x y
4:13 error: unsolved goals
case cons
x y : A
n m : N
p : Pt
h : x = y
k : ∀ (z : A), R x z → R y x
b : N
t : L N
⊢ Same x y
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Eq (f x) y) : R y x := by
  induction h
  cases k with
  | intro w c => skip
/-
4:2 error: Invalid alternative name `intro`: Expected `refl`
3:2 error: Dependent elimination failed: Failed to solve equation
  x = f x
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Either (∀ z : A, R x z → Q) (Same N.z n)) (k : Both (Some fun z : A => Both (R x z) (Q)) (Some fun z : A => Both (R x z) (Same N.z n))) : Both (∀ z : A, R x z → R y x) (Same N.z n) := by
  revert h
  cases n with
  | z => skip
  | s q => skip
  induction l
/-
4:6 error: unsolved goals
case z
x y : A
m : N
l : L N
p : Pt
k : Both (Some fun z => Both (R x z) Q) (Some fun z => Both (R x z) (Same N.z N.z))
⊢ Either (∀ (z : A), R x z → Q) (Same N.z N.z) → Both (∀ (z : A), R x z → R y x) (Same N.z N.z)
5:8 error: unsolved goals
case s
x y : A
m : N
l : L N
p : Pt
q : N
k : Both (Some fun z => Both (R x z) Q) (Some fun z => Both (R x z) (Same N.z q.s))
⊢ Either (∀ (z : A), R x z → Q) (Same N.z q.s) → Both (∀ (z : A), R x z → R y x) (Same N.z q.s)
6:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : R y x) (k : (Some fun z : A => Both (R x z) (P)) → False) : (Either (Same x y) (P)) → Some fun z : A => Both (R x z) (Same x y) := by
  clear h
/-
1:183 error: unsolved goals
x y : A
n m : N
l : L N
p : Pt
k : (Some fun z => Both (R x z) P) → False
⊢ Either (Same x y) P → Some fun z => Both (R x z) (Same x y)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Eq x y) : Same x y := by
  subst k
  revert n
  induction m
  intro x
  cases l with
  | nil => skip
  | cons b t => skip
/-
7:8 error: unsolved goals
case z.nil
x✝ : A
p : Pt
h : f x✝ = x✝
x : N
⊢ Same x✝ x✝
8:13 error: unsolved goals
case z.cons
x✝ : A
p : Pt
h : f x✝ = x✝
x b : N
t : L N
⊢ Same x✝ x✝
1:91 error: unsolved goals
case s
x : A
l : L N
p : Pt
h : f x = x
n✝ : N
n_ih✝ : ∀ (n : N), Same x x
⊢ ∀ (n : N), Same x x
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Eq x y) : (P) → Some fun z : A => Both (R x z) (Q) := by
  clear x
/-
2:2 error: Tactic `clear` failed: variable 'h' depends on 'x'

x y : A
n m : N
l : L N
p : Pt
h : f x = y
k : x = y
⊢ P → Some fun z => Both (R x z) Q
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : R x y) : ∀ z : A, R x z → Either (P) (R x y) := by
  · skip
/-
2:2 error: unsolved goals
x y : A
n m : N
l : L N
p : Pt
h : n = m
k : R x y
⊢ ∀ (z : A), R x z → Either P (R x y)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Some fun z : A => Both (R x z) (Same x y)) (k : R x y) : Either (∀ z : A, R x z → False) (Some fun z : A => Both (R x z) (Same N.z n)) := by
  clear h
/-
1:190 error: unsolved goals
x y : A
n m : N
l : L N
p : Pt
k : R x y
⊢ Either (∀ (z : A), R x z → False) (Some fun z => Both (R x z) (Same N.z n))
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : ∀ z : A, R x z → R x y) (k : Eq n m) : R y x := by
  induction l with
  | nil => skip
  | cons b t ih => skip
  skip
  refine Some.intro x ?_
/-
3:8 error: unsolved goals
case nil
x y : A
n m : N
p : Pt
h : ∀ (z : A), R x z → R x y
k : n = m
⊢ R y x
4:16 error: unsolved goals
case cons
x y : A
n m : N
p : Pt
h : ∀ (z : A), R x z → R x y
k : n = m
b : N
t : L N
ih : R y x
⊢ R y x
6:2 error: No goals to be solved
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Both (Some fun z : A => Both (R x z) (P)) (Same x y)) (k : Same N.z n) : Both ((Same x y) → R y x) (Some fun z : A => Both (R x z) (Q)) := by
  induction l
  revert x y
  subst k
/-
4:2 error: Tactic `subst` failed: did not find equation for eliminating 'k'

case nil
n m : N
p : Pt
k : Same N.z n
⊢ ∀ (x y : A), Both (Some fun z => Both (R x z) P) (Same x y) → Both (Same x y → R y x) (Some fun z => Both (R x z) Q)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : (P) → P) : False := by
  specialize k hp
  cases p
  induction n
  cases l
  clear k
/-
1:89 error: unsolved goals
case mk.z.nil
x y : A
m : N
h : f x = y
x✝ y✝ : N
⊢ False

case mk.z.cons
x y : A
m : N
h : f x = y
k : P
x✝ y✝ head✝ : N
tail✝ : L N
⊢ False

case mk.s
x y : A
m : N
l : L N
h : f x = y
k : P
x✝ y✝ n✝ : N
n_ih✝ : False
⊢ False
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Both (Either (False) (Same x y)) (Same x y)) (k : False) : ∀ z : A, R x z → ∀ z : A, R x z → R x y := by
  intro a b
  · skip
/-
3:2 error: unsolved goals
x y : A
n m : N
l : L N
p : Pt
h : Both (Either False (Same x y)) (Same x y)
k : False
a : A
b : R x a
⊢ ∀ (z : A), R x z → R x y
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Eq x y) : ∀ z : A, R x z → ∀ z : A, R x z → False := by
  intro a
  cases l
/-
1:122 error: unsolved goals
case nil
x y : A
n m : N
p : Pt
h : f x = y
k : x = y
a : A
⊢ R x a → ∀ (z : A), R x z → False

case cons
x y : A
n m : N
p : Pt
h : f x = y
k : x = y
a : A
head✝ : N
tail✝ : L N
⊢ R x a → ∀ (z : A), R x z → False
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : P) (k : Eq x y) : Some fun z : A => Both (R x z) (∀ z : A, R x z → Same N.z n) := by
  skip
  induction n generalizing m
/-
1:134 error: unsolved goals
case z
x y : A
l : L N
p : Pt
h : P
k : x = y
m : N
⊢ Some fun z => Both (R x z) (∀ (z : A), R x z → Same N.z N.z)

case s
x y : A
l : L N
p : Pt
h : P
k : x = y
n✝ : N
n_ih✝ : ∀ (m : N), Some fun z => Both (R x z) (∀ (z : A), R x z → Same N.z n✝)
m : N
⊢ Some fun z => Both (R x z) (∀ (z : A), R x z → Same N.z n✝.s)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Some fun z : A => Both (R x z) ((Same N.z n) → False)) (k : Both (Both (Same x y) (Same x y)) (Same N.z n)) : False := by
  cases p with
  | mk u v => skip
/-
3:11 error: unsolved goals
case mk
x y : A
n m : N
l : L N
h : Some fun z => Both (R x z) (Same N.z n → False)
k : Both (Both (Same x y) (Same x y)) (Same N.z n)
u v : N
⊢ False
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Eq n m) : P := by
  cases p with
  | mk u v => skip
  rewrite [k]
/-
3:11 error: unsolved goals
case mk
x y : A
n m : N
l : L N
h : x = y
k : n = m
u v : N
⊢ P
4:11 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Eq n m) : Either (Both (Same N.z n) (R x y)) (False) := by
  cases k
  cases n with
  | z => skip
  | s q => skip
  clear x
/-
4:6 error: unsolved goals
case refl.z
x y : A
l : L N
p : Pt
h : x = y
⊢ Either (Both (Same N.z N.z) (R x y)) False
5:8 error: unsolved goals
case refl.s
x y : A
l : L N
p : Pt
h : x = y
q : N
⊢ Either (Both (Same N.z q.s) (R x y)) False
6:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : ∀ z : A, R x z → ∀ z : A, R x z → Q) (k : Eq (f x) y) : Some fun z : A => Both (R x z) (∀ z : A, R x z → Same N.z n) := by
  clear h
  cases p with
  | mk u v => skip
/-
4:11 error: unsolved goals
case mk
x y : A
n m : N
l : L N
k : f x = y
u v : N
⊢ Some fun z => Both (R x z) (∀ (z : A), R x z → Same N.z n)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Eq (f x) y) : R x y := by
  cases p with
  | mk u v => skip
  exact ⟨h, k⟩
/-
3:11 error: unsolved goals
case mk
x y : A
n m : N
l : L N
h k : f x = y
u v : N
⊢ R x y
4:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Eq x y) : (Same n m) → P := by
  induction m
/-
1:93 error: unsolved goals
case z
x y : A
n : N
l : L N
p : Pt
k : x = y
h : n = N.z
⊢ Same n N.z → P

case s
x y : A
n : N
l : L N
p : Pt
k : x = y
n✝ : N
n_ih✝ : n = n✝ → Same n n✝ → P
h : n = n✝.s
⊢ Same n n✝.s → P
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Eq x y) : Some fun z : A => Both (R x z) (Same N.z n) := by
  revert h
/-
1:126 error: unsolved goals
x y : A
n m : N
l : L N
p : Pt
k : x = y
⊢ f x = y → Some fun z => Both (R x z) (Same N.z n)
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Some fun z : A => Both (R x z) (Both (R y x) (Same n m))) (k : Eq (f x) y) : ((R y x) → R y x) → Either (R y x) (False) := by
  cases n with
  | z => skip
  | s q => skip
  intro x
/-
3:6 error: unsolved goals
case z
x y : A
m : N
l : L N
p : Pt
k : f x = y
h : Some fun z => Both (R x z) (Both (R y x) (Same N.z m))
⊢ (R y x → R y x) → Either (R y x) False
4:8 error: unsolved goals
case s
x y : A
m : N
l : L N
p : Pt
k : f x = y
q : N
h : Some fun z => Both (R x z) (Both (R y x) (Same q.s m))
⊢ (R y x → R y x) → Either (R y x) False
5:8 error: No goals to be solved
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : ∀ z : A, R x z → R x y) (k : Same x y) : Both ((Same x y) → Same x y) (Q) := by
  induction h
/-
2:2 error: Tactic `induction` failed: major premise type is not an inductive type
  ∀ (z : A), R x z → R x y

Explanation: the `induction` tactic is for constructor-based reasoning as well as for applying custom induction principles with a 'using' clause or a registered '@[induction_eliminator]' theorem. The above type neither is an inductive type nor has a registered theorem.

x y : A
n m : N
l : L N
p : Pt
h : ∀ (z : A), R x z → R x y
k : Same x y
⊢ Both (Same x y → Same x y) Q
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Eq n m) : ∀ z : A, R x z → False := by
  · skip
/-
2:2 error: unsolved goals
x y : A
n m : N
l : L N
p : Pt
h : f x = y
k : n = m
⊢ ∀ (z : A), R x z → False
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : (∀ z : A, R x z → Same x y) → (Same x y) → Same N.z n) (k : Eq (f x) y) : ∀ z : A, R x z → False := by
  apply Some.intro
/-
2:2 error: Tactic `apply` failed: could not unify the conclusion of `@Some.intro`
  ∀ (w : ?α), ?p w → Some ?p
with the goal
  ∀ (z : A), R x z → False

Note: The full type of `@Some.intro` is
  ∀ {α : Sort ?u._} {p : α → Prop} (w : α), p w → Some p

x y : A
n m : N
l : L N
p : Pt
h : (∀ (z : A), R x z → Same x y) → Same x y → Same N.z n
k : f x = y
⊢ ∀ (z : A), R x z → False
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : ∀ z : A, R x z → Either (Same x y) (R y x)) (k : Eq x y) : Either ((Same n m) → Q) (Some fun z : A => Both (R x z) (P)) := by
  induction m
  subst k
  intro a b
/-
4:8 error: Tactic `introN` failed: There are no additional binders or `let` bindings in the goal to introduce

case z
x : A
n : N
l : L N
p : Pt
h : ∀ (z : A), R x z → Either (Same x x) (R x x)
⊢ Either (Same n N.z → Q) (Some fun z => Both (R x z) P)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Eq n m) : Same x y := by
  subst h
  revert n
/-
1:87 error: unsolved goals
x : A
m : N
l : L N
p : Pt
⊢ ∀ (n : N), n = m → Same x x
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Same N.z n) (k : Eq x y) : ∀ z : A, R x z → Either (Q) (R y x) := by
  cases p
  cases l
  skip
/-
1:118 error: unsolved goals
case mk.nil
x y : A
n m : N
h : Same N.z n
k : x = y
x✝ y✝ : N
⊢ ∀ (z : A), R x z → Either Q (R y x)

case mk.cons
x y : A
n m : N
h : Same N.z n
k : x = y
x✝ y✝ head✝ : N
tail✝ : L N
⊢ ∀ (z : A), R x z → Either Q (R y x)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Eq n m) : ∀ z : A, R x z → (R y x) → R y x := by
  cases n
  cases h
  revert x y
/-
1:111 error: unsolved goals
case z.refl
l : L N
p : Pt
k : N.z = N.z
⊢ ∀ (x y z : A), R x z → R y x → R y x

case s
x y : A
m : N
l : L N
p : Pt
n✝ : N
h k : n✝.s = m
⊢ ∀ (z : A), R x z → R y x → R y x
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Both (Some fun z : A => Both (R x z) (Same N.z n)) (Some fun z : A => Both (R x z) (False))) (k : Some fun z : A => Both (R x z) (Some fun z : A => Both (R x z) (Same N.z n))) : (Q) → Some fun z : A => Both (R x z) (R x y) := by
  revert n
/-
1:278 error: unsolved goals
x y : A
m : N
l : L N
p : Pt
⊢ ∀ (n : N),
    Both (Some fun z => Both (R x z) (Same N.z n)) (Some fun z => Both (R x z) False) →
      (Some fun z => Both (R x z) (Some fun z => Both (R x z) (Same N.z n))) → Q → Some fun z => Both (R x z) (R x y)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : R x y) : ∀ z : A, R x z → ∀ z : A, R x z → P := by
  revert n
  intro
/-
1:113 error: unsolved goals
x y : A
m : N
l : L N
p : Pt
k : R x y
n✝ : N
⊢ n✝ = m → ∀ (z : A), R x z → ∀ (z : A), R x z → P
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : R x y) : Both (Either (Same n m) (P)) ((Q) → Q) := by
  cases p with
  | mk u v => skip
  apply Some.intro
/-
3:11 error: unsolved goals
case mk
x y : A
n m : N
l : L N
h : n = m
k : R x y
u v : N
⊢ Both (Either (Same n m) P) (Q → Q)
4:2 error: No goals to be solved
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : (False) → Some fun z : A => Both (R x z) (Q)) (k : Eq (f x) y) : Same n m := by
  skip
  · skip
  intro a b
/-
3:2 error: unsolved goals
x y : A
n m : N
l : L N
p : Pt
h : False → Some fun z => Both (R x z) Q
k : f x = y
⊢ Same n m
4:8 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Either (Either (R y x) (R y x)) ((Same x y) → False)) (k : Eq (f x) y) : ∀ z : A, R x z → R x y := by
  cases p
  · skip
  apply k
/-
3:2 error: unsolved goals
case mk
x y : A
n m : N
l : L N
h : Either (Either (R y x) (R y x)) (Same x y → False)
k : f x = y
x✝ y✝ : N
⊢ ∀ (z : A), R x z → R x y
4:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Eq (f x) y) : Same x y := by
  subst k
  induction n
/-
1:91 error: unsolved goals
case z
x : A
m : N
l : L N
p : Pt
h : x = f x
⊢ Same x (f x)

case s
x : A
m : N
l : L N
p : Pt
h : x = f x
n✝ : N
n_ih✝ : Same x (f x)
⊢ Same x (f x)
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Eq n m) : Either (∀ z : A, R x z → Same n m) (Both (R x y) (R y x)) := by
  induction h
/-
1:136 error: unsolved goals
case refl
x y : A
n m : N
l : L N
p : Pt
k : n = n
⊢ Either (∀ (z : A), R x z → Same n n) (Both (R x y) (R y x))
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Eq n m) : Some fun z : A => Both (R x z) (False) := by
  cases p
/-
1:117 error: unsolved goals
case mk
x y : A
n m : N
l : L N
h : x = y
k : n = m
x✝ y✝ : N
⊢ Some fun z => Both (R x z) False
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Eq (f x) y) : Some fun z : A => Both (R x z) (Both (R x y) (Q)) := by
  cases p
  apply Some.intro
  induction h
  cases l with
  | nil => skip
  | cons b t => skip
/-
6:8 error: unsolved goals
case mk.h.refl.nil
x y : A
n m x✝ y✝ : N
k : f x = f x
⊢ Both (R x (?m._ L.nil (f x) ⋯ k)) (Both (R x (f x)) Q)
7:13 error: unsolved goals
case mk.h.refl.cons
x y : A
n m x✝ y✝ : N
k : f x = f x
b : N
t : L N
⊢ Both (R x (?m._ (L.cons b t) (f x) ⋯ k)) (Both (R x (f x)) Q)
1:0 error: (kernel) declaration has metavariables '_example'
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Eq x y) : P := by
  induction l with
  | nil => skip
  | cons b t ih => skip
  constructor
/-
3:8 error: unsolved goals
case nil
x y : A
n m : N
p : Pt
h : n = m
k : x = y
⊢ P
4:16 error: unsolved goals
case cons
x y : A
n m : N
p : Pt
h : n = m
k : x = y
b : N
t : L N
ih : P
⊢ P
5:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : R y x) (k : (False) → Q) : Same x y := by
  cases n with
  | z => skip
  | s q => skip
  exact h.left
/-
3:6 error: unsolved goals
case z
x y : A
m : N
l : L N
p : Pt
h : R y x
k : False → Q
⊢ Same x y
4:8 error: unsolved goals
case s
x y : A
m : N
l : L N
p : Pt
h : R y x
k : False → Q
q : N
⊢ Same x y
5:2 error: No goals to be solved
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Eq n m) : Either (Both (Same x y) (Same n m)) ((Same N.z n) → Same n m) := by
  apply Either.inl
  revert h
  induction m
/-
1:140 error: unsolved goals
case z
x y : A
n : N
l : L N
p : Pt
k : n = N.z
⊢ x = y → Both (Same x y) (Same n N.z)

case s
x y : A
n : N
l : L N
p : Pt
n✝ : N
n_ih✝ : n = n✝ → x = y → Both (Same x y) (Same n n✝)
k : n = n✝.s
⊢ x = y → Both (Same x y) (Same n n✝.s)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : P) (k : Eq x y) : Both (∀ z : A, R x z → Same x y) (Q) := by
  constructor
  cases p
  · skip
/-
4:2 error: unsolved goals
case left.mk
x y : A
n m : N
l : L N
h : P
k : x = y
x✝ y✝ : N
⊢ ∀ (z : A), R x z → Same x y
1:110 error: unsolved goals
case right
x y : A
n m : N
l : L N
p : Pt
h : P
k : x = y
⊢ Q
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : ∀ z : A, R x z → Some fun z : A => Both (R x z) (Same x y)) (k : Eq (f x) y) : Either (R y x) (P) := by
  induction n
  induction l with
  | nil => skip
  | cons b t ih => skip
  cases p
  induction l
  contradiction
/-
4:8 error: unsolved goals
case z.nil
x y : A
m : N
p : Pt
h : ∀ (z : A), R x z → Some fun z => Both (R x z) (Same x y)
k : f x = y
⊢ Either (R y x) P
5:16 error: unsolved goals
case z.cons
x y : A
m : N
p : Pt
h : ∀ (z : A), R x z → Some fun z => Both (R x z) (Same x y)
k : f x = y
b : N
t : L N
ih : Either (R y x) P
⊢ Either (R y x) P
8:2 error: Tactic `contradiction` failed

case s.mk.nil
x y : A
m : N
h : ∀ (z : A), R x z → Some fun z => Both (R x z) (Same x y)
k : f x = y
n✝ : N
n_ih✝ : Either (R y x) P
x✝ y✝ : N
⊢ Either (R y x) P
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : ∀ z : A, R x z → Q) : Same x y := by
  induction n
  skip
  clear k
  apply Some.intro
/-
5:2 error: Tactic `apply` failed: could not unify the conclusion of `@Some.intro`
  Some ?p
with the goal
  Same x y

Note: The full type of `@Some.intro` is
  ∀ {α : Sort ?u._} {p : α → Prop} (w : α), p w → Some p

case z
x y : A
m : N
l : L N
p : Pt
h : f x = y
⊢ Same x y
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : False) (k : Eq (f x) y) : Same N.z n := by
  clear h
  induction n generalizing m
/-
1:92 error: unsolved goals
case z
x y : A
l : L N
p : Pt
k : f x = y
m : N
⊢ Same N.z N.z

case s
x y : A
l : L N
p : Pt
k : f x = y
n✝ : N
n_ih✝ : ∀ (m : N), Same N.z n✝
m : N
⊢ Same N.z n✝.s
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Some fun z : A => Both (R x z) (Both (Same N.z n) (Same n m))) (k : Eq n m) : Same n m := by
  cases h
  clear k
/-
1:142 error: unsolved goals
case intro
x y : A
n m : N
l : L N
p : Pt
w✝ : A
h✝ : Both (R x w✝) (Both (Same N.z n) (Same n m))
⊢ Same n m
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Eq (f x) y) : Same x y := by
  cases k
  induction n
  cases l
  rewrite [h]
  rewrite [h]
/-
1:91 error: unsolved goals
case refl.z.nil
x : A
m : N
p : Pt
h : x = f x
⊢ Same (f (f x)) (f (f (f x)))

case refl.z.cons
x : A
m : N
p : Pt
h : x = f x
head✝ : N
tail✝ : L N
⊢ Same x (f x)

case refl.s
x : A
m : N
l : L N
p : Pt
h : x = f x
n✝ : N
n_ih✝ : Same x (f x)
⊢ Same x (f x)
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Q) (k : R y x) : Some fun z : A => Both (R x z) (Some fun z : A => Both (R x z) (False)) := by
  cases p with
  | mk u v => skip
  intro x
/-
3:11 error: unsolved goals
case mk
x y : A
n m : N
l : L N
h : Q
k : R y x
u v : N
⊢ Some fun z => Both (R x z) (Some fun z => Both (R x z) False)
4:8 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Some fun z : A => Both (R x z) ((False) → Same x y)) (k : Eq (f x) y) : False := by
  induction l
  induction h
  cases p
  revert x y
/-
1:133 error: unsolved goals
case nil.intro.mk
n m : N
w✝ : A
x✝ y✝ : N
⊢ ∀ (x y : A), f x = y → Both (R x w✝) (False → Same x y) → False

case cons
x y : A
n m : N
p : Pt
h : Some fun z => Both (R x z) (False → Same x y)
k : f x = y
head✝ : N
tail✝ : L N
tail_ih✝ : False
⊢ False
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Eq (f x) y) : Some fun z : A => Both (R x z) (Either (P) (Same N.z n)) := by
  induction n
/-
1:143 error: unsolved goals
case z
x y : A
m : N
l : L N
p : Pt
h k : f x = y
⊢ Some fun z => Both (R x z) (Either P (Same N.z N.z))

case s
x y : A
m : N
l : L N
p : Pt
h k : f x = y
n✝ : N
n_ih✝ : Some fun z => Both (R x z) (Either P (Same N.z n✝))
⊢ Some fun z => Both (R x z) (Either P (Same N.z n✝.s))
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Same N.z n) (k : Eq (f x) y) : Some fun z : A => Both (R x z) ((Same n m) → P) := by
  clear h
  cases n with
  | z => skip
  | s q => skip
  refine ⟨_, h⟩
/-
4:6 error: unsolved goals
case z
x y : A
m : N
l : L N
p : Pt
k : f x = y
⊢ Some fun z => Both (R x z) (Same N.z m → P)
5:8 error: unsolved goals
case s
x y : A
m : N
l : L N
p : Pt
k : f x = y
q : N
⊢ Some fun z => Both (R x z) (Same q.s m → P)
6:2 error: No goals to be solved
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Eq x y) : Both (Same n m) (∀ z : A, R x z → P) := by
  cases h
  intro a
/-
3:8 error: Tactic `introN` failed: There are no additional binders or `let` bindings in the goal to introduce

case refl
x : A
n m : N
l : L N
p : Pt
k : x = f x
⊢ Both (Same n m) (∀ (z : A), R x z → P)
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Eq (f x) y) : Same n m := by
  induction n
  revert h
  intro x
  rewrite [← h]
/-
5:13 error: Unknown identifier `h`
1:91 error: unsolved goals
case z
x✝ y : A
m : N
l : L N
p : Pt
k : f x✝ = y
x : x✝ = y
⊢ Same N.z m

case s
x y : A
m : N
l : L N
p : Pt
h : x = y
k : f x = y
n✝ : N
n_ih✝ : Same n✝ m
⊢ Same n✝.s m
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : R y x) : Same x y := by
  cases l
  rewrite [h] at k
  rewrite [← h]
  clear h
  cases n
/-
1:86 error: unsolved goals
case nil.z
x y : A
m : N
p : Pt
k : R y y
⊢ Same x x

case nil.s
x y : A
m : N
p : Pt
k : R y y
n✝ : N
⊢ Same x x

case cons
x y : A
n m : N
p : Pt
h : x = y
k : R y x
head✝ : N
tail✝ : L N
⊢ Same x y
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : ((R y x) → R y x) → (Same x y) → Same n m) : ∀ z : A, R x z → (False) → Same x y := by
  cases p with
  | mk u v => skip
  apply Either.inl
/-
3:11 error: unsolved goals
case mk
x y : A
n m : N
l : L N
h : x = y
k : (R y x → R y x) → Same x y → Same n m
u v : N
⊢ ∀ (z : A), R x z → False → Same x y
4:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Eq x y) : R x y := by
  induction m
  subst h
/-
1:84 error: unsolved goals
case z
x y : A
l : L N
p : Pt
k : x = y
⊢ R x y

case s
x y : A
n : N
l : L N
p : Pt
k : x = y
n✝ : N
n_ih✝ : n = n✝ → R x y
h : n = n✝.s
⊢ R x y
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : ∀ z : A, R x z → ∀ z : A, R x z → False) (k : Eq x y) : Same n m := by
  induction n with
  | z => skip
  | s q ih => skip
  cases h with
  | mk a b => skip
/-
3:6 error: unsolved goals
case z
x y : A
m : N
l : L N
p : Pt
h : ∀ (z : A), R x z → ∀ (z : A), R x z → False
k : x = y
⊢ Same N.z m
4:11 error: unsolved goals
case s
x y : A
m : N
l : L N
p : Pt
h : ∀ (z : A), R x z → ∀ (z : A), R x z → False
k : x = y
q : N
ih : Same q m
⊢ Same q.s m
5:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Eq (f x) y) : Either (R y x) (False) := by
  skip
  revert x y
  induction l with
  | nil => skip
  | cons b t ih => skip
  cases p with
  | mk u v => skip
/-
5:8 error: unsolved goals
case nil
n m : N
p : Pt
h : n = m
⊢ ∀ (x y : A), f x = y → Either (R y x) False
6:16 error: unsolved goals
case cons
n m : N
p : Pt
h : n = m
b : N
t : L N
ih : ∀ (x y : A), f x = y → Either (R y x) False
⊢ ∀ (x y : A), f x = y → Either (R y x) False
7:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Eq x y) : Both (Either (Same N.z n) (False)) (∀ z : A, R x z → Same x y) := by
  constructor
  cases l
/-
1:141 error: unsolved goals
case left.nil
x y : A
n m : N
p : Pt
h k : x = y
⊢ Either (Same N.z n) False

case left.cons
x y : A
n m : N
p : Pt
h k : x = y
head✝ : N
tail✝ : L N
⊢ Either (Same N.z n) False

case right
x y : A
n m : N
l : L N
p : Pt
h k : x = y
⊢ ∀ (z : A), R x z → Same x y
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : ∀ z : A, R x z → P) (k : Eq (f x) y) : (R x y) → Q := by
  cases p
  revert n
/-
1:106 error: unsolved goals
case mk
x y : A
m : N
l : L N
h : ∀ (z : A), R x z → P
k : f x = y
x✝ y✝ : N
⊢ ∀ (n : N), R x y → Q
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Eq (f x) y) : Same x y := by
  clear k
  cases p
/-
1:91 error: unsolved goals
case mk
x y : A
n m : N
l : L N
h : n = m
x✝ y✝ : N
⊢ Same x y
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Same n m) : Q := by
  induction n with
  | z => skip
  | s q ih => skip
  intro x
/-
3:6 error: unsolved goals
case z
x y : A
m : N
l : L N
p : Pt
h : x = y
k : Same N.z m
⊢ Q
4:11 error: unsolved goals
case s
x y : A
m : N
l : L N
p : Pt
h : x = y
q : N
ih : Same q m → Q
k : Same q.s m
⊢ Q
5:8 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : ∀ z : A, R x z → ∀ z : A, R x z → Q) (k : Same N.z n) : ∀ z : A, R x z → Same x y := by
  intro a b
  cases n with
  | z => skip
  | s q => skip
  revert n
/-
4:6 error: unsolved goals
case z
x y : A
m : N
l : L N
p : Pt
h : ∀ (z : A), R x z → ∀ (z : A), R x z → Q
a : A
b : R x a
k : Same N.z N.z
⊢ Same x y
5:8 error: unsolved goals
case s
x y : A
m : N
l : L N
p : Pt
h : ∀ (z : A), R x z → ∀ (z : A), R x z → Q
a : A
b : R x a
q : N
k : Same N.z q.s
⊢ Same x y
6:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Eq (f x) y) : Same n m := by
  intro
/-
2:2 error: Tactic `introN` failed: There are no additional binders or `let` bindings in the goal to introduce

x y : A
n m : N
l : L N
p : Pt
h : x = y
k : f x = y
⊢ Same n m
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Eq n m) : R x y := by
  exact hp
/-
2:2 error: Type mismatch
  hp
has type
  P
but is expected to have type
  R x y
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Eq n m) : P := by
  cases p
  skip
  cases n
/-
1:84 error: unsolved goals
case mk.z
x y : A
m : N
l : L N
h : f x = y
x✝ y✝ : N
k : N.z = m
⊢ P

case mk.s
x y : A
m : N
l : L N
h : f x = y
x✝ y✝ n✝ : N
k : n✝.s = m
⊢ P
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Same x y) (k : Eq n m) : Either (Same x y) (False) := by
  cases p with
  | mk u v => skip
  rewrite [h]
/-
3:11 error: unsolved goals
case mk
x y : A
n m : N
l : L N
h : Same x y
k : n = m
u v : N
⊢ Either (Same x y) False
4:11 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Same n m) (k : Eq x y) : P := by
  rewrite [h] at k
/-
2:11 error: Invalid rewrite argument: Expected an equality or iff proof or definition name, but `h` is a proof of
  Same n m
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Eq (f x) y) : ∀ z : A, R x z → ∀ z : A, R x z → False := by
  cases p with
  | mk u v => skip
  apply Either.inl
/-
3:11 error: unsolved goals
case mk
x y : A
n m : N
l : L N
h : n = m
k : f x = y
u v : N
⊢ ∀ (z : A), R x z → ∀ (z : A), R x z → False
4:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Both (∀ z : A, R x z → P) (Some fun z : A => Both (R x z) (Same n m))) (k : Eq (f x) y) : Same N.z n := by
  · skip
/-
2:2 error: unsolved goals
x y : A
n m : N
l : L N
p : Pt
h : Both (∀ (z : A), R x z → P) (Some fun z => Both (R x z) (Same n m))
k : f x = y
⊢ Same N.z n
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Eq x y) : (Some fun z : A => Both (R x z) (Same N.z n)) → R y x := by
  skip
  clear h
  cases p
  intro
  cases n
/-
1:132 error: unsolved goals
case mk.z
x y : A
m : N
l : L N
k : x = y
x✝ y✝ : N
a✝ : Some fun z => Both (R x z) (Same N.z N.z)
⊢ R y x

case mk.s
x y : A
m : N
l : L N
k : x = y
x✝ y✝ n✝ : N
a✝ : Some fun z => Both (R x z) (Same N.z n✝.s)
⊢ R y x
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Both (False) ((Same N.z n) → Q)) (k : Eq n m) : Some fun z : A => Both (R x z) (∀ z : A, R x z → Same x y) := by
  revert n
/-
1:162 error: unsolved goals
x y : A
m : N
l : L N
p : Pt
⊢ ∀ (n : N), Both False (Same N.z n → Q) → n = m → Some fun z => Both (R x z) (∀ (z : A), R x z → Same x y)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Same n m) (k : Eq x y) : R y x := by
  cases h
/-
1:86 error: unsolved goals
case mk
x y : A
n : N
l : L N
p : Pt
k : x = y
⊢ R y x
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Eq (f x) y) : P := by
  cases p with
  | mk u v => skip
  revert h
/-
3:11 error: unsolved goals
case mk
x y : A
n m : N
l : L N
h : x = y
k : f x = y
u v : N
⊢ P
4:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : P) : Some fun z : A => Both (R x z) (Q) := by
  revert n
  intro a
  cases p with
  | mk u v => skip
  cases l
/-
5:11 error: unsolved goals
case mk
x y : A
m : N
l : L N
k : P
a u v : N
⊢ a = m → Some fun z => Both (R x z) Q
6:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq (f x) y) (k : Eq x y) : (Some fun z : A => Both (R x z) (P)) → P := by
  subst k
  rewrite [← h]
  clear h
/-
1:123 error: unsolved goals
x : A
n m : N
l : L N
p : Pt
⊢ (Some fun z => Both (R (f x) z) P) → P
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Either (∀ z : A, R x z → Same N.z n) (R y x)) (k : Same n m) : Either (Either (R x y) (P)) (Either (Same x y) (Same x y)) := by
  cases h
  cases p with
  | mk u v => skip
  cases p with
  | mk u v => skip
/-
4:11 error: unsolved goals
case inl.mk
x y : A
n m : N
l : L N
k : Same n m
h✝ : ∀ (z : A), R x z → Same N.z n
u v : N
⊢ Either (Either (R x y) P) (Either (Same x y) (Same x y))
6:11 error: unsolved goals
case inr.mk
x y : A
n m : N
l : L N
k : Same n m
h✝ : R y x
u v : N
⊢ Either (Either (R x y) P) (Either (Same x y) (Same x y))
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Both (False) ((False) → False)) : Some fun z : A => Both (R x z) (∀ z : A, R x z → R y x) := by
  induction n generalizing m
  · skip
/-
3:2 error: unsolved goals
case z
x y : A
l : L N
p : Pt
k : Both False (False → False)
m : N
h : N.z = m
⊢ Some fun z => Both (R x z) (∀ (z : A), R x z → R y x)
1:158 error: unsolved goals
case s
x y : A
l : L N
p : Pt
k : Both False (False → False)
n✝ : N
n_ih✝ : ∀ (m : N), n✝ = m → Some fun z => Both (R x z) (∀ (z : A), R x z → R y x)
m : N
h : n✝.s = m
⊢ Some fun z => Both (R x z) (∀ (z : A), R x z → R y x)
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : ∀ z : A, R x z → Either (False) (Same n m)) : Some fun z : A => Both (R x z) (Some fun z : A => Both (R x z) (R y x)) := by
  revert n
/-
1:186 error: unsolved goals
x y : A
m : N
l : L N
p : Pt
h : x = y
⊢ ∀ (n : N),
    (∀ (z : A), R x z → Either False (Same n m)) → Some fun z => Both (R x z) (Some fun z => Both (R x z) (R y x))
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Either (Both (P) (P)) (Either (Same x y) (False))) (k : Eq n m) : ∀ z : A, R x z → P := by
  cases h
  intro a b
  induction n
  cases l with
  | nil => skip
  | cons b t => skip
  cases k
/-
6:8 error: unsolved goals
case inl.z.nil
x y : A
m : N
p : Pt
h✝ : Both P P
a : A
b : R x a
k : N.z = m
⊢ P
7:13 error: unsolved goals
case inl.z.cons
x y : A
m : N
p : Pt
h✝ : Both P P
a : A
b✝ : R x a
k : N.z = m
b : N
t : L N
⊢ P
1:140 error: unsolved goals
case inl.s.refl
x y : A
l : L N
p : Pt
h✝ : Both P P
a : A
b : R x a
n✝ : N
n_ih✝ : n✝ = n✝.s → P
⊢ P

case inr
x y : A
n m : N
l : L N
p : Pt
k : n = m
h✝ : Either (Same x y) False
⊢ ∀ (z : A), R x z → P
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : Eq x y) : P := by
  cases n with
  | z => skip
  | s q => skip
  skip
/-
3:6 error: unsolved goals
case z
x y : A
m : N
l : L N
p : Pt
k : x = y
h : N.z = m
⊢ P
4:8 error: unsolved goals
case s
x y : A
m : N
l : L N
p : Pt
k : x = y
q : N
h : q.s = m
⊢ P
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq x y) (k : Either (P) (Both (R x y) (R x y))) : (Either (R x y) (Same n m)) → Either (R x y) (P) := by
  · skip
  apply Both.mk
/-
2:2 error: unsolved goals
x y : A
n m : N
l : L N
p : Pt
h : x = y
k : Either P (Both (R x y) (R x y))
⊢ Either (R x y) (Same n m) → Either (R x y) P
3:2 error: No goals to be solved
-/
---
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Both (P) (∀ z : A, R x z → R y x)) (k : Either (Same N.z n) (∀ z : A, R x z → Same N.z n)) : Some fun z : A => Both (R x z) (Same n m) := by
  induction n generalizing m
  cases h with
  | mk => skip
  induction l
  cases k
  skip
/-
4:7 error: unsolved goals
case z.mk
x y : A
l : L N
p : Pt
m : N
k : Either (Same N.z N.z) (∀ (z : A), R x z → Same N.z N.z)
left✝ : P
right✝ : ∀ (z : A), R x z → R y x
⊢ Some fun z => Both (R x z) (Same N.z m)
1:190 error: unsolved goals
case s.nil.inl
x y : A
p : Pt
h : Both P (∀ (z : A), R x z → R y x)
n✝ : N
n_ih✝ : ∀ (m : N), Either (Same N.z n✝) (∀ (z : A), R x z → Same N.z n✝) → Some fun z => Both (R x z) (Same n✝ m)
m : N
h✝ : Same N.z n✝.s
⊢ Some fun z => Both (R x z) (Same n✝.s m)

case s.nil.inr
x y : A
p : Pt
h : Both P (∀ (z : A), R x z → R y x)
n✝ : N
n_ih✝ : ∀ (m : N), Either (Same N.z n✝) (∀ (z : A), R x z → Same N.z n✝) → Some fun z => Both (R x z) (Same n✝ m)
m : N
h✝ : ∀ (z : A), R x z → Same N.z n✝.s
⊢ Some fun z => Both (R x z) (Same n✝.s m)

case s.cons
x y : A
p : Pt
h : Both P (∀ (z : A), R x z → R y x)
n✝ : N
n_ih✝ : ∀ (m : N), Either (Same N.z n✝) (∀ (z : A), R x z → Same N.z n✝) → Some fun z => Both (R x z) (Same n✝ m)
m : N
k : Either (Same N.z n✝.s) (∀ (z : A), R x z → Same N.z n✝.s)
head✝ : N
tail✝ : L N
tail_ih✝ : Some fun z => Both (R x z) (Same n✝.s m)
⊢ Some fun z => Both (R x z) (Same n✝.s m)
-/
--- differs
example (x y : A) (n m : N) (l : L N) (p : Pt) (h : Eq n m) (k : ∀ z : A, R x z → R y x) : (Both (R y x) (Same x y)) → Some fun z : A => Both (R x z) (Same N.z n) := by
  specialize h x
/-
2:13 error: Function expected at
  h
but this term has type
  n = m

Note: Expected a function because this term is being applied to the argument
  x
2:2 error: 'specialize' requires a term of the form `h x_1 .. x_n` where `h` appears in the local context
-/
