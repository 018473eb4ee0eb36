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
from nanoproof.common.errors import UserError, cannot
from nanoproof.common.files import cut_name
from nanoproof.common.retired import without_retired
from nanoproof.common.run_dir import RunLock, read_lock
from nanoproof.evaluation.summary import count_outcome, plot_curve, summarize, theorem_key, theorem_set_hash
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
"""A lock of another machine that was not renewed for so long is that of a process that is gone."""
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
        settings: dict[str, Any] = {
            "dataset": self.dataset,
            "split": self.split,
            "theorems": len(theorems),
            "theorem_set": theorem_set_hash(theorems),
            "lean": self.lean,
            "policy": self.policy,
        }
        # What came later than the first evaluations is left out where it does not apply: their files stay as they were.
        if self.served_model is not None:
            settings["served_model"] = self.served_model
        settings |= {"model_sha256": self.model_sha256, "dtype": self.dtype}
        settings |= self.whole or {"num_simulations": self.num_simulations}
        settings["seed"] = self.seed
        if self.retry_timeouts is not None:
            settings[RETRY_TIMEOUTS] = self.retry_timeouts
        if self.text_model is not None:
            settings["text_model"] = self.text_model
        settings |= self.premises or {}
        if self.solvers is not None:
            settings["solvers"] = list(self.solvers)
        if self.sampling is not None:
            settings |= to_dict(self.sampling)
        if self.whole is None:
            settings |= with_search_defaults({}, self.search)
        return settings


def with_search_defaults(settings: Mapping[str, Any], search: SearchConfig | None = None) -> dict[str, Any]:
    """Add to the settings of an earlier evaluation the options that came later, which had their defaults.

    Those that are gone and were off are left out; one that was on is a setting that differs from any of today.
    """
    settings = without_retired(settings)
    if WHOLE in settings:
        return settings
    defaults: dict[str, Any] = {}
    # `top_p` came later than `temperature`, which every evaluation has that samples from a model.
    if "temperature" in settings:
        defaults["top_p"] = 1.0
    for name, value in to_dict(search or SearchConfig()).items():
        defaults[f"search_{name}"] = value
    return defaults | settings


def refuse_earlier(path: Path) -> None:
    """Raise UserError if there are results of an evaluation in a directory where a new one is to go."""
    if _holds_something(path):
        raise UserError(f"{path} holds earlier results; --continue adds to them, --force overwrites them")


