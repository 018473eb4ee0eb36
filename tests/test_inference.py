"""`python -m nanoproof.inference`: a real process with a small model, from its start to its end."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nanoproof.common.errors import UserError
from nanoproof.inference import __main__ as inference
from nanoproof.inference.engine import Engine
from nanoproof.model.checkpoint import save_checkpoint
from nanoproof.model.gpt import GPT, GPTConfig
from nanoproof.model.tokenizer import train_tokenizer
from nanoproof.policy.client import RemotePolicy
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.policy.tactic_policy import TacticPolicy
from tests.helpers import taken_port

SAMPLING = SamplingConfig(num_sampled_tactics=4, max_gen_tokens=8)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, TacticPolicy]:
    words = train_tokenizer(["rw [h]", "exact h", "simp"], 460)
    config = GPTConfig(vocab_size=words.vocab_size, depth=1, aspect_ratio=16, head_dim=16, sequence_len=64)
    model = GPT.create(config)
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
            assert server.wait(20) == 0
            assert server.stderr.read() == ""
        finally:
            server.kill()


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
