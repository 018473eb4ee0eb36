"""A scripted policy: what it suggests is looked up by state, a state asked again gets its next suggestion. A scripted
disprover beside it.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from types import SimpleNamespace

from nanoproof.search.node import Node
from nanoproof.search.policy import Suggestion
from nanoproof.search.search import Disproof


def suggestion(
    tactics: Sequence[str], value: float = 1.0, logprobs: Sequence[float] = (), counts: Sequence[int] = ()
) -> Suggestion:
    """A suggestion of certain tactics (log-probability 0, drawn once) unless said otherwise."""
    return Suggestion(
        tuple(tactics),
        tuple(logprobs) or (0.0,) * len(tactics),
        tuple(counts) or (1,) * len(tactics),
        value,
    )


class ScriptedPolicy:
    """A `Policy` over `script`: {target of the state: suggestions in turn, the last one for ever}.

    A state without an entry gets `default`. `asked` counts the calls per state.
    """

    def __init__(self, script: dict[str, Sequence[Suggestion]], default: Suggestion | None = None) -> None:
        self.script = script
        self.default = default or suggestion(())
        self.asked: Counter[str] = Counter()

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        targets = [line.removeprefix("⊢ ") for line in state_text.splitlines() if line.startswith("⊢ ")]
        name = " & ".join(targets)
        turns = self.script.get(name, (self.default,))
        turn = min(self.asked[name], len(turns) - 1)
        self.asked[name] += 1
        return turns[turn]

    def load(self) -> SimpleNamespace:
        """It is never busy."""
        return SimpleNamespace(steps=0, busy_seconds=0.0, rows=0, states=0, waiting=0)


def saying(*tactics: str) -> ScriptedPolicy:
    """A policy that suggests the same tactics everywhere."""
    return ScriptedPolicy({}, default=suggestion(tactics, 3.0))


class ScriptedDisprover:
    """Disproves the states whose target is in `false`; each try takes one simulation. `asked` lists them all."""

    def __init__(self, false: Collection[str]) -> None:
        self.false = false
        self.asked: list[str] = []

    def disprove(self, node: Node, num_simulations: int) -> Disproof:
        name = node.state.removeprefix("⊢ ")
        self.asked.append(name)
        return Disproof(name in self.false, 1)
