"""`T.below` and `T.brecOn`: course-of-values recursion over an inductive type, as definitions from its recursor.

`T.below C t` is the product of `C y` for everything `y` that is structurally smaller than `t`; `T.brecOn t F` computes
`C t` by a function `F` that may use all of that. Names, types and meaning are Lean's.
"""

from dataclasses import dataclass

from nanolean.elab.session import Session
from nanolean.kernel.declaration import DefDecl, InductiveInfo, RecInfo
from nanolean.kernel.expr import (
    App,
    Const,
    Expr,
    FVar,
    Pi,
    Proj,
    Sort,
    get_app_fn_args,
    instantiate,
    mk_app,
)
from nanolean.kernel.level import ONE, Level, LParam, Succ, mk_max
from nanolean.meta.bind import replace_fvar
from nanolean.proof_errors import ElabError


@dataclass(frozen=True)
class _Minor:
    """The opened minor premise of a constructor: ids of its binders, its fields, and for each recursive field the
    hypothesis and the term `C indices field` that it is about; `result` is what the minor premise makes."""

    ids: list[str]
    hyps: list[str]
    smaller: list[Expr]
    result: list[Expr]


class BrecOn:
    """Makes the two definitions for one type."""

    def __init__(self, session: Session, info: InductiveInfo) -> None:
        self.session = session
        self.mctx = session.mctx
        self.info = info
        rec = session.state.env[info.rec_name]
        assert isinstance(rec, RecInfo) and rec.large
        self.rec = rec
        self.motive_level: Level = LParam(_fresh("u", info.level_params))
        self.levels: tuple[Level, ...] = tuple(LParam(name) for name in info.level_params)
        self.level_params = (_fresh("u", info.level_params), *info.level_params)
        self.big = mk_max(ONE, self.motive_level)
        self.params: list[str] = []
        type_ = rec.type_at((self.motive_level, *self.levels))
        for _ in range(rec.num_params):
            assert isinstance(type_, Pi)
            param, type_ = self._open(type_, "implicit")
            self.params.append(param)
        assert isinstance(type_, Pi)
        self.motive, type_ = self._open(type_, "implicit")
        self.minors: list[_Minor] = []
        for _ in range(rec.num_minors):
            assert isinstance(type_, Pi)
            self.minors.append(self._minor(type_.type))
            type_ = instantiate(type_.body, FVar("_minor"))
        self.targets: list[str] = []
        while isinstance(type_, Pi):
            target, type_ = self._open(type_, "default")
            self.targets.append(target)

    def _open(self, type_: Pi, info: str) -> tuple[str, Expr]:
        decl = self.mctx.fresh_local(type_.name, type_.type, info=info)
        return decl.fvar_id, instantiate(type_.body, decl.fvar)

    def _minor(self, type_: Expr) -> _Minor:
        ids: list[str] = []
        hyps: list[str] = []
        smaller: list[Expr] = []
        while isinstance(type_, Pi):
            head, _ = get_app_fn_args(type_.type)
            if _is_function_into(type_.type, self.motive):
                raise ElabError(
                    f"recursion over `{self.info.name}`, whose constructors take functions, is not supported"
                )
            local, rest = self._open(type_, "default")
            if head is FVar(self.motive):
                hyps.append(local)
                smaller.append(type_.type)
            ids.append(local)
            type_ = rest
        return _Minor(ids, hyps, smaller, get_app_fn_args(type_)[1])

    # -- below ---------------------------------------------------------------------------------------------------------

    def below(self) -> DefDecl:
        """`T.below`."""
        mctx, rec = self.mctx, self.rec
        sort = Sort(self.big)
        head = mk_app(Const(rec.name, (Succ(self.big), *self.levels)), *self._fvars(self.params))
        head = App(head, mctx.mk_lambda(self.targets, sort))
        for minor in self.minors:
            products = [self._pair_type(small, FVar(hyp)) for small, hyp in zip(minor.smaller, minor.hyps)]
            ids = self._retyped(minor, sort)
            head = App(head, mctx.mk_lambda([ids.get(i, i) for i in minor.ids], _renamed(self._product(products), ids)))
        value = mk_app(head, *self._fvars(self.targets))
        ids_ = [*self.params, self.motive, *self.targets]
        name = f"{self.info.name}.below"
        return DefDecl(name, self.level_params, mctx.mk_pi(ids_, sort), mctx.mk_lambda(ids_, value), True)

    def _retyped(self, minor: _Minor, type_: Expr) -> dict[str, str]:
        """Hypotheses of another type in the place of those of a minor premise."""
        return {hyp: self.mctx.fresh_local("ih", type_).fvar_id for hyp in minor.hyps}

    def _pair_type(self, left: Expr, right: Expr) -> Expr:
        return mk_app(Const("PProd", (self.motive_level, self.big)), left, right)

    def _product(self, parts: list[Expr]) -> Expr:
        if not parts:
            return Const("PUnit", (self.big,))
        product = parts[-1]
        for part in reversed(parts[:-1]):
            product = mk_app(Const("PProd", (self.big, self.big)), part, product)
        return product

    def below_of(self, targets: list[Expr]) -> Expr:
        """`T.below C targets` for the motive that is open here."""
        fn = Const(f"{self.info.name}.below", (self.motive_level, *self.levels))
        return mk_app(fn, *self._fvars([*self.params, self.motive]), *targets)

    # -- brecOn --------------------------------------------------------------------------------------------------------

    def brec_on(self) -> DefDecl:
        """`T.brecOn`; needs `T.below`."""
        mctx = self.mctx
        targets = self._fvars(self.targets)
        result = mk_app(FVar(self.motive), *targets)
        below = mctx.fresh_local("f", self.below_of(targets))
        step = mctx.fresh_local("F_1", mctx.mk_pi([*self.targets, below.fvar_id], result))
        head = mk_app(Const(self.rec.name, (self.big, *self.levels)), *self._fvars(self.params))
        head = App(head, mctx.mk_lambda(self.targets, self._pair_type(result, self.below_of(targets))))
        for minor in self.minors:
            head = App(head, self._brec_minor(minor, step.fvar))
        pair = mk_app(head, *targets)
        ids = [*self.params, self.motive, *self.targets, step.fvar_id]
        name = f"{self.info.name}.brecOn"
        value = mctx.mk_lambda(ids, Proj("PProd", 0, pair))
        return DefDecl(name, self.level_params, mctx.mk_pi(ids, result), value, True)

    def _brec_minor(self, minor: _Minor, step: Expr) -> Expr:
        renaming: dict[str, str] = {}
        hyps: list[tuple[Expr, Expr]] = []
        for hyp, small in zip(minor.hyps, minor.smaller):
            type_ = self._pair_type(small, self.below_of(get_app_fn_args(small)[1]))
            local = self.mctx.fresh_local("ih", type_)
            renaming[hyp] = local.fvar_id
            hyps.append((local.fvar, type_))
        below = self._tuple(hyps)
        value = mk_app(step, *minor.result, below)
        types = (mk_app(FVar(self.motive), *minor.result), self.below_of(minor.result))
        pair = mk_app(Const("PProd.mk", (self.motive_level, self.big)), *types, value, below)
        return self.mctx.mk_lambda([renaming.get(i, i) for i in minor.ids], pair)

    def _tuple(self, parts: list[tuple[Expr, Expr]]) -> Expr:
        if not parts:
            return Const("PUnit.unit", (self.big,))
        value, type_ = parts[-1]
        for part, part_type in reversed(parts[:-1]):
            value = mk_app(Const("PProd.mk", (self.big, self.big)), part_type, type_, part, value)
            type_ = mk_app(Const("PProd", (self.big, self.big)), part_type, type_)
        return value

    def _fvars(self, ids: list[str]) -> list[Expr]:
        return [FVar(fvar_id) for fvar_id in ids]


def _renamed(e: Expr, ids: dict[str, str]) -> Expr:
    for old, new in ids.items():
        e = replace_fvar(e, old, FVar(new))
    return e


def _is_function_into(type_: Expr, motive: str) -> bool:
    if not isinstance(type_, Pi):
        return False
    while isinstance(type_, Pi):
        type_ = type_.body
    return get_app_fn_args(type_)[0] is FVar(motive)


def _fresh(name: str, taken: tuple[str, ...]) -> str:
    while name in taken:
        name += "_1"
    return name


def ensure_brec_on(session: Session, info: InductiveInfo) -> None:
    """Define `T.below` and `T.brecOn` if they are not there yet; raises `ElabError` where that is not possible."""
    env = session.state.env
    if f"{info.name}.brecOn" in env:
        return
    for needed in ("PProd", "PUnit"):
        if needed not in env:
            raise ElabError(f"structural recursion needs `{needed}`, which is not defined yet")
    maker = BrecOn(session, info)
    session.add_auxiliary(maker.below())
    session.add_auxiliary(maker.brec_on())
