"""Declarations that every kernel of Lean must accept or refuse, rewritten from public suites in terms made by hand.

Sources: the tutorial and the bugs of the Lean Kernel Arena (leanprover/lean-kernel-arena, "arena" below), the tests of
nanoda (ammkrn/nanoda_lib) and of lean4lean (digama0/lean4lean), and the issues of Lean. It is publicly known that these
were accepted wrongly, or handled wrongly, by Lean's kernel or by a checker beside it; each has a case here, in
`stuck_prop` or among the forged claims of `test_kernel_cases`:

* Lean: lean4#1033 (projections out of `Exists`), #8060 (`Nat.pow` of what is no literal), #10475 (a `let` in the type
  of another), #10492 (loose variables inside of an application), #10577 (a constant with another number of levels),
  #12746 (the place of a field beyond 32 bits), #14484 (a free variable in an opaque value), #14576 (a projection of
  another structure), #14582 (a family applied to something else than its parameters and levels), #14607 (free variables
  and metavariables in an inductive type), #14613 (`Sort (imax 1 0)` not taken for `Prop`), #14632 (quotients
  twice), #14806 (equalities that depend on their order), #14807 and #14847 (a type whose sort is stuck).
* nanoda: nanoda_lib#8 (data projected out of a proof), #22 (`k`, `numFields` and projections taken on trust), commits
  12838995 (`imax u v + 1 ≤ imax u v`; the rules of recursors) and 8a327a18 (a recursor without a type).
* lean4lean: arena#17 (`imax 0 v` equal to its successor), and its cache of the types of free variables (as #14484).
* Others: the mini kernel (elimination of `Sort u` into types), kiota#5 and kiota#8 (a definition in terms of itself;
  elimination of a proposition with two proofs), sokonanoda (arena#58: `fun x => x` against `fun _ => y` under K),
  arena#36 (a constructor with an ill-typed argument below a projection), ix#586 (motives and minor premises counted
  differently).

Left out, for NanoLean has nothing of the kind: nested and mutual inductive types (lean4#14576 in its first form,
#14616, #14621; the arena's nested-*), mutual, unsafe and partial definitions (#14608), string literals, `reduceBool`,
the flags of terms after a panic (#8554), and what concerns the order of lines and indices in files of exports.
"""

from collections.abc import Iterator
from itertools import chain

from nanolean.kernel.env import AxiomDecl, Declaration, DefDecl, OpaqueDecl, QuotDecl, TheoremDecl
from nanolean.kernel.expr import (
    PROP,
    TYPE,
    App,
    BVar,
    Expr,
    FVar,
    Lam,
    Let,
    Lit,
    Local,
    MVar,
    Proj,
    Sort,
    arrow,
    mk_app,
    mk_lambda,
    mk_pi,
)
from nanolean.kernel.level import ONE, ZERO, IMax, LParam, Max, Succ
from nanolean.tests.kernel_prelude import BOOL, NAT, U, V, add, b, c, call, eq, inductive, n, refl, succ, var

Case = list[Declaration]
"""Declarations over the prelude, all of which but the last are accepted by everybody."""

W = LParam("w")
TWO = Succ(ONE)
TYPE1 = Sort(TWO)
FALSE, TRUE = c("Bool.false"), c("Bool.true")
P, Q, H, K = b("p", PROP), b("q", PROP), b("h", var("p")), b("k", var("p"))
ALPHA, BETA = b("α", TYPE), b("β", TYPE)
p, q, h, k, alpha, beta = (var(name) for name in ("p", "q", "h", "k", "α", "β"))
x, y, f, g, s, t = (var(name) for name in "xyfgst")


def define(type_: Expr, value: Expr, levels: tuple[str, ...] = (), name: str = "case") -> DefDecl:
    return DefDecl(name, levels, type_, value)


def prove(binders: list[Local], statement: Expr, value: Expr, levels: tuple[str, ...] = ()) -> TheoremDecl:
    return TheoremDecl("case", levels, mk_pi(binders, statement), mk_lambda(binders, value))


def same(
    binders: list[Local], type_: Expr, left: Expr, right: Expr, level=ONE, levels: tuple[str, ...] = ()
) -> TheoremDecl:
    """`left = right` by `rfl`."""
    return prove(binders, eq(type_, left, right, level), refl(type_, left, level), levels)


def axiom(name: str, type_: Expr) -> AxiomDecl:
    return AxiomDecl(name, (), type_)


def data(name: str, type_: Expr, *ctors: Expr, params: int = 0, levels: tuple[str, ...] = ()) -> Declaration:
    """An inductive type with constructors `mk0`, `mk1`, ..."""
    return inductive(name, levels, params, type_, *((f"{name}.mk{i}", ctor) for i, ctor in enumerate(ctors)))


ID = define(
    mk_pi([b("α", Sort(U)), b("x", alpha)], alpha), mk_lambda([b("α", Sort(U)), b("x", alpha)], x), ("u",), "id"
)
CONST = define(mk_pi([ALPHA, BETA], TYPE), mk_lambda([ALPHA, BETA], alpha), name="const")
"""The type `α` of two types."""
PAIR_OF_SORTS = define(
    mk_pi([b("α", Sort(U)), b("β", Sort(U))], Sort(U)),
    mk_lambda([b("α", Sort(U)), b("β", Sort(U))], alpha),
    ("u",),
    "first",
)
PROP_TO_PROP = arrow(PROP, PROP)
EVERY_PROP = mk_pi([P], p)
PUNIT = data("PUnit", Sort(U), c("PUnit", U), levels=("u",))
ACC_PARAMS = [b("α", Sort(U)), b("r", arrow(alpha, arrow(alpha, PROP)))]
BELOW = mk_pi([b("y", alpha), b("s", mk_app(var("r"), y, x))], call("Acc", alpha, var("r"), y, levels=[U]))
ACC = data(
    "Acc",
    mk_pi(ACC_PARAMS, arrow(alpha, PROP)),
    mk_pi([*ACC_PARAMS, b("x", alpha), b("h", BELOW)], call("Acc", alpha, var("r"), x, levels=[U])),
    params=2,
    levels=("u",),
)
A_DEP = [axiom("Dep", arrow(TYPE, PROP)), axiom("dep", mk_pi([b("t", TYPE)], App(c("Dep"), t)))]


