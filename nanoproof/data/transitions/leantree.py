"""Transitions (state, tactic, proof depth) from LeanTree JSONL files, and their deterministic split.

What is recorded as an error, and tactics that are not to be learned, are left out and counted. A record of another
shape raises `ShapeError`, which names the field.
"""

import json
import re
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar, overload

from nanoproof.common.errors import UserError
from nanoproof.lean.types import ProofState, ProtocolError, Transition

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


# -- Transitions (state, tactic, proof depth) from LeanTree JSONL files, and their deterministic split ---------------

VALID_FRACTION = 0.1


class _Texts:
    """Texts one behind another as UTF-8; those of the present file of Lean are kept once."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._ends = array("Q", [0])
        self._known: dict[str, int] = {}

    def forget(self) -> None:
        """From now on texts are new again."""
        self._known.clear()

    def add(self, text: str) -> int:
        """The number of a text."""
        number = self._known.get(text)
        if number is None:
            number = self._known[text] = len(self._ends) - 1
            self._bytes += text.encode("utf-8", "surrogatepass")
            self._ends.append(len(self._bytes))
        return number

    def __getitem__(self, number: int) -> str:
        return self._bytes[self._ends[number] : self._ends[number + 1]].decode("utf-8", "surrogatepass")

    @property
    def size(self) -> int:
        """Bytes in all."""
        return len(self._bytes)


_UNKNOWN = 2**32 - 1


class _Store:
    """The transitions of a file as numbers of texts."""

    def __init__(self) -> None:
        self.texts = _Texts()
        self.states, self.tactics, self.depths = array("I"), array("I"), array("I")
        self.children = array("I")
        self.children_ends = array("Q", [0])
        self.paths: list[str] = []
        self.path_of = array("I")

    def begin_file(self, path: str) -> None:
        self.texts.forget()
        self.paths.append(path)

    def add(self, step: ProofStep) -> None:
        self.states.append(self.texts.add(step.state))
        self.tactics.append(self.texts.add(step.tactic))
        self.depths.append(step.depth)
        self.children.extend([_UNKNOWN] if step.children is None else map(self.texts.add, step.children))
        self.children_ends.append(len(self.children))
        self.path_of.append(len(self.paths) - 1)

    def __getitem__(self, index: int) -> Transition:
        texts = self.texts
        children = self.children[self.children_ends[index] : self.children_ends[index + 1]]
        known = _UNKNOWN not in children
        after = "\n\n".join(texts[child] for child in children) if known else None
        return Transition(texts[self.states[index]], texts[self.tactics[index]], self.depths[index], after)


class TransitionList(Sequence[Transition]):
    """Transitions in little memory, made when they are asked for; parts of one list share what they hold.

    `left_out` counts what the file has besides, by reason.
    """

    def __init__(self, store: _Store, indices: Sequence[int], left_out: Counter[str] | None = None) -> None:
        self._store, self._indices = store, indices
        self.left_out = left_out or Counter()

    def __len__(self) -> int:
        return len(self._indices)

    @overload
    def __getitem__(self, index: int) -> Transition: ...
    @overload
    def __getitem__(self, index: slice) -> "TransitionList": ...
    def __getitem__(self, index: int | slice) -> "Transition | TransitionList":
        if isinstance(index, slice):
            return TransitionList(self._store, self._indices[index], self.left_out)
        return self._store[self._indices[index]]

    def select(self, places: Sequence[int]) -> "TransitionList":
        """Those at the given places."""
        return TransitionList(self._store, array("I", (self._indices[place] for place in places)), self.left_out)

    def path(self, place: int) -> str:
        """The file of Lean that a transition is from."""
        return self._store.paths[self._store.path_of[self._indices[place]]]


def select(transitions: Sequence[Transition], places: Sequence[int]) -> Sequence[Transition]:
    """The transitions at the given places, as compact as they were."""
    if isinstance(transitions, TransitionList):
        return transitions.select(places)
    return [transitions[place] for place in places]


def read_transitions(path: Path) -> Iterator[Transition]:
    """Stream the transitions of a LeanTree JSONL file, one file of Lean per line.

    Raises UserError that names the line and the field where the shape is wrong. What is left out: `load_split`.
    """
    left_out: Counter[str] = Counter()
    for _, steps in _files(path, left_out):
        for step in steps:
            after = None if step.children is None else "\n\n".join(step.children)
            yield Transition(step.state, step.tactic, step.depth, after)


def load_split(path: Path, valid_fraction: float = VALID_FRACTION) -> tuple[TransitionList, TransitionList]:
    """Training and validation transitions: the last `valid_fraction` of the file's lines are for validation.

    Left out and counted are recorded errors, tactics that use `sorry` or `admit`, and the tactic `bound`. Raises
    UserError as `read_transitions` does, and if there is nothing to train on.
    """
    lines, first_valid = split_lines(path, valid_fraction)
    store = _Store()
    counts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    left_out: Counter[str] = Counter()
    first = 0
    for number, (name, steps) in enumerate(_files(path, left_out)):
        store.begin_file(name)
        for step in steps:
            store.add(step)
        counts[number >= first_valid].update(left_out)
        left_out.clear()
        if number < first_valid:
            first = len(store.depths)
    store.texts.forget()
    if not first:
        reasons = "".join(f"; left out: {count} x {reason}" for reason, count in counts[0].items())
        raise UserError(f"{path} holds no transitions to train on in its first {first_valid} of {lines} lines{reasons}")
    places = range(len(store.depths))
    return TransitionList(store, places[:first], counts[0]), TransitionList(store, places[first:], counts[1])


def split_lines(path: Path, valid_fraction: float = VALID_FRACTION) -> tuple[int, int]:
    """How many lines that are not empty a file has, and how many of these, the first ones, are for training."""
    lines = sum(1 for _ in _lines(path))
    return lines, lines - int(lines * valid_fraction)


def _files(path: Path, left_out: Counter[str]) -> Iterator[tuple[str, list[ProofStep]]]:
    """Name and steps of each file of Lean."""
    for number, line in _lines(path):
        try:
            record = json.loads(line)
            yield _name(record), list(proof_steps(record, left_out))
        except ShapeError as error:
            raise UserError(f"{path}, line {number}: not LeanTree's shape: {error}") from None
        except ValueError as error:
            raise UserError(f"{path}, line {number}: not valid JSON: {error}") from None


def _name(record: Any) -> str:
    name = record.get("path") if isinstance(record, dict) else None
    return name if isinstance(name, str) else ""


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines that are not empty, numbered from 1. Raises UserError if the file cannot be read."""
    try:
        with open(path, "rb") as file:
            yield from ((number, line) for number, line in enumerate(file, start=1) if line.strip())
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
