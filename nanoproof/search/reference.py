"""The search as plainly as possible, which `search.py` and `expand.py` have to agree with. Read this first.

Nodes are dictionaries, nothing is kept that can be computed, every sum and every score is computed when it is needed.
It knows neither finishers nor limits, and of tactics that failed it keeps nothing. Of what is off by default it knows
`rules` and `disprove_inner`; not `dead_end_expansions` and the best-first search.

    Tree        OR node: one branch, edges carry a tactic and reward -1. AND node: several branches, reward 0.
                N visits, W sum of values, E expansions, P prior; V = W/N; q(x) = gamma^(-1-x) clipped to [0, 1].
    Select      while the node has open children and not (OR and E <= C * N^alpha), go to the highest
                value + c(N) * P/sum(P) * sqrt(N)/(1 + N(child)), c(N) = c_init + log((N + c_base + 1)/c_base);
                OR: value = q(r + V(child)), or q(V(node) - penalty) if unvisited;
                AND: exploration times c_and, value = 1 - q(...) of the same two cases; solved and dead ones left out.
    Expand      a tactic's mass is count * exp(logprob / tau); a known tactic adds its mass; a refused one, one that ran
                out of time and one that leads to a state on the path leave nothing; one that leads to a sibling's state
                is merged (masses add, shorter text stays).
    Back up     value of a node without living children: no_legal_value. W += x, N += 1, solved = any (OR), all (AND).
                To an OR parent goes x - 1, to an AND parent the least V of its visited unsolved children (else of all
                visited).
    Pseudocode  with rules="pseudocode": value = 0 for an unvisited child (1 - 0 below AND), q is not clipped, states on
                the path are no cycles, and an AND parent without visited unsolved children gets +1.
    Disprove    a state whose negation was proved is dead, and with it an AND node above it. One is asked about once,
                when it has N >= disprove_visits and V <= disprove_value.
"""

from math import exp, log, sqrt
from typing import Any

from nanoproof.lean.types import Branch, TacticApplied
from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import TacticRunner
from nanoproof.search.policy import Policy

PlainNode = dict[str, Any]


def plain_search(
    branch: Branch,
    policy: Policy,
    lean: TacticRunner,
    config: SearchConfig,
    num_simulations: int,
    false: frozenset[str] = frozenset(),
) -> PlainNode:
    """Return the tree after `num_simulations` simulations, or as soon as its root is solved.

    With `disprove_inner`, the states whose merge keys are in `false` are disproved at once (each try counts as a
    simulation).
    """
    root = _or_node(branch, None, 1.0)
    asked: set[str] = set()
    simulations = 0
    while simulations < num_simulations and not root["solved"]:
        path = [root]
        while _open(path[-1]) and not _expand_again(path[-1], config):
            path.append(_best_child(path[-1], config))
        value = _expand(path, policy, lean, config)
        _back_up(path, value, config)
        simulations += 1
        if config.disprove_inner:
            simulations += _disprove(path, config, false, asked, simulations < num_simulations)
    return root


def _node(kind: str, state: str, key: tuple[str, ...], tactic: str | None, prior: float) -> PlainNode:
    return {
        "kind": kind, "state": state, "key": key, "tactic": tactic, "P": prior, "N": 0, "W": 0.0, "E": 0,
        "solved": kind == "closed", "dead": False, "children": [], "texts": set(),
    }  # fmt: skip


def _or_node(branch: Branch, tactic: str | None, prior: float) -> PlainNode:
    return {**_node("or", branch.state.text, (branch.state.merge_key,), tactic, prior), "branch": branch}


def _value(node: PlainNode) -> float:
    return node["W"] / node["N"] if node["N"] else 0.0


def _q(x: float, config: SearchConfig) -> float:
    return max(0.0, min(1.0, config.gamma ** (-1 - x)))


# -- select ------------------------------------------------------------------------------------------------------------


def _open(node: PlainNode) -> list[PlainNode]:
    # Below an OR node none is solved as long as the node is not: `_back_up` passes that on at once.
    return [child for child in node["children"] if not child["solved"] and not child["dead"]]


def _expand_again(node: PlainNode, config: SearchConfig) -> bool:
    # A new node has E = 0 and N = 0, so that it is always expanded once.
    limit = config.progressive_c * node["N"] ** config.progressive_alpha
    return node["kind"] == "or" and node["E"] <= limit


def _best_child(node: PlainNode, config: SearchConfig) -> PlainNode:
    # Of equals `max` takes the first: the child that was added first.
    return max(_open(node), key=lambda child: _upper_bound(node, child, config))


