"""Nemotron-CC-Math, its better pages: shards of parquet with a column `text`. The last shard is for validation.

python -m nanoproof.data.pretrain.nemotron stats
python -m nanoproof.data.pretrain.nemotron show --split valid --max 3
python -m nanoproof.data.pretrain.nemotron show --id part_000000:17

Training reads it as `text_corpus("nemotron")`.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nanoproof.common.errors import UserError, run_main
from nanoproof.data.manifest import open_files
from nanoproof.data.text_files import ParquetFile
from nanoproof.data.theorem_cli import check_max, chosen_splits, make_parser, print_items

NAME, PATTERN = "nemotron", "4plus/part_*.parquet"
SPLITS = ("train", "valid")
MODULE = "nanoproof.data.pretrain.nemotron"


def shards() -> tuple[list[Path], list[Path]]:
    """The shards for training and the one for validation; of a single shard the first are none.

    Raises UserError, with the command that fetches them, if none is here or a download has not been completed.
    """
    paths = open_files(NAME, PATTERN)
    return paths[:-1], paths[-1:]


def documents(path: Path) -> Iterator[tuple[int, str]]:
    """The documents of a shard with text, and their places in it."""
    file, place = ParquetFile(path), 0
    for group, size in enumerate(file.groups):
        for text in file.read(group, range(size.documents)):
            if text:
                yield place, text
            place += 1


def main(argv: Sequence[str] | None = None) -> int:
    """`stats` or `show`; the id of a document is `SHARD:PLACE`."""
    parser, _ = make_parser(MODULE, "The documents of nemotron.", SPLITS, "document")
    args = parser.parse_args(argv)
    check_max(args)
    splits = dict(zip(SPLITS, shards()))
    if args.command == "stats":
        _print_stats(splits, args.json)
        return 0
    names = chosen_splits(args, SPLITS)
    paths = [(name, path) for name in names for path in splits[name]]
    items: list[tuple[str, dict[str, Any]]] = []
    for name, path, place, text in _wanted(paths, args.id):
        record = {"id": f"{path.stem}:{place}", "split": name, "text": text}
        items.append((f"-- {record['id']}, {name}, {len(text):,} characters\n{text}", record))
        if len(items) == args.max:
            break
    print_items(items, args.json)
    return 0


def _wanted(paths: Sequence[tuple[str, Path]], wanted: str | None) -> Iterator[tuple[str, Path, int, str]]:
    """All documents in order, or the one with an id."""
    shard, _, number = (wanted or "").partition(":")
    chosen = [(name, path) for name, path in paths if wanted is None or path.stem == shard]
    found = False
    for name, path in chosen:
        for place, text in documents(path):
            if wanted is None or str(place) == number:
                found = True
                yield name, path, place, text
    if wanted is not None and not found:
        raise UserError(f"--id {wanted}: no such document in {NAME}; ids are like part_000000:17")


def _print_stats(splits: dict[str, list[Path]], as_json: bool) -> None:
    report: dict[str, dict[str, int]] = {}
    for name, paths in splits.items():
        groups = [group for path in paths for group in ParquetFile(path).groups]
        text, documents = sum(group.num_bytes for group in groups), sum(group.documents for group in groups)
        report[name] = {"shards": len(paths), "documents": documents, "text_bytes": text}
    if as_json:
        print(json.dumps({"name": NAME, "splits": report}))
        return
    print(NAME)
    for name, counts in report.items():
        size = f"about {counts['text_bytes'] / 1e6:,.1f} MB of text"
        print(f"  {name:<10}{counts['documents']:>12,} documents in {counts['shards']} shards, {size}")


if __name__ == "__main__":
    run_main(main)
