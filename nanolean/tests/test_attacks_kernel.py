"""More attempts on the kernel: universes, hidden occurrences, elimination, computation, caches, stored constants."""

import contextlib
import dataclasses

import pytest

from nanolean.kernel.budget import Budget, BudgetExceeded, KernelError
from nanolean.kernel.declaration import AxiomInfo, DefInfo, RecInfo, TheoremInfo
from nanolean.kernel.env import AxiomDecl, DefDecl, Environment, OpaqueDecl, QuotDecl, TheoremDecl, recheck
from nanolean.kernel.expr import (
    PROP,
    TYPE,
    App,
    BVar,
    Const,
    Expr,
    FVar,
    Lam,
    Let,
    Lit,
    Pi,
    Proj,
    Sort,
    arrow,
    mk_app,
    mk_lambda,
    mk_pi,
    sweep,
)
from nanolean.kernel.level import ONE, ZERO, IMax, Level, LParam, Max, Succ, always_leq, equiv, leq
from nanolean.kernel.typecheck import TypeChecker
from nanolean.tests.each import each
from nanolean.tests.kernel_prelude import (
    BOOL,
    NAT,
    NAT2,
    U,
    V,
    add,
    b,
    c,
    call,
    checker,
    eq,
    eq_decl,
    inductive,
    nat_rec,
    prelude,
    refl,
    succ,
    var,
)

FALSE, TRUE, BAD = c("False"), c("True"), c("Bad")
X = b("x", NAT)


def refuses(decl, match: str | None = None, env: Environment | None = None) -> None:
    with pytest.raises(KernelError, match=match) as caught:
        (prelude() if env is None else env).add(decl)
    assert not isinstance(caught.value, BudgetExceeded)


def refuses_type(*fields: Expr, match: str, env: Environment | None = None, type_: Expr = TYPE) -> None:
    """Refuse `Bad` with one constructor that has these fields (none of which depends on another)."""
    made: Expr = BAD
    for field in reversed(fields):
        made = arrow(field, made)
    refuses(inductive("Bad", (), 0, type_, ("Bad.mk", made)), match, env)


# --- universes


def test_a_function_type_over_types_cannot_pretend_to_be_small_by_imax():
    product = Pi("α", TYPE, BVar(0))
    refuses(DefDecl("attack", (), Sort(IMax(Succ(ONE), ZERO)), product), "has type")
    refuses(DefDecl("attack", (), Sort(IMax(ZERO, ONE)), product), "has type")
    refuses(DefDecl("attack", ("u",), Sort(Succ(U)), Pi("α", Sort(Succ(U)), BVar(0))), "has type")


def test_imax_with_a_parameter_is_not_max():
    refuses(TheoremDecl("attack", ("u", "v"), eq_of_sorts(IMax(U, V), Max(U, V)), rfl_of_sorts(IMax(U, V))))
    assert not leq(Max(U, V), IMax(U, V)) and leq(IMax(U, V), Max(U, V))


def test_a_parameter_is_neither_zero_nor_positive():
    assert not equiv(U, ZERO) and not leq(ONE, U) and not leq(U, ZERO)
    refuses(TheoremDecl("attack", ("u",), eq_of_sorts(U, ZERO), rfl_of_sorts(U)))


def test_a_universe_parameter_cannot_stand_for_prop_in_a_theorem():
    value = Lam("α", Sort(U), Lam("x", BVar(0), BVar(0)))
    refuses(TheoremDecl("attack", ("u",), Pi("α", Sort(U), arrow(BVar(0), BVar(0))), value), "not a proposition")


def test_parameters_do_not_leak_from_one_declaration_into_another():
    env = prelude().add(DefDecl("small", ("u",), Sort(Succ(Succ(U))), Sort(Succ(U))))
    refuses(DefDecl("attack", ("u",), Sort(Succ(U)), c("small", U)), "has type", env)
    refuses(DefDecl("attack", (), Sort(Succ(ONE)), c("small", LParam("u"))), "undeclared", env)


