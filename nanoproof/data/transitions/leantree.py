"""Transitions (state, tactic, proof depth) from LeanTree JSONL files, and their deterministic split.

    train, valid = load_split(path)
    train[0].state, train[0].tactic, train[0].depth

A line of such a file is the record of a Lean file: its theorems, their `by` blocks, and each block's tree of states and
tactics. What is recorded as an error, and tactics that are not to be learned, are left out and counted. A record of
another shape raises `ShapeError`, which names the field.
"""

import re
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, repeat
from operator import add, itemgetter
from pathlib import Path
from typing import Any, TypeVar, overload

from nanoproof.common.errors import UserError, cannot
from nanoproof.common.files import HALF_CHARACTER, lone_surrogate, parse_json
from nanoproof.lean.types import ProofState, ProtocolError, Transition, parse_goal

T = TypeVar("T")

VALID_FRACTION = 0.1
"""Share of a file's lines, the last ones, that are for validation."""

_GIVES_UP = re.compile(r"(?<![\w.'])(?:sorry|sorryAx|admit)(?![\w'])|\Astop(?![\w.'])")
# A tactic of Mathlib; `bound_div` and `bound.1` are names.
_BOUND = re.compile(r"bound(?![\w.'])")
_REQUIRED: Any = object()  # None is what some missing fields stand for
_UNKNOWN = 2**32 - 1
"""Stands for the children of a transition whose record does not name them; numbers of steps are smaller."""


# -- Records of LeanTree ---------------------------------------------------------------------------------------------


class ShapeError(ValueError):
    """A record that is not LeanTree's: the problem, and the path of the field."""

    def __init__(self, problem: str) -> None:
        self.problem, self.field = problem, ""

    def within(self, outer: str) -> "ShapeError":
        """Prepend an outer field to the path of the field."""
        self.field = ".".join(filter(None, (outer, self.field)))
        return self

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.field, self.problem)))


@dataclass(frozen=True, slots=True)
class ProofStep:
    """A state as text, the tactic used there, the longest path from there, and the states of the children."""

    state: str
    tactic: str
    depth: int
    children: tuple[str, ...] | None
    """None where the record does not tell which goals the tactic left."""


def proof_steps(record: Any, left_out: Counter[str]) -> Iterator[ProofStep]:
    """Yield the steps of all proofs of a record, in order; `left_out` counts what is left out, by reason."""
    for number, theorem in enumerate(_get(record, "theorems", list)):
        try:
            if _is_error(theorem):
                left_out["a theorem that LeanTree could not read"] += 1
                continue
            yield from _theorem_steps(theorem, left_out)
        except ShapeError as error:
            raise error.within(f"theorems[{number}]") from None


def first_goal_statement(theorem: Any) -> str | None:
    """Write the first goal of a theorem's record as a statement, `(x : ℕ) : x = x`; None without a tactic proof.

    Inaccessible names are in it as Lean prints them.
    """
    try:
        tree = theorem["by_blocks"][0]["tree"]
        root = next(node for node in tree["nodes"] if node["id"] == tree["root_id"])
        goal = root["state"]["goals"][0]
        binders = []
        for kind, group in groupby(goal["hypotheses"], itemgetter("type")):
            names = " ".join(map(itemgetter("user_name"), group))
            binders.append(f"({names} : {kind})")
        return " ".join([*binders, ":", goal["type"]])
    except (KeyError, IndexError, StopIteration, TypeError, AttributeError):
        return None


# -- Whole proofs ----------------------------------------------------------------------------------------------------


def statement_prompt(statement: str) -> str:
    """Write the text before a whole proof for a statement `(x : ℕ) : x = x`: without a name, on one line."""
    return f"theorem {' '.join(statement.split())} := by"


def whole_proofs(record: Any) -> Iterator[Transition]:
    """Yield the whole proofs of a record: the state is a statement, the tactic the text of its proof.

    Left out are those with a step that `proof_steps` leaves out, or whose record does not say which goals a step
    leaves. What several steps at once leave to prove is written below `·`, in the order of the goals.
    """
    for theorem in _list_in(record, "theorems"):
        statement = first_goal_statement(theorem)
        if statement is None:
            continue
        try:
            root, nodes = _root_and_nodes(theorem["by_blocks"][0])
            lines = _proof_lines(root, nodes)
            depth = root["proof_depth"]
        except (KeyError, IndexError, TypeError, AttributeError, RecursionError):
            continue
        # A name with a dagger cannot be written, so no Lean would read the statement.
        if lines is not None and isinstance(depth, int) and depth >= 1 and "✝" not in statement:
            yield Transition(statement_prompt(statement), "\n".join(lines), depth)


