"""Measure premise retrieval: trained encoders against untrained ones and BM25, approximate search against exact.

    python -m nanoproof.repos trace nanolean/library --name nanolean
    python -m benchmarks.retrieval [--data repo:nanolean] [--seeds 0 1 2] [--json PATH]
    python -m benchmarks.retrieval --parts index [--sizes 10000 100000 1000000] [--vectors FILE.npy] [--json PATH]

`--parts quality`, on held-out proofs:
For each split (`random`, `novel_premises`), loss and seed a network of ours with fresh weights, which has seen no proof
at all, is trained on the training theorems; the epoch that is best on `val` is scored on `test`. BM25 (bm25s) ranks by
the same texts, without marks. The ratio is that of R@10 to BM25's, on the first split with the first loss.

`--parts index`: queries one by one among made vectors, which lie in groups, or among those of an index
(`index/vectors.npy`), of which the queries are left out; all premises accessible, and half of them. The ratio is that
of queries per second of processor time, approximate (extra `ann`) to exact. With OMP_NUM_THREADS=1 no processor time
goes into threads that wait for each other.
"""

import platform
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import torch

from nanoproof.common.config import Parser, add_flags, change, from_args, group, opt, validate
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import atomic_write_json
from nanoproof.common.run_dir import home, versions
from nanoproof.model.gpt import GPT, GPTConfig
from nanoproof.model.network_options import NetworkShape
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.repos.premise_data import RetrievalSource, read_source
from nanoproof.repos.splits import STRATEGIES
from nanoproof.retrieval.corpus import Query
from nanoproof.retrieval.encoders import OwnEncoder
from nanoproof.retrieval.index import Ann, Ranking, search_exactly
from nanoproof.retrieval.retrieve_options import LOSSES, TrainOptions
from nanoproof.retrieval.scores import BM25Ranks, Scores, evaluate, recall_of_exact
from nanoproof.retrieval.training import Trainer

FOUND = 10
INNER, SPREAD, NOISE = 32, (0.1, 1.0), 0.3
"""Of made vectors: dimensions that they lie in, distances within groups, and noise in all channels."""


@dataclass(frozen=True)
class RetrievalBenchmark:
    """Retrieval benchmark."""

    parts: tuple[str, ...] = opt(("quality",), "What to measure.", choices=("quality", "index"))
    sizes: tuple[int, ...] = opt((10_000, 100_000, 1_000_000), "Numbers of made vectors to search in.", min=1)
    channels: int = opt(256, "Width of made vectors.", min=1)
    vectors: str | None = opt(None, "File of an index's vectors to search in, instead.", metavar="FILE")
    asked: int = opt(100, "Queries to search for.", min=1)
    data: str = opt("repo:nanolean", "What to measure on: an export, repo:NAME or store:NAME.")
    strategies: tuple[str, ...] = opt(STRATEGIES, "Splits.", choices=STRATEGIES)
    losses: tuple[str, ...] = opt(("contrastive",), "Losses to train with.", choices=LOSSES)
    seeds: tuple[int, ...] = opt((0, 1, 2), "Seeds of weights and training.", min=0)
    network: NetworkShape = group(
        NetworkShape,
        depth=change(default=1),
        aspect_ratio=change(default=64),
        head_dim=change(default=32),
        sequence_len=change(default=96),
    )
    tokenizer: str | None = opt(None, "Folder of the tokenizer; default $NANOPROOF_HOME/tokenizer.")
    training: TrainOptions = group(
        TrainOptions, without=("loss", "seed"), epochs=change(default=8), lr=change(default=0.003)
    )
    json: str | None = opt(None, "File to write the results to.")

    def __post_init__(self) -> None:
        validate(self, "benchmark")


def new_encoder(options: RetrievalBenchmark, seed: int) -> OwnEncoder:
    """Make an encoder with fresh weights."""
    tokenizer = Tokenizer.load(Path(options.tokenizer) if options.tokenizer else home() / "tokenizer")
    torch.manual_seed(seed)
    model = GPT.create(GPTConfig(vocab_size=tokenizer.vocab_size, **asdict(options.network)))
    return OwnEncoder(model, tokenizer, options.network.sequence_len)