def _upper_bound(node: PlainNode, child: PlainNode, config: SearchConfig) -> float:
    is_and = node["kind"] == "and"
    if child["N"]:
        reward = 0 if is_and else -1  # a tactic costs 1, to choose among goals nothing
        x = reward + _value(child)
    else:
        x = _value(node) - config.unvisited_penalty
    score = _q(x, config)
    if config.rules == "pseudocode":
        score = config.gamma ** (-1 - x) if child["N"] else 0.0
    # All goals of an AND node are to be proved, the hardest first: a goal counts the more the worse its value is.
    value = 1 - score if is_and else score
    c = config.c_init + log((node["N"] + config.c_base + 1) / config.c_base)
    prior = child["P"] / sum(sibling["P"] for sibling in node["children"])
    exploration = c * prior * sqrt(node["N"]) / (1 + child["N"])
    return value + exploration * (config.c_and if is_and else 1)


# -- evaluate and expand -----------------------------------------------------------------------------------------------


def _expand(path: list[PlainNode], policy: Policy, lean: TacticRunner, config: SearchConfig) -> float:
    leaf = path[-1]
    suggestion = policy.suggest(leaf["state"])
    leaf["E"] += 1
    ancestors = [node["branch"].state.merge_key for node in path if node["kind"] == "or"]
    for tactic, logprob, count in zip(suggestion.tactics, suggestion.logprobs, suggestion.counts, strict=True):
        mass = count * exp(logprob / config.prior_temperature)
        # Of tactics that left nothing it remembers nothing: they are run again, with the same result.
        known = [child for child in leaf["children"] if tactic in child["texts"]]
        if known:
            known[0]["P"] += mass
            continue
        result = lean.apply(leaf["branch"], [tactic])[0]
        if not isinstance(result, TacticApplied):
            continue
        key = tuple(branch.state.merge_key for branch in result.branches)
        if config.rules == "paper" and any(state in ancestors for state in key):
            continue
        same = [child for child in leaf["children"] if config.merge_same_state and child["key"] == key]
        child = same[0] if same else _child(result, tactic, key)
        child["texts"].add(tactic)
        child["P"] += mass
        if same:
            child["tactic"] = min(child["tactic"], tactic, key=len)
        else:
            leaf["children"].append(child)
    return -suggestion.value if config.use_value else -1.0


def _child(result: TacticApplied, tactic: str, key: tuple[str, ...]) -> PlainNode:
    # Its prior mass is 0 as yet: `_expand` adds that of each tactic that leads here.
    if not result.branches:
        return _node("closed", "", (), tactic, 0.0)
    if len(result.branches) == 1:
        return _or_node(result.branches[0], tactic, 0.0)
    node = _node("and", "", key, tactic, 0.0)
    node["E"] = 1
    node["children"] = [_or_node(branch, None, 1 / len(result.branches)) for branch in result.branches]
    return node


# -- back up -----------------------------------------------------------------------------------------------------------


def _back_up(path: list[PlainNode], value: float, config: SearchConfig) -> None:
    if all(child["dead"] for child in path[-1]["children"]):
        value = config.no_legal_value
    for i in range(len(path) - 1, -1, -1):
        node = path[i]
        node["W"] += value
        node["N"] += 1
        solved = [child["solved"] for child in node["children"]]
        node["solved"] = all(solved) if node["kind"] == "and" else any(solved)
        parent = path[i - 1]  # for the root that is `path[-1]`; nothing is done with its value any more
        if parent["kind"] == "or":
            value = value - 1
        else:
            visited = [child for child in parent["children"] if child["N"]]
            unsolved = [child for child in visited if not child["solved"]]
            if config.rules == "pseudocode" and not unsolved:
                value = 1.0
            else:
                value = min(_value(child) for child in unsolved or visited)


# -- disprove ----------------------------------------------------------------------------------------------------------


def _disprove(
    path: list[PlainNode], config: SearchConfig, false: frozenset[str], asked: set[str], may_ask: bool
) -> int:
    """Disprove the first poor state of the path that is false; returns how many questions it took, 0 or 1."""
    for depth, node in enumerate(path):
        if node["solved"]:
            return 0
        # The root is the theorem itself, of which another attempt may prove the negation.
        if depth == 0 or node["kind"] == "and":
            continue
        key = node["key"][0]
        is_new = key not in asked
        if is_new:
            if not (may_ask and node["N"] >= config.disprove_visits and _value(node) <= config.disprove_value):
                continue
            asked.add(key)
        if key in false:
            node["dead"] = True
            if path[depth - 1]["kind"] == "and":
                path[depth - 1]["dead"] = True
        if is_new or key in false:
            return int(is_new)
    return 0
