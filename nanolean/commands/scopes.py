"""Scopes (`namespace`, `section`, `open`, `variable`, ..) and attributes."""

from collections.abc import Sequence
from dataclasses import replace

from nanolean.commands.auto_bound import auto_binder, binding
from nanolean.commands.declarations import ATTRIBUTES
from nanolean.commands.header import TERM_STEPS, add_local, new_session, section_variables, universe_names
from nanolean.commands.messages import CommandResult
from nanolean.elab.elaborator import Elaborator
from nanolean.elab.names import constant_name
from nanolean.env_state import EnvState, OpenScope
from nanolean.meta.instances import PROP_DECIDABLE
from nanolean.meta.lctx import EMPTY_CONTEXT
from nanolean.proof_errors import ElabError
from nanolean.syntax import (
    AttributeCmd,
    Binder,
    EndCmd,
    IncludeCmd,
    NamespaceCmd,
    OpenCmd,
    SectionCmd,
    UniverseCmd,
    VariableCmd,
)

INSTANCE = frozenset({"instance", "low instance"})
"""Attributes that only `Classical.propDecidable` may have: there are no type classes."""
MAX_SCOPES = 100
"""Each name is looked for in every namespace around it, so no more are nested."""


def run_namespace(result: CommandResult, cmd: NamespaceCmd) -> None:
    """Enter a namespace; `namespace A.B` is two."""
    state = result.state
    for part in cmd.name.split("."):
        outer = state.scope.namespace
        name = f"{outer}.{part}" if outer else part
        _check_depth(state, cmd)
        state = state.push(OpenScope("namespace", part, name, included=state.scope.included))
        state = replace(state, namespaces=state.namespaces | {name})
    result.state = state


def run_section(result: CommandResult, cmd: SectionCmd) -> None:
    """Enter a section; `section A.B` is two."""
    state = result.state
    for part in (cmd.name or "").split("."):
        _check_depth(state, cmd)
        state = state.push(OpenScope("section", part, state.scope.namespace, included=state.scope.included))
    result.state = state


def _check_depth(state: EnvState, cmd: NamespaceCmd | SectionCmd) -> None:
    if len(state.scopes) > MAX_SCOPES:
        raise ElabError(f"more than {MAX_SCOPES} nested namespaces and sections", cmd.pos, cmd.end)


def run_end(result: CommandResult, cmd: EndCmd) -> None:
    """Leave the innermost section, or as many scopes as the name has parts."""
    state = result.state
    parts = cmd.name.split(".") if cmd.name else [""]
    open_names = [scope.name for scope in state.scopes if scope.kind]
    if not open_names:
        note = "Note: Scopes are introduced using `namespace` and `section`"
        raise ElabError(f"Invalid `end`: There is no current scope to end\n\n{note}", cmd.pos, cmd.end)
    if open_names[-len(parts) :] != parts:
        raise ElabError(_wrong_end(open_names, parts), cmd.pos, cmd.end)
    for _ in parts:
        state = state.pop()
    result.state = state


def _wrong_end(open_names: list[str], parts: list[str]) -> str:
    """Say what the name after `end` should be; Lean shows the change as letters struck through and underlined."""
    inner, written = open_names[-1], ".".join(parts)
    if not written:
        hint = f"Hint: To end the current scope `{inner}`, specify its name:\n  end{_inserted(' ' + inner)}"
        return f"Missing name after `end`: Expected the current scope name `{inner}`\n\n{hint}"
    if not inner:
        hint = (
            f"Hint: Delete the name `{written}` to end the current unnamed scope; outer named scopes can then be "
            f"closed using additional `end` command(s):\n  end{_deleted(' ' + written)}"
        )
        return f"Unexpected name `{written}` after `end`: The current section is unnamed\n\n{hint}"
    named = open_names[len(open_names) - open_names[::-1].index("") if "" in open_names else 0 :]
    current = ".".join(named)
    if len(parts) > len(named):
        hint = f"Hint: The name after `end` must be `{current}` or some suffix thereof"
        return f"Invalid name after `end`: `{written}` contains too many components\n\n{hint}"
    wanted = ".".join(named[-len(parts) :])
    text = f"Invalid name after `end`: Expected `{wanted}`, but found `{written}`"
    if len(parts) < len(named):
        return f"{text}\n\nNote: The current scopes are `{current}`"
    if len(named) > 1:
        return text
    hint = f"Hint: Use current scope name `{inner}`:\n  end {_deleted(written)}{_inserted(inner)}"
    return f"{text}\n\n{hint}"


def _deleted(text: str) -> str:
    return "".join(f"{char}\u0335" for char in text)


def _inserted(text: str) -> str:
    return "".join(f"{char}\u0332" for char in text)


def run_open(result: CommandResult, cmd: OpenCmd) -> None:
    """Open namespaces until the end of the scope."""
    state = result.state
    if cmd.scoped:
        # The one scoped instance that is here; notations of Lean's core are known anyway.
        if any("Classical" in _namespaces(state, name, cmd) for name in cmd.names):
            result.state = state.with_local_attribute("low instance", PROP_DECIDABLE)
        return
    for name in cmd.names:  # one after the other: in `open A B`, B may be a namespace of A
        opens = (*state.scope.opens, *_namespaces(state, name, cmd))
        state = state.with_scope(replace(state.scope, opens=opens))
    result.state = state


