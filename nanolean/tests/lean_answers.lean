prelude
set_option linter.all false
set_option autoImplicit false
set_option bootstrap.inductiveCheckResultingUniverse false
universe u v w
--L
unsafe axiom lcErased : Type
unsafe axiom lcAny : Type
unsafe axiom lcVoid : Type
--E
inductive PUnit : Sort u where
  | unit : PUnit
inductive True : Prop where
  | intro : True
inductive False : Prop
def Not (a : Prop) : Prop := a → False
inductive Eq {α : Sort u} (a : α) : α → Prop where
  | refl : Eq a a
abbrev Eq.ndrec.{u1, u2} {α : Sort u2} {a : α} {motive : α → Sort u1} (m : motive a) {b : α} (h : Eq a b) : motive b := Eq.rec m h
def rfl {α : Sort u} {a : α} : Eq a a := Eq.refl
theorem Eq.symm {α : Sort u} {a b : α} (h : Eq a b) : Eq b a := Eq.rec (motive := fun x _ => Eq x a) rfl h
theorem Eq.subst {α : Sort u} {motive : α → Prop} {a b : α} (h₁ : Eq a b) (h₂ : motive a) : motive b := Eq.ndrec h₂ h₁
theorem Eq.trans {α : Sort u} {a b c : α} (h : Eq a b) (k : Eq b c) : Eq a c := Eq.subst (motive := fun x => Eq a x) k h
--L
inductive HEq {α : Sort u} (a : α) : {β : Sort u} → β → Prop where
  | refl : HEq a a
axiom eq_of_heq {α : Sort u} {a a' : α} (h : HEq a a') : Eq a a'
axiom heq_of_eq {α : Sort u} {a a' : α} (h : Eq a a') : HEq a a'
abbrev Unit : Type := PUnit
abbrev Unit.unit : Unit := PUnit.unit
--E
def id {α : Sort u} (a : α) : α := a
structure PULift.{r, s} (α : Sort s) : Sort (max s 1 r) where
  up ::
  down : α
--L
structure ULift.{r, s} (α : Type s) : Type (max s r) where
  up ::
  down : α
--E
structure PProd (α : Sort u) (β : Sort v) where
  fst : α
  snd : β
--L
structure Prod (α : Type u) (β : Type v) where
  fst : α
  snd : β
--E
structure And (a b : Prop) : Prop where
  intro ::
  left : a
  right : b
inductive Or (a b : Prop) : Prop where
  | inl (h : a) : Or a b
  | inr (h : b) : Or a b
inductive Decidable (p : Prop) where
  | isFalse (h : Not p) : Decidable p
  | isTrue (h : p) : Decidable p
set_option genCtorIdx false in
inductive Bool : Type where
  | false : Bool
  | true : Bool
noncomputable def cond {α : Sort u} (c : Bool) (x y : α) : α := Bool.rec (motive := fun _ => α) y x c
set_option genCtorIdx false in
inductive Nat where
  | zero : Nat
  | succ (n : Nat) : Nat
--L
axiom Nat.decEq (n m : Nat) : Decidable (Eq n m)
axiom Nat.ble (n m : Nat) : Bool
axiom Nat.beq (n m : Nat) : Bool
axiom Nat.sub (n m : Nat) : Nat
axiom Nat.lt (n m : Nat) : Prop
axiom dite {α : Sort u} (c : Prop) (h : Decidable c) (t : c → α) (e : Not c → α) : α
def wfParam {α : Sort u} (a : α) : α := a
--E
axiom sorryAx (α : Sort u) (synthetic : Bool) : α
--L
@[reducible] def outParam (α : Sort u) : Sort u := α
class CoeFun (α : Sort u) (γ : outParam (α → Sort v)) where
  coe : (f : α) → γ f
class CoeSort (α : Sort u) (β : outParam (Sort v)) where
  coe : α → β
--E
inductive N where
  | z : N
  | s (n : N) : N
set_option genCtorIdx false in
inductive Col where
  | red | green | blue
inductive Same {α : Sort u} (a : α) : α → Prop where
  | mk : Same a a
structure Pt where
  x : N
  y : N
structure Box (α : Type u) : Type u where
  val : α
inductive L (α : Type u) : Type u where
  | nil : L α
  | cons (head : α) (tail : L α) : L α
inductive Some {α : Sort u} (p : α → Prop) : Prop where
  | intro (w : α) (h : p w) : Some p
structure Both (a b : Prop) : Prop where
  left : a
  right : b
inductive Either (a b : Prop) : Prop where
  | inl (h : a) : Either a b
  | inr (h : b) : Either a b
axiom A : Type
axiom a0 : A
axiom b0 : A
axiom P : Prop
axiom Q : Prop
axiom R : A → A → Prop
axiom f : A → A
axiom g : A → A → A
axiom hp : P
axiom hq : Q
axiom Hf : ∀ x : A, R x (f x)
noncomputable def Eq.mpr {α β : Sort u} (h : Eq α β) (b : β) : α := Eq.rec (motive := fun x _ => x → α) (fun a => a) h b
noncomputable def Eq.mp {α β : Sort u} (h : Eq α β) (a : α) : β := Eq.rec (motive := fun x _ => x) a h
def Function.const {α : Sort u} (β : Sort v) (a : α) : β → α := fun _ => a
theorem congrArg {α : Sort u} {β : Sort v} {a₁ a₂ : α} (f : α → β) (h : Eq a₁ a₂) : Eq (f a₁) (f a₂) := Eq.rec (motive := fun x _ => Eq (f a₁) (f x)) rfl h
--L
set_option genCtorIdx false in
inductive List (α : Type u) where
  | nil : List α
  | cons (head : α) (tail : List α) : List α
set_option genCtorIdx false in
structure Char where
  val : Nat
axiom Char.ofNat (n : Nat) : Char
set_option genCtorIdx false in
structure String where
  bytes : List Char
axiom String.ofList : List Char → String
set_option genCtorIdx false in
class OfNat (α : Type u) (_ : Nat) where
  ofNat : α
@[instance 100] instance instOfNatNat (n : Nat) : OfNat Nat n := ⟨n⟩
namespace Lean
set_option genCtorIdx false in
inductive Name where
  | anonymous : Name
  | str (pre : Name) (str : String)
  | num (pre : Name) (i : Nat)
abbrev Name.mkStr (p : Name) (s : String) : Name := Name.str p s
abbrev Name.mkNum (p : Name) (v : Nat) : Name := Name.num p v
abbrev Name.mkSimple (s : String) : Name := .str .anonymous s
abbrev Name.mkStr1 (s₁ : String) : Name := .str .anonymous s₁
abbrev Name.mkStr2 (s₁ s₂ : String) : Name := .str (.str .anonymous s₁) s₂
abbrev Name.mkStr3 (s₁ s₂ s₃ : String) : Name := .str (.str (.str .anonymous s₁) s₂) s₃
abbrev Name.mkStr4 (s₁ s₂ s₃ s₄ : String) : Name := .str (.str (.str (.str .anonymous s₁) s₂) s₃) s₄
set_option genCtorIdx false in
inductive ParserDescr where
  | const (name : Name)
  | unary (name : Name) (p : ParserDescr)
  | binary (name : Name) (p₁ p₂ : ParserDescr)
  | node (kind : Name) (prec : Nat) (p : ParserDescr)
  | trailingNode (kind : Name) (prec lhsPrec : Nat) (p : ParserDescr)
  | symbol (val : String)
  | nonReservedSymbol (val : String) (includeIdent : Bool)
  | cat (catName : Name) (rbp : Nat)
  | parser (declName : Name)
  | nodeWithAntiquot (name : String) (kind : Name) (p : ParserDescr)
  | sepBy (p : ParserDescr) (sep : String) (psep : ParserDescr) (allowTrailingSep : Bool)
  | sepBy1 (p : ParserDescr) (sep : String) (psep : ParserDescr) (allowTrailingSep : Bool)
  | unicodeSymbol (val asciiVal : String) (preserveForPP : Bool)
end Lean
namespace Lean.Parser.Tactic
syntax (name := exact) "exact " term : tactic
syntax (name := refine) "refine " term : tactic
syntax (name := apply) "apply " term : tactic
syntax (name := intro) "intro" notFollowedBy("|") many(ppSpace colGt term:1024) : tactic
syntax (name := constructor) "constructor" : tactic
syntax (name := assumption) "assumption" : tactic
syntax (name := left) "left" : tactic
syntax (name := right) "right" : tactic
syntax (name := contradiction) "contradiction" : tactic
syntax (name := subst) "subst" many1(ppSpace colGt term:1024) : tactic
syntax (name := revert) "revert" many1(ppSpace colGt term:1024) : tactic
syntax (name := clear) "clear" many1(ppSpace colGt term:1024) : tactic
syntax (name := skip) "skip" : tactic
syntax (name := injection) "injection " term optional(" with" many1(ppSpace colGt orelse(ident, hole))) : tactic
syntax (name := specialize) "specialize " term : tactic
syntax inductionAltLHS := "| " orelse(group(optional("@") ident), hole) many(colGt orelse(ident, hole))
syntax inductionAlt := ppDedent(ppLine) many1(inductionAltLHS) optional(" => " orelse(hole, orelse(syntheticHole, tacticSeq)))
syntax inductionAlts := " with" optional(ppSpace colGt tactic) withPosition(many(colGe inductionAlt))
syntax elimTarget := optional(atomic(group(orelse(ident, hole) " : "))) term
syntax (name := induction) "induction " sepBy1(elimTarget, ", ") optional(" using " term) optional(" generalizing" many1(ppSpace colGt term:1024)) optional(inductionAlts) : tactic
syntax (name := cases) "cases " sepBy1(elimTarget, ", ") optional(" using " term) optional(inductionAlts) : tactic
syntax configItem := "+" noWs ident
syntax optConfig := many(colGt configItem)
syntax rwRule := optional(orelse("← ", "<- ")) term
syntax rwRuleSeq := " [" sepBy(rwRule, ", ") "]"
syntax locationType := "⊢"
syntax locationHyp := many1(ppSpace colGt term:1024)
syntax location := withPosition(" at " locationHyp)
syntax (name := rewriteSeq) "rewrite" optConfig rwRuleSeq optional(location) : tactic
end Lean.Parser.Tactic
namespace Lean
open Lean.Parser.Tactic in
syntax (name := cdot) "· " tacticSeq : tactic
end Lean
--E
---
#check ∀ n : N, P
/-
1:0 info: ∀ (n : N), P : Prop
-/
---
#check N.z
#check N.s
#check @N.s
#check N.s N.z
#check (N.s)
/-
1:0 info: N.z : N
2:0 info: N.s (n : N) : N
3:0 info: N.s : N → N
4:0 info: N.z.s : N
5:0 info: N.s : N → N
-/
---
#check Col.red
#check Col
#check L
#check @L
#check L.cons
#check @L.cons
#check L.nil
#check (L.nil : L N)
#check L.cons N.z L.nil
/-
1:0 info: Col.red : Col
2:0 info: Col : Type
3:0 info: L.{u} (α : Type u) : Type u
4:0 info: L : Type u_1 → Type u_1
5:0 info: L.cons.{u} {α : Type u} (head : α) (tail : L α) : L α
6:0 info: @L.cons : {α : Type u_1} → α → L α → L α
7:0 info: L.nil.{u} {α : Type u} : L α
8:0 info: L.nil : L N
9:0 info: L.cons N.z L.nil : L N
-/
---
#check @id
/-
1:0 info: @id : {α : Sort u_1} → α → α
-/
---
#check id
/-
1:0 info: id.{u} {α : Sort u} (a : α) : α
-/
---
#check id N.z
/-
1:0 info: id N.z : N
-/
--- differs
#check (id)
/-
1:0 info: id : ?m.1 → ?m.1
-/
---
#check fun (α : Type) (x : α) => x
/-
1:0 info: fun α x => x : (α : Type) → α → α
-/
---
#check fun x : N => x
/-
1:0 info: fun x => x : N → N
-/
---
#check fun {α : Type} (x : α) => x
/-
1:0 info: fun {α} x => x : {α : Type} → α → α
-/
---
#check fun ⦃α : Type⦄ (x : α) => x
/-
1:0 info: fun ⦃α⦄ x => x : ⦃α : Type⦄ → α → α
-/
---
#check fun (x y : N) => Same x y
/-
1:0 info: fun x y => Same x y : N → N → Prop
-/
---
#check (fun x => N.s x : N → N)
/-
1:0 info: fun x => x.s : N → N
-/
---
#check @Same
#check Same
#check @Same.mk
#check Same.mk
/-
1:0 info: @Same : {α : Sort u_1} → α → α → Prop
2:0 info: Same.{u} {α : Sort u} (a : α) : α → Prop
3:0 info: @Same.mk : ∀ {α : Sort u_1} {a : α}, Same a a
4:0 info: Same.mk.{u} {α : Sort u} {a : α} : Same a a
-/
---
#check Pt.mk N.z N.z
#check (⟨N.z, N.z⟩ : Pt)
#check ({ x := N.z, y := N.z } : Pt)
#check Pt.x
#check fun p : Pt => p.x
#check fun p : Pt => p.1
/-
1:0 info: { x := N.z, y := N.z } : Pt
2:0 info: { x := N.z, y := N.z } : Pt
3:0 info: { x := N.z, y := N.z } : Pt
4:0 info: Pt.x (self : Pt) : N
5:0 info: fun p => p.x : Pt → N
6:0 info: fun p => p.x : Pt → N
-/
---
#check Box.mk N.z
#check (Box.mk N.z).val
#check @Box.val
#check Box.val
/-
1:0 info: { val := N.z } : Box N
2:0 info: { val := N.z }.val : N
3:0 info: @Box.val : {α : Type u_1} → Box α → α
4:0 info: Box.val.{u} {α : Type u} (self : Box α) : α
-/
---
#check Some
#check @Some.intro
#check Some fun x : N => Same x x
#check Some (fun x : N => Same x x)
/-
1:0 info: Some.{u} {α : Sort u} (p : α → Prop) : Prop
2:0 info: @Some.intro : ∀ {α : Sort u_1} {p : α → Prop} (w : α), p w → Some p
3:0 info: Some fun x => Same x x : Prop
4:0 info: Some fun x => Same x x : Prop
-/
---
#check Both.left
#check @Both.mk
#check Both.mk hp hq
#check ⟨hp, hq⟩
#check (⟨hp, hq⟩ : Both P Q)
/-
1:0 info: Both.left {a b : Prop} (self : Both a b) : a
2:0 info: @Both.mk : ∀ {a b : Prop}, a → b → Both a b
3:0 info: { left := hp, right := hq } : Both P Q
4:7 error: Invalid `⟨...⟩` notation: The expected type of this term could not be determined
5:0 info: { left := hp, right := hq } : Both P Q
-/
---
#check hp
#check Hf
#check Hf a0
#check @Hf
#check R a0
#check R
#check g a0
/-
1:0 info: hp : P
2:0 info: Hf (x : A) : R x (f x)
3:0 info: Hf a0 : R a0 (f a0)
4:0 info: Hf : ∀ (x : A), R x (f x)
5:0 info: R a0 : A → Prop
6:0 info: R : A → A → Prop
7:0 info: g a0 : A → A
-/
---
#check P → Q
#check N → P
#check N → N
#check P → N
#check (x : N) → Same x x
#check (x : N) → N
#check ∀ x, R x x
#check ∀ x y, R x y
#check ∀ x y, R x y → R y x
#check ∀ (x : A) (h : R x x), P
/-
1:0 info: P → Q : Prop
2:0 info: ∀ (a : N), P : Prop
3:0 info: N → N : Type
4:0 info: P → N : Type
5:0 info: ∀ (x : N), Same x x : Prop
6:0 info: N → N : Type
7:0 info: ∀ (x : A), R x x : Prop
8:0 info: ∀ (x y : A), R x y : Prop
9:0 info: ∀ (x y : A), R x y → R y x : Prop
10:0 info: ∀ (x : A), R x x → P : Prop
-/
---
#check Type
#check Prop
#check Sort 1
#check Sort 3
#check Type 2
#check Sort u
#check Type u
#check Sort (u+1)
#check Type (max u v)
#check Sort (max u v)
#check Sort (imax u v)
#check Sort (max (u+1) (v+2))
#check Type _
#check Sort _
/-
1:0 info: Type : Type 1
2:0 info: Prop : Type
3:0 info: Type : Type 1
4:0 info: Type 2 : Type 3
5:0 info: Type 2 : Type 3
6:0 info: Sort u : Type u
7:0 info: Type u : Type (u + 1)
8:0 info: Type u : Type (u + 1)
9:0 info: Type (max u v) : Type ((max u v) + 1)
10:0 info: Sort (max u v) : Type (max u v)
11:0 info: Sort (imax u v) : Type (imax u v)
12:0 info: Type (max u (v + 1)) : Type (max (u + 1) (v + 2))
13:0 info: Type u_1 : Type (u_1 + 1)
14:0 info: Sort u_1 : Type u_1
-/
---
#check let x := N.z; N.s x
#check let x : N := N.z; N.s x
#check have x := N.z; N.s x
#check have h : P := hp; h
#check show P from hp
#check (hp : P)
/-
1:0 info: let x := N.z;
x.s : N
2:0 info: let x := N.z;
x.s : N
3:0 info: have x := N.z;
x.s : N
4:0 info: have h := hp;
h : P
5:0 info: have this := hp;
this : P
6:0 info: hp : P
-/
---
#check fun h : P => have k : P := h; k
#check fun h : P => show P from h
#check fun h : P => (show P from h)
#check fun h : P => show Both P P from ⟨h, h⟩
/-
1:0 info: fun h =>
  have k := h;
  k : P → P
