"""What a dotted name means: a local, a constant (by namespaces and `open`), and the fields that are left over."""

from __future__ import annotations

from nanolean.env_state import EnvState
from nanolean.errors import ElabError
from nanolean.kernel.expr import Expr, FVar
from nanolean.meta.lctx import LocalContext

ROOT = "_root_."
EXPORTED = {
    "true": "Bool.true",
    "false": "Bool.false",
    "decide": "Decidable.decide",
    "isTrue": "Decidable.isTrue",
    "isFalse": "Decidable.isFalse",
    "some": "Option.some",
    "none": "Option.none",
    "min": "Min.min",
    "max": "Max.max",
}
"""Names that Lean core exports from their namespaces."""


def resolve_constant(state: EnvState, name: str) -> list[str]:
    """The full names of the constants that `name` may mean, best first: the innermost namespace, then `open`s."""
    if name.startswith(ROOT):
        full = name[len(ROOT) :]
        return [full] if full in state.env else []
    for namespace in state.namespace_chain():
        full = f"{namespace}.{name}" if namespace else name
        if full in state.env and not (namespace and full in state.protected and "." not in name and full != name):
            found = [full]
            break
    else:
        found = []
    if found and "." in found[0] and found[0] != name:
        return found
    exported = EXPORTED.get(name)
    if exported is not None and exported in state.env:
        found.append(exported)
    for namespace in state.opened():
        full = f"{namespace}.{name}"
        if full in state.env and full not in found and full not in state.protected:
            found.append(full)
    return found


def constant_name(state: EnvState, name: str) -> str:
    """The one constant that `name` means; raises `ElabError` where there is none or more than one."""
    found = resolve_constant(state, name)
    if not found:
        raise ElabError(f"Unknown constant `{name}`")
    if len(found) > 1:
        raise ElabError(f"ambiguous identifier `{name}`, possible interpretations: [{', '.join(found)}]")
    return found[0]


def split_name(state: EnvState, lctx: LocalContext, name: str) -> tuple[Expr | list[str], list[str]] | None:
    """The longest known beginning of a dotted name (a local, or candidate constants) and the fields after it.

    A local wins over a constant whose name has the same number of parts or fewer.
    """
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        prefix = ".".join(parts[:count])
        if count == 1:
            local = lctx.find(prefix)
            if local is not None:
                return FVar(local.fvar_id), parts[1:]
        constants = resolve_constant(state, prefix)
        if constants and not (count > 1 and lctx.find(parts[0]) is not None):
            return constants, parts[count:]
    return None
