"""Showing tokens: bars or colours, markers by name, halves of characters as bytes."""

import io
import sys
from pathlib import Path

import pytest

from nanoproof.common.errors import UserError
from nanoproof.model.tokenizer import gpt2_tokenizer
from scripts.tok_show import main


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert main(arguments) == 0
    return capsys.readouterr().out.splitlines()


@pytest.mark.nightly
def test_outside_of_a_terminal_bars_stand_between_tokens(capsys) -> None:
    text, numbers, counts = shown(["Hello world ℕ😀", "--tokenizer", "built"], capsys)
    assert text == "Hello│ world│ │ℕ│<f0 9f 98>│<80>"
    assert numbers == " ".join(map(str, gpt2_tokenizer().encode("Hello world ℕ😀")))
    assert counts == "6 tokens, 14 characters, 19 bytes, 3.17 bytes per token"


def test_a_sample_is_shown_as_training_makes_it(capsys) -> None:
    lines = shown(["p\n⊢ p", "--tactic", "rfl", "--tokenizer", "built"], capsys)
    assert lines[:3] == ["<|endoftext|>│p│⏎", "│⊢│ p│⏎", "│<|tactic|>│r│fl│<|endoftext|>"]
    assert lines[-1].endswith("3 of the tokens are markers")
    lines = shown(["p", "--depth", "70", "--tokenizer", "built"], capsys)
    assert lines[:2] == ["<|endoftext|>│p│⏎", "│<|value|>│<|bin_64|>"]


def test_a_marker_in_the_text_is_shown_as_the_text_that_it_is(capsys) -> None:
    text, numbers, _ = shown(["<|pad|>", "--tokenizer", "built"], capsys)
    assert text == "<│|│pad│|│>"
    assert str(gpt2_tokenizer().pad) not in numbers.split()


def test_numbers_can_be_shown_one_per_line(capsys) -> None:
    lines = shown(["--ids", "15496", str(gpt2_tokenizer().pad), "198", "--list", "--tokenizer", "built"], capsys)
    assert [line.split() for line in lines[:3]] == [
        ["15496", "5", "Hello"],
        ["50374", "0", "<|pad|>"],
        ["198", "1", "⏎"],
    ]


@pytest.mark.parametrize(("no_color", "colored"), [("", True), ("1", False)])
def test_colours_are_for_terminals_unless_switched_off(
    monkeypatch: pytest.MonkeyPatch, no_color: str, colored: bool
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    main(["a b", "--tactic", "c", "--tokenizer", "built"])
    assert ("\x1b[" in terminal.getvalue()) is colored
    assert ("│" in terminal.getvalue()) is not colored


def test_a_backslash_of_latex_is_no_line_break(capsys) -> None:
    assert shown([r"\neq", "--tokenizer", "built"], capsys)[0].replace("│", "") == r"\neq"


def test_a_file_is_read_whole(tmp_path: Path, capsys) -> None:
    (tmp_path / "a.lean").write_text("a\nb\n", encoding="utf-8")
    assert shown(["--file", str(tmp_path / "a.lean"), "--tokenizer", "built"], capsys)[:2] == ["a│⏎", "│b│⏎"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give one text: TEXT, --file or --ids"),
        (["x", "--file", "y"], "give one text"),
        (["--file", "nowhere.txt"], "--file nowhere.txt: No such file"),
        (["--ids", "60000"], "--ids must be >= 0 and < 50441, got 60000"),
        (["x", "--ids", "1"], "cannot be shown at once"),
        (["x", "--tactic", "a", "--depth", "1"], "--tactic and --depth"),
        (["x", "--tokenizer", "nowhere"], "no tokenizer at nowhere"),
    ],
)
def test_impossible_wishes_are_one_line(arguments: list[str], message: str) -> None:
    default = [] if "--tokenizer" in arguments else ["--tokenizer", "built"]
    with pytest.raises(UserError, match=message):
        main([*arguments, *default])
