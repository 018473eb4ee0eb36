"""Metavariables and unification: what gets assigned, what is refused, and that failures leave nothing behind."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanolean.elab.api import elab_term
from nanolean.elab.session import Session
from nanolean.kernel.budget import Budget, BudgetExceeded
from nanolean.kernel.expr import (
    PROP,
    TYPE,
    App,
    Const,
    Expr,
    Lam,
    Lit,
    MVar,
    Pi,
    abstract,
    arrow,
    mk_app,
)
from nanolean.kernel.typecheck import TypeChecker
from nanolean.meta.generalize import kabstract
from nanolean.meta.lctx import EMPTY_CONTEXT, LocalContext
from nanolean.meta.mctx import MetaContext
from nanolean.meta.reduce import nat_offset
from nanolean.parser import parse_term
from nanolean.tactic_state import run_block
from nanolean.tests.library import base

NAT = Const("Nat")
ADD = Const("Nat.add")
SUCC = Const("Nat.succ")


class Bench:
    """A metavariable context over the library with some locals."""

    def __init__(self, steps: int = 100_000, **types: Expr) -> None:
        self.mctx = MetaContext(base().env, Budget(steps), base().caches)
        self.lctx = EMPTY_CONTEXT
        for name, type_ in types.items():
            self.add(name, type_)

    def add(self, name: str, type_: Expr, value: Expr | None = None) -> Expr:
        decl = self.mctx.fresh_local(name, type_, value)
        self.lctx = self.lctx.add(decl)
        return decl.fvar

    def __getitem__(self, name: str) -> Expr:
        decl = self.lctx.find(name)
        assert decl is not None
        return decl.fvar

    def hole(self, type_: Expr, lctx: LocalContext | None = None) -> MVar:
        return self.mctx.fresh_mvar(type_, self.lctx if lctx is None else lctx)

    def term(self, text: str) -> Expr:
        session = Session(self.mctx, base(), run_block)
        return elab_term(session, self.lctx, parse_term(text), holes="natural").term


def add(a: Expr, b: Expr) -> Expr:
    return mk_app(ADD, a, b)


def test_a_metavariable_takes_the_other_side():
    bench = Bench(x=NAT)
    hole = bench.hole(NAT)
    assert bench.mctx.is_def_eq(hole, add(bench["x"], Lit(1)))
    assert bench.mctx.instantiate(hole) is add(bench["x"], Lit(1))


def test_first_order_arguments_are_found():
    bench = Bench(x=NAT, y=NAT)
    a, b = bench.hole(NAT), bench.hole(NAT)
    assert bench.mctx.is_def_eq(add(a, b), add(bench["x"], bench["y"]))
    assert bench.mctx.instantiate(a) is bench["x"]
    assert bench.mctx.instantiate(b) is bench["y"]


def test_a_pattern_abstracts_its_variables():
    bench = Bench()
    fn = bench.hole(arrow(NAT, NAT))
    x = bench.mctx.fresh_local("x", NAT).fvar
    assert bench.mctx.is_def_eq(App(fn, x), add(x, x))
    assert bench.mctx.whnf(App(bench.mctx.instantiate(fn), Lit(3))) is Lit(6)


def test_a_pattern_solution_is_eta_reduced():
    bench = Bench(f=arrow(NAT, NAT))
    fn = bench.hole(arrow(NAT, NAT))
    x = bench.mctx.fresh_local("x", NAT).fvar
    assert bench.mctx.is_def_eq(App(fn, x), App(bench["f"], x))
    assert bench.mctx.instantiate(fn) is bench["f"]


def test_a_value_may_not_mention_locals_out_of_scope():
    bench = Bench()
    hole = bench.hole(NAT)
    later = bench.mctx.fresh_local("x", NAT).fvar
    assert not bench.mctx.is_def_eq(hole, later)
    assert not bench.mctx.is_assigned(hole.id)


def test_a_value_may_not_mention_its_own_metavariable():
    bench = Bench()
    hole = bench.hole(NAT)
    assert not bench.mctx.is_def_eq(hole, App(SUCC, hole))


def test_a_wider_metavariable_is_narrowed_to_the_scope_of_the_other():
    bench = Bench()
    narrow = bench.hole(NAT)
    bench.add("x", NAT)
    wide = bench.hole(NAT)
    assert bench.mctx.is_def_eq(narrow, App(SUCC, wide))
    inner = bench.mctx.instantiate(wide)
    assert isinstance(inner, MVar)
    assert len(bench.mctx.decl(inner.id).lctx) == 0


def test_goals_are_not_assigned_by_unification():
    bench = Bench()
    goal = bench.mctx.fresh_mvar(NAT, bench.lctx, "synthetic")
    assert not bench.mctx.is_def_eq(goal, Lit(1))


def test_metavariables_of_an_outer_problem_stay_untouched():
    bench = Bench()
    hole = bench.hole(NAT)
    with bench.mctx.new_depth():
        assert not bench.mctx.is_def_eq(hole, Lit(1))
    assert bench.mctx.is_def_eq(hole, Lit(1))


def test_a_failed_unification_undoes_its_assignments():
    bench = Bench(x=NAT, y=NAT)
    hole = bench.hole(NAT)
    assert not bench.mctx.is_def_eq(add(hole, bench["x"]), add(bench["y"], bench["y"]))
    assert not bench.mctx.is_assigned(hole.id)


def test_running_out_of_steps_undoes_its_assignments():
    bench = Bench(x=NAT)
    hole = bench.hole(NAT)
    big = bench.term("x * 1000 * 1000")
    bench.mctx.budget.left = 3
    with pytest.raises(BudgetExceeded):
        bench.mctx.is_def_eq(add(hole, big), add(Lit(1), App(SUCC, big)))
    assert not bench.mctx.is_assigned(hole.id)


def test_the_type_of_a_value_fixes_metavariables_in_the_type():
    bench = Bench()
    type_ = bench.hole(TYPE)
    hole = bench.hole(type_)
    assert bench.mctx.is_def_eq(hole, Lit(2))
    assert bench.mctx.instantiate(type_) is NAT


@pytest.mark.parametrize(
    ("pattern", "value", "solution"),
    [("?a + 1", "5", 4), ("Nat.succ ?a", "1", 0), ("?a + 2", "x + 3", "x + 1"), ("Nat.succ ?a", "x + 1", "x")],
)
def test_offsets_and_literals_unify(pattern: str, value: str, solution: int | str):
    bench = Bench(x=NAT)
    hole = bench.hole(NAT)
    plus = 2 if "2" in pattern else 1
    left = App(SUCC, hole) if "succ" in pattern else add(hole, Lit(plus))
    assert bench.mctx.is_def_eq(left, bench.term(value))
    expected = Lit(solution) if isinstance(solution, int) else bench.term(solution)
    assert bench.mctx.instantiate(hole) is expected


def test_a_successor_is_never_zero():
    bench = Bench(x=NAT)
    assert not bench.mctx.is_def_eq(App(SUCC, bench["x"]), Lit(0))


def test_recursive_definitions_unfold_to_themselves():
    bench = Bench(n=NAT, m=NAT)
    assert bench.mctx.unfold(add(bench["n"], App(SUCC, bench["m"]))) is App(SUCC, add(bench["n"], bench["m"]))
    assert bench.mctx.unfold(add(bench["n"], bench["m"])) is None


def test_definitions_do_not_unfold_where_only_reducible_ones_may():
    bench = Bench(n=NAT, m=NAT)
    less, at_most = bench.term("n < m"), bench.term("n + 1 ≤ m")
    with bench.mctx.with_transparency("reducible"):
        assert not bench.mctx.is_def_eq(less, at_most)
        assert bench.mctx.is_def_eq(bench.term("m > n"), less)
    assert bench.mctx.is_def_eq(less, at_most)


def test_proofs_of_one_proposition_are_equal():
    bench = Bench(p=PROP)
    a, b = bench.add("a", bench["p"]), bench.add("b", bench["p"])
    assert bench.mctx.is_def_eq(a, b)


def test_functions_are_equal_up_to_eta():
    bench = Bench(f=arrow(NAT, NAT))
    assert bench.mctx.is_def_eq(bench["f"], bench.term("fun x => f x"))


def test_let_locals_are_seen_through():
    bench = Bench()
    x = bench.add("x", NAT, Lit(2))
    assert bench.mctx.is_def_eq(add(x, Lit(1)), Lit(3))


def test_universe_levels_are_found():
    bench = Bench()
    level = bench.mctx.fresh_level()
    assert bench.mctx.is_def_eq(mk_app(Const("Eq", (level,)), NAT), bench.term("@Eq Nat"))


def test_a_goal_under_a_binder_is_filled_in_later():
    bench = Bench()
    x = bench.mctx.fresh_local("x", NAT)
    goal = bench.mctx.fresh_mvar(NAT, bench.lctx.add(x), "synthetic")
    fn = bench.mctx.mk_lambda([x.fvar_id], goal)
    assert bench.mctx.instantiate(fn).has_mvar
    bench.mctx.assign(goal.id, add(x.fvar, Lit(1)))
    assert bench.mctx.instantiate(fn) is Lam("x", NAT, bench.term("fun x => x + 1").body)


def test_a_hole_under_a_binder_may_depend_on_the_bound_variable():
    bench = Bench()
    x = bench.mctx.fresh_local("x", NAT)
    hole = bench.mctx.fresh_mvar(NAT, bench.lctx.add(x))
    fn = bench.mctx.mk_lambda([x.fvar_id], hole)
    assert bench.mctx.is_def_eq(fn, bench.term("fun x => x + 1"))


def test_binding_keeps_dependencies_between_locals():
    bench = Bench(n=NAT)
    h = bench.add("h", bench.term("n = n"))
    pi = bench.mctx.mk_pi([decl.fvar_id for decl in bench.lctx], bench.mctx.infer_type(h))
    assert isinstance(pi, Pi) and isinstance(pi.body, Pi)
    assert not pi.has_fvar


def test_instances_of_a_pattern_are_abstracted_and_fix_it():
    bench = Bench(x=NAT, y=NAT)
    hole = bench.hole(NAT)
    e = bench.term("x + 0 = y + 0 ∧ x + 0 = 3")
    body = kabstract(bench.mctx, e, add(hole, Lit(0)))
    assert bench.mctx.instantiate(hole) is bench["x"]
    assert body.loose == 1
    assert nat_offset(bench.mctx, bench.term("x + 3")) == (bench["x"], 3)


# -- agreement with the kernel ----------------------------------------------------------------------------------------

LEAVES = st.sampled_from(["x", "y", "0", "1", "2", "?a", "?b"])
NUMBERS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["+", "*", "-"]), inner, inner).map(lambda t: f"({t[1]} {t[0]} {t[2]})"),
        inner.map(lambda t: f"(Nat.succ {t})"),
        inner.map(lambda t: f"(f {t})"),
        inner.map(lambda t: f"((fun z => z + {t}) 1)"),
    ),
    max_leaves=6,
)


def _with_holes(bench: Bench, text: str, holes: dict[str, Expr]) -> Expr:
    for name in holes:
        text = text.replace(f"?{name}", f"hole_{name}")
    e = bench.term(text)
    for name, hole in holes.items():
        e = App(Lam("z", NAT, abstract(e, [bench[f"hole_{name}"]])), hole)
    return e


@settings(max_examples=150, deadline=None)
@given(NUMBERS, NUMBERS)
def test_what_unification_calls_equal_is_equal_to_the_kernel(left: str, right: str):
    bench = Bench(x=NAT, y=NAT, f=arrow(NAT, NAT))
    outer = bench.lctx
    bench.add("hole_a", NAT)
    bench.add("hole_b", NAT)
    holes: dict[str, Expr] = {name: bench.hole(NAT, outer) for name in "ab"}
    a, b = _with_holes(bench, left, holes), _with_holes(bench, right, holes)
    if bench.mctx.is_def_eq(a, b):
        zero = {hole.id: Lit(0) for hole in holes.values() if isinstance(hole, MVar)}
        for mvar_id in zero:
            if not bench.mctx.is_assigned(mvar_id):
                bench.mctx.assign(mvar_id, Lit(0))
        a, b = bench.mctx.instantiate(a), bench.mctx.instantiate(b)
        locals_ = {decl.fvar_id: (decl.type, decl.value) for decl in outer}
        assert TypeChecker(base().env, locals_).is_def_eq(a, b)
    else:
        assert not any(bench.mctx.is_assigned(hole.id) for hole in holes.values() if isinstance(hole, MVar))
