"""Compiling and 8-bit products change how a forward is computed, not what it computes nor what the parameters are."""

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.attention import flex_attention as torch_flex

from nanoproof.common.errors import UserError
from nanoproof.model.attention import AttentionPath, DensePath
from nanoproof.model.compute import Compute, choose_compile, choose_compute, compile_model
from nanoproof.model.flash_attention import FlexPath, VarlenPath
from nanoproof.model.gpt import GPT
from nanoproof.model.tokenizer import Tokenizer
from tests.helpers import Later
from tests.model.attention_layouts import layout_of, random_layout, slow_kernel
from tests.model.conftest import make_model

CPU = torch.device("cpu")
dynamo: Any = Later("torch._dynamo")
ROWS, LENGTH = 3, 48
PATHS = {"sdpa": DensePath, "flex": lambda: FlexPath(compiled=False), "varlen": lambda: VarlenPath(slow_kernel)}


@pytest.fixture(autouse=True)
def fresh_compiler(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(torch_flex, "_validate_device", lambda *tensors: None)
    monkeypatch.setattr(logging.getLogger("torch.__trace"), "disabled", True)  # thousands of records
    dynamo.reset()
    dynamo.utils.counters.clear()
    yield
    dynamo.reset()


def compiled_model(tokenizer: Tokenizer, path: AttentionPath, backend: str = "eager", windows: str = "SSL") -> GPT:
    """A model with a layer for each of these windows."""
    model = plain_model(tokenizer, windows)
    model.attention = path
    compile_model(model, backend=backend, fullgraph=True)
    return model


def plain_model(tokenizer: Tokenizer, windows: str = "SSL") -> GPT:
    return make_model(tokenizer, depth=len(windows), window_pattern=windows, sequence_len=LENGTH, num_kv_heads=1)


def batch(tokenizer: Tokenizer, seed: int) -> torch.Tensor:
    return torch.randint(tokenizer.vocab_size, (ROWS, LENGTH), generator=torch.Generator().manual_seed(seed))


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "backend", "windows"), [("sdpa", "eager", "SSL"), ("flex", "eager", "SSL"), ("varlen", "aot_eager", "S")]
)
def test_packed_batches_of_one_shape_are_compiled_once_and_give_the_same(
    tokenizer: Tokenizer, name: str, backend: str, windows: str
) -> None:
    path = PATHS[name]()
    compiled = compiled_model(tokenizer, path, backend, windows)
    plain = plain_model(tokenizer, windows)
    for seed in range(2):
        layout = random_layout(ROWS, LENGTH, seed=seed)
        select = (layout.branches > 0).flatten().nonzero().squeeze(1)
        outputs = [model(batch(tokenizer, seed), layout, select) for model in (compiled, plain)]
        torch.testing.assert_close(outputs[0], outputs[1], atol=1e-4, rtol=1e-4)
        for output in outputs:
            output.square().mean().backward()
    for ours, theirs in zip(compiled.parameters(), plain.parameters()):
        torch.testing.assert_close(ours.grad, theirs.grad, atol=1e-4, rtol=1e-3)
    # Of the layers of each window, however many they are.
    assert dynamo.utils.counters["stats"]["unique_graphs"] == len(set(windows))
    assert not dynamo.utils.counters["graph_break"]


def test_larger_packed_batches_are_compiled_again_and_smaller_ones_not(tokenizer: Tokenizer) -> None:
    model = compiled_model(tokenizer, VarlenPath(slow_kernel), windows="S")
    small, large = [[[8, 2]], [], []], [[[4, 2, 2, 2, 2]] * 4, [[40, 8]], []]
    graphs = []
    for rows in (small, large, small, large):
        model(batch(tokenizer, 0), layout_of(rows, LENGTH))
        graphs.append(dynamo.utils.counters["stats"]["unique_graphs"])
    assert graphs == [1, 2, 2, 2]


