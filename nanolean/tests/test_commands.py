"""Commands: declarations, scopes, attributes, questions, and the messages with their places."""

import os
import platform
import subprocess
import sys

import pytest

from nanolean.commands.messages import LineMap
from nanolean.env_state import EnvState
from nanolean.kernel.env import Environment, axioms_of
from nanolean.library import loader
from nanolean.library.loader import LibraryError, build_library, cache_path, load_library
from nanolean.tests.each import each
from nanolean.tests.library import base, errors, run


def infos(text: str) -> list[str]:
    return [message.text for message in run(text).messages if message.severity == "info"]


# -- theorems and definitions -----------------------------------------------------------------------------------------


def test_a_theorem_can_be_used_afterwards():
    assert errors("theorem foo (a b : Nat) (h : a = b) : b = a := h.symm\nexample : 2 = 1 + 1 := foo _ _ rfl") == []


def test_a_theorem_may_not_use_itself():
    (message,) = errors("theorem ex : False := by exact ex")
    assert message == (
        "fail to show termination for\n  ex\nwith errors\nfailed to infer structural recursion:\n"
        "no parameters suitable for structural recursion\n\n"
        "well-founded recursion cannot be used, `ex` does not take any (non-fixed) arguments"
    )


def test_a_wrong_proof_is_an_error_at_its_place():
    text = "theorem t (a : Nat) : a = 0 := by\n  rfl"
    (message,) = run(text).messages
    assert message.severity == "error"
    assert LineMap(text).place(message.pos) == (2, 2)


def test_an_open_block_reports_its_goals_over_its_span():
    text = "theorem t (p : Prop) : p → p := by\n  intro h"
    (message,) = run(text).messages
    assert message.text == "unsolved goals\np : Prop\nh : p\n⊢ p"
    lines = LineMap(text)
    assert (lines.place(message.pos), lines.place(message.end)) == ((1, 32), (2, 9))


def test_sorry_is_a_warning_at_the_name_and_a_state():
    text = "theorem foo (n : Nat) : n = 3 := by\n  sorry"
    result = run(text)
    (message,) = result.messages
    assert (message.severity, message.text) == ("warning", "declaration uses `sorry`")
    assert text[message.pos : message.end] == "foo"
    (goal,) = result.sorries
    assert goal.goal == "n : Nat\n⊢ n = 3"
    assert text[goal.pos : goal.end] == "sorry"


def test_every_sorry_has_a_state_in_the_order_of_the_text():
    result = run("example (p q : Prop) : p ∧ q := by\n  have h : p := sorry\n  exact ⟨h, by sorry⟩")
    assert [goal.goal for goal in result.sorries] == ["p q : Prop\n⊢ p", "p q : Prop\nh : p\n⊢ q"]


def test_an_error_after_a_sorry_keeps_the_sorry():
    result = run("example (p q : Prop) : p ∧ q := by\n  have h : p := sorry\n  exact h")
    assert [message.severity for message in result.messages] == ["error"]
    assert len(result.sorries) == 1


def test_examples_leave_the_environment_as_it_was():
    result = run("example : True := trivial")
    assert len(result.state.env) == len(base().env)


def test_definitions_compute():
    assert errors("def double (n : Nat) : Nat := n + n\nexample : double 4 = 8 := rfl") == []


def test_the_type_of_a_definition_may_be_left_out():
    assert errors("def f := 37\nexample : f + 1 = 38 := rfl") == []


def test_levels_that_stay_open_become_parameters():
    text = (
        "theorem same {α : Sort _} (a : α) : a = a := rfl\nexample : Nat = Nat := same Nat\nexample : 1 = 1 := same 1"
    )
    assert errors(text) == []


