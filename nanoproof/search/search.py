"""AND/OR tree search for one theorem: select, evaluate, expand, back up, until the root is solved or a limit is met.

The algorithm is that of AlphaProof's published description. The evaluator (`policy`) and the environment (`lean`) are
arguments; the search itself draws no random numbers, reads no clock and writes no log. It can be called again with the
same root and log, and goes on where it stopped.
"""

from collections.abc import Callable
from typing import Literal

from nanoproof.common.suggestion import Policy
from nanoproof.search.backup import back_up
from nanoproof.search.best_first import Frontier
from nanoproof.search.config import SearchConfig
from nanoproof.search.disprove import Disprover, disprove_on
from nanoproof.search.expand import SearchLog, TacticRunner, evaluate_and_expand
from nanoproof.search.formulas import Formulas
from nanoproof.search.node import Node
from nanoproof.search.select import prepare, select_path

StopReason = Literal["solved", "simulations", "nodes", "bytes", "stopped"]


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
    formulas, counts, max_bytes = Formulas(config), log.counts, config.max_tree_mbytes * 1e6
    prepare(root, formulas)
    frontier = Frontier(root) if config.algorithm == "best-first" else None
    while not root.solved:
        if counts.simulations >= num_simulations:
            return "simulations"
        if counts.nodes >= config.max_nodes:
            return "nodes"
        if counts.tree_bytes >= max_bytes:
            return "bytes"
        if should_stop is not None and should_stop():
            return "stopped"
        path = select_path(root) if frontier is None else frontier.path()
        num_children = len(path[-1].children)
        value = evaluate_and_expand(path, policy, lean, formulas, log)
        back_up(path, value, formulas)
        counts.simulations += 1
        if frontier is not None:
            frontier.expanded(num_children)
        if disprover is not None and config.disprove_inner:
            disprove_on(path, disprover, formulas, num_simulations, log)
    return "solved"
