"""The monitor over HTTP: where it listens, live updates, who may look, hostile requests, and as a child of a run."""

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import requests

from nanolean.tests.each import each
from nanoproof.common.errors import UserError
from nanoproof.monitor import app as pages
from nanoproof.monitor.reader import RunReader
from nanoproof.monitor.server import Monitor, MonitorProcess, open_listener, start_monitor, start_monitor_process
from nanoproof.monitor.stream import MAX_MISSED, UpdateStream, read_event_id
from tests.helpers import is_gone, wait_for
from tests.monitor.conftest import Asker, attempt, lines

Look = Callable[..., Asker]


@pytest.fixture
def monitor() -> Iterator[Monitor]:
    monitor = start_monitor(0)
    yield monitor
    monitor.close()


def get(monitor: Monitor | MonitorProcess, page: str, **kwargs: Any) -> requests.Response:
    return requests.get(monitor.address + page, timeout=30, **kwargs)


# -- the page ----------------------------------------------------------------------------------------------------


@pytest.fixture
def unbuilt(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(pages, "BUILT_PAGE", tmp_path / "dist")


@pytest.mark.usefixtures("unbuilt")
def test_without_a_built_page_there_is_a_small_one_that_loads_nothing_from_elsewhere(look: Look, run: Path) -> None:
    answer = look(run).ask("/")
    assert answer.status_code == 200 and answer.mimetype == "text/html" and "<title>nanoproof</title>" in answer.text
    text = answer.text.replace("http://www.w3.org/2000/svg", "")
    assert "http://" not in text and "https://" not in text
    assert "'sha256-" in answer.headers["Content-Security-Policy"]


@pytest.mark.usefixtures("unbuilt")
def test_a_built_page_is_served_and_nothing_beside_it(look: Look, run: Path, tmp_path: Path) -> None:
    (tmp_path / "dist" / "assets").mkdir(parents=True)
    (tmp_path / "dist" / "index.html").write_text("built")
    (tmp_path / "dist" / "assets" / "index-abcdef12.js").write_text("let x = 1;" * 1000)
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "dist" / "link.txt").symlink_to(tmp_path / "secret.txt")
    asker = look(run)
    assert asker.ask("/").text == "built"
    script = asker.ask("/assets/index-abcdef12.js", headers={"Accept-Encoding": "gzip"})
    assert "immutable" in script.headers["Cache-Control"] and script.headers["Content-Encoding"] == "gzip"
    for name in ("/../secret.txt", "/assets/../../secret.txt", "/%2e%2e/secret.txt", "/link.txt", "/%2fetc/passwd"):
        answer = asker.ask(name)
        assert answer.status_code in (404, 308) and "secret" not in answer.text.replace(name, "")


def test_answers_carry_security_headers(look: Look, run: Path) -> None:
    headers = look(run).ask("/api/run").headers
    assert headers["X-Content-Type-Options"] == "nosniff" and headers["Cache-Control"] == "no-store"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]


# -- hostile requests --------------------------------------------------------------------------------------------