2:0 info: fun h =>
  have this := h;
  this : P → P
3:0 info: fun h =>
  have this := h;
  this : P → P
4:0 info: fun h =>
  have this := { left := h, right := h };
  this : P → Both P P
-/
---
#print N
#print Col
#print L
#print Same
#print Both
#print Pt
#print Box
/-
1:0 info: inductive N : Type
number of parameters: 0
constructors:
N.z : N
N.s : N → N
2:0 info: inductive Col : Type
number of parameters: 0
constructors:
Col.red : Col
Col.green : Col
Col.blue : Col
3:0 info: inductive L.{u} : Type u → Type u
number of parameters: 1
constructors:
L.nil : {α : Type u} → L α
L.cons : {α : Type u} → α → L α → L α
4:0 info: inductive Same.{u} : {α : Sort u} → α → α → Prop
number of parameters: 2
constructors:
Same.mk : ∀ {α : Sort u} {a : α}, Same a a
5:0 info: structure Both (a b : Prop) : Prop
number of parameters: 2
fields:
  Both.left : a
  Both.right : b
constructor:
  Both.mk {a b : Prop} (left : a) (right : b) : Both a b
6:0 info: structure Pt : Type
number of parameters: 0
fields:
  Pt.x : N
  Pt.y : N
constructor:
  Pt.mk (x y : N) : Pt
7:0 info: structure Box.{u} (α : Type u) : Type u
number of parameters: 1
fields:
  Box.val : α
constructor:
  Box.mk.{u} {α : Type u} (val : α) : Box α
-/
---
#print hp
#print Hf
#print A
#print P
/-
1:0 info: axiom hp : P
2:0 info: axiom Hf : ∀ (x : A), R x (f x)
3:0 info: axiom A : Type
4:0 info: axiom P : Prop
-/
---
#print Pt.x
#print Box.val
#print Both.left
#print N.rec
#print N.s
#print Pt.mk
#print id
#print Not
/-
1:0 info: @[reducible] def Pt.x : Pt → N :=
fun self => self.1
2:0 info: @[reducible] def Box.val.{u} : {α : Type u} → Box α → α :=
fun α self => self.1
3:0 info: theorem Both.left : ∀ {a b : Prop}, Both a b → a :=
fun a b self => self.1
4:0 info: recursor N.rec.{u} {motive : N → Sort u} (z : motive N.z) (s : (n : N) → motive n → motive n.s) (t : N) : motive t
number of parameters: 0
number of motives: 1 (position 1)
number of minor premises: 2 (positions 2–3)
number of indices: 0
major premise position: 4
rules:
  N.rec z s N.z
    ==> z
  N.rec z s n.s
    ==> s n (N.rec z s n)
5:0 info: constructor N.s : N → N
6:0 info: constructor Pt.mk : N → N → Pt
7:0 info: def id.{u} : {α : Sort u} → α → α :=
fun {α} a => a
8:0 info: def Not : Prop → Prop :=
fun a => a → False
-/
---
def k (n : N) : N := N.s n
#print k
#check k
/-
2:0 info: def k : N → N :=
fun n => n.s
3:0 info: k (n : N) : N
-/
---
theorem t : P := hp
#print t
#check t
#print axioms t
/-
2:0 info: theorem t : P :=
hp
3:0 info: t : P
4:0 info: 't' depends on axioms: [P, hp]
-/
---
theorem t2 (a b : Prop) (h : Both a b) : Both b a := ⟨h.right, h.left⟩
#print t2
#check t2
#check @t2
/-
2:0 info: theorem t2 : ∀ (a b : Prop), Both a b → Both b a :=
fun a b h => { left := h.right, right := h.left }
3:0 info: t2 (a b : Prop) (h : Both a b) : Both b a
4:0 info: t2 : ∀ (a b : Prop), Both a b → Both b a
-/
---
def k2 {α : Type u} (x y : α) : α := x
#print k2
#check k2
#check @k2
#check k2 N.z
#check k2 N.z N.z
/-
2:0 info: def k2.{u} : {α : Type u} → α → α → α :=
fun {α} x y => x
3:0 info: k2.{u} {α : Type u} (x y : α) : α
4:0 info: @k2 : {α : Type u_1} → α → α → α
5:0 info: k2 N.z : N → N
6:0 info: k2 N.z N.z : N
-/
---
def k3 : N → N → N := fun x y => x
#print k3
#check k3
/-
2:0 info: def k3 : N → N → N :=
fun x y => x
3:0 info: k3 : N → N → N
-/
---
def k4 (n : N) : N := match n with | N.z => N.z | N.s m => m
#print k4
/-
2:0 info: def k4 : N → N :=
fun n =>
  match n with
  | N.z => N.z
  | m.s => m
-/
---
def add (a : N) : N → N
  | N.z => a
  | N.s b => N.s (add a b)
#check add
#print axioms add
/-
4:0 info: add (a : N) : N → N
5:0 info: 'add' does not depend on any axioms
-/
---
def add (a b : N) : N := match b with
  | N.z => a
  | N.s b => N.s (add a b)
#check add
/-
4:0 info: add (a b : N) : N
-/
---
abbrev T := N
#print T
#check T
/-
2:0 info: @[reducible] def T : Type :=
N
3:0 info: T : Type
-/
---
structure S (α : Type u) where
  a : α
  b : α → α
#print S
#check S.mk
#check S.a
#check @S.b
#check S.b
/-
4:0 info: structure S.{u} (α : Type u) : Type u
number of parameters: 1
fields:
  S.a : α
  S.b : α → α
constructor:
  S.mk.{u} {α : Type u} (a : α) (b : α → α) : S α
5:0 info: S.mk.{u} {α : Type u} (a : α) (b : α → α) : S α
6:0 info: S.a.{u} {α : Type u} (self : S α) : α
7:0 info: @S.b : {α : Type u_1} → S α → α → α
8:0 info: S.b.{u} {α : Type u} (self : S α) : α → α
-/
---
structure S2 where
  n : N
  h : Same n N.z
#print S2
#check S2.mk
#check S2.h
#check fun s : S2 => s.h
/-
4:0 info: structure S2 : Type
number of parameters: 0
fields:
  S2.n : N
  S2.h : Same self.n N.z
constructor:
  S2.mk (n : N) (h : Same n N.z) : S2
5:0 info: S2.mk (n : N) (h : Same n N.z) : S2
6:0 info: S2.h (self : S2) : Same self.n N.z
7:0 info: fun s => s.h : ∀ (s : S2), Same s.n N.z
-/
---
axiom ax : N → P → N
#check ax
#check ax N.z
#check ax N.z hp
/-
2:0 info: ax : N → P → N
3:0 info: ax N.z : P → N
4:0 info: ax N.z hp : N
-/
---
axiom ax {n : N} (h : Same n n) : P
#check ax
#check @ax
#check ax Same.mk
/-
2:0 info: ax {n : N} (h : Same n n) : P
3:0 info: @ax : ∀ {n : N}, Same n n → P
4:0 info: ax Same.mk : P
-/
---
axiom ax [inst : Box N] : N
#check @ax
/-
1:17 error: invalid binder annotation, type is not a class instance
  Box N

Note: Use the command `set_option checkBinderAnnotations false` to disable the check
2:8 error: Unknown identifier `ax`
-/
---
example : P := hq
/-
1:15 error: Type mismatch
  hq
has type
  Q
but is expected to have type
  P
-/
---
example : N := hp
/-
1:15 error: Type mismatch
  hp
has type
  P
of sort `Prop` but is expected to have type
  N
of sort `Type`
-/
---
example : P := N.z
/-
1:15 error: Type mismatch
  N.z
has type
  N
of sort `Type` but is expected to have type
  P
of sort `Prop`
-/
---
example : A := N.z
/-
1:15 error: Type mismatch
  N.z
has type
  N
but is expected to have type
  A
-/
---
example : N := A
/-
1:15 error: Type mismatch
  A
has type
  Type
of sort `Type 1` but is expected to have type
  N
of sort `Type`
-/
---
example : Type := N.z
/-
1:18 error: Type mismatch
  N.z
