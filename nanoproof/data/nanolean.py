"""The data set `nanolean`: statements for reinforcement learning, transitions for supervised finetuning, the benchmark.

    python -m nanoproof.data.nanolean make                          # both files below $NANOPROOF_HOME/data/nanolean
    python -m nanoproof.data.nanolean transitions --out F.jsonl     # LeanTree JSONL of the library and easy problems
    python -m nanoproof.data.nanolean theorems --split train        # statements, one JSON object per line
    python -m nanoproof.data.nanolean generate --family lists --level 3 --count 10    # new ones, with their proofs

Everything but the benchmark is generated, from one seed, and kept under a name that is a hash of what it was made
from. The benchmark is text in `data/nanolean/`; none of its statements, under whatever names, is in the rest.
"""

import argparse
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from filelock import FileLock

from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import read_json, read_jsonl
from nanoproof.common.run_dir import REPO_ROOT, home
from nanoproof.data.finishers import trivial_filter
from nanoproof.data.generate import FAMILIES, LEVELS, family_problems
from nanoproof.data.nanolean_make import make
from nanoproof.data.problem import render
from nanoproof.data.replay import library
from nanoproof.data.statement_key import statement_key
from nanoproof.lean.nanolean.kernel.errors import allow_deep_recursion
from nanoproof.lean.nanolean.loader import LIBRARY, PACKAGE
from nanoproof.lean.theorem import Theorem

DATASET = "nanolean"
BENCHMARK = REPO_ROOT / "data" / "nanolean"
SEED = 0
"""Seed of the default data."""
MAKERS: tuple[str, ...] = (
    "nanolean",
    "nanolean_make",
    "generate*",
    "library_proofs",
    "logic_search",
    "intuitionistic",
    "rewriting",
)
MAKERS += ("problem", "finishers", "replay", "statement_key", "strong")
"""Files of this room that decide what the data is (the others read it)."""
LEAN_MAKERS = ("state", "lexical")
"""Files beside NanoLean that do too: they read the goals that it prints."""


# ---------------------------------------------------------------------------------------------------------------------
# Reading


def list_theorems(split: str) -> list[Theorem]:
    """The theorems of a split in a fixed order. `train` is generated on first use.

    Ids are `<family>_l<level>_<number>` for generated statements and the theorem's name for the benchmark.
    """
    if split == "train":
        return [Theorem(row["source"], DATASET, row["id"]) for row in read_jsonl(ensure_made() / "train.jsonl")]
    if split not in ("valid", "test"):
        raise UserError(f"unknown split {split!r}; there are: train, valid, test")
    return benchmark_theorems(BENCHMARK / f"{split}.lean")


def benchmark_theorems(path: Path) -> list[Theorem]:
    """The theorems of a benchmark file: each begins with `theorem` at the start of a line."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot read the benchmark {path}: {error}") from error
    chunks = ("\n" + text).split("\ntheorem ")[1:]
    sources = ["theorem " + chunk.split("\n\n")[0].rstrip() for chunk in chunks]
    return [Theorem(source, DATASET, source.split()[1]) for source in sources]


def level_of(theorem_id: str) -> int | None:
    """The level in an id such as `order_l3_0123`; None if there is none."""
    for part in theorem_id.split("_"):
        if len(part) == 2 and part[0] == "l" and part[1].isdigit():
            return int(part[1])
    return None


def transitions_file() -> Path:
    """LeanTree JSONL of the library's proofs and the easy generated ones; made on first use."""
    return ensure_made() / "transitions.jsonl"


def made_directory(seed: int = SEED) -> Path:
    """Where the data that this code makes from a seed are, once they are made."""
    return home() / "data" / DATASET / f"{_fingerprint()}-{seed}"


def ensure_made(seed: int = SEED, workers: int | None = None) -> Path:
    """The directory with `train.jsonl`, `transitions.jsonl` and `manifest.json`, made now unless it is there.

    Of several processes that need it at once, one makes it and the others wait.
    """
    directory = made_directory(seed)
    if not (directory / "manifest.json").exists():
        directory.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{directory}.lock"):
            if not (directory / "manifest.json").exists():
                make(directory, held_out_keys(), seed, workers)
    return directory


def held_out_keys() -> frozenset[str]:
    """The keys of the benchmark."""
    splits = (list_theorems("valid"), list_theorems("test"))
    return frozenset(statement_key(theorem.source) for split in splits for theorem in split)


def makers() -> list[Path]:
    """The files that decide what the data is: generator, prover, library, benchmark."""
    return [
        *sorted(file for name in MAKERS for file in Path(__file__).parent.glob(f"{name}.py")),
        *(PACKAGE.parent / f"{name}.py" for name in LEAN_MAKERS),
        *sorted(PACKAGE.rglob("*.py")),
        *sorted(LIBRARY.glob("*.lean")),
        *sorted(BENCHMARK.glob("*.lean")),
    ]


def _fingerprint() -> str:
    """Hash of everything the data is made from."""
    digest = hashlib.sha256()
    for file in makers():
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


# ---------------------------------------------------------------------------------------------------------------------
# Command line


def main(argv: Sequence[str] | None = None) -> None:
    """`make`, `transitions --out FILE`, `theorems --split SPLIT` or `generate`."""
    parser = argparse.ArgumentParser(prog="python -m nanoproof.data.nanolean", description=__doc__.splitlines()[0])
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
