"""Generated problems: terms and formulas, a statement, the steps of one proof, and the names it uses.

A proof is a tree of single tactics: each step has one child per goal that it leaves, in the order of the goals.
"""

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, field

Term = tuple
Formula = tuple

FALSE: Formula = ("false",)
NUMBER_OPS = ("+", "*", "^", "-")
RELATIONS = ("=", "≠", "<", "≤", "∣")
CONNECTIVES = ("∧", "∨", "→", "↔")

# (own precedence, precedence asked of the left side, of the right side), as in Lean 4.
_PRECEDENCE = {
    "^": (75, 76, 75),
    "*": (70, 70, 71),
    "+": (65, 65, 66),
    "-": (65, 65, 66),
    "++": (65, 65, 66),
    "::": (67, 68, 67),
    "=": (50, 51, 51),
    "≠": (50, 51, 51),
    "<": (50, 51, 51),
    "≤": (50, 51, 51),
    "∣": (50, 51, 51),
    "∧": (35, 36, 35),
    "∨": (30, 31, 30),
    "→": (25, 26, 25),
    "↔": (20, 21, 21),
}
_MAX = 1024


def var(name: str) -> Term:
    """Make a number variable."""
    return ("var", name)


def num(value: int) -> Term:
    """Make a numeral."""
    return ("num", value)


def atom(name: str, *args: Term) -> Formula:
    """Make a proposition variable, or a predicate applied to number terms."""
    return ("atom", name, *args)


def raw(text: str) -> Formula:
    """Make a formula that is only shown, never taken apart."""
    return ("raw", text)


def show(e: tuple, precedence: int = 0) -> str:
    """Prints with the fewest parentheses that Lean's grammar allows."""
    head = e[0]
    if head in ("var", "raw"):
        return e[1]
    if head == "num":
        return str(e[1])
    if head == "false":
        return "False"
    if head in ("fn", "atom"):
        if len(e) == 2:
            return e[1]
        return _wrap(" ".join([e[1], *(show(a, _MAX) for a in e[2:])]), precedence > _MAX - 1)
    if head == "app":
        return _wrap(" ".join(show(a, _MAX) for a in e[1:]), precedence > _MAX - 1)
    if head == "not":
        return f"¬{show(e[1], 40)}"
    if head in ("all", "ex"):
        return _wrap(f"{'∀' if head == 'all' else '∃'} {e[1]} : Nat, {show(e[2])}", precedence > 0)
    own, left, right = _PRECEDENCE[head]
    return _wrap(f"{show(e[1], left)} {head} {show(e[2], right)}", precedence > own)


def _wrap(text: str, parentheses: bool) -> str:
    return f"({text})" if parentheses else text


def arg(e: tuple) -> str:
    """Prints as the argument of an application."""
    return show(e, _MAX)


def substitute(e: tuple, name: str, value: Term) -> tuple:
    """Replaces the number variable `name`; bound names are chosen fresh by the generator, so nothing is captured."""
    head = e[0]
    if head == "var":
        return value if e[1] == name else e
    if head in ("num", "false", "raw"):
        return e
    if head in ("all", "ex"):
        return e if e[1] == name else (head, e[1], substitute(e[2], name, value))
    start = 2 if head in ("fn", "atom") else 1
    return (*e[:start], *(substitute(a, name, value) for a in e[start:]))


def replace(e: tuple, old: tuple, new: tuple) -> tuple:
    """Replaces every occurrence of the term `old`, as `rw` does."""
    if e == old:
        return new
    head = e[0]
    if head in ("var", "num", "false", "raw"):
        return e
    start = 2 if head in ("fn", "atom", "all", "ex") else 1
    return (*e[:start], *(replace(a, old, new) for a in e[start:]))


def subterms(e: tuple) -> Iterator[tuple]:
    """Yield the term and everything below it, outermost first, left before right (the order in which `rw` looks)."""
    yield e
    if e[0] in ("var", "num", "false", "raw"):
        return
    start = 2 if e[0] in ("fn", "atom", "all", "ex") else 1
    for child in e[start:]:
        yield from subterms(child)


def variables(e: tuple) -> set[str]:
    """Return the free number variables."""
    head = e[0]
    if head == "var":
        return {e[1]}
    if head in ("num", "false", "raw"):
        return set()
    if head in ("all", "ex"):
        return variables(e[2]) - {e[1]}
    start = 2 if head in ("fn", "atom") else 1
    return set().union(*(variables(a) for a in e[start:])) if len(e) > start else set()


def match(pattern: tuple, target: tuple, holes: set[str], found: dict[str, Term]) -> dict[str, Term] | None:
    """First-order matching of the variables in `holes`; gives the extended substitution or None."""
    if pattern[0] == "var" and pattern[1] in holes:
        known = found.get(pattern[1])
        if known is None:
            return {**found, pattern[1]: target}
        return found if known == target else None
    if pattern[0] != target[0] or len(pattern) != len(target):
        return None
    if pattern[0] in ("var", "num", "false", "raw"):
        return found if pattern == target else None
    start = 2 if pattern[0] in ("fn", "atom", "all", "ex") else 1
    if pattern[:start] != target[:start]:
        return None
    for a, b in zip(pattern[start:], target[start:], strict=True):
        result = match(a, b, holes, found)
        if result is None:
            return None
        found = result
    return found


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
    """Render the proof as Lean text: alternatives filled in where they stand, other subgoals under `·`."""
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
        """Take the next unused name of a kind."""
        numbered = (f"{self.pools[kind][0]}{i}" for i in itertools.count(1))
        name = next(n for n in itertools.chain(self.pools[kind], ("u", "v", "i", "j"), numbered) if n not in self.used)
        self.used.add(name)
        return name

    def take(self, *wanted: str) -> str:
        """Take the first unused of the wanted names, else a hypothesis name."""
        for name in wanted:
            if name not in self.used:
                self.used.add(name)
                return name
        return self.fresh("hyp")

    def copy(self) -> "Names":
        """Return the same pools with an own record of what is used, for another branch of a proof."""
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
        """Return the theorem as it is stored: exactly one `sorry`, no imports."""
        return f"theorem {name} {self.statement()} := by\n  sorry"

    def solved(self, name: str) -> str:
        """Return the theorem with its proof."""
        return f"theorem {name} {self.statement()} := by\n{render(self.proof)}"


def level_of_size(size: int) -> int:
    """Return the level of a problem whose plain proof has `size` tactics; 7 for more than 14."""
    return next((level for level, limit in enumerate((2, 4, 6, 8, 11, 14), start=1) if size <= limit), 7)


def nat_variables(formulas: list[Formula]) -> set[str]:
    """Return the number variables that some of the formulas mention."""
    return set().union(*(variables(f) for f in formulas))
