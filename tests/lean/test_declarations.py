"""What a Lean text declares, and the scopes that it leaves open."""

import pytest

from nanolean.tests.each import each
from nanoproof.lean.declarations import declarations, enclosed, open_scopes, restate, without_private_names


@each(
    ("text", "scopes"),
    [
        ("namespace A\nsection\nend\n", ["A"]),
        ("namespace A.B\nend B\n", ["A"]),
        ("namespace A\nnamespace B namespace C\nsection\nend end C end B\n", ["A"]),
        ("namespace A.B\nend A.B\n", []),
        ("namespace A\nsection\ntheorem end' : True := trivial\n", ["A", ""]),
        ("section One\nnamespace «a b».C\n", ["One", "«a b»", "C"]),
        ("namespace A\nsnip begin\nsection end\nsnip end\nnamespace B end\n", ["A"]),  # `snip` is of a library
        ("mutual\ntheorem a : True := trivial\nend\n-- namespace B\n/- section -/\n", []),
        ("noncomputable section\nvariable (n : Nat)\n", [""]),
    ],
)
def test_scopes_that_a_file_leaves_open_are_known(text: str, scopes: list[str]) -> None:
    assert open_scopes(text) == scopes


def test_an_imported_file_is_a_section_that_ends_what_it_opens() -> None:
    assert enclosed("namespace A\nvariable (n : Nat)") == "section\nnamespace A\nvariable (n : Nat)\nend A\nend\n"


@pytest.mark.parametrize(
    ("before", "head"),
    [
        ("", "theorem start.{u, v} (α : Type u)"),
        ("universe u\n", "theorem start.{v} (α : Type u)"),
        ("section\nuniverse u v\nend\nuniverse v\n", "theorem start.{u} (α : Type u)"),
    ],
)
def test_a_restated_theorem_has_as_parameters_the_universes_that_nothing_declares(before: str, head: str) -> None:
    # `universe u` and `theorem start.{u}`: Lean refuses the second `u`.
    source = f"{before}theorem t {{α : Type u}} (a : α) : a = a := by\n  sorry\n"
    assert head in restate(source, "start", "(α : Type u) (β : Sort (max 1 v)) (f : α → β) : f = f")


SCOPES = """open Nat
namespace A.B
section
open C (x) -- in a comment: end
@[simp] theorem one : 1 = 1 := by rfl
end
mutual
def even : Nat → Bool
  | 0 => true
end
open D E in
/-- Documentation with `end A`. -/
protected lemma two (h : let x := 1; x = 1) :
    x = 1 := h
end B
theorem _root_.three.{u} : True where
instance : Inhabited Nat := ⟨0⟩
structure S where
  x : Nat
end A
theorem «four five».six : True := trivial
"""


def test_declarations_have_the_names_that_lean_gives_them():
    found = declarations(SCOPES)
    assert [(each.keyword, each.full_name) for each in found] == [
        ("theorem", "A.B.one"),
        ("def", "A.B.even"),
        ("lemma", "A.B.two"),
        ("theorem", "three"),
        ("structure", "A.S"),
        ("theorem", "«four five».six"),
    ]
    assert [SCOPES[each.start : each.statement_end].split()[-1] for each in found[:4]] == ["1", "Bool", "1", "True"]
    assert found[0].namespaces == ("A.B", "A") and found[0].opens == ("Nat", "C")
    assert found[2].namespaces == ("A.B", "A") and found[2].opens == ("Nat", "D", "E")
    assert SCOPES[found[2].start :].startswith("open D E in") and found[5].namespaces == ()


