"""Rounds whose texts servers write: they have the weights of the round's model, or are refused."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from nanoproof.common.errors import UserError
from nanoproof.inference.hf_model import HFModel
from nanoproof.inference.language_model import GenerationOptions
from nanoproof.selfplay import __main__ as selfplay
from nanoproof.selfplay.endpoints import RoundEndpoints
from nanoproof.selfplay.selfplay_options import RoundEndpointOptions
from tests.fakes.hf_models import save_decoder
from tests.fakes.vllm_server import VLLMServer
from tests.helpers import Later

transformers: Any = Later("transformers")
peft: Any = Later("peft")

PROMPTS = ["theorem a : p", "theorem b (h : q) : q", "⊢ r"]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_decoder(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def adapters(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the training of a round leaves."""
    folder: Path = tmp_path_factory.mktemp("round") / "checkpoint-5"
    network = transformers.AutoModelForCausalLM.from_pretrained(base)
    torch.manual_seed(1)
    config = peft.LoraConfig(r=2, target_modules=["q_proj"], task_type="CAUSAL_LM", init_lora_weights=False)
    peft.get_peft_model(network, config).save_pretrained(folder)
    return folder


@pytest.fixture
def server(base: Path) -> Iterator[VLLMServer]:
    started = VLLMServer(base)
    yield started
    started.stop()


def test_each_round_is_written_by_the_weights_it_begins_with(
    base: Path, adapters: Path, server: VLLMServer, tmp_path: Path
) -> None:
    endpoints = RoundEndpoints(RoundEndpointOptions((server.address,)), tmp_path)
    how = GenerationOptions(num_samples=2, max_new_tokens=6, temperature=0)
    texts = []
    for folder in (base, adapters):
        own = HFModel(str(folder))
        with endpoints.writing(own) as served:
            written = served.generate(PROMPTS, how, [1, 2, 3])
            assert [[sample.text for sample in samples] for samples in written] == [
                [sample.text for sample in samples] for samples in own.generate(PROMPTS, how, [1, 2, 3])
            ]
            assert (served.name, len(server.adapters())) == (f"hf:{folder}", int(folder == adapters))
            assert served.embed(["p"]).shape == (1, 32) and getattr(served, "batches", 1) > 1
        assert server.adapters() == []
        texts.append(written)
        own.close()
    assert texts[0] != texts[1]


def test_a_server_of_another_base_is_refused_in_the_first_round(server: VLLMServer, tmp_path: Path) -> None:
    own = HFModel(str(save_decoder(tmp_path / "other", seed=5)))
    writing = RoundEndpoints(RoundEndpointOptions((server.address,)), tmp_path).writing(own)
    with (
        pytest.raises(UserError, match=r"with other weights than those of the base: .*does it serve the same"),
        writing,
    ):
        raise AssertionError
    own.close()


def test_what_endpoints_cannot_write_is_refused_before_anything_is_loaded(tmp_path: Path) -> None:
    line = ["--dataset-config", "x", "--exp-dir", str(tmp_path / "exp"), "--policy-endpoint", "http://127.0.0.1:9/v1"]
    with pytest.raises(UserError, match="--policy-endpoint without --lora: servers load adapters"):
        selfplay.main(["--model-path", "hf:x", *line])
    with pytest.raises(UserError, match=r"--policy-endpoint is for models of transformers \(hf:\), and"):
        selfplay.main(["--model-path", "sft/x", "--lora", "2", *line])
