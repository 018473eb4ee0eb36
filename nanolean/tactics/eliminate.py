"""Applying the recursor of an inductive type to a local: what `cases` and `induction` have in common.

`Major` describes the local that is taken apart. `apply_recursor` assigns the goal and returns one `Branch` for each
constructor, whose goal has the constructor's fields (and induction hypotheses) in its context. Numbers appear as
`0` and `n + 1` in the new goals, never as constructor applications.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from nanolean.kernel.declaration import CtorInfo, InductiveInfo, RecInfo
from nanolean.kernel.expr import (
    App,
    Const,
    Expr,
    FVar,
    Lam,
    Lit,
    MVar,
    Pi,
    get_app_fn_args,
    instantiate,
    instantiate_rev,
    mk_app,
    replace,
)
from nanolean.kernel.level import ZERO, Level
from nanolean.kernel.reduce import beta
from nanolean.meta.lctx import LocalContext, inaccessible
from nanolean.meta.mctx import MetaContext
from nanolean.meta.reduce import mk_offset
from nanolean.proof_errors import TacticError
from nanolean.tactics.goals import append_tag, binder_local_name, new_goal

CASES_MOTIVE = inaccessible("cases")
"""The name of the last variable of the motive where `cases` applies a recursor; no source text can write it."""


@dataclass(frozen=True)
class Major:
    """A local `fvar : I params indices` of an inductive type `I`."""

    fvar: FVar
    info: InductiveInfo
    rec: RecInfo
    levels: tuple[Level, ...]
    params: tuple[Expr, ...]
    indices: tuple[Expr, ...]


@dataclass
class Branch:
    """The goal for one constructor. `fields` and `hyps` are ids of locals in its context; `explicit` tells which of
    them source text names (implicit fields are skipped unless `@` is written)."""

    ctor: str
    goal: str
    fields: list[str]
    hyps: list[str]
    explicit: list[bool] = field(default_factory=list)
    renaming: dict[str, str] = field(default_factory=dict)
    """Ids of locals before -> ids of the locals that took their places."""

    @property
    def short_name(self) -> str:
        """The constructor's name without its namespace: the case tag."""
        return self.ctor.rsplit(".", 1)[-1]


def inductive_type(mctx: MetaContext, type_: Expr) -> tuple[InductiveInfo, tuple[Level, ...], list[Expr]] | None:
    """Inductive type, levels and arguments of a type, after reduction; None if it is not an inductive type."""
    for candidate in (mctx.instantiate(type_), None):
        if candidate is None:
            candidate = mctx.whnf(type_, "default")
        fn, args = get_app_fn_args(candidate)
        if isinstance(fn, Const):
            info = mctx.env.get(fn.name)
            if isinstance(info, InductiveInfo) and len(args) == info.num_params + info.num_indices:
                return info, fn.levels, args
    return None


def as_major(mctx: MetaContext, fvar: FVar) -> Major:
    """Return the local with its inductive type; refused when its type is not inductive."""
    type_ = mctx.infer_type(fvar)
    inductive = inductive_type(mctx, type_)
    if inductive is None:
        raise TacticError("target is not an inductive datatype")
    info, levels, args = inductive
    rec = mctx.env[info.rec_name]
    assert isinstance(rec, RecInfo)
    return Major(fvar, info, rec, levels, tuple(args[: info.num_params]), tuple(args[info.num_params :]))


def display_ctor(ctor: CtorInfo, levels: tuple[Level, ...], params: Sequence[Expr], fields: Sequence[Expr]) -> Expr:
    """Return the constructor application as goals show it: `0`, `n + 1`, else the application itself."""
    if ctor.name == "Nat.zero":
        return Lit(0)
    if ctor.name == "Nat.succ":
        return mk_offset(fields[0], 1)
    return mk_app(Const(ctor.name, levels), *params, *fields)


def tidy_numbers(e: Expr) -> Expr:
    """Write `Nat.succ n` and `Nat.zero` in the term as `n + 1` and `0`."""

    def visit(node: Expr) -> Expr | None:
        if isinstance(node, App) and isinstance(node.fn, Const) and node.fn.name == "Nat.succ":
            return mk_offset(tidy_numbers(node.arg), 1)
        if isinstance(node, Const) and node.name == "Nat.zero":
            return Lit(0)
        return None

    return replace(e, visit)


