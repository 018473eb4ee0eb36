"""`inductive` and `structure`: from their syntax to one declaration of the kernel, plus the projections."""

import dataclasses
from collections.abc import Sequence

from nanolean.commands.auto_bound import auto_binder, bind_types, binding
from nanolean.commands.aux_recursors import aux_recursors
from nanolean.commands.declarations import (
    add_to_kernel,
    check_modifiers,
    check_new,
    is_made,
    with_modifiers,
)
from nanolean.commands.header import (
    Header,
    add_local,
    close_context,
    elab_header,
    include_variables,
    inside,
    name_levels,
    used_levels,
)
from nanolean.commands.messages import CommandResult
from nanolean.elab.api import finish
from nanolean.elab.elaborator import Elaborator
from nanolean.elab.names import collect_level_mvars
from nanolean.kernel.budget import KernelError
from nanolean.kernel.declaration import (
    AxiomInfo,
    CtorDecl,
    CtorInfo,
    DefDecl,
    InductiveDecl,
    InductiveInfo,
    TheoremDecl,
)
from nanolean.kernel.expr import (
    PROP,
    TYPE,
    App,
    BVar,
    Const,
    Expr,
    FVar,
    Lam,
    MVar,
    Pi,
    Proj,
    Sort,
    collect_consts,
    erase,
    get_app_fn_args,
    instantiate,
    lift,
    mk_app,
    replace,
    subterms,
)
from nanolean.kernel.level import ONE, ZERO, IMax, Level, LParam, Max, Succ, equiv, is_never_zero, simplify
from nanolean.kernel.typecheck import TypeChecker
from nanolean.meta.bind import replace_fvar
from nanolean.meta.lctx import LocalContext
from nanolean.proof_errors import ElabError
from nanolean.syntax import Binder, CtorStx, Forall, InductiveCmd, Signature, StructureCmd


def run_inductive(result: CommandResult, cmd: InductiveCmd) -> None:
    """Add an inductive type; trailing arguments that never vary become parameters, as in Lean."""
    check_modifiers(result.state, cmd)
    check_new(result.state, cmd.signature)
    _declare(result, cmd, cmd.ctors)


def _declare(result: CommandResult, cmd: InductiveCmd | StructureCmd, ctors: Sequence[CtorStx]) -> InductiveDecl:
    signature = cmd.signature
    header = elab_header(result.state, signature)
    if header.type is not None:
        decl = _elab_types(result, header, cmd, ctors)
    else:
        header.type = TYPE
        decl = _elab_types(result, header, cmd, ctors)
        try:
            sort = _inferred_sort(header, decl)
        except KernelError:  # a field is no type, which the kernel says better
            sort = TYPE
        if sort is not TYPE:  # it may have universe parameters of its own, so all is elaborated again
            header = elab_header(result.state, signature)
            header.type = sort
            decl = _elab_types(result, header, cmd, ctors)
    new = add_to_kernel(result.state, decl, signature)
    fields = [f"{header.name}.{field.name}" for field in cmd.fields] if isinstance(cmd, StructureCmd) else []
    declared = [info.name for info in result.state.env if info.name.startswith(f"{header.name}.")]
    for name in (*declared, *(ctor.name for ctor in decl.ctors), *fields):
        if is_made(new, name):
            raise ElabError(f"`{name}` has already been declared", signature.pos, signature.end)
    for aux in aux_recursors(new.env, header.name):
        new = add_to_kernel(new, aux, signature)
    new = dataclasses.replace(new, protected=new.protected | {f"{header.name}.recOn"})
    result.state = with_modifiers(new, header.name, cmd.modifiers)
    if any("sorryAx" in collect_consts(e) for e in (decl.type, *[ctor.type for ctor in decl.ctors])):
        result.say("warning", "declaration uses `sorry`", signature.pos, signature.end)
    return decl


