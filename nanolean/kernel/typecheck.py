"""Definitional equality: the third layer, which completes the `TypeChecker`.

Two terms are equal when they have the same normal form by beta, delta, iota, zeta and eta (for functions and
structures), when both are proofs of one proposition, or when both are elements of a structure without fields.
"""

from typing import Any

from nanolean.kernel.budget import Budget, BudgetExceeded
from nanolean.kernel.declaration import Constants, CtorInfo, DefInfo, InductiveInfo, TheoremInfo
from nanolean.kernel.expr import (
    App,
    BVar,
    Const,
    Expr,
    FVar,
    Lam,
    Lit,
    Pi,
    Proj,
    Sort,
    erase,
    get_app_fn,
    get_app_fn_args,
    instantiate_rev,
)
from nanolean.kernel.infer import Inferer
from nanolean.kernel.level import equiv
from nanolean.kernel.reduce import DEFAULT_STEPS, LocalTypes, add_offset, ctor_of, nat_offset, unfold_app

NO_VALUE = -1
"""The height of what does not unfold."""


class TypeChecker(Inferer):
    """Infers, checks, reduces and compares terms; keep one as long as environment and local context stay the same.

    Raises `KernelError` for terms it refuses and `BudgetExceeded` when `budget` steps were not enough.
    """

    def __init__(self, env: Constants, lctx: LocalTypes | None = None, budget: Budget | int = DEFAULT_STEPS) -> None:
        super().__init__(env, lctx, budget)
        self._verdicts: dict[tuple[Expr, Expr], bool] = {}

    def is_def_eq(self, a: Expr, b: Expr) -> bool:
        """Definitional equality of two terms that are known to have types."""
        if a is b or erase(a) is erase(b):
            return True
        found = self._verdicts.get((a, b))
        if found is not None:
            return found
        self.budget.spend()
        try:
            verdict = self._compare(a, b)
        except RecursionError:
            raise BudgetExceeded("the comparison is nested too deeply") from None
        self._verdicts[a, b] = self._verdicts[b, a] = verdict
        return verdict

    def _compare(self, a: Expr, b: Expr) -> bool:
        quick = self._compare_quickly(a, b)
        if quick is not None:
            return quick
        a_core, b_core = self.whnf_core(a), self.whnf_core(b)
        if a_core is not a or b_core is not b:
            return self.is_def_eq(a_core, b_core)
        if self._are_equal_proofs(a, b):
            return True
        return self._compare_by_unfolding(a, b)

    def _compare_quickly(self, a: Any, b: Any) -> bool | None:
        """The verdict where the outermost nodes decide it, None where more work is needed."""
        cls = a.__class__
        if cls is not b.__class__:
            return None
        if cls is Pi or cls is Lam:
            return self._compare_binders(a, b)
        if cls is Sort:
            return equiv(a.level, b.level)
        if cls is Lit:
            return False
        return None

    def _compare_binders(self, a: Any, b: Any) -> bool:
        depth, cls = self.depth, a.__class__
        fvars: list[Expr] = []
        verdict = True
        while a.__class__ is cls and b.__class__ is cls:
            type_ = instantiate_rev(a.type, fvars)
            if a.type is not b.type and not self.is_def_eq(type_, instantiate_rev(b.type, fvars)):
                verdict = False
                break
            fvars.append(self.open_local(type_))
            a, b = a.body, b.body
        verdict = verdict and self.is_def_eq(instantiate_rev(a, fvars), instantiate_rev(b, fvars))
        self.depth = depth
        return verdict

    def _are_equal_proofs(self, a: Expr, b: Expr) -> bool:
        if a.__class__ is Sort or a.__class__ is Pi or a.__class__ is Lit:
            return False
        a_type = self.infer(a)
        return self.is_prop(a_type) and self.is_def_eq(a_type, self.infer(b))

    def _compare_by_unfolding(self, a: Expr, b: Expr) -> bool:
        """Unfold the higher definition at the heads, until the terms meet or nothing is left to unfold."""
        env = self.env
        while True:
            verdict = self._compare_offsets(a, b)
            if verdict is not None:
                return verdict
            a_value, b_value = self.fold(a), self.fold(b)
            if a_value is not None or b_value is not None:
                return self.is_def_eq(a_value or a, b_value or b)
            a_height, b_height = self._height(a), self._height(b)
            if a_height == b_height == NO_VALUE:
                return self._compare_stuck(a, b)
            if a_height == b_height and self._same_head(a, b) and self._compare_args(a, b):
                return True
            if a_height >= b_height:
                a = self.whnf_core(unfold_app(env, a) or a)
            if b_height >= a_height:
                b = self.whnf_core(unfold_app(env, b) or b)
            if a is b or erase(a) is erase(b):
                return True
            found = self._verdicts.get((a, b))
            if found is None:
                found = self._compare_quickly(a, b)
            if found is not None:
                return found
            self.budget.spend()

    def _compare_offsets(self, a: Expr, b: Expr) -> bool | None:
        """Numbers without the successors that both have; None where this leads nowhere."""
        env = self.env
        peeled = False
        while True:
            a_base, a_offset = nat_offset(env, a)
            b_base, b_offset = nat_offset(env, b)
            if a_base is None and b_base is None:
                return a_offset == b_offset
            if (a_base is None and a_offset < b_offset) or (b_base is None and b_offset < a_offset):
                return False
            common = min(a_offset, b_offset)
            if common == 0:
                return self.is_def_eq(a, b) if peeled else None
            # A recursor on 20,000 brings its successors to light one at a time: a loop takes no stack for them.
            peeled = True
            a = self.whnf_core(add_offset(env, a_base, a_offset - common))
            b = self.whnf_core(add_offset(env, b_base, b_offset - common))
            if a is b:
                return True
            self.budget.spend()

    def _height(self, e: Expr) -> int:
        """The height of the definition at the head of a term, 0 for a theorem, `NO_VALUE` for what does not unfold."""
        head: Any = get_app_fn(e)
        if head.__class__ is Const:
            info: Any = self.env.get(head.name)
            if info.__class__ is DefInfo and len(head.levels) == len(info.level_params):
                return int(info.height)
            if info.__class__ is TheoremInfo and len(head.levels) == len(info.level_params):
                return 0  # Lean unfolds definitions first
        return NO_VALUE

    def _same_head(self, a: Expr, b: Expr) -> bool:
        a_head: Any = get_app_fn(a)
        b_head: Any = get_app_fn(b)
        if a_head is b_head:
            return a.__class__ is App
        return a_head.name == b_head.name and all(map(equiv, a_head.levels, b_head.levels))

    def _compare_args(self, a: Any, b: Any) -> bool:
        """Whether two applications have as many arguments and these are equal one by one."""
        pairs = []
        while a.__class__ is App and b.__class__ is App:
            if a.arg is not b.arg:
                pairs.append((a.arg, b.arg))
            a, b = a.fn, b.fn
        if a.__class__ is App or b.__class__ is App:
            return False
        for a_arg, b_arg in reversed(pairs):  # noqa: SIM110 (a generator would recurse on the C stack)
            if not self.is_def_eq(a_arg, b_arg):
                return False
        return True

    def _compare_stuck(self, a: Any, b: Any) -> bool:
        """Compare two terms whose heads cannot be computed any further."""
        cls = a.__class__
        if cls is b.__class__:
            if cls is Const and a.name == b.name:
                return len(a.levels) == len(b.levels) and all(map(equiv, a.levels, b.levels))
            if cls is Proj and a.idx == b.idx and a.struct == b.struct and self.is_def_eq(a.expr, b.expr):
                return True
            if cls is App:
                a_head, b_head = get_app_fn(a), get_app_fn(b)
                if a_head.__class__ is b_head.__class__ and a_head.__class__ is not App:
                    same = a_head is b_head or self._compare_heads(a_head, b_head)
                    if same and self._compare_args(a, b):
                        return True
        return (
            self._equal_by_eta(a, b)
            or self._equal_by_eta(b, a)
            or self._equal_by_struct_eta(a, b)
            or self._equal_by_struct_eta(b, a)
            or self._equal_units(a, b)
        )

    def _compare_heads(self, a: Any, b: Any) -> bool:
        if a.__class__ is Const:
            return a.name == b.name and len(a.levels) == len(b.levels) and all(map(equiv, a.levels, b.levels))
        return a.__class__ is not FVar and self.is_def_eq(a, b)

    def _equal_by_eta(self, a: Expr, b: Expr) -> bool:
        """`fun x => f x` against `f`."""
        if a.__class__ is not Lam or b.__class__ is Lam:
            return False
        type_ = self.whnf(self.infer(b))
        if not isinstance(type_, Pi):
            return False
        return self.is_def_eq(a, Lam(type_.name, type_.type, App(b, BVar(0)), type_.info))

    def _equal_by_struct_eta(self, a: Expr, b: Expr) -> bool:
        """`s` against `mk s.1 s.2`."""
        ctor = ctor_of(self.env, b)
        if ctor is None:
            return False
        induct = self.env[ctor.induct]
        args = get_app_fn_args(b)[1]
        if not (isinstance(induct, InductiveInfo) and induct.is_structure):
            return False
        if len(args) != ctor.num_params + ctor.num_fields or not self.is_def_eq(self.infer(a), self.infer(b)):
            return False
        for i in range(ctor.num_fields):  # noqa: SIM110 (a generator would recurse on the C stack)
            if not self.is_def_eq(Proj(ctor.induct, i, a), args[ctor.num_params + i]):
                return False
        return True

    def _equal_units(self, a: Expr, b: Expr) -> bool:
        """Two elements of one structure that has no fields."""
        a_type = self.whnf(self.infer(a))
        head = get_app_fn(a_type)
        info = self.env.get(head.name) if isinstance(head, Const) else None
        if not (isinstance(info, InductiveInfo) and info.is_structure):
            return False
        ctor = self.env[info.ctors[0]]
        return isinstance(ctor, CtorInfo) and ctor.num_fields == 0 and self.is_def_eq(a_type, self.infer(b))
