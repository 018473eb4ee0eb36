"""Attention by flash kernels (varlen) and FlexAttention, and the choice of an attention path.

Cutting, gathering and masks are tested on CPU with a slow kernel; `benchmarks/gpu_parity.py` compares the paths on a
GPU, where varlen, flex and sdpa agree with the plain one (H200); fa3 has not been run.

Shapes: B rows, T tokens of a row, M = B * T tokens of the batch, S sequences, G gathered keys, P copies of a key,
H query heads, K key/value heads (H is a multiple of K), D head size.
"""

import importlib
import importlib.util
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch.nn.attention.flex_attention import BlockMask, create_block_mask, flex_attention

from nanoproof.common.errors import UserError
from nanoproof.model.attention import Attend, AttentionPath, DensePath, RowLayout, UnpackedPath, to_device

# -- Flash kernels for sequences of varying length (FlashAttention-2, or -3 where it is activated) -------------------
# A packed row is cut into sequences: every prefix, with itself as keys, and every continuation, with its prefix and
# itself as keys. All queries stand in the batch's order already; the keys are gathered, a prefix once for itself and
# once for each of its continuations. Causal order counts from the end of queries and keys, therefore positions agree,
# and a sliding window is a limit on their distance. With `prefix_lm` a second call answers for the prefixes, both ways.
#
# How many sequences, keys and copies there are differs from batch to batch; the tensors are padded to sizes that are
# few and grow together, so that compiled code sees the same shapes nearly always.

# kernel(q_MHD, k_GKD, v_GKD, cu_q, cu_k, max_q, max_k, window=(left, right)) -> y_MHD. Sequence s has the queries
# cu_q[s]:cu_q[s+1] and the keys cu_k[s]:cu_k[s+1]; right 0 is causal, counted from the ends; -1 is no limit.
Kernel = Callable[..., torch.Tensor]


def flash_kernel() -> Kernel:
    """Return torch's `varlen_attn` as a kernel. Importing it loads torch's compiler, which is not needed on a CPU."""
    from torch.nn.attention.varlen import varlen_attn

    # torch 2.11 has no such parameter and takes any number of key heads.
    must_say_gqa = "enable_gqa" in inspect.signature(varlen_attn).parameters

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
        grouped: dict[str, Any] = {"enable_gqa": True} if must_say_gqa and q_MHD.shape[1] != k_GKD.shape[1] else {}
        y_MHD = varlen_attn(q_MHD, k_GKD, v_GKD, cu_q, cu_k, max_q, max_k, window_size=window, **grouped)
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
    """Return the token of each key, (G,), prefix before continuation, and the number of keys of each run, (S,)."""
    counts = runs.prefix_lengths + runs.lengths
    run = torch.repeat_interleave(torch.arange(len(counts), device=counts.device), counts)
    offset = torch.arange(len(run), device=run.device) - (counts.cumsum(0) - counts)[run]
    own = offset - runs.prefix_lengths[run]
    return torch.where(own < 0, runs.prefix_starts[run] + offset, runs.starts[run] + own), counts


def key_copies(keys_G: torch.Tensor, num_tokens: int) -> torch.Tensor:
    """Return the indices of each token's copies among the gathered keys, (M, P), padded with -1."""
    times = torch.bincount(keys_G, minlength=num_tokens)
    order = keys_G.argsort(stable=True)
    tokens = keys_G[order]
    rank = torch.arange(len(order), device=order.device) - (times.cumsum(0) - times)[tokens]
    copies = torch.full((num_tokens, int(times.max())), -1, dtype=torch.long, device=keys_G.device)
    copies[tokens, rank] = order
    return copies


