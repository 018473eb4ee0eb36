"""One optimizer for the whole network: Muon for the matrices, AdamW for embedding, head and scalars.

Muon replaces the momentum of a matrix by the nearest orthogonal matrix (its polar factor), found by a few matrix
products ("Polar Express", arXiv:2505.16932; Muon: Jordan et al. 2024). State is kept by parameter name, so that a
checkpoint does not depend on the order of parameters or on how many ranks wrote it. Under torchrun the state is
replicated: average the gradients first (`average_gradients`), and every rank takes the same step.
"""

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

from nanoproof.gpt.model import GPT

# Coefficients (a, b, c) of the odd polynomials a x + b x^3 + c x^5 that push singular values to 1, one per iteration.
POLAR_EXPRESS = (
    (8.156554524902461, -22.48329292557795, 15.878769915207462),
    (4.042929935166739, -2.808917465908714, 0.5000178451051316),
    (3.8916678022926607, -2.772484153217685, 0.5060648178503393),
    (3.285753657755655, -2.3681294933425376, 0.46449024233003106),
    (2.3465413258596377, -1.7097828382687081, 0.42323551169305323),
)
ADAM_REFERENCE_WIDTH = 768


def average_gradients(model: torch.nn.Module, world_size: int | None = None, average: bool = True) -> None:
    """Replace each gradient by its mean over all ranks (or its sum), in one reduction; alone it does nothing.

    A parameter without gradient counts as zero, so that ranks whose batches differ still take part alike.
    """
    if not dist.is_initialized() or dist.get_world_size() == 1:
        return
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    for parameter in parameters:
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    flat = torch.cat([gradient.flatten() for gradient in gradients])
    dist.all_reduce(flat)
    if average:
        flat /= world_size or dist.get_world_size()
    for gradient, part in zip(gradients, flat.split([gradient.numel() for gradient in gradients])):
        gradient.copy_(part.view_as(gradient))


def orthogonalize(matrices_NRC: torch.Tensor) -> torch.Tensor:
    """The (approximate) polar factors of a stack of matrices; bf16 on GPUs, fp32 elsewhere."""
    x = matrices_NRC.bfloat16() if matrices_NRC.is_cuda else matrices_NRC.float()
    tall = x.shape[-2] > x.shape[-1]
    if tall:
        x = x.mT
    x = x / (x.norm(dim=(-2, -1), keepdim=True) * 1.02 + 1e-7)
    for a, b, c in POLAR_EXPRESS:
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return (x.mT if tall else x).to(matrices_NRC.dtype)


