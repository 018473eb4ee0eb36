"""The directory of an evaluation: its settings, results as they come, and the summary in the end.

    settings.json       what was evaluated and how; what a continued evaluation must agree with
    results.jsonl       an attempt per line, appended as it ends; meanwhile other ranks write results_r<rank>.jsonl
    proofs/*.lean       the checked text of every proof
    proofs/*.ndjson     its certificate for external checkers (NanoLean only; .ndjson.gz where it is large)
    trees/*.json.gz     search trees of the first 100 proofs and of 100 failures of each rank
    summary.json        the score; written last, so without it the evaluation is not over
    curve.png           solved theorems by simulations

Whatever was written before a process was killed counts when the evaluation continues. Ranks share the directory.
"""

import gzip
import logging
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from nanoproof.common import files
from nanoproof.common.config import to_dict
from nanoproof.common.errors import UserError
from nanoproof.common.retired import without_retired
from nanoproof.common.run_dir import RunLock, read_lock
from nanoproof.evaluation.summary import plot_curve, summarize, theorem_key, theorem_set_hash
from nanoproof.lean.embedded import write_certificates
from nanoproof.lean.project.layout import EMBEDDED_LEAN
from nanoproof.lean.types import Theorem
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.prover.attempt import Attempt
from nanoproof.search.config import SearchConfig

log = logging.getLogger(__name__)

SUMMARY, SETTINGS, RESULTS, PROOFS, CURVE = "summary.json", "settings.json", "results.jsonl", "proofs", "curve.png"
TREES, MAX_TREES, MAX_TREE_NODES = "trees", 100, 20_000
PARTS = "results_r*.jsonl"
SILENT_SECONDS = 180.0
NO_FLAGS = {
    "theorem_set": "set of theorems",
    "theorems": "number of theorems",
    "model_sha256": "model",
    "served_model": "model of the policy server",
    "text_model": "model, or how it is asked",
    "dtype": "number type (NANOPROOF_DTYPE, --cpu-dtype, --engine-backend)",
    "lean": "Lean version",
    "dataset": "data set",
}
WHOLE = "whole_proofs"
"""A setting that only evaluations by whole proofs have."""
RETRY_TIMEOUTS = "retry_timeouts"
"""A setting that older evaluations do not have; they may continue with it or without."""
Mode = Literal["new", "continue", "force"]


@dataclass(frozen=True)
class EvalSettings:
    """Everything that decides what an evaluation of a list of theorems finds."""

    dataset: str
    split: str
    num_simulations: int
    seed: int
    search: SearchConfig = field(default_factory=SearchConfig)
    policy: str = "model"
    sampling: SamplingConfig | None = None
    """How the model is sampled; None where the policy has none."""
    solvers: tuple[str, ...] | None = None
    """The tactics of the policy solver-only."""
    model_sha256: str | None = None
    served_model: dict[str, Any] | None = None
    """How a policy server describes its model."""
    dtype: str | None = None
    lean: str | None = None
    retry_timeouts: bool | None = None
    """Whether tactics that ran out of time are tried once more; None where that is not offered."""
    whole: dict[str, Any] | None = None
    """How whole proofs are sampled, by the names of the flags; None for a search."""
    text_model: dict[str, Any] | None = None
    """How a model of others was asked, and whose values were taken; None where there is nothing to say of that."""

    premises: dict[str, Any] | None = None
    """How many premises are put before a state, and which retriever finds them; None for none."""

    def to_json(self, theorems: Sequence[Theorem]) -> dict[str, Any]:
        """Return JSON data, by the names of the flags where there are any; `theorems` are those evaluated on."""
        return {
            "dataset": self.dataset,
            "split": self.split,
            "theorems": len(theorems),
            "theorem_set": theorem_set_hash(theorems),
            "lean": self.lean,
            "policy": self.policy,
            **({"served_model": self.served_model} if self.served_model is not None else {}),
            "model_sha256": self.model_sha256,
            "dtype": self.dtype,
            **({"num_simulations": self.num_simulations} if self.whole is None else self.whole),
            "seed": self.seed,
            **({RETRY_TIMEOUTS: self.retry_timeouts} if self.retry_timeouts is not None else {}),
            **({"text_model": self.text_model} if self.text_model is not None else {}),
            **(self.premises or {}),
            **({"solvers": list(self.solvers)} if self.solvers is not None else {}),
            **(to_dict(self.sampling) if self.sampling is not None else {}),
            **({} if self.whole is not None else with_search_defaults({}, self.search)),
        }


