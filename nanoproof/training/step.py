"""One optimizer step on packed examples or on rows of text, with the record of a step that was not finite.

Shapes: B rows, T tokens in a row.
"""

import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch

from nanoproof.common.distributed import DistInfo, all_reduce_sum, is_out_of_memory
from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write, atomic_write_json
from nanoproof.data.text.token_loader import TokenBatch
from nanoproof.data.transitions.packing import Example, PackedBatch
from nanoproof.model.gpt import GPT
from nanoproof.model.lora import seed_dropout
from nanoproof.model.optim import MuonAdamW, NonFiniteLoss
from nanoproof.training.batches import pack_for, split_for
from nanoproof.training.loss import LossWeights, Normalizers, transition_loss
from nanoproof.training.options import BatchOptions, OptimizerOptions

log = logging.getLogger(__name__)

T = TypeVar("T")


class FailedStep(NonFiniteLoss):
    """A step on examples gave no finite loss or gradient. Knows this rank's batch and how its loss is made."""

    def __init__(self, message: str, batch: PackedBatch, rows: int, weights: LossWeights, norms: Normalizers) -> None:
        super().__init__(message)
        self._batch, self._rows, self._weights, self._norms = batch, rows, weights, norms

    def write_to(self, run_path: Path, step: int, rank: int, model: GPT, about: dict[str, Any] | None = None) -> Path:
        """Write the record (see `write`) to a run directory; returns its path."""
        path = run_path / f"not_finite_{step}_r{rank}.json"
        self.write(path, model, {"step": step, "rank": rank, **(about or {})})
        return path

    def write(self, path: Path, model: GPT, about: dict[str, Any]) -> None:
        """Write `path` (JSON: losses by piece, norms of weights and of this rank's gradients) and the batch beside it.

        The weights are those before the step, so losses and gradients are computed once more, piece by piece.
        """
        # Piece by piece, as in the step: that of the first loss that is not finite holds the examples to look at.
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
    """Return a number that JSON knows, or the name of one that it does not."""
    number = float(value.detach())
    return number if math.isfinite(number) else str(number)


# -- Micro-batches that fit in memory --------------------------------------------------------------------------------

HISTORY_ENTRIES = 100_000
"""How many of the last allocations are in a memory snapshot, with the lines of code that made them."""


