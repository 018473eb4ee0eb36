"""Linear sums: terms of type `Nat` as `c + k₁ * x₁ + .. + kₙ * xₙ`, and certificates: sums of known inequalities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from nanolean.kernel.expr import App, Const, Expr, FVar, Lit, get_app_fn_args, mk_app
from nanolean.meta.mctx import MetaContext
from nanolean.meta.reduce import NAT_ADD, compute_number, const_name

Form = dict[int, int]
"""A linear form with integer coefficients; coefficients that are 0 are left out, but for the constant they may stay."""

NAT_MUL = Const("Nat.mul")
GROUND = {"Nat.add", "Nat.mul", "Nat.sub", "Nat.div", "Nat.mod", "Nat.pow"}
MAX_NUMBER_BITS = 1 << 16

SumKind = Literal["number", "atom", "add", "succ", "left", "right"]


@dataclass(frozen=True, slots=True, eq=False)
class Sum:
    """A term with its linear form and the way it is built: `left` is `number * part`, `right` is `part * number`.

    `weight` is the sum of all coefficients.
    """

    term: Expr
    kind: SumKind
    form: Form
    weight: int
    parts: tuple[Sum, ...] = ()
    atom: int = 0


def add_forms(a: Mapping[int, int], b: Mapping[int, int], times: int = 1) -> Form:
    """`a + times * b`."""
    result = dict(a)
    for key, value in b.items():
        total = result.get(key, 0) + times * value
        if total:
            result[key] = total
        else:
            result.pop(key, None)
    return result


def scale_form(form: Mapping[int, int], times: int) -> Form:
    """`times * form`."""
    return {key: times * value for key, value in form.items()} if times else {}


def ground_value(mctx: MetaContext, e: Expr) -> int | None:
    """Evaluate a closed term by arithmetic on literals; None for other terms and huge numbers."""
    if isinstance(e, Lit):
        return e.value
    if e.has_fvar or e.has_mvar or not (isinstance(e, App) and isinstance(e.fn, App) and isinstance(e.fn.fn, Const)):
        return None
    if e.fn.fn.name not in GROUND:
        return None
    left = ground_value(mctx, e.fn.arg)
    if left is None:
        return None
    right = ground_value(mctx, e.arg)
    if right is None:
        return None
    value = compute_number(mctx, e.fn.fn.name, left, right)
    if value is None or value.bit_length() > MAX_NUMBER_BITS:
        return None
    return value


class Atoms:
    """The atoms of one problem, and all sums that have been read."""

    def __init__(self, mctx: MetaContext) -> None:
        self.mctx = mctx
        self.terms: list[Expr] = [Lit(1)]
        self._heads: list[Expr | None] = [None]
        """Of each term the head, where only a term with the same head can be equal to it."""
        self._index: dict[Expr, int] = {}
        self._sums: dict[Expr, Sum] = {}

    def index(self, term: Expr) -> int:
        """Return the number of an atom; terms that are equal up to reducible definitions are one atom."""
        number = self._index.get(term)
        if number is None:
            head = self._fixed_head(term)
            number = self._find_equal(term, head)
            if number == len(self.terms):
                self.terms.append(term)
                self._heads.append(head)
            self._index[term] = number
        return number

    def _find_equal(self, term: Expr, head: Expr | None) -> int:
        if isinstance(term, App) and not term.has_mvar:
            # Lean's `omega` compares atoms up to `isDefEq` too; constants and variables are equal only if they are the
            # same.
            with self.mctx.with_transparency("reducible"):
                for i, other in enumerate(self.terms):
                    if head is not None and self._heads[i] is not None and head is not self._heads[i]:
                        continue
                    if isinstance(other, App) and not other.has_mvar and self.mctx.is_def_eq(term, other):
                        return i
        return len(self.terms)

    def _fixed_head(self, term: Expr) -> Expr | None:
        """The head of an application that does not unfold here: a local function, or an operation on numbers."""
        fn, args = get_app_fn_args(term)
        if isinstance(fn, FVar) and args and self.mctx.fvars[fn.id].value is None:
            return fn
        return fn if isinstance(fn, Const) and fn.name in GROUND and len(args) == 2 else None

    def read(self, term: Expr) -> Sum:
        """Read the term as a sum."""
        result = self._sums.get(term)
        if result is None:
            self.mctx.budget.spend(4)
            result = self._sums[term] = self._read(term)
        return result

    def _read(self, term: Expr) -> Sum:
        value = ground_value(self.mctx, term)
        if value is not None:
            return Sum(term, "number", {0: value}, value)
        if isinstance(term, FVar):
            # A `let` variable is its value, as in `asLinearCombo` of Lean; the kernel sees that as well.
            bound = self.mctx.fvars[term.id].value
            if bound is not None:
                return self.read(self.mctx.instantiate(bound))
        fn, args = get_app_fn_args(term)
        name = const_name(fn)
        if name == "Nat.succ" and len(args) == 1:
            part = self.read(args[0])
            return Sum(term, "succ", add_forms(part.form, {0: 1}), part.weight + 1, (part,))
        if name == "Nat.add" and len(args) == 2:
            left, right = self.read(args[0]), self.read(args[1])
            form = add_forms(left.form, right.form)
            return Sum(term, "add", form, left.weight + right.weight, (left, right))
        # A product is linear if one factor is a number; any other is an atom, `x * y` one unknown.
        if name == "Nat.mul" and len(args) == 2:
            for kind, (number, other) in (("left", args), ("right", args[::-1])):
                times = ground_value(self.mctx, number)
                if times is not None:
                    return self._multiple(term, "left" if kind == "left" else "right", times, self.read(other))
        i = self.index(term)
        return Sum(term, "atom", {i: 1}, 1, (), i)

    def _multiple(self, term: Expr, kind: SumKind, times: int, part: Sum) -> Sum:
        return Sum(term, kind, scale_form(part.form, times), times * part.weight, (part,))

    def write(self, form: Mapping[int, int]) -> Sum:
        """Make a sum with this form, whose coefficients must not be negative."""
        result: Sum | None = None
        for i, times in sorted(form.items()):
            if i == 0:
                part = self.read(Lit(times))
            else:
                part = self.read(self.terms[i])
                if times != 1:
                    part = self.multiple(times, part)
            result = part if result is None else self.add(result, part)
        return result or self.read(Lit(0))

    def multiple(self, times: int, part: Sum) -> Sum:
        """`times * part` as a term."""
        return self._multiple(mk_app(NAT_MUL, Lit(times), part.term), "left", times, part)

    def add(self, left: Sum, right: Sum) -> Sum:
        """`left + right` as a term."""
        form = add_forms(left.form, right.form)
        return Sum(mk_app(NAT_ADD, left.term, right.term), "add", form, left.weight + right.weight, (left, right))


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
