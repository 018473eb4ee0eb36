"""Prefill: the keys and values of prompts are computed into slots of the KV cache, or copied from the prefix cache.

Shapes: L layers, R rows (tokens of all prompts behind each other, without padding), H query heads, J key/value heads,
D head size, C columns of a slot, P tokens of a prompt.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Generic, TypeVar

import torch
import torch.nn.functional as F

from nanoproof.inference.batch_invariance import ROWS, attend_padded, rounded
from nanoproof.inference.fused import FusedNetwork
from nanoproof.inference.kv_cache import SlotPool, to_device
from nanoproof.model.attention import causal_mask, window_mask
from nanoproof.model.flash_attention import Kernel
from nanoproof.model.gpt import GPT, GPTConfig

T = TypeVar("T")

# -- The prefix cache ------------------------------------------------------------------------------------------------

BLOCK = 16
"""Prefixes are found by multiples of so many tokens."""


@dataclass(frozen=True)
class CachedPrompt:
    """Keys and values of a prompt."""

    keys_LJDP: torch.Tensor
    values_LJPD: torch.Tensor

    @classmethod
    def of_slot(cls, pool: SlotPool, slot: int, length: int) -> "CachedPrompt":
        """Copy a prompt out of a slot, which belongs to the next request as soon as this one has ended."""
        keys_LJDC, values_LJCD = pool.keys_LSJDC[:, slot], pool.values_LSJCD[:, slot]
        return cls(keys_LJDC[..., :length].clone(), values_LJCD[:, :, :length].clone())

    def copy_to_slot(self, pool: SlotPool, slot: int, length: int) -> None:
        """Copy the first tokens into a slot."""
        pool.keys_LSJDC[:, slot, :, :, :length] = self.keys_LJDP[..., :length]
        pool.values_LSJCD[:, slot, :, :length] = self.values_LJPD[:, :, :length]


@dataclass(frozen=True)
class _Entry(Generic[T]):
    prompt: tuple[int, ...]
    kept: T
    num_bytes: int


class PrefixCache(Generic[T]):
    """Keys and values of prompts, as a backend has them; the least recently used are evicted first.

    Prompts are looked up by their prefixes of whole blocks (and as a whole). Where the tokens of a state see each other
    both ways (`whole_only`), only the whole prompt counts.
    """

    def __init__(self, budget: int, whole_only: bool) -> None:
        self._budget, self._whole_only = budget, whole_only
        self._entries: OrderedDict[tuple[int, ...], _Entry[T]] = OrderedDict()
        self._by_block_hash: dict[int, _Entry[T]] = {}
        self.num_bytes = 0

    def __len__(self) -> int:
        return len(self._entries)

    def longest_prefix(self, prompt: tuple[int, ...]) -> tuple[T | None, int]:
        """Return what is kept of the prompt with the longest common prefix, and the length of that."""
        entry, length = self._longest_prefix(prompt)
        if entry is None:
            return None, 0
        self._entries.move_to_end(entry.prompt)  # the first of the dict is evicted first
        return entry.kept, length

    def add(self, prompt: tuple[int, ...], num_bytes: int, make: Callable[[], T]) -> None:
        """Keep what `make` returns for a prompt that was read, if there is room for so many bytes."""
        if prompt in self._entries or num_bytes > self._budget:
            return
        while self.num_bytes + num_bytes > self._budget:
            self._evict(next(iter(self._entries.values())))
        entry = _Entry(prompt, make(), num_bytes)
        self._entries[prompt] = entry
        self.num_bytes += num_bytes
        for _, block_hash in self._block_hashes(prompt):
            self._by_block_hash[block_hash] = entry

    def clear(self) -> None:
        """Forget all prompts."""
        self._entries.clear()
        self._by_block_hash.clear()
        self.num_bytes = 0

    def _longest_prefix(self, prompt: tuple[int, ...]) -> tuple[_Entry[T] | None, int]:
        prefix = self._entries.get(prompt)
        if prefix is not None:
            return prefix, len(prompt)
        best, length = None, 0
        for stop, block_hash in self._block_hashes(prompt):
            candidate = self._by_block_hash.get(block_hash)
            # Compared, as hashes may collide: keys of another prompt would give a wrong answer, and no error.
            if candidate is not None and candidate.prompt[:stop] == prompt[:stop]:
                best, length = candidate, stop
        if best is None:
            return None, 0
        return best, length + _common_prefix(best.prompt[length:], prompt[length:])

    def _block_hashes(self, prompt: tuple[int, ...]) -> Iterator[tuple[int, int]]:
        """Yield length and hash of every prefix of whole blocks."""
        if self._whole_only:
            return
        # Chained over the blocks, so that hashing all prefixes takes one pass over the prompt.
        block_hash = 0
        for stop in range(BLOCK, len(prompt) + 1, BLOCK):
            block_hash = hash((block_hash, prompt[stop - BLOCK : stop]))
            yield stop, block_hash

    def _evict(self, prefix: _Entry[T]) -> None:
        del self._entries[prefix.prompt]
        self.num_bytes -= prefix.num_bytes
        for _, block_hash in self._block_hashes(prefix.prompt):
            # A later prompt with the same beginning has taken the entry over, perhaps.
            if self._by_block_hash.get(block_hash) is prefix:
                del self._by_block_hash[block_hash]


def _common_prefix(prompt: tuple[int, ...], other: tuple[int, ...]) -> int:
    """Count the tokens of the common prefix of two prompts."""
    length = 0
    for token, other_token in zip(prompt, other):
        if token != other_token:
            break
        length += 1
    return length


# -- Prefill ---------------------------------------------------------------------------------------------------------
# Of a prompt only what is not in its slot yet is computed. What follows a prompt (`<|tactic|>` and `<|value|>`) is
# decoded.


@dataclass(frozen=True)
class PrefillJob:
    """A prompt to be prefilled into a slot whose first `start` columns are filled already (start < len(prompt))."""

    prompt: tuple[int, ...]
    pool: SlotPool
    slot: int
    start: int


class PrefillMasks:
    """Attention masks within a prompt, for every window: cut out of one mask for the longest prompt."""

    def __init__(self, config: GPTConfig, device: torch.device) -> None:
        self._prefix_lm, self._length = config.prefix_lm, config.sequence_len
        visible = causal_mask(self._length, device)
        if config.prefix_lm:
            visible = torch.ones(1, self._length, self._length, dtype=torch.bool, device=device)
        positions = torch.arange(self._length, device=device).unsqueeze(0)
        self._masks = {window: window_mask(visible, positions, window)[0] for window in set(config.windows)}

    def of(self, window: int, start: int, stop: int) -> tuple[torch.Tensor | None, bool]:
        """Return mask and `is_causal` for the queries start:stop and the keys :stop."""
        # Without a mask SDPA takes its fast kernels, and a causal one computes half. `is_causal` aligns queries and
        # keys at their first ones, which is right only where no keys come before the queries.
        if stop <= window and self._prefix_lm:
            return None, False
        if stop <= window and start == 0:
            return None, True
        return self._masks[window][start:stop, :stop], False

    def whole(self, window: int, start: int, stop: int) -> torch.Tensor:
        """Return the mask for the queries start:stop and the keys :stop, whatever they see."""
        return self._masks[window][start:stop, :stop]


@dataclass(frozen=True)
class _SlotRows:
    """Tokens of prompts by where they are in a pool; `rows_R` numbers them in the order of the prompts."""

    pool: SlotPool
    slots_R: torch.Tensor
    columns_R: torch.Tensor
    rows_R: torch.Tensor


def _slot_rows(jobs: Sequence[PrefillJob], whole: bool) -> list[_SlotRows]:
    """Gather by pool where the tokens of all prompts are: of whole prompts, or only those that are not in slots yet."""
    pools = {id(job.pool): job.pool for job in jobs}
    places_by_pool: dict[int, list[tuple[int, int, int]]] = {}
    row = 0
    for job in jobs:
        places = places_by_pool.setdefault(id(job.pool), [])
        first = job.start
        if whole:
            first = 0
        for column in range(first, len(job.prompt)):
            places.append((job.slot, column, row))
            row += 1
    result = []
    for key, places in places_by_pool.items():
        pool = pools[key]
        # One copy to the device for all three: each would cost a launch.
        slots_R, columns_R, rows_R = to_device([list(column) for column in zip(*places)], pool.bias_SQC.device)
        result.append(_SlotRows(pool, slots_R, columns_R, rows_R))
    return result


class PrefillAttention:
    """Attention within prompts, one after the other, or in one call of a flash kernel where there is one.

    In the last layer it writes keys and values and answers for a single row: the others are not needed.
    """

    def __init__(
        self,
        config: GPTConfig,
        masks: PrefillMasks,
        jobs: Sequence[PrefillJob],
        kernel: Kernel | None,
        batch_invariant: bool = False,
    ) -> None:
        self._batch_invariant = batch_invariant
        self._windows, self._prefix_lm, self._masks, self._kernel = config.windows, config.prefix_lm, masks, kernel
        lengths = [len(job.prompt) - job.start for job in jobs]
        ends_q = list(accumulate(lengths, initial=0))
        self._ranges = list(zip(jobs, ends_q, ends_q[1:]))
        # On a GPU, where every copy costs a launch, slots are written and read by all prompts of a pool at once: 16
        # prompts that begin like others took 1,693 kernels, and take 276.
        on_gpu = jobs[0].pool.bias_SQC.is_cuda
        self._continues = any(job.start for job in jobs)
        self._writes: list[_SlotRows] = []
        if on_gpu:
            self._writes = _slot_rows(jobs, whole=False)
        self._reads: list[_SlotRows] = []
        if on_gpu and kernel is not None and self._continues:
            self._reads = _slot_rows(jobs, whole=True)
        if kernel is not None:
            device = jobs[0].pool.bias_SQC.device
            prompt_lengths = [len(job.prompt) for job in jobs]
            ends_k = list(accumulate(prompt_lengths, initial=0))
            self._cu_q, self._cu_k = to_device(ends_q, device).int(), to_device(ends_k, device).int()
            self._max_q, self._max_k = max(lengths), max(prompt_lengths)

    def __call__(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        self._write(layer, k[0], v[0])
        # What the last layer puts out for a prompt is read by nobody: samples begin from the markers behind it.
        if layer == len(self._windows) - 1:
            return torch.zeros_like(q[:, -1:])
        if self._batch_invariant:
            return self._padded(layer, q, k, v)
        if self._kernel is not None:
            return self._by_kernel(layer, q, k, v)
        return self._one_by_one(layer, q, k, v)

    def _write(self, layer: int, k_RJD: torch.Tensor, v_RJD: torch.Tensor) -> None:
        if not self._writes:
            for job, begin, end in self._ranges:
                columns = slice(job.start, len(job.prompt))
                job.pool.keys_LSJDC[layer, job.slot, :, :, columns] = k_RJD[begin:end].permute(1, 2, 0)
                job.pool.values_LSJCD[layer, job.slot, :, columns] = v_RJD[begin:end].transpose(0, 1)
        for into in self._writes:
            k_of_pool, v_of_pool = k_RJD[: len(into.rows_R)], v_RJD[: len(into.rows_R)]
            if len(self._writes) > 1:
                k_of_pool, v_of_pool = k_RJD[into.rows_R], v_RJD[into.rows_R]
            into.pool.keys_LSJDC[layer][into.slots_R, :, :, into.columns_R] = k_of_pool
            into.pool.values_LSJCD[layer][into.slots_R, :, into.columns_R] = v_of_pool

    def _read(self, layer: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return keys and values of all whole prompts behind each other, (P, J, D), out of the slots."""
        keys, values, rows = [], [], []
        for source in self._reads:
            keys.append(source.pool.keys_LSJDC[layer][source.slots_R, :, :, source.columns_R])
            values.append(source.pool.values_LSJCD[layer][source.slots_R, :, source.columns_R])
            rows.append(source.rows_R)
        if len(self._reads) == 1:
            return keys[0], values[0]
        order_P = torch.cat(rows).argsort()
        return torch.cat(keys)[order_P], torch.cat(values)[order_P]

    def _padded(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        outputs = torch.zeros_like(q)
        for job, begin, end in self._ranges:
            k_CJD, v_CJD = self._whole(layer, job, k[0, begin:end], v[0, begin:end])
            mask_PC = self._masks.whole(self._windows[layer], job.start, len(job.prompt))
            outputs[0, begin:end] = attend_padded(q[0, begin:end], k_CJD, v_CJD, mask_PC)
        return outputs

    def _one_by_one(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        outputs = []
        for job, begin, end in self._ranges:
            k_PJD, v_PJD = self._whole(layer, job, k[0, begin:end], v[0, begin:end])
            mask, is_causal = self._masks.of(self._windows[layer], job.start, len(job.prompt))
            q_HPD, k_JPD, v_JPD = (x.transpose(0, 1).unsqueeze(0) for x in (q[0, begin:end], k_PJD, v_PJD))
            y_HPD = F.scaled_dot_product_attention(
                q_HPD, k_JPD, v_JPD, attn_mask=mask, is_causal=is_causal, enable_gqa=q_HPD.shape[1] != k_JPD.shape[1]
            )
            outputs.append(y_HPD[0].transpose(0, 1))
        return torch.cat(outputs).unsqueeze(0)

    def _by_kernel(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        assert self._kernel is not None
        keys, values = k[0], v[0]
        if self._reads:
            keys, values = self._read(layer)
        elif self._continues:
            whole = [self._whole(layer, job, k[0, begin:end], v[0, begin:end]) for job, begin, end in self._ranges]
            all_keys, all_values = zip(*whole)
            keys, values = torch.cat(all_keys), torch.cat(all_values)
        # In the flash kernel's terms: how many keys to the left and right a query sees besides its own, -1 for all.
        left = self._windows[layer] - 1
        if self._windows[layer] >= self._max_k:
            left = -1
        right = 0
        if self._prefix_lm:
            right = left
        window = (left, right)
        y = self._kernel(q[0], keys, values, self._cu_q, self._cu_k, self._max_q, self._max_k, window=window)
        return y.unsqueeze(0)

    def _whole(
        self, layer: int, job: PrefillJob, k_NJD: torch.Tensor, v_NJD: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return keys and values of the whole prompt, (P, J, D), of which these are the end."""
        if not job.start:
            return k_NJD, v_NJD
        keys_JDC = job.pool.keys_LSJDC[layer, job.slot, :, :, : job.start]
        values_JCD = job.pool.values_LSJCD[layer, job.slot, :, : job.start]
        return torch.cat([keys_JDC.permute(2, 0, 1), k_NJD]), torch.cat([values_JCD.transpose(0, 1), v_NJD])


def prefill(
    network: GPT,
    masks: PrefillMasks,
    jobs: Sequence[PrefillJob],
    kernel: Kernel | None,
    batch_invariant: bool = False,
    fused: FusedNetwork | None = None,
) -> None:
    """Fill slots with the keys and values of their prompts."""
    tokens = [token for job in jobs for token in job.prompt[job.start :]]
    positions = [position for job in jobs for position in range(job.start, len(job.prompt))]
    if batch_invariant:
        # Rows behind all prompts: they are multiplied with the others, and belong to no job, so nothing reads them.
        missing = rounded(len(tokens), ROWS) - len(tokens)
        tokens, positions = tokens + missing * [0], positions + missing * [0]
    tokens_1R, positions_1R = to_device([[tokens], [positions]], network.device)
    attention = PrefillAttention(network.config, masks, jobs, kernel, batch_invariant)
    if fused is None:
        network.trunk(tokens_1R, positions_1R, attention)
    else:
        fused.trunk(tokens_1R[0], fused.split_attend(positions_1R[0], attention))
