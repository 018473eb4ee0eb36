"""Elaboration of simple forms and binders: holes, literals, ascriptions, `have`, `let`, `fun`, `∀`, `∃`."""

from collections.abc import Callable, Sequence

from nanolean.elab.elaborator import Elaborator, elaborates
from nanolean.elab.names import ROOT, elab_level
from nanolean.elab.session import SorryRecord
from nanolean.kernel.expr import HAVE, PROP, TYPE, App, Expr, Lit, MVar, Pi, Sort, instantiate, lift, mk_app, mk_const
from nanolean.kernel.level import Level, Succ
from nanolean.meta.instances import is_class
from nanolean.meta.lctx import inaccessible
from nanolean.proof_errors import ElabError
from nanolean.syntax import (
    AppStx,
    Arrow,
    Binder,
    By,
    Exists,
    Forall,
    Fun,
    Have,
    Hole,
    Ident,
    If,
    Let,
    ListLit,
    Num,
    Show,
    SorryTerm,
    SortStx,
    SyntheticHole,
    Term,
    TypeAscription,
)


@elaborates(Num)
def elab_num(self: Elaborator, stx: Num, expected: Expr | None) -> Expr:
    """Elaborate a number; always of type `Nat`."""
    return Lit(stx.value)


@elaborates(Hole)
def elab_hole(self: Elaborator, stx: Hole, expected: Expr | None) -> Expr:
    """`_`: whatever unification finds."""
    return self.fresh_hole(expected, stx)


@elaborates(SyntheticHole)
def elab_synthetic_hole(self: Elaborator, stx: SyntheticHole, expected: Expr | None) -> Expr:
    """`?x`: a new goal; the same name means the same goal."""
    named = stx.name not in ("_", "")
    if named and stx.name in self.named_goals:
        return MVar(self.named_goals[stx.name])
    if named and self.mctx.is_hole_name(stx.name):
        # Lean means the earlier goal, which may be open or not, and whose context may be another one.
        raise ElabError(f"the hole `?{stx.name}` has the name of an earlier goal; it needs a new one", stx.pos, stx.end)
    type_ = self.type_or_fresh(expected)
    mvar = self.mctx.fresh_mvar(type_, self.lctx, "synthetic", stx.name if named else "")
    self.goals.append(mvar.id)
    self.holes.append((mvar.id, stx))
    if named:
        self.named_goals[stx.name] = mvar.id
    return mvar


@elaborates(SortStx)
def elab_sort(self: Elaborator, stx: SortStx, expected: Expr | None) -> Expr:
    """`Prop`, `Type u`, `Sort u`."""
    if stx.kind == "Prop" or stx.level is None:
        return TYPE if stx.kind == "Type" else PROP
    level: Level = elab_level(self.session, stx.level)
    if stx.kind == "Type":  # `Type u` is `Sort (u + 1)`
        level = Succ(level)
    return Sort(level)


@elaborates(TypeAscription)
def elab_ascription(self: Elaborator, stx: TypeAscription, expected: Expr | None) -> Expr:
    """`(e : T)`."""
    type_ = self.elab_type(stx.type)
    return self.ensure_type(self.elab(stx.term, type_), type_, stx)


@elaborates(SorryTerm)
def elab_sorry(self: Elaborator, stx: SorryTerm, expected: Expr | None) -> Expr:
    """`sorry`: the axiom `sorryAx`, put on record."""
    type_ = self.type_or_fresh(expected)
    return self.session.sorry_of(SorryRecord(stx.pos, stx.end, self.lctx, type_))


@elaborates(By)
def elab_by(self: Elaborator, stx: By, expected: Expr | None) -> Expr:
    """`by tactics`: run once everything else is known."""
    return self.wait(stx, expected)


@elaborates(Show)
def elab_show(self: Elaborator, stx: Show, expected: Expr | None) -> Expr:
    """`show T from e` is `have this : T := e; this`: its type is `T` even where that of `e` only unfolds to it."""
    type_ = self.elab_type(stx.type)
    if expected is not None:
        self.mctx.is_def_eq(expected, type_)
    value = self.elab_as(stx.value, type_)
    with self.local("this", type_, info=HAVE) as decl:
        return App(self.mctx.mk_lambda([decl.fvar_id], decl.fvar), value)


def _written_type(self: Elaborator, stx: Term | None) -> Expr:
    """The type that a `have` or `let` states; one to be found where it states none."""
    if stx is None:
        return self.fresh_type()
    return self.elab_type(stx)


@elaborates(Have)
def elab_have(self: Elaborator, stx: Have, expected: Expr | None) -> Expr:
    """`have h : T := v; body`, as an applied function."""
    type_ = _written_type(self, stx.type)
    value = self.elab_as(stx.value, type_)
    # A redex and no `let`: the body cannot see into a proof. The mark HAVE makes it print as `have`.
    with self.local(stx.name, type_, info=HAVE) as decl:
        body = self.elab(stx.body, expected)
        if expected is not None:
            body = self.ensure_type(body, expected, stx.body)
        fn = self.mctx.mk_lambda([decl.fvar_id], body)
    return App(fn, value)


