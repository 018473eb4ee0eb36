"""Elaboration of dot notation and operators."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from nanolean.elab.elaborator import BOOL, Elaborator, elaborates
from nanolean.elab.names import ROOT
from nanolean.kernel.declaration import CtorInfo, InductiveInfo
from nanolean.kernel.expr import PROP, Const, Expr, MVar, Pi, Proj, Sort, get_app_fn, mk_app
from nanolean.meta.instances import synthesize
from nanolean.meta.mctx import MetaContext
from nanolean.meta.reduce import NAT_TYPE, const_info
from nanolean.proof_errors import ElabError
from nanolean.syntax import AppStx, BinOp, Ident, NamedArg, Num, Term, Unary


@dataclass(frozen=True)
class Access:
    """A constant `owner.field` that takes the object as an argument, or a term that is the field already."""

    name: str | None = None
    owner: str = ""
    term: Expr | None = None


def access_fields(self: Elaborator, e: Expr, field: str | int, stx: Term) -> Access:
    """Return how to read a field of `e`; raises where its type has none of that name."""
    type_ = self.mctx.instantiate(self.mctx.infer_type(e))
    if self.known_head(type_) is None:
        self.resume()
        type_ = self.mctx.instantiate(type_)
    first = type_ = self.mctx.whnf_core(type_)
    while True:
        head = get_app_fn(type_)
        if isinstance(head, Const):
            if isinstance(field, int):
                access = _projection(self, e, head.name, field)
                if access is not None:
                    return access
            elif f"{head.name}.{field}" in self.session.state.env:
                return Access(f"{head.name}.{field}", head.name)
        if isinstance(type_, Pi) and isinstance(field, str) and f"Function.{field}" in self.session.state.env:
            return Access(f"Function.{field}", "Function")
        # `h.left` for `h : p` with `def p := a ∧ b`: the type is unfolded step by step until it has the field
        # (`resolveLValLoop` of Lean's Elab/App.lean).
        unfolded = self.mctx.unfold(type_)
        if unfolded is None:
            break
        type_ = self.mctx.whnf_core(unfolded)
    shown = self.show(first)
    head = get_app_fn(first)
    if isinstance(e, Const) and not is_object(self.mctx, e) and isinstance(field, str):
        raise ElabError(f"Unknown constant `{e.name}.{field}`", stx.pos, stx.end)
    if isinstance(field, int):
        raise ElabError(f"Invalid projection: {_no_such_place(self, e, first, field)}", stx.pos, stx.end)
    if not isinstance(head, Const) and not isinstance(first, Pi):
        raise ElabError(
            "Invalid field notation: Field projection operates on types of the form `C ...` where C is a constant. "
            f"The expression\n  {self.show(e)}\nhas type `{shown}` which does not have the necessary form.",
            stx.pos,
            stx.end,
        )
    owner = head.name if isinstance(head, Const) else "Function"
    raise ElabError(
        f"Invalid field `{field}`: The environment does not contain `{owner}.{field}`, so it is not possible to "
        f"project the field `{field}` from an expression\n  {self.show(e)}\nof type `{shown}`",
        stx.pos,
        stx.end,
    )


def is_object(mctx: MetaContext, e: Const) -> bool:
    """Return whether a constant can stand before a dot: it is neither a type nor a function."""
    return not isinstance(mctx.whnf_core(mctx.instantiate(mctx.infer_type(e))), Sort | Pi)


def _no_such_place(self: Elaborator, e: Expr, type_: Expr, place: int) -> str:
    """Say why `e.1` is nothing."""
    head = get_app_fn(type_)
    info = const_info(self.session.state.env, head)
    shown = self.show(e)
    if not isinstance(info, InductiveInfo) or not info.is_structure:
        return (
            "Projections extract constructor fields for one-constructor inductive types. The expression\n  "
            f"{shown}\nhas type `{self.show(type_)}` which is not a one-constructor inductive type."
        )
    ctor = self.session.state.env[info.ctors[0]]
    assert isinstance(ctor, CtorInfo)
    count = ctor.num_fields
    note = f"Note: The expression\n  {shown}\nhas type `{self.show(type_)}` which has only {count} fields"
    return f"Index `{place}` is invalid for this structure; it must be between 1 and {count}\n\n{note}"


def _projection(self: Elaborator, e: Expr, struct: str, place: int) -> Access | None:
    """`e.1`: the function named after the field if there is one, otherwise the kernel's projection."""
    info = self.session.state.get(struct)
    if not isinstance(info, InductiveInfo) or not info.is_structure:
        return None
    ctor = self.session.state.env[info.ctors[0]]
    assert isinstance(ctor, CtorInfo)
    if not 1 <= place <= ctor.num_fields:
        return None
    name = f"{struct}.{field_names(ctor)[place - 1]}"
    if name in self.session.state.env:
        return Access(name, struct)
    # Data cannot be projected from a proof by `Proj`; the kernel refuses it.
    if info.is_prop:
        return None
    return Access(term=Proj(struct, place - 1, e))


