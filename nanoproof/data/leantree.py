"""The steps of proofs in a record of LeanTree JSONL: one file of Lean, its theorems, their trees of tactics.

What is recorded as an error, and tactics that are not to be learned, are left out and counted. A record of another
shape raises `ShapeError`, which names the field.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeVar

from nanoproof.lean.errors import ProtocolError
from nanoproof.lean.state import ProofState

T = TypeVar("T")
_GIVES_UP = re.compile(r"(?<![\w.'])(?:sorry|admit)(?![\w'])")
_BOUND = re.compile(r"bound(?![\w.'])")


class ShapeError(ValueError):
    """A record that is not LeanTree's: what is wrong, and in which field."""

    def __init__(self, problem: str) -> None:
        self.problem, self.field = problem, ""

    def within(self, outer: str) -> "ShapeError":
        """The same error seen from further out."""
        self.field = f"{outer}.{self.field}" if self.field else outer
        return self

    def __str__(self) -> str:
        return f"{self.field}: {self.problem}" if self.field else self.problem


@dataclass(frozen=True, slots=True)
class ProofStep:
    """A state as text, the tactic used there, the longest path from here, and the states of the children."""

    state: str
    tactic: str
    depth: int
    children: tuple[str, ...] | None
    """None where the record does not say what the tactic left."""


def proof_steps(record: Any, left_out: Counter[str]) -> Iterator[ProofStep]:
    """The steps of all proofs of a file, in order; why others are left out is counted in `left_out`."""
    for number, theorem in enumerate(_get(record, "theorems", list)):
        try:
            if _is_error(theorem):
                left_out["a theorem that LeanTree could not read"] += 1
                continue
            yield from _theorem_steps(theorem, left_out)
        except ShapeError as error:
            raise error.within(f"theorems[{number}]") from None


def stated(theorem: Any) -> str | None:
    """What stands between a theorem's name and its proof, made of its first goal; None without a proof to read it from.

    Hidden names are in it as Lean prints them.
    """
    try:
        tree = theorem["by_blocks"][0]["tree"]
        root = next(node for node in tree["nodes"] if node["id"] == tree["root_id"])
        goal = root["state"]["goals"][0]
        by_type = groupby(goal["hypotheses"], lambda hypothesis: hypothesis["type"])
        binders = [f"({' '.join(each['user_name'] for each in group)} : {kind})" for kind, group in by_type]
        return " ".join([*binders, ":", goal["type"]])
    except (KeyError, IndexError, StopIteration, TypeError, AttributeError):
        return None


def _theorem_steps(theorem: Any, left_out: Counter[str]) -> Iterator[ProofStep]:
    for number, block in enumerate(_get(theorem, "by_blocks", list, missing=[])):
        try:
            if _is_error(block) or _is_error(_get(block, "tree", dict)):
                left_out["a proof that LeanTree could not read"] += 1
                continue
            yield from _tree_steps(_get(_get(block, "tree", dict), "nodes", list), left_out)
        except ShapeError as error:
            raise error.within(f"by_blocks[{number}]") from None


def _tree_steps(nodes: list[Any], left_out: Counter[str]) -> Iterator[ProofStep]:
    """The steps of one tree; all texts are made before, so that each node can show its children."""
    texts: dict[Any, str] = {}
    for number, node in enumerate(nodes):
        try:
            texts[_get(node, "id", (int, str))] = _state_text(node)
        except ShapeError as error:
            raise error.within(f"tree.nodes[{number}]") from None
    for number, node in enumerate(nodes):
        try:
            edge = _get(node, "tactic", dict, missing=None)
            step = None if edge is None else _step(node, edge, texts)
        except ShapeError as error:
            raise error.within(f"tree.nodes[{number}]") from None
        if step is None:
            continue  # where a branch ends
        if (reason := _left_out(step)) is None:
            yield step
        else:
            left_out[reason] += 1


def _state_text(node: Any) -> str:
    try:
        return ProofState.from_wire(_get(_get(node, "state", dict), "goals", list)).text
    except ProtocolError as error:
        raise ShapeError(str(error)).within("state.goals") from None


def _step(node: Any, edge: dict[str, Any], texts: dict[Any, str]) -> ProofStep:
    try:
        tactic = _get(edge, "tactic_string", str).strip()
        children = _get(edge, "children", list, missing=None)
    except ShapeError as error:
        raise error.within("tactic") from None
    depth = _get(node, "proof_depth", int)
    if depth < 1:
        raise ShapeError(f"expected a number of tactics, at least 1, got {depth}").within("proof_depth")
    known = children is not None and all(isinstance(child, (int, str)) and child in texts for child in children)
    after = tuple(filter(None, (texts[child] for child in children))) if known and children is not None else None
    return ProofStep(texts[node["id"]], tactic, depth, after)


def _left_out(step: ProofStep) -> str | None:
    """Why a step is not to be learned; None if it is."""
    if not step.state:
        return "a tactic without a goal"
    if not step.tactic:
        return "an empty tactic"
    if _GIVES_UP.search(step.tactic):
        return "sorry or admit"
    return "the tactic bound" if _BOUND.match(step.tactic) else None


def _is_error(value: Any) -> bool:
    """Whether something stands there as an error only."""
    return isinstance(value, dict) and "error" in value


_REQUIRED: Any = object()


def _get(value: Any, name: str, kind: type[T] | tuple[type, ...], missing: Any = _REQUIRED) -> Any:
    """The field of an object, of the type that it must have; `missing` where it is not there or null."""
    if not isinstance(value, dict):
        raise ShapeError(f"expected an object, got {_brief(value)}")
    found = value.get(name)
    if found is None and missing is not _REQUIRED:
        return missing
    if not isinstance(found, kind) or isinstance(found, bool):
        what = "is missing" if name not in value else f"has another type: {_brief(found)}"
        raise ShapeError(what).within(name)
    return found


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
