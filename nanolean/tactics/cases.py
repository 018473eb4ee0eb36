"""The tactics `cases`, `by_cases`, `subst`, `injection`, `induction`, `nomatch`, `nofun`."""

from collections.abc import Sequence
from dataclasses import dataclass

from nanolean.elab.api import elab_term, elab_type
from nanolean.elab.names import constant_name
from nanolean.kernel.expr import BVar, Const, Expr, FVar, MVar, Pi, get_app_fn_args, instantiate, mk_app
from nanolean.meta.instances import decidable_instance
from nanolean.meta.lctx import LocalContext
from nanolean.meta.store import MVarKind
from nanolean.proof_errors import ProofError, TacticError
from nanolean.syntax import (
    AssumptionStx,
    ByCasesStx,
    CasesStx,
    ContradictionStx,
    Ident,
    InductionStx,
    InjectionsStx,
    InjectionStx,
    NofunStx,
    NomatchStx,
    SubstStx,
    SubstVarsStx,
    Term,
)
from nanolean.tactics.cases_core import cases_local, eliminate, index_ids, indices_are_variables
from nanolean.tactics.closing import assumption_tactic, contradiction_tactic
from nanolean.tactics.constructors import injection_equations, mk_false_elim, refute_clash
from nanolean.tactics.core import TacticContext, tactic
from nanolean.tactics.eliminate import Branch, as_major, beta_reduce
from nanolean.tactics.eq_proof import match_eq, mk_eq
from nanolean.tactics.equations import hyp_eq, subst_hyp
from nanolean.tactics.goals import (
    append_tag,
    assert_hyp,
    binder_local_name,
    dependents,
    goal_tag,
    goal_target,
    intro,
    intro_all,
    local_name,
    new_goal,
    revert,
    try_clear,
)
from nanolean.tactics.rcases import as_local, run_alternatives, target_local


@tactic(CasesStx)
def cases_tactic(ctx: TacticContext, stx: CasesStx) -> None:
    """`cases h with | inl h => .. | inr h => ..`: split by the constructors of a type, one goal each, tagged by them.

    Without `with` the goals follow one another. Impossible cases are closed, equations substituted. `cases h : e`
    keeps the equation, `| _ =>` stands for the constructors that are left.

    ```lean
    example (p q : Prop) (h : p ∨ q) : q ∨ p := by
      cases h with
      | inl hp => exact Or.inr hp
      | inr hq => exact Or.inl hq
    ```

    ```lean
    example (p q : Prop) (h : p ∨ q) : q ∨ p := by
      cases h
    ```
    """
    if stx.using is not None or len(stx.targets) != 1:
        raise TacticError("`cases` with several targets or `using` is not supported")
    fvar_id = target_local(ctx, stx.targets[0])
    branches = cases_local(ctx.mctx, ctx.main, fvar_id, ctx.show_in)
    ctx.goals = ctx.goals[1:]
    run_alternatives(ctx, branches, stx.alts)


@tactic(ByCasesStx)
def by_cases_tactic(ctx: TacticContext, stx: ByCasesStx) -> None:
    """`by_cases h : p`: prove the goal once with `h : p` and once with `h : ¬p`.

    ```lean
    example (p q : Prop) (h1 : p → q) (h2 : ¬p → q) : q := by
      by_cases hp : p
    ```
    """
    mctx, goal = ctx.mctx, ctx.main
    prop = elab_type(ctx.session, ctx.lctx, stx.prop)
    if not mctx.is_prop(prop):
        raise TacticError(f"`by_cases` needs a proposition, got\n  {ctx.show(prop)}")
    target = ctx.target
    # A proof may use excluded middle. Data has to compute, so there the proposition must be decidable.
    instance = None
    if not mctx.is_prop(target):
        instance = decidable_instance(mctx, prop)
    if instance is None and not mctx.is_prop(target):
        raise TacticError(
            "`by_cases` is supported for goals that are propositions and for decidable conditions only, not for\n  "
            f"{ctx.show(prop)}"
        )
    negated = mk_app(Const("Not"), prop)
    decl = mctx.decl(goal)
    name = local_name(stx.name or "_", "h")
    sides: list[Expr] = []
    goals = []
    for tag, hyp in (("pos", prop), ("neg", negated)):
        local = mctx.fresh_local(name, hyp)
        new = new_goal(mctx, target, decl.lctx.add(local), tag)
        goals.append(new)
        sides.append(mctx.mk_lambda([local.fvar_id], MVar(new)))
    mctx.assign(goal, _by_cases_value(ctx, prop, target, sides, instance))
    ctx.replace_main(goals)


