"""Runs proofs step by step through NanoLean and writes what happened as LeanTree trees (one goal per node)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from nanolean.commands.runner import run_text
from nanolean.env_state import EnvState
from nanolean.errors import ProofError
from nanolean.loader import load_library
from nanolean.memory import Sweeper
from nanolean.tactic_state import TacticState, proof_status, run_tactic
from nanoproof.common.garbage import settle
from nanoproof.data.nanolean.problem import Step
from nanoproof.lean.state import parse_goal


class ReplayError(Exception):
    """A proof that does not go through as written; the message names the tactic."""


@dataclass
class Node:
    """A goal, the tactic that was run on it, and what that left."""

    goal: str
    tactic: str
    children: list["Node"]

    @property
    def size(self) -> int:
        """Number of tactics at and below the node."""
        return 1 + sum(child.size for child in self.children)

    @property
    def depth(self) -> int:
        """Number of tactics on the longest path."""
        return 1 + max((child.depth for child in self.children), default=0)

    def proof(self) -> Step:
        """The tactics that ran, without those that found nothing left to do."""
        return Step(self.tactic, tuple(child.proof() for child in self.children))


@cache
def library() -> EnvState:
    """The library, loaded once per process."""
    state = load_library()
    settle()
    return state


@cache
def _sweeper() -> Sweeper:
    return Sweeper()


def start(state: EnvState, source: str) -> TacticState:
    """The state before the proof of a theorem whose source holds one `sorry`. Raises `ReplayError`."""
    _sweeper().tidy([state])
    result = run_text(state, source)
    if result.has_errors or len(result.sorries) != 1:
        found = "; ".join(m.text for m in result.messages if m.severity == "error")
        raise ReplayError(f"the statement is refused: {found or f'{len(result.sorries)} sorries'}\n{source}")
    return result.sorries[0].state


def replay(state: TacticState, proof: Step) -> Node:
    """Runs a whole proof; the kernel accepts it at the end. Raises `ReplayError`.

    A tactic may close more than the proof expects (`rw` ends with `rfl`); the steps that were meant for the rest are
    left out.
    """
    node, state = _run(state, proof)
    status = proof_status(state)
    if status != "Completed":
        raise ReplayError(f"the proof is not complete: {status}")
    return node


def closed_by(state: TacticState, tactics: Sequence[str]) -> bool:
    """Whether one of the tactics alone proves the goal."""
    for tactic in tactics:
        try:
            if not run_tactic(state, tactic).state.goals:
                return True
        except ProofError:
            continue
    return False


def _run(state: TacticState, step: Step) -> tuple[Node, TacticState]:
    """Runs a step and its children on the first goal; the goals behind it stay as they are."""
    goal = state.goal_texts()[0]
    try:
        after = run_tactic(state, step.tactic).state
    except ProofError as error:
        raise ReplayError(f"{step.tactic!r} is refused: {error}\n{goal}") from error
    opened = len(after.goals) - (len(state.goals) - 1)
    if opened and opened != len(step.children):
        raise ReplayError(f"{step.tactic!r} leaves {opened} goals, not {len(step.children)}\n{goal}")
    node = Node(goal, step.tactic, [])
    for child in step.children[:opened]:
        below, after = _run(after, child)
        node.children.append(below)
    return node, after


def tree(root: Node) -> dict[str, Any]:
    """The proof as a LeanTree `Tree`."""
    ids = {id(node): number for number, node in enumerate(_walk(root))}
    nodes = [
        {
            "id": ids[id(node)],
            "state": {"goals": [parse_goal(node.goal).to_wire()]},
            "tactic": {
                "tactic_string": node.tactic,
                "span": None,
                "parent": ids[id(node)],
                "children": [ids[id(child)] for child in node.children],
                "tactic_depends_on": None,
            },
            "proof_size": node.size,
            "proof_depth": node.depth,
        }
        for node in _walk(root)
    ]
    return {"root_id": 0, "nodes": nodes}


def theorem_record(name: str, source: str, root: Node) -> dict[str, Any]:
    """The proof as a LeanTree `Theorem`; `source` is the text of the statement."""
    span = {"start": 0, "finish": len(source)}
    return {"span": span, "name": name, "context": [], "by_blocks": [{"tree": tree(root), "span": span}]}


def _walk(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _walk(child)
