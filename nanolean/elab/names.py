"""Resolution of dotted names and of the names of universe levels."""

from nanolean.elab.session import Session
from nanolean.env_state import EnvState
from nanolean.kernel.expr import Const, Expr, FVar, Sort, subterms
from nanolean.kernel.level import IMax, Level, LMVar, LParam, Max, Succ, of_nat
from nanolean.meta.lctx import LocalContext
from nanolean.proof_errors import ElabError
from nanolean.syntax import LevelAdd, LevelHole, LevelMax, LevelName, LevelNum, LevelStx

ROOT = "_root_."
EXPORTED = {
    "true": "Bool.true",
    "false": "Bool.false",
    "decide": "Decidable.decide",
    "isTrue": "Decidable.isTrue",
    "isFalse": "Decidable.isFalse",
    "some": "Option.some",
    "none": "Option.none",
    "min": "Min.min",
    "max": "Max.max",
}
"""Names that Lean core exports from their namespaces."""


def resolve_constant(state: EnvState, name: str) -> list[str]:
    """Return the full names of the constants that `name` may mean: the innermost namespace first, then `open`s."""
    if name.startswith(ROOT):
        full = name[len(ROOT) :]
        return [full] if full in state.env else []
    # `resolveGlobalName` of Lean's ResolveName.lean: the innermost namespace wins, and only at the root do names of
    # opened namespaces compete. A protected name needs its last namespace written.
    for namespace in state.namespace_chain():
        full = f"{namespace}.{name}" if namespace else name
        if full in state.env and not (namespace and full in state.protected and "." not in name and full != name):
            names = [full]
            break
    else:
        names = []
    if names and "." in names[0] and names[0] != name:
        return names
    exported = EXPORTED.get(name)
    if exported is not None and exported in state.env:
        names.append(exported)
    for namespace in state.opened():
        full = f"{namespace}.{name}"
        if full in state.env and full not in names and full not in state.protected:
            names.append(full)
    return names


def constant_name(state: EnvState, name: str) -> str:
    """Return the one constant that `name` means; raises `ElabError` where there is none or more than one."""
    names = resolve_constant(state, name)
    if not names:
        raise ElabError(f"Unknown constant `{name}`")
    if len(names) > 1:
        raise ElabError(f"ambiguous identifier `{name}`, possible interpretations: [{', '.join(names)}]")
    return names[0]


def split_name(state: EnvState, lctx: LocalContext, name: str) -> tuple[Expr | list[str], list[str]] | None:
    """Split a dotted name into its longest known beginning (a local, or candidate constants) and the fields after it.

    A local wins over a constant whose name has the same number of parts or fewer.
    """
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        prefix = ".".join(parts[:count])
        if count == 1:
            local = lctx.find(prefix)
            if local is not None:
                return FVar(local.fvar_id), parts[1:]
        constants = resolve_constant(state, prefix)
        # With a local `h` in scope `h.left` is a field of it, whatever constant is called `h.left`.
        if constants and not (count > 1 and lctx.find(parts[0]) is not None):
            return constants, parts[count:]
    return None


class UnknownName(ElabError):
    """An identifier that means nothing here; the header of a declaration may bind it."""

    def __init__(self, name: str, pos: int | None, end: int | None) -> None:
        super().__init__(f"Unknown identifier `{name}`", pos, end)
        self.name = name


class UnknownLevel(ElabError):
    """A universe level that nobody has declared; the header of a declaration may bind it."""

    def __init__(self, name: str, pos: int | None, end: int | None) -> None:
        super().__init__(f"unknown universe level `{name}`", pos, end)
        self.name = name


MAX_OFFSET = 32
"""Lean's option `maxUniverseOffset`: each step is a node of the level."""


def elab_level(session: Session, stx: LevelStx) -> Level:
    """Elaborate a level; names must be universe parameters in scope, `_` is a new level metavariable."""
    match stx:
        case LevelNum(value):
            return of_nat(_small(stx, value))
        case LevelName(name):
            if name not in session.level_names:
                raise UnknownLevel(name, stx.pos, stx.end)
            return LParam(name)
        case LevelHole():
            return session.mctx.fresh_level()
        case LevelAdd(base, offset):
            level = elab_level(session, base)
            for _ in range(_small(stx, offset)):
                level = Succ(level)
            return level
        case LevelMax(args, imax):
            levels = [elab_level(session, arg) for arg in args]
            level = levels[-1]
            # `max u v w` associates to the right, which matters for `imax`.
            for other in reversed(levels[:-1]):
                level = IMax(other, level) if imax else Max(other, level)
            return level
        case _:
            raise ElabError("universe level expected", stx.pos, stx.end)


def _small(stx: LevelStx, value: int) -> int:
    if value > MAX_OFFSET:
        raise ElabError("maximum universe level offset threshold has been reached", stx.pos, stx.end)
    return value


def collect_level_mvars(e: Expr) -> list[LMVar]:
    """Collect the level metavariables of a term, each once, in the order in which they occur."""
    mvars: dict[LMVar, None] = {}
    for node in subterms(e, lambda node: node.has_mvar):
        levels: tuple[Level, ...] = ()
        if isinstance(node, Sort):
            levels = (node.level,)
        elif isinstance(node, Const):
            levels = node.levels
        for level in levels:
            _collect_mvars(level, mvars)
    return list(mvars)


def _collect_mvars(level: Level, into: dict[LMVar, None]) -> None:
    match level:
        case LMVar(_):
            into[level] = None
        case Succ(of):
            _collect_mvars(of, into)
        case Max(left, right) | IMax(left, right):
            _collect_mvars(left, into)
            _collect_mvars(right, into)
