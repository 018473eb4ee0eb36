"""`TacticState`: open goals and what led to them, as a value; `run_tactic` makes the next one.

A state keeps of all metavariables only those that the proof term still mentions, each with its value instantiated, so
that states stay small and share what they have in common.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

from nanolean.elab.session import Note, Session, SorryRecord
from nanolean.env_state import EnvState
from nanolean.kernel.budget import Budget, BudgetExceeded, KernelError
from nanolean.kernel.declaration import OpaqueDecl
from nanolean.kernel.env import axioms_of
from nanolean.kernel.expr import (
    Const,
    Expr,
    Lit,
    MVar,
    collect_consts,
    collect_level_params_of,
    collect_mvars,
    replace_levels,
    subterms,
)
from nanolean.kernel.level import ZERO, IMax, Level, LMVar, Max, Succ, mk_imax, mk_max
from nanolean.meta.mctx import MetaContext
from nanolean.meta.store import DelayedAssignment, MVarDecl
from nanolean.parser import ParseError, parse_tactic
from nanolean.printer import instantiated, show_goal
from nanolean.proof_errors import Aborted, ProofError, TacticError
from nanolean.syntax import AndThenStx, BraceStx, BulletStx, ParenStx, Tactic, TacticSeq
from nanolean.tactics import load as load_tactics
from nanolean.tactics.core import TacticContext, run_seq, run_tactic_node

TACTIC_STEPS = 200_000
"""Elementary steps that one tactic may take (about a second)."""
CHECK_STEPS = 5_000_000
"""Elementary steps for checking a finished proof."""


@dataclass(frozen=True)
class TacticState:
    """The goals still open, in order, of a proof whose term is the value of `root`."""

    state: EnvState
    root: str
    goals: tuple[str, ...]
    decls: dict[str, MVarDecl]
    assignment: dict[str, Expr] = field(default_factory=dict)
    delayed: dict[str, DelayedAssignment] = field(default_factory=dict)
    hole_names: frozenset[str] = frozenset()
    """The names that metavariables have had so far; those with values are forgotten, but their names are not."""
    level_names: tuple[str, ...] = ()
    has_sorry: bool = False
    """Some step on the way used `sorry`."""
    partial: bool = False
    """The root is a part of a larger proof that this state cannot complete (a `sorry` inside of a tactic)."""

    def goal_texts(self) -> list[str]:
        """Return the goals as Lean prints them."""
        mctx = open_state(self)
        return [show_goal(mctx, goal) for goal in self.goals]


@dataclass
class StepRecord:
    """A tactic of a text: its place, the state that it ran on, and the constants of the terms that it made."""

    pos: int
    end: int
    before: TacticState
    constants: tuple[str, ...] = ()


@dataclass(frozen=True)
class StepResult:
    """The state after a tactic, and what it had to tell."""

    state: TacticState
    sorries: tuple[TacticState, ...] = ()
    notes: tuple[Note, ...] = ()


def open_state(state: TacticState, steps: int = TACTIC_STEPS) -> MetaContext:
    """Open a metavariable context to work in, which starts from the state and leaves it untouched."""
    mctx = MetaContext(state.state.env, Budget(steps), state.state.caches)
    mctx.show_universes = state.state.shows_universes
    mctx.classical = state.state.classical
    mctx.decls = dict(state.decls)
    mctx.assignment = dict(state.assignment)
    mctx.delayed = dict(state.delayed)
    mctx.hole_names = state.hole_names
    for goal in state.goals:
        mctx.know(state.decls[goal].lctx)
    mctx.know(state.decls[state.root].lctx)
    return mctx


# -- running ----------------------------------------------------------------------------------------------------------


def run_tactic(state: TacticState, text: str, steps: int = TACTIC_STEPS, recover: bool = False) -> StepResult:
    """Run one tactic, given as text, on a state.

    Raises `TacticError` with Lean's message when it is refused, also when it is no tactic or takes too many steps.
    With `recover`, as in Lean's REPL, errors in terms and nested blocks do not raise: they are notes of severity
    "error", `sorry` replaces what they spoil, and the caller has to look at them.
    """
    try:
        node = parse_tactic(text)
    except ParseError as error:
        raise TacticError(f"<input>:{error.line}:{error.column + 1}: {error.message}") from None
    except RecursionError:
        raise TacticError("the text is nested too deeply") from None
    return run_node(state, node, steps, recover)


def run_node(state: TacticState, node: Tactic, steps: int = TACTIC_STEPS, recover: bool = False) -> StepResult:
    """Run one parsed tactic on a state; raises `TacticError` or another `ProofError` (see `run_tactic`)."""
    load_tactics()
    mctx = open_state(state, steps)
    session = Session(mctx, state.state, run_block, state.level_names, recover=recover)
    ctx = TacticContext(mctx, state.state, state.goals, session)
    with refusals():
        with suppress(Aborted):
            run_tactic_node(ctx, node)
        ctx.prune()
        sorries = tuple(sorry_state(session, record, partial=True) for record in session.sorries)
        used_sorry = state.has_sorry or bool(sorries)
        after = replace(state, state=session.state)
        return StepResult(close_state(mctx, after, ctx.goals, used_sorry), sorries, tuple(session.notes))


def run_block(session: Session, goal: str, seq: TacticSeq, pos: int, end: int) -> None:
    """Run the tactics of a `by` block; they must close the goal, or it is admitted where errors are recovered from."""
    load_tactics()
    ctx = TacticContext(session.mctx, session.state, [goal], session)
    if not session.blocks:
        decl = session.mctx.decl(goal)
        session.roots.append(SorryRecord(pos, pos, decl.lctx, decl.type, decl.user_name))
    session.blocks.append(goal)
    try:
        run_seq(ctx, seq)
        ctx.prune()
        if ctx.goals:
            raise TacticError(unsolved(session.mctx, ctx.goals), pos, end)
    except ProofError as error:
        if not session.recover:
            raise
        session.report(error)
        session.admit(goal)
    finally:
        session.blocks.pop()


def unsolved(mctx: MetaContext, goals: Iterable[str]) -> str:
    """Lean's message for goals that a block leaves open."""
    return "unsolved goals\n" + "\n\n".join(show_goal(mctx, goal) for goal in goals)