@each(
    ("text", "message"),
    [
        ("theorem t : Nat := 3", "type of theorem `t` is not a proposition"),
        ("theorem rfl : 1 = 1 := Eq.refl 1", "`rfl` has already been declared"),
        ("@[nonsense] theorem t : True := trivial", "Unknown attribute `[nonsense]`"),
        ("end Foo", "Invalid `end`"),
        ("namespace A\nend B", "Invalid name after `end`: Expected `A`, but found `B`"),
        ("open Nowhere", "unknown namespace `Nowhere`"),
        ("namespace A\n" * 100 + "section", "more than 100 nested namespaces and sections"),
        ("section\n" * 100 + "namespace A", "more than 100 nested namespaces and sections"),
        ("#print axioms nothing", "Unknown constant `nothing`"),
        ("universe u u", "already been declared"),
        ("inductive Bad where\n  | mk (f : Bad → Nat) : Bad", "(kernel)"),
    ],
)
def test_refuses(text: str, message: str):
    assert any(message in error for error in errors(text))


@pytest.mark.parametrize(
    "text", ["section A.B\nend A.B", "section A.B\nend B\nend A", "namespace N.A\nsection B\nend A.B"]
)
def test_end_closes_a_scope_for_each_part_of_its_name(text: str):
    assert errors(text) == []


@each(
    "text",
    [
        '@[simp, deprecated add_comm (since := "2025-01-01")] theorem t : 1 + 0 = 1 := rfl',
        "@[grind =, simp high, norm_cast] theorem t : 1 + 0 = 1 := rfl\n@[grind →] theorem u : True := trivial",
        "@[simp 900, inherit_doc Nat] def x := 1\nexample : x + 0 = 1 := rfl",
        "@[expose] public section A\n@[expose] public protected def A.x := 1\nmeta def y := 1\nend A",
        "noncomputable section\npublic theorem t : True := trivial\nend\nexample : True := t",
        "set_option linter.style.longLine false\nexample : True := trivial",
        "example : (0x10, 0b11, 0o17, 1_000) = (16, 3, 15, 1000) := rfl",
        "example : (. + 1) 1 = (fun x => x + 1) 1 := rfl\nexample : (Nat.add . .) 1 2 = 3 := rfl",
        "example : True ∧ True := (by\n  constructor\n  . trivial\n  . trivial)",
    ],
)
def test_forms_that_files_have_and_that_change_no_proof_are_read(text: str):
    assert errors(text) == []


def test_what_only_shows_a_computation_is_passed_over():
    result = run('#eval s!"{1}" ++ "sorry"\n#reduce fun x => x + 1\ntheorem t : True := trivial\n#print axioms t')
    assert [message.severity for message in result.messages] == ["warning", "warning", "info"]
    assert not result.sorries
    hidden = run('#eval s!"{"/-"}"\naxiom magic : False\ntheorem t : False := magic\n#print axioms t')
    assert "magic" in hidden.messages[-1].text


@each(
    "text",
    [
        "example : 0x = 0 := rfl",
        "@[simp ←] theorem t : 1 = 1 := rfl",
        "@[deprecated",
        "@[simp] section",
        "public private def x := 1",
        "def f.{0x1} := 1",
    ],
)
def test_what_looks_like_such_a_form_is_an_error(text: str):
    assert errors(text)


@each("opened", ["open A B", "open A\nopen B", "open A in\nopen B in"])
def test_open_finds_namespaces_within_those_that_are_open(opened: str):
    assert errors(f"def A.B.x := 0\ndef B.y := 1\n{opened}\nexample : x + 1 = y := rfl") == []


def test_the_namespaces_of_the_usual_header_are_known():
    assert errors("open BigOperators Real Nat Topology Rat\ntheorem t : succ 0 = 1 := rfl") == []
    assert errors("open Filter")


def test_a_failed_command_does_not_stop_the_next_one():
    result = run("example : 1 = 2 := rfl\ntheorem ok : 1 = 1 := rfl\n#print axioms ok")
    assert [message.severity for message in result.messages] == ["error", "info"]


def test_a_syntax_error_does_not_stop_the_next_command():
    result = run("theorem broken : := rfl\n#print axioms rfl")
    assert [message.severity for message in result.messages] == ["error", "info"]


# -- axioms -----------------------------------------------------------------------------------------------------------


