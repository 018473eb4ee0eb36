"""Records of attempts, search trees and model samples in the API's form, each bounded in size."""

import gzip
import heapq
import json
import math
import re
import zlib
from array import array
from collections.abc import Callable
from dataclasses import dataclass
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
    transitions, failed = tail.as_list(record.get("transitions")), _parse_failed(record.get("failed_tactics"))
    check = record.get("check")
    # The final check's report is shown as it is, whatever its fields: only its size is looked at.
    if not isinstance(check, dict) or len(str(check)) >= 100_000:
        check = None
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
        "check": check,
        "transitions": parse_transitions(transitions),
        "total_transitions": len(transitions),
        "failed_tactics": failed[:MAX_STEPS],
        "total_failed_tactics": len(failed),
    }


def parse_transitions(rows: Any) -> list[record_schema.Transition]:
    """Parse the transitions of a proof: rows of a state, a tactic, and how many tactics were still needed there."""
    transitions: list[record_schema.Transition] = []
    for row in tail.as_list(rows)[:MAX_STEPS]:
        if isinstance(row, list) and len(row) == 3:
            state, tactic = tail.as_text(row[0], MAX_TEXT), tail.as_text(row[1], MAX_TEXT)
            transitions.append({"state": state, "tactic": tactic, "depth": tail.as_int(row[2])})
    return transitions


def _parse_failed(rows: Any) -> list[record_schema.FailedTactic]:
    """Parse rows of a state and the tactics that were refused in it."""
    # A state stands there once: with a copy for each tactic, refused ones were 98 in 100 bytes of the log.
    refused: list[record_schema.FailedTactic] = []
    for row in tail.as_list(rows):
        if isinstance(row, list) and row:
            state = tail.as_text(row[0], MAX_TEXT)
            refused += [{"state": state, "tactic": tail.as_text(tactic, MAX_TEXT)} for tactic in row[1:]]
    return refused


MAX_STATEMENT = 300
HEAD_BYTES = 8 << 10
"""Of the record of an attempt: it begins with the theorem, and what follows may be a thousand times as long."""
_SOURCE = re.compile(r'"source":\s*(?=")')


def source_in(head: bytes) -> str:
    """Return the text of the theorem in the beginning of the record of an attempt; empty if it is not all there."""
    text = head.decode("utf-8", "replace")
    match = _SOURCE.search(text)
    if match is None:
        return ""
    try:
        # The head is cut in the middle of the record, which is no JSON then: only the string itself has to be whole.
        return tail.as_text(json.JSONDecoder().raw_decode(text, match.end())[0])
    except ValueError:
        return ""


def one_line(source: str) -> str:
    """Return a statement in one line, shortened, without the `sorry` that stands for its proof."""
    text = " ".join(source.split()).removesuffix("sorry").rstrip().removesuffix(":= by").removesuffix(":=").rstrip()
    return text if len(text) <= MAX_STATEMENT else text[: MAX_STATEMENT - 1] + "…"


def read_tree(run_path: Path, row: record_schema.AttemptRow) -> record_schema.TreeAnswer | None:
    """Read the search tree of an attempt; None if it was not kept or was deleted."""
    data = load_tree(run_path / "trees" / f"{row['step']}_{row['rank']}_{row['seq']}.json.gz")
    return None if data is None else {"attempt": row, **to_tree(data["tree"])}


def load_live(file: Path) -> dict[str, Any] | None:
    """Read the file of a search that is under way, whose `tree` may be null; None if it is damaged."""
    data = _unpack(file)
    # A tree that is too large to be shown while it grows is null: its nodes are counted only.
    if data is None or not (data.get("tree") is None or is_tree(data["tree"])):
        return None
    return data


