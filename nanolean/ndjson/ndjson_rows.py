"""The lines of an export file that make names, levels and terms, read strictly: nothing in them is believed.

Each such line carries a new number of its table, says something new, and refers to earlier lines only. Everything else
ends in `Refused`, with a reason in one line, or in `Declined` where Lean has something that NanoLean has not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from nanolean.kernel.expr import App, BVar, Const, Expr, Lam, Let, Lit, Pi, Proj, Sort
from nanolean.kernel.level import ZERO, IMax, Level, LParam, Max, Succ
from nanolean.ndjson.export_ndjson import BINDER_INFOS, DIGITS

MAX_LINE = 1 << 26
"""Characters of the longest line that is read."""
MAX_DIGITS = 400_000
"""Decimal digits of the largest number; the kernel computes with a few less."""
MAX_NAME = 4000
"""Characters of the longest name."""
MAX_DEPTH = 16
"""Brackets within brackets of a line; the format has six."""
INFOS = {word: info for info, word in BINDER_INFOS.items()}
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[][{}]')
_DECIMAL = re.compile(r"0|[1-9][0-9]*")
_PLAIN = re.compile(r"[^\W\d][\w'!?✝]*")
_NUMBER = "(0|[1-9][0-9]{0,17})"
_APPLICATION = re.compile(rf'{{"app":{{"fn":{_NUMBER},"arg":{_NUMBER}}},"ie":{_NUMBER}}}\n?')
_BINDER = re.compile(
    rf'{{"(lam|forallE)":{{"name":{_NUMBER},"type":{_NUMBER},"body":{_NUMBER},"binderInfo":"([a-zA-Z]+)"}},"ie":{_NUMBER}}}\n?'
)

Row = tuple[tuple[Any, ...], Any]
"""What identifies a row, and what it stands for."""


class Refused(Exception):
    """The file is not in the format, or says something that is not so."""


class Declined(Exception):
    """The file needs something that NanoLean does not have."""


@dataclass
class Tables:
    """The names, levels and terms of a file so far."""

    names: dict[int, str] = field(default_factory=lambda: {0: ""})
    levels: dict[int, Level] = field(default_factory=lambda: {0: ZERO})
    exprs: dict[int, Expr] = field(default_factory=dict)
    seen: set[tuple[Any, ...]] = field(default_factory=set)
    """What the rows say, none of them twice."""

    def copy(self) -> Tables:
        """Tables that grow apart from these."""
        return Tables(dict(self.names), dict(self.levels), dict(self.exprs), set(self.seen))

    def add(self, key: str, index: Any, kind: str, content: Any) -> None:
        """Take in what a line says: `key` is "in", "il" or "ie", `index` the number that it gives."""
        tables: dict[str, dict[int, Any]] = {"in": self.names, "il": self.levels, "ie": self.exprs}
        table = tables[key]
        maker = _MAKERS[key].get(kind)
        if maker is None:
            raise Refused(f"{shown(kind)} is not known, or does not go with {key!r}")
        if a_number(index) in table:
            raise Refused(f"{key!r} {index} has been given before")
        identity, row = maker(self, content)
        if (kind, *identity) in self.seen:
            raise Refused(f"the same {kind!r} has been given before")
        self.seen.add((kind, *identity))
        table[index] = row

    def add_common(self, text: str) -> bool:
        """Take in a line that is an application or a binder in the usual spelling; False, and nothing done, for others.

        Nine of ten lines of a certificate are such, and to read them as JSON takes four times as long. What is wrong
        with a line is for `add` to say.
        """
        exprs, seen = self.exprs, self.seen
        match = _APPLICATION.fullmatch(text)
        if match is not None:
            fn, arg, index = map(int, match.groups())
            identity: tuple[Any, ...] = ("app", fn, arg)
            if fn not in exprs or arg not in exprs or index in exprs or identity in seen:
                return False
            seen.add(identity)
            exprs[index] = App(exprs[fn], exprs[arg])
            return True
        match = _BINDER.fullmatch(text)
        if match is None:
            return False
        kind, word = match[1], match[5]
        name, type_, body, index = int(match[2]), int(match[3]), int(match[4]), int(match[6])
        info = INFOS.get(word)
        identity = (kind, name, type_, body, info)
        parts_known = name in self.names and type_ in exprs and body in exprs
        if info is None or not parts_known or index in exprs or identity in seen:
            return False
        seen.add(identity)
        cls = Lam if kind == "lam" else Pi
        exprs[index] = cls(self.names[name], exprs[type_], exprs[body], info)
        return True

    def name(self, index: Any) -> str:
        """Return the name of that number."""
        return str(_at(self.names, index, "name"))

    def level(self, index: Any) -> Level:
        """Return the level of that number."""
        return _at(self.levels, index, "level")

    def expr(self, index: Any) -> Expr:
        """Return the term of that number."""
        return _at(self.exprs, index, "term")

    def list_of_names(self, value: Any) -> tuple[str, ...]:
        """Return the names of a list of numbers."""
        return tuple([self.name(index) for index in a_list(value)])


# -- JSON


def record_of(text: str) -> dict[str, Any]:
    """Parse the object on a line."""
    if len(text) > MAX_LINE:
        raise Refused(f"a line is longer than {MAX_LINE} characters")
    if text.count("{") + text.count("[") > MAX_DEPTH and _depth(text) > MAX_DEPTH:
        raise Refused(f"brackets are nested more than {MAX_DEPTH} deep")
    try:
        record = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number, parse_int=_small_int)
    except (ValueError, RecursionError) as error:
        raise Refused(f"not a line of JSON: {error}") from None
    if not isinstance(record, dict):
        raise Refused("not an object of JSON")
    return record


def _depth(text: str) -> int:
    depth = deepest = 0
    for token in _BRACKETS.findall(text):
        if token in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif token in "]}":
            depth -= 1
    return deepest


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a field is given twice")
    return found


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number")


def _small_int(digits: str) -> int:
    if len(digits) > 18:
        raise ValueError("a number is too large")
    return int(digits)


def shown(value: Any) -> str:
    """Render a value for a message, cut off where it is long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def expect_fields(content: Any, *names: str) -> None:
    """Refuse what is not an object with exactly these fields."""
    if not isinstance(content, dict) or content.keys() != set(names):
        got = ", ".join(map(shown, content)) if isinstance(content, dict) else shown(content)
        raise Refused(f"expected an object with {', '.join(names)}; got {got}")