def _by_cases_value(ctx: TacticContext, prop: Expr, target: Expr, sides: list[Expr], instance: Expr | None) -> Expr:
    """The positive or the negative side: by excluded middle for propositions, as the instance computes otherwise."""
    if instance is None:
        em = mk_app(Const("Classical.em"), prop)
        return mk_app(Const("Or.elim"), prop, mk_app(Const("Not"), prop), target, em, *sides)
    level = ctx.mctx.sort_level(target)
    assert level is not None, "the goal has a type"
    local = ctx.mctx.fresh_local("x", mk_app(Const("Decidable"), prop))
    motive = ctx.mctx.mk_lambda([local.fvar_id], target)
    pos, neg = sides
    return mk_app(Const("Decidable.rec", (level,)), prop, motive, neg, pos, instance)


# -- equations ---------------------------------------------------------------------------------------------------------


@tactic(SubstStx)
def subst_tactic(ctx: TacticContext, stx: SubstStx) -> None:
    """`subst h`: with `h : x = e` or `h : e = x` replace the variable `x` by `e` everywhere; `subst x` looks for such
    an `h`.

    Of two variables the right one goes.

    ```lean
    example (a b : Nat) (h : b = a + 2) (h1 : b < 5) : a < 3 := by
      subst h
    ```
    """
    for term in stx.terms:
        value = elab_term(ctx.session, ctx.lctx, term).term
        if isinstance(value, FVar) and not ctx.mctx.is_proof(value):
            ctx.replace_main([_subst_variable(ctx, value)])
            continue
        hyp = value.id if isinstance(value, FVar) else as_local(ctx, value)
        done = subst_hyp(ctx.mctx, ctx.main, hyp)
        if done is None:
            raise ctx.with_goal(
                "Tactic `subst` failed: invalid equality proof, it is not of the form (x = t) or (t = x)\n  "
                f"{ctx.show(ctx.mctx.infer_type(FVar(hyp)))}"
            )
        ctx.replace_main([done[0]])


def _subst_variable(ctx: TacticContext, var: FVar) -> str:
    """The goal after eliminating a variable by the first hypothesis that is an equation for it."""
    for decl in ctx.lctx:
        if decl.value is None and ctx.mctx.is_prop(ctx.type_of(decl)):
            done = subst_hyp(ctx.mctx, ctx.main, decl.fvar_id, only=var.id)
            if done is not None:
                return done[0]
    raise ctx.with_goal(f"Tactic `subst` failed: did not find an equation for eliminating `{ctx.show(var)}`")


@tactic(InjectionStx)
def injection_tactic(ctx: TacticContext, stx: InjectionStx) -> None:
    """`injection h with h1 h2`: replace an equation of applications of one constructor by the equations of the
    arguments.

    It closes the goal when the constructors differ, or when the new hypotheses have it among them.

    ```lean
    example (a b : Nat) (h : a + 1 = b + 1) : b = a := by
      injection h with h1
    ```
    """
    mctx = ctx.mctx
    proof = elab_term(ctx.session, ctx.lctx, stx.term).term
    type_ = mctx.instantiate(mctx.infer_type(proof))
    sides = match_eq(type_) or match_eq(mctx.whnf(type_, "reducible"))
    if sides is None:
        raise ctx.with_goal("Tactic `injection` failed: equality expected")
    equation = mk_eq(*sides)
    absurdity = refute_clash(mctx, equation, proof)
    if absurdity is not None:
        ctx.close(mk_false_elim(mctx, ctx.target, absurdity))
        return
    parts = injection_equations(mctx, equation, proof)
    if parts is None:
        raise ctx.with_goal("Tactic `injection` failed: equality of constructor applications expected")
    if len(stx.names) > len(parts):
        raise TacticError("Tactic `injection` failed: too many identifiers provided")
    goal = ctx.main
    names = [*stx.names, *["_"] * (len(parts) - len(stx.names))]
    for part, name in zip(parts, names):
        shown = local_name(name, f"{part.name}_eq")
        _, goal = assert_hyp(mctx, goal, shown, part.equation, part.proof)
    if isinstance(proof, FVar):
        goal = try_clear(mctx, goal, [proof.id])
    ctx.replace_main([goal])
    # The new equations may be the goal: Lean's `injection` looks at its end too.
    ctx.attempt(lambda: assumption_tactic(ctx, AssumptionStx()))


