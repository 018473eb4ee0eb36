"""Vectors of texts as arrays, and the encoder that needs no network: it counts words. Nothing here imports torch.

Shapes: N texts, C channels.
"""

import hashlib
import math
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_json, json_line, read_object
from nanoproof.common.torch_there import Later
from nanoproof.retrieval.corpus import MARK_END, MARK_START

if TYPE_CHECKING:
    import torch
else:  # whoever compares words does not need it
    torch = Later("torch")

ROWS = 64
"""Texts that are encoded at a time where nothing is learned."""


class Encoder(Protocol):
    """Makes vectors of texts. `encode` may be differentiated; calls of several threads at once are the caller's."""

    max_tokens: int
    """Longest text; of longer ones a part is read."""

    @property
    def identity(self) -> str:
        """A digest of the weights and of how texts are read: equal for encoders that give equal vectors."""
        ...

    @property
    def device(self) -> "torch.device": ...

    def parameters(self) -> "list[torch.nn.Parameter]":
        """Return what is trained."""
        ...

    def training(self, on: bool) -> None:
        """Turn on what networks do in training alone (dropout), or off."""
        ...

    def encode(self, texts: Sequence[str]) -> "torch.Tensor":
        """Return the vectors of texts, float32 (N, C), of length 1."""
        ...

    def save(self, folder: Path) -> None:
        """Write the network so that `open_encoder` loads it."""
        ...


# -- Without a network -----------------------------------------------------------------------------------------------

WORD_CHANNELS = 1024
WORDS_FILE = "words.json"
SHORTEST = 1e-12
"""Length by which a vector is divided at least."""
# An identifier with its primes, or a run of symbols such as `∣` or `<=`.
_WORD = re.compile(r"\w+[\w'!?]*|[^\w\s()\[\]{},:.«»⟨⟩]+")
# Parts of an identifier: `add`, `comm` of `add_comm`, and of `leTrans` `le` and `Trans`.
_INNER = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")


def words_of(text: str) -> Counter[str]:
    """Count the words of a text: identifiers and their parts (`add_comm`, `add`, `comm`), and symbols.

    Names of one letter are left out: they are those of variables. BM25 reads parts alone (`scores.words`).
    """
    counts: Counter[str] = Counter()
    for word in _WORD.findall(text.replace(MARK_START, " ").replace(MARK_END, " ")):
        if len(word) > 1 or not word.isalpha():
            counts[word] += 1
        for part in _INNER.findall(word):
            if len(part) > 1 and part != word:
                counts[part.lower()] += 1
    return counts


class WordEncoder:
    """TF-IDF without a network: channels are words by their hash, weighed by how few texts have them.

    The weight of a word is (1 + ln count) * ln(1 + N / (1 + texts that have it)), after Salton and Buckley 1988.
    """

    max_tokens = 1 << 30

    def __init__(self, counts: Mapping[str, int], texts: int) -> None:
        """`counts` says how many of the `texts` that were counted have each word."""
        self._counts, self._texts = dict(counts), texts

    @classmethod
    def of(cls, texts: Iterable[str]) -> "WordEncoder":
        """Make the encoder for a collection of texts."""
        counts: Counter[str] = Counter()
        number = 0
        for text in texts:
            counts.update(words_of(text).keys())
            number += 1
        return cls(counts, number)

    @property
    def identity(self) -> str:
        return hashlib.sha256(json_line([self._texts, sorted(self._counts.items())]).encode()).hexdigest()

    @property
    def device(self) -> "torch.device":
        return torch.device("cpu")

    def parameters(self) -> "list[torch.nn.Parameter]":
        """Return nothing: there is nothing to train."""
        return []

    def training(self, on: bool) -> None: ...

    def encode(self, texts: Sequence[str]) -> "torch.Tensor":
        return torch.from_numpy(self.vectors(texts))

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors of texts, float32 (N, C), of length 1, or 0 for a text without a word."""
        vectors = np.zeros((len(texts), WORD_CHANNELS), np.float32)
        for vector, text in zip(vectors, texts):
            for word, count in words_of(text).items():
                rarity = math.log(1 + self._texts / (1 + self._counts.get(word, 0)))
                # Not `hash`, which differs from process to process: an index is kept.
                digest = zlib.crc32(word.encode("utf-8", "surrogatepass"))
                # A sign by another bit: words that share a channel then cancel out on average, and do not make texts
                # alike that have no word in common (feature hashing, Weinberger et al. 2009).
                sign = 1 if digest >> 31 else -1
                vector[digest % WORD_CHANNELS] += (1 + math.log(count)) * rarity * sign
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.maximum(lengths, SHORTEST)

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        atomic_write_json(folder / WORDS_FILE, {"texts": self._texts, "counts": self._counts})

    @classmethod
    def load(cls, folder: Path) -> "WordEncoder":
        """Read what `save` wrote. Raises UserError if it is not there."""
        about = read_object(folder / WORDS_FILE) or {}
        counts, texts = about.get("counts"), about.get("texts")
        if not isinstance(counts, dict) or not isinstance(texts, int):
            raise UserError(f"{folder} has no {WORDS_FILE}; python -m nanoproof.retrieval index makes it")
        return cls(counts, texts)


# -- Opening ---------------------------------------------------------------------------------------------------------


# -- Any number of texts ---------------------------------------------------------------------------------------------


def encode_all(
    encoder: Encoder, texts: Sequence[str], rows: int = ROWS, stopped: Callable[[], bool] = lambda: False
) -> "torch.Tensor":
    """Return the vectors of any number of texts, float32 (N, C), `rows` at a time, those of about the same length.

    May be differentiated. Ends early, with KeyboardInterrupt, once `stopped()`.
    """
    # Each row is padded to the longest of its batch, and padding is computed like text.
    order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
    batches: list[torch.Tensor] = []
    for first in range(0, len(order), rows):
        if stopped():
            raise KeyboardInterrupt
        batches.append(encoder.encode([texts[number] for number in order[first : first + rows]]))
    # The inverse of that order brings each vector back to the place of its text.
    places = torch.empty(len(order), dtype=torch.long)
    places[torch.tensor(order, dtype=torch.long)] = torch.arange(len(order))
    return torch.cat(batches)[places.to(batches[0].device)]


def embed(encoder: Encoder, texts: Sequence[str], stopped: Callable[[], bool] = lambda: False) -> np.ndarray:
    """Return the vectors of any number of texts as an array, float32 (N, C), for use and not for training."""
    if not texts:
        return np.zeros((0, 1), np.float32)
    if isinstance(encoder, WordEncoder):
        rows: list[np.ndarray] = []
        for first in range(0, len(texts), ROWS):
            if stopped():
                raise KeyboardInterrupt
            rows.append(encoder.vectors(texts[first : first + ROWS]))
        return np.concatenate(rows)
    encoder.training(False)
    with torch.inference_mode():
        vectors: np.ndarray = encode_all(encoder, texts, ROWS, stopped).cpu().numpy()
    return vectors
