"""States of NanoLean with other names, orders and tags, made from terms and not from text, to hold augmentation to.

The twin of a goal has fresh variables in the order and under the names that an augmented text asks for. If it prints
as that text, and the augmented tactic does on it what the tactic did, the augmentation was right.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nanolean.data.problem import Step
from nanolean.kernel.expr import (
    Expr,
    FVar,
    Lam,
    Let,
    Pi,
    collect_fvars,
    collect_mvars,
    is_arrow,
)
from nanolean.kernel.expr import replace as replace_in
from nanolean.meta.lctx import INACCESSIBLE_MARK, LocalContext, LocalDecl, fresh_fvar_id, inaccessible
from nanolean.printer import shown_names
from nanolean.proof_errors import ProofError
from nanolean.tactic_state import TacticState, run_tactic
from nanoproof.lean.types import Goal, Transition


@dataclass(frozen=True)
class Replayed:
    """A tactic that went through on a goal alone, and the texts before and after it."""

    state: TacticState
    transition: Transition


def replayed(state: TacticState, proof: Step, rest: bool = False) -> Iterator[Replayed]:
    """The steps of a proof, each on its goal alone; without those on goals that share metavariables with others.

    With `rest` the first child goes on with the first goal, whatever becomes of the others.
    """
    todo = [(state, proof)]
    while todo:
        state, step = todo.pop()
        decl = state.decls[state.goals[0]]
        if has_mvars(decl.type, decl.lctx):
            continue
        try:
            after = run_tactic(state, step.tactic).state
        except ProofError:
            continue  # not every problem that the generator tries comes out right
        texts = after.goal_texts()
        yield Replayed(state, Transition(state.goal_texts()[0], step.tactic, step.size, "\n\n".join(texts)))
        if rest or len(after.goals) == len(step.children):
            todo += [(alone(after, goal), child) for goal, child in zip(after.goals, step.children, strict=not rest)]


def alone(state: TacticState, goal: str) -> TacticState:
    """The proof of one goal on its own."""
    return replace(state, root=goal, goals=(goal,))


def has_mvars(target: Expr, lctx: LocalContext) -> bool:
    return any(collect_mvars(e) for decl in lctx for e in (decl.type, decl.value) if e is not None) or bool(
        collect_mvars(target)
    )


def twin(state: TacticState, wanted: Goal, names: Mapping[str, str]) -> TacticState:
    """The first goal as `wanted` says: `names` maps the names that it shows now to the new ones."""
    goal = state.goals[0]
    decl = state.decls[goal]
    shown = shown_names(decl.lctx)
    by_name = {names.get(name, name): decl.lctx.by_id[key] for key, name in shown.items()}
    order = [by_name[item.user_name] for item in wanted.hypotheses]
    assert len(order) == len(decl.lctx), "every hypothesis once"
    fresh: dict[str, str] = {}
    made: list[LocalDecl] = []
    for local in order:
        mentioned = {name for e in (local.type, local.value) if e is not None for name in collect_fvars(e)}
        assert mentioned <= fresh.keys(), f"{local.user_name} comes before something that its type depends on"
        value = None if local.value is None else _translated(local.value, fresh, names)
        type_ = _translated(local.type, fresh, names)
        fresh[local.fvar_id] = fresh_fvar_id()
        user_name = names.get(local.user_name, local.user_name)
        if INACCESSIBLE_MARK in shown[local.fvar_id]:  # also where it was only shadowed
            user_name = inaccessible(local.user_name)
        made.append(replace(local, fvar_id=fresh[local.fvar_id], user_name=user_name, type=type_, value=value))
    new = replace(decl, type=_translated(decl.type, fresh, names), lctx=LocalContext(made), user_name=wanted.tag or "")
    return replace(state, decls={**state.decls, goal: new})


def _translated(e: Expr, fresh: Mapping[str, str], names: Mapping[str, str]) -> Expr:
    """The term with fresh variables; bound variables are called otherwise too."""

    def walk(node: Expr) -> Expr:
        return replace_in(node, change)

    def change(node: Expr) -> Expr | None:
        match node:
            case FVar(name) if name in fresh:
                return FVar(fresh[name])
            case Pi(name, type_, body, info) if name in names and not is_arrow(node):
                return Pi(names[name], walk(type_), walk(body), info)
            case Lam(name, type_, body, info) if name in names:
                return Lam(names[name], walk(type_), walk(body), info)
            case Let(name, type_, value, body) if name in names:
                return Let(names[name], walk(type_), walk(value), walk(body))
        return None

    return walk(e)


def outcome(state: TacticState, tactic: str) -> list[str] | str:
    """The goals that a tactic leaves, or the message with which it is refused."""
    try:
        return run_tactic(state, tactic).state.goal_texts()
    except ProofError as error:
        return str(error)


def name_map(before: Sequence[str], after: Sequence[str]) -> dict[str, str]:
    """Old and new names of hypotheses that stand in the same order."""
    return {old: new for old, new in zip(before, after, strict=True) if old != new}
