"""Premise retrieval: train an encoder, index a library, measure, and search.

python -m nanoproof.retrieval train --data raid/data/merged --encoder hf:FOLDER_OR_ID --out retriever
python -m nanoproof.retrieval train --data repo:NAME --encoder new --out retriever
python -m nanoproof.retrieval index --retriever retriever --data nanolean
python -m nanoproof.retrieval evaluate --retriever retriever --data raid/data/merged --bm25
python -m nanoproof.retrieval search "a b : Nat ⊢ a + b = b + a" --retriever retriever
python -m nanoproof.retrieval serve --retriever retriever --project my-project --model-path sft/RUN
"""

import argparse
import json
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from nanoproof.common.config import Parser, add_flags, check, from_args, group, opt, validated
from nanoproof.common.distributed import DistInfo, StopSignal, init_distributed
from nanoproof.common.errors import UserError, cannot, run_main
from nanoproof.common.files import atomic_write, json_line
from nanoproof.common.option_groups import DeviceOption
from nanoproof.common.run_dir import setup_logging
from nanoproof.common.terminal import print_lines
from nanoproof.common.web import http_server
from nanoproof.common.web.http_client import on_loopback
from nanoproof.policy.policy_options import TextModelOptions
from nanoproof.repos.premise_data import read_source
from nanoproof.repos.project_premises import ProjectPremises
from nanoproof.repos.splits import SPLITS, STRATEGIES, Split
from nanoproof.retrieval.corpus import Corpus
from nanoproof.retrieval.folders import WORDS, retriever_folder
from nanoproof.retrieval.index import ANN_FILE, INDEX_FOLDER, Index, IndexSearch, IndexSearchOption
from nanoproof.retrieval.premises import Retriever
from nanoproof.retrieval.retrieve_options import RetrieveOptions, TrainOptions
from nanoproof.retrieval.scores import BM25Ranks, EncoderRanks, Ranks, WordRanks, evaluate, prediction
from nanoproof.retrieval.service import MOST_PREMISES, PremiseService, create_app
from nanoproof.retrieval.vectors import Encoder, WordEncoder
from nanoproof.training.options import ModelOptions

# What imports torch comes after the options, which may be mistyped.
if TYPE_CHECKING:
    from nanoproof.retrieval.training import Epoch, RetrievalData

TOKEN_VARIABLE = "NANOPROOF_PREMISES_TOKEN"
NEW = "new"
"""SPEC of a network of ours with fresh weights."""


@validated("data")
class DataOptions:
    """Data."""

    data: tuple[str, ...] = opt(
        (), "Exports (folders), repo:NAME, store:NAME, or nanolean (premises alone); several: one after the other."
    )
    strategy: str = opt("random", "Which splits count.", choices=STRATEGIES)

    def __post_init__(self) -> None:
        check(bool(self.data), "--data: name an export, repo:NAME, store:NAME or nanolean")


@validated("encoder")
class EncoderOptions:
    """Encoder."""

    encoder: str = opt(
        NEW,
        f"What to start from: a checkpoint, hf:PATH_OR_ID, the folder of a retriever, or {NEW}: fresh weights. "
        f"{WORDS}: no network and nothing to train, texts are compared by their words (TF-IDF).",
    )
    max_tokens: int | None = opt(None, "Tokens of a text that are read (default: 512, or as the retriever did).", min=8)
    device: DeviceOption = group(DeviceOption)

    def open(self, network: ModelOptions, seed: int, corpus: Corpus) -> Encoder:
        """Open the encoder; `network` describes a new one, and words are counted in a corpus."""
        if self.encoder == WORDS:
            return WordEncoder.of(premise.text for premise in corpus.premises)
        from nanoproof.retrieval.encoders import MAX_TOKENS, OwnEncoder, open_encoder
        from nanoproof.training.trainer import load_or_build_model

        dist = init_distributed(self.device.device_type)
        if self.encoder == NEW:
            model, tokenizer = load_or_build_model(network, None, dist, seed)
            return OwnEncoder(model, tokenizer, self.max_tokens or MAX_TOKENS)
        return open_encoder(self.encoder, self.max_tokens, dist.device, dist.dtype)


