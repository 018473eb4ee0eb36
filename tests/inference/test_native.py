"""The compiled engine beside torch's: the same answers, and torch's where it cannot be had."""

import platform
import random
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from nanoproof.inference import native_backend, native_build
from nanoproof.inference.engine import Engine
from nanoproof.inference.model_options import EngineLimits
from nanoproof.inference.sampling import SamplingOptions
from nanoproof.model.gpt import GPT
from nanoproof.model.tokenizer import Tokenizer
from tests.inference.test_engine_batching import lively, some_prompts, texts

NATIVE, TORCH = EngineLimits(backend="native"), EngineLimits(backend="torch")
needs_compiler = pytest.mark.skipif(shutil.which("c++") is None, reason="there is no C++ compiler")


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home where nothing was compiled, and a process that has not tried."""
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path))
    monkeypatch.setattr(native_build, "_failures", {})
    native_backend._warn.cache_clear()
    return tmp_path


def reason(net: GPT, tokenizer: Tokenizer) -> str:
    """Why an engine takes torch's way: `--engine native` says the same."""
    engine = Engine(net, tokenizer)
    decision = engine.decisions()["engine"]
    assert decision.startswith("torch (")
    assert engine.generate([[tokenizer.bos, 5]], SamplingOptions(2, 4), [0])
    with pytest.raises(ValueError) as refused:
        Engine(net, tokenizer, NATIVE)
    assert str(refused.value) == f"engine.backend: {decision.removeprefix('torch (').removesuffix(')')}"
    return decision


@needs_compiler
def test_greedy_texts_and_values_are_those_of_torch_on_200_states(tokenizer: Tokenizer) -> None:
    net = lively(tokenizer, window_pattern="SL", num_kv_heads=1)
    prompts, greedy = some_prompts(tokenizer, random.Random(0), 200), SamplingOptions(1, 12, temperature=1e-6)
    answers, expected = (Engine(net, tokenizer, how).generate(prompts, greedy, range(200)) for how in (NATIVE, TORCH))
    for answer, other in zip(answers, expected, strict=True):
        assert [sample.tokens for sample in answer.unfinished] == [sample.tokens for sample in other.unfinished]
        assert texts(answer) == texts(other)
        assert answer.value_distribution == pytest.approx(other.value_distribution, abs=1e-5)


@needs_compiler
@pytest.mark.parametrize("top_p", [1.0, 0.6])
@pytest.mark.parametrize(("cap", "temperature"), [(None, 1.0), (2, 0.7)])
def test_equal_seeds_draw_the_samples_of_torch(
    tokenizer: Tokenizer, cap: int | None, temperature: float, top_p: float
) -> None:
    net = lively(tokenizer)
    prompts = some_prompts(tokenizer, random.Random(1), 40)
    options = SamplingOptions(6, 8, cap, temperature, top_p)
    answers, expected = (Engine(net, tokenizer, how).generate(prompts, options, range(40)) for how in (NATIVE, TORCH))
    same = [texts(answer) == texts(other) for answer, other in zip(answers, expected, strict=True)]
    # A number that falls between two sums which round apart draws another token: 1 of 2,000 samples here.
    assert sum(same) >= 38


@needs_compiler
def test_weights_of_16_bits_give_nearly_the_same_probabilities(tokenizer: Tokenizer) -> None:
    net = lively(tokenizer)
    rough = GPT.allocate(net.config, compute_dtype=torch.bfloat16)
    rough.load_state_dict(net.state_dict())
    engine = Engine(rough, tokenizer, NATIVE)
    assert engine.decisions()["engine_weights"].startswith("bfloat16")
    prompts = some_prompts(tokenizer, random.Random(2), 20)
    options = SamplingOptions(1, 1)
    answers = engine.generate(prompts, options, range(20))
    expected = Engine(net, tokenizer, TORCH).generate(prompts, options, range(20))
    for answer, other in zip(answers, expected, strict=True):
        assert answer.value_distribution == pytest.approx(other.value_distribution, abs=0.02)


