"""Goals as a REPL answers them: the text that Lean printed, and what forks of the REPL say about them beside it.

The official REPL prints goals and nothing more. Forks add `goalInfos` (type and hypotheses of each goal, and its
metavariable) and `mctxAfter.decls` (which metavariables occur in the type of each). They are used where they fit the
text, and left alone where they do not: no field of theirs is needed.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from nanoproof.lean.state import Goal, Hypothesis, parse_goal

_METAVARIABLE = re.compile(r"(?<![\w\])}?!'.])\?(«[^»\n]*»|[^\W\d][\w.'✝]*)")
_ANONYMOUS_TAGS = ("", "[anonymous]")


@dataclass(frozen=True, slots=True)
class GoalInfo:
    """What a fork says about a goal: its structured form, its metavariable, and those that its type mentions."""

    goal: Goal
    metavariable: str | None
    mentions: frozenset[str]


@dataclass(frozen=True)
class ReplGoal:
    """One goal. Two are equal if their texts are: that is how siblings are compared."""

    text: str
    info: GoalInfo | None = field(default=None, compare=False, repr=False)

    @cached_property
    def mentions(self) -> frozenset[str]:
        """The metavariables that the goal mentions (`w` for `?w`), also by the fork's ids."""
        found = metavariables(self.text)
        return found if self.info is None else found | self.info.mentions

    @cached_property
    def names(self) -> frozenset[str]:
        """How others may call the metavariable that the goal is to assign: its tag, and the fork's id."""
        first = self.text.split("\n", 1)[0]
        tag = first[5:].strip() if first.startswith("case ") else ""
        return frozenset({tag, (self.info.metavariable if self.info else None) or ""} - {""})

    def parsed(self) -> Goal:
        """The goal in structured form; raises `ProtocolError` if it is not as Lean prints it."""
        return self._parsed

    @cached_property
    def _parsed(self) -> Goal:
        return parse_goal(self.text) if self.info is None else self.info.goal


def metavariables(text: str) -> frozenset[str]:
    """Names of the metavariables in a text: `w` for `?w`."""
    return frozenset(_METAVARIABLE.findall(text))


def read_goals(answer: Mapping[str, Any]) -> tuple[ReplGoal, ...]:
    """The goals of an answer, in its order; raises ValueError if they are no list of texts."""
    texts = answer.get("goals")
    if texts is None:
        texts = []
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"`goals` is no list of texts: {str(texts)[:300]}")
    infos = answer.get("goalInfos")
    if not isinstance(infos, list) or len(infos) != len(texts):
        return tuple(map(ReplGoal, texts))
    occurring = _occurring(answer.get("mctxAfter"))
    return tuple(ReplGoal(text, _read_info(info, text, occurring)) for text, info in zip(texts, infos))


def _read_info(info: Any, text: str, occurring: Mapping[str, frozenset[str]]) -> GoalInfo | None:
    """The information on a goal, None if it is not of a form that we know or does not fit the goal's text."""
    if not isinstance(info, Mapping) or not isinstance(info.get("type"), str):
        return None
    hypotheses = _read_hypotheses(_first(info, "hyps", "hypotheses"))
    if hypotheses is None or not _same_words(text.rpartition("⊢")[2], info["type"].rpartition("⊢")[2]):
        return None
    tag, metavariable = _first(info, "username", "userName"), _first(info, "mvarId", "id")
    tag = tag if isinstance(tag, str) and tag not in _ANONYMOUS_TAGS else None
    metavariable = metavariable if isinstance(metavariable, str) else None
    mentions = occurring.get(metavariable or "", frozenset())
    return GoalInfo(Goal(info["type"], hypotheses, tag), metavariable, mentions)


def _read_hypotheses(entries: Any) -> tuple[Hypothesis, ...] | None:
    if not isinstance(entries, list):
        return None
    hypotheses = []
    for entry in entries:
        if not isinstance(entry, Mapping):
            return None
        name, kind, value = _first(entry, "username", "userName"), entry.get("type"), entry.get("value")
        if not isinstance(name, str) or not isinstance(kind, str) or not isinstance(value, str | None):
            return None
        hypotheses.append(Hypothesis(name, kind, value))
    return tuple(hypotheses)


def _occurring(context: Any) -> dict[str, frozenset[str]]:
    """For each metavariable those that its type mentions, and those that the types of these mention, and so on."""
    decls = context.get("decls") if isinstance(context, Mapping) else None
    direct: dict[str, list[str]] = {}
    for decl in decls if isinstance(decls, list) else []:
        name = _first(decl, "mvarId", "id") if isinstance(decl, Mapping) else None
        if isinstance(name, str):
            mentioned = decl.get("mvarsInType")
            direct[name] = (
                [other for other in mentioned if isinstance(other, str)] if isinstance(mentioned, list) else []
            )
    return {name: _closure(direct, name) for name in direct}


def _closure(direct: Mapping[str, Iterable[str]], name: str) -> frozenset[str]:
    seen: set[str] = set()
    pending = list(direct[name])
    while pending:
        if (other := pending.pop()) not in seen:
            seen.add(other)
            pending.extend(direct.get(other, ()))
    return frozenset(seen)


def _first(entry: Mapping[str, Any], *keys: str) -> Any:
    return next((entry[key] for key in keys if key in entry), None)


def _same_words(left: str, right: str) -> bool:
    return left.split() == right.split()
