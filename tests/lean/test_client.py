"""What a client does about leases that nobody returns, and about servers that answer oddly; over real sockets."""

import gc
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from nanoproof.lean import types
from nanoproof.lean.client import ClientConfig, LeanServerClient
from nanoproof.lean.types import (
    ProcessLost,
    ProtocolError,
    ServerBusy,
    ServerUnavailable,
    TacticApplied,
    TacticFailed,
    TheoremRejected,
)
from tests.fakes.upstream_server import Answer, UpstreamServer
from tests.helpers import wait_for
from tests.lean.conftest import THEOREM, Serve

GIVEN = {"process_id": 7, "fresh_environments": True}
STATE = {"proof_state_id": 0, "goals": [{"type": "p", "hypotheses": []}]}
Fake = Callable[[Callable[[str, dict[str, Any]], Answer | None]], UpstreamServer]


@pytest.fixture
def fake() -> Iterator[Fake]:
    """A server that gives processes and starts theorems; the rest is answered by the test, by the route's last word."""
    servers: list[UpstreamServer] = []

    def make(answer: Callable[[str, dict[str, Any]], Answer | None]) -> UpstreamServer:
        def all_routes(path: str, body: dict[str, Any]) -> Answer | None:
            word = path.rsplit("/", 1)[1]
            answered = answer(word, body)
            usual: dict[str, Any] = {"get": GIVEN, "return": {}, "proof_from_sorry": {"value": STATE}}
            return (200, usual[word]) if answered is None and word in usual else answered

        servers.append(UpstreamServer(all_routes))
        return servers[-1]

    yield make
    for server in servers:
        server.close()


def words(server: UpstreamServer) -> list[str]:
    return [path.rsplit("/", 1)[1] for path, _ in server.calls]


@pytest.mark.nightly
def test_a_lease_of_a_thread_that_died_is_returned(serve: Serve) -> None:
    client = serve(max_processes=1).client()
    kept = []

    def die() -> None:
        kept.append(client.lease())
        kept[0].start(THEOREM)

    thread = threading.Thread(target=die)
    thread.start()
    thread.join()
    wait_for(lambda: client.status()["used_processes"] == 0 and client.leases == 0)
    with client.lease() as other:  # the session of the dead thread does not get in the way of its successor
        other.start(THEOREM)
        assert kept[0].process is None


def test_a_lease_whose_session_was_forgotten_is_returned(serve: Serve) -> None:
    client = serve(max_processes=1).client()
    client.lease()
    gc.collect()
    wait_for(lambda: client.status()["used_processes"] == 0)


def test_a_session_goes_on_after_its_lease_was_taken_for_lost(serve: Serve) -> None:
    client = serve().client()
    started: list[Any] = []

    def lend() -> None:
        session = client.lease()
        started.extend([session, session.start(THEOREM)])

    thread = threading.Thread(target=lend)
    thread.start()
    thread.join()
    wait_for(lambda: started[0].process is None)
    session, branch = started
    with session:
        assert isinstance(session.apply(branch, ["trivial"])[0], TacticApplied)


def test_leases_are_returned_when_the_program_ends(serve: Serve) -> None:
    server = serve()
    program = (
        "from nanoproof.lean.client import LeanServerClient\n"
        f"sessions = [LeanServerClient('127.0.0.1:{server.port}').lease() for _ in range(2)]\n"
        "print(LeanServerClient.__name__)\n"
        "raise SystemExit(3)\n"
    )
    assert subprocess.run([sys.executable, "-c", program], timeout=60).returncode == 3
    assert server.client().status()["used_processes"] == 0


def test_what_could_not_be_returned_is_returned_later(fake: Fake) -> None:
    answers = iter([500, 503, 503, 200])
    server = fake(lambda word, _: (next(answers, 200), {}) if word == "return" else None)
    client = LeanServerClient(server.address)
    client.lease().close()
    assert client.leases == 1
    wait_for(lambda: client.leases == 0)
    assert words(server).count("return") == 4


