"""Batches of tokens from documents, packed into rows, the same whatever the timing and the number of ranks.

A document is BOS and its tokens. One that is longer than a row is cut into pieces of a row's size, each with a BOS of
its own. Pieces are put into rows longest first, each row being closed by a piece, or two, that fit exactly. Where there
are none, the last piece of the row is cut, so that of all choices the least is left over; what is left over waits for a
row as a piece of its own, unless it is so short that it is dropped. A gap that is as short stays free. A single place
that is left holds a BOS, the end of the last document.

Shapes: B rows of a micro-batch, T tokens of a row.

Documents are dealt to V streams (chunks.py); row j of all the rows of all ranks is the next row of stream j mod V, and
rank r of W serves the rows with j mod W = r. W divides V, so that the rows of a step do not depend on W. A stream packs
its share of each chunk by itself (row_packing.py), so a position is (epoch, chunk, row) per stream, and going on from
it tokenizes one chunk of each stream again.

Threads do the work: tokenizers release the interpreter's lock. They read, tokenize and pack a bounded number of chunks
ahead of use; what goes wrong in them is raised by `next_batch`. They end with the loader, with the main thread, and
with the process.
"""

import math
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import numpy as np
import torch

from nanoproof.common.distributed import gather_json
from nanoproof.common.errors import UserError
from nanoproof.data.text.documents import CHUNK_BYTES, Documents, Plan
from nanoproof.model.tokenizer import Tokenizer, available_cores

PADDING = -1
SHORTEST = 2
"""BOS and one token."""
SLACK = 64
"""What is shorter than this part of a row may be dropped, or left free."""


@dataclass(frozen=True, slots=True)
class Span:
    """The tokens `start` to `stop` (exclusive) of a document; in a row they have a BOS in front."""

    document: int
    start: int
    stop: int

    @property
    def length(self) -> int:
        """Places in a row."""
        return 1 + self.stop - self.start


@dataclass(frozen=True)
class PackedRows:
    """Rows (R, C) of token numbers, `PADDING` where there is none; tokens of text that are in them, and lost ones."""

    rows_RC: np.ndarray
    tokens: int
    dropped: int

    @property
    def padding(self) -> int:
        """Places without a token."""
        return int((self.rows_RC == PADDING).sum())


class _Pool:
    """Pieces that are not yet in a row, by length."""

    def __init__(self, capacity: int) -> None:
        self._by_length: list[list[Span]] = [[] for _ in range(capacity + 1)]
        self.count = np.zeros(capacity + 1, dtype=np.int64)

    def add(self, span: Span) -> None:
        """Let a piece wait."""
        self._by_length[span.length].append(span)
        self.count[span.length] += 1

    def take(self, length: int) -> Span:
        """A piece of this length."""
        self.count[length] -= 1
        return self._by_length[length].pop()

    def lengths(self) -> np.ndarray:
        """The lengths there are, ascending."""
        return np.flatnonzero(self.count)