@validated("evaluate")
class ScoreOptions:
    """Measuring."""

    split: Split = opt("test", "Theorems to measure on.", choices=SPLITS)
    bm25: bool = opt(False, "Measure BM25 too.")
    predictions: str | None = opt(None, "File for what was retrieved for each tactic, as JSON lines.", metavar="FILE")
    json: bool = opt(False, "Print the scores as JSON, an object a line.")


@validated("serve")
class ServeOptions:
    """Serving."""

    project: str | None = opt(
        None, "Folder of a Lean project whose declarations are premises too, as they are by then."
    )
    model_path: str | None = opt(None, "Checkpoint of ours whose values of states are served beside.")
    address: str = opt("127.0.0.1", f"Address to listen on; others than loopback need ${TOKEN_VARIABLE}.")
    port: int = opt(5010, "Port to listen on; 0 picks a free one.", min=0, max=65535)
    threads: int = opt(16, "Requests that are answered at the same time.", min=1, advanced=True)
    max_body_mb: float = opt(16.0, "Requests with a longer body are refused with 413.", above=0, advanced=True)
    receive_seconds: float = opt(
        600.0, "A connection on which nothing comes for so long is closed.", above=0, advanced=True
    )
    device: DeviceOption = group(DeviceOption)

    @property
    def on_loopback(self) -> bool:
        """True if only programs on this machine can connect."""
        return on_loopback(self.address)


# -- Commands --------------------------------------------------------------------------------------------------------


def train(args: argparse.Namespace) -> int:
    """Train on each data set in turn; the folder is a whole retriever after each of them."""
    from nanoproof.retrieval.training import train_retriever

    data, how, options = from_args(DataOptions, args), from_args(EncoderOptions, args), from_args(TrainOptions, args)
    out = Path(args.out)
    if out.exists() and any(out.iterdir()) and retriever_folder(str(out)) is None:
        raise UserError(f"--out {out}: there are other files in it; name a new folder, or one of an earlier training")
    if how.encoder == WORDS:
        raise UserError(f"--encoder {WORDS}: there is nothing to train; python -m nanoproof.retrieval index makes it")
    parts = [read_source(spec).data(data.strategy) for spec in data.data]
    encoder = how.open(from_args(ModelOptions, args), options.seed, parts[-1].corpus)

    def say(part: "RetrievalData", epoch: "Epoch") -> None:
        scores = ""
        if epoch.scores is not None:
            scores = f", val {epoch.scores}"
        print_lines([f"{part.name}, epoch {epoch.epoch}: loss {epoch.loss:.4f}{scores}"])

    about = {"encoder": how.encoder, "strategy": data.strategy, "options": asdict(options), "data": list(data.data)}
    with StopSignal() as stop:
        best = train_retriever(encoder, parts, options, out, about, say, lambda: stop.received)
        interrupted = stop.received
    if best is None and interrupted:
        raise UserError("interrupted before the first epoch was over; nothing was written")
    print_lines([f"retriever: {out} ({len(parts[-1].corpus)} premises indexed)"])
    if interrupted:  # what a shell gives for it, though the best epoch so far is a whole retriever
        return 130
    return 0


def index(args: argparse.Namespace) -> int:
    """Index the premises of data sets; of an index that is there only new texts are encoded."""
    from nanoproof.retrieval.encoders import open_encoder, save_encoder

    data, out = from_args(DataOptions, args), Path(args.retriever)
    approximate = from_args(IndexSearchOption, args).approximate
    folder = retriever_folder(str(out))
    corpus = Corpus.merged([read_source(spec).corpus for spec in data.data])
    how = from_args(EncoderOptions, args)
    if folder is None:
        if out.exists() and any(out.iterdir()):
            raise UserError(f"--retriever {out}: there are other files in it; name a new folder, or a retriever's")
        encoder = how.open(from_args(ModelOptions, args), 0, corpus)
    else:
        dist = init_distributed(how.device.device_type)
        encoder = open_encoder(str(folder), how.max_tokens, dist.device, dist.dtype)
        out = folder
    earlier = None
    if folder is not None and (folder / INDEX_FOLDER).is_dir():
        try:
            earlier = Index.load(folder / INDEX_FOLDER)
        except UserError as error:
            print_lines([f"made anew: {error}"])
    built, encoded = Index.build(corpus, encoder, earlier)
    if folder is None:
        save_encoder(encoder, out, {"encoder": how.encoder})
    # The earlier index was read without its clusters, which are of its own premises: all are clustered, or none.
    if approximate:
        built = built.with_ann()
    elif (out / INDEX_FOLDER / ANN_FILE).exists():
        print_lines([f"{ANN_FILE} is removed; with --index-search ann it is brought up to date too"])
    built.save(out / INDEX_FOLDER)
    print_lines([f"{len(corpus)} premises of {len(corpus.paths)} files, {encoded} texts encoded: {out / INDEX_FOLDER}"])
    return 0


