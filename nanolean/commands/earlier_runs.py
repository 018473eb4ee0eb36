"""`EarlierRuns`: a text that begins as an earlier one is run from where the two part, as Lean's language server does.

Who proves the theorems of a file one by one has all that comes before each checked again, several times: without this
the time for n theorems grows with the square of n. What a command does is a function of the state before it, which is
an immutable value, and of its own text; so what it did then is what it would do now.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from nanolean.commands.messages import CommandResult, Message, SorryGoal
from nanolean.env_state import EnvState
from nanolean.meta.store import Caches
from nanolean.parser import CommandParser

MOST_RUNS = 4
"""Texts that are remembered: a file with axioms in the place of its open `sorry`s is one, as it stands another one."""
MOST_PLACES = 1000
"""Places of a text at which one may go on. Each holds a table of all constants, some 50 kB."""


class Place(NamedTuple):
    """The begin of a command: where its first token begins and ends, and what was known there.

    `messages` and `sorries` count those of the commands before it.
    """

    begin: int
    token_end: int
    state: EnvState
    messages: int
    sorries: int


@dataclass
class Run:
    """A text that is run over a state: what it says so far, and the places before its commands.

    `lacks_library` is whether it has an import of a library in a comment, wherever that is.
    """

    state: EnvState
    text: str
    lacks_library: bool
    messages: list[Message]
    sorries: list[SorryGoal]
    places: list[Place] = field(default_factory=list)

    @classmethod
    def of(cls, state: EnvState, result: CommandResult) -> Run:
        """Make the run of a text over a state of which nothing but its header was read."""
        return cls(state, result.text, result.state is not state, result.messages, result.sorries)

    def note(self, parser: CommandParser, result: CommandResult) -> None:
        """Note the place before the command that a parser has just read."""
        begin, token_end = parser.starts[parser.begun], parser.ends[parser.begun]
        # A word behind a dot (`.theorem`) is a token of its own only where the parser has taken the two apart.
        if len(self.places) < MOST_PLACES and self.text[begin - 1 : begin] != ".":
            state = without_caches(result.state)
            self.places.append(Place(begin, token_end, state, len(self.messages), len(self.sorries)))

    def shared_with(self, other: Run) -> int:
        """Count the commands at the beginning of two texts that are the same, and end at the same place.

        Where a command ends, the next one may decide. So the last that the texts share does not count, nor does one
        behind which they do not share another one and the first token of a third.
        """
        if other.state is not self.state or other.lacks_library != self.lacks_library:
            return 0
        # Whole lines: what follows on a line may decide what a token is, as the `»` of `«theorem»`.
        shared = self.text.rfind("\n", 0, _common_length(self.text, other.text)) + 1
        ends = [place.token_end for place in other.places]
        return max(0, bisect_left(ends, shared) - 2)


class EarlierRuns:
    """The last few texts that were run, the newest last. Not for texts whose tactics or declarations are asked for."""

    def __init__(self) -> None:
        self._runs: list[Run] = []

    def resume(self, run: Run, code: str, result: CommandResult) -> CommandParser:
        """Give a result what its text's commands did that an earlier one began with; return the parser of the rest.

        `code` is the text without its header. The run is remembered, in place of the one that it goes on from if it
        shares most of that.
        """
        count, earlier = 0, run
        for other in self._runs:
            shared = run.shared_with(other)
            if shared > count:
                count, earlier = shared, other
        if count and 2 * count >= len(earlier.places):
            self._runs.remove(earlier)
        self._runs = [*self._runs, run][-MOST_RUNS:]
        if not count:
            return CommandParser(code)
        before, place = earlier.places[count - 1], earlier.places[count]
        run.places = earlier.places[:count]
        run.messages[:] = earlier.messages[: place.messages]
        run.sorries[:] = earlier.sorries[: place.sorries]
        result.state = without_caches(place.state)
        # From the command before on: what may begin a command can depend on what precedes it.
        parser = CommandParser(code, before.begin)
        parser.i = bisect_left(parser.starts, place.begin)
        return parser


def _common_length(text: str, other: str) -> int:
    """Return how many characters two texts begin with alike."""
    # By halves, as comparing slices takes no step of Python for each character.
    low, high = 0, min(len(text), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if text[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def without_caches(state: EnvState) -> EnvState:
    """Return the state without what can be computed again, for one that is kept."""
    return replace(state, caches=Caches(state.caches.max_exponent), memo={})
