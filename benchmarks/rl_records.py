"""Measure the cost of the records that an RL run writes.

    python -m benchmarks.rl_records [--attempts 60] [--repeats 3] [--log-mb 100] [--json PATH]

Actors with a Lean and a policy that cost nothing search with 64 simulations, with a recorder and without one, in turns:
the difference in processor time is what traces, timeline, trees, samples and status cost. A search that nobody watches,
and one that somebody does, against one that cannot be watched. An index of attempts against reading their log, and
writing both against writing the log alone.

Times are processor times. A ratio of 1.16 is a cost of 16%, but for the index's, which says how much faster that is.
"""

import gc
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from benchmarks.measurement import (
    Result,
    Spent,
    folder_bytes,
    plain_parser,
    processor_seconds,
    result,
    spent,
    write_results,
)
from nanoproof.actors.actor import ActorPool
from nanoproof.actors.live_tree import LiveTree, watch_file
from nanoproof.actors.tasks import NULL_OBSERVER, Task
from nanoproof.common.distributed import DistInfo
from nanoproof.common.files import JsonlWriter, atomic_write_json, json_line
from nanoproof.common.run_dir import RunDir
from nanoproof.lean.types import Branch, TacticApplied, TacticFailed, Theorem
from nanoproof.monitor.ranks import ASK_SECONDS
from nanoproof.prover.attempt import Attempt, FailedTactic
from nanoproof.prover.attempt_log import AttemptIndex, AttemptLog, attempts_file
from nanoproof.prover.prover import NULL_ATTEMPT_OBSERVER, Prover, ProverOptions
from nanoproof.rl.batch_sampler import Buffers
from nanoproof.rl.collection import CollectSource, Experience
from nanoproof.rl.matchmaker import Matchmaker, MatchmakerConfig
from nanoproof.rl.recorder import LOOK_SECONDS, Recorder, RecordOptions
from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import SearchLog, TacticRunner
from nanoproof.search.node import or_node
from nanoproof.search.policy import Policy
from nanoproof.search.search import search
from tests.fakes.world import RandomLean, RandomPolicy, state

ALONE = DistInfo(0, 0, 1, torch.device("cpu"), "benchmark", torch.float32, "benchmark")
ACTORS, SIMULATIONS, THEOREMS = 8, 64, 1000
SIMULATIONS_ALONE, SIMULATIONS_WATCHED, LEAN_SECONDS = 2000, 600, 0.02


class Session:
    """A Lean process that costs nothing, and in which no proof is ever found."""

    def __init__(self) -> None:
        self.apply = RandomLean(0, 1_000_000, 0.0).apply

    def start(self, theorem: Theorem) -> Branch:
        return state(0)

    def close(self) -> None: ...


class Slot:
    """A server with such processes."""

    address = "free:1"

    def lease(self, timeout: float) -> Session:
        return Session()


class Counting(CollectSource):
    """Counts the attempts that ended."""

    done = 0

    def finish(self, task: Task, attempt: Attempt) -> None:
        super().finish(task, attempt)
        self.done += 1


def make_prover(purpose: str, policy: Policy) -> Prover:
    return Prover(policy, SearchConfig(), ProverOptions(keep_tree=False))


def collect(run_path: Path, attempts: int, recorded: bool) -> dict[str, float]:
    """Measure the processor seconds of an attempt, of all threads together, and what the recorder wrote."""
    theorems = [Theorem("theorem t : True := by sorry", "free", f"t{number}") for number in range(THEOREMS)]
    matchmaker = Matchmaker(THEOREMS, MatchmakerConfig(base_simulations=SIMULATIONS, simulations_mult=1.0))
    experience = Experience(theorems, matchmaker, Buffers(1000, 1000))
    run = RunDir(run_path)
    with ExitStack() as stack:
        # Without a recorder the log of attempts is still written: no run is without it.
        recorder = stack.enter_context(Recorder(run, 0, RecordOptions())) if recorded else None
        source = Counting(experience, run_path, ALONE, 0, 0, recorder or NULL_OBSERVER)
        slots: list[Any] = [Slot()] * ACTORS
        pool = ActorPool(slots, RandomPolicy(0, 32), make_prover, observer=recorder or NULL_OBSERVER)
        if recorder is not None:
            load = SimpleNamespace(steps=0, busy_seconds=0.0, rows=0, states=0, waiting=0)

            def snapshot() -> dict[str, Any]:
                return {"actors": [actor.snapshot() for actor in pool.actors]}

            recorder.watch(snapshot, pool.actors, lambda: load)

        def collect_attempts() -> None:
            source.begin(1, None)
            pool.set_source(source)
            pool.wait(lambda: source.done >= attempts)

        # Of the whole process: the recorder writes in threads of its own. Searches under way at the end are in it, too,
        # and some attempts more than were asked for.
        times = spent(collect_attempts)
        done = source.done
        pool.stop()
        pool.join()
        source.close()
    run.close()
    size = folder_bytes(run_path)
    log_size = attempts_file(run_path, 0).stat().st_size
    return {
        "cpu": times.processor / done,
        "per_second": done / times.clock,
        "bytes": (size - log_size) / done,
        "log": log_size / done,
    }