def test_swapped_universe_parameters_are_instantiated_at_once():
    env = prelude().add(DefDecl("pair", ("u", "v"), arrow(Sort(U), Sort(Succ(V))), Lam("_", Sort(U), Sort(V))))
    swapped = mk_app(c("pair", V, U))
    assert TypeChecker(env).check(swapped) is arrow(Sort(V), Sort(Succ(U)))
    refuses(DefDecl("attack", ("u", "v"), arrow(Sort(U), Sort(Succ(V))), swapped), "has type", env)


def test_a_field_of_a_type_in_any_universe_must_fit_at_every_value():
    made = call("Bad", levels=[U, V])
    field = mk_pi([b("α", Sort(V))], arrow(var("α"), made))
    refuses(inductive("Bad", ("u", "v"), 0, Sort(Max(U, V)), ("Bad.mk", field)), "universe")
    refuses(inductive("Bad", ("u", "v"), 0, Sort(IMax(U, V)), ("Bad.mk", field)), "universe")


def test_a_proposition_may_take_large_fields_but_gives_none_of_them_back():
    env = prelude().add(inductive("Code", (), 0, PROP, ("Code.mk", arrow(TYPE, c("Code")))))
    info = env["Code.rec"]
    assert isinstance(info, RecInfo) and not info.large and info.level_params == ()
    back = Lam("c", c("Code"), Proj("Code", 0, BVar(0)))
    refuses(DefDecl("decode", (), arrow(c("Code"), TYPE), back), "must be a proof", env)
    motive = Lam("_", c("Code"), TYPE)
    decode = Lam("c", c("Code"), mk_app(c("Code.rec"), motive, Lam("α", TYPE, BVar(0)), BVar(0)))
    refuses(DefDecl("decode", (), arrow(c("Code"), TYPE), decode), "expected", env)


def test_girards_universe_of_all_types_does_not_fit_into_type():
    """`∀ α : Type, ((α → Prop) → Prop) → (α → Prop) → Prop`, the beginning of Hurkens' paradox, is in `Type 1`."""
    powerset = arrow(BVar(0), PROP)
    body = arrow(arrow(powerset, PROP), arrow(powerset, PROP))
    refuses(DefDecl("U", (), TYPE, Pi("α", TYPE, body)), "has type")
    prelude().add(DefDecl("U", (), Sort(Succ(ONE)), Pi("α", TYPE, body)))


def test_prop_is_not_closed_under_a_sum_over_types():
    """Hurkens' paradox with a `Prop` that injects `Type` needs this pair to give back its first part."""
    sigma = inductive("Pack", (), 0, PROP, ("Pack.mk", Pi("α", TYPE, arrow(BVar(0), c("Pack")))))
    env = prelude().add(sigma)
    first = Lam("p", c("Pack"), Proj("Pack", 0, BVar(0)))
    refuses(DefDecl("first", (), arrow(c("Pack"), TYPE), first), "must be a proof", env)
    second = Lam("p", c("Pack"), Proj("Pack", 1, BVar(0)))
    refuses(DefDecl("second", (), arrow(c("Pack"), NAT), second), "depends on data", env)


def test_a_universe_that_grows_with_every_definition_ends_with_a_typed_error():
    level: Level = Max(U, Succ(V))
    with pytest.raises(BudgetExceeded, match="universe"):
        for _ in range(40):
            level = Max(Succ(level), IMax(level, Succ(U)))


def test_comparing_universes_with_many_parameters_ends_with_a_typed_error():
    params = [LParam(f"p{i}") for i in range(60)]
    up: Level = params[0]
    down: Level = params[-1]
    for i in range(1, 60):
        up, down = IMax(params[i], up), IMax(params[-1 - i], down)
    with pytest.raises(BudgetExceeded):
        always_leq(Max(up, down), Max(Succ(up), down))


def eq_of_sorts(left: Level, right: Level) -> Expr:
    return eq(Sort(Succ(left)), Sort(left), Sort(right), Succ(Succ(left)))


def rfl_of_sorts(level: Level) -> Expr:
    return refl(Sort(Succ(level)), Sort(level), Succ(Succ(level)))


# --- occurrences of an inductive type in itself