@contextmanager
def refusals() -> Iterator[None]:
    """Inside, running out of steps or stack and ill-typed terms are refusals with a message."""
    try:
        yield
    except BudgetExceeded:
        raise TacticError("maximum number of steps exceeded") from None
    except RecursionError:
        raise TacticError("maximum recursion depth has been reached") from None
    except KernelError as error:
        raise TacticError(str(error)) from None


def sorry_state(session: Session, record: SorryRecord, partial: bool) -> TacticState:
    """Make a state for the goal that a `sorry` stands for; `partial` where proving it completes nothing on its own."""
    mctx = session.mctx
    goal = mctx.fresh_mvar(record.type, record.lctx, "synthetic", record.tag)
    before = TacticState(
        session.state,
        goal.id,
        (goal.id,),
        {goal.id: mctx.decl(goal.id)},
        level_names=session.level_names,
        partial=partial,
    )
    return close_state(mctx, before, [goal.id], has_sorry=False)


def close_state(mctx: MetaContext, before: TacticState, goals: Iterable[str], has_sorry: bool) -> TacticState:
    """Return the state that remains after work in `mctx`: what the root's value and the goals still mention."""
    goals = tuple(goals)
    decls: dict[str, MVarDecl] = {before.root: before.decls[before.root]}
    assignment: dict[str, Expr] = {}
    delayed: dict[str, DelayedAssignment] = {}
    todo = [before.root, *goals]
    seen: set[str] = set()
    while todo:
        mvar_id = todo.pop()
        if mvar_id in seen:
            continue
        seen.add(mvar_id)
        if mvar_id in mctx.assignment:
            value = assignment[mvar_id] = mctx.instantiate(MVar(mvar_id))
            todo += collect_mvars(value)
            continue
        decls[mvar_id], mentioned = _instantiated_decl(mctx, mctx.decl(mvar_id))
        todo += mentioned
        if mvar_id in mctx.delayed:
            delayed[mvar_id] = mctx.delayed[mvar_id]
            todo.append(delayed[mvar_id].mvar_id)
    names = before.hole_names.union(decl.user_name for decl in mctx.decls.values() if decl.user_name)
    return replace(
        before,
        goals=goals,
        decls=decls,
        assignment=assignment,
        delayed=delayed,
        hole_names=names,
        has_sorry=has_sorry,
    )


