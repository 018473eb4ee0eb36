"""How tokens are sampled, and the requests, answers and limits of the engine.

Shapes: S states, K samples of a state, R rows (samples that are being written), V tokens, T tokens to generate.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True)
class SamplingOptions:
    """How the engine samples; `first_token_cap` None means that samples are independent.

    `start` is the token that the samples follow, None for `<|tactic|>`. A sample ends with EOS or when it holds one of
    the texts of `stop`.
    """

    num_samples: int
    max_new_tokens: int
    first_token_cap: int | None = None
    temperature: float = 1.0
    top_p: float = 1.0
    start: int | None = None
    stop: tuple[str, ...] = ()

    @property
    def shaping(self) -> tuple[float, ...]:
        """The options that change which tokens are likely, as `shaped_logits` takes them."""
        return (self.temperature, self.top_p)


UNSHAPED = SamplingOptions(1, 1).shaping
"""The shaping that leaves the model's distribution as it is."""
OUTSIDE = -1e3
"""Added to the logits outside of the nucleus: e to this is 0, but they stay in order where a cap on first tokens asks
for more different ones than the nucleus has."""


def shaped_logits(logits_NV: torch.Tensor, shaping: Iterable[Any], nucleus: bool) -> torch.Tensor:
    """Return logits of the distribution that tokens are drawn from; `shaping` holds numbers, or tensors (N, 1).

    The likeliest tokens that together reach `top_p` are its nucleus (Holtzman et al. 2020); with `nucleus` false every
    `top_p` is 1, which saves sorting.
    """
    temperature, top_p = shaping
    shaped_NV = logits_NV / temperature
    if not nucleus:
        return shaped_NV
    # Stable: of equal logits the same ones are always inside, so that equal seeds give equal samples.
    sorted_NV, order_NV = shaped_NV.sort(dim=-1, descending=True, stable=True)
    probabilities_NV = sorted_NV.softmax(dim=-1)
    # A token is outside if those before it reach `top_p` already: the one that crosses it is inside.
    outside_NV = probabilities_NV.cumsum(dim=-1) - probabilities_NV >= top_p
    outside_NV[..., 0] = False  # however small `top_p` and however the subtraction rounds, one token is left
    in_vocabulary_order_NV = torch.zeros_like(shaped_NV).scatter(-1, order_NV, outside_NV.to(shaped_NV.dtype))
    return shaped_NV + OUTSIDE * in_vocabulary_order_NV


@dataclass(frozen=True)
class Noise:
    """All randomness of a batch: `arrivals_SVC` for the first tokens, `uniforms_TSK` for the others."""

    arrivals_SVC: torch.Tensor
    uniforms_TSK: torch.Tensor

    @classmethod
    def draw(cls, seeds: list[int], num_tokens: int, options: SamplingOptions, device: torch.device) -> "Noise":
        """Draw the noise of requests with these seeds, for `num_tokens` possible first tokens."""
        # A token is never wanted more often than there are samples; too few tokens make more copies of each necessary.
        copies = min(options.first_token_cap or options.num_samples, options.num_samples)
        copies = max(copies, math.ceil(options.num_samples / num_tokens))
        arrivals, uniforms = [], []
        # A generator for each request, and all of its noise at once, for as many tokens as it may have: its samples
        # then depend on its seed and options alone, whatever shares its batch and however long others go on.
        for seed in seeds:
            generator = torch.Generator(device=device).manual_seed(seed)
            waits = torch.empty(num_tokens, copies, device=device).exponential_(generator=generator)
            arrivals.append(waits.cumsum(dim=-1))
            shape = (options.max_new_tokens, options.num_samples)
            uniforms.append(torch.rand(shape, generator=generator, device=device))
        return cls(torch.stack(arrivals), torch.stack(uniforms, dim=1))


def first_tokens(logits_SV: torch.Tensor, arrivals_SVC: torch.Tensor, num_samples: int) -> torch.Tensor:
    """Sample the first tokens (S, K) of each state, at most C of them alike.

    Gumbel-top-k over C copies of each token: the c-th copy of token v has the key log p(v) - log(E1 + ... + Ec) with
    exponential E, so that for C = 1 it is Gumbel-top-k without replacement, and in general it is sampling one after the
    other where a token that was drawn C times leaves. (The keys are minus the log arrival times of Poisson processes.)
    """
    keys_SVC = logits_SV.unsqueeze(-1) - arrivals_SVC.log()
    chosen_SK = keys_SVC.flatten(1).topk(num_samples, dim=-1).indices
    return chosen_SK // arrivals_SVC.shape[-1]


def next_tokens(probabilities_RV: torch.Tensor, uniforms_R: torch.Tensor) -> torch.Tensor:
    """Sample one token per row, (R,), by inverting the cumulative distribution at the row's uniform number."""
    # Not `torch.multinomial`, which draws from a generator of the batch: here each row brings its own noise.
    cumulative_RV = probabilities_RV.cumsum(dim=-1)
    # Times the last sum, which rounding leaves a little beside 1.
    targets_R1 = uniforms_R.unsqueeze(1) * cumulative_RV[:, -1:]
    # From the right: a token of probability 0 has the sum of the one before it, and is passed over.
    tokens_R1 = torch.searchsorted(cumulative_RV, targets_R1, right=True)
    # A product that rounds up to the last sum has no place below it.
    return tokens_R1.squeeze(1).clamp_(max=probabilities_RV.shape[-1] - 1)


# -- Requests, answers and limits of the engine ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sample:
    """Text tokens up to EOS or the end of a `stop` text, and the log-probability of all of it (EOS included) at
    temperature 1.

    The distribution is the model's over text tokens and EOS: markers cannot be sampled and do not count.
    """

    tokens: list[int]
    logprob: float


@dataclass(frozen=True, slots=True)
class Completion:
    """The answer to one prompt: finished samples, the number of unfinished ones, and the distribution of the value.

    `unfinished` is what the unfinished ones wrote, `max_new_tokens` each.
    """

    samples: list[Sample]
    num_unfinished: int
    value_distribution: list[float]
    unfinished: tuple[Sample, ...] = ()

    @property
    def value(self) -> float:
        """Expected number of tactics; the first bin stands for 1."""
        return sum(tactics * p for tactics, p in enumerate(self.value_distribution, start=1))


class EngineRequest:
    """A submitted prompt. When it has ended, `completion` or `error` is set, or it was cancelled."""

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
    """What the engine did so far."""

    submitted: int = 0
    completed: int = 0
    failed: int = 0
    cancelled: int = 0
    restarted: int = 0
    """Requests that were begun again, as the weights changed."""
    prefills: int = 0
    """Prompts that were prefilled, at least in part; the others were cached."""
    prompt_tokens: int = 0
    """Tokens of prompts that were prefilled."""
    reused_tokens: int = 0
    """Tokens of prompts that were cached."""
    sampled_tokens: int = 0
    """Tokens that were sampled, ends included."""
    decode_steps: int = 0
    decode_rows: int = 0
    """Rows of the network in these steps: samples and markers."""
    replayed_steps: int = 0
    """Steps that were computed by replaying a CUDA graph."""
    cache_bytes: int = 0
    """Size of the KV cache and the prefix cache."""
