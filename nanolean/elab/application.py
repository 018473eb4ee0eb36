"""Elaboration of applications: implicit and named arguments, overloaded names, and the expected type.

The expected type is unified with the result type before the arguments are elaborated (as far as the result type is
known then), so that it can tell what the arguments are to be; once more at the end.
"""

from collections.abc import Sequence

from nanolean.elab.elaborator import Elaborator, elaborates
from nanolean.elab.eliminators import Arg, elab_eliminator, eliminator_shape, finds_motive
from nanolean.elab.names import UnknownName, elab_level, split_name
from nanolean.elab.operators import (
    Done,
    access_fields,
    explicit_fields,
    field_names,
    find_in_namespace_of,
    is_object,
    try_operands,
    wait_for_operands,
)
from nanolean.kernel.declaration import CtorInfo, InductiveInfo
from nanolean.kernel.expr import App, Const, Expr, FVar, MVar, Pi, get_app_fn, get_app_fn_args, instantiate
from nanolean.meta.reduce import const_info
from nanolean.proof_errors import ElabError
from nanolean.syntax import AnonCtor, AppStx, DotIdent, Ident, LevelStx, NamedArg, ProjStx, StructLit, Term


@elaborates(Ident, DotIdent, ProjStx, AppStx)
def elab_application(self: Elaborator, stx: Term, expected: Expr | None) -> Expr:
    """Elaborate an application, or a single name (an application to no arguments)."""
    args: list[Arg] = []
    named: dict[str, NamedArg] = {}
    fn: Term = stx
    if isinstance(stx, AppStx):
        fn = stx.fn
        for arg in stx.args:
            if isinstance(arg, NamedArg):
                if arg.name in named:
                    raise ElabError(f"argument `{arg.name}` was already set", arg.pos, arg.end)
                named[arg.name] = arg
            else:
                args.append(arg)
    # `.intro` means a constant in the namespace of the expected type (`resolveDotName` of Lean's Elab/App.lean): before
    # that type is known it cannot even be read.
    if isinstance(fn, DotIdent) and self.known_head(expected) is None and stx is not self.forced:
        return self.wait(stx, expected)
    call = Call(self, stx, args, named, expected)
    call.ellipsis = isinstance(stx, AppStx) and stx.ellipsis
    return call.run(fn)


