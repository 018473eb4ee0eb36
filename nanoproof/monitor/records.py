"""Records of attempts as the page gets them: in full, but never without bounds."""

import gzip
import heapq
import zlib
from pathlib import Path
from typing import Any

from nanoproof.monitor.record_schema import Attempt, AttemptRow, FailedTactic, SearchTree, Transition, TreeAnswer
from nanoproof.monitor.tail import counts_of, integer, mapping, numbers_of, open_file, parse_object, text_of

MAX_STEPS = 300
MAX_NODES = 6000
MAX_TEXT = 20_000
MAX_TREE_BYTES = 64 << 20


def attempt_in_full(row: AttemptRow, record: dict[str, Any]) -> Attempt:
    """All of an attempt but its tree."""
    transitions, failed = _list(record.get("transitions")), _failed(_list(record.get("failed_tactics")))
    check = record.get("check")
    return {
        **row,
        "statement": text_of(mapping(record.get("theorem")).get("source")),
        "proof": text_of(record.get("proof")),
        "source": text_of(record.get("source")),
        "message": text_of(record.get("message")),
        "stop_reason": text_of(record.get("stop_reason")),
        "policy": text_of(record.get("policy")),
        "seed": integer(record.get("seed")),
        "counts": counts_of(record.get("counts")),
        "phases": numbers_of(record.get("seconds")),
        "check": check if isinstance(check, dict) and len(str(check)) < 100_000 else None,
        "transitions": transitions_of(transitions),
        "total_transitions": len(transitions),
        "failed_tactics": failed[:MAX_STEPS],
        "total_failed_tactics": len(failed),
    }


def transitions_of(rows: Any) -> list[Transition]:
    """The steps of a proof."""
    return [
        {"state": text_of(row[0], MAX_TEXT), "tactic": text_of(row[1], MAX_TEXT), "depth": integer(row[2])}
        for row in _list(rows)[:MAX_STEPS]
        if isinstance(row, list) and len(row) == 3
    ]


def _failed(rows: list[Any]) -> list[FailedTactic]:
    """Each row is a state and the tactics that were refused in it."""
    return [
        {"state": text_of(row[0], MAX_TEXT), "tactic": text_of(tactic, MAX_TEXT)}
        for row in rows
        if isinstance(row, list) and row
        for tactic in row[1:]
    ]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def read_tree(run_path: Path, row: AttemptRow) -> TreeAnswer | None:
    """The search tree of an attempt, if it was kept and is still there."""
    file = run_path / "trees" / f"{row['step']}_{row['rank']}_{row['seq']}.json.gz"
    try:
        if file.parent.is_symlink():
            return None
        with open_file(file) as raw, gzip.open(raw, "rb") as source:
            content = source.read(MAX_TREE_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        return None
    data = parse_object(content) if len(content) <= MAX_TREE_BYTES else None
    if data is not None and isinstance(data.get("tree"), dict):
        data = data["tree"]
    if data is None or not _is_tree(data):
        return None
    return {"attempt": row, "nodes": len(data["kind"]), "tree": most_visited(data, MAX_NODES)}


_COLUMNS = ("parent", "tactic", "prior", "logprob", "visits", "value_sum", "expansions", "state")


def _is_tree(data: dict[str, Any]) -> bool:
    kind = data.get("kind")
    if not isinstance(kind, str) or not kind or not isinstance(data.get("solved"), str):
        return False
    columns = [data.get(name) for name in _COLUMNS]
    tables = [data.get(name) for name in ("states", "tactics")]
    if not all(isinstance(column, list) and len(column) == len(kind) for column in columns):
        return False
    parents = data["parent"]
    in_order = parents[0] == -1 and all(
        isinstance(one, int) and 0 <= one < node for node, one in enumerate(parents[1:], 1)
    )
    return in_order and len(data["solved"]) == len(kind) and all(isinstance(table, list) for table in tables)


def most_visited(data: dict[str, Any], limit: int) -> SearchTree:
    """The part of a tree that was visited most: at most `limit` nodes, each with its parent; proofs first."""
    if len(data["kind"]) <= limit:
        return _as_it_is(data)
    keep = _choose(data, limit)
    new = {old: number for number, old in enumerate(keep)}
    states, tactics = _Texts(data["states"]), _Texts(data["tactics"])
    tree: dict[str, Any] = {
        name: [data[name][old] for old in keep] for name in _COLUMNS if name not in ("parent", "state", "tactic")
    }
    tree["kind"] = "".join(data["kind"][old] for old in keep)
    tree["solved"] = "".join(data["solved"][old] for old in keep)
    tree["parent"] = [new.get(data["parent"][old], -1) for old in keep]
    tree["state"] = [states.number(data["state"][old]) for old in keep]
    tree["tactic"] = [tactics.number(data["tactic"][old]) for old in keep]
    for name in ("finisher", "dead"):
        tree[name] = [new[old] for old in _list(data.get(name)) if old in new]
    for name in ("spellings", "refused"):
        tree[name] = {
            str(new[int(old)]): [tactics.number(number) for number in _list(numbers)[:MAX_STEPS]]
            for old, numbers in mapping(data.get(name)).items()
            if old.isdigit() and int(old) in new
        }
    tree["states"], tree["tactics"] = states.used, tactics.used
    return tree  # type: ignore[return-value]


def _as_it_is(data: dict[str, Any]) -> SearchTree:
    tree = {name: data[name] for name in ("kind", "solved", *_COLUMNS)}
    tree |= {name: [text_of(text, MAX_TEXT) for text in data[name]] for name in ("states", "tactics")}
    tree |= {name: _list(data.get(name)) for name in ("finisher", "dead")}
    tree |= {name: mapping(data.get(name)) for name in ("spellings", "refused")}
    return tree  # type: ignore[return-value]


def _choose(data: dict[str, Any], limit: int) -> list[int]:
    below: dict[int, list[int]] = {}
    for node, parent in enumerate(data["parent"]):
        below.setdefault(parent, []).append(node)
    heap, chosen = [(False, 0, 0)], list[int]()
    while heap and len(chosen) < limit:
        _, _, node = heapq.heappop(heap)
        chosen.append(node)
        for child in below.get(node, ()):
            heapq.heappush(heap, (data["solved"][child] != "1", -data["visits"][child], child))
    return sorted(chosen)


class _Texts:
    """Those of a table of texts that are used, with new numbers."""

    def __init__(self, texts: list[Any]) -> None:
        self._texts, self._numbers = texts, dict[int, int]()
        self.used: list[str] = []

    def number(self, old: Any) -> int:
        """The new number of an old one; -1 for none."""
        if not isinstance(old, int) or not 0 <= old < len(self._texts):
            return -1
        if old not in self._numbers:
            self._numbers[old] = len(self.used)
            self.used.append(text_of(self._texts[old], MAX_TEXT))
        return self._numbers[old]
