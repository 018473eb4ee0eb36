"""Low-rank adapters (LoRA): small matrices that are trained beside a network that stays as it is.

A linear layer W with an adapter computes y = W x + (alpha / r) B A dropout(x), with A (r, in) random and B (out, r)
zero at first, so that the first step begins at the base network (Hu et al. 2021, arXiv:2106.09685). Queries, keys and
values are rows of one matrix here; each that is adapted has an A and a B of its own, and they share the dropout.

A checkpoint of adapters holds them alone; its manifest says which base they are for, with the digest of its weights.

Shapes: I input features, O output features of a layer, r the rank, N adapted matrices of a layer, S their rows.
"""

import math
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import torch
import torch.nn as nn
import torch.nn.functional as F

from nanoproof.common.errors import UserError
from nanoproof.model.gpt import GPT, Block, Linear
from nanoproof.model.network_options import LoraOptions

PLACES = {
    "q": ("qkv", 0),
    "k": ("qkv", 1),
    "v": ("qkv", 2),
    "o": ("attention_out", 0),
    "up": ("up", 0),
    "down": ("down", 0),
}
"""Targets: the layer of a block, and which of the matrices that are stacked in its weight."""


@dataclass(frozen=True)
class LoraSettings:
    """What the adapters of a network are, and the base that they are for: what a manifest has under `lora`."""

    rank: int
    alpha: float
    targets: tuple[str, ...]
    dropout: float
    seed: int
    base: str
    base_sha256: str

    @classmethod
    def of(cls, options: LoraOptions, seed: int, base: str, base_sha256: str) -> "LoraSettings":
        """Take the settings from options. Raises UserError for a target that our networks do not have."""
        assert options.lora is not None
        for name in options.targets:
            if name not in PLACES:
                raise UserError(f"--lora-targets {name}: networks of ours have {', '.join(PLACES)}")
        targets = tuple(name for name in PLACES if name in options.targets)
        return cls(options.lora, options.lora_alpha, targets, options.lora_dropout, seed, base, base_sha256)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "LoraSettings":
        """Read what `to_json` wrote. Raises TypeError or KeyError if it is something else."""
        return cls(**{**data, "targets": tuple(data["targets"])})

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {**asdict(self), "targets": list(self.targets)}

    def differences(self, options: LoraOptions) -> list[str]:
        """List the flags whose values are not those of these adapters."""
        wanted = {
            "--lora": (options.lora, self.rank),
            "--lora-alpha": (options.lora_alpha, self.alpha),
            "--lora-targets": (",".join(sorted(options.targets)), ",".join(sorted(self.targets))),
            "--lora-dropout": (options.lora_dropout, self.dropout),
        }
        return [f"{flag} {given} where that run has {own}" for flag, (given, own) in wanted.items() if given != own]


class LoraLinear(Linear):
    """A linear layer with adapters of some of the matrices that are stacked in its weight, which is frozen.

    `lora_a` (N * r, I) and `lora_b` (S, r) stack those of the adapted matrices.
    """

    def __init__(self, base: Linear, sizes: tuple[int, ...], adapted: tuple[int, ...], settings: LoraSettings) -> None:
        """`sizes` are the rows of the stacked matrices, `adapted` the numbers of those with adapters."""
        with torch.device("meta"):
            super().__init__(base.in_features, base.out_features)
        self.weight = base.weight
        self.settings, self._sizes, self._adapted = settings, sizes, adapted
        device, rank = base.weight.device, settings.rank
        self.lora_a = nn.Parameter(torch.empty(len(adapted) * rank, base.in_features, device=device))
        self.lora_b = nn.Parameter(torch.zeros(sum(sizes[index] for index in adapted), rank, device=device))

    def _factors(self) -> Iterator[tuple[int, torch.Tensor, torch.Tensor]]:
        """Yield the number of each adapted matrix with its A (r, I) and B (O, r)."""
        rows = [self._sizes[index] for index in self._adapted]
        yield from zip(self._adapted, self.lora_a.split(self.settings.rank), self.lora_b.split(rows), strict=True)

    @property
    def _scale(self) -> float:
        return self.settings.alpha / self.settings.rank

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = list(super().forward(x).split(self._sizes, dim=-1))
        x = F.dropout(x, self.settings.dropout, self.training)
        for index, a, b in self._factors():
            parts[index] = parts[index] + self._scale * F.linear(F.linear(x, a.to(x.dtype)), b.to(x.dtype))
        return torch.cat(parts, dim=-1) if len(parts) > 1 else parts[0]

    @torch.no_grad()
    def merged_weight(self) -> torch.Tensor:
        """Compute the weight (O, I) that does alone what weight and adapters do together."""
        merged = self.weight.detach().clone()
        parts = merged.split(self._sizes)
        for index, a, b in self._factors():
            parts[index].addmm_(b, a, alpha=self._scale)
        return merged