def _elab_types(
    result: CommandResult, header: Header, cmd: InductiveCmd | StructureCmd, ctors: Sequence[CtorStx]
) -> InductiveDecl:
    """The declaration of a type whose sort is known, elaborated and not checked."""
    session, signature, has_fields = header.session, cmd.signature, isinstance(cmd, StructureCmd)
    mctx = session.mctx
    assert header.type is not None
    _check_result(header, signature)
    name_levels(session, *(decl.type for decl in header.lctx), header.type)
    include_variables(header)
    header.lctx = close_context(session, header.lctx, signature)
    params = header.lctx
    ids = [decl.fvar_id for decl in params]
    type_ = mctx.instantiate(mctx.mk_pi(ids, header.type))
    levels = used_levels(session, signature, type_)
    # The constructors see the type as a constant that is not checked yet; the kernel checks all of it together.
    provisional = result.state.env.add_unchecked([AxiomInfo(header.name, levels, type_)])
    state = inside(result.state.with_env(provisional), f"{header.name}.mk")
    session.state, mctx.env, mctx.caches = state, provisional, state.caches
    self_const = Const(header.name, tuple(LParam(level) for level in levels))
    types = []
    for ctor in ctors:
        if "." in ctor.name:
            raise ElabError(f"the name `{ctor.name}` of a constructor may have no dots here", ctor.pos, ctor.end)
        types.append(CtorDecl(f"{header.name}.{ctor.name}", _ctor_type(header, ctor, params, self_const, has_fields)))
    count = _num_params(header.name, len(ids), type_, [ctor.type for ctor in types])
    return InductiveDecl(header.name, levels, count, type_, tuple(types))


def _inferred_sort(header: Header, decl: InductiveDecl) -> Sort:
    """The sort of a type for which none is stated: the largest of its fields' universes, and at least `Type`.

    It is `Prop` where Lean makes it so: one constructor with fields, all of them proofs that do not mention the type.
    """
    checker = TypeChecker(header.session.mctx.env, budget=header.session.mctx.budget)
    universes: list[Level] = []
    is_prop = len(decl.ctors) == 1
    num_fields = 0
    for ctor in decl.ctors:
        type_ = ctor.type
        place = 0
        while isinstance(type_, Pi):
            if place >= decl.num_params:
                level = checker.sort_of(erase(type_.type))
                num_fields += 1
                is_prop = is_prop and equiv(level, ZERO) and decl.name not in collect_consts(type_.type)
                universes += _parts(level)
            type_ = instantiate(type_.body, checker.open_local(type_.type))
            place += 1
    if is_prop and num_fields > 0:
        return PROP
    level = ONE
    for universe in universes:
        level = Max(level, universe)
    level = simplify(level)
    lower = _one_less(level)
    return Sort(level if lower is None else Succ(lower))  # as `Type _`, which is how Lean shows it


def _one_less(level: Level) -> Level | None:
    """The level below a simplified one; None where it may be 0."""
    if isinstance(level, Succ):
        return level.of
    if not isinstance(level, Max):
        return None
    left, right = _one_less(level.left), _one_less(level.right)
    return None if left is None or right is None else Max(left, right)


def _parts(level: Level) -> list[Level]:
    """The universes that a maximum is of, as Lean takes it apart: both sides of `imax` too."""
    if isinstance(level, Max | IMax):
        return [*_parts(level.left), *_parts(level.right)]
    return [] if level is ZERO else [level]


def _check_result(header: Header, signature: Signature) -> None:
    """The type of a type must end in a sort as it stands, not only after computing, as Lean's elaborator wants it."""
    assert header.type is not None
    result = header.session.mctx.instantiate(header.type)
    while isinstance(result, Pi):
        result = result.body
    if not isinstance(result, Sort):
        at = signature.type or signature
        raise ElabError("invalid inductive type, resultant type is not a sort", at.pos, at.end)
    # Which eliminations there are would depend on the values of the parameters; Lean exempts its own `PUnit`.
    is_certain = equiv(result.level, ZERO) or is_never_zero(result.level) or collect_level_mvars(result)
    if not is_certain and header.name != "PUnit":
        text = (
            "Invalid universe polymorphic resulting type: The resulting universe is not `Prop`, but it may be "
            f"`Prop` for some parameter values:\n  {header.session.show(result, header.lctx)}"
        )
        at = signature.type or signature
        raise ElabError(text, at.pos, at.end)