def rows(options: RetrievalBenchmark, source: RetrievalSource, strategy: str) -> Iterator[dict[str, Any]]:
    """Measure on one strategy's splits; yields a row for each ranking."""
    data, test = source.data(strategy), source.queries(strategy, "test")

    def row(kind: str, scores: Scores, **more: Any) -> dict[str, Any]:
        return {"strategy": strategy, "kind": kind, **asdict(scores), **more}

    yield row("BM25", evaluate(BM25Ranks(), source.corpus, test)[0])
    for seed in options.seeds:
        for number, loss in enumerate(options.losses):
            encoder, began = new_encoder(options, seed), time.process_time()
            how = replace(options.training, loss=loss, seed=seed)
            trainer = Trainer(encoder, data, how)
            if not number:
                yield row("untrained", _scores(trainer, test), seed=seed)
            best = trainer.run()
            more = {"seed": seed, "best_epoch": None if best is None else best.epoch}
            yield row(f"trained, {loss}", _scores(trainer, test), **more, cpu_seconds=time.process_time() - began)


def _scores(trainer: Trainer, test: list[Query]) -> Scores:
    scores = trainer.evaluate(test)
    if scores is None:
        raise UserError("--data: no test theorem names a premise")
    return scores


def table(found: list[dict[str, Any]]) -> Iterator[str]:
    """Write the rows for a page: means over seeds, with the lowest and highest R@10."""
    yield "| split | ranking | R@1 | R@10 | MRR |"
    yield "|---|---|---|---|---|"
    for strategy, kind in dict.fromkeys((each["strategy"], each["kind"]) for each in found):
        same = [each for each in found if (each["strategy"], each["kind"]) == (strategy, kind)]
        first, ten, mrr = (mean(each[name] for each in same) for name in ("recall_at_1", "recall_at_10", "mrr"))
        spread = [each["recall_at_10"] for each in same]
        span = f" ({min(spread):.1f} to {max(spread):.1f})" if len(same) > 1 else ""
        yield f"| {strategy} | {kind} | {first:.1f} | {ten:.1f}{span} | {mrr:.2f} |"


# -- the index --------------------------------------------------------------------------------------------------------


