"""Brute force: whether a closed statement about small numbers and truth values has a counterexample."""

from typing import Any

from nanolean.kernel.expr import App, BVar, Const, Expr, Lam, Lit, Pi, Sort
from nanolean.kernel.level import ZERO

NUMBERS = range(4)
WITNESSES = range(40)
STEPS = 3_000
NAT = Const("Nat")
ARITHMETIC: dict[str, Any] = {
    "Nat.add": lambda a, b: a + b,
    "Nat.mul": lambda a, b: a * b,
    "Nat.sub": lambda a, b: max(0, a - b),
    "Nat.pow": lambda a, b: a**b,
    "Nat.min": min,
    "Nat.max": max,
    "Nat.div": lambda a, b: a // b if b else 0,
    "Nat.mod": lambda a, b: a % b if b else a,
    "Nat.le": lambda a, b: a <= b,
    "Nat.lt": lambda a, b: a < b,
    "Nat.dvd": lambda a, b: b == 0 if a == 0 else b % a == 0,
    "And": lambda a, b: a and b,
    "Or": lambda a, b: a or b,
    "Iff": lambda a, b: a == b,
}


class Unknown(Exception):
    """The statement speaks of something else than small numbers and truth values, or cannot be decided by trying."""


def falsified(statement: Expr) -> bool:
    """Whether trying small values shows that a statement is false."""
    try:
        return _Trial().value(statement, ()) is False
    except (Unknown, RecursionError):
        return False


class _Trial:
    """The evaluation of one statement, which gives up after so many steps."""

    def __init__(self) -> None:
        self.steps = STEPS

    def value(self, e: Any, scope: tuple[Any, ...]) -> Any:
        """The number or truth value of a term under an assignment to its loose variables; raises `Unknown`."""
        self.steps -= 1
        if self.steps < 0:
            raise Unknown
        match e:
            case Lit(number):
                return number
            case BVar(idx):
                return scope[-1 - idx]
            case Const("Nat.zero", _):
                return 0
            case Const("True", _):
                return True
            case Const("False", _):
                return False
            case Pi(_, type_, body, _):
                return self._all(type_, body, scope)
            case App(Const("Not", _), arg):
                return not self._of(bool, arg, scope)
            case App(Const("Nat.succ", _), arg):
                return self._of(int, arg, scope) + 1
            case App(App(Const("Exists", _), type_), Lam(_, _, body, _)):
                return self._some(type_, body, scope)
            case App(App(App(Const("Eq" | "Ne" as name, _), type_), a), b):
                if type_ is not NAT and type_ is not Sort(ZERO):
                    raise Unknown
                kind = int if type_ is NAT else bool
                return (self._of(kind, a, scope) == self._of(kind, b, scope)) == (name == "Eq")
            case App(App(Const(name, _), a), b) if name in ARITHMETIC:
                kind = int if name.startswith("Nat.") else bool
                left, right = self._of(kind, a, scope), self._of(kind, b, scope)
                if name == "Nat.pow" and right > 50:
                    raise Unknown
                return ARITHMETIC[name](left, right)
        raise Unknown

    def _of(self, kind: type, e: Expr, scope: tuple[Any, ...]) -> Any:
        found = self.value(e, scope)
        if found.__class__ is not kind:
            raise Unknown
        return found

    def _all(self, type_: Expr, body: Expr, scope: tuple[Any, ...]) -> bool:
        if type_ is not NAT and type_ is not Sort(ZERO):
            return not self._of(bool, type_, scope) or self._of(bool, body, (*scope, None))
        unknown = type_ is NAT  # small values do not show that it holds for all
        for candidate in NUMBERS if type_ is NAT else (False, True):
            try:
                if not self._of(bool, body, (*scope, candidate)):
                    return False
            except Unknown:
                if self.steps < 0:
                    raise
                unknown = True
        if unknown:
            raise Unknown
        return True

    def _some(self, type_: Expr, body: Expr, scope: tuple[Any, ...]) -> bool:
        """True where a small witness is found; that there is none at all cannot be seen for numbers."""
        for candidate in WITNESSES if type_ is NAT else (False, True) if type_ is Sort(ZERO) else ():
            try:
                if self._of(bool, body, (*scope, candidate)):
                    return True
            except Unknown:
                continue
        raise Unknown