has type
  N
of sort `Type` but is expected to have type
  Type
of sort `Type 1`
-/
---
example : N := f a0
/-
1:15 error: Type mismatch
  f a0
has type
  A
but is expected to have type
  N
-/
---
#check f N.z
/-
1:9 error: Application type mismatch: The argument
  N.z
has type
  N
but is expected to have type
  A
in the application
  f N.z
-/
---
#check f hp
/-
1:9 error: Application type mismatch: The argument
  hp
has type
  P
of sort `Prop` but is expected to have type
  A
of sort `Type` in the application
  f hp
-/
---
#check f A
/-
1:9 error: Application type mismatch: The argument
  A
has type
  Type
of sort `Type 1` but is expected to have type
  A
of sort `Type` in the application
  f A
-/
---
#check R a0 N.z
/-
1:12 error: Application type mismatch: The argument
  N.z
has type
  N
but is expected to have type
  A
in the application
  R a0 N.z
-/
---
#check N.s a0
/-
1:11 error: Application type mismatch: The argument
  a0
has type
  A
but is expected to have type
  N
in the application
  N.s a0
-/
---
#check N.s P
/-
1:11 error: Application type mismatch: The argument
  P
has type
  Prop
but is expected to have type
  N
in the application
  N.s P
-/
---
#check N.s N
/-
1:11 error: Application type mismatch: The argument
  N
has type
  Type
of sort `Type 1` but is expected to have type
  N
of sort `Type` in the application
  N.s N
-/
---
#check N.z N.z
/-
1:7 error: Function expected at
  N.z
but this term has type
  N

Note: Expected a function because this term is being applied to the argument
  N.z
-/
---
#check f a0 a0
/-
1:7 error: Function expected at
  f a0
but this term has type
  A

Note: Expected a function because this term is being applied to the argument
  a0
-/
---
#check hp hp
/-
1:7 error: Function expected at
  hp
but this term has type
  P

Note: Expected a function because this term is being applied to the argument
  hp
-/
---
#check foo
/-
1:7 error: Unknown identifier `foo`
-/
---
#check N.foo
/-
1:7 error: Unknown constant `N.foo`
-/
---
#check N.z.foo
/-
1:11 error: Invalid field `foo`: The environment does not contain `N.foo`, so it is not possible to project the field `foo` from an expression
  N.z
of type `N`
-/
---
#check fun x : N => x.foo
/-
1:22 error: Invalid field `foo`: The environment does not contain `N.foo`, so it is not possible to project the field `foo` from an expression
  x
of type `N`
-/
---
#check fun p : Pt => p.z
/-
1:23 error: Invalid field `z`: The environment does not contain `Pt.z`, so it is not possible to project the field `z` from an expression
  p
of type `Pt`
-/
---
#check fun p : Pt => p.3
/-
1:21 error: Invalid projection: Index `3` is invalid for this structure; it must be between 1 and 2

Note: The expression
  p
has type `Pt` which has only 2 fields
-/
---
example : P := foo
/-
1:15 error: Unknown identifier `foo`
-/
---
example : P := bar.baz
/-
1:15 error: Unknown identifier `bar.baz`
-/
---
example : P := _
/-
1:15 error: don't know how to synthesize placeholder
context:
⊢ P
-/
---
example : P := ?x
/-
1:15 error: don't know how to synthesize placeholder
context:
case x
⊢ P
-/
---
example (a b : Prop) (h : a) : b := h
/-
1:36 error: Type mismatch
  h
has type
  a
but is expected to have type
  b
-/
---
example (a b : Prop) (h : a → b) : b := h
/-
1:40 error: Type mismatch
  h
has type
  a → b
but is expected to have type
  b
-/
---
example (a b : Prop) (h : a → b) (k : a) : b := h k
/-
-/
---
example (a b : Prop) (h : a → b) (k : b) : b := h k
/-
1:50 error: Application type mismatch: The argument
  k
has type
  b
but is expected to have type
  a
in the application
  h k
-/
---
example (x y : N) (h : Same x y) : Same y x := h
/-
1:47 error: Type mismatch
  h
has type
  Same x y
but is expected to have type
  Same y x
-/
--- differs
example (x : N) : Same x (N.s x) := Same.mk
/-
1:36 error: Type mismatch
  Same.mk
has type
  Same ?m.3 ?m.3
but is expected to have type
  Same x x.s
-/
---
example : Both P Q := ⟨hp⟩
/-
1:22 error: Insufficient number of fields for `⟨...⟩` constructor: Constructor `Both.mk` has 2 explicit field, but only 1 was provided
-/
---
example : Both P Q := ⟨hp, hq, hp⟩
/-
1:22 error: Invalid `⟨...⟩` notation: The expected type `Q` is not an inductive type

Note: This notation can only be used when the expected type is an inductive type with a single constructor
-/
---
example : Both P Q := ⟨hq, hp⟩
/-
1:23 error: Application type mismatch: The argument
  hq
has type
  Q
but is expected to have type
  P
in the application
  Both.mk hq
-/
---
example : N := ⟨N.z⟩
/-
1:15 error: Invalid `⟨...⟩` notation: The expected type `N` has more than one constructor

Note: This notation can only be used when the expected type is an inductive type with a single constructor
-/
---
example : Either P Q := ⟨hp⟩
/-
1:24 error: Invalid `⟨...⟩` notation: The expected type `Either P Q` has more than one constructor

Note: This notation can only be used when the expected type is an inductive type with a single constructor
-/
---
example : P := ⟨⟩
/-
1:15 error: Invalid `⟨...⟩` notation: The expected type `P` is not an inductive type

Note: This notation can only be used when the expected type is an inductive type with a single constructor
-/
---
example : Pt := { x := N.z, y := N.z, z := N.z }
/-
1:38 error: `z` is not a field of structure `Pt`
-/
---
example : Pt := { x := hp, y := N.z }
/-
1:23 error: Type mismatch
  hp
has type
  P
of sort `Prop` but is expected to have type
  N
of sort `Type`
-/
--- differs
example : N → N := fun x y => x
/-
1:19 error: Type mismatch
  fun x y => x
has type
  (x : N) → ?m.3 x → N
but is expected to have type
  N → N
-/
---
example : N → N := fun x => hp
/-
1:28 error: Type mismatch
  hp
has type
  P
of sort `Prop` but is expected to have type
  N
of sort `Type`
-/
---
example : N → A := fun x => x
/-
1:28 error: Type mismatch
  x
has type
  N
but is expected to have type
  A
-/
---
example : ∀ x : A, R x x := fun x => Hf x
/-
1:37 error: Type mismatch
  Hf x
has type
  R x (f x)
but is expected to have type
  R x x
-/
---
example : ∀ x : A, R x (f x) := fun x => Hf x
/-
-/
---
example : ∀ x : A, R x (f x) := Hf
/-
-/
---
example : P → Q := fun h => h
/-
1:28 error: Type mismatch
  h
has type
  P
but is expected to have type
  Q
-/
---
example : P := (fun h => h : Q → Q) hp
/-
1:36 error: Application type mismatch: The argument
  hp
has type
  P
but is expected to have type
  Q
in the application
  (fun h => h) hp
-/
---
theorem t : N := N.z
/-
1:0 error: type of theorem `t` is not a proposition
  N
-/
---
theorem t : A → A := fun x => x
/-
1:0 error: type of theorem `t` is not a proposition
  A → A
-/
---
def d : P := hp
#print d
#check d
/-
2:0 info: def d : P :=
hp
3:0 info: d : P
-/
---
axiom N.z : N
/-
1:6 error: `N.z` has already been declared
-/
---
def N : Type := A
/-
1:4 error: `N` has already been declared
-/
---
theorem hp : P := hp
/-
1:8 error: `hp` has already been declared
-/
---
def x : N := y
/-
1:13 error: Unknown identifier `y`
-/
---
def f1 (x : N) := x
#check f1
/-
2:0 info: f1 (x : N) : N
-/
--- differs
def f2 (x) := N.s x
#check f2
/-
2:0 info: f2 (x : N) : N
-/
---
variable (n : N)
#check n
#check N.s n
example : Same n n := Same.mk
example : P := n
theorem tt : Same n n := Same.mk
#check tt
#check @tt
/-
2:0 info: n : N
3:0 info: n.s : N
5:15 error: Type mismatch
  n
has type
  N
of sort `Type` but is expected to have type
  P
of sort `Prop`
7:0 info: tt (n : N) : Same n n
8:0 info: tt : ∀ (n : N), Same n n
-/
---
variable {α : Type u} (x : α)
def vv := x
#check vv
#check @vv
/-
3:0 info: vv.{u} {α : Type u} (x : α) : α
4:0 info: @vv : {α : Type u_1} → α → α
-/
---
namespace Foo
def bar : N := N.z
#check bar
#check Foo.bar
#print bar
end Foo
#check Foo.bar
#check bar
/-
3:0 info: Foo.bar : N
4:0 info: Foo.bar : N
5:0 info: def Foo.bar : N :=
N.z
7:0 info: Foo.bar : N
8:7 error: Unknown identifier `bar`
-/
--- differs
open N
#check s z
#check z
/-
2:0 info: z.s : N
3:0 info: N.z : N
-/
---
section
variable (n : N)
def dd : N := n
#check dd
end
#check dd
#check n
/-
4:0 info: dd (n : N) : N
6:0 info: dd (n : N) : N
7:7 error: Unknown identifier `n`
-/
---
end
/-
1:0 error: Invalid `end`: There is no current scope to end

Note: Scopes are introduced using `namespace` and `section`
-/
---
end Foo
/-
1:0 error: Invalid `end`: There is no current scope to end

Note: Scopes are introduced using `namespace` and `section`
-/
---
namespace Foo
end Bar
/-
2:0 error: Invalid name after `end`: Expected `Foo`, but found `Bar`

Hint: Use current scope name `Foo`:
  end B̵a̵r̵F̲o̲o̲
-/
---
#print foo
/-
1:7 error: Unknown constant `foo`
-/
---
#print axioms foo
/-
1:14 error: Unknown constant `foo`
-/
---
#check fun n : N => match n with | N.z => N.z | N.s m => m
/-
1:0 info: fun n =>
  match n with
  | N.z => N.z
  | m.s => m : N → N
-/
---
#check fun (x y : N) => match x, y with | N.z, N.z => N.z | N.s m, _ => m | _, N.s k => k
/-
1:0 info: fun x y =>
  match x, y with
  | N.z, N.z => N.z
  | m.s, x => m
  | x, k.s => k : N → N → N
-/
---
#check fun (c : Col) => match c with | .red => N.z | .green => N.z | .blue => N.z
/-
1:0 info: fun c =>
  match c with
  | Col.red => N.z
  | Col.green => N.z
  | Col.blue => N.z : Col → N
-/
---
#check fun (c : Col) => match c with | .red => N.z | _ => N.z
/-
1:0 info: fun c =>
  match c with
  | Col.red => N.z
  | x => N.z : Col → N
-/
---
#check fun (c : Col) => match c with | .red => N.z | x => N.z
/-
1:0 info: fun c =>
  match c with
  | Col.red => N.z
  | x => N.z : Col → N
-/
---
#check fun (n : N) => match n with | N.z => N.z | N.s _ => hp
/-
1:59 error: Type mismatch
  hp
has type
  P
of sort `Prop` but is expected to have type
  N
of sort `Type`
-/
--- differs
#check fun (n : N) => match n with | hp => N.z
/-
1:0 info: fun n =>
  let hp := n;
  N.z : N → N
-/
---
#check fun (l : L N) => match l with | L.nil => N.z | L.cons a b => a
/-
1:0 info: fun l =>
  match l with
  | L.nil => N.z
  | L.cons a b => a : L N → N
-/
---
#check fun (l : L N) => match l with | .nil => N.z | .cons a _ => a
/-
1:0 info: fun l =>
  match l with
  | L.nil => N.z
  | L.cons a tail => a : L N → N
-/
---
#check fun (p : Pt) => match p with | ⟨a, b⟩ => a
/-
1:0 info: fun p =>
  match p with
  | { x := a, y := b } => a : Pt → N
-/
--- differs
#check fun (h : Both P Q) => match h with | ⟨a, b⟩ => a
/-
1:0 info: fun h =>
  match h with
  | { left := a, right := b } => a : Both P Q → P
-/
--- differs
#check fun (h : Either P Q) => match h with | .inl a => N.z | .inr b => N.z
/-
1:31 error: Tactic `cases` failed with a nested error:
Tactic `induction` failed: recursor `Either.casesOn` can only eliminate into `Prop`

motive : Either P Q → Sort ?u.6
h_1 : (a : P) → motive ⋯
h_2 : (b : Q) → motive ⋯
h✝ : Either P Q
⊢ motive h✝ after processing
  _