def _ctor_type(header: Header, ctor: CtorStx, params: LocalContext, self_const: Const, has_fields: bool) -> Expr:
    """The type of a constructor, over the parameters.

    Names that it does not know become arguments of the constructor; in a structure, arguments of the field.
    """
    session = header.session
    mark = session.mctx.save()

    def elaborate(names: Sequence[str], levels: Sequence[str]) -> Expr:
        if levels:
            raise ElabError(f"unknown universe level `{levels[0]}`", ctor.pos, ctor.end)
        session.mctx.restore(mark)
        session.auto_bound = tuple(names)
        automatic = [auto_binder(name) for name in names]
        return _elab_ctor(header, ctor, params, self_const, automatic, has_fields)

    return binding(session.state, elaborate, header.name.rpartition(".")[2])


def _add_field(elaborator: Elaborator, field: Binder) -> str:
    """Bring a field of a structure into scope; what its type does not know it is about all of: `∀ {x}, ..`."""

    def elaborate(names: Sequence[str], levels: Sequence[str]) -> str:
        if levels:
            raise ElabError(f"unknown universe level `{levels[0]}`", field.pos, field.end)
        elaborator.session.auto_bound = tuple(names)
        binder = field
        if names and field.type is not None:
            automatic = tuple([auto_binder(name) for name in names])
            binder = dataclasses.replace(field, type=Forall(automatic, field.type, pos=field.pos, end=field.end))
        with elaborator.trial():
            return add_local(elaborator, binder)

    return binding(elaborator.session.state, elaborate)


def _elab_ctor(
    header: Header,
    ctor: CtorStx,
    params: LocalContext,
    self_const: Const,
    automatic: Sequence[Binder],
    has_fields: bool,
) -> Expr:
    session = header.session
    mctx = session.mctx
    elaborator = Elaborator(session, params)
    binders = [*automatic, *ctor.binders]
    ids: list[str] = []
    for binder in binders:
        ids.append(_add_field(elaborator, binder) if has_fields else add_local(elaborator, binder))
    if ctor.type is None:
        if isinstance(header.type, Pi):
            raise ElabError(
                f"Missing resulting type for constructor `{ctor.name}`: it must be given because `{header.name}` is "
                "an inductive family",
                ctor.pos,
                ctor.end,
            )
        result: Expr = mk_app(self_const, *[decl.fvar for decl in params])
        elaborator.force()
    else:
        result = elaborator.elab_type(ctor.type)
        elaborator.force()
        _find_params(elaborator, mctx.mk_pi(ids, result), params, self_const)
        result = finish(elaborator, result, "error", ctor.type).term
    bind_types(elaborator, automatic, ids)
    ids = [decl.fvar_id for decl in elaborator.lctx if decl.fvar_id not in params]
    type_ = mctx.instantiate(mctx.mk_pi(ids, result))
    for decl in reversed(params.decls):
        hidden = mctx.fresh_local(decl.user_name, decl.type, info="implicit")
        type_ = mctx.mk_pi([hidden.fvar_id], replace_fvar(type_, decl.fvar_id, FVar(hidden.fvar_id)))
    type_ = mctx.instantiate(type_)
    type_ = replace(
        type_, lambda node: self_const if isinstance(node, Const) and node.name == self_const.name else None
    )
    if collect_level_mvars(type_):
        raise ElabError(f"Failed to infer universe levels in the type of constructor `{ctor.name}`", ctor.pos, ctor.end)
    return type_


