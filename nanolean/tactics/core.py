"""What tactics share: the registry, the context they work in, and how a tactic is run.

A tactic is a function `(TacticContext, syntax node) -> None` registered for its node class. It changes `ctx.goals` and
assigns the metavariables of the goals that it closes. On failure it raises `TacticError`; then nothing that it did
counts, because the caller restores the context (`attempt`) or gives up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from nanolean.elab.session import Session
from nanolean.env_state import EnvState
from nanolean.kernel.expr import Expr
from nanolean.meta.lctx import LocalContext, LocalDecl
from nanolean.meta.mctx import MetaContext
from nanolean.printer import show_goal
from nanolean.proof_errors import ProofError, TacticError
from nanolean.syntax import Location, Tactic, TacticSeq
from nanolean.tactics.goals import goal_tag, goal_target

TacticFn = Callable[["TacticContext", Any], None]
Node = TypeVar("Node", bound=Tactic)

_REGISTRY: dict[type[Tactic], TacticFn] = {}

NO_GOALS = "No goals to be solved"


def tactic(node_class: type[Node]) -> Callable[[Callable[[TacticContext, Node], None]], TacticFn]:
    """Register a function as the meaning of a syntax node class."""

    def register(fn: Callable[[TacticContext, Node], None]) -> TacticFn:
        assert node_class not in _REGISTRY, f"two tactics for {node_class.__name__}"
        _REGISTRY[node_class] = fn
        return fn

    return register


def tactic_functions() -> tuple[TacticFn, ...]:
    """Return the functions that are registered; `nanolean.tactics.load` registers all."""
    return tuple(_REGISTRY.values())


class TacticContext:
    """The goals that tactics work on, first one first, in one elaboration session."""

    def __init__(self, mctx: MetaContext, state: EnvState, goals: Sequence[str], session: Session) -> None:
        self.mctx = mctx
        self.state = state
        self.goals: list[str] = list(goals)
        self.session = session

    # -- goals -------------------------------------------------------------------------------------------------------

    @property
    def main(self) -> str:
        """The first goal."""
        self.prune()
        if not self.goals:
            raise TacticError(NO_GOALS)
        return self.goals[0]

    def prune(self) -> None:
        """Drop goals that have been assigned meanwhile (by unification with another goal's metavariable)."""
        # Nothing is copied in the usual case: this runs before each look at a goal.
        if any(self.mctx.is_assigned(goal) for goal in self.goals):
            self.goals = [goal for goal in self.goals if not self.mctx.is_assigned(goal)]

    @property
    def lctx(self) -> LocalContext:
        """The local context of the main goal."""
        return self.mctx.decl(self.main).lctx

    @property
    def target(self) -> Expr:
        """The instantiated type of the main goal."""
        return goal_target(self.mctx, self.main)

    def replace_main(self, new: Iterable[str]) -> None:
        """Put new goals in the place of the main goal."""
        self.goals[:1] = new

    def close(self, value: Expr) -> None:
        """Close the main goal with a term of its type."""
        self.mctx.assign(self.main, value)
        self.goals = self.goals[1:]

    # -- hypotheses --------------------------------------------------------------------------------------------------

    def hyp(self, name: str) -> LocalDecl:
        """Return the hypothesis of that name in the main goal."""
        decl = self.lctx.find(name)
        if decl is None:
            raise TacticError(f"Unknown identifier `{name}`")
        return decl

    def type_of(self, decl: LocalDecl) -> Expr:
        """Return the instantiated type of a hypothesis."""
        return self.mctx.instantiate(decl.type)

    # -- terms -------------------------------------------------------------------------------------------------------

    def show(self, e: Expr) -> str:
        """Print a term with the names of the main goal."""
        return self.session.show(e, self.lctx)

    def show_in(self, goal: str, e: Expr) -> str:
        """Print a term with the names of some goal."""
        return self.session.show(e, self.mctx.decl(goal).lctx)

    def show_goal(self, goal: str) -> str:
        """Print a goal."""
        return show_goal(self.mctx, goal)

    def with_goal(self, text: str) -> TacticError:
        """Make an error of a message followed by the main goal, as most tactics of Lean end theirs."""
        return TacticError(f"{text}\n\n{self.show_goal(self.main)}")

    def no_such_case(self, tag: str) -> TacticError:
        """Make the error for a case tag that no goal has."""
        known = [f"`{name}`" for goal in self.goals if (name := goal_tag(self.mctx, goal))]
        if not known:
            note = "There are no cases to select."
        elif len(known) == 1:
            note = f"The only available case tag is {known[0]}."
        else:
            note = f"The available case tags are {', '.join(known[:-1])} and {known[-1]}."
        return TacticError(f"Case tag `{tag}` not found.\n\nNote: {note}")

    # -- trying ------------------------------------------------------------------------------------------------------

    def save(self) -> tuple[int, list[str], int, int]:
        """Return a mark for `restore`."""
        return self.mctx.save(), list(self.goals), len(self.session.sorries), len(self.session.notes)

    def restore(self, mark: tuple[int, list[str], int, int]) -> None:
        """Undo everything since the mark."""
        self.mctx.restore(mark[0])
        self.goals = list(mark[1])
        del self.session.sorries[mark[2] :]
        del self.session.notes[mark[3] :]

    def attempt(self, work: Callable[[], object]) -> bool:
        """Run something; when it is refused, undo it and answer False."""
        mark = self.save()
        try:
            # Where errors are recovered from, a tactic that is refused closes its goal by `sorry` and would count as a
            # success (`withoutRecover` of Lean's Elab/Tactic/Basic.lean).
            with self.session.recovering(False):
                work()
        # A budget that is used up is no ProofError: it ends the whole step and not this attempt alone.
        except ProofError:
            self.restore(mark)
            return False
        return True

    @contextmanager
    def focus(self) -> Iterator[None]:
        """Inside, the main goal is the only one; afterwards the others follow what is left of it."""
        main = self.main
        rest = self.goals[1:]
        self.goals = [main]
        # No `finally`: who catches an error restores the goals himself.
        yield
        self.goals = self.goals + rest


def run_tactic_node(ctx: TacticContext, node: Tactic) -> None:
    """Run one tactic; errors learn its place in the source."""
    fn = _REGISTRY.get(type(node))
    if fn is None:
        name = type(node).__name__.removesuffix("Stx").lower()
        raise TacticError(f"tactic '{name}' is not available in NanoLean", node.pos, node.end)
    try:
        # What has no width stands in no text.
        if ctx.session.watch is None or node.pos == node.end:
            fn(ctx, node)
        else:
            ctx.session.watch(ctx, node, partial(fn, ctx, node))
    except ProofError as error:
        # The innermost tactic is blamed: an error that has its place keeps it.
        raise error.at(node.pos, node.end) from None
    # Here and not in each tactic, most of which know nothing of other goals.
    ctx.prune()


def run_seq(ctx: TacticContext, seq: TacticSeq) -> None:
    """Run tactics one after another."""
    for node in seq.tactics:
        run_tactic_node(ctx, node)


def hyps_and_goal(ctx: TacticContext, location: Location) -> tuple[list[str], bool]:
    """Return names of the hypotheses and whether the goal is meant; `at *` is refused by tactics that use this."""
    # `at *` means to skip what a tactic does not apply to, which only `simp` has rules for.
    if location.wildcard:
        raise TacticError("`at *` is not supported for this tactic")
    for name in location.hyps:
        ctx.hyp(name)
    return list(location.hyps), location.goal or not location.hyps


def proposition_ids(ctx: TacticContext) -> list[str]:
    """Ids of the hypotheses of the main goal that are proofs, oldest first."""
    return [decl.fvar_id for decl in ctx.lctx if decl.value is None and ctx.mctx.is_prop(ctx.type_of(decl))]
