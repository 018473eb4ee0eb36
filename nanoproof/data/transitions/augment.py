"""Transitions that say the same as a given one with other names, other orders of hypotheses, other case tags.

A hypothesis stays behind those that it mentions, and between the same inaccessible ones: these are counted by
`rename_i` and `case`, and types depend on instances without mentioning them.

A tactic that works on a state works on the augmented state when it is changed alike; tests run both through NanoLean.
Where the text is not understood well enough to be sure, a transition comes back as it is.
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

# -- Other orders of hypotheses, and of goals behind the first, in which a tactic does the same ----------------------

_ORDER_MATTERS = re.compile(r"\b(?:revert|generalizing|generalize|induction'?|wlog)\b|\bsimp.*_comm\b", re.DOTALL)
"""What is taken back into the goal comes in the order of the context; sums are sorted by when variables were made."""
_SEVERAL_GOALS = re.compile(
    r"\b(?:all_goals|any_goals|case'?|rotate_left|rotate_right|swap|pick_goal|on_goal|next|exacts|swap_var|iterate|repeat)\b"
)
_SEVERAL_TACTICS = re.compile(r"[;\n·]|<;>|\bby\b|=>(?!\s*\?_)")
_UNSEEN = ("Type", "Sort", "Fact", "Decidable", "Inhabited", "Nonempty")
_HIDES = re.compile(r"[⋯\[⟨]|(?<![\w.])_")


def may_shuffle_hypotheses(state: ProofState, tactic: str) -> bool:
    """Whether the tactic does the same whatever the order of the hypotheses."""
    if "?" in state.text:  # what fills a hole may depend on what is found first
        return False
    return _ORDER_MATTERS.search(tactic) is None


def may_shuffle_goals(state: ProofState, tactic: str) -> bool:
    """Whether there are goals behind the first whose order does not matter to the tactic."""
    return len(state.goals) > 2 and not _SEVERAL_GOALS.search(tactic) and not _SEVERAL_TACTICS.search(tactic)


def shuffled_goals(state: ProofState, rng: random.Random) -> ProofState:
    """The state with the goals behind the first in another order."""
    rest = list(state.goals[1:])
    rng.shuffle(rest)
    return ProofState((state.goals[0], *rest))


def shuffled_hypotheses(goal: Goal, rng: random.Random) -> Goal:
    """The goal with its hypotheses in a random order among those in which each comes behind what it mentions."""
    made: list[Hypothesis] = []
    run: list[Hypothesis] = []
    for item in goal.hypotheses:
        if _stays(item):
            made += [*_any_order(run, rng), item]
            run = []
        else:
            run.append(item)
    return Goal(goal.type, (*made, *_any_order(run, rng)), goal.tag)


def _stays(item: Hypothesis) -> bool:
    """Whether no hypothesis may move past this one: some may depend on it without mentioning it."""
    return (
        not is_plain_name(item.user_name) or item.user_name.startswith(("inst", "_")) or item.type.startswith(_UNSEEN)
    )


def _any_order(items: Sequence[Hypothesis], rng: random.Random) -> list[Hypothesis]:
    """A random order of neighbours."""
    if len(items) < 2:
        return list(items)
    needs = [_needs(items, place) for place in range(len(items))]
    order: list[Hypothesis] = []
    left = list(range(len(items)))
    while left:
        ready = [place for place in left if needs[place].isdisjoint(left)]
        place = rng.choice(ready)
        left.remove(place)
        order.append(items[place])
    return order


def _needs(items: Sequence[Hypothesis], place: int) -> set[int]:
    """Which hypotheses before this one it mentions; all, if its text leaves something out."""
    item = items[place]
    text = item.type if item.value is None else f"{item.type} {item.value}"
    if _HIDES.search(text):
        return set(range(place))
    words = words_of(text)
    return {earlier for earlier in range(place) if items[earlier].user_name in words}


def like(goal: Goal, ranks: Mapping[Hypothesis, int]) -> Goal:
    """The goal with the hypotheses that have a rank in the order of the ranks, on the places that they have together.

    A hypothesis that would come before something that it mentions moves behind it.
    """
    items = goal.hypotheses
    ranked = [place for place, item in enumerate(items) if item in ranks]
    following = iter(sorted(ranked, key=lambda place: ranks[items[place]]))
    left = [next(following) if item in ranks else place for place, item in enumerate(items)]
    needs = [_needs(items, place) for place in range(len(items))]
    order: list[int] = []
    while left:
        place = next(place for place in left if needs[place].isdisjoint(left))
        left.remove(place)
        order.append(place)
    return Goal(goal.type, tuple(items[place] for place in order), goal.tag)


class Shares(NamedTuple):
    """How often transitions are changed when they are read, each time anew: probabilities."""

    rename: float = 0.5
    """That names are changed: about half of those of the state."""
    rename_tags: float = 0.25
    """That case tags are changed."""
    shuffle: float = 0.5
    """That hypotheses, and goals behind the first, change places."""


USUAL = Shares()


@dataclass(frozen=True, slots=True)
class _Draw:
    """What is to be done with a transition."""

    renames: bool
    retags: bool
    shuffles: bool

    @classmethod
    def of(cls, shares: Shares, rng: random.Random) -> "_Draw":
        return cls(*(rng.random() < share for share in shares))

    def __bool__(self) -> bool:
        return self.renames or self.retags or self.shuffles


def augment(state: ProofState, tactic: str, rng: random.Random, shares: Shares = USUAL) -> tuple[ProofState, str]:
    """The state and the tactic changed alike, or as they are; the same for the same `rng`."""
    state, tactic, _ = _augmented(state, tactic, None, rng, _Draw.of(shares, rng))
    return state, tactic


def augment_transition(transition: Transition, rng: random.Random, shares: Shares = USUAL) -> Transition:
    """The transition with its states and its tactic changed alike, or as it is; the same for the same `rng`.

    The state after the tactic has the new names; the order of its hypotheses is what the tactic would make of the new
    order but for rare cases.
    """
    draw = _Draw.of(shares, rng)
    if not draw:
        return transition
    try:
        state = parse_state(transition.state)
        after = parse_state(transition.state_after) if transition.state_after else None
    except ProtocolError:
        return transition
    if state.text != transition.state or (after is not None and after.text != transition.state_after):
        return transition
    state, tactic, after = _augmented(state, transition.tactic, after, rng, draw)
    after_text = transition.state_after if after is None else after.text
    return replace(transition, state=state.text, tactic=tactic, state_after=after_text)


def _augmented(
    state: ProofState, tactic: str, after: ProofState | None, rng: random.Random, draw: _Draw
) -> tuple[ProofState, str, ProofState | None]:
    """State, tactic and the state after it, changed alike."""
    states = [state.text] if after is None else [state.text, after.text]
    if any(is_opaque(text) for text in (*states, tactic)) or not is_readable(tactic):
        return state, tactic, after
    hidden = set() if after is None else inaccessible_words(after.text) - inaccessible_words(state.text)
    if draw.shuffles and not hidden:
        state, after = _shuffled(state, tactic, after, rng)
    if draw.renames or draw.retags:
        used = words_of("\n".join((*states, tactic)))
        names = new_names(state, kept_names(states, tactic, used) | hidden, used, rng) if draw.renames else {}
        renaming = Renaming(names, new_tags(state, tactic, used, rng) if draw.retags else {})
        renamed = renaming.state(state)
        if _width(renamed.text) <= max(LINE_WIDTH, _width(state.text)):  # else Lean would break lines elsewhere
            after = None if after is None else renaming.state(after)
            return renamed, renaming.tactic(tactic), after
    return state, tactic, after


def _width(text: str) -> int:
    return max(map(len, text.split("\n")))


def _shuffled(
    state: ProofState, tactic: str, after: ProofState | None, rng: random.Random
) -> tuple[ProofState, ProofState | None]:
    """Hypotheses, and goals behind the first, in other orders; the state after the tactic follows."""
    if after is None and may_shuffle_goals(state, tactic):
        state = shuffled_goals(state, rng)
    if not may_shuffle_hypotheses(state, tactic):
        return state, after
    state = ProofState(tuple(shuffled_hypotheses(goal, rng) for goal in state.goals))
    if after is not None:
        after = ProofState(tuple(_following(goal, state) for goal in after.goals))
    return state, after


def _following(goal: Goal, state: ProofState) -> Goal:
    """A goal that the tactic left, with the hypotheses that were there before in the order that they have now."""
    ranks = {item: rank for rank, item in enumerate(state.goals[0].hypotheses)}
    return like(goal, ranks)
