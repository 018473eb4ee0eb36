"""Compiling alternatives with patterns into nested case analysis: the value of a matcher.

The terms to be matched are local variables, the columns. The first column is done away with at each step: where some
pattern in it is a constructor its variable is taken apart, otherwise its variable is what the patterns bind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nanolean.elab.patterns import Pattern, VarPattern
from nanolean.kernel.declaration import CtorInfo
from nanolean.kernel.expr import Expr, FVar, Pi, mk_app
from nanolean.meta.bind import replace_fvar
from nanolean.meta.mctx import MetaContext
from nanolean.proof_errors import ElabError, TacticError
from nanolean.tactics.cases_core import cases_local
from nanolean.tactics.constructors import mk_false_elim, refute_clash
from nanolean.tactics.eliminate import Branch, as_major, display_ctor, inductive_type
from nanolean.tactics.eq_proof import match_eq
from nanolean.tactics.equations import solve_equations
from nanolean.tactics.goals import goal_target, intro_all

MAX_MISSING = 8
"""How many missing cases a message lists."""


@dataclass(frozen=True)
class Example:
    """A shape of terms that no alternative covers: a variable, or a constructor applied to examples."""

    fvar_id: str = ""
    ctor: str = ""
    fields: tuple[Example, ...] = ()

    def text(self) -> str:
        """As Lean writes it."""
        if not self.ctor:
            return "_"
        if not self.fields:
            return {"Bool.true": "true", "Bool.false": "false", "List.nil": "[]", "Option.none": "none"}.get(
                self.ctor, self.ctor
            )
        return f"({self.ctor} {' '.join(field.text() for field in self.fields)})"

    def refine(self, fvar_id: str, new: Example, renaming: dict[str, str]) -> Example:
        """Return the example after a variable has been taken apart and others were renamed."""
        if self.ctor:
            return Example("", self.ctor, tuple(field.refine(fvar_id, new, renaming) for field in self.fields))
        if self.fvar_id == fvar_id:
            return new
        return Example(renaming.get(self.fvar_id, self.fvar_id))


@dataclass(frozen=True)
class Row:
    """An alternative on the way: patterns for the columns that are left, and what its variables stand for so far."""

    index: int
    patterns: tuple[Pattern, ...]
    values: dict[str, Expr]

    def bind(self, value: Expr) -> Row:
        """Return the row without its first pattern, a variable that stands for `value`."""
        variable = self.patterns[0].expr
        assert isinstance(variable, FVar)
        return Row(self.index, self.patterns[1:], {**self.values, variable.id: value})


@dataclass(frozen=True)
class Alternative:
    """What an alternative contributes: its patterns, its variables in order, and the function that it is.

    `conditions` are propositions over the variables whose proofs the function takes too: that no earlier alternative
    applies.
    """

    patterns: tuple[Pattern, ...]
    variables: tuple[str, ...]
    function: Expr
    conditions: tuple[Expr, ...] = ()


class MatchTree:
    """Builds the case analysis; afterwards `missing` and `used` tell what the alternatives cover."""

    def __init__(
        self, mctx: MetaContext, alternatives: Sequence[Alternative], refute: Callable[[str], bool] | None = None
    ) -> None:
        self.mctx = mctx
        self.refute = refute
        self.alternatives = alternatives
        self.missing: list[tuple[Example, ...]] = []
        self.used: set[int] = set()

    def solve(self, goal: str, columns: Sequence[str]) -> None:
        """Assign the goal by case analysis on the columns (ids of locals)."""
        rows = [Row(i, alternative.patterns, {}) for i, alternative in enumerate(self.alternatives)]
        self._solve(goal, list(columns), rows, tuple(Example(column) for column in columns))

    def _solve(self, goal: str, columns: list[str], rows: list[Row], examples: tuple[Example, ...]) -> None:
        self.mctx.budget.spend()
        if not rows:
            # No row is left: either the types rule the case out, or it is missing.
            if len(self.missing) < MAX_MISSING and not (self._impossible(goal, columns) or self._refutes(goal)):
                self.missing.append(examples)
            return
        if not columns:
            # First match: rows behind it are for other values, or redundant.
            self._leaf(goal, rows[0])
        elif all(isinstance(row.patterns[0], VarPattern) for row in rows):
            # The rule of variables in `Lean.Meta.Match.process`: nothing asks what the term is made of, so it is not
            # taken apart.
            rows = [row.bind(FVar(columns[0])) for row in rows]
            self._solve(goal, columns[1:], rows, examples)
        else:
            self._split(goal, columns, rows, examples)

    def _leaf(self, goal: str, row: Row) -> None:
        alternative = self.alternatives[row.index]
        self.used.add(row.index)
        values = [row.values[variable] for variable in alternative.variables]
        proofs = [self._exclude(goal, condition, row) for condition in alternative.conditions]
        self.mctx.assign(goal, mk_app(alternative.function, *values, *proofs))

    def _exclude(self, goal: str, condition: Expr, row: Row) -> Expr:
        """A proof of `∀ .., x = p → .. → False` where what `x` stands for is made by other constructors than `p`."""
        for variable, value in row.values.items():
            condition = replace_fvar(condition, variable, value)
        inner = self.mctx.fresh_mvar(condition, self.mctx.decl(goal).lctx, "synthetic")
        body, names = condition, []
        while isinstance(body, Pi):
            names.append("h")
            body = body.body
        ids, rest = intro_all(self.mctx, inner.id, names)
        equations = [i for i in ids if match_eq(self.mctx.fvars[i].type) is not None]
        if solve_equations(self.mctx, rest, equations, lambda _goal, e: str(e)) is not None:
            raise ElabError("alternatives that overlap in this way are not supported")
        return inner

    def _refutes(self, goal: str) -> bool:
        return self.refute is not None and self.refute(goal)

    def _impossible(self, goal: str, columns: list[str]) -> bool:
        """Whether a column has a type without elements, which closes the goal."""
        for column in columns:
            type_ = self.mctx.instantiate(self.mctx.fvars[column].type)
            if match_eq(type_) is not None:
                if self._refuted(goal, type_, column):
                    return True
                continue
            inductive = inductive_type(self.mctx, type_)
            # Without indices a type with constructors has elements, for all one can see.
            if inductive is None or (inductive[0].ctors and not inductive[0].num_indices):
                continue
            # Only trying tells whether the indices leave a constructor.
            mark = self.mctx.save()
            try:
                if not self._branches(goal, column):
                    return True
            except (ElabError, TacticError):
                pass
            self.mctx.restore(mark)
        return False

    def _refuted(self, goal: str, equation: Expr, column: str) -> bool:
        """Close the goal when the sides of an equation are made by different constructors; Lean looks no deeper."""
        absurdity = refute_clash(self.mctx, equation, FVar(column))
        if absurdity is not None:
            self.mctx.assign(goal, mk_false_elim(self.mctx, goal_target(self.mctx, goal), absurdity))
        return absurdity is not None

    def _branches(self, goal: str, column: str) -> list[Branch]:
        try:
            return cases_local(self.mctx, goal, column, lambda _goal, e: str(e))
        except TacticError as error:
            raise ElabError(error.message) from None

    def _split(self, goal: str, columns: list[str], rows: list[Row], examples: tuple[Example, ...]) -> None:
        column = columns[0]
        major = as_major(self.mctx, FVar(column))
        if major.indices:
            raise ElabError(f"patterns for the inductive family `{major.info.name}` are not supported; use `cases`")
        for branch in self._branches(goal, column):
            ctor = self.mctx.env[branch.ctor]
            assert isinstance(ctor, CtorInfo)
            fields = [FVar(fvar_id) for fvar_id in branch.fields]
            value = display_ctor(ctor, major.levels, major.params, fields)
            example = Example("", branch.ctor, tuple(Example(field) for field in branch.fields))
            # Columns whose types depend on the one that was taken apart are new locals in the branch.
            rest = [branch.renaming.get(other, other) for other in columns[1:]]
            kept = [new for row in rows if (new := _specialize(row, branch, value, column)) is not None]
            refined = tuple(old.refine(column, example, branch.renaming) for old in examples)
            self._solve(branch.goal, [*branch.fields, *rest], kept, refined)


def _specialize(row: Row, branch: Branch, value: Expr, column: str) -> Row | None:
    """The row in the case of one constructor, None if its first pattern is another one."""
    values = {variable: _renamed(e, branch, value, column) for variable, e in row.values.items()}
    first = row.patterns[0].split()
    if first is not None:
        if first[0] != branch.ctor:
            return None
        return Row(row.index, (*first[1], *row.patterns[1:]), values)
    bound = Row(row.index, row.patterns, values).bind(value)
    # The fields of the constructor are columns now, which a row that binds the whole term does not look at.
    ignored = tuple(VarPattern(FVar(fvar_id), FVar(fvar_id)) for fvar_id in branch.fields)
    return Row(row.index, (*ignored, *bound.patterns), bound.values)


def _renamed(e: Expr, branch: Branch, value: Expr, column: str) -> Expr:
    e = replace_fvar(e, column, value)
    for old, new in branch.renaming.items():
        e = replace_fvar(e, old, FVar(new))
    return e
