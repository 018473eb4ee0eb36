"""Attention by torch's scaled_dot_product_attention with a mask of all pairs of tokens: runs everywhere.

Shapes: B rows, T tokens of a row, H query heads, K key/value heads (H is a multiple of K), D head size.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F

from nanoproof.gpt.attention.contract import Attend
from nanoproof.gpt.layout import RowLayout


def window_mask(mask_BTT: torch.Tensor, positions_BT: torch.Tensor, window: int) -> torch.Tensor:
    """`mask_BTT` limited to keys whose position is less than `window` away from the query's."""
    distance_BTT = (positions_BT.unsqueeze(2) - positions_BT.unsqueeze(1)).abs()
    return mask_BTT & (distance_BTT < window)


def causal_mask(num_tokens: int, device: torch.device) -> torch.Tensor:
    """Shape (1, T, T): every token sees itself and what precedes it."""
    return torch.ones(1, num_tokens, num_tokens, dtype=torch.bool, device=device).tril()


def attend(
    q_BTHD: torch.Tensor, k_BTKD: torch.Tensor, v_BTKD: torch.Tensor, mask_BTT: torch.Tensor | None
) -> torch.Tensor:
    """Softmax attention, shape (B, T, H, D). `mask_BTT[b, i, j]` is True where i sees j; None means plain causal.

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


class DenseAttention:
    """One batch: the mask of each window size is worked out once and used by all its layers."""

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
    """The path `sdpa`."""

    def open(
        self, windows: Sequence[int], layout: RowLayout | None, shape: tuple[int, int], device: torch.device
    ) -> Attend:
        return DenseAttention(windows, layout, shape[1], device)