def measure(args: argparse.Namespace) -> int:
    """Print R@1, R@10 and MRR of a retriever on each data set, and those of BM25 beside.

    For approximate search it also says which part of the ten best by exact search it finds.
    """
    data, how, options = from_args(DataOptions, args), from_args(EncoderOptions, args), from_args(ScoreOptions, args)
    index_search: IndexSearch = "ann" if from_args(IndexSearchOption, args).approximate else "exact"
    rankers: dict[str, Ranks] = {}
    if args.retriever is None and how.encoder == WORDS:
        rankers[WORDS] = WordRanks(index_search)
    elif args.retriever is not None or not options.bm25:
        from nanoproof.retrieval.encoders import open_encoder

        spec = args.retriever or how.encoder
        dist = init_distributed(how.device.device_type)
        opened = open_encoder(spec, how.max_tokens, dist.device, dist.dtype)
        rankers[spec] = EncoderRanks(opened, search=index_search)
    if options.bm25:
        rankers["BM25"] = BM25Ranks()
    records = []
    for spec in data.data:
        source = read_source(spec)
        asked = source.queries(data.strategy, options.split)
        for name, ranks in rankers.items():
            scores, rankings = evaluate(ranks, source.corpus, asked)
            if options.predictions is not None:
                for query, ranking in zip(asked, rankings):
                    records.append({"retriever": name, **prediction(source.corpus, query, ranking)})
            row = {"data": spec, "strategy": data.strategy, "split": options.split, "retriever": name, **asdict(scores)}
            line = f"{spec}, {data.strategy} {options.split}, {scores.queries} tactics, {name}: {scores}"
            if ranks.exact_recall is not None:
                row["exact_recall_at_10"] = 100 * ranks.exact_recall
                line += f"; approximate search, {100 * ranks.exact_recall:.2f}% of exact search's first 10"
            if options.json:
                line = json.dumps(row)
            print_lines([line])
    if options.predictions is not None:
        lines = "".join(map(json_line, records)).encode("utf-8", "surrogatepass")
        with cannot(f"write --predictions {options.predictions}"):
            atomic_write(Path(options.predictions), lambda file: file.write(lines))
    return 0


def search(args: argparse.Namespace) -> int:
    """Print the premises for a state, the best first."""
    searching = from_args(IndexSearchOption, args)
    options = RetrieveOptions(retrieve=args.count, retriever=args.retriever, searching=searching)
    retriever = Retriever.open(options, init_distributed(from_args(DeviceOption, args).device_type).device)
    if args.theorem is not None and retriever.index.corpus.find(args.theorem) is None:
        raise UserError(f"--theorem {args.theorem}: no premise of that name in {args.retriever}")
    for rank, premise in enumerate(retriever.premises(args.state, args.theorem or ""), start=1):
        print_lines([f"{rank:3}  {premise.plain}", f"     {premise.path}:{premise.start[0]}"])
    return 0