def run_include(result: CommandResult, cmd: IncludeCmd) -> None:
    """Have declarations take variables that they do not mention, until the end of the scope, or no longer."""
    state = result.state
    variables = [binder.name for binder in section_variables(state)]
    for name in cmd.names:
        if name not in variables:
            text = f"invalid 'include', variable `{name}` has not been declared in the current scope"
            if cmd.omit:
                text = f"`{name}` did not match any variables in the current scope"
            raise ElabError(text, cmd.pos, cmd.end)
    kept = tuple(name for name in state.scope.included if name not in cmd.names)
    if not cmd.omit:
        kept = (*kept, *cmd.names)
    result.state = state.with_scope(replace(state.scope, included=kept))


def _namespaces(state: EnvState, name: str, cmd: OpenCmd) -> list[str]:
    """Find the namespaces that a name stands for: the nearest one around, and those within what is open."""
    known = known_namespaces(state)
    around = [f"{outer}.{name}" if outer else name for outer in state.namespace_chain()]
    nearest = [full for full in around if full in known][:1]
    within = [f"{opened}.{name}" for opened in state.opened() if f"{opened}.{name}" in known]
    if not nearest and not within:
        raise ElabError(f"unknown namespace `{name}`", cmd.pos, cmd.end)
    return [*dict.fromkeys([*within, *nearest])]


OF_HEADERS = frozenset({"BigOperators", "Real", "Nat", "Topology", "Rat"})
"""Namespaces that the usual header of whole proofs opens. Mathlib has them all; here those that the library lacks are
empty, so that files under that header can be read."""


def known_namespaces(state: EnvState) -> frozenset[str]:
    """Return every namespace that was entered, and every proper beginning of the name of a constant."""
    found = state.memo.get("namespaces")
    if found is None:
        names: set[str] = set()
        for info in state.env:
            outer = info.name.rpartition(".")[0]
            while outer and outer not in names:
                names.add(outer)
                outer = outer.rpartition(".")[0]
        found = state.memo["namespaces"] = frozenset(names)
    # Not those that were entered: they change while the constants, of which the memo tells, stay the same.
    return found | state.namespaces | OF_HEADERS


def run_variable(result: CommandResult, cmd: VariableCmd) -> None:
    """Declare variables until the end of the scope; their types are checked now.

    `variable {x}` of a variable `x` says how it is bound from then on.
    """
    state = result.state
    bound = {binder.name: binder.info for binder in section_variables(state)}
    new = [binder for binder in cmd.binders if binder.type is not None or binder.name not in bound]
    for binder in cmd.binders:
        if binder not in new and binder.info == bound[binder.name]:
            raise ElabError("redundant binder annotation update", binder.pos, binder.end)

    def elaborate(names: Sequence[str], levels: Sequence[str]) -> tuple[tuple[Binder, ...], tuple[str, ...]]:
        session = new_session(state, (*universe_names(state), *levels), TERM_STEPS)
        session.auto_bound = tuple(names)
        elaborator = Elaborator(session, EMPTY_CONTEXT)
        automatic = tuple([auto_binder(name) for name in names])
        for binder in (*section_variables(state), *automatic, *new):
            add_local(elaborator, binder)
        elaborator.force()
        return automatic, tuple(levels)

    automatic, levels = binding(state, elaborate)
    scope = state.scope
    text = result.text[cmd.pos : cmd.end].removeprefix("variable").strip()
    result.state = state.with_scope(
        replace(
            scope,
            variables=(*scope.variables, *automatic, *cmd.binders),
            universes=(*scope.universes, *levels),
            variable_texts=(*scope.variable_texts, text),
        )
    )


def run_universe(result: CommandResult, cmd: UniverseCmd) -> None:
    """Declare universe variables until the end of the scope."""
    state = result.state
    for name in cmd.names:
        if name in universe_names(state):
            start = result.text.index(name, cmd.pos + len("universe"))
            text = f"a universe level named `{name}` has already been declared"
            raise ElabError(text, start, start + len(name))
        state = state.with_scope(replace(state.scope, universes=(*state.scope.universes, name)))
    result.state = state


def run_attribute(result: CommandResult, cmd: AttributeCmd) -> None:
    """Give attributes to constants, or take them away (`-simp`)."""
    state = result.state
    for text in cmd.attributes:
        erase, attribute = text.startswith("-"), text.removeprefix("-").removeprefix("local ")
        is_local = text != attribute
        if attribute not in ATTRIBUTES | INSTANCE:
            raise ElabError(f"Unknown attribute `[{attribute}]`", cmd.pos, cmd.end)
        if erase and attribute not in ("simp", "ext"):
            raise ElabError("attribute cannot be erased", cmd.pos, cmd.end)
        if is_local and attribute in ("reducible", "irreducible"):
            raise ElabError(f"`local` of `{attribute}` is not supported", cmd.pos, cmd.end)
        for name in cmd.names:
            full = constant_name(state, name)
            if attribute in INSTANCE and full != PROP_DECIDABLE:
                raise ElabError(f"type classes are not supported: `{full}` cannot be an instance", cmd.pos, cmd.end)
            if erase and full not in state.tagged(attribute):
                raise ElabError(f"`{full}` does not have the `[{attribute}]` attribute", cmd.pos, cmd.end)
            # What is taken away is so until the scope ends, like what is local: `ScopedEnvExtension` of Lean.
            if is_local:
                state = state.with_local_attribute(attribute, full, erase)
            else:
                state = state.with_attribute(attribute, full)
    result.state = state
