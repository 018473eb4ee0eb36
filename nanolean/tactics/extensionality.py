"""Equations from equal parts: `funext`, `ext`, `congr`."""

from collections.abc import Sequence

from nanolean.kernel.expr import (
    PROP,
    App,
    Const,
    Expr,
    MVar,
    Pi,
    get_app_fn,
    get_app_fn_args,
    instantiate,
    is_arrow,
)
from nanolean.meta.reduce import const_name
from nanolean.meta.store import Transparency
from nanolean.proof_errors import TacticError
from nanolean.syntax import AssumptionStx, CongrStx, ExtStx, FunextStx, RcasesPattern
from nanolean.tactics.apply import apply_expr
from nanolean.tactics.closing import assumption_tactic, close_by_rfl
from nanolean.tactics.context import rintro
from nanolean.tactics.core import TacticContext, tactic
from nanolean.tactics.eq_proof import Step, congr_args, match_eq, mk_eq
from nanolean.tactics.goals import append_tag, goal_tag, goal_target, intro, new_goal, written_name

CLASS_OPERATORS = frozenset(
    ("Nat.add", "Nat.sub", "Nat.mul", "Nat.div", "Nat.mod", "Nat.pow", "Nat.le", "Nat.lt", "Nat.dvd", "List.append")
)
MAX_EXT = 100
"""How many lemmas one `ext` applies at most."""


@tactic(FunextStx)
def funext_tactic(ctx: TacticContext, stx: FunextStx) -> None:
    """`funext x y`: prove that functions are equal by their values at every `x`.

    ```lean
    example : (fun n : Nat => n + 0) = fun n => n := by
      funext n
    ```
    """
    for name in stx.names:
        _apply_lemma(ctx, "funext")
        _, goal = intro(ctx.mctx, ctx.main, written_name(name))
        ctx.replace_main([goal])


def _apply_lemma(ctx: TacticContext, name: str) -> None:
    ctx.replace_main(apply_expr(ctx, ctx.mctx.fresh_const(ctx.state.env[name])))


@tactic(ExtStx)
def ext_tactic(ctx: TacticContext, stx: ExtStx) -> None:
    """`ext x y`, `ext1 x`: prove an equation by lemmas marked `@[ext]` as long as names are left and lemmas apply,
    `ext1` once.

    ```lean
    example (p q : Nat → Prop) (h : ∀ n, p n ↔ q n) : p = q := by
      ext n
    ```

    ```lean
    example (p q : Nat → Prop) (h : ∀ n, p n ↔ q n) : p = q := by
      ext1 n
    ```
    """
    with ctx.focus():
        done: list[str] = []
        todo: list[tuple[str, Sequence[RcasesPattern]]] = []
        todo += _ext_once(ctx, ctx.main, stx.patterns)
        rounds = 0
        while todo:
            goal, patterns = todo.pop(0)
            rounds += 1
            if stx.once or rounds > MAX_EXT or _ext_lemma(ctx, goal) is None:
                done.append(goal)
            else:
                todo = [*_ext_once(ctx, goal, patterns), *todo]
        ctx.goals = done


def _ext_lemma(ctx: TacticContext, goal: str) -> str | None:
    """The extensionality lemma for the type of the equation that the goal is."""
    sides = match_eq(ctx.mctx.whnf(goal_target(ctx.mctx, goal), "reducible"))
    if sides is None:
        return None
    type_ = ctx.mctx.whnf(sides[1], "reducible")
    if isinstance(type_, Pi):
        return "funext"
    if type_ is PROP:
        return "propext"
    # Marked `@[ext]`, the latest first: `.. → x = y` for this type.
    for name in reversed(ctx.state.tagged("ext")):
        statement = ctx.mctx.env[name].type
        while isinstance(statement, Pi):
            statement = statement.body
        lemma = match_eq(statement)
        if lemma is not None and const_name(get_app_fn(lemma[1])) == const_name(get_app_fn(type_)):
            return name
    return None


