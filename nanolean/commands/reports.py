"""Commands that only report: `#check`, `#print`, `#print axioms`, in the words and lines of Lean's."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from nanolean.commands.header import (
    TERM_STEPS,
    add_local,
    name_levels,
    new_session,
    section_variables,
    universe_names,
)
from nanolean.commands.messages import CommandResult
from nanolean.elab.api import elab_term
from nanolean.elab.elaborator import Elaborator
from nanolean.elab.names import constant_name
from nanolean.elab.session import Session
from nanolean.env_state import EnvState
from nanolean.kernel.declaration import (
    ConstantInfo,
    CtorInfo,
    DefInfo,
    InductiveInfo,
    RecInfo,
    TheoremInfo,
)
from nanolean.kernel.env import axioms_of
from nanolean.kernel.expr import (
    Const,
    Expr,
    Lam,
    Pi,
    Sort,
    get_app_args,
    has_loose_bvar,
    instantiate,
    instantiate_rev,
    mk_app,
)
from nanolean.kernel.level import LParam, normalize
from nanolean.meta.lctx import EMPTY_CONTEXT, INACCESSIBLE_MARK, LocalContext, LocalDecl, inaccessible
from nanolean.printer import pp_expr, pp_signature
from nanolean.proof_errors import ElabError
from nanolean.syntax import CheckCmd, Ident, PrintAxiomsCmd, PrintCmd, UnrunCmd
from nanolean.tactics.eliminate import beta_reduce

KIND_WORDS = {"ctor": "constructor", "rec": "recursor", "quot": "Quotient primitive"}
SELF = "self"
"""What Lean calls the structure in the types of its fields."""


def _constant(state: EnvState, name: str, pos: int, end: int) -> ConstantInfo:
    try:
        return state.env[constant_name(state, name)]
    except ElabError as error:
        raise error.at(pos, end) from None


# --- #print axioms


def run_print_axioms(result: CommandResult, cmd: PrintAxiomsCmd) -> None:
    """Report the axioms that a constant depends on, those with short names first, as Lean lists them."""
    info = _constant(result.state, cmd.name, cmd.end - len(cmd.name), cmd.end)
    axioms = sorted(axioms_of(result.state.env, info.name), key=lambda axiom: (axiom.count("."), axiom))
    text = f"depends on axioms: [{', '.join(axioms)}]" if axioms else "does not depend on any axioms"
    result.say("info", f"'{info.name}' {text}", cmd.pos, cmd.pos + len("#print"))


# --- #eval and the like


def run_nothing(result: CommandResult, cmd: UnrunCmd) -> None:
    """Say that a command is passed over: it declares nothing, so what follows means what it means in Lean."""
    result.say("warning", f"`{cmd.word}` is not run here", cmd.pos, cmd.pos + len(cmd.word))


# --- #check


def run_check(result: CommandResult, cmd: CheckCmd) -> None:
    """Report a term and its type; for a constant the signature."""
    state = result.state
    session = new_session(state, universe_names(state), TERM_STEPS)
    place = cmd.pos, cmd.pos + len("#check")
    elaborator = Elaborator(session, EMPTY_CONTEXT)
    for binder in section_variables(state):
        add_local(elaborator, binder)
    elaborator.force()
    lctx = elaborator.lctx
    term = cmd.term
    # A name in parentheses is a term like any other, and so is one of a variable.
    is_name = isinstance(term, Ident) and not term.explicit and term.levels is None and term.end == cmd.end
    if isinstance(term, Ident) and is_name and lctx.find(term.name.partition(".")[0]) is None:
        with suppress(ElabError):
            info = state.env[constant_name(state, term.name)]
            result.say("info", signature_text(session, info), *place)
            return
    value = elab_term(session, lctx, term, holes="natural").term
    type_ = session.mctx.infer_type(value)
    name_levels(session, value, type_)
    type_ = beta_reduce(session.mctx.instantiate(type_))
    if isinstance(value, Pi) and isinstance(type_, Sort):
        type_ = Sort(normalize(type_.level))
    text = session.show(value, lctx)
    result.say("info", session.show(type_, lctx, before=f"{text} : "), *place)


# --- signatures


@dataclass(frozen=True)
class Telescope:
    """The arguments of a constant as its signature names them, and the type that is left behind these."""

    lctx: LocalContext
    locals: tuple[LocalDecl, ...]
    rest: Expr


def telescope_of(session: Session, type_: Expr) -> Telescope:
    """Open the arguments that a signature shows before its colon.

    These end at the first premise without a name of its own, or with one that an earlier argument has, unless something
    depends on it (`delabForallParamsWithSignature`): `add (a : Nat) : Nat → Nat`.
    """
    lctx = EMPTY_CONTEXT
    names: set[str] = set()
    shown: list[LocalDecl] = []
    while isinstance(type_, Pi):
        name = type_.name
        unnamed = INACCESSIBLE_MARK in name or name in ("", "_")
        is_instance = type_.info == "inst" and unnamed
        if not is_instance and not has_loose_bvar(type_.body, 0) and (unnamed or name in names):
            break
        if unnamed or name in names:
            name = inaccessible(name or "a")
        names.add(name)
        local = session.mctx.fresh_local(name, type_.type, info=type_.info)
        shown.append(local)
        lctx = lctx.add(local)
        type_ = instantiate(type_.body, local.fvar)
    return Telescope(lctx, tuple(shown), type_)


def signature_text(session: Session, info: ConstantInfo, before: str = "") -> str:
    """`name.{u} {x y : A} (h : B) : C`, behind what stands before it in its line."""
    telescope = telescope_of(session, info.type)
    head = before + info.name + _levels(info)
    return pp_signature(head, telescope.locals, telescope.rest, telescope.lctx, session.state.env)


def _levels(info: ConstantInfo) -> str:
    return f".{{{', '.join(info.level_params)}}}" if info.level_params else ""


# --- #print


def run_print(result: CommandResult, cmd: PrintCmd) -> None:
    """Report what a constant is: its kind and type, and its value, constructors, fields or rules."""
    state = result.state
    info = _constant(state, cmd.name, cmd.end - len(cmd.name), cmd.end)
    session = new_session(state, universe_names(state), TERM_STEPS)
    if isinstance(info, RecInfo):
        text = _recursor(session, info)
    elif isinstance(info, InductiveInfo):
        fields = _field_functions(state, info)
        text = _inductive(session, info) if fields is None else _structure(session, info, fields)
    else:
        text = _with_value(session, info)
    result.say("info", text, cmd.pos, cmd.pos + len("#print"))


def _show(session: Session, e: Expr, lctx: LocalContext = EMPTY_CONTEXT, before: str = "") -> str:
    return pp_expr(e, lctx, session.state.env, universes=session.mctx.show_universes, before=before)


def _with_value(session: Session, info: ConstantInfo) -> str:
    head = f"{KIND_WORDS.get(info.kind, info.kind)} {info.name}{_levels(info)} : "
    if info.name in session.state.protected:
        head = f"protected {head}"
    if isinstance(info, DefInfo) and info.reducible:
        head = f"@[reducible] {head}"
    head = _show(session, info.type, before=head)
    if not isinstance(info, DefInfo | TheoremInfo):
        return head
    value = info.value
    if _is_field_function(session.state, info):
        value = _with_plain_binders(value)
    return f"{head} :=\n{_show(session, value)}"


def _with_plain_binders(value: Expr) -> Expr:
    """Make the binders of a function explicit, as those of Lean's functions for fields are."""
    if not isinstance(value, Lam):
        return value
    info = value.info if value.info == "inst" else "default"
    return Lam(value.name, value.type, _with_plain_binders(value.body), info)


