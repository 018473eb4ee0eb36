"""What a REPL's answers mean: a step that counts as applied, a refusal of Lean, or time that ran out.

Anything else is a ValueError: it is neither Lean's word on a tactic nor a reason to forget the process.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from nanoproof.lean.server.repl_goals import ReplGoal, read_goals

_OUT_OF_TIME = re.compile(
    r"(?<![\w`.])(?:timed out|timeout|(?:elaboration|execution) interrupted)(?![\w`.])", re.IGNORECASE
)
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Step:
    """The proof state that a step led to, and its goals in the REPL's order."""

    proof_state: int
    goals: tuple[ReplGoal, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """Lean did not apply the tactic or take the statement, and what it said."""

    message: str


@dataclass(frozen=True, slots=True)
class OutOfTime:
    """Lean or the REPL gave up after the time that it was allowed; its proof states are still there."""

    message: str = field(default="", compare=False)


def judge(answer: dict[str, Any]) -> Step | Refused | OutOfTime:
    """What became of a tactic.

    No goals is not success, see the rules for `proofStatus` in the REPL's protocol. Raises ValueError if the answer is
    none of the three.
    """
    if "proofState" not in answer:
        return _failure(answer)
    if errors := error_messages(answer):
        return Refused("\n".join(errors))
    proof_state = _number(answer["proofState"])
    goals = read_goals(answer)
    verification = answer.get("stepVerification")
    if isinstance(verification, str) and verification.startswith("Error"):
        return Refused(f"Step verification error: {verification}")
    status = str(answer.get("proofStatus", ""))
    if status.startswith("Error"):
        return Refused(status)
    if answer.get("sorries") or "contains sorry" in status:
        return Refused("the tactic leaves a sorry")
    if not goals and "contains metavariable" in status:
        return Refused("the tactic leaves a metavariable without a goal")
    return Step(proof_state, goals)


def judge_statement(answer: dict[str, Any]) -> Step | Refused | OutOfTime:
    """Where the proof of a statement with one `sorry` starts; raises ValueError if the answer is none of the three."""
    if "env" not in answer:
        return _failure(answer)
    if errors := error_messages(answer):
        return Refused("\n".join(errors))
    sorries = answer.get("sorries") or []
    if not isinstance(sorries, list) or not all(isinstance(entry, dict) for entry in sorries):
        raise ValueError(f"`sorries` is no list of objects: {_shown(sorries)}")
    if len(sorries) != 1:
        return Refused(f"expected exactly one sorry, Lean found {len(sorries)}")
    (gap,) = sorries
    return Step(_number(gap.get("proofState")), read_goals({"goals": [gap.get("goal")]}))


def error_messages(answer: dict[str, Any]) -> list[str]:
    """The texts of the error messages of an answer; raises ValueError if its messages are not of the known form."""
    messages = answer.get("messages") or []
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise ValueError(f"`messages` is no list of objects: {_shown(messages)}")
    return [str(message.get("data", "")) for message in messages if message.get("severity") == "error"]


def _failure(answer: dict[str, Any]) -> Refused | OutOfTime:
    message = answer.get("message")
    if isinstance(message, str):
        head = message.removeprefix("Lean error:").strip().split("\n", 1)[0]
        if _OUT_OF_TIME.search(head) and "deterministic" not in head:
            return OutOfTime(message)
        if message.startswith("Lean error"):
            return Refused(message)
    raise ValueError(f"neither a proof state nor a Lean error: {_shown(answer)}")


def _number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"not the number of a proof state: {_shown(value)}")
    return value


def _shown(value: Any) -> str:
    return str(value)[:_SHOWN]
