"""The runs below a folder such as `$NANOPROOF_HOME`: found, and described in one row each from a few small reads."""

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from nanoproof.common.run_dir import FINISHED, LOCK
from nanoproof.evaluation.summary import wilson
from nanoproof.monitor.evaluations import MAX_BENCHMARKS, EvaluationStore, benchmark_of, evaluation_state
from nanoproof.monitor.identity import NOTE_FILE, planned_steps, read_note, run_state, stage_of, to_time
from nanoproof.monitor.rounds import SELFPLAY_FILE, finished_rounds, is_selfplay
from nanoproof.monitor.schema import EvaluationDiff, EvaluationRow, EvaluationScore, RunDiff, RunRivals, RunRow, Runs
from nanoproof.monitor.tail import as_dict, as_float, as_int, as_text, file_stat, parse_object, read_object, read_range

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
    return any(file_stat(path / name) for name in _SIGNS) or bool(_evaluations(path))


def is_evaluation(path: Path) -> bool:
    """Tell whether a folder is an evaluation itself."""
    return all(file_stat(path / name) for name in ("settings.json", "results.jsonl"))


def _evaluations(path: Path) -> list[Path]:
    """The evaluations in a folder, such as scripts.prover_eval writes."""
    try:
        with os.scandir(path) as entries:
            names = [one.name for one in entries if one.name.startswith(("eval_", "whole_")) and _is_folder(one)]
    except OSError:
        return []
    return [path / name for name in sorted(names) if file_stat(path / name / "settings.json")]


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    return entry.is_dir(follow_symlinks=False)


