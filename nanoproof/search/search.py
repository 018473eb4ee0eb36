"""AND/OR tree search for one theorem: select, evaluate, expand, back up, until the root is solved or a limit is met.

The algorithm is that of AlphaProof's published description; `reference.py` has it as plainly as it can be written. The
evaluator (`policy`) and the environment (`lean`) are arguments; the search itself draws no random numbers, reads no
clock and writes no log. It can be called again with the same root and log, and continues where it stopped.

Nothing but the statistics N, W, E, P is kept in the nodes: every score is computed where it is compared, which takes
tens of microseconds a simulation, where a Lean server takes milliseconds.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import log as ln
from math import sqrt
from typing import Literal, NamedTuple, Protocol

from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import Estimate, SearchLog, TacticRunner, evaluate_and_expand, keys_of
from nanoproof.search.frontier import AOStar, Frontier
from nanoproof.search.node import TACTIC_REWARD, Kind, Node, walk
from nanoproof.search.policy import Policy
from nanoproof.search.transpositions import is_repeat, note_expanded, reuse_proofs

StopReason = Literal["solved", "simulations", "nodes", "bytes", "stopped", "hopeless"]


class Disproof(NamedTuple):
    """Whether a state was shown to be false, and the simulations that this took."""

    found: bool
    simulations: int


class Disprover(Protocol):
    """Tries to prove the negation of a state."""

    def disprove(self, node: Node, num_simulations: int) -> Disproof:
        """Try to disprove the state of an OR node; `found` only if its negation is proved beyond doubt."""
        ...


def search(
    root: Node,
    policy: Policy,
    lean: TacticRunner,
    config: SearchConfig,
    num_simulations: int,
    log: SearchLog,
    should_stop: Callable[[], bool] | None = None,
    disprover: Disprover | None = None,
) -> StopReason:
    """Grow the tree below `root` until it is solved or `log` holds `num_simulations` simulations, and say why it ended.

    `should_stop` is asked before each simulation (deadlines, aborts). Raises LeanError if the server is gone; the tree
    is then as it was before the simulation that failed. With `disprove_inner`, `disprover` is asked about poor states.
    """
    if config.merge_states == "equivalent" and root.branch is not None:
        root.identity = keys_of([root.branch], config)[1]
    if config.c_base_of_budget:
        config = replace(config, c_base=config.c_base_of_budget * max(1, num_simulations))
    counts, max_bytes = log.counts, config.max_tree_mbytes * 1e6
    frontier: Frontier | AOStar | None = None
    if config.algorithm != "mcts":
        frontier = AOStar(root, config) if config.algorithm == "ao-star" else Frontier(root, config, log)
    while not root.solved:
        if counts.simulations >= num_simulations:
            return "simulations"
        if counts.nodes >= config.max_nodes:
            return "nodes"
        if counts.tree_bytes >= max_bytes:
            return "bytes"
        if should_stop is not None and should_stop():
            return "stopped"
        path = select(root, config, log, num_simulations) if frontier is None else frontier.path()
        num_children = len(path[-1].children)
        value = evaluate_and_expand(path, policy, lean, config, log)
        value = back_up(path, value, config)
        counts.simulations += 1
        path[-1].ends += ((counts.simulations, value),)
        if config.normalize_values:
            note_scores(path, config, log)
        if config.dead_end_expansions:
            give_up(path, config, log)
        if config.defer_repeats:
            note_expanded(path[-1], log)
        if config.reuse_proofs:
            reuse_proofs(root, path, num_children, lean, config, log)
        if frontier is not None:
            frontier.expanded(num_children)
        if disprover is not None and config.disprove_inner:
            disprove_on(path, disprover, config, num_simulations, log)
        if estimate_is_due(root, log):
            log.estimates.append(Estimate(counts.simulations, -root.value, least_left(root)))
            if counts.simulations < num_simulations and is_hopeless(log.estimates[-1], config):
                return "hopeless"
    return "solved"


# -- giving up ---------------------------------------------------------------------------------------------------------


def estimate_is_due(root: Node, log: SearchLog) -> bool:
    """Tell whether the number of simulations has reached another power of two, without a proof."""
    last = log.estimates[-1].simulations if log.estimates else 0
    return not root.solved and log.counts.simulations >= 1 << last.bit_length()


def least_left(root: Node) -> float:
    """Return how many tactics are left for the root by the best way in the tree, as far as it was expanded.

    An expanded node without expanded children needs minus its V; another OR node one tactic more than its best child,
    and an AND node as many as its worst. Solved nodes need none.
    """
    left: dict[Node, float] = {}
    for node in reversed(list(walk(root))):
        below = [left[child] for child in node.children if child in left]
        if node.solved:
            left[node] = 0.0
        elif node.dead or not node.visits:
            continue
        elif node.kind is Kind.AND:
            left[node] = max(below, default=-node.value)
        else:
            left[node] = 1.0 + min(below) if below else -node.value
    return left.get(root, -root.value)


def is_hopeless(estimate: Estimate, config: SearchConfig) -> bool:
    """Tell whether a search is given up: by the root's V, or where the search does not follow V, by the best way."""
    if config.stop_value is None or estimate.simulations < config.stop_after:
        return False
    return (estimate.best if config.algorithm == "best-first" else estimate.mean) > config.stop_value