def with_search_defaults(settings: Mapping[str, Any], search: SearchConfig | None = None) -> dict[str, Any]:
    """Add to the settings of an earlier evaluation the options that came later, which had their defaults.

    Those that are gone and were off are left out; one that was on is a setting that differs from any of today.
    """
    settings = without_retired(settings)
    if WHOLE in settings:
        return settings
    sampling = {"top_p": 1.0} if "temperature" in settings else {}
    searched = {f"search_{name}": value for name, value in to_dict(search or SearchConfig()).items()}
    return {**sampling, **searched, **settings}


def refuse_earlier(path: Path) -> None:
    """Raise UserError if there are results of an evaluation in a directory where a new one is to go."""
    if _holds_something(path):
        raise UserError(f"{path} holds earlier results; --continue adds to them, --force overwrites them")


class EvaluationFiles:
    """One evaluation of `theorems` under `settings`, at `path`; `plain` are the settings as JSON data."""

    def __init__(self, path: Path, theorems: Sequence[Theorem], settings: EvalSettings) -> None:
        self.path, self.theorems, self.settings = Path(path), theorems, settings
        self.plain = settings.to_json(theorems)
        self._keys = [theorem_key(theorem) for theorem in theorems]
        self._record: dict[str, Any] = {}

    def check(self, mode: Mode) -> None:
        """Raise UserError if the directory holds an evaluation that `mode` does not allow to continue or replace."""
        if mode == "force" or not _holds_something(self.path):
            return
        if mode == "new":
            refuse_earlier(self.path)
        if not (self.path / SETTINGS).exists():
            raise UserError(f"{self.path} holds results without {SETTINGS}, which --continue needs; --force overwrites")
        earlier = with_search_defaults(files.read_json(self.path / SETTINGS)["settings"])
        earlier = {RETRY_TIMEOUTS: self.plain.get(RETRY_TIMEOUTS), **earlier}
        names = [name for name in {**earlier, **self.plain} if earlier.get(name) != self.plain.get(name)]
        if names:
            changes = [_change(name, earlier.get(name), self.plain.get(name)) for name in names]
            raise UserError(
                f"--continue: the evaluation in {self.path} had other settings: {'; '.join(changes)}; "
                "give the same, or --force to overwrite it"
            )

    def begin(self, about: dict[str, Any], mode: Mode) -> list[int]:
        """Begin; returns the indices of the theorems to try: all, or (mode "continue") errors and missing ones.

        `about` is what may differ from part to part: versions, machine, servers. One rank calls it.
        """
        self.check(mode)
        if mode == "force":
            self._clear()
        todo = self._missing()
        parts = self._earlier_parts()
        if any(part.get("versions") != about.get("versions") for part in parts):
            log.warning("%s continues under other versions than before; its summary lists both", self.path)
        self._record = {"settings": self.plain, "parts": [*parts, {**about, "started": round(time.time(), 1)}]}
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            (self.path / SUMMARY).unlink(missing_ok=True)
            files.atomic_write_json(self.path / SETTINGS, self._record)  # before any results, which need it to go on
            self._gather()
        except OSError as error:
            raise UserError(f"cannot write to {self.path}: {error.strerror}") from error
        return todo

    def complete(self) -> bool:
        """Return whether the evaluation is over and none of its attempts ended in an error."""
        return (self.path / SUMMARY).exists() and not self._missing()

    def _missing(self) -> list[int]:
        """List what has no result, or ended in an error: indices of theorems."""
        found = self.attempts()
        return [index for index, key in enumerate(self._keys) if key not in found or found[key].outcome == "error"]

    def read_summary(self) -> dict[str, Any]:
        """Read the summary of an evaluation that is over."""
        summary: dict[str, Any] = files.read_json(self.path / SUMMARY)
        return summary

    def writer(self, rank: int) -> "ResultWriter":
        """Open the file that a rank writes its attempts to."""
        return ResultWriter(self.path, RESULTS if rank == 0 else f"results_r{rank}.jsonl", self._names())

    def attempts(self) -> dict[str, Attempt]:
        """Read the attempts by the keys of their theorems: of each the newest without an error, else the newest."""
        known = set(self._keys)
        found: dict[str, Attempt] = {}
        for file in result_files(self.path):
            for attempt in read_attempts(file):
                key = theorem_key(attempt.theorem)
                if key in known and not (attempt.outcome == "error" and key in found and found[key].outcome != "error"):
                    found[key] = attempt
        return found

    def progress(self) -> str:
        """Describe what is done, errors not counted, and what of it is solved."""
        done = [attempt for attempt in self.attempts().values() if attempt.outcome != "error"]
        solved = sum(attempt.outcome == "proven" for attempt in done)
        return f"{len(done)} of {len(self.theorems)} theorems are done ({solved} solved)"

    def finish(self, seconds: float, extra: dict[str, Any] | None = None) -> dict[str, Any]:
        """Put the results in order and write proofs, curve and summary. Returns the summary. One rank calls it."""
        self._gather()
        found = self.attempts()
        missing = [key for key in self._keys if key not in found]
        assert not missing, f"{len(missing)} theorems have no result"
        attempts = [found[key] for key in self._keys]
        self._require_verdicts(attempts)
        with aside("the proofs"):
            self._write_proofs(attempts)
        self._record["parts"][-1]["seconds"] = round(seconds, 1)
        files.atomic_write_json(self.path / SETTINGS, self._record)
        total_seconds = sum(part.get("seconds", 0.0) for part in self._record["parts"])
        numbers = self._numbers(attempts, total_seconds)
        names = {name: self.plain[name] for name in ("dataset", "split", "seed")}
        if self.settings.lean == EMBEDDED_LEAN:
            with aside("certificates"):
                numbers["certificates"] = write_certificates(self.path / PROOFS)
        summary = {**names, **numbers, **(extra or {}), **self._record}
        with aside(CURVE):
            plot_curve(summary, self.path / CURVE)
        files.atomic_write_json(self.path / SUMMARY, summary)
        return summary

    def _require_verdicts(self, attempts: Sequence[Attempt]) -> None:
        """Raise UserError if every attempt ended in an error: a score of nothing would look like one of 0%."""
        if not all(attempt.outcome == "error" for attempt in attempts):
            return
        (message, count), *_ = Counter(attempt.message for attempt in attempts).most_common()
        of_all = "" if count == len(attempts) else f" ({count} of them)"
        what = f"{self.settings.dataset} {self.settings.split} has no score"
        raise UserError(f"{what}, as all attempts ended in errors{of_all}: {message}")

    def _numbers(self, attempts: Sequence[Attempt], seconds: float) -> dict[str, Any]:
        return summarize(attempts, self.settings.num_simulations, seconds)

    def _earlier_parts(self) -> list[dict[str, Any]]:
        """Read the records of the parts so far; the time of one that was killed is that until its last result."""
        if not (self.path / SETTINGS).exists():
            return []
        parts: list[dict[str, Any]] = files.read_json(self.path / SETTINGS)["parts"]
        if parts and "seconds" not in parts[-1]:
            last = max((file.stat().st_mtime for file in result_files(self.path)), default=0.0)
            parts[-1]["seconds"] = round(max(0.0, last - parts[-1]["started"]), 1)
        return parts

    def _gather(self) -> None:
        """Write the known attempts to `results.jsonl`, in the order of the theorems; other ranks' files go then."""
        found = self.attempts()
        self.path.mkdir(parents=True, exist_ok=True)
        text = "".join(files.json_line(found[key].to_json()) for key in self._keys if key in found)
        files.atomic_write(self.path / RESULTS, lambda file: file.write(text.encode("utf-8")))
        for file in self.path.glob(PARTS):
            file.unlink()

    def _write_proofs(self, attempts: Sequence[Attempt]) -> None:
        names = self._names()
        wanted = {names[theorem_key(a.theorem)]: a.source + "\n" for a in attempts if a.outcome == "proven"}
        (self.path / PROOFS).mkdir(exist_ok=True)
        for file in (self.path / PROOFS).glob("*.lean"):
            if file.name not in wanted:
                file.unlink()
        for name, text in wanted.items():
            file = self.path / PROOFS / name
            if not file.exists() or file.read_text(encoding="utf-8") != text:
                files.atomic_write_text(file, text)

    def _names(self) -> dict[str, str]:
        return proof_names(self.theorems)

    def _clear(self) -> None:
        for file in [
            *(self.path / name for name in (SUMMARY, SETTINGS, CURVE, RESULTS)),
            *self.path.glob(PARTS),
            *self.path.glob(f"{PROOFS}/*.lean"),
            *self.path.glob(f"{PROOFS}/*.ndjson*"),
        ]:
            file.unlink(missing_ok=True)


