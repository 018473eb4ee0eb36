"""Simulations per second of the search with a Lean and a policy that cost nothing, against the plain transcription.

    python -m benchmarks.search [--num-simulations 4000] [--repeats 3] [--json PATH]

Both grow the same tree in the same random world (checked); a run before the timed ones fills the world's tables, which
the garbage collector is then told to leave alone. Times are processor times, and the two take turns, so that other work
on the machine meets both. Printed besides: how the time of a simulation grows with the tree, and what a node takes.
"""

import argparse
import gc
import json
import os
import platform
import statistics
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from sys import getsizeof
from typing import Any

from benchmarks.plain_search import plain_search
from nanoproof.lean.state import Goal, Hypothesis, ProofState
from nanoproof.lean.wire import Branch, TacticApplied, TacticFailed
from nanoproof.search.config import PresetName, SearchConfig
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import Node, or_node, walk
from nanoproof.search.search import search
from tests.fakes.world import RandomLean, RandomPolicy, state

PRESETS: tuple[PresetName, ...] = ("default", "alphaproof")
HARDWARE = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def seconds_of(run: Callable[[], object]) -> float:
    """Processor time of one call."""
    started = time.process_time()
    run()
    return time.process_time() - started


def world() -> tuple[RandomLean, RandomPolicy]:
    """A world where no tactic closes a branch, so that no search ends early."""
    return RandomLean(seed=1, num_states=1_000_000, close=0.0), RandomPolicy(seed=1)


def compare(preset: PresetName, num_simulations: int, repeats: int) -> dict[str, Any]:
    """Time both searches with the constants of `preset`."""
    config = SearchConfig.preset(preset)
    lean, policy = world()

    def ours() -> float:
        root = or_node(state(0))
        search(root, policy.again(), lean, config, num_simulations, SearchLog())
        return root.value_sum

    def baseline() -> float:
        return float(plain_search(state(0), policy.again(), lean, config, num_simulations)["W"])

    assert abs(ours() - baseline()) < 1e-6 * num_simulations, "the two searches grew different trees"
    gc.collect()
    gc.freeze()
    seconds = [(seconds_of(ours), seconds_of(baseline)) for _ in range(repeats)]
    gc.unfreeze()
    rates = [num_simulations / statistics.median(column) for column in zip(*seconds, strict=True)]
    return {
        "name": f"search ({preset} constants)",
        "ratio": round(rates[0] / rates[1], 2),
        "ours": round(rates[0]),
        "baseline": round(rates[1]),
        "unit": "simulations/s",
        "hardware": HARDWARE,
        "details": {"num_simulations": num_simulations, "repeats": repeats, "samples_per_expansion": 6},
    }


def growth(preset: PresetName, trees: int = 40) -> dict[str, Any]:
    """Seconds of a simulation in trees of 20,000 nodes against trees of 100."""
    config = SearchConfig.preset(preset)
    lean, policy = world()

    def mean_seconds(low: int, high: int, tree: int) -> float:
        """Over the simulations that take a tree from `low` to `high` nodes; a first search fills the tables."""
        marks: list[tuple[float, int]] = []
        for _ in range(2):
            log = SearchLog()

            def mark(log: SearchLog = log) -> bool:
                if log.counts.nodes >= low:
                    marks.append((time.process_time(), log.counts.simulations))
                    return log.counts.nodes >= high
                return False

            marks.clear()
            search(or_node(state(tree)), policy.again(), lean, config, 1 << 30, log, mark)
            gc.collect()
            gc.freeze()
        gc.unfreeze()
        return (marks[-1][0] - marks[0][0]) / (marks[-1][1] - marks[0][1])

    small = statistics.mean(mean_seconds(100, 300, tree) for tree in range(trees))
    large = statistics.mean(mean_seconds(20_000, 22_000, tree) for tree in range(3))
    return {
        "name": f"search, a simulation at 20,000 nodes against one at 100 ({preset} constants)",
        "ratio": round(large / small, 2),
        "ours": round(1e6 * large, 1),
        "baseline": round(1e6 * small, 1),
        "unit": "us",
        "hardware": HARDWARE,
        "details": {"small_trees": trees, "large_trees": 3},
    }


