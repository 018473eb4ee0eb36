"""Tactics per second through client and server when Lean itself costs nothing.

    python -m benchmarks.lean_server [--threads 64] [--seconds 5] [--crowd 256] [--json PATH]

The server runs in a process of its own, with objects in place of Lean processes that answer at once. "ours" is the
client's batch call of six tactics on kept-alive connections; the baseline posts each tactic on its own over a new
connection, as LeanTree's clients do. Both are measured in turns, in the same run. `crowd` threads then do the same with
our client, and any connection that is reset is counted.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import requests
from flask import Response, request

from benchmarks.measurement import compared, in_threads, plain_parser, result, write_results
from nanoproof.common.web.http_server import HttpServer, bind
from nanoproof.lean.client import LeanServerClient
from nanoproof.lean.server.app import create_app
from nanoproof.lean.server.backend import Backend, ServerSettings
from nanoproof.lean.server.pool import Pool
from nanoproof.lean.server.repl_process import ReplProcess
from nanoproof.lean.types import LeanError, TacticApplied, Theorem

THEOREM = Theorem("theorem t (p q : Prop) (hp : p) (hq : q) : p ∧ q := by\n  sorry")
GOAL = "p q : Prop\nhp : p\nhq : q\n⊢ p ∧ q"
SPLIT = ["case left\np q : Prop\nhp : p\nhq : q\n⊢ p", "case right\np q : Prop\nhp : p\nhq : q\n⊢ q"]
TACTICS = ["constructor", "exact ⟨hp, hq⟩", "exact hp", "intro x", "rfl", "assumption"]
CALL_SECONDS = 60.0


class FreeProcess(ReplProcess):
    """Answers every request at once."""

    def __init__(self) -> None:
        self._closed = False
        self.uses = 0

    @property
    def pid(self) -> int:
        return os.getpid()

    @property
    def alive(self) -> bool:
        return True

    def request(self, message: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        if "tactic" in message:
            return {"proofState": 1, "goals": SPLIT, "proofStatus": "Incomplete: open goals remain"}
        return {"env": 0, "sorries": [{"proofState": 0, "goal": GOAL}]}

    def resident_bytes(self) -> int:
        return 0

    def kill(self) -> None:
        pass

    def close(self) -> None:
        pass


class FreeBackend(Backend):
    """Starts processes that cost nothing."""

    def spawn(self) -> FreeProcess:
        return FreeProcess()


@contextmanager
def serving(settings: ServerSettings, backend: Backend) -> Iterator[tuple[str, Pool]]:
    """Run our Lean server over some kind of processes inside of this one; yields its address and its pool.

    It is entered when all processes are ready (`warmup`): their start is no part of what is measured.
    """
    pool, listener = Pool(settings, backend), bind(settings)
    pool.start()
    server = HttpServer(create_app(settings, pool), settings, listener)
    threading.Thread(target=server.run, daemon=True).start()
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}", pool
    finally:
        pool.close()
        server.close()


def serve(processes: int) -> None:
    """Serve on a free port, which is printed, until standard input closes."""
    settings = ServerSettings(port=0, max_processes=processes, warmup=True, spares=0)
    pool = Pool(settings, FreeBackend(command=(), can_prune=True))
    listener = bind(settings)
    pool.start()
    app = create_app(settings, pool)
    server = HttpServer(app, settings, listener)
    # A connection has a port of its own at the client's side: as many ports, as many connections. A kept-alive
    # connection that the server resets shows as one more.
    ports: set[str] = set()
    app.before_request(lambda: ports.add(request.environ["REMOTE_PORT"]))
    app.add_url_rule("/accepted", "accepted", lambda: Response(json.dumps(len(ports))))

    def stop_at_end_of_input() -> None:
        sys.stdin.read()
        server.stop()

    threading.Thread(target=stop_at_end_of_input, daemon=True).start()
    print(listener.getsockname()[1], flush=True)
    server.run()
    pool.close()


@dataclass
class Load:
    """The work of some threads: the time of every call, and the numbers of tactics and failures."""

    seconds: float = 0.0
    tactics: int = 0
    connections: int = 0
    errors: list[str] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Tactics per second."""
        return self.tactics / self.seconds

    def summary(self) -> dict[str, Any]:
        """Return the figures to print."""
        cuts = statistics.quantiles(self.latencies, n=100)
        return {
            "tactics_per_second": round(self.rate),
            "p50_ms": round(1000 * cuts[49], 1),
            "p99_ms": round(1000 * cuts[98], 1),
            "connections": self.connections,
            "calls": len(self.latencies),
            "errors": len(self.errors),
        }


Call = Callable[[], Any]


