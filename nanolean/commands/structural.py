"""Structural recursion: from a body that calls the function itself to a term over `T.brecOn`.

One argument must get smaller in every call. Its recursive results are in the local `F : T.below C x`; wherever the
body takes `x` apart, by a matcher or by `cases`, `F` goes along and shows more of them; not so by `induction`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace as replace_decl

from nanolean.commands.brec_on import ensure_brec_on
from nanolean.elab.session import Session
from nanolean.kernel.declaration import InductiveInfo, RecInfo
from nanolean.kernel.expr import (
    PROP,
    App,
    Const,
    Expr,
    FVar,
    Lam,
    Let,
    Pi,
    Proj,
    abstract,
    collect_fvars,
    get_app_fn_args,
    instantiate,
    mk_app,
    replace,
    subterms,
)
from nanolean.kernel.level import Level
from nanolean.kernel.reduce import beta
from nanolean.meta.bind import replace_fvar
from nanolean.meta.lctx import LocalContext, LocalDecl
from nanolean.meta.matchers import Matcher, matcher_of
from nanolean.proof_errors import ElabError
from nanolean.tactics.eliminate import CASES_MOTIVE, apply_type, beta_reduce


class NotSmaller(Exception):
    """A recursive call whose argument is not known to be smaller."""

    def __init__(self, call: Expr, lctx: LocalContext) -> None:
        super().__init__("not smaller")
        self.call = call
        self.lctx = lctx


@dataclass(frozen=True)
class Recursive:
    """A definition that mentions itself: `name` is the constant that stands for it, `locals` its arguments."""

    session: Session
    name: str
    outer: LocalContext
    locals: tuple[str, ...]
    body: Expr
    result: Expr
    """The type of the body."""

    def calls(self) -> list[list[Expr]]:
        """Collect the arguments of every recursive call."""
        found: dict[Expr, None] = {}
        for node in subterms(self.body):
            fn, args = get_app_fn_args(node)
            if isinstance(fn, Const) and fn.name == self.name and len(args) >= len(self.locals):
                found[node] = None
        return [get_app_fn_args(node)[1][: len(self.locals)] for node in found]


def compile_recursion(recursive: Recursive) -> Expr:
    """Compile the function to a closed term over the locals of `outer`; raises `ElabError` where no argument serves."""
    problems: list[str] = []
    show = recursive.session.show
    calls = recursive.calls()
    for place, fvar_id in enumerate(recursive.locals):
        mark = recursive.session.mctx.save()
        compiler = _Compiler.at(recursive, calls, place)
        if compiler is None:
            continue
        name = recursive.session.mctx.fvars[fvar_id].user_name
        try:
            return compiler.run()
        except NotSmaller as error:
            call = show(error.call, error.lctx)
            problems.append(f"Cannot use parameter {name}:\n  failed to eliminate recursive application\n    {call}")
        except ElabError as error:
            problems.append(f"Cannot use parameter {name}:\n  {error.message}")
        recursive.session.mctx.restore(mark)
    problems = problems or ["no parameters suitable for structural recursion"]
    what = "\n".join(problems)
    if recursive.locals:
        rest = "well-founded recursion is not supported"
    else:
        rest = f"well-founded recursion cannot be used, `{recursive.name}` does not take any (non-fixed) arguments"
    raise ElabError(
        f"fail to show termination for\n  {recursive.name}\nwith errors\n"
        f"failed to infer structural recursion:\n{what}\n\n{rest}"
    )


@dataclass
class _Compiler:
    """Compiles by recursion on one argument."""

    recursive: Recursive
    info: InductiveInfo
    levels: tuple[Level, ...]
    params: tuple[Expr, ...]
    indices: tuple[str, ...]
    target: str
    fixed: tuple[str, ...]
    others: tuple[str, ...]

    @classmethod
    def at(cls, recursive: Recursive, calls: list[list[Expr]], place: int) -> _Compiler | None:
        """Make a compiler for the argument at `place`, None where its type or the calls forbid it."""
        mctx = recursive.session.mctx
        ids = recursive.locals
        type_ = mctx.whnf(mctx.instantiate(mctx.fvars[ids[place]].type))
        head, args = get_app_fn_args(type_)
        info = mctx.env.get(head.name) if isinstance(head, Const) else None
        if not isinstance(info, InductiveInfo) or not info.is_recursive or not isinstance(head, Const):
            return None
        rec = mctx.env[info.rec_name]
        if not isinstance(rec, RecInfo) or not rec.large:
            return None
        params, index_terms = args[: info.num_params], args[info.num_params :]
        indices = [index.id for index in index_terms if isinstance(index, FVar) and index.id in ids]
        if len(indices) != len(index_terms) or len(set(indices)) != len(indices):
            return None
        count = _fixed_prefix(ids, calls)
        count = min([count, place, *[ids.index(i) for i in indices]])
        fixed = ids[:count]
        own = {ids[place], *indices}
        others = tuple(i for i in ids[count:] if i not in own)
        used = {
            i for e in [*params, *[mctx.fvars[i].type for i in indices]] for i in collect_fvars(mctx.instantiate(e))
        }
        if used & {*others, ids[place]}:
            return None
        return cls(recursive, info, head.levels, tuple(params), tuple(indices), ids[place], fixed, others)

    def run(self) -> Expr:
        """Return the compiled function."""
        session = self.recursive.session
        ensure_brec_on(session, self.info)
        self.mctx = mctx = session.mctx
        self._mentions: dict[Expr, bool] = {}
        result = mctx.mk_pi(self.others, self.recursive.result)
        level = mctx.sort_level(result)
        assert level is not None, "the body has a type"
        own = [*self.indices, self.target]
        motive = mctx.mk_lambda(own, result)
        self.motive = mctx.fresh_local("motive", mctx.infer_type(motive))
        self.below = mk_app(Const(f"{self.info.name}.below", (level, *self.levels)), *self.params, self.motive.fvar)
        start = mctx.fresh_local("f", mk_app(self.below, *[FVar(i) for i in own]))
        lctx = LocalContext([*self.recursive.outer, *[mctx.fvars[i] for i in self.recursive.locals]])
        body = self.walk(self.recursive.body, start.fvar, lctx)
        step = mctx.mk_lambda([*own, start.fvar_id, *self.others], body)
        brec = mk_app(Const(f"{self.info.name}.brecOn", (level, *self.levels)), *self.params, self.motive.fvar)
        value = mk_app(brec, *[FVar(i) for i in own], step, *[FVar(i) for i in self.others])
        value = replace_fvar(mctx.instantiate(value), self.motive.fvar_id, motive)
        return mctx.mk_lambda(self.recursive.locals, beta_motive(value, motive))

    # -- the body ------------------------------------------------------------------------------------------------------

    def walk(self, e: Expr, below: Expr, lctx: LocalContext) -> Expr:
        """Replace recursive calls in the term by what `below` holds."""
        if not self._recurs(e):
            return e
        self.mctx.budget.spend()
        if isinstance(e, Lam | Pi):
            local = self.mctx.fresh_local(e.name, self.walk(e.type, below, lctx), info=e.info)
            body = self.walk(instantiate(e.body, local.fvar), below, lctx.add(local))
            return type(e)(e.name, local.type, abstract(body, [local.fvar]), e.info)
        if isinstance(e, Let):
            value = self.walk(e.value, below, lctx)
            local = self.mctx.fresh_local(e.name, e.type, value)
            body = self.walk(instantiate(e.body, local.fvar), below, lctx.add(local))
            return Let(e.name, e.type, value, abstract(body, [local.fvar]))
        if isinstance(e, Proj):
            return Proj(e.struct, e.idx, self.walk(e.expr, below, lctx))
        fn, args = get_app_fn_args(e)
        if isinstance(fn, Const) and fn.name == self.recursive.name:
            return self._call(e, args, below, lctx)
        if isinstance(fn, Lam):
            # `(fun x => b) v` is `have`; the value is walked first, so that calls in it are gone in the body
            return mk_app(self.walk(fn, below, lctx), *[self.walk(arg, below, lctx) for arg in args])
        split = self._through_matcher(fn, args, below, lctx) or self._through_recursor(fn, args, below, lctx)
        if split is not None:
            return split
        return mk_app(self.walk(fn, below, lctx), *[self.walk(arg, below, lctx) for arg in args])

    def _recurs(self, e: Expr) -> bool:
        name = self.recursive.name
        found = self._mentions.get(e)
        if found is None:
            found = any(isinstance(node, Const) and node.name == name for node in subterms(e))
            self._mentions[e] = found
        return found

    def _call(self, e: Expr, args: list[Expr], below: Expr, lctx: LocalContext) -> Expr:
        ids = self.recursive.locals
        if len(args) < len(ids):
            return self.walk(self._eta(e), below, lctx)
        args = [self.walk(arg, below, lctx) for arg in args]
        by_id = dict(zip(ids, args))
        if any(not self.mctx.is_def_eq(by_id[i], FVar(i)) for i in self.fixed):
            raise NotSmaller(e, lctx)
        wanted = mk_app(self.motive.fvar, *[by_id[i] for i in self.indices], by_id[self.target])
        smaller = self._find(below, wanted)
        if smaller is None:
            raise NotSmaller(e, lctx)
        return mk_app(smaller, *[by_id[i] for i in self.others], *args[len(ids) :])

    def _eta(self, e: Expr) -> Expr:
        type_ = self.mctx.whnf(self.mctx.infer_type(e))
        assert isinstance(type_, Pi)
        return Lam(type_.name, type_.type, App(e, abstract(FVar("_eta"), [FVar("_eta")])))

    def _find(self, below: Expr, wanted: Expr) -> Expr | None:
        """The component of `below` whose type is `wanted`."""
        todo = [(below, self.mctx.infer_type(below))]
        while todo:
            value, type_ = todo.pop(0)
            self.mctx.budget.spend()
            head, args = get_app_fn_args(type_)
            if head is self.motive.fvar:
                if self.mctx.is_def_eq(type_, wanted):
                    return value
                continue
            head, args = get_app_fn_args(self.mctx.whnf(type_))
            if isinstance(head, Const) and head.name == "PProd":
                todo += [(Proj("PProd", i, value), arg) for i, arg in enumerate(args)]
        return None

    # -- taking the argument apart -------------------------------------------------------------------------------------

    def _through_matcher(self, fn: Expr, args: list[Expr], below: Expr, lctx: LocalContext) -> Expr | None:
        """A matcher on what `below` is about, with `below` as one more argument of every alternative."""
        matcher = matcher_of(self.mctx.env, fn)
        if matcher is None or len(args) < matcher.arity or not isinstance(fn, Const):
            return None
        first = matcher.first_alternative
        targets = args[matcher.num_params + 1 : first]
        type_ = self.mctx.instantiate(self.mctx.infer_type(below))
        if not self._concerns(targets, type_):
            return None
        locals_ = self._open_motive(args[matcher.num_params], len(targets))
        family = _moved(type_, targets, locals_)
        motive_body = Pi("f", family, beta(args[matcher.num_params], [FVar(i) for i in locals_]))
        motive = self.mctx.mk_lambda(locals_, motive_body)
        new_fn = self._at_level(fn, matcher, motive_body)
        given = [*args[: matcher.num_params], motive, *targets]
        head, head_type = mk_app(new_fn, *given), apply_type(self.mctx.env[fn.name].type_at(new_fn.levels), given)
        for alternative, count in zip(args[first : matcher.arity], matcher.num_fields):
            head_type = head_type if isinstance(head_type, Pi) else self.mctx.whnf(head_type)
            assert isinstance(head_type, Pi)
            new = self._alternative(alternative, head_type.type, count, lctx)
            head, head_type = App(head, new), instantiate(head_type.body, new)
        rest = [self.walk(arg, below, lctx) for arg in args[matcher.arity :]]
        return mk_app(head, below, *rest)

    def _concerns(self, targets: Sequence[Expr], type_: Expr) -> bool:
        used = collect_fvars(type_)
        return any(isinstance(target, FVar) and target.id in used for target in targets)

    def _open_motive(self, motive: Expr, count: int) -> list[str]:
        type_ = self.mctx.infer_type(motive)
        ids: list[str] = []
        for _ in range(count):
            type_ = type_ if isinstance(type_, Pi) else self.mctx.whnf(type_)
            assert isinstance(type_, Pi)
            local = self.mctx.fresh_local(type_.name, type_.type)
            ids.append(local.fvar_id)
            type_ = instantiate(type_.body, local.fvar)
        return ids

    def _at_level(self, fn: Const, matcher: Matcher, result: Expr) -> Const:
        info = self.mctx.env[fn.name]
        type_ = info.type
        for _ in range(matcher.num_params):
            assert isinstance(type_, Pi)
            type_ = type_.body
        assert isinstance(type_, Pi)
        sort = type_.type
        while isinstance(sort, Pi):
            sort = sort.body
        if sort is PROP:
            return fn
        level = self.mctx.sort_level(result)
        assert level is not None, "the motive makes types"
        return Const(fn.name, (level, *fn.levels[1:]))

    def _alternative(self, alternative: Expr, type_: Expr, count: int, lctx: LocalContext) -> Expr:
        """The alternative as a function of its variables and of `below` for its patterns."""
        ids: list[str] = []
        for _ in range(count + 1):
            type_ = beta_reduce(type_) if not isinstance(type_, Pi) else type_
            assert isinstance(type_, Pi)
            local = self.mctx.fresh_local(type_.name, beta_reduce(type_.type))
            ids.append(local.fvar_id)
            type_ = instantiate(type_.body, local.fvar)
        fields = [FVar(i) for i in ids[:count]]
        names = alternative
        for i in range(count):
            if isinstance(names, Lam):
                self.mctx.fvars[ids[i]] = self._named(ids[i], names.name)
                names = names.body
        inner = lctx.add(*[self.mctx.fvars[i] for i in ids[:count]])
        body = self.walk(beta(alternative, fields), FVar(ids[count]), inner)
        return self.mctx.mk_lambda(ids, body)

    def _named(self, fvar_id: str, name: str) -> LocalDecl:
        return replace_decl(self.mctx.fvars[fvar_id], user_name=name)

    def _through_recursor(self, fn: Expr, args: list[Expr], below: Expr, lctx: LocalContext) -> Expr | None:
        """The recursor that `cases` has applied to what `below` is about, likewise."""
        info = self.mctx.env.get(fn.name) if isinstance(fn, Const) else None
        if not isinstance(info, RecInfo) or not isinstance(fn, Const) or len(args) <= info.major_idx:
            return None
        place = info.num_params
        first = place + 1 + info.num_minors
        targets = args[first : info.major_idx + 1]
        type_ = self.mctx.instantiate(self.mctx.infer_type(below))
        if not self._concerns(targets, type_) or not all(isinstance(target, FVar) for target in targets):
            return None
        if not _from_cases(args[place]):
            return None
        locals_ = self._open_motive(args[place], len(targets))
        old = beta(args[place], [FVar(i) for i in locals_])
        new_body = Pi("f", _moved(type_, targets, locals_), old)
        motive = self.mctx.mk_lambda(locals_, new_body)
        levels = fn.levels
        if info.large:
            level = self.mctx.sort_level(new_body)
            assert level is not None, "the motive makes types"
            levels = (level, *levels[1:])
        given = [*args[:place], motive]
        head, head_type = mk_app(Const(fn.name, levels), *given), apply_type(info.type_at(levels), given)
        for minor in args[place + 1 : first]:
            assert isinstance(head_type, Pi)
            new = self._minor(minor, head_type.type, motive, lctx)
            if new is None:
                return None
            head, head_type = App(head, new), instantiate(head_type.body, new)
        rest = [self.walk(arg, below, lctx) for arg in args[info.major_idx + 1 :]]
        return mk_app(head, *targets, below, *rest)

    def _minor(self, minor: Expr, type_: Expr, motive: Expr, lctx: LocalContext) -> Expr | None:
        """A minor premise that may use `below`; None where it uses its induction hypotheses."""
        ids: list[str] = []
        hyps: list[str] = []
        while isinstance(type_, Pi):
            head, _ = get_app_fn_args(type_.type)
            local = self.mctx.fresh_local(type_.name, type_.type)
            ids.append(local.fvar_id)
            if head is motive:
                hyps.append(local.fvar_id)
            type_ = instantiate(type_.body, local.fvar)
        below_type = beta_reduce(type_)
        assert isinstance(below_type, Pi)
        below = self.mctx.fresh_local("f", below_type.type)
        inner = lctx.add(*[self.mctx.fvars[i] for i in ids])
        body = beta(minor, [FVar(i) for i in ids])
        if not set(hyps).isdisjoint(collect_fvars(body)):
            return None
        return self.mctx.mk_lambda([*ids, below.fvar_id], self.walk(body, below.fvar, inner))


def _from_cases(motive: Expr) -> bool:
    """Whether `cases` made this motive of a recursor."""
    name = ""
    while isinstance(motive, Lam):
        name, motive = motive.name, motive.body
    return name == CASES_MOTIVE


def _moved(type_: Expr, targets: Sequence[Expr], locals_: Sequence[str]) -> Expr:
    """The type with targets that are variables replaced by locals."""
    for target, fvar_id in zip(targets, locals_):
        if isinstance(target, FVar):
            type_ = replace_fvar(type_, target.id, FVar(fvar_id))
    return type_


def _fixed_prefix(ids: Sequence[str], calls: Sequence[list[Expr]]) -> int:
    """How many leading arguments are the same in every call."""
    count = len(ids)
    for args in calls:
        count = min(count, next((i for i, arg in enumerate(args) if arg is not FVar(ids[i])), count))
    return count


def beta_motive(e: Expr, motive: Expr) -> Expr:
    """Contract applications of the motive in the term."""

    def visit(node: Expr) -> Expr | None:
        if isinstance(node, App):
            fn, args = get_app_fn_args(node)
            if fn is motive:
                return beta(fn, [replace(arg, visit) for arg in args])
        return None

    return replace(e, visit)
