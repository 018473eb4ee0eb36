"""Where a stage's transitions come from."""

from pathlib import Path

from nanoproof.data.nanolean import transitions_file
from nanoproof.data.transitions import Transition, load_split


def load_transitions(name: str) -> tuple[list[Transition], list[Transition]]:
    """Training and validation transitions: `nanolean` (made on first use), or a file of LeanTree JSONL."""
    return load_split(transitions_file() if name == "nanolean" else Path(name))