def field_names(ctor: CtorInfo) -> list[str]:
    """Return the names of the fields of a constructor."""
    names = []
    type_ = ctor.type
    while isinstance(type_, Pi):
        names.append(type_.name)
        type_ = type_.body
    return names[ctor.num_params :]


def explicit_fields(ctor: CtorInfo) -> int:
    """Count the fields of a constructor that `⟨..⟩` and patterns name."""
    type_, place, count = ctor.type, 0, 0
    while isinstance(type_, Pi):
        count += place >= ctor.num_params and type_.info == "default"
        place += 1
        type_ = type_.body
    return count


def find_in_namespace_of(mctx: MetaContext, type_: Expr, name: str) -> str | None:
    """Return the constant `T.name` for a type headed by `T`, or by something that unfolds to that."""
    current: Expr | None = type_
    while current is not None:
        head = get_app_fn(current)
        if isinstance(head, Const) and f"{head.name}.{name}" in mctx.env:
            return f"{head.name}.{name}"
        if current.loose:  # the result type of a function, which nothing can unfold
            return None
        current = mctx.unfold(current)
    return None


NAT_OPS = {"+": "Nat.add", "-": "Nat.sub", "*": "Nat.mul", "/": "Nat.div", "%": "Nat.mod", "^": "Nat.pow"}
NAT_RELATIONS = {"<": "Nat.lt", "≤": "Nat.le", ">": "Nat.gt", "≥": "Nat.ge", "∣": "Nat.dvd"}
CONNECTIVES = {"∧": "And", "∨": "Or", "↔": "Iff"}
BOOL_OPS = {"&&": "and", "||": "or"}
FUNCTIONS = {"::": "List.cons", "++": "List.append", "∈": "List.Mem", "∘": "Function.comp", "×": "Prod"}
CLASSES = {
    "+": "HAdd", "-": "HSub", "*": "HMul", "/": "HDiv", "%": "HMod", "^": "HPow",
    "<": "LT", "≤": "LE", ">": "LT", "≥": "LE", "∣": "Dvd", "++": "HAppend", "∈": "Membership", "∉": "Membership",
    "Max.max": "Max", "Min.min": "Min",
}  # fmt: skip
CHAINED = (*NAT_OPS, "++")
"""The operators whose results have the type of their operands."""


def elab_binop(self: Elaborator, stx: BinOp, expected: Expr | None) -> Expr:
    """Elaborate a binary operator, by its kind; one that Lean has for many types waits while the type is not known."""
    # `binop%` of Lean's Elab/Extra.lean: the operands of a whole chain `a + b * c` are elaborated first, without an
    # expected type, and the type of one is that of all.
    if self.known_head(expected) is None or stx.op not in CHAINED:
        leaves = _leaves(stx, _chain(stx))
        done, types = try_operands(self, leaves)
        tried = _with_leaves(stx, done)
        if types:
            return wait_for_operands(self, stx, tried, _result_type(self, stx, expected), types, _class_operator(stx))
        stx = tried
    op = stx.op
    if op in NAT_OPS:
        return mk_app(_nat_const(self, stx, NAT_OPS[op]), _nat(self, stx, stx.lhs), _nat(self, stx, stx.rhs))
    if op in NAT_RELATIONS:
        return mk_app(_nat_const(self, stx, NAT_RELATIONS[op]), _nat(self, stx, stx.lhs), _nat(self, stx, stx.rhs))
    if op in CONNECTIVES:
        return mk_app(Const(CONNECTIVES[op]), self.elab_as(stx.lhs, PROP), self.elab_as(stx.rhs, PROP))
    if op in BOOL_OPS:
        return mk_app(Const(BOOL_OPS[op]), self.elab_as(stx.lhs, BOOL), self.elab_as(stx.rhs, BOOL))
    if op in ("=", "≠"):
        return _equality(self, stx)
    if op in ("==", "!="):
        test = _boolean_equality(self, stx)
        if op == "!=":
            return mk_app(Const("not"), test)
        return test
    if op == "<|":
        return self.elab(_applied(stx, stx.lhs, stx.rhs), expected)
    if op == "|>":
        return self.elab(_applied(stx, stx.rhs, stx.lhs), expected)
    if op == "∉":
        return mk_app(Const("Not"), elab_binop(self, replace(stx, op="∈"), expected))
    if op in FUNCTIONS and FUNCTIONS[op] in self.session.state.env:
        # By its full name: a user's `List.append` in an open namespace is not what `++` means.
        fn_stx = Ident(ROOT + FUNCTIONS[op], pos=stx.pos, end=stx.end)
        return self.elab(AppStx(fn_stx, (stx.lhs, stx.rhs), pos=stx.pos, end=stx.end), expected)
    raise ElabError(f"the operator `{op}` is not supported", stx.pos, stx.end)


