"""Compile every Triton kernel for an H100, without a GPU: `python -m tests.fake_cuda.compile_kernels`.

The sizes are those of a network of 20 layers in bf16. Prints a line for each; fails if a kernel does not compile, or
keeps in memory what should lie in registers.
"""

from functools import partial
from typing import Any

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, make_backend
from triton.runtime.jit import create_function_from_signature

from nanoproof.inference import triton_kernels

TYPES = {torch.float32: "*fp32", torch.bfloat16: "*bf16", torch.int64: "*i64"}


def compiled(kernel: Any, grid: tuple[int, ...], *args: Any, **constants: Any) -> None:
    """Take the place of `launch`: compile for what would be launched."""
    values, types, constexprs, attributes = dict(zip(kernel.arg_names, args)) | constants, {}, {}, {}
    for index, (name, value) in enumerate((name, values[name]) for name in kernel.arg_names):
        if name in constants:
            types[name], constexprs[name] = "constexpr", value
            continue
        types[name] = TYPES[value.dtype] if isinstance(value, torch.Tensor) else "fp32"
        if isinstance(value, int):
            types[name] = "i32"
        if isinstance(value, torch.Tensor) or (isinstance(value, int) and value % 16 == 0):
            attributes[(index,)] = [["tt.divisibility", 16]]
    target = GPUTarget("cuda", 90, 32)
    # Triton writes a function of the kernel's parameters and some of its own, so that a kernel cannot have all names:
    # one that was called `options` passed in the interpreter and failed on a GPU.
    create_function_from_signature(kernel.signature, kernel.params, make_backend(target))
    source = ASTSource(kernel, types, constexprs, attributes)
    made = triton.compile(source, target=target)
    spilled = made.asm["ptx"].count(".local")
    print(f"{kernel.__name__}: sm_90, {made.metadata.shared} bytes shared, {len(made.asm['cubin'])} bytes")
    assert not spilled, "it keeps numbers in memory"
    assert "mma" in made.asm["ptx"] or "attention" not in kernel.__name__, "no tensor cores"


def count_versions() -> dict[str, int]:
    """Count how often kernels are compiled for steps of 1 to 69 rows in 1 to 17 slots of a size, of 20 layers."""
    versions: dict[str, set[str]] = {}
    binders: dict[str, Any] = {}
    backend = make_backend(GPUTarget("cuda", 90, 32))

    def noted(kernel: Any, grid: tuple[int, ...], *args: Any, **constants: Any) -> None:
        if kernel.__name__ not in binders:
            binders[kernel.__name__] = create_function_from_signature(kernel.signature, kernel.params, backend)
        _, specialization, _ = binders[kernel.__name__](*args, **constants)
        versions.setdefault(kernel.__name__, set()).add(str(specialization))

    triton_kernels.launch = noted
    width, heads, size, columns, sequences = 128, 4, 32, 512, 8
    half, whole = partial(torch.zeros, dtype=torch.bfloat16), partial(torch.zeros, dtype=torch.long)
    rope, scales = torch.zeros(768, size // 2, 2), half(20)
    for rows in (1, 2, 15, 16, 17, 48, 69):
        tokens_N, rows_5N, qkv, out = whole(rows), whole(5, rows), half(rows, 3 * width), half(rows, width)
        triton_kernels.embed(tokens_N, half(500, width), width, torch.bfloat16)
        triton_kernels.square_relu(half(rows, 4 * width))
        for layer in range(20):
            added = (half(rows, width), scales) if layer % 2 else (None, None)
            triton_kernels.mix(half(rows, width), half(rows, width), scales, scales, layer)
            triton_kernels.project(qkv, *added, rope, tokens_N, layer, heads, heads)
            for slots in (1, 2, 16, 17):
                caches = half(slots, heads, size, columns), half(slots, heads, columns, size)
                tables = torch.zeros(slots, sequences, columns), whole(slots, columns)
                window = 768 if layer % 4 == 3 else 192
                triton_kernels.decode_attention(
                    qkv, *added, rope, rows_5N, whole(4, slots), *caches, *tables, out, layer, window
                )
        for shaped in (False, True):
            shaping, noise = torch.zeros(rows, 3), torch.zeros(rows, 4, sequences)
            triton_kernels.sample(half(rows, 512), 500, rows_5N, noise, shaping, whole(rows, sequences), shaped)
    return {name: len(found) for name, found in versions.items()}


def main() -> None:
    """Compile everything that a decoding step and a prefill launch."""
    triton_kernels.launch = compiled
    rows, width, heads, size, columns, slots, sequences = 32, 1280, 10, 128, 512, 4, 8

    def half(*shape: int) -> torch.Tensor:
        return torch.zeros(shape, dtype=torch.bfloat16)

    def whole(*shape: int) -> torch.Tensor:
        return torch.zeros(shape, dtype=torch.long)

    tokens_N, rows_5N, slots_4S, scales = whole(rows), whole(5, rows), whole(4, slots), half(20)
    qkv, values, rope = half(rows, 3 * width), half(rows, width), torch.zeros(768, size // 2, 2)
    triton_kernels.embed(tokens_N, half(500, width), size, torch.bfloat16)
    triton_kernels.mix(half(rows, width), half(rows, width), scales, scales, 1)
    triton_kernels.square_relu(half(rows, 4 * width))
    triton_kernels.project(qkv, values, scales, rope, tokens_N, 1, heads, heads)
    caches = half(slots, heads, size, columns), half(slots, heads, columns, size)
    tables = torch.zeros(slots, sequences, columns), whole(slots, columns)
    for layer, window in ((0, 192), (1, 768)):
        out = half(rows, width)
        triton_kernels.decode_attention(
            qkv, values, scales, rope, rows_5N, slots_4S, *caches, *tables, out, layer, window
        )
    noise, shaping = torch.zeros(4, 8, 4), torch.zeros(5, 2)
    triton_kernels.sample(half(rows, 50432), 50370, rows_5N, noise, shaping, whole(5, sequences), True)
    versions = count_versions()
    print("compiled so often for a network's steps:", versions)
    # Of attention: the first layer, which has no added values, and the others with and without, and by window.
    assert all(count <= {"_decode_attention": 4}.get(name, 2) for name, count in versions.items()), "too often"


if __name__ == "__main__":
    main()
