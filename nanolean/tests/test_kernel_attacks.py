"""Attempts to make the kernel accept what is false or malformed; each must be refused."""

import pytest

from nanolean.kernel.budget import BudgetExceeded, KernelError
from nanolean.kernel.env import (
    AxiomDecl,
    AxiomInfo,
    DefDecl,
    Environment,
    OpaqueDecl,
    OpaqueInfo,
    QuotDecl,
    TheoremDecl,
    axioms_of,
)
from nanolean.kernel.expr import (
    PROP,
    TYPE,
    App,
    BVar,
    Const,
    Expr,
    Lam,
    Let,
    Lit,
    MVar,
    Pi,
    Proj,
    Sort,
    arrow,
    mk_lambda,
    mk_pi,
)
from nanolean.kernel.level import ONE, ZERO, LMVar, LParam, Succ
from nanolean.kernel.reduce import compute
from nanolean.kernel.reserved import COMPUTED_NAMES
from nanolean.kernel.typecheck import TypeChecker
from nanolean.library.loader import decode, encode
from nanolean.tests import stuck_prop
from nanolean.tests.each import each
from nanolean.tests.kernel_prelude import (
    BOOL,
    NAT,
    NAT2,
    NAT_TO_BOOL,
    M,
    N,
    U,
    add,
    b,
    bool_decl,
    c,
    call,
    checker,
    comparison,
    eq,
    inductive,
    m,
    n,
    nat_decl,
    nat_rec,
    prelude,
    recursive_def,
    refl,
    succ,
    var,
)
from nanolean.tests.library import base

FALSE, BAD = c("False"), c("Bad")


def refuses(decl, match: str | None = None, env: Environment | None = None) -> None:
    with pytest.raises(KernelError, match=match) as caught:
        (prelude() if env is None else env).add(decl)
    assert not isinstance(caught.value, BudgetExceeded)


def refuses_proof(type_: Expr, value: Expr, match: str | None = None) -> None:
    refuses(TheoremDecl("attack", (), type_, value), match)


# --- forms of declarations


@each(
    ("value", "match"),
    [
        (BVar(0), "loose bound variable"),
        (Lam("x", NAT, BVar(1)), "loose bound variable"),
        (MVar("hole"), "metavariable"),
        (App(Lam("x", Sort(LMVar("l")), Lit(0)), NAT), "metavariable"),
        (c("Eq.refl", LMVar("l")), "metavariable"),
        (n, "free variable"),
        (c("Eq.refl", LParam("w")), "undeclared universe"),
        (App(Lam("x", Sort(Succ(LParam("w"))), Lit(0)), NAT), "undeclared universe"),
    ],
)
def test_open_terms_are_refused(value, match):
    refuses(DefDecl("attack", (), NAT, value), match)
    refuses(AxiomDecl("attack", (), value), match)
    refuses(inductive("Bad", (), 0, TYPE, ("Bad.mk", arrow(value, BAD))), match)


def test_a_universe_parameter_declared_twice_is_refused():
    refuses(AxiomDecl("attack", ("u", "u"), Sort(U)), "twice")


@pytest.mark.parametrize("name", ["Nat", "Nat.succ", "Nat.rec", "Nat.add", "True.intro"])
def test_names_cannot_be_declared_again(name):
    refuses(AxiomDecl(name, (), FALSE), "already")
    refuses(DefDecl(name, (), NAT, Lit(0)), "already")
    refuses(inductive(name, (), 0, PROP), "already|constructors")


def test_a_type_cannot_take_names_from_the_environment_or_twice():
    refuses(inductive("Bad", (), 0, TYPE, ("Eq.refl", BAD)), "already")
    refuses(inductive("Bad", (), 0, TYPE, ("Bad.mk", BAD), ("Bad.mk", BAD)), "already")
    refuses(inductive("Bad", (), 0, TYPE, ("Bad.rec", BAD)), "already")
    refuses(inductive("Bad", (), 0, TYPE, ("Bad", BAD)))


def test_a_definition_cannot_mention_itself():
    refuses(TheoremDecl("loop", (), FALSE, c("loop")), "unknown constant")
    refuses(DefDecl("Nat.loop", (), NAT, succ(c("Nat.loop"))), "unknown constant")


def test_a_refused_declaration_leaves_the_environment_as_it_was():
    env = prelude()
    count = len(env)
    refuses_proof(FALSE, c("True.intro"))
    env.add(AxiomDecl("later", (), FALSE))
    assert len(env) == count and "later" not in env


