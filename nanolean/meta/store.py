"""Metavariables and what they stand for: the mutable store that elaboration, unification and tactics write to.

A *natural* metavariable may be assigned by unification; a *synthetic* one is a goal that only tactics assign. Every
change goes on a trail, so `save()` is one number and `restore(mark)` undoes what came after it.

Under a binder a goal `?g` may mention a local `x` that its surroundings have abstracted. Then the surroundings hold
`?d x` for a fresh `?d` with the delayed assignment `?d := fun x => ?g`, which `instantiate` performs once the value of
`?g` is free of metavariables.
"""

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from nanolean.kernel.budget import Budget
from nanolean.kernel.declaration import ConstantInfo, Constants
from nanolean.kernel.expr import (
    App,
    Const,
    Expr,
    FVar,
    Lam,
    Let,
    MVar,
    Pi,
    Proj,
    Sort,
    abstract,
    collect_mvars,
    instantiate_rev,
    mk_app,
)
from nanolean.kernel.level import Level, LMVar, substitute
from nanolean.kernel.reduce import beta
from nanolean.meta.lctx import LocalContext, LocalDecl, fresh_fvar_id

MVarKind = Literal["natural", "synthetic"]
Transparency = Literal["none", "reducible", "default"]
Classical = Literal["", "last", "first"]

_MISSING: Any = object()
_mvar_ids = itertools.count(1)


@dataclass(frozen=True, slots=True)
class MVarDecl:
    """A metavariable: its type, the locals its value may use, and how it may be assigned."""

    mvar_id: str
    type: Expr
    lctx: LocalContext
    kind: MVarKind = "natural"
    user_name: str = ""
    depth: int = 0


@dataclass(frozen=True, slots=True)
class DelayedAssignment:
    """`?d a₁ .. aₙ` stands for the value of `mvar_id` with `fvars` replaced by the arguments."""

    fvars: tuple[str, ...]
    mvar_id: str


class Product(NamedTuple):
    """What `grind` knows of a product over `BVar`s for its variables: its sum of monomials, the proof, and the cost."""

    sum: Expr
    proof: Expr | None
    steps: int


MAX_EXPONENT = 256
"""The exponent up to which Lean's elaborator computes powers of numbers: its option `exponentiation.threshold`."""


class Caches:
    """What is known about terms without metavariables, over one environment; free to be emptied at any time.

    Powers of numbers with exponents above `max_exponent` stay as they are, in the elaborator and in tactics; the kernel
    has a limit of its own.
    """

    __slots__ = ("equal", "infer", "max_exponent", "products", "whnf")

    def __init__(self, max_exponent: int = MAX_EXPONENT) -> None:
        self.max_exponent = max_exponent
        self.infer: dict[Expr, Expr] = {}
        self.whnf: dict[Transparency, dict[Expr, Expr]] = {"none": {}, "reducible": {}, "default": {}}
        self.equal: dict[tuple[Transparency, tuple[Expr, Expr]], bool] = {}
        self.products: dict[tuple[Expr, tuple[Expr, ...]], Product] = {}

    def clear(self) -> None:
        """Forget everything."""
        self.infer.clear()
        self.equal.clear()
        self.products.clear()
        for table in self.whnf.values():
            table.clear()


