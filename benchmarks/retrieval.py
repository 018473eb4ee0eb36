"""Measure premise retrieval: a trained encoder against itself untrained, and against BM25, on held-out proofs.

    python -m nanoproof.repos trace nanolean/library --name nanolean
    python -m benchmarks.retrieval [--data repo:nanolean] [--seeds 0 1 2] [--json PATH]

For each split (`random`, `novel_premises`), loss and seed a network of ours with fresh weights, which has seen no proof
at all, is trained on the training theorems; the epoch that is best on `val` is scored on `test`. BM25 (bm25s) ranks by
the same texts, without marks. The ratio is that of R@10 to BM25's, on the first split with the first loss.
"""

import platform
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any

from nanoproof.common.torch_command import run_main

import torch

from nanoproof.common.config import Parser, add_flags, change, from_args, group, opt, validate
from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_json
from nanoproof.common.run_dir import home, versions
from nanoproof.model.gpt import GPT, GPTConfig, NetworkShape
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.repos.premise_data import RetrievalSource, read_source
from nanoproof.repos.splits import STRATEGIES
from nanoproof.retrieval.corpus import Query
from nanoproof.retrieval.encoders import OwnEncoder
from nanoproof.retrieval.scores import BM25Ranks, Scores, evaluate
from nanoproof.retrieval.training import LOSSES, Trainer, TrainOptions


@dataclass(frozen=True)
class RetrievalBenchmark:
    """Retrieval benchmark."""

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


def main(argv: list[str] | None = None) -> int:
    """Measure, print a table, and write it as JSON."""
    parser = Parser(prog="python -m benchmarks.retrieval", description=(__doc__ or "").splitlines()[0])
    add_flags(parser, RetrievalBenchmark)
    options = from_args(RetrievalBenchmark, parser.parse_args(argv))
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
    if options.json is not None:
        trained = [
            e["recall_at_10"] for e in found if e["strategy"] == options.strategies[0] and "trained, " in e["kind"]
        ]
        ours, baseline = mean(trained[:: len(options.losses)]), found[0]["recall_at_10"]
        about = {
            "name": "retrieval",
            "ratio": ours / baseline,
            "ours": ours,
            "baseline": baseline,
            "unit": "R@10, percent",
        }
        details = {"rows": found, "options": {"data": options.data, **asdict(options)}, "versions": versions()}
        atomic_write_json(
            Path(options.json), {**about, "hardware": platform.processor() or platform.machine(), "details": details}
        )
    return 0


if __name__ == "__main__":
    run_main(main)
