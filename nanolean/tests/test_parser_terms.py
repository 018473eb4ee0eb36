"""Terms: precedences, forms, and what is refused."""

import pytest

from nanolean.parser import ParseError, parse_term
from nanolean.parser.lexer import BAD, EOF, Tokens
from nanolean.syntax import (
    AnonCtor,
    AppStx,
    Arrow,
    Binder,
    BinOp,
    By,
    DotIdent,
    Exists,
    Forall,
    Fun,
    Have,
    Hole,
    Ident,
    If,
    Let,
    LevelAdd,
    LevelMax,
    LevelName,
    LevelNum,
    ListLit,
    Match,
    MatchAlt,
    NamedArg,
    Num,
    ProjStx,
    RflStx,
    Show,
    SortStx,
    SyntheticHole,
    TacticSeq,
    TypeAscription,
    Unary,
)
from nanolean.tests.each import each

A, B, C, F, H, P, X, Y = (Ident(name) for name in "abcfhpxy")


def refused(text: str) -> ParseError:
    with pytest.raises(ParseError) as caught:
        parse_term(text)
    return caught.value


@each(
    ("text", "grouped"),
    [
        ("a + b * c ^ d", "a + (b * (c ^ d))"),
        ("a - b - c", "(a - b) - c"),
        ("a ^ b ^ c", "a ^ (b ^ c)"),
        ("a * b / c % d", "((a * b) / c) % d"),
        ("a :: b :: l ++ k", "(a :: (b :: l)) ++ k"),
        ("a + 1 = b ∧ c ≤ d", "((a + 1) = b) ∧ (c ≤ d)"),
        ("p ∧ q ∨ r ∧ s", "(p ∧ q) ∨ (r ∧ s)"),
        ("p ∧ q ∧ r", "p ∧ (q ∧ r)"),
        ("p ∨ q ∨ r", "p ∨ (q ∨ r)"),
        ("p → q → r", "p → (q → r)"),
        ("p ∨ q → r", "(p ∨ q) → r"),
        ("p ↔ q → r", "p ↔ (q → r)"),
        ("p → q ↔ r", "(p → q) ↔ r"),
        ("¬p ∧ q", "(¬p) ∧ q"),
        ("¬a = b", "¬(a = b)"),
        ("¬¬p", "¬(¬p)"),
        ("f x + g y z", "(f x) + (g y z)"),
        ("f ¬p", "f (¬p)"),
        ("p ∧ ∀ x, q x ∧ r", "p ∧ (∀ x, (q x ∧ r))"),
        ("∃ x, p x → q", "∃ x, (p x → q)"),
        ("f fun x => x + 1", "f (fun x => (x + 1))"),
        ("f a <| g b", "f a (g b)"),
        ("a |> f b", "f b a"),
        ("f a |>.g b |>.2", "((f a).g b).2"),
        ("a ∧ b |>.g.k", "(a ∧ b).g.k"),
        ("f a |>.b x |>.c", "((f a).b x).c"),
        ("f <| a + b |>.x y", "f ((a + b).x y)"),
        ("f ∘ g ∘ k", "f ∘ (g ∘ k)"),
        ("h ▸ k ▸ e", "h ▸ (k ▸ e)"),
        ("a || b && c", "a || (b && c)"),
        ("k ∣ m + n", "k ∣ (m + n)"),
        ("(f a) b", "((f a)) b"),
    ],
)
def test_operators_bind_as_in_lean(text: str, grouped: str) -> None:
    assert parse_term(text) == parse_term(grouped)


@each(
    ("ascii_text", "text"),
    [
        ("p -> q", "p → q"),
        ("p /\\ q \\/ r", "p ∧ q ∨ r"),
        ("a <= b <-> b >= a", "a ≤ b ↔ b ≥ a"),
        ("fun x ↦ x", "fun x => x"),
        ("λ x => x", "fun x => x"),
        ("forall x, p x", "∀ x, p x"),
        ("exists x, p x", "∃ x, p x"),
    ],
)
def test_ascii_spellings_mean_the_same(ascii_text: str, text: str) -> None:
    assert parse_term(ascii_text) == parse_term(text)


