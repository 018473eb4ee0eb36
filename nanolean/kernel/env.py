"""The environment: constants that the kernel has accepted. `Environment.add` is the only way in, and it checks."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace

from nanolean.kernel.budget import Budget, BudgetExceeded, KernelError
from nanolean.kernel.declaration import (
    AxiomDecl,
    AxiomInfo,
    ConstantInfo,
    Constants,
    CtorDecl,
    Declaration,
    DefDecl,
    DefInfo,
    InductiveDecl,
    InductiveInfo,
    OpaqueDecl,
    OpaqueInfo,
    QuotDecl,
    QuotInfo,
    TheoremDecl,
    TheoremInfo,
)
from nanolean.kernel.expr import Expr, collect_consts, collect_level_params_of, erase
from nanolean.kernel.inductive import FIXED_TYPES, add_inductive, quot_constants
from nanolean.kernel.level import ZERO, equiv
from nanolean.kernel.nat_ops import computes_literals
from nanolean.kernel.reduce import DEFAULT_STEPS
from nanolean.kernel.reserved import COMPUTED_NAMES, NAT_OPERATIONS, QUOTIENTS
from nanolean.kernel.typecheck import TypeChecker


class Environment(Constants):
    """A persistent set of checked constants: `add` gives a new environment and leaves the old one as it was."""

    __slots__ = ()

    def add(self, decl: Declaration, budget: Budget | int = DEFAULT_STEPS) -> "Environment":
        """Check a declaration; return the environment with it added.

        Raises `KernelError` when it is refused and `BudgetExceeded` when `budget` steps do not settle it.
        """
        try:
            return self.add_unchecked(self._checked(decl, Budget(budget) if isinstance(budget, int) else budget))
        except RecursionError:
            raise BudgetExceeded("the declaration is nested too deeply") from None

    def with_irreducible(self, name: str) -> "Environment":
        """Return the environment with the hint that definition `name` should not be unfolded; others are unchanged."""
        info = self.get(name)
        return self.add_unchecked([replace(info, irreducible=True)]) if isinstance(info, DefInfo) else self

    def _checked(self, decl: Declaration, budget: Budget) -> list[ConstantInfo]:
        match decl:
            case QuotDecl():
                infos = quot_constants(self)
            case InductiveDecl(name, level_params, _, type_, ctors):
                self._check_form(name, level_params, type_, *(ctor.type for ctor in ctors))
                infos = add_inductive(self, decl, budget)
            case AxiomDecl(name, level_params, type_):
                self._check_form(name, level_params, type_)
                TypeChecker(self, budget=budget).sort_of(erase(type_), check=True)
                infos = [AxiomInfo(name, level_params, type_)]
            case _:
                infos = [self._checked_value(decl, budget)]
        names = [info.name for info in infos]
        for i, name in enumerate(names):
            if name in self or name in names[:i]:
                raise KernelError(f"'{name}' has already been declared")
            if name in COMPUTED_NAMES and not self._may_be(name, infos[0]):
                raise KernelError(f"'{name}' is reserved for what Lean's kernel knows by this name")
        return infos

    def _may_be(self, name: str, first: ConstantInfo) -> bool:
        """Whether a name that Lean's kernel knows is declared as what it knows; `first` was declared with it."""
        if name in NAT_OPERATIONS:
            return isinstance(first, DefInfo) and first.computes_literals
        if name in QUOTIENTS:
            return isinstance(first, QuotInfo)
        return isinstance(first, InductiveInfo) and first.name == name.partition(".")[0] in FIXED_TYPES

    def _check_form(self, name: str, level_params: tuple[str, ...], *terms: Expr) -> None:
        if len(set(level_params)) != len(level_params):
            raise KernelError(f"'{name}' declares a universe parameter twice")
        for term in terms:
            if term.has_mvar:
                raise KernelError(f"'{name}' contains a metavariable")
            if term.has_fvar:
                raise KernelError(f"'{name}' contains a free variable")
            if term.loose:
                raise KernelError(f"'{name}' contains a loose bound variable")
            undeclared = collect_level_params_of(term) - set(level_params)
            if undeclared:
                raise KernelError(f"'{name}' uses undeclared universe parameters: {', '.join(sorted(undeclared))}")

    def _checked_value(self, decl: DefDecl | TheoremDecl | OpaqueDecl, budget: Budget) -> ConstantInfo:
        name, level_params, type_, value = decl.name, decl.level_params, decl.type, decl.value
        self._check_form(name, level_params, type_, value)
        checker = TypeChecker(self, budget=budget)
        level = checker.sort_of(erase(type_), check=True)
        if isinstance(decl, TheoremDecl) and not equiv(level, ZERO):
            raise KernelError(f"the type of the theorem '{name}' is not a proposition")
        actual = checker.check(erase(value))
        if not checker.is_def_eq(actual, erase(type_)):
            raise KernelError(f"'{name}' is declared with type {type_}, but its value has type {actual}")
        match decl:
            case TheoremDecl():
                return TheoremInfo(name, level_params, type_, value)
            case OpaqueDecl():
                return OpaqueInfo(name, level_params, type_, value)
            case DefDecl(reducible=reducible):
                info = DefInfo(name, level_params, type_, value, reducible=reducible, height=self._height(value))
                if name not in self and computes_literals(self.add_unchecked([info]), name):
                    info = DefInfo(name, level_params, type_, value, reducible, info.height, True)
                return info

    def _height(self, value: Expr) -> int:
        infos = [self.get(name) for name in collect_consts(value)]
        return 1 + max((info.height for info in infos if isinstance(info, DefInfo)), default=0)


