"""How structures, `match` and `if` print: forms that Lean's printer makes of applications of certain constants."""

from typing import Any, Protocol

from nanolean.kernel.declaration import Constants, CtorInfo, InductiveInfo
from nanolean.kernel.expr import PROP, App, BVar, Const, Expr, Lam, Pi, get_app_fn_args, instantiate, lift
from nanolean.meta.matchers import Matcher, matcher_of
from nanolean.printer.line_breaks import BREAK, CLOSE, LINE, OPEN, telescope
from nanolean.syntax.notation import LEAD_PREC, MAX_PREC

Printed = tuple[str, int, int]
"""A text, its precedence, and how tightly an operator behind it must bind not to be swallowed by its right edge."""
CLOSED = 2000
"""The right edge of an atom: swallows nothing."""


class Printer(Protocol):
    """What a form needs of the printer of terms, which it is a part of."""

    env: Constants

    def operand(self, e: Expr, prec: int) -> tuple[str, int]:
        """Print a part of the form."""

    def bind(self, binder: Any) -> str:
        """Bring a binder into scope; answers its name."""

    def distinguish(self, name: str, others: list[str]) -> str:
        """Give the binder that was bound last a name that is not among others."""

    def unbind(self, count: int) -> None:
        """Leave the scope of so many binders."""


PAIR = "Prod.mk"
ANONYMOUS = frozenset({"And.intro", "Fin.mk", "Subtype.mk", "PProd.mk", "Sigma.mk", "PSigma.mk"})


def print_structure(printer: Printer, fn: Const, args: list[Expr]) -> Printed | None:
    """Print a constructor of a structure with all its arguments, None for any other term."""
    ctor = printer.env.get(fn.name)
    if not isinstance(ctor, CtorInfo) or len(args) != ctor.num_params + ctor.num_fields or not ctor.num_fields:
        return None
    family = printer.env.get(ctor.induct)
    if not isinstance(family, InductiveInfo) or not family.is_structure:
        return None
    fields = args[ctor.num_params :]
    if fn.name == PAIR:
        return f"({_joined(printer, _pair_items(fields))})", MAX_PREC, CLOSED
    if fn.name in ANONYMOUS:
        return f"⟨{_joined(printer, fields)}⟩", MAX_PREC, CLOSED
    names = [binder.name for binder in telescope(ctor.type)[0][ctor.num_params :]]
    if any(f"{family.name}.{name}" not in printer.env for name in names):
        return None
    items = [f"{name} := {printer.operand(field, 0)[0]}" for name, field in zip(names, fields)]
    return f"{{ {(',' + LINE).join(items)} }}", MAX_PREC, CLOSED


def _joined(printer: Printer, items: list[Expr]) -> str:
    return ("," + LINE).join(printer.operand(item, 0)[0] for item in items)


def _pair_items(fields: list[Expr]) -> list[Expr]:
    """`a, b, c` for `(a, (b, c))`."""
    items = list(fields)
    while True:
        fn, args = get_app_fn_args(items[-1])
        if not isinstance(fn, Const) or fn.name != PAIR or len(args) != 4:
            return items
        items[-1:] = args[2:]


def print_match(printer: Printer, fn: Const, args: list[Expr]) -> tuple[Printed, list[Expr]] | None:
    """`match a, b with | p, q => e ..` for a matcher with all its arguments, and the arguments behind these."""
    matcher = matcher_of(printer.env, fn)
    if matcher is None or len(args) < matcher.arity:
        return None
    first = matcher.first_alternative
    equations, equation_args = _equations(matcher, args)
    targets: list[str] = []
    for target, equation in zip(args[matcher.num_params + 1 : first], equations):
        text, _ = printer.operand(target, 0)
        targets.append(f"{equation} : {text}" if equation else text)
    lines = [f"match {', '.join(targets)} with"]
    for pattern, alternative in zip(_alternative_types(printer, fn, matcher), args[first : matcher.arity]):
        lines.append(_alternative(printer, pattern, alternative, equation_args))
    return (BREAK.join(lines), LEAD_PREC, 0), args[matcher.arity + equation_args :]


