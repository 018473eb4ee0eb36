"""Second half of leangithubraw's build: leave out duplicates, and files with theorems of the benchmarks.

Repositories are taken in the order of the list and their files by path, and the first of equal files stays. A file is
examined by itself (`examine`), in several processes; which are dropped is then decided in that order.
"""

import hashlib
import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from nanoproof.common.errors import UserError
from nanoproof.common.terminal import Progress
from nanoproof.data.midtrain.collect import Collected, LeanFile
from nanoproof.data.sources.manifest import require_manifest
from nanoproof.data.theorems.overlap import KINDS, Index, Piece, document_piece, theorem_piece
from nanoproof.data.theorems.theorem_sets import list_theorems, splits_of
from nanoproof.lean.lexical import mask, without_header

BENCHMARKS = ("minif2f", "proofnet", "putnambench")
CHUNK = 16
"""Number of files that a process gets at a time."""


@dataclass(frozen=True)
class Finding:
    """A benchmark theorem in a file: the theorem, the kind of overlap, the equal name or statement, and the line."""

    theorem: str
    way: str
    what: str
    line: int


@dataclass(frozen=True)
class Examined:
    """The result for a single file: hashes of its text and of its code, and the benchmark theorems in it."""

    exact: str
    code: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Drop:
    """A file that was left out: its repository, path and the reason; of a duplicate, the file that stayed."""

    url: str
    path: str
    reason: str
    same_as: str = ""
    findings: tuple[Finding, ...] = ()


@dataclass
class Refined:
    """The files of a repository that stay, and those that were left out."""

    files: list[LeanFile] = field(default_factory=list)
    dropped: list[Drop] = field(default_factory=list)


def benchmark_index() -> tuple[Index, dict[str, str]]:
    """Index the theorems of the benchmarks; returns also their commits. Raises UserError if a benchmark is missing."""
    commits = {}
    pieces: list[Piece] = []
    for name in BENCHMARKS:
        try:
            commits[name] = require_manifest(name).commit or "unknown commit"
            for split in splits_of(name):
                pieces += map(theorem_piece, list_theorems(name, split))
        except UserError as error:
            raise UserError(
                f"without {name} its theorems cannot be kept out of the training data: {error} "
                "(or give --no-decontamination)"
            ) from error
    # Shared runs of words are no reason to leave out a file: proofs of common lemmas are alike everywhere.
    return Index(pieces, with_words=False), commits


def examine(text: str, index: Index | None) -> Examined:
    """Examine one file. `code` is a hash of the text without header and comments, and with single spaces."""
    code = " ".join(without_header(mask(text)).split())
    findings: tuple[Finding, ...] = ()
    if index is not None:
        hits = index.hits(document_piece(text, "", with_words=False))
        findings = tuple(Finding(hit.other.label, KINDS[hit.kind], hit.what, hit.line) for hit in hits)
    if code:
        code = _hash(code)
    return Examined(_hash(text), code, findings)


def refine(collected: Sequence[Collected], index: Index | None, workers: int, show: bool = True) -> Iterator[Refined]:
    """Yield the files that stay of each repository, and those left out, in the order given."""
    seen: dict[str, str] = {}
    total = sum(repository.files for repository in collected)
    with (
        Progress(total, "examine", unit="files", show=show and total > 0) as progress,
        _examiner(index, workers) as run,
    ):
        for repository in collected:
            refined = Refined([], [Drop(repository.url, path, reason) for path, reason in repository.dropped])
            files = list(repository.read())
            for file, examined in zip(files, run(file.text for file in files)):
                drop = _judge(file, examined, seen)
                if drop is None:
                    refined.files.append(file)
                else:
                    refined.dropped.append(drop)
                progress.update()
            yield refined


def _judge(file: LeanFile, examined: Examined, seen: dict[str, str]) -> Drop | None:
    """Decide whether a file is dropped; `seen` maps the hashes of files that stay to the files."""
    place = f"{file.url} {file.path}"
    if not examined.code:
        return Drop(file.url, file.path, "no code, only comments and imports")
    if examined.findings:
        return Drop(file.url, file.path, "holds a theorem of a benchmark", findings=examined.findings)
    for key, reason in ((examined.exact, "duplicate"), (examined.code, "duplicate but for comments and white space")):
        if key in seen:
            return Drop(file.url, file.path, reason, same_as=seen[key])
    seen[examined.exact] = seen[examined.code] = place
    return None


_index: Index | None = None
"""The benchmarks' index of a worker process; set when it starts."""


@contextmanager
def _examiner(index: Index | None, workers: int) -> Iterator[Callable[[Iterable[str]], Iterable[Examined]]]:
    """Yield a function that examines texts, in order, in this process or in several."""
    if workers == 1:
        yield partial(map, partial(examine, index=index))
        return
    # Spawned: a fork of a process with threads may hold a lock for ever. Each gets the index once.
    with multiprocessing.get_context("spawn").Pool(workers, _start_worker, (index,)) as pool:
        yield lambda texts: pool.imap(_examine_in_worker, texts, CHUNK)


def _start_worker(index: Index | None) -> None:
    global _index
    _index = index


def _examine_in_worker(text: str) -> Examined:
    return examine(text, _index)


def count_reasons(drops: Iterable[Drop]) -> Counter[str]:
    """Count the files that were left out for each reason."""
    return Counter(drop.reason for drop in drops)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]  # 128 bits: a file must not be dropped for an equal hash
