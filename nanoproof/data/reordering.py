"""Other orders of hypotheses, and of goals behind the first, in which a tactic does the same.

A hypothesis stays behind those that it mentions, and between the same inaccessible ones: these are counted by
`rename_i` and `case`, and types depend on instances without mentioning them.
"""

import random
import re
from collections.abc import Mapping, Sequence

from nanoproof.data.lean_words import is_plain_name, words_of
from nanoproof.lean.state import Goal, Hypothesis, ProofState

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
