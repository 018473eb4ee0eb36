"""Elaboration of `h ▸ e`: `e` with its type rewritten by the equation `h`."""

from __future__ import annotations

from nanolean.elab.elaborator import Elaborator, elaborates
from nanolean.elab.operators import elab_binop
from nanolean.errors import ElabError
from nanolean.kernel.expr import (
    App,
    BVar,
    Const,
    Expr,
    Lam,
    get_app_fn_args,
    has_loose_bvar,
    instantiate,
    lift,
    mk_app,
)
from nanolean.meta.generalize import kabstract
from nanolean.syntax import BinOp, Term


@elaborates(BinOp)
def elab_operator(self: Elaborator, stx: BinOp, expected: Expr | None) -> Expr:
    """`▸` here, every other operator in `operators`."""
    return _rewrite_arrow(self, stx, expected) if stx.op == "▸" else elab_binop(self, stx, expected)


def _rewrite_arrow(self: Elaborator, stx: BinOp, expected: Expr | None) -> Expr:
    if self.known_head(expected) is None and stx is not self.forced:
        return self.wait(stx, expected)
    equation = self.elab(stx.lhs)
    self.resume()
    goal = self.mctx.instantiate(expected) if expected is not None else None
    if goal is not None:
        for eq in (equation, _symm(self, equation, stx)):
            lhs, rhs = _sides(self, eq, stx)
            body = kabstract(self.mctx, goal, rhs)
            if has_loose_bvar(body, 0):
                try:
                    with self.trial():
                        value = self.elab_as(stx.rhs, instantiate(body, lhs))
                except ElabError:
                    break
                return _cast(self, eq, body, value, stx)
    return _rewrite_value(self, stx, equation, goal)


def _rewrite_value(self: Elaborator, stx: BinOp, equation: Expr, goal: Expr | None) -> Expr:
    """The other way: rewrite the type that `e` has on its own."""
    value = self.elab(stx.rhs)
    type_ = self.mctx.instantiate(self.mctx.infer_type(value))
    for eq in (equation, _symm(self, equation, stx)):
        lhs, _ = _sides(self, eq, stx)
        body = kabstract(self.mctx, type_, lhs)
        if has_loose_bvar(body, 0):
            result = _cast(self, eq, body, value, stx)
            if goal is None or self.mctx.is_def_eq(goal, self.mctx.infer_type(result)):
                return result
    shown = self.show(goal) if goal is not None else "?"
    raise ElabError(f"invalid `▸` notation, failed to compute motive for the substitution\n  {shown}", stx.pos, stx.end)


def _sides(self: Elaborator, equation: Expr, stx: Term) -> tuple[Expr, Expr]:
    type_ = self.mctx.whnf(self.mctx.instantiate(self.mctx.infer_type(equation)), "reducible")
    fn, args = get_app_fn_args(type_)
    if not (isinstance(fn, Const) and fn.name == "Eq"):
        raise ElabError(
            f"invalid `▸` notation, argument\n  {self.show(equation)}\nmust be an equality", stx.pos, stx.end
        )
    return self.mctx.instantiate(args[1]), self.mctx.instantiate(args[2])


def _symm(self: Elaborator, equation: Expr, stx: Term) -> Expr:
    lhs, rhs = _sides(self, equation, stx)
    level = self.mctx.sort_level(self.mctx.infer_type(lhs))
    assert level is not None
    return mk_app(Const("Eq.symm", (level,)), self.mctx.infer_type(lhs), lhs, rhs, equation)


def _cast(self: Elaborator, equation: Expr, body: Expr, value: Expr, stx: Term) -> Expr:
    """`Eq.rec` along `equation : a = b` from `body[a]` to `body[b]`."""
    mctx = self.mctx
    lhs, rhs = _sides(self, equation, stx)
    type_ = mctx.infer_type(lhs)
    level, target = mctx.sort_level(type_), mctx.sort_level(instantiate(body, rhs))
    if level is None or target is None:
        raise ElabError("invalid `▸` notation, motive is not type correct", stx.pos, stx.end)
    proof_type = mk_app(Const("Eq", (level,)), lift(type_, 1), lift(lhs, 1), BVar(0))
    motive = Lam("x", type_, Lam("h", proof_type, lift(body, 1)))
    rec = mk_app(Const("Eq.rec", (target, level)), type_, lhs, motive, value, rhs)
    return App(rec, equation)
