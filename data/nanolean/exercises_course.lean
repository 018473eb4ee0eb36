/-! Twice 36 exercises as of a first course, of each 12 easy, 12 middle and 12 hard, on which nothing was trained. They
were written without a look at the steps that states suggest (`nanoproof/policy/step_tactics.py`): `v01` to `v36` before
those of `product_steps.py` and `fact_steps.py`, `u01` to `u36`, which differ from these in their subjects, before the
last of them. docs/experiments.md says what was proved. -/

/-! Easy -/

def oddSum : Nat → Nat
  | 0 => 0
  | n + 1 => oddSum n + (2 * n + 1)

theorem v01 (n : Nat) : oddSum n = n * n := by
  sorry

theorem v02 {α : Type} (p q : α → Prop) (h : ∃ x, p x ∧ ¬ q x) : ¬ ∀ x, p x → q x := by
  sorry

theorem v03 (a b : Nat) (ha : 6 ∣ a) (hb : 9 ∣ b) : 3 ∣ a + b := by
  sorry

def twice {α : Type} : List α → List α
  | [] => []
  | x :: l => x :: x :: twice l

theorem v04 {α : Type} (l : List α) : (twice l).length = 2 * l.length := by
  sorry

theorem v05 {α β γ : Type} (f : α → β) (g : β → γ) (hf : ∀ x y, f x = f y → x = y)
    (hg : ∀ x y, g x = g y → x = y) : ∀ x y, g (f x) = g (f y) → x = y := by
  sorry

def absDiff (a b : Nat) : Nat := if a ≤ b then b - a else a - b

theorem v06 (a b : Nat) : absDiff a b = absDiff b a := by
  sorry

inductive Tree (α : Type) where
  | leaf : Tree α
  | node (l : Tree α) (x : α) (r : Tree α) : Tree α

def mirror {α : Type} : Tree α → Tree α
  | Tree.leaf => Tree.leaf
  | Tree.node l x r => Tree.node (mirror r) x (mirror l)

theorem v07 {α : Type} (t : Tree α) : mirror (mirror t) = t := by
  sorry

structure Interval where
  lo : Nat
  hi : Nat

def Interval.width (i : Interval) : Nat := i.hi - i.lo

def Interval.shift (k : Nat) (i : Interval) : Interval := { lo := i.lo + k, hi := i.hi + k }

theorem v08 (k : Nat) (i : Interval) : (Interval.shift k i).width = i.width := by
  sorry

theorem v09 : ∀ m : Nat, ∃ n, m < n ∧ 5 ∣ n := by
  sorry

theorem v10 {α β : Type} (f : α → β) (o : Option α) (h : Option.map f o = none) : o = none := by
  sorry

theorem v11 (f : Nat → Nat) (h : ∀ n, f n ≤ f (n + 1)) (n : Nat) : f 0 ≤ f n := by
  sorry

inductive Path {α : Type} (R : α → α → Prop) : α → α → Prop where
  | refl (a : α) : Path R a a
  | step (a b c : α) (h : R a b) (t : Path R b c) : Path R a c

theorem v12 {α : Type} (R : α → α → Prop) (a b c : α) (h1 : R a b) (h2 : R b c) : Path R a c := by
  sorry

/-! Middle -/

def fib : Nat → Nat
  | 0 => 0
  | 1 => 1
  | n + 2 => fib n + fib (n + 1)

def fibSum : Nat → Nat
  | 0 => 0
  | n + 1 => fibSum n + fib (n + 1)

theorem v13 (n : Nat) : fibSum n + 1 = fib (n + 2) := by
  sorry

theorem v14 (n : Nat) : Nat.gcd n (n + 2) ∣ 2 := by
  sorry

def occ (x : Nat) : List Nat → Nat
  | [] => 0
  | y :: l => if x = y then occ x l + 1 else occ x l

theorem v15 (x : Nat) (l m : List Nat) : occ x (l ++ m) = occ x l + occ x m := by
  sorry

def inorder {α : Type} : Tree α → List α
  | Tree.leaf => []
  | Tree.node l x r => inorder l ++ x :: inorder r

theorem v16 {α : Type} (t : Tree α) : inorder (mirror t) = (inorder t).reverse := by
  sorry

def total : List Nat → Nat
  | [] => 0
  | x :: l => x + total l

theorem v17 (l : List Nat) (a : Nat) : l.foldl (fun s x => s + x) a = a + total l := by
  sorry

inductive Ev : Nat → Prop where
  | zero : Ev 0
  | next (n : Nat) (h : Ev n) : Ev (n + 2)

theorem v18 (m n : Nat) (h : Ev (m + n)) (hn : Ev n) : Ev m := by
  sorry

def place (x : Nat) : List Nat → List Nat
  | [] => [x]
  | y :: l => if x ≤ y then x :: y :: l else y :: place x l

