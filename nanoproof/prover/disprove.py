"""Disproving a state inside of a search: is `¬ (∀ hypotheses, target)` provable?

Lean itself states it, as a goal of the session that the search runs in: its printed text might not read back as it was.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count

from nanoproof.lean.types import Branch, Goal, TacticApplied
from nanoproof.search.config import SearchConfig
from nanoproof.search.expand import SearchLog, TacticRunner
from nanoproof.search.node import Node, or_node
from nanoproof.search.policy import Policy
from nanoproof.search.search import Disproof, search

_NEGATE = "refine (fun {g : Prop} (f : ¬ g → g) (n : ¬ g) => f n) ?_ ?_"
"""Leaves `¬ goal → goal`, which is not to be proved, and `¬ goal`."""


class StateDisprover:
    """Tries to disprove states by a search for each, whose samples and tactics count in the log of the main search."""

    def __init__(
        self,
        policy: Policy,
        lean: TacticRunner,
        config: SearchConfig,
        log: SearchLog,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self._policy, self._lean, self._log, self._should_stop = policy, lean, log, should_stop
        self._config = replace(config, disprove_inner=False)  # else it would disprove what it tries to disprove

    def disprove(self, node: Node, num_simulations: int) -> Disproof:
        """Search for a proof of the negation of an OR node's state, unless it has none (see `negation`)."""
        negated = None
        if node.branch is not None:
            negated = negation(self._lean, node.branch)
        if negated is None:
            return Disproof(False, 0)
        root, log = or_node(negated), SearchLog()
        search(root, self._policy, self._lean, self._config, num_simulations, log, self._should_stop)
        self._log.counts.tactic_samples += log.counts.tactic_samples
        self._log.counts.tactics_run += log.counts.tactics_run
        return Disproof(root.solved, log.counts.simulations)


def negation(lean: TacticRunner, branch: Branch) -> Branch | None:
    """Return the goal `¬ (∀ hypotheses, target)` of a branch with one goal and no metavariable, without hypotheses.

    None for other branches, and where Lean cannot revert a hypothesis.
    """
    # With a metavariable in it, that one way to fill it makes the state false says nothing of the others.
    goals = branch.state.goals
    if len(goals) != 1 or "?" in branch.state.text:
        return None
    result = lean.apply(branch, [negating_tactic(goals[0])])[0]
    if not isinstance(result, TacticApplied) or len(result.branches) != 2:
        return None
    negated = result.branches[1]
    goal = negated.state.goals[0]
    # A hypothesis that is left (`revert` fails for some) could prove the negation of a state that is true.
    is_closed = len(negated.state.goals) == 1 and not goal.hypotheses and goal.type.startswith("¬")
    if not is_closed:
        return None
    return negated


def negating_tactic(goal: Goal) -> str:
    """Build the tactic that reverts all hypotheses, inaccessible ones too, and leaves `¬ goal` as its second goal."""
    names = [hypothesis.user_name for hypothesis in goal.hypotheses]
    if not names:
        return _NEGATE
    # `rename_i` names the inaccessible hypotheses in their order.
    fresh = _fresh_names(set(names))
    written, renamed = [], []
    for name in names:
        if "✝" in name:
            name = next(fresh)
            renamed.append(name)
        written.append(name)
    parts = [f"revert {' '.join(written)}", _NEGATE]
    if renamed:
        parts.insert(0, f"rename_i {' '.join(renamed)}")
    return f"({'; '.join(parts)})"


def _fresh_names(taken: set[str]) -> Iterator[str]:
    for number in count():
        if f"x{number}" not in taken:
            yield f"x{number}"
