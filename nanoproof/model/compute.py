"""How the forward pass is computed (attention path, compilation, 8-bit floats), and how many FLOPs it takes.

Each choice is made once, with its reason (`choose_compute`), and applied to a model (`Compute.apply`).
"""

import importlib.util
import inspect
import logging
import os
import re
import shutil
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F

from nanoproof.common.errors import UserError
from nanoproof.common.run_dir import home
from nanoproof.model.attention import RowLayout, window_mask
from nanoproof.model.flash_attention import SHAPES_DIFFER, choose_attention, make_path
from nanoproof.model.gpt import GPT, Block, GPTConfig, Linear
from nanoproof.model.lora import settings_of

log = logging.getLogger(__name__)

# -- 8-bit floats (fp8) ----------------------------------------------------------------------------------------------
# Each tensor is scaled as a whole, anew each time, so that its largest entry is the largest number of the format
# ("dynamic tensorwise scaling"): e4m3 for activations and weights, e5m2, of wider range, for gradients (Micikevicius et
# al. 2022, arXiv:2209.05433). Weights stay fp32 and are rounded to 8 bits where they are used; products accumulate in
# fp32. On an H200 products differ from those in bf16 by 6%, and a network of 20 layers trains 1.14 times as fast.
# Shapes: N tokens, I input features, O output features.

FP8_FORWARD, FP8_GRADIENT = torch.float8_e4m3fn, torch.float8_e5m2
# The fp8 kernels want all sizes to be multiples of this.
FP8_MULTIPLE = 16
FP8_MIN_SCALE = 1e-12


