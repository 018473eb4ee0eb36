-- Examples of every tactic with what NanoLean answers, for test_docs.py: the tactics named in the line above a block, then Lean text.
-- A comment is the answer to the tactics above it: goals, `no goals`, or `error: ` and a refusal.

--- intro
example (p q : Prop) : p → q → p := by
  intro hp hq
/-
p q : Prop
hp : p
hq : q
⊢ p
-/

--- intro
example : ∀ n : Nat, n ≤ n + 1 := by
  intro k
/-
k : Nat
⊢ k ≤ k + 1
-/

--- intro
example (p : Prop) : ¬(p ∧ ¬p) := by
  intro h
/-
p : Prop
h : p ∧ ¬p
⊢ False
-/

--- intro
example (a b : Nat) (f : Nat → Nat) (h : f a ≠ f b) : a ≠ b := by
  intro e
/-
a b : Nat
f : Nat → Nat
h : f a ≠ f b
e : a = b
⊢ False
-/

--- intro
example (p q r : Prop) : p → q → r → q := by
  intro _ hq
/-
p q r : Prop
a✝ : p
hq : q
⊢ r → q
-/
  intro
/-
p q r : Prop
a✝¹ : p
hq : q
a✝ : r
⊢ q
-/

--- intro
example (h : 1 = 1) : 2 = 2 → 3 = 3 := by
  intro h
/-
h✝ : 1 = 1
h : 2 = 2
⊢ 3 = 3
-/

--- intro
example (p : Prop) (hp : p) : p := by
  intro h
/-
error: Tactic `introN` failed: There are no additional binders or `let` bindings in the goal to introduce

p : Prop
hp : p
⊢ p
-/

--- intro
example (p q : Prop) : p ∧ q → q := by
  intro ⟨hp, hq⟩
/-
p q : Prop
hp : p
hq : q
⊢ q
-/

--- intros
example : ∀ a b : Nat, a = b → b = a := by
  intros
/-
a✝¹ b✝ : Nat
a✝ : a✝¹ = b✝
⊢ b✝ = a✝¹
-/

--- intros
example : ∀ a b : Nat, a = b → b = a := by
  intros a b h
/-
a b : Nat
h : a = b
⊢ b = a
-/

--- intros
example (p : Prop) (hp : p) : p := by
  intros
/-
p : Prop
hp : p
⊢ p
-/

--- intros
example (p : Prop) : p → ¬¬p := by
  intros
/-
p : Prop
a✝ : p
⊢ ¬¬p
-/

--- rintro
example (p q r : Prop) : p ∧ q → r → q := by
  rintro ⟨hp, hq⟩ hr
/-
case intro
p q r : Prop
hp : p
hq : q
hr : r
⊢ q
-/

--- rintro
example (p q : Prop) : p ∨ q → q ∨ p := by
  rintro (hp | hq)
/-
case inl
p q : Prop
hp : p
⊢ q ∨ p

case inr
p q : Prop
hq : q
⊢ q ∨ p
-/

--- rintro
example : ∀ a b : Nat, (∃ k, b = a + k) → a ≤ b := by
  rintro a _ ⟨k, rfl⟩
/-
case intro
a k : Nat
⊢ a ≤ a + k
-/

--- rintro
example (p q : Prop) : p ∧ q → q := by
  rintro ⟨-, hq : q⟩
/-
case intro
p q : Prop
hq : q
⊢ q
-/

--- rintro
example (p : Prop) (h : p) : p := by
  rintro h
/-
error: Tactic `introN` failed: There are no additional binders or `let` bindings in the goal to introduce

p : Prop
h : p
⊢ p
-/

