"""Tables, widths, colours and progress."""

import io
import logging
import re
import sys
import time
from types import SimpleNamespace

import pytest

from nanoproof.common import terminal
from nanoproof.common.terminal import Paint, Progress, columns, printable, shorten, table


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
    assert printable("a\x1b[2J\n\tb\ud800\u00a0c") == "a<U+001B>[2J\n\tb<U+D800>\u00a0c"


def test_what_the_output_cannot_show_is_printed_as_an_escape(monkeypatch: pytest.MonkeyPatch) -> None:
    data = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(data, encoding="ascii"))
    terminal.print_lines(["✓ ok", "\ud800"])
    assert data.getvalue() == b"\\u2713 ok\n\\ud800\n"


def test_a_line_and_its_end_are_written_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    output, written = io.StringIO(), []
    monkeypatch.setattr(output, "write", written.append)
    monkeypatch.setattr("sys.stdout", output)
    terminal.print_lines(["a", "b"])
    assert written == ["a\n", "b\n"]


def test_markup_and_escapes_in_a_cell_are_text() -> None:
    rows = [("[bold]x[/bold] :smile:", "a\x1b[2Jb"), ("y", "c")]
    assert table(("state", ""), rows)[1:] == ["[bold]x[/bold] :smile:  ab", "y                       c"]


def screen_for(monkeypatch: pytest.MonkeyPatch, term: str = "xterm") -> Screen:
    """A terminal as standard error; to be called in the test itself, before which pytest sets its own."""
    monkeypatch.setenv("TERM", term)
    monkeypatch.setenv("COLUMNS", "100")
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    return screen


def test_a_terminal_has_a_bar_with_log_lines_above_it(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = screen_for(monkeypatch)
    handler = logging.StreamHandler()
    logging.getLogger().addHandler(handler)
    try:
        with Progress(4, "[load]", "files", initial=1) as progress:
            progress.update(2, "x.json")
            logging.getLogger("progress").error("said while it ran")
            assert "said while it ran" in screen.getvalue()
            progress.update()
        assert handler.stream is screen is sys.stderr
    finally:
        logging.getLogger().removeHandler(handler)
    shown = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", screen.getvalue())
    last = re.split(r"[\r\n]+", shown.strip())[-1]
    assert last.startswith("[load] ") and "4/4 files" in last and last.endswith("x.json")
    above, _, _ = shown.partition("said while it ran")
    assert above.endswith("\r"), "the log line has a line of its own"


@pytest.mark.parametrize("term", ["dumb", "xterm"])
def test_elsewhere_there_are_lines_without_control_characters(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], term: str
) -> None:
    screen = screen_for(monkeypatch, term)
    if term != "dumb":
        monkeypatch.setattr(sys, "stderr", io.StringIO())
    with Progress(4, "load", "files", every_seconds=0) as progress:
        progress.update(2, "x.json")
    lines = capsys.readouterr().out.splitlines()
    assert [re.sub(r" \(.*\)", "", line) for line in lines] == ["load: 2/4 files in 0 s, x.json"] * 2
    assert screen.getvalue() == ""


def test_progress_that_is_not_shown_says_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    screen = screen_for(monkeypatch)
    with Progress(4, "load", every_seconds=0, show=False) as progress:
        progress.update(4)
    assert (screen.getvalue(), capsys.readouterr().out) == ("", "")


def test_what_is_printed_into_a_pipe_stays_there_while_a_bar_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    screen = screen_for(monkeypatch)
    with Progress(4, "load") as progress:
        print("a result")
        progress.update(4)
    assert capsys.readouterr().out == "a result\n"
    assert "a result" not in screen.getvalue() and "4/4" in screen.getvalue()


def test_a_line_comes_at_least_so_often_while_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """As while one long problem is worked on: with nothing to count, `update` is not called."""
    screen_for(monkeypatch, "dumb")
    said: list[str] = []
    with Progress(40, "load", "files", every_seconds=0.02, say=said.append) as progress:
        progress.reach(10, 40, "the first file")
        deadline = time.monotonic() + 60
        while len(said) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
    assert len(said) >= 3
    assert re.fullmatch(r"load: 10/40 files in \d+ s \(about \d+ s to go\), the first file", said[1])


def test_lines_are_due_by_the_clock_and_short_work_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, said = SimpleNamespace(now=100.0), []
    monkeypatch.setattr("nanoproof.common.terminal.time", SimpleNamespace(monotonic=lambda: clock.now))
    progress = Progress(10, "collect", "transitions", every_seconds=20.0, say=said.append)
    for count in range(1, 6):
        clock.now += 19.0 if count == 1 else 10.0
        progress.reach(count, 10)
    progress.__exit__(None, None, None)
    assert [line.partition(" (")[0] for line in said] == [
        "collect: 2/10 transitions in 29 s",
        "collect: 4/10 transitions in 49 s",
        "collect: 5/10 transitions in 59 s",
    ]
    Progress(10, "collect", say=said.append).__exit__(None, None, None)
    assert len(said) == 3


def test_lines_can_go_to_another_stream_than_results(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(2, "make", "problems", screen=sys.stderr) as progress:
        progress.reach(2, 2, "done")
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "make: 2/2 problems in 0 s, done\n")


def test_a_line_of_progress_without_a_terminal_is_short_however_long_its_title_is(capsys):
    with Progress(4, "evaluate " + "a_data_set, " * 60, "theorems", every_seconds=0) as progress:
        progress.update()
    lines = capsys.readouterr().out.splitlines()
    assert lines and max(map(len, lines)) <= terminal.LINE_COLUMNS