@tactic(SubstVarsStx)
def subst_vars_tactic(ctx: TacticContext, stx: SubstVarsStx) -> None:
    """`subst_vars`: substitute by every hypothesis that is an equation with a variable.

    ```lean
    example (a b c : Nat) (h : a = b) (h1 : b = c) : a = c := by
      subst_vars
    ```
    """
    goal = ctx.main
    progress = True
    while progress:
        progress = False
        for decl in ctx.mctx.decl(goal).lctx:
            done = subst_hyp(ctx.mctx, goal, decl.fvar_id) if decl.value is None else None
            if done is not None:
                # The context is another one now, so the search begins again.
                goal, progress = done[0], True
                break
    ctx.replace_main([goal])


@tactic(InjectionsStx)
def injections_tactic(ctx: TacticContext, stx: InjectionsStx) -> None:
    """`injections h1 h2`: apply `injection` to every such equation, again and again.

    ```lean
    example (a b : Nat) (h : a + 2 = b + 2) : b = a := by
      injections
    ```
    """
    names = list(stx.names)
    todo = [decl.fvar_id for decl in ctx.lctx]
    while todo:
        fvar_id, todo = todo[0], todo[1:]
        new = _inject(ctx, fvar_id, names)
        if new is None:
            return
        # Equations of the fields at once, `a + 2 = b + 2` takes two steps.
        todo = new + todo
    if not ctx.attempt(lambda: assumption_tactic(ctx, AssumptionStx())):
        ctx.attempt(lambda: contradiction_tactic(ctx, ContradictionStx()))


def _inject(ctx: TacticContext, fvar_id: str, names: list[str]) -> list[str] | None:
    """The ids of the equations between fields that an equation gives; None when it closes the goal."""
    mctx, goal = ctx.mctx, ctx.main
    if fvar_id not in ctx.lctx:  # an earlier step has cleared it
        return []
    sides = hyp_eq(mctx, fvar_id)
    if sides is None:
        return []
    equation, proof = mk_eq(*sides), FVar(fvar_id)
    absurdity = refute_clash(mctx, equation, proof)
    if absurdity is not None:
        ctx.close(mk_false_elim(mctx, ctx.target, absurdity))
        return None
    parts = injection_equations(mctx, equation, proof)
    if parts is None:
        return []
    new = []
    for part in parts:
        name = names.pop(0) if names else "_"
        shown = local_name(name, f"{part.name}_eq")
        field_id, goal = assert_hyp(mctx, goal, shown, part.equation, part.proof)
        new.append(field_id)
    ctx.replace_main([try_clear(mctx, goal, [fvar_id])])
    return new


# -- induction, and cases that cannot occur ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Eliminator:
    """A constant with the places of its motive and of its targets (in the motive's order) among its arguments."""

    fn: Const
    binders: tuple[Pi, ...]
    motive: int
    targets: tuple[int, ...]

    def explicit_targets(self) -> list[int]:
        """Return the targets that source text names."""
        return [place for place in self.targets if self.binders[place].info == "default"]


def find_eliminator(ctx: TacticContext, using: Term) -> Eliminator:
    """Find the eliminator that a term names."""
    if not isinstance(using, Ident) or using.explicit:
        raise TacticError("only the name of a theorem is supported after `using`", using.pos, using.end)
    name = constant_name(ctx.state, using.name)
    info = ctx.state.env[name]
    fn = ctx.mctx.fresh_const(info)
    type_ = ctx.mctx.infer_type(fn)
    binders: list[Pi] = []
    while isinstance(type_, Pi):
        binders.append(type_)
        type_ = type_.body
    head, args = get_app_fn_args(type_)
    # `getElimInfo` of Lean's Meta/Tactic/ElimInfo.lean: the result must be the motive at arguments, which are the
    # targets.
    if not isinstance(head, BVar) or not args or not all(isinstance(arg, BVar) for arg in args):
        raise TacticError(f"Unexpected eliminator resulting type\n  {ctx.show(ctx.mctx.infer_type(fn))}")
    targets = tuple(len(binders) - 1 - arg.idx for arg in args if isinstance(arg, BVar))
    return Eliminator(fn, tuple(binders), len(binders) - 1 - head.idx, targets)


