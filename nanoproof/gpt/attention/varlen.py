"""Attention by flash kernels for sequences of different lengths that stand behind each other without padding.

Shapes: B rows, T tokens of a row, M = B * T tokens of the batch, S sequences, G gathered keys, P places of a key,
H query heads, K key/value heads (H is a multiple of K), D head size.

A packed row is cut into sequences: every prefix, with itself as keys, and every continuation, with its prefix and
itself as keys. All queries stand in the batch's order already; the keys are gathered, a prefix once for itself and
once for each of its continuations. Causal order counts from the end of queries and keys, therefore positions agree, and
a sliding window is a limit on their distance. With `prefix_lm` a second call answers for the prefixes, both ways.

How many sequences, keys and places there are differs from batch to batch; the tensors are padded to sizes that only
ever grow, in few steps, so that compiled code soon sees the same shapes always.

The kernel is torch's `varlen_attn` (FlashAttention-2, or FlashAttention-3 where `choose.py` activated it). The cutting
and gathering are tested on CPU with a slow kernel; the flash kernels themselves have not been run yet.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from nanoproof.gpt.attention.contract import Attend
from nanoproof.gpt.layout import RowLayout

# kernel(q_MHD, k_GKD, v_GKD, cu_q, cu_k, max_q, max_k, window=(left, right)) -> y_MHD. Sequence s has the queries
# cu_q[s]:cu_q[s+1] and the keys cu_k[s]:cu_k[s+1]; right 0 is causal, counted from the ends; -1 is no limit.
Kernel = Callable[..., torch.Tensor]


def flash_kernel() -> Kernel:
    """torch's varlen attention. Importing it loads torch's compiler, which programs on a CPU do without."""
    from torch.nn.attention.varlen import varlen_attn

    def kernel(
        q_MHD: torch.Tensor,
        k_GKD: torch.Tensor,
        v_GKD: torch.Tensor,
        cu_q: torch.Tensor,
        cu_k: torch.Tensor,
        max_q: int,
        max_k: int,
        window: tuple[int, int],
    ) -> torch.Tensor:
        gqa = q_MHD.shape[1] != k_GKD.shape[1]
        y_MHD = varlen_attn(q_MHD, k_GKD, v_GKD, cu_q, cu_k, max_q, max_k, window_size=window, enable_gqa=gqa)
        assert isinstance(y_MHD, torch.Tensor)
        return y_MHD

    return kernel


@dataclass(frozen=True)
class Runs:
    """The runs of a layout: neighbouring tokens of one prefix, one continuation, or padding. Tensors of shape (S,)."""

    starts: torch.Tensor
    lengths: torch.Tensor
    prefix_starts: torch.Tensor
    prefix_lengths: torch.Tensor

    @classmethod
    def of(cls, layout: RowLayout) -> "Runs":
        """Cut the rows, as if they stood behind each other. Prefix lengths are 0 where a run has no prefix."""
        segments, branches = layout.segments, layout.branches
        begins = torch.ones_like(segments, dtype=torch.bool)
        begins[:, 1:] = (segments[:, 1:] != segments[:, :-1]) | (branches[:, 1:] != branches[:, :-1])
        starts = begins.flatten().nonzero().squeeze(1)
        lengths = torch.diff(starts, append=starts.new_tensor([segments.numel()]))
        row, segment, branch = starts // segments.shape[1], segments.flatten()[starts], branches.flatten()[starts]
        numbers = torch.arange(len(starts), device=starts.device)
        prefix = torch.where(branch == 0, numbers, -1).cummax(0).values
        owner = prefix.clamp(min=0)
        owned = (branch > 0) & (prefix >= 0) & (row[owner] == row) & (segment[owner] == segment)
        return cls(starts, lengths, starts[owner], torch.where(owned, lengths[owner], 0))


def gathered_keys(runs: Runs) -> tuple[torch.Tensor, torch.Tensor]:
    """Token of each key, (G,), prefix before continuation, and how many keys each run has, (S,)."""
    counts = runs.prefix_lengths + runs.lengths
    run = torch.repeat_interleave(torch.arange(len(counts), device=counts.device), counts)
    offset = torch.arange(len(run), device=run.device) - (counts.cumsum(0) - counts)[run]
    own = offset - runs.prefix_lengths[run]
    return torch.where(own < 0, runs.prefix_starts[run] + offset, runs.starts[run] + own), counts


def key_places(keys_G: torch.Tensor, num_tokens: int) -> torch.Tensor:
    """Where each token stands among the gathered keys, (M, P), -1 where it stands in fewer places than others."""
    times = torch.bincount(keys_G, minlength=num_tokens)
    order = keys_G.argsort(stable=True)
    tokens = keys_G[order]
    rank = torch.arange(len(order), device=order.device) - (times.cumsum(0) - times)[tokens]
    places = torch.full((num_tokens, int(times.max())), -1, dtype=torch.long, device=keys_G.device)
    places[tokens, rank] = order
    return places


class _Gather(torch.autograd.Function):
    """Rows of a matrix by index. The gradient is a sum over the places of each row: no atomic additions, and places
    that only pad are never read."""

    @staticmethod
    def forward(ctx: Any, x_MKD: torch.Tensor, keys_G: torch.Tensor, places_MP: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(places_MP)
        return x_MKD[keys_G]

    @staticmethod
    def backward(ctx: Any, grad_GKD: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        (places_MP,) = ctx.saved_tensors
        total = None
        for places_M in places_MP.unbind(1):
            there = (places_M >= 0)[:, None, None]
            part = torch.where(there, grad_GKD[places_M.clamp(min=0)], 0.0)
            total = part.float() if total is None else total + part
        assert total is not None
        return total.to(grad_GKD.dtype), None, None


class Sizes:
    """Sizes to which tensors are padded: they grow in steps of a quarter of a power of two, and never shrink."""

    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}

    def of(self, name: str, needed: int) -> int:
        """A size of at least `needed`."""
        if needed > self._sizes.get(name, 0):
            step = max(1, 2 ** (needed - 1).bit_length() // 8)
            self._sizes[name] = -(-needed // step) * step
        return self._sizes[name]


def _offsets(counts: torch.Tensor, size: int) -> torch.Tensor:
    """Cumulative counts from 0, int32, padded to `size` empty sequences."""
    sums = counts.cumsum(0)
    ends = torch.cat([sums.new_zeros(1), sums, sums[-1:].expand(size - len(sums))])
    return ends.to(torch.int32)


def _padded(x: torch.Tensor, size: int, value: int) -> torch.Tensor:
    return torch.nn.functional.pad(x, (0, size - x.shape[-1]), value=value)


class VarlenAttention:
    """One batch: sequences and gathered keys, worked out once for all layers."""

    def __init__(
        self,
        kernel: Kernel,
        sizes: Sizes,
        windows: Sequence[int],
        layout: RowLayout | None,
        shape: tuple[int, int],
        device: torch.device,
    ) -> None:
        rows, length = shape
        self._kernel = kernel
        # A window that reaches over whole rows is no limit.
        self._left = [-1 if window >= length else window - 1 for window in windows]
        self._keys_G: torch.Tensor | None = None
        self._prefix_M: torch.Tensor | None = None
        if layout is None:
            self._cu_q = self._cu_k = torch.arange(rows + 1, dtype=torch.int32, device=device) * length
            self._max_q = self._max_k = length
            return
        runs = Runs.of(layout)
        keys_G, counts = gathered_keys(runs)
        places_MP = key_places(keys_G, rows * length)
        longest = torch.stack([runs.lengths.max(), counts.max()]).tolist()
        self._max_q, self._max_k = sizes.of("queries", longest[0]), sizes.of("keys", longest[1])
        sequences = sizes.of("sequences", len(counts))
        self._cu_q, self._cu_k = _offsets(runs.lengths, sequences), _offsets(counts, sequences)
        self._keys_G = _padded(keys_G, sizes.of("gathered", len(keys_G)), 0)
        self._places_MP = _padded(places_MP, sizes.of("places", places_MP.shape[1]), -1)
        if layout.prefix_lm:
            self._prefix_M = (layout.branches == 0).flatten()

    def __call__(self, layer: int, q_BTHD: torch.Tensor, k_BTKD: torch.Tensor, v_BTKD: torch.Tensor) -> torch.Tensor:
        left = self._left[layer]
        q, k, v = (x.flatten(0, 1) for x in (q_BTHD, k_BTKD, v_BTKD))
        keys, values = k, v
        if self._keys_G is not None:
            keys, values = (_Gather.apply(x, self._keys_G, self._places_MP) for x in (k, v))
        y = self._kernel(q, keys, values, self._cu_q, self._cu_k, self._max_q, self._max_k, window=(left, 0))
        if self._prefix_M is not None:
            both = self._kernel(q, k, v, self._cu_q, self._cu_q, self._max_q, self._max_q, window=(left, left))
            y = torch.where(self._prefix_M[:, None, None], both, y)
        return y.view_as(q_BTHD)


class VarlenPath:
    """The paths `varlen` and `fa3`, which differ in the kernel that torch calls."""

    def __init__(self, kernel: Kernel | None = None) -> None:
        self._kernel, self._sizes = kernel or flash_kernel(), Sizes()

    def open(
        self, windows: Sequence[int], layout: RowLayout | None, shape: tuple[int, int], device: torch.device
    ) -> Attend:
        return VarlenAttention(self._kernel, self._sizes, windows, layout, shape, device)
