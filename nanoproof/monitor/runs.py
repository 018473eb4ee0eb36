"""The runs below a folder such as `$NANOPROOF_HOME`: found, and described in one row each from a few small reads."""

import threading
import time
from collections import OrderedDict
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from nanoproof.common.run_dir import FINISHED, LOCK
from nanoproof.evaluation.summary import wilson
from nanoproof.monitor import schema, tail
from nanoproof.monitor.evaluations import MAX_BENCHMARKS, EvaluationStore, benchmark_of, evaluation_state, model_path
from nanoproof.monitor.identity import NOTE_FILE, command_of, planned_steps, read_note, run_state, stage_of, to_time
from nanoproof.monitor.rounds import SELFPLAY_FILE, finished_rounds, is_selfplay, last_heard

MAX_DEPTH = 4
MAX_RUNS = 5000
MAX_FOLDERS = 50_000
_TAIL_BYTES = 64 << 10
_JSON_BYTES = 1 << 20
_LOOK_SECONDS = 2.0
_SIGNS = ("args.json", "metrics.jsonl", "status_r0.json", SELFPLAY_FILE)
"""A folder with one of these is a run; one with folders `eval_*` of evaluations is a run of the stage `evaluation`. The
trainings of the rounds of an experiment of self-play are runs too."""
_NOT_LOOKED_INTO = frozenset({"trees", "evals", "proofs", "data", "models", "tokenizer", "node_modules"})
_PLAIN = ("meta.json", "args.json", "metrics.jsonl", "events.jsonl", "status_r0.json", FINISHED, LOCK)


def is_run(path: Path) -> bool:
    """Tell whether a folder holds a run, or evaluations."""
    return any(tail.file_stat(path / name) for name in _SIGNS) or bool(_evaluations(path))


def is_evaluation(path: Path) -> bool:
    """Tell whether a folder is an evaluation itself."""
    return all(tail.file_stat(path / name) for name in ("settings.json", "results.jsonl"))


def _evaluations(path: Path) -> list[Path]:
    """Return the evaluations in a folder, such as scripts.prover_eval writes."""
    named = [folder for folder in tail.folders_in(path) if folder.name.startswith(("eval_", "whole_"))]
    return [folder for folder in named if tail.file_stat(folder / "settings.json")]


