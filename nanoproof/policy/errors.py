"""What can go wrong with a question to a policy; each is a `PolicyError`, except a failure of our own model."""

from nanoproof.common.suggestion import PolicyError, PolicyUnavailable


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