class MuonAdamW(torch.optim.Optimizer):
    """Muon and AdamW under one roof. Each group has `name`, `lr`, and the `initial_lr` that schedules multiply."""

    def __init__(self, groups: list[dict[str, Any]]) -> None:
        """Use `for_model`, which makes the groups."""
        super().__init__(groups, {})

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
    ) -> "MuonAdamW":
        """Learning rates are for width 768; those of embedding and head scale with (width / 768)^-0.5.

        `weight_decay` acts on matrices only, and only where decay and update agree in sign.
        """
        rows = model.matrix_rows()
        parameters = dict(model.named_parameters())
        adam_scale = (model.config.width / ADAM_REFERENCE_WIDTH) ** -0.5
        adam = {"kind": "adamw", "betas": (0.8, 0.95), "eps": 1e-10}
        muon = {"kind": "muon", "momentum": momentum, "weight_decay": weight_decay, "rows": list(rows.values())}
        members: list[tuple[str, list[str], float, dict[str, Any]]] = [
            ("matrix", list(rows), matrix_lr, muon),
            ("embedding", ["embedding.weight"], embedding_lr * adam_scale, adam),
            ("unembedding", ["head.weight"], unembedding_lr * adam_scale, adam),
            ("residual_scale", ["residual_scale"], scalar_lr * 0.01, adam),
            ("embedding_scale", ["embedding_scale"], scalar_lr, {**adam, "betas": (0.96, 0.95)}),
        ]
        groups = [
            {"name": name, "params": [parameters[key] for key in keys], "keys": keys, "lr": lr, "initial_lr": lr, **how}
            for name, keys, lr, how in members
        ]
        return cls(groups)

    def set_lr_factor(self, factor: float) -> None:
        """Set every group's learning rate to `factor` times its initial one."""
        for group in self.param_groups:
            group["lr"] = group["initial_lr"] * factor

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Update all weights from their gradients (averaged over ranks beforehand, see `average_gradients`)."""
        assert closure is None, "closures are not supported"
        for group in self.param_groups:
            if group["kind"] == "muon":
                self._muon_step(group)
            else:
                self._adamw_step(group)

    def _muon_step(self, group: dict[str, Any]) -> None:
        by_shape: dict[torch.Size, list[tuple[torch.Tensor, torch.Tensor]]] = {}
        for parameter, rows in zip(group["params"], group["rows"]):
            if parameter.grad is None:
                continue
            state = self.state[parameter]
            if not state:
                state["momentum"] = torch.zeros_like(parameter)
            state["momentum"].lerp_(parameter.grad, 1 - group["momentum"])
            update = parameter.grad.lerp(state["momentum"], group["momentum"])
            for weight_part, update_part in zip(parameter.split(rows), update.split(rows)):
                by_shape.setdefault(weight_part.shape, []).append((weight_part, update_part))
        for shape, parts in by_shape.items():
            updates = orthogonalize(torch.stack([update for _, update in parts]))
            lr = group["lr"] * max(1.0, shape[0] / shape[1]) ** 0.5
            for (weight, _), update in zip(parts, updates):
                if group["weight_decay"]:
                    decay = group["lr"] * group["weight_decay"]
                    weight.sub_(weight * (update * weight >= 0), alpha=decay)
                weight.sub_(update, alpha=lr)

    def _adamw_step(self, group: dict[str, Any]) -> None:
        beta1, beta2 = group["betas"]
        for parameter in group["params"]:
            if parameter.grad is None:
                continue
            state = self.state[parameter]
            if not state:
                state["step"] = torch.zeros((), dtype=torch.float32)
                state["mean"] = torch.zeros_like(parameter)
                state["square"] = torch.zeros_like(parameter)
            state["step"] += 1
            step = int(state["step"])
            state["mean"].lerp_(parameter.grad, 1 - beta1)
            state["square"].lerp_(parameter.grad.square(), 1 - beta2)
            denominator = (state["square"] / (1 - beta2**step)).sqrt_().add_(group["eps"])
            parameter.addcdiv_(state["mean"], denominator, value=-group["lr"] / (1 - beta1**step))

    def state_dict(self) -> dict[str, Any]:
        """`{"state": {parameter name: {tensor name: tensor}}, "groups": {group name: {lr, initial_lr, ...}}}`."""
        state = {
            key: dict(self.state[parameter])
            for group in self.param_groups
            for key, parameter in zip(group["keys"], group["params"])
            if parameter in self.state
        }
        hidden = ("params", "keys", "rows", "name", "kind")
        groups = {
            group["name"]: {option: value for option, value in group.items() if option not in hidden}
            for group in self.param_groups
        }
        return {"state": state, "groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what `state_dict` returned. Raises ValueError naming the parameter or group that does not fit."""
        names = {
            key: parameter for group in self.param_groups for key, parameter in zip(group["keys"], group["params"])
        }
        for key, tensors in state_dict["state"].items():
            if key not in names:
                raise ValueError(f"optimizer state of {key}, which the model does not have")
            for tensor in tensors.values():
                if tensor.ndim > 0 and tensor.shape != names[key].shape:
                    raise ValueError(
                        f"optimizer state of {key} has shape {tuple(tensor.shape)}, "
                        f"the model's is {tuple(names[key].shape)}"
                    )
        groups = {group["name"]: group for group in self.param_groups}
        for name, options in state_dict["groups"].items():
            if name not in groups:
                raise ValueError(f"optimizer group {name} is unknown; known are {', '.join(groups)}")
            groups[name].update(options)
        self.state.clear()
        for key, tensors in state_dict["state"].items():
            target = names[key]
            self.state[target] = {
                name: tensor.clone() if tensor.ndim == 0 else tensor.to(target.device, copy=True)
                for name, tensor in tensors.items()
            }