def test_axioms_of_a_theorem_without_any():
    assert infos("theorem foo : 1 = 1 := rfl\n#print axioms foo") == ["'foo' does not depend on any axioms"]


def test_sorry_is_an_axiom():
    assert infos("theorem foo : 1 = 2 := sorry\n#print axioms foo") == ["'foo' depends on axioms: [sorryAx]"]


def test_axioms_are_found_through_other_theorems_and_short_names_come_first():
    text = (
        "axiom A.long : 1 = 2\naxiom b : 2 = 3\ntheorem one : 1 = 3 := A.long.trans b\n"
        "theorem two : 3 = 1 := one.symm\n#print axioms two"
    )
    assert infos(text) == ["'two' depends on axioms: [b, A.long]"]


def test_a_theorem_with_errors_depends_on_sorry():
    text = "theorem foo : 1 = 2 := rfl\n#print axioms foo"
    assert infos(text) == ["'foo' depends on axioms: [sorryAx]"]


# -- inductive types --------------------------------------------------------------------------------------------------


def test_an_inductive_type_has_constructors_and_a_recursor():
    text = (
        "inductive Colour where\n  | red\n  | green\n"
        "def swap (c : Colour) : Colour := @Colour.rec (fun _ => Colour) .green .red c\n"
        "example : swap .red = Colour.green := rfl\n"
        "example (c : Colour) : swap (swap c) = c := by cases c <;> rfl"
    )
    assert errors(text) == []


def test_fixed_indices_become_parameters_as_in_lean():
    result = run("inductive Same {α : Type} : α → α → Prop where\n  | refl (a : α) : Same a a")
    info = result.state.env["Same"]
    assert (info.num_params, info.num_indices) == (2, 1)  # type: ignore[attr-defined]


def test_inductive_predicates():
    text = (
        "inductive Even : Nat → Prop where\n  | zero : Even 0\n  | step {n : Nat} (h : Even n) : Even (n + 2)\n"
        "example : Even 4 := .step (.step .zero)\n"
        "example (n : Nat) (h : Even n) : ∃ k, n = 2 * k := by\n"
        "  induction h with\n  | zero => exact ⟨0, rfl⟩\n"
        "  | step h ih => exact ih.elim fun k hk => ⟨k + 1, by rw [hk, Nat.mul_add]⟩"
    )
    assert errors(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "def gate (p : Prop) : Type 1 := Type\ninductive T (p : Prop) : gate p\n  | mk (b : Bool) : T p",
        "def Family := Nat → Type\ninductive T : Family\n  | mk : T 0",
        "inductive T : Nat",
        "inductive T : let x := Type; x",
        "def U := Type\nstructure T : U where\n  x : Nat",
    ],
)
def test_the_type_of_a_type_must_end_in_a_sort_as_it_stands(text):
    assert "invalid inductive type, resultant type is not a sort" in errors(text)


def test_structures_have_projections():
    text = (
        "structure Point where\n  x : Nat\n  y : Nat\n"
        "def p : Point := ⟨1, 2⟩\nexample : p.x + p.2 = 3 := rfl\nexample (q : Point) : Point.mk q.x q.y = q := rfl"
    )
    assert errors(text) == []


# -- scopes -----------------------------------------------------------------------------------------------------------


def test_namespaces_give_names_and_end():
    text = "namespace A.B\ntheorem t : 1 = 1 := rfl\nexample : 1 = 1 := t\nend A.B\nexample : 1 = 1 := A.B.t"
    assert errors(text) == []


def test_a_namespace_is_known_once_it_is_entered():
    assert errors("open Nat\nnamespace A\nend A\nopen A") == []


def test_open_ends_with_its_section():
    text = "theorem A.t : 1 = 1 := rfl\nsection\nopen A\nexample : 1 = 1 := t\nend\nexample : 1 = 1 := t"
    assert errors(text) == ["Unknown identifier `t`"]


def test_variables_that_are_mentioned_are_arguments():
    result = run("variable (n m : Nat)\ntheorem t : n = n := by sorry")
    assert [goal.goal for goal in result.sorries] == ["n : Nat\n⊢ n = n"]
    assert errors("variable (n m : Nat)\ntheorem t : n = n := rfl\nexample : 3 = 3 := t 3") == []


