"""The timeline of a run: spans of actors and phases, and batches of the model, for any period that was recorded.

Lines hold a second each and are in order, so that the part that is asked for is found without reading the rest.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from nanoproof.monitor.record_schema import Batches, Lane, Timeline, Trace, TraceEvent
from nanoproof.monitor.tail import as_float, as_text, file_stat, parse_object, read_range

MAX_BYTES = 8 << 20
"""Of lines that are read for one answer; a longer part is shortened at its beginning."""
MAX_LANES = 1024
_PROBE = 32 << 10
_LONGEST_LINE = 1 << 20
_Span = tuple[float, float, str]


class _File:
    """One timeline file as it is now."""

    def __init__(self, path: Path) -> None:
        self.path, found = path, file_stat(path)
        self.size = 0 if found is None else found.st_size

    def first(self) -> float | None:
        """Return when the first line begins, in seconds since the epoch."""
        found = self._line_at(0)
        return None if found is None else found[1]

    def last(self) -> float | None:
        """Return when the last line ends, in seconds since the epoch."""
        record = None
        for length in (_PROBE, _LONGEST_LINE):
            start = max(0, self.size - length)
            lines = read_range(self.path, start, self.size - start).split(b"\n")[:-1]
            record = record or (parse_object(lines[-1]) if lines else None)
        return None if record is None else as_float(record.get("to"))

    def find(self, time: float) -> int:
        """Find a position after which come all lines that end after `time`, and few others (binary search)."""
        low, high = 0, self.size
        while high - low > _PROBE:
            middle = (low + high) // 2
            found = self._line_at(middle)
            if found is None or found[1] > time:
                high = middle
            else:
                low = found[0]
        return low

    def _line_at(self, position: int) -> tuple[int, float] | None:
        """The first line that begins at or after a position, and its time."""
        block, start, end = b"", 0, -1
        for length in (_PROBE, _LONGEST_LINE):
            if end < 0:
                block = read_range(self.path, max(0, position - 1), length)
                start = block.find(b"\n") + 1 if position else 0
                end = block.find(b"\n", start)
        record = parse_object(block[start:end]) if end >= 0 and (start or not position) else None
        time = None if record is None else as_float(record.get("from"))
        return None if time is None else (max(0, position - 1) + start if position else 0, time)


class TimelineReader:
    """The timelines of all ranks of a run."""

    def __init__(self, run_path: Path) -> None:
        self._path = Path(run_path)

    def read(self, start: float | None, end: float | None, max_spans: int, newest: int = 60) -> Timeline:
        """Return the timeline from `start` to `end`, in about `max_spans` spans.

        By default `end` is the last time recorded, and `start` is `newest` seconds before it (0: the first time).
        """
        ranks = self._files()
        known = [file for files in ranks.values() for file in files if file.size]
        first = min((time for file in known if (time := file.first()) is not None), default=None)
        last = max((time for file in known if (time := file.last()) is not None), default=None)
        end = end if end is not None else last if last is not None else 0.0
        if start is None:
            begin = end if first is None else min(first, end)
            start = max(begin, end - newest) if newest else begin
        lanes: dict[tuple[int, str, int], list[_Span]] = {}
        batches: dict[int, Batches] = {}
        parts = [(rank, *_read_period(files, start, end, MAX_BYTES // len(ranks))) for rank, files in ranks.items()]
        asked, start = start, max([start, *(begin for _, _, begin in parts)])
        for rank, blocks, _ in parts:
            for block in blocks:
                for record in _records(block, start, end):
                    _add_spans(rank, record, lanes, batches, start, end)
        spans = sum(map(len, lanes.values()))
        chosen = sorted(lanes.items(), key=_lane_order)[:MAX_LANES]
        width = (end - start) * len(chosen) / max_spans if spans > max_spans else 0.0
        shown = [_lane(key, _merge_short_spans(found, width) if width else found) for key, found in chosen]
        fewer = [_thin_batches(one, max_spans) for one in batches.values()]
        times = _state_seconds(found for (_, kind, _), found in chosen if kind == "actor")
        actors = sum(lane["kind"] == "actor" for lane in shown)
        covered = min(end, last) - max(start, first) if first is not None and last is not None else 0.0
        return {
            "start": start,
            "end": end,
            "first": first,
            "last": last,
            "lanes": shown,
            "batches": fewer,
            "shares": _shares(times, covered * actors),
            "shortened": start > asked,
            "merged": width > 0,
        }

    def _files(self) -> dict[int, list[_File]]:
        ranks: dict[int, list[_File]] = {}
        for path in sorted(self._path.glob("timeline_r*.jsonl"), key=lambda one: (".old." not in one.name, one.name)):
            number = path.name.removeprefix("timeline_r").split(".")[0]
            if number.isdigit():
                ranks.setdefault(int(number), []).append(_File(path))
        return dict(sorted(ranks.items()))


def _read_period(files: list[_File], start: float, end: float, budget: int) -> tuple[list[bytes], float]:
    """Whole lines of a rank's files that have to do with a part of time, and when that begins if they are too many."""
    blocks: list[bytes] = []
    for file in reversed(files):
        low, stop = file.find(start), min(file.size, file.find(end) + _PROBE)
        cut = stop - low > budget
        low = max(low, stop - max(budget, _PROBE))
        block = read_range(file.path, max(0, low - 1), stop + _LONGEST_LINE - max(0, low - 1))
        begin = block.find(b"\n") + 1 if low else 0  # the line that begins at `low` counts
        blocks.append(block[begin : block.rfind(b"\n") + 1])
        budget -= stop - low
        if cut:
            first = next(_records(blocks[-1], start, end), {})
            return blocks[::-1], as_float(first.get("from")) or start
    return blocks[::-1], start


