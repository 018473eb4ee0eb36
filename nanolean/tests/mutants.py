"""Mutated proof terms: real terms in which one or more places are replaced by something that does not belong there."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, NamedTuple

from nanolean.kernel.declaration import ConstantInfo, Constants, ValueInfo
from nanolean.kernel.expr import App, BVar, Const, Expr, Lam, Let, Lit, Pi, Proj, Sort, subterms
from nanolean.kernel.level import ONE, ZERO, Level, LParam, Succ

MAX_NODES = 400
"""Terms with more distinct nodes are not mutated: the second checker is too slow for them."""


class Claim(NamedTuple):
    """A statement with a proof of it."""

    name: str
    level_params: tuple[str, ...]
    type: Expr
    value: Expr


def claims(env: Constants, kinds: Sequence[str] = ("theorem", "def")) -> list[Claim]:
    """The theorems and definitions that are small enough."""
    found = []
    for info in env:
        if isinstance(info, ValueInfo) and info.kind in kinds:
            count = sum(1 for _ in zip(subterms(info.value), range(MAX_NODES + 1)))
            if count <= MAX_NODES:
                found.append(Claim(info.name, info.level_params, info.type, info.value))
    return found


def rebuild(e: Any, path: tuple[str, ...], new: Expr) -> Expr:
    """The term with another subterm at a place."""
    if not path:
        return new
    name, rest = path[0], path[1:]
    fields = [getattr(e, field) for field in e.__match_args__]
    at = e.__match_args__.index(name)
    fields[at] = rebuild(fields[at], rest, new)
    return e.__class__(*fields)


def random_place(e: Any, rng: Random) -> tuple[tuple[str, ...], Expr]:
    """A place in a term and the subterm there; deep places are as likely as shallow ones."""
    path: list[str] = []
    while True:
        names = [name for name in e.__match_args__ if isinstance(getattr(e, name), Expr)]
        if not names or rng.random() < 0.12:
            return tuple(path), e
        name = rng.choice(names)
        path.append(name)
        e = getattr(e, name)


class Mutator:
    """Makes mutants of terms; `others` are the terms and constants that it takes parts from."""

    def __init__(self, env: Constants, others: Sequence[Claim], rng: Random) -> None:
        self.env = env
        self.others = others
        self.rng = rng
        self.by_type: dict[Expr, list[ConstantInfo]] = {}
        for info in env:
            self.by_type.setdefault(info.type, []).append(info)
        self.infos = [info for info in env if info.name != "sorryAx"]
        self.rules: list[Callable[[Any, Claim], Expr | None]] = [
            self._swap_arguments,
            self._drop_argument,
            self._add_argument,
            self._other_constant,
            self._similar_constant,
            self._other_literal,
            self._other_level,
            self._other_binder_type,
            self._other_variable,
            self._foreign_subterm,
            self._own_subterm,
            self._other_projection,
            self._inner_part,
            self._drop_binder,
            self._let,
        ]

    def mutate(self, claim: Claim, e: Expr) -> Expr | None:
        """The term with one change, None where the drawn change does not apply to the drawn place."""
        path, node = random_place(e, self.rng)
        new = self.rng.choice(self.rules)(node, claim)
        if new is None or new is node:
            return None
        result = rebuild(e, path, new)
        return None if result.loose or result is e else result

    def mutant(self, claim: Claim, e: Expr, changes: int) -> Expr | None:
        """The term with so many changes, None if it did not work out."""
        for _ in range(changes):
            for _ in range(20):
                new = self.mutate(claim, e)
                if new is not None:
                    e = new
                    break
            else:
                return None
        return e

    def _swap_arguments(self, node: Any, claim: Claim) -> Expr | None:
        if isinstance(node, App) and isinstance(node.fn, App):
            return App(App(node.fn.fn, node.arg), node.fn.arg)
        return None

    def _drop_argument(self, node: Any, claim: Claim) -> Expr | None:
        if isinstance(node, App) and isinstance(node.fn, App) and self.rng.random() < 0.5:
            return App(node.fn.fn, node.arg)
        return node.fn if isinstance(node, App) else None

    def _add_argument(self, node: Any, claim: Claim) -> Expr | None:
        return App(node, node.arg) if isinstance(node, App) else None

    def _other_constant(self, node: Any, claim: Claim) -> Expr | None:
        return self._as_const(self.rng.choice(self.infos), claim) if isinstance(node, Const) else None

    def _similar_constant(self, node: Any, claim: Claim) -> Expr | None:
        info = self.env.get(node.name) if isinstance(node, Const) else None
        if info is None:
            return None
        same = [other for other in self.by_type[info.type] if other is not info]
        if same:
            return Const(self.rng.choice(same).name, node.levels)
        near = [other for other in self.infos if other.name.split(".")[0] == info.name.split(".")[0]]
        return self._as_const(self.rng.choice(near), claim) if near else None

    def _as_const(self, info: ConstantInfo, claim: Claim) -> Expr:
        return Const(info.name, tuple(self._level(claim) for _ in info.level_params))

    def _level(self, claim: Claim) -> Level:
        return self.rng.choice([ZERO, ONE, ONE, Succ(ONE), *map(LParam, claim.level_params)])

    def _other_literal(self, node: Any, claim: Claim) -> Expr | None:
        if isinstance(node, Lit):
            return Lit(max(0, node.value + self.rng.choice([-1, 1, 1, 2])))
        return Lit(self.rng.randrange(3)) if isinstance(node, Const) and node.name.startswith("Nat.zero") else None

    def _other_level(self, node: Any, claim: Claim) -> Expr | None:
        if isinstance(node, Sort):
            return Sort(self._level(claim))
        if isinstance(node, Const) and node.levels:
            count = len(node.levels) + self.rng.choice([0, 0, 0, -1, 1])
            return Const(node.name, tuple(self._level(claim) for _ in range(count)))
        return None

    def _other_binder_type(self, node: Any, claim: Claim) -> Expr | None:
        if not isinstance(node, Lam | Pi):
            return None
        other = self.rng.choice([Const("Nat"), Const("True"), Const("False"), Sort(ZERO), Sort(ONE), node.body])
        return node.__class__(node.name, other, node.body, node.info)

    def _other_variable(self, node: Any, claim: Claim) -> Expr | None:
        return BVar(self.rng.randrange(node.idx + 3)) if isinstance(node, BVar) else None

    def _foreign_subterm(self, node: Any, claim: Claim) -> Expr | None:
        return random_place(self.rng.choice(self.others).value, self.rng)[1]

    def _own_subterm(self, node: Any, claim: Claim) -> Expr | None:
        return random_place(claim.value, self.rng)[1]

    def _other_projection(self, node: Any, claim: Claim) -> Expr | None:
        if isinstance(node, Proj):
            return Proj(node.struct, 1 - node.idx if node.idx < 2 else 0, node.expr)
        return Proj(self.rng.choice(["And", "Iff", "Prod", "Exists"]), self.rng.randrange(2), node)

    def _inner_part(self, node: Any, claim: Claim) -> Expr | None:
        return node.arg if isinstance(node, App) else None

    def _drop_binder(self, node: Any, claim: Claim) -> Expr | None:
        if isinstance(node, Lam):
            return node.body
        return Pi(node.name, node.type, node.body.body) if isinstance(node, Pi) and isinstance(node.body, Pi) else None

    def _let(self, node: Any, claim: Claim) -> Expr | None:
        if isinstance(node, App) and isinstance(node.fn, Lam):
            return Let(node.fn.name, node.fn.type, node.arg, node.fn.body)
        return None
