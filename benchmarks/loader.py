"""Measure tokens per second from parquet shards to batches, against encoding document by document and concatenating.

    python -m benchmarks.loader [--megabytes 20] [--batches 500] [--steady-batches 10000] [--json PATH]

The text is made up (math_text.py) and the vocabulary is GPT-2's with our symbols. The plain way encodes each document
as it comes, with tiktoken as the loader does, appends it to one list and cuts rows from that; `plain_tokenizers` is the
same with the `tokenizers` library. It is checked that an epoch of the loader holds the same tokens as often, but for
those that it reports as dropped. Afterwards `--steady-batches` of `--steady-rows` are drawn and the memory of the
process is watched.
"""

import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import tokenizers

from benchmarks.math_text import write_corpus
from benchmarks.measurement import Rate, Result, counted_rate, in_turns, parser_of, result, typical_rates, write_results
from nanoproof.common.config import from_args, opt, to_dict, validated
from nanoproof.common.errors import run_main
from nanoproof.data.text.documents import Documents, all_documents
from nanoproof.data.text.text_files import ParquetFile
from nanoproof.data.text.token_loader import PADDING, TokenLoader
from nanoproof.model.tokenizer import TOKENIZER_FILE, Tokenizer, gpt2_tokenizer

SAMPLES = 10
SLOW_ROWS = 500
"""Rows for which the slower plain way is timed."""


@validated("benchmark")
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
    expected, drawn = np.zeros((2, vocabulary), dtype=np.int64)
    for row in plain_rows(documents, tokenizer.encode, tokenizer.bos, options.row_length):
        expected += np.bincount(row[: options.row_length], minlength=vocabulary)
    with loader_of(options, documents, tokenizer, rows=1) as loader:  # one row at a time: one stream
        while loader.stats()["epoch"] < 1:
            batch = loader.next_batch()
            row = np.concatenate([batch.tokens_BT[0, :1].numpy(), batch.targets_BT[0].numpy()])
            drawn += np.bincount(row[row != PADDING], minlength=vocabulary)
        dropped = loader.stats()["dropped_tokens"]
    drawn[tokenizer.bos] = expected[tokenizer.bos] = 0  # pieces of long documents begin with a BOS too
    assert (drawn <= expected).all(), "the loader made tokens up"
    assert int((expected - drawn).sum()) == dropped, "the loader lost tokens that it does not report"


def run_loader(options: LoaderBenchmark, documents: Documents, tokenizer: Tokenizer) -> int:
    """Draw batches from a fresh loader."""
    # Several epochs of the corpus: what the loader has made ahead when it is stopped then hardly counts.
    with loader_of(options, documents, tokenizer) as loader:
        for _ in range(options.batches):
            loader.next_batch()
    return options.batches * options.rows * options.row_length


def count_tokens(rows: Iterator[np.ndarray]) -> int:
    """Count the tokens to train on in the rows of the plain way."""
    # A row has one token more than it trains on, the last target.
    return sum(len(row) - 1 for row in rows)


def watch_memory(options: LoaderBenchmark, documents: Documents, tokenizer: Tokenizer) -> dict[str, Any]:
    """Measure memory (resident, MB) at even distances over many batches, and the speed over all of them."""
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


def run_benchmark(options: LoaderBenchmark, directory: Path) -> Result:
    """Make the corpus, check that both ways see the same tokens, time them in turns, watch the memory."""
    tokenizer = gpt2_tokenizer()
    tokenizer.save(directory)
    slow = tokenizers.Tokenizer.from_file(str(directory / TOKENIZER_FILE))
    write_corpus(directory / "corpus", int(options.megabytes * 1e6))
    files = list(map(ParquetFile, sorted((directory / "corpus").glob("*.parquet"))))
    documents = all_documents("made up", files)
    check_tokens(options, documents, tokenizer)
    length, bos = options.row_length, tokenizer.bos

    def encode_plainly() -> int:
        return count_tokens(plain_rows(documents, tokenizer.encode, bos, length))

    ways: dict[str, Callable[[], Rate]] = {
        "ours": lambda: counted_rate(lambda: run_loader(options, documents, tokenizer)),
        "plain": lambda: counted_rate(encode_plainly),
    }
    rates = in_turns(ways, options.repeats)
    # Once and on few rows: it takes several times as long, and nothing else is compared with it.
    slow_rows = plain_rows(documents, lambda text: slow.encode(text).ids, bos, length)
    rates["plain_tokenizers"] = [counted_rate(lambda: count_tokens(islice(slow_rows, SLOW_ROWS)))]
    clock, best, processor = typical_rates(rates)
    # By the clock our threads count as one: with two of them on two free cores a ratio of 1.4 is less than their
    # number. By processor time the plain way may be the cheaper one: it packs nothing.
    details = {
        **to_dict(options),
        "documents": documents.count,
        "plain_tokenizers": clock["plain_tokenizers"],
        "best": best,
        "per_processor_second": processor,
        "steady": watch_memory(options, documents, tokenizer) if options.steady_batches else {},
    }
    ratio = round(clock["ours"] / clock["plain"], 2)
    return result("token loader", "tokens/s", clock["ours"], clock["plain"], ratio, details)


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark and write its results."""
    options = from_args(LoaderBenchmark, parser_of("loader", __doc__, LoaderBenchmark).parse_args(argv))
    with tempfile.TemporaryDirectory() as directory:
        outcome = run_benchmark(options, Path(directory))
    details = outcome["details"]
    print(f"token loader: {outcome['ours']:,} against {outcome['baseline']:,} tokens/s, {outcome['ratio']}x")
    print(f"the plain way with the tokenizers library: {details['plain_tokenizers']:,} tokens/s")
    print(f"tokens per second of processor time: {details['per_processor_second']}")
    if details["steady"]:
        print(f"{options.steady_batches:,} batches: {details['steady']}")
    write_results(options.json, outcome)
    return 0


if __name__ == "__main__":
    run_main(main)
