"""Elaboration of what rewrites in terms: `h ▸ e`, and `calc`, whose steps transitivity puts together."""

from typing import NamedTuple

from nanolean.elab.elaborator import Elaborator, elaborates
from nanolean.elab.operators import elab_binop
from nanolean.kernel.expr import (
    PROP,
    App,
    BVar,
    Const,
    Expr,
    Lam,
    get_app_fn,
    get_app_fn_args,
    has_loose_bvar,
    instantiate,
    lift,
    mk_app,
)
from nanolean.kernel.level import ONE, ZERO
from nanolean.meta.generalize import kabstract
from nanolean.meta.mctx import MetaContext
from nanolean.proof_errors import ElabError
from nanolean.syntax import BinOp, Calc, CalcStep, Term


@elaborates(BinOp)
def elab_operator(self: Elaborator, stx: BinOp, expected: Expr | None) -> Expr:
    """`▸` here, every other operator in `operators`."""
    if stx.op == "▸":
        return _rewrite_arrow(self, stx, expected)
    return elab_binop(self, stx, expected)


def _rewrite_arrow(self: Elaborator, stx: BinOp, expected: Expr | None) -> Expr:
    if self.known_head(expected) is None and stx is not self.forced:
        return self.wait(stx, expected)
    equation = self.elab(stx.lhs)
    self.resume()
    goal = self.mctx.instantiate(expected) if expected is not None else None
    if goal is not None:
        # `elabSubst` of Lean's Elab/BuiltinNotation.lean: the right side of `h` is looked for in the expected type and
        # replaced by the left one, then the other way round; last, in the type of `e`.
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
    # `Eq.rec` takes a motive over the proof too, which `▸` never uses.
    motive = Lam("x", type_, Lam("h", proof_type, lift(body, 1)))
    rec = mk_app(Const("Eq.rec", (target, level)), type_, lhs, motive, value, rhs)
    return App(rec, equation)


TRANS = {
    ("Iff", "Iff"): ("Iff", "Iff.trans"),
    ("Nat.le", "Nat.le"): ("Nat.le", "Nat.le_trans"),
    ("Nat.lt", "Nat.lt"): ("Nat.lt", "Nat.lt_trans"),
    ("Nat.lt", "Nat.le"): ("Nat.lt", "Nat.lt_of_lt_of_le"),
    ("Nat.le", "Nat.lt"): ("Nat.lt", "Nat.lt_of_le_of_lt"),
}
"""The relations of two steps: that of both together, and the lemma `a R b → b S c → a T c` (three implicit sides)."""


class Relation(NamedTuple):
    """`rel lhs rhs`, where `rel` is applied to everything but its sides."""

    rel: Expr
    lhs: Expr
    rhs: Expr

    @property
    def name(self) -> str:
        """The constant at its head."""
        return getattr(get_app_fn(self.rel), "name", "")


class Chain(NamedTuple):
    """`proof : relation`."""

    relation: Relation
    proof: Expr


def relation_of(mctx: MetaContext, type_: Expr) -> Relation | None:
    """Split a proposition into a relation and its last two arguments, None for others."""
    fn, args = get_app_fn_args(mctx.instantiate(type_))
    if len(args) < 2 or not mctx.is_prop(type_):
        return None
    return Relation(mk_app(fn, *args[:-2]), args[-2], args[-1])


@elaborates(Calc)
def elab_calc(self: Elaborator, stx: Calc, expected: Expr | None) -> Expr:
    """Elaborate the term `calc`; the chain must prove what is expected."""
    return elab_calc_steps(self, stx).proof


def elab_calc_steps(self: Elaborator, stx: Calc) -> Chain:
    """Elaborate all steps and join them into one."""
    rhs: Expr | None = None
    chain: Chain | None = None
    for step in stx.steps:
        if step.proof is None:
            # `calc a` begins a chain by its left side alone, with `_ = b` as the first step.
            rhs = self.elab(step.relation)
            continue
        relation = _step_relation(self, step, rhs)
        proof = self.elab_as(step.proof, mk_app(relation.rel, relation.lhs, relation.rhs))
        new = Chain(relation, proof)
        chain = new if chain is None else join(self, chain, new, step)
        rhs = relation.rhs
    if chain is None:
        raise ElabError("a `calc` needs a step with a proof", stx.pos, stx.end)
    return chain


