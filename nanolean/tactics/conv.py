"""`conv`: rewriting at one place of the goal or of a hypothesis."""

from collections.abc import Sequence
from dataclasses import replace

from nanolean.elab.api import elab_term
from nanolean.elab.names import constant_name
from nanolean.kernel.expr import Const, Expr, Lam, Pi, get_app_fn_args, instantiate, is_arrow, mk_app
from nanolean.meta.generalize import kabstract
from nanolean.meta.lctx import inaccessible
from nanolean.proof_errors import ProofError, TacticError
from nanolean.syntax import (
    BulletStx,
    ChangeStx,
    ConvEnterStx,
    ConvGoStx,
    ConvStx,
    Occurrences,
    ParenStx,
    RflStx,
    RwStx,
    SimpStx,
    SkipStx,
    Tactic,
    UnfoldStx,
)
from nanolean.tactics.closing import close_by_rfl
from nanolean.tactics.core import TacticContext, tactic
from nanolean.tactics.eq_proof import Step, congr_args, implies_congr, level_of, mk_congr_arg, trans
from nanolean.tactics.goals import replace_hyp, replace_target
from nanolean.tactics.rewrite import Rewritten, rewrite_with, unfolded
from nanolean.tactics.simp import NO_PROGRESS, make_set, unchanged


@tactic(ConvStx)
def conv_tactic(ctx: TacticContext, stx: ConvStx) -> None:
    """`conv at h in p => steps`: rewrite at one place alone; without `at h` in the goal, `in p` at a pattern.

    `lhs`, `rhs`, `arg i`, `intro x` (below `fun x =>`, also `ext x`), `enter [1, x]` and `pattern p` go to a part;
    `rw`, `simp`, `unfold`, `change` change what is there. `rfl` is tried at the end.

    ```lean
    example (a b c : Nat) : a * b + c = c + b * a := by
      conv => lhs; rw [Nat.add_comm]
    ```

    ```lean
    example (a b : Nat) : (fun x => x + (a + b)) = fun x => x + (b + a) := by
      conv => rhs; intro x; rw [Nat.add_comm b a]
    ```
    """
    steps: tuple[Tactic, ...] = stx.steps.tactics
    if stx.pattern is not None:
        go = ConvGoStx("pattern", term=stx.pattern, pos=stx.pattern.pos, end=stx.pattern.end)
        steps = (go, *steps)
    goals: list[str] = []
    if stx.hyp is None:
        done = _run(ctx, steps, ctx.target, goals)
        goal = replace_target(ctx.mctx, ctx.main, done.expr, done.proof)
        ctx.replace_main([goal, *goals])
        ctx.attempt(lambda: close_by_rfl(ctx, "reducible"))
        return
    decl = ctx.hyp(stx.hyp)
    old = ctx.type_of(decl)
    done = _run(ctx, steps, old, goals)
    moved = decl.fvar
    if done.proof is not None:
        moved = mk_app(Const("Eq.mp", (level_of(ctx.mctx, old),)), old, done.expr, done.proof, moved)
    ctx.replace_main([replace_hyp(ctx.mctx, ctx.main, decl.fvar_id, done.expr, moved)[1], *goals])


def _run(ctx: TacticContext, steps: Sequence[Tactic], e: Expr, goals: list[str]) -> Step:
    """Run steps on a term: what it becomes, with a proof. `goals` gets what rewriting leaves open."""
    done = Step(e)
    for i, step in enumerate(steps):
        at = ctx.mctx.instantiate(done.expr)
        rest = steps[i + 1 :]
        try:
            # What follows a step into a part happens there, also behind the parentheses around the step.
            if isinstance(step, ConvEnterStx | ParenStx):
                inner = step.steps if isinstance(step, ConvEnterStx) else step.tactics.tactics
                return trans(ctx.mctx, e, done, _run(ctx, (*inner, *rest), at, goals))
            if isinstance(step, ConvGoStx):
                return trans(ctx.mctx, e, done, _enter(ctx, step, rest, at, goals))
            if isinstance(step, RflStx | BulletStx) and rest:
                raise TacticError("No goals to be solved")
            done = trans(ctx.mctx, e, done, _changed(ctx, step, at, goals))
        except ProofError as error:
            raise error.at(step.pos, step.end) from None
    return done