def _find_params(elaborator: Elaborator, type_: Expr, params: LocalContext, self_const: Const) -> None:
    """Unify parameters of the type that its occurrences leave out, being implicit, with those of the declaration."""
    mctx = elaborator.mctx
    for node in subterms(mctx.instantiate(type_)):
        fn, args = get_app_fn_args(node)
        if isinstance(fn, Const) and fn.name == self_const.name:
            for arg, param in zip(args, params):
                if isinstance(mctx.instantiate(arg), MVar):
                    mctx.is_def_eq(arg, param.fvar)


def _num_params(name: str, given: int, type_: Expr, ctors: list[Expr]) -> int:
    """The parameters given before the colon, and the arguments after it that are the same everywhere."""
    count = given
    arity = 0
    while isinstance(type_, Pi):
        type_, arity = type_.body, arity + 1
    while count < arity and ctors and all(_is_fixed(name, count, ctor) for ctor in ctors):
        count += 1
    return count


def _is_fixed(name: str, place: int, ctor: Expr) -> bool:
    """Whether the constructor's binder at `place` is the argument at `place` of every occurrence of the type."""
    fvars: list[Expr] = []
    type_ = ctor
    for i in range(place + 1):
        if not isinstance(type_, Pi):
            return False
        fvars.append(FVar(f"_param{i}"))
        type_ = instantiate(type_.body, fvars[-1])
    for node in subterms(type_):
        fn, args = get_app_fn_args(node)
        if isinstance(fn, Const) and fn.name == name and len(args) > place and args[place] is not fvars[place]:
            return False
    return True


# -- structures -------------------------------------------------------------------------------------------------------


def run_structure(result: CommandResult, cmd: StructureCmd) -> None:
    """Add a structure: an inductive type with one constructor, and a projection for every field."""
    check_modifiers(result.state, cmd)
    check_new(result.state, cmd.signature)
    ctor = CtorStx(cmd.ctor, cmd.fields, None, pos=cmd.pos, end=cmd.end)
    decl = _declare(result, cmd, (ctor,))
    info = result.state.env[decl.name]
    assert isinstance(info, InductiveInfo)
    for index, field in enumerate(cmd.fields):
        _add_projection(result, cmd, info, index, f"{decl.name}.{field.name}")


def _add_projection(result: CommandResult, cmd: StructureCmd, info: InductiveInfo, index: int, name: str) -> None:
    env = result.state.env
    ctor = env[info.ctors[0]]
    assert isinstance(ctor, CtorInfo)
    levels = tuple(LParam(level) for level in info.level_params)
    binders: list[Pi] = []
    type_: Expr = ctor.type
    for _ in range(info.num_params):
        assert isinstance(type_, Pi)
        binders.append(type_)
        type_ = type_.body
    owner = mk_app(Const(info.name, levels), *[BVar(i) for i in range(info.num_params - 1, -1, -1)])
    fields: list[Expr] = []
    type_ = lift(type_, 1)
    for i in range(index):
        assert isinstance(type_, Pi)
        previous = cmd.fields[i].name
        params = [BVar(k) for k in range(info.num_params, 0, -1)]
        fields.append(App(mk_app(Const(f"{info.name}.{previous}", levels), *params), BVar(0)))
        type_ = instantiate(type_.body, fields[-1])
    assert isinstance(type_, Pi)
    field_type, value = type_.type, Proj(info.name, index, BVar(0))
    full_type: Expr = Pi("self", owner, field_type)
    full_value: Expr = Lam("self", owner, value)
    for binder in reversed(binders):
        full_type = Pi(binder.name, binder.type, full_type, "implicit")
        full_value = Lam(binder.name, binder.type, full_value, "implicit")
    params_ = info.level_params
    decl = (
        TheoremDecl(name, params_, full_type, full_value)
        if info.is_prop
        else DefDecl(name, params_, full_type, full_value, True)
    )
    result.state = add_to_kernel(result.state, decl, cmd.signature)
