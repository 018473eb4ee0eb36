"""What a search hands to the proof builder: sums of known inequalities, and inequalities derived from such sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from nanolean.kernel.expr import Expr
from nanolean.tactics.omega.sums import Form, Sum

Relation = Literal["le", "lt", "eq", "eq_symm", "nonneg"]


@dataclass(frozen=True, slots=True, eq=False)
class Fact:
    """A proved relation between two sums, read as `form ≥ 0`.

    `eq_symm` reads `left = right` as `right ≤ left`; `nonneg` is `0 ≤ right` and needs no proof.
    """

    relation: Relation
    left: Sum
    right: Sum
    proof: Expr | Quotient | None
    form: Form


@dataclass(frozen=True, slots=True, eq=False)
class Rounded:
    """`form ≥ 0`, which follows from a sum after division by its scale and rounding."""

    form: Form
    why: Why


Leaf = Fact | Rounded


class Why(NamedTuple):
    """A reason for `form ≥ 0`: `scale * form` is the sum of the leaves with these positive multipliers."""

    parts: dict[Leaf, int]
    scale: int


@dataclass(frozen=True, slots=True, eq=False)
class Quotient:
    """The reason for `m * (n / m) = n`: the sums `n + m * k` and `m * k'` are equal, for these two reasons."""

    n: Sum
    m: int
    small: Sum
    large: Sum
    le: Why
    ge: Why


class Refutation(Exception):
    """Raised where a search has found a contradiction: leaves that add up to a negative number."""

    def __init__(self, parts: dict[Leaf, int]) -> None:
        super().__init__()
        self.parts = parts
