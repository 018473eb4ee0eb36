"""Inductive types: the recursors are those that Lean generates, and they compute."""

import pytest

from nanolean.kernel.budget import KernelError
from nanolean.kernel.expr import (
    PROP,
    TYPE,
    App,
    Expr,
    Lam,
    Lit,
    Pi,
    Sort,
    alpha_eq,
    arrow,
    mk_app,
    mk_lambda,
    mk_pi,
)
from nanolean.kernel.level import ONE, ZERO, LParam, Succ
from nanolean.tests.each import each
from nanolean.tests.kernel_prelude import (
    NAT,
    U,
    b,
    c,
    call,
    checker,
    eq,
    imp,
    inductive,
    nat_rec,
    prelude,
    refl,
    succ,
    var,
)

W = LParam("u_1")  # the universe that is eliminated into, where the type itself already has a `u`
A, ALPHA = var("a"), var("α")
MOTIVE = var("motive")


def binders(type_: Expr) -> list[tuple[str, str]]:
    result = []
    while isinstance(type_, Pi):
        result.append((type_.name, type_.info))
        type_ = type_.body
    return result


def rec_type(name: str) -> Expr:
    return prelude()[f"{name}.rec"].type


def test_recursor_of_nat():
    motive = imp("motive", arrow(NAT, Sort(U)))
    step = mk_pi([b("n", NAT), b("n_ih", App(MOTIVE, var("n")))], App(MOTIVE, succ(var("n"))))
    minors = [b("zero", App(MOTIVE, c("Nat.zero"))), b("succ", step)]
    expected = mk_pi([motive, *minors, b("t", NAT)], App(MOTIVE, var("t")))
    assert alpha_eq(rec_type("Nat"), expected)
    assert binders(rec_type("Nat")) == [
        ("motive", "implicit"),
        ("zero", "default"),
        ("succ", "default"),
        ("t", "default"),
    ]


def test_recursor_of_eq():
    index = b("b", ALPHA)
    major = b("t", eq(ALPHA, A, var("b"), U))
    expected = mk_pi(
        [
            imp("α", Sort(U)),
            imp("a", ALPHA),
            imp("motive", mk_pi([index, major], Sort(W))),
            b("refl", mk_app(MOTIVE, A, refl(ALPHA, A, U))),
            imp("b", ALPHA),
            major,
        ],
        mk_app(MOTIVE, var("b"), var("t")),
    )
    assert alpha_eq(rec_type("Eq"), expected)
    assert [info for _, info in binders(rec_type("Eq"))] == ["implicit"] * 3 + ["default", "implicit", "default"]
    assert prelude()["Eq.rec"].level_params == ("u_1", "u")


def test_recursor_of_and_makes_data():
    made = call("And.intro", A, var("b"), var("left"), var("right"))
    expected = mk_pi(
        [
            b("a", PROP),
            b("b", PROP),
            b("motive", arrow(call("And", A, var("b")), Sort(U))),
            b("intro", mk_pi([b("left", A), b("right", var("b"))], App(MOTIVE, made))),
            b("t", call("And", A, var("b"))),
        ],
        App(MOTIVE, var("t")),
    )
    assert alpha_eq(rec_type("And"), expected)


def test_recursor_of_or_makes_only_proofs():
    either = call("Or", A, var("b"))
    expected = mk_pi(
        [
            b("a", PROP),
            b("b", PROP),
            b("motive", arrow(either, PROP)),
            b("inl", mk_pi([b("h", A)], App(MOTIVE, call("Or.inl", A, var("b"), var("h"))))),
            b("inr", mk_pi([b("h", var("b"))], App(MOTIVE, call("Or.inr", A, var("b"), var("h"))))),
            b("t", either),
        ],
        App(MOTIVE, var("t")),
    )
    assert alpha_eq(rec_type("Or"), expected)
    assert prelude()["Or.rec"].level_params == ()


