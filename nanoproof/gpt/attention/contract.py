"""What the model asks of attention, whatever kernel does it.

Shapes: B rows, T tokens of a row, H query heads, K key/value heads (H is a multiple of K), D head size.

A path is opened once for each batch, when it works out who sees whom (`layout.py` says that) in the form that its
kernel wants; then every layer calls what it returned. `tests/gpt/test_attention.py` holds all paths to the same output
and gradients.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import torch

from nanoproof.gpt.layout import RowLayout

# attend(layer, q_BTHD, k_BTKD, v_BTKD) -> y_BTHD: how a layer looks at other tokens (whole rows, or an engine's cache).
# In the last layer it may answer for the last tokens of each row only; then these alone go on.
Attend = Callable[[int, torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


class AttentionPath(Protocol):
    """One way to compute attention over whole rows."""

    def open(
        self, windows: Sequence[int], layout: RowLayout | None, shape: tuple[int, int], device: torch.device
    ) -> Attend:
        """Attention for a batch of `shape` (B, T); `windows[layer]` is how many positions back a layer sees.

        `layout` None means that each row is one causal text. What padding tokens get is finite and otherwise arbitrary.
        """
        ...
