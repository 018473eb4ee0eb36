"""Finding instances: terms of types such as `Decidable p`, by the shape of `p` and from the local context.

This is what type classes come to in this fragment. Local instances are tried first, the latest one first, then the
definitions of the library that the tables below name.
"""

from nanolean.kernel.expr import Const, Expr, Pi, get_app_fn, get_app_fn_args, instantiate, mk_app
from nanolean.meta.assign import eta_reduce
from nanolean.meta.lctx import LocalContext
from nanolean.meta.mctx import MetaContext
from nanolean.meta.reduce import head_beta

CONNECTIVES = {
    ("And", 2): "instDecidableAnd",
    ("Or", 2): "instDecidableOr",
    ("Iff", 2): "instDecidableIff",
    ("Not", 1): "instDecidableNot",
}
ATOMS = {
    ("True", 0): "instDecidableTrue",
    ("False", 0): "instDecidableFalse",
    ("Nat.le", 2): "Nat.decLe",
    ("Nat.lt", 2): "Nat.decLt",
    ("Nat.dvd", 2): "Nat.decidable_dvd",
}
EQUALITIES: dict[Expr, str] = {Const("Nat"): "Nat.decEq", Const("Bool"): "instDecidableEqBool"}
GENERAL = {
    "Decidable": (
        "instDecidableEqList",
        "instDecidableEqOption",
        "instDecidableEqProd",
        "Nat.decidableBallLT",
        "Nat.decidableBallLE",
        "Nat.decidableExistsLT",
        "Nat.decidableExistsLE",
        "List.decidableMem",
        "List.decidableBAll",
        "List.decidableBEx",
        "Bool.instDecidableForallOfDecidablePred",
        "Bool.instDecidableExistsOfDecidablePred",
    ),
    "Inhabited": ("instInhabitedNat", "instInhabitedBool", "instInhabitedList", "instInhabitedProp"),
    "Nonempty": ("instNonemptyOfInhabited",),
}
"""Instances with arguments, by class; those that the library has are tried in order."""
PROP_DECIDABLE = "Classical.propDecidable"
MAX_DEPTH = 16


def is_class(mctx: MetaContext, type_: Expr) -> bool:
    """Return whether instances are searched for this type, or for the result type of a function of this type."""
    while True:
        while isinstance(type_, Pi):
            type_ = type_.body
        head = get_app_fn(type_)
        if isinstance(head, Const) and head.name in GENERAL:
            return True
        # Under binders nothing can be unfolded; `DecidablePred` and `DecidableEq`, which unfold to Pis, are told by
        # name.
        if type_.loose:
            return isinstance(head, Const) and head.name.startswith("Decidable")
        unfolded = mctx.whnf(type_, "reducible")
        if unfolded is type_:
            return False
        type_ = unfolded


def synthesize(mctx: MetaContext, type_: Expr, lctx: LocalContext, depth: int = 0) -> Expr | None:
    """Find a term of a class type, None if there is none."""
    # Depth first and without a table of answers, unlike Lean's SynthInstance.lean: bounded in depth, and each step is
    # paid for.
    mctx.budget.spend(10)
    if depth > MAX_DEPTH:
        return None
    type_ = mctx.whnf(mctx.instantiate(type_), "reducible")
    if isinstance(type_, Pi):
        local = mctx.fresh_local(type_.name, type_.type)
        body = synthesize(mctx, instantiate(type_.body, local.fvar), lctx.add(local), depth + 1)
        return None if body is None else eta_reduce(mctx.mk_lambda([local.fvar_id], body))
    head, args = get_app_fn_args(type_)
    if not isinstance(head, Const) or head.name not in GENERAL:
        return None
    if head.name == "Decidable":
        return decidable_instance(mctx, args[0], lctx, depth)
    return _local(mctx, type_, lctx, depth) or _general(mctx, type_, lctx, depth)


def decidable_instance(mctx: MetaContext, prop: Expr, lctx: LocalContext | None = None, depth: int = 0) -> Expr | None:
    """Find a term of type `Decidable prop`, None where neither context nor library has one."""
    prop = head_beta(mctx.instantiate(prop))
    goal = mk_app(Const("Decidable"), prop)
    if lctx is not None:
        from_context = _local(mctx, goal, lctx, depth)
        if from_context is not None:
            return from_context
    classical = _call(mctx, PROP_DECIDABLE, prop) if mctx.classical else None
    if mctx.classical == "first":
        return classical
    return _by_shape(mctx, prop, goal, lctx, depth) or classical