the dependent pattern matcher can solve the following kinds of equations
- <var> = <term> and <term> = <var>
- <term> = <term> where the terms are definitionally equal
- <constructor> = <constructor>, examples: List.cons x xs = List.cons y ys, and List.cons x xs = List.nil
-/
---
#check fun (n : N) => match n with | N.z => N.z | N.s m => N.s n
/-
1:0 info: fun n =>
  match n with
  | N.z => N.z
  | m.s => n.s : N → N
-/
---
#check fun (n : N) => match h : n with | N.z => N.z | N.s m => m
/-
1:0 info: fun n =>
  match h : n with
  | N.z => N.z
  | m.s => m : N → N
-/
---
structure Th where
  a : N
  b : N
  c : N
structure Noth where
inductive Nn where
  | mk
inductive Hid where
  | mk {a : N} (b : N) (c : N) (d : N)
/-
-/
---
structure Th where
  a : N
  b : N
  c : N
example : Th := ⟨N.z, N.z⟩
/-
5:16 error: Insufficient number of fields for `⟨...⟩` constructor: Constructor `Th.mk` has 3 explicit field, but only 2 were provided
-/
---
structure Th where
  a : N
  b : N
  c : N
example : Th := ⟨⟩
/-
5:16 error: Insufficient number of fields for `⟨...⟩` constructor: Constructor `Th.mk` has 3 explicit field, but none were provided
-/
---
structure Th where
  a : N
example : Th := ⟨⟩
/-
3:16 error: Insufficient number of fields for `⟨...⟩` constructor: Constructor `Th.mk` has 1 explicit fields, but none were provided
-/
---
inductive Nn where
  | mk
example : Nn := ⟨N.z⟩
/-
3:16 error: Insufficient number of fields for `⟨...⟩` constructor: Constructor `Nn.mk` does not have explicit fields, but 1 was provided
-/
---
example : False := ⟨⟩
/-
1:19 error: Invalid `⟨...⟩` notation: The expected type `False` has no constructors
-/
---
example : Both P (Both Q P) := ⟨hp, hq, hp⟩
/-
-/
---
example : Both P (Both Q P) := ⟨hp, hq, hq⟩
/-
1:40 error: Application type mismatch: The last
  hq
argument has type
  Q
but is expected to have type
  P
in the application
  { left := hq, right := hq }
-/
---
example : Both P Q := ⟨hp, hp⟩
/-
1:27 error: Application type mismatch: The last
  hp
argument has type
  P
but is expected to have type
  Q
in the application
  { left := hp, right := hp }
-/
---
example : Pt := ⟨N.z, hp⟩
/-
1:22 error: Application type mismatch: The argument
  hp
has type
  P
of sort `Prop` but is expected to have type
  N
of sort `Type` in the application
  { x := N.z, y := hp }
-/
---
#check g a0 N.z
/-
1:12 error: Application type mismatch: The argument
  N.z
has type
  N
but is expected to have type
  A
in the application
  g a0 N.z
-/
---
#check g N.z
/-
1:9 error: Application type mismatch: The argument
  N.z
has type
  N
but is expected to have type
  A
in the application
  g N.z
-/
---
#check L.cons N.z (L.cons hp L.nil)
/-
1:26 error: Application type mismatch: The argument
  hp
has type
  P
of sort `Prop` but is expected to have type
  N
of sort `Type` in the application
  L.cons hp
-/
---
#check (L.cons N.z L.nil : L A)
/-
1:15 error: Application type mismatch: The argument
  N.z
has type
  N
but is expected to have type
  A
in the application
  L.cons N.z
-/
---
#check fun (n : N) => n.s.x
/-
1:26 error: Invalid field `x`: The environment does not contain `N.x`, so it is not possible to project the field `x` from an expression
  n.s
of type `N`
-/
---
#check (N.z).1
/-
1:7 error: Invalid projection: Projections extract constructor fields for one-constructor inductive types. The expression
  N.z
has type `N` which is not a one-constructor inductive type.
-/
---
#check fun (n : N) => n.1
/-
1:22 error: Invalid projection: Projections extract constructor fields for one-constructor inductive types. The expression
  n
has type `N` which is not a one-constructor inductive type.
-/
---
#check fun (p : Pt) => p.x.y
/-
1:27 error: Invalid field `y`: The environment does not contain `N.y`, so it is not possible to project the field `y` from an expression
  p.x
of type `N`
-/
---
#check fun (p : Pt) => p.1.2
/-
1:23 error: Invalid projection: Projections extract constructor fields for one-constructor inductive types. The expression
  p.x
has type `N` which is not a one-constructor inductive type.
-/
---
#check hp.foo
/-
1:10 error: Invalid field `foo`: The environment does not contain `P.foo`, so it is not possible to project the field `foo` from an expression
  hp
of type `P`
-/
---
#check A.foo
/-
1:7 error: Unknown constant `A.foo`
-/
---
#check f.foo
/-
1:7 error: Unknown constant `f.foo`
-/
---
#check (f a0).foo
/-
1:14 error: Invalid field `foo`: The environment does not contain `A.foo`, so it is not possible to project the field `foo` from an expression
  f a0
of type `A`
-/
--- differs
#check fun (α : Type) (x : α) => x.foo
/-
1:33 error: Invalid field notation: Field projection operates on types of the form `C ...` where C is a constant. The expression
  x
has type `α` which does not have the necessary form.
-/
---
#check fun (h : ∀ x : A, P) => h.foo
/-
1:33 error: Invalid field `foo`: The environment does not contain `Function.foo`, so it is not possible to project the field `foo` from an expression
  h
of type `∀ (x : A), P`
-/
--- differs
#check Type.foo
/-
1:7 error: Unknown identifier `«Type».foo`
-/
---
example : Some (fun x : A => R a0 x) := ⟨f a0, Hf a0⟩
/-
-/
---
example : Some (fun x : A => R a0 x) := ⟨a0, Hf a0⟩
/-
1:45 error: Application type mismatch: The argument
  Hf a0
has type
  R a0 (f a0)
but is expected to have type
  R a0 a0
in the application
  Some.intro a0 (Hf a0)
-/
---
example : Some (fun x : A => R a0 x) := ⟨a0⟩
/-
1:40 error: Insufficient number of fields for `⟨...⟩` constructor: Constructor `Some.intro` has 2 explicit field, but only 1 was provided
-/
---
example (h : Some (fun x : A => R a0 x)) : P := h
/-
1:48 error: Type mismatch
  h
has type
  Some fun x => R a0 x
but is expected to have type
  P
-/
---
example (h : Both P Q) : P := h.1
/-
-/
---
example (h : Both P Q) : P := h.2
/-
1:30 error: Type mismatch
  h.right
has type
  Q
but is expected to have type
  P
-/
---
example (h : Both P Q) : P := h.left.left
/-
1:37 error: Invalid field `left`: The environment does not contain `P.left`, so it is not possible to project the field `left` from an expression
  h.left
of type `P`
-/
---
example (h : Both P Q) : Both Q P := ⟨h.2, h.3⟩
/-
1:43 error: Invalid projection: Index `3` is invalid for this structure; it must be between 1 and 2

Note: The expression
  h
has type `Both P Q` which has only 2 fields
-/
---
#check (fun x => x : N → A)
/-
1:17 error: Type mismatch
  x
has type
  N
but is expected to have type
  A
-/
---
#check fun (x : N) (h : Same x N.z) => (h : Same N.z x)
/-
1:39 error: Type mismatch
  h
has type
  Same x N.z
but is expected to have type
  Same N.z x
-/
---
#check (id : N → N)
/-
1:0 info: id : N → N
-/
---
#check @id N
/-
1:0 info: id : N → N
-/
---
#check id N.s N.z
/-
1:0 info: id N.s N.z : N
-/
---
#check fun (f : N → N → N) (x : N) => f x
/-
1:0 info: fun f x => f x : (N → N → N) → N → N → N
-/
---
#check fun (α β : Type) (f : α → β) (x : α) => f x
/-
1:0 info: fun α β f x => f x : (α β : Type) → (α → β) → α → β
-/
---
#check fun (p : N → Prop) (h : ∀ x, p x) => h N.z
/-
1:0 info: fun p h => h N.z : ∀ (p : N → Prop), (∀ (x : N), p x) → p N.z
-/
---
#check ∀ (p : N → Prop), (∀ x, p x) → ∀ y, p y
/-
1:0 info: ∀ (p : N → Prop), (∀ (x : N), p x) → ∀ (y : N), p y : Prop
-/
---
#check ∀ (p : N → N → Prop) (x : N), (∀ y, p x y) → p x x
/-
1:0 info: ∀ (p : N → N → Prop) (x : N), (∀ (y : N), p x y) → p x x : Prop
-/
---
#check fun (x : N) (x : N) => x
/-
1:0 info: fun x x_1 => x_1 : N → N → N
-/
---
#check fun (x : N) => fun (x : N) => Same x x
/-
1:0 info: fun x x_1 => Same x_1 x_1 : N → N → Prop
-/
---
#check ∀ x : N, ∀ x : N, Same x x
/-
1:0 info: ∀ (x x : N), Same x x : Prop
-/
---
#check (∀ x : N, Same x x) → P
/-
1:0 info: (∀ (x : N), Same x x) → P : Prop
-/
---
#check P → ∀ x : N, Same x x
/-
1:0 info: P → ∀ (x : N), Same x x : Prop
-/
---
#check Some fun x : N => Some fun y : N => Same x y
/-
1:0 info: Some fun x => Some fun y => Same x y : Prop
-/
---
#check N → Type
#check (α : Type) → α → α
#check (α : Type u) → L α → α
#check {α : Type u} → L α → N
/-
1:0 info: N → Type : Type 1
2:0 info: (α : Type) → α → α : Type 1
3:0 info: (α : Type u) → L α → α : Type (u + 1)
4:0 info: {α : Type u} → L α → N : Type (u + 1)
-/
---
#check Type u → Type v
#check Sort u → Sort v
#check Prop → Prop
#check (P → Q) → P
/-
1:0 info: Type u → Type v : Type (max (u + 1) (v + 1))
2:0 info: Sort u → Sort v : Type (max u v)
3:0 info: Prop → Prop : Type
4:0 info: (P → Q) → P : Prop
-/
---
#check fun (h : P → Q) (k : P) => h k
/-
1:0 info: fun h k => h k : (P → Q) → P → Q
-/
---
#check fun (h : Both P Q) => h.left
#check fun (h : Both P Q) => Both.left h
#check fun (h : Both P Q) => (⟨h.right, h.left⟩ : Both Q P)
/-
1:0 info: fun h => h.left : Both P Q → P
2:0 info: fun h => h.left : Both P Q → P
3:0 info: fun h => { left := h.right, right := h.left } : Both P Q → Both Q P
-/
---
def k5 (h : Both P Q) (n : N) : N := n
#check k5 ⟨hp, hq⟩
#check k5 ⟨hp, hq⟩ N.z
#check fun h : Both P Q => k5 h
#check fun h : Both P Q => k5 ⟨h.left, h.right⟩ N.z
/-
2:0 info: k5 ⋯ : N → N
3:0 info: k5 ⋯ N.z : N
4:0 info: fun h => k5 h : Both P Q → N → N
5:0 info: fun h => k5 ⋯ N.z : Both P Q → N
-/
---
def k6 (h : P) : N := N.z
#check k6 hp
#check k6 ((fun x => x) hp)
#check k6 (Both.left ⟨hp, hq⟩)
#check fun h : Q → P => k6 (h hq)
/-
2:0 info: k6 hp : N
3:0 info: k6 ⋯ : N
4:0 info: k6 ⋯ : N
5:0 info: fun h => k6 ⋯ : (Q → P) → N
-/
---
theorem big (n : N) : Same n n := Same.mk
def k7 (n : N) (h : Same n n) : N := n
#check k7 N.z (big N.z)
#check k7 N.z Same.mk
#check k7 N.z (@Same.mk N N.z)
/-
3:0 info: k7 N.z ⋯ : N
4:0 info: k7 N.z ⋯ : N
5:0 info: k7 N.z ⋯ : N
-/
--- differs
theorem t3 (x y z : N) (h : Same x y) (k : Same y z) : Same x z := match k with | Same.mk => h
#check t3
#check @t3
/-
2:0 info: t3 (x y z : N) (h : Same x y) (k : Same y z) : Same x z
3:0 info: t3 : ∀ (x y z : N), Same x y → Same y z → Same x z
-/
---
theorem t4 : ∀ x : N, Same x x := fun _ => Same.mk
#check t4
#check t4 N.z
#print t4
/-
2:0 info: t4 (x : N) : Same x x
3:0 info: t4 N.z : Same N.z N.z
4:0 info: theorem t4 : ∀ (x : N), Same x x :=
fun x => Same.mk
-/
---
theorem t5 (p q : Prop) : p → q → p := fun hp _ => hp
#check t5
#print t5
/-
2:0 info: t5 (p q : Prop) : p → q → p
3:0 info: theorem t5 : ∀ (p q : Prop), p → q → p :=
fun p q hp x => hp
-/
---
theorem t6 (p q : Prop) (h : p → q) : (q → False) → p → False := fun k x => k (h x)
#check t6
#check @t6
#print t6
/-
2:0 info: t6 (p q : Prop) (h : p → q) : (q → False) → p → False
3:0 info: t6 : ∀ (p q : Prop), (p → q) → (q → False) → p → False
4:0 info: theorem t6 : ∀ (p q : Prop), (p → q) → (q → False) → p → False :=
fun p q h k x => k (h x)
-/
---
theorem t7 {p q : Prop} (h : Both p q) : Both q p := ⟨h.2, h.1⟩
#check t7
#check @t7
#check t7 ⟨hp, hq⟩
#print t7
/-
2:0 info: t7 {p q : Prop} (h : Both p q) : Both q p
3:0 info: @t7 : ∀ {p q : Prop}, Both p q → Both q p
4:0 info: t7 { left := hp, right := hq } : Both Q P
5:0 info: theorem t7 : ∀ {p q : Prop}, Both p q → Both q p :=
fun {p q} h => { left := h.right, right := h.left }
-/
---
theorem t8 (h : Either P Q) : Either Q P := match h with | .inl a => .inr a | .inr b => .inl b
#check t8
/-
2:0 info: t8 (h : Either P Q) : Either Q P
-/
---
theorem t9 : Some fun x : N => Same x N.z := ⟨N.z, Same.mk⟩
#check t9
#print t9
/-
2:0 info: t9 : Some fun x => Same x N.z
3:0 info: theorem t9 : Some fun x => Same x N.z :=
Some.intro N.z Same.mk
-/
---
def twice (f : N → N) : N → N := fun x => f (f x)
#check twice
#check twice N.s
#check twice N.s N.z
#print twice
/-
2:0 info: twice (f : N → N) : N → N
3:0 info: twice N.s : N → N
4:0 info: twice N.s N.z : N
5:0 info: def twice : (N → N) → N → N :=
fun f x => f (f x)
-/
---
def comp {α β γ : Type} (g : β → γ) (f : α → β) (x : α) : γ := g (f x)
#check comp
#check @comp
#check comp N.s N.s
#print comp
/-
2:0 info: comp {α β γ : Type} (g : β → γ) (f : α → β) (x : α) : γ
3:0 info: @comp : {α β γ : Type} → (β → γ) → (α → β) → α → γ
4:0 info: comp N.s N.s : N → N
5:0 info: def comp : {α β γ : Type} → (β → γ) → (α → β) → α → γ :=
fun {α β γ} g f x => g (f x)
-/
---
def swap {α : Type u} {β : Type v} (f : α → α → β) : α → α → β := fun x y => f y x
#check swap
#check @swap
#print swap
/-
2:0 info: swap.{u, v} {α : Type u} {β : Type v} (f : α → α → β) : α → α → β
3:0 info: @swap : {α : Type u_1} → {β : Type u_2} → (α → α → β) → α → α → β
4:0 info: def swap.{u, v} : {α : Type u} → {β : Type v} → (α → α → β) → α → α → β :=
fun {α} {β} f x y => f y x
-/
---
def konst (α : Type) (β : Type) (a : α) : β → α := fun _ => a
#check konst
#print konst
/-
2:0 info: konst (α β : Type) (a : α) : β → α
3:0 info: def konst : (α β : Type) → α → β → α :=
fun α β a x => a
-/
---
def len {α : Type u} : L α → N
  | .nil => N.z
  | .cons _ t => N.s (len t)
