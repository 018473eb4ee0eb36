"""Every constant of the search, with the presets that have a name."""

from dataclasses import dataclass
from typing import Literal

from nanoproof.common.config import check, opt, validate


@dataclass(frozen=True)
class SearchConfig:
    """Tree search"""

    c_base: float = opt(200.0, "How slowly exploration grows with the visits of a node (larger is slower).", above=0)
    c_init: float = opt(0.001, "Exploration constant of a node without visits.", min=0)
    gamma: float = opt(0.98, "Discount that turns 'tactics still needed' into a score in [0, 1].", above=0, max=1)
    prior_temperature: float = opt(200.0, "Temperature that flattens the policy's probabilities into priors.", above=0)
    no_legal_value: float = opt(-5.0, "Value of a node where no tactic led anywhere.", max=0)
    unvisited_penalty: float = opt(16.0, "How much worse than its parent an unvisited child is taken to be.", min=0)
    c_and: float = opt(64.0, "Factor on exploration where several branches are all to be solved.", min=0)
    progressive_c: float = opt(
        0.1, "A node of N visits is expanded again while it has <= this * N^alpha expansions.", min=0
    )
    progressive_alpha: float = opt(0.6, "Exponent of the visits in the rule for expanding again.", min=0, max=1)
    max_nodes: int = opt(200_000, "A search ends when its tree has this many nodes.", min=1)
    finishers: tuple[str, ...] = opt((), "Tactics that are tried besides those of the policy.", metavar="TACTIC")
    finisher_use: Literal["leaf", "candidate"] = opt(
        "leaf",
        "leaf: a new leaf that a finisher closes is solved, outside the training data; "
        "candidate: finishers are offered at every node like tactics of the policy.",
    )
    disable_solvers: bool = opt(False, "Leave out what the policy says if it uses one of the solver tactics.")
    solver_tactics: tuple[str, ...] = opt(
        ("grind", "lia", "grobner", "aesop"), "Tactics that count as solvers.", metavar="TACTIC"
    )

    def __post_init__(self) -> None:
        validate(self, "search")
        for tactic in self.finishers + self.solver_tactics:
            check(bool(tactic.strip()), "search.finishers and search.solver_tactics must not hold empty tactics")

    @classmethod
    def preset(cls, name: Literal["default", "alphaproof"], **overrides: object) -> "SearchConfig":
        """The constants of `name`; `alphaproof` are those of the published system. ValueError for other names."""
        check(name in PRESETS, f"search preset must be one of {', '.join(PRESETS)}; got {name}")
        return cls(**{**PRESETS[name], **overrides})  # type: ignore[arg-type]


PRESETS: dict[str, dict[str, object]] = {
    "default": {},
    "alphaproof": {
        "c_base": 3200.0,
        "gamma": 0.99,
        "no_legal_value": -40.0,
        "unvisited_penalty": 32.0,
        "c_and": 1.0,
        "progressive_c": 0.01,
    },
}
