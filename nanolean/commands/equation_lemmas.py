"""The theorems `f.eq_1`, `f.eq_2`, .. and `f.eq_def` of a definition by recursion or by a match, as in Lean.

There is one equation for each alternative; where an earlier alternative overlaps with it the equation has a condition
that excludes the earlier one. `f.eq_def` states the whole body. All are proved by case analysis and computation.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nanolean.elab.session import Session
from nanolean.kernel.declaration import TheoremDecl
from nanolean.kernel.expr import (
    Const,
    Expr,
    FVar,
    Lam,
    Pi,
    collect_fvars,
    get_app_fn_args,
    instantiate,
    mk_app,
)
from nanolean.kernel.reduce import beta
from nanolean.meta.bind import replace_fvar
from nanolean.meta.generalize import exclusion
from nanolean.meta.lctx import INACCESSIBLE_MARK, LocalContext
from nanolean.meta.matchers import matcher_of
from nanolean.tactics.cases_core import close_by_computation
from nanolean.tactics.eliminate import apply_type, beta_reduce
from nanolean.tactics.eq_proof import mk_eq


@dataclass(frozen=True)
class Clause:
    """`∀ ids, conditions → f args = body`."""

    ids: tuple[str, ...]
    conditions: tuple[str, ...]
    args: tuple[Expr, ...]
    body: Expr


class EquationLemmas:
    """Makes the theorems for `fn` (a constant, maybe applied to section variables) with the given body."""

    def __init__(self, session: Session, name: str, level_params: tuple[str, ...], fn: Expr) -> None:
        self.session = session
        self.mctx = session.mctx
        self.name = name
        self.level_params = level_params
        self.fn = fn

    def make(self, variables: Sequence[str], ids: Sequence[str], body: Expr) -> Iterator[TheoremDecl]:
        """Yield the theorems; `ids` are the locals that the body is over, `variables` those of the section."""
        outer = tuple(variables)
        whole = Clause(tuple(ids), (), tuple(FVar(i) for i in ids), body)
        clauses = self._clauses(whole)
        for i, clause in enumerate(clauses):
            decl = self._prove(f"{self.name}.eq_{i + 1}", outer, clause)
            if decl is not None:
                yield decl
        decl = self._prove(f"{self.name}.eq_def", outer, whole)
        if decl is not None:
            yield decl

    # -- statements ----------------------------------------------------------------------------------------------------

    def _clauses(self, clause: Clause) -> list[Clause]:
        """One clause for each alternative, going into matches on variables of the clause as deep as they are."""
        self.mctx.budget.spend()
        fn, args = get_app_fn_args(clause.body)
        matcher = matcher_of(self.mctx.env, fn)
        if matcher is None or len(args) != matcher.arity or not isinstance(fn, Const):
            return [clause]
        first = matcher.first_alternative
        targets = args[matcher.num_params + 1 : first]
        if any(not isinstance(target, FVar) or target.id not in clause.ids for target in targets):
            return [clause]
        if len(set(targets)) != len(targets) or any(self._needed(clause, target) for target in targets):
            return [clause]
        type_ = apply_type(self.mctx.env[fn.name].type_at(fn.levels), args[:first])
        found: list[Clause] = []
        earlier: list[tuple[list[Expr], list[str]]] = []
        for alternative in args[first:]:
            assert isinstance(type_, Pi)
            ids, patterns, body = self._open(type_.type, alternative)
            new = self._specialize(clause, targets, ids, patterns, body)
            if new is not None:
                props = [p for other in earlier if (p := exclusion(self.mctx, *other, patterns)) is not None]
                conditions = [self.mctx.fresh_local("x", prop).fvar_id for prop in props]
                new = Clause(new.ids, (*new.conditions, *conditions), new.args, new.body)
                found += self._clauses(new)
            earlier.append((patterns, ids))
            type_ = type_.body
        return found

    def _needed(self, clause: Clause, target: Expr) -> bool:
        """Whether the type of another variable depends on the target."""
        assert isinstance(target, FVar)
        return any(
            target.id in collect_fvars(self.mctx.instantiate(self.mctx.fvars[i].type))
            for i in (*clause.ids, *clause.conditions)
        )

    def _open(self, type_: Expr, alternative: Expr) -> tuple[list[str], list[Expr], Expr]:
        """Variables, patterns and right side of an alternative."""
        ids: list[str] = []
        while isinstance(type_, Pi):
            name = alternative.name if isinstance(alternative, Lam) else type_.name
            local = self.mctx.fresh_local(name.rstrip(INACCESSIBLE_MARK), beta_reduce(type_.type))
            ids.append(local.fvar_id)
            type_ = instantiate(type_.body, local.fvar)
            alternative = beta(alternative, [local.fvar])
        return ids, get_app_fn_args(type_)[1], alternative

    def _specialize(
        self, clause: Clause, targets: Sequence[Expr], ids: list[str], patterns: list[Expr], body: Expr
    ) -> Clause | None:
        args = clause.args
        rest = list(clause.ids)
        for target, pattern in zip(targets, patterns):
            assert isinstance(target, FVar)
            place = rest.index(target.id)
            own = [i for i in ids if i in collect_fvars(pattern) and i not in rest]
            rest[place : place + 1] = own
            args = tuple(replace_fvar(arg, target.id, pattern) for arg in args)
            body = replace_fvar(body, target.id, pattern)
        return Clause(tuple(rest), clause.conditions, args, body)

    # -- proofs --------------------------------------------------------------------------------------------------------

    def _prove(self, name: str, outer: tuple[str, ...], clause: Clause) -> TheoremDecl | None:
        mctx = self.mctx
        lhs = mk_app(self.fn, *clause.args)
        type_ = mctx.infer_type(lhs)
        level = mctx.sort_level(type_)
        if level is None or name in mctx.env:
            return None
        ids = [*outer, *clause.ids, *clause.conditions]
        lctx = LocalContext(mctx.fvars[i] for i in ids)
        goal = mctx.fresh_mvar(mk_eq(level, type_, lhs, clause.body), lctx, "synthetic")
        mark = mctx.save()
        if not close_by_computation(mctx, goal.id):
            mctx.restore(mark)
            return None
        statement = self._public(mctx.instantiate(mctx.mk_pi(ids, goal_type(self.session, goal.id))))
        return TheoremDecl(name, self.level_params, statement, mctx.instantiate(mctx.mk_lambda(ids, goal)))

    def _public(self, type_: Expr, taken: frozenset[str] = frozenset()) -> Expr:
        """The statement with names of binders that can be written and differ from each other."""
        if not isinstance(type_, Pi):
            return type_
        stem = type_.name.partition(INACCESSIBLE_MARK)[0] or "x"
        names = itertools.chain([stem], (f"{stem}_{i}" for i in itertools.count(1)))
        name = next(name for name in names if name not in taken)
        return Pi(name, type_.type, self._public(type_.body, taken | {name}), type_.info)


def goal_type(session: Session, goal: str) -> Expr:
    """Return the statement of a goal."""
    return session.mctx.instantiate(session.mctx.decl(goal).type)