def test_recursor_of_exists_makes_only_proofs():
    p = var("p")
    exists = call("Exists", ALPHA, p, levels=[U])
    made = call("Exists.intro", ALPHA, p, var("w"), var("h"), levels=[U])
    expected = mk_pi(
        [
            b("α", Sort(U)),
            b("p", arrow(ALPHA, PROP)),
            b("motive", arrow(exists, PROP)),
            b("intro", mk_pi([b("w", ALPHA), b("h", App(p, var("w")))], App(MOTIVE, made))),
            b("t", exists),
        ],
        App(MOTIVE, var("t")),
    )
    assert alpha_eq(rec_type("Exists"), expected)
    assert prelude()["Exists.rec"].level_params == ("u",)


def test_recursor_of_list():
    lists = call("List", ALPHA, levels=[U])
    cons = call("List.cons", ALPHA, var("head"), var("tail"), levels=[U])
    fields = [b("head", ALPHA), b("tail", lists), b("tail_ih", App(MOTIVE, var("tail")))]
    expected = mk_pi(
        [
            b("α", Sort(Succ(U))),
            b("motive", arrow(lists, Sort(W))),
            b("nil", App(MOTIVE, call("List.nil", ALPHA, levels=[U]))),
            b("cons", mk_pi(fields, App(MOTIVE, cons))),
            b("t", lists),
        ],
        App(MOTIVE, var("t")),
    )
    assert alpha_eq(rec_type("List"), expected)


def test_recursor_of_le_follows_its_index():
    n, m, k = var("n"), var("m"), var("k")
    step = mk_pi(
        [
            imp("m", NAT),
            b("a", call("Nat.le", n, m)),
            b("a_ih", mk_app(MOTIVE, m, var("a"))),
        ],
        mk_app(MOTIVE, succ(m), call("Nat.le.step", n, m, var("a"))),
    )
    expected = mk_pi(
        [
            imp("n", NAT),
            imp("motive", mk_pi([b("k", NAT), b("t", call("Nat.le", n, k))], PROP)),
            b("refl", mk_app(MOTIVE, n, call("Nat.le.refl", n))),
            b("step", step),
            imp("k", NAT),
            b("t", call("Nat.le", n, k)),
        ],
        mk_app(MOTIVE, k, var("t")),
    )
    assert alpha_eq(rec_type("Nat.le"), expected)
    assert binders(rec_type("Nat.le").body.body.body.type) == [("m", "implicit"), ("a", "default"), ("a_ih", "default")]


def test_recursor_of_false_has_an_explicit_motive():
    assert binders(rec_type("False")) == [("motive", "default"), ("t", "default")]


def test_every_recursor_has_a_type_that_checks():
    for info in prelude():
        checker().sort_of(info.type, check=True)


@each(
    ("name", "k", "structure"),
    [
        ("Eq", True, False),
        ("True", True, True),
        ("And", False, True),
        ("Exists", False, True),
        ("Or", False, False),
        ("Nat.le", False, False),
        ("Pair", False, True),
        ("Unit", False, True),
        ("List", False, False),
    ],
)
def test_which_types_are_structures_and_which_recursors_ignore_their_proof(name, k, structure):
    assert prelude()[f"{name}.rec"].k is k
    assert prelude()[name].is_structure is structure