@each(
    ("text", "names"),
    [
        ("namespace A theorem t : True := trivial end A theorem u : True := trivial", ["A.t", "u"]),
        ("section variable (q : Prop) @[simp] private theorem t : True := trivial end lemma u : q := h", ["t", "u"]),
        ("/-- d -/ #guard_msgs in def f := 1\n#guard_msgs (drop info) in\ncount_heartbeats in\ndef g := 1", ["f", "g"]),
        ("class inductive C : Prop where\n  | a : C", ["C"]),
        ("class abbrev C (a : Type) := A a, B a", ["C"]),
        ("class\n  D (a : Nat) where\ndef inductive' := 1", ["D", "inductive'"]),
        # A name that a program fills in, and a command that it writes.
        ('elab "x" : command => do\n  elabCommand (← `(command|\n  def $name := 1))\n\ndef f := 1', ["f"]),
        ('macro "m" : command => `(command| theorem foo : True := trivial)', []),
        ("def f (lemmas : List Nat) := do\n  for lemma in lemmas do g lemma h", ["f"]),
        ("namespace\n  A\ntheorem t : True := trivial\nend A", ["A.t"]),
        ("namespace A\nsnip begin\nsnip end\ntheorem t : True := trivial\nend A\ndef f := 1", ["A.t", "f"]),
        # Lean reads nothing behind `#exit`, and a book is no Lean.
        ("theorem t : True := trivial\n#exit\ntheorem u : True := trivial", ["t"]),
        ("section\n  def t := 1 #exit\n  def u := 1", ["t"]),
        ("section\n  def t := 1\n  #exit\n  def u := 1", ["t"]),
        ('theorem t : True := trivial\n#doc (Manual) "Title" =>\ninductive types, and\ntheorem proving', ["t"]),
        ("theorem «my theorem a» : True := h\ntheorem «a def b».c : True := h", ["«my theorem a»", "«a def b».c"]),
        ("namespace «x end y»\ndef t := 1\nend «x end y»\ndef u := 1", ["«x end y».t", "u"]),
        ("macro_rules\n  | `(foo) => `(\n    namespace X\n    theorem x : True := h\n    end X)\ndef t := 1", ["t"]),
        ("def t := ``(T)\ndef u := `(T\ndef v := 1", ["t", "u", "v"]),
        ("instance (priority := low) t : C := x\ninstance (priority := 100) : C := x", ["t"]),
        ("theorem t (c : Char) (h : c = '(') : c = '(' := h\ntheorem u' (x : N):x=x := rfl", ["t", "u'"]),
        ("theorem exit : True := trivial\n-- #exit\n#exit' t\ntheorem u : True := trivial", ["exit", "u"]),
    ],
)
def test_a_text_declares_what_lean_reads_as_commands(text: str, names: list[str]) -> None:
    assert [declared.full_name for declared in declarations(text)] == names


@each(
    ("below", "is_part"),
    [
        ("snip end", False),
        ('TODO "all of it"', False),
        ("-- word\nblueprint_comment /-- P -/", False),
        ("problem u : 1 = 1 := by\n  sorry", False),
        ("where\n  h := 1", True),
        ("termination_by 1", True),
        ("  simp only [h,\nh]", True),
        ("  exact\nh", True),
        ("  rcases h with\na | b", True),
    ],
)
@each("proof", ["by\n  trivial", "by trivial", "\n\n  by\n\n    trivial"])
def test_a_command_that_only_a_library_knows_ends_an_indented_proof(below: str, is_part: bool, proof: str) -> None:
    theorem = f"theorem t (h : 1 = 1 := by\n  rfl) : True := {proof}"
    first, second = declarations(f"{theorem}\n{below}\n\ntheorem u : True := trivial")
    assert first.end == len(f"{theorem}\n{below}" if is_part else theorem) and second.name == "u"


@each("below", ["protected alias u := t", "public meta\n  initialize r : R ← new", "instance_wanted u : True"])
def test_a_definition_ends_before_a_command_that_has_modifiers_too(below: str) -> None:
    (declared,) = declarations(f"def t : True :=\n  trivial\n\n{below}\n")
    assert declared.end == len("def t : True :=\n  trivial")


@each("above", ["library_note «n» /-- N -/\n", "blueprint_comment /--\nP -/\n", "def f := 1\n\n-- c\n", ""])
def test_a_doc_comment_on_the_line_of_other_code_is_none_of_the_declaration_below(above: str) -> None:
    own = "/-- doc -/\n" if "/--" not in above else ""
    declared = declarations(f"{above}{own}theorem t : True := trivial")[-1]
    assert declared.documented == len(above)


@each("below", ["snip begin", "problem u : P := by\n  sorry", "/-- d -/\nproblem u : P :=\n  h"])
@each(
    "text",
    [
        "abbrev t : Nat :=\n  let x := f g\n  x",
        "def t : Nat → Nat\n| 0 => 1\n| n + 1 => n",
        "theorem t : P :=\n h",
    ],
)
def test_a_command_that_only_a_library_knows_ends_a_term_above_a_blank_line(below: str, text: str) -> None:
    (declared,) = declarations(f"{text}\n\n{below}\n")
    assert declared.end == len(text)


