"""A proof state as a statement of its own: its hypotheses become binders and its target the claim.

That is possible where the text says all of the state. A name that cannot be written (`x✝`), a value that a `let` gave,
a metavariable shared with another goal are not in it: such a state stands in its own proof only.
"""

import re
from itertools import groupby

from nanoproof.lean.repl_goals import metavariables
from nanoproof.lean.types import Goal, Hypothesis, ProofState

_INSTANCE = re.compile(r"inst✝[⁰¹²³⁴⁵⁶⁷⁸⁹]*")


def why_no_statement(state: ProofState) -> str | None:
    """Return why the text of a state is no statement of its own; None if it is one."""
    # Coupled goals share a metavariable: to prove one fixes what the other says.
    if len(state.goals) != 1:
        return "coupled"
    if metavariables(state.text):
        return "metavariable"
    (goal,) = state.goals
    if any(hypothesis.value is not None for hypothesis in goal.hypotheses):
        return "let"
    texts = [goal.type]
    for hypothesis in goal.hypotheses:
        texts.append(hypothesis.type)
        # An instance needs no name, `[C]` is enough.
        if not _is_instance(hypothesis):
            texts.append(hypothesis.user_name)
    if any("✝" in text for text in texts):
        return "inaccessible"
    return None


def _is_instance(hypothesis: Hypothesis) -> bool:
    return _INSTANCE.fullmatch(hypothesis.user_name) is not None


def statement_of_goal(goal: Goal) -> str:
    """Write a goal as a statement, `(x : ℕ) (h : 0 < x) : 1 ≤ x`; instances without a name become `[C]`."""
    binders = []
    by_type = groupby(goal.hypotheses, lambda hypothesis: (hypothesis.type, _is_instance(hypothesis)))
    for (kind, is_instance), group in by_type:
        names = [hypothesis.user_name for hypothesis in group]
        if is_instance:
            binders += [f"[{kind}]"] * len(names)
        else:
            binders.append(f"({' '.join(names)} : {kind})")
    return " ".join([*binders, ":", goal.type])
