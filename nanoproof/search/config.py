"""Options of the search: its constants, named presets of them, and switches that disable parts of it."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Literal

from nanoproof.common.config import Presets, check, opt, preset_values, validate
from nanoproof.lean.solvers import expand_solver_sets

OF_TREE_SEARCH = (
    *("c_base", "c_init", "gamma", "prior_temperature", "prior", "c_base_of_budget", "normalize_values"),
    *("no_legal_value", "unvisited_penalty", "c_and", "progressive_c", "progressive_alpha"),
    *("progressive_disagreement", "root", "rules"),
)
"""Options that only `--search-algorithm mcts` knows."""
PresetName = Literal["default", "alphaproof", "alphaproof-pseudocode", "nanolean"]
SOLVER_IN_PLACE = "grind"
_PUBLISHED: Final = {
    "algorithm": "mcts",
    "c_base": 3200.0,
    "gamma": 0.99,
    "no_legal_value": -40.0,
    "progressive_c": 0.01,
}
"""The constants on which AlphaProof's paper and its pseudocode agree, where they are not our defaults."""
ALGORITHM: Final = "best-first"
"""The default of commands that prove with a network as it is; docs/search.md has what each was worth. Reinforcement
learning collects by `mcts`, whose visits tell what was worked on in vain."""


@dataclass(frozen=True)
class SolverOption:
    """Solvers."""

    disable_solvers: bool = opt(
        False,
        "Leave out what the policy says if it uses a solver (--search-solver-tactics), and try `grind` at every node "
        "instead, or what --search-finishers says.",
    )


