"""Read the attempts that runs and evaluations leave behind, while they run and afterwards.

records("rl/<run>")     # attempts_r*.jsonl, evals/*/results*.jsonl, eval_*/results*.jsonl, proofs/*.lean
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

from nanoproof.common.errors import UserError
from nanoproof.common.files import read_jsonl
from nanoproof.common.run_dir import resolve_path
from nanoproof.lean.types import Theorem
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.attempt_log import AttemptIndex, IndexEntry, attempt_of, attempts_file, number_of, read_record
from nanoproof.rl.records import kept_trees, read_tree

RESULTS = "results.jsonl"
PARTS = "results*.jsonl"
"""An unfinished evaluation has a file for each rank."""
Origin = Literal["collect", "evaluate", "export"]


@dataclass(frozen=True)
class Record:
    """An attempt's index entry, without reading the attempt: its file, and its number if it is of collection.

    The attempt itself is read when it is asked for, so that a log may be longer than fits into memory.
    """

    path: Path
    origin: Origin
    dataset: str
    id: str
    outcome: str
    num_tactics: int
    load: Callable[[], Attempt]
    number: tuple[int, int, int] | None = None
    has_tree: bool = False

    @cached_property
    def attempt(self) -> Attempt:
        """All of it. Raises UserError if it is gone."""
        return self.load()

    @property
    def step(self) -> int | None:
        """The number of steps made before it, as logs have it."""
        if self.number is None:
            return None
        return self.number[0]

    @property
    def where(self) -> str:
        """Its place in a word or two."""
        if self.origin == "collect" and self.step is not None:
            return f"step {self.step + 1}"  # as the page and the run's own lines count
        return self.path.parent.name

    def tree(self) -> dict[str, Any] | None:
        """Return the search tree, if it was kept."""
        if self.attempt.tree is not None or self.number is None or not self.has_tree:
            return self.attempt.tree
        return read_tree(self.path.parent, self.number)

    def to_json(self) -> dict[str, Any]:
        """Return the attempt and its origin as a JSON object."""
        return {"path": str(self.path), "origin": self.origin, "step": self.step, **self.attempt.to_json()}


def records(text: str, wants: Callable[[Record], bool] = lambda record: True) -> list[Record]:
    """Return the wanted attempts below a path: those of collection in their order, then evaluations, then files.

    Proofs that were written beside the results they are from are not counted twice. Raises UserError if there is no
    attempt at all.
    """
    path = resolve_path(text)
    if path.is_file():
        all_records = _file_records(path)
    else:
        all_records = _directory_records(path)
    is_empty = True
    wanted: list[Record] = []
    for record in all_records:
        is_empty = False
        if wants(record):
            wanted.append(record)
    if is_empty:
        raise UserError(f"{path} holds no attempts (attempts_r*.jsonl, {RESULTS}, *.lean)")
    return wanted


def _directory_records(path: Path) -> Iterator[Record]:
    for run in sorted({file.parent for file in path.rglob("attempts_r*.jsonl")}):
        yield from _run_records(run)
    results = sorted(path.rglob(PARTS), key=_natural)
    for file in results:
        yield from _file_records(file)
    # The proofs of an evaluation lie in a folder beside its results, which say more.
    evaluations = {file.parent for file in results}
    for file in sorted(path.rglob("*.lean")):
        if evaluations.isdisjoint(file.parents):
            yield from _file_records(file)


def _natural(path: Path) -> tuple[str, int, str, str]:
    """Return the key that sorts `12_nanolean_valid` after `5_nanolean_valid`."""
    step, _, dataset = path.parent.name.partition("_")
    if not step.isdigit():
        step, dataset = "-1", ""
    return str(path.parent.parent), int(step), dataset, str(path)


def _run_records(run: Path) -> Iterator[Record]:
    """Yield the attempts of collection in their order, as the index tells of them."""
    index, trees = AttemptIndex(run), set(kept_trees(run))
    index.poll()
    # Ranks write logs of their own, which the numbers put into the order that learning took them in.
    for entry in sorted(index.entries, key=lambda entry: entry.number):
        yield Record(
            *(attempts_file(run, entry.rank), "collect", entry.dataset, entry.id, entry.outcome, entry.tactics),
            partial(_logged, run, entry),
            entry.number,
            entry.number in trees,
        )


def _logged(run: Path, entry: IndexEntry) -> Attempt:
    try:
        return attempt_of(read_record(run, entry))
    except ValueError as error:
        file = attempts_file(run, entry.rank)
        raise UserError(f"{file} has no attempt at byte {entry.at}: {error}") from error


def _file_records(path: Path) -> Iterator[Record]:
    if path.suffix == ".lean":
        yield _exported(path)
        return
    if path.suffix not in (".jsonl", ".json"):
        raise UserError(f"{path}: attempts are in files .jsonl, .json or .lean")
    for number, record in enumerate(read_jsonl(path), start=1):
        try:
            if isinstance(record, dict) and "number" in record:
                yield _in_memory(path, "collect", attempt_of(record), number_of(record))
            else:
                yield _in_memory(path, "evaluate", Attempt.from_json(record))
        except ValueError as error:
            raise UserError(f"{path}, record {number}: not an attempt: {error}") from error


def _in_memory(path: Path, origin: Origin, attempt: Attempt, number: tuple[int, int, int] | None = None) -> Record:
    """Make a record whose attempt is in memory."""
    theorem, has_tree = attempt.theorem, attempt.tree is not None
    about = (theorem.dataset, theorem.id, attempt.outcome, attempt.num_tactics)
    return Record(path, origin, *about, lambda: attempt, number, has_tree)


def _exported(path: Path) -> Record:
    try:
        source = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read: {error}") from error
    theorem = Theorem(source, path.parent.parent.name, path.stem)
    # A file does not say how it was found: it is a proof, and no more is known.
    return _in_memory(path, "export", Attempt(theorem, "proven", source=source.rstrip()))