def _root_and_nodes(block: Any) -> tuple[dict[str, Any], dict[Any, dict[str, Any]]]:
    """Return the root of a block's tree, and all of its nodes by their ids."""
    tree = block["tree"]
    nodes = {node["id"]: node for node in tree["nodes"]}
    return nodes[tree["root_id"]], nodes


def _list_in(value: Any, field: str) -> list[Any]:
    """Return the list in a field; an empty one where there is none."""
    return list(value[field]) if isinstance(value, dict) and isinstance(value.get(field), list) else []


def steps_after(record: Any) -> Iterator[tuple[Transition, tuple[str, ...]]]:
    """Yield each step of a record's proofs that is to be learned, with the tactics on the way from the root to it.

    Proofs of another shape, and what LeanTree recorded as an error, are left out.
    """
    for theorem in _list_in(record, "theorems"):
        for block in _list_in(theorem, "by_blocks"):
            try:
                steps = list(_steps_below(*_root_and_nodes(block)))
            except (KeyError, IndexError, TypeError, AttributeError, ProtocolError):
                continue
            yield from steps


def _steps_below(
    root: dict[str, Any], nodes: dict[Any, dict[str, Any]]
) -> Iterator[tuple[Transition, tuple[str, ...]]]:
    waiting: list[tuple[dict[str, Any], tuple[str, ...]]] = [(root, ())]
    seen: set[Any] = set()
    while waiting:
        node, before = waiting.pop()
        edge = node.get("tactic")
        if edge is None or node["id"] in seen:
            continue
        seen.add(node["id"])
        state, tactic = ProofState.from_wire(node["state"]["goals"]).text, edge["tactic_string"].strip()
        depth = node["proof_depth"]
        if not isinstance(depth, int):  # JSON of Python's has NaN too
            raise TypeError(f"proof_depth is {depth!r}")
        if _left_out(ProofStep(state, tactic, depth, None)) is None and depth >= 1:
            yield Transition(state, tactic, depth), before
        waiting += [(nodes[child], (*before, tactic)) for child in reversed(edge.get("children") or ())]


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """A step of a recorded proof: its state, its tactic, and how many goals to prove that leaves."""

    state: ProofState
    tactic: str
    branches: int


@dataclass(frozen=True, slots=True)
class RecordedProof:
    """A whole proof: a step, then the proof of the first goal that it leaves, then that of the second.

    `context` are the commands before the theorem that its text depends on, such as `open Nat`.
    """

    name: str
    context: tuple[str, ...]
    steps: tuple[RecordedStep, ...]


def recorded_proofs(record: Any) -> Iterator[RecordedProof]:
    """Yield the proofs of a record, but those with a step that is not to be learned or whose goals are not known."""
    for theorem in _list_in(record, "theorems"):
        context = tuple(line for line in _list_in(theorem, "context") if isinstance(line, str))
        for block in _list_in(theorem, "by_blocks"):
            try:
                steps = _steps_in_order(*_root_and_nodes(block))
                name = theorem["name"]
            except (KeyError, IndexError, TypeError, AttributeError, ProtocolError):
                continue
            if steps is not None and isinstance(name, str):
                yield RecordedProof(name, context, steps)


def _steps_in_order(root: dict[str, Any], nodes: dict[Any, dict[str, Any]]) -> tuple[RecordedStep, ...] | None:
    """Return all steps from a node on; None where one cannot be used, or where the record is no tree."""
    steps: list[RecordedStep] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        edge = node["tactic"]
        state, tactic = ProofState.from_wire(node["state"]["goals"]), edge["tactic_string"].strip()
        # A node that is met twice would be walked for ever.
        if _left_out(ProofStep(state.text, tactic, 1, None)) is not None or len(steps) >= len(nodes):
            return None
        # Some tracers record a node without goals where a branch ends.
        below = [nodes[child] for child in edge["children"] if nodes[child]["state"]["goals"]]
        steps.append(RecordedStep(state, tactic, len(below)))
        waiting += reversed(below)
    return tuple(steps)


def _proof_lines(node: dict[str, Any], nodes: dict[Any, dict[str, Any]]) -> list[str] | None:
    """Write the proof from a node on; None if a step is not to be learned, or what it leaves is not known."""
    edge = node["tactic"]
    step = ProofStep("a state", edge["tactic_string"].strip(), 1, None)
    if _left_out(step) is not None or not isinstance(edge.get("children"), list):
        return None
    lines = step.tactic.split("\n")
    # Some tracers record a node without goals where a branch ends.
    children = [child for child in edge["children"] if nodes[child]["state"]["goals"]]
    for child in children:
        part = _proof_lines(nodes[child], nodes)
        if part is None:
            return None
        if len(children) > 1:
            part = list(map(add, chain(["· "], repeat("  ")), part))
        lines += part
    return lines