# --- types and values


@each(
    ("type_", "value"),
    [
        (FALSE, c("True.intro")),
        (FALSE, Lit(0)),
        (eq(NAT, Lit(0), Lit(1)), refl(NAT, Lit(0))),
        (eq(NAT, n, succ(n)), refl(NAT, n)),
        (eq(BOOL, c("Bool.true"), c("Bool.false")), refl(BOOL, c("Bool.true"))),
        (eq(NAT, add(Lit(0), n), n), refl(NAT, n)),
        (eq(NAT, Lit(10**20), Lit(10**20 + 1)), refl(NAT, Lit(10**20))),
        (eq(TYPE, NAT, BOOL, Succ(ONE)), refl(TYPE, NAT, Succ(ONE))),
        (eq(PROP, c("True"), FALSE), refl(PROP, c("True"))),
        (call("Or", FALSE, c("True")), call("Or.inl", FALSE, c("True"), c("True.intro"))),
        (call("Nat.le", Lit(1), Lit(0)), call("Nat.le.step", Lit(1), Lit(0), call("Nat.le.refl", Lit(1)))),
    ],
)
def test_false_statements_are_not_proved_by_values_of_other_types(type_, value):
    refuses_proof(mk_pi([N], type_), mk_lambda([N], value))


def test_a_theorem_must_state_a_proposition():
    refuses_proof(NAT, Lit(0), "not a proposition")


def test_a_universe_is_not_its_own_element():
    refuses(DefDecl("attack", (), TYPE, TYPE))
    refuses(DefDecl("attack", ("u",), Sort(U), Sort(U)))


def test_a_product_over_all_types_is_not_a_small_type():
    refuses(DefDecl("attack", (), TYPE, mk_pi([b("α", TYPE)], var("α"))))


def test_constants_take_exactly_their_universe_parameters():
    refuses(DefDecl("attack", (), TYPE, App(c("List"), NAT)), "universe levels")
    refuses(DefDecl("attack", (), NAT, c("Nat.zero", ONE)), "universe levels")


def test_unknown_constants_are_refused():
    refuses(DefDecl("attack", (), NAT, c("Nat.nothing")), "unknown constant")


@each(
    "value",
    [
        App(Lit(0), Lit(1)),
        App(c("Nat.succ"), c("True.intro")),
        App(Lam("x", NAT, BVar(0)), c("Bool.true")),
        Lam("x", Lit(0), Lit(0)),
        Pi("x", Lit(0), NAT),
        Pi("x", NAT, Lit(0)),
        Let("x", NAT, c("Bool.true"), Lit(0)),
        Let("x", Lit(5), Lit(0), Lit(0)),
    ],
)
def test_ill_typed_terms_are_refused_wherever_they_stand(value):
    refuses(DefDecl("attack", (), NAT, value))
    refuses(DefDecl("attack", (), NAT, App(Lam("x", NAT, Lit(0)), value)))


def test_an_argument_that_is_dropped_by_computation_is_still_checked():
    ignored = App(Lam("x", eq(NAT, Lit(0), Lit(1)), c("True.intro")), refl(NAT, Lit(0)))
    refuses_proof(c("True"), ignored)


# --- inductive types


def test_a_negative_occurrence_is_refused():
    refuses(inductive("Bad", (), 0, TYPE, ("Bad.mk", arrow(arrow(BAD, FALSE), BAD))), "non positive")


def test_a_doubly_negative_occurrence_is_refused():
    twice = arrow(arrow(arrow(BAD, NAT), NAT), BAD)
    refuses(inductive("Bad", (), 0, TYPE, ("Bad.mk", twice)), "non positive")


def test_an_occurrence_hidden_behind_a_definition_is_found():
    flip = Lam("α", TYPE, Pi("_", BVar(0), FALSE))
    env = prelude().add(DefDecl("Not'", (), arrow(TYPE, TYPE), Lam("α", TYPE, arrow(BVar(0), NAT))))
    refuses(inductive("Bad", (), 0, TYPE, ("Bad.mk", arrow(App(c("Not'"), BAD), BAD))), "non positive", env)
    refuses(inductive("Bad", (), 0, TYPE, ("Bad.mk", arrow(App(flip, BAD), BAD))), "non positive")


def test_an_occurrence_inside_of_another_type_is_refused():
    nested = arrow(call("List", BAD, levels=[ZERO]), BAD)
    refuses(inductive("Bad", (), 0, TYPE, ("Bad.mk", nested)), "not valid")