def test_an_occurrence_behind_two_definitions_is_found():
    env = prelude().add(DefDecl("F", (), arrow(TYPE, TYPE), Lam("α", TYPE, arrow(BVar(0), NAT))))
    env = env.add(DefDecl("G", (), arrow(TYPE, TYPE), Lam("α", TYPE, arrow(NAT, App(c("F"), BVar(0))))))
    refuses_type(App(c("G"), BAD), match="non positive", env=env)


def test_a_negative_number_of_parameters_is_refused():
    """With it the first field of a pair was read as the last one, so that a type could stand for its element."""
    pair = inductive("Bad", (), -1, Sort(Succ(ONE)), ("Bad.mk", Pi("α", TYPE, arrow(BVar(0), BAD))))
    refuses(pair, "cannot have -1 parameters")


def test_an_occurrence_behind_an_opaque_constant_is_refused():
    env = prelude().add(OpaqueDecl("F", (), arrow(TYPE, TYPE), Lam("α", TYPE, arrow(BVar(0), NAT))))
    refuses_type(App(c("F"), BAD), match="not valid", env=env)


def test_an_occurrence_behind_an_axiom_is_refused():
    env = prelude().add(AxiomDecl("F", (), arrow(TYPE, TYPE)))
    refuses_type(App(c("F"), BAD), match="not valid", env=env)


def test_an_occurrence_in_the_argument_of_a_variable_is_refused():
    field = App(var("f"), call("Bad", var("f")))
    ctor = mk_pi([b("f", arrow(TYPE, TYPE)), b("x", field)], call("Bad", var("f")))
    decl = inductive("Bad", (), 1, arrow(arrow(TYPE, TYPE), Sort(ONE)), ("Bad.mk", ctor))
    refuses(decl, "not valid")


def test_an_occurrence_behind_a_recursion_that_is_stuck_is_refused():
    by_number = nat_rec(TYPE, arrow(BAD, NAT), Lam("n", NAT, Lam("ih", TYPE, NAT)), var("k"), Succ(ONE))
    ctor = mk_pi([b("k", NAT), b("x", by_number)], BAD)
    refuses(inductive("Bad", (), 0, TYPE, ("Bad.mk", ctor)), "not valid")


def test_an_occurrence_behind_a_recursion_that_computes_is_found():
    by_number = nat_rec(TYPE, NAT, Lam("n", NAT, Lam("ih", TYPE, arrow(BAD, NAT))), Lit(3), Succ(ONE))
    refuses_type(by_number, match="non positive")


def test_an_occurrence_behind_a_let_is_found():
    refuses_type(Let("α", TYPE, BAD, arrow(BVar(0), NAT)), match="non positive")


def test_an_occurrence_in_a_quotient_is_refused():
    env = prelude().add(QuotDecl())
    relation = Lam("x", BAD, Lam("y", BAD, TRUE))
    refuses_type(call("Quot", BAD, relation, levels=[ONE]), match="not valid", env=env)


def test_an_occurrence_in_an_equation_is_refused():
    refuses_type(eq(TYPE, BAD, NAT, Succ(ONE)), match="not valid")


def test_an_occurrence_in_the_type_of_an_index_is_refused():
    refuses(inductive("Bad", (), 0, arrow(BAD, TYPE)), "unknown constant")


def test_an_occurrence_at_other_parameters_is_refused():
    alpha = b("α", TYPE)
    ctor = mk_pi([alpha], arrow(call("Bad", arrow(var("α"), NAT)), call("Bad", var("α"))))
    refuses(inductive("Bad", (), 1, arrow(TYPE, TYPE), ("Bad.mk", ctor)), "at other parameters")


def test_an_occurrence_at_other_universes_is_refused():
    made = c("Bad", U)
    ctor = mk_pi([b("x", c("Bad", ONE))], made)
    refuses(inductive("Bad", ("u",), 0, Sort(Succ(U)), ("Bad.mk", ctor)), "at other parameters or levels")


def test_a_negative_occurrence_in_a_proposition_is_refused():
    refuses_type(arrow(BAD, FALSE), match="non positive", type_=PROP)


def test_an_occurrence_in_the_domain_of_a_domain_is_refused():
    """`((Bad → Prop) → Prop) → Bad` has no sets as models."""
    refuses_type(arrow(arrow(BAD, PROP), PROP), match="non positive", type_=Sort(Succ(ONE)))