class _Gather(torch.autograd.Function):
    """Gather rows of a matrix by index. The gradient is a sum over the copies of each row: no atomic additions, and
    copies that are padding are never read."""

    @staticmethod
    def forward(ctx: Any, x_MKD: torch.Tensor, keys_G: torch.Tensor, copies_MP: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(copies_MP)
        return x_MKD[keys_G]

    @staticmethod
    def backward(ctx: Any, grad_GKD: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        (copies_MP,) = ctx.saved_tensors
        total = None
        for copies_M in copies_MP.unbind(1):
            real = (copies_M >= 0)[:, None, None]
            part = torch.where(real, grad_GKD[copies_M.clamp(min=0)], 0.0)
            total = part.float() if total is None else total + part
        assert total is not None
        return total.to(grad_GKD.dtype), None, None


class CutSizes(NamedTuple):
    """How many there are in the cut of a batch: sequences, tokens of the longest, gathered keys, copies of a token."""

    sequences: int
    longest: int
    gathered: int
    copies: int


class PaddedSizes:
    """Sizes to which the cuts of batches are padded: those of a level, the same for all batches of a shape.

    The level grows when a batch does not fit, and never shrinks. The first is for sequences of 32 tokens in the mean,
    of which none is longer than half a row, the second for those of whole rows; from there on each has room for twice
    as many. For prefixes with two continuations (a tactic and a value) three times as many keys as tokens suffice,
    whatever the lengths.
    """

    def __init__(self) -> None:
        self._level = 0

    def of(self, needed: CutSizes, shape: tuple[int, int]) -> CutSizes:
        """Return the sizes for batches of `shape` (B, T), grown to at least `needed`."""
        while any(size < wanted for size, wanted in zip(self._sizes(shape), needed)):
            self._level += 1
        return self._sizes(shape)

    def _sizes(self, shape: tuple[int, int]) -> CutSizes:
        tokens, level = shape[0] * shape[1], self._level
        more = 2 ** max(0, level - 1)
        sequences = max(1, tokens * more // 32) + shape[0]  # every row may end in padding
        longest = shape[1] if level > 0 else -(-shape[1] // 2)
        return CutSizes(sequences, longest, tokens * max(3, more + 1), max(3, 2 * more + 1))


def _offsets(counts: torch.Tensor, size: int) -> torch.Tensor:
    """Return cumulative counts from 0, int32, padded to `size` empty sequences."""
    sums = counts.cumsum(0)
    ends = torch.cat([sums.new_zeros(1), sums, sums[-1:].expand(size - len(sums))])
    return ends.to(torch.int32)


def _padded(x: torch.Tensor, size: int, value: int) -> torch.Tensor:
    return torch.nn.functional.pad(x, (0, size - x.shape[-1]), value=value)


class VarlenAttention:
    """Attention of one batch: sequences and gathered keys, worked out once for all layers."""

    def __init__(
        self,
        kernel: Kernel,
        sizes: PaddedSizes | None,
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
        runs = Runs.of(layout.on_cpu or layout)
        keys_G, counts = gathered_keys(runs)
        copies_MP = key_copies(keys_G, rows * length)
        # A sequence has its prefix and itself as keys, so it has no more queries than keys.
        size = CutSizes(len(counts), int(counts.max()), len(keys_G), copies_MP.shape[1])
        if sizes is not None:
            size = sizes.of(size, shape)
        self._max_q = self._max_k = size.longest
        cut = [
            _offsets(runs.lengths, size.sequences),
            _offsets(counts, size.sequences),
            _padded(keys_G, size.gathered, 0),
            _padded(copies_MP, size.copies, -1),
        ]
        self._cu_q, self._cu_k, self._keys_G, self._copies_MP = (to_device(x, device) for x in cut)
        if layout.prefix_lm:
            self._prefix_M = (layout.branches == 0).flatten()

    def __call__(self, layer: int, q_BTHD: torch.Tensor, k_BTKD: torch.Tensor, v_BTKD: torch.Tensor) -> torch.Tensor:
        left = self._left[layer]
        q, k, v = (x.flatten(0, 1) for x in (q_BTHD, k_BTKD, v_BTKD))
        keys, values = k, v
        if self._keys_G is not None:
            keys, values = (_Gather.apply(x, self._keys_G, self._copies_MP) for x in (k, v))
        y = self._kernel(q, keys, values, self._cu_q, self._cu_k, self._max_q, self._max_k, window=(left, 0))
        if self._prefix_M is not None:
            both = self._kernel(q, k, v, self._cu_q, self._cu_q, self._max_q, self._max_q, window=(left, left))
            y = torch.where(self._prefix_M[:, None, None], both, y)
        return y.view_as(q_BTHD)


class VarlenPath:
    """The paths `varlen` and `fa3`, which differ in the kernel that torch calls."""

    def __init__(self, kernel: Kernel | None = None, padded: bool = True) -> None:
        """`padded`: to few sizes, for code that is compiled anew for every other one; else each batch has its own."""
        self._kernel, self._sizes = kernel or flash_kernel(), PaddedSizes() if padded else None

    def open(
        self, windows: Sequence[int], layout: RowLayout | None, shape: tuple[int, int], device: torch.device
    ) -> Attend:
        return VarlenAttention(self._kernel, self._sizes, windows, layout, shape, device)


# -- FlexAttention: blocks of the mask in which no token sees another are not computed -------------------------------
# For CUDA, where it is compiled: elsewhere torch 2.13 computes all scores and has no backward pass.

MaskMod = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


def causal_mod(window: int) -> MaskMod:
    """Return the mask function of rows that are one causal text each."""

    def mod(b: torch.Tensor, h: torch.Tensor, q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        return (q >= k) & (q - k < window)

    return mod


def layout_mod(layout: RowLayout, window: int) -> MaskMod:
    """Return the mask function of packed rows: `RowLayout.mask` within the window, for one pair."""
    positions, segments, branches, prefix_lm = layout.positions, layout.segments, layout.branches, layout.prefix_lm

    def mod(b: torch.Tensor, h: torch.Tensor, q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        visible = (branches[b, k] == 0) | (branches[b, q] == branches[b, k])
        order = q >= k
        if prefix_lm:
            order = order | ((branches[b, q] == 0) & (branches[b, k] == 0))
        same_example = (segments[b, q] == segments[b, k]) & (segments[b, q] > 0)
        near = (positions[b, q] - positions[b, k]).abs() < window
        return (same_example & visible & order & near) | (q == k)

    return mod


class FlexAttention:
    """Attention of one batch: a block mask for each window size."""

    def __init__(
        self,
        kernel: Callable[..., torch.Tensor],
        windows: Sequence[int],
        layout: RowLayout | None,
        shape: tuple[int, int],
        device: torch.device,
    ) -> None:
        rows, length = shape
        self._kernel = kernel
        self._windows = [min(window, length) for window in windows]
        self._masks: dict[int, BlockMask] = {}
        for window in set(self._windows):
            mod = causal_mod(window) if layout is None else layout_mod(layout, window)
            mask_rows = None if layout is None else rows
            self._masks[window] = create_block_mask(mod, mask_rows, None, length, length, device=device)

    def __call__(self, layer: int, q_BTHD: torch.Tensor, k_BTKD: torch.Tensor, v_BTKD: torch.Tensor) -> torch.Tensor:
        y_BHTD = self._kernel(
            *(x.transpose(1, 2) for x in (q_BTHD, k_BTKD, v_BTKD)),
            block_mask=self._masks[self._windows[layer]],
            enable_gqa=q_BTHD.shape[2] != k_BTKD.shape[2],
        )
        return y_BHTD.transpose(1, 2)


class FlexPath:
    """The path `flex`; it is compiled by itself where the model is not (`compiled` False is for tests on CPU)."""

    def __init__(self, compiled: bool = True) -> None:
        self._kernel = torch.compile(flex_attention, dynamic=False) if compiled else flex_attention

    def open(
        self, windows: Sequence[int], layout: RowLayout | None, shape: tuple[int, int], device: torch.device
    ) -> Attend:
        return FlexAttention(self._kernel, windows, layout, shape, device)


# -- The choice of a path --------------------------------------------------------------------------------------------
# FlashAttention-3 needs a Hopper GPU and the package `flash_attn_interface`, whose kernels torch then calls under its
# own varlen attention; varlen attention needs a GPU of capability 8.0 and half precision; FlexAttention needs CUDA and
# Triton; SDPA runs everywhere, on whole rows or on the examples that were packed into them.

HALF = (torch.bfloat16, torch.float16)
FA3_PACKAGE = "flash_attn_interface"


def missing_for_flash(device: torch.device, dtype: torch.dtype) -> str | None:
    """Return why varlen flash attention cannot be used on a device; None if it can."""
    if device.type != "cuda":
        return f"it needs a CUDA device, this is {device.type}"
    if dtype not in HALF:
        return f"it needs bfloat16 or float16, this is {str(dtype).removeprefix('torch.')}"
    capability = torch.cuda.get_device_capability(device)
    if capability < (8, 0):
        return f"it needs a GPU of capability 8.0, this one has {capability[0]}.{capability[1]}"
    return None


def _missing_for_fa3(device: torch.device, dtype: torch.dtype) -> str | None:
    problem = missing_for_flash(device, dtype)
    if problem is not None:
        return problem
    if torch.cuda.get_device_capability(device)[0] != 9:
        return f"it needs a Hopper GPU, this is {torch.cuda.get_device_name(device)}"
    try:
        importlib.import_module(FA3_PACKAGE)
        operators = torch.ops.flash_attn_3 if hasattr(torch.ops, "flash_attn_3") else None
        if not (hasattr(operators, "fwd") and hasattr(operators, "bwd")):
            return f"the package {FA3_PACKAGE} has no kernels that torch can take"
    except ModuleNotFoundError:
        return f"the package {FA3_PACKAGE} is not installed"
    except (ImportError, OSError, RuntimeError) as error:  # built for another torch or CUDA, say
        return f"the package {FA3_PACKAGE} cannot be loaded: {error}"
    return None


def _missing_for_flex(device: torch.device, dtype: torch.dtype) -> str | None:
    if device.type != "cuda":
        return f"torch has no backward pass of it on {device.type}"
    if importlib.util.find_spec("triton") is None:
        return "Triton is not installed"
    return None


# What is missing to use a path (None: nothing), in the order in which `auto` tries them on a GPU.
MISSING: dict[str, Callable[[torch.device, torch.dtype], str | None]] = {
    "fa3": _missing_for_fa3,
    "varlen": missing_for_flash,
    "flex": _missing_for_flex,
    "sdpa": lambda device, dtype: None,
    "unpacked": lambda device, dtype: None,
}
SHAPES_DIFFER = "unpacked"
"""The path whose shapes differ from batch to batch: not for compiled code."""


def choose_attention(
    device: torch.device, dtype: torch.dtype, wanted: str = "auto", compiled: bool = False
) -> tuple[str, str]:
    """Decide for `--attention`; returns its name and the reason. Raises UserError for one that is not available."""
    if wanted != "auto":
        problem = MISSING[wanted](device, dtype)
        if problem is not None:
            raise UserError(f"--attention {wanted}: {problem}")
        return wanted, "asked for"
    if device.type != "cuda":
        reason = f"the flash kernels need a CUDA device, this is {device.type}"
        return "sdpa" if compiled or device.type != "cpu" else "unpacked", reason
    refused: list[str] = []
    for name, missing in MISSING.items():
        problem = missing(device, dtype)
        if problem is None:
            break
        refused.append(f"not {name}: {problem}")
    return name, "; ".join(refused) or "the fastest there is"


def make_path(name: str, compiled: bool = False) -> AttentionPath:
    """Make the path of that name, which `choose_attention` found to be available, for a model compiled or not."""
    from torch.nn.attention import activate_flash_attention_impl, restore_flash_attention_impl

    if name == "fa3":
        activate_flash_attention_impl("FA3")
    else:
        restore_flash_attention_impl(_raise_warn=False)
    if name in ("fa3", "varlen"):
        return VarlenPath(padded=compiled)
    if name == "flex":
        return FlexPath()
    return UnpackedPath() if name == "unpacked" else DensePath()