class Call:
    """One application while it is elaborated."""

    def __init__(
        self,
        elaborator: Elaborator,
        stx: Term,
        args: list[Arg],
        named: dict[str, NamedArg],
        expected: Expr | None,
    ) -> None:
        self.elaborator = elaborator
        self.mctx = elaborator.mctx
        self.stx = stx
        self.args = args
        self.named = named
        self.expected = expected
        self.ellipsis = False
        """Whether the explicit arguments that are not written are to be found."""
        self.blames_values = False
        """Whether an argument of another type is a mismatch of its own, as the value of a field is."""
        self.late_object: Expr | None = None
        """What has waited for its type already, to read a field of it: now it has one, or there is an error."""

    # -- the head ------------------------------------------------------------------------------------------------

    def run(self, fn: Term) -> Expr:
        """Elaborate the application of `fn`."""
        explicit = isinstance(fn, Ident) and fn.explicit
        if isinstance(fn, Ident):
            return self._ident(fn, explicit)
        if isinstance(fn, ProjStx):
            # What stands before a dot has no expected type, and none will come: it may not wait for one.
            self.elaborator.forced = fn.term
            base = self.elaborator.elab(fn.term)
            fields: list[str | int] = [fn.field]
            if isinstance(fn.field, str):
                fields = list(fn.field.split("."))
            return self._with_fields(base, fields, explicit, fn)
        if isinstance(fn, DotIdent):
            return self.apply(self._dot_ident(fn), explicit=False)
        self.elaborator.forced = fn
        return self.apply(self.elaborator.elab(fn), explicit=False)

    def _ident(self, fn: Ident, explicit: bool) -> Expr:
        resolved = split_name(self.elaborator.session.state, self.elaborator.lctx, fn.name)
        if resolved is None:
            raise UnknownName(fn.name, fn.pos + explicit, fn.end)  # the sign `@` is not blamed
        head, fields = resolved
        if not isinstance(head, list):
            return self._with_fields(head, list(fields), explicit, fn)
        # Functions of classes, of which only the instance for `Nat` is here: like operators they wait until an argument
        # is known to be a number.
        if head[0] in ("Max.max", "Min.min") and not (explicit or fields or self.named):
            waiting = self._wait_for_arguments(fn, head[0])
            if waiting is not None:
                return waiting
        if len(head) == 1:
            return self._with_fields(self._constant(head[0], fn.levels), list(fields), explicit, fn)
        return self._overloaded(head, fn, list(fields), explicit)

    def _wait_for_arguments(self, fn: Ident, name: str) -> Expr | None:
        """A placeholder while none of the arguments is known to be a number, as for operators."""
        terms = [arg for arg in self.args if not isinstance(arg, Expr)]
        if len(terms) != 2 or self.elaborator.known_head(self.expected) is not None:
            return None
        done, types = try_operands(self.elaborator, terms)
        self.args = [done.get(id(arg), arg) for arg in terms]
        if not types:
            return None
        tried = AppStx(fn, tuple(done.values()), pos=self.stx.pos, end=self.stx.end)
        type_ = self.elaborator.type_or_fresh(self.expected)
        return wait_for_operands(self.elaborator, self.stx, tried, type_, types, name)

    def _overloaded(self, names: list[str], fn: Ident, fields: list[str | int], explicit: bool) -> Expr:
        """Several constants have this name: the one that elaborates with the expected type."""
        fitting: list[str] = []
        refusals: list[ElabError] = []
        # All are tried before one is taken, as `elabAppAux` of Lean's Elab/App.lean does: two that elaborate are
        # ambiguous, and the first one that fits would be a guess.
        for name in names:
            try:
                with self.elaborator.trial():
                    self._candidate(name, fn, fields, explicit)
                    fitting.append(name)
                    raise ElabError("only tried")  # the way out of a trial that undoes it
            except ElabError as error:
                refusals.append(error)
        if len(fitting) > 1:
            raise ElabError(f"ambiguous, possible interpretations: {', '.join(fitting)}", fn.pos, fn.end)
        if not fitting:
            raise refusals[0]
        return self._candidate(fitting[0], fn, fields, explicit)

    def _candidate(self, name: str, fn: Ident, fields: list[str | int], explicit: bool) -> Expr:
        # A call of its own: elaborating uses the lists of arguments up.
        call = Call(self.elaborator, self.stx, list(self.args), dict(self.named), self.expected)
        e = call._with_fields(call._constant(name, fn.levels), fields, explicit, fn)
        if self.expected is None:
            return e
        return self.elaborator.ensure_type(e, self.expected, self.stx)

    def _constant(self, name: str, levels: tuple[LevelStx, ...] | None) -> Expr:
        info = self.elaborator.session.state.env[name]
        count = len(info.level_params)
        if levels is None:
            return self.mctx.fresh_const(info)
        if len(levels) > count:
            raise ElabError(f"too many explicit universe levels for `{name}`", self.stx.pos, self.stx.end)
        # Fewer levels than parameters may be written; unification finds the rest.
        given = [elab_level(self.elaborator.session, level) for level in levels]
        return Const(name, (*given, *[self.mctx.fresh_level() for _ in range(count - len(given))]))

    def _dot_ident(self, fn: DotIdent) -> Expr:
        """`.f`: the constant `T.f` where the expected type (after its arguments) is headed by `T`."""
        type_ = self.elaborator.known_head(self.expected)
        while isinstance(type_, Pi):
            type_ = type_.body
        if type_ is None:
            text = f"Invalid dotted identifier notation: The expected type of `.{fn.name}` could not be determined"
            raise ElabError(text, fn.pos, fn.end)
        name = find_in_namespace_of(self.mctx, type_, fn.name)
        if name is None:
            head = get_app_fn(type_)
            if isinstance(head, Const):
                full = f"{head.name}.{fn.name}"
            else:
                full = f".{fn.name}"
            note = f"Note: Inferred this name from the expected resulting type of `.{fn.name}`:"
            raise ElabError(f"Unknown constant `{full}`\n\n{note}\n  {self.elaborator.show(type_)}", fn.pos, fn.end)
        return self._constant(name, None)

    def _with_fields(self, head: Expr, fields: Sequence[str | int], explicit: bool, written: Term) -> Expr:
        if not fields:
            return self.apply(head, explicit)
        for i, field in enumerate(fields):
            last = i == len(fields) - 1
            # The arguments that are written belong to the last field; what is before it gets implicit ones only.
            inner = Call(self.elaborator, self.stx, [], {}, None)
            head = inner.apply(head, explicit=False)
            if self._has_unknown_type(head) and head is not self.late_object:
                arguments = (*self.args, *self.named.values())
                rest = tuple(fields[i:])
                late = LateField(head, rest, arguments, explicit, self.stx, written, pos=self.stx.pos, end=self.stx.end)
                return self.elaborator.wait(late, self.expected, (self.mctx.infer_type(head),))
            # The name of the field is blamed, which is so far from the end of what is written.
            place = written.end - len(".".join(map(str, fields[i:])))
            unknown = isinstance(head, Const) and not is_object(self.mctx, head)
            blame = self.stx
            if isinstance(field, str) and not unknown:
                blame = Term(pos=place, end=place + len(field))
            access = access_fields(self.elaborator, head, field, blame)
            call = self if last else inner
            if access.name is not None:
                fn = self._constant(access.name, None)
                head = call.insert_self(fn, head, access.owner, explicit and last)
                continue
            assert access.term is not None
            head = access.term
            if last:
                head = call.apply(head, explicit)
        return head

    def _has_unknown_type(self, e: Expr) -> bool:
        """Whether what stands before a dot has a type that nothing has told yet."""
        type_ = self.mctx.infer_type(e)
        if self.elaborator.known_head(type_) is not None:
            return False
        self.elaborator.resume()
        return self.elaborator.known_head(type_) is None

    def insert_self(self, fn: Expr, value: Expr, owner: str, explicit: bool) -> Expr:
        """Apply `fn` with `value` as its first explicit argument of a type headed by `owner`."""
        # `addLValArg` of Lean's Elab/App.lean: the object becomes the first explicit argument whose type has its head;
        # arguments that are given by name are not counted.
        place = 0
        type_ = self.mctx.infer_type(fn)
        while isinstance(type_, Pi):
            head = get_app_fn(type_.type)
            is_explicit = type_.info == "default"
            if (is_explicit or explicit) and ((isinstance(head, Const) and head.name == owner) or _is_pi(owner, type_)):
                break
            if type_.name in self.named:
                place -= is_explicit
            place += is_explicit or explicit
            type_ = type_.body
        else:
            raise ElabError(
                f"Invalid field notation: `{self.elaborator.show(fn)}` has no explicit argument of type `{owner} ...`",
                self.stx.pos,
                self.stx.end,
            )
        if place > len(self.args):
            # Arguments that stand before the object are left out, as the motive in `h.rec`: Lean names it then.
            self.named[type_.name] = NamedArg(type_.name, Done(value, pos=self.stx.pos, end=self.stx.end))
        else:
            self.args = [*self.args[:place], value, *self.args[place:]]
        return self.apply(fn, explicit)

    # -- the arguments -------------------------------------------------------------------------------------------

    def apply(self, fn: Expr, explicit: bool) -> Expr:
        """Apply `fn` to the arguments, finding the implicit ones; `explicit` is `@f`."""
        if not self.args and not self.named and explicit:
            return self._finish(fn)
        motive = self._eliminator(fn, explicit)
        if motive is not None:
            return motive
        type_ = self.mctx.infer_type(fn)
        args = list(self.args)
        eta: list[str] = []
        outer = self.elaborator.lctx
        propagated = explicit or self.expected is None
        try:
            # The cases and their order are those of `ElabAppArgs` in Lean's Elab/App.lean.
            while True:
                if not isinstance(type_, Pi):
                    type_ = self.mctx.whnf(self.mctx.instantiate(type_))
                if not isinstance(type_, Pi):
                    if not args and not self.named:
                        break
                    self._too_many(fn, type_, args)
                assert isinstance(type_, Pi)
                pi = type_
                if pi.name in self.named:
                    arg = self._argument(self.named.pop(pi.name).value, pi, fn)
                elif not explicit and (pi.info == "implicit" or (pi.info == "strict" and (args or self.named))):
                    arg = self.elaborator.fresh_hole(pi.type, self.stx)
                elif not explicit and pi.info == "inst":
                    arg = self.elaborator.fresh_instance(pi.type, self.stx)
                elif (args and pi.info != "strict") or (args and explicit):
                    # Of an object before a dot the type is known; what is expected of the field is checked at the end.
                    if not propagated and not isinstance(args[0], Expr):
                        propagated = self._propagate(pi, len(args))
                    arg = self._argument(args.pop(0), pi, fn)
                # A named argument further behind: what is before it stays open, `f (y := b)` is `fun x => f x b`.
                elif self.named:
                    decl = self.mctx.fresh_local(pi.name, pi.type)
                    self.elaborator.lctx = self.elaborator.lctx.add(decl)
                    eta.append(decl.fvar_id)
                    arg = decl.fvar
                elif self.ellipsis and pi.info == "default":
                    arg = self.elaborator.fresh_hole(pi.type, self.stx)
                else:
                    break
                fn = App(fn, arg)
                type_ = instantiate(pi.body, arg) if pi.body.loose else pi.body
            if eta:
                fn = self.mctx.mk_lambda(eta, fn)
        finally:
            self.elaborator.lctx = outer
        return self._finish(fn)

    def _too_many(self, fn: Expr, type_: Expr, args: list[Arg]) -> None:
        if self.named:
            name, arg = next(iter(self.named.items()))
            raise ElabError(
                f"Invalid argument name `{name}` for function `{self.elaborator.show(get_app_fn(fn))}`",
                arg.pos,
                arg.end,
            )
        # The message shows types that a waiting part may tell.
        self.elaborator.resume()
        text = (
            f"Function expected at\n  {self.elaborator.show(fn)}\nbut this term has type\n  "
            f"{self.elaborator.show(type_)}\n\nNote: Expected a function because this term is being applied to the "
            f"argument\n  {self._show_arg(args[0])}"
        )
        if isinstance(fn, FVar) and self.mctx.fvars[fn.id].user_name in self.elaborator.session.auto_bound:
            text += NO_FUNCTION.format(name=self.mctx.fvars[fn.id].user_name)
        raise ElabError(text, self.stx.pos, self.stx.end)

    def _show_arg(self, arg: Arg) -> str:
        if isinstance(arg, Expr):
            return self.elaborator.show(arg)
        return arg.name if isinstance(arg, Ident) else "..."

    def _argument(self, arg: Arg, pi: Pi, fn: Expr) -> Expr:
        if isinstance(arg, Expr):
            value, stx = arg, self.stx
        else:
            value, stx = self.elaborator.elab(arg, pi.type), arg
        # Of a value of a structure's field Lean says `Type mismatch`, of an argument `Application type mismatch`.
        if self.blames_values:
            return self.elaborator.ensure_type(value, pi.type, stx)
        coerced = self.elaborator.coerce(value, pi.type, stx)
        if coerced is not None:
            return coerced
        show = self.elaborator.show
        types = self.elaborator.two_types(
            self.mctx.infer_type(value),
            pi.type,
            f"in the application\n  {self.elaborator.show_unfitting(App(fn, value))}",
        )
        # Which one is meant has to be said where the same term is given twice.
        what = f"The argument\n  {show(value)}\n"
        if any(value is other for other in get_app_fn_args(fn)[1]):
            what = f"The last\n  {show(value)}\nargument "
        raise ElabError(f"Application type mismatch: {what}{types}", stx.pos, stx.end)

    def _propagate(self, pi: Pi, explicit_left: int) -> bool:
        """Unify the type of the result with the expected type, where it does not depend on arguments to come."""
        assert self.expected is not None
        type_: Expr = pi
        skipped = 0
        while isinstance(type_, Pi) and (explicit_left or type_.info != "default"):
            if type_.name in self.named:
                return True
            explicit_left -= type_.info == "default"
            type_ = type_.body
            skipped += 1
        if explicit_left or isinstance(type_, Pi) or type_.loose:
            return True
        # An expected type that is not known yet tells nothing, and would be fixed before a coercion can be found.
        if isinstance(get_app_fn(self.mctx.instantiate(self.expected)), MVar):
            return True
        self.mctx.is_def_eq(self.expected, type_)
        return True

    def _finish(self, e: Expr) -> Expr:
        if self.expected is not None:
            # It only guides: who expects the type reports a mismatch, with the whole term.
            self.mctx.is_def_eq(self.expected, self.mctx.infer_type(e))
        if self.elaborator.instances:
            self.elaborator.find_instances()
        return e

    # -- recursors -----------------------------------------------------------------------------------------------

    def _eliminator(self, fn: Expr, explicit: bool) -> Expr | None:
        """A recursor whose motive is left out: the motive is the expected type, abstracted over the targets."""
        if explicit or not isinstance(fn, Const):
            return None
        shape = eliminator_shape(self.elaborator.session.state, fn)
        if shape is None or not finds_motive(shape, self.args, self.named):
            return None
        if self.elaborator.known_head(self.expected) is None:
            if self.stx is not self.elaborator.forced:
                return self.elaborator.wait(self.stx, self.expected)
            raise ElabError("failed to elaborate eliminator, expected type is not available")
        assert self.expected is not None
        return elab_eliminator(self.elaborator, self.stx, fn, shape, self.args, self.named, self.expected)