# -- selection ---------------------------------------------------------------------------------------------------------


def select(root: Node, config: SearchConfig, log: SearchLog, num_simulations: int) -> list[Node]:
    """Select a path from the root down to the OR node to expand; below the root, only open nodes are entered."""
    path = [root]
    halving = config.root == "halving"
    while able := able_children(path[-1], config, log):
        if halving and len(able) > 1:
            halving = False
            if path[-1].kind is Kind.OR:
                path.append(halving_child(path[-1], able, config, log, num_simulations))
                continue
        path.append(best_child(path[-1], able, config, log))
    return path


def able_children(node: Node, config: SearchConfig, log: SearchLog) -> list[Node]:
    """List the children that a simulation at `node` may move to; none if it ends here, with an expansion.

    Progressive sampling asks for another expansion of an OR node while `E <= C * N^alpha`. With `defer_repeats`,
    states that are worked on elsewhere come last.
    """
    if node.kind is Kind.OR:
        limit = config.progressive_c * node.visits**config.progressive_alpha
        if config.progressive_disagreement:
            scores = [_score(node, child, config, log) for child in node.children if child.visits]
            limit *= 1.0 + config.progressive_disagreement * (max(scores, default=0.0) - min(scores, default=0.0))
        if node.expansions <= limit:
            return []
    able = [child for child in node.children if not (child.solved or child.dead or child.given_up)]
    if config.defer_repeats:
        able = [child for child in able if not is_repeat(child, log)] or able
    return able


def best_child(node: Node, able: Sequence[Node], config: SearchConfig, log: SearchLog) -> Node:
    """Return the child of highest `U = value + c(N) * P/sum(P) * sqrt(N) / (1 + N(child))`; of equals the first added.

    Below an AND node exploration weighs `c_and` times as much, and the child that is worth least comes first: `value`
    is one minus its score. Children without visits are all worth the same, so that only the one of highest prior has to
    be looked at.
    """
    fresh = max((child for child in able if not child.visits), key=lambda child: child.prior, default=None)
    exploration = _exploration(node, config)

    def upper_bound(child: Node) -> float:
        score = _score(node, child, config, log)
        value = 1.0 - score if node.kind is Kind.AND else score
        return value + exploration * (child.prior / (1 + child.visits))

    return max((child for child in able if child.visits or child is fresh), key=upper_bound)


def _score(node: Node, child: Node, config: SearchConfig, log: SearchLog) -> float:
    """Score a child of `node` from 0 to 1.

    The score of a value is `q(x) = gamma^(-1-x)` clipped to [0, 1], taken at `x = -1 + V(child)` below an OR node and
    at `x = V(child)` below an AND node, and at `x = V(node) - penalty` for a child without visits. `normalize_values`
    stretches those seen in the tree to [0, 1], as MuZero does (Schrittwieser et al. 2020).
    """
    if config.rules == "pseudocode":  # neither a penalty nor a clip: with V = +1 below AND a score may exceed 1
        reward = 0.0 if node.kind is Kind.AND else TACTIC_REWARD
        return config.gamma ** (-1.0 - (reward + child.value)) if child.visits else 0.0
    if child.visits:
        score = config.gamma**-child.value / (config.gamma if node.kind is Kind.AND else 1.0)
    else:
        score = config.gamma**-node.value * config.gamma ** (config.unvisited_penalty - 1.0)
    if config.normalize_values and log.scores is not None:
        low, high = log.scores
        if low < high:
            score = max(0.0, (score - low) / (high - low))
    return min(1.0, score)