def _inductive(session: Session, info: InductiveInfo) -> str:
    lines = [_show(session, info.type, before=f"inductive {info.name}{_levels(info)} : ")]
    lines += [f"number of parameters: {info.num_params}", "constructors:"]
    for name in info.ctors:
        lines.append(_show(session, session.state.env[name].type, before=f"{name} : "))
    return "\n".join(lines)


def _structure(session: Session, info: InductiveInfo, fields: Sequence[str]) -> str:
    env = session.state.env
    lines = [signature_text(session, info, "structure "), f"number of parameters: {info.num_params}", "fields:"]
    for field in fields:
        telescope = _opened(session, env[field].type, info.num_params + 1)
        lines.append(_show(session, telescope.rest, telescope.lctx, f"  {field} : "))
    lines += ["constructor:", signature_text(session, env[info.ctors[0]], "  ")]
    return "\n".join(lines)


def _opened(session: Session, type_: Expr, count: int) -> Telescope:
    """Open the parameters of a function for a field, and its structure, which is called `self`."""
    lctx = EMPTY_CONTEXT
    for place in range(count):
        assert isinstance(type_, Pi)
        name = SELF if place == count - 1 else type_.name
        local = session.mctx.fresh_local(name, type_.type)
        lctx = lctx.add(local)
        type_ = instantiate(type_.body, local.fvar)
    return Telescope(lctx, (), type_)


