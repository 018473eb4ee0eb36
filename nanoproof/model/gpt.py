"""The network: a decoder-only Transformer that reads a proof state and writes a tactic or a value bin.

Rotary positions, normalised queries and keys, ReLU² feed-forward, RMSNorm without parameters, untied head,
grouped-query attention, sliding windows, per-layer scalars that weigh the residual stream against the embedding, and a
second embedding that every layer adds to the values of attention.

Shapes: B rows, T tokens, C width, H query heads, K key/value heads, D head size, V vocabulary, N selected tokens,
P those of a chunk.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

from nanoproof.common.config import opt
from nanoproof.model.attention import Attend, AttentionPath, DensePath, RowLayout
from nanoproof.model.network_options import NetworkShape
from nanoproof.model.tokenizer import RESERVED

ROPE_BASE = 10_000.0
LOGIT_SOFTCAP = 15.0
VOCAB_MULTIPLE = 64
LOGITS_AT_ONCE, COMPILED_LOGITS_AT_ONCE = 2**29, 3 * 2**29
"""How many logits `GPT.losses` holds at most. There are several copies of them in fp32; compiled code has fewer."""


@dataclass(frozen=True)
class _Vocabulary:
    """The first field of `GPTConfig`, as checkpoints have it."""

    vocab_size: int = opt(help="Number of tokens (given by the tokenizer).", min=1, max=2**31)


@dataclass(frozen=True)
class GPTConfig(NetworkShape, _Vocabulary):
    """Size and shape of the network; `depth` is the dial from which the width follows."""

    prefix_lm: bool = opt(False, "The tokens of a state see each other both ways.")
    whole_proofs: bool = opt(False, "The reserved markers, of whole proofs and conjectures, have places.")

    @property
    def padded_vocab_size(self) -> int:
        needed = self.vocab_size + (len(RESERVED) if self.whole_proofs else 0)
        return math.ceil(needed / VOCAB_MULTIPLE) * VOCAB_MULTIPLE


class Linear(nn.Linear):
    """Linear layer without bias whose weight is kept in fp32 and used in the dtype of its input."""

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__(in_features, out_features, bias=False)

    def reset_parameters(self) -> None:
        """Fill the weight as torch does; not on the meta device, where that imports the compiler (2 seconds)."""
        if not self.weight.is_meta:
            super().reset_parameters()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(x, self.weight.to(x.dtype))


class Embedding(nn.Embedding):
    """Embedding whose weight is not filled on the meta device, as with `Linear`."""

    def reset_parameters(self) -> None:
        """Fill the weight as torch does, unless it is on the meta device."""
        if not self.weight.is_meta:
            super().reset_parameters()


def with_reserved_markers(model: "GPT") -> "GPT":
    """Return the model with places for the reserved markers: itself where its padding has room, else a larger copy."""
    config = replace(model.config, whole_proofs=True)
    if config.padded_vocab_size == model.config.padded_vocab_size:
        model.config = config
        return model
    grown = GPT.create(config, model.device, model.compute_dtype)
    with torch.no_grad():
        old = model.state_dict()
        for name, tensor in grown.state_dict().items():
            tensor[: old[name].shape[0]].copy_(old[name])
    return grown


class ReluSquared(torch.autograd.Function):
    """max(x, 0)² with one pass over the values in each direction less than torch's own backward of relu and square.

    The values are four times as wide as the residual stream: on a CPU that saves a tenth of forward and backward.
    """

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        """Return max(x, 0)², of any shape."""
        positive = F.relu(x)
        ctx.save_for_backward(positive)
        return positive * positive

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        """Return the gradient 2 max(x, 0) grad."""
        (positive,) = ctx.saved_tensors
        return (grad * positive).mul_(2)


def relu_squared(x: torch.Tensor) -> torch.Tensor:
    """Return max(x, 0)², of any shape."""
    if torch.compiler.is_compiling():
        # The compiler fuses what `ReluSquared` saves, and keeps no code that calls a gradient of ours for the next run.
        return F.relu(x).square()
    return ReluSquared.apply(x)


def norm(x: torch.Tensor) -> torch.Tensor:
    """Apply RMSNorm over the last dimension, without parameters."""
    return F.rms_norm(x, (x.shape[-1],))


def rotate(x_BTHD: torch.Tensor, rope_BTD: torch.Tensor) -> torch.Tensor:
    """Rotate neighbouring pairs of features by the angles of complex `rope_BTD` (half as many entries as D).

    The compiler knows no complex numbers: it gets (cosine, sine) pairs. Not compiled, complex ones are several times
    faster (on a CPU).
    """
    pairs = x_BTHD.float().unflatten(-1, (-1, 2))
    if rope_BTD.is_complex():
        return torch.view_as_real(torch.view_as_complex(pairs) * rope_BTD.unsqueeze(2)).flatten(-2).to(x_BTHD.dtype)
    (a, b), (cos, sin) = pairs.unbind(-1), rope_BTD.unsqueeze(2).unbind(-1)
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2).to(x_BTHD.dtype)


class Scales(NamedTuple):
    """What weighs the residual stream, the embedding and the token's values in a layer: tensors of one number."""

    residual: torch.Tensor
    embedding: torch.Tensor
    value: torch.Tensor | None


