"""The printer against Lean's default style; goals are made by elaborating statements over the prelude."""

import functools

import pytest

from nanolean.commands.header import elab_header
from nanolean.env_state import EnvState
from nanolean.kernel.expr import (
    PROP,
    TYPE,
    Const,
    FVar,
    Lam,
    Let,
    Lit,
    MVar,
    Pi,
    Proj,
    Sort,
    alpha_eq,
    arrow,
    mk_app,
)
from nanolean.kernel.level import IMax, LParam, Max, Succ
from nanolean.library.loader import build_library, library_files
from nanolean.meta.lctx import EMPTY_CONTEXT, LocalContext, LocalDecl
from nanolean.parser import parse_commands
from nanolean.printer import pp_expr, pp_goal
from nanolean.printer.line_breaks import CLOSE, LINE, OPEN, WIDTH, lay_out
from nanolean.syntax import AxiomCmd
from nanolean.tests.each import each

NAT = Const("Nat")


@functools.cache
def prelude() -> EnvState:
    return build_library(library_files()[:1])


def elaborated(binders: str, statement: str) -> tuple[LocalContext, Pi]:
    (command,) = parse_commands(f"axiom ax {binders} : {statement}")
    assert isinstance(command, AxiomCmd)
    header = elab_header(prelude(), command.signature)
    return header.lctx, header.type


def goal(binders: str, statement: str, tag: str = "") -> str:
    lctx, type_ = elaborated(binders, statement)
    return pp_goal(tag, lctx, type_, prelude().env)


def shown(e, *decls: LocalDecl) -> str:
    return pp_expr(e, LocalContext(decls), prelude().env)


def nat(fvar_id: str, user_name: str) -> LocalDecl:
    return LocalDecl(fvar_id, user_name, NAT)


CONTEXT = (
    "{α : Type} (p q r : Prop) (P Q : Nat → Prop) (R : Nat → Nat → Prop) (f g : Nat → Nat) (a b c n : Nat) "
    "(x y : Bool) (s t : List Nat)"
)
AS_WRITTEN = [
    "a + b + c = a + (b + c)",
    "a * (b + c) = a * b + a * c",
    "a - (b - c) = a - b - c",
    "(a ^ b) ^ c = a ^ b ^ c",
    "(a + 1) ^ 2 = a ^ 2 + 2 * a + 1",
    "a ≤ b ∧ b < c → a < c",
    "a ≥ b ∨ a > b",
    "a ∣ b + c",
    "a ≠ b",
    "¬a = b",
    "¬¬p",
    "¬(p ∧ q)",
    "¬p ∧ ¬q",
    "¬(p → q)",
    "¬∃ n, P n",
    "(¬∃ n, P n) ∧ q",
    "(¬p) = q",
    "p ∧ q ∧ r",
    "(p ∧ q) ∧ r",
    "p ∧ q ∨ r",
    "(p ∨ q) ∧ r",
    "p → q → r",
    "(p → q) → r",
    "p ∨ q → r",
    "(p ↔ q) → r",
    "p ↔ q ∧ r",
    "p → q ↔ r",
    "(p ↔ q) = r",
    "∀ (m : Nat), P m",
    "∀ (m k : Nat), R m k",
    "∀ (m : Nat) (z : Bool) (h : m = 0), P (f m) ∧ z = x ∧ h = h",
    "∀ {m : Nat}, P m",
    "∀ ⦃m : Nat⦄, P m",
    "∀ (m : Nat), P m → Q m",
    "(∀ (m : Nat), P m) ∧ q",
    "q ∧ ∀ (m : Nat), P m",
    "(∀ (m : Nat), P m) → q",
    "∃ m, P m",
    "∃ m k, R m k",
    "(∃ m, P m) ∧ q",
    "∃ m, P m ∧ ∃ k, R m k",
    "∀ (m : Nat), ∃ k, R m k",
    "f (g a) = f a + g (a + 1)",
    "(fun m => m + 1) = f",
    "f = fun m => m + 1",
    "f ∘ g = g",
    "(f ∘ g) a = b",
    "a :: s = [1, 2, 3]",
    "s ++ t = []",
    "a :: b :: s = t",
    "[] = s",
    "(x && y) = !x",
    "(x || y && x) = y",
    "a.succ = b",
    "(a + b).pred = c",
    "Nat.pred 0 = 0",
    "s.length = 3",
    "List.map f s = t",
    "(a == b) = x",
    "(a != b) = !x",
    "∀ (a : Decidable ¬p), Nonempty Nat",
    "∀ (m k : Nat), p",
    "∀ (m : Nat), p → q → ∀ (k : Nat), P m",
    "∀ {m : Nat} {k : Nat}, P k",
    "(∀ (m : Nat), p) → ∀ (h : Nat → Nat) (k : Nat), P (h k)",
    "∀ (h : Nat → Prop), p",
]


