"""Requests that no client of ours would send: each gets a 4xx that says why, and nobody else notices."""

import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from nanoproof.lean.session import HttpLeanSession
from nanoproof.lean.types import TacticApplied
from tests.lean.conftest import EXISTS_THEOREM, THEOREM, Running, Serve

DEADLINE = 30.0
LIMIT_MB = 0.25
JSON_HEADER = "Content-Type: application/json\r\n"


class Victim:
    """A client in the middle of a proof; whatever others do, it must not notice."""

    def __init__(self, server: Running) -> None:
        self.server = server
        self.session: HttpLeanSession = server.client().lease()
        self.branch = self.session.start(THEOREM)
        self.process = self.session.process

    @property
    def state(self) -> int:
        return int(self.branch.handle.number)  # type: ignore[attr-defined]

    def check(self) -> None:
        """The same lease, the same branch, and no process was lost."""
        assert self.session.apply(self.branch, ["trivial"]) == [TacticApplied(())]
        assert self.session.process == self.process, "the lease was taken away"
        starts = [request for request in self.server.requests() if ": p ∧ q" in request.get("cmd", "")]
        assert len(starts) == 1, "the process was lost and the branch replayed"


@pytest.fixture
def victim(serve: Serve) -> Iterator[Victim]:
    victim = Victim(serve(max_body_mb=LIMIT_MB, receive_seconds=1.0))
    yield victim
    victim.check()
    victim.session.close()


