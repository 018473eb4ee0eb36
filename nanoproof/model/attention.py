"""Attention over packed rows: which token sees which, and the paths that run everywhere (dense and unpacked SDPA).

A row is one causal text, or holds several examples, each a prefix (the state) with continuations that see the prefix
and themselves only. Positions count inside an example and continue from the prefix into each continuation, therefore a
sliding window is a limit on the distance of positions.

A path is opened once for each batch: it works out what `RowLayout` means in the form that its kernel wants, and returns
the function that every layer calls. All paths have the same output and gradients (`tests/model/test_attention.py`).

Shapes: B rows, T tokens of a row, M = B * T tokens of the batch, H query heads, K key/value heads (H is a multiple of
K), D head size, F = H * D or (H + 2 * K) * D features; for unpacked rows E examples of a group, L padded length of an
example, P = sum of E * L over the groups.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
import torch.nn.functional as F


def to_device(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Copy a tensor to `device`; to a GPU through pinned memory, so that the CPU need not wait."""
    pinned = tensor.pin_memory() if device.type == "cuda" and not tensor.is_cuda else tensor
    return pinned.to(device, non_blocking=True)


# -- Row layout ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RowLayout:
    """Integer tensors of shape (B, T) for packed rows.

    `segments` numbers the examples of a row from 1 (0 is padding), `branches` is 0 in a prefix and counts continuations
    from 1. With `prefix_lm` the tokens of a prefix see each other both ways. `on_cpu` is the same layout there: what a
    path has to know of it in numbers, it works out without waiting for a device.
    """

    positions: torch.Tensor
    segments: torch.Tensor
    branches: torch.Tensor
    prefix_lm: bool = False
    on_cpu: "RowLayout | None" = None

    def mask(self) -> torch.Tensor:
        """Return which key (last axis) each query sees: bool (B, T, T). A padding token sees only itself."""
        segments, branches = self.segments, self.branches
        same_example = segments[:, :, None] == segments[:, None, :]
        visible = (branches[:, None, :] == 0) | (branches[:, :, None] == branches[:, None, :])
        length = segments.shape[1]
        order = torch.ones(length, length, dtype=torch.bool, device=segments.device).tril()
        own = torch.eye(length, dtype=torch.bool, device=segments.device)
        if self.prefix_lm:
            order = order | ((branches[:, :, None] == 0) & (branches[:, None, :] == 0))
        return (same_example & visible & order & (segments[:, :, None] > 0)) | own


# -- The interface of an attention path ------------------------------------------------------------------------------

