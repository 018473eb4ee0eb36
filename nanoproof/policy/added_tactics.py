"""Tactics that are tried beside a policy's: with retrieved premises, and of what a state itself says.

A network that was never shown a name or a step seldom writes it. What is made of the state and of a library needs
no network for that, like the rules that a hammer gives to aesop (Zhu et al. 2025, Premise Selection for a Lean
Hammer); and a network that learns from the proofs so found writes them itself later.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Protocol

from nanoproof.lean.forbidden import banned_reason
from nanoproof.lean.types import Theorem
from nanoproof.policy.statement_definitions import Definitions
from nanoproof.policy.step_tactics import steps
from nanoproof.retrieval.corpus import CorpusPremise
from nanoproof.retrieval.premises import Retriever
from nanoproof.retrieval.retrieve_options import RetrieveOptions
from nanoproof.search.policy import Policy, Suggestion, around_each, policy_for

FACTS = ("theorem", "lemma", "axiom")
DEFINITIONS = ("def", "abbrev", "instance")
NO_THEOREM = Theorem("", "", "")


class TacticSource(Protocol):
    """Finds tactics for a state of a theorem. Any number of threads may ask."""

    def candidates(self, state_text: str, theorem: Theorem) -> Sequence[tuple[str, float]]:
        """Return tactics with their log-probabilities, the likeliest first."""
        ...


class AddedTactics:
    """A policy, and beside what it suggests the tactics of other sources."""

    def __init__(self, policy: Policy, sources: Sequence[TacticSource], theorem: Theorem = NO_THEOREM) -> None:
        self.policy, self._sources, self._theorem = policy, sources, theorem

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        """Suggest the policy's tactics, and after them those of the sources that it does not suggest itself."""
        suggestion = self.policy.suggest(state_text, seed)
        logprobs: dict[str, float] = {}
        for source in self._sources:
            for tactic, logprob in source.candidates(state_text, self._theorem):
                logprobs.setdefault(tactic, logprob)
        # What the network says by itself has the network's probability.
        for tactic in suggestion.tactics:
            logprobs.pop(tactic, None)
        return replace(
            suggestion,
            tactics=(*suggestion.tactics, *logprobs),
            logprobs=(*suggestion.logprobs, *logprobs.values()),
            counts=(*suggestion.counts, *([1] * len(logprobs))),
        )

    def for_theorem(self, theorem: Theorem) -> Policy:
        """Return the policy for the states of a theorem: premises that it may use, definitions that it brings along."""
        return AddedTactics(policy_for(self.policy, theorem), self._sources, theorem)


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
    """Tactics with the premises that a retriever finds for each state."""

    def __init__(self, retriever: Retriever, options: RetrieveOptions) -> None:
        """`options.premise_tactics` premises at most are used; a tactic of the k-th best has the log-probability
        `options.premise_logprob - ln k`.
        """
        self._retriever, self._options = retriever, options

    def candidates(self, state_text: str, theorem: Theorem) -> list[tuple[str, float]]:
        """Return the tactics; the theorem, by its name, decides which premises may be used."""
        premises = self._retriever.premises(state_text, theorem.id)[: self._options.premise_tactics]
        candidates = []
        for rank, premise in enumerate(premises, start=1):
            for tactic in tactics_with(premise):
                candidates.append((tactic, self._options.premise_logprob - math.log(rank)))
        return candidates


class StepTactics:
    """Steps that need no invention (`step_tactics.steps`); where there is a retriever, lemmas applied forward too."""

    def __init__(self, options: RetrieveOptions, retriever: Retriever | None, learned: Callable[[], int]) -> None:
        """`learned` is how many steps of RL the network has had: the k-th tactic has the log-probability
        `options.step_logprob - learned() * options.step_decay - ln k`.
        """
        self._options, self._retriever, self._learned = options, retriever, learned

    def candidates(self, state_text: str, theorem: Theorem) -> list[tuple[str, float]]:
        """Return the steps; the theorem's source says what it defines."""
        lemmas: Sequence[CorpusPremise] = ()
        if self._retriever is not None:
            lemmas = self._retriever.premises(state_text, theorem.id)
        tactics = steps(state_text, _definitions(theorem.source), lemmas, self._options.step_tactics or 0)
        return _ranked(tactics, self._options, self._learned())


@lru_cache(maxsize=256)  # a theorem's states ask for the same
def _definitions(source: str) -> Definitions:
    return Definitions.of(source)


def _ranked(tactics: Sequence[str], options: RetrieveOptions, learned: int) -> list[tuple[str, float]]:
    """Give tactics their log-probabilities by rank; what may not be tried is left out."""
    # As the network learns such steps itself, theirs is the better judgement of where they belong.
    best = options.step_logprob - learned * options.step_decay
    ranked: list[tuple[str, float]] = []
    for tactic in tactics:
        if banned_reason(tactic) is None:
            ranked.append((tactic, best - math.log(len(ranked) + 1)))
    return ranked


def with_added_tactics(
    policy: Policy,
    options: RetrieveOptions,
    retriever: Retriever | None = None,
    learned: Callable[[], int] = lambda: 0,
) -> Policy:
    """Return a policy with the tactics beside it that options ask for: itself, if they ask for none.

    `learned` are the steps of RL that the network has had.
    """
    sources: list[TacticSource] = []
    if options.premise_tactics:
        assert retriever is not None, "--premise-tactics needs a retriever, as its options check"
        sources.append(PremiseTactics(retriever, options))
    if options.step_tactics:
        sources.append(StepTactics(options, retriever, learned))
    if not sources:
        return policy
    return around_each(policy, lambda member: AddedTactics(member, sources))