@elaborates(Let)
def elab_let(self: Elaborator, stx: Let, expected: Expr | None) -> Expr:
    """`let x : T := v; body`."""
    type_ = _written_type(self, stx.type)
    value = self.elab_as(stx.value, type_)
    with self.local(stx.name, type_, value) as decl:
        body = self.elab(stx.body, expected)
        if expected is not None:
            body = self.ensure_type(body, expected, stx.body)
        return self.mctx.mk_lambda([decl.fvar_id], body)


@elaborates(ListLit)
def elab_list(self: Elaborator, stx: ListLit, expected: Expr | None) -> Expr:
    """`[a, b]` as nested `List.cons`."""
    term: Term = Ident("List.nil", pos=stx.pos, end=stx.end)
    for item in reversed(stx.items):
        cons = Ident("List.cons", pos=item.pos, end=item.end)
        term = AppStx(cons, (item, term), pos=stx.pos, end=stx.end)
    return self.elab(term, expected)


@elaborates(If)
def elab_if(self: Elaborator, stx: If, expected: Expr | None) -> Expr:
    """`if c then a else b` is `ite c a b`; `if h : c then a else b` is `dite c (fun h => a) (fun h => b)`."""
    args: tuple[Term, ...] = (stx.condition, stx.then, stx.otherwise)
    fn = Ident(f"{ROOT}ite", pos=stx.pos, end=stx.end)
    if stx.name is not None:
        binder = Binder(stx.name, pos=stx.pos, end=stx.end)
        branches = [Fun((binder,), body, pos=body.pos, end=body.end) for body in args[1:]]
        args = (stx.condition, *branches)
        fn = Ident(f"{ROOT}dite", pos=stx.pos, end=stx.end)
    # The library itself is read by this elaborator, from before `ite` on.
    if fn.name.removeprefix(ROOT) not in self.session.state.env:
        raise ElabError("`if` is not defined yet", stx.pos, stx.end)
    return self.elab(AppStx(fn, args, pos=stx.pos, end=stx.end), expected)


def binder_name(binder: Binder) -> str:
    """Return the name a binder gives to its local; `_` makes an inaccessible one."""
    if binder.name != "_":
        return binder.name
    if binder.info == "inst":
        return inaccessible("inst")
    return inaccessible("x")


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
    """Elaborate the type of a binder, to be found by unification where it is left out."""
    if binder.type is None:
        type_ = self.fresh_type()
        self.holes.append((type_.id, _blame(binder)))  # type: ignore[attr-defined]
        return type_
    type_ = self.elab_type(binder.type)
    checked = self.session.state.option("checkBinderAnnotations") is not False
    if binder.info == "inst" and checked and not is_class(self.mctx, self.mctx.instantiate(type_)):
        raise ElabError(
            f"invalid binder annotation, type is not a class instance\n  {self.show(type_)}\n\n"
            "Note: Use the command `set_option checkBinderAnnotations false` to disable the check",
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
    """Elaborate `A → B`."""
    domain = self.elab_type(stx.domain)
    # Lean's name of the binder of an arrow, which `intro` without a name shows as `a✝`.
    return Pi(inaccessible("a"), domain, lift(self.elab_type(stx.codomain), 1))


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
    # `fun x => e` without a type of `x`: elaborated now, `x.1` in the body would have no type to be read in.
    known = self.known_head(expected)
    untyped = any(binder.type is None for binder in stx.binders)
    if known is None and untyped and stx is not self.forced:
        return self.wait(stx, expected)
    try:
        return _fun(self, stx, 0, known)
    except _NoFunction:
        # What it is without being told, and that it should be something else.
        assert expected is not None
        return self.ensure_type(_fun(self, stx, 0, None), expected, stx)


class _NoFunction(Exception):
    """A `fun` is expected to be something that is no function, or has more binders than that takes."""


def _fun(self: Elaborator, stx: Fun, index: int, expected: Expr | None) -> Expr:
    if index == len(stx.binders):
        if expected is None:
            return self.elab(stx.body)
        return self.elab_as(stx.body, expected)
    binder = stx.binders[index]
    pi = self.known_head(expected)
    if expected is not None and pi is not None and not isinstance(pi, Pi):
        raise _NoFunction
    if not isinstance(pi, Pi):
        pi = None
    if binder.type is None and pi is not None:
        type_ = pi.type
    else:
        type_ = binder_type(self, binder)
        if pi is not None and not self.mctx.is_def_eq(pi.type, type_):
            types = self.two_types(type_, pi.type)
            raise ElabError(f"Type mismatch\n  {binder.name}\n{types}", binder.pos, binder.end)
    # The expected type says how an argument is given: `fun x => e` proves `∀ {x}, ..` too.
    info: str = binder.info
    if pi is not None:
        info = pi.info
    with self.local(binder_name(binder), type_, info=info) as decl:
        rest = instantiate(pi.body, decl.fvar) if pi is not None else None
        return self.mctx.mk_lambda([decl.fvar_id], _fun(self, stx, index + 1, rest))
