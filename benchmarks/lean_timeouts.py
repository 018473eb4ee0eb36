"""Tactics per second where some never end: stopped in their processes, against processes killed.

    python -m benchmarks.lean_timeouts [--seconds 120] [--processes 8] [--json PATH]

Server, HTTP and client are real; the REPLs sleep (`sleeping_repl.py`): 6 seconds for an import, 50 ms for a tactic, and
one tactic of 50 has no end. The baseline is a REPL that knows no limit, so that a tactic that overruns its 5 seconds
costs its process, as it was with the official REPL. "ours" is one in which Lean stops it, "fork" one that heeds a
`timeout`. All three get the same tactics and the same number of processes, one after the other in the same run. With
`--spares` more processes stand by, which helps only those that are killed.
"""

import argparse
import json
import os
import platform
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nanoproof.common.web.http_server import HttpServer, bind
from nanoproof.lean.client import ClientConfig, LeanServerClient
from nanoproof.lean.server.app import create_app
from nanoproof.lean.server.backend import Backend, ServerSettings
from nanoproof.lean.server.pool import Pool
from nanoproof.lean.types import TacticFailed, Theorem

STAND_IN = Path(__file__).with_name("sleeping_repl.py")
THEOREM = Theorem("theorem t (p q : Prop) (hp : p) (hq : q) : p ∧ q := by\n  sorry")
KINDS: dict[str, tuple[str, ...]] = {"killing": (), "lean": ("lean",), "fork": ("repl",)}


@dataclass
class Load:
    """The work of the clients of one server."""

    done: list[Counter[str]] = field(default_factory=list)
    """The outcomes of each client."""
    restarts: dict[str, int] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        """Tactics per second, those that were stopped included."""
        return sum(outcomes.total() for outcomes in self.done) / self.seconds

    def summary(self) -> dict[str, Any]:
        """Return the figures to print."""
        return {
            "tactics_per_second": round(self.rate, 1),
            **sum(self.done, Counter[str]()),
            "restarts": sum(self.restarts.values()),
            "errors": len(self.errors),
        }


def choose_endless(share: float, seed: int) -> Iterator[bool]:
    """Choose the tactics that do not end: one of every `1 / share`, at a random place among them."""
    rng, block = random.Random(seed), round(1 / share)
    while True:
        place = rng.randrange(block)
        yield from (position == place for position in range(block))


def work(client: LeanServerClient, seed: int, args: argparse.Namespace, deadline: float, load: Load) -> None:
    """Run one client: tactics on one state until the time is up; what ends later does not count."""
    outcomes = Counter[str]()
    try:
        with client.lease() as session:
            branch = session.start(THEOREM)
            for is_endless in choose_endless(args.endless, seed):
                if time.monotonic() >= deadline:
                    break
                (result,) = session.apply(branch, ["endless" if is_endless else "work"])
                outcome = result.kind if isinstance(result, TacticFailed) else "applied"
                assert (outcome == "timeout") == is_endless, result
                outcomes[outcome] += time.monotonic() < deadline
    except Exception as error:  # a thread has nobody to tell
        load.errors.append(f"{type(error).__name__}: {error}")
    load.done.append(outcomes)


def measure(limits: tuple[str, ...], args: argparse.Namespace) -> Load:
    """Measure a server over such processes, with as many clients as it has processes."""
    command = (sys.executable, "-S", str(STAND_IN), str(args.import_seconds), str(args.tactic_ms / 1000), *limits)
    settings = ServerSettings(port=0, max_processes=args.processes, spares=args.spares, warmup=True)
    backend = Backend(command, imports=("Mathlib",), soft_limits=True, grace_seconds=settings.grace_seconds)
    pool, listener = Pool(settings, backend), bind(settings)
    pool.start()
    server = HttpServer(create_app(settings, pool), settings, listener)
    threading.Thread(target=server.run, daemon=True).start()
    load = Load(seconds=args.seconds)
    try:
        config = ClientConfig(tactic_seconds=args.deadline)
        client = LeanServerClient(f"127.0.0.1:{listener.getsockname()[1]}", config=config)
        deadline = time.monotonic() + args.seconds
        threads = [
            threading.Thread(target=work, args=(client, seed, args, deadline, load)) for seed in range(args.processes)
        ]
        for thread in threads:
            thread.start()
        time.sleep(max(0.0, deadline - time.monotonic()))
        samples = [sample for family in pool.metrics.ends.collect() for sample in family.samples]
        load.restarts = {
            reason: int(sample.value)
            for sample in samples
            if sample.name.endswith("_total")
            for reason in sample.labels.values()
        }
        for thread in threads:
            thread.join()
    finally:
        pool.close()
        server.stop()
    return load


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark and write its results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--spares", type=int, default=0, help="processes that stand by for those that are killed")
    parser.add_argument("--seconds", type=float, default=120.0, help="for each kind of process")
    parser.add_argument("--import-seconds", type=float, default=6.0)
    parser.add_argument("--tactic-ms", type=float, default=50.0)
    parser.add_argument("--endless", type=float, default=0.02, help="share of the tactics without an end")
    parser.add_argument("--deadline", type=float, default=5.0, help="seconds that a tactic may take")
    parser.add_argument("--json", type=Path, help="write the result to this file")
    args = parser.parse_args(argv)
    loads = {}
    for kind, limits in KINDS.items():
        loads[kind] = measure(limits, args)
        print(f"{kind}: {loads[kind].summary()}", flush=True)
        for error in loads[kind].errors[:1]:
            print(f"  {error}", file=sys.stderr)
    ours, baseline = loads["lean"], loads["killing"]
    result = {
        "name": "tactics beside some that never end",
        "ratio": round(ours.rate / baseline.rate, 2),
        "ours": round(ours.rate, 1),
        "baseline": round(baseline.rate, 1),
        "unit": "tactics/s",
        "hardware": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "details": {**{kind: load.summary() for kind, load in loads.items()}, **vars(args), "json": str(args.json)},
    }
    print(f"{result['name']}: {result['ours']} against {result['baseline']} tactics/s, {result['ratio']}x")
    if args.json is not None:
        args.json.write_text(json.dumps(result, indent=2) + "\n")
    return 1 if any(load.errors for load in loads.values()) else 0


if __name__ == "__main__":
    main()
