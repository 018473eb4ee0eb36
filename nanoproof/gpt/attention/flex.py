"""Attention by FlexAttention: blocks of the mask in which nobody sees anybody are not computed.

Shapes: B rows, T tokens of a row, H query heads, K key/value heads (H is a multiple of K), D head size.

For CUDA, where it is compiled: elsewhere torch 2.13 computes all scores and has no backward pass. The masks are tested
on CPU; on a GPU it has not been run yet.
"""

from collections.abc import Callable, Sequence

import torch
from torch.nn.attention.flex_attention import BlockMask, create_block_mask, flex_attention

from nanoproof.gpt.attention.contract import Attend
from nanoproof.gpt.layout import RowLayout

MaskMod = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


def causal_mod(window: int) -> MaskMod:
    """Who sees whom where each row is one causal text."""

    def mod(b: torch.Tensor, h: torch.Tensor, q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        return (q >= k) & (q - k < window)

    return mod


def layout_mod(layout: RowLayout, window: int) -> MaskMod:
    """Who sees whom in packed rows; the same as `RowLayout.mask` within the window, for one pair."""
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
    """One batch: a block mask for each window size."""

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
