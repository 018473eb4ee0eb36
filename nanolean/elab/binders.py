"""Elaboration of `fun`, `∀`, `→` and `∃`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nanolean.elab.elaborator import Elaborator, elaborates
from nanolean.errors import ElabError
from nanolean.kernel.expr import PROP, Expr, Pi, instantiate, lift, mk_app, mk_const
from nanolean.meta.instances import is_class
from nanolean.meta.lctx import inaccessible
from nanolean.syntax import Arrow, Binder, Exists, Forall, Fun, Term


def binder_name(binder: Binder) -> str:
    """The name a binder gives to its local; `_` makes an inaccessible one."""
    if binder.name == "_":
        return inaccessible("inst" if binder.info == "inst" else "x")
    return binder.name


def with_binders(self: Elaborator, binders: Sequence[Binder], body: Callable[[list[str]], Expr]) -> Expr:
    """Bring the binders into scope one after another and answer what `body` makes of their ids."""

    def step(index: int, ids: list[str]) -> Expr:
        if index == len(binders):
            return body(ids)
        binder = binders[index]
        type_ = binder_type(self, binder)
        with self.local(binder_name(binder), type_, info=binder.info) as decl:
            return step(index + 1, [*ids, decl.fvar_id])

    return step(0, [])


def binder_type(self: Elaborator, binder: Binder) -> Expr:
    """The type of a binder, to be found by unification where it is left out."""
    if binder.type is None:
        type_ = self.fresh_type()
        self.holes.append((type_.id, _blame(binder)))  # type: ignore[attr-defined]
        return type_
    type_ = self.elab_type(binder.type)
    if binder.info == "inst" and not is_class(self.mctx, self.mctx.instantiate(type_)):
        raise ElabError(
            f"invalid binder annotation, type is not a class instance\n  {self.show(type_)}",
            binder.type.pos,
            binder.type.end,
        )
    return type_


def _blame(binder: Binder) -> Term:
    return Term(pos=binder.pos, end=binder.end)


@elaborates(Forall)
def elab_forall(self: Elaborator, stx: Forall, expected: Expr | None) -> Expr:
    """`∀ x y : T, p`."""
    return with_binders(self, stx.binders, lambda ids: self.mctx.mk_pi(ids, self.elab_type(stx.body)))


@elaborates(Arrow)
def elab_arrow(self: Elaborator, stx: Arrow, expected: Expr | None) -> Expr:
    """`A → B`."""
    domain = self.elab_type(stx.domain)
    return Pi("a", domain, lift(self.elab_type(stx.codomain), 1))


@elaborates(Exists)
def elab_exists(self: Elaborator, stx: Exists, expected: Expr | None) -> Expr:
    """`∃ x y : T, p` as nested `Exists`."""

    def step(index: int) -> Expr:
        if index == len(stx.binders):
            return self.elab_as(stx.body, PROP)
        binder = stx.binders[index]
        type_ = binder_type(self, binder)
        with self.local(binder_name(binder), type_) as decl:
            body = step(index + 1)
            predicate = self.mctx.mk_lambda([decl.fvar_id], body)
        level = self.mctx.sort_level(type_)
        assert level is not None
        return mk_app(mk_const("Exists", level), type_, predicate)

    return step(0)


@elaborates(Fun)
def elab_fun(self: Elaborator, stx: Fun, expected: Expr | None) -> Expr:
    """`fun x y => e`; binder types come from the expected type, so this waits where that is not known."""
    known = self.known_head(expected)
    untyped = any(binder.type is None for binder in stx.binders)
    if known is None and untyped and stx is not self.forced:
        return self.wait(stx, expected)
    return _fun(self, stx, 0, known)


def _fun(self: Elaborator, stx: Fun, index: int, expected: Expr | None) -> Expr:
    if index == len(stx.binders):
        if expected is None:
            return self.elab(stx.body)
        return self.elab_as(stx.body, expected)
    binder = stx.binders[index]
    pi = self.known_head(expected)
    if expected is not None and pi is not None and not isinstance(pi, Pi):
        raise ElabError(
            f"Type mismatch\n  fun {binder.name} => ...\nbut is expected to have type\n  {self.show(expected)}",
            stx.pos,
            stx.end,
        )
    pi = pi if isinstance(pi, Pi) else None
    if binder.type is None and pi is not None:
        type_ = pi.type
    else:
        type_ = binder_type(self, binder)
        if pi is not None and not self.mctx.is_def_eq(pi.type, type_):
            raise ElabError(
                f"Type mismatch\n  {binder.name}\nhas type\n  {self.show(type_)}\n"
                f"but is expected to have type\n  {self.show(pi.type)}",
                binder.pos,
                binder.end,
            )
    info = pi.info if pi is not None else binder.info
    with self.local(binder_name(binder), type_, info=info) as decl:
        rest = instantiate(pi.body, decl.fvar) if pi is not None else None
        return self.mctx.mk_lambda([decl.fvar_id], _fun(self, stx, index + 1, rest))
