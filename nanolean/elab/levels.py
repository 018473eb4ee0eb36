"""Universe levels from syntax."""

from __future__ import annotations

from nanolean.elab.session import Session
from nanolean.errors import ElabError
from nanolean.kernel.expr import Const, Expr, Sort, subterms
from nanolean.kernel.level import IMax, Level, LMVar, LParam, Max, Succ, of_nat
from nanolean.syntax import LevelAdd, LevelHole, LevelMax, LevelName, LevelNum, LevelStx

MAX_OFFSET = 32


def elab_level(session: Session, stx: LevelStx) -> Level:
    """The level; names must be universe parameters in scope, `_` is a new level metavariable."""
    match stx:
        case LevelNum(value):
            return of_nat(_small(stx, value))
        case LevelName(name):
            if name not in session.level_names:
                raise ElabError(f"unknown universe level `{name}`", stx.pos, stx.end)
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
    """The level metavariables of a term, each once, in the order in which they occur."""
    found: dict[LMVar, None] = {}
    for node in subterms(e, lambda node: node.has_mvar):
        levels: tuple[Level, ...] = ()
        if isinstance(node, Sort):
            levels = (node.level,)
        elif isinstance(node, Const):
            levels = node.levels
        for level in levels:
            _collect_mvars(level, found)
    return list(found)


def _collect_mvars(level: Level, into: dict[LMVar, None]) -> None:
    match level:
        case LMVar(_):
            into[level] = None
        case Succ(of):
            _collect_mvars(of, into)
        case Max(left, right) | IMax(left, right):
            _collect_mvars(left, into)
            _collect_mvars(right, into)
