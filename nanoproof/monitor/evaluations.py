"""The evaluations of a run: their scores, their results page by page, and two of them side by side."""

import os
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nanoproof.common.stats import mcnemar_exact, paired_difference, wilson
from nanoproof.monitor.attempts import OUTCOMES
from nanoproof.monitor.records import transitions_of
from nanoproof.monitor.schema import (
    Benchmark,
    EvaluatedTheorem,
    Evaluation,
    EvaluationDiff,
    EvaluationPoint,
    EvaluationResult,
    EvaluationRow,
)
from nanoproof.monitor.tail import (
    Tail,
    counts_of,
    integer,
    mapping,
    numbers_of,
    parse_object,
    read_object,
    read_range,
    real,
    text_of,
)
from nanoproof.selfplay.eval_compare import EXPECTED

MAX_EVALUATIONS = 20_000
MAX_POINTS = 2000
MAX_RESULTS = 200_000
MAX_LISTED = 2000
_READ_AT_ONCE = 100
_KEPT_RESULTS = 4
_SUMMARY_BYTES = 4 << 20


@dataclass
class Results:
    """The lines of a results.jsonl: in short, and where they are."""

    items: list[EvaluationResult] = field(default_factory=list)
    keys: list[tuple[str, str]] = field(default_factory=list)
    places: list[tuple[int, int]] = field(default_factory=list)
    stamp: tuple[int, int] | None = None


class EvaluationStore:
    """Follows the directories of evaluations in a run."""

    def __init__(self, run_path: Path) -> None:
        self._path = Path(run_path)
        self._rows: dict[str, EvaluationRow] = {}
        self._paths: dict[str, Path] = {}
        self._stamps: dict[str, tuple[int, int] | None] = {}
        self._kept: OrderedDict[str, Results] = OrderedDict()
        self._sorted: list[EvaluationRow] | None = None
        self._benchmarks: list[Benchmark] | None = None

    def poll(self) -> bool:
        """Look for new and changed evaluations; whether there is more to read."""
        found = dict(self._directories())
        for name in [name for name in self._rows if name not in found]:
            del self._rows[name], self._paths[name], self._stamps[name]
            self._sorted = self._benchmarks = None
        read = 0
        for name, path in found.items():
            summary = _stamp(path / "summary.json")
            stamp = summary or _stamp(path / "results.jsonl")
            known = name in self._rows
            if known and stamp == self._stamps[name]:
                continue
            if read >= _READ_AT_ONCE:
                return True
            read += 1
            row = _row(name, path, summary is not None)
            if row is not None:
                self._rows[name], self._paths[name], self._stamps[name] = row, path, stamp
                self._sorted = self._benchmarks = None
        return False

    def _directories(self) -> list[tuple[str, Path]]:
        found: list[tuple[str, Path]] = []
        for place, prefix in ((self._path / "evals", ""), (self._path, "eval_")):
            try:
                with os.scandir(place) as entries:
                    found += [
                        (one.name, Path(one.path)) for one in entries if one.name.startswith(prefix) and one.is_dir()
                    ]
            except OSError:
                continue
        return [(name, path) for name, path in sorted(found) if name not in ("evals",)][:MAX_EVALUATIONS]

    def rows(self) -> list[EvaluationRow]:
        """All evaluations, the newest first."""
        if self._sorted is None:
            newest = lambda row: (row["time"] or 0.0, row["step"] or 0, row["name"])  # noqa: E731
            self._sorted = sorted(self._rows.values(), key=newest, reverse=True)
        return self._sorted

    def row(self, name: str) -> EvaluationRow | None:
        """One evaluation."""
        return self._rows.get(name)

    def benchmarks(self) -> list[Benchmark]:
        """The scores of evaluations that are over, by benchmark and step."""
        if self._benchmarks is not None:
            return self._benchmarks
        found: dict[tuple[str, str], list[EvaluationPoint]] = {}
        for row in reversed(self.rows()):
            if row["over"]:
                found.setdefault((row["dataset"], row["split"]), []).append(_point(row))
        self._benchmarks = [
            {"dataset": dataset, "split": split, "points": sorted(points, key=_step_and_time)[-MAX_POINTS:]}
            for (dataset, split), points in sorted(found.items())
        ]
        return self._benchmarks

    def evaluation(self, name: str, outcome: str | None, q: str, page: int, size: int) -> Evaluation:
        """An evaluation with a page of its results."""
        results = self._results(name)
        words = q.lower().split()
        chosen = [
            one
            for one in results.items
            if (outcome is None or one["outcome"] == outcome) and all(word in one["id"].lower() for word in words)
        ]
        settings = mapping((read_object(self._paths[name] / "settings.json") or {}).get("settings"))
        items = chosen[(page - 1) * size : page * size]
        return {
            "evaluation": self._rows[name],
            "settings": settings if len(str(settings)) < 100_000 else {},
            "outcomes": {one: sum(item["outcome"] == one for item in results.items) for one in OUTCOMES},
            "results": {"items": items, "total": len(chosen), "page": page, "size": size},
        }

    def result(self, name: str, index: int) -> EvaluatedTheorem | None:
        """One result in full."""
        results = self._results(name)
        if not 0 <= index < len(results.items):
            return None
        record = parse_object(read_range(self._paths[name] / "results.jsonl", *results.places[index]))
        if record is None:
            return None
        return {
            "result": results.items[index],
            "statement": text_of(mapping(record.get("theorem")).get("source")),
            "proof": text_of(record.get("proof")),
            "source": text_of(record.get("source")),
            "stop_reason": text_of(record.get("stop_reason")),
            "transitions": transitions_of(record.get("transitions")),
            "counts": counts_of(record.get("counts")),
            "phases": numbers_of(record.get("seconds")),
        }

    def diff(self, a: str, b: str) -> EvaluationDiff | None:
        """Two evaluations side by side; None if they are not of the same theorems."""
        first, second = self._results(a), self._results(b)
        before = dict(zip(first.keys, first.items, strict=True))
        after = dict(zip(second.keys, second.items, strict=True))
        if not before or before.keys() != after.keys():
            return None
        both: list[str] = []
        gained, lost, errors = list[str](), list[str](), list[str]()
        for key, one in before.items():
            solved = one["outcome"] == "proven", after[key]["outcome"] == "proven"
            (both if all(solved) else gained if solved[1] else lost if solved[0] else []).append(one["id"])
            if "error" in (one["outcome"], after[key]["outcome"]):
                errors.append(one["id"])
        difference, low, high = paired_difference(len(lost), len(gained), len(before))
        return {
            "a": self._rows[a],
            "b": self._rows[b],
            "total": len(before),
            "both": len(both),
            "only_a": len(lost),
            "only_b": len(gained),
            "neither": len(before) - len(both) - len(lost) - len(gained),
            "p": mcnemar_exact(len(lost), len(gained)),
            "difference": difference,
            "low": low,
            "high": high,
            "gained": gained[:MAX_LISTED],
            "lost": lost[:MAX_LISTED],
            "errors": errors[:MAX_LISTED],
            "settings": self._other_settings(a, b),
        }

    def _other_settings(self, a: str, b: str) -> dict[str, list[Any]]:
        before, after = (
            mapping((read_object(self._paths[name] / "settings.json") or {}).get("settings")) for name in (a, b)
        )
        names = [name for name in {**before, **after} if name not in EXPECTED and before.get(name) != after.get(name)]
        return {name: [before.get(name), after.get(name)] for name in names}

    def _results(self, name: str) -> Results:
        file = self._paths[name] / "results.jsonl"
        stamp = _stamp(file)
        kept = self._kept.get(name)
        if kept is None or kept.stamp != stamp:
            kept = self._kept[name] = _read_results(file, stamp)
        self._kept.move_to_end(name)
        if len(self._kept) > _KEPT_RESULTS:
            self._kept.popitem(last=False)
        return kept


