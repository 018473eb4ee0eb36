"""Measure what an attempt costs the driver of a cluster, from 8 to 4,096 provers.

    python -m benchmarks.cluster_sim [--provers 8 64 512 4096] [--seconds 10] [--json PATH]

The driver's real code over simulated hosts of 16 provers: tasks of the matchmaker over 100,000 theorems, attempts as
JSON (of about 1 kB; those of long searches are longer), the log and its index on disk, and after every 1,000 attempts
the exchange and what matchmaker and buffers learn. A call to a host brings one attempt, the dearest case: busy hosts
bring several. Not in it is what Ray itself takes for a call. Times are processor times of the process; that of the
simulation is shown beside.
"""

import argparse
import json
import os
import platform
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from nanoproof.cluster.driver import HostOptions, HostPool
from nanoproof.common.distributed import DistInfo
from nanoproof.lean.types import Theorem
from nanoproof.prover.attempt_log import attempts_file
from nanoproof.rl.batch_sampler import Buffers
from nanoproof.rl.collection import CollectSource, Experience
from nanoproof.rl.matchmaker import Matchmaker, MatchmakerConfig
from tests.fakes.simulated_cluster import SimulatedNodes, nodes_of

HARDWARE = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
ALONE = DistInfo(0, 0, 1, torch.device("cpu"), "benchmark", torch.float32, "benchmark")
THEOREMS, HOST_PROVERS, STEP = 100_000, 16, 1000
AIM_MS = 2.0
PHASES = ("give and take", "exchange and learn")


class Timed(SimulatedNodes):
    """Knows how much processor time the simulation itself took."""

    seconds = 0.0

    def result(self, promise: Any) -> Any:
        began = time.process_time()
        answer = super().result(promise)
        self.seconds += time.process_time() - began
        return answer


class Turned(HostPool):
    """Makes its turns when it is told to."""

    def _run(self) -> None:
        pass


def measure(provers: int, seconds: float, folder: Path) -> dict[str, float]:
    """Processor milliseconds of the driver for an attempt, by phase, and of the simulation."""
    theorems = [Theorem(f"theorem t{n} : True := by sorry", "sim", f"t{n}") for n in range(THEOREMS)]
    experience = Experience(theorems, Matchmaker(THEOREMS, MatchmakerConfig()), Buffers(250_000, 0))
    source = CollectSource(experience, folder, ALONE, 0, 0)
    nodes = Timed(nodes_of(max(1, provers // HOST_PROVERS), min(provers, HOST_PROVERS)))
    pool = Turned(nodes, HostOptions({"lean_servers": ["lean:1"], "lost_proofs": 0}, HOST_PROVERS))
    pool.set_source(source)
    source.begin(10**12, None)
    pool.turn(0.0)
    spent = dict.fromkeys(PHASES, 0.0)
    nodes.seconds, learned, began = 0.0, 0, time.monotonic()
    taken = pool.attempts
    while time.monotonic() - began < seconds:
        cpu = time.process_time()
        pool.turn(0.0)
        spent["give and take"] += time.process_time() - cpu
        if pool.attempts - taken - learned >= STEP:
            cpu = time.process_time()
            with pool.locked():
                fresh = source.drain()
            step, attempts = source.exchange(fresh)
            with pool.locked():
                experience.learn(step, attempts)
            learned += len(attempts)
            spent["exchange and learn"] += time.process_time() - cpu
    count = pool.attempts - taken
    spent["give and take"] -= nodes.seconds
    source.close()
    size = attempts_file(folder, 0).stat().st_size / max(1, pool.attempts)
    each = {name: 1000 * value / count for name, value in spent.items()}
    return {
        **each,
        "driver": sum(each.values()),
        "simulation": 1000 * nodes.seconds / count,
        "bytes": size,
        "attempts": count,
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Measure each number of provers and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--provers", type=int, nargs="+", default=[8, 64, 512, 4096])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--json")
    args = parser.parse_args(argv)
    found = {}
    for provers in args.provers:
        with tempfile.TemporaryDirectory() as folder:
            found[provers] = one = measure(provers, args.seconds, Path(folder))
        phases = ", ".join(f"{name} {one[name]:.3f}" for name in PHASES)
        print(
            f"{provers:5} provers: {one['driver']:.3f} ms of the driver for an attempt ({phases}; simulation "
            f"{one['simulation']:.3f}), {1000 / one['driver']:.0f} attempts/s on one core, {one['bytes']:.0f} bytes",
            flush=True,
        )
    if args.json:
        records = [
            {
                "name": f"processor time of a cluster's driver for an attempt, {provers} provers",
                "ratio": AIM_MS / one["driver"],
                "ours": one["driver"],
                "baseline": AIM_MS,
                "unit": "ms (the baseline is what it may take)",
                "hardware": HARDWARE,
                "details": one,
            }
            for provers, one in found.items()
        ]
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(records, file, indent=1)


if __name__ == "__main__":
    main()
