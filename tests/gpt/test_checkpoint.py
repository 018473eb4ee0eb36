"""Checkpoints come back as they were, or are refused with the name of what is wrong."""

import json
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from nanoproof.common.errors import UserError
from nanoproof.gpt.checkpoint import find_checkpoint, load_model, load_optimizer, save_checkpoint
from nanoproof.gpt.model import GPT
from nanoproof.gpt.optim import MuonAdamW
from nanoproof.gpt.tokenizer import Tokenizer
from tests.gpt.conftest import make_model


def test_a_model_comes_back_as_it_was(model: GPT, tokenizer: Tokenizer, tmp_path: Path) -> None:
    path = save_checkpoint(tmp_path, 12, model, tokenizer, extra={"stage": "sft"})
    assert path.name == "model_12.pt"
    for source in (path, tmp_path, path.with_suffix(".json")):
        loaded, loaded_tokenizer, meta = load_model(source)
        assert loaded.config == model.config
        assert (meta["step"], meta["extra"]) == (12, {"stage": "sft"})
        assert loaded_tokenizer.encode("intro h") == tokenizer.encode("intro h")
        tokens = torch.arange(10)[None]
        assert torch.equal(loaded(tokens), model(tokens))


def test_a_directory_means_its_latest_finished_step(model: GPT, tokenizer: Tokenizer, tmp_path: Path) -> None:
    for step in (2, 10, 9):
        save_checkpoint(tmp_path, step, model, tokenizer)
    (tmp_path / "model_30.pt").write_bytes(b"a writer was killed before the manifest")
    assert load_model(tmp_path)[2]["step"] == 10


def test_the_optimizer_comes_back(tokenizer: Tokenizer, tmp_path: Path) -> None:
    model = make_model(tokenizer)
    optimizer = MuonAdamW.for_model(model)
    tokens = torch.arange(20)[None]
    F.cross_entropy(model(tokens)[0], tokens[0]).backward()
    optimizer.step()
    save_checkpoint(tmp_path, 1, model, tokenizer, optimizer)
    restored = MuonAdamW.for_model(load_model(tmp_path)[0], matrix_lr=1.0)
    load_optimizer(tmp_path, restored)
    before, after = optimizer.state_dict(), restored.state_dict()
    assert before["step"] == after["step"] == 1
    for key, tensors in before["state"].items():
        for name, pieces in tensors.items():
            assert all(torch.equal(rows, after["state"][key][name][start]) for start, rows in pieces.items())


def test_a_missing_optimizer_is_named(model: GPT, tokenizer: Tokenizer, tmp_path: Path) -> None:
    save_checkpoint(tmp_path, 1, model, tokenizer)
    with pytest.raises(UserError, match="saved without optimizer state"):
        load_optimizer(tmp_path, MuonAdamW.for_model(model))


def test_an_optimizer_of_another_shape_is_refused_by_name(tokenizer: Tokenizer, tmp_path: Path) -> None:
    small, large = make_model(tokenizer, depth=1), make_model(tokenizer, depth=1, aspect_ratio=32)
    optimizer = MuonAdamW.for_model(small)
    tokens = torch.arange(20)[None]
    F.cross_entropy(small(tokens)[0], tokens[0]).backward()
    optimizer.step()
    save_checkpoint(tmp_path, 1, small, tokenizer, optimizer)
    with pytest.raises(UserError, match=r"optim_1.pt: state of .* has shape"):
        load_optimizer(tmp_path, MuonAdamW.for_model(large))


def test_nothing_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no checkpoint"):
        find_checkpoint(tmp_path)
    with pytest.raises(UserError, match="no checkpoint at"):
        find_checkpoint(tmp_path / "model_3.pt")


def test_weights_of_another_shape_are_refused_by_name(model: GPT, tokenizer: Tokenizer, tmp_path: Path) -> None:
    path = save_checkpoint(tmp_path, 1, model, tokenizer)
    state = torch.load(path, weights_only=True)
    state["head.weight"] = torch.zeros(3, 3)
    del state["residual_scale"]
    torch.save(state, path)
    with pytest.raises(UserError, match=r"residual_scale is missing; head.weight has shape \(3, 3\)"):
        load_model(tmp_path)


def test_damaged_weights_are_named(model: GPT, tokenizer: Tokenizer, tmp_path: Path) -> None:
    path = save_checkpoint(tmp_path, 1, model, tokenizer)
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(UserError, match=r"model_1\.pt is damaged"):
        load_model(tmp_path)


def test_a_pickle_with_code_is_not_run(model: GPT, tokenizer: Tokenizer, tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple:
            return (Path.write_text, (tmp_path / "trapped", "x"))

    path = save_checkpoint(tmp_path, 1, model, tokenizer)
    torch.save({"head.weight": Trap()}, path)
    with pytest.raises(UserError, match="damaged or not a checkpoint"):
        load_model(tmp_path)
    assert not (tmp_path / "trapped").exists()


def test_a_tokenizer_of_another_size_is_refused(model: GPT, tokenizer: Tokenizer, tmp_path: Path) -> None:
    path = save_checkpoint(tmp_path, 1, model, tokenizer).with_suffix(".json")
    manifest = json.loads(path.read_text())
    manifest["config"]["vocab_size"] += 1
    path.write_text(json.dumps(manifest))
    with pytest.raises(UserError, match="tokens, the model"):
        load_model(tmp_path)
