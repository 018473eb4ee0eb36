"""An axiom-free proof of `False` for checkers that take a type whose sort is stuck for data (lean4#14807).

`bit` computes along a proof that a Boolean is accessible below a relation with a single step. It does not compute on
the opaque `seed`, but on a proof that begins with the constructor. So `first` and `second` below are equal by
definition (their proofs are proofs of one proposition), so are `second` and `third`, yet `first` and `third` are not;
and `gate h`, a transport of `Prop` along `h`, is `Prop` for a variable `h : first = second` and stuck for a proof of
`first = third`. A family of types `Owner h : gate h` with a Boolean inside is therefore a family of propositions. Who
takes `Owner witness` for data, because its sort does not compute to `Prop`, reads the Boolean out of a proof, and
proof irrelevance makes `true` of `false`.
"""

from collections.abc import Iterator

from nanolean.kernel.env import Declaration, DefDecl, OpaqueDecl, TheoremDecl
from nanolean.kernel.expr import PROP, TYPE, App, Expr, Lam, Local, Proj, arrow, mk_app, mk_lambda, mk_pi
from nanolean.kernel.level import ONE, ZERO, Succ
from nanolean.tests.kernel_prelude import BOOL, b, c, call, eq, inductive, refl, var

FALSE, TRUE = c("Bool.false"), c("Bool.true")
X, Y, Z = b("x", BOOL), b("y", BOOL), b("z", BOOL)
x, y, z, h, r, f = X.fvar, Y.fvar, Z.fvar, var("h"), var("r"), var("f")
STEP = b("r", call("Below", y, x))
BELOW_X = mk_pi([Y, STEP], call("Acc", y))
ACC_X = b("h", call("Acc", x))
SMALLER = b("h", BELOW_X)
ONE_STEP = c("Below.step")
PROPOSITION = c("proposition")


def bits_below(which: Expr) -> Expr:
    """A Boolean for everything below."""
    return mk_pi([Y, b("r", call("Below", y, which))], BOOL)


def by_bit(motive: Expr, at_false: Expr, at_true: Expr, which: Expr, level=ONE) -> Expr:
    return call("Bool.rec", motive, at_false, at_true, which, levels=[level])


def as_prop(which: Expr) -> Expr:
    """`False` for `true`, `True` for `false`."""
    return by_bit(Lam("_", BOOL, PROP), c("True"), c("False"), which)


def next_bit(which: Expr, below: Expr) -> Expr:
    """`false` at `false`, and the bit below at `true`."""
    at_false = mk_lambda([b("f", bits_below(FALSE))], FALSE)
    at_true = mk_lambda([b("f", bits_below(TRUE))], mk_app(f, FALSE, ONE_STEP))
    return App(by_bit(mk_lambda([X], arrow(bits_below(x), BOOL)), at_false, at_true, which), below)


def below(motive: Expr, value: Expr) -> Expr:
    """What `motive`, about `y` and `z`, says of `y` and `x` where `r : Below y x`, from its proof at the only step."""
    motive = mk_lambda([Y, Z, b("r", call("Below", y, z))], motive)
    return call("Below.rec", motive, value, y, x, r, levels=[ZERO])


def inverse(at: Expr, proof: Expr) -> Expr:
    """What is below an accessible Boolean is accessible, as a function of `y` and `r : Below y at`."""
    hypothesis = b("ih", mk_pi([Y, STEP, Z, b("s", call("Below", z, y))], call("Acc", z)))
    minor = mk_lambda([X, SMALLER, hypothesis], h)
    return call("Acc.rec", mk_lambda([X, ACC_X], BELOW_X), minor, at, proof, levels=[ZERO])


def accessibility() -> Iterator[Declaration]:
    """`Below`, `Acc`, the opaque `seed : Acc true`, and `bit`."""
    yield inductive("Below", (), 0, mk_pi([X, Y], PROP), ("Below.step", call("Below", FALSE, TRUE)))
    yield inductive("Acc", (), 0, arrow(BOOL, PROP), ("Acc.intro", mk_pi([X, SMALLER], call("Acc", x))))
    nothing = by_bit(Lam("_", BOOL, PROP), call("Acc", y), c("True"), z)
    impossible = mk_lambda([X, Y, STEP], below(nothing, c("True.intro")))
    at_false = call(
        "Acc.intro", FALSE, mk_lambda([Y, b("r", call("Below", y, FALSE))], mk_app(impossible, FALSE, y, r))
    )
    at_true = mk_lambda([X, Y, STEP], below(call("Acc", y), at_false))
    yield OpaqueDecl("seed", (), call("Acc", TRUE), call("Acc.intro", TRUE, App(at_true, TRUE)))
    minor = mk_lambda([X, SMALLER, b("f", bits_below(x))], next_bit(x, f))
    value = call("Acc.rec", mk_lambda([X, ACC_X], BOOL), minor, x, h, levels=[ONE])
    yield DefDecl("bit", (), mk_pi([X, ACC_X], BOOL), mk_lambda([X, ACC_X], value))


