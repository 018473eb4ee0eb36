"""Elaboration of operators. Arithmetic and order are on `Nat` only: `a + b` is `Nat.add a b`, without type classes."""

from __future__ import annotations

from dataclasses import replace

from nanoproof.lean.nanolean.elab.elaborator import BOOL, Elaborator, elaborates
from nanoproof.lean.nanolean.elab.names import ROOT
from nanoproof.lean.nanolean.errors import ElabError
from nanoproof.lean.nanolean.kernel.expr import PROP, Const, Expr, mk_app
from nanoproof.lean.nanolean.meta.offset import NAT_TYPE
from nanoproof.lean.nanolean.syntax import AppStx, BinOp, Ident, NamedArg, Num, Term, Unary

NAT_OPS = {"+": "Nat.add", "-": "Nat.sub", "*": "Nat.mul", "/": "Nat.div", "%": "Nat.mod", "^": "Nat.pow"}
NAT_RELATIONS = {"<": "Nat.lt", "≤": "Nat.le", ">": "Nat.gt", "≥": "Nat.ge", "∣": "Nat.dvd"}
CONNECTIVES = {"∧": "And", "∨": "Or", "↔": "Iff"}
BOOL_OPS = {"&&": "and", "||": "or"}
FUNCTIONS = {"::": "List.cons", "++": "List.append", "∈": "List.Mem", "∘": "Function.comp", "×": "Prod"}
CLASSES = {
    "+": "HAdd", "-": "HSub", "*": "HMul", "/": "HDiv", "%": "HMod", "^": "HPow",
    "<": "LT", "≤": "LE", ">": "LT", "≥": "LE", "∣": "Dvd",
}  # fmt: skip


def elab_binop(self: Elaborator, stx: BinOp, expected: Expr | None) -> Expr:
    """A binary operator, by its kind."""
    op = stx.op
    if op in NAT_OPS:
        return mk_app(_nat_const(self, stx, NAT_OPS[op]), _nat(self, stx, stx.lhs), _nat(self, stx, stx.rhs))
    if op in NAT_RELATIONS:
        return mk_app(_nat_const(self, stx, NAT_RELATIONS[op]), _nat(self, stx, stx.lhs), _nat(self, stx, stx.rhs))
    if op in CONNECTIVES:
        return mk_app(Const(CONNECTIVES[op]), self.elab_as(stx.lhs, PROP), self.elab_as(stx.rhs, PROP))
    if op in BOOL_OPS:
        return mk_app(Const(BOOL_OPS[op]), self.elab_as(stx.lhs, BOOL), self.elab_as(stx.rhs, BOOL))
    if op in ("=", "≠"):
        return _equality(self, stx)
    if op in ("==", "!="):
        test = mk_app(Const("Nat.beq"), _nat(self, stx, stx.lhs), _nat(self, stx, stx.rhs))
        return test if op == "==" else mk_app(Const("not"), test)
    if op in ("<|", "|>"):
        fn, arg = (stx.lhs, stx.rhs) if op == "<|" else (stx.rhs, stx.lhs)
        return self.elab(_applied(stx, fn, arg), expected)
    if op == "∉":
        return mk_app(Const("Not"), elab_binop(self, replace(stx, op="∈"), expected))
    if op in FUNCTIONS and FUNCTIONS[op] in self.session.state.env:
        fn_stx = Ident(ROOT + FUNCTIONS[op], pos=stx.pos, end=stx.end)
        return self.elab(AppStx(fn_stx, (stx.lhs, stx.rhs), pos=stx.pos, end=stx.end), expected)
    raise ElabError(f"the operator `{op}` is not supported", stx.pos, stx.end)


def _applied(stx: Term, fn: Term, arg: Term) -> Term:
    if isinstance(fn, AppStx):
        args: tuple[Term | NamedArg, ...] = (*fn.args, arg)
        return AppStx(fn.fn, args, pos=stx.pos, end=stx.end)
    return AppStx(fn, (arg,), pos=stx.pos, end=stx.end)


def _nat_const(self: Elaborator, stx: BinOp, name: str) -> Expr:
    if name not in self.session.state.env:
        raise ElabError(f"the operator `{stx.op}` is not supported", stx.pos, stx.end)
    return Const(name)


def _nat(self: Elaborator, stx: BinOp, operand: Term) -> Expr:
    """An operand of an operator on `Nat`."""
    e = self.elab(operand, NAT_TYPE)
    type_ = self.mctx.infer_type(e)
    if self.mctx.is_def_eq(NAT_TYPE, type_):
        return e
    shown = self.show(type_)
    shown = f"({shown})" if " " in shown else shown
    name = CLASSES.get(stx.op, "BEq")
    instance = f"{name} {shown} {shown} ?m" if name.startswith("H") else f"{name} {shown}"
    raise ElabError(f"failed to synthesize\n  {instance}\n(only `Nat` has `{stx.op}` here)", stx.pos, stx.end)


def _equality(self: Elaborator, stx: BinOp) -> Expr:
    """`a = b` and `a ≠ b` at any type; the type comes from whichever side knows it."""
    if isinstance(stx.lhs, Num) and not isinstance(stx.rhs, Num):
        rhs = self.elab(stx.rhs)
        lhs = self.elab_as(stx.lhs, self.mctx.infer_type(rhs))
    else:
        lhs = self.elab(stx.lhs)
        rhs = self.elab(stx.rhs, self.mctx.infer_type(lhs))
    type_ = self.mctx.instantiate(self.mctx.infer_type(lhs))
    if type_ is BOOL and self.mctx.whnf(self.mctx.infer_type(rhs)) is PROP:
        lhs, type_ = self.bool_to_prop(lhs), PROP
    rhs = self.ensure_type(rhs, type_, stx.rhs)
    level = self.mctx.sort_level(type_)
    if level is None:
        level = self.mctx.fresh_level()
    return mk_app(Const("Eq" if stx.op == "=" else "Ne", (level,)), type_, lhs, rhs)


@elaborates(Unary)
def elab_unary(self: Elaborator, stx: Unary, expected: Expr | None) -> Expr:
    """`¬p` and `!b`."""
    if stx.op == "¬":
        return mk_app(Const("Not"), self.elab_as(stx.arg, PROP))
    if stx.op == "!":
        return mk_app(Const("not"), self.elab_as(stx.arg, BOOL))
    raise ElabError("failed to synthesize\n  Neg Nat", stx.pos, stx.end)
