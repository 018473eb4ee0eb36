import re
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import pytest

from nanolean.tests.each import each
from nanoproof.common.config import (
    Parser,
    Presets,
    add_flags,
    change,
    check,
    from_args,
    group,
    opt,
    options_of,
    to_dict,
    validated,
)
from nanoproof.common.errors import UserError
from nanoproof.rl.options import RLOptions
from nanoproof.search.config import SearchConfig
from tests.helpers import main_of


@validated("example")
class Example:
    """Example."""

    count: int = opt(3, "How many.", min=1, max=9)
    rate: float = opt(0.5, "How fast.", above=0)
    limit: int | None = opt(None, "At most.", min=1)
    active: bool = opt(True, "Whether.")
    mode: Literal["fast", "slow"] = opt("fast", "Which.")
    names: tuple[str, ...] = opt((), "Who.")
    place: str | None = opt(None, "Where.")


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
        (("--ex-count", "0"), "--ex-count must be >= 1, got 0"),
        (("--ex-count", "10"), "--ex-count must be <= 9, got 10"),
        (("--ex-rate", "0"), "--ex-rate must be > 0, got 0.0"),
        (("--ex-rate", "nan"), "--ex-rate must be a number, got nan"),
        (("--ex-rate", "inf"), "--ex-rate must be a number, got inf"),
        (("--ex-place", ""), "--ex-place must not be empty"),
        (("--ex-limit", "-1"), "--ex-limit must be >= 1, got -1"),
    ],
)
def test_a_value_out_of_range_names_the_option(argv, message):
    with pytest.raises(UserError, match=message):
        parse(*argv)


@pytest.mark.parametrize(
    ("name", "value"),
    [("count", None), ("count", True), ("count", "4"), ("rate", "fast"), ("active", 1), ("names", "a"), ("limit", 1.5)],
)
def test_a_value_of_another_type_names_the_option(name, value):
    parser = Parser(prog="example")
    add_flags(parser, Example, "ex-")
    args = parser.parse_args({f"ex_{name}": value})
    with pytest.raises(UserError, match=f"--ex-{name} has a value of another type: {re.escape(repr(value))}"):
        from_args(Example, args, "ex_")


@pytest.mark.parametrize("argv", [("--ex-mode", "other"), ("--ex-coun", "3"), ("--unknown",), ("--ex-count", "x")])
def test_what_argparse_refuses_is_one_line_and_exit_2(argv, capsys):
    with pytest.raises(SystemExit) as stop:
        parse(*argv)
    assert stop.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_to_dict_is_plain_json_data():
    assert to_dict(Example(names=("a",)))["names"] == ["a"]


@dataclass(frozen=True)
class Tuned:
    """Tuned."""

    PRESETS: ClassVar[Presets] = {"default": {}, "fast": {"rate": 4.0, "steps": 1}, "bold": {"bold": True, "rate": 2.0}}

    rate: float = opt(1.0, "How fast.")
    steps: int = opt(9, "How many.")
    bold: bool = opt(False, "Whether.")
    names: tuple[str, ...] = opt((), "Who.")


def tuned(*argv: str) -> dict[str, Any]:
    parser = Parser(prog="example")
    parser.add_argument("thing", nargs="?")
    add_flags(parser, Tuned, "t-")
    return vars(parser.parse_args(argv))


def test_without_a_preset_options_have_their_defaults():
    assert tuned() == {
        "thing": None,
        "t_preset": "default",
        "t_rate": 1.0,
        "t_steps": 9,
        "t_bold": False,
        "t_names": (),
    }


def test_the_parsed_arguments_hold_the_values_of_the_preset():
    assert tuned("x", "--t-preset", "bold", "--t-names", "a") == {
        **{"thing": "x", "t_preset": "bold", "t_rate": 2.0, "t_steps": 9, "t_bold": True, "t_names": ["a"]},
    }


@pytest.mark.parametrize("argv", [("--t-preset", "fast", "--t-steps", "9"), ("--t-steps", "9", "--t-preset", "fast")])
def test_flags_that_are_given_win_over_the_preset_even_with_the_value_of_the_default(argv):
    assert (tuned(*argv)["t_rate"], tuned(*argv)["t_steps"]) == (4.0, 9)


def test_an_unknown_preset_is_refused(capsys):
    with pytest.raises(SystemExit):
        tuned("--t-preset", "slow")
    assert "choose from 'default', 'fast', 'bold'" in capsys.readouterr().err


def test_values_from_python_give_what_a_command_line_with_them_gives():
    parser = Parser(prog="x")
    add_flags(parser, SearchConfig)
    by_name = parser.parse_args({"algorithm": "mcts", "c_init": 2.0})
    assert vars(by_name) == vars(parser.parse_args(["--algorithm", "mcts", "--c-init", "2"]))
    with pytest.raises(AssertionError, match="x has no option speed"):
        parser.parse_args({"speed": 3})


