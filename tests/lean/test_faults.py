"""Clients against servers that fail in every way: each call ends in the right outcome, and nothing is left behind."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from nanoproof.lean.client import ClientConfig, LeanFleet, LeanServerClient
from nanoproof.lean.server.backend import Backend
from nanoproof.lean.types import (
    Branch,
    LeanError,
    ProtocolError,
    ServerUnavailable,
    TacticApplied,
    TacticFailed,
    TheoremRejected,
)
from tests.fakes.chaos_proxy import FAULTS, LIES, ChaosProxy
from tests.fakes.leantree_server import LeanTreeServer
from tests.helpers import NIGHTLY, end, is_gone, wait_for
from tests.lean.conftest import EXISTS_THEOREM, LEFT, RIGHT, SCRIPT, THEOREM, Serve, start_server

CALLS = 500 * NIGHTLY
"""How many tactic calls the long test makes."""
THREADS = 32
DEADLINE = 60.0 + CALLS / 50
EXPECTED: dict[str, Any] = {
    "constructor": [LEFT, RIGHT],
    "trivial": [],
    "nonsense": "rejected",
    "mvar": "rejected",
    "exact?": "banned",
    "hang": "timeout",
    "crash": "timeout",
}
WEIGHTS = (300, 300, 300, 50, 50, 2, 4)
CONFIG = ClientConfig(tactic_seconds=3.0, command_seconds=10.0, connect_seconds=5.0, slack_seconds=3.0)
GENTLE = ("reset", "empty", "429")


def outcome(result: TacticApplied | TacticFailed) -> Any:
    """A result in the terms of EXPECTED, however the server groups the goals."""
    if isinstance(result, TacticFailed):
        return result.kind
    return [str(goal) for branch in result.branches for goal in branch.state.goals]


class Workers:
    """Threads that lease, prove and complain until they have made `calls` tactic calls between them."""

    def __init__(self, addresses: list[str], calls: int) -> None:
        self.clients = [LeanServerClient(address, config=CONFIG) for address in addresses]
        self.left = calls
        self.lock = threading.Lock()
        self.wrong: list[Any] = []
        self.errors: Counter[str] = Counter()
        self.outcomes: Counter[str] = Counter()
        self.threads = [threading.Thread(target=self._work, args=(seed,), name="worker") for seed in range(THREADS)]

    def run(self) -> None:
        for thread in self.threads:
            thread.start()
        deadline = time.monotonic() + DEADLINE
        for thread in self.threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        hanging = sum(thread.is_alive() for thread in self.threads)
        assert not hanging, f"{hanging} threads hang; errors {self.errors}, outcomes {self.outcomes}"

    def _work(self, seed: int) -> None:
        rng = random.Random(seed)
        while self.left > 0:
            try:
                with rng.choice(self.clients).lease(timeout=20.0) as session:
                    branch = session.start(THEOREM)
                    for _ in range(10):
                        tactics = rng.choices(list(EXPECTED), WEIGHTS, k=rng.randint(1, 4))
                        self._judge(tactics, session.apply(branch, tactics))
            except TheoremRejected as error:
                self.wrong.append(error)
            except LeanError as error:
                self.errors[type(error).__name__] += 1
            except BaseException as error:
                self.wrong.append(error)
                raise

    def _judge(self, tactics: list[str], results: list[TacticApplied | TacticFailed]) -> None:
        for tactic, result in zip(tactics, results, strict=True):
            found = outcome(result)
            # A process that is killed from outside twice while it runs a tactic cannot be told from a crash.
            unlucky = isinstance(result, TacticFailed) and "twice" in result.message
            if found != EXPECTED[tactic] and not unlucky:
                self.wrong.append((tactic, result))
        with self.lock:
            self.left -= len(tactics)
            self.outcomes.update(str(outcome(result))[:9] for result in results)


class Chaos:
    """Until it is stopped: shuts doors for a moment, and kills Lean processes with signal 9."""

    def __init__(self, proxies: list[ChaosProxy], pids: Callable[[], list[int]]) -> None:
        self.kills = 0
        self._proxies, self._pids = proxies, pids
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="chaos-maker")

    def __enter__(self) -> "Chaos":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(DEADLINE)

    def _work(self) -> None:
        rng = random.Random(0)
        while not self._stop.wait(1.0):
            proxy = rng.choice(self._proxies)
            # LeanTree's server never hears that a caller left, and would keep a lease for it for ever.
            proxy.close_door(cut=proxy is self._proxies[0])
            self._stop.wait(0.2)
            proxy.open_door()
            with suppress(ProcessLookupError, IndexError):
                os.kill(rng.choice(self._pids()), signal.SIGKILL)
                self.kills += 1


def random_fault(seed: int, upstream: bool) -> Callable[[str], str | None]:
    """A fault in 6 requests of 100, few of them slow. A lease whose id was lost never comes back `upstream`."""
    rng, lock = random.Random(seed), threading.Lock()

    def fault(path: str) -> str | None:
        with lock:
            if path == "/status" or rng.random() > 0.06:
                return None
            faults = FAULTS if "/proof" in path or not upstream else GENTLE
            name = rng.choice(faults)
            return name if not name.startswith("stall") or rng.random() < 0.1 else "reset"

    return fault


def test_hundreds_of_calls_end_in_the_right_outcome(
    tmp_path: Path, scripted: Callable[[dict[str, Any]], tuple[str, ...]]
) -> None:
    command = scripted({**SCRIPT, "heeds": True})[:-1]  # without a log, which would only grow
    with ExitStack() as stack:
        ours = stack.enter_context(
            start_server(
                Backend(command, start_seconds=30.0, can_prune=True), max_processes=6, lease_seconds=6.0, local=False
            )
        )
        upstream = LeanTreeServer(command, tmp_path / "unpickled", max_processes=4)
        stack.callback(upstream.close)
        direct = LeanServerClient(f"127.0.0.1:{ours.port}")
        with direct.lease() as session:
            session.start(THEOREM)
        threads = threading.active_count()
        proxies = [
            ChaosProxy(direct.address, random_fault(1, upstream=False)),
            ChaosProxy(upstream.address, random_fault(2, upstream=True)),
        ]
        workers = Workers([proxy.address for proxy in proxies], CALLS)
        with Chaos(proxies, lambda: [*used_pids(direct), *upstream.pids()]) as chaos:
            workers.run()
        assert not workers.wrong, workers.wrong[:5]
        assert workers.left <= 0 and chaos.kills > 0
        assert set(workers.outcomes) == {"['case le", "[]", "rejected", "banned", "timeout"}
        assert all(sum(proxy.counts[fault] for fault in FAULTS) > CALLS // 200 for proxy in proxies)
        wait_for(lambda: not direct.status()["used_processes"], "our lease to end")
        wait_for(lambda: not upstream.status()["used_processes"], "the lease of the LeanTree server to end")
        for proxy in proxies:
            proxy.close()
        wait_for(lambda: threading.active_count() <= threads, "threads to end")
        assert not (tmp_path / "unpickled").exists()


def used_pids(client: LeanServerClient) -> list[int]:
    return [process["pid"] for process in client.status()["processes"] if process["state"] == "used"]


class Once:
    """The fault for the first tactic call (or for all of them), none for anything else."""

    def __init__(self, fault: str, always: bool = False) -> None:
        self.fault, self.always, self.active = fault, always, True

    def __call__(self, path: str) -> str | None:
        if "try_apply" not in path or not self.active:
            return None
        self.active = self.always
        return self.fault


@pytest.fixture
def proxied(serve: Serve) -> Iterator[Callable[[Callable[[str], str | None]], ChaosProxy]]:
    """A proxy with the fault in front of a scripted server of ours."""
    with ExitStack() as stack:

        def start(fault: Callable[[str], str | None]) -> ChaosProxy:
            proxy = ChaosProxy(f"127.0.0.1:{serve(local=False).port}", fault)
            stack.callback(proxy.close)
            return proxy

        yield start


Proxied = Callable[[Callable[[str], str | None]], ChaosProxy]


@pytest.mark.parametrize("fault", FAULTS)
def test_one_fault_is_overcome_or_an_error_but_never_a_refusal(proxied: Proxied, fault: str) -> None:
    config = ClientConfig(tactic_seconds=2.0, slack_seconds=2.0)
    with LeanServerClient(proxied(Once(fault)).address, config=config).lease() as session:
        branch = session.start(THEOREM)
        try:
            (result,) = session.apply(branch, ["trivial"])
        except LeanError as error:
            assert "\n" not in str(error)
            (result,) = session.apply(branch, ["trivial"])
        assert result == TacticApplied(())


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_that_stays_is_an_error_in_the_end(proxied: Proxied, fault: str) -> None:
    config = ClientConfig(tactic_seconds=0.2, slack_seconds=2.0)
    with LeanServerClient(proxied(Once(fault, always=True)).address, config=config).lease() as session:
        branch = session.start(THEOREM)
        with pytest.raises(LeanError) as caught:
            session.apply(branch, ["trivial"])
        assert not isinstance(caught.value, TheoremRejected)


def test_a_refused_connection_is_no_refused_tactic(proxied: Proxied) -> None:
    proxy = proxied(lambda _: None)
    with LeanServerClient(proxy.address).lease() as session:
        branch = session.start(THEOREM)
        proxy.close_door()
        with pytest.raises(ServerUnavailable, match="refused"):
            session.apply(branch, ["nonsense"])
        proxy.open_door()
        assert outcome(session.apply(branch, ["nonsense"])[0]) == "rejected"


@pytest.mark.parametrize("lie", range(len(LIES)))
def test_a_status_full_of_lies_is_an_error_or_is_not_believed(proxied: Proxied, lie: int) -> None:
    proxy = proxied(lambda path: "lie" if path == "/status" else None)
    proxy.counts["lie"] = lie - 1
    client = LeanServerClient(proxy.address)
    with suppress(ProtocolError):
        client.status()
    with suppress(ServerUnavailable):
        LeanFleet([proxy.address]).check()
    with client.lease() as session:
        assert session.apply(session.start(THEOREM), ["trivial"]) == [TacticApplied(())]


def start_program(port: int = 0, *flags: str) -> tuple[subprocess.Popen[str], LeanServerClient]:
    """A server of its own process, with NanoLean."""
    command = [sys.executable, "-m", "nanoproof.lean.server", "--backend", "nanolean", "--port", str(port), "--warmup"]
    program = subprocess.Popen([*command, *flags], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert program.stdout is not None
    address = program.stdout.readline().split()[-1].removeprefix("http://")
    return program, LeanServerClient(address, config=ClientConfig(slack_seconds=5.0))


def closes(session: Any, branch: Branch) -> bool:
    return bool(session.apply(branch, ["exact ⟨hp, hq⟩"]) == [TacticApplied(())])


@pytest.mark.nightly
def test_a_server_that_is_killed_leaves_nothing_and_its_successor_goes_on() -> None:
    program, client = start_program()
    with client.lease() as session:
        branch = session.start(THEOREM)
        pids = [process["pid"] for process in client.status()["processes"]]
        end(program)
        with pytest.raises(ServerUnavailable):
            session.apply(branch, ["exact ⟨hp, hq⟩"])
        wait_for(lambda: all(map(is_gone, pids)), "the Lean processes of a server that is gone to end")
        port = int(client.address.rsplit(":", 1)[1])
        program, other = start_program(port)
        try:
            with other.lease() as foreign:
                theirs = foreign.start(EXISTS_THEOREM)
                assert closes(session, branch), "the new server took the old lease for somebody else's"
                assert isinstance(foreign.apply(theirs, ["apply Exists.intro"])[0], TacticApplied)
        finally:
            session.close()
            end(program)


@pytest.mark.nightly
def test_a_client_that_is_killed_loses_its_lease() -> None:
    program, client = start_program(0, "--lease-seconds", "1", "--max-processes", "1")
    code = (
        "import sys, time; from nanoproof.lean.client import LeanServerClient; "
        "session = LeanServerClient(sys.argv[1]).lease(); print('leased', flush=True); time.sleep(600)"
    )
    holder = subprocess.Popen([sys.executable, "-c", code, client.address], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None and holder.stdout.readline() == "leased\n"
        assert client.status()["used_processes"] == 1
        end(holder)
        with client.lease(timeout=DEADLINE) as session:
            assert closes(session, session.start(THEOREM))
    finally:
        end(program)


def test_a_lease_is_returned_when_its_thread_ends_without_closing_it(serve: Serve) -> None:
    client, sessions = serve(max_processes=1, local=False).client(), []
    thread = threading.Thread(target=lambda: sessions.append(client.lease()))
    thread.start()
    thread.join(DEADLINE)
    assert len(sessions) == 1
    wait_for(lambda: not client.status()["used_processes"], "the lease of a dead thread to end")