def goal_object(text: str) -> dict[str, Any]:
    """Convert a printed goal to the object that LeanTree's files hold."""
    return parse_goal(text).to_wire()


def _text_in(value: Any, field: str) -> str:
    """Return the text in a field; an empty one where there is none."""
    return str(value[field]) if isinstance(value, dict) and isinstance(value.get(field), str) else ""


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
    """Yield the steps of one tree; all states are made before, so that each node can refer to its children."""
    texts: dict[Any, str] = {}
    for number, node in enumerate(nodes):
        try:
            texts[_get(node, "id", (int, str))] = _state_text(node)
        except ShapeError as error:
            raise error.within(f"tree.nodes[{number}]") from None
    steps: list[tuple[Any, ProofStep, list[Any]]] = []
    for number, node in enumerate(nodes):
        try:
            edge = _get(node, "tactic", dict, missing=None)
            if edge is None:
                continue  # where a branch ends
            step = _step(node, edge, texts)
        except ShapeError as error:
            raise error.within(f"tree.nodes[{number}]") from None
        steps.append((node["id"], step, [] if step.children is None else edge["children"]))
    unproved = _unproved(steps)
    for node_id, step, _ in steps:
        reason = _left_out(step)
        if reason is None and node_id in unproved:
            reason = "a tactic that leads to sorry or admit"
        if reason is None:
            yield step
        else:
            left_out[reason] += 1


def _unproved(steps: Sequence[tuple[Any, ProofStep, list[Any]]]) -> set[Any]:
    """Return the nodes from which a proof goes on to a `sorry`: it does not tell how many tactics they need, if any do.

    `steps` are with the numbers of their nodes and of the children.
    """
    found: set[Any] = set()
    more = {node_id for node_id, step, _ in steps if _GIVES_UP.search(step.tactic)}
    while more:
        found |= more
        more = {node_id for node_id, _, children in steps if not found.isdisjoint(children)} - found
    return found


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
    if not 1 <= depth < _UNKNOWN:
        raise ShapeError(f"expected a number of tactics, at least 1, got {str(depth)[:20]}").within("proof_depth")
    after = None
    if children is not None and all(isinstance(child, (int, str)) and child in texts for child in children):
        after = tuple(filter(None, map(texts.__getitem__, children)))
    return ProofStep(texts[node["id"]], tactic, depth, after)


def _left_out(step: ProofStep) -> str | None:
    """Return the reason why a step is not to be learned; None if it is."""
    if not step.state:
        return "a tactic without a goal"
    if not step.tactic:
        return "an empty tactic"
    if _GIVES_UP.search(step.tactic):
        return "sorry or admit"
    return "the tactic bound" if _BOUND.match(step.tactic) else None


def _is_error(value: Any) -> bool:
    """Return whether LeanTree recorded an error in place of a value."""
    return isinstance(value, dict) and "error" in value


def _get(value: Any, name: str, kind: type[T] | tuple[type, ...], missing: Any = _REQUIRED) -> Any:
    """Return the field of an object and check its type; `missing` where it is absent or null."""
    if not isinstance(value, dict):
        raise ShapeError(f"expected an object, got {_brief(value)}")
    inner = value.get(name)
    if inner is None and missing is not _REQUIRED:
        return missing
    if name not in value:
        raise ShapeError("is missing").within(name)
    # True and False are integers to Python.
    if not isinstance(inner, kind) or isinstance(inner, bool):
        raise ShapeError(f"has another type: {_brief(inner)}").within(name)
    return inner


def _brief(value: Any) -> str:
    text = repr(value)
    return text[:77] + "..." if len(text) > 80 else text


# -- Lists of transitions --------------------------------------------------------------------------------------------


# All steps of Mathlib are in memory at once: as objects of Python they would take several times as much.


