"""`rw` and `rewrite`: replace every instance of one side of an equation by the other side; `unfold`."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

from nanolean.elab.api import Postponed
from nanolean.elab.names import constant_name
from nanolean.kernel.declaration import CtorInfo, DefInfo, RecInfo
from nanolean.kernel.expr import (
    PROP,
    App,
    Const,
    Expr,
    FVar,
    Lam,
    Let,
    MVar,
    Pi,
    collect_mvars,
    get_app_fn,
    get_app_fn_args,
    instantiate,
    mk_app,
)
from nanolean.kernel.level import ONE
from nanolean.meta.generalize import kabstract
from nanolean.meta.instances import fill_instances
from nanolean.meta.matchers import equation_names, unfolding_name
from nanolean.meta.mctx import MetaContext
from nanolean.meta.reduce import const_info, head_beta, recursion_of
from nanolean.proof_errors import ProofError, TacticError
from nanolean.syntax import Ident, Occurrences, RwRule, RwStx, UnfoldStx
from nanolean.tactics.apply import telescope
from nanolean.tactics.closing import close_by_rfl
from nanolean.tactics.core import TacticContext, hyps_and_goal, tactic
from nanolean.tactics.eliminate import apply_type, display_ctor
from nanolean.tactics.eq_proof import level_of, match_eq, mk_eq_refl, mk_propext, mk_symm
from nanolean.tactics.goals import change_target, replace_hyp, replace_target
from nanolean.tactics.unfolding import may_unfold, unfold_by_equation, unfold_everywhere


class Equation(NamedTuple):
    """`proof : lhs = rhs` in a type, and the arguments of the rule that are still open."""

    type: Expr
    lhs: Expr
    rhs: Expr
    proof: Expr
    open: tuple[str, ...]


class Rewritten(NamedTuple):
    """The new term, `proof : old = new`, and the goals for what the rule leaves open."""

    expr: Expr
    proof: Expr
    goals: list[str]


@tactic(RwStx)
def rw_tactic(ctx: TacticContext, stx: RwStx) -> None:
    """`rw [e, ← f]`, `rwa [e]`, `rewrite [e]`: rewrite with equations and equivalences, in order, `←` from right to
    left.

    The first place that fits fixes the arguments; every instance of that is replaced. Premises become goals, and a
    `by` in a term runs once the place is found: `rw [h _ (by omega)]`. `at h` rewrites a hypothesis, `at h ⊢` the goal
    too, `at *` wherever it applies; `(occs := .pos [2])` only the second instance, `.neg [1]` all but the first; a
    defined name stands for its equations. `rw` tries `rfl` at the end, `rwa` then `assumption`, `rewrite` neither.
    Nothing under `∀`, `∃` or `fun` that mentions their variable is rewritten; `simp only` does that.

    ```lean
    example (a b : Nat) (h : a = b) (h1 : b = 3) : a = 3 := by
      rw [← h] at h1
    ```

    ```lean
    example (a b c : Nat) (h : a = b) (h1 : b = c) : a = c := by
      rwa [h]
    ```

    ```lean
    example (a b : Nat) (h : a = b) : a + a = b + b := by
      rewrite [h]
    ```

    Not here: options other than `occs`.
    """
    for rule in stx.rules:
        try:
            _rewrite_everywhere(ctx, stx, rule)
        except ProofError as error:
            raise error.at(rule.pos, rule.end) from None
    if stx.try_rfl:
        # `with_reducible rfl` in Lean: at default transparency `rw` would close goals by computing them.
        ctx.attempt(lambda: close_by_rfl(ctx, "reducible"))


def _rewrite_everywhere(ctx: TacticContext, stx: RwStx, rule: RwRule) -> None:
    location = stx.location
    if location.wildcard:
        # `withLocation` of Lean's Elab/Tactic/Location.lean: the goal, then the hypotheses from the last to the first,
        # and what the rule does not apply to stays.
        worked = ctx.attempt(lambda: _rewrite_goal(ctx, rule, stx.occurrences))
        for decl in reversed(list(ctx.lctx)):
            if decl.fvar_id in ctx.lctx and decl.value is None:
                worked |= ctx.attempt(partial(_rewrite_hyp, ctx, rule, decl.fvar_id, stx.occurrences))
        if not worked:
            raise ctx.with_goal("Tactic `rewrite` failed: did not find instance of the pattern in the current goal")
        return
    # Elaborated anew for each place, so that `rw [h] at h1 h2` finds other arguments in each.
    for name in location.hyps:
        _rewrite_hyp(ctx, rule, ctx.hyp(name).fvar_id, stx.occurrences)
    if location.goal:
        _rewrite_goal(ctx, rule, stx.occurrences)


def _rewrite_goal(ctx: TacticContext, rule: RwRule, only: Occurrences | None) -> None:
    target = ctx.target
    done = rewrite_with(ctx, target, rule, only)
    goal = replace_target(ctx.mctx, ctx.main, done.expr, done.proof)
    ctx.replace_main([goal, *done.goals])


def _rewrite_hyp(ctx: TacticContext, rule: RwRule, fvar_id: str, only: Occurrences | None) -> None:
    decl = ctx.lctx.by_id[fvar_id]
    old = ctx.type_of(decl)
    done = rewrite_with(ctx, old, rule, only)
    level = level_of(ctx.mctx, old)
    moved = mk_app(Const("Eq.mp", (level,)), old, done.expr, done.proof, FVar(fvar_id))
    _, goal = replace_hyp(ctx.mctx, ctx.main, fvar_id, done.expr, moved)
    ctx.replace_main([goal, *done.goals])


def rewrite_with(ctx: TacticContext, e: Expr, rule: RwRule, only: Occurrences | None = None) -> Rewritten:
    """Rewrite a term of the main goal by one rule."""
    mctx = ctx.mctx
    postponed = Postponed(ctx.session, ctx.lctx, rule.term)
    if isinstance(rule.term, Ident):
        name = definition_name(mctx, postponed.term)
        if name is not None:
            return _rewrite_by_definition(ctx, e, name, rule.symm, only)
    result = rewrite(ctx, e, as_equation(ctx, postponed.term, rule.symm), only)
    # `withSynthesize` around the whole rewrite in Lean's Elab/Tactic/Rewrite.lean: in `rw [h _ (by omega)]` the place
    # tells what `_` is, and only then `omega` runs. What it finds is part of the new term and of the proof.
    elaborated = postponed.finish()
    others = [*elaborated.goals, *collect_mvars(elaborated.term)]
    goals = [i for i in dict.fromkeys([*result.goals, *others]) if not mctx.is_assigned(i)]
    return Rewritten(mctx.instantiate(result.expr), mctx.instantiate(result.proof), goals)


# -- rules -------------------------------------------------------------------------------------------------------------


def as_equation(ctx: TacticContext, proof: Expr, symm: bool) -> Equation:
    """Read a proof of `∀ .., a = b` or `∀ .., a ↔ b` as an equation with metavariables for its arguments."""
    mctx = ctx.mctx
    type_ = mctx.instantiate(mctx.infer_type(proof))
    ids: list[str] = []
    while True:
        if isinstance(type_, Pi):
            mvars, type_ = telescope(mctx, type_, 1, ctx.main)
            ids.append(mvars[0].id)
            proof = App(proof, mvars[0])
            continue
        equation = _sides(mctx, type_, proof)
        if equation is not None:
            break
        # A definition may hide an equation behind more arguments, `def inj f := ∀ x y, f x = f y → x = y`.
        reduced = mctx.whnf(type_, "default")
        if reduced is type_ or not isinstance(reduced, Pi):
            kind = "proof of" if mctx.is_prop(type_) else "value of type"
            raise TacticError(
                "Invalid rewrite argument: Expected an equality or iff proof or definition name, but "
                f"`{ctx.show(proof)}` is a {kind}\n  {ctx.show(type_)}"
            )
        type_ = reduced
    sort, lhs, rhs, proof = equation
    if symm:
        proof = mk_symm(mctx, lhs, rhs, proof)
        lhs, rhs = rhs, lhs
    return Equation(sort, lhs, rhs, proof, tuple(ids))


def _sides(mctx: MetaContext, type_: Expr, proof: Expr) -> tuple[Expr, Expr, Expr, Expr] | None:
    """Type, sides and proof (as an equation) of an equation or equivalence."""
    type_ = mctx.instantiate(type_)
    equation = match_eq(type_)
    if equation is not None:
        return equation[1], equation[2], equation[3], proof
    fn, args = get_app_fn_args(type_)
    if isinstance(fn, Const) and fn.name == "Iff" and len(args) == 2:
        return PROP, args[0], args[1], mk_propext(args[0], args[1], proof)
    return None


def rewrite(ctx: TacticContext, e: Expr, equation: Equation, only: Occurrences | None = None) -> Rewritten:
    """Replace the instances of the left side in `e` by the right side, all of them or `only` some."""
    mctx = ctx.mctx
    pattern = mctx.instantiate(equation.lhs)
    if isinstance(get_app_fn(pattern), MVar):
        raise ctx.with_goal(
            "Tactic `rewrite` failed: Pattern is a metavariable\n  "
            f"{ctx.show(pattern)}\nfrom equation\n  {ctx.show(pattern)} = {ctx.show(equation.rhs)}"
        )
    # All of the next is `Lean.MVarId.rewrite` of Meta/Tactic/Rewrite.lean: abstract the instances, check that the
    # motive makes sense, and put in the other side.
    body = kabstract(mctx, e, pattern, only)
    # Only after the instance is known: before, the types of the missing ones had holes.
    fill_instances(mctx, list(equation.open))
    if not body.loose:
        raise ctx.with_goal(
            f"Tactic `rewrite` failed: Did not find an occurrence of the pattern\n  {ctx.show(pattern)}\n"
            f"in the target expression\n  {ctx.show(e)}"
        )
    result_type = mctx.instantiate(mctx.infer_type(e))
    type_ = mctx.instantiate(equation.type)
    # `congrArg` with a motive that is not well typed would be refused by the kernel, at the end of the proof.
    _check_motive(ctx, body, type_)
    lhs, rhs = mctx.instantiate(equation.lhs), mctx.instantiate(equation.rhs)
    proof = mctx.instantiate(equation.proof)
    new = head_beta(mctx.instantiate(instantiate(body, rhs)))
    motive = Lam("_a", type_, mctx.instantiate(body))
    levels = (ONE if type_ is PROP else level_of(mctx, type_), level_of(mctx, result_type))
    step = mk_app(Const("congrArg", levels), type_, result_type, lhs, rhs, motive, proof)
    return Rewritten(new, step, [i for i in equation.open if not mctx.is_assigned(i)])


def _check_motive(ctx: TacticContext, body: Expr, type_: Expr) -> None:
    """Refuse a motive that is not type correct: some type depends on the instance that is replaced."""
    mctx = ctx.mctx
    local = mctx.fresh_local("_a", type_).fvar
    motive = instantiate(body, local)
    if well_typed(mctx, motive, local):
        return
    raise ctx.with_goal(f"Tactic `rewrite` failed: motive is not type correct:\n  {ctx.show(Lam('_a', type_, body))}")


def well_typed(mctx: MetaContext, e: Expr, local: Expr) -> bool:
    """Return whether the applications that mention the local fit together."""
    return _mentions_well_typed(mctx, e, local, {}) is not None


def _mentions_well_typed(mctx: MetaContext, e: Expr, local: Expr, seen: dict[Expr, bool | None]) -> bool | None:
    """Whether the local occurs in the term; None where an application that mentions it does not fit."""
    if not e.has_fvar:
        return False
    if e not in seen:
        mctx.budget.spend()
        seen[e] = _mentions_in_node(mctx, e, local, seen)
    return seen[e]


def _mentions_in_node(mctx: MetaContext, e: Expr, local: Expr, seen: dict[Expr, bool | None]) -> bool | None:
    if not isinstance(e, App | Lam | Pi | Let):
        return e is local
    if isinstance(e, App):
        parts = [e.fn, e.arg]
    else:
        inner = mctx.fresh_local(e.name, e.type, e.value if isinstance(e, Let) else None).fvar
        parts = [e.type, instantiate(e.body, inner)]
    mentioned = [_mentions_well_typed(mctx, part, local, seen) for part in parts]
    # None goes up: the whole is wrong where a part is.
    if None in mentioned:
        return None
    if isinstance(e, App) and any(mentioned):
        fn_type = mctx.whnf(mctx.infer_type(e.fn), "default")
        if not isinstance(fn_type, Pi):
            return None
        actual = mctx.infer_type(e.arg)
        if fn_type.type is not actual and not mctx.is_def_eq(fn_type.type, actual):
            return None
    return any(mentioned)


# -- definitions -------------------------------------------------------------------------------------------------------


def definition_name(mctx: MetaContext, term: Expr) -> str | None:
    """Return the name where a rule is not a proof but a definition (to be unfolded), else None."""
    fn = get_app_fn(term)
    if isinstance(fn, Const) and isinstance(mctx.env.get(fn.name), DefInfo):
        type_ = mctx.infer_type(term)
        while isinstance(type_, Pi):
            type_ = instantiate(type_.body, mctx.fresh_local(type_.name, type_.type).fvar)
        return None if mctx.is_prop(type_) else fn.name
    return None


def _equation_of(ctx: TacticContext, theorem: str, symm: bool) -> Equation:
    return as_equation(ctx, ctx.mctx.fresh_const(ctx.mctx.env[theorem]), symm)


def _rewrite_by_definition(ctx: TacticContext, e: Expr, name: str, symm: bool, only: Occurrences | None) -> Rewritten:
    """Rewrite by the first equation of a definition that applies, else by what it is by definition."""
    info = ctx.mctx.env[name]
    assert isinstance(info, DefInfo)
    theorem = unfolding_name(ctx.mctx.env, name)
    constructors = _constructors_of_recursion(ctx.mctx, info)
    equations: Iterable[Callable[[], Equation]] = ()
    if may_unfold(info):
        if theorem is None and not constructors:
            return rewrite(ctx, e, _defining_equation(ctx, info, symm), only)
        if theorem is None:
            equations = [partial(_defining_equation, ctx, info, symm, ctor) for ctor in constructors]
        else:
            # `f.eq_def` last: it always fits, and shows the whole `match`.
            names = [*equation_names(ctx.mctx.env, name), theorem]
            equations = [partial(_equation_of, ctx, equation, symm) for equation in names]
    for equation in equations:
        mark = ctx.mctx.save()
        try:
            return rewrite(ctx, e, equation(), only)
        except TacticError:
            ctx.mctx.restore(mark)
    raise ctx.with_goal(f"Tactic `rewrite` failed: Failed to rewrite using equation theorems for `{name}`")


def _constructors_of_recursion(mctx: MetaContext, info: DefInfo) -> tuple[str, ...]:
    """The constructors of what `def f x y := T.rec .. y` recurs on, empty for other definitions."""
    if recursion_of(mctx.env, info) is None:
        return ()
    body = info.value
    while isinstance(body, Lam):
        body = body.body
    rec = const_info(mctx.env, get_app_fn(body))
    assert isinstance(rec, RecInfo)
    return tuple(rule.ctor for rule in rec.rules)


def _defining_equation(ctx: TacticContext, info: DefInfo, symm: bool, ctor: str = "") -> Equation:
    """`f ?x ?y = body` for `def f x y := body`; of a recursion the equation for a constructor."""
    mctx = ctx.mctx
    fn = mctx.fresh_const(info)
    lhs: Expr = fn
    rhs = info.value_at(fn.levels)
    ids: list[str] = []
    while isinstance(rhs, Lam):
        mvar = mctx.fresh_mvar(rhs.type, ctx.lctx, "natural", rhs.name.rstrip("✝"))
        ids.append(mvar.id)
        lhs, rhs = App(lhs, mvar), instantiate(rhs.body, mvar)
    if ctor:
        lhs, rhs = _at_constructor(ctx, lhs, get_app_fn_args(rhs)[1][-1], ctor)
        ids += collect_mvars(lhs)
    type_ = mctx.infer_type(lhs)
    refl = mk_eq_refl(level_of(mctx, type_), type_, lhs)
    if symm:
        lhs, rhs = rhs, lhs
    return Equation(type_, lhs, rhs, refl, tuple(ids))


def _at_constructor(ctx: TacticContext, call: Expr, major: Expr, name: str) -> tuple[Expr, Expr]:
    """The call with a constructor applied to unknown fields for its unknown argument `major`, and what it computes."""
    mctx = ctx.mctx
    type_, ctor = mctx.instantiate(mctx.infer_type(major)), mctx.env[name]
    family, params = get_app_fn_args(type_)
    assert isinstance(family, Const) and isinstance(ctor, CtorInfo)
    given = params[: ctor.num_params]
    fields, _ = telescope(mctx, apply_type(ctor.type_at(family.levels), given), ctor.num_fields, ctx.main)
    mctx.is_def_eq(major, display_ctor(ctor, family.levels, given, fields))
    call = mctx.instantiate(call)
    result = unfold_by_equation(mctx, call)
    if result is None:
        raise TacticError("the definition does not compute there")
    return call, result


@tactic(UnfoldStx)
def unfold_tactic(ctx: TacticContext, stx: UnfoldStx) -> None:
    """`unfold f g at h`: replace definitions by their bodies; of a recursive one the branch that fits.

    ```lean
    def square (n : Nat) : Nat := n * n

    example (n : Nat) : square n = n * n := by
      unfold square
    ```
    """
    hyps, goal_too = hyps_and_goal(ctx, stx.location)
    for written in stx.names:
        name = constant_name(ctx.state, written)
        for hyp in hyps:
            _unfold_hyp(ctx, hyp, name)
        if goal_too:
            new = unfolded(ctx, ctx.target, name)
            if isinstance(new, Rewritten):
                ctx.replace_main([replace_target(ctx.mctx, ctx.main, new.expr, new.proof)])
            else:
                ctx.replace_main([change_target(ctx.mctx, ctx.main, new)])


def _unfold_hyp(ctx: TacticContext, hyp: str, name: str) -> None:
    decl = ctx.hyp(hyp)
    old = ctx.type_of(decl)
    new = unfolded(ctx, old, name)
    proof: Expr = FVar(decl.fvar_id)
    type_ = new.expr if isinstance(new, Rewritten) else new
    if isinstance(new, Rewritten):
        proof = mk_app(Const("Eq.mp", (level_of(ctx.mctx, old),)), old, type_, new.proof, proof)
    _, goal = replace_hyp(ctx.mctx, ctx.main, decl.fvar_id, type_, proof)
    ctx.replace_main([goal])


def unfolded(ctx: TacticContext, e: Expr, name: str) -> Expr | Rewritten:
    """Unfold a definition in a term: by computation where one of its equations applies, else by `f.eq_def`."""
    new = unfold_everywhere(ctx.mctx, e, frozenset([name]))
    if new is not e:
        return new
    theorem = unfolding_name(ctx.mctx.env, name)
    if theorem is not None:
        try:
            return rewrite(ctx, e, _equation_of(ctx, theorem, symm=False), None)
        except TacticError:
            pass
    raise ctx.with_goal(f"Tactic `unfold` failed to unfold `{name}` at\n  {ctx.show(e)}")
