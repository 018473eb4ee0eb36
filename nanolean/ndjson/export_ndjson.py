"""Constants as lines of JSON for Lean's external checkers: the format of `lean4export`, version 3.1.0.

`export_lines(env, names)` gives constants and all that they rest on. Names, levels and terms are rows of tables that
later lines refer to by number: each is written once, after what it is made of. What a checker derives again (recursors,
flags of inductive types) is written as Lean's kernel would have it. The text depends on the constants alone, so the
same proof gives the same file. `import_ndjson` reads it back.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from nanolean import __version__
from nanolean.kernel.budget import KernelError
from nanolean.kernel.declaration import (
    AxiomInfo,
    ConstantInfo,
    Constants,
    CtorInfo,
    DefInfo,
    InductiveInfo,
    OpaqueInfo,
    QuotInfo,
    RecInfo,
    TheoremInfo,
)
from nanolean.kernel.expr import (
    HAVE,
    App,
    BVar,
    Const,
    Expr,
    Lam,
    Let,
    Lit,
    Pi,
    Proj,
    Sort,
    children,
    collect_consts,
    lift,
    subterms,
)
from nanolean.kernel.level import ZERO, IMax, Level, LParam, Max, Succ

FORMAT_VERSION = "3.1.0"
EXPORTER = "nanoproof/nanolean"
LEAN_VERSION = "none (NanoLean, a fragment of Lean 4)"
"""What stands for the version of Lean: no Lean had a part in the file."""
BINDER_INFOS = {
    "default": "default",
    HAVE: "default",
    "implicit": "implicit",
    "strict": "strictImplicit",
    "inst": "instImplicit",
}
QUOT_KINDS = {"Quot": "type", "Quot.mk": "ctor", "Quot.lift": "lift", "Quot.ind": "ind"}
PARTS_OF_NAMES = re.compile(r"«([^»]*)»|([^.«»]+)")
COMPUTED_WITH = {"Nat.sub": ("Nat.pred",), "Nat.mod": ("Nat.beq",), "Nat.div": ("Nat.beq", "Nat.mod")}
COMPUTED_WITH["Nat.gcd"] = ("Nat.beq", "Nat.mod")
"""Operations that our kernel computes only beside others, in terms of which it has checked them."""
DIGITS = 4000
"""Decimal digits that Python converts at once, below its limit."""
_MATCHER = re.compile(r"\.match_\d+$")


def metadata() -> dict[str, Any]:
    """Return the content of the first line."""
    exporter = {"name": EXPORTER, "version": __version__}
    return {
        "exporter": exporter,
        "lean": {"githash": "", "version": LEAN_VERSION},
        "format": {"version": FORMAT_VERSION},
    }


def closure(env: Constants, names: Iterable[str]) -> list[ConstantInfo]:
    """Return the constants and all that they rest on, in the order in which they were declared.

    Raises KernelError for a name that is not there.
    """
    reached: set[str] = set()
    stack = list(names)
    while stack:
        name = stack.pop()
        if name in reached:
            continue
        info = env[name]
        reached.add(name)
        stack += info.mentions
        stack += COMPUTED_WITH.get(name, ())
        if isinstance(info, InductiveInfo):
            stack.append(info.rec_name)
        elif isinstance(info, CtorInfo | RecInfo):
            stack.append(info.induct)
        elif isinstance(info, QuotInfo):
            stack += ["Eq", *QUOT_KINDS]
        if "Nat" not in reached and (has_numerals(info.type) or has_numerals(getattr(info, "value", info.type))):
            stack.append("Nat")
    return [info for info in env if info.name in reached]


def has_numerals(e: Expr) -> bool:
    """Return whether a term contains a number literal."""
    return any(node.__class__ is Lit for node in subterms(e))


def export_lines(env: Constants, names: Iterable[str]) -> Iterator[str]:
    """Return the lines of a file with the named constants and all that they rest on, without line ends.

    Raises KernelError for a name that is not there.
    """
    return lines_of(env, closure(env, names))


def lines_of(env: Constants, infos: Iterable[ConstantInfo]) -> Iterator[str]:
    """Yield the lines of a file with these constants, which must be all that they rest on, in their order."""
    writer = Writer(env)
    yield _json({"meta": metadata()})
    for info in infos:
        writer.constant(info)
        yield from writer.lines
        writer.lines.clear()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def decimal(value: int) -> str:
    """Return the digits of a natural number of any size."""
    if value < 10**DIGITS:
        return str(value)
    places = max(DIGITS, int(value.bit_length() * 0.15))  # about half of its digits
    high, low = divmod(value, 10**places)
    return decimal(high) + decimal(low).zfill(places)


def split_name(name: str) -> list[tuple[str, bool]]:
    """Split a name into its parts, without the guillemets of those that are no identifiers; numbers are marked."""
    return [(quoted or plain, plain.isdecimal()) for quoted, plain in PARTS_OF_NAMES.findall(name)]


class Writer:
    """Tables of what has been written, and the lines that nobody has taken yet."""

    def __init__(self, env: Constants) -> None:
        self.lines: list[str] = []
        self._env = env
        self._names: dict[str, int] = {"": 0}
        self._parts: dict[tuple[int, str, bool], int] = {}
        self._levels: dict[Level, int] = {ZERO: 0}
        self._exprs: dict[Expr, int] = {}
        self._rows: dict[str, int] = {}
        self._heights: dict[str, int] = {}

    def name(self, name: str) -> int:
        """Return the number of a name, written first if it is new."""
        found = self._names.get(name)
        if found is None:
            found = 0
            for part, numeric in split_name(name):
                found = self._part(found, part, numeric)
            self._names[name] = found
        return found

    def _part(self, prefix: int, part: str, numeric: bool) -> int:
        found = self._parts.get((prefix, part, numeric))
        if found is None:
            found = self._parts[prefix, part, numeric] = len(self._parts) + 1
            said = (
                f'"num":{{"pre":{prefix},"i":{part}}}' if numeric else f'"str":{{"pre":{prefix},"str":{_json(part)}}}'
            )
            self.lines.append(f'{{{said},"in":{found}}}')
        return found

    def level(self, level: Level) -> int:
        """Return the number of a level, written first if it is new."""
        found = self._levels.get(level)
        if found is None:
            match level:
                case Succ(of):
                    row = f'"succ":{self.level(of)}'
                case Max(left, right):
                    row = f'"max":[{self.level(left)},{self.level(right)}]'
                case IMax(left, right):
                    row = f'"imax":[{self.level(left)},{self.level(right)}]'
                case LParam(name):
                    row = f'"param":{self.name(name)}'
                case _:
                    raise ValueError(f"not a level of a declaration: {level}")
            found = self._levels[level] = len(self._levels)
            self.lines.append(f'{{{row},"il":{found}}}')
        return found

    def expr(self, e: Expr) -> int:
        """Return the number of a term, written first if it is new."""
        known = self._exprs
        stack: list[Any] = [e]
        while stack:
            node = stack[-1]
            if node in known:
                stack.pop()
                continue
            missing = [child for child in children(node) if child not in known]
            if missing:
                stack += missing
                continue
            stack.pop()
            row = self._row(node)
            found = self._rows.get(row)
            if found is None:
                found = self._rows[row] = len(self._rows)
                self.lines.append(f'{{{row},"ie":{found}}}')
            known[node] = found
        return known[e]

    def _row(self, e: Any) -> str:
        """What a line says of a term whose parts are written."""
        at, cls = self._exprs, e.__class__
        if cls is App:
            return f'"app":{{"fn":{at[e.fn]},"arg":{at[e.arg]}}}'
        if cls is Lam or cls is Pi:
            word = "lam" if cls is Lam else "forallE"
            name, info = self.name(e.name), BINDER_INFOS.get(e.info, "default")  # none where names are blanked
            return f'"{word}":{{"name":{name},"type":{at[e.type]},"body":{at[e.body]},"binderInfo":"{info}"}}'
        if cls is BVar:
            return f'"bvar":{e.idx}'
        if cls is Const:
            levels = ",".join([str(self.level(level)) for level in e.levels])
            return f'"const":{{"name":{self.name(e.name)},"us":[{levels}]}}'
        if cls is Sort:
            return f'"sort":{self.level(e.level)}'
        if cls is Lit:
            return f'"natVal":"{decimal(e.value)}"'
        if cls is Proj:
            return f'"proj":{{"typeName":{self.name(e.struct)},"idx":{e.idx},"struct":{at[e.expr]}}}'
        if cls is Let:
            name, type_, value = self.name(e.name), at[e.type], at[e.value]
            return f'"letE":{{"name":{name},"type":{type_},"value":{value},"body":{at[e.body]},"nondep":false}}'
        raise ValueError(f"not a term of a declaration: {e}")

    def constant(self, info: ConstantInfo) -> None:
        """Write a constant whose own constants are written; constructors and recursors come with their type."""
        match info:
            case AxiomInfo():
                self._declare("axiom", {**self._head(info), "isUnsafe": False})
            case DefInfo():
                hints: Any = "abbrev" if _is_abbreviation(info) else {"regular": self._height(info)}
                content = {**self._head(info), "value": self.expr(info.value), "hints": hints, "safety": "safe"}
                self._declare("def", {**content, "all": [self.name(info.name)]})
            case TheoremInfo():
                content = {**self._head(info), "value": self.expr(info.value), "all": [self.name(info.name)]}
                self._declare("thm", content)
            case OpaqueInfo():
                content = {**self._head(info), "value": self.expr(info.value), "isUnsafe": False}
                self._declare("opaque", {**content, "all": [self.name(info.name)]})
            case QuotInfo():
                self._declare("quot", {**self._head(info), "kind": QUOT_KINDS[info.name]})
            case InductiveInfo():
                self._inductive(info)

    def _declare(self, kind: str, content: dict[str, Any]) -> None:
        self.lines.append(_json({kind: content}))

    def _head(self, info: ConstantInfo) -> dict[str, Any]:
        """What all declarations say; the levels of the parameters are written even where no term uses them."""
        for param in info.level_params:
            self.level(LParam(param))
        params = [self.name(param) for param in info.level_params]
        return {"name": self.name(info.name), "levelParams": params, "type": self.expr(info.type)}

    def _height(self, info: DefInfo) -> int:
        """One more than the largest height among the definitions in the value, where abbreviations have none."""
        found = self._heights.get(info.name)
        if found is None:
            others = [self._env.get(name) for name in collect_consts(info.value)]
            heights = [self._height(o) for o in others if isinstance(o, DefInfo) and not _is_abbreviation(o)]
            found = self._heights[info.name] = 1 + max(heights, default=0)
        return found

    def _inductive(self, info: InductiveInfo) -> None:
        """The line with a type, its constructors and its recursor."""
        ctors: list[Any] = [self._env[name] for name in info.ctors]
        rec: Any = self._env[info.rec_name]
        types = {
            **self._head(info),
            "numParams": info.num_params,
            "numIndices": info.num_indices,
            "all": [self.name(info.name)],
            "ctors": [self.name(name) for name in info.ctors],
            "numNested": 0,
            "isRec": is_recursive(info, ctors),
            "isUnsafe": False,
            "isReflexive": is_reflexive(info, ctors),
        }
        content = {"types": [types], "ctors": [self._ctor(ctor) for ctor in ctors], "recs": [self._rec(rec)]}
        self._declare("inductive", content)

    def _ctor(self, ctor: CtorInfo) -> dict[str, Any]:
        return {
            **self._head(ctor),
            "induct": self.name(ctor.induct),
            "cidx": ctor.idx,
            "numParams": ctor.num_params,
            "numFields": ctor.num_fields,
            "isUnsafe": False,
        }

    def _rec(self, rec: RecInfo) -> dict[str, Any]:
        rules = [
            {"ctor": self.name(rule.ctor), "nfields": rule.num_fields, "rhs": self.expr(closed_rule(self._env, rec, i))}
            for i, rule in enumerate(rec.rules)
        ]
        return {
            **self._head(rec),
            "all": [self.name(rec.induct)],
            "numParams": rec.num_params,
            "numIndices": rec.num_indices,
            "numMotives": rec.num_motives,
            "numMinors": rec.num_minors,
            "rules": rules,
            "k": rec.k,
            "isUnsafe": False,
        }


def _is_abbreviation(info: DefInfo) -> bool:
    """Whether Lean gives the definition no height: what `abbrev` declares, and the functions behind `match`."""
    return info.reducible or _MATCHER.search(info.name) is not None


def fields_of(ctor: CtorInfo) -> list[Pi]:
    """Return the binders of a constructor's fields; the last parameter is the loose index 0 of the first."""
    type_: Any = ctor.type
    binders = []
    for _ in range(ctor.num_params + ctor.num_fields):
        if not isinstance(type_, Pi):
            raise KernelError(f"the type of '{ctor.name}' hides some of its arguments")
        binders.append(type_)
        type_ = type_.body
    return binders[ctor.num_params :]