def run_threads(
    load: Load, address: str, threads: int, seconds: float, worker: Callable[[Callable[[Call], None]], None]
) -> None:
    """Let threads run `worker(loop)`; `loop(call)` calls until the time is up, which begins when all are ready."""
    ready = threading.Barrier(threads + 1)
    deadline = [0.0]

    def loop(call: Call) -> None:
        # Twice: all threads have their process and their theorem, and then the main thread has set the deadline.
        ready.wait(CALL_SECONDS)
        ready.wait(CALL_SECONDS)
        times, count = [], 0
        began = time.perf_counter()
        while began < deadline[0]:
            count += call()
            ended = time.perf_counter()
            times.append(ended - began)
            began = ended
        # At the end and not in each round, where the threads would wait for each other.
        load.latencies.extend(times)
        load.tactics += count

    def guarded() -> None:
        try:
            worker(loop)
        except (LeanError, requests.RequestException, threading.BrokenBarrierError) as error:
            load.errors.append(str(error))
            ready.abort()

    before = accepted(address)

    def begin() -> None:
        ready.wait(CALL_SECONDS)
        deadline[0] = time.perf_counter() + seconds
        ready.wait(CALL_SECONDS)

    in_threads([guarded] * threads, meanwhile=begin)
    # Calls that were under way at the deadline count, and so does their time.
    load.seconds += time.perf_counter() - (deadline[0] - seconds)
    load.connections += accepted(address) - before - 1  # but for that of this question


def accepted(address: str) -> int:
    """Return how many connections requests have come on so far."""
    return int(requests.get(f"http://{address}/accepted", timeout=CALL_SECONDS).json())


def measure_ours(load: Load, address: str, threads: int, seconds: float, tactics: list[str]) -> None:
    """Measure our client: one call for all the tactics."""
    client = LeanServerClient(address)

    def worker(loop: Callable[[Call], None]) -> None:
        with client.lease() as session:
            branch = session.start(THEOREM)

            def call() -> int:
                results = session.apply(branch, tactics)
                assert all(isinstance(result, TacticApplied) for result in results)
                return len(results)

            loop(call)

    run_threads(load, address, threads, seconds, worker)


def measure_plain(load: Load, address: str, threads: int, seconds: float) -> None:
    """Measure the plain way: a new connection and a call for each tactic."""
    # As LeanTree's clients do it, over the same server: what differs is the client and the form of the question.
    base = f"http://{address}/process"

    def worker(loop: Callable[[Call], None]) -> None:
        process = requests.post(f"{base}/get", json={}, timeout=CALL_SECONDS).json()["process_id"]
        source = {"theorem_with_sorry": THEOREM.source}
        started = requests.post(f"{base}/{process}/proof_from_sorry", json=source, timeout=CALL_SECONDS).json()
        url = f"{base}/{process}/proof/{started['value']['proof_state_id']}/try_apply_tactic"

        def call() -> int:
            answer = requests.post(url, json={"tactic": "constructor"}, timeout=CALL_SECONDS).json()
            assert len(answer["value"]) == 2
            return 1

        loop(call)
        requests.post(f"{base}/{process}/return", json={}, timeout=CALL_SECONDS)

    run_threads(load, address, threads, seconds, worker)


def measure(address: str, threads: int, seconds: float, crowd: int) -> dict[str, Load]:
    """Measure all loads, ours and the plain one in turns."""
    loads = {name: Load() for name in ("ours", "one tactic per call", "plain", f"{crowd} threads")}
    # In turns, in two halves each: other load then meets both of what the ratio is made of.
    for _ in range(2):
        measure_ours(loads["ours"], address, threads, seconds / 2, TACTICS)
        measure_plain(loads["plain"], address, threads, seconds / 2)
    # What of the ratio is the batch, and what the kept-alive connection.
    measure_ours(loads["one tactic per call"], address, threads, seconds, TACTICS[:1])
    measure_ours(loads[f"{crowd} threads"], address, crowd, seconds, TACTICS)
    return loads


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark and write its results."""
    parser = plain_parser(__doc__)
    parser.add_argument("--threads", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=5.0, help="how long each load lasts")
    parser.add_argument("--crowd", type=int, default=256, help="threads of the last load")
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.serve:
        serve(args.serve)
        return 0
    # In a process of its own: the client's threads would take the interpreter's lock from it.
    command = [sys.executable, "-m", "benchmarks.lean_server", "--serve", str(max(args.threads, args.crowd))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as server:
        assert server.stdin is not None and server.stdout is not None
        address = f"127.0.0.1:{server.stdout.readline().strip()}"
        loads = measure(address, args.threads, args.seconds, args.crowd)
        server.stdin.close()
    ours, baseline = loads["ours"].rate, loads["plain"].rate
    summaries = {name: load.summary() for name, load in loads.items()}
    name = f"tactics through client and server, {args.threads} threads"
    outcome = result(name, "tactics/s", round(ours), round(baseline), round(ours / baseline, 2), summaries)
    print(compared(outcome))
    for name, summary in summaries.items():
        print(f"  {name}: {summary}", *sorted(set(loads[name].errors))[:3], sep="\n    ")
    write_results(args.json, outcome)
    return int(any(load.errors for load in loads.values()))


if __name__ == "__main__":
    sys.exit(main())
