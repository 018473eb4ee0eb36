"""Matrix products in 8-bit floats, for GPUs that have them (Hopper, Ada): the big linear layers of the trunk.

Each tensor is scaled as a whole, anew each time, so that its largest entry is the largest number of the format
("dynamic tensorwise scaling"): e4m3 for activations and weights, e5m2, of wider range, for gradients (Micikevicius et
al. 2022, arXiv:2209.05433). Weights stay fp32 and are rounded to 8 bits where they are used; products add up in fp32.

Shapes: N tokens, I input features, O output features.

The arithmetic is tested on CPU; on a GPU it has not been run yet.
"""

from typing import Any

import torch
import torch.nn.functional as F

from nanoproof.gpt.model import GPT, Linear

FORWARD, GRADIENT = torch.float8_e4m3fn, torch.float8_e5m2
# The kernels want all sizes to be multiples of this.
MULTIPLE = 16
SMALLEST_SCALE = 1e-12


def quantize(x: torch.Tensor, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """8-bit floats and the fp32 scale by which they are to be multiplied."""
    largest = torch.finfo(dtype).max
    scale = (x.detach().abs().amax().float() / largest).clamp(min=SMALLEST_SCALE)
    return (x.float() / scale).clamp(-largest, largest).to(dtype), scale


def scaled_product(
    a: torch.Tensor, b: torch.Tensor, scale_a: torch.Tensor, scale_b: torch.Tensor, out_dtype: torch.dtype
) -> torch.Tensor:
    """`a @ b` of 8-bit matrices; the kernel reads `a` by rows and `b` by columns, so they are laid out like that."""
    by_columns = b.t().contiguous().t()
    return torch._scaled_mm(a.contiguous(), by_columns, scale_a=scale_a, scale_b=scale_b, out_dtype=out_dtype)


class _Float8Linear(torch.autograd.Function):
    """y = x w^T, and its two gradients, each a product of 8-bit matrices."""

    @staticmethod
    def forward(ctx: Any, x_NI: torch.Tensor, weight_OI: torch.Tensor) -> torch.Tensor:
        (x8, x_scale), (w8, w_scale) = quantize(x_NI, FORWARD), quantize(weight_OI, FORWARD)
        ctx.save_for_backward(x8, x_scale, w8, w_scale)
        ctx.weight_dtype = weight_OI.dtype
        return scaled_product(x8, w8.t(), x_scale, w_scale, x_NI.dtype)

    @staticmethod
    def backward(ctx: Any, grad_NO: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x8, x_scale, w8, w_scale = ctx.saved_tensors
        g8, g_scale = quantize(grad_NO, GRADIENT)
        grad_x = scaled_product(g8, w8, g_scale, w_scale, grad_NO.dtype)
        grad_weight = scaled_product(g8.t(), x8, g_scale, x_scale, ctx.weight_dtype)
        return grad_x, grad_weight


class Float8Linear(Linear):
    """A linear layer that multiplies in 8-bit floats; the weight is the fp32 parameter of the layer it replaces."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x_NI = x.flatten(0, -2)
        missing = -x_NI.shape[0] % MULTIPLE
        if missing:
            x_NI = F.pad(x_NI, (0, 0, 0, missing))
        y_NO = _Float8Linear.apply(x_NI, self.weight)
        return y_NO[: y_NO.shape[0] - missing].unflatten(0, x.shape[:-1])


def missing_for_fp8(device: torch.device, dtype: torch.dtype) -> str | None:
    """Why 8-bit products cannot be used here; None if they can."""
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

    Raises ValueError if a size does not suit the kernels.
    """
    layers = [(block, name, child) for block in model.layers for name, child in block.named_children()]
    for _, name, linear in layers:
        assert isinstance(linear, Linear)
        for size in (linear.in_features, linear.out_features):
            if size % MULTIPLE:
                raise ValueError(f"the sizes of {name} must be multiples of {MULTIPLE}, got {size}")
    for block, name, linear in layers:
        assert isinstance(linear, Linear)
        with torch.device("meta"):
            replacement = Float8Linear(linear.in_features, linear.out_features)
        replacement.weight = linear.weight
        setattr(block, name, replacement)
    return len(layers)
