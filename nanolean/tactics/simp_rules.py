"""Rewriting rules of the simplifier: from theorems and hypotheses to patterns, and an index to find them.

A statement `∀ x, a = b` or `∀ x, a ↔ b` rewrites `a` to `b`; `¬p` and `a ≠ b` rewrite to `False`, any other
proposition to `True`; `p ∧ q` gives rules for both. Leading arguments of a rule that its left side does not determine
are conditions to be proved before it fires.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from nanolean.kernel.declaration import ConstantInfo, Constants, DefInfo
from nanolean.kernel.expr import (
    App,
    BVar,
    Const,
    Expr,
    FVar,
    Lam,
    Lit,
    MVar,
    Pi,
    Proj,
    Sort,
    collect_consts,
    erase,
    get_app_fn_args,
    lift,
    mk_app,
)
from nanolean.kernel.level import LParam
from nanolean.meta.matchers import equation_names, recursive_argument
from nanolean.tactics.eq_proof import FALSE, TRUE

# The order of Lean's Meta/ACLt.lean, a recursive path order: heads by kind of term, then by name, then arguments.
WEIGHTS = {BVar: 0, FVar: 1, MVar: 2, Sort: 3, Const: 4, Lit: 5, App: 8, Lam: 9, Pi: 10}


class TermOrder:
    """The order over one local context; what was compared once is remembered, or the time would be exponential.

    `place` tells where a local stands in the context, `spend` is called for each new comparison.
    """

    def __init__(self, place: Callable[[str], int], spend: Callable[[], object]) -> None:
        self.place = place
        self.spend = spend
        self._known: dict[tuple[Expr, Expr], bool] = {}

    def less(self, a: Expr, b: Expr) -> bool:
        """Return whether `a` is smaller than `b`."""
        if a is b:
            return False
        is_less = self._known.get((a, b))
        if is_less is None:
            self.spend()
            is_less = self._known[a, b] = self._compare(a, b)
        return is_less

    def _compare(self, a: Expr, b: Expr) -> bool:
        # `someChildGe` of ACLt.lean: a term is greater than its parts, so that no rule makes a term grow for ever.
        if any(child is a or self.less(a, child) for child in _children(b)):
            return True
        weight_a, weight_b = WEIGHTS.get(a.__class__, 12), WEIGHTS.get(b.__class__, 12)
        if weight_a != weight_b:
            return weight_a < weight_b and self._parts_less(_children(a), b)
        if isinstance(a, FVar) and isinstance(b, FVar):
            return self.place(a.id) < self.place(b.id)
        if isinstance(a, Const) and isinstance(b, Const):
            return a.name < b.name
        if isinstance(a, Lit) and isinstance(b, Lit):
            return a.value < b.value
        if isinstance(a, App) and isinstance(b, App):
            return self._apps_less(a, b)
        if isinstance(a, Proj) and isinstance(b, Proj) and a.idx != b.idx:
            # Two fields of one value, as in `r.height * r.width` once `grind` has unfolded what names them.
            return a.idx < b.idx and self._parts_less(_children(a), b)
        return self._lexicographic(_children(a), _children(b)) and self._parts_less(_children(a), b)

    def _apps_less(self, a: App, b: App) -> bool:
        fn_a, args_a = get_app_fn_args(a)
        fn_b, args_b = get_app_fn_args(b)
        if fn_a is not fn_b:
            return self.less(fn_a, fn_b) and self._parts_less(args_a, b)
        if len(args_a) != len(args_b):
            return len(args_a) < len(args_b)
        return self._lexicographic(args_a, args_b) and self._parts_less(args_a, b)

    def _parts_less(self, parts: list[Expr], b: Expr) -> bool:
        # `allChildrenLt` of ACLt.lean.
        return all(self.less(part, b) for part in parts)

    def _lexicographic(self, left: list[Expr], right: list[Expr]) -> bool:
        for a, b in zip(left, right):
            if a is not b:
                return self.less(a, b)
        return len(left) < len(right)


def _children(e: Expr) -> list[Expr]:
    if isinstance(e, App):
        return get_app_fn_args(e)[1]
    if isinstance(e, Lam | Pi):
        return [e.type, e.body]
    if isinstance(e, Proj):
        return [e.expr]
    return []


Kind = Literal["eq", "iff", "true", "false"]
Key = tuple[object, int]

MAX_CACHED_CONSTANTS = 8192
ANY: Key = ("*", 0)
ARROW: Key = ("→", 0)
NUMBER: Key = ("number", 0)


@dataclass(frozen=True, eq=False)
class Rule:
    """`proof : lhs = rhs` (or what `kind` makes into that); all with the arguments as loose variables."""

    name: str
    """The constant or the id of the hypothesis that it comes from."""
    kind: Kind
    types: tuple[Expr, ...]
    """The types of the arguments, each over the arguments before it."""
    lhs: Expr
    rhs: Expr
    proof: Expr
    symm: bool
    level_params: tuple[str, ...]
    permutes: bool
    """The sides differ by a permutation of arguments only; then the rule fires only towards the smaller term."""

    @property
    def matches_types(self) -> bool:
        """Whether the left side is so loose that the types of what it matches must be compared."""
        return isinstance(self.lhs, Pi)


@lru_cache(maxsize=MAX_CACHED_CONSTANTS)
def rules_of_constant(info: ConstantInfo, symm: bool = False) -> tuple[Rule, ...]:
    """Return the rules that a theorem gives."""
    proof = Const(info.name, tuple(LParam(name) for name in info.level_params))
    return tuple(make_rules(info.name, proof, info.type, info.level_params, symm))


def rules_of_equations(env: Constants, info: DefInfo) -> Iterator[Rule]:
    """Yield the equations of a recursive definition as rules, for what its recursion does not compute alone.

    An equation that says nothing of the argument that gets smaller but recurs would rewrite without end.
    """
    shape = recursive_argument(info)
    for name in [] if shape is None else equation_names(env, info.name):
        for rule in rules_of_constant(env[name]):
            args = get_app_fn_args(rule.lhs)[1]
            if shape is not None and not (args[shape[1]].__class__ is BVar and info.name in collect_consts(rule.rhs)):
                yield rule


def make_rules(
    name: str, proof: Expr, type_: Expr, level_params: tuple[str, ...] = (), symm: bool = False
) -> Iterator[Rule]:
    """Yield the rules that a closed (but for locals) proof of a statement gives; none where they would be useless."""
    yield from _rules(name, (), proof, type_, level_params, symm)


def _rules(
    name: str, types: tuple[Expr, ...], proof: Expr, body: Expr, level_params: tuple[str, ...], symm: bool
) -> Iterator[Rule]:
    while isinstance(body, Pi):
        types = (*types, body.type)
        # Arguments stay loose variables, so a rule is made once for all its uses and matched without metavariables.
        proof = App(lift(proof, 1), BVar(0))
        body = body.body
    fn, args = get_app_fn_args(body)
    head, levels = (fn.name, fn.levels) if isinstance(fn, Const) else ("", ())
    shape = (head, len(args))
    if shape == ("And", 2):
        for projection, part in (("And.left", args[0]), ("And.right", args[1])):
            half = mk_app(Const(projection), args[0], args[1], proof)
            yield from _rules(name, types, half, part, level_params, symm)
        return
    kind: Kind
    if shape == ("Eq", 3) or shape == ("Iff", 2):
        kind = "eq" if head == "Eq" else "iff"
        lhs, rhs = args[-2:]
        if symm:
            lhs, rhs = rhs, lhs
        if lhs.__class__ is BVar or erase(lhs) is erase(rhs):
            # A variable on the left matches every term, and equal sides never end: such a fact rewrites itself to
            # `True`.
            if symm or (lhs.__class__ is BVar and rhs.__class__ is BVar):
                return
            kind, lhs, rhs = "true", body, TRUE
    elif symm:
        return
    elif shape == ("Ne", 3):
        kind, lhs, rhs = "false", mk_app(Const("Eq", levels), *args), FALSE
    elif shape == ("Not", 1):
        kind, lhs, rhs = "false", args[0], FALSE
    elif body is FALSE or body is TRUE:
        return
    else:
        kind, lhs, rhs = "true", body, TRUE
    yield Rule(name, kind, types, lhs, rhs, proof, symm, level_params, _is_permutation(lhs, rhs))


def _is_permutation(lhs: Expr, rhs: Expr) -> bool:
    """Whether the sides are equal but for a renaming of arguments."""
    forth: dict[int, int] = {}
    back: dict[int, int] = {}

    def same(a: Expr, b: Expr, depth: int) -> bool:
        if isinstance(a, BVar) and isinstance(b, BVar) and a.idx >= depth and b.idx >= depth:
            return forth.setdefault(a.idx - depth, b.idx) == b.idx and back.setdefault(b.idx - depth, a.idx) == a.idx
        # One term for both sides is the same permutation only if it maps each of its variables to itself.
        if a is b:
            return a.loose <= depth or all(same(x, y, d) for x, y, d in _paired_children(a, b, depth))
        if a.__class__ is not b.__class__ or not isinstance(a, App | Lam | Pi | Proj):
            return False
        return all(same(x, y, d) for x, y, d in _paired_children(a, b, depth))

    return bool(lhs.loose) and same(lhs, rhs, 0)


def _paired_children(a: Expr, b: Expr, depth: int) -> list[tuple[Expr, Expr, int]]:
    if isinstance(a, App) and isinstance(b, App):
        return [(a.fn, b.fn, depth), (a.arg, b.arg, depth)]
    if isinstance(a, Lam | Pi) and isinstance(b, Lam | Pi):
        return [(a.type, b.type, depth), (a.body, b.body, depth + 1)]
    if isinstance(a, Proj) and isinstance(b, Proj) and a.idx == b.idx:
        return [(a.expr, b.expr, depth)]
    return []


# -- the index ---------------------------------------------------------------------------------------------------------


def key_of(e: Expr) -> Key:
    """Return what a term's head looks like; a rule applies only to terms of the same key (or has the key ANY)."""
    count = 0
    fn = e
    while isinstance(fn, App):
        fn, count = fn.fn, count + 1
    if isinstance(fn, Const):
        return fn.name, count
    if isinstance(fn, FVar):
        return fn, count
    # `p x` with an argument `p` of the rule may be anything.
    if isinstance(fn, BVar):
        return ANY
    if isinstance(fn, Pi):
        return ARROW
    if isinstance(fn, Lit):
        return NUMBER
    return fn.__class__, count


class RuleIndex:
    """Rules by the key of their left side, latest first."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self.by_key: dict[Key, list[Rule]] = {}
        self.counts: dict[object, set[int]] = {}
        """By head: how many arguments left sides have."""
        self.names: set[str] = set()
        for rule in rules:
            self.add(rule)

    def add(self, rule: Rule) -> None:
        """Put a rule in front of those with the same key."""
        head, count = key = key_of(rule.lhs)
        self.by_key.setdefault(key, []).insert(0, rule)
        self.counts.setdefault(head, set()).add(count)
        self.names.add(rule.name)

    def candidates(self, key: Key) -> Iterator[tuple[Rule, int]]:
        """Yield the rules that may apply to a term of this key, or to it without its last arguments, and how many those
        are (`getMatchWithExtra` of Lean's Meta/DiscrTree.lean): longest left sides first."""
        for rule in (*self.by_key.get(key, ()), *self.by_key.get(ANY, ())):
            yield rule, 0
        head, count = key
        for shorter in sorted(filter(count.__gt__, self.counts.get(head, ())), reverse=True):
            for rule in self.by_key[head, shorter]:
                yield rule, count - shorter
