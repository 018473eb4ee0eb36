"""Tables, widths and colours."""

import io

import pytest

from nanoproof.common import terminal
from nanoproof.common.terminal import Paint, columns, harmless, shorten, table


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colours_are_for_terminals_unless_they_are_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert terminal.use_color(Screen()) and not terminal.use_color(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not terminal.use_color(Screen())


def test_numbers_are_set_to_the_right_and_texts_to_the_left() -> None:
    rows = [("a", 1234, None), (), ("long", 5, "x")]
    assert table(("name", "count", ">last"), rows) == ["name  count  last", "a     1,234", "", "long      5     x"]


def test_colours_and_wide_letters_do_not_shift_columns() -> None:
    rows = [(Paint(True)("ok", "green"), "x"), ("証明", "y"), ("𝕜∀", "z")]
    lines = table(("state", ""), rows)
    assert {columns(line) for line in lines[1:]} == {8}
    assert "\x1b[32mok\x1b[0m" in lines[1]


@pytest.mark.parametrize("limit", [1, 2, 5, 9, 80])
def test_a_shortened_text_fits(limit: int) -> None:
    text = "証明 of\n∀ x, x\tand more \x07"
    assert columns(shorten(text, limit)) <= limit
    assert "\n" not in shorten(text, limit)


def test_a_short_text_stays() -> None:
    assert shorten("a  b\nc", 5) == "a b c"


def test_control_characters_are_named() -> None:
    assert harmless("a\x1b[2J\n\tb\ud800\u00a0c") == "a<U+001B>[2J\n\tb<U+D800>\u00a0c"


def test_what_the_output_cannot_show_is_printed_as_an_escape(monkeypatch: pytest.MonkeyPatch) -> None:
    data = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(data, encoding="ascii"))
    terminal.print_lines(["✓ ok", "\ud800"])
    assert data.getvalue() == b"\\u2713 ok\n\\ud800\n"
