"""A run whose actors search without end in a random world, as slowly as wanted: what can be watched live.

`python -m tests.fakes.watched_run` goes on until Ctrl-C, with its monitor, for tests in a browser and to look at.
"""

import argparse
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from nanoproof.actors.actor import ActorPool
from nanoproof.common.distributed import DistInfo
from nanoproof.common.run_dir import RunDir
from nanoproof.lean.types import Branch, TacticApplied, TacticFailed, Theorem
from nanoproof.prover.prover import Prover, ProverOptions
from nanoproof.rl.batch_sampler import Buffers
from nanoproof.rl.collection import CollectSource, Experience
from nanoproof.rl.matchmaker import Matchmaker, MatchmakerConfig
from nanoproof.rl.recorder import Recorder, RecordOptions
from nanoproof.search.config import SearchConfig
from nanoproof.search.policy import Policy
from tests.fakes.simulated_run import show_until_interrupted
from tests.fakes.world import RandomLean, RandomPolicy, state

ALONE = DistInfo(0, 0, 1, torch.device("cpu"), "test", torch.float32, "test")


class PacedSession:
    """A Lean process of a random world without proofs; `pace` is called before it answers to tactics."""

    def __init__(self, pace: Callable[[], object]) -> None:
        self._world, self._pace = RandomLean(0, 1_000_000, 0.0), pace

    def start(self, theorem: Theorem) -> Branch:
        return state(0)

    def apply(self, branch: Branch, tactics: Sequence[str]) -> list[TacticApplied | TacticFailed]:
        self._pace()
        return self._world.apply(branch, tactics)

    def close(self) -> None: ...


def make_prover(purpose: str, policy: Policy) -> Prover:
    return Prover(policy, SearchConfig(), ProverOptions(keep_tree=False))


@contextmanager
def watched_run(
    path: Path, pace: Callable[[], object], budget: int, actors: int = 2, keep_trees: int = 10
) -> Iterator[ActorPool]:
    """Let actors search with `budget` simulations each while the block runs; `pace` must let them go at its end."""
    run = RunDir(path)
    theorems = [Theorem(f"theorem t{i} : S := by sorry", "random", f"t{i}") for i in range(200)]
    matchmaker = Matchmaker(
        200, MatchmakerConfig(base_simulations=budget, simulations_mult=1.0, max_simulations=budget)
    )
    slots: list[Any] = [
        SimpleNamespace(address="random:1", lease=lambda timeout: PacedSession(pace)) for _ in range(actors)
    ]
    with Recorder(run, 0, RecordOptions(keep_trees=keep_trees, timeline_minutes=0)) as recorder:
        source = CollectSource(
            Experience(theorems, matchmaker, Buffers(100, 100)), path, ALONE, seed=0, first_step=0, observer=recorder
        )
        pool = ActorPool(slots, RandomPolicy(0), make_prover, observer=recorder)

        def snapshot() -> dict[str, Any]:
            return {"rank": 0, "phase": "collect", "step": 0, "num_steps": 100, **pool.snapshot()}

        recorder.watch(snapshot, pool.actors, lambda: SimpleNamespace(steps=0), RandomPolicy(0))
        source.begin(1_000_000, None)
        pool.set_source(source)
        try:
            yield pool
        finally:
            pool.stop()
            pool.join()
    source.close()
    run.close()


def main(argv: Sequence[str] | None = None) -> None:
    """Until Ctrl-C."""
    parser = argparse.ArgumentParser(description="Start a monitor beside searches that go on and on.")
    parser.add_argument("--port", type=int, default=5050, help="Port of the monitor; 0 takes a free one.")
    parser.add_argument("--pause", type=float, default=0.1, help="Seconds that Lean takes for an expansion.")
    parser.add_argument("--budget", type=int, default=60, help="Simulations of each search.")
    options = parser.parse_args(argv)
    over = threading.Event()
    with (
        tempfile.TemporaryDirectory() as folder,
        watched_run(Path(folder), lambda: over.wait(options.pause), options.budget),
    ):
        try:
            show_until_interrupted(Path(folder), options.port, "searches that go on and on")
        finally:
            over.set()


if __name__ == "__main__":
    main()