def _ext_once(
    ctx: TacticContext, goal: str, patterns: Sequence[RcasesPattern]
) -> list[tuple[str, Sequence[RcasesPattern]]]:
    """Apply one lemma; what it quantifies over is introduced along the patterns."""
    ctx.goals = [goal]
    lemma = _ext_lemma(ctx, goal)
    if lemma is None:
        sides = match_eq(ctx.target)
        type_ = ctx.target
        if sides is not None:
            type_ = sides[1]
        raise TacticError(f"No applicable extensionality theorem found for type\n  {ctx.show(type_)}")
    _apply_lemma(ctx, lemma)
    found: list[tuple[str, Sequence[RcasesPattern]]] = []
    for new in ctx.goals:
        if lemma == "propext" or not isinstance(ctx.mctx.whnf(goal_target(ctx.mctx, new), "reducible"), Pi):
            found.append((new, patterns))
        elif patterns:
            found += [(rest, patterns[1:]) for rest in rintro(ctx, new, [patterns[0]])]
        else:
            found.append((intro(ctx.mctx, new, None)[1], ()))
    return found


# -- congr -------------------------------------------------------------------------------------------------------------


@tactic(CongrStx)
def congr_tactic(ctx: TacticContext, stx: CongrStx) -> None:
    """`congr`: reduce an equation of two applications to those of the parts that differ; `congr n` goes `n` levels
    deep.

    What `rfl` or an assumption closes is closed.

    ```lean
    example (f : Nat → Nat → Nat) (a b c d : Nat) (h : a = b) : f a c = f b d := by
      congr
    ```
    """
    with ctx.focus():
        # `congrN` of Lean tries `rfl` and assumptions before it takes a term apart, too (`closePre`).
        if _closed_at_once(ctx):
            return
        new = _congruence(ctx)
        if new is None:
            raise ctx.with_goal("Tactic `congr` failed: the sides are not applications of one function")
        done: list[str] = []
        todo = [(goal, 1) for goal in new]
        while todo:
            goal, depth = todo.pop(0)
            ctx.goals = [goal]
            if _closed_at_once(ctx):
                continue
            parts = None
            if stx.depth is None or depth < stx.depth:
                parts = _congruence(ctx)
            if parts is None and not _closed_at_once(ctx, "default"):
                done.append(goal)
            elif parts is not None:
                todo = [*((part, depth + 1) for part in parts), *todo]
        ctx.goals = done


def _closed_at_once(ctx: TacticContext, transparency: Transparency = "reducible") -> bool:
    return ctx.attempt(lambda: close_by_rfl(ctx, transparency)) or ctx.attempt(
        lambda: assumption_tactic(ctx, AssumptionStx())
    )


def _congruence(ctx: TacticContext) -> list[str] | None:
    """Goals for the arguments in which the sides of the main goal differ; None where they have nothing in common."""
    mctx, goal, target = ctx.mctx, ctx.main, ctx.target
    sides = match_eq(target)
    if sides is None:
        return None
    fn, args = get_app_fn_args(sides[2])
    other_fn, others = get_app_fn_args(sides[3])
    if fn is not other_fn or len(args) != len(others) or not args or not isinstance(target, App):
        return None
    decl = mctx.decl(goal)
    steps: list[Step | None] = []
    goals: list[str] = []
    type_ = mctx.infer_type(fn)
    for place, (arg, other) in enumerate(zip(args, others)):
        type_ = mctx.whnf_pi(type_, "default")
        assert isinstance(type_, Pi)
        # An argument that a later type depends on cannot be exchanged by `congr`, a proof need not be.
        open_ = is_arrow(type_) and type_.info == "default" and not mctx.is_prop(type_.type)
        same = mctx.is_proof(arg) or arg is other
        if not open_ and not same:
            return None
        steps.append(None)
        if open_ and arg is not other:
            level = mctx.sort_level(type_.type)
            assert level is not None, "an argument has a type"
            tag = append_tag(goal_tag(mctx, goal), f"e_{_argument_name(fn, len(args), place, type_.name)}")
            new = new_goal(mctx, mk_eq(level, mctx.instantiate(type_.type), arg, other), decl.lctx, tag)
            steps[-1] = Step(other, MVar(new))
            goals.append(new)
        type_ = instantiate(type_.body, arg)
    proof = congr_args(mctx, fn, args, steps).proof
    if proof is None:
        return None
    mctx.assign(goal, proof)
    return goals


def _argument_name(fn: Expr, count: int, place: int, name: str) -> str:
    """The name of an argument in the tag of its goal; what Lean reads as the operator of a class has arguments `a`."""
    # Such a function is the field of a class in Lean, whose arguments have no names.
    operator = isinstance(fn, Const) and fn.name in CLASS_OPERATORS and count - place <= 2
    return "a" if operator or name in ("", "_") else name.rstrip("✝")
