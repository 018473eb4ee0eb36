"""Commands with models of others as the policy: proving, evaluating, asking and serving, over NanoLean."""

import io
import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import read_json, read_jsonl
from nanoproof.inference.language_model import GenerationOptions
from nanoproof.inference.model_options import EndpointOptions
from nanoproof.inference.openai_model import OpenAIModel
from nanoproof.lean.embedded import start_embedded
from nanoproof.model.checkpoint import save_checkpoint
from nanoproof.model.gpt import GPT, GPTConfig
from nanoproof.model.tokenizer import train_tokenizer
from nanoproof.policy.client import RemotePolicy
from nanoproof.policy.protocol import SamplingConfig
from scripts import interact, prove, prover_eval
from tests.fakes.openai_server import Choice, OpenAIServer, openai_server
from tests.helpers import main_of, start_forked, wait_for

pytestmark = pytest.mark.slow

THEOREM = "theorem t (p q : Prop) (h : p ∧ q) : q ∧ p"
KEY = "sk-very-secret-9876543210"
SHORT = ("--model-tactic-tokens", "8", "--search-finishers", "none", "--step-tactics", "0")


@pytest.fixture(autouse=True)
def _home(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NANOPROOF_MODEL_TOKEN", KEY)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("own")
    words = train_tokenizer(["rw [h]", "exact h", "simp"], 460)
    torch.manual_seed(0)
    config = GPTConfig(vocab_size=words.vocab_size, depth=1, aspect_ratio=16, head_dim=16, sequence_len=64)
    save_checkpoint(folder, 3, GPT.create(config), words)
    return folder


@pytest.fixture(scope="module")
def lean() -> Iterator[tuple[str, ...]]:
    """Flags that name a server of NanoLean, which no command has to start then."""
    with start_embedded(1) as servers:
        yield "--lean-servers", *servers.addresses, "--lean-token", servers.token


@pytest.fixture(scope="module")
def decoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("transformers")
    from tests.fakes.hf_models import save_decoder

    return save_decoder(tmp_path_factory.mktemp("decoder"))


@pytest.fixture(scope="module")
def encoder_decoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("transformers")
    from tests.fakes.hf_models import save_encoder_decoder

    return save_encoder_decoder(tmp_path_factory.mktemp("byte-level"))


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    """An endpoint whose model knows one tactic, as a chat's answer or bare, and asks for a key."""

    def write(body: Mapping[str, Any]) -> list[Choice]:
        text = "```lean4\nexact ⟨h.2, h.1⟩\n```" if "messages" in body else "exact ⟨h.2, h.1⟩"
        return [{"index": i, "text": text, "logprobs": [-0.1], "reason": "stop"} for i in range(body["n"])]

    with openai_server() as running:
        running.writer, running.token = write, KEY
        yield running


def holds(folder: Path, word: str) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file() and word.encode() in file.read_bytes()]