def test_a_variable_without_a_type_changes_how_one_that_is_there_is_bound():
    text = "variable {p : Prop} (h : p)\nvariable (p) in\ntheorem a : p → p := fun k => k\n"
    text += "theorem b : p → p := a p\nsection\nvariable (p) (n : Nat)\ntheorem c : p → n = n := fun _ => rfl\nend\n"
    text += "theorem d : p → 0 = 0 := c p 0\nexample (q : Prop) (k : q) : q := b k"
    assert errors(text) == []
    assert errors("variable (p : Prop)\nvariable (p)") == ["redundant binder annotation update"]


def test_variables_that_only_a_proof_mentions_are_not_in_scope():
    text = "variable (n : Nat) (h : n = 3)\ntheorem t : n = 3 := h"
    assert errors(text) == ["Unknown identifier `h`"]


def test_instances_of_variables_come_along_into_theorems():
    text = "variable {p : Prop} [Decidable p] {q : Prop} [Decidable q]\n"
    shown = infos(text + "theorem t (h : p) : p := h\ndef d (h : p) : p := h\n#check @t\n#check @d")
    assert shown == ["@t : ∀ {p : Prop} [inst : Decidable p], p → p", "@d : ∀ {p : Prop}, p → p"]
    assert errors(text + "theorem t : p ∨ ¬p := Decidable.em p") == []
    assert errors(text + "theorem t (h : p) : p := h\nexample (r : Prop) (h : r) : r := t h") != []


def test_universes_can_be_declared():
    assert errors("universe v\nexample (α : Type v) (a : α) : a = a := rfl") == []


def test_protected_names_need_their_namespace():
    text = "protected theorem A.t : 1 = 1 := rfl\nopen A\nexample : 1 = 1 := A.t\nexample : 1 = 1 := t"
    assert errors(text) == ["Unknown identifier `t`"]


@each(
    ("text", "message"),
    [
        ("protected theorem t : 1 = 1 := rfl", "protected declarations must be in a namespace"),
        ("namespace A\nprotected theorem _root_.t : 1 = 1 := rfl", "protected declarations must be in a namespace"),
        ("noncomputable theorem t : 1 = 1 := rfl", "`noncomputable`"),
        ("noncomputable inductive T where | a", "`noncomputable`"),
        ("noncomputable private def f := 1", "not supported"),
        ("private private def f := 1", "not supported"),
        ("private protected def A.f := 1", "not supported"),
    ],
)
def test_words_that_do_not_go_with_a_declaration(text: str, message: str):
    found = errors(text)
    assert len(found) == 1 and message in found[0], found


def test_words_that_go_with_a_declaration():
    text = "private noncomputable def f := 1\nnamespace A\nprotected noncomputable def g := 1\nend A"
    assert errors(text + "\nprotected theorem B.t : A.g = 1 := rfl") == []


T = "inductive T where\n  | a (n : Nat)\n"
MADE = [
    *[f"{T}theorem T.{name} : True := trivial" for name in ("casesOn", "recOn", "noConfusion", "noConfusionType")],
    *[f"{T}theorem T.{name} : True := trivial" for name in ("below", "brecOn", "a.inj", "a.injEq", "a.sizeOf_spec")],
    *[f"def f := 1\ntheorem f.{name} : f = 1 := rfl" for name in ("eq_1", "eq_def", "eq_unfold")],
    f"theorem T.casesOn : True := trivial\n{T}",
]


@each("text", MADE)
def test_names_that_lean_declares_itself_are_taken(text: str):
    (message,) = errors(text)
    assert message.endswith("has already been declared")


def test_names_that_only_look_like_those_are_free():
    assert errors("theorem f : 1 = 1 := rfl\ntheorem f.eq_1 : 1 = 1 := rfl\ntheorem g.casesOn : 1 = 1 := rfl") == []


def test_a_constructor_s_name_has_no_dots():
    (message,) = errors("inductive Bar where | Bar.a : Bar")
    assert "Bar.a" in message