@each("statement", AS_WRITTEN)
def test_lean_s_own_style_comes_back_as_written(statement: str) -> None:
    assert goal(CONTEXT, statement).splitlines()[-1] == f"⊢ {statement}"


@each("statement", AS_WRITTEN)
def test_what_is_printed_reads_back_as_the_same_term(statement: str) -> None:
    lctx, type_ = elaborated(CONTEXT, statement)
    text = pp_expr(type_, lctx, prelude().env)
    again_lctx, again = elaborated(CONTEXT, text)
    assert pp_expr(again, again_lctx, prelude().env) == text


@each(
    ("statement", "text"),
    [
        ("∀ m : Nat, ∀ k : Nat, R m k", "∀ (m k : Nat), R m k"),
        ("∀ m, P m", "∀ (m : Nat), P m"),
        ("Nat.add a b = c", "a + b = c"),
        ("Nat.succ a = b", "a.succ = b"),
        ("Nat.succ 0 = b", "Nat.succ 0 = b"),
        ("Not p", "¬p"),
        ("((a)) = (b)", "a = b"),
        ("∃ m, m = a ∧ (∃ k, k = m)", "∃ m, m = a ∧ ∃ k, k = m"),
        ("∀ _ : Nat, p", "∀ (x : Nat), p"),
        ("Nat → p", "∀ (a : Nat), p"),
        ("∀ (m : Nat) (h k : p), P m", "∀ (m : Nat), p → p → P m"),
        ("∀ m < 3, P m", "∀ (m : Nat), m < 3 → P m"),
        ("∃ m > 3, P m", "∃ m, m > 3 ∧ P m"),
        ("@Eq Nat a b", "a = b"),
        ("@id Prop p", "id p"),
        ("Exists P", "Exists P"),
        ("∀ h : p, ∀ k : q, h = h ∧ k = k", "∀ (h : p) (k : q), h = h ∧ k = k"),
    ],
)
def test_normal_forms_of_notation(statement: str, text: str) -> None:
    assert goal(CONTEXT, statement).splitlines()[-1] == f"⊢ {text}"


def test_bound_names_give_way_to_what_their_body_mentions() -> None:
    assert goal("(m : Nat)", "∀ k, k = m").splitlines()[-1] == "⊢ ∀ (k : Nat), k = m"
    lctx, type_ = elaborated("(m : Nat)", "∀ k, k = m")
    captured = Pi("m", type_.type, type_.body)
    assert pp_expr(captured, lctx, prelude().env) == "∀ (m_1 : Nat), m_1 = m"


def test_bound_names_may_shadow_what_their_body_does_not_mention() -> None:
    assert goal("(m : Nat)", "∀ m, m = 0").splitlines()[-1] == "⊢ ∀ (m : Nat), m = 0"


def test_machine_made_binder_names_print_without_their_mark() -> None:
    assert shown(Lam("x✝", NAT, Pi("a✝", NAT, NAT))) == "fun x => Nat → Nat"


