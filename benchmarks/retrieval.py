"""Measure premise retrieval: trained encoders against untrained ones and BM25, approximate search against exact.

    python -m nanoproof.repos trace nanolean/library --name nanolean
    python -m benchmarks.retrieval [--data repo:nanolean] [--seeds 0 1 2] [--json PATH]
    python -m benchmarks.retrieval --parts index [--sizes 10000 100000 1000000] [--vectors FILE.npy] [--json PATH]

`--parts quality`: for each split (`random`, `novel_premises`), loss and seed a network with fresh weights, which has
seen no proof at all, is trained on the training theorems; the epoch that is best on `val` is scored on `test`. The
ratio is that of R@10 to BM25's (bm25s, on the same texts without marks), on the first split with the first loss.

`--parts index`: queries one by one among made vectors, or among those of an index (`index/vectors.npy`), of which the
queries are left out; all premises accessible, and half of them. The ratio is that of queries per second of processor
time, approximate (extra `ann`) to exact. With OMP_NUM_THREADS=1 none of it goes into threads that wait for each other.
"""

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import torch

from benchmarks.measurement import Result, Spent, parser_of, spent, write_results
from benchmarks.measurement import result as result_of
from nanoproof.common.config import change, from_args, group, opt, validated
from nanoproof.common.errors import UserError, run_main
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


@validated("benchmark")
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
            how = replace(options.training, loss=loss, seed=seed)  # type: ignore[arg-type] # one of LOSSES
            trainer = Trainer(new_encoder(options, seed), data, how)
            # Before the first loss alone: fresh weights are the same for all of them.
            if not number:
                yield row("untrained", _scores(trainer, test), seed=seed)
            began = time.process_time()
            best = trainer.run()
            cpu_seconds = time.process_time() - began
            epoch = None if best is None else best.epoch
            yield row(f"trained, {loss}", _scores(trainer, test), seed=seed, best_epoch=epoch, cpu_seconds=cpu_seconds)


def _scores(trainer: Trainer, test: list[Query]) -> Scores:
    scores = trainer.evaluate(test)
    if scores is None:
        raise UserError("--data: no test theorem names a premise")
    return scores


def table(measured: list[dict[str, Any]]) -> Iterator[str]:
    """Write the rows for a page: means over seeds, with the lowest and highest R@10."""
    yield "| split | ranking | R@1 | R@10 | MRR |"
    yield "|---|---|---|---|---|"
    by_ranking: dict[tuple[str, str], dict[str, list[float]]] = {}
    for row in measured:
        scores = by_ranking.setdefault((row["strategy"], row["kind"]), {})
        for name in ("recall_at_1", "recall_at_10", "mrr"):
            scores.setdefault(name, []).append(row[name])
    for (strategy, kind), scores in by_ranking.items():
        first, ten, mrr = map(mean, scores.values())
        tens = scores["recall_at_10"]
        span = f" ({min(tens):.1f} to {max(tens):.1f})" if len(tens) > 1 else ""
        yield f"| {strategy} | {kind} | {first:.1f} | {ten:.1f}{span} | {mrr:.2f} |"


# -- the index --------------------------------------------------------------------------------------------------------


def made_vectors(count: int, channels: int, seed: int = 0) -> np.ndarray:
    """Make vectors of length 1 in groups of 20 on average, some nearer to their group's center than others."""
    # In groups and not all alike: among vectors that are random in all directions everything is equally far, which no
    # approximate search can do well on, and embeddings of premises are not like that.
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
    built: list[Ann] = []
    building = spent(lambda: built.append(Ann.build(vectors_NC)))
    (ann,) = built
    about = {"build_cpu_seconds": building.processor, "build_seconds": building.clock}
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
        # A ratio of speeds says nothing without the recall beside it: an approximate search that finds less is faster.
        row = {"vectors": len(vectors_NC), "channels": vectors_NC.shape[1], "accessible": accessible}
        row |= {"exact": exact_speed, "ann": speed, "recall_at_10": recall_of_exact(exact, near, FOUND)}
        for n in (1, FOUND):
            row[f"cosine_{n}"] = float(np.mean([scores[n - 1] for _, scores in exact]))
        yield {**row, **about}


