"""What is typed as a theorem: with a `sorry`, or refused in one line."""

import pytest

from nanolean.tests.each import each
from nanoproof.common.errors import UserError
from nanoproof.lean.source import parse_declaration
from nanoproof.prover.cli_input import parse_theorem


@pytest.mark.parametrize(
    "text",
    [
        "theorem foo : A",
        "theorem foo : A :=",
        "  theorem foo : A := by\n",
        "theorem foo : A := by sorry",
    ],
)
def test_a_missing_sorry_is_added(text: str) -> None:
    assert parse_theorem(text, embedded=True).source == "theorem foo : A := by sorry"


TWO = "theorem foo : A := by sorry\ntheorem bar : B := by sorry"


@each("embedded", [True, False])
@each("text", ["", "A → A", "theorem : A", "theorem foo : A := by simp; sorry", TWO])
def test_what_is_not_one_theorem_is_refused_in_one_line(text: str, embedded: bool) -> None:
    with pytest.raises(UserError) as error:
        parse_theorem(text, embedded)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("embedded", [True, False])
def test_a_theorem_with_a_proof_is_told_so(embedded: bool) -> None:
    with pytest.raises(UserError, match="has a proof already"):
        parse_theorem("theorem t (h : 1 = 1 := by rfl) : let x := 1; x = 1 := by rfl", embedded)
    assert parse_theorem("theorem t (h : p := by rfl) : p := by", embedded=False).source.endswith(": p := by sorry")


@pytest.mark.parametrize("embedded", [True, False])
@pytest.mark.parametrize("text", ["theorem t : 1 = 1 -- note", "theorem t : 1 = 1 := by -- note"])
def test_a_comment_at_the_end_of_a_theorem_hides_nothing(text: str, embedded: bool) -> None:
    theorem = parse_theorem(text, embedded)
    assert parse_declaration(theorem.source).whole


def test_a_syntax_error_is_refused_with_its_place() -> None:
    with pytest.raises(UserError, match=r"^the theorem has a syntax error at line 2, column 14: unexpected token"):
        parse_theorem("theorem t\n    (p : Prop : p := by sorry", embedded=True)


@pytest.mark.parametrize("claim", ["theorem t (n : Nat) : double n = n + n", "example (n : Nat) : double n = n + n"])
def test_a_claim_without_a_proof_may_follow_definitions(claim: str) -> None:
    text = f"def double (n : Nat) : Nat := n + n\n\n{claim}"
    assert parse_theorem(text, embedded=True).source == f"{text} := by sorry"
    with pytest.raises(UserError, match="has a proof already"):
        parse_theorem(f"{text} := rfl", embedded=True)
