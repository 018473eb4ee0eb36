"""Inductive types: what is accepted, and the recursor that comes with it.

One type at a time (not mutual), and not nested: a constructor may take the type itself, or functions into it, but not
the type inside of another type. Names and binders of recursors are those that Lean gives them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nanolean.kernel.budget import Budget, KernelError
from nanolean.kernel.declaration import (
    ConstantInfo,
    Constants,
    CtorDecl,
    CtorInfo,
    InductiveDecl,
    InductiveInfo,
    QuotInfo,
    RecInfo,
    RecRule,
)
from nanolean.kernel.expr import (
    PROP,
    TYPE,
    Const,
    Expr,
    FVar,
    Local,
    Pi,
    Sort,
    abstract,
    alpha_eq,
    arrow,
    children,
    collect_consts,
    get_app_fn_args,
    instantiate,
    mk_app,
    mk_lambda,
    mk_pi,
)
from nanolean.kernel.level import ZERO, Level, LParam, always_equal, equiv, is_never_zero, leq
from nanolean.kernel.typecheck import TypeChecker

_U, _V = LParam("u"), LParam("v")


def _implicit(name: str, type_: Expr) -> Local:
    return Local(FVar(name), name, type_, "implicit")


def _explicit(name: str, type_: Expr) -> Local:
    return Local(FVar(name), name, type_)


def _check_eq(env: Constants) -> None:
    """`Eq` must be the equality that `Quot.lift` speaks of."""
    eq, refl = env.get("Eq"), env.get("Eq.refl")
    if isinstance(eq, InductiveInfo) and eq.ctors == ("Eq.refl",) and refl is not None and len(eq.level_params) == 1:
        alpha, a = _implicit("α", Sort(LParam(eq.level_params[0]))), _explicit("a", FVar("α"))
        type_ = mk_pi([alpha], arrow(alpha.fvar, arrow(alpha.fvar, PROP)))
        refl_type = mk_pi([alpha, a], mk_app(eq.as_const(), alpha.fvar, a.fvar, a.fvar))
        if alpha_eq(eq.type, type_) and alpha_eq(refl.type, refl_type):
            return
    raise KernelError("quotients need the inductive type Eq")


def quot_constants(env: Constants) -> list[ConstantInfo]:
    """`Quot`, `Quot.mk`, `Quot.lift` and `Quot.ind`; `KernelError` when `Eq` is not there."""
    _check_eq(env)
    alpha = _implicit("α", Sort(_U))
    relation = arrow(alpha.fvar, arrow(alpha.fvar, PROP))
    r, r_implicit = _explicit("r", relation), _implicit("r", relation)
    quot = mk_app(Const("Quot", (_U,)), alpha.fvar, r.fvar)
    beta_ = _implicit("β", Sort(_V))
    f = _explicit("f", arrow(alpha.fvar, beta_.fvar))
    a, b = _explicit("a", alpha.fvar), _explicit("b", alpha.fvar)
    equal = mk_app(Const("Eq", (_V,)), beta_.fvar, mk_app(f.fvar, a.fvar), mk_app(f.fvar, b.fvar))
    respects = mk_pi([a, b], arrow(mk_app(r.fvar, a.fvar, b.fvar), equal))
    make = mk_app(Const("Quot.mk", (_U,)), alpha.fvar, r.fvar, a.fvar)
    motive = _implicit("β", arrow(quot, PROP))
    q = _explicit("q", quot)
    types: list[tuple[str, tuple[str, ...], Expr]] = [
        ("Quot", ("u",), mk_pi([alpha, r], Sort(_U))),
        ("Quot.mk", ("u",), mk_pi([alpha, r, a], quot)),
        ("Quot.lift", ("u", "v"), mk_pi([alpha, r_implicit, beta_, f], arrow(respects, arrow(quot, beta_.fvar)))),
        (
            "Quot.ind",
            ("u",),
            mk_pi(
                [alpha, r_implicit, motive],
                Pi("mk", mk_pi([a], mk_app(motive.fvar, make)), mk_pi([q], mk_app(motive.fvar, q.fvar))),
            ),
        ),
    ]
    return [QuotInfo(name, level_params, type_) for name, level_params, type_ in types]


_NAT = Const("Nat")
_BOOL = Const("Bool")
FIXED_TYPES = {
    "Nat": (CtorDecl("Nat.zero", _NAT), CtorDecl("Nat.succ", arrow(_NAT, _NAT))),
    "Bool": (CtorDecl("Bool.false", _BOOL), CtorDecl("Bool.true", _BOOL)),
}
"""Types that the kernel itself computes with have these constructors and no others."""


@dataclass
class _Ctor:
    """A constructor, opened: its fields as variables, and which of them are recursive."""

    name: str
    type: Expr
    fields: list[Local]
    result_indices: list[Expr]
    recursive: list["_Recursive"]


@dataclass
class _Recursive:
    """A recursive field `field : (xs...) → I params indices`."""

    field: Local
    domains: list[Local]
    indices: list[Expr]


class _Builder:
    """The state of adding one inductive type.

    The depth of the checker only grows here, so that all variables that are opened are different.
    """

    def __init__(self, env: Constants, decl: InductiveDecl, budget: Budget) -> None:
        self.decl = decl
        self.levels: tuple[Level, ...] = tuple(LParam(name) for name in decl.level_params)
        self.const = Const(decl.name, self.levels)
        self.params: list[Local] = []
        self.indices: list[Local] = []
        self.checker = TypeChecker(env, budget=budget)
        self.checker.sort_of(decl.type, check=True)
        self.level = self._open_type()
        provisional = self._info(False, ())
        self.checker = TypeChecker(env.add_unchecked([provisional]), budget=budget)
        self._reopen()
        self.ctors = [self._open_ctor(ctor) for ctor in decl.ctors]

    def _info(self, is_recursive: bool, ctors: tuple[str, ...]) -> InductiveInfo:
        decl = self.decl
        return InductiveInfo(
            decl.name,
            decl.level_params,
            decl.type,
            num_params=decl.num_params,
            num_indices=len(self.indices),
            ctors=ctors,
            rec_name=f"{decl.name}.rec",
            is_recursive=is_recursive,
            is_structure=len(ctors) == 1 and not self.indices and not is_recursive,
            is_prop=always_equal(self.level, ZERO),
        )

    def _open_pi(self, type_: Any) -> tuple[Local, Expr]:
        """The variable of a function type and the rest of the type."""
        fvar = self.checker.open_local(type_.type)
        return Local(fvar, type_.name, type_.type, type_.info), instantiate(type_.body, fvar)

    def _open_type(self) -> Level:
        """Split the type into parameters, indices and the level of its universe."""
        type_ = self.decl.type
        while isinstance(type_, Pi):
            local, type_ = self._open_pi(type_)
            (self.params if len(self.params) < self.decl.num_params else self.indices).append(local)
        if len(self.params) < self.decl.num_params:
            raise KernelError(f"'{self.decl.name}' has fewer arguments than its {self.decl.num_params} parameters")
        return self.checker.ensure_sort(type_).level

    def _reopen(self) -> None:
        """Open the type again with the variables of the checker that knows it."""
        self.params, self.indices = [], []
        self._open_type()

    def _open_ctor(self, ctor: CtorDecl) -> _Ctor:
        """Check a constructor: parameters, universes of its fields, positivity, and the type that it makes."""
        checker = self.checker
        checker.sort_of(ctor.type, check=True)
        type_: Expr = ctor.type
        for param in self.params:
            if not isinstance(type_, Pi) or not checker.is_def_eq(type_.type, param.type):
                raise KernelError(f"'{ctor.name}' must begin with the parameters of '{self.decl.name}'")
            type_ = instantiate(type_.body, param.fvar)
        self._check_occurrences(ctor, type_)
        fields: list[Local] = []
        recursive: list[_Recursive] = []
        while isinstance(type_, Pi):
            self._check_field_universe(ctor, type_.type)
            field, type_ = self._open_pi(type_)
            fields.append(field)
            occurrence = self._recursive_field(ctor, field)
            if occurrence is not None:
                recursive.append(occurrence)
        indices = self._indices_of(type_)
        if indices is None:
            raise KernelError(f"'{ctor.name}' must make '{self.decl.name}' with its own parameters")
        return _Ctor(ctor.name, ctor.type, fields, indices, recursive)

    def _check_occurrences(self, ctor: CtorDecl, type_: Expr) -> None:
        """Lean wants the type at its own levels and parameters wherever it is written, also where it vanishes."""
        own = [param.fvar for param in self.params]
        stack, seen = [type_], set[Expr]()
        while stack:
            e = stack.pop()
            if e in seen:
                continue
            seen.add(e)
            head, args = get_app_fn_args(e)
            if isinstance(head, Const):
                if head.name == self.decl.name and (head is not self.const or args[: len(own)] != own):
                    raise KernelError(f"'{ctor.name}' mentions '{self.decl.name}' at other parameters or levels")
                stack += args
            else:
                stack += children(e)

    def _check_field_universe(self, ctor: CtorDecl, type_: Expr) -> None:
        level = self.checker.sort_of(type_)
        if not equiv(self.level, ZERO) and not leq(level, self.level):
            raise KernelError(f"a field of '{ctor.name}' lives in universe {level}, above {self.level} of the type")

    def _mentions_type(self, e: Expr) -> bool:
        return self.decl.name in collect_consts(e)

    def _indices_of(self, e: Expr) -> list[Expr] | None:
        """The indices of `I params indices`, None for a term of any other form."""
        head, args = get_app_fn_args(e)
        count = len(self.params)
        if head is not self.const or len(args) != count + len(self.indices):
            return None
        if any(arg is not param.fvar for arg, param in zip(args, self.params)):
            return None
        if any(self._mentions_type(arg) for arg in args):
            return None
        return args[count:]

    def _recursive_field(self, ctor: CtorDecl, field: Local) -> _Recursive | None:
        """Check that the type occurs strictly positively in a field, and open the field if it is recursive."""
        checker = self.checker
        type_ = field.type
        domains: list[Local] = []
        while True:
            type_ = checker.whnf(type_)
            if not self._mentions_type(type_):
                return None
            if not isinstance(type_, Pi):
                break
            if self._mentions_type(type_.type):
                raise KernelError(f"'{ctor.name}' has a non positive occurrence of '{self.decl.name}'")
            domain, type_ = self._open_pi(type_)
            domains.append(domain)
        indices = self._indices_of(type_)
        if indices is None:
            raise KernelError(f"'{ctor.name}' has an occurrence of '{self.decl.name}' that is not valid")
        return _Recursive(field, domains, indices)

    def _eliminates_into_types(self) -> bool:
        """Whether the recursor may make data: not from a proposition that hides which constructor or field made it."""
        if is_never_zero(self.level) or not self.ctors:
            return True
        if len(self.ctors) > 1:
            return False
        only = self.ctors[0]
        return all(self.checker.is_prop(field.type) or field.fvar in only.result_indices for field in only.fields)

    def infos(self) -> list[ConstantInfo]:
        """Return the type, its constructors and its recursor."""
        decl = self.decl
        # Lean looks at the text of the fields: one that mentions the type in vain makes it recursive, without eta.
        recursive = any(self._mentions_type(domain) for ctor in self.ctors for domain in _domains(ctor.type))
        infos: list[ConstantInfo] = [self._info(recursive, tuple(ctor.name for ctor in self.ctors))]
        for idx, ctor in enumerate(self.ctors):
            infos.append(
                CtorInfo(
                    ctor.name,
                    decl.level_params,
                    ctor.type,
                    induct=decl.name,
                    idx=idx,
                    num_params=decl.num_params,
                    num_fields=len(ctor.fields),
                )
            )
        recursor = _recursor(self)
        # Lean's kernel checks it too, and does not find all equal levels in it that are there.
        env = self.checker.env.add_unchecked(infos)
        TypeChecker(env, budget=self.checker.budget).sort_of(recursor.type, check=True)
        return [*infos, recursor]

    def elim_level(self) -> Level:
        """Return the universe that the recursor makes elements of: a new parameter, or `Prop`."""
        if not self._eliminates_into_types():
            return ZERO
        name, number = "u", 0
        while name in self.decl.level_params:
            number += 1
            name = f"u_{number}"
        return LParam(name)


def _domains(type_: Any) -> Iterator[Expr]:
    """The types of the arguments of a function type, as they are written."""
    while isinstance(type_, Pi):
        yield type_.type
        type_ = type_.body


def _recursor(builder: _Builder) -> RecInfo:
    decl, params, indices = builder.decl, builder.params, builder.indices
    checker = builder.checker
    level = builder.elim_level()
    level_params = (level.name, *decl.level_params) if isinstance(level, LParam) else decl.level_params
    applied = mk_app(builder.const, *[local.fvar for local in (*params, *indices)])
    major = Local(checker.open_local(applied), "t", applied)
    motive_type = mk_pi([*map(_as_explicit, indices), major], Sort(level))
    info = "implicit" if builder.ctors else "default"  # without minor premises nothing determines the motive
    motive = Local(checker.open_local(motive_type), "motive", motive_type, info)
    minors = []
    for ctor in builder.ctors:
        type_ = _minor_type(builder, ctor, motive.fvar)
        minors.append(Local(checker.open_local(type_), ctor.name.rpartition(".")[2], type_))
    result = mk_app(motive.fvar, *[local.fvar for local in (*indices, major)])
    binders = [*map(_as_implicit, params), motive, *minors, *map(_as_implicit, indices), major]
    type_ = mk_pi(binders, result)
    shared = [local.fvar for local in (*params, motive, *minors)]
    rec = Const(f"{decl.name}.rec", tuple(LParam(name) for name in level_params))
    rules = tuple(
        RecRule(ctor.name, len(ctor.fields), _rule_rhs(rec, ctor, minor.fvar, shared))
        for ctor, minor in zip(builder.ctors, minors)
    )
    return RecInfo(
        rec.name,
        level_params,
        type_,
        induct=decl.name,
        num_params=len(params),
        num_motives=1,
        num_minors=len(minors),
        num_indices=len(indices),
        rules=rules,
        k=equiv(builder.level, ZERO) and len(builder.ctors) == 1 and not builder.ctors[0].fields,
        large=isinstance(level, LParam),
    )


def _as_explicit(local: Local) -> Local:
    return local._replace(info="default")


def _as_implicit(local: Local) -> Local:
    return local._replace(info="implicit")


def _minor_type(builder: _Builder, ctor: _Ctor, motive: Expr) -> Expr:
    """`(fields...) → (induction hypotheses...) → motive indices (ctor params fields)`."""
    params = [local.fvar for local in builder.params]
    fields = [field.fvar for field in ctor.fields]
    hypotheses = []
    for occurrence in ctor.recursive:
        value = mk_app(occurrence.field.fvar, *[local.fvar for local in occurrence.domains])
        type_ = mk_pi(occurrence.domains, mk_app(motive, *occurrence.indices, value))
        name = f"{occurrence.field.name}_ih"
        hypotheses.append(Local(builder.checker.open_local(type_), name, type_))
    made = mk_app(Const(ctor.name, builder.levels), *params, *fields)
    return mk_pi([*ctor.fields, *hypotheses], mk_app(motive, *ctor.result_indices, made))


def _rule_rhs(rec: Const, ctor: _Ctor, minor: Expr, shared: list[Expr]) -> Expr:
    """`minor fields (recursive calls...)` with the shared variables and the fields as loose indices."""
    fields = [field.fvar for field in ctor.fields]
    calls = []
    for occurrence in ctor.recursive:
        value = mk_app(occurrence.field.fvar, *[local.fvar for local in occurrence.domains])
        calls.append(mk_lambda(occurrence.domains, mk_app(rec, *shared, *occurrence.indices, value)))
    return abstract(mk_app(minor, *fields, *calls), [*shared, *fields])


def add_inductive(env: Constants, decl: InductiveDecl, budget: Budget) -> list[ConstantInfo]:
    """Check the declaration and make its constants; its form is checked before."""
    if decl.num_params < 0:
        raise KernelError(f"'{decl.name}' cannot have {decl.num_params} parameters")
    fixed = FIXED_TYPES.get(decl.name)
    if fixed is not None and (
        decl.level_params or decl.num_params or decl.type is not TYPE or not _same_ctors(decl.ctors, fixed)
    ):
        raise KernelError(f"'{decl.name}' must have exactly the constructors {', '.join(c.name for c in fixed)}")
    return _Builder(env, decl, budget).infos()


def _same_ctors(given: tuple[CtorDecl, ...], wanted: tuple[CtorDecl, ...]) -> bool:
    return len(given) == len(wanted) and all(
        name == wanted_name and alpha_eq(type_, wanted_type)
        for (name, type_), (wanted_name, wanted_type) in zip(given, wanted)
    )
