"""An exported network is the one of the checkpoint, read with the plain libraries."""

import json
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import tokenizers
import torch

from nanoproof.common import hub
from nanoproof.common.errors import UserError
from nanoproof.common.files import json_line
from nanoproof.common.option_groups import CheckpointsOption
from nanoproof.common.run_dir import is_foreign, resolve_model_path
from nanoproof.evaluation.plan import EvalOptions, plan
from nanoproof.inference.language_model import GenerationOptions
from nanoproof.inference.open_model import open_model
from nanoproof.lean.types import Theorem
from nanoproof.model.checkpoint import load_model, load_weights, save_checkpoint
from nanoproof.model.checkpoint_files import weights_sha256
from nanoproof.model.gpt import GPT, GPTConfig
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.policy.policy_options import TextModelOptions
from nanoproof.prover.attempt import Attempt
from scripts import export_model


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_an_exported_network_reads_back(
    model: GPT, tokenizer: Tokenizer, tmp_path: Path, dtype: str, capsys: pytest.CaptureFixture[str]
) -> None:
    save_checkpoint(tmp_path, 7, model, tokenizer, extra={"stage": "sft"})
    assert export_model.main(["--model-path", str(tmp_path), "--dtype", dtype]) == 0
    directory = tmp_path / "export_7"
    assert str(directory) in capsys.readouterr().out
    config = json.loads((directory / "config.json").read_text())
    assert (config["step"], config["stage"], config["dtype"]) == (7, "sft", dtype)
    weights = safetensors.torch.load_file(directory / "model.safetensors")
    assert {str(tensor.dtype) for tensor in weights.values()} == {f"torch.{dtype}"}
    exported = GPT.allocate(GPTConfig(**config["config"]))
    load_weights(exported, weights, "model.safetensors")
    words = tokenizers.Tokenizer.from_file(str(directory / "tokenizer.json"))
    tokens = torch.tensor([tokenizer.encode("intro h")])
    assert words.encode("intro h").ids == tokens[0].tolist()
    torch.testing.assert_close(exported(tokens), model(tokens), atol=0 if dtype == "float32" else 0.1, rtol=0)


@pytest.fixture
def folder(model: GPT, tokenizer: Tokenizer, tmp_path: Path) -> Path:
    """The folder for the hub of a checkpoint, which is in `run` beside it."""
    save_checkpoint(tmp_path / "run", 7, model, tokenizer, extra={"stage": "sft"})
    folder: Path = tmp_path / "hub"
    assert export_model.main(["--model-path", str(tmp_path / "run"), "--to-hf", str(folder)]) == 0
    return folder


def test_a_folder_for_the_hub_is_a_checkpoint_of_ours_again(model: GPT, tokenizer: Tokenizer, folder: Path) -> None:
    spec = f"hf:{folder}"
    assert not is_foreign(spec) and resolve_model_path(spec) == folder
    for path in (folder, folder / "config.json"):
        loaded, words, manifest = load_model(path)
        assert all(torch.equal(loaded.state_dict()[name], tensor) for name, tensor in model.state_dict().items())
        assert words.fingerprint == tokenizer.fingerprint
        assert (manifest["step"], manifest["extra"]["stage"]) == (7, "sft")
    assert TextModelOptions().format_for(spec).name == "nanoproof" and TextModelOptions().settings(spec) is None
    (target,) = plan(EvalOptions(checkpoints=CheckpointsOption((spec,)), datasets=("nanolean",)))
    assert target.path == folder.resolve() / "eval_export_nanolean"
    options = GenerationOptions(num_samples=4, max_new_tokens=8)
    found = []
    for each in (spec, str(folder.parent / "run")):
        with open_model(each) as opened:
            found.append(opened.generate(["⊢ p\n<|tactic|>"], options, [3])[0])
            assert opened.name == each and len(opened.identity) == 64
    assert found[0] == found[1]
    again = folder.parent / "again"
    assert export_model.main(["--model-path", spec, "--to-hf", str(again)]) == 0
    for name in ("model.safetensors", "tokenizer.json"):
        assert (again / name).read_bytes() == (folder / name).read_bytes()


def test_a_folder_that_is_damaged_or_somebody_elses_is_said(folder: Path, tmp_path: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4] + b"ouch")
    with pytest.raises(UserError, match=r"model\.safetensors is damaged: its SHA-256"):
        load_model(folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "sha256": {}}))
    weights.write_bytes(b"no tensors")
    with pytest.raises(UserError, match=r"model\.safetensors is damaged or not a checkpoint"):
        load_model(folder)
    (folder / "config.json").write_text(json.dumps({**config, "model_type": "llama"}))
    assert is_foreign(f"hf:{folder}") and is_foreign("hf:owner/name") and is_foreign("hf:../x")
    with pytest.raises(UserError, match="no checkpoint"):
        load_model(folder)
    with pytest.raises(UserError, match="works on the network itself"):
        resolve_model_path(f"hf:{folder}")


