"""What the monitor does with files that are missing, torn, half-written, damaged, huge, replaced or deleted."""

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nanoproof.monitor.tail import Tail
from tests.monitor.conftest import EVALUATION, Asker, attempt, lines

Look = Callable[..., Asker]


def test_what_is_written_later_is_seen(look: Look, run: Path) -> None:
    asker = look(run)
    assert asker.get("/api/series")["steps"] == [0, 1, 2, 3]
    with open(run / "metrics.jsonl", "a") as file:
        file.write('ss": 3.5}\n')
    assert asker.get("/api/series")["values"]["loss"][-1] == 3.5


def test_numbers_that_json_lacks_still_reach_the_browser(look: Look, run: Path) -> None:
    (run / "metrics.jsonl").write_text('{"step": 0, "loss": NaN}\n{"step": 1, "loss": 1e999, "x": 2}\n')
    (run / "meta.json").write_text('{"a": 1e999, "b": Infinity}')
    asker = look(run)
    assert asker.get("/api/series")["names"] == ["x"]
    assert asker.get("/api/run")["meta"] == {"a": None, "b": None}


def test_a_rank_that_has_been_silent_or_stopped_is_not_live(look: Look, run: Path) -> None:
    asker = look(run)
    assert [rank["live"] for rank in asker.get("/api/actors")["ranks"]] == [True, False]
    (run / "status_r0.json").write_text(json.dumps({"rank": 0, "time": time.time(), "phase": "stopped"}))
    assert asker.get("/api/run")["live"] is False


@pytest.mark.parametrize("content", [b"", b'{"rank": 0, "ti', b"[1, 2]", b"\xff\xfe\x00", b"nul", b"[" * 100_000])
def test_a_half_written_status_is_left_out(look: Look, run: Path, content: bytes) -> None:
    (run / "status_r0.json").write_bytes(content)
    assert [rank["rank"] for rank in look(run).get("/api/actors")["ranks"]] == [1]


def test_a_damaged_line_hides_no_other(look: Look, run: Path) -> None:
    (run / "metrics.jsonl").write_text(lines({"step": 0, "a": 1}, {"loss": 1.0}, [1]) + "{]\n" + lines({"step": 1}))
    (run / "events.jsonl").write_text(lines("text", EVALUATION, {"kind": 7}))
    (run / "attempts_r0.jsonl").write_text(lines(attempt(0)) + "garbage\n" + lines({"number": 1}, attempt(1)))
    asker = look(run)
    assert asker.get("/api/series")["steps"] == [0, 1]
    overview = asker.get("/api/overview")
    assert len(overview["events"]) == 1 and overview["attempts"] == 2


def test_links_out_of_a_run_are_not_followed(look: Look, tmp_path: Path) -> None:
    """Whoever may write there could show any file of the user to whoever may look."""
    outside, run = tmp_path / "outside", tmp_path / "run"
    (outside / "evals" / "secret").mkdir(parents=True)
    (outside / "eval_secret").mkdir()
    (outside / "trees").mkdir()
    word = {"step": 0, "rank": 0, "time": time.time(), "kind": "secret", "phase": "secret", "state": "secret"}
    for name in ("metrics", "events", "attempts_r0", "samples_r0", "train_samples", "timeline_r0"):
        (outside / f"{name}.jsonl").write_text(
            lines({**word, "secret": 1, "from": 1.0, "to": 2.0}, attempt(0, "secret"))
        )
    for name in ("args.json", "meta.json", "status_r0.json", "evals/secret/summary.json", "eval_secret/summary.json"):
        (outside / name).write_text(json.dumps({**word, "settings": {"secret": 1}, "solved": 1, "total": 1}))
    (outside / "log_r7.txt").write_text("2030-01-01 00:00:00 r7 INFO x: secret\n")
    run.mkdir()
    for file in outside.iterdir():
        (run / file.name).symlink_to(file)
    os.mkfifo(run / "log_r8.txt")
    asker = look(run)
    pages = (
        "run",
        "overview",
        "series",
        "actors",
        "attempts",
        "theorems",
        "samples",
        "train-samples",
        "timeline?last=0",
    )
    for page in (*pages, "evaluations", "logs"):
        assert "secret" not in asker.ask(f"/api/{page}").text, page
    assert "secret" in look(outside).ask("/api/logs").text


WRONG = {"n": [0, 0, 0], "at": 0, "len": 10, "d": "x", "id": "y", "o": "proven", "sims": 1, "budget": 1, "tactics": 1}
WRONG |= {"s": 0.1, "t": 1.0, "tree": False, "dis": False}


@pytest.mark.parametrize(
    "change",
    [
        *[{"d": None}, {"sims": "many"}, {"n": [-1, 0, 0]}, {"n": [1e99, 0, 0]}, {"o": "won"}],
        *[{"at": None}, {"at": 0.0}, {"len": "long"}, {"s": "long"}, {"t": "now"}],
    ],
)
def test_index_entries_that_are_none_are_left_out(look: Look, tmp_path: Path, change: dict[str, object]) -> None:
    (tmp_path / "attempts_r0.jsonl").write_text("x" * 200 + "\n")
    (tmp_path / "attempts_r0.index.jsonl").write_text(lines({**WRONG, **change}))
    assert look(tmp_path).get("/api/attempts")["total"] == 0


