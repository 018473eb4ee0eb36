"""Prefill: prompts are read into the KV cache, and prefixes are kept for prompts that begin alike.

Shapes: L layers, J key/value heads, D head size, C columns of a slot, P tokens of a prompt.

Prompts are looked up by their beginnings of whole blocks (and as a whole). Where the tokens of a state see each other
both ways, only the whole prompt counts.

Shapes: R rows (tokens of all prompts behind each other, without padding), H query heads, J key/value heads, D head
size, P tokens of a prompt.

Of a prompt only what is not in its slot yet is read: it may begin like one that was read before. What follows a prompt
(`<|tactic|>` and `<|value|>`) is decoding's.
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import torch
import torch.nn.functional as F

from nanoproof.inference.kv_cache import Pool, to_device
from nanoproof.model.attention import causal_mask, window_mask
from nanoproof.model.flash_attention import Kernel
from nanoproof.model.gpt import GPT, GPTConfig

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


# -- Reading prompts: their keys and values go to slots of the cache -------------------------------------------------


@dataclass(frozen=True)
class Reading:
    """A prompt to be read into a slot, where the first `start` columns are filled already (start < len(prompt))."""

    prompt: tuple[int, ...]
    pool: Pool
    slot: int
    start: int


class PrefillMasks:
    """Who sees whom within a prompt, for every window: cut out of one mask for the longest prompt."""

    def __init__(self, config: GPTConfig, device: torch.device) -> None:
        self._prefix_lm, self._length = config.prefix_lm, config.sequence_len
        full = torch.ones(1, self._length, self._length, dtype=torch.bool, device=device)
        whole = full if config.prefix_lm else causal_mask(self._length, device)
        positions = torch.arange(self._length, device=device).unsqueeze(0)
        self._masks = {window: window_mask(whole, positions, window)[0] for window in set(config.windows)}

    def of(self, window: int, start: int, stop: int) -> tuple[torch.Tensor | None, bool]:
        """Mask and `is_causal` for the queries start:stop and the keys :stop."""
        if stop <= window and self._prefix_lm:
            return None, False
        if stop <= window and start == 0:
            return None, True
        return self._masks[window][start:stop, :stop], False


class PrefillAttention:
    """Attention within prompts, one after the other, or in one call of a flash kernel where there is one.

    In the last layer it leaves keys and values and answers for a single row: nobody needs the others.
    """

    def __init__(
        self, config: GPTConfig, masks: PrefillMasks, readings: Sequence[Reading], kernel: Kernel | None
    ) -> None:
        self._windows, self._prefix_lm, self._masks, self._kernel = config.windows, config.prefix_lm, masks, kernel
        lengths = [len(reading.prompt) - reading.start for reading in readings]
        self._ranges = list(zip(readings, accumulate(lengths, initial=0), accumulate(lengths)))
        if kernel is not None:
            device = readings[0].pool.bias_SQC.device
            ends_q = list(accumulate(lengths, initial=0))
            ends_k = list(accumulate((len(reading.prompt) for reading in readings), initial=0))
            self._cu_q, self._cu_k = (to_device(ends, device).int() for ends in (ends_q, ends_k))
            self._max_q, self._max_k = max(lengths), max(len(reading.prompt) for reading in readings)

    def __call__(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        for reading, begin, end in self._ranges:
            columns = slice(reading.start, len(reading.prompt))
            reading.pool.keys_LSJDC[layer, reading.slot, :, :, columns] = k[0, begin:end].permute(1, 2, 0)
            reading.pool.values_LSJCD[layer, reading.slot, :, columns] = v[0, begin:end].transpose(0, 1)
        if layer == len(self._windows) - 1:
            return torch.zeros_like(q[:, -1:])
        return self._by_kernel(layer, q, k, v) if self._kernel is not None else self._one_by_one(layer, q, k, v)

    def _one_by_one(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        answers = []
        for reading, begin, end in self._ranges:
            k_PJD, v_PJD = self._whole(layer, reading, k[0, begin:end], v[0, begin:end])
            mask, is_causal = self._masks.of(self._windows[layer], reading.start, len(reading.prompt))
            q_HPD, k_JPD, v_JPD = (x.transpose(0, 1).unsqueeze(0) for x in (q[0, begin:end], k_PJD, v_PJD))
            y_HPD = F.scaled_dot_product_attention(
                q_HPD, k_JPD, v_JPD, attn_mask=mask, is_causal=is_causal, enable_gqa=q_HPD.shape[1] != k_JPD.shape[1]
            )
            answers.append(y_HPD[0].transpose(0, 1))
        return torch.cat(answers).unsqueeze(0)

    def _by_kernel(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        assert self._kernel is not None
        keys, values = k[0], v[0]
        if any(reading.start for reading, _, _ in self._ranges):
            whole = [self._whole(layer, r, k[0, begin:end], v[0, begin:end]) for r, begin, end in self._ranges]
            keys, values = torch.cat([pair[0] for pair in whole]), torch.cat([pair[1] for pair in whole])
        left = -1 if self._windows[layer] >= self._max_k else self._windows[layer] - 1
        window = (left, left if self._prefix_lm else 0)
        y = self._kernel(q[0], keys, values, self._cu_q, self._cu_k, self._max_q, self._max_k, window=window)
        return y.unsqueeze(0)

    def _whole(
        self, layer: int, reading: Reading, k_NJD: torch.Tensor, v_NJD: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Keys and values of the whole prompt, (P, J, D), of which these are the end."""
        if not reading.start:
            return k_NJD, v_NJD
        keys_JDC = reading.pool.keys_LSJDC[layer, reading.slot, :, :, : reading.start]
        values_JCD = reading.pool.values_LSJCD[layer, reading.slot, :, : reading.start]
        return torch.cat([keys_JDC.permute(2, 0, 1), k_NJD]), torch.cat([values_JCD.transpose(0, 1), v_NJD])


def read_prompts(network: GPT, masks: PrefillMasks, readings: Sequence[Reading], kernel: Kernel | None) -> None:
    """Fill slots with the keys and values of their prompts."""
    tokens = [token for reading in readings for token in reading.prompt[reading.start :]]
    positions = [position for reading in readings for position in range(reading.start, len(reading.prompt))]
    tokens_1R, positions_1R = to_device([[tokens], [positions]], network.device)
    network.trunk(tokens_1R, positions_1R, PrefillAttention(network.config, masks, readings, kernel))
