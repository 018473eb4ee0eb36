"""Measure how many states per second one rank searches with threads and with prover processes.

    python -m benchmarks.prover_processes [--actors 64] [--seconds 20] [--processes 1 2] [--repeats 2] [--json PATH]

The policy and Lean cost nothing, so that what is left is the search, the records of attempts and how both ends talk:
64 actors as threads of the rank, then the same in 1 and in 2 processes beside it, in turns. Shown are states per
second, and the processor time of the rank itself for each state: what its interpreter loses for training.
"""

import argparse
import json
import os
import platform
import socket
import statistics
import sys
import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from benchmarks.rl_records import Slot
from nanoproof.actors.actor import ActorPool
from nanoproof.actors.pool import AttemptPool
from nanoproof.actors.processes import Lines, ProcessPool, work
from nanoproof.actors.remote import ProverSpec
from nanoproof.actors.tasks import Task
from nanoproof.lean.transport import ClientConfig
from nanoproof.lean.types import Theorem
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.prover import ProverOptions
from nanoproof.search.config import SearchConfig
from nanoproof.search.policy import Suggestion
from tests.fakes.world import RandomPolicy

HARDWARE = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
SIMULATIONS = 64
SPEC = ProverSpec(SearchConfig(), ProverOptions(keep_tree=False))
CHILD = "--child"


class FreePolicy:
    """Has few answers, made beforehand, and counts how often it is asked."""

    def __init__(self) -> None:
        drawn = RandomPolicy(0, 6)
        self._answers = [drawn.suggest(f"S{number}") for number in range(512)]
        self.asked = 0

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        self.asked += 1
        return self._answers[seed % len(self._answers)]


class Endless:
    """Always has a theorem, and counts simulations."""

    purpose: Any = "collect"

    def __init__(self) -> None:
        self.number = self.simulations = self.attempts = 0

    def next(self) -> Task:
        self.number += 1
        theorem = Theorem("theorem t : True := by sorry", "free", f"t{self.number}")
        return Task(theorem, SIMULATIONS, self.number, self.number)

    def finish(self, task: Task, attempt: Attempt) -> None:
        assert attempt.outcome == "unproven", attempt.message
        self.attempts += 1
        self.simulations += attempt.simulations

    def hand_over(self, task: Task) -> bool:
        return False


def child(descriptor: int) -> None:
    """Be a prover process whose Lean costs nothing."""
    lines = Lines(socket.socket(fileno=descriptor))
    for first in lines:
        slots: list[Any] = [Slot() for _ in first["slots"]]
        work(lines, slots, {"collect": SPEC, "evaluate": SPEC})
        break


def make_pool(policy: FreePolicy, actors: int, processes: int) -> AttemptPool:
    """Threads, or processes; both with as many actors."""
    if processes == 0:
        slots: list[Any] = [Slot() for _ in range(actors)]
        return ActorPool(slots, policy, lambda purpose, asked: SPEC.make(asked))
    far: Any = SimpleNamespace(address=Slot.address, client=SimpleNamespace(token=None, config=ClientConfig()))
    command = (sys.executable, "-m", "benchmarks.prover_processes", CHILD)
    specs: Any = {"collect": SPEC, "evaluate": SPEC}
    return ProcessPool([far] * actors, policy, specs, processes, command=command)


def measure(actors: int, processes: int, seconds: float) -> dict[str, float]:
    """States per second, and the rank's own processor seconds for a thousand of them, once all actors are at work."""
    policy, source = FreePolicy(), Endless()
    pool = make_pool(policy, actors, processes)
    try:
        pool.set_source(source)
        pool.wait(lambda: source.attempts >= 2 * actors)
        asked, attempts = policy.asked, source.attempts
        began, cpu = time.monotonic(), time.process_time()
        pool.wait(lambda: time.monotonic() - began >= seconds)
        wall, cpu = time.monotonic() - began, time.process_time() - cpu
        asked, attempts = policy.asked - asked, source.attempts - attempts
    finally:
        pool.stop()
        pool.join()
    return {"states": asked / wall, "attempts": attempts / wall, "rank_ms": 1000 * cpu / max(1, asked)}


def main(argv: Sequence[str] | None = None) -> None:
    """Measure each number of processes in turns, and print medians."""
    words = sys.argv[1:] if argv is None else list(argv)
    if words[:1] == [CHILD]:
        child(int(words[1]))
        return
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--actors", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--json")
    args = parser.parse_args(words)
    found: dict[int, list[dict[str, float]]] = {count: [] for count in (0, *args.processes)}
    for _ in range(args.repeats):
        for count, measured in found.items():
            measured.append(measure(args.actors, count, args.seconds))
    medians = {
        count: {name: statistics.median(one[name] for one in measured) for name in measured[0]}
        for count, measured in found.items()
    }
    threads, records = medians[0], []
    for count, one in medians.items():
        label = f"{count} processes" if count else "threads"
        print(
            f"{label:12} {one['states']:8.0f} states/s {one['attempts']:7.1f} attempts/s "
            f"{one['rank_ms']:7.3f} ms of the rank for a state"
        )
        if count:
            details = {"processor ms of the rank for a state": {"ours": one["rank_ms"], "threads": threads["rank_ms"]}}
            records.append(
                {
                    "name": f"search with {count} prover processes against threads, {args.actors} actors",
                    "ratio": one["states"] / threads["states"],
                    "ours": one["states"],
                    "baseline": threads["states"],
                    "unit": "states/s",
                    "hardware": HARDWARE,
                    "details": {**details, "load": os.getloadavg()[0], "runs": found[count], "threads": found[0]},
                }
            )
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(records, file, indent=1)


if __name__ == "__main__":
    main()
