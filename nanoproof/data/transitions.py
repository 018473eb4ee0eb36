"""Transitions (state, tactic, proof depth) from LeanTree JSONL files, and their deterministic split."""

import json
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

from nanoproof.common.errors import UserError
from nanoproof.data.leantree import ProofStep, ShapeError, proof_steps

VALID_FRACTION = 0.1


@dataclass(frozen=True, slots=True)
class Transition:
    """One supervised example: in `state`, `tactic` begins a proof whose longest path has `depth` (>= 1) tactics.

    `state_after` holds the goals that the tactic leaves ("" for none), None where that is not known.
    """

    state: str
    tactic: str
    depth: int
    state_after: str | None = None


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
