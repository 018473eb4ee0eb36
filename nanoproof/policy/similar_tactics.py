"""Tactics of proved states in the names of another state.

A name of the proved state stands for the hypothesis of the other one that has the same type, up to names; of several
with one type for that at the same place among them. A tactic with a name that stands for nothing is not tried.
"""

import re
from collections import defaultdict
from collections.abc import Mapping

from nanoproof.lean.lexical import ATOM
from nanoproof.lean.types import Goal, ProtocolError, parse_state
from nanoproof.policy import printed_types as printed
from nanoproof.retrieval.proved_states import ProvedStates

MOST_STATES = 4
"""Proved states whose tactics are tried for each tactic that is wanted: many states give no tactic, or the same."""
_LOCAL = re.compile(rf"(?<![\w.'✝]){ATOM}")


def similar_tactics(proved: ProvedStates, state_text: str, most: int) -> list[str]:
    """List at most so many distinct tactics of the proved states most like a state, in its names, the likest first."""
    goal = _first_goal(state_text)
    if goal is None:
        return []
    tactics: dict[str, None] = {}
    for step in proved.like(state_text, MOST_STATES * most):
        origin = _first_goal(step.state)
        if origin is None:
            continue
        # A name without counterpart would be unknown to Lean, or worse, another hypothesis of the same name.
        tactic = renamed(step.tactic, origin, goal)
        if tactic is not None:
            tactics[tactic] = None
        if len(tactics) == most:
            break
    return list(tactics)


def _first_goal(state_text: str) -> Goal | None:
    try:
        goals = parse_state(state_text).goals
    except ProtocolError:
        return None
    return next(iter(goals), None)


def renamed(tactic: str, origin: Goal, goal: Goal) -> str | None:
    """Write a tactic for a goal in the names of another one; None if one of its names has no counterpart there."""
    names = _counterparts(origin, goal)
    local = {hypothesis.user_name for hypothesis in origin.hypotheses}
    missing = False

    def replacement(match: re.Match[str]) -> str:
        nonlocal missing
        name = match.group()
        if name not in local:
            return name
        missing = missing or name not in names
        return names.get(name, name)

    text = _LOCAL.sub(replacement, tactic)
    if missing:
        return None
    return text


def _counterparts(origin: Goal, goal: Goal) -> Mapping[str, str]:
    """Map names of one goal to those of another: same type up to names, same place among those of that type."""
    of_goal: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for hypothesis in goal.hypotheses:
        if printed.is_name(hypothesis.user_name):
            of_goal[_shape(hypothesis.type, goal)].append(hypothesis.user_name)
    names: dict[str, str] = {}
    places: dict[tuple[str, ...], int] = defaultdict(int)
    for hypothesis in origin.hypotheses:
        shape = _shape(hypothesis.type, origin)
        candidates = of_goal[shape]
        if places[shape] < len(candidates):
            names[hypothesis.user_name] = candidates[places[shape]]
            places[shape] += 1
    return names


def _shape(type_: str, goal: Goal) -> tuple[str, ...]:
    """Return the tokens of a type without the names of its goal: those of variables of one type look the same."""
    types = {hypothesis.user_name: hypothesis.type for hypothesis in goal.hypotheses}
    shape = []
    for token in printed.tokens_of(type_):
        head, dot, rest = token.partition(".")
        if token in types:
            shape.append("_")
        elif head in types:
            shape.append(f"_{dot}{rest}")
        else:
            shape.append(token)
    return tuple(shape)
