"""The commands of data sets: `stats` and `show`, which every set has, and `check-init` of theorem sets."""

import argparse
import json
from collections.abc import Iterator, Sequence
from typing import Any

from nanoproof.common.config import Parser
from nanoproof.common.errors import UserError
from nanoproof.data.theorems.theorem_sets import TheoremSet
from nanoproof.data.theorems.whitelists import LeanChoice, choose_lean, theorem_hash
from nanoproof.data.whitelist import ABOUT, add_check_flags, check_set
from nanoproof.lean.types import Theorem

SHOWN = 5


def run_command(theorem_set: TheoremSet, module: str, argv: Sequence[str] | None = None) -> int:
    """Run `stats`, `show` or `check-init` of a theorem set; the last is that of `nanoproof.data.whitelist`."""
    parser, commands = make_parser(module, f"The data set {theorem_set.name}.", theorem_set.splits, "theorem")
    if not theorem_set.is_benchmark:  # these have no whitelists
        for command in commands.choices.values():
            command.add_argument(
                "--lean-project",
                metavar="DIR",
                help="Lean project whose lean-toolchain picks the whitelist (default: LEAN_PROJECT_PATH, or none).",
            )
    add_check_flags(commands.add_parser("check-init", help=ABOUT))
    args = parser.parse_args(argv)
    if args.command == "check-init":
        return check_set(theorem_set.name, args)
    check_max(args)
    lean = LeanChoice()
    if not theorem_set.is_benchmark:
        lean = choose_lean(args.lean_project)
    if args.command == "stats":
        report = theorem_set.stats(lean.version_for(theorem_set.name))
        if args.json:
            print(json.dumps(report, ensure_ascii=False))
        else:
            print(_table(report))
        return 0
    print_items(list(_chosen(theorem_set, args, lean)), args.json)
    return 0


def make_parser(
    module: str, description: str, splits: Sequence[str], item: str
) -> tuple[Parser, "argparse._SubParsersAction[Parser]"]:
    """Return the parser and its subparsers, with the commands `stats` and `show`; `item` is what a set consists of."""
    parser = Parser(prog=f"python -m {module}", description=description)
    commands = parser.add_subparsers(dest="command", required=True)
    stats = commands.add_parser("stats", help="Count rows, what is left out of them, and what the splits hold.")
    show = commands.add_parser("show", help=f"Print each {item}.")
    show.add_argument("--split", choices=tuple(splits), help="Which part (default: the first; with --id all).")
    show.add_argument("--max", type=int, default=SHOWN, metavar="N", help="The first so many.")
    show.add_argument("--id", metavar="ID", help="Only what has this id.")
    show.add_earlier({"--n": "--max"})  # what the first version called it
    for command in (stats, show):
        command.add_argument("--json", action="store_true", help="Print JSON, one object per line.")
    return parser, commands


def check_max(args: argparse.Namespace) -> None:
    """Check `--max`. Raises UserError for a number that is too small."""
    if "max" in args and args.max < 1:
        raise UserError(f"--max must be >= 1, got {args.max}")


def chosen_splits(args: argparse.Namespace, splits: Sequence[str]) -> list[str]:
    """Return the splits that `show` reads: the one that is asked for, else the first, or all to find an id."""
    if args.split:
        return [args.split]
    return list(splits[:1]) if args.id is None else list(splits)


def print_items(items: Sequence[tuple[str, dict[str, Any]]], as_json: bool) -> None:
    """Print each item as text, with an empty line in between, or as a line of JSON."""
    for number, (text, record) in enumerate(items):
        if as_json:
            print(json.dumps(record, ensure_ascii=False))
            continue
        if number > 0:
            print()
        print(text)


def _chosen(
    theorem_set: TheoremSet, args: argparse.Namespace, lean: LeanChoice
) -> Iterator[tuple[str, dict[str, Any]]]:
    splits = chosen_splits(args, theorem_set.splits)
    chosen: list[tuple[str, Theorem]] = []
    for split in splits:
        for theorem in theorem_set.list_theorems(split, lean.version_for(theorem_set.name)):
            if args.id in (None, theorem.id):
                chosen.append((split, theorem))
    if not chosen and args.id is not None:
        raise UserError(f"--id {args.id}: no such theorem in {theorem_set.name} {', '.join(splits)}")
    for split, theorem in chosen[: args.max]:
        text = f"-- {theorem.dataset} {split}: {theorem.id}\n{theorem.source}"
        record = {"id": theorem.id, "dataset": theorem.dataset, "split": split, "source": theorem.source}
        yield text, {**record, "hash": theorem_hash(theorem.source)}


def _table(report: dict[str, Any]) -> str:
    title = report["name"]
    if report["lean_version"]:
        title += f" under Lean {report['lean_version']}"
    lines = [title, _line("rows", report["rows"]), *_reasons(report["left_out"])]
    for split, counts in report["splits"].items():
        line = _line(split, counts["theorems"])
        if counts["unknown"]:
            line += f"  ({counts['unknown']:,} unknown to the whitelist)"
        lines += [line, *_reasons(counts["left_out"])]
    return "\n".join(lines)


def _reasons(left_out: dict[str, int]) -> list[str]:
    return [_line("left out", count) + f"  {reason}" for reason, count in left_out.items()]


def _line(name: str, count: int) -> str:
    return f"  {name:<10}{count:>10,}"