@dataclass(frozen=True)
class SearchConfig:
    """Tree search"""

    PRESETS: ClassVar[Presets] = {
        "default": {},
        # The paper's rules and constants. Its penalty of 32 belongs with its factor of 64 on AND nodes: with c_and 1 a
        # search would hardly ever leave the branch that looks worst.
        "alphaproof": {**_PUBLISHED, "unvisited_penalty": 32.0, "c_and": 64.0},
        # The pseudocode in the paper's supplement. It has no penalty, as an unvisited child scores 0 (see `rules`).
        "alphaproof-pseudocode": {**_PUBLISHED, "rules": "pseudocode", "c_and": 1.0, "merge_same_state": False},
        "nanolean": {"algorithm": "best-first"},  # the best of benchmarks/search_quality.py on the embedded prover
    }

    c_base: float = opt(
        200.0, "How slowly exploration grows with the visits of a node (larger is slower).", above=0, advanced=True
    )
    c_init: float = opt(0.001, "Exploration constant of a node without visits.", min=0, advanced=True)
    gamma: float = opt(
        0.98, "Discount that turns 'tactics still needed' into a score in [0, 1].", above=0, max=1, advanced=True
    )
    prior_temperature: float = opt(
        200.0, "Temperature that flattens the policy's probabilities into priors.", above=0, advanced=True
    )
    prior: Literal["softmax", "length-normalized", "rank"] = opt(
        "softmax",
        "What the prior of a tactic is computed from: its log-probability, that by letter, or its rank k among the "
        "tactics of its expansion (1/k).",
        advanced=True,
    )
    c_base_of_budget: float = opt(
        0.0,
        "c_base is this share of the simulations allowed, whatever c_base says; 0: it is c_base.",
        min=0,
        advanced=True,
    )
    normalize_values: bool = opt(
        False, "Scores are stretched so that those seen in this tree reach from 0 to 1.", advanced=True
    )
    no_legal_value: float = opt(-5.0, "Value of a node where no tactic led anywhere.", max=0, advanced=True)
    unvisited_penalty: float = opt(
        16.0, "How much worse than its parent an unvisited child is taken to be.", min=0, advanced=True
    )
    c_and: float = opt(64.0, "Factor on exploration where several branches are all to be solved.", min=0, advanced=True)
    progressive_c: float = opt(
        0.1, "A node of N visits is expanded again while it has <= this * N^alpha expansions.", min=0, advanced=True
    )
    progressive_alpha: float = opt(
        0.6, "Exponent of the visits in the rule for expanding again.", min=0, max=1, advanced=True
    )
    progressive_disagreement: float = opt(
        0.0,
        "The expansions allowed grow by this times the difference of the best and the worst child's score.",
        min=0,
        advanced=True,
    )
    dead_end_expansions: int = opt(
        0,
        "A state without a child to go on with is given up after so many expansions; 0: never.",
        min=0,
        advanced=True,
    )
    root: Literal["puct", "halving"] = opt(
        "puct",
        "How the simulations are dealt to the children of the first state with several: as everywhere, or equally, "
        "to half as many in each round (sequential halving).",
        advanced=True,
    )
    max_facts: int | None = opt(
        None, "Tactics in a row that may only add hypotheses; the next such one leads nowhere.", min=0, advanced=True
    )
    rules: Literal["paper", "pseudocode"] = opt(
        "paper",
        "pseudocode: as AlphaProof's published pseudocode has it where that differs (unvisited children score 0, "
        "scores may exceed 1, an AND node whose visited branches are solved passes on +1, cycles stay).",
        advanced=True,
    )
    algorithm: Literal["mcts", "best-first", "ao-star"] = opt(
        "mcts",
        "mcts: selection by visits, values and priors; best-first: by the log-probability of the path alone; ao-star: "
        "the likeliest whole proof, all branches of it counted.",
        advanced=True,
    )
    value_weight: float = opt(
        0.0,
        "Best-first and AO*: log-probability that one expected tactic less is worth; 0 leaves values out.",
        min=0,
        advanced=True,
    )
    again_cost: float = opt(
        1.0,
        "AO*: log-probability that each expansion of a state so far takes from what expanding it again may find.",
        min=0,
        advanced=True,
    )
    path_normalization: float = opt(
        0.0,
        "Best-first: the sum of log-probabilities is divided by the number of tactics to this power.",
        min=0,
        advanced=True,
    )
    and_in_order: bool = opt(
        False,
        "Best-first: of branches that are all to be solved, the first open one is worked on alone.",
        advanced=True,
    )
    merge_same_state: bool = opt(True, "Tactics of a node that lead to the same state are one edge.", advanced=True)
    merge_states: Literal["same-text", "equivalent"] = opt(
        "same-text",
        "Which states are the same, for merging and cycles: same-text: those that print the same; equivalent: also "
        "those that differ in names, order or copies of hypotheses.",
        advanced=True,
    )
    reuse_proofs: bool = opt(
        False, "What is proved at one node of the tree is replayed at open nodes of the same state.", advanced=True
    )
    defer_repeats: bool = opt(
        False,
        "A state that was expanded elsewhere and is open there is expanded only when nothing else is left.",
        advanced=True,
    )
    use_value: bool = opt(
        True, "Believe the policy's value; without it every leaf is taken to need one tactic.", advanced=True
    )
    stop_value: float | None = opt(
        None,
        "A search is given up where more tactics than this seem to be left (none: never).",
        above=0,
        advanced=True,
    )
    stop_after: int = opt(
        32,
        "Simulations before a search may be given up; from then on at each power of two.",
        min=1,
        advanced=True,
    )
    max_nodes: int = opt(200_000, "A search ends when its tree has this many nodes.", min=1, advanced=True)
    max_tree_mbytes: int = opt(
        1024, "A search ends when its tree takes this many megabytes (an estimate).", min=1, advanced=True
    )
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
    finisher_where: Literal["every", "new", "value"] = opt(
        "every",
        "Where finishers are tried: whenever a node is expanded, when it is for the first time, or where at most "
        "--search-finisher-value tactics are expected to be needed.",
        advanced=True,
    )
    finisher_value: float = opt(
        3.0,
        "Tactics expected to be needed, up to which finishers are tried with --search-finisher-where value.",
        min=0,
        advanced=True,
    )
    finishers_first: bool = opt(
        False,
        "Finishers are run at a new node before the policy is asked, one after the other until one closes it.",
        advanced=True,
    )
    finisher_keep: Literal["all", "closing"] = opt(
        "all", "What is kept of finishers that are candidates: all that they lead to, or proofs only.", advanced=True
    )
    finisher_logprob: float = opt(
        0.0, "Log-probability of a finisher that is a candidate, for priors and best-first.", max=0, advanced=True
    )
    disable_solvers: bool = opt(
        False, "Leave out what the policy says if it uses one of the solver tactics.", advanced=True
    )
    solver_tactics: tuple[str, ...] = opt(
        ("grind", "lia", "grobner", "aesop"), "Tactics that count as solvers.", metavar="TACTIC", advanced=True
    )
    disprove_inner: bool = opt(False, "Try to disprove states inside the tree whose value is poor.", advanced=True)
    disprove_value: float = opt(
        -12.0, "A state is worth a try to disprove it from this value down.", max=0, advanced=True
    )
    disprove_visits: int = opt(8, "Visits of a state before it may be disproved.", min=1, advanced=True)
    disprove_simulations: int = opt(
        8, "Simulations of one try to disprove a state; they count as any others.", min=1, advanced=True
    )

    def __post_init__(self) -> None:
        validate(self, "search")
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
        """Return the preset `name` (`alphaproof`: the published constants) with overrides; ValueError if unknown."""
        return cls(**{**preset_values(cls, name), **overrides})

    def without_solvers(self) -> "SearchConfig":
        """Apply `--disable-solvers`: no solvers from the policy, and `grind` as finisher if there is none."""
        return replace(self, disable_solvers=True, finishers=self.finishers or (SOLVER_IN_PLACE,))