def read_attempts(file: Path) -> Iterator[Attempt]:
    """Read the attempts of a file one by one; raises UserError if there is something else in it."""
    for record in files.read_jsonl(file):
        try:
            yield Attempt.from_json(record)
        except ValueError as error:
            raise UserError(f"{file} holds something that is no attempt: {error}") from error


def _holds_something(path: Path) -> bool:
    return any((path / name).exists() for name in (SUMMARY, SETTINGS)) or bool(result_files(path))


def result_files(path: Path) -> list[Path]:
    """List the files with the results so far: that of the first rank, and those of the others."""
    whole = path / RESULTS
    return [*([whole] if whole.exists() else []), *sorted(path.glob(PARTS))]


class ResultWriter:
    """Writes the attempts of one rank as they end, as a context manager.

    Each line is with the operating system before `add` returns. Search trees, of attempts that have one, are written
    beside them: of the first MAX_TREES proofs, and of as many other attempts.
    """

    def __init__(self, path: Path, name: str, proofs: dict[str, str]) -> None:
        self._proofs, self._names = path / PROOFS, proofs
        self._writer = files.JsonlWriter(path / name)
        self._written: set[str] = set()
        self._trees, self._kept = path / TREES, Counter[bool]()

    def add(self, attempt: Attempt) -> None:
        """Write an attempt, its proof if it has one, and perhaps its tree."""
        record, key, proven = attempt.to_json(), theorem_key(attempt.theorem), attempt.outcome == "proven"
        tree = record.pop("tree", None)
        self._writer.write(record)
        if proven and key not in self._written:
            self._written.add(key)
            with aside(self._names[key]):
                files.atomic_write_text(self._proofs / self._names[key], attempt.source + "\n")
        if tree is not None and self._kept[proven] < MAX_TREES and len(tree["kind"]) <= MAX_TREE_NODES:
            self._kept[proven] += 1
            content = files.json_line({"theorem": record["theorem"], "tree": tree}).encode("utf-8", "replace")
            file = self._trees / f"{self._names[key].removesuffix('.lean')}.json.gz"
            with aside(file.name):
                file.parent.mkdir(exist_ok=True)
                files.atomic_write(file, lambda out: out.write(gzip.compress(content, 6)), sync=False)

    def __enter__(self) -> "ResultWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._writer.close()