def quantize(x: torch.Tensor, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Round to 8-bit floats; returns them and the fp32 scale by which they are to be multiplied."""
    largest = torch.finfo(dtype).max
    scale = (x.detach().abs().amax().float() / largest).clamp(min=FP8_MIN_SCALE)
    return (x.float() / scale).clamp(-largest, largest).to(dtype), scale


def scaled_product(
    a: torch.Tensor,
    b: torch.Tensor,
    scale_a: torch.Tensor,
    scale_b: torch.Tensor,
    out_dtype: torch.dtype,
    fast: bool = False,
) -> torch.Tensor:
    """Multiply 8-bit matrices, `a @ b`; the kernel reads `a` by rows and `b` by columns and wants them laid out so.

    `fast` lets the tensor cores add up with fewer bits, which a GPU does at up to twice the speed.
    """
    by_columns = b.t().contiguous().t()
    return torch._scaled_mm(
        a.contiguous(), by_columns, scale_a=scale_a, scale_b=scale_b, out_dtype=out_dtype, use_fast_accum=fast
    )


class _Float8Linear(torch.autograd.Function):
    """y = x w^T, and its two gradients, each a product of 8-bit matrices."""

    @staticmethod
    def forward(ctx: Any, x_NI: torch.Tensor, weight_OI: torch.Tensor) -> torch.Tensor:
        (x8, x_scale), (w8, w_scale) = quantize(x_NI, FP8_FORWARD), quantize(weight_OI, FP8_FORWARD)
        ctx.save_for_backward(x8, x_scale, w8, w_scale)
        ctx.weight_dtype = weight_OI.dtype
        return scaled_product(x8, w8.t(), x_scale, w_scale, x_NI.dtype, fast=True)  # gradients need the bits more

    @staticmethod
    def backward(ctx: Any, grad_NO: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x8, x_scale, w8, w_scale = ctx.saved_tensors
        g8, g_scale = quantize(grad_NO, FP8_GRADIENT)
        grad_x = scaled_product(g8, w8, g_scale, w_scale, grad_NO.dtype)
        grad_weight = scaled_product(g8.t(), x8, g_scale, x_scale, ctx.weight_dtype)
        return grad_x, grad_weight


class Float8Linear(Linear):
    """A linear layer that multiplies in 8-bit floats; the weight is the fp32 parameter of the layer it replaces."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x_NI = x.flatten(0, -2)
        missing = -x_NI.shape[0] % FP8_MULTIPLE
        if missing:
            x_NI = F.pad(x_NI, (0, 0, 0, missing))
        y_NO = _Float8Linear.apply(x_NI, self.weight)
        return y_NO[: y_NO.shape[0] - missing].unflatten(0, x.shape[:-1])


def missing_for_fp8(device: torch.device, dtype: torch.dtype) -> str | None:
    """Return why 8-bit products cannot be used on a device; None if they can."""
    if device.type != "cuda":
        return f"it needs a CUDA device, this is {device.type}"
    capability = torch.cuda.get_device_capability(device)
    if capability < (8, 9):
        return f"it needs a GPU of capability 8.9 (Ada, Hopper), this one has {capability[0]}.{capability[1]}"
    if dtype != torch.bfloat16:
        return f"it needs bfloat16 beside it, this is {str(dtype).removeprefix('torch.')}"
    return None


def convert_to_fp8(model: GPT) -> int:
    """Replace the linear layers of the blocks, keeping their parameters (and names); returns how many.

    Raises ValueError if a size does not suit the kernels, and for a model with adapters.
    """
    if settings_of(model) is not None:
        raise ValueError("not with adapters (--lora)")
    layers = [(block, name, child) for block in model.layers for name, child in block.named_children()]
    for _, name, linear in layers:
        assert isinstance(linear, Linear)
        for size in (linear.in_features, linear.out_features):
            if size % FP8_MULTIPLE:
                raise ValueError(f"the sizes of {name} must be multiples of {FP8_MULTIPLE}, got {size}")
    for block, name, linear in layers:
        assert isinstance(linear, Linear)
        with torch.device("meta"):
            replacement = Float8Linear(linear.in_features, linear.out_features)
        replacement.weight = linear.weight
        setattr(block, name, replacement)
    return len(layers)


# -- The choice of attention path, compilation and fp8 ---------------------------------------------------------------

# A forward is compiled once for training and once for evaluation, and again when the sizes of packed batches grow.
RECOMPILE_LIMIT = 64


@dataclass(frozen=True)
class Compute:
    """The choices for the forward pass, each with its reason."""

    attention: str
    attention_reason: str
    compiled: bool
    compiled_reason: str
    fp8: bool
    fp8_reason: str

    def decisions(self) -> dict[str, str]:
        """Describe each choice with its reason, for `meta.json` and the log."""
        return {
            "attention": f"{self.attention} ({self.attention_reason})",
            "compile": f"{'on' if self.compiled else 'off'} ({self.compiled_reason})",
            "fp8": f"{'on' if self.fp8 else 'off'} ({self.fp8_reason})",
        }

    def apply(self, model: GPT) -> None:
        """Set up a model so that `model.forward` is computed like this; parameters and their names stay.

        Raises UserError if the model's sizes do not suit the flash kernels or 8-bit products.
        """
        head_dim = model.config.head_dim
        if self.attention in ("fa3", "varlen") and (head_dim % 8 or head_dim > 256):
            raise UserError(
                f"--attention {self.attention} wants heads whose size is a multiple of 8 up to 256, not {head_dim}; "
                "give --attention sdpa"
            )
        model.attention = make_path(self.attention, self.compiled)
        if self.fp8:
            try:
                convert_to_fp8(model)
            except ValueError as error:
                raise UserError(f"--fp8: {error}") from error
        if self.compiled:
            compile_model(model)


def choose_compute(
    device: torch.device, dtype: torch.dtype, attention: str = "auto", compiled: str = "auto", fp8: bool = False
) -> Compute:
    """Decide for `--attention`, `--compile` and `--fp8`. Raises UserError if what was asked for is not available."""
    on, reason = choose_compile(device, compiled)
    if on and attention == SHAPES_DIFFER:
        if compiled == "on":
            raise UserError(f"--compile on is for fixed shapes, those of --attention {SHAPES_DIFFER} differ")
        on, reason = False, f"the shapes of --attention {SHAPES_DIFFER} differ from batch to batch"
    if on:
        # Else compiled code is in a folder for temporary files, which torch notes here once its compiler is imported.
        os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(home() / "cache" / "compiled"))
    path, path_reason = choose_attention(device, dtype, attention, on)
    if device.type == "cuda" and attention == "auto" and path not in ("fa3", "varlen"):
        log.warning("no flash kernel for packed rows, attention is %s: %s", path, path_reason)
    problem = missing_for_fp8(device, dtype) if fp8 else None
    if problem is not None:
        raise UserError(f"--fp8: {problem}")
    return Compute(path, path_reason, on, reason, fp8, "asked for" if fp8 else "not asked for")


def choose_compile(device: torch.device, wanted: str) -> tuple[bool, str]:
    """Decide for `--compile`; returns the decision and its reason. Raises UserError for `on` where it is impossible."""
    if wanted == "off":
        return False, "asked for"
    if wanted == "auto" and device.type != "cuda":
        return False, f"auto compiles on CUDA only, this is {device.type}"
    problem = missing_for_triton() if device.type == "cuda" else None
    if device.type == "cpu" and not any(map(shutil.which, (os.environ.get("CXX", "g++"), "g++", "clang++"))):
        problem = "there is no C++ compiler"
    if problem is None:
        return True, "asked for" if wanted == "on" else "CUDA device"
    if wanted == "on":
        raise UserError(f"--compile on: {problem}")
    log.warning("the model is not compiled: %s", problem)
    return False, problem


