"""What printing needs to know about constants: hidden arguments, dot notation, whether it makes a proof."""

from dataclasses import dataclass

from nanolean.kernel.declaration import (
    AxiomInfo,
    ConstantInfo,
    Constants,
    CtorInfo,
    InductiveInfo,
    TheoremInfo,
)
from nanolean.kernel.expr import PROP, BVar, Const, Expr, Pi, get_app_args, get_app_fn


@dataclass(frozen=True, slots=True)
class Signature:
    """How applications of a constant print."""

    infos: tuple[str, ...]
    """The binder info of each argument that its type shows."""
    dot: int | None
    """The argument that is written in front of the dot in `x.f`, if the constant prints that way."""
    is_proof: bool
    """Whether a full application is a proof."""
    result: Expr
    """What its type says behind the arguments, with loose indices for them."""


PLAIN = Signature((), None, False, PROP)


def telescope(type_: Expr) -> tuple[list[Pi], Expr]:
    """The leading binders of a type, and what is behind them."""
    binders = []
    while isinstance(type_, Pi):
        binders.append(type_)
        type_ = type_.body
    return binders, type_


def signature_of(env: Constants, name: str) -> Signature:
    """The signature of a constant; `PLAIN` for a name that the environment does not have."""
    info = env.get(name)
    if info is None:
        return PLAIN
    binders, result = telescope(info.type)
    is_proof = _is_proof(env, info, result)
    dot = _dot_argument(env, name, binders, is_proof)
    return Signature(tuple(binder.info or "default" for binder in binders), dot, is_proof, result)


def result_sort_is_prop(env: Constants, head: Const, args: list[Expr]) -> bool:
    """Whether a constant applied to arguments is a proposition, as far as its type tells without computing."""
    info = env.get(head.name)
    if info is None:
        return False
    type_ = info.type
    for _ in args:
        if not isinstance(type_, Pi):
            return False
        type_ = type_.body
    if isinstance(type_, BVar):
        return type_.idx < len(args) and args[len(args) - 1 - type_.idx] is PROP
    return type_ is PROP


def _is_proof(env: Constants, info: ConstantInfo, result: Expr) -> bool:
    match info:
        case TheoremInfo():
            return True
        case CtorInfo(induct=induct):
            family = env.get(induct)
            return isinstance(family, InductiveInfo) and family.is_prop
        case AxiomInfo():
            head = get_app_fn(result)
            return isinstance(head, Const) and result_sort_is_prop(env, head, get_app_args(result))
        case _:
            return False


def _dot_argument(env: Constants, name: str, binders: list[Pi], is_proof: bool) -> int | None:
    """Lean's rule: a field of a structure, or no proof and the first explicit argument lives in the namespace."""
    namespace, _, field = name.rpartition(".")
    if not namespace:
        return None
    structure = env.get(namespace)
    if isinstance(structure, InductiveInfo) and structure.is_structure:
        ctor = env.get(structure.ctors[0])
        fields = telescope(ctor.type)[0][structure.num_params :] if ctor is not None else []
        place = structure.num_params
        if any(binder.name == field for binder in fields) and place < len(binders):
            return place if binders[place].info in ("default", "") else None
    if is_proof:
        return None
    for place, binder in enumerate(binders):
        if binder.name == "motive":
            return None
        if binder.info in ("default", ""):
            head = get_app_fn(binder.type)
            return place if isinstance(head, Const) and head.name == namespace else None
    return None
