"""Source text of theorems: finding the statement and the `sorry`, splicing, renaming, negating."""

import pytest

from nanolean.parser.lexer import Tokens
from nanolean.tests.each import each
from nanoproof.lean.declarations import declared_names
from nanoproof.lean.forbidden import code_of
from nanoproof.lean.lexical import mask, spans
from nanoproof.lean.source import (
    before_declaration,
    name_examples,
    negate,
    parse_declaration,
    rename_theorem,
    splice,
    theorem_name,
    unforeseeable_name,
)
from nanoproof.lean.types import SourceError, Theorem

FORMS = [
    "theorem t : p := by\n  sorry",
    "theorem t : p := by sorry",
    "theorem t : p := sorry",
    "theorem t : p\n:= by\n\n  sorry",
]


def statement_of(source: str) -> str:
    declaration = parse_declaration(source, whole=False)
    return source[declaration.start : declaration.assign].rstrip()


@pytest.mark.parametrize("source", FORMS)
def test_every_form_of_sorry_gives_the_same_proof(source: str) -> None:
    assert splice(source, "intro x\nexact h") == "theorem t : p := by\n  intro x\n  exact h"


def test_splicing_keeps_what_is_around() -> None:
    source = "open Nat\n\nnamespace A\n  theorem t : p := by\n    sorry\nend A\n"
    assert splice(Theorem(source), "· rfl\n  done") == (
        "open Nat\n\nnamespace A\n  theorem t : p := by\n    · rfl\n      done\nend A\n"
    )


def test_splicing_moves_a_proof_to_its_place_whatever_its_indentation() -> None:
    assert splice(FORMS[0], "\n      cases h with\n      | inl h => rfl\n\n      rfl\n") == (
        "theorem t : p := by\n  cases h with\n  | inl h => rfl\n\n  rfl"
    )


@pytest.mark.parametrize(
    ("source", "spliced"),
    [
        ("theorem t :\n    p ∧\n      q := by\n  sorry", "theorem t :\n    p ∧\n      q := by\n  intro x\n  exact h"),
        (
            "theorem a : p := rfl\n\ntheorem t : p := by\n  -- sorry, not yet\n  sorry\n\ntheorem b : p := a",
            "theorem a : p := rfl\n\ntheorem t : p := by\n  intro x\n  exact h\n\ntheorem b : p := a",
        ),
        (
            "theorem t : p := by\n  sorry\nwhere\n  aux : q := rfl",
            "theorem t : p := by\n  intro x\n  exact h\nwhere\n  aux : q := rfl",
        ),
        (
            "theorem t : p ∧ q where\n  left := sorry\n  right := hq",
            "theorem t : p ∧ q where\n  left := by\n    intro x\n    exact h\n  right := hq",
        ),
        (
            "section\nexample(x:p):q:=by sorry -- sorry\nend",
            "section\nexample(x:p):q := by\n  intro x\n  exact h -- sorry\nend",
        ),
    ],
)
def test_a_proof_is_put_where_the_sorry_stands_in_any_shape_of_theorem(source: str, spliced: str) -> None:
    assert splice(source, "intro x\nexact h") == spliced


def test_a_proof_by_cases_of_the_definition_has_no_place_for_tactics() -> None:
    with pytest.raises(SourceError, match="not the whole proof"):
        statement_of("theorem t : (n : Nat) → p n\n  | 0 => rfl\n  | n + 1 => sorry")


def test_an_empty_proof_is_refused() -> None:
    with pytest.raises(SourceError, match="empty proof"):
        splice(FORMS[0], "  \n")


def test_sorry_in_comments_strings_and_names_does_not_count() -> None:
    source = (
        '/- sorry /- nested sorry -/ -/\ntheorem sorry_free (s : String) (h : s = "sorry") : p := by -- sorry\n  sorry'
    )
    assert statement_of(source) == 'theorem sorry_free (s : String) (h : s = "sorry") : p'
    assert statement_of("theorem «no sorry := here» : p := by sorry") == "theorem «no sorry := here» : p"


def test_statement_ends_at_the_assignment_of_the_declaration() -> None:
    source = "theorem t (a : Nat := 3) : let x := a; x = { y := 2 }.y := by sorry"
    assert statement_of(source) == "theorem t (a : Nat := 3) : let x := a; x = { y := 2 }.y"


@each(
    ("source", "name"),
    [
        ("theorem A.b' (x : Nat) : p := sorry", "A.b'"),
        ("@[simp]\nprivate lemma «odd name».x : p := sorry", "«odd name».x"),
        ("theorem t.{u} (α : Type u) : p := sorry", "t"),
        ("set_option maxRecDepth 100 in theorem t: p := sorry", "t"),
        ("/-- theorem no -/ theorem yes : p := sorry", "yes"),
        ("lemma first : q := rfl\n\ntheorem second\n  (h : q) : p := sorry", "second"),
        ("example : p := sorry", None),
        ("noncomputable def structure_of (G : Type*) : CommGroup G := by sorry", "structure_of"),
        ("def f : Nat := 3\n\ntheorem about_f : f = 3 := by sorry", "about_f"),
    ],
)
def test_theorem_name(source: str, name: str | None) -> None:
    assert theorem_name(source) == name


