"""Whole trees against trees worked out by hand; each JSON file says how in its `why`."""

import json
from pathlib import Path
from typing import Any

import pytest

from nanolean.tests.each import each
from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import Node, or_node
from nanoproof.search.search import search
from tests.fakes.lean import ScriptedLean, branch
from tests.fakes.policy import ScriptedDisprover, ScriptedPolicy, suggestion

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.json"))


def as_golden(node: Node) -> dict[str, Any]:
    described: dict[str, Any] = {
        "tactic": node.tactic,
        "kind": node.kind.value,
        "state": node.state.removeprefix("⊢ "),
        "N": node.visits,
        "W": pytest.approx(node.value_sum, abs=1e-12),
        "E": node.expansions,
        "P": pytest.approx(node.prior, abs=1e-12),
        "solved": node.solved,
        "dead": node.dead,
        "spellings": list(node.spellings),
        "children": [as_golden(child) for child in node.children],
    }
    return described


def filled_in(expected: dict[str, Any]) -> dict[str, Any]:
    defaults = {"tactic": None, "kind": "or", "state": "", "spellings": [], "dead": False}
    return {**defaults, **expected, "children": [filled_in(child) for child in expected.get("children", [])]}


@each("path", GOLDEN, ids=lambda path: path.stem)
def test_tree_is_the_one_worked_out_by_hand(path: Path) -> None:
    golden = json.loads(path.read_text())
    policy = ScriptedPolicy({s: [suggestion(**turn) for turn in turns] for s, turns in golden["policy"].items()})
    lean, config = ScriptedLean(golden["lean"]), SearchConfig(**golden["config"])
    root = or_node(branch("A"))
    disprover = ScriptedDisprover(golden.get("false", ()))
    ended = search(root, policy, lean, config, golden["simulations"], SearchLog(), disprover=disprover)
    assert ended == golden["ended"]
    assert filled_in(golden["tree"]) == as_golden(root)
