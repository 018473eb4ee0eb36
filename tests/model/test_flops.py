"""Counts of arithmetic agree with what torch counts, and shares of a peak are given only where it is known."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from nanolean.tests.each import each
from nanoproof.model.compute import (
    causal_pairs,
    device_peak_flops,
    flops_per_token,
    layout_pairs,
    matrix_parameters,
    mfu,
    peak_flops,
    training_flops,
)
from nanoproof.model.gpt import GPTConfig
from nanoproof.model.tokenizer import Tokenizer
from tests.model.attention_layouts import layout_of
from tests.model.conftest import make_model


@pytest.mark.parametrize("options", [{}, {"num_kv_heads": 1, "depth": 2}])
def test_matrix_products_are_those_that_torch_counts(tokenizer: Tokenizer, options: dict) -> None:
    model = make_model(tokenizer, window_pattern="L", **options)
    tokens = torch.zeros(2, 32, dtype=torch.long)
    with FlopCounterMode(display=False) as counter:
        model(tokens).sum().backward()
    counts = counter.get_flop_counts()["Global"]
    products = sum(count for operation, count in counts.items() if "attention" not in str(operation))
    padding = 6 * (model.config.padded_vocab_size - model.config.vocab_size) * model.config.width * 64
    assert products - padding == training_flops(model.config, 64, 64, [0] * model.config.depth)


def test_pairs_of_a_causal_text_are_counted_within_the_window() -> None:
    for length, window in ((7, 3), (7, 7), (7, 20), (1, 1)):
        expected = sum(1 for query in range(length) for key in range(query + 1) if query - key < window)
        assert causal_pairs(length, window) == expected


def test_pairs_of_packed_rows_leave_out_padding_and_other_branches() -> None:
    layout = layout_of([[[3, 2, 1]], []], length=8)
    full = 6 + (4 + 5) + 4  # prefix, first continuation, second continuation
    assert layout_pairs(layout, [8, 2]) == [full, 5 + (2 + 2) + 2]


def test_windows_save_arithmetic() -> None:
    short, long = (
        GPTConfig(vocab_size=50_000, depth=8, sequence_len=2048, window_pattern=pattern) for pattern in ("SSSL", "L")
    )
    assert flops_per_token(short) < flops_per_token(long)
    # For short texts all windows see everything.
    assert flops_per_token(short, 256) == flops_per_token(long, 256)
    assert flops_per_token(long, 1) == pytest.approx(6 * sum(matrix_parameters(long).values()), rel=1e-3)


@each(
    ("name", "peak"),
    [
        ("NVIDIA H100 80GB HBM3", 989e12),
        ("NVIDIA H100 PCIe", 756e12),
        ("NVIDIA H200", 989e12),
        ("NVIDIA A100-SXM4-80GB", 312e12),
        ("NVIDIA B200", 2.25e15),
        ("NVIDIA GeForce RTX 4090", 165.2e12),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", None),
        ("NVIDIA RTX A4000", None),
        ("Abacus", None),
    ],
)
def test_peaks_are_known_by_the_name_of_the_device(name: str, peak: float | None) -> None:
    assert peak_flops(name) == peak


def test_no_share_is_given_of_an_unknown_peak() -> None:
    assert device_peak_flops(torch.device("cpu")) is None
    assert mfu(1e12, 1.0, None) is None
    assert mfu(989e12, 2.0, 989e12, devices=2) == 0.25
