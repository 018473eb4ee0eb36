"""What can go wrong between us and Lean. A refused tactic is not here: that is a value (`wire.TacticFailed`)."""

from nanoproof.common.errors import UserError


class LeanError(UserError):
    """Something outside our program failed; the message is one line."""


class TheoremRejected(LeanError):
    """Lean refuses the statement of a theorem."""


class SourceError(TheoremRejected):
    """The text of a theorem is not of the form that we can work with (one declaration, one `sorry` as its proof)."""


class ServerUnavailable(LeanError):
    """A Lean server cannot be reached, or has no free process for us."""


class ServerTimeout(LeanError):
    """A Lean server took longer than the deadline of the call."""


class ProcessLost(LeanError):
    """The Lean process behind a lease is gone, and could not be replaced."""


class ProtocolError(LeanError):
    """A Lean server answered something that is neither a result nor a refusal; never training data."""
