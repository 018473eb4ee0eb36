"""Sampling options, options of the policy server, and the JSON between server and client. Nothing here needs torch."""

import dataclasses
from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, ConfigDict, NonNegativeInt, PositiveInt, ValidationError, model_validator

from nanoproof.common.config import check, opt, validated
from nanoproof.common.errors import first_problem
from nanoproof.common.web.http_client import on_loopback
from nanoproof.model.tokenizer import NUM_VALUE_BINS
from nanoproof.search.policy import Suggestion

if TYPE_CHECKING:
    from nanoproof.inference.sampling import SamplingOptions

# -- Sampling --------------------------------------------------------------------------------------------------------


@validated("sampling")
class SamplingConfig:
    """Sampling of tactics."""

    num_sampled_tactics: int = opt(6, "Tactics sampled each time a state is expanded.", min=1)
    # 56 of 100 theorems with it, 39 without (experiments.md, the learning gap).
    first_token_occurrences_cap: int | None = opt(
        2, "How many of a state's samples may share their first token (none: any number).", min=1, advanced=True
    )
    # Of human proofs on NanoLean 99.1% of the tactics have at most so many tokens of a vocabulary of 1,024, of the
    # supervised data 99.9% (experiments.md, words within reach).
    max_gen_tokens: int = opt(
        56, "Tokens a tactic may have, its end included; longer samples are dropped.", min=1, advanced=True
    )
    temperature: float = opt(1.0, "Temperature of sampling.", min=1e-6, max=1e6)
    top_p: float = opt(
        1.0,
        "Sample from the likeliest tokens that together have this much of the probability.",
        above=0,
        max=1,
        advanced=True,
    )

    def options(self) -> "SamplingOptions":
        """Return the options of the engine that these stand for."""
        from nanoproof.inference.sampling import SamplingOptions  # it imports torch, which clients of a server need not

        return SamplingOptions(
            num_samples=self.num_sampled_tactics,
            max_new_tokens=self.max_gen_tokens,
            first_token_cap=self.first_token_occurrences_cap,
            temperature=self.temperature,
            top_p=self.top_p,
        )


# -- The options of the policy server --------------------------------------------------------------------------------

DEFAULT_PORT = 5000
TOKEN_VARIABLE = "NANOPROOF_POLICY_TOKEN"
"""Environment variable with the token that the server asks for and clients send."""

_LEVELS = ("debug", "info", "warning", "error")


@validated("inference")
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
    longest_text: int = opt(4096, "Tokens that a request to /v1/completions may ask for.", min=1, advanced=True)
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


# -- JSON ------------------------------------------------------------------------------------------------------------

SAMPLING_FIELDS = tuple(field.name for field in dataclasses.fields(SamplingConfig))
_FIELDS = ("tactics", "logprobs", "counts", "value", "value_distribution", "num_dropped")


class _Answer(BaseModel):
    """A suggestion as a server sends it: the lists must fit together and hold what they should."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    tactics: list[str] = []
    logprobs: list[float] = []
    counts: list[PositiveInt] = []
    value: float
    value_distribution: list[float] | None = None
    num_dropped: NonNegativeInt = 0

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if len(set(self.tactics)) != len(self.tactics):
            raise ValueError("tactics must be distinct texts")
        if not len(self.tactics) == len(self.logprobs) == len(self.counts):
            raise ValueError("there must be as many logprobs and counts as tactics")
        if len(self.value_distribution or ()) not in (0, NUM_VALUE_BINS):
            raise ValueError(f"value_distribution must have {NUM_VALUE_BINS} numbers or none")
        return self


def sampling_to_json(sampling: SamplingConfig) -> dict[str, Any]:
    """Return the sampling fields of a request."""
    return {name: getattr(sampling, name) for name in SAMPLING_FIELDS}


def suggestion_to_json(suggestion: Suggestion) -> dict[str, Any]:
    """Return one suggestion as JSON data; its numbers are read back without loss."""
    return {name: getattr(suggestion, name) for name in _FIELDS}


def suggestion_from_json(data: Any) -> Suggestion:
    """Read a suggestion. Raises ValueError for invalid data."""
    try:
        answer = _Answer.model_validate(data)
    except ValidationError as error:
        raise ValueError(first_problem(error)) from error
    lists = (tuple(answer.tactics), tuple(answer.logprobs), tuple(answer.counts))
    return Suggestion(*lists, answer.value, tuple(answer.value_distribution or ()), answer.num_dropped)
