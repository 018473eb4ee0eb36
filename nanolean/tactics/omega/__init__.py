"""`omega`: linear arithmetic on natural numbers.

`propositions` reads hypotheses as relations, `sums` reads terms as linear sums, `prover` adds what is known about `-`,
`/`, `%` and others and distinguishes cases, `elimination` looks for a contradiction between inequalities and leaves a
certificate, which `proofs` turns into a term. Here is the tactic, and what it says when nothing was found.
"""

from collections.abc import Iterable

from nanolean.kernel.expr import Const, Expr, MVar, Pi, get_app_fn, mk_app
from nanolean.meta.instances import decidable_instance
from nanolean.meta.lctx import LocalContext
from nanolean.meta.mctx import MetaContext
from nanolean.proof_errors import TacticError
from nanolean.syntax import OmegaStx
from nanolean.tactics.constructors import mk_false_elim
from nanolean.tactics.core import TacticContext, proposition_ids, tactic
from nanolean.tactics.eq_proof import FALSE
from nanolean.tactics.goals import goal_target, intro, new_goal
from nanolean.tactics.omega.elimination import Interval, Key, Problem
from nanolean.tactics.omega.procedure import Prover
from nanolean.tactics.omega.propositions import NOT

NOTHING = (
    "No usable constraints found. You may need to unfold definitions so `omega` can see linear arithmetic facts "
    "about `Nat` and `Int`, which may also involve multiplication, division, and modular remainder by constants."
)


def describe(ctx: TacticContext, problem: Problem) -> str:
    """List the constraints of a problem as they were given, with a letter for each atom."""
    # As Lean lists them: only what was given, before anything was eliminated.
    given = Problem(problem.atoms, ctx.mctx.budget)
    for leaf in problem.given:
        given.add(leaf)
    if not given.intervals:
        return NOTHING
    mentioned = sorted({i for key in given.intervals for i, _ in key})
    names = dict(zip(mentioned, _letters(ctx.lctx)))
    lines = ["a possible counterexample may satisfy the constraints"]
    lines += [f"  {_show_interval(names, key, interval)}" for key, interval in given.intervals.items()]
    lines.append("where")
    lines += [f" {names[i]} := ↑{_argument(ctx.show(problem.atoms.terms[i]))}" for i in mentioned]
    return "\n".join(lines)


def _letters(lctx: LocalContext) -> Iterable[str]:
    """Names for atoms that no hypothesis has."""
    taken = {decl.user_name for decl in lctx}
    i = 0
    while True:
        name = chr(ord("a") + i) if i < 26 else f"x{i - 25}"
        if name not in taken:
            yield name
        i += 1


def _argument(text: str) -> str:
    return f"({text})" if " " in text else text


def _show_interval(names: dict[int, str], key: Key, interval: Interval) -> str:
    text = ""
    for i, a in key:
        if text:
            text += " + " if a > 0 else " - "
        elif a < 0:
            text = "- "
        if abs(a) != 1:
            text += f"{abs(a)}*"
        text += names[i]
    if interval.low is None:
        assert interval.high is not None, "an interval has a bound"
        return f"{text} ≤ {interval.high.value}"
    if interval.high is None:
        return f"{text} ≥ {interval.low.value}"
    return f"{interval.low.value} ≤ {text} ≤ {interval.high.value}"


def solve(mctx: MetaContext, facts: Iterable[tuple[Expr, Expr]]) -> Expr | None:
    """Build a proof of `False` from proved propositions, given as pairs (proposition, proof); None if there is none.

    Raises `BudgetExceeded` when the step budget of `mctx` is not enough.
    """
    return Prover(mctx).prove_false(facts)


@tactic(OmegaStx)
def omega_tactic(ctx: TacticContext, stx: OmegaStx) -> None:
    """`omega`: decide linear arithmetic over natural numbers, from the hypotheses and for the goal.

    It takes equations and order, `∧ ∨ ¬ → ↔` of them, sums, differences, products, `/`, `%` and `∣` with numerals.
    A product of variables counts as one unknown.

    ```lean
    example (n : Nat) (h : n % 2 = 1) : (n + 1) / 2 * 2 = n + 1 := by
      omega
    ```

    ```lean
    example (a b : Nat) (h : a ≤ b) : a < b := by
      omega
    ```

    Differs from Lean: no integers, no bit vectors; a counterexample need not be the one that Lean names.
    """
    mctx = ctx.mctx
    ctx.replace_main([false_or_by_contra(mctx, ctx.main)])
    facts = [(ctx.type_of(ctx.lctx.by_id[i]), ctx.lctx.by_id[i].fvar) for i in proposition_ids(ctx)]
    prover = Prover(mctx)
    proof = prover.prove_false(facts)
    if proof is None:
        assert prover.failed is not None, "a case has failed"
        raise TacticError(f"omega could not prove the goal:\n{describe(ctx, prover.failed)}")
    ctx.close(proof)


def false_or_by_contra(mctx: MetaContext, goal: str) -> str:
    """Introduce what the goal assumes, then its negation if it is decidable; the new goal is `False`.

    That is Lean's `falseOrByContra` as `omega` calls it.
    """
    while True:
        target = mctx.whnf(goal_target(mctx, goal), "reducible")
        if target is FALSE:
            return goal
        if not (isinstance(target, Pi) or get_app_fn(target) is NOT):
            break
        _, goal = intro(mctx, goal, None)
    decl = mctx.decl(goal)
    # An undecidable goal is dropped, as in Lean: only the hypotheses may then contradict each other.
    instance = decidable_instance(mctx, target, decl.lctx) if mctx.is_prop(target) else None
    if instance is None:
        new = new_goal(mctx, FALSE, decl.lctx, decl.user_name)
        mctx.assign(goal, mk_false_elim(mctx, target, MVar(new)))
        return new
    new = new_goal(mctx, Pi("a", mk_app(NOT, target), FALSE), decl.lctx, decl.user_name)
    mctx.assign(goal, mk_app(Const("Decidable.byContradiction"), target, instance, MVar(new)))
    return intro(mctx, new, None)[1]