class MicroBatches:
    """The rows of a micro-batch: as many as asked for, halved whenever they do not fit in memory."""

    def __init__(self, rows: int, snapshot: Callable[[], None] | None = None) -> None:
        """`snapshot` is called the first time that the memory does not suffice, before anything is freed."""
        self.rows = rows
        self._snapshot = snapshot

    def run(self, compute: Callable[[int], T]) -> T:
        """Return `compute(rows)`; where memory runs out it is called again, from scratch, with half as many rows.

        Raises torch.OutOfMemoryError if a single row does not fit.
        """
        while True:
            try:
                return compute(self.rows)
            except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
                if not is_out_of_memory(error):
                    raise
                snapshot, self._snapshot = self._snapshot, None
                if snapshot is not None:
                    snapshot()
                # A whole row is one attention: it cannot be split further.
                if self.rows == 1:
                    raise
            # Only here is the exception gone, and with it what its traceback held of the failed attempt.
            log.warning("out of memory with %d rows at once; from now on %d", self.rows, self.rows // 2)
            self.rows //= 2
            if torch.cuda.is_available():
                torch.cuda.empty_cache()


def memory_snapshots(directory: str | None, dist: DistInfo) -> Callable[[], None] | None:
    """Record allocations from now on; returns what writes them to `directory` (None without one).

    Raises UserError if the device cannot do that.
    """
    if directory is None:
        return None
    if dist.device.type != "cuda":
        raise UserError(f"--memory-profile {directory}: this needs a CUDA device, not {dist.device}; leave it out")
    path = Path(directory).expanduser() / f"out_of_memory_r{dist.rank}.pickle"
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.cuda.memory._record_memory_history(max_entries=HISTORY_ENTRIES)

    def write() -> None:
        torch.cuda.memory._dump_snapshot(str(path))
        log.warning("memory snapshot: %s (https://pytorch.org/memory_viz shows it)", path)

    return write


# -- One optimizer step on packed examples ---------------------------------------------------------------------------


def build_optimizer(model: GPT, options: OptimizerOptions, adapter_lr: float = 0.001) -> MuonAdamW:
    """Make the optimizer for `model` with the learning rates of `options`, and that of adapters if it has some.

    Raises UserError if the model computes in fp16, where small gradients become 0 (losses are not scaled up for it).
    """
    if model.compute_dtype == torch.float16:
        raise UserError("NANOPROOF_DTYPE=float16 is too coarse for gradients; train with bfloat16 or float32")
    return MuonAdamW.for_model(
        model,
        matrix_lr=options.matrix_lr,
        embedding_lr=options.embedding_lr,
        unembedding_lr=options.unembedding_lr,
        scalar_lr=options.scalar_lr,
        weight_decay=options.weight_decay,
        momentum=options.momentum,
        momentum_warmup_steps=options.momentum_warmup_steps,
        adapter_lr=adapter_lr,
    )


@dataclass(frozen=True)
class StepSettings:
    """What the steps of a run on examples have in common; `pad` is the token that fills rows."""

    batch: BatchOptions
    weights: LossWeights
    max_grad_norm: float
    pad: int


def train_step(
    model: GPT,
    optimizer: MuonAdamW,
    examples: Sequence[Example],
    lr_factor: float,
    settings: StepSettings,
    dist: DistInfo,
    micro_batches: MicroBatches | None = None,
) -> dict[str, float]:
    """Train on this rank's examples of one step; all ranks call it together.

    Losses are means over the targets of all ranks, so gradients add up over `micro_batches` (at first, and by
    default, of `device_batch_size` rows) and over ranks. Returns the losses, the gradient norm, and how many rows there
    were with which share of real tokens. Raises FailedStep (on every rank) before the weights change.
    """
    model.train()
    weights = settings.weights
    micro_batches = micro_batches or MicroBatches(settings.batch.device_batch_size)
    batch = pack_for(model, examples, settings.batch, settings.pad)
    norms = Normalizers.of(batch)
    names = ["loss", *weights.part_names()]

    # Called again from its beginning where memory runs out: gradients start from zero, and dropout is the same.
    def accumulate(rows: int) -> torch.Tensor:
        optimizer.zero_grad()
        seed_dropout(model, optimizer.steps_done, dist.rank)
        sums = torch.zeros(len(names), device=dist.device)
        for piece in split_for(model, batch, settings.batch, rows):
            loss, parts = transition_loss(model, piece, weights, norms)
            loss.backward()
            sums += torch.stack([loss.detach(), *(parts[name] for name in names[1:])])
        return sums

    # No micro-batch waits for the device: the sums stay there until all have been launched.
    sums = micro_batches.run(accumulate)
    real, positions = float((batch.segments > 0).sum()), float(batch.segments.numel())
    *summed, real, positions = all_reduce_sum([*sums.tolist(), real, positions])
    totals = dict(zip(names, summed))
    try:
        # After the sum over the ranks: all of them see it, and none goes on alone into a collective.
        if not math.isfinite(totals["loss"]):
            raise NonFiniteLoss(f"the loss is {totals['loss']}; the weights were left as they were before this step")
        optimizer.set_lr_factor(lr_factor)
        totals["grad_norm"] = optimizer.step(settings.max_grad_norm)
    except NonFiniteLoss as error:
        raise FailedStep(str(error), batch, micro_batches.rows, weights, norms) from error
    totals["lr_factor"] = lr_factor
    totals["rows"] = positions / settings.batch.row_length
    totals["packing"] = real / max(positions, 1.0)
    return totals


# -- One optimizer step on rows of text ------------------------------------------------------------------------------

NO_TARGET = -1


def token_step(
    model: GPT,
    optimizer: MuonAdamW,
    batches: Sequence[TokenBatch],
    lr_factor: float,
    max_grad_norm: float,
    dist: DistInfo,
) -> dict[str, float]:
    """Train on this rank's micro-batches of one step; all ranks call it together.

    The loss is the mean over the targets of the whole batch of all ranks. Raises NonFiniteLoss (on every rank) before
    the weights change.
    """
    model.train()
    optimizer.zero_grad()
    # Counted before anything is computed: each loss is divided by the targets of all, so that gradients add up to their
    # mean over ranks and micro-batches, however targets are spread.
    own_targets = sum(int((batch.targets_BT != NO_TARGET).sum()) for batch in batches)
    (targets,) = all_reduce_sum([float(own_targets)])
    share = torch.zeros((), device=dist.device)
    for batch in batches:
        tokens_BT, targets_BT = (x.to(dist.device, non_blocking=True) for x in (batch.tokens_BT, batch.targets_BT))
        loss = model.losses(tokens_BT, targets_BT).sum() / max(targets, 1.0)
        loss.backward()
        share += loss.detach()
    (total,) = all_reduce_sum([float(share)])
    if not math.isfinite(total):
        raise NonFiniteLoss(f"the loss is {total}; the weights were left as they were before this step")
    optimizer.set_lr_factor(lr_factor)
    norm = optimizer.step(max_grad_norm)
    return {"loss": total, "grad_norm": norm, "lr_factor": lr_factor, "targets": targets}