@each(
    ("source", "message"),
    [
        ("theorem t : p := by rfl", "exactly one sorry, got 0"),
        ("theorem t : p := by\n  sorry\n\ntheorem u : q := sorry", "exactly one sorry, got 2"),
        ("import Mathlib\ntheorem t : p := sorry", "no imports"),
        ("abbrev f : Nat := sorry", "no theorem, lemma, example or def"),
        ("theorem t : p := by\n  have h : q := by sorry\n  exact h", "not the whole proof"),
        ("theorem t : p := ⟨sorry, rfl⟩", "not the whole proof"),
        ("theorem : p := sorry", "has no name"),
    ],
)
def test_what_is_wrong_with_a_source_is_said(source: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        parse_declaration(source)


@pytest.mark.parametrize(
    ("value", "spliced"),
    [
        ("(by sorry)", "(by simp)"),
        ("by { sorry }", "by { simp }"),
        ("by\n  · exact (sorry)", "by\n  · exact ((by simp))"),
        ("show p from by sorry", "show p from by simp"),
        ("by refine (show (p) by { admit })", "by refine (show (p) by { simp })"),
    ],
)
def test_a_proof_that_adds_nothing_to_its_sorry_is_a_sorry(value: str, spliced: str) -> None:
    source = f"theorem t : p := {value}"
    assert parse_declaration(source).whole
    assert splice(source, "simp") == f"theorem t : p := {spliced}"
    assert negate(Theorem(source)).source == f"{NO_AUTO}theorem t_negated : ¬ (p) := by\n  sorry"
    with pytest.raises(SourceError, match="not the whole proof"):
        parse_declaration(f"theorem t : p := f ({value})")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "open Nat\n@[simp] theorem t.{u} (x : Nat) : p := by\n  sorry",
            "open Nat\ntheorem new.{u} (x : Nat) : p := by\n  sorry",
        ),
        ("namespace A\ntheorem B.t : p := by sorry\n\nend A", "namespace A\ntheorem B.new : p := by sorry"),
        ("example : p := by sorry", "theorem new : p := by sorry"),
        (
            "noncomputable def f (G : T) : G := by\n  sorry",
            "noncomputable def new (G : T) : G := by\n  sorry",
        ),
    ],
)
def test_a_theorem_gets_another_name(source: str, expected: str) -> None:
    assert rename_theorem(source, "new") == expected


@pytest.mark.timeout(60)
def test_the_last_part_of_a_long_name_is_found_in_one_pass() -> None:
    assert rename_theorem(f"theorem {'a' * 200_000}.t : p := sorry", "new").endswith("a.new : p := sorry")


def test_a_name_that_nobody_foresees_depends_on_all_texts() -> None:
    assert unforeseeable_name("a", "b") == unforeseeable_name("a", "b")
    assert len({unforeseeable_name("a", "b"), unforeseeable_name("b", "a"), unforeseeable_name("ab")}) == 3


@each(
    ("before", "declaration"),
    [
        ("", "theorem t : p := by sorry"),
        ("open Nat\ndef f := 1", "\n\ntheorem t : p := by sorry"),
        ("open Nat", "\n/-- About `in`. -/\n@[simp]\ntheorem t : p := by sorry"),
        ("open Nat", "\nopen Real in\nset_option maxHeartbeats 1 in\n-- hm\ntheorem t : p := by sorry"),
        ("variable (x : Nat)", "\nopen Real in theorem t : p := by sorry\n\nend"),
        ("namespace A\n  def f := 1", "\n  theorem t : p := by\n    have h : q := by sorry\n    exact h"),
        ("/-- first -/ def f := 1", " /- then -/\n\ntheorem t : p := sorry"),
    ],
)
def test_what_comes_before_a_declaration_and_what_belongs_to_it(before: str, declaration: str) -> None:
    assert before_declaration(before + declaration) == before


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("theorem t : a ≠ b\n      := by sorry", "theorem t : a ≠ b := by\n  simp"),
        ("theorem t : p  -- easy\n  := by sorry", "theorem t : p  -- easy\n  := by\n  simp"),
        ("theorem t : p /- `--` -/\n  := by sorry", "theorem t : p /- `--` -/\n  := by\n  simp"),
        ('theorem t : s = "-"\n  := sorry', 'theorem t : s = "-" := by\n  simp'),
        ("  lemma t : p -- a\n    -- b\n    := sorry", "  lemma t : p -- a\n    -- b\n    := by\n    simp"),
    ],
)
def test_a_proof_stands_behind_the_statement_and_in_no_comment(source: str, expected: str) -> None:
    assert splice(source, "simp") == expected
    assert not parse_declaration(expected.replace("simp", "sorry")).indent.strip()