theorem v19 (x z : Nat) (l : List Nat) : z ∈ place x l ↔ z = x ∨ z ∈ l := by
  sorry

theorem v20 (n : Nat) : 7 ∣ 8 ^ n + 6 := by
  sorry

theorem v21 (f : Nat → Nat) (h : ∀ n, f n < f (n + 1)) (a b : Nat) (hab : f a = f b) : ¬ a < b := by
  sorry

theorem v22 {α : Type} : ¬ ∃ f : α → α → Prop, ∀ s : α → Prop, ∃ a, f a = s := by
  sorry

def final {α : Type} : List α → Option α
  | [] => none
  | x :: l => match l with
    | [] => some x
    | y :: m => final (y :: m)

theorem v23 {α : Type} (l : List α) (x : α) : final (l ++ [x]) = some x := by
  sorry

def value : List Bool → Nat
  | [] => 0
  | true :: l => 2 * value l + 1
  | false :: l => 2 * value l

def inc : List Bool → List Bool
  | [] => [true]
  | false :: l => true :: l
  | true :: l => false :: inc l

theorem v24 (l : List Bool) : value (inc l) = value l + 1 := by
  sorry

/-! Hard -/

def fibLoop : Nat → Nat → Nat → Nat
  | 0, a, _ => a
  | n + 1, a, b => fibLoop n b (a + b)

theorem v25 (n : Nat) : fibLoop n 0 1 = fib n := by
  sorry

def isort : List Nat → List Nat
  | [] => []
  | x :: l => place x (isort l)

def Ordered : List Nat → Prop
  | [] => True
  | x :: l => (∀ y, y ∈ l → x ≤ y) ∧ Ordered l

theorem v26 (l : List Nat) : Ordered (isort l) := by
  sorry

theorem v27 (n : Nat) : Nat.gcd (fib n) (fib (n + 1)) = 1 := by
  sorry

def tri : Nat → Nat
  | 0 => 0
  | n + 1 => tri n + (n + 1)

def cubes : Nat → Nat
  | 0 => 0
  | n + 1 => cubes n + (n + 1) * (n + 1) * (n + 1)

theorem v28 (n : Nat) : cubes n = tri n * tri n := by
  sorry

inductive Subseq {α : Type} : List α → List α → Prop where
  | nil : Subseq [] []
  | skip (x : α) (l m : List α) (h : Subseq l m) : Subseq l (x :: m)
  | keep (x : α) (l m : List α) (h : Subseq l m) : Subseq (x :: l) (x :: m)

theorem v29 {α : Type} (l m k : List α) (h1 : Subseq l m) (h2 : Subseq m k) : Subseq l k := by
  sorry

def size {α : Type} : Tree α → Nat
  | Tree.leaf => 0
  | Tree.node l _ r => size l + size r + 1

def height {α : Type} : Tree α → Nat
  | Tree.leaf => 0
  | Tree.node l _ r => max (height l) (height r) + 1

theorem v30 {α : Type} (t : Tree α) : size t < 2 ^ height t := by
  sorry

theorem v31 {α : Type} (R : α → α → Prop) (sym : ∀ a b, R a b → R b a) (a b : α) (h : Path R a b) :
    Path R b a := by
  sorry

theorem v32 : ¬ ∃ f : Nat → Nat, ∀ n, f (n + 1) < f n := by
  sorry

theorem v33 (n : Nat) (h : 0 < n) : ∃ k m, n = 2 ^ k * (2 * m + 1) := by
  sorry

def maxl : List Nat → Nat
  | [] => 0
  | x :: l => if maxl l ≤ x then x else maxl l

theorem v34 (l : List Nat) (h : l ≠ []) : maxl l ∈ l ∧ ∀ x, x ∈ l → x ≤ maxl l := by
  sorry

inductive Perm {α : Type} : List α → List α → Prop where
  | nil : Perm [] []
  | cons (x : α) (l m : List α) (h : Perm l m) : Perm (x :: l) (x :: m)
  | swap (x y : α) (l : List α) : Perm (x :: y :: l) (y :: x :: l)
  | trans (l m k : List α) (h1 : Perm l m) (h2 : Perm m k) : Perm l k

theorem v35 {α : Type} (l m : List α) : Perm (l ++ m) (m ++ l) := by
  sorry

theorem v36 (a b : Nat) (h : 3 ∣ a * a + b * b) : 3 ∣ a := by
  sorry

/-! The second 36: easy -/

def fact : Nat → Nat
  | 0 => 1
  | n + 1 => (n + 1) * fact n

theorem u01 (n : Nat) : 0 < fact n := by
  sorry

theorem u02 {α β : Type} (R : α → β → Prop) (h : ∃ x, ∀ y, R x y) : ∀ y, ∃ x, R x y := by
  sorry

