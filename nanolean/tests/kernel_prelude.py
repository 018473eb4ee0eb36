"""A small prelude for the tests of the kernel, built as terms by hand, and shorthands to write terms."""

from functools import cache

from nanolean.kernel.env import (
    CtorDecl,
    DefDecl,
    Environment,
    InductiveDecl,
    TheoremDecl,
)
from nanolean.kernel.expr import (
    PROP,
    TYPE,
    App,
    Const,
    Expr,
    FVar,
    Lam,
    Lit,
    Local,
    Sort,
    arrow,
    mk_app,
    mk_lambda,
    mk_pi,
)
from nanolean.kernel.level import ONE, LParam, Succ
from nanolean.kernel.typecheck import TypeChecker

NAT, BOOL = Const("Nat"), Const("Bool")
U, V = LParam("u"), LParam("v")


def c(name: str, *levels) -> Const:
    return Const(name, tuple(levels))


def call(name: str, *args: Expr, levels=()) -> Expr:
    return mk_app(Const(name, tuple(levels)), *args)


def var(name: str) -> FVar:
    return FVar(name)


def b(name: str, type_: Expr, info: str = "default") -> Local:
    """A binder whose variable is `var(name)`."""
    return Local(FVar(name), name, type_, info)


def imp(name: str, type_: Expr) -> Local:
    return b(name, type_, "implicit")


def succ(e: Expr) -> Expr:
    return App(Const("Nat.succ"), e)


def eq(type_: Expr, left: Expr, right: Expr, level=ONE) -> Expr:
    return call("Eq", type_, left, right, levels=[level])


def refl(type_: Expr, value: Expr, level=ONE) -> Expr:
    return call("Eq.refl", type_, value, levels=[level])


def add(left: Expr, right: Expr) -> Expr:
    return call("Nat.add", left, right)


def nat_rec(result: Expr, zero: Expr, step: Expr, major: Expr, level=ONE) -> Expr:
    """`Nat.rec` into one type."""
    return call("Nat.rec", Lam("_", NAT, result), zero, step, major, levels=[level])


def bool_rec(result: Expr, false: Expr, true: Expr, major: Expr) -> Expr:
    return call("Bool.rec", Lam("_", BOOL, result), false, true, major, levels=[ONE])


N, M, IH = b("n", NAT), b("m", NAT), b("ih", NAT)
NAT2 = arrow(NAT, arrow(NAT, NAT))
NAT_TO_BOOL = arrow(NAT, BOOL)
n, m, ih = N.fvar, M.fvar, IH.fvar


def inductive(name, level_params, num_params, type_, *ctors) -> InductiveDecl:
    return InductiveDecl(name, level_params, num_params, type_, tuple(CtorDecl(*ctor) for ctor in ctors))


def nat_decl() -> InductiveDecl:
    return inductive("Nat", (), 0, TYPE, ("Nat.zero", NAT), ("Nat.succ", arrow(NAT, NAT, "n")))


def eq_decl() -> InductiveDecl:
    alpha = Sort(U)
    type_ = mk_pi([imp("α", alpha)], arrow(var("α"), arrow(var("α"), PROP)))
    ctor = mk_pi([imp("α", alpha), b("a", var("α"))], eq(var("α"), var("a"), var("a"), U))
    return inductive("Eq", ("u",), 2, type_, ("Eq.refl", ctor))


def and_decl() -> InductiveDecl:
    props = [b("a", PROP), b("b", PROP)]
    ctor = mk_pi(
        [imp("a", PROP), imp("b", PROP), b("left", var("a")), b("right", var("b"))], call("And", var("a"), var("b"))
    )
    return inductive("And", (), 2, mk_pi(props, PROP), ("And.intro", ctor))


def or_decl() -> InductiveDecl:
    props = [imp("a", PROP), imp("b", PROP)]
    made = call("Or", var("a"), var("b"))
    return inductive(
        "Or",
        (),
        2,
        mk_pi(props, PROP),
        ("Or.inl", mk_pi([*props, b("h", var("a"))], made)),
        ("Or.inr", mk_pi([*props, b("h", var("b"))], made)),
    )


def exists_decl() -> InductiveDecl:
    params = [imp("α", Sort(U)), b("p", arrow(var("α"), PROP))]
    ctor = mk_pi(
        [*params, b("w", var("α")), b("h", App(var("p"), var("w")))],
        call("Exists", var("α"), var("p"), levels=[U]),
    )
    return inductive("Exists", ("u",), 2, mk_pi(params, PROP), ("Exists.intro", ctor))


