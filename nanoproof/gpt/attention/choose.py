"""Which attention path is used, and why.

FlashAttention-3 needs a Hopper GPU and the package `flash_attn_interface`, whose kernels torch then calls under its own
varlen attention; varlen attention needs a GPU of capability 8.0 and half precision; FlexAttention needs CUDA and
Triton; SDPA runs everywhere, on whole rows or on the examples that were packed into them. None of the paths for GPUs
has been run yet.
"""

import importlib
import importlib.util
from collections.abc import Callable

import torch

from nanoproof.common.errors import UserError
from nanoproof.gpt.attention.contract import AttentionPath
from nanoproof.gpt.attention.dense import DensePath
from nanoproof.gpt.attention.flex import FlexPath
from nanoproof.gpt.attention.unpacked import UnpackedPath
from nanoproof.gpt.attention.varlen import VarlenPath

HALF = (torch.bfloat16, torch.float16)
FA3_PACKAGE = "flash_attn_interface"


def missing_for_flash(device: torch.device, dtype: torch.dtype) -> str | None:
    if device.type != "cuda":
        return f"it needs a CUDA device, this is {device.type}"
    if dtype not in HALF:
        return f"it needs bfloat16 or float16, this is {str(dtype).removeprefix('torch.')}"
    capability = torch.cuda.get_device_capability(device)
    if capability < (8, 0):
        return f"it needs a GPU of capability 8.0, this one has {capability[0]}.{capability[1]}"
    return None


def _missing_for_fa3(device: torch.device, dtype: torch.dtype) -> str | None:
    problem = missing_for_flash(device, dtype)
    if problem is not None:
        return problem
    if torch.cuda.get_device_capability(device)[0] != 9:
        return f"it needs a Hopper GPU, this is {torch.cuda.get_device_name(device)}"
    try:
        importlib.import_module(FA3_PACKAGE)
        operators = torch.ops.flash_attn_3 if hasattr(torch.ops, "flash_attn_3") else None
        if not (hasattr(operators, "fwd") and hasattr(operators, "bwd")):
            return f"the package {FA3_PACKAGE} has no kernels that torch can take"
    except ModuleNotFoundError:
        return f"the package {FA3_PACKAGE} is not installed"
    except (ImportError, OSError, RuntimeError) as error:  # built for another torch or CUDA, say
        return f"the package {FA3_PACKAGE} cannot be loaded: {error}"
    return None


def _missing_for_flex(device: torch.device, dtype: torch.dtype) -> str | None:
    if device.type != "cuda":
        return f"torch has no backward pass of it on {device.type}"
    if importlib.util.find_spec("triton") is None:
        return "Triton is not installed"
    return None


# What is missing to use a path (None: nothing), in the order in which `auto` tries them on a GPU.
MISSING: dict[str, Callable[[torch.device, torch.dtype], str | None]] = {
    "fa3": _missing_for_fa3,
    "varlen": missing_for_flash,
    "flex": _missing_for_flex,
    "sdpa": lambda device, dtype: None,
    "unpacked": lambda device, dtype: None,
}
ATTENTION_CHOICES = ("auto", *MISSING)
SHAPES_DIFFER = "unpacked"
"""The path whose shapes differ from batch to batch: not for compiled code."""


def choose_attention(
    device: torch.device, dtype: torch.dtype, wanted: str = "auto", compiled: bool = False
) -> tuple[str, str]:
    """The path for `--attention` and the reason. Raises UserError if the one that was asked for is not available."""
    if wanted != "auto":
        problem = MISSING[wanted](device, dtype)
        if problem is not None:
            raise UserError(f"--attention {wanted}: {problem}")
        return wanted, "asked for"
    if device.type != "cuda":
        reason = f"the flash kernels need a CUDA device, this is {device.type}"
        return "sdpa" if compiled or device.type != "cpu" else "unpacked", reason
    refused: list[str] = []
    for name, missing in MISSING.items():
        problem = missing(device, dtype)
        if problem is None:
            break
        refused.append(f"not {name}: {problem}")
    return name, "; ".join(refused) or "the fastest there is"


def make_path(name: str) -> AttentionPath:
    """The path of that name, which `choose_attention` found to be available."""
    from torch.nn.attention import activate_flash_attention_impl, restore_flash_attention_impl

    if name == "fa3":
        activate_flash_attention_impl("FA3")
    else:
        restore_flash_attention_impl(_raise_warn=False)
    if name in ("fa3", "varlen"):
        return VarlenPath()
    if name == "flex":
        return FlexPath()
    return UnpackedPath() if name == "unpacked" else DensePath()