class RunList:
    """Follows the runs below a folder; each is read again when one of its files has changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        self._lock = threading.Lock()
        self._names: list[str] = []
        self._looked = float("-inf")
        self._rows: dict[str, tuple[list[tail.Stamp], schema.RunRow]] = {}

    def path(self, name: str) -> Path | None:
        """Return the folder of a run of this name; None if there is no such run."""
        # Only names of the list: any other would be a way to read folders elsewhere. A run may have begun just now.
        if name in self.names() or name in self.names(again=True):
            return self.folder / name
        return None

    def names(self, again: bool = False) -> list[str]:
        """Return the names of all runs: their folders below `folder`."""
        with self._lock:
            if again or time.monotonic() - self._looked > _LOOK_SECONDS:
                self._names = [str(path.relative_to(self.folder)) for path in self._find()]
                self._looked = time.monotonic()
            return self._names

    def _find(self) -> Iterator[Path]:
        runs, looked_at = 0, 0
        level = [self.folder]
        # Level by level: if a folder is too large to be looked through, runs near its top are there all the same.
        for depth in range(MAX_DEPTH):
            below: list[Path] = []
            for folder in level:
                looked_at += 1
                if looked_at > MAX_FOLDERS or runs >= MAX_RUNS:
                    return
                if depth and is_run(folder):
                    runs += 1
                    yield folder
                    if not is_selfplay(folder):
                        continue
                for child in tail.folders_in(folder):
                    if child.name[0] != "." and child.name not in _NOT_LOOKED_INTO:
                        below.append(child)
            level = below

    def runs(self) -> schema.Runs:
        """Return a row for each run, newest first."""
        now = time.time()
        rows = [self._row(name, now) for name in self.names()]
        rows.sort(key=lambda row: (row["updated"] or 0.0, row["name"]), reverse=True)
        return {"folder": str(self.folder), "items": rows, "total": len(rows)}

    def _row(self, name: str, now: float) -> schema.RunRow:
        path = self.folder / name
        if is_selfplay(path):
            row = _selfplay_row(name, path)
            return {**row, **read_note(path), "state": _state(path, row["updated"], now)}
        stamps = [tail.file_stamp(path / file) for file in _PLAIN]
        evaluations: list[Path] = []
        if not any(stamps):  # a run may have evaluations of its own, and is no folder of evaluations for that
            evaluations = _evaluations(path)
            stamps += [tail.file_stamp(evaluation / "summary.json") for evaluation in evaluations]
        stamps.append(tail.file_stamp(path / NOTE_FILE))
        if name not in self._rows or self._rows[name][0] != stamps:
            row = _evaluation_row(name, evaluations) if evaluations else _run_row(name, path)
            self._rows[name] = stamps, {**row, **read_note(path)}
        row = self._rows[name][1]
        # How a run fares depends on the time too, and what an evaluation is of on the other runs.
        if evaluations:
            evaluates = self._run_of(_models(evaluations), path)
            return {**row, "state": evaluation_state(evaluations), "evaluates": evaluates}
        return {**row, "state": _state(path, row["updated"], now)}

    def _run_of(self, models: Collection[str], folder: Path) -> str:
        """Return the name of the run that made one of these checkpoints; empty if it is none of the list.

        Records hold absolute paths, which are wrong once the whole folder was moved or copied: there it is the run of
        that name beside the folder of evaluations.
        """
        for model in models:
            run = Path(model).parent
            for path in (run, folder.parent / run.name):
                if path.is_relative_to(self.folder) and str(path.relative_to(self.folder)) in self._names:
                    return str(path.relative_to(self.folder))
        return ""


def _state(path: Path, updated: float | None, now: float) -> schema.RunState:
    # Of the first rank alone, as a list of 200 runs needs it: it is the last one to stop.
    status = _read(path / "status_r0.json")
    return run_state(path, tail.as_float(status.get("time")), status.get("phase") == "stopped", updated, now)


def _read(file: Path) -> dict[str, Any]:
    """Return the object in a file; empty where there is none."""
    return tail.read_object(file, _JSON_BYTES) or {}


def _models(evaluations: list[Path]) -> list[str]:
    """Return the checkpoints that were evaluated, as far as the evaluations are over."""
    models = {model_path(_read(path / "summary.json")) for path in evaluations}
    return sorted(filter(None, models))


def _last_objects(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the records at the end of a JSONL file, newest first; each is parsed when it is asked for."""
    start = max(0, tail.file_size(file) - _TAIL_BYTES)
    lines = tail.read_range(file, start, _TAIL_BYTES).split(b"\n")
    if start:
        del lines[0]  # it began before
    for line in reversed(lines):
        record = tail.parse_object(line)
        if record is not None:
            yield record


def _run_row(name: str, path: Path) -> schema.RunRow:
    args, meta = _read(path / "args.json"), _read(path / "meta.json")
    newest, events = next(_last_objects(path / "metrics.jsonl"), {}), list(_last_objects(path / "events.jsonl"))
    times = tail.without_none([tail.as_float(record.get("time")) for record in (newest, *events[:1])])
    started = to_time(tail.as_text(meta.get("started")))
    row = {**_empty_row(name, stage_of(command_of(meta))), **_commit(meta)}
    for event in events:
        if event.get("kind") == "evaluation" and event.get("total"):
            row["score"] = _score(event)
            break
    if "step" in newest:
        row["step"] = tail.as_int(newest["step"])
    # A run that a time limit ends has no number of steps to get to.
    if not args.get("max_time"):
        row["num_steps"] = planned_steps(args, meta)
    row["loss"], row["seed"] = tail.as_float(newest.get("loss")), tail.int_or_none(args.get("seed"))
    row["started"], row["updated"] = started, max(times, default=started)
    row["host"] = tail.as_text(tail.as_dict(meta.get("hardware")).get("host"), 200)
    return row  # type: ignore[return-value]


