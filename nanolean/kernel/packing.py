"""Constants as plain tuples of numbers and strings, to store a checked library and to load it quickly.

Each distinct level and term is stored once, children before parents, and refers to its children by position. What is
unpacked is trusted as it is: store it where only its owner writes.
"""

from collections.abc import Iterable
from typing import Any

from nanolean.kernel.declaration import (
    AxiomInfo,
    ConstantInfo,
    CtorInfo,
    DefInfo,
    InductiveInfo,
    OpaqueInfo,
    QuotInfo,
    RecInfo,
    RecRule,
    TheoremInfo,
    ValueInfo,
)
from nanolean.kernel.expr import App, BVar, Const, Expr, FVar, Lam, Let, Lit, MVar, Pi, Proj, Sort
from nanolean.kernel.level import IMax, Level, LMVar, LParam, Max, Succ, Zero

Packed = tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]

_CLASSES: tuple[type, ...] = (
    Zero,
    Succ,
    Max,
    IMax,
    LParam,
    LMVar,
    BVar,
    FVar,
    MVar,
    Sort,
    Const,
    App,
    Lam,
    Pi,
    Let,
    Lit,
    Proj,
)
_CODES = {cls: code for code, cls in enumerate(_CLASSES)}
_INFO_CLASSES: dict[str, type[ConstantInfo]] = {
    cls.kind: cls for cls in (AxiomInfo, DefInfo, TheoremInfo, OpaqueInfo, InductiveInfo, CtorInfo, RecInfo, QuotInfo)
}


class _Packer:
    """The table of nodes under construction."""

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []
        self.places: dict[Any, int] = {}

    def place(self, root: Expr | Level) -> int:
        """The position of a term or level, which is put into the table after all that it is made of."""
        places = self.places
        stack: list[Any] = [root]
        while stack:
            node = stack[-1]
            if node in places:
                stack.pop()
                continue
            fields = [getattr(node, name) for name in node.__match_args__]
            missing = [child for child in _children(fields) if child not in places]
            if missing:
                stack += missing
                continue
            stack.pop()
            places[node] = len(self.rows)
            self.rows.append((_CODES[node.__class__], *(self._field(field) for field in fields)))
        return places[root]

    def _field(self, field: Any) -> Any:
        """Terms and levels as lists of positions (nothing else is a list), other fields as they are."""
        if isinstance(field, (Expr, Level)):
            return [self.places[field]]
        if isinstance(field, tuple):
            return tuple(self.places[level] for level in field)
        return field


def _children(fields: list[Any]) -> Iterable[Any]:
    for field in fields:
        if isinstance(field, (Expr, Level)):
            yield field
        elif isinstance(field, tuple):
            yield from field


def pack(infos: Iterable[ConstantInfo]) -> Packed:
    """Constants as plain data that `marshal` and `pickle` can store (JSON cannot: it has no tuples)."""
    packer = _Packer()
    rows = []
    for info in infos:
        row: list[Any] = [info.kind, info.name, info.level_params, packer.place(info.type)]
        match info:
            case ValueInfo():
                row.append(packer.place(info.value))
        match info:
            case DefInfo():
                row += (info.reducible, info.height, info.computes_literals, info.irreducible)
            case InductiveInfo():
                row += (info.num_params, info.num_indices, info.ctors, info.rec_name)
                row += (info.is_recursive, info.is_structure, info.is_prop)
            case CtorInfo():
                row += (info.induct, info.idx, info.num_params, info.num_fields)
            case RecInfo():
                rules = tuple((rule.ctor, rule.num_fields, packer.place(rule.rhs)) for rule in info.rules)
                row += (info.induct, info.num_params, info.num_motives, info.num_minors, info.num_indices)
                row += (rules, info.k, info.large)
        rows.append(tuple(row))
    return packer.rows, rows


def unpack(packed: Packed) -> list[ConstantInfo]:
    """The constants again, with interned terms."""
    node_rows, info_rows = packed
    nodes: list[Any] = []
    const_code = _CODES[Const]
    for code, *fields in node_rows:
        if code == const_code:
            nodes.append(Const(fields[0], tuple([nodes[place] for place in fields[1]])))
        else:
            nodes.append(_CLASSES[code](*[nodes[f[0]] if f.__class__ is list else f for f in fields]))
    infos = []
    for kind, name, level_params, type_, *rest in info_rows:
        cls = _INFO_CLASSES[kind]
        if issubclass(cls, ValueInfo):
            rest[0] = nodes[rest[0]]
        elif cls is RecInfo:
            rest[5] = tuple(RecRule(ctor, num_fields, nodes[rhs]) for ctor, num_fields, rhs in rest[5])
        infos.append(cls(name, level_params, nodes[type_], *rest))
    return infos