# --- elimination into data


@each(
    ("ctors", "large"),
    [
        ([], True),
        ([arrow(NAT, BAD)], False),
        ([BAD], True),
        ([BAD, BAD], False),
        ([arrow(TRUE, BAD)], True),
        ([arrow(TRUE, arrow(NAT, BAD))], False),
        ([arrow(arrow(NAT, TRUE), BAD)], True),
        ([arrow(TYPE, BAD)], False),
        ([arrow(PROP, BAD)], False),
    ],
)
def test_a_proposition_makes_data_only_where_it_holds_none(ctors, large):
    decl = inductive("Bad", (), 0, PROP, *[(f"Bad.c{i}", type_) for i, type_ in enumerate(ctors)])
    info = prelude().add(decl)["Bad.rec"]
    assert isinstance(info, RecInfo) and info.large == large


@pytest.mark.parametrize(
    ("index", "large"),
    [(var("n"), True), (succ(var("n")), False), (add(var("n"), Lit(0)), False), (Lit(0), False)],
)
def test_a_field_counts_as_known_only_where_it_is_itself_an_index(index, large):
    ctor = mk_pi([b("n", NAT)], call("Bad", index))
    info = prelude().add(inductive("Bad", (), 0, arrow(NAT, PROP), ("Bad.mk", ctor)))["Bad.rec"]
    assert isinstance(info, RecInfo) and info.large == large


def test_a_type_that_may_be_a_proposition_does_not_choose_between_constructors():
    made = c("Bad", U)
    env = prelude().add(inductive("Bad", ("u",), 0, Sort(U), ("Bad.a", made), ("Bad.b", made)))
    info = env["Bad.rec"]
    assert isinstance(info, RecInfo) and not info.large
    motive = Lam("_", c("Bad", ZERO), NAT)
    choose = mk_app(c("Bad.rec", ZERO), motive, Lit(0), Lit(1), c("Bad.a", ZERO))
    refuses(DefDecl("attack", (), NAT, choose), "expected", env)


def test_a_proof_is_not_matched_when_its_type_does_not_fit():
    """`Eq.rec` ignores the proof only where both sides are the same: a cast along `h : Nat = Bool` is stuck."""
    h = b("h", eq(TYPE, NAT, BOOL, Succ(ONE)))
    motive = Lam("β", TYPE, Lam("_", eq(TYPE, NAT, BVar(0), Succ(ONE)), BVar(1)))
    cast = call("Eq.rec", TYPE, NAT, motive, Lit(3), BOOL, h.fvar, levels=[ONE, Succ(ONE)])
    check = checker(h)
    assert check.is_def_eq(check.check(cast), BOOL)
    assert check.whnf(cast) is cast
    assert not check.is_def_eq(cast, Lit(3))


def test_a_proof_with_fields_is_never_ignored():
    env = prelude().add(inductive("Box", (), 1, arrow(PROP, PROP), ("Box.mk", box_mk())))
    info = env["Box.rec"]
    assert isinstance(info, RecInfo) and not info.k and info.large


def box_mk() -> Expr:
    return mk_pi([b("p", PROP)], arrow(var("p"), call("Box", var("p"))))


def test_two_structures_with_the_same_fields_are_not_equal():
    fields = arrow(NAT, c("A"))
    env = prelude().add(inductive("A", (), 0, TYPE, ("A.mk", fields)))
    env = env.add(inductive("B", (), 0, TYPE, ("B.mk", arrow(NAT, c("B")))))
    check = TypeChecker(env)
    assert not check.is_def_eq(App(c("A.mk"), Lit(0)), App(c("B.mk"), Lit(0)))
    assert not check.is_def_eq(c("A"), c("B"))
    refuses(DefDecl("attack", (), c("A"), App(c("B.mk"), Lit(0))), "has type", env)


