"""The list in brackets: `grind [foo, ← bar, def]` as theorems for E-matching and definitions to unfold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from nanolean.elab.names import constant_name
from nanolean.errors import ElabError, TacticError
from nanolean.kernel.declaration import DefInfo
from nanolean.syntax import Ident, SimpLemma
from nanolean.tactics.core import TacticContext
from nanolean.tactics.grind.normal import Normalizer
from nanolean.tactics.grind.theorems import Theorem, global_theorem


@dataclass
class Lemmas:
    """What a call may use beside the hypotheses."""

    theorems: list[Theorem] = field(default_factory=list)
    definitions: list[str] = field(default_factory=list)


def read_lemmas(ctx: TacticContext, lemmas: Sequence[SimpLemma]) -> Lemmas:
    """What the list means; an error names the lemma that is of no use."""
    found = Lemmas()
    for lemma in lemmas:
        try:
            _read(ctx, lemma, found)
        except (ElabError, TacticError) as error:
            raise error.at(lemma.pos, lemma.end) from None
    return found


def _read(ctx: TacticContext, lemma: SimpLemma, found: Lemmas) -> None:
    term = lemma.term
    if not isinstance(term, Ident) or term.explicit or term.levels is not None:
        raise TacticError("invalid `grind` parameter, identifier expected")
    if ctx.lctx.find(term.name) is not None:
        raise TacticError(f"redundant parameter `{term.name}`, `grind` uses local hypotheses automatically")
    info = ctx.state.env[constant_name(ctx.state, term.name)]
    if lemma.erase:
        raise TacticError(f"`{info.name}` is not marked with the `[grind]` attribute")
    if ctx.mctx.is_prop(info.type):
        theorem = global_theorem(ctx.mctx, info, Normalizer(ctx.mctx)(info.type))
        if theorem is None:
            raise TacticError(f"invalid E-matching theorem `{info.name}`, failed to find patterns")
        found.theorems.append(theorem)
    elif isinstance(info, DefInfo) and not lemma.symm:
        found.definitions.append(info.name)
    else:
        raise TacticError(f"invalid `grind` parameter, `{info.name}` is not a theorem, definition, or inductive type")
