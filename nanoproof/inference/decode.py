"""One decoding step for all sequences that are being written.

Shapes: P parts, Q places (samples of a part), T tokens to generate, N rows (samples and markers) of a step.

A part is up to `MOST_PLACES` samples of one request, which share a slot of the cache. It begins with markers: place 0
is `<|tactic|>`, and in the first part of a request place 1 is `<|value|>`; after one step these places, and the others,
are samples. What the host has to know is in numpy arrays, what a step of the network needs is on the device. The last
row on the device takes what padding writes.

Shapes: N rows (places that take part in the step), S slots, Q places of a slot, C columns of a slot, H query heads,
J key/value heads, D head size, V tokens that a tactic may consist of (text and EOS).

Rows stand in the order of pool, slot and place. Everything outside attention works on rows, without padding. Attention
sees the rows of a pool as a grid of its slots and their places. A step is planned on the host as a few rows of
integers, and computed from nothing but these and the tables on the device: therefore it can be recorded once and
replayed (`graphs.py`), for which rows, slots and columns are padded to sizes that come again.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch

from nanoproof.inference.kv_cache import Pool, SlotSize, to_device
from nanoproof.inference.sampling import EngineRequest, next_tokens
from nanoproof.model.gpt import GPT

# -- The samples that are being written, in tables whose rows are parts ----------------------------------------------

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


POSITION, PLACE, COLUMN, LAST, NOISE = range(5)
"""Of a row: position of its token, its place in its pool, the column it fills, and where its latest token and its
noise stand in the tables."""


@dataclass(frozen=True)
class PoolShape:
    """What a step takes of a pool: so many rows, and of the pool so many slots and columns."""

    size: SlotSize
    rows: int
    slots: int
    columns: int


@dataclass(frozen=True)
class StepShape:
    """All that decides what is computed, apart from values of tensors."""

    pools: tuple[PoolShape, ...]
    windowed: bool
    tempered: bool

    @property
    def rows(self) -> int:
        return sum(pool.rows for pool in self.pools)

    @property
    def slots(self) -> int:
        return sum(pool.slots for pool in self.pools)


@dataclass(frozen=True)
class Plan:
    """A step as the host knows it. `part_N` and `place_N` are the rows, `rows_5N` what they need, `positions_S` the
    next position in every slot of every pool; `counts_P` says how many rows each part has."""

    shape: StepShape
    part_N: np.ndarray
    place_N: np.ndarray
    counts_P: np.ndarray
    rows_5N: np.ndarray
    positions_S: np.ndarray

    def padded(self, shape: StepShape, parts: Parts, pools: Sequence[Pool]) -> tuple["Plan", np.ndarray]:
        """The same for a shape that is at least as large, and where the rows are now."""
        rows_5N = np.zeros((5, shape.rows), dtype=np.int64)
        rows_5N[LAST] = parts.scratch * parts.places
        positions_S = np.zeros(shape.slots, dtype=np.int64)
        where, source, target, from_slot, to_slot = [], 0, 0, 0, 0
        for ours, wanted, pool in zip(self.shape.pools, shape.pools, pools, strict=True):
            rows_5N[PLACE, target : target + wanted.rows] = pool.num_slots * pool.size.places
            rows_5N[:, target : target + ours.rows] = self.rows_5N[:, source : source + ours.rows]
            positions_S[to_slot : to_slot + ours.slots] = self.positions_S[from_slot : from_slot + ours.slots]
            where.append(np.arange(target, target + ours.rows))
            source, target = source + ours.rows, target + wanted.rows
            from_slot, to_slot = from_slot + ours.slots, to_slot + wanted.slots
        plan = Plan(shape, self.part_N, self.place_N, self.counts_P, rows_5N, positions_S)
        return plan, np.concatenate(where)


def plan_step(parts: Parts, groups: Sequence[tuple[Pool, np.ndarray]], windows: Sequence[int]) -> Plan:
    """The next step of these parts, which are given by pool and in the order of their slots."""
    order_P = np.concatenate([members for _, members in groups])
    index_N, place_N = parts.running[order_P].nonzero()
    part_N = order_P[index_N]
    counts_P = np.bincount(index_N, minlength=len(order_P))
    starts_P = np.cumsum(counts_P) - counts_P
    rows_5N = np.empty((5, len(part_N)), dtype=np.int64)
    rows_5N[POSITION] = parts.position[part_N]
    rows_5N[COLUMN] = parts.filled[part_N] + np.arange(len(part_N)) - starts_P[index_N]
    rows_5N[LAST] = part_N * parts.places + place_N
    rows_5N[NOISE] = (part_N * parts.most_steps + parts.time[part_N]) * parts.places + place_N
    shapes, positions, part, row = [], [], 0, 0
    for pool, members in groups:
        rows = int(counts_P[part : part + len(members)].sum())
        mine = slice(row, row + rows)
        rows_5N[PLACE, mine] = parts.slot[part_N[mine]] * pool.size.places + place_N[mine]
        columns = int((parts.filled[members] + counts_P[part : part + len(members)]).max())
        shapes.append(PoolShape(pool.size, rows, pool.extent, columns))
        positions_S = np.zeros(pool.extent, dtype=np.int64)
        positions_S[parts.slot[members]] = parts.position[members]
        positions.append(positions_S)
        part, row = part + len(members), row + rows
    longest = int(parts.position[order_P].max())
    shape = StepShape(tuple(shapes), longest >= min(windows), bool((parts.temperature[order_P] != 1.0).any()))
    return Plan(shape, part_N, place_N, counts_P, rows_5N, np.concatenate(positions))


class GridAttention:
    """Attention of a step's rows to what their slots let them see; it leaves the rows' keys and values there."""

    def __init__(
        self,
        windows: Sequence[int],
        pools: Sequence[Pool],
        shape: StepShape,
        rows_5N: torch.Tensor,
        slots_S: torch.Tensor,
    ) -> None:
        self._windows, self._grids = windows, []
        limits = set(windows) if shape.windowed else set()
        row = slot = 0
        for pool, part in zip(pools, shape.pools, strict=True):
            rows_5M = rows_5N[:, row : row + part.rows]
            self._grids.append(_Grid(pool, part, rows_5M, slots_S[slot : slot + part.slots], limits))
            row, slot = row + part.rows, slot + part.slots

    def __call__(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        rows = [grid.shape.rows for grid in self._grids]
        parts = zip(self._grids, q[0].split(rows), k[0].split(rows), v[0].split(rows))
        answers = [grid.attend(layer, self._windows[layer], *qkv) for grid, *qkv in parts]
        return (answers[0] if len(answers) == 1 else torch.cat(answers)).unsqueeze(0)


class _Grid:
    """The share of one pool."""

    def __init__(
        self, pool: Pool, shape: PoolShape, rows_5N: torch.Tensor, positions_S: torch.Tensor, limits: set[int]
    ) -> None:
        self.pool, self.shape = pool, shape
        self._columns_N, places_N = rows_5N[COLUMN], rows_5N[PLACE]
        self._slots_N = places_N // pool.size.places
        pool.bias_SQC.flatten(0, 1).index_put_((places_N, self._columns_N), pool.seen)
        # Padding has a place of its own behind those of the grid.
        self._grid_N = places_N.clamp(max=shape.slots * pool.size.places)
        self._answers_N = places_N.clamp(max=shape.slots * pool.size.places - 1)
        bias_SQC = pool.bias_SQC[: shape.slots, :, : shape.columns]
        self._bias: dict[int, torch.Tensor] = {}
        if pool.windowed:
            pool.positions_SC[self._slots_N, self._columns_N] = rows_5N[POSITION]
        if limits and pool.windowed:
            distance_SC = positions_S.unsqueeze(1) - pool.positions_SC[: shape.slots, : shape.columns]
            for window in limits:
                self._bias[window] = bias_SQC.masked_fill((distance_SC >= window).unsqueeze(1), -math.inf)
        self._unlimited = bias_SQC

    def attend(self, layer: int, window: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """Answers (N, H, D) to queries (N, H, D)."""
        keys_SJDC, values_SJCD = self.pool.keys_LSJDC[layer], self.pool.values_LSJCD[layer]
        keys_SJDC[self._slots_N, :, :, self._columns_N] = k
        values_SJCD[self._slots_N, :, self._columns_N] = v
        slots, columns, places = self.shape.slots, self.shape.columns, self.pool.size.places
        (heads, size), kv_heads = q.shape[1:], keys_SJDC.shape[1]
        grid = self.pool.queries_GHD.index_copy_(0, self._grid_N, q * size**-0.5)[: slots * places]
        # Queries that share keys stand together: (S * J, H / J * Q, D).
        grid = grid.view(slots, places, heads, size).transpose(1, 2).reshape(slots * kv_heads, -1, size)
        scores = _scores(grid, keys_SJDC[:slots, :, :, :columns].flatten(0, 1)).view(slots, heads, places, columns)
        scores = scores.add_(self._bias.get(window, self._unlimited).unsqueeze(1))
        weights = scores.softmax(dim=-1, dtype=torch.float32).to(v.dtype)
        y = torch.bmm(weights.view(slots * kv_heads, -1, columns), values_SJCD[:slots, :, :columns].flatten(0, 1))
        y = y.view(slots, heads, places, size).transpose(1, 2).reshape(slots * places, heads, size)
        return y.index_select(0, self._answers_N)


def _scores(queries: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    """Batched products; in fp32 where 16 bits would round what the flash kernels of training and prefill do not."""
    if queries.is_cuda and queries.dtype in (torch.bfloat16, torch.float16):
        return torch.bmm(queries, keys, torch.float32)
    return torch.bmm(queries, keys)


@dataclass(frozen=True)
class StepOutput:
    """Each row's next token, its log-probability, and what these come from."""

    tokens_N: torch.Tensor
    logprobs_N: torch.Tensor
    logits_NV: torch.Tensor
    hidden_NC: torch.Tensor