def test_a_recursive_type_has_no_eta_even_with_one_constructor():
    env = prelude().add(inductive("Deep", (), 0, TYPE, ("Deep.mk", arrow(c("Deep"), c("Deep")))))
    x = b("x", c("Deep"))
    check = TypeChecker(env, {"x": (x.type, None)})
    field = Proj("Deep", 0, x.fvar)
    assert check.check(field) is c("Deep")
    assert check.is_def_eq(Proj("Deep", 0, App(c("Deep.mk"), x.fvar)), x.fvar)
    assert not check.is_def_eq(x.fvar, App(c("Deep.mk"), x.fvar))
    assert not check.is_def_eq(x.fvar, App(c("Deep.mk"), field))


def test_a_family_with_indices_has_projections_and_no_eta():
    ctor = mk_pi([b("n", NAT)], call("Fam", var("n")))
    env = prelude().add(inductive("Fam", (), 0, arrow(NAT, TYPE), ("Fam.mk", ctor)))
    check = TypeChecker(env, {"x": (call("Fam", Lit(1)), None)})
    field = Proj("Fam", 0, var("x"))
    assert check.check(field) is NAT
    assert check.is_def_eq(Proj("Fam", 0, App(c("Fam.mk"), Lit(1))), Lit(1))
    assert not check.is_def_eq(field, Lit(1))  # though no other constructor application has this type
    assert not check.is_def_eq(var("x"), App(c("Fam.mk"), Lit(1)))
    with pytest.raises(KernelError, match="type"):
        check.check(Proj("Fam", 0, c("Fam")))


def test_a_proof_with_an_index_gives_no_data_away():
    hidden = mk_pi([b("n", NAT), b("h", eq(NAT, var("n"), var("n")))], call("Shown", var("n")))
    env = prelude().add(inductive("Shown", (), 0, arrow(NAT, PROP), ("Shown.mk", hidden)))
    check = TypeChecker(env, {"x": (call("Shown", Lit(1)), None)})
    for place in (0, 1):
        with pytest.raises(KernelError, match="proposition"):
            check.check(Proj("Shown", place, var("x")))


def test_elements_of_two_types_without_fields_are_not_equal():
    env = prelude().add(inductive("One", (), 0, TYPE, ("One.mk", c("One"))))
    env = env.add(inductive("Uno", (), 0, TYPE, ("Uno.mk", c("Uno"))))
    check = TypeChecker(env, {"x": (c("One"), None), "y": (c("Uno"), None)})
    assert not check.is_def_eq(var("x"), var("y"))
    assert check.is_def_eq(var("x"), c("One.mk"))


def test_only_proofs_are_irrelevant():
    check = checker(b("x", NAT), b("y", NAT), b("p", PROP), b("q", PROP), b("α", TYPE), b("β", TYPE))
    assert not check.is_def_eq(var("x"), var("y"))
    assert not check.is_def_eq(var("p"), var("q"))
    assert not check.is_def_eq(var("α"), var("β"))


def test_elements_of_a_type_in_an_unknown_universe_are_not_proofs():
    check = checker(b("α", Sort(U)), b("x", var("α")), b("y", var("α")))
    assert not check.is_def_eq(var("x"), var("y"))


# --- computation


@pytest.mark.parametrize("name", ["Nat.zero", "Nat.succ", "Bool.true", "Bool.false"])
def test_constructors_of_literals_cannot_be_declared_as_something_else(name):
    type_name = name.partition(".")[0]
    refuses(AxiomDecl(name, (), PROP), "reserved", Environment())
    refuses(DefDecl(name, (), Sort(ONE), PROP), "reserved", Environment())
    refuses(inductive("Fake", (), 0, TYPE, (name, c("Fake"))), "reserved", Environment())
    refuses(inductive(type_name, (), 0, TYPE, (name, c(type_name))), "exactly the constructors", Environment())


@each(
    ("name", "value"),
    [
        ("Nat.mod", lambda x, y: Lit(0)),
        ("Nat.mod", lambda x, y: x),
        ("Nat.div", lambda x, y: Lit(0)),
        ("Nat.div", lambda x, y: x),
        ("Nat.gcd", lambda x, y: y),
        ("Nat.gcd", lambda x, y: Lit(1)),
        ("Nat.add", lambda x, y: nat_rec(NAT, y, Lam("n", NAT, Lam("ih", NAT, succ(BVar(0)))), x)),
        ("Nat.beq", lambda x, y: c("Bool.true")),
        ("Nat.ble", lambda x, y: c("Bool.true")),
    ],
)
def test_operations_that_are_computed_must_satisfy_their_equations(name, value):
    y = b("y", NAT)
    result = BOOL if name in ("Nat.beq", "Nat.ble") else NAT
    body = mk_lambda([X, y], value(X.fvar, y.fvar))
    env = Environment().add_unchecked(info for info in prelude() if info.name != name)
    refuses(DefDecl(name, (), arrow(NAT, arrow(NAT, result)), body), "reserved", env)


