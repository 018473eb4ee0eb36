"""Token batches of documents packed into rows; they do not depend on timing or on the number of ranks.

    with TokenLoader(documents, tokenizer, row_length=2048, rows_per_step=256, rows_per_batch=16) as loader:
        batch = loader.next_batch()
        state = loader.state()                       # for a checkpoint; `restore(state)` continues there

Shapes: B rows of a micro-batch, T tokens of a row, R rows of a chunk, C = T + 1 tokens (inputs and the last target).

Packing. A document is BOS and its tokens. One that is longer than a row is cut into pieces of a row's length, each with
a BOS of its own. Pieces are put into rows longest first, and each row is completed by one or two pieces that fit
exactly. Where there are none, the last piece of the row is cut, so that the rest is as short as possible; the rest
becomes a piece of its own, unless it is so short that it is dropped. A gap that is as short stays free. A single free
position holds a BOS, the end of the last document.

Distribution. Documents are dealt to V streams (`documents.py`); row j of all the rows of all ranks is the next row of
stream j mod V, and rank r of W serves the rows with j mod W = r. W divides V, so that the rows of a step do not depend
on W. A stream packs its documents of each chunk by itself, so a position is (epoch, chunk, row) per stream, and
resuming from it tokenizes one chunk of each stream again.

Threads read, tokenize and pack a bounded number of chunks ahead (tokenizers release the interpreter's lock); their
errors are raised by `next_batch`. They end with the loader, with the main thread, and with the process.
"""

import math
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from nanoproof.common.distributed import gather_json
from nanoproof.common.errors import UserError
from nanoproof.common.process import Closing
from nanoproof.data.text.documents import CHUNK_BYTES, Documents, ReadingPlan
from nanoproof.model.tokenizer import Tokenizer, available_cores

PADDING = -1
SHORTEST = 2
"""Length of the shortest piece: BOS and one token."""
SLACK = 64
"""A rest or a gap may be dropped or left free if it is at most 1/64 of a row."""
MOST_STREAMS = 8
FEW_DOCUMENTS = 4
"""Least number of documents of a stream."""
WAKE_SECONDS = 0.2
"""Interval at which an idle thread checks whether the main thread is alive."""


# -- Packing of rows -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Span:
    """The tokens `start` to `stop` (exclusive) of a document; in a row they have a BOS in front."""

    document: int
    start: int
    stop: int

    @property
    def length(self) -> int:
        """Tokens that it takes in a row."""
        return 1 + self.stop - self.start


@dataclass(frozen=True)
class PackedRows:
    """Rows (R, C) of token ids, `PADDING` where there is none; the numbers of kept and dropped text tokens."""

    rows_RC: np.ndarray
    tokens: int
    dropped: int

    @property
    def padding(self) -> int:
        """Return the number of positions without a token."""
        return int((self.rows_RC == PADDING).sum())


class _PiecesByLength:
    """Pieces that are not yet in a row, by length."""

    def __init__(self, capacity: int) -> None:
        self._by_length: list[list[Span]] = [[] for _ in range(capacity + 1)]
        self.count = np.zeros(capacity + 1, dtype=np.int64)

    def add(self, span: Span) -> None:
        """Add a piece."""
        self._by_length[span.length].append(span)
        self.count[span.length] += 1

    def take(self, length: int) -> Span:
        """Remove and return a piece of this length."""
        self.count[length] -= 1
        return self._by_length[length].pop()

    def lengths(self) -> np.ndarray:
        """Return the lengths of the pieces, ascending."""
        return np.flatnonzero(self.count)