HOSTILE = [
    *("/nowhere", "/api/nowhere", "/static/index.html", "/%00", "/api/attempts/0/0", "/api/attempts/a/b/c"),
    *("/api/attempts/-1/0/0", "/api/attempts/0/0/999999999999999999999999", "/api/attempts/0/99999999999/0/tree"),
    *("/api/attempts?page=0", "/api/attempts?page=-1", "/api/attempts?page=x", "/api/attempts?page=1e3"),
    *("/api/attempts?size=1000000", "/api/attempts?size=0", "/api/attempts?page=1&page=2", "/api/attempts?page=٣"),
    *("/api/attempts?outcome=won", "/api/theorems?sort=source", "/api/theorems?order=up", "/api/theorem"),
    *("/api/theorems?page=99999999999999999999999", f"/api/theorems?q={'x' * 5000}", "/api/theorem?id=nothing"),
    *("/api/series?max_points=1e9", "/api/series?max_points=1", "/api/timeline?from=nan", "/api/timeline?from=5&to=4"),
    *("/api/timeline?max=99999999", "/api/timeline?to=-inf", "/api/samples?size=101", "/api/evaluations?size=100000"),
    *("/api/evaluations/..%2f..%2fetc", "/api/evaluations/..", "/api/evaluations/none/results/0"),
    *("/api/evaluations/none", "/api/evaluations/diff", "/api/evaluations/diff?a=../..&b=x", "/api/logs?level=LOUD"),
    *("/api/timeline?last=-1", "/api/timeline?last=all", "/" + "x" * 60_000, "/assets" * 5_000),
    *(f"/api/attempts/0/0/{'9' * 5000}", f"/api/evaluations/{'x' * 60_000}"),
    *("/api/logs?after=../../etc/passwd", "/api/logs?size=100000", "/api/logs?rank=x", "/api/logs?before=0:1:2"),
]


@each("question", HOSTILE)
def test_a_hostile_request_is_refused_in_json(look: Look, run: Path, question: str) -> None:
    answer = look(run).ask(question)
    assert 400 <= answer.status_code < 500 and list(answer.get_json()) == ["error"]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_nothing_can_be_written(look: Look, run: Path, method: str) -> None:
    answer = look(run).client.open("/api/run", method=method, data="x")
    assert answer.status_code == 405 and "error" in answer.get_json()


def test_a_page_of_another_name_cannot_read_from_here(look: Look, run: Path) -> None:
    asker = look(run)
    assert asker.ask("/api/run", headers={"Host": "evil.example:5050"}).status_code == 403
    assert asker.ask("/api/run", headers={"Host": "localhost:5050"}).status_code == 200


def test_a_token_is_asked_for_and_kept_as_a_cookie_that_does_not_tell_it(look: Look, run: Path) -> None:
    asker = look(run, token="sesame")
    assert asker.ask("/api/run").get_json() == {"error": "a valid token is needed"}
    assert asker.ask("/api/run?token=wrong").status_code == 401
    assert asker.ask("/api/run", headers={"Authorization": "Bearer sesame"}).status_code == 200
    form = asker.ask("/", headers={"Accept": "text/html"})
    assert form.status_code == 401 and "<form" in form.text
    entered = asker.ask("/?token=sesame&tab=logs")
    assert (entered.status_code, entered.headers["Location"]) == (303, "/?tab=logs")
    cookie = entered.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "sesame" not in cookie
    assert asker.ask("/api/run").status_code == 200


