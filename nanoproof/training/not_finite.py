"""What is written down when a loss or a gradient is not finite: the batch, and which norms were what, to look into."""

import math
from pathlib import Path
from typing import Any

import torch

from nanoproof.common.files import atomic_write, atomic_write_json
from nanoproof.data.packing import PackedBatch
from nanoproof.gpt.model import GPT
from nanoproof.gpt.optim import NonFiniteLoss
from nanoproof.training.loss import LossWeights, Normalizers, transition_loss


class FailedStep(NonFiniteLoss):
    """A step on examples gave no finite loss or gradient. Knows this rank's batch and how its loss is made."""

    def __init__(self, message: str, batch: PackedBatch, rows: int, weights: LossWeights, norms: Normalizers) -> None:
        super().__init__(message)
        self._batch, self._rows, self._weights, self._norms = batch, rows, weights, norms

    def write_to(self, run_path: Path, step: int, rank: int, model: GPT, about: dict[str, Any] | None = None) -> Path:
        """`write` to a run directory; returns where it is."""
        path = run_path / f"not_finite_{step}_r{rank}.json"
        self.write(path, model, {"step": step, "rank": rank, **(about or {})})
        return path

    def write(self, path: Path, model: GPT, about: dict[str, Any]) -> None:
        """Write `path` (JSON: losses by piece, norms of weights and of this rank's gradients) and the batch beside it.

        The weights are those before the step, so losses and gradients are computed once more, piece by piece.
        """
        model.zero_grad()
        losses = []
        for piece in self._batch.split(self._rows):
            loss, parts = transition_loss(model, piece, self._weights, self._norms)
            loss.backward()
            losses.append({"loss": _number(loss), **{name: _number(value) for name, value in parts.items()}})
        gradients = {name: _norm(value.grad) for name, value in model.named_parameters() if value.grad is not None}
        weights = {name: _norm(value) for name, value in model.named_parameters()}
        model.zero_grad()
        batch = {name: getattr(self._batch, name) for name in PackedBatch.__slots__}
        atomic_write(path.with_suffix(".pt"), lambda file: torch.save(batch, file))
        norms = {"gradient_norms": gradients, "weight_norms": weights}
        atomic_write_json(path, {**about, "problem": str(self), "rows_at_once": self._rows, "pieces": losses, **norms})


def _norm(tensor: torch.Tensor) -> float | str:
    return _number(torch.linalg.vector_norm(tensor.detach()))


def _number(value: torch.Tensor) -> float | str:
    """A number that JSON knows, or the name of one that it does not."""
    number = float(value.detach())
    return number if math.isfinite(number) else str(number)