#check len
#check @len
#check len (L.cons N.z L.nil)
/-
4:0 info: len.{u} {α : Type u} : L α → N
5:0 info: @len : {α : Type u_1} → L α → N
6:0 info: len (L.cons N.z L.nil) : N
-/
---
def app {α : Type u} (a : L α) (b : L α) : L α := match a with
  | .nil => b
  | .cons h t => .cons h (app t b)
#check app
/-
4:0 info: app.{u} {α : Type u} (a b : L α) : L α
-/
---
def pred : N → N
  | .z => .z
  | .s n => n
#check pred
#print pred
/-
4:0 info: pred : N → N
5:0 info: def pred : N → N :=
fun x =>
  match x with
  | N.z => N.z
  | n.s => n
-/
---
def isZ (n : N) : Prop := match n with | .z => P | .s _ => Q
#check isZ
#print isZ
/-
2:0 info: isZ (n : N) : Prop
3:0 info: def isZ : N → Prop :=
fun n =>
  match n with
  | N.z => P
  | n.s => Q
-/
---
inductive T where
  | leaf : T
  | node (l r : T) : T
#print T
#check T.node
#check T.rec
#print T.rec
/-
4:0 info: inductive T : Type
number of parameters: 0
constructors:
T.leaf : T
T.node : T → T → T
5:0 info: T.node (l r : T) : T
6:0 info: T.rec.{u} {motive : T → Sort u} (leaf : motive T.leaf) (node : (l r : T) → motive l → motive r → motive (l.node r))
  (t : T) : motive t
7:0 info: recursor T.rec.{u} {motive : T → Sort u} (leaf : motive T.leaf)
  (node : (l r : T) → motive l → motive r → motive (l.node r)) (t : T) : motive t
number of parameters: 0
number of motives: 1 (position 1)
number of minor premises: 2 (positions 2–3)
number of indices: 0
major premise position: 4
rules:
  T.rec leaf node T.leaf
    ==> leaf
  T.rec leaf node (l.node r)
    ==> node l r (T.rec leaf node l) (T.rec leaf node r)
-/
---
inductive W (α : Type u) : Type u where
  | mk (x : α) (f : N → W α) : W α
#print W
#check @W.mk
#print W.rec
/-
3:0 info: inductive W.{u} : Type u → Type u
number of parameters: 1
constructors:
W.mk : {α : Type u} → α → (N → W α) → W α
4:0 info: @W.mk : {α : Type u_1} → α → (N → W α) → W α
5:0 info: recursor W.rec.{u_1, u} {α : Type u} {motive : W α → Sort u_1}
  (mk : (x : α) → (f : N → W α) → ((a : N) → motive (f a)) → motive (W.mk x f)) (t : W α) : motive t
number of parameters: 1 (position 1)
number of motives: 1 (position 2)
number of minor premises: 1 (position 3)
number of indices: 0
major premise position: 4
rules:
  W.rec mk (W.mk x f)
    ==> mk x f fun a => W.rec mk (f a)
-/
---
inductive Ev : N → Prop where
  | z : Ev N.z
  | s (n : N) (h : Ev n) : Ev (N.s (N.s n))
#print Ev
#check Ev.s
#check @Ev.rec
/-
4:0 info: inductive Ev : N → Prop
number of parameters: 0
constructors:
Ev.z : Ev N.z
Ev.s : ∀ (n : N), Ev n → Ev n.s.s
5:0 info: Ev.s (n : N) (h : Ev n) : Ev n.s.s
6:0 info: @Ev.rec : ∀ {motive : (a : N) → Ev a → Prop},
  motive N.z Ev.z → (∀ (n : N) (h : Ev n), motive n h → motive n.s.s ⋯) → ∀ {a : N} (t : Ev a), motive a t
-/
---
inductive Le (n : N) : N → Prop where
  | refl : Le n n
  | step {m : N} : Le n m → Le n (N.s m)
#print Le
#check @Le.step
#check Le.step
/-
4:0 info: inductive Le : N → N → Prop
number of parameters: 1
constructors:
Le.refl : ∀ {n : N}, Le n n
Le.step : ∀ {n m : N}, Le n m → Le n m.s
5:0 info: @Le.step : ∀ {n m : N}, Le n m → Le n m.s
6:0 info: Le.step {n m : N} : Le n m → Le n m.s
-/
--- differs
structure Pair (α : Type u) (β : Type v) where
  fst : α
  snd : β
#print Pair
#check Pair.mk
#check @Pair.fst
#check Pair.mk N.z hp
/-
4:0 info: structure Pair.{u, v} (α : Type u) (β : Type v) : Type (max u v)
number of parameters: 2
fields:
  Pair.fst : α
  Pair.snd : β
constructor:
  Pair.mk.{u, v} {α : Type u} {β : Type v} (fst : α) (snd : β) : Pair α β
5:0 info: Pair.mk.{u, v} {α : Type u} {β : Type v} (fst : α) (snd : β) : Pair α β
6:0 info: @Pair.fst : {α : Type u_1} → {β : Type u_2} → Pair α β → α
7:19 error: Application type mismatch: The argument
  hp
has type
  P
of sort `Prop` but is expected to have type
  ?m.2
of sort `Type ?u.1` in the application
  { fst := N.z, snd := hp }
-/
---
structure Pair (α : Type) (β : Type) where
  fst : α
  snd : β
def Pair.swap {α β : Type} (p : Pair α β) : Pair β α := ⟨p.snd, p.fst⟩
#check Pair.swap
#check fun p : Pair N A => p.swap
#check fun p : Pair N A => p.swap.fst
#print Pair.swap
/-
5:0 info: Pair.swap {α β : Type} (p : Pair α β) : Pair β α
6:0 info: fun p => p.swap : Pair N A → Pair A N
7:0 info: fun p => p.swap.fst : Pair N A → A
8:0 info: def Pair.swap : {α β : Type} → Pair α β → Pair β α :=
fun {α β} p => { fst := p.snd, snd := p.fst }
-/
---
structure Grp where
  car : Type
  op : car → car → car
  e : car
#print Grp
#check Grp.op
#check fun G : Grp => G.op G.e
/-
5:0 info: structure Grp : Type 1
number of parameters: 0
fields:
  Grp.car : Type
  Grp.op : self.car → self.car → self.car
  Grp.e : self.car
constructor:
  Grp.mk (car : Type) (op : car → car → car) (e : car) : Grp
6:0 info: Grp.op (self : Grp) : self.car → self.car → self.car
7:0 info: fun G => G.op G.e : (G : Grp) → G.car → G.car
-/
---
example : P := Hf
/-
1:15 error: Type mismatch
  Hf
has type
  ∀ (x : A), R x (f x)
but is expected to have type
  P
-/
---
example : R a0 (f a0) := Hf
/-
1:25 error: Type mismatch
  Hf
has type
  ∀ (x : A), R x (f x)
but is expected to have type
  R a0 (f a0)
-/
---
example : R a0 (f b0) := Hf a0
/-
1:25 error: Type mismatch
  Hf a0
has type
  R a0 (f a0)
but is expected to have type
  R a0 (f b0)
-/
--- differs
example : P := fun x => x
/-
1:15 error: Type mismatch
  fun x => x
has type
  ?m.1 → ?m.1
but is expected to have type
  P
-/
---
example : N := fun (x : N) => x
/-
1:15 error: Type mismatch
  fun x => x
has type
  N → N
but is expected to have type
  N
-/
---
example : N := P → Q
/-
1:15 error: Type mismatch
  P → Q
has type
  Prop
but is expected to have type
  N
-/
---
example : Prop := N
/-
1:18 error: Type mismatch
  N
has type
  Type
of sort `Type 1` but is expected to have type
  Prop
of sort `Type`
-/
---
example : Type := Prop
/-
-/
---
example : Prop := Prop
/-
1:18 error: Type mismatch
  Prop
has type
  Type
of sort `Type 1` but is expected to have type
  Prop
of sort `Type`
-/
---
example : Type := Type
/-
1:18 error: Type mismatch
  Type
has type
  Type 1
of sort `Type 2` but is expected to have type
  Type
of sort `Type 1`
-/
---
example (α : Type) (x : α) : N := x
/-
1:34 error: Type mismatch
  x
has type
  α
but is expected to have type
  N
-/
---
example (α β : Type) (x : α) : β := x
/-
1:36 error: Type mismatch
  x
has type
  α
but is expected to have type
  β
-/
---
example (p : N → Prop) (h : p N.z) : p (N.s N.z) := h
/-
1:52 error: Type mismatch
  h
has type
  p N.z
but is expected to have type
  p N.z.s
-/
---
example (f : N → N) (h : Same (f N.z) N.z) : Same N.z (f N.z) := h
/-
1:65 error: Type mismatch
  h
has type
  Same (f N.z) N.z
but is expected to have type
  Same N.z (f N.z)
-/
---
example (x : N) : A := N.s x
/-
1:23 error: Type mismatch
  x.s
has type
  N
but is expected to have type
  A
-/
---
example (x : N) : N := x x
/-
1:23 error: Function expected at
  x
but this term has type
  N

Note: Expected a function because this term is being applied to the argument
  x
-/
---
example (h : P) : Q := h hp
/-
1:23 error: Function expected at
  h
but this term has type
  P

Note: Expected a function because this term is being applied to the argument
  hp
-/
---
example (h : P → Q) : Q := h hq
/-
1:29 error: Application type mismatch: The argument
  hq