@needs_compiler
@pytest.mark.skipif(platform.machine() != "x86_64", reason="of x86-64")
def test_older_processors_get_the_same_answers(
    tokenizer: Tokenizer, fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    net, options = lively(tokenizer, window_pattern="SL"), SamplingOptions(3, 6)
    prompts = some_prompts(tokenizer, random.Random(3), 12)
    monkeypatch.setenv(native_build.ISA_VARIABLE, "avx2")
    monkeypatch.setattr(native_build, "FLAGS", (*native_build.FLAGS, "-O1"))  # compiles in half the time
    engine = Engine(net, tokenizer, NATIVE)
    assert engine.decisions()["engine"] == "native (compiled for 8 numbers at a time)"
    expected = Engine(net, tokenizer, TORCH).generate(prompts, options, range(12))
    for answer, other in zip(engine.generate(prompts, options, range(12)), expected, strict=True):
        assert texts(answer) == texts(other)
        assert answer.value_distribution == pytest.approx(other.value_distribution, abs=1e-5)
    # Compiled once: another engine, of another process as well, finds it.
    (library,) = (fresh / "cache" / "native").iterdir()
    monkeypatch.setattr(native_build, "_build", None)
    Engine(net, tokenizer, NATIVE)
    assert library.suffix == ".so"


def test_what_several_need_at_once_is_compiled_once(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    def compile_slowly(command: list[str]) -> None:
        compiled.append(command[-1])
        time.sleep(0.2)
        Path(command[-1]).write_text("a library")

    monkeypatch.setattr(native_build, "_compiler", lambda: ["c++"])
    monkeypatch.setattr(native_build, "_architecture_flag", lambda: "-march=native")
    monkeypatch.setattr(native_build, "_key", lambda command: "key")
    monkeypatch.setattr(native_build, "_compile", compile_slowly)
    monkeypatch.setattr(native_build, "ctypes", SimpleNamespace(CDLL=str))
    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(native_build.built_library, [lambda library: None] * 4))
    assert found == {str(fresh / "cache" / "native" / "key.so")} and len(compiled) == 1


def test_without_a_compiler_torch_computes_and_it_is_said_once(
    tokenizer: Tokenizer, fresh: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PATH", str(fresh))
    monkeypatch.delenv("CXX", raising=False)
    assert "there is no C++ compiler (g++ or clang++" in reason(lively(tokenizer), tokenizer)
    Engine(lively(tokenizer), tokenizer)
    assert len(caplog.records) == 1 and "computed by torch" in caplog.text


@pytest.mark.parametrize(
    ("isa", "said"), [("none", "NANOPROOF_ENGINE_ISA=none"), ("sse9", "is none of native, avx2, avx512 and none")]
)
def test_a_processor_that_is_too_old_or_unknown_is_named(
    tokenizer: Tokenizer, fresh: Path, monkeypatch: pytest.MonkeyPatch, isa: str, said: str
) -> None:
    monkeypatch.setenv("CXX", sys.executable)
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setenv(native_build.ISA_VARIABLE, isa)
    assert said in reason(lively(tokenizer), tokenizer)
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    monkeypatch.delenv(native_build.ISA_VARIABLE)
    assert "for x86-64 and 64-bit ARM, this is riscv64" in reason(lively(tokenizer), tokenizer)


def test_a_compiler_that_fails_is_asked_once(
    tokenizer: Tokenizer, fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = fresh / "compiler"
    compiler.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && exit\necho >> {fresh}/runs\necho "x: error: why" >&2\nexit 1\n'
    )
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    assert f"{compiler} failed: x: error: why" in reason(lively(tokenizer), tokenizer)
    assert (fresh / "runs").read_text() == "\n"


@needs_compiler
def test_an_option_of_sampling_that_compiled_code_lacks_is_left_to_torch(
    tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native_backend, "UNSHAPED", (*native_backend.UNSHAPED, 0.0))
    assert "does not know all options of sampling" in reason(lively(tokenizer), tokenizer)


@needs_compiler
def test_what_computes_other_numbers_than_torch_is_not_kept(
    tokenizer: Tokenizer, fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = fresh / "native.cpp"
    text = native_build.SOURCE.read_text()
    assert "SOFTCAP = 15.0f" in text
    source.write_text(text.replace("SOFTCAP = 15.0f", "SOFTCAP = 14.0f"))
    monkeypatch.setattr(native_build, "SOURCE", source)
    monkeypatch.setattr(native_build, "FLAGS", (*native_build.FLAGS, "-O0"))
    assert "what was compiled computes other numbers than torch" in reason(lively(tokenizer), tokenizer)
    assert list((fresh / "cache" / "native").iterdir()) == []


def test_a_file_that_is_no_library_and_a_home_that_cannot_be_written_are_named(
    tokenizer: Tokenizer, fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", "true")
    (fresh / "cache").write_text("a file")
    assert "Error:" in reason(lively(tokenizer), tokenizer)
    (fresh / "cache").unlink()
    monkeypatch.setattr(native_build, "_failures", {})
    monkeypatch.setattr(native_build, "_compile", lambda command: Path(command[-1]).write_text("no library"))
    assert "OSError" in reason(lively(tokenizer), tokenizer)


def test_float64_is_computed_by_torch(tokenizer: Tokenizer) -> None:
    net = lively(tokenizer)
    net.compute_dtype = torch.float64
    with pytest.raises(ValueError, match=r"computes in float32 .* this is float64"):
        Engine(net, tokenizer, NATIVE)


@needs_compiler
def test_weights_are_read_when_they_have_changed(tokenizer: Tokenizer) -> None:
    net, other = lively(tokenizer), lively(tokenizer, 1)
    engine, options = Engine(net, tokenizer, NATIVE), SamplingOptions(3, 6)
    prompts = some_prompts(tokenizer, random.Random(4), 5)
    engine.generate(prompts, options, range(5))
    net.load_state_dict(other.state_dict())
    engine.refresh()
    assert engine.generate(prompts, options, range(5)) == Engine(other, tokenizer, NATIVE).generate(
        prompts, options, range(5)
    )


@needs_compiler
def test_compilers_warn_of_nothing(tmp_path: Path) -> None:
    command = ["c++", "-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-march=x86-64-v3"]
    if platform.machine() != "x86_64":
        command.pop()
    done = subprocess.run([*command, str(native_build.SOURCE)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
