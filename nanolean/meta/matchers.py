"""Matchers, the functions that `match` expressions apply, and unfolding recursive definitions by equations."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from nanolean.kernel.declaration import ConstantInfo, Constants, CtorInfo, DefInfo, TheoremInfo
from nanolean.kernel.expr import (
    PROP,
    BVar,
    Const,
    Expr,
    FVar,
    Lam,
    Lit,
    Pi,
    Proj,
    Sort,
    collect_consts,
    get_app_fn_args,
    has_loose_bvar,
    instantiate_rev,
    mk_app,
)
from nanolean.kernel.reduce import beta
from nanolean.meta.lctx import LocalDecl
from nanolean.meta.store import MetaStore

_NAME = re.compile(r"\.match_\d+$")
_ALTERNATIVE = "_alternative"


@dataclass(frozen=True)
class Matcher:
    """The shape of a matcher's arguments: parameters, motive, terms, alternatives."""

    num_params: int
    num_targets: int
    num_fields: tuple[int, ...]
    """For each alternative, how many variables its patterns have."""

    @property
    def first_alternative(self) -> int:
        """The place of the first alternative among the arguments."""
        return self.num_params + 1 + self.num_targets

    @property
    def arity(self) -> int:
        """How many arguments there are before those of the result."""
        return self.first_alternative + len(self.num_fields)


_MATCHERS: WeakKeyDictionary[DefInfo, Matcher | None] = WeakKeyDictionary()


def matcher_of(env: Constants, fn: Expr) -> Matcher | None:
    """Return the shape of the matcher that `fn` is, None for any other term."""
    if not isinstance(fn, Const) or ".match_" not in fn.name:
        return None
    info = env.get(fn.name)
    if info is None:
        return None
    return as_matcher(info)


def as_matcher(info: ConstantInfo) -> Matcher | None:
    """Return the shape of a constant that is a matcher by its name and its type."""
    if ".match_" not in info.name or not isinstance(info, DefInfo) or not _NAME.search(info.name):
        return None
    if info not in _MATCHERS:
        _MATCHERS[info] = _read(info.type)
    return _MATCHERS[info]


def _read(type_: Expr) -> Matcher | None:
    binders: list[Pi] = []
    while isinstance(type_, Pi):
        binders.append(type_)
        type_ = type_.body
    # Lean keeps the shapes of matchers in an extension of the environment (`matcherExt`). Here they are read from the
    # type `params → motive → targets → alternatives → motive targets`, so that a declaration that only has the name of
    # a matcher is none.
    place = next((i for i, binder in enumerate(binders) if binder.name == "motive"), None)
    head, targets = get_app_fn_args(type_)
    if place is None or head is not BVar(len(binders) - 1 - place):
        return None
    expected = [BVar(len(binders) - 2 - place - i) for i in range(len(targets))]
    if any(target is not wanted for target, wanted in zip(targets, expected)) or not _is_motive(binders[place].type):
        return None
    alternatives = binders[place + 1 + len(targets) :]
    for k, alternative in enumerate(alternatives):
        # An alternative speaks of its own variables, never of the targets.
        if any(has_loose_bvar(alternative.type, k + i) for i in range(len(targets))):
            return None
    return Matcher(place, len(targets), tuple(_count_binders(alternative.type) for alternative in alternatives))


def _is_motive(type_: Expr) -> bool:
    while isinstance(type_, Pi):
        type_ = type_.body
    return isinstance(type_, Sort)


def _count_binders(type_: Expr) -> int:
    count = 0
    while isinstance(type_, Pi):
        type_, count = type_.body, count + 1
    return count


def reduce_matcher(
    store: MetaStore, fn: Const, args: list[Expr], whnf_core: Callable[[MetaStore, Expr], Expr], eta: bool = True
) -> Expr | None:
    """Return the alternative that a matcher applied to arguments selects, instantiated; None if it is stuck.

    Without `eta` a structure that is not written out is no constructor applied to its projections.
    """
    matcher = matcher_of(store.env, fn)
    if matcher is None or len(args) < matcher.arity:
        return None
    info = store.env[fn.name]
    assert isinstance(info, DefInfo)
    first = matcher.first_alternative
    # `reduceMatcher` of Lean's Meta/WHNF.lean: the matcher is unfolded with a variable for each alternative and reduced
    # until one of them is at the head. So no `casesOn` of its inside is ever seen, also where it is stuck.
    marks = [_mark(store, i) for i in range(len(matcher.num_fields))]
    reduced = whnf_core(store, beta(info.value_at(fn.levels), [*args[:first], *marks]))
    head, fields = get_app_fn_args(reduced)
    if not isinstance(head, FVar) or not head.id.startswith(_ALTERNATIVE):
        return None
    if not eta and any(isinstance(field, Proj) and field not in args[:first] for field in fields):
        return None
    alternative = args[first + int(head.id[len(_ALTERNATIVE) :])]
    return beta(alternative, [*fields, *args[matcher.arity :]])