class LateField(Term):
    """`x.f a` while the type of `x` is unknown, as in `List.map (fun x => x.1) pairs`, where `pairs` tells it."""

    object: Expr
    fields: tuple[str | int, ...]
    arguments: tuple[Arg | NamedArg, ...]
    explicit: bool
    stx: Term
    """The whole application as it was written, for messages."""
    written: Term
    """What was written with the dot in it."""


@elaborates(LateField)
def elab_late_field(self: Elaborator, stx: LateField, expected: Expr | None) -> Expr:
    """Elaborate a field whose object has a type by now, or never gets one."""
    args: list[Arg] = []
    named: dict[str, NamedArg] = {}
    for arg in stx.arguments:
        if isinstance(arg, NamedArg):
            named[arg.name] = arg
        else:
            args.append(arg)
    call = Call(self, stx.stx, args, named, expected)
    call.late_object = stx.object
    return call._with_fields(stx.object, stx.fields, stx.explicit, stx.written)


def _is_pi(owner: str, type_: Pi) -> bool:
    return owner == "Function" and isinstance(type_.type, Pi)


NO_FUNCTION = (
    "\n\nHint: The identifier `{name}` is unknown, and Lean's `autoImplicit` option causes an unknown identifier to be "
    "treated as an implicitly bound variable with an unknown type. However, the unknown type cannot be a function, and "
    "a function is what Lean expects here. This is often the result of a typo or a missing `import` or `open` "
    "statement."
)
ONE_CTOR = (
    "\n\nNote: This notation can only be used when the expected type is an inductive type with a single constructor"
)


