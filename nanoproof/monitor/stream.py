"""Live updates as server-sent events: each message is made once, for all viewers. Ids are positions in the run's files.

A browser that reconnects with its last id gets what was written meanwhile, even from a restarted monitor.
"""

import json
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from nanoproof.monitor.attempts import OUTCOMES
from nanoproof.monitor.reader import RunReader
from nanoproof.monitor.record_schema import AttemptRow
from nanoproof.monitor.schema import StreamKind
from nanoproof.monitor.series import parse_event
from nanoproof.monitor.tail import Line, Tail, as_float, encode_positions, parse_object, records_in
from nanoproof.prover.attempt_log import IndexEntry

TICK_SECONDS = 1.0
KEEP_ALIVE_SECONDS = 10.0
MAX_VIEWERS = 200
MAX_MISSED = 256 << 10
"""Bytes of each file that a client that reconnects is sent; if it missed more, it gets a reset."""
MAX_ITEMS = 200
MAX_STREAM_ACTORS = 512
_MAX_RECENT = 240
_FILE = re.compile(r"(metrics|events|attempts|log)(?:_r(\d{1,6}))?(\.jsonl|\.index\.jsonl|\.txt)")
_ENDINGS = {"metrics": ".jsonl", "events": ".jsonl", "attempts": ".index.jsonl", "log": ".txt"}
# Files go by a letter and a rank, as in `m0`, `a1`: an id names all of them, and is part of each message.
_KINDS: dict[str, StreamKind] = {"m": "metrics", "e": "event", "a": "attempt", "l": "log"}
_POSITION = re.compile(r"([meal])(\d{1,6}):(\d{1,15})")


class FileWatch:
    """The files that live updates come from, each read from a position on."""

    def __init__(self, run_path: Path, positions: dict[str, int] | None = None) -> None:
        """`positions` are positions by the codes of files (`m0`, `a1`); without any, begin at the ends."""
        self._path = run_path
        self._tails: dict[str, Tail] = {}
        self._at_ends = positions is None
        self._positions = positions or {}
        self._find()
        self._at_ends = False

    def _find(self) -> None:
        if not self._path.is_dir():
            return
        for file in self._path.iterdir():
            match = _FILE.fullmatch(file.name)
            if match is None or match[3] != _ENDINGS[match[1]]:
                continue
            code = f"{match[1][0]}{int(match[2] or 0)}"
            if code not in self._tails:
                # A file that appears later is new from its beginning on.
                self._tails[code] = Tail(file, self._positions.get(code, 0))
                if self._at_ends:
                    self._tails[code].skip_to_end()

    @property
    def positions(self) -> dict[str, int]:
        """How far each file has been read."""
        return {code: tail.position for code, tail in self._tails.items()}

    @property
    def restarts(self) -> int:
        """How often a file became shorter or went."""
        return sum(tail.restarts for tail in self._tails.values())

    def unread_bytes(self) -> int:
        """Return the largest number of unread bytes of any file; a position past a file's end counts as too many."""
        sizes = []
        for tail in self._tails.values():
            position = tail.position
            tail.update_size()
            sizes.append(MAX_MISSED + 1 if tail.position < position else tail.behind)
        return max(sizes, default=0)

    def read(self, until: dict[str, int] | None = None) -> Iterator[tuple[StreamKind, list[Any], dict[str, int]]]:
        """Yield what is new as kind, items and the positions after them; nothing beyond `until`."""
        self._find()
        for code, tail in sorted(self._tails.items()):
            limit = MAX_MISSED
            if until is not None:
                limit = max(0, until.get(code, 0) - tail.position)
            if limit == 0:
                continue
            items = list(_items(code, tail.read(limit)))
            for start in range(0, len(items), MAX_ITEMS):
                yield _KINDS[code[0]], items[start : start + MAX_ITEMS], self.positions


def _items(code: str, lines: list[Line]) -> Iterator[Any]:
    """Yield what lines of a file are to a page; those that mean nothing to it are left out."""
    kind, rank = code[0], int(code[1:])
    if kind == "l":
        block = b"".join(line.text + b"\n" for line in lines)
        for record in records_in(block, 0, rank):
            yield record.line
        return
    for line in lines:
        data = parse_object(line.text) or {}
        if kind == "m":
            if isinstance(data.get("step"), int):
                yield {name: value for name, value in data.items() if value is None or as_float(value) is not None}
            continue
        item = parse_event(data, rank) if kind == "e" else _attempt_row(data)
        if item is not None:
            yield item


def _attempt_row(record: dict[str, Any]) -> AttemptRow | None:
    """Read a line of the index as a row; the log itself, which has states and proofs, is not read for it."""
    try:
        entry = IndexEntry.from_json(record)
    except (KeyError, TypeError, ValueError):
        return None
    if entry.outcome not in OUTCOMES:
        return None
    row: dict[str, Any] = {}
    for name in AttemptRow.__annotations__:
        row[name] = getattr(entry, "sequence" if name == "seq" else name)
    return row  # type: ignore[return-value]


