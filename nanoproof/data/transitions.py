"""Transitions (state, tactic, proof depth) from LeanTree JSONL files, and their deterministic split."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nanoproof.common.errors import UserError
from nanoproof.common.files import read_jsonl
from nanoproof.lean.state import ProofState

LEFT_OUT_TACTICS = frozenset({"bound"})
LEFT_OUT_WORDS = ("sorry", "admit")


@dataclass(frozen=True, slots=True)
class Transition:
    """One supervised example: in `state`, `tactic` begins a proof whose longest path has `depth` (>= 1) tactics.

    `state_after` holds the goals that the tactic leaves ("" for none), None where that is not known.
    """

    state: str
    tactic: str
    depth: int
    state_after: str | None = None


def read_transitions(path: Path) -> Iterator[Transition]:
    """Stream the transitions of a LeanTree JSONL file, one file of Lean per line.

    Nodes without a tactic and recorded errors are passed over, and so are tactics with `sorry` or `admit`. Raises
    UserError that names the line and the field where the shape is wrong.
    """
    for transitions in _transitions_by_line(path):
        yield from transitions


def _transitions_by_line(path: Path) -> Iterator[list[Transition]]:
    for number, file in enumerate(read_jsonl(path), start=1):
        try:
            yield list(_file_transitions(file))
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise UserError(f"{path}, line {number}: not LeanTree's shape: {type(error).__name__} {error}") from error


def _file_transitions(file: dict[str, Any]) -> Iterator[Transition]:
    for theorem in file["theorems"]:
        for block in theorem.get("by_blocks", ()):
            tree = block.get("tree", {})
            texts = {node["id"]: str(ProofState.from_wire(node["state"]["goals"])) for node in tree.get("nodes", ())}
            for node in tree.get("nodes", ()):
                edge = node.get("tactic")
                state = texts[node["id"]]
                if edge is None or not state or not _is_wanted(edge["tactic_string"]):
                    continue
                after = _state_after(edge.get("children"), texts)
                yield Transition(state, edge["tactic_string"].strip(), int(node["proof_depth"]), after)


def _state_after(children: list[int] | None, texts: dict[int, str]) -> str | None:
    """The goals of all children; None if the file does not say which they are, or a child is missing."""
    if children is None or any(child not in texts for child in children):
        return None
    return "\n\n".join(text for child in children if (text := texts[child]))


def _is_wanted(tactic: str) -> bool:
    stripped = tactic.strip()
    return bool(stripped) and stripped not in LEFT_OUT_TACTICS and not any(word in stripped for word in LEFT_OUT_WORDS)


def load_split(path: Path, valid_fraction: float = 0.1) -> tuple[list[Transition], list[Transition]]:
    """Training and validation transitions: the last `valid_fraction` of the file's lines are for validation.

    Raises UserError as `read_transitions` does, and if there is nothing to train on.
    """
    lines = sum(1 for _ in read_jsonl(path))
    first_valid = lines - int(lines * valid_fraction)
    train: list[Transition] = []
    valid: list[Transition] = []
    for number, transitions in enumerate(_transitions_by_line(path)):
        (train if number < first_valid else valid).extend(transitions)
    if not train:
        raise UserError(f"{path} holds no transitions")
    return train, valid
