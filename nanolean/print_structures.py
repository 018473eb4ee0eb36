"""How elements of structures print: `{ x := 1, y := 2 }`, pairs as `(a, b)`, a few others as `⟨a, b⟩`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolean.kernel.declaration import CtorInfo, InductiveInfo
from nanolean.kernel.expr import Const, Expr, get_app_fn_args
from nanolean.layout import LINE
from nanolean.notation import MAX_PREC
from nanolean.signatures import telescope

if TYPE_CHECKING:
    from nanolean.print_terms import Printed, TermPrinter

PAIR = "Prod.mk"
ANONYMOUS = frozenset({"Subtype.mk", "PProd.mk", "Sigma.mk", "PSigma.mk"})
CLOSED = 2000


def print_structure(printer: TermPrinter, fn: Const, args: list[Expr]) -> Printed | None:
    """A constructor of a structure with all its arguments, None for any other term."""
    ctor = printer.env.get(fn.name)
    if not isinstance(ctor, CtorInfo) or len(args) != ctor.num_params + ctor.num_fields or not ctor.num_fields:
        return None
    family = printer.env.get(ctor.induct)
    if not isinstance(family, InductiveInfo) or not family.is_structure or family.is_prop:
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


def _joined(printer: TermPrinter, items: list[Expr]) -> str:
    return ("," + LINE).join(printer.operand(item, 0)[0] for item in items)


def _pair_items(fields: list[Expr]) -> list[Expr]:
    """`a, b, c` for `(a, (b, c))`."""
    items = list(fields)
    while True:
        fn, args = get_app_fn_args(items[-1])
        if not isinstance(fn, Const) or fn.name != PAIR or len(args) != 4:
            return items
        items[-1:] = args[2:]