def missing_for_triton() -> str | None:
    """Return what Triton lacks to compile its C module for the driver, which it does at first use; None if nothing."""
    if importlib.util.find_spec("triton") is None:
        return "Triton is not installed (pip install triton)"
    if not any(map(shutil.which, (os.environ.get("CC", "gcc"), "gcc", "clang"))):
        return "Triton needs a C compiler and there is none (apt install gcc)"
    if not (Path(sysconfig.get_paths()["include"]) / "Python.h").is_file():
        return "Triton needs Python.h, which is not installed (apt install python3-dev)"
    return None


def compile_model(model: GPT, backend: str = "inductor", fullgraph: bool = False) -> None:
    """Compile the blocks of `model.forward`, and the head of `model.losses`, for fixed shapes.

    All blocks of one window share their code, so that compiling takes as long for many layers as for few. The head of
    `model.forward` is not compiled: for how many tokens it is differs from batch to batch.
    """
    options: dict[str, Any] = {"backend": backend, "dynamic": False, "fullgraph": fullgraph}
    if "recompile_limit" in inspect.signature(torch.compile).parameters:
        options["recompile_limit"] = RECOMPILE_LIMIT
    else:  # torch before 2.12 has it for the whole process only
        torch._dynamo.config.recompile_limit = RECOMPILE_LIMIT
    compiler: Any = torch.compile
    model.compiled_block = compiler(Block.forward, **options)
    model.compiled_nll = compiler(model.nll_over_padding if model.device.type == "cuda" else model.nll, **options)


# -- FLOPs and model FLOPs utilisation (MFU) -------------------------------------------------------------------------
# Counted is what the result needs: 2 operations per weight and token in the forward pass and 4 in the backward pass,
# and in attention only the pairs of tokens that see each other (not the masked half, and no pair beyond a window),
# 4 * D per head and pair forward and twice that backward. So the shares are smaller than where whole squares are
# counted. Left out are normalisation, rotary positions, softmax, and everything that is recomputed to save memory.

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
    """Count the weights that each token is multiplied with: attention and feed-forward of all layers, and the head."""
    width, kv_width = config.width, config.kv_heads * config.head_dim
    return {
        "attention": config.depth * (2 * width + 2 * kv_width) * width,
        "feed_forward": config.depth * 8 * width * width,
        "head": config.vocab_size * width,
    }


def causal_pairs(length: int, window: int) -> int:
    """Count the pairs (query, key) of a causal text of `length` tokens in which the key is less than `window` back."""
    full = min(length, window)
    return full * (full + 1) // 2 + (length - full) * window


def layout_pairs(layout: RowLayout, windows: Sequence[int]) -> list[int]:
    """Count the pairs (query, key) of packed rows that see each other, for each layer; padding does not count."""
    mask = layout.mask() & (layout.segments > 0).unsqueeze(2)
    pairs = {window: int(window_mask(mask, layout.positions, window).sum()) for window in set(windows)}
    return [pairs[window] for window in windows]


def training_flops(config: GPTConfig, tokens: int, logits: int, pairs: Sequence[int]) -> float:
    """Return the FLOPs of forward and backward over `tokens` tokens, with logits of `logits` of them.

    `pairs[layer]` is the number of pairs (query, key) that see each other in the batch.
    """
    weights = matrix_parameters(config)
    matrices = 6 * (weights["attention"] + weights["feed_forward"]) * tokens + 6 * weights["head"] * logits
    return float(matrices + 12 * config.num_heads * config.head_dim * sum(pairs))


def flops_per_token(config: GPTConfig, length: int | None = None) -> float:
    """Return the FLOPs of forward and backward per token of causal rows of `length` tokens (default: the longest)."""
    length = config.sequence_len if length is None else length
    pairs = [causal_pairs(length, window) for window in config.windows]
    return training_flops(config, length, length, pairs) / length


def peak_flops(device_name: str) -> float | None:
    """Return the dense bf16 peak of a GPU in FLOP/s; None if it is not in the table (as laptop GPUs of these names)."""
    if "laptop" in device_name.lower():
        return None
    return next((peak for words, peak in PEAK_FLOPS if re.search(rf"\b{words}\b", device_name)), None)


def device_peak_flops(device: torch.device) -> float | None:
    """Return the dense bf16 peak of a torch device in FLOP/s; None for all but CUDA devices of the table."""
    return peak_flops(torch.cuda.get_device_name(device)) if device.type == "cuda" else None


def mfu(flops: float, seconds: float, peak: float | None, devices: int = 1) -> float | None:
    """Return the share of all devices' peak that `flops` in `seconds` make; None where the peak is not known."""
    return None if peak is None or seconds <= 0 else flops / seconds / (peak * devices)
