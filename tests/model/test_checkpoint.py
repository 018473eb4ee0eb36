"""Checkpoints come back as they were, or are refused with the name of what is wrong."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from nanolean.tests.each import each
from nanoproof.common.errors import UserError
from nanoproof.common.files import file_sha256
from nanoproof.model import checkpoint
from nanoproof.model.checkpoint import load_model, load_optimizer, prune_checkpoints, save_checkpoint, small_network
from nanoproof.model.checkpoint_files import find_checkpoint, newest_network, read_manifest, weights_sha256
from nanoproof.model.gpt import GPT, GPTConfig
from nanoproof.model.optim import MuonAdamW
from nanoproof.model.tokenizer import Tokenizer
from tests.model.conftest import make_model


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
    model, optimizer = trained(tokenizer)
    save_checkpoint(tmp_path, 1, model, tokenizer, optimizer)
    restored = MuonAdamW.for_model(load_model(tmp_path)[0], matrix_lr=1.0)
    load_optimizer(tmp_path, restored)
    before, after = optimizer.state_dict(), restored.state_dict()
    assert before["step"] == after["step"] == 1
    for key, tensors in before["state"].items():
        for name, pieces in tensors.items():
            assert all(torch.equal(rows, after["state"][key][name][start]) for start, rows in pieces.items())


def test_a_checkpoint_half_written_is_none_and_the_one_before_is_found(
    tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_model(tokenizer)
    optimizer = MuonAdamW.for_model(model)
    for step in (1, 2):
        save_checkpoint(tmp_path, step, model, tokenizer, optimizer)
    write = checkpoint.atomic_write

    def killed_at_the_optimizer(path: Path, writer: Callable) -> None:
        if path.name.startswith("optim"):
            raise KeyboardInterrupt
        write(path, writer)

    monkeypatch.setattr(checkpoint, "atomic_write", killed_at_the_optimizer)
    for step, latest in ((3, 2), (2, 1)):  # a new step, and one that is written again
        with pytest.raises(KeyboardInterrupt):
            save_checkpoint(tmp_path, step, model, tokenizer, optimizer)
        assert (tmp_path / f"model_{step}.pt").exists()
        assert load_model(tmp_path)[2]["step"] == latest


def trained(tokenizer: Tokenizer) -> tuple[GPT, MuonAdamW]:
    model = make_model(tokenizer)
    optimizer = MuonAdamW.for_model(model)
    tokens = torch.arange(20)[None]
    F.cross_entropy(model(tokens)[0], tokens[0]).backward()
    optimizer.step()
    return model, optimizer


@pytest.fixture
def shared(tokenizer: Tokenizer, tmp_path: Path) -> tuple[Path, MuonAdamW]:
    """A checkpoint whose optimizer state is in two files, cut through rows and matrices, and the optimizer."""
    model, optimizer = trained(tokenizer)
    save_checkpoint(tmp_path, 1, model, tokenizer, optimizer)
    whole = torch.load(tmp_path / "optim_1.pt", weights_only=True)
    names = ["optim_1_r0of2.pt", "optim_1_r1of2.pt"]
    for rank, name in enumerate(names):
        state: dict = {}
        for parameter, tensors in whole["state"].items():
            for tensor, pieces in tensors.items():
                for start, rows in pieces.items():
                    cut = (0, len(rows) // 3, len(rows))
                    part = {start + cut[rank]: rows[cut[rank] : cut[rank + 1]].clone()}
                    state.setdefault(parameter, {}).setdefault(tensor, {}).update(part)
        torch.save({**whole, "state": state}, tmp_path / name)
    manifest = json.loads((tmp_path / "model_1.json").read_text())
    assert manifest["optimizer"] == ["optim_1.pt"]
    (tmp_path / "model_1.json").write_text(json.dumps({**manifest, "optimizer": names}))
    return tmp_path, optimizer


def test_optimizer_state_in_several_files_comes_back(shared: tuple[Path, MuonAdamW]) -> None:
    path, optimizer = shared
    restored = MuonAdamW.for_model(load_model(path)[0])
    load_optimizer(path, restored)
    for key, tensors in optimizer.state_dict()["state"].items():
        for name, pieces in tensors.items():
            for start, rows in pieces.items():
                assert torch.equal(rows, restored.state_dict()["state"][key][name][start])


def test_a_missing_or_damaged_file_of_optimizer_state_is_named(shared: tuple[Path, MuonAdamW]) -> None:
    path, optimizer = shared
    file = path / "optim_1_r1of2.pt"
    content = file.read_bytes()
    file.write_bytes(content[:-100])
    with pytest.raises(
        UserError, match=r"optim_1_r1of2\.pt is damaged.*; --resume-fresh-optimizer continues with fresh"
    ):
        load_optimizer(path, optimizer)
    file.unlink()
    with pytest.raises(UserError, match=r"no such file: .*optim_1_r1of2\.pt; --resume-fresh-optimizer"):
        load_optimizer(path, optimizer)
    manifest = json.loads((path / "model_1.json").read_text())
    (path / "model_1.json").write_text(json.dumps({**manifest, "optimizer": ["optim_1_r0of2.pt"]}))
    with pytest.raises(UserError, match=r"model_1\.json: optimizer state of .* is incomplete"):
        load_optimizer(path, optimizer)


def test_the_manifest_has_the_digest_of_every_file(tokenizer: Tokenizer, tmp_path: Path) -> None:
    model, optimizer = trained(tokenizer)
    save_checkpoint(tmp_path, 1, model, tokenizer, optimizer)
    recorded = json.loads((tmp_path / "model_1.json").read_text())["sha256"]
    assert recorded == {name: file_sha256(tmp_path / name) for name in ("tokenizer.json", "model_1.pt", "optim_1.pt")}


def flip(file: Path) -> None:
    """Change a file so that what it says can still be read: a bit of a number, white space behind a text."""
    data = bytearray(file.read_bytes())
    if file.suffix == ".json":
        data += b" "
    else:
        data[len(data) // 2] ^= 1
    file.write_bytes(data)


@pytest.mark.parametrize("name", ["model_1.pt", "tokenizer.json", "optim_1.pt"])
def test_a_file_with_a_flipped_bit_is_refused(tokenizer: Tokenizer, tmp_path: Path, name: str) -> None:
    model, optimizer = trained(tokenizer)
    save_checkpoint(tmp_path, 1, model, tokenizer, optimizer)
    flip(tmp_path / name)
    with pytest.raises(UserError, match=rf"{name} is damaged: its SHA-256 is not the one that model_1\.json records"):
        load_optimizer(tmp_path, MuonAdamW.for_model(load_model(tmp_path)[0]))


def forget_digests(path: Path) -> None:
    """Make a checkpoint of step 1 one of an older version."""
    manifest = json.loads((path / "model_1.json").read_text())
    del manifest["sha256"]
    (path / "model_1.json").write_text(json.dumps(manifest))


def test_an_older_checkpoint_without_digests_is_taken_as_it_is(tokenizer: Tokenizer, tmp_path: Path) -> None:
    model, optimizer = trained(tokenizer)
    save_checkpoint(tmp_path, 1, model, tokenizer, optimizer)
    digest = weights_sha256(tmp_path / "model_1.json")
    forget_digests(tmp_path)
    assert weights_sha256(tmp_path / "model_1.json") == digest
    for name in ("model_1.pt", "optim_1.pt"):
        flip(tmp_path / name)
    load_optimizer(tmp_path, MuonAdamW.for_model(load_model(tmp_path)[0]))


@pytest.mark.parametrize("said", [{}, {"num_kv_heads": None}])
def test_checkpoints_that_name_no_key_value_heads_have_as_many_as_query_heads(
    tokenizer: Tokenizer, tmp_path: Path, said: dict
) -> None:
    whole = GPT.create(GPTConfig(tokenizer.vocab_size, depth=2, aspect_ratio=16, head_dim=16, num_kv_heads=None))
    save_checkpoint(tmp_path, 0, whole, tokenizer)
    manifest = json.loads((tmp_path / "model_0.json").read_text())
    assert manifest["config"].pop("num_kv_heads") is None
    (tmp_path / "model_0.json").write_text(json.dumps({**manifest, "config": {**manifest["config"], **said}}))
    assert load_model(tmp_path)[0].config.kv_heads == whole.config.kv_heads == 2


def test_checkpoints_say_how_many_key_value_heads_a_new_network_has(tokenizer: Tokenizer, tmp_path: Path) -> None:
    save_checkpoint(
        tmp_path, 0, GPT.create(GPTConfig(tokenizer.vocab_size, depth=5, aspect_ratio=32, head_dim=16)), tokenizer
    )
    config = json.loads((tmp_path / "model_0.json").read_text())["config"]
    assert (config["num_kv_heads"], load_model(tmp_path)[0].config.num_heads) == (2, 10)


def test_a_step_that_is_saved_again_leaves_no_files_of_before(
    shared: tuple[Path, MuonAdamW], tokenizer: Tokenizer
) -> None:
    path, optimizer = shared
    save_checkpoint(path, 1, load_model(path)[0], tokenizer, optimizer)
    assert [file.name for file in sorted(path.glob("*_1*"))] == ["model_1.json", "model_1.pt", "optim_1.pt"]
    load_optimizer(path, optimizer)


def test_only_the_newest_and_the_protected_checkpoints_are_kept(
    model: GPT, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    optimizer = MuonAdamW.for_model(model)
    for step in (1, 2, 3, 4, 5):
        save_checkpoint(tmp_path, step, model, tokenizer, optimizer)
    leftovers = ["model_2.pt.0f.tmp", ".model_2.pt.0f.tmp", "model_0.pt", "optim_0_r1of2.pt", "model_6.pt", "notes.txt"]
    for name in leftovers:
        (tmp_path / name).write_text("x")
    assert prune_checkpoints(tmp_path, None) == []
    assert prune_checkpoints(tmp_path, 2, protect={1, 5, 99}) == [2, 3]
    kept = [
        f"{kind}_{step}.{ending}"
        for step in (1, 4, 5)
        for kind, ending in (("model", "json"), ("model", "pt"), ("optim", "pt"))
    ]
    assert {file.name for file in tmp_path.iterdir()} == {
        *kept,
        "tokenizer.json",
        "model_2.pt.0f.tmp",
        "model_6.pt",
        "notes.txt",
    }
    assert prune_checkpoints(tmp_path, 1) == [1, 4]
    assert load_model(tmp_path)[2]["step"] == 5


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
    with pytest.raises(UserError, match=r"model_1.json: optimizer state of .* has shape .*--resume-fresh-optimizer"):
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
    forget_digests(tmp_path)
    with pytest.raises(UserError, match=r"residual_scale is missing; head.weight has shape \(3, 3\)"):
        load_model(tmp_path)


def test_damaged_weights_are_named(model: GPT, tokenizer: Tokenizer, tmp_path: Path) -> None:
    path = save_checkpoint(tmp_path, 1, model, tokenizer)
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(UserError, match=r"model_1\.pt is damaged"):
        load_model(tmp_path)


@pytest.mark.parametrize("content", ["[]", "null", "{", '{"config": 5}', '{"config": {}, "sha256": []}', '{"step": 1}'])
def test_a_damaged_manifest_is_named(model: GPT, tokenizer: Tokenizer, tmp_path: Path, content: str) -> None:
    save_checkpoint(tmp_path, 1, model, tokenizer)
    (tmp_path / "model_1.json").write_text(content)
    for read in (read_manifest, load_model):
        with pytest.raises(UserError, match=r"model_1\.json is damaged: it does not describe a checkpoint"):
            read(tmp_path)


SIZES = {"depth": (10**6, 10**400, 100), "aspect_ratio": (10**18,), "head_dim": (10**20,), "vocab_size": (10**18,)}


@each(("name", "size"), [(name, size) for name in SIZES for size in SIZES[name]] + [("sequence_len", 10**18)])
def test_sizes_that_no_network_has_are_refused(
    model: GPT, tokenizer: Tokenizer, tmp_path: Path, name: str, size: int
) -> None:
    manifest = save_checkpoint(tmp_path, 1, model, tokenizer).with_suffix(".json")
    about = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**about, "config": {**about["config"], name: size}}))
    with pytest.raises(UserError, match=r"model_1\.json (describes a larger|does not describe a checkpoint)"):
        load_model(tmp_path)
    assert small_network(str(tmp_path)) is None or size == 100


def test_a_pickle_with_code_is_not_run(model: GPT, tokenizer: Tokenizer, tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple:
            return (Path.write_text, (tmp_path / "trapped", "x"))

    path = save_checkpoint(tmp_path, 1, model, tokenizer)
    torch.save({"head.weight": Trap()}, path)
    forget_digests(tmp_path)
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


def test_the_newest_network_below_a_folder_is_that_of_the_newest_checkpoint(tmp_path):
    assert newest_network(tmp_path) is None
    for age, name in enumerate(["rl/a", "quickstart/rl", "sft/b"]):
        run = tmp_path / name
        run.mkdir(parents=True)
        for file in ("model_3.json", "meta_9.json"):
            (run / file).write_text("{}")
            os.utime(run / file, (1000 - age, 1000 - age + 500 * (name == "quickstart/rl")))
    assert newest_network(tmp_path) == tmp_path / "quickstart" / "rl"