def measure_recorder(folder: Path, attempts: int, repeats: int) -> Result:
    """Time the search with a recorder and without one, in turns."""
    ways: dict[bool, list[dict[str, float]]] = {True: [], False: []}
    for turn in range(repeats):
        # Each first in every other turn: what the first leaves behind to free falls on the second.
        for recorded in sorted(ways, reverse=bool(turn % 2)):
            ways[recorded].append(collect(folder / f"{turn}_{recorded}", attempts, recorded))
    ours, plain = (statistics.median(run["cpu"] for run in ways[recorded]) for recorded in (True, False))
    last = ways[True][-1]
    details = {
        "attempts_per_second": last["per_second"],
        "log_bytes_per_attempt": last["log"],
        "other_bytes_per_attempt": last["bytes"],
    }
    # The dearest case: Lean and policy cost nothing here, and in a run they are nearly all of an attempt.
    name = "a search of 64 simulations, recorded"
    return result(name, "ms of a processor", 1000 * ours, 1000 * plain, ours / plain, details)


def search_alone(should_stop: Callable[[], bool], shown: Any, lean: TacticRunner, simulations: int) -> float:
    """Measure the processor seconds of all threads for a search; `shown` is what an actor shows of it."""
    gc.collect()

    def run() -> None:
        shown.root, shown.search = or_node(state(0)), SearchLog()
        search(shown.root, RandomPolicy(1, 16), lean, SearchConfig(), simulations, shown.search, should_stop)

    return processor_seconds(run)


class SlowLean(RandomLean):
    """The random world with a Lean that takes its time."""

    def apply(self, branch: Branch, tactics: Sequence[str]) -> list[TacticApplied | TacticFailed]:
        time.sleep(LEAN_SECONDS)
        return super().apply(branch, tactics)


def measure_watched(folder: Path, repeats: int) -> list[Result]:
    """Time a search that nobody watches and one that is watched, in turns with one that cannot be watched."""
    folder.mkdir(parents=True)
    closing, live, worlds = [False], LiveTree(folder, 0), (RandomLean(1, 1_000_000, 0.0), SlowLean(1, 1_000_000, 0.0))
    actor: Any = SimpleNamespace(number=0, viewer=None, trace=NULL_ATTEMPT_OBSERVER, budget=0, attempts=1)
    vars(actor).update({"theorem": "t", "dataset": "free", "purpose": "collect"})

    def could_be() -> bool:  # as in `Actor`
        viewer = actor.viewer
        if viewer is not None:
            viewer.between(actor)
        return closing[0]

    def watched() -> Spent:
        over, looks = threading.Event(), iter(range(1_000_000))

        def look() -> None:
            while not over.wait(LOOK_SECONDS):
                if next(looks) % round(ASK_SECONDS / LOOK_SECONDS) == 0:
                    atomic_write_json(watch_file(folder, 0), {"actor": 0, "after": None})
                live.poll([actor])

        thread = threading.Thread(target=look)
        thread.start()
        while actor.viewer is None:
            time.sleep(0.01)
        # By the clock from here on: until somebody looks is no part of the search.
        began = time.monotonic()
        seconds = search_alone(could_be, actor, worlds[1], SIMULATIONS_WATCHED)
        times = Spent(time.monotonic() - began, seconds)
        over.set()
        thread.join()
        live.close()
        return times

    times: dict[str, list[float]] = {"plain": [], "alone": [], "slow": [], "watched": []}
    walls = []
    search_alone(could_be, actor, worlds[0], SIMULATIONS_ALONE)  # fills the world's tables
    for turn in range(repeats):
        # Where nobody watches, all that is left is a question between simulations.
        stops = {"plain": lambda: closing[0], "alone": could_be}
        for name in sorted(stops, reverse=bool(turn % 2)):
            times[name].append(search_alone(stops[name], actor, worlds[0], SIMULATIONS_ALONE))
        # A watched one costs by the second and not by the simulation: with a Lean that takes its time, as real ones do.
        times["slow"].append(search_alone(stops["plain"], actor, worlds[1], SIMULATIONS_WATCHED))
        looked = watched()
        times["watched"].append(looked.processor)
        walls.append(looked.clock)
    # The least: a question between simulations is so cheap that the medians of a busy machine would not show it.
    plain, alone = min(times["plain"]) / SIMULATIONS_ALONE, min(times["alone"]) / SIMULATIONS_ALONE
    slow, looked_at = statistics.median(times["slow"]), statistics.median(times["watched"])
    wall, nodes = statistics.median(walls), actor.search.counts.nodes
    details = {"wall_seconds": wall, "nodes": nodes, "share_of_a_processor": (looked_at - slow) / wall}
    unwatched = "a search that nobody watches, against one that cannot be watched"
    unit = "µs of a processor for a simulation"
    watched_name = f"a search that is watched, where Lean takes {1000 * LEAN_SECONDS:.0f} ms, against one that is not"
    return [
        result(unwatched, unit, 1e6 * alone, 1e6 * plain, alone / plain, {"simulations": SIMULATIONS_ALONE}),
        result(watched_name, "s of a processor", looked_at, slow, looked_at / slow, details),
    ]


