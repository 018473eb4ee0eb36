"""Tactics that finish a goal or build it from constructors: `rfl assumption decide contradiction constructor ..`."""

from nanolean.kernel.expr import (
    App,
    Const,
    Expr,
    FVar,
    MVar,
    Pi,
    collect_fvars,
    get_app_fn_args,
    instantiate,
    mk_app,
    subterms,
)
from nanolean.kernel.level import ONE, ZERO
from nanolean.meta.instances import decidable_instance
from nanolean.meta.lctx import LocalDecl
from nanolean.meta.mctx import MetaContext
from nanolean.meta.reduce import const_name, nat_offset, refused_power
from nanolean.meta.store import Transparency
from nanolean.proof_errors import TacticError
from nanolean.syntax import (
    AnonCtor,
    AssumptionStx,
    ConstructorStx,
    ContradictionStx,
    DecideStx,
    ExfalsoStx,
    ExistsStx,
    LeftStx,
    RflStx,
    RightStx,
    SymmStx,
    SyntheticHole,
    TrivialStx,
)
from nanolean.tactics.apply import apply_expr
from nanolean.tactics.basic import refine_main
from nanolean.tactics.cases_core import cases_local
from nanolean.tactics.constructors import BOOL, BOOL_FALSE, BOOL_TRUE, constant_function, mk_false_elim, refute_clash
from nanolean.tactics.core import TacticContext, hyps_and_goal, tactic
from nanolean.tactics.eliminate import inductive_type
from nanolean.tactics.eq_proof import match_eq, mk_eq, mk_eq_refl
from nanolean.tactics.goals import new_goal, replace_hyp, revert

CASES_TRIED = 2
"""How many cases of empty types `contradiction` looks into (`searchFuel` of Lean's Meta/Tactic/Contradiction.lean)."""
BOUNDED = {
    "Nat.decidableBallLT": 0,
    "Nat.decidableBallLE": 0,
    "Nat.decidableExistsLT": 2,
    "Nat.decidableExistsLE": 2,
}
"""The instances that go through all numbers up to a bound, and which argument that is."""
MAX_BOUND = 32
"""Lean reaches its recursion depth at some larger bound; up to here it certainly does not."""


def too_deep(mctx: MetaContext, instance: Expr) -> bool:
    """Return whether evaluating the instance takes a recursion that Lean may refuse."""
    for node in subterms(instance):
        fn, args = get_app_fn_args(node)
        place = BOUNDED.get(const_name(fn))
        if place is None or len(args) <= place or args[place].loose:
            continue
        base, bound = nat_offset(mctx, mctx.whnf(args[place], "default"))
        if base is None and bound > MAX_BOUND:
            return True
    return False


def evaluate(mctx: MetaContext, instance: Expr) -> bool | None:
    """Evaluate a closed instance, None if it gets stuck."""
    fn, _ = get_app_fn_args(mctx.whnf(instance, "default"))
    if isinstance(fn, Const) and fn.name in ("Decidable.isTrue", "Decidable.isFalse"):
        return fn.name == "Decidable.isTrue"
    return None


@tactic(DecideStx)
def decide_tactic(ctx: TacticContext, stx: DecideStx) -> None:
    """`decide`: close a proposition without variables that evaluates to true; the kernel evaluates it again.

    Decidable are comparisons of numbers and Booleans, `∣`, membership in a list, what `∧ ∨ ¬ → ↔` make of them, and
    quantifiers over numbers below a bound, elements of a list and Booleans. Powers with exponents above 256 are not
    evaluated (nor by `rfl`, `simp`, `omega`, `grind`) unless `set_option exponentiation.threshold` says so.

    ```lean
    example : ∀ n, n < 5 → n * n < 20 := by
      decide
    ```

    ```lean
    example : 2 + 2 = 5 := by
      decide
    ```

    Differs from Lean: the forms above are built in, where Lean asks type classes; above the threshold Lean unfolds
    powers until it is out of recursion depth. `+kernel` has no bound here; of its other options `+revert` is known.
    """
    if stx.revert:
        _revert_relevant(ctx)
    target = ctx.target
    if target.has_mvar:
        raise ctx.with_goal(
            f"Tactic `decide` failed: expected type must not contain metavariables\n  {ctx.show(target)}"
        )
    # The instance of an open proposition is stuck on its variables.
    if target.has_fvar:
        raise TacticError(
            "Tactic `decide` failed: expected type must not contain free variables\n  "
            f"{ctx.show(target)}\n\nHint: Use the `+revert` option to automatically revert free variables"
        )
    instance = decidable_instance(ctx.mctx, target)
    if instance is None:
        raise TacticError(f"failed to synthesize\n  {ctx.show(App(Const('Decidable'), target))}")
    if not stx.kernel and too_deep(ctx.mctx, instance):
        raise TacticError(
            "maximum recursion depth has been reached\nuse `set_option maxRecDepth <num>` to increase limit\n"
            "use `set_option diagnostics true` to get diagnostic information"
        )
    value = evaluate(ctx.mctx, instance)
    if value is None:
        raise TacticError(
            f"Tactic `decide` failed for proposition\n  {ctx.show(target)}\nbecause its `Decidable` instance\n"
            f"  {ctx.show(instance)}\ndid not reduce to `isTrue` or `isFalse`.{refused_power(ctx.mctx, target)}"
        )
    if not value:
        raise TacticError(f"Tactic `decide` proved that the proposition\n  {ctx.show(target)}\nis false")
    # The proof is `rfl : decide p = true`: nothing of this evaluation is trusted, the kernel does it again.
    ctx.close(mk_app(Const("of_decide_eq_true"), target, instance, mk_eq_refl(ONE, BOOL, BOOL_TRUE)))