class _Texts:
    """Texts by number, in one UTF-8 buffer; equal texts of the same Lean file are stored once."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._ends = array("Q", [0])  # more than 4 GB of text have a place
        self._known: dict[str, int] = {}

    def forget(self) -> None:
        """End the present Lean file: later texts are not compared with earlier ones."""
        # Most repetitions are within a file, and a dictionary of all texts would hold them a second time.
        self._known.clear()

    def add(self, text: str) -> int:
        """Store a text and return its number."""
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
        """Return the bytes of all texts."""
        return len(self._bytes)


class _Store:
    """The transitions of a file in columns, with texts as numbers."""

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
        if step.children is None:
            self.children.append(_UNKNOWN)
        else:
            self.children.extend(map(self.texts.add, step.children))
        self.children_ends.append(len(self.children))
        self.path_of.append(len(self.paths) - 1)

    def __getitem__(self, index: int) -> Transition:
        texts = self.texts
        children = self.children[self.children_ends[index] : self.children_ends[index + 1]]
        after = "\n\n".join(texts[child] for child in children) if _UNKNOWN not in children else None
        return Transition(texts[self.states[index]], texts[self.tactics[index]], self.depths[index], after)


class TransitionList(Sequence[Transition]):
    """Transitions in compact memory, created when they are accessed; slices of a list share its memory.

    `left_out` counts the steps of the file that are left out, by reason.
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

    def select(self, indices: Sequence[int]) -> "TransitionList":
        """Return the transitions at the given indices as a compact list."""
        return TransitionList(self._store, array("I", (self._indices[index] for index in indices)), self.left_out)

    def path(self, index: int) -> str:
        """Return the path of the Lean file that a transition is from."""
        return self._store.paths[self._store.path_of[self._indices[index]]]


def select(transitions: Sequence[Transition], indices: Sequence[int]) -> Sequence[Transition]:
    """Return the transitions at the given indices; a compact list remains one."""
    if isinstance(transitions, TransitionList):
        return transitions.select(indices)
    return [transitions[index] for index in indices]


def read_transitions(path: Path) -> Iterator[Transition]:
    """Stream the transitions of a LeanTree JSONL file, one Lean file per line, without what `load_split` leaves out.

    Raises UserError that names the line and the field where the shape is wrong.
    """
    left_out: Counter[str] = Counter()
    for _, steps in _files(path, left_out):
        for step in steps:
            after = "\n\n".join(step.children) if step.children is not None else None
            yield Transition(step.state, step.tactic, step.depth, after)


def load_split(path: Path, valid_fraction: float = VALID_FRACTION) -> tuple[TransitionList, TransitionList]:
    """Load training and validation transitions: the last `valid_fraction` of the file's lines are for validation.

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
    indices = range(len(store.depths))
    return TransitionList(store, indices[:first], counts[0]), TransitionList(store, indices[first:], counts[1])


def split_proofs(path: Path, valid_fraction: float = VALID_FRACTION) -> tuple[list[Transition], list[Transition]]:
    """Load whole proofs to train on and to validate, split as `load_split` does: the state is a statement.

    Raises UserError as `read_transitions` does.
    """
    _, first_valid = split_lines(path, valid_fraction)
    train_and_valid: tuple[list[Transition], list[Transition]] = ([], [])
    for number, (_, record) in enumerate(records(path)):
        train_and_valid[number >= first_valid].extend(whole_proofs(record))
    return train_and_valid


def read_steps_after(path: Path, valid: bool) -> Iterator[tuple[Transition, tuple[str, ...]]]:
    """Stream `steps_after` of the lines of a file that are for training, or of those that are for validation."""
    _, first_valid = split_lines(path)
    for number, (_, record) in enumerate(records(path)):
        if (number >= first_valid) == valid:
            yield from steps_after(record)


def split_lines(path: Path, valid_fraction: float = VALID_FRACTION) -> tuple[int, int]:
    """Count the lines of a file that are not empty, and those of them, the first ones, that are for training."""
    lines = sum(1 for _ in _lines(path))
    return lines, lines - int(lines * valid_fraction)


def _files(path: Path, left_out: Counter[str]) -> Iterator[tuple[str, list[ProofStep]]]:
    """Yield path and steps of each Lean file."""
    for number, record in records(path):
        try:
            yield _text_in(record, "path"), list(proof_steps(record, left_out))
        except ShapeError as error:
            problem = f"not LeanTree's shape: {error}"
            if isinstance(record, dict) and "prompt" in record:
                problem = "rows of `prompt` and `target` are read from a JSON list, in a file that ends in .json"
            raise UserError(f"{path}, line {number}: {problem}") from None


def records(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield line number and record of each Lean file. Raises UserError for what is no JSON or Unicode."""
    for number, line in _lines(path):
        try:
            record = parse_json(line)
        except ValueError as error:
            raise UserError(f"{path}, line {number}: not valid JSON: {error}") from None
        # Few files have such an escape, and only their records are walked through.
        if HALF_CHARACTER.search(line) and (field := lone_surrogate(record)) is not None:
            raise UserError(f"{path}, line {number}: `{field}` is not Unicode: it has a lone surrogate")
        yield number, record


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not empty, numbered from 1. Raises UserError if the file cannot be read."""
    with cannot(f"read {path}"), open(path, "rb") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield number, line
