"""Measure tokens per second from parquet shards to batches, against encoding document by document and concatenating.

    python -m benchmarks.loader [--megabytes 20] [--batches 500] [--steady-batches 10000] [--json PATH]

The text is made up (math_text.py) and the vocabulary is GPT-2's with our symbols. The plain way encodes each document
as it comes, with tiktoken as the loader does, appends it to one list and cuts rows from that; `plain_tokenizers` is the
same with the `tokenizers` library. It is checked that an epoch of the loader holds the same tokens as often, but for
those that it reports as dropped. Medians of alternating runs count, each from a fresh start; the loader goes through
several epochs, so that what it has made ahead when it is stopped does not count much. Tokens per second of processor
time are given too, for machines that others use. Afterwards `--steady-batches` of `--steady-rows` are drawn and the
memory of the process is watched.
"""

import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import tokenizers

from benchmarks.math_text import write_corpus
from nanoproof.common.config import Parser, add_flags, from_args, opt, to_dict, validate
from nanoproof.common.errors import run_main
from nanoproof.common.files import atomic_write_json
from nanoproof.data.text.documents import Documents, all_documents
from nanoproof.data.text.text_files import ParquetFile
from nanoproof.data.text.token_loader import PADDING, TokenLoader
from nanoproof.model.tokenizer import TOKENIZER_FILE, Tokenizer, available_cores, gpt2_tokenizer

SAMPLES = 10
SLOW_ROWS = 500
"""Rows for which the slower plain way is timed."""


@dataclass(frozen=True)
class LoaderBenchmark:
    """Token loader benchmark."""

    megabytes: float = opt(20.0, "Text of the corpus.", above=0)
    row_length: int = opt(2048, "Tokens in a row.", min=2)
    rows: int = opt(32, "Rows in a batch.", min=1)
    workers: int = opt(2, "Threads of the loader.", min=1)
    repeats: int = opt(3, "Runs of each way, alternating.", min=1)
    batches: int = opt(500, "Batches of the loader in a run.", min=1)
    steady_batches: int = opt(10_000, "Batches for which the memory is watched; 0 for none.", min=0)
    steady_rows: int = opt(8, "Rows in each of them.", min=1)
    json: str | None = opt(None, "File to write the result to.")

    def __post_init__(self) -> None:
        validate(self, "benchmark")


def plain_rows(documents: Documents, encode: Callable[[str], list[int]], bos: int, length: int) -> Iterator[np.ndarray]:
    """Yield rows the plain way: one document after the other, cut from one long list."""
    buffer: list[int] = []
    for segment in documents.segments:
        for text in segment.read():
            if text:
                buffer.append(bos)
                buffer.extend(encode(text))
            start = 0
            while len(buffer) - start > length:
                yield np.array(buffer[start : start + length + 1])
                start += length
            del buffer[:start]
    if buffer:
        yield np.array(buffer)


def loader_of(
    options: LoaderBenchmark, documents: Documents, tokenizer: Tokenizer, rows: int | None = None
) -> TokenLoader:
    """Return a fresh loader."""
    rows = rows or options.rows
    return TokenLoader(
        documents,
        tokenizer,
        row_length=options.row_length,
        rows_per_step=rows,
        rows_per_batch=rows,
        workers=options.workers,
    )


def check_tokens(options: LoaderBenchmark, documents: Documents, tokenizer: Tokenizer) -> None:
    """Assert that one epoch of the loader holds each token as often as the documents do, but for the dropped ones."""
    vocabulary = tokenizer.vocab_size
    expected, found = np.zeros((2, vocabulary), dtype=np.int64)
    for row in plain_rows(documents, tokenizer.encode, tokenizer.bos, options.row_length):
        expected += np.bincount(row[: options.row_length], minlength=vocabulary)
    with loader_of(options, documents, tokenizer, rows=1) as loader:  # one row at a time: one stream
        while loader.stats()["epoch"] < 1:
            batch = loader.next_batch()
            row = np.concatenate([batch.tokens_BT[0, :1].numpy(), batch.targets_BT[0].numpy()])
            found += np.bincount(row[row != PADDING], minlength=vocabulary)
        dropped = loader.stats()["dropped_tokens"]
    found[tokenizer.bos] = expected[tokenizer.bos] = 0  # pieces of long documents begin with a BOS too
    assert (found <= expected).all(), "the loader made tokens up"
    assert int((expected - found).sum()) == dropped, "the loader lost tokens that it does not report"


@dataclass(frozen=True)
class Rate:
    """Tokens per second of the clock, and of processor time over all threads."""

    clock: float
    processor: float

    @classmethod
    def of(cls, run: Callable[[], int]) -> "Rate":
        """Time `run`, which returns how many tokens it made."""
        clock, processor = time.perf_counter(), time.process_time()
        tokens = run()
        return cls(tokens / (time.perf_counter() - clock), tokens / (time.process_time() - processor))


