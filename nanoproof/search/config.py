"""Options of the search: its constants, named presets of them, and switches that disable parts of it.

docs/search.md says what each constant does and where it comes from; docs/experiments.md what was measured.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Literal

from nanoproof.common.config import Presets, check, opt, preset_values, validated
from nanoproof.lean.solvers import expand_solver_sets

OF_TREE_SEARCH = (
    *("rules", "c_base", "c_init", "gamma", "prior_temperature"),
    *("no_legal_value", "unvisited_penalty", "c_and", "progressive_c", "progressive_alpha"),
)
"""Options that only `--search-algorithm mcts` knows."""

NOT_FLAGS = ("max_nodes", "max_tree_mbytes", "disprove_value", "disprove_visits", "disprove_simulations")
"""Options without a flag in the commands: limits that no search of 4,096 simulations came near, and how states are
disproved (`disprove_inner`), of which no other values were ever measured. Benchmarks and tests set them."""
PresetName = Literal["default", "alphaproof", "alphaproof-pseudocode", "nanolean", "small"]

SOLVER_IN_PLACE = "grind"
"""The finisher of `--disable-solvers`: solvers are taken out of what the policy says, not out of reach."""

ALGORITHM: Final = "best-first"
"""The algorithm of commands that prove with a network as it is.

