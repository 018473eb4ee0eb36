"""Transitions that say the same as a given one with other names, other orders of hypotheses, other case tags.

A tactic that works on a state works on the augmented state when it is changed alike; tests run both through NanoLean.
Where the text is not understood well enough to be sure, a transition comes back as it is.
"""

import random
from dataclasses import dataclass, replace
from typing import NamedTuple

from nanoproof.data.lean_words import inaccessible_words, is_opaque, words_of
from nanoproof.data.renaming import Renaming, is_readable, kept_names, new_names, new_tags
from nanoproof.data.reordering import (
    like,
    may_shuffle_goals,
    may_shuffle_hypotheses,
    shuffled_goals,
    shuffled_hypotheses,
)
from nanoproof.data.transitions import Transition
from nanoproof.lean.errors import ProtocolError
from nanoproof.lean.state import LINE_WIDTH, Goal, ProofState, parse_state


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
