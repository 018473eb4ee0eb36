"""`namespace`, `section`, `end`, `open`, `variable`, `universe`, `attribute`."""

from __future__ import annotations

from dataclasses import replace

from nanolean.commands.declarations import ATTRIBUTES
from nanolean.commands.header import (
    TERM_STEPS,
    add_local,
    new_session,
    section_variables,
    universe_names,
)
from nanolean.commands.messages import CommandResult
from nanolean.elab.elaborator import Elaborator
from nanolean.elab.names import constant_name
from nanolean.env_state import EnvState, OpenScope
from nanolean.errors import ElabError
from nanolean.meta.lctx import EMPTY_CONTEXT
from nanolean.syntax import (
    AttributeCmd,
    EndCmd,
    NamespaceCmd,
    OpenCmd,
    SectionCmd,
    UniverseCmd,
    VariableCmd,
)

MAX_SCOPES = 100
"""Each name is looked for in every namespace around it, so no more are nested."""


def run_namespace(result: CommandResult, cmd: NamespaceCmd) -> None:
    """Enter a namespace; `namespace A.B` is two."""
    state = result.state
    for part in cmd.name.split("."):
        outer = state.scope.namespace
        name = f"{outer}.{part}" if outer else part
        _check_depth(state, cmd)
        state = state.push(OpenScope("namespace", part, name))
        state = replace(state, namespaces=state.namespaces | {name})
    result.state = state


def run_section(result: CommandResult, cmd: SectionCmd) -> None:
    """Enter a section."""
    state = result.state
    _check_depth(state, cmd)
    result.state = state.push(OpenScope("section", cmd.name or "", state.scope.namespace))


def _check_depth(state: EnvState, cmd: NamespaceCmd | SectionCmd) -> None:
    if len(state.scopes) > MAX_SCOPES:
        raise ElabError(f"more than {MAX_SCOPES} nested namespaces and sections", cmd.pos, cmd.end)


def run_end(result: CommandResult, cmd: EndCmd) -> None:
    """Leave the innermost section, or as many scopes as the name has parts."""
    state = result.state
    parts = cmd.name.split(".") if cmd.name else [""]
    for part in reversed(parts):
        scope = state.scope
        if scope.kind == "":
            raise ElabError("Invalid `end`: There is no current scope to end", cmd.pos, cmd.end)
        if scope.name != part:
            hint = f"`end {scope.name}`" if scope.name else "`end`"
            raise ElabError(f"Name mismatch: expected {hint}", cmd.pos, cmd.end)
        state = state.pop()
    result.state = state


def run_open(result: CommandResult, cmd: OpenCmd) -> None:
    """Open namespaces until the end of the scope."""
    result.state = opened(result.state, cmd)


def opened(state: EnvState, cmd: OpenCmd) -> EnvState:
    """The state with the namespaces of the command open."""
    names = tuple(_namespace(state, name, cmd) for name in cmd.names)
    return state.with_scope(replace(state.scope, opens=(*state.scope.opens, *names)))


def _namespace(state: EnvState, name: str, cmd: OpenCmd) -> str:
    known = known_namespaces(state)
    for outer in state.namespace_chain():
        full = f"{outer}.{name}" if outer else name
        if full in known:
            return full
    raise ElabError(f"unknown namespace `{name}`", cmd.pos, cmd.end)


def known_namespaces(state: EnvState) -> frozenset[str]:
    """Every namespace that was entered, and every proper beginning of the name of a constant."""
    found = state.memo.get("namespaces")
    if found is None:
        names = set(state.namespaces)
        for info in state.env:
            outer = info.name.rpartition(".")[0]
            while outer and outer not in names:
                names.add(outer)
                outer = outer.rpartition(".")[0]
        found = state.memo["namespaces"] = frozenset(names)
    return found


def run_variable(result: CommandResult, cmd: VariableCmd) -> None:
    """Declare variables until the end of the scope; their types are checked now."""
    state = result.state
    session = new_session(state, universe_names(state), TERM_STEPS)
    elaborator = Elaborator(session, EMPTY_CONTEXT)
    for binder in (*section_variables(state), *cmd.binders):
        add_local(elaborator, binder)
    elaborator.force()
    scope = state.scope
    result.state = state.with_scope(replace(scope, variables=(*scope.variables, *cmd.binders)))


def run_universe(result: CommandResult, cmd: UniverseCmd) -> None:
    """Declare universe variables until the end of the scope."""
    state = result.state
    for name in cmd.names:
        if name in universe_names(state):
            raise ElabError(f"a universe level named `{name}` has already been declared", cmd.pos, cmd.end)
        state = state.with_scope(replace(state.scope, universes=(*state.scope.universes, name)))
    result.state = state


def run_attribute(result: CommandResult, cmd: AttributeCmd) -> None:
    """Give attributes to constants, or take them away (`-simp`)."""
    state = result.state
    for text in cmd.attributes:
        attribute = text.lstrip("-").split()[0]
        if attribute not in ATTRIBUTES:
            raise ElabError(f"Unknown attribute `[{attribute}]`", cmd.pos, cmd.end)
        if text == "-irreducible":
            raise ElabError("attribute cannot be erased", cmd.pos, cmd.end)
        for name in cmd.names:
            full = constant_name(state, name)
            state = state.with_attribute(attribute, full, erase=text.startswith("-"))
    result.state = state