theorem u03 (n : Nat) (h : n % 12 = 7) : n % 4 = 3 ∧ n % 3 = 1 := by
  sorry

def snoc {α : Type} : List α → α → List α
  | [], a => [a]
  | x :: l, a => x :: snoc l a

theorem u04 {α : Type} (l : List α) (a : α) : snoc l a = l ++ [a] := by
  sorry

def Surj {α β : Type} (f : α → β) : Prop := ∀ y, ∃ x, f x = y

theorem u05 {α β γ : Type} (f : α → β) (g : β → γ) (hf : Surj f) (hg : Surj g) : Surj (g ∘ f) := by
  sorry

structure Rect where
  width : Nat
  height : Nat

def Rect.area (r : Rect) : Nat := r.width * r.height

def Rect.turn (r : Rect) : Rect := { width := r.height, height := r.width }

theorem u06 (r : Rect) : r.turn.area = r.area := by
  sorry

inductive Light : Type where
  | red : Light
  | green : Light
  | yellow : Light

def Light.next : Light → Light
  | Light.red => Light.green
  | Light.green => Light.yellow
  | Light.yellow => Light.red

theorem u07 (c : Light) : c.next.next.next = c ∧ c.next ≠ c := by
  sorry

inductive Expr : Type where
  | num (n : Nat) : Expr
  | add (a b : Expr) : Expr
  | mul (a b : Expr) : Expr

def Expr.eval : Expr → Nat
  | Expr.num n => n
  | Expr.add a b => a.eval + b.eval
  | Expr.mul a b => a.eval * b.eval

def Expr.swap : Expr → Expr
  | Expr.num n => Expr.num n
  | Expr.add a b => Expr.add b.swap a.swap
  | Expr.mul a b => Expr.mul b.swap a.swap

theorem u08 (e : Expr) : e.swap.eval = e.eval := by
  sorry

theorem u09 (d a b x y : Nat) (ha : d ∣ a) (hb : d ∣ b) : d ∣ a * x + y * b := by
  sorry

def All {α : Type} (p : α → Prop) : List α → Prop
  | [] => True
  | x :: l => p x ∧ All p l

theorem u10 {α : Type} (p : α → Prop) (l m : List α) : All p (l ++ m) ↔ All p l ∧ All p m := by
  sorry

def iter {α : Type} (f : α → α) : Nat → α → α
  | 0, x => x
  | n + 1, x => iter f n (f x)

theorem u11 {α : Type} (f : α → α) (a : α) (h : f a = a) (n : Nat) : iter f n a = a := by
  sorry

theorem u12 (p q : Prop) (h : (p → q) → p) : p := by
  sorry

/-! The second 36: middle -/

def squares : Nat → Nat
  | 0 => 0
  | n + 1 => squares n + (n + 1) * (n + 1)

theorem u13 (n : Nat) : 6 * squares n = n * (n + 1) * (2 * n + 1) := by
  sorry

theorem u14 (n : Nat) : n * n % 3 ≠ 2 := by
  sorry

theorem u15 {α : Type} (p : α → Bool) (l : List α) :
    (l.filter p).length + (l.filter (fun x => !p x)).length = l.length := by
  sorry

inductive Prefix {α : Type} : List α → List α → Prop where
  | nil (m : List α) : Prefix [] m
  | cons (x : α) (l m : List α) (h : Prefix l m) : Prefix (x :: l) (x :: m)

theorem u16 {α : Type} (l m : List α) : Prefix l m ↔ ∃ k, m = l ++ k := by
  sorry

def Inj {α β : Type} (f : α → β) : Prop := ∀ x y, f x = f y → x = y

theorem u17 {α β γ : Type} (f : α → β) (g : β → γ) (h : Inj (g ∘ f)) (hf : Surj f) : Inj g := by
  sorry

theorem u18 (f : Nat → Nat) (h0 : f 0 = 0) (h : ∀ n, f (n + 1) ≤ f n + 1) (n k : Nat) (hk : k ≤ f n) :
    ∃ m, m ≤ n ∧ f m = k := by
  sorry

inductive Three : Nat → Prop where
  | zero : Three 0
  | next (n : Nat) (h : Three n) : Three (n + 3)

theorem u19 (n : Nat) : Three n ↔ 3 ∣ n := by
  sorry

theorem u20 {α : Type} (p : α → Prop) (q : Prop) : (∀ x, p x ∨ q) ↔ (∀ x, p x) ∨ q := by
  sorry

inductive BTree (α : Type) where
  | leaf (x : α) : BTree α
  | fork (l r : BTree α) : BTree α

def BTree.fringe {α : Type} : BTree α → List α
  | BTree.leaf x => [x]
  | BTree.fork l r => l.fringe ++ r.fringe