has type
  Q
but is expected to have type
  P
in the application
  h hq
-/
---
example (h : P → Q) : Q := h a0
/-
1:29 error: Application type mismatch: The argument
  a0
has type
  A
of sort `Type` but is expected to have type
  P
of sort `Prop` in the application
  h a0
-/
---
example : Same N.z a0 := Same.mk
/-
1:19 error: Application type mismatch: The argument
  a0
has type
  A
but is expected to have type
  N
in the application
  Same N.z a0
-/
---
example : Same N.z (N.s N.z) := @Same.mk N N.z
/-
1:32 error: Type mismatch
  Same.mk
has type
  Same N.z N.z
but is expected to have type
  Same N.z N.z.s
-/
---
#check Same N.z a0
#check Same a0 N.z
/-
1:16 error: Application type mismatch: The argument
  a0
has type
  A
but is expected to have type
  N
in the application
  Same N.z a0
2:15 error: Application type mismatch: The argument
  N.z
has type
  N
but is expected to have type
  A
in the application
  Same a0 N.z
-/
---
#check Same hp N.z
/-
1:15 error: Application type mismatch: The argument
  N.z
has type
  N
of sort `Type` but is expected to have type
  P
of sort `Prop` in the application
  Same hp N.z
-/
---
#check Both P N
/-
1:14 error: Application type mismatch: The argument
  N
has type
  Type
of sort `Type 1` but is expected to have type
  Prop
of sort `Type` in the application
  Both P N
-/
---
#check Both N P
/-
1:12 error: Application type mismatch: The argument
  N
has type
  Type
of sort `Type 1` but is expected to have type
  Prop
of sort `Type` in the application
  Both N
-/
--- differs
#check L P
/-
1:9 error: Application type mismatch: The argument
  P
has type
  Prop
of sort `Type` but is expected to have type
  Type ?u.1
of sort `Type (?u.1 + 1)` in the application
  L P
-/
--- differs
#check Box N.z
/-
1:11 error: Application type mismatch: The argument
  N.z
has type
  N
of sort `Type` but is expected to have type
  Type ?u.1
of sort `Type (?u.1 + 1)` in the application
  Box N.z
-/
--- differs
#check L
#check L N.z
/-
1:0 info: L.{u} (α : Type u) : Type u
2:9 error: Application type mismatch: The argument
  N.z
has type
  N
of sort `Type` but is expected to have type
  Type ?u.1
of sort `Type (?u.1 + 1)` in the application
  L N.z
-/
--- differs
#check fun x => x
/-
1:0 info: fun x => x : ?m.1 → ?m.1
-/
---
#check fun (x : N.z) => x
/-
1:16 error: type expected, got
  (N.z : N)
-/
---
#check ∀ x : hp, P
/-
1:13 error: type expected, got
  (hp : P)
-/
---
#check N.z → P
/-
1:7 error: type expected, got
  (N.z : N)
-/
---
def dup (x : N) : N := x
def dup (y : N) : N := y
/-
2:4 error: `dup` has already been declared
-/
---
theorem hp2 : P := hp
theorem hp2 : P := hp
/-
2:8 error: `hp2` has already been declared
-/
---
inductive N where
  | a
/-
1:10 error: `N` has already been declared
-/
---
structure Pt where
  q : N
/-
1:10 error: `Pt` has already been declared
-/
--- differs
inductive Bad where
  | mk (f : Bad → N) : Bad
/-
1:0 error: (kernel) arg #1 of 'Bad.mk' has a non positive occurrence of the datatypes being declared
-/
--- differs
inductive Bad2 : Type where
  | mk : N
/-
2:9 error: Unexpected resulting type for constructor `Bad2.mk`: Expected
  Bad2
but found
  N
-/
---
universe u
/-
1:9 error: a universe level named `u` has already been declared
-/
---
universe w
#check Type w
#check fun (α : Type w) (x : α) => x
/-
1:9 error: a universe level named `w` has already been declared
2:0 info: Type w : Type (w + 1)
3:0 info: fun α x => x : (α : Type w) → α → α
-/
---
section
variable (α : Type) (x y : α)
#check x
#check Same x y
#check fun h : Same x y => h
end
/-
3:0 info: x : α
4:0 info: Same x y : Prop
5:0 info: fun h => h : Same x y → Same x y
-/
---
section S
end T
/-
2:0 error: Invalid name after `end`: Expected `S`, but found `T`

Hint: Use current scope name `S`:
  end T̵S̲
-/
---
namespace A1
namespace A2
def q1 : N := N.z
#check q1
#print q1
end A2
#check A2.q1
end A1
#check A1.A2.q1
/-
4:0 info: A1.A2.q1 : N
5:0 info: def A1.A2.q1 : N :=
N.z
7:0 info: A1.A2.q1 : N
9:0 info: A1.A2.q1 : N
-/
--- differs
namespace N
def two : N := s (s z)
#check two
#print two
end N
/-
3:0 info: N.two : N
4:0 info: def N.two : N :=
z.s.s
-/
--- differs
open N in
#check s z
/-
2:0 info: z.s : N
-/
---
set_option pp.universes true
#check @id
#check id N.z
/-
2:0 info: @id.{u_1} : {α : Sort u_1} → α → α
3:0 info: id.{1} N.z : N
-/
---
#check @Same.mk N N.z
#check @L.cons
#check @L.cons N N.z
#check L.cons N.z
/-
1:0 info: Same.mk : Same N.z N.z
2:0 info: @L.cons : {α : Type u_1} → α → L α → L α
3:0 info: L.cons N.z : L N → L N
4:0 info: L.cons N.z : L N → L N
-/
---
#check let f := N.s; f N.z
#check let f : N → N := fun x => x; f
#check let x := N.z; let y := N.s x; N.s y
#check fun x => let y := N.s x; y
/-
1:0 info: let f := N.s;
f N.z : N
2:0 info: let f := fun x => x;
f : N → N
3:0 info: let x := N.z;
let y := x.s;
y.s : N
4:0 info: fun x =>
  let y := x.s;
  y : N → N
-/
---
#check have x := N.z; have y := N.s x; Same y y
/-
1:0 info: have x := N.z;
have y := x.s;
Same y y : Prop
-/
--- differs
def withLet (n : N) : N := let m := N.s n; m
#print withLet
/-
2:0 info: def withLet : N → N :=
fun n =>
  have m := n.s;
  m
-/
---
def withHave (n : N) : N := have m := N.s n; m
#print withHave
/-
2:0 info: def withHave : N → N :=
fun n =>
  have m := n.s;
  m
-/
---
theorem withHave2 (a b : Prop) (h : a) (k : a → b) : b := have hb : b := k h; hb
#print withHave2
/-
2:0 info: theorem withHave2 : ∀ (a b : Prop), a → (a → b) → b :=
fun a b h k =>
  have hb := k h;
  hb
-/
---
theorem withShow (a : Prop) (h : a) : a := show a from h
#print withShow
/-
2:0 info: theorem withShow : ∀ (a : Prop), a → a :=
fun a h =>
  have this := h;
  this
-/
---
theorem withSuff (a b : Prop) (h : a) (k : a → b) : b := suffices ha : a from k ha; h
#print withSuff
/-
2:0 info: theorem withSuff : ∀ (a b : Prop), a → (a → b) → b :=
fun a b h k =>
  have ha := h;
  k ha
-/
---
#check (N.z).s.s
#check N.z.s.s
/-
1:0 info: N.z.s.s : N
2:0 info: N.z.s.s : N
-/
---
#check (.z : N)
#check (.s .z : N)
#check (.foo : N)
/-
1:0 info: N.z : N
2:0 info: N.z.s : N
3:8 error: Unknown constant `N.foo`

Note: Inferred this name from the expected resulting type of `.foo`:
  N
-/
--- differs
#check (.z)
/-
1:8 error: Invalid dotted identifier notation: The expected type of `.z` could not be determined