class RunList:
    """Follows the runs below a folder; each is read again when one of its files has changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        self._lock = threading.Lock()
        self._names: list[str] = []
        self._looked = float("-inf")
        self._rows: dict[str, tuple[Any, RunRow]] = {}

    def path(self, name: str) -> Path | None:
        """Return the folder of a run of this name; None if there is no such run."""
        known = name in self.names() or name in self.names(again=True)
        return self.folder / name if known else None

    def names(self, again: bool = False) -> list[str]:
        """Return the names of all runs: their folders below `folder`."""
        with self._lock:
            if again or time.monotonic() - self._looked > _LOOK_SECONDS:
                self._names = [str(path.relative_to(self.folder)) for path in self._find()]
                self._looked = time.monotonic()
            return self._names

    def _find(self) -> Iterator[Path]:
        found, looked_at = 0, 0
        level = [self.folder]
        for depth in range(MAX_DEPTH):
            below: list[Path] = []
            for folder in level:
                looked_at += 1
                if looked_at > MAX_FOLDERS or found >= MAX_RUNS:
                    return
                if depth and is_run(folder):
                    found += 1
                    yield folder
                    if not is_selfplay(folder):
                        continue
                try:
                    with os.scandir(folder) as entries:
                        names = [one.name for one in entries if _is_folder(one)]
                except OSError:
                    continue
                below += [folder / name for name in sorted(names) if name[0] != "." and name not in _NOT_LOOKED_INTO]
            level = below

    def runs(self) -> Runs:
        """Return a row for each run, newest first."""
        now = time.time()
        rows = [self._row(name, now) for name in self.names()]
        rows.sort(key=lambda row: (row["updated"] or 0.0, row["name"]), reverse=True)
        return {"folder": str(self.folder), "items": rows, "total": len(rows)}

    def _row(self, name: str, now: float) -> RunRow:
        path = self.folder / name
        stamps = [(stat.st_mtime_ns, stat.st_size) if (stat := file_stat(path / one)) else None for one in _PLAIN]
        stamps += [(stat.st_mtime_ns, stat.st_size) if (stat := file_stat(path / NOTE_FILE)) else None]
        if is_selfplay(path):
            return {**_selfplay_row(name, path), **read_note(path)}
        evaluations = [] if any(stamps[:-1]) else _evaluations(path)
        stamps += [(stat.st_mtime_ns, 0) if (stat := file_stat(one / "summary.json")) else None for one in evaluations]
        known = self._rows.get(name)
        if known is None or known[0] != stamps:
            found = _evaluation_row(name, evaluations) if evaluations else _run_row(name, path)
            known = stamps, {**found, **read_note(path)}
            self._rows[name] = known
        row = known[1]
        if evaluations:
            evaluates = self._run_of(_models(evaluations), path)
            return {**row, "state": evaluation_state(evaluations), "evaluates": evaluates}
        return {**row, "state": _state(path, row["updated"], now)}

    def _run_of(self, models: Collection[str], folder: Path) -> str:
        """The name of the run that made one of these checkpoints; empty if it is none of the list.

        Records hold absolute paths, which are wrong once the whole folder was moved or copied: there it is the run of
        that name beside the folder of evaluations.
        """
        for model in models:
            run = Path(model).parent
            for path in (run, folder.parent / run.name):
                name = str(path.relative_to(self.folder)) if path.is_relative_to(self.folder) else ""
                if name and name in self._names:
                    return name
        return ""


def _state(path: Path, updated: float | None, now: float) -> Any:
    status = read_object(path / "status_r0.json", _JSON_BYTES) or {}
    return run_state(path, as_float(status.get("time")), status.get("phase") == "stopped", updated, now)


def _models(evaluations: list[Path]) -> list[str]:
    """The checkpoints that were evaluated, as far as the evaluations are over."""
    summaries = [read_object(path / "summary.json", _JSON_BYTES) or {} for path in evaluations]
    models = [as_text(as_dict(summary.get("model")).get("path"), 1000) for summary in summaries]
    return sorted(set(filter(None, models)))


def _last_objects(file: Path) -> Iterator[dict[str, Any]]:
    """The records at the end of a JSONL file, newest first; each is parsed when it is asked for."""
    stat = file_stat(file)
    if stat is None:
        return
    start = max(0, stat.st_size - _TAIL_BYTES)
    lines = read_range(file, start, _TAIL_BYTES).split(b"\n")
    records = (parse_object(line) for line in reversed(lines[1:] if start else lines) if line.strip())
    yield from (record for record in records if record is not None)


def _run_row(name: str, path: Path) -> RunRow:
    args, meta = (read_object(path / one, _JSON_BYTES) or {} for one in ("args.json", "meta.json"))
    newest, events = next(_last_objects(path / "metrics.jsonl"), {}), list(_last_objects(path / "events.jsonl"))
    words = [str(word) for word in meta["command"]] if isinstance(meta.get("command"), list) else []
    times = [moment for one in (newest, *events[:1]) if (moment := as_float(one.get("time"))) is not None]
    started = to_time(as_text(meta.get("started")))
    commit = as_text(as_dict(meta.get("versions")).get("nanoproof"), 100)
    score = next((one for one in events if one.get("kind") == "evaluation" and one.get("total")), None)
    seed = args.get("seed")
    return {
        **_empty_row(name, stage_of(words)),
        "step": as_int(newest["step"]) if "step" in newest else None,
        "num_steps": None if args.get("max_time") else planned_steps(args, meta),
        "loss": as_float(newest.get("loss")),
        "score": None if score is None else _score(score),
        "started": started,
        "updated": max(times, default=started),
        "commit": commit.removesuffix("+"),
        "changed": commit.endswith("+"),
        "seed": seed if isinstance(seed, int) else None,
        "host": as_text(as_dict(meta.get("hardware")).get("host"), 200),
    }


def _empty_row(name: str, stage: str) -> RunRow:
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


def _selfplay_row(name: str, path: Path) -> RunRow:
    """The row of an experiment of self-play: its steps are rounds."""
    over = finished_rounds(path)
    files = [path / SELFPLAY_FILE, *(path / f"round{number}" / "metrics.json" for number in range(over))]
    times = [stat.st_mtime for file in files if (stat := file_stat(file))]
    return {**_empty_row(name, "self-play"), "step": over, "started": times[0], "updated": max(times)}


def _score(record: dict[str, Any]) -> EvaluationScore:
    solved, total = as_int(record.get("solved")), as_int(record.get("total"))
    low, high = wilson(solved, total)
    dataset = "/".join(filter(None, (as_text(record.get("dataset"), 200), as_text(record.get("split"), 50))))
    return {"dataset": dataset, "solved": solved, "total": total, "low": low, "high": high}


def _evaluation_row(name: str, evaluations: list[Path]) -> RunRow:
    """The row of a folder of evaluations: the score is that of the newest."""
    found = [(stat.st_mtime, path) for path in evaluations if (stat := file_stat(path / "summary.json"))]
    newest = max(found, default=None)
    summary = {} if newest is None else read_object(newest[1] / "summary.json", _JSON_BYTES) or {}
    settings = as_dict(summary.get("settings"))
    parts = summary.get("parts")
    part = as_dict(parts[-1]) if isinstance(parts, list) and parts else summary
    commit = as_text(as_dict(part.get("versions")).get("nanoproof"), 100)
    return {
        **_empty_row(name, "evaluation"),
        "score": _score({**settings, **summary}) if "solved" in summary else None,
        "updated": newest and newest[0],
        "commit": commit.removesuffix("+"),
        "changed": commit.endswith("+"),
        "seed": settings["seed"] if isinstance(settings.get("seed"), int) else None,
    }


# -- Evaluations of different runs ---------------------------------------------------------------------------------

MAX_STORES = 40
"""Runs whose evaluations are kept in memory at a time."""


class _Place(NamedTuple):
    """An evaluation: the run of the folder that holds it, its store, and its row."""

    run: str
    store: EvaluationStore
    row: EvaluationRow


class RunComparison:
    """Compares evaluations of the runs of a folder, theorem by theorem.

    An evaluation in a folder of its own, as `scripts.prover_eval` writes it, belongs to the run whose checkpoint was
    evaluated: the question "is `rl` better than `sft`?" is answered by `eval_rl` and `eval_sft`.
    """

    def __init__(self, runs: RunList) -> None:
        self._runs = runs
        self._lock = threading.Lock()
        self._stores: OrderedDict[str, EvaluationStore] = OrderedDict()

    def diff(self, a: str, b: str) -> RunDiff | None:
        """Compare two runs by the newest evaluation of each on every benchmark that they share, the earlier one first.

        None if one of them is no run.
        """
        rows = {row["name"]: row for row in self._runs.runs()["items"]}
        if a not in rows or b not in rows:
            return None
        # The sign of a difference must not depend on the order in which somebody clicked: the later run gains or loses.
        earlier, later = sorted((a, b), key=lambda name: (rows[name]["updated"] or 0.0, name))
        with self._lock:
            before, after = (self._newest(self._of_run(name, rows.values())) for name in (earlier, later))
            shared = [(before[key], after[key]) for key in before if key in after][:MAX_BENCHMARKS]
            return {"a": earlier, "b": later, "items": self._diffs(shared)}

    def rivals(self, name: str) -> RunRivals | None:
        """Compare the evaluations of a run with those of all others on the same theorems; None if it is no run."""
        rows = {row["name"]: row for row in self._runs.runs()["items"]}
        if name not in rows:
            return None
        with self._lock:
            own = self._newest(self._places(name))
            pairs: list[tuple[_Place, _Place]] = []
            # Those beside it, as a quickstart or an experiment leaves them, before those of other folders.
            beside = [row for row in rows.values() if Path(row["name"]).parent == Path(name).parent]
            for other in (*beside, *(row for row in rows.values() if row not in beside)):
                if other["name"] != name and other["stage"] == rows[name]["stage"]:
                    theirs = self._newest(self._places(other["name"]))
                    pairs += [(theirs[key], own[key]) for key in own if key in theirs]
            return {"items": self._diffs(pairs[:MAX_BENCHMARKS])}

    def evaluations(self, run_a: str, a: str, run_b: str, b: str) -> EvaluationDiff | None:
        """Compare evaluation `a` of one run with `b` of another; None if they are not of the same theorems.

        Raises KeyError where there is no such run or evaluation.
        """
        with self._lock:
            first, second = self._store(run_a), self._store(run_b)
            if first.row(a) is None or second.row(b) is None:
                raise KeyError(a if first.row(a) is None else b)
            diff = first.diff(a, b, second)
        return None if diff is None else {**diff, "run_a": run_a, "run_b": run_b}

    def _of_run(self, name: str, rows: Collection[RunRow]) -> list[_Place]:
        """The evaluations of a run: its own, and those of its checkpoints in folders of their own."""
        places = self._places(name)
        for row in rows:
            if row["evaluates"] == name:
                places += self._places(row["name"])
        return places

    def _places(self, name: str) -> list[_Place]:
        store = self._store(name)
        return [_Place(name, store, row) for row in store.rows()]

    def _newest(self, places: list[_Place]) -> dict[Any, _Place]:
        """The newest evaluation of each benchmark that is over."""
        over = [place for place in places if place.row["over"]]
        return {benchmark_of(place.row): place for place in sorted(over, key=lambda place: place.row["time"] or 0.0)}

    def _diffs(self, pairs: list[tuple[_Place, _Place]]) -> list[EvaluationDiff]:
        diffs: list[EvaluationDiff] = []
        for before, after in pairs:
            diff = before.store.diff(before.row["name"], after.row["name"], after.store)
            if diff is not None:
                diffs.append({**diff, "run_a": before.run, "run_b": after.run})
        return diffs

    def _store(self, name: str) -> EvaluationStore:
        """The evaluations of a run, read to their end. Raises KeyError."""
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
