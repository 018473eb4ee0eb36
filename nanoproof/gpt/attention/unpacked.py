"""Attention by torch's scaled_dot_product_attention on examples instead of rows: what packing put behind each other is
laid side by side for the time of the kernel, so that no score between two examples is computed.

Shapes: B rows, T tokens of a row, M = B * T tokens of the batch, E examples of a group, L places of an example,
P = sum of E * L over the groups, H query heads, K key/value heads (H is a multiple of K), D head size, F = H * D or
(H + 2 * K) * D features.

Examples of about the same length form a group, which is one call of the kernel. What it saves grows with the number
of examples in a row. Shapes differ from batch to batch, therefore this is for code that is not compiled.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F

from nanoproof.gpt.attention.contract import Attend
from nanoproof.gpt.attention.dense import DensePath, causal_mask, window_mask
from nanoproof.gpt.layout import RowLayout

PLACES = 32
"""Examples are padded to a multiple of so many places: few groups, and little padding."""
NOWHERE = -1


def take(x_NF: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Rows of a matrix by index; zeros where the index is `NOWHERE`."""
    return x_NF.index_select(0, index.clamp(min=0)).masked_fill_((index == NOWHERE)[:, None], 0.0)


class _Move(torch.autograd.Function):
    """Rows to other places. `index` says where each place takes its row from, `inverse` where each row went."""

    @staticmethod
    def forward(ctx: Any, x_NF: torch.Tensor, index: torch.Tensor, inverse: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(inverse)
        return take(x_NF, index)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        (inverse,) = ctx.saved_tensors
        return take(grad, inverse), None, None


@dataclass(frozen=True)
class Group:
    """Examples that are padded to the same number of places; a mask (E, 1, L, L) for each window size."""

    examples: int
    places: int
    masks: dict[int, torch.Tensor]


def example_spans(layout: RowLayout) -> tuple[torch.Tensor, torch.Tensor]:
    """First token and length of every example, as if the rows stood behind each other."""
    segments = layout.segments
    begins = torch.ones_like(segments, dtype=torch.bool)
    begins[:, 1:] = segments[:, 1:] != segments[:, :-1]
    starts = begins.flatten().nonzero().squeeze(1)
    lengths = torch.diff(starts, append=starts.new_tensor([segments.numel()]))
    real = segments.flatten()[starts] > 0
    return starts[real], lengths[real]


class UnpackedAttention:
    """One batch: where every token goes and comes back from, worked out once for all layers."""

    def __init__(self, windows: Sequence[int], layout: RowLayout) -> None:
        self._windows = windows
        starts, lengths = example_spans(layout)
        padded = (lengths + PLACES - 1) // PLACES * PLACES
        self._groups: list[Group] = []
        tokens_P: list[torch.Tensor] = []
        for places in padded.unique().tolist():
            mine = padded == places
            offsets_L = torch.arange(places, device=starts.device)
            tokens_EL = starts[mine, None] + offsets_L
            tokens_EL = torch.where(offsets_L < lengths[mine, None], tokens_EL, NOWHERE)
            self._groups.append(Group(int(mine.sum()), places, self._masks(layout, tokens_EL)))
            tokens_P.append(tokens_EL.flatten())
        self._tokens_P = torch.cat(tokens_P) if tokens_P else starts
        self._places_M = torch.full((layout.segments.numel(),), NOWHERE, device=starts.device)
        there = (self._tokens_P != NOWHERE).nonzero().squeeze(1)
        self._places_M[self._tokens_P[there]] = there

    def _masks(self, layout: RowLayout, tokens_EL: torch.Tensor) -> dict[int, torch.Tensor]:
        index = tokens_EL.clamp(min=0)
        there = (tokens_EL != NOWHERE).long()
        group = RowLayout(
            layout.positions.flatten()[index], there, layout.branches.flatten()[index] * there, layout.prefix_lm
        )
        mask = group.mask()
        places = tokens_EL.shape[1]
        masks = {}
        for window in set(self._windows):
            limited = mask if places <= window else window_mask(mask, group.positions, window)
            # A place without token sees itself: its output is dropped, but must be a number.
            masks[window] = (limited | causal_mask(places, mask.device) & (there == 0)[:, :, None]).unsqueeze(1)
        return masks

    def __call__(self, layer: int, q_BTHD: torch.Tensor, k_BTKD: torch.Tensor, v_BTKD: torch.Tensor) -> torch.Tensor:
        heads, kv_heads, size = q_BTHD.shape[2], k_BTKD.shape[2], q_BTHD.shape[3]
        qkv_MF = torch.cat([q_BTHD, k_BTKD, v_BTKD], dim=2).flatten(0, 1).flatten(1)
        qkv_PF = _Move.apply(qkv_MF, self._tokens_P, self._places_M)
        parts = qkv_PF.split([group.examples * group.places for group in self._groups])
        mixed = []
        for group, part in zip(self._groups, parts):
            qkv_EHLD = part.view(group.examples, group.places, heads + 2 * kv_heads, size).transpose(1, 2)
            q_EHLD, k_EKLD, v_EKLD = qkv_EHLD.split([heads, kv_heads, kv_heads], dim=1)
            mask = group.masks[self._windows[layer]]
            y_EHLD = F.scaled_dot_product_attention(
                q_EHLD, k_EKLD, v_EKLD, attn_mask=mask, enable_gqa=heads != kv_heads
            )
            mixed.append(y_EHLD.transpose(1, 2).reshape(-1, heads * size))
        y_PF = torch.cat(mixed) if mixed else qkv_PF[:, : heads * size]
        return _Move.apply(y_PF, self._places_M, self._tokens_P).view_as(q_BTHD)


class UnpackedPath:
    """The path `unpacked`. Rows that are one causal text each have nothing to unpack and go the dense way."""

    def __init__(self) -> None:
        self._dense = DensePath()

    def open(
        self, windows: Sequence[int], layout: RowLayout | None, shape: tuple[int, int], device: torch.device
    ) -> Attend:
        if layout is None:
            return self._dense.open(windows, layout, shape, device)
        return UnpackedAttention(windows, layout)
