"""Manifests: which files of a data set count as here, and what is said of the others."""

import json
from pathlib import Path

import pytest

from nanoproof.common.errors import UserError
from nanoproof.data.sources.catalog import CATALOG, of_stages, select_data_sets
from nanoproof.data.sources.manifest import (
    FileRecord,
    Manifest,
    dataset_dir,
    file_path,
    file_paths,
    find_problems,
    manifest_path,
    read_manifest,
    record_file,
    write_manifest,
)


@pytest.fixture(autouse=True)
def fresh_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path))
    return tmp_path


def make(name: str = "leantree", missing: tuple[str, ...] = (), **texts: str) -> Manifest:
    """A data set of small files with a manifest that fits."""
    directory = dataset_dir(name)
    directory.mkdir(parents=True, exist_ok=True)
    files: dict[str, FileRecord] = {}
    for stem, text in texts.items():
        path = directory / f"{stem}.jsonl"
        path.write_text(text, encoding="utf-8")
        files[path.name] = record_file(path, rows=text.count("\n"), source="hub:a/b", revision="main", commit="c" * 40)
    manifest = Manifest(name, "hub:a/b", "main", "c" * 40, "2026-01-02T03:04:05Z", files, missing)
    write_manifest(manifest)
    return manifest


def test_what_is_written_is_read_back() -> None:
    manifest = make(b="1\n", a="1\n2\n", missing=("c.jsonl",))
    assert read_manifest("leantree") == manifest
    assert list(json.loads(manifest_path("leantree").read_text())["files"]) == ["a.jsonl", "b.jsonl"]
    assert (manifest.files["a.jsonl"].rows, manifest.bytes) == (2, 6)


def test_a_listed_file_of_the_right_size_is_opened() -> None:
    make(a="1\n")
    assert file_path("leantree", "a.jsonl").read_text() == "1\n"


def test_without_a_manifest_the_error_names_the_download_command() -> None:
    (dataset_dir("leantree")).mkdir(parents=True)
    (dataset_dir("leantree") / "a.jsonl").write_text("1\n")
    with pytest.raises(UserError, match=r"leantree is not in .*python -m nanoproof\.data\.download leantree$"):
        file_path("leantree", "a.jsonl")


def test_of_a_set_that_is_built_the_error_names_the_build_command() -> None:
    with pytest.raises(UserError, match=r"python -m nanoproof\.data\.midtrain\.leangithubraw build$"):
        file_paths("leangithubraw")


def test_a_file_that_is_not_listed_does_not_count() -> None:
    make(a="1\n")
    (dataset_dir("leantree") / "b.jsonl").write_text("1\n")
    with pytest.raises(UserError, match=r"lists no b\.jsonl.*download leantree"):
        file_path("leantree", "b.jsonl")


def test_a_file_of_another_size_does_not_count() -> None:
    make(a="1\n2\n")
    (dataset_dir("leantree") / "a.jsonl").write_text("1\n")
    with pytest.raises(UserError, match=r"a\.jsonl is incomplete or changed: 2 bytes, its manifest says 4.*download"):
        file_path("leantree", "a.jsonl")


def test_a_file_that_is_gone_does_not_count() -> None:
    make(a="1\n")
    (dataset_dir("leantree") / "a.jsonl").unlink()
    with pytest.raises(UserError, match=r"a\.jsonl is gone; get it again with: .*download leantree"):
        file_path("leantree", "a.jsonl")


def test_files_are_opened_by_pattern_and_sorted() -> None:
    make(b="1\n", a="1\n", other="1\n")
    assert [path.name for path in file_paths("leantree", "[ab].jsonl")] == ["a.jsonl", "b.jsonl"]


def test_a_set_of_files_that_is_incomplete_is_not_opened_by_pattern() -> None:
    make(a="1\n", missing=("b.jsonl", "x.whitelist.json"))
    with pytest.raises(UserError, match=r"incomplete: b\.jsonl did not arrive; continue with: .*download leantree"):
        file_paths("leantree", "*.jsonl")


def test_changed_content_of_the_same_size_is_found_by_its_checksum() -> None:
    manifest = make(a="1\n", b="2\n")
    (dataset_dir("leantree") / "a.jsonl").write_text("7\n")
    assert find_problems(manifest) == {}
    assert find_problems(manifest, hashes=True) == {"a.jsonl": "has another SHA-256 than its manifest says"}


@pytest.mark.parametrize(
    "content",
    ["[]", '{"name": "leantree"}', '{"name": 1, "files": {"a": {"bytes": 1}}, "missing": []}', '{"files": 3}', "{"],
)
def test_a_damaged_manifest_is_a_users_error(content: str) -> None:
    dataset_dir("leantree").mkdir(parents=True)
    manifest_path("leantree").write_text(content)
    with pytest.raises(UserError, match=r"manifest\.json"):
        read_manifest("leantree")


def test_a_manifest_of_another_set_is_refused() -> None:
    make(a="1\n")
    dataset_dir("proofnet").mkdir(parents=True)
    manifest_path("proofnet").write_text(manifest_path("leantree").read_text())
    with pytest.raises(UserError, match="no manifest of the data set proofnet"):
        read_manifest("proofnet")


# -- the catalog -------------------------------------------------------------------------------------------------


def test_stages_stand_for_their_data_sets() -> None:
    assert {"leanworkbook", "numinamath", "deepseek_prover", "nanolean"} <= set(of_stages(["rl"]))
    assert {"nemotron", "minif2f", "proofnet", "nanolean"} <= set(of_stages(["pretrain", "bench"]))
    assert not {"nemotron", "leantree", "minif2f", "proofnet"} & set(of_stages(["rl"]))


def test_names_and_stages_are_mixed_and_come_once_in_the_order_of_the_catalog() -> None:
    names = [data_set.name for data_set in select_data_sets(["rl", "leantree", "numinamath"])]
    assert names == [name for name in CATALOG if name in {"leantree", *of_stages(["rl"])}]
    assert [data_set.name for data_set in select_data_sets(["all"])] == list(CATALOG)


def test_an_unknown_name_lists_what_there_is() -> None:
    with pytest.raises(UserError, match=r"unknown data set minif2g; there are: all, the stages pretrain.*minif2f"):
        select_data_sets(["minif2g"])


def test_local_names_do_not_collide() -> None:
    for data_set in CATALOG.values():
        names = [source.local for source in (*data_set.files, *(source for _, source in data_set.whitelists))]
        assert len(names) == len(set(names))
