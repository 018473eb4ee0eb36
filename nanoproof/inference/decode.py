"""One decoding step of all active sequences: it is planned on the host, and computed on the device.

The samples of a request form sequence groups of up to `MAX_GROUP_SIZE`; those of a group share a slot of the KV cache.
A group begins with markers: its sequence 0 is `<|tactic|>` (or another token that samples follow), and in the first
group of a request sequence 1 is `<|value|>`; after one step these sequences, and the others, are samples.

A row is a sequence that takes part in a step. Rows are in the order of pool, slot and sequence. Everything outside
attention works on rows, without padding; attention sees the rows of a pool as a grid of its slots and their sequences.
A step is computed from a few rows of integers and the tables on the device alone: therefore it can be recorded once and
replayed (`cuda_graphs.py`), for which rows, slots and columns are padded to sizes that recur.

Shapes: G sequence groups, Q sequences of a group or slot, T tokens to generate, N rows of a step, S slots, C columns
of a slot, H query heads, J key/value heads, D head size, V tokens that a tactic may consist of (text and EOS),
F options that shape the distribution.
"""

import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import torch

from nanoproof.inference.batch_invariance import COLUMNS, ROWS, rounded, weighted_sums
from nanoproof.inference.fused import FusedNetwork, missing_for_kernels
from nanoproof.inference.kv_cache import (
    COLUMN,
    LAST,
    NOISE,
    POSITION,
    SEQUENCE,
    SLOT_FIRST,
    SLOT_POSITION,
    SlotPool,
    SlotSize,
    to_device,
)
from nanoproof.inference.sampling import UNSHAPED, EngineRequest, SamplingOptions, next_tokens, shaped_logits
from nanoproof.model.gpt import GPT, LOGIT_SOFTCAP

log = logging.getLogger(__name__)

# -- Sequence groups -------------------------------------------------------------------------------------------------

# Every sample's tokens are columns of its group's slot, which all samples of the group pass over: a slot of 64 samples
# would be mostly columns of others. Each further group costs a copy of the prompt.
MAX_GROUP_SIZE = 16


@dataclass(frozen=True)
class GroupInfo:
    """The samples of a request that a group holds, and the size of its slot."""

    request: EngineRequest
    first: int
    count: int
    size: SlotSize


