"""What is where in a row of tokens, from which follows who sees whom.

Shapes: B rows, T tokens of a row.

A row is one causal text, or holds several examples, each a prefix (the state) with continuations that see the prefix
and themselves only. Positions count inside an example and go on from the prefix into each continuation, therefore a
sliding window is a limit on the distance of positions.
"""

from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True)
class RowLayout:
    """Integer tensors of shape (B, T) for packed rows.

    `segments` numbers the examples of a row from 1 (0 is padding), `branches` is 0 in a prefix and counts continuations
    from 1. With `prefix_lm` the tokens of a prefix see each other both ways.
    """

    positions: torch.Tensor
    segments: torch.Tensor
    branches: torch.Tensor
    prefix_lm: bool = False

    def mask(self) -> torch.Tensor:
        """Which key (last axis) each query sees: bool (B, T, T). A padding token sees only itself."""
        segments, branches = self.segments, self.branches
        same_example = segments[:, :, None] == segments[:, None, :]
        visible = (branches[:, None, :] == 0) | (branches[:, :, None] == branches[:, None, :])
        length = segments.shape[1]
        order = torch.ones(length, length, dtype=torch.bool, device=segments.device).tril()
        own = torch.eye(length, dtype=torch.bool, device=segments.device)
        if self.prefix_lm:
            order = order | ((branches[:, :, None] == 0) & (branches[:, None, :] == 0))
        return (same_example & visible & order & (segments[:, :, None] > 0)) | own