def test_a_preset_counts_only_where_it_is_given_so_that_a_saved_choice_is_not_overridden():
    parser = Parser(prog="example")
    add_flags(parser, Tuned)
    parser.set_defaults(preset="fast", rate=7.0)  # as a resumed run does with what it was started with
    assert parser.parse_args([]).rate == 7.0
    assert parser.parse_args(["--preset", "default"]).rate == 1.0


def test_flags_of_the_search_become_its_preset_with_what_was_given():
    parser = Parser(prog="example")
    add_flags(parser, SearchConfig, "search-")
    args = parser.parse_args(["--search-preset", "alphaproof", "--search-c-and", "3"])
    assert from_args(SearchConfig, args, "search_") == SearchConfig.preset("alphaproof", c_and=3.0)


@pytest.mark.parametrize("module", ["nanoproof.rl.__main__", "scripts.prover_eval", "scripts.prove"])
def test_every_command_that_searches_takes_a_search_preset(module, capsys):
    with pytest.raises(SystemExit):
        main_of(module)(["--help"])
    assert "--search-preset {default,alphaproof,alphaproof-pseudocode,nanolean,small}" in capsys.readouterr().out


@each(
    ("argv", "expected"),
    [
        (["--ex_count=4"], Example(count=4)),
        (["--ex_count", "4", "--no_ex_active"], Example(count=4, active=False)),
        (["--ex-active=False"], Example(active=False)),
        (["--ex_active=true"], Example()),
        (["--no-ex-active=true"], Example(active=False)),
        (["--no-ex-active=0"], Example()),
        (["--ex-names", "a_b", "--ex-mode=slow"], Example(names=("a_b",), mode="slow")),
    ],
)
def test_underscores_are_dashes_and_switches_may_have_values(argv, expected):
    assert parse(*argv) == expected


def with_earlier() -> Parser:
    parser = Parser(prog="example")
    add_flags(parser, Example)
    parser.add_earlier({"--number": "--count", "--old-way": "leave it out"})
    return parser


@pytest.mark.parametrize("argv", [["--number", "4"], ["--number=4"], ["--count", "4"]])
def test_an_earlier_flag_is_read_as_its_successor(argv):
    assert with_earlier().parse_args(argv).count == 4


@pytest.mark.parametrize(
    ("word", "line"),
    [
        ("--old-way=3", "error: --old-way: leave it out (see example --help)"),
        ("--old_way", "error: --old_way: leave it out (see example --help)"),
        ("old_way=3", "error: old_way=3: leave it out (see example --help)"),
        ("number=4", "error: number=4: options are flags here; write --count 4 (see example --help)"),
        ("limit=4", "error: limit=4: options are flags here; write --limit 4 (see example --help)"),
        ("other=4", "error: unrecognized arguments: other=4 (see example --help)"),
        ("--active=perhaps", "error: argument --active: expected true or false, got 'perhaps' (see example --help)"),
    ],
)
def test_what_has_no_successor_ends_with_a_line_that_says_what_to_write(word, line, capsys):
    with pytest.raises(SystemExit) as stop:
        with_earlier().parse_args([word])
    assert stop.value.code == 2
    assert capsys.readouterr().err == f"{line}\n"


def test_what_follows_two_dashes_stays_as_it_is():
    parser = Parser(prog="example")
    parser.add_argument("words", nargs="*")
    parser.add_argument("--a-b")
    assert parser.parse_args(["--", "--a_b"]).words == ["--a_b"]


# -- groups ------------------------------------------------------------------------------------------------------


@validated("server")
class Server:
    """Server."""

    port: int = opt(80, "Where.", min=1)
    token: str | None = opt(None, "Secret.", advanced=True)
    slots: int = opt(2, "How many.", min=1)


@validated("holder")
class Holder:
    """Holder."""

    server: Server = group(Server, "at-", without=("slots",), port=change(8000, max=9000, help="Where here."))
    slots: int = opt(3, "Others.", min=1)
    again_: bool = opt(False, "Whether.")

    def __post_init__(self) -> None:
        check(self.slots != self.server.port, "holder.slots must not be holder.server.port", "holder")


def held(*argv: str) -> Holder:
    parser = Parser(prog="example")
    add_flags(parser, Holder)
    return from_args(Holder, parser.parse_args(argv))


def test_a_group_is_held_with_the_defaults_that_it_has_there():
    assert held() == Holder() and held().server == Server(port=8000)


