"""Terms and levels of the kernel: interning, binding, substitution, and the order of universes."""

import gc
import itertools
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanolean.kernel.budget import BudgetExceeded
from nanolean.kernel.expr import (
    PROP,
    App,
    BVar,
    Const,
    Expr,
    FVar,
    Lam,
    Let,
    Lit,
    Local,
    MVar,
    Pi,
    Proj,
    Sort,
    abstract,
    alpha_eq,
    arrow,
    collect_consts,
    collect_fvars,
    collect_level_params_of,
    collect_mvars,
    erase,
    get_app_args,
    get_app_fn,
    has_loose_bvar,
    instantiate,
    instantiate_level_params,
    instantiate_rev,
    is_arrow,
    lift,
    mk_app,
    mk_lambda,
    mk_pi,
    node_count,
    replace,
    sweep,
)
from nanolean.kernel.level import (
    ONE,
    ZERO,
    IMax,
    Level,
    LMVar,
    LParam,
    Max,
    Succ,
    Zero,
    always_equal,
    always_leq,
    equiv,
    instantiate_level,
    leq,
    show_level,
    simplify,
)

NAT = Const("Nat")
X, Y, Z = FVar("x"), FVar("y"), FVar("z")

level_terms = st.recursive(
    st.sampled_from([ZERO, LParam("u"), LParam("v")]),
    lambda inner: st.one_of(st.builds(Succ, inner), st.builds(Max, inner, inner), st.builds(IMax, inner, inner)),
    max_leaves=6,
)
names = st.sampled_from(["a", "b"])
closed_terms = st.recursive(
    st.sampled_from([X, Y, Z, NAT, MVar("m"), Lit(3), PROP, Sort(LParam("u")), Const("c", (LParam("v"),))]),
    lambda inner: st.one_of(
        st.builds(App, inner, inner),
        st.builds(lambda name, t, e, v: Lam(name, t, abstract(e, [v])), names, inner, inner, st.sampled_from([X, Y])),
        st.builds(lambda name, t, e, v: Pi(name, t, abstract(e, [v])), names, inner, inner, st.sampled_from([X, Y])),
        st.builds(lambda t, v, e: Let("l", t, v, abstract(e, [X])), inner, inner, inner),
        st.builds(lambda e: Proj("S", 0, e), inner),
    ),
    max_leaves=12,
)


def rebuilt(e: Expr) -> Expr:
    """The same term made again from its parts."""
    fields = [getattr(e, name) for name in e.__match_args__]
    return e.__class__(*[rebuilt(field) if isinstance(field, Expr) else field for field in fields])


def value_of(level: Level, values: dict[str, int]) -> int:
    match level:
        case Zero():
            return 0
        case Succ(of):
            return value_of(of, values) + 1
        case Max(left, right):
            return max(value_of(left, values), value_of(right, values))
        case IMax(left, right):
            bound = value_of(right, values)
            return max(value_of(left, values), bound) if bound else 0
        case LParam(name):
            return values[name]
    raise AssertionError(level)


GRID = [{"u": u, "v": v} for u, v in itertools.product(range(9), repeat=2)]


@given(closed_terms)
def test_equal_terms_are_the_same_object(e):
    assert rebuilt(e) is e


@given(closed_terms)
def test_pickled_terms_come_back_as_the_same_object(e):
    assert pickle.loads(pickle.dumps(e)) is e


@given(closed_terms)
def test_instantiating_an_abstracted_term_gives_it_back(e):
    variables = [X, Y, Z]
    bound = abstract(e, variables)
    assert not collect_fvars(bound)
    assert instantiate_rev(bound, variables) is e
    assert instantiate(bound, Z, Y, X) is e


@given(closed_terms, closed_terms)
def test_substitution_one_by_one_equals_substitution_at_once(e, value):
    bound = abstract(e, [X, Y])
    assert instantiate(instantiate(bound, value), X) is instantiate(bound, value, X)


@given(closed_terms)
def test_lifting_moves_loose_indices_and_nothing_else(e):
    bound = abstract(e, [X])
    lifted = lift(bound, 2)
    assert lifted.loose == (bound.loose + 2 if bound.loose else 0)
    assert instantiate(lifted, Y, Z, X) is e


@given(closed_terms)
def test_cached_flags_say_what_occurs(e):
    assert e.loose == 0
    assert e.has_fvar == bool(collect_fvars(e))
    assert e.has_mvar == bool(collect_mvars(e))
    assert e.has_lparam == bool(collect_level_params_of(e))


@given(closed_terms)
def test_binder_names_and_infos_do_not_matter_for_alpha_equality(e):
    def renamed(e: Expr) -> Expr:
        match e:
            case Lam(_, type_, body, _) | Pi(_, type_, body, _):
                return e.__class__("other", renamed(type_), renamed(body), "implicit")
            case App(fn, arg):
                return App(renamed(fn), renamed(arg))
        return e

    assert alpha_eq(renamed(e), e)
    assert erase(erase(e)) is erase(e)


def test_different_terms_are_not_alpha_equal():
    assert not alpha_eq(Lam("x", NAT, BVar(0)), Lam("x", PROP, BVar(0)))
    assert not alpha_eq(Lam("x", NAT, NAT), Pi("x", NAT, NAT))


def test_instantiation_lifts_values_that_go_under_binders():
    body = Lam("y", NAT, App(BVar(1), BVar(0)))
    assert instantiate(body, BVar(5)) is Lam("y", NAT, App(BVar(6), BVar(0)))


