"""The parser on junk and on deep texts: it answers or raises `ParseError`, and in little time."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanolean.parser import ParseError, iter_commands, parse_commands, parse_tactic, parse_term
from nanolean.tests.each import each

ENTRIES = (parse_term, parse_tactic, parse_commands, lambda text: list(iter_commands(text)))
VOCABULARY = (
    "theorem example def inductive structure open set_option #print axioms namespace end @[ ] ( ) { } ⟨ ⟩ ⦃ ⦄ [ "
    "fun λ ∀ ∃ => := : , ; | · <;> = ≠ ∧ ∨ → ↔ ¬ ∣ + - * ^ :: ++ ▸ $ <| @ .{ .1 .left ?x ?_ _ x h Nat.add 12 by have "
    "let show from match with if then else exact intro rw simp only at ⊢ cases induction generalizing using obtain "
    "case next first try repeat all_goals skip rfl sorry where Type Prop Sort max /- -/ -- ✝ ' ? ! # « ."
)
STARTS = ("", "exact ", "theorem a : p := by ", "example (x : ", "induction n with ", "rw [", "inductive A ", "open ")

junk = st.one_of(
    st.text(max_size=60),
    st.binary(max_size=60).map(lambda raw: raw.decode("utf-8", errors="replace")),
    st.tuples(
        st.sampled_from(STARTS), st.lists(st.sampled_from([*VOCABULARY.split(), "\n", "\n  ", " "]), max_size=25)
    ).map(lambda parts: parts[0] + " ".join(parts[1])),
)


@pytest.mark.nightly
@settings(max_examples=400, deadline=None)
@given(junk)
def test_junk_gives_a_syntax_tree_or_a_parse_error(text: str) -> None:
    for entry in ENTRIES:
        try:
            entry(text)
        except ParseError as error:
            assert error.message
            assert 1 <= error.line <= text.count("\n") + 1
            assert 0 <= error.column <= len(text)


@settings(max_examples=200, deadline=None)
@given(junk)
def test_reading_on_after_mistakes_comes_to_an_end(text: str) -> None:
    assert len(list(iter_commands(text))) <= len(text) + 1


@pytest.mark.nightly
@each(
    "text",
    [
        "(" * 9999,
        "⟨" * 9999,
        "¬" * 9999 + "p",
        "p → " * 9999 + "p",
        "a + " * 9999 + "a",
        "f (" * 9999,
        "fun x => " * 9999 + "x",
        "(x : " * 9999,
        "by exact " * 9999 + "x",
        "h" + ".1" * 9999,
        "match x with | y => " * 9999,
        "let x := " * 9999,
    ],
)
def test_deep_terms_are_refused(text: str) -> None:
    with pytest.raises(ParseError, match=r"nested more than|a chain of more than"):
        parse_term(text)


@pytest.mark.parametrize(
    "text", ["(" * 9999, "· " * 9999, "try " * 9999, "rfl" + " <;> rfl" * 9999, "obtain " + "⟨" * 9999]
)
def test_deep_tactics_are_refused(text: str) -> None:
    with pytest.raises(ParseError, match=r"nested more than|a chain of more than"):
        parse_tactic(text)


def test_deep_commands_are_refused() -> None:
    assert any(isinstance(item, ParseError) for item in iter_commands("open A in " * 9999 + "#check x"))


def test_nested_comments_do_not_cost_depth() -> None:
    assert parse_commands("/-" * 5000 + "-/" * 5000) == ()


def test_long_numerals_are_refused() -> None:
    with pytest.raises(ParseError, match="digits"):
        parse_term("1" * 5000)


def test_what_a_statement_needs_fits_the_limits() -> None:
    parse_term(" ∧ ".join(["a"] * 90))
    parse_term(" + ".join(["a"] * 90))
    parse_term("(" * 40 + "a" + ")" * 40)
