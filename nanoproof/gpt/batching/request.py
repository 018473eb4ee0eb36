"""What the engine is asked and what it answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from nanoproof.common.config import opt, validate
from nanoproof.gpt.sampling import SamplingOptions


@dataclass(frozen=True)
class EngineLimits:
    """How much the engine holds at a time."""

    cache_mbytes: float | None = opt(
        None, "Memory for keys and values, in units of 10^6 bytes (none: a share of what is free).", above=0
    )
    max_rows: int | None = opt(
        None, "Samples that are decoded at a time; one request may have more (none: what suits the device).", min=1
    )
    reuse_share: float = opt(
        0.25, "Share of that memory which keeps prompts that were read.", min=0, max=0.9, advanced=True
    )
    cuda_graphs: Literal["auto", "on", "off"] = opt(
        "auto",
        "Record decoding steps as CUDA graphs; auto does on a GPU.",
        choices=("auto", "on", "off"),
        advanced=True,
    )

    def __post_init__(self) -> None:
        validate(self, "engine")


@dataclass(frozen=True, slots=True)
class Sample:
    """Text tokens up to EOS, and the log-probability of all of it (EOS included) at temperature 1.

    The distribution is the model's over text tokens and EOS: markers cannot be sampled and do not count.
    """

    tokens: list[int]
    logprob: float


@dataclass(frozen=True, slots=True)
class Completion:
    """What the model says about one prompt: finished samples, how many did not end in time, and the value's bins."""

    samples: list[Sample]
    num_unfinished: int
    value_distribution: list[float]

    @property
    def value(self) -> float:
        """Expected number of tactics; the first bin stands for 1."""
        return sum(tactics * p for tactics, p in enumerate(self.value_distribution, start=1))


class EngineRequest:
    """A prompt that was submitted. When it has ended, `completion` or `error` is set, or it was cancelled."""

    __slots__ = ("cancelled", "completion", "error", "options", "prompt", "seed")

    def __init__(self, prompt: Sequence[int], options: SamplingOptions, seed: int) -> None:
        self.prompt, self.options, self.seed = tuple(prompt), options, seed
        self.completion: Completion | None = None
        self.error: Exception | None = None
        self.cancelled = False

    @property
    def ended(self) -> bool:
        return self.cancelled or self.completion is not None or self.error is not None


@dataclass
class EngineStats:
    """Work so far."""

    submitted: int = 0
    completed: int = 0
    failed: int = 0
    cancelled: int = 0
    prefills: int = 0
    """Prompts of which something had to be read; the others were known."""
    prompt_tokens: int = 0
    """Tokens of prompts that were read."""
    reused_tokens: int = 0
    """Tokens of prompts that were not read, because they were known."""
    sampled_tokens: int = 0
    """Tokens that were sampled, ends included."""
    decode_steps: int = 0
    decode_rows: int = 0
    """Rows of the network in these steps: samples and markers."""
    replayed_steps: int = 0
    """Steps that were computed by a recording."""
    cache_bytes: int = 0
    """Keys and values: slots, and prompts that are kept."""
