"""The interface of a policy: tactics and a value for a proof state, and the errors of asking for them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from nanoproof.common.errors import UserError
from nanoproof.lean.types import Theorem


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Tactics for one proof state, and how far it is from being proved.

    `tactics` are distinct; `logprobs[i]` is the log-probability of the whole text of `tactics[i]` given the state, and
    `counts[i]` how many of the samples were equal to it. `value` is the expected number of tactics still needed
    (at least 1); `value_distribution` holds the probabilities of 1, 2, ..., 64 tactics (empty without a value head).
    `num_dropped` further samples were no tactic to try: unfinished, not text, or banned.
    """

    tactics: tuple[str, ...]
    logprobs: tuple[float, ...]
    counts: tuple[int, ...]
    value: float
    value_distribution: tuple[float, ...] = ()
    num_dropped: int = 0  # of samples, not of tactics: budgets count what was drawn, useful or not

    @property
    def num_samples(self) -> int:
        """How many samples were drawn."""
        return sum(self.counts) + self.num_dropped


class Policy(Protocol):
    """Suggests tactics. Calls block, may come from many threads at once, and raise PolicyError."""

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        """Suggest tactics and a value; the same state and seed give the same answer, whatever other calls do."""
        ...


@runtime_checkable
class TheoremPolicy(Policy, Protocol):
    """A policy whose suggestions depend on the theorem that is proved, as on what may be used there."""

    def for_theorem(self, theorem: Theorem) -> Policy:
        """Return the policy for the states of a theorem."""
        ...


class PolicyTeam:
    """Several policies that share the simulations of a theorem: each has a search of its own, one after the other.

    Not one tree for all: what a second network proves of what the first leaves open, it proves by its own way through
    all of the proof, and a network that can do neither half of it spoils the other's half.
    """

    def __init__(self, members: Sequence[Policy]) -> None:
        """Raises ValueError without members."""
        if not members:
            raise ValueError("a team needs a policy")
        self.members = tuple(members)

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        """Suggest as the first policy does: what asks about one state alone has no use for the others."""
        return self.members[0].suggest(state_text, seed)

    def for_theorem(self, theorem: Theorem) -> Policy:
        """Return the team of the policies for a theorem."""
        return PolicyTeam([policy_for(member, theorem) for member in self.members])


def members_of(policy: Policy) -> tuple[Policy, ...]:
    """Return the policies that share the simulations: those of a team, else the policy alone."""
    if isinstance(policy, PolicyTeam):
        return policy.members
    return (policy,)


def around_each(policy: Policy, wrapped: Callable[[Policy], Policy]) -> Policy:
    """Put another policy around a policy, or around each of a team: around the team as one it would hide the others."""
    if isinstance(policy, PolicyTeam):
        return PolicyTeam([wrapped(member) for member in policy.members])
    return wrapped(policy)


def policy_for(policy: Policy, theorem: Theorem) -> Policy:
    """Return the policy for the states of a theorem: itself, unless it is another one for each."""
    return policy.for_theorem(theorem) if isinstance(policy, TheoremPolicy) else policy


# What an attempt makes of an error: one of `PolicyUnavailable` holds for every state, and what asks waits or ends; the
# others hold for one state, whose attempt is an error and teaches nothing. None of them counts as "not proved".


class PolicyError(UserError):
    """A policy could not answer for a reason that lies outside of the program; nothing was learned about the state."""


class PolicyUnavailable(PolicyError):
    """There is no answer to any state now; later there may be."""


class BadState(PolicyError):
    """The state, or its sampling options, are invalid for the model; other states are not affected."""


class PolicyClosed(PolicyError):
    """The policy was closed before or while this state waited."""


class PolicyTimeout(PolicyError):
    """The answer did not come before the deadline."""


class PolicyCancelled(PolicyError):
    """The caller cancelled the request."""


class PolicyBusy(PolicyUnavailable):
    """A policy server is well, but full."""


class PolicyUnreachable(PolicyUnavailable):
    """A policy server cannot be reached, or is shutting down."""


class PolicyAccessDenied(PolicyUnavailable):
    """A policy server does not accept our token."""


class PolicyServerError(PolicyError):
    """A policy server gave an invalid answer, or its model failed."""


class ModelFailed(Exception):
    """The engine failed while it worked on a state; the cause is chained to it."""
