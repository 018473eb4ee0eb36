"""Look into parquet shards: files, schema, row groups, single documents, and where a text occurs.

python -m scripts.inspect_parquet nemotron
python -m scripts.inspect_parquet shards/ --row 1200 --column text
python -m scripts.inspect_parquet shards/part_000000.parquet --groups
python -m scripts.inspect_parquet leangithubraw --search "theorem foo" --max 5 --json
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from nanoproof.common.config import Parser, add_flags, check, from_args, opt, validated
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.terminal import Paint, print_lines, shorten, size, table, width
from nanoproof.data.sources.catalog import CATALOG
from nanoproof.data.sources.manifest import file_paths
from scripts.viewing import ViewOptions, contains, heading, indented, json_lines, not_shown

BATCH_ROWS = 256
AROUND = 60
"""Characters that are shown before and behind what was searched for."""


@validated("inspect")
class ParquetOptions:
    """Rows and columns to show."""

    groups: bool = opt(False, "List the row groups of each file.")
    row: int | None = opt(None, "Show this row, counted from 0 over all files.", min=0)
    search: str | None = opt(None, "Show rows with this text, upper and lower case alike.")
    column: tuple[str, ...] = opt((), "Columns to read; default: all.")

    def __post_init__(self) -> None:
        chosen = sum((self.groups, self.row is not None, self.search is not None))
        check(chosen <= 1, "--groups, --row and --search are three views; give one of them")


@dataclass(frozen=True)
class Shard:
    """One file."""

    path: Path

    @cached_property
    def file(self) -> pq.ParquetFile:
        """Its reader. Raises UserError if it is none."""
        try:
            return pq.ParquetFile(self.path)
        except (pa.ArrowException, OSError) as error:
            raise UserError(f"{self.path} cannot be read as parquet: {' '.join(str(error).split())}") from error

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return int(self.file.metadata.num_rows)

    @property
    def schema(self) -> dict[str, str]:
        """Its columns and their types."""
        return {field.name: str(field.type) for field in self.file.schema_arrow}

    def to_json(self) -> dict[str, Any]:
        """Return the shard's metadata as a JSON object."""
        counts = {"bytes": self.path.stat().st_size, "rows": self.rows, "row_groups": self.file.num_row_groups}
        return {"path": str(self.path), **counts, "schema": self.schema}

    def columns(self, wanted: Sequence[str]) -> list[str]:
        """Return the columns to read. Raises UserError for one that does not exist."""
        missing = [name for name in wanted if name not in self.schema]
        if missing:
            raise UserError(f"--column {missing[0]}: {self.path} has no such column; it has: {', '.join(self.schema)}")
        return list(wanted) or list(self.schema)

    def read(self, wanted: Sequence[str], start: int = 0) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield rows with their numbers, from the row group that holds row `start`."""
        first = number = 0
        metadata = self.file.metadata
        # Groups before it are not decoded: a shard of a gigabyte shows a row at its end at once.
        while first < self.file.num_row_groups and number + metadata.row_group(first).num_rows <= start:
            number += metadata.row_group(first).num_rows
            first += 1
        groups = list(range(first, self.file.num_row_groups))
        try:
            for batch in self.file.iter_batches(BATCH_ROWS, row_groups=groups, columns=self.columns(wanted)):
                for record in batch.to_pylist():
                    yield number, record
                    number += 1
        except (pa.ArrowException, OSError) as error:
            raise UserError(f"{self.path}, from row {number}: {' '.join(str(error).split())}") from error


def find_shards(names: Sequence[str]) -> list[Shard]:
    """Find the files that arguments name: files, directories, data sets. Raises UserError if one names none."""
    files: list[Path] = []
    for name in names:
        path = Path(name).expanduser()
        # A folder `nemotron` here goes before the data set of that name.
        if name in CATALOG and not path.exists():
            files += file_paths(name, "*.parquet")
        elif path.is_dir():
            inside = sorted(path.rglob("*.parquet"))
            if not inside:
                raise UserError(f"{path} holds no .parquet file")
            files += inside
        elif path.is_file():
            files.append(path)
        else:
            raise UserError(f"{path} is no file, directory or data set ({', '.join(CATALOG)})")
    return list(map(Shard, files))


def file_table(shards: Sequence[Shard], view: ViewOptions, paint: Paint) -> Iterator[str]:
    """Render a line for each file, and the columns."""
    shown = view.choose(shards)
    if view.json:
        yield from json_lines(shard.to_json() for shard in shown)
        return
    rows: list[tuple[object, ...]] = []
    for shard in shown:
        rows.append((str(shard.path), shard.rows, shard.file.num_row_groups, size(shard.path.stat().st_size)))
    # Of all, and not of those alone that are shown.
    num_rows = num_bytes = 0
    for shard in shards:
        num_rows += shard.rows
        num_bytes += shard.path.stat().st_size
    rows.append((f"{len(shards)} files", num_rows, None, size(num_bytes)))
    yield from table(("file", "rows", "row groups", ">size"), rows, paint)
    yield from not_shown(len(shards), len(shown))
    yield ""
    # Shards of one data set may differ: makers add columns, and types change from int32 to int64.
    schemas: dict[tuple[tuple[str, str], ...], list[Shard]] = {}
    for shard in shards:
        schemas.setdefault(tuple(shard.schema.items()), []).append(shard)
    for schema, members in schemas.items():
        if len(schemas) > 1:
            yield f"in {len(members)} of {len(shards)} files, such as {members[0].path.name}:"
        yield from table(("column", "type"), schema, paint)


def group_table(shards: Sequence[Shard], view: ViewOptions, paint: Paint) -> Iterator[str]:
    """Render a line for each row group."""
    groups: list[tuple[Shard, int]] = []
    for shard in shards:
        for index in range(shard.file.num_row_groups):
            groups.append((shard, index))
    shown = view.choose(groups)
    rows: list[tuple[object, ...]] = []
    for shard, index in shown:
        group = shard.file.metadata.row_group(index)
        compressions = sorted({group.column(column).compression for column in range(group.num_columns)})
        if view.json:
            record = {"path": str(shard.path), "group": index, "rows": group.num_rows, "bytes": group.total_byte_size}
            yield from json_lines([{**record, "compression": compressions}])
        rows.append((shard.path.name, index, group.num_rows, size(group.total_byte_size), ", ".join(compressions)))
    if view.json:
        return
    yield from table(("file", "group", "rows", ">uncompressed", "compression"), rows, paint)
    yield from not_shown(len(groups), len(shown))


def one_row(shards: Sequence[Shard], number: int, wanted: Sequence[str]) -> tuple[Shard, int, dict[str, Any]]:
    """Read a row by its number over all files. Raises UserError if there are not so many."""
    before = 0
    for shard in shards:
        if number < before + shard.rows:
            within = number - before
            # It begins with the row group that the row is in.
            for position, record in shard.read(wanted, within):
                if position == within:
                    return shard, within, record
        before += shard.rows
    raise UserError(f"--row {number}: the files hold {before:,} rows, counted from 0")


def rows_with_text(shards: Sequence[Shard], options: ParquetOptions) -> Iterator[tuple[Shard, int, str, str, Any]]:
    """Yield where the text occurs: file, row, column, the text of the field, and the record."""
    for shard in shards:
        for number, record in shard.read(options.column):
            for column, value in record.items():
                if isinstance(value, str) and contains(options.search, value):
                    yield shard, number, column, value, record
                    break


def search(
    shards: Sequence[Shard], options: ParquetOptions, view: ViewOptions, paint: Paint, hits: list[int]
) -> Iterator[str]:
    """Render the first rows that hold the text, as they are found; their numbers go to `hits`."""
    assert options.search is not None
    for shard, number, column, value, record in rows_with_text(shards, options):
        # Not before there is one more: only then is it true that these are the first ones only.
        if len(hits) == view.max:
            if not view.json:
                yield "... the first ones only (--max)"
            return
        hits.append(number)
        if view.json:
            yield from json_lines(
                [{"path": str(shard.path), "row": number, "column": column, "record": _plain(record)}]
            )
            continue
        yield heading(shard.path.name, paint, f"row {number:,}", column)
        if view.full:
            yield from indented(value)
        else:
            # Folded, a text may be longer than it was ("ß" is "ss"): nearly the place, which is enough here.
            start = max(0, value.casefold().find(options.search.casefold()))
            end = start + len(options.search)
            yield "  " + shorten(value[max(0, start - AROUND) : end + AROUND], width() - 2)


def _plain(value: Any) -> Any:
    """Write a value as JSON has it."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return list(map(_plain, value))
    if isinstance(value, (str, int, float, bool, type(None))):
        return value
    return str(value)  # dates, decimals, bytes


