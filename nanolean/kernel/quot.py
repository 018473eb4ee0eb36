"""Quotient types: four constants that compute by one rule (`reduce.reduce_quot`)."""

from nanolean.kernel.declaration import ConstantInfo, Constants, InductiveInfo, QuotInfo
from nanolean.kernel.errors import KernelError
from nanolean.kernel.expr import (
    PROP,
    Const,
    Expr,
    FVar,
    Local,
    Pi,
    Sort,
    alpha_eq,
    arrow,
    mk_app,
    mk_pi,
)
from nanolean.kernel.level import LParam

_U, _V = LParam("u"), LParam("v")


def _implicit(name: str, type_: Expr) -> Local:
    return Local(FVar(name), name, type_, "implicit")


def _explicit(name: str, type_: Expr) -> Local:
    return Local(FVar(name), name, type_)


def _check_eq(env: Constants) -> None:
    """`Eq` must be the equality that `Quot.lift` speaks of."""
    eq, refl = env.get("Eq"), env.get("Eq.refl")
    if isinstance(eq, InductiveInfo) and eq.ctors == ("Eq.refl",) and refl is not None and len(eq.level_params) == 1:
        alpha, a = _implicit("α", Sort(LParam(eq.level_params[0]))), _explicit("a", FVar("α"))
        type_ = mk_pi([alpha], arrow(alpha.fvar, arrow(alpha.fvar, PROP)))
        refl_type = mk_pi([alpha, a], mk_app(eq.as_const(), alpha.fvar, a.fvar, a.fvar))
        if alpha_eq(eq.type, type_) and alpha_eq(refl.type, refl_type):
            return
    raise KernelError("quotients need the inductive type Eq")


def quot_constants(env: Constants) -> list[ConstantInfo]:
    """`Quot`, `Quot.mk`, `Quot.lift` and `Quot.ind`; `KernelError` when `Eq` is not there."""
    _check_eq(env)
    alpha = _implicit("α", Sort(_U))
    relation = arrow(alpha.fvar, arrow(alpha.fvar, PROP))
    r, r_implicit = _explicit("r", relation), _implicit("r", relation)
    quot = mk_app(Const("Quot", (_U,)), alpha.fvar, r.fvar)
    beta_ = _implicit("β", Sort(_V))
    f = _explicit("f", arrow(alpha.fvar, beta_.fvar))
    a, b = _explicit("a", alpha.fvar), _explicit("b", alpha.fvar)
    equal = mk_app(Const("Eq", (_V,)), beta_.fvar, mk_app(f.fvar, a.fvar), mk_app(f.fvar, b.fvar))
    respects = mk_pi([a, b], arrow(mk_app(r.fvar, a.fvar, b.fvar), equal))
    make = mk_app(Const("Quot.mk", (_U,)), alpha.fvar, r.fvar, a.fvar)
    motive = _implicit("β", arrow(quot, PROP))
    q = _explicit("q", quot)
    types: list[tuple[str, tuple[str, ...], Expr]] = [
        ("Quot", ("u",), mk_pi([alpha, r], Sort(_U))),
        ("Quot.mk", ("u",), mk_pi([alpha, r, a], quot)),
        ("Quot.lift", ("u", "v"), mk_pi([alpha, r_implicit, beta_, f], arrow(respects, arrow(quot, beta_.fvar)))),
        (
            "Quot.ind",
            ("u",),
            mk_pi(
                [alpha, r_implicit, motive],
                Pi("mk", mk_pi([a], mk_app(motive.fvar, make)), mk_pi([q], mk_app(motive.fvar, q.fvar))),
            ),
        ),
    ]
    return [QuotInfo(name, level_params, type_) for name, level_params, type_ in types]