def halving_child(node: Node, able: Sequence[Node], config: SearchConfig, log: SearchLog, num_simulations: int) -> Node:
    """Return the least visited of the children that are still in the running after the visits of `node`.

    Sequential halving (Karnin et al. 2013; at the root of a tree search in Danihelka et al. 2022, without their noise):
    the simulations are dealt to ceil(log2(children)) rounds, and each round keeps the better half, by score and then
    prior. Here the ranking is made anew for each simulation.
    """
    rounds = max(1, (len(able) - 1).bit_length())
    number = min(rounds - 1, rounds * node.visits // max(1, num_simulations))
    ranked = sorted(able, key=lambda child: (-_score(node, child, config, log), -child.prior))
    return min(ranked[: -(-len(able) // 2**number)], key=lambda child: child.visits)


def _exploration(node: Node, config: SearchConfig) -> float:
    """What `P / (1 + N)` of each child of `node` is multiplied by: `c(N) * sqrt(N) / sum(P)`."""
    mass = 0.0
    for child in node.children:  # in this order: `sum` rounds differently from one version of Python to the next
        mass += child.prior
    c = config.c_init + ln((node.visits + config.c_base + 1) / config.c_base)
    weight = config.c_and if node.kind is Kind.AND else 1.0
    return c * sqrt(node.visits) * (weight / mass if mass else 0.0)


# -- back-up -----------------------------------------------------------------------------------------------------------


def back_up(path: Sequence[Node], value: float, config: SearchConfig) -> float:
    """Add a visit of `value` to the last node of `path`, and back it up to the nodes above.

    `value` is minus the number of tactics needed at the expanded node; where no tactic led anywhere (or only where it
    is known that no proof is) `no_legal_value` takes its place. What was added there is returned. An OR node is solved
    with any of its children, an AND node with all of them, and it is worth what its worst branch is.
    """
    leaf = path[-1]
    if all(child.dead or child.given_up for child in leaf.children):
        value = config.no_legal_value
    added = value
    for node in reversed(path):
        if node.kind is Kind.AND:
            node.solved = all(child.solved for child in node.children)
            value = _worst_value(node, config)
        else:
            node.solved = any(child.solved for child in node.children)
            if node is not leaf:
                value += TACTIC_REWARD
        node.visits += 1
        node.value_sum += value
    return added


def note_scores(path: Sequence[Node], config: SearchConfig, log: SearchLog) -> None:
    """Record the scores of the nodes on a path, below its root, for `normalize_values`."""
    scores = [config.gamma**-node.value for node in path[1:]]
    if scores:
        low, high = log.scores or (scores[0], scores[0])
        log.scores = min(low, *scores), max(high, *scores)


def give_up(path: Sequence[Node], config: SearchConfig, log: SearchLog) -> None:
    """Give up the last node of `path`, if it has had its expansions and no open child, and what then cannot be solved.

    That is an AND node above it, and an OR node above with no other open child, if it has had its expansions too. The
    root is never given up.
    """
    for node in reversed(path[1:]):
        if node.kind is Kind.OR and (
            node.solved or node.expansions < config.dead_end_expansions or any(child.open for child in node.children)
        ):
            return
        node.given_up = True
        log.counts.given_up += 1


def _worst_value(node: Node, config: SearchConfig) -> float:
    """Below an AND node: the smallest V of the visited unsolved children; of all visited ones if none is unsolved.

    The published pseudocode starts its minimum at +1 and leaves solved children out, so that this is what it has in the
    second case. No proof is worth +1; the paper's values are all negative.
    """
    visited = [child for child in node.children if child.visits]
    unsolved = [child for child in visited if not child.solved]
    if config.rules == "pseudocode":
        return min([1.0, *[child.value for child in unsolved]])
    return min(child.value for child in unsolved or visited)


# -- disproof inside the tree ------------------------------------------------------------------------------------------


def disprove_on(
    path: Sequence[Node], disprover: Disprover, config: SearchConfig, num_simulations: int, log: SearchLog
) -> None:
    """Try to disprove the first poor state on `path`, below its root, that was not tried before.

    A state of poor value may be false, and then all work below it is lost. What is asked is whether the negation of its
    closed statement, `¬ (∀ hypotheses, target)`, has a proof: then the state has none. A state that is known to be
    false is closed wherever it comes up. The simulations that a try takes count as any others, up to `num_simulations`
    in all.
    """
    counts = log.counts
    for depth, node in enumerate(path):
        if node.solved:
            return
        if depth == 0 or node.kind is not Kind.OR:
            continue
        key = node.key[0]
        tried = key not in log.disproofs
        if tried:
            budget = min(config.disprove_simulations, num_simulations - counts.simulations)
            if budget <= 0 or node.visits < config.disprove_visits or node.value > config.disprove_value:
                continue
            disproof = disprover.disprove(node, budget)
            counts.disprove_tries += 1
            counts.simulations += disproof.simulations
            log.disproofs[key] = disproof.found
        if log.disproofs[key]:
            counts.disproved += 1
            _close_for_good(path[: depth + 1])
            return
        if tried:
            return


def _close_for_good(path: Sequence[Node]) -> None:
    """Close the last node of `path`, which has no proof, and an AND node above it, which needs all its branches.

    An OR node above it loses one tactic only; it is expanded again if that was its last one.
    """
    path[-1].dead = True
    if path[-2].kind is Kind.AND:
        path[-2].dead = True
