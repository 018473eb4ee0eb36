"""The E-graph of `grind`: terms in classes of equals, closed under congruence.

Every edge of the proof forest carries a `Reason`: a function that builds the proof when it is needed, None for
congruence. So a search that fails builds no proofs. Branches of the search work on copies.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from nanolean.kernel.expr import (
    PROP,
    App,
    BVar,
    Const,
    Expr,
    FVar,
    Lam,
    Lit,
    Pi,
    Sort,
    get_app_fn_args,
    has_loose_bvar,
    instantiate,
    mk_app,
)
from nanolean.kernel.level import ONE, Level
from nanolean.meta.mctx import MetaContext
from nanolean.meta.reduce import NAT_TYPE, const_name
from nanolean.tactics.eq_proof import (
    FALSE,
    TRUE,
    Step,
    congr_args,
    implies_congr,
    level_of,
    mk_congr_arg,
    mk_eq_false,
    mk_eq_refl,
    mk_eq_true,
    mk_of_eq_true,
    mk_propext,
    trans,
)
from nanolean.tactics.grind.normal import arrow_parts, split_offset

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
        return const_name(self.head)

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
        shape = self._shapes.get(e)
        if shape is None:
            shape = self._shapes[e] = self._read(e)
        return shape

    def _read(self, e: Expr) -> Shape:
        if isinstance(e, App):
            fn, args = get_app_fn_args(e)
            if isinstance(fn, Const | FVar):
                watched = CONDITIONS.get((const_name(fn), len(args)), ())
                return Shape(fn, tuple(args), self._free_places(fn, args), watched)
            return LEAF
        sides = arrow_parts(e)
        if sides is not None and self.mctx.is_prop(sides[0]) and self.mctx.is_prop(sides[1]):
            return Shape(IMPLIES, sides, (0, 1))
        return LEAF

    def _free_places(self, fn: Const | FVar, args: list[Expr]) -> tuple[int, ...]:
        """The arguments that are data or propositions and on which the types of others do not depend."""
        # By head and number of arguments: types differ between calls, but not which places depend on which.
        key = (fn, len(args))
        places = self._free.get(key)
        if places is None:
            places = self._free[key] = tuple(self._find_free(fn, args))
        return places

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
        """Return an independent graph with the same content; nothing may be pending."""
        new = object.__new__(EGraph)
        new.mctx, new.shapes = self.mctx, self.shapes
        new.root, new.members, new.uses = dict(self.root), dict(self.members), dict(self.uses)
        new.value, new.edge, new.table = dict(self.value), dict(self.edge), dict(self.table)
        new.place, new.generation, new.heads = dict(self.place), dict(self.generation), dict(self.heads)
        new.changed, new.clashes, new._queue = dict(self.changed), list(self.clashes), list(self._queue)
        return new

    # -- questions ---------------------------------------------------------------------------------------------------

    def same(self, a: Expr, b: Expr) -> bool:
        """Return whether two terms are known to be equal."""
        return a is b or (a in self.root and self.root[a] is self.root.get(b))

    def is_true(self, prop: Expr) -> bool:
        """Return whether a proposition is known to hold."""
        return self.root.get(prop) is self.root[TRUE]

    def is_false(self, prop: Expr) -> bool:
        """Return whether a proposition is known not to hold."""
        return self.root.get(prop) is self.root[FALSE]

    def is_open(self, prop: Expr) -> bool:
        """Return whether a proposition is neither known to hold nor known not to."""
        root = self.root[prop]
        return root is not self.root[TRUE] and root is not self.root[FALSE]

    def signature(self, e: Expr) -> Signature | None:
        """Return what congruent terms have in common; None for terms without arguments."""
        shape = self.shapes(e)
        if not shape.args:
            return None
        root = self.root
        head = shape.head
        if not isinstance(head, str | Const):  # a local function is a term of the graph, and may be equal to another
            head = root.get(head, head)
        if shape.is_equality:
            type_, a, b = shape.args
            a, b = root[a], root[b]
            # The sides in a fixed order, so that `a = b` and `b = a` are congruent.
            if self.place[a] > self.place[b]:
                a, b = b, a
            return (head, type_, a, b)
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
        # Uses are kept with the class and not with the term, for the next merge.
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
        # The table holds one term for each signature; a second one is congruent to it.
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
        # The smaller class moves: a term changes its root as often as the logarithm of the number of terms.
        backwards = len(self.members[self.root[a]]) > len(self.members[self.root[b]])
        if backwards:
            a, b = b, a
        old, new = self.root[a], self.root[b]
        moved, parents = self.members.pop(old), self.uses.pop(old)
        self.mctx.budget.spend(MERGE_STEPS * (len(moved) + len(parents)))
        # The proof forest of Nieuwenhuis and Oliveras: an edge joins the very terms that were equated, so `a` must be a
        # root.
        self._turn(a)
        self.edge[a] = Edge(b, reason, backwards)
        for parent in parents:
            signature = self.signature(parent)
            # Signatures are over roots: those of the uses change, and are entered again after the merge.
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
        at = e
        while True:
            edge = self.edge.pop(at, None)
            if last is not None:
                self.edge[at] = last
            if edge is None:
                return
            last = Edge(at, edge.reason, not edge.backwards)
            at = edge.target

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
        # A literal or constructor tells more than `x + k`.
        if split_offset(kept)[1] and not split_offset(gone)[1]:
            self.value[new] = gone


NOT = Const("Not")


class Explainer:
    """Builds proofs over one graph; what is known to be equal there has a proof."""

    def __init__(self, graph: EGraph) -> None:
        self.graph = graph
        self.mctx: MetaContext = graph.mctx
        self._equal: dict[tuple[Expr, Expr], Expr] = {}
        self._types: dict[Expr, tuple[Level, Expr]] = {}

    # -- propositions ------------------------------------------------------------------------------------------------

    def holds(self, prop: Expr) -> Expr:
        """Build a proof of a proposition that is equal to `True`."""
        if prop is TRUE:
            return Const("True.intro")
        return of_eq_true(prop, self.equal(prop, TRUE))

    def fails(self, prop: Expr) -> Expr:
        """Build a proof of `¬prop` for a proposition that is equal to `False`."""
        if prop is FALSE:
            return Const("not_false")
        return of_eq_false(prop, self.equal(prop, FALSE))

    def step(self, e: Expr, target: Expr) -> Step:
        """Return the equation from a term to one that is known to be equal, as a rewriting step."""
        if e is target:
            return Step(target)
        return Step(target, self.equal(e, target))

    # -- equations ---------------------------------------------------------------------------------------------------

    def type_of(self, e: Expr) -> tuple[Level, Expr]:
        """Universe level and type of a term."""
        known = self._types.get(e)
        if known is None:
            type_ = self.mctx.infer_type(e)
            known = self._types[e] = (ONE if type_ is PROP else level_of(self.mctx, type_), type_)
        return known

    def equal(self, a: Expr, b: Expr) -> Expr:
        """Build a proof of `a = b`."""
        if a is b:
            level, type_ = self.type_of(a)
            return mk_eq_refl(level, type_, a)
        proof = self._equal.get((a, b))
        if proof is None:
            proof = self._equal[(a, b)] = self._path(a, b)
        return proof

    def _path(self, a: Expr, b: Expr) -> Expr:
        """The proof along the path from `a` to `b` in the forest."""
        above = self._ancestors(b)
        ups: list[Expr] = []
        meet = a
        while meet not in above:
            ups.append(meet)
            meet = self.graph.edge[meet].target
        downs = list(above)[: list(above).index(meet)]
        level, type_ = self.type_of(a)
        proof: Expr | None = None
        at = a
        steps = [(e, True) for e in ups] + [(e, False) for e in reversed(downs)]
        for source, up in steps:
            to = self.graph.edge[source].target if up else source
            link = self._edge(source, up)
            if proof is None:
                proof = link
            else:
                proof = mk_app(Const("Eq.trans", (level,)), type_, a, at, to, proof, link)
            at = to
        assert proof is not None and at is b, "the terms are in one tree"
        return proof

    def _ancestors(self, e: Expr) -> dict[Expr, None]:
        ancestors = {e: None}
        edge = self.graph.edge.get(e)
        while edge is not None:
            ancestors[edge.target] = None
            edge = self.graph.edge.get(edge.target)
        return ancestors

    def _edge(self, source: Expr, up: bool) -> Expr:
        """The proof of an edge, from `source` to its target when `up`, else the other way round."""
        target, reason, backwards = self.graph.edge[source]
        start, end = source, target
        if not up:
            start, end = target, source
        if reason is None:
            return self._congruence(start, end)
        proof = reason(self)
        if up != backwards:
            return proof
        level, type_ = self.type_of(source)
        return mk_app(Const("Eq.symm", (level,)), type_, end, start, proof)

    def _congruence(self, a: Expr, b: Expr) -> Expr:
        shapes = self.graph.shapes
        left, right = shapes(a), shapes(b)
        if left.head == IMPLIES:
            (p, q), (p2, q2) = left.args, right.args
            step = implies_congr(self.mctx, p, q, self.step(p, p2), self.step(q, q2))
        # Congruent with the sides exchanged, see `signature`.
        elif left.is_equality and not self._matches(left.args, right.args):
            return self._swapped(a, b, left.args, right.args)
        else:
            steps = [None if x is y else self.step(x, y) for x, y in zip(left.args, right.args)]
            assert isinstance(left.head, Expr) and isinstance(right.head, Expr)
            step = congr_args(self.mctx, left.head, list(left.args), list(steps))
            if left.head is not right.head:
                step = self._other_head(a, step, left.head, right.head, list(right.args))
        if step.proof is None:
            return self.equal(a, a)
        return step.proof

    def _matches(self, left: tuple[Expr, ...], right: tuple[Expr, ...]) -> bool:
        same = self.graph.same
        return same(left[1], right[1]) and same(left[2], right[2])

    def _swapped(self, a: Expr, b: Expr, left: tuple[Expr, ...], right: tuple[Expr, ...]) -> Expr:
        """`(x = y) = (x' = y')` from `x = y'` and `y = x'`."""
        level, type_ = self.type_of(left[1])
        symm = Const("Eq.symm", (level,))
        (_, x, y), (_, x2, y2) = left, right
        turned = mk_app(Const(EQUALITY, (level,)), type_, y, x)
        forth = mk_app(symm, type_, x, y)
        back = mk_app(symm, type_, y, x)
        flip = mk_propext(a, turned, mk_app(Const("Iff.intro"), a, turned, forth, back))
        head = mk_app(Const(EQUALITY, (level,)), type_)
        rest = congr_args(self.mctx, head, [y, x], [self.step(y, x2), self.step(x, y2)])
        result = trans(self.mctx, a, Step(turned, flip), rest)
        assert result.proof is not None
        return result.proof

    def _other_head(self, start: Expr, step: Step, left: Expr, right: Expr, args: list[Expr]) -> Step:
        """`start = right args` from `start = left args` and `left = right`."""
        level, type_ = self.type_of(left)
        result_level, result = self.type_of(step.expr)
        apply_to_args = Lam("f", type_, mk_app(BVar(0), *args))
        eq = mk_congr_arg((level, result_level), (type_, result), (left, right), apply_to_args, self.equal(left, right))
        return trans(self.mctx, start, step, Step(mk_app(right, *args), eq))


def of_eq_true(prop: Expr, equation: Expr) -> Expr:
    """Build a proof of `prop` from `prop = True`."""
    inner = _argument(equation, "eq_true")
    return inner or mk_of_eq_true(prop, equation)


def of_eq_false(prop: Expr, equation: Expr) -> Expr:
    """Build a proof of `¬prop` from `prop = False`."""
    inner = _argument(equation, "eq_false")
    return inner or mk_app(Const("of_eq_false"), prop, equation)


def eq_true(prop: Expr, proof: Expr) -> Expr:
    """`prop = True` from a proof of `prop`."""
    inner = _argument(proof, "of_eq_true")
    return inner or mk_eq_true(prop, proof)


def eq_false(prop: Expr, proof: Expr) -> Expr:
    """`prop = False` from a proof of `¬prop`."""
    inner = _argument(proof, "of_eq_false")
    return inner or mk_eq_false(prop, proof)


def _argument(proof: Expr, lemma: str) -> Expr | None:
    """The last argument of a proof by a lemma with two arguments, None for other proofs."""
    # Facts go into the graph as `p = True` and come out as `p`: without this each step would add both lemmas.
    fn, args = get_app_fn_args(proof)
    if isinstance(fn, Const) and fn.name == lemma and len(args) == 2:
        return args[1]
    return None


def mk_not(prop: Expr) -> Expr:
    """`¬prop`."""
    return App(NOT, prop)