@each(
    "text",
    [
        "theorem t : True := by\nhave h : 1 = 1 := by\n  rfl\n\ntrivial",
        "def t : S where\na := 1\n\nb := 2",
        "structure S where\na : Nat\n/-- B -/\nb : Nat",
        "def t : Nat :=\n\nf\n\nx",
        "def t := f\nx",
    ],
)
def test_lines_at_the_margin_are_part_of_a_proof_or_value(text: str) -> None:
    (declared,) = declarations(text)
    assert declared.end == len(text)


@each(
    ("statement", "proof"),
    [
        ("theorem t (x : Int) :\n    |x| ≤ |x| + 1", " := by\n  grind"),
        ("theorem t (s : Set Nat) : s = {x\n  | x ∈ s}", " := by\n  rfl"),
        ("theorem t (n : Nat) : n\n  |>.succ = n + 1", " := by\n  rfl"),
        ("theorem t (n : Nat) : (match n with\n  | 0 => 1\n  | _ => 2) ≥ 1", " := by\n  grind"),
        ("theorem t (n : Nat) : match n with\n  | 0 => True\n  | _ => 0 < n", " := by\n  grind"),
        ("theorem t (f : (Int → Int) → Int) :\n    |f fun y => y| ≤ 1", " := by\n  grind"),
        ("theorem t : let f : Nat → Nat := fun\n    | 0 => 1\n    | n + 1 => n\n  f 0 = 1", " := by\n  rfl"),
        ("theorem t : let_fun x := 1; ∃ «let» : Nat, «let» = x", " := by\n  simp"),
        ("theorem t : ∀ n : Nat, n = n", "\n  | 0 => rfl\n  | n + 1 => by\n    let m : Nat := n\n    rfl"),
        ("theorem t : ∀ p ∈ [fun x : Nat => x], p 0 = 0", "\n  | p, h => by simp_all"),
        ("theorem t (x : M Nat) : x = do let z ← x; let w <- x; let v := z; return v", " := by\n  have h ← x\n  simp"),
    ],
)
def test_a_statement_ends_before_arms_and_not_at_a_bar_of_its_own(statement: str, proof: str) -> None:
    (declared,) = declarations(statement + proof)
    assert (statement + proof)[: declared.statement_end].rstrip() == statement


@pytest.mark.parametrize(
    "text",
    [
        "private theorem X : True := trivial\ntheorem b : True := X -- aux",
        "namespace A\n@[simp] private def X : Nat := 1\ntheorem b (n : Nat) : A.X.succ = _root_.A.X + 1 := by simp [X]",
        "private lemma Foo.X (h : Foo) : True := trivial\ntheorem b (h : Foo) : True := Foo.X h",
        "private def X : Bool := true\ntheorem b : !X = (false || !X) := by simp [X]",
    ],
)
def test_private_names_of_an_imported_file_are_those_of_no_other(text: str) -> None:
    given = text.replace("X", "aux'")
    renamed = without_private_names(given)
    (name,) = {declared.name.rpartition(".")[2] for declared in declarations(renamed)} - {"b"}
    assert name.startswith("aux'_private_") and renamed == text.replace("X", name)
    assert without_private_names(given + "\n") != renamed + "\n"


@each(
    "text",
    [
        "theorem aux : True := trivial",
        "private lemma Foo.aux (h : Foo) : True := trivial\ntheorem b (h : Foo) : True := h.aux",
        "private lemma Foo.aux (h : Foo) : True := trivial\ntheorem b (h : Foo) : True := (id h).aux",
        "private def aux : Nat := 1\ndef b : Foo := { aux := 1 }",
        "namespace A\nprivate def aux : Nat := 1\nend A\ndef aux : Nat := 1",
        "private def aux : Nat := 1\ndef aux.b : Nat := 1",
        "private def «aux b» : Nat := 1",
    ],
)
def test_a_private_name_stays_whose_uses_the_text_does_not_tell(text: str) -> None:
    assert without_private_names(text) == text
