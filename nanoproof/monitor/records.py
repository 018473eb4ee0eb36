"""Records of attempts, search trees and model samples in the API's form, each bounded in size."""

import gzip
import heapq
import json
import math
import re
import zlib
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nanoproof.monitor import record_schema, tail
from nanoproof.monitor.record_schema import Sample as SampleItem

# -- Attempts and search trees ---------------------------------------------------------------------------------------

MAX_STEPS = 300
MAX_NODES = 6000
MAX_TEXT = 20_000
MAX_TREE_BYTES = 64 << 20


def to_attempt(row: record_schema.AttemptRow, record: dict[str, Any]) -> record_schema.Attempt:
    """Return an attempt with all of its record but the tree."""
    transitions, failed = _as_list(record.get("transitions")), _parse_failed(_as_list(record.get("failed_tactics")))
    check = record.get("check")
    return {
        **row,
        "statement": tail.as_text(tail.as_dict(record.get("theorem")).get("source")),
        "proof": tail.as_text(record.get("proof")),
        "source": tail.as_text(record.get("source")),
        "message": tail.as_text(record.get("message")),
        "stop_reason": tail.as_text(record.get("stop_reason")),
        "policy": tail.as_text(record.get("policy")),
        "seed": tail.as_int(record.get("seed")),
        "counts": tail.as_counts(record.get("counts")),
        "phases": tail.as_floats(record.get("seconds")),
        "check": check if isinstance(check, dict) and len(str(check)) < 100_000 else None,
        "transitions": parse_transitions(transitions),
        "total_transitions": len(transitions),
        "failed_tactics": failed[:MAX_STEPS],
        "total_failed_tactics": len(failed),
    }


def parse_transitions(rows: Any) -> list[record_schema.Transition]:
    """Parse the transitions of a proof."""
    return [
        {
            "state": tail.as_text(row[0], MAX_TEXT),
            "tactic": tail.as_text(row[1], MAX_TEXT),
            "depth": tail.as_int(row[2]),
        }
        for row in _as_list(rows)[:MAX_STEPS]
        if isinstance(row, list) and len(row) == 3
    ]


def _parse_failed(rows: list[Any]) -> list[record_schema.FailedTactic]:
    """Each row is a state and the tactics that were refused in it."""
    return [
        {"state": tail.as_text(row[0], MAX_TEXT), "tactic": tail.as_text(tactic, MAX_TEXT)}
        for row in rows
        if isinstance(row, list) and row
        for tactic in row[1:]
    ]


MAX_STATEMENT = 300
HEAD_BYTES = 8 << 10
"""Of the record of an attempt: it begins with the theorem, and what follows may be a thousand times as long."""
_SOURCE = re.compile(r'"source":\s*(?=")')


def source_in(head: bytes) -> str:
    """Return the text of the theorem in the beginning of the record of an attempt; empty if it is not all there."""
    text = head.decode("utf-8", "replace")
    match = _SOURCE.search(text)
    try:
        return tail.as_text(json.JSONDecoder().raw_decode(text, match.end())[0]) if match else ""
    except ValueError:
        return ""


def one_line(source: str) -> str:
    """Return a statement in one line, shortened, without the `sorry` that stands for its proof."""
    text = " ".join(source.split()).removesuffix("sorry").rstrip().removesuffix(":= by").removesuffix(":=").rstrip()
    return text if len(text) <= MAX_STATEMENT else text[: MAX_STATEMENT - 1] + "…"


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def read_tree(run_path: Path, row: record_schema.AttemptRow) -> record_schema.TreeAnswer | None:
    """Read the search tree of an attempt; None if it was not kept or was deleted."""
    data = load_tree(run_path / "trees" / f"{row['step']}_{row['rank']}_{row['seq']}.json.gz")
    return None if data is None else {"attempt": row, **to_tree(data["tree"])}


def load_live(file: Path) -> dict[str, Any] | None:
    """Read the file of a search that is under way, whose `tree` may be null; None if it is damaged."""
    data = _unpack(file)
    return data if data is not None and (data.get("tree") is None or is_tree(data["tree"])) else None


