"""What the server refuses, how it says so, and that others do not notice; over real sockets."""

import json
import socket
from typing import Any

import pytest

from tests.lean.conftest import Running, Serve
from tests.lean.test_server import Api


def answer_to(server: Running, *parts: bytes) -> tuple[int, dict[str, str], Any]:
    """Send bytes and read until the server closes the connection: status (0 without one), headers, JSON or text."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        for part in parts:
            connection.sendall(part)
        received = b""
        while chunk := connection.recv(1 << 16):
            received += chunk
    if not received:
        return 0, {}, None
    head, _, body = received.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines[1:])
    in_json = headers["content-type"] == "application/json"
    return int(lines[0].split()[1]), headers, json.loads(body) if in_json else body.decode()


def head(path: str = "/process/get", length: int | str = 2, host: str = "localhost", method: str = "POST") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", "Connection: close", "Content-Type: application/json"]
    return "\r\n".join([*lines, f"Content-Length: {length}", "", ""]).encode()


def test_a_body_over_the_limit_is_413(serve: Serve) -> None:
    server = serve(max_body_mb=0.1)
    size = round(0.1 * 2**20)
    assert answer_to(server, head(length=size), b"{}" + b" " * (size - 2))[0] == 200
    status, _, answer = answer_to(server, head(length=size + 1), b" " * (size + 1))
    assert status == 413 and "413" in answer["error"]


def test_a_huge_body_is_refused_before_it_is_sent(serve: Serve) -> None:
    assert answer_to(serve(), head(length=10**12))[0] == 413


@pytest.mark.parametrize("length", ["-1", "nonsense"])
def test_a_length_that_is_none_is_400(serve: Serve, length: str) -> None:
    assert answer_to(serve(), head(length=length))[0] == 400


def test_a_length_that_python_does_not_read_ends_its_own_connection_only(serve: Serve) -> None:
    server = serve()
    assert answer_to(server, head(length="9" * 5000))[0] == 0
    assert answer_to(server, head(), b"{}")[0] == 200


def test_what_is_no_http_is_400(serve: Serve) -> None:
    assert answer_to(serve(), b"\x16\x03\x01 hello\r\n\r\n")[0] == 400


@pytest.mark.parametrize("sent", [b"POST /process/get HT", head(length=100) + b"{"])
def test_a_sender_that_is_too_slow_is_closed_and_holds_up_nobody(serve: Serve, sent: bytes) -> None:
    server = serve(max_processes=1, receive_seconds=1.0)
    with socket.create_connection(("127.0.0.1", server.port)) as slow:
        slow.sendall(sent)
        assert Api(server).get_process() is not None
        assert answer_to(server, sent)[0] == 0


@pytest.mark.nightly
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"nonsense",
        b"[]",
        b"[" * 100_000,
        b'{"timeout": "\xff"}',
        b'{"timeout": NaN}',
        b'{"timeout": -1}',
        b'{"timeout": 1e400}',
        b'{"timeout": true}',
        b'{"blocking": "no"}',
    ],
)
def test_bodies_that_are_no_question_are_400(serve: Serve, body: bytes) -> None:
    status, _, answer = answer_to(serve(), head(length=len(body)), body)
    assert status == 400 and set(answer) == {"error"}


def test_half_a_character_is_400_and_costs_no_process(serve: Serve) -> None:
    api = Api(serve())
    pid = api.get_process()
    body = b'{"command": "\\ud800"}'
    path = f"{api.base}/process/{pid}/command"
    answer = api.session.post(path, data=body, headers={"Content-Type": "application/json"}, timeout=30)
    assert answer.status_code == 400 and "`command`" in answer.json()["error"]
    assert api.status()["totals"]["restarts"] == {}


@pytest.mark.parametrize("path", ["-1/return", "9" * 5000 + "/return", "1.5/return", "1/../../status", "%2e%2e/get"])
def test_paths_that_name_no_lease_are_404(serve: Serve, path: str) -> None:
    assert answer_to(serve(), head(f"/process/{path}"), b"{}")[0] == 404


def test_a_batch_has_a_largest_length(serve: Serve) -> None:
    api = Api(serve())
    pid = api.get_process()
    state = api.start(pid)["value"]["proof_state_id"]
    answer = api.post(f"/process/{pid}/proof/{state}/try_apply_tactics", tactics=["rfl"] * 1025)
    assert answer.status_code == 400 and "1024" in answer.json()["error"]


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "10.0.0.1"])
def test_another_host_name_is_refused_on_loopback(serve: Serve, host: str) -> None:
    status, _, answer = answer_to(serve(), head(host=host), b"{}")
    assert status == 403 and "Host" in answer["error"]


def test_the_host_of_a_whole_address_counts_and_not_the_header(serve: Serve) -> None:
    server = serve()
    assert answer_to(server, head("http://evil.example/process/get"), b"{}")[0] == 403
    assert answer_to(server, head("http://localhost@evil.example/process/get"), b"{}")[0] == 403
    assert answer_to(server, head("http://localhost/process/get", host="evil.example"), b"{}")[0] == 200


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "127.0.0.1:80", "[::1]:8000", "127.0.0.2"])
def test_names_of_loopback_are_served(serve: Serve, host: str) -> None:
    assert answer_to(serve(), head(host=host), b"{}")[0] == 200


def test_with_a_token_any_host_name_is_served_and_the_scheme_counts(serve: Serve) -> None:
    server = serve(token="secret")
    granted = head(host="lean.example")[:-2] + b"Authorization: bearer secret\r\n\r\n"
    assert answer_to(server, granted, b"{}")[0] == 200
    basic = head()[:-2] + b"Authorization: Basic secret\r\n\r\n"
    status, headers, _ = answer_to(server, basic, b"{}")
    assert status == 401 and headers["www-authenticate"] == "bearer"


def test_search_tactics_and_gaps_never_reach_the_process(serve: Serve) -> None:
    server = serve()
    api = Api(server)
    pid = api.get_process()
    state = api.start(pid)["value"]["proof_state_id"]
    for tactic in ("sorry", "exact?", "first | simp? | rfl", "native_decide"):
        assert "Could not apply tactic" in api.tactic(pid, state, tactic)["error"]
    assert not any("tactic" in asked for asked in server.requests())