def test_a_lookalike_of_an_operation_is_not_computed_as_the_operation():
    env = prelude().add(DefDecl("Fake.ble", (), arrow(NAT, arrow(NAT, BOOL)), constant_true()))
    check = TypeChecker(env)
    assert check.whnf(call("Fake.ble", Lit(3), Lit(2))) is c("Bool.true")
    claim = eq(BOOL, call("Nat.ble", Lit(3), Lit(2)), c("Bool.true"))
    refuses(TheoremDecl("attack", (), claim, refl(BOOL, call("Fake.ble", Lit(3), Lit(2)))), "has type", env)


def constant_true() -> Expr:
    return Lam("x", NAT, Lam("y", NAT, c("Bool.true")))


@pytest.mark.parametrize("exponent", [10**7 * 2, 10**12, 10**40])
def test_a_number_that_is_too_large_to_compute_is_a_typed_error_at_once(exponent):
    check = TypeChecker(prelude(), budget=100)
    with pytest.raises(BudgetExceeded, match="too large"):
        check.whnf(call("Nat.pow", Lit(3), Lit(exponent)))


def test_many_large_products_spend_the_budget():
    square: Expr = Lit(2**400_000)
    check = TypeChecker(prelude(), budget=20_000)
    with pytest.raises(BudgetExceeded):
        for i in range(1, 10):
            check.whnf(call("Nat.mul", square, Lit(2**400_000 - i)))


def test_an_opaque_value_is_not_seen_by_conversion():
    env = prelude().add(OpaqueDecl("hidden", (), NAT, Lit(0)))
    refuses(TheoremDecl("attack", (), eq(NAT, c("hidden"), Lit(0)), refl(NAT, Lit(0))), "has type", env)


def test_the_value_of_a_theorem_gives_no_data_away():
    some = call("Exists", NAT, Lam("x", NAT, eq(NAT, BVar(0), BVar(0))), levels=[ONE])
    witness = call(
        "Exists.intro", NAT, Lam("x", NAT, eq(NAT, BVar(0), BVar(0))), Lit(7), refl(NAT, Lit(7)), levels=[ONE]
    )
    env = prelude().add(TheoremDecl("some", (), some, witness))
    assert TypeChecker(env).whnf(c("some")) is witness  # as Lean's kernel has it
    with pytest.raises(KernelError, match="proposition"):
        TypeChecker(env).check(Proj("Exists", 0, c("some")))


def test_a_let_does_not_make_its_variable_equal_to_anything_else():
    claim = Let("x", NAT, Lit(0), eq(NAT, BVar(0), Lit(1)))
    refuses(TheoremDecl("attack", (), claim, refl(NAT, Lit(0))), "has type")
    refuses(TheoremDecl("attack", (), FALSE, Let("f", FALSE, BVar(0), BVar(0))), "loose bound variable")


def test_equal_operators_do_not_make_their_arguments_equal():
    x, y = b("x", NAT), b("y", NAT)
    check = checker(x, y)
    assert not check.is_def_eq(call("Nat.mul", x.fvar, Lit(0)), call("Nat.mul", y.fvar, Lit(1)))
    assert check.is_def_eq(call("Nat.mul", x.fvar, Lit(0)), call("Nat.mul", y.fvar, Lit(0)))
    assert not check.is_def_eq(succ(x.fvar), succ(y.fvar))


# --- variables, caches and shared nodes


def test_variables_named_like_those_of_the_kernel_are_refused():
    for name in ("kernel.0", "kernel.1", "x", ""):
        refuses(TheoremDecl("attack", (), arrow(FALSE, FALSE), Lam("h", FALSE, FVar(name))), "free variable")


