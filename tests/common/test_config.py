from dataclasses import dataclass
from typing import Literal

import pytest

from nanoproof.common.config import Parser, add_flags, from_args, opt, to_dict, validate
from nanoproof.common.errors import UserError


@dataclass(frozen=True)
class Example:
    """Example."""

    count: int = opt(3, "How many.", min=1, max=9)
    rate: float = opt(0.5, "How fast.", above=0)
    limit: int | None = opt(None, "At most.", min=1)
    active: bool = opt(True, "Whether.")
    mode: Literal["fast", "slow"] = opt("fast", "Which.")
    names: tuple[str, ...] = opt((), "Who.")

    def __post_init__(self) -> None:
        validate(self, "example")


def parse(*argv: str) -> Example:
    parser = Parser(prog="example")
    add_flags(parser, Example, "ex-")
    return from_args(Example, parser.parse_args(argv), "ex_")


def test_defaults_are_those_of_the_dataclass():
    assert parse() == Example()


def test_every_kind_of_field_is_read():
    read = parse(
        "--ex-count",
        "4",
        "--ex-rate",
        "2",
        "--ex-limit",
        "7",
        "--no-ex-active",
        "--ex-mode",
        "slow",
        "--ex-names",
        "a",
        "b",
    )
    assert read == Example(4, 2.0, 7, False, "slow", ("a", "b"))


def test_an_optional_value_can_be_taken_back_with_none():
    assert parse("--ex-limit", "none").limit is None


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("--ex-count", "0"), "example.count must be >= 1, got 0"),
        (("--ex-count", "10"), "example.count must be <= 9, got 10"),
        (("--ex-rate", "0"), "example.rate must be > 0, got 0.0"),
        (("--ex-rate", "nan"), "example.rate must be a number, got nan"),
        (("--ex-limit", "-1"), "example.limit must be >= 1, got -1"),
    ],
)
def test_a_value_out_of_range_names_the_option(argv, message):
    with pytest.raises(UserError, match=message):
        parse(*argv)


@pytest.mark.parametrize("argv", [("--ex-mode", "other"), ("--ex-coun", "3"), ("--unknown",), ("--ex-count", "x")])
def test_what_argparse_refuses_is_one_line_and_exit_2(argv, capsys):
    with pytest.raises(SystemExit) as stop:
        parse(*argv)
    assert stop.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_to_dict_is_plain_json_data():
    assert to_dict(Example(names=("a",)))["names"] == ["a"]
