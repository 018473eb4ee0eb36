"""Keys and values of the states in a batch, and the attention that reads them.

Shapes: S states, K slots (samples that are being written) of a state, R rows (tokens of all states behind each other),
P columns of the prompts, N columns of the cache, L layers, H query heads, J key/value heads, D head size.

Everything outside attention works on rows, without padding. Attention sees them as a grid, state by state. The prompts
stand right-aligned in the cache, followed by `<|value|>` and `<|tactic|>`; every decoding step then appends one
column per slot. The slots of a state share the columns of its prompt, and a mask lets each see its own columns only. So
nothing is read twice and nothing is copied per sample.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch

from nanoproof.gpt.attention.dense import attend, causal_mask, window_mask
from nanoproof.gpt.model import GPTConfig

# A group of prompts that attention pads to one length ends where they are shorter than this share of its longest.
GROUP_SHARE = 0.6


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
    """The cache of one batch. Columns are only ever appended; states and slots are only ever dropped."""

    def __init__(
        self, config: GPTConfig, storage: KVStorage, num_states: int, num_slots: int, num_columns: int
    ) -> None:
        shape = (config.depth, num_states, config.kv_heads, num_columns, config.head_dim)
        self.keys_LSJND, self.values_LSJND = storage.take(shape)
        device = self.keys_LSJND.device
        self.num_states, self.num_slots, self.length = num_states, num_slots, 0
        # 0 where a slot sees a column and -inf elsewhere.
        self.bias_SKN = torch.full((num_states, num_slots, num_columns), -math.inf, device=device)
        self.positions_SN = torch.zeros(num_states, num_columns, dtype=torch.long, device=device)

    def layer(self, layer: int) -> tuple[torch.Tensor, torch.Tensor]:
        """The filled part of a layer's keys and values for the states in use, (S, J, length, D)."""
        states, columns = slice(self.num_states), slice(self.length)
        return self.keys_LSJND[layer, states, :, columns], self.values_LSJND[layer, states, :, columns]

    def open_prompts(self, seen_SP: torch.Tensor) -> None:
        """After the prefill: all slots of a state see the columns where `seen_SP` is True."""
        self.length = seen_SP.shape[1]
        self.bias_SKN[:, :, : self.length].masked_fill_(seen_SP.unsqueeze(1), 0.0)

    def append(self, states_R: torch.Tensor, slots_R: torch.Tensor, positions_R: torch.Tensor) -> torch.Tensor:
        """Make room for a token of each of these slots, seen by that slot alone; returns the columns (R)."""
        columns_R = self.length + slots_R
        self.positions_SN[states_R, columns_R] = positions_R
        self.bias_SKN[states_R, slots_R, columns_R] = 0.0
        self.length += self.num_slots
        return columns_R

    def regroup(self, states: np.ndarray, slots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Drop all states and slots but these (one entry per row, sorted by state); returns their new places."""
        present, inverse, counts = np.unique(states, return_inverse=True, return_counts=True)
        new_slots = np.arange(len(states)) - (np.cumsum(counts) - counts)[inverse]
        order_SK = np.zeros((self.num_states, counts.max()), dtype=np.int64)
        order_SK[states, new_slots] = slots
        index_SKN = torch.from_numpy(order_SK).to(self.bias_SKN.device).unsqueeze(2).expand(-1, -1, self.length)
        bias_SKN = self.bias_SKN[: self.num_states, :, : self.length].gather(1, index_SKN)
        self.num_slots = int(counts.max())
        self.bias_SKN[: self.num_states, : self.num_slots, : self.length] = bias_SKN
        # States from the end move into the gaps.
        places = present.copy()
        gaps = np.setdiff1d(np.arange(len(present)), present)
        places[present >= len(present)] = gaps
        self._move_states(present[present >= len(present)], gaps)
        self.num_states = len(present)
        return places[inverse], new_slots

    def _move_states(self, sources: np.ndarray, targets: np.ndarray) -> None:
        if not len(sources):
            return
        source, target = (torch.from_numpy(x).to(self.bias_SKN.device) for x in (sources, targets))
        for tensor in (self.keys_LSJND, self.values_LSJND):
            tensor[:, target, :, : self.length] = tensor[:, source, :, : self.length]
        self.positions_SN[target] = self.positions_SN[source]
        self.bias_SKN[target] = self.bias_SKN[source]


@dataclass(frozen=True)
class _Group:
    """States that prefill attention pads to one length, and where they are in the grid of all groups."""

    states: slice
    columns: slice
    grid: slice
    masks: dict[int, torch.Tensor]


class PrefillAttention:
    """Attention within prompts, which leaves keys and values in the cache.

    Rows are the prompts' tokens, longest prompt first, and then the two markers of every prompt. In the last layer only
    the markers are answered for.
    """

    def __init__(self, config: GPTConfig, cache: KVCache, lengths: list[int]) -> None:
        self._cache = cache
        self._width = lengths[0] + 2
        self._windows, self._num_states, self._prefix_lm = config.windows, len(lengths), config.prefix_lm
        device = cache.keys_LSJND.device
        lengths_S1 = torch.tensor(lengths, device=device).unsqueeze(1)
        # Padding has negative positions; both markers have the position after the prompt.
        positions_SP = torch.minimum(
            torch.arange(self._width, device=device) - (self._width - 2 - lengths_S1), lengths_S1
        )
        cache.positions_SN[:, : self._width] = positions_SP
        # What slots see: all but padding and the `<|value|>` column.
        self.seen_SP = positions_SP >= 0
        self.seen_SP[:, -2] = False
        self._groups: list[_Group] = []
        for start, stop in _ranges(lengths):
            self._groups.append(self._group(start, stop, positions_SP[start:stop, -lengths[start] - 2 :]))
        states, columns, grid = self._addresses(lengths)
        self._states_R, self._columns_R, self._grid_R = (
            torch.from_numpy(x).to(device) for x in (states, columns, grid)
        )
        self.positions_R = positions_SP[self._states_R, self._columns_R]

    def _group(self, start: int, stop: int, positions_SP: torch.Tensor) -> _Group:
        width = positions_SP.shape[1]
        mask = causal_mask(width, positions_SP.device)
        mask[:, -1, -2] = False  # `<|value|>` is a branch of its own
        if self._prefix_lm:
            mask[:, :-2, :-2] = True
        own = torch.eye(width, dtype=torch.bool, device=positions_SP.device)
        mask = (mask & (positions_SP >= 0).unsqueeze(1)) | own
        masks = {w: mask if width <= w else window_mask(mask, positions_SP, w) for w in set(self._windows)}
        offset = self._groups[-1].grid.stop if self._groups else 0
        columns, grid = slice(self._width - width, self._width), slice(offset, offset + (stop - start) * width)
        return _Group(slice(start, stop), columns, grid, masks)

    def _addresses(self, lengths: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """State, column of the cache, and place in the grid of every row."""
        states = [np.full(length, state) for state, length in enumerate(lengths)]
        columns = [np.arange(self._width - 2 - length, self._width - 2) for length in lengths]
        states.append(np.repeat(np.arange(len(lengths)), 2))
        columns.append(np.tile([self._width - 2, self._width - 1], len(lengths)))
        state, column = np.concatenate(states), np.concatenate(columns)
        first = np.empty(len(lengths), dtype=np.int64)  # place of each state's column 0 (which may lie outside)
        for group in self._groups:
            width = self._width - group.columns.start
            numbers = np.arange(group.states.start, group.states.stop)
            first[numbers] = group.grid.start + (numbers - group.states.start) * width - group.columns.start
        return state, column, first[state] + column

    def __call__(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        keys, values = self._cache.keys_LSJND[layer], self._cache.values_LSJND[layer]
        keys[self._states_R, :, self._columns_R] = k[0]
        values[self._states_R, :, self._columns_R] = v[0]
        last = layer == len(self._windows) - 1
        heads, size = q.shape[2:]
        if last:
            grid = q[0, -2 * self._num_states :].view(self._num_states, 2, heads, size)
        else:
            grid = q.new_zeros(self._groups[-1].grid.stop, heads, size).index_copy_(0, self._grid_R, q[0])
        answers = []
        for group in self._groups:
            k_SJPD, v_SJPD = keys[group.states, :, group.columns], values[group.states, :, group.columns]
            mask = group.masks[self._windows[layer]]
            queries = grid[group.states] if last else grid[group.grid].unflatten(0, (len(k_SJPD), -1))
            y = attend(queries, k_SJPD.transpose(1, 2), v_SJPD.transpose(1, 2), mask[:, -2:] if last else mask)
            answers.append(y.flatten(0, 1))
        y_RHD = torch.cat(answers)
        return (y_RHD if last else y_RHD[self._grid_R]).unsqueeze(0)


def _ranges(lengths: list[int]) -> list[tuple[int, int]]:
    """Ranges of prompts (longest first) of similar length."""
    starts = [0] if lengths else []
    for index, length in enumerate(lengths):
        if length < GROUP_SHARE * lengths[starts[-1]]:
            starts.append(index)
    return list(zip(starts, [*starts[1:], len(lengths)]))


class DecodeAttention:
    """Attention of one new token for each of some slots to what its state's row of the cache lets it see."""

    def __init__(self, config: GPTConfig, cache: KVCache) -> None:
        self._cache, self._windows, self._scale = cache, config.windows, config.head_dim**-0.5
        self._bias: dict[int, torch.Tensor] = {}

    def open_step(self, states_R: torch.Tensor, slots_R: torch.Tensor, positions_R: torch.Tensor, longest: int) -> None:
        """The rows of the coming step; `longest` is an upper bound of their positions."""
        cache = self._cache
        self._states_R, self._columns_R = states_R, cache.append(states_R, slots_R, positions_R)
        self._grid_R = states_R * cache.num_slots + slots_R
        states, slots = cache.num_states, cache.num_slots
        bias_SKN = cache.bias_SKN[:states, :slots, : cache.length]
        for window in set(self._windows):
            self._bias[window] = bias_SKN
            if longest >= window:
                positions_SK = positions_R.new_zeros(states * slots).index_copy_(0, self._grid_R, positions_R)
                columns_SN = cache.positions_SN[:states, : cache.length]
                too_far = positions_SK.view(states, slots, 1) - columns_SN.unsqueeze(1) >= window
                self._bias[window] = bias_SKN.masked_fill(too_far, -math.inf)

    def __call__(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        keys, values = self._cache.layer(layer)
        keys[self._states_R, :, self._columns_R] = k[0]
        values[self._states_R, :, self._columns_R] = v[0]
        states, slots, (rows, heads, size) = self._cache.num_states, self._cache.num_slots, q.shape[1:]
        kv_heads, columns = keys.shape[1:3]
        grid = q[0] * self._scale
        full = rows == states * slots
        if not full:
            grid = grid.new_zeros(states * slots, heads, size).index_copy_(0, self._grid_R, grid)
        # Queries that share keys stand together: (S * J, H / J * K, D).
        grid = grid.view(states, slots, heads, size).transpose(1, 2).reshape(states * kv_heads, -1, size)
        scores = torch.bmm(grid, keys.flatten(0, 1).mT).view(states, heads, slots, columns)
        scores = scores.add_(self._bias[self._windows[layer]].unsqueeze(1))
        weights = scores.softmax(dim=-1, dtype=torch.float32).to(values.dtype)
        y = torch.bmm(weights.view(states * kv_heads, -1, columns), values.flatten(0, 1))
        y = y.view(states, heads, slots, size).transpose(1, 2).reshape(states * slots, heads, size)
        return (y if full else y[self._grid_R]).unsqueeze(0)