def test_an_occurrence_inside_of_an_index_is_refused():
    indexed = arrow(TYPE, TYPE)
    field = App(BAD, App(BAD, NAT))
    refuses(inductive("Bad", (), 0, indexed, ("Bad.mk", arrow(field, App(BAD, NAT)))), "not valid")
    refuses(inductive("Bad", (), 0, indexed, ("Bad.mk", App(BAD, App(BAD, NAT)))), "with its own parameters")


def test_a_field_in_a_larger_universe_is_refused():
    refuses(inductive("Bad", (), 0, TYPE, ("Bad.mk", arrow(TYPE, BAD))), "universe")
    big = mk_pi([b("α", Sort(U))], arrow(var("α"), c("Bad", U)))
    refuses(inductive("Bad", ("u",), 0, Sort(U), ("Bad.mk", big)), "universe")


def test_a_constructor_must_make_its_own_type():
    refuses(inductive("Bad", (), 0, TYPE, ("Bad.mk", NAT)), "must make")
    refuses(inductive("Bad", (), 0, TYPE, ("Bad.mk", arrow(BAD, NAT))), "must make")
    refuses(inductive("Bad", (), 0, PROP, ("Bad.mk", FALSE)), "must make")


def test_a_constructor_must_keep_the_parameters():
    wrong = mk_pi([b("α", TYPE)], App(BAD, NAT))
    refuses(inductive("Bad", (), 1, arrow(TYPE, TYPE), ("Bad.mk", wrong)), "other parameters")
    refuses(inductive("Bad", (), 1, arrow(TYPE, TYPE), ("Bad.mk", arrow(NAT, App(BAD, NAT)))), "parameters")
    refuses(inductive("Bad", (), 1, arrow(TYPE, TYPE), ("Bad.mk", App(BAD, NAT))), "parameters")
    refuses(inductive("Bad", (), 2, arrow(TYPE, TYPE)), "parameters")


def test_a_constructor_must_keep_the_universes():
    refuses(inductive("Bad", ("u",), 0, Sort(U), ("Bad.mk", c("Bad", ONE))), "levels")


def test_an_inductive_type_must_live_in_a_universe():
    refuses(inductive("Bad", (), 0, NAT), "type is expected")
    refuses(inductive("Bad", (), 0, Lit(3)))


@pytest.mark.parametrize("name", ["Or", "Exists"])
def test_disjunctions_and_existentials_do_not_make_data(name):
    info = prelude()[f"{name}.rec"]
    assert not info.large
    refuses(DefDecl("attack", (), NAT, c(f"{name}.rec", *[ONE] * (len(info.level_params) + 1))), "universe levels")


def test_which_side_of_a_disjunction_holds_cannot_be_read_off():
    either = call("Or", c("True"), c("True"))
    proof = call("Or.inl", c("True"), c("True"), c("True.intro"))
    minor = Lam("h", c("True"), Lit(0))
    motive = Lam("t", either, NAT)
    refuses(DefDecl("attack", (), NAT, call("Or.rec", c("True"), c("True"), motive, minor, minor, proof)))


def test_a_proposition_that_hides_data_does_not_give_it_back():
    env = prelude().add(inductive("Hides", (), 0, PROP, ("Hides.mk", arrow(NAT, c("Hides")))))
    assert not env["Hides.rec"].large
    hidden = call("Hides.mk", Lit(1))
    refuses(DefDecl("attack", (), NAT, Proj("Hides", 0, hidden)), "must be a proof", env)


def test_a_projection_that_depends_on_hidden_data_is_refused():
    predicate = Lam("x", NAT, eq(NAT, BVar(0), BVar(0)))
    exists = call("Exists", NAT, predicate, levels=[ONE])
    h = b("h", exists)
    refuses(DefDecl("attack", (), arrow(exists, NAT), mk_lambda([h], Proj("Exists", 0, h.fvar))), "must be a proof")
    second = mk_lambda([h], Proj("Exists", 1, h.fvar))
    refuses(DefDecl("attack", (), arrow(exists, c("True")), second), "depends on data")


def test_data_is_not_read_out_of_a_proposition_whose_sort_is_stuck():
    env = prelude()
    for decl in stuck_prop.honest():
        env = env.add(decl)
    assert "Owner.rec" in env and not env["Owner.rec"].large
    observe, _ = stuck_prop.contradiction()
    refuses(observe, "must be a proof", env)