def _revert_relevant(ctx: TacticContext) -> None:
    """Move what the goal speaks of back into it, with the hypotheses that speak of the same."""
    # `MVarId.cleanup` of Lean, and then everything that is left is reverted.
    mctx = ctx.mctx
    used = set(collect_fvars(ctx.target))
    before = -1
    while len(used) != before:
        before = len(used)
        for decl in ctx.lctx:
            mentioned = collect_fvars(ctx.type_of(decl)).keys()
            if decl.fvar_id in used or (mctx.is_prop(ctx.type_of(decl)) and mentioned & used):
                used |= {decl.fvar_id, *mentioned}
    _, goal = revert(mctx, ctx.main, used)
    ctx.replace_main([goal])


def decide_refutation(ctx: TacticContext, prop: Expr) -> Expr | None:
    """Build a proof of `¬prop` for a closed proposition that evaluates to false, None for any other."""
    instance = decidable_instance(ctx.mctx, prop)
    if instance is None or "of_decide_eq_false" not in ctx.mctx.env or too_deep(ctx.mctx, instance):
        return None
    if evaluate(ctx.mctx, instance) is not False:
        return None
    return mk_app(Const("of_decide_eq_false"), prop, instance, mk_eq_refl(ONE, BOOL, BOOL_FALSE))


REFLEXIVE = {"Iff": "Iff.refl", "Nat.le": "Nat.le_refl"}
"""Relations beside `=` that `rfl` proves, with the lemma `∀ a, r a a`."""


@tactic(RflStx)
def rfl_tactic(ctx: TacticContext, stx: RflStx) -> None:
    """`rfl`: close `a = a`, `p ↔ p`, `n ≤ n` where both sides are equal by definition; it computes.

    Addition computes on its second argument, so `0 + n = n` needs induction.

    ```lean
    example (n : Nat) : n + 2 = Nat.succ (n + 1) := by
      rfl
    ```
    """
    close_by_rfl(ctx, "default")


def close_by_rfl(ctx: TacticContext, transparency: Transparency) -> None:
    """Close the goal by reflexivity, unfolding only what the transparency allows."""
    target = ctx.target
    relation, args = get_app_fn_args(target)
    # Reducible definitions only: `¬p` and notation are seen through, a user's relation is not.
    if not _is_reflexive(relation, args):
        target = ctx.mctx.whnf(target, "reducible")
        relation, args = get_app_fn_args(target)
    if not isinstance(relation, Const) or not _is_reflexive(relation, args):
        raise ctx.with_goal(
            "The rfl tactic failed. Possible reasons:\n- The goal is not a reflexive relation (neither `=` nor a "
            "relation with a @[refl] lemma).\n- The arguments of the relation are not equal.\nTry using the "
            "reflexivity lemma for your relation explicitly, e.g. `exact Eq.refl _` or `exact HEq.rfl` etc."
        )
    lhs, rhs = args[-2:]
    with ctx.mctx.with_transparency(transparency):
        equal = ctx.mctx.is_def_eq(lhs, rhs)
    if not equal:
        raise ctx.with_goal(
            f"Tactic `rfl` failed: The left-hand side\n  {ctx.show(lhs)}\nis not definitionally equal to the "
            f"right-hand side\n  {ctx.show(rhs)}{refused_power(ctx.mctx, target)}"
        )
    if relation.name == "Eq":
        ctx.close(mk_app(Const("Eq.refl", relation.levels), args[0], lhs))
    else:
        ctx.close(mk_app(Const(REFLEXIVE[relation.name]), lhs))


