"""AND/OR tree search for one theorem: select, evaluate, expand, back up, until the root is solved or a limit is met.

The algorithm is that of AlphaProof's published description; `reference.py` has it as plainly as it can be written. The
evaluator (`policy`) and the environment (`lean`) are arguments; the search itself draws no random numbers, reads no
clock and writes no log. It can be called again with the same root and log, and continues where it stopped.

Nothing but the statistics N, W, E, P is kept in the nodes: every score is computed where it is compared, which takes
tens of microseconds a simulation, where a Lean server takes milliseconds.
"""

from collections.abc import Callable, Sequence
from math import inf, sqrt
from math import log as ln
from typing import Literal, NamedTuple, Protocol

from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import Estimate, SearchLog, TacticRunner, evaluate_and_expand
from nanoproof.search.frontier import Frontier
from nanoproof.search.node import TACTIC_REWARD, Kind, Node, walk
from nanoproof.search.policy import Policy

StopReason = Literal["solved", "simulations", "nodes", "bytes", "stopped"]


class Disproof(NamedTuple):
    """Whether a state was shown to be false, and the simulations that this took."""

    is_false: bool
    simulations: int


class Disprover(Protocol):
    """Tries to prove the negation of a state."""

    def disprove(self, node: Node, num_simulations: int) -> Disproof:
        """Try to disprove the state of an OR node; `is_false` only if its negation is proved beyond doubt."""
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
    counts, max_bytes = log.counts, config.max_tree_mbytes * 1e6
    frontier: Frontier | None = None
    if config.algorithm == "best-first":
        frontier = Frontier(root, config)
    while not root.solved:
        if counts.simulations >= num_simulations:
            return "simulations"
        if counts.nodes >= config.max_nodes:
            return "nodes"
        if counts.tree_bytes >= max_bytes:
            return "bytes"
        if should_stop is not None and should_stop():
            return "stopped"

        if frontier is None:
            path = select(root, config)
        else:
            path = frontier.path()
        num_children = len(path[-1].children)
        value = evaluate_and_expand(path, policy, lean, config, log)
        # Best-first search does not read visits and values, but people and training do.
        value = back_up(path, value, config)
        counts.simulations += 1
        path[-1].ends += ((counts.simulations, value),)

        if config.dead_end_expansions:
            give_up(path, config, log)
        if frontier is not None:
            frontier.expanded(num_children)
        if disprover is not None and config.disprove_inner:
            disprove_on(path, disprover, config, num_simulations, log)
        if estimate_is_due(root, log):
            log.estimates.append(Estimate(counts.simulations, -root.value, least_left(root)))
    return "solved"


# -- Estimates of what is left -----------------------------------------------------------------------------------------


def estimate_is_due(root: Node, log: SearchLog) -> bool:
    """Tell whether the number of simulations has reached another power of two, without a proof."""
    last = 0
    if log.estimates:
        last = log.estimates[-1].simulations
    # Tries to disprove a state add several simulations at once, so that a power of two may be jumped over.
    return not root.solved and log.counts.simulations >= 1 << last.bit_length()


def least_left(root: Node) -> float:
    """Return how many tactics are left for the root by the best way in the tree, as far as it was expanded.

    An expanded node without expanded children needs minus its V; another OR node one tactic more than its best child,
    and an AND node as many as its worst. Solved nodes need none.
    """
    left: dict[Node, float] = {}
    for node in reversed(list(walk(root))):  # children before their parents
        below = [left[child] for child in node.children if child in left]
        if node.solved:
            left[node] = 0.0
        elif node.dead or not node.visits:
            continue
        elif not below:
            left[node] = -node.value
        elif node.kind is Kind.AND:
            left[node] = max(below)
        else:
            left[node] = 1.0 + min(below)
    return left.get(root, -root.value)


# -- Select ------------------------------------------------------------------------------------------------------------


def select(root: Node, config: SearchConfig) -> list[Node]:
    """Select a path from the root down to the OR node to expand; below the root, only open nodes are entered."""
    path = [root]
    while candidates := children_to_enter(path[-1], config):
        path.append(best_child(path[-1], candidates, config))
    return path


def children_to_enter(node: Node, config: SearchConfig) -> list[Node]:
    """List the children that a simulation at `node` may move to; none if it ends here, with an expansion.

    Progressive sampling asks for another expansion of an OR node while `E <= C * N^alpha`: a policy's tactics are
    samples, which may miss the right one. A node that was not expanded has E = 0, and satisfies this, too.
    """
    if node.kind is Kind.OR and node.expansions <= config.progressive_c * node.visits**config.progressive_alpha:
        return []
    # `child.open`, written out: this is the innermost loop of a search.
    return [child for child in node.children if not (child.solved or child.dead or child.given_up)]