def _instantiated_decl(mctx: MetaContext, decl: MVarDecl) -> tuple[MVarDecl, list[str]]:
    """The declaration without assigned metavariables, and the metavariables that it still mentions."""
    type_, lctx = mctx.instantiate(decl.type), instantiated(mctx, decl.lctx)
    mentioned = list(collect_mvars(type_)) if type_.has_mvar else []
    for local in lctx:
        for part in (local.type, local.value):
            if part is not None and part.has_mvar:
                mentioned += collect_mvars(part)
    if type_ is decl.type and lctx is decl.lctx:
        return decl, mentioned
    return replace(decl, type=type_, lctx=lctx), mentioned


# -- finishing --------------------------------------------------------------------------------------------------------


def proof_status(state: TacticState) -> str:
    """Return how far the proof is, in the words of the Lean REPL; "Completed" only after the kernel has accepted it."""
    if state.goals:
        return "Incomplete: open goals remain"
    if state.has_sorry:
        return "Incomplete: contains sorry"
    mctx = open_state(state)
    term = mctx.instantiate(MVar(state.root))
    if "sorryAx" in collect_consts(term):
        return "Incomplete: contains sorry"
    if state.partial or collect_mvars(term):
        return "Incomplete: contains metavariable(s)"
    root = mctx.decl(state.root)
    ids = [decl.fvar_id for decl in root.lctx]
    value, type_ = mctx.mk_lambda(ids, term), mctx.mk_pi(ids, root.type)
    try:
        check_closed(state.state, "_example", type_, value)
    except KernelError as error:
        return f"Error: kernel type check failed: (kernel) {error}"
    return "Completed"


def check_closed(state: EnvState, name: str, type_: Expr, value: Expr) -> None:
    """Have the kernel check `value : type_`; raises `KernelError`. Levels that nothing determines become 0."""
    value, type_ = default_levels(value), default_levels(type_)
    params = tuple(sorted(collect_level_params_of(value) | collect_level_params_of(type_)))
    env = state.env.add(OpaqueDecl(name, params, type_, value), CHECK_STEPS)
    if state.pending and state.pending in axioms_of(env, name):
        raise KernelError(f"unknown constant '{state.pending}'")


def default_levels(e: Expr) -> Expr:
    """Replace level metavariables of the term by 0."""
    return replace_levels(e, _zero_mvars) if e.has_mvar else e


def _zero_mvars(level: Level) -> Level:
    if not level.has_mvar:
        return level
    match level:
        case LMVar(_):
            return ZERO
        case Succ(of):
            return Succ(_zero_mvars(of))
        case Max(left, right):
            return mk_max(_zero_mvars(left), _zero_mvars(right))
        case IMax(left, right):
            return mk_imax(_zero_mvars(left), _zero_mvars(right))
        case _:
            return level


GROUPING = (AndThenStx, BraceStx, BulletStx, ParenStx)
"""Tactics that Lean does not count as steps of their own."""

