"""Texts that begin alike: the answer is that of a process that has read nothing before, and the beginning runs once."""

import random

import pytest

from nanolean.commands import runner
from nanolean.repl import Repl
from nanolean.tests.each import each
from nanolean.tests.library import base

COMMANDS = (
    "theorem {n} (p : Prop) (h : p) : p := by\n  exact h",
    "theorem {n} : 1 = 2 := by\n  sorry",
    "theorem {n} : 1 = 2 := by\n  omega",
    "@[simp] theorem {n} (a : Nat) : a + 0 = a := by simp",
    "example : 1 + 1 = 2 := rfl",
    "def {n} := 3",
    "namespace A",
    "end A",
    "section",
    "end",
    "variable (x : Nat)",
    "open Nat in\ntheorem {n} : True := trivial",
    "open Nat",
    "/-- a word -/",
    "/- a comment -/",
    "/- one that does not end",
    "-- import Mathlib",
    "/- import Mathlib -/",
    '#check "text',
    "foo bar baz",
    "theorem {n} : True := by\n  exact",
    "variable (p : Prop) (h : p)\ninclude h",
    "open Nat in\nend",
    "inductive {n} where | a | b\nderiving DecidableEq, BEq",
    "theorem {n} (a b : Nat) : a + b = b + a := by\n  conv => lhs; foo",
    "| 0 => 1",
    "  trivial",
    "set_option maxRecDepth 100 in",
    "#print axioms Nat.add_comm",
    "import Mathlib",
    "«",
)


def without_numbers(answer: dict) -> dict:
    """An answer without the numbers of states and environments, which differ in a process that has answered more."""
    goals = [{**goal, "proofState": 0} for goal in answer.get("sorries", [])]
    return {**answer, "env": 0, "sorries": goals}


def text_of(commands: list[str]) -> str:
    return "\n\n".join(command.replace("{n}", f"t{number % 5}") for number, command in enumerate(commands))


@each("seed", range(12))
def test_what_was_read_before_changes_no_answer(seed: int) -> None:
    rng = random.Random(seed)
    repl = Repl(base())
    commands = [rng.choice(COMMANDS) for _ in range(8)]
    text = text_of(commands)
    for _ in range(12):
        assert without_numbers(repl.answer({"cmd": text})) == without_numbers(Repl(base()).answer({"cmd": text}))
        change = rng.randrange(4)
        place = rng.randrange(len(commands))
        if change == 0:
            commands[place] = rng.choice(COMMANDS)
        elif change == 1:
            commands.insert(place, rng.choice(COMMANDS))
        elif change == 2 and len(commands) > 5:
            del commands[place]
        text = text_of(commands)
        if change == 3:  # cut off anywhere, within a word too
            text = text[: rng.randrange(len(text))]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("{t}example : True := by\n  .theorem u : 1 = 2 := by\n  sorry\n{t}", "{t}\n"),
        ("{t}example : p := by\n  conv => foo\n{t}{t}{t}", "{t}\n"),
        ("{t}\n«theorem def axiom theorem theorem theorem", "»\n{t}"),
    ],
    ids=["a word behind a dot", "a mistake within conv", "a line that goes on"],
)
def test_where_texts_part_the_rest_is_read_as_in_the_whole(first: str, second: str) -> None:
    repl = Repl(base())
    first, second = (text.replace("{t}", "theorem t : True := by\n  trivial\n") for text in (first, second))
    for text in (first, first + second, first):
        assert without_numbers(repl.answer({"cmd": text})) == without_numbers(Repl(base()).answer({"cmd": text}))


def test_what_two_texts_begin_with_runs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []
    monkeypatch.setitem(runner.RUNNERS, runner.TheoremCmd, counting(ran, runner.run_declaration))
    repl = Repl(base())
    theorems = [f"theorem t{number} : True := by\n  trivial\n\n" for number in range(20)]
    for count in range(1, 21):
        repl.answer({"cmd": "".join(theorems[:count]) + f"theorem other : {count} = {count} := by\n  rfl"})
        repl.answer({"prune_all": True})
    assert len(ran) <= 4 * 20
    assert "has already been declared" in str(repl.answer({"cmd": "".join([*theorems, theorems[0]])}))


def counting(ran: list, run):
    def count(result, command):
        ran.append(command)
        run(result, command)

    return count


def test_a_goal_in_what_texts_have_in_common_can_be_proved() -> None:
    repl = Repl(base())
    text = "theorem t (p : Prop) (h : p) : p := by\n  sorry\n\n" + "example : True := trivial\n\n" * 4
    repl.answer({"cmd": text})
    repl.answer({"prune_all": True})
    answer = repl.answer({"cmd": text + "example : True := trivial"})
    step = repl.answer({"tactic": "exact h", "proofState": answer["sorries"][0]["proofState"]})
    assert step["proofStatus"] == "Completed"
