"""What exercises for beginners say: a course of them with proofs, and forms with what they mean and what is refused."""

import re
from pathlib import Path

from nanolean.tests.each import each
from nanolean.tests.library import errors, run

COURSE = Path(__file__).parent / "course.lean"
COLOR = "inductive Color | red | green | blue\nderiving Repr, DecidableEq\n"
POINT = "structure Point where\n  x : Nat\n  y : Nat\nderiving BEq\n"
SET = "def Set (α : Type) := α → Prop\ndef Set.compl (s : Set α) : Set α := fun x => ¬s x\n"

ACCEPTED = {
    "replace": "example (p q : Prop) (h : p ∧ q) : q := by\n  replace h := h.2\n  exact h",
    "replace by a pattern": "example (p q : Prop) (h : p ∧ q) : q := by\n  replace ⟨_, h⟩ := h\n  exact h",
    "a variable for one command": "variable (n : Nat) in\ntheorem t : n = n := rfl\nexample : t 3 = t 3 := rfl",
    "include for one": "variable (n : Nat) (h : n = 2)\ninclude h in\ntheorem t : n + 1 = 3 := by omega",
    "names in guillemets": "def «my fun» (n : Nat) := n\nexample («a b» : Nat) : «my fun» «a b» = «a b» := rfl",
    "arguments left out": "example (a b : Nat) : a * b = b * a := Nat.mul_comm ..",
    "a matched variable in a hypothesis": (
        "example (n : Nat) (h : n ≠ 0) : ∃ m, n = m + 1 := by\n"
        "  match n with\n  | 0 => contradiction\n  | m + 1 => exact ⟨m, rfl⟩"
    ),
    "a case that a hypothesis excludes": "def last : (l : List α) → l ≠ [] → α\n  | [x], _ => x\n"
    "  | _ :: y :: l, _ => last (y :: l) (by simp)\nexample : last [1, 2] (by simp) = 2 := rfl",
    "numbers below two": "example (n : Nat) (h : n < 2) : n = 0 ∨ n = 1 :=\n  match n, h with\n"
    "  | 0, _ => .inl rfl\n  | 1, _ => .inr rfl",
    "split of a match on a proof": (
        "def pre (n : Nat) (h : n ≠ 0) : Nat :=\n  match n with\n  | 0 => absurd rfl h\n  | m + 1 => m\n"
        "example (n : Nat) (h : n ≠ 0) : pre n h + 1 = n := by\n  unfold pre\n  split\n  · contradiction\n  · rfl"
    ),
    "alternatives that overlap, for any type": (
        "def meet (f : α → α → α) : List α → List α → List α\n  | x :: l, y :: m => f x y :: meet f l m\n"
        "  | _, _ => []\nexample (f : α → α → α) (l : List α) : meet f l [] = [] := by\n  cases l <;> simp [meet]"
    ),
    "pairs": "def swap (p : α × β) : β × α := (p.2, p.1)\nexample (p : α × β) : swap (swap p) = p := rfl",
    "patterns of pairs": "def swap : α × β → β × α\n  | (a, b) => (b, a)\n"
    "example (p : α × β) : swap (swap p) = p := by\n  cases p\n  simp [swap]",
    "pairs by their parts": "example (p q : Nat × Bool) (h : p.1 = q.1) (k : p.2 = q.2) : p = q := by\n"
    "  ext\n  · exact h\n  · rw [k]",
    "== on Booleans": "example (a b : Bool) : (a == b) = true ↔ a = b := by\n  simp",
    "== on lists": "example (l : List Nat) : (l == []) = l.isEmpty := by\n  cases l <;> rfl",
    "== on a variable type": "example [DecidableEq α] (a b : α) (h : a == b) : b = a := by\n  simp at h\n  rw [h]",
    "deriving DecidableEq": f"{COLOR}example : Color.red ≠ .blue := by decide",
    "deriving of a recursive type": (
        "inductive Tree (α : Type) | leaf | node (l : Tree α) (a : α) (r : Tree α)\nderiving DecidableEq, BEq\n"
        "example : Tree.node .leaf 1 .leaf ≠ .leaf := by decide\n"
        "example : (Tree.node .leaf 1 .leaf == .node .leaf 1 .leaf) = true := rfl"
    ),
    "deriving instance": "inductive A | a | b\nderiving instance DecidableEq for A\nexample : A.a ≠ .b := by decide",
    "a structure's ext": "@[ext] structure P where\n  x : Nat\n  y : Nat\n"
    "example (p q : P) (h : p.x = q.x ∧ p.y = q.y) : p = q := by\n  ext\n  · exact h.1\n  · exact h.2",
    "a structure with other fields": f"{POINT}example (p : Point) : {{ p with x := 3 }}.y = p.y := rfl",
    "a structure of a type": f"{POINT}example (p : Point) : {{ x := p.x, y := p.y : Point }} = p := rfl",
    "where": f"{POINT}def o : Point where\n  x := 0\n  y := 1\nexample : o.y = 1 := rfl",
    "functions of lists": (
        "example : [1, 2].sum = 3 ∧ [1].all (· > 0) ∧ [1].any (· > 0) ∧ List.range 2 = [0, 1] := by decide"
    ),
    "zip and bind": "example : [1].zip [true] = [(1, true)] ∧ (some 1).bind (fun n => some n) = some 1 := by decide",
    "coprime": "example (a b : Nat) (h : Nat.Coprime a b) : Nat.Coprime b a := h.symm",
    "conv": "example (a b c : Nat) : a * (b * c) = a * (c * b) := by\n  conv =>\n    lhs\n    rw [Nat.mul_comm b c]",
    "conv below a binder": "example (a b : Nat) : (fun x => x + (a + b)) = fun x => x + (b + a) := by\n"
    "  conv => enter [2, x]; rw [Nat.add_comm b]",
    "conv in a hypothesis": "example (a b : Nat) (h : a + b = 3) : b + a = 3 := by\n"
    "  conv at h in a + b => rw [Nat.add_comm]\n  exact h",
    "conv at a premise": "example (p q : Prop) (h : q ∧ p → p) : p ∧ q → p := by\n"
    "  conv => lhs; rw [and_comm]\n  exact h",
    "a block in a term of conv": "example (a b : Nat) : a + b = b + a := by\n"
    "  conv => lhs; rw [show a + b = b + a by omega]",
    "parentheses of conv": "example (a b : Nat) : a + b = b + a := by\n  conv => (lhs; skip); rw [Nat.add_comm]",
    "a function that a definition hides": f"{SET}example (s : Set Nat) (x : Nat) : s.compl.compl x ↔ s x := by\n"
    "  simp [Set.compl]",
}  # fmt: skip


