"""Auto-bound implicit arguments: `theorem t (h : p) : p` binds `p` itself, as Lean does unless an option forbids it.

Like Lean's, the elaborator of a header does not know that a name is meant this way. It fails at the name, the name is
put before the other binders, with a type that its uses tell, and everything is elaborated again.
"""

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from nanolean.elab.elaborator import Elaborator, elaborates
from nanolean.elab.names import UnknownLevel, UnknownName
from nanolean.env_state import LACKS_LIBRARY, EnvState
from nanolean.kernel.expr import Expr, collect_mvars
from nanolean.library.core_names import core_names
from nanolean.meta.lctx import LocalContext, LocalDecl, inaccessible
from nanolean.syntax import Binder, Term

AUTO_IMPLICIT = "autoImplicit"
RELAXED = "relaxedAutoImplicit"
MAX_BOUND = 50
"""Names that one declaration binds in this way: all is elaborated again for each of them."""
ONE_LETTER = re.compile("[^.][0-9₀-₉ₐ-ₜᵢ-ᵪⱼ_']*")
"""What may be bound where the option `relaxedAutoImplicit` is off: Lean's `isValidAutoBoundSuffix`."""

Result = TypeVar("Result")


class UnknownType(Term):
    """The type of an auto-bound variable, which its uses tell."""


@elaborates(UnknownType)
def elab_unknown_type(self: Elaborator, stx: UnknownType, expected: Expr | None) -> Expr:
    """Make a metavariable that may stay open: then it becomes an argument itself."""
    return self.fresh_type()


def auto_binder(name: str) -> Binder:
    """Return the binder of an auto-bound variable."""
    return Binder(name, UnknownType(), "implicit")


def binding(
    state: EnvState,
    elaborate: Callable[[Sequence[str], Sequence[str]], Result],
    declared: str = "",
) -> Result:
    """Return what `elaborate` makes of the names and the universe levels that are bound automatically.

    It is called again for each that it does not know and that may be bound; `declared` is the name of the declaration,
    which may not. Raises its `ElabError` for others.
    """
    names: list[str] = []
    levels: list[str] = []
    while True:
        try:
            return elaborate(names, levels)
        except UnknownName as error:
            reason = why_not_bound(state, error.name)
            if reason is not None or error.name == declared or error.name in names or len(names) >= MAX_BOUND:
                error.message += reason or ""
                raise
            names.append(error.name)
        except UnknownLevel as error:
            reason = why_not_bound(state, error.name)
            if reason is not None or error.name in levels or len(levels) >= MAX_BOUND:
                raise
            levels.append(error.name)


MATHLIB_TYPES = frozenset("ℕℤℚℝℂℍ")
"""Types of Mathlib of one letter. Lean without Mathlib would bind these names too, but whoever writes `(x : ℝ)` does
not mean all types, and must not read that it is proved. What takes arguments (`Set α`) cannot be bound anyway."""
LIKE_A_CONSTANT = re.compile(r"[^.]*[A-ZΑ-ΩÀ-Þ][^.]*")
"""Names of several letters with a capital, `ENat` or `goldenRatio`: whoever writes one means a constant of a library.
Lean without that library binds it like any other name, and proves something about all types."""


def why_not_bound(state: EnvState, name: str) -> str | None:
    """Return None for a name that may be bound, otherwise what to say about it, which may be nothing."""
    if "." in name or "✝" in name:
        return ""
    note = f"\n\nNote: It is not possible to treat `{name}` as an implicitly bound variable here because"
    if state.option(LACKS_LIBRARY):
        return f"{note} a library is missing that may have it."
    if state.option(AUTO_IMPLICIT) is False:
        return f"{note} the `{AUTO_IMPLICIT}` option is set to `false`."
    if state.option(RELAXED) is False and not ONE_LETTER.fullmatch(name):
        return f"{note} it has multiple characters while the `{RELAXED}` option is set to `false`."
    # `(x : Int)` must not become something about all types: Lean has an `Int`, only this library has none.
    if name in MATHLIB_TYPES:
        return ""
    for namespace in (*state.namespace_chain(), *state.opened()):
        full = f"{namespace}.{name}" if namespace else name
        if full in core_names():
            return ""
    if LIKE_A_CONSTANT.fullmatch(name) and not ONE_LETTER.fullmatch(name):
        return f"{note} it looks like a constant; bind it by hand if it is a variable."
    return None


def bind_types(elaborator: Elaborator, binders: Sequence[Binder], ids: Sequence[str]) -> int:
    """Make arguments of the types of auto-bound variables that no use has told; return how many there are.

    `ids` are those of the locals that `binders` have become. `theorem t : a = a` is about `{α : Sort u} {a : α}`.
    """
    mctx = elaborator.mctx
    automatic = {fvar_id for binder, fvar_id in zip(binders, ids) if isinstance(binder.type, UnknownType)}
    decls: list[LocalDecl] = []
    count = 0
    for decl in elaborator.lctx:
        if decl.fvar_id in automatic:
            for mvar_id in collect_mvars(mctx.instantiate(decl.type)):
                type_ = mctx.instantiate(mctx.decl(mvar_id).type)
                local = mctx.fresh_local(inaccessible("α"), type_, info="implicit")
                mctx.assign(mvar_id, local.fvar)
                decls.append(local)
                count += 1
        decls.append(decl)
    elaborator.lctx = LocalContext(decls)
    return count
