"""Data augmentation: equivalent transitions with other names, other orders of hypotheses, other case tags.

A hypothesis stays after those that it mentions, and between the same inaccessible ones: these are counted by `rename_i`
and `case`, and types depend on instances without mentioning them.

A tactic that works on a state works on the augmented state when it is augmented alike; tests run both through NanoLean.
Where the text is not understood well enough to be sure, a transition is returned unchanged.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from nanoproof.data.transitions.renaming import (
    Renaming,
    inaccessible_words,
    is_opaque,
    is_plain_name,
    is_readable,
    kept_names,
    new_names,
    new_tags,
    words_of,
)
from nanoproof.lean.types import LINE_WIDTH, Goal, Hypothesis, ProofState, ProtocolError, Transition, parse_state

_ORDER_MATTERS = re.compile(r"\b(?:revert|generalizing|generalize|induction'?|wlog)\b|\bsimp.*_comm\b", re.DOTALL)
"""Reverted hypotheses enter the goal in the order of the context; `simp` sorts sums by the order of the variables."""
_SEVERAL_GOALS = re.compile(
    r"\b(?:all_goals|any_goals|case'?|rotate_left|rotate_right|swap|pick_goal|on_goal|next|exacts|swap_var|iterate|repeat)\b"
)
_SEVERAL_TACTICS = re.compile(r"[;\n·]|<;>|\bby\b|=>(?!\s*\?_)")
_UNSEEN = ("Type", "Sort", "Fact", "Decidable", "Inhabited", "Nonempty")
_HIDES = re.compile(r"[⋯\[⟨]|(?<![\w.])_")


# -- Orders of hypotheses and goals ----------------------------------------------------------------------------------


def may_shuffle_hypotheses(state: ProofState, tactic: str) -> bool:
    """Return whether the tactic does the same whatever the order of the hypotheses."""
    if "?" in state.text:  # what fills a hole may depend on what is found first
        return False
    return _ORDER_MATTERS.search(tactic) is None


def may_shuffle_goals(state: ProofState, tactic: str) -> bool:
    """Return whether the goals after the first are several, in an order that does not matter to the tactic."""
    return len(state.goals) > 2 and not _SEVERAL_GOALS.search(tactic) and not _SEVERAL_TACTICS.search(tactic)


def shuffle_goals(state: ProofState, rng: random.Random) -> ProofState:
    """Shuffle the goals after the first."""
    rest = list(state.goals[1:])
    rng.shuffle(rest)
    return ProofState((state.goals[0], *rest))


def shuffle_hypotheses(goal: Goal, rng: random.Random) -> Goal:
    """Shuffle the hypotheses of a goal, so that each still comes after those that it mentions."""
    shuffled: list[Hypothesis] = []
    run: list[Hypothesis] = []
    for item in goal.hypotheses:
        if _stays(item):
            shuffled += [*_any_order(run, rng), item]
            run = []
        else:
            run.append(item)
    return Goal(goal.type, (*shuffled, *_any_order(run, rng)), goal.tag)


def _stays(item: Hypothesis) -> bool:
    """Return whether no hypothesis may move past this one: some may depend on it without mentioning it."""
    return (
        not is_plain_name(item.user_name) or item.user_name.startswith(("inst", "_")) or item.type.startswith(_UNSEEN)
    )


def _any_order(items: Sequence[Hypothesis], rng: random.Random) -> list[Hypothesis]:
    """Return neighbouring hypotheses in a random order that respects what they mention."""
    if len(items) < 2:
        return list(items)
    needs = [_dependencies(items, index) for index in range(len(items))]
    order: list[Hypothesis] = []
    left = list(range(len(items)))
    while left:
        ready = [index for index in left if needs[index].isdisjoint(left)]
        index = rng.choice(ready)
        left.remove(index)
        order.append(items[index])
    return order


def _dependencies(items: Sequence[Hypothesis], index: int) -> set[int]:
    """Return the indices of the earlier hypotheses that one mentions; all, if its text leaves something out."""
    item = items[index]
    text = item.type
    if item.value is not None:
        text += f" {item.value}"
    # What Lean prints as `⋯`, `_` or in brackets of instances may depend on anything before it.
    if _HIDES.search(text):
        return set(range(index))
    mentioned = words_of(text)
    return {earlier for earlier in range(index) if items[earlier].user_name in mentioned}


def order_by_rank(goal: Goal, ranks: Mapping[Hypothesis, int]) -> Goal:
    """Sort the hypotheses of a goal that have a rank by it; the others stay where they are.

    A hypothesis that would come before one that it mentions moves after it.
    """
    items = goal.hypotheses
    ranked = [index for index, item in enumerate(items) if item in ranks]
    left = list(range(len(items)))
    for place, index in zip(ranked, sorted(ranked, key=lambda index: ranks[items[index]])):
        left[place] = index
    needs = [_dependencies(items, index) for index in range(len(items))]
    ordered: list[Hypothesis] = []
    while left:
        index = next(index for index in left if needs[index].isdisjoint(left))
        left.remove(index)
        ordered.append(items[index])
    return Goal(goal.type, tuple(ordered), goal.tag)


# -- Augmentation ----------------------------------------------------------------------------------------------------


class Probabilities(NamedTuple):
    """Probabilities of the changes to a transition; they are drawn each time that it is read."""

    rename: float = 0.5
    """Of new names, for about half of those of the state."""
    rename_tags: float = 0.25
    """Of new case tags."""
    shuffle: float = 0.5
    """Of another order of the hypotheses, and of the goals after the first."""


DEFAULT_PROBABILITIES = Probabilities()


@dataclass(frozen=True, slots=True)
class _Draw:
    """The changes that were drawn for a transition."""

    renames: bool
    retags: bool
    shuffles: bool

    @classmethod
    def of(cls, probabilities: Probabilities, rng: random.Random) -> "_Draw":
        return cls(*(rng.random() < probability for probability in probabilities))

    def __bool__(self) -> bool:
        return self.renames or self.retags or self.shuffles


def augment(
    state: ProofState, tactic: str, rng: random.Random, probabilities: Probabilities = DEFAULT_PROBABILITIES
) -> tuple[ProofState, str]:
    """Change a state and its tactic alike, or return them unchanged; deterministic for the same `rng`."""
    state, tactic, _ = _augment(state, tactic, None, rng, _Draw.of(probabilities, rng))
    return state, tactic


def augment_transition(
    transition: Transition, rng: random.Random, probabilities: Probabilities = DEFAULT_PROBABILITIES
) -> Transition:
    """Change the states and the tactic of a transition alike, or return it unchanged; deterministic for the same `rng`.

    The state after the tactic has the new names; the order of its hypotheses is, but for rare cases, what the tactic
    would make of the new order.
    """
    draw = _Draw.of(probabilities, rng)
    if not draw:
        return transition
    try:
        state = parse_state(transition.state)
        after = parse_state(transition.state_after) if transition.state_after else None
    except ProtocolError:
        return transition
    # A text that is not that of the state read from it, as one that was cut short: no renaming of it would be sure.
    if state.text != transition.state or (after is not None and after.text != transition.state_after):
        return transition
    state, tactic, after = _augment(state, transition.tactic, after, rng, draw)
    after_text = after.text if after is not None else transition.state_after
    return replace(transition, state=state.text, tactic=tactic, state_after=after_text)


def _augment(
    state: ProofState, tactic: str, after: ProofState | None, rng: random.Random, draw: _Draw
) -> tuple[ProofState, str, ProofState | None]:
    """Change state, tactic and the state after it alike, as drawn."""
    states = [state.text]
    hidden: set[str] = set()
    """Names that the tactic makes inaccessible: Lean does so with the one that a new hypothesis of that name hides."""
    if after is not None:
        states.append(after.text)
        hidden = inaccessible_words(after.text) - inaccessible_words(state.text)
    if any(map(is_opaque, (*states, tactic))) or not is_readable(tactic):
        return state, tactic, after
    if draw.shuffles and not hidden:
        state, after = _shuffle(state, tactic, after, rng)
    if draw.renames or draw.retags:
        used = words_of("\n".join((*states, tactic)))
        renaming = Renaming()
        if draw.renames:
            renaming.names = new_names(state, kept_names(states, tactic, used) | hidden, used, rng)
        if draw.retags:
            renaming.tags = new_tags(state, tactic, used, rng)
        renamed = renaming.state(state)
        if _width(renamed.text) <= max(LINE_WIDTH, _width(state.text)):  # else Lean would break lines elsewhere
            if after is not None:
                after = renaming.state(after)
            return renamed, renaming.tactic(tactic), after
    return state, tactic, after


def _width(text: str) -> int:
    return max(map(len, text.split("\n")))


def _shuffle(
    state: ProofState, tactic: str, after: ProofState | None, rng: random.Random
) -> tuple[ProofState, ProofState | None]:
    """Shuffle hypotheses, and goals after the first; the state after the tactic gets the same order."""
    # Not with the state after: which of its goals come from which is not known.
    if after is None and may_shuffle_goals(state, tactic):
        state = shuffle_goals(state, rng)
    if not may_shuffle_hypotheses(state, tactic):
        return state, after
    state = ProofState(tuple(shuffle_hypotheses(goal, rng) for goal in state.goals))
    if after is not None:
        # A tactic works on the first goal. Hypotheses that it leaves as they are stay in the order of that goal.
        ranks = {item: rank for rank, item in enumerate(state.goals[0].hypotheses)}
        after = ProofState(tuple(order_by_rank(goal, ranks) for goal in after.goals))
    return state, after