On nanolean-hard it solved 4.7 points more than tree search with its default constants (experiments.md, four searches on
the hard set). Reinforcement learning collects by `mcts`, whose visits tell which states were worked on in vain.
"""

_PUBLISHED: Final = {
    "algorithm": "mcts",
    "c_base": 3200.0,
    "gamma": 0.99,
    "no_legal_value": -40.0,
    "progressive_c": 0.01,
}
"""Constants of both presets of AlphaProof, as its pseudocode has them, where they are not our defaults."""


@dataclass(frozen=True)
class SolverOption:
    """Solvers."""

    disable_solvers: bool = opt(
        False,
        "Leave out what the policy says if it uses a solver (--search-solver-tactics), and try `grind` at every node "
        "instead, or what --search-finishers says.",
    )


@validated("search")
class SearchConfig:
    """Tree search"""

    PRESETS: ClassVar[Presets] = {
        "default": {},
        # The paper's rules. Others who followed it have a factor of 64 on AND nodes beside its penalty of 32; with
        # c_and 1 the branch that looks worst would get nearly all visits.
        "alphaproof": {**_PUBLISHED, "unvisited_penalty": 32.0, "c_and": 64.0},
        # The pseudocode published with the paper. It has no penalty: an unvisited child scores 0 (see `rules`).
        "alphaproof-pseudocode": {**_PUBLISHED, "rules": "pseudocode", "c_and": 1.0, "merge_same_state": False},
        # The best of benchmarks/search_quality.py on the embedded prover (experiments.md, what each part is worth).
        "nanolean": {"algorithm": "best-first"},
        # For tens of simulations: dead ends are left soon, exploration begins early, and priors act (experiments.md,
        # settings on the hard set).
        "small": {
            "algorithm": "mcts",
            "c_base": 20.0,
            "prior_temperature": 2.0,
            "unvisited_penalty": 4.0,
            "dead_end_expansions": 2,
        },
    }

    # -- Selection in tree search (the exploration term of PUCT) -------------------------------------------------------

    # c(N) = c_init + log((N + c_base + 1) / c_base), as in AlphaZero (Silver et al. 2018). AlphaProof has 3200 for
    # budgets of thousands of simulations; with 32 to 512 exploration has to grow sooner.
    c_base: float = opt(
        200.0, "How slowly exploration grows with the visits of a node (larger is slower).", above=0, constant=True
    )
    c_init: float = opt(0.001, "Exploration constant of a node without visits.", min=0, constant=True)
    gamma: float = opt(
        0.98, "Discount that turns 'tactics still needed' into a score in [0, 1].", above=0, max=1, constant=True
    )
    # At 200 a log-probability of -20 weighs 0.905 of one of 0: the policy acts through what it samples, hardly through
    # priors. Temperature 1 was no better (-1.5 points, p 0.45).
    prior_temperature: float = opt(
        200.0, "Temperature that flattens the policy's probabilities into priors.", above=0, constant=True
    )
    # At -5 a dead end may look better than a real state seven tactics away; with -40, the published value, 41 and 39 of
    # 100 theorems were solved (two seeds), with -5 37 and 39: noise.
    no_legal_value: float = opt(-5.0, "Value of a node where no tactic led anywhere.", max=0, constant=True)
    unvisited_penalty: float = opt(
        16.0, "How much worse than its parent an unvisited child is taken to be.", min=0, constant=True
    )
    c_and: float = opt(64.0, "Factor on exploration where several branches are all to be solved.", min=0, constant=True)

    # -- Expanding again -----------------------------------------------------------------------------------------------

    # Progressive widening (Coulom 2007, Couetoux et al. 2011), here by new samples of the policy. With 0.1 and 0.6 the
    # second expansion comes at 47 visits, the third at 148.
    progressive_c: float = opt(
        0.1, "A node of N visits is expanded again while it has <= this * N^alpha expansions.", min=0, constant=True
    )
    progressive_alpha: float = opt(
        0.6, "Exponent of the visits in the rule for expanding again.", min=0, max=1, constant=True
    )
    # Of 384 samples of a failed search 19 nodes came, since the same dead ends were sampled again and again; with 2
    # here 16 simulations solved 21 of 64 hard theorems instead of 16 (experiments.md, settings on the hard set).
    dead_end_expansions: int = opt(
        0,
        "A state without a child to go on with is given up after so many expansions; 0: never.",
        min=0,
        constant=True,
    )

    # -- Which search --------------------------------------------------------------------------------------------------

    rules: Literal["paper", "pseudocode"] = opt(
        "paper",
        "pseudocode: as AlphaProof's published pseudocode has it where that differs (unvisited children score 0, "
        "scores may exceed 1, an AND node whose visited branches are solved passes on +1, cycles stay).",
        constant=True,
    )
    algorithm: Literal["mcts", "best-first"] = opt(
        "mcts",
        "mcts: selection by visits, values and priors; best-first: by the log-probability of the path alone.",
        advanced=True,
    )
    value_weight: float = opt(
        0.0,
        "Best-first: log-probability that one expected tactic less is worth; 0 leaves values out.",
        min=0,
        constant=True,
    )
    merge_same_state: bool = opt(True, "Tactics of a node that lead to the same state are one edge.", constant=True)
    use_value: bool = opt(
        True, "Believe the policy's value; without it every leaf is taken to need one tactic.", constant=True
    )

    # -- Limits --------------------------------------------------------------------------------------------------------

    max_nodes: int = opt(200_000, "A search ends when its tree has this many nodes.", min=1, advanced=True)
    max_tree_mbytes: int = opt(
        1024, "A search ends when its tree takes this many megabytes (an estimate).", min=1, advanced=True
    )

    # -- Solvers -------------------------------------------------------------------------------------------------------

    finishers: tuple[str, ...] = opt(
        (),
        "Solver tactics that are tried besides what the policy says, or a name for several: none, nanolean, lean, "
        "mathlib; auto: those of the Lean that is used.",
        metavar="TACTIC",
    )
    finisher_use: Literal["leaf", "candidate"] = opt(
        "leaf",
        "leaf: a new leaf that a finisher closes is solved, outside the training data; "
        "candidate: finishers are offered at every node like tactics of the policy.",
        advanced=True,
    )
    # At 0 a `simp` that goes half the way comes before all else in best-first search.
    finisher_logprob: float = opt(
        0.0, "Log-probability of a finisher that is a candidate, for priors and best-first.", max=0, constant=True
    )
    disable_solvers: bool = opt(
        False, "Leave out what the policy says if it uses one of the solver tactics.", advanced=True
    )
    solver_tactics: tuple[str, ...] = opt(
        ("grind", "lia", "grobner", "aesop"), "Tactics that count as solvers.", metavar="TACTIC", constant=True
    )

    # -- Disproof of states inside the tree ----------------------------------------------------------------------------

    disprove_inner: bool = opt(False, "Try to disprove states inside the tree whose value is poor.", advanced=True)
    disprove_value: float = opt(
        -12.0, "A state is worth a try to disprove it from this value down.", max=0, advanced=True
    )
    disprove_visits: int = opt(8, "Visits of a state before it may be disproved.", min=1, advanced=True)
    disprove_simulations: int = opt(
        8, "Simulations of one try to disprove a state; they count as any others.", min=1, advanced=True
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "finishers", expand_solver_sets(self.finishers))
        for tactic in self.finishers + self.solver_tactics:
            message = "search.finishers and search.solver_tactics must not hold empty tactics"
            check(bool(tactic.strip()), message, "search")

    @property
    def without_effect(self) -> list[str]:
        """The options that were changed and that the algorithm does not know: those of tree search alone."""
        if self.algorithm == "mcts":
            return []
        usual = type(self)()
        return [name for name in OF_TREE_SEARCH if getattr(self, name) != getattr(usual, name)]

    @classmethod
    def preset(cls, name: PresetName, **overrides: Any) -> "SearchConfig":
        """Return the preset `name` with overrides. Raises ConfigError, a ValueError, for other names."""
        return cls(**{**preset_values(cls, name), **overrides})

    def without_solvers(self) -> "SearchConfig":
        """Return the config for `--disable-solvers`: no solvers from the policy, `grind` if there is no finisher."""
        return replace(self, disable_solvers=True, finishers=self.finishers or (SOLVER_IN_PLACE,))
