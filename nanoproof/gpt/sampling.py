"""Drawing tokens: the noise of a request comes from its own seed, so an answer does not depend on its neighbours.

Shapes: S states, K samples of a state, R rows (samples that are being written), V tokens, T tokens to generate.
"""

import math
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class SamplingOptions:
    """How the engine samples; `first_token_cap` None means that samples are independent."""

    num_samples: int
    max_new_tokens: int
    first_token_cap: int | None = None
    temperature: float = 1.0


@dataclass(frozen=True)
class Noise:
    """All randomness of a batch: `arrivals_SVC` for the first tokens, `uniforms_TSK` for the others."""

    arrivals_SVC: torch.Tensor
    uniforms_TSK: torch.Tensor

    @classmethod
    def draw(cls, seeds: list[int], num_tokens: int, options: SamplingOptions, device: torch.device) -> "Noise":
        """The noise of requests with these seeds, for `num_tokens` possible first tokens."""
        # A token is never wanted more often than there are samples; too few tokens make more copies of each necessary.
        copies = min(options.first_token_cap or options.num_samples, options.num_samples)
        copies = max(copies, math.ceil(options.num_samples / num_tokens))
        arrivals, uniforms = [], []
        for seed in seeds:
            generator = torch.Generator(device=device).manual_seed(seed)
            waits = torch.empty(num_tokens, copies, device=device).exponential_(generator=generator)
            arrivals.append(waits.cumsum(dim=-1))
            shape = (options.max_new_tokens, options.num_samples)
            uniforms.append(torch.rand(shape, generator=generator, device=device))
        return cls(torch.stack(arrivals), torch.stack(uniforms, dim=1))


def first_tokens(logits_SV: torch.Tensor, arrivals_SVC: torch.Tensor, num_samples: int) -> torch.Tensor:
    """First tokens (S, K) of the samples of each state, at most C of them alike.

    Gumbel-top-k over C copies of each token: the c-th copy of token v has the key log p(v) - log(E1 + ... + Ec) with
    exponential E, so that for C = 1 it is Gumbel-top-k without replacement, and in general it is sampling one after the
    other where a token that was drawn C times leaves. (The keys are minus the log arrival times of Poisson processes.)
    """
    keys_SVC = logits_SV.unsqueeze(-1) - arrivals_SVC.log()
    chosen_SK = keys_SVC.flatten(1).topk(num_samples, dim=-1).indices
    return chosen_SK // arrivals_SVC.shape[-1]


def next_tokens(probabilities_RV: torch.Tensor, uniforms_R: torch.Tensor) -> torch.Tensor:
    """One token (R) per row, by inverting the cumulative distribution at the row's uniform number."""
    cumulative_RV = probabilities_RV.cumsum(dim=-1)
    targets_R1 = uniforms_R.unsqueeze(1) * cumulative_RV[:, -1:]
    found_R1 = torch.searchsorted(cumulative_RV, targets_R1, right=True)
    return found_R1.squeeze(1).clamp_(max=probabilities_RV.shape[-1] - 1)