--- exact
example (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
  exact ⟨hp, hq⟩
/- no goals -/

--- exact
example (p q : Prop) (h : p ∧ q) : q ∧ p := by
  exact ⟨h.right, by exact h.left⟩
/- no goals -/

--- exact
example (n : Nat) (h : n = 3) : n + 0 = 1 + 2 := by
  exact h
/- no goals -/

--- exact
example (p q : Prop) (hp : p) : p ∧ q := by
  exact hp
/-
error: Type mismatch
  hp
has type
  p
but is expected to have type
  p ∧ q
-/

--- exact
example (p q : Prop) (hp : p) : p ∧ q := by
  exact ⟨hp, _⟩
/-
error: don't know how to synthesize placeholder
context:
p q : Prop
hp : p
⊢ q
-/

--- exact
example (p q : Prop) (h : p ∨ q) : q ∨ p := by
  exact match h with
    | .inl hp => .inr hp
    | .inr hq => .inl hq
/- no goals -/

--- refine
example (p q : Prop) (hp : p) : p ∧ q := by
  refine ⟨hp, ?_⟩
/-
p q : Prop
hp : p
⊢ q
-/

--- refine
example (p q : Prop) : p ∧ q := by
  refine ⟨?first, ?second⟩
/-
case first
p q : Prop
⊢ p

case second
p q : Prop
⊢ q
-/

--- refine
example : ∃ n : Nat, n + 2 = 5 := by
  refine ⟨?_, ?_⟩
/-
case refine_1
⊢ Nat

case refine_2
⊢ ?refine_1 + 2 = 5
-/

--- refine
example (p q r : Prop) (h : p → q → r) : r := by
  refine h ?_ ?_
/-
case refine_1
p q r : Prop
h : p → q → r
⊢ p

case refine_2
p q r : Prop
h : p → q → r
⊢ q
-/

--- refine
example (p q r : Prop) (h : p → q → r) : r := by
  refine h _ ?_
/-
error: don't know how to synthesize placeholder
context:
p q r : Prop
h : p → q → r
⊢ p
-/

--- apply
example (p q r : Prop) (h : p → q → r) : r := by
  apply h
/-
case a
p q r : Prop
h : p → q → r
⊢ p

case a
p q r : Prop
h : p → q → r
⊢ q
-/

--- apply
example (a b c : Nat) (h1 : a ≤ b) (h2 : b ≤ c) : a ≤ c := by
  apply Nat.le_trans h1
/-
a b c : Nat
h1 : a ≤ b
h2 : b ≤ c
⊢ b ≤ c
-/

--- apply
example (a c : Nat) : a ≤ c := by
  apply Nat.le_trans
/-
case a
a c : Nat
⊢ a ≤ ?m

case a
a c : Nat
⊢ ?m ≤ c

case m
a c : Nat
⊢ Nat
-/

--- apply
example (p : Prop) (h : ¬p) : False := by
  apply h
/-
p : Prop
h : ¬p
⊢ p
-/

--- apply
example (p : Prop) (hp : p) : p := by
  apply hp
/- no goals -/

--- apply
example (p q : Prop) (hp : p) : q := by
  apply hp
/-
error: Tactic `apply` failed: could not unify the type of `hp`
  p
with the goal
  q

p q : Prop
hp : p
⊢ q
-/

--- apply
example (p : Nat → Prop) (h : ∀ n, p n → p (n + 1)) : p 3 := by
  apply h
/-
case a
p : Nat → Prop
h : ∀ (n : Nat), p n → p (n + 1)
⊢ p 2
-/

--- assumption
example (p q : Prop) (hp : p) (hq : q) : p := by
  assumption
/- no goals -/

--- assumption
example (p q : Prop) : p → q → p := by
  intros
  assumption
/- no goals -/

--- assumption
example (n : Nat) (h : n = 2) : n + 0 = 1 + 1 := by
  assumption
/- no goals -/

--- assumption
example (p q : Prop) (hp : p) : q := by
  assumption
/-
error: Tactic `assumption` failed

p q : Prop
hp : p
⊢ q
-/

--- have
example (p q : Prop) (h : p ∧ q) : q ∧ p := by
  have hp : p := h.left
/-
p q : Prop
h : p ∧ q
hp : p
⊢ q ∧ p
-/
  have hq := h.right
/-
p q : Prop
h : p ∧ q
hp : p
hq : q
⊢ q ∧ p
-/

--- have
example (n : Nat) (h : 2 ≤ n) : 1 ≤ n := by
  have := Nat.le_of_succ_le h
/-
n : Nat
h : 2 ≤ n
this : 1 ≤ n
⊢ 1 ≤ n
-/

--- have
example (a b : Nat) (h : a = b) : b + 1 = a + 1 := by
  have h1 : b = a := by
    symm
    exact h
/-
a b : Nat
h : a = b
h1 : b = a
⊢ b + 1 = a + 1
-/

--- have
example (p q r : Prop) (h : p → q) (h1 : q → r) : r := by
  have hq : q := h ?_
/-
case refine_2
p q r : Prop
h : p → q
h1 : q → r
hq : q
⊢ r

case refine_1
p q r : Prop
h : p → q
h1 : q → r
⊢ p
-/

--- have
example (a b : Nat) (h : a = b) : a + 1 = b + 1 := by
  have h : b = a := h.symm
/-
a b : Nat
h✝ : a = b
h : b = a
⊢ a + 1 = b + 1
-/

--- have
example (p q : Prop) (h : p ∧ q) : q := by
  have ⟨hp, hq⟩ := h
/-
p q : Prop
h : p ∧ q
hp : p
hq : q
⊢ q
-/

--- have
example (a b : Nat) : a + 0 + (b + 0) = a + b := by
  have h (n : Nat) : n + 0 = n := rfl
/-
a b : Nat
h : ∀ (n : Nat), n + 0 = n
⊢ a + 0 + (b + 0) = a + b
-/
  rw [h, h]
/- no goals -/

--- let
example (a b : Nat) : a + b = b + a := by
  let s := a + b
/-
a b : Nat
s : Nat := a + b
⊢ a + b = b + a
-/
  show s = b + a
/-
a b : Nat
s : Nat := a + b
⊢ s = b + a
-/

--- let
example (a : Nat) : ∃ n, n = a + 2 := by
  let n : Nat := a + 1
  exact ⟨n + 1, rfl⟩
/- no goals -/

--- let
example (p q : Prop) (h : p ∧ q) : q := by
  let ⟨hp, hq⟩ := h
/-
p q : Prop
h : p ∧ q
hp : p
hq : q
⊢ q
-/

--- suffices
example (a b : Nat) (h : a = b) : b = a := by
  suffices h1 : a = b from h1.symm
/-
a b : Nat
h : a = b
⊢ a = b
-/

--- suffices
example (p q : Prop) (hp : p) (h : p → q) : q ∨ p := by
  suffices h1 : q by
    left
    exact h1
/-
p q : Prop
hp : p
h : p → q
⊢ q
-/

--- suffices
example (p q : Prop) (h : p → q) : q := by
  suffices p from h this
/-
p q : Prop
h : p → q
⊢ p
-/

--- suffices
example (p q r : Prop) (hp : p) (h : p → q) : r := by
  suffices h1 : p from h h1
/-
error: Type mismatch
  h h1
has type
  q
but is expected to have type
  r
-/

--- show
example (n : Nat) (h : n = 2) : n + 0 = 1 + 1 := by
  show n = 2
/-
n : Nat
h : n = 2
⊢ n = 2
-/

--- show
example (p : Prop) (h : p) : ¬¬p := by
  show ¬p → False
/-
p : Prop
h : p
⊢ ¬p → False
-/

--- show
example (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
  constructor
  show q
/-
case right
p q : Prop
hp : p
hq : q
⊢ q

case left
p q : Prop
hp : p
hq : q
⊢ p
-/

--- show
example (n : Nat) : n + 1 = 1 + n := by
  show 1 + n = n + 1
/-
error: Tactic `show` failed: pattern
  1 + n = n + 1
is not definitionally equal to target
  n + 1 = 1 + n

n : Nat
⊢ n + 1 = 1 + n
-/

--- change
example (p q : Prop) (h : ¬p) : p → q := by
  change p → False at h
/-
p q : Prop
h : p → False
⊢ p → q
-/

--- change
example (n : Nat) : n + 2 = n + 1 + 1 := by
  change _ = n + 2
/-
n : Nat
⊢ n + 2 = n + 2
-/

--- change
example (a b : Nat) (h : Nat.succ a = Nat.succ b) : a = b := by
  change a + 1 = b + 1 at h
/-
a b : Nat
h : a + 1 = b + 1
⊢ a = b
-/

--- change
example (a b : Nat) (h : a + b = 0) : b + a = 0 := by
  change b + a = 0 at h
/-
error: 'change' tactic failed, pattern
  b + a = 0
is not definitionally equal to hypothesis `h`
  a + b = 0

a b : Nat
h : a + b = 0
⊢ b + a = 0
-/

--- specialize
example (p q : Prop) (h : p → q) (hp : p) : q := by
  specialize h hp
/-
p q : Prop
hp : p
h : q
⊢ q
-/

--- specialize
example (f : Nat → Nat) (h : ∀ n m : Nat, n ≤ m → f n ≤ f m) : f 2 ≤ f 3 := by
  specialize h 2 3
/-
f : Nat → Nat
h : 2 ≤ 3 → f 2 ≤ f 3
⊢ f 2 ≤ f 3
-/
  specialize h (by decide)
/-
f : Nat → Nat
h : f 2 ≤ f 3
⊢ f 2 ≤ f 3
-/

--- specialize
example (a : Nat) : a + 0 = a := by
  specialize Nat.add_zero a
/- error: 'specialize' requires a term of the form `h x_1 .. x_n` where `h` appears in the local context -/

--- revert
example (p q : Prop) (h : p → q) (hp : p) : q := by
  revert hp
/-
p q : Prop
h : p → q
⊢ p → q
-/

--- revert
example (n : Nat) (h : n = 0) : n + n = 0 := by
  revert n
/-
⊢ ∀ (n : Nat), n = 0 → n + n = 0
-/

--- revert
example (a b : Nat) (h : a = b) : b = a := by
  revert a b
/-
⊢ ∀ (a b : Nat), a = b → b = a
-/

--- revert
example (p : Prop) (h : p) : p := by
  revert k
/- error: Unknown identifier `k` -/

--- clear
example (p q : Prop) (hp : p) (hq : q) : p := by
  clear hq
/-
p q : Prop
hp : p
⊢ p
-/

--- clear
example (a b c : Nat) (h : a = b) : a = b := by
  clear c
/-
a b : Nat
h : a = b
⊢ a = b
-/

--- clear
example (a b : Nat) (h : a = 2) (h1 : a = b) : b = 2 := by
  clear h1 h
/-
a b : Nat
⊢ b = 2
-/

--- clear
example (a b : Nat) (h : a = b) : b = a := by
  clear a
/-
error: Tactic `clear` failed: variable `h` depends on `a`

a b : Nat
h : a = b
⊢ b = a
-/

--- clear
example (p : Prop) (h : p) : p := by
  clear p
/-
error: Tactic `clear` failed: variable `h` depends on `p`

p : Prop
h : p
⊢ p
-/

--- rename
example (p q : Prop) : p → q → p := by
  intros
  rename p => hp
/-
p q : Prop
hp : p
a✝ : q
⊢ p
-/

--- rename
example (a b : Nat) : a = b → b = 3 → a = 3 := by
  intros
  rename _ = 3 => h
/-
a b : Nat
a✝ : a = b
h : b = 3
⊢ a = 3
-/

--- rename
example (p q : Prop) (h : p) : p := by
  rename q => hq
/-
error: Failed to find a hypothesis with type
  q
-/

--- generalize
example (a b : Nat) : (a + b) * 2 = 2 * (a + b) := by
  generalize a + b = n
/-
a b n : Nat
⊢ n * 2 = 2 * n
-/

--- generalize
example (f : Nat → Nat) (a : Nat) (h : f a = 3) : f a + f a = 6 := by
  generalize e : f a = n
/-
f : Nat → Nat
a : Nat
h : f a = 3
n : Nat
e : f a = n
⊢ n + n = 6
-/

--- generalize
example (a b : Nat) : a + b = b + a := by
  generalize a * b = n
/-
a b n : Nat
⊢ a + b = b + a
-/

--- rename_i
example : ∀ a b : Nat, a = b → b = a := by
  intros
  rename_i h
/-
a✝ b✝ : Nat
h : a✝ = b✝
⊢ b✝ = a✝
-/

--- rename_i
example : ∀ a b : Nat, a = b → b = a := by
  intros
  rename_i x y h
/-
x y : Nat
h : x = y
⊢ y = x
-/

--- rename_i
example (n : Nat) : n = 0 ∨ n ≠ 0 := by
  cases n
  left
  rfl
  rename_i k
/-
case succ
k : Nat
⊢ k + 1 = 0 ∨ k + 1 ≠ 0
-/

--- rename_i
example (p : Prop) (h : p) : p := by
  rename_i k
/- error: too many variable names provided -/

--- constructor
example (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
  constructor
/-
case left
p q : Prop
hp : p
hq : q
⊢ p

case right
p q : Prop
hp : p
hq : q
⊢ q
-/

--- constructor
example (p q : Prop) (h : p → q) (h1 : q → p) : p ↔ q := by
  constructor
/-
case mp
p q : Prop
h : p → q
h1 : q → p
⊢ p → q

case mpr
p q : Prop
h : p → q
h1 : q → p
⊢ q → p
-/

--- constructor
example : ∃ n : Nat, n + 2 = 5 := by
  constructor
/-
case h
⊢ ?w + 2 = 5

case w
⊢ Nat
-/
  exact (rfl : 3 + 2 = 5)
/- no goals -/

--- constructor
example : True := by
  constructor
/- no goals -/

--- constructor
example (p q : Prop) (h : p) : p → q := by
  constructor
/-
error: Tactic `constructor` failed: target is not an inductive datatype

p q : Prop
h : p
⊢ p → q
-/

--- and_intros
example (p q r : Prop) (hp : p) (hq : q) (hr : r) : (p ∧ q) ∧ r := by
  and_intros
/-
case refine_1.refine_1
p q r : Prop
hp : p
hq : q
hr : r
⊢ p

case refine_1.refine_2
p q r : Prop
hp : p
hq : q
hr : r
⊢ q

case refine_2
p q r : Prop
hp : p
hq : q
hr : r
⊢ r
-/

--- and_intros
example (p q r : Prop) (hp : p) (hq : q) (hr : r) : p ∧ q ∧ r := by
  and_intros <;> assumption
/- no goals -/

--- and_intros
example (p : Prop) (hp : p) : p := by
  and_intros
/-
p : Prop
hp : p
⊢ p
-/

--- left
example (p q : Prop) (hp : p) : p ∨ q := by
  left
/-
case h
p q : Prop
hp : p
⊢ p
-/

--- left
example (p q r : Prop) (hp : p) : (p ∨ q) ∨ r := by
  left
/-
case h
p q r : Prop
hp : p
⊢ p ∨ q
-/
  left
/-
case h.h
p q r : Prop
hp : p
⊢ p
-/

--- left
example (p q : Prop) (hp : p) : p ∧ q := by
  left
/-
error: Tactic `left` failed: `left` tactic works for inductive types with exactly 2 constructors

p q : Prop
hp : p
⊢ p ∧ q
-/

--- right
example (p q : Prop) (hq : q) : p ∨ q := by
  right
/-
case h
p q : Prop
hq : q
⊢ q
-/

--- right
example (n : Nat) (h : n ≠ 0) : n = 0 ∨ n ≠ 0 := by
  right
  exact h
/- no goals -/

--- right
example (p : Prop) (hp : p) : p := by
  right
/-
error: Tactic `right` failed: target is not an inductive datatype

p : Prop
hp : p
⊢ p
-/

--- exists
example (a b : Nat) (h : a + 1 = b) : ∃ n : Nat, a + n = b := by
  exists 1
/- no goals -/

--- exists
example : ∃ n : Nat, n + 2 = 5 := by
  exists 3
/- no goals -/

--- exists
example (f : Nat → Nat) (h : ∀ x : Nat, f x = x) : ∃ a b : Nat, f a = b := by
  exists 2, 2
/-
f : Nat → Nat
h : ∀ (x : Nat), f x = x
⊢ f 2 = 2
-/

--- exists
example : ∃ n : Nat, n + 2 = 5 := by
  exists True
/-
error: Application type mismatch: The argument
  True
has type
  Prop
but is expected to have type
  Nat
in the application
  Exists.intro True
-/

--- exfalso
example (p q : Prop) (hp : p) (h : ¬p) : q := by
  exfalso
/-
p q : Prop
hp : p
h : ¬p
⊢ False
-/
  exact h hp
/- no goals -/

--- exfalso
example (n : Nat) (h : n < 0) : n = 7 := by
  exfalso
  exact Nat.not_lt_zero n h
/- no goals -/

--- contradiction
example (p q : Prop) (hp : p) (h : ¬p) : q := by
  contradiction
/- no goals -/

--- contradiction
example (p : Prop) (h : False) : p := by
  contradiction
/- no goals -/

--- contradiction
example (n : Nat) (h : n + 1 = 0) : n = 5 := by
  contradiction
/- no goals -/

--- contradiction
example (p : Prop) (h : 2 + 2 = 5) : p := by
  contradiction
/- no goals -/

--- contradiction
example (p q : Prop) (h : p ∧ ¬p) : q := by
  contradiction
/-
error: Tactic `contradiction` failed

p q : Prop
h : p ∧ ¬p
⊢ q
-/

--- nomatch
example (p : Prop) (h : False) : p := by
  nomatch h
/- no goals -/

--- nomatch
example (p : Prop) (n : Nat) (h : n + 1 = 0) : p := by
  nomatch h
/- no goals -/

--- nomatch
example (p q : Prop) (h : p) : q := by
  nomatch h
/- error: Missing cases: the terms of `nomatch` have possible constructors -/

--- nofun
example (n : Nat) : n + 1 ≠ 0 := by
  nofun
/- no goals -/

--- nofun
example (p : Prop) : False → p := by
  nofun
/- no goals -/

--- nofun
example (p : Prop) : p → p := by
  nofun
/- error: Missing cases: no argument of the function is impossible -/

--- trivial
example : True := by
  trivial
/- no goals -/

--- trivial
example (p : Prop) (hp : p) : p ∧ 2 + 2 = 4 := by
  trivial
/- no goals -/

--- trivial
example : 3 ≤ 5 := by
  trivial
/- no goals -/

--- trivial
example (p q : Prop) (hp : p) : p ∨ q := by
  trivial
/-
error: Tactic `trivial` failed

p q : Prop
hp : p
⊢ p ∨ q
-/

--- decide
example : 2 + 2 = 4 ∧ ¬(3 ∣ 10) := by
  decide
/- no goals -/

--- decide
example : 2 ^ 10 < 1025 := by
  decide
/- no goals -/

--- decide
example : ∀ n, n < 5 → n * n < 20 := by
  decide
/- no goals -/

--- decide
example : ∀ a b : Bool, (a && b) = (b && a) := by
  decide
/- no goals -/

--- decide
example : 2 + 2 = 5 := by
  decide
/-
error: Tactic `decide` proved that the proposition
  2 + 2 = 5
is false
-/

--- decide
example (n : Nat) : n + 0 = n := by
  decide
/-
error: Tactic `decide` failed: expected type must not contain free variables
  n + 0 = n

Hint: Use the `+revert` option to automatically revert free variables
-/

--- decide
example (p : Prop) (h : p) : p := by
  decide
/-
error: Tactic `decide` failed: expected type must not contain free variables
  p

Hint: Use the `+revert` option to automatically revert free variables
-/

--- decide
example : 2 ^ 300 % 7 = 1 := by
  decide
/-
error: Tactic `decide` failed for proposition
  2 ^ 300 % 7 = 1
because its `Decidable` instance
  (2 ^ 300 % 7).decEq 1
did not reduce to `isTrue` or `isFalse`.
exponent 300 exceeds the threshold 256, exponentiation operation was not evaluated, use `set_option exponentiation.threshold <num>` to set a new threshold
-/

--- decide
set_option exponentiation.threshold 300 in
example : 2 ^ 300 % 7 = 1 := by
  decide
/- no goals -/

--- cases
example (p q : Prop) (h : p ∨ q) : q ∨ p := by
  cases h with
  | inl hp => exact Or.inr hp
  | inr hq => exact Or.inl hq
/- no goals -/

--- cases
example (p q : Prop) (h : p ∨ q) : q ∨ p := by
  cases h
/-
case inl
p q : Prop
h✝ : p
⊢ q ∨ p

case inr
p q : Prop
h✝ : q
⊢ q ∨ p
-/

--- cases
example (n : Nat) (h : n ≠ 0) : ∃ k, n = k + 1 := by
  cases n with
  | zero => ?_
  | succ m => ?_
/-
case zero
h : 0 ≠ 0
⊢ ∃ k, 0 = k + 1

case succ
m : Nat
h : m + 1 ≠ 0
⊢ ∃ k, m + 1 = k + 1
-/

--- cases
example (a b : Nat) (h : a + 1 = b + 1) : a = b := by
  cases h
/-
case refl
a : Nat
⊢ a = a
-/

--- cases
example (p : Prop) (h : 3 = 4) : p := by
  cases h
/- no goals -/

--- cases
example (f : Nat → Bool) : f 0 = true ∨ f 0 = false := by
  cases h : f 0
/-
case false
f : Nat → Bool
h : f 0 = false
⊢ false = true ∨ false = false

case true
f : Nat → Bool
h : f 0 = true
⊢ true = true ∨ true = false
-/

--- cases
example (p q : Prop) (h : p ∨ q) : q ∨ p := by
  cases h with
  | inl hp => exact Or.inr hp
/- error: Alternative `inr` has not been provided -/

--- cases
example (p q : Prop) (h : p ∨ q) : q ∨ p := by
  cases h with
  | left hp => exact Or.inr hp
  | right hq => exact Or.inl hq
/- error: Invalid alternative name `left`: Expected `inl` or `inr` -/

--- cases
example (f : Nat → Nat) (h : ∀ n, f n = 0) : f 1 = 0 := by
  cases h
/- error: target is not an inductive datatype -/

--- cases
example (l : List Nat) (h : l ≠ []) : 0 < l.length := by
  cases l with
  | nil => contradiction
  | cons x m => ?_
/-
case cons
x : Nat
m : List Nat
h : x :: m ≠ []
⊢ 0 < (x :: m).length
-/

--- cases
example (a b : Nat) (h : a ∈ [b]) : a = b := by
  cases h with
  | head => rfl
  | tail _ h1 => cases h1
/- no goals -/

--- induction
example (n : Nat) : 0 + n = n := by
  induction n with
  | zero => rfl
  | succ k ih => exact congrArg Nat.succ ih
/- no goals -/

--- induction
example (n : Nat) : 0 + n = n := by
  induction n
/-
case zero
⊢ 0 + 0 = 0

case succ
n✝ : Nat
a✝ : 0 + n✝ = n✝
⊢ 0 + (n✝ + 1) = n✝ + 1
-/

--- induction
example (n : Nat) (h : n ≠ 0) : 1 ≤ n := by
  induction n with
  | zero => contradiction
  | succ k ih => ?_
/-
case succ
k : Nat
ih : k ≠ 0 → 1 ≤ k
h : k + 1 ≠ 0
⊢ 1 ≤ k + 1
-/

--- induction
example (n m : Nat) : n + m = m + n := by
  induction n generalizing m with
  | zero => exact Nat.zero_add m
  | succ k ih => ?_
/-
case succ
k : Nat
ih : ∀ (m : Nat), k + m = m + k
m : Nat
⊢ k + 1 + m = m + (k + 1)
-/

--- induction
example (p : Nat → Prop) (n : Nat) (h : ∀ k, (∀ m, m < k → p m) → p k) : p n := by
  induction n using Nat.strongRecOn with
  | ind k ih => ?_
/-
case ind
p : Nat → Prop
h : ∀ (k : Nat), (∀ (m : Nat), m < k → p m) → p k
k : Nat
ih : ∀ (m : Nat), m < k → p m
⊢ p k
-/

--- induction
example (a b : Nat) (h : a ≤ b) : a < b + 1 := by
  induction h with
  | refl => exact Nat.lt_add_one a
  | step h1 ih => ?_
/-
case step
a m✝ : Nat
h1 : a ≤ m✝
ih : a < m✝ + 1
⊢ a < m✝.succ + 1
-/

--- induction
example (f : Nat → Nat) (h : f 0 = 0) : f (f 0) = 0 := by
  induction f with
  | zero => rfl
/- error: target is not an inductive datatype -/

--- induction
example (l m : List Nat) : (l ++ m).length = l.length + m.length := by
  induction l with
  | nil => simp
  | cons x l ih => ?_
/-
case cons
m : List Nat
x : Nat
l : List Nat
ih : (l ++ m).length = l.length + m.length
⊢ (x :: l ++ m).length = (x :: l).length + m.length
-/

--- rcases
example (p q r : Prop) (h : p ∧ q ∧ r) : r := by
  rcases h with ⟨hp, hq, hr⟩
/-
case intro.intro
p q r : Prop
hp : p
hq : q
hr : r
⊢ r
-/

--- rcases
example (p q r : Prop) (h : p ∧ (q ∨ r)) : p := by
  rcases h with ⟨hp, hq | hr⟩
/-
case intro.inl
p q r : Prop
hp : p
hq : q
⊢ p

case intro.inr
p q r : Prop
hp : p
hr : r
⊢ p
-/

--- rcases
example (a b : Nat) (h : ∃ k, b = a + k ∧ k ≤ 3) : a ≤ b := by
  rcases h with ⟨k, rfl, -⟩
/-
case intro.intro
a k : Nat
⊢ a ≤ a + k
-/

--- rcases
example (p q : Prop) (h : p ∨ q) : q ∨ p := by
  rcases h with hp | hq
/-
case inl
p q : Prop
hp : p
⊢ q ∨ p

case inr
p q : Prop
hq : q
⊢ q ∨ p
-/

--- rcases
example (p q : Prop) (h : p ∧ q) : p := by
  rcases h with ⟨hp, hq, hr⟩
/- error: rcases tactic failed: the pattern expects an inductive datatype -/

--- obtain
example (p q : Prop) (h : p ∧ q) : q := by
  obtain ⟨hp, hq⟩ := h
/-
case intro
p q : Prop
hp : p
hq : q
⊢ q
-/

--- obtain
example (n : Nat) (h : ∀ m : Nat, ∃ k, k > m) : ∃ k, k > n := by
  obtain ⟨k, hk⟩ := h n
/-
case intro
n : Nat
h : ∀ (m : Nat), ∃ k, k > m
k : Nat
hk : k > n
⊢ ∃ k, k > n
-/

--- obtain
example (n : Nat) : n = 0 ∨ n ≠ 0 := by
  obtain rfl | h : n = 0 ∨ 0 < n := Nat.eq_zero_or_pos n
/-
case inl
⊢ 0 = 0 ∨ 0 ≠ 0

case inr
n : Nat
h : 0 < n
⊢ n = 0 ∨ n ≠ 0
-/

--- obtain
example (n : Nat) : n < n + 2 := by
  obtain ⟨k, hk⟩ : ∃ k, n + k = n + 1
/-
n : Nat
⊢ ∃ k, n + k = n + 1

case intro
n k : Nat
hk : n + k = n + 1
⊢ n < n + 2
-/

--- by_cases
example (p q : Prop) (h1 : p → q) (h2 : ¬p → q) : q := by
  by_cases hp : p
/-
case pos
p q : Prop
h1 : p → q
h2 : ¬p → q
hp : p
⊢ q

case neg
p q : Prop
h1 : p → q
h2 : ¬p → q
hp : ¬p
⊢ q
-/

--- by_cases
example (n : Nat) : n = 3 ∨ n ≠ 3 := by
  by_cases n = 3
/-
case pos
n : Nat
h✝ : n = 3
⊢ n = 3 ∨ n ≠ 3

case neg
n : Nat
h✝ : ¬n = 3
⊢ n = 3 ∨ n ≠ 3
-/

--- by_cases
example (n : Nat) : n = n := by
  by_cases n
/-
error: type expected, got
  (n : Nat)
-/

--- if
example (n : Nat) (p : Prop) (h1 : n < 5 → p) (h2 : ¬n < 5 → p) : p := by
  if h : n < 5 then exact h1 h else exact h2 h
/- no goals -/

--- if
example (n : Nat) : n = 3 ∨ n ≠ 3 := by
  if h : n = 3 then
    left
    exact h
  else ?_
/-
n : Nat
h : ¬n = 3
⊢ n = 3 ∨ n ≠ 3
-/

--- if
example (n : Nat) : n = 3 ∨ n ≠ 3 := by
  if h : n = 3 then
    left
  else
    right
    exact h
/-
error: unsolved goals
case h
n : Nat
h : n = 3
⊢ n = 3
-/

--- match
example (p q : Prop) (h : p ∨ q) : q ∨ p := by
  match h with
  | .inl hp => exact .inr hp
  | .inr hq => exact .inl hq
/- no goals -/

--- match
example (n : Nat) : n = 0 ∨ 0 < n := by
  match n with
  | 0 => exact .inl rfl
  | k + 1 => ?_
/-
n k : Nat
⊢ k + 1 = 0 ∨ 0 < k + 1
-/

--- match
example (n : Nat) (h : 0 < n) : ∃ k, n = k + 1 := by
  match n, h with
  | k + 1, _ => exact ⟨k, rfl⟩
/- no goals -/

--- match
example (n : Nat) : n = 0 ∨ 0 < n := by
  match n with
  | 0 => exact .inl rfl
/-
error: Missing cases:
(Nat.succ _)
-/

--- injection
example (a b : Nat) (h : a + 1 = b + 1) : b = a := by
  injection h with h1
/-
a b : Nat
h1 : a = b
⊢ b = a
-/

--- injection
example (x y : Nat) (l m : List Nat) (h : x :: l = y :: m) : m = l := by
  injection h
/-
x y : Nat
l m : List Nat
head_eq✝ : x = y
tail_eq✝ : l = m
⊢ m = l
-/

--- injection
example (a b : Nat) (h : Nat.succ a = Nat.succ b) : a = b := by
  injection h
/- no goals -/

--- injection
example (a : Nat) (h : a + 1 = 0) : a = 7 := by
  injection h
/- no goals -/

--- injection
example (a b : Nat) (h : a + b = b + a) : a = b := by
  injection h
/-
error: Tactic `injection` failed: equality of constructor applications expected

a b : Nat
h : a + b = b + a
⊢ a = b
-/

--- injections
example (a b : Nat) (h : a + 2 = b + 2) : b = a := by
  injections
/-
a b : Nat
n_eq✝ : a = b
⊢ b = a
-/

--- injections
example (x y z : Nat) (h : [x, y] = [y, z]) : x = z := by
  injections h1 h2
/-
x y z : Nat
h1 : x = y
head_eq✝ : y = z
⊢ x = z
-/

--- injections
example (x y : Nat) (h : [x] = [x, y]) : x = y := by
  injections
/- no goals -/

--- subst
example (a b : Nat) (h : a = b) : a + 1 = b + 1 := by
  subst h
/-
a : Nat
⊢ a + 1 = a + 1
-/

--- subst
example (a b : Nat) (h : b = a + 2) (h1 : b < 5) : a < 3 := by
  subst h
/-
a : Nat
h1 : a + 2 < 5
⊢ a < 3
-/

--- subst
example (a b c : Nat) (h : a = b) (h1 : b = c) : a = c := by
  subst h h1
/-
a : Nat
⊢ a = a
-/

--- subst
example (x : Nat) (h : x = 3) : x < 4 := by
  subst x
/-
⊢ 3 < 4
-/

--- subst
example (a b : Nat) (h : a + 1 = b + 1) : a = b := by
  subst h
/-
error: Tactic `subst` failed: invalid equality proof, it is not of the form (x = t) or (t = x)
  a + 1 = b + 1

a b : Nat
h : a + 1 = b + 1
⊢ a = b
-/

--- subst_vars
example (a b c : Nat) (h : a = b) (h1 : b = c) : a = c := by
  subst_vars
/-
a : Nat
⊢ a = a
-/

--- subst_vars
example (a b : Nat) (h : b = a + 2) (h1 : b < 5) : a < 3 := by
  subst_vars
/-
a : Nat
h1 : a + 2 < 5
⊢ a < 3
-/

--- subst_vars
example (p : Prop) (h : p) : p := by
  subst_vars
/-
p : Prop
h : p
⊢ p
-/

--- split
example (n : Nat) : (if n = 0 then 1 else n) ≠ 0 := by
  split
/-
case isTrue
n : Nat
h✝ : n = 0
⊢ 1 ≠ 0

case isFalse
n : Nat
h✝ : ¬n = 0
⊢ n ≠ 0
-/

--- split
example (n : Nat) (h : (if n = 0 then 1 else 2) = 2) : n ≠ 0 := by
  split at h
/-
case isTrue
n : Nat
h : 1 = 2
h✝ : n = 0
⊢ n ≠ 0

case isFalse
n : Nat
h : 2 = 2
h✝ : ¬n = 0
⊢ n ≠ 0
-/

--- split
example (f : Nat → Nat) (n : Nat) (h : f n = 0) : (match f n with | 0 => 1 | k + 1 => k) = 1 := by
  split
/-
case h_1
f : Nat → Nat
n : Nat
h : f n = 0
x✝ : Nat
heq✝ : f n = 0
⊢ 1 = 1

case h_2
f : Nat → Nat
n : Nat
h : f n = 0
x✝ k✝ : Nat
heq✝ : f n = k✝.succ
⊢ k✝ = 1
-/

--- split
example (n : Nat) : n = n := by
  split
/-
error: Tactic `split` failed: Could not split an `if` or `match` expression in the goal

n : Nat
⊢ n = n
-/

--- rfl
example : 12 * 12 = 144 := by
  rfl
/- no goals -/

--- rfl
example (n : Nat) : n + 2 = Nat.succ (n + 1) := by
  rfl
/- no goals -/

--- rfl
example (n : Nat) : n ≤ n + 0 := by
  rfl
/- no goals -/

--- rfl
example (n : Nat) : 0 + n = n := by
  rfl
/-
error: Tactic `rfl` failed: The left-hand side
  0 + n
is not definitionally equal to the right-hand side
  n

n : Nat
⊢ 0 + n = n
-/

--- rfl
example (p : Prop) (h : p) : p := by
  rfl
/-
error: The rfl tactic failed. Possible reasons:
- The goal is not a reflexive relation (neither `=` nor a relation with a @[refl] lemma).
- The arguments of the relation are not equal.
Try using the reflexivity lemma for your relation explicitly, e.g. `exact Eq.refl _` or `exact HEq.rfl` etc.

p : Prop
h : p
⊢ p
-/

--- symm
example (a b : Nat) (h : a = b) : b = a := by
  symm
/-
a b : Nat
h : a = b
⊢ a = b
-/

--- symm
example (a b : Nat) (h : a ≠ b) : b ≠ a := by
  symm at h
/-
a b : Nat
h : b ≠ a
⊢ b ≠ a
-/

--- symm
example (p q : Prop) (h : p ↔ q) : q ↔ p := by
  symm
/-
p q : Prop
h : p ↔ q
⊢ p ↔ q
-/

--- symm
example (a b : Nat) (h : a ≤ b) : b ≤ a := by
  symm
/- error: Tactic `symm` failed: no symmetry lemma applies to the relation -/

--- rw
example (a b : Nat) (h : a = b) : a + a = b + b := by
  rw [h]
/- no goals -/

--- rw
example (a b c : Nat) : a + b + c = b + a + c := by
  rw [Nat.add_comm a]
/- no goals -/

--- rw
example (a b : Nat) (h : a = b) (h1 : b = 3) : a = 3 := by
  rw [← h] at h1
/-
a b : Nat
h : a = b
h1 : a = 3
⊢ a = 3
-/

--- rw
example (a b : Nat) (h : a + 0 = b) : a = b := by
  rw [Nat.add_zero] at h
/-
a b : Nat
h : a = b
⊢ a = b
-/

--- rw
example (a b c : Nat) : a + b + c = c + (b + a) := by
  rw [Nat.add_comm]
/-
a b c : Nat
⊢ c + (a + b) = c + (b + a)
-/

--- rw
example (p q r : Prop) (h : p ↔ q) (h1 : q → r) : p → r := by
  rw [h]
/-
p q r : Prop
h : p ↔ q
h1 : q → r
⊢ q → r
-/

--- rw
example (a b : Nat) (f : Nat → Nat) (h : 0 < a → f a = b) (ha : 0 < a) : f a + 1 = b + 1 := by
  rw [h]
/-
case a
a b : Nat
f : Nat → Nat
h : 0 < a → f a = b
ha : 0 < a
⊢ 0 < a
-/

--- rw
example (a b c : Nat) (h : a = b) : c = c + 0 := by
  rw [h]
/-
error: Tactic `rewrite` failed: Did not find an occurrence of the pattern
  a
in the target expression
  c = c + 0

a b c : Nat
h : a = b
⊢ c = c + 0
-/

--- rw
example (f : Nat → Nat) (h : ∀ x : Nat, f x = x) : ∀ y : Nat, f y = y := by
  rw [h]
/-
error: Tactic `rewrite` failed: Did not find an occurrence of the pattern
  f ?x
in the target expression
  ∀ (y : Nat), f y = y

f : Nat → Nat
h : ∀ (x : Nat), f x = x
⊢ ∀ (y : Nat), f y = y
-/

--- rw
example (a b : Nat) (h : a = b) : a + a = a + b := by
  rw (occs := .pos [2]) [h]
/- no goals -/

--- rw
example (a b : Nat) (h : a = b) : a + a = b + b := by
  rw (occs := .neg [1]) [h]
/-
a b : Nat
h : a = b
⊢ a + b = b + b
-/

--- rw
def twice (n : Nat) : Nat := n + n

example (n : Nat) : twice (twice n) = twice n + twice n := by
  rw [twice]
/- no goals -/

--- rwa
example (a b c : Nat) (h : a = b) (h1 : b = c) : a = c := by
  rwa [h]
/- no goals -/

--- rwa
example (a b : Nat) (h : a + 0 = b) : a = b := by
  rwa [Nat.add_zero] at h
/- no goals -/

--- rwa
example (a b c : Nat) (h : a = b) (h1 : b = c) : a = c + 0 := by
  rwa [h1]
/-
error: Tactic `rewrite` failed: Did not find an occurrence of the pattern
  b
in the target expression
  a = c + 0

a b c : Nat
h : a = b
h1 : b = c
⊢ a = c + 0
-/

--- rewrite
example (a b : Nat) (h : a = b) : a + a = b + b := by
  rewrite [h]
/-
a b : Nat
h : a = b
⊢ b + b = b + b
-/

--- rewrite
example (a b : Nat) (h : a = b) : a + 1 = b + 1 := by
  rewrite [h]
  rfl
/- no goals -/

--- rewrite
example (a b c : Nat) (h : a = b) : c = a := by
  rewrite [← h]
/-
error: Tactic `rewrite` failed: Did not find an occurrence of the pattern
  b
in the target expression
  c = a

a b c : Nat
h : a = b
⊢ c = a
-/

--- simp
example (n : Nat) : 0 + n * 1 = n := by
  simp
/- no goals -/

--- simp
example (p q : Prop) (h : p) : p ∧ q ↔ q := by
  simp [h]
/- no goals -/

--- simp
example (a b : Nat) (p : Prop) (h : p) : a + 0 = b ∧ True := by
  simp
/-
a b : Nat
p : Prop
h : p
⊢ a = b
-/

--- simp
example (a b c : Nat) (h : a = b) : a + 0 + c = b + c := by
  simp only [h]
/-
a b c : Nat
h : a = b
⊢ b + 0 + c = b + c
-/

--- simp
example (a : Nat) (h : a + 0 = 3 ∧ True) : a = 3 := by
  simp at h
/-
a : Nat
h : a = 3
⊢ a = 3
-/

--- simp
example (a : Nat) (h : a < 0) : a = 3 := by
  simp at h
/- no goals -/

--- simp
example (f : Nat → Nat) (h : ∀ x : Nat, f x = x) : ∀ y : Nat, f y = y := by
  simp only [h]
/-
f : Nat → Nat
h : ∀ (x : Nat), f x = x
⊢ ∀ (y : Nat), True
-/

--- simp
example (a b c : Nat) : c + (b + a) = a + b + c := by
  simp only [Nat.add_comm, Nat.add_left_comm]
/- no goals -/

--- simp
def double (n : Nat) : Nat := n + n

example (n : Nat) : double n = 2 * n := by
  simp [double, Nat.two_mul]
/- no goals -/

--- simp
example (a b : Nat) (h : a = b) : b = a := by
  simp
/- error: `simp` made no progress -/

--- simp
example (n : Nat) (h : n + 3 = 2 * 4) : n = 5 := by
  simp at h
/-
n : Nat
h : n = 5
⊢ n = 5
-/

--- simpa
example (a b : Nat) (h : a + 0 = b) : a = b * 1 := by
  simpa using h
/- no goals -/

--- simpa
example (p q : Prop) (hp : p) (h : p → q) : q ∧ True := by
  simpa using h hp
/- no goals -/

--- simpa
example (a b : Nat) (h : a = b) (h1 : b = 3) : a + 0 = 3 := by
  simpa [h] using h1
/- no goals -/

--- simpa
example (a b : Nat) (h : a < b) : a ≤ b := by
  simpa using h
/-
error: Type mismatch: After simplification, term
  h
has type
  a < b
but is expected to have type
  a ≤ b
-/

--- simp_all
example (p q r : Prop) (h : p) (h1 : p → q) (h2 : q → r) : r := by
  simp_all
/- no goals -/

--- simp_all
example (a b : Nat) (h : a = b) (h1 : b = 3) : a + 0 = 3 := by
  simp_all
/- no goals -/

--- simp_all
example (p q r : Prop) (h : p ∧ ¬q) (h1 : p → q ∨ r) : r ∧ p := by
  simp_all
/- no goals -/

--- simp_all
example (a b : Nat) (h : a < b) : b < a := by
  simp_all
/- error: `simp_all` made no progress -/

--- unfold
def square (n : Nat) : Nat := n * n

example (n : Nat) : square n = n * n := by
  unfold square
/-
n : Nat
⊢ n * n = n * n
-/

--- unfold
def isSmall (n : Nat) : Prop := n < 10

example (n : Nat) (h : isSmall n) : n < 11 := by
  unfold isSmall at h
/-
n : Nat
h : n < 10
⊢ n < 11
-/

--- unfold
def square (n : Nat) : Nat := n * n

example (n : Nat) : n = n := by
  unfold square
/-
error: Tactic `unfold` failed to unfold `square` at
  n = n

n : Nat
⊢ n = n
-/

--- unfold
def fact : Nat → Nat
  | 0 => 1
  | n + 1 => (n + 1) * fact n

example (n : Nat) : fact (n + 1) = fact n * (n + 1) := by
  unfold fact
/-
n : Nat
⊢ (n + 1) * fact n = fact n * (n + 1)
-/
  exact Nat.mul_comm _ _
/- no goals -/

--- ac_rfl
example (a b c d : Nat) : a + b + (c + d) = d + (b + c) + a := by
  ac_rfl
/- no goals -/

--- ac_rfl
example (a b c : Nat) : a * (b * c) = c * a * b := by
  ac_rfl
/- no goals -/

--- ac_rfl
example (a b : Nat) : a + b = b + b := by
  ac_rfl
/-
error: Tactic `ac_rfl` failed: the sides are not equal up to associativity and commutativity

a b : Nat
⊢ a + b = b + b
-/

--- ac_rfl
example (p q r : Prop) : (p ∧ q ∧ r) = (r ∧ q ∧ p) := by
  ac_rfl
/- no goals -/

--- calc
example (a b c : Nat) (h : a = b) (h1 : b = c + 0) : a = c := by
  calc
    a = b := h
    _ = c + 0 := h1
    _ = c := Nat.add_zero c
/- no goals -/

--- calc
example (a b c : Nat) (h : a < b) (h1 : b ≤ c) : a < c := by
  calc a < b := h
    _ ≤ c := h1
/- no goals -/

--- calc
example (a b c : Nat) (h : a = b) (h1 : b = c) : a = c + 0 := by
  calc a = b := h
    _ = c := ?_
/-
a b c : Nat
h : a = b
h1 : b = c
⊢ b = c
-/
  exact h1
/- no goals -/

--- calc
example (a b c : Nat) (h : a = b) : a = c := by
  calc a
    _ = b := h
/-
case calc.step
a b c : Nat
h : a = b
⊢ b = c
-/

--- calc
example (a b c : Nat) (h : a = b) (h1 : b = c) : a = c := by
  calc
    a = b := h
    _ = c := h
/-
error: Type mismatch
  h
has type
  a = b
but is expected to have type
  b = c
-/

--- congr
example (f : Nat → Nat → Nat) (a b c d : Nat) (h : a = b) : f a c = f b d := by
  congr
/-
case e_a
f : Nat → Nat → Nat
a b c d : Nat
h : a = b
⊢ c = d
-/

--- congr
example (f : Nat → Nat) (a b : Nat) : f (a + 1) = f (b + 1) := by
  congr 1
/-
case e_a
f : Nat → Nat
a b : Nat
⊢ a + 1 = b + 1
-/

--- congr
example (a b : Nat) (h : a = b) : a + 1 = b + 1 := by
  congr
/- no goals -/

--- congr
example (a b : Nat) (h : a ≤ b) : b ≤ a := by
  congr
/-
error: Tactic `congr` failed: the sides are not applications of one function

a b : Nat
h : a ≤ b
⊢ b ≤ a
-/

--- funext
example (f : Nat → Nat) (h : ∀ n, f n = n + 0) : f = fun n => n := by
  funext n
/-
case h
f : Nat → Nat
h : ∀ (n : Nat), f n = n + 0
n : Nat
⊢ f n = n
-/

--- funext
example (f g : Nat → Nat → Nat) (h : ∀ a b, f a b = g a b) : f = g := by
  funext a b
  exact h a b
/- no goals -/

--- funext
example : (fun n : Nat => n + 0) = fun n => n := by
  funext n
/-
case h
n : Nat
⊢ n + 0 = n
-/

--- ext
example (f g : Nat → Nat) (h : ∀ n, f n = g n) : f = g := by
  ext n
/-
case h
f g : Nat → Nat
h : ∀ (n : Nat), f n = g n
n : Nat
⊢ f n = g n
-/

--- ext
example (p q : Nat → Prop) (h : ∀ n, p n ↔ q n) : p = q := by
  ext n
/-
case h.a
p q : Nat → Prop
h : ∀ (n : Nat), p n ↔ q n
n : Nat
⊢ p n ↔ q n
-/

--- ext
example (a b : Nat) (h : a = b) : b = a := by
  ext n
/-
error: No applicable extensionality theorem found for type
  Nat
-/

--- ext1
example (f g : Nat → Nat → Nat) (h : ∀ a b, f a b = g a b) : f = g := by
  ext1 a
/-
case h
f g : Nat → Nat → Nat
h : ∀ (a b : Nat), f a b = g a b
a : Nat
⊢ f a = g a
-/

--- ext1
example (p q : Nat → Prop) (h : ∀ n, p n ↔ q n) : p = q := by
  ext1 n
/-
case h
p q : Nat → Prop
h : ∀ (n : Nat), p n ↔ q n
n : Nat
⊢ p n = q n
-/

--- ext1
example (a b : Nat) (h : a = b) : b = a := by
  ext1
/-
error: No applicable extensionality theorem found for type
  Nat
-/

--- omega
example (a b : Nat) (h : a < b) (h1 : b < a + 2) : b = a + 1 := by
  omega
/- no goals -/

--- omega
example (a b c : Nat) (h : 2 * a + 1 = 2 * b) : c = 5 := by
  omega
/- no goals -/

--- omega
example (a b : Nat) (h : a ≤ b) : b - a + a = b := by
  omega
/- no goals -/

--- omega
example (a b : Nat) (h : a * b < 3) : a * b ≤ 2 := by
  omega
/- no goals -/

--- omega
example (a b : Nat) : a * b = b * a := by
  omega
/-
error: omega could not prove the goal:
a possible counterexample may satisfy the constraints
  c ≥ 0
  d ≥ 0
  c - d ≤ -1
where
 c := ↑(a * b)
 d := ↑(b * a)
-/

--- omega
example (a b : Nat) (h : a ≤ b) : a < b := by
  omega
/-
error: omega could not prove the goal:
a possible counterexample may satisfy the constraints
  c ≥ 0
  d ≥ 0
  0 ≤ c - d ≤ 0
where
 c := ↑a
 d := ↑b
-/

--- omega
example (n : Nat) (h : n % 2 = 1) : (n + 1) / 2 * 2 = n + 1 := by
  omega
/- no goals -/

--- omega
example (n : Nat) (h : 3 ∣ n) (h1 : n < 3) : n = 0 := by
  omega
/- no goals -/

--- omega
example (a b : Nat) (h : a < b ∨ a = b) (h1 : ¬(a = b)) : a < b ∧ 0 < b := by
  omega
/- no goals -/

--- grind
example (p q r : Prop) (h : p ∨ q) (h1 : p → r) (h2 : q → r) : r := by
  grind
/- no goals -/

--- grind
example (f : Nat → Nat) (a b : Nat) (h : a = b) (h1 : f b = 3) : f a < 4 := by
  grind
/- no goals -/

--- grind
example (p q : Prop) (h : p → q) : q := by
  grind
/-
error: `grind` failed

p q : Prop
h : p → q
⊢ q
-/

--- grind
example (f : Nat → Nat) (h : ∀ x, f x = x + 1) : f (f 0) = 2 := by
  grind
/- no goals -/

--- grind
example (p q : Prop) : ¬(p ∧ q) ↔ ¬p ∨ ¬q := by
  grind
/- no goals -/

--- grind
example (a b : Nat) : (a + b) * (a + b) = a * a + 2 * (a * b) + b * b := by
  grind
/- no goals -/

--- grind
example (a b c : Nat) (h : a = b + 1) (h1 : b < c) : (if a ≤ c then 0 else 1) = 0 := by
  grind
/- no goals -/

--- grind
example (p q : Prop) (h : p → q) (h1 : ¬p → q) : q := by
  grind
/- no goals -/

--- grind
example (a b c : Nat) (h : a ∣ b) : a ∣ b * c := by
  grind
/-
error: `grind` failed

a b c : Nat
h : a ∣ b
⊢ a ∣ b * c
-/

--- ·
example (p q : Prop) (h : p ∧ q) : q ∧ p := by
  constructor
  · exact h.right
/-
case right
p q : Prop
h : p ∧ q
⊢ p
-/
  · exact h.left
/- no goals -/

--- ·
example (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
  constructor
  · skip
/-
error: unsolved goals
case left
p q : Prop
hp : p
hq : q
⊢ p
-/

--- {
example (p q : Prop) (h : p ∧ q) : q ∧ p := by
  constructor
  { exact h.right }
/-
case right
p q : Prop
h : p ∧ q
⊢ p
-/
  { exact h.left }
/- no goals -/

--- {
example (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
  constructor
  { skip }
/-
error: unsolved goals
case left
p q : Prop
hp : p
hq : q
⊢ p
-/

--- (
example (p q : Prop) (hp : p) : p ∨ q := by
  (left; assumption)
/- no goals -/

--- (
example (p q r : Prop) (hp : p) : q → p ∨ r := by
  (intro hq; left)
/-
case h
p q r : Prop
hp : p
hq : q
⊢ p
-/

--- (
example (p q : Prop) (hp : p) : p ∨ q := by
  (right; assumption)
/-
error: Tactic `assumption` failed

case h
p q : Prop
hp : p
⊢ q
-/

--- <;>
example (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
  constructor <;> assumption
/- no goals -/

--- <;>
example (a b : Nat) (h : a = 0 ∨ a = 1) : a ≤ 1 + b := by
  cases h <;> rename_i h <;> rw [h]
/-
case inl
a b : Nat
h : a = 0
⊢ 0 ≤ 1 + b

case inr
a b : Nat
h : a = 1
⊢ 1 ≤ 1 + b
-/

--- <;>
example (p q : Prop) (hp : p) : p ∧ q := by
  constructor <;> assumption
/-
error: Tactic `assumption` failed

case right
p q : Prop
hp : p
⊢ q
-/

--- case
example (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
  constructor
  case right => exact hq
/-
case left
p q : Prop
hp : p
hq : q
⊢ p
-/

--- case
example (p q : Prop) (h : p ∨ q) : q ∨ p := by
  cases h
  case inl hp => exact Or.inr hp
  case inr hq => exact Or.inl hq
/- no goals -/

--- case
example (n : Nat) : 0 ≤ n := by
  cases n
  case zero | succ => exact Nat.zero_le _
/- no goals -/

--- case
example (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
  constructor
  case inl => exact hp
/-
error: Case tag `inl` not found.

Note: The available case tags are `left` and `right`.
-/

--- next
example (p q : Prop) (h : p ∨ q) : q ∨ p := by
  cases h
  next hp => exact Or.inr hp
/-
case inr
p q : Prop
h✝ : q
⊢ q ∨ p
-/

--- next
example (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
  constructor
  next => assumption
  next => assumption
/- no goals -/

--- next
example (p q : Prop) (hp : p) : p ∨ q := by
  next h => exact Or.inl hp
/- error: too many variable names provided -/

--- all_goals
example (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
  constructor
  all_goals assumption
/- no goals -/

--- all_goals
example (n : Nat) : n = 0 ∨ n ≠ 0 := by
  cases n
  all_goals try (left; rfl)
/-
case succ
n✝ : Nat
⊢ n✝ + 1 = 0 ∨ n✝ + 1 ≠ 0
-/

--- all_goals
example (p q : Prop) (hp : p) : p ∧ q := by
  constructor
  all_goals assumption
/-
error: Tactic `assumption` failed

case right
p q : Prop
hp : p
⊢ q
-/

--- any_goals
example (p q : Prop) (hp : p) : p ∧ q := by
  constructor
  any_goals assumption
/-
case right
p q : Prop
hp : p
⊢ q
-/

--- any_goals
example (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
  constructor
  any_goals rfl
/- error: Tactic `any_goals` failed: no goal on which the tactic succeeds -/

--- focus
example (p q : Prop) (hp : p) (hq : q) : (p ∧ q) ∧ q := by
  constructor
  focus
    constructor
/-
case left.left
p q : Prop
hp : p
hq : q
⊢ p

case left.right
p q : Prop
hp : p
hq : q
⊢ q

case right
p q : Prop
hp : p
hq : q
⊢ q
-/

--- focus
example (p q : Prop) (hp : p) (hq : q) : (p ∧ q) ∧ q := by
  constructor
  focus all_goals constructor
/-
case left.left
p q : Prop
hp : p
hq : q
⊢ p

case left.right
p q : Prop
hp : p
hq : q
⊢ q

case right
p q : Prop
hp : p
hq : q
⊢ q
-/

--- first
example (p q : Prop) (hq : q) : p ∨ q := by
  first
  | left; assumption
  | right; assumption
/- no goals -/

--- first
example (p q : Prop) (hq : q) : p ∧ q := by
  first | assumption | constructor
/-
case left
p q : Prop
hq : q
⊢ p

case right
p q : Prop
hq : q
⊢ q
-/

--- first
example (p q : Prop) (hq : q) : p ∧ q := by
  first | assumption | left
/-
error: Tactic `left` failed: `left` tactic works for inductive types with exactly 2 constructors

p q : Prop
hq : q
⊢ p ∧ q
-/

--- solve
example (p q : Prop) (hq : q) : p ∨ q := by
  solve
  | left; assumption
  | right; assumption
/- no goals -/

--- solve
example (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
  constructor
  solve | assumption
/-
case right
p q : Prop
hp : p
hq : q
⊢ q
-/

--- solve
example (p q : Prop) (hq : q) : p ∧ q := by
  solve | constructor | left
/-
error: Tactic `left` failed: `left` tactic works for inductive types with exactly 2 constructors

p q : Prop
hq : q
⊢ p ∧ q
-/

--- try
example (p q : Prop) (hp : p) : p ∧ q := by
  try assumption
/-
p q : Prop
hp : p
⊢ p ∧ q
-/

--- try
example (p q : Prop) (hp : p) : p ∧ q := by
  constructor <;> try assumption
/-
case right
p q : Prop
hp : p
⊢ q
-/

--- repeat
example (p q r : Prop) (hp : p) (hq : q) (hr : r) : p ∧ q ∧ r := by
  repeat constructor
/-
case left
p q r : Prop
hp : p
hq : q
hr : r
⊢ p

case right
p q r : Prop
hp : p
hq : q
hr : r
⊢ q ∧ r
-/

--- repeat
example (a b c d : Nat) : a + b + c + d = a + (b + (c + d)) := by
  repeat rw [Nat.add_assoc]
/- no goals -/

--- repeat
example (p : Prop) (hp : p) : p := by
  repeat constructor
/-
p : Prop
hp : p
⊢ p
-/

--- repeat'
example (p q r : Prop) (hp : p) (hq : q) (hr : r) : (p ∧ q) ∧ r := by
  repeat' constructor
/-
case left.left
p q r : Prop
hp : p
hq : q
hr : r
⊢ p

case left.right
p q r : Prop
hp : p
hq : q
hr : r
⊢ q

case right
p q r : Prop
hp : p
hq : q
hr : r
⊢ r
-/

--- repeat'
example (p q r : Prop) (hp : p) (hq : q) (hr : r) : (p ∧ q) ∧ r := by
  repeat' first | assumption | constructor
/- no goals -/

--- repeat'
example (p : Prop) (hp : p) : p := by
  repeat' constructor
/-
p : Prop
hp : p
⊢ p
-/

--- repeat1'
example (p q r : Prop) (hp : p) (hq : q) (hr : r) : (p ∧ q) ∧ r := by
  repeat1' constructor
/-
case left.left
p q r : Prop
hp : p
hq : q
hr : r
⊢ p

case left.right
p q r : Prop
hp : p
hq : q
hr : r
⊢ q

case right
p q r : Prop
hp : p
hq : q
hr : r
⊢ r
-/

--- repeat1'
example (p : Prop) (hp : p) : p := by
  repeat1' constructor
/- error: repeat1' made no progress -/

--- iterate
example (p q r s : Prop) : p → q → r → s → p := by
  iterate 2 intro
/-
p q r s : Prop
a✝¹ : p
a✝ : q
⊢ r → s → p
-/

--- iterate
example (p q r s : Prop) : p → q → r → s → p := by
  iterate intro
/-
p q r s : Prop
a✝³ : p
a✝² : q
a✝¹ : r
a✝ : s
⊢ p
-/

--- iterate
example (p q : Prop) : p → q := by
  iterate 2 intro
/-
error: Tactic `introN` failed: There are no additional binders or `let` bindings in the goal to introduce

p q : Prop
a✝ : p
⊢ q
-/

--- rotate_left
example (p q r : Prop) : p ∧ q ∧ r := by
  refine ⟨?a, ?b, ?c⟩
  rotate_left
/-
case b
p q r : Prop
⊢ q

case c
p q r : Prop
⊢ r

case a
p q r : Prop
⊢ p
-/

--- rotate_left
example (p q r : Prop) : p ∧ q ∧ r := by
  refine ⟨?a, ?b, ?c⟩
  rotate_left 2
/-
case c
p q r : Prop
⊢ r

case a
p q r : Prop
⊢ p

case b
p q r : Prop
⊢ q
-/

--- rotate_right
example (p q r : Prop) : p ∧ q ∧ r := by
  refine ⟨?a, ?b, ?c⟩
  rotate_right
/-
case c
p q r : Prop
⊢ r

case a
p q r : Prop
⊢ p

case b
p q r : Prop
⊢ q
-/

--- rotate_right
example (p q r : Prop) : p ∧ q ∧ r := by
  refine ⟨?a, ?b, ?c⟩
  rotate_right 2
/-
case b
p q r : Prop
⊢ q

case c
p q r : Prop
⊢ r

case a
p q r : Prop
⊢ p
-/

--- fail_if_success
example (n : Nat) : 0 + n = n := by
  fail_if_success rfl
  exact Nat.zero_add n
/- no goals -/

--- fail_if_success
example (n : Nat) : n + 0 = n := by
  fail_if_success rfl
/- error: The tactic provided to `fail_if_success` succeeded but was expected to fail -/

--- skip
example (p : Prop) (hp : p) : p := by
  skip
/-
p : Prop
hp : p
⊢ p
-/

--- skip
example (p q : Prop) (hp : p) : p ∧ q := by
  constructor <;> first | assumption | skip
/-
case right
p q : Prop
hp : p
⊢ q
-/

--- trace
example (p : Prop) (hp : p) : p := by
  trace "now the hypothesis"
/-
p : Prop
hp : p
⊢ p
-/
  exact hp
/- no goals -/

--- trace
example (p q : Prop) (hp : p) : p ∨ q := by
  first
  | right; assumption
  | trace "not the right one"; left; assumption
/- no goals -/

--- done
example (p : Prop) (hp : p) : p := by
  exact hp
  done
/- no goals -/

--- done
example (p q : Prop) (hp : p) : p ∧ q := by
  constructor
  done
/-
error: unsolved goals
case left
p q : Prop
hp : p
⊢ p

case right
p q : Prop
hp : p
⊢ q
-/

--- sorry
example (p q : Prop) (hp : p) : p ∧ q := by
  constructor
  sorry
/-
case right
p q : Prop
hp : p
⊢ q
-/

--- sorry
example (p q : Prop) (hp : p) : p ∧ q := by
  constructor
  exact hp
  sorry
/- error: Incomplete: contains sorry -/

--- admit
example (p q : Prop) (hp : p) : p ∧ q := by
  constructor
  admit
/-
case right
p q : Prop
hp : p
⊢ q
-/

--- admit
example (p q : Prop) (hp : p) : p ∧ q := by
  admit
/- error: Incomplete: contains sorry -/
