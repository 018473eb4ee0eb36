"""Samples of servers that load the adapters of each step: whose they are, restarts, and servers that do something else.

The servers are stand-ins that answer as vLLM does, with real networks.
"""

import contextlib
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from nanoproof.common.errors import UserError
from nanoproof.inference import lora_endpoints
from nanoproof.inference.language_model import TextSample
from nanoproof.inference.lora_endpoints import Adapters, LoraEndpoints
from nanoproof.inference.value_head import ValueHead
from nanoproof.rl import endpoint_policy
from nanoproof.rl.endpoint_policy import FOLDER, EndpointPolicy
from nanoproof.rl.hub_learner import HubLearner
from nanoproof.rl.options import RLConfig, parse_args
from nanoproof.search.policy import PolicyUnreachable
from tests.fakes.hf_models import save_decoder
from tests.fakes.vllm_server import VLLMServer
from tests.rl.test_hub_rl import STEPS
from tests.training import small

STATES = [item.state for item in STEPS]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = save_decoder(tmp_path_factory.mktemp("model"))
    head = ValueHead(32)
    with torch.no_grad():
        head.weight.normal_(std=0.1)
    head.save(folder)
    return folder


@pytest.fixture
def servers(model: Path) -> Iterator[list[VLLMServer]]:
    started = [VLLMServer(model), VLLMServer(model)]
    yield started
    for server in started:
        server.stop()


def learner_of(model: Path, servers: Sequence[VLLMServer], *words: str) -> HubLearner:
    line = ["--model-path", f"hf:{model}", "--lora", "4", "--lora-lr", "0.3", "--init-lr-frac", "1", "--device-type"]
    line += ["cpu", "--model-tactic-tokens", "2", "--value-weight", "0.1", "--row-length", "64", *words]
    config = RLConfig.from_args(parse_args([*line, "--policy-endpoint", *(server.address for server in servers)]))
    return HubLearner(config, small.ALONE, "rl")


def opened(learner: HubLearner, run_path: Path) -> tuple[EndpointPolicy, list[tuple[str, str, Sequence[TextSample]]]]:
    policy: Any = learner.make_policy(run_path)
    assert isinstance(policy, EndpointPolicy)
    answers: list[tuple[str, str, Sequence[TextSample]]] = []
    policy.model.answered = lambda *answer: answers.append(answer)  # type: ignore[attr-defined]
    return policy, answers


def ask(policy: EndpointPolicy) -> list[float]:
    return [policy.suggest(state, seed).value for seed, state in enumerate(STATES * 2)]


def test_answers_are_of_the_adapters_of_their_step_through_a_restart(
    model: Path, servers: list[VLLMServer], tmp_path: Path
) -> None:
    learner = learner_of(model, servers)
    policy, answers = opened(learner, tmp_path)
    batch = [example for example in learner.encode(STEPS) if example is not None]
    for step in range(4):
        if step == 2:  # back without what it held
            servers[1].stop()
            servers[1].start()
        values, compared = ask(policy), 0
        # Whatever the servers said is what the network here says of it, with the weights of this step.
        assert len(answers) == len(STATES) * 2
        for name, prompt, samples in answers:
            assert name.endswith(f"-{step}")
            for sample in samples:
                expected = score(learner, prompt, sample)
                if expected is not None:
                    assert sample.logprob == pytest.approx(expected, abs=1e-3)
                    compared += 1
        heads = [learner.model, *([] if learner.network.head is None else [learner.network.head])]
        assert values == ask_here(learner, heads)
        assert compared > 5
        answers.clear()
        policy.pause()
        learner.update(batch, 0.0)
        learner.state.step += 1
        policy.resume()
        names = [server.adapters() for server in servers]
        assert [len(held) for held in names] == [1, 1] and names[0] == names[1]
        assert [folder.name for folder in (tmp_path / FOLDER).iterdir()] == names[0]
    assert min(server.asked.total() for server in servers) > 4
    policy.close()
    assert [server.adapters() for server in servers] == [[], []] and not (tmp_path / FOLDER).exists()


def score(learner: HubLearner, prompt: str, sample: TextSample) -> float | None:
    """The log-probability of a sample by the network here, its end included; None if other tokens spelled it."""
    tokens = learner.tokenizer(prompt, add_special_tokens=False)["input_ids"]
    written = learner.network.codec.continuation(prompt, sample.text)
    if sample.finished:
        written = [*written, learner.network.end]
    if len(written) != sample.num_tokens or "\N{REPLACEMENT CHARACTER}" in sample.text:
        return None
    with torch.no_grad():
        logits = learner.model(input_ids=torch.tensor([[*tokens, *written]])).logits[0, len(tokens) - 1 : -1]
    return float(logits.log_softmax(-1)[range(len(written)), written].sum())


def ask_here(learner: HubLearner, heads: Sequence[Any]) -> list[float]:
    from nanoproof.inference.value_head import OutputTap, expected_tactics

    values = []
    for state in STATES * 2:
        tokens = learner.network.codec.prompt(learner.network.format.prompt(state, ()))
        with torch.no_grad(), OutputTap().watching(learner.model) as tap:
            learner.model(input_ids=torch.tensor([tokens]))
        assert tap.hidden is not None and learner.network.head is not None
        (distribution,) = learner.network.head.distributions(tap.hidden[:, -1])
        values.append(pytest.approx(max(1.0, expected_tactics(distribution)), abs=1e-3))
    return values