def _unpack(file: Path) -> dict[str, Any] | None:
    try:
        with tail.open_file(file) as raw, gzip.open(raw, "rb") as source:
            # A few kB may unpack to gigabytes: no more than the limit is ever unpacked.
            content = source.read(MAX_TREE_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        return None
    return tail.parse_object(content) if len(content) <= MAX_TREE_BYTES else None


def load_tree(file: Path) -> dict[str, Any] | None:
    """Read a file of a tree, which is under `tree`; None if there is no tree in it."""
    data = None if file.parent.is_symlink() else _unpack(file)
    if data is None:
        return None
    # Trees of attempts are a file by themselves; those of evaluations have their theorem beside them.
    if not isinstance(data.get("tree"), dict):
        data = {"tree": data}
    return data if is_tree(data["tree"]) else None


def to_tree(data: dict[str, Any]) -> record_schema.EvaluatedTree:
    """Return a tree as it is sent."""
    return {"nodes": len(data["kind"]), "tree": most_visited(data, MAX_NODES)}


_COLUMNS = ("parent", "tactic", "prior", "logprob", "visits", "value_sum", "expansions", "state")


def is_tree(data: Any) -> bool:
    """Tell whether this is a tree as `search/tree_json.py` writes them, as far as a page depends on it."""
    if not isinstance(data, dict):
        return False
    kind, solved = data.get("kind"), data.get("solved")
    if not isinstance(kind, str) or not kind or not isinstance(solved, str) or len(solved) != len(kind):
        return False
    if not isinstance(data.get("states"), list) or not isinstance(data.get("tactics"), list):
        return False
    for name in _COLUMNS:
        column = data.get(name)
        if not isinstance(column, list) or len(column) != len(kind):
            return False
    root, *parents = data["parent"]
    # Parents stand before their children: a page that walks from a node to the root would never end in a circle.
    return root == -1 and all(isinstance(parent, int) and 0 <= parent <= at for at, parent in enumerate(parents))


def most_visited(data: dict[str, Any], limit: int) -> record_schema.SearchTree:
    """Select the most visited part of a tree: at most `limit` nodes, each with its parent; proofs first."""
    if len(data["kind"]) <= limit:
        return _whole_tree(data)
    keep = _most_visited_nodes(data, limit)
    new = {old: number for number, old in enumerate(keep)}
    states, tactics = _TextTable(data["states"]), _TextTable(data["tactics"])

    def of_kept(name: str) -> list[Any]:
        column = data[name]
        return [column[node] for node in keep]

    tree: dict[str, Any] = {}
    for name in ("prior", "logprob", "visits", "value_sum", "expansions"):
        tree[name] = of_kept(name)
    tree["kind"], tree["solved"] = "".join(of_kept("kind")), "".join(of_kept("solved"))
    tree["parent"] = [new.get(parent, -1) for parent in of_kept("parent")]
    # Texts that no node names any more are not sent.
    tree["state"] = list(map(states.number, of_kept("state")))
    tree["tactic"] = list(map(tactics.number, of_kept("tactic")))
    for name in ("finisher", "dead"):
        tree[name] = [new[old] for old in tail.as_list(data.get(name)) if old in new]
    for name in ("spellings", "refused"):
        tree[name] = {}
        for old, numbers in tail.as_dict(data.get(name)).items():
            if old.isdigit() and int(old) in new:  # keys of JSON are texts
                tree[name][str(new[int(old)])] = list(map(tactics.number, tail.as_list(numbers)[:MAX_STEPS]))
    tree["states"], tree["tactics"] = states.used, tactics.used
    return tree  # type: ignore[return-value]


def _whole_tree(data: dict[str, Any]) -> record_schema.SearchTree:
    tree = {name: data[name] for name in ("kind", "solved", *_COLUMNS)}
    for name in ("states", "tactics"):
        tree[name] = [tail.as_text(text, MAX_TEXT) for text in data[name]]
    # Files of older versions have none of these.
    for name in ("finisher", "dead"):
        tree[name] = tail.as_list(data.get(name))
    for name in ("spellings", "refused"):
        tree[name] = tail.as_dict(data.get(name))
    if _has_replay(data):
        tree |= {"born": data["born"], "ends": data["ends"], "values": data["values"]}
    return tree  # type: ignore[return-value]


def _has_replay(data: dict[str, Any]) -> bool:
    """Tell whether the search of a tree can be replayed."""
    count = len(data["kind"])
    born, ends, values = map(tail.as_list, (data.get("born"), data.get("ends"), data.get("values")))
    if not ends or len(born) != count or len(values) != len(ends):
        return False
    # -1: the simulation went to a disproof, which is no node of this tree.
    nodes_exist = all(type(node) is int and -1 <= node < count for node in ends)
    return nodes_exist and all(type(simulation) is int for simulation in born) and all(map(_is_number, values))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)


