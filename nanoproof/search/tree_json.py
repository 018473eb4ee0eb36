"""Search trees as compact JSON and back, for the log of attempts.

Only the handles of Lean processes are lost: a tree that was read has the statistics, the known tactics and the flags of
the one that was written.
"""

import re
from collections.abc import Iterable
from typing import Any

from nanoproof.search.node import Kind, Node, walk

_LETTER = {Kind.OR: "o", Kind.AND: "a", Kind.CLOSED: "c"}
_KIND = {letter: kind for kind, letter in _LETTER.items()}
_CASE_LINE = re.compile(r"^case .*\n", re.MULTILINE)


class _Table:
    """Distinct texts, by number."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def number(self, text: str | None) -> int:
        """Return the number of a text, a new one if it is new; -1 for none."""
        return -1 if text is None else self.numbers.setdefault(text, len(self.numbers))

    def number_all(self, texts: Iterable[str]) -> list[int]:
        """Return the numbers of texts."""
        return [self.number(text) for text in texts]


def tree_to_json(root: Node) -> dict[str, Any]:
    """Convert a tree to JSON data: columns of one entry per node, parents before children.

    `kind` and `solved` are texts of one letter per node (o, a, c for OR, AND, closed; 0, 1). `parent` is -1 for the
    root; `state` and `tactic` point into `states` and `tactics`, -1 for none. What few nodes have is listed apart:
    `finisher` and `dead` list nodes; `spellings` (other texts of the edge) and `refused` (tactics that led nowhere) map
    a node to tactics; `merged` lists (node, tactic, child) where the edge does not have that text; `keys` are the merge
    keys that are not the state without its `case` lines. The search can be replayed from `born` (the simulation that
    added a node, 0 for the root), `ends` (for each simulation the node that it expanded, -1 where that was a disproof)
    and `values` (what each backed up from there, to four digits).
    """
    nodes = list(walk(root))
    index = {node: i for i, node in enumerate(nodes)}
    parents = {child: i for i, node in enumerate(nodes) for child in node.children}
    states, tactics = _Table(), _Table()
    ends = {simulation: (i, value) for i, node in enumerate(nodes) for simulation, value in node.ends}
    simulations = range(1, max(ends, default=0) + 1)
    return {
        "kind": "".join([_LETTER[node.kind] for node in nodes]),
        "solved": "".join(["01"[node.solved] for node in nodes]),
        "parent": [parents.get(node, -1) for node in nodes],
        "tactic": [tactics.number(node.tactic) for node in nodes],
        "prior": [node.prior for node in nodes],
        "logprob": [node.logprob or 0 for node in nodes],
        "visits": [node.visits for node in nodes],
        "value_sum": [node.value_sum or 0 for node in nodes],
        "expansions": [node.expansions for node in nodes],
        "state": [states.number(node.state or None) for node in nodes],
        "finisher": [i for i, node in enumerate(nodes) if node.finisher],
        "dead": [i for i, node in enumerate(nodes) if node.dead],
        "spellings": {str(i): tactics.number_all(node.spellings) for i, node in enumerate(nodes) if node.spellings},
        "refused": {
            str(i): refused
            for i, node in enumerate(nodes)
            if (refused := tactics.number_all(tactic for tactic, child in node.known.items() if child is None))
        },
        "merged": [
            [i, tactics.number(tactic), index[child]]
            for i, node in enumerate(nodes)
            for tactic, child in node.known.items()
            if child is not None and tactic != child.tactic and tactic not in child.spellings
        ],
        "keys": {
            str(i): node.key[0]
            for i, node in enumerate(nodes)
            if node.kind is Kind.OR and node.key[0] != _untagged(node.state)
        },
        "born": [node.born for node in nodes],
        "ends": [ends[simulation][0] if simulation in ends else -1 for simulation in simulations],
        "values": [round(ends[simulation][1], 4) if simulation in ends else 0 for simulation in simulations],
        "states": list(states.numbers),
        "tactics": list(tactics.numbers),
    }


def tree_from_json(data: dict[str, Any]) -> Node:
    """Read the tree that `tree_to_json` wrote, without Lean branches; older formats give what they hold."""
    data = data if "tactics" in data else _from_older(data)
    states, texts = data["states"], data["tactics"]
    nodes: list[Node] = []
    below: list[list[Node]] = [[] for _ in data["kind"]]
    for i, letter in enumerate(data["kind"]):
        kind, state, tactic = _KIND[letter], data["state"][i], data["tactic"][i]
        node = Node(kind, states[state] if state >= 0 else "", (), None, data["prior"][i])
        node.tactic = texts[tactic] if tactic >= 0 else None
        node.spellings = tuple([texts[number] for number in data["spellings"].get(str(i), ())])
        node.logprob = float(data["logprob"][i])
        node.solved = data["solved"][i] == "1"
        node.visits = data["visits"][i]
        node.value_sum = float(data["value_sum"][i])
        node.expansions = data["expansions"][i]
        if kind is Kind.OR:
            node.key = (data["keys"].get(str(i)) or _untagged(node.state),)
        nodes.append(node)
        if data["parent"][i] >= 0:
            below[data["parent"][i]].append(node)
    for i in data["finisher"]:
        nodes[i].finisher = True
    for i in data["dead"]:
        nodes[i].dead = True
    known: dict[int, dict[str, Node | None]] = {}
    for i, node in enumerate(nodes):
        node.children = tuple(below[i])
        if node.kind is Kind.AND:
            node.key = tuple([child.key[0] for child in below[i]])
        elif below[i]:
            known[i] = {text: child for child in below[i] for text in (child.tactic or "", *child.spellings)}
    for number, refused in data["refused"].items():
        known.setdefault(int(number), {}).update(dict.fromkeys([texts[n] for n in refused]))
    for i, tactic, child in data["merged"]:
        known[i][texts[tactic]] = nodes[child]
    for i, tactics in known.items():
        nodes[i].known = tactics
    for node, born in zip(nodes, data.get("born", ()), strict=False):  # trees from before there was a replay have none
        node.born = born
    for simulation, (i, value) in enumerate(zip(data.get("ends", ()), data.get("values", ()), strict=False), 1):
        if i >= 0:
            nodes[i].ends += ((simulation, float(value)),)
    return nodes[0]


def _from_older(data: dict[str, Any]) -> dict[str, Any]:
    """Convert the older format, with tactics as texts and without many of the fields, to the present one."""
    tactics = _Table()
    return {
        **data,
        "tactic": [tactics.number(tactic) for tactic in data["tactic"]],
        "spellings": {i: tactics.number_all(spellings) for i, spellings in data["spellings"].items()},
        "logprob": [0] * len(data["kind"]),
        **{"dead": [], "refused": {}, "merged": [], "keys": {}},
        "tactics": list(tactics.numbers),
    }


def _untagged(state: str) -> str:
    return _CASE_LINE.sub("", state)