def test_not_equal_and_boolean_inequality_stay_apart() -> None:
    assert parse_term("a ≠ b") == BinOp("≠", A, B)
    assert parse_term("a != b") == BinOp("!=", A, B)


@pytest.mark.parametrize("text", ["a = b = c", "a < b ≤ c", "p ↔ q ↔ p", "a ∣ b ∣ c"])
def test_relations_do_not_chain(text: str) -> None:
    assert "parentheses" in refused(text).message


def test_names_keep_their_dots_and_projections_follow_without_space() -> None:
    assert parse_term("Nat.add_comm") == Ident("Nat.add_comm")
    assert parse_term("h.left.right") == Ident("h.left.right")
    assert parse_term("h.1.2") == ProjStx(ProjStx(H, 1), 2)
    assert parse_term("(f x).left") == ProjStx(AppStx(F, (X,)), "left")
    assert parse_term("f .nil h.1") == AppStx(F, (DotIdent("nil"), ProjStx(H, 1)))


def test_application_collects_positional_and_named_arguments() -> None:
    assert parse_term("f a (n := 3) _ ?x ?_") == AppStx(
        F, (A, NamedArg("n", Num(3)), Hole(), SyntheticHole("x"), SyntheticHole("_"))
    )


def test_explicit_names_and_universes() -> None:
    assert parse_term("@f") == Ident("f", explicit=True)
    assert parse_term("f.{u, max v 1}") == Ident("f", levels=(LevelName("u"), LevelMax((LevelName("v"), LevelNum(1)))))


def test_sorts() -> None:
    assert parse_term("Type") == SortStx("Type")
    assert parse_term("Type (u + 1) → Prop") == Arrow(SortStx("Type", LevelAdd(LevelName("u"), 1)), SortStx("Prop"))
    assert parse_term("f Type") == AppStx(F, (SortStx("Type"),))


def test_binder_groups_share_their_type() -> None:
    nat = Ident("Nat")
    expected = (Binder("x", nat), Binder("y", nat), Binder("z", P, "implicit"))
    assert parse_term("∀ (x y : Nat) {z : p}, a") == Forall(expected, A)
    assert parse_term("fun (x y : Nat) {z : p} => a") == Fun(expected, A)
    assert parse_term("∀ x y : Nat, a") == Forall(expected[:2], A)
    assert parse_term("∃ x y : Nat, a") == Exists(expected[:2], A)
    assert parse_term("∃ (x : Nat) (y : Nat), a") == Exists(expected[:2], A)
    assert parse_term("fun x _ => x") == Fun((Binder("x"), Binder("_")), X)


def test_dependent_arrows_are_quantifiers() -> None:
    nat = Ident("Nat")
    assert parse_term("(x : Nat) → a = x") == Forall((Binder("x", nat),), BinOp("=", A, X))
    assert parse_term("{x y : Nat} → a") == Forall((Binder("x", nat, "implicit"), Binder("y", nat, "implicit")), A)
    assert parse_term("(a : b) = c") == BinOp("=", TypeAscription(A, B), C)


def test_bounded_quantifiers_unfold_as_in_lean() -> None:
    assert parse_term("∀ x < 3, p x") == parse_term("∀ x, x < 3 → p x")
    assert parse_term("∃ x ≥ 3, p x") == parse_term("∃ x, x ≥ 3 ∧ p x")


def test_brackets() -> None:
    assert parse_term("⟨a, b⟩") == AnonCtor((A, B))
    assert parse_term("⟨⟩") == AnonCtor(())
    assert parse_term("[a, b]") == ListLit((A, B))
    assert parse_term("((a))") == A
    assert parse_term("(a : b)") == TypeAscription(A, B)


def test_prefix_operators() -> None:
    assert parse_term("!a && b") == BinOp("&&", Unary("!", A), B)
    assert parse_term("-a + b") == BinOp("+", Unary("-", A), B)


def test_local_definitions() -> None:
    assert parse_term("let x := a; x") == Let("x", None, A, X)
    assert parse_term("let x : b := a\nx") == Let("x", B, A, X)
    assert parse_term("have : p := a; b") == Have("this", P, A, B)
    assert parse_term("have h (x : a) : p := b; c") == Have(
        "h", Forall((Binder("x", A),), P), Fun((Binder("x", A),), B), C
    )


