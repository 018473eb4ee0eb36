"""`scripts.same_results`: a revision's record says what it did; two records say where they part."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanoproof.common.errors import UserError
from scripts import same_results
from scripts.same_results import Checkout, facts, first_difference, main

Record = Callable[[str, dict[str, str]], Path]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder whose base is there, so that none is made."""
    (tmp_path / "work" / "base").mkdir(parents=True)
    (tmp_path / "work" / "base" / "finished").touch()
    return tmp_path / "work"


@pytest.fixture
def record(work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Record:
    """Records a revision whose one part leaves these files."""

    def make(name: str, files: dict[str, str]) -> Path:
        def part(checkout: Checkout, base: Path, out: Path) -> None:
            for file, text in files.items():
                (out / file).write_text(text.replace("OUT_FOLDER", str(out)), encoding="utf-8")

        monkeypatch.setitem(same_results.PARTS, "part", part)
        out = tmp_path / f"{name}.json"
        assert main(["record", "--work", str(work), "--out", str(out), "--only", "part"]) == 0
        return out

    return make


@pytest.mark.nightly
def test_six_steps_of_rl_are_recorded_by_commands_of_a_checkout(work: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.json"
    assert main(["record", "--work", str(work), "--out", str(out), "--only", "reinforcement"]) == 0
    files = json.loads(out.read_text())["parts"]["reinforcement"]["files"]
    assert len(files["rl/run/metrics.jsonl"]) == 6
    assert files["rl/run/model_6.pt"] != files["rl/run/model_4.pt"]
    assert {attempt["outcome"] for attempt in files["rl/run/attempts_r0.jsonl"]} >= {"proven"}
    assert "seconds" not in files["rl/run/attempts_r0.jsonl"][0]
    assert main(["compare", str(out), str(out)]) == 0


def test_times_and_folders_are_no_difference(record: Record) -> None:
    before = record(
        "a", {"results.jsonl": '{"solved": 1, "seconds": 2.0, "log": "OUT_FOLDER/x"}\n', "events.jsonl": "1\n"}
    )
    after = record(
        "b", {"results.jsonl": '{"solved": 1, "seconds": 3.0, "log": "OUT_FOLDER/x"}\n', "events.jsonl": "2\n"}
    )
    assert main(["compare", str(before), str(after)]) == 0


def test_it_says_in_which_record_and_field_revisions_part(record: Record, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [json.dumps({"id": number, "proof": {"tactics": ["simp", "rfl"]}}) for number in range(3)]
    before = record("a", {"results.jsonl": "\n".join(lines), "proof.lean": "rfl"})
    changed = [lines[0], lines[1].replace("rfl", "omega"), lines[2].replace("rfl", "omega")]
    after = record("b", {"results.jsonl": "\n".join(changed), "other.lean": "rfl"})
    capsys.readouterr()
    assert main(["compare", str(before), str(after)]) == 1
    printed = capsys.readouterr().out
    assert 'results.jsonl: 2 of 3 differ, first record 2.proof.tactics[1]: "rfl", now "omega"' in printed
    assert "proof.lean: only before" in printed and "other.lean: only after" in printed


@pytest.mark.parametrize(
    ("before", "after", "difference"),
    [
        ({"a": [1, 2]}, {"a": [1, 2]}, None),
        ({"a": 1}, {"a": 1.0}, ".a: 1, now 1.0"),
        ({"a": True}, {"a": 1}, ".a: true, now 1"),
        ({"a": [1]}, {"a": [1, 2]}, ".a: 1 entries, now 2"),
        ({"a": 1}, {"a": 1, "b": 2}, ".b: only after"),
        ({"a": 0.1 + 0.2}, {"a": 0.3}, ".a: 0.30000000000000004, now 0.3"),
    ],
)
def test_equal_is_equal_to_the_last_bit(before: Any, after: Any, difference: str | None) -> None:
    assert first_difference(before, after) == difference


@pytest.mark.parametrize("name", ["candidates", "updates", "validated", "directions", "support", "solved", "sometimes"])
def test_what_only_sounds_like_a_time_or_a_place_counts(name: str) -> None:
    assert facts({name: 1, "start_time": 2, "git_commit": 3, "host": 4, "seconds/train": 5}, {}) == {name: 1}


def test_nothing_is_equal_to_nothing_only_by_mistake(record: Record, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="left nothing that can be compared"):
        record("a", {"log.jsonl": "1\n"})
    (tmp_path / "other.json").write_text('{"solved": 1}')
    one = record("b", {"x.json": "1"})
    with pytest.raises(UserError, match=r"other\.json: no record of same_results"):
        main(["compare", str(one), str(tmp_path / "other.json")])
    foreign = json.loads(one.read_text())
    (tmp_path / "foreign.json").write_text(json.dumps({**foreign, "base": "another"}))
    with pytest.raises(UserError, match="began with different networks"):
        main(["compare", str(one), str(tmp_path / "foreign.json")])
    with pytest.raises(UserError, match="no checkout of nanoproof"):
        main(["record", "--code", str(tmp_path), "--work", str(tmp_path), "--out", str(tmp_path / "c.json")])
    with pytest.raises(UserError, match="did you mean finetuning"):
        main(["record", "--work", str(tmp_path), "--out", str(tmp_path / "c.json"), "--only", "finetune"])


@pytest.mark.nightly
def test_a_command_that_fails_is_named_with_its_log(tmp_path: Path) -> None:
    checkout = Checkout(same_results.ROOT, tmp_path / "home")
    with pytest.raises(UserError, match=r"-c 1 / 0 ended with exit code 1; see .*log\.txt"):
        checkout.call([sys.executable, "-c", "1 / 0"])
    assert "ZeroDivisionError" in (tmp_path / "home" / "log.txt").read_text()
