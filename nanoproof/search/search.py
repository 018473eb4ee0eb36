"""AND/OR tree search for one theorem: select, evaluate, expand, back up, until the root is solved or a limit is met.

The algorithm is that of AlphaProof's published description. The evaluator (`policy`) and the environment (`lean`) are
arguments; the search itself draws no random numbers, reads no clock and writes no log. It can be called again with the
same root and log, and goes on where it stopped.
"""

from collections.abc import Callable
from typing import Literal

from nanoproof.common.suggestion import Policy
from nanoproof.search.backup import back_up
from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import SearchLog, TacticRunner, evaluate_and_expand
from nanoproof.search.node import Node
from nanoproof.search.select import select_path

StopReason = Literal["solved", "simulations", "nodes", "stopped"]


def search(
    root: Node,
    policy: Policy,
    lean: TacticRunner,
    config: SearchConfig,
    num_simulations: int,
    log: SearchLog,
    should_stop: Callable[[], bool] | None = None,
) -> StopReason:
    """Grow the tree below `root` until it is solved or `log` holds `num_simulations` simulations, and say why it ended.

    `should_stop` is asked before each simulation (deadlines, aborts). Raises LeanError if the server is gone; the tree
    is then as it was before the simulation that failed.
    """
    while not root.solved:
        if log.counts.simulations >= num_simulations:
            return "simulations"
        if log.counts.nodes >= config.max_nodes:
            return "nodes"
        if should_stop is not None and should_stop():
            return "stopped"
        simulate(root, policy, lean, config, log)
    return "solved"


def simulate(root: Node, policy: Policy, lean: TacticRunner, config: SearchConfig, log: SearchLog) -> None:
    """One simulation: a path to a leaf, its expansion, and the news of it back up."""
    path = select_path(root, config)
    value = evaluate_and_expand(path, policy, lean, config, log)
    back_up(path, value, config)
    log.counts.simulations += 1