def BTree.collect {α : Type} : BTree α → List α → List α
  | BTree.leaf x, acc => x :: acc
  | BTree.fork l r, acc => l.collect (r.collect acc)

theorem u21 {α : Type} (t : BTree α) : t.collect [] = t.fringe := by
  sorry

theorem u22 (a b : Nat) : Nat.gcd a (a + b) = Nat.gcd a b := by
  sorry

theorem u23 (f : Nat → Nat) (h : ∀ a b, f (a + b) = f a + f b) (n : Nat) : f n = n * f 1 := by
  sorry

theorem u24 (f : Bool → Bool) (b : Bool) : f (f (f b)) = f b := by
  sorry

/-! The second 36: hard -/

def rotate {α : Type} : List α → List α
  | [] => []
  | x :: l => l ++ [x]

theorem u25 {α : Type} (l : List α) : iter rotate l.length l = l := by
  sorry

def Prime (p : Nat) : Prop := 2 ≤ p ∧ ∀ d, d ∣ p → d = 1 ∨ d = p

theorem u26 (n : Nat) (h : 2 ≤ n) : ∃ p, Prime p ∧ p ∣ n := by
  sorry

inductive Instr : Type where
  | push (n : Nat) : Instr
  | plus : Instr
  | times : Instr

def Instr.step : Instr → List Nat → List Nat
  | Instr.push n, s => n :: s
  | Instr.plus, a :: b :: s => (b + a) :: s
  | Instr.times, a :: b :: s => (b * a) :: s
  | _, s => s

def run : List Instr → List Nat → List Nat
  | [], s => s
  | i :: c, s => run c (i.step s)

def Expr.compile : Expr → List Instr
  | Expr.num n => [Instr.push n]
  | Expr.add a b => a.compile ++ b.compile ++ [Instr.plus]
  | Expr.mul a b => a.compile ++ b.compile ++ [Instr.times]

theorem u27 (e : Expr) : run e.compile [] = [e.eval] := by
  sorry

theorem u28 (a b : Nat) (h : a * a = 2 * (b * b)) : b = 0 := by
  sorry

inductive STree : Type where
  | empty : STree
  | node (l : STree) (k : Nat) (r : STree) : STree

def STree.insert (x : Nat) : STree → STree
  | STree.empty => STree.node STree.empty x STree.empty
  | STree.node l k r =>
    if x < k then STree.node (STree.insert x l) k r
    else if k < x then STree.node l k (STree.insert x r)
    else STree.node l k r

def STree.Every (p : Nat → Prop) : STree → Prop
  | STree.empty => True
  | STree.node l k r => STree.Every p l ∧ p k ∧ STree.Every p r

def STree.Search : STree → Prop
  | STree.empty => True
  | STree.node l k r =>
    STree.Every (fun y => y < k) l ∧ STree.Every (fun y => k < y) r ∧ STree.Search l ∧ STree.Search r

theorem u29 (x : Nat) (t : STree) (h : t.Search) : (t.insert x).Search := by
  sorry

theorem u30 (n : Nat) (f : Nat → Nat) (h : ∀ i, i ≤ n → f i < n) :
    ∃ i j, i < j ∧ j ≤ n ∧ f i = f j := by
  sorry

theorem u31 (f : Nat → Nat) (h : ∀ a b, a < b → f a < f b) (hs : Surj f) (n : Nat) : f n = n := by
  sorry

theorem u32 (p : Nat → Prop) (n : Nat) (h : p n) : ∃ m, p m ∧ ∀ k, p k → m ≤ k := by
  sorry

def Distinct {α : Type} : List α → Prop
  | [] => True
  | x :: l => x ∉ l ∧ Distinct l

theorem u33 {α : Type} (l : List α) (h : Distinct l) : Distinct l.reverse := by
  sorry

def peval (x : Nat) : List Nat → Nat
  | [] => 0
  | a :: p => a + x * peval x p

def padd : List Nat → List Nat → List Nat
  | [], q => q
  | a :: p, [] => a :: p
  | a :: p, b :: q => (a + b) :: padd p q

def pmul : List Nat → List Nat → List Nat
  | [], _ => []
  | a :: p, q => padd (q.map (fun b => a * b)) (0 :: pmul p q)

theorem u34 (x : Nat) (p q : List Nat) : peval x (pmul p q) = peval x p * peval x q := by
  sorry

theorem u35 (a b : Nat) (h : 5 ∣ a * b) : 5 ∣ a ∨ 5 ∣ b := by
  sorry

theorem u36 {α : Type} (F : (α → Prop) → α → Prop)
    (mono : ∀ P Q : α → Prop, (∀ x, P x → Q x) → ∀ x, F P x → F Q x) :
    ∃ P : α → Prop, ∀ x, F P x ↔ P x := by
  sorry
