"""How the forward pass is computed on a device: which attention, compiled or not, 8-bit products or not, and why."""

import importlib.util
import logging
import os
import shutil
from dataclasses import dataclass
from typing import Any

import torch

from nanoproof.common.errors import UserError
from nanoproof.gpt.attention.choose import SHAPES_DIFFER, choose_attention, make_path
from nanoproof.gpt.fp8 import convert_to_fp8, missing_for_fp8
from nanoproof.gpt.model import GPT

log = logging.getLogger(__name__)

COMPILE_CHOICES = ("auto", "on", "off")
# A forward is compiled once for training and once for evaluation, and again when the sizes of packed batches grow.
RECOMPILE_LIMIT = 64


@dataclass(frozen=True)
class Compute:
    """What was chosen, each with its reason."""

    attention: str
    attention_reason: str
    compiled: bool
    compiled_reason: str
    fp8: bool
    fp8_reason: str

    def decisions(self) -> dict[str, str]:
        """For `meta.json` and the log."""
        return {
            "attention": f"{self.attention} ({self.attention_reason})",
            "compile": f"{'on' if self.compiled else 'off'} ({self.compiled_reason})",
            "fp8": f"{'on' if self.fp8 else 'off'} ({self.fp8_reason})",
        }

    def apply(self, model: GPT) -> None:
        """Have `model.forward` computed like this. Parameters and their names stay as they are.

        Raises UserError if the model's sizes do not suit the flash kernels or 8-bit products.
        """
        head_dim = model.config.head_dim
        if self.attention in ("fa3", "varlen") and (head_dim % 8 or head_dim > 256):
            raise UserError(
                f"--attention {self.attention} wants heads whose size is a multiple of 8 up to 256, not {head_dim}; "
                "give --attention sdpa"
            )
        model.attention = make_path(self.attention)
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
    path, path_reason = choose_attention(device, dtype, attention, on)
    if device.type == "cuda" and attention == "auto" and path not in ("fa3", "varlen"):
        log.warning("no flash kernel for packed rows, attention is %s: %s", path, path_reason)
    problem = missing_for_fp8(device, dtype) if fp8 else None
    if problem is not None:
        raise UserError(f"--fp8: {problem}")
    return Compute(path, path_reason, on, reason, fp8, "asked for" if fp8 else "not asked for")


def choose_compile(device: torch.device, wanted: str) -> tuple[bool, str]:
    """Whether to compile, for `--compile`, and the reason. Raises UserError if it is asked for and cannot be done."""
    if wanted == "off":
        return False, "asked for"
    if wanted == "auto" and device.type != "cuda":
        return False, f"auto compiles on CUDA only, this is {device.type}"
    problem = None
    if device.type == "cuda" and importlib.util.find_spec("triton") is None:
        problem = "Triton is not installed"
    if device.type == "cpu" and not any(map(shutil.which, (os.environ.get("CXX", "g++"), "g++", "clang++"))):
        problem = "there is no C++ compiler"
    if problem is None:
        return True, "asked for" if wanted == "on" else "CUDA device"
    if wanted == "on":
        raise UserError(f"--compile on: {problem}")
    log.warning("the model is not compiled: %s", problem)
    return False, problem


def compile_model(model: GPT, backend: str = "inductor", fullgraph: bool = False) -> None:
    """Compile the trunk of `model.forward`, and the head of `model.losses`, for fixed shapes.

    The head of `model.forward` is not compiled: for how many tokens it is differs from batch to batch.
    """
    options = {"backend": backend, "dynamic": False, "fullgraph": fullgraph, "recompile_limit": RECOMPILE_LIMIT}
    compiler: Any = torch.compile
    model.compiled_stream = compiler(model.stream, **options)
    model.compiled_nll = compiler(model.nll, **options)