def send(server: Running, data: bytes, *more: bytes) -> tuple[int, Any]:
    """Status and body of the answer to raw bytes; see `read_answer`."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=DEADLINE) as connection:
        with suppress(BrokenPipeError):  # it may have answered and hung up before it was sent everything
            for part in (data, *more):
                connection.sendall(part)
        return read_answer(connection)


def read_answer(connection: socket.socket) -> tuple[int, Any]:
    """Status and JSON; the text of what could not be read as a request stands for its error."""
    with connection.makefile("rb") as reader:
        status = int(reader.readline().split()[1])
        headers = {}
        while (line := reader.readline().decode().strip()) != "":
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        body = reader.read(int(headers["content-length"]))
        if headers["content-type"] == "application/json":
            return status, json.loads(body)
        assert headers["content-type"].startswith("text/plain") and status in (400, 413, 431), (status, body)
        return status, {"error": body.decode()}


def post(path: str, body: bytes | Any, headers: str = JSON_HEADER, length: int | None = None) -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    count = len(data) if length is None else length
    return f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}Content-Length: {count}\r\n\r\n".encode() + data


def refused(answer: tuple[int, Any], *statuses: int) -> None:
    status, body = answer
    assert status in (statuses or range(400, 500)), (status, body)
    assert isinstance(body, dict) and isinstance(body["error"], str) and body["error"], body
    assert "bug" not in body["error"] and "Traceback" not in body["error"]


WRONG_BODIES: dict[str, list[Any]] = {
    "/process/get": [
        [],
        "x",
        7,
        None,
        {"timeout": "soon"},
        {"timeout": -1},
        {"timeout": 1e300},
        {"timeout": True},
        {"timeout": []},
        {"blocking": "yes"},
        {"blocking": 1},
        b"",
        b"{",
        b"\xff\xfe",
        b'{"timeout": NaN}',
        b'{"timeout": Infinity}',
        b'{"timeout": 1' + b"0" * 5000 + b"}",
        b"[" * 100_000,
        b'{"blocking": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
    "/process/{pid}/command": [{}, {"command": None}, {"command": ["x"]}, {"command": "x", "timeout": {}}],
    "/process/{pid}/proof_from_sorry": [
        {},
        {"theorem_with_sorry": 3},
        {"theorem_with_sorry": b"\xc3".hex(), "fresh": 1},
    ],
    "/process/{pid}/proof/{state}/try_apply_tactic": [
        {},
        {"tactic": 1},
        {"tactic": ["trivial"]},
        {"tactic": "trivial", "timeout": "1"},
        {"tactic": "trivial", "timeout": -5},
        b'{"tactic": "\xc3\x28"}',
        b'{"tactic": "\\ud800"}',
    ],
    "/process/{pid}/proof/{state}/try_apply_tactics": [
        {},
        {"tactics": "trivial"},
        {"tactics": [1]},
        {"tactics": {"a": "b"}},
        {"tactics": ["x"] * 20_000},
        b'{"tactics": ["trivial", "\\udc80"]}',
    ],
    "/process/{pid}/proof/{state}/apply_tactic": [{}, {"tactic": None}],
}


@pytest.mark.parametrize("path", WRONG_BODIES)
def test_wrong_types_and_texts(victim: Victim, path: str) -> None:
    path_of = path.format(pid=victim.process, state=victim.state)
    for body in WRONG_BODIES[path]:
        status, answer = send(victim.server, post(path_of, body))
        assert 400 <= status < 500, (str(body)[:80], status, answer)
        refused((status, answer))


HUGE = "9" * 6000


@pytest.mark.parametrize(
    "path",
    [
        "/process/-1/return",
        "/process/-1/proof/0/try_apply_tactic",
        "/process/{pid}/proof/-1/try_apply_tactic",
        "/process/1e3/command",
        "/process/0x10/command",
        "/process/%31/../{pid}/command",
        "/process/{pid}%00/command",
        f"/process/{HUGE}/command",
        f"/process/{HUGE}/return",
        "/process/{pid}/proof/" + HUGE + "/try_apply_tactic",
        "/process/18446744073709551616/command",
        "/process/٣/command",
        "/process/{pid}/proof/0/state/..",
        "/process/{pid}/../../status",
        "/../../../../etc/passwd",
        "/static/../settings.py",
        "/static/%2e%2e/settings.py",
        "/process//command",
        "/process/get/",
        "/PROCESS/GET",
        "/",
        "/process/{pid}/proof/0/no_such_call",
    ],
)
def test_paths_and_ids_that_lead_nowhere(victim: Victim, path: str) -> None:
    path_of = path.replace("{pid}", str(victim.process))
    refused(send(victim.server, post(path_of, {"tactic": "trivial", "command": "x"})))


def test_a_proof_state_that_does_not_exist_is_no_refusal_by_lean(victim: Victim) -> None:
    for state in (victim.state + 1000, 2**53, 10**17):
        path = f"/process/{victim.process}/proof/{state}/try_apply_tactic"
        _, answer = send(victim.server, post(path, {"tactic": "trivial"}))
        assert f"Proof state {state} not found" in answer["error"]


def test_a_guessed_lease_is_not_found(victim: Victim) -> None:
    assert victim.process is not None
    for pid in (0, 1, 2, victim.process - 1, victim.process + 1):
        _, answer = send(victim.server, post(f"/process/{pid}/proof/0/try_apply_tactic", {"tactic": "trivial"}))
        assert answer == {"error": f"Process {pid} not found"}
        refused(send(victim.server, post(f"/process/{pid}/command", {"command": "x"})))
        assert send(victim.server, post(f"/process/{pid}/return", {})) == (
            200,
            {"status": "ok", "already_returned": True},
        )


def test_the_ids_of_other_leases_are_not_told(victim: Victim) -> None:
    status, answer = send(victim.server, b"GET /status HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert status == 200 and str(victim.process) not in json.dumps(answer)


def test_states_of_another_lease_are_not_found(victim: Victim) -> None:
    with victim.server.client().lease() as other:
        theirs = other.start(EXISTS_THEOREM)
        (result,) = other.apply(theirs, ["refine"])
        assert isinstance(result, TacticApplied)
        number = max(branch.handle.number for branch in result.branches)  # type: ignore[attr-defined]
        path = f"/process/{victim.process}/proof/{number}/try_apply_tactic"
        _, answer = send(victim.server, post(path, {"tactic": "trivial"}))
        assert f"Proof state {number} not found" in answer["error"]


@pytest.mark.parametrize("size", [LIMIT_MB * 2**20 + 1000, 4 * LIMIT_MB * 2**20])
def test_a_body_that_is_too_large(victim: Victim, size: float) -> None:
    body = json.dumps({"tactic": "x" * int(size)}).encode()
    refused(send(victim.server, post(f"/process/{victim.process}/proof/0/try_apply_tactic", body)), 413)


def test_a_body_that_is_announced_too_large_is_refused_before_it_comes(victim: Victim) -> None:
    refused(send(victim.server, post("/process/get", b"", length=10**15)), 413)


def test_a_chunked_body_that_grows_too_large(victim: Victim) -> None:
    head = f"POST /process/get HTTP/1.1\r\nHost: 127.0.0.1\r\n{JSON_HEADER}Transfer-Encoding: chunked\r\n\r\n"
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    refused(send(victim.server, head.encode(), *[chunk] * 6, b"0\r\n\r\n"), 413)


@pytest.mark.parametrize(
    "data",
    [
        b"nonsense\r\n\r\n",
        b"\x00\x01\x02\x03\r\n\r\n",
        b"POST /process/get HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -5\r\n\r\n",
        b"POST /process/get HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: many\r\n\r\n",
        b"POST /process/get HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n\r\n",
        b"GET /status HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"x" * 300_000 + b"\r\n\r\n",
        b"GET /status HTTP/1.1\r\nHost : 127.0.0.1\r\n\r\n",
        b"POST /status HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n",
        b"DELETE /process/get HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n",
        b"GET /process/get HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    ],
)
def test_what_is_hardly_http(victim: Victim, data: bytes) -> None:
    refused(send(victim.server, data))


def test_a_body_of_another_type(victim: Victim) -> None:
    refused(send(victim.server, post("/process/get", b"a=1", "Content-Type: text/plain\r\n")))
    refused(send(victim.server, post("/process/get", b"<a/>", "Content-Type: application/xml\r\n")))


def test_slow_senders_are_closed_and_hold_nobody_up(victim: Victim) -> None:
    request = post(f"/process/{victim.process}/return", {"x": "y" * 1000})
    slow = [socket.create_connection(("127.0.0.1", victim.server.port), timeout=DEADLINE) for _ in range(100)]
    try:
        for number, connection in enumerate(slow):
            connection.sendall(request[: 1 + number])  # some stop in the header, some in the body
        victim.check()
        for connection in slow:
            assert connection.recv(100) == b""  # closed, and what came of the request was not done
    finally:
        for connection in slow:
            connection.close()


def test_connections_that_say_nothing_hold_nobody_up(victim: Victim) -> None:
    silent = [socket.create_connection(("127.0.0.1", victim.server.port), timeout=DEADLINE) for _ in range(100)]
    victim.check()
    for connection in silent:
        connection.close()


def test_a_caller_that_leaves_while_it_waits_keeps_no_process(serve: Serve) -> None:
    """One that leaves in the moment of the answer may still get it; then it expires, as nobody uses it."""
    server = serve(max_processes=1, lease_seconds=5.0)
    client = server.client()
    with client.lease():
        for _ in range(5):
            connection = socket.create_connection(("127.0.0.1", server.port), timeout=DEADLINE)
            connection.sendall(post("/process/get", {"timeout": 600}))
            connection.close()
    with client.lease(timeout=DEADLINE) as session:
        assert session.apply(session.start(THEOREM), ["trivial"]) == [TacticApplied(())]


def test_tactics_are_data_and_not_protocol(victim: Victim) -> None:
    path = f"/process/{victim.process}/proof/{victim.state}/try_apply_tactic"
    for tactic in ('trivial"}\n\n{"cmd": "x', "trivial\n\n", "\x00", "\\", '{"prune_all": true}', "x" * 100_000):
        _, answer = send(victim.server, post(path, {"tactic": tactic, "timeout": 20_000}))
        assert "Could not apply tactic" in answer["error"], answer
    assert {"prune_all": True} not in victim.server.requests()
    assert {"cmd": "x"} not in victim.server.requests()
