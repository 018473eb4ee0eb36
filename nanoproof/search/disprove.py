"""Disproof inside the tree: a state of poor value may be false, and then all work below it is lost.

What is asked is whether the negation of the state's closed statement, `¬ (∀ hypotheses, target)`, has a proof. If it
has, no proof of the state exists: its node is closed for good. What dies with it is said in `backup.bury`.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from nanoproof.search.backup import bury
from nanoproof.search.expand import SearchLog
from nanoproof.search.formulas import Formulas
from nanoproof.search.node import Kind, Node


class Disproof(NamedTuple):
    """Whether a state was shown to be false, and the simulations that this took."""

    found: bool
    simulations: int


class Disprover(Protocol):
    """Whoever can try to prove the negation of a state."""

    def disprove(self, node: Node, num_simulations: int) -> Disproof:
        """Try to disprove the state of an OR node; `found` only if its negation is proved beyond doubt."""
        ...


def disprove_on(
    path: Sequence[Node], disprover: Disprover, formulas: Formulas, num_simulations: int, log: SearchLog
) -> None:
    """Try to disprove the first poor state on `path`, below its root, that was not tried before.

    A state that is known to be false is closed wherever it comes up. The simulations that a try takes count as any
    others, up to `num_simulations` in all.
    """
    config, counts = formulas.config, log.counts
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
            bury(path[: depth + 1], formulas)
            return
        if tried:
            return
