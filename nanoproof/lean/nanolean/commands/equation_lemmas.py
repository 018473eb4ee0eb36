"""The theorems `f.eq_1`, `f.eq_2`, .. and `f.eq_def` of a definition by recursion or by a match, as in Lean.

There is one equation for each alternative; where an earlier alternative overlaps with it the equation has a condition
that excludes the earlier one. `f.eq_def` states the whole body. All are proved by case analysis and computation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nanoproof.lean.nanolean.elab.session import Session
from nanoproof.lean.nanolean.errors import TacticError
from nanoproof.lean.nanolean.kernel.declaration import RecInfo, TheoremDecl
from nanoproof.lean.nanolean.kernel.expr import (
    Const,
    Expr,
    FVar,
    Lam,
    Pi,
    Proj,
    collect_fvars,
    get_app_fn_args,
    instantiate,
    mk_app,
)
from nanoproof.lean.nanolean.kernel.reduce import beta, literal_to_ctor
from nanoproof.lean.nanolean.kernel.typecheck import TypeChecker
from nanoproof.lean.nanolean.meta.bind import replace_fvar
from nanoproof.lean.nanolean.meta.lctx import INACCESSIBLE_MARK, LocalContext
from nanoproof.lean.nanolean.meta.matchers import matcher_of
from nanoproof.lean.nanolean.tactics.cases_core import cases_local
from nanoproof.lean.nanolean.tactics.eliminate import beta_reduce
from nanoproof.lean.nanolean.tactics.eq_proof import match_eq, mk_eq, mk_eq_refl

MAX_SPLITS = 24
"""How deep the case analysis in the proof of an equation may go."""


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
        """The theorems; `ids` are the locals that the body is over, `variables` those of the section."""
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
        head = mk_app(fn, *args[:first])
        type_ = self.mctx.infer_type(head)
        found: list[Clause] = []
        earlier: list[list[Expr]] = []
        for alternative in args[first:]:
            assert isinstance(type_, Pi)
            ids, patterns, body = self._open(type_.type, alternative)
            new = self._specialize(clause, targets, ids, patterns, body)
            if new is not None:
                conditions = [c for other in earlier if (c := self._condition(other, patterns, ids)) is not None]
                new = Clause(new.ids, (*new.conditions, *conditions), new.args, new.body)
                found += self._clauses(new)
            earlier.append(patterns)
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

    def _condition(self, earlier: list[Expr], patterns: list[Expr], ids: list[str]) -> str | None:
        """A local `∀ .., x = p → .. → False` that excludes an earlier alternative, None if they do not overlap."""
        found: list[tuple[Expr, Expr]] = []
        bound: dict[str, Expr] = {}
        if not all(self._overlap(a, b, set(ids), found, bound) for a, b in zip(earlier, patterns)):
            return None
        prop: Expr = Const("False")
        for variable, shape in reversed(found):
            for old, new in bound.items():
                shape = replace_fvar(shape, old, new)
            type_ = self.mctx.infer_type(variable)
            level = self.mctx.sort_level(type_)
            assert level is not None, "a type has a level"
            prop = Pi("h", mk_eq(level, type_, variable, shape), prop)
        free = [i for i in collect_fvars(prop) if i not in ids and any(i in collect_fvars(e) for e in earlier)]
        return self.mctx.fresh_local("x", self.mctx.mk_pi(free, prop)).fvar_id

    def _overlap(self, a: Expr, b: Expr, ids: set[str], found: list[tuple[Expr, Expr]], bound: dict[str, Expr]) -> bool:
        """Whether two patterns have a common instance; where `a` says more, `found` gets what `b` would have to be."""
        if isinstance(a, FVar):
            bound[a.id] = b
            return True
        if isinstance(b, FVar):
            found.append((b, a))
            return True
        a, b = literal_to_ctor(a), literal_to_ctor(b)
        a_fn, a_args = get_app_fn_args(a)
        b_fn, b_args = get_app_fn_args(b)
        if getattr(a_fn, "name", "") != getattr(b_fn, "name", "") or len(a_args) != len(b_args):
            return False
        return all(x is y or self._overlap(x, y, ids, found, bound) for x, y in zip(a_args, b_args))

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
        if not self._close(goal.id, 0):
            mctx.restore(mark)
            return None
        statement = self._public(mctx.instantiate(mctx.mk_pi(ids, goal_type(self.session, goal.id))))
        return TheoremDecl(name, self.level_params, statement, mctx.instantiate(mctx.mk_lambda(ids, goal)))

    def _public(self, type_: Expr) -> Expr:
        """The statement with names of binders that can be written."""
        if not isinstance(type_, Pi):
            return type_
        return Pi(type_.name.partition(INACCESSIBLE_MARK)[0] or "x", type_.type, self._public(type_.body), type_.info)

    def _close(self, goal: str, depth: int) -> bool:
        """Prove an equation by computation, or by cases on what computation waits for."""
        mctx = self.mctx
        sides = match_eq(mctx.instantiate(mctx.decl(goal).type))
        assert sides is not None
        level, type_, lhs, rhs = sides
        lctx = mctx.decl(goal).lctx
        checker = TypeChecker(mctx.env, {decl.fvar_id: (decl.type, decl.value) for decl in lctx}, mctx.budget)
        if checker.is_def_eq(lhs, rhs):
            mctx.assign(goal, mk_eq_refl(level, type_, lhs))
            return True
        if depth > 0 and self._by_condition(goal, sides[1], lctx):
            return True
        stuck = _stuck_on(checker, lhs, lctx) or _stuck_on(checker, rhs, lctx)
        if stuck is None or depth >= MAX_SPLITS:
            return False
        try:
            branches = cases_local(mctx, goal, stuck, lambda _goal, e: str(e))
        except TacticError:
            return False
        return all(self._close(branch.goal, depth + 1) for branch in branches)

    def _by_condition(self, goal: str, type_: Expr, lctx: LocalContext) -> bool:
        """Close a goal whose case a condition excludes."""
        mctx = self.mctx
        for decl in lctx:
            statement = mctx.instantiate(decl.type)
            proof = decl.fvar
            mark = mctx.save()
            while isinstance(statement, Pi):
                sides = match_eq(statement.type)
                if sides is None:
                    arg: Expr = mctx.fresh_mvar(statement.type, lctx)
                elif mctx.is_def_eq(sides[2], sides[3]):
                    arg = mk_eq_refl(sides[0], sides[1], sides[2])
                else:
                    break
                proof, statement = mk_app(proof, arg), instantiate(statement.body, arg)
            if statement is Const("False"):
                target = mctx.instantiate(mctx.decl(goal).type)
                level = mctx.sort_level(target)
                assert level is not None, "the target is a type"
                mctx.assign(goal, mk_app(Const("False.elim", (level,)), target, proof))
                return True
            mctx.restore(mark)
        return False


def goal_type(session: Session, goal: str) -> Expr:
    """The statement of a goal."""
    return session.mctx.instantiate(session.mctx.decl(goal).type)


def _stuck_on(checker: TypeChecker, e: Expr, lctx: LocalContext) -> str | None:
    """The local that the computation of a term waits for."""
    while True:
        e = checker.whnf(e)
        fn, args = get_app_fn_args(e)
        info = checker.env.get(fn.name) if isinstance(fn, Const) else None
        if isinstance(info, RecInfo) and len(args) > info.major_idx:
            e = args[info.major_idx]
        elif isinstance(fn, Proj):
            e = fn.expr
        else:
            return fn.id if isinstance(fn, FVar) and fn.id in lctx and not args else None