def test_a_type_with_a_stuck_sort_is_taken_neither_for_data_nor_for_a_proposition():
    env = prelude()
    for decl in stuck_prop.honest():
        env = env.add(decl)
    owner, made = call("Owner", c("witness")), call("Owner.mk", c("witness"), c("Bool.false"))
    refuses(DefDecl("attack", (), BOOL, Proj("Owner", 0, made)), "type is expected", env)
    refuses(
        DefDecl("attack", (), arrow(owner, BOOL), Lam("p", owner, Proj("Owner", 0, BVar(0)))), "type is expected", env
    )
    with pytest.raises(KernelError, match="type is expected"):
        checker(env=env).is_prop(owner)


def test_the_order_of_comparisons_does_not_change_them():
    """Being equal by definition is not transitive here, so what was found equal must not be chained (lean4#14806)."""
    env = prelude()
    for decl in stuck_prop.honest():
        env = env.add(decl)
    tc = checker(env=env)
    assert tc.is_def_eq(stuck_prop.FIRST, stuck_prop.SECOND) and tc.is_def_eq(stuck_prop.SECOND, stuck_prop.THIRD)
    assert not tc.is_def_eq(stuck_prop.FIRST, stuck_prop.THIRD)


def test_a_family_in_every_universe_has_no_eta_where_it_is_a_proposition():
    """`Two.{u} : Sort u` with a field in `Sort u` is a structure; its recursor waits for a constructor at `u = 0`."""
    point = mk_pi([b("α", Sort(U))], Sort(U))
    made = mk_pi([b("α", Sort(U)), b("x", var("α"))], call("Box", var("α"), levels=[U]))
    env = prelude().add(inductive("Box", ("u",), 1, point, ("Box.mk", made)))
    assert env["Box"].is_structure and not env["Box"].is_prop and not env["Box.rec"].large
    for level, type_ in ((ZERO, c("True")), (ONE, NAT)):
        box = call("Box", type_, levels=[level])
        s, motive = b("s", box), Lam("_", box, c("True"))
        stuck = call("Box.rec", type_, motive, Lam("x", type_, c("True.intro")), s.fvar, levels=[level])
        tc = checker(s, env=env)
        tc.check(stuck)
        assert (tc.whnf(stuck) is stuck) is (level is ZERO)


@each(
    "value",
    [
        Proj("Pair", 2, var("s")),
        Proj("And", 0, var("s")),
        Proj("Nat", 0, Lit(1)),
        Proj("Or", 0, var("s")),
        Proj("Nothing", 0, var("s")),
        Proj("Pair", 0, Lit(0)),
    ],
)
def test_projections_need_a_field_of_the_right_structure(value):
    with pytest.raises(KernelError):
        checker(b("s", call("Pair", NAT, NAT))).check(value)


# --- numbers


@each(
    "decl",
    [
        inductive("Nat", (), 0, TYPE, ("Nat.zero", NAT)),
        inductive("Nat", (), 0, TYPE, ("Nat.succ", arrow(NAT, NAT)), ("Nat.zero", NAT)),
        inductive("Nat", (), 0, PROP, ("Nat.zero", NAT), ("Nat.succ", arrow(NAT, NAT))),
        inductive("Nat", (), 0, TYPE, ("Nat.zero", NAT), ("Nat.succ", arrow(NAT, NAT)), ("Nat.omega", NAT)),
        inductive("Nat", ("u",), 0, TYPE, ("Nat.zero", NAT), ("Nat.succ", arrow(NAT, NAT))),
        inductive("Bool", (), 0, TYPE, ("Bool.true", BOOL), ("Bool.false", BOOL)),
    ],
)
def test_the_types_that_the_kernel_computes_with_cannot_be_others(decl):
    refuses(decl, "exactly the constructors", Environment())


def test_literals_need_the_natural_numbers():
    refuses(DefDecl("attack", (), NAT, Lit(0)), "unknown constant", Environment())
    fake = Environment().add_unchecked([AxiomInfo("Nat", (), TYPE)])
    refuses(DefDecl("attack", (), NAT, Lit(0)), "needs Nat", fake)


ONLY_NAT = Environment().add(nat_decl()).add(bool_decl())


