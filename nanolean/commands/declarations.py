"""`theorem`, `example`, `def`, `axiom`: elaborate, have the kernel check, and report what `sorry` left."""

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass

from nanolean.commands.equation_lemmas import EquationLemmas
from nanolean.commands.header import (
    Header,
    close_context,
    elab_header,
    full_name,
    include_variables,
    name_levels,
    used_levels,
)
from nanolean.commands.messages import CommandResult, SorryGoal
from nanolean.commands.structural import Recursive, compile_recursion
from nanolean.elab.api import elab_term
from nanolean.elab.session import Session
from nanolean.env_state import EnvState
from nanolean.kernel.budget import KernelError
from nanolean.kernel.declaration import AxiomDecl, AxiomInfo, Declaration, DefDecl, OpaqueDecl, TheoremDecl
from nanolean.kernel.expr import Const, Expr, Lam, Pi, collect_consts, get_app_fn, instantiate, mk_app, replace
from nanolean.kernel.level import LParam
from nanolean.library.core_names import core_names
from nanolean.meta.lctx import LocalContext
from nanolean.meta.matchers import matcher_of
from nanolean.proof_errors import ElabError, ProofError
from nanolean.syntax import (
    AxiomCmd,
    DefCmd,
    DotIdent,
    ExampleCmd,
    Ident,
    InductiveCmd,
    Modifiers,
    Node,
    ProjStx,
    Signature,
    StructureCmd,
    Term,
    TheoremCmd,
)
from nanolean.tactic_state import CHECK_STEPS, Recorder, default_levels, refusals, sorry_state


def mentions_name(node: Node, name: str) -> bool:
    """Return whether a text mentions something whose last part is that of `name`."""
    last = name.rpartition(".")[2]
    return any(
        (isinstance(part, Ident | DotIdent) and last in part.name.split("."))
        or (isinstance(part, ProjStx) and last in str(part.field).split("."))
        for part in nodes_of(node)
    )


def nodes_of(value: object) -> Iterator[Node]:
    """Yield the pieces of source that a piece of source is made of, itself too, in no particular order."""
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
    name_levels(session, *(decl.type for decl in header.lctx), header.type)
    header.lctx = close_context(session, header.lctx, signature)
    header.type = session.mctx.instantiate(header.type)
    ids = [decl.fvar_id for decl in header.lctx.decls[header.num_variables :]]
    stand_in = AxiomInfo(header.name, (), session.mctx.mk_pi(ids, header.type))
    state = session.state.with_env(session.state.env.add_unchecked([stand_in]))
    session.use_state(dataclasses.replace(state, pending=header.name))


def without_stand_in(header: Header, base: EnvState) -> EnvState:
    """Return the state before the declaration, with the auxiliary definitions that its body needed; the kernel
    checks them again, now without the placeholder for the declaration.
    """
    session = header.session
    if session.state.env is base.env:
        return base
    env = base.env
    for decl in session.auxiliary:
        env = env.add(decl)
    return base.with_env(env)


def is_recursive(header: Header, value: Expr) -> bool:
    """Return whether the value mentions the declaration."""
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
    """Compile the value of a recursive declaration to a term that does not mention it, over the section's variables."""
    variables = LocalContext(header.lctx.decls[: header.num_variables])
    recursive = Recursive(header.session, header.name, variables, opened.ids, opened.body, opened.type)
    try:
        return compile_recursion(recursive)
    except ElabError as error:
        raise error.at(signature.pos, signature.end) from None


def equation_lemmas(header: Header, opened: OpenValue, levels: tuple[str, ...], state: EnvState) -> EnvState:
    """Add the equations of a new definition to the state, if recursion or a match defines it."""
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


ATTRIBUTES = frozenset(
    {"simp", "reducible", "irreducible", "inline", "elab_as_elim", "symm", "refl", "trans", "congr", "ext", "grind"}
    | {
        "deprecated",
        "norm_cast",
        "push_cast",
        "inherit_doc",
        "specialize",
        "noinline",
        "always_inline",
        "macro_inline",
        "expose",
    }
)
"""The attributes that may be given; only `simp`, `ext`, `(ir)reducible` and `elab_as_elim` do something here."""
MADE_NAMES = {
    "inductive": re.compile(
        "(casesOn|recOn|below|ibelow|brecOn|binductionOn|noConfusion|noConfusionType|ctorIdx|toCtorIdx|ctorElim"
        "|ctorElimType)"
    ),
    "ctor": re.compile("(inj|injEq|sizeOf_spec|elim|noConfusion)"),
    "def": re.compile("(eq_[0-9]+|eq_def|eq_unfold|congr_simp|hcongr_[0-9]+|(induct|fun_cases)(_unfolding)?)"),
}
"""The last parts of the names under which Lean declares something about a constant, by its kind."""
OWN_NAMES = ("Nat.succ.inj",)
"""Names of this form that the library declares."""
FIRST_LEMMAS = ("eq_1", "eq_def", "eq_unfold")
"""What may not be there before the constant that it would be about; Lean looks for these three alone."""

