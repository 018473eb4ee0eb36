"""Definitional equality and computation: what is equal, what is not, and that neither costs too much."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanolean.kernel.budget import BudgetExceeded
from nanolean.kernel.env import AxiomDecl, DefDecl, OpaqueDecl, QuotDecl, TheoremDecl
from nanolean.kernel.expr import (
    PROP,
    TYPE,
    App,
    BVar,
    Expr,
    Lam,
    Let,
    Lit,
    Local,
    Proj,
    arrow,
    get_app_fn_args,
    mk_app,
    mk_lambda,
    mk_pi,
)
from nanolean.kernel.level import ONE, ZERO, LParam, Max
from nanolean.kernel.node import Sort
from nanolean.kernel.reduce import NAT_FUNCTIONS, beta, fold_nat, reduce_head, unfold_app
from nanolean.tests.each import each
from nanolean.tests.kernel_prelude import (
    BOOL,
    NAT,
    M,
    N,
    add,
    b,
    bool_rec,
    c,
    call,
    checker,
    eq,
    m,
    n,
    nat_rec,
    prelude,
    refl,
    succ,
    var,
)

F = b("f", arrow(NAT, NAT))
S = b("s", call("Pair", NAT, NAT))
P, Q = b("p", PROP), b("q", PROP)
small = st.integers(0, 40)


def equal(left: Expr, right: Expr, *variables: Local) -> bool:
    tc = checker(*variables)
    tc.check(left)
    tc.check(right)
    return tc.is_def_eq(left, right)


def test_beta_contracts_applications_of_functions():
    assert equal(App(Lam("x", NAT, succ(BVar(0))), n), succ(n), N)


def test_zeta_replaces_local_definitions():
    assert equal(Let("x", NAT, Lit(2), add(BVar(0), BVar(0))), Lit(4))


def test_delta_unfolds_definitions_and_theorems_but_not_opaque_constants():
    env = prelude()
    both = call("And", c("True"), c("True"))
    proof = call("And.intro", c("True"), c("True"), c("True.intro"), c("True.intro"))
    env = env.add(DefDecl("two", (), NAT, Lit(2))).add(OpaqueDecl("hidden", (), NAT, Lit(2)))
    env = env.add(TheoremDecl("known", (), both, proof)).add(OpaqueDecl("secret", (), both, proof))
    tc = checker(env=env)
    assert tc.whnf(c("two")) is Lit(2)
    assert tc.whnf(c("hidden")) is c("hidden")
    assert not tc.is_def_eq(c("hidden"), Lit(2))

    def three_from(proof: Expr) -> Expr:
        motive, minor = Lam("h", both, NAT), Lam("a", c("True"), Lam("b", c("True"), Lit(3)))
        return call("And.rec", c("True"), c("True"), motive, minor, proof, levels=(ONE,))

    assert tc.is_def_eq(three_from(c("known")), Lit(3))
    assert not tc.is_def_eq(three_from(c("secret")), Lit(3))


def test_variables_with_a_value_are_replaced_by_it():
    tc = checker(Local(var("x"), "x", NAT, value=Lit(3)))
    assert tc.is_def_eq(add(var("x"), Lit(1)), Lit(4))


def test_eta_for_functions():
    assert equal(Lam("x", NAT, App(F.fvar, BVar(0))), F.fvar, F)
    assert not equal(Lam("x", NAT, App(F.fvar, succ(BVar(0)))), F.fvar, F)


def test_eta_for_structures():
    s = S.fvar
    assert equal(call("Pair.mk", NAT, NAT, Proj("Pair", 0, s), Proj("Pair", 1, s)), s, S)
    assert not equal(call("Pair.mk", NAT, NAT, Proj("Pair", 1, s), Proj("Pair", 0, s)), s, S)


def test_projections_take_fields():
    pair = call("Pair.mk", NAT, NAT, Lit(1), Lit(2))
    assert equal(Proj("Pair", 0, pair), Lit(1))
    assert equal(Proj("Pair", 1, pair), Lit(2))


def test_recursors_of_structures_compute_on_any_element():
    swapped = call(
        "Pair.rec",
        NAT,
        NAT,
        Lam("_", S.type, NAT),
        mk_lambda([b("a", NAT), b("b", NAT)], var("b")),
        S.fvar,
        levels=[ONE],
    )
    assert equal(swapped, Proj("Pair", 1, S.fvar), S)


def test_elements_of_a_structure_without_fields_are_equal():
    assert equal(var("x"), var("y"), b("x", c("Unit")), b("y", c("Unit")))
    assert not equal(var("x"), var("y"), b("x", BOOL), b("y", BOOL))


def test_proofs_of_one_proposition_are_equal_and_of_two_are_not():
    assert equal(var("h"), var("k"), P, b("h", P.fvar), b("k", P.fvar))
    assert not equal(var("h"), var("k"), P, Q, b("h", P.fvar), b("k", Q.fvar))


def test_propositions_are_not_equal_because_they_are_provable():
    assert not equal(P.fvar, Q.fvar, P, Q)
    assert not equal(c("True"), eq(NAT, n, n), N)


def test_transport_along_a_proof_between_equal_sides_computes():
    h = b("h", eq(NAT, add(n, Lit(1)), succ(n)))
    motive = mk_lambda([b("k", NAT), b("t", eq(NAT, add(n, Lit(1)), var("k")))], NAT)
    moved = call("Eq.rec", NAT, add(n, Lit(1)), motive, Lit(7), succ(n), h.fvar, levels=[ONE, ONE])
    assert equal(moved, Lit(7), N, h)


def test_transport_along_a_proof_between_different_sides_is_stuck():
    h = b("h", eq(NAT, n, m))
    motive = mk_lambda([b("k", NAT), b("t", eq(NAT, n, var("k")))], NAT)
    moved = call("Eq.rec", NAT, n, motive, Lit(7), m, h.fvar, levels=[ONE, ONE])
    assert not equal(moved, Lit(7), N, M, h)


def test_universes_are_compared_by_value():
    u, v = LParam("u"), LParam("v")
    assert checker().is_def_eq(Sort(Max(u, v)), Sort(Max(v, u)))
    assert not checker().is_def_eq(Sort(u), Sort(v))


@each(
    ("left", "right", "expected"),
    [
        (Lit(0), c("Nat.zero"), True),
        (Lit(1), c("Nat.zero"), False),
        (Lit(3), succ(Lit(2)), True),
        (Lit(3), succ(succ(n)), False),
        (add(n, Lit(3)), succ(add(n, Lit(2))), True),
        (add(n, Lit(3)), add(Lit(3), n), False),
        (add(n, c("Nat.zero")), n, True),
        (add(Lit(0), n), n, False),
        (call("Nat.mul", n, Lit(2)), add(add(Lit(0), n), n), True),
        (call("Nat.ble", Lit(2), Lit(3)), c("Bool.true"), True),
        (call("Nat.beq", succ(n), succ(n)), call("Nat.beq", n, n), True),
        (call("Nat.beq", n, n), c("Bool.true"), False),
        (bool_rec(NAT, Lit(1), Lit(2), call("Nat.beq", Lit(4), Lit(4))), Lit(2), True),
        (nat_rec(NAT, Lit(1), mk_lambda([M, b("ih", NAT)], m), Lit(1000)), Lit(999), True),
    ],
)
def test_numbers(left, right, expected):
    assert equal(left, right, N) is expected
    assert equal(right, left, N) is expected


@settings(max_examples=60)
@given(st.sampled_from(["Nat.add", "Nat.mul", "Nat.sub", "Nat.beq", "Nat.ble"]), st.integers(0, 9), st.integers(0, 9))
def test_arithmetic_on_literals_agrees_with_the_definitions(name, left, right):
    """The same operation once on literals, once on numerals that hide in variables with values."""
    direct = checker().whnf(call(name, Lit(left), Lit(right)))
    hidden = checker(Local(var("x"), "x", NAT, value=Lit(left)), Local(var("y"), "y", NAT, value=Lit(right)))
    assert hidden.is_def_eq(call(name, var("x"), var("y")), direct)


@given(small, small)
def test_literals_are_computed_with_numbers(left, right):
    for name in ("Nat.add", "Nat.mul", "Nat.sub", "Nat.pow"):
        assert checker().whnf(call(name, Lit(left), Lit(right))) is Lit(NAT_FUNCTIONS[name](left, right))


def test_large_literals_are_quick():
    big = 10**30
    assert equal(call("Nat.mul", Lit(big), Lit(big)), Lit(big * big))
    assert equal(add(n, Lit(big)), succ(add(n, Lit(big - 1))), N)
    assert not equal(add(n, Lit(big)), add(n, Lit(big - 1)), N)
    assert not equal(add(n, Lit(big)), Lit(big - 1), N)


def test_a_huge_power_is_not_computed():
    tc = checker(budget=2_000)
    with pytest.raises(BudgetExceeded):
        tc.is_def_eq(call("Nat.pow", Lit(3), Lit(10**12)), Lit(5))


def test_definitions_are_unfolded_from_the_top_so_that_equal_arguments_are_seen():
    env = prelude()
    env = env.add(DefDecl("f0", (), arrow(NAT, NAT), Lam("x", NAT, call("Nat.pow", BVar(0), BVar(0)))))
    for i in range(30):
        body = add(call(f"f{i}", BVar(0)), call(f"f{i}", BVar(0)))
        env = env.add(DefDecl(f"f{i + 1}", (), arrow(NAT, NAT), Lam("x", NAT, body)))
    assert env["f30"].height == 34
    tc = checker(N, env=env, budget=3_000)
    assert tc.is_def_eq(call("f30", App(Lam("x", NAT, BVar(0)), n)), call("f30", n))
    unfolded = add(call("f29", n), call("f29", n))
    assert tc.is_def_eq(call("f30", n), unfolded)


def test_exponentially_large_shared_terms_are_checked_in_linear_steps():
    e: Expr = n
    for _ in range(200):
        e = add(e, e)
    tc = checker(N, budget=3_000)
    assert tc.check(e) is NAT
    other: Expr = App(Lam("x", NAT, BVar(0)), n)
    for _ in range(200):
        other = add(other, other)
    assert tc.is_def_eq(e, other)


def test_exponentially_large_types_of_nested_pairs_stay_shared():
    value: Expr = Lit(0)
    type_: Expr = NAT
    for _ in range(60):
        value, type_ = call("Pair.mk", type_, type_, value, value), call("Pair", type_, type_)
    tc = checker(budget=5_000)
    assert tc.is_def_eq(tc.check(value), type_)


def test_nested_lets_do_not_blow_up():
    e: Expr = add(BVar(0), BVar(0))
    for _ in range(60):
        e = Let("x", NAT, add(BVar(0), BVar(0)), e)
    e = Let("x", NAT, Lit(1), e)
    tc = checker(budget=20_000)
    assert tc.check(e) is NAT
    assert tc.whnf(e) is Lit(2**61)


def test_a_proof_of_two_hundred_steps_is_checked_within_a_small_budget():
    """`n + 1 + 1 ... = succ (...)` by a chain of rewrites with `Eq.rec`."""
    left = n
    proof: Expr = refl(NAT, n)
    for _ in range(60):
        motive = mk_lambda([b("k", NAT), b("t", eq(NAT, n, var("k")))], eq(NAT, left, left))
        proof = call("Eq.rec", NAT, n, motive, refl(NAT, left), n, proof, levels=[ZERO, ONE])
        proof = Let("h", eq(NAT, left, left), proof, refl(NAT, succ(left)))
        left = succ(left)
        proof = App(Lam("_", eq(NAT, left, left), refl(NAT, n)), proof)
    statement = mk_pi([N], eq(NAT, n, n))
    prelude().add(TheoremDecl("t", (), statement, mk_lambda([N], proof)), budget=20_000)


def test_very_deep_terms_end_with_a_typed_error_or_a_type():
    e: Expr = n
    for _ in range(3_000):
        e = succ(e)
    assert checker(N).check(e) is NAT
    for _ in range(150_000):
        e = App(Lam("x", NAT, BVar(0)), e)
    with pytest.raises(BudgetExceeded):
        checker(N, budget=10_000_000).check(e)


def test_long_computations_end_with_a_typed_error():
    slow = nat_rec(NAT, Lit(0), mk_lambda([M, b("ih", NAT)], call("Nat.pred", succ(var("ih")))), Lit(10**9))
    with pytest.raises(BudgetExceeded):
        checker(budget=1_000_000).whnf(slow)


def test_quotients_compute():
    env = prelude().add(QuotDecl())
    relation = mk_lambda([N, M], c("True"))
    made = call("Quot.mk", NAT, relation, Lit(3), levels=[ONE])
    proof = mk_lambda([N, M, b("h", c("True"))], refl(NAT, Lit(1)))
    constant = Lam("x", NAT, Lit(1))
    lifted = call("Quot.lift", NAT, relation, NAT, constant, proof, made, levels=[ONE, ONE])
    tc = checker(env=env)
    assert tc.is_def_eq(tc.check(lifted), NAT)
    assert tc.whnf(lifted) is Lit(1)


def test_single_steps_are_available_with_the_callers_own_rules():
    env = prelude()
    tc = checker(N)
    assert beta(Lam("x", NAT, Lam("y", NAT, BVar(1))), [Lit(1), Lit(2)]) is Lit(1)
    assert beta(Lam("x", TYPE, BVar(0)), [NAT]) is NAT
    assert beta(Lam("f", F.type, App(BVar(0), Lit(1))), [Lam("x", NAT, succ(BVar(0)))]) is not None
    assert fold_nat(env, add(Lit(1), Lit(2)), tc.whnf) is Lit(3)
    assert fold_nat(env, add(n, Lit(2)), tc.whnf) is None
    assert unfold_app(env, n) is None
    step = nat_rec(NAT, Lit(1), mk_lambda([M, b("ih", NAT)], m), Lit(5))
    head, args = get_app_fn_args(step)
    assert reduce_head(env, head, args, tc) is mk_app(args[2], Lit(4), App(step.fn, Lit(4)))


def test_axioms_do_not_compute():
    env = prelude().add(AxiomDecl("k", (), NAT))
    tc = checker(env=env)
    assert tc.whnf(c("k")) is c("k")
    assert not tc.is_def_eq(c("k"), Lit(0))
    assert tc.is_def_eq(add(c("k"), Lit(1)), succ(c("k")))


def test_types_of_functions_and_sorts():
    tc = checker()
    assert tc.check(mk_pi([P], P.fvar)) is PROP
    assert tc.check(arrow(NAT, PROP)) is TYPE
    assert tc.check(TYPE) is Sort(Max(ONE, ONE).left) or tc.sort_of(TYPE) is not ZERO
    assert tc.check(mk_lambda([N], mk_app(c("Nat.succ"), n))) is arrow(NAT, NAT, "n")