NUMERAL = ("OfNat.ofNat", "Nat", "instOfNatNat")
SORRY_PLACE = ("Lean.Name", "Lean.Name.anonymous", "Lean.Name.num", "Lean.Name.str", *NUMERAL)
"""In Lean a `sorry` carries the place where it was written, as a name."""
OPERATORS = {
    "Nat.add": ("HAdd.hAdd", "instHAdd", "instAddNat", "Nat"),
    "Nat.mul": ("HMul.hMul", "instHMul", "instMulNat", "Nat"),
    "Nat.sub": ("HSub.hSub", "instHSub", "instSubNat", "Nat"),
    "Nat.div": ("HDiv.hDiv", "instHDiv", "Nat.instDivNat", "Nat"),
    "Nat.mod": ("HMod.hMod", "instHMod", "Nat.instModNat", "Nat"),
    "Nat.le": ("LE.le", "instLENat", "Nat"),
    "Nat.lt": ("LT.lt", "instLTNat", "Nat"),
    "Nat.dvd": ("Dvd.dvd", "Nat.instDvdNat", "Nat"),
    "List.append": ("HAppend.hAppend", "instHAppendOfAppend", "List.instAppend"),
}
"""What stands in Lean for the functions that operators mean here directly."""


class Recorder:
    """Watches the tactics of one declaration."""

    def __init__(self) -> None:
        self.steps: list[StepRecord] = []

    def __call__(self, ctx: TacticContext, node: Tactic, work: Callable[[], None]) -> None:
        """Run a tactic and put it on record, before the tactics that run inside of it."""
        if isinstance(node, GROUPING) or not ctx.goals:
            work()
            return
        before = list(ctx.goals)
        record = StepRecord(node.pos, node.end, _snapshot(ctx))
        self.steps.append(record)
        work()
        record.constants = used_constants(ctx.mctx.instantiate(MVar(goal)) for goal in before)


def _snapshot(ctx: TacticContext) -> TacticState:
    root = ctx.session.blocks[0]
    start = TacticState(
        ctx.session.state, root, (root,), {root: ctx.mctx.decl(root)}, level_names=ctx.session.level_names
    )
    return close_state(ctx.mctx, start, ctx.goals, has_sorry=False)


def used_constants(terms: Iterable[Expr]) -> tuple[str, ...]:
    """Return the constants of terms, under the names and in the order in which Lean lists them."""
    found: set[str] = set()
    for e in terms:
        for node in subterms(e, lambda _: True):
            if isinstance(node, Lit):
                found.update(NUMERAL)
            elif isinstance(node, Const):
                found.update(OPERATORS.get(node.name, (node.name,)))
                if node.name == "sorryAx":
                    found.update(SORRY_PLACE)
    return tuple(sorted(found, key=name_hash))


# -- the order of names ------------------------------------------------------------------------------------------------

_MASK = (1 << 64) - 1
_MURMUR = 0xC6A4A7935BD1E995
_ANONYMOUS = 1723


def name_hash(name: str) -> int:
    """Return the hash by which Lean orders the names of a set."""
    value = _ANONYMOUS
    for part in name.split("."):
        value = _mix(value, _string_hash(part.encode()))
    return value


def _mix(value: int, part: int) -> int:
    part = part * _MURMUR & _MASK
    part = (part ^ (part >> 47)) ^ _MURMUR
    return (value ^ part) * _MURMUR & _MASK


def _string_hash(data: bytes, seed: int = 11) -> int:
    """MurmurHash64A."""
    value = seed ^ ((len(data) * _MURMUR) & _MASK)
    whole = len(data) - len(data) % 8
    for start in range(0, whole, 8):
        block = int.from_bytes(data[start : start + 8], "little") * _MURMUR & _MASK
        block = (block ^ (block >> 47)) * _MURMUR & _MASK
        value = (value ^ block) * _MURMUR & _MASK
    if whole < len(data):
        value = (value ^ int.from_bytes(data[whole:], "little")) * _MURMUR & _MASK
    value = (value ^ (value >> 47)) * _MURMUR & _MASK
    return value ^ (value >> 47)
