"""A search tree as compact JSON and back, for the log of attempts and for those who look at it later."""

from typing import Any

from nanoproof.search.node import Kind, Node, walk

_LETTER = {Kind.OR: "o", Kind.AND: "a", Kind.CLOSED: "c"}
_KIND = {letter: kind for kind, letter in _LETTER.items()}


def tree_to_json(root: Node) -> dict[str, Any]:
    """The tree in columns, one entry per node, parents before children; `state` points into `states`.

    `parent` is -1 for the root, `state` -1 where there is none. `kind` and `solved` are texts of one letter per node
    (o, a, c for OR, AND, closed; 0, 1), `finisher` lists nodes, `spellings` maps a node to its other tactic texts.
    """
    nodes = list(walk(root))
    index = {id(node): i for i, node in enumerate(nodes)}
    parents = {id(child): i for i, node in enumerate(nodes) for child in node.children}
    states: dict[str, int] = {}
    return {
        "kind": "".join(_LETTER[node.kind] for node in nodes),
        "solved": "".join("01"[node.solved] for node in nodes),
        "parent": [parents.get(id(node), -1) for node in nodes],
        "tactic": [node.tactic for node in nodes],
        "prior": [node.prior for node in nodes],
        "visits": [node.visits for node in nodes],
        "value_sum": [node.value_sum for node in nodes],
        "expansions": [node.expansions for node in nodes],
        "state": [states.setdefault(node.state, len(states)) if node.state else -1 for node in nodes],
        "states": list(states),
        "finisher": [index[id(node)] for node in nodes if node.finisher],
        "spellings": {str(index[id(node)]): list(node.spellings) for node in nodes if node.spellings},
    }


def tree_from_json(data: dict[str, Any]) -> Node:
    """The tree that `tree_to_json` wrote: to be read, not searched on (its branches are in no Lean process)."""
    nodes: list[Node] = []
    for i, letter in enumerate(data["kind"]):
        state = data["states"][data["state"][i]] if data["state"][i] >= 0 else ""
        node = Node(_KIND[letter], state, (), None, data["prior"][i])
        node.solved = data["solved"][i] == "1"
        node.tactic = data["tactic"][i]
        node.visits = data["visits"][i]
        node.value_sum = data["value_sum"][i]
        node.value = node.value_sum / node.visits if node.visits else 0.0
        node.expansions = data["expansions"][i]
        if data["parent"][i] >= 0:
            parent = nodes[data["parent"][i]]
            parent.children = (*parent.children, node)
        nodes.append(node)
    for i in data["finisher"]:
        nodes[i].finisher = True
    for i, spellings in data["spellings"].items():
        nodes[int(i)].spellings = tuple(spellings)
    return nodes[0]