def test_show_by_and_if() -> None:
    block = By(TacticSeq((RflStx(),)))
    assert parse_term("show p from a") == Show(P, A)
    assert parse_term("show p by rfl") == Show(P, block)
    assert parse_term("f (by rfl)") == AppStx(F, (block,))
    assert parse_term("if h : p then a else b") == If("h", P, A, B)


def test_match_alternatives() -> None:
    expected = Match(
        ((None, A), ("h", B)),
        (MatchAlt((Num(0), X), C), MatchAlt((Hole(), Y), C), MatchAlt((Hole(), Hole()), A)),
    )
    assert parse_term("match a, h : b with | 0, x | _, y => c | _, _ => a") == expected


def test_nested_match_gives_outer_alternatives_back() -> None:
    inner = Match(((None, B),), (MatchAlt((X,), A),))
    expected = Match(((None, A),), (MatchAlt((X,), inner), MatchAlt((Y,), C)))
    assert parse_term("match a with\n| x => match b with\n  | x => a\n| y => c") == expected


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("()", "`()`"),
        ("1.5", "decimal point"),
        ("∃! x, p x", "`∃!`"),
    ],
)
def test_what_lean_has_beyond_us_is_refused_by_name(text: str, part: str) -> None:
    error = refused(text)
    assert part in error.message
    assert error.message.endswith("not supported")


@each(
    ("text", "message", "line", "column"),
    [
        ("a +", "unexpected end of input; expected term", 1, 3),
        ("(a", "unexpected end of input; expected ')'", 1, 2),
        ("f )", "unexpected token ')'; expected end of input", 1, 2),
        ("fun x", "unexpected end of input; expected '=>'", 1, 5),
        ("a\n  + )", "unexpected token ')'; expected term", 2, 4),
        ("a + 'c'", "characters in quotes are not supported", 1, 4),
        ('a + "c"', "texts in quotes are not supported", 1, 4),
        ("«a.b»", "a name with a dot in «» is not supported", 1, 0),
        ("a + let", "unexpected end of input; expected identifier without dots or '_'", 1, 7),
        ("a /- b", "unterminated comment; expected end of input", 1, 2),
        ("∀ , p", "unexpected token ','; expected identifier or '('", 1, 2),
        ("f(x)", "unexpected token '('; expected end of input", 1, 1),
        ('a "b\\" c', "unterminated string; expected end of input", 1, 2),
        ("a." * 100 + "a", "a name of more than 100 parts; expected term", 1, 0),
        ("(a)" + ".a" * 101, "a name of more than 100 parts; expected end of input", 1, 3),
        ("f\rx", "isolated carriage returns are not allowed", 1, 1),
        ("f\r\n x\t", "tabs are not allowed; please configure your editor to expand them", 2, 2),
        ("x✝", "unexpected character '✝'; expected end of input", 1, 1),
    ],
)
def test_errors_say_where_and_what_was_expected(text: str, message: str, line: int, column: int) -> None:
    error = refused(text)
    assert (error.message, error.line, error.column) == (message, line, column)


@each("text", ["∃ x (y : a), p", "∃ (x : a) y, p", "∃ (x), p", "fun (x y) => a", "∀ _ < 3, p", "∀ x y < 3, p"])
def test_binders_that_lean_does_not_read(text: str) -> None:
    assert "expected" in refused(text).message


def test_a_name_may_have_a_hundred_parts() -> None:
    assert parse_term(".".join("a" * 100)) == Ident(".".join("a" * 100))


def test_a_string_that_does_not_end_is_read_once() -> None:
    assert Tokens('"' + '\\"' * 1000).kinds == [BAD, EOF]


def test_keywords_are_not_names() -> None:
    assert "expected" in refused("fun at => 1").message


def test_comments_are_skipped() -> None:
    assert parse_term("a -- sum\n /- of /- both -/ -/ + b") == BinOp("+", A, B)


def test_nodes_span_their_text() -> None:
    text = "f (a + b) = c"
    term = parse_term(text)
    assert isinstance(term, BinOp) and isinstance(term.lhs, AppStx)
    assert text[term.pos : term.end] == text
    assert text[term.lhs.pos : term.lhs.end] == "f (a + b)"
