"""Tactics per second where some never end: stopped in their processes, against processes killed.

    python -m benchmarks.lean_timeouts [--seconds 120] [--processes 8] [--json PATH]

Server, HTTP and client are real; the REPLs sleep (`sleeping_repl.py`): 6 seconds for an import, 50 ms for a tactic, and
one tactic of 50 has no end. The baseline is a REPL that knows no limit, so that a tactic that overruns its 5 seconds
costs its process, as it was with the official REPL. "ours" is one in which Lean stops it, "fork" one that heeds a
`timeout`. All three get the same tactics and the same number of processes, one after the other in the same run. With
`--spares` more processes stand by, which helps only those that are killed.
"""

import argparse
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.lean_server import THEOREM, serving
from benchmarks.measurement import compared, in_threads, plain_parser, result, write_results
from nanoproof.lean.client import ClientConfig, LeanServerClient
from nanoproof.lean.server.backend import Backend, ServerSettings
from nanoproof.lean.server.pool import Pool
from nanoproof.lean.types import TacticFailed

STAND_IN = Path(__file__).with_name("sleeping_repl.py")
TACTICS = {False: "work", True: "endless"}
START_SECONDS = 60.0
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
    # In blocks: with one draw for each tactic, a kind of process could be lucky, and 5 seconds are a hundred tactics.
    rng, block = random.Random(seed), round(1 / share)
    while True:
        place = rng.randrange(block)
        for position in range(block):
            yield position == place


def work(client: LeanServerClient, seed: int, args: argparse.Namespace, ready: threading.Barrier, load: Load) -> None:
    """Run one client: tactics on one state until the time is up; what ends later does not count."""
    outcomes = Counter[str]()
    try:
        with client.lease() as session:
            branch = session.start(THEOREM)
            ready.wait(START_SECONDS)
            deadline = time.monotonic() + args.seconds
            for is_endless in choose_endless(args.endless, seed):
                if time.monotonic() >= deadline:
                    break
                (answer,) = session.apply(branch, [TACTICS[is_endless]])
                outcome = answer.kind if isinstance(answer, TacticFailed) else "applied"
                # A process that was killed must not pass for a tactic that was refused.
                assert (outcome == "timeout") == is_endless, answer
                outcomes[outcome] += time.monotonic() < deadline
    except Exception as error:  # a thread has nobody to tell
        load.errors.append(f"{type(error).__name__}: {error}")
    load.done.append(outcomes)


def measure(limits: tuple[str, ...], args: argparse.Namespace) -> Load:
    """Measure a server over such processes, with as many clients as it has processes."""
    # -S, as a start is to take as long as the import that is played, and Python's own would come on top.
    command = (sys.executable, "-S", str(STAND_IN), str(args.import_seconds), str(args.tactic_ms / 1000), *limits)
    settings = ServerSettings(port=0, max_processes=args.processes, spares=args.spares, warmup=True)
    backend = Backend(command, imports=("Mathlib",), soft_limits=True, grace_seconds=settings.grace_seconds)
    load = Load(seconds=args.seconds)
    with serving(settings, backend) as (address, pool):
        client = LeanServerClient(address, config=ClientConfig(tactic_seconds=args.deadline))
        ready = threading.Barrier(args.processes + 1)

        def count_restarts() -> None:
            ready.wait(START_SECONDS)
            time.sleep(args.seconds)
            # At the deadline: a tactic that is under way then may still cost a process, whose end nobody counts.
            load.restarts = restarts(pool)

        clients = [partial(work, client, seed, args, ready, load) for seed in range(args.processes)]
        in_threads(clients, meanwhile=count_restarts)
    return load


def restarts(pool: Pool) -> dict[str, int]:
    """Return how many processes ended, by reason."""
    counts = {}
    for family in pool.metrics.ends.collect():
        for sample in family.samples:
            if sample.name.endswith("_total"):
                (reason,) = sample.labels.values()
                counts[reason] = int(sample.value)
    return counts


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark and write its results."""
    parser = plain_parser(__doc__)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--spares", type=int, default=0, help="processes that stand by for those that are killed")
    parser.add_argument("--seconds", type=float, default=120.0, help="for each kind of process")
    parser.add_argument("--import-seconds", type=float, default=6.0)
    parser.add_argument("--tactic-ms", type=float, default=50.0)
    parser.add_argument("--endless", type=float, default=0.02, help="share of the tactics without an end")
    parser.add_argument("--deadline", type=float, default=5.0, help="seconds that a tactic may take")
    args = parser.parse_args(argv)
    loads = {}
    for kind, limits in KINDS.items():
        loads[kind] = measure(limits, args)
        print(f"{kind}: {loads[kind].summary()}", flush=True)
        for error in loads[kind].errors[:1]:
            print(f"  {error}", file=sys.stderr)
    ours, baseline = loads["lean"].rate, loads["killing"].rate
    details = {**{kind: load.summary() for kind, load in loads.items()}, **vars(args), "json": str(args.json)}
    name, ratio = "tactics beside some that never end", round(ours / baseline, 2)
    comparison = result(name, "tactics/s", round(ours, 1), round(baseline, 1), ratio, details)
    print(compared(comparison))
    write_results(args.json, comparison)
    return int(any(load.errors for load in loads.values()))


if __name__ == "__main__":
    sys.exit(main())