@each(
    "decl",
    [
        recursive_def("Nat.add", n, var("ih")),
        recursive_def("Nat.add", Lit(0), succ(var("ih"))),
        DefDecl("Nat.add", (), NAT2, mk_lambda([N, M], n)),
        DefDecl("Nat.add", (), arrow(NAT, NAT), mk_lambda([N], n)),
        recursive_def("Nat.mul", Lit(0), succ(var("ih"))),
        recursive_def("Nat.pow", Lit(1), succ(var("ih"))),
        recursive_def("Nat.sub", n, nat_rec(NAT, Lit(0), mk_lambda([M, b("i", NAT)], m), var("ih"))),
        comparison("Nat.beq", c("Bool.true")),
        comparison("Nat.ble", c("Bool.false")),
    ],
)
def test_operations_with_the_wrong_equations_are_refused(decl):
    refuses(decl, "reserved", ONLY_NAT)


def test_multiplication_over_a_postulated_addition_is_refused():
    env = ONLY_NAT.add_unchecked([AxiomInfo("Nat.add", (), NAT2)])
    refuses(recursive_def("Nat.mul", Lit(0), add(var("ih"), n)), "Nat.add is missing", env)


@each("name", sorted(COMPUTED_NAMES))
def test_what_lean_computes_by_name_cannot_be_postulated_or_be_something_else(name):
    """Lean's kernel alone computes `Nat.land 5 3`, whatever `Nat.land` is declared to be."""
    env = ONLY_NAT if name.startswith("Nat.") and name not in ONLY_NAT else Environment()
    type_ = NAT2 if env is ONLY_NAT else TYPE
    value = mk_lambda([N, M], n) if env is ONLY_NAT else PROP
    for decl in (AxiomDecl(name, (), type_), OpaqueDecl(name, (), type_, value), DefDecl(name, (), type_, value)):
        refuses(decl, "reserved", env)


@pytest.mark.parametrize(
    "decl",
    [
        AxiomInfo("Nat.add", (), NAT2),
        OpaqueInfo("Nat.add", (), NAT2, mk_lambda([N, M], Lit(0))),
        AxiomInfo("Nat.add", (), NAT_TO_BOOL),
        None,
    ],
)
def test_offsets_are_not_written_with_an_addition_that_is_none(decl):
    """`n + 4` against `Nat.add n 2` plus 2, where `Nat.add` has nothing to do with addition."""
    env = ONLY_NAT if decl is None else ONLY_NAT.add_unchecked([decl])
    four, other = n, b("k", NAT)
    for _ in range(4):
        four = succ(four)
    tc = checker(N, other, env=env)
    assert not tc.is_def_eq(four, succ(succ(other.fvar)))
    assert tc.is_def_eq(succ(succ(four)), succ(succ(App(Lam("x", NAT, BVar(0)), four))))
    if decl is not None and decl.type is NAT2:
        assert not tc.is_def_eq(four, succ(succ(add(n, Lit(2)))))


def test_literals_of_different_value_are_not_equal_however_they_are_written():
    tc = checker(N)
    for left, right in [
        (Lit(2), succ(c("Nat.zero"))),
        (succ(Lit(4)), Lit(4)),
        (add(n, Lit(2)), add(n, Lit(3))),
        (call("Nat.sub", Lit(2), Lit(3)), Lit(1)),
        (call("Nat.pow", Lit(0), Lit(0)), Lit(0)),
    ]:
        assert not tc.is_def_eq(left, right)


LARGE = Lit(3**300_000)


@pytest.mark.parametrize("name", ["Nat.gcd", "Nat.div", "Nat.mod"])
def test_division_of_huge_numbers_is_paid_for_before_it_is_computed(name):
    steps: list[int] = []
    value = compute(name, LARGE.value, 7**100_000, steps.append)
    assert value is not None and sum(steps) > 100_000
    assert compute(name, 10**9, 10**6, steps.append) is not None and steps[-1] == 0

    def stop(steps: int) -> None:
        raise BudgetExceeded

    with pytest.raises(BudgetExceeded):
        compute(name, LARGE.value, 7**100_000, stop)


def test_a_budget_ends_a_chain_of_divisions():
    e: Expr = Lit(0)
    for i in range(20):
        e = add(e, call("Nat.gcd", LARGE, Lit(7**100_000 + i)))
    tc = TypeChecker(base().env, budget=1_000_000)
    with pytest.raises(BudgetExceeded):
        tc.whnf(e)


@pytest.mark.parametrize(("base", "exponent"), [(0, 2**32), (1, 2**32), (2, 2**24 + 1), (10**1000, 10**4)])
def test_powers_with_huge_exponents_or_values_are_not_computed(base, exponent):
    with pytest.raises(BudgetExceeded, match="too large"):
        checker().whnf(call("Nat.pow", Lit(base), Lit(exponent)))


