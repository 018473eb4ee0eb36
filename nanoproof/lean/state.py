"""Proof states as values, as the text that Lean prints and the model reads, and as the objects that servers send."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from nanoproof.lean.errors import ProtocolError
from nanoproof.lean.lexical import find_top_level

LINE_WIDTH = 120  # Lean's default `format.width`
_NAME = re.compile(r"«[^»]*»[✝⁰¹²³⁴⁵⁶⁷⁸⁹.\w]*|\S+")
_METAVARIABLE = re.compile(r"\?([mu])\.\d+(?![\w.])")
_HYPOTHESIS = re.compile(r"(?P<names>(?:«[^»]*»|[^:«])+?) ?:(?=\s|$)\s*(?P<rest>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One local name of a goal; `value` is set for `let`-like names only."""

    user_name: str
    type: str
    value: str | None = None

    def to_wire(self) -> dict[str, str]:
        """The object that LeanTree servers exchange."""
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
        """The object that LeanTree servers exchange."""
        wire: dict[str, Any] = {"type": self.type, "hypotheses": [h.to_wire() for h in self.hypotheses]}
        return {**wire, "tag": self.tag} if self.tag else wire

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> "Goal":
        """Read what `to_wire` (or another LeanTree server) wrote; `ProtocolError` if it is something else."""
        try:
            hypotheses = tuple(
                Hypothesis(
                    _text(h["user_name"]), _text(h["type"]), None if h.get("value") is None else _text(h["value"])
                )
                for h in wire["hypotheses"]
            )
            return cls(_text(wire["type"]), hypotheses, wire.get("tag") or None)
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
        """The list of goal objects that LeanTree servers exchange."""
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
    split = find_top_level(rest, ":=") if ":=" in rest else -1
    type_text, value = (rest, None) if split < 0 else (rest[:split].rstrip(), _dedent(rest[split + 2 :].strip()))
    return tuple(Hypothesis(name, _dedent(type_text), value) for name in _NAME.findall(match["names"]))


def _renumbered(text: str) -> str:
    """The text with `?m.N` and `?u.N` numbered in the order in which they first appear."""
    if "?" not in text:
        return text
    numbers: dict[str, int] = {}
    return _METAVARIABLE.sub(lambda found: f"?{found[1]}.{numbers.setdefault(found[0], len(numbers) + 1)}", text)


def _hypothesis_lines(hypotheses: tuple[Hypothesis, ...]) -> list[str]:
    """Hypotheses as Lean prints them: neighbours of one type share a line, what is too long starts on its own line."""
    groups: list[tuple[list[str], Hypothesis]] = []
    for hypothesis in hypotheses:
        last = groups[-1] if groups else None
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