def test_the_course_is_proved() -> None:
    assert errors(COURSE.read_text(encoding="utf-8")) == []


@each("text", ACCEPTED.values(), ids=ACCEPTED)
def test_accepted(text: str) -> None:
    assert errors(text) == []


REFUSED = {
    "replace keeps what is mentioned": (
        "example (n : Nat) (h : n = 2) (k : h = h) : False := by\n  replace h : n = 2 := h",
        "unsolved goals\nn : Nat\nh✝ : n = 2\nk : h✝ = h✝\nh : n = 2\n⊢ False",
    ),
    "a case without a contradiction": (
        "example (n : Nat) (h : n ≠ 1) : Nat :=\n  match n with\n  | m + 1 => m",
        "Missing cases:\nNat.zero, _",
    ),
    "what is in an alternative": (
        "example (n : Nat) (h : n ≠ 0) : n = 5 := by\n  match n with\n  | 0 => contradiction\n  | m + 1 => skip",
        "unsolved goals\nn m : Nat\nh : m + 1 ≠ 0\n⊢ m + 1 = 5",
    ),
    "numbers below three": (
        "example (n : Nat) (h : n + 3 < 3) : False := by\n  contradiction",
        "Tactic `contradiction` failed\n\nn : Nat\nh : n + 3 < 3\n⊢ False",
    ),
    "a class without a handler": (
        f"{COLOR}deriving instance Monoid for Color",
        "No deriving handlers have been implemented for class `Monoid`",
    ),
    "equality of functions": (
        "structure F where\n  f : Nat → Nat\nderiving DecidableEq",
        "None of the deriving handlers for class `DecidableEq` applied to `F`",
    ),
    "== on functions": ("example (f : Nat → Nat) : Bool := f == f", "failed to synthesize\n  BEq (Nat → Nat)"),
    "== that is derived decides no equality": (
        f"{POINT}example (p q : Point) (h : p == q) : p = q := by\n  skip",
        "unsolved goals\np q : Point\nh : (p == q) = true\n⊢ p = q",
    ),
    "a field that is not there": (
        f"{POINT}example (p : Point) : {{ p with z := 3 }} = p := rfl",
        "`z` is not a field of structure `Point`",
    ),
    "include of nothing": ("include h", "invalid 'include', variable `h` has not been declared in the current scope"),
    "omit of nothing": ("omit h", "`h` did not match any variables in the current scope"),
    "no place of conv": (
        "example (a : Nat) : a = a + 0 := by\n  conv => arg 3; simp",
        "`arg` conv tactic failed, the term has no such argument\n  a = a + 0",
    ),
    "parentheses of conv leave no place": (
        "example (a b : Nat) (h : a = b) : 0 = a := by\n  conv => (lhs; skip); arg 2; rw [h]",
        "`arg` conv tactic failed, the term has no such argument\n  0",
    ),
    "what follows rfl in conv": (
        "example (a b : Nat) : a + b = b + a := by\n  conv => lhs; rfl; rw [Nat.add_comm]",
        "No goals to be solved",
    ),
    "a definition with the name of a derived instance": (
        "inductive Two | a | b\nderiving DecidableEq\ndef instBEqTwo.beq (x y : Two) : Bool := true\n"
        "example : (Two.a == .b) = true := by\n  decide",
        "Tactic `decide` proved that the proposition\n  (Two.a == Two.b) = true\nis false",
    ),
    "no instance of a pattern": (
        "example (a : Nat) : a = a + 0 := by\n  conv in a * _ => rfl",
        "`pattern` conv tactic failed, pattern was not found\n  a * ?m",
    ),
}


@each(("text", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(text: str, message: str) -> None:
    assert [re.sub(r"\?m\.\d+", "?m", error) for error in errors(text)] == [message]


def test_theorems_take_what_is_included() -> None:
    text = "variable (n : Nat) (h : n = 2)\ninclude h\ntheorem t : True := trivial\n#check t\ndef d := 1\n#check d"
    assert [message.text for message in run(text).messages] == ["t (n : Nat) (h : n = 2) : True", "d : Nat"]


def test_what_is_derived_has_its_name_where_no_operator_is_between_two_values() -> None:
    text = f"{POINT}#check instBEqPoint.beq\n#check fun p : Point => instBEqPoint.beq p\n#check fun p : Point => p == p"
    names = ["instBEqPoint.beq : Point → Point → Bool", "fun p => instBEqPoint.beq p : Point → Point → Bool"]
    assert [message.text for message in run(text).messages] == [*names, "fun p => p == p : Point → Bool"]
