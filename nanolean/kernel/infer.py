"""Inference and checking of types: the second layer of the type checker, above `reduce`."""

from typing import Any

from nanolean.kernel.budget import Budget, BudgetExceeded, KernelError
from nanolean.kernel.declaration import Constants, CtorInfo, InductiveInfo
from nanolean.kernel.expr import (
    App,
    Const,
    Expr,
    FVar,
    Lam,
    Let,
    Lit,
    Pi,
    Proj,
    Sort,
    abstract,
    get_app_fn_args,
    has_loose_bvar,
    instantiate,
    instantiate_rev,
)
from nanolean.kernel.level import ZERO, Level, Succ, always_equal, equiv, mk_imax
from nanolean.kernel.reduce import DEFAULT_STEPS, NAT, LocalTypes, Reducer


class Inferer(Reducer):
    """Adds `infer` (trusts the term) and `check` (trusts nothing)."""

    def __init__(self, env: Constants, lctx: LocalTypes | None = None, budget: Budget | int = DEFAULT_STEPS) -> None:
        super().__init__(env, lctx, budget)
        self._inferred: dict[Expr, Expr] = {}
        self._checked: dict[Expr, Expr] = {}

    def infer(self, e: Expr) -> Expr:
        """Infer the type of a term that is known to have one; for other terms the result is meaningless."""
        return self._type_of(e, False)

    def check(self, e: Expr) -> Expr:
        """Check all of a term and return its type; `KernelError` when it has none."""
        return self._type_of(e, True)

    def ensure_sort(self, e: Expr) -> Sort:
        """Return the term as a `Sort`, reduced if need be; `KernelError` otherwise."""
        sort = e if isinstance(e, Sort) else self.whnf(e)
        if not isinstance(sort, Sort):
            raise KernelError(f"a type is expected, got a term of type {e}")
        return sort

    def ensure_pi(self, e: Expr) -> Pi:
        """Return the term as a function type, reduced if need be; `KernelError` otherwise."""
        pi = e if isinstance(e, Pi) else self.whnf(e)
        if not isinstance(pi, Pi):
            raise KernelError(f"a function is expected, got a term of type {e}")
        return pi

    def sort_of(self, type_: Expr, check: bool = False) -> Level:
        """Return the level of the universe that a type lives in."""
        return self.ensure_sort(self._type_of(type_, check)).level

    def is_prop(self, type_: Expr) -> bool:
        """Return whether a type is a proposition to Lean's kernel: whether the level of its sort is the same as 0.

        `KernelError` where the sort does not compute to a `Sort`: it may be equal to `Prop` all the same, so that the
        type is no data (lean4#14807).
        """
        return equiv(self.sort_of(type_), ZERO)

    def is_no_data(self, type_: Expr) -> bool:
        """Return whether a type is a proposition in truth, and so holds no data."""
        return always_equal(self.sort_of(type_), ZERO)

    def _type_of(self, e: Expr, check: bool) -> Expr:
        found = self._checked.get(e)
        if found is None and not check:
            found = self._inferred.get(e)
        if found is not None:
            return found
        self.budget.spend()
        if e.loose:
            raise KernelError("the term has a loose bound variable")
        try:
            type_ = self._compute_type(e, check)
        except RecursionError:
            raise BudgetExceeded("the term is nested too deeply") from None
        (self._checked if check else self._inferred)[e] = type_
        return type_

    def _compute_type(self, e: Expr, check: bool) -> Expr:
        cls = e.__class__
        if cls is App:
            return self._type_of_app(e, check)
        if cls is FVar:
            return self._type_of_fvar(e)
        if cls is Const:
            return self._type_of_const(e)
        if cls is Lam:
            return self._type_of_lambda(e, check)
        if cls is Pi:
            return self._type_of_pi(e, check)
        match e:
            case Sort(level):
                return Sort(Succ(level))
            case Let(_, type_, value, body):
                if check:
                    self.sort_of(type_, True)
                    self._expect(value, type_, "the value of a let")
                return self._type_of(instantiate(body, value), check)
            case Lit():
                if not isinstance(self.env.get("Nat"), InductiveInfo):
                    raise KernelError("a number literal needs Nat")
                return NAT
            case Proj():
                return self._type_of_proj(e, check)
            case _:
                raise KernelError(f"the term contains a metavariable: {e}")

    def _expect(self, e: Expr, type_: Expr, what: str) -> None:
        actual = self._type_of(e, True)
        if not self.is_def_eq(actual, type_):
            raise KernelError(f"{what} has type {actual}, expected {type_}")

    def _type_of_fvar(self, e: Any) -> Expr:
        opened = self._opened_types.get(e)
        if opened is not None:
            return opened
        declared = self.lctx.get(e.id)
        if declared is None:
            raise KernelError(f"unknown free variable '{e.id}'")
        return declared[0]

    def _type_of_const(self, e: Any) -> Expr:
        info = self.env[e.name]
        if len(e.levels) != len(info.level_params):
            raise KernelError(f"'{e.name}' takes {len(info.level_params)} universe levels, got {len(e.levels)}")
        return info.type_at(e.levels)

    def _type_of_app(self, e: Expr, check: bool) -> Expr:
        fn, args = get_app_fn_args(e)
        type_: Any = self._type_of(fn, check)
        start = 0  # the arguments from here on are not yet put into `type_`
        for i, arg in enumerate(args):
            if type_.__class__ is not Pi:
                type_ = self.ensure_pi(instantiate_rev(type_, args[start:i]))
                start = i
            if check:
                self._expect(arg, instantiate_rev(type_.type, args[start:i]), "an argument")
            type_ = type_.body
        return instantiate_rev(type_, args[start:])

    def _type_of_lambda(self, e: Any, check: bool) -> Expr:
        depth = self.depth
        binders: list[Any] = []
        fvars: list[Expr] = []
        while e.__class__ is Lam:
            type_ = instantiate_rev(e.type, fvars)
            if check:
                self.sort_of(type_, True)
            fvars.append(self.open_local(type_))
            binders.append(e)
            e = e.body
        result = abstract(self._type_of(instantiate_rev(e, fvars), check), fvars)
        for binder in reversed(binders):
            result = Pi(binder.name, binder.type, result, binder.info)
        self.depth = depth
        return result

    def _type_of_pi(self, e: Any, check: bool) -> Expr:
        depth = self.depth
        levels: list[Level] = []
        fvars: list[Expr] = []
        while e.__class__ is Pi:
            type_ = instantiate_rev(e.type, fvars)
            levels.append(self.sort_of(type_, check))
            fvars.append(self.open_local(type_))
            e = e.body
        level = self.sort_of(instantiate_rev(e, fvars), check)
        for domain_level in reversed(levels):
            level = mk_imax(domain_level, level)
        self.depth = depth
        return Sort(level)

    def _type_of_proj(self, e: Any, check: bool) -> Expr:
        given_type = self._type_of(e.expr, check)
        struct_type = self.whnf(given_type)
        head, args = get_app_fn_args(struct_type)
        info = self.env.get(e.struct)
        # One constructor is all that Lean asks for: the type may have indices, and fields of its own kind; it has no
        # eta then. The type of a field speaks of the parameters and of fields before it, never of the indices.
        if not isinstance(info, InductiveInfo) or len(info.ctors) != 1:
            raise KernelError(f"a projection needs a type with one constructor, and '{e.struct}' is none")
        if not (isinstance(head, Const) and head.name == e.struct and len(args) == info.num_params + info.num_indices):
            raise KernelError(f"a projection of '{e.struct}' is applied to a term of type {struct_type}")
        ctor = self.env[info.ctors[0]]
        assert isinstance(ctor, CtorInfo)
        if e.idx >= ctor.num_fields:
            raise KernelError(f"'{e.struct}' has {ctor.num_fields} fields, there is no projection {e.idx + 1}")
        from_prop = self.is_no_data(given_type) or self.is_no_data(struct_type)
        type_: Any = instantiate_ctor(self, ctor, head, args[: info.num_params])
        for i in range(e.idx):
            if from_prop and has_loose_bvar(type_.body, 0) and not self.is_prop(type_.type):
                raise KernelError("a projection of a proposition depends on data")
            type_ = self.ensure_pi(instantiate(type_.body, Proj(e.struct, i, e.expr)))
        if from_prop and not self.is_prop(type_.type):
            raise KernelError("a projection of a proposition must be a proof")
        return type_.type


def instantiate_ctor(checker: Inferer, ctor: CtorInfo, head: Const, params: list[Expr]) -> Expr:
    """Return the type of a constructor after its parameters, as a function type of its first field if it has one."""
    type_: Any = ctor.type_at(head.levels)
    for param in params:
        type_ = instantiate(checker.ensure_pi(type_).body, param)
    return checker.ensure_pi(type_) if ctor.num_fields else type_
