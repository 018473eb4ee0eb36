"""Measure what an attempt costs the driver of a cluster, from 8 to 4,096 provers.

    python -m benchmarks.cluster_sim [--provers 8 64 512 4096] [--seconds 10] [--json PATH]

The driver's real code over simulated hosts of 16 provers: tasks of the matchmaker over 100,000 theorems, attempts as
JSON (of about 1 kB; those of long searches are longer), the log and its index on disk, and after every 1,000 attempts
the exchange and what matchmaker and buffers learn. Not in it is what Ray itself takes for a call.
"""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from benchmarks.measurement import plain_parser, processor_seconds, result, write_results
from nanoproof.cluster.driver import HostOptions, HostPool
from nanoproof.common.distributed import DistInfo
from nanoproof.lean.types import Theorem
from nanoproof.prover.attempt_log import attempts_file
from nanoproof.rl.batch_sampler import Buffers
from nanoproof.rl.collection import CollectSource, Experience
from nanoproof.rl.matchmaker import Matchmaker, MatchmakerConfig
from tests.fakes.simulated_cluster import SimulatedNodes, nodes_of

ALONE = DistInfo(0, 0, 1, torch.device("cpu"), "benchmark", torch.float32, "benchmark")
THEOREMS, HOST_PROVERS, STEP = 100_000, 16, 1000
# There is no plainer driver to compare with: the baseline is what an attempt may cost it. At 2 ms one core serves the
# 500 attempts a second of some thousand provers that take seconds over each.
AIM_MS = 2.0
PHASES = ("give and take", "exchange and learn")


class Timed(SimulatedNodes):
    """Knows how much processor time the simulation itself took."""

    seconds = 0.0

    def result(self, promise: Any, seconds: float | None = None) -> Any:
        began = time.process_time()
        answer = super().result(promise, seconds)
        self.seconds += time.process_time() - began
        return answer


class Turned(HostPool):
    """Makes its turns when it is told to."""

    # The driver's thread would wait between turns, and its waits are not what an attempt costs.
    def _run(self) -> None:
        pass


def measure(provers: int, seconds: float, folder: Path) -> dict[str, float]:
    """Measure the processor milliseconds of the driver for an attempt, by phase, and of the simulation."""
    theorems = [Theorem(f"theorem t{n} : True := by sorry", "sim", f"t{n}") for n in range(THEOREMS)]
    experience = Experience(theorems, Matchmaker(THEOREMS, MatchmakerConfig()), Buffers(250_000, 0))
    source = CollectSource(experience, folder, ALONE, 0, 0)
    # A call to a host brings one attempt, the dearest case: busy hosts bring several.
    nodes = Timed(nodes_of(max(1, provers // HOST_PROVERS), min(provers, HOST_PROVERS)))
    pool = Turned(nodes, HostOptions({"lean_servers": ["lean:1"], "lost_proofs": 0}, HOST_PROVERS))
    pool.set_source(source)
    source.begin(10**12, None)
    # The first turn starts all hosts, which a run does once.
    pool.turn(0.0)
    before, nodes.seconds = pool.attempts, 0.0
    spent, learned = dict.fromkeys(PHASES, 0.0), 0

    def learn() -> None:
        nonlocal learned
        with pool.locked():
            fresh = source.drain()
        step, attempts = source.exchange(fresh)
        with pool.locked():
            experience.learn(step, attempts)
        learned += len(attempts)

    began = time.monotonic()
    while time.monotonic() - began < seconds:
        spent["give and take"] += processor_seconds(lambda: pool.turn(0.0))
        if pool.attempts - before - learned >= STEP:
            spent["exchange and learn"] += processor_seconds(learn)
    count = pool.attempts - before
    # The simulation answers inside of a turn; in a cluster other machines do that.
    spent["give and take"] -= nodes.seconds
    source.close()
    milliseconds = {name: 1000 * value / count for name, value in spent.items()}
    return {
        **milliseconds,
        "driver": sum(milliseconds.values()),
        "simulation": 1000 * nodes.seconds / count,
        "bytes": attempts_file(folder, 0).stat().st_size / pool.attempts,
        "attempts": count,
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Measure each number of provers and print a table."""
    parser = plain_parser(__doc__)
    parser.add_argument("--provers", type=int, nargs="+", default=[8, 64, 512, 4096])
    parser.add_argument("--seconds", type=float, default=10.0)
    args = parser.parse_args(argv)
    results = []
    for provers in args.provers:
        with tempfile.TemporaryDirectory() as folder:
            figures = measure(provers, args.seconds, Path(folder))
        driver = figures["driver"]
        phases = ", ".join(f"{name} {figures[name]:.3f}" for name in PHASES)
        print(
            f"{provers:5} provers: {driver:.3f} ms of the driver for an attempt ({phases}; simulation "
            f"{figures['simulation']:.3f}), {1000 / driver:.0f} attempts/s on one core, {figures['bytes']:.0f} bytes",
            flush=True,
        )
        name = f"processor time of a cluster's driver for an attempt, {provers} provers"
        unit = "ms (the baseline is what it may take)"
        results.append(result(name, unit, driver, AIM_MS, AIM_MS / driver, figures))
    write_results(args.json, results)


if __name__ == "__main__":
    main()
