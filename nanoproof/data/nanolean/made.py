"""The made data and the benchmark: where they are, what is in them, and making them on first use.

Everything but the benchmark is generated, from one seed, and kept under a name that is a hash of what it was made
from. The benchmark is text in `data/nanolean/`; none of its statements, under whatever names, is in the rest.
"""

import hashlib
from pathlib import Path

from filelock import FileLock

from nanolean.loader import LIBRARY, PACKAGE
from nanoproof.common.errors import UserError
from nanoproof.common.files import read_jsonl
from nanoproof.common.run_dir import REPO_ROOT, home
from nanoproof.data.nanolean.make import make
from nanoproof.data.nanolean.statement_key import statement_key
from nanoproof.lean.theorem import Theorem

DATASET = "nanolean"
BENCHMARK = REPO_ROOT / "data" / "nanolean"
SEED = 0
"""Seed of the default data."""
READERS = ("__init__.py", "__main__.py", "text.py")
"""Files of this room that read the data; all others decide what they are."""
LEAN_MAKERS = ("state", "lexical")
"""Files beside NanoLean that do too: they read the goals that it prints."""


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
        *sorted(file for file in Path(__file__).parent.glob("*.py") if file.name not in READERS),
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