NO_AUTO = "set_option autoImplicit false in\n"


def test_negation_takes_the_binders_inside() -> None:
    theorem = Theorem("theorem t (x : Nat) {h : x = 1} : x = 2 := by\n  sorry", "d", "7")
    negated = negate(theorem)
    assert negated.source == NO_AUTO + "theorem t_negated : ¬ (∀ (x : Nat) {h : x = 1}, x = 2) := by\n  sorry"
    assert (negated.dataset, negated.id) == ("d", "7#negated")


def test_negation_without_binders() -> None:
    assert negate(Theorem("example : p → q := sorry")).source == NO_AUTO + "example : ¬ (p → q) := by\n  sorry"


@pytest.mark.parametrize(
    ("source", "negated"),
    [
        ("@[simp] private theorem t.{u} (α : Type u) : p := sorry", "theorem t_negated.{u} : ¬ (∀ (α : Type u), p)"),
        ("theorem «a b» [Group G] ⦃x : G⦄ y : p := sorry", "theorem «a b_negated» : ¬ (∀ [Group G] ⦃x : G⦄ y, p)"),
        ("theorem t (a : Nat := 3) : a = 3 := sorry", "theorem t_negated : ¬ (∀ (a : Nat := 3), a = 3)"),
        ("theorem t : p -- why\n := sorry", "theorem t_negated : ¬ (p -- why\n )"),
        ("theorem t (x : p) -- x\n : q := sorry", "theorem t_negated : ¬ (∀ (x : p) -- x\n , q)"),
    ],
)
def test_negation_of_any_kind_of_statement(source: str, negated: str) -> None:
    assert negate(Theorem(source)).source == f"{NO_AUTO}{negated} := by\n  sorry"


def test_negation_stays_where_the_statement_is_and_leaves_its_documentation_behind() -> None:
    source = "/-- twice -/\ndef two := 2\n\nnamespace A\n  /-- It is. -/\n  theorem t : two = 3 := by\n    sorry\nend A"
    assert negate(Theorem(source)).source == (
        "/-- twice -/\ndef two := 2\n\nnamespace A\n  set_option autoImplicit false in\n"
        "  theorem t_negated : ¬ (two = 3) := by\n    sorry\nend A"
    )


def test_a_definition_has_no_negation() -> None:
    with pytest.raises(SourceError, match="definition"):
        negate(Theorem("def t : p := by sorry"))


def test_negation_refuses_variables_outside_the_statement() -> None:
    with pytest.raises(SourceError, match="variable"):
        negate(Theorem("variable (h : False)\ntheorem t : p := sorry"))


def test_examples_are_named_for_the_axiom_report() -> None:
    named = name_examples("example : p := rfl\n-- example\nexample : q := rfl")
    names = declared_names(named)
    assert len(set(names)) == 2 and "example :" not in named


def test_declared_names_include_namespaces() -> None:
    source = "namespace A\nsection S\nlemma x : p := rfl\nend S\nnamespace B.C\ntheorem y : p := rfl\n"
    source += "theorem _root_.z : p := rfl\nend B.C\nend A\ntheorem w : p := rfl"
    assert declared_names(source) == ["A.x", "A.B.C.y", "z", "w"]


def test_the_axioms_of_a_definition_that_is_a_goal_are_asked_for() -> None:
    source = "def commutative (G : Type*) [Group G] : CommGroup G := by\n  sorry"
    assert declared_names(splice(source, "exact x")) == ["commutative"]


@each(
    ("text", "code"),
    [
        ('s!"{"/-"}" x', "s! x"),
        ('s!"a{f "/-" x {y := "}"} -- c }\n /- } -/ }b{s!"{"{"}"}c" z "w"', "s! f x {y := } s! z"),
        ('s! /- c -/ -- d\n "{"--"}" x', "s! x"),
        ("s!\"{'}'}\" x", "s! x"),
        ('f!"{"\\""}\\{" x', "f! x"),
        ('!s!"{"/-"}" x', "!s! x"),
        # A string like any other: behind a name that only ends so, or with something in between.
        ('xs!"{" x "}"', "xs! x"),
        ('x.s!"{" x "}"', "x.s! x"),
        ('s!x "{" x "}"', "s!x x"),
        ('m!"{" x "}"', "m! x"),
        ('"{" x "}"', "x"),
    ],
)
def test_an_interpolated_string_holds_terms_and_hides_nothing_behind_it(text: str, code: str) -> None:
    assert mask(text).split() == code.split()
    assert code_of(text)[1], "a proof may hold none of them"
    # NanoLean, which has no such strings, ends them where we do.
    last = max(end for kind, _, end in spans(text) if kind == "string")
    assert last in Tokens(text).ends and set(code.split()[-1:]) <= set(Tokens(text).texts)