Declared = TheoremCmd | ExampleCmd | DefCmd | AxiomCmd | InductiveCmd | StructureCmd


def run_declaration(result: CommandResult, cmd: TheoremCmd | ExampleCmd | DefCmd) -> None:
    """Run a declaration with a value; errors and sorries go into the result, and the state moves on."""
    state, signature = result.state, cmd.signature
    check_modifiers(state, cmd)
    check_new(state, signature)
    header = elab_header(state, signature)
    check_lemmas(state, header.name, signature)
    session = header.session
    is_theorem = isinstance(cmd, TheoremCmd)
    if is_theorem:
        if header.type is None:
            raise ElabError("the type of a theorem cannot be left out", signature.pos, signature.end)
        if not session.mctx.is_prop(header.type):
            shown = session.show(header.type, header.lctx)
            raise ElabError(f"type of theorem `{header.name}` is not a proposition\n  {shown}", cmd.pos, cmd.end)
        name_levels(session, *(decl.type for decl in header.lctx), header.type)
        include_variables(header, of_theorem=True)
        header.lctx = close_context(session, header.lctx, signature)
    allow_recursion(header, signature, cmd.value)
    value: Expr | None = None
    session.recover = True
    recorder = Recorder() if result.watch else None
    session.watch = recorder
    try:
        with refusals():
            value = elab_term(session, header.lctx, cmd.value, header.type, recover=True).term
    except ProofError as error:
        session.report(error.at(cmd.value.pos, cmd.value.end))
    result.say_notes(session.notes)
    report_goals(result, session)
    if recorder is not None:
        result.steps += recorder.steps
    if session.has_errors:
        if header.type is None:
            return
        value = session.synthetic_sorry(header.type)
    assert value is not None
    if not session.has_errors and (session.sorries or "sorryAx" in collect_consts(value)):
        result.say("warning", "declaration uses `sorry`", signature.pos, signature.end)
    if header.type is None:
        header.type = session.mctx.instantiate(session.mctx.infer_type(value))
    add_value(result, cmd, header, value)


def add_value(result: CommandResult, cmd: TheoremCmd | ExampleCmd | DefCmd, header: Header, value: Expr) -> None:
    """Close type and value over the locals and hand them to the kernel."""
    session, signature = header.session, cmd.signature
    mctx = session.mctx
    assert header.type is not None
    if not isinstance(cmd, TheoremCmd):
        include_variables(header, value)
        name_levels(session, *(decl.type for decl in header.lctx), header.type, value)
    ids = [decl.fvar_id for decl in header.lctx]
    value = mctx.instantiate(value)
    opened = open_value(header, value)
    if is_recursive(header, value):
        value = compile_body(header, opened, signature)
        value = mctx.mk_lambda(ids[: header.num_variables], value)
    else:
        value = mctx.mk_lambda(ids, value)
    type_ = default_levels(mctx.instantiate(mctx.mk_pi(ids, header.type)))
    value = default_levels(mctx.instantiate(value))
    params = used_levels(session, signature, type_, value)
    state = without_stand_in(header, result.state)
    decl: Declaration
    if isinstance(cmd, TheoremCmd):
        decl = TheoremDecl(header.name, params, type_, value)
    elif isinstance(cmd, ExampleCmd):
        decl = OpaqueDecl("_example", params, type_, value)
    else:
        reducible = cmd.abbrev or "reducible" in cmd.modifiers.attributes
        decl = DefDecl(header.name, params, type_, value, reducible)
    state = add_to_kernel(state, decl, signature)
    if isinstance(cmd, DefCmd):
        state = equation_lemmas(header, opened, params, state)
    if isinstance(decl, OpaqueDecl):
        result.examples.append(decl)
    else:
        result.state = with_modifiers(state, header.name, cmd.modifiers)


