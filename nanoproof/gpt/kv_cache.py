"""Keys and values of the states in a batch, and the attention that reads them.

Shapes: S states, K slots (samples that are being written) of a state, N columns of the cache, L layers, H query heads,
J key/value heads, D head size.

The prompts of a batch stand right-aligned, followed by `<|value|>` and `<|tactic|>`; every decoding step then appends
one column per slot to the rows of its state. Slots of one state share the columns of the prompt, and a mask lets each
see its own columns only. So nothing is read twice and nothing is copied per sample.
"""

import math

import torch

from nanoproof.gpt.attention import MaskedAttention, attend
from nanoproof.gpt.model import GPT, GPTConfig


class KVStorage:
    """Memory for caches, kept from batch to batch and grown where needed (clearing it each time would cost more)."""

    def __init__(self, dtype: torch.dtype, device: torch.device) -> None:
        self._flat = torch.zeros(2, 0, dtype=dtype, device=device)

    def take(self, shape: tuple[int, ...]) -> tuple[torch.Tensor, torch.Tensor]:
        """Keys and values of this shape, with finite but otherwise arbitrary contents."""
        size = math.prod(shape)
        if self._flat.shape[1] < size:
            self._flat = torch.zeros(2, size, dtype=self._flat.dtype, device=self._flat.device)
        return self._flat[0, :size].view(shape), self._flat[1, :size].view(shape)

    def clear(self) -> None:
        """Zero everything, for when contents may not be finite."""
        self._flat.zero_()


class KVCache:
    """The cache of one batch. Columns are only ever appended, states only ever dropped."""

    def __init__(
        self, config: GPTConfig, storage: KVStorage, num_states: int, num_slots: int, num_columns: int
    ) -> None:
        shape = (config.depth, num_states, config.kv_heads, num_columns, config.head_dim)
        self.keys_LSJND, self.values_LSJND = storage.take(shape)
        device = self.keys_LSJND.device
        self.num_states, self.length = num_states, 0
        # 0 where a slot sees a column and -inf elsewhere.
        self.bias_SKN = torch.full((num_states, num_slots, num_columns), -math.inf, device=device)
        self.positions_SN = torch.zeros(num_states, num_columns, dtype=torch.long, device=device)

    def layer(self, layer: int) -> tuple[torch.Tensor, torch.Tensor]:
        """The filled part of a layer's keys and values for the states in use, (S, J, length, D)."""
        states, columns = slice(self.num_states), slice(self.length)
        return self.keys_LSJND[layer, states, :, columns], self.values_LSJND[layer, states, :, columns]

    def open_prompts(self, seen_SN: torch.Tensor) -> None:
        """After the prefill: all slots of a state see the columns where `seen_SN` is True."""
        self.length = seen_SN.shape[1]
        self.bias_SKN[:, :, : self.length].masked_fill_(seen_SN.unsqueeze(1), 0.0)

    def append(self, positions_SK: torch.Tensor) -> slice:
        """Make room for one column per slot, seen by that slot alone; returns the columns."""
        states, slots = positions_SK.shape
        columns = slice(self.length, self.length + slots)
        self.positions_SN[:states, columns] = positions_SK
        self.bias_SKN[:states, :slots, columns].diagonal(dim1=1, dim2=2).zero_()
        self.length += slots
        return columns

    def reorder_slots(self, order_SK: torch.Tensor) -> None:
        """Slot k of a state becomes its former slot `order_SK[:, k]`; fewer than before means that the rest is gone."""
        states, slots = order_SK.shape
        index_SKN = order_SK.unsqueeze(2).expand(-1, -1, self.length)
        self.bias_SKN[:states, :slots, : self.length] = self.bias_SKN[:states, :, : self.length].gather(1, index_SKN)

    def reorder_states(self, order: list[int]) -> None:
        """State s becomes the former state `order[s]`, where `order[s]` is s or comes after all that stay."""
        targets = [target for target, source in enumerate(order) if target != source]
        if targets:
            sources = [order[target] for target in targets]
            for tensor in (self.keys_LSJND, self.values_LSJND):
                tensor[:, targets, :, : self.length] = tensor[:, sources, :, : self.length]
            self.positions_SN[targets] = self.positions_SN[sources]
            self.bias_SKN[targets] = self.bias_SKN[sources]
        self.num_states = len(order)


class PrefillAttention:
    """Attention within prompts, which leaves keys and values in the cache; the last layer answers for the markers."""

    def __init__(
        self,
        config: GPTConfig,
        cache: KVCache,
        states: slice,
        columns: slice,
        positions_SN: torch.Tensor,
        mask_SNN: torch.Tensor,
    ) -> None:
        self._keys = cache.keys_LSJND[:, states, :, columns]
        self._values = cache.values_LSJND[:, states, :, columns]
        self._whole = MaskedAttention(config.windows, positions_SN, mask_SNN)
        self._last_layer = config.depth - 1
        self._marker_mask = mask_SNN[:, -2:]

    def __call__(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        self._keys[layer].copy_(k.transpose(1, 2))
        self._values[layer].copy_(v.transpose(1, 2))
        if layer == self._last_layer:  # its window is unlimited, and only the markers are read out
            return attend(q[:, -2:], k, v, self._marker_mask)
        return self._whole(layer, q, k, v)


class DecodeAttention:
    """Attention of one new token per slot to what its state's row of the cache lets it see."""

    def __init__(self, model: GPT, cache: KVCache) -> None:
        self._cache = cache
        self._windows = model.config.windows
        self._scale = model.config.head_dim**-0.5
        self._bias: dict[int, torch.Tensor] = {}
        self._columns = slice(0)

    def open_step(self, positions_SK: torch.Tensor, longest: int) -> None:
        """Append the columns of a step's tokens; `longest` is an upper bound of their positions."""
        cache = self._cache
        self._columns = cache.append(positions_SK)
        states, slots = positions_SK.shape
        bias_SKN = cache.bias_SKN[:states, :slots, : cache.length]
        for window in set(self._windows):
            self._bias[window] = bias_SKN
            if longest >= window:
                distance_SKN = positions_SK.unsqueeze(2) - cache.positions_SN[:states, : cache.length].unsqueeze(1)
                self._bias[window] = bias_SKN.masked_fill(distance_SKN >= window, -math.inf)

    def __call__(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        keys, values = self._cache.layer(layer)
        keys[:, :, self._columns] = k.transpose(1, 2)
        values[:, :, self._columns] = v.transpose(1, 2)
        states, slots, heads, size = q.shape
        kv_heads, columns = keys.shape[1:3]
        # Queries that share keys stand together: (S * J, H / J * K, D).
        q = (q * self._scale).transpose(1, 2).reshape(states * kv_heads, -1, size)
        scores = torch.bmm(q, keys.flatten(0, 1).mT).view(states, heads, slots, columns)
        scores = scores.add_(self._bias[self._windows[layer]].unsqueeze(1))
        weights = scores.softmax(dim=-1, dtype=torch.float32).to(values.dtype)
        y = torch.bmm(weights.view(states * kv_heads, -1, columns), values.flatten(0, 1))
        return y.view(states, heads, slots, size).transpose(1, 2)