def _commit(record: dict[str, Any]) -> dict[str, Any]:
    """Return the commit of nanoproof that wrote something, and whether its code had changes (a plus behind it)."""
    commit = tail.as_text(tail.as_dict(record.get("versions")).get("nanoproof"), 100)
    return {"commit": commit.removesuffix("+"), "changed": commit.endswith("+")}


def _empty_row(name: str, stage: str) -> schema.RunRow:
    return {
        "name": name,
        "title": "",
        "note": "",
        "stage": stage,
        "state": {"name": "unknown", "since": None},
        "step": None,
        "num_steps": None,
        "loss": None,
        "score": None,
        "evaluates": "",
        "started": None,
        "updated": None,
        "commit": "",
        "changed": False,
        "seed": None,
        "host": "",
    }


def _selfplay_row(name: str, path: Path) -> schema.RunRow:
    """Return the row of an experiment of self-play: its steps are rounds."""
    began = tail.newest_change([path / SELFPLAY_FILE])
    empty = _empty_row(name, "self-play")
    return {**empty, "step": finished_rounds(path), "started": began, "updated": last_heard(path)}


def _score(record: dict[str, Any]) -> schema.EvaluationScore:
    solved, total = tail.as_int(record.get("solved")), tail.as_int(record.get("total"))
    low, high = wilson(solved, total)
    dataset = "/".join(filter(None, (tail.as_text(record.get("dataset"), 200), tail.as_text(record.get("split"), 50))))
    return {"dataset": dataset, "solved": solved, "total": total, "low": low, "high": high}


def _evaluation_row(name: str, evaluations: list[Path]) -> schema.RunRow:
    """Return the row of a folder of evaluations: the score is that of the newest."""
    times = [(tail.newest_change([path / "summary.json"]) or 0.0, path) for path in evaluations]
    updated, newest = max(times)
    summary = _read(newest / "summary.json")
    settings = tail.as_dict(summary.get("settings"))
    # An evaluation that was stopped and went on has several parts; summaries of older versions have none.
    part = (tail.as_dicts(summary.get("parts")) or [summary])[-1]
    row = {**_empty_row(name, "evaluation"), **_commit(part)}
    if "solved" in summary:
        row["score"] = _score({**settings, **summary})
    row["updated"], row["seed"] = updated or None, tail.int_or_none(settings.get("seed"))
    return row  # type: ignore[return-value]


# -- Evaluations of different runs ---------------------------------------------------------------------------------

MAX_STORES = 40
"""Runs whose evaluations are kept in memory at a time."""


class _Place(NamedTuple):
    """An evaluation: the run of the folder that holds it, its store, and its row."""

    run: str
    store: EvaluationStore
    row: schema.EvaluationRow


