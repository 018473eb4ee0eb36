"""The four constants of quotients, and the equality that they speak of (Carneiro's thesis, 2.7.1)."""

from collections.abc import Mapping

from nanolean.kernel.level import LParam, Zero
from nanolean.tests.reference.machine import Entry
from nanolean.tests.reference.terms import (
    Constant,
    Forall,
    Telescope,
    Term,
    Universe,
    Var,
    apply,
    bind,
    new_name,
)
from nanolean.tests.reference.values import Refused

U, V = LParam("u"), LParam("v")
PROP = Universe(Zero())


def arrow(domain: Term, codomain: Term) -> Term:
    """A function type whose result does not depend on its argument."""
    return Forall(new_name(), domain, codomain)


def relation(on: Term) -> Term:
    return arrow(on, arrow(on, PROP))


def check_equality(entries: Mapping[str, Entry]) -> None:
    """Whether `Eq` is the inductive type with `refl` as its only constructor."""
    found = entries.get("Eq")
    family = found.family if found is not None else None
    if family is not None and len(family.params) == 2 and len(family.indices) == 1 and family.is_prop:
        (_, sort), (_, left) = family.params
        if (
            isinstance(sort, Universe)
            and sort.level == LParam(family.level_params[0])
            and len(family.level_params) == 1
        ):
            points = isinstance(left, Var) and left.name == family.params[0][0]
            only = family.ctors[0] if len(family.ctors) == 1 else None
            same = only is not None and not only.fields and only.name == "Eq.refl"
            if points and same and all(isinstance(arg, Var) for arg in only.result):  # type: ignore[union-attr]
                return
    raise Refused("quotients need the inductive type Eq")


def quotient_types() -> dict[str, tuple[tuple[str, ...], Term]]:
    """The universe parameters and the type of each constant."""
    names = alpha, r, beta, f, a, b, q, motive, respects = [new_name() for _ in range(9)]
    x = {name: Var(name) for name in names}
    element, over = (alpha, Universe(U)), (r, relation(x[alpha]))
    quotient = apply(Constant("Quot", (U,)), [x[alpha], x[r]])
    made = apply(Constant("Quot.mk", (U,)), [x[alpha], x[r], x[a]])
    equal = apply(Constant("Eq", (V,)), [x[beta], apply(x[f], [x[a]]), apply(x[f], [x[b]])])
    pairs: Telescope = [(a, x[alpha]), (b, x[alpha])]
    condition = bind(Forall, [*pairs, (new_name(), apply(x[r], [x[a], x[b]]))], equal)
    lift: Telescope = [element, over, (beta, Universe(V)), (f, arrow(x[alpha], x[beta])), (respects, condition)]
    each = bind(Forall, [(a, x[alpha])], apply(x[motive], [made]))
    induct: Telescope = [element, over, (motive, arrow(quotient, PROP)), (new_name(), each), (q, quotient)]
    return {
        "Quot": (("u",), bind(Forall, [element, over], Universe(U))),
        "Quot.mk": (("u",), bind(Forall, [element, over, (a, x[alpha])], quotient)),
        "Quot.lift": (("u", "v"), bind(Forall, [*lift, (q, quotient)], x[beta])),
        "Quot.ind": (("u",), bind(Forall, induct, apply(x[motive], [x[q]]))),
    }
