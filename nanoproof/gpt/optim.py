"""One optimizer for the whole network: Muon for the matrices, AdamW for embedding, head and scalars.

One code path for one and many ranks: each rank keeps the state of its share of every stack (see `shards.py`), sums its
gradients with those of the other ranks, updates its share, and all receive the new weights, so weights are the same to
the last bit everywhere. Parameters are fp32; in what precision the network computes is no matter here, and gradients
travel in fp32. State is kept by parameter name, so that it does not depend on how many ranks saved it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.distributed as dist

from nanoproof.common.dist import all_reduce_sum
from nanoproof.common.errors import UserError
from nanoproof.gpt.model import GPT
from nanoproof.gpt.muon import adamw_update, muon_update
from nanoproof.gpt.optim_state import Share, check_shares, read_rows
from nanoproof.gpt.shards import Part, Pending, Stack

ADAM_REFERENCE_WIDTH = 768
ADAM_EPS = 1e-10
SCALAR_EPS = 1e-5
"""Scalars have no gradient but rounding errors while all layers are the identity (1e-10 in fp32, 1e-6 in bf16, later
1e-2): a smaller eps would make a full step of these, in a direction that depends on the number of ranks."""
MOMENTUM_AT_START = 0.85
"""Muon's momentum at the first step, where it is to rise."""


class NonFiniteLoss(UserError):
    """The loss or its gradient became NaN or infinite; training must not go on."""


@dataclass(frozen=True)
class Group:
    """Stacks with the same learning rate. `betas` are Adam's; None means that the stacks are Muon's matrices."""

    name: str
    lr: float
    stacks: list[Stack]
    betas: tuple[float, float] | None = None
    eps: float = ADAM_EPS


class MuonAdamW:
    """Muon and AdamW under one roof; make it with `for_model`, on all ranks alike."""

    def __init__(
        self, groups: Sequence[Group], weight_decay: float = 0.0, momentum: float = 0.95, momentum_warmup_steps: int = 0
    ) -> None:
        self.groups, self.weight_decay = list(groups), weight_decay
        self.momentum, self.momentum_warmup_steps = momentum, momentum_warmup_steps
        self.steps_done = 0
        self.lr_factor = 1.0
        self._stacks = [stack for group in groups for stack in group.stacks]
        self._state = [
            {name: stack.zeros() for name in (("momentum",) if group.betas is None else ("mean", "square"))}
            for group in groups
            for stack in group.stacks
        ]
        parts = [part for stack in self._stacks for part in stack.parts]
        self.parameters = {part.name: part.parameter for part in parts}
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
    ) -> "MuonAdamW":
        """Learning rates are for width 768; those of embedding and head scale with (width / 768)^-0.5.

        `weight_decay` acts on matrices only, and only where decay and update agree in sign. Muon's momentum rises from
        0.85 to `momentum` over the first `momentum_warmup_steps`.
        """
        rank, world_size = (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)
        parameters = dict(model.named_parameters())
        matrices: dict[tuple[int, int], list[Part]] = {}
        for name, parts in model.matrix_rows().items():
            start, parameter = 0, parameters.pop(name)
            for rows in parts:
                matrices.setdefault((rows, parameter.shape[1]), []).append(Part(name, parameter, start, rows))
                start += rows

        def rows_of(name: str) -> list[Stack]:
            parameter = parameters.pop(name)
            return [Stack([Part(name, parameter, 0, len(parameter))], parameter.shape[1:], rank, world_size)]

        adam_scale = (model.config.width / ADAM_REFERENCE_WIDTH) ** -0.5
        groups = [  # AdamW's come first: its weights travel while Muon computes
            Group("embedding", embedding_lr * adam_scale, rows_of("embedding.weight"), (0.8, 0.95)),
            Group("unembedding", unembedding_lr * adam_scale, rows_of("head.weight"), (0.8, 0.95)),
            *(
                [
                    Group("value_embedding", embedding_lr * adam_scale, rows_of("value_embedding.weight"), (0.8, 0.95)),
                    Group("value_scale", scalar_lr * 0.1, rows_of("value_scale"), (0.8, 0.95), SCALAR_EPS),
                ]
                if model.config.value_embedding
                else []
            ),
            Group("residual_scale", scalar_lr * 0.01, rows_of("residual_scale"), (0.8, 0.95), SCALAR_EPS),
            Group("embedding_scale", scalar_lr, rows_of("embedding_scale"), (0.96, 0.95), SCALAR_EPS),
            Group("matrix", matrix_lr, [Stack(parts, shape, rank, world_size) for shape, parts in matrices.items()]),
        ]
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
        """The norm of all gradients over all ranks (a collective)."""
        squares = torch.stack([torch.linalg.vector_norm(gradient) for gradient in gradients]).square().sum()
        return math.sqrt(all_reduce_sum([float(squares)], squares.device)[0])

    def _update(
        self, group: Group, weights: torch.Tensor, gradients: torch.Tensor, state: dict[str, torch.Tensor]
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

    def state_dict(self) -> Share:
        """This rank's share of the state, as `optim_state.py` says. Rates and the like are no part of it: they are what
        the optimizer was made with."""
        held: dict[str, dict[str, dict[int, torch.Tensor]]] = {}
        for stack, tensors in zip(self._stacks, self._state) if self.steps_done else ():
            for piece in stack.pieces:
                for name, tensor in tensors.items():
                    rows = piece.rows_of(tensor)
                    held.setdefault(piece.part.name, {}).setdefault(name, {})[piece.part.start] = rows
        shapes = {name: list(parameter.shape) for name, parameter in self.parameters.items()}
        return {"step": self.steps_done, "shapes": shapes, "state": held}

    @torch.no_grad()
    def load_state_dicts(self, shares: Sequence[Share]) -> None:
        """Restore the state from the `state_dict`s of all ranks that saved it, however many they were.

        Raises ValueError naming what does not fit, and then changes nothing.
        """
        shapes = {name: parameter.shape for name, parameter in self.parameters.items()}
        names = {part.name: set(state) for stack, state in zip(self._stacks, self._state) for part in stack.parts}
        self.steps_done = check_shares(shares, shapes, names)
        for stack, state in zip(self._stacks, self._state):
            for name, tensor in state.items():
                tensor.zero_()
                for piece in stack.pieces if self.steps_done else ():
                    read_rows(shares, piece.part.name, name, piece.part.start, piece.rows_of(tensor))
