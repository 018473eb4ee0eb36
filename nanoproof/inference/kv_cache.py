"""The KV cache: slots of one size each in pools that grow until the memory budget is spent.

Shapes: L layers, S slots, H query heads, J key/value heads, D head size, C columns of a slot, Q places of a slot,
G places of all slots.

A slot holds a prompt (column = position), followed by a column for every token that a sample of it was continued by.
The samples (places) of a slot share its prompt, and a bias lets each see its own columns only: nothing is read twice
and nothing is copied per sample. Keys stand transposed, which the products of a few queries with them like best.
"""

import heapq
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil
import torch

from nanoproof.model.gpt import GPTConfig


def to_device(
    numbers: np.ndarray | Sequence[int] | Sequence[Sequence[Sequence[int]]], device: torch.device
) -> torch.Tensor:
    """Integers on the device."""
    return torch.from_numpy(np.asarray(numbers, dtype=np.int64)).to(device, non_blocking=True)


class OnItsWay:
    """A tensor that is being copied to the host."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self._tensor = tensor.to("cpu", non_blocking=tensor.is_cuda)  # only CUDA's events say when it is there
        self._event = torch.cuda.Event() if tensor.is_cuda else None
        if self._event is not None:
            self._event.record()

    def read(self) -> np.ndarray:
        """Its values; waits until they are there."""
        if self._event is not None:
            self._event.synchronize()
        return self._tensor.numpy()


# -- How much memory keys and values may take ------------------------------------------------------------------------

CPU_SHARE, CUDA_SHARE = 0.15, 0.6
"""Of the memory that is free. The rest is for others: Lean on a CPU; activations, recordings and training on a GPU."""
GROUPS = Path("/sys/fs/cgroup")


def cache_budget(device: torch.device, megabytes: float | None) -> tuple[int, str]:
    """Bytes, and the reason."""
    if megabytes is not None:
        return int(megabytes * 1e6), "asked for"
    if device.type == "cuda":
        free, share = torch.cuda.mem_get_info(device)[0], CUDA_SHARE
        # What torch holds without using it is there for us as well.
        free += torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    else:
        free = min([psutil.virtual_memory().available, *group_free()])
        share = CPU_SHARE / int(os.environ.get("LOCAL_WORLD_SIZE", 1))
    return int(share * free), f"{share:.0%} of {free / 1e6:.0f} MB that were free"


def group_free(groups: Path = GROUPS, of: Path = Path("/proc/self/cgroup")) -> list[int]:
    """Bytes that the control groups of this process (a container's, a job's) leave it; those without a limit say none.

    Pages of files that the kernel would give up count as free. Sources: cgroups(7), and the kernel's cgroup-v2 and
    cgroup-v1/memory documents.
    """
    found = []
    try:
        lines = [line.split(":", 2) for line in of.read_text().splitlines()]
    except OSError:
        return []
    for _, controllers, path in (line for line in lines if len(line) == 3):
        if controllers == "":
            root, names = groups, ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            root, names = groups / "memory", ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        here = root / path.lstrip("/")
        for group in (here, *here.parents):
            if (free := _free(group, *names)) is not None:
                found.append(free)
            if group == root:
                break
    return found


def _free(group: Path, most: str, used: str, reclaimable: str) -> int | None:
    try:
        stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        bound = int((group / most).read_text())
        return max(0, bound - int((group / used).read_text()) + int(stat.get(reclaimable, 0)))
    except (OSError, ValueError):  # no such group here, or no bound ("max")
        return None


# -- Memory for keys and values: pools of slots of one size each, which grow until the budget is spent ---------------

KEPT_SLOTS = 2
"""Of a size that nobody uses, when another one lacks memory: enough for the next request, which waits for nobody."""
NEW_SHARE = 4
"""The first slots of a size take this part of what memory is left, at most: one odd request is no reason for more."""
COMPACT_SHARE = 0.75
"""Slots are moved together when at most this share of those that attention passes over is in use."""


@dataclass(frozen=True, order=True)
class SlotSize:
    """How many columns and places a slot has."""

    columns: int
    places: int

    @classmethod
    def of(cls, prompt: int, samples: int, new_tokens: int, step: int) -> "SlotSize":
        """The size for a prompt of so many tokens, so many samples and tokens of each, a multiple of `step` columns."""
        needed = prompt + 2 + samples * new_tokens
        return cls(math.ceil(needed / step) * step, max(2, samples))

    def num_bytes(self, config: GPTConfig, dtype: torch.dtype) -> int:
        """Keys and values, bias and positions of one slot."""
        cached = 2 * config.depth * config.kv_heads * config.head_dim * dtype.itemsize
        return self.columns * (cached + 4 * self.places + 8)


class Pool:
    """Slots of one size, and one more that takes what padding writes."""

    def __init__(
        self, config: GPTConfig, size: SlotSize, num_slots: int, dtype: torch.dtype, device: torch.device
    ) -> None:
        self.size, self.num_slots = size, num_slots
        self.windowed = min(config.windows) < size.columns
        heads, slots, columns = config.kv_heads, num_slots + 1, size.columns
        # Zero at first and finite ever after: a weight of 0 times what is not finite would not be 0.
        self.keys_LSJDC = torch.zeros(config.depth, slots, heads, config.head_dim, columns, dtype=dtype, device=device)
        self.values_LSJCD = torch.zeros(
            config.depth, slots, heads, columns, config.head_dim, dtype=dtype, device=device
        )
        # 0 where a place sees a column and -inf elsewhere.
        self.bias_SQC = torch.zeros(slots, size.places, columns, device=device)
        self.seen = torch.zeros((), device=device)
        # The positions of columns, where a window may be shorter than a slot.
        self.positions_SC = torch.zeros(slots, columns, dtype=torch.long, device=device)
        # Queries by place; those of places that take no part are what they were.
        self.queries_GHD = torch.zeros(
            slots * size.places, config.num_heads, config.head_dim, dtype=dtype, device=device
        )
        self._in_use = np.zeros(num_slots, dtype=bool)
        self._free = list(range(num_slots))

    @property
    def num_free(self) -> int:
        return len(self._free)

    @property
    def num_in_use(self) -> int:
        return self.num_slots - len(self._free)

    @property
    def extent(self) -> int:
        """Slots up to the last one in use."""
        used = np.flatnonzero(self._in_use)
        return int(used[-1]) + 1 if len(used) else 0

    def take(self) -> int:
        """A free slot, as near to the first as possible."""
        slot = heapq.heappop(self._free)
        self._in_use[slot] = True
        return slot

    def release(self, slot: int) -> None:
        """Give a slot back."""
        self._in_use[slot] = False
        heapq.heappush(self._free, slot)

    def open(self, slot: int, length: int, with_value: bool) -> None:
        """All places see the prompt and the column of `<|tactic|>` behind it; with a value, place 1 does not see
        that one but the next, which is its own."""
        bias_QC = self.bias_SQC[slot]
        bias_QC[:, : length + 1] = 0.0
        bias_QC[:, length + 1 :] = -math.inf
        if with_value:
            bias_QC[1, length : length + 2] = bias_QC[1, length : length + 2].flip(0)
        if self.windowed:
            self.positions_SC[slot, : length + 1] = torch.arange(length + 1, device=bias_QC.device)
            self.positions_SC[slot, length + 1] = length

    def close_values(self, slots_S: torch.Tensor, lengths_S: torch.Tensor) -> None:
        """Turn place 1 of these slots into that of a sample: after the value was read, its column is free again."""
        self.bias_SQC[slots_S, 1, lengths_S] = 0.0
        self.bias_SQC[slots_S, 1, lengths_S + 1] = -math.inf

    def wipe(self, slot: int) -> None:
        """Zero a slot whose contents may not be finite."""
        self.keys_LSJDC[:, slot] = 0.0
        self.values_LSJCD[:, slot] = 0.0

    def copy_prompt(self, slot: int, other: "Pool", source: int, length: int) -> None:
        """Copy the keys and values of a prompt from another slot."""
        self.keys_LSJDC[:, slot, :, :, :length] = other.keys_LSJDC[:, source, :, :, :length]
        self.values_LSJCD[:, slot, :, :length] = other.values_LSJCD[:, source, :, :length]

    def copy_slots(self, other: "Pool", sources: list[int], targets: list[int], columns: int) -> None:
        """Copy the first columns of slots of the same size, with what their places see."""
        source, target = (to_device(x, self.bias_SQC.device) for x in (sources, targets))
        self.keys_LSJDC[:, target, :, :, :columns] = other.keys_LSJDC[:, source, :, :, :columns]
        self.values_LSJCD[:, target, :, :columns] = other.values_LSJCD[:, source, :, :columns]
        self.bias_SQC[target] = other.bias_SQC[source]
        self.positions_SC[target] = other.positions_SC[source]

    def compact(self, columns: int) -> list[tuple[int, int]]:
        """Move slots (of which `columns` are filled at most) together where many are unused; returns the moves."""
        used = np.flatnonzero(self._in_use)
        if not len(used) or len(used) > COMPACT_SHARE * (used[-1] + 1):
            return []
        gaps = np.flatnonzero(~self._in_use[: len(used)]).tolist()
        sources = used[used >= len(used)].tolist()
        self.copy_slots(self, sources, gaps, columns)
        self._in_use[: len(used)], self._in_use[len(used) :] = True, False
        self._free = list(range(len(used), self.num_slots))
        return list(zip(sources, gaps))


class Pools:
    """All pools, within a budget of bytes."""

    def __init__(
        self, config: GPTConfig, dtype: torch.dtype, device: torch.device, budget: int, first_slots: int = 4
    ) -> None:
        """A pool gets `first_slots` slots, and twice as many whenever they are too few."""
        self._first_slots = first_slots
        self._config, self._dtype, self._device, self.budget = config, dtype, device, budget
        self._pools: dict[SlotSize, Pool] = {}
        self.generation = 0
        """Counts how often tensors were replaced."""

    def __getitem__(self, size: SlotSize) -> Pool:
        return self._pools[size]

    def __iter__(self) -> Iterator[Pool]:
        return iter(self._pools.values())

    @property
    def num_bytes(self) -> int:
        pools = list(self._pools.items())  # other threads ask, too
        return sum(self._cost(size, pool.num_slots) for size, pool in pools)

    def fits(self, size: SlotSize, slots: int) -> bool:
        """Whether the budget suffices for so many slots if there is nothing else."""
        return self._cost(size, slots) <= self.budget

    def take(self, size: SlotSize) -> tuple[SlotSize, int] | None:
        """A slot of at least this size, or None if there is no memory now."""
        pool = self._pools.get(size)
        if pool is None or not pool.num_free:
            pool = self._grow(size) or self._wider(size) or self._grow_instead(size)
        return None if pool is None else (pool.size, pool.take())

    def make_room(self, size: SlotSize, slots: int) -> None:
        """Give up what no slot in use needs, and have so many slots of this size, if there is memory for them."""
        for other, pool in list(self._pools.items()):
            if not pool.num_in_use:
                del self._pools[other]
                self.generation += 1
        self._grow(size, slots)

    def _cost(self, size: SlotSize, slots: int) -> int:
        return (slots + 1) * size.num_bytes(self._config, self._dtype)

    def _room(self, size: SlotSize, num_bytes: int) -> int:
        """Slots of a size that fit beside what takes so many bytes."""
        return (self.budget - num_bytes) // size.num_bytes(self._config, self._dtype) - 1

    def _grow_instead(self, size: SlotSize) -> Pool | None:
        """The pool of this size with more slots, in the place of those that no other size uses at present."""
        old, left = self._pools.get(size), self.num_bytes
        unused = [s for s, pool in self._pools.items() if not pool.num_in_use and pool.num_slots > KEPT_SLOTS]
        left -= sum(self._cost(s, self._pools[s].num_slots) - self._cost(s, KEPT_SLOTS) for s in unused)
        if not unused or self._room(size, left) <= (old.num_slots if old else 0):
            return None
        for other in unused:
            self._pools[other] = Pool(self._config, other, KEPT_SLOTS, self._dtype, self._device)
        self.generation += 1
        return self._grow(size)

    def _wider(self, size: SlotSize) -> Pool | None:
        """The smallest pool with a free slot in which `size` fits."""
        others = (s for s, pool in self._pools.items() if pool.num_free)
        fitting = [s for s in others if s.columns >= size.columns and s.places >= size.places]
        return self._pools[min(fitting)] if fitting else None

    def _grow(self, size: SlotSize, least: int = 0) -> Pool | None:
        """The pool of this size with more slots, twice as many if there is memory for these beside the old ones.

        A new pool has `least` of them, if there is memory for so many.
        """
        old = self._pools.get(size)
        room = self._room(size, self.num_bytes)
        num_slots = min(room, 2 * old.num_slots if old else max(least, 1, min(self._first_slots, room // NEW_SHARE)))
        if num_slots <= (old.num_slots if old else 0):
            return None
        pool = Pool(self._config, size, num_slots, self._dtype, self._device)
        if old is not None:
            slots = list(range(old.num_slots))
            pool.copy_slots(old, slots, slots, size.columns)
            for _ in slots:
                pool.take()
        self._pools[size] = pool
        self.generation += 1
        return pool