@pytest.mark.parametrize(("base", "exponent"), [(0, 2**24 + 1), (1, 2**32 - 1), (2, 2**24), (16, 2**22), (3, 2**20)])
def test_powers_are_computed_as_far_as_lean_computes_them(base, exponent):
    value = base if base < 2 else base**exponent
    assert checker().whnf(call("Nat.pow", Lit(base), Lit(exponent))) is Lit(value)


def test_a_bomb_of_a_power_ends_with_a_typed_error():
    tower: Expr = Lit(9)
    for _ in range(4):
        tower = call("Nat.pow", Lit(9), tower)
    with pytest.raises(BudgetExceeded):
        prelude().add(TheoremDecl("attack", (), eq(NAT, tower, Lit(1)), refl(NAT, Lit(1))), budget=100_000)


# --- axioms


def test_axioms_are_followed_through_everything_that_a_theorem_mentions():
    env = prelude().add(AxiomDecl("cheat", (), FALSE)).add(AxiomDecl("choice", (), NAT))
    env = env.add(DefDecl("d", (), arrow(NAT, FALSE), mk_lambda([N], c("cheat"))))
    env = env.add(TheoremDecl("lemma", (), FALSE, App(c("d"), c("choice"))))
    env = env.add(TheoremDecl("top", (), FALSE, Let("h", FALSE, c("lemma"), BVar(0))))
    assert axioms_of(env, "top") == {"cheat", "choice"}
    assert axioms_of(env, "Nat.add") == set()


def test_an_axiom_in_a_statement_a_constructor_or_an_opaque_value_is_found():
    env = prelude().add(AxiomDecl("cheat", (), FALSE)).add(AxiomDecl("P", (), PROP))
    env = env.add(inductive("Box", (), 0, PROP, ("Box.mk", arrow(c("P"), c("Box")))))
    env = env.add(OpaqueDecl("o", (), FALSE, c("cheat")))
    env = env.add(TheoremDecl("t", (), arrow(c("Box"), c("Box")), mk_lambda([b("x", c("Box"))], var("x"))))
    env = env.add(TheoremDecl("t2", (), FALSE, c("o")))
    assert axioms_of(env, "t") == axioms_of(env, "Box.rec") == axioms_of(env, "Box") == {"P"}
    assert axioms_of(env, "t2") == {"cheat"}
    assert axioms_of(env, "cheat") == {"cheat"}


def test_axioms_of_an_unknown_constant_are_refused():
    with pytest.raises(KernelError, match="unknown constant"):
        axioms_of(prelude(), "nothing")


def test_an_axiom_must_be_a_type():
    refuses(AxiomDecl("attack", (), Lit(0)), "type is expected")


# --- quotients and storage


def test_quotients_need_the_true_equality():
    refuses(QuotDecl(), "Eq", Environment())
    alpha = b("α", Sort(U))
    type_ = mk_pi([alpha], arrow(alpha.fvar, arrow(alpha.fvar, PROP)))
    two = [b("a", alpha.fvar), b("b", alpha.fvar)]
    ctor = mk_pi([alpha, *two], call("Eq", alpha.fvar, var("a"), var("b"), levels=[U]))
    fake = Environment().add(inductive("Eq", ("u",), 3, type_, ("Eq.refl", ctor)))
    refuses(QuotDecl(), "Eq", fake)
    refuses(QuotDecl(), "already", prelude().add(QuotDecl()))


def test_a_stored_environment_comes_back_with_the_same_constants():
    env = prelude().add(QuotDecl()).add(AxiomDecl("ax", ("u",), Sort(U)))
    again = Environment().add_unchecked(decode(encode(env)))
    assert again.names() == env.names()
    for info in env:
        twin = again[info.name]
        assert twin.kind == info.kind and twin.type is info.type and twin.level_params == info.level_params
        assert {k: v for k, v in vars(twin).items() if k[0] != "_"}.items() <= vars(info).items()
    assert checker(env=again).whnf(add(Lit(2), Lit(2))) is Lit(4)


def test_terms_with_forged_parts_do_not_check():
    for forged in (Const("Nat.zero", (LParam("x"),)), App(NAT, NAT), Proj("", 0, NAT)):
        with pytest.raises(KernelError):
            prelude().add(DefDecl("attack", (), NAT, forged))
