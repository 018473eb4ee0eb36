"""The data set `nanolean`: statements for reinforcement learning, transitions for supervised finetuning, the benchmark.

    python -m nanoproof.data.nanolean make                          # both files below $NANOPROOF_HOME/data/nanolean
    python -m nanoproof.data.nanolean transitions --out F.jsonl     # LeanTree JSONL of the library and easy problems
    python -m nanoproof.data.nanolean theorems --split train        # statements, one JSON object per line

Everything but the benchmark is generated, from one seed, and kept under a name that is a hash of what it was made
from. The benchmark is text in `data/nanolean/`; none of its statements, under whatever names, is in the rest.
"""

import argparse
import hashlib
import json
import os
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import atomic_write, atomic_write_json, read_json, read_jsonl
from nanoproof.common.run_dir import REPO_ROOT, home
from nanoproof.data.generate import LEVELS, Named, family_problems
from nanoproof.data.library_proofs import library_keys, library_proofs
from nanoproof.data.replay import Node, ReplayError, replay, start, theorem_record
from nanoproof.data.statement_key import statement_key
from nanoproof.data.strong import strong_proof
from nanoproof.lean.nanolean.env_state import EnvState
from nanoproof.lean.nanolean.kernel.errors import allow_deep_recursion
from nanoproof.lean.nanolean.loader import LIBRARY, PACKAGE, load_library
from nanoproof.lean.theorem import Theorem

DATASET = "nanolean"
BENCHMARK = REPO_ROOT / "data" / "nanolean"
SEED = 0
"""Seed of the default data."""
Quotas = dict[str, tuple[int, ...]]
QUOTAS: Quotas = {
    "prop": (160, 160, 120, 90, 60, 15),
    "pred": (160, 160, 120, 80, 50, 25),
    "nat_identity": (160, 160, 130, 120, 100, 80),
    "equation": (160, 160, 120, 100, 70, 40),
    "cancel": (160, 160, 130, 120, 100, 80),
    "order": (160, 160, 130, 100, 60, 0),
    "divides": (40, 150, 120, 100, 60, 10),
    "exists": (120, 90, 30, 12, 0, 0),
    "induction": (0, 40, 120, 110, 30, 0),
    "mixed": (100, 150, 150, 150, 140, 100),
}
"""How many statements of each level a family is asked for; families differ in what they have and in what it costs."""
STRONG_FRACTION = 0.02
"""Share of the supervised proofs for which a strong one-line proof is tried instead."""
THEOREMS_PER_LINE = 16
"""Theorems per line of the transitions file; readers split by lines."""


@dataclass(frozen=True)
class Made:
    """What one family contributes: statements to be proved, and supervised proofs as LeanTree theorems."""

    statements: list[dict[str, Any]]
    proofs: list[dict[str, Any]]


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


def ensure_made(seed: int = SEED, workers: int | None = None) -> Path:
    """The directory with `train.jsonl`, `transitions.jsonl` and `manifest.json`, made now unless it is there."""
    directory = home() / "data" / DATASET / f"{_fingerprint()}-{seed}"
    if not (directory / "manifest.json").exists():
        make(directory, seed, workers)
    return directory


def _fingerprint() -> str:
    """Hash of everything the data is made from: generator, prover, library, benchmark."""
    digest = hashlib.sha256()
    own = sorted(Path(__file__).parent.glob("*.py"))
    for file in [
        *own,
        *sorted(PACKAGE.rglob("*.py")),
        *sorted(LIBRARY.glob("*.lean")),
        *sorted(BENCHMARK.glob("*.lean")),
    ]:
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


# ---------------------------------------------------------------------------------------------------------------------
# Making