class MetaStore:
    """Declarations and assignments of metavariables over one environment.

    `fvars` maps every free variable that is around to its declaration (ids are unique, so no context is needed to
    look one up); `depth` guards against assigning metavariables of an outer problem (see `new_depth`).
    """

    def __init__(self, env: Constants, budget: Budget, caches: Caches | None = None) -> None:
        self.env = env
        self.budget = budget
        self.caches = caches or Caches()
        self.decls: dict[str, MVarDecl] = {}
        self.assignment: dict[str, Expr] = {}
        self.delayed: dict[str, DelayedAssignment] = {}
        self.level_assignment: dict[Level, Level] = {}
        self.fvars: dict[str, LocalDecl] = {}
        self.postponed_levels: dict[tuple[Level, Level], bool] = {}
        self.depth = 0
        self.transparency: Transparency = "default"
        self.hole_names: frozenset[str] = frozenset()
        """The names that metavariables had in earlier steps of the proof."""
        self.classical: Classical = ""
        """Whether `Classical.propDecidable` is an instance, and when it is tried."""
        self.show_universes = False
        """Whether texts for the user show the levels of constants."""
        # Each entry is (table, key, value before).
        self._trail: list[tuple[dict[Any, Any], Any, Any]] = []
        self._level_depth: dict[str, int] = {}
        # Instantiated terms, valid while the trail has the length of the mark: every assignment lengthens it.
        self._cache: dict[Expr, Expr] = {}
        self._cache_mark = -1

    def whnf(self, e: Expr) -> Expr:
        """Weak head normal form (see `MetaContext`)."""
        raise NotImplementedError

    def infer(self, e: Expr) -> Expr:
        """Infer the type of a term (see `MetaContext`)."""
        raise NotImplementedError

    def is_def_eq(self, a: Expr, b: Expr) -> bool:
        """Unification (see `MetaContext`)."""
        raise NotImplementedError

    # -- undo ----------------------------------------------------------------------------------------------------

    def save(self) -> int:
        """Return a mark for `restore`."""
        return len(self._trail)

    def restore(self, mark: int) -> None:
        """Undo every declaration and assignment made since `mark`."""
        trail = self._trail
        # An attempt that failed before it assigned anything leaves the cache of instantiated terms good.
        if len(trail) == mark:
            return
        while len(trail) > mark:
            table, key, old = trail.pop()
            if old is _MISSING:
                table.pop(key, None)
            else:
                table[key] = old
        self._cache.clear()

    def _set(self, table: dict[Any, Any], key: Any, value: Any) -> None:
        self._trail.append((table, key, table.get(key, _MISSING)))
        table[key] = value

    # -- making --------------------------------------------------------------------------------------------------

    def fresh_mvar(self, type_: Expr, lctx: LocalContext, kind: MVarKind = "natural", user_name: str = "") -> MVar:
        """Make a metavariable of a type, whose value may use the locals of `lctx`."""
        self.budget.spend(5 + len(lctx))
        mvar_id = f"m{next(_mvar_ids)}"
        self._set(self.decls, mvar_id, MVarDecl(mvar_id, type_, lctx, kind, user_name, self.depth))
        return MVar(mvar_id)

    def fresh_level(self) -> Level:
        """Make a level metavariable."""
        name = f"u{next(_mvar_ids)}"
        # Not on the trail: the name is never given again.
        self._level_depth[name] = self.depth
        return LMVar(name)

    def fresh_const(self, info: ConstantInfo) -> Const:
        """Make the term of a constant at universe levels that unification is to find."""
        return Const(info.name, tuple(self.fresh_level() for _ in info.level_params))

    def fresh_local(self, user_name: str, type_: Expr, value: Expr | None = None, info: str = "default") -> LocalDecl:
        """Make a local declaration, known to the store; add it to a `LocalContext` to bring it into scope there."""
        # Never taken back by `restore`: terms that a failed attempt has made may be in caches, and their types are
        # asked.
        decl = LocalDecl(fresh_fvar_id(), user_name, type_, value, info)
        self.fvars[decl.fvar_id] = decl
        return decl

    def know(self, lctx: LocalContext) -> None:
        """Make the declarations of a context known to the store."""
        self.fvars.update(lctx.by_id)

    def set_kind(self, mvar_id: str, kind: MVarKind, user_name: str | None = None) -> None:
        """Turn a natural metavariable into a goal or back; None keeps its name."""
        decl = self.decls[mvar_id]
        name = decl.user_name if user_name is None else user_name
        self._set(self.decls, mvar_id, replace(decl, kind=kind, user_name=name))

    @contextmanager
    def new_depth(self) -> Iterator[None]:
        """Inside, metavariables made before are constants to unification."""
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    # -- assigning -----------------------------------------------------------------------------------------------

    def is_assigned(self, mvar_id: str) -> bool:
        """Return whether a metavariable has a value, now or delayed."""
        return mvar_id in self.assignment or mvar_id in self.delayed

    def is_assignable(self, mvar_id: str) -> bool:
        """Return whether unification may give the metavariable a value."""
        decl = self.decls[mvar_id]
        return decl.kind == "natural" and decl.depth == self.depth and not self.is_assigned(mvar_id)

    def is_level_assignable(self, level: LMVar) -> bool:
        """Return whether unification may give the level metavariable a value."""
        return level not in self.level_assignment and self._level_depth.get(level.name, 0) == self.depth

    def assign(self, mvar_id: str, value: Expr) -> None:
        """Give a metavariable its value (the caller has checked type, scope and occurrence)."""
        assert mvar_id not in self.assignment, f"metavariable ?{mvar_id} is already assigned"
        self._set(self.assignment, mvar_id, value)

    def assign_level(self, level: LMVar, value: Level) -> None:
        """Give a level metavariable its value."""
        self._set(self.level_assignment, level, value)

    def assign_delayed(self, mvar_id: str, fvars: Sequence[str], target: str) -> None:
        """Let `?mvar_id x₁ .. xₙ` stand for `?target` once that has a value without metavariables."""
        self._set(self.delayed, mvar_id, DelayedAssignment(tuple(fvars), target))

    def postpone_level(self, a: Level, b: Level) -> None:
        """Note an equation of levels that cannot be decided yet."""
        self._set(self.postponed_levels, (a, b), True)

    def take_postponed_levels(self) -> list[tuple[Level, Level]]:
        """Return the postponed equations of levels and clear them."""
        equations = list(self.postponed_levels)
        for equation in equations:
            self._trail.append((self.postponed_levels, equation, True))
            del self.postponed_levels[equation]
        return equations

    # -- reading -------------------------------------------------------------------------------------------------

    def decl(self, mvar_id: str) -> MVarDecl:
        """Return the declaration of a metavariable."""
        return self.decls[mvar_id]

    def is_hole_name(self, name: str) -> bool:
        """Return whether some metavariable of the proof, open or not, has or had that name."""
        # A proof may have thousands of metavariables and ask this for each `?x`.
        self.budget.spend(len(self.decls))
        return name in self.hole_names or any(decl.user_name == name for decl in self.decls.values())

    def user_name(self, mvar_id: str) -> str:
        """Return the name under which source text knows a metavariable, empty for none."""
        decl = self.decls.get(mvar_id)
        return "" if decl is None else decl.user_name

    def instantiate_level(self, level: Level) -> Level:
        """Replace the assigned level metavariables of the level."""
        while level.has_mvar and self.level_assignment:
            new = substitute(level, self.level_assignment)
            if new is level:
                break
            level = new
        return level

    def instantiate(self, e: Expr) -> Expr:
        """Replace every assigned metavariable of the term by its value, and contract the redexes this makes."""
        if not e.has_mvar:
            return e
        mark = len(self._trail)
        if mark != self._cache_mark:
            self._cache.clear()
            self._cache_mark = mark
        return self._instantiate(e)

    def _instantiate(self, e: Expr) -> Expr:
        if not e.has_mvar:
            return e
        value = self._cache.get(e)
        if value is None:
            value = self._cache[e] = self._instantiate_node(e)
        return value

    def _instantiate_node(self, e: Expr) -> Expr:
        self.budget.spend()
        go = self._instantiate
        match e:
            case MVar(mvar_id):
                value = self.assignment.get(mvar_id)
                return e if value is None else go(value)
            case App(_, _):
                return self._instantiate_app(e)
            case Lam(name, type_, body, info):
                return Lam(name, go(type_), go(body), info)
            case Pi(name, type_, body, info):
                return Pi(name, go(type_), go(body), info)
            case Let(name, type_, value, body):
                return Let(name, go(type_), go(value), go(body))
            case Sort(level):
                return Sort(self.instantiate_level(level))
            case Const(name, levels):
                return Const(name, tuple(self.instantiate_level(level) for level in levels))
            case Proj(struct, index, of):
                return Proj(struct, index, go(of))
            case _:
                return e

    def _instantiate_app(self, e: Expr) -> Expr:
        args: list[Expr] = []
        fn = e
        while isinstance(fn, App):
            args.append(fn.arg)
            fn = fn.fn
        args.reverse()
        if isinstance(fn, MVar):
            delayed = self.delayed.get(fn.id)
            if delayed is not None and len(args) >= len(delayed.fvars):
                return self._instantiate_delayed(fn, delayed, [self._instantiate(arg) for arg in args])
            # `?f a` with `?f := fun x => v` becomes `v` at `a`: left as a redex it would show up in goals (Lean's
            # `instantiateMVars` does it too).
            if fn.id in self.assignment:
                return beta(self._instantiate(fn), [self._instantiate(arg) for arg in args])
        result = self._instantiate(fn)
        for arg in args:
            result = App(result, self._instantiate(arg))
        return result

    def _instantiate_delayed(self, fn: Expr, delayed: DelayedAssignment, args: list[Expr]) -> Expr:
        value = self._instantiate(MVar(delayed.mvar_id))
        if value.has_mvar and collect_mvars(value):
            # A metavariable that is left may still get a value that mentions the locals, which would escape here; of
            # universes none does (Lean's MetavarContext.lean, on delayed assignments).
            return mk_app(fn, *args)
        count = len(delayed.fvars)
        body = abstract(value, [FVar(fvar_id) for fvar_id in delayed.fvars])
        return beta(instantiate_rev(body, args[:count]), args[count:])