def identity(level, type_: Expr, value: Expr) -> Expr:
    return call("id", type_, value, levels=[level])


def church() -> list[Declaration]:
    """Numbers as functions, with addition and multiplication."""
    number = mk_pi([b("α", Sort(U)), b("s", arrow(alpha, alpha)), b("z", alpha)], alpha)
    here = [b("α", Sort(U)), b("s", arrow(alpha, alpha)), b("z", alpha)]
    own, z = c("Church", U), var("z")
    m, o = var("m"), var("o")

    def step(of: Expr, times: Expr, start: Expr) -> Expr:
        return mk_app(of, alpha, times, start)

    two = [b("m", own), b("o", own)]
    lam = mk_lambda
    return [
        DefDecl("Church", ("u",), Sort(IMax(Succ(U), U)), number),
        DefDecl("one", ("u",), own, lam(here, App(s, z))),
        DefDecl("two", ("u",), own, lam(here, App(s, App(s, z)))),
        DefDecl("four", ("u",), own, lam(here, App(s, App(s, App(s, App(s, z)))))),
        DefDecl("plus", ("u",), mk_pi(two, own), lam([*two, *here], step(m, s, step(o, s, z)))),
        DefDecl("times", ("u",), mk_pi(two, own), lam([*two, *here], step(m, mk_app(o, alpha, s), z))),
    ]


def numeral_case(wanted: str, found: Expr) -> Case:
    about, every = b("t", arrow(c("Church", U), PROP)), b("v", mk_pi([b("m", c("Church", U))], App(t, var("m"))))
    return [*church(), prove([about, every], App(t, c(wanted, U)), App(var("v"), found), ("u",))]


def terms() -> Iterator[tuple[str, Case]]:
    """Sorts, functions, levels and `let`."""
    both = [b("x", TYPE), b("y", TYPE)]
    yield "a sort is a value of the next", [define(TYPE, PROP)]
    yield "a function type is a type", [define(TYPE, PROP_TO_PROP)]
    yield "a product over all propositions is a proposition", [define(PROP, EVERY_PROP)]
    yield "a function of two types", [define(mk_pi(both, TYPE), mk_lambda(both, x))]
    yield "a type that has to be computed", [CONST, define(call("const", PROP, PROP_TO_PROP), EVERY_PROP)]
    under = [P], call("const", PROP, PROP_TO_PROP)
    yield "a type that has to be computed below a binder", [CONST, define(mk_pi(*under), mk_lambda([P], p))]
    binder = [b("p", identity(TWO, TYPE, PROP)), b("x", p)]
    yield "the type of a variable computes to a sort", [ID, define(PROP, mk_pi(binder, p))]
    yield "imax 1 0 is 0", [define(TYPE, Sort(IMax(ONE, ZERO)))]
    yield "imax 0 1 is 1", [define(TYPE1, Sort(IMax(ZERO, ONE)))]
    yield "imax 2 1 is 2", [define(Sort(Succ(TWO)), Sort(IMax(TWO, ONE)))]
    yield "imax u 0 is 0", [define(TYPE, Sort(IMax(U, ZERO)), ("u",))]
    yield "imax u u is u", [define(Sort(Succ(U)), Sort(IMax(U, U)), ("u",))]
    yield (
        "levels are put for parameters",
        [PAIR_OF_SORTS, define(call("first", PROP, PROP_TO_PROP, levels=[ONE]), EVERY_PROP)],
    )
    yield "a function into a proposition is one", [define(PROP_TO_PROP, mk_lambda([P], arrow(TYPE, p)))]
    yield (
        "a function from types into a type is larger",
        [define(arrow(TYPE, TYPE1), mk_lambda([ALPHA], arrow(TYPE, alpha)))],
    )
    for name, type_, value in (
        ("max commutes", Max(V, U), Max(U, V)),
        ("max associates", Max(U, Max(V, W)), Max(Max(U, V), W)),
        ("max u u is u", U, Max(U, U)),
        ("max absorbs", Max(U, V), Max(U, Max(U, V))),
        ("imax 1 u is u", U, IMax(ONE, U)),
    ):
        yield name, [define(Sort(Succ(type_)), Sort(value), ("u", "v", "w"))]
    on = [b("f", arrow(PROP_TO_PROP, PROP)), b("g", mk_pi([b("a", PROP_TO_PROP)], App(f, var("a"))))]
    twice = Lam("p", PROP, arrow(BVar(0), BVar(0)))
    yield (
        "functions are compared by their bodies",
        [prove(on, App(f, twice), App(g, Lam("q", PROP, arrow(BVar(0), BVar(0)))))],
    )
    yield "the numeral 2", numeral_case("two", c("two", U))
    yield "1 + 1 = 2 of numerals", numeral_case("two", call("plus", c("one", U), c("one", U), levels=[U]))
    yield "2 * 2 = 4 of numerals", numeral_case("four", call("times", c("two", U), c("two", U), levels=[U]))
    yield "a let", [define(TYPE, Let("x", TYPE, PROP, BVar(0)))]
    yield (
        "a let whose value the type needs",
        [*A_DEP, define(App(c("Dep"), PROP), Let("x", TYPE, PROP, App(c("dep"), BVar(0))))],
    )
    yield "a let in a type", [axiom("P", PROP), define(Let("x", TYPE, PROP, BVar(0)), c("P"))]
    every = b("f", mk_pi([b("α", PROP)], alpha))
    nested = Let("y", TYPE, PROP, Let("x", BVar(0), c("True"), App(f, BVar(0))))
    yield "a let whose type is another let (lean4#10475)", [prove([every], c("True"), nested)]
    yield "a definition of a type is no theorem but a definition", [define(PROP, arrow(PROP, c("True")))]


