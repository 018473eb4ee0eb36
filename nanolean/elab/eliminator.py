"""Recursors applied without a motive (`Nat.rec base step n`): the motive is read off the expected type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nanolean.env_state import EnvState
from nanolean.errors import ElabError
from nanolean.kernel.expr import BVar, Const, Expr, Pi, get_app_fn_args, instantiate, mk_app
from nanolean.meta.generalize import abstract_occurrences
from nanolean.syntax import Hole

if TYPE_CHECKING:
    from nanolean.elab.app import Call


@dataclass(frozen=True)
class EliminatorShape:
    """Which argument is the motive, and which arguments the result applies it to."""

    motive: str
    motive_place: int
    targets: tuple[int, ...]
    arity: int


def eliminator_shape(state: EnvState, fn: Const) -> EliminatorShape | None:
    """The shape of a recursor or of a constant tagged `elab_as_elim`, None for anything else."""
    info = state.get(fn.name)
    if info is None or (info.kind != "rec" and fn.name not in state.tagged("elab_as_elim")):
        return None
    names: list[str] = []
    type_ = info.type
    while isinstance(type_, Pi):
        names.append(type_.name)
        type_ = type_.body
    head, args = get_app_fn_args(type_)
    arity = len(names)
    if not isinstance(head, BVar) or not all(isinstance(arg, BVar) for arg in args):
        return None
    motive = arity - 1 - head.idx
    targets = tuple(arity - 1 - arg.idx for arg in args if isinstance(arg, BVar))
    return EliminatorShape(names[motive], motive, targets, arity)


def elab_eliminator(call: Call, fn: Const, shape: EliminatorShape) -> Expr:
    """Elaborate the targets first, then the motive from the expected type, then the other arguments."""
    self, mctx = call.elaborator, call.mctx
    expected = call.expected
    assert expected is not None
    args = list(call.args)
    result: Expr = fn
    type_ = mctx.infer_type(fn)
    postponed = []
    values: list[Expr] = []
    motive: Expr | None = None
    value: Expr
    for place in range(shape.arity):
        type_ = type_ if isinstance(type_, Pi) else mctx.whnf(type_)
        assert isinstance(type_, Pi)
        if place == shape.motive_place:
            motive = value = mctx.fresh_mvar(type_.type, self.lctx, "natural")
        elif type_.name in call.named:
            value = self.elab_as(call.named.pop(type_.name).value, type_.type)
        elif type_.info != "default":
            value = self.fresh_hole(type_.type, call.stx)
        elif not args:
            raise ElabError(f"failed to elaborate eliminator, {fn.name} needs more arguments")
        elif place in shape.targets or isinstance(args[0], Hole):
            arg = args.pop(0)
            value = arg if isinstance(arg, Expr) else self.elab_as(arg, type_.type)
        else:
            value = mctx.fresh_mvar(type_.type, self.lctx, "natural")
            postponed.append((value, args.pop(0), type_.type))
        values.append(value)
        result = mk_app(result, value)
        type_ = instantiate(type_.body, value)
    assert motive is not None
    targets = [mctx.instantiate(values[place]) for place in shape.targets]
    body = mctx.instantiate(expected)
    for arg in args:
        raise ElabError("failed to elaborate eliminator, too many arguments" if arg else "")
    motive_value = abstract_occurrences(mctx, body, targets)
    if not mctx.is_def_eq(motive, motive_value):
        raise ElabError("failed to elaborate eliminator, the motive is not type correct")
    for value, arg, arg_type in postponed:
        arg_type = mctx.instantiate(arg_type)
        term = arg if isinstance(arg, Expr) else self.elab_as(arg, arg_type)
        if not mctx.is_def_eq(value, term):
            raise ElabError("failed to elaborate eliminator, an argument does not fit")
    return result