def _most_visited_nodes(data: dict[str, Any], limit: int) -> list[int]:
    below: dict[int, list[int]] = {}
    for node, parent in enumerate(data["parent"]):
        below.setdefault(parent, []).append(node)
    # From the root down, so that parents are chosen first; a proof before all else: people open a tree for it.
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
            # In the middle of a line, whose rest is no record: it takes a place in the list, and pages leave it out.
            self._tail.position = max(0, self._tail.size - MAX_FILE_BYTES)
            self._at_start = False
        restarts = self._tail.restarts
        lines = self._tail.read()
        if self._tail.restarts > restarts:
            self._reset()
        for line in lines:
            self._starts.append(line.at)
            self._sizes.append(len(line.text))
            if self._on_record is not None:
                record = tail.parse_object(line.text)
                if record is not None:
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
            # Renamed since it grew too long: read once more, its states would count twice in the calibration.
            name = old.name.replace(".old.", ".")
            if name in self._files and self._files[name].follow_rename(old):
                self._files[old.name] = self._files.pop(name)
        for file in (*parts, *self._path.glob(f"{self._stem}.jsonl")):
            if file.name not in self._files:
                self._files[file.name] = LineFile(file, self._on_record)
        # A list: any() by itself would leave the files unread that come after the first with more to read.
        return any(list(map(LineFile.poll, self._files.values())))

    def page(self, page: int, size: int) -> tuple[list[dict[str, Any]], int]:
        """Return a page of records and their total; ranks take turns, as they write at about the same pace."""
        ranks: dict[str, list[LineFile]] = {}
        for name in sorted(self._files):  # "x.jsonl" comes before "x.old.jsonl"
            ranks.setdefault(name.split(".")[0], []).append(self._files[name])
        counts = [sum(map(len, files)) for files in ranks.values()]
        total = sum(counts)
        chosen: list[dict[str, Any]] = []
        for rank, number in _round_robin(counts, (page - 1) * size, min(page * size, total)):
            for file in list(ranks.values())[rank]:
                if number < len(file):
                    record = file.read_record(len(file) - 1 - number)  # lines are the oldest first, pages the newest
                    if record is not None:
                        chosen.append(record)
                    break
                number -= len(file)
        return chosen, total


