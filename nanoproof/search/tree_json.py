"""Search trees as compact JSON and back, for the log of attempts.

Only the handles of Lean processes are lost: a tree that was read has the statistics, the known tactics and the flags of
the one that was written.
"""

import re
from collections.abc import Iterable
from typing import Any

from nanoproof.search.node import Kind, Node, walk

_LETTER = {Kind.OR: "o", Kind.AND: "a", Kind.CLOSED: "c"}
_KIND = {"o": Kind.OR, "a": Kind.AND, "c": Kind.CLOSED}

# A goal is printed with the tag of its case above it, which two equal states need not share.
_CASE_LINE = re.compile(r"^case .*\n", re.MULTILINE)


class _Table:
    """Distinct texts, by number."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def number(self, text: str | None) -> int:
        """Return the number of a text, a new one if it is new; -1 for none."""
        if text is None:
            return -1
        return self.numbers.setdefault(text, len(self.numbers))

    def number_all(self, texts: Iterable[str | None]) -> list[int]:
        """Return the numbers of texts."""
        return [self.number(text) for text in texts]


# -- Writing -----------------------------------------------------------------------------------------------------------


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
    parents = [-1] * len(nodes)
    index: dict[Node, int] = {}
    for i, node in enumerate(nodes):
        index[node] = i
    for i, node in enumerate(nodes):
        for child in node.children:
            parents[index[child]] = i

    tree: dict[str, Any] = {"kind": [], "solved": [], "parent": parents}
    for column in ("tactic", "prior", "logprob", "visits", "value_sum", "expansions", "state", "finisher", "dead"):
        tree[column] = []
    states, tactics = _Table(), _Table()
    for i, node in enumerate(nodes):
        tree["kind"].append(_LETTER[node.kind])
        tree["solved"].append("01"[node.solved])
        tree["tactic"].append(tactics.number(node.tactic))
        tree["prior"].append(node.prior)
        tree["logprob"].append(node.logprob or 0)  # one character for 0.0, which most nodes have
        tree["visits"].append(node.visits)
        tree["value_sum"].append(node.value_sum or 0)
        tree["expansions"].append(node.expansions)
        tree["state"].append(states.number(node.state or None))
        if node.finisher:
            tree["finisher"].append(i)
        if node.dead:
            tree["dead"].append(i)
    tree["kind"], tree["solved"] = "".join(tree["kind"]), "".join(tree["solved"])

    # After the texts of the edges, as texts are numbered in the order in which they come up: a tree that is written
    # twice gives the same bytes.
    tree["spellings"] = {}
    for i, node in enumerate(nodes):
        if node.spellings:
            tree["spellings"][str(i)] = tactics.number_all(node.spellings)
    tree["refused"], tree["merged"] = _tactics_without_an_edge(nodes, index, tactics)
    tree["keys"] = _unusual_keys(nodes)
    tree["born"] = [node.born for node in nodes]
    tree["ends"], tree["values"] = _replay(nodes)
    tree["states"], tree["tactics"] = list(states.numbers), list(tactics.numbers)
    return tree


def _tactics_without_an_edge(
    nodes: list[Node], index: dict[Node, int], tactics: _Table
) -> tuple[dict[str, list[int]], list[list[int]]]:
    """Return `refused` and `merged`: what `known` has besides the texts of the edges."""
    refused: dict[str, list[int]] = {}
    for i, node in enumerate(nodes):
        for tactic, child in node.known.items():
            if child is None:
                refused.setdefault(str(i), []).append(tactics.number(tactic))
    merged = []
    for i, node in enumerate(nodes):
        for tactic, child in node.known.items():
            # A finisher's text is not among the spellings of an edge that the policy knows as well.
            if child is not None and tactic != child.tactic and tactic not in child.spellings:
                merged.append([i, tactics.number(tactic), index[child]])
    return refused, merged


def _unusual_keys(nodes: list[Node]) -> dict[str, str]:
    """Return the merge keys of OR nodes that cannot be told from the state."""
    keys = {}
    for i, node in enumerate(nodes):
        if node.kind is Kind.OR and node.key[0] != _untagged(node.state):
            keys[str(i)] = node.key[0]
    return keys


def _replay(nodes: list[Node]) -> tuple[list[int], list[float]]:
    """Return for each simulation the node that it expanded and the value that it backed up there."""
    ends: list[int] = []
    values: list[float] = []
    for i, node in enumerate(nodes):
        for simulation, value in node.ends:
            # Simulations that a disproof took expand nothing in this tree.
            missing = simulation - len(ends)  # not above 0 where a later one was met before
            ends += [-1] * missing
            values += [0] * missing
            ends[simulation - 1] = i
            values[simulation - 1] = round(value, 4)
    return ends, values


# -- Reading -----------------------------------------------------------------------------------------------------------


def tree_from_json(data: dict[str, Any]) -> Node:
    """Read the tree that `tree_to_json` wrote, without Lean branches; older formats give what they hold."""
    if "tactics" not in data:
        data = _from_older(data)
    texts = data["tactics"]
    nodes: list[Node] = []
    below: list[list[Node]] = [[] for _ in data["kind"]]
    for i, parent in enumerate(data["parent"]):
        node = _read_node(data, i)
        nodes.append(node)
        if parent >= 0:
            below[parent].append(node)
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
            known[i] = {}
            for child in below[i]:
                known[i].update(dict.fromkeys([child.tactic or "", *child.spellings], child))
    for number, refused in data["refused"].items():
        known.setdefault(int(number), {}).update(dict.fromkeys([texts[tactic] for tactic in refused]))
    for i, tactic, child in data["merged"]:
        known[i][texts[tactic]] = nodes[child]
    for i, tactics in known.items():
        nodes[i].known = tactics

    # Trees from before searches could be replayed have neither `born` nor `ends`.
    for node, born in zip(nodes, data.get("born", ()), strict=False):
        node.born = born
    for simulation, (i, value) in enumerate(zip(data.get("ends", ()), data.get("values", ()), strict=False), 1):
        if i >= 0:
            nodes[i].ends += ((simulation, float(value)),)
    return nodes[0]


def _read_node(data: dict[str, Any], i: int) -> Node:
    """Read the `i`-th node, without what leads to other nodes."""
    state, tactic = data["state"][i], data["tactic"][i]
    node = Node(_KIND[data["kind"][i]], "", (), None, data["prior"][i])
    if state >= 0:
        node.state = data["states"][state]
    if tactic >= 0:
        node.tactic = data["tactics"][tactic]
    spellings = data["spellings"].get(str(i), ())
    node.spellings = tuple([data["tactics"][number] for number in spellings])
    node.logprob = float(data["logprob"][i])
    node.solved = data["solved"][i] == "1"
    node.visits = data["visits"][i]
    node.value_sum = float(data["value_sum"][i])
    node.expansions = data["expansions"][i]
    if node.kind is Kind.OR:
        node.key = (data["keys"].get(str(i)) or _untagged(node.state),)
    return node


def _from_older(data: dict[str, Any]) -> dict[str, Any]:
    """Convert the older format, with tactics as texts and without many of the fields, to the present one."""
    tactics = _Table()
    numbers = tactics.number_all(data["tactic"])
    spellings = {}
    for i, texts in data["spellings"].items():
        spellings[i] = tactics.number_all(texts)
    return {
        **data,
        "tactic": numbers,
        "spellings": spellings,
        "logprob": [0] * len(data["kind"]),
        **{"dead": [], "refused": {}, "merged": [], "keys": {}},
        "tactics": list(tactics.numbers),
    }


def _untagged(state: str) -> str:
    return _CASE_LINE.sub("", state)
