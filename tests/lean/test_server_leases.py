"""How leases live and end, and how processes are replaced under them; over real sockets."""

import json
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
import requests

from nanoproof.lean.client import LeanServerClient
from nanoproof.lean.types import TacticApplied
from tests.helpers import wait_for
from tests.lean.conftest import THEOREM, Serve
from tests.lean.test_server import Api


def in_background(work: Callable[[], Any]) -> Callable[[], Any]:
    """Start `work` in a thread; the function that is returned waits for its result."""
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(work()), daemon=True)
    thread.start()

    def result() -> Any:
        thread.join(60)
        return results[0]

    return result


def running(api: Api, route: str) -> bool:
    return any(request["path"].endswith(route) for request in api.status()["active_requests"])


def test_heartbeats_keep_a_lease(serve: Serve) -> None:
    server = serve(max_processes=2, lease_seconds=3.0, warmup=True)
    api = Api(server)
    kept, idle = api.get_process(), api.get_process()
    assert kept is not None and idle is not None

    def only_one_is_left() -> bool:
        answer = api.post(f"/process/{kept}/heartbeat")
        assert answer.json() == {"status": "ok", "lease_seconds": 3.0}
        return api.status()["used_processes"] == 1

    wait_for(only_one_is_left)
    assert "value" in api.start(kept)
    assert api.post(f"/process/{idle}/heartbeat").status_code == 404
    assert api.status()["totals"]["leases"] == {"given": 2, "expired": 1}


def test_the_process_of_a_client_that_asked_for_a_short_lease_is_soon_free_without_it(serve: Serve) -> None:
    server = serve(max_processes=1, lease_seconds=600.0, warmup=True)
    api = Api(server)
    given = api.post("/process/get", lease_seconds=1.5).json()  # its client is killed now
    assert given["lease_seconds"] == 1.5
    assert api.get_process(timeout=25) is not None
    assert api.status()["totals"]["leases"] == {"given": 2, "expired": 1}


def test_a_lease_is_never_longer_than_the_server_says_and_ours_is_a_minute(serve: Serve) -> None:
    api = Api(serve(max_processes=2, lease_seconds=90.0))
    assert api.post("/process/get", lease_seconds=5000).json()["lease_seconds"] == 90.0
    with LeanServerClient(f"127.0.0.1:{api.server.port}").lease() as session:
        session.start(THEOREM)
        assert sorted(lease.idle_seconds for lease in api.server.pool._leases.values()) == [60.0, 90.0]


def test_ids_of_leases_are_not_counted_up_nor_shown(serve: Serve) -> None:
    api = Api(serve(max_processes=2))
    first, second = api.get_process(), api.get_process()
    assert first is not None and second is not None and abs(first - second) > 1000
    paths = [request["path"] for request in api.status()["active_requests"]]
    assert paths == ["/status"]
    assert str(first) not in json.dumps(api.status())


@pytest.mark.nightly
def test_returning_a_lease_cuts_its_request_short(serve: Serve) -> None:
    api = Api(serve(max_processes=1))
    pid = api.get_process()
    state = api.start(pid)["value"]["proof_state_id"]
    answer = in_background(lambda: Api(api.server).tactic(pid, state, "hang", timeout=600_000))
    wait_for(lambda: running(api, "try_apply_tactic"))
    assert api.post(f"/process/{pid}/return").json() == {"status": "ok"}
    assert "ended unexpectedly: its lease was returned" in answer()["error"]
    assert api.get_process(timeout=20) is not None
    assert api.status()["totals"]["restarts"] == {"abandoned": 1}


def test_a_late_tactic_costs_its_lease_the_process_and_others_nothing(serve: Serve) -> None:
    api = Api(serve(max_processes=2, spares=1, warmup=True))
    late, other = api.get_process(), api.get_process()
    late_state, other_state = (api.start(pid)["value"]["proof_state_id"] for pid in (late, other))
    spare = next(entry["pid"] for entry in api.status()["processes"] if entry["state"] == "available")
    assert "timed out" in api.tactic(late, late_state, "hang", timeout=100)["error"]
    again = api.start(late)["value"]["proof_state_id"]
    assert spare in [entry["pid"] for entry in api.status()["processes"] if entry["state"] == "used"]
    assert api.tactic(late, again, "trivial") == {"value": []}
    assert api.tactic(other, other_state, "trivial") == {"value": []}
    assert api.status()["totals"]["restarts"] == {"timeout": 1}


def test_no_lease_goes_to_a_caller_that_has_hung_up(serve: Serve) -> None:
    api = Api(serve(max_processes=1))
    first = api.get_process()
    with socket.create_connection(("127.0.0.1", api.server.port)) as connection:
        head = "POST /process/get HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: 2\r\n\r\n{{}}".encode())
        wait_for(lambda: api.status()["waiting_requests"] == 1)
    wait_for(lambda: api.status()["waiting_requests"] == 0)
    api.post(f"/process/{first}/return")
    assert api.status()["used_processes"] == 0