def test_hypotheses_of_one_type_share_a_line_only_as_neighbours() -> None:
    text = goal("(a b : Nat) (h : a = b) (c : Nat) (k : a = b) (l : a = b)", "a = c")
    assert text == "a b : Nat\nh : a = b\nc : Nat\nk l : a = b\n⊢ a = c"


def test_a_goal_begins_with_its_case() -> None:
    assert goal("(a : Nat)", "a = a", "succ.inl") == "case succ.inl\na : Nat\n⊢ a = a"
    assert goal("", "0 = 0") == "⊢ 0 = 0"


def test_shadowed_and_machine_made_names_are_marked() -> None:
    decls = [nat("1", "n"), nat("2", "h✝"), nat("3", "n"), nat("4", "h✝"), nat("5", "n"), nat("6", "h")]
    target = mk_app(Const("Nat.add"), FVar("1"), FVar("2"))
    text = pp_goal(None, LocalContext(decls), target, prelude().env)
    assert text == "n✝¹ h✝¹ n✝ h✝ n h : Nat\n⊢ n✝¹ + h✝¹"


def test_definitions_show_their_value() -> None:
    decls = [LocalDecl("1", "k", NAT, Lit(3)), nat("2", "a")]
    assert pp_goal(None, LocalContext(decls), PROP, prelude().env) == "k : Nat := 3\na : Nat\n⊢ Prop"


def test_a_renamed_hypothesis_is_printed_under_its_new_name() -> None:
    e = mk_app(Const("Nat.succ"), FVar("1"))
    assert shown(e, nat("1", "a")) == "a.succ"
    assert shown(e, nat("1", "b")) == "b.succ"


def test_metavariables() -> None:
    e = mk_app(Const("Nat.add"), MVar("m12"), MVar("m13"))
    assert pp_expr(e, EMPTY_CONTEXT, prelude().env) == "?m.12 + ?m.13"
    names = {"m12": "w"}
    assert pp_expr(e, EMPTY_CONTEXT, prelude().env, lambda mvar: names.get(mvar, "")) == "?w + ?m.13"


def test_universes() -> None:
    u, v = LParam("u"), LParam("v")
    levels = [Succ(u), Succ(Succ(u)), u, Succ(Max(u, v)), IMax(u, Succ(v)), Succ(Succ(Max(u, v)))]
    texts = ["Type u", "Type (u + 1)", "Sort u", "Type (max u v)", "Sort (imax u (v + 1))", "Type ((max u v) + 1)"]
    assert [shown(Sort(level)) for level in levels] == texts
    assert shown(arrow(TYPE, PROP)) == "Type → Prop"
    assert shown(mk_app(Const("List"), Sort(Succ(u)))) == "List (Type u)"


def test_constants_that_stop_before_a_hidden_argument_say_so() -> None:
    assert shown(Const("id")) == "@id"
    assert shown(mk_app(Const("id"), NAT)) == "id"
    assert shown(Const("Nat.add")) == "Nat.add"


def test_fields_of_structures_print_with_a_dot_and_theorems_do_not() -> None:
    lctx, _ = elaborated("(p q : Prop) (h : p ∧ q) (a b : Nat) (e : a = b)", "p")
    p, q, h, a, b, e = (decl.fvar for decl in lctx)
    env = prelude().env
    assert pp_expr(mk_app(Const("And.left"), p, q, h), lctx, env) == "h.left"
    assert pp_expr(mk_app(Const("Eq.symm"), NAT, a, b, e), lctx, env) == "Eq.symm e"


def test_proofs_inside_of_terms_are_left_out() -> None:
    lctx, _ = elaborated("(p q : Prop) (h : p ∧ q) (F : p → Nat)", "p")
    p, q, h, F = (decl.fvar for decl in lctx)
    assert pp_expr(mk_app(F, mk_app(Const("And.left"), p, q, h)), lctx, prelude().env) == "F ⋯"