def split_samples(samples: int) -> list[tuple[int, int]]:
    """Split the samples of a request evenly; returns the first sample and the number of samples of each group."""
    count = math.ceil(samples / MAX_GROUP_SIZE)
    bounds = [samples * index // count for index in range(count + 1)]
    return [(start, stop - start) for start, stop in pairwise(bounds)]


class SequenceGroups:
    """Tables with a row for each group: numpy arrays for the host, tensors on the device for steps.

    They grow as needed in groups, sequences and tokens; `generation` counts how often tensors were replaced. The last
    row on the device is where padding writes.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self.generation = 0
        self.infos: list[GroupInfo | None] = []
        self._free: list[int] = []
        self.sequences = self.max_steps = 0
        self._allocate(16, 2, 32)

    def _allocate(self, groups: int, sequences: int, steps: int) -> None:
        """Make tables of at least this size, with what the old ones hold."""
        old_tables, num_old = dict(vars(self)), len(self.infos)
        self.sequences, self.max_steps = max(sequences, self.sequences), max(steps, self.max_steps)
        groups = max(groups, num_old)
        shape = (groups, self.sequences)
        # On the host: the slot, how many columns of it are filled, position of the next token, tokens sampled so far.
        self.slot, self.filled, self.position, self.time, self.steps, self.serial = np.zeros(
            (6, groups), dtype=np.int64
        )
        self.marking = np.zeros(groups, dtype=bool)
        self.shaping = np.tile(UNSHAPED, (groups, 1))
        # Sequences that take part in the next step; samples whose end was not read yet.
        self.running, self.unread = np.zeros((2, *shape), dtype=bool)
        # What was read: tokens, how many precede the end (-1: it did not end), and the sum of their log-probabilities.
        self.tokens = np.zeros((*shape, self.max_steps), dtype=np.int32)
        self.lengths = np.zeros(shape, dtype=np.int32)
        self.logprobs = np.zeros(shape)
        # On the device: each sequence's latest token, its noise, and each group's shaping.
        self.last_GQ = torch.zeros(groups + 1, self.sequences, dtype=torch.long, device=self._device)
        self.noise_GTQ = torch.zeros(groups + 1, self.max_steps, self.sequences, device=self._device)
        self.shaping_GF = torch.tensor(UNSHAPED, device=self._device).repeat(groups + 1, 1)
        if num_old:
            for name, table in vars(self).items():
                if isinstance(table, (np.ndarray, torch.Tensor)):
                    # Without the last row on the device, the old scratch: it is an ordinary group's in the new table.
                    old = old_tables[name][:num_old]
                    corner = tuple(slice(size) for size in old.shape)
                    table[corner] = old
        self.infos += [None] * (groups - num_old)
        self._free = list(range(groups - 1, num_old - 1, -1)) + self._free
        self.generation += 1

    @property
    def scratch(self) -> int:
        """The row that takes what padding writes."""
        return len(self.infos)

    def open(self, info: GroupInfo, slot: int, steps: int, markers: list[int]) -> int:
        """Add a group that begins with these markers, whose samples may have `steps` tokens; returns its row."""
        num_groups = len(self.infos)
        if not self._free:
            num_groups *= 2
        if not self._free or info.count > self.sequences or steps > self.max_steps:
            # Two sequences at least, for the markers of tactic and value.
            self._allocate(num_groups, max(2, info.count), steps)
        group = self._free.pop()
        length = len(info.request.prompt)
        self.infos[group] = info
        self.slot[group], self.filled[group], self.position[group] = slot, length, length
        self.time[group], self.steps[group], self.marking[group] = 0, steps, True
        self.running[group], self.unread[group], self.lengths[group] = False, False, -1
        self.running[group, : len(markers)] = True
        self.unread[group, : info.count] = True
        self.logprobs[group] = 0.0
        self.last_GQ[group, : len(markers)] = to_device(markers, self._device)
        self.shaping[group] = info.request.options.shaping
        for option, value in enumerate(info.request.options.shaping):
            self.shaping_GF[group, option] = value
        return group

    def close(self, group: int) -> None:
        """Remove a group. What was computed for it and is not read yet is ignored."""
        self.serial[group] += 1
        self.running[group], self.unread[group], self.infos[group] = False, False, None
        self._free.append(group)

    def info(self, group: int) -> GroupInfo:
        """Return the group in a row of the tables, which must be in use."""
        info = self.infos[group]
        assert info is not None, f"group {group} is free"
        return info


# -- The plan of a step ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PoolShape:
    """The share of a pool in a step: so many rows, and of the pool the first so many slots and columns."""

    size: SlotSize
    rows: int
    slots: int
    columns: int


@dataclass(frozen=True)
class StepShape:
    """All that decides which kernels a step runs: steps of one shape can share a CUDA graph."""

    pools: tuple[PoolShape, ...]
    windowed: bool
    shaped: bool
    invariant: bool = False
    nucleus: bool = False

    def batch_invariant(self) -> "StepShape":
        """Round the shape up so that no row's result depends on the others (`batch_invariance.py`)."""
        pools = [replace(pool, columns=rounded(pool.columns, COLUMNS)) for pool in self.pools]
        pools[-1] = replace(pools[-1], rows=pools[-1].rows + rounded(self.rows, ROWS) - self.rows)
        return replace(self, pools=tuple(pools), invariant=True)

    @property
    def rows(self) -> int:
        return sum(pool.rows for pool in self.pools)

    @property
    def slots(self) -> int:
        return sum(pool.slots for pool in self.pools)


@dataclass(frozen=True)
class Plan:
    """A step as planned on the host.

    `group_N` and `sequence_N` identify the rows, `rows_5N` holds what they need (see `POSITION`), `slots_4S` what every
    slot of every pool needs (see `SLOT_POSITION`), `counts_G` the number of rows of each group.
    """

    shape: StepShape
    group_N: np.ndarray
    sequence_N: np.ndarray
    counts_G: np.ndarray
    rows_5N: np.ndarray
    slots_4S: np.ndarray

    def padded(self, shape: StepShape, groups: SequenceGroups, pools: Sequence[SlotPool]) -> tuple["Plan", np.ndarray]:
        """Pad the plan to a shape that is at least as large; returns it and the new index of each row."""
        # What padding writes must not reach anything real: its token goes to the scratch row of the tables, its keys
        # and values to the pool's extra slot, whose first sequence follows those of all others.
        rows_5N = np.zeros((5, shape.rows), dtype=np.int64)
        rows_5N[LAST] = groups.scratch * groups.sequences
        slots_4S = np.zeros((4, shape.slots), dtype=np.int64)
        new_index, source, target, from_slot, to_slot = [], 0, 0, 0, 0
        for ours, wanted, pool in zip(self.shape.pools, shape.pools, pools, strict=True):
            rows_5N[SEQUENCE, target : target + wanted.rows] = pool.num_slots * pool.size.sequences
            rows_5N[:, target : target + ours.rows] = self.rows_5N[:, source : source + ours.rows]
            taken = slice(to_slot, to_slot + ours.slots)
            slots_4S[:, taken] = self.slots_4S[:, from_slot : from_slot + ours.slots]
            slots_4S[SLOT_FIRST, taken] += target - source
            new_index.append(np.arange(target, target + ours.rows))
            source, target = source + ours.rows, target + wanted.rows
            from_slot, to_slot = from_slot + ours.slots, to_slot + wanted.slots
        plan = Plan(shape, self.group_N, self.sequence_N, self.counts_G, rows_5N, slots_4S)
        return plan, np.concatenate(new_index)


def plan_step(groups: SequenceGroups, by_pool: Sequence[tuple[SlotPool, np.ndarray]], windows: Sequence[int]) -> Plan:
    """Plan the next step of these groups, which are given by pool and in the order of their slots."""
    order_G = np.concatenate([members for _, members in by_pool])
    index_N, sequence_N = groups.running[order_G].nonzero()
    group_N = order_G[index_N]
    counts_G = np.bincount(index_N, minlength=len(order_G))
    starts_G = np.cumsum(counts_G) - counts_G  # the first row of each group
    rows_5N = np.empty((5, len(group_N)), dtype=np.int64)
    # All samples of a group are at one position (they began together), and each needs a column of its own.
    rows_5N[POSITION] = groups.position[group_N]
    rows_5N[COLUMN] = groups.filled[group_N] + np.arange(len(group_N)) - starts_G[index_N]
    rows_5N[LAST] = group_N * groups.sequences + sequence_N
    rows_5N[NOISE] = (group_N * groups.max_steps + groups.time[group_N]) * groups.sequences + sequence_N
    shapes, tables, first, row = [], [], 0, 0
    for pool, members in by_pool:
        counts = counts_G[first : first + len(members)]
        rows = int(counts.sum())
        of_pool = slice(row, row + rows)
        rows_5N[SEQUENCE, of_pool] = groups.slot[group_N[of_pool]] * pool.size.sequences + sequence_N[of_pool]
        columns = int((groups.filled[members] + counts).max())
        shapes.append(PoolShape(pool.size, rows, pool.extent, columns))
        slots_4S = np.zeros((4, pool.extent), dtype=np.int64)
        slots_4S[:, groups.slot[members]] = (
            groups.position[members],
            groups.filled[members],
            starts_G[first : first + len(members)],
            counts,
        )
        tables.append(slots_4S)
        first, row = first + len(members), row + rows
    # What no group of this step needs is not computed at all: masks of windows that reach further back than the longest
    # prompt, temperatures that are all 1, the sorting of a nucleus.
    longest = int(groups.position[order_G].max())
    shaping_GF = groups.shaping[order_G]
    shaped, nucleus = bool((shaping_GF != UNSHAPED).any()), bool((shaping_GF[:, 1] < 1).any())
    shape = StepShape(tuple(shapes), longest >= min(windows), shaped, nucleus=nucleus)
    return Plan(shape, group_N, sequence_N, counts_G, rows_5N, np.concatenate(tables, axis=1))


class DecodeAttention:
    """Attention of a step's rows to the visible columns of their slots; it writes the rows' keys and values there."""

    def __init__(
        self,
        windows: Sequence[int],
        pools: Sequence[SlotPool],
        shape: StepShape,
        rows_5N: torch.Tensor,
        slots_S: torch.Tensor,
    ) -> None:
        self._windows, self._pools = windows, []
        limits: set[int] = set()
        if shape.windowed:
            limits = set(windows)
        self._rows = [taken.rows for taken in shape.pools]
        rows_by_pool = rows_5N.split(self._rows, dim=1)
        slots_by_pool = slots_S.split([taken.slots for taken in shape.pools])
        for pool, taken, rows_5M, slots_T in zip(pools, shape.pools, rows_by_pool, slots_by_pool, strict=True):
            self._pools.append(_PoolAttention(pool, taken, rows_5M, slots_T, limits, shape.invariant))

    def __call__(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        window, outputs = self._windows[layer], []
        by_pool = zip(self._pools, q[0].split(self._rows), k[0].split(self._rows), v[0].split(self._rows))
        for pool, q_MHD, k_MJD, v_MJD in by_pool:
            outputs.append(pool.attend(layer, window, q_MHD, k_MJD, v_MJD))
        if len(outputs) == 1:
            return outputs[0].unsqueeze(0)  # the usual case, without the copy
        return torch.cat(outputs).unsqueeze(0)


class _PoolAttention:
    """Attention of the rows of one pool: a grid of its slots and their sequences."""

    def __init__(
        self,
        pool: SlotPool,
        shape: PoolShape,
        rows_5N: torch.Tensor,
        positions_S: torch.Tensor,
        limits: set[int],
        invariant: bool,
    ) -> None:
        self.pool, self.shape = pool, shape
        self._sums: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = torch.bmm
        if invariant:
            self._sums = weighted_sums
        self._columns_N, sequences_N = rows_5N[COLUMN], rows_5N[SEQUENCE]
        self._slots_N = sequences_N // pool.size.sequences
        # From this step on the sequence sees the column that it fills. `seen` is 0 on the device, made once.
        pool.bias_SQC.flatten(0, 1).index_put_((sequences_N, self._columns_N), pool.seen)
        # Padding has a sequence of its own after those of the grid.
        self._grid_N = sequences_N.clamp(max=shape.slots * pool.size.sequences)
        self._answers_N = sequences_N.clamp(max=shape.slots * pool.size.sequences - 1)
        bias_SQC = pool.bias_SQC[: shape.slots, :, : shape.columns]
        self._bias: dict[int, torch.Tensor] = {}
        # Columns of samples are not at their positions: several samples have columns for one position. Written in every
        # step, so that positions are there when the sequence grows longer than a window.
        if pool.windowed:
            pool.positions_SC[self._slots_N, self._columns_N] = rows_5N[POSITION]
        if limits and pool.windowed:
            distance_SC = positions_S.unsqueeze(1) - pool.positions_SC[: shape.slots, : shape.columns]
            for window in limits:
                self._bias[window] = bias_SQC.masked_fill((distance_SC >= window).unsqueeze(1), -math.inf)
        self._unlimited = bias_SQC

    def attend(self, layer: int, window: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """Return the outputs (N, H, D) of attention for queries (N, H, D)."""
        keys_SJDC, values_SJCD = self.pool.keys_LSJDC[layer], self.pool.values_LSJCD[layer]
        keys_SJDC[self._slots_N, :, :, self._columns_N] = k
        values_SJCD[self._slots_N, :, self._columns_N] = v
        slots, columns, sequences = self.shape.slots, self.shape.columns, self.pool.size.sequences
        (heads, size), kv_heads = q.shape[1:], keys_SJDC.shape[1]
        # Sequences without a row keep stale queries, of which nobody reads the outputs: filling the grid anew for each
        # layer would cost more. Two batched products instead of SDPA: 0.7 ms a layer for 16 states, 1.2 by SDPA.
        grid = self.pool.queries_XHD.index_copy_(0, self._grid_N, q * size**-0.5)[: slots * sequences]
        # Queries that share keys are adjacent: (S * J, H / J * Q, D).
        grid = grid.view(slots, sequences, heads, size).transpose(1, 2).reshape(slots * kv_heads, -1, size)
        scores = _scores(grid, keys_SJDC[:slots, :, :, :columns].flatten(0, 1)).view(slots, heads, sequences, columns)
        scores = scores.add_(self._bias.get(window, self._unlimited).unsqueeze(1))
        weights = scores.softmax(dim=-1, dtype=torch.float32).to(v.dtype)
        y = self._sums(weights.view(slots * kv_heads, -1, columns), values_SJCD[:slots, :, :columns].flatten(0, 1))
        y = y.view(slots, heads, sequences, size).transpose(1, 2).reshape(slots * sequences, heads, size)
        return y.index_select(0, self._answers_N)


def _scores(queries: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    """Compute batched products, in fp32: 16 bits would round what the flash kernels of training and prefill do not."""
    if queries.is_cuda and queries.dtype in (torch.bfloat16, torch.float16):
        return torch.bmm(queries, keys, torch.float32)
    return torch.bmm(queries, keys)


@dataclass(frozen=True)
class StepOutput:
    """Each row's next token and its log-probability, with the logits and hidden states that these come from.

    `places_N` says which rows of logits and hidden states are those of the step's rows (None: the first ones). Logits
    that are `raw` are in the network's dtype, not capped, and of some tokens more.
    """

    tokens_N: torch.Tensor
    logprobs_N: torch.Tensor
    logits_NV: torch.Tensor
    hidden_NC: torch.Tensor
    places_N: np.ndarray | None = None
    raw: bool = False

    def places(self, rows: np.ndarray) -> np.ndarray:
        """Return where the logits and hidden states of these rows are."""
        if self.places_N is None:
            return rows
        return self.places_N[rows]

    def logits(self, places_S: torch.Tensor, num_tokens: int) -> torch.Tensor:
        """Return the logits (S, V) at these places, capped, in fp32 at least."""
        logits_SV = self.logits_NV[places_S]
        if self.raw:
            logits_SV = _capped(logits_SV[:, :num_tokens])
        return logits_SV

    def first(self, rows: int) -> "StepOutput":
        """Return the first rows: the others are padding."""
        if rows == len(self.tokens_N):
            return self
        names = ("tokens_N", "logprobs_N", "logits_NV", "hidden_NC")
        return replace(self, **{name: getattr(self, name)[:rows] for name in names})


def _capped(logits: torch.Tensor) -> torch.Tensor:
    return LOGIT_SOFTCAP * torch.tanh(logits.float() / LOGIT_SOFTCAP)


def compute_step(
    network: GPT,
    num_tokens: int,
    groups: SequenceGroups,
    pools: Sequence[SlotPool],
    shape: StepShape,
    rows_5N: torch.Tensor,
    slots_4S: torch.Tensor,
    fused: FusedNetwork | None = None,
) -> StepOutput:
    """Compute a step on the device; `num_tokens` is V. Each row's token becomes its latest in the tables."""
    last = groups.last_GQ.flatten()
    tokens_N = last[rows_5N[LAST]]
    if fused is not None:
        slots = [pool.slots for pool in shape.pools]
        hidden_NC = fused.trunk(tokens_N, fused.decode_attend(pools, slots, rows_5N, slots_4S))
        assert hidden_NC is not None
        logits_NV = fused.logits(hidden_NC, num_tokens)
        # A nucleus needs its row sorted, which no kernel of ours does.
        if not shape.nucleus:
            tokens_N, logprobs_N = fused.kernels.sample(
                logits_NV,
                num_tokens,
                rows_5N,
                groups.noise_GTQ,
                groups.shaping_GF,
                groups.last_GQ,
                shape.shaped,
            )
            return StepOutput(tokens_N, logprobs_N, logits_NV, hidden_NC, raw=True)
        logits_NV = _capped(logits_NV[:, :num_tokens])
    else:
        attention = DecodeAttention(network.config.windows, pools, shape, rows_5N, slots_4S[SLOT_POSITION])
        hidden_NC = network.trunk(tokens_N.unsqueeze(0), rows_5N[POSITION].unsqueeze(0), attention)[0]
        logits_NV = network.logits(hidden_NC, slice(num_tokens))
    probabilities_NV = logits_NV.softmax(dim=-1)
    drawn_from_NV = probabilities_NV
    if shape.shaped:
        shaping_FN = groups.shaping_GF[rows_5N[LAST] // groups.sequences].T
        drawn_from_NV = shaped_logits(logits_NV, shaping_FN.unsqueeze(-1), shape.nucleus).softmax(dim=-1)
    tokens_N = next_tokens(drawn_from_NV, groups.noise_GTQ.flatten()[rows_5N[NOISE]])
    # At temperature 1 and without nucleus, however tokens are drawn: the search has a temperature of its own for
    # priors.
    logprobs_N = probabilities_NV.gather(1, tokens_N.unsqueeze(1)).squeeze(1).log()
    last[rows_5N[LAST]] = tokens_N
    return StepOutput(tokens_N, logprobs_N, logits_NV, hidden_NC)


# -- The choice of kernels -------------------------------------------------------------------------------------------

KERNEL_TOLERANCE = 0.1
"""By how much hidden states of the two ways may differ on a GPU (norm of the difference by the norm): 16 bits round a
hundredth away in a deep network, a wrong column or head makes them differ by their size."""
PROBED_PROMPT = 70
"""Columns that a slot of the probe has filled: more than the attention kernel reads at a time."""


def fused_or_not(network: GPT, num_tokens: int, wanted: str) -> tuple[FusedNetwork | None, str]:
    """Decide for `engine.kernels`; returns the fused network, None for the plain one, and the reason.

    On a GPU they are compiled and held against the plain way first, as a driver or a compiler may not suit them; with
    `auto` the plain way is taken where they fail. Raises ValueError if they were asked for and cannot be had.
    """
    if wanted == "off":
        return None, "asked for"
    on_cuda = network.device.type == "cuda"
    problem = missing_for_kernels(network.device, network.compute_dtype)
    # On a CPU there is only Triton's interpreter, which is for tests.
    if problem is None and wanted == "auto" and not on_cuda:
        problem = f"auto takes them on a CUDA device, this is {network.device.type}"
    if problem is None:
        try:
            fused = FusedNetwork(network)
            if on_cuda:
                problem = _difference(network, fused, num_tokens)
        except Exception as error:  # whatever a compiler or a driver says
            log.debug("the kernels failed", exc_info=True)
            first_line, *_ = [*str(error).strip().splitlines(), ""]
            problem = f"{type(error).__name__}: {first_line}"
        if problem is None and wanted == "on":
            return fused, "asked for"
        if problem is None:
            return fused, "CUDA device"
        log.warning("decoding without the Triton kernels: %s", problem)
    if wanted == "on":
        raise ValueError(f"engine.kernels: {problem}")
    return None, problem


@torch.inference_mode()
def _difference(network: GPT, fused: FusedNetwork, num_tokens: int) -> str | None:
    """Compute a step of two slots with random keys and values, and a prompt, both ways; returns how these differ."""
    config, device = network.config, network.device
    filled = min(PROBED_PROMPT, config.sequence_len - 2)
    generator = torch.Generator(device=device).manual_seed(0)
    groups, pool = SequenceGroups(device), SlotPool(config, SlotSize(256, 2), 2, network.compute_dtype, device)
    for slot in range(2):
        # Of different lengths, so that a kernel that reads beyond a prompt, or too little of it, is noticed.
        request = EngineRequest([0] * (filled - 7 * slot), SamplingOptions(2, 4), slot)
        group = groups.open(GroupInfo(request, 0, 2, pool.size), pool.allocate(), 4, [1, 2])
        pool.open(slot, len(request.prompt), with_value=True)
        assert groups.slot[group] == slot
    for cache in (pool.keys_LSJDC, pool.values_LSJCD):
        cache.copy_(torch.randn(cache.shape, generator=generator, device=device))
    plan = plan_step(groups, [(pool, np.flatnonzero(groups.running.any(axis=1)))], config.windows)
    plan = replace(plan, shape=replace(plan.shape, windowed=True))
    tables, latest = (to_device(plan.rows_5N, device), to_device(plan.slots_4S, device)), groups.last_GQ.clone()
    prompt_N = torch.arange(5, device=device)
    # Each list: hidden states of the decoding step, then keys and values of the prompt's last layer.
    plain: list[torch.Tensor] = []
    ours: list[torch.Tensor] = []
    for results, kernels in ((plain, None), (ours, fused)):
        groups.last_GQ.copy_(latest)  # a step replaces the latest tokens by those that it draws
        results.append(compute_step(network, num_tokens, groups, [pool], plan.shape, *tables, kernels).hidden_NC)

        def keep(layer: int, q: torch.Tensor, *kv: torch.Tensor, results: list[torch.Tensor] = results) -> torch.Tensor:
            results[1:] = kv  # of the last layer, into which all others have gone
            return q

        if kernels is None:
            network.trunk(prompt_N.unsqueeze(0), prompt_N.unsqueeze(0), keep)
        else:
            kernels.trunk(prompt_N, kernels.split_attend(prompt_N, keep))
    errors = []
    for result, expected in zip(ours, plain, strict=True):
        errors.append(float((result.float() - expected.float()).norm() / expected.float().norm()))
    error = max(errors)
    if error <= KERNEL_TOLERANCE:  # false for NaN
        return None
    return f"they give other results than torch's operators ({error:.1e} off)"
