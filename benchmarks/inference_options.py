"""Options of the inference benchmark: the network, and what it is asked. Nothing here needs torch."""

import math
from typing import TYPE_CHECKING

from nanoproof.common.config import change, check, group, opt, validated
from nanoproof.model.network_options import NetworkShape
from nanoproof.model.tokenizer import BYTE_OF_CHARACTER, MARKERS, SYMBOLS
from nanoproof.policy.protocol import SamplingConfig

if TYPE_CHECKING:
    from nanoproof.inference.sampling import SamplingOptions

SMALLEST_VOCABULARY = len(BYTE_OF_CHARACTER) + 26 * 26 + len(SYMBOLS) + len(MARKERS)


def end_logit(probability: float, others: int) -> float:
    """Return the logit by which a sample ends with a probability, where `others` tokens have logits about zero."""
    # Random weights would hardly ever end one, and samples that all have the full length are what batches as barriers
    # do best: the baseline would look better than with a trained network.
    odds = probability / (1 - probability) * others
    return math.log(max(odds, 1e-6))


@validated("network")
class NetworkSize:
    """Random network, where --model-path is not given."""

    vocab_size: int = opt(2048, "Size of the vocabulary.", min=SMALLEST_VOCABULARY, max=400_000)
    network: NetworkShape = group(
        NetworkShape,
        without=("sequence_len", "window_pattern", "value_embedding"),
        depth=change(4),
        aspect_ratio=change(48),
        head_dim=change(32),
    )
    end_probability: float = opt(0.12, "How likely a sample ends at each token; 0 means never.", min=0, max=0.9)


@validated("load")
class Load:
    """Requests of the benchmark."""

    states: int = opt(64, "States in flight.", min=1)
    samples: int = opt(6, "Samples of each state.", min=1)
    max_new_tokens: int = opt(24, "Longest sample.", min=1)
    min_prompt_tokens: int = opt(100, "Shortest prompt; lengths are uniform up to the longest.", min=2)
    max_prompt_tokens: int = opt(400, "Longest prompt.", min=2)
    rounds: int = opt(3, "Times that each way is measured, taking turns; medians count.", min=1)
    states_per_round: int | None = opt(None, "States in a round (none: twice those in flight).", min=1)

    def __post_init__(self) -> None:
        check(
            self.min_prompt_tokens <= self.max_prompt_tokens,
            f"load.max_prompt_tokens must be >= load.min_prompt_tokens, got {self.max_prompt_tokens}",
            "load",
        )

    @property
    def per_round(self) -> int:
        return self.states_per_round or 2 * self.states

    @property
    def options(self) -> "SamplingOptions":
        """In the engine's terms."""
        return self.config.options()

    @property
    def config(self) -> SamplingConfig:
        """In the policy's terms."""
        return SamplingConfig(num_sampled_tactics=self.samples, max_gen_tokens=self.max_new_tokens)
