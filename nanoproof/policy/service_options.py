"""The options of the policy server."""

from dataclasses import dataclass

from nanoproof.common.address import on_loopback
from nanoproof.common.config import check, opt, validate

DEFAULT_PORT = 5000
TOKEN_VARIABLE = "NANOPROOF_POLICY_TOKEN"
"""Environment variable with the token that the server asks for and clients send."""

_LEVELS = ("debug", "info", "warning", "error")


@dataclass(frozen=True)
class ServiceOptions:
    """Policy server"""

    address: str = opt("127.0.0.1", "Address to listen on; anything but loopback lets others use the model.")
    port: int = opt(DEFAULT_PORT, "Port to listen on; 0 picks a free one.", min=0, max=65535)
    max_requests: int = opt(512, "Requests that wait for the model at a time; others are sent away with 429.", min=1)
    max_open_states: int = opt(
        8192, "States that wait for the model at a time; others are sent away with 429.", min=1, advanced=True
    )
    max_states: int = opt(1024, "States that one request may have.", min=1, advanced=True)
    max_samples: int = opt(128, "Tactics that a request may ask for, for each state.", min=1, advanced=True)
    longest_tactic: int = opt(256, "Tokens that a request may ask for, for each tactic.", min=1, advanced=True)
    longest_seconds: float = opt(
        600.0, "How long a request may wait; longer timeouts are cut to this.", above=0, advanced=True
    )
    max_body_mb: float = opt(16.0, "Requests with a longer body are refused with 413.", above=0, advanced=True)
    receive_seconds: float = opt(
        600.0,
        "A connection on which nothing comes for so long is closed, unless it waits for an answer.",
        above=0,
        advanced=True,
    )
    drain_seconds: float = opt(10.0, "How long requests under way may still take after SIGTERM.", min=0, advanced=True)
    log_level: str = opt("warning", "Which messages go to standard error.", choices=_LEVELS)

    def __post_init__(self) -> None:
        validate(self, "inference")
        check(
            self.max_states <= self.max_open_states,
            f"inference.max_states must be <= inference.max_open_states, "
            f"got {self.max_states} > {self.max_open_states}",
            "inference",
        )

    @property
    def threads(self) -> int:
        """Worker threads: one for each request that waits, and some for `/status` and for those who are sent away."""
        return self.max_requests + 8

    @property
    def on_loopback(self) -> bool:
        """True if only programs on this machine can connect."""
        return on_loopback(self.address)