def _by_shape(mctx: MetaContext, prop: Expr, goal: Expr, lctx: LocalContext | None, depth: int) -> Expr | None:
    if isinstance(prop, Pi):
        return _implication(mctx, prop, lctx, depth) or _general(mctx, goal, lctx or LocalContext(), depth)
    fn, args = get_app_fn_args(prop)
    if not isinstance(fn, Const):
        return None
    key = (fn.name, len(args))
    if key in CONNECTIVES:
        parts = [decidable_instance(mctx, arg, lctx, depth) for arg in args]
        return _call(mctx, CONNECTIVES[key], *args, *parts)
    if key in ATOMS:
        return _call(mctx, ATOMS[key], *args)
    if key == ("Eq", 3):
        # At default transparency, so that a type that is only another name of `Nat` has its equality decided.
        name = EQUALITIES.get(mctx.whnf(args[0], "default"))
        if name is not None:
            return _call(mctx, name, args[1], args[2])
    unfolded = mctx.whnf(prop, "reducible")
    if unfolded is not prop:
        return decidable_instance(mctx, unfolded, lctx, depth)
    return _general(mctx, goal, lctx or LocalContext(), depth)


def _implication(mctx: MetaContext, prop: Pi, lctx: LocalContext | None, depth: int) -> Expr | None:
    if prop.body.loose or not mctx.is_prop(prop.type) or not mctx.is_prop(prop.body):
        return None
    parts = [decidable_instance(mctx, part, lctx, depth) for part in (prop.type, prop.body)]
    return _call(mctx, "instDecidableForall", prop.type, prop.body, *parts)


def _call(mctx: MetaContext, name: str, *args: Expr | None) -> Expr | None:
    if name not in mctx.env:
        return None
    terms: list[Expr] = []
    for arg in args:
        if arg is None:  # an instance of a part that there is not
            return None
        terms.append(arg)
    return mk_app(Const(name), *terms)


def _local(mctx: MetaContext, goal: Expr, lctx: LocalContext, depth: int) -> Expr | None:
    """An instance from the context."""
    for decl in reversed(lctx.decls):
        if is_class(mctx, decl.type):
            instance = _apply(mctx, decl.fvar, decl.type, goal, lctx, depth)
            if instance is not None:
                return instance
    return None


def _general(mctx: MetaContext, goal: Expr, lctx: LocalContext, depth: int) -> Expr | None:
    """An instance from the library that has arguments of its own."""
    head, args = get_app_fn_args(goal)
    assert isinstance(head, Const)
    # What `deriving DecidableEq` has made for the type of an equation.
    _, parts = get_app_fn_args(args[0])
    type_ = get_app_fn(parts[0]) if parts else args[0]
    derived: tuple[str, ...] = ()
    if isinstance(type_, Const):
        prefix, dot, last = type_.name.rpartition(".")
        derived = (f"{prefix}{dot}instDecidableEq{last}",)
    for name in (*derived, *GENERAL[head.name]):
        info = mctx.env.get(name)
        if info is not None:
            fn = mctx.fresh_const(info)
            instance = _apply(mctx, fn, info.type_at(fn.levels), goal, lctx, depth)
            if instance is not None:
                return instance
    return None


def _apply(mctx: MetaContext, fn: Expr, type_: Expr, goal: Expr, lctx: LocalContext, depth: int) -> Expr | None:
    """`fn` applied so that it has the type `goal`; its instance arguments are looked for in turn."""
    mark = mctx.save()
    mvars = []
    type_ = mctx.whnf(type_, "reducible")
    while isinstance(type_, Pi):
        mvar = mctx.fresh_mvar(type_.type, lctx)
        mvars.append((mvar, type_.info))
        type_ = mctx.whnf(instantiate(type_.body, mvar), "reducible")
    # Lean resolves instances without unfolding definitions: `p n` for `def p n := n = 3` has no instance.
    with mctx.with_transparency("reducible"):
        fits = mctx.is_def_eq(type_, goal)
    for mvar, info in mvars if fits else ():
        if mctx.is_assigned(mvar.id):
            continue
        # Only arguments in `[..]` are searched for; any other has to follow from the result type.
        value = None
        if info == "inst":
            value = synthesize(mctx, mctx.decl(mvar.id).type, lctx, depth + 1)
        if value is None:
            fits = False
            break
        mctx.assign(mvar.id, value)
    if not fits:
        mctx.restore(mark)
        return None
    return mctx.instantiate(mk_app(fn, *[mvar for mvar, _ in mvars]))


def fill_instances(mctx: MetaContext, mvar_ids: list[str]) -> None:
    """Give instances to those of the metavariables whose type is a class that is known completely."""
    for mvar_id in mvar_ids:
        if mctx.is_assigned(mvar_id):
            continue
        decl = mctx.decl(mvar_id)
        type_ = mctx.instantiate(decl.type)
        if is_class(mctx, type_):
            value = synthesize(mctx, type_, decl.lctx)
            if value is not None:
                mctx.assign(mvar_id, value)
