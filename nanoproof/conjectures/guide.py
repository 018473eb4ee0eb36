"""How much a conjecture is worth an attempt: it is like what has no proof yet, and reads like a theorem.

    score = how far its likeness to unproved theorems is above that of the others (in standard deviations)
            - unnatural(statement)

The likeness is the mean cosine to its `NEAREST` nearest unproved theorems, of the embeddings by the network that
learns. Conjecturers that are rewarded for what is barely provable alone come to state artificial things in long runs
(arXiv 2604.20209); what counts against a statement here are its length, repeated hypotheses, and needless generality.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from nanoproof.lean.lexical import ATOM
from nanoproof.lean.types import SourceError
from nanoproof.ttrl.statements import Binder, Statement, has_word, parse_statement, split

NEAREST = 3
"""Unproved theorems that a conjecture is compared with in the end: one far-off target is nothing, nor are all."""
FREE_CHARACTERS = 60
"""A statement of so many characters costs nothing; each doubling beyond costs `PER_DOUBLING`."""
PER_DOUBLING, PER_REPETITION, PER_NEEDLESS = 0.5, 0.5, 0.25
_WORD = re.compile(rf"{ATOM}|\S")


def unnatural(source: str) -> float:
    """Return how unnaturally the statement of a theorem reads; 0 for one without fault.

    Counted are length, hypotheses that repeat another one or the claim, sides of a relation that are the same text,
    and what is needless: a variable that nothing mentions, a hypothesis that shares no variable with anything else.
    """
    try:
        statement = parse_statement(source)
    except SourceError:
        return math.inf
    length = max(0.0, math.log2(max(1, len(statement.text)) / FREE_CHARACTERS))
    return PER_DOUBLING * length + PER_REPETITION * _repeated(statement) + PER_NEEDLESS * _needless(statement)


def _repeated(statement: Statement) -> int:
    """Count hypotheses that say what another one, or the claim, says, and relations of a text with itself."""
    said = Counter(_plain(text) for text in [*(each.type for each in _hypotheses(statement)), statement.claim])
    formulas = [split(text) for text in said]
    of_itself = sum(
        parts is not None and parts[0] != "→" and _plain(parts[1]) == _plain(parts[2]) for parts in formulas
    )
    return sum(count - 1 for count in said.values()) + of_itself


def _needless(statement: Statement) -> int:
    """Count variables that nothing mentions, and hypotheses that share none with the claim or another hypothesis."""
    hypotheses = _hypotheses(statement)
    variables = [name for binder in statement.binders if binder not in hypotheses for name in binder.names]
    types = [binder.type for binder in statement.binders]
    texts = [*types, statement.claim]
    unused = sum(not any(has_word(text, name) for text in texts) for name in variables)
    apart = 0
    for number, binder in enumerate(hypotheses):
        others = [each.type for index, each in enumerate(hypotheses) if index != number]
        mine = [name for name in variables if has_word(binder.type, name)]
        apart += not any(has_word(text, name) for name in mine for text in [*others, statement.claim])
    return unused + apart


def _hypotheses(statement: Statement) -> list[Binder]:
    """Return the binders that are propositions as far as their text says, and that nothing mentions."""
    found = []
    for number, binder in enumerate(statement.binders):
        mentioned = any(statement.mentions(name, number) for name in binder.names)
        if binder.opening != "[" and not mentioned and (split(binder.type) is not None or binder.type[:1] in "∀∃¬"):
            found.append(binder)
    return found


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text))


def likeness(conjectures_NC: np.ndarray, unproved_QC: np.ndarray) -> np.ndarray:
    """Return the mean cosine of each conjecture to its nearest unproved theorems, float (N,); 0 where there are none.

    The embeddings have length 1.
    """
    if not len(unproved_QC) or not len(conjectures_NC):
        return np.zeros(len(conjectures_NC))
    cosines_NQ = conjectures_NC @ unproved_QC.T
    count = min(NEAREST, cosines_NQ.shape[1])
    nearest: np.ndarray = np.sort(cosines_NQ, axis=1)[:, -count:].mean(axis=1)
    return nearest


def scores(sources: Sequence[str], conjectures_NC: np.ndarray, unproved_QC: np.ndarray) -> list[float]:
    """Score conjectures against each other, float (N,)."""
    like_N = likeness(conjectures_NC, unproved_QC)
    spread = float(like_N.std()) if len(like_N) else 0.0
    standard_N = (like_N - like_N.mean()) / spread if spread > 1e-9 else np.zeros(len(like_N))
    return [float(value) - unnatural(source) for value, source in zip(standard_N, sources, strict=True)]
