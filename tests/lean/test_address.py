"""Addresses of Lean servers."""

import pytest

from nanolean.tests.each import each
from nanoproof.lean.client import AddressError, parse_address


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("lean1", "lean1:8000"),
        ("10.0.0.3:9000", "10.0.0.3:9000"),
        ("http://lean1:80/", "lean1:80"),
        ("http://lean1", "lean1:8000"),
        ("[::1]:9", "[::1]:9"),
    ],
)
def test_accepted(text: str, shown: str) -> None:
    assert str(parse_address(text)) == shown


@each("text", ["", "https://lean1", "lean1:port", "lean1:99999", "lean1:0", "http://lean1/api", "a b"])
def test_refused_in_one_line_that_names_the_text(text: str) -> None:
    with pytest.raises(AddressError) as caught:
        parse_address(text)
    assert repr(text) in str(caught.value) and "\n" not in str(caught.value)