def _enter(ctx: TacticContext, go: ConvGoStx, rest: Sequence[Tactic], e: Expr, goals: list[str]) -> Step:
    mctx = ctx.mctx
    fn, args = get_app_fn_args(e)
    if go.kind == "pattern":
        return _at_pattern(ctx, go, rest, e, goals)
    if go.kind == "intro":
        return _below_binder(ctx, go, rest, e, goals)
    if go.kind in ("lhs", "rhs") and is_arrow(e) and isinstance(e, Pi):
        sides = (e.type, e.body)
        inner = [Step(side) for side in sides]
        place = ("lhs", "rhs").index(go.kind)
        inner[place] = _run(ctx, rest, sides[place], goals)
        return implies_congr(mctx, *sides, *inner)
    # The places of explicit arguments; no type may depend on the one that is changed.
    type_ = mctx.infer_type(fn)
    explicit: list[int] = []
    fixed: set[int] = set()
    for i, arg in enumerate(args):
        type_ = mctx.whnf_pi(type_, "default")
        assert isinstance(type_, Pi)
        if type_.info == "default":
            explicit.append(i)
        if not is_arrow(type_):
            fixed.add(i)
        type_ = instantiate(type_.body, arg)
    number = {"lhs": len(explicit) - 1, "rhs": len(explicit)}.get(go.kind, go.number)
    if not 1 <= number <= len(explicit):
        raise TacticError(f"`{go.kind}` conv tactic failed, the term has no such argument\n  {ctx.show(e)}")
    place = explicit[number - 1]
    if place in fixed:
        raise TacticError(f"`{go.kind}` conv tactic failed, cannot select argument\n  {ctx.show(args[place])}")
    steps: list[Step | None] = [None] * len(args)
    steps[place] = _run(ctx, rest, args[place], goals)
    return congr_args(mctx, fn, args, steps)


def _below_binder(ctx: TacticContext, go: ConvGoStx, rest: Sequence[Tactic], e: Expr, goals: list[str]) -> Step:
    mctx = ctx.mctx
    if not isinstance(e, Lam):
        raise TacticError(f"`ext` conv tactic failed, function or arrow expected\n  {ctx.show(e)}")
    name = go.names[0] if go.names and go.names[0] != "_" else inaccessible(e.name)
    local = mctx.fresh_local(name, e.type)
    if len(go.names) > 1:
        rest = (replace(go, names=go.names[1:]), *rest)
    # The tactics of the rest see the variable: they work on a goal that has it.
    goal = mctx.fresh_mvar(Const("True"), ctx.lctx.add(local), "synthetic")
    below: list[str] = []
    body = instantiate(e.body, local.fvar)
    inner = _run(TacticContext(mctx, ctx.state, [goal.id], ctx.session), rest, body, below)
    if below:
        raise TacticError("premises of a rule below a binder are not supported in `conv`")
    new = mctx.mk_lambda([local.fvar_id], mctx.instantiate(inner.expr))
    if inner.proof is None:
        return Step(new)
    type_ = mctx.infer_type(body)
    levels = (level_of(mctx, e.type), level_of(mctx, type_))
    family, proof = mctx.mk_lambda([local.fvar_id], type_), mctx.mk_lambda([local.fvar_id], inner.proof)
    return Step(new, mk_app(Const("funext", levels), e.type, family, e, new, proof))


def _at_pattern(ctx: TacticContext, go: ConvGoStx, rest: Sequence[Tactic], e: Expr, goals: list[str]) -> Step:
    mctx = ctx.mctx
    assert go.term is not None
    pattern = elab_term(ctx.session, ctx.lctx, go.term, None, holes="natural").term
    body = kabstract(mctx, e, pattern, Occurrences(True, (1,)))
    if not body.loose:
        raise TacticError(f"`pattern` conv tactic failed, pattern was not found\n  {ctx.show(pattern)}")
    part = mctx.instantiate(pattern)
    inner = _run(ctx, rest, part, goals)
    new = instantiate(body, inner.expr)
    if inner.proof is None:
        return Step(new)
    types = (mctx.infer_type(part), mctx.infer_type(e))
    levels = (level_of(mctx, types[0]), level_of(mctx, types[1]))
    return Step(new, mk_congr_arg(levels, types, (part, inner.expr), Lam("x", types[0], body), inner.proof))


def _changed(ctx: TacticContext, stx: Tactic, e: Expr, goals: list[str]) -> Step:
    match stx:
        case RwStx():
            done = Step(e)
            for rule in stx.rules:
                new = rewrite_with(ctx, done.expr, rule, stx.occurrences)
                goals += new.goals
                done = trans(ctx.mctx, e, done, Step(new.expr, new.proof))
            return done
        case SimpStx():
            step = make_set(ctx, stx.only, stx.lemmas, stx.star).simplifier(ctx).run(e)
            if unchanged(e, step):
                raise TacticError(NO_PROGRESS)
            return step
        case UnfoldStx():
            done = Step(e)
            for name in stx.names:
                part = unfolded(ctx, done.expr, constant_name(ctx.state, name))
                step = Step(part.expr, part.proof) if isinstance(part, Rewritten) else Step(part)
                done = trans(ctx.mctx, e, done, step)
            return done
        case ChangeStx():
            wanted = elab_term(ctx.session, ctx.lctx, stx.type, ctx.mctx.infer_type(e)).term
            if not ctx.mctx.is_def_eq(e, wanted):
                raise TacticError(f"`change` conv tactic failed, the term is\n  {ctx.show(e)}")
            return Step(ctx.mctx.instantiate(wanted))
        case BulletStx():
            return _run(ctx, stx.tactics.tactics, e, goals)
        case SkipStx() | RflStx():
            return Step(e)
    raise TacticError("a tactic of this form is not supported in `conv`")