def _field_functions(state: EnvState, info: InductiveInfo) -> list[str] | None:
    """Return the names of the functions for the fields of a `structure`, None for what `inductive` declares."""
    if not info.is_structure:
        return None
    ctor = state.env[info.ctors[0]]
    assert isinstance(ctor, CtorInfo)
    type_ = ctor.type
    names: list[str] = []
    for place in range(ctor.num_params + ctor.num_fields):
        assert isinstance(type_, Pi)
        if place >= ctor.num_params:
            names.append(f"{info.name}.{type_.name}")
        type_ = type_.body
    if not names or any(name not in state.env for name in names):
        return None
    return names


def _is_field_function(state: EnvState, info: ConstantInfo) -> bool:
    family = state.env.get(info.name.rpartition(".")[0])
    if not isinstance(family, InductiveInfo):
        return False
    return info.name in (_field_functions(state, family) or ())


def _recursor(session: Session, info: RecInfo) -> str:
    """The signature of a recursor, which of its arguments are what, and its rules."""
    counts = (info.num_params, info.num_motives, info.num_minors, info.num_indices)
    texts: list[str] = []
    first = 1
    for count in counts:
        texts.append(f"{count}{_positions(first, count)}")
        first += count
    lines = [
        signature_text(session, info, "recursor "),
        f"number of parameters: {texts[0]}",
        f"number of motives: {texts[1]}",
        f"number of minor premises: {texts[2]}",
        f"number of indices: {texts[3]}",
        f"major premise position: {first}",
    ]
    if info.k:
        lines.append("supports K-like reduction")
    lines.append("rules:" if info.rules else "rules: (none)")
    for index in range(len(info.rules)):
        lines += _rule(session, info, index)
    return "\n".join(lines)


def _positions(first: int, count: int) -> str:
    if count == 0:
        return ""
    return f" (position {first})" if count == 1 else f" (positions {first}–{first + count - 1})"


def _rule(session: Session, info: RecInfo, index: int) -> list[str]:
    """`T.rec minors (C fields)` and what it computes to."""
    levels = tuple(LParam(name) for name in info.level_params)
    ctor = session.state.env[info.rules[index].ctor]
    assert isinstance(ctor, CtorInfo)
    lctx = EMPTY_CONTEXT
    fixed: list[Expr] = []
    type_: Expr = info.type
    for _ in range(info.num_params + info.num_motives + info.num_minors):
        lctx, type_ = _open_one(session, lctx, type_, fixed)
    # The levels of the type are the last ones: a recursor into any universe has that of its motive before them.
    own_levels = levels[len(levels) - len(ctor.level_params) :]
    fields: list[Expr] = []
    type_ = ctor.type_at(own_levels)
    for param in fixed[: info.num_params]:
        assert isinstance(type_, Pi)
        type_ = instantiate(type_.body, param)
    for _ in range(ctor.num_fields):
        lctx, type_ = _open_one(session, lctx, type_, fields)
    major = mk_app(Const(ctor.name, own_levels), *fixed[: info.num_params], *fields)
    indices = get_app_args(type_)[info.num_params :]
    left = mk_app(Const(info.name, levels), *fixed, *indices, major)
    right = instantiate_rev(info.rhs_at(index, levels), [*fixed, *fields])
    return [_show(session, left, lctx, "  "), _show(session, right, lctx, "    ==> ")]


def _open_one(session: Session, lctx: LocalContext, type_: Expr, args: list[Expr]) -> tuple[LocalContext, Expr]:
    """Bring the next argument of a function type into the context, and into the list."""
    assert isinstance(type_, Pi)
    local = session.mctx.fresh_local(type_.name, type_.type)
    args.append(local.fvar)
    return lctx.add(local), instantiate(type_.body, local.fvar)