def families() -> Iterator[tuple[str, Case]]:
    """Inductive types and their recursors."""
    own, tree, colour = c("T"), c("Tree"), c("Colour")
    yield "a type without elements", [data("T", TYPE)]
    yield "a type of a type that computes to a sort", [ID, data("T", identity(Succ(TWO), TYPE1, TYPE), own)]
    yield "a choice of three", [data("T", TYPE, own, own, own)]
    yield "a structure with two fields", [data("T", TYPE, mk_pi([b("x", BOOL), b("y", BOOL)], own))]
    yield "one element in every universe", [PUNIT]
    pair = [b("α", Sort(U)), b("β", Sort(V))]
    made = call("T", alpha, beta, levels=[U, V])
    sort = Sort(Max(ONE, Max(U, V)))
    yield (
        "pairs in every universe",
        [data("T", mk_pi(pair, sort), mk_pi([*pair, b("x", alpha), b("y", beta)], made), params=2, levels=("u", "v"))],
    )
    maybe = Sort(Max(U, V))
    max_pair = data(
        "T", mk_pi(pair, maybe), mk_pi([*pair, b("x", alpha), b("y", beta)], made), params=2, levels=("u", "v")
    )
    first = mk_lambda([*pair, b("s", made)], Proj("T", 0, s))
    yield (
        "a field of a pair in Sort (max u v)",
        [max_pair, define(mk_pi([*pair, b("s", made)], alpha), first, ("u", "v"))],
    )
    yield "a field of any size in a proposition", [data("T", PROP, arrow(TYPE, own))]
    yield "a field as large as the type", [data("T", TYPE1, arrow(TYPE, own))]
    yield (
        "a field as large as the type, at every level",
        [data("T", Sort(Succ(Succ(U))), arrow(Sort(Succ(U)), c("T", U)), levels=("u",))],
    )
    yield "indices that recursion changes", [data("Colour", TYPE, colour, colour), red_black()]
    reduced = [b("α", identity(Succ(TWO), TYPE1, TYPE))]
    again = call("T", alpha)
    param = mk_pi([*reduced, b("x", call("const", again, again))], again)
    yield "a field that computes to the type", [ID, CONST, data("T", arrow(TYPE, TYPE), param, params=1)]
    branch = mk_pi([*reduced, b("x", arrow(alpha, call("const", again, again)))], again)
    yield (
        "a field that computes to functions into the type",
        [ID, CONST, data("T", arrow(TYPE, TYPE), branch, params=1)],
    )
    gone = mk_pi([*reduced, b("x", arrow(alpha, call("const", alpha, again)))], again)
    yield "a field in which the type vanishes", [ID, CONST, data("T", arrow(TYPE, TYPE), gone, params=1)]
    yield "a field of functions into the type", [data("Tree", TYPE, tree, arrow(arrow(BOOL, tree), tree))]
    proofs = [b("h", c("True")), b("k", c("True"))]
    yield "two proofs as parameters", [data("T", mk_pi(proofs, TYPE), mk_pi(proofs, call("T", h, k)), params=2)]


def recursors() -> Iterator[tuple[str, Case]]:
    """What a type eliminates into."""
    own = c("T")
    yield (
        "the recursor of a type without elements",
        [
            recursor_case(
                "False", (), mk_pi([b("motive", arrow(c("False"), Sort(U))), b("t", c("False"))], App(var("motive"), t))
            )
        ],
    )
    motive = var("motive")
    booleans = [b("motive", arrow(BOOL, Sort(U))), b("x", App(motive, FALSE)), b("y", App(motive, TRUE)), b("t", BOOL)]
    yield "the recursor of the Booleans", [recursor_case("Bool", (), mk_pi(booleans, App(motive, t)))]
    either = data("Either", PROP, c("Either"), c("Either"))
    small = [
        b("motive", arrow(c("Either"), PROP)),
        b("x", App(motive, c("Either.mk0"))),
        b("y", App(motive, c("Either.mk1"))),
        b("t", c("Either")),
    ]
    yield "two proofs are not told apart", [either, define(mk_pi(small, App(motive, t)), c("Either.rec"))]
    for name, index, large in (("as it stands", var("x"), True), ("computed", identity(ONE, BOOL, var("x")), False)):
        told = data("T", arrow(BOOL, PROP), mk_pi([b("x", BOOL)], App(own, index)))
        level = Sort(U) if large else PROP
        at = [
            b("motive", mk_pi([b("x", BOOL), b("t", App(own, x))], level)),
            b("m", mk_pi([b("x", BOOL)], mk_app(motive, index, App(c("T.mk0"), x)))),
            b("x", BOOL),
            b("t", App(own, x)),
        ]
        levels = ("u",) if large else ()
        rec = c("T.rec", U) if large else c("T.rec")
        yield f"a field that the index tells, {name}", [ID, told, define(mk_pi(at, mk_app(motive, x, t)), rec, levels)]


