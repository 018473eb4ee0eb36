"""Types shared by provers and Lean servers: theorems, errors, goals, proof states, results of tactics, sessions."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import TracebackType
from typing import Any, Literal, Protocol, Self

from nanoproof.common.errors import UserError
from nanoproof.lean.lexical import find_top_level

LINE_WIDTH = 120  # Lean's default `format.width`
# A name between quotes may hold blanks, and Lean adds marks of inaccessible names behind them: `«a b»✝¹`.
_NAME = re.compile(r"«[^»]*»[✝⁰¹²³⁴⁵⁶⁷⁸⁹.\w]*|\S+")
# `?m.17` and `?u.17`, as Lean prints metavariables without a name of their own.
_METAVARIABLE = re.compile(r"\?([mu])\.\d+(?![\w.])")
# Several names of one type share a line, `a b : T`; the type may begin on the next line.
_HYPOTHESIS = re.compile(r"(?P<names>(?:«[^»]*»|[^:«])+?) ?:(?=\s|$)\s*(?P<rest>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Theorem:
    """A statement whose proof is missing.

    `source` is Lean text without imports (these are the server's) with exactly one `sorry`, the proof of its last
    declaration. `dataset` and `id` name its origin; the pair is unique. `as_written` is its row's text up to where the
    proof begins, with the header and its imports, for prompts; empty where it has no header. Records do not keep it.
    """

    source: str
    dataset: str = ""
    id: str = ""
    as_written: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Transition:
    """One step of a proof to learn from: in `state`, `tactic` begins a proof whose longest path has `depth` (>= 1)
    tactics, this one counted.

    `state_after` holds the goals that the tactic leaves ("" for none), None where that is not known.
    """

    state: str
    tactic: str
    depth: int
    state_after: str | None = None


# -- Errors ----------------------------------------------------------------------------------------------------------


class LeanError(UserError):
    """Something outside of the program failed; the message is one line.

    `retryable` is true if the same work may succeed later, or on another server.
    """

    retryable = False


class TheoremRejected(LeanError):
    """Lean refuses the statement of a theorem."""


class SourceError(TheoremRejected):
    """The source of a theorem has not the form that is needed (one declaration, one `sorry` as its proof)."""


class ServerUnavailable(LeanError):
    """A Lean server cannot be reached, or does not serve us at present."""

    retryable = True


class ServerBusy(ServerUnavailable):
    """A Lean server answers, but had no free process in time."""


class AccessDenied(ServerUnavailable):
    """A Lean server does not accept our token."""

    retryable = False


class ServerTimeout(LeanError):
    """A Lean server took longer than the deadline of the call."""

    retryable = True


class ProcessLost(LeanError):
    """The Lean process behind a lease is gone, and could not be replaced."""

    retryable = True


class ProtocolError(LeanError):
    """A Lean server answered something that is neither a result nor a refusal; never training data."""


# -- Goals and proof states ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A hypothesis or local variable of a goal; `value` is set for `let`-bound ones only."""

    user_name: str
    type: str
    value: str | None = None

    def to_wire(self) -> dict[str, str]:
        """Convert to the JSON object of LeanTree's API."""
        wire = {"type": self.type, "user_name": self.user_name}
        return wire if self.value is None else {**wire, "value": self.value}


@dataclass(frozen=True)
class Goal:
    """One goal; types are Lean text, with further lines indented relative to the first."""

    type: str
    hypotheses: tuple[Hypothesis, ...] = ()
    tag: str | None = None

    @cached_property
    def untagged_text(self) -> str:
        """The goal as Lean prints it, without its `case` line."""
        lines = [*_hypothesis_lines(self.hypotheses), f"⊢ {_indent(self.type)}"]
        return "\n".join(lines)

    def __str__(self) -> str:
        return f"case {self.tag}\n{self.untagged_text}" if self.tag else self.untagged_text

    def to_wire(self) -> dict[str, Any]:
        """Convert to the JSON object of LeanTree's API."""
        wire: dict[str, Any] = {"type": self.type, "hypotheses": [h.to_wire() for h in self.hypotheses]}
        return {**wire, "tag": self.tag} if self.tag else wire

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> "Goal":
        """Read what `to_wire` (or another LeanTree server) wrote; `ProtocolError` if it is something else."""
        try:
            hypotheses: list[Hypothesis] = []
            for entry in wire["hypotheses"]:
                name, type_, value = _text(entry["user_name"]), _text(entry["type"]), entry.get("value")
                hypotheses.append(Hypothesis(name, type_, None if value is None else _text(value)))
            return cls(_text(wire["type"]), tuple(hypotheses), wire.get("tag") or None)
        except (KeyError, TypeError, AttributeError) as error:
            raise ProtocolError(f"not a goal: {str(wire)[:200]!r} ({error!r})") from error


@dataclass(frozen=True)
class ProofState:
    """The goals of one branch. `str()` is what the model reads."""

    goals: tuple[Goal, ...]

    @cached_property
    def text(self) -> str:
        """The goals as Lean prints them, an empty line between two; metavariables are numbered from 1.

        Lean's numbers tell how much its process has done before, so that a state would read differently each time.
        """
        return _renumbered("\n\n".join(str(goal) for goal in self.goals))

    @cached_property
    def merge_key(self) -> str:
        """The text without case tags: two states with one key are the same for search."""
        return _renumbered("\n\n".join(goal.untagged_text for goal in self.goals))

    def __str__(self) -> str:
        return self.text

    def to_wire(self) -> list[dict[str, Any]]:
        """Convert to the list of goal objects of LeanTree's API."""
        return [goal.to_wire() for goal in self.goals]

    @classmethod
    def from_wire(cls, wire: Iterable[Mapping[str, Any]]) -> "ProofState":
        """Read what `to_wire` (or another LeanTree server) wrote; `ProtocolError` if it is something else."""
        return cls(tuple(Goal.from_wire(goal) for goal in wire))


def parse_goal(text: str) -> Goal:
    """Read one goal as Lean prints it; `ProtocolError` if it is something else."""
    tag = None
    hypotheses: list[Hypothesis] = []
    for entry in _entries(text):
        if entry.startswith("⊢"):
            return Goal(_dedent(entry[1:].strip()), tuple(hypotheses), tag)
        if entry.startswith("case ") and not hypotheses and ":" not in entry:
            tag = entry[5:].strip()
        else:
            hypotheses.extend(_parse_hypotheses(entry))
    raise ProtocolError(f"not a goal as Lean prints it (no line starts with ⊢): {text[:200]!r}")


def parse_state(text: str) -> ProofState:
    """Read goals as Lean prints them, separated by empty lines; no text is no goals."""
    return ProofState(tuple(parse_goal(part) for part in re.split(r"\n\s*\n", text.strip("\n")) if part.strip()))


def _entries(text: str) -> list[str]:
    """Split a goal's text into its entries: a line and the indented lines that continue it."""
    entries: list[str] = []
    for line in text.strip("\n").split("\n"):
        # Lean indents every further line of a type; a hypothesis begins at the margin.
        if entries and (line[:1] == " " or not line):
            entries[-1] += "\n" + line
        else:
            entries.append(line)
    return entries


@lru_cache(maxsize=4096)  # most lines of a state are those of the state before
def _parse_hypotheses(entry: str) -> tuple[Hypothesis, ...]:
    match = _HYPOTHESIS.fullmatch(entry)
    if match is None:
        raise ProtocolError(f"not a hypothesis as Lean prints it: {entry[:200]!r}")
    rest = match["rest"]
    # At the top level only: a type may hold a `:=`, as in `{ x := 1 }`.
    split = find_top_level(rest, ":=") if ":=" in rest else -1
    type_text, value = (rest, None) if split < 0 else (rest[:split].rstrip(), _dedent(rest[split + 2 :].strip()))
    return tuple(Hypothesis(name, _dedent(type_text), value) for name in _NAME.findall(match["names"]))


def _renumbered(text: str) -> str:
    """Renumber `?m.N` and `?u.N` in the order in which they first appear."""
    if "?" not in text:
        return text
    numbers: dict[str, int] = {}
    return _METAVARIABLE.sub(lambda found: f"?{found[1]}.{numbers.setdefault(found[0], len(numbers) + 1)}", text)


def _hypothesis_lines(hypotheses: tuple[Hypothesis, ...]) -> list[str]:
    """Format hypotheses as Lean does: neighbours of one type share a line, what is too long starts on its own line."""
    groups: list[tuple[list[str], Hypothesis]] = []
    for hypothesis in hypotheses:
        last = groups[-1] if groups else None
        # One that has a value stands alone, as Lean prints it.
        if last and hypothesis.value is None and last[1].value is None and last[1].type == hypothesis.type:
            last[0].append(hypothesis.user_name)
        else:
            groups.append(([hypothesis.user_name], hypothesis))
    return [_hypothesis_line(" ".join(names), hypothesis) for names, hypothesis in groups]


def _hypothesis_line(names: str, hypothesis: Hypothesis) -> str:
    if hypothesis.value is not None:
        head = f"{names} : {_indent(hypothesis.type)} :="
        return _fit(head, hypothesis.value)
    return _fit(f"{names} :", hypothesis.type)


def _fit(head: str, body: str) -> str:
    one_line = f"{head} {body}"
    if "\n" in body or len(one_line) > LINE_WIDTH:
        return f"{head}\n  {_indent(body)}"
    return one_line


def _indent(text: str) -> str:
    return text.replace("\n", "\n  ")


def _dedent(text: str) -> str:
    return re.sub(r"\n {1,2}", "\n", text) if "\n" in text else text


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected text, got {value!r}")
    return value


# -- Branches, results and sessions ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Branch:
    """Goals that must be proved together, and a handle for the session that returned them."""

    state: ProofState
    handle: object = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TacticApplied:
    """Lean accepted the tactic. The branches are independent subgoals, all to be proved; none means proved."""

    branches: tuple[Branch, ...]


@dataclass(frozen=True, slots=True)
class TacticFailed:
    """The tactic did not apply. Only `rejected` is a verdict of Lean; `timeout` and `banned` are ours."""

    kind: Literal["rejected", "timeout", "banned"]
    message: str


TacticResult = TacticApplied | TacticFailed


_NUMBERED = re.compile(r"(\?[mu]|_uniq)\.\d+")
"""Matches a metavariable in a message of Lean."""


@dataclass(frozen=True, slots=True)
class CheckReport:
    """Lean's verdict on a whole text in a fresh environment.

    `errors` are the texts of its error messages, `sorries` the number of `sorry`s, `axioms` those that the theorems of
    the text depend on, sorted, `statements` the name of each theorem and how Lean prints its statement (none where
    there are errors), `error_positions` the line (from 1; 0 if not known) and column (from 0) of each error. An
    `example` is checked as a theorem, which moves the columns behind it. `accepted` does not look at the axioms: that
    is the caller's policy. `axioms_of` are name and axioms of each theorem and def about which Lean answered, also in a
    text with errors elsewhere, where `axioms` is empty.
    """

    errors: tuple[str, ...]
    sorries: int
    axioms: tuple[str, ...]
    statements: tuple[tuple[str, str], ...] = ()
    error_positions: tuple[tuple[int, int], ...] = ()
    axioms_of: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def accepted(self) -> bool:
        """True if there is neither an error nor a `sorry`."""
        return not self.errors and self.sorries == 0

    def errors_beyond(self, before: "CheckReport") -> list[str]:
        """Return the errors that Lean did not report for the text as it was `before`, one for each time more.

        Metavariables count as the same whatever their numbers: a proof further up changes those in every message below.
        """
        known = Counter(_NUMBERED.sub(r"\1", error) for error in before.errors)
        beyond = []
        for error in self.errors:
            unnumbered = _NUMBERED.sub(r"\1", error)
            if known[unnumbered]:
                known[unnumbered] -= 1
            else:
                beyond.append(error)
        return beyond


class LeanCalls(Protocol):
    """The calls of a proof attempt to Lean, made by one thread at a time."""

    def start(self, theorem: Theorem) -> Branch:
        """Start the proof of a theorem: return the branch at its `sorry`.

        Raises `TheoremRejected` if Lean refuses the statement.
        """
        ...

    def apply(self, branch: Branch, tactics: Sequence[str]) -> list[TacticResult]:
        """Try each tactic on the branch on its own; results in the order of `tactics`."""
        ...

    def check(self, source: str, seconds: float | None = None, since: int = 0) -> CheckReport:
        """Check a whole text in a fresh environment, with the axioms and statements of its theorems.

        Those that begin before the offset `since` may be left out of the report, for all errors are in it. It may take
        so many seconds, by default as the session was configured; raises `ServerTimeout` beyond.
        """
        ...


class LeanSession(LeanCalls, Protocol):
    """One leased Lean process."""

    def close(self) -> None:
        """Give the process back; calling it again does nothing."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
