"""The timeline of a run: spans of actors and phases, and batches of the model, for any period that was recorded.

Lines hold a second each and are in order, so that the part that is asked for is found without reading the rest.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from nanoproof.monitor.record_schema import Batches, Lane, Timeline, Trace, TraceEvent
from nanoproof.monitor.tail import as_float, as_list, as_text, file_size, parse_object, read_range, without_none

MAX_BYTES = 8 << 20
"""Of lines that are read for one answer; a longer part is shortened at its beginning."""
MAX_LANES = 1024
_PROBE = 32 << 10
_LONGEST_LINE = 1 << 20
_Span = tuple[float, float, str]
_LaneKey = tuple[int, str, int]
"""Rank, kind, and the number of an actor."""


class _TimedLine(NamedTuple):
    """Where a line begins in its file, and its time."""

    at: int
    begins: float


class _File:
    """One timeline file as it is now."""

    def __init__(self, path: Path) -> None:
        self.path, self.size = path, file_size(path)

    def first(self) -> float | None:
        """Return when the first line begins, in seconds since the epoch."""
        line = self._line_at(0)
        return None if line is None else line.begins

    def last(self) -> float | None:
        """Return when the last line ends, in seconds since the epoch."""
        # A line of a rank with many actors may be longer than a probe: it is looked for in more, only then.
        for length in (_PROBE, _LONGEST_LINE):
            start = max(0, self.size - length)
            lines = read_range(self.path, start, self.size - start).split(b"\n")[:-1]
            record = parse_object(lines[-1]) if lines else None
            if record:
                return as_float(record.get("to"))
        return None

    def find(self, time: float) -> int:
        """Find a position after which come all lines that end after `time`, and few others (binary search)."""
        low, high = 0, self.size
        while high - low > _PROBE:
            middle = (low + high) // 2
            line = self._line_at(middle)
            if line is None or line.begins > time:
                high = middle
            else:
                low = line.at
        return low

    def _line_at(self, position: int) -> _TimedLine | None:
        """Return the first line from a position on; None if it is damaged, or longer than any should be."""
        before = max(0, position - 1)
        for length in (_PROBE, _LONGEST_LINE):
            # With the byte before: only a line end there says that a line begins at the position itself.
            block = read_range(self.path, before, length)
            start = 0
            if position:
                start = block.find(b"\n") + 1
                if start == 0:
                    continue
            end = block.find(b"\n", start)
            if end >= 0:
                begins = as_float((parse_object(block[start:end]) or {}).get("from"))
                return None if begins is None else _TimedLine(before + start, begins)
        return None


class TimelineReader:
    """The timelines of all ranks of a run."""

    def __init__(self, run_path: Path) -> None:
        self._path = Path(run_path)

    def read(self, start: float | None, end: float | None, max_spans: int, newest: int = 60) -> Timeline:
        """Return the timeline from `start` to `end`, in about `max_spans` spans.

        By default `end` is the last time recorded, and `start` is `newest` seconds before it (0: the first time).
        """
        ranks = self._files()
        files_with_lines = [file for files in ranks.values() for file in files if file.size]
        first = min(without_none(map(_File.first, files_with_lines)), default=None)
        last = max(without_none(map(_File.last, files_with_lines)), default=None)
        if end is None:
            end = last or 0.0
        if start is None:
            start = end if first is None else min(first, end)
            if newest:
                start = max(start, end - newest)
        blocks: dict[int, list[bytes]] = {}
        wanted = start
        for rank, files in ranks.items():
            # All ranks begin at the same time, that of the one of which most had to be left out.
            blocks[rank], begin = _read_period(files, wanted, end, MAX_BYTES // len(ranks))
            start = max(start, begin)
        collected = _Spans(start, end)
        for rank, blocks_of_rank in blocks.items():
            for block in blocks_of_rank:
                for record in _records(block, start, end):
                    collected.add(rank, record)
        chosen = sorted(collected.lanes.items(), key=_lane_order)[:MAX_LANES]
        # Shares are of the spans as they were recorded: a cell shows only the state that took most of it.
        actors = [spans for (_, kind, _), spans in chosen if kind == "actor"]
        covered = 0.0
        if first is not None and last is not None:
            covered = min(end, last) - max(start, first)
        merged = sum(map(len, collected.lanes.values())) > max_spans
        if merged:
            width = (end - start) * len(chosen) / max_spans
            chosen = [(lane, _merge_short_spans(spans, width)) for lane, spans in chosen]
        return {
            "start": start,
            "end": end,
            "first": first,
            "last": last,
            "lanes": [_lane(lane, spans) for lane, spans in chosen],
            "batches": [_thin_batches(batches, max_spans) for batches in collected.batches.values()],
            "shares": _shares(_state_seconds(actors), covered * len(actors)),
            "shortened": start > wanted,
            "merged": merged,
        }

    def _files(self) -> dict[int, list[_File]]:
        """Return the files of each rank, the one from before the last rotation first."""
        ranks: dict[int, list[_File]] = {}
        paths = self._path.glob("timeline_r*.jsonl")
        for path in sorted(paths, key=lambda file: (".old." not in file.name, file.name)):
            number = path.name.removeprefix("timeline_r").split(".")[0]
            if number.isdigit():
                ranks.setdefault(int(number), []).append(_File(path))
        return dict(sorted(ranks.items()))


def _read_period(files: list[_File], start: float, end: float, budget: int) -> tuple[list[bytes], float]:
    """Read the lines of a rank's files about a part of time; returns also when it begins, if they are too many."""
    blocks: list[bytes] = []
    for file in reversed(files):  # the newest first: if there is too much to read, the beginning is left out
        low, stop = file.find(start), min(file.size, file.find(end) + _PROBE)
        cut = stop - low > budget
        low = max(low, stop - max(budget, _PROBE))
        block = read_range(file.path, max(0, low - 1), stop + _LONGEST_LINE - max(0, low - 1))
        begin = 0
        if low:
            begin = block.find(b"\n") + 1  # the line that begins at `low` counts
        blocks.append(block[begin : block.rfind(b"\n") + 1])
        budget -= stop - low
        if cut:
            first = next(_records(blocks[-1], start, end), {})
            return blocks[::-1], as_float(first.get("from")) or start
    return blocks[::-1], start


