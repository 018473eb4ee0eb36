"""How `match` and `if` print: matchers, `ite` and `dite` applied to arguments, written as they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanolean.kernel.expr import (
    PROP,
    App,
    BVar,
    Const,
    Expr,
    Lam,
    Pi,
    get_app_fn_args,
    instantiate,
    lift,
)
from nanolean.layout import BREAK, CLOSE, LINE, OPEN
from nanolean.meta.matchers import Matcher, matcher_of
from nanolean.notation import LEAD_PREC

if TYPE_CHECKING:
    from nanolean.print_terms import Printed, TermPrinter


def print_match(printer: TermPrinter, fn: Const, args: list[Expr]) -> tuple[Printed, list[Expr]] | None:
    """`match a, b with | p, q => e ..` for a matcher with all its arguments, and the arguments behind these."""
    matcher = matcher_of(printer.env, fn)
    if matcher is None or len(args) < matcher.arity:
        return None
    first = matcher.first_alternative
    targets = ", ".join(printer.operand(target, 0)[0] for target in args[matcher.num_params + 1 : first])
    lines = [f"match {targets} with"]
    for pattern, alternative in zip(_alternative_types(printer, fn, matcher), args[first : matcher.arity]):
        lines.append(_alternative(printer, pattern, alternative))
    return (BREAK.join(lines), LEAD_PREC, 0), args[matcher.arity :]


def _alternative_types(printer: TermPrinter, fn: Const, matcher: Matcher) -> list[Expr]:
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


def _alternative(printer: TermPrinter, pattern: Expr, alternative: Expr) -> str:
    """`| p, q => e`."""
    names: list[str] = []
    while isinstance(pattern, Pi):
        if not isinstance(alternative, Lam):
            alternative = Lam(pattern.name, pattern.type, App(lift(alternative, 1), BVar(0)))
        name = printer.bind(alternative)
        names.append(printer.distinguish(name, names))
        pattern, alternative = pattern.body, alternative.body
    _, patterns = get_app_fn_args(pattern)
    left = ", ".join(printer.operand(item, 0)[0] for item in patterns)
    right, _ = printer.operand(alternative, 0)
    printer.unbind(len(names))
    return f"| {left} =>{OPEN}{LINE}{right}{CLOSE}"


def print_if(printer: TermPrinter, args: list[Expr]) -> Printed:
    """`if c then a else b`."""
    condition, then, otherwise = (printer.operand(args[i], 0)[0] for i in (1, 3, 4))
    return f"if {condition} then{LINE}{then}{LINE}else{LINE}{otherwise}", LEAD_PREC, 0


def print_dependent_if(printer: TermPrinter, args: list[Expr]) -> Printed | None:
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
