"""leangithubraw: the Lean 4 files of public repositories, without generated files, duplicates and benchmark theorems.

    python -m nanoproof.data.midtrain.leangithubraw build                     # clone, collect licences, clean
    python -m nanoproof.data.midtrain.leangithubraw stats
    python -m nanoproof.data.midtrain.leangithubraw show 'Mathlib/Order/*'
    python -m nanoproof.data.midtrain.leangithubraw publish --repo NAME       # prints what it would upload

One parquet file per repository with the columns text, url, commit, path and licence; the texts of the
licences are in `licences/`. `report.txt` and `report.json` list the files that were left out, with the reasons.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from nanoproof.common.config import Parser, add_flags, from_args
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import read_json
from nanoproof.data.midtrain.build import NAME, BuildConfig, build, publish
from nanoproof.data.midtrain.collect import COLUMNS, READ_ROWS
from nanoproof.data.sources.catalog import how_to_get
from nanoproof.data.sources.manifest import FILENAME, dataset_dir
from nanoproof.model.tokenizer import Tokenizer

BYTES_PER_TOKEN = 2.4
"""Of Lean text, roughly, with GPT-2's vocabulary and our symbols: for the estimate of `stats`."""
SHOWN = 5


def shards(directory: Path) -> list[Path]:
    """Return the shards that the manifest lists. Raises UserError, with the build command, if they are missing."""
    path = directory / FILENAME
    if not path.exists():
        raise UserError(f"the data set {NAME} is not in {directory}; get it with: {how_to_get(NAME)}")
    files = [directory / name for name in sorted(read_json(path).get("files", {}))]
    missing = [file.name for file in files if not file.is_file()]
    if missing:
        raise UserError(f"{directory} lacks {', '.join(missing[:3])}; get it again with: {how_to_get(NAME)}")
    return files


def rows(path: Path, columns: Sequence[str] = COLUMNS) -> Iterator[dict[str, Any]]:
    """Yield the rows of a shard, one for each Lean file."""
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(READ_ROWS, columns=list(columns)):
                yield from batch.to_pylist()
    except (OSError, pa.ArrowException, KeyError) as error:
        raise UserError(f"{path} is not a whole shard: {error}; get it again with: {how_to_get(NAME)}") from error


def stats(directory: Path, tokenizer: Tokenizer | None = None) -> dict[str, Any]:
    """Count files, bytes, tokens (estimated without a tokenizer) and licences of each repository."""
    repositories = []
    for path in shards(directory):
        record: dict[str, Any] = {"name": path.stem, "files": 0, "bytes": 0, "tokens": 0, "licences": {}}
        for row in rows(path):
            record["files"] += 1
            record["bytes"] += len(row["text"].encode())
            record["licences"][row["licence"]] = record["licences"].get(row["licence"], 0) + 1
            if tokenizer is not None:
                record["tokens"] += len(tokenizer.encode(row["text"]))
        if tokenizer is None:
            record["tokens"] = round(record["bytes"] / BYTES_PER_TOKEN)
        repositories.append(record)
    total = {key: sum(record[key] for record in repositories) for key in ("files", "bytes", "tokens")}
    return {"name": NAME, **total, "tokens_counted": tokenizer is not None, "repositories": repositories}


def _stats_table(report: dict[str, Any]) -> str:
    tokens = "tokens" if report["tokens_counted"] else "about tokens"
    width = max(len(record["name"]) for record in report["repositories"])
    lines = [f"{'repository':<{width}} {'files':>7} {'MB':>8} {tokens:>14}  licences"]
    for record in report["repositories"]:
        licences = ", ".join(sorted(record["licences"]))
        counts = f"{record['files']:>7,} {record['bytes'] / 1e6:>8.2f} {record['tokens']:>14,}"
        lines.append(f"{record['name']:<{width}} {counts}  {licences}")
    counts = f"{report['files']:>7,} {report['bytes'] / 1e6:>8.2f} {report['tokens']:>14,}"
    lines.append(f"{'all':<{width}} {counts}")
    return "\n".join(lines)


def show(directory: Path, pattern: str, limit: int, as_json: bool) -> int:
    """Print the files whose `repository path` matches the pattern, a glob or a part of it; returns their number."""
    if not set(pattern) & set("*?["):  # no pattern, but a part of a path
        pattern = f"*{pattern}*"
    count = 0
    for shard in shards(directory):
        for row in rows(shard):
            if not fnmatch(row["path"], pattern) and not fnmatch(f"{shard.stem} {row['path']}", pattern):
                continue
            count += 1
            if count > limit:
                continue
            if as_json:
                print(json.dumps(row, ensure_ascii=False))
            else:
                print(f"-- {row['url']} {row['path']} at {row['commit'][:12] or '-'}, {row['licence']}\n{row['text']}")
    return count


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    command_line = Parser(prog=f"python -m nanoproof.data.midtrain.{NAME}", description=(__doc__ or "").splitlines()[0])
    commands = command_line.add_subparsers(dest="command", required=True)
    add_flags(commands.add_parser("build", help="Clone the repositories and make the data set."), BuildConfig)
    of_stats = commands.add_parser("stats", help="Files, bytes, tokens and licences of each repository.")
    of_stats.add_argument("--tokenizer", metavar="PATH", help="Count tokens with this tokenizer, not by estimate.")
    of_show = commands.add_parser("show", help="Print files.")
    of_show.add_argument("pattern", metavar="PATTERN", help="Part of `repository path`, or a pattern with * for it.")
    of_show.add_argument("--max", type=int, default=SHOWN, metavar="N", help="The first so many.")
    of_publish = commands.add_parser(
        "publish", help="Upload to a data set repository of the hub (a dry run by default)."
    )
    of_publish.add_argument("--repo", required=True, metavar="OWNER/NAME", help="The repository; it is made if needed.")
    # A dry run unless asked for: what is uploaded cannot be taken back.
    of_publish.add_argument("--really", action="store_true", help="Upload.")
    of_publish.add_argument("--public", action="store_true", help="If the repository is made, let everyone read it.")
    of_publish.add_argument(
        "--include-unlicensed", action="store_true", help="Also repositories whose licence is none or unknown."
    )
    for command in (of_stats, of_show):
        command.add_argument("--json", action="store_true", help="Print JSON.")
    for command in (of_stats, of_show, of_publish):
        command.add_argument("--out", default="", metavar="DIR", help="Where it was built.")
    return command_line


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command `build`, `stats`, `show` or `publish`; returns the exit code."""
    args = parser().parse_args(argv)
    if args.command == "build":
        return build(from_args(BuildConfig, args))
    directory = Path(args.out).expanduser() if args.out else dataset_dir(NAME)
    if args.command == "stats":
        tokenizer = Tokenizer.load(args.tokenizer) if args.tokenizer else None
        report = stats(directory, tokenizer)
        if args.json:
            print(json.dumps(report, ensure_ascii=False))
        else:
            print(_stats_table(report))
    elif args.command == "show":
        if not show(directory, args.pattern, args.max, args.json):
            raise UserError(f"no file of {directory} is like {args.pattern!r}")
    else:
        publish(directory, shards(directory), args.repo, args.really, args.public, args.include_unlicensed)
    return 0


if __name__ == "__main__":
    run_main(main)
