"""Solver tactics: those of each Lean, and how long they take on a server.

They close goals alone, without an argument. `--search-finishers` takes their names, or a name of `SOLVER_SETS`.
"""

import statistics
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from nanoproof.lean.types import Branch, TacticApplied, TacticFailed, Theorem, TheoremRejected

AUTO = "auto"
SOLVER_SETS: dict[str, tuple[str, ...]] = {
    "none": (),
    "nanolean": ("simp", "omega", "grind"),
    "lean": ("simp", "omega", "decide", "grind"),
    "mathlib": (
        *("simp", "omega", "norm_num", "positivity", "linarith", "ring_nf", "field_simp", "decide"),
        *("nlinarith", "aesop", "grind"),
    ),
}
"""Names for several solver tactics, cheap ones first; `auto` chooses one of them by the server."""
EVERY = SOLVER_SETS["mathlib"]

_STATEMENTS = (
    "(p q : Prop) (hp : p) (hq : q) : q ∧ p",
    "(p q r : Prop) (h : p → q) (h1 : q → r) : p → r",
    "(n : Nat) : n + 0 = n",
    "(a b : Nat) (h : a ≤ b) : a < b + 1",
    "(a b c : Nat) (h : a + b < c) : a < c - b",
    "(l : List Nat) : (l ++ []).length = l.length",
    ": 2 ^ 5 % 7 = 4",
    "(f : Nat → Nat) (h : ∀ x, f (f x) = x) (a b : Nat) (e : f a = f b) : a = b",
    "(f : Nat → Nat) (h : ∀ x, f (f x) = f x + 1) (a : Nat) : f (a * a) = a",
    "(x y : ℝ) (h : 0 < x) (h1 : x < y) : x / 2 < y",
    "(x y : ℝ) : 0 ≤ x ^ 2 + y ^ 2",
    "(x y : ℝ) (h : 0 < x) (h1 : x < y) : x ^ 2 < y ^ 2",
    "(x y : ℝ) : (x + y) ^ 2 = x ^ 2 + 2 * x * y + y ^ 2",
    "(x : ℝ) (h : x ≠ 0) : x / x + 1 = 2",
)
"""Small goals of many kinds, those of real numbers for Mathlib; some of them no solver proves."""


class Session(Protocol):
    """What measuring needs of a Lean session."""

    def start(self, theorem: Theorem) -> Branch: ...

    def apply(self, branch: Branch, tactics: Sequence[str]) -> list[TacticApplied | TacticFailed]: ...


@dataclass(frozen=True)
class SolverTime:
    """What a solver did on the small goals: how many it closed, and its median and longest time in seconds."""

    tactic: str
    closed: int
    tried: int
    median_seconds: float
    longest_seconds: float


def expand_solver_sets(names: Iterable[str]) -> tuple[str, ...]:
    """Replace the names of `SOLVER_SETS` among tactics by what they stand for, each tactic once."""
    tactics: list[str] = []
    for name in names:
        tactics += SOLVER_SETS.get(name, (name,))
    return tuple(dict.fromkeys(tactics))


def measure_solvers(session: Session, tactics: Sequence[str] = EVERY) -> list[SolverTime]:
    """Run solvers on small goals, each alone; return those that close any, the fastest first.

    Goals that the server refuses (it may lack real numbers) are left out. Raises LeanError if the server fails.
    """
    goals = []
    for number, statement in enumerate(_STATEMENTS):
        with suppress(TheoremRejected):
            theorem = Theorem(f"theorem solver_probe {statement} := by\n  sorry", "probe", f"solver_{number}")
            goals.append(session.start(theorem))
    solvers = []
    for tactic in tactics:
        seconds, closed = [], 0
        # One request a goal, with its way over HTTP: that is what a search waits for.
        for goal in goals:
            began = time.perf_counter()
            result = session.apply(goal, [tactic])[0]
            seconds.append(time.perf_counter() - began)
            closed += isinstance(result, TacticApplied) and not result.branches
        if closed:
            solvers.append(SolverTime(tactic, closed, len(goals), statistics.median(seconds), max(seconds)))
    return sorted(solvers, key=lambda solver: solver.median_seconds)
