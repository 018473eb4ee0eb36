"""Results of a CPU that do not depend on which requests share a batch, in float32.

A matrix product rounds its sums by the kernel that computes it, and libraries choose kernels by the sizes of matrices:
on an AMD EPYC with MKL 2024.2, products of 1 to 3 rows differ in the last bits from the same rows among more, and sums
of more than 192 terms are split where their number says. What shares a batch is a matter of timing, so a state's
log-probabilities would be too, and in rare cases its samples.

Therefore the sizes that depend on batch mates are rounded: rows of all products outside attention to multiples of
`ROWS`, columns of attention to multiples of `COLUMNS`, and the sums over columns are taken in tiles of `TILE` columns,
one after the other. What a row or a column of padding adds is exactly 0, or is not read. All other operations work row
by row and element by element.

What remains is that a product gives a row the same bits at each place among each multiple of `ROWS`. Libraries do not
promise that, but it can be tried: `check_rows` does, with the shapes of the network, before the engine is used.
"""

from collections.abc import Iterator

import torch
import torch.nn.functional as F

from nanoproof.model.gpt import GPT

# Seen (AMD EPYC with AVX-512, MKL 2024.2, torch 2.13): products of 1 to 3 rows differ from more rows, scores of fewer
# than 12 columns too, and sums of more than 192 terms are split by how many there are. These are beyond all three.
ROWS, COLUMNS, TILE = 32, 16, 128
# Multiples that are powers of two and such that are not, up to what the engine reaches: kernels are chosen by sizes.
CHECKED_ROWS = (32, 64, 96, 160, 224, 512, 1024)
CHECKED_COLUMNS = (16, 48, 64, 128, 192, 336, 512)
CHECKED_SLOTS = (1, 2, 5, 16)


def rounded(number: int, multiple: int) -> int:
    """Return the least multiple that is at least `number`."""
    return -(-number // multiple) * multiple


def pad_rows(x: torch.Tensor) -> torch.Tensor:
    """Add rows of zeros to a tensor (N, ...) up to a multiple of `ROWS`."""
    missing = rounded(len(x), ROWS) - len(x)
    if not missing:
        return x
    return torch.cat([x, x.new_zeros(missing, *x.shape[1:])])


def weighted_sums(weights_SQC: torch.Tensor, values_SCD: torch.Tensor) -> torch.Tensor:
    """Compute the batched product (S, Q, D) in tiles of columns, so that columns of weight 0 change no bit."""
    tiles = zip(weights_SQC.split(TILE, dim=2), values_SCD.split(TILE, dim=1), strict=True)
    total = torch.bmm(*next(tiles))
    for weights, values in tiles:
        total += torch.bmm(weights, values)
    return total


def attend_padded(q_PHD: torch.Tensor, k_CJD: torch.Tensor, v_CJD: torch.Tensor, mask_PC: torch.Tensor) -> torch.Tensor:
    """Return the attention (P, H, D) of queries to the keys and values that `mask_PC` lets them see.

    A query's bits depend on what it sees alone: not on how many queries there are, nor on keys that it does not see.
    """
    (queries, heads, size), (columns, kv_heads, _) = q_PHD.shape, k_CJD.shape
    rows, width = rounded(queries, ROWS), rounded(columns, COLUMNS)
    # Rows of padding see all real columns: a row that sees none would be NaN.
    bias = torch.zeros(rows, width)
    bias[:, columns:] = -torch.inf
    bias[:queries, :columns].masked_fill_(~mask_PC, -torch.inf)
    q_JXD = pad_rows(q_PHD * size**-0.5).view(rows, kv_heads, -1, size).permute(1, 2, 0, 3).reshape(kv_heads, -1, size)
    k_JDC = F.pad(k_CJD.permute(1, 2, 0), (0, width - columns))
    v_JCD = F.pad(v_CJD.transpose(0, 1), (0, 0, 0, width - columns))
    scores = torch.bmm(q_JXD, k_JDC).view(kv_heads, -1, rows, width) + bias
    y_JXD = weighted_sums(scores.softmax(dim=-1).view(kv_heads, -1, width), v_JCD)
    return y_JXD.view(heads, rows, size)[:, :queries].transpose(0, 1)


def check_batch_invariance(network: GPT, num_tokens: int) -> None:
    """Raise ValueError where results would depend on the batch all the same: on another device, or by `check_rows`."""
    device, dtype = network.device.type, network.compute_dtype
    if device != "cpu" or dtype != torch.float32:
        raise ValueError(f"engine.batch_invariant is for float32 on a CPU, this is {dtype} on {device}")
    if problem := check_rows(network, num_tokens):
        raise ValueError(f"float32 results of this processor depend on the batch ({problem}); compute in float64")


@torch.inference_mode()
def check_rows(network: GPT, num_tokens: int) -> str:
    """Try whether products in the shapes of the network give a row the same bits wherever it is; returns what does not.

    Empty if all do. `num_tokens` is how many tokens a tactic may consist of.
    """
    generator = torch.Generator().manual_seed(0)
    for weight in _weights(network, num_tokens):
        x = torch.randn(max(CHECKED_ROWS) + ROWS, weight.shape[1], generator=generator)
        expected = torch.cat([F.linear(tile, weight) for tile in x.split(ROWS)])
        for rows in CHECKED_ROWS:
            for first in (0, 5):  # a row's place among the others, too: on a multiple of ROWS and beside one
                if not torch.equal(F.linear(x[first : first + rows], weight), expected[first : first + rows]):
                    return f"{rows} rows by a matrix {tuple(weight.shape)}"
    size, group = network.config.head_dim, network.config.num_heads // network.config.kv_heads
    slots, widest = max(CHECKED_SLOTS), max(CHECKED_COLUMNS)
    q = torch.randn(slots, 8 * group, size, generator=generator)
    k = torch.randn(slots, size, widest, generator=generator)
    weights = torch.rand(slots, 8 * group, widest, generator=generator)
    values = torch.randn(slots, widest, size, generator=generator)
    scores = torch.bmm(q, k)
    for columns in CHECKED_COLUMNS:
        blind = torch.where(torch.arange(widest) < columns, weights, 0.0)
        expected = weighted_sums(blind, values)
        for some in CHECKED_SLOTS:
            if not torch.equal(torch.bmm(q[:some], k[:some, :, :columns]), scores[:some, :, :columns]):
                return f"attention scores of {some} slots and {columns} columns"
            seen = blind[:some, :, :columns].contiguous()
            if not torch.equal(weighted_sums(seen, values[:some, :columns]), expected[:some]):
                return f"attention of {some} slots and {columns} columns"
    return ""


def _weights(network: GPT, num_tokens: int) -> Iterator[torch.Tensor]:
    """Yield a matrix of each shape that rows are multiplied by."""
    block = network.layers[0]
    for layer in (block.qkv, block.attention_out, block.up, block.down):
        yield layer.weight.detach()
    # The head's rows of what may be sampled, and as many as the 64 value bins.
    head = network.head.weight.detach()
    yield from (head[:num_tokens], head[-64:])