def test_a_lease_that_is_not_used_is_kept_alive(fake: Fake) -> None:
    gives = {"process_id": 7, "lease_seconds": 0.3}
    server = fake(lambda word, _: {"get": (200, gives), "heartbeat": (200, {"status": "ok"})}.get(word))
    with LeanServerClient(server.address).lease():
        wait_for(lambda: words(server).count("heartbeat") >= 2)


def test_a_server_without_heartbeats_is_not_asked_again(fake: Fake) -> None:
    server = fake(lambda word, _: (200, {"process_id": 7, "lease_seconds": 0.3}) if word == "get" else None)
    client = LeanServerClient(server.address)
    with client.lease(), client.lease():
        wait_for(lambda: "heartbeat" in words(server) and not client._keeper._has_heartbeat)
        client._keeper._send_heartbeats(list(client._keeper._held))
    assert words(server).count("heartbeat") == 1


def test_the_thread_that_looks_after_leases_ends_with_them(serve: Serve) -> None:
    client = serve().client()
    with client.lease():
        assert client._keeper._thread is not None
    wait_for(lambda: client._keeper._thread is None)


def test_a_broken_connection_on_asking_for_a_process_is_tried_again() -> None:
    """Servers with a short backlog reset connections when many clients come at once."""
    listener = socket.create_server(("127.0.0.1", 0))
    body = b'{"process_id": 3}'

    def answer() -> None:
        for reply in (b"", b"", b"HTTP/1.0 200 OK\r\nContent-Length: 17\r\n\r\n" + body):
            connection, _ = listener.accept()
            connection.recv(1 << 16)
            connection.sendall(reply)
            connection.close()
        listener.close()

    threading.Thread(target=answer, daemon=True).start()
    session = LeanServerClient(f"127.0.0.1:{listener.getsockname()[1]}").lease()
    assert session.process == 3
    session._keeper._held.clear()  # there is no server any more to return it to


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_server_without_time_for_a_tactic_is_no_refusal(fake: Fake, status: int) -> None:
    server = fake(lambda word, _: (status, {"error": "later"}) if word.startswith("try_apply") else None)
    with LeanServerClient(server.address).lease() as session:
        branch = session.start(THEOREM)
        with pytest.raises(ServerUnavailable, match="too busy: later"):
            session.apply(branch, ["trivial"])


def test_all_processes_taken_is_an_error_of_its_own(fake: Fake) -> None:
    server = fake(lambda word, _: (200, {"process_id": None}) if word == "get" else None)
    with pytest.raises(ServerBusy):
        LeanServerClient(server.address).lease(timeout=0.1)


def test_only_a_server_that_takes_leases_back_is_kept_waiting(fake: Fake) -> None:
    """A process that is given to a connection that was cut meanwhile is lost for good on other servers."""
    for gives, kept_waiting in (({}, False), ({"lease_seconds": 600}, True)):
        answers = iter([{"process_id": None}, {"process_id": 1, **gives}, {"process_id": 2, **gives}])
        server = fake(lambda word, _, answers=answers: (200, next(answers)) if word == "get" else None)  # type: ignore[misc]
        client = LeanServerClient(server.address)
        with client.lease(), client.lease():
            pass
        assert [body["blocking"] for path, body in server.calls if path.endswith("get")] == [False, False, kept_waiting]


def test_a_server_that_cannot_start_processes_says_why(fake: Fake) -> None:
    server = fake(lambda word, _: (500, {"error": "no such executable"}) if word == "get" else None)
    with pytest.raises(ServerUnavailable, match="gives no process: no such executable"):
        LeanServerClient(server.address).lease()


@pytest.mark.parametrize("text", ["REPL returned error: Unknown proof state.", "Proof state 3 not found"])
def test_a_process_that_does_not_know_our_states_is_a_lost_one_and_no_refusal(fake: Fake, text: str) -> None:
    answers = iter([(200, {"error": text}), (200, {"value": []})])
    server = fake(lambda word, _: next(answers) if word == "try_apply_tactic" else None)
    with LeanServerClient(server.address).lease() as session:
        assert isinstance(session.apply(session.start(THEOREM), ["trivial"])[0], TacticApplied)
    assert words(server).count("get") == 2