def read_event_id(text: str) -> dict[str, int] | None:
    """Parse the positions in an id; None if it is not one of ours."""
    if not text or len(text) > 65536:  # whoever sends it: it is a header of the request
        return None
    positions: dict[str, int] = {}
    for part in text.split(",", 8192):
        match = _POSITION.fullmatch(part)
        if match is None:
            return None
        positions[match[1] + str(int(match[2]))] = int(match[3])
    return positions


def message(kind: StreamKind, data: Any, positions: dict[str, int] | None = None) -> bytes:
    """Encode one server-sent event."""
    head = f"event: {kind}\n"
    if positions:
        head += f"id: {encode_positions(positions)}\n"
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))  # without line ends, which would end the data
    return f"{head}data: {text}\n\n".encode("utf-8", "replace")


class UpdateStream:
    """Makes the messages while there are viewers, and hands the same ones to all of them."""

    def __init__(self, reader: RunReader) -> None:
        self._reader = reader
        self._changed = threading.Condition()
        self._recent: deque[tuple[int, bytes]] = deque(maxlen=_MAX_RECENT)
        self._number = 0
        self.viewers = 0
        """Number of connected viewers."""
        self._watch: FileWatch | None = None
        self._positions: dict[str, int] = {}
        """Positions after the last message that was handed out."""
        self._last_status = b""
        self._closed = False

    def close(self) -> None:
        """End all streams."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def subscribe(self, last_id: str, gone: Callable[[], bool] = lambda: False) -> Iterator[bytes] | None:
        """Return the messages from now on, after those since `last_id`; None if there are too many viewers."""
        with self._changed:
            if self.viewers >= MAX_VIEWERS or self._closed:
                return None
            return self._messages(last_id, gone)

    def _add_viewer(self) -> tuple[dict[str, int], int, bytes]:
        """Count one more viewer: positions, number of the last message, and the newest status."""
        with self._changed:
            if self._watch is None:
                self._watch = FileWatch(self._reader.path)
                self._positions = self._watch.positions
                threading.Thread(target=self._run, name="monitor-stream", daemon=True).start()
            self.viewers += 1
            return self._positions, self._number, self._last_status

    def _messages(self, last_id: str, gone: Callable[[], bool]) -> Iterator[bytes]:
        positions, number, status = self._add_viewer()  # only now: who never asks for the first message is no viewer
        try:
            hello = {"server": self._reader.server, "run": self._reader.path.name}
            yield message("hello", hello, None if last_id else positions)
            if last_id:
                yield from self._catch_up(last_id, positions)
            if status:
                yield status
            while not gone():
                with self._changed:
                    # A line of comment now and then: proxies close what is silent, and who is gone is noticed by then.
                    if self._number == number and not self._closed:
                        self._changed.wait(KEEP_ALIVE_SECONDS)
                    new = [text for count, text in self._recent if count > number]
                    late = len(new) < self._number - number
                    number, closed, now = self._number, self._closed, self._positions
                if closed:
                    return
                # More was sent meanwhile than is kept for slow readers: with a gap in it the page would be wrong.
                if late:
                    yield message("reset", {"reason": "this connection is too slow"}, now)
                else:
                    yield b"".join(new) or b": awake\n\n"
        finally:
            with self._changed:
                self.viewers -= 1
                self._changed.notify_all()

    def _catch_up(self, last_id: str, positions: dict[str, int]) -> Iterator[bytes]:
        then = read_event_id(last_id)
        if then is not None:
            watch = FileWatch(self._reader.path, then)
            if watch.unread_bytes() <= MAX_MISSED:
                # Up to where this stream begins, so that no message comes twice.
                for kind, items, at in watch.read(positions):
                    yield message(kind, {"items": items}, at)
                return
        yield message("reset", {"reason": "too much happened meanwhile"}, positions)

    def _run(self) -> None:
        """Follow the files until nobody listens any more."""
        while True:
            started = time.monotonic()
            texts = self._tick()
            with self._changed:
                for text in texts:
                    self._number += 1
                    self._recent.append((self._number, text))
                self._positions = {} if self._watch is None else self._watch.positions
                self._changed.notify_all()
                if self.viewers == 0 or self._closed:
                    self._watch = None
                    self._last_status = b""
                    return
                # Messages wake this thread too: it goes on waiting for the rest of the second.
                deadline = started + TICK_SECONDS
                while (left := deadline - time.monotonic()) > 0 and not self._closed and self.viewers:
                    self._changed.wait(left)

    def _tick(self) -> list[bytes]:
        assert self._watch is not None
        reader = self._reader
        reader.refresh()
        restarts = self._watch.restarts
        texts = [message(kind, {"items": items}, positions) for kind, items, positions in self._watch.read()]
        # The run was made anew: what was just read may be half of the old and half of the new one.
        if self._watch.restarts > restarts:
            texts = [message("reset", {"reason": "files of the run were replaced"}, self._watch.positions)]
        with reader.lock:
            data = {"overview": reader.live_overview(), "actors": reader.actors(MAX_STREAM_ACTORS)}
        status = message("status", data)
        if _without_time(status) != _without_time(self._last_status):
            texts.append(status)
            self._last_status = status
        return texts


def _without_time(text: bytes) -> bytes:
    """Leave out the time: a status is not sent for that alone, so that a run that is over costs nothing."""
    return re.sub(rb'"(?:time|age)":[\d.]+', b"", text)