def plan_rows(sizes: Sequence[int], capacity: int) -> list[list[Span]]:
    """Assign the tokens of documents of these sizes to rows; only the last piece of a row is ever cut short."""
    waiting, slack = _PiecesByLength(capacity), max(1, capacity // SLACK)
    for document, size in enumerate(sizes):
        # One less than a row holds: each piece has a BOS of its own.
        for start in range(0, size, capacity - 1):
            waiting.add(Span(document, start, min(start + capacity - 1, size)))
    rows: list[list[Span]] = []
    while len(available := waiting.lengths()):
        row = [waiting.take(int(available[-1]))]
        gap = capacity - row[0].length
        while gap > 1 and len(available := waiting.lengths()):
            chosen, rest = _fill_gap(waiting.count, available, gap)
            # A gap that is shorter than all pieces stays, where cutting would waste more than leaving it.
            if rest > gap and gap <= slack and gap < available[0]:
                break
            if not chosen:  # the longest that leaves space for others
                chosen = (int(available[np.searchsorted(available, gap, side="right") - 1]),)
            for length in chosen:
                span = waiting.take(length)
                cut = min(span.stop, span.start + gap - 1)
                row.append(Span(span.document, span.start, cut))
                gap -= row[-1].length
                if span.stop - cut > slack:
                    waiting.add(Span(span.document, cut, span.stop))
        rows.append(row)
    return rows


def _fill_gap(count: np.ndarray, available: np.ndarray, gap: int) -> tuple[tuple[int, ...], int]:
    """Return the one or two lengths that fill the gap with the shortest rest, and that rest; () if none do."""
    for exact in (gap, gap - 1):  # a single free position takes a BOS
        if count[exact]:
            return (exact,), 0
    at = int(np.searchsorted(available, gap))
    best: tuple[int, ...] = ()
    rest = len(count)
    if at < len(available):
        rest, best = int(available[at]) - gap, (int(available[at]),)
    # For each shorter piece the shortest second one that fills the gap with it, all at once: this is called for each
    # row, and packing must keep up with a GPU.
    first = available[:at][::-1]
    first = first[gap - first >= SHORTEST]
    second_at = np.searchsorted(available, gap - first)
    first, second_at = first[second_at < len(available)], second_at[second_at < len(available)]
    second = available[second_at]
    # Two pieces of one length are needed where both are of it.
    rests = np.where((first != second) | (count[first] > 1), first + second - gap, len(count))
    if len(rests) and rests.min() < rest:
        index = int(rests.argmin())
        return (int(first[index]), int(second[index])), int(rests[index])
    return best, rest


def pack_rows(documents: Sequence[np.ndarray], capacity: int, bos: int, rng: np.random.Generator) -> PackedRows:
    """Pack token arrays without BOS into rows; `rng` decides the order of the rows, and of pieces of equal length."""
    documents = [documents[index] for index in rng.permutation(len(documents))]
    rows = plan_rows(list(map(len, documents)), capacity)
    packed = np.full((len(rows), capacity), PADDING, dtype=np.int32)
    kept = 0
    for target, row in zip(packed, rows):
        position = 0
        for span in row:
            target[position] = bos
            target[position + 1 : position + span.length] = documents[span.document][span.start : span.stop]
            position += span.length
            kept += span.length - 1
        if position == capacity - 1:
            target[position] = bos
    return PackedRows(packed[rng.permutation(len(rows))], kept, sum(map(len, documents)) - kept)


# -- Loading ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TokenBatch:
    """Rows of tokens, int64, and for each token the one that follows it; -1 where there is no target."""

    tokens_BT: torch.Tensor
    targets_BT: torch.Tensor


@dataclass(frozen=True)
class _Chunk:
    """A stream's packed rows of one chunk, with counts of its documents."""

    epoch: int
    number: int
    packed: PackedRows
    documents: int
    empty: int


@dataclass
class _Stream:
    """One of the streams that this rank serves. `epoch`, `chunk` and `row` are the position of its next row."""

    index: int
    epoch: int = 0
    chunk: int = 0
    row: int = 0
    source: Iterator[tuple[int, int, list[str | None]]] | None = None
    being_read: bool = False
    ahead: deque["Future[_Chunk]"] = field(default_factory=deque)
    current: _Chunk | None = None


def choose_streams(rows_per_step: int, world_size: int, documents: int) -> int:
    """Choose the number of streams: up to 8, so that a run can be resumed with another number of ranks.

    It divides the rows per step, is a multiple of the ranks and leaves each stream `FEW_DOCUMENTS`, if that is
    possible; else it is the number of ranks.
    """
    most = math.gcd(rows_per_step, MOST_STREAMS)
    few = documents // FEW_DOCUMENTS
    for number in range(min(most, few), 0, -1):
        if most % number == 0 and number % world_size == 0:
            return number
    return world_size


class TokenLoader(Closing):
    """Endless batches, epoch after epoch. Options that do not fit together raise UserError at construction.

    `rows_per_step` are the rows of one optimizer step over all ranks, `rows_per_batch` those of one `next_batch`.
    """

    def __init__(
        self,
        documents: Documents,
        tokenizer: Tokenizer,
        *,
        row_length: int,
        rows_per_step: int,
        rows_per_batch: int,
        seed: int = 0,
        rank: int = 0,
        world_size: int = 1,
        pin_memory: bool = False,
        workers: int | None = None,
        chunk_bytes: int = CHUNK_BYTES,
    ) -> None:
        if rows_per_step % world_size:
            raise UserError(f"the rows per step ({rows_per_step}) must be a multiple of the ranks ({world_size})")
        self.documents, self.tokenizer = documents, tokenizer
        self.row_length, self.rows_per_step, self.rows_per_batch = row_length, rows_per_step, rows_per_batch
        self.seed, self.rank, self.world_size = seed, rank, world_size
        self.workers = workers or max(1, min(4, available_cores() // world_size))
        self._pin_memory, self._chunk_bytes = pin_memory, chunk_bytes
        self._condition = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._closed = True
        self._counts = dict.fromkeys(("documents", "empty_documents", "tokens", "dropped_tokens", "padding"), 0)
        self._seek(choose_streams(rows_per_step, world_size, documents.count), 0, {})

    def _seek(self, num_streams: int, rows: int, positions: dict[str, list[int]]) -> None:
        """Move to a position without reading anything. `rows` are those of all ranks before it."""
        if self.documents.count < num_streams:
            raise UserError(
                f"{self.documents.name} holds {self.documents.count} documents, "
                f"{num_streams} are needed for {self.world_size} ranks"
            )
        self._plan = ReadingPlan.of(self.documents, num_streams, self.seed, self._chunk_bytes)
        self._rows = rows // self.world_size
        self._streams: dict[int, _Stream] = {}
        for index in range(self.rank, num_streams, self.world_size):
            self._streams[index] = _Stream(index, *positions.get(str(index), (0, 0, 0)))
        # Enough chunks for all threads to be at work, and one that is ready.
        self._ahead = 1 + self.workers // len(self._streams)

    # -- Batches -----------------------------------------------------------------------------------------------------

    def next_batch(self) -> TokenBatch:
        """Return this rank's next rows. Raises UserError if the data turn out to be damaged."""
        self._start()
        rows = np.stack([self._next_row() for _ in range(self.rows_per_batch)]).astype(np.int64)
        # A model has no embedding of -1; as a target it says that nothing is to be predicted.
        inputs = np.where(rows[:, :-1] == PADDING, self.tokenizer.pad, rows[:, :-1])
        tokens, targets = torch.from_numpy(inputs), torch.from_numpy(rows[:, 1:].copy())
        if self._pin_memory:
            tokens, targets = tokens.pin_memory(), targets.pin_memory()
        return TokenBatch(tokens, targets)

    def _next_row(self) -> np.ndarray:
        number = self.rank + self._rows * self.world_size
        stream = self._streams[number % self._plan.num_streams]
        chunk = self._current(stream)
        row = chunk.packed.rows_RC[stream.row]
        stream.row += 1
        self._rows += 1
        if stream.row == len(chunk.packed.rows_RC):
            self._finish_chunk(stream)
        return row

    def _finish_chunk(self, stream: _Stream) -> None:
        """Move a stream to its next chunk."""
        stream.current, stream.row, stream.chunk = None, 0, stream.chunk + 1
        if stream.chunk == self._plan.num_chunks:
            stream.epoch, stream.chunk = stream.epoch + 1, 0

    def _current(self, stream: _Stream) -> _Chunk:
        """Return the chunk in use; chunks without a token are skipped."""
        empty = 0
        while stream.current is None:
            chunk = self._wait(stream)
            assert (chunk.epoch, chunk.number) == (stream.epoch, stream.chunk)
            self._counts["documents"] += chunk.documents
            self._counts["empty_documents"] += chunk.empty
            self._counts["tokens"] += chunk.packed.tokens
            self._counts["dropped_tokens"] += chunk.packed.dropped
            self._counts["padding"] += chunk.packed.padding
            if len(chunk.packed.rows_RC):
                stream.current = chunk
                break
            self._finish_chunk(stream)
            empty += 1
            if empty > self._plan.num_chunks:
                raise UserError(f"{self.documents.name}: too few of its {self.documents.count} documents have text")
        return stream.current

    def _wait(self, stream: _Stream) -> _Chunk:
        with self._condition:
            while not stream.ahead:
                self._condition.wait()
        chunk = stream.ahead[0].result()  # a failed one stays: the next call raises again
        with self._condition:
            stream.ahead.popleft()
            self._condition.notify_all()
        return chunk

    # -- Threads -----------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        if self._threads:
            return
        self._closed = False
        for stream in self._streams.values():
            stream.source = self._plan.chunks_from(stream.index, stream.epoch, stream.chunk)
        for number in range(self.workers):
            thread = threading.Thread(target=self._work, name=f"token-loader-{number}")
            self._threads.append(thread)
            thread.start()

    def _work(self) -> None:
        """Run a thread: make the next chunk of the stream with the fewest ahead. Errors go into its future."""
        while (taken := self._take()) is not None:
            stream, future = taken
            assert stream.source is not None
            # Reading is done by one thread for a stream at a time, in order; tokenizing below by all at once.
            try:
                read = next(stream.source)
            except BaseException as error:
                future.set_exception(error)
            with self._condition:
                stream.being_read = False
                self._condition.notify_all()
            if not future.done():
                try:
                    future.set_result(self._make(stream.index, *read))
                except BaseException as error:
                    future.set_exception(error)

    def _take(self) -> tuple[_Stream, "Future[_Chunk]"] | None:
        """Return the stream to read from next, with the future of its chunk; None when the thread shall end."""
        with self._condition:
            while not self._closed and threading.main_thread().is_alive():
                free = [s for s in self._streams.values() if not s.being_read and self._may_read_ahead(s)]
                if free:
                    stream = min(free, key=lambda s: len(s.ahead))
                    future: Future[_Chunk] = Future()
                    stream.ahead.append(future)
                    stream.being_read = True
                    self._condition.notify_all()
                    return stream, future
                self._condition.wait(WAKE_SECONDS)
        return None

    def _may_read_ahead(self, stream: _Stream) -> bool:
        """Return whether to read on: not beyond a failure, and only so far ahead that all threads have work."""
        failed = stream.ahead and stream.ahead[-1].done() and stream.ahead[-1].exception() is not None
        return len(stream.ahead) < self._ahead and not failed

    def _make(self, stream: int, epoch: int, number: int, texts: Sequence[str | None]) -> _Chunk:
        wanted = [text for text in texts if text and not text.isspace()]
        documents = self.tokenizer.encode_arrays(wanted, threads=1)
        # A function of the place alone, so that a chunk is the same after resuming, whichever thread makes it.
        rng = np.random.default_rng([self.seed, epoch, number, stream])
        packed = pack_rows(documents, self.row_length + 1, self.tokenizer.bos, rng)
        return _Chunk(epoch, number, packed, len(wanted), len(texts) - len(wanted))

    # -- State -------------------------------------------------------------------------------------------------------

    def local_state(self) -> dict[str, Any]:
        """Return this rank's part of `state`."""
        return {
            "documents": self.documents.fingerprint(),
            "tokenizer": self.tokenizer.fingerprint,
            "seed": self.seed,
            "row_length": self.row_length,
            "num_streams": self._plan.num_streams,
            "chunk_bytes": self._chunk_bytes,
            "rows": self._rows * self.world_size,
            "streams": {str(s.index): [s.epoch, s.chunk, s.row] for s in self._streams.values()},
        }

    def state(self) -> dict[str, Any]:
        """Return the position of all ranks after the last batch; they call it together, after equally many batches."""
        return merge_states(gather_json(self.local_state()))

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state, of any number of ranks. Raises UserError if it is of other data or does not divide."""
        try:
            saved = {name: state[name] for name in ("documents", "tokenizer", "seed", "row_length", "chunk_bytes")}
            num_streams, rows = int(state["num_streams"]), int(state["rows"])
            positions = {str(index): state["streams"][str(index)] for index in range(num_streams)}
        except (KeyError, TypeError, ValueError) as error:
            raise UserError(f"the saved position in the data is damaged: {error!r}") from error
        here = self.local_state()
        # With any of these another way the rows would be others, and some be read twice or never.
        for name, value in saved.items():
            if value != here[name]:
                raise UserError(
                    f"{self.documents.name}: the saved position is of other {name.replace('_', ' ')} "
                    f"({value}, here {here[name]})"
                )
        if num_streams % self.world_size or self.rows_per_step % num_streams or rows % self.world_size:
            raise UserError(
                f"the run read its data in {num_streams} streams; it can resume with a number of ranks that divides "
                f"{num_streams} (here {self.world_size}) and rows per step that are a multiple ({self.rows_per_step})"
            )
        self.close()
        self._seek(num_streams, rows, positions)

    def stats(self) -> dict[str, float]:
        """Count documents, tokens, padding and dropped tokens of this rank's chunks since the start of the process."""
        counts = self._counts
        seen = max(1, counts["tokens"] + counts["dropped_tokens"])
        return {
            **counts,
            "dropped_share": counts["dropped_tokens"] / seen,
            "padding_share": counts["padding"] / max(1, counts["tokens"] + counts["padding"]),
            "epoch": min(stream.epoch + stream.chunk / self._plan.num_chunks for stream in self._streams.values()),
        }

    def decisions(self) -> dict[str, str]:
        """Describe what was derived from options and data, for the log."""
        streams = f"{self._plan.num_streams} streams of {self._plan.num_chunks} chunks per epoch"
        return {
            "data": self.documents.describe(),
            "loader": f"{streams}, {self.workers} threads per rank, {self._ahead} chunks ahead",
        }

    def close(self) -> None:
        """End the threads and close the files; a later `next_batch` starts them again at the same position."""
        with self._condition:
            self._closed = True
            self._condition.notify_all()
        for thread in self._threads:
            thread.join()
        self._threads = []
        for stream in self._streams.values():
            stream.source, stream.being_read, stream.current = None, False, None
            stream.ahead.clear()


def merge_states(states: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Merge the local states of all ranks into one."""
    assert len({state["rows"] for state in states}) == 1, "the ranks are not at the same row"
    streams: dict[str, list[int]] = {}
    for state in states:
        streams |= state["streams"]
    return {**states[0], "streams": dict(sorted(streams.items(), key=lambda item: int(item[0])))}