class EvaluationFiles:
    """One evaluation of `theorems` under `settings`, at `path`; `plain` are the settings as JSON data."""

    def __init__(self, path: Path, theorems: Sequence[Theorem], settings: EvalSettings) -> None:
        self.path, self.theorems, self.settings = Path(path), theorems, settings
        self.plain = settings.to_json(theorems)
        self._keys = list(map(theorem_key, theorems))
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
        earlier.setdefault(RETRY_TIMEOUTS, self.plain.get(RETRY_TIMEOUTS))
        changes = []
        for name in {RETRY_TIMEOUTS: None, **earlier, **self.plain}:
            before, now = earlier.get(name), self.plain.get(name)
            if before != now:
                changes.append(_change(name, before, now))
        if changes:
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
        # Said, not refused: an evaluation of days must survive an update of the system.
        if any(part.get("versions") != about.get("versions") for part in parts):
            log.warning("%s continues under other versions than before; its summary lists both", self.path)
        self._record = {"settings": self.plain, "parts": [*parts, {**about, "started": round(time.time(), 1)}]}
        with cannot(f"write to {self.path}"):
            self.path.mkdir(parents=True, exist_ok=True)
            (self.path / SUMMARY).unlink(missing_ok=True)  # first: what has a summary counts as over
            files.atomic_write_json(self.path / SETTINGS, self._record)  # before any results, which need it to go on
            self._gather()
        return todo

    def complete(self) -> bool:
        """Return whether the evaluation is over and none of its attempts ended in an error."""
        return (self.path / SUMMARY).exists() and not self._missing()

    def _missing(self) -> list[int]:
        """List what has no result, or ended in an error: indices of theorems."""
        attempts = self.attempts()
        missing = []
        for index, key in enumerate(self._keys):
            if key not in attempts or attempts[key].outcome == "error":
                missing.append(index)
        return missing

    def read_summary(self) -> dict[str, Any]:
        """Read the summary of an evaluation that is over."""
        return files.read_json(self.path / SUMMARY)

    def writer(self, rank: int) -> "ResultWriter":
        """Open the file that a rank writes its attempts to."""
        # A file for each rank: on a network's file system lines that several machines append get mixed up.
        name = RESULTS if rank == 0 else f"results_r{rank}.jsonl"
        return ResultWriter(self.path, name, self._names())

    def attempts(self) -> dict[str, Attempt]:
        """Read the attempts by the keys of their theorems: of each the newest without an error, else the newest."""
        keys = set(self._keys)
        newest: dict[str, Attempt] = {}
        for file in result_files(self.path):
            for attempt in read_attempts(file):
                key = theorem_key(attempt.theorem)
                earlier = newest.get(key)
                # An error says nothing of the theorem, so it replaces no verdict.
                hides_verdict = attempt.outcome == "error" and earlier is not None and earlier.outcome != "error"
                if key in keys and not hides_verdict:
                    newest[key] = attempt
        return newest

    def progress(self) -> str:
        """Describe what is done, errors not counted, and what of it is solved."""
        outcomes = Counter(attempt.outcome for attempt in self.attempts().values())
        done = outcomes.total() - outcomes["error"]
        return f"{done} of {len(self.theorems)} theorems are done ({outcomes['proven']} solved)"

    def finish(self, seconds: float, extra: dict[str, Any] | None = None) -> dict[str, Any]:
        """Put the results in order and write proofs, curve and summary. Returns the summary. One rank calls it."""
        self._gather()
        by_key = self.attempts()
        missing = set(self._keys) - by_key.keys()
        assert not missing, f"{len(missing)} theorems have no result"
        attempts = [by_key[key] for key in self._keys]
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
        # Last of all: until then a kill leaves an evaluation that `--continue` ends.
        files.atomic_write_json(self.path / SUMMARY, summary)
        return summary

    def _require_verdicts(self, attempts: Sequence[Attempt]) -> None:
        """Raise UserError if every attempt ended in an error: a score of nothing would look like one of 0%."""
        if count_outcome(attempts, "error") < len(attempts):
            return
        (message, count), *_ = Counter(attempt.message for attempt in attempts).most_common()
        errors = f"errors ({count} of them)" if count < len(attempts) else "errors"
        what = f"{self.settings.dataset} {self.settings.split} has no score"
        raise UserError(f"{what}, as all attempts ended in {errors}: {message}")

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
        attempts = self.attempts()
        self.path.mkdir(parents=True, exist_ok=True)
        text = "".join(files.json_line(attempts[key].to_json()) for key in self._keys if key in attempts)
        files.atomic_write(self.path / RESULTS, lambda file: file.write(text.encode("utf-8")))
        # Only now: a kill before leaves lines twice, of which one counts.
        for file in self.path.glob(PARTS):
            file.unlink()

    def _write_proofs(self, attempts: Sequence[Attempt]) -> None:
        names = self._names()
        texts = {}
        for attempt in attempts:
            if attempt.outcome == "proven":
                texts[names[theorem_key(attempt.theorem)]] = attempt.source + "\n"
        (self.path / PROOFS).mkdir(exist_ok=True)
        # Proofs of attempts that were tried again without success, or of an evaluation that was overwritten.
        for file in (self.path / PROOFS).glob("*.lean"):
            if file.name not in texts:
                file.unlink()
        for name, text in texts.items():
            file = self.path / PROOFS / name
            if not file.exists() or file.read_text(encoding="utf-8") != text:
                files.atomic_write_text(file, text)

    def _names(self) -> dict[str, str]:
        return proof_names(self.theorems)

    def _clear(self) -> None:
        # Only what an evaluation writes: a directory that somebody named by mistake loses nothing else.
        for pattern in (SUMMARY, SETTINGS, CURVE, RESULTS, PARTS, f"{PROOFS}/*.lean", f"{PROOFS}/*.ndjson*"):
            for file in self.path.glob(pattern):
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
    return [*path.glob(RESULTS), *sorted(path.glob(PARTS))]


class ResultWriter:
    """Writes the attempts of one rank as they end, as a context manager.

    Each line is with the operating system before `add` returns. Search trees, of attempts that have one, are written
    beside them: of the first MAX_TREES proofs, and of as many other attempts.
    """

    def __init__(self, path: Path, name: str, proofs: dict[str, str]) -> None:
        self._proofs, self._names = path / PROOFS, proofs
        self._writer = files.JsonlWriter(path / name)
        self._written: set[str] = set()
        self._trees = path / TREES
        self._kept = Counter[bool]()
        """How many trees were written of proofs (True) and of other attempts."""

    def add(self, attempt: Attempt) -> None:
        """Write an attempt, its proof if it has one, and perhaps its tree."""
        record, key, proven = attempt.to_json(), theorem_key(attempt.theorem), attempt.outcome == "proven"
        tree = record.pop("tree", None)  # up to megabytes, in a file that is read again at every `--continue`
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
            with cannot(f"write to {path}"):
                path.mkdir(parents=True, exist_ok=True)
                signs = read_lock(path)
                silent = signs is not None and time.time() - signs.heartbeat > SILENT_SECONDS
                stack.callback(RunLock(path, force=silent).release)
        yield


def proof_names(theorems: Sequence[Theorem]) -> dict[str, str]:
    """Name a file for the proof of each theorem, by its key: its id, with a hash where that is no name of its own."""
    ids = {theorem_key(theorem): theorem.id for theorem in theorems}
    plain: dict[str, str] = {}
    uses = Counter[str]()
    for key, theorem_id in ids.items():
        plain[key] = cut_name(re.sub(r"[^\w.'+-]|^\.", "_", theorem_id))
        uses[plain[key].lower()] += 1  # some file systems do not tell cases apart
    names = {}
    for key, name in plain.items():
        is_unique = name and name == ids[key] and uses[name.lower()] == 1
        names[key] = f"{name}.lean"
        if not is_unique:
            names[key] = f"{name}-{key[:8]}.lean"
    return names


def _change(name: str, earlier: Any, now: Any) -> str:
    label = NO_FLAGS.get(name, f"--{name.replace('_', '-')}")
    return f"{label} was {_shown(earlier)}, is {_shown(now)}"


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