SEED = c("seed")
FIRST = call("bit", TRUE, SEED)
SECOND = call("bit", TRUE, call("Acc.intro", TRUE, inverse(TRUE, SEED)))
THIRD_PROOF = mk_app(inverse(TRUE, SEED), FALSE, ONE_STEP)
THIRD = call("bit", FALSE, THIRD_PROOF)


def all_false(which: Expr, bits: Expr) -> Local:
    """A hypothesis `e`: the bits for everything below are `false`."""
    step = b("r", call("Below", y, which))
    return b("e", mk_pi([Y, step], eq(BOOL, mk_app(bits, y, r), FALSE)))


def witness() -> Iterator[Declaration]:
    """Every bit is `false`, so `first = third`, by an opaque proof."""
    bit = call("bit", x, h)
    statement = mk_pi([X, ACC_X], eq(BOOL, bit, FALSE))
    motive = mk_lambda([X], mk_pi([b("f", bits_below(x)), all_false(x, f)], eq(BOOL, next_bit(x, f), FALSE)))
    at_false = mk_lambda([b("f", bits_below(FALSE)), all_false(FALSE, f)], refl(BOOL, FALSE))
    at_true = mk_lambda([b("f", bits_below(TRUE)), all_false(TRUE, f)], mk_app(var("e"), FALSE, ONE_STEP))
    below_x = mk_lambda([Y, STEP], call("bit", y, mk_app(h, y, r)))
    hypothesis = all_false(x, below_x)
    minor = mk_lambda([X, SMALLER, hypothesis], mk_app(by_bit(motive, at_false, at_true, x, ZERO), below_x, var("e")))
    proof = call("Acc.rec", mk_lambda([X, ACC_X], eq(BOOL, bit, FALSE)), minor, x, h, levels=[ZERO])
    yield TheoremDecl("bit_false", (), statement, mk_lambda([X, ACC_X], proof))
    first, third = call("bit_false", TRUE, SEED), call("bit_false", FALSE, THIRD_PROOF)
    to_third = transport(
        mk_lambda([Z, b("e", eq(BOOL, THIRD, z))], eq(BOOL, z, THIRD)), THIRD, refl(BOOL, THIRD), FALSE, third
    )
    motive = mk_lambda([Z, b("e", eq(BOOL, FALSE, z))], eq(BOOL, FIRST, z))
    yield OpaqueDecl("witness", (), eq(BOOL, FIRST, THIRD), transport(motive, FALSE, first, THIRD, to_third))


def transport(motive: Expr, source: Expr, value: Expr, target: Expr, proof: Expr, level=ZERO) -> Expr:
    """`Eq.rec` between Booleans."""
    return call("Eq.rec", BOOL, source, motive, value, target, proof, levels=[level, ONE])


def owner() -> Iterator[Declaration]:
    """The family of propositions with a Boolean inside, and one of them at `witness`, known as a proposition."""
    premise = b("h", eq(BOOL, FIRST, SECOND))
    motive = mk_lambda([Z, b("e", eq(BOOL, FIRST, z))], TYPE)
    yield DefDecl(
        "gate", (), mk_pi([premise], TYPE), mk_lambda([premise], transport(motive, FIRST, PROP, SECOND, h, Succ(ONE)))
    )
    ctor = mk_pi([premise, b("bit", BOOL)], call("Owner", h))
    yield inductive("Owner", (), 1, mk_pi([premise], call("gate", h)), ("Owner.mk", ctor))
    yield DefDecl("as_prop", (), mk_pi([premise], PROP), mk_lambda([premise], call("Owner", h)))
    yield DefDecl("proposition", (), PROP, call("as_prop", c("witness")))
    for name, which in (("of_false", FALSE), ("of_true", TRUE)):
        yield DefDecl(name, (), PROPOSITION, call("Owner.mk", c("witness"), which))


def contradiction() -> Iterator[Declaration]:
    """The Boolean is read out of a proof, which proves `False`: the first of these must be refused."""
    value = mk_lambda([b("p", PROPOSITION)], Proj("Owner", 0, var("p")))
    yield DefDecl("observe", (), arrow(PROPOSITION, BOOL), value)
    equal = b("e", eq(PROPOSITION, c("of_false"), var("p"), ZERO))
    motive = mk_lambda([b("p", PROPOSITION), equal], as_prop(call("observe", var("p"))))
    same = refl(PROPOSITION, c("of_false"), ZERO)
    proof = call("Eq.rec", PROPOSITION, c("of_false"), motive, c("True.intro"), c("of_true"), same, levels=[ZERO, ZERO])
    yield TheoremDecl("boom", (), c("False"), proof)


def honest() -> list[Declaration]:
    """All that leads up to the contradiction and has nothing wrong with it."""
    return [*accessibility(), *witness(), *owner()]