def test_a_server_that_is_away_is_passed_over_and_told_of(
    model: Path, servers: list[VLLMServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    monkeypatch.setattr(lora_endpoints, "DOWN_SECONDS", 0.2)
    monkeypatch.setattr(lora_endpoints, "PATIENCE_SECONDS", 0.5)
    policy, answers = opened(learner_of(model, servers), tmp_path)
    servers[0].stop()
    ask(policy)
    assert len(answers) == len(STATES) * 2 and f"{servers[0].address} is away" in caplog.text
    servers[1].stop()
    with pytest.raises(PolicyUnreachable, match="cannot be reached"):
        policy.suggest(STATES[0])
    for server in servers:
        server.start()
    ask(policy)
    policy.close()


def test_adapters_that_another_rank_asks_for_stay_until_it_has_its_answer(
    model: Path, servers: list[VLLMServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = learner_of(model, servers)
    policy, _ = opened(learner, tmp_path)
    own = servers[0].adapters()
    with contextlib.closing(LoraEndpoints([server.address for server in servers], owner=False)) as other:
        assert servers[0].adapters() == own, "only the owner unloads what an earlier part of the run has left"
        other.adopt(Adapters(own[0], tmp_path / FOLDER / own[0]))

        def gather(value: object) -> list[Any]:
            if isinstance(value, list):
                return [value, sorted(other.names())]
            return [value]

        monkeypatch.setattr(endpoint_policy, "gather_json", gather)
        with other._adapters():
            policy.renew()
            other.adopt(Adapters(servers[0].adapters()[1], tmp_path))
            policy.renew()
            assert own[0] in servers[0].adapters() and (tmp_path / FOLDER / own[0]).is_dir()
            servers[1].stop()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lora_endpoints, "DOWN_SECONDS", 0.0)
            policy.renew()
        assert own[0] not in servers[0].adapters() and not (tmp_path / FOLDER / own[0]).exists()
        servers[1].start()
    policy.close()
    assert [server.adapters() for server in servers] == [[], []]


@pytest.mark.parametrize(
    ("what", "problem"),
    [
        ("no updating", "has no /load_lora_adapter: start vLLM with --enable-lora and VLLM_ALLOW_RUNTIME_LORA"),
        ("small rank", "does not load the adapters .*LoRA rank 4 is greater than max_lora_rank 2.*--max-lora-rank"),
        ("another base", "answers as nanoproof-.* with other weights than those of .*; does it serve the same base"),
        ("no numbers", "answers as nanoproof-.* without a log-probability that is a number"),
    ],
)
def test_a_server_that_cannot_serve_the_adapters_is_named(what: str, problem: str, model: Path, tmp_path: Path) -> None:
    base = model
    if what == "another base":
        base = save_decoder(tmp_path / "other", seed=5)
    server = VLLMServer(base, updating=what != "no updating", max_rank=2 if what == "small rank" else 16)
    try:
        if what == "another base":  # as a server whose base only has the same shape
            server.load = lambda body: _over(server, base, body)  # type: ignore[method-assign]
        if what == "no numbers":  # as with weights that are none
            complete = server.complete
            server.complete = lambda body: _without_numbers(complete(body))  # type: ignore[method-assign]
        with pytest.raises(UserError, match=f"--policy-endpoint {server.address} {problem}"):
            learner_of(model, [server]).make_policy(tmp_path / "run")
    finally:
        server.stop()


def _without_numbers(answer: tuple[int, Any]) -> tuple[int, Any]:
    for choice in answer[1]["choices"]:
        choice["logprobs"]["token_logprobs"] = [math.nan]
    return answer


def _over(server: VLLMServer, base: Path, body: dict[str, Any]) -> tuple[int, Any]:
    from nanoproof.inference.hf_model import HFModel

    server.networks[body["lora_name"]], server.roots[body["lora_name"]] = HFModel(str(base)), body["lora_path"]
    return 200, "Success"


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("http://127.0.0.1:9/v1", "--policy-endpoint http://127.0.0.1:9/v1 cannot be reached: .*; start it, or leave"),
        ("127.0.0.1:8000", "--policy-endpoint 127.0.0.1:8000: expected http://host:port/v1"),
    ],
)
def test_an_address_where_nobody_answers_is_named_with_its_flag(address: str, problem: str) -> None:
    with pytest.raises((UserError, PolicyUnreachable), match=problem):
        LoraEndpoints([address])


def test_whole_models_need_a_command_that_restarts_servers(model: Path, tmp_path: Path) -> None:
    line = ["--model-path", f"hf:{model}", "--device-type", "cpu", "--model-tactic-tokens", "8"]
    config = RLConfig.from_args(parse_args([*line, "--policy-endpoint", "http://127.0.0.1:9/v1"]))
    with pytest.raises(UserError, match=r"--policy-endpoint without --lora: .* or --policy-restart COMMAND"):
        HubLearner(config, small.ALONE, "rl")