def make(directory: Path, seed: int = SEED, workers: int | None = None, quotas: Quotas | None = None) -> None:
    """Generates everything into `directory`; the manifest is written last, so a directory with one is whole.

    `quotas` are `QUOTAS` unless given: families and how many statements of each level they are asked for.
    """
    quotas = quotas or QUOTAS
    excluded = held_out_keys() | library_keys()
    load_library()  # once, so that the workers find it in the cache
    # The most expensive families first, so that the workers end together.
    order = sorted(quotas, key=lambda name: (name != "mixed", name not in ("prop", "pred", "equation"), name))
    count = workers or min(len(order), os.cpu_count() or 1)
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
        futures = {name: pool.submit(make_family, name, seed, quotas[name], excluded) for name in order}
        parts = {name: futures[name].result() for name in quotas}
    library = make_library()
    statements, proofs = _merged(parts)
    random.Random(seed).shuffle(statements)
    records = [*library, *proofs]
    random.Random(seed).shuffle(records)
    _write_jsonl(directory / "train.jsonl", statements)
    lines = [records[k : k + THEOREMS_PER_LINE] for k in range(0, len(records), THEOREMS_PER_LINE)]
    files = [{"path": f"nanolean/part_{k:04d}.lean", "imports": [], "theorems": line} for k, line in enumerate(lines)]
    _write_jsonl(directory / "transitions.jsonl", files)
    nodes = [node for record in records for node in record["by_blocks"][0]["tree"]["nodes"]]
    levels = Counter(f"l{level_of(row['id'])}" for row in statements)
    manifest = {
        "seed": seed,
        "statements": len(statements),
        "by_level": dict(sorted(levels.items())),
        "library_proofs": len(library),
        "generated_proofs": len(proofs),
        "transitions": len(nodes),
    }
    atomic_write_json(directory / "manifest.json", manifest)


def _merged(parts: dict[str, Made]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """All families together; a statement that two families made is kept once."""
    seen: set[str] = set()
    statements: list[dict[str, Any]] = []
    proofs: list[dict[str, Any]] = []
    for made in parts.values():
        for rows, target in ((made.proofs, proofs), (made.statements, statements)):
            for row in rows:
                if row["key"] not in seen:
                    seen.add(row["key"])
                    target.append({name: value for name, value in row.items() if name != "key"})
    return statements, proofs


def held_out_keys() -> frozenset[str]:
    """The keys of the benchmark."""
    files = [BENCHMARK / "valid.lean", BENCHMARK / "test.lean"]
    return frozenset(statement_key(t.source) for file in files if file.exists() for t in benchmark_theorems(file))


def make_family(family: str, seed: int, quota: tuple[int, ...], excluded: frozenset[str]) -> Made:
    """One family's part; `quota` is per level, none of the keys in `excluded` is used. Runs in a worker process."""
    allow_deep_recursion()
    state = load_library()
    problems = family_problems(family, seed, dict(zip(LEVELS, quota, strict=True)), excluded)
    statements: list[dict[str, Any]] = []
    proofs: list[dict[str, Any]] = []
    for named in problems:
        if not supervised(named):
            statements.append({"id": named.id, "source": named.source(), "key": named.key})
            continue
        node = _replayed(state, named, random.Random(named.id))
        if node is not None:
            proofs.append({**theorem_record(named.id, named.source(), node), "key": named.key})
    return Made(statements, proofs)


def supervised(named: Named) -> bool:
    """Whether a problem's proof is shown (every second one of levels 1 and 2, a few of level 3) or kept to be found."""
    number = int(named.id.rsplit("_", 1)[1])
    return number % 2 == 0 if named.level <= 2 else named.level == 3 and number % 6 == 0


def _replayed(state: EnvState, named: Named, rng: random.Random) -> Node | None:
    """The proof as NanoLean runs it; rarely a strong proof if that works; None if it does not go through."""
    try:
        before = start(state, named.source())
        strong = strong_proof(named.problem, rng) if rng.random() < STRONG_FRACTION else None
        if strong is not None:
            try:
                return replay(before, strong)
            except ReplayError:
                pass  # what is strong in general need not reach this goal; the plain proof does
        return replay(before, named.problem.proof)
    except ReplayError:
        return None


def make_library() -> list[dict[str, Any]]:
    """The library's tactic proofs as LeanTree theorems. Raises ReplayError: they have been checked, so they run."""
    allow_deep_recursion()
    state = load_library()
    return [theorem_record(p.name, p.source, replay(start(state, p.source), p.proof)) for p in library_proofs()]


def _write_jsonl(path: Path, rows: list[dict[str, Any]]) -> None:
    lines = "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)
    atomic_write(path, lambda file: file.write(lines.encode("utf-8")))


# ---------------------------------------------------------------------------------------------------------------------
# Command line


def main(argv: Sequence[str] | None = None) -> None:
    """`make`, `transitions --out FILE` or `theorems --split SPLIT`."""
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
    args = parser.parse_args(argv)
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
