"""Constants as plain tuples and back: the form in which the checked library is kept on disk.

Every distinct term and level is one row that refers to earlier rows by number, so shared subterms are stored once and
decoding is one loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any

from nanolean.kernel import declaration as decl
from nanolean.kernel.expr import App, BVar, Const, Expr, Lam, Let, Lit, Pi, Proj, Sort
from nanolean.kernel.level import IMax, Level, LParam, Max, Succ, Zero

LEVEL_CLASSES: tuple[type[Level], ...] = (Zero, Succ, Max, IMax, LParam)
INFO_CLASSES: tuple[type[decl.ConstantInfo], ...] = (
    decl.AxiomInfo,
    decl.DefInfo,
    decl.TheoremInfo,
    decl.OpaqueInfo,
    decl.InductiveInfo,
    decl.CtorInfo,
    decl.RecInfo,
    decl.QuotInfo,
)
EXPR_CLASSES: tuple[type[Expr], ...] = (BVar, Sort, Const, App, Lam, Pi, Let, Lit, Proj)


class _Encoder:
    def __init__(self) -> None:
        self.levels: list[tuple[Any, ...]] = []
        self.exprs: list[tuple[Any, ...]] = []
        self._level_rows: dict[Level, int] = {}
        self._expr_rows: dict[Expr, int] = {}

    def level(self, level: Level) -> int:
        row = self._level_rows.get(level)
        if row is None:
            parts = [getattr(level, name) for name in level.__match_args__]
            encoded = [self.level(part) if isinstance(part, Level) else part for part in parts]
            self.levels.append((LEVEL_CLASSES.index(level.__class__), *encoded))
            row = self._level_rows[level] = len(self.levels) - 1
        return row

    def expr(self, e: Expr) -> int:
        stack = [e]
        while stack:
            node = stack[-1]
            if node in self._expr_rows:
                stack.pop()
                continue
            parts = [getattr(node, name) for name in node.__match_args__]
            todo = [part for part in parts if isinstance(part, Expr) and part not in self._expr_rows]
            if todo:
                stack += todo
                continue
            stack.pop()
            self.exprs.append((EXPR_CLASSES.index(node.__class__), *[self._part(part) for part in parts]))
            self._expr_rows[node] = len(self.exprs) - 1
        return self._expr_rows[e]

    def _part(self, part: Any) -> Any:
        if isinstance(part, Expr):
            return self._expr_rows[part]
        if isinstance(part, Level):
            return self.level(part)
        if isinstance(part, tuple):
            return tuple(self.level(level) for level in part)
        return part

    def info(self, info: decl.ConstantInfo) -> tuple[Any, ...]:
        values = [getattr(info, field.name) for field in fields(info) if field.init]
        return (INFO_CLASSES.index(info.__class__), *[self._value(value) for value in values])

    def _value(self, value: Any) -> Any:
        if isinstance(value, Expr):
            return ("e", self.expr(value))
        if isinstance(value, tuple) and value and isinstance(value[0], decl.RecRule):
            return ("r", tuple((rule.ctor, rule.num_fields, self.expr(rule.rhs)) for rule in value))
        return ("v", value)


def encode(infos: Iterable[decl.ConstantInfo]) -> tuple[Any, ...]:
    """Constants as (levels, terms, constants), all of them lists of tuples of numbers and strings.

    They are the same for the same constants in the same order, and may become lists on the way, as in JSON.
    """
    encoder = _Encoder()
    rows = [encoder.info(info) for info in infos]
    return encoder.levels, encoder.exprs, rows


def decode(data: tuple[Any, ...]) -> list[decl.ConstantInfo]:
    """The constants again. The data is trusted: its digest is known."""
    level_rows, expr_rows, info_rows = data
    levels: list[Any] = []
    for kind, *parts in level_rows:
        if LEVEL_CLASSES[kind] is LParam:
            levels.append(LParam(parts[0]))
        else:
            levels.append(LEVEL_CLASSES[kind](*[levels[part] for part in parts]))
    exprs: list[Any] = []
    add = exprs.append
    makers = _makers(levels, exprs)
    for row in expr_rows:
        add(makers[row[0]](row))
    return [_decode_info(row, exprs) for row in info_rows]


def _makers(levels: list[Any], exprs: list[Any]) -> tuple[Callable[[Any], Expr], ...]:
    """For every class of terms, in the order of `EXPR_CLASSES`, how a row becomes a term."""
    return (
        lambda row: BVar(row[1]),
        lambda row: Sort(levels[row[1]]),
        lambda row: Const(row[1], tuple([levels[level] for level in row[2]])),
        lambda row: App(exprs[row[1]], exprs[row[2]]),
        lambda row: Lam(row[1], exprs[row[2]], exprs[row[3]], row[4]),
        lambda row: Pi(row[1], exprs[row[2]], exprs[row[3]], row[4]),
        lambda row: Let(row[1], exprs[row[2]], exprs[row[3]], exprs[row[4]]),
        lambda row: Lit(row[1]),
        lambda row: Proj(row[1], row[2], exprs[row[3]]),
    )


def _decode_info(row: tuple[Any, ...], exprs: list[Any]) -> decl.ConstantInfo:
    values = []
    for tag, value in row[1:]:
        if tag == "e":
            values.append(exprs[value])
        elif tag == "r":
            values.append(tuple(decl.RecRule(ctor, count, exprs[rhs]) for ctor, count, rhs in value))
        else:
            values.append(tuple(value) if isinstance(value, list) else value)
    return INFO_CLASSES[row[0]](*values)
