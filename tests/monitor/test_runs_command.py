"""`python -m nanoproof.runs`, and the names and notes that people give runs."""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nanoproof.common.errors import UserError
from nanoproof.common.run_dir import RunLock
from nanoproof.monitor.identity import MAX_TITLE, read_note
from nanoproof.runs import main
from tests.monitor.conftest import Asker, lines


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs that differ in their seeds, losses and a flag."""
    monkeypatch.setenv("NANOPROOF_HOME", str(tmp_path))
    for name, seed, loss in (("one", 1, 0.5), ("two", 2, 0.25)):
        path = tmp_path / "sft" / name
        path.mkdir(parents=True)
        meta = {"command": ["/x/nanoproof/sft.py", "--seed", str(seed)], "versions": {"nanoproof": "abc123+"}}
        (path / "meta.json").write_text(json.dumps(meta))
        args = {"seed": seed, "row_length": 128, **({"lora": 8} if seed == 2 else {})}
        (path / "args.json").write_text(json.dumps(args))
        (path / "metrics.jsonl").write_text(lines({"step": seed, "time": 1000.0 * seed, "loss": loss}))
        (path / "finished").touch()
    return tmp_path


Out = Callable[[], str]


@pytest.fixture
def out(capsys: pytest.CaptureFixture[str]) -> Out:
    return lambda: capsys.readouterr().out


@pytest.mark.usefixtures("home")
def test_runs_are_listed_the_newest_first_and_found_by_words(out: Out) -> None:
    assert main(["list"]) == 0
    found = [line.split() for line in out().splitlines()]
    assert found[0][:5] == ["run", "stage", "state", "step", "loss"] and "name" not in found[0]
    assert [line[:5] for line in found[1:]] == [
        ["sft/two", "sft", "finished", "2", "0.25"],
        ["sft/one", "sft", "finished", "1", "0.5"],
    ]
    main(["list", "ABC", "one", "--json"])
    assert [row["name"] for row in json.loads(out())] == ["sft/one"]
    main(["list", "nowhere"])
    assert out().startswith("no run in ")


@pytest.mark.usefixtures("home")
def test_a_run_is_shown_with_its_command_and_its_note(out: Out) -> None:
    main(["note", "sft/one", "--title", "  the\nbaseline "])
    main(["note", "sft/one", "--note", "slow machine\x1b[2J"])
    out()
    assert main(["show", "sft/one"]) == 0
    text = out()
    assert "name      the baseline\n" in text and "python -m nanoproof.sft --seed 1" in text
    assert "abc123, with changes" in text and "slow machine<U+001B>[2J" in text
    main(["list", "baseline"])
    assert "the baseline" in out()
    with pytest.raises(UserError, match=f"at most {MAX_TITLE}"):
        main(["note", "sft/one", "--title", "x" * (MAX_TITLE + 1)])


@pytest.mark.usefixtures("home")
def test_two_runs_differ_in_what_differs(out: Out) -> None:
    main(["diff", "sft/one", "sft/two"])
    assert [line.split() for line in out().splitlines()] == [
        ["sft/one", "sft/two"],
        ["--seed", "1", "2"],
        ["--lora", "–", "8"],
        ["newest", "step", "1", "2"],
        ["newest", "loss", "0.5", "0.25"],
    ]
    main(["diff", "sft/one", "sft/one"])
    assert out().startswith("no difference")


def test_a_run_is_removed_only_if_nobody_writes_it_and_somebody_agrees(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home / "sft" / "one"
    lock = RunLock(path)
    with pytest.raises(UserError, match="sft/one is running"):
        main(["rm", "sft/one", "--yes"])
    lock.release()
    lock_file = path / "run.lock"
    lock_file.write_text(json.dumps({"host": "elsewhere", "machine": "another", "pid": 1}))
    with pytest.raises(UserError, match="running"):
        main(["rm", "sft/one", "--yes"])
    long_ago = time.time() - 3600
    os.utime(lock_file, (long_ago, long_ago))
    with pytest.raises(UserError, match="another machine"):
        main(["rm", "sft/one", "--yes"])
    lock_file.unlink()
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False)
    with pytest.raises(UserError, match="add --yes"):
        main(["rm", "sft/one"])
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda question: "n")
    assert main(["rm", "sft/one"]) == 1 and path.is_dir()
    monkeypatch.setattr("builtins.input", lambda question: "y" if "sft/one, sft/two" in question else "n")
    assert main(["rm", "sft/one", "sft/two"]) == 0
    assert list((home / "sft").iterdir()) == []


def test_what_is_no_run_is_not_removed(home: Path) -> None:
    for name in ("sft", ".", "nothing", "sft/two/../one"):
        with pytest.raises(UserError, match=r"no run|nothing there"):
            main(["rm", str(home / name), "--yes"])
    (home / "link").symlink_to(home / "sft" / "one")
    with pytest.raises(UserError, match="no run"):
        main(["rm", str(home / "link"), "--yes"])
    assert (home / "sft" / "one" / "args.json").exists()
    for words in (["rm"], ["show"], ["diff", "sft/one"], ["note", "sft/one"]):
        with pytest.raises(UserError, match="takes"):
            main(words)


def test_the_page_changes_a_note_and_nothing_else(home: Path, look: Callable[..., Asker]) -> None:
    path = home / "sft" / "one"
    asker = look(path)
    assert asker.get("/api/note") == {"title": "", "note": ""}
    before = {file.name for file in path.iterdir()}
    put = asker.client.put
    assert put("/api/note", json={"title": "new", "note": "text"}).status_code == 200
    assert read_note(path) == {"title": "new", "note": "text"} == asker.get("/api/note")
    assert asker.get("/api/overview")["title"] == "new"
    assert {file.name for file in path.iterdir()} == {*before, "note.json"}
    body = json.dumps({"title": "forged", "note": ""})
    for answer in (
        put("/api/note", data=body, content_type="text/plain"),  # what a page of others could send without being asked
        put("/api/note", json={"title": 3, "note": ""}),
        put("/api/note", json={"title": "x"}),
        put("/api/note", json=["x"]),
        put("/api/note", json={"title": "x" * 200, "note": ""}),
        asker.client.post("/api/note", json={"title": "forged", "note": ""}),
        put("/api/note", json={"title": "forged", "note": ""}, headers={"Host": "evil.example"}),
    ):
        assert 400 <= answer.status_code < 500 and read_note(path)["title"] == "new"