def test_exported_names_lose_their_namespace() -> None:
    assert shown(Const("Bool.true")) == "true"


def test_dependent_types_that_are_no_propositions_print_as_arrows() -> None:
    assert shown(Pi("n", NAT, mk_app(Const("Decidable"), mk_app(Const("Nat.le"), Lit(0), Lit(1))))) == (
        "Nat → Decidable (0 ≤ 1)"
    )
    info = prelude().env.get("id")
    assert info is not None and shown(info.type) == "{α : Sort u} → α → α"


def test_kernel_projections_and_let() -> None:
    assert shown(Proj("And", 0, FVar("1")), nat("1", "h")) == "h.1"
    assert shown(Let("k", NAT, Lit(3), mk_app(Const("Nat.succ"), FVar("1"))), nat("1", "a")) == "let k := 3;\na.succ"


def test_implicit_arguments_of_hypotheses_are_hidden() -> None:
    lctx, type_ = elaborated("(F : {m : Nat} → m = m → Nat) (h : 0 = 0)", "F h = 1")
    assert pp_expr(type_, lctx, prelude().env) == "F h = 1"


def test_what_is_nested_deeper_than_lean_shows_is_left_out() -> None:
    e = FVar("1")
    for _ in range(500):
        e = mk_app(Const("Nat.mul"), Lit(2), mk_app(Const("Nat.add"), e, Lit(1)))
    text = shown(e, nat("1", "a"))
    assert "⋯" in text and len(text.splitlines()[-1]) <= WIDTH


def test_long_targets_break_behind_operators() -> None:
    left = "(∀ (first_number : Nat), P first_number → Q first_number)"
    right = "∀ (second_number third_number : Nat), R second_number third_number → P second_number"
    assert goal(CONTEXT, f"{left} ∧ {right}").splitlines()[-2:] == [f"⊢ {left} ∧", f"    {right}"]


def test_long_hypotheses_start_on_a_line_of_their_own() -> None:
    fact = " + ".join(["first_number"] * 7) + " = the_number"
    text = goal("(first_number the_number : Nat) (fact : " + fact + ")", "0 = 0")
    assert text.splitlines()[1:3] == ["fact :", "  " + fact]


@pytest.mark.nightly
def test_a_huge_text_is_laid_out_in_time_that_grows_with_its_length_only() -> None:
    text = lay_out((OPEN + "a" + LINE + "b" + CLOSE + LINE) * 80_000)
    assert text.split() == ["a", "b"] * 80_000  # 560,000 pieces: with a copy of the rest for each it takes minutes
    assert max(map(len, text.splitlines())) <= WIDTH


def test_printing_twice_gives_the_same_text() -> None:
    lctx, type_ = elaborated(CONTEXT, "∀ (m : Nat), R m a → ∃ k, R k m")
    texts = {pp_goal("", lctx, type_, prelude().env) for _ in range(3)}
    assert len(texts) == 1


def test_reading_back_a_whole_goal_gives_the_same_types() -> None:
    lctx, type_ = elaborated("(P : Nat → Prop) (h : ∀ m, P m → P (m + 1))", "∀ m k, P m → P (m + k)")
    env = prelude().env
    binders = " ".join(f"({decl.user_name} : {pp_expr(decl.type, lctx, env)})" for decl in lctx)
    again_lctx, again = elaborated(binders, pp_expr(type_, lctx, env))
    assert [pp_expr(decl.type, again_lctx, env) for decl in again_lctx] == [pp_expr(d.type, lctx, env) for d in lctx]
    closed, again_closed = elaborated("", "∀ (P : Nat → Prop), P 0")[1], elaborated("", "∀ P : Nat → Prop, P 0")[1]
    assert alpha_eq(closed, again_closed) and alpha_eq(again, again)