def _round_robin(counts: list[int], first: int, last: int) -> list[tuple[int, int]]:
    """Return the places `first` to `last` if lists of these lengths are taken from in turns: list, and place in it."""
    places: list[tuple[int, int]] = []
    done, round_ = 0, 0
    while done < last:
        left = [number for number, count in enumerate(counts) if count > round_]
        if not left:
            break
        # Whole rounds before the page are passed over at once: a late page takes no longer than the first.
        whole = min(counts[number] for number in left) - round_
        skip = min(whole - 1, max(0, (first - done) // len(left)))
        round_, done = round_ + skip, done + skip * len(left)
        places += [(number, round_) for place, number in enumerate(left) if first <= done + place < last]
        round_, done = round_ + 1, done + len(left)
    return places


def to_sample(record: dict[str, Any]) -> SampleItem:
    """Return a state with the tactics that were sampled in it."""
    tactics, distribution = tail.as_list(record.get("tactics")), tail.as_list(record.get("distribution"))
    return {
        "rank": tail.as_int(record.get("rank")),
        "step": tail.as_int(record.get("step")),
        "time": tail.as_float(record.get("time")),
        "dataset": tail.as_text(record.get("dataset")),
        "id": tail.as_text(record.get("id")),
        "state": tail.as_text(record.get("state"), 20_000),
        "tactics": list(map(_to_sampled_tactic, tactics[:MAX_ITEMS])),
        "dropped": tail.as_int(record.get("dropped")),
        "value": tail.as_float(record.get("value")),
        "distribution": [tail.as_float(probability) or 0.0 for probability in distribution[: 2 * MAX_ITEMS]],
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
    return {
        "step": tail.as_int(record.get("step")),
        "time": tail.as_float(record.get("time")),
        "kind": tail.as_text(record.get("kind")),
        "tokens": list(map(tail.as_text, tail.as_list(record.get("tokens"))[:MAX_TOKENS])),
        "losses": list(map(tail.as_float, tail.as_list(record.get("losses"))[:MAX_TOKENS])),
        "loss": tail.as_float(record.get("loss")),
    }


@dataclass
class _Sums:
    """Sums over samples: predicted values v, true depths d (both in tactics), and errors v - d."""

    count: int = 0
    value: float = 0.0
    depth: float = 0.0
    error: float = 0.0
    absolute: float = 0.0
    value_squared: float = 0.0
    depth_squared: float = 0.0
    product: float = 0.0

    def add(self, value: float, depth: float) -> None:
        """Add a sample."""
        self.count += 1
        self.value += value
        self.depth += depth
        self.error += value - depth
        self.absolute += abs(value - depth)
        self.value_squared += value * value
        self.depth_squared += depth * depth
        self.product += value * depth

    def correlation(self) -> float | None:
        """Return Pearson's correlation of values and depths; None where one of them does not vary."""
        n = self.count
        spread_of_values = n * self.value_squared - self.value * self.value
        spread = spread_of_values * (n * self.depth_squared - self.depth * self.depth)
        # Below that it is the rounding of equal numbers.
        if n < 2 or spread <= 1e-9:
            return None
        return (n * self.product - self.value * self.depth) / math.sqrt(spread)


class CalibrationSums:
    """Sums over all samples whose true depth is known."""

    def __init__(self) -> None:
        self._bins: dict[int, _Sums] = {}
        self._depths = [_Sums() for _ in range(_BINS)]
        self._all = _Sums()
        self._first_step: int | None = None
        self._last_step: int | None = None

    def add(self, record: dict[str, Any]) -> None:
        """Add a sample."""
        value, depth = tail.as_float(record.get("value")), tail.as_float(record.get("depth"))
        if value is None or depth is None or not 0 <= value < 1e6 or not 0 < depth < 1e6:
            return
        step = tail.as_int(record.get("step"))
        # Ranks write files of their own, and so steps do not come in order.
        self._first_step = min(step, step if self._first_step is None else self._first_step)
        self._last_step = max(step, step if self._last_step is None else self._last_step)
        # The groups of the expected error are those of the chart, so that what stands beside each other agrees.
        self._bins.setdefault(round(value), _Sums()).add(value, depth)
        self._depths[min(_BINS, max(1, round(depth))) - 1].add(value, depth)
        self._all.add(value, depth)

    def summary(self) -> record_schema.Calibration:
        """Return bins by the rounded value, rows by depth (the last ones from 16 on), errors and the correlation.

        `expected_error` is the expected calibration error: over the groups of samples whose value rounds to the same
        number (halves to even), the mean, weighted by their counts, of |mean value - mean true depth|.
        """
        bins: list[record_schema.CalibrationBin] = []
        for number, sums in sorted(self._bins.items()):
            n = sums.count
            variance = sums.depth_squared / n - (sums.depth / n) ** 2
            row: record_schema.CalibrationBin = {
                "low": number - 0.5,
                "high": number + 0.5,
                "count": n,
                "predicted": sums.value / n,
                "actual": sums.depth / n,
                "deviation": math.sqrt(max(0.0, variance)),  # of equal depths it may be -1e-17
            }
            bins.append(row)
        depths: list[record_schema.CalibrationDepth] = []
        for depth, sums in enumerate(self._depths, 1):
            if n := sums.count:
                errors = {"error": sums.error / n, "absolute_error": sums.absolute / n}
                depths.append({"depth": depth, "count": n, "predicted": sums.value / n, **errors})  # type: ignore[typeddict-item]
        # A group's count times |mean value - mean depth| is |sum of values - sum of depths|.
        misplaced = sum(abs(sums.value - sums.depth) for sums in self._bins.values())
        count = self._all.count
        return {
            "bins": bins,
            "depths": depths,
            "count": count,
            "expected_error": _mean(misplaced, count),
            "mean_error": _mean(self._all.error, count),
            "mean_absolute_error": _mean(self._all.absolute, count),
            "correlation": self._all.correlation(),
            "first_step": self._first_step,
            "last_step": self._last_step,
        }


def _mean(total: float, count: int) -> float | None:
    return total / count if count else None