def _records(block: bytes, start: float, end: float) -> Iterator[dict[str, Any]]:
    for line in filter(None, block.split(b"\n")):
        record = parse_object(line)
        time = as_float((record or {}).get("from"))
        if record is None or time is None:
            continue
        if time > end:  # lines are in order, and more was read than the period
            return
        if (as_float(record.get("to")) or time) >= start:
            yield record


def _checked_rows(record: dict[str, Any], name: str, size: int) -> Iterator[list[Any]]:
    for row in as_list(record.get(name)):
        if isinstance(row, list) and len(row) == size:
            yield row


class _Spans:
    """The spans within [start, end] by lane, and the model's batches by rank; lines count in milliseconds."""

    def __init__(self, start: float, end: float) -> None:
        self._start, self._end = start, end
        self.lanes: dict[_LaneKey, list[_Span]] = {}
        self.batches: dict[int, Batches] = {}

    def add(self, rank: int, record: dict[str, Any]) -> None:
        """Add the spans of a line to their lanes."""
        base = float(record["from"])
        for phase, begin, length in _checked_rows(record, "phases", 3):
            self._add_span((rank, "phase", 0), phase, base, begin, length)
        for actor, state, begin, length in _checked_rows(record, "actors", 4):
            if isinstance(actor, int):
                self._add_span((rank, "actor", actor), state, base, begin, length)
        for row in _checked_rows(record, "steps", 5):
            if all(isinstance(number, (int, float)) for number in row):
                self._add_span((rank, "model", 0), "batch", base, *row[:2])
                self._add_batch(rank, base, *row)

    def _add_span(self, lane: _LaneKey, state: Any, base: float, begin: Any, length: Any) -> None:
        if not isinstance(begin, (int, float)) or not isinstance(length, (int, float)):
            return
        begin, stop = max(self._start, base + begin / 1000), min(self._end, base + (begin + length) / 1000)
        if stop <= begin:
            return
        spans = self.lanes.setdefault(lane, [])
        # A line holds a second, and cuts what goes on in the next one. Both are rounded to milliseconds.
        if spans and spans[-1][2] == state and begin - spans[-1][1] < 0.002:
            spans[-1] = (spans[-1][0], stop, as_text(state))
        else:
            spans.append((begin, stop, as_text(state)))

    def _add_batch(self, rank: int, base: float, begin: float, length: float, *counts: float) -> None:
        time = base + begin / 1000
        if not self._start <= time <= self._end:
            return
        columns = {"start": [], "seconds": [], "rows": [], "states": [], "queue": []}  # type: ignore[var-annotated]
        batches = self.batches.setdefault(rank, {"rank": rank, "busy": 0.0, **columns})  # type: ignore[typeddict-item]
        batches["busy"] += length / 1000
        batches["start"].append(time)
        batches["seconds"].append(length / 1000)
        for name, count in zip(("rows", "states", "queue"), counts, strict=True):
            batches[name].append(round(count))  # type: ignore[literal-required]


