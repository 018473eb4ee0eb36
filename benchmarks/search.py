"""Simulations per second of the search with a Lean and a policy that cost nothing, against the plain reference.

    python -m benchmarks.search [--num-simulations 4000] [--repeats 3] [--json PATH]

The reference is the search as the papers write it, on one page: at each node it adds up over all children what ours
keeps. Both grow the same tree in the same random world (checked). Besides: what a node takes in memory and in a file.
"""

import gc
import json
import statistics
import tracemalloc
from collections.abc import Callable, Sequence
from functools import partial
from sys import getsizeof

from benchmarks.measurement import Result, compared, in_turns, plain_parser, processor_seconds, result, write_results
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
# The more tactics a policy draws, the wider the nodes, and the more the plain search adds up.
SAMPLES = (6, 16, 32)


def make_world(samples: int) -> tuple[RandomLean, RandomPolicy]:
    """Make a world where no tactic closes a branch, so that no search ends early; tactics are drawn from 64 or more."""
    policy = RandomPolicy(seed=1, samples=samples, num_tactics=max(64, 16 * samples))
    return RandomLean(seed=1, num_states=1_000_000, close=0.0), policy


def compare(preset: PresetName, samples: int, num_simulations: int, repeats: int) -> Result:
    """Time both searches with the constants of `preset` and a policy that draws `samples` tactics."""
    config = SearchConfig.preset(preset)
    lean, policy = make_world(samples)

    def ours() -> float:
        root = or_node(state(0))
        search(root, policy.again(), lean, config, num_simulations, SearchLog())
        return root.value_sum

    def baseline() -> float:
        return float(plain_search(state(0), policy.again(), lean, config, num_simulations)["W"])

    # These two runs fill the world's tables too, which the garbage collector then leaves alone (`freeze`).
    assert abs(ours() - baseline()) < 1e-6 * num_simulations, "the two searches grew different trees"
    gc.collect()
    gc.freeze()
    ways = {"ours": partial(processor_seconds, ours), "baseline": partial(processor_seconds, baseline)}
    seconds = in_turns(ways, repeats)
    gc.unfreeze()
    rate, plain = (num_simulations / statistics.median(seconds[way]) for way in ways)
    details = {"num_simulations": num_simulations, "repeats": repeats}
    name = f"search ({preset} constants, {samples} samples of a state)"
    return result(name, "simulations/s", round(rate), round(plain), round(rate / plain, 2), details)


class FreshLean:
    """The random world with new objects for every branch, as a Lean session makes them: one goal, four hypotheses."""

    def __init__(self, lean: RandomLean) -> None:
        self._lean = lean

    def apply(self, branch: Branch, tactics: Sequence[str]) -> list[TacticApplied | TacticFailed]:
        # The world knows its states by their targets alone.
        named = Branch(ProofState((Goal(branch.state.goals[0].type),)))
        answers: list[TacticApplied | TacticFailed] = []
        for answer in self._lean.apply(named, tactics):
            if isinstance(answer, TacticApplied):
                answer = TacticApplied(tuple(Branch(self._fresh(b.state.goals[0].type)) for b in answer.branches))
            answers.append(answer)
        return answers

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
    """Return the bytes of all strings that a tree holds, each object once."""
    # Strings are left out of a node's size: they are as long as Lean's states, which the random world makes up.
    texts: dict[int, str] = {}

    def add(*parts: str | None) -> None:
        for text in parts:
            if text is not None:
                texts[id(text)] = text

    for node in walk(root):
        add(node.state, *node.key, node.tactic, *node.spellings, *node.known)
        if node.branch is None:
            continue
        for goal in node.branch.state.goals:
            add(goal.type, goal.tag, goal.untagged_text)
            for hypothesis in goal.hypotheses:
                add(hypothesis.user_name, hypothesis.type)
    return sum(getsizeof(text) for text in texts.values())


def grow(lean: TacticRunner, policy: Policy, config: SearchConfig, num_simulations: int) -> tuple[Node, SearchLog]:
    """Grow a tree; return it with its log, without what was refused."""
    if isinstance(policy, RandomPolicy):
        policy = policy.again()
    root, log = or_node(state(0)), SearchLog()
    search(root, policy, lean, config, num_simulations, log)
    # What Lean refused is of the attempt's record, and no part of the tree.
    log.failed_tactics.clear()
    return root, log


def python_bytes(grow: Callable[[], object]) -> int:
    """Return the bytes that are still held after a call; what it returns counts."""
    gc.collect()
    tracemalloc.start()
    kept = grow()
    gc.collect()
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    del kept
    return size


def memory(preset: PresetName, num_simulations: int) -> Result:
    """Measure bytes of Python memory per node beside strings, of the tree alone and with Lean's branches."""
    config = SearchConfig.preset(preset)
    lean, policy = make_world(6)
    root, log = grow(lean, policy, config, num_simulations)
    alone = python_bytes(lambda: grow(lean, policy, config, num_simulations)) / log.counts.nodes
    # The tree alone shares its branches with the world's tables; what a run keeps has Lean's own objects too.
    fresh = FreshLean(lean)
    kept: list[tuple[Node, SearchLog]] = []
    size = python_bytes(lambda: kept.append(grow(fresh, TargetPolicy(policy), config, num_simulations)))
    [(root, log)] = kept
    nodes = log.counts.nodes
    beside = (size - strings_of(root)) / nodes
    stored = tree_to_json(root)
    without_texts = {**stored, "states": [], "tactics": []}
    details = {
        "nodes": nodes,
        "without_branches": round(alone),
        "with_strings": round(size / nodes),
        "estimate_of_max_tree_mbytes": round(log.counts.tree_bytes / nodes),
        "stored_bytes": round(len(json.dumps(stored)) / nodes),
        "stored_bytes_beside_texts": round(len(json.dumps(without_texts)) / nodes),
    }
    # The baseline is a bound: with a kilobyte for each, the 200,000 nodes of the largest search are 200 MB.
    name = f"search, memory of a node beside its strings ({preset} constants)"
    return result(name, "bytes", round(beside), 1024, round(1024 / beside, 2), details)


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark and write its results."""
    parser = plain_parser(__doc__)
    parser.add_argument("--num-simulations", type=int, default=4000)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args(argv)
    results = []
    for preset in PRESETS:
        parts = [partial(compare, preset, samples, args.num_simulations, args.repeats) for samples in SAMPLES]
        for measure in (*parts, partial(memory, preset, args.num_simulations)):
            results.append(measure())
            print(f"{compared(results[-1])}  {results[-1]['details']}", flush=True)
    write_results(args.json, results)
    return 0


if __name__ == "__main__":
    main()