def _is_reflexive(relation: Expr, args: list[Expr]) -> bool:
    if not isinstance(relation, Const):
        return False
    return (relation.name == "Eq" and len(args) == 3) or (relation.name in REFLEXIVE and len(args) == 2)


# -- hypotheses --------------------------------------------------------------------------------------------------------


@tactic(AssumptionStx)
def assumption_tactic(ctx: TacticContext, stx: AssumptionStx) -> None:
    """`assumption`: close the goal with the latest hypothesis of its type, inaccessible ones too.

    ```lean
    example (p q : Prop) : p → q → p := by
      intros
      assumption
    ```
    """
    target = ctx.target
    for decl in reversed(list(ctx.lctx)):
        # The latest first, as `findLocalDeclWithType?` of Lean; it may assign metavariables of the goal.
        if ctx.mctx.is_def_eq(ctx.type_of(decl), target):
            ctx.close(decl.fvar)
            return
    raise ctx.with_goal("Tactic `assumption` failed")


@tactic(ExfalsoStx)
def exfalso_tactic(ctx: TacticContext, stx: ExfalsoStx) -> None:
    """`exfalso`: prove `False` instead.

    ```lean
    example (p q : Prop) (hp : p) (h : ¬p) : q := by
      exfalso
    ```
    """
    decl = ctx.mctx.decl(ctx.main)
    new = new_goal(ctx.mctx, Const("False"), decl.lctx, decl.user_name)
    ctx.mctx.assign(ctx.main, mk_false_elim(ctx.mctx, ctx.target, MVar(new)))
    ctx.replace_main([new])


@tactic(ContradictionStx)
def contradiction_tactic(ctx: TacticContext, stx: ContradictionStx) -> None:
    """`contradiction`: close the goal by hypotheses that visibly cannot be.

    These are `False`, `p` beside `¬p`, `a ≠ a`, an equation of two constructors, and what evaluates to false. It
    does not reason: `p ∧ ¬p` is not seen.

    ```lean
    example (n : Nat) (h : n + 1 = 0) : n = 5 := by
      contradiction
    ```
    """
    target = ctx.target
    # All cheap refutations before any case analysis.
    for decl in reversed(list(ctx.lctx)):
        absurdity = refute_hyp(ctx, decl)
        if absurdity is not None:
            ctx.close(mk_false_elim(ctx.mctx, target, absurdity))
            return
    left = [CASES_TRIED]
    if not any(_has_no_case(ctx, decl, left) for decl in ctx.lctx):
        raise ctx.with_goal("Tactic `contradiction` failed")


def _has_no_case(ctx: TacticContext, decl: LocalDecl, left: list[int]) -> bool:
    """Whether the type of a hypothesis (`n < 0`) rules out every constructor; then the goal is closed.

    A constructor is ruled out by one of its fields too (`n + 2 < 2`), as long as cases are `left` to be tried.
    """
    inductive = inductive_type(ctx.mctx, ctx.type_of(decl))
    # Without indices a type has all its constructors; equations have been looked at as such.
    if inductive is None or not inductive[0].num_indices or inductive[0].name == "Eq":
        return False
    return ctx.attempt(lambda: _close_without_cases(ctx, decl, left))


def _close_without_cases(ctx: TacticContext, decl: LocalDecl, left: list[int]) -> None:
    exfalso_tactic(ctx, ExfalsoStx())
    before = ctx.lctx
    branches = cases_local(ctx.mctx, ctx.main, decl.fvar_id, ctx.show_in)
    for branch in branches:
        left[0] -= 1
        ctx.goals = [branch.goal]
        fields = [field for field in ctx.lctx if field.fvar_id not in before]
        if left[0] < 0 or not any(_has_no_case(ctx, field, left) for field in fields):
            raise TacticError("there is a possible case")
    ctx.prune()


