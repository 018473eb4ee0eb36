"""Unfolding definitions the way their defining equations read: `unfold f`, `simp [f]`, `rw [f]`.

A definition by recursion (a recursor applied to one of its arguments) unfolds where that argument is a constructor,
and the recursive calls are written with the definition's name again.
"""

from nanolean.kernel.declaration import DefInfo, RecInfo
from nanolean.kernel.expr import (
    App,
    BVar,
    Const,
    Expr,
    FVar,
    Lam,
    Pi,
    abstract,
    get_app_fn_args,
    instantiate,
    mk_app,
    replace,
)
from nanolean.kernel.reduce import beta
from nanolean.meta.matchers import body_of, matcher_of, recursive_argument, reduce_matcher, unfolding_name
from nanolean.meta.mctx import MetaContext
from nanolean.meta.reduce import const_info, whnf_core
from nanolean.syntax.notation import CLASS_OPERATIONS
from nanolean.tactics.eliminate import beta_reduce, tidy_numbers


def may_unfold(info: DefInfo) -> bool:
    """Return whether tactics may unfold a definition by its name."""
    return not info.irreducible and info.name not in CLASS_OPERATIONS


def definition_info(mctx: MetaContext, e: Expr) -> tuple[DefInfo, Const, list[Expr]] | None:
    """Return the definition at the head of a term, with its constant and the arguments."""
    fn, args = get_app_fn_args(e)
    if not isinstance(fn, Const):
        return None
    info = mctx.env.get(fn.name)
    return (info, fn, args) if isinstance(info, DefInfo) and may_unfold(info) else None


def unfold_by_equation(mctx: MetaContext, e: Expr) -> Expr | None:
    """Return the right side of the defining equation that the term is an instance of, None if there is none."""
    definition = definition_info(mctx, e)
    if definition is None:
        return None
    info, fn, args = definition
    if recursive_argument(info) is not None and unfolding_name(mctx.env, fn.name) is not None:
        with mctx.with_transparency("default"):
            new = mctx.unfold(e)
        return None if new is None else tidy_numbers(beta_reduce(new))
    value = info.value_at(fn.levels)
    arity, body = 0, value
    while isinstance(body, Lam):
        arity, body = arity + 1, body.body
    if len(args) < arity:
        return None
    head, rec_args = get_app_fn_args(body)
    rec = const_info(mctx.env, head)
    unfolded = beta(value, args)
    if not isinstance(rec, RecInfo):
        return beta_reduce(decided(mctx, unfolded))
    # `def f := fun x => T.rec ..` may leave the argument of the recursion to eta.
    if len(rec_args) == rec.major_idx and len(args) > arity:
        place, arity = arity, arity + 1
    elif len(rec_args) == rec.major_idx + 1 and isinstance(rec_args[-1], BVar):
        place = arity - 1 - rec_args[-1].idx
    else:
        return None
    return _unfold_recursion(mctx, unfolded, rec, mk_app(fn, *args[:arity]), place)


def decided(mctx: MetaContext, e: Expr) -> Expr:
    """Reduce the matches at the head of the term that are decided."""
    while True:
        fn, args = get_app_fn_args(e)
        new = reduce_match(mctx, fn, args)
        if new is None:
            return e
        e = new


def reduce_match(mctx: MetaContext, fn: Expr, args: list[Expr]) -> Expr | None:
    """Return the alternative that a match selects, None if the term is no match or not decided by constructors."""
    if not isinstance(fn, Const) or matcher_of(mctx.env, fn) is None:
        return None
    # A match is decided by constructors that stand there, not by what a definition computes to.
    with mctx.with_transparency("reducible"):
        new = reduce_matcher(mctx, fn, args, whnf_core, eta=False)
    return None if new is None else tidy_numbers(new)


def _unfold_recursion(mctx: MetaContext, unfolded: Expr, rec: RecInfo, call: Expr, place: int) -> Expr | None:
    """Compute a recursor one step; `call` is the folded form, whose argument at `place` the recursion is on."""
    head, rec_args = get_app_fn_args(unfolded)
    reduced = mctx.whnf_core(unfolded)
    stuck = get_app_fn_args(reduced)[0]
    # The argument is no constructor: unfolding would show the recursor.
    if isinstance(stuck, Const) and stuck.name == rec.name:
        return None
    # Recursive calls are this recursor at smaller arguments; goals show them by the name of the definition.
    prefix = mk_app(head, *rec_args[: rec.major_idx])
    fn, args = get_app_fn_args(call)

    def fold(e: Expr) -> Expr:
        return replace(e, visit)

    def visit(node: Expr) -> Expr | None:
        if isinstance(node, App) and node.fn is prefix:
            return mk_app(fn, *args[:place], fold(node.arg), *args[place + 1 :])
        return None

    return tidy_numbers(beta_reduce(fold(reduced)))


def unfold_everywhere(mctx: MetaContext, e: Expr, names: frozenset[str]) -> Expr:
    """Unfold the definitions of these names once wherever one of their equations applies."""
    if isinstance(e, Lam | Pi):
        local = mctx.fresh_local(e.name, e.type)
        type_ = unfold_everywhere(mctx, e.type, names)
        body = unfold_everywhere(mctx, instantiate(e.body, local.fvar), names)
        return type(e)(e.name, type_, abstract(body, [FVar(local.fvar_id)]), e.info)
    fn, args = get_app_fn_args(e)
    new_args = [unfold_everywhere(mctx, arg, names) for arg in args]
    result = mk_app(fn, *new_args)
    if isinstance(fn, Const) and fn.name in names:
        return unfold_by_equation(mctx, result) or _decided_body(mctx, result) or result
    return result


def _decided_body(mctx: MetaContext, e: Expr) -> Expr | None:
    """What the first match in the body of a recursive definition selects, where a later one is open."""
    fn, args = get_app_fn_args(e)
    assert isinstance(fn, Const)
    info = mctx.env.get(fn.name)
    shape = recursive_argument(info) if isinstance(info, DefInfo) else None
    body = None if shape is None or len(args) < shape[0] else body_of(mctx.env, fn, args[: shape[0]])
    if shape is None or body is None:
        return None
    selected = reduce_match(mctx, *get_app_fn_args(body))
    return None if selected is None else mk_app(selected, *args[shape[0] :])
