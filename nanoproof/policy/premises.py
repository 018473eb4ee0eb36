"""What a policy makes of the premises that a retriever finds for a state: text before it, and tactics that use them.

A network that was never shown a name seldom writes it. Tactics made from the premises themselves need no network for
that, as the rules need none that a hammer gives to aesop (Zhu et al. 2025, Premise Selection for a Lean Hammer).
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from nanoproof.lean.types import Theorem
from nanoproof.retrieval.corpus import CorpusPremise
from nanoproof.retrieval.premises import Retriever
from nanoproof.search.policy import Policy, Suggestion, policy_for

FACTS = ("theorem", "lemma", "axiom")
DEFINITIONS = ("def", "abbrev", "instance")


class TakesPremises(Protocol):
    """A policy that can be given premises for a state."""

    def suggest_with(
        self, state_text: str, premises: Sequence[CorpusPremise], budget: int, seed: int = 0
    ) -> Suggestion:
        """Suggest tactics for a state with premises, the best first, so far as they fit into a budget of tokens."""
        ...


class RetrievingPolicy:
    """A policy that is given the premises which a retriever finds for each state."""

    def __init__(
        self, policy: TakesPremises, retriever: Retriever, budget: int, theorem: str = "", count: int | None = None
    ) -> None:
        """`budget` is that of `--retrieve-tokens`; `theorem`, by its name, decides which premises may be used.

        At most `count` of those that are retrieved are given, by default all.
        """
        self._policy, self._retriever, self._budget, self._theorem = policy, retriever, budget, theorem
        self._count = count

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        """Suggest tactics for a state with its premises."""
        premises = self._retriever.premises(state_text, self._theorem)[: self._count]
        return self._policy.suggest_with(state_text, premises, self._budget, seed)

    def for_theorem(self, theorem: Theorem) -> Policy:
        """Return the policy that is given the premises which this theorem may use."""
        return RetrievingPolicy(self._policy, self._retriever, self._budget, theorem.id, self._count)


def tactics_with(premise: CorpusPremise) -> tuple[str, ...]:
    """Return tactics that use a premise: a fact is applied, rewritten with both ways and simplified with, a definition
    unfolded; empty for what is neither.
    """
    name = premise.full_name
    word = premise.kind or premise.code.split(maxsplit=1)[0]
    if word in DEFINITIONS:
        return (f"simp [{name}]", f"unfold {name}")
    if word in FACTS:
        return (f"apply {name}", f"rw [{name}]", f"rw [← {name}]", f"simp [{name}]")
    return ()


class PremiseTactics:
    """A policy, and beside what it suggests tactics with the premises that a retriever finds for each state."""

    def __init__(self, policy: Policy, retriever: Retriever, count: int, logprob: float, theorem: str = "") -> None:
        """`count` premises at most are used; a tactic of the k-th best has log-probability `logprob - ln k`.

        `theorem`, by its name, decides which premises may be used.
        """
        self.policy, self._retriever, self._count = policy, retriever, count
        self._logprob, self._theorem = logprob, theorem

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        """Suggest the policy's tactics, and after them those with premises that it does not suggest itself."""
        suggestion = self.policy.suggest(state_text, seed)
        found: dict[str, float] = {}
        for rank, premise in enumerate(self._retriever.premises(state_text, self._theorem)[: self._count], start=1):
            for tactic in tactics_with(premise):
                found.setdefault(tactic, self._logprob - math.log(rank))
        for tactic in suggestion.tactics:
            found.pop(tactic, None)
        return replace(
            suggestion,
            tactics=(*suggestion.tactics, *found),
            logprobs=(*suggestion.logprobs, *found.values()),
            counts=(*suggestion.counts, *([1] * len(found))),
        )

    def for_theorem(self, theorem: Theorem) -> Policy:
        """Return the policy with tactics of the premises that this theorem may use."""
        inner = policy_for(self.policy, theorem)
        return PremiseTactics(inner, self._retriever, self._count, self._logprob, theorem.id)
