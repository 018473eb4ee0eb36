"""The KV cache: slots of one size each in pools that grow until the memory budget is spent.

Shapes: L layers, S slots, H query heads, J key/value heads, D head size, C columns of a slot, Q sequences of a slot,
X = S * Q sequences of all slots.

A slot holds a prompt (column = position), followed by a column for every token of its samples. The samples (sequences)
of a slot share its prompt, and a bias lets each see its own columns only: no prompt is prefilled twice, and nothing is
copied per sample. Keys are stored transposed, the fastest layout for products with a few queries.
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
    """Copy integers to the device, int64."""
    # Through numpy: `torch.tensor(numbers, device=...)` waits for the device.
    return torch.from_numpy(np.asarray(numbers, dtype=np.int64)).to(device, non_blocking=True)


class HostCopy:
    """A tensor that is being copied to the host, asynchronously on CUDA."""

    def __init__(self, tensor: torch.Tensor) -> None:
        # Asynchronous on CUDA alone: only its events say when the copy is there.
        self._tensor = tensor.to("cpu", non_blocking=tensor.is_cuda)
        self._event: torch.cuda.Event | None = None
        if tensor.is_cuda:
            self._event = torch.cuda.Event()
            self._event.record()

    def read(self) -> np.ndarray:
        """Wait for the values and return them."""
        if self._event is not None:
            self._event.synchronize()
        return self._tensor.numpy()


# -- The tables of a decoding step, which say where its rows are in slots ---------------------------------------------

POSITION, SEQUENCE, COLUMN, LAST, NOISE = range(5)
"""Of a row: position of its token, its sequence in the pool, the column it fills, and the flat indices of its latest
token and its noise in the tables."""
SLOT_POSITION, SLOT_FILLED, SLOT_FIRST, SLOT_COUNT = range(4)
"""Of a slot: the next position, the columns that are filled, and its first row and their number (0: it has no part)."""

# -- The memory budget -----------------------------------------------------------------------------------------------

CPU_SHARE, CUDA_SHARE = 0.15, 0.6
"""Of the memory that is free. The rest is for others: Lean on a CPU; activations, recordings and training on a GPU."""
CGROUPS = Path("/sys/fs/cgroup")


def cache_budget(device: torch.device, megabytes: float | None) -> tuple[int, str]:
    """Decide how many bytes keys and values may take; returns them and the reason."""
    if megabytes is not None:
        return int(megabytes * 1e6), "asked for"
    if device.type == "cuda":
        free, share = torch.cuda.mem_get_info(device)[0], CUDA_SHARE
        # What torch holds without using it is there for us as well.
        free += torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    else:
        # A container sees the memory of its whole machine, and is killed at the limit of its own control group.
        free = min([psutil.virtual_memory().available, *cgroup_free()])
        # By torchrun: how many ranks share the memory of this machine. Each has an engine.
        share = CPU_SHARE / int(os.environ.get("LOCAL_WORLD_SIZE", 1))
    return int(share * free), f"{share:.0%} of {free / 1e6:.0f} MB that were free"


def cgroup_free(cgroups: Path = CGROUPS, of: Path = Path("/proc/self/cgroup")) -> list[int]:
    """List the bytes that the control groups of this process (a container's, a job's) leave it, of those with a limit.

    Pages of files that the kernel would give up count as free. Sources: cgroups(7), and the kernel's cgroup-v2 and
    cgroup-v1/memory documents.
    """
    free_bytes = []
    try:
        lines = of.read_text().splitlines()
    except OSError:  # another system than Linux
        return []
    for line in lines:
        # cgroups(7): hierarchy-ID:controller-list:cgroup-path; of version 2 the list is empty.
        fields = line.split(":", 2)
        if len(fields) != 3:
            continue
        _, controllers, path = fields
        if controllers == "":
            root, names = cgroups, ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            root, names = cgroups / "memory", ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        # A group's bound holds for all below it, so that the tightest may be set further up.
        here = root / path.lstrip("/")
        for cgroup in (here, *here.parents):
            free = _free(cgroup, *names)
            if free is not None:
                free_bytes.append(free)
            if cgroup == root:
                break
    return free_bytes


def _free(cgroup: Path, most: str, used: str, reclaimable: str) -> int | None:
    try:
        stat = dict(line.split() for line in (cgroup / "memory.stat").read_text().splitlines())
        bound = int((cgroup / most).read_text())
        return max(0, bound - int((cgroup / used).read_text()) + int(stat.get(reclaimable, 0)))
    except (OSError, ValueError):  # no such control group, or no bound ("max")
        return None


# -- Slots and pools -------------------------------------------------------------------------------------------------

KEPT_SLOTS = 2
"""Of an unused size, when another one lacks memory: enough for the next request, which then need not wait."""
NEW_FRACTION = 4
"""The first slots of a size take at most 1 / this of the memory that is left: one odd request is no reason for more."""
COMPACT_SHARE = 0.75
"""Slots are moved together when at most this share of those that attention passes over is in use."""


@dataclass(frozen=True, order=True)
class SlotSize:
    """How many columns and sequences a slot has."""

    columns: int
    sequences: int

    @classmethod
    def of(cls, prompt: int, samples: int, new_tokens: int, step: int) -> "SlotSize":
        """Choose the size for a prompt of so many tokens, with samples of so many new tokens; columns are rounded up to
        a multiple of `step`."""
        # Two markers, each with a sequence of its own in the first step; the columns of all samples behind them.
        needed = prompt + 2 + samples * new_tokens
        return cls(math.ceil(needed / step) * step, max(2, samples))

    def num_bytes(self, config: GPTConfig, dtype: torch.dtype) -> int:
        """Count the bytes of one slot: keys and values, bias and positions."""
        keys_and_values = 2 * config.depth * config.kv_heads * config.head_dim * dtype.itemsize
        bias, position = 4 * self.sequences, 8  # a float32 for each sequence, an int64
        return self.columns * (keys_and_values + bias + position)


class SlotPool:
    """Slots of one size, and one more that takes what padding writes."""

    def __init__(
        self, config: GPTConfig, size: SlotSize, num_slots: int, dtype: torch.dtype, device: torch.device
    ) -> None:
        self.size, self.num_slots = size, num_slots
        self.windowed = min(config.windows) < size.columns
        heads, slots, columns = config.kv_heads, num_slots + 1, size.columns
        # Zero at first and finite ever after: a weight of 0 times what is not finite would not be 0.
        # Keys stand transposed: their product with a few queries is 1.5 times as fast as with keys in rows.
        self.keys_LSJDC = torch.zeros(config.depth, slots, heads, config.head_dim, columns, dtype=dtype, device=device)
        self.values_LSJCD = torch.zeros(
            config.depth, slots, heads, columns, config.head_dim, dtype=dtype, device=device
        )
        # 0 where a sequence sees a column and -inf elsewhere.
        self.bias_SQC = torch.zeros(slots, size.sequences, columns, device=device)
        self.seen = torch.zeros((), device=device)
        # The positions of columns, where a window may be shorter than a slot.
        self.positions_SC = torch.zeros(slots, columns, dtype=torch.long, device=device)
        # Queries by sequence; those of sequences that take no part in a step are stale.
        self.queries_XHD = torch.zeros(
            slots * size.sequences, config.num_heads, config.head_dim, dtype=dtype, device=device
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
        """Slots up to the last one in use: attention computes all of these, in use or not."""
        used = np.flatnonzero(self._in_use)
        if not len(used):
            return 0
        return int(used[-1]) + 1

    def allocate(self) -> int:
        """Take a free slot, the first there is."""
        slot = heapq.heappop(self._free)
        self._in_use[slot] = True
        return slot

    def release(self, slot: int) -> None:
        """Free a slot."""
        self._in_use[slot] = False
        heapq.heappush(self._free, slot)  # lowest first, which keeps `extent` small

    def open(self, slot: int, length: int, with_value: bool) -> None:
        """Set the bias for a new group: all sequences see the prompt and the column of `<|tactic|>` behind it.

        With a value, sequence 1 does not see that column but the next, which is its own.
        """
        bias_QC = self.bias_SQC[slot]
        bias_QC[:, : length + 1] = 0.0
        bias_QC[:, length + 1 :] = -math.inf
        if with_value:
            # From (seen, not seen) to (not seen, seen): the two markers do not see each other.
            bias_QC[1, length : length + 2] = bias_QC[1, length : length + 2].flip(0)
        if self.windowed:
            self.positions_SC[slot, : length + 1] = torch.arange(length + 1, device=bias_QC.device)
            self.positions_SC[slot, length + 1] = length  # `<|value|>` follows the prompt, as `<|tactic|>` does

    def drop_value(self, slots_S: torch.Tensor, lengths_S: torch.Tensor) -> None:
        """Turn sequence 1 of these slots into that of a sample: after the value was read, its column is free again."""
        self.bias_SQC[slots_S, 1, lengths_S] = 0.0
        self.bias_SQC[slots_S, 1, lengths_S + 1] = -math.inf

    def zero(self, slot: int) -> None:
        """Zero the keys and values of a slot, which may not be finite."""
        self.keys_LSJDC[:, slot] = 0.0
        self.values_LSJCD[:, slot] = 0.0

    def copy_prompt(self, slot: int, other: "SlotPool", source: int, length: int) -> None:
        """Copy the keys and values of a prompt from another slot."""
        self.keys_LSJDC[:, slot, :, :, :length] = other.keys_LSJDC[:, source, :, :, :length]
        self.values_LSJCD[:, slot, :, :length] = other.values_LSJCD[:, source, :, :length]

    def copy_slots(self, other: "SlotPool", sources: list[int], targets: list[int], columns: int) -> None:
        """Copy the first columns of slots of the same size, with what their sequences see."""
        source, target = (to_device(x, self.bias_SQC.device) for x in (sources, targets))
        self.keys_LSJDC[:, target, :, :, :columns] = other.keys_LSJDC[:, source, :, :, :columns]
        self.values_LSJCD[:, target, :, :columns] = other.values_LSJCD[:, source, :, :columns]
        self.bias_SQC[target] = other.bias_SQC[source]
        self.positions_SC[target] = other.positions_SC[source]

    def compact(self, columns: int) -> list[tuple[int, int]]:
        """Move slots (of which `columns` are filled at most) together where many are unused; returns the moves."""
        used = np.flatnonzero(self._in_use)
        num_used = len(used)
        if not num_used or num_used > COMPACT_SHARE * (used[-1] + 1):
            return []
        gaps = np.flatnonzero(~self._in_use[:num_used]).tolist()
        sources = used[used >= num_used].tolist()
        self.copy_slots(self, sources, gaps, columns)
        self._in_use[:num_used], self._in_use[num_used:] = True, False
        self._free = list(range(num_used, self.num_slots))
        return list(zip(sources, gaps))


class KVCache:
    """Keys and values of all active requests: a pool of slots for each size, within a budget of bytes."""

    def __init__(
        self, config: GPTConfig, dtype: torch.dtype, device: torch.device, budget: int, first_slots: int = 4
    ) -> None:
        """A pool gets `first_slots` slots, and twice as many whenever they are too few."""
        self._first_slots = first_slots
        self._config, self._dtype, self._device, self.budget = config, dtype, device, budget
        self._pools: dict[SlotSize, SlotPool] = {}
        self.generation = 0
        """Counts how often tensors were replaced."""

    def __getitem__(self, size: SlotSize) -> SlotPool:
        return self._pools[size]

    def __iter__(self) -> Iterator[SlotPool]:
        return iter(self._pools.values())

    @property
    def num_bytes(self) -> int:
        pools = list(self._pools.items())  # other threads ask, too
        return sum(self._cost(size, pool.num_slots) for size, pool in pools)

    def fits(self, size: SlotSize, slots: int) -> bool:
        """Tell whether the budget suffices for so many slots if there is nothing else."""
        return self._cost(size, slots) <= self.budget

    def allocate(self, size: SlotSize) -> tuple[SlotSize, int] | None:
        """Allocate a slot of at least this size; returns its size and number, None if there is no memory now."""
        pool = self._pools.get(size)
        # The cheapest first: new memory, then a slot that is wider than needed, then the memory of sizes that are out
        # of use, which replaces their tensors. Without the last a busy engine had 15 long prompts in flight where a
        # fresh one had 29, as pools of sizes that nobody asked for any more kept theirs.
        if pool is None or not pool.num_free:
            pool = self._grow(size) or self._wider(size) or self._grow_instead(size)
        if pool is None:
            return None
        return pool.size, pool.allocate()

    def reserve(self, size: SlotSize, slots: int) -> None:
        """Free the pools without a slot in use, and make so many slots of this size, if there is memory for them."""
        for other, pool in list(self._pools.items()):
            if not pool.num_in_use:
                del self._pools[other]
                self.generation += 1
        self._grow(size, slots)

    def _cost(self, size: SlotSize, slots: int) -> int:
        return (slots + 1) * size.num_bytes(self._config, self._dtype)  # one more, for padding

    def _most_slots(self, size: SlotSize, num_bytes: int) -> int:
        """Count the slots of a size that fit beside what takes so many bytes."""
        return (self.budget - num_bytes) // size.num_bytes(self._config, self._dtype) - 1

    def _grow_instead(self, size: SlotSize) -> SlotPool | None:
        """Grow the pool of this size at the expense of unused sizes; returns None if that gives no slot."""
        unused: list[SlotSize] = []
        bytes_left = self.num_bytes
        for other, pool in self._pools.items():
            if not pool.num_in_use and pool.num_slots > KEPT_SLOTS:
                unused.append(other)
                bytes_left -= self._cost(other, pool.num_slots) - self._cost(other, KEPT_SLOTS)
        if not unused or self._most_slots(size, bytes_left) <= self._num_slots(size):
            return None
        for other in unused:
            self._pools[other] = SlotPool(self._config, other, KEPT_SLOTS, self._dtype, self._device)
        self.generation += 1
        return self._grow(size)

    def _wider(self, size: SlotSize) -> SlotPool | None:
        """Find the smallest pool with a free slot in which `size` fits."""
        smallest: SlotSize | None = None
        for other, pool in self._pools.items():
            fits = other.columns >= size.columns and other.sequences >= size.sequences
            if pool.num_free and fits and (smallest is None or other < smallest):
                smallest = other
        if smallest is None:
            return None
        return self._pools[smallest]

    def _num_slots(self, size: SlotSize) -> int:
        pool = self._pools.get(size)
        if pool is None:
            return 0
        return pool.num_slots

    def _grow(self, size: SlotSize, least: int = 0) -> SlotPool | None:
        """Grow the pool of this size, to twice its slots if there is memory for these beside the old ones.

        A new pool has `least` slots, if there is memory for so many. Returns None if there is memory for no more.
        """
        old = self._pools.get(size)
        # Beside the old tensors: both are there while one is copied into the other.
        most = self._most_slots(size, self.num_bytes)
        if old is not None:
            wanted = 2 * old.num_slots
        else:
            wanted = max(least, 1, min(self._first_slots, most // NEW_FRACTION))
        num_slots = min(most, wanted)
        if num_slots <= self._num_slots(size):
            return None
        pool = SlotPool(self._config, size, num_slots, self._dtype, self._device)
        if old is not None:
            # A pool grows when all of its slots are in use.
            slots = list(range(old.num_slots))
            pool.copy_slots(old, slots, slots, size.columns)
            for _ in slots:
                pool.allocate()
        self._pools[size] = pool
        self.generation += 1
        return pool
