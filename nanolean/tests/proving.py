"""What the tests of tactics share: run tactics on a statement and look at the goals, the status or the refusal."""

from functools import cache

from nanolean import tactics
from nanolean.commands.runner import run_text
from nanolean.env_state import EnvState
from nanolean.proof_errors import ProofError
from nanolean.tactic_state import TacticState, proof_status, run_tactic
from nanolean.tests.library import base

TACTIC_MODULES = tactics.MODULES


@cache
def library() -> EnvState:
    tactics.load()
    return base()


def with_commands(text: str) -> EnvState:
    """The library and further declarations."""
    result = run_text(library(), text)
    assert not [m for m in result.messages if m.severity == "error"], result.messages
    return result.state


def start(statement: str, base: EnvState | None = None) -> TacticState:
    """The state before a proof of `(binders) : proposition`."""
    result = run_text(base or library(), f"theorem goal_of_the_test {statement} := by sorry")
    assert len(result.sorries) == 1, [message.text for message in result.messages]
    return result.sorries[0].state


def after(statement: str, *steps: str, base: EnvState | None = None) -> TacticState:
    """The state after some tactics, all of which must be accepted."""
    state = start(statement, base)
    for step in steps:
        state = run_tactic(state, step).state
    return state


def goals(statement: str, *steps: str, base: EnvState | None = None) -> list[str]:
    """The goals after some tactics."""
    return after(statement, *steps, base=base).goal_texts()


def targets(statement: str, *steps: str, base: EnvState | None = None) -> list[str]:
    """Only what is to be proved in each goal."""
    return [text.rsplit("⊢ ", 1)[1] for text in goals(statement, *steps, base=base)]


def status(statement: str, *steps: str, base: EnvState | None = None) -> str:
    """The status after some tactics; "Completed" only if the kernel has accepted the proof."""
    return proof_status(after(statement, *steps, base=base))


def proves(statement: str, *steps: str, base: EnvState | None = None) -> bool:
    """Whether the tactics prove the statement to the kernel's satisfaction."""
    return status(statement, *steps, base=base) == "Completed"


def refusal(statement: str, *steps: str, base: EnvState | None = None) -> str:
    """The message with which the last tactic is refused; the ones before must be accepted."""
    state = after(statement, *steps[:-1], base=base)
    try:
        result = run_tactic(state, steps[-1])
    except ProofError as error:
        return error.message
    raise AssertionError(f"accepted, with the goals {result.state.goal_texts()}")
