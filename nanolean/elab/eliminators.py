"""Applications of recursors and the like, whose motive is found from the expected type."""

from collections.abc import Sequence
from dataclasses import dataclass

from nanolean.elab.elaborator import Elaborator
from nanolean.env_state import EnvState
from nanolean.kernel.declaration import InductiveInfo
from nanolean.kernel.expr import BVar, Const, Expr, Pi, get_app_fn_args, instantiate, mk_app
from nanolean.meta.generalize import abstract_occurrences, kabstract
from nanolean.proof_errors import ElabError
from nanolean.syntax import Hole, NamedArg, Term

Arg = Term | Expr
"""An argument: syntax, or a term that is elaborated already."""


@dataclass(frozen=True)
class EliminatorShape:
    """Which argument is the motive, and which arguments the result applies it to."""

    names: tuple[str, ...]
    explicit: tuple[bool, ...]
    motive: int
    targets: tuple[int, ...]


def eliminator_shape(state: EnvState, fn: Const) -> EliminatorShape | None:
    """Return the shape of a recursor, `casesOn`, `recOn`, or a constant tagged `elab_as_elim`; None for others."""
    info = state.get(fn.name)
    if info is None or not (info.kind == "rec" or fn.name in state.tagged("elab_as_elim") or _is_made(state, fn.name)):
        return None
    names: list[str] = []
    explicit: list[bool] = []
    type_ = info.type
    while isinstance(type_, Pi):
        names.append(type_.name)
        explicit.append(type_.info == "default")
        type_ = type_.body
    # `getElabElimInfo` of Lean: the result is the motive applied to the targets, all of them arguments.
    head, args = get_app_fn_args(type_)
    arity = len(names)
    if not isinstance(head, BVar) or not all(isinstance(arg, BVar) for arg in args):
        return None
    targets = tuple(arity - 1 - arg.idx for arg in args if isinstance(arg, BVar))
    return EliminatorShape(tuple(names), tuple(explicit), arity - 1 - head.idx, targets)


def _is_made(state: EnvState, name: str) -> bool:
    """Whether this is the `casesOn` or `recOn` of an inductive type."""
    owner, _, last = name.rpartition(".")
    return last in ("casesOn", "recOn") and isinstance(state.get(owner), InductiveInfo)


def finds_motive(shape: EliminatorShape, args: Sequence[Arg], named: dict[str, NamedArg]) -> bool:
    """Return whether the motive is to be found: it is not given, and everything is there that it is about.

    Lean elaborates other applications as those of any function: `False.rec (fun _ => p) h`, and `False.rec _` alone.
    """
    place = 0  # among the arguments without names
    for index, (name, is_explicit) in enumerate(zip(shape.names, shape.explicit)):
        if name in named:
            if index == shape.motive:
                return False
            continue
        if not is_explicit:
            continue
        given = args[place] if place < len(args) else None
        if index == shape.motive and given is not None and not isinstance(given, Hole):
            return False
        if index in shape.targets and given is None:
            return False
        place += 1
    return True


def elab_eliminator(
    self: Elaborator,
    stx: Term,
    fn: Const,
    shape: EliminatorShape,
    args: Sequence[Arg],
    named: dict[str, NamedArg],
    expected: Expr,
) -> Expr:
    """Elaborate the targets first, then the motive from the expected type, then the other arguments.

    Arguments behind the last one are applied to the result; the expected type is generalized over them.
    """
    mctx = self.mctx
    left = list(args)
    given = dict(named)
    result: Expr = fn
    type_ = mctx.infer_type(fn)
    postponed: list[tuple[Expr, Arg, Expr]] = []
    values: list[Expr] = []
    for place, name in enumerate(shape.names):
        type_ = mctx.whnf_pi(type_)
        assert isinstance(type_, Pi)
        arg: Arg | None = None
        if name in given:
            arg = given.pop(name).value
        elif shape.explicit[place] and left:
            arg = left.pop(0)
        value: Expr
        if place == shape.motive:
            value = mctx.fresh_mvar(type_.type, self.lctx, "natural")
        elif arg is None and shape.explicit[place]:
            raise ElabError(f"failed to elaborate eliminator, {fn.name} needs more arguments", stx.pos, stx.end)
        elif arg is None:
            value = self.fresh_hole(type_.type, stx)
        elif place in shape.targets or isinstance(arg, Hole):
            value = _elab(self, arg, type_.type, stx)
        else:
            # Minor premises have the motive in their types: elaborated before it is known, `fun h => ..` would have no
            # type to read its binder from (`ElabElim` of Lean's Elab/App.lean).
            value = mctx.fresh_mvar(type_.type, self.lctx, "natural")
            postponed.append((value, arg, type_.type))
        values.append(value)
        result = mk_app(result, value)
        type_ = instantiate(type_.body, value)
    for unused in given.values():
        raise ElabError(f"Invalid argument name `{unused.name}` for function `{fn.name}`", unused.pos, unused.end)
    extra = [arg if isinstance(arg, Expr) else self.elab(arg) for arg in left]
    body = mctx.instantiate(expected)
    # `(Or.elim h f g) x`: the motive leads into functions of what follows.
    for value in reversed(extra):
        body = Pi("x", mctx.instantiate(mctx.infer_type(value)), kabstract(mctx, body, value))
    targets = [mctx.instantiate(values[place]) for place in shape.targets]
    if not mctx.is_def_eq(values[shape.motive], abstract_occurrences(mctx, body, targets)):
        raise ElabError("failed to elaborate eliminator, the motive is not type correct")
    for value, arg, arg_type in postponed:
        term = _elab(self, arg, mctx.instantiate(arg_type), stx)
        if not mctx.is_def_eq(value, term):
            raise ElabError("failed to elaborate eliminator, an argument does not fit")
    return mk_app(result, *extra)


def _elab(self: Elaborator, arg: Arg, type_: Expr, stx: Term) -> Expr:
    """The term of an argument, which must have the type."""
    if isinstance(arg, Expr):
        return self.ensure_type(arg, type_, stx)
    return self.elab_as(arg, type_)