def refute_hyp(ctx: TacticContext, decl: LocalDecl) -> Expr | None:
    """Build a proof of `False` from one hypothesis (and for `¬p` another one); None if there is no simple one."""
    mctx = ctx.mctx
    type_ = ctx.type_of(decl)
    if not mctx.is_prop(type_):
        return None
    inductive = inductive_type(mctx, type_)
    if inductive is not None and not inductive[0].ctors:
        if inductive[0].name == "False":
            return decl.fvar
        return _eliminate_empty(ctx, decl)
    equation = match_eq(type_) or match_eq(mctx.whnf(type_, "reducible"))
    if equation is not None:
        return refute_clash(mctx, mk_eq(*equation), decl.fvar) or _refute_by_decide(ctx, decl, type_)
    # Unfolded all the way: `a ≠ b` and a user's negations are functions into `False`.
    negated = mctx.whnf(type_, "default")
    if isinstance(negated, Pi) and not negated.body.loose and mctx.whnf(negated.body, "default") is Const("False"):
        proof = _proof_of(ctx, negated.type, decl.fvar_id)
        if proof is not None:
            return mk_app(decl.fvar, proof)
    return _refute_by_decide(ctx, decl, type_)


def _proof_of(ctx: TacticContext, prop: Expr, without: str) -> Expr | None:
    """A hypothesis that proves `prop`, or `Eq.refl` where `prop` is an equation between equal sides."""
    mctx = ctx.mctx
    for other in reversed(list(ctx.lctx)):
        if other.fvar_id != without and mctx.is_def_eq(ctx.type_of(other), prop):
            return other.fvar
    equation = match_eq(mctx.instantiate(prop))
    if equation is None:
        return None
    level, type_, lhs, rhs = equation
    with mctx.with_transparency("reducible"):
        equal = mctx.is_def_eq(lhs, rhs)
    if not equal:
        return None
    return mk_app(Const("Eq.refl", (level,)), type_, lhs)


def _eliminate_empty(ctx: TacticContext, decl: LocalDecl) -> Expr | None:
    inductive = inductive_type(ctx.mctx, ctx.type_of(decl))
    assert inductive is not None
    info, levels, args = inductive
    rec = ctx.mctx.env[info.rec_name]
    rec_levels = levels
    if len(rec.level_params) > len(levels):  # it eliminates into any sort, here into `Prop`
        rec_levels = (ZERO, *levels)
    motive_type = rec.type_at(rec_levels)
    for arg in args[: info.num_params]:
        assert isinstance(motive_type, Pi)
        motive_type = instantiate(motive_type.body, arg)
    assert isinstance(motive_type, Pi)
    motive = constant_function(ctx.mctx, motive_type.type, Const("False"))
    return mk_app(Const(rec.name, rec_levels), *args[: info.num_params], motive, *args[info.num_params :], decl.fvar)


def _refute_by_decide(ctx: TacticContext, decl: LocalDecl, type_: Expr) -> Expr | None:
    """Refute a closed hypothesis that evaluates to false."""
    if type_.has_fvar or type_.has_mvar:
        return None
    refutation = decide_refutation(ctx, type_)
    return None if refutation is None else mk_app(refutation, FVar(decl.fvar_id))


# -- trivial -----------------------------------------------------------------------------------------------------------


@tactic(TrivialStx)
def trivial_tactic(ctx: TacticContext, stx: TrivialStx) -> None:
    """`trivial`: try `assumption`, `rfl`, `contradiction`, `decide`, `True.intro`, and both sides of a conjunction.

    ```lean
    example (p : Prop) (hp : p) : p ∧ 2 + 2 = 4 := by
      trivial
    ```
    """
    trivial(ctx)


def trivial(ctx: TacticContext) -> None:
    """Close the main goal by `True.intro`, `decide`, `contradiction`, `rfl`, `assumption`, or part by part for `∧`."""
    before = len(ctx.goals)
    # Macros of Lean's Init/Tactics.lean, of which the one declared last is tried first.
    attempts = (
        lambda: ctx.replace_main(apply_expr(ctx, Const("True.intro"))),
        lambda: decide_tactic(ctx, DecideStx()),
        lambda: contradiction_tactic(ctx, ContradictionStx()),
        lambda: close_by_rfl(ctx, "default"),
        lambda: assumption_tactic(ctx, AssumptionStx()),
        lambda: _both_trivial(ctx),
    )
    if not any(ctx.attempt(attempt) and len(ctx.goals) < before for attempt in attempts):
        raise ctx.with_goal("Tactic `trivial` failed")


def _both_trivial(ctx: TacticContext) -> None:
    new = apply_expr(ctx, Const("And.intro"))
    rest = ctx.goals[1:]
    ctx.goals = new
    while ctx.goals:
        trivial(ctx)
    ctx.goals = rest


# -- symmetry ----------------------------------------------------------------------------------------------------------


