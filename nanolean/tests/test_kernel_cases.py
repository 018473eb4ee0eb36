"""Kernel, re-check and second checker decide the cases of public suites as every kernel of Lean must."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache

import pytest

from nanolean.kernel.budget import BudgetExceeded, KernelError
from nanolean.kernel.declaration import (
    AxiomDecl,
    AxiomInfo,
    ConstantInfo,
    CtorInfo,
    Declaration,
    DefDecl,
    DefInfo,
    InductiveDecl,
    InductiveInfo,
    OpaqueInfo,
    QuotDecl,
    RecInfo,
    RecRule,
    TheoremDecl,
    TheoremInfo,
)
from nanolean.kernel.env import Environment, recheck
from nanolean.kernel.expr import App, BVar, Expr, Lam, Lit, Pi, Sort, collect_consts
from nanolean.kernel.level import ONE, ZERO, LParam
from nanolean.tests import stuck_prop
from nanolean.tests.each import each
from nanolean.tests.kernel_cases import ACCEPTED, REFUSED, UNDECIDED, Case, data
from nanolean.tests.kernel_prelude import BOOL, NAT, TYPE, arrow, b, c, call, eq, mk_pi, prelude, refl
from nanolean.tests.reference import Refused, Theory

FUEL = 20_000
STUCK: Case = [*stuck_prop.honest(), next(stuck_prop.contradiction())]
cases = each


def arity(type_: Expr) -> int:
    count = 0
    while isinstance(type_, Pi):
        type_, count = type_.body, count + 1
    return count


def claims(decl: Declaration) -> list[ConstantInfo]:
    """What somebody would claim who has added a declaration without checking it; there is no recursor."""
    match decl:
        case AxiomDecl(name, levels, type_):
            return [AxiomInfo(name, levels, type_)]
        case DefDecl(name, levels, type_, value):
            return [DefInfo(name, levels, type_, value)]
        case TheoremDecl(name, levels, type_, value):
            return [TheoremInfo(name, levels, type_, value)]
        case InductiveDecl(name, levels, num_params, type_, ctors):
            indices = max(0, arity(type_) - num_params)
            recursive = any(name in collect_consts(ctor.type) for ctor in ctors)
            names = tuple(ctor.name for ctor in ctors)
            own = InductiveInfo(name, levels, type_, num_params, indices, names, f"{name}.rec", recursive, False, False)
            made = [
                CtorInfo(ctor.name, levels, ctor.type, name, i, num_params, max(0, arity(ctor.type) - num_params))
                for i, ctor in enumerate(ctors)
            ]
            return [own, *made]
        case QuotDecl():
            return list(prelude().add(decl))[len(prelude()) :]
    return [OpaqueInfo(decl.name, decl.level_params, decl.type, decl.value)]


@cache
def theory() -> Theory:
    """The prelude, checked by the second checker."""
    found = Theory(FUEL)
    found.declare_all(prelude())
    return found


def second_checker(groups: Iterable[list[ConstantInfo]]) -> None:
    """Have the second checker declare constants over the prelude, group by group."""
    found = Theory(FUEL)
    found.entries = dict(theory().entries)
    for infos in groups:
        for info in infos:
            found.declare(info, {other.name: other for other in infos})


def new(env: Environment, decl: Declaration) -> list[ConstantInfo]:
    """The constants that a declaration adds."""
    return list(env.add(decl))[len(env) :]


def environment(case: Case) -> Environment:
    env = prelude()
    for decl in case:
        env = env.add(decl)
    return env


def kernel(case: Case) -> None:
    environment(case)


def again(case: Case) -> None:
    """Declare all but the last, and have the last checked as a claim."""
    env = environment(case[:-1])
    try:
        last = new(env, case[-1])
    except KernelError:
        last = claims(case[-1])
    recheck([*env, *last])


def reference(case: Case) -> None:
    env, groups = prelude(), []
    for decl in case[:-1]:
        groups.append(new(env, decl))
        env = env.add(decl)
    try:
        last = new(env, case[-1])
    except KernelError:
        last = claims(case[-1])
    second_checker([*groups, last])


CHECKERS: list[Callable[[Case], None]] = [kernel, again, reference]


@cases("name", ACCEPTED)
@cases("check", CHECKERS)
def test_it_is_accepted(check, name):
    check(ACCEPTED[name])


@cases("name", [*REFUSED, "stuck"])
@cases("check", CHECKERS)
def test_it_is_refused(check, name):
    case = STUCK if name == "stuck" else REFUSED[name]
    if len(case) > 1:
        check(case[:-1])
    with pytest.raises((KernelError, Refused)) as caught:
        check(case)
    assert not isinstance(caught.value, BudgetExceeded)
    assert "is missing" not in str(caught.value) and "claimed" not in str(caught.value)


@cases("name", UNDECIDED)
@cases("check", [kernel, again])
def test_the_kernel_does_not_expand_where_leans_does_not(check, name):
    with pytest.raises(KernelError):
        check(UNDECIDED[name])


def test_the_proof_of_false_is_refused_by_all_three():
    """Also where its first step is claimed to be there already, as in a forged library."""
    honest = stuck_prop.honest()
    env = environment(honest)
    observe, boom = stuck_prop.contradiction()
    with pytest.raises(KernelError, match="must be a proof"):
        env.add(observe)
    with pytest.raises(KernelError, match="must be a proof"):
        recheck([*env, *claims(observe), *claims(boom)])
    reference(honest)
    with pytest.raises(Refused, match="data out of a proof"):
        reference([*honest, observe])
    with pytest.raises(Refused, match="a type whose sort is stuck"):
        reference([*honest, claims_of_owner()])


@cases("check", CHECKERS)
def test_a_proposition_is_one_by_its_own_type_where_the_sort_of_its_value_is_stuck(check):
    """Functions out of it, and the equality of its proofs."""
    proposition, proof = stuck_prop.PROPOSITION, c("of_false")
    by_irrelevance = eq(proposition, proof, c("of_true"), ZERO), refl(proposition, proof, ZERO)
    function = DefDecl("function", (), arrow(proposition, BOOL), Lam("p", proposition, stuck_prop.TRUE))
    check([*stuck_prop.honest(), function, TheoremDecl("case", (), *by_irrelevance)])


def claims_of_owner() -> Declaration:
    """The Boolean read out of the constructor itself, whose type has a stuck sort."""
    made = call("Owner.mk", c("witness"), c("Bool.false"))
    return DefDecl("case", (), BOOL, stuck_prop.Proj("Owner", 0, made))


# -- claims about inductive types that are not so: nothing that comes with a type is taken on trust


TWO = data("T", TYPE, c("T"), c("T"))
ONE_FIELD = data("T", TYPE, arrow(BOOL, c("T")))
TREE = data("T", TYPE, c("T"), arrow(arrow(NAT, c("T")), c("T")))
PROPS = data("T", Sort(ZERO), c("T"), c("T"))
NO_SECOND = Lam("_", NAT, Lit(0))


def change(decl: Declaration, name: str, **fields: object) -> list[ConstantInfo]:
    """The constants of a declaration, with something else claimed of one of them."""
    infos = new(prelude(), decl)
    assert any(info.name == name for info in infos)
    return [replace(info, **fields) if info.name == name else info for info in infos]  # type: ignore[arg-type]


def rules(decl: Declaration, place: int, rhs: Expr) -> tuple[RecRule, ...]:
    recursor = next(info for info in new(prelude(), decl) if isinstance(info, RecInfo))
    found = list(recursor.rules)
    found[place] = found[place]._replace(rhs=rhs)
    return tuple(found)


def orphan(**fields: object) -> list[ConstantInfo]:
    """`rogue : False`, claimed to be a recursor."""
    false = prelude()["False.rec"]
    return [replace(false, name="rogue", level_params=(), type=c("False"), **fields)]  # type: ignore[arg-type]


LARGE_MOTIVE = b("motive", arrow(c("T"), Sort(LParam("u"))))
LARGE_TYPE = mk_pi(
    [
        LARGE_MOTIVE,
        b("x", App(LARGE_MOTIVE.fvar, c("T.mk0"))),
        b("y", App(LARGE_MOTIVE.fvar, c("T.mk1"))),
        b("t", c("T")),
    ],
    App(LARGE_MOTIVE.fvar, b("t", c("T")).fvar),
)
FORGED: dict[str, Callable[[], list[ConstantInfo]]] = {
    "K for a type with two elements (nanoda_lib#22)": lambda: change(TWO, "T.rec", k=True),
    "K for a type with a field": lambda: change(ONE_FIELD, "T.rec", k=True),
    "a constructor with one field and a claim of none (nanoda_lib#22)": lambda: change(
        ONE_FIELD, "T.mk0", num_fields=0
    ),
    "a constructor with one field more": lambda: change(ONE_FIELD, "T.mk0", num_fields=2),
    "constructors counted the other way round": lambda: change(TWO, "T.mk0", idx=1),
    "a constructor of another type": lambda: change(TWO, "T.mk0", induct="Bool"),
    "a structure with two constructors": lambda: change(TWO, "T", is_structure=True),
    "a type that is claimed to be a proposition": lambda: change(TWO, "T", is_prop=True),
    "a proposition that is claimed to be data": lambda: change(PROPS, "T", is_prop=False),
    "a recursive type that is claimed not to be": lambda: change(TREE, "T", is_recursive=False),
    "a constructor left out": lambda: change(TWO, "T", ctors=("T.mk0",)),
    "a rule that gives the first case for the second": lambda: change(TWO, "T.rec", rules=rules(TWO, 1, BVar(1))),
    "a rule without its induction hypothesis (nanoda)": lambda: change(TREE, "T.rec", rules=rules(TREE, 1, BVar(1))),
    "rules in another order": lambda: change(TWO, "T.rec", rules=tuple(reversed(rules(TWO, 0, BVar(1))))),
    "a recursor of type False": lambda: change(TWO, "T.rec", type=c("False"), level_params=(), large=False),
    "a proposition that eliminates into types": lambda: change(
        PROPS, "T.rec", type=LARGE_TYPE, level_params=("u",), large=True
    ),
    "a recursor that is claimed to be large": lambda: change(PROPS, "T.rec", large=True),
    "one motive more and one minor premise less (ix#586)": lambda: change(TWO, "T.rec", num_motives=2, num_minors=1),
    "an index that is none": lambda: change(TWO, "T.rec", num_indices=1),
    "a parameter that is none": lambda: change(TWO, "T.rec", num_params=1),
    "a recursor under another name": lambda: [
        replace(info, name="T.other") if info.name == "T.rec" else info for info in new(prelude(), TWO)
    ],
    "a recursor of nobody (nanoda 8a327a18)": lambda: orphan(induct="Nothing"),
    "a second recursor": lambda: orphan(induct="False"),
    "a recursor for Nat with K": lambda: [replace(prelude()["Nat.rec"], name="T.rec", k=True)],  # type: ignore[arg-type]
}


@cases("name", FORGED)
def test_a_forged_claim_is_refused(name):
    infos = FORGED[name]()
    with pytest.raises(KernelError):
        recheck([*prelude(), *infos])
    with pytest.raises(Refused):
        second_checker([infos])


def test_a_name_that_is_claimed_twice_is_refused():
    info = prelude()["Bool.true"]
    with pytest.raises(KernelError, match="already"):
        recheck([*prelude(), info])


def test_the_claims_that_were_changed_are_accepted_as_they_were():
    for decl in (TWO, ONE_FIELD, TREE, PROPS):
        infos = new(prelude(), decl)
        assert recheck([*prelude(), *infos]).names()[-len(infos) :] == [info.name for info in infos]
        second_checker([infos])


def test_there_are_as_many_cases_as_there_should_be():
    assert len(ACCEPTED) > 80 and len(REFUSED) > 80 and len(ACCEPTED) + len(REFUSED) + len(FORGED) > 180
    assert ONE.size == 2