def test_two_binders_of_one_type_are_two_variables():
    claim = Pi("x", NAT, Pi("y", NAT, eq(NAT, BVar(1), BVar(0))))
    refuses(TheoremDecl("attack", (), claim, Lam("x", NAT, Lam("x", NAT, refl(NAT, BVar(0))))), "has type")
    refuses(TheoremDecl("attack", (), claim, Lam("x", NAT, Lam("x", NAT, refl(NAT, BVar(1))))), "has type")


def test_a_binder_cannot_take_the_type_of_another_binder_of_the_same_name():
    claim = Pi("p", PROP, Pi("q", PROP, arrow(BVar(1), BVar(0))))
    value = Lam("p", PROP, Lam("p", PROP, Lam("h", BVar(1), BVar(0))))
    refuses(TheoremDecl("attack", (), claim, value), "has type")


def test_what_was_inferred_without_checking_does_not_count_as_checked():
    bad = App(Lam("x", NAT, BVar(0)), c("True.intro"))
    check = TypeChecker(prelude())
    assert check.infer(bad) is NAT
    with pytest.raises(KernelError, match="an argument"):
        check.check(bad)
    with pytest.raises(KernelError, match="an argument"):
        check.check(succ(bad))


def test_a_refused_term_is_refused_again():
    check = TypeChecker(prelude())
    bad = App(c("Nat.succ"), c("True.intro"))
    for _ in range(3):
        with pytest.raises(KernelError, match="an argument"):
            check.check(bad)


def test_running_out_of_steps_leaves_no_verdicts_behind():
    numeral: Expr = c("Nat.zero")
    for _ in range(60):
        numeral = App(App(c("Nat.add"), numeral), succ(c("Nat.zero")))
    claim = TheoremDecl("claim", (), eq(NAT, numeral, Lit(61)), refl(NAT, Lit(61)))
    truth = TheoremDecl("claim", (), eq(NAT, numeral, Lit(60)), refl(NAT, Lit(60)))
    env = prelude()
    for steps in range(0, 400, 7):
        with pytest.raises(KernelError):
            env.add(claim, steps)
    refuses(claim, "has type")
    assert env.add(truth).get("claim") is not None


def test_one_checker_that_ran_out_of_steps_still_answers_rightly():
    x, y = b("x", NAT), b("y", NAT)
    left, right = call("Nat.mul", x.fvar, Lit(9)), call("Nat.mul", y.fvar, Lit(9))
    budget = Budget(0)
    check = TypeChecker(prelude(), {"x": (NAT, None), "y": (NAT, None)}, budget)
    for steps in range(1, 200, 11):
        budget.left = steps
        try:
            assert not check.is_def_eq(left, right)
        except BudgetExceeded:
            continue
    budget.left = 10_000
    assert not check.is_def_eq(left, right)
    assert check.is_def_eq(left, call("Nat.add", call("Nat.mul", x.fvar, Lit(8)), x.fvar))


def test_terms_made_after_a_sweep_are_not_taken_for_swept_ones():
    env = prelude()
    for number in range(200):
        wrong = TheoremDecl("attack", (), eq(NAT, Lit(number), Lit(number + 1)), refl(NAT, Lit(number)))
        refuses(wrong, "has type", env)
        del wrong
        if number % 40 == 0:
            sweep()
    env.add(TheoremDecl("truth", (), eq(NAT, add(Lit(1), Lit(1)), Lit(2)), refl(NAT, Lit(2))))


def test_adding_to_one_environment_does_not_reach_another():
    base = prelude()
    forged = base.add(AxiomDecl("magic", (), FALSE))
    assert "magic" in forged
    refuses(TheoremDecl("attack", (), FALSE, c("magic")), "unknown constant", base)


def test_a_declaration_that_is_nested_too_deeply_is_a_typed_error_or_checked():
    term: Expr = TRUE
    for _ in range(30_000):
        term = Pi("_", term, TRUE)
    with contextlib.suppress(BudgetExceeded):
        prelude().add(AxiomDecl("deep", (), term))


# --- quotients


