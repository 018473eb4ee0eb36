"""The head of a declaration: section variables, binders and type, elaborated into a local context and a type."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from nanolean.commands.auto_bound import auto_binder, bind_types, binding
from nanolean.elab.api import finish
from nanolean.elab.elaborator import Elaborator
from nanolean.elab.names import collect_level_mvars
from nanolean.elab.session import Session
from nanolean.elab.terms import binder_name, binder_type
from nanolean.env_state import EnvState
from nanolean.kernel.budget import Budget
from nanolean.kernel.expr import Expr, collect_fvars, collect_level_params_of, collect_mvars
from nanolean.kernel.level import LParam
from nanolean.meta.lctx import EMPTY_CONTEXT, LocalContext
from nanolean.meta.mctx import MetaContext
from nanolean.printer import instantiated
from nanolean.proof_errors import ElabError
from nanolean.syntax import Binder, Signature
from nanolean.tactic_state import run_block

COMMAND_STEPS = 5_000_000
"""Elementary steps that one command may take."""
TERM_STEPS = 200_000
"""Elementary steps for a command that only elaborates a term or binders (about a second)."""


@dataclass
class Header:
    """The elaborated head: locals in `lctx` (section variables first), and the type where there is one."""

    session: Session
    name: str
    lctx: LocalContext
    type: Expr | None
    num_variables: int
    """How many of the locals are section variables."""


def full_name(state: EnvState, name: str) -> str:
    """Return the name of a declaration in the current namespace."""
    if name.startswith("_root_."):
        return name.removeprefix("_root_.")
    return f"{state.scope.namespace}.{name}" if state.scope.namespace else name


def inside(state: EnvState, name: str) -> EnvState:
    """Return the state in which the body of declaration `name` is elaborated: inside of the namespace of its name."""
    namespace = name.rpartition(".")[0]
    scope = replace(state.scope, kind="section", namespace=namespace, opens=(), variables=(), universes=())
    return state.push(replace(scope, variable_texts=()))


def universe_names(state: EnvState) -> tuple[str, ...]:
    """Return the universe variables of all scopes, outermost first."""
    return tuple(name for scope in state.scopes for name in scope.universes)


def section_variables(state: EnvState) -> tuple[Binder, ...]:
    """Return the variables of all scopes, outermost first, each as the last binder without a type has it."""
    variables: list[Binder] = []
    places: dict[str, int] = {}
    for binder in [binder for scope in state.scopes for binder in scope.variables]:
        if binder.type is None and binder.name in places:
            place = places[binder.name]
            variables[place] = replace(variables[place], info=binder.info)
        else:
            places[binder.name] = len(variables)
            variables.append(binder)
    return tuple(variables)


def new_session(state: EnvState, level_names: Sequence[str], steps: int | Budget = COMMAND_STEPS) -> Session:
    """Make the session of one command."""
    mctx = MetaContext(state.env, Budget(steps) if isinstance(steps, int) else steps, state.caches)
    mctx.show_universes = state.shows_universes
    mctx.classical = state.classical
    return Session(mctx, state, run_block, tuple(level_names))


def elab_header(state: EnvState, signature: Signature) -> Header:
    """Elaborate variables, binders and type; nothing stays open but levels. Raises `ElabError`.

    Unknown names and levels are bound, as `auto_bound` has it.
    """
    name = full_name(state, signature.name or "_example")
    levels = (*universe_names(state), *signature.level_params)
    for level in signature.level_params:
        if levels.count(level) > 1:
            text = f"a universe level named `{level}` has already been declared"
            raise ElabError(text, signature.pos, signature.end)
    inner, budget = inside(state, name), Budget(COMMAND_STEPS)

    def elaborate(new_names: Sequence[str], new_levels: Sequence[str]) -> Header:
        session = new_session(inner, (*levels, *new_levels), budget)
        session.decl_name, session.auto_bound = name, tuple(new_names)
        return _elab_header(session, section_variables(state), [auto_binder(new) for new in new_names], signature)

    return binding(inner, elaborate, signature.name or "")


def _elab_header(
    session: Session, variables: Sequence[Binder], automatic: Sequence[Binder], signature: Signature
) -> Header:
    """The header with variables of the section, and binders that nobody has written."""
    elaborator = Elaborator(session, EMPTY_CONTEXT)
    ids = [add_local(elaborator, binder) for binder in variables]
    num_variables = len(variables)
    if num_variables:
        # Only variables tell of variables: with `variable (h : x = x)`, no theorem may make a number of `x`.
        elaborator.force()
        num_variables += bind_types(elaborator, variables, ids)
    ids = [add_local(elaborator, binder) for binder in (*automatic, *signature.binders)]
    type_ = None
    if signature.type is not None:
        type_ = elaborator.elab_type(signature.type)
    elaborator.force()
    bind_types(elaborator, automatic, ids)
    if type_ is not None:
        assert signature.type is not None
        type_ = finish(elaborator, type_, "error", signature.type).term
    lctx = close_context(session, elaborator.lctx, signature)
    return Header(session, session.decl_name, lctx, type_, num_variables)


def add_local(elaborator: Elaborator, binder: Binder) -> str:
    """Bring a binder into scope for good; answers the id of the local."""
    type_ = binder_type(elaborator, binder)
    decl = elaborator.mctx.fresh_local(binder_name(binder), type_, info=binder.info)
    elaborator.lctx = elaborator.lctx.add(decl)
    return decl.fvar_id


def close_context(session: Session, lctx: LocalContext, signature: Signature) -> LocalContext:
    """Replace all metavariables in the context; raises where one has no value."""
    lctx = instantiated(session.mctx, lctx)
    for decl in lctx:
        if collect_mvars(decl.type):
            raise ElabError(f"Failed to infer type of binder `{decl.user_name}`", signature.pos, signature.end)
    session.mctx.know(lctx)
    return lctx


def include_variables(header: Header, *terms: Expr, of_theorem: bool = False) -> None:
    """Drop the section variables that neither the type nor `terms` nor the other binders mention.

    Of a theorem those stay that are named by `include`, and those in `[..]` whose types mention only what stays.
    """
    lctx = header.lctx
    used: set[str] = set()
    for e in (header.type, *terms):
        if e is not None:
            used |= collect_fvars(header.session.mctx.instantiate(e)).keys()
    used |= {decl.fvar_id for decl in lctx.decls[header.num_variables :]}
    included = header.session.state.scope.included if of_theorem else ()
    used |= {decl.fvar_id for decl in lctx.decls[: header.num_variables] if decl.user_name in included}
    for decl in reversed(lctx.decls):
        if decl.fvar_id in used:
            used |= collect_fvars(decl.type).keys()
    variables = lctx.decls[: header.num_variables]
    for decl in variables if of_theorem else ():
        if decl.info == "inst" and collect_fvars(decl.type).keys() <= used:
            used.add(decl.fvar_id)
    header.lctx = LocalContext(decl for decl in lctx if decl.fvar_id in used)
    header.num_variables = sum(decl.fvar_id in used for decl in variables)


def name_levels(session: Session, *terms: Expr) -> None:
    """Turn the level metavariables that are left in the terms into parameters `u_1`, `u_2`, ..."""
    taken = set(session.level_names)
    fresh = (name for i in itertools.count(1) if (name := f"u_{i}") not in taken)
    for e in terms:
        for mvar in collect_level_mvars(session.mctx.instantiate(e)):
            if mvar not in session.mctx.level_assignment:
                name = next(fresh)
                session.mctx.assign_level(mvar, LParam(name))
                session.level_names = (*session.level_names, name)


def used_levels(session: Session, signature: Signature, *terms: Expr) -> tuple[str, ...]:
    """Return the universe parameters of a declaration: those it lists, then others that occur, in scope order."""
    occurring: set[str] = set()
    for e in terms:
        occurring |= collect_level_params_of(e)
    rest = [name for name in session.level_names if name in occurring and name not in signature.level_params]
    return (*signature.level_params, *dict.fromkeys(rest))
