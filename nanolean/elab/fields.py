"""Dot notation: what `e.field` and `e.1` mean for the type of `e`."""

from __future__ import annotations

from dataclasses import dataclass

from nanolean.elab.elaborator import Elaborator
from nanolean.errors import ElabError
from nanolean.kernel.declaration import CtorInfo, InductiveInfo
from nanolean.kernel.expr import Const, Expr, Pi, Proj, Sort, get_app_fn
from nanolean.meta.mctx import MetaContext
from nanolean.syntax import Term


@dataclass(frozen=True)
class Access:
    """A constant `owner.field` that takes the object as an argument, or a term that is the field already."""

    name: str | None = None
    owner: str = ""
    term: Expr | None = None


def access_fields(self: Elaborator, e: Expr, field: str | int, stx: Term) -> Access:
    """How to read a field of `e`; raises where its type has none of that name."""
    type_ = self.mctx.instantiate(self.mctx.infer_type(e))
    if self.known_head(type_) is None:
        self.resume()
        type_ = self.mctx.instantiate(type_)
    first = type_ = self.mctx.whnf_core(type_)
    while True:
        head = get_app_fn(type_)
        if isinstance(head, Const):
            access = _projection(self, e, head.name, field) if isinstance(field, int) else None
            if access is not None:
                return access
            if isinstance(field, str) and f"{head.name}.{field}" in self.session.state.env:
                return Access(f"{head.name}.{field}", head.name)
        if isinstance(type_, Pi) and isinstance(field, str) and f"Function.{field}" in self.session.state.env:
            return Access(f"Function.{field}", "Function")
        unfolded = self.mctx.unfold(type_)
        if unfolded is None:
            break
        type_ = self.mctx.whnf_core(unfolded)
    shown = self.show(first)
    head = get_app_fn(first)
    if isinstance(e, Const) and isinstance(first, Sort | Pi) and isinstance(field, str):
        raise ElabError(f"Unknown constant `{e.name}.{field}`", stx.pos, stx.end)
    if isinstance(field, int):
        raise ElabError(
            f"Invalid projection: Expected a value whose type is a structure with {field} fields, but\n  "
            f"{self.show(e)}\nhas type\n  {shown}",
            stx.pos,
            stx.end,
        )
    where = f"`{head.name}.{field}`" if isinstance(head, Const) else f"`{field}`"
    raise ElabError(
        f"Invalid field `{field}`: The environment does not contain {where}, so it is not possible to project the "
        f"field `{field}` from an expression\n  {self.show(e)}\nof type `{shown}`",
        stx.pos,
        stx.end,
    )


def _projection(self: Elaborator, e: Expr, struct: str, place: int) -> Access | None:
    """`e.1`: the function named after the field if there is one, otherwise the kernel's projection."""
    info = self.session.state.get(struct)
    if not isinstance(info, InductiveInfo) or not info.is_structure:
        return None
    ctor = self.session.state.env[info.ctors[0]]
    assert isinstance(ctor, CtorInfo)
    if not 1 <= place <= ctor.num_fields:
        return None
    name = f"{struct}.{field_names(ctor)[place - 1]}"
    if name in self.session.state.env:
        return Access(name, struct)
    if info.is_prop:
        return None
    return Access(term=Proj(struct, place - 1, e))


def field_names(ctor: CtorInfo) -> list[str]:
    """The names of the fields of a constructor."""
    names = []
    type_ = ctor.type
    while isinstance(type_, Pi):
        names.append(type_.name)
        type_ = type_.body
    return names[ctor.num_params :]


def find_in_namespace_of(mctx: MetaContext, type_: Expr, name: str) -> str | None:
    """The constant `T.name` for a type headed by `T`, or by something that unfolds to that."""
    current: Expr | None = type_
    while current is not None:
        head = get_app_fn(current)
        if isinstance(head, Const) and f"{head.name}.{name}" in mctx.env:
            return f"{head.name}.{name}"
        current = mctx.unfold(current) if not current.loose else None
    return None
