"""leangithubraw: the build over several repositories, its report, and the commands on what was built."""

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest
from huggingface_hub.errors import LocalTokenNotFoundError

from nanoproof.common.errors import UserError
from nanoproof.data.midtrain import build as publishing
from nanoproof.data.midtrain.leangithubraw import main
from nanoproof.data.sources.manifest import find_problems, read_manifest
from nanoproof.data.text.documents import text_corpus
from tests.data.installed import install, install_proofnet, install_putnambench
from tests.data.repositories import make_repository

MINIF2F = (
    "import Mathlib\n\ntheorem imo_1959_p1 (n : ℕ) (h₀ : 0 < n) : Nat.gcd (21*n + 4) (14*n + 3) = 1 := by\n  sorry\n"
)
MIT = "MIT License\n\nPermission is hereby granted, free of charge, to any person obtaining a copy"
APACHE = "Apache License\nVersion 2.0, January 2004"


def theorem(name: str, number: int = 0) -> str:
    return (
        f"import Mathlib\n\n/-- About {name}. -/\ntheorem {name} (n : ℕ) : n + {number} = {number} + n := by\n  omega\n"
    )


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path / "home"))
    install(
        "minif2f",
        Valid__lean=MINIF2F,
        Test__lean="theorem mathd_algebra_1 (x : ℝ) (h : x = 3) : x * x = 9 := by\n  sorry\n",
    )
    claim = "theorem exercise_1_1a (x : ℝ) (y : ℚ) : x + y = y + x :="
    install_proofnet([{"name": "exercise_1_1a", "split": "test", "header": "", "formal_statement": claim}])
    install_putnambench({"a.lean": "theorem putnam_2099_a1 (m n : ℕ) : m + n * 2 = n + (m + n) := sorry\n"})
    return tmp_path / "home"


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A list of three repositories: a clone with files, a bare one, and a folder."""
    first = {
        "LICENSE": APACHE,
        "Lib/A.lean": theorem("a", 1),
        "Lib/B.lean": theorem("b", 2),
        ".lake/packages/other/C.lean": theorem("c", 3),
        "lakefile.lean": "import Lake",
        "Lib.lean": "import Lib.A\nimport Lib.B\n",
        "Lib/Bad.lean": b"\xff\xff",
    }
    second = {
        "COPYING": MIT,
        "A.lean": theorem("a", 1),
        "Spaced.lean": theorem("b", 2).replace("About b", "Of b").replace(" + ", "  +  ").replace("\n", "\r\n"),
        "Own.lean": theorem("own", 4),
        "Imo1959Q1.lean": "theorem imo1959_q1 : ∀ n : ℕ, True := by\n  simp\n",
        "Hidden.lean": "theorem harmless {y : Real} (hy : y=3) : y*y = 9 := by\n  subst hy; norm_num\n",
    }
    make_repository(tmp_path / "first", first)
    work = make_repository(tmp_path / "work", second)
    subprocess.run(["git", "clone", "--quiet", "--bare", work, tmp_path / "second.git"], check=True)
    (tmp_path / "third").mkdir()
    (tmp_path / "third/Third.lean").write_text(theorem("third", 5))
    path = tmp_path / "urls.txt"
    path.write_text("".join(f"{tmp_path / name}\n" for name in ("first", "second.git", "third")))
    return path


def build(sources: Path, *flags: str) -> int:
    return main(["build", "--urls", str(sources), "--workers", "1", *flags])


def shard(home: Path, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(home / f"data/leangithubraw/{name}.parquet").to_pylist()
    return rows


def report_of(home: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((home / "data/leangithubraw/report.json").read_text())
    return report


def reasons(home: Path) -> dict[str, str]:
    return {Path(drop["path"]).name: drop["reason"] for drop in report_of(home)["dropped"]}


@pytest.mark.nightly
def test_what_is_kept_has_its_repository_commit_path_and_licence(home: Path, sources: Path) -> None:
    assert build(sources) == 0
    rows = shard(home, "first")
    assert [row["path"] for row in rows] == ["Lib/A.lean", "Lib/B.lean"]
    head = subprocess.run(["git", "-C", sources.parent / "first", "rev-parse", "HEAD"], capture_output=True, text=True)
    expected = {"text": theorem("a", 1), "url": str(sources.parent / "first"), "path": "Lib/A.lean"}
    assert rows[0] == {**expected, "commit": head.stdout.strip(), "licence": "Apache-2.0"}
    assert [row["path"] for row in shard(home, "second")] == ["Own.lean"]
    assert [(row["licence"], row["commit"]) for row in shard(home, "third")] == [("NO_LICENSE", "")]


def test_generated_files_and_duplicates_are_left_out_and_the_first_repository_wins(home: Path, sources: Path) -> None:
    build(sources)
    found = reasons(home)
    assert found["C.lean"] == "in a folder .lake" and found["lakefile.lean"] == "lakefile"
    assert found["Bad.lean"] == "invalid UTF-8" and found["Lib.lean"].startswith("no code")
    assert found["A.lean"] == "duplicate" and found["Spaced.lean"].startswith("duplicate but for")
    same = {drop["path"]: drop["same_as"] for drop in report_of(home)["dropped"] if drop["same_as"]}
    assert same["Spaced.lean"] == f"{sources.parent / 'first'} Lib/B.lean"
    lines = sources.read_text().splitlines()
    sources.write_text("\n".join([lines[1], lines[0], lines[2]]))
    build(sources)
    assert [row["path"] for row in shard(home, "second")] == ["A.lean", "Own.lean", "Spaced.lean"]
    assert not (home / "data/leangithubraw/first.parquet").exists()


def test_files_with_benchmark_theorems_are_left_out_by_name_and_by_statement(home: Path, sources: Path) -> None:
    build(sources)
    drops = {drop["path"]: drop for drop in report_of(home)["dropped"]}
    (named,) = drops["Imo1959Q1.lean"]["findings"]
    assert (named["theorem"], named["way"]) == ("minif2f: imo_1959_p1", "by name")
    (stated,) = drops["Hidden.lean"]["findings"]
    assert (stated["theorem"], stated["way"]) == ("minif2f: mathd_algebra_1", "by normalized statement")
    readable = (home / "data/leangithubraw/report.txt").read_text()
    assert "line 1: minif2f: mathd_algebra_1, by normalized statement" in readable
    manifest = read_manifest("leangithubraw")
    assert manifest is not None and manifest.revision.startswith("decontaminated against minif2f at")


def test_without_the_benchmarks_the_build_refuses_unless_told_to(
    home: Path, sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "data/proofnet/manifest.json").unlink()
    with pytest.raises(UserError, match=r"python -m nanoproof\.data\.download proofnet .*--no-decontamination"):
        build(sources)
    assert not (home / "data/leangithubraw").exists()
    assert build(sources, "--no-decontamination") == 0
    assert "Hidden.lean" not in reasons(home)
    manifest = read_manifest("leangithubraw")
    assert manifest is not None and manifest.revision == "not decontaminated"


def test_the_manifest_lists_the_shards_and_the_corpus_reads_them(home: Path, sources: Path) -> None:
    build(sources)
    manifest = read_manifest("leangithubraw")
    assert manifest is not None and not find_problems(manifest, hashes=True)
    assert {name: record.rows for name, record in manifest.files.items()} == {
        "first.parquet": 2,
        "second.parquet": 1,
        "third.parquet": 1,
    }
    corpus = text_corpus("leangithubraw")
    assert corpus.train.count + corpus.valid.count == 4 and corpus.valid.count


def test_licences_are_collected_with_a_note_where_there_are_none(home: Path, sources: Path) -> None:
    build(sources)
    licences = home / "data/leangithubraw/licences"
    assert (licences / "first/LICENSE").read_text() == APACHE
    assert (licences / "second/COPYING").read_text() == MIT
    assert "No licence file" in (licences / "third/NO_LICENSE").read_text()


def test_a_repository_that_fails_does_not_stop_the_others_and_the_build_goes_on_where_it_was(
    home: Path, sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open(sources, "a") as file:
        file.write(f"file://{sources.parent}/gone.git\n")
    assert build(sources) == 1
    output = capsys.readouterr().out
    assert f"failed: file://{sources.parent}/gone.git: fatal:" in output and len(shard(home, "third")) == 1
    make_repository(sources.parent / "first", {"Lib/New.lean": theorem("new", 9)})
    make_repository(sources.parent / "gone.git", {"G.lean": theorem("g", 7)})
    assert build(sources) == 0
    assert len(shard(home, "first")) == 2 and len(shard(home, "gone")) == 1  # the first was not cloned again
    assert build(sources, "--force") == 0
    assert [row["path"] for row in shard(home, "first")] == ["Lib/A.lean", "Lib/B.lean", "Lib/New.lean"]


def test_what_was_collected_stays_when_cloning_again_fails(home: Path, sources: Path) -> None:
    build(sources)
    (sources.parent / "second.git/HEAD").write_text("ref: refs/heads/nowhere\n")
    assert build(sources, "--force") == 1
    assert [row["path"] for row in shard(home, "second")] == ["Own.lean"]


def test_several_processes_give_the_same_bytes_as_one(home: Path, sources: Path, tmp_path: Path) -> None:
    build(sources)
    assert main(["build", "--urls", str(sources), "--workers", "2", "--out", str(tmp_path / "elsewhere")]) == 0
    for name in ("first.parquet", "second.parquet", "third.parquet", "report.json"):
        assert (tmp_path / "elsewhere" / name).read_bytes() == (home / "data/leangithubraw" / name).read_bytes()
    assert (tmp_path / "elsewhere/manifest.json").is_file()


def test_repositories_of_several_lists_are_built_together(home: Path, sources: Path, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more/More.lean").write_text(theorem("more", 6))
    (tmp_path / "more.txt").write_text(f"{tmp_path / 'more'}\n{tmp_path / 'third'}\n")
    assert build(sources, "--more-urls", str(tmp_path / "more.txt")) == 0
    manifest = read_manifest("leangithubraw")
    assert manifest is not None and manifest.source == "repositories of urls.txt, more.txt"
    assert sorted(manifest.files) == ["first.parquet", "more.parquet", "second.parquet", "third.parquet"]


def test_stats_and_show_read_what_was_built(home: Path, sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UserError, match="leangithubraw build"):
        main(["stats"])
    build(sources)
    capsys.readouterr()
    assert main(["stats", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["files"] == 4 and report["bytes"] == sum(
        len(r["text"].encode()) for n in ("first", "second", "third") for r in shard(home, n)
    )
    assert report["repositories"][0]["licences"] == {"Apache-2.0": 2} and 0 < report["tokens"] < report["bytes"]
    assert main(["stats"]) == 0 and "Apache-2.0" in capsys.readouterr().out
    assert main(["show", "Lib/B*"]) == 0
    assert "theorem b" in (shown := capsys.readouterr().out) and "theorem a" not in shown
    with pytest.raises(UserError, match="no file"):
        main(["show", "nothing like it"])


class FakeHub:
    """What `publish` asks of the hub's library."""

    def __init__(self) -> None:
        self.made: list[tuple[str, bool]] = []
        self.uploaded: list[str] = []

    def create_repo(self, repo: str, *, repo_type: str, private: bool, exist_ok: bool) -> None:
        self.made.append((repo, private))

    def create_commit(self, repo: str, operations: list[Any], *, commit_message: str, repo_type: str) -> Any:
        self.uploaded = [operation.path_in_repo for operation in operations]
        return SimpleNamespace(repo_url=repo)