def run_loader(options: LoaderBenchmark, documents: Documents, tokenizer: Tokenizer) -> int:
    """Draw batches from a fresh loader."""
    with loader_of(options, documents, tokenizer) as loader:
        for _ in range(options.batches):
            loader.next_batch()
    return options.batches * options.rows * options.row_length


def count_tokens(rows: Iterator[np.ndarray]) -> int:
    """Go through the rows of the plain way."""
    return sum(len(row) - 1 for row in rows)


def watch_memory(options: LoaderBenchmark, documents: Documents, tokenizer: Tokenizer) -> dict[str, Any]:
    """Resident memory, in MB, at even distances over many batches, and the speed over all of them."""
    process = psutil.Process()
    before = process.memory_info().rss
    samples = []
    started = time.perf_counter()
    with loader_of(options, documents, tokenizer, rows=options.steady_rows) as loader:
        loader.next_batch()
        first = time.perf_counter() - started
        for number in range(1, options.steady_batches + 1):
            loader.next_batch()
            if number % max(1, options.steady_batches // SAMPLES) == 0:
                samples.append(round(process.memory_info().rss / 1e6))
        stats = loader.stats()
    rate = options.steady_batches * options.steady_rows * options.row_length / (time.perf_counter() - started)
    return {
        "resident_mb_before": round(before / 1e6),
        "resident_mb": samples,
        "peak_resident_mb": max(samples, default=0),
        "seconds_to_first_batch": round(first, 2),
        "tokens_per_second": round(rate),
        "epochs": round(stats["epoch"], 1),
        "dropped_share": round(stats["dropped_share"], 5),
        "padding_share": round(stats["padding_share"], 5),
    }


def run_benchmark(options: LoaderBenchmark, directory: Path) -> dict[str, Any]:
    """Make the corpus, check that both ways see the same tokens, time them in turns, watch the memory."""
    tokenizer = gpt2_tokenizer()
    tokenizer.save(directory)
    slow = tokenizers.Tokenizer.from_file(str(directory / TOKENIZER_FILE))
    write_corpus(directory / "corpus", int(options.megabytes * 1e6))
    files = [ParquetFile(path) for path in sorted((directory / "corpus").glob("*.parquet"))]
    documents = all_documents("made up", files)
    check_tokens(options, documents, tokenizer)
    ours: list[Rate] = []
    plain: list[Rate] = []
    length, bos = options.row_length, tokenizer.bos
    for _ in range(options.repeats):
        ours.append(Rate.of(lambda: run_loader(options, documents, tokenizer)))
        plain.append(Rate.of(lambda: count_tokens(plain_rows(documents, tokenizer.encode, bos, length))))
    slow_rows = plain_rows(documents, lambda text: slow.encode(text).ids, bos, length)
    slower = Rate.of(lambda: count_tokens(islice(slow_rows, SLOW_ROWS)))
    rates = {"ours": ours, "plain": plain, "plain_tokenizers": [slower]}
    clock = {name: round(statistics.median(rate.clock for rate in values)) for name, values in rates.items()}
    processor = {name: round(statistics.median(rate.processor for rate in values)) for name, values in rates.items()}
    return {
        "name": "token loader",
        "ratio": round(clock["ours"] / clock["plain"], 2),
        "ours": clock["ours"],
        "baseline": clock["plain"],
        "unit": "tokens/s",
        "hardware": f"{platform.machine()}, {available_cores()} cores, Python {platform.python_version()}",
        "details": {
            **to_dict(options),
            "documents": documents.count,
            "plain_tokenizers": clock["plain_tokenizers"],
            "best": {name: round(max(rate.clock for rate in values)) for name, values in rates.items()},
            "per_processor_second": processor,
            "steady": watch_memory(options, documents, tokenizer) if options.steady_batches else {},
        },
    }


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark and write its results."""
    parser = Parser(prog="python -m benchmarks.loader", description=(__doc__ or "").splitlines()[0])
    add_flags(parser, LoaderBenchmark)
    options = from_args(LoaderBenchmark, parser.parse_args(argv))
    with tempfile.TemporaryDirectory() as directory:
        result = run_benchmark(options, Path(directory))
    details = result["details"]
    print(f"token loader: {result['ours']:,} against {result['baseline']:,} tokens/s, {result['ratio']}x")
    print(f"the plain way with the tokenizers library: {details['plain_tokenizers']:,} tokens/s")
    print(f"tokens per second of processor time: {details['per_processor_second']}")
    if details["steady"]:
        print(f"{options.steady_batches:,} batches: {details['steady']}")
    if options.json is not None:
        atomic_write_json(Path(options.json), result)
    return 0


if __name__ == "__main__":
    run_main(main)
