"""`python -m nanoproof.inference`: a real process with a small model, from its start to its end."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest
import torch

from nanoproof.common.config import Parser, add_flags, from_args
from nanoproof.common.distributed import DistInfo
from nanoproof.common.errors import UserError
from nanoproof.common.option_groups import CheckpointOption
from nanoproof.common.web import http_server
from nanoproof.inference import __main__ as inference
from nanoproof.inference.engine import Engine
from nanoproof.inference.model_options import EngineLimits
from nanoproof.model.checkpoint import save_checkpoint
from nanoproof.model.gpt import GPT, GPTConfig
from nanoproof.model.tokenizer import train_tokenizer
from nanoproof.policy.client import RemotePolicy
from nanoproof.policy.factory import open_policy
from nanoproof.policy.models import load_network
from nanoproof.policy.policy_options import TextModelOptions
from nanoproof.policy.protocol import SamplingConfig, ServiceOptions
from nanoproof.policy.server import PolicyService, create_app
from nanoproof.policy.tactic_policy import TacticPolicy
from scripts import export_model
from tests.helpers import taken_port

SAMPLING = SamplingConfig(num_sampled_tactics=4, max_gen_tokens=8)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, TacticPolicy]:
    words = train_tokenizer(["rw [h]", "exact h", "simp"], 460)
    config = GPTConfig(vocab_size=words.vocab_size, depth=1, aspect_ratio=16, head_dim=16, sequence_len=64)
    torch.manual_seed(1)
    model = GPT.create(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
        broken = [token for token, spelled in enumerate(words.bpe.tokens) if not spelled.isascii()]
        model.head.weight[broken] = 0  # texts are mostly valid UTF-8
        model.head.weight *= 12  # so that texts end
    folder = tmp_path_factory.mktemp("model")
    save_checkpoint(folder, 3, model, words)
    return folder, TacticPolicy(Engine(model, words), SAMPLING)


def test_a_server_answers_like_the_model_itself_and_ends_in_order(checkpoint: tuple[Path, TacticPolicy]) -> None:
    folder, local = checkpoint
    command = [sys.executable, "-m", "nanoproof.inference", "--model-path", str(folder), "--port", "0"]
    command += ["--device-type", "cpu", "--num-sampled-tactics", "4", "--max-gen-tokens", "8"]
    environment = {**os.environ, "NANOPROOF_POLICY_TOKEN": "s3cret"}
    server = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert server.stdout is not None and server.stderr is not None
    with server, local:
        try:
            line = server.stdout.readline()
            assert line.startswith("listening on http://127.0.0.1:"), server.stderr.read()
            with RemotePolicy(line.removeprefix("listening on ").strip(), token="s3cret") as remote:
                assert remote.status()["model"]["step"] == 3
                for seed in (1, 2):
                    theirs, ours = remote.suggest("x : ℕ\n⊢ x = x", seed), local.suggest("x : ℕ\n⊢ x = x", seed)
                    assert (theirs.tactics, theirs.counts) == (ours.tactics, ours.counts)
                    assert theirs.logprobs == pytest.approx(ours.logprobs, abs=1e-5)
                    assert theirs.value == pytest.approx(ours.value, abs=1e-5)
            server.send_signal(signal.SIGTERM)
            assert server.wait(120) == 0
            assert server.stderr.read() == ""
        finally:
            server.kill()


def test_models_by_name_are_told_from_paths() -> None:
    def specs(*words: str) -> list[tuple[str, str]]:
        parser = Parser()
        add_flags(parser, inference.ModelOptions)
        return from_args(inference.ModelOptions, parser.parse_args(words)).specs

    other = "openai:http://a:1/v1#m=2"
    assert specs("--model-path", "sft/a", "--model", "b=hf:o/n", "--model", f"c={other}") == [
        ("a", "sft/a"),
        ("b", "hf:o/n"),
        ("c", other),
    ]
    assert specs("--model", other) == specs("--model-path", other) == [("m=2", other)]
    assert specs("--model", "x=rl/x") == [("x", "rl/x")]
    assert specs("--model", "./a=b") == [("a=b", "./a=b")]
    with pytest.raises(UserError, match="give --model-path"):
        specs()


def test_a_network_solves_the_same_from_the_hub_and_behind_an_endpoint(
    checkpoint: tuple[Path, TacticPolicy], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exported, loaded and served, a network draws the same tactics for the same seed as here."""
    monkeypatch.delenv("NANOPROOF_MODEL_TOKEN", raising=False)
    folder = checkpoint[0]
    assert export_model.main(["--model-path", str(folder), "--to-hf", str(tmp_path / "hub")]) == 0
    sampling = SamplingConfig(num_sampled_tactics=16, max_gen_tokens=30, first_token_occurrences_cap=None)
    dist = DistInfo(0, 0, 1, torch.device("cpu"), "test", torch.float64, "test")
    chosen = inference.ModelOptions(CheckpointOption(str(folder)), (f"hub=hf:{tmp_path / 'hub'}",))
    options = ServiceOptions(port=0)
    with ExitStack() as stack:
        policy, about = inference.open_served(stack, chosen, sampling, EngineLimits(), dist)
        models = inference.open_models(stack, policy, chosen, options, sampling, dist)
        service = PolicyService(policy, options, about, models)
        listener = http_server.bind(options)
        server = http_server.HttpServer(create_app(service), options, listener)
        threading.Thread(target=server.run, daemon=True).start()
        stack.callback(server.close)
        texts = TextModelOptions(prompt_format="nanoproof", value_model=str(folder), model_tactic_tokens=30)
        found = []
        for name in (folder.name, "hub"):
            spec = f"openai:http://127.0.0.1:{listener.getsockname()[1]}/v1#{name}"
            opened = open_policy("model", None, sampling, spec=spec, texts=texts, dist=dist)
            found.append(stack.enter_context(opened))
        loaded = load_network("model", f"hf:{tmp_path / 'hub'}", dist)
        assert loaded is not None
        found.append(stack.enter_context(open_policy("model", loaded, sampling, spec=f"hf:{tmp_path / 'hub'}")))
        kept = 0
        for seed in range(6):
            wanted = policy.suggest("x : ℕ\n⊢ x = x", seed)
            kept += len(wanted.tactics)
            for each in found:
                given = each.suggest("x : ℕ\n⊢ x = x", seed)
                assert (given.tactics, given.counts, given.num_dropped) == (
                    wanted.tactics,
                    wanted.counts,
                    wanted.num_dropped,
                )
                assert given.logprobs == pytest.approx(wanted.logprobs, abs=1e-6)
                assert given.value == pytest.approx(wanted.value, abs=1e-6)
        assert kept >= 6


def test_a_taken_port_is_said_before_a_model_is_loaded() -> None:
    with (
        taken_port() as port,
        pytest.raises(UserError, match=f"cannot listen on 127.0.0.1 port {port}: Address already in use"),
    ):
        inference.main(["--model-path", "/nowhere", "--port", str(port)])


def test_what_does_not_fit_the_model_is_said(checkpoint: tuple[Path, TacticPolicy]) -> None:
    command = ["--model-path", str(checkpoint[0]), "--port", "0", "--device-type", "cpu", "--max-gen-tokens", "100"]
    handlers = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    try:
        with pytest.raises(UserError, match="max_gen_tokens must be <= 62 for this model, got 100"):
            inference.main(command)
    finally:
        for number, handler in zip((signal.SIGTERM, signal.SIGINT), handlers):
            signal.signal(number, handler)


def test_the_client_needs_no_torch() -> None:
    code = "import sys, nanoproof.policy.client; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "False", done.stderr
