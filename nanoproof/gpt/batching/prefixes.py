"""Prompts that were read, kept for those that begin alike: no token of a state is read twice while there is room.

Shapes: L layers, J key/value heads, D head size, C columns of a slot, P tokens of a prompt.

Prompts are looked up by their beginnings of whole blocks (and as a whole). Where the tokens of a state see each other
both ways, only the whole prompt counts.
"""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from nanoproof.gpt.batching.pools import Pool

BLOCK = 16
"""Beginnings are multiples of so many tokens."""


@dataclass(frozen=True)
class Prefix:
    """Keys and values of a prompt."""

    prompt: tuple[int, ...]
    keys_LJDP: torch.Tensor
    values_LJPD: torch.Tensor

    @property
    def num_bytes(self) -> int:
        return 2 * self.keys_LJDP.numel() * self.keys_LJDP.element_size()


class Prefixes:
    """Prompts, of which those that were not used for longest go first."""

    def __init__(self, budget: int, whole_only: bool) -> None:
        self._budget, self._whole_only = budget, whole_only
        self._kept: OrderedDict[tuple[int, ...], Prefix] = OrderedDict()
        self._beginnings: dict[int, Prefix] = {}
        self.num_bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def fill(self, prompt: tuple[int, ...], pool: Pool, slot: int) -> int:
        """Copy what is known of a prompt into a slot; returns the number of columns."""
        prefix, length = self._find(prompt)
        if prefix is None:
            return 0
        self._kept.move_to_end(prefix.prompt)
        pool.keys_LSJDC[:, slot, :, :, :length] = prefix.keys_LJDP[..., :length]
        pool.values_LSJCD[:, slot, :, :length] = prefix.values_LJPD[:, :, :length]
        return length

    def keep(self, prompt: tuple[int, ...], pool: Pool, slot: int) -> None:
        """Keep a prompt that was read into a slot."""
        keys_LJDC, values_LJCD = pool.keys_LSJDC[:, slot], pool.values_LSJCD[:, slot]
        length = len(prompt)
        needed = 2 * keys_LJDC[..., :length].numel() * keys_LJDC.element_size()
        if prompt in self._kept or needed > self._budget:
            return
        while self.num_bytes + needed > self._budget:
            self._drop(next(iter(self._kept.values())))
        prefix = Prefix(prompt, keys_LJDC[..., :length].clone(), values_LJCD[:, :, :length].clone())
        self._kept[prompt] = prefix
        self.num_bytes += prefix.num_bytes
        for _, name in self._names(prompt):
            self._beginnings[name] = prefix

    def clear(self) -> None:
        self._kept.clear()
        self._beginnings.clear()
        self.num_bytes = 0

    def _find(self, prompt: tuple[int, ...]) -> tuple[Prefix | None, int]:
        """The prompt that was kept and begins most like this one, and how far."""
        prefix = self._kept.get(prompt)
        if prefix is not None:
            return prefix, len(prompt)
        best, length = None, 0
        for stop, name in self._names(prompt):
            candidate = self._beginnings.get(name)
            if candidate is not None and candidate.prompt[:stop] == prompt[:stop]:
                best, length = candidate, stop
        return best, length + _shared(best.prompt[length:], prompt[length:]) if best else 0

    def _names(self, prompt: tuple[int, ...]) -> Iterator[tuple[int, int]]:
        """Length and hash of every beginning."""
        if self._whole_only:
            return
        name = 0
        for stop in range(BLOCK, len(prompt) + 1, BLOCK):
            name = hash((name, prompt[stop - BLOCK : stop]))
            yield stop, name

    def _drop(self, prefix: Prefix) -> None:
        del self._kept[prefix.prompt]
        self.num_bytes -= prefix.num_bytes
        for _, name in self._names(prefix.prompt):
            if self._beginnings.get(name) is prefix:
                del self._beginnings[name]


def _shared(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """How many tokens two prompts begin with alike."""
    return next((i for i, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