def _mark(store: MetaStore, index: int) -> Expr:
    """A variable that stands for an alternative while the matcher computes."""
    fvar_id = f"{_ALTERNATIVE}{index}"
    if fvar_id not in store.fvars:
        store.fvars[fvar_id] = LocalDecl(fvar_id, "h", PROP)
    return FVar(fvar_id)


Whnf = Callable[[MetaStore, Expr], Expr]


def equation_names(env: Constants, name: str) -> list[str]:
    """Return the names of the equations of a definition, in order."""
    names: list[str] = []
    while (equation := f"{name}.eq_{len(names) + 1}") in env:
        names.append(equation)
    return names


def unfolding_name(env: Constants, name: str) -> str | None:
    """Return the theorem that states the body of a recursive or matching definition, None where there is none."""
    theorem = f"{name}.eq_def"
    return theorem if isinstance(env.get(theorem), TheoremInfo) else None


_RECURSIVE_ARGUMENTS: WeakKeyDictionary[DefInfo, tuple[int, int] | None] = WeakKeyDictionary()


def recursive_argument(info: DefInfo) -> tuple[int, int] | None:
    """Arity and place of the argument that gets smaller, for a definition by structural recursion, otherwise None."""
    if info not in _RECURSIVE_ARGUMENTS:
        _RECURSIVE_ARGUMENTS[info] = _find(info)
    return _RECURSIVE_ARGUMENTS[info]


def _find(info: DefInfo) -> tuple[int, int] | None:
    body, arity = info.value, 0
    while isinstance(body, Lam):
        body, arity = body.body, arity + 1
    fn, args = get_app_fn_args(body)
    if not isinstance(fn, Const) or not fn.name.endswith(".brecOn"):
        return None
    # Structural recursion compiles to `fun xs => brecOn motive major F ys`.
    # Behind the major premise there are the function given to `brecOn` and the variables that the motive is over
    step = len(args) - 1
    while step > 0 and isinstance(args[step], BVar):
        step -= 1
    if step == 0:
        return None
    major = args[step - 1]
    if not isinstance(major, BVar):
        return None
    return arity, arity - 1 - major.idx


def unfold_by_equations(store: MetaStore, fn: Const, args: list[Expr], whnf: Whnf, whnf_core: Whnf) -> Expr | None:
    """Return the body of a recursive definition for these arguments, None where it does not compute yet."""
    info = store.env.get(fn.name)
    assert isinstance(info, DefInfo)
    shape = recursive_argument(info)
    if shape is None or len(args) < shape[0]:
        return None
    arity, major = shape
    # Smart unfolding of Lean's Meta/WHNF.lean: a recursive function unfolds only where the argument of its recursion is
    # a constructor and all matches on the way are decided. `n + m` stays, or `whnf` would show `brecOn` and goals
    # nobody wrote.
    if not _is_constructor(store.env, whnf(store, args[major])):
        return None
    body = body_of(store.env, fn, args[:arity])
    if body is None:
        return None
    leaf = _decide(store, body, fn.name, whnf_core)
    return None if leaf is None else mk_app(leaf, *args[arity:])


def body_of(env: Constants, fn: Const, args: list[Expr]) -> Expr | None:
    """Return the right side of `f.eq_def` for these arguments."""
    name = unfolding_name(env, fn.name)
    if name is None:
        return None
    type_ = env[name].type_at(fn.levels)
    for _ in args:
        if not isinstance(type_, Pi):
            return None
        type_ = type_.body
    _, sides = get_app_fn_args(type_)
    if len(sides) != 3:  # `Eq α lhs rhs`
        return None
    return instantiate_rev(sides[2], args)


def _is_constructor(env: Constants, e: Expr) -> bool:
    head, _ = get_app_fn_args(e)
    return isinstance(e, Lit) or (isinstance(head, Const) and isinstance(env.get(head.name), CtorInfo))


def _decide(store: MetaStore, e: Expr, name: str, whnf_core: Whnf) -> Expr | None:
    """The term behind all matches on the way to a recursive call of `name`; None where one is not decided."""
    while True:
        fn, args = get_app_fn_args(e)
        matcher = matcher_of(store.env, fn)
        if matcher is None or not isinstance(fn, Const):
            return e
        new = reduce_matcher(store, fn, args, whnf_core)
        if new is None:
            alternatives = args[matcher.first_alternative : matcher.arity]
            # A stuck match whose alternatives do not recurse is part of the answer; one with a recursive call in it
            # means that the definition does not compute yet.
            return None if any(name in collect_consts(alternative) for alternative in alternatives) else e
        store.budget.spend()
        e = new
