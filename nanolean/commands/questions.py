"""`#print axioms`, `#print`, `#check`: commands that only answer."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from nanolean.commands.header import TERM_STEPS, new_session, universe_names
from nanolean.commands.messages import CommandResult
from nanolean.elab.api import elab_term
from nanolean.elab.names import constant_name
from nanolean.elab.session import Session
from nanolean.env_state import EnvState
from nanolean.errors import ElabError
from nanolean.kernel.declaration import ConstantInfo
from nanolean.kernel.env import axioms_of
from nanolean.kernel.expr import Expr, Pi, instantiate
from nanolean.meta.lctx import EMPTY_CONTEXT
from nanolean.printer import pp_expr
from nanolean.syntax import CheckCmd, Ident, PrintAxiomsCmd, PrintCmd

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
    """The axioms that a constant depends on, those with short names first, as Lean lists them."""
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
    """A term and its type; of a constant the signature."""
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