def timed(queries_QC: np.ndarray, search: Callable[[np.ndarray], Ranking]) -> tuple[list[Ranking], dict[str, float]]:
    """Search for one query after the other; also returns the queries per second, by processor time and by the clock."""
    search(queries_QC[0])  # reads what is not in memory yet
    rankings: list[Ranking] = []
    seconds: Spent = spent(lambda: rankings.extend(map(search, queries_QC)))
    count = len(rankings)
    return rankings, {"per_cpu_second": count / seconds.processor, "per_second": count / seconds.clock}


def index_table(measured: list[dict[str, Any]]) -> Iterator[str]:
    """Write the rows for a page; queries per second of processor time, and of the clock in parentheses."""
    yield "| vectors | accessible | exact, queries/s | approximate | ratio | recall@10 | clustering | memory |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in measured:
        exact, ann = row["exact"], row["ann"]
        ratio, by_clock = ann["per_cpu_second"] / exact["per_cpu_second"], ann["per_second"] / exact["per_second"]
        yield (
            f"| {row['vectors']:,} of {row['channels']} | {row['accessible']} "
            f"| {exact['per_cpu_second']:,.0f} ({exact['per_second']:,.0f}) "
            f"| {ann['per_cpu_second']:,.0f} ({ann['per_second']:,.0f}) "
            f"| **{ratio:.1f}** ({by_clock:.1f}) | {row['recall_at_10']:.3f} | {row['build_cpu_seconds']:.1f} s "
            f"| {row['vectors_mb']:,.0f} MB, {row['ann_mb']:,.0f} MB |"
        )


def measure_quality(options: RetrievalBenchmark) -> list[Result]:
    """Measure encoders, print a table; returns what is written as JSON."""
    source = read_source(options.data)
    measured: list[dict[str, Any]] = []
    trained: list[float] = []
    for strategy in options.strategies:
        for row in rows(options, source, strategy):
            measured.append(row)
            shown = {name: round(value, 2) if isinstance(value, float) else value for name, value in row.items()}
            print(shown, flush=True)
            if (row["strategy"], row["kind"]) == (options.strategies[0], f"trained, {options.losses[0]}"):
                trained.append(row["recall_at_10"])
    print("\n".join(table(measured)))
    # The first row is BM25's, which ranks by shared words and has learned of no proof: what training has to beat.
    return [result("retrieval", mean(trained), measured[0]["recall_at_10"], "R@10, percent", measured, options)]


def measure_index(options: RetrievalBenchmark) -> list[Result]:
    """Measure search in indexes, print a table; returns what is written as JSON."""
    measured = []
    for row in index_rows(options):
        measured.append(row)
        print(row, flush=True)
    print("\n".join(index_table(measured)))
    results = []
    for row in measured:
        name = f"retrieval index, {row['vectors']} vectors, {row['accessible']} accessible"
        ours, exact, unit = row["ann"], row["exact"], "queries per second of processor time"
        results.append(result(name, ours["per_cpu_second"], exact["per_cpu_second"], unit, [row], options))
    return results


def result(
    name: str, ours: float, baseline: float, unit: str, measured: list[dict[str, Any]], options: RetrievalBenchmark
) -> Result:
    """Return a result as benchmarks write it."""
    details = {"rows": measured, "versions": versions(), "options": asdict(options)}
    return result_of(name, unit, ours, baseline, ours / baseline, details)


def main(argv: list[str] | None = None) -> int:
    """Measure, print tables, and write them as JSON."""
    options = from_args(RetrievalBenchmark, parser_of("retrieval", __doc__, RetrievalBenchmark).parse_args(argv))
    measures = {"quality": measure_quality, "index": measure_index}
    results: list[Result] = []
    for part in options.parts:
        results += measures[part](options)
    write_results(options.json, results if len(results) > 1 else results[0])
    return 0


if __name__ == "__main__":
    run_main(main)