def apply_recursor(
    mctx: MetaContext,
    goal: str,
    major: Major,
    lctx: LocalContext,
    target: Callable[[Sequence[Expr], Expr], Expr],
    induction: bool,
    after: Sequence[Expr] = (),
) -> list[Branch]:
    """Assign `goal` to `rec .. major`; `target(indices, value)` is the goal's type for other indices and value.

    Where it is a function into the goal's type, `after` holds the arguments.

    The new goals live in `lctx` followed by the fields (and the induction hypotheses when `induction`).
    """
    motive_level = mctx.sort_level(mctx.decl(goal).type)
    if motive_level is None:
        raise TacticError("the goal is not a type")
    # The kernel's rule of large elimination: which constructor made a proof must not decide what data is.
    if not major.rec.large and motive_level is not ZERO:
        raise TacticError(f"can only eliminate `{major.info.name}` into propositions")
    value_name = "t" if induction else CASES_MOTIVE
    motive = _motive(mctx, major, target, value_name)
    levels = major.levels
    if major.rec.large:  # only then the recursor has a parameter for the universe of the motive
        levels = (motive_level, *levels)
    head = mk_app(Const(major.rec.name, levels), *major.params, motive)
    rec_type = mctx.env[major.rec.name].type_at(levels)
    rec_type = apply_type(rec_type, [*major.params, motive])
    minors: list[Expr] = []
    branches: list[Branch] = []
    for ctor_name in major.info.ctors:
        assert isinstance(rec_type, Pi)
        branch, minor = _minor(mctx, goal, major, ctor_name, rec_type.type, lctx, target, induction)
        minors.append(minor)
        branches.append(branch)
        rec_type = instantiate(rec_type.body, minor)
    mctx.assign(goal, mk_app(head, *minors, *major.indices, major.fvar, *after))
    return branches


def apply_type(type_: Expr, args: Sequence[Expr]) -> Expr:
    """Return the type of a function after it has been applied to the arguments, with a motive left uncomputed."""
    for i, _ in enumerate(args):
        assert isinstance(type_, Pi), f"argument {i} of a constant that takes fewer"
        type_ = type_.body
    return instantiate_rev(type_, args)


def _motive(mctx: MetaContext, major: Major, target: Callable[[Sequence[Expr], Expr], Expr], name: str) -> Expr:
    """`fun indices value => target indices value`; `name` is that of `value`."""
    type_: Expr = mctx.env[major.info.name].type_at(major.levels)
    type_ = apply_type(type_, major.params)
    ids: list[str] = []
    indices: list[Expr] = []
    while isinstance(type_, Pi):
        local = mctx.fresh_local(type_.name, type_.type)
        ids.append(local.fvar_id)
        indices.append(local.fvar)
        type_ = instantiate(type_.body, local.fvar)
    value_type = mk_app(Const(major.info.name, major.levels), *major.params, *indices)
    value = mctx.fresh_local(name, value_type)
    return mctx.mk_lambda([*ids, value.fvar_id], target(indices, value.fvar))


def _minor(
    mctx: MetaContext,
    goal: str,
    major: Major,
    ctor_name: str,
    minor_type: Expr,
    lctx: LocalContext,
    target: Callable[[Sequence[Expr], Expr], Expr],
    induction: bool,
) -> tuple[Branch, Expr]:
    """The branch of one constructor, and the minor premise that stands for its goal."""
    ctor = mctx.env[ctor_name]
    assert isinstance(ctor, CtorInfo)
    fields: list[str] = []
    hyps: list[str] = []
    explicit: list[bool] = []
    while isinstance(minor_type, Pi):
        is_field = len(fields) < ctor.num_fields
        type_ = beta_reduce(minor_type.type)
        name = minor_type.name if is_field or minor_type.name not in ("", "_") else "ih"
        local = mctx.fresh_local(_hyp_name(major, name, is_field), type_)
        (fields if is_field else hyps).append(local.fvar_id)
        explicit.append(minor_type.info in ("default", ""))
        # `cases` is the same recursor, whose induction hypotheses nobody sees.
        if is_field or induction:
            lctx = lctx.add(local)
        minor_type = instantiate(minor_type.body, local.fvar)
    _, motive_args = get_app_fn_args(minor_type)
    indices = motive_args[: major.info.num_indices]
    value = display_ctor(ctor, major.levels, major.params, [FVar(i) for i in fields])
    tag = append_tag(mctx.decl(goal).user_name, ctor_name.rsplit(".", 1)[-1])
    new = new_goal(mctx, target(indices, value), lctx, tag)
    minor = mctx.mk_lambda([*fields, *hyps], MVar(new))
    if not induction:
        hyps = []
    return Branch(ctor_name, new, fields, hyps, explicit[: len(fields) + len(hyps)]), minor


def _hyp_name(major: Major, name: str, is_field: bool) -> str:
    # `induction` on `Nat` uses `Nat.rec` with `n + 1` in Lean (`induction_eliminator`), whose hypothesis has no name.
    if not is_field and major.info.name == "Nat":
        return binder_local_name("a")
    return binder_local_name(name)


def beta_reduce(e: Expr) -> Expr:
    """Contract every applied function of the term."""

    def visit(node: Expr) -> Expr | None:
        if isinstance(node, App):
            fn, args = get_app_fn_args(node)
            if isinstance(fn, Lam):
                return beta_reduce(beta(fn, args))
        return None

    return replace(e, visit)