class Done(Term):
    """An operand that is elaborated already."""

    value: Expr


@elaborates(Done)
def elab_done(self: Elaborator, stx: Done, expected: Expr | None) -> Expr:
    """Return the term that it was already elaborated to."""
    return stx.value


def _is_arithmetic(stx: Term) -> TypeGuard[BinOp]:
    return isinstance(stx, BinOp) and stx.op in NAT_OPS


def _chain(stx: BinOp) -> Collection[str] | None:
    """The operators that make one chain with `stx` where they are its operands, None if `stx` is for one type only."""
    equation = stx.op in ("=", "≠") and (_is_arithmetic(stx.lhs) or _is_arithmetic(stx.rhs))
    if equation or stx.op in NAT_OPS or stx.op in NAT_RELATIONS or stx.op in ("==", "!="):
        return NAT_OPS
    return {"++": ("++",), "∈": (), "∉": ()}.get(stx.op)


def _leaves(stx: BinOp, chain: Collection[str] | None) -> list[Term]:
    """The operands of a chain, which say what type it is for: no exponents, and of `∈` only the right side."""
    if chain is None:
        return []
    leaves: list[Term] = []
    # `^` is `rightact%` in Lean: the exponent has a type of its own.
    for operand in {"^": (stx.lhs,), "∈": (stx.rhs,), "∉": (stx.rhs,)}.get(stx.op, (stx.lhs, stx.rhs)):
        if isinstance(operand, BinOp) and operand.op in chain:
            leaves += _leaves(operand, chain)
        else:
            leaves.append(operand)
    return leaves


def try_operands(self: Elaborator, leaves: Sequence[Term]) -> tuple[dict[int, Term], tuple[Expr, ...]]:
    """Elaborate operands up to the first whose type is known; answers them by `id`.

    Also answers the types of all if none is known. Numerals are numbers, whatever the others are.
    """
    done: dict[int, Term] = {}
    types: list[Expr] = []
    if any(isinstance(leaf, Num) for leaf in leaves):
        return done, ()
    for leaf in leaves:
        value = self.elab(leaf)
        done[id(leaf)] = Done(value, pos=leaf.pos, end=leaf.end)
        types.append(self.mctx.infer_type(value))
        if self.known_head(types[-1]) is not None:
            return done, ()
    return done, tuple(types)


def _with_leaves(stx: BinOp, done: dict[int, Term]) -> BinOp:
    if not done:
        return stx
    sides: list[Term] = []
    for side in (stx.lhs, stx.rhs):
        if isinstance(side, BinOp) and side.op in CHAINED:
            sides.append(_with_leaves(side, done))
        else:
            sides.append(done.get(id(side), side))
    return replace(stx, lhs=sides[0], rhs=sides[1])


def _result_type(self: Elaborator, stx: BinOp, expected: Expr | None) -> Expr:
    if stx.op in CHAINED:
        return self.type_or_fresh(expected)
    if stx.op in ("==", "!="):
        return BOOL
    return PROP


def _class_operator(stx: BinOp) -> str:
    """The operator whose class the message names: of an equation that of the arithmetic in it."""
    if stx.op in CLASSES:
        return stx.op
    for side in (stx.lhs, stx.rhs):
        if _is_arithmetic(side):
            return side.op
    return "=="


def wait_for_operands(self: Elaborator, stx: Term, tried: Term, type_: Expr, types: tuple[Expr, ...], op: str) -> Expr:
    """Make a placeholder for `tried`, which waits for one of the types; refused where `stx` must not wait."""
    if stx is not self.forced:
        if isinstance(get_app_fn(type_), MVar):  # the type of the result would tell as well
            types = (*types, type_)
        return self.wait(tried, type_, types)
    name = CLASSES.get(op, "BEq")
    instance = f"{name} ?m"
    if name.startswith("H"):  # `HAdd α β γ`
        instance += " ?m ?m"
    raise ElabError(
        f"typeclass instance problem is stuck, it is often due to metavariables\n  {instance}", stx.pos, stx.end
    )


def _applied(stx: Term, fn: Term, arg: Term) -> Term:
    if isinstance(fn, AppStx):
        args: tuple[Term | NamedArg, ...] = (*fn.args, arg)
        return AppStx(fn.fn, args, pos=stx.pos, end=stx.end)
    return AppStx(fn, (arg,), pos=stx.pos, end=stx.end)


def _nat_const(self: Elaborator, stx: BinOp, name: str) -> Expr:
    if name not in self.session.state.env:
        raise ElabError(f"the operator `{stx.op}` is not supported", stx.pos, stx.end)
    return Const(name)


