"""Calls over the socket that a server offers to clients on its machine: the same as over HTTP, their way out."""

import json
import os
import re
import socket
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanoproof.lean import local_socket
from nanoproof.lean.local_socket import ANSWER, REQUEST, LocalSocket, address_of, new_name
from nanoproof.lean.server import local
from nanoproof.lean.server.app import create_app
from nanoproof.lean.server.backend import ServerSettings
from nanoproof.lean.session import HttpLeanSession
from nanoproof.lean.types import Branch, ServerTimeout, TacticApplied
from tests.helpers import wait_for
from tests.lean.conftest import THEOREM, Running, Serve

pytestmark = pytest.mark.skipif(new_name() is None, reason="there are such sockets on Linux")
TACTICS = ("trivial", "nonsense", "constructor", "crash", "garbage", "sorry", " ", "mvar")


def socket_of(session: HttpLeanSession) -> LocalSocket | None:
    return session._transport._local


def results(session: HttpLeanSession, branch: Branch) -> list[Any]:
    """Each result, with the goals that are left in place of branches."""
    shown: list[Any] = []
    for result in session.apply(branch, TACTICS):
        if isinstance(result, TacticApplied):
            shown.append([left.state.text for left in result.branches])
        else:
            shown.append((result.kind, result.message))
    return shown


@pytest.mark.nightly
def test_both_ways_give_the_same_results(serve: Serve) -> None:
    server, plain = serve(), serve(local=False)
    outcomes = []
    for running in (server, plain):
        with running.client().lease() as session:
            outcomes.append(results(session, session.start(THEOREM)))
            assert (socket_of(session) is None) == (running is plain)
    # Whether its exit status is known yet when a process has said something strange is a matter of moments.
    local, http = (re.sub(r"exit status -?\d+, ", "", str(outcome)) for outcome in outcomes)
    assert local == http


def test_requests_are_counted_and_listed_whichever_way_they_come(serve: Serve) -> None:
    server = serve()
    with server.client().lease() as session:
        branch = session.start(THEOREM)
        call = f"proof/{branch.handle.number}/try_apply_tactic", {"tactic": "hang", "timeout": 60_000}, 60.0
        waiting = threading.Thread(target=session._transport.call, args=(session.process, *call))
        waiting.start()
        route = "/process/{pid}/proof/{state}/try_apply_tactic"
        status = server.client().status
        wait_for(lambda: any(request["path"] == route for request in status()["active_requests"]))
        session._release()  # the pool kills the process of a lease that is given back, and the call ends
        waiting.join(20)
    counted = server.pool.metrics.requests.labels("/process/{pid}/proof_from_sorry", "200")
    assert counted._value.get() == 1


def test_only_callers_on_the_machine_are_told_of_the_socket(serve: Serve) -> None:
    server = serve()
    app = create_app(ServerSettings(), server.pool)
    app.extensions["local"].name = "some-name"
    for address, told in (("127.0.0.1", True), ("::1", True), ("10.0.0.9", False)):
        answer = app.test_client().post(
            "/process/get", json={"timeout": 20}, headers={"Host": "localhost"}, environ_base={"REMOTE_ADDR": address}
        )
        assert ("local_socket" in answer.json) is told
        server.pool.give_back(answer.json["process_id"])


def test_without_its_socket_a_client_goes_on_over_http(serve: Serve) -> None:
    server = serve()
    with server.client().lease() as session:
        branch = session.start(THEOREM)
        offered = socket_of(session)
        assert offered is not None and len(offered._idle) == 1
        close_local(server, offered)
        (result,) = session.apply(branch, ["trivial"])
        assert isinstance(result, TacticApplied) and socket_of(session) is None


def close_local(server: Running, offered: LocalSocket) -> None:
    """End the server's side, and wait until nobody can connect."""
    server.local.close()

    def is_refused() -> bool:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            return probe.connect_ex(address_of(offered.name)) != 0

    wait_for(is_refused)


def test_a_call_ends_at_its_time(serve: Serve) -> None:
    server = serve()
    with server.client().lease() as session:
        branch = session.start(THEOREM)
        number = branch.handle.number
        began = time.monotonic()
        with pytest.raises(ServerTimeout, match="did not answer"):
            session._transport.call(
                session.process or 0,
                f"proof/{number}/try_apply_tactic",
                {"tactic": "hang", "timeout": 60_000},
                0.5,
            )
        assert time.monotonic() - began < 10
    # The lease was given back in the middle of the call, so that its process is killed and its thread is free again.
    wait_for(lambda: not server.client().status()["used_processes"])


