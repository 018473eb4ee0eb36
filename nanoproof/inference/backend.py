"""What the engine asks of whoever computes for it."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from nanoproof.inference.model_options import EngineLimits
from nanoproof.inference.sampling import Completion, EngineRequest, EngineStats, SamplingOptions
from nanoproof.model.gpt import GPT
from nanoproof.model.tokenizer import Tokenizer, available_cores


def cpu_threads() -> int:
    """Return half of the cores of this process, shared among the ranks of this machine: the others are for Lean.

    Threads of one computation wait for each other, so that one busy core more than there are makes them crawl: on two
    cores, with one Lean process at work, two threads answered 13 states per second and one answered 109.
    """
    return max(1, available_cores() // (2 * int(os.environ.get("LOCAL_WORLD_SIZE", 1))))


@dataclass(frozen=True)
class Setting:
    """What a backend is made for: budgets in bytes, for what is decoded and for prompts that were read."""

    model: GPT
    tokenizer: Tokenizer
    limits: EngineLimits
    budget: int
    prompt_budget: int
    stats: EngineStats
    """Counted up by the backend: prefills, tokens and steps."""


@dataclass(frozen=True)
class Ended:
    """A request that ended with a step: it has an answer or an error."""

    request: EngineRequest
    completion: Completion | None = None
    error: Exception | None = None


class Backend(Protocol):
    """Computes requests that the engine has admitted. Raises RuntimeError where a computation fails."""

    name: str

    @property
    def num_samples(self) -> int:
        """Number of samples that are being decoded."""
        ...

    @property
    def num_bytes(self) -> int:
        """Size of what keys and values take."""
        ...

    def fits(self, length: int, options: SamplingOptions) -> bool:
        """Tell whether there is memory for a request with a prompt of this length if there is nothing else."""
        ...

    def allocate(self, request: EngineRequest, alone: bool) -> bool:
        """Take memory for a request, if there is some; `alone` says that no other has any."""
        ...

    def prefill(self, begun: Sequence[EngineRequest]) -> None:
        """Compute the prompts of requests that have memory since the last call."""
        ...

    def step(self) -> list[Ended]:
        """Compute a token of every sample; returns the requests that ended, which are still to be removed."""
        ...

    def remove(self, request: EngineRequest) -> None:
        """Free what a request has, ended or not."""
        ...

    def refresh(self) -> None:
        """Read the model's present weights, and forget what was computed with others. There is no request."""
        ...

    def reset(self) -> None:
        """Drop all requests and give memory back."""
        ...

    def decisions(self) -> dict[str, str]:
        """Describe each choice with its reason."""
        ...
