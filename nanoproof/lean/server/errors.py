"""Why the pool gives no lease, or none with this id."""


class LeaseNotFound(LookupError):
    """No lease has this id: it was never given, was returned, or expired."""


class TooManyWaiting(Exception):
    """More callers wait for a process, or for their turn with one, than the server has room for."""


class CannotStart(Exception):
    """Processes keep failing to start; the message is the reason of the last failure."""


class ShuttingDown(Exception):
    """The server takes no more work."""