def _nat(self: Elaborator, stx: BinOp, operand: Term) -> Expr:
    """An operand of an operator on `Nat`."""
    e = self.elab(operand, NAT_TYPE)
    type_ = self.mctx.infer_type(e)
    if self.mctx.is_def_eq(NAT_TYPE, type_):
        return e
    raise _no_instance(self, stx, type_)


def _no_instance(self: Elaborator, stx: BinOp, type_: Expr) -> ElabError:
    """Lean's error for an operator that a type does not have."""
    shown = self.show(type_)
    if " " in shown:
        shown = f"({shown})"
    name = CLASSES.get(stx.op, "BEq")
    instance = f"{name} {shown}"
    if name.startswith("H"):
        instance += f" {shown} ?m"
    note = "" if name == "BEq" else f"\n(only `Nat` has `{stx.op}` here)"
    return ElabError(f"failed to synthesize\n  {instance}{note}", stx.pos, stx.end)


def _boolean_equality(self: Elaborator, stx: BinOp) -> Expr:
    """`a == b`: `Nat.beq` on numbers, elsewhere `BEq.beq`, where equality is decidable."""
    lhs, rhs = stx.lhs, stx.rhs
    number = isinstance(lhs, Num) or isinstance(rhs, Num) or _is_arithmetic(lhs) or _is_arithmetic(rhs)
    if not number:
        left = self.elab(lhs)
        type_ = self.mctx.infer_type(left)
        lhs, number = Done(left, pos=lhs.pos, end=lhs.end), self.mctx.is_def_eq(NAT_TYPE, type_)
    if number:
        return mk_app(Const("Nat.beq"), _nat(self, stx, lhs), _nat(self, stx, rhs))
    right = self.elab_as(rhs, type_)
    self.resume()
    type_ = self.mctx.instantiate(type_)
    wanted = AppStx(Ident(f"{ROOT}DecidableEq"), (Done(type_),))
    instance = synthesize(self.mctx, self.elab(wanted), self.lctx)
    # What `deriving BEq` has made comes before, as the later instance.
    prefix, dot, last = getattr(get_app_fn(type_), "name", "").rpartition(".")
    derived_name = f"{prefix}{dot}instBEq{last}.beq"
    if derived_name in self.session.state.tagged("instance"):  # not one of this name that the text itself defines
        derived = Ident(f"{ROOT}{derived_name}", pos=stx.pos, end=stx.end)
        return self.elab(AppStx(derived, (Done(left), Done(right)), pos=stx.pos, end=stx.end))
    if instance is None or "BEq.beq" not in self.session.state.env:
        raise _no_instance(self, stx, type_)
    beq = Ident(f"{ROOT}BEq.beq", explicit=True, pos=stx.pos, end=stx.end)
    return self.elab(AppStx(beq, (Done(type_), Done(instance), Done(left), Done(right)), pos=stx.pos, end=stx.end))


def _equality(self: Elaborator, stx: BinOp) -> Expr:
    """`a = b` and `a ≠ b` at any type; the type comes from whichever side knows it."""
    # Arithmetic is on numbers here; any other side is elaborated for what it is, as in Lean's `binrel%`.
    left_type = NAT_TYPE if _is_arithmetic(stx.lhs) else None
    right_type = NAT_TYPE if _is_arithmetic(stx.rhs) else None
    if isinstance(stx.lhs, Num) and not isinstance(stx.rhs, Num):
        rhs = self.elab(stx.rhs, right_type)
        lhs = self.elab_as(stx.lhs, self.mctx.infer_type(rhs))
    else:
        lhs = self.elab(stx.lhs, left_type)
        rhs = self.elab(stx.rhs, right_type or self.mctx.infer_type(lhs))
    type_ = self.mctx.instantiate(self.mctx.infer_type(lhs))
    # `b = p` for a Boolean and a proposition is one of propositions, `(b = true) = p`.
    if type_ is BOOL and self.mctx.whnf(self.mctx.infer_type(rhs)) is PROP:
        lhs, type_ = self.bool_to_prop(lhs), PROP
    rhs = self.ensure_type(rhs, type_, stx.rhs)
    level = self.mctx.sort_level(type_)
    if level is None:
        level = self.mctx.fresh_level()
    return mk_app(Const("Eq" if stx.op == "=" else "Ne", (level,)), type_, lhs, rhs)


@elaborates(Unary)
def elab_unary(self: Elaborator, stx: Unary, expected: Expr | None) -> Expr:
    """`¬p` and `!b`."""
    if stx.op == "¬":
        return mk_app(Const("Not"), self.elab_as(stx.arg, PROP))
    if stx.op == "!":
        return mk_app(Const("not"), self.elab_as(stx.arg, BOOL))
    raise ElabError("failed to synthesize\n  Neg Nat", stx.pos, stx.end)
