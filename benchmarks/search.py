"""Simulations per second of the search with a Lean and a policy that cost nothing, against the plain reference.

    python -m benchmarks.search [--num-simulations 4000] [--repeats 3] [--json PATH]

Both grow the same tree in the same random world (checked); a run before the timed ones fills the world's tables, which
the garbage collector then leaves alone. Times are processor times, and the two take turns, so that other work
on the machine meets both. The more tactics a policy draws the wider the nodes, and the more the plain search adds up.
Printed besides: how the time of a simulation grows with the tree, and what a node takes in memory and in a file.
"""

import argparse
import gc
import json
import os
import platform
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from sys import getsizeof
from typing import Any

from nanoproof.lean.types import Branch, Goal, Hypothesis, ProofState, TacticApplied, TacticFailed
from nanoproof.search.config import PresetName, SearchConfig
from nanoproof.search.expand import SearchLog, TacticRunner
from nanoproof.search.node import Node, or_node, walk
from nanoproof.search.policy import Policy, Suggestion
from nanoproof.search.reference import plain_search
from nanoproof.search.search import search
from nanoproof.search.tree_json import tree_to_json
from tests.fakes.world import RandomLean, RandomPolicy, state

PRESETS: tuple[PresetName, ...] = ("default", "alphaproof")
SAMPLES = (6, 16, 32)
HARDWARE = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def seconds_of(run: Callable[[], object]) -> float:
    """Processor time of one call."""
    started = time.process_time()
    run()
    return time.process_time() - started


def make_world(samples: int) -> tuple[RandomLean, RandomPolicy]:
    """Make a world where no tactic closes a branch, so that no search ends early; tactics are drawn from 64 or more."""
    policy = RandomPolicy(seed=1, samples=samples, num_tactics=max(64, 16 * samples))
    return RandomLean(seed=1, num_states=1_000_000, close=0.0), policy


def compare(preset: PresetName, samples: int, num_simulations: int, repeats: int) -> dict[str, Any]:
    """Time both searches with the constants of `preset` and a policy that draws `samples` tactics."""
    config = SearchConfig.preset(preset)
    lean, policy = make_world(samples)

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
        "name": f"search ({preset} constants, {samples} samples of a state)",
        "ratio": round(rates[0] / rates[1], 2),
        "ours": round(rates[0]),
        "baseline": round(rates[1]),
        "unit": "simulations/s",
        "hardware": HARDWARE,
        "details": {"num_simulations": num_simulations, "repeats": repeats},
    }


def growth(preset: PresetName, trees: int = 40) -> dict[str, Any]:
    """Seconds of a simulation in trees of 20,000 nodes against trees of 100."""
    config = SearchConfig.preset(preset)
    lean, policy = make_world(6)

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
        self._policy = policy.again()

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        return self._policy.suggest(state_text.splitlines()[-1])


def strings_of(root: Node) -> int:
    """Bytes of all strings that a tree holds, each object once."""
    texts: dict[int, str] = {}

    def add(*found: str | None) -> None:
        texts.update((id(text), text) for text in found if text is not None)

    for node in walk(root):
        add(node.state, *node.key, node.tactic, *node.spellings, *node.known)
        for goal in node.branch.state.goals if node.branch is not None else ():
            add(
                goal.type,
                goal.tag,
                goal.untagged_text,
                *(part for h in goal.hypotheses for part in (h.user_name, h.type)),
            )
    return sum(getsizeof(text) for text in texts.values())


def grow(lean: TacticRunner, policy: Policy, config: SearchConfig, num_simulations: int) -> tuple[Node, SearchLog]:
    """Grow a tree; return it with its log, without what was refused."""
    if isinstance(policy, RandomPolicy):
        policy = policy.again()
    root, log = or_node(state(0)), SearchLog()
    search(root, policy, lean, config, num_simulations, log)
    log.failed_tactics.clear()
    return root, log


def python_bytes(grow: Callable[[], object]) -> int:
    """Bytes that are still held after a call; what it returns counts."""
    gc.collect()
    tracemalloc.start()
    result = grow()
    gc.collect()
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    del result
    return held


def drop_texts(stored: dict[str, Any]) -> dict[str, Any]:
    """Return a stored tree without the texts of its states and tactics."""
    return {**stored, "states": [], "tactics": []}


def memory(preset: PresetName, num_simulations: int) -> dict[str, Any]:
    """Measure bytes of Python memory per node beside strings, of the tree alone and with Lean's branches."""
    config = SearchConfig.preset(preset)
    lean, policy = make_world(6)
    root, log = grow(lean, policy, config, num_simulations)
    alone = python_bytes(lambda: grow(lean, policy, config, num_simulations)) / log.counts.nodes
    fresh = FreshLean(lean)
    kept: list[tuple[Node, SearchLog]] = []
    held = python_bytes(lambda: kept.append(grow(fresh, TargetPolicy(policy), config, num_simulations)))
    [(root, log)] = kept
    nodes = log.counts.nodes
    beside = (held - strings_of(root)) / nodes
    return {
        "name": f"search, memory of a node beside its strings ({preset} constants)",
        "ratio": round(1024 / beside, 2),
        "ours": round(beside),
        "baseline": 1024,
        "unit": "bytes",
        "hardware": HARDWARE,
        "details": {
            "nodes": nodes,
            "without_branches": round(alone),
            "with_strings": round(held / nodes),
            "estimate_of_max_tree_mbytes": round(log.counts.tree_bytes / nodes),
            "stored_bytes": round(len(json.dumps(tree_to_json(root))) / nodes),
            "stored_bytes_beside_texts": round(len(json.dumps(drop_texts(tree_to_json(root)))) / nodes),
        },
    }


def measures(num_simulations: int, repeats: int) -> Iterator[Callable[[], dict[str, Any]]]:
    """Yield the measurements in their order."""
    for preset in PRESETS:
        for samples in SAMPLES:
            yield partial(compare, preset, samples, num_simulations, repeats)
        yield partial(growth, preset)
        yield partial(memory, preset, num_simulations)


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark and write its results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--num-simulations", type=int, default=4000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the results to this file")
    args = parser.parse_args(argv)
    results = []
    for measure in measures(args.num_simulations, args.repeats):
        result = measure()
        against = f"{result['ours']} against {result['baseline']} {result['unit']}, {result['ratio']}x"
        print(f"{result['name']}: {against}  {result['details']}", flush=True)
        results.append(result)
    if args.json is not None:
        args.json.write_text(json.dumps(results, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    main()
