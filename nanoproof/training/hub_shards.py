"""Weights, gradients and optimizer state of a network of transformers over the ranks: torch's FSDP2 (`--shard`).

Each rank holds its share of every parameter; a layer's weights are whole only while it computes. So every forward pass
is a collective, which all ranks have to make equally often, and whoever asks the network at times of its own (actors,
the record of a step) asks a copy of it that is whole on each rank: `hub_network.py`.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import torch
import torch.distributed
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor

from nanoproof.common.distributed import all_reduce_sum
from nanoproof.common.errors import UserError


class Shards:
    """A network that is divided over all ranks. All methods are collectives."""

    def __init__(self, network: Any, device: torch.device) -> None:
        """Divide a network, layer by layer. Raises UserError without other ranks."""
        if not torch.distributed.is_initialized():
            raise UserError("--shard divides a network over ranks, and there is one: start it with torchrun")
        self._network = network
        mesh = init_device_mesh(device.type, (torch.distributed.get_world_size(),))
        precision = MixedPrecisionPolicy()
        if device.type == "cuda":
            # Autocast alone would keep a bf16 copy of every layer's whole weights for the backward pass.
            precision = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
        # What transformers itself keeps together on a device: its decoder layers.
        layers = set(network._no_split_modules or ())
        for module in network.modules():
            if type(module).__name__ in layers:
                fully_shard(module, mesh=mesh, mp_policy=precision)
        # The rest, embeddings and output layer, in one piece: where these are tied they have to be whole together.
        fully_shard(network, mesh=mesh, mp_policy=precision)
        for module in network.modules():
            if isinstance(module, FSDPModule):
                # Sums over ranks, not FSDP's means: losses are divided by the examples of all ranks already. Gloo knows
                # no sum with a factor in it (PREMUL_SUM), so that the sum is plain.
                module.set_gradient_divide_factor(1.0)
                module.set_force_sum_reduction_for_comms(True)

    @torch.no_grad()
    def copy_to(self, target: Any, trained_only: bool) -> None:
        """Copy the weights into a network of the same kind that is whole; those that are trained, or all."""
        for own, other in zip(self._network.parameters(), target.parameters(), strict=True):
            # Parameter by parameter: beside the two networks only one of them is whole at a time.
            if own.requires_grad or not trained_only:
                other.copy_(_whole(own))

    def weights(self, keep: bool) -> dict[str, torch.Tensor]:
        """Return the whole weights by name, on the CPU, where `keep`; else {}."""
        weights: dict[str, torch.Tensor] = {}
        # Tied weights have two names and one tensor: gathered once they stay tied, and are written once.
        gathered: dict[int, torch.Tensor] = {}
        for name, parameter in self._network.named_parameters(remove_duplicate=False):
            if id(parameter) not in gathered:
                tensor = _whole(parameter.detach())
                if not keep:
                    tensor = tensor.new_empty(0)
                gathered[id(parameter)] = tensor.cpu()
            weights[name] = gathered[id(parameter)]
        if not keep:
            return {}
        for name, buffer in self._network.state_dict().items():
            weights.setdefault(name, buffer)
        return weights

    def optimizer_state(self, optimizer: torch.optim.Optimizer, keep: bool) -> dict[str, Any]:
        """Return an optimizer's state as one rank alone would have it, on the CPU, where `keep`.

        So a run goes on with another number of ranks, or without `--shard`.
        """
        state = optimizer.state_dict()
        gathered: dict[int, dict[str, Any]] = {}
        for number, values in state["state"].items():
            gathered[number] = {}
            for name, value in values.items():
                tensor = _whole(value)
                if keep:
                    gathered[number][name] = tensor.cpu()
        return {**state, "state": gathered}

    def clip_gradients(self, parameters: Iterable[torch.Tensor], limit: float) -> float:
        """Scale gradients, divided ones and whole ones, down to a norm of `limit`; returns their norm before."""
        # torch's own function takes divided or whole gradients, not both; the value head is whole on each rank.
        gradients: list[torch.Tensor] = []
        divided_squares = whole_squares = 0.0
        for parameter in parameters:
            gradient = parameter.grad
            if isinstance(gradient, DTensor):
                gradients.append(gradient.to_local())
                divided_squares += float(gradients[-1].pow(2).sum())
            elif gradient is not None:
                gradients.append(gradient)
                whole_squares += float(gradient.pow(2).sum())
        norm = math.sqrt(all_reduce_sum([divided_squares])[0] + whole_squares)
        # With torch's small number beside the norm: a run makes the same steps with `--shard` and without.
        factor = limit / (norm + 1e-6)
        if factor < 1:
            for gradient in gradients:
                gradient.mul_(factor)
        return norm


def _whole(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor with the shares of all ranks; one that is not divided as it is."""
    if isinstance(tensor, DTensor):
        return tensor.full_tensor()
    return tensor


def share_optimizer(state: dict[str, Any], parameters: Sequence[torch.Tensor]) -> dict[str, Any]:
    """Return this rank's share of an optimizer's state, by the parameters that it is for.

    Raises ValueError for the state of others.
    """
    shared: dict[int, dict[str, Any]] = {}
    for number, values in state["state"].items():
        parameter = parameters[number]
        shared[number] = {}
        for name, value in values.items():
            # The count of steps is one number for each parameter, and is not divided.
            if isinstance(parameter, DTensor) and value.dim() > 0:
                if value.shape != parameter.shape:
                    raise ValueError(f"{name} is {tuple(value.shape)}, expected {tuple(parameter.shape)}")
                value = value.to(parameter.device)
                # Every rank has read the file: nothing needs to be sent.
                value = distribute_tensor(value, parameter.device_mesh, parameter.placements, src_data_rank=None)
            shared[number][name] = value
    return {**state, "state": shared}
