"""Which examples go into which step: a fresh permutation for each epoch, dealt over the ranks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nanoproof.common.dist import DistInfo
from nanoproof.data.packing import Example, ExampleLimits, encode_transition
from nanoproof.data.transitions import Transition
from nanoproof.gpt.tokenizer import Tokenizer


@dataclass(frozen=True)
class EncodedSet:
    """Encoded transitions, and how many were over the limits and left out."""

    examples: list[Example]
    too_long: int

    @classmethod
    def encode(cls, tokenizer: Tokenizer, transitions: Sequence[Transition], limits: ExampleLimits) -> "EncodedSet":
        """Encode every transition that is within the limits."""
        encoded = [encode_transition(tokenizer, transition, limits) for transition in transitions]
        kept = [example for example in encoded if example is not None]
        return cls(kept, len(encoded) - len(kept))


class EpochSampler:
    """Endless batches of indices below `size`: every index once in each epoch, in an order that the seed decides.

    The position is `(epoch, offset)`; `batch(n)` gives the next n indices of the global order, across epochs.
    """

    def __init__(self, size: int, seed: int) -> None:
        self.size, self.seed = size, seed
        self.epoch, self.offset = 0, 0
        self._order = self._permutation()

    def _permutation(self) -> np.ndarray:
        return np.random.default_rng([self.seed, self.epoch]).permutation(self.size)

    def batch(self, count: int) -> list[int]:
        """The next `count` indices."""
        indices: list[int] = []
        while len(indices) < count:
            take = min(count - len(indices), self.size - self.offset)
            indices.extend(self._order[self.offset : self.offset + take].tolist())
            self.offset += take
            if self.offset == self.size:
                self.epoch, self.offset = self.epoch + 1, 0
                self._order = self._permutation()
        return indices

    def state(self) -> dict[str, int]:
        """What `restore` needs to go on from here."""
        return {"size": self.size, "epoch": self.epoch, "offset": self.offset}

    def restore(self, state: dict[str, int]) -> None:
        """Go on from a saved position. Raises ValueError if the set has another size."""
        if state["size"] != self.size:
            raise ValueError(f"the set has {self.size} examples, the saved position is in one of {state['size']}")
        self.epoch, self.offset = state["epoch"], state["offset"]
        self._order = self._permutation()


def deal(indices: Sequence[int], dist: DistInfo) -> Iterator[int]:
    """This rank's share of a global batch."""
    return iter(indices[dist.rank :: dist.world_size])
