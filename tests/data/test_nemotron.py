"""Shards of nemotron: their split, and the commands that count and show documents."""

import json
import shutil
from pathlib import Path

import pytest

from nanoproof.common.errors import UserError
from nanoproof.data.pretrain import nemotron
from nanoproof.data.sources.catalog import Source
from nanoproof.data.sources.hub import Hub
from nanoproof.data.sources.manifest import Manifest, dataset_dir, record_file, write_manifest
from nanoproof.data.sources.transfer import RemoteFile
from nanoproof.data.text.documents import text_corpus
from tests.data.shapes import parquet


@pytest.fixture(autouse=True)
def shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three shards of three documents, one of which has no text."""
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path))
    write(3)


def write(count: int, missing: tuple[str, ...] = ()) -> None:
    files = {}
    for number in range(count):
        name = f"4plus/part_{number:06d}.parquet"
        path = dataset_dir("nemotron") / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(parquet(text=[f"{number}a", None, f"{number}b"]))
        files[name] = record_file(path, rows=3)
    write_manifest(Manifest("nemotron", "hub:n/n", "main", "c" * 40, "2026-01-02T03:04:05Z", files, missing))


def test_the_last_shard_is_for_validation() -> None:
    train, valid = nemotron.shards()
    assert [path.stem for path in train] == ["part_000000", "part_000001"]
    assert [path.stem for path in valid] == ["part_000002"]
    corpus = text_corpus("nemotron")
    assert (corpus.train.count, corpus.valid.count) == (6, 3)


def test_a_shard_that_no_manifest_lists_is_not_read() -> None:
    (dataset_dir("nemotron") / "4plus/part_000003.parquet").write_bytes(parquet(text=["not listed"]))
    assert text_corpus("nemotron").valid.segments[0].file.path.stem == "part_000002"


def test_an_interrupted_download_is_not_read() -> None:
    write(3, missing=("4plus/part_000003.parquet",))
    with pytest.raises(UserError, match=r"part_000003\.parquet did not arrive; continue with: .*download nemotron"):
        text_corpus("nemotron")


def test_stats_count_documents_per_split(capsys: pytest.CaptureFixture[str]) -> None:
    assert nemotron.main(["stats", "--json"]) == 0
    splits = json.loads(capsys.readouterr().out)["splits"]
    assert {name: (part["shards"], part["documents"]) for name, part in splits.items()} == {
        "train": (2, 6),
        "valid": (1, 3),
    }
    assert nemotron.main(["stats"]) == 0
    assert "6 documents in 2 shards" in capsys.readouterr().out


def test_show_prints_documents_with_their_places(capsys: pytest.CaptureFixture[str]) -> None:
    assert nemotron.main(["show", "--max", "3", "--json"]) == 0
    shown = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(item["id"], item["text"]) for item in shown] == [
        ("part_000000:0", "0a"),
        ("part_000000:2", "0b"),
        ("part_000001:0", "1a"),
    ]
    assert nemotron.main(["show", "--id", "part_000002:2"]) == 0
    assert capsys.readouterr().out == "-- part_000002:2, valid, 2 characters\n2b\n"


@pytest.mark.parametrize("wanted", ["part_000002:1", "part_000009:0", "17"])
def test_an_id_that_is_not_there_is_a_users_error(wanted: str) -> None:
    with pytest.raises(UserError, match=f"--id {wanted}: no such document"):
        nemotron.main(["show", "--id", wanted])


def sampled(out: Path, *flags: str) -> list[str]:
    assert nemotron.main(["sample", "--out", str(out), *flags]) == 0
    return [json.loads(line)["text"] for line in out.read_text(encoding="utf-8").splitlines()]


def test_a_sample_has_training_documents_only_and_depends_on_its_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("datasets.config.SLEEP_TIME_ON_THREADS_SHUTDOWN", 0.1)  # 5 seconds for each of eight samples
    whole = sampled(tmp_path / "a.jsonl")
    assert sorted(whole) == ["0a", "0b", "1a", "1b"]
    assert sampled(tmp_path / "b.jsonl") == whole
    assert len({tuple(sampled(tmp_path / "c.jsonl", "--seed", str(seed))) for seed in range(5)}) > 1
    assert sampled(tmp_path / "d.jsonl", "--max", "3") == whole[:3]
    corpus = text_corpus(str(tmp_path / "a.jsonl"))
    assert corpus.train.count + corpus.valid.count == 4


def test_what_is_not_here_is_streamed_from_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remote = tmp_path / "remote.parquet"
    remote.write_bytes(parquet(text=["far", "away", None]))
    shutil.rmtree(dataset_dir("nemotron"))
    monkeypatch.setattr(nemotron, "hub_files", lambda: [str(remote)])
    assert sorted(sampled(tmp_path / "a.jsonl")) == ["away", "far"]


def test_the_validation_shard_of_the_hub_is_not_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    def files(hub: Hub, source: Source, revision: str) -> list[RemoteFile]:
        names = [f"4plus/part_{number:06d}.parquet" for number in range(3)]
        return [RemoteFile(source, name, name, "", "c" * 40, 1, "", "") for name in names]

    monkeypatch.setattr(Hub, "files", files)
    base = f"hf://datasets/nvidia/Nemotron-CC-Math-v1@{'c' * 40}/4plus"
    assert nemotron.hub_files() == [f"{base}/part_000000.parquet", f"{base}/part_000001.parquet"]


def test_a_sample_that_cannot_be_read_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bad.parquet").write_bytes(b"no parquet")
    monkeypatch.setattr(nemotron, "shards", lambda: ([tmp_path / "bad.parquet"], []))
    with pytest.raises(UserError, match="cannot be read any further"):
        sampled(tmp_path / "a.jsonl")
    assert not (tmp_path / "a.jsonl").exists()
    with pytest.raises(UserError, match=r"--out must be a \.jsonl file"):
        sampled(tmp_path / "a.txt")
