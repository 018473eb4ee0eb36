"""Variants of a statement by rules on its elaborated form: near statements that may be easier, or teach something.

A variant may be false. Each is printed, so it may also fail to elaborate as it stands: whoever uses it has it checked.
Binders before the colon and `∀`, `→` at the head of the claim are the same here; the rules work on the variables, the
hypotheses and the conclusion behind them.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from nanolean.data.statement_key import StatementError, elaborated
from nanolean.kernel import expr as ex
from nanolean.kernel.budget import KernelError
from nanolean.kernel.declaration import Constants
from nanolean.kernel.expr import App, Const, Expr, Lam, Lit, Pi, get_app_fn_args, mk_app
from nanolean.kernel.typecheck import TypeChecker
from nanolean.meta.lctx import LocalContext, LocalDecl, fresh_fvar_id
from nanolean.printer import pp_expr

NAT = Const("Nat")
MOST_NUMBERS = 4
"""Variables of numbers to which hypotheses are added."""
MOST_TERMS = 6
"""Terms that become variables."""
_OPENING = {"implicit": ("{", "}"), "inst": ("[", "]"), "strict": ("⦃", "⦄")}


@dataclass(frozen=True)
class Telescope:
    """A statement: variables and hypotheses from the outside in, and the claim, over an environment."""

    env: Constants
    decls: tuple[LocalDecl, ...]
    claim: Expr

    def fresh(self, stem: str) -> str:
        """Return a name that no variable and no constant has: `stem`, or with a number."""
        used = {decl.user_name for decl in self.decls}
        names = (stem, *(f"{stem}{number}" for number in range(1, 1000)))
        return next(name for name in names if name not in used and self.env.get(name) is None)

    def adding(self, stem: str, type_: Expr, claim: Expr | None = None) -> "Telescope":
        """Add a variable or hypothesis behind the others, and maybe change the claim."""
        decl = LocalDecl(fresh_fvar_id(), self.fresh(stem), type_)
        return replace(self, decls=(*self.decls, decl), claim=self.claim if claim is None else claim)

    def stating(self, claim: Expr) -> "Telescope":
        """Change the claim."""
        return replace(self, claim=claim)

    def mapped(self, old: Expr, new: Expr, keep: bool = True) -> "Telescope":
        """Put a term for another one everywhere; a variable that is gone is bound no longer unless `keep`."""

        def put(e: Expr) -> Expr:
            return ex.replace(e, lambda node: new if node is old else None)

        decls = tuple(replace(decl, type=put(decl.type)) for decl in self.decls if keep or decl.fvar is not old)
        return replace(self, decls=decls, claim=put(self.claim))

    def used_after(self, number: int) -> bool:
        """Tell whether what follows mentions the variable or hypothesis of this number."""
        later = [decl.type for decl in self.decls[number + 1 :]] + [self.claim]
        return any(self.decls[number].fvar_id in ex.collect_fvars(each) for each in later)

    def is_proof(self, number: int) -> bool:
        """Tell whether it is a hypothesis, not a variable."""
        types = {decl.fvar_id: (decl.type, None) for decl in self.decls[:number]}
        return TypeChecker(self.env, types).is_prop(self.decls[number].type)

    def numbers(self) -> list[LocalDecl]:
        """The variables that are natural numbers."""
        return [decl for decl in self.decls if decl.type is NAT]

    def __str__(self) -> str:
        """Print it as it stands behind a theorem's name: `(a b : Nat) (h : a < b) : a ≤ b`."""
        parts: list[tuple[list[str], str, str]] = []
        for number, decl in enumerate(self.decls):
            shown = _one_line(decl.type, LocalContext(self.decls[:number]), self.env)
            if parts and parts[-1][1:] == (shown, decl.info) and decl.info != "inst":
                parts[-1][0].append(decl.user_name)
            else:
                parts.append(([decl.user_name], shown, decl.info))
        binders = []
        for names, shown, info in parts:
            opening, close = _OPENING.get(info, ("(", ")"))
            binders.append(f"{opening}{' '.join(names)} : {shown}{close}")
        return " ".join([*binders, ":", _one_line(self.claim, LocalContext(self.decls), self.env)])


def _one_line(e: Expr, lctx: LocalContext, env: Constants) -> str:
    return " ".join(pp_expr(e, lctx, env).split())