def test_a_lease_that_was_lost_leaves_nothing_behind(fake: Fake) -> None:
    answers = iter([(200, {"error": "Lean REPL process ended unexpectedly"}), (200, {"value": []})])
    server = fake(lambda word, _: next(answers) if word == "try_apply_tactic" else None)
    with LeanServerClient(server.address).lease() as session:
        lost = weakref.ref(session._lease)
        session.apply(session.start(THEOREM), ["trivial"])
        assert session._lease is not lost()
        wait_for(lambda: (gc.collect(), lost())[1] is None)  # the thread that keeps leases may look at it


def test_the_tactic_that_ends_processes_gets_the_blame_and_its_neighbours_do_not(fake: Fake) -> None:
    """The server cannot tell which tactic of a batch it was."""

    def answer(word: str, body: dict[str, Any]) -> Answer | None:
        if word != "try_apply_tactics":
            return (200, gone if body["tactic"] == "bad" else {"value": []}) if word == "try_apply_tactic" else None
        gives: dict[str, Any] = {"results": [{"value": []} for _ in body["tactics"]]}
        return 200, gone if "bad" in body["tactics"] else gives

    gone: dict[str, Any] = {"error": "Lean REPL process ended unexpectedly"}
    server = fake(answer)
    with LeanServerClient(server.address).lease() as session:
        results = session.apply(session.start(THEOREM), ["a", "bad", "b"])
    assert [isinstance(result, TacticApplied) for result in results] == [True, False, True]
    assert isinstance(results[1], TacticFailed) and results[1].kind == "timeout"


def test_processes_that_die_whatever_is_tried_are_no_news_about_tactics(fake: Fake) -> None:
    server = fake(lambda word, _: (200, {"error": "Subprocess has terminated"}) if "try_apply" in word else None)
    with LeanServerClient(server.address).lease() as session, pytest.raises(ProcessLost, match="Subprocess has"):
        session.apply(session.start(THEOREM), ["a", "b", "c", "d", "e"])


def test_what_a_server_says_about_a_statement_with_status_200_is_a_refusal(fake: Fake) -> None:
    server = fake(lambda word, _: (200, {"error": "AssertionError: two sorries"}) if "sorry" in word else None)
    with LeanServerClient(server.address).lease() as session, pytest.raises(TheoremRejected, match="two sorries"):
        session.start(THEOREM)


def test_a_statement_on_which_the_server_fails_is_not_refused(fake: Fake) -> None:
    server = fake(lambda word, _: (500, {"error": "KeyError", "exception": "gASV"}) if "sorry" in word else None)
    with LeanServerClient(server.address).lease() as session, pytest.raises(ProtocolError):
        session.start(THEOREM)


@pytest.mark.parametrize("tactic", ["", "  ", "exact \ud800"])
def test_what_cannot_be_sent_is_not(serve: Serve, tactic: str) -> None:
    with serve().client().lease() as session:
        results = session.apply(session.start(THEOREM), [tactic, "trivial"])
    assert isinstance(results[0], TacticFailed) and results[0].kind == "banned"
    assert isinstance(results[1], TacticApplied)


@pytest.mark.parametrize("count", [True, -1, "8", 8.0, 10**9, None])
def test_a_status_that_cannot_be_true_is_not_believed(count: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    client = LeanServerClient("127.0.0.1:9", config=ClientConfig())
    monkeypatch.setattr(client._keeper.transport, "get", lambda *_, **__: (200, {"max_processes": count}))
    with pytest.raises(ProtocolError, match="is no Lean server"):
        client.status()


def test_errors_say_whether_the_same_work_may_succeed_later() -> None:
    kinds = [kind for kind in vars(types).values() if isinstance(kind, type) and issubclass(kind, types.LeanError)]
    assert {kind.__name__ for kind in kinds if kind.retryable} == {
        "ServerUnavailable",
        "ServerBusy",
        "ServerTimeout",
        "ProcessLost",
    }
