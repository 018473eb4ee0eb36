"""`Session`: what one command or one tactic step shares while it elaborates terms and runs tactic blocks."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from nanolean.env_state import EnvState
from nanolean.kernel.declaration import Declaration
from nanolean.kernel.expr import Const, Expr, Lit, arrow, collect_mvars, mk_app
from nanolean.meta.lctx import LocalContext
from nanolean.meta.mctx import MetaContext
from nanolean.printer import pp_expr
from nanolean.proof_errors import Aborted, ElabError, ProofError
from nanolean.syntax import Tactic, TacticSeq


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
    """Something to tell the user: severity "info" or "warning", or "error" for what `Session.report` recovered from."""

    severity: str
    text: str
    pos: int
    end: int


RunBlock = Callable[["Session", str, TacticSeq, int, int], None]
"""(session, goal id, tactics, start, end of the `by` block): closes the goal or raises a `ProofError`."""


Watch = Callable[[Any, Tactic, Callable[[], None]], None]
"""(tactic context, tactic, what runs it)"""


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
    roots: list[SorryRecord] = field(default_factory=list)
    """The outermost `by` blocks."""
    blocks: list[str] = field(default_factory=list)
    """The goals of the `by` blocks that are running, outermost first."""
    watch: Watch | None = None
    """Runs each tactic if its states are to be recorded."""
    recover: bool = False
    """Errors in parts of a text are put on record and the part is taken for proved, so that later errors show too."""

    auxiliary: list[Declaration] = field(default_factory=list)
    """What `add_auxiliary` has added, in order."""
    auto_bound: tuple[str, ...] = ()
    """Names that the header of the declaration binds without saying so."""
    decl_name: str = ""
    """The declaration that is elaborated, empty while a tactic runs on its own."""

    def add_auxiliary(self, decl: Declaration) -> None:
        """Have the kernel check a declaration that the present one needs, such as a matcher; known from now on."""
        # The kernel checks it at once: nothing that tactics have built is trusted, whatever is proved with it.
        self.auxiliary.append(decl)
        self.use_state(replace(self.state.with_env(self.state.env.add(decl)), memo=self.state.memo))

    def use_state(self, state: EnvState) -> None:
        """Go on over another environment."""
        self.state = state
        # Caches hold what is true over one environment only.
        self.mctx.env, self.mctx.caches = state.env, state.caches

    def show(self, e: Expr, lctx: LocalContext, dotted: bool = True, before: str = "") -> str:
        """Print a term as Lean does; `dotted` and `before` as of `pp_expr`."""
        term, universes = self.mctx.instantiate(e), self.mctx.show_universes
        return pp_expr(term, lctx, self.state.env, self.mctx.user_name, universes, dotted, before)

    @property
    def has_errors(self) -> bool:
        """Whether an error has been put on record."""
        return any(note.severity == "error" for note in self.notes)

    @contextmanager
    def recovering(self, allowed: bool) -> Iterator[None]:
        """Inside, errors are recovered from only if that was so before and is `allowed`."""
        before, self.recover = self.recover, self.recover and allowed
        try:
            yield
        finally:
            self.recover = before

    def report(self, error: ProofError) -> None:
        """Put an error on record, except where it only follows from one that is there already."""
        # `logAt` of Lean's Log.lean drops errors that speak of a synthetic `sorry`: they come from one that is told
        # already.
        follows = "sorry" in error.message or error.message.startswith("don't know how to synthesize")
        if isinstance(error, Aborted) or (follows and self.has_errors):
            return
        pos = error.pos or 0
        end = pos if error.end is None else error.end
        self.notes.append(Note("error", error.message, pos, end))

    def sorry_of(self, record: SorryRecord) -> Expr:
        """Make the term of a `sorry` that somebody wrote, and put it on record.

        As in Lean since 4.16 it is `sorryAx (tag → T) false place`: two places are never equal by `rfl`, or all open
        definitions of a type would be the same; one place is equal to itself, whatever the arguments of its function.
        Raises `ElabError` if it stands for something that is no type's.
        """
        level = self.mctx.sort_level(record.type)
        if level is None:
            raise ElabError("type expected")
        self.sorries.append(record)
        place = f"{self.decl_name} {record.pos}".encode()
        tag = Lit(int.from_bytes(sha256(place).digest()[:7], "big"))
        # the level of `Nat → T` is that of `T`: imax 1 u = u where u is 0 or more than that
        return mk_app(Const("sorryAx", (level,)), arrow(Const("Nat", ()), record.type, "tag"), Const("Bool.false"), tag)

    def synthetic_sorry(self, type_: Expr) -> Expr:
        """Make the term that replaces a part that has errors."""
        level = self.mctx.sort_level(type_)
        if level is None:
            raise ElabError("type expected")
        return mk_app(Const("sorryAx", (level,)), type_, Const("Bool.true"))

    def admit(self, goal: str) -> None:
        """Close a goal, as far as it is open, by `synthetic_sorry`."""
        for mvar_id in self._open_parts(goal):
            if not self.mctx.is_assigned(mvar_id):
                self.mctx.assign(mvar_id, self.synthetic_sorry(self.mctx.instantiate(self.mctx.decl(mvar_id).type)))

    def _open_parts(self, goal: str) -> list[str]:
        """The metavariables in the value of a goal, also those that a delayed assignment waits for."""
        still_open: list[str] = []
        todo = [goal]
        while todo:
            mvar_id = todo.pop()
            if mvar_id in still_open:
                continue
            if mvar_id in self.mctx.delayed:
                todo.append(self.mctx.delayed[mvar_id].mvar_id)
            elif mvar_id in self.mctx.assignment:
                todo += collect_mvars(self.mctx.instantiate(self.mctx.assignment[mvar_id]))
            else:
                still_open.append(mvar_id)
        return still_open