def test_telescopes_bind_from_the_outside_in():
    x, y = Local(X, "x", NAT), Local(Y, "y", App(Const("P"), X), "implicit")
    assert mk_pi([x, y], App(X, Y)) is Pi(
        "x", NAT, Pi("y", App(Const("P"), BVar(0)), App(BVar(1), BVar(0)), "implicit")
    )
    assert mk_lambda([x], X) is Lam("x", NAT, BVar(0))


def test_a_local_with_a_value_is_bound_by_let():
    assert mk_lambda([Local(X, "x", NAT, value=Lit(2))], X) is Let("x", NAT, Lit(2), BVar(0))


def test_arrows_are_function_types_without_dependency():
    assert is_arrow(arrow(NAT, arrow(NAT, NAT)))
    assert not is_arrow(Pi("x", NAT, App(Const("P"), BVar(0))))
    assert has_loose_bvar(App(BVar(2), BVar(0)), 2) and not has_loose_bvar(App(BVar(2), BVar(0)), 1)


def test_spines_are_taken_apart_and_put_together():
    e = mk_app(NAT, X, Y, Z)
    assert get_app_fn(e) is NAT
    assert get_app_args(e) == [X, Y, Z]


def test_metavariables_can_be_abstracted_too():
    assert abstract(App(MVar("m"), X), [X, MVar("m")]) is App(BVar(0), BVar(1))


def test_replace_goes_into_terms_from_the_top():
    e = App(App(NAT, X), Lam("y", X, BVar(0)))
    assert replace(e, lambda node: Y if node is X else None) is App(App(NAT, Y), Lam("y", Y, BVar(0)))
    assert collect_consts(App(e, Proj("S", 1, X))) == {"Nat", "S"}


def test_universe_parameters_are_instantiated_in_sorts_and_constants():
    e = App(Sort(Max(LParam("u"), LParam("v"))), Const("c", (LParam("u"),)))
    assert instantiate_level_params(e, ["u", "v"], [ONE, ZERO]) is App(Sort(ONE), Const("c", (ONE,)))


def test_shared_terms_cost_as_much_as_their_distinct_nodes():
    e: Expr = X
    for _ in range(300):
        e = App(e, e)
    bound = abstract(e, [X])
    assert instantiate(bound, Y) is replace(e, lambda node: Y if node is X else None)


@pytest.mark.parametrize("wrap", [lambda e: App(NAT, e), lambda e: App(e, NAT), lambda e: Lam("x", NAT, e)])
def test_deep_terms_are_walked_or_refused_with_a_typed_error(wrap):
    e: Expr = X
    for _ in range(20_000):
        e = wrap(e)
    assert instantiate_rev(abstract(e, [X]), [X]) is e
    for _ in range(60_000):
        e = wrap(e)
    with pytest.raises(BudgetExceeded):
        abstract(e, [X])


def test_sweeping_drops_what_nobody_holds_and_keeps_the_rest():
    kept = mk_app(Const("sweep.kept"), Lit(987654321))
    sweep()
    before = node_count()
    dropped = mk_app(Const("sweep.dropped"), Lit(123456789), Lam("q", NAT, App(BVar(0), Lit(55555))))
    erase(dropped)
    assert node_count() > before
    del dropped
    gc.collect()
    sweep()
    assert node_count() <= before
    assert mk_app(Const("sweep.kept"), Lit(987654321)) is kept


@pytest.mark.parametrize("value", [-1, 17.5, "1", None])
def test_literals_are_natural_numbers(value):
    with pytest.raises(ValueError):
        Lit(value)


@pytest.mark.parametrize("idx", [-1, 17.5, "1", None])
def test_indices_are_natural_numbers(idx):
    with pytest.raises(ValueError):
        BVar(idx)
    with pytest.raises(ValueError):
        Proj("indices", idx, X)


def test_numbers_of_other_types_never_get_into_a_term():
    for make in (lambda: Lit(True).value, lambda: BVar(True).idx, lambda: Proj("other", True, X).idx):
        try:
            assert make().__class__ is int
        except ValueError:
            continue


@given(level_terms, level_terms)
def test_the_order_of_levels_is_that_of_their_values(left, right):
    below = all(value_of(left, values) <= value_of(right, values) for values in GRID)
    assert always_leq(left, right) == below
    assert below or not leq(left, right)


@given(level_terms)
def test_normal_forms_have_the_same_value(level):
    normal = simplify(level)
    assert all(value_of(level, values) == value_of(normal, values) for values in GRID)
    assert always_equal(level, normal)


@given(level_terms, level_terms)
def test_levels_that_lean_finds_equal_have_the_same_value(left, right):
    same = all(value_of(left, values) == value_of(right, values) for values in GRID)
    assert same or not equiv(left, right)


@given(level_terms, level_terms)
def test_instantiating_a_level_substitutes_values(level, value):
    result = instantiate_level(level, ["u"], [value])
    for values in GRID:
        assert value_of(result, values) == value_of(level, {**values, "u": value_of(value, values)})


def test_levels_are_shown_as_lean_writes_them():
    assert show_level(Max(LParam("u"), Succ(LParam("v")))) == "max u (v+1)"
    assert show_level(Succ(Succ(ZERO))) == "2"
    assert show_level(IMax(LMVar("a"), ONE)) == "imax ?a 1"
