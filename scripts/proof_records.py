"""Attempts as runs and evaluations leave them behind, wherever they lie.

records("rl/<run>")     # attempts_r*.jsonl, evals/*/results.jsonl, eval_*/results.jsonl, proofs/*.lean
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from nanoproof.common.errors import UserError
from nanoproof.common.files import read_jsonl
from nanoproof.common.run_dir import home
from nanoproof.lean.theorem import Theorem
from nanoproof.prover.attempt import Attempt
from nanoproof.selfplay.attempt_stream import attempt_of
from nanoproof.selfplay.records.attempt_index import attempt_logs

RESULTS = "results.jsonl"
Origin = Literal["collect", "evaluate", "export"]


@dataclass(frozen=True)
class Record:
    """An attempt, the file it comes from, and the collection step if it was one of collection."""

    path: Path
    origin: Origin
    attempt: Attempt
    step: int | None = None

    @property
    def where(self) -> str:
        """Its place in a word or two."""
        if self.origin == "collect":
            return f"step {self.step}"
        return self.path.parent.name

    def to_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {"path": str(self.path), "origin": self.origin, "step": self.step, **self.attempt.to_json()}


def find(text: str) -> Path:
    """A run, an evaluation or a file: absolute, relative to here, or to `home()`. Raises UserError."""
    for path in (Path(text).expanduser(), home() / text):
        if path.exists():
            return path
    raise UserError(f"{text}: nothing there, nor below {home()}")


def records(text: str, wants: Callable[[Record], bool] = lambda record: True) -> list[Record]:
    """The wanted attempts at a place: those of collection in their order, then evaluations, then files.

    Proofs that were written beside the results they are from are not counted twice. Raises UserError if there is no
    attempt at all.
    """
    path = find(text)
    seen = 0
    found: list[Record] = []
    for record in _of_file(path) if path.is_file() else _of_directory(path):
        seen += 1
        if wants(record):
            found.append(record)
    if not seen:
        raise UserError(f"{path} holds no attempts (attempts_r*.jsonl, {RESULTS}, *.lean)")
    return sorted(found, key=_place)


def _place(record: Record) -> tuple[bool, str, int, str]:
    """Attempts of collection first, by run, step and rank; the rest stays in its order."""
    if record.origin != "collect":
        return True, "", 0, ""
    return False, str(record.path.parent), record.step or 0, record.path.name


def _of_directory(path: Path) -> Iterator[Record]:
    results = sorted(path.rglob(RESULTS), key=_natural)
    runs = sorted({file.parent for file in path.rglob("attempts_r*.jsonl")})
    for file in [*(file for run in runs for file in attempt_logs(run)), *results]:
        yield from _of_file(file)
    covered = {file.parent for file in results}
    for file in sorted(path.rglob("*.lean")):
        if covered.isdisjoint(file.parents):
            yield from _of_file(file)


def _natural(path: Path) -> tuple[str, int, str]:
    """`12_nanolean_valid` after `5_nanolean_valid`."""
    number, _, rest = path.parent.name.partition("_")
    return (str(path.parent.parent), int(number), rest) if number.isdigit() else (str(path.parent), -1, "")


def _of_file(path: Path) -> Iterator[Record]:
    if path.suffix == ".lean":
        yield _exported(path)
        return
    if path.suffix not in (".jsonl", ".json"):
        raise UserError(f"{path}: attempts are in files .jsonl, .json or .lean")
    for number, record in enumerate(read_jsonl(path), start=1):
        try:
            step = record["number"]["step"] if "number" in record else None
            yield Record(path, "evaluate" if step is None else "collect", attempt_of(record), step)
        except (KeyError, TypeError, AttributeError) as error:
            raise UserError(f"{path}, record {number}: not an attempt: {type(error).__name__}: {error}") from error


def _exported(path: Path) -> Record:
    try:
        source = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read: {error}") from error
    theorem = Theorem(source, path.parent.parent.name, path.stem)
    return Record(path, "export", Attempt(theorem, "proven", source=source.rstrip()))
