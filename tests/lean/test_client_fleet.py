"""Several servers: which one gives the lease, what happens while one is away, and how it comes back."""

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from nanoproof.lean.client import CircuitBreaker, LeanFleet
from nanoproof.lean.transport import Transport, forget_leases_of
from nanoproof.lean.types import ServerBusy, ServerUnavailable
from tests.fakes.upstream_server import UpstreamServer
from tests.lean.conftest import THEOREM, Serve


@pytest.fixture
def dead() -> Iterator[Callable[[], str]]:
    """Addresses where nobody listens; they stay taken, so that nobody else begins to."""
    with ExitStack() as taken:

        def address() -> str:
            bound = taken.enter_context(socket.socket())
            bound.bind(("127.0.0.1", 0))
            return f"127.0.0.1:{bound.getsockname()[1]}"

        yield address


Dead = Callable[[], str]


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_leases_are_spread_over_the_servers() -> None:
    # Servers that have a process at once: of one that starts it first, the fleet goes on to the next.
    always = [UpstreamServer(lambda path, _: (200, {"process_id": 1})) for _ in range(2)]
    fleet = LeanFleet([server.address for server in always])
    with ExitStack() as stack:
        for _ in range(4):
            stack.enter_context(fleet.lease())
        assert [server.client.leases for server in fleet.servers] == [2, 2]
    assert [server.client.leases for server in fleet.servers] == [0, 0]
    for server in always:
        server.close()


def test_a_full_server_leaves_the_lease_to_another(serve: Serve) -> None:
    fleet = LeanFleet([f"127.0.0.1:{serve(max_processes=count).port}" for count in (1, 2)])
    with fleet.lease(), fleet.lease(), fleet.lease(), pytest.raises(ServerBusy, match="no Lean server had a free"):
        fleet.lease(timeout=0.1)
    assert all(server.breaker.failures == 0 for server in fleet.servers)


def test_a_dead_server_rests_and_the_others_give_the_leases(serve: Serve, dead: Dead) -> None:
    fleet = LeanFleet([dead(), f"127.0.0.1:{serve().port}"])
    fleet.servers[0].breaker = CircuitBreaker(Clock())  # its rest never ends
    for _ in range(6):
        with fleet.lease() as session:
            assert session.start(THEOREM) and session.address == fleet.servers[1].address
    gone = fleet.servers[0]
    if not gone.breaker.failures:  # chance may have spared it
        with pytest.raises(ServerUnavailable):
            gone.lease()
    with pytest.raises(ServerUnavailable, match=r"left alone for \d+ s after: .* refused"):
        gone.lease()


def test_no_server_at_all_is_an_error_at_once(dead: Dead) -> None:
    with pytest.raises(ServerUnavailable, match="refused"):
        LeanFleet([dead(), dead()]).lease(timeout=600)


def test_a_server_that_comes_back_is_used_again() -> None:
    away = True
    server = UpstreamServer(lambda path, _: (500, {"error": "not now"}) if away else (200, {"process_id": 1}))
    (member,) = LeanFleet([server.address]).servers
    clock = Clock()
    member.breaker = CircuitBreaker(clock)
    with pytest.raises(ServerUnavailable, match="not now"):
        member.lease()
    away = False
    with pytest.raises(ServerUnavailable, match="left alone"):
        member.lease()
    clock.now += 100
    member.lease().close()
    assert member.breaker.failures == 0
    server.close()


def test_nothing_is_returned_to_a_server_whose_leases_are_forgotten(caplog: pytest.LogCaptureFixture) -> None:
    asked: list[str] = []
    server = UpstreamServer(lambda path, _: (asked.append(path), (200, {"process_id": len(asked)}))[1])
    (member,) = LeanFleet([server.address]).servers
    sessions = [member.lease() for _ in range(2)]
    forget_leases_of(server.address)
    server.close()
    with caplog.at_level("INFO"):
        for session in sessions:
            session.close()
    assert member.client.leases == 0 and not any("return" in path for path in asked) and not caplog.records


def test_a_return_that_was_under_way_when_the_server_ended_is_not_told(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = UpstreamServer(lambda path, _: (200, {"process_id": 1}))
    (member,) = LeanFleet([server.address]).servers
    session = member.lease()

    def end(*_: object, **__: object) -> None:
        forget_leases_of(server.address)
        raise ServerUnavailable("Connection refused")

    monkeypatch.setattr(Transport, "post", end)
    with caplog.at_level("INFO"):
        session.close()
    server.close()
    assert member.client.leases == 0 and not caplog.records


def test_rests_grow_to_a_limit_and_one_caller_at_a_time_tries_the_server() -> None:
    clock = Clock()
    breaker = CircuitBreaker(clock)
    rests: list[float] = []
    for _ in range(12):
        assert breaker.allows_request() and (not rests or not breaker.allows_request())
        breaker.record_failure("gone")
        rests.append(breaker.rest_seconds)
        assert not breaker.allows_request()
        clock.now += rests[-1]
    assert 0.75 <= rests[0] <= 1.25 and 45 <= rests[-1] <= 75 and rests[3] > 2 * rests[1]
    assert breaker.allows_request()
    breaker.record_success()
    assert breaker.allows_request() and breaker.allows_request()


def test_a_server_may_be_gone_for_days() -> None:
    clock = Clock()
    breaker = CircuitBreaker(clock)
    for _ in range(2000):
        assert breaker.allows_request()
        breaker.record_failure("gone")
        rest = breaker.rest_seconds
        clock.now += rest
    assert 45 <= rest <= 75 and breaker.failures == 2000


def test_callers_that_fail_together_count_as_one_failure() -> None:
    breaker = CircuitBreaker(Clock())
    assert all(breaker.allows_request() for _ in range(32))
    for _ in range(32):
        breaker.record_failure("gone")
    assert breaker.failures == 1


def test_a_trial_whose_caller_never_reports_does_not_shut_the_server_out_for_good() -> None:
    clock = Clock()
    breaker = CircuitBreaker(clock)
    breaker.record_failure("gone")
    clock.now += 10
    assert breaker.allows_request()
    clock.now += 61
    assert breaker.allows_request()


@pytest.mark.nightly
def test_the_status_of_all_servers_comes_in_one_call_dead_ones_too(serve: Serve, dead: Dead) -> None:
    addresses = [f"127.0.0.1:{serve(max_processes=2).port}", dead(), f"127.0.0.1:{serve(max_processes=3).port}"]
    fleet = LeanFleet(addresses)
    with fleet.servers[2].lease():
        reports = fleet.statuses()
    assert [report.address for report in reports] == addresses
    assert [report.status and report.status["max_processes"] for report in reports] == [2, None, 3]
    assert [report.leases for report in reports] == [0, 0, 1]
    assert "refused" in reports[1].error and reports[1].rest_seconds > 0
    with pytest.raises(ServerUnavailable, match=addresses[1]):
        fleet.check()


def test_a_server_named_twice_is_one_server() -> None:
    assert [server.address for server in LeanFleet(["a", "a:8000", "http://a:8000/", "b"]).servers] == [
        "a:8000",
        "b:8000",
    ]
