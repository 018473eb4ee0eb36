"""Whole trees against those of the plain transcription, which shares nothing with the search but its inputs."""

import random
from collections import Counter
from typing import Any

import pytest

from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import Kind, Node, or_node, walk
from nanoproof.search.reference import PlainNode, plain_search
from nanoproof.search.search import search
from tests.fakes.policy import ScriptedDisprover
from tests.fakes.world import RandomLean, RandomPolicy, state

SEEDS = range(20)
SIMULATIONS = 80


FALSE = frozenset(state(n, goals).state.text for n in range(0, 400, 4) for goals in (1, 2))  # merge keys, too


def both(seed: int, **options: Any) -> tuple[PlainNode, Node, SearchLog]:
    """The reference's tree, and the search's, of one random world."""
    rng = random.Random(seed)
    lean = RandomLean(
        seed,
        rng.choice([12, 40, 400]),
        close=rng.choice([0.0, 0.03, 0.1]),
        coupled=True,
    )
    policy = RandomPolicy(seed)
    preset = rng.choice(["default", "alphaproof"])
    settings = {"progressive_c": rng.choice([0.1, 0.5]), "prior_temperature": rng.choice([1.0, 200.0]), **options}
    config = SearchConfig.preset(preset, **settings)  # type: ignore[arg-type]
    expected = plain_search(state(0), policy.again(), lean, config, SIMULATIONS, FALSE)
    root, log = or_node(state(0)), SearchLog()
    search(
        root,
        policy.again(),
        lean,
        config,
        SIMULATIONS,
        log,
        disprover=ScriptedDisprover([text.removeprefix("⊢ ") for text in FALSE]),
    )
    return expected, root, log


def described(node: Node) -> dict[str, Any]:
    """What the reference keeps of a node and of those below it, of a tree of the search."""
    return {
        "kind": node.kind.value,
        "key": node.key,
        "state": node.state,
        "tactic": node.tactic,
        "N": node.visits,
        "W": pytest.approx(node.value_sum, rel=1e-9),
        "E": node.expansions,
        "P": pytest.approx(node.prior, rel=1e-9),
        "solved": node.solved,
        "dead": node.dead,
        "children": [described(child) for child in node.children],
    }


def without_working(node: PlainNode) -> dict[str, Any]:
    """A tree of the reference without what it needs to work on."""
    kept = {name: value for name, value in node.items() if name not in ("branch", "texts")}
    return {**kept, "children": [without_working(child) for child in node["children"]]}


DISPROVE = {"disprove_inner": True, "disprove_value": -4.0, "disprove_visits": 2}
SETTINGS: dict[str, dict[str, Any]] = {
    "as_it_is": {},
    "without_merging": {"merge_same_state": False},
    "without_values": {"use_value": False},
    "with_disproof": DISPROVE,
    "by_the_pseudocode": {"rules": "pseudocode"},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_tree_is_that_of_the_reference(name: str) -> None:
    for seed in SEEDS:
        expected, root, _ = both(seed, **SETTINGS[name])
        assert without_working(expected) == described(root), seed


def test_the_worlds_hold_what_they_are_to_test() -> None:
    """Splits, splits below splits, coupled goals, merges, cycles, expansions of expanded nodes, proofs, disproofs."""
    found: Counter[str] = Counter()
    for seed in SEEDS:
        _, root, log = both(seed, **DISPROVE)
        found.update(merged=log.counts.merged, cycles=log.counts.cycles, solved=root.solved, dead=log.counts.disproved)
        for node in walk(root):
            found["and"] += node.kind is Kind.AND and node.visits > 1
            found["again"] += node.kind is Kind.OR and node.expansions > 1
            found["coupled"] += node.visits > 0 and "\n\n" in node.state
            if node.kind is Kind.AND:
                found["nested"] += any(
                    b.kind is Kind.AND and b.visits > 0 for child in node.children for b in walk(child)
                )
    assert (
        min(found[name] for name in ("merged", "cycles", "solved", "dead", "and", "again", "coupled", "nested")) >= 5
    ), found
