"""Definitions that mention themselves: what stands for them while their body is elaborated, and what becomes of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from nanolean.commands.equation_lemmas import EquationLemmas
from nanolean.commands.header import Header, close_context, name_levels
from nanolean.commands.structural import Recursive, compile_recursion
from nanolean.env_state import EnvState
from nanolean.errors import ElabError
from nanolean.kernel.declaration import AxiomInfo
from nanolean.kernel.expr import (
    Const,
    Expr,
    Lam,
    Pi,
    collect_consts,
    get_app_fn,
    instantiate,
    mk_app,
    replace,
)
from nanolean.kernel.level import LParam
from nanolean.meta.lctx import LocalContext
from nanolean.meta.matchers import matcher_of
from nanolean.syntax import DotIdent, Ident, Node, ProjStx, Signature, Term
from nanolean.tactic_state import default_levels


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


@dataclass(frozen=True)
class OpenValue:
    """The value of a declaration under its binders: their ids (without the variables of the section)."""

    ids: tuple[str, ...]
    body: Expr
    type: Expr


def open_value(header: Header, value: Expr) -> OpenValue:
    """Open the binders that the value begins with."""
    mctx = header.session.mctx
    ids = [decl.fvar_id for decl in header.lctx.decls[header.num_variables :]]
    type_, value = header.type, mctx.instantiate(value)
    assert type_ is not None, "a type is known by now"
    while isinstance(value, Lam):
        type_ = type_ if isinstance(type_, Pi) else mctx.whnf(type_)
        assert isinstance(type_, Pi)
        local = mctx.fresh_local(value.name, type_.type, info=type_.info)
        ids.append(local.fvar_id)
        value, type_ = instantiate(value.body, local.fvar), instantiate(type_.body, local.fvar)
    return OpenValue(tuple(ids), value, type_)


def compile_body(header: Header, opened: OpenValue, signature: Signature) -> Expr:
    """The value of a recursive declaration as a term that does not mention it, over the variables of the section."""
    variables = LocalContext(header.lctx.decls[: header.num_variables])
    recursive = Recursive(header.session, header.name, variables, opened.ids, opened.body, opened.type)
    try:
        return compile_recursion(recursive)
    except ElabError as error:
        raise error.at(signature.pos, signature.end) from None


def equation_lemmas(header: Header, opened: OpenValue, levels: tuple[str, ...], state: EnvState) -> EnvState:
    """The state with the equations of a definition that it has just got, if recursion or a match defines it."""
    session = header.session
    recursive = is_recursive(header, opened.body)
    if not recursive and matcher_of(state.env, get_app_fn(opened.body)) is None:
        return state
    session.use_state(state)
    variables = [decl.fvar for decl in header.lctx.decls[: header.num_variables]]
    const = mk_app(Const(header.name, tuple(LParam(level) for level in levels)), *variables)
    body = default_levels(session.mctx.instantiate(opened.body))
    if recursive:
        body = _named(body, header.name, const)
    lemmas = EquationLemmas(session, header.name, levels, const)
    for decl in lemmas.make([decl.fvar_id for decl in header.lctx.decls[: header.num_variables]], opened.ids, body):
        state = state.with_env(state.env.add(decl))
    return state


def _named(e: Expr, name: str, const: Expr) -> Expr:
    """The term with the finished constant in the place of what stood for it."""
    return replace(e, lambda node: const if isinstance(node, Const) and node.name == name else None)
