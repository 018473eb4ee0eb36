"""A call of a tool: its arguments, how far it is, and what an agent is told of an error."""

import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from nanoproof.common.errors import UserError
from nanoproof.lean.forbidden import banned_word, code_of
from nanoproof.lean.lean_file import Gap
from nanoproof.lean.types import LeanError, ProtocolError, ServerTimeout, SourceError, TheoremRejected, parse_state
from nanoproof.mcp.results import ErrorKind, ToolProblem
from nanoproof.prover.subgoals import statement_of_goal, why_no_statement

MOST_LETTERS = 200_000
"""Of a text in an argument. The longest file of Mathlib has more, its statements have far fewer."""


class Watch:
    """A call in progress: what has come of it so far, and the wish that it ends. Safe for many threads."""

    def __init__(self, seconds: float) -> None:
        """The work is to end after so many seconds."""
        self.deadline = time.monotonic() + seconds
        # For progress only: actors add to it without a lock. Results count the simulations of their attempts.
        self.simulations = 0
        # Grows at its end alone, so that the thread that reports reads on from where it was.
        self.lines: list[str] = []
        self._stop = threading.Event()

    def stop(self) -> None:
        """End the work soon."""
        self._stop.set()

    @property
    def stopped(self) -> bool:
        """Whether the work is to end."""
        return self._stop.is_set() or time.monotonic() > self.deadline

    @property
    def seconds_left(self) -> float:
        """Seconds until the deadline, at least one."""
        return max(1.0, self.deadline - time.monotonic())

    def tell(self, line: str) -> None:
        """Note what happened, in words."""
        self.lines.append(" ".join(line.split()))


@dataclass(frozen=True)
class Place:
    """Where something is to be tried: at a `sorry` of a file, or at a state that stands for itself.

    `line` and `column` choose among several sorries of a file. A state is Lean's text of one goal; `context` and
    `imports` are what it, or a statement, may use.
    """

    file: str | None = None
    line: int | None = None
    column: int | None = None
    state: str | None = None
    context: str = ""
    imports: tuple[str, ...] = ()


def text_of(text: str, argument: str) -> str:
    """Return a text of an argument. Raises ToolProblem if it is too long, or has half a character."""
    if len(text) > MOST_LETTERS:
        raise ToolProblem("too large", f"{argument}: {len(text):,} letters, more than {MOST_LETTERS:,}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ToolProblem("bad argument", f"{argument}: it is not Unicode: lone surrogate at {error.start}") from None
    return text


_RUNS_CODE = re.compile(
    r"#(?:eval|print|reduce|guard(?!_msgs)|sample|test)(?![\w.'])"
    r"|(?<![\w.'«])(?:(?:builtin_)?initialize|run_\w+|elab(?:_rules|_stx(?:_quot)?)?|by_elab|declare_\w+|"
    r"(?:builtin_)?(?:cbv_|d)?simproc(?:_decl|_pattern%)?)(?![\w.'?])"
    # Attributes by which a definition becomes a part of Lean.
    r"|(?:@\[|(?<![\w.'«])attribute\s*\[)[^\]]*?(?<![\w.'«])(?:builtin_)?"
    r"(?:\w+_elab|\w+_parser|\w*_?delab|macro|tactic|init|\w*simproc\w*|\w+_handler)(?![\w.'])"
)


def require_harmless(text: str, argument: str) -> None:
    """Refuse a text that has Lean run code: by that an agent could reach what is not in the project."""
    # `banned_word` is about proofs, which may have no gap. A statement comes with one, and a context may.
    if reason := banned_word(text.replace("sorry", "").replace("admit", "")):
        raise ToolProblem("bad argument", f"{argument}: {reason}, and is not taken from a call")
    # Without comments and strings: a `#eval` that is only spoken of does no harm. Where they may hide something, with.
    code, hidden = code_of(text, docs=True)
    if found := _RUNS_CODE.search(text if hidden else code):
        raise ToolProblem("bad argument", f"{argument}: `{found.group()}` runs code, and is not taken from a call")


def is_library(module: str) -> bool:
    return module.partition(".")[0] in ("Init", "Std", "Lean", "Batteries", "Mathlib")


def gap_at(gaps: Sequence[Gap], file: str, line: int | None, column: int | None) -> Gap:
    """Choose the `sorry` at a line (and column), or the only one."""
    if not gaps:
        raise ToolProblem("bad argument", f"{file} holds no sorry; write one where a proof is wanted")
    matching = list(gaps)
    if line is not None:
        matching = [gap for gap in gaps if gap.line == line and column in (None, gap.column)]
    if len(matching) == 1:
        return matching[0]
    # An agent can repeat the call with one of these, without a look at the file.
    places = ", ".join(f"{gap.line}:{gap.column}" for gap in (matching or gaps)[:20])
    if matching:
        raise ToolProblem("bad argument", f"{file}: which sorry? Give line and column of one of {places}")
    raise ToolProblem("bad argument", f"{file}: no sorry at line {line}; they are at {places}")


def parsed_state(text: str) -> str:
    try:
        state = parse_state(text_of(text, "state"))
    except ProtocolError as error:
        raise ToolProblem("bad argument", f"state: {error}") from error
    if not state.goals:
        raise ToolProblem("bad argument", "state: it has no goal (`⊢ ...`)")
    return state.text


def state_theorem(text: str) -> str:
    """Write a state as a theorem of its own, for Lean to start from."""
    state = parse_state(parsed_state(text))
    reason = why_no_statement(state)
    if reason is not None:
        explanations = {
            "coupled": "it has several goals: give one",
            "metavariable": "it has a metavariable, which only its own proof knows",
            "let": "it has a `let` value, which no statement can take",
            "inaccessible": "it names something inaccessible (`✝`); `rename_i` gives it a name",
        }
        raise ToolProblem("bad argument", f"state: {explanations[reason]}; a sorry of a file has no such limits")
    return f"theorem state_of_a_call {statement_of_goal(state.goals[0])} := by\n  sorry"


def problem_of(error: Exception) -> ToolProblem | None:
    """Return what an agent is told of an error that is no mistake of ours; None for one that is."""
    kinds: tuple[tuple[type[Exception], ErrorKind], ...] = (
        (SourceError, "bad argument"),  # before the class that it is one of
        (TheoremRejected, "Lean refuses"),
        (ServerTimeout, "timed out"),
        (LeanError, "Lean unavailable"),
        (UserError, "bad argument"),
    )
    if isinstance(error, ToolProblem):
        return error
    for kind_of_error, kind in kinds:
        if isinstance(error, kind_of_error):
            return ToolProblem(kind, " ".join(str(error).split()))
    return None
