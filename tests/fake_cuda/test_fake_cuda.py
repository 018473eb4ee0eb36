"""The paths for GPUs on a pretended device: they answer as those for CPUs, within their budgets."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from nanoproof.inference.engine import Engine
from nanoproof.inference.model_options import EngineLimits
from nanoproof.inference.sampling import SamplingOptions
from nanoproof.model.tokenizer import Tokenizer, train_tokenizer
from nanoproof.training.loss import transition_loss
from tests.fake_cuda.budgets import BUDGETS, NORMS, WEIGHTS, FakeRecorder, measure, network, packed
from tests.fake_cuda.harness import DEVICE, Pretend
from tests.model.conftest import TEXTS, make_model

pytestmark = pytest.mark.skipif(
    torch.version.cuda is None, reason="torch has no CUDA build here: bash runs/test_gpu_fake.sh makes an environment"
)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return train_tokenizer(TEXTS * 3, 520)


def test_waits_and_kernels_are_counted() -> None:
    with Pretend() as device, device.counting() as count:
        x = torch.arange(6.0, device=DEVICE).view(2, 3)
        assert (x.is_cuda, x.device, float(x.sum())) == (True, DEVICE, 15.0)
        assert x[x > 2].tolist() == [3.0, 4.0, 5.0]
        assert x.to("cpu", non_blocking=True).shape == (2, 3)
    assert (count.ops["arange"], count.ops["sum"], count.ops["gt"]) == (1, 1, 1)
    assert count.waits == {"_local_scalar_dense": 1, "index by a mask": 1, "copy to the CPU": 1}


def test_the_engine_answers_as_on_a_cpu(tokenizer: Tokenizer) -> None:
    rng, options = random.Random(1), SamplingOptions(num_samples=3, max_new_tokens=4)
    prompts = [[tokenizer.bos, *rng.choices(range(tokenizer.num_text_tokens), k=5 + 3 * i)] for i in range(6)]
    prompts += [[*prompt, 7, 8] for prompt in prompts]
    net = make_model(tokenizer, window_pattern="SL")
    plain = Engine(net, tokenizer, EngineLimits(cache_mbytes=20)).generate(prompts, options, list(range(12)))
    with Pretend() as device:
        device.move(net)
        engine = Engine(net, tokenizer, EngineLimits(cache_mbytes=20, max_rows=24), recorder=FakeRecorder(device))
        answers = engine.generate(prompts, options, list(range(12)))
    assert engine.stats.replayed_steps > 0
    for answer, wanted in zip(answers, plain, strict=True):
        assert [sample.tokens for sample in answer.samples] == [sample.tokens for sample in wanted.samples]
        assert answer.value_distribution == pytest.approx(wanted.value_distribution, abs=1e-5)


def test_a_micro_batch_has_the_loss_and_gradients_of_a_cpu(tokenizer: Tokenizer) -> None:
    net, batch = network(tokenizer, depth=2), packed(tokenizer, rows=1)
    net.compute_dtype = torch.float32
    loss, _ = transition_loss(net, batch, WEIGHTS, NORMS)
    loss.backward()
    wanted = {name: parameter.grad for name, parameter in net.named_parameters()}
    net.zero_grad()
    with Pretend() as device:
        device.move(net)
        there, _ = transition_loss(net, batch, WEIGHTS, NORMS)
        there.backward()
        found = {name: parameter.grad.to("cpu") for name, parameter in net.named_parameters()}
        assert float(there) == pytest.approx(float(loss), rel=1e-5)
    for name, gradient in wanted.items():
        torch.testing.assert_close(found[name], gradient, rtol=1e-3, atol=1e-5, msg=name)


def test_budgets_are_kept() -> None:
    table = measure()
    assert len(table) == len(BUDGETS)
    assert [f"{row.what}: {row.value} > {row.budget}" for row in table if not row.kept] == []


TRAIN_COMPILED = """
import torch
from nanoproof.model.compute import choose_compute
from nanoproof.model.gpt import GPT, GPTConfig

torch.manual_seed(0)
model = GPT.create(GPTConfig(100, depth=1, aspect_ratio=16, head_dim=16, sequence_len=32))
choose_compute(torch.device("cpu"), torch.float32, "sdpa", "on").apply(model)
tokens = torch.arange(64).view(2, 32)
model.losses(tokens, tokens).mean().backward()
from torch._dynamo.utils import counters

print(*(counters["aot_autograd"][f"autograd_cache_{name}"] for name in ("hit", "miss", "bypass")))
print(*(counters["inductor"][f"fxgraph_cache_{name}"] for name in ("miss", "bypass")))
"""


@pytest.mark.timeout(1200)
def test_a_second_run_takes_its_compiled_code_from_the_cache(tmp_path: Path) -> None:
    environment = {**os.environ, "NANOPROOF_HOME": str(tmp_path)}
    for name in ("TRITON_INTERPRET", "TORCHINDUCTOR_CACHE_DIR"):
        environment.pop(name, None)
    found = []
    for _ in range(2):
        command = [sys.executable, "-c", TRAIN_COMPILED]
        said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        found.append([[int(number) for number in line.split()] for line in said.splitlines()])
    assert found == [[[0, 2, 0], [4, 0]], [[2, 0, 0], [0, 0]]]  # of a layer and of the head, forward and backward
    assert list((tmp_path / "cache" / "compiled" / "fxgraph").iterdir())
