"""Hold every way to compute attention, 8-bit products and decoding on this device against the plain one.

    python -m benchmarks.gpu_parity --device-type cuda        # on a CPU: the paths that there are

Attention: output and gradients of packed rows, with windows, against one mask over whole rows in fp32 on the CPU.
8-bit products: against bf16. Decoding: recorded steps and Triton kernels against neither, the values of 32 states.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from benchmarks.measurement import parser_of
from nanoproof.common.config import from_args, group, opt, validated
from nanoproof.common.distributed import choose_device, choose_dtype
from nanoproof.common.errors import run_main
from nanoproof.common.option_groups import DeviceOption
from nanoproof.inference.engine import Engine
from nanoproof.inference.model_options import EngineLimits
from nanoproof.inference.sampling import SamplingOptions
from nanoproof.model.attention import AttentionPath, DensePath, RowLayout
from nanoproof.model.compute import Float8Linear, missing_for_fp8
from nanoproof.model.flash_attention import MISSING, make_path
from nanoproof.model.gpt import GPT, GPTConfig, Linear
from nanoproof.model.tokenizer import train_tokenizer

HALF_TOLERANCE, FULL_TOLERANCE, FP8_TOLERANCE = 2e-2, 1e-4, 8e-2
"""Largest relative error (norm of the difference by the norm) in 16 bits, 32 bits, and 8 bits."""
WINDOWS = (48, 256)


@validated("parity")
class ParityOptions:
    """Parity of the ways to compute."""

    rows: int = opt(4, "Packed rows.", min=1)
    length: int = opt(256, "Tokens in a row.", min=64)
    heads: int = opt(4, "Query heads; half as many key and value heads.", min=2)
    head_dim: int = opt(64, "Size of a head.", min=8)
    seed: int = opt(0, "Seed of everything.")


@dataclass(frozen=True)
class _Options:
    device: DeviceOption = group(DeviceOption)
    parity: ParityOptions = group(ParityOptions)


@dataclass(frozen=True)
class Check:
    """A comparison: its relative error, or why it was not made."""

    name: str
    error: float | None
    tolerance: float
    reason: str = ""

    @property
    def failed(self) -> bool:
        return self.error is not None and not self.error <= self.tolerance  # an error may be NaN

    def __str__(self) -> str:
        if self.error is None:
            return f"{self.name}: not here: {self.reason}"
        verdict = f"FAILED {self.reason}".strip() if self.failed else "ok"
        return f"{self.name}: {self.error:.2e} ({verdict}, at most {self.tolerance:.0e})"


def relative(got: Sequence[torch.Tensor], wanted: Sequence[torch.Tensor]) -> float:
    """Return the largest relative error of several tensors, on the CPU in fp32."""
    # By norms and not entry by entry: in 16 bits single entries near zero are off by their own size.
    errors = []
    for ours, theirs in zip(got, wanted, strict=True):
        a, b = ours.detach().float().cpu(), theirs.detach().float().cpu()
        errors.append(float((a - b).norm() / b.norm().clamp(min=1e-12)))
    return max(errors)


def random_layout(options: ParityOptions) -> RowLayout:
    """Make rows of examples, each a prefix with up to three continuations, and padding at the end of each row."""
    rng, shape = random.Random(options.seed), (options.rows, options.length)
    positions, segments, branches = torch.zeros((3, *shape), dtype=torch.long)
    for row in range(options.rows):
        at, segment = 0, 0
        while at < options.length - 40:
            segment += 1
            prefix = rng.randrange(8, 30)
            for branch in range(1 + rng.randrange(4)):
                # Branch 0 is the prefix, which all continuations see; they begin where it ends, beside each other.
                begin, size = 0, prefix
                if branch > 0:
                    begin, size = prefix, rng.randrange(1, 9)
                size = min(size, options.length - at)
                positions[row, at : at + size] = torch.arange(begin, begin + size)
                segments[row, at : at + size], branches[row, at : at + size] = segment, branch
                at += size
    return RowLayout(positions, segments, branches)


def attention(options: ParityOptions, device: torch.device, dtype: torch.dtype) -> list[Check]:
    """Compare every attention path that this device has."""
    torch.manual_seed(options.seed)
    layout, kv_heads = random_layout(options), max(1, options.heads // 2)
    inputs = []
    for heads in (options.heads, kv_heads, kv_heads):
        inputs.append(torch.randn(options.rows, options.length, heads, options.head_dim).to(dtype))
    there = RowLayout(
        layout.positions.to(device), layout.segments.to(device), layout.branches.to(device), on_cpu=layout
    )
    # What a path gives for padding is its own affair, and has no gradient.
    real = (layout.segments > 0)[:, :, None, None]
    weights = torch.randn(inputs[0].shape) * real

    def run(path: AttentionPath, rows: RowLayout, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        attend = path.open(WINDOWS, rows, (options.rows, options.length), tensors[0].device)
        leaves, results = [x.detach().requires_grad_() for x in tensors], []
        for layer in range(len(WINDOWS)):
            y = attend(layer, *leaves) * real.to(tensors[0].device)
            results += [y, *torch.autograd.grad((y.float() * weights.to(y.device)).sum(), leaves)]
        return results

    # From the same rounded inputs, but computed in 32 bits: the error is that of the path, not of its inputs.
    wanted = run(DensePath(), layout, [x.float() for x in inputs])
    tolerance = FULL_TOLERANCE if dtype == torch.float32 else HALF_TOLERANCE
    checks = []
    for name, missing in MISSING.items():
        problem = missing(device, dtype)
        if problem is not None:
            checks.append(Check(f"attention {name}", None, tolerance, problem))
            continue
        got = run(make_path(name), there, [x.to(device) for x in inputs])
        checks.append(Check(f"attention {name}", relative(got, wanted), tolerance))
    return checks


def fp8(options: ParityOptions, device: torch.device, dtype: torch.dtype) -> Check:
    """Compare a linear layer in 8-bit floats, its output and both gradients."""
    problem = missing_for_fp8(device, dtype)
    if problem is not None:
        return Check("8-bit products", None, FP8_TOLERANCE, problem)
    torch.manual_seed(options.seed)
    plain, eight = Linear(256, 512).to(device), Float8Linear(256, 512).to(device)
    eight.weight = plain.weight  # rounded anew in each product, so that both train the same weights
    x, weights = torch.randn(64, 256, device=device, dtype=dtype), torch.randn(64, 512, device=device)
    results = []
    for layer in (eight, plain):
        leaf = x.clone().requires_grad_()
        y = layer(leaf)
        results.append([y, *torch.autograd.grad((y.float() * weights).sum(), [leaf, plain.weight])])
    return Check("8-bit products", relative(*results), FP8_TOLERANCE)


def decoding(options: ParityOptions, device: torch.device, dtype: torch.dtype) -> list[Check]:
    """Compare recorded decoding steps, and Triton kernels, with steps that torch's operators compute."""
    ways = {"recorded steps": ("on", "off"), "Triton kernels": ("off", "on"), "recorded Triton kernels": ("on", "on")}
    if device.type != "cuda":
        reason = f"they need a CUDA device, this is {device.type}"
        return [Check(name, None, HALF_TOLERANCE, reason) for name in ways]
    tokenizer = train_tokenizer(["a b : Nat\nh : a = b\n⊢ a + 0 = b", "rw [Nat.add_zero]", "exact h"] * 9, 520)
    torch.manual_seed(options.seed)
    config = GPTConfig(tokenizer.vocab_size, depth=4, aspect_ratio=64, head_dim=64, sequence_len=256)
    network = GPT.create(config, device, dtype)
    for block in network.layers:  # new ones add nothing to the stream
        torch.nn.init.normal_(block.attention_out.weight, std=0.05)
        torch.nn.init.normal_(block.down.weight, std=0.02)
    torch.nn.init.normal_(network.head.weight, std=0.1)
    rng = random.Random(options.seed)
    prompts = []
    for number in range(32):  # all of other lengths, so that slots are ragged
        prompts.append([tokenizer.bos, *rng.choices(range(tokenizer.num_text_tokens), k=20 + number)])

    def values(graphs: str, kernels: str) -> torch.Tensor:
        limits = EngineLimits(cache_mbytes=2000, cuda_graphs=graphs, kernels=kernels)  # type: ignore[arg-type]
        engine = Engine(network, tokenizer, limits)
        answers = engine.generate(prompts, SamplingOptions(4, max_new_tokens=16), list(range(32)))
        print(f"decoding, graphs {graphs}, kernels {kernels}: {engine.stats}")
        # Values and not tactics: a sample that goes another way by one rounding is like no other from there on.
        return torch.tensor([answer.value_distribution for answer in answers])

    wanted, checks = values("off", "off"), []
    for name, way in ways.items():
        try:
            checks.append(Check(name, relative([values(*way)], [wanted]), HALF_TOLERANCE))
        except (ValueError, RuntimeError) as error:
            checks.append(Check(name, math.inf, HALF_TOLERANCE, str(error)))
    return checks


def main(argv: Sequence[str] | None = None) -> int:
    """Compare everything; returns 1 if something differs by more than its tolerance."""
    options = from_args(_Options, parser_of("gpu_parity", __doc__, _Options).parse_args(argv))
    device, _ = choose_device(options.device.device_type)
    dtype, _ = choose_dtype(device)
    print(f"{device}, {dtype}")
    checks = attention(options.parity, device, dtype)
    checks += [fp8(options.parity, device, dtype), *decoding(options.parity, device, dtype)]
    print(*checks, sep="\n")
    return int(any(check.failed for check in checks))


if __name__ == "__main__":
    run_main(main)
