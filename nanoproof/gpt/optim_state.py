"""Optimizer state by parameter name, in shares of rows: what ranks save, and how any number of ranks takes it up again.

A share is `{"step": int, "shapes": {parameter: shape}, "state": {parameter: {tensor: {first row: rows}}}}`. The shares
of all ranks that saved together hold every row of every parameter once; at step 0 they hold none.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

Share = dict[str, Any]


def check_shares(shares: Sequence[Share], shapes: Mapping[str, Sequence[int]], tensors: Mapping[str, set[str]]) -> int:
    """The step of shares that belong together and fit parameters of these `shapes`, each with these state `tensors`.

    Raises ValueError naming what does not fit.
    """
    try:
        steps = {int(share["step"]) for share in shares}
        saved = {name: tuple(shape) for share in shares for name, shape in share["shapes"].items()}
        held = [share["state"] for share in shares]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"not optimizer state: {type(error).__name__} {error}") from error
    if len(steps) != 1:
        raise ValueError(f"the files of optimizer state are of different steps: {', '.join(map(str, sorted(steps)))}")
    for name, shape in saved.items():
        if name not in shapes:
            raise ValueError(f"optimizer state of {name}, which the model does not have")
        if shape != tuple(shapes[name]):
            raise ValueError(f"optimizer state of {name} has shape {shape}, the model's is {tuple(shapes[name])}")
    for name in shapes:
        if name not in saved:
            raise ValueError(f"no optimizer state of {name}, which the model has")
        for tensor in sorted(tensors[name]) if steps != {0} else ():
            _check_rows(held, name, tensor, tuple(shapes[name]))
    return steps.pop()


def _check_rows(held: Sequence[dict[str, Any]], name: str, tensor: str, shape: tuple[int, ...]) -> None:
    row = 0
    for start, rows in _pieces(held, name, tensor):
        if start != row or tuple(rows.shape[1:]) != shape[1:]:
            break
        row += len(rows)
    if row != shape[0]:
        raise ValueError(f"optimizer state of {name} is incomplete: {tensor} has rows up to {row} of {shape[0]}")


def _pieces(held: Sequence[dict[str, Any]], name: str, tensor: str) -> list[tuple[int, torch.Tensor]]:
    found = [piece for state in held for piece in state.get(name, {}).get(tensor, {}).items()]
    return sorted(found, key=lambda piece: piece[0])


def read_rows(shares: Sequence[Share], name: str, tensor: str, start: int, out: torch.Tensor) -> None:
    """Fill `out` with the rows of a state tensor from `start` on, out of shares that were checked."""
    stop = start + len(out)
    for first, rows in _pieces([share["state"] for share in shares], name, tensor):
        begin, end = max(first, start), min(first + len(rows), stop)
        if begin < end:
            out[begin - start : end - start] = rows[begin - first : end - first].to(out.device)