def _records(block: bytes, start: float, end: float) -> Iterator[dict[str, Any]]:
    for line in block.split(b"\n"):
        record = parse_object(line) if line else None
        time = None if record is None else as_float(record.get("from"))
        if record is None or time is None:
            continue
        if time > end:
            return
        if (as_float(record.get("to")) or time) >= start:
            yield record


def _checked_rows(record: dict[str, Any], name: str, size: int) -> Iterator[list[Any]]:
    rows = record.get(name)
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, list) and len(row) == size:
            yield row


def _add_spans(
    rank: int,
    record: dict[str, Any],
    lanes: dict[tuple[int, str, int], list[_Span]],
    batches: dict[int, Batches],
    start: float,
    end: float,
) -> None:
    """Add the spans of a line to their lanes; a span that continues in the next line stays one."""
    base = float(record["from"])

    def add(kind: str, number: int, state: Any, begin: Any, length: Any) -> None:
        if not isinstance(begin, (int, float)) or not isinstance(length, (int, float)):
            return
        begin, stop = max(start, base + begin / 1000), min(end, base + (begin + length) / 1000)
        if stop <= begin:
            return
        spans = lanes.setdefault((rank, kind, number), [])
        if spans and spans[-1][2] == state and begin - spans[-1][1] < 0.002:
            spans[-1] = (spans[-1][0], stop, as_text(state))
        else:
            spans.append((begin, stop, as_text(state)))

    for phase, begin, length in _checked_rows(record, "phases", 3):
        add("phase", 0, phase, begin, length)
    for actor, state, begin, length in _checked_rows(record, "actors", 4):
        if isinstance(actor, int):
            add("actor", actor, state, begin, length)
    for row in _checked_rows(record, "steps", 5):
        if not all(isinstance(number, (int, float)) for number in row):
            continue
        begin, length, rows, states, queue = row
        add("model", 0, "batch", begin, length)
        if start <= base + begin / 1000 <= end:
            one = batches.setdefault(
                rank, {"rank": rank, "busy": 0.0, "start": [], "seconds": [], "rows": [], "states": [], "queue": []}
            )
            one["busy"] += length / 1000
            for name, value in (("start", base + begin / 1000), ("seconds", length / 1000)):
                one[name].append(value)  # type: ignore[literal-required]
            for name, value in (("rows", rows), ("states", states), ("queue", queue)):
                one[name].append(round(value))  # type: ignore[literal-required]


def _lane_order(item: tuple[tuple[int, str, int], list[_Span]]) -> tuple[int, int, int]:
    (rank, kind, number), _ = item
    return rank, ("phase", "model", "actor").index(kind), number


def _lane(key: tuple[int, str, int], spans: list[_Span]) -> Lane:
    rank, kind, number = key
    rounded = [(round(begin, 4), round(end, 4), state) for begin, end, state in spans]
    name = f"actor {number}" if kind == "actor" else kind
    return {"rank": rank, "kind": kind, "name": name, "spans": rounded}  # type: ignore[typeddict-item]


def _state_seconds(lanes: Iterable[list[_Span]]) -> dict[str, float]:
    """The seconds in each state, of all lanes together."""
    times: dict[str, float] = {}
    for spans in lanes:
        for begin, end, state in spans:
            times[state] = times.get(state, 0.0) + end - begin
    return times


def _merge_short_spans(spans: list[_Span], width: float) -> list[_Span]:
    """The same time in cells of `width`, each in the state that took most of it; equal neighbours become one."""
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
        if sum(times.values()) < width / 2 and part < width / 2 and end - begin >= width * 0.99:
            continue
        if merged and merged[-1][2] == state and begin - merged[-1][1] < width * 0.01:
            merged[-1] = (merged[-1][0], end, state)
        else:
            merged.append((begin, end, state))
    return merged


def _thin_batches(one: Batches, max_spans: int) -> Batches:
    stride = max(1, -(-len(one["start"]) // max_spans))
    return {
        "rank": one["rank"],
        "busy": round(one["busy"], 4),
        "start": one["start"][::stride],
        "seconds": one["seconds"][::stride],
        "rows": one["rows"][::stride],
        "states": one["states"][::stride],
        "queue": one["queue"][::stride],
    }


def _shares(times: dict[str, float], actor_seconds: float) -> dict[str, float]:
    """The fraction of the actors' time in each state; what no span covers is idle."""
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
    for one in timeline["batches"]:
        for begin, rows, queue in zip(one["start"], one["rows"], one["queue"], strict=True):
            time = round(1e6 * (begin - timeline["start"]), 1)
            values = {"rows": rows, "queue": queue}
            events.append({"name": "batch", "ph": "C", "pid": one["rank"], "tid": 0, "ts": time, "args": values})
    for rank in sorted({lane["rank"] for lane in timeline["lanes"]}):
        events.append({"name": "process_name", "ph": "M", "pid": rank, "tid": 0, "args": {"name": f"rank {rank}"}})
    return {"traceEvents": events, "displayTimeUnit": "ms"}
