"""Which definitions the kernel may compute with Python numbers: those whose defining equations it has seen hold.

`Nat.add` and the like are ordinary definitions by recursion. The equations below fix what they compute (by induction on
the second argument, which the equations follow), so a definition that satisfies them by definition can be replaced by
arithmetic on literals.
"""

from collections.abc import Callable

from nanoproof.lean.nanolean.kernel.declaration import Constants, InductiveInfo
from nanoproof.lean.nanolean.kernel.errors import KernelError
from nanoproof.lean.nanolean.kernel.expr import Const, Expr, FVar, mk_app
from nanoproof.lean.nanolean.kernel.reduce import BOOL_FALSE, BOOL_TRUE, NAT, NAT_SUCC, NAT_ZERO
from nanoproof.lean.nanolean.kernel.typecheck import TypeChecker

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


_PRED = [(_call("Nat.pred", _ZERO), _ZERO), (_call("Nat.pred", _succ(_X)), _X)]
_EQUATIONS: dict[str, list[tuple[Expr, Expr]]] = {
    "Nat.add": _recursion("Nat.add", _X, _succ),
    "Nat.mul": _recursion("Nat.mul", _ZERO, lambda call: _call("Nat.add", call, _X)),
    "Nat.sub": _PRED + _recursion("Nat.sub", _X, lambda call: _call("Nat.pred", call)),
    "Nat.pow": _recursion("Nat.pow", _succ(_ZERO), lambda call: _call("Nat.mul", call, _X)),
    "Nat.beq": _comparison("Nat.beq", BOOL_FALSE),
    "Nat.ble": _comparison("Nat.ble", BOOL_TRUE),
}
_NEEDS = {"Nat.mul": "Nat.add", "Nat.pow": "Nat.mul"}
"""Operations whose equations mention another one, which must then itself be known to be what its name says."""


def computes_literals(env: Constants, name: str) -> bool:
    """Whether `name`, a definition in `env`, is one of these operations; `KernelError` if only by name."""
    equations = _EQUATIONS.get(name)
    if equations is None:
        return False
    checker = TypeChecker(env, {"x": (NAT, None), "y": (NAT, None)})
    try:
        if not isinstance(env.get("Nat"), InductiveInfo):
            raise KernelError("Nat is missing")
        needed = _NEEDS.get(name)
        if needed is not None and not getattr(env.get(needed), "computes_literals", False):
            raise KernelError(f"{needed} is missing")
        for left, right in equations:
            left_type, right_type = checker.check(left), checker.check(right)
            if not checker.is_def_eq(left_type, right_type) or not checker.is_def_eq(left, right):
                raise KernelError(f"{left} is not {right}")
    except KernelError as error:
        raise KernelError(f"'{name}' is reserved for the operation of that name: {error}") from None
    return True
