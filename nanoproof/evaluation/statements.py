"""Statements and results as the Self-play Theorem Prover stores them: reading its data sets, writing what it reads.

A row of a data set has a `formal_statement` (Lean text up to a `sorry`), a `split`, and maybe `tags`, `name` and a
`header`. A result has the statement, the proof, and the verdict: `pass` where Lean reads the text without an error,
`complete` where it is a proof, `system_messages` where there is no verdict. Here a proof has passed every rung of our
final check; `complete` elsewhere may mean less.
"""

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write, json_line, read_json
from nanoproof.data.theorems.theorem_sets import json_rows, jsonl_rows, text_field
from nanoproof.evaluation.results import read_attempts
from nanoproof.lean.file_theorems import unusable_because
from nanoproof.lean.lexical import mask
from nanoproof.lean.source import sorries
from nanoproof.lean.types import Theorem
from nanoproof.policy.prompt_formats import theorem_under
from nanoproof.prover.attempt import Attempt

FAILED_TEST = "test failed"
"""What `system_errors` says of an attempt without a verdict."""
_READ_BY_LEAN = ("no_sorry", "axioms", "one_block", "statement")
"""Rungs of the final check that come after Lean has read the text without an error."""


@dataclass(frozen=True)
class Statement:
    """A row of a data set: Lean text up to where the proof begins, what precedes it, and its labels."""

    statement: str
    header: str | None = None
    label: tuple[str, ...] = ()

    def theorem(self, theorem_id: str, dataset: str = "") -> Theorem:
        """Return the theorem to prove, under its header: None is the default one, "" is none."""
        return theorem_under(self.header, self.statement, dataset, theorem_id)

    def to_json(self) -> dict[str, Any]:
        """Convert to plain JSON data."""
        return {"statement": self.statement, "header": self.header, "label": list(self.label)}


def read_statements(path: Path) -> list[Statement]:
    """Read the rows of a JSON list or of JSONL (`.jsonl`). Raises UserError for what is neither."""
    if not path.is_file():
        raise UserError(f"no such file of statements: {path}")
    rows = jsonl_rows(path) if path.suffix == ".jsonl" else json_rows(path)
    return [_statement(row, place) for place, row in rows]


def _statement(row: Mapping[str, Any], place: str) -> Statement:
    # Rows of data sets have `formal_statement`, `split` and `tags`; conjectures and results have the other two names.
    field = "statement" if "statement" in row else "formal_statement"
    text = text_field(dict(row), field, place)
    # The last `sorry` of the code is where the proof goes: one may be in a comment or a name. A conjecture has none.
    if gaps := sorries(mask(text)):
        text = text[: gaps[-1].start()]
    header, tags, split = row.get("header"), row.get("tags") or (), row.get("split")
    labels = row.get("label")
    if not labels:
        labels = [tags] if isinstance(tags, str) else list(tags)
        if split:
            labels.insert(0, split)
    if not (header is None or isinstance(header, str)) or not all(isinstance(label, str) for label in labels):
        raise UserError(f"{place}: `header` must be a text, and `split`, `tags` and `label` texts")
    return Statement(text.strip(), header, tuple(labels))


@dataclass(frozen=True)
class DatasetEntry:
    """An entry of a data-set configuration: a file, and how many samples of each statement there are to be."""

    path: Path
    weight: int


def read_dataset_config(path: Path) -> list[DatasetEntry]:
    """Read a list of `{"dataset_path": FILE, "weight": N}`; files are relative to the configuration or to here.

    Raises UserError for anything else.
    """
    data_sets = read_json(path)
    if not isinstance(data_sets, list) or not data_sets:
        raise UserError(f"{path} must hold a list of data sets")
    entries = []
    for number, entry in enumerate(data_sets, start=1):
        file, weight = None, 1
        if isinstance(entry, dict):
            file, weight = entry.get("dataset_path"), entry.get("weight", 1)
        if not isinstance(file, str) or isinstance(weight, bool) or not isinstance(weight, int) or weight < 1:
            raise UserError(f'{path}, entry {number}: expected {{"dataset_path": FILE, "weight": N}}')
        data_set = path.parent / file
        if not data_set.exists():
            data_set = Path(file)
        entries.append(DatasetEntry(data_set, weight))
    return entries


def theorem_line(theorem: Theorem) -> str:
    """Return the line of a theorem in a file of theorems, with what a model's prompt shows of its row."""
    row = {"id": theorem.id, "source": theorem.source}
    if theorem.as_written:
        row["as_written"] = theorem.as_written
    return json_line(row)


