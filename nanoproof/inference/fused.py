"""The network as decoding and prefill compute it on a GPU: matrix products, and a Triton kernel between any two.

`Block.forward`, `decode.py` and `sampling.py` are the reference, and the way on CPUs, where Triton does not work, and
with `--engine-kernels off`. Which tables say what a row sees, and which slots hold its keys and values, is the same for
both: steps of one kind can follow steps of the other.

Shapes: N rows, S slots, H query heads, J key/value heads, D head size, V tokens, W width.
"""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F

from nanoproof.inference.kv_cache import SlotPool
from nanoproof.model.attention import Attend
from nanoproof.model.compute import missing_for_triton
from nanoproof.model.gpt import GPT, VOCAB_MULTIPLE, norm

DTYPES = (torch.bfloat16, torch.float16, torch.float32)
LEAST_CAPABILITY = (8, 0)  # of Ampere: the first with bf16

FusedAttend = Callable[[int, torch.Tensor, torch.Tensor | None], torch.Tensor | None]
"""Attention of a layer: from its number, the product (N, (H + 2 J) D) and what is added to values, before scaling; None
where nothing after it is needed."""


def missing_for_kernels(device: torch.device, dtype: torch.dtype) -> str | None:
    """Return why the kernels cannot be used for a network; None if they can. Triton's interpreter has them on a CPU."""
    if dtype not in DTYPES:
        return f"they are for 16 and 32 bits, this is {str(dtype).removeprefix('torch.')}"
    if device.type == "cuda":
        capability = torch.cuda.get_device_capability(device)
        if capability < LEAST_CAPABILITY:
            return f"they need a GPU of capability 8.0, this one has {capability[0]}.{capability[1]}"
        return missing_for_triton()
    problem = f"they need a CUDA device, this is {device.type}"
    # Imported here: Triton is not there on every system.
    try:
        from nanoproof.inference.triton_kernels import interpreted
    except ImportError:
        return problem
    if interpreted():
        return None
    return problem


class FusedNetwork:
    """The trunk of a network in few kernels. It reads the network's weights where they are, in its dtype."""

    def __init__(self, network: GPT) -> None:
        from nanoproof.inference import triton_kernels

        self.kernels, self._network = triton_kernels, network
        self._rope = torch.view_as_real(network.rope)  # Triton knows no complex numbers
        self._scales: torch.Tensor | None = None
        if network.config.value_embedding:
            self._scales = network.value_scale

    def trunk(self, tokens_N: torch.Tensor, attend: FusedAttend) -> torch.Tensor | None:
        """Return the residual stream after the last layer, normalised, (N, W): what `GPT.trunk` does."""
        network, kernels = self._network, self.kernels
        dtype, size = network.compute_dtype, network.config.head_dim
        start = x_NW = kernels.embed(tokens_N, network.embedding.weight, network.config.width, dtype)
        values = None
        if network.config.value_embedding:
            values = kernels.embed(tokens_N, network.value_embedding.weight, size, dtype)
        for layer, block in enumerate(network.layers):
            x_NW, y = kernels.mix(x_NW, start, network.residual_scale, network.embedding_scale, layer)
            attended = attend(layer, F.linear(y, block.qkv.weight.to(dtype)), values)
            if attended is None:
                return None
            # Products are added to the stream as they are made, before they are rounded.
            x_NW.addmm_(attended, block.attention_out.weight.to(dtype).t())
            raised = kernels.square_relu(F.linear(norm(x_NW), block.up.weight.to(dtype)))
            x_NW.addmm_(raised, block.down.weight.to(dtype).t())
        return norm(x_NW)

    def logits(self, x_NW: torch.Tensor, num_tokens: int) -> torch.Tensor:
        """Return logits (N, V) in the network's dtype, not capped, of the first `num_tokens` tokens at least.

        V is a multiple of 64, which suits the kernels of matrix products.
        """
        columns = -(-num_tokens // VOCAB_MULTIPLE) * VOCAB_MULTIPLE
        return F.linear(x_NW, self._network.head.weight[:columns].to(x_NW.dtype))

    def split_attend(self, positions_N: torch.Tensor, attend: Attend) -> FusedAttend:
        """Return attention that gets queries, keys and values from a kernel, and need not answer in the last layer."""
        config, last = self._network.config, len(self._network.layers) - 1

        def fused(layer: int, qkv: torch.Tensor, values: torch.Tensor | None) -> torch.Tensor | None:
            q, k, v = self.kernels.project(
                qkv, values, self._scales, self._rope, positions_N, layer, config.num_heads, config.kv_heads
            )
            y = attend(layer, q.unsqueeze(0), k.unsqueeze(0), v.unsqueeze(0))
            if layer == last:
                return None
            return y[0].flatten(1)

        return fused

    def decode_attend(
        self,
        pools: Sequence[SlotPool],
        slots: Sequence[int],
        rows_5N: torch.Tensor,
        slots_4S: torch.Tensor,
    ) -> FusedAttend:
        """Return attention of decoding; of each pool so many slots take part, in the order of `slots_4S`."""
        config, windows = self._network.config, self._network.config.windows
        # Rows of padding have no slot and get zeros: one buffer serves all layers, whose products read it at once.
        out = torch.zeros(
            rows_5N.shape[1], config.width, dtype=self._network.compute_dtype, device=self._network.device
        )
        tables = [part.contiguous() for part in slots_4S.split(list(slots), dim=1)]

        def fused(layer: int, qkv: torch.Tensor, values: torch.Tensor | None) -> torch.Tensor:
            for pool, table in zip(pools, tables, strict=True):
                self.kernels.decode_attention(
                    qkv,
                    values,
                    self._scales,
                    self._rope,
                    rows_5N,
                    table,
                    pool.keys_LSJDC[layer],
                    pool.values_LSJCD[layer],
                    pool.bias_SQC,
                    pool.positions_SC,
                    out,
                    layer,
                    windows[layer],
                )
            return out

        return fused