def test_the_flags_of_a_group_have_its_prefix_and_those_left_out_belong_to_others():
    assert held("--at-port", "81", "--at-token", "x", "--slots", "7", "--again") == Holder(Server(81, "x", 2), 7, True)


def test_options_of_groups_are_among_those_of_the_class_that_holds_them():
    assert [option.flag for option in options_of(Holder)] == ["--at-port", "--at-token", "--slots", "--again"]
    assert to_dict(Holder()) == {"at_port": 8000, "at_token": None, "slots": 3, "again_": False}


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        (["--at-port", "0"], "--at-port must be >= 1, got 0"),
        (["--at-port", "9001"], "--at-port must be <= 9000, got 9001"),
        (["--slots", "0"], "--slots must be >= 1, got 0"),
        (["--slots", "80", "--at-port", "80"], "--slots must not be --at-port"),
    ],
)
def test_errors_name_the_flag_that_was_typed(argv, line):
    with pytest.raises(UserError) as raised:
        held(*argv)
    assert str(raised.value) == line


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda: Server(port=0), "server.port must be >= 1, got 0"),
        (lambda: Holder(Server(port=9001)), "holder.server.port must be <= 9000, got 9001"),
        (lambda: Holder(slots=0), "holder.slots must be >= 1, got 0"),
        (lambda: RLOptions(fraction_sft=2.0), "rl.fraction_sft must be <= 1, got 2.0"),
    ],
)
def test_in_a_program_errors_name_the_field(make, line):
    with pytest.raises(ValueError) as raised:
        make()
    assert str(raised.value) == line


def test_plain_data_leave_out_what_a_group_does_not_offer():
    @dataclass(frozen=True)
    class Small:
        server: Server = group(Server, without=("token", "slots"))

    assert to_dict(Small()) == {"port": 80}


def test_a_group_has_no_changes_of_options_that_it_lacks():
    with pytest.raises(AssertionError, match="Server has no host"):
        group(Server, host=change("x"))


# -- help and suggestions ------------------------------------------------------------------------------------------


def page(flag: str, capsys: pytest.CaptureFixture[str]) -> str:
    parser = Parser(prog="example")
    add_flags(parser, Holder)
    with pytest.raises(SystemExit) as stopped:
        parser.parse_args([flag])
    assert stopped.value.code == 0
    return capsys.readouterr().out


def test_help_leaves_out_what_is_advanced_and_says_so_at_its_end(capsys):
    short = page("--help", capsys)
    assert "--at-port" in short and "Where here." in short and "--at-token" not in short
    assert short.splitlines()[-1] == "1 more options are rarely changed: --help-all shows them too."


def test_help_all_shows_everything(capsys):
    assert "--at-token" in page("--help-all", capsys)


@pytest.mark.parametrize(
    "module",
    [
        "pretrain",
        "midtrain",
        "sft",
        "rl.__main__",
        "ttrl.__main__",
        "inference.__main__",
        "lean.server.__main__",
        "prover_eval",
        "prove",
    ],
)
def test_the_help_of_large_commands_is_what_one_changes_on_a_normal_day(module, capsys):
    place = "scripts" if module.startswith("prove") else "nanoproof"
    with pytest.raises(SystemExit):
        main_of(f"{place}.{module}")(["--help"])
    shown = capsys.readouterr().out
    assert 10 <= len(re.findall(r"^  --", shown, re.M)) <= 36
    assert shown.splitlines()[-1].endswith("more options are rarely changed: --help-all shows them too.")


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--ex-coun", "3"], "--ex-coun 3; did you mean --ex-count?"),
        (["--ex_coun=3"], "--ex_coun=3; did you mean --ex-count?"),
        (["--unlike-any"], "unrecognized arguments: --unlike-any (see"),
        (["--ex-mode", "fats"], "did you mean fast?"),
    ],
)
def test_the_nearest_flag_or_choice_is_suggested(argv, said, capsys):
    with pytest.raises(SystemExit):
        parse(*argv)
    assert said in capsys.readouterr().err


def test_a_flag_of_a_command_among_several_is_suggested(capsys):
    parser = Parser(prog="example")
    add_flags(parser.add_subparsers().add_parser("run"), Example)
    with pytest.raises(SystemExit):
        parser.parse_args(["run", "--coutn", "3"])
    assert "did you mean --count?" in capsys.readouterr().err


def test_a_page_of_many_options_has_a_short_usage_and_defaults_that_say_something(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main_of("nanoproof.rl")(["--help"])
    page = capsys.readouterr().out
    assert page.startswith("usage: python -m nanoproof.rl [options]\n")
    assert "(default: None)" not in page and "(default: ())" not in page
    assert "--num-steps N " in page and "--fraction-sft X " in page and "\nReinforcement learning:\n" in page