@elaborates(AnonCtor)
def elab_anonymous_constructor(self: Elaborator, stx: AnonCtor, expected: Expr | None) -> Expr:
    """`⟨a, b⟩`: the only constructor of the expected type; too many parts go into the last one."""
    type_ = self.known_head(expected)
    if type_ is None:
        if stx is not self.forced:
            return self.wait(stx, expected)
        raise ElabError(
            "Invalid `⟨...⟩` notation: The expected type of this term could not be determined", stx.pos, stx.end
        )
    head = get_app_fn(type_)
    info = const_info(self.session.state.env, head)
    if info is None or info.kind != "inductive":
        raise ElabError(
            f"Invalid `⟨...⟩` notation: The expected type `{self.show(type_)}` is not an inductive type{ONE_CTOR}",
            stx.pos,
            stx.end,
        )
    ctors: tuple[str, ...] = info.ctors  # type: ignore[attr-defined]
    if len(ctors) != 1:
        number = "no constructors"
        if ctors:
            number = f"more than one constructor{ONE_CTOR}"
        raise ElabError(
            f"Invalid `⟨...⟩` notation: The expected type `{self.show(type_)}` has {number}", stx.pos, stx.end
        )
    ctor = self.session.state.env[ctors[0]]
    assert isinstance(ctor, CtorInfo)
    count = explicit_fields(ctor)
    # `⟨a, b, c⟩` is `⟨a, ⟨b, c⟩⟩`, but there is no last field to hold the rest where there is none at all.
    if len(stx.args) < count or (len(stx.args) > count == 0):
        raise ElabError(_wrong_number(ctors[0], count, len(stx.args)), stx.pos, stx.end)
    args = list(stx.args)
    if len(args) > count:
        rest = tuple(args[count - 1 :])
        # Lean blames the whole for what is wrong with the part that is made up.
        args[count - 1 :] = [AnonCtor(rest, pos=stx.pos, end=stx.end)]
    call = Call(self, stx, list(args), {}, type_)
    return call.apply(self.mctx.fresh_const(ctor), explicit=False)