def test_attributes_are_given_and_taken_away():
    state = run("@[simp] theorem A.t : (1 = 1) = True := eq_self 1").state
    assert "A.t" in state.tagged("simp")
    assert "A.t" not in run("attribute [-simp] A.t", state).state.tagged("simp")


def test_commands_do_not_change_the_state_they_start_from():
    before = len(base().env)
    run("theorem foo : 1 = 1 := rfl\nopen Nat\n@[simp] theorem bar : (2 = 2) = True := eq_self 2")
    assert len(base().env) == before
    assert base().scope.opens == ()
    assert "bar" not in base().tagged("simp")


# -- the library ------------------------------------------------------------------------------------------------------


def test_the_library_depends_on_the_three_axioms_alone():
    env = base().env
    allowed = {"propext", "Classical.choice", "Quot.sound"}
    for info in env:
        if info.kind == "theorem":
            assert axioms_of(env, info.name) <= allowed, info.name


def test_a_damaged_cache_is_built_again(tmp_path, monkeypatch):
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path))
    path = cache_path()
    path.write_bytes(b"rubbish")
    monkeypatch.setattr("nanolean.library.loader.library_files", lambda: [])
    assert len(load_library().env) == 0


def test_what_killed_writers_of_the_cache_left_is_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path))
    killed = (
        "import os; from nanolean.library import loader; "
        "loader.os.fsync = lambda file: os.kill(os.getpid(), 9); loader._write(loader.cache_path(), b'library')"
    )
    assert subprocess.run([sys.executable, "-c", killed]).returncode == -9
    (left,) = (tmp_path / "cache").iterdir()
    others = [f"nanolean-ab.{platform.node()}.{os.getpid()}.x.tmp", "nanolean-ab.elsewhere.1.x.tmp", "nanolean-old.tmp"]
    for name in others:
        (tmp_path / "cache" / name).touch()
    os.utime(tmp_path / "cache" / "nanolean-old.tmp", (0, 0))
    loader._write(loader.cache_path(), b"library")
    assert left.suffix == ".tmp" and {file.name for file in left.parent.glob("*.tmp")} == set(others[:2])


def test_an_error_in_the_library_names_file_and_line(tmp_path):
    file = tmp_path / "01_bad.lean"
    file.write_text("axiom A : Prop\ntheorem a : A := A\n")
    with pytest.raises(LibraryError, match=r"01_bad\.lean:2:17: error"):
        build_library([file])


def test_a_prelude_of_ones_own_works_over_the_empty_environment():
    text = "inductive T : Prop where\n  | intro : T\ntheorem t : T := T.intro\n#print axioms t"
    result = run(text, EnvState(Environment()))
    assert [message.severity for message in result.messages] == ["info"]


@pytest.mark.parametrize(
    ("term", "told"),
    [
        ("Nat.add_comm", "Nat.add_comm (n m : Nat) : n + m = m + n"),
        ("@Nat.add_comm", "Nat.add_comm : ∀ (n m : Nat), n + m = m + n"),
        ("Exists.intro", "Exists.intro.{u} {α : Sort u} {p : α → Prop} (w : α) (h : p w) : Exists p"),
        ("Nat.le_trans", "Nat.le_trans {n m k : Nat} : n ≤ m → m ≤ k → n ≤ k"),
        ("1 + 1", "1 + 1 : Nat"),
    ],
)
def test_check_shows_a_type_or_a_signature(term: str, told: str):
    assert [message.text for message in run(f"#check {term}").messages] == [told]


def test_a_section_may_be_noncomputable():
    text = "noncomputable section A\nvariable (n : Nat)\ntheorem t : n = n := rfl\nend A\n#check @t"
    assert [message.text for message in run(text).messages] == ["t : ∀ (n : Nat), n = n"]


def test_a_scope_that_ends_for_one_command_is_open_after_it() -> None:
    assert [message.text for message in run("section\nopen Nat in\nend\nend\n#check 1").messages] == ["1 : Nat"]