def red_black() -> Declaration:
    """Trees whose colour and height are indices."""
    red, black = c("Colour.mk0"), c("Colour.mk1")
    n_, m_ = b("n", NAT), b("c", c("Colour"))
    tree = [b("α", TYPE)]

    def of(colour: Expr, height: Expr) -> Expr:
        return call("RB", alpha, colour, height)

    both = [b("l", of(black, var("n"))), b("x", alpha), b("r", of(black, var("n")))]
    other = [m_, b("d", c("Colour")), n_, b("l", of(var("c"), var("n"))), b("x", alpha), b("r", of(var("d"), var("n")))]
    return data(
        "RB",
        mk_pi([*tree, b("c", c("Colour")), n_], TYPE),
        mk_pi(tree, of(black, Lit(0))),
        mk_pi([*tree, n_, *both], of(red, var("n"))),
        mk_pi([*tree, *other], of(black, succ(var("n")))),
        params=1,
    )


def recursor_case(name: str, args: tuple[Expr, ...], type_: Expr) -> Declaration:
    return define(type_, mk_app(c(f"{name}.rec", U), *args), ("u",))


def by(name: str, result: Expr, *rest: Expr, of: Expr) -> Expr:
    """A recursor without parameters into one type."""
    return call(f"{name}.rec", Lam("_", of, result), *rest, levels=[ONE])


SIX_FIELDS = [
    b("a", c("PUnit", ZERO)),
    b("b", c("PUnit", ONE)),
    b("c", c("PUnit", ZERO)),
    b("d", c("PUnit", ONE)),
    b("e", eq(c("PUnit", ONE), var("d"), var("d"))),
    b("f", c("PUnit", ZERO)),
]
PROOF_WITH_DATA = [PUNIT, data("T", PROP, mk_pi(SIX_FIELDS, c("T")))]
"""A proposition with proofs and data, of which one proof speaks."""


def field_of_proof(place: int, type_: Expr) -> Case:
    return [*PROOF_WITH_DATA, define(mk_pi([b("s", c("T"))], type_), mk_lambda([b("s", c("T"))], Proj("T", place, s)))]


def computation() -> Iterator[tuple[str, Case]]:
    """Recursors, projections and K."""
    a, z = b("a", BOOL), var("a")
    on_variable = by("Unit", BOOL, TRUE, x, of=c("Unit"))
    yield "a recursor computes on the variable of a unit", [same([b("x", c("Unit"))], BOOL, on_variable, TRUE)]
    for which, wanted in ((FALSE, Lit(1)), (TRUE, Lit(2))):
        yield f"cases on {which.name}", [same([], NAT, by("Bool", NAT, Lit(1), Lit(2), which, of=BOOL), wanted)]
    nats = call("Pair", NAT, BOOL)
    pair = call("Pair.mk", NAT, BOOL, n, x)
    swap = call(
        "Pair.rec", NAT, BOOL, Lam("_", nats, BOOL), mk_lambda([b("n", NAT), b("x", BOOL)], x), pair, levels=[ONE]
    )
    yield "a recursor on a pair", [same([b("n", NAT), b("x", BOOL)], BOOL, swap, x)]
    step = mk_lambda([b("m", NAT), b("ih", NAT)], succ(var("ih")))
    count = by("Nat", NAT, Lit(0), step, succ(succ(n)), of=NAT)
    yield "recursion on numbers", [same([b("n", NAT)], NAT, count, succ(succ(by("Nat", NAT, Lit(0), step, n, of=NAT))))]
    both = [P, Q, b("s", call("And", p, q))]
    yield "the proofs in a conjunction", [prove(both, p, Proj("And", 0, s))]
    yield "the second proof in a conjunction", [prove(both, q, Proj("And", 1, s))]
    some = b("s", nats)
    yield "a field of a pair", [define(mk_pi([some], BOOL), mk_lambda([some], Proj("Pair", 1, s)))]
    yield "a field of a constructor", [same([b("n", NAT), b("x", BOOL)], BOOL, Proj("Pair", 1, pair), x)]
    sigma = [ALPHA, b("β", arrow(alpha, TYPE))]
    dependent = data(
        "Sigma",
        mk_pi(sigma, TYPE),
        mk_pi([*sigma, b("x", alpha), b("y", App(beta, x))], call("Sigma", alpha, beta)),
        params=2,
    )
    second = [*sigma, b("s", call("Sigma", alpha, beta))]
    yield (
        "a field whose type depends on another",
        [dependent, define(mk_pi(second, App(beta, Proj("Sigma", 0, s))), mk_lambda(second, Proj("Sigma", 1, s)))],
    )
    yield "a proof in front of data", field_of_proof(0, c("PUnit", ZERO))
    yield "a proof behind data on which nothing depends", field_of_proof(2, c("PUnit", ZERO))
    e = b("e", eq(BOOL, TRUE, TRUE))
    moved = call(
        "Eq.rec",
        BOOL,
        TRUE,
        mk_lambda([b("x", BOOL), b("h", eq(BOOL, TRUE, x))], BOOL),
        z,
        TRUE,
        var("e"),
        levels=[ONE, ONE],
    )
    yield "K computes on a proof that is a variable", [same([e, a], BOOL, moved, z)]
    yield "recursion below functions", [*tree_case()]
    yield "Acc computes on its constructor", [ACC, accessible(made=True)]