def telescope(source: str) -> Telescope:
    """Elaborate the last theorem of a source. Raises `StatementError` if it holds none or Lean refuses it."""
    env, type_ = elaborated(source)
    made = Telescope(env, (), Const("True"))
    while isinstance(type_, Pi):
        dependent = ex.has_loose_bvar(type_.body, 0)
        taken = {decl.user_name for decl in made.decls}
        named = type_.name if type_.name.isidentifier() and type_.name not in taken else made.fresh("x")
        # What an arrow is given no name for.
        is_premise = not dependent and type_.name in ("a", "a✝", "")
        name = made.fresh("h") if is_premise else named
        decl = LocalDecl(fresh_fvar_id(), name, type_.type, info=type_.info)
        made = replace(made, decls=(*made.decls, decl))
        type_ = ex.instantiate(type_.body, decl.fvar)
    return made.stating(type_)


# -- Rules -----------------------------------------------------------------------------------------------------------


def statement_variants(source: str) -> list[tuple[str, str]]:
    """List what one change makes of a theorem's statement: the rule, and the text behind the theorem's name.

    Raises `StatementError` for text that holds no theorem or does not elaborate.
    """
    whole = telescope(source)
    found: dict[str, str] = {}
    try:
        for rule in (_specialized, _numerals, _terms, _claims, _hypotheses, _inductions):
            for name, made in rule(whole):
                found.setdefault(str(made), name)
    except KernelError as error:
        raise StatementError(f"the statement cannot be taken apart: {error}") from error
    found.pop(str(whole), None)
    return [(name, text) for text, name in found.items()]


Made = tuple[str, Telescope]


def _specialized(t: Telescope) -> Iterator[Made]:
    """A number becomes 0, 1, 2, n + 1, a list empty; any variable an earlier one of its type."""
    for number, decl in enumerate(t.decls):
        if not t.used_after(number) or t.is_proof(number):
            continue
        if decl.type is NAT:
            for value in range(3):
                yield "specialized", t.mapped(decl.fvar, Lit(value), keep=False)
            yield "specialized", t.mapped(decl.fvar, _add(decl.fvar, 1))
        if (nil := _list_constant(decl.type, "List.nil")) is not None:
            yield "specialized", t.mapped(decl.fvar, nil, keep=False)
        for earlier in t.decls[:number]:
            if ex.alpha_eq(earlier.type, decl.type):
                yield "specialized", t.mapped(decl.fvar, earlier.fvar, keep=False)


