"""The client of a policy server: a `Policy` whose model runs in another process or on another machine."""

import os
import time
from collections.abc import Sequence
from typing import Any

from nanoproof.common.process import Closing
from nanoproof.common.web.http_client import Address, HttpClient, read_address
from nanoproof.policy import protocol
from nanoproof.search import policy

_STATUS_SECONDS = 10.0
_ATTEMPTS = 100
"""More than there is time for: it is `patience_seconds` that ends the retries."""
_SLACK_SECONDS = 5.0
"""How much later than its own deadline the server may answer, so that it says what happened."""


class _Client(HttpClient):
    server = "policy server"
    unavailable = policy.PolicyUnreachable
    denied = policy.PolicyAccessDenied
    garbled = policy.PolicyServerError
    late = policy.PolicyTimeout
    kept_connections = 1024  # an actor asks from each of its threads


class RemotePolicy(Closing):
    """A policy server as a `Policy`. Safe for many threads, which share kept-alive connections.

    Retries are safe, as the same state, seed and sampling have the same answer: so requests are repeated when a
    connection breaks, and while the server is full or gone, for at most `patience_seconds`.
    """

    def __init__(
        self,
        address: str,
        token: str | None = None,
        sampling: protocol.SamplingConfig | None = None,
        *,
        answer_seconds: float = 120.0,
        connect_seconds: float = 10.0,
        patience_seconds: float = 60.0,
    ) -> None:
        """`address` is `host:port`. Without a `token` the one in the environment (`TOKEN_VARIABLE`) is sent, if any.

        Without `sampling` the server decides. `answer_seconds` and `connect_seconds` are timeouts; for
        `patience_seconds` a request is retried where the server is full or gone. Raises PolicyError for an invalid
        address.
        """
        try:
            where: Address = read_address(address, protocol.DEFAULT_PORT)
        except ValueError as error:
            raise policy.PolicyError(f"not the address of a policy server: {error}") from error
        self.address = str(where)
        self.answer_seconds, self.patience_seconds = answer_seconds, patience_seconds
        self._sampling_fields: dict[str, Any] = {}
        if sampling is not None:
            self._sampling_fields = protocol.sampling_to_json(sampling)
        if token is None:
            token = os.environ.get(protocol.TOKEN_VARIABLE)
        self._client = _Client(where, token, connect_seconds)
        self.step: int | None = None
        """The step of the weights that answered last, as far as the server tells."""

    def close(self) -> None:
        """Close the idle connections."""
        self._client.close()

    def status(self) -> dict[str, Any]:
        """Return the server's `/status`; raises PolicyUnreachable at once, without retries, if it is not there."""
        code, body = self._client.get("/status", _STATUS_SECONDS, attempts=1)
        if code != 200 or not isinstance(body, dict) or "sampling" not in body:
            raise policy.PolicyServerError(
                f"{self.address} is no policy server (GET /status answered {code}: {str(body)[:100]})"
            )
        return body

    def suggest(self, state_text: str, seed: int = 0, *, deadline: float | None = None) -> policy.Suggestion:
        """Suggest tactics and a value for a state; blocks until `deadline` (`time.monotonic`) or for `answer_seconds`.

        Raises BadState, PolicyTimeout, PolicyBusy, PolicyUnreachable, PolicyAccessDenied, or PolicyServerError.
        """
        return self.suggest_all([state_text], [seed], deadline=deadline)[0]

    def suggest_all(
        self, states: Sequence[str], seeds: Sequence[int], *, deadline: float | None = None
    ) -> list[policy.Suggestion]:
        """Suggest tactics and values for several states in one request, which succeed all or none."""
        seconds, slack = self.answer_seconds, _SLACK_SECONDS
        if deadline is not None:
            seconds, slack = min(seconds, deadline - time.monotonic()), 0.0  # a deadline of the caller's is kept
            if seconds <= 0:
                raise policy.PolicyTimeout("the deadline was over before the policy server was asked")
        body = {"states": list(states), "seeds": list(seeds), "timeout_seconds": seconds, **self._sampling_fields}
        try:
            code, answer = self._client.post(
                "/generate",
                body,
                seconds + slack,
                attempts=_ATTEMPTS,
                retry_seconds=min(self.patience_seconds, 0.9 * seconds),
            )
        except UnicodeEncodeError as error:
            raise policy.BadState("the state is not Unicode: it has a lone surrogate") from error
        if code != 200:
            raise self._refusal(code, answer)
        # `type`, as true is an integer to `isinstance`.
        if isinstance(answer, dict) and type(answer.get("step")) is int:
            self.step = answer["step"]
        try:
            return [protocol.suggestion_from_json(entry) for entry in _suggestions_of(answer, len(states))]
        except ValueError as error:
            raise policy.PolicyServerError(
                f"policy server {self.address} answered what is no suggestion: {error}"
            ) from error

    def _refusal(self, code: int, answer: Any) -> policy.PolicyError:
        reason = None
        if isinstance(answer, dict):
            reason = answer.get("error")
        shown = " ".join(str(reason or f"status {code}").split())[:300]
        message = f"policy server {self.address}: {shown}"
        kinds = {
            400: policy.BadState,
            429: policy.PolicyBusy,
            502: policy.PolicyUnreachable,
            503: policy.PolicyUnreachable,
            504: policy.PolicyTimeout,
        }
        return kinds.get(code, policy.PolicyServerError)(message)


def _suggestions_of(answer: Any, length: int) -> list[Any]:
    suggestions = None
    if isinstance(answer, dict):
        suggestions = answer.get("suggestions")
    if not isinstance(suggestions, list) or len(suggestions) != length:
        raise ValueError(f"`suggestions` must be a list of {length}")
    return suggestions
