"""Networks and data sets on the hub, by its client, against a stand-in: pushed, downloaded by themselves, refused."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from nanoproof.common import hub
from nanoproof.common.errors import UserError
from nanoproof.common.run_dir import exported_folder, is_foreign, resolve_model_path
from nanoproof.model.checkpoint import load_model, save_checkpoint
from nanoproof.repos.manage import data_card
from nanoproof.rl.__main__ import main as rl_main
from scripts import export_model
from tests.fakes.hub import TOKEN, FakeHub
from tests.training import small


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The stand-in as the hub of this process, with an empty cache and a token that may write."""
    from huggingface_hub import constants

    server = FakeHub()
    monkeypatch.setenv("HF_ENDPOINT", server.endpoint)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_IMPLICIT_TOKEN", False)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)  # the other way of large files, over its own servers
    hub.fetch_file.cache_clear()
    yield server
    server.close()
    hub.fetch_file.cache_clear()


@pytest.fixture
def run(tmp_path: Path) -> Path:
    words = small.tokenizer()
    save_checkpoint(tmp_path / "run", 7, small.model(words), words, extra={"stage": "sft"})
    return tmp_path / "run"


def push(run: Path, *more: str) -> int:
    return export_model.main(["--model-path", str(run), "--push", "me/prover", *more])


def test_a_network_is_pushed_with_its_card_and_downloads_by_itself(
    fake: FakeHub, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert push(run, "--license", "mit", "--private") == 0
    files = fake.hub["me/prover"].commits[fake.hub["me/prover"].newest]
    assert {"model.safetensors", "config.json", "tokenizer.json", "tokenizer_config.json", "README.md"} <= set(files)
    assert b'license: "mit"' in files["README.md"] and b"prover" in files["README.md"]
    assert (
        fake.hub["me/prover"].hidden and f"hf:me/prover@{fake.hub['me/prover'].newest[:12]}" in capsys.readouterr().out
    )

    folder = resolve_model_path("hf:me/prover")
    assert not is_foreign("hf:me/prover")
    model, _, manifest = load_model(folder)
    ours, _, _ = load_model(run)
    assert manifest["step"] == 7
    assert all(torch.equal(model.state_dict()[name], tensor) for name, tensor in ours.state_dict().items())

    hub.fetch_file.cache_clear()
    asked = len(fake.requests)
    assert resolve_model_path("hf:me/prover") == folder and len(fake.requests) == asked


def test_a_revision_is_the_one_that_was_named(fake: FakeHub, run: Path) -> None:
    push(run)
    first = fake.hub["me/prover"].newest
    config = json.loads(fake.hub["me/prover"].commits[first]["config.json"])
    fake.hub["me/prover"].publish({**fake.hub["me/prover"].commits[first], "config.json": b'{"model_type": "llama"}'})
    assert is_foreign("hf:me/prover")
    folder = exported_folder(f"hf:me/prover@{first}")
    assert folder is not None and json.loads((folder / "config.json").read_text()) == config
    with pytest.raises(UserError, match="no such revision"):
        exported_folder("hf:me/prover@nowhere")


def test_of_a_model_of_others_the_configuration_alone_is_downloaded(fake: FakeHub) -> None:
    from tests.fakes.hub import Repository

    fake.hub["they/model"] = Repository()
    fake.hub["they/model"].publish({"config.json": b'{"model_type": "llama"}', "model.safetensors": b"x" * 1000})
    fake.hub["they/other"] = Repository()
    fake.hub["they/other"].publish({"README.md": b"x"})
    assert is_foreign("hf:they/model") and is_foreign("hf:they/other")
    assert not [request for request in fake.requests if request.path.endswith(".safetensors")]


def test_what_is_private_missing_or_gated_is_said(fake: FakeHub, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    push(run, "--private")
    hub.fetch_file.cache_clear()
    monkeypatch.delenv("HF_TOKEN")
    with pytest.raises(UserError, match="no such model, or it is private"):
        resolve_model_path("hf:me/prover")
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    with pytest.raises(UserError, match="no such model"):
        resolve_model_path("hf:me/none")
    fake.hub["me/prover"].gated = True
    monkeypatch.setenv("HF_TOKEN", "hf_other")
    fake.hub["me/prover"].hidden = False
    with pytest.raises(UserError, match="has to grant access"):
        resolve_model_path("hf:me/prover")


@pytest.mark.nightly
def test_without_a_network_the_cache_counts_and_the_rest_is_of_others(
    fake: FakeHub, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    push(run)
    folder = resolve_model_path("hf:me/prover")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    hub.fetch_file.cache_clear()
    assert resolve_model_path("hf:me/prover") == folder
    assert exported_folder("hf:me/elsewhere") is None
    with pytest.raises(hub.NotReached, match="cannot be reached"):
        hub.fetch_file("me/elsewhere", "config.json")
    # Its library would try each file six times, for half a minute.
    for module in ("huggingface_hub.file_download", "transformers.utils.hub"):
        monkeypatch.setattr(f"{module}.hf_hub_download", lambda *_, **__: pytest.fail("the hub's library was asked"))
    with pytest.raises(
        hub.NotReached, match=r"no folder here .*\(127\.0\.0\.1: Connection refused\): .*its config.json"
    ):
        rl_main(["--model-path", "hf:me/elsewhere", "--dry-run"])


@pytest.mark.parametrize(
    ("token", "words"), [("hf_reader", "may not write there"), ("", "log in by|may not write there")]
)
def test_who_may_not_write_is_told_so(
    fake: FakeHub, run: Path, monkeypatch: pytest.MonkeyPatch, token: str, words: str
) -> None:
    monkeypatch.setenv("HF_TOKEN", token)
    with pytest.raises(UserError, match=words):
        push(run)
    assert fake.hub == {}


def test_what_is_no_name_or_no_hub_is_said(fake: FakeHub, run: Path) -> None:
    with pytest.raises(UserError, match="expected OWNER/NAME"):
        hub.push_folder("prover", run, ["x"], "model", False, "m")
    fake.close()
    with pytest.raises(UserError, match="--push me/prover: "):
        push(run)


def test_a_data_set_is_pushed_with_a_card_that_names_its_repositories(fake: FakeHub, tmp_path: Path) -> None:
    (tmp_path / "out" / "random").mkdir(parents=True)
    (tmp_path / "out" / "random" / "train.json").write_text("[]")
    (tmp_path / "out" / "corpus.jsonl").write_text("{}\n")
    (tmp_path / "out" / "secret.txt").write_text("mine")
    about = SimpleNamespace(url="https://h/o|n", commit="c" * 40, lean_version="v4.27.0", date="2026-11-28T00:00:00")
    card = data_card("me/data", "leandojo", [about])  # type: ignore[list-item]
    (tmp_path / "out" / "README.md").write_text(card)
    commit = hub.push_folder(
        "me/data", tmp_path / "out", ["corpus.jsonl", "random/*", "README.md"], "dataset", False, "m"
    )
    pushed = fake.hub["me/data"].commits[commit]
    assert set(pushed) - {".gitattributes"} == {"corpus.jsonl", "random/train.json", "README.md"}
    assert (
        fake.kinds["me/data"] == "dataset" and b"h/o\\|n | cccccccccccc | v4.27.0 | 2026-11-28 |" in pushed["README.md"]
    )