def list_decl() -> InductiveDecl:
    alpha = b("α", Sort(Succ(U)))
    made = call("List", var("α"), levels=[U])
    return inductive(
        "List",
        ("u",),
        1,
        mk_pi([alpha], Sort(Succ(U))),
        ("List.nil", mk_pi([alpha], made)),
        ("List.cons", mk_pi([alpha, b("head", var("α")), b("tail", made)], made)),
    )


def le_decl() -> InductiveDecl:
    le = call("Nat.le", n, m)
    return inductive(
        "Nat.le",
        (),
        1,
        mk_pi([N], arrow(NAT, PROP)),
        ("Nat.le.refl", mk_pi([imp("n", NAT)], call("Nat.le", n, n))),
        ("Nat.le.step", mk_pi([imp("n", NAT), imp("m", NAT), b("a", le)], call("Nat.le", n, succ(m)))),
    )


def prod_decl() -> InductiveDecl:
    params = [b("α", TYPE), b("β", TYPE)]
    made = call("Pair", var("α"), var("β"))
    ctor = mk_pi([*params, b("fst", var("α")), b("snd", var("β"))], made)
    return inductive("Pair", (), 2, mk_pi(params, TYPE), ("Pair.mk", ctor))


def recursive_def(name: str, base: Expr, step: Expr) -> DefDecl:
    """A function of `n` and `m` by recursion on `m`; `step` may use `n`, `m` (the predecessor) and `ih`."""
    value = mk_lambda([N, b("k", NAT)], nat_rec(NAT, base, mk_lambda([M, IH], step), var("k")))
    return DefDecl(name, (), NAT2, value)


def comparison(name: str, zero_succ: Expr) -> DefDecl:
    """A function into `Bool` by recursion on the first argument; `zero_succ` is its value at `0` and `k + 1`."""
    k, f = b("k", NAT), b("f", NAT_TO_BOOL)
    ignore = mk_lambda([b("_", NAT), b("_", BOOL)], zero_succ)
    at_zero = mk_lambda([k], nat_rec(BOOL, c("Bool.true"), ignore, k.fvar))
    again = mk_lambda([M, b("_", BOOL)], App(f.fvar, m))
    at_succ = mk_lambda([N, f, k], nat_rec(BOOL, c("Bool.false"), again, k.fvar))
    return DefDecl(name, (), arrow(NAT, NAT_TO_BOOL), mk_lambda([N], nat_rec(NAT_TO_BOOL, at_zero, at_succ, n)))


def nat_defs() -> list[DefDecl]:
    pred = DefDecl("Nat.pred", (), arrow(NAT, NAT), mk_lambda([N], nat_rec(NAT, Lit(0), mk_lambda([M, IH], m), n)))
    return [
        pred,
        recursive_def("Nat.add", n, succ(ih)),
        recursive_def("Nat.mul", Lit(0), add(ih, n)),
        recursive_def("Nat.sub", n, call("Nat.pred", ih)),
        recursive_def("Nat.pow", Lit(1), call("Nat.mul", ih, n)),
        comparison("Nat.beq", c("Bool.false")),
        comparison("Nat.ble", c("Bool.true")),
    ]


def bool_decl() -> InductiveDecl:
    return inductive("Bool", (), 0, TYPE, ("Bool.false", BOOL), ("Bool.true", BOOL))


@cache
def prelude() -> Environment:
    env = Environment()
    inductives = [
        nat_decl(),
        bool_decl(),
        eq_decl(),
        and_decl(),
        or_decl(),
        exists_decl(),
        list_decl(),
        le_decl(),
        prod_decl(),
        inductive("True", (), 0, PROP, ("True.intro", c("True"))),
        inductive("False", (), 0, PROP),
        inductive("Unit", (), 0, TYPE, ("Unit.mk", c("Unit"))),
    ]
    for decl in [*inductives, *nat_defs()]:
        env = env.add(decl)
    return env


def checker(*variables: Local, env: Environment | None = None, budget: int = 200_000) -> TypeChecker:
    lctx = {variable.fvar.id: (variable.type, variable.value) for variable in variables}
    return TypeChecker(prelude() if env is None else env, lctx, budget)


def accepts(env: Environment, type_: Expr, value: Expr, level_params=()) -> Environment:
    return env.add(TheoremDecl("test", level_params, type_, value))
