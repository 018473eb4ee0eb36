"""`python -m nanoproof.data.download` against a stand-in of the hub and of a host of raw files, over real HTTP."""

import contextlib
import errno
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub
import pytest
from filelock import FileLock
from huggingface_hub.errors import GatedRepoError

from nanoproof.common.errors import UserError
from nanoproof.data import download
from nanoproof.data.sft import leantree
from nanoproof.data.sources import transfer
from nanoproof.data.sources.catalog import CATALOG, PUTNAMBENCH_COMMIT, Source
from nanoproof.data.sources.manifest import (
    dataset_dir,
    file_path,
    file_paths,
    manifest_path,
    read_manifest,
    record_file,
    write_manifest,
)
from nanoproof.data.text.documents import text_corpus
from nanoproof.data.theorems.theorem_sets import list_theorems, splits_of
from nanoproof.data.transitions.leantree import load_split
from tests.data import shapes
from tests.data.shapes import LEAN_WORKBOOK, NEMOTRON, PUTNAMBENCH
from tests.fakes.hub import TOKEN, FakeHub, sha256
from tests.helpers import wait_for

WORKBOOK_FILE = "lean_workbook.json"
DOWNLOADED = [name for name, data_set in CATALOG.items() if data_set.files]


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """Everything published, the environment pointing at it, and no token."""
    fake = FakeHub()
    shapes.fill(fake)
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HF_ENDPOINT", fake.endpoint)
    monkeypatch.setenv("NANOPROOF_RAW_ENDPOINT", fake.raw_endpoint)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr(huggingface_hub.constants, "HF_TOKEN_PATH", str(tmp_path / "no_token"))
    monkeypatch.setattr(transfer, "FIRST_WAIT", 0.01)
    yield fake
    fake.close()


def run(*words: object) -> int:
    return download.main([str(word) for word in words])


def left_over() -> list[str]:
    """Hidden files below the data directory other than locks: what waits half done."""
    data = Path(os.environ["NANOPROOF_HOME"]) / "data"
    return sorted(path.name for path in data.rglob(".*") if path.is_file() and path.name != ".download.lock")


def said(capsys: pytest.CaptureFixture[str], start: str) -> list[str]:
    return [line for line in capsys.readouterr().out.splitlines() if line.startswith(start)]


# -- everything goes well ----------------------------------------------------------------------------------------


