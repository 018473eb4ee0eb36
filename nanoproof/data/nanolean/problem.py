"""A generated problem: its statement, the steps of one proof, and the names it uses.

A proof is a tree of single tactics: each step has one child per goal that it leaves, in the order of the goals.
"""

import itertools
import random
from dataclasses import dataclass, field

from nanoproof.data.nanolean.generate_terms import Formula, show, variables


@dataclass(frozen=True)
class Step:
    """One tactic and the proofs of the goals it leaves."""

    tactic: str
    children: tuple["Step", ...] = ()

    @property
    def size(self) -> int:
        """Number of tactics in the whole proof."""
        return 1 + sum(child.size for child in self.children)


def chain(tactics: list[str], last: Step | None = None) -> Step:
    """Tactics one after another, each leaving one goal; `last` proves what the final one leaves."""
    step = last
    for tactic in reversed(tactics):
        step = Step(tactic, (step,) if step is not None else ())
    assert step is not None, "a proof has at least one tactic"
    return step


def render(step: Step, indent: int = 2) -> str:
    """The proof as Lean text: alternatives filled in where they stand, other subgoals under `·`."""
    pad = " " * indent
    lines: list[str] = []
    while True:
        if "?_" in step.tactic and "=> ?_" in step.tactic:
            head, *alternatives = step.tactic.split(" | ")
            lines.append(pad + head)
            for alternative, child in zip(alternatives, step.children, strict=True):
                lines.append(f"{pad}| {alternative.removesuffix(' ?_')}")
                lines.append(render(child, indent + 2))
            return "\n".join(lines)
        lines.append(pad + step.tactic)
        if len(step.children) != 1:
            for child in step.children:
                lines.append(pad + "· " + render(child, indent + 2).lstrip(" "))
            return "\n".join(lines)
        step = step.children[0]


@dataclass
class Names:
    """Hands out names, no name twice; the pools are drawn once per problem so that a problem has one style."""

    rng: random.Random
    used: set[str] = field(default_factory=set)
    pools: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        pick = self.rng.choice
        hypotheses = pick((["h"], ["h", "h1", "h2"], ["h1", "h2", "h3"], ["h1", "h2", "h3"]))
        self.pools = {
            "nat": pick((["a", "b", "c", "d", "e"], ["n", "m", "k", "l"], ["x", "y", "z", "w"], ["a", "b", "c", "d"])),
            "prop": pick((["p", "q", "r", "s"], ["p", "q", "r", "s"], ["a", "b", "c", "d"])),
            "pred": pick((["P", "Q", "S", "T"], ["P", "Q", "S", "T"], ["A", "B", "C", "D"])),
            "rel": ["R", "E"],
            "fn": pick((["f", "g"], ["f", "g"], ["s", "t"])),
            "hyp": [*hypotheses, *(f"h{i}" for i in range(1, 20))],
            "bound": pick((["x", "y", "z"], ["n", "m", "k"], ["k", "l", "i"])),
        }

    def fresh(self, kind: str) -> str:
        """The next unused name of a kind."""
        numbered = (f"{self.pools[kind][0]}{i}" for i in itertools.count(1))
        name = next(n for n in itertools.chain(self.pools[kind], ("u", "v", "i", "j"), numbered) if n not in self.used)
        self.used.add(name)
        return name

    def take(self, *wanted: str) -> str:
        """The first unused of the wanted names, else a hypothesis name."""
        for name in wanted:
            if name not in self.used:
                self.used.add(name)
                return name
        return self.fresh("hyp")

    def copy(self) -> "Names":
        """The same pools with an own record of what is used, for another branch of a proof."""
        other = Names.__new__(Names)
        other.rng, other.used, other.pools = self.rng, set(self.used), self.pools
        return other


@dataclass(frozen=True)
class Problem:
    """A true statement with its proof. `variables` are (name, type); `hypotheses` are (name, formula)."""

    family: str
    variables: tuple[tuple[str, str], ...]
    hypotheses: tuple[tuple[str, Formula], ...]
    goal: Formula
    proof: Step

    @property
    def level(self) -> int:
        """1 to 6 by the number of tactics of the plain proof; above 14 tactics it is 7: too long to be asked."""
        return level_of_size(self.proof.size)

    def statement(self) -> str:
        """Binders and type, as they stand between the theorem's name and `:=`."""
        parts: list[str] = []
        names: list[str] = []
        kinds = [*self.variables, ("", "")]
        for (name, kind), (_, following) in itertools.pairwise(kinds):
            names.append(name)
            if kind != following:
                parts.append(f"({' '.join(names)} : {kind})")
                names = []
        parts += [f"({name} : {show(formula)})" for name, formula in self.hypotheses]
        return " ".join([*parts, ":", show(self.goal)])

    def source(self, name: str) -> str:
        """The theorem as it is stored: exactly one `sorry`, no imports."""
        return f"theorem {name} {self.statement()} := by\n  sorry"

    def solved(self, name: str) -> str:
        """The theorem with its proof."""
        return f"theorem {name} {self.statement()} := by\n{render(self.proof)}"


def level_of_size(size: int) -> int:
    """The level of a problem whose plain proof has `size` tactics; 7 for more than 14."""
    return next((level for level, limit in enumerate((2, 4, 6, 8, 11, 14), start=1) if size <= limit), 7)


def nat_variables(formulas: list[Formula]) -> set[str]:
    """The number variables that some of the formulas mention."""
    return set().union(*(variables(f) for f in formulas))