def test_a_client_that_hangs_up_has_no_more_tactics_tried(serve: Serve) -> None:
    server = serve()
    with server.client().lease() as session:
        branch = session.start(THEOREM)
        number, name = branch.handle.number, server.local.name
        caller = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        caller.connect(address_of(name))
        path = f"/process/{session.process}/proof/{number}/try_apply_tactics".encode()
        body = json.dumps({"tactics": ["nonsense"] * 1000, "timeout": 20_000}).encode()
        caller.sendall(REQUEST.pack(len(path), len(body)) + path + body)
        caller.close()
        tried = len(server.requests())
        (result,) = session.apply(branch, ["trivial"])  # waits for its turn on the lease
        assert isinstance(result, TacticApplied)
        assert len(server.requests()) - tried < 1000


def test_what_is_no_call_is_answered_and_what_is_no_frame_ends_the_connection(serve: Serve) -> None:
    server = serve(max_body_mb=0.01)
    name = server.local.name
    client = LocalSocket(name, 1000)
    assert client.call("/process/1/command", b'{"command": "x"}', 10)[0] == 404
    assert client.call("/process/1/nothing", b"{}", 10)[0] == 404
    assert client.call("/status", b"", 10)[0] == 404
    for body in (b"", b"[]", b'{"command": 3}', b'{"command": "\\ud800"}'):
        status, answer = client.call("/process/1/command", body, 10)
        assert status == 400 and json.loads(answer)["error"]
    with pytest.raises(OSError):  # over HTTP it is answered 413
        client.call("/process/1/command", b" " * 20_000, 10)
    server.pool.drain()
    assert client.call("/process/1/command", b"{}", 10)[0] == 503
    client.close()


def test_no_bytes_disturb_the_server(serve: Serve) -> None:
    server = serve()
    name = server.local.name

    @settings(max_examples=30)
    @given(st.binary(max_size=64))
    def send(data: bytes) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
            caller.connect(address_of(name))
            caller.sendall(data)
            caller.shutdown(socket.SHUT_WR)
            caller.settimeout(10)
            head = b""
            with suppress(ConnectionResetError):  # it hangs up with bytes unread
                head = caller.recv(ANSWER.size)
            assert not head or ANSWER.unpack(head)[0] in (400, 404)

    send()
    assert LocalSocket(name, 1000).call("/process/1/command", b'{"command": "x"}', 10)[0] == 404


def test_other_users_are_not_answered(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve()
    monkeypatch.setattr(local, "is_ours", lambda connection: False)
    with pytest.raises(OSError):
        LocalSocket(server.local.name, 1000).call("/process/1/command", b"{}", 10)


def test_other_users_are_not_believed(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve()
    owner = os.getuid() + 1
    with server.client().lease() as session:
        socket_of(session).close()
        monkeypatch.setattr(local, "is_ours", lambda connection: True)
        monkeypatch.setattr(local_socket.os, "getuid", lambda: owner)
        with pytest.raises(ConnectionError, match="another user"):
            LocalSocket(server.local.name, 1000).call("/process/1/command", b"{}", 10)
        assert session.start(THEOREM).state.goals, "HTTP, with its token, is left"
        assert socket_of(session) is None


@pytest.mark.parametrize(
    ("answer", "error"),
    [(struct.pack("<HI", 200, 2000), ValueError), (b"\x00\x01", ConnectionError), (b"", TimeoutError)],
)
def test_a_server_that_answers_badly_is_an_error(answer: bytes, error: type[Exception]) -> None:
    respond = listening(lambda connection: connection.sendall(answer), keep_open=error is TimeoutError)
    with respond as name, pytest.raises(error):
        LocalSocket(name, 1000).call("/process/1/command", b"{}", 0.5)


class listening:
    """A socket of this kind that does something with its first connection."""

    def __init__(self, respond: Callable[[socket.socket], None], keep_open: bool) -> None:
        self._respond, self._keep_open = respond, keep_open
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)

    def __enter__(self) -> str:
        name = new_name()
        assert name is not None
        self._listener.bind(address_of(name))
        self._listener.listen()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return name

    def _run(self) -> None:
        connection, _ = self._listener.accept()
        with connection:
            connection.recv(1000)
            self._respond(connection)
            if self._keep_open:
                connection.recv(1000)

    def __exit__(self, *_: object) -> None:
        self._thread.join(10)
        self._listener.close()