def is_recursive(info: InductiveInfo, ctors: Iterable[CtorInfo]) -> bool:
    """Return whether the type occurs in a field, as Lean's kernel decides it: without computing anything."""
    return any(info.name in collect_consts(field.type) for ctor in ctors for field in fields_of(ctor))


def is_reflexive(info: InductiveInfo, ctors: Iterable[CtorInfo]) -> bool:
    """Return whether a field is a function in whose type the type itself occurs."""
    fields = [field.type for ctor in ctors for field in fields_of(ctor)]
    return any(isinstance(type_, Pi) and info.name in collect_consts(type_) for type_ in fields)


def closed_rule(env: Constants, rec: RecInfo, number: int) -> Expr:
    """Return the right side of a rule as a closed term: a function of parameters, motive, minor premises and fields.

    Parameters and fields are implicit where the type and the constructor have them so, as Lean's kernel does it.
    """
    rule = rec.rules[number]
    ctor: Any = env[rule.ctor]
    type_: Any = rec.type
    declared: Any = env[rec.induct].type
    binders: list[tuple[str, Expr, str]] = []
    for place in range(rec.num_params + rec.num_motives + rec.num_minors):
        info = "default"
        if place < rec.num_params:
            info, declared = declared.info, declared.body
        binders.append((type_.name, type_.type, info))
        type_ = type_.body
    between = rec.num_motives + rec.num_minors  # the motive and the premises come between parameters and fields
    for place, field in enumerate(fields_of(ctor)):
        binders.append((field.name, lift(field.type, between, place), field.info))
    result = rule.rhs
    for name, binder_type, info in reversed(binders):
        result = Lam(name, binder_type, result, info)
    return result
