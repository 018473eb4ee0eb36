"""Elaboration of the simple forms: holes, literals, sorts, ascriptions, `have`, `let`, `show`, lists."""

from __future__ import annotations

from nanolean.elab.elaborator import Elaborator, elaborates
from nanolean.elab.levels import elab_level
from nanolean.elab.names import ROOT
from nanolean.elab.session import SorryRecord
from nanolean.errors import ElabError
from nanolean.kernel.expr import PROP, TYPE, App, Const, Expr, Lit, MVar, Sort, mk_app
from nanolean.kernel.level import Level, Succ
from nanolean.syntax import (
    AppStx,
    Binder,
    By,
    Fun,
    Have,
    Hole,
    Ident,
    If,
    Let,
    ListLit,
    Num,
    Show,
    SorryTerm,
    SortStx,
    SyntheticHole,
    Term,
    TypeAscription,
)


@elaborates(Num)
def elab_num(self: Elaborator, stx: Num, expected: Expr | None) -> Expr:
    """A number; always of type `Nat`."""
    return Lit(stx.value)


@elaborates(Hole)
def elab_hole(self: Elaborator, stx: Hole, expected: Expr | None) -> Expr:
    """`_`: whatever unification finds."""
    return self.fresh_hole(expected, stx)


@elaborates(SyntheticHole)
def elab_synthetic_hole(self: Elaborator, stx: SyntheticHole, expected: Expr | None) -> Expr:
    """`?x`: a new goal; the same name means the same goal."""
    named = stx.name not in ("_", "")
    if named and stx.name in self.named_goals:
        return MVar(self.named_goals[stx.name])
    if named and self.mctx.is_hole_name(stx.name):
        # Lean means the earlier goal, which may be open or not, and whose context may be another one.
        raise ElabError(f"the hole `?{stx.name}` has the name of an earlier goal; it needs a new one", stx.pos, stx.end)
    type_ = self.fresh_type() if expected is None else expected
    mvar = self.mctx.fresh_mvar(type_, self.lctx, "synthetic", stx.name if named else "")
    self.goals.append(mvar.id)
    self.holes.append((mvar.id, stx))
    if named:
        self.named_goals[stx.name] = mvar.id
    return mvar


@elaborates(SortStx)
def elab_sort(self: Elaborator, stx: SortStx, expected: Expr | None) -> Expr:
    """`Prop`, `Type u`, `Sort u`."""
    if stx.kind == "Prop" or stx.level is None:
        return TYPE if stx.kind == "Type" else PROP
    level: Level = elab_level(self.session, stx.level)
    return Sort(Succ(level) if stx.kind == "Type" else level)


@elaborates(TypeAscription)
def elab_ascription(self: Elaborator, stx: TypeAscription, expected: Expr | None) -> Expr:
    """`(e : T)`."""
    type_ = self.elab_type(stx.type)
    return self.elab_as(stx.term, type_)


@elaborates(SorryTerm)
def elab_sorry(self: Elaborator, stx: SorryTerm, expected: Expr | None) -> Expr:
    """`sorry`: the axiom `sorryAx`, put on record."""
    type_ = self.fresh_type() if expected is None else expected
    self.session.sorries.append(SorryRecord(stx.pos, stx.end, self.lctx, type_))
    return mk_sorry(self, type_)


def mk_sorry(self: Elaborator, type_: Expr) -> Expr:
    """`sorryAx type_ false`."""
    level = self.mctx.sort_level(type_)
    if level is None:
        raise ElabError("type expected")
    return mk_app(Const("sorryAx", (level,)), type_, Const("Bool.false"))


@elaborates(By)
def elab_by(self: Elaborator, stx: By, expected: Expr | None) -> Expr:
    """`by tactics`: run once everything else is known."""
    return self.wait(stx, expected)


@elaborates(Show)
def elab_show(self: Elaborator, stx: Show, expected: Expr | None) -> Expr:
    """`show T from e` is `have this : T := e; this`: its type is `T` even where that of `e` only unfolds to it."""
    type_ = self.elab_type(stx.type)
    if expected is not None:
        self.mctx.is_def_eq(expected, type_)
    value = self.elab_as(stx.value, type_)
    with self.local("this", type_) as decl:
        return App(self.mctx.mk_lambda([decl.fvar_id], decl.fvar), value)


@elaborates(Have)
def elab_have(self: Elaborator, stx: Have, expected: Expr | None) -> Expr:
    """`have h : T := v; body`, as an applied function."""
    type_ = self.fresh_type() if stx.type is None else self.elab_type(stx.type)
    value = self.elab_as(stx.value, type_)
    with self.local(stx.name, type_) as decl:
        body = self.elab(stx.body, expected)
        if expected is not None:
            body = self.ensure_type(body, expected, stx.body)
        fn = self.mctx.mk_lambda([decl.fvar_id], body)
    return App(fn, value)


@elaborates(Let)
def elab_let(self: Elaborator, stx: Let, expected: Expr | None) -> Expr:
    """`let x : T := v; body`."""
    type_ = self.fresh_type() if stx.type is None else self.elab_type(stx.type)
    value = self.elab_as(stx.value, type_)
    with self.local(stx.name, type_, value) as decl:
        body = self.elab(stx.body, expected)
        if expected is not None:
            body = self.ensure_type(body, expected, stx.body)
        return self.mctx.mk_lambda([decl.fvar_id], body)


@elaborates(ListLit)
def elab_list(self: Elaborator, stx: ListLit, expected: Expr | None) -> Expr:
    """`[a, b]` as nested `List.cons`."""
    term: Term = Ident("List.nil", pos=stx.pos, end=stx.end)
    for item in reversed(stx.items):
        cons = Ident("List.cons", pos=item.pos, end=item.end)
        term = AppStx(cons, (item, term), pos=stx.pos, end=stx.end)
    return self.elab(term, expected)


@elaborates(If)
def elab_if(self: Elaborator, stx: If, expected: Expr | None) -> Expr:
    """`if c then a else b` is `ite c a b`; `if h : c then a else b` is `dite c (fun h => a) (fun h => b)`."""
    args: tuple[Term, ...] = (stx.condition, stx.then, stx.otherwise)
    fn = Ident(f"{ROOT}ite", pos=stx.pos, end=stx.end)
    if stx.name is not None:
        binder = Binder(stx.name, pos=stx.pos, end=stx.end)
        branches = [Fun((binder,), body, pos=body.pos, end=body.end) for body in args[1:]]
        args = (stx.condition, *branches)
        fn = Ident(f"{ROOT}dite", pos=stx.pos, end=stx.end)
    if fn.name.removeprefix(ROOT) not in self.session.state.env:
        raise ElabError("`if` is not defined yet", stx.pos, stx.end)
    return self.elab(AppStx(fn, args, pos=stx.pos, end=stx.end), expected)