# -- Networks with adapters ------------------------------------------------------------------------------------------


def settings_of(model: GPT) -> LoraSettings | None:
    """Return what the adapters of a network are; None if it has none."""
    return next((module.settings for module in model.modules() if isinstance(module, LoraLinear)), None)


def _adapted(model: GPT) -> Iterator[tuple[Block, str, LoraLinear]]:
    for block in model.layers:
        for name, layer in list(block.named_children()):
            if isinstance(layer, LoraLinear):
                yield block, name, layer


def add_adapters(model: GPT, settings: LoraSettings) -> None:
    """Put fresh adapters into a network and freeze the rest. A is drawn from the seed of `settings`: ranks agree."""
    assert settings_of(model) is None, "the network has adapters already"
    generator = torch.Generator().manual_seed(settings.seed)
    model.requires_grad_(False)
    for block in model.layers:
        rows = block.matrix_rows()
        for layer in dict.fromkeys(PLACES[name][0] for name in settings.targets):
            base = getattr(block, layer)
            assert type(base) is Linear, f"no adapters for {type(base).__name__}"
            numbers = tuple(PLACES[name][1] for name in settings.targets if PLACES[name][0] == layer)
            replacement = LoraLinear(base, rows[f"{layer}.weight"], numbers, settings)
            bound = 1 / math.sqrt(base.in_features)
            drawn = torch.empty(replacement.lora_a.shape).uniform_(-bound, bound, generator=generator)
            with torch.no_grad():
                replacement.lora_a.copy_(drawn)
            replacement.weight.requires_grad_(False)
            setattr(block, layer, replacement)
    model.eval()


def merge_adapters(model: GPT) -> None:
    """Make a network with adapters a plain one that computes the same; all its parameters can be trained."""
    for block, name, layer in list(_adapted(model)):
        with torch.device("meta"):
            plain = Linear(layer.in_features, layer.out_features)
        plain.weight = nn.Parameter(layer.merged_weight())
        setattr(block, name, plain)
    model.requires_grad_(True)


def adapter_state(model: GPT) -> dict[str, torch.Tensor]:
    """Return the adapters' tensors by name."""
    return {name: tensor for name, tensor in model.state_dict().items() if ".lora_" in name}


def merged_parameters(model: GPT) -> Iterator[torch.Tensor]:
    """Yield the parameters of the plain network that computes the same, in the order of `parameters`.

    What has no adapter is not copied; of the rest, a copy is made when it is its turn.
    """
    merged = {id(layer.weight): layer for _, _, layer in _adapted(model)}
    for name, parameter in model.named_parameters():
        if ".lora_" not in name:
            layer = merged.get(id(parameter))
            yield parameter if layer is None else layer.merged_weight()


def share_frozen(plain: GPT, model: GPT) -> None:
    """Have a plain network of the same shape and dtype use the frozen parameters that have no adapter, not copies."""
    with_adapter = {id(layer.weight) for _, _, layer in _adapted(model)}
    theirs = dict(model.named_parameters())
    for name, parameter in plain.named_parameters():
        if id(theirs[name]) not in with_adapter:
            parameter.data = theirs[name].data


def seed_dropout(model: GPT, step: int, rank: int) -> None:
    """Seed torch's global generator for the dropout of a step, so that a resumed run draws what it would have drawn."""
    settings = settings_of(model)
    if settings is not None and settings.dropout > 0:
        torch.manual_seed(random.Random(f"{settings.seed} {step} {rank}").getrandbits(63))


def describe_adapters(model: GPT, settings: LoraSettings) -> str:
    """Describe adapters: how many parameters of how many are trained, where, and of which base."""
    trained = sum(tensor.numel() for tensor in adapter_state(model).values())
    total = model.num_parameters()
    return (
        f"rank {settings.rank}, alpha {settings.alpha:g} on {','.join(settings.targets)}: {trained:,} of {total:,} "
        f"parameters are trained ({100 * trained / total:.1f}%), beside {settings.base}"
    )
