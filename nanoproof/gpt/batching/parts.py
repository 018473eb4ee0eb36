"""The samples that are being written, in tables whose rows are parts.

Shapes: P parts, Q places (samples of a part), T tokens to generate, N rows (samples and markers) of a step.

A part is up to `MOST_PLACES` samples of one request, which share a slot of the cache. It begins with markers: place 0
is `<|tactic|>`, and in the first part of a request place 1 is `<|value|>`; after one step these places, and the others,
are samples. What the host has to know is in numpy arrays, what a step of the network needs is on the device. The last
row on the device takes what padding writes.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch

from nanoproof.gpt.batching.pools import SlotSize
from nanoproof.gpt.batching.request import EngineRequest
from nanoproof.gpt.batching.transfer import to_device

MOST_PLACES = 16


@dataclass(frozen=True)
class PartInfo:
    """Which samples of a request a part holds, and in slots of which size its keys and values are."""

    request: EngineRequest
    first: int
    count: int
    size: SlotSize


def split_samples(samples: int) -> list[tuple[int, int]]:
    """First sample and number of samples of each part, as even as possible."""
    parts = math.ceil(samples / MOST_PLACES)
    bounds = [samples * part // parts for part in range(parts + 1)]
    return [(start, stop - start) for start, stop in pairwise(bounds)]


class Parts:
    """The table. It grows as needed, in all three directions; `generation` counts how often tensors were replaced."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self.generation = 0
        self.infos: list[PartInfo | None] = []
        self._free: list[int] = []
        self.places = self.most_steps = 0
        self._allocate(16, 2, 32)

    def _allocate(self, parts: int, places: int, steps: int) -> None:
        """Tables of at least this size, with what the old ones hold."""
        old, num_old = dict(vars(self)), len(self.infos)
        self.places, self.most_steps = max(places, self.places), max(steps, self.most_steps)
        parts, shape = max(parts, num_old), (max(parts, num_old), self.places)
        # Host: the slot, how many columns of it are filled, position of the next token, tokens sampled so far.
        self.slot, self.filled, self.position, self.time, self.steps, self.serial = np.zeros((6, parts), dtype=np.int64)
        self.marking = np.zeros(parts, dtype=bool)
        self.temperature = np.ones(parts)
        # Places that take part in the next step; samples whose end was not read yet.
        self.running, self.unread = np.zeros((2, *shape), dtype=bool)
        # What was read: tokens, how many precede the end (-1: it did not end), and the sum of their log-probabilities.
        self.tokens = np.zeros((*shape, self.most_steps), dtype=np.int32)
        self.lengths = np.zeros(shape, dtype=np.int32)
        self.logprobs = np.zeros(shape)
        # Device: each place's latest token, its noise, and each part's temperature.
        self.last_PQ = torch.zeros(parts + 1, self.places, dtype=torch.long, device=self._device)
        self.noise_PTQ = torch.zeros(parts + 1, self.most_steps, self.places, device=self._device)
        self.temperature_P1 = torch.ones(parts + 1, 1, device=self._device)
        for name, mine in vars(self).items():
            if num_old and isinstance(mine, (np.ndarray, torch.Tensor)):
                theirs = old[name][:num_old]
                mine[tuple(slice(size) for size in theirs.shape)] = theirs
        self.infos += [None] * (parts - num_old)
        self._free = list(range(parts - 1, num_old - 1, -1)) + self._free
        self.generation += 1

    @property
    def scratch(self) -> int:
        """The row that takes what padding writes."""
        return len(self.infos)

    def open(self, info: PartInfo, slot: int, steps: int, markers: list[int]) -> int:
        """A new part that begins with these markers; returns its row."""
        if not self._free or info.count > self.places or steps > self.most_steps:
            parts = len(self.infos) if self._free else 2 * len(self.infos)
            self._allocate(parts, max(2, info.count), steps)
        part = self._free.pop()
        length = len(info.request.prompt)
        self.infos[part] = info
        self.slot[part], self.filled[part], self.position[part] = slot, length, length
        self.time[part], self.steps[part], self.marking[part] = 0, steps, True
        self.running[part], self.unread[part], self.lengths[part] = False, False, -1
        self.running[part, : len(markers)] = True
        self.unread[part, : info.count] = True
        self.logprobs[part] = 0.0
        self.last_PQ[part, : len(markers)] = to_device(markers, self._device)
        self.temperature[part] = self.temperature_P1[part] = info.request.options.temperature
        return part

    def close(self, part: int) -> None:
        """Forget a part. What was computed for it and is not read yet counts for nothing."""
        self.serial[part] += 1
        self.running[part], self.unread[part], self.infos[part] = False, False, None
        self._free.append(part)

    def info(self, part: int) -> PartInfo:
        found = self.infos[part]
        assert found is not None, f"part {part} is free"
        return found
