"""What a command answers: messages with places, and the goals that `sorry` left."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from nanolean.elab.session import Note
from nanolean.env_state import EnvState
from nanolean.kernel.declaration import OpaqueDecl
from nanolean.tactic_state import StepRecord, TacticState


class LineMap:
    """Turns offsets into lines (from 1) and columns (from 0, in characters)."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1]

    def offset(self, line: int, column: int) -> int:
        """The offset of a line and column."""
        return self._starts[min(line, len(self._starts)) - 1] + column


@dataclass(frozen=True)
class Message:
    """Severity "error", "warning" or "info", a text, and the offsets that it is about."""

    severity: str
    text: str
    pos: int
    end: int


@dataclass(frozen=True)
class SorryGoal:
    """A `sorry` in the text and the state in which its goal can be proved."""

    pos: int
    end: int
    goal: str
    state: TacticState


@dataclass
class CommandResult:
    """The environment after one or more commands, and what they had to say."""

    state: EnvState
    messages: list[Message] = field(default_factory=list)
    sorries: list[SorryGoal] = field(default_factory=list)
    roots: list[SorryGoal] = field(default_factory=list)
    """The goals of the outermost `by` blocks, if `watch` asks for them."""
    steps: list[StepRecord] = field(default_factory=list)
    """The tactics that ran, if `watch` asks for them."""
    examples: list[OpaqueDecl] = field(default_factory=list)
    """What `example`s have shown; the environment does not keep them."""
    watch: bool = False

    @property
    def has_errors(self) -> bool:
        """Whether some message is an error."""
        return any(message.severity == "error" for message in self.messages)

    def say_notes(self, notes: Sequence[Note]) -> None:
        """Add what elaboration had to tell: messages as they came, then the traces of each place as one message."""
        traces: dict[tuple[int, int], list[str]] = {}
        for note in notes:
            if note.severity == "trace":
                traces.setdefault((note.pos, note.end), []).append(note.text)
            else:
                self.say(note.severity, note.text, note.pos, note.end)
        for (pos, end), texts in sorted(traces.items()):
            self.say("info", "\n".join(texts), pos, end)

    def say(self, severity: str, text: str, pos: int, end: int) -> None:
        """Add a message."""
        self.messages.append(Message(severity, text, pos, end))
