"""Which definitions the kernel may compute with Python numbers: those whose defining equations it has seen hold.

`Nat.add` and the like are ordinary definitions by recursion. The equations below fix what they compute (by induction on
the argument that they recurse on), so a definition that satisfies them by definition can be replaced by arithmetic on
literals. Right sides that branch use the recursors of `Nat` and `Bool`, whose constructors the environment fixes.
"""

from collections.abc import Callable

from nanolean.kernel.budget import KernelError
from nanolean.kernel.declaration import Constants, InductiveInfo
from nanolean.kernel.expr import BVar, Const, Expr, FVar, Lam, Pi, mk_app
from nanolean.kernel.level import ONE
from nanolean.kernel.reduce import BOOL, BOOL_FALSE, BOOL_TRUE, NAT, NAT_SUCC, NAT_ZERO
from nanolean.kernel.typecheck import TypeChecker

_X, _Y = FVar("x"), FVar("y")
_ZERO = NAT_ZERO


def _call(name: str, *args: Expr) -> Expr:
    return mk_app(Const(name), *args)


def _succ(e: Expr) -> Expr:
    return mk_app(NAT_SUCC, e)


def _recursion(name: str, base: Expr, step: Callable[[Expr], Expr]) -> list[tuple[Expr, Expr]]:
    """The equations of a function that recurses on its second argument."""
    return [(_call(name, _X, _ZERO), base), (_call(name, _X, _succ(_Y)), step(_call(name, _X, _Y)))]


def _comparison(name: str, zero_succ: Expr) -> list[tuple[Expr, Expr]]:
    return [
        (_call(name, _ZERO, _ZERO), BOOL_TRUE),
        (_call(name, _ZERO, _succ(_Y)), zero_succ),
        (_call(name, _succ(_X), _ZERO), BOOL_FALSE),
        (_call(name, _succ(_X), _succ(_Y)), _call(name, _X, _Y)),
    ]


def _by_wrap(at_wrap: Expr, otherwise: Expr) -> Expr:
    """One value where the remainder of `x + 1` by `y` starts again at 0, another where it does not."""
    wraps = _call("Nat.beq", _succ(_call("Nat.mod", _X, _Y)), _Y)
    return mk_app(Const("Bool.rec", (ONE,)), Lam("b", BOOL, NAT), otherwise, at_wrap, wraps)


def _euclid() -> Expr:
    """`x`, `y` to `y` if `x` is 0 and to `y % x`, `x` if not, again and again, `x` times at most."""
    rec = Const("Nat.rec", (ONE,))
    binary = Pi("m", NAT, Pi("n", NAT, NAT))
    smaller = _succ(BVar(1))
    again = mk_app(BVar(4), _call("Nat.mod", BVar(2), smaller), smaller)
    by_first = mk_app(rec, Lam("k", NAT, NAT), BVar(0), Lam("k", NAT, Lam("r", NAT, again)), BVar(1))
    step = Lam("fuel", NAT, Lam("gcd", binary, Lam("m", NAT, Lam("n", NAT, by_first))))
    stop = Lam("m", NAT, Lam("n", NAT, BVar(0)))
    return mk_app(rec, Lam("fuel", NAT, binary), stop, step, _X, _X, _Y)


_PRED = [(_call("Nat.pred", _ZERO), _ZERO), (_call("Nat.pred", _succ(_X)), _X)]
_MOD, _DIV = _call("Nat.mod", _X, _Y), _call("Nat.div", _X, _Y)
_EQUATIONS: dict[str, list[tuple[Expr, Expr]]] = {
    "Nat.add": _recursion("Nat.add", _X, _succ),
    "Nat.mul": _recursion("Nat.mul", _ZERO, lambda call: _call("Nat.add", call, _X)),
    "Nat.sub": _PRED + _recursion("Nat.sub", _X, lambda call: _call("Nat.pred", call)),
    "Nat.pow": _recursion("Nat.pow", _succ(_ZERO), lambda call: _call("Nat.mul", call, _X)),
    "Nat.beq": _comparison("Nat.beq", BOOL_FALSE),
    "Nat.ble": _comparison("Nat.ble", BOOL_TRUE),
    "Nat.mod": [
        (_call("Nat.mod", _ZERO, _Y), _ZERO),
        (_call("Nat.mod", _succ(_X), _Y), _by_wrap(_ZERO, _succ(_MOD))),
    ],
    "Nat.div": [
        (_call("Nat.div", _ZERO, _Y), _ZERO),
        (_call("Nat.div", _succ(_X), _Y), _by_wrap(_succ(_DIV), _DIV)),
    ],
    "Nat.gcd": [(_call("Nat.gcd", _X, _Y), _euclid())],
}
_NEEDS = {
    "Nat.mul": ["Nat.add"],
    "Nat.pow": ["Nat.mul"],
    "Nat.mod": ["Nat.beq"],
    "Nat.div": ["Nat.beq", "Nat.mod"],
    "Nat.gcd": ["Nat.mod"],
}
"""Operations whose equations mention others, which must then themselves be known to be what their names say."""


def computes_literals(env: Constants, name: str) -> bool:
    """Return whether `name`, a definition in `env`, is one of these operations; `KernelError` if only by name."""
    equations = _EQUATIONS.get(name)
    if equations is None:
        return False
    checker = TypeChecker(env, {"x": (NAT, None), "y": (NAT, None)})
    try:
        if not isinstance(env.get("Nat"), InductiveInfo):
            raise KernelError("Nat is missing")
        for needed in _NEEDS.get(name, ()):
            if not getattr(env.get(needed), "computes_literals", False):
                raise KernelError(f"{needed} is missing")
        for left, right in equations:
            left_type, right_type = checker.check(left), checker.check(right)
            if not checker.is_def_eq(left_type, right_type) or not checker.is_def_eq(left, right):
                raise KernelError(f"{left} is not {right}")
    except KernelError as error:
        raise KernelError(f"'{name}' is reserved for the operation of that name: {error}") from None
    return True