def equalities() -> Iterator[tuple[str, Case]]:
    """Literals, irrelevance and eta."""
    unit = b("x", c("Unit")), b("y", c("Unit"))
    nats = call("Pair", NAT, BOOL)
    some = b("s", nats)
    yield "a literal is a number", [define(NAT, Lit(0))]
    yield "3 is the third successor", [same([], NAT, Lit(3), succ(succ(succ(c("Nat.zero")))))]
    yield "proofs of one proposition are equal", [same([P, H, K], p, h, k, ZERO)]
    hidden = [ID, same([b("p", identity(TWO, TYPE, PROP)), H, K], p, h, k, ZERO)]
    yield "proofs of what computes to a proposition are equal", hidden
    about = [
        axiom("A", TYPE),
        axiom("a", c("A")),
        axiom("a'", c("A")),
        axiom("P", PROP),
        axiom("Q", arrow(c("P"), PROP)),
    ]
    fn = b("f", arrow(c("A"), c("P")))
    told = axiom("told", mk_pi([fn], App(c("Q"), App(f, c("a")))))
    yield (
        "proofs that functions make are equal",
        [*about, told, define(mk_pi([fn], App(c("Q"), App(f, c("a'")))), c("told"))],
    )
    yield "elements of a unit are equal", [same([*unit], c("Unit"), x, y)]
    for level in (ZERO, ONE, U):
        elements = [b("x", c("PUnit", level)), b("y", c("PUnit", level))]
        yield (
            f"elements of a unit in {level} are equal",
            [PUNIT, same(elements, c("PUnit", level), x, y, level, ("u",))],
        )
    rebuilt = call("Pair.mk", NAT, BOOL, Proj("Pair", 0, s), Proj("Pair", 1, s))
    yield "eta of a pair", [same([some], nats, s, rebuilt)]
    yield "eta of a pair, turned", [same([some], nats, rebuilt, s)]
    fn = b("f", arrow(alpha, beta))
    yield "eta of a function", [same([ALPHA, BETA, fn], fn.type, mk_lambda([b("x", alpha)], App(f, x)), f)]
    family = [ALPHA, b("β", arrow(alpha, TYPE)), b("f", mk_pi([b("x", alpha)], App(beta, x)))]
    yield "eta of a dependent function", [same(family, family[2].type, mk_lambda([b("x", alpha)], App(f, x)), f)]


def tree_case() -> Iterator[Declaration]:
    tree = c("Tree")
    yield data("Tree", TYPE, tree, arrow(arrow(BOOL, tree), tree))
    kids = b("k", arrow(BOOL, tree))
    node = mk_lambda([kids, b("ih", arrow(BOOL, tree))], App(k, TRUE))
    two = by("Bool", tree, x, y, BVar(0), of=BOOL)
    left = by("Tree", tree, c("Tree.mk0"), node, App(c("Tree.mk1"), Lam("b", BOOL, two)), of=tree)
    yield same([b("x", tree), b("y", tree)], tree, left, y)


def accessible(made: bool) -> Declaration:
    """`Acc.rec` with a constant case, on a constructor or on a variable."""
    on = [ALPHA, b("r", arrow(alpha, arrow(alpha, PROP))), b("x", alpha)]
    below = mk_pi([b("y", alpha), b("s", mk_app(var("r"), y, x))], call("Acc", alpha, var("r"), y, levels=[ONE]))
    own = call("Acc", alpha, var("r"), x, levels=[ONE])
    proof = call("Acc.mk0", alpha, var("r"), x, h, levels=[ONE]) if made else h
    binders = [*on, b("h", below if made else own), b("a", BOOL)]
    to_bool = mk_pi([b("y", alpha), b("s", mk_app(var("r"), y, x))], BOOL)
    case = mk_lambda([b("x", alpha), b("h", below), b("ih", to_bool)], var("a"))
    motive = mk_lambda([b("x", alpha), b("h", own)], BOOL)
    value = call("Acc.rec", alpha, var("r"), motive, case, x, proof, levels=[ONE, ONE])
    return same(binders, BOOL, value, var("a"))


def quotients() -> Iterator[tuple[str, Case]]:
    over = [b("α", Sort(U)), b("r", arrow(alpha, arrow(alpha, PROP)))]
    r = var("r")
    quotient = call("Quot", alpha, r, levels=[U])
    made = call("Quot.mk", alpha, r, x, levels=[U])
    yield "the type of Quot.mk", [QuotDecl(), define(mk_pi([*over, b("x", alpha)], quotient), c("Quot.mk", U), ("u",))]
    about = b("β", arrow(quotient, PROP))
    each = b("h", mk_pi([b("x", alpha)], App(beta, made)))
    all_ = [*over, about, each, b("q", quotient)]
    yield "the type of Quot.ind", [QuotDecl(), define(mk_pi(all_, App(beta, q)), c("Quot.ind", U), ("u",))]
    respects = mk_pi([b("x", alpha), b("y", alpha)], arrow(mk_app(r, x, y), eq(beta, App(f, x), App(f, y), V)))
    lifting = [*over, b("β", Sort(V)), b("f", arrow(alpha, beta)), b("h", respects)]
    yield (
        "the type of Quot.lift",
        [QuotDecl(), define(mk_pi(lifting, arrow(quotient, beta)), c("Quot.lift", U, V), ("u", "v"))],
    )
    lifted = call("Quot.lift", alpha, r, beta, f, h, made, levels=[U, V])
    yield "Quot.lift computes", [QuotDecl(), same([*lifting, b("x", alpha)], beta, lifted, App(f, x), V, ("u", "v"))]
    induced = call("Quot.ind", alpha, r, beta, h, made, levels=[U])
    yield (
        "Quot.ind computes",
        [QuotDecl(), same([*over, about, each, b("x", alpha)], App(beta, made), induced, App(h, x), ZERO, ("u",))],
    )


