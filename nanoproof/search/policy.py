"""What the search asks of a policy: tactics and a value for a proof state, and what can go wrong with that."""

from dataclasses import dataclass
from typing import Protocol

from nanoproof.common.errors import UserError


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Tactics for one proof state, and how far it is from being proved.

    `tactics` are distinct; `logprobs[i]` is the log-probability of the whole text of `tactics[i]` given the state, and
    `counts[i]` how many of the samples were equal to it. `value` is the expected number of tactics still needed
    (at least 1); `value_distribution` holds the probabilities of 1, 2, ..., 64 tactics (empty without a value head).
    `num_dropped` samples besides were no tactic to try: without an end, not text, or banned.
    """

    tactics: tuple[str, ...]
    logprobs: tuple[float, ...]
    counts: tuple[int, ...]
    value: float
    value_distribution: tuple[float, ...] = ()
    num_dropped: int = 0

    @property
    def num_samples(self) -> int:
        """How many samples were drawn."""
        return sum(self.counts) + self.num_dropped


class Policy(Protocol):
    """Anything that suggests tactics. Calls block, and may come from many threads at once; they raise PolicyError."""

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        """Tactics for the state; the same state and seed give the same answer, whoever else asks meanwhile."""
        ...


class PolicyError(UserError):
    """A policy could not answer for a reason that lies outside of the program; nothing was learned about the state."""


class PolicyUnavailable(PolicyError):
    """There is no answer now, to whichever state; later there may be."""


class BadState(PolicyError):
    """The state, or the way it is to be answered, makes no sense to the model; others are not affected."""


class PolicyClosed(PolicyError):
    """The policy was closed before or while this question waited."""


class PolicyTimeout(PolicyError):
    """The answer did not come before the deadline."""


class PolicyCancelled(PolicyError):
    """Whoever asked does not want the answer any more."""


class PolicyBusy(PolicyUnavailable):
    """A policy server is well, but has no room for our question."""


class PolicyUnreachable(PolicyUnavailable):
    """A policy server cannot be reached, or is ending."""


class PolicyAccessDenied(PolicyUnavailable):
    """A policy server does not accept our token."""


class PolicyServerError(PolicyError):
    """A policy server answered something that is no answer, or its model failed."""


class ModelFailed(Exception):
    """The engine failed while it worked on this question; the cause is chained to it."""
