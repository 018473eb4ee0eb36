"""Terms and goals as Lean prints them; these texts are what a language model reads.

Printing runs after every tactic, and most hypotheses are those of the state before. The text of a type depends on the
names of the variables in it and, but for rare clashes, on nothing else in the context, so it is kept with these names.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

from nanolean.kernel.declaration import Constants
from nanolean.kernel.expr import Expr, alpha_eq, collect_fvars
from nanolean.meta.lctx import INACCESSIBLE_MARK, LocalContext, LocalDecl
from nanolean.meta.mctx import MetaContext
from nanolean.printer.line_breaks import CLOSE, INDENT, LINE, OPEN, WIDTH, flat, lay_out
from nanolean.printer.print_terms import BRACKETS, TermPrinter

MAX_CACHED = 4_000
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

MVarName = Callable[[str], str]


def pp_expr(
    e: Expr,
    lctx: LocalContext,
    env: Constants,
    mvar_name: MVarName | None = None,
    universes: bool = False,
    dotted: bool = True,
    before: str = "",
) -> str:
    """Print a term whose free variables are in `lctx`; assigned metavariables are replaced.

    `mvar_name` gives the user name of a metavariable id, empty for none (then it prints as `?m.12`); `universes` shows
    the levels of constants. Unless `dotted`, the last argument of the term never stands before a
    dot. `before` is what its line begins with.
    """
    printer = _printer(env, universes)
    printer.enter(lctx, mvar_name)
    marked = printer.marked(e) if dotted else printer.terms.print(e, dotted=False)
    return before + lay_out(marked, column=len(before.rpartition("\n")[2]))


def pp_signature(head: str, args: Sequence[LocalDecl], rest: Expr, lctx: LocalContext, env: Constants) -> str:
    """Print `head (x y : A) {z : B} : rest`, where the arguments are locals of the context."""
    printer = _printer(env)
    printer.enter(lctx, None)
    # Unlike in goals, the first of several hidden names is the one without a number.
    names: dict[str, str] = {}
    hidden: dict[str, int] = {}
    for decl in args:
        number = hidden.get(decl.user_name, 0) if INACCESSIBLE_MARK in decl.user_name else 0
        hidden[decl.user_name] = number + 1
        names[decl.fvar_id] = decl.user_name + (str(number).translate(_SUPERSCRIPTS) if number else "")
    printer.rename(names)
    pieces = [head]
    for i, decl in enumerate(args):
        shown = names[decl.fvar_id]
        opening, close = BRACKETS[decl.info]
        before = args[i - 1] if i else None
        if before is not None and decl.info == before.info != "inst" and alpha_eq(decl.type, before.type):
            # One more name in the group that is last.
            pieces[-1] = pieces[-1].replace(f" :{LINE}", f"{LINE}{shown} :{LINE}", 1)
        elif decl.info == "inst" and INACCESSIBLE_MARK in shown:
            pieces.append(f"{OPEN}[{printer.marked(decl.type)}]{CLOSE}")
        else:
            pieces.append(f"{OPEN}{opening or '('}{shown} :{LINE}{printer.marked(decl.type)}{close or ')'}{CLOSE}")
    text = LINE.join(pieces)
    return lay_out(f"{text} :{LINE}{printer.marked(rest)}")


def pp_goal(
    tag: str | None,
    lctx: LocalContext,
    target: Expr,
    env: Constants,
    mvar_name: MVarName | None = None,
    universes: bool = False,
) -> str:
    """Print a goal: `case tag`, hypotheses (neighbours of one type together), `⊢ target`. No tag, no `case` line."""
    printer = _printer(env, universes)
    printer.enter(lctx, mvar_name)
    lines = [f"case {tag}"] if tag else []
    names: list[str] = []
    shared: Expr | None = None
    for decl in lctx:
        if names and (decl.value is not None or shared is None or not alpha_eq(shared, decl.type)):
            lines.append(_hypothesis(names, printer.marked(shared) if shared is not None else ""))
            names = []
        name = printer.terms.names[decl.fvar_id]
        if decl.value is not None:
            lines.append(_definition(name, printer.marked(decl.type), printer.marked(decl.value)))
            shared = None
        else:
            names.append(name)
            shared = decl.type
    if names and shared is not None:
        lines.append(_hypothesis(names, printer.marked(shared)))
    lines.append("⊢ " + lay_out(printer.marked(target), column=2, indent=INDENT))
    return "\n".join(lines)


def shown_names(lctx: LocalContext) -> dict[str, str]:
    """Return the printed name of each local, by id: a name that is inaccessible or shadowed by a later one
    carries `✝`, all but the last of such with a number (`h✝¹`, `h✝`).
    """
    shown: dict[str, str] = {}
    later: set[str] = set()
    hidden: dict[str, int] = {}
    for decl in reversed(lctx.decls):
        name = decl.user_name
        if name in later or INACCESSIBLE_MARK in name:
            stem = name.partition(INACCESSIBLE_MARK)[0]
            number = hidden.get(stem, 0)
            hidden[stem] = number + 1
            name = stem + INACCESSIBLE_MARK + (str(number).translate(_SUPERSCRIPTS) if number else "")
        else:
            later.add(name)
        shown[decl.fvar_id] = name
    return shown


def _hypothesis(names: list[str], type_: str) -> str:
    head = " ".join(names) + " :"
    line = f"{head} {flat(type_)}"
    if len(line) <= WIDTH and "\n" not in line:
        return line
    return f"{head}\n{' ' * INDENT}{lay_out(type_, column=INDENT, indent=INDENT)}"


def _definition(name: str, type_: str, value: str) -> str:
    head = f"{name} : {lay_out(type_, column=len(name) + 3, rest=3)} :="
    line = f"{head} {flat(value)}"
    if len(line) <= WIDTH and "\n" not in line:
        return line
    return f"{head}\n{' ' * INDENT}{lay_out(value, column=INDENT, indent=INDENT)}"


class _CachingPrinter:
    """A term printer that remembers whole texts."""

    def __init__(self, env: Constants, universes: bool) -> None:
        self.terms = TermPrinter(env)
        self.terms.show_universes = universes
        self._cache: dict[Expr, tuple[str, tuple[tuple[str, str], ...]]] = {}
        self._lctx: LocalContext | None = None

    def enter(self, lctx: LocalContext, mvar_name: MVarName | None) -> None:
        """Print in this context from now on."""
        terms = self.terms
        terms.mvar_name = mvar_name
        if lctx is not self._lctx:
            self._lctx = lctx
            terms.names = shown_names(lctx)
            terms.taken = set(terms.names.values())
            terms.types = {decl.fvar_id: decl.type for decl in lctx}

    def rename(self, names: dict[str, str]) -> None:
        """Print the locals of the context under these names, until the next context is entered."""
        self._lctx = None
        self.terms.names = names
        self.terms.taken = set(names.values())

    def marked(self, e: Expr) -> str:
        """Print a term with the marks of `line_breaks`."""
        terms = self.terms
        names = terms.names
        cached = self._cache.get(e)
        if cached is not None and all(names.get(fvar_id) == name for fvar_id, name in cached[1]):
            return cached[0]
        terms.renamed = False
        text = terms.print(e)
        if not (terms.renamed or e.has_mvar):
            if len(self._cache) >= MAX_CACHED:
                self._cache.clear()
            self._cache[e] = text, tuple((fvar_id, names.get(fvar_id, "")) for fvar_id in collect_fvars(e))
        return text


@lru_cache(maxsize=2)
def _printer(env: Constants, universes: bool = False) -> _CachingPrinter:
    return _CachingPrinter(env, universes)


def show_goal(mctx: MetaContext, goal: str) -> str:
    """Print a goal as Lean does: `case tag`, hypotheses, `⊢ target`."""
    decl = mctx.decl(goal)
    mctx.budget.spend(5 * len(decl.lctx))
    shown = LocalContext(instantiated(mctx, decl.lctx))
    return pp_goal(decl.user_name, shown, mctx.instantiate(decl.type), mctx.env, mctx.user_name, mctx.show_universes)


def instantiated(mctx: MetaContext, lctx: LocalContext) -> LocalContext:
    """Replace assigned metavariables in the types and values of the context."""
    if not any(decl.type.has_mvar or (decl.value is not None and decl.value.has_mvar) for decl in lctx):
        return lctx
    return LocalContext(
        replace(
            decl,
            type=mctx.instantiate(decl.type),
            value=None if decl.value is None else mctx.instantiate(decl.value),
        )
        for decl in lctx
    )