def test_what_the_hub_has_is_found_in_its_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    def cached(name: str, file: str, revision: str | None = None) -> str | None:
        return str(folder / file) if name == "me/prover" else None

    hub.fetch_file.cache_clear()
    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", cached)
    assert resolve_model_path("hf:me/prover") == folder
    hub.fetch_file.cache_clear()


def test_transformers_reads_the_vocabulary_and_the_markers(folder: Path, tokenizer: Tokenizer) -> None:
    transformers = pytest.importorskip("transformers")
    words = transformers.AutoTokenizer.from_pretrained(str(folder))
    text = "intro h ⊢ ℕ"
    assert words(text)["input_ids"] == tokenizer.encode(text)
    assert words.decode(tokenizer.encode(text), clean_up_tokenization_spaces=False) == text
    assert words.convert_tokens_to_ids("<|tactic|>") == tokenizer.tactic
    assert (words.eos_token_id, words.pad_token_id) == (tokenizer.eos, tokenizer.pad)
    assert words("<|tactic|>", split_special_tokens=True)["input_ids"] == tokenizer.encode("<|tactic|>")


# -- the card --------------------------------------------------------------------------------------------------------


def evaluation(path: Path, sha256: str, outcomes: str, **summary: Any) -> Path:
    """A directory as an evaluation leaves it: `+` is a theorem proved, `-` one that was not."""
    path.mkdir()
    attempts = [
        Attempt(Theorem(f"theorem t{n} : True := by sorry", f"t{n}", "toy"), "proven" if mark == "+" else "unproven")
        for n, mark in enumerate(outcomes)
    ]
    (path / "results.jsonl").write_text("".join(json_line(attempt.to_json()) for attempt in attempts))
    settings = {"dataset": "toy", "split": "valid", "seed": 4, "lean": "nanolean", "num_simulations": 16}
    settings |= {"model_sha256": sha256, "temperature": 0.7}
    counted = {"solved": outcomes.count("+"), "total": len(outcomes), "errors": 0, "baseline": None}
    versions = {"nanoproof": "abc123"}
    whole = {**counted, "settings": settings, "versions": versions, **summary}
    (path / "summary.json").write_text(json.dumps(whole))
    return path


def test_scores_on_the_card_are_those_of_evaluations_of_these_weights(folder: Path, tmp_path: Path) -> None:
    run, card = tmp_path / "run", folder / "README.md"
    text = card.read_text()
    assert 'license: "unknown"' in text and "so there are no scores here" in text and "|" not in text.split("Scores")[1]
    digest = weights_sha256(run / "model_7.json")
    verdicts = {"proofs": 3, "nanolean": 3, "outside": {"Lean's kernel": 2}, "refused": {}}
    done = evaluation(tmp_path / "done", digest, "++-+--", baseline={"solved": 1, "total": 6}, verdicts=verdicts)
    words = ["--model-path", str(run), "--to-hf", str(folder), "--license", "mit", "--evaluations", str(done)]
    assert export_model.main(words) == 0
    text = card.read_text()
    row = "| toy | valid | 3 of 6 | 50.0% | 18.8 to 81.2% | 16 simulations | 4 | nanolean | 1 of 6 | 0 | "
    row += "3 by NanoLean's checker, 2 by Lean's kernel |"
    assert row in text and '"temperature": 0.7' in text and "abc123" in text and 'license: "mit"' in text
    for name, path in {
        "is an evaluation of other weights": evaluation(tmp_path / "other", "00ff", "++"),
        "has 1 solved of 2, and summary.json says 2 of 2": evaluation(tmp_path / "more", digest, "+-", solved=2),
        "there is no summary.json": tmp_path,
        "is no summary of an evaluation": evaluation(tmp_path / "odd", digest, "+", solved="many"),
    }.items():
        card.unlink(missing_ok=True)
        with pytest.raises(UserError, match=f"--evaluations {path}: .*{name}"):
            export_model.main([*words[:-1], str(path)])
        assert not card.exists()


def test_what_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no checkpoint"):
        export_model.main(["--model-path", str(tmp_path)])
    with pytest.raises(UserError, match="give --model-path"):
        export_model.main([])
    for words, said in ((["--to-hf", "a", "--output-dir", "b"], "give one"), (["--evaluations", "a"], "for the card")):
        with pytest.raises(UserError, match=said):
            export_model.main(["--model-path", str(tmp_path), *words])
