"""A random world: Lean and policy whose answers are pseudo-random functions of a seed, for properties and for speed."""

import random
from collections import Counter
from collections.abc import Sequence
from functools import cache

from nanoproof.lean.types import Branch, Goal, ProofState, TacticApplied, TacticFailed
from nanoproof.search.policy import Suggestion


@cache
def tactics_of(count: int) -> tuple[str, ...]:
    """Names of `count` tactics, of three lengths."""
    return tuple("t" * (1, 3, 2)[i % 3] + str(i // 3) for i in range(count))


@cache
def state(number: int, goals: int = 1) -> Branch:
    """A state of `goals` goals."""
    names = [f"S{number}", *(f"?m{number}.{i}" for i in range(1, goals))]
    return Branch(ProofState(tuple(Goal(name) for name in names)))


class RandomLean:
    """Applies tactics among `num_states` states (few: many cycles and merges) or more; no cost beyond a look-up.

    A tactic closes its branch with probability `close`; else it is refused, times out, or leaves 1 to 3 branches, of
    which some hold two `coupled` goals if that is wanted.
    """

    def __init__(self, seed: int, num_states: int, close: float, coupled: bool = False) -> None:
        self.seed, self.num_states, self.close, self.coupled = seed, num_states, close, coupled
        self.results: dict[tuple[str, str], TacticApplied | TacticFailed] = {}

    def apply(self, branch: Branch, tactics: Sequence[str]) -> list[TacticApplied | TacticFailed]:
        return [self._result(branch.state.text, tactic) for tactic in tactics]

    def _result(self, text: str, tactic: str) -> TacticApplied | TacticFailed:
        result = self.results.get((text, tactic))
        if result is None:
            result = self.results[text, tactic] = self._draw(random.Random(f"{self.seed}/{text}/{tactic}"))
        return result

    def _draw(self, rng: random.Random) -> TacticApplied | TacticFailed:
        if rng.random() < self.close:
            return TacticApplied(())
        fate = rng.random()
        if fate < 0.3:
            return TacticFailed("rejected", "no")
        if fate < 0.35:
            return TacticFailed("timeout", "slow")
        branches = 1 if fate < 0.8 else 2 if fate < 0.95 else 3
        numbers = [rng.randrange(self.num_states) for _ in range(branches)]
        return TacticApplied(tuple(state(n, 2 if self.coupled and n % 3 == 0 else 1) for n in numbers))


class RandomPolicy:
    """Draws tactics with random log-probabilities and a value; the n-th call for a state has its own answer."""

    def __init__(self, seed: int, samples: int = 6, num_tactics: int = 12) -> None:
        self.seed, self.samples, self.num_tactics = seed, samples, num_tactics
        self.asked: Counter[str] = Counter()
        self.answers: dict[tuple[str, int], Suggestion] = {}

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        turn = (state_text, self.asked[state_text])
        self.asked[state_text] += 1
        answer = self.answers.get(turn)
        if answer is None:
            answer = self.answers[turn] = self._draw(random.Random(f"{self.seed}/{turn}"))
        return answer

    def _draw(self, rng: random.Random) -> Suggestion:
        drawn = Counter(rng.choices(tactics_of(self.num_tactics), k=self.samples))
        logprobs = tuple(rng.uniform(-30, 0) for _ in drawn)
        return Suggestion(tuple(drawn), logprobs, tuple(drawn.values()), rng.uniform(1, 20))

    def again(self) -> "RandomPolicy":
        """The same policy, asked for the first time (answers that were drawn already are kept)."""
        fresh = RandomPolicy(self.seed, self.samples, self.num_tactics)
        fresh.answers = self.answers
        return fresh
