"""What can go wrong between us and Lean. A refused tactic is not here: that is a value (`wire.TacticFailed`)."""

from nanoproof.common.errors import UserError


class LeanError(UserError):
    """Something outside our program failed; the message is one line.

    `retryable` says that the same work may succeed later, or on another server.
    """

    retryable = False


class TheoremRejected(LeanError):
    """Lean refuses the statement of a theorem."""


class SourceError(TheoremRejected):
    """The text of a theorem is not of the form that we can work with (one declaration, one `sorry` as its proof)."""


class ServerUnavailable(LeanError):
    """A Lean server cannot be reached, or has nothing for us at present."""

    retryable = True


class ServerBusy(ServerUnavailable):
    """A Lean server is well, but had no free process for us in time."""


class AccessDenied(ServerUnavailable):
    """A Lean server does not accept our token."""

    retryable = False


class ServerTimeout(LeanError):
    """A Lean server took longer than the deadline of the call."""

    retryable = True


class ProcessLost(LeanError):
    """The Lean process behind a lease is gone, and could not be replaced."""

    retryable = True


class ProtocolError(LeanError):
    """A Lean server answered something that is neither a result nor a refusal; never training data."""