def custom_branches(
    ctx: TacticContext, goal: str, eliminator: Eliminator, given: Sequence[str], extra: Sequence[str]
) -> list[Branch]:
    """Apply an eliminator to locals; what depends on them, and `extra`, is part of the motive."""
    mctx = ctx.mctx
    explicit = eliminator.explicit_targets()
    if len(explicit) != len(given):
        count = f"{len(given)} provided, {len(explicit)} expected"
        raise TacticError(f"Unexpected number of targets for `{eliminator.fn.name}`: {count}")
    own = _all_targets(ctx, eliminator, dict(zip(explicit, given)))
    lctx = mctx.decl(goal).lctx
    others = [i for i in dependents(mctx, lctx, [*own, *extra]) if i not in own]
    names = [lctx.by_id[i].user_name for i in others]
    others, goal = revert(mctx, goal, others)
    motive = mctx.mk_lambda(own, goal_target(mctx, goal))
    branches = _apply(ctx, goal, eliminator, dict(zip(eliminator.targets, own)), motive)
    for branch in branches:
        ids, branch.goal = intro_all(mctx, branch.goal, names)
        branch.renaming = dict(zip(others, ids))
    return branches


def _all_targets(ctx: TacticContext, eliminator: Eliminator, given: dict[int, str]) -> list[str]:
    """The ids of all targets; implicit ones are found from the types of the others."""
    mctx, lctx = ctx.mctx, ctx.lctx
    args: list[Expr] = []
    for place, binder in enumerate(eliminator.binders):
        type_ = instantiate_binder(binder.type, args)
        if place not in given:
            args.append(mctx.fresh_mvar(type_, lctx, "natural"))
            continue
        args.append(FVar(given[place]))
        if not mctx.is_def_eq(mctx.infer_type(args[-1]), type_):
            shown = (ctx.show(mctx.infer_type(args[-1])), ctx.show(type_))
            raise TacticError(
                f"Type mismatch: the target has type\n  {shown[0]}\nbut is expected to have type\n  {shown[1]}"
            )
    values = [mctx.instantiate(args[place]) for place in eliminator.targets]
    ids = [target.id for target in values if isinstance(target, FVar)]
    # The motive is a function of them, so each must be a variable of its own.
    if len(set(ids)) < len(values):
        raise TacticError("Invalid targets: they must be different variables")
    return ids


def instantiate_binder(type_: Expr, args: Sequence[Expr]) -> Expr:
    """Return the type of an argument after the arguments before it are given."""
    return instantiate(type_, *reversed(args)) if type_.loose else type_


def _apply(
    ctx: TacticContext, goal: str, eliminator: Eliminator, targets: dict[int, str], motive: Expr
) -> list[Branch]:
    """Assign the goal to the eliminator applied to motive, targets and one new goal for each case."""
    mctx = ctx.mctx
    lctx = mctx.decl(goal).lctx.remove(targets.values())
    args: list[Expr] = []
    cases: list[tuple[int, MVar]] = []
    for place, binder in enumerate(eliminator.binders):
        type_ = instantiate_binder(binder.type, args)
        if place == eliminator.motive:
            if not mctx.is_def_eq(type_, mctx.infer_type(motive)):
                raise TacticError("the motive is not type correct: the eliminator does not lead into the goal's sort")
            args.append(motive)
        elif place in targets:
            args.append(FVar(targets[place]))
            if not mctx.is_def_eq(type_, mctx.infer_type(args[-1])):
                raise TacticError("the types of the targets do not fit the eliminator")
        else:
            # What is written in `(..)` is a case to be proved, what is in `{..}` follows from the targets.
            kind: MVarKind = "synthetic" if binder.info == "default" else "natural"
            mvar = mctx.fresh_mvar(type_, lctx, kind)
            args.append(mvar)
            if kind == "synthetic":
                cases.append((place, mvar))
    if any(mctx.instantiate(arg).has_mvar for arg in args if arg not in [mvar for _, mvar in cases]):
        raise TacticError("the targets do not determine the arguments of the eliminator")
    mctx.assign(goal, mk_app(eliminator.fn, *args))
    tag = goal_tag(mctx, goal)
    return [_branch(ctx, eliminator.binders[place], mvar, lctx, tag) for place, mvar in cases]


def _branch(ctx: TacticContext, binder: Pi, mvar: MVar, lctx: LocalContext, tag: str) -> Branch:
    """The goal of one case, with everything introduced that the eliminator itself quantifies over there."""
    mctx = ctx.mctx
    type_, shape = goal_target(mctx, mvar.id), binder.type
    ids: list[str] = []
    explicit: list[bool] = []
    # By the eliminator's own binders: further ones come from the motive and belong to the goal.
    while isinstance(shape, Pi):
        shape = shape.body
        type_ = beta_reduce(type_)
        assert isinstance(type_, Pi)
        local = mctx.fresh_local(binder_local_name(type_.name), type_.type)
        ids.append(local.fvar_id)
        explicit.append(type_.info == "default")
        lctx = lctx.add(local)
        type_ = instantiate(type_.body, local.fvar)
    name = binder.name.rstrip("✝")
    new = new_goal(mctx, beta_reduce(type_), lctx, append_tag(tag, name))
    mctx.assign(mvar.id, mctx.mk_lambda(ids, MVar(new)))
    return Branch(name, new, ids, [], explicit)