Hint: Using `N.z would be unambiguous:
  [apply] `N.z`
-/
---
#check N.rec
#check @N.rec
#check @Col.rec
#check @Same.rec
/-
1:0 info: N.rec.{u} {motive : N → Sort u} (z : motive N.z) (s : (n : N) → motive n → motive n.s) (t : N) : motive t
2:0 info: @N.rec : {motive : N → Sort u_1} → motive N.z → ((n : N) → motive n → motive n.s) → (t : N) → motive t
3:0 info: @Col.rec : {motive : Col → Sort u_1} → motive Col.red → motive Col.green → motive Col.blue → (t : Col) → motive t
4:0 info: @Same.rec : {α : Sort u_2} →
  {a : α} → {motive : (a_1 : α) → Same a a_1 → Sort u_1} → motive a ⋯ → {a_1 : α} → (t : Same a a_1) → motive a_1 t
-/
---
#check @Both.rec
#check @Either.rec
#check @Some.rec
/-
1:0 info: @Both.rec : {a b : Prop} →
  {motive : Both a b → Sort u_1} → ((left : a) → (right : b) → motive ⋯) → (t : Both a b) → motive t
2:0 info: @Either.rec : ∀ {a b : Prop} {motive : Either a b → Prop},
  (∀ (h : a), motive ⋯) → (∀ (h : b), motive ⋯) → ∀ (t : Either a b), motive t
3:0 info: @Some.rec : ∀ {α : Sort u_1} {p : α → Prop} {motive : Some p → Prop},
  (∀ (w : α) (h : p w), motive ⋯) → ∀ (t : Some p), motive t
-/
---
#check @L.rec
/-
1:0 info: @L.rec : {α : Type u_2} →
  {motive : L α → Sort u_1} →
    motive L.nil → ((head : α) → (tail : L α) → motive tail → motive (L.cons head tail)) → (t : L α) → motive t
-/
---
#check fun (n : N) => (N.rec (motive := fun _ => N) n (fun m _ => m) n : N)
/-
1:0 info: fun n => N.rec n (fun m x => m) n : N → N
-/
---
#check fun a b : N => a
#check fun (a : N) (b : A) (c : N) => c
#check fun (a : N) {b : A} => a
/-
1:0 info: fun a b => a : N → N → N
2:0 info: fun a b c => c : N → A → N → N
3:0 info: fun a {b} => a : N → {b : A} → N
-/
---
#check (fun x : N => x) N.z
#check (fun (x y : N) => x) N.z
#check (fun (h : P) => h) hp
/-
1:0 info: (fun x => x) N.z : N
2:0 info: (fun x y => x) N.z : N → N
3:0 info: (fun h => h) hp : P
-/
---
axiom F : (N → N) → N
#check F
#check F fun x => x
#check F N.s
#check F (fun x => N.s (N.s x))
/-
2:0 info: F : (N → N) → N
3:0 info: F fun x => x : N
4:0 info: F N.s : N
5:0 info: F fun x => x.s.s : N
-/
---
axiom G : ∀ {α : Type}, α → (α → Prop) → Prop
#check G
#check G N.z fun x => Same x x
#check @G N
/-
2:0 info: G {α : Type} : α → (α → Prop) → Prop
3:0 info: G N.z fun x => Same x x : Prop
4:0 info: G : N → (N → Prop) → Prop
-/
---
axiom H3 (x : N) (_ : Same x x) : P
#check H3
#check @H3
/-
2:0 info: H3 (x : N) : Same x x → P
3:0 info: H3 : ∀ (x : N), Same x x → P
-/
---
axiom H4 : ∀ (x : N), Same x x → ∀ (y : N), Same x y → P
#check H4
#check H4 N.z
#check H4 N.z Same.mk
/-
2:0 info: H4 (x : N) : Same x x → ∀ (y : N), Same x y → P
3:0 info: H4 N.z : Same N.z N.z → ∀ (y : N), Same N.z y → P
4:0 info: H4 N.z Same.mk : ∀ (y : N), Same N.z y → P
-/
---
axiom H5 (f : ∀ x : N, Same x x) {y : N} : Same y y
#check H5
#check @H5
/-
2:0 info: H5 (f : ∀ (x : N), Same x x) {y : N} : Same y y
3:0 info: H5 : (∀ (x : N), Same x x) → ∀ {y : N}, Same y y
-/
---
inductive Fls : Prop
example (h : False) : P := False.rec _ h
/-
-/
---
example (h : False) : P := h.rec
/-
-/
---
example (h : False) : P := False.rec (fun _ => P) h
/-
-/
---
example (h : False) : P := h.rec (motive := fun _ => P)
/-
-/
---
example (h : False) : P := h.casesOn
/-
-/
---
example (h : False) : N := h.rec
/-
-/
---
example : False → P := False.rec _
/-
-/
---
#check @False.rec
#check @False.casesOn
#check @False.recOn
#check False.rec
/-
1:0 info: False.rec : (motive : False → Sort u_1) → (t : False) → motive t
2:0 info: False.casesOn : (motive : False → Sort u_1) → (t : False) → motive t
3:0 info: False.recOn : (motive : False → Sort u_1) → (t : False) → motive t
4:0 info: False.rec.{u} (motive : False → Sort u) (t : False) : motive t
-/
---
example (h : Either P Q) : Either Q P := h.casesOn .inr .inl
/-
-/
---
example (h : Either P Q) : Either Q P := Either.casesOn h (fun a => Either.inr a) (fun b => Either.inl b)
/-
-/
---
example (h : Either P Q) : Either Q P := Either.recOn h (fun a => Either.inr a) (fun b => Either.inl b)
/-
-/
---
example (h : Either P Q) : Either Q P := h.rec .inr .inl
/-
-/
---
def pred (n : N) : N := n.casesOn N.z (fun m => m)
#check pred
#print pred
example : Same (pred (N.s N.z)) N.z := Same.mk
/-
2:0 info: pred (n : N) : N
3:0 info: def pred : N → N :=
fun n => N.casesOn n N.z fun m => m
-/
---
def pred (n : N) : N := N.casesOn n N.z (fun m => m)
/-
-/
---
def pred (n : N) : N := N.casesOn (motive := fun _ => N) n N.z (fun m => m)
#print pred
/-
2:0 info: def pred : N → N :=
fun n => N.casesOn n N.z fun m => m
-/
---
theorem Same.sy {a b : A} (h : Same a b) : Same b a := h.rec Same.mk
/-
-/
---
theorem Same.sy {a b : A} (h : Same a b) : Same b a := h.casesOn Same.mk
/-
-/
---
theorem Same.sy {a b : A} (h : Same a b) : Same b a := Same.recOn h Same.mk
/-
-/
---
theorem Eq.sy {a b : A} (h : Eq a b) : Eq b a := h.rec rfl
/-
-/
---
theorem Eq.sy {a b : A} (h : Eq a b) : Eq b a := h.recOn rfl
/-
-/
---
theorem Eq.sy {a b : A} (h : Eq a b) : Eq b a := Eq.casesOn h rfl
/-
-/
---
example (p : Pt) : Same p p := p.casesOn fun x y => Same.mk
/-
-/
---
example (p : Pt) : Same p p := Pt.casesOn p fun x y => Same.mk
/-
-/
---
example (p : Pt) : Same p p := Pt.rec (fun x y => Same.mk) p
/-
-/
---
inductive T where | a | b
theorem T.casesOn : P := hp
/-
2:8 error: `T.casesOn` has already been declared
-/
---
inductive T where | a | b
theorem T.recOn : P := hp
/-
2:8 error: `T.recOn` has already been declared
-/
---
inductive N2 : N → Type where
  | z : N2 N.z
  | s (n : N) (m : N2 n) : N2 (N.s n)
#check @N2.casesOn
#check @N2.recOn
#check N2.rec
#check @N2.rec
/-
4:0 info: @N2.casesOn : {motive : (a : N) → N2 a → Sort u_1} →
  {a : N} → (t : N2 a) → motive N.z N2.z → ((n : N) → (m : N2 n) → motive n.s (N2.s n m)) → motive a t
5:0 info: @N2.recOn : {motive : (a : N) → N2 a → Sort u_1} →
  {a : N} → (t : N2 a) → motive N.z N2.z → ((n : N) → (m : N2 n) → motive n m → motive n.s (N2.s n m)) → motive a t
6:0 info: N2.rec.{u} {motive : (a : N) → N2 a → Sort u} (z : motive N.z N2.z)
  (s : (n : N) → (m : N2 n) → motive n m → motive n.s (N2.s n m)) {a✝ : N} (t : N2 a✝) : motive a✝ t
7:0 info: @N2.rec : {motive : (a : N) → N2 a → Sort u_1} →
  motive N.z N2.z → ((n : N) → (m : N2 n) → motive n m → motive n.s (N2.s n m)) → {a : N} → (t : N2 a) → motive a t
-/
---
inductive Ac {α : Sort u} (r : α → α → Prop) : α → Prop where
  | intro (x : α) (h : ∀ y, r y x → Ac r y) : Ac r x
#check @Ac.rec
#check @Ac.recOn
#check @Ac.casesOn
#print Ac.casesOn
/-
3:0 info: @Ac.rec : {α : Sort u_2} →
  {r : α → α → Prop} →
    {motive : (a : α) → Ac r a → Sort u_1} →
      ((x : α) → (h : ∀ (y : α), r y x → Ac r y) → ((y : α) → (a : r y x) → motive y ⋯) → motive x ⋯) →
        {a : α} → (t : Ac r a) → motive a t
4:0 info: @Ac.recOn : {α : Sort u_2} →
  {r : α → α → Prop} →
    {motive : (a : α) → Ac r a → Sort u_1} →
      {a : α} →
        (t : Ac r a) →
          ((x : α) → (h : ∀ (y : α), r y x → Ac r y) → ((y : α) → (a : r y x) → motive y ⋯) → motive x ⋯) → motive a t
5:0 info: @Ac.casesOn : {α : Sort u_2} →
  {r : α → α → Prop} →
    {motive : (a : α) → Ac r a → Sort u_1} →
      {a : α} → (t : Ac r a) → ((x : α) → (h : ∀ (y : α), r y x → Ac r y) → motive x ⋯) → motive a t
6:0 info: @[reducible] def Ac.casesOn.{u_1, u} : {α : Sort u} →
  {r : α → α → Prop} →
    {motive : (a : α) → Ac r a → Sort u_1} →
      {a : α} → (t : Ac r a) → ((x : α) → (h : ∀ (y : α), r y x → Ac r y) → motive x ⋯) → motive a t :=
fun {α} {r} {motive} {a} t intro => Ac.rec (fun x h h_ih => intro x h) t
-/
---
open N in
#check recOn
/-
2:7 error: Unknown identifier `recOn`
-/
---
inductive OneR where | mk (n : N) (m : OneR) : OneR
#print OneR.casesOn
/-
2:0 info: @[reducible] def OneR.casesOn.{u} : {motive : OneR → Sort u} →
  (t : OneR) → ((n : N) → (m : OneR) → motive (OneR.mk n m)) → motive t :=
fun {motive} t mk => OneR.rec (fun n m m_ih => mk n m) t
-/
---
inductive OneI : N → Type where | mk (n : N) (m : N) : OneI n
#print OneI.casesOn
/-
2:0 info: @[reducible] def OneI.casesOn.{u} : {a : N} →
  {motive : OneI a → Sort u} → (t : OneI a) → ((m : N) → motive (OneI.mk a m)) → motive t :=
fun {a} {motive} t mk => OneI.rec (fun m => mk m) t
-/
---
structure Dep where
  n : N
  h : Same n n
#print Dep.casesOn
/-
4:0 info: @[reducible] def Dep.casesOn.{u} : {motive : Dep → Sort u} →
  (t : Dep) → ((n : N) → (h : Same n n) → motive { n := n, h := h }) → motive t :=
fun {motive} t mk => Dep.rec (fun n h => mk n h) t
-/
---
set_option autoImplicit true
example (x : α) : Same x x := Same.mk
/-
-/
---
set_option autoImplicit true
def f (x : α) : α := x
#check f
#check @f
/-
2:4 error: `f` has already been declared
3:0 info: f : A → A
4:0 info: f : A → A
-/
---
set_option autoImplicit true
def f (xs : L α) : L α := xs
#check f
#check @f
/-
2:4 error: `f` has already been declared
3:0 info: f : A → A
4:0 info: f : A → A
-/
---
set_option autoImplicit true
def f (x y : α) (z : β) : α := x
#check f
#check @f
/-
2:4 error: `f` has already been declared
3:0 info: f : A → A
4:0 info: f : A → A
-/
---
set_option autoImplicit true
theorem t : Same a a := Same.mk
#check t
#check @t
/-
3:0 info: t.{u_1} {α✝ : Sort u_1} {a : α✝} : Same a a
4:0 info: @t : ∀ {α : Sort u_1} {a : α}, Same a a
-/
---
set_option autoImplicit true
def g (x : Foo) : Foo := x
#check @g
/-
2:4 error: `g` has already been declared
3:0 info: g : A → A → A
-/
---
set_option autoImplicit true
def g (x : foo_bar1) : foo_bar1 := x
#check @g
/-
2:4 error: `g` has already been declared
3:0 info: g : A → A → A
-/
---
set_option autoImplicit true
def g (x : A') (y : A'') : A' := x
#check @g
/-
2:4 error: `g` has already been declared
3:0 info: g : A → A → A
-/
---
set_option autoImplicit true
def g (x : Foo.bar) : Foo.bar := x
/-
2:4 error: `g` has already been declared
-/
---
set_option autoImplicit true
def g (x : Foo N) : Foo N := x
/-
2:4 error: `g` has already been declared
-/
---
set_option autoImplicit true
def g (s : Finset α) (x : α) : P := hp
/-
2:4 error: `g` has already been declared
-/
---
set_option autoImplicit true
def g (h : R x y) : R x y := h
#check g
#check @g
/-
2:4 error: `g` has already been declared
3:0 info: g : A → A → A
4:0 info: g : A → A → A
-/
---
set_option autoImplicit true
theorem g {x : A} (h : R x y) : R x y := h
#check g
#check @g
/-
2:8 error: `g` has already been declared
3:0 info: g : A → A → A
4:0 info: g : A → A → A
-/
---
set_option autoImplicit true
theorem g : R x y → R x y := fun h => h
#check g
#check @g
/-
2:8 error: `g` has already been declared
3:0 info: g : A → A → A
4:0 info: g : A → A → A
-/
---
set_option autoImplicit true
theorem g : R x y := Hf x
/-
2:8 error: `g` has already been declared
-/
---
set_option autoImplicit true
theorem g : P → R x zz := fun _ => nonono
/-
2:8 error: `g` has already been declared
-/
---
set_option autoImplicit true
example : P := x
/-
2:15 error: Unknown identifier `x`
-/
---
set_option autoImplicit true
axiom ax : R x y → R y x
#check ax
#check @ax
/-
3:0 info: ax {x y : A} : R x y → R y x
4:0 info: @ax : ∀ {x y : A}, R x y → R y x
-/
---
set_option autoImplicit true
variable (x : α)
def h := x
#check @h
/-
4:0 info: @h : {α : Sort u_1} → α → α
-/
---
set_option autoImplicit true
variable (x : α) (y : α)
theorem tt : Same x x := Same.mk
#check @tt
/-
4:0 info: @tt : ∀ {α : Sort u_1} (x : α), Same x x
-/
---
set_option autoImplicit true
section
variable {x : β}
theorem tt : Same x x := Same.mk
#check @tt
end
/-
5:0 info: @tt : ∀ {β : Sort u_1} {x : β}, Same x x
-/
---
set_option autoImplicit true
inductive Tr (α : Type w) where
  | leaf : Tr α
  | node (l r : Tr α) : Tr α
#check @Tr.node
/-
5:0 info: @Tr.node : {α : Type u_1} → Tr α → Tr α → Tr α
-/
---
set_option autoImplicit true
inductive Tr (α : Type uu) where
  | leaf : Tr α
#check @Tr.leaf
#check Tr
/-
4:0 info: @Tr.leaf : {α : Type u_1} → Tr α
5:0 info: Tr.{uu} (α : Type uu) : Type
-/
---
set_option autoImplicit true
inductive Eqq : α → α → Prop where
  | refl : Eqq a a
#check @Eqq.refl
#check @Eqq
/-
4:0 info: @Eqq.refl : ∀ {α : Sort u_1} {a : α}, Eqq a a
5:0 info: @Eqq : {α : Sort u_1} → α → α → Prop
-/
---
set_option autoImplicit true
inductive Eqq : (a b : α) → Prop where
  | refl (x) : Eqq x x
#check @Eqq.refl
/-
4:0 info: @Eqq.refl : ∀ {α : Sort u_1} (x : α), Eqq x x
-/
---
set_option autoImplicit true
inductive Vec (α : Type u) : N → Type u where
  | nil : Vec α N.z
  | cons : α → Vec α n → Vec α (N.s n)
#check @Vec.cons
#check Vec.cons
#print Vec
/-
5:0 info: @Vec.cons : {α : Type u_1} → {n : N} → α → Vec α n → Vec α n.s
6:0 info: Vec.cons.{u} {α : Type u} {n : N} : α → Vec α n → Vec α n.s
7:0 info: inductive Vec.{u} : Type u → N → Type u
number of parameters: 1
constructors:
Vec.nil : {α : Type u} → Vec α N.z
Vec.cons : {α : Type u} → {n : N} → α → Vec α n → Vec α n.s
-/
---
set_option autoImplicit true
inductive Pp : L α → Prop where
  | nil : Pp L.nil
  | cons (h : Pp l) : Pp (L.cons a l)
#check @Pp.cons
#check @Pp
/-
5:0 info: @Pp.cons : ∀ {α : Type u_1} {l : L α} {a : α}, Pp l → Pp (L.cons a l)
6:0 info: @Pp : {α : Type u_1} → L α → Prop
-/
---
set_option autoImplicit true
structure Wr (α : Type k) where
  x : α
#check @Wr.x
/-
4:0 info: @Wr.x : {α : Type u_1} → Wr α → α
-/
---
set_option autoImplicit true
structure Wr (x : α) where
  h : Same x x
#check @Wr.h
#check @Wr
#check @Wr.mk
/-
4:0 info: @Wr.h : ∀ {α : Sort u_1} {x : α}, Wr x → Same x x
5:0 info: @Wr : {α : Sort u_1} → α → Prop
6:0 info: @Wr.mk : ∀ {α : Sort u_1} {x : α}, Same x x → Wr x
-/
---
set_option autoImplicit true
def comp (f : β → γ) (g : α → β) (x : α) : γ := f (g x)
#check comp
#check @comp
/-
3:0 info: comp.{u_1, u_2, u_3} {β : Sort u_1} {γ : Sort u_2} {α : Sort u_3} (f : β → γ) (g : α → β) (x : α) : γ
4:0 info: @comp : {β : Sort u_1} → {γ : Sort u_2} → {α : Sort u_3} → (β → γ) → (α → β) → α → γ
-/
---
set_option autoImplicit true
theorem an (h : Both p q) : Both q p := ⟨h.right, h.left⟩
#check an
#check @an
/-
3:0 info: an {p q : Prop} (h : Both p q) : Both q p
4:0 info: @an : ∀ {p q : Prop}, Both p q → Both q p
-/
---
set_option autoImplicit true
theorem an : Both p q → Both q p := fun h => ⟨h.right, h.left⟩
#check @an
/-
3:0 info: @an : ∀ {p q : Prop}, Both p q → Both q p
-/
---
set_option autoImplicit true
theorem an (hp : p) (hq : q) : Both p q := ⟨hp, hq⟩
#check @an
/-
3:0 info: @an : ∀ {p q : Prop}, p → q → Both p q
-/
---
set_option autoImplicit true
def i (α : Type w) (x : α) : α := x
#check i
#check @i
/-
3:0 info: i.{w} (α : Type w) (x : α) : α
4:0 info: i : (α : Type u_1) → α → α
-/
---
set_option autoImplicit true
def i {α : Sort w} (x : α) : α := x
#check i
/-
3:0 info: i.{w} {α : Sort w} (x : α) : α
-/
---
set_option autoImplicit true
theorem foo (h : ∀ x, R x y) : R y y := h y
#check @foo
/-
3:0 info: @foo : ∀ {y : A}, (∀ (x : A), R x y) → R y y
-/
---
set_option autoImplicit true
theorem foo (h : ∀ x, R x y) : R z y := h z
#check @foo
/-
3:0 info: @foo : ∀ {y z : A}, (∀ (x : A), R x y) → R z y
-/
---
set_option autoImplicit true
#check (x : α)
/-
2:12 error: Unknown identifier `α`
-/
---
set_option autoImplicit true
#check fun (x : α) => x
/-
2:16 error: Unknown identifier `α`
-/
---
set_option autoImplicit true
#check (rfl : Eq a a)
/-
2:17 error: Unknown identifier `a`
-/
---
set_option autoImplicit true
example : Eq a a := rfl
/-
-/
---
set_option autoImplicit true
def k : α → α := fun x => x
#check @k
/-
3:0 info: @k : {α : Sort u_1} → α → α
-/
---
set_option autoImplicit true
def k : α → α
  | x => x
#check @k
/-
4:0 info: @k : {α : Sort u_1} → α → α
-/
---
set_option autoImplicit true
def k (x : α) := x
#check @k
/-
3:0 info: @k : {α : Sort u_1} → α → α
-/
---
set_option autoImplicit true
def k : L α → N
  | L.nil => N.z
  | L.cons x l => N.s (k l)
#check @k
/-
5:0 info: @k : {α : Type u_1} → L α → N
-/
---
set_option autoImplicit true
theorem q (x : N) (h : Same x yy) (k : Same yy zz) : P := hp
#check @q
/-
3:0 info: @q : ∀ {yy zz : N} (x : N), Same x yy → Same yy zz → P
-/
---
set_option autoImplicit true
theorem t (h : Same a a) (k : Same b b) : P := hp
#check t
#check @t
/-
3:0 info: t.{u_1, u_2} {α✝ : Sort u_1} {a : α✝} {α✝¹ : Sort u_2} {b : α✝¹} (h : Same a a) (k : Same b b) : P
4:0 info: @t : ∀ {α : Sort u_1} {a : α} {α_1 : Sort u_2} {b : α_1}, Same a a → Same b b → P
-/
---
set_option autoImplicit true
theorem t (h : Same a a) (k : Same b b) (l : Same c c) : P := hp
#check t
/-
3:0 info: t.{u_1, u_2, u_3} {α✝ : Sort u_1} {a : α✝} {α✝¹ : Sort u_2} {b : α✝¹} {α✝² : Sort u_3} {c : α✝²} (h : Same a a)
  (k : Same b b) (l : Same c c) : P
-/
---
set_option autoImplicit true
theorem q (h : Same (x : α) y) (z : α) : Same z y → P := fun _ => hp
#check @q
/-
3:0 info: @q : ∀ {α : Sort u_1} {x y : α}, Same x y → ∀ (z : α), Same z y → P
-/
---
set_option autoImplicit true
example (x : α) (y : x) : P := hp
/-
2:21 error: type expected, got
  (x : α)
-/
---
set_option autoImplicit true
theorem q (h : p) (k : q) : Both p q := ⟨h, k⟩
#check @q
/-
2:23 error: Unknown identifier `q`
3:8 error: Unknown identifier `q`
-/
---
set_option autoImplicit true
theorem q (h : Both x y) (k : x → N) : P := hp
#check @q
/-
3:0 info: @q : ∀ {x y : Prop}, Both x y → ∀ (k : x → N), P
-/
---
set_option autoImplicit true
axiom ax (f : α → α) : Same (f x) x → Same x y
#check @ax
/-
3:0 info: @ax : ∀ {α : Sort u_1} {x y : α} (f : α → α), Same (f x) x → Same x y
-/
---
set_option autoImplicit true
variable (α : Type u) (x y : α)
theorem q (h : Same x z) : Same x z := h
#check @q
/-
4:0 info: q : ∀ (α : Type u_1) (x : α) {z : α}, Same x z → Same x z
-/
---
set_option autoImplicit true
section
variable (x : α)
variable (y : α)
theorem q (h : Same x y) (k : Same x z) : P := hp
#check @q
end
/-
6:0 info: @q : ∀ {α : Sort u_1} (x y : α) {z : α}, Same x y → Same x z → P
-/
---
set_option autoImplicit true
variable (x : α) (y : β)
theorem q : Same x x := Same.mk
#check @q
/-
4:0 info: @q : ∀ {α : Sort u_1} (x : α), Same x x
-/
---
set_option autoImplicit true
variable (l : L α)
def len : L α → N
  | L.nil => N.z
  | L.cons _ l => N.s (len l)
#check @len
/-
6:0 info: @len : {α : Type u_1} → L α → N
-/
---
set_option autoImplicit true
inductive T1 (x : α) : α → Prop where
  | mk (h : Same x y) : T1 x y
#check @T1
#check @T1.mk
/-
4:0 info: @T1 : {α : Sort u_1} → α → α → Prop
5:0 info: @T1.mk : ∀ {α : Sort u_1} {x y : α}, Same x y → T1 x y
-/
---
set_option autoImplicit true
inductive T6 (n : N) : Prop where
  | mk (h : Same n m) (k : Same m l) : T6 n
#check @T6.mk
/-
4:0 info: @T6.mk : ∀ {n m l : N}, Same n m → Same m l → T6 n
-/
---
set_option autoImplicit true
structure S1 (r : α → α → Prop) where
  sym : r x y → r y x
#check @S1.sym
#check @S1.mk
/-
4:0 info: @S1.sym : ∀ {α : Sort u_1} {r : α → α → Prop}, S1 r → ∀ {x y : α}, r x y → r y x
5:0 info: @S1.mk : ∀ {α : Sort u_1} {r : α → α → Prop}, (∀ {x y : α}, r x y → r y x) → S1 r
-/
---
set_option autoImplicit true
structure S1 (r : α → α → Prop) : Prop where
  sym : ∀ {x y}, r x y → r y x
#check @S1.sym
/-
4:0 info: @S1.sym : ∀ {α : Sort u_1} {r : α → α → Prop}, S1 r → ∀ {x y : α}, r x y → r y x
-/
---
set_option autoImplicit true
theorem q (f : α → β) (hf : ∀ {x y}, Same (f x) (f y) → Same x y) : P := hp
#check @q
/-
3:0 info: @q : ∀ {α : Sort u_1} {β : Sort u_2} (f : α → β), (∀ {x y : α}, Same (f x) (f y) → Same x y) → P
-/
---
set_option autoImplicit true
theorem q (n : N) (h : Same n n.s) (k : Same n foo.s) : P := hp
/-
2:47 error: Unknown identifier `foo.s`
-/
---
set_option autoImplicit true
theorem q (k : Same foo.s N.z) : P := hp
/-
2:20 error: Unknown identifier `foo.s`
-/
--- differs
set_option autoImplicit true
def q (x : L Foo) : P := hp
#check @q
/-
3:0 info: @q : ∀ {Foo : Type u_1} (x : L Foo), P
-/
---
set_option autoImplicit true
def id' : α → α := id
#check @id'
/-
3:0 info: @id' : {α : Sort u_1} → α → α
-/
---
set_option autoImplicit true
example : α → α := fun x => x
/-
-/
---
set_option autoImplicit true
example : (α : Type) → α → α := fun _ x => x
/-
-/
---
set_option autoImplicit true
theorem t {a b : Prop} : Both a b → Either a c := fun h => .inl h.left
#check @t
/-
3:0 info: @t : ∀ {c a b : Prop}, Both a b → Either a c
-/
--- differs
set_option autoImplicit true
theorem tt (r : Rel) : P := hp
#check @tt
/-
3:0 info: @tt : ∀ {Rel : Sort u_1} (r : Rel), P
-/
---
set_option autoImplicit true
theorem tt (r : α → β → Prop) (h : r x y) : P := hp
#check @tt
/-
3:0 info: @tt : ∀ {α : Sort u_1} {β : Sort u_2} {x : α} {y : β} (r : α → β → Prop), r x y → P
-/
---
set_option autoImplicit true
theorem tt {r : α → α → Prop} (h : ∀ a, r a a) : r x x := h x
#check @tt
/-
3:0 info: @tt : ∀ {α : Sort u_1} {x : α} {r : α → α → Prop}, (∀ (a : α), r a a) → r x x
-/
---
set_option autoImplicit true
def m1 (x : Sort uu) : Sort uu := x
#check @m1
#check m1
/-
3:0 info: m1 : Sort u_1 → Sort u_1
4:0 info: m1.{uu} (x : Sort uu) : Sort uu
-/
---
set_option autoImplicit true
def m2 (x : Type (max uu vv)) (y : Type vv) : Type uu := P
/-
2:57 error: Type mismatch
  P
has type
  Prop
of sort `Type` but is expected to have type
  Type uu
of sort `Type (uu + 1)`
-/
---
set_option autoImplicit true
variable (x : Type ww)
def m3 := x
#check @m3
#check m3
/-
4:0 info: m3 : Type u_1 → Type u_1
5:0 info: m3.{ww} (x : Type ww) : Type ww
-/
---
set_option autoImplicit true
def m4.{q} (x : Type q) (y : Type r) : Type := N
#check m4
/-
3:0 info: m4.{q, r} (x : Type q) (y : Type r) : Type
-/
---
set_option autoImplicit true
def m5 (x : Type v1) {y : Type v0} : Type := N
#check m5
/-
3:0 info: m5.{v1, v0} (x : Type v1) {y : Type v0} : Type
-/
---
section
variable (n : N) (h : P)
include h
theorem taken : Q := hq
#check taken
omit h
theorem left_out : Q := hq
#check left_out
include k
omit k
end
include n
/-
5:0 info: taken (h : P) : Q
8:0 info: left_out : Q
9:0 error: invalid 'include', variable `k` has not been declared in the current scope
10:0 error: `k` did not match any variables in the current scope
12:0 error: invalid 'include', variable `n` has not been declared in the current scope
-/
---
variable (h : P) in
include h in
theorem once : Q := hq
#check once
/-
4:0 info: once (h : P) : Q
-/
---
example (n : N) (h : Same n N.z) : Same (match n with | N.z => N.z | N.s m => m) n := _
/-
1:86 error: don't know how to synthesize placeholder
context:
n : N
h : Same n N.z
⊢ Same
    (match n, h with
    | N.z, h => N.z
    | m.s, h => m)
    n
-/