def test_a_lease_that_is_returned_while_it_expires_is_retired(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve(max_processes=1)
    pid = Api(server).get_process()
    assert pid is not None
    end = server.pool._end

    def return_meanwhile(lease_id: int) -> Any:
        monkeypatch.undo()
        assert server.pool.give_back(lease_id)
        return end(lease_id)

    monkeypatch.setattr(server.pool, "_end", return_meanwhile)
    server.pool.find(pid).last_used = float("-inf")
    wait_for(lambda: server.pool.count_processes()[0]["used_processes"] == 0)
    wait_for(lambda: server.pool.count_processes()[0]["stopping_processes"] == 0)
    assert Api(server).get_process(timeout=20) is not None


@pytest.mark.nightly
def test_processes_that_never_start_are_tried_again_for_ever(serve: Serve) -> None:
    pool = serve(max_processes=1).pool
    for _ in range(2000):
        pool._failed("no such disk")
    assert 0 < pool._retry_at - time.monotonic() <= 30


def test_too_many_requests_for_one_lease_are_429(serve: Serve) -> None:
    server = serve(max_processes=1)
    api = Api(server)
    pid = api.get_process()
    assert pid is not None
    with server.pool.use(pid):
        waiting = [in_background(lambda: Api(server).post(f"/process/{pid}/command", command="")) for _ in range(4)]
        wait_for(lambda: len([r for r in api.status()["active_requests"] if r["path"].endswith("command")]) == 4)
        refused = api.post(f"/process/{pid}/command", command="")
        assert refused.status_code == 429 and refused.headers["Retry-After"] == "1"
    assert [answer().status_code for answer in waiting] == [200] * 4


def test_while_it_shuts_down_the_server_takes_no_work_but_ends_what_it_has(serve: Serve) -> None:
    server = serve(max_processes=2)
    api = Api(server)
    pid = api.get_process()
    assert pid is not None
    with server.pool.use(pid):
        under_way = in_background(lambda: Api(server).post(f"/process/{pid}/command", command=""))
        wait_for(lambda: running(api, "command"))
        server.pool.drain()
        for path in ("/process/get", f"/process/{pid}/command"):
            answer = api.post(path, command="")
            assert answer.status_code == 503 and answer.headers["Retry-After"] == "1"
    assert under_way().status_code == 200
    status = api.status()
    assert (status["ready"], status["shutting_down"]) == (False, True)
    assert api.post(f"/process/{pid}/return").status_code == 200


def test_timeouts_of_clients_are_cut_to_the_longest(serve: Serve) -> None:
    api = Api(serve(max_processes=1, longest_seconds=1.0, warmup=True))
    pid = api.get_process(timeout=3600)
    state = api.start(pid)["value"]["proof_state_id"]
    assert "timed out" in api.tactic(pid, state, "hang", timeout=3_600_000)["error"]
    assert api.get_process(timeout=3600) is None


@pytest.mark.nightly
def test_a_process_is_replaced_between_two_proofs_of_a_long_lease(serve: Serve) -> None:
    server = serve(max_uses=2, imports=("Mathlib",))
    with server.client().lease() as session:
        for _ in range(3):
            branch = session.start(THEOREM)
        assert isinstance(session.apply(branch, ["trivial"])[0], TacticApplied)
    assert Api(server).status()["totals"]["restarts"] == {"uses": 1}


def test_a_process_that_has_grown_is_replaced_between_leases(serve: Serve) -> None:
    api = Api(serve(max_processes=1, recycle_gb=0.001))
    for _ in range(2):
        api.post(f"/process/{api.get_process(timeout=20)}/return")
    assert api.status()["totals"]["restarts"] == {"size": 2}


def test_the_last_words_of_a_crashed_process_are_in_the_error(serve: Serve) -> None:
    api = Api(serve())
    pid = api.get_process()
    state = api.start(pid)["value"]["proof_state_id"]
    error = api.tactic(pid, state, "crash")["error"]
    assert "exit status 7" in error and "the scripted process crashes" in error


def test_requests_go_on_beside_a_tactic_that_takes_long(serve: Serve) -> None:
    api = Api(serve(max_processes=2))
    slow, quick = api.get_process(), api.get_process()
    state = api.start(slow)["value"]["proof_state_id"]
    late = in_background(
        lambda: requests.post(
            f"{api.base}/process/{slow}/proof/{state}/try_apply_tactic",
            json={"tactic": "hang", "timeout": 2000},
            timeout=30,
        ).json()
    )
    state = api.start(quick)["value"]["proof_state_id"]
    assert api.tactic(quick, state, "trivial") == {"value": []}
    assert "timed out" in late()["error"]
