"""The command line of the data set `nanolean`.

python -m nanoproof.data.nanolean make                          # both files below $NANOPROOF_HOME/data/nanolean
python -m nanoproof.data.nanolean transitions --out F.jsonl     # LeanTree JSONL of the library and easy problems
python -m nanoproof.data.nanolean theorems --split train        # statements, one JSON object per line
python -m nanoproof.data.nanolean generate --family lists --level 3 --count 10    # new ones, with their proofs
"""

import argparse
import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from nanolean.kernel.errors import allow_deep_recursion
from nanoproof.common.config import Parser
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import read_json
from nanoproof.data.nanolean.finishers import trivial_filter
from nanoproof.data.nanolean.generate import FAMILIES, LEVELS, family_problems
from nanoproof.data.nanolean.made import SEED, ensure_made, held_out_keys, list_theorems
from nanoproof.data.nanolean.problem import render
from nanoproof.data.nanolean.replay import library


def main(argv: Sequence[str] | None = None) -> None:
    """`make`, `transitions --out FILE`, `theorems --split SPLIT` or `generate`."""
    parser = Parser(prog="python -m nanoproof.data.nanolean", description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (("make", "Make the default data."), ("transitions", "Write the transitions to a file.")):
        command = commands.add_parser(name, help=text)
        command.add_argument("--seed", type=int, default=SEED, help="Seed of the generator.")
        command.add_argument("--workers", type=int, default=None, help="Processes (default: one per core).")
        if name == "transitions":
            command.add_argument("--out", type=Path, required=True, help="The JSONL file to write.")
    theorems = commands.add_parser("theorems", help="Print the theorems of a split as JSON lines.")
    theorems.add_argument("--split", choices=("train", "valid", "test"), default="train", help="Which theorems.")
    _add_generate(commands.add_parser("generate", help="Print new problems with their proofs as JSON lines."))
    args = parser.parse_args(argv)
    if args.command == "generate":
        generate(args.family, args.level, args.count, args.seed, args.keep_trivial)
        return
    if args.command == "theorems":
        for theorem in list_theorems(args.split):
            print(json.dumps({"id": theorem.id, "source": theorem.source}, ensure_ascii=False))
        return
    directory = ensure_made(args.seed, args.workers)
    if args.command == "transitions":
        _copy(directory / "transitions.jsonl", args.out)
    manifest = read_json(directory / "manifest.json")
    print(" ".join(f"{name}={value}" for name, value in manifest.items() if name != "by_level"))
    print(f"files: {directory}")


def _add_generate(command: argparse.ArgumentParser) -> None:
    command.add_argument("--family", choices=tuple(FAMILIES), action="append", help="Families (default: all).")
    command.add_argument("--level", type=int, choices=LEVELS, action="append", help="Levels (default: all).")
    command.add_argument("--count", type=int, default=10, help="Problems of each family and level, at most.")
    command.add_argument("--seed", type=int, default=SEED, help="Seed of the generator.")
    command.add_argument(
        "--keep-trivial",
        action="store_true",
        help="Also print what one tactic without arguments (simp, omega, grind, ..) proves.",
    )


def generate(
    families: Sequence[str] | None, levels: Sequence[int] | None, count: int, seed: int, keep_trivial: bool
) -> None:
    """Prints problems: id, family, level, source, and the proof as the generator knows it. None is of the benchmark."""
    allow_deep_recursion()
    per_level = dict.fromkeys(levels or LEVELS, count)
    refused = None if keep_trivial else trivial_filter(library())
    for family in families or FAMILIES:
        for named in family_problems(family, seed, per_level, held_out_keys(), refused):
            proof = render(named.problem.proof, 0)
            row = {"id": named.id, "family": family, "level": named.level, "source": named.source(), "proof": proof}
            print(json.dumps(row, ensure_ascii=False), flush=True)


def _copy(source: Path, target: Path) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            copied = Path(folder) / target.name
            shutil.copyfile(source, copied)
            os.replace(copied, target)
    except OSError as error:
        raise UserError(f"cannot write {target}: {error}") from error


if __name__ == "__main__":
    run_main(main)
