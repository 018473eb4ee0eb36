"""The simplifier: rewrites a term bottom-up until no rule applies, and proves that the result is equal.

Each subterm is simplified once (results are kept for the whole run); after its parts have been simplified the rules
and procedures are tried on the term itself, and whatever they make is simplified again.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache

from nanolean.kernel.declaration import ConstantInfo, DefInfo, TheoremInfo
from nanolean.kernel.expr import (
    PROP,
    App,
    Const,
    Expr,
    FVar,
    Lam,
    Let,
    Pi,
    alpha_eq,
    collect_fvars,
    get_app_fn,
    get_app_fn_args,
    instantiate,
    is_arrow,
    mk_app,
)
from nanolean.kernel.level import ONE
from nanolean.kernel.reduce import beta
from nanolean.meta.instances import decidable_instance
from nanolean.meta.lctx import LocalContext
from nanolean.meta.mctx import MetaContext
from nanolean.proof_errors import TacticError
from nanolean.tactics.eliminate import beta_reduce
from nanolean.tactics.eq_proof import (
    FALSE,
    TRUE,
    Step,
    congr_args,
    congr_fun,
    implies_congr,
    level_of,
    match_eq,
    mk_eq_false,
    mk_eq_refl,
    mk_eq_true,
    mk_of_eq_true,
    mk_propext,
    mk_refl,
    mk_symm,
    trans,
)
from nanolean.tactics.matching import Match
from nanolean.tactics.simp_procs import Proc
from nanolean.tactics.simp_rules import Rule, RuleIndex, TermOrder, key_of
from nanolean.tactics.unfolding import reduce_match, unfold_by_equation


def simp_condition(mctx: MetaContext, lctx: LocalContext, e: Expr, simp: Callable[[Expr], Step]) -> Step | None:
    """Simplify the condition of an `if`; None where that changes nothing."""
    fn, args = get_app_fn_args(e)
    if not isinstance(fn, Const) or fn.name not in ("ite", "dite") or len(args) != 5:
        return None
    type_, condition, instance, then, otherwise = args
    step = simp(condition)
    if step.expr is condition:
        return None
    # Lean's `ite_cond_eq_true` and the like are applied before the branches are looked at: only one of them is needed.
    if step.expr is TRUE or step.expr is FALSE:
        proof = step.proof or mk_eq_refl(ONE, PROP, step.expr)
        suffix, branch = "false", otherwise
        if step.expr is TRUE:
            suffix, branch = "true", then
        lemma = mk_app(Const(f"{fn.name}_cond_eq_{suffix}", fn.levels), type_, condition, instance, then, otherwise)
        if fn.name == "dite":
            fact = mk_app(Const(f"of_eq_{suffix}"), condition, proof)
            branch = beta(branch, [fact])
        return Step(branch, mk_app(lemma, proof))
    if fn.name == "dite":  # the branches take a proof of the condition as it is
        return None
    return _congruence(mctx, lctx, fn, args, step)


def _congruence(mctx: MetaContext, lctx: LocalContext, fn: Const, args: list[Expr], step: Step) -> Step | None:
    """`if c' then a else b` for a condition `c'` that equals `c`."""
    type_, condition, instance, then, otherwise = args
    new_instance = decidable_instance(mctx, step.expr, lctx)
    if new_instance is None:
        return None
    proof = step.proof or mk_eq_refl(ONE, PROP, step.expr)
    negated = mk_app(Const("Not"), step.expr)
    result = mk_app(fn, type_, step.expr, new_instance, then, otherwise)
    branches = [Lam("h", prop, mk_refl(mctx, branch)) for prop, branch in ((step.expr, then), (negated, otherwise))]
    head = mk_app(Const("ite_congr", fn.levels), type_, condition, step.expr, then, otherwise, then, otherwise)
    return Step(result, mk_app(head, instance, new_instance, proof, *branches))


MAX_DEPTH = 400
"""How many rewriting steps may follow from one another, and how deep terms may be nested."""
MAX_CACHED_RULES = 8192
MAX_DISCHARGE_DEPTH = 2
"""How many conditions of rules may be open inside of each other."""
LOOP = "Tactic `simp` failed with a nested error:\nmaximum recursion depth has been reached"


class Simplifier:
    """One run of the simplifier over one local context.

    `indexes` are searched in order; `erased` names rules to be left out; `unfold` names definitions to be unfolded, and
    holds the ids of `let` variables whose values are put in.
    """

    def __init__(
        self,
        mctx: MetaContext,
        lctx: LocalContext,
        indexes: Sequence[RuleIndex],
        procs: Sequence[Proc] = (),
        erased: frozenset[str] = frozenset(),
        unfold: frozenset[str] = frozenset(),
        trace: Callable[[Rule | None, Expr, Expr], None] | None = None,
        prove: Callable[[Expr, LocalContext], Expr | None] | None = None,
    ) -> None:
        self.mctx = mctx
        self.lctx = lctx
        self.indexes = indexes
        self.procs = procs
        self.erased = erased
        self.unfold = unfold
        self.trace = trace
        self.prove = prove
        """Proves the conditions of rules, in place of simplifying them to `True`."""
        self.places = {decl.fvar_id: place for place, decl in enumerate(lctx)}
        self.order = TermOrder(lambda fvar_id: self.places.get(fvar_id, -1), mctx.budget.spend)
        self.depth = 0
        self.discharging = 0
        # By depth of conditions: what could not be shown at the limit may be shown further out.
        self.caches: list[dict[Expr, Step]] = [{} for _ in range(MAX_DISCHARGE_DEPTH + 1)]

    def run(self, e: Expr) -> Step:
        """Simplify a term by the rules; metavariables of the goal are constants meanwhile.

        Raises `TacticError` where the rules apply for too long.
        """
        # A rule must not fix a metavariable of the goal: the term would be rewritten because of a choice nobody made.
        with self.mctx.new_depth():
            return self.simp(e)

    def simp(self, e: Expr) -> Step:
        """Simplify one term among others of a run."""
        cache = self.caches[self.discharging]
        step = cache.get(e)
        if step is None:
            self.mctx.budget.spend()
            if self.depth > MAX_DEPTH:
                raise TacticError(LOOP)
            self.depth += 1
            step = self._simp(e)
            self.depth -= 1
            cache[e] = step
        return step

    def _simp(self, e: Expr) -> Step:
        # `simpLoop` of Lean's Meta/Tactic/Simp/Main.lean: steps before the parts, the parts by congruence, steps after,
        # and all again on what that gives.
        first = self._before(e)
        if first is not None:
            return trans(self.mctx, e, first, self.simp(first.expr))
        parts = self._parts(e)
        step = self._rewrite(parts.expr)
        if step is None:
            return parts
        step = trans(self.mctx, parts.expr, step, self.simp(step.expr))
        return trans(self.mctx, e, parts, step)

    # -- the parts of a term -----------------------------------------------------------------------------------------

    def _before(self, e: Expr) -> Step | None:
        """Steps that come before the parts: beta reduction, values of `let`, and unfolding."""
        fn, args = get_app_fn_args(e)
        if args and isinstance(fn, Lam):
            return Step(beta(fn, args))
        if isinstance(fn, Let):  # `Simp.Config.zeta` of Lean
            return Step(beta(instantiate(fn.body, fn.value), args))
        if isinstance(fn, FVar) and fn.id in self.unfold:
            value = self.mctx.fvars[fn.id].value
            assert value is not None, "only a `let` variable is unfolded"
            return Step(beta(self.mctx.instantiate(value), args))
        if self.unfold and isinstance(fn, Const) and fn.name in self.unfold:
            new = unfold_by_equation(self.mctx, e)
            return None if new is None else Step(new)
        decided = reduce_match(self.mctx, fn, args)
        if decided is not None:
            return Step(decided)
        return self._condition(e)

    def _condition(self, e: Expr) -> Step | None:
        return simp_condition(self.mctx, self.lctx, e, self.simp)

    def _parts(self, e: Expr) -> Step:
        if isinstance(e, App):
            return self._app(e)
        if isinstance(e, Pi) and self.mctx.is_prop(e):
            return self._pi(e)
        return Step(e)

    def _app(self, e: App) -> Step:
        fn, args = get_app_fn_args(e)
        if isinstance(fn, Const) and fn.name == "Exists" and len(args) == 2 and isinstance(args[1], Lam):
            return self._exists(e, fn, args[0], args[1])
        steps: list[Step | None] = []
        changed = False
        for arg, open_ in zip(args, self._rewritable(fn, args)):
            step = self._argument(arg) if open_ else None
            if step is not None and step.proof is None and step.expr is arg:
                step = None
            steps.append(step)
            changed = changed or step is not None
        if not changed:
            return Step(e)
        return congr_args(self.mctx, fn, args, steps)

    def _argument(self, arg: Expr) -> Step:
        return self._lambda(arg) if isinstance(arg, Lam) else self.simp(arg)

    def _rewritable(self, fn: Expr, args: list[Expr]) -> list[bool]:
        """Which arguments may be replaced by equal ones: no proofs, and nothing on which a later type depends."""
        type_ = self.mctx.infer_type(fn)
        rewritable = []
        for arg in args:
            type_ = self.mctx.whnf_pi(type_, "default")
            assert isinstance(type_, Pi)
            # `mkCongrSimp?` of Lean casts arguments on which later ones depend; here they stay as they are. Instances
            # too: there is one of each class.
            rewritable.append(is_arrow(type_) and type_.info != "inst" and not self.mctx.is_prop(type_.type))
            type_ = instantiate(type_.body, arg)
            if isinstance(arg, Lam):
                type_ = beta_reduce(type_)
        return rewritable

    # -- binders -----------------------------------------------------------------------------------------------------

    def _open(self, binder: Lam | Pi) -> tuple[FVar, Expr]:
        local = self.mctx.fresh_local(binder.name, binder.type)
        # Bound variables are the last in the order of terms, innermost last.
        self.places[local.fvar_id] = len(self.places)
        return FVar(local.fvar_id), instantiate(binder.body, local.fvar)

    def _pi(self, e: Pi) -> Step:
        mctx = self.mctx
        if is_arrow(e) and mctx.is_prop(e.type):
            # An arrow's body does not mention the premise, so any term may stand in its place.
            codomain = instantiate(e.body, TRUE)
            p_step, q_step = self.simp(e.type), self.simp(codomain)
            if p_step.expr is e.type and q_step.expr is codomain:
                return Step(e)
            return implies_congr(mctx, e.type, codomain, p_step, q_step)
        local, body = self._open(e)
        step = self.simp(body)
        if step.expr is body:
            return Step(e)
        new = Pi(e.name, e.type, self._abstract(e, local, step.expr).body, e.info)
        if step.proof is None:
            return Step(new)
        level = level_of(mctx, e.type)
        proof = self._abstract(e, local, step.proof)
        old_fn, new_fn = Lam(e.name, e.type, e.body), Lam(e.name, e.type, new.body)
        return Step(new, mk_app(Const("forall_congr", (level,)), e.type, old_fn, new_fn, proof))

    def _exists(self, e: Expr, fn: Const, type_: Expr, body_fn: Lam) -> Step:
        local, body = self._open(body_fn)
        step = self.simp(body)
        if step.expr is body:
            return Step(e)
        new_fn = self._abstract(body_fn, local, step.expr)
        new = mk_app(fn, type_, new_fn)
        if step.proof is None:
            return Step(new)
        pointwise = self._abstract(body_fn, local, mk_app(Const("Iff.of_eq"), body, step.expr, step.proof))
        return Step(
            new, mk_propext(e, new, mk_app(Const("exists_congr", fn.levels), type_, body_fn, new_fn, pointwise))
        )

    def _lambda(self, e: Lam) -> Step:
        """A function as an argument, by `funext`."""
        local, body = self._open(e)
        step = self._argument(body)
        if step.expr is body:
            return Step(e)
        new = self._abstract(e, local, step.expr)
        if step.proof is None:
            return Step(new)
        mctx = self.mctx
        if "funext" not in mctx.env:
            return Step(e)
        body_type = mctx.infer_type(body)
        family = self._abstract(e, local, body_type)
        levels = (level_of(mctx, e.type), level_of(mctx, body_type))
        proof = self._abstract(e, local, step.proof)
        return Step(new, mk_app(Const("funext", levels), e.type, family, e, new, proof))

    def _abstract(self, binder: Lam | Pi, local: FVar, body: Expr) -> Lam:
        fn = self.mctx.mk_lambda([local.id], body)
        assert isinstance(fn, Lam)
        return Lam(binder.name, fn.type, fn.body)

    # -- rules -------------------------------------------------------------------------------------------------------

    def _rewrite(self, e: Expr) -> Step | None:
        # Simplified targets may decide a match that was stuck before.
        decided = reduce_match(self.mctx, *get_app_fn_args(e))
        if decided is not None:
            return Step(decided)
        for proc in self.procs:
            step = proc(self.mctx, e)
            if step is not None:
                if self.trace is not None:
                    self.trace(None, e, step.expr)
                return step
        key = key_of(e)
        for index in self.indexes:
            for rule, extra in index.candidates(key):
                if rule.name not in self.erased:
                    step = self._apply_with_extra(rule, e, extra)
                    if step is not None:
                        if self.trace is not None:
                            self.trace(rule, e, step.expr)
                        return step
        return None

    def _apply_with_extra(self, rule: Rule, e: Expr, extra: int) -> Step | None:
        if not extra:
            return self._apply(rule, e)
        # A rule for `f a` rewrites `f a b` too: `tryTheoremWithExtraArgs?` of Lean's Meta/Tactic/Simp/Rewrite.lean.
        fn, args = get_app_fn_args(e)
        function = mk_app(fn, *args[:-extra])
        step = self._apply(rule, function)
        return step and congr_fun(self.mctx, function, step, args[-extra:])

    def _apply(self, rule: Rule, e: Expr) -> Step | None:
        match = Match(self.mctx, len(rule.types), bool(rule.level_params))
        if not match.match(rule.lhs, e):
            return None
        # Arguments that only types mention, as `α` of a rule about lists.
        match.infer_missing(rule.types, len(rule.level_params))
        if len(match.levels) < len(rule.level_params):
            return None
        if rule.matches_types and not match.well_typed(rule.types):
            return None
        if not self._conditions(rule, match):
            return None
        rhs, proof = match.fill(rule.rhs), match.fill(rule.proof)
        if rhs is None or proof is None:
            return None
        if match.functions:
            rhs = beta_reduce(rhs)
        # `a + b = b + a` would go on for ever; towards the smaller term it sorts, and stops.
        if rhs is e or alpha_eq(rhs, e) or (rule.permutes and not self.order.less(rhs, e)):
            return None
        return Step(rhs, self._equation(rule, e, rhs, proof))

    def _conditions(self, rule: Rule, match: Match) -> bool:
        """Prove the arguments that matching has not found."""
        for place, type_ in enumerate(rule.types):
            if match.args[place] is not None:
                continue
            inner = Match(self.mctx, place, match.open_levels)
            inner.args, inner.levels = match.args[:place], match.levels
            prop = inner.fill(type_)
            if prop is None:
                return False
            if match.functions:
                prop = beta_reduce(prop)
            proof = self._discharge(prop)
            if proof is None:
                return False
            match.args[place] = proof
        return True

    def _discharge(self, prop: Expr) -> Expr | None:
        """A proof of a condition (or an instance of `Decidable`), None where it does not simplify to `True`."""
        fn, args = get_app_fn_args(prop)
        if isinstance(fn, Const) and fn.name == "Decidable":
            return decidable_instance(self.mctx, args[0], self.lctx)
        if self.prove is not None:
            opened = [self.mctx.fvars[i] for i in self.places if i not in self.lctx and i in collect_fvars(prop)]
            return self.prove(prop, self.lctx.add(*opened))
        # `maxDischargeDepth` of Lean is 2 as well.
        if self.discharging >= MAX_DISCHARGE_DEPTH or not self.mctx.is_prop(prop):
            return None
        self.discharging += 1
        step = self.simp(prop)
        self.discharging -= 1
        if step.expr is not TRUE:
            return None
        return mk_of_eq_true(prop, step.proof or mk_refl(self.mctx, TRUE))

    def _equation(self, rule: Rule, e: Expr, rhs: Expr, proof: Expr) -> Expr:
        """The proof of `e = rhs` from what the rule proves."""
        if rule.kind == "true":
            return mk_eq_true(e, proof)
        if rule.kind == "false":
            return mk_eq_false(e, proof)
        if rule.kind == "iff":
            if rule.symm:
                proof = mk_app(Const("Iff.symm"), rhs, e, proof)
            return mk_propext(e, rhs, proof)
        return mk_symm(self.mctx, rhs, e, proof) if rule.symm else proof


@lru_cache(maxsize=MAX_CACHED_RULES)
def by_definition(info: ConstantInfo) -> bool:
    """Return whether a theorem is proved by `rfl`."""
    if not isinstance(info, TheoremInfo | DefInfo):
        return False
    proof, type_ = info.value, info.type
    while isinstance(proof, Lam) and isinstance(type_, Pi):
        proof, type_ = proof.body, type_.body
    head = get_app_fn(proof)
    return match_eq(type_) is not None and isinstance(head, Const) and head.name in ("rfl", "Eq.refl")


class DefinitionalSimplifier(Simplifier):
    """`dsimp`: only steps by definition, which may be in any place but proofs and instances."""

    def _condition(self, e: Expr) -> Step | None:
        return None

    def _parts(self, e: Expr) -> Step:
        if not isinstance(e, Lam | Pi):
            return self._app(e) if isinstance(e, App) else Step(e)
        type_ = self.simp(e.type).expr
        local, body = self._open(type(e)(e.name, type_, e.body, e.info))
        fn = self._abstract(e, local, self.simp(body).expr)
        return Step(type(e)(e.name, type_, fn.body, e.info))

    def _argument(self, arg: Expr) -> Step:
        return self.simp(arg)

    def _rewritable(self, fn: Expr, args: list[Expr]) -> list[bool]:
        type_ = self.mctx.infer_type(fn)
        rewritable = []
        for arg in args:
            type_ = self.mctx.whnf_pi(type_, "default")
            assert isinstance(type_, Pi)
            # What depends on the argument keeps its type: the new one is the same by definition.
            rewritable.append(type_.info != "inst" and not self.mctx.is_proof(arg))
            type_ = instantiate(type_.body, arg)
        return rewritable

    def _discharge(self, prop: Expr) -> Expr | None:
        fn, args = get_app_fn_args(prop)
        is_instance = isinstance(fn, Const) and fn.name == "Decidable"
        return decidable_instance(self.mctx, args[0], self.lctx) if is_instance else None

    def _apply(self, rule: Rule, e: Expr) -> Step | None:
        head = get_app_fn(rule.proof)
        info = self.mctx.env.get(head.name) if isinstance(head, Const) else None
        if rule.kind != "eq" or info is None or not by_definition(info):
            return None
        step = super()._apply(rule, e)
        return step and Step(step.expr)