def plan_rows(sizes: Sequence[int], capacity: int) -> list[list[Span]]:
    """Which tokens of documents of these sizes share a row; only the last piece of a row is ever cut short."""
    pool, slack = _Pool(capacity), max(1, capacity // SLACK)
    for document, size in enumerate(sizes):
        for start in range(0, size, capacity - 1):
            pool.add(Span(document, start, min(start + capacity - 1, size)))
    rows: list[list[Span]] = []
    while len(available := pool.lengths()):
        row = [pool.take(int(available[-1]))]
        gap = capacity - row[0].length
        while gap > 1 and len(available := pool.lengths()):
            chosen, rest = _close(pool.count, available, gap)
            if rest > gap and gap <= slack and gap < available[0]:
                break
            if not chosen:  # the longest that leaves room for others
                chosen = (int(available[np.searchsorted(available, gap, side="right") - 1]),)
            for length in chosen:
                span = pool.take(length)
                cut = min(span.stop, span.start + gap - 1)
                row.append(Span(span.document, span.start, cut))
                gap -= row[-1].length
                if span.stop - cut > slack:
                    pool.add(Span(span.document, cut, span.stop))
        rows.append(row)
    return rows


def _close(count: np.ndarray, available: np.ndarray, gap: int) -> tuple[tuple[int, ...], int]:
    """The one or two lengths that fill the gap with the least left over of the last, and how much; () if none can."""
    for exact in (gap, gap - 1):
        if count[exact]:
            return (exact,), 0
    at = int(np.searchsorted(available, gap))
    best: tuple[int, ...] = ()
    rest = len(count)
    if at < len(available):
        rest, best = int(available[at]) - gap, (int(available[at]),)
    first = available[:at][::-1]
    first = first[gap - first >= SHORTEST]
    second_at = np.searchsorted(available, gap - first)
    first, second_at = first[second_at < len(available)], second_at[second_at < len(available)]
    second = available[second_at]
    rests = np.where((first != second) | (count[first] > 1), first + second - gap, len(count))
    if len(rests) and rests.min() < rest:
        index = int(rests.argmin())
        return (int(first[index]), int(second[index])), int(rests[index])
    return best, rest


def pack_rows(documents: Sequence[np.ndarray], capacity: int, bos: int, rng: np.random.Generator) -> PackedRows:
    """Documents as token arrays without BOS, packed into rows; `rng` decides the order of rows, and of equal pieces."""
    documents = [documents[index] for index in rng.permutation(len(documents))]
    rows = plan_rows([len(document) for document in documents], capacity)
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


MOST_STREAMS = 8
FEW_DOCUMENTS = 4
"""Documents that there are for each stream."""
WAKE_SECONDS = 0.2
"""How often an idle thread looks whether the main thread is still there."""


@dataclass(frozen=True)
class TokenBatch:
    """Rows of tokens, and for each token the one that follows; -1 where nothing is to be predicted."""

    tokens_BT: torch.Tensor
    targets_BT: torch.Tensor


@dataclass(frozen=True)
class _Chunk:
    """A stream's rows of one chunk."""

    epoch: int
    number: int
    packed: PackedRows
    documents: int
    empty: int


@dataclass
class _Stream:
    """One of the streams this rank serves. `epoch`, `chunk` and `row` say what is handed out next."""

    index: int
    epoch: int = 0
    chunk: int = 0
    row: int = 0
    source: Iterator[tuple[int, int, list[str | None]]] | None = None
    being_read: bool = False
    ahead: deque["Future[_Chunk]"] = field(default_factory=deque)
    current: _Chunk | None = None


def choose_streams(rows_per_step: int, world_size: int, documents: int) -> int:
    """The number of streams: 8 if that goes, so that a run may go on with another number of ranks; else fewer.

    It divides the rows per step, is a multiple of the ranks, and leaves each stream some documents, if that can be.
    """
    most = math.gcd(rows_per_step, MOST_STREAMS)
    few = documents // FEW_DOCUMENTS
    fitting = [n for n in range(1, most + 1) if most % n == 0 and n % world_size == 0 and n <= few]
    return max(fitting, default=world_size)


class TokenLoader:
    """Endless batches, epoch after epoch. All that can be wrong with options is raised here, as UserError.

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
        self._begin(choose_streams(rows_per_step, world_size, documents.count), 0, {})

    def _begin(self, num_streams: int, rows: int, positions: dict[str, list[int]]) -> None:
        """Stand at a position; nothing is read before it is asked for. `rows` are those of all ranks so far."""
        if self.documents.count < num_streams:
            raise UserError(
                f"{self.documents.name} holds {self.documents.count} documents, "
                f"{num_streams} are needed for {self.world_size} ranks"
            )
        self._plan = Plan.of(self.documents, num_streams, self.seed, self._chunk_bytes)
        self._rows = rows // self.world_size
        self._streams = {
            index: _Stream(index, *positions.get(str(index), (0, 0, 0)))
            for index in range(self.rank, num_streams, self.world_size)
        }
        self._ahead = 1 + self.workers // len(self._streams)

    # -----------------------------------------------------------------------------------------------------------------
    # Handing out

    def next_batch(self) -> TokenBatch:
        """This rank's next rows. Raises UserError if the data turn out to be damaged."""
        self._start()
        rows = np.stack([self._next_row() for _ in range(self.rows_per_batch)]).astype(np.int64)
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
            self._leave(stream)
        return row

    def _leave(self, stream: _Stream) -> None:
        """Stand before the chunk that follows."""
        stream.current, stream.row, stream.chunk = None, 0, stream.chunk + 1
        if stream.chunk == self._plan.num_chunks:
            stream.epoch, stream.chunk = stream.epoch + 1, 0

    def _current(self, stream: _Stream) -> _Chunk:
        """The chunk in use; chunks without a token are passed over."""
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
            self._leave(stream)
            empty += 1
            if empty > self._plan.num_chunks:
                raise UserError(f"{self.documents.name}: too few of its {self.documents.count} documents have text")
        return stream.current

    def _wait(self, stream: _Stream) -> _Chunk:
        with self._condition:
            while not stream.ahead:
                self._condition.wait()
        chunk = stream.ahead[0].result()  # a failed one stays: whoever asks again is told again
        with self._condition:
            stream.ahead.popleft()
            self._condition.notify_all()
        return chunk

    # -----------------------------------------------------------------------------------------------------------------
    # Working ahead

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
        """A thread: takes the stream with the least ahead and makes its next chunk. Errors go to who waits for it."""
        while (taken := self._take()) is not None:
            stream, future = taken
            assert stream.source is not None
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
        """The stream to read from next, with the place for its chunk; None when it is time to end."""
        with self._condition:
            while not self._closed and threading.main_thread().is_alive():
                free = [s for s in self._streams.values() if not s.being_read and self._has_room(s)]
                if free:
                    stream = min(free, key=lambda s: len(s.ahead))
                    future: Future[_Chunk] = Future()
                    stream.ahead.append(future)
                    stream.being_read = True
                    self._condition.notify_all()
                    return stream, future
                self._condition.wait(WAKE_SECONDS)
        return None

    def _has_room(self, stream: _Stream) -> bool:
        """Not beyond a failure, and only so far ahead that all threads have work."""
        failed = stream.ahead and stream.ahead[-1].done() and stream.ahead[-1].exception() is not None
        return len(stream.ahead) < self._ahead and not failed

    def _make(self, stream: int, epoch: int, number: int, texts: Sequence[str | None]) -> _Chunk:
        wanted = [text for text in texts if text and not text.isspace()]
        documents = self.tokenizer.encode_arrays(wanted, threads=1)
        rng = np.random.default_rng([self.seed, epoch, number, stream])
        packed = pack_rows(documents, self.row_length + 1, self.tokenizer.bos, rng)
        return _Chunk(epoch, number, packed, len(wanted), len(texts) - len(wanted))

    # -----------------------------------------------------------------------------------------------------------------
    # Where it is

    def local_state(self) -> dict[str, Any]:
        """This rank's part of `state`."""
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
        """The position after the last batch, of all ranks; they call it together, after equally many batches."""
        return merge_states(gather_json(self.local_state()))

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state, of any number of ranks. Raises UserError if it is of other data or does not divide."""
        try:
            known = {name: state[name] for name in ("documents", "tokenizer", "seed", "row_length", "chunk_bytes")}
            num_streams, rows = int(state["num_streams"]), int(state["rows"])
            positions = {str(index): state["streams"][str(index)] for index in range(num_streams)}
            mine = {name: self.local_state()[name] for name in known}
        except (KeyError, TypeError, ValueError) as error:
            raise UserError(f"the saved position in the data is damaged: {error!r}") from error
        for name, value in known.items():
            if value != mine[name]:
                raise UserError(
                    f"{self.documents.name}: the saved position is of other {name.replace('_', ' ')} "
                    f"({value}, here {mine[name]})"
                )
        if num_streams % self.world_size or self.rows_per_step % num_streams or rows % self.world_size:
            raise UserError(
                f"the run read its data in {num_streams} streams; it can go on with a number of ranks that divides "
                f"{num_streams} (here {self.world_size}) and rows per step that are a multiple ({self.rows_per_step})"
            )
        self.close()
        self._begin(num_streams, rows, positions)

    def stats(self) -> dict[str, float]:
        """Since the start of this process, on this rank, counting whole chunks: documents, tokens, what was lost."""
        counts = self._counts
        seen = max(1, counts["tokens"] + counts["dropped_tokens"])
        return {
            **counts,
            "dropped_share": counts["dropped_tokens"] / seen,
            "padding_share": counts["padding"] / max(1, counts["tokens"] + counts["padding"]),
            "epoch": min(stream.epoch + stream.chunk / self._plan.num_chunks for stream in self._streams.values()),
        }

    def decisions(self) -> dict[str, str]:
        """What was decided from options and data, for the log."""
        streams = f"{self._plan.num_streams} streams of {self._plan.num_chunks} chunks per epoch"
        return {
            "data": self.documents.describe(),
            "loader": f"{streams}, {self.workers} threads per rank, {self._ahead} chunks ahead",
        }

    def close(self) -> None:
        """End the threads and close the files; a later `next_batch` starts them again where it was."""
        with self._condition:
            self._closed = True
            self._condition.notify_all()
        for thread in self._threads:
            thread.join()
        self._threads = []
        for stream in self._streams.values():
            stream.source, stream.being_read, stream.current = None, False, None
            stream.ahead.clear()

    def __enter__(self) -> "TokenLoader":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def merge_states(states: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One state from those of all ranks."""
    assert len({state["rows"] for state in states}) == 1, "the ranks are not at the same row"
    streams = {index: position for state in states for index, position in state["streams"].items()}
    return {**states[0], "streams": dict(sorted(streams.items(), key=lambda item: int(item[0])))}
