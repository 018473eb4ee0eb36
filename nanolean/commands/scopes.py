"""Scopes (`namespace`, `section`, `open`, `variable`, ..), attributes, and commands that only report."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial

from nanolean.commands.declarations import ATTRIBUTES
from nanolean.commands.header import TERM_STEPS, add_local, new_session, section_variables, universe_names
from nanolean.commands.messages import CommandResult
from nanolean.elab.api import elab_term
from nanolean.elab.elaborator import Elaborator
from nanolean.elab.names import constant_name
from nanolean.elab.session import Session
from nanolean.env_state import EnvState, OpenScope
from nanolean.kernel.declaration import ConstantInfo
from nanolean.kernel.env import axioms_of
from nanolean.kernel.expr import Expr, Pi, instantiate
from nanolean.meta.lctx import EMPTY_CONTEXT
from nanolean.printer import pp_expr
from nanolean.proof_errors import ElabError
from nanolean.syntax import (
    AttributeCmd,
    CheckCmd,
    EndCmd,
    Ident,
    NamespaceCmd,
    OpenCmd,
    PrintAxiomsCmd,
    PrintCmd,
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
    """Return the state with the namespaces of the command open."""
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
    """Return every namespace that was entered, and every proper beginning of the name of a constant."""
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
    text = result.text[cmd.pos : cmd.end].removeprefix("variable").strip()
    result.state = state.with_scope(
        replace(
            scope,
            variables=(*scope.variables, *cmd.binders),
            variable_texts=(*scope.variable_texts, text),
        )
    )


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


BRACKETS = {"implicit": ("{", "}"), "inst": ("[", "]"), "strict": ("⦃", "⦄")}
ARROW_NAME = "a"
"""What the premise of `p → q` is called; a named premise that is a proof is never called so in the library."""
KIND_WORDS = {"ctor": "constructor", "rec": "recursor", "quot": "Quotient primitive"}


def _constant(state: EnvState, name: str, pos: int, end: int) -> str:
    try:
        return constant_name(state, name)
    except ElabError as error:
        raise error.at(pos, end) from None


def run_print_axioms(result: CommandResult, cmd: PrintAxiomsCmd) -> None:
    """Report the axioms that a constant depends on, those with short names first, as Lean lists them."""
    name = _constant(result.state, cmd.name, cmd.pos, cmd.end)
    axioms = sorted(axioms_of(result.state.env, name), key=lambda axiom: (axiom.count("."), axiom))
    text = f"depends on axioms: [{', '.join(axioms)}]" if axioms else "does not depend on any axioms"
    result.say("info", f"'{name}' {text}", cmd.pos, cmd.pos + len("#print"))


def run_print(result: CommandResult, cmd: PrintCmd) -> None:
    """Kind and type of a constant; the value too for a definition."""
    state = result.state
    info = state.env[_constant(state, cmd.name, cmd.pos, cmd.end)]
    levels = f".{{{', '.join(info.level_params)}}}" if info.level_params else ""
    shown = partial(pp_expr, lctx=EMPTY_CONTEXT, env=state.env, universes=state.shows_universes)
    text = f"{KIND_WORDS.get(info.kind, info.kind)} {info.name}{levels} : {shown(info.type)}"
    if info.kind == "def":
        text += f" :=\n{shown(info.value)}"  # type: ignore[attr-defined]
    result.say("info", text, cmd.pos, cmd.pos + len("#print"))


def run_check(result: CommandResult, cmd: CheckCmd) -> None:
    """Report a term and its type; for a constant the signature."""
    state = result.state
    session = new_session(state, universe_names(state), TERM_STEPS)
    place = cmd.pos, cmd.pos + len("#check")
    if isinstance(cmd.term, Ident) and not cmd.term.explicit and cmd.term.levels is None:
        with suppress(ElabError):
            info = state.env[constant_name(state, cmd.term.name)]
            result.say("info", _signature(session, info), *place)
            return
    term = elab_term(session, EMPTY_CONTEXT, cmd.term, holes="natural").term
    type_ = session.mctx.infer_type(term)
    text = f"{session.show(term, EMPTY_CONTEXT)} : {session.show(type_, EMPTY_CONTEXT)}"
    result.say("info", text, *place)


def _signature(session: Session, info: ConstantInfo) -> str:
    """`name.{u} {x y : A} (h : B) : C`: the arguments as far as they have names, then the type that is left."""
    lctx, type_ = EMPTY_CONTEXT, info.type
    groups: list[tuple[str, list[str], Expr]] = []
    while isinstance(type_, Pi):
        local = session.mctx.fresh_local(type_.name, type_.type)
        if type_.info == "default" and type_.name == ARROW_NAME and session.mctx.is_prop(type_.type):
            break
        if groups and groups[-1][0] == type_.info and groups[-1][2] is type_.type:
            groups[-1][1].append(type_.name)
        else:
            groups.append((type_.info, [type_.name], type_.type))
        lctx, type_ = lctx.add(local), instantiate(type_.body, local.fvar)
    levels = f".{{{', '.join(info.level_params)}}}" if info.level_params else ""
    parts = [info.name + levels]
    for kind, names, of in groups:
        opening, close = BRACKETS.get(kind, ("(", ")"))
        parts.append(f"{opening}{' '.join(names)} : {session.show(of, lctx)}{close}")
    return f"{' '.join(parts)} : {session.show(type_, lctx)}"