def serve(args: argparse.Namespace) -> int:
    """Serve premises, and values, until a signal comes."""
    options, searching = from_args(ServeOptions, args), from_args(IndexSearchOption, args)
    if args.retriever is None and options.project is None:
        raise UserError("give --retriever, the folder of an index, or --project, a Lean project, or both")
    token = os.environ.get(TOKEN_VARIABLE) or None
    if token is None and not options.on_loopback:
        raise UserError(f"--address {options.address}: set {TOKEN_VARIABLE}, which callers then have to send")
    # First of all, since a network takes long to load: an address that is taken is said at once.
    listener = http_server.bind(options)
    http_server.on_signals(http_server.interrupt)
    dist = init_distributed(options.device.device_type)
    retrieving = RetrieveOptions(retrieve=MOST_PREMISES, retriever=args.retriever or WORDS, searching=searching)
    with ExitStack() as stack:
        if options.project is None:
            opened = Retriever.open(retrieving, dist.device)
            service = PremiseService(lambda: opened, _open_value(options, dist, stack), {"retriever": args.retriever})
        else:
            root = Path(options.project).expanduser().resolve()
            if not root.is_dir():
                raise UserError(f"--project {options.project} is no folder")
            premises = ProjectPremises(root, retrieving, dist.device.type, with_nanolean=False)
            premises.retriever()  # a folder that is no index is said now
            about = {"retriever": args.retriever or WORDS, "project": root.name}
            service = PremiseService(premises.retriever, _open_value(options, dist, stack), about)
        app = create_app(service, token, options.on_loopback)
        server = http_server.HttpServer(app, options, listener)

        # A signal: requests from here on are refused, and those that are being answered have five seconds.
        def drain() -> None:
            service.closing = True

        http_server.on_signals(http_server.Shutdown(drain, lambda: None, 5.0, app.extensions["requests"], server))
        http_server.print_address(listener)
        server.run()
    return 0


def _open_value(options: ServeOptions, dist: DistInfo, stack: ExitStack) -> Callable[[str], float] | None:
    """Open what says how many tactics a state needs; None without a model."""
    if options.model_path is None:
        return None
    from nanoproof.policy.models import open_values

    values = stack.enter_context(open_values(TextModelOptions(value_model=options.model_path), dist))
    assert values is not None
    return lambda state: values.value(state).tactics


def parse_args(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse a command line; `run` is what it asks for."""
    parser = Parser(prog="python -m nanoproof.retrieval", description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    trains = commands.add_parser("train", help="Train an encoder on the premises that proofs used, and index them.")
    trains.add_argument("--out", required=True, metavar="DIR", help="Folder for encoder, index and metrics.")
    indexes = commands.add_parser("index", help="Index premises, or bring an index up to date.")
    indexes.add_argument("--retriever", required=True, metavar="DIR", help="Folder of a retriever, or a new one.")
    measures = commands.add_parser("evaluate", help="Measure R@1, R@10 and MRR on held-out proofs.")
    measures.add_argument("--retriever", metavar="DIR", help="Folder of a retriever; without it --encoder as it is.")
    searches = commands.add_parser("search", help="Find premises for a proof state.")
    searches.add_argument("state", help="A proof state: hypotheses, ⊢, and the goal.")
    searches.add_argument("--retriever", required=True, metavar="DIR", help="Folder of a retriever with its index.")
    searches.add_argument("--count", "-k", type=int, default=10, metavar="K", help="How many premises.")
    searches.add_argument("--theorem", metavar="NAME", help="Only what comes before this premise.")
    add_flags(searches, DeviceOption)
    serves = commands.add_parser("serve", help="Serve premises and values over HTTP, to tools and provers of others.")
    serves.add_argument("--retriever", metavar="DIR", help="Folder of a retriever with its index.")
    add_flags(serves, ServeOptions)
    for command in (indexes, measures, searches, serves):
        add_flags(command, IndexSearchOption)
    for command in (trains, indexes, measures):
        add_flags(command, DataOptions)
        add_flags(command, EncoderOptions)
    add_flags(trains, TrainOptions)
    for command in (trains, indexes):
        add_flags(command, ModelOptions)
    add_flags(measures, ScoreOptions)
    for command, run in ((trains, train), (indexes, index), (measures, measure), (searches, search), (serves, serve)):
        command.set_defaults(run=run)
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    args = parse_args(argv)
    setup_logging("info")
    return int(args.run(args))


if __name__ == "__main__":
    run_main(main)
