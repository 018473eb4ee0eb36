"""One interface for models that continue text: our own checkpoints, transformers, and OpenAI-compatible endpoints."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from nanoproof.common.config import opt, validated

WHOLE_PROOF_TOKENS = 1024
"""How long a whole proof may be, where the model can read twice as much."""


@validated("generation")
class GenerationOptions:
    """How text is sampled; `temperature` 0 is greedy."""

    num_samples: int = opt(1, "Samples of each prompt.", min=1)
    max_new_tokens: int = opt(256, "Tokens of a sample, its end included.", min=1)
    temperature: float = opt(1.0, "Temperature; 0 takes the likeliest token.", min=0)
    top_p: float = opt(1.0, "Sample from the likeliest tokens that have this much of the probability.", above=0, max=1)
    stop: tuple[str, ...] = opt((), "A sample ends before the first of these texts.", metavar="TEXT")


@dataclass(frozen=True, slots=True)
class TextSample:
    """A continuation of a prompt, without its end marker or `stop` text.

    `logprob` is that of all its tokens, its end included, under the model itself (temperature 1, all tokens), None
    where the model does not say. `finished` is false where `max_new_tokens` cut it off.
    """

    text: str
    logprob: float | None
    num_tokens: int
    finished: bool


@dataclass(frozen=True, slots=True)
class Written:
    """The samples of a prompt, and what a value head says of it: the probabilities of 1, 2, ... tactics that the state
    still needs; empty for models without one."""

    samples: list[TextSample]
    value: tuple[float, ...] = ()


def chat_messages(prompt: str, system: str = "") -> list[dict[str, str]]:
    """Return the messages that ask a chat model: a user's, behind one of the system if there is such a text."""
    messages = [{"role": "user", "content": prompt}]
    return [{"role": "system", "content": system}, *messages] if system else messages


class LanguageModel(Protocol):
    """A model that continues text. Any number of threads may share it.

    What a backend cannot do (an endpoint that has no embeddings) raises UserError with the reason.
    """

    @property
    def name(self) -> str:
        """The SPEC that it was opened from, without secrets."""
        ...

    def generate(
        self, prompts: Sequence[str], options: GenerationOptions, seeds: Sequence[int]
    ) -> list[list[TextSample]]:
        """Return `options.num_samples` samples for each prompt, in order; `seeds[i]` is that of `prompts[i]`.

        Copies of a prompt get different seeds from the caller, and the samples of one prompt differ by themselves.
        Raises PolicyError where the model fails.
        """
        ...

    def score(self, prompt: str, continuation: str) -> float:
        """Return the log-probability of a continuation (without an end), summed over its tokens, in nats."""
        ...

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return a vector for each text, float32 (N, C), of length 1."""
        ...

    def num_tokens(self, text: str) -> int:
        """Return how many tokens a text has; about as many where the tokenizer is not known."""
        ...

    def close(self) -> None:
        """Free what the model holds."""
        ...


def write_valued(
    model: LanguageModel, prompts: Sequence[str], options: GenerationOptions, seeds: Sequence[int]
) -> list[Written]:
    """Continue prompts as `model.generate` does, with the values of a model that has a value head."""
    if has_values(model):
        return getattr(model, "generate_valued")(prompts, options, seeds)  # noqa: B009
    return [Written(samples) for samples in model.generate(prompts, options, seeds)]


def has_values(model: LanguageModel) -> bool:
    """Tell whether a model has a value head that was trained."""
    return bool(getattr(model, "has_values", False))


def batches_at_once(model: LanguageModel) -> int:
    """Return how many batches a model should be asked for at a time: one, unless several machines write for it."""
    return getattr(model, "batches", 1)


# -- What backends share ---------------------------------------------------------------------------------------------


def cut_at(text: str, stop: Sequence[str]) -> tuple[str, bool]:
    """Cut a text before the first of the texts of `stop`; also returns whether there was one."""
    end = len(text)
    stopped = False
    for stop_text in stop:
        index = text.find(stop_text)
        if index >= 0:
            end, stopped = min(end, index), True
    return text[:end], stopped


def unit_vectors(vectors_NC: np.ndarray) -> np.ndarray:
    """Scale vectors (N, C) to length 1, as float32; zeros stay zeros."""
    # In the vectors' own precision, which may be float64: rounded only once, at the end.
    lengths_N1 = np.linalg.norm(vectors_NC, axis=1, keepdims=True)
    return (vectors_NC / np.maximum(lengths_N1, 1e-12)).astype(np.float32)