def bad_terms() -> Iterator[tuple[str, Case]]:
    """Terms without the type that is claimed."""
    yield "Type as a proposition", [define(PROP, TYPE)]
    domain = mk_pi([b("p", identity(Succ(TWO), TYPE1, TYPE)), b("y", p), b("x", y)], c("True"))
    yield "a variable whose type is no type", [ID, define(PROP, domain)]
    yield "a type that is a function", [CONST, define(c("const"), PROP)]
    yield "a theorem that states data", [TheoremDecl("case", (), NAT, Lit(0))]
    yield (
        "a theorem that states an element of any universe",
        [PUNIT, TheoremDecl("case", ("u",), c("PUnit", U), c("PUnit.mk0", U))],
    )
    yield "a universe parameter twice", [define(TYPE, PROP, ("u", "u"))]
    yield "a definition in terms of itself (kiota#5)", [define(TYPE, c("case"))]
    yield "a theorem that is its own proof", [TheoremDecl("case", (), c("False"), c("case"))]
    yield "imax u v as large as its successor (nanoda)", [down(IMax(U, V))]
    yield "imax 0 v as large as its successor (arena#17)", [down(IMax(ZERO, V))]
    yield "u as large as its successor", [down(U)]
    yield "a level for nothing (lean4#10577)", [define(NAT, c("Nat.zero", ONE))]
    levels = eq(TYPE, App(c("List", ZERO, ZERO), NAT), App(c("List"), NAT), TWO)
    yield "constants with other numbers of levels, compared (lean4#10577)", [axiom("case", levels)]
    yield "a loose variable inside of an application (lean4#10492)", [define(NAT, App(BVar(0), BVar(0)))]
    yield "a variable of nobody in an opaque value (lean4#14484)", [OpaqueDecl("case", (), primed(), FVar("kernel.1"))]
    yield "a variable of nobody in a theorem", [TheoremDecl("case", (), primed(), FVar("kernel.1"))]
    yield "a hole in a definition", [define(NAT, MVar("?"))]
    yield (
        "an argument of another type that computation drops",
        [define(NAT, App(Lam("h", c("False"), Lit(0)), c("True.intro")))],
    )
    yield (
        "the power of what is no literal (lean4#8060)",
        [OpaqueDecl("hidden", (), NAT, Lit(3)), same([], NAT, call("Nat.pow", c("hidden"), Lit(2)), Lit(9))],
    )
    yield (
        "the power of what is no number (lean4#8060)",
        [same([], NAT, call("Nat.pow", c("Bool.true"), Lit(2)), Lit(1))],
    )
    yield "a let with a value of another type", [define(NAT, Let("x", NAT, TRUE, Lit(0)))]
    yield "1 is 2", [same([], NAT, Lit(1), Lit(2))]
    yield "a number is its successor", [same([b("n", NAT)], NAT, n, succ(n))]
    yield "addition the other way round", [same([b("n", NAT)], NAT, add(Lit(0), n), n)]
    yield "a name twice", [define(NAT, Lit(0)), define(NAT, Lit(0))]


def down(level) -> Declaration:
    type_ = arrow(Sort(Succ(level)), Sort(level))
    return define(type_, Lam("x", Sort(Succ(level)), BVar(0)), ("u", "v"))


def primed() -> Expr:
    """A type that computes to `False`, and whose check opens a variable of type `False`."""
    false = c("False")
    return App(Lam("_", arrow(false, false), false), Lam("h", false, BVar(0)))


def bad_families() -> Iterator[tuple[str, Case]]:
    """Inductive types that are none."""
    own = c("T")
    on = arrow(TYPE, TYPE)
    yield "a type of a type that is no sort", [CONST, data("T", c("const"))]
    yield "a type of a postulated type", [axiom("A", TYPE), data("T", c("A"))]
    yield "a type with a universe parameter twice", [data("T", TYPE, levels=("u", "u"))]
    yield "more parameters than arguments", [data("T", PROP_TO_PROP, params=2)]
    yield (
        "a constructor of another instance",
        [axiom("P", PROP), data("T", arrow(PROP, TYPE), arrow(TYPE, App(own, c("P"))), params=1)],
    )
    both = [b("p", PROP), b("q", PROP)]
    yield (
        "a constructor with its parameters swapped",
        [data("T", mk_pi(both, TYPE), mk_pi(both, call("T", q, p)), params=2)],
    )
    swapped = mk_pi(both, call("T", p, q, levels=[V, U]))
    yield (
        "a constructor with its levels swapped (lean4#14582)",
        [data("T", mk_pi(both, TYPE), swapped, params=2, levels=("u", "v"))],
    )
    index = data("T", PROP_TO_PROP, App(own, App(own, c("True"))))
    yield "the type in an index of what is made", [index]
    yield "a field that takes the type", [data("T", TYPE, arrow(arrow(own, own), own))]
    yield "a field that takes the type behind another", [data("T", TYPE, arrow(arrow(NAT, arrow(own, NAT)), own))]
    yield "a field that takes what takes the type", [data("T", TYPE, arrow(arrow(arrow(own, NAT), NAT), own))]
    behind = arrow(arrow(NAT, App(own, App(own, NAT))), App(own, NAT))
    yield "the type in an index of a field", [data("T", on, behind)]
    yield (
        "the type in a parameter of a field (lean4#14582)",
        [data("T", on, mk_pi([ALPHA], arrow(App(own, App(own, alpha)), App(own, alpha))), params=1)],
    )
    other = mk_pi([ALPHA], arrow(App(own, call("List", alpha, levels=[ZERO])), App(own, alpha)))
    yield "a field with another parameter (lean4#14582)", [data("T", on, other, params=1)]
    levels = arrow(c("T", V, U), c("T", U, V))
    yield "a field with its levels swapped (lean4#14582)", [data("T", TYPE, levels, levels=("u", "v"))]
    yield "a constructor whose type has to be computed", [ID, data("T", TYPE, identity(TWO, TYPE, own))]
    hidden = arrow(arrow(call("const", NAT, own), own), own)
    yield "a domain from which the type could vanish", [CONST, data("T", TYPE, hidden)]
    yield "a field larger than the type", [data("T", TYPE, arrow(TYPE, own))]
    larger = arrow(Sort(IMax(ONE, TWO)), own)
    yield "a field larger than the type behind an imax", [data("T", TYPE, larger)]
    yield "a field of any size in a type of every size", [data("T", Sort(U), arrow(BOOL, c("T", U)), levels=("u",))]
    yield (
        "a field in Sort (imax u 1) in a type of Sort u",
        [data("T", Sort(U), mk_pi([b("α", Sort(U)), b("x", arrow(alpha, BOOL))], c("T", U)), levels=("u",))],
    )
    yield "a constructor of another type", [data("T", TYPE, NAT)]


