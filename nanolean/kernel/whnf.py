"""Weak head normal forms: the first floor of the type checker (below inference and conversion).

Results are cached by node. Variables opened under binders are reused (one for each depth and type), so that the same
body opened twice gives the same nodes and the caches answer.
"""

from collections.abc import Mapping

from nanolean.kernel.declaration import Constants
from nanolean.kernel.errors import Budget, BudgetExceeded, allow_deep_recursion
from nanolean.kernel.expr import (
    App,
    Const,
    Expr,
    FVar,
    Lam,
    Let,
    Proj,
    get_app_fn_args,
    instantiate,
    mk_app,
)
from nanolean.kernel.reduce import beta, fold_nat, reduce_head, reduce_proj, unfold_app

DEFAULT_STEPS = 3_000_000

LocalTypes = Mapping[str, tuple[Expr, Expr | None]]


class Reducer:
    """Computes in an environment and a local context (free variable id -> its type and, for a `let`, its value)."""

    def __init__(self, env: Constants, lctx: LocalTypes | None = None, budget: Budget | int = DEFAULT_STEPS) -> None:
        allow_deep_recursion()
        self.env = env
        self.lctx: LocalTypes = lctx or {}
        self.budget = Budget(budget) if isinstance(budget, int) else budget
        self.depth = 0
        self._opened: dict[tuple[int, Expr], FVar] = {}
        self._opened_types: dict[FVar, Expr] = {}
        self._whnf_core: dict[Expr, Expr] = {}
        self._whnf: dict[Expr, Expr] = {}

    def infer(self, e: Expr) -> Expr:
        """The type of a term that is known to have one."""
        raise NotImplementedError

    def is_def_eq(self, a: Expr, b: Expr) -> bool:
        """Definitional equality of two terms that are known to have types."""
        raise NotImplementedError

    def open_local(self, type_: Expr) -> FVar:
        """A variable for a binder of that type. Open variables nest: set `depth` back when leaving the binder.

        The variable is new among those that are open (they have smaller depths), so no term at hand contains it.
        """
        key = (self.depth, type_)
        self.depth += 1
        fvar = self._opened.get(key)
        if fvar is None:
            fvar = self._opened[key] = FVar(f"kernel.{len(self._opened)}")
            self._opened_types[fvar] = type_
        return fvar

    def whnf_core(self, e: Expr) -> Expr:
        """Weak head normal form without unfolding definitions and without computing literals."""
        cls = e.__class__
        if cls is not App and cls is not Proj and cls is not Let and cls is not FVar:
            return e
        found = self._whnf_core.get(e)
        if found is not None:
            return found
        try:
            result = self._reduce_core(e)
        except RecursionError:
            raise BudgetExceeded("the computation is nested too deeply") from None
        self._whnf_core[e] = result
        return result

    def _reduce_core(self, e: Expr) -> Expr:
        env = self.env
        while True:
            self.budget.spend()
            match e:
                case App():
                    fn, args = get_app_fn_args(e)
                    if fn.__class__ is Lam:
                        e = beta(fn, args)
                    elif fn.__class__ is Const:
                        step = reduce_head(env, fn, args, self)
                        if step is None:
                            return e
                        e = step
                    else:
                        head = self.whnf_core(fn)
                        if head is fn:
                            return e
                        e = mk_app(head, *args)
                case Let(_, _, value, body):
                    e = instantiate(body, value)
                case Proj():
                    step = reduce_proj(env, e, self.whnf)
                    if step is None:
                        return e
                    e = step
                case FVar(id):
                    declared = self.lctx.get(id)
                    if declared is None or declared[1] is None:
                        return e
                    e = declared[1]
                case _:
                    return e

    def whnf(self, e: Expr) -> Expr:
        """Weak head normal form: nothing at the head can be computed or unfolded any more."""
        cls = e.__class__
        if cls is not App and cls is not Const and cls is not Proj and cls is not Let and cls is not FVar:
            return e
        found = self._whnf.get(e)
        if found is not None:
            return found
        try:
            result = e
            while True:
                result = self.whnf_core(result)
                step = self.fold(result) or unfold_app(self.env, result)
                if step is None:
                    break
                result = step
        except RecursionError:
            raise BudgetExceeded("the computation is nested too deeply") from None
        self._whnf[e] = result
        return result

    def fold(self, e: Expr) -> Expr | None:
        """The value of an operation of `Nat` applied to numbers, None for other terms; large numbers cost more."""
        return fold_nat(self.env, e, self.whnf, self.budget.spend)
