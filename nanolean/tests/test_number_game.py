"""The Natural Number Game over Lean's `Nat`: every proof of `number_game.lean` holds as text and step by step."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from nanolean.parser import parse_commands
from nanolean.repl import Repl
from nanolean.syntax import By, InductionStx, Tactic, TacticSeq, TheoremCmd
from nanolean.tests.each import each
from nanolean.tests.library import base

GAME = Path(__file__).parent / "number_game.lean"
DOC = Path(__file__).parents[1] / "docs" / "number_game.md"
LEVELS = {"tutorial": 8, "addition": 5, "multiplication": 9, "implication": 11, "algorithm": 9}
NAMES = [f"{world}_{number}" for world, count in LEVELS.items() for number in range(1, count + 1)]


class Level(NamedTuple):
    """One theorem: its environment's number, the text with `sorry` for a proof, the whole text, the proof's steps."""

    env: int
    statement: str
    text: str
    steps: list[str]


@cache
def game() -> tuple[Repl, dict[str, Level]]:
    """A REPL that has run the file declaration by declaration, and its levels by name."""
    text = GAME.read_text(encoding="utf-8")
    repl = Repl(base())
    env = repl.answer({"cmd": ""})["env"]
    levels: dict[str, Level] = {}
    for command in parse_commands(text):
        source = text[command.pos : command.end]
        name = command.signature.name if isinstance(command, TheoremCmd) else None
        if isinstance(command, TheoremCmd) and name in NAMES:
            assert isinstance(command.value, By)
            proof = command.value.tactics
            statement = text[command.pos : proof.pos].rstrip() + " sorry"
            levels[name] = Level(env, statement, source, list(steps_of(text, proof)))
        answer = repl.answer({"cmd": source, "env": env})
        assert "messages" not in answer, answer
        env = answer["env"]
    return repl, levels


def steps_of(text: str, seq: TacticSeq) -> list[str]:
    """The tactics of a proof; `induction` with alternatives leaves a goal for each, proved by the next steps."""
    return [step for tactic in seq.tactics for step in steps_of_tactic(text, tactic)]


def steps_of_tactic(text: str, tactic: Tactic) -> list[str]:
    if not isinstance(tactic, InductionStx) or tactic.alts is None:
        return [text[tactic.pos : tactic.end]]
    head = text[tactic.pos : tactic.alts[0].pos].rstrip()
    steps = [" ".join([head, *(f"| {' '.join((alt.ctor, *alt.names))} => ?_" for alt in tactic.alts)])]
    for alt in tactic.alts:
        assert isinstance(alt.rhs, TacticSeq)
        steps += steps_of(text, alt.rhs)
    return steps


def is_applied(answer: dict) -> bool:
    """Whether an answer of the REPL counts as a step."""
    if "message" in answer or answer.get("sorries"):
        return False
    if any(message["severity"] == "error" for message in answer.get("messages", [])):
        return False
    status = answer["proofStatus"]
    if status.startswith("Error") or "contains sorry" in status:
        return False
    return bool(answer["goals"]) or "metavariable" not in status


@each("name", NAMES)
def test_a_level_replays_step_by_step(name: str):
    repl, levels = game()
    level = levels[name]
    answer = repl.answer({"cmd": level.statement, "env": level.env})
    assert not [message for message in answer["messages"] if message["severity"] == "error"], answer
    state = answer["sorries"][0]["proofState"]
    statuses = []
    for step in level.steps:
        answer = repl.answer({"tactic": step, "proofState": state})
        assert is_applied(answer), (step, answer)
        statuses.append(answer["proofStatus"])
        state = answer["proofState"]
    assert statuses == ["Incomplete: open goals remain"] * (len(statuses) - 1) + ["Completed"]


@each("name", NAMES)
def test_a_level_holds_as_a_whole_text(name: str):
    repl, levels = game()
    level = levels[name]
    answer = repl.answer({"cmd": f"{level.text}\n#print axioms {name}", "env": level.env})
    assert [message["severity"] for message in answer["messages"]] == ["info"]
    axioms = set(re.findall(r"[\w.]+", answer["messages"][0]["data"].partition("axioms: [")[2]))
    assert axioms <= {"propext", "Classical.choice", "Quot.sound"}


def test_a_proof_of_another_level_is_refused():
    repl, levels = game()
    proof = levels["addition_1"].text.partition(":= by")[2]
    statement = levels["addition_3"].statement.removesuffix(" sorry")
    answer = repl.answer({"cmd": statement + proof, "env": levels["addition_3"].env})
    assert "error" in [message["severity"] for message in answer["messages"]]


def test_every_level_has_a_row_in_the_document():
    rows = re.findall(r"^\| `(\w+)` \|", DOC.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == NAMES