def made_vectors(count: int, channels: int, seed: int = 0) -> np.ndarray:
    """Make vectors of length 1 in groups of 20 on average, some nearer to their group's center than others."""
    rng = np.random.default_rng(seed)
    centers = rng.standard_normal((max(1, count // 20), INNER), np.float32)
    spans = rng.standard_normal((INNER, channels), np.float32) / np.float32(INNER**0.5)
    vectors = np.empty((count, channels), np.float32)
    for first in range(0, count, 1 << 16):
        part = vectors[first : first + (1 << 16)]
        inner = rng.standard_normal((len(part), INNER), np.float32)
        inner *= rng.uniform(*SPREAD, (len(part), 1)).astype(np.float32)
        inner += centers[rng.integers(0, len(centers), len(part))]
        rng.standard_normal(part.shape, np.float32, out=part)
        part *= NOISE
        part += inner @ spans
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    return vectors


def index_rows(options: RetrievalBenchmark) -> Iterator[dict[str, Any]]:
    """Measure exact and approximate search; yields a row for each number of vectors and part that is accessible."""
    if options.vectors is not None:
        read = np.load(options.vectors)
        yield from search_rows(read[np.random.default_rng(0).permutation(len(read))], options.asked)
        return
    for size in options.sizes:
        yield from search_rows(made_vectors(size + options.asked, options.channels), options.asked)


def search_rows(every_NC: np.ndarray, asked: int) -> Iterator[dict[str, Any]]:
    """Search for the first `asked` vectors among the others, with all of these accessible and with half of them."""
    queries_QC, vectors_NC = every_NC[:asked], every_NC[asked:]
    began, wall = time.process_time(), time.perf_counter()
    ann = Ann.build(vectors_NC)
    about = {"build_cpu_seconds": time.process_time() - began, "build_seconds": time.perf_counter() - wall}
    with tempfile.TemporaryDirectory() as folder:
        ann.save(Path(folder) / "ann")
        about |= {"vectors_mb": vectors_NC.nbytes / 1e6, "ann_mb": (Path(folder) / "ann").stat().st_size / 1e6}
    half = np.flatnonzero(np.random.default_rng(1).random(len(vectors_NC)) < 0.5)
    for accessible, allowed in (("all", None), ("half", half)):

        def exactly(query_C: np.ndarray, allowed: np.ndarray | None = allowed) -> Ranking:
            return search_exactly(vectors_NC, query_C[None], [allowed], FOUND)[0]

        def nearly(query_C: np.ndarray, allowed: np.ndarray | None = allowed) -> Ranking:
            return ann.search(vectors_NC, query_C, allowed, FOUND)

        exact, exact_speed = timed(queries_QC, exactly)
        near, speed = timed(queries_QC, nearly)
        found = {"vectors": len(vectors_NC), "channels": vectors_NC.shape[1], "accessible": accessible}
        found |= {"exact": exact_speed, "ann": speed, "recall_at_10": recall_of_exact(exact, near, FOUND)}
        cosines = {f"cosine_{n}": float(np.mean([scores[n - 1] for _, scores in exact])) for n in (1, FOUND)}
        yield {**found, **cosines, **about}


def timed(queries_QC: np.ndarray, search: Callable[[np.ndarray], Ranking]) -> tuple[list[Ranking], dict[str, float]]:
    """Search for one query after the other; also returns the queries per second, by processor time and by the clock."""
    search(queries_QC[0])
    began, wall = time.process_time(), time.perf_counter()
    found = [search(query_C) for query_C in queries_QC]
    cpu, seconds = time.process_time() - began, time.perf_counter() - wall
    return found, {"per_cpu_second": len(found) / cpu, "per_second": len(found) / seconds}


def index_table(found: list[dict[str, Any]]) -> Iterator[str]:
    """Write the rows for a page; queries per second of processor time, and of the clock in parentheses."""
    yield "| vectors | accessible | exact, queries/s | approximate | ratio | recall@10 | clustering | memory |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in found:
        exact, ann = row["exact"], row["ann"]
        speeds = [f"{each['per_cpu_second']:,.0f} ({each['per_second']:,.0f})" for each in (exact, ann)]
        ratio, by_clock = (ann[unit] / exact[unit] for unit in ("per_cpu_second", "per_second"))
        yield (
            f"| {row['vectors']:,} of {row['channels']} | {row['accessible']} | {speeds[0]} | {speeds[1]} "
            f"| **{ratio:.1f}** ({by_clock:.1f}) | {row['recall_at_10']:.3f} | {row['build_cpu_seconds']:.1f} s "
            f"| {row['vectors_mb']:,.0f} MB, {row['ann_mb']:,.0f} MB |"
        )


# -- both -------------------------------------------------------------------------------------------------------------


def measure_quality(options: RetrievalBenchmark) -> list[dict[str, Any]]:
    """Measure encoders, print a table; returns what is written as JSON."""
    source = read_source(options.data)
    found: list[dict[str, Any]] = []
    for strategy in options.strategies:
        for each in rows(options, source, strategy):
            found.append(each)
            print(
                {name: round(value, 2) if isinstance(value, float) else value for name, value in each.items()},
                flush=True,
            )
    print("\n".join(table(found)))
    trained = [e["recall_at_10"] for e in found if e["strategy"] == options.strategies[0] and "trained, " in e["kind"]]
    return [
        result("retrieval", mean(trained[:: len(options.losses)]), found[0]["recall_at_10"], "R@10, percent", found)
    ]


def measure_index(options: RetrievalBenchmark) -> list[dict[str, Any]]:
    """Measure search in indexes, print a table; returns what is written as JSON."""
    found = []
    for row in index_rows(options):
        found.append(row)
        print(row, flush=True)
    print("\n".join(index_table(found)))
    return [
        result(
            f"retrieval index, {row['vectors']} vectors, {row['accessible']} accessible",
            row["ann"]["per_cpu_second"],
            row["exact"]["per_cpu_second"],
            "queries per second of processor time",
            [row],
        )
        for row in found
    ]


def result(name: str, ours: float, baseline: float, unit: str, found: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a result as benchmarks write it."""
    return {
        **{"name": name, "ratio": ours / baseline, "ours": ours, "baseline": baseline, "unit": unit},
        "hardware": platform.processor() or platform.machine(),
        "details": {"rows": found, "versions": versions()},
    }


def main(argv: list[str] | None = None) -> int:
    """Measure, print tables, and write them as JSON."""
    parser = Parser(prog="python -m benchmarks.retrieval", description=(__doc__ or "").splitlines()[0])
    add_flags(parser, RetrievalBenchmark)
    options = from_args(RetrievalBenchmark, parser.parse_args(argv))
    results = []
    for part in options.parts:
        results += measure_quality(options) if part == "quality" else measure_index(options)
    for each in results:
        each["details"]["options"] = asdict(options)
    if options.json is not None:
        atomic_write_json(Path(options.json), results if len(results) > 1 else results[0])
    return 0


if __name__ == "__main__":
    run_main(main)