@pytest.mark.nightly
def test_losses_of_causal_rows_are_compiled_with_the_head(
    tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, plain = compiled_model(tokenizer, DensePath(), "aot_eager", "S"), plain_model(tokenizer, "S")
    logits = ROWS * LENGTH * model.config.padded_vocab_size
    for parts, graphs in ((1, 2), (4, 3)):  # of the layer and of the head, and of the head for a part
        monkeypatch.setattr("nanoproof.model.gpt.COMPILED_LOGITS_AT_ONCE", logits // parts)
        for seed in range(2):
            tokens, targets = batch(tokenizer, seed), batch(tokenizer, seed + 10)
            outputs = [each.losses(tokens, targets) for each in (model, plain)]
            torch.testing.assert_close(outputs[0], outputs[1], atol=1e-4, rtol=1e-4)
            for output in outputs:
                output.mean().backward()
        for ours, theirs in zip(model.parameters(), plain.parameters()):
            torch.testing.assert_close(ours.grad, theirs.grad, atol=1e-4, rtol=1e-3)
        assert dynamo.utils.counters["stats"]["unique_graphs"] == graphs


def test_parameters_keep_their_names(tokenizer: Tokenizer) -> None:
    model = make_model(tokenizer, depth=2, aspect_ratio=16, head_dim=16)
    names = list(model.state_dict())
    Compute("sdpa", "", True, "", True, "").apply(model)
    assert model.compiled_block is not None
    assert list(model.state_dict()) == names


def test_compiled_code_is_kept_beside_the_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("shutil.which", lambda name: "/bin/g++")
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path))
    for asked, expected in ((None, str(tmp_path / "cache" / "compiled")), ("/elsewhere", "/elsewhere")):
        monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", "")
        monkeypatch.delenv("TORCHINDUCTOR_CACHE_DIR")
        if asked is not None:
            monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", asked)
        choose_compute(CPU, torch.float32, compiled="off")
        assert os.environ.get("TORCHINDUCTOR_CACHE_DIR") == asked
        choose_compute(CPU, torch.float32, attention="sdpa", compiled="on")
        assert os.environ["TORCHINDUCTOR_CACHE_DIR"] == expected


def test_auto_compiles_on_cuda_only(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    assert choose_compile(CPU, "auto") == (False, "auto compiles on CUDA only, this is cpu")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    monkeypatch.setattr("shutil.which", lambda name: "/bin/gcc" if name == "gcc" else None)
    (tmp_path / "Python.h").touch()
    monkeypatch.setattr("sysconfig.get_paths", lambda: {"include": str(tmp_path)})
    assert choose_compile(torch.device("cuda"), "auto") == (True, "CUDA device")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with caplog.at_level(logging.WARNING):
        on, reason = choose_compile(torch.device("cuda"), "auto")
    assert not on and reason.startswith("Triton is not installed") and "not compiled" in caplog.text


@pytest.mark.parametrize("lacking", ["a C compiler", "Python.h"])
def test_nothing_is_compiled_where_triton_would_fail_at_the_first_step(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lacking: str
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    monkeypatch.setattr("sysconfig.get_paths", lambda: {"include": str(tmp_path)})
    monkeypatch.setattr("shutil.which", lambda name: None if lacking == "a C compiler" else "/bin/cc")
    assert choose_compile(torch.device("cuda"), "auto")[0] is False
    with pytest.raises(UserError, match=f"--compile on: Triton needs {lacking}"):
        choose_compile(torch.device("cuda"), "on")


def test_what_is_asked_for_and_cannot_be_had_is_refused(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="--fp8: it needs a CUDA device, this is cpu"):
        choose_compute(CPU, torch.float32, fp8=True)
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(UserError, match=r"--compile on: there is no C\+\+ compiler"):
        choose_compute(CPU, torch.float32, compiled="on")
    monkeypatch.undo()
    with pytest.raises(UserError, match="--compile on is for fixed shapes, those of --attention unpacked differ"):
        choose_compute(CPU, torch.float32, attention="unpacked", compiled="on")
    odd = make_model(tokenizer, depth=2, aspect_ratio=12, head_dim=12)
    with pytest.raises(
        UserError, match="--attention varlen wants heads whose size is a multiple of 8 up to 256, not 12"
    ):
        Compute("varlen", "", False, "", False, "").apply(odd)
    with pytest.raises(UserError, match="--fp8: the sizes of qkv must be multiples of 16, got 24"):
        Compute("sdpa", "", False, "", True, "").apply(odd)


def test_decisions_carry_their_reasons() -> None:
    assert choose_compute(CPU, torch.float32, attention="sdpa", compiled="off").decisions() == {
        "attention": "sdpa (asked for)",
        "compile": "off (asked for)",
        "fp8": "off (not asked for)",
    }
