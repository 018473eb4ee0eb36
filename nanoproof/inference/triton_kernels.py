# mypy: disallow-untyped-defs=False
"""Triton kernels of prefill and decoding: what lies between matrix products is one launch each.

They say what the operators of `gpt.py`, `decode.py` and `sampling.py` say, which are the reference, and round where
these do. Tests compile them for a GPU without it, and run them in Triton's interpreter (TRITON_INTERPRET=1) on a CPU;
the engine compares them with the reference before it uses them. Importing this imports Triton.

Shapes: N rows, S slots, H query heads, J key/value heads, D head size, C columns of a slot, V tokens (padded), W width.
In kernels the two halves of a head are its even and its odd features, which rotary positions turn as pairs.
"""

from typing import Any

import torch
import triton
import triton.language as tl

from nanoproof.inference.kv_cache import (
    COLUMN,
    LAST,
    NOISE,
    SEQUENCE,
    SLOT_COUNT,
    SLOT_FILLED,
    SLOT_FIRST,
    SLOT_POSITION,
)
from nanoproof.model.gpt import LOGIT_SOFTCAP

EPS = torch.finfo(torch.float32).eps
"""What `F.rms_norm` adds by default, in all dtypes up to 32 bits."""
COLUMNS_AT_ONCE, TOKENS_AT_ONCE, ELEMENTS_AT_ONCE, INTERPRETED_AT_ONCE = 64, 2048, 1024, 2**16
FEWEST_QUERIES = FEWEST_FEATURES = 16
"""What a product on tensor cores has at least."""


def launch(kernel: Any, grid: tuple[int, ...], *args: Any, **constants: Any) -> None:
    """Launch a kernel. Everything goes through here, so that tests can count."""
    kernel[grid](*args, **constants)


def interpreted() -> bool:
    """Tell whether kernels run in Triton's interpreter: slow, on CPU tensors too."""
    return bool(triton.knobs.runtime.interpret)


# -- Rows of the network ---------------------------------------------------------------------------------------------
# A program has several units: rows, or heads of rows.
# Triton compiles a kernel anew for a number that is 1 or divisible by 16, unless it is told not to look. Numbers that
# differ from step to step or from layer to layer are therefore named: without that, attention had 54 versions for one
# size of slots instead of 4, and `scripts/bench_inference.py` took 104 s on an H200, of which 48 are gone.