def add_to_kernel(state: EnvState, decl: Declaration, signature: Signature) -> EnvState:
    """Add a declaration to the state; a refusal of the kernel is an error at the declaration's name."""
    if isinstance(decl, DefDecl | TheoremDecl | OpaqueDecl) and decl.value.has_mvar:
        text = f"(kernel) declaration has metavariables '{decl.name}'"
        raise ElabError(text, signature.pos, signature.end)
    try:
        return state.with_env(state.env.add(decl, CHECK_STEPS))
    except KernelError as error:
        raise ElabError(f"(kernel) {error}", signature.pos, signature.end) from None


def report_goals(result: CommandResult, session: Session) -> None:
    """Report a proof state for every `sorry` of the text, in their order, and for `by` blocks if asked for."""
    kinds = [(session.sorries, result.sorries)]
    if result.watch:
        kinds.append((session.roots, result.roots))
    for records, found in kinds:
        for record in sorted(records, key=lambda record: record.pos):
            state = sorry_state(session, record, partial=False)
            found.append(SorryGoal(record.pos, record.end, state.goal_texts()[0], state))


def run_axiom(result: CommandResult, cmd: AxiomCmd) -> None:
    """Run `axiom name : type`."""
    check_modifiers(result.state, cmd)
    check_new(result.state, cmd.signature)
    header = elab_header(result.state, cmd.signature)
    if header.type is None:
        raise ElabError("the type of an axiom cannot be left out", cmd.signature.pos, cmd.signature.end)
    session = header.session
    name_levels(session, *(decl.type for decl in header.lctx), header.type)
    include_variables(header)
    header.lctx = close_context(session, header.lctx, cmd.signature)
    type_ = session.mctx.instantiate(session.mctx.mk_pi([decl.fvar_id for decl in header.lctx], header.type))
    decl = AxiomDecl(header.name, used_levels(session, cmd.signature, type_), type_)
    state = add_to_kernel(result.state, decl, cmd.signature)
    result.state = with_modifiers(state, header.name, cmd.modifiers)


def check_modifiers(state: EnvState, cmd: Declared) -> None:
    """Refuse attributes that are not known, and words that do not go with the declaration."""
    modifiers = cmd.modifiers
    for name in modifiers.attributes:
        if name.removeprefix("local ") not in ATTRIBUTES:
            raise ElabError(f"Unknown attribute `[{name}]`", modifiers.pos, modifiers.end)
        if name.startswith("local ") and name != "local simp":
            raise ElabError(f"`@[{name}]` is not supported", modifiers.pos, modifiers.end)
        if name in ("reducible", "irreducible") and not isinstance(cmd, DefCmd | ExampleCmd):
            text = f"failed to set reducibility status, `{cmd.signature.name}` is not a definition"
            raise ElabError(text, modifiers.pos, modifiers.end)
    if "protected" in modifiers.words and "." not in full_name(state, cmd.signature.name or "_example"):
        raise ElabError("protected declarations must be in a namespace", modifiers.pos, modifiers.end)
    if "noncomputable" in modifiers.words and not isinstance(cmd, DefCmd | ExampleCmd):
        raise ElabError("only what has code can be `noncomputable`", modifiers.pos, modifiers.end)


def with_modifiers(state: EnvState, name: str, modifiers: Modifiers) -> EnvState:
    """Return the state with the attributes of a new declaration."""
    for attribute in modifiers.attributes:
        if attribute == "local simp":
            state = state.with_local_attribute("simp", name)
        else:
            state = state.with_attribute(attribute, name)
    if "protected" in modifiers.words:
        state = dataclasses.replace(state, protected=state.protected | {name})
    return state


def check_new(state: EnvState, signature: Signature) -> None:
    """Refuse a name that is taken, also in Lean's core alone, or by Lean's declarations about another constant."""
    if signature.name is None:
        return
    name = full_name(state, signature.name)
    if name == "_root_" or name.startswith("_root_."):
        raise ElabError(f"invalid declaration name `{name}`", signature.pos, signature.end)
    if name in state.env or is_made(state, name) or name in core_names():
        raise ElabError(f"`{name}` has already been declared", signature.pos, signature.end)


def check_lemmas(state: EnvState, name: str, at: Signature) -> None:
    """Refuse a constant with a value whose first equations are declared already."""
    for last in FIRST_LEMMAS:
        if f"{name}.{last}" in state.env:
            text = f"failed to declare `{name}` because `{name}.{last}` has already been declared"
            raise ElabError(text, at.pos, at.end)


def is_made(state: EnvState, name: str) -> bool:
    """Return whether Lean declares something under this name about another constant."""
    outer, _, last = name.rpartition(".")
    info = state.get(outer)
    if info is None or info.kind not in MADE_NAMES or name in OWN_NAMES:
        return False
    return MADE_NAMES[info.kind].fullmatch(last) is not None
