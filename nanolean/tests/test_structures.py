"""Structures: constructor, projections, eta, anonymous constructors, `{ x := a }`, and how they print."""

from nanolean.tests.each import each
from nanolean.tests.library import errors, run
from nanolean.tests.proving import goals, with_commands

POINT = "structure Point where\n  x : Nat\n  y : Nat\n"
PAIR = "structure Pair (α β : Type) where\n  left : α\n  right : β\n"

ACCEPTED = {
    "projections compute": "example : (Point.mk 1 2).x = 1 := rfl",
    "eta": "example (p : Point) : Point.mk p.x p.y = p := rfl",
    "fields by number": "example (p : Point) : p = ⟨p.1, p.2⟩ := rfl",
    "fields by name": "example : ({ y := 2, x := 1 } : Point).y = 2 := rfl",
    "fields named like variables": "example (x y : Nat) : ({ x, y } : Point) = ⟨x, y⟩ := rfl",
    "fields in lines": "def p : Point := {\n  x := 1\n  y := 2\n}",
    "functions by dot": "def Point.swap (p : Point) : Point := ⟨p.y, p.x⟩\n"
    "example (p : Point) : p.swap.swap = p := rfl",
    "taken apart by match": "example : (match (⟨1, 2⟩ : Point) with | ⟨a, b⟩ => a + b) = 3 := rfl",
    "parameters": PAIR + "def Pair.swap {α β : Type} : Pair α β → Pair β α := fun ⟨a, b⟩ => ⟨b, a⟩\n"
    "example (p : Pair Nat Bool) : p.swap.left = p.right := rfl",
}


@each("text", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_accepted(text: str) -> None:
    assert errors(POINT + text) == []


REFUSED = {
    "a field is missing": ("example : Point := { x := 1 }", "Fields missing: `y`"),
    "a field that is not there": ("example : Point := { x := 1, z := 3 }", "`z` is not a field of structure `Point`"),
    "a field twice": ("example : Point := { x := 1, x := 3 }", "field `x` has already been specified"),
    "no type is known": ("example : { x := 1 } = { x := 1 } := rfl", "could not be determined"),
    "no structure": ("example : Nat := { x := 1 }", "not a structure"),
    "a wrong type of a field": ("example : Point := { x := true, y := 1 }", "mismatch"),
    "extends": ("structure P3 extends Point where\n  z : Nat", "not supported"),
}


@each(("text", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(text: str, message: str) -> None:
    assert any(message in error for error in errors(POINT + text)), errors(POINT + text)


def test_elements_print_with_the_names_of_their_fields() -> None:
    assert goals("(p : Point) : p = p", "cases p", base=with_commands(POINT)) == [
        "case mk\nx✝ y✝ : Nat\n⊢ { x := x✝, y := y✝ } = { x := x✝, y := y✝ }"
    ]


def test_projections_print_with_a_dot() -> None:
    assert goals("(p : Point) : p.x = p.y", base=with_commands(POINT)) == ["p : Point\n⊢ p.x = p.y"]


def test_the_constructor_has_its_fields_as_arguments() -> None:
    assert run(POINT + "#check Point.mk").messages[-1].text == "Point.mk (x y : Nat) : Point"


INFERRED = {
    "structure S (α : Type u) (β : Type v) where\n  x : α\n  y : β": "Type u → Type v → Type (max u v)",
    "inductive S (α : Type u) where\n  | nil\n  | cons (head : α) (tail : S α)": "Type u → Type u",
    "inductive S (α : Type u) where\n  | leaf\n  | node (f : α → S α)": "Type u → Type u",
    "structure S (α : Sort u) where\n  x : α": "Sort u → Sort (max 1 u)",
    "structure S where\n  carrier : Type u\n  op : carrier → carrier": "Type (u + 1)",
    "structure S where\n  n : Nat\n  h : n = 0": "Type",
    "structure S (p q : Prop) where\n  l : p\n  r : q": "Prop → Prop → Prop",
    "inductive S (p q : Prop) where\n  | l (h : p)\n  | r (h : q)": "Prop → Prop → Type",
    "inductive S (p : Prop) where\n  | mk (h : p) (t : S p)": "Prop → Type",
    "inductive S where\n  | mk": "Type",
}
"""Types without a stated sort, and the type that Lean gives them."""


@each("text", INFERRED)
def test_a_sort_that_is_not_stated_is_that_of_the_fields(text: str) -> None:
    assert errors(f"universe u v\n{text}\nexample : {INFERRED[text]} := S") == []