@triton.jit(do_not_specialize=["units"])
def _embed(tokens, table, out, units, per_row, size, EPS, UNITS: tl.constexpr, SIZE: tl.constexpr):
    dtype = out.dtype.element_ty
    unit = tl.program_id(0).to(tl.int64) * UNITS + tl.arange(0, UNITS)
    d = tl.arange(0, SIZE)[None, :]
    inside = (unit < units)[:, None] & (d < size)
    token = tl.load(tokens + unit // per_row, mask=unit < units, other=0)
    x = tl.load(table + (token * per_row + unit % per_row)[:, None] * size + d, mask=inside, other=0.0)
    # Rounded to the network's dtype where torch's operators hand on a tensor: so here and wherever `to(dtype)` is
    # followed by fp32, or results would differ from the reference by more than the order of sums.
    x = x.to(dtype).to(tl.float32)
    x = x * tl.rsqrt(tl.sum(x * x, 1) / size + EPS)[:, None]
    tl.store(out + unit[:, None] * size + d, x.to(dtype), mask=inside)


def embed(tokens_N: torch.Tensor, table: torch.Tensor, size: int, dtype: torch.dtype) -> torch.Tensor:
    """Return the rows of an embedding (N, W) for tokens, normalised by parts of `size`."""
    rows, width = len(tokens_N), table.shape[1]
    out = torch.empty(rows, width, dtype=dtype, device=tokens_N.device)
    units, at_once = rows * (width // size), _units(size)
    launch(
        _embed, (triton.cdiv(units, at_once),), tokens_N, table, out, units, width // size, size, EPS,
        UNITS=at_once, SIZE=_power(size),
    )  # fmt: skip
    return out


@triton.jit(do_not_specialize=["layer", "units"])
def _mix(x, start, residual, embedding, mixed, out, layer, units, width, EPS, UNITS: tl.constexpr, WIDTH: tl.constexpr):
    dtype = mixed.dtype.element_ty
    unit, d = tl.program_id(0).to(tl.int64) * UNITS + tl.arange(0, UNITS)[:, None], tl.arange(0, WIDTH)[None, :]
    inside = (unit < units) & (d < width)
    where = unit * width + d
    old = tl.load(x + where, mask=inside, other=0.0).to(tl.float32)
    first = tl.load(start + where, mask=inside, other=0.0).to(tl.float32)
    a = tl.load(residual + layer).to(dtype).to(tl.float32)
    b = tl.load(embedding + layer).to(dtype).to(tl.float32)
    new = ((a * old).to(dtype).to(tl.float32) + b * first).to(dtype)
    tl.store(mixed + where, new, mask=inside)
    y = new.to(tl.float32)
    y = y * tl.rsqrt(tl.sum(y * y, 1) / width + EPS)[:, None]
    tl.store(out + where, y.to(dtype), mask=inside)


def mix(
    x: torch.Tensor, start: torch.Tensor, residual: torch.Tensor, embedding: torch.Tensor, layer: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the input of a layer, `residual[layer] * x + embedding[layer] * start`, (N, W), and its norm.

    `x` is overwritten, except where it is `start` itself.
    """
    mixed, out = x, torch.empty_like(x)
    # All layers add the start: the first, which gets it as its input, must not write over it.
    if x is start:
        mixed = torch.empty_like(x)
    (rows, width), at_once = x.shape, _units(x.shape[1])
    launch(
        _mix, (triton.cdiv(rows, at_once),), x, start, residual, embedding, mixed, out, layer, rows, width, EPS,
        UNITS=at_once, WIDTH=_power(width),
    )  # fmt: skip
    return mixed, out


@triton.jit(do_not_specialize=["count"])
def _square_relu(x, count, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    h = tl.maximum(tl.load(x + at, mask=at < count, other=0.0).to(tl.float32), 0.0)
    tl.store(x + at, (h * h).to(x.dtype.element_ty), mask=at < count)


def square_relu(x: torch.Tensor) -> torch.Tensor:
    """Replace all numbers by the squares of their positive parts."""
    block = _units(1)
    launch(_square_relu, (triton.cdiv(x.numel(), block),), x, x.numel(), BLOCK=block)
    return x


# -- Attention -------------------------------------------------------------------------------------------------------


@triton.jit
def _turned(even, odd, cos, sin, size, EPS, dtype: tl.constexpr):
    """Normalise heads (rows of two halves) and rotate them; both results are rounded."""
    scale = tl.rsqrt((tl.sum(even * even, 1) + tl.sum(odd * odd, 1)) / size + EPS)[:, None]
    a, b = (even * scale).to(dtype).to(tl.float32), (odd * scale).to(dtype).to(tl.float32)
    return (a * cos - b * sin).to(dtype), (a * sin + b * cos).to(dtype)


@triton.jit(do_not_specialize=["layer", "units"])
def _project(
    qkv,
    values,
    scales,
    rope,
    positions,
    q,
    k,
    v,
    layer,
    units,
    heads,
    kv_heads,
    size,
    EPS,
    UNITS: tl.constexpr,
    HALF: tl.constexpr,
    VALUES: tl.constexpr,
):
    dtype = q.dtype.element_ty
    # A unit is a head of a row of `qkv`, which has the heads of queries, then those of keys, then those of values.
    unit = tl.program_id(0).to(tl.int64) * UNITS + tl.arange(0, UNITS)
    row, head = unit // (heads + 2 * kv_heads), unit % (heads + 2 * kv_heads)
    key_head, value_head = head - heads, head - heads - kv_heads
    is_query, is_key, is_value = head < heads, (key_head >= 0) & (value_head < 0), value_head >= 0
    # Rotation is of pairs of features, (2 i, 2 i + 1): `even` and `odd`, `a` and `b` once rotated.
    feature = 2 * tl.arange(0, HALF)[None, :]
    inside = (unit < units)[:, None] & (feature < size)
    turn = rope + tl.load(positions + row, mask=unit < units, other=0)[:, None] * size + feature
    cos, sin = tl.load(turn, mask=inside, other=0.0), tl.load(turn + 1, mask=inside, other=0.0)
    loaded = qkv + unit[:, None] * size + feature
    even = tl.load(loaded, mask=inside, other=0.0).to(tl.float32)
    odd = tl.load(loaded + 1, mask=inside, other=0.0).to(tl.float32)
    a, b = _turned(even, odd, cos, sin, size, EPS, dtype)
    if VALUES:
        scale = tl.load(scales + layer).to(dtype).to(tl.float32)
        more = values + (row * kv_heads + value_head)[:, None] * size + feature
        added = inside & is_value[:, None]
        even += (scale * tl.load(more, mask=added, other=0.0).to(tl.float32)).to(dtype).to(tl.float32)
        odd += (scale * tl.load(more + 1, mask=added, other=0.0).to(tl.float32)).to(dtype).to(tl.float32)
    # Values are neither normalised nor rotated.
    a, b = tl.where(is_value[:, None], even.to(dtype), a), tl.where(is_value[:, None], odd.to(dtype), b)
    where = q + (row * heads + head)[:, None] * size + feature
    mask = inside & is_query[:, None]
    tl.store(where, a, mask=mask)
    tl.store(where + 1, b, mask=mask)
    where = k + (row * kv_heads + key_head)[:, None] * size + feature
    mask = inside & is_key[:, None]
    tl.store(where, a, mask=mask)
    tl.store(where + 1, b, mask=mask)
    where = v + (row * kv_heads + value_head)[:, None] * size + feature
    mask = inside & is_value[:, None]
    tl.store(where, a, mask=mask)
    tl.store(where + 1, b, mask=mask)


def project(
    qkv: torch.Tensor,
    values: torch.Tensor | None,
    scales: torch.Tensor | None,
    rope: torch.Tensor,
    positions_N: torch.Tensor,
    layer: int,
    heads: int,
    kv_heads: int,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return queries (N, H, D) and keys (N, J, D), normalised and rotated, and values (N, J, D) of a layer's product.

    `qkv` has all three, (N, (H + 2 J) D); `values` (N, J * D) times `scales[layer]` are added to the values. `rope`
    holds cosine and sine, (T, D / 2, 2).
    """
    rows, size = len(qkv), 2 * rope.shape[1]
    q = qkv.new_empty(rows, heads, size)
    k, v = qkv.new_empty(2, rows, kv_heads, size)
    units, at_once = rows * (heads + 2 * kv_heads), _units(size)
    launch(
        _project, (triton.cdiv(units, at_once),), qkv, *_or_unread(values, scales, q),
        rope, positions_N, q, k, v, layer, units, heads, kv_heads, size, EPS,
        UNITS=at_once, HALF=_power(size // 2), VALUES=values is not None,
    )  # fmt: skip
    return q, k, v


def _or_unread(
    values: torch.Tensor | None, scales: torch.Tensor | None, unread: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return values and scales, or `unread` where there are none: without VALUES kernels take them and read nothing."""
    if values is None:
        values = unread
    if scales is None:
        scales = unread
    return values, scales


@triton.jit
def _product(a, b, UPCAST: tl.constexpr):
    """Multiply, adding up in fp32. The interpreter takes bf16 for whole numbers: there it gets fp32."""
    if UPCAST:
        a, b = a.to(tl.float32), b.to(tl.float32)
    return tl.dot(a, b, input_precision="ieee")


@triton.jit(do_not_specialize=["layer", "num_rows", "num_slots", "sequences"])
def _decode_attention(
    qkv,
    values,
    scales,
    rope,
    rows,
    slots,
    key_cache,
    value_cache,
    bias,
    positions,
    out,
    layer,
    num_rows,
    num_slots,
    columns,
    sequences,
    heads,
    kv_heads,
    EPS,
    POSITION: tl.constexpr,
    FILLED: tl.constexpr,
    FIRST: tl.constexpr,
    COUNT: tl.constexpr,
    COLUMN: tl.constexpr,
    SEQUENCE: tl.constexpr,
    GROUP: tl.constexpr,
    QUERIES: tl.constexpr,
    SIZE: tl.constexpr,
    WIDE: tl.constexpr,
    HALF: tl.constexpr,
    WINDOW: tl.constexpr,
    MARK: tl.constexpr,
    VALUES: tl.constexpr,
    BLOCK: tl.constexpr,
    UPCAST: tl.constexpr,
):
    dtype = out.dtype.element_ty
    slot, kv = tl.program_id(0).to(tl.int64), tl.program_id(1)
    count = tl.load(slots + COUNT * num_slots + slot)
    if count == 0:
        return
    position, filled = tl.load(slots + POSITION * num_slots + slot), tl.load(slots + FILLED * num_slots + slot)
    # The queries of a program: all rows of the slot, each with the query heads that share this key/value head.
    query = tl.arange(0, QUERIES)
    live = query // GROUP < count
    row = tl.load(slots + FIRST * num_slots + slot) + query // GROUP
    head = kv * GROUP + query % GROUP
    column = tl.load(rows + COLUMN * num_rows + row, mask=live, other=0)
    sequence = tl.load(rows + SEQUENCE * num_rows + row, mask=live, other=0)
    pair, d = tl.arange(0, HALF), tl.arange(0, WIDE)
    half, whole = live[:, None] & (pair < SIZE // 2)[None, :], live[:, None] & (d < SIZE)[None, :]
    turn = rope + position * SIZE + 2 * pair
    cos = tl.load(turn, mask=pair < SIZE // 2, other=0.0)[None, :]
    sin = tl.load(turn + 1, mask=pair < SIZE // 2, other=0.0)[None, :]
    base = row[:, None] * (heads + 2 * kv_heads) * SIZE
    mine = qkv + base + head[:, None] * SIZE + 2 * pair[None, :]
    even, odd = (
        tl.load(mine, mask=half, other=0.0).to(tl.float32),
        tl.load(mine + 1, mask=half, other=0.0).to(tl.float32),
    )
    even, odd = _turned(even, odd, cos, sin, SIZE, EPS, dtype)
    mine = qkv + base + (heads + kv) * SIZE + 2 * pair[None, :]
    a, b = tl.load(mine, mask=half, other=0.0).to(tl.float32), tl.load(mine + 1, mask=half, other=0.0).to(tl.float32)
    a, b = _turned(a, b, cos, sin, SIZE, EPS, dtype)
    v = tl.load(qkv + base + (heads + kv_heads + kv) * SIZE + d[None, :], mask=whole, other=0.0).to(tl.float32)
    if VALUES:
        more = tl.load(values + (row[:, None] * kv_heads + kv) * SIZE + d[None, :], mask=whole, other=0.0)
        v += (tl.load(scales + layer).to(dtype).to(tl.float32) * more.to(tl.float32)).to(dtype).to(tl.float32)
    v = v.to(dtype)
    # New keys and values go into the cache; a row sees none of them but its own, which is still at hand.
    new = live & (query % GROUP == 0)
    keys = key_cache + (slot * kv_heads + kv) * SIZE * columns
    cached = value_cache + (slot * kv_heads + kv) * SIZE * columns
    where = keys + 2 * pair[None, :] * columns + column[:, None]
    tl.store(where, a, mask=half & new[:, None])
    tl.store(where + columns, b, mask=half & new[:, None])
    tl.store(cached + column[:, None] * SIZE + d[None, :], v, mask=whole & new[:, None])
    if MARK:  # once for all layers
        tl.store(bias + sequence * columns + column, tl.zeros([QUERIES], tl.float32), mask=new & (kv == 0))
        where = positions + slot * columns + column
        tl.store(where, tl.zeros([QUERIES], tl.int64) + position, mask=new & (kv == 0))
    # A softmax over blocks of columns as they are read (Milakov and Gimelshein 2018, "Online normalizer calculation for
    # softmax"): `top` is the highest score so far, `total` and `sums` are relative to it. It begins with a row's own
    # column, which it sees in any case: `top` is finite from the start.
    scale = 1.0 / tl.sqrt(SIZE * 1.0)
    products = even.to(tl.float32) * a.to(tl.float32) + odd.to(tl.float32) * b.to(tl.float32)
    top = tl.sum(products, 1) * scale
    total = tl.zeros([QUERIES], tl.float32) + 1.0
    sums = v.to(tl.float32)
    begin = filled * 0
    if WINDOW > 0:  # no column is before its position; 16 columns of a key are what memory gives at a time
        begin = tl.maximum(position - WINDOW + 1, 0) // 16 * 16
    for at in range(begin, filled, BLOCK):
        c = at + tl.arange(0, BLOCK)
        inside = c < filled
        there = keys + 2 * pair[:, None] * columns + c[None, :]
        mask = (pair < SIZE // 2)[:, None] & inside[None, :]
        scores = _product(even, tl.load(there, mask=mask, other=0.0), UPCAST)
        scores += _product(odd, tl.load(there + columns, mask=mask, other=0.0), UPCAST)
        seen = live[:, None] & inside[None, :]
        seen_bias = tl.load(bias + sequence[:, None] * columns + c[None, :], mask=seen, other=float("-inf"))
        scores = scores * scale + seen_bias
        if WINDOW > 0:
            near = position - tl.load(positions + slot * columns + c, mask=inside, other=0) < WINDOW
            scores = tl.where(near[None, :], scores, float("-inf"))
        highest = tl.maximum(top, tl.max(scores, 1))
        shrink = tl.exp(top - highest)
        weights = tl.exp(scores - highest[:, None])
        total = total * shrink + tl.sum(weights, 1)
        there = cached + c[:, None] * SIZE + d[None, :]
        old_values = tl.load(there, mask=inside[:, None] & (d < SIZE)[None, :], other=0.0)
        sums = sums * shrink[:, None] + _product(weights.to(dtype), old_values, UPCAST)
        top = highest
    answer = (sums / total[:, None]).to(dtype)
    tl.store(out + (row[:, None] * heads + head[:, None]) * SIZE + d[None, :], answer, mask=whole)


def decode_attention(
    qkv: torch.Tensor,
    values: torch.Tensor | None,
    scales: torch.Tensor | None,
    rope: torch.Tensor,
    rows_5N: torch.Tensor,
    slots_4S: torch.Tensor,
    keys_SJDC: torch.Tensor,
    values_SJCD: torch.Tensor,
    bias_SQC: torch.Tensor,
    positions_SC: torch.Tensor,
    out: torch.Tensor,
    layer: int,
    window: int,
) -> None:
    """Attend with the rows of each slot to what they see of it, and put their keys and values there.

    A program serves a slot and a key/value head, and reads its columns once for all rows, from the first in the window
    to the last that is filled. `qkv`, `values`, `scales` and `rope` are as in `project`; the result goes into `out`,
    (N, H * D), of rows that a slot has. The first layer marks what rows see from now on.
    """
    kv_heads, size, columns = keys_SJDC.shape[1:]
    heads = out.shape[1] // size
    limited = 0
    if window < columns:
        limited = window
    launch(
        _decode_attention, (slots_4S.shape[1], kv_heads), qkv, *_or_unread(values, scales, out),
        rope, rows_5N, slots_4S, keys_SJDC, values_SJCD, bias_SQC, positions_SC, out,
        layer, rows_5N.shape[1], slots_4S.shape[1], columns, bias_SQC.shape[1], heads, kv_heads, EPS,
        POSITION=SLOT_POSITION, FILLED=SLOT_FILLED, FIRST=SLOT_FIRST, COUNT=SLOT_COUNT, COLUMN=COLUMN,
        SEQUENCE=SEQUENCE,
        GROUP=heads // kv_heads, QUERIES=_power(max(FEWEST_QUERIES, bias_SQC.shape[1] * (heads // kv_heads))),
        SIZE=size, WIDE=_power(max(FEWEST_FEATURES, size)), HALF=_power(max(FEWEST_FEATURES, size // 2)),
        WINDOW=limited, MARK=layer == 0, VALUES=values is not None, BLOCK=COLUMNS_AT_ONCE, UPCAST=interpreted(),
    )  # fmt: skip


# -- Sampling --------------------------------------------------------------------------------------------------------


@triton.jit
def _capped(logits, at, inside, CAP):
    """Load logits and cap them. The error of this hyperbolic tangent is 1e-7; the interpreter lacks Triton's own."""
    x = tl.load(logits + at, mask=inside, other=0.0).to(tl.float32)
    return tl.where(inside, CAP - 2.0 * CAP / (tl.exp(2.0 * x / CAP) + 1.0), float("-inf"))


@triton.jit(do_not_specialize=["num_rows", "sequences", "num_options"])
def _sample(
    logits,
    rows,
    noise,
    shaping,
    last,
    tokens,
    logprobs,
    num_rows,
    stride,
    num_tokens,
    sequences,
    num_options,
    CAP,
    LAST: tl.constexpr,
    NOISE: tl.constexpr,
    SHAPED: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    logits += row * stride
    place = tl.load(rows + LAST * num_rows + row)
    heat = 1.0
    if SHAPED:
        heat = tl.load(shaping + place // sequences * num_options)
    # Three passes over the logits, which the first leaves in the GPU's cache: for the highest, for the sums, for the
    # token.
    top = tl.full([], float("-inf"), tl.float32)
    for begin in range(0, num_tokens, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        top = tl.maximum(top, tl.max(_capped(logits, at, at < num_tokens, CAP), 0))
    total, whole = tl.zeros([], tl.float32), tl.zeros([], tl.float32)
    for begin in range(0, num_tokens, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        x = _capped(logits, at, at < num_tokens, CAP) - top
        total += tl.sum(tl.exp(x), 0)
        whole += tl.sum(tl.exp(x / heat), 0)
    # The first token up to which more than this share lies; sums are those from above, in the same order.
    target = tl.load(noise + tl.load(rows + NOISE * num_rows + row)) * whole
    before, token = tl.zeros([], tl.float32), tl.zeros([], tl.int32)
    for begin in range(0, num_tokens, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        p = tl.exp((_capped(logits, at, at < num_tokens, CAP) - top) / heat)
        token += tl.sum(((before + tl.cumsum(p, 0) <= target) & (at < num_tokens)).to(tl.int32), 0)
        before += tl.sum(p, 0)
    token = tl.minimum(token, num_tokens - 1)
    chosen = _capped(logits, token, token >= 0, CAP)
    tl.store(tokens + row, token.to(tl.int64))
    tl.store(last + place, token.to(tl.int64))
    tl.store(logprobs + row, chosen - top - tl.log(total))


def sample(
    logits_NV: torch.Tensor,
    num_tokens: int,
    rows_5N: torch.Tensor,
    noise: torch.Tensor,
    shaping_GF: torch.Tensor,
    last_GQ: torch.Tensor,
    shaped: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Sample a token of each row, (N,), and return its log-probability at temperature 1, too.

    Of the logits (N, V), not capped yet, the first `num_tokens` count. The token becomes its sequence's latest. With
    `shaped` the first option of each group is its temperature.
    """
    rows = len(logits_NV)
    tokens = torch.empty(rows, dtype=torch.long, device=logits_NV.device)
    logprobs = torch.empty(rows, dtype=torch.float32, device=logits_NV.device)
    launch(
        _sample, (rows,), logits_NV, rows_5N, noise, shaping_GF, last_GQ, tokens, logprobs, rows_5N.shape[1],
        logits_NV.stride(0), num_tokens, last_GQ.shape[1], shaping_GF.shape[1], LOGIT_SOFTCAP,
        LAST=LAST, NOISE=NOISE, SHAPED=shaped, BLOCK=min(TOKENS_AT_ONCE, _power(num_tokens)),
    )  # fmt: skip
    return tokens, logprobs


def _units(size: int) -> int:
    """Return how many units of so many numbers a program has."""
    elements = ELEMENTS_AT_ONCE
    if interpreted():
        elements = INTERPRETED_AT_ONCE  # its cost lies in programs, not in numbers
    return max(1, elements // _power(size))


def _power(number: int) -> int:
    return 1 << max(0, number - 1).bit_length()