# -- prove -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["bfs-prover", "chat"])
def test_an_endpoint_proves_a_theorem(
    server: OpenAIServer, lean: tuple[str, ...], how: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.lean"
    spec = f"openai:{server.base}#tiny"
    words = ["--model", spec, "--prompt-format", how, *SHORT, *lean]
    words += ["--out", str(out), "--html", str(tmp_path / "t.html")]
    assert prove.main([THEOREM, *words]) == 0
    assert "exact ⟨h.2, h.1⟩" in out.read_text()
    shown = capsys.readouterr()
    assert f"policy: {spec}" in shown.out
    assert KEY not in shown.out + shown.err and holds(tmp_path, KEY) == []


def test_models_of_transformers_and_ours_are_asked_in_any_format(
    decoder: Path, encoder_decoder: Path, checkpoint: Path, lean: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    specs = [
        (f"hf:{decoder}", "llmstep", "--value-model", str(checkpoint)),
        (f"hf:{encoder_decoder}", "reprover"),
        (str(checkpoint), "bfs-prover"),
        (str(checkpoint), "nanoproof", "--value-model", str(checkpoint)),
    ]
    for spec, how, *rest in specs:
        words = ["--model-path", spec, "--prompt-format", how, *rest, *SHORT, *lean, "--num-simulations", "2"]
        assert prove.main([THEOREM, *words]) == 1, spec
        assert "2 simulations, 12 tactic samples" in capsys.readouterr().out, spec


# -- prover_eval -------------------------------------------------------------------------------------------------------


def test_an_endpoint_is_scored_and_the_settings_say_how_it_was_asked(
    server: OpenAIServer,
    checkpoint: Path,
    lean: tuple[str, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "two.jsonl"
    rows = [{"name": "a", "source": f"{THEOREM} := by sorry"}]
    rows.append({"name": "b", "source": "theorem u (p : Prop) : p := by sorry"})
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["--model", f"openai:{server.base}#tiny", "--datasets", str(file), "--num-simulations", "2", *SHORT, *lean]
    words += ["--prompt-format", "bfs-prover", "--value-model", str(checkpoint), "--model-cache", str(tmp_path / "c")]
    assert prover_eval.main(words) == 0
    (results,) = (tmp_path / "home" / "other_models").glob("*/eval_*")
    assert results.parent.name.startswith("openai_http_127.0.0.1_") and results.parent.name.endswith("_v1_tiny")
    summary = read_json(results / "summary.json")
    assert (summary["solved"], summary["errors"], summary["total"]) == (1, 0, 2)
    asked = summary["settings"]["text_model"]
    assert (asked["prompt_format"], asked["tactic_tokens"], len(asked["value_sha256"])) == ("bfs-prover", 8, 64)
    assert summary["model"]["path"] == f"openai:{server.base}#tiny"
    assert holds(tmp_path, KEY) == [] and KEY not in capsys.readouterr().out
    asked_for = len(server.requests)
    assert prover_eval.main([*words, "--force"]) == 0
    assert len(server.requests) == asked_for  # all of it was kept
    assert prover_eval.main([*words, "--continue"]) == 0
    with pytest.raises(UserError, match="had other settings: model, or how it is asked"):
        prover_eval.main([*words, "--continue", "--prompt-format", "llmstep"])


def test_a_model_of_transformers_is_scored(decoder: Path, tmp_path: Path) -> None:
    words = ["--model-path", f"hf:{decoder}", "--prompt-format", "bfs-prover", *SHORT, "--num-simulations", "1"]
    words += [
        "--lean-processes",
        "1",
        "--datasets",
        "nanolean",
        "--max-theorems",
        "3",
        "--output-dir",
        str(tmp_path / "out"),
    ]
    assert prover_eval.main(words) == 0
    attempts = list(read_jsonl(tmp_path / "out" / "results.jsonl"))
    assert [attempt["outcome"] == "error" for attempt in attempts] == [False] * 3


def test_an_endpoint_that_goes_away_ends_an_evaluation_which_can_be_continued(
    server: OpenAIServer, lean: tuple[str, ...], tmp_path: Path
) -> None:
    words = ["--model", f"openai:{server.base}#tiny", "--prompt-format", "bfs-prover", *SHORT, *lean]
    words += ["--datasets", "nanolean", "--max-theorems", "2", "--num-simulations", "1", "--model-patience", "0.1"]
    server.fault = lambda number: "error"
    out = ["--output-dir", str(tmp_path / "out")]
    with pytest.raises(UserError, match=r"has no score, as all attempts ended in errors: .* answered 500: out of luck"):
        prover_eval.main([*words, *out])
    assert not (tmp_path / "out" / "summary.json").exists()
    assert KEY not in (tmp_path / "out" / "results.jsonl").read_text()
    server.fault = lambda number: ""
    assert prover_eval.main([*words, *out, "--continue"]) == 0
    assert read_json(tmp_path / "out" / "summary.json")["errors"] == 0


# -- interact, inference ---------------------------------------------------------------------------------------------


def test_an_endpoint_answers_at_the_prompt(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--model", f"openai:{server.base}#tiny", "--prompt-format", "bfs-prover"]
    monkeypatch.setattr(sys, "stdin", io.StringIO("p q : Prop\nh : p ∧ q\n⊢ q ∧ p\n\n"))
    assert interact.main([*words, "--no-lean"]) == 0
    assert "exact ⟨h.2, h.1⟩" in capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.StringIO("Once\n"))
    assert interact.main([*words, "--raw"]) == 0
    assert "exact ⟨h.2, h.1⟩" in capsys.readouterr().out


def serve(folder: Path, words: list[str]) -> None:
    """Be a policy server, whose output and complaints go to files."""
    for number, name in ((1, "output"), (2, "complaints")):
        os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT, 0o600), number)
    run_main(lambda: main_of("nanoproof.inference")(words))


@pytest.mark.nightly
def test_a_policy_server_serves_a_model_of_others(server: OpenAIServer, tmp_path: Path) -> None:
    spec = f"openai:{server.base}#tiny"
    words = ["--model", spec, "--prompt-format", "llmstep", "--port", "0", "--device-type", "cpu"]
    served = start_forked(serve, tmp_path, [*words, "--num-sampled-tactics", "2"])
    output, complaints = tmp_path / "output", tmp_path / "complaints"
    try:
        wait_for(lambda: output.exists() and "\n" in output.read_text(), "the policy server", processes=[served])
        line = output.read_text().splitlines()[0]
        assert line.startswith("listening on http://127.0.0.1:"), complaints.read_text()
        with RemotePolicy(line.removeprefix("listening on ").strip(), sampling=SamplingConfig()) as remote:
            assert remote.suggest("h : p ∧ q\n⊢ q ∧ p").tactics == ("exact ⟨h.2, h.1⟩",)
            status = remote.status()
        assert status["model"]["path"] == spec and status["model"]["prompt_format"] == "llmstep"
        assert KEY not in json.dumps(status)
        served.terminate()
        served.join(30)
        assert served.exitcode == 0 and complaints.read_text() == ""
    finally:
        served.kill()
        served.join()


# -- what cannot be ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["hf:owner/name", "openai:http://me:hunter2@127.0.0.1:1/v1#m"])
@pytest.mark.parametrize("module", ["nanoproof.rl", "nanoproof.sft", "scripts.export_model", "scripts.policy_eval"])
def test_what_works_on_the_network_itself_refuses_models_of_others(module: str, spec: str, tmp_path: Path) -> None:
    if module in ("nanoproof.sft", "nanoproof.rl") and spec.startswith("hf:"):
        pytest.skip("trains models of transformers")
    problem = "works on the network itself, so it takes checkpoints of ours only"
    if module == "nanoproof.rl":
        problem = "weights of an endpoint cannot be trained from here; give hf:FOLDER"
    words = ["--model-path", spec, *(["--monitor-port", "none"] if module == "nanoproof.rl" else [])]
    with pytest.raises(UserError, match=problem) as caught:
        main_of(module)(words)
    assert "hunter2" not in str(caught.value) and "\n" not in str(caught.value)
    assert holds(tmp_path, "hunter2") == []


def test_a_model_whose_format_is_unknown_is_not_guessed_at(decoder: Path) -> None:
    with pytest.raises(
        UserError, match="say how this model is asked for a tactic, by --prompt-format: bfs-prover, reprover"
    ):
        prove.main([THEOREM, "--model", f"hf:{decoder}"])
    with pytest.raises(UserError, match="stp is for whole proofs"):
        prove.main([THEOREM, "--model", f"hf:{decoder}", "--prompt-format", "stp"])
    spec = f"hf:{decoder}"
    with pytest.raises(UserError, match=f"--value-model {spec} has no value head; .* --value-weight"):
        prove.main([THEOREM, "--model", spec, "--prompt-format", "llmstep", "--value-model", spec])


# -- three backends, one model -----------------------------------------------------------------------------------------


def test_an_endpoints_log_probabilities_are_those_of_a_forward_pass(server: OpenAIServer, decoder: Path) -> None:
    """The endpoint is a network, whose words come with the numbers of direct forward passes."""
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(decoder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(decoder)

    def forward(tokens: list[int]) -> torch.Tensor:
        with torch.no_grad():
            logprobs: torch.Tensor = model(torch.tensor([tokens])).logits[0].log_softmax(-1)
        return logprobs

    def write(body: Mapping[str, Any]) -> list[Choice]:
        prompt = tokenizer(body["prompt"])["input_ids"]
        whole = model.generate(torch.tensor([prompt]), do_sample=False, max_new_tokens=body["max_tokens"])[0].tolist()
        new, rows = whole[len(prompt) :], forward(whole)
        values = [float(rows[len(prompt) - 1 + place, token]) for place, token in enumerate(new)]
        text = tokenizer.decode(new, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return [{"index": 0, "text": text, "logprobs": values, "reason": "length"}]

    def echo(text: str) -> dict[str, Any]:
        encoded = tokenizer(text, return_offsets_mapping=True)
        tokens, rows = encoded["input_ids"], forward(encoded["input_ids"])
        values = [None, *(float(rows[place, token]) for place, token in enumerate(tokens[1:]))]
        return {"text_offset": [start for start, _ in encoded["offset_mapping"]], "token_logprobs": values}

    server.writer, server.echo = write, echo
    from nanoproof.inference.hf_model import HFModel

    ours, theirs = HFModel(str(decoder)), OpenAIModel(server.base, "tiny", EndpointOptions())
    options = GenerationOptions(max_new_tokens=8, temperature=0)
    for prompt in ("h : p\n⊢ p:::", "x = x:::"):
        near, far = ours.generate([prompt], options, [0])[0][0], theirs.generate([prompt], options, [0])[0][0]
        assert (far.text, far.num_tokens) == (near.text, near.num_tokens)
        assert far.logprob == pytest.approx(near.logprob, abs=1e-4)
        assert theirs.score(prompt, "exact h") == pytest.approx(ours.score(prompt, "exact h"), abs=1e-4)
    ours.close()
    theirs.close()