def record(sequence: int) -> dict[str, Any]:
    """Return an attempt of the size that a search of 64 simulations leaves."""
    failed = []
    for group in range(40):
        goal = f"a b c : Nat\nh : a = b + {group}\n⊢ a * c = b * c + {sequence}"
        failed += [FailedTactic(goal, f"rw [Nat.add_comm a {number}]") for number in range(5)]
    counts = {"simulations": 64, "expansions": 60, "tactics_run": 300}
    theorem = Theorem(
        "theorem t (a b c : Nat) (h : a = b) : a * c = b * c := by sorry", "free", f"t{sequence % THEOREMS}"
    )
    attempt = Attempt(
        theorem, "unproven", failed_tactics=tuple(failed), budget=64, counts=counts, seconds={"search": 1.5}
    )
    return {"number": {"step": sequence // 100, "rank": 0, "sequence": sequence}, "time": 0.0, **attempt.to_json()}


def measure_index(folder: Path, megabytes: int) -> list[Result]:
    """Time writing and listing attempts, with an index and without one."""
    attempt = record(0)
    size = len(json_line(attempt).encode())
    count = max(100, megabytes * 1_000_000 // size)
    (folder / "plain").mkdir(parents=True)
    log, plain = AttemptLog(folder, 0), JsonlWriter(folder / "plain" / "attempts_r0.jsonl")
    writing: dict[AttemptLog | JsonlWriter, float] = {log: 0.0, plain: 0.0}
    for sequence in range(count):
        attempt["number"]["sequence"] = sequence
        for writer in writing:
            writing[writer] += processor_seconds(partial(writer.write, attempt))
    log.close()
    plain.close()

    def listed(path: Path) -> None:
        index = AttemptIndex(path)
        index.poll()
        assert len(index.entries) == count

    # The same code on a folder that has no index, as one of before there were any: it parses the log.
    ours, theirs = processor_seconds(lambda: listed(folder)), processor_seconds(lambda: listed(folder / "plain"))
    details = {"attempts": count, "bytes_per_attempt": size, "log_megabytes": count * size / 1e6}
    by_index, by_log = 1e6 * ours / count, 1e6 * theirs / count
    with_index, alone = 1e6 * writing[log] / count, 1e6 * writing[plain] / count
    listing = "attempts listed from their index, against from their log"
    written = "an attempt written with its index, against to the log alone"
    return [
        result(listing, "µs each", by_index, by_log, by_log / by_index, details),
        result(written, "µs", with_index, alone, with_index / alone, details),
    ]


def main(argv: list[str] | None = None) -> None:
    """Run the benchmark and write its results."""
    parser = plain_parser(__doc__)
    parser.add_argument("--attempts", type=int, default=60)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--log-mb", type=int, default=100)
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        results = [measure_recorder(Path(folder), args.attempts, args.repeats)]
        results += measure_watched(Path(folder) / "watched", args.repeats)
        results += measure_index(Path(folder) / "index", args.log_mb)
    for row in results:
        text = "{name}: {ours:.4g} against {baseline:.4g} {unit}, ratio {ratio:.3f}".format(**row)
        print(text, ", ".join(f"{name} {value:,.4g}" for name, value in row["details"].items()), sep="\n  ")
    write_results(args.json, results)


if __name__ == "__main__":
    main()
