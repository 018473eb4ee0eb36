"""The tactic `split`: cases on the condition of an `if`, or on which alternative of a `match` applies."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from nanolean.elab.match import contradicts
from nanolean.elab.match_tree import Alternative, MatchTree
from nanolean.elab.patterns import CtorPattern, NumPattern, Pattern, VarPattern
from nanolean.kernel.declaration import CtorInfo
from nanolean.kernel.expr import (
    App,
    Const,
    Expr,
    FVar,
    Lam,
    Lit,
    MVar,
    Pi,
    Sort,
    arrow,
    get_app_fn_args,
    instantiate,
    mk_app,
    subterms,
)
from nanolean.kernel.level import LParam
from nanolean.kernel.reduce import beta
from nanolean.meta.bind import replace_fvar
from nanolean.meta.generalize import exclusion, kabstract
from nanolean.meta.lctx import LocalContext, LocalDecl, inaccessible
from nanolean.meta.matchers import Matcher, matcher_of, reduce_matcher
from nanolean.meta.mctx import MetaContext
from nanolean.meta.reduce import const_info, whnf_core
from nanolean.proof_errors import ElabError, TacticError
from nanolean.syntax import SplitStx
from nanolean.tactics.cases_core import close_by_computation
from nanolean.tactics.core import TacticContext, hyps_and_goal, tactic
from nanolean.tactics.eliminate import beta_reduce
from nanolean.tactics.eq_proof import level_of, mk_congr_arg, mk_eq, mk_refl
from nanolean.tactics.equations import subst_hyp
from nanolean.tactics.goals import (
    append_tag,
    goal_target,
    intro,
    new_goal,
    replace_hyp,
    replace_target,
    revert,
    try_clear,
)
from nanolean.tactics.simp_engine import Simplifier
from nanolean.tactics.simp_rules import RuleIndex, make_rules

IFS = {"ite", "dite"}


@tactic(SplitStx)
def split_tactic(ctx: TacticContext, stx: SplitStx) -> None:
    """`split`: make a goal for each branch of an `if` or `match` in the goal, or with `at h` in a hypothesis.

    ```lean
    example (n : Nat) : (if n = 0 then 1 else n) ≠ 0 := by
      split
    ```
    """
    hyps, goal_too = hyps_and_goal(ctx, stx.location)
    if len(hyps) + goal_too != 1:
        raise TacticError("Tactic `split` failed: Select a single target to split")
    if goal_too:
        candidate = find_candidate(ctx.mctx, ctx.target)
        if candidate is None:
            raise ctx.with_goal("Tactic `split` failed: Could not split an `if` or `match` expression in the goal")
        ctx.replace_main(_split(ctx, ctx.main, candidate, None))
        return
    decl = ctx.hyp(hyps[0])
    candidate = find_candidate(ctx.mctx, ctx.type_of(decl))
    if candidate is None:
        raise ctx.with_goal(
            "Tactic `split` failed: Could not split an `if` or `match` expression in the type\n  "
            f"{ctx.show(ctx.type_of(decl))}\nof `{decl.user_name}`"
        )
    ctx.replace_main(_split(ctx, ctx.main, candidate, decl.fvar_id))


def find_candidate(mctx: MetaContext, e: Expr) -> Expr | None:
    """Find the first `if` or `match` in a term, inner ones first, with no bound variables in condition or targets."""
    for node in _preorder(e):
        fn, args = get_app_fn_args(node)
        if not isinstance(fn, Const):
            continue
        parts: list[Expr] = []
        if fn.name in IFS and len(args) == 5:
            parts = [args[1]]
        else:
            matcher = matcher_of(mctx.env, fn)
            if matcher is None or len(args) != matcher.arity:
                continue
            parts = args[matcher.num_params + 1 : matcher.first_alternative]
        # What depends on a bound variable has a case for each of its values: `findSplit?` of Lean's
        # Meta/Tactic/Split.lean leaves it, too.
        if any(part.loose for part in parts):
            continue
        # A match in the condition first: as long as it is stuck, the outer one is.
        for part in parts:
            inner = find_candidate(mctx, part)
            if inner is not None:
                return inner
        return node
    return None


def _preorder(e: Expr) -> list[Expr]:
    return [node for node in subterms(e) if isinstance(node, App)]


def _split(ctx: TacticContext, goal: str, e: Expr, hyp: str | None) -> list[str]:
    fn, args = get_app_fn_args(e)
    assert isinstance(fn, Const)
    if e.loose:
        raise ctx.with_goal("Tactic `split` failed: the expression depends on a bound variable")
    if fn.name in IFS:
        return _split_if(ctx, goal, args[1], args[2], hyp)
    matcher = matcher_of(ctx.mctx.env, fn)
    assert matcher is not None
    if hyp is None:
        return _MatchSplit(ctx, goal, fn, args, matcher).run()
    name = ctx.mctx.decl(goal).lctx.by_id[hyp].user_name
    _, goal = revert(ctx.mctx, goal, [hyp])
    return [intro(ctx.mctx, new, name)[1] for new in _MatchSplit(ctx, goal, fn, args, matcher).run()]


# -- if ----------------------------------------------------------------------------------------------------------------


def _split_if(ctx: TacticContext, goal: str, condition: Expr, instance: Expr, hyp: str | None) -> list[str]:
    """`h✝ : c` and `h✝ : ¬c`, with every `if` on `c` decided."""
    mctx = ctx.mctx
    target = goal_target(mctx, goal)
    level = level_of(mctx, target)
    branches, goals = [], []
    for prop, tag in ((condition, "isTrue"), (mk_app(Const("Not"), condition), "isFalse")):
        local = mctx.fresh_local(inaccessible("h"), prop)
        decl = mctx.decl(goal)
        new = new_goal(mctx, target, decl.lctx.add(local), append_tag(decl.user_name, tag))
        branches.append(mctx.mk_lambda([local.fvar_id], MVar(new)))
        goals.append(_decide_ifs(ctx, new, condition, local, tag == "isTrue", hyp))
    by_cases = mk_app(Const("Decidable.byCases", (level,)), condition, target, instance)
    mctx.assign(goal, mk_app(by_cases, *branches))
    return goals


def _decide_ifs(
    ctx: TacticContext, goal: str, condition: Expr, local: LocalDecl, positive: bool, hyp: str | None
) -> str:
    """The goal with the value of the condition put in, where the split is (the goal or a hypothesis)."""
    mctx = ctx.mctx
    rules = []
    for name in ("if_pos", "dif_pos") if positive else ("if_neg", "dif_neg"):
        info = mctx.env[name]
        proof = Const(name, tuple(LParam(level) for level in info.level_params))
        # `if_pos` at this condition and this proof, with the instance open: only `if`s on it are decided.
        type_ = beta_reduce(_instantiate_pi(info.type, condition))
        assert isinstance(type_, Pi)
        inst = mctx.fresh_local("inst", type_.type)
        rest = instantiate(type_.body, inst.fvar)
        assert isinstance(rest, Pi)
        statement = mctx.mk_pi([inst.fvar_id], instantiate(rest.body, local.fvar))
        value = mctx.mk_lambda([inst.fvar_id], mk_app(proof, condition, inst.fvar, local.fvar))
        rules += list(make_rules(name, value, statement, info.level_params))
    lctx = mctx.decl(goal).lctx
    simplifier = Simplifier(mctx, lctx, [RuleIndex(rules)])
    if hyp is None:
        target = goal_target(mctx, goal)
        step = simplifier.run(target)
        return goal if step.expr is target else replace_target(mctx, goal, step.expr, step.proof)
    old = mctx.instantiate(lctx.by_id[hyp].type)
    step = simplifier.run(old)
    if step.expr is old:
        return goal
    moved: Expr = FVar(hyp)
    if step.proof is not None:
        moved = mk_app(Const("Eq.mp", (level_of(mctx, old),)), old, step.expr, step.proof, moved)
    return replace_hyp(mctx, goal, hyp, step.expr, moved)[1]


def _instantiate_pi(type_: Expr, value: Expr) -> Expr:
    assert isinstance(type_, Pi)
    return instantiate(type_.body, value)


# -- match -------------------------------------------------------------------------------------------------------------


@dataclass
class _Branch:
    """The goal of one alternative: its variables, patterns, what excludes earlier alternatives, and equations."""

    goal: str
    ids: list[str]
    patterns: list[Expr]
    conditions: list[Expr]
    equations: list[str]
    value: Expr


class _MatchSplit:
    """One goal for each alternative, with equations `heq✝ : target = pattern` that are used up where they can be."""

    def __init__(self, ctx: TacticContext, goal: str, fn: Const, args: list[Expr], matcher: Matcher) -> None:
        self.mctx = ctx.mctx
        self.session = ctx.session
        self.goal = goal
        self.alternatives = args[matcher.first_alternative : matcher.arity]
        self.targets = args[matcher.num_params + 1 : matcher.first_alternative]
        self.fn, self.params = fn, args[: matcher.num_params + 1]
        self.abstracted = kabstract(self.mctx, goal_target(self.mctx, goal), mk_app(fn, *args))

    def run(self) -> list[str]:
        """Assign the goal; answers the new ones."""
        mctx = self.mctx
        locals_: list[LocalDecl] = []
        self.dependent: list[bool] = []
        for target in self.targets:
            stated = type_ = mctx.infer_type(target)
            for before, local in zip(self.targets, locals_):
                type_ = instantiate(kabstract(mctx, type_, before), local.fvar)
            # A proof about targets before it (`h : n ≠ 0`): nothing is to be known of it but what it proves.
            self.dependent.append(type_ is not stated)
            if self.dependent[-1] and not mctx.is_prop(type_):
                raise TacticError("Tactic `split` failed: a term whose type depends on another is not supported here")
            locals_.append(mctx.fresh_local(inaccessible("x"), type_))
        branches: list[_Branch] = []
        for i, function in enumerate(self.alternatives):
            ids, patterns = self._open(i, function)
            conditions: list[Expr] = []
            # Lean's splitters (`getEquationsFor` of Meta/Match/MatchEqs.lean) have the same premises: no earlier
            # alternative applies.
            for other in branches:
                condition = exclusion(mctx, other.patterns, other.ids, patterns)
                if condition is not None:
                    conditions.append(condition)
            branches.append(self._branch(i, locals_, ids, patterns, conditions))
        self._assign(locals_, branches)
        return [self._use(branch, function) for branch, function in zip(branches, self.alternatives)]

    def _matches(self, targets: Sequence[Expr]) -> Expr:
        """The match for other targets."""
        return mk_app(self.fn, *self.params, *targets, *self.alternatives)

    def _equation(self, lhs: Expr, rhs: Expr) -> Expr:
        type_ = self.mctx.infer_type(lhs)
        return mk_eq(level_of(self.mctx, type_), type_, lhs, rhs)

    def _open(self, index: int, function: Expr) -> tuple[list[str], list[Expr]]:
        """Variables and patterns of an alternative, read off the type of the matcher."""
        type_ = self.mctx.env[self.fn.name].type_at(self.fn.levels)
        motive = self.mctx.fresh_local("motive", self.mctx.infer_type(self.params[-1]))
        for arg in [*self.params[:-1], motive.fvar, *self.targets, *self.alternatives[:index]]:
            assert isinstance(type_, Pi)
            type_ = instantiate(type_.body, arg)
        assert isinstance(type_, Pi)
        type_ = type_.type
        ids: list[str] = []
        while isinstance(type_, Pi):
            name = function.name if isinstance(function, Lam) else type_.name
            local = self.mctx.fresh_local(inaccessible(name), type_.type)
            ids.append(local.fvar_id)
            type_ = instantiate(type_.body, local.fvar)
            function = beta(function, [local.fvar])
        return ids, get_app_fn_args(type_)[1]

    def _branch(
        self, index: int, locals_: list[LocalDecl], ids: list[str], patterns: list[Expr], conditions: list[Expr]
    ) -> _Branch:
        mctx = self.mctx
        decl = mctx.decl(self.goal)
        hyps = [mctx.fresh_local(inaccessible("x"), condition) for condition in conditions]
        equations = [
            mctx.fresh_local(inaccessible("heq"), self._equation(target, pattern))
            for target, pattern, dependent in zip(self.targets, patterns, self.dependent)
            if not dependent
        ]
        extra = [*locals_, *[mctx.fvars[i] for i in ids], *hyps, *equations]
        target = instantiate(self.abstracted, self._matches(patterns))
        goal = new_goal(mctx, target, decl.lctx.add(*extra), append_tag(decl.user_name, f"h_{index + 1}"))
        value = beta(mctx.mk_lambda([d.fvar_id for d in extra], MVar(goal)), self.targets)
        return _Branch(goal, ids, patterns, conditions, [equation.fvar_id for equation in equations], value)

    def _assign(self, locals_: list[LocalDecl], branches: list[_Branch]) -> None:
        """Close the goal by the case analysis of the matcher, with a motive that has the equations in it."""
        mctx = self.mctx
        xs = [x.fvar_id for x in locals_]
        variables = [x.fvar for x in locals_]
        body = instantiate(self.abstracted, self._matches(variables))
        # The motive asks for the equations, so that each case gets `target = pattern` and the end gives `rfl` for them.
        for target, x, dependent in reversed(list(zip(self.targets, variables, self.dependent))):
            if not dependent:
                body = arrow(self._equation(target, x), body)
        sort = Sort(level_of(mctx, body))
        motive = mctx.fresh_local("motive", mctx.mk_pi(xs, sort))
        alternatives, hs = [], []
        for i, branch in enumerate(branches):
            result = mk_app(motive.fvar, *branch.patterns)
            for condition in reversed(branch.conditions):
                result = arrow(condition, result)
            h = mctx.fresh_local(f"h_{i + 1}", mctx.mk_pi(branch.ids, result))
            hs.append(h.fvar_id)
            shapes = tuple(pattern_of(mctx, pattern) for pattern in branch.patterns)
            alternatives.append(Alternative(shapes, tuple(branch.ids), h.fvar, tuple(branch.conditions)))
        binders = [motive.fvar_id, *xs, *hs]
        lctx = LocalContext([*mctx.decl(self.goal).lctx, *[mctx.fvars[i] for i in binders]])
        inner = mctx.fresh_mvar(mk_app(motive.fvar, *variables), lctx, "synthetic")
        try:
            MatchTree(mctx, alternatives, partial(contradicts, self.session)).solve(inner.id, xs)
        except ElabError as error:
            raise TacticError(f"Tactic `split` failed: {error.message}") from None
        splitter = mctx.instantiate(mctx.mk_lambda(binders, inner))
        values = [branch.value for branch in branches]
        term = beta(splitter, [mctx.mk_lambda(xs, body), *self.targets, *values])
        equated = [target for target, dependent in zip(self.targets, self.dependent) if not dependent]
        mctx.assign(self.goal, mk_app(term, *[mk_refl(mctx, target) for target in equated]))

    # -- afterwards ----------------------------------------------------------------------------------------------------

    def _use(self, branch: _Branch, function: Expr) -> str:
        """The goal with the alternative in the place of the match, and equations with variables used up."""
        mctx = self.mctx
        goal = self._select(branch, function)
        equations = list(branch.equations)
        proofs = [
            (target.id, pattern.id)
            for target, pattern, dependent in zip(self.targets, branch.patterns, self.dependent)
            if dependent and isinstance(target, FVar) and isinstance(pattern, FVar)
        ]
        for i in range(len(equations)):
            done = subst_hyp(mctx, goal, equations[i])
            if done is not None:
                goal, renaming = done
                equations = [renaming.get(other, other) for other in equations]
                proofs = [(renaming.get(old, old), renaming.get(new, new)) for old, new in proofs]
        # Both prove the same, so the pattern's name for the proof goes.
        for old, new in proofs:
            target = replace_fvar(goal_target(mctx, goal), new, FVar(old))
            goal = try_clear(mctx, replace_target(mctx, goal, target, None), [new])
        return goal

    def _select(self, branch: _Branch, function: Expr) -> str:
        mctx, goal = self.mctx, branch.goal
        call = self._matches(branch.patterns)
        result = beta(function, [FVar(i) for i in branch.ids])
        new = instantiate(self.abstracted, result)
        fn, args = get_app_fn_args(call)
        assert isinstance(fn, Const)
        # Mostly the match computes at the patterns; where alternatives overlap it takes cases and the conditions.
        if reduce_matcher(mctx, fn, args, whnf_core) is not None:
            return replace_target(mctx, goal, new, None)
        lctx = mctx.decl(goal).lctx
        proof = mctx.fresh_mvar(self._equation(call, result), lctx, "synthetic")
        if not close_by_computation(mctx, proof.id):
            raise TacticError("Tactic `split` failed: the alternative could not be selected")
        type_ = mctx.infer_type(call)
        sort = mctx.infer_type(new)
        levels = (level_of(mctx, type_), level_of(mctx, sort))
        motive = Lam("x", type_, self.abstracted)
        step = mk_congr_arg(levels, (type_, sort), (call, result), motive, mctx.instantiate(proof))
        return replace_target(mctx, goal, new, step)


def pattern_of(mctx: MetaContext, e: Expr) -> Pattern:
    """Make a pattern of a term that is made of constructors, numbers and variables."""
    if isinstance(e, FVar):
        return VarPattern(e, e)
    if isinstance(e, Lit):
        return NumPattern(e, e)
    fn, args = get_app_fn_args(e)
    ctor = const_info(mctx.env, fn)
    assert isinstance(ctor, CtorInfo), "patterns are made of constructors"
    return CtorPattern(e, e, ctor.name, tuple(pattern_of(mctx, arg) for arg in args[ctor.num_params :]))
