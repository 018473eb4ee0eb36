"""The inference benchmark: its plain way says what the engine says, its counts are right, every part can be run."""

import json
import random
from pathlib import Path

import pytest
import torch

from benchmarks import hf_inference
from benchmarks.hardware import Peaks, Work, decode_work, prefill_work
from benchmarks.inference_options import Load, NetworkSize
from benchmarks.inference_work import Network, made_up_tokenizer, random_network, random_prompts, random_states
from benchmarks.plain_inference import PlainEngine
from benchmarks.policy_cpu import turns_of
from nanoproof.common.distributed import init_distributed
from nanoproof.inference.engine import Engine
from nanoproof.inference.sampling import SamplingOptions
from nanoproof.model.compute import matrix_parameters
from nanoproof.model.gpt import GPTConfig
from nanoproof.model.network_options import NetworkShape
from scripts import bench_inference

TINY = """--threads 1 --device-type cpu --states 2 --samples 2 --states-per-round 2 --rounds 1 --max-new-tokens 4
    --min-prompt-tokens 8 --max-prompt-tokens 12 --depth 1 --vocab-size 1200"""
FIELDS = {"name", "ratio", "ours", "baseline", "unit", "hardware", "details"}


@pytest.fixture(scope="module")
def network() -> Network:
    size = NetworkSize(2048, NetworkShape(depth=2, aspect_ratio=16, head_dim=16), end_probability=0.3)
    network = random_network(size, 128, init_distributed("cpu"))
    with torch.no_grad():
        for block in network.model.layers:  # fresh layers are the identity
            torch.nn.init.normal_(block.attention_out.weight, std=0.1)
    return network


def test_the_plain_way_gives_the_values_of_the_engine(network: Network) -> None:
    prompts = random_prompts(Load(min_prompt_tokens=5, max_prompt_tokens=40), network.tokenizer, random.Random(0), 4)
    ours = Engine(network.model, network.tokenizer).generate(prompts, SamplingOptions(2, 3), range(4))
    generator = torch.Generator().manual_seed(0)
    samples, values = PlainEngine(network.model, network.tokenizer).generate(prompts, 2, 3, generator)
    assert [len(rows) for rows in samples] == [2] * 4
    for answer, value in zip(ours, values):
        assert answer.value_distribution == pytest.approx(value, abs=1e-5)


def test_samples_of_random_weights_end_as_likely_as_asked_for(network: Network) -> None:
    prompts = random_prompts(Load(min_prompt_tokens=5, max_prompt_tokens=6), network.tokenizer, random.Random(0), 20)
    answers = Engine(network.model, network.tokenizer).generate(prompts, SamplingOptions(20, 1), range(20))
    assert sum(len(answer.samples) for answer in answers) / 400 == pytest.approx(0.3, abs=0.1)


@pytest.mark.parametrize("size", [1200, 5000])
def test_made_up_vocabularies_have_the_size_and_their_texts_the_length_asked_for(size: int) -> None:
    tokenizer = made_up_tokenizer(size)
    assert tokenizer.vocab_size == size
    states = random_states(Load(min_prompt_tokens=50, max_prompt_tokens=60), tokenizer, random.Random(0))
    lengths = [len(tokenizer.encode(next(states) + "\n")) + 1 for _ in range(20)]
    assert min(lengths) >= 48 and max(lengths) <= 62


def test_work_is_counted_by_hand() -> None:
    config = GPTConfig(vocab_size=128, depth=1, aspect_ratio=8, head_dim=8, sequence_len=32)
    width, blocks = 8, matrix_parameters(config)["attention"] + matrix_parameters(config)["feed_forward"]
    assert blocks == 12 * width * width
    # The only layer is the last: of a prompt it gives keys and values, all else is for the markers.
    read = prefill_work(config, [10], 100, torch.float32)
    assert read.flops == 2 * (2 * width * width * 10 + blocks * 2 + width * 164)
    assert read.bytes == 4 * (blocks + width * 164 + 2 * width * 10)
    # Two samples of 2 and 3 tokens: two steps after the first token, of 2 rows and of 1.
    written = decode_work(config, [10], [[2, 3]], 100, torch.float32)
    pairs = (2 * 11 + 2 * 1) + (1 * 11 + 1 * 2)
    assert written.flops == 2 * (blocks + width * 100) * 3 + 4 * width * pairs
    assert written.bytes == 4 * (2 * (blocks + width * 100) + 2 * width * ((11 + 2) + (11 + 2)))
    # Two states at a time: the third begins when the second has ended, and shares a step with the end of the first.
    begins = turns_of([[4], [2], [2]], 2)
    assert begins == [0, 0, 2]
    in_turns = decode_work(config, [10, 10, 10], [[4], [2], [2]], 100, torch.float32, begins)
    steps, columns = 3, (11 + 1) + (11 + 2) + (11 + 3) + 2 * (11 + 1)
    assert in_turns.bytes == 4 * (steps * (blocks + width * 100) + 2 * width * columns)
    assert in_turns.flops == 2 * (blocks + width * 100) * 5 + 4 * width * columns


def test_the_limit_is_what_is_scarcer() -> None:
    peaks = Peaks(flops=100.0, bandwidth=10.0)
    assert (peaks.seconds(Work(200, 10)), peaks.bound(Work(200, 10))) == (2.0, "arithmetic")
    assert (peaks.seconds(Work(200, 50)), peaks.bound(Work(200, 50))) == (5.0, "memory")


@pytest.mark.nightly
def test_every_part_can_be_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hf_inference, "missing_for_transformers", lambda: "transformers is not installed")
    monkeypatch.setattr("benchmarks.hardware.REPEATS", 2)
    words = ["--parts", *bench_inference.PARTS, *TINY.split(), "--lengths", "8", "16", "--waiting", "2", "5"]
    files = ["--json", str(tmp_path / "x.json"), "--markdown", str(tmp_path / "x.md")]
    assert bench_inference.main([*words, *files]) == 0
    out = capsys.readouterr().out
    assert "transformers: skipped (transformers is not installed)" in out
    results = json.loads((tmp_path / "x.json").read_text())
    assert all(set(result) == FIELDS for result in results)
    names = [result["name"] for result in results]
    assert names[:4] == [
        "engine against plain",
        "prefill beside the machine's limit",
        "decode beside the machine's limit",
        "policy, 2 threads",
    ]
    assert {"prompts of 8 tokens", "5 threads wait", "not measured, CUDA graphs on"} <= set(names)
    table = (tmp_path / "x.md").read_text()
    assert "| not measured, CUDA graphs on | - | - | - | engine.cuda_graphs: they need a CUDA device" in table
    assert table.count("\n") == 4 + len(results)
