"""Replay of proofs step by step, recorded as LeanTree trees (one goal per node); tactics that prove alone."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from nanolean.commands.messages import CommandResult
from nanolean.commands.runner import run_text
from nanolean.data.problem import Problem, Step, render
from nanolean.env_state import EnvState, Sweeper
from nanolean.library.loader import load_library
from nanolean.proof_errors import ProofError
from nanolean.system import freeze_gc
from nanolean.tactic_state import TacticState, proof_status, run_tactic

GoalReader = Callable[[str], dict[str, Any]]
"""Makes the object that a LeanTree file holds of a printed goal."""


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
        """Return the tactics that ran, without those that found nothing left to do."""
        return Step(self.tactic, tuple(child.proof() for child in self.children))


@cache
def library() -> EnvState:
    """Load the library, once per process."""
    state = load_library()
    freeze_gc()
    return state


@cache
def _sweeper() -> Sweeper:
    return Sweeper()


_last_read: dict[str, CommandResult] = {}
"""The text that was read last, and what came of it."""


def read_statement(source: str) -> CommandResult:
    """Run a text over the library; one that is read again at once, as for its key and its proof, is not run again."""
    if source not in _last_read:
        _last_read.clear()
        _sweeper().tidy([library()])
        _last_read[source] = run_text(library(), source)
    return _last_read[source]


def start(source: str) -> TacticState:
    """Open the state before the proof of a theorem whose source holds one `sorry`. Raises `ReplayError`."""
    result = read_statement(source)
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
    """Return whether one of the tactics alone proves the goal."""
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


def tree(root: Node, read_goal: GoalReader) -> dict[str, Any]:
    """Encode the proof as a LeanTree `Tree`."""
    ids = {id(node): number for number, node in enumerate(_walk(root))}
    nodes = [
        {
            "id": ids[id(node)],
            "state": {"goals": [read_goal(node.goal)]},
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


def theorem_record(name: str, source: str, root: Node, read_goal: GoalReader) -> dict[str, Any]:
    """Encode the proof as a LeanTree `Theorem`; `source` is the text of the statement."""
    span = {"start": 0, "finish": len(source)}
    return {"span": span, "name": name, "context": [], "by_blocks": [{"tree": tree(root, read_goal), "span": span}]}


def _walk(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _walk(child)


FINISHERS = ("rfl", "assumption", "contradiction", "decide", "simp", "omega", "grind")
FINISHER_STEPS = 50_000
"""Elementary steps that each may take, a fraction of what a proof may."""


def finisher_of(state: TacticState) -> str | None:
    """Return the first of the finishers that proves the goal alone, None if none does."""
    for tactic in FINISHERS:
        try:
            if not run_tactic(state, tactic, FINISHER_STEPS).state.goals:
                return tactic
        except ProofError:
            continue
    return None


def is_trivial(source: str) -> bool:
    """Return whether a finisher proves the theorem of the source alone. Raises ReplayError if it does not elaborate."""
    return finisher_of(start(source)) is not None


_ADD = "simp [Nat.add_comm, Nat.add_left_comm, Nat.add_assoc]"
_MUL = "simp [Nat.mul_comm, Nat.mul_left_comm, Nat.mul_assoc]"


def strong_proof(problem: Problem, rng: random.Random) -> Step | None:
    """Return a one-tactic proof to try, by the problem's family and its plain proof; None where none is likely."""
    plain = render(problem.proof)
    names = [name for name, _ in problem.hypotheses]
    listed = ", ".join(names)
    options: list[str] = []
    if problem.family == "nat_identity":
        if "Nat.mul_add" in plain or "Nat.add_mul" in plain:
            options.append("simp [Nat.mul_add, Nat.add_mul]")
        options += [text for word, text in (("Nat.add_", _ADD), ("Nat.mul_", _MUL)) if word in plain]
    elif problem.family == "equation":
        options += [f"simp [{listed}]", "simp [*]", "simp_all"]
    elif problem.family == "cancel":
        options += ["simp_all"] if len(names) == 1 else []
    elif names:
        options += ["simp_all", f"simp [{listed}]"]
    return Step(rng.choice(options)) if options else None