def _step_relation(self: Elaborator, step: CalcStep, before: Expr | None) -> Relation:
    type_ = self.elab_type(step.relation)
    relation = relation_of(self.mctx, type_)
    if relation is None:
        raise ElabError(
            f"invalid 'calc' step, relation expected\n  {self.show(type_)}", step.relation.pos, step.relation.end
        )
    if before is not None and not self.mctx.is_def_eq(relation.lhs, before):
        raise ElabError(
            f"invalid 'calc' step, left-hand side is\n  {_typed(self, relation.lhs)}\nprevious right-hand side is\n  "
            f"{_typed(self, before)}",
            step.relation.pos,
            step.relation.end,
        )
    return relation


def _typed(self: Elaborator, e: Expr) -> str:
    return f"{self.show(e)} : {self.show(self.mctx.infer_type(e))}"


def join(self: Elaborator, first: Chain, second: Chain, blame: Term | CalcStep) -> Chain:
    """Join two steps into one."""
    joined = compose(self.mctx, first, second)
    if joined is None:
        shown = f"{self.show(first.relation.rel)} {self.show(second.relation.rel)}"
        raise ElabError(
            f"invalid 'calc' step, failed to synthesize `Trans` instance\n  Trans {shown} ?m", blame.pos, blame.end
        )
    return joined


def compose(mctx: MetaContext, first: Chain, second: Chain) -> Chain | None:
    """`a T c` from `a R b` and `b S c`, None where the relations do not go together."""
    a, b, c = first.relation.lhs, first.relation.rhs, second.relation.rhs
    names = (first.relation.name, second.relation.name)
    if names == ("Eq", "Eq"):
        eq = get_app_fn(first.relation.rel)
        assert isinstance(eq, Const)
        (type_,) = get_app_fn_args(first.relation.rel)[1]
        proof = mk_app(Const("Eq.trans", eq.levels), type_, a, b, c, first.proof, second.proof)
        return Chain(Relation(first.relation.rel, a, c), proof)
    # Lean's instances `Trans Eq r r` and `Trans r Eq r`: any relation goes along an equation, by rewriting one of its
    # sides.
    if names[0] == "Eq":
        rel = second.relation.rel
        return Chain(Relation(rel, a, c), _along(first, Lam("x", _type(first), mk_app(rel, BVar(0), c)), second.proof))
    if names[1] == "Eq":
        rel = first.relation.rel
        moved = _along(second, Lam("x", _type(second), mk_app(rel, a, BVar(0))), first.proof, forward=True)
        return Chain(Relation(rel, a, c), moved)
    both = TRANS.get(names)
    if both is None:
        return None
    return Chain(Relation(Const(both[0]), a, c), mk_app(Const(both[1]), a, b, c, first.proof, second.proof))


def _type(equation: Chain) -> Expr:
    return get_app_fn_args(equation.relation.rel)[1][0]


def _along(equation: Chain, motive: Lam, proof: Expr, forward: bool = False) -> Expr:
    """A proof of `motive lhs` from one of `motive rhs`, or the other way round when `forward`."""
    eq = get_app_fn(equation.relation.rel)
    assert isinstance(eq, Const)
    lhs, rhs = equation.relation.lhs, equation.relation.rhs
    head = Const("congrArg", (*eq.levels, ONE))
    same = mk_app(head, _type(equation), PROP, lhs, rhs, motive, equation.proof)
    sides = instantiate(motive.body, lhs), instantiate(motive.body, rhs)
    return mk_app(Const("Eq.mp" if forward else "Eq.mpr", (ZERO,)), *sides, same, proof)