def test_an_equality_that_is_not_the_smallest_reflexive_relation_is_no_basis_for_quotients():
    env = Environment().add(AxiomDecl("Eq", ("u",), eq_decl().type))
    refuses(QuotDecl(), "inductive type Eq", env)


def test_lifting_needs_a_proof_that_the_function_respects_the_relation():
    env = prelude().add(QuotDecl())
    total = Lam("x", NAT, Lam("y", NAT, TRUE))
    identity = Lam("x", NAT, BVar(0))
    respects = mk_lambda([b("x", NAT), b("y", NAT), b("h", TRUE)], refl(NAT, var("x")))
    made = call("Quot.mk", NAT, total, Lit(0), levels=[ONE])
    lifted = call("Quot.lift", NAT, total, NAT, identity, respects, made, levels=[ONE, ONE])
    refuses(DefDecl("attack", (), NAT, lifted), "expected", env)


def test_two_elements_of_a_quotient_are_not_equal_by_computation():
    env = prelude().add(QuotDecl())
    total = Lam("x", NAT, Lam("y", NAT, TRUE))
    one, two = (call("Quot.mk", NAT, total, Lit(i), levels=[ONE]) for i in (1, 2))
    assert not TypeChecker(env).is_def_eq(one, two)


# --- stored constants


def stored(*changed) -> list:
    """The constants of the prelude, some of them replaced by others of their name or added at the end."""
    infos = {info.name: info for info in prelude()}
    return list({**infos, **{info.name: info for info in changed}}.values())


def test_stored_constants_that_are_as_they_were_pass_the_recheck():
    assert recheck(prelude()).names() == prelude().names()


def test_a_forged_proof_is_found_by_the_recheck():
    with pytest.raises(KernelError, match="has type"):
        recheck(stored(TheoremInfo("forged", (), FALSE, c("True.intro"))))


def test_a_theorem_with_a_changed_statement_is_found_by_the_recheck():
    theorem = TheoremInfo("sound", (), TRUE, c("True.intro"))
    assert "sound" in recheck(stored(theorem))
    with pytest.raises(KernelError, match="has type"):
        recheck(stored(dataclasses.replace(theorem, type=FALSE)))


def test_a_type_with_a_changed_constructor_is_found_by_the_recheck():
    intro = dataclasses.replace(prelude()["True.intro"], type=FALSE)
    with pytest.raises(KernelError):
        recheck(stored(intro))


@pytest.mark.parametrize(("name", "field"), [("Or.rec", "large"), ("Or.rec", "k"), ("Nat.rec", "k")])
def test_a_recursor_with_changed_abilities_is_found_by_the_recheck(name, field):
    info = prelude()[name]
    with pytest.raises(KernelError, match="claimed"):
        recheck(stored(dataclasses.replace(info, **{field: not getattr(info, field)})))


def test_a_recursor_with_changed_rules_is_found_by_the_recheck():
    info = prelude()["Bool.rec"]
    assert isinstance(info, RecInfo)
    swapped = tuple(rule._replace(rhs=other.rhs) for rule, other in zip(info.rules, reversed(info.rules)))
    with pytest.raises(KernelError, match="claimed"):
        recheck(stored(dataclasses.replace(info, rules=swapped)))


def test_a_definition_that_claims_to_be_computed_is_found_by_the_recheck():
    fake = DefInfo("Nat.fake", (), NAT2, Lam("x", NAT, Lam("y", NAT, Lit(0))), computes_literals=True)
    with pytest.raises(KernelError, match="claimed"):
        recheck(stored(fake))


def test_a_theorem_stored_as_an_axiom_stays_an_axiom_in_the_recheck():
    assert isinstance(recheck(stored(AxiomInfo("magic", (), FALSE)))["magic"], AxiomInfo)


def test_a_type_without_its_constructors_is_found_by_the_recheck():
    infos = [info for info in prelude() if info.name != "Nat.succ"]
    with pytest.raises(KernelError):
        recheck(infos)


def test_constants_in_an_order_that_hides_a_circle_are_found_by_the_recheck():
    one = TheoremInfo("one", (), FALSE, Const("two"))
    two = TheoremInfo("two", (), FALSE, Const("one"))
    with pytest.raises(KernelError, match="unknown constant"):
        recheck(stored(one, two))