@contextmanager
def aside(what: str) -> Iterator[None]:
    """Go on with a warning where a file cannot be written that others can be made from, as on a full disk."""
    try:
        yield
    except OSError as error:
        log.warning("%s cannot be written, the evaluation goes on: %s", what, error.strerror or error)


@contextmanager
def locked(paths: Sequence[Path]) -> Iterator[None]:
    """Keep other processes from evaluating into directories meanwhile, which are made. Raises UserError if one does.

    The lock of another machine is taken over once it has been silent for some minutes: its process is gone.
    """
    with ExitStack() as stack:
        for path in paths:
            try:
                path.mkdir(parents=True, exist_ok=True)
                signs = read_lock(path)
                silent = signs is not None and time.time() - signs.heartbeat > SILENT_SECONDS
                stack.callback(RunLock(path, force=silent).release)
            except OSError as error:
                raise UserError(f"cannot write to {path}: {error.strerror}") from error
        yield


def proof_names(theorems: Sequence[Theorem]) -> dict[str, str]:
    """Name a file for the proof of each theorem, by its key: its id, with a hash where that is no name of its own."""
    plain = {theorem_key(theorem): re.sub(r"[^\w.'+-]|^\.", "_", theorem.id)[:120] for theorem in theorems}
    uses = Counter(name.lower() for name in plain.values())
    ids = {theorem_key(theorem): theorem.id for theorem in theorems}
    return {
        key: f"{name}.lean" if name and name == ids[key] and uses[name.lower()] == 1 else f"{name}-{key[:8]}.lean"
        for key, name in plain.items()
    }


def _change(name: str, earlier: Any, now: Any) -> str:
    label = NO_FLAGS.get(name, f"--{name.replace('_', '-')}")
    return f"{label} was {_shown(earlier)}, is {_shown(now)}"


def _shown(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else "none" if value is None else str(value)