def a_list(value: Any) -> list[Any]:
    """Check that the value is a list, and return it."""
    if not isinstance(value, list):
        raise Refused(f"expected a list, got {shown(value)}")
    return value


def a_number(value: Any) -> int:
    """Check that the value is a natural number, and return it."""
    if type(value) is not int or value < 0:
        raise Refused(f"expected a natural number, got {shown(value)}")
    return value


def a_bool(value: Any) -> bool:
    """Check that the value is true or false, and return it."""
    if not isinstance(value, bool):
        raise Refused(f"expected true or false, got {shown(value)}")
    return value


def a_word(value: Any, *words: str) -> str:
    """Check that the value is one of some words, and return it."""
    if value not in words:
        raise Refused(f"expected {' or '.join(words)}, got {shown(value)}")
    return str(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise Refused(f"expected a text, got {shown(value)}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Refused(f"{shown(value)} holds half of a character") from None
    return value


def _at(table: dict[int, Any], index: Any, what: str) -> Any:
    if type(index) is not int or index not in table:
        raise Refused(f"there is no {what} {shown(index)} yet")
    return table[index]


def _decimal(value: Any) -> int:
    """The number that a text denotes. Numbers of any size: Python's own conversion has a limit."""
    text = _text(value)
    if not _DECIMAL.fullmatch(text):
        raise Refused(f"{shown(text)} is not a natural number in decimal digits")
    if len(text) > MAX_DIGITS:
        raise Declined(f"a number of {len(text)} digits")

    def convert(digits: str) -> int:
        if len(digits) <= DIGITS:
            return int(digits)
        half = len(digits) // 2
        return convert(digits[:-half]) * 10**half + convert(digits[-half:])

    return convert(text)


# -- rows


def _name_of_text(tables: Tables, content: Any) -> Row:
    expect_fields(content, "pre", "str")
    prefix, part = tables.name(content["pre"]), _text(content["str"])
    if "»" in part or len(prefix) + len(part) > MAX_NAME:
        raise Declined(f"the name {shown(part)}")
    text = part if _PLAIN.fullmatch(part) else f"«{part}»"
    return (content["pre"], part), f"{prefix}.{text}" if prefix else text


def _name_of_number(tables: Tables, content: Any) -> Row:
    expect_fields(content, "pre", "i")
    prefix, number = tables.name(content["pre"]), a_number(content["i"])
    if len(prefix) > MAX_NAME:
        raise Declined(f"the name {shown(prefix)}")
    return (content["pre"], number), f"{prefix}.{number}" if prefix else str(number)


def _succ(tables: Tables, content: Any) -> Row:
    return (content,), Succ(tables.level(content))


def _pair(cls: Callable[[Level, Level], Level]) -> Callable[[Tables, Any], Row]:
    def make(tables: Tables, content: Any) -> Row:
        if not isinstance(content, list) or len(content) != 2:
            raise Refused(f"expected two levels, got {shown(content)}")
        left, right = content
        return (left, right), cls(tables.level(left), tables.level(right))

    return make


def _param(tables: Tables, content: Any) -> Row:
    return (content,), LParam(tables.name(content))


def _bvar(tables: Tables, content: Any) -> Row:
    return (a_number(content),), BVar(content)


def _sort(tables: Tables, content: Any) -> Row:
    return (content,), Sort(tables.level(content))


def _const(tables: Tables, content: Any) -> Row:
    expect_fields(content, "name", "us")
    name, levels = tables.name(content["name"]), a_list(content["us"])
    found = tuple(tables.level(level) for level in levels)
    return (content["name"], *levels), Const(name, found)


def _app(tables: Tables, content: Any) -> Row:
    expect_fields(content, "fn", "arg")
    fn, arg = content["fn"], content["arg"]
    return (fn, arg), App(tables.expr(fn), tables.expr(arg))


def _binder(cls: Callable[[str, Expr, Expr, str], Expr]) -> Callable[[Tables, Any], Row]:
    def make(tables: Tables, content: Any) -> Row:
        expect_fields(content, "name", "type", "body", "binderInfo")
        name, type_, body = content["name"], content["type"], content["body"]
        info = INFOS[a_word(content["binderInfo"], *INFOS)]
        return (name, type_, body, info), cls(tables.name(name), tables.expr(type_), tables.expr(body), info)

    return make


def _let(tables: Tables, content: Any) -> Row:
    expect_fields(content, "name", "type", "value", "body", "nondep")
    name, type_, value, body = (content[key] for key in ("name", "type", "value", "body"))
    term = Let(tables.name(name), tables.expr(type_), tables.expr(value), tables.expr(body))
    return (name, type_, value, body, a_bool(content["nondep"])), term


def _proj(tables: Tables, content: Any) -> Row:
    expect_fields(content, "typeName", "idx", "struct")
    struct, idx, e = content["typeName"], a_number(content["idx"]), content["struct"]
    return (struct, idx, e), Proj(tables.name(struct), idx, tables.expr(e))


def _nat(tables: Tables, content: Any) -> Row:
    value = _decimal(content)
    return (value,), Lit(value)


def _string(tables: Tables, content: Any) -> NoReturn:
    _text(content)
    raise Declined("string literals")


def _mdata(tables: Tables, content: Any) -> Row:
    expect_fields(content, "expr", "data")
    return (len(tables.exprs),), tables.expr(content["expr"])


_MAKERS: dict[str, dict[str, Callable[[Tables, Any], Row]]] = {
    "in": {"str": _name_of_text, "num": _name_of_number},
    "il": {"succ": _succ, "max": _pair(Max), "imax": _pair(IMax), "param": _param},
    "ie": {
        "bvar": _bvar,
        "sort": _sort,
        "const": _const,
        "app": _app,
        "lam": _binder(Lam),
        "forallE": _binder(Pi),
        "letE": _let,
        "proj": _proj,
        "natVal": _nat,
        "strVal": _string,
        "mdata": _mdata,
    },
}
