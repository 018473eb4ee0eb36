"""Definitions that mention themselves: what stands for them while their body is elaborated, and what becomes of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from nanoproof.lean.nanolean.commands.header import Header, close_context, name_levels
from nanoproof.lean.nanolean.commands.structural import Recursive, compile_recursion
from nanoproof.lean.nanolean.env_state import EnvState
from nanoproof.lean.nanolean.errors import ElabError
from nanoproof.lean.nanolean.kernel.declaration import AxiomInfo
from nanoproof.lean.nanolean.kernel.expr import (
    Const,
    Expr,
    Lam,
    Pi,
    collect_consts,
    instantiate,
    mk_app,
    replace,
)
from nanoproof.lean.nanolean.kernel.level import LParam
from nanoproof.lean.nanolean.meta.lctx import LocalContext
from nanoproof.lean.nanolean.syntax import DotIdent, Ident, Node, ProjStx, Signature, Term


def mentions_name(node: Node, name: str) -> bool:
    """Whether a text mentions something whose last part is that of `name`."""
    last = name.rpartition(".")[2]
    return any(
        (isinstance(part, Ident | DotIdent) and last in part.name.split("."))
        or (isinstance(part, ProjStx) and last in str(part.field).split("."))
        for part in _nodes(node)
    )


def _nodes(value: object) -> Iterator[Node]:
    stack = [value]
    while stack:
        top = stack.pop()
        if isinstance(top, Node):
            yield top
            stack += [getattr(top, field.name) for field in dataclasses.fields(top)]
        elif isinstance(top, tuple | list):
            stack += top


def allow_recursion(header: Header, signature: Signature, value: Term) -> None:
    """Let the body of a declaration mention it, by a constant without parameters that stands for it meanwhile."""
    session = header.session
    if header.type is None or signature.name is None or not mentions_name(value, signature.name):
        return
    name_levels(session, header.type, *(decl.type for decl in header.lctx))
    header.lctx = close_context(session, header.lctx, signature)
    header.type = session.mctx.instantiate(header.type)
    ids = [decl.fvar_id for decl in header.lctx.decls[header.num_variables :]]
    stand_in = AxiomInfo(header.name, (), session.mctx.mk_pi(ids, header.type))
    state = session.state.with_env(session.state.env.add_unchecked([stand_in]))
    session.use_state(dataclasses.replace(state, pending=header.name))


def without_stand_in(header: Header, base: EnvState) -> EnvState:
    """The state before the declaration, with the auxiliary definitions that its body needed; the kernel checks them
    again, now without what stood for the declaration."""
    session = header.session
    if session.state.env is base.env:
        return base
    env = base.env
    for decl in session.auxiliary:
        env = env.add(decl)
    return base.with_env(env)


def is_recursive(header: Header, value: Expr) -> bool:
    """Whether the value mentions the declaration."""
    pending = header.session.state.pending
    return bool(pending) and pending in collect_consts(value)


def compile_body(header: Header, value: Expr, signature: Signature) -> Expr:
    """The value of a recursive declaration as a term that does not mention it, over the locals of the header."""
    session = header.session
    mctx = session.mctx
    variables = LocalContext(header.lctx.decls[: header.num_variables])
    ids = [decl.fvar_id for decl in header.lctx.decls[header.num_variables :]]
    type_, value = header.type, mctx.instantiate(value)
    assert type_ is not None
    while isinstance(value, Lam):
        type_ = type_ if isinstance(type_, Pi) else mctx.whnf(type_)
        assert isinstance(type_, Pi)
        local = mctx.fresh_local(value.name, type_.type, info=type_.info)
        ids.append(local.fvar_id)
        value, type_ = instantiate(value.body, local.fvar), instantiate(type_.body, local.fvar)
    recursive = Recursive(session, header.name, variables, tuple(ids), value, type_)
    try:
        return compile_recursion(recursive)
    except ElabError as error:
        raise error.at(signature.pos, signature.end) from None


def named(header: Header, e: Expr, levels: tuple[str, ...]) -> Expr:
    """The term with the finished constant in the place of what stood for it."""
    variables = header.lctx.decls[: header.num_variables]
    const = mk_app(Const(header.name, tuple(LParam(level) for level in levels)), *[decl.fvar for decl in variables])
    return replace(e, lambda node: const if isinstance(node, Const) and node.name == header.name else None)