def axioms_of(env: Environment, name: str) -> set[str]:
    """Return the axioms that a constant rests on, through all that it mentions; `KernelError` for an unknown name."""
    reached = {name}
    stack = [name]
    axioms = set()
    while stack:
        info = env[stack.pop()]
        if isinstance(info, AxiomInfo):
            axioms.add(info.name)
        new = info.mentions - reached
        reached |= new
        stack += new
    return axioms


HINTS = {"irreducible"}
"""Fields that mean nothing to the kernel and may change after a declaration."""


def recheck(infos: Iterable[ConstantInfo]) -> Environment:
    """Build a new environment with all of the constants, each declared and checked from nothing in the order given.

    Raises `KernelError` for the first that is refused, or that does not come out as it was claimed to be.
    """
    claimed: dict[str, ConstantInfo] = {}
    for info in infos:
        if info.name in claimed:
            raise KernelError(f"'{info.name}' has already been declared")
        claimed[info.name] = info
    env = Environment()
    for info in claimed.values():
        if info.name not in env:
            env = env.add(declaration_of(info, claimed))
        _compare(info, env[info.name])
    if len(env) != len(claimed):
        extra = [name for name in env.names() if name not in claimed]
        raise KernelError(f"constants are missing: {', '.join(extra)}")
    return env


def declaration_of(info: ConstantInfo, claimed: Mapping[str, ConstantInfo]) -> Declaration:
    """Return what has to be declared for a constant to be there; `claimed` has the constructors of a type.

    Raises KernelError for a constructor or recursor, which come with their type.
    """
    name, level_params, type_ = info.name, info.level_params, info.type
    match info:
        case AxiomInfo():
            return AxiomDecl(name, level_params, type_)
        case DefInfo():
            return DefDecl(name, level_params, type_, info.value, info.reducible)
        case TheoremInfo():
            return TheoremDecl(name, level_params, type_, info.value)
        case OpaqueInfo():
            return OpaqueDecl(name, level_params, type_, info.value)
        case InductiveInfo():
            missing = [ctor for ctor in info.ctors if ctor not in claimed]
            if missing:
                raise KernelError(f"constants are missing: {', '.join(missing)}")
            ctors = tuple(CtorDecl(ctor, claimed[ctor].type) for ctor in info.ctors)
            return InductiveDecl(name, level_params, info.num_params, type_, ctors)
        case QuotInfo():
            return QuotDecl()
        case _:
            raise KernelError(f"'{name}' comes before the type that it belongs to")


def _compare(claim: ConstantInfo, found: ConstantInfo) -> None:
    """Whether a constant is what it was claimed to be in everything that the kernel looks at."""
    names = [field.name for field in fields(found) if field.init and field.name not in HINTS]
    if claim.kind != found.kind or any(getattr(claim, name) != getattr(found, name) for name in names):
        raise KernelError(f"'{claim.name}' is not what it is claimed to be")