def test_a_failure_of_the_system_tells_no_path(look: Look, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise OSError(errno.EACCES, "Permission denied", "/home/user/secret")

    asker = look(run)
    monkeypatch.setattr(RunReader, "run_info", fail)
    answer = asker.ask("/api/run")
    assert answer.status_code == 500 and answer.get_json() == {
        "error": "server bug: PermissionError: Permission denied"
    }


def test_other_machines_are_not_served_without_a_token() -> None:
    with pytest.raises(UserError, match="set NANOPROOF_MONITOR_TOKEN, or give --token"):
        open_listener(0, "0.0.0.0")


def test_the_token_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NANOPROOF_MONITOR_TOKEN", "sesame")
    monitor = start_monitor(0)
    assert get(monitor, "/api/run").status_code == 401
    assert get(monitor, "/api/run", headers={"Authorization": "Bearer sesame"}).status_code == 503
    monitor.close()


# -- live updates ------------------------------------------------------------------------------------------------


class Listener:
    """Takes messages from a stream."""

    def __init__(self, updates: UpdateStream, last_id: str = "") -> None:
        messages = updates.subscribe(last_id)
        assert messages is not None
        self._messages = messages
        self._waiting: list[tuple[str, str, Any]] = []

    def next(self, *kinds: str) -> tuple[str, str, Any]:
        """Kind, id and data of the next message of these kinds."""
        while True:
            while self._waiting:
                message = self._waiting.pop(0)
                if message[0] in kinds:
                    return message
            for text in next(self._messages).decode().split("\n\n"):
                fields = dict(line.split(": ", 1) for line in text.split("\n") if not line.startswith(":") and line)
                if fields:
                    self._waiting.append((fields["event"], fields.get("id", ""), json.loads(fields["data"])))

    def close(self) -> None:
        """Hang up."""
        self._messages.close()  # type: ignore[attr-defined]


def write_step(run: Path, step: int) -> None:
    with open(run / "metrics.jsonl", "a") as file:
        file.write(lines({"step": step, "loss": 1.0}))


@pytest.fixture
def live(look: Look, run: Path, monkeypatch: pytest.MonkeyPatch) -> Asker:
    monkeypatch.setattr("nanoproof.monitor.stream.TICK_SECONDS", 0.02)
    (run / "metrics.jsonl").write_text(lines({"step": 0}))
    return look(run)


def test_what_is_written_is_told_to_all_who_listen_and_made_once(live: Asker, run: Path) -> None:
    updates = live.current.updates
    listeners = [Listener(updates) for _ in range(3)]
    assert {one.next("hello")[2]["run"] for one in listeners} == {run.name}
    write_step(run, 1)
    (run / "attempts_r0.index.jsonl").write_text(
        lines({"n": [1, 0, 4], "at": 0, "len": 9, "d": "demo", "id": "t", "o": "proven", "sims": 1, "budget": 2})[:-2]
        + ', "tactics": 1, "s": 0.5, "t": 9.0, "tree": false, "dis": false}\n'
    )
    for listener in listeners:
        kinds = {}
        while len(kinds) < 2:
            kind, _, data = listener.next("metrics", "attempt")
            kinds[kind] = data["items"][0]
        assert kinds["metrics"] == {"step": 1, "loss": 1.0} and kinds["attempt"]["seq"] == 4
        listener.close()
    assert updates.viewers == 0


def test_who_comes_back_gets_exactly_what_was_missed(live: Asker, look: Look, run: Path) -> None:
    first = Listener(live.current.updates)
    first.next("hello")
    write_step(run, 1)
    _, last, _ = first.next("metrics")
    first.close()
    for step in (2, 3):
        write_step(run, step)
    again = Listener(look(run).current.updates, last)  # of a monitor that was started anew
    again.next("hello")
    assert [one["step"] for one in again.next("metrics", "reset")[2]["items"]] == [2, 3]
    write_step(run, 4)
    assert [one["step"] for one in again.next("metrics")[2]["items"]] == [4]
    again.close()


def test_who_asks_for_the_headers_only_is_no_viewer(live: Asker) -> None:
    assert live.client.head("/api/stream").status_code == 200
    assert live.current.updates.viewers == 0


@pytest.mark.parametrize("last", ["nonsense", "m0:999999999999", "../../etc/passwd:1"])
def test_an_id_that_means_nothing_asks_for_a_fresh_start(live: Asker, last: str) -> None:
    listener = Listener(live.current.updates, last)
    assert listener.next("reset", "metrics")[0] == "reset"
    listener.close()


def test_who_missed_too_much_is_not_told_all_of_it(live: Asker, run: Path) -> None:
    with open(run / "metrics.jsonl", "a") as file:
        file.write(lines({"step": 1, "x": "y" * MAX_MISSED}))
    listener = Listener(live.current.updates, "m0:0")
    assert listener.next("reset", "metrics")[0] == "reset"
    listener.close()


def test_ids_are_positions_of_known_files_only() -> None:
    assert read_event_id("m0:5,a12:7") == {"m0": 5, "a12": 7}
    assert read_event_id("x0:5") is None and read_event_id("m0:5,") is None


def test_a_stream_reaches_a_browser_piece_by_piece(monitor: Monitor, run: Path) -> None:
    monitor.show(run)
    with get(monitor, "/api/stream", stream=True) as answer:
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        received = answer.iter_lines()
        assert next(received) == b"event: hello"
        assert any(b"add_zero" in line for line in received if line.startswith(b'data: {"overview'))


def test_many_viewers_leave_room_for_questions(monitor: Monitor, run: Path) -> None:
    monitor.show(run)
    streams = [get(monitor, "/api/stream", stream=True) for _ in range(60)]
    assert all(next(stream.iter_lines()) == b"event: hello" for stream in streams)
    assert get(monitor, "/api/overview").status_code == 200
    for stream in streams:
        stream.close()


# -- ports and processes -----------------------------------------------------------------------------------------


def test_a_busy_port_is_a_users_error_that_names_it_and_is_free_after_close(monitor: Monitor) -> None:
    port = int(monitor.address.rsplit(":", 1)[1])
    with pytest.raises(UserError, match=rf"port {port}.*--monitor-port"):
        start_monitor_process(port)
    monitor.close()
    second = start_monitor(port)
    assert get(second, "/").status_code == 200
    second.close()


def test_the_monitor_listens_on_loopback_only(monitor: Monitor) -> None:
    port = int(monitor.address.rsplit(":", 1)[1])
    sockets = [one for one in psutil.Process().net_connections("inet") if one.status == psutil.CONN_LISTEN]
    assert [one.laddr.ip for one in sockets if one.laddr.port == port] == ["127.0.0.1"]


def test_before_a_run_is_shown_there_is_none(monitor: Monitor) -> None:
    answer = get(monitor, "/api/overview")
    assert (answer.status_code, answer.json()) == (503, {"error": "no run yet"})


def test_a_run_has_its_monitor_in_a_process_of_its_own(run: Path, caplog: pytest.LogCaptureFixture) -> None:
    (run / "attempts_r0.jsonl").write_text(lines(attempt(0)))
    monitor = start_monitor_process(0, token="sesame")
    answers: list[requests.Response] = []
    early = threading.Thread(  # waits until the child takes it
        target=lambda: answers.append(get(monitor, "/api/run", headers={"Authorization": "Bearer sesame"}))
    )
    early.start()
    monitor.show(run)
    early.join(timeout=30)
    assert answers[0].json()["name"] == run.name
    assert get(monitor, "/api/run").status_code == 401
    assert monitor.pid is not None and b"sesame" not in Path(f"/proc/{monitor.pid}/cmdline").read_bytes()
    assert "torch" not in Path(f"/proc/{monitor.pid}/maps").read_text()
    os.kill(monitor.pid, signal.SIGKILL)
    wait_for(lambda: "the run continues without it" in caplog.text)
    assert caplog.text.count("the run continues without it") == 1
    monitor.close()


def test_the_monitor_ends_with_a_run_that_is_killed(run: Path) -> None:
    program = (
        "import os, sys, pathlib, signal\n"
        "from nanoproof.monitor.server import start_monitor_process\n"
        "monitor = start_monitor_process(0)\n"
        f"monitor.show(pathlib.Path({str(run)!r}))\n"
        "print(monitor.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, timeout=60, check=False)
    pid = int(done.stdout)
    wait_for(lambda: is_gone(pid))


def test_a_request_that_is_no_http_gets_an_answer_that_says_so(monitor: Monitor) -> None:
    host, port = "127.0.0.1", int(monitor.address.rsplit(":", 1)[1])
    with socket.create_connection((host, port), timeout=30) as client:
        client.sendall(b"GET /api/run HTTP/1.1\r\nContent-Length: x\r\n\r\n")
        answer = b"".join(iter(lambda: client.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.0 400") or answer.startswith(b"HTTP/1.1 400")
    assert b"Content-Length is invalid" in answer


def test_metrics_count_what_was_answered(monitor: Monitor) -> None:
    get(monitor, "/nowhere.js")
    assert 'nanoproof_monitor_requests_total{path="/{name}",status="404"} 1.0' in get(monitor, "/metrics").text