def row_lines(shard: Shard, number: int, record: dict[str, Any], view: ViewOptions, paint: Paint) -> Iterator[str]:
    """Render a row in full."""
    if view.json:
        yield from json_lines([{"path": str(shard.path), "row": number, "record": _plain(record)}])
        return
    yield heading(shard.path.name, paint, f"row {number:,}")
    for column, value in record.items():
        kind = type(value).__name__
        if isinstance(value, str):
            kind = f"{len(value):,} characters"
        yield f"{paint(column, 'bold')}  {paint(kind, 'dim')}"
        yield from indented(str(value))


def main(argv: Sequence[str] | None = None) -> int:
    """Print the shards, rows or hits; exit code 1 if --search finds nothing."""
    parser = Parser(prog="python -m scripts.inspect_parquet", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="+", metavar="PATH", help="Files, directories, or names of data sets.")
    add_flags(parser, ParquetOptions)
    add_flags(parser, ViewOptions)
    args = parser.parse_args(argv)
    options, view, paint = from_args(ParquetOptions, args), from_args(ViewOptions, args), Paint()
    shards = find_shards(args.paths)
    if options.row is not None:
        print_lines(row_lines(*one_row(shards, options.row, options.column), view, paint))
    elif options.search is not None:
        hits: list[int] = []
        print_lines(search(shards, options, view, paint, hits))
        return int(not hits)
    elif options.groups:
        print_lines(group_table(shards, view, paint))
    else:
        print_lines(file_table(shards, view, paint))
    return 0


if __name__ == "__main__":
    run_main(main)