@pytest.mark.nightly
def test_everything_is_downloaded_as_published(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert run("all") == 0
    for name in DOWNLOADED:
        manifest = read_manifest(name)
        assert manifest is not None and manifest.missing == ()
        main = CATALOG[name].files[0]
        repository = (hub.hub if main.host == "hub" else hub.git)[main.repository]
        assert (manifest.source, manifest.commit) == (main.address, repository.newest)
        for filename, record in manifest.files.items():
            host, _, repository_name = record.source.partition(":")
            published = (hub.hub if host == "hub" else hub.git)[repository_name].commits[record.commit][record.path]
            assert file_path(name, filename).read_bytes() == published
            assert (record.bytes, record.sha256) == (len(published), sha256(published))
    assert len(file_paths("nemotron", "4plus/part_*.parquet")) == 46
    assert left_over() == []


def test_without_a_name_everything_is_downloaded_after_a_line_that_says_how_much(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert run("--shards", 1) == 0
    lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"to fetch: nemotron [\d.]+ .?B, leantree .*; [\d.]+ .?B in all", lines[0])
    assert [name for name in DOWNLOADED if f"{name} " in lines[0]] == DOWNLOADED
    assert all(read_manifest(name) is not None for name in DOWNLOADED)
    assert run("--shards", 1) == 0
    assert said(capsys, "to fetch") == []


def test_rows_are_counted(hub: FakeHub) -> None:
    assert run("leantree", "rl", "bench") == 0
    rows = {filename: open_rows(name, filename) for name, filename in FILES_WITH_ROWS}
    assert rows == {
        "leantree_mathlib.jsonl": 10,
        "lean_workbook.json": 3,
        "numinamath.parquet": 2,
        "deepseek_prover.jsonl": 5,
        "Valid.lean": 256,
        "Test.lean": 244,
        "proofnet.jsonl": 371,
    }


FILES_WITH_ROWS = [
    ("leantree", "leantree_mathlib.jsonl"),
    ("leanworkbook", "lean_workbook.json"),
    ("numinamath", "numinamath.parquet"),
    ("deepseek_prover", "deepseek_prover.jsonl"),
    ("minif2f", "Valid.lean"),
    ("minif2f", "Test.lean"),
    ("proofnet", "proofnet.jsonl"),
]


def open_rows(name: str, filename: str) -> int | None:
    manifest = read_manifest(name)
    assert manifest is not None
    return manifest.files[filename].rows


def test_what_is_downloaded_can_be_read(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert run("all", "--shards", 2) == 0
    theorem_sets = [
        name for name, data_set in CATALOG.items() if data_set.files and {"rl", "bench"} & {*data_set.stages}
    ]
    counts = {name: sum(len(list_theorems(name, split)) for split in splits_of(name)) for name in theorem_sets}
    assert counts == shapes.THEOREM_COUNTS
    assert [len(part) for part in load_split(leantree.transitions_file())] == [9, 1]
    corpus = text_corpus("nemotron")
    assert (corpus.train.count, corpus.valid.count) == (8, 4)


def test_another_number_of_rows_is_a_warning_that_names_both(hub: FakeHub, capsys: pytest.CaptureFixture[str]) -> None:
    hub.git["google-deepmind/miniF2F"].publish(
        {"MiniF2F/Valid.lean": shapes.lean(255), "MiniF2F/Test.lean": shapes.lean(244)}
    )
    assert run("minif2f", "deepseek_prover") == 0
    assert said(capsys, "warning") == [
        "warning: deepseek_prover: deepseek_prover.jsonl has 5 rows, about 27,500 were expected",
        "warning: minif2f: Valid.lean has 255 rows, 256 were expected",
    ]


def test_the_whitelists_lie_beside_the_data(hub: FakeHub) -> None:
    assert run("rl") == 0
    path = file_path("numinamath", "numinamath.parquet.whitelist.v4.27.0.json")
    assert path.parent == file_path("numinamath", "numinamath.parquet").parent
    assert json.loads(path.read_text())["lean_version"] == "v4.27.0"


def test_what_is_made_here_is_named_with_its_command(hub: FakeHub, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("midtrain") == 0
    lines = capsys.readouterr().out.splitlines()
    for name in ("leangithubraw", "nanolean"):
        assert [line for line in lines if line.startswith(name) and line.endswith(CATALOG[name].build)]


def test_a_second_download_fetches_nothing(hub: FakeHub, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("leantree", "rl", "bench") == 0
    times = {path: path.stat().st_mtime_ns for path in dataset_dir("leanworkbook").iterdir()}
    hub.requests.clear()
    capsys.readouterr()
    assert run("leantree", "rl", "bench") == 0
    assert hub.contents() == []
    assert {path: path.stat().st_mtime_ns for path in dataset_dir("leanworkbook").iterdir()} == times
    fresh = [line.split()[0] for line in capsys.readouterr().out.splitlines() if "up to date" in line]
    assert fresh == [name for name in DOWNLOADED if name not in ("nemotron", "stp")]


def test_a_dry_run_lists_files_with_their_sizes_and_writes_nothing(
    hub: FakeHub, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run("leanworkbook", "minif2f", "--dry-run") == 0
    lines = {words[0]: words[1:] for line in capsys.readouterr().out.splitlines() if (words := line.split())}
    size = len(
        hub.git["google-deepmind/miniF2F"].commits[hub.git["google-deepmind/miniF2F"].newest]["MiniF2F/Test.lean"]
    )
    assert lines["Test.lean"] == [f"{size / 1000:.1f}", "kB", "to", "fetch"]
    assert lines[WORKBOOK_FILE][2:] == ["to", "fetch"]
    assert lines["leanworkbook"][:3] == ["to", "fetch", "0/2"]
    assert not (tmp_path / "home").exists()
    assert hub.contents() == []


def test_a_few_shards_come_with_the_validation_shard(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert run("nemotron", "--shards", 2) == 0
    names = [path.name for path in file_paths("nemotron", "4plus/*")]
    assert names == ["part_000000.parquet", "part_000001.parquet", "part_000045.parquet"]
    hub.requests.clear()
    assert run("nemotron", "--shards", 4) == 0
    fetched = sorted({request.path[-14:-8] for request in hub.contents()})
    assert fetched == ["000002", "000003"]
    assert len(file_paths("nemotron", "4plus/*")) == 5


# -- versions ----------------------------------------------------------------------------------------------------


def test_a_set_stays_at_its_commit_and_says_that_there_is_a_newer_one(
    hub: FakeHub, capsys: pytest.CaptureFixture[str]
) -> None:
    first = hub.hub[LEAN_WORKBOOK].newest
    assert run("leanworkbook") == 0
    second = hub.hub[LEAN_WORKBOOK].publish({WORKBOOK_FILE: shapes.workbook(7)})
    capsys.readouterr()
    assert run("leanworkbook") == 0
    notes = said(capsys, "note: leanworkbook")
    assert len(notes) == 1 and second[:12] in notes[0] and first[:12] in notes[0] and "--force" in notes[0]
    assert open_rows("leanworkbook", WORKBOOK_FILE) == 3
    assert run("leanworkbook", "--force") == 0
    manifest = read_manifest("leanworkbook")
    assert manifest is not None and (manifest.commit, manifest.files[WORKBOOK_FILE].rows) == (second, 7)


@pytest.mark.parametrize("lost", ["removed", "damaged"])
def test_a_file_that_is_lost_comes_again_from_its_commit(
    hub: FakeHub, capsys: pytest.CaptureFixture[str], lost: str
) -> None:
    first = hub.hub[LEAN_WORKBOOK].newest
    assert run("leanworkbook") == 0
    hub.hub[LEAN_WORKBOOK].publish({WORKBOOK_FILE: shapes.workbook(7)})
    (file,) = file_paths("leanworkbook", WORKBOOK_FILE)
    if lost == "removed":
        file.unlink()
    else:
        file.write_bytes(b"x" * file.stat().st_size)
    assert run("leanworkbook", "--verify") == 0
    assert open_rows("leanworkbook", WORKBOOK_FILE) == 3
    assert "stay so; --force takes the new ones" in capsys.readouterr().out
    manifest = read_manifest("leanworkbook")
    assert manifest is not None and manifest.commit == first


def test_a_revision_can_be_chosen(hub: FakeHub) -> None:
    first = hub.hub[LEAN_WORKBOOK].newest
    hub.hub[LEAN_WORKBOOK].publish({WORKBOOK_FILE: shapes.workbook(7)})
    assert run("leanworkbook") == 0
    assert open_rows("leanworkbook", WORKBOOK_FILE) == 7
    assert run("leanworkbook", "--revision", f"leanworkbook={first}") == 0
    assert open_rows("leanworkbook", WORKBOOK_FILE) == 3


def test_a_revision_of_a_repository_read_over_https_can_be_chosen(hub: FakeHub) -> None:
    repository = hub.git["google-deepmind/miniF2F"]
    first = repository.newest
    repository.publish({"MiniF2F/Valid.lean": shapes.lean(1), "MiniF2F/Test.lean": shapes.lean(1)})
    assert run("minif2f", "--revision", f"minif2f={first}") == 0
    manifest = read_manifest("minif2f")
    assert manifest is not None and manifest.commit == first and manifest.files["Valid.lean"].rows == 256


@pytest.mark.parametrize("value", ["leanworkbook", "leanworkbook=", "nothing=main", "nanolean=main"])
def test_a_revision_that_makes_no_sense_is_a_users_error(hub: FakeHub, value: str) -> None:
    with pytest.raises(UserError, match=f"--revision must be NAME=REVISION .*got {value}"):
        run("all", "--revision", value)


def test_an_unknown_revision_is_named(hub: FakeHub, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("leanworkbook", "--revision", "leanworkbook=v9") == 1
    assert "Lean-Workbook has no revision v9" in said(capsys, "failed")[0]


# -- what goes wrong ---------------------------------------------------------------------------------------------


def test_a_gated_set_without_token_names_the_terms_and_the_others_arrive(
    hub: FakeHub, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("nemotron", "minif2f") == 1
    printed = capsys.readouterr().out
    failed = [line for line in printed.splitlines() if line.startswith("failed")]
    assert len(failed) == 1 and "46 files: it is gated: accept the terms at" in failed[0]
    assert f"datasets/{NEMOTRON}" in failed[0] and "hf auth login" in failed[0] and "HF_TOKEN" in failed[0]
    assert printed.rstrip().endswith("continue with: python -m nanoproof.data.download nemotron")
    assert read_manifest("nemotron") is None and left_over() == []
    assert len(file_paths("minif2f", "*.lean")) == 2


def test_a_gated_set_whose_files_are_not_even_listed_names_the_terms(
    hub: FakeHub, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.hub[NEMOTRON].hidden = True
    assert run("nemotron") == 1
    assert "it is gated: accept the terms at" in said(capsys, "failed")[0]


def test_shards_that_are_here_stay_usable_when_the_token_no_longer_is(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert run("nemotron", "--shards", 1) == 0
    monkeypatch.setenv("HF_TOKEN", "hf_expired")
    assert run("nemotron") == 1
    assert len(file_paths("nemotron", "4plus/*.parquet")) == 2


def test_a_token_without_access_is_told_from_none(
    hub: FakeHub, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_of_somebody")
    assert run("nemotron", "--shards", 1) == 1
    assert "your token may not read it: accept the terms at" in said(capsys, "failed")[0]


def test_a_token_that_is_not_valid_is_said_to_be_so(
    hub: FakeHub, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_expired")
    assert run("leantree") == 1
    assert "does not accept your token" in said(capsys, "failed")[0]


def test_a_file_that_has_moved_is_named(hub: FakeHub, capsys: pytest.CaptureFixture[str]) -> None:
    hub.hub["ufal/leantree"].publish({"other.jsonl": b"{}\n"})
    hub.git["google-deepmind/miniF2F"].publish({"MiniF2F/Valid.lean": shapes.lean(256)})
    assert run("leantree", "minif2f") == 1
    failed = said(capsys, "failed")
    assert "ufal/leantree has no leantree_mathlib.jsonl at revision" in failed[0]
    assert "Test.lean: " in failed[1] and "(404 from " in failed[1]
    manifest = read_manifest("minif2f")
    assert manifest is not None and manifest.missing == ("Test.lean",) and list(manifest.files) == ["Valid.lean"]


def test_a_repository_that_is_gone_is_named(hub: FakeHub, capsys: pytest.CaptureFixture[str]) -> None:
    del hub.hub["ufal/leantree"]
    assert run("leantree") == 1
    assert "no data set repository ufal/leantree at " in said(capsys, "failed")[0]


def test_a_missing_whitelist_leaves_the_data_usable(hub: FakeHub, capsys: pytest.CaptureFixture[str]) -> None:
    hub.git["Kripner/nanoproof"].publish({})
    assert run("leanworkbook") == 1
    printed = capsys.readouterr().out
    assert "incomplete" in printed and "failed: leanworkbook: lean_workbook.json.whitelist.v4.27.0.json: " in printed
    assert file_path("leanworkbook", WORKBOOK_FILE).exists()


@pytest.mark.parametrize("kind", ["truncate", "reset", "503", "500", "429"])
@pytest.mark.parametrize("name", ["leanworkbook", "proofnet"])
def test_what_passes_is_tried_again(hub: FakeHub, name: str, kind: str) -> None:
    source = CATALOG[name].files[0]
    hub.mishaps[source.path] = [kind]
    assert run(name) == 0
    assert file_path(name, source.local).stat().st_size > 0
    assert hub.mishaps[source.path] == [] and left_over() == []


def test_a_truncated_body_is_continued_where_it_broke(hub: FakeHub) -> None:
    content = shapes.workbook(4000)
    hub.hub[LEAN_WORKBOOK].publish({WORKBOOK_FILE: content})
    hub.mishaps[WORKBOOK_FILE] = ["truncate"]
    assert run("leanworkbook") == 0
    ranges = [request.range for request in hub.contents(WORKBOOK_FILE)]
    assert ranges[0] == "" and 0 < int(ranges[1].removeprefix("bytes=").rstrip("-")) <= len(content) // 2


def test_a_body_that_stays_truncated_is_given_up_with_a_message(
    hub: FakeHub, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.mishaps[WORKBOOK_FILE] = ["reset"] * 20
    assert run("leanworkbook") == 1
    assert f"failed: leanworkbook: {WORKBOOK_FILE}: the connection to {hub.endpoint} broke" in said(capsys, "failed")[0]
    with pytest.raises(UserError, match="download leanworkbook"):
        file_path("leanworkbook", WORKBOOK_FILE)
    manifest = read_manifest("leanworkbook")
    assert manifest is not None and manifest.missing == (WORKBOOK_FILE,)


def test_a_stalled_connection_is_given_up_and_tried_again(hub: FakeHub) -> None:
    hub.mishaps[WORKBOOK_FILE] = ["stall"]
    hub.mishaps["data/proofnet.jsonl"] = ["stall"]
    assert run("leanworkbook", "proofnet", "--timeout", 0.3) == 0


def test_a_busy_host_is_asked_again_for_its_lists(hub: FakeHub) -> None:
    hub.mishaps[f"api:{LEAN_WORKBOOK}"] = ["429", "503"]
    assert run("leanworkbook") == 0


@pytest.mark.parametrize("kind", ["damage", "page"])
def test_content_with_a_wrong_checksum_is_not_kept(hub: FakeHub, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    hub.mishaps[WORKBOOK_FILE] = [kind] * 20
    assert run("leanworkbook") == 1
    failed = said(capsys, "failed")
    assert "damaged on the way" in failed[0] or "after" in failed[0], failed
    assert not (dataset_dir("leanworkbook") / WORKBOOK_FILE).exists()
    if kind == "damage":
        assert left_over() == []


@pytest.mark.parametrize("name", ["leanworkbook", "proofnet"])
def test_a_host_that_packs_more_than_it_announced_is_not_read_on(
    hub: FakeHub, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    hub.mishaps[WORKBOOK_FILE] = hub.mishaps["data/proofnet.jsonl"] = ["bomb"] * 20
    assert run(name) == 1
    assert "its host sends more than the" in said(capsys, "failed")[0]
    assert left_over() == []


@pytest.mark.parametrize("size", [1000, None])
def test_of_a_body_without_end_no_more_is_written_than_was_announced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int | None
) -> None:
    monkeypatch.setattr(transfer, "UNANNOUNCED_BYTES", 2000)
    source = Source("git", "a/b", "data.json")
    arrived: list[int] = []
    remote = SimpleNamespace(open=lambda *_: contextlib.nullcontext(transfer.Body(0, itertools.repeat(b"x" * 300))))
    file = transfer.RemoteFile(source, source.path, source.local, "", "c" * 40, size)
    with pytest.raises(transfer.TransferError, match=r"sends more than .*[12],000 bytes"):
        transfer.fetch(remote, file, tmp_path / "data.json", lambda _: None, arrived.append, threading.Event())
    assert sum(arrived) == (size or 2000) + 1 and list(tmp_path.iterdir()) == []


def test_a_small_file_is_checked_by_its_git_checksum(hub: FakeHub, capsys: pytest.CaptureFixture[str]) -> None:
    hub.hub[LEAN_WORKBOOK].publish({WORKBOOK_FILE: b'[{"a": 1}]'})
    hub.mishaps[WORKBOOK_FILE] = ["damage"]
    assert run("leanworkbook") == 1
    assert "its git checksum is" in said(capsys, "failed")[0]
    assert not (dataset_dir("leanworkbook") / WORKBOOK_FILE).exists()


def test_the_page_of_a_proxy_does_not_take_the_name_of_a_raw_file(
    hub: FakeHub, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.git["Kripner/ProofNet"].publish({"data/proofnet.jsonl": b"<html>Please log in to this network</html>"})
    assert run("proofnet") == 1
    assert "what came as proofnet.jsonl is no jsonl file" in said(capsys, "failed")[0]
    assert not (dataset_dir("proofnet") / "proofnet.jsonl").exists() and left_over() == []


def test_a_stopped_download_is_continued_by_the_next_one(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    content = shapes.workbook(4000)
    hub.hub[LEAN_WORKBOOK].publish({WORKBOOK_FILE: content})
    hub.mishaps[WORKBOOK_FILE] = ["truncate"]
    monkeypatch.setattr(transfer, "ATTEMPTS", 1)
    assert run("leanworkbook") == 1
    assert len(left_over()) == 1
    with pytest.raises(UserError):
        file_path("leanworkbook", WORKBOOK_FILE)
    hub.requests.clear()
    assert run("leanworkbook") == 0
    (request,) = hub.contents(WORKBOOK_FILE)
    assert request.range.startswith("bytes=") and request.range != "bytes=0-"
    assert file_path("leanworkbook", WORKBOOK_FILE).read_bytes() == content


def test_a_file_whose_name_continues_that_of_another_keeps_its_beginning(tmp_path: Path) -> None:
    waiting = tmp_path / ".data.json.whitelist.json.0123456789abcdef.partial"
    waiting.write_bytes(b"{")
    (tmp_path / ".data.json.fedcba9876543210.partial").write_bytes(b"[")
    source = Source("git", "a/b", "data.json")
    body = transfer.Body(0, iter([b"[]"]))
    remote = SimpleNamespace(open=lambda *_: contextlib.nullcontext(body))
    file = transfer.RemoteFile(source, source.path, source.local, "", "c" * 40)
    arrived = transfer.fetch(remote, file, tmp_path / "data.json", lambda _: None, lambda _: None, threading.Event())
    assert arrived == (2, sha256(b"[]"), None)
    assert sorted(path.name for path in tmp_path.iterdir()) == [waiting.name, "data.json"]


def test_the_beginning_of_another_version_is_not_continued(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.hub[LEAN_WORKBOOK].publish({WORKBOOK_FILE: shapes.workbook(4000)})
    hub.mishaps[WORKBOOK_FILE] = ["truncate"]
    monkeypatch.setattr(transfer, "ATTEMPTS", 1)
    assert run("leanworkbook") == 1
    content = shapes.workbook(4001)
    hub.hub[LEAN_WORKBOOK].publish({WORKBOOK_FILE: content})
    hub.requests.clear()
    assert run("leanworkbook") == 0
    assert [request.range for request in hub.contents(WORKBOOK_FILE)] == [""]
    assert file_path("leanworkbook", WORKBOOK_FILE).read_bytes() == content and left_over() == []


def test_a_host_that_ignores_ranges_sends_the_whole(hub: FakeHub) -> None:
    content = shapes.workbook(4000)
    hub.hub[LEAN_WORKBOOK].publish({WORKBOOK_FILE: content})
    hub.mishaps[WORKBOOK_FILE] = ["truncate", "no range"]
    assert run("leanworkbook") == 0
    assert file_path("leanworkbook", WORKBOOK_FILE).read_bytes() == content


def test_a_beginning_that_was_damaged_on_disk_is_thrown_away(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.hub[LEAN_WORKBOOK].publish({WORKBOOK_FILE: shapes.workbook(4000)})
    hub.mishaps[WORKBOOK_FILE] = ["truncate"]
    monkeypatch.setattr(transfer, "ATTEMPTS", 1)
    assert run("leanworkbook") == 1
    (partial,) = [dataset_dir("leanworkbook") / name for name in left_over()]
    partial.write_bytes(b"x" * partial.stat().st_size)
    assert run("leanworkbook") == 0
    assert file_path("leanworkbook", WORKBOOK_FILE).read_bytes() == shapes.workbook(4000)


# -- the disk ----------------------------------------------------------------------------------------------------


@pytest.mark.nightly
def test_a_disk_that_becomes_full_leaves_nothing_behind(hub: FakeHub, tmp_path: Path) -> None:
    """In a process of its own, whose files may not become larger than 20 kB."""
    hub.hub[LEAN_WORKBOOK].publish({WORKBOOK_FILE: shapes.workbook(4000)})
    code = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000));"
        "from nanoproof.data.download import main; sys.exit(main(['leanworkbook', 'minif2f', 'proofnet']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1, done.stderr
    failed = [line for line in done.stdout.splitlines() if line.startswith("failed: leanworkbook")]
    assert len(failed) == 1 and "cannot write" in failed[0] and "nothing of it is kept, free space" in failed[0]
    assert left_over() == [] and not (dataset_dir("leanworkbook") / WORKBOOK_FILE).exists()
    assert len(file_paths("leanworkbook", "*.whitelist.*")) == 1


def test_a_full_disk_is_named(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(transfer.os, "fsync", full)
    assert run("proofnet") == 1
    assert "the disk is full; nothing of it is kept" in said(capsys, "failed")[0]
    assert left_over() == []


def test_what_does_not_fit_is_not_begun_and_the_rest_is(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.hub[LEAN_WORKBOOK].publish({WORKBOOK_FILE: shapes.workbook(4000)})
    usage = type("Usage", (), {"free": 100_000})
    monkeypatch.setattr(download.shutil, "disk_usage", lambda _: usage)
    assert run("leanworkbook", "minif2f") == 1
    assert "no room: " in said(capsys, "failed")[0]
    assert hub.contents(WORKBOOK_FILE) == [] and len(file_paths("minif2f", "*.lean")) == 2


def test_a_damaged_file_is_found_by_verify_and_fetched_again(hub: FakeHub, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("leanworkbook") == 0
    path = file_path("leanworkbook", WORKBOOK_FILE)
    good = path.read_bytes()
    path.write_bytes(b" " + good[1:])
    assert run("leanworkbook") == 0
    assert path.read_bytes() != good
    capsys.readouterr()
    assert run("leanworkbook", "--verify") == 0
    assert path.read_bytes() == good
    assert f"{WORKBOOK_FILE} has another SHA-256 than its manifest says" in said(capsys, "note")[0]


def test_a_file_that_was_put_here_by_hand_is_taken_if_it_is_the_right_one(hub: FakeHub) -> None:
    dataset_dir("leanworkbook").mkdir(parents=True)
    (dataset_dir("leanworkbook") / WORKBOOK_FILE).write_bytes(shapes.workbook())
    assert run("leanworkbook") == 0
    assert hub.contents(WORKBOOK_FILE) == []
    assert open_rows("leanworkbook", WORKBOOK_FILE) == 3


def test_a_whitelist_that_was_made_here_is_kept(hub: FakeHub, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("leanworkbook") == 0
    path = file_path("leanworkbook", f"{WORKBOOK_FILE}.whitelist.v4.27.0.json")
    path.write_text('{"made": "here"}')
    manifest = read_manifest("leanworkbook")
    assert manifest is not None
    write_manifest(replace(manifest, files={**manifest.files, path.name: record_file(path, source="check-init")}))
    capsys.readouterr()
    assert run("leanworkbook") == 0
    assert path.read_text() == '{"made": "here"}' and "was made here and is kept" in said(capsys, "note")[0]
    assert run("leanworkbook", "--force") == 0
    assert path.read_bytes() == shapes.whitelist()


def test_a_place_that_cannot_be_written_fails_its_set_alone(hub: FakeHub, capsys: pytest.CaptureFixture[str]) -> None:
    dataset_dir("leantree").parent.mkdir(parents=True)
    dataset_dir("leantree").write_text("in the way")
    (dataset_dir("minif2f") / "Valid.lean").mkdir(parents=True)
    assert run("leantree", "minif2f", "proofnet") == 1
    failed = sorted(said(capsys, "failed"))
    assert len(failed) == 2 and f"cannot write to {dataset_dir('leantree')}: " in failed[0]
    assert f"cannot write {dataset_dir('minif2f') / 'Valid.lean'}: Is a directory" in failed[1]
    assert file_path("proofnet", "proofnet.jsonl").exists()


def test_a_damaged_manifest_is_made_anew(hub: FakeHub, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("leantree") == 0
    manifest_path("leantree").write_text("{")
    hub.requests.clear()
    assert run("leantree") == 0
    assert "the manifest is made anew: " in said(capsys, "note")[0]
    assert file_path("leantree", "leantree_mathlib.jsonl").exists() and hub.contents() == []


# -- no network --------------------------------------------------------------------------------------------------


def test_offline_what_is_here_is_enough(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("leantree") == 0
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    capsys.readouterr()
    assert run("leantree") == 0
    assert "was not compared with its host: HF_HUB_OFFLINE is set" in said(capsys, "note")[0]
    assert run("numinamath") == 1
    assert "HF_HUB_OFFLINE is set" in said(capsys, "failed")[0]


def test_a_host_that_is_not_there_is_named(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("NANOPROOF_RAW_ENDPOINT", "http://127.0.0.1:9")
    assert run("leantree", "minif2f") == 1
    failed = said(capsys, "failed")
    assert all(
        "http://127.0.0.1:9 cannot be reached" in line and f"tried {transfer.LIST_ATTEMPTS} times" in line
        for line in failed
    )


@pytest.mark.parametrize(("variable", "name"), [("HF_ENDPOINT", "leantree"), ("NANOPROOF_RAW_ENDPOINT", "minif2f")])
def test_an_endpoint_that_is_no_address_is_named(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], variable: str, name: str
) -> None:
    monkeypatch.setenv(variable, "mirror.example")
    assert run(name) == 1
    assert f"{variable}=mirror.example is no address such as https://" in said(capsys, "failed")[0]


def test_proxies_are_respected(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in answers requests for hosts that only a proxy can know."""
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, hub.endpoint)
    for name in ("NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_ENDPOINT", "http://hub.invalid")
    monkeypatch.setenv("NANOPROOF_RAW_ENDPOINT", "http://raw.invalid/raw")
    huggingface_hub.close_session()
    try:
        assert run("leantree", "proofnet") == 0
    finally:
        huggingface_hub.close_session()
    assert {request.headers["Host"] for request in hub.requests} >= {"hub.invalid", "raw.invalid"}


def test_a_mirror_that_does_not_tell_commits_is_enough(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.mishaps["api:Kripner/ProofNet"] = ["403", "403"]
    assert run("proofnet") == 0
    manifest = read_manifest("proofnet")
    assert manifest is not None and manifest.files["proofnet.jsonl"].commit == ""


# -- a set of many files, over HTTPS ---------------------------------------------------------------------------------


def test_the_files_of_a_pattern_are_those_of_the_pinned_commit(
    hub: FakeHub, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.git[PUTNAMBENCH].publish({"lean4/src/putnam_2100_a1.lean": shapes.lean(1)})  # newer
    assert run("putnambench", "--dry-run") == 0
    assert hub.contents() == [] and "src/putnam_2099_a1.lean" in capsys.readouterr().out
    assert run("putnambench") == 0
    manifest = read_manifest("putnambench")
    assert manifest is not None and manifest.commit == PUTNAMBENCH_COMMIT
    assert list(manifest.files) == [f"src/putnam_{name}.lean" for name in ("2098_a3", "2099_a1", "2099_b2")]
    assert not any(request.method == "HEAD" for request in hub.requests)  # the listing tells sizes and checksums
    hub.requests.clear()
    assert run("putnambench") == 0 and hub.contents() == []
    assert run("putnambench", "--revision", "putnambench=main") == 0
    assert [request.path.rpartition("/")[2] for request in hub.contents()] == ["putnam_2100_a1.lean"]


def test_a_damaged_file_is_known_by_gits_checksum(hub: FakeHub, capsys: pytest.CaptureFixture[str]) -> None:
    hub.mishaps["lean4/src/putnam_2099_b2.lean"] = ["damage"]
    assert run("putnambench") == 1
    assert "src/putnam_2099_b2.lean: its git checksum is " in said(capsys, "failed")[0]
    with pytest.raises(UserError, match=r"putnambench is incomplete: src/putnam_2099_b2\.lean did not arrive"):
        list_theorems("putnambench", "test")
    assert run("putnambench") == 0 and len(list_theorems("putnambench", "test")) == 3


@pytest.mark.parametrize(
    ("mishap", "message"),
    [
        ("403", "answers 403 to the list of files; try again in an hour"),
        ("404", f"has no revision {PUTNAMBENCH_COMMIT}, or is not there"),
        ("part", "answers with a part of the files only"),
        ("page", "answers with no list of files"),
    ],
)
def test_a_listing_that_is_not_to_be_had_is_named(
    hub: FakeHub, capsys: pytest.CaptureFixture[str], mishap: str, message: str
) -> None:
    hub.mishaps[f"tree:{PUTNAMBENCH}"] = [mishap]
    assert run("putnambench") == 1
    assert message in said(capsys, "failed")[0] and hub.contents() == []


def test_a_limit_on_listings_is_no_failure_of_what_is_here(hub: FakeHub, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("putnambench") == 0
    hub.mishaps[f"tree:{PUTNAMBENCH}"] = ["403"]
    assert run("putnambench") == 0
    assert "src is here but was not compared with its host" in said(capsys, "note")[0]


# -- the command, and the stand-in -------------------------------------------------------------------------------


@pytest.mark.timeout(60)
def test_ctrl_c_ends_the_command_at_once_and_keeps_what_came(hub: FakeHub) -> None:
    """One file is on its way, of another the host says nothing for 20 seconds."""
    content = shapes.workbook(4000)
    hub.hub[LEAN_WORKBOOK].publish({WORKBOOK_FILE: content})
    hub.mishaps[WORKBOOK_FILE] = ["truncate", "stall"]
    hub.mishaps["leantree_mathlib.jsonl"] = ["stall"]
    command = [sys.executable, "-m", "nanoproof.data.download", "leanworkbook", "leantree"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while hub.mishaps[WORKBOOK_FILE] or hub.mishaps["leantree_mathlib.jsonl"]:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=10)
    assert (process.returncode, errors) == (130, "interrupted\n")
    (name,) = left_over()
    assert content.startswith((dataset_dir("leanworkbook") / name).read_bytes())
    hub.requests.clear()
    assert run("leanworkbook", "leantree") == 0
    assert [bool(request.range) for request in hub.contents(WORKBOOK_FILE)] == [True]


def test_a_second_download_of_a_set_waits_for_the_first(hub: FakeHub, capsys: pytest.CaptureFixture[str]) -> None:
    dataset_dir("proofnet").mkdir(parents=True)
    with FileLock(dataset_dir("proofnet") / ".download.lock"):
        second = threading.Thread(target=run, args=("proofnet",))
        second.start()
        wait_for(lambda: "waiting for another download of proofnet to end" in capsys.readouterr().out)
        assert second.is_alive() and hub.requests == []
    second.join(30)
    assert file_path("proofnet", "proofnet.jsonl").exists()


@pytest.mark.nightly
def test_the_command_as_a_user_runs_it(hub: FakeHub) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "nanoproof.data.download", "leantree", "nonsense"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 2 and done.stderr.startswith("error: unknown data set nonsense; there are: all, ")
    done = subprocess.run(
        [sys.executable, "-m", "nanoproof.data.download", "leantree"], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert file_path("leantree", "leantree_mathlib.jsonl").exists()


def test_the_hubs_own_library_works_with_the_stand_in(hub: FakeHub, tmp_path: Path) -> None:
    where = {"repo_type": "dataset", "cache_dir": tmp_path / "cache", "endpoint": hub.endpoint}
    path = huggingface_hub.hf_hub_download(LEAN_WORKBOOK, WORKBOOK_FILE, **where)
    assert Path(path).read_bytes() == shapes.workbook()
    with pytest.raises(GatedRepoError):
        huggingface_hub.hf_hub_download(NEMOTRON, "4plus/part_000000.parquet", **where)
    api = huggingface_hub.HfApi(endpoint=hub.endpoint)
    tree = list(api.list_repo_tree(NEMOTRON, "4plus", repo_type="dataset"))
    assert len(tree) == 46 and {entry.lfs.size for entry in tree if isinstance(entry, huggingface_hub.hf_api.RepoFile)}
