"""Reading what a LeanTree server answers: refusals, timeouts, lost processes and proof states."""

import json
import re
from collections.abc import Mapping
from typing import Any, Literal

from nanoproof.lean.errors import ProtocolError
from nanoproof.lean.state import ProofState

ErrorKind = Literal["rejected", "timeout", "gone", "protocol"]

_MESSAGES = "REPL returned error messages:"
"""How LeanTree's server begins the text of a 500 that carries Lean's own error messages, as a JSON list."""
_REFUSALS = ("REPL returned error", "Step verification error", "Could not apply tactic")
_TIMEOUTS = ("Tactic application timed out", "Command timed out")
_GONE = re.compile(
    r"Lean REPL process ended unexpectedly|Subprocess has terminated|Failed to send data to REPL|Process \d+ not found"
    # A process that does not know our proof states is another one than ours was.
    r"|Unknown proof state|Unknown environment|Proof state \d+ not found"
)
_BARE_METAVARIABLE = re.compile(r"\?[^\s()]*")


def classify(error: str) -> ErrorKind:
    """What kind of failure an error text of a server is."""
    if error.startswith(_MESSAGES):  # whatever Lean's messages speak of, it is Lean that speaks
        return "rejected"
    if _GONE.search(error):
        return "gone"
    if any(text in error for text in _TIMEOUTS):
        return "timeout"
    if any(text in error for text in _REFUSALS):
        return "rejected"
    return "protocol"


def error_text(body: Any) -> str | None:
    """The error of an answer, None if it has none. Other fields (pickled exceptions, say) are not looked at."""
    if isinstance(body, Mapping) and body.get("error") is not None:
        return str(body["error"])
    return None


def refused_messages(error: str) -> list[dict[str, Any]] | None:
    """Lean's messages in the error text of a command that LeanTree's server refuses; None if it holds none."""
    if not error.startswith(_MESSAGES):
        return None
    try:
        messages = json.loads(error.removeprefix(_MESSAGES))
    except ValueError:
        return None
    whole = isinstance(messages, list) and messages and all(isinstance(message, dict) for message in messages)
    return messages if whole else None


def read_branch(value: Any) -> tuple[int, ProofState]:
    """The id and the goals of a `{"proof_state_id", "goals"}` object; raises `ProtocolError`."""
    if not isinstance(value, Mapping) or not isinstance(value.get("proof_state_id"), int):
        raise ProtocolError(f"not a proof state: {str(value)[:200]!r}")
    return value["proof_state_id"], ProofState.from_wire(value.get("goals") or ())


def read_branches(value: Any) -> list[tuple[int, ProofState]]:
    """Open branches of the `value` of an applied tactic; entries without goals are closed and left out."""
    if not isinstance(value, list):
        raise ProtocolError(f"not a list of proof states: {str(value)[:200]!r}")
    return [(number, state) for number, state in map(read_branch, value) if state.goals]


def bare_metavariable(state: ProofState) -> bool:
    """True if some goal is a metavariable and nothing else, so that nobody can know what is to be proved."""
    return any(_BARE_METAVARIABLE.fullmatch(goal.type.strip()) for goal in state.goals)
