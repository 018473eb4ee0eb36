"""Search trees as one page for a browser: no network, no libraries, all in one file."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from nanoproof.search.node import Kind, Node, walk

_PLACE = "/*DATA*/"


@dataclass(frozen=True)
class SearchView:
    """One search to look at: a title, a line about it, its tree, and the (state, tactic) pairs that Lean refused."""

    title: str
    facts: str
    root: Node
    refused: Sequence[tuple[str, str]] = ()


def tree_page(searches: Iterable[SearchView]) -> str:
    """The page that shows these searches, one at a time."""
    text = json.dumps([_data(view) for view in searches], ensure_ascii=False, separators=(",", ":"))
    template = files(__package__).joinpath("tree_page.html").read_text(encoding="utf-8")
    return template.replace(_PLACE, text.replace("<", "\\u003c"))  # nothing in it can end the element it stands in


def _data(view: SearchView) -> dict[str, Any]:
    nodes = list(walk(view.root))
    index = {node: i for i, node in enumerate(nodes)}
    parents = {child: index[node] for node in nodes for child in node.children}
    states: dict[str, int] = {}
    rows = [_row(node, parents.get(node, -1), states) for node in nodes]
    for node in _best_children(nodes):
        rows[index[node]]["best"] = True
    refused: list[list[str]] = [[] for _ in states]
    for state, tactic in view.refused:
        if state in states:
            refused[states[state]].append(tactic)
    return {
        "title": view.title,
        "facts": view.facts,
        "solved": view.root.solved,
        "nodes": rows,
        "states": list(states),
        "failed": refused,
    }


def _row(node: Node, parent: int, states: dict[str, int]) -> dict[str, Any]:
    return {
        "kind": node.kind.value,
        "parent": parent,
        "state": states.setdefault(node.state, len(states)) if node.kind is Kind.OR else -1,
        "tactic": node.tactic,
        "spellings": list(node.spellings),
        "finisher": node.finisher,
        "visits": node.visits,
        "value": round(node.value, 4),
        "prior": round(node.prior, 6),
        "mass": round(node.prior_sum, 6),
        "expansions": node.expansions,
        "solved": node.solved,
        "dead": node.dead,
    }


def _best_children(nodes: Sequence[Node]) -> set[Node]:
    """Of each solved OR node the child that needs the fewest tactics: the one that a proof would take."""
    costs: dict[Node, int] = {}
    best: set[Node] = set()
    for node in reversed(nodes):
        if not node.solved:
            continue
        if node.kind is Kind.CLOSED:
            costs[node] = 0
        elif node.kind is Kind.AND:
            costs[node] = max(costs[child] for child in node.children)
        else:
            solved = [child for child in node.children if child.solved]
            chosen = min(solved, key=lambda child: (costs[child], len(child.tactic or "")))
            costs[node] = 1 + costs[chosen]
            best.add(chosen)
    return best
