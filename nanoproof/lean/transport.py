"""HTTP to one Lean server."""

from dataclasses import dataclass

from nanoproof.common.config import opt, validate
from nanoproof.common.web.client import BUSY_STATUSES, HttpClient
from nanoproof.lean.errors import AccessDenied, ProtocolError, ServerTimeout, ServerUnavailable

__all__ = ["BUSY_STATUSES", "TOKEN_VARIABLE", "ClientConfig", "Transport"]

TOKEN_VARIABLE = "NANOPROOF_LEAN_TOKEN"
"""Environment variable with the token that servers ask for and clients send."""


@dataclass(frozen=True)
class ClientConfig:
    """Lean client"""

    tactic_seconds: float = opt(5.0, "How long one tactic may run.", above=0)
    command_seconds: float = opt(300.0, "How long a statement or a final check may take.", above=0)
    connect_seconds: float = opt(10.0, "How long connecting to a server may take.", above=0)
    slack_seconds: float = opt(30.0, "How much longer than its own deadlines a server may take to answer.", above=0)

    def __post_init__(self) -> None:
        validate(self, "lean")


class Transport(HttpClient):
    """Requests to one Lean server."""

    server = "Lean server"
    unavailable = ServerUnavailable
    denied = AccessDenied
    garbled = ProtocolError
    late = ServerTimeout