def _equations(matcher: Matcher, args: list[Expr]) -> tuple[list[str], int]:
    """Return the names `h` of `match h : a with`, empty for terms without, and how many arguments these take.

    They are in the motive, as premises of what the match makes; the proofs of them follow the alternatives.
    """
    motive: Any = args[matcher.num_params]
    names = [""] * matcher.num_targets
    for _ in range(matcher.num_targets):
        if not isinstance(motive, Lam):
            return names, 0
        motive = motive.body
    count = 0
    extra = len(args) - matcher.arity
    while isinstance(motive, Pi) and count < extra:
        place = _equation_of(motive.type, matcher.num_targets, count)
        if place is None:
            break
        names[place] = motive.name.partition("✝")[0]
        motive = motive.body
        count += 1
    return names, count


def _equation_of(type_: Expr, num_targets: int, inside: int) -> int | None:
    """Return which target an equation `target = variable` is of, by the variable of the motive that it ends in."""
    head, args = get_app_fn_args(type_)
    if not isinstance(head, Const) or head.name != "Eq" or len(args) != 3 or not isinstance(args[2], BVar):
        return None
    place = num_targets - 1 - (args[2].idx - inside)
    return place if 0 <= place < num_targets else None


def _alternative_types(printer: Printer, fn: Const, matcher: Matcher) -> list[Expr]:
    """The types `(variables) → motive patterns` of the alternatives; parameters, which do not show, are left out."""
    info = printer.env.get(fn.name)
    assert info is not None
    type_: Any = info.type
    for _ in range(matcher.first_alternative):
        type_ = instantiate(type_.body, PROP)
    types = []
    for _ in matcher.num_fields:
        types.append(type_.type)
        type_ = instantiate(type_.body, PROP)
    return types


def _alternative(printer: Printer, pattern: Expr, alternative: Expr, equation_args: int) -> str:
    """`| p, q => e`; behind the variables the alternative takes so many proofs of equations, whose names are shown."""
    names: list[str] = []
    while isinstance(pattern, Pi):
        if not isinstance(alternative, Lam):
            alternative = Lam(pattern.name, pattern.type, App(lift(alternative, 1), BVar(0)))
        name = printer.bind(alternative)
        names.append(printer.distinguish(name, names))
        pattern, alternative = pattern.body, alternative.body
    _, patterns = get_app_fn_args(pattern)
    left = ", ".join(printer.operand(item, 0)[0] for item in patterns)
    for _ in range(equation_args):
        assert isinstance(alternative, Lam)
        printer.bind(alternative)
        alternative = alternative.body
    right, _ = printer.operand(alternative, 0)
    printer.unbind(len(names) + equation_args)
    return f"| {left} =>{OPEN}{LINE}{right}{CLOSE}"


def print_if(printer: Printer, args: list[Expr]) -> Printed:
    """`if c then a else b`."""
    condition, then, otherwise = (printer.operand(args[i], 0)[0] for i in (1, 3, 4))
    return f"if {condition} then{LINE}{then}{LINE}else{LINE}{otherwise}", LEAD_PREC, 0


def print_dependent_if(printer: Printer, args: list[Expr]) -> Printed | None:
    """`if h : c then a else b`."""
    then, otherwise = args[3], args[4]
    if not isinstance(then, Lam) or not isinstance(otherwise, Lam):
        return None
    condition, _ = printer.operand(args[1], 0)
    name = printer.bind(then)
    then_text, _ = printer.operand(then.body, 0)
    printer.unbind(1)
    printer.bind(Lam(name, otherwise.type, otherwise.body))
    otherwise_text, _ = printer.operand(otherwise.body, 0)
    printer.unbind(1)
    return f"if {name} : {condition} then{LINE}{then_text}{LINE}else{LINE}{otherwise_text}", LEAD_PREC, 0
