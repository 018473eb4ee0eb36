"""Muon for the matrices, AdamW for embedding, head and scalars, in one optimizer that is sharded over ranks.

Parameters of one shape are stacked. The gradients of a stack are reduce-scattered, so that each rank receives the sum
for its own block; it updates that block, and the new weights of all blocks are gathered: weights are the same to the
last bit everywhere. One rank alone owns everything, by the same code. Parameters and gradients are fp32, whatever the
network computes in. State is kept by parameter name, so that it does not depend on how many ranks saved it.

Shapes: W ranks, P items per rank (the last blocks may hold empty items), X the shape of an item; N matrices of R rows
and C columns.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist

from nanoproof.common.distributed import all_reduce_sum, group_now, place_now
from nanoproof.common.errors import UserError
from nanoproof.model.gpt import GPT
from nanoproof.model.lora import adapter_state, settings_of

# -- Stacks of parameters, sharded over ranks ------------------------------------------------------------------------


@dataclass(frozen=True)
class RowSpan:
    """Consecutive rows of a parameter."""

    name: str
    parameter: torch.nn.Parameter
    start: int
    rows: int

    def of(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return these rows of a tensor that is shaped like the parameter."""
        return tensor[self.start : self.start + self.rows]


@dataclass(frozen=True)
class OwnedSpan:
    """Rows that a rank owns, and the items of the rank's block that hold them."""

    span: RowSpan
    items: slice

    def rows_of(self, block: torch.Tensor) -> torch.Tensor:
        """Return these rows (shaped like the parameter's) of a tensor (P, *X), as a view."""
        return block[self.items].view(self.span.rows, *self.span.parameter.shape[1:])


@dataclass(frozen=True)
class Pending:
    """A tensor that a collective is still filling; `source` is kept alive until then."""

    tensor: torch.Tensor
    source: torch.Tensor | None = None
    work: dist.Work | None = None

    def wait(self) -> torch.Tensor:
        """Wait for the filled tensor and return it (on a GPU: later kernels of this stream see it filled)."""
        if self.work is not None:
            self.work.wait()
        return self.tensor