def _unpack(file: Path) -> dict[str, Any] | None:
    try:
        with tail.open_file(file) as raw, gzip.open(raw, "rb") as source:
            content = source.read(MAX_TREE_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        return None
    return tail.parse_object(content) if len(content) <= MAX_TREE_BYTES else None


def load_tree(file: Path) -> dict[str, Any] | None:
    """Read a file of a tree, which is under `tree`; None if there is no tree in it."""
    data = None if file.parent.is_symlink() else _unpack(file)
    if data is not None and not isinstance(data.get("tree"), dict):
        data = {"tree": data}
    return data if data is not None and is_tree(data["tree"]) else None


def to_tree(data: dict[str, Any]) -> record_schema.EvaluatedTree:
    """Return a tree as it is sent."""
    return {"nodes": len(data["kind"]), "tree": most_visited(data, MAX_NODES)}


_COLUMNS = ("parent", "tactic", "prior", "logprob", "visits", "value_sum", "expansions", "state")


def is_tree(data: Any) -> bool:
    """Tell whether this is a tree as `search/tree_json.py` writes them, as far as a page depends on it."""
    kind = data.get("kind") if isinstance(data, dict) else None
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


def most_visited(data: dict[str, Any], limit: int) -> record_schema.SearchTree:
    """Select the most visited part of a tree: at most `limit` nodes, each with its parent; proofs first."""
    if len(data["kind"]) <= limit:
        return _whole_tree(data)
    keep = _most_visited_nodes(data, limit)
    new = {old: number for number, old in enumerate(keep)}
    states, tactics = _TextTable(data["states"]), _TextTable(data["tactics"])
    tree: dict[str, Any] = {
        name: [data[name][old] for old in keep] for name in _COLUMNS if name not in ("parent", "state", "tactic")
    }
    tree["kind"] = "".join(data["kind"][old] for old in keep)
    tree["solved"] = "".join(data["solved"][old] for old in keep)
    tree["parent"] = [new.get(data["parent"][old], -1) for old in keep]
    tree["state"] = [states.number(data["state"][old]) for old in keep]
    tree["tactic"] = [tactics.number(data["tactic"][old]) for old in keep]
    for name in ("finisher", "dead"):
        tree[name] = [new[old] for old in _as_list(data.get(name)) if old in new]
    for name in ("spellings", "refused"):
        tree[name] = {
            str(new[int(old)]): [tactics.number(number) for number in _as_list(numbers)[:MAX_STEPS]]
            for old, numbers in tail.as_dict(data.get(name)).items()
            if old.isdigit() and int(old) in new
        }
    tree["states"], tree["tactics"] = states.used, tactics.used
    return tree  # type: ignore[return-value]


def _whole_tree(data: dict[str, Any]) -> record_schema.SearchTree:
    tree = {name: data[name] for name in ("kind", "solved", *_COLUMNS)}
    tree |= {name: [tail.as_text(text, MAX_TEXT) for text in data[name]] for name in ("states", "tactics")}
    tree |= {name: _as_list(data.get(name)) for name in ("finisher", "dead")}
    tree |= {name: tail.as_dict(data.get(name)) for name in ("spellings", "refused")}
    if _has_replay(data):
        tree |= {name: data[name] for name in ("born", "ends", "values")}
    return tree  # type: ignore[return-value]


def _has_replay(data: dict[str, Any]) -> bool:
    """Tell whether the search of a tree can be replayed."""
    count, (born, ends, values) = len(data["kind"]), (_as_list(data.get(name)) for name in ("born", "ends", "values"))
    whole = all(type(one) is int and -1 <= one < count for one in ends) and all(type(one) is int for one in born)
    return bool(ends) and whole and len(born) == count and len(values) == len(ends) and all(map(_is_number, values))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)


def _most_visited_nodes(data: dict[str, Any], limit: int) -> list[int]:
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


class _TextTable:
    """Those of a table of texts that are used, with new numbers."""

    def __init__(self, texts: list[Any]) -> None:
        self._texts, self._numbers = texts, dict[int, int]()
        self.used: list[str] = []

    def number(self, old: Any) -> int:
        """Return the new number of an old one; -1 for none."""
        if not isinstance(old, int) or not 0 <= old < len(self._texts):
            return -1
        if old not in self._numbers:
            self._numbers[old] = len(self.used)
            self.used.append(tail.as_text(self._texts[old], MAX_TEXT))
        return self._numbers[old]


# -- What the model sampled and was trained on, and the calibration of its values ------------------------------------

MAX_FILE_BYTES = 64 << 20
"""Of a longer file only the end is looked at."""
MAX_ITEMS = 64
MAX_TOKENS = 4000
_BINS = 16
_OnRecord = Callable[[dict[str, Any]], None]


