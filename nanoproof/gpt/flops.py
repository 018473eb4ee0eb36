"""How much arithmetic a training step is, and which share of a GPU's peak that makes (MFU).

Counted is what the result needs: 2 operations per weight and token in the forward pass and 4 in the backward pass, and
in attention only the pairs of tokens that see each other (not the masked half, and no pair beyond a window), 4 * D per
head and pair forward and twice that backward. So the shares are smaller than where whole squares are counted. Left out
are normalisation, rotary positions, softmax, and everything that is computed twice to save memory.
"""

import re
from collections.abc import Sequence

import torch

from nanoproof.gpt.attention.dense import window_mask
from nanoproof.gpt.layout import RowLayout
from nanoproof.gpt.model import GPT, GPTConfig

# Dense bf16 FLOP/s (adding up in fp32) by words of the device's name, as the maker gives them; the first that fits.
PEAK_FLOPS = (
    ("GB200", 2.5e15),
    ("B200", 2.25e15),
    ("GH200", 989e12),
    ("H200 NVL", 835e12),
    ("H200", 989e12),
    ("H100 NVL", 835e12),
    ("H100 PCIe", 756e12),
    ("H100", 989e12),
    ("H800 PCIe", 756e12),
    ("H800", 989e12),
    ("A100", 312e12),
    ("A800", 312e12),
    ("A40", 149.7e12),
    ("A30", 165e12),
    ("A10", 125e12),
    ("L40S", 362e12),
    ("L40", 181e12),
    ("L4", 121e12),
    ("RTX 5090", 209.5e12),
    ("RTX 4090", 165.2e12),
    ("RTX 3090", 71e12),
)


def matrix_parameters(config: GPTConfig) -> dict[str, int]:
    """Weights that each token is multiplied with: attention and feed-forward of all layers, and the head."""
    width, kv_width = config.width, config.kv_heads * config.head_dim
    return {
        "attention": config.depth * (2 * width + 2 * kv_width) * width,
        "feed_forward": config.depth * 8 * width * width,
        "head": config.vocab_size * width,
    }


def parameter_counts(model: GPT) -> dict[str, int]:
    """Parameters of the model by kind; their sum is `model.num_parameters()`."""
    counts = {"embedding": 0, "value_embedding": 0, "head": 0, "attention": 0, "feed_forward": 0, "scalars": 0}
    kinds = {"qkv": "attention", "attention_out": "attention", "up": "feed_forward", "down": "feed_forward"}
    for name, parameter in model.named_parameters():
        parts = name.split(".")
        kind = kinds[parts[2]] if parts[0] == "blocks" else parts[0]
        counts[kind if kind in counts else "scalars"] += parameter.numel()
    return counts


def causal_pairs(length: int, window: int) -> int:
    """Pairs (query, key) of a causal text of `length` tokens in which the key is less than `window` back."""
    full = min(length, window)
    return full * (full + 1) // 2 + (length - full) * window


def layout_pairs(layout: RowLayout, windows: Sequence[int]) -> list[int]:
    """For each layer, the pairs of packed rows that see each other; padding counts for nothing."""
    mask = layout.mask() & (layout.segments > 0).unsqueeze(2)
    pairs = {window: int(window_mask(mask, layout.positions, window).sum()) for window in set(windows)}
    return [pairs[window] for window in windows]


def training_flops(config: GPTConfig, tokens: int, logits: int, pairs: Sequence[int]) -> float:
    """Forward and backward over `tokens` tokens, with logits of `logits` of them; `pairs[layer]` as above."""
    weights = matrix_parameters(config)
    matrices = 6 * (weights["attention"] + weights["feed_forward"]) * tokens + 6 * weights["head"] * logits
    return float(matrices + 12 * config.num_heads * config.head_dim * sum(pairs))


def flops_per_token(config: GPTConfig, length: int | None = None) -> float:
    """Forward and backward for a token of causal rows of `length` tokens (default: the longest), all with logits."""
    length = config.sequence_len if length is None else length
    pairs = [causal_pairs(length, window) for window in config.windows]
    return training_flops(config, length, length, pairs) / length


def peak_flops(device_name: str) -> float | None:
    """Dense bf16 peak of a GPU in FLOP/s; None if it is not in the table (as GPUs of laptops, of the same names)."""
    if "laptop" in device_name.lower():
        return None
    return next((peak for words, peak in PEAK_FLOPS if re.search(rf"\b{words}\b", device_name)), None)


def device_peak_flops(device: torch.device) -> float | None:
    """The same for a torch device; None for all but CUDA devices of the table."""
    return peak_flops(torch.cuda.get_device_name(device)) if device.type == "cuda" else None


def mfu(flops: float, seconds: float, peak: float | None, devices: int = 1) -> float | None:
    """Share of the peak of all devices that `flops` in `seconds` make; None where the peak is not known."""
    return None if peak is None or seconds <= 0 else flops / seconds / (peak * devices)