def bad_names() -> Iterator[tuple[str, Case]]:
    """Names that are in use, and variables and levels of nobody."""
    own = c("T")
    yield "constructors of one name", [inductive("T", (), 0, TYPE, ("T.a", own), ("T.a", own))]
    yield "a constructor with the name of the recursor", [inductive("T", (), 0, TYPE, ("T.rec", own))]
    yield "a constructor with the name of the type", [inductive("T", (), 0, TYPE, ("T", own))]
    yield "a type with the name of a definition", [define(NAT, Lit(0), name="T"), data("T", TYPE)]
    yield "a constructor with the name of a definition", [define(NAT, Lit(0), name="T.mk0"), data("T", TYPE, own)]
    yield "a recursor with the name of a definition", [define(NAT, Lit(0), name="T.rec"), data("T", TYPE)]
    yield "a definition with the name of a recursor", [data("T", TYPE), define(NAT, Lit(0), name="T.rec")]
    yield "a free variable in a constructor (lean4#14607)", [data("T", TYPE, arrow(FVar("x"), own))]
    yield "a hole in a constructor (lean4#14607)", [data("T", TYPE, arrow(MVar("x"), own))]
    yield "an undeclared level in a constructor", [PUNIT, data("T", TYPE, arrow(c("PUnit", W), own))]
    yield "quotients twice (lean4#14632)", [QuotDecl(), QuotDecl()]


def bad_eliminations() -> Iterator[tuple[str, Case]]:
    """Data out of propositions by their recursors."""
    own = c("T")
    two = data("T", Sort(U), c("T", U), c("T", U), levels=("u",))
    into = call("T.rec", Lam("_", c("T", ZERO), NAT), Lit(0), Lit(1), levels=[ONE, ZERO])
    yield "elimination of Sort u into types (mini kernel)", [two, define(arrow(c("T", ZERO), NAT), into)]
    either = data("T", PROP, own, own)
    yield (
        "elimination of two proofs into types (kiota#8)",
        [either, define(arrow(own, NAT), call("T.rec", Lam("_", own, NAT), Lit(0), Lit(1), levels=[ONE]))],
    )
    imax = data("T", Sort(IMax(ONE, ZERO)), own, own)
    yield (
        "elimination of two elements of Sort (imax 1 0)",
        [imax, define(arrow(own, NAT), call("T.rec", Lam("_", own, NAT), Lit(0), Lit(1), levels=[ONE]))],
    )
    witness = call(
        "Exists.rec",
        NAT,
        Lam("n", NAT, c("True")),
        Lam("_", exists(), NAT),
        mk_lambda([b("n", NAT), b("h", c("True"))], n),
        levels=[ONE, ONE],
    )
    yield "the witness of an existential", [define(arrow(exists(), NAT), witness)]


def exists() -> Expr:
    return call("Exists", NAT, Lam("n", NAT, c("True")), levels=[ONE])


