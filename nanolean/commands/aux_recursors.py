"""`T.casesOn` and `T.recOn`, which Lean defines beside the recursor of every inductive type."""

from nanolean.kernel.declaration import CtorInfo, DefDecl, InductiveInfo, RecInfo
from nanolean.kernel.env import Environment
from nanolean.kernel.expr import (
    Const,
    Expr,
    FVar,
    Local,
    Pi,
    Proj,
    get_app_fn,
    instantiate,
    mk_app,
    mk_lambda,
    mk_pi,
)


def aux_recursors(env: Environment, name: str) -> list[DefDecl]:
    """Return the definitions of `casesOn` and `recOn` of an inductive type that is in the environment.

    Both have the arguments of the recursor with the major premise before the minor ones, those of `casesOn` without
    induction hypotheses.
    """
    info = env[name]
    assert isinstance(info, InductiveInfo)
    rec = env[info.rec_name]
    assert isinstance(rec, RecInfo)
    opened, result = _opened(rec.type)
    first_minor = rec.num_params + rec.num_motives
    first_index = first_minor + rec.num_minors
    before = opened[:first_minor]
    minors = opened[first_minor:first_index]
    behind = opened[first_index:]
    motive = before[-1].fvar
    cases = [Local(minor.fvar, minor.name, _without_hypotheses(minor.type, motive)) for minor in minors]
    rec_minors = [_as_minor(minor, case, motive) for minor, case in zip(minors, cases)]
    call = mk_app(rec.as_const(), *[local.fvar for local in before])
    targets = [local.fvar for local in behind]
    by_cases = mk_app(call, *rec_minors, *targets)
    by_recursion = mk_app(call, *[minor.fvar for minor in minors], *targets)
    made = DefDecl(
        f"{name}.casesOn",
        rec.level_params,
        mk_pi([*before, *behind, *cases], result),
        mk_lambda([*before, *behind, *cases], _of_fields(env, info, rec, cases, targets[-1]) or by_cases),
        reducible=True,
    )
    if _gives_fields(info, rec):
        by_recursion = Const(made.name, rec.as_const().levels)
        value: Expr = by_recursion
    else:
        value = mk_lambda([*before, *behind, *minors], by_recursion)
    type_ = mk_pi([*before, *behind, *minors], result)
    return [made, DefDecl(f"{name}.recOn", rec.level_params, type_, value, reducible=True)]


def _opened(type_: Expr) -> tuple[list[Local], Expr]:
    """The arguments of a function type as variables, and the rest of the type."""
    opened: list[Local] = []
    while isinstance(type_, Pi):
        local = Local(FVar(f"_arg{len(opened)}"), type_.name, type_.type, type_.info)
        opened.append(local)
        type_ = instantiate(type_.body, local.fvar)
    return opened, type_


def _is_hypothesis(type_: Expr, motive: Expr) -> bool:
    """Whether an argument of a minor premise is an induction hypothesis: it is, for all .., the motive of something."""
    while isinstance(type_, Pi):
        type_ = type_.body
    return get_app_fn(type_) is motive


def _fields_of(minor: Expr, motive: Expr) -> tuple[list[Local], list[Local], Expr]:
    """The fields of a minor premise, its induction hypotheses, and what it proves."""
    fields: list[Local] = []
    hypotheses: list[Local] = []
    place = 0
    while isinstance(minor, Pi):
        local = Local(FVar(f"_field{place}"), minor.name, minor.type, minor.info)
        place += 1
        (hypotheses if _is_hypothesis(minor.type, motive) else fields).append(local)
        minor = instantiate(minor.body, local.fvar)
    return fields, hypotheses, minor


def _without_hypotheses(minor: Expr, motive: Expr) -> Expr:
    fields, _, result = _fields_of(minor, motive)
    return mk_pi(fields, result)


def _as_minor(minor: Local, case: Local, motive: Expr) -> Expr:
    """The minor premise of the recursor that a case without hypotheses makes."""
    fields, hypotheses, _ = _fields_of(minor.type, motive)
    return mk_lambda([*fields, *hypotheses], mk_app(case.fvar, *[field.fvar for field in fields]))


def _gives_fields(info: InductiveInfo, rec: RecInfo) -> bool:
    """Whether this is a structure of proofs such as `And`, whose cases Lean has by projections and not by recursion."""
    return info.is_structure and info.is_prop and rec.large


def _of_fields(env: Environment, info: InductiveInfo, rec: RecInfo, cases: list[Local], major: Expr) -> Expr | None:
    if not _gives_fields(info, rec):
        return None
    ctor = env[info.ctors[0]]
    assert isinstance(ctor, CtorInfo)
    return mk_app(cases[0].fvar, *[Proj(info.name, place, major) for place in range(ctor.num_fields)])
