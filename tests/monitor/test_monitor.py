"""The dashboard: its page, the run as JSON, and what it does with files that are missing, torn or half-written."""

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import requests

from nanoproof.common.errors import UserError
from nanoproof.monitor.reader import MAX_POINTS, STALE_SECONDS, RunReader
from nanoproof.monitor.server import Monitor, start_monitor


@pytest.fixture
def monitor() -> Iterator[Monitor]:
    monitor = start_monitor(0)
    yield monitor
    monitor.close()


def get(monitor: Monitor, page: str) -> requests.Response:
    return requests.get(monitor.address + page, timeout=30)


def lines(*records: Any) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def strict(text: str) -> Any:
    """JSON as a browser reads it: NaN and Infinity are errors."""

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)


EVALUATION = {"kind": "evaluation", "step": 0, "dataset": "nanolean", "split": "valid", "solved": 3, "total": 9}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of two ranks that was resumed at step 2 and is just writing the metrics of step 4."""
    path = tmp_path / "2030-01-02_03-04-05_demo"
    path.mkdir()
    steps = [{"step": step, "loss": 9.0 - step} for step in range(4)]
    again = [{"step": 2, "loss": 5.0}, {"step": 3, "loss": 4.0}]
    (path / "metrics.jsonl").write_text(lines(*steps, *again) + '{"step": 4, "lo')
    events = [EVALUATION, {"kind": "checkpoint", "step": 2}, {"kind": "start"}, {**EVALUATION, "step": 4, "solved": 5}]
    (path / "events.jsonl").write_text(lines(*events))
    actors = [{"actor": 0, "state": "lean", "theorem": "add_zero", "simulations": 7}]
    for rank, (age, phase) in enumerate([(0.0, "collect"), (STALE_SECONDS + 5, "collect")]):
        status = {"rank": rank, "time": time.time() - age, "phase": phase, "actors": actors}
        (path / f"status_r{rank}.json").write_text(json.dumps(status))
    (path / "meta.json").write_text(json.dumps({"command": ["rl"]}))
    return path


# -- over HTTP ---------------------------------------------------------------------------------------------------


def test_the_page_is_html(monitor: Monitor) -> None:
    answer = get(monitor, "/")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/html")
    assert "<title>nanoproof</title>" in answer.text


def test_the_page_loads_nothing_from_elsewhere(monitor: Monitor) -> None:
    text = get(monitor, "/").text.replace("http://www.w3.org/2000/svg", "")
    assert "http://" not in text and "https://" not in text


def test_before_a_run_is_shown_there_is_none(monitor: Monitor) -> None:
    answer = get(monitor, "/api/overview")
    assert answer.status_code == 503
    assert answer.json() == {"error": "no run yet"}


def test_after_show_the_run_is_served(monitor: Monitor, run: Path) -> None:
    monitor.show(run)
    answer = get(monitor, "/api/overview")
    assert answer.status_code == 200
    overview = answer.json()
    assert overview["run"] == run.name
    assert overview["meta"] == {"command": ["rl"]}
    assert [rank["rank"] for rank in overview["ranks"]] == [0, 1]
    assert overview["ranks"][0]["actors"][0]["theorem"] == "add_zero"


def test_another_run_takes_the_place_of_the_first(monitor: Monitor, run: Path, tmp_path: Path) -> None:
    monitor.show(run)
    (tmp_path / "second").mkdir()
    monitor.show(tmp_path / "second")
    assert get(monitor, "/api/overview").json()["run"] == "second"


def test_what_is_written_later_is_seen(monitor: Monitor, run: Path) -> None:
    monitor.show(run)
    get(monitor, "/api/overview")
    with open(run / "metrics.jsonl", "a") as file:
        file.write('ss": 3.5}\n')
    assert get(monitor, "/api/overview").json()["metrics"][-1] == {"step": 4, "loss": 3.5}


@pytest.mark.parametrize("page", ["/nowhere", "/api/nowhere", "/static/index.html", "/../app.py"])
def test_an_unknown_page_is_a_404_in_json(monitor: Monitor, page: str) -> None:
    answer = get(monitor, page)
    assert answer.status_code == 404
    assert answer.json() == {"error": "no such page"}


def test_numbers_that_json_lacks_still_reach_the_browser(monitor: Monitor, run: Path) -> None:
    (run / "metrics.jsonl").write_text('{"step": 0, "loss": NaN}\n{"step": 1, "loss": [1.0, -Infinity]}\n')
    (run / "status_r0.json").write_text('{"rank": 0, "loss": Infinity}')
    monitor.show(run)
    overview = strict(get(monitor, "/api/overview").text)
    assert overview["metrics"] == [{"step": 0, "loss": None}, {"step": 1, "loss": [1.0, None]}]
    assert overview["ranks"][0]["loss"] is None


# -- the port ----------------------------------------------------------------------------------------------------


def test_a_busy_port_is_a_users_error_that_names_it() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match=rf"port {port} .*--monitor-port"):
            start_monitor(port)


def test_the_address_names_the_port_that_was_taken(monitor: Monitor) -> None:
    port = int(monitor.address.rsplit(":", 1)[1])
    assert port > 0
    with pytest.raises(UserError, match=f"port {port} "):
        start_monitor(port)


def test_after_close_the_port_is_free_again() -> None:
    first = start_monitor(0)
    port = int(first.address.rsplit(":", 1)[1])
    first.close()
    second = start_monitor(port)
    assert get(second, "/").status_code == 200
    second.close()


def test_the_dashboard_listens_on_loopback_only(monitor: Monitor) -> None:
    port = int(monitor.address.rsplit(":", 1)[1])
    sockets = [one for one in psutil.Process().net_connections("inet") if one.status == psutil.CONN_LISTEN]
    assert [one.laddr.ip for one in sockets if one.laddr.port == port] == ["127.0.0.1"]


# -- files -------------------------------------------------------------------------------------------------------


def test_an_empty_directory_is_an_empty_run(tmp_path: Path) -> None:
    overview = RunReader(tmp_path).overview()
    empty = {name: overview[name] for name in ("ranks", "metrics", "evaluations", "checkpoints", "meta")}
    assert empty == {"ranks": [], "metrics": [], "evaluations": [], "checkpoints": [], "meta": {}}


def test_a_directory_that_is_gone_is_an_empty_run(tmp_path: Path) -> None:
    assert RunReader(tmp_path / "gone").overview()["metrics"] == []


def test_after_a_resume_the_later_record_of_a_step_counts(run: Path) -> None:
    metrics = RunReader(run).overview()["metrics"]
    assert [(record["step"], record["loss"]) for record in metrics] == [(0, 9.0), (1, 8.0), (2, 5.0), (3, 4.0)]


def test_steps_come_in_order(run: Path) -> None:
    (run / "metrics.jsonl").write_text(lines({"step": 10}, {"step": 9}, {"step": 2}))
    assert [record["step"] for record in RunReader(run).overview()["metrics"]] == [2, 9, 10]


def test_evaluations_and_checkpoints_are_picked_from_the_events(run: Path) -> None:
    overview = RunReader(run).overview()
    assert [(event["step"], event["solved"]) for event in overview["evaluations"]] == [(0, 3), (4, 5)]
    assert overview["checkpoints"] == [2]


def test_a_rank_that_has_been_silent_is_not_live(run: Path) -> None:
    assert [rank["live"] for rank in RunReader(run).overview()["ranks"]] == [True, False]


def test_a_rank_that_has_stopped_is_not_live(run: Path) -> None:
    (run / "status_r0.json").write_text(json.dumps({"rank": 0, "time": time.time(), "phase": "stopped"}))
    assert RunReader(run).overview()["ranks"][0]["live"] is False


@pytest.mark.parametrize("content", [b"", b'{"rank": 0, "ti', b"[1, 2]", b"\xff\xfe\x00", b"nul"])
def test_a_half_written_status_is_left_out(run: Path, content: bytes) -> None:
    (run / "status_r0.json").write_bytes(content)
    assert [rank["rank"] for rank in RunReader(run).overview()["ranks"]] == [1]


def test_a_damaged_meta_file_hides_nothing_else(run: Path) -> None:
    (run / "meta.json").write_text('{"comm')
    overview = RunReader(run).overview()
    assert overview["meta"] == {} and len(overview["metrics"]) == 4


def test_records_that_are_no_metrics_are_left_out(run: Path) -> None:
    (run / "metrics.jsonl").write_text(lines({"loss": 1.0}, [1, 2], {"step": 3, "loss": 2.0}))
    (run / "events.jsonl").write_text(lines("text", EVALUATION))
    overview = RunReader(run).overview()
    assert overview["metrics"] == [{"step": 3, "loss": 2.0}]
    assert overview["evaluations"] == [EVALUATION]


def test_a_damaged_line_hides_no_other(run: Path) -> None:
    (run / "metrics.jsonl").write_text(lines({"step": 0}) + "{]\n" + lines({"step": 1}))
    assert [record["step"] for record in RunReader(run).overview()["metrics"]] == [0, 1]


# -- size --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, MAX_POINTS - 1, MAX_POINTS, MAX_POINTS + 1, 2 * MAX_POINTS, 5 * MAX_POINTS + 3])
def test_long_runs_are_thinned(run: Path, count: int) -> None:
    (run / "metrics.jsonl").write_text(lines(*({"step": step} for step in range(count))))
    steps = [record["step"] for record in RunReader(run).overview()["metrics"]]
    assert len(steps) <= MAX_POINTS
    assert len(steps) == count or len(steps) > MAX_POINTS // 2
    assert steps == sorted(set(steps))
    assert steps[-1] == count - 1, "the newest point is always shown"


def test_evaluations_are_bounded_and_the_newest_kept(run: Path) -> None:
    (run / "events.jsonl").write_text(lines(*({**EVALUATION, "step": step} for step in range(1000))))
    evaluations = RunReader(run).overview()["evaluations"]
    assert len(evaluations) <= 200 and evaluations[-1]["step"] == 999
