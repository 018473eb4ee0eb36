"""`Session`: what one command or one tactic step shares while it elaborates terms and runs tactic blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from nanoproof.lean.nanolean.env_state import EnvState
from nanoproof.lean.nanolean.kernel.expr import Expr
from nanoproof.lean.nanolean.meta.lctx import LocalContext
from nanoproof.lean.nanolean.meta.mctx import MetaContext
from nanoproof.lean.nanolean.printer import pp_expr
from nanoproof.lean.nanolean.syntax import TacticSeq


@dataclass(frozen=True)
class SorryRecord:
    """One `sorry`: where it stands and what it is to prove or build."""

    pos: int
    end: int
    lctx: LocalContext
    type: Expr
    tag: str = ""


@dataclass(frozen=True)
class Note:
    """Something to tell the user that is no refusal: severity "info" or "warning"."""

    severity: str
    text: str
    pos: int
    end: int


RunBlock = Callable[["Session", str, TacticSeq, int, int], None]
"""(session, goal id, tactics, start, end of the `by` block): closes the goal or raises a `ProofError`."""


@dataclass
class Session:
    """The metavariables, the environment, and what is collected on the way.

    `run_block` runs the tactics of a nested `by`; it is passed in because tactics are built on elaboration.
    """

    mctx: MetaContext
    state: EnvState
    run_block: RunBlock
    level_names: tuple[str, ...] = ()
    sorries: list[SorryRecord] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    def show(self, e: Expr, lctx: LocalContext) -> str:
        """A term as Lean prints it."""
        return pp_expr(self.mctx.instantiate(e), lctx, self.state.env, self.mctx.user_name)
