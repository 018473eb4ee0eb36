"""The type of a term that is known to be well typed; nothing is checked here."""

from nanolean.kernel.budget import KernelError
from nanolean.kernel.declaration import CtorInfo, InductiveInfo
from nanolean.kernel.expr import (
    App,
    Const,
    Expr,
    FVar,
    Lam,
    Let,
    Lit,
    MVar,
    Pi,
    Proj,
    Sort,
    abstract,
    get_app_fn_args,
    instantiate,
    instantiate_rev,
    replace,
)
from nanolean.kernel.level import ZERO, Level, Succ, mk_imax
from nanolean.kernel.reduce import beta
from nanolean.meta.reduce import NAT_TYPE, whnf
from nanolean.meta.store import MetaStore


def infer_type(store: MetaStore, e: Expr) -> Expr:
    """Infer the type; raises `KernelError` where the term applies something that is no function, and the like."""
    cls = e.__class__
    if cls is FVar:
        return store.fvars[e.id].type  # type: ignore[attr-defined]
    if cls is MVar:
        return store.decls[e.id].type  # type: ignore[attr-defined]
    if isinstance(e, Const):
        return store.env[e.name].type_at(e.levels)
    if isinstance(e, Sort):
        return Sort(Succ(e.level))
    if cls is Lit:
        return NAT_TYPE
    if e.has_mvar:
        return _infer(store, e)
    # The cache outlives this problem; a term with metavariables has another type after each assignment.
    type_ = store.caches.infer.get(e)
    if type_ is None:
        type_ = _infer(store, e)
        # A local may have a type that unification still fills in (`fun x => ..` without a type).
        if not type_.has_mvar:
            store.caches.infer[e] = type_
    return type_


def _infer(store: MetaStore, e: Expr) -> Expr:
    if isinstance(e, App):
        return _infer_app(store, e)
    if isinstance(e, Lam):
        local = store.fresh_local(e.name, e.type).fvar
        body_type = infer_type(store, instantiate(e.body, local))
        return Pi(e.name, e.type, abstract(body_type, [local]), e.info)
    if isinstance(e, Pi):
        local = store.fresh_local(e.name, e.type).fvar
        return Sort(mk_imax(sort_level(store, e.type), sort_level(store, instantiate(e.body, local))))
    if isinstance(e, Let):
        return infer_type(store, instantiate(e.body, e.value))
    if isinstance(e, Proj):
        return _infer_proj(store, e)
    raise AssertionError(f"no type for {e}")


def _infer_app(store: MetaStore, e: Expr) -> Expr:
    fn, args = get_app_fn_args(e)
    type_ = infer_type(store, fn)
    start = 0
    for i in range(len(args)):
        if not isinstance(type_, Pi):
            # Arguments are put in all at once where the Pis end, not one by one: instantiating for each argument is
            # quadratic in their number, as `inferAppType` of Lean's Meta/InferType.lean knows.
            # With definitions unfolded, whatever the tactic that asks unfolds: `Set α` is `α → Prop`.
            before, store.transparency = store.transparency, "default"
            try:
                type_ = whnf(store, store.instantiate(_instantiate_beta(type_, args[start:i])))
            finally:
                store.transparency = before
            start = i
            if not isinstance(type_, Pi):
                raise KernelError("function expected")
        type_ = type_.body
    return _instantiate_beta(type_, args[start:])


def _instantiate_beta(body: Expr, args: list[Expr]) -> Expr:
    """`instantiate_rev`, where a function that takes the place of an applied variable computes: `p 0` to `f 0 = 3`.

    `instantiateBetaRevRange` of Lean's Meta/InferType.lean; `rw` and `have` would show a redex that nobody wrote.
    """
    functions: dict[Expr, Expr] = {
        FVar(f"_function{i}"): arg for i, arg in enumerate(args) if isinstance(arg, Lam) and not arg.loose
    }
    if not functions or not body.loose:
        return instantiate_rev(body, args)
    marks = {arg: mark for mark, arg in functions.items()}
    return _put_functions(instantiate_rev(body, [marks.get(arg, arg) for arg in args]), functions)


def _put_functions(e: Expr, functions: dict[Expr, Expr]) -> Expr:
    """Put functions where their marks stand, and contract the redexes that this makes."""

    def put(node: Expr) -> Expr | None:
        fn, args = get_app_fn_args(node)
        if fn not in functions:
            return None
        return beta(functions[fn], [_put_functions(arg, functions) for arg in args])

    return replace(e, put)


def _infer_proj(store: MetaStore, e: Proj) -> Expr:
    head, args = get_app_fn_args(whnf(store, infer_type(store, e.expr)))
    struct = store.env[head.name] if isinstance(head, Const) else None
    if not isinstance(struct, InductiveInfo) or not isinstance(head, Const):
        raise KernelError("projection of something that is no structure")
    ctor = store.env[struct.ctors[0]]
    assert isinstance(ctor, CtorInfo)
    type_ = ctor.type_at(head.levels)
    for arg in args[: ctor.num_params]:
        type_ = instantiate(_pi_body(type_), arg)
    for i in range(e.idx):
        type_ = instantiate(_pi_body(type_), Proj(e.struct, i, e.expr))
    if not isinstance(type_, Pi):
        raise KernelError("projection of a field that the structure does not have")
    return type_.type


def _pi_body(type_: Expr) -> Expr:
    if not isinstance(type_, Pi):
        raise KernelError("projection of a field that the structure does not have")
    return type_.body


def sort_level(store: MetaStore, type_: Expr) -> Level:
    """Return the level `u` with `type_ : Sort u`; raises `KernelError` where `type_` is no type."""
    sort = infer_type(store, type_)
    if not isinstance(sort, Sort):
        sort = whnf(store, store.instantiate(sort))
    # `?s` in the place of a sort: as `getLevel` of Lean's Meta/InferType.lean, it is one of an unknown level.
    if isinstance(sort, MVar) and store.is_assignable(sort.id):
        new = Sort(store.fresh_level())
        store.assign(sort.id, new)
        return new.level
    if not isinstance(sort, Sort):
        raise KernelError("type expected")
    return sort.level


def is_prop(store: MetaStore, type_: Expr) -> bool:
    """Return whether a type is a proposition."""
    sort = infer_type(store, type_)
    if not isinstance(sort, Sort):
        sort = whnf(store, store.instantiate(sort))
    # Only the level 0 itself counts: `imax u 0` is simplified to it when it is built.
    return isinstance(sort, Sort) and store.instantiate_level(sort.level) is ZERO
