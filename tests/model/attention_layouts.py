"""Packed rows at random, and a slow kernel that does what the flash kernels for sequences are documented to do."""

from typing import Any

import torch

from nanoproof.model.attention import RowLayout


def layout_of(rows: list[list[list[int]]], length: int, prefix_lm: bool = False) -> RowLayout:
    """A layout from the sizes of each example of each row: prefix first (may be 0), then its continuations."""
    positions, segments, branches = (torch.zeros(len(rows), length, dtype=torch.long) for _ in range(3))
    for row, examples in enumerate(rows):
        at = 0
        for segment, sizes in enumerate(examples, start=1):
            for branch, size in enumerate(sizes):
                start = sizes[0] if branch else 0
                positions[row, at : at + size] = torch.arange(start, start + size)
                segments[row, at : at + size] = segment
                branches[row, at : at + size] = branch
                at += size
        assert at <= length
    return RowLayout(positions, segments, branches, prefix_lm)


def random_layout(num_rows: int, length: int, seed: int = 0, prefix_lm: bool = False) -> RowLayout:
    """Rows of examples with 0 to 3 continuations, and some padding at the end (the last row is nothing else)."""
    generator = torch.Generator().manual_seed(seed)

    def draw(low: int, high: int) -> int:
        return int(torch.randint(low, high + 1, (), generator=generator))

    rows: list[list[list[int]]] = []
    for _ in range(num_rows - 1):
        examples: list[list[int]] = []
        left = length - draw(0, 4)
        while left >= 12:
            sizes = [draw(1, 9), *(draw(1, 5) for _ in range(draw(0, 3)))]
            while sum(sizes) > left:
                sizes.pop()
            examples.append(sizes)
            left -= sum(sizes)
        rows.append(examples)
    return layout_of([*rows, []], length, prefix_lm)


class _Unread(torch.autograd.Function):
    """Keys that no sequence has: never read in the forward pass, and their gradient is whatever the memory held."""

    @staticmethod
    def forward(ctx: Any, x_GKD: torch.Tensor, used_G: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(used_G)
        return torch.where(used_G[:, None, None], x_GKD, 0.0)

    @staticmethod
    def backward(ctx: Any, grad_GKD: torch.Tensor) -> tuple[torch.Tensor, None]:
        (used_G,) = ctx.saved_tensors
        return torch.where(used_G[:, None, None], grad_GKD, torch.nan), None


def slow_kernel(
    q_MHD: torch.Tensor,
    k_GKD: torch.Tensor,
    v_GKD: torch.Tensor,
    cu_q: torch.Tensor,
    cu_k: torch.Tensor,
    max_q: int,
    max_k: int,
    window: tuple[int, int],
) -> torch.Tensor:
    """Attention within the sequences that `cu_q` and `cu_k` bound, by one mask over everything.

    `window` is (left, right), -1 without limit, counted from where the last query meets the last key.
    """
    keys = torch.arange(len(k_GKD))
    k_GKD, v_GKD = (_Unread.apply(x, keys < cu_k[-1]) for x in (k_GKD, v_GKD))
    sequence_q = torch.searchsorted(cu_q[1:].contiguous(), torch.arange(len(q_MHD)), right=True)
    sequence_k = torch.searchsorted(cu_k[1:].contiguous(), keys, right=True)
    # Places counted back from the last query and the last key of the sequence.
    back_q = cu_q[1:][sequence_q] - torch.arange(len(q_MHD))
    back_k = cu_k[1:][sequence_k.clamp(max=len(cu_k) - 2)] - keys
    distance = back_k[None, :] - back_q[:, None]  # how far the key is before the query
    seen = sequence_q[:, None] == sequence_k[None, :]
    left, right = window
    if left >= 0:
        seen = seen & (distance <= left)
    if right >= 0:
        seen = seen & (distance >= -right)
    group = q_MHD.shape[1] // k_GKD.shape[1]
    k, v = (x.repeat_interleave(group, dim=1) for x in (k_GKD, v_GKD))
    scores = torch.einsum("mhd,ghd->hmg", q_MHD, k) * q_MHD.shape[-1] ** -0.5
    weights = torch.where(seen, scores, -torch.inf).softmax(dim=-1)
    return torch.einsum("hmg,ghd->mhd", weights, v)
