"""Every attention path that can run here gives the output and gradients of dense masks; the choice names its reason."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import torch
from torch.nn.attention import flex_attention as torch_flex
from torch.nn.attention import list_flash_attention_impls

from nanoproof.common.errors import UserError
from nanoproof.model.attention import AttentionPath, DensePath, RowLayout, UnpackedPath
from nanoproof.model.flash_attention import (
    FA3_PACKAGE,
    CutSizes,
    FlexPath,
    PaddedSizes,
    Runs,
    VarlenPath,
    choose_attention,
    flash_kernel,
    gathered_keys,
    key_copies,
    make_path,
)
from nanoproof.model.network_options import ATTENTION_CHOICES
from tests.model.attention_layouts import layout_of, random_layout, slow_kernel

CPU = torch.device("cpu")
ROWS, LENGTH = 3, 48
WINDOWS = [4, LENGTH]
PATHS = {
    "flex": lambda: FlexPath(compiled=False),
    "varlen": lambda: VarlenPath(slow_kernel),
    "varlen, not padded": lambda: VarlenPath(slow_kernel, padded=False),
    "unpacked": UnpackedPath,
}


def run(path: AttentionPath, layout: RowLayout | None, kv_heads: int, window: int) -> list[torch.Tensor]:
    """Output and gradients of queries, keys and values, without what padding tokens get."""
    generator = torch.Generator().manual_seed(1)
    q, k, v = (
        torch.randn(ROWS, LENGTH, heads, 16, generator=generator, requires_grad=True)
        for heads in (4, kv_heads, kv_heads)
    )
    y = path.open(WINDOWS, layout, (ROWS, LENGTH), CPU)(WINDOWS.index(window), q, k, v)
    real = torch.ones(ROWS, LENGTH, dtype=torch.bool) if layout is None else layout.segments > 0
    upstream = torch.randn(y.shape, generator=generator) * real[:, :, None, None]
    return [y.detach()[real], *torch.autograd.grad(y, (q, k, v), upstream)]


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("rows", ["causal", "packed", "prefix_lm"])
@pytest.mark.parametrize("kv_heads", [pytest.param(4, marks=pytest.mark.nightly), 2])
@pytest.mark.parametrize("window", WINDOWS)
def test_each_path_agrees_with_dense_masks(
    name: str, rows: str, kv_heads: int, window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # torch refuses gradients of FlexAttention on CPU; without compilation they are right.
    monkeypatch.setattr(torch_flex, "_validate_device", lambda *tensors: None)
    layout = None if rows == "causal" else random_layout(ROWS, LENGTH, prefix_lm=rows == "prefix_lm")
    expected = run(DensePath(), layout, kv_heads, window)
    for ours, theirs in zip(run(PATHS[name](), layout, kv_heads, window), expected, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)


def test_a_continuation_has_its_prefix_and_itself_as_keys() -> None:
    """Row 0: a prefix of 3 with continuations of 2 and 1, then a prefix of 2; row 1: a continuation without prefix."""
    layout = layout_of([[[3, 2, 1], [2]], [[0, 2]]], length=9)
    keys, counts = gathered_keys(Runs.of(layout))
    assert [part.tolist() for part in keys.split(counts.tolist())] == [
        [0, 1, 2],
        [0, 1, 2, 3, 4],
        [0, 1, 2, 5],
        [6, 7],
        [8],  # padding
        [9, 10],
        [11, 12, 13, 14, 15, 16, 17],  # padding
    ]


def test_key_copies_are_where_the_keys_were_gathered() -> None:
    keys, _ = gathered_keys(Runs.of(random_layout(ROWS, LENGTH, seed=5)))
    copies = key_copies(keys, ROWS * LENGTH)
    for token in range(ROWS * LENGTH):
        assert sorted(key for key in copies[token].tolist() if key >= 0) == (keys == token).nonzero().flatten().tolist()


def test_padded_sizes_are_few_and_grow_together() -> None:
    sizes, shape = PaddedSizes(), (2, 64)
    small = CutSizes(sequences=6, longest=32, gathered=384, copies=3)
    assert sizes.of(CutSizes(5, 20, 200, 2), shape) == sizes.of(small, shape) == small
    assert sizes.of(small, (4, 64)) == CutSizes(12, 32, 768, 3)
    assert PaddedSizes().of(small._replace(longest=33), shape) == small._replace(longest=64)
    for grown in (small._replace(sequences=7), small._replace(copies=4)):
        assert PaddedSizes().of(grown, shape) == CutSizes(10, 64, 384, 5)
    assert sizes.of(small._replace(gathered=640), shape) == CutSizes(18, 64, 640, 9)
    assert sizes.of(small, shape) == CutSizes(18, 64, 640, 9)


def test_a_prefix_with_two_continuations_fits_into_the_first_sizes() -> None:
    sizes, rows = PaddedSizes(), [[[64, 17, 15]], [[88, 6, 2]], []]
    runs = Runs.of(layout_of(rows, 96))
    keys, counts = gathered_keys(runs)
    assert len(keys) == 3 * 64 + 32 + 3 * 88 + 8 + 96 and counts.tolist() == [64, 81, 79, 88, 94, 90, 96]
    assert len(keys) <= sizes.of(CutSizes(len(counts), 48, len(keys), 3), (3, 96)).gathered == 3 * 3 * 96


def test_the_flash_kernel_is_called_as_torch_wants_it() -> None:
    """On the meta device: shapes and signature only, forward and backward."""
    q = torch.empty(20, 4, 16, device="meta", dtype=torch.bfloat16, requires_grad=True)
    k, v = (torch.empty(31, 2, 16, device="meta", dtype=torch.bfloat16, requires_grad=True) for _ in range(2))
    cu_q, cu_k = (torch.empty(5, device="meta", dtype=torch.int32) for _ in range(2))
    y = flash_kernel()(q, k, v, cu_q, cu_k, 8, 16, window=(3, 0))
    y.sum().backward()
    assert y.shape == q.shape
    assert k.grad is not None and k.grad.shape == k.shape


@pytest.mark.parametrize(
    ("compiled", "expected", "path"), [(False, "unpacked", UnpackedPath), (True, "sdpa", DensePath)]
)
def test_auto_without_a_gpu_says_why(compiled: bool, expected: str, path: type) -> None:
    name, reason = choose_attention(CPU, torch.float32, compiled=compiled)
    assert name == expected
    assert "the flash kernels need a CUDA device, this is cpu" in reason
    assert isinstance(make_path(name, True), path)


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [("fa3", "needs a CUDA device"), ("varlen", "needs a CUDA device"), ("flex", "no backward pass")],
)
def test_a_path_that_is_not_available_is_refused_with_the_reason(wanted: str, reason: str) -> None:
    assert wanted in ATTENTION_CHOICES
    with pytest.raises(UserError, match=f"--attention {wanted}: .*{reason}"):
        choose_attention(CPU, torch.float32, wanted)


def pretend_gpu(monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int], packages: set[str]) -> torch.device:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "a GPU")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object() if name in packages else None)
    fa3 = ModuleType(FA3_PACKAGE) if FA3_PACKAGE in packages else None  # None: the import says there is no such module
    monkeypatch.setitem(sys.modules, FA3_PACKAGE, fa3)
    monkeypatch.setattr(torch.ops, "flash_attn_3", SimpleNamespace(fwd=None, bwd=None), raising=False)
    return torch.device("cuda", 0)


def test_a_kernel_package_that_cannot_be_loaded_is_a_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    device = pretend_gpu(monkeypatch, (9, 0), set())
    monkeypatch.delitem(sys.modules, FA3_PACKAGE)
    (tmp_path / f"{FA3_PACKAGE}.py").write_text("raise ImportError('undefined symbol')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    name, reason = choose_attention(device, torch.bfloat16)
    assert name == "varlen"
    assert f"not fa3: the package {FA3_PACKAGE} cannot be loaded: undefined symbol" in reason


def test_a_kernel_package_without_a_backward_pass_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    device = pretend_gpu(monkeypatch, (9, 0), {FA3_PACKAGE})
    monkeypatch.setattr(torch.ops, "flash_attn_3", SimpleNamespace(fwd=None))
    name, reason = choose_attention(device, torch.bfloat16)
    assert name == "varlen" and "has no kernels that torch can take" in reason


def test_torch_knows_the_implementation_that_is_activated() -> None:
    assert "FA3" in list_flash_attention_impls()


@pytest.mark.parametrize(
    ("capability", "packages", "dtype", "expected"),
    [
        ((9, 0), {"flash_attn_interface", "triton"}, torch.bfloat16, "fa3"),
        ((9, 0), {"triton"}, torch.bfloat16, "varlen"),
        ((8, 0), {"flash_attn_interface", "triton"}, torch.bfloat16, "varlen"),
        ((9, 0), {"flash_attn_interface", "triton"}, torch.float32, "flex"),
        ((7, 5), set(), torch.float16, "sdpa"),
    ],
)
def test_auto_takes_the_best_that_a_gpu_has(
    capability: tuple[int, int],
    packages: set[str],
    dtype: torch.dtype,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device = pretend_gpu(monkeypatch, capability, packages)
    name, reason = choose_attention(device, dtype)
    assert name == expected
    for refused in ATTENTION_CHOICES[1 : ATTENTION_CHOICES.index(expected)]:
        assert f"not {refused}: " in reason
