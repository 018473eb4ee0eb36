"""Mutants of export files: one line changed, and whether a mutant that is accepted declares what the original does."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from nanolean.kernel.declaration import ConstantInfo, Constants, InductiveInfo, ValueInfo
from nanolean.kernel.expr import (
    Const,
    Expr,
    Proj,
    Sort,
    erase,
    instantiate_level_params,
    replace,
    subterms,
)
from nanolean.kernel.level import LParam
from nanolean.ndjson.import_ndjson import Reader, Verdict
from nanolean.ndjson.ndjson_rows import Declined, Refused


class Mutant(NamedTuple):
    """What stands in the place of the lines from number `at` (from 0) up to `end`."""

    at: int
    end: int
    lines: tuple[str, ...]
    rule: str


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all numbers, texts and truth values in a record, and of its lists."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(part, (*path, key))
    elif isinstance(value, list):
        yield path
        for place, part in enumerate(value):
            yield from leaves(part, (*path, place))
    else:
        yield path


def at_path(value: Any, path: Sequence[Any]) -> Any:
    for key in path:
        value = value[key]
    return value


class ExportMutator:
    """Draws mutants of a file's lines, which the metadata begin."""

    def __init__(self, lines: Sequence[str], rng: Random) -> None:
        self.lines, self.rng = lines, rng
        self.declarations = [n for n, line in enumerate(lines) if (n and not line.endswith("}")) or _declares(line)]
        self.rules: list[Callable[[int, Any], Any]] = [self._number, self._number, self._number, self._swap, self._list]

    def draw(self) -> Mutant | None:
        """A mutant; None where the drawn change does not apply to the drawn line."""
        rng = self.rng
        at = rng.choice(self.declarations) if rng.random() < 0.35 else rng.randrange(1, len(self.lines))
        if rng.random() < 0.12:
            return self._whole_line(at)
        record = json.loads(self.lines[at])
        rule = rng.choice(self.rules)
        if not rule(at, record):
            return None
        line = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        return None if line == self.lines[at] else Mutant(at, at + 1, (line,), rule.__name__)

    def _whole_line(self, at: int) -> Mutant:
        line, rng = self.lines[at], self.rng
        changes = {
            "drop": Mutant(at, at + 1, (), "drop"),
            "repeat": Mutant(at, at + 1, (line, line), "repeat"),
            "exchange": Mutant(at, at + 2, (*self.lines[at + 1 : at + 2], line), "exchange"),
            "tear": Mutant(at, at + 1, (line[: rng.randrange(len(line))],), "tear"),
            "other": Mutant(at, at + 1, (rng.choice(self.lines),), "other"),
        }
        return changes[rng.choice(list(changes))]

    def _number(self, at: int, record: Any) -> bool:
        """Another number, text or truth value somewhere."""
        path = self.rng.choice(list(leaves(record)))
        old, holder, rng = at_path(record, path), at_path(record, path[:-1]), self.rng
        if isinstance(old, bool):
            holder[path[-1]] = not old
        elif isinstance(old, int):
            near = [old - 1, old + 1, old - 2, old + 3, 0, rng.randrange(old + 2), -1, str(old), None, 10**9]
            holder[path[-1]] = rng.choices(near, [9, 9, 5, 5, 3, 9, 1, 1, 1, 1])[0]
        elif isinstance(old, str):
            holder[path[-1]] = rng.choice([old + "x", old[1:], "implicit", "opaque", "safe", str(at), 1])
        else:
            return False
        return True

    def _swap(self, at: int, record: Any) -> bool:
        """Two values of one object change places."""
        objects = [path[:-1] for path in leaves(record) if path and isinstance(at_path(record, path[:-1]), dict)]
        found = at_path(record, self.rng.choice(objects))
        if len(found) < 2:
            return False
        a, b = self.rng.sample(list(found), 2)
        found[a], found[b] = found[b], found[a]
        return True

    def _list(self, at: int, record: Any) -> bool:
        """A list with an entry less, twice, or elsewhere."""
        lists = [path for path in leaves(record) if isinstance(at_path(record, path), list)]
        if not lists:
            return False
        found = at_path(record, self.rng.choice(lists))
        if not found:
            return False
        place = self.rng.randrange(len(found))
        change = self.rng.choice(["drop", "repeat", "reverse", "empty"])
        if change == "drop":
            del found[place]
        elif change == "repeat":
            found.append(found[place])
        elif change == "reverse":
            found.reverse()
        else:
            found.clear()
        return True


def _declares(line: str) -> bool:
    return line.startswith(('{"axiom"', '{"def"', '{"thm"', '{"opaque"', '{"quot"', '{"inductive"'))


def verdicts(lines: Sequence[str], mutants: Sequence[Mutant]) -> Iterator[tuple[Mutant, Verdict]]:
    """Check mutants, in the order of their places; what comes before the place is read once for all of them."""
    reader = Reader()
    for mutant in sorted(mutants):
        while reader.line < mutant.at:
            reader.feed(lines[reader.line])
        copy = reader.copy()
        try:
            for line in (*mutant.lines, *lines[mutant.end :]):
                copy.feed(line)
            copy.finish()
        except Refused as error:
            yield mutant, copy.verdict("refused", str(error))
        except Declined as error:
            yield mutant, copy.verdict("declined", str(error))
        else:
            yield mutant, copy.verdict("accepted", "")


def params_of(e: Expr) -> dict[str, None]:
    """The universe parameters of a term in the order of their first occurrence."""

    def walk(level: Any) -> Iterator[str]:
        if isinstance(level, LParam):
            yield level.name
        else:
            for part in level.__match_args__:
                yield from walk(getattr(level, part))

    found = [node.levels if isinstance(node, Const) else (node.level,) for node in subterms(e) if _has_levels(node)]
    return {name: None for levels in found for level in levels for name in walk(level)}


def _has_levels(node: Any) -> bool:
    return isinstance(node, Const | Sort)


def content(info: ConstantInfo, names: Mapping[str, str] | None = None) -> tuple[Any, ...]:
    """What a constant declares. The names of binders and universe parameters and hints do not count, nor does it count
    which proof a theorem has, as long as it has one. `names` are put for its own name and others."""
    params = [*params_of(info.type)]
    params += sorted(set(info.level_params) - set(params))
    levels = [LParam(f"u{place}") for place in range(len(params))]

    def leaf(node: Any) -> Expr | None:
        if isinstance(node, Const):
            return Const((names or {}).get(node.name, node.name), node.levels)
        if isinstance(node, Proj):
            return Proj((names or {}).get(node.struct, node.struct), node.idx, replace(node.expr, leaf))
        return None

    def plain(e: Expr) -> Expr:
        return erase(instantiate_level_params(replace(e, leaf), params, levels))

    value = plain(info.value) if isinstance(info, ValueInfo) and info.kind != "theorem" else None
    parts = (info.num_params, info.num_indices, len(info.ctors)) if isinstance(info, InductiveInfo) else ()
    return (info.kind, len(params), plain(info.type), value, parts)


def differences(found: Constants, original: Constants) -> list[ConstantInfo]:
    """The constants that say something else than the original ones, whatever their names are."""
    names: dict[str, str] = {}
    if len(found) == len(original):
        names = dict(zip(found.names(), original.names(), strict=True))
    known = {content(info) for info in original}
    return [info for info in found if content(info, names) not in known]