def test_publishing_is_a_dry_run_unless_told_and_takes_only_what_has_a_licence(
    home: Path, sources: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    build(sources)
    hub = FakeHub()
    monkeypatch.setattr(publishing, "HfApi", lambda: hub)
    assert main(["publish", "--repo", "me/lean"]) == 0
    output = capsys.readouterr().out
    assert "data/first.parquet" in output and "left out: third" in output and "dry run" in output and not hub.made
    assert main(["publish", "--repo", "me/lean", "--really"]) == 0
    assert hub.made == [("me/lean", True)]
    assert {"data/first.parquet", "licences/first/LICENSE", "README.md", "report.json"} <= set(hub.uploaded)
    assert "data/third.parquet" not in hub.uploaded
    main(["publish", "--repo", "me/lean", "--really", "--include-unlicensed"])
    assert "data/third.parquet" in hub.uploaded


def test_publishing_without_a_token_is_one_line(home: Path, sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(sources)

    def refuse(*_: Any, **__: Any) -> None:
        raise LocalTokenNotFoundError("no token")

    monkeypatch.setattr(FakeHub, "create_repo", refuse)
    monkeypatch.setattr(publishing, "HfApi", FakeHub)
    with pytest.raises(UserError, match="HF_TOKEN"):
        main(["publish", "--repo", "me/lean", "--really"])