def _wrong_number(ctor: str, count: int, given: int) -> str:
    """Say that `⟨...⟩` has too few parts, in Lean's words (with its `s` in the wrong place)."""
    has = f"has {count} explicit field"
    if count == 1:
        has += "s"
    elif count == 0:
        has = "does not have explicit fields"
    only = "only " if given and count else ""
    provided = f"{given or 'none'} were provided"
    if given == 1:
        provided = "1 was provided"
    return f"Insufficient number of fields for `⟨...⟩` constructor: Constructor `{ctor}` {has}, but {only}{provided}"


@elaborates(StructLit)
def elab_structure(self: Elaborator, stx: StructLit, expected: Expr | None) -> Expr:
    """`{ s with x := a : T }`: the constructor of the expected structure with these fields, and others of `s`."""
    if stx.type is not None:
        expected = self.elab_type(stx.type)
    type_ = self.known_head(expected)
    source: Expr | None = None
    if stx.source is not None:
        self.forced = stx.source
        source = self.elab(stx.source)
        type_ = type_ or self.known_head(self.mctx.infer_type(source))
    if type_ is None:
        if stx is not self.forced:
            return self.wait(stx, expected)
        raise ElabError("Invalid `{...}` notation: The expected type of this term could not be determined")
    head = get_app_fn(type_)
    info = const_info(self.session.state.env, head)
    if not isinstance(info, InductiveInfo) or len(info.ctors) != 1 or info.num_indices:
        raise ElabError(f"Invalid `{{...}}` notation: The expected type `{self.show(type_)}` is not a structure")
    ctor = self.session.state.env[info.ctors[0]]
    assert isinstance(ctor, CtorInfo)
    names = field_names(ctor)
    given: dict[str, Term] = {}
    for field in stx.fields:
        if field.name not in names:
            raise ElabError(f"`{field.name}` is not a field of structure `{info.name}`", field.pos, field.end)
        if field.name in given:
            raise ElabError(f"field `{field.name}` has already been specified", field.pos, field.end)
        given[field.name] = field.value
    missing = [name for name in names if name not in given]
    if source is not None:
        done = Done(source, pos=stx.pos, end=stx.end)
        given |= {name: ProjStx(done, name, pos=stx.pos, end=stx.end) for name in missing}
    elif missing:
        raise ElabError("Fields missing: " + ", ".join(f"`{name}`" for name in missing))
    call = Call(self, stx, [given[name] for name in names], {}, type_)
    call.blames_values = True
    return call.apply(self.mctx.fresh_const(ctor), explicit=False)
