"""What the tests of attacks share: whether a text gets a false `boom` past the prover, in any of the ways to ask."""

from nanolean.commands.messages import CommandResult
from nanolean.env_state import EnvState
from nanolean.kernel.env import axioms_of
from nanolean.kernel.expr import Const
from nanolean.kernel.typecheck import TypeChecker
from nanolean.ndjson.import_ndjson import PERMITTED
from nanolean.proof_errors import ProofError
from nanolean.repl import Repl
from nanolean.tactic_state import proof_status, run_tactic
from nanolean.tests.library import base, run
from nanolean.tests.proving import start


def contradictions(state: EnvState) -> list[str]:
    """The constants beyond the library that prove `False` on allowed axioms."""
    checker = TypeChecker(state.env)
    new = [info for info in state.env if info.name not in base().env]
    return [
        info.name
        for info in new
        if checker.whnf(info.type) is Const("False") and axioms_of(state.env, info.name) <= frozenset(PERMITTED)
    ]


def trusted(state: EnvState, name: str) -> bool:
    """Whether a constant is there and rests on allowed axioms."""
    return name in state.env and axioms_of(state.env, name) <= frozenset(PERMITTED)


def gaps(result: CommandResult) -> list[str]:
    """The messages that keep a text from counting as proved."""
    return [m.text for m in result.messages if m.severity == "error" or "sorry" in m.text]


def refused(text: str, because: str = "", name: str = "boom") -> None:
    """Assert that a text with a false theorem `boom` is not accepted: not as a whole, and not that theorem."""
    result = run(text)
    found = gaps(result)
    assert found, f"accepted without a word: {text}"
    assert any(because in message for message in found), found
    assert not trusted(result.state, name), f"{name} counts as proved"
    assert not contradictions(result.state)
    answer = Repl(base()).answer({"cmd": text})
    assert any(m["severity"] == "error" or "sorry" in m["data"] for m in answer["messages"])


def rests_on(text: str, axiom: str, name: str = "boom") -> None:
    """Assert that a text is accepted, but with an axiom that is seen and not allowed."""
    result = run(text)
    assert not [m.text for m in result.messages if m.severity == "error"], result.messages
    assert axiom in axioms_of(result.state.env, name)
    assert axiom not in frozenset(PERMITTED)
    assert not contradictions(result.state)
    answer = Repl(base()).answer({"cmd": f"{text}\n#print axioms {name}"})
    assert axiom in answer["messages"][-1]["data"]


def unproved(statement: str, *steps: str) -> None:
    """Assert that tactics, run one by one, are refused or do not complete the proof of a statement."""
    state = start(statement)
    try:
        for step in steps:
            state = run_tactic(state, step).state
    except ProofError:
        return
    assert proof_status(state) != "Completed"