class FreshLean:
    """The random world with new objects for every branch, as a Lean session makes them: one goal, four hypotheses."""

    def __init__(self, lean: RandomLean) -> None:
        self._lean = lean

    def apply(self, branch: Branch, tactics: Sequence[str]) -> list[TacticApplied | TacticFailed]:
        named = Branch(ProofState((Goal(branch.state.goals[0].type),)))
        return [
            TacticApplied(tuple(Branch(self._fresh(b.state.goals[0].type)) for b in result.branches))
            if isinstance(result, TacticApplied)
            else result
            for result in self._lean.apply(named, tactics)
        ]

    @staticmethod
    def _fresh(target: str) -> ProofState:
        hypotheses = tuple(Hypothesis(f"h{i}", f"P {i} {target}") for i in range(4))
        return ProofState((Goal(target, hypotheses),))


class TargetPolicy:
    """Asks the policy of the random world about the target alone."""

    def __init__(self, policy: RandomPolicy) -> None:
        self._policy = policy

    def suggest(self, state_text: str, seed: int = 0) -> Any:
        return self._policy.suggest(state_text.splitlines()[-1])


def strings_of(root: Node) -> int:
    """Bytes of all strings that a tree holds, each object once."""
    texts: dict[int, str] = {}

    def add(*found: str | None) -> None:
        texts.update((id(text), text) for text in found if text is not None)

    for node in walk(root):
        add(node.state, *node.key, node.tactic, *node.spellings, *node.known)
        for goal in node.branch.state.goals if node.branch is not None else ():
            add(goal.type, goal.tag, goal.untagged_text, *(part for h in goal.hypotheses for part in vars(h).values()))
    return sum(getsizeof(text) for text in texts.values())


def memory(preset: PresetName, num_simulations: int) -> dict[str, Any]:
    """Bytes of Python memory per node beside strings, with and without Lean's branch objects."""
    config = SearchConfig.preset(preset)
    lean, policy = world()
    taken = []
    for runner, suggester in ((lean, policy), (FreshLean(lean), TargetPolicy(policy))):
        for measured in (False, True):
            policy.asked.clear()
            root, log = or_node(FreshLean(lean)._fresh("S0") and state(0)), SearchLog()
            if measured:
                gc.collect()
                tracemalloc.start()
            search(root, suggester, runner, config, num_simulations, log)
            if measured:
                gc.collect()
                log.failed_tactics.clear()
                held = tracemalloc.get_traced_memory()[0]
                tracemalloc.stop()
        taken.append((held - (strings_of(root) if runner is not lean else 0)) / log.counts.nodes)
    return {
        "name": f"search, memory of a node beside its strings ({preset} constants)",
        "ratio": round(1024 / taken[1], 2),
        "ours": round(taken[1]),
        "baseline": 1024,
        "unit": "bytes",
        "hardware": HARDWARE,
        "details": {
            "nodes": log.counts.nodes,
            "without_branches": round(taken[0]),
            "estimate_of_max_tree_mbytes": round(log.counts.tree_bytes / log.counts.nodes),
            "with_strings": round(held / log.counts.nodes),
        },
    }


def main(argv: list[str] | None = None) -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--num-simulations", type=int, default=4000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the results to this file")
    args = parser.parse_args(argv)
    results = []
    for preset in PRESETS:
        for measure in (
            lambda: compare(preset, args.num_simulations, args.repeats),
            lambda: growth(preset),
            lambda: memory(preset, args.num_simulations),
        ):
            result = measure()
            against = f"{result['ours']} against {result['baseline']} {result['unit']}, {result['ratio']}x"
            print(f"{result['name']}: {against}  {result['details']}", flush=True)
            results.append(result)
    if args.json is not None:
        args.json.write_text(json.dumps(results, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    main()