def compute_step(
    network: GPT,
    num_tokens: int,
    parts: Parts,
    pools: Sequence[Pool],
    shape: StepShape,
    rows_5N: torch.Tensor,
    positions_S: torch.Tensor,
) -> StepOutput:
    """Compute a step on the device; `num_tokens` is V. Each row's token becomes its latest in the tables."""
    last = parts.last_PQ.flatten()
    attention = GridAttention(network.config.windows, pools, shape, rows_5N, positions_S)
    hidden_1NC = network.trunk(last[rows_5N[LAST]].unsqueeze(0), rows_5N[POSITION].unsqueeze(0), attention)
    logits_NV = network.logits(hidden_1NC[0], slice(num_tokens))
    probabilities_NV = logits_NV.softmax(dim=-1)
    tempered_NV = probabilities_NV
    if shape.tempered:
        temperature_N = parts.temperature_P1[rows_5N[LAST] // parts.places]
        tempered_NV = (logits_NV / temperature_N).softmax(dim=-1)
    tokens_N = next_tokens(tempered_NV, parts.noise_PTQ.flatten()[rows_5N[NOISE]])
    logprobs_N = probabilities_NV.gather(1, tokens_N.unsqueeze(1)).squeeze(1).log()
    last[rows_5N[LAST]] = tokens_N
    return StepOutput(tokens_N, logprobs_N, logits_NV, hidden_1NC[0])
