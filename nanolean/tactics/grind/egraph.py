"""The E-graph of `grind`: terms in classes of equals, closed under congruence.

Every edge of the proof forest carries a `Reason`: a function that builds the proof when somebody asks for it, None for
congruence. So a search that fails builds no proofs. Branches of the search work on copies.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from nanolean.kernel.expr import (
    PROP,
    App,
    Const,
    Expr,
    FVar,
    Lit,
    Pi,
    Sort,
    get_app_fn_args,
    has_loose_bvar,
    instantiate,
)
from nanolean.meta.mctx import MetaContext
from nanolean.meta.offset import NAT_TYPE
from nanolean.tactics.eq_proof import FALSE, TRUE
from nanolean.tactics.grind.normal import arrow_parts, split_offset

if TYPE_CHECKING:
    from nanolean.tactics.grind.explain import Explainer

Reason = Callable[["Explainer"], Expr]
"""Builds a proof of an equation, or of `False`."""
Signature = tuple[Expr | str, ...]

MAX_NODES = 600
"""How many terms one branch of the search may hold."""
MERGE_STEPS = 3
"""What joining a term to a class costs, in elementary steps."""


class OutOfTerms(Exception):
    """A branch of the search would hold more than `MAX_NODES` terms."""


class Shape(NamedTuple):
    """How congruence reads a term: a head, its arguments, and which of them may be replaced by equals."""

    head: Expr | str
    args: tuple[Expr, ...]
    free: tuple[int, ...]
    watched: tuple[int, ...] = ()
    """Arguments that congruence keeps but whose truth matters to the term: conditions."""

    @property
    def name(self) -> str:
        """The name of the constant at the head, "→" for an implication, empty for anything else."""
        if isinstance(self.head, str):
            return self.head
        return self.head.name if isinstance(self.head, Const) else ""

    @property
    def is_equality(self) -> bool:
        """Whether this is an equation between data or propositions (not between types)."""
        return self.name == EQUALITY and self.free == (1, 2)


LEAF = Shape("", (), ())
IMPLIES = "→"
EQUALITY = "Eq"
CONDITIONS = {("ite", 5): (1,), ("Decidable.decide", 2): (0,)}
"""Heads and numbers of arguments of terms that a condition decides, with the place of the condition."""


class Shapes:
    """The shapes of terms in normal form; shared by all branches of a search."""

    def __init__(self, mctx: MetaContext) -> None:
        self.mctx = mctx
        self._shapes: dict[Expr, Shape] = {}
        self._free: dict[tuple[Expr, int], tuple[int, ...]] = {}

    def __call__(self, e: Expr) -> Shape:
        """The shape of a term."""
        found = self._shapes.get(e)
        if found is None:
            found = self._shapes[e] = self._read(e)
        return found

    def _read(self, e: Expr) -> Shape:
        if isinstance(e, App):
            fn, args = get_app_fn_args(e)
            if isinstance(fn, Const | FVar):
                name = fn.name if isinstance(fn, Const) else ""
                return Shape(fn, tuple(args), self._free_places(fn, args), CONDITIONS.get((name, len(args)), ()))
            return LEAF
        sides = arrow_parts(e)
        if sides is not None and self.mctx.is_prop(sides[0]) and self.mctx.is_prop(sides[1]):
            return Shape(IMPLIES, sides, (0, 1))
        return LEAF

    def _free_places(self, fn: Const | FVar, args: list[Expr]) -> tuple[int, ...]:
        """The arguments that are data or propositions and on which the types of others do not depend."""
        key = (fn, len(args))
        found = self._free.get(key)
        if found is None:
            found = self._free[key] = tuple(self._find_free(fn, args))
        return found

    def _find_free(self, fn: Const | FVar, args: list[Expr]) -> list[int]:
        type_ = self.mctx.infer_type(fn)
        free = []
        for place, arg in enumerate(args):
            if not isinstance(type_, Pi):
                type_ = self.mctx.whnf(type_)
            if not isinstance(type_, Pi):
                break
            arg_type = self.mctx.infer_type(arg)
            if not (has_loose_bvar(type_.body, 0) or self._is_fixed(arg_type)):
                free.append(place)
            type_ = instantiate(type_.body, arg)
        return free

    def _is_fixed(self, arg_type: Expr) -> bool:
        """Whether arguments of this type are types or proofs."""
        if arg_type is PROP or arg_type is NAT_TYPE:
            return False
        return isinstance(self.mctx.whnf(arg_type), Sort) or self.mctx.is_prop(arg_type)


class Edge(NamedTuple):
    """An edge of the proof forest; `reason` proves `source = target`, or the reverse when `backwards`."""

    target: Expr
    reason: Reason | None
    backwards: bool


class EGraph:
    """Classes of equal terms. `TRUE` and `FALSE` are terms like others; a fact is a term equal to `TRUE`."""

    def __init__(self, mctx: MetaContext) -> None:
        self.mctx = mctx
        self.shapes = Shapes(mctx)
        self.root: dict[Expr, Expr] = {}
        self.members: dict[Expr, tuple[Expr, ...]] = {}
        self.uses: dict[Expr, tuple[Expr, ...]] = {}
        self.value: dict[Expr, Expr] = {}
        """For the root of a class, a member that is a constructor, a literal or `x + k`."""
        self.edge: dict[Expr, Edge] = {}
        self.table: dict[Signature, Expr] = {}
        self.place: dict[Expr, int] = {}
        """Terms in the order of their arrival."""
        self.generation: dict[Expr, int] = {}
        self.heads: dict[str | Expr, tuple[Expr, ...]] = {}
        """Terms by their head: the name of a constant or a local."""
        self.changed: dict[Expr, None] = {}
        """Terms that the rules of logic should look at again."""
        self.clashes: list[tuple[Expr, Expr]] = []
        """Pairs of values that have met in one class."""
        self._queue: list[tuple[Expr, Expr, Reason | None]] = []
        for constant in (TRUE, FALSE):
            self.add(constant, 0)

    def copy(self) -> EGraph:
        """An independent graph with the same content; nothing may be pending."""
        new = object.__new__(EGraph)
        new.mctx, new.shapes = self.mctx, self.shapes
        new.root, new.members, new.uses = dict(self.root), dict(self.members), dict(self.uses)
        new.value, new.edge, new.table = dict(self.value), dict(self.edge), dict(self.table)
        new.place, new.generation, new.heads = dict(self.place), dict(self.generation), dict(self.heads)
        new.changed, new.clashes, new._queue = dict(self.changed), list(self.clashes), list(self._queue)
        return new

    # -- questions ---------------------------------------------------------------------------------------------------

    def same(self, a: Expr, b: Expr) -> bool:
        """Whether two terms are known to be equal."""
        return a is b or (a in self.root and self.root[a] is self.root.get(b))

    def is_true(self, prop: Expr) -> bool:
        """Whether a proposition is known to hold."""
        return self.root.get(prop) is self.root[TRUE]

    def is_false(self, prop: Expr) -> bool:
        """Whether a proposition is known not to hold."""
        return self.root.get(prop) is self.root[FALSE]

    def is_open(self, prop: Expr) -> bool:
        """Whether a proposition is neither known to hold nor known not to."""
        root = self.root[prop]
        return root is not self.root[TRUE] and root is not self.root[FALSE]

    def signature(self, e: Expr) -> Signature | None:
        """What congruent terms have in common; None for terms without arguments."""
        shape = self.shapes(e)
        if not shape.args:
            return None
        root = self.root
        head = shape.head if isinstance(shape.head, str | Const) else root.get(shape.head, shape.head)
        if shape.is_equality:
            type_, a, b = shape.args
            a, b = root[a], root[b]
            return (head, type_, a, b) if self.place[a] <= self.place[b] else (head, type_, b, a)
        args = list(shape.args)
        for i in shape.free:
            args[i] = root[args[i]]
        return (head, *args)

    # -- changes -----------------------------------------------------------------------------------------------------

    def add(self, e: Expr, generation: int) -> None:
        """Make a term in normal form, and its parts, known to the graph."""
        if e in self.root:
            return
        if len(self.root) >= MAX_NODES:
            raise OutOfTerms
        shape = self.shapes(e)
        children = [shape.args[i] for i in (*shape.free, *shape.watched)]
        if isinstance(shape.head, FVar):
            children.append(shape.head)
        for child in children:
            self.add(child, generation)
        self.mctx.budget.spend(MERGE_STEPS)
        self.root[e] = e
        self.members[e] = (e,)
        self.uses[e] = ()
        self.place[e] = len(self.place)
        self.generation[e] = generation
        self.changed[e] = None
        if self._is_value(e, shape):
            self.value[e] = e
        head = shape.name or shape.head
        self.heads[head] = (*self.heads.get(head, ()), e)
        for child in dict.fromkeys(self.root[child] for child in children):
            self.uses[child] = (*self.uses[child], e)
        self._enter(e)

    def _is_value(self, e: Expr, shape: Shape) -> bool:
        if isinstance(e, Lit) or e is TRUE or e is FALSE or split_offset(e)[1]:
            return True
        name = e.name if isinstance(e, Const) else shape.name
        info = self.mctx.env.get(name) if name else None
        if info is None or info.kind != "ctor":
            return False
        return len(shape.args) == info.num_params + info.num_fields  # type: ignore[attr-defined]

    def _enter(self, e: Expr) -> None:
        """Put a term into the table of signatures; merge it with a congruent one."""
        signature = self.signature(e)
        if signature is None:
            return
        other = self.table.setdefault(signature, e)
        if self.root[other] is not self.root[e]:
            self._queue.append((e, other, None))

    def merge(self, a: Expr, b: Expr, reason: Reason) -> None:
        """Note that two known terms are equal; `close` draws the consequences."""
        if self.root[a] is not self.root[b]:
            self._queue.append((a, b, reason))

    def close(self) -> None:
        """Perform the merges that wait, and those that follow by congruence."""
        while self._queue:
            a, b, reason = self._queue.pop(0)
            if self.root[a] is not self.root[b]:
                self._join(a, b, reason)

    def _join(self, a: Expr, b: Expr, reason: Reason | None) -> None:
        backwards = len(self.members[self.root[a]]) > len(self.members[self.root[b]])
        if backwards:
            a, b = b, a
        old, new = self.root[a], self.root[b]
        moved, parents = self.members.pop(old), self.uses.pop(old)
        self.mctx.budget.spend(MERGE_STEPS * (len(moved) + len(parents)))
        self._turn(a)
        self.edge[a] = Edge(b, reason, backwards)
        for parent in parents:
            signature = self.signature(parent)
            if signature is not None and self.table.get(signature) is parent:
                del self.table[signature]
        for member in moved:
            self.root[member] = new
        self._note_changes(old, new, moved, parents)
        self.members[new] += moved
        self.uses[new] = tuple(dict.fromkeys((*self.uses[new], *parents)))
        for parent in parents:
            self._enter(parent)

    def _turn(self, e: Expr) -> None:
        """Turn the edges from `e` to the root of its tree around, so that `e` is the root."""
        last: Edge | None = None
        at: Expr | None = e
        while at is not None:
            edge = self.edge.pop(at, None)
            if last is not None:
                self.edge[at] = last
            last = None if edge is None else Edge(at, edge.reason, not edge.backwards)
            at = None if edge is None else edge.target

    def _note_changes(self, old: Expr, new: Expr, moved: tuple[Expr, ...], parents: tuple[Expr, ...]) -> None:
        gone, kept = self.value.pop(old, None), self.value.get(new)
        self.changed.update(dict.fromkeys(parents))
        if kept is not None:
            self.changed.update(dict.fromkeys(moved))
        if gone is None:
            return
        self.changed.update(dict.fromkeys((*self.members[new], *self.uses[new])))
        if kept is None:
            self.value[new] = gone
            return
        self.clashes.append((gone, kept))
        if split_offset(kept)[1] and not split_offset(gone)[1]:
            self.value[new] = gone