def _numerals(t: Telescope) -> Iterator[Made]:
    """A numeral becomes smaller, or a variable, wherever it stands."""
    parts = [decl.type for decl in t.decls] + [t.claim]
    found = {node.value for part in parts for node in ex.subterms(part) if isinstance(node, Lit)}
    for value in sorted(value for value in found if isinstance(value, int) and value >= 2):
        for smaller in sorted({value - 1, value // 2}):
            yield "smaller number", t.mapped(Lit(value), Lit(smaller))
        decl = LocalDecl(fresh_fvar_id(), t.fresh("m"), NAT)
        general = t.mapped(Lit(value), decl.fvar)
        yield "generalized", replace(general, decls=(decl, *general.decls))


def _terms(t: Telescope) -> Iterator[Made]:
    """A term that the claim holds more than once becomes a variable."""
    counts: Counter[Expr] = Counter()
    _count(t.claim, counts)
    repeated = [term for term, count in counts.items() if count > 1 and isinstance(term, App) and term.loose == 0]
    checker, made = TypeChecker(t.env, {decl.fvar_id: (decl.type, None) for decl in t.decls}), 0
    for term in sorted(repeated, key=_size, reverse=True):
        kind = checker.infer(term)
        if made < MOST_TERMS and not isinstance(kind, Pi | ex.Sort) and not checker.is_prop(kind):
            made += 1
            general = t.adding("t", kind)
            yield "generalized", general.stating(_put(t.claim, term, general.decls[-1].fvar))


def _count(e: Expr, counts: Counter[Expr]) -> None:
    """Count how often each subterm occurs, arguments only: heads of applications are no terms of their own."""
    counts[e] += 1
    fn, args = get_app_fn_args(e)
    for arg in args:
        _count(arg, counts)
    if isinstance(fn, Lam | Pi):
        _count(fn.type, counts)
        _count(fn.body, counts)


def _size(e: Expr) -> int:
    return sum(1 for _ in ex.subterms(e))


def _claims(t: Telescope) -> Iterator[Made]:
    """One direction of an iff, one side of a conjunction, an equation swapped, the claim weakened."""
    fn, args = get_app_fn_args(t.claim)
    head = fn.name if isinstance(fn, Const) else ""
    for hypothesis in (index for index in range(len(t.decls)) if t.is_proof(index)):
        swapped = _swapped(t.decls[hypothesis].type)
        if swapped is not None:
            changed = replace(t.decls[hypothesis], type=swapped)
            yield "swapped", replace(t, decls=(*t.decls[:hypothesis], changed, *t.decls[hypothesis + 1 :]))
    if (swapped := _swapped(t.claim)) is not None:
        yield "swapped", t.stating(swapped)
    if head == "Iff":
        yield "one direction", t.adding("h", args[0], args[1])
        yield "one direction", t.adding("h", args[1], args[0])
    elif head in ("And", "Or"):
        yield "one side", t.stating(args[0])
        yield "one side", t.stating(args[1])
        if head == "And":
            yield "weakened", t.stating(mk_app(Const("Or"), *args))
    elif head == "Eq" and args[0] is NAT:
        yield "weakened", t.stating(mk_app(Const("Nat.le"), args[1], args[2]))
        yield "weakened", t.stating(mk_app(Const("Nat.le"), args[2], args[1]))
    elif head == "Nat.lt":
        yield "weakened", t.stating(mk_app(Const("Nat.le"), *args))
    elif head == "Exists" and len(args) == 2 and isinstance(args[1], Lam):
        inner, sides = get_app_fn_args(args[1].body)
        if inner == Const("And"):
            for side in sides:
                body = Lam(args[1].name, args[1].type, side, args[1].info)
                yield "one side", t.stating(mk_app(fn, args[0], body))


def _swapped(e: Expr) -> Expr | None:
    """An equation, inequation or equivalence the other way round."""
    fn, args = get_app_fn_args(e)
    head = fn.name if isinstance(fn, Const) else ""
    if head in ("Eq", "Ne") and len(args) == 3:
        return mk_app(fn, args[0], args[2], args[1])
    return mk_app(fn, args[1], args[0]) if head == "Iff" else None


def _hypotheses(t: Telescope) -> Iterator[Made]:
    """A hypothesis is dropped, or one is added: a number is positive, a number is at most another."""
    for number in range(len(t.decls)):
        if t.is_proof(number) and not t.used_after(number):
            yield "hypothesis dropped", replace(t, decls=t.decls[:number] + t.decls[number + 1 :])
    numbers = [decl.fvar for decl in t.numbers()[:MOST_NUMBERS]]
    wanted = [mk_app(Const("Nat.lt"), Lit(0), one) for one in numbers]
    wanted += [mk_app(Const("Nat.le"), a, b) for a in numbers for b in numbers if a is not b]
    known = [decl.type for decl in t.decls]
    for hypothesis in wanted:
        if not any(hypothesis is each for each in known):
            yield "hypothesis added", t.adding("h", hypothesis)


def _inductions(t: Telescope) -> Iterator[Made]:
    """The step of an induction over a number or a list: the claim as a hypothesis, and its successor as the claim."""
    for number, decl in enumerate(t.decls):
        if decl.fvar_id not in ex.collect_fvars(t.claim):
            continue
        if any(decl.fvar_id in ex.collect_fvars(later.type) for later in t.decls[number + 1 :]):
            continue
        if decl.type is NAT:
            yield "induction step", t.adding("ih", t.claim, _put(t.claim, decl.fvar, _add(decl.fvar, 1)))
        cons = _list_constant(decl.type, "List.cons")
        if cons is not None:
            with_head = t.adding("x", get_app_fn_args(decl.type)[1][0])
            longer = mk_app(cons, with_head.decls[-1].fvar, decl.fvar)
            yield "induction step", with_head.adding("ih", t.claim, _put(t.claim, decl.fvar, longer))


def _put(e: Expr, old: Expr, new: Expr) -> Expr:
    return ex.replace(e, lambda node: new if node is old else None)


def _add(e: Expr, count: int) -> Expr:
    return mk_app(Const("Nat.add"), e, Lit(count))


def _list_constant(type_: Expr, name: str) -> Expr | None:
    """`List.nil` or `List.cons` for the elements of a list type; None for another type."""
    fn, args = get_app_fn_args(type_)
    if isinstance(fn, Const) and fn.name == "List" and len(args) == 1:
        return mk_app(Const(name, fn.levels), args[0])
    return None
