"""Making matchers: closed auxiliary definitions, shared by all matches that have the same patterns."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from nanolean.elab.levels import collect_level_mvars
from nanolean.elab.match_tree import Alternative, MatchTree
from nanolean.elab.patterns import Pattern
from nanolean.elab.session import Session
from nanolean.kernel.declaration import DefDecl, DefInfo
from nanolean.kernel.expr import (
    PROP,
    Const,
    Expr,
    FVar,
    Sort,
    alpha_eq,
    collect_fvars,
    collect_level_params_of,
    mk_app,
    replace_levels,
)
from nanolean.kernel.level import Level, LParam, substitute
from nanolean.meta.bind import replace_fvar
from nanolean.meta.lctx import LocalContext
from nanolean.meta.matchers import as_matcher


@dataclass(frozen=True)
class Row:
    """The patterns of one alternative and their variables, in order."""

    patterns: tuple[Pattern, ...]
    ids: tuple[str, ...]


@dataclass(frozen=True)
class Coverage:
    """What the alternatives leave out (texts), and which of them are never reached."""

    missing: tuple[str, ...]
    redundant: tuple[int, ...]


@dataclass(frozen=True)
class MatcherCall:
    """A matcher, to be applied to the motive, the terms and the alternatives."""

    params: tuple[Expr, ...]
    levels: tuple[Level, ...]
    name: str
    to_prop: bool

    def apply(self, level: Level, motive: Expr, args: Sequence[Expr]) -> Expr:
        """The matcher applied; `level` is the universe of the result."""
        levels = self.levels if self.to_prop else (level, *self.levels)
        return mk_app(Const(self.name, levels), *self.params, motive, *args)


class MatcherMaker:
    """Makes the matcher for targets (locals, types closed over each other and the context) and rows of patterns."""

    def __init__(self, session: Session, lctx: LocalContext, targets: Sequence[str], to_prop: bool) -> None:
        self.session = session
        self.mctx = session.mctx
        self.targets = list(targets)
        self.params = self._find_params(lctx)
        types = [self.mctx.instantiate(self.mctx.fvars[i].type) for i in [*self.params, *self.targets]]
        self.outer_levels: tuple[Level, ...] = tuple(
            dict.fromkeys(
                [LParam(name) for e in types for name in sorted(collect_level_params_of(e))]
                + [mvar for e in types for mvar in collect_level_mvars(e)]
            )
        )
        self.level = LParam("_motive")
        names = [f"u_{i + 2}" for i in range(len(self.outer_levels))]
        self.to_prop = to_prop
        self.level_params = tuple(names) if to_prop else ("u_1", *names)
        olds = self.outer_levels if to_prop else (self.level, *self.outer_levels)
        self.renaming: dict[Level, Level] = {old: LParam(new) for old, new in zip(olds, self.level_params)}
        sort = PROP if to_prop else Sort(self.level)
        self.motive = self.mctx.fresh_local("motive", self.mctx.mk_pi(self.targets, sort))

    def _find_params(self, lctx: LocalContext) -> list[str]:
        """Ids of the locals of the context that the types of the targets rest on."""
        wanted: set[str] = set()
        todo = list(self.targets)
        while todo:
            type_ = self.mctx.instantiate(self.mctx.fvars[todo.pop()].type)
            for fvar_id in collect_fvars(type_):
                if fvar_id not in wanted and fvar_id not in self.targets:
                    wanted.add(fvar_id)
                    todo.append(fvar_id)
        return [decl.fvar_id for decl in lctx if decl.fvar_id in wanted]

    def make(self, rows: Sequence[Row]) -> tuple[MatcherCall | None, Coverage]:
        """The matcher, None where cases are missing."""
        mctx = self.mctx
        alternatives, ids = [], []
        for i, row in enumerate(rows):
            result = mk_app(self.motive.fvar, *[pattern.shape for pattern in row.patterns])
            local = mctx.fresh_local(f"h_{i + 1}", mctx.mk_pi(list(row.ids), result))
            ids.append(local.fvar_id)
            alternatives.append(Alternative(row.patterns, row.ids, local.fvar))
        binders = [*self.params, self.motive.fvar_id, *self.targets, *ids]
        lctx = LocalContext(mctx.fvars[fvar_id] for fvar_id in binders)
        target = mk_app(self.motive.fvar, *[FVar(i) for i in self.targets])
        goal = mctx.fresh_mvar(target, lctx, "synthetic")
        tree = MatchTree(mctx, alternatives)
        tree.solve(goal.id, self.targets)
        redundant = tuple(i for i in range(len(rows)) if i not in tree.used)
        coverage = Coverage(tuple(", ".join(e.text() for e in examples) for examples in tree.missing), redundant)
        if tree.missing or redundant:
            return None, coverage
        type_ = self._close(mctx.mk_pi(binders, target))
        value = self._close(mctx.mk_lambda(binders, goal))
        return self._call(type_, value), coverage

    def _close(self, e: Expr) -> Expr:
        e = self.mctx.instantiate(e)
        return replace_levels(e, lambda level: substitute(level, self.renaming))

    def _call(self, type_: Expr, value: Expr) -> MatcherCall:
        """An application of the matcher with this value, which is defined if there is none yet."""
        params = tuple(FVar(fvar_id) for fvar_id in self.params)
        env = self.session.state.env
        for info in env:
            if ".match_" in info.name and isinstance(info, DefInfo) and as_matcher(info) is not None:
                same = info.level_params == self.level_params and alpha_eq(info.value, value)
                if same and alpha_eq(info.type, type_):
                    return MatcherCall(params, self.outer_levels, info.name, self.to_prop)
        owner = self.session.decl_name or "_example"
        name = next(name for i in itertools.count(1) if (name := f"{owner}.match_{i}") not in env)
        self.session.add_auxiliary(DefDecl(name, self.level_params, type_, value))
        return MatcherCall(params, self.outer_levels, name, self.to_prop)


def without_lets(session: Session, lctx: LocalContext, e: Expr) -> Expr:
    """The term with `let` locals replaced by their values."""
    for decl in reversed(lctx.decls):
        if decl.value is not None:
            e = replace_fvar(e, decl.fvar_id, session.mctx.instantiate(decl.value))
    return e