class Block(nn.Module):
    """One layer: attention, then feed-forward, each on the normalised residual stream."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.num_heads, self.kv_heads, self.head_dim = config.num_heads, config.kv_heads, config.head_dim
        self.qkv = Linear(config.width, (self.num_heads + 2 * self.kv_heads) * self.head_dim)
        self.attention_out = Linear(config.width, config.width)
        self.up = Linear(config.width, 4 * config.width)
        self.down = Linear(4 * config.width, config.width)

    def forward(
        self,
        x_BTC: torch.Tensor,
        start_BTC: torch.Tensor,
        scales: Scales,
        rope_BTD: torch.Tensor,
        attend: Attend,
        layer: int,
        token_values_BTKD: torch.Tensor | None,
        select_N: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Compute the layer; `attend` is told that it is `layer`, whose window is its own.

        Everything in which layers differ is an argument, so that compiled code is the same for all of one window.
        With `select_N` the result is that of these indices into B*T only, (N, C).
        """
        x_BTC = torch.addcmul(scales.residual * x_BTC, scales.embedding, start_BTC)
        q_BTHD, k_BTKD, v_BTKD = self.project(x_BTC, rope_BTD)
        if token_values_BTKD is not None and scales.value is not None:
            v_BTKD = v_BTKD + scales.value * token_values_BTKD
        y_BTHD = attend(layer, q_BTHD, k_BTKD, v_BTKD)
        if select_N is None:
            return self.mix(x_BTC, y_BTHD)
        return self.mix(x_BTC.flatten(0, 1)[select_N], y_BTHD.flatten(0, 1)[select_N])

    def project(self, x_BTC: torch.Tensor, rope_BTD: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return queries, keys (both normalised and rotated) and values."""
        qkv = self.qkv(norm(x_BTC)).unflatten(-1, (-1, self.head_dim))
        qk, v_BTKD = qkv.split([self.num_heads + self.kv_heads, self.kv_heads], dim=2)
        q_BTHD, k_BTKD = rotate(norm(qk), rope_BTD).split([self.num_heads, self.kv_heads], dim=2)
        return q_BTHD, k_BTKD, v_BTKD

    def mix(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Add what attention found, (..., T, H, D), to the last T of x, (..., C), then the feed-forward part."""
        x = x[..., -y.shape[-3] :, :] + self.attention_out(y.flatten(-2))
        return x + self.down(relu_squared(self.up(norm(x))))

    def matrix_rows(self) -> dict[str, tuple[int, ...]]:
        """Return the row counts of the matrices that are stacked in each weight, by parameter name."""
        width, kv_width = self.num_heads * self.head_dim, self.kv_heads * self.head_dim
        return {
            "qkv.weight": (width, kv_width, kv_width),
            "attention_out.weight": (width,),
            "up.weight": (4 * width,),
            "down.weight": (width,),
        }


class GPT(nn.Module):
    """The whole network. Build it with `GPT.create`; weights are fp32, activations have `compute_dtype`."""

    rope: torch.Tensor

    def __init__(self, config: GPTConfig, compute_dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.config = config
        self.compute_dtype = compute_dtype
        # How `forward` is computed; `compute.py` sets these. The engine brings its own attention and is not compiled.
        self.attention: AttentionPath = DensePath()
        self.compiled_block: Callable[..., torch.Tensor] | None = None
        self.compiled_nll: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] | None = None
        self.embedding = Embedding(config.padded_vocab_size, config.width)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.depth))
        self.head = Linear(config.width, config.padded_vocab_size)
        self.residual_scale = nn.Parameter(torch.empty(config.depth))
        self.embedding_scale = nn.Parameter(torch.empty(config.depth))
        if config.value_embedding:
            self.value_embedding = Embedding(config.padded_vocab_size, config.kv_heads * config.head_dim)
            self.value_scale = nn.Parameter(torch.empty(config.depth))
        angles = torch.empty(config.sequence_len, config.head_dim // 2, dtype=torch.complex64)
        self.register_buffer("rope", angles, persistent=False)

    @classmethod
    def create(
        cls, config: GPTConfig, device: torch.device | str = "cpu", compute_dtype: torch.dtype = torch.float32
    ) -> "GPT":
        """Make a model with fresh weights (drawn from torch's global generator) on `device`."""
        model = cls.allocate(config, device, compute_dtype)
        model.init_weights()
        return model

    @classmethod
    def allocate(
        cls, config: GPTConfig, device: torch.device | str = "cpu", compute_dtype: torch.dtype = torch.float32
    ) -> "GPT":
        """Make a model on `device` whose weights are still to be filled (it is built on the meta device first)."""
        with torch.device("meta"):
            model = cls(config, compute_dtype)
        # As `to_empty` does, which imports sympy.
        model._apply(lambda tensor: torch.empty(tensor.shape, dtype=tensor.dtype, device=device))
        model.init_tables()
        return model

    @property
    def device(self) -> torch.device:
        return self.head.weight.device

    @property
    def layers(self) -> list[Block]:
        return cast(list[Block], list(self.blocks))

    @torch.no_grad()
    def init_weights(self) -> None:
        """Fill weights and tables: the head starts near zero, and every layer starts as the identity."""
        bound = math.sqrt(3 / self.config.width)
        nn.init.normal_(self.embedding.weight, std=1.0)
        nn.init.normal_(self.head.weight, std=0.001)
        for block in self.layers:
            nn.init.uniform_(block.qkv.weight, -bound, bound)
            nn.init.uniform_(block.up.weight, -bound, bound)
            nn.init.zeros_(block.attention_out.weight)
            nn.init.zeros_(block.down.weight)
        self.residual_scale.fill_(1.0)
        self.embedding_scale.fill_(0.1)
        if self.config.value_embedding:
            nn.init.normal_(self.value_embedding.weight, std=1.0)
            self.value_scale.fill_(0.5)

    @torch.no_grad()
    def init_tables(self) -> None:
        """Compute the rotary table, which is not stored with the weights."""
        steps = torch.arange(0, self.config.head_dim, 2, dtype=torch.float32, device=self.device)
        frequencies = ROPE_BASE ** (-steps / self.config.head_dim)
        positions = torch.arange(self.config.sequence_len, dtype=torch.float32, device=self.device)
        angles = torch.outer(positions, frequencies)
        self.rope.copy_(torch.polar(torch.ones_like(angles), angles))

    def forward(
        self,
        tokens_BT: torch.Tensor,
        layout: RowLayout | None = None,
        select_N: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return fp32 logits of the next token, (B, T, V); with `select_N` only of these indices into B*T, (N, V).

        `layout` says what packed rows hold; None means that every row is one causal text. Raises ValueError for rows
        longer than the positions.
        """
        return self.logits(self.hidden(tokens_BT, layout, select_N))

    def losses(
        self, tokens_BT: torch.Tensor, targets_BT: torch.Tensor, layout: RowLayout | None = None
    ) -> torch.Tensor:
        """Return -log p of each target, fp32 (B, T); 0 where the target is -1.

        For rows in which nearly all tokens count. Where these are many, the logits are made chunk by chunk, and
        recomputed in the backward pass.
        """
        nll = self.compiled_nll or self.nll
        most = LOGITS_AT_ONCE if self.compiled_nll is None else COMPILED_LOGITS_AT_ONCE
        chunks = 1
        while tokens_BT.numel() * self.config.padded_vocab_size > chunks * most:
            chunks *= 2
        x_NC, targets_N = self.hidden(tokens_BT, layout).flatten(0, 1), targets_BT.flatten()
        if chunks == 1:
            return nll(x_NC, targets_N).view_as(targets_BT)
        nll_N = [
            checkpoint(nll, x_PC, targets_P, use_reentrant=False, preserve_rng_state=False)
            for x_PC, targets_P in zip(x_NC.chunk(chunks), targets_N.chunk(chunks))
        ]
        return torch.cat(nll_N).view_as(targets_BT)

    def hidden(
        self, tokens_BT: torch.Tensor, layout: RowLayout | None = None, select_N: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return the input of the head, (B, T, C) or with `select_N` (N, C), computed as `compute.py` has chosen.

        For `layout` and `select_N` see `forward`.
        """
        num_tokens, device = tokens_BT.shape[1], tokens_BT.device
        if layout is None and num_tokens > self.config.sequence_len:
            raise ValueError(f"{num_tokens} tokens, but the model is made for {self.config.sequence_len}")
        positions_BT = (
            torch.arange(num_tokens, device=device).expand_as(tokens_BT) if layout is None else layout.positions
        )
        attend = self.attention.open(self.config.windows, layout, (tokens_BT.shape[0], num_tokens), device)
        rope_BTD = self.rope[positions_BT]
        if self.compiled_block is None:
            return self.stream(tokens_BT, rope_BTD, attend, select_N=select_N)
        windows = self.config.windows
        same = [windows.index(window) for window in windows]
        x_BTC = self.stream(tokens_BT, torch.view_as_real(rope_BTD), attend, self.compiled_block, same)
        # Compiled code is for one shape, and N is another in each batch.
        return x_BTC if select_N is None else x_BTC.flatten(0, 1)[select_N]

    def trunk(self, tokens_BT: torch.Tensor, positions_BT: torch.Tensor, attend: Attend) -> torch.Tensor:
        """Return the residual stream after the last layer, normalised, (B, T, C)."""
        return self.stream(tokens_BT, self.rope[positions_BT], attend)

    def stream(
        self,
        tokens_BT: torch.Tensor,
        rope_BTD: torch.Tensor,
        attend: Attend,
        call: Callable[..., torch.Tensor] = Block.__call__,
        layers: Sequence[int] | None = None,
        select_N: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Compute `trunk` from the rotary table's entries of the positions, (B, T, D / 2).

        `call` computes a block, which calls `attend` with its number, or with that of `layers`. With `select_N` the
        result is (N, C): the last layer's feed-forward part, which no other position sees, is of these alone. Targets
        are a sixth of the positions in finetuning, so that a network of four layers saves a seventh of its arithmetic.
        """
        start_BTC = norm(self.embedding(tokens_BT).to(self.compute_dtype))
        # Compiled code for a block whose two inputs are one tensor would be that of the first layer alone.
        x_BTC = start_BTC if layers is None else start_BTC.clone()
        numbers, values_BTKD = layers or range(self.config.depth), self.token_values(tokens_BT)
        last = self.config.depth - 1
        for index, (block, scales, layer) in enumerate(zip(self.layers, self.scales(), numbers, strict=True)):
            arguments = (block, x_BTC, start_BTC, scales, rope_BTD, attend, layer, values_BTKD)
            if index == last and select_N is not None:
                return norm(call(*arguments, select_N))
            x_BTC = call(*arguments)
        return norm(x_BTC)

    def scales(self) -> list[Scales]:
        """Return the scalars of each layer in the dtype of the computation."""
        dtype = self.compute_dtype
        values: list[torch.Tensor | None] = [None] * self.config.depth
        if self.config.value_embedding:
            values = list(self.value_scale.to(dtype))
        residual, embedding = self.residual_scale.to(dtype), self.embedding_scale.to(dtype)
        return [Scales(*scales) for scales in zip(residual, embedding, values, strict=True)]

    def token_values(self, tokens_BT: torch.Tensor) -> torch.Tensor | None:
        """Return what every layer adds to its attention values, scaled, (B, T, K, D); None without value embedding."""
        if not self.config.value_embedding:
            return None
        values_BTX = self.value_embedding(tokens_BT).to(self.compute_dtype)
        return norm(values_BTX.unflatten(-1, (-1, self.config.head_dim)))

    def logits(self, x: torch.Tensor, vocabulary: slice | None = None) -> torch.Tensor:
        """Return fp32 logits (..., V) of normed activations (..., C), soft-capped; of `vocabulary` only, if given."""
        if vocabulary is None:  # the padded matrix, whose size suits the kernels
            out = F.linear(x, self.head.weight.to(x.dtype))[..., : self.config.vocab_size]
        else:
            out = F.linear(x, self.head.weight[vocabulary].to(x.dtype))
        return LOGIT_SOFTCAP * torch.tanh(out.float() / LOGIT_SOFTCAP)

    def nll(self, x_NC: torch.Tensor, targets_N: torch.Tensor) -> torch.Tensor:
        """Return -log p of the targets by the head, (N,); 0 where there is none (-1)."""
        return F.cross_entropy(self.logits(x_NC), targets_N, ignore_index=-1, reduction="none")

    def nll_over_padding(self, x_NC: torch.Tensor, targets_N: torch.Tensor) -> torch.Tensor:
        """Return what `nll` does, with the padded columns masked instead of cut off.

        For compiled code on a GPU: then nothing between the head and its gradient changes its shape, and the gradient
        of the logits is not laid out once more in fp32.
        """
        out = F.linear(x_NC, self.head.weight.to(x_NC.dtype)).float()
        real_V = torch.arange(out.shape[-1], device=out.device) < self.config.vocab_size
        logits_NV = torch.where(real_V, LOGIT_SOFTCAP * torch.tanh(out / LOGIT_SOFTCAP), -torch.inf)
        return F.cross_entropy(logits_NV, targets_N, ignore_index=-1, reduction="none")

    def matrix_rows(self) -> dict[str, tuple[int, ...]]:
        """Return the row counts of the stacked matrices in each weight that Muon updates, by parameter name."""
        return {
            f"blocks.{layer}.{name}": rows
            for layer, block in enumerate(self.layers)
            for name, rows in block.matrix_rows().items()
        }

    def num_parameters(self) -> int:
        return sum(parameter.numel() for parameter in self.parameters())

    def describe(self) -> str:
        """Describe parameters and shape."""
        config = self.config
        heads = f"{config.num_heads} heads of {config.head_dim}"
        if config.kv_heads != config.num_heads:
            heads += f" on {config.kv_heads} keys and values"
        return (
            f"{self.num_parameters():,} parameters: depth {config.depth}, width {config.width}, {heads}, "
            f"windows {config.window_pattern}, sequence {config.sequence_len}, vocabulary {config.vocab_size:,}"
        )