def write_theorems(path: Path, statements: Sequence[Statement]) -> dict[str, str]:
    """Write the statements that can be worked with as a file of theorems (JSONL), with their numbers as ids.

    Returns the reasons for those that cannot, by their numbers.
    """
    reasons, lines = {}, []
    for number, statement in enumerate(statements):
        theorem = statement.theorem(str(number))
        if (reason := unusable_because(theorem.source)) is not None:
            reasons[str(number)] = reason
        else:
            lines.append(theorem_line(theorem))
    atomic_write(path, lambda file: file.write("".join(lines).encode("utf-8", "surrogatepass")))
    return reasons


# -- Results ---------------------------------------------------------------------------------------------------------


def verdict_of(attempt: Attempt) -> dict[str, Any]:
    """Return the fields of a result for an attempt at a whole proof."""
    proven, reason = attempt.outcome == "proven", attempt.message
    # A text with `sorry` or `admit` is refused before Lean reads it, by a rung that names the word.
    gap = attempt.stop_reason == "no_sorry" or "`sorry`" in reason or "`admit`" in reason
    verdict: dict[str, Any] = {
        "proof": attempt.text,
        "complete": proven,
        "pass": proven or attempt.stop_reason in _READ_BY_LEAN,
        "sorries": [],
        "errors": [],
        "verified_code": attempt.source or None,
        "verify_time": attempt.seconds.get("check", 0.0),
        "invokes": list(attempt.premises),
    }
    if gap and not proven:
        verdict["sorries"] = [reason]
    if attempt.outcome == "error" and not attempt.refused:
        # That there are `system_messages` is how readers of these files tell "no verdict".
        return {**verdict, "system_messages": reason, "system_errors": FAILED_TEST}
    if not (proven or verdict["pass"] or gap):
        verdict["errors"] = [reason]
    return verdict


def refused_statement(reason: str) -> dict[str, Any]:
    """Return the fields of a result for a statement that cannot be worked with."""
    return {
        **{"proof": "", "complete": False, "pass": False, "sorries": [], "errors": [reason]},
        **{"verified_code": None, "verify_time": 0.0, "invokes": []},
    }


def generated_proofs(results: Path, statements: Mapping[str, Statement]) -> Iterator[dict[str, Any]]:
    """Yield a record for each sample of `results.jsonl`, given the statements by the ids of their theorems."""
    numbers = {name: number for number, name in enumerate(statements)}
    for attempt in read_attempts(results):
        statement = statements[attempt.theorem.id]
        verdict = verdict_of(attempt)
        yield {
            "lemma_id": numbers[attempt.theorem.id],
            **statement.to_json(),
            **verdict,
            "iter": attempt.sample,
            "multiplicity": 1,
        }


def write_generated(path: Path, records: Iterable[Mapping[str, Any]]) -> int:
    """Write records as gzipped JSONL, atomically; returns their number."""
    count = 0

    def write(file: Any) -> None:
        nonlocal count
        with gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packed:  # no time in it: equal records, equal bytes
            for record in records:
                packed.write(json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")
                count += 1

    atomic_write(path, write)
    return count


def metrics_of(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Count what became of the results, and give shares in percent; zeros for none."""
    total = len(results)
    counts = {"passed": 0, "complete": 0, "has_errors": 0, "has_sorries": 0, "has_system_errors": 0}
    of_label: dict[str, list[Mapping[str, Any]]] = {}
    for result in results:
        counts["passed"] += result["pass"]
        counts["complete"] += result["complete"]
        counts["has_errors"] += bool(result["errors"])
        counts["has_sorries"] += bool(result["sorries"])
        counts["has_system_errors"] += "system_messages" in result
        for label in dict.fromkeys(result["label"]):
            of_label.setdefault(label, []).append(result)
    by_label = {}
    for label, labelled in of_label.items():
        by_label[label] = {
            "total": len(labelled),
            "complete_rate": _percent(sum(result["complete"] for result in labelled), len(labelled)),
            "pass_rate": _percent(sum(result["pass"] for result in labelled), len(labelled)),
        }
    return {
        "total": total,
        "pass_rate": _percent(counts["passed"], total),
        "complete_rate": _percent(counts["complete"], total),
        "error_rate": _percent(counts["has_errors"], total),
        "sorry_rate": _percent(counts["has_sorries"], total),
        "system_error_rate": _percent(counts["has_system_errors"], total),
        "counts": counts,
        "by_label": by_label,
    }


def _percent(count: int, total: int) -> float:
    return 100 * count / max(1, total)