@tactic(SymmStx)
def symm_tactic(ctx: TacticContext, stx: SymmStx) -> None:
    """`symm`: turn `a = b`, `p ↔ q` or `a ≠ b` around, in the goal or with `at h` in a hypothesis.

    ```lean
    example (a b : Nat) (h : a ≠ b) : b ≠ a := by
      symm at h
    ```
    """
    hyps, goal_too = hyps_and_goal(ctx, stx.location)
    for name in hyps:
        decl = ctx.hyp(name)
        turned = _turn(ctx, ctx.type_of(decl))
        _, new = replace_hyp(ctx.mctx, ctx.main, decl.fvar_id, turned[0], mk_app(turned[1], decl.fvar))
        ctx.replace_main([new])
    if goal_too:
        turned = _turn(ctx, ctx.target)
        # The goal follows from the turned one, so the lemma is that of the turned relation.
        _, back = _turn(ctx, turned[0])
        goal = ctx.mctx.decl(ctx.main)
        new = new_goal(ctx.mctx, turned[0], goal.lctx, goal.user_name)
        ctx.mctx.assign(ctx.main, mk_app(back, MVar(new)))
        ctx.replace_main([new])


def _turn(ctx: TacticContext, type_: Expr) -> tuple[Expr, Expr]:
    """The relation with its sides exchanged, and the function from proofs of `type_` to proofs of that."""
    for candidate in (type_, ctx.mctx.whnf(type_, "reducible")):
        fn, args = get_app_fn_args(candidate)
        if isinstance(fn, Const) and (fn.name, len(args)) in (("Eq", 3), ("Ne", 3), ("Iff", 2)):
            *types, lhs, rhs = args
            return mk_app(fn, *types, rhs, lhs), mk_app(Const(f"{fn.name}.symm", fn.levels), *types, lhs, rhs)
    raise TacticError("Tactic `symm` failed: no symmetry lemma applies to the relation")


def _constructors(ctx: TacticContext, name: str) -> list[Expr]:
    inductive = inductive_type(ctx.mctx, ctx.target)
    if inductive is None:
        raise ctx.with_goal(f"Tactic `{name}` failed: target is not an inductive datatype")
    info, levels, _ = inductive
    return [Const(ctor, levels) for ctor in info.ctors]


@tactic(ConstructorStx)
def constructor_tactic(ctx: TacticContext, stx: ConstructorStx) -> None:
    """`constructor`: apply the first constructor that fits; its arguments become goals, tagged with their names.

    The witness of `∃` becomes a goal that the other one mentions.

    ```lean
    example (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
      constructor
    ```
    """
    for ctor in _constructors(ctx, "constructor"):
        mark = ctx.save()
        try:
            ctx.replace_main(apply_expr(ctx, ctor))
            return
        except TacticError:
            ctx.restore(mark)
    raise ctx.with_goal("Tactic `constructor` failed: no applicable constructors found")


def _one_of_two(ctx: TacticContext, name: str, place: int) -> None:
    ctors = _constructors(ctx, name)
    if len(ctors) != 2:
        text = f"Tactic `{name}` failed: `{name}` tactic works for inductive types with exactly 2 constructors"
        raise ctx.with_goal(text)
    ctx.replace_main(apply_expr(ctx, ctors[place]))


@tactic(LeftStx)
def left_tactic(ctx: TacticContext, stx: LeftStx) -> None:
    """`left`: apply the first constructor of a type that has two.

    ```lean
    example (p q : Prop) (hp : p) : p ∨ q := by
      left
    ```
    """
    _one_of_two(ctx, "left", 0)


@tactic(RightStx)
def right_tactic(ctx: TacticContext, stx: RightStx) -> None:
    """`right`: apply the second constructor of a type that has two.

    ```lean
    example (p q : Prop) (hq : q) : p ∨ q := by
      right
    ```
    """
    _one_of_two(ctx, "right", 1)


@tactic(ExistsStx)
def exists_tactic(ctx: TacticContext, stx: ExistsStx) -> None:
    """`exists a, b`: give witnesses (or first components) and close what is left by `trivial` where that does it.

    ```lean
    example (f : Nat → Nat) (h : ∀ x : Nat, f x = x) : ∃ a b : Nat, f a = b := by
      exists 2, 2
    ```
    """
    hole = SyntheticHole("_", pos=stx.pos, end=stx.end)
    refine_main(ctx, AnonCtor((*stx.terms, hole), pos=stx.pos, end=stx.end))
    # Lean's macro is `refine ⟨a, b, ?_⟩; try trivial`.
    if ctx.goals:
        ctx.attempt(lambda: trivial(ctx))
