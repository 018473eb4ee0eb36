"""Entry points of elaboration for commands and tactics: `elab_term`, `elab_type`."""

import itertools
from dataclasses import dataclass
from typing import Literal

from nanolean.elab import application, calc, match, operators, terms
from nanolean.elab.elaborator import Elaborator
from nanolean.elab.session import Session
from nanolean.kernel.expr import Expr, collect_mvars
from nanolean.meta.lctx import LocalContext
from nanolean.meta.unify import solve_postponed
from nanolean.printer import pp_goal
from nanolean.proof_errors import ElabError
from nanolean.syntax import By, Hole, Node, SyntheticHole, Term

FORMS = (application, calc, match, operators, terms)
"""The modules whose rules the elaborator knows."""

Holes = Literal["error", "goals", "natural"]


@dataclass(frozen=True)
class Elaborated:
    """A term, and the goals it leaves open: the `?_` in order (`goals`), and what unification did not find
    (`natural`, only where that was allowed)."""

    term: Expr
    goals: tuple[str, ...] = ()
    natural: tuple[str, ...] = ()


def elab_term(
    session: Session,
    lctx: LocalContext,
    stx: Term,
    expected: Expr | None = None,
    holes: Holes = "error",
    ensure: bool = True,
    recover: bool = False,
) -> Elaborated:
    """Elaborate a term in a context.

    `holes` says what may stay open: "error" nothing, "goals" (as `refine`) only `?_`, "natural" (as `apply`, `rw`)
    also `_` and implicit arguments that unification has not found yet. With `ensure` the result has the expected type;
    without, the expected type only guides. Raises `ElabError` with a place in the source; with `recover`, and where the
    session allows it, most errors are reported to the session instead and `sorry` stands for the part they are in.
    """
    elaborator, known = Elaborator(session, lctx), len(session.mctx.decls)
    with session.recovering(recover):
        term = elaborator.elab(stx, expected)
        if expected is not None and ensure:
            term = elaborator.ensure_type(term, expected, stx)
        return finish(elaborator, term, holes, stx, known)


class Postponed:
    """A term whose `by` blocks and instances wait until a tactic has used it, and has thereby told their types."""

    # `elabTerm .. (mayPostpone := true)` of Lean: `rw` and `apply` run what waits behind unification and not before.
    def __init__(self, session: Session, lctx: LocalContext, stx: Term, expected: Expr | None = None) -> None:
        self._elaborator, self._known, self._stx = Elaborator(session, lctx), len(session.mctx.decls), stx
        if isinstance(stx, By) and expected is None:
            raise ElabError("invalid 'by' tactic, expected type has not been provided", stx.pos, stx.end)
        with session.recovering(False):
            self.term = self._elaborator.elab(stx, expected)
            self._elaborator.resume()
            # Of what has no type nothing can be told by unification with a part of a goal.
            if self._elaborator.known_head(session.mctx.infer_type(self.term)) is None:
                self._elaborator.force()
        self.term = session.mctx.instantiate(self.term)

    @property
    def goals(self) -> tuple[str, ...]:
        """The `?_` that are known so far."""
        return tuple(self._elaborator.goals)

    def finish(self, holes: Holes = "natural") -> Elaborated:
        """Elaborate what waits; `holes` says what may stay open. Raises as `elab_term` does."""
        with self._elaborator.session.recovering(False):
            return finish(self._elaborator, self.term, holes, self._stx, self._known)


def elab_type(session: Session, lctx: LocalContext, stx: Term, holes: Holes = "error", recover: bool = False) -> Expr:
    """Elaborate a type in a context (see `elab_term`)."""
    elaborator, known = Elaborator(session, lctx), len(session.mctx.decls)
    with session.recovering(recover):
        return finish(elaborator, elaborator.elab_type(stx), holes, stx, known).term


def finish(elaborator: Elaborator, term: Expr, holes: Holes, stx: Node, known: int = 0) -> Elaborated:
    """Elaborate everything that waits and see to what stays open (see `elab_term`).

    The first `known` metavariables were there before; that they are still open is nobody's fault here.
    """
    mctx = elaborator.mctx
    elaborator.force()
    elaborator.find_instances()
    # Lean solves the equations of levels that it has put off at the end of each term too (`processPostponed`).
    if not solve_postponed(mctx):
        raise ElabError("stuck at solving universe constraint", stx.pos, stx.end)
    term = mctx.instantiate(term)
    open_goals = tuple(goal for goal in elaborator.goals if not mctx.is_assigned(goal))
    # Reversed, so that of several places for one metavariable the first one is blamed.
    blame: dict[str, Node] = dict(reversed(elaborator.holes))
    if holes == "error" and open_goals:
        raise _unsolved(elaborator, open_goals[0], blame.get(open_goals[0], stx))
    natural = _natural(elaborator, term, known)
    if natural and holes != "natural":
        raise _unsolved(elaborator, natural[0], blame.get(natural[0], stx))
    return Elaborated(term, open_goals, natural)


def _natural(elaborator: Elaborator, term: Expr, known: int) -> tuple[str, ...]:
    """The new assignable metavariables of the term, in the order of their arguments."""
    if not term.has_mvar:
        return ()
    mctx = elaborator.mctx
    old = set(itertools.islice(mctx.decls, known))
    return tuple(i for i in collect_mvars(term) if i not in old and mctx.decl(i).kind == "natural")


def _unsolved(elaborator: Elaborator, mvar_id: str, stx: Node) -> ElabError:
    mctx = elaborator.mctx
    decl = mctx.decl(mvar_id)
    what = "placeholder" if isinstance(stx, Hole | SyntheticHole) else "implicit argument"
    text = pp_goal(
        decl.user_name, decl.lctx, mctx.instantiate(decl.type), mctx.env, mctx.user_name, mctx.show_universes
    )
    return ElabError(f"don't know how to synthesize {what}\ncontext:\n{text}", stx.pos, stx.end)