def test_a_run_directory_that_is_deleted_is_an_empty_run_and_may_come_back(look: Look, run: Path) -> None:
    (run / "attempts_r0.jsonl").write_text(lines(attempt(0)))
    asker = look(run)
    assert asker.get("/api/overview")["attempts"] == 1
    saved = run.with_name("saved")
    shutil.move(run, saved)
    overview = asker.get("/api/overview")
    assert (overview["attempts"], overview["ranks"], asker.get("/api/run")["exists"]) == (0, [], False)
    assert asker.get("/api/series")["steps"] == [] and asker.ask("/api/attempts/0/0/0").status_code == 404
    shutil.move(saved, run)
    assert asker.get("/api/overview")["attempts"] == 1 and asker.get("/api/series")["steps"] == [0, 1, 2, 3]


def test_an_attempt_that_the_log_does_not_hold_any_more_is_a_404(look: Look, tmp_path: Path) -> None:
    log = tmp_path / "attempts_r0.jsonl"
    log.write_text(lines(attempt(0)))
    asker = look(tmp_path)
    asker.get("/api/attempts")
    log.write_text(lines(attempt(7)))
    assert asker.ask("/api/attempts/0/0/0").status_code == 404


def test_pages_of_a_long_log_are_served_without_reading_it(look: Look, tmp_path: Path) -> None:
    """A log of 1 GB that is a hole but for its last record: reading it whole could not be missed."""
    entry = {**WRONG, "d": "demo", "id": "t", "s": 1.0}
    record = lines(attempt(99)).encode()
    hole = 1 << 30
    with open(tmp_path / "attempts_r0.jsonl", "wb") as log:
        log.seek(hole)
        log.write(record)
    each = hole // 99
    index = [{**entry, "n": [0, 0, i], "at": i * each, "len": each if i < 98 else hole - 98 * each} for i in range(99)]
    index.append({**entry, "n": [0, 0, 99], "at": hole, "len": len(record)})
    (tmp_path / "attempts_r0.index.jsonl").write_text(lines(*index))
    asker = look(tmp_path)
    before = _bytes_read()
    assert asker.get("/api/attempts?size=10&page=9")["total"] == 100
    assert asker.get("/api/theorem?dataset=demo&id=t")["theorem"]["attempts"] == 100
    assert asker.get("/api/attempts/0/0/99")["proof"] == "trivial"
    assert asker.ask("/api/attempts/0/0/5").status_code == 404
    assert _bytes_read() - before < 40 << 20


def _bytes_read() -> int:
    return int(Path("/proc/self/io").read_text().split()[1])


def test_a_log_without_an_index_is_read_in_parts_while_pages_are_served(look: Look, tmp_path: Path) -> None:
    big = attempt(0) | {"message": "x" * 4000}
    with open(tmp_path / "attempts_r0.jsonl", "w") as log:
        for number in range(3000):
            log.write(lines({**big, "number": {"step": 0, "rank": 0, "sequence": number}}))
    asker = look(tmp_path)
    reader = asker.current._open[""].reader
    reader._poll_once()
    first = len(reader.attempts)
    assert 0 < first < 3000
    while reader._poll_once():
        pass
    assert len(reader.attempts) == 3000


def test_a_tail_gives_whole_lines_once_and_notices_another_file(tmp_path: Path) -> None:
    file = tmp_path / "file"
    tail = Tail(file)
    assert tail.read() == []
    file.write_bytes(b"one\ntwo\nthr")
    assert [(line.at, line.text) for line in tail.read()] == [(0, b"one"), (4, b"two")]
    with open(file, "ab") as more:
        more.write(b"ee\n")
    assert [line.text for line in tail.read()] == [b"three"]
    file.write_bytes(b"new\n")
    assert [line.text for line in tail.read()] == [b"new"] and tail.restarts == 1


def test_a_tail_reads_long_lines_and_passes_over_those_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nanoproof.monitor.tail.MAX_LINE", 1000)
    file = tmp_path / "file"
    file.write_bytes(b"a" * 500 + b"\n" + b"b" * 2500 + b"\nshort\n")
    tail, found = Tail(file), []
    while lines_now := tail.read(100) or ([] if not tail.behind else [None]):
        found += [len(line.text) for line in lines_now if line is not None]
    assert found == [500, 5]


def test_what_was_heard_of_a_file_is_not_heard_again_when_it_is_rotated(look: Look, tmp_path: Path) -> None:
    newest, older = tmp_path / "samples_r0.jsonl", tmp_path / "samples_r0.old.jsonl"

    def write(*depths: int) -> None:
        with open(newest, "a") as file:
            file.write(lines(*({"value": 1.0, "depth": depth, "step": depth} for depth in depths)))

    asker = look(tmp_path)

    def seen() -> tuple[int, list[int]]:
        page = asker.get("/api/samples")
        assert page["total"] == len(page["items"])
        return asker.get("/api/calibration")["count"], [one["step"] for one in page["items"]]

    write(1, 2)
    assert seen() == (2, [2, 1])
    write(3)
    newest.rename(older)
    write(4)
    assert seen() == (4, [4, 3, 2, 1])
    newest.replace(older)
    write(5)
    assert seen() == (5, [5, 4])