def test_functions_into_the_type_may_be_fields_and_give_hypotheses():
    tree = c("Tree")
    env = prelude().add(
        inductive("Tree", (), 0, TYPE, ("Tree.leaf", tree), ("Tree.node", arrow(arrow(NAT, tree, "i"), tree, "kids")))
    )
    rec = env["Tree.rec"]
    kids = var("kids")
    minor = mk_pi(
        [b("kids", arrow(NAT, tree)), b("kids_ih", mk_pi([b("i", NAT)], App(MOTIVE, App(kids, var("i")))))],
        App(MOTIVE, call("Tree.node", kids)),
    )
    expected = mk_pi(
        [b("motive", arrow(tree, Sort(U))), b("leaf", App(MOTIVE, c("Tree.leaf"))), b("node", minor), b("t", tree)],
        App(MOTIVE, var("t")),
    )
    assert alpha_eq(rec.type, expected)
    depth = call(
        "Tree.rec",
        Lam("_", tree, NAT),
        Lit(0),
        mk_lambda([b("kids", arrow(NAT, tree)), b("ih", arrow(NAT, NAT))], succ(App(var("ih"), Lit(5)))),
        levels=[ONE],
    )
    two = call("Tree.node", Lam("_", NAT, call("Tree.node", Lam("_", NAT, c("Tree.leaf")))))
    tc = checker(env=env)
    tc.check(App(depth, two))
    assert tc.is_def_eq(App(depth, two), Lit(2))


def test_recursion_on_lists_computes():
    nats = call("List", NAT, levels=[ZERO])
    nil = call("List.nil", NAT, levels=[ZERO])

    def cons(head, tail):
        return call("List.cons", NAT, head, tail, levels=[ZERO])

    step = mk_lambda([b("head", NAT), b("tail", nats), b("ih", NAT)], call("Nat.add", var("head"), var("ih")))
    total = call(
        "List.rec", NAT, Lam("_", nats, NAT), Lit(0), step, cons(Lit(4), cons(Lit(5), nil)), levels=[ONE, ZERO]
    )
    tc = checker()
    assert tc.check(total) is not None
    assert tc.whnf(total) is Lit(9)


def test_recursors_compute_with_indices():
    env = prelude()
    size = call(
        "Nat.le.rec",
        var("n"),
        mk_lambda([b("k", NAT), b("t", call("Nat.le", var("n"), var("k")))], c("True")),
        c("True.intro"),
        mk_lambda([b("m", NAT), b("a", call("Nat.le", var("n"), var("m"))), b("ih", c("True"))], var("ih")),
        succ(var("n")),
        call("Nat.le.step", var("n"), var("n"), call("Nat.le.refl", var("n"))),
    )
    tc = checker(b("n", NAT), env=env)
    assert tc.is_def_eq(tc.check(size), c("True"))
    assert tc.whnf(size) is c("True.intro")


def test_a_proposition_with_only_determined_fields_eliminates_into_data():
    made = call("At", var("n"))
    env = prelude().add(
        inductive("At", (), 0, arrow(NAT, PROP), ("At.mk", mk_pi([b("n", NAT), b("h", c("True"))], made)))
    )
    assert env["At.rec"].large and not env["At.rec"].k


def test_a_type_in_any_universe_with_two_constructors_eliminates_into_propositions_only():
    two = c("Two", U)
    env = prelude().add(inductive("Two", ("u",), 0, Sort(U), ("Two.a", two), ("Two.b", two)))
    assert not env["Two.rec"].large


def test_constants_know_their_shape():
    env = prelude()
    cons = env["List.cons"]
    assert (cons.induct, cons.idx, cons.num_params, cons.num_fields) == ("List", 1, 1, 2)
    le = env["Nat.le"]
    assert (le.num_params, le.num_indices, le.ctors, le.rec_name) == (
        1,
        1,
        ("Nat.le.refl", "Nat.le.step"),
        "Nat.le.rec",
    )
    assert env["Nat"].is_recursive and not env["And"].is_recursive
    assert env["And"].is_prop and not env["Nat"].is_prop


def test_a_definition_by_recursion_has_the_expected_values():
    double = mk_lambda(
        [b("n", NAT)], nat_rec(NAT, Lit(0), mk_lambda([b("m", NAT), b("ih", NAT)], succ(succ(var("ih")))), var("n"))
    )
    assert checker().is_def_eq(App(double, Lit(21)), Lit(42))
    with pytest.raises(KernelError):
        checker().check(App(double, c("True")))
