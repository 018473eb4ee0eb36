"""Texts of a kind that NanoLean once accepted and Lean refuses: what it decided, where Lean goes by text or by name.

Lean's answers are those of Lean 4.35.0's kernel to the terms; it is asked again where its library is installed
(`nanolean.tests.official` asks about random declarations).
"""

from nanolean.library.core_names import core_names
from nanolean.tests.each import each
from nanolean.tests.library import base, errors

VAIN = "def K (a b : Type) : Type := a\n"
"""A function that drops its second argument."""
S = VAIN + "inductive S where\n  | mk (x : K Nat S) : S\n"

REFUSED = {
    # Recursive is a type whose fields mention it, also where that vanishes: there is no eta for it.
    "eta of a type that its field mentions in vain": (
        S + "theorem t (s : S) : s = S.mk (S.rec (fun x => x) s) := rfl",
        "mismatch",
    ),
    "eta under a function": (
        VAIN + "inductive F where\n  | mk (x : Nat → K Nat F) : F\n"
        "theorem t (s : F) : s = F.mk (F.rec (fun x => x) s) := rfl",
        "mismatch",
    ),
    "two elements of a type without data": (
        "def C (b : Type) : Prop := True\ninductive U where\n  | mk (x : C U) : U\n"
        "theorem t (s : U) : s = U.mk True.intro := rfl",
        "mismatch",
    ),
    "a recursor on a variable": (
        S + "theorem t (s : S) : S.rec (motive := fun _ => Nat) (fun _ => 3) s = 3 := rfl",
        "mismatch",
    ),
    # Levels are the same where their normal forms are.
    "imax that is max": ("def f (α : Sort (max (u+1) (imax (u+1) u))) : Type u := α", ""),
    "imax of a successor": ("def f (α : Sort ((imax u (v+1))+1)) : Sort ((max u (v+1))+1) := α", ""),
    "imax beside its part": ("def f (α : Sort ((max (imax u v) u)+1)) : Sort ((max v u)+1) := α", ""),
    "imax of imax": ("def f (α : Sort (max 1 (imax u (imax v w)))) : Sort (max 1 (imax (max u v) w)) := α", ""),
    "the order in an imax": ("def f (α : Sort (imax (imax u v) w)) : Sort (imax (imax u w) (imax v w)) := α", ""),
    # Numbers that Lean computes by name, and names that its core has.
    "bitwise and": ("def Nat.land (a b : Nat) : Nat := a", "already been declared"),
    "bitwise or": ("def Nat.lor (a b : Nat) : Nat := a", "already been declared"),
    "exclusive or": ("def Nat.xor (a b : Nat) : Nat := a", "already been declared"),
    "shift to the left": ("def Nat.shiftLeft (a b : Nat) : Nat := a", "already been declared"),
    "shift to the right": ("theorem Nat.shiftRight : True := trivial", "already been declared"),
    "binary logarithm": ("def Nat.log2 (a : Nat) : Nat := a", "already been declared"),
    "in a namespace": ("namespace Nat\ndef land (a b : Nat) : Nat := a\nend Nat", "already been declared"),
    "pairs": ("structure Prod (α β : Type) : Type where\n  fst : α", "already been declared"),
    "integers": ("inductive Int : Type where\n  | mk : Int", "already been declared"),
    "a postulate": ("axiom Rat : Type", "already been declared"),
    "texts": ("inductive String : Type where\n  | mk : String", "already been declared"),
    "compiled code": ("axiom Lean.reduceBool (b : Bool) : Bool", "reserved"),
    # Lean declares more than the text says, and has words and types that no text may have.
    "a lemma about a definition to come": ("theorem f.eq_1 : True := trivial\ndef f : Nat := 0", "failed to declare"),
    "the equation of one to come": ("theorem f.eq_def : True := trivial\ndef f : Nat := 0", "failed to declare"),
    "the unfolding of one to come": ("theorem f.eq_unfold : True := trivial\ntheorem f : True := trivial", "failed to"),
    "a constructor that is made": ("inductive Q where\n  | noConfusion : Q", "already been declared"),
    "a field that is made": ("structure Q where\n  ctorIdx : Nat", "already been declared"),
    "a type that may be a proposition": ("inductive Q : Sort u where\n  | mk : Q", "Invalid universe polymorphic"),
    "a structure that may be a proposition": ("structure Q (α : Sort u) : Sort u where\n  x : α", "polymorphic"),
    "a reducible theorem": ("@[reducible] theorem t : True := trivial", "is not a definition"),
    "a reducible type": ("@[reducible] inductive Q where\n  | mk : Q", "is not a definition"),
    "the root as a name": ("theorem _root_ : True := trivial", "invalid declaration name"),
    "the root of the root": ("theorem _root_._root_.x : True := trivial", "invalid declaration name"),
    **{
        f"the word {word}": (f"theorem t ({word} : Nat) : {word} = {word} := rfl", "")
        for word in ("try", "catch", "break", "hiding", "coinductive", "no_index", "let_tmp", "while", "until")
    },
    "a universe twice": ("universe w\ndef f.{w} (α : Sort w) : Sort w := α", "universe level named `w`"),
    "a universe in a list twice": ("theorem f.{w, w} (α : Sort w) : True := trivial", "universe level named `w`"),
}


@each(("text", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_lean_refuses_is_refused(text: str, message: str) -> None:
    found = errors("universe u v\n" + text if "universe" not in text else text)
    assert any(message in error for error in found), found


ACCEPTED = {
    "its recursor on a constructor": S
    + "theorem t (n : Nat) : S.rec (motive := fun _ => Nat) (fun x => x) (S.mk n) = n := rfl",
    "eta of a structure": "theorem t (α β : Prop) (h : α ∧ β) : h = ⟨h.1, h.2⟩ := rfl",
    "levels up to order": "def f (α : Sort (max u v)) : Sort (max v u) := α",
    "imax 0": "def f (α : Sort (imax 0 (u+1))) : Type u := α",
    "a new name in a namespace of the core": "def Nat.double (n : Nat) : Nat := n + n",
    "a field of that name": "structure P where\n  land : Nat",
    "a universe of its own": "universe w\ndef f.{x} (α : Sort x) : Sort x := α",
}


@each("text", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_what_lean_accepts_is_accepted(text: str) -> None:
    assert errors("universe u v\n" + text if "universe" not in text else text) == []


def test_the_names_of_the_core_are_not_those_of_the_library() -> None:
    taken = {info.name for info in base().env} & core_names()
    assert not taken and len(core_names()) > 800