@tactic(InductionStx)
def induction_tactic(ctx: TacticContext, stx: InductionStx) -> None:
    """`induction n with | zero => .. | succ k ih => ..`: `cases` with an induction hypothesis for each such argument.

    Hypotheses that mention `n` go into the statement by themselves; `generalizing m` makes the induction hypothesis
    hold for every `m`, `using` takes another principle. It works on lists and inductive propositions too.

    ```lean
    example (n m : Nat) : n + m = m + n := by
      induction n generalizing m with
      | zero => exact Nat.zero_add m
      | succ k ih => ?_
    ```

    ```lean
    example (p : Nat → Prop) (n : Nat) (h : ∀ k, (∀ m, m < k → p m) → p k) : p n := by
      induction n using Nat.strongRecOn with
      | ind k ih => ?_
    ```

    Not here: a tactic between `with` and the first alternative.
    """
    eliminator = None
    if stx.using is not None:
        eliminator = find_eliminator(ctx, stx.using)
    elif len(stx.targets) != 1:
        raise TacticError("Unexpected number of targets: several need `using`")
    targets = [target_local(ctx, target) for target in stx.targets]
    extra = [ctx.hyp(name).fvar_id for name in stx.generalizing]
    # The motive is over the target already.
    if not set(targets).isdisjoint(extra):
        raise TacticError("variable cannot be generalized because it is an index or the target of the induction")
    if eliminator is not None:
        branches = custom_branches(ctx, ctx.main, eliminator, targets, extra)
    else:
        branches = _by_recursor(ctx, targets[0], extra)
    ctx.goals = ctx.goals[1:]
    run_alternatives(ctx, branches, stx.alts)


def _by_recursor(ctx: TacticContext, fvar_id: str, extra: list[str]) -> list[Branch]:
    major = as_major(ctx.mctx, FVar(fvar_id))
    # `cases` would write equations for them; an induction hypothesis about other indices would be of no use then.
    if not indices_are_variables(ctx.mctx, ctx.main, major):
        raise TacticError(
            "Invalid target: Index in target's type is not a variable (consider using the `cases` tactic instead)"
        )
    own = [*index_ids(major), fvar_id]
    return eliminate(ctx.mctx, ctx.main, major, own, extra, induction=True)


@tactic(NomatchStx)
def nomatch_tactic(ctx: TacticContext, stx: NomatchStx) -> None:
    """`nomatch h`: close the goal when no constructor can have made `h`, or when the given terms cannot be together.

    ```lean
    example (p : Prop) (n : Nat) (h : n + 1 = 0) : p := by
      nomatch h
    ```
    """
    main, rest = ctx.main, ctx.goals[1:]
    for term in stx.terms:
        mark = ctx.save()
        ctx.goals = [main]
        value = elab_term(ctx.session, ctx.lctx, term).term
        if _close_by_cases(ctx, as_local(ctx, value)):
            ctx.goals = rest
            return
        ctx.restore(mark)
    raise TacticError("Missing cases: the terms of `nomatch` have possible constructors")


@tactic(NofunStx)
def nofun_tactic(ctx: TacticContext, stx: NofunStx) -> None:
    """`nofun`: introduce everything, then close the goal as `nomatch` does.

    ```lean
    example (n : Nat) : n + 1 ≠ 0 := by
      nofun
    ```
    """
    goal, rest = ctx.main, ctx.goals[1:]
    ids = []
    while isinstance(ctx.mctx.whnf(goal_target(ctx.mctx, goal), "default"), Pi):
        fvar_id, goal = intro(ctx.mctx, goal, None)
        ids.append(fvar_id)
    for fvar_id in ids:
        ctx.goals = [goal]
        if _close_by_cases(ctx, fvar_id):
            ctx.goals = rest
            return
    raise TacticError("Missing cases: no argument of the function is impossible")


def _close_by_cases(ctx: TacticContext, fvar_id: str) -> bool:
    """Whether taking a local apart leaves no case; then the main goal is closed."""
    mark = ctx.save()
    try:
        if not cases_local(ctx.mctx, ctx.main, fvar_id, ctx.show_in):
            return True
    except ProofError:
        pass
    ctx.restore(mark)
    return False