# attend(layer, q_BTHD, k_BTKD, v_BTKD) -> y_BTHD: how a layer looks at other tokens (whole rows, or an engine's cache).
# In the last layer it may answer for the last tokens of each row only; then only these are computed further.
Attend = Callable[[int, torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


class AttentionPath(Protocol):
    """One way to compute attention over whole rows."""

    def open(
        self, windows: Sequence[int], layout: RowLayout | None, shape: tuple[int, int], device: torch.device
    ) -> Attend:
        """Return attention for a batch of `shape` (B, T); `windows[layer]` is how many positions back a layer sees.

        `layout` None means that each row is one causal text. What padding tokens get is finite and otherwise arbitrary.
        """
        ...


def window_mask(mask_BTT: torch.Tensor, positions_BT: torch.Tensor, window: int) -> torch.Tensor:
    """Limit `mask_BTT` to keys whose position is less than `window` away from the query's."""
    distance_BTT = (positions_BT.unsqueeze(2) - positions_BT.unsqueeze(1)).abs()
    return mask_BTT & (distance_BTT < window)


def causal_mask(num_tokens: int, device: torch.device) -> torch.Tensor:
    """Build a mask (1, T, T) by which every token sees itself and what precedes it."""
    return torch.ones(1, num_tokens, num_tokens, dtype=torch.bool, device=device).tril()


def attend(
    q_BTHD: torch.Tensor, k_BTKD: torch.Tensor, v_BTKD: torch.Tensor, mask_BTT: torch.Tensor | None
) -> torch.Tensor:
    """Compute softmax attention, (B, T, H, D). `mask_BTT[b, i, j]` is True where i sees j; None means plain causal.

    Every token must see at least one other or itself, or its output is not a number.
    """
    q_BHTD, k_BKTD, v_BKTD = (x.transpose(1, 2) for x in (q_BTHD, k_BTKD, v_BTKD))
    y_BHTD = F.scaled_dot_product_attention(
        q_BHTD,
        k_BKTD,
        v_BKTD,
        attn_mask=None if mask_BTT is None else mask_BTT.unsqueeze(1),
        is_causal=mask_BTT is None,
        enable_gqa=q_BHTD.shape[1] != k_BKTD.shape[1],
    )
    return y_BHTD.transpose(1, 2)


# -- Dense: one mask over whole rows ---------------------------------------------------------------------------------


class DenseAttention:
    """Attention of one batch: the mask of each window size is worked out once and used by all its layers."""

    def __init__(self, windows: Sequence[int], layout: RowLayout | None, num_tokens: int, device: torch.device) -> None:
        mask_BTT = None if layout is None else layout.mask()
        positions_BT = torch.arange(num_tokens, device=device)[None] if layout is None else layout.positions
        self._masks: dict[int, torch.Tensor | None] = {}
        self._windows = windows
        for window in set(windows):
            if num_tokens <= window:
                self._masks[window] = mask_BTT
                continue
            full_BTT = causal_mask(num_tokens, device) if mask_BTT is None else mask_BTT
            self._masks[window] = window_mask(full_BTT, positions_BT, window)

    def __call__(self, layer: int, q_BTHD: torch.Tensor, k_BTKD: torch.Tensor, v_BTKD: torch.Tensor) -> torch.Tensor:
        return attend(q_BTHD, k_BTKD, v_BTKD, self._masks[self._windows[layer]])


class DensePath:
    """The path `sdpa`: scaled_dot_product_attention over whole rows."""

    def open(
        self, windows: Sequence[int], layout: RowLayout | None, shape: tuple[int, int], device: torch.device
    ) -> Attend:
        return DenseAttention(windows, layout, shape[1], device)


# -- Unpacked: examples of about the same length are laid side by side -----------------------------------------------
# No score between two examples is computed; what that saves grows with the number of examples in a row. Examples whose
# padded length is the same form a group, which is one call of the kernel. Shapes differ from batch to batch, therefore
# this is for code that is not compiled.

LENGTH_MULTIPLE = 32
"""Examples are padded to a multiple of so many tokens: few groups, and little padding."""
PADDING = -1


def gather_rows(x_NF: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Select rows of a matrix by index; zeros where the index is `PADDING`."""
    return x_NF.index_select(0, index.clamp(min=0)).masked_fill_((index == PADDING)[:, None], 0.0)


class _Permute(torch.autograd.Function):
    """Permute rows: `index` holds the source of each target row, `inverse` the target of each source row."""

    @staticmethod
    def forward(ctx: Any, x_NF: torch.Tensor, index: torch.Tensor, inverse: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(inverse)
        return gather_rows(x_NF, index)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        (inverse,) = ctx.saved_tensors
        return gather_rows(grad, inverse), None, None


@dataclass(frozen=True)
class Group:
    """Examples that are padded to the same length; a mask (E, 1, L, L) for each window size."""

    examples: int
    length: int
    masks: dict[int, torch.Tensor]


def example_spans(layout: RowLayout) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the first token and the length of every example, indices into B*T."""
    segments = layout.segments
    begins = torch.ones_like(segments, dtype=torch.bool)
    begins[:, 1:] = segments[:, 1:] != segments[:, :-1]
    starts = begins.flatten().nonzero().squeeze(1)
    lengths = torch.diff(starts, append=starts.new_tensor([segments.numel()]))
    real = segments.flatten()[starts] > 0
    return starts[real], lengths[real]


class UnpackedAttention:
    """Attention of one batch: the permutation of tokens into groups and back, worked out once for all layers."""

    def __init__(self, windows: Sequence[int], layout: RowLayout) -> None:
        self._windows = windows
        starts, lengths = example_spans(layout)
        padded = (lengths + LENGTH_MULTIPLE - 1) // LENGTH_MULTIPLE * LENGTH_MULTIPLE
        self._groups: list[Group] = []
        tokens_P: list[torch.Tensor] = []
        for length in padded.unique().tolist():
            mine = padded == length
            offsets_L = torch.arange(length, device=starts.device)
            tokens_EL = starts[mine, None] + offsets_L
            tokens_EL = torch.where(offsets_L < lengths[mine, None], tokens_EL, PADDING)
            self._groups.append(Group(int(mine.sum()), length, self._masks(layout, tokens_EL)))
            tokens_P.append(tokens_EL.flatten())
        self._tokens_P = torch.cat(tokens_P) if tokens_P else starts
        self._padded_M = torch.full((layout.segments.numel(),), PADDING, device=starts.device)
        real = (self._tokens_P != PADDING).nonzero().squeeze(1)
        self._padded_M[self._tokens_P[real]] = real

    def _masks(self, layout: RowLayout, tokens_EL: torch.Tensor) -> dict[int, torch.Tensor]:
        index = tokens_EL.clamp(min=0)
        real = (tokens_EL != PADDING).long()
        group = RowLayout(
            layout.positions.flatten()[index], real, layout.branches.flatten()[index] * real, layout.prefix_lm
        )
        mask = group.mask()
        length = tokens_EL.shape[1]
        masks = {}
        for window in set(self._windows):
            limited = mask if length <= window else window_mask(mask, group.positions, window)
            # A padding token sees itself: its output is dropped, but must be a number.
            masks[window] = (limited | causal_mask(length, mask.device) & (real == 0)[:, :, None]).unsqueeze(1)
        return masks

    def __call__(self, layer: int, q_BTHD: torch.Tensor, k_BTKD: torch.Tensor, v_BTKD: torch.Tensor) -> torch.Tensor:
        heads, kv_heads, size = q_BTHD.shape[2], k_BTKD.shape[2], q_BTHD.shape[3]
        qkv_MF = torch.cat([q_BTHD, k_BTKD, v_BTKD], dim=2).flatten(0, 1).flatten(1)
        qkv_PF = _Permute.apply(qkv_MF, self._tokens_P, self._padded_M)
        splits = qkv_PF.split([group.examples * group.length for group in self._groups])
        mixed = []
        for group, split_PF in zip(self._groups, splits):
            qkv_EHLD = split_PF.view(group.examples, group.length, heads + 2 * kv_heads, size).transpose(1, 2)
            q_EHLD, k_EKLD, v_EKLD = qkv_EHLD.split([heads, kv_heads, kv_heads], dim=1)
            mask = group.masks[self._windows[layer]]
            y_EHLD = F.scaled_dot_product_attention(
                q_EHLD, k_EKLD, v_EKLD, attn_mask=mask, enable_gqa=heads != kv_heads
            )
            mixed.append(y_EHLD.transpose(1, 2).reshape(-1, heads * size))
        y_PF = torch.cat(mixed) if mixed else qkv_PF[:, : heads * size]
        return _Permute.apply(y_PF, self._padded_M, self._tokens_P).view_as(q_BTHD)


class UnpackedPath:
    """The path `unpacked`. Rows that are one causal text each have nothing to unpack and are computed densely."""

    def __init__(self) -> None:
        self._dense = DensePath()

    def open(
        self, windows: Sequence[int], layout: RowLayout | None, shape: tuple[int, int], device: torch.device
    ) -> Attend:
        if layout is None:
            return self._dense.open(windows, layout, shape, device)
        return UnpackedAttention(windows, layout)
