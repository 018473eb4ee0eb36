"""What an export file must be, after the description of the format alone: it shares nothing with writer and reader.

`validate(lines)` raises AssertionError with the number of the line, and returns the declarations by name. Terms are
kept as the rows that make them.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

TYPE = {"name", "levelParams", "type", "numParams", "numIndices", "all", "ctors"}
TYPE |= {"numNested", "isRec", "isUnsafe", "isReflexive"}
CTOR = {"name", "levelParams", "type", "induct", "cidx", "numParams", "numFields", "isUnsafe"}
REC = {"name", "levelParams", "type", "all", "numParams", "numIndices", "numMotives", "numMinors", "rules", "k"}
REC |= {"isUnsafe"}
HEAD = {"name", "levelParams", "type"}
DECLARATIONS = {
    "axiom": HEAD | {"isUnsafe"},
    "def": HEAD | {"value", "hints", "safety", "all"},
    "thm": HEAD | {"value", "all"},
    "opaque": HEAD | {"value", "isUnsafe", "all"},
    "quot": HEAD | {"kind"},
    "inductive": {"types", "ctors", "recs"},
}
QUOTIENTS = [("Quot", "type"), ("Quot.mk", "ctor"), ("Quot.lift", "lift"), ("Quot.ind", "ind")]


class Validator:
    """Reads lines in order."""

    def __init__(self) -> None:
        self.names: list[str] = [""]
        self.levels: list[Any] = ["zero"]
        self.exprs: list[dict[str, Any]] = []
        self.loose: list[int] = []
        """For each term, one more than its largest loose index."""
        self.constants: list[frozenset[str]] = []
        """For each term, the constants in it."""
        self.rows: set[str] = set()
        self.declared: dict[str, Any] = {}
        self.quotients: list[tuple[str, str]] = []
        self.heights: dict[str, int] = {}

    def read(self, record: dict[str, Any]) -> None:
        index = {"in", "il", "ie"} & record.keys()
        kinds = record.keys() - index
        assert len(kinds) == 1 and len(index) <= 1
        (kind,) = kinds
        if index:
            (key,) = index
            row = json.dumps({kind: record[kind]}, sort_keys=True)
            assert row not in self.rows, "the same again"
            self.rows.add(row)
            {"in": self.name, "il": self.level, "ie": self.expr}[key](record[key], kind, record[kind])
        else:
            self.declare(kind, record[kind])

    def name(self, index: int, kind: str, row: Any) -> None:
        assert index == len(self.names) and row.keys() == {"pre", {"str": "str", "num": "i"}[kind]}
        prefix, part = self.names[row["pre"]], row["str"] if kind == "str" else str(row["i"])
        self.names.append(f"{prefix}.{part}" if prefix else part)

    def level(self, index: int, kind: str, row: Any) -> None:
        assert index == len(self.levels)
        if kind == "param":
            assert 0 < row < len(self.names)
        else:
            parts = [row] if kind == "succ" else row
            assert len(parts) == {"succ": 1, "max": 2, "imax": 2}[kind] and max(parts) < index
        self.levels.append((kind, row))

    def expr(self, index: int, kind: str, row: Any) -> None:
        assert index == len(self.exprs)
        loose, used = 0, frozenset[str]()
        if kind == "bvar":
            loose = row + 1
        elif kind == "sort":
            assert row < len(self.levels)
        elif kind == "const":
            assert row.keys() == {"name", "us"} and all(level < len(self.levels) for level in row["us"])
            used = frozenset({self.names[row["name"]]})
        elif kind == "natVal":
            assert re.fullmatch(r"0|[1-9][0-9]*", row)
            used = frozenset({"Nat"})
        else:
            loose, used = self.compound(kind, row)
        self.exprs.append({kind: row})
        self.loose.append(loose)
        self.constants.append(used)

    def compound(self, kind: str, row: Any) -> tuple[int, frozenset[str]]:
        parts = {
            "app": {"fn", "arg"},
            "lam": {"name", "type", "body", "binderInfo"},
            "forallE": {"name", "type", "body", "binderInfo"},
            "letE": {"name", "type", "value", "body", "nondep"},
            "proj": {"typeName", "idx", "struct"},
        }[kind]
        assert row.keys() == parts
        if "binderInfo" in row:
            assert row["binderInfo"] in ("default", "implicit", "strictImplicit", "instImplicit")
        assert row.get("nondep", False) is False and row.get("name", 0) < len(self.names)
        children = [row[key] for key in ("fn", "arg", "type", "value", "struct") if key in row]
        loose = max((self.loose[child] for child in children), default=0)
        if "body" in row:
            children.append(row["body"])
            loose = max(loose, self.loose[row["body"]] - 1)
        used = frozenset[str]().union(*(self.constants[child] for child in children))
        return loose, used | ({self.names[row["typeName"]]} if kind == "proj" else set())

    def declare(self, kind: str, row: Any) -> None:
        assert row.keys() == DECLARATIONS[kind]
        if kind == "inductive":
            self.inductive(row)
            return
        name = self.head(row)
        if "value" in row:
            self.closed(row["value"])
            assert row["all"] == [row["name"]]
        if kind == "quot":
            self.quotients.append((name, row["kind"]))
            assert self.quotients == QUOTIENTS[: len(self.quotients)] and "Eq" in self.declared
        else:
            assert len(self.quotients) in (0, 4), "something between the quotients"
        assert row.get("isUnsafe", False) is False and row.get("safety", "safe") == "safe"
        if kind == "def" and row["hints"] != "abbrev":
            below = [self.heights.get(other, 0) for other in self.constants[row["value"]]]
            self.heights[name] = 1 + max(below, default=0)
            assert row["hints"] == {"regular": self.heights[name]}
        self.add(name, kind, row)

    def add(self, name: str, kind: str, row: Any) -> None:
        assert name and name not in self.declared
        self.declared[name] = (kind, row)

    def head(self, row: Any, besides: Iterable[str] = ()) -> str:
        """Name of a declaration, whose type speaks of constants that are declared; its parameters are levels."""
        params = {level[1] for level in self.levels[1:] if level[0] == "param"}
        assert set(row["levelParams"]) <= params and len(set(row["levelParams"])) == len(row["levelParams"])
        self.closed(row["type"], besides)
        return self.names[row["name"]]

    def closed(self, index: int, besides: Iterable[str] = ()) -> None:
        assert self.loose[index] == 0, "a loose index"
        missing = self.constants[index] - self.declared.keys() - set(besides)
        assert not missing, f"{missing} is not declared"

    def inductive(self, row: Any) -> None:
        (type_,), ctors, (rec,) = row["types"], row["ctors"], row["recs"]
        assert type_.keys() == TYPE and rec.keys() == REC and all(ctor.keys() == CTOR for ctor in ctors)
        name = self.head(type_)
        own = [name, *(self.names[ctor["name"]] for ctor in ctors), self.names[rec["name"]]]
        assert type_["all"] == rec["all"] == [type_["name"]] and type_["ctors"] == [ctor["name"] for ctor in ctors]
        assert own[-1] == f"{name}.rec" and type_["numNested"] == 0
        assert len(self.telescope(type_["type"])) == type_["numParams"] + type_["numIndices"]
        fields = []
        for place, ctor in enumerate(ctors):
            self.head(ctor, own)
            assert (ctor["induct"], ctor["cidx"], ctor["numParams"]) == (type_["name"], place, type_["numParams"])
            binders = self.telescope(ctor["type"])
            assert len(binders) == ctor["numParams"] + ctor["numFields"]
            fields += binders[ctor["numParams"] :]
        recursive = [field for field in fields if name in self.constants[field]]
        assert type_["isRec"] == bool(recursive)
        assert type_["isReflexive"] == any("forallE" in self.exprs[field] for field in recursive)
        self.recursor(rec, type_, ctors, own)
        for owner, part in zip(own, [type_, *ctors, rec], strict=True):
            assert part["isUnsafe"] is False
            self.add(owner, "inductive", part)

    def recursor(self, rec: Any, type_: Any, ctors: Any, own: list[str]) -> None:
        self.head(rec, own)
        counts = (rec["numParams"], rec["numIndices"], rec["numMotives"], rec["numMinors"])
        assert counts == (type_["numParams"], type_["numIndices"], 1, len(ctors))
        assert len(self.telescope(rec["type"])) >= sum(counts) + 1
        assert [rule["ctor"] for rule in rec["rules"]] == type_["ctors"]
        for rule, ctor in zip(rec["rules"], ctors, strict=True):
            assert rule.keys() == {"ctor", "nfields", "rhs"} and rule["nfields"] == ctor["numFields"]
            self.closed(rule["rhs"], own)
            params = self.infos(type_["type"])[: rec["numParams"]]
            fields = self.infos(ctor["type"])[rec["numParams"] :]
            e = rule["rhs"]
            for info in (*params, *["default"] * (1 + rec["numMinors"]), *fields):
                assert self.exprs[e]["lam"]["binderInfo"] == info
                e = self.exprs[e]["lam"]["body"]

    def infos(self, index: int) -> list[str]:
        """How the arguments of a function type are bound."""
        found = []
        while "forallE" in self.exprs[index]:
            found.append(self.exprs[index]["forallE"]["binderInfo"])
            index = self.exprs[index]["forallE"]["body"]
        return found

    def telescope(self, index: int) -> list[int]:
        """The types of the arguments of a function type."""
        types = []
        while (pi := self.exprs[index].get("forallE")) is not None:
            types.append(pi["type"])
            index = pi["body"]
        return types


def validate(lines: Iterable[str]) -> dict[str, Any]:
    """The declarations of a file by name; AssertionError where it is not as it must be."""
    validator = Validator()
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line)
            if number == 1:
                meta = record["meta"]
                assert record.keys() == {"meta"} and meta.keys() == {"exporter", "lean", "format"}
                assert meta["format"] == {"version": "3.1.0"} and meta["exporter"].keys() == {"name", "version"}
                assert meta["lean"].keys() == {"githash", "version"}
            else:
                validator.read(record)
        except (AssertionError, KeyError, IndexError, TypeError, ValueError) as error:
            raise AssertionError(f"line {number}: {line[:200]}: {error!r}") from error
    assert len(validator.quotients) in (0, 4)
    return validator.declared