def _lane_order(item: tuple[_LaneKey, list[_Span]]) -> tuple[int, int, int]:
    (rank, kind, number), _ = item
    return rank, ("phase", "model", "actor").index(kind), number


def _lane(lane: _LaneKey, spans: list[_Span]) -> Lane:
    rank, kind, number = lane
    rounded = [(round(begin, 4), round(end, 4), state) for begin, end, state in spans]
    name = f"actor {number}" if kind == "actor" else kind
    return {"rank": rank, "kind": kind, "name": name, "spans": rounded}  # type: ignore[typeddict-item]


def _state_seconds(lanes: Iterable[list[_Span]]) -> dict[str, float]:
    """Return the seconds in each state, of all lanes together."""
    times: dict[str, float] = {}
    for spans in lanes:
        for begin, end, state in spans:
            times[state] = times.get(state, 0.0) + end - begin
    return times


def _merge_short_spans(spans: list[_Span], width: float) -> list[_Span]:
    """Write the same time in cells of `width`, each in the state that took most of it; equal neighbours become one."""

    cells: dict[int, dict[str, float]] = {}
    for begin, end, state in spans:
        cell = int(begin / width)
        while cell * width < end:
            part = min(end, (cell + 1) * width) - max(begin, cell * width)
            times = cells.setdefault(cell, {})
            times[state] = times.get(state, 0.0) + part
            cell += 1
    merged: list[_Span] = []
    for cell, times in sorted(cells.items()):
        state, part = max(times.items(), key=lambda item: item[1])
        begin, end = max(cell * width, spans[0][0]), min((cell + 1) * width, spans[-1][1])
        # A whole cell of which more than half is in no span stays empty: idle time has no spans.
        if sum(times.values()) < width / 2 and part < width / 2 and end - begin >= width * 0.99:
            continue
        if merged and merged[-1][2] == state and begin - merged[-1][1] < width * 0.01:
            merged[-1] = (merged[-1][0], end, state)
        else:
            merged.append((begin, end, state))
    return merged


def _thin_batches(batches: Batches, max_spans: int) -> Batches:
    """Leave out samples beyond `max_spans`; `busy` is of all of them."""
    stride = max(1, -(-len(batches["start"]) // max_spans))
    thinned: Batches = {**batches, "busy": round(batches["busy"], 4)}
    for name in ("start", "seconds", "rows", "states", "queue"):
        thinned[name] = batches[name][::stride]
    return thinned


def _shares(times: dict[str, float], actor_seconds: float) -> dict[str, float]:
    """Return the fraction of the actors' time in each state; what no span covers is idle."""
    whole = max(actor_seconds, sum(times.values()))
    if whole <= 0:
        return {}
    shares = {state: seconds / whole for state, seconds in sorted(times.items())}
    shares["idle"] = max(0.0, 1.0 - sum(share for state, share in shares.items() if state != "idle"))
    return shares


def chrome_trace(timeline: Timeline) -> Trace:
    """Convert a timeline to Chrome's trace format; times in microseconds from its start on."""
    events: list[TraceEvent] = []
    for number, lane in enumerate(timeline["lanes"]):
        events.append(
            {"name": "thread_name", "ph": "M", "pid": lane["rank"], "tid": number, "args": {"name": lane["name"]}}
        )
        for begin, end, state in lane["spans"]:
            time, length = round(1e6 * (begin - timeline["start"]), 1), round(1e6 * (end - begin), 1)
            events.append({"name": state, "ph": "X", "pid": lane["rank"], "tid": number, "ts": time, "dur": length})
    for batches in timeline["batches"]:
        for begin, rows, queue in zip(batches["start"], batches["rows"], batches["queue"], strict=True):
            time = round(1e6 * (begin - timeline["start"]), 1)
            values = {"rows": rows, "queue": queue}
            events.append({"name": "batch", "ph": "C", "pid": batches["rank"], "tid": 0, "ts": time, "args": values})
    # A process for each rank, a thread for each lane: M names them, X is a span, C draws a counter.
    for rank in sorted({lane["rank"] for lane in timeline["lanes"]}):
        events.append({"name": "process_name", "ph": "M", "pid": rank, "tid": 0, "args": {"name": f"rank {rank}"}})
    return {"traceEvents": events, "displayTimeUnit": "ms"}