def best_child(node: Node, candidates: Sequence[Node], config: SearchConfig) -> Node:
    """Return the child of highest `U = value + c(N) * P/sum(P) * sqrt(N) / (1 + N(child))`; of equals the first added.

    It is PUCT (Rosin 2011) with the growing factor of AlphaZero (Silver et al. 2018). Below an AND node exploration
    weighs `c_and` times as much, and the child that is worth least comes first: `value` is one minus its score. If the
    worst branch has no proof, the others need none.
    """
    # Children without visits are all worth the same, so that of them only the one of highest prior can be the best:
    # most children of a node are such, and need not be scored.
    fresh: Node | None = None
    for child in candidates:
        if not child.visits and (fresh is None or child.prior > fresh.prior):
            fresh = child

    exploration = _exploration(node, config)
    best, best_bound = candidates[0], -inf
    for child in candidates:
        if not child.visits and child is not fresh:
            continue
        value = _score(node, child, config)
        if node.kind is Kind.AND:
            value = 1.0 - value
        upper_bound = value + exploration * (child.prior / (1 + child.visits))
        if upper_bound > best_bound:
            best, best_bound = child, upper_bound
    return best


def _score(node: Node, child: Node, config: SearchConfig) -> float:
    """Score a child of `node` from 0 to 1.

    The score of a value is `q(x) = gamma^(-1-x)` clipped to [0, 1], taken at `x = -1 + V(child)` below an OR node and
    at `x = V(child)` below an AND node, and at `x = V(node) - penalty` for a child without visits. So one tactic away
    scores 1, and each further tactic costs a factor of gamma.
    """
    if config.rules == "pseudocode":
        if not child.visits:
            return 0.0
        # Not clipped: V may be +1 below an AND node (see `_worst_value`), which scores 1/gamma.
        reward = TACTIC_REWARD
        if node.kind is Kind.AND:
            reward = 0.0
        return config.gamma ** (-1.0 - (reward + child.value))
    if not child.visits:
        # First-play urgency: V(node) - penalty, as an unvisited child has no value of its own.
        score = config.gamma**-node.value * config.gamma ** (config.unvisited_penalty - 1.0)
    elif node.kind is Kind.AND:
        score = config.gamma**-child.value / config.gamma
    else:
        score = config.gamma**-child.value
    return min(1.0, score)


def _exploration(node: Node, config: SearchConfig) -> float:
    """Compute what `P / (1 + N)` of each child of `node` is multiplied by: `c(N) * sqrt(N) / sum(P)`."""
    # Priors are normalised here, over all children, since expanding again adds to their masses. Added up in this order:
    # `sum` rounds differently from one version of Python to the next, and equal seeds should give equal trees.
    mass = 0.0
    for child in node.children:
        mass += child.prior
    if not mass:
        return 0.0  # exp(logprob / tau) has rounded to 0 for all of them
    c = config.c_init + ln((node.visits + config.c_base + 1) / config.c_base)
    weight = 1.0
    if node.kind is Kind.AND:
        weight = config.c_and
    return c * sqrt(node.visits) * (weight / mass)


# -- Back up -----------------------------------------------------------------------------------------------------------


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
            # Not the value from below: another branch may be the hardest. The edge to a branch is no tactic (r = 0).
            value = _worst_value(node, config)
        else:
            node.solved = any(child.solved for child in node.children)
            if node is not leaf:
                value += TACTIC_REWARD
        node.visits += 1
        node.value_sum += value
    return added


def _worst_value(node: Node, config: SearchConfig) -> float:
    """Return the smallest V of an AND node's visited unsolved children; of all visited ones if none is unsolved.

    The published pseudocode starts its minimum at +1 and leaves solved children out, so that this is what it has in the
    second case. No proof is worth +1; the paper's values are all negative.
    """
    solved, unsolved = [], []
    for child in node.children:
        if child.visits and child.solved:
            solved.append(child.value)
        elif child.visits:
            unsolved.append(child.value)
    if config.rules == "pseudocode":
        return min([1.0, *unsolved])
    return min(unsolved or solved)


def give_up(path: Sequence[Node], config: SearchConfig, log: SearchLog) -> None:
    """Give up the last node of `path`, if it has had its expansions and no open child, and what then cannot be solved.

    That is an AND node above it, and an OR node above with no other open child, if it has had its expansions too. The
    root is never given up.
    """
    for node in reversed(path[1:]):
        if node.kind is Kind.OR:
            has_expansions_left = node.expansions < config.dead_end_expansions
            if node.solved or has_expansions_left or any(child.open for child in node.children):
                return
        node.given_up = True
        log.counts.given_up += 1


# -- Disproof inside the tree ------------------------------------------------------------------------------------------


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
        # The root is the theorem itself, which `disprove_fraction` tries as a whole; an AND node has no state.
        if depth == 0 or node.kind is not Kind.OR:
            continue
        key = node.key[0]
        is_new = key not in log.disproofs
        if is_new:
            budget = min(config.disprove_simulations, num_simulations - counts.simulations)
            if budget <= 0 or node.visits < config.disprove_visits or node.value > config.disprove_value:
                continue
            disproof = disprover.disprove(node, budget)
            counts.disprove_tries += 1
            counts.simulations += disproof.simulations
            log.disproofs[key] = disproof.is_false
        if log.disproofs[key]:
            counts.disproved += 1
            _close_for_good(path[: depth + 1])
            return
        # One try a simulation; a state that was tried before, and may be true, does not keep those below from theirs.
        if is_new:
            return


def _close_for_good(path: Sequence[Node]) -> None:
    """Close the last node of `path`, which has no proof, and an AND node above it, which needs all its branches.

    An OR node above it loses one tactic only; it is expanded again if that was its last one.
    """
    path[-1].dead = True
    if path[-2].kind is Kind.AND:
        path[-2].dead = True
