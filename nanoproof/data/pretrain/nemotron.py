"""Nemotron-CC-Math, its better pages: parquet shards with a column `text`. The last shard is for validation.

python -m nanoproof.data.pretrain.nemotron stats
python -m nanoproof.data.pretrain.nemotron show --split valid --max 3
python -m nanoproof.data.pretrain.nemotron show --id part_000000:17
python -m nanoproof.data.pretrain.nemotron sample --out sample.jsonl --max 20000

Training reads it as `text_corpus("nemotron")`, and a sample by its path. `sample` streams documents of the training
shards from the hub where none were downloaded: a few hundred megabytes instead of 2.4 GB a shard.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import IO, Any

import httpx2
import pyarrow as pa

from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import atomic_write
from nanoproof.common.terminal import Progress
from nanoproof.data.dataset_cli import check_max, chosen_splits, make_parser, print_items
from nanoproof.data.sources.catalog import CATALOG
from nanoproof.data.sources.hub import Hub
from nanoproof.data.sources.manifest import file_paths
from nanoproof.data.sources.transfer import TransferError
from nanoproof.data.text.text_files import COLUMN, ParquetFile

NAME, PATTERN = "nemotron", "4plus/part_*.parquet"
SPLITS = ("train", "valid")
MODULE = "nanoproof.data.pretrain.nemotron"
SHUFFLED = 1000
"""Size of the shuffle buffer, in documents."""
HUB_SECONDS = 60.0
"""Timeout of requests to the hub."""


def shards() -> tuple[list[Path], list[Path]]:
    """Return the training shards and the validation shard; a single shard is for validation.

    Raises UserError, with the command that fetches them, if none is on disk or a download is incomplete.
    """
    paths = file_paths(NAME, PATTERN)
    return paths[:-1], paths[-1:]


def documents(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the documents of a shard that have text, with their positions in it."""
    file, position = ParquetFile(path), 0
    for group, size in enumerate(file.groups):
        for text in file.read(group, range(size.documents)):
            if text:
                yield position, text
            position += 1


def streamed_texts(files: Sequence[str], seed: int) -> Iterator[str]:
    """Stream the documents with text of parquet files, local or of the hub (`hf://`), shuffled; fetches what is read.

    Raises UserError if a file cannot be read.
    """
    import datasets  # takes a second that other commands need not wait

    datasets.disable_progress_bars()
    try:
        rows = datasets.load_dataset("parquet", data_files=list(files), columns=[COLUMN], split="train", streaming=True)
        for row in rows.shuffle(seed=seed, buffer_size=SHUFFLED):
            if row[COLUMN]:
                yield row[COLUMN]
    except (OSError, httpx2.HTTPError, pa.ArrowException) as error:
        raise UserError(f"nemotron cannot be read any further: {' '.join(str(error).split())[:300]}") from error


def hub_files() -> list[str]:
    """Return the addresses of the training shards on the hub. Raises UserError if they may not be read."""
    (source,) = CATALOG[NAME].files
    try:
        *training, _ = Hub(HUB_SECONDS).files(source, source.revision)
    except (TransferError, OSError) as error:
        raise UserError(f"nemotron: {error}") from error
    # At one commit, or a shard that is replaced meanwhile would be read half old and half new.
    return [f"hf://datasets/{source.repository}@{file.commit}/{file.path}" for file in training]


def write_sample(out: Path, most: int, seed: int) -> int:
    """Write at most `most` training documents of local shards, or else the hub's, as JSONL; returns their number."""
    try:
        files = list(map(str, shards()[0]))
    except UserError:
        files = []
    texts = streamed_texts(files or hub_files(), seed)

    def write(file: IO[bytes]) -> None:
        for _, text in zip(range(most), texts):  # `range` first: else a document more would be fetched
            file.write(json.dumps({COLUMN: text}, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
            progress.update()

    with Progress(most, f"sample {NAME}", "documents") as progress:
        atomic_write(out, write)
    return progress.count


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command `stats`, `show` or `sample`; the id of a document is `SHARD:POSITION`."""
    parser, commands = make_parser(MODULE, "The documents of nemotron.", SPLITS, "document")
    sample = commands.add_parser("sample", help="Write some training documents to a file; streams what is not here.")
    sample.add_argument("--out", type=Path, required=True, metavar="FILE", help="A .jsonl file.")
    sample.add_argument("--max", type=int, default=20_000, metavar="N", help="So many documents.")
    sample.add_argument("--seed", type=int, default=0, help="Which ones.")
    args = parser.parse_args(argv)
    check_max(args)
    if args.command == "sample":
        if args.out.suffix != ".jsonl":
            raise UserError(f"--out must be a .jsonl file, got {args.out}")
        print(f"{args.out}: {write_sample(args.out, args.max, args.seed):,} documents of {NAME}")
        return 0
    splits = dict(zip(SPLITS, shards()))
    if args.command == "stats":
        _print_stats(splits, args.json)
        return 0
    names = chosen_splits(args, SPLITS)
    paths: list[tuple[str, Path]] = []
    for name in names:
        paths += zip(repeat(name), splits[name])
    items: list[tuple[str, dict[str, Any]]] = []
    for name, path, position, text in _documents(paths, args.id):
        record = {"id": f"{path.stem}:{position}", "split": name, "text": text}
        items.append((f"-- {record['id']}, {name}, {len(text):,} characters\n{text}", record))
        if len(items) == args.max:
            break
    print_items(items, args.json)
    return 0


def _documents(paths: Sequence[tuple[str, Path]], wanted: str | None) -> Iterator[tuple[str, Path, int, str]]:
    """Yield split, shard, position and text of all documents, or of the one with an id."""
    shard, _, number = (wanted or "").partition(":")
    is_there = False
    for name, path in paths:
        if wanted is not None and path.stem != shard:
            continue
        for position, text in documents(path):
            if wanted is None or str(position) == number:
                is_there = True
                yield name, path, position, text
    if wanted is not None and not is_there:
        raise UserError(f"--id {wanted}: no such document in {NAME}; ids are like part_000000:17")


def _print_stats(splits: dict[str, list[Path]], as_json: bool) -> None:
    report: dict[str, dict[str, int]] = {}
    for name, paths in splits.items():
        counts = report[name] = {"shards": len(paths), "documents": 0, "text_bytes": 0}
        for path in paths:
            for group in ParquetFile(path).groups:
                counts["documents"] += group.documents
                counts["text_bytes"] += group.num_bytes
    if as_json:
        print(json.dumps({"name": NAME, "splits": report}))
        return
    print(NAME)
    for name, counts in report.items():
        size = f"about {counts['text_bytes'] / 1e6:,.1f} MB of text"
        print(f"  {name:<10}{counts['documents']:>12,} documents in {counts['shards']} shards, {size}")


if __name__ == "__main__":
    run_main(main)
