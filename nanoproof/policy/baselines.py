"""Policies that need no model and serve as baselines: the same tactics for every state."""

import math
from collections.abc import Sequence

from nanoproof.search.policy import Suggestion

GENERAL_TACTICS = (
    "rfl",
    "assumption",
    "intro h",
    "intro x",
    "constructor",
    "simp",
    "simp_all",
    "contradiction",
    "exfalso",
    "left",
    "right",
    "omega",
    "decide",
    "trivial",
    "symm",
    "subst_vars",
)


class UniformPolicy:
    """Suggests the same tactics with the same probability everywhere: the baseline of a search with general tactics."""

    def __init__(self, tactics: Sequence[str] = GENERAL_TACTICS, value: float = 1.0) -> None:
        """`value` is the number of tactics that every state is taken to need. Raises ValueError without tactics."""
        if not tactics:
            raise ValueError("a uniform policy needs at least one tactic")
        distinct = tuple(dict.fromkeys(tactics))
        logprob = -math.log(len(distinct))
        self._suggestion = Suggestion(distinct, (logprob,) * len(distinct), (1,) * len(distinct), value)

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        """Suggest the same for every state and seed."""
        return self._suggestion


class SolverOnlyPolicy(UniformPolicy):
    """Suggests the finishers and nothing else: the score that solvers reach without a model."""

    def __init__(self, finishers: Sequence[str]) -> None:
        """Raises ValueError without finishers."""
        super().__init__(finishers)
