"""States that are the same to a person: a key for a state that names, order and copies of hypotheses do not change.

Two states of one key have proofs of each other that anyone sees at a glance. They are not the same text, so a tactic
that works in one of them may have to be spelled in another way in the other: no proof is moved between them by their
key alone.

It works on goals as they are printed. What depends on more than that (metavariables, instances, names with dots) is
left as it is, so that too few states are taken to be the same rather than too many.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from nanoproof.lean.lexical import ATOM
from nanoproof.lean.types import Goal, Hypothesis, ProofState

_WORD = re.compile(rf"(?P<dot>\.?)(?P<name>(?:«[^»]*»|{ATOM})[✝⁰¹²³⁴⁵⁶⁷⁸⁹]*)")
_METAVARIABLE = re.compile(r"(?<!\w)\?\w")
_TRIVIAL = re.compile(r"True|(?P<side>[\w\s.+*^()\[\]/%'-]+) (?:=|↔) (?P=side)")
_KEYWORDS = frozenset(("if", "then", "else", "let", "match", "with", "fun", "have", "show", "do"))
_INACCESSIBLE = "✝"
_INSTANCE = "inst"


def equivalence_key(state: ProofState) -> str:
    """Return a key of a state; states with one key are interderivable at a glance.

    Left out are case tags, the order of hypotheses, names (all occurrences of one are renamed alike), and hypotheses
    that no other text mentions if they repeat the type of another, are trivial (`True`, `a = a`), or are local
    definitions. Whether a name is accessible counts: `rename_i` changes what a tactic can say. Several goals, and goals
    with metavariables, are compared by their text.
    """
    if len(state.goals) != 1 or _METAVARIABLE.search(state.merge_key):
        return state.merge_key
    goal = state.goals[0]
    if not all(_WORD.fullmatch(hypothesis.user_name) for hypothesis in goal.hypotheses):
        return state.merge_key
    return _renamed(goal.type, _needed(goal))


def only_adds_facts(before: ProofState, after: ProofState) -> bool:
    """Tell whether a state has the target and all hypotheses of another, and more of them."""
    if len(before.goals) != 1 or len(after.goals) != 1 or before.goals[0].type != after.goals[0].type:
        return False
    return set(before.goals[0].hypotheses) < set(after.goals[0].hypotheses)


def _needed(goal: Goal) -> list[Hypothesis]:
    """Leave out, last ones first, the hypotheses that nothing mentions and nothing would miss."""
    kept = list(goal.hypotheses)
    changed = True
    while changed:
        changed = False
        mentioned = _mentioned([goal.type, *_texts(kept)])
        for hypothesis in reversed(kept):
            others = [other for other in kept if other is not hypothesis]
            if hypothesis.user_name not in mentioned and _is_spare(hypothesis, others):
                kept, changed = others, True
    return kept


def _is_spare(hypothesis: Hypothesis, others: Iterable[Hypothesis]) -> bool:
    """Tell whether a hypothesis that nothing mentions says nothing that the others do not."""
    if hypothesis.user_name.startswith(_INSTANCE):
        return False
    if hypothesis.value is not None or _is_trivial(hypothesis.type):
        return True
    return any(
        other.type == hypothesis.type
        and (_INACCESSIBLE in hypothesis.user_name or _INACCESSIBLE not in other.user_name)
        for other in others
    )


@lru_cache(maxsize=4096)
def _is_trivial(text: str) -> bool:
    return _TRIVIAL.fullmatch(text) is not None and _KEYWORDS.isdisjoint(text.split())


def _renamed(target: str, hypotheses: list[Hypothesis]) -> str:
    """Format a goal with its hypotheses in alphabetic order, their names replaced by numbers or, where nothing mentions
    them, left out."""
    texts = [target, *_texts(hypotheses)]
    mentioned, after_dots = _mentioned(texts), frozenset[str]().union(*(_words(text)[1] for text in texts))
    own = {hypothesis.user_name for hypothesis in hypotheses}
    in_order = [*(name for name in _words(target)[0] if name in own), *(h.user_name for h in hypotheses)]
    numbers = {
        name: f"%{number}{_mark(name)}"
        for number, name in enumerate(dict.fromkeys(name for name in in_order if name in mentioned - after_dots))
    }

    def name_of(hypothesis: Hypothesis) -> str:
        name = hypothesis.user_name
        return numbers.get(name, name if name in mentioned or name.startswith(_INSTANCE) else f"_{_mark(name)}")

    def rename(text: str) -> str:
        return _WORD.sub(lambda word: word["dot"] + numbers.get(word["name"], word["name"]), text)

    lines = [
        f"{name_of(h)} : {rename(h.type)}" + ("" if h.value is None else f" := {rename(h.value)}") for h in hypotheses
    ]
    return "\n".join([*sorted(lines), f"⊢ {rename(target)}"])


def _mark(name: str) -> str:
    return _INACCESSIBLE if _INACCESSIBLE in name else ""


def _texts(hypotheses: Iterable[Hypothesis]) -> list[str]:
    return [text for h in hypotheses for text in (h.type, h.value) if text is not None]


def _mentioned(texts: Iterable[str]) -> frozenset[str]:
    return frozenset[str]().union(*(_words(text)[0] for text in texts))


@lru_cache(maxsize=4096)  # most texts of a state are those of the state before
def _words(text: str) -> tuple[dict[str, None], frozenset[str]]:
    """Return the names in a text in their order, parts of dotted ones apart, and those that stand behind a dot."""
    found = [(word["name"], bool(word["dot"])) for word in _WORD.finditer(text)]
    return dict.fromkeys(name for name, _ in found), frozenset(name for name, dot in found if dot)