def bad_fields() -> Iterator[tuple[str, Case]]:
    """Projections that there are not."""
    both = [P, Q, b("s", call("And", p, q))]
    yield "a third field of a pair", [prove(both, p, Proj("And", 2, s))]
    yield "the first field again, 2^32 places on (lean4#12746)", [prove(both, p, Proj("And", 2**32, s))]
    yield "a field of a number", [define(arrow(NAT, NAT), mk_lambda([b("s", NAT)], Proj("Nat", 0, s)))]
    yield "a field of another structure (lean4#14576)", [prove(both, p, Proj("Pair", 0, s))]
    either = data("T", PROP, arrow(c("False"), c("T")), arrow(c("True"), c("T")))
    yield (
        "a field of what has two constructors (nanoda_lib#22)",
        [either, prove([], c("False"), Proj("T", 0, call("T.mk1", c("True.intro"))))],
    )
    yield "data out of a proof, the first (nanoda_lib#8)", field_of_proof(1, c("PUnit", ONE))
    yield "data out of a proof, the second", field_of_proof(3, c("PUnit", ONE))
    told = Proj("T", 3, s)
    yield "a proof about data in a proof", field_of_proof(4, eq(c("PUnit", ONE), told, told))
    yield "a proof behind data of which another speaks", field_of_proof(5, c("PUnit", ZERO))
    wrapped = data("T", PROP, arrow(PROP, c("T")))
    yield (
        "a proposition out of a proof (nanoda_lib#8)",
        [wrapped, define(arrow(c("T"), PROP), mk_lambda([b("s", c("T"))], Proj("T", 0, s)))],
    )
    imax = data("T", Sort(IMax(ONE, ZERO)), arrow(BOOL, c("T")))
    yield (
        "data out of Sort (imax 1 0) (lean4#14613)",
        [imax, define(arrow(c("T"), BOOL), mk_lambda([b("s", c("T"))], Proj("T", 0, s)))],
    )
    some = b("s", exists())
    yield (
        "the witness of an existential as a field (lean4#1033)",
        [define(arrow(exists(), NAT), mk_lambda([some], Proj("Exists", 0, s)))],
    )
    yield (
        "the proof of an existential as a field (lean4#1033)",
        [define(arrow(exists(), c("True")), mk_lambda([some], Proj("Exists", 1, s)))],
    )
    indexed = data("T", arrow(NAT, PROP), mk_pi([b("n", NAT), b("h", c("True"))], App(c("T"), n)))
    at = [b("n", NAT), b("s", App(c("T"), n))]
    for place, type_ in ((0, NAT), (1, c("True"))):
        yield (
            f"field {place} of a family with an index",
            [indexed, define(mk_pi(at, type_), mk_lambda(at, Proj("T", place, s)))],
        )
    wrapper = data("T", PROP, arrow(c("False"), c("T")))
    yield (
        "a field of an ill-typed constructor (arena#36)",
        [wrapper, prove([], c("False"), Proj("T", 0, call("T.mk0", c("True.intro"))))],
    )


def bad_equalities() -> Iterator[tuple[str, Case]]:
    """K, eta and irrelevance where they do not hold."""
    e, a = b("e", eq(BOOL, TRUE, FALSE)), b("a", BOOL)
    moved = call(
        "Eq.rec",
        BOOL,
        TRUE,
        mk_lambda([b("x", BOOL), b("h", eq(BOOL, TRUE, x))], BOOL),
        var("a"),
        FALSE,
        var("e"),
        levels=[ONE, ONE],
    )
    yield "K where the sides differ", [same([e, a], BOOL, moved, var("a"))]
    functions = arrow(NAT, NAT)
    point, constant = Lam("x", NAT, BVar(0)), Lam("_", NAT, y)
    flat = [b("y", NAT), b("h", eq(functions, point, constant))]
    along = call(
        "Eq.rec",
        functions,
        point,
        mk_lambda([b("f", functions), b("h", eq(functions, point, f))], NAT),
        Lit(0),
        constant,
        h,
        levels=[ONE, ONE],
    )
    yield (
        "K between fun x => x and fun _ => y (arena#58)",
        [same([], mk_pi(flat, NAT), mk_lambda(flat, along), mk_lambda(flat, Lit(0)))],
    )
    yield "K for Acc", [ACC, accessible(made=False)]
    yield "elements of one type are not equal", [same([ALPHA, b("x", alpha), b("y", alpha)], alpha, x, y)]
    yield "proofs of two propositions are not equal", [same([P, Q, H, b("k", q)], p, h, k, ZERO)]
    fns = [ALPHA, BETA, b("g", arrow(alpha, alpha)), b("f", arrow(alpha, beta))]
    yield "eta with another argument", [same(fns, fns[3].type, mk_lambda([b("x", alpha)], App(f, App(g, x))), f)]
    yield "Booleans are no unit", [same([b("x", BOOL), b("y", BOOL)], BOOL, x, y)]
    wider = call("Pair", NAT, BOOL)
    turned = call("Pair.mk", NAT, NAT, Proj("Pair", 1, s), Proj("Pair", 0, s))
    yield "eta with the fields swapped", [same([b("s", call("Pair", NAT, NAT))], call("Pair", NAT, NAT), s, turned)]
    yield "pairs are no unit", [same([b("x", wider), b("y", wider)], wider, x, y)]


def undecided() -> Iterator[tuple[str, Case]]:
    """Equal by the theory, and refused by Lean's kernel, which does not expand there; so here (lean4#12520)."""
    reflexive = eq(BOOL, TRUE, TRUE)
    of_proof = b("f", arrow(reflexive, BOOL))
    motive = mk_lambda([b("x", BOOL), b("h", eq(BOOL, TRUE, x))], BOOL)
    partial = call("Eq.rec", BOOL, TRUE, motive, App(f, refl(BOOL, TRUE)), TRUE, levels=[ONE, ONE])
    yield "a recursor without its last argument against a function", [same([of_proof], of_proof.type, partial, f)]
    made = [data("T", TYPE, mk_pi([b("x", BOOL), b("h", c("True"))], c("T")))]
    fn = b("f", arrow(c("True"), c("T")))
    half = App(c("T.mk0"), Proj("T", 0, App(f, c("True.intro"))))
    yield "a constructor without its last argument against a function", [*made, same([fn], fn.type, half, f)]


def named(*groups: Iterator[tuple[str, Case]]) -> dict[str, Case]:
    """All cases by their names, of which none may be used twice."""
    found: dict[str, Case] = {}
    for name, case in chain(*groups):
        assert name not in found, name
        found[name] = case
    return found


ACCEPTED = named(terms(), families(), recursors(), computation(), equalities(), quotients())
REFUSED = named(bad_terms(), bad_families(), bad_names(), bad_eliminations(), bad_fields(), bad_equalities())
UNDECIDED = named(undecided())
