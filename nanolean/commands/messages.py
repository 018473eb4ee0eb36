"""Results of commands, `set_option`, and the header of a file."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from nanolean.elab.session import Note
from nanolean.env_state import EXPONENTIATION, LACKS_LIBRARY, PP_UNIVERSES, TRACE_SIMP, EnvState
from nanolean.kernel.declaration import OpaqueDecl
from nanolean.parser.lexer import blank, header
from nanolean.proof_errors import ElabError
from nanolean.syntax import Command, SetOptionCmd
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
        """Return the offset of a line and column."""
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
    text: str = field(default="", repr=False)
    """The text that is run."""
    messages: list[Message] = field(default_factory=list)
    sorries: list[SorryGoal] = field(default_factory=list)
    roots: list[SorryGoal] = field(default_factory=list)
    """The goals of the outermost `by` blocks, if `watch` asks for them."""
    steps: list[StepRecord] = field(default_factory=list)
    """The tactics that ran, if `watch` asks for them."""
    declared: list[tuple[Command, EnvState]] = field(default_factory=list)
    """The declarations of the text, refused ones too, each with the state before it."""
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


WORKING = {
    PP_UNIVERSES: bool,
    TRACE_SIMP: bool,
    f"{TRACE_SIMP}.rewrite": bool,
    EXPONENTIATION: int,
    "checkBinderAnnotations": bool,
    LACKS_LIBRARY: bool,
}
"""Options that do something, with the type of their value."""
WITHOUT_EFFECT = {
    "maxRecDepth": int,
    "maxHeartbeats": int,
    "synthInstance.maxHeartbeats": int,
    "synthInstance.maxSize": int,
    "autoImplicit": bool,
    "relaxedAutoImplicit": bool,
}
"""Options that may be set because what they limit or warn of never happens here."""
FAMILIES = ("pp.", "trace.", "profiler", "format.", "compiler.", "debug.", "smartUnfolding", "eval.", "backward.")
"""Beginnings of names of Lean's other options."""

MODULES = ("Init", "Std", "Lean")
"""Modules that come with Lean; what NanoLean knows of them is there without being imported."""


def run_set_option(result: CommandResult, cmd: SetOptionCmd) -> None:
    """Set an option until the end of the scope."""
    kind = WORKING.get(cmd.name) or WITHOUT_EFFECT.get(cmd.name)
    if cmd.name.startswith("linter.") or (cmd.name, cmd.value) == ("warningAsError", False):  # no linter warns here
        kind = bool
    if kind is None:
        known = cmd.name.startswith((*FAMILIES, "warningAsError"))
        text = f"the option `{cmd.name}` is not supported" if known else f"Unknown option `{cmd.name}`"
        raise ElabError(text, cmd.pos, cmd.end)
    if type(cmd.value) is not kind:
        wanted = "Bool" if kind is bool else "Nat"
        raise ElabError(f"set_option value type mismatch: The option `{cmd.name}` is a `{wanted}`", cmd.pos, cmd.end)
    if cmd.name == LACKS_LIBRARY and not cmd.value:
        raise ElabError(f"the option `{cmd.name}` can only be set to `true`", cmd.pos, cmd.end)
    result.state = result.state.with_option(cmd.name, cmd.value)


_NOTED_IMPORT = re.compile(r"/- (?:\w+\s+)*import\s+(?:all\s+)?(?!Init\b)[^\s-]+ -/")
"""An import that somebody has put into a comment, since NanoLean has no such library."""


def note_missing_library(result: CommandResult, text: str) -> None:
    """Bind no name automatically in a text that has an import of a library in a comment: the name may be from there."""
    if _NOTED_IMPORT.search(text):
        result.state = result.state.with_option(LACKS_LIBRARY, True)


def read_header(result: CommandResult, text: str) -> str:
    """Blank the header of the text; mistakes in it, such as an unknown module, are reported."""
    found = header(text)
    is_module = any(match["words"] == "module" for match in found)
    for match in found:
        start, end = match.span("words")
        keywords = match["words"].partition("import")[0].split()
        if match["words"] == "prelude":
            result.say("error", "`prelude` is not supported: NanoLean has its library built in", start, end)
        elif keywords and match["module"] and not is_module:
            result.say("error", f"cannot use `{keywords[0]} import` without `module`", start, end)
        elif match["module"] and match["module"] not in MODULES:
            result.say("error", _unknown(match["module"]), match.start("module"), end)
    end = found[-1].end() if found else 0
    return blank(text[:end]) + text[end:]


def _unknown(module: str) -> str:
    prefix = module.partition(".")[0]
    reason = f"the module `{module}` is not available" if prefix in MODULES else f"unknown module prefix '{prefix}'"
    return f"{reason}\n\nNanoLean has parts of Lean's core and nothing else"