def _point(row: EvaluationRow) -> EvaluationPoint:
    return {
        "name": row["name"],
        "step": row["step"],
        "time": row["time"],
        "solved": row["solved"],
        "total": row["total"],
        "low": row["low"],
        "high": row["high"],
        "simulations": row["simulations"],
    }


def _step_and_time(point: EvaluationPoint) -> tuple[int, float]:
    return point["step"] or 0, point["time"] or 0.0


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _read_results(file: Path, stamp: tuple[int, int] | None) -> Results:
    results, tail = Results(stamp=stamp), Tail(file)
    while (lines := tail.read()) and len(results.items) < MAX_RESULTS:
        for line in lines:
            record = parse_object(line.text)
            theorem = mapping(record.get("theorem")) if record is not None else {}
            if record is None or record.get("outcome") not in OUTCOMES:
                continue
            seconds = {
                name: one for name, one in numbers_of(record.get("seconds")).items() if name not in ("lean", "policy")
            }
            results.items.append(
                {
                    "index": len(results.items),
                    "dataset": text_of(theorem.get("dataset")),
                    "id": text_of(theorem.get("id")),
                    "outcome": record["outcome"],
                    "simulations": integer(mapping(record.get("counts")).get("simulations")),
                    "tactics": integer(record.get("num_tactics")),
                    "seconds": round(sum(seconds.values()), 3),
                    "message": text_of(record.get("message"), 2000),
                }
            )
            results.keys.append((text_of(theorem.get("dataset")), text_of(theorem.get("id"))))
            results.places.append((line.at, len(line.text)))
    return results


def _row(name: str, path: Path, over: bool) -> EvaluationRow | None:
    """An evaluation in short; one that is under way counts what is written so far."""
    record = read_object(path / ("summary.json" if over else "settings.json"), _SUMMARY_BYTES) or {}
    settings, parts = mapping(record.get("settings")), record.get("parts")
    if not settings and "solved" not in record:
        return None
    part = mapping(parts[-1]) if isinstance(parts, list) and parts else {}
    began = real(part.get("started"))
    step = record.get("step", settings.get("step"))
    head = name.removeprefix("eval_").split("_")[0]
    done = None if over else _read_results(path / "results.jsonl", None).items
    solved = integer(record.get("solved")) if done is None else sum(one["outcome"] == "proven" for one in done)
    total = integer(record.get("total")) if done is None else max(len(done), integer(settings.get("theorems")))
    errors = integer(record.get("errors")) if done is None else sum(one["outcome"] == "error" for one in done)
    tried = total if done is None else len(done)
    low, high = wilson(min(solved, tried), tried)
    return {
        "name": name,
        "dataset": text_of(record.get("dataset")) or text_of(settings.get("dataset")) or "unknown",
        "split": text_of(record.get("split")) or text_of(settings.get("split")),
        "step": integer(step) if isinstance(step, int) else int(head) if head.isdigit() and len(head) < 12 else None,
        "time": None if began is None else began + (real(part.get("seconds")) or 0.0),
        "over": over,
        "done": tried,
        "total": total,
        "solved": solved,
        "low": low,
        "high": high,
        "failed": max(0, tried - solved - errors),
        "errors": errors,
        "simulations": integer(record.get("simulations"), integer(settings.get("num_simulations"))),
        "tactic_samples": integer(record["tactic_samples"]) if "tactic_samples" in record else None,
        "seconds": real(record.get("seconds")),
        "solved_at": counts_of(record.get("solved_at")),
        "baseline": counts_of(mapping(record.get("baseline")).get("solved_at")) or None,
    }
