"""Reading prompts: their keys and values go to slots of the cache.

Shapes: R rows (tokens of all prompts behind each other, without padding), H query heads, J key/value heads, D head
size, P tokens of a prompt.

Of a prompt only what is not in its slot yet is read: it may begin like one that was read before. What follows a prompt
(`<|tactic|>` and `<|value|>`) is decoding's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import torch
import torch.nn.functional as F

from nanoproof.gpt.attention.dense import causal_mask, window_mask
from nanoproof.gpt.attention.varlen import Kernel
from nanoproof.gpt.batching.pools import Pool
from nanoproof.gpt.batching.transfer import to_device
from nanoproof.gpt.model import GPT, GPTConfig


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
