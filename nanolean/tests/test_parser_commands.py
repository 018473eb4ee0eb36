"""Commands, and how reading goes on after a mistake."""

import pytest

from nanolean.parser import ParseError, iter_commands, parse_commands
from nanolean.syntax import (
    AttributeCmd,
    AxiomCmd,
    Binder,
    By,
    CheckCmd,
    CtorStx,
    DefCmd,
    EndCmd,
    ExampleCmd,
    FunAlts,
    Hole,
    Ident,
    InCmd,
    InductiveCmd,
    MatchAlt,
    Modifiers,
    NamespaceCmd,
    Num,
    OpenCmd,
    PrintAxiomsCmd,
    PrintCmd,
    RflStx,
    SectionCmd,
    SetOptionCmd,
    Signature,
    SkipStx,
    SorryTerm,
    SortStx,
    StructureCmd,
    TacticSeq,
    TheoremCmd,
    UniverseCmd,
    VariableCmd,
)
from nanolean.tests.each import each

A, B, P = Ident("a"), Ident("b"), Ident("p")
NAT = Ident("Nat")
PLAIN = Modifiers()


def one(text: str) -> object:
    (command,) = parse_commands(text)
    return command


def test_theorem_with_a_block() -> None:
    text = "theorem foo.bar (a b : Nat) {p : Prop} : p := by\n  skip\n  rfl\n"
    binders = (Binder("a", NAT), Binder("b", NAT), Binder("p", SortStx("Prop"), "implicit"))
    block = By(TacticSeq((SkipStx(), RflStx())))
    assert one(text) == TheoremCmd(PLAIN, Signature("foo.bar", (), binders, P), block)


def test_the_signature_spans_the_name() -> None:
    text = "@[simp] theorem foo : p := a"
    theorem = one(text)
    assert isinstance(theorem, TheoremCmd)
    assert text[theorem.signature.pos : theorem.signature.end] == "foo"
    assert text[theorem.pos : theorem.end] == text


def test_the_signature_of_an_example_spans_the_keyword() -> None:
    text = "example : p := sorry"
    example = one(text)
    assert example == ExampleCmd(PLAIN, Signature(None, (), (), P), SorryTerm())
    assert isinstance(example, ExampleCmd)
    assert text[example.signature.pos : example.signature.end] == "example"


def test_modifiers() -> None:
    text = "/-- Says a. -/\n@[simp, reducible] protected def f.{u} : p := a"
    modifiers = Modifiers(("simp", "reducible"), ("protected",), "Says a.")
    assert one(text) == DefCmd(modifiers, Signature("f", ("u",), (), P), A)


def test_definitions_by_equations() -> None:
    text = "def f : p\n  | 0 => a\n  | _ => b\n"
    equations = (MatchAlt((Num(0),), A), MatchAlt((Hole(),), B))
    assert one(text) == DefCmd(PLAIN, Signature("f", (), (), P), FunAlts(equations))


def test_abbrev_and_axiom() -> None:
    assert one("abbrev f := a") == DefCmd(PLAIN, Signature("f", (), (), None), A, abbrev=True)
    assert one("axiom ax (a : Nat) : p") == AxiomCmd(PLAIN, Signature("ax", (), (Binder("a", NAT),), P))


def test_inductive_types() -> None:
    text = """inductive T (a : Nat) : Prop where
  | mk (b : Nat) : p
  /-- The other. -/
  | other"""
    ctors = (CtorStx("mk", (Binder("b", NAT),), P), CtorStx("other", (), None))
    assert one(text) == InductiveCmd(PLAIN, Signature("T", (), (Binder("a", NAT),), SortStx("Prop")), ctors)
    assert one("inductive Empty : Type") == InductiveCmd(PLAIN, Signature("Empty", (), (), SortStx("Type")), ())


def test_structures() -> None:
    text = "structure S : Prop where\n  make ::\n  left : a\n  x y : b\n"
    fields = (Binder("left", A), Binder("x", B), Binder("y", B))
    assert one(text) == StructureCmd(PLAIN, Signature("S", (), (), SortStx("Prop")), "make", fields)


def test_scopes_and_questions() -> None:
    text = """
universe u v
namespace Foo.Bar
section
variable (a b : Nat) {p : Prop}
open Nat Bool
attribute [simp, -ext] a b.c
set_option maxRecDepth 100
set_option pp.all true
end
end Foo.Bar
#print axioms Foo.x
#print Nat.add
#check a
"""
    variables = (Binder("a", NAT), Binder("b", NAT), Binder("p", SortStx("Prop"), "implicit"))
    assert parse_commands(text) == (
        UniverseCmd(("u", "v")),
        NamespaceCmd("Foo.Bar"),
        SectionCmd(None),
        VariableCmd(variables),
        OpenCmd(("Nat", "Bool")),
        AttributeCmd(("simp", "-ext"), ("a", "b.c")),
        SetOptionCmd("maxRecDepth", 100),
        SetOptionCmd("pp.all", True),
        EndCmd(None),
        EndCmd("Foo.Bar"),
        PrintAxiomsCmd("Foo.x"),
        PrintCmd("Nat.add"),
        CheckCmd(A),
    )


def test_open_in_holds_the_next_command() -> None:
    assert one("open Nat in #check a") == InCmd(OpenCmd(("Nat",)), CheckCmd(A))


def test_module_comments_are_skipped() -> None:
    assert parse_commands("/-! About -/\n-- nothing\n/- here -/") == ()


def test_a_block_ends_at_the_next_command() -> None:
    text = "theorem foo : p := by\n  rfl\n\ntheorem bar : p := a\n"
    assert [type(command) for command in parse_commands(text)] == [TheoremCmd, TheoremCmd]


def test_reading_goes_on_after_a_mistake() -> None:
    text = "theorem foo : p := := a\ntheorem bar : p := a\n) bar\n@[simp] theorem baz : p := 'x'\n#check a"
    first, second, third, fourth, fifth = iter_commands(text)
    assert isinstance(first, ParseError) and (first.line, first.column) == (1, 19)
    assert isinstance(second, TheoremCmd)
    assert isinstance(third, ParseError) and (third.line, third.column) == (3, 0)
    assert isinstance(fourth, ParseError) and (fourth.line, fourth.column) == (4, 27)
    assert fifth == CheckCmd(A)


@each(
    ("text", "message"),
    [
        ("theorem foo := a", "unexpected token ':='; expected ':'"),
        ("theorem : p := a", "unexpected token ':'; expected name of the declaration"),
        ("def f", "unexpected end of input; expected ':=' or '|'"),
        ("foo", "unexpected identifier 'foo'; expected command"),
        ("import Mathlib", "the command `import` is not supported"),
        ("lemma foo : p := a", "the command `lemma` is not supported"),
        ("#guard 1", "the command `#guard` is not supported"),
        ("/-- of nothing -/ #check a", "unexpected token '#check'; expected command"),
        ("def f : p := a\ntermination_by b", "`termination_by` after a declaration is not supported"),
        ("structure S extends A", "`extends` is not supported"),
        ("theorem foo (a : Nat := 3) : p := a", "default values of arguments are not supported"),
        ("set_option x y", "unexpected identifier 'y'; expected 'true', 'false' or a numeral"),
    ],
)
def test_errors_name_the_trouble(text: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_commands(text)
    assert caught.value.message == message