class LineFile:
    """Positions of the lines of an append-only file; `on_record` gets each of them once."""

    def __init__(self, path: Path, on_record: _OnRecord | None = None) -> None:
        self._on_record = on_record
        self._tail = tail.Tail(path)
        self._at_start = self._reset()

    def _reset(self) -> bool:
        self._starts, self._sizes = array("q"), array("q")
        return True

    def __len__(self) -> int:
        return len(self._starts)

    def poll(self) -> bool:
        """Read a bounded part of what is new; return whether there is more."""
        if self._at_start and self._tail.update_size():
            self._tail.position = max(0, self._tail.size - MAX_FILE_BYTES)
            self._at_start = False
        restarts = self._tail.restarts
        lines = self._tail.read()
        if self._tail.restarts > restarts:
            self._reset()
        for line in lines:
            self._starts.append(line.at)
            self._sizes.append(len(line.text))
            record = tail.parse_object(line.text) if self._on_record is not None else None
            if record is not None and self._on_record is not None:
                self._on_record(record)
        return self._tail.behind > tail.MAX_LINE or (bool(lines) and self._tail.behind > 0)

    def follow_rename(self, path: Path) -> bool:
        """Continue in the file of this name if it is the same one; return whether it is."""
        return self._tail.follow_rename(path)

    def read_record(self, number: int) -> dict[str, Any] | None:
        """Read a record by its number."""
        return tail.parse_object(tail.read_range(self._tail.path, self._starts[number], self._sizes[number]))


class LineFiles:
    """Several files as one list, the newest record first: of each rank, and from before and after a rotation."""

    def __init__(self, run_path: Path, stem: str, on_record: _OnRecord | None = None) -> None:
        self._path, self._stem, self._on_record = run_path, stem, on_record
        self._files: dict[str, LineFile] = {}

    def poll(self) -> bool:
        """Read a bounded part of what is new; return whether there is more."""
        parts = list(self._path.glob(f"{self._stem}.old.jsonl"))
        for old in parts:
            name = old.name.replace(".old.", ".")
            if name in self._files and self._files[name].follow_rename(old):
                self._files[old.name] = self._files.pop(name)
        for file in (*parts, *self._path.glob(f"{self._stem}.jsonl")):
            if file.name not in self._files:
                self._files[file.name] = LineFile(file, self._on_record)
        return any(list(map(LineFile.poll, self._files.values())))

    def page(self, page: int, size: int) -> tuple[list[dict[str, Any]], int]:
        """Return a page of records and their total; ranks take turns, as they write at about the same pace."""
        ranks: dict[str, list[LineFile]] = {}
        for name in sorted(self._files):  # "x.jsonl" comes before "x.old.jsonl"
            ranks.setdefault(name.split(".")[0], []).append(self._files[name])
        total = sum(len(file) for files in ranks.values() for file in files)
        first, last = (page - 1) * size, page * size
        chosen: list[dict[str, Any]] = []
        for place in _round_robin([sum(map(len, files)) for files in ranks.values()], first, min(last, total)):
            files, number = list(ranks.values())[place[0]], place[1]
            for file in files:
                if number < len(file):
                    record = file.read_record(len(file) - 1 - number)
                    chosen += [record] if record is not None else []
                    break
                number -= len(file)
        return chosen, total