class Stack:
    """Rows of parameters as items of one shape; this rank owns the items `rank * P` to `(rank + 1) * P`."""

    def __init__(self, spans: Sequence[RowSpan], item_shape: Sequence[int], rank: int, world_size: int) -> None:
        self.spans, self.item_shape, self.world_size = list(spans), tuple(item_shape), world_size
        self.rows_per_item = math.prod(self.item_shape) // math.prod(self.spans[0].parameter.shape[1:])
        counts = [span.rows // self.rows_per_item for span in self.spans]
        self.per_rank = math.ceil(sum(counts) / world_size)
        self.owned: list[OwnedSpan] = []
        first, offset = rank * self.per_rank, 0
        for span, count in zip(self.spans, counts):
            begin, end = max(offset, first), min(offset + count, first + self.per_rank)
            if begin < end:
                start = span.start + (begin - offset) * self.rows_per_item
                mine = RowSpan(span.name, span.parameter, start, (end - begin) * self.rows_per_item)
                self.owned.append(OwnedSpan(mine, slice(begin - first, end - first)))
            offset += count

    def zeros(self) -> torch.Tensor:
        """Make a block of this rank, for optimizer state: zeros (P, *X)."""
        like = self.spans[0].parameter
        return torch.zeros(self.per_rank, *self.item_shape, dtype=torch.float32, device=like.device)

    def reduce_gradients(self) -> Pending:
        """Start summing the gradients over all ranks: this rank's block, (P, *X).

        A parameter without gradient counts as zero, so that ranks whose batches differ still take part alike.
        """
        gradients = [
            torch.zeros_like(span.of(span.parameter)) if span.parameter.grad is None else span.of(span.parameter.grad)
            for span in self.spans
        ]
        stack = self._stacked(gradients, self.per_rank * self.world_size)
        if self.world_size == 1:
            return Pending(stack)
        block = stack.new_empty(self.per_rank, *self.item_shape)
        return Pending(block, stack, dist.reduce_scatter_single(block, stack, group=group_now(), async_op=True))

    def own_weights(self) -> torch.Tensor:
        """Copy the weights that this rank owns, (P, *X)."""
        return self._stacked([owned.span.of(owned.span.parameter.detach()) for owned in self.owned], self.per_rank)

    def gather_weights(self, block: torch.Tensor) -> Pending:
        """Start collecting the blocks of all ranks; see `write_weights`."""
        if self.world_size == 1:
            return Pending(block)
        stack = block.new_empty(self.per_rank * self.world_size, *self.item_shape)
        return Pending(stack, block, dist.all_gather_single(stack, block, group=group_now(), async_op=True))

    def write_weights(self, pending: Pending) -> None:
        """Copy what `gather_weights` collected into the parameters: the same bits on every rank."""
        stack, offset = pending.wait(), 0
        for span in self.spans:
            count = span.rows // self.rows_per_item
            target = span.of(span.parameter.detach())
            target.copy_(stack[offset : offset + count].reshape(target.shape))
            offset += count

    def _stacked(self, tensors: list[torch.Tensor], count: int) -> torch.Tensor:
        items = [tensor.reshape(-1, *self.item_shape) for tensor in tensors]
        missing = count - sum(len(item) for item in items)
        if missing or not items:
            device = self.spans[0].parameter.device
            items.append(torch.zeros((), device=device).expand(missing, *self.item_shape))
        return torch.cat(items)


# -- Optimizer state on disk: a shard for each rank that saved it ----------------------------------------------------

Shard = dict[str, Any]
"""`{"step": int, "shapes": {parameter: shape}, "state": {parameter: {tensor: {first row: rows}}}}`.

The shards of all ranks that saved together hold every row of every parameter once; at step 0 they hold none.
"""


def check_shards(shards: Sequence[Shard], shapes: Mapping[str, Sequence[int]], tensors: Mapping[str, set[str]]) -> int:
    """Check that shards belong together and fit parameters of these `shapes`, each with these state `tensors`.

    Returns their step; raises ValueError naming what does not fit.
    """
    try:
        steps = {int(shard["step"]) for shard in shards}
        saved = {name: tuple(shape) for shard in shards for name, shape in shard["shapes"].items()}
        held = [shard["state"] for shard in shards]
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
        if steps != {0}:  # before the first step there is no state
            for tensor in sorted(tensors[name]):
                _check_rows(held, name, tensor, tuple(shapes[name]))
    return steps.pop()


def _check_rows(held: Sequence[dict[str, Any]], name: str, tensor: str, shape: tuple[int, ...]) -> None:
    row = 0
    for start, rows in _saved_rows(held, name, tensor):
        if start != row or tuple(rows.shape[1:]) != shape[1:]:
            break
        row += len(rows)
    if row != shape[0]:
        raise ValueError(f"optimizer state of {name} is incomplete: {tensor} has rows up to {row} of {shape[0]}")


def _saved_rows(held: Sequence[dict[str, Any]], name: str, tensor: str) -> list[tuple[int, torch.Tensor]]:
    found = [rows for state in held for rows in state.get(name, {}).get(tensor, {}).items()]
    return sorted(found, key=lambda rows: rows[0])


def read_rows(shards: Sequence[Shard], name: str, tensor: str, start: int, out: torch.Tensor) -> None:
    """Fill `out` with the rows of a state tensor from `start` on, out of shards that were checked."""
    stop = start + len(out)
    for first, rows in _saved_rows([shard["state"] for shard in shards], name, tensor):
        begin, end = max(first, start), min(first + len(rows), stop)
        if begin < end:
            out[begin - start : end - start] = rows[begin - first : end - first].to(out.device)


# -- Updates ---------------------------------------------------------------------------------------------------------
# Muon replaces the momentum of a matrix by the nearest orthogonal matrix (its polar factor), found by a few matrix
# products ("Polar Express", arXiv:2505.16932; Muon: Jordan et al. 2024). Weight decay is cautious (arXiv:2510.12402):
# it acts only where it agrees with the update in sign, and it follows the learning rate's schedule.

# Coefficients (a, b, c) of the odd polynomials a x + b x^3 + c x^5 that push singular values to 1, one per iteration.
POLAR_EXPRESS = (
    (8.156554524902461, -22.48329292557795, 15.878769915207462),
    (4.042929935166739, -2.808917465908714, 0.5000178451051316),
    (3.8916678022926607, -2.772484153217685, 0.5060648178503393),
    (3.285753657755655, -2.3681294933425376, 0.46449024233003106),
    (2.3465413258596377, -1.7097828382687081, 0.42323551169305323),
)
NORM_MARGIN = 1.02  # the polynomials are made for singular values a little below 1


def orthogonalize(matrices_NRC: torch.Tensor) -> torch.Tensor:
    """Compute the (approximate) polar factors of a stack of matrices; bf16 on GPUs, fp32 elsewhere. Zero stays zero."""
    x = matrices_NRC.float()
    x = x / (x.norm(dim=(-2, -1), keepdim=True) * NORM_MARGIN + 1e-10)
    if matrices_NRC.is_cuda:
        x = x.bfloat16()
    tall = x.shape[-2] > x.shape[-1]
    if tall:
        x = x.mT
    for a, b, c in POLAR_EXPRESS:
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return (x.mT if tall else x).to(matrices_NRC.dtype)


def muon_update(
    weights_NRC: torch.Tensor,
    gradients_NRC: torch.Tensor,
    momentum_NRC: torch.Tensor,
    lr: float,
    beta: float,
    weight_decay: float,
) -> None:
    """Update weights and momentum (Nesterov's) in place. A tall matrix moves by more: sqrt(rows / columns) times."""
    momentum_NRC.lerp_(gradients_NRC, 1 - beta)
    update_NRC = orthogonalize(gradients_NRC.lerp(momentum_NRC, beta))
    if weight_decay:
        weights_NRC.sub_(weights_NRC * (update_NRC * weights_NRC >= 0), alpha=lr * weight_decay)
    rows, columns = weights_NRC.shape[-2:]
    weights_NRC.sub_(update_NRC, alpha=lr * max(1.0, rows / columns) ** 0.5)


def adamw_update(
    weights_X: torch.Tensor,
    gradients_X: torch.Tensor,
    mean_X: torch.Tensor,
    square_X: torch.Tensor,
    step: int,
    lr: float,
    betas: tuple[float, float],
    eps: float,
) -> None:
    """Update weights and moments in place (Adam, without weight decay); `step` counts from 1."""
    beta1, beta2 = betas
    mean_X.lerp_(gradients_X, 1 - beta1)
    square_X.lerp_(gradients_X.square(), 1 - beta2)
    denominator_X = (square_X / (1 - beta2**step)).sqrt_().add_(eps)
    weights_X.addcdiv_(mean_X, denominator_X, value=-lr / (1 - beta1**step))


# -- The optimizer ---------------------------------------------------------------------------------------------------

ADAM_REFERENCE_WIDTH = 768
ADAM_EPS = 1e-10
SCALAR_EPS = 1e-5
"""Scalars have no gradient but rounding errors while all layers are the identity (1e-10 in fp32, 1e-6 in bf16, later
1e-2): a smaller eps would make a full step of these, in a direction that depends on the number of ranks."""
MOMENTUM_AT_START = 0.85
"""Muon's momentum at the first step, where it is to rise."""


class NonFiniteLoss(UserError):
    """The loss or its gradient became NaN or infinite; training must not continue."""


@dataclass(frozen=True)
class ParamGroup:
    """Stacks with the same learning rate. `betas` are Adam's; None means that the stacks are Muon's matrices."""

    name: str
    lr: float
    stacks: list[Stack]
    betas: tuple[float, float] | None = None
    eps: float = ADAM_EPS


class MuonAdamW:
    """Muon and AdamW for one model; make it with `for_model`, on all ranks alike."""

    def __init__(
        self,
        groups: Sequence[ParamGroup],
        weight_decay: float = 0.0,
        momentum: float = 0.95,
        momentum_warmup_steps: int = 0,
    ) -> None:
        self.groups, self.weight_decay = list(groups), weight_decay
        self.momentum, self.momentum_warmup_steps = momentum, momentum_warmup_steps
        self.steps_done = 0
        self.lr_factor = 1.0
        self._stacks: list[Stack] = []
        self._state: list[dict[str, torch.Tensor]] = []
        for group in groups:
            averages = ("momentum",) if group.betas is None else ("mean", "square")  # of Muon and of AdamW
            for stack in group.stacks:
                self._stacks.append(stack)
                self._state.append({name: stack.zeros() for name in averages})
        spans = [span for stack in self._stacks for span in stack.spans]
        self.parameters = {span.name: span.parameter for span in spans}
        assert all(parameter.dtype == torch.float32 for parameter in self.parameters.values()), "weights must be fp32"

    @classmethod
    def for_model(
        cls,
        model: GPT,
        matrix_lr: float = 0.02,
        embedding_lr: float = 0.3,
        unembedding_lr: float = 0.004,
        scalar_lr: float = 0.5,
        weight_decay: float = 0.0,
        momentum: float = 0.95,
        momentum_warmup_steps: int = 0,
        adapter_lr: float = 0.001,
    ) -> "MuonAdamW":
        """Make the optimizer of a model.

        Learning rates are for width 768; those of embedding and head are scaled by (width / 768)^-0.5.

        `weight_decay` acts on matrices only, and only where decay and update agree in sign. Muon's momentum rises from
        0.85 to `momentum` over the first `momentum_warmup_steps`. Of a model with adapters these alone are updated, by
        AdamW with `adapter_lr`.
        """
        rank, world_size = place_now()
        parameters = dict(model.named_parameters())
        if settings_of(model) is not None:
            by_row: dict[torch.Size, list[RowSpan]] = {}
            for name in adapter_state(model):
                parameter = parameters[name]
                by_row.setdefault(parameter.shape[1:], []).append(RowSpan(name, parameter, 0, len(parameter)))
            stacks = [Stack(spans, shape, rank, world_size) for shape, spans in by_row.items()]
            return cls([ParamGroup("adapter", adapter_lr, stacks, (0.9, 0.95))])
        matrices: dict[tuple[int, int], list[RowSpan]] = {}
        for name, row_counts in model.matrix_rows().items():
            start, parameter = 0, parameters.pop(name)
            for rows in row_counts:
                matrices.setdefault((rows, parameter.shape[1]), []).append(RowSpan(name, parameter, start, rows))
                start += rows

        def rows_of(name: str) -> list[Stack]:
            parameter = parameters.pop(name)
            return [Stack([RowSpan(name, parameter, 0, len(parameter))], parameter.shape[1:], rank, world_size)]

        adam_scale = (model.config.width / ADAM_REFERENCE_WIDTH) ** -0.5
        betas = (0.8, 0.95)
        # AdamW's groups come first: its weights travel while Muon computes.
        groups = [
            ParamGroup("embedding", embedding_lr * adam_scale, rows_of("embedding.weight"), betas),
            ParamGroup("unembedding", unembedding_lr * adam_scale, rows_of("head.weight"), betas),
        ]
        if model.config.value_embedding:
            values = rows_of("value_embedding.weight")
            groups.append(ParamGroup("value_embedding", embedding_lr * adam_scale, values, betas))
            groups.append(ParamGroup("value_scale", scalar_lr * 0.1, rows_of("value_scale"), betas, SCALAR_EPS))
        groups += [
            ParamGroup("residual_scale", scalar_lr * 0.01, rows_of("residual_scale"), betas, SCALAR_EPS),
            ParamGroup("embedding_scale", scalar_lr, rows_of("embedding_scale"), (0.96, 0.95), SCALAR_EPS),
        ]
        stacks = [Stack(spans, shape, rank, world_size) for shape, spans in matrices.items()]
        groups.append(ParamGroup("matrix", matrix_lr, stacks))
        assert not parameters, f"no group for {', '.join(parameters)}"
        return cls(groups, weight_decay, momentum, momentum_warmup_steps)

    def zero_grad(self) -> None:
        """Forget all gradients."""
        for parameter in self.parameters.values():
            parameter.grad = None

    def set_lr_factor(self, factor: float) -> None:
        """Set every group's learning rate to `factor` times its initial one."""
        self.lr_factor = factor

    @torch.no_grad()
    def step(self, max_grad_norm: float = math.inf) -> float:
        """Sum the gradients over all ranks, clip them to `max_grad_norm` (0: never) and update the weights.

        All ranks call it together. The gradients are used up. Returns their norm before clipping; raises NonFiniteLoss
        on all ranks alike, before weights or state change, if it is not finite.
        """
        reductions = [stack.reduce_gradients() for stack in self._stacks]
        self.zero_grad()
        gradients = [reduction.wait() for reduction in reductions]
        reductions.clear()
        norm = self._norm(gradients)
        if not math.isfinite(norm):
            raise NonFiniteLoss(f"the gradient norm is {norm}; the weights were left as they were before this step")
        scale = min(1.0, max_grad_norm / (norm + 1e-6)) if max_grad_norm > 0 else 1.0
        self.steps_done += 1
        flying: tuple[Stack, Pending] | None = None
        owners = [group for group in self.groups for _ in group.stacks]
        for index, (group, stack) in enumerate(zip(owners, self._stacks)):
            block = stack.own_weights()
            self._update(group, block, gradients[index].mul_(scale), self._state[index])
            gradients[index] = gradients[index].new_empty(0)
            landed, flying = flying, (stack, stack.gather_weights(block))
            if landed is not None:  # the weights of one stack travel while those of the next are computed
                landed[0].write_weights(landed[1])
        if flying is not None:
            flying[0].write_weights(flying[1])
        return norm

    def _norm(self, gradients: list[torch.Tensor]) -> float:
        """Return the norm of all gradients over all ranks (a collective)."""
        squares = torch.stack([torch.linalg.vector_norm(gradient) for gradient in gradients]).square().sum()
        return math.sqrt(all_reduce_sum([float(squares)])[0])

    def _update(
        self, group: ParamGroup, weights: torch.Tensor, gradients: torch.Tensor, state: dict[str, torch.Tensor]
    ) -> None:
        lr = group.lr * self.lr_factor
        if group.betas is None:
            muon_update(weights, gradients, state["momentum"], lr, self._momentum(), self.weight_decay)
        else:
            mean, square = state["mean"], state["square"]
            adamw_update(weights, gradients, mean, square, self.steps_done, lr, group.betas, group.eps)

    def _momentum(self) -> float:
        if self.steps_done >= self.momentum_warmup_steps:
            return self.momentum
        start = min(MOMENTUM_AT_START, self.momentum)
        return start + (self.momentum - start) * self.steps_done / self.momentum_warmup_steps

    def state_dict(self) -> Shard:
        """Return this rank's shard of the state (see `Shard`). Rates and the like are no part of it: they are what the
        optimizer was made with."""
        shapes = {name: list(parameter.shape) for name, parameter in self.parameters.items()}
        held: dict[str, dict[str, dict[int, torch.Tensor]]] = {}
        if not self.steps_done:  # the state is all zeros
            return {"step": 0, "shapes": shapes, "state": held}
        for stack, tensors in zip(self._stacks, self._state):
            for owned in stack.owned:
                for name, tensor in tensors.items():
                    rows = owned.rows_of(tensor)
                    held.setdefault(owned.span.name, {}).setdefault(name, {})[owned.span.start] = rows
        return {"step": self.steps_done, "shapes": shapes, "state": held}

    @torch.no_grad()
    def load_state_dicts(self, shards: Sequence[Shard]) -> None:
        """Restore the state from the `state_dict`s of all ranks that saved it, however many they were.

        Raises ValueError naming what does not fit, and then changes nothing.
        """
        shapes = {name: parameter.shape for name, parameter in self.parameters.items()}
        names = {span.name: set(state) for stack, state in zip(self._stacks, self._state) for span in stack.spans}
        self.steps_done = check_shards(shards, shapes, names)
        for stack, state in zip(self._stacks, self._state):
            for name, tensor in state.items():
                tensor.zero_()
                if self.steps_done:
                    for owned in stack.owned:
                        read_rows(shards, owned.span.name, name, owned.span.start, owned.rows_of(tensor))
