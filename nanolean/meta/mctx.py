"""`MetaContext`: the metavariable store together with type inference, reduction and unification.

This is what the elaborator and the tactics hold. The algorithms live in `reduce`, `infer` and `unify`; the methods
here only name them.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from nanolean.kernel.expr import Expr, Pi, Sort
from nanolean.kernel.level import Level
from nanolean.meta import bind, infer, reduce, unify
from nanolean.meta.store import MetaStore, Transparency


class MetaContext(MetaStore):
    """Metavariables over an environment, with everything one can ask about terms that mention them."""

    # -- types ---------------------------------------------------------------------------------------------------

    def infer_type(self, e: Expr) -> Expr:
        """Infer the type of a term that is known to be well typed (arguments are not checked)."""
        return infer.infer_type(self, e)

    def infer(self, e: Expr) -> Expr:
        """Infer as `infer_type` does, under the name that the kernel's reduction steps use."""
        return infer.infer_type(self, e)

    def is_prop(self, type_: Expr) -> bool:
        """Return whether a type is a proposition (False also where that is not known yet)."""
        return infer.is_prop(self, type_)

    def is_proof(self, e: Expr) -> bool:
        """Return whether a term is a proof of a proposition."""
        return infer.is_prop(self, self.infer_type(e))

    def sort_level(self, type_: Expr) -> Level | None:
        """Return the level `u` with `type_ : Sort u`, None where `type_` is no type."""
        # Nothing is assigned here, unlike in `infer.sort_level`: this is asked while tactics only look.
        sort = self.whnf(self.infer_type(type_))
        return sort.level if isinstance(sort, Sort) else None

    # -- reduction -----------------------------------------------------------------------------------------------

    def whnf(self, e: Expr, transparency: Transparency | None = None) -> Expr:
        """Weak head normal form; definitions unfold as far as the transparency allows (None: the current one)."""
        if transparency is None:
            return reduce.whnf(self, e)
        with self.with_transparency(transparency):
            return reduce.whnf(self, e)

    def whnf_pi(self, type_: Expr, transparency: Transparency | None = None) -> Expr:
        """Return the type of a function as it is, so that goals show it as it was written; any other reduced."""
        if isinstance(type_, Pi):
            return type_
        return self.whnf(type_, transparency)

    def whnf_core(self, e: Expr) -> Expr:
        """Weak head normal form without unfolding definitions."""
        return reduce.whnf_core(self, e)

    def unfold(self, e: Expr) -> Expr | None:
        """Unfold the definition at the head of the term once (then beta), None if its head does not unfold."""
        return reduce.unfold(self, e)

    @contextmanager
    def with_transparency(self, transparency: Transparency) -> Iterator[None]:
        """Inside, `whnf` and `is_def_eq` unfold only "none", "reducible" or all ("default") definitions."""
        before, self.transparency = self.transparency, transparency
        try:
            yield
        finally:
            self.transparency = before

    # -- unification ---------------------------------------------------------------------------------------------

    def is_def_eq(self, a: Expr, b: Expr) -> bool:
        """Return whether two terms of one type are definitionally equal, assigning metavariables to make them so.

        On False nothing has been assigned. Raises `BudgetExceeded`, then too with everything undone.
        """
        return unify.is_def_eq(self, a, b)

    # -- binding -------------------------------------------------------------------------------------------------

    def mk_lambda(self, fvar_ids: Sequence[str], body: Expr) -> Expr:
        """`fun x₁ .. xₙ => body` over locals given from the outside in; locals with a value become `let`."""
        return bind.mk_lambda(self, fvar_ids, body)

    def mk_pi(self, fvar_ids: Sequence[str], body: Expr) -> Expr:
        """`(x₁ : T₁) → .. → body` over locals given from the outside in; locals with a value become `let`."""
        return bind.mk_pi(self, fvar_ids, body)