def _round_robin(counts: list[int], first: int, last: int) -> list[tuple[int, int]]:
    """Places `first` to `last` if lists of these lengths are taken from in turns: list, and place in it."""
    places: list[tuple[int, int]] = []
    done, round_ = 0, 0
    while done < last:
        left = [number for number, count in enumerate(counts) if count > round_]
        if not left:
            break
        whole = min(counts[number] for number in left) - round_  # rounds in which all of these take part
        skip = min(whole - 1, max(0, (first - done) // len(left)))
        round_, done = round_ + skip, done + skip * len(left)
        places += [(number, round_) for place, number in enumerate(left) if first <= done + place < last]
        round_, done = round_ + 1, done + len(left)
    return places


def to_sample(record: dict[str, Any]) -> SampleItem:
    """Return a state with the tactics that were sampled in it."""
    tactics, distribution = _as_list(record.get("tactics")), _as_list(record.get("distribution"))
    return {
        "rank": tail.as_int(record.get("rank")),
        "step": tail.as_int(record.get("step")),
        "time": tail.as_float(record.get("time")),
        "dataset": tail.as_text(record.get("dataset")),
        "id": tail.as_text(record.get("id")),
        "state": tail.as_text(record.get("state"), 20_000),
        "tactics": [_to_sampled_tactic(one) for one in tactics[:MAX_ITEMS]],
        "dropped": tail.as_int(record.get("dropped")),
        "value": tail.as_float(record.get("value")),
        "distribution": [
            tail.as_float(one) or 0.0
            for one in (distribution if isinstance(distribution, list) else [])[: 2 * MAX_ITEMS]
        ],
        "depth": tail.as_int(record.get("depth")) or None,
    }


def _to_sampled_tactic(record: Any) -> record_schema.SampledTactic:
    record = tail.as_dict(record)
    return {
        "tactic": tail.as_text(record.get("tactic"), 5000),
        "logprob": tail.as_float(record.get("logprob")) or 0.0,
        "count": tail.as_int(record.get("count"), 1),
        "outcome": tail.as_text(record.get("outcome")) or "untried",
        "message": tail.as_text(record.get("message"), 2000),
    }


def to_train_sample(record: dict[str, Any]) -> record_schema.TrainSample:
    """Return a training example with the loss of each token."""
    tokens, losses = (_as_list(record.get(name))[:MAX_TOKENS] for name in ("tokens", "losses"))
    return {
        "step": tail.as_int(record.get("step")),
        "time": tail.as_float(record.get("time")),
        "kind": tail.as_text(record.get("kind")),
        "tokens": [tail.as_text(token) for token in tokens],
        "losses": [tail.as_float(loss) for loss in losses],
        "loss": tail.as_float(record.get("loss")),
    }


class CalibrationSums:
    """Sums over all samples whose true depth is known."""

    def __init__(self) -> None:
        self._bins: dict[int, list[float]] = {}  # by the rounded value: count, predicted, actual, actual²
        self._depths = [[0.0] * 4 for _ in range(_BINS)]  # count, predicted, error, |error|
        self._count = 0
        self._sums = [0.0] * 7  # error, |error|, v, d, v², d², v·d
        self._steps: tuple[int, int] | None = None

    def add(self, record: dict[str, Any]) -> None:
        """Add a sample."""
        value, depth = tail.as_float(record.get("value")), tail.as_float(record.get("depth"))
        if value is None or depth is None or not 0 <= value < 1e6 or not 0 < depth < 1e6:
            return
        step = tail.as_int(record.get("step"))
        self._steps = (step, step) if self._steps is None else (min(self._steps[0], step), max(self._steps[1], step))
        # The groups of the expected error are those of the chart, so that what stands beside each other agrees.
        place = self._bins.setdefault(round(value), [0.0] * 4)
        for number, one in enumerate((1.0, value, depth, depth * depth)):
            place[number] += one
        error = value - depth
        row = self._depths[min(_BINS, max(1, round(depth))) - 1]
        for number, one in enumerate((1.0, value, error, abs(error))):
            row[number] += one
        for number, one in enumerate((error, abs(error), value, depth, value * value, depth * depth, value * depth)):
            self._sums[number] += one
        self._count += 1

    def summary(self) -> record_schema.Calibration:
        """Return bins by the rounded value, rows by depth (the last ones from 16 on), errors and the correlation.

        `expected_error` is the expected calibration error: over the groups of samples whose value rounds to the same
        number (halves to even), the mean, weighted by their counts, of |mean value - mean true depth|.
        """
        count, (error, absolute, *_) = self._count, self._sums
        bins: list[record_schema.CalibrationBin] = [
            {
                "low": number - 0.5,
                "high": number + 0.5,
                "count": int(n),
                "predicted": predicted / n,
                "actual": actual / n,
                "deviation": math.sqrt(max(0.0, square / n - (actual / n) ** 2)),
            }
            for number, (n, predicted, actual, square) in sorted(self._bins.items())
        ]
        depths: list[record_schema.CalibrationDepth] = [
            {"depth": number, "count": int(n), "predicted": value / n, "error": bias / n, "absolute_error": off / n}
            for number, (n, value, bias, off) in enumerate(self._depths, 1)
            if n
        ]
        misplaced = sum(abs(predicted - actual) for _, predicted, actual, _ in self._bins.values())
        return {
            "bins": bins,
            "depths": depths,
            "count": count,
            "expected_error": misplaced / count if count else None,
            "mean_error": error / count if count else None,
            "mean_absolute_error": absolute / count if count else None,
            "correlation": self._correlation(),
            "first_step": self._steps[0] if self._steps else None,
            "last_step": self._steps[1] if self._steps else None,
        }

    def _correlation(self) -> float | None:
        _, _, v, d, vv, dd, vd = self._sums
        n = self._count
        spread = (n * vv - v * v) * (n * dd - d * d)
        return (n * vd - v * d) / math.sqrt(spread) if n > 1 and spread > 1e-9 else None