class RunComparison:
    """Compares evaluations of the runs of a folder, theorem by theorem.

    An evaluation in a folder of its own, as `scripts.prover_eval` writes it, belongs to the run whose checkpoint was
    evaluated: the question "is `rl` better than `sft`?" is answered by `eval_rl` and `eval_sft`.
    """

    def __init__(self, runs: RunList) -> None:
        self._runs = runs
        self._lock = threading.Lock()
        self._stores: OrderedDict[str, EvaluationStore] = OrderedDict()

    def diff(self, a: str, b: str) -> schema.RunDiff | None:
        """Compare two runs by the newest evaluation of each on every benchmark that they share, the earlier one first.

        None if one of them is no run.
        """
        rows = self._rows()
        if a not in rows or b not in rows:
            return None
        # The sign of a difference must not depend on the order in which somebody clicked: the later run gains or loses.
        earlier, later = sorted((a, b), key=lambda name: (rows[name]["updated"] or 0.0, name))
        with self._lock:
            before = self._newest(self._of_run(earlier, rows.values()))
            after = self._newest(self._of_run(later, rows.values()))
            return {"a": earlier, "b": later, "items": self._diffs(_on_shared_benchmarks(before, after))}

    def _rows(self) -> dict[str, schema.RunRow]:
        return {row["name"]: row for row in self._runs.runs()["items"]}

    def rivals(self, name: str) -> schema.RunRivals | None:
        """Compare the evaluations of a run with those of all others on the same theorems; None if it is no run."""
        rows = self._rows()
        if name not in rows:
            return None
        with self._lock:
            own = self._newest(self._places(name))
            pairs: list[tuple[_Place, _Place]] = []
            # Those beside it, as a quickstart or an experiment leaves them, before those of other folders.
            others = sorted(rows.values(), key=lambda row: Path(row["name"]).parent != Path(name).parent)
            for other in others:
                # An evaluation against evaluations, a run against runs: training and its evaluation have scores alike.
                if other["name"] != name and other["stage"] == rows[name]["stage"]:
                    theirs = self._newest(self._places(other["name"]))
                    pairs += [(before, after) for after, before in _on_shared_benchmarks(own, theirs)]
            return {"items": self._diffs(pairs[:MAX_BENCHMARKS])}

    def evaluations(self, run_a: str, a: str, run_b: str, b: str) -> schema.EvaluationDiff | None:
        """Compare evaluation `a` of one run with `b` of another; None if they are not of the same theorems.

        Raises KeyError where there is no such run or evaluation.
        """
        with self._lock:
            first, second = self._store(run_a), self._store(run_b)
            for store, name in ((first, a), (second, b)):
                if store.row(name) is None:
                    raise KeyError(name)
            diff = first.diff(a, b, second)
        return None if diff is None else {**diff, "run_a": run_a, "run_b": run_b}

    def _of_run(self, name: str, rows: Collection[schema.RunRow]) -> list[_Place]:
        """Return the evaluations of a run: its own, and those of its checkpoints in folders of their own."""
        places = self._places(name)
        for row in rows:
            if row["evaluates"] == name:
                places += self._places(row["name"])
        return places

    def _places(self, name: str) -> list[_Place]:
        store = self._store(name)
        return [_Place(name, store, row) for row in store.rows()]

    def _newest(self, places: list[_Place]) -> dict[Any, _Place]:
        """Return the newest evaluation of each benchmark that is over."""
        newest: dict[Any, _Place] = {}
        for place in sorted(places, key=lambda place: place.row["time"] or 0.0):
            if place.row["over"]:
                newest[benchmark_of(place.row)] = place
        return newest

    def _diffs(self, pairs: list[tuple[_Place, _Place]]) -> list[schema.EvaluationDiff]:
        diffs: list[schema.EvaluationDiff] = []
        for before, after in pairs:
            diff = before.store.diff(before.row["name"], after.row["name"], after.store)
            if diff is not None:
                diffs.append({**diff, "run_a": before.run, "run_b": after.run})
        return diffs

    def _store(self, name: str) -> EvaluationStore:
        """Return the evaluations of a run, read to their end. Raises KeyError."""
        path = self._runs.path(name)
        if path is None:
            raise KeyError(name)
        store = self._stores.setdefault(name, EvaluationStore(path))
        self._stores.move_to_end(name)
        if len(self._stores) > MAX_STORES:
            self._stores.popitem(last=False)
        while store.poll():
            pass
        return store


def _on_shared_benchmarks(first: dict[Any, _Place], second: dict[Any, _Place]) -> list[tuple[_Place, _Place]]:
    return [(first[key], second[key]) for key in first if key in second][:MAX_BENCHMARKS]
