"""How many tactics are sampled for a state, and how."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nanoproof.common.config import opt, validate

if TYPE_CHECKING:
    from nanoproof.gpt.sampling import SamplingOptions


@dataclass(frozen=True)
class SamplingConfig:
    """Sampling of tactics."""

    num_sampled_tactics: int = opt(6, "Tactics sampled each time a state is expanded.", min=1)
    first_token_occurrences_cap: int | None = opt(
        2, "How many of a state's samples may share their first token (none: any number).", min=1, advanced=True
    )
    max_gen_tokens: int = opt(
        24, "Tokens a tactic may have, its end included; longer samples are dropped.", min=1, advanced=True
    )
    temperature: float = opt(1.0, "Temperature of sampling.", min=1e-6, max=1e6)

    def __post_init__(self) -> None:
        validate(self, "sampling")

    def options(self) -> "SamplingOptions":
        """The same in the engine's terms."""
        from nanoproof.gpt.sampling import SamplingOptions  # it imports torch, which clients of a server need not

        return SamplingOptions(
            num_samples=self.num_sampled_tactics,
            max_new_tokens=self.max_gen_tokens,
            first_token_cap=self.first_token_occurrences_cap,
            temperature=self.temperature,
        )
