"""Time to try six tactics on a state through the embedded Lean server, against one new connection per tactic.

    python -m benchmarks.lean_client [--batches 300] [--threads 2] [--json PATH]

"ours" is the client's batch call on a kept-alive connection; the baseline posts each tactic on its own, as LeanTree's
clients do. `overhead_ms` is what client, HTTP and server add to the prover's own time, measured on a bare process.
"""

import argparse
import json
import os
import platform
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import requests

from nanoproof.lean.client import LeanServerClient
from nanoproof.lean.embedded import start_embedded
from nanoproof.lean.server.repl_process import ReplProcess
from nanoproof.lean.types import Theorem

THEOREM = Theorem("theorem t (p q : Prop) (hp : p) (hq : q) : p ∧ q := by\n  sorry")
TACTICS = ["constructor", "exact ⟨hp, hq⟩", "exact hp", "intro x", "rfl", "assumption"]


def milliseconds(work: Callable[[], Any], repeats: int) -> float:
    """Mean time of one call, after one that does not count."""
    work()
    started = time.perf_counter()
    for _ in range(repeats):
        work()
    return 1000 * (time.perf_counter() - started) / repeats


def bare_process(batches: int) -> float:
    """Measure the prover's own time for a batch, without any server."""
    process = ReplProcess((sys.executable, "-m", "nanolean", "repl", "--json"))
    try:
        state = process.request({"cmd": THEOREM.source}, 60)["sorries"][0]["proofState"]
        return milliseconds(lambda: [process.request({"tactic": t, "proofState": state}, 60) for t in TACTICS], batches)
    finally:
        process.close()


def batch_calls(address: str, token: str, batches: int) -> float:
    """Time of a batch with our client."""
    with LeanServerClient(address, token).lease() as session:
        branch = session.start(THEOREM)
        return milliseconds(lambda: session.apply(branch, TACTICS), batches)


def single_calls(address: str, token: str, batches: int) -> float:
    """Time of a batch with a new connection for each tactic."""

    def post(path: str, body: Any) -> requests.Response:
        headers = {"Authorization": f"Bearer {token}"}
        return requests.post(f"http://{address}/process/{path}", json=body, headers=headers, timeout=60)

    process = post("get", {}).json()["process_id"]
    started = post(f"{process}/proof_from_sorry", {"theorem_with_sorry": THEOREM.source}).json()
    path = f"{process}/proof/{started['value']['proof_state_id']}/try_apply_tactic"
    try:
        return milliseconds(lambda: [post(path, {"tactic": t}) for t in TACTICS], batches)
    finally:
        post(f"{process}/return", {})


def in_threads(work: Callable[[], float], threads: int) -> float:
    """Mean over threads that all work at the same time."""
    times: list[float] = []
    workers = [threading.Thread(target=lambda: times.append(work())) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(times) / len(times)


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark and write its results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--batches", type=int, default=300)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", type=Path, help="write the result to this file")
    args = parser.parse_args(argv)
    bare = bare_process(args.batches)
    with start_embedded(args.threads) as servers:
        server = servers.addresses[0], servers.token
        alone = batch_calls(*server, args.batches)
        ours = in_threads(lambda: batch_calls(*server, args.batches), args.threads)
        baseline = in_threads(lambda: single_calls(*server, args.batches), args.threads)
    details = {
        "bare_process_ms": round(bare, 3),
        "one_thread_ms": round(alone, 3),
        "overhead_ms": round(alone - bare, 3),
    }
    result = {
        "name": "six tactics on a state",
        "ratio": round(baseline / ours, 2),
        "ours": round(ours, 3),
        "baseline": round(baseline, 3),
        "unit": "ms",
        "hardware": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "details": {**details, "batches": args.batches, "threads": args.threads},
    }
    print(f"{result['name']}: {result['ours']} ms against {result['baseline']} ms, {result['ratio']}x; {details}")
    if args.json is not None:
        args.json.write_text(json.dumps(result, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    main()
