"""Random inductive types over the prelude of the kernel's tests: most are admitted or nearly so."""

from random import Random

from nanolean.kernel.env import DefDecl, Environment, InductiveDecl
from nanolean.kernel.expr import PROP, TYPE, App, Expr, FVar, Lit, Local, Sort, arrow, mk_app, mk_pi
from nanolean.kernel.level import ONE, ZERO, IMax, Level, LParam, Max, Succ
from nanolean.tests.kernel_cases import CONST, ID, PUNIT
from nanolean.tests.kernel_prelude import BOOL, NAT, U, V, b, c, call, eq, inductive, prelude, succ

NAME = "T"
SORTS: list[Level] = [
    *[ZERO, ZERO, ZERO, ONE, ONE, ONE, Succ(ONE), U, U, Succ(U), Max(ONE, U), Max(Succ(U), Succ(V))],
    *[IMax(ONE, ZERO), IMax(U, ZERO), IMax(ONE, U), IMax(U, V), IMax(U, Succ(V)), Max(U, V)],
]


def environment() -> Environment:
    """The prelude with what the types use beside it."""
    env = prelude()
    for decl in (ID, CONST, PUNIT, DefDecl("refuse", (), arrow(TYPE, TYPE), FLIP)):
        env = env.add(decl)
    return env


FLIP = App(c("const"), NAT)
"""A function that drops its argument and gives the numbers."""


class FamilyMaker:
    """Makes one declaration."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.own = c(NAME, U, V)
        self.params: list[Local] = []
        self.indices: list[Local] = []
        self.used = 0
        self.level: Level = ZERO

    def declaration(self) -> InductiveDecl:
        rng = self.rng
        for _ in range(rng.choice([0, 0, 1, 1, 2])):
            self.params.append(self.local("p", self.param_type()))
        for _ in range(rng.choice([0, 0, 0, 1, 1, 2])):
            self.indices.append(self.local("i", self.index_type(self.params)))
        self.level = rng.choice(SORTS)
        result: Expr = Sort(self.level)
        if rng.random() < 0.05:
            result = call("id", TYPE, TYPE, levels=[Succ(ONE)]) if rng.random() < 0.7 else NAT
        type_ = mk_pi([*self.params, *self.indices], result)
        ctors = [(f"{NAME}.mk{i}", self.ctor()) for i in range(rng.choice([0, 1, 1, 1, 2, 2, 3]))]
        return inductive(NAME, ("u", "v"), len(self.params), type_, *ctors)

    def local(self, letter: str, type_: Expr) -> Local:
        self.used += 1
        return b(f"{letter}{self.used}", type_)

    def param_type(self) -> Expr:
        types = [local.fvar for local in self.params if isinstance(local.type, Sort)]
        if types and self.rng.random() < 0.4:
            return arrow(self.rng.choice(types), self.rng.choice([PROP, TYPE]))
        return self.rng.choice([TYPE, PROP, Sort(U), Sort(V), Sort(Succ(U)), NAT, BOOL])

    def index_type(self, scope: list[Local]) -> Expr:
        types = [local.fvar for local in scope if isinstance(local.type, Sort)]
        return self.rng.choice([NAT, NAT, BOOL, c("True"), PROP, *types])

    def ctor(self) -> Expr:
        scope = list(self.params)
        fields: list[Local] = []
        for _ in range(self.rng.choice([0, 1, 1, 2, 2, 3])):
            fields.append(self.local("f", self.field_type(scope)))
            scope.append(fields[-1])
        return mk_pi([*self.params, *fields], self.result(scope))

    def result(self, scope: list[Local]) -> Expr:
        if self.rng.random() < 0.03:
            return self.rng.choice([NAT, c("True"), call("id", TYPE, self.made(scope), levels=[Succ(ONE)])])
        return self.made(scope)

    def made(self, scope: list[Local]) -> Expr:
        """The type itself, mostly at its own parameters and levels."""
        params: list[Expr] = [local.fvar for local in self.params]
        if self.rng.random() < 0.03:
            self.rng.shuffle(params)
        own = c(NAME, V, U) if self.rng.random() < 0.02 else self.own
        return mk_app(own, *params, *[self.element(local.type, scope) for local in self.indices])

    def element(self, type_: Expr, scope: list[Local]) -> Expr:
        """Something of a type that is likely to have it."""
        rng = self.rng
        fitting = [local.fvar for local in scope if local.type is type_]
        if fitting and rng.random() < 0.7:
            return rng.choice(fitting)
        if type_ is NAT:
            return succ(rng.choice(fitting)) if fitting and rng.random() < 0.5 else Lit(rng.randrange(3))
        if type_ is BOOL:
            return c(rng.choice(["Bool.true", "Bool.false"]))
        if type_ is PROP:
            return c(rng.choice(["True", "False"]))
        return c("True.intro") if type_ is c("True") else FVar("missing") if not fitting else fitting[0]

    def field_type(self, scope: list[Local], depth: int = 2) -> Expr:
        """A type: known, a variable, an equation, the type itself, functions, and forms that hide these."""
        rng = self.rng
        types = [local.fvar for local in scope if isinstance(local.type, Sort)]
        numbers = [local.fvar for local in scope if local.type is NAT]
        match rng.randrange(12 if depth else 6):
            case 0 | 1:
                return rng.choice(
                    [NAT, BOOL, c("True"), c("False"), TYPE, PROP, Sort(U), c("PUnit", U), c("PUnit", ZERO)]
                )
            case 2 if types:
                return rng.choice(types)
            case 3 if numbers:
                return eq(NAT, rng.choice(numbers), Lit(rng.randrange(3)))
            case 2 | 3 | 4 | 5:
                return self.made(scope)
            case 6 | 7 | 8:
                domain = self.local(
                    "x", self.index_type(scope) if rng.random() < 0.85 else self.field_type(scope, depth - 1)
                )
                return mk_pi([domain], self.field_type([*scope, domain], depth - 1))
            case 9:
                return call("const", self.small_type(scope), self.small_type(scope))
            case 10:
                return call("id", TYPE, self.small_type(scope), levels=[Succ(ONE)])
        inner = self.small_type(scope)
        return rng.choice([call("List", inner, levels=[ZERO]), App(c("refuse"), inner), call("And", inner, c("True"))])

    def small_type(self, scope: list[Local]) -> Expr:
        """Something in `Type`, where it can be the type itself."""
        return self.made(scope) if self.level is ONE else self.rng.choice([NAT, BOOL])


def random_level(rng: Random, depth: int = 4) -> Level:
    """A level over three parameters."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice([ZERO, ONE, LParam("u"), LParam("v"), LParam("w")])
    match rng.randrange(5):
        case 0 | 1:
            return Succ(random_level(rng, depth - 1))
        case 2:
            return Max(random_level(rng, depth - 1), random_level(rng, depth - 1))
    return IMax(random_level(rng, depth - 1), random_level(rng, depth - 1))
