"""The evaluations of a run: their scores, their results page by page, and two of them side by side."""

import os
import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, Literal

from nanoproof.common.files import cut_name
from nanoproof.common.run_dir import read_lock
from nanoproof.common.terminal import counted
from nanoproof.data.nanolean import level_of, part_of
from nanoproof.evaluation.compare import EXPECTED
from nanoproof.evaluation.summary import mcnemar_exact, paired_difference, wilson
from nanoproof.lean.certificates import accepted_by
from nanoproof.monitor import schema, tail
from nanoproof.monitor.attempts import OUTCOMES, POLL_BYTES
from nanoproof.monitor.records import load_tree, one_line, parse_transitions

MAX_EVALUATIONS = 20_000
MAX_POINTS = 2000
MAX_RESULTS = 200_000
MAX_LISTED = 2000
MAX_BENCHMARKS = 20
MAX_PARTS = 12
"""Names of parts that are more than this are no parts but names of theorems."""
_READ_AT_ONCE = 100
_MAX_NAMESAKES = 50
_MAX_CACHED_RESULTS = 8
_SUMMARY_BYTES = 4 << 20
_EXPECTED_DIFFERENCES = {*EXPECTED} - {"num_simulations"}
_Benchmark = tuple[str, str, int, int]
"""Data set, split, simulations, theorems: scores of other budgets or other theorems are on other lines."""


class Results:
    """The results of an evaluation, one per theorem: a summary, and where its record is.

    Ranks but the first write `results_r<rank>.jsonl` until the evaluation is over. Of a theorem that was tried again
    the newest attempt without an error counts, else the newest.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._reset()

    def _reset(self) -> None:
        self.items: list[schema.EvaluationResult] = []
        self.ranges: list[tuple[Path, int, int]] = []
        self.counts: list[dict[str, int]] = []
        """What the search of each result did: tactics_run, rejected, ..."""
        self._numbers: dict[tuple[str, str, int], int] = {}
        self._tails: dict[Path, tail.Tail] = {}

    def poll(self, limit: int = POLL_BYTES) -> bool:
        """Read the next lines, of about `limit` bytes; return whether there may be more."""
        files = _result_files(self._path)
        if not self._tails.keys() <= set(files):
            self._reset()  # the first rank has merged them
        read = 0
        for file in files:
            follower = self._tails.setdefault(file, tail.Tail(file))
            start, restarts = follower.position, follower.restarts
            for line in follower.read(limit):
                self._add(file, line)
            if follower.restarts > restarts:
                self._reset()
                return self.poll(limit)
            read += follower.position - start
            if follower.position > start and (follower.size - start > limit or read >= limit):
                return True
        return False

    def _add(self, file: Path, line: tail.Line) -> None:
        record = tail.parse_object(line.text)
        if record is None or record.get("outcome") not in OUTCOMES or len(self.items) >= MAX_RESULTS:
            return
        theorem = tail.as_dict(record.get("theorem"))
        dataset, name = tail.as_text(theorem.get("dataset")), tail.as_text(theorem.get("id"))
        # By the statement too: a file of theorems may have two of one name.
        number = self._numbers.setdefault((dataset, name, hash(tail.as_text(theorem.get("source")))), len(self.items))
        is_again = number < len(self.items)
        outcome = "error"
        if is_again:
            outcome = self.items[number]["outcome"]
        if outcome == "proven" or (record["outcome"] == "error" and outcome != "error"):
            return  # of several samples of a theorem the first that proves it counts
        seconds = tail.as_floats(record.get("seconds"))
        # These two are counted within the others: the time that a search waited for Lean, and for the policy.
        total_seconds = sum(spent for phase, spent in seconds.items() if phase not in ("lean", "policy"))
        counts = tail.as_counts(record.get("counts"))
        item: schema.EvaluationResult = {
            "index": number,
            "dataset": dataset,
            "id": name,
            "statement": one_line(tail.as_text(theorem.get("source"))),
            "outcome": record["outcome"],
            "simulations": counts.get("simulations", 0),
            "tactics": tail.as_int(record.get("num_tactics")),
            "seconds": round(total_seconds, 3),
            "message": tail.as_text(record.get("message"), 2000),
        }
        byte_range = file, line.at, len(line.text)
        if is_again:
            self.items[number], self.ranges[number], self.counts[number] = item, byte_range, counts
        else:
            self.items.append(item)
            self.ranges.append(byte_range)
            self.counts.append(counts)


def parts_of(results: Sequence[schema.EvaluationResult]) -> list[schema.EvaluationPart]:
    """Return the scores by data set, by part and by level, as far as the names of the theorems tell them."""
    ways: dict[Literal["dataset", "part", "level"], Callable[[schema.EvaluationResult], str]] = {
        "dataset": lambda result: result["dataset"],
        "part": lambda result: part_of(result["id"]),
        "level": _level_name,
    }
    parts: list[schema.EvaluationPart] = []
    for way, name_of in ways.items():
        totals, solved = Counter[str](), Counter[str]()
        for result in results:
            totals[name_of(result)] += 1
            solved[name_of(result)] += result["outcome"] == "proven"
        # A part of one theorem each, as where names share no first words, tells nothing.
        if not 2 <= len(totals) <= MAX_PARTS or len(results) < 2 * len(totals):
            continue
        for name in sorted(totals):
            low, high = wilson(solved[name], totals[name])
            counts = {"solved": solved[name], "total": totals[name], "low": low, "high": high}
            parts.append({"by": way, "name": name or "others", **counts})  # type: ignore[typeddict-item]
    return parts


def _level_name(result: schema.EvaluationResult) -> str:
    level = level_of(result["id"])
    return "" if level is None else f"level {level}"


class EvaluationStore:
    """Follows the directories of evaluations in a run."""

    def __init__(self, run_path: Path, only: Sequence[Path] = ()) -> None:
        self._path, self._only = Path(run_path), only
        self._rows: dict[str, schema.EvaluationRow] = {}
        self._paths: dict[str, Path] = {}
        self._stamps: dict[str, list[tail.Stamp]] = {}
        self._cache: OrderedDict[Path, Results] = OrderedDict()
        self._sorted: list[schema.EvaluationRow] | None = None
        self._benchmarks: list[schema.Benchmark] | None = None

    def poll(self) -> bool:
        """Look for new and changed evaluations; return whether there is more to read."""
        paths = self._directories()
        for name in self._rows.keys() - paths.keys():
            self._cache.pop(self._paths[name], None)
            del self._rows[name], self._paths[name], self._stamps[name]
            self._sorted = self._benchmarks = None
        read = 0
        for name, path in paths.items():
            # The summary is written last: of an evaluation that is over nothing else has to be looked at.
            stamp = [tail.file_stamp(path / "summary.json")]
            is_over = stamp[0] is not None
            if not is_over:
                stamp = list(map(tail.file_stamp, _result_files(path)))
            if name in self._rows and stamp == self._stamps[name]:
                continue
            if read >= _READ_AT_ONCE:
                return True
            read += 1
            record = tail.read_object(path / "summary.json", _SUMMARY_BYTES) if is_over else read_settings(path)
            record = record or {}
            if not tail.as_dict(record.get("settings")) and "solved" not in record:
                continue
            results: Results | None = None
            if not is_over:
                results = self._results(path)
                if results.poll():
                    return True
            self._rows[name], self._paths[name], self._stamps[name] = _to_row(name, record, results), path, stamp
            self._sorted = self._benchmarks = None
        return False

    def _directories(self) -> dict[str, Path]:
        """Return the folders of evaluations by their names: those of a run, and those of `scripts.prover_eval`."""
        if len(self._only) > 1:
            # Those of two runs may share their last names; a slash would end a name in the API's addresses.
            shared = Path(os.path.commonpath(self._only))
            return {":".join(folder.relative_to(shared).parts): folder for folder in self._only}
        evals = self._path / "evals"
        folders: list[Path] = []
        if not evals.is_symlink():
            folders = tail.folders_in(evals)
        folders += [folder for folder in tail.folders_in(self._path) if folder.name.startswith(("eval_", "whole_"))]
        if not folders and (self._path / "settings.json").is_file():
            folders = [self._path]  # the folder is an evaluation itself
        folders.sort(key=lambda folder: (folder.name, folder))
        return {folder.name: folder for folder in folders[:MAX_EVALUATIONS]}

    def paths(self) -> list[Path]:
        """Return the folders of all evaluations."""
        return list(self._paths.values())

    def rows(self) -> list[schema.EvaluationRow]:
        """Return all evaluations, newest first."""
        if self._sorted is None:
            self._sorted = sorted(self._rows.values(), key=_time_of_row, reverse=True)
        return self._sorted

    def row(self, name: str) -> schema.EvaluationRow | None:
        """Return an evaluation's row, or None."""
        return self._rows.get(name)

    def benchmarks(self) -> list[schema.Benchmark]:
        """Return the scores of finished evaluations, by benchmark and step."""
        if self._benchmarks is not None:
            return self._benchmarks
        points_of: dict[_Benchmark, list[schema.EvaluationPoint]] = {}
        for row in reversed(self.rows()):
            if row["over"]:
                points_of.setdefault(benchmark_of(row), []).append(_to_point(row))
        names = _benchmark_names(points_of)
        self._benchmarks = []
        for key, points in sorted(points_of.items()):
            settings = self._settings(points[-1]["name"])  # of the newest
            benchmark: schema.Benchmark = {
                "name": names[key],
                "dataset": key[0],
                "split": key[1],
                "simulations": key[2],
                "total": key[3],
                "theorem_set": tail.as_text(settings.get("theorem_set")),
                "lean": tail.as_text(settings.get("lean")),
                "points": sorted(points, key=lambda point: (point["step"] or 0, point["time"] or 0.0))[-MAX_POINTS:],
                "solvers": None,
            }
            self._benchmarks.append(benchmark)
        return self._benchmarks

    def evaluation(self, name: str, outcome: str | None, q: str, page: int, size: int) -> schema.Evaluation:
        """Return an evaluation with a page of its results."""
        results = self._all_results(name)
        parts = q.lower().split()
        chosen: list[schema.EvaluationResult] = []
        outcomes = dict.fromkeys(OUTCOMES, 0)
        lengths = Counter[int]()
        for result in results.items:
            outcomes[result["outcome"]] += 1
            lengths[result["tactics"]] += result["outcome"] == "proven"
            text = f"{result['id']} {result['statement']}".lower()
            if (outcome is None or result["outcome"] == outcome) and all(part in text for part in parts):
                chosen.append(result)
        settings = self._settings(name)
        if len(str(settings)) >= 100_000:
            settings = {}
        counts = Counter[str]()
        for counts_of_result in results.counts:
            counts.update(counts_of_result)
        items = chosen[(page - 1) * size : page * size]
        return {
            "evaluation": self._rows[name],
            "settings": settings,
            "outcomes": outcomes,  # type: ignore[typeddict-item]
            "parts": parts_of(results.items),
            "lengths": {str(length): lengths[length] for length in sorted(+lengths)},
            "counts": dict(counts),
            "results": {"items": items, "total": len(chosen), "page": page, "size": size},
        }

    def result(self, name: str, index: int) -> schema.EvaluatedTheorem | None:
        """Return one result in full; None if there is none."""
        results = self._all_results(name)
        if not 0 <= index < len(results.items):
            return None
        record = tail.parse_object(tail.read_range(*results.ranges[index]))
        if record is None:
            return None
        return {
            "result": results.items[index],
            "statement": tail.as_text(tail.as_dict(record.get("theorem")).get("source")),
            "proof": tail.as_text(record.get("proof")),
            "source": tail.as_text(record.get("source")),
            "stop_reason": tail.as_text(record.get("stop_reason")),
            "transitions": parse_transitions(record.get("transitions")),
            "counts": tail.as_counts(record.get("counts")),
            "phases": tail.as_floats(record.get("seconds")),
            "kept": self._kept(name, index),
        }

    def _kept(self, name: str, index: int) -> list[Literal["certificate", "tree"]]:
        kept: list[Literal["certificate", "tree"]] = []
        if self.certificate(name, index) is not None:
            kept.append("certificate")
        if self.tree(name, index) is not None:
            kept.append("tree")
        return kept

    def certificate(self, name: str, index: int) -> Path | None:
        """Return the certificate of a result, beside the file of its proof; None if there is none of this proof."""
        if name not in self._rows:
            return None
        results, folder = self._all_results(name), self._paths[name] / "proofs"
        if not 0 <= index < len(results.items) or results.items[index]["outcome"] != "proven" or folder.is_symlink():
            return None
        record = tail.parse_object(tail.read_range(*results.ranges[index])) or {}
        # Several data sets may have a theorem of this name: a certificate of another proof would say nothing of this.
        for file in _namesakes(folder, results.items[index], ".lean"):
            text = tail.read_range(file, 0, tail.MAX_LINE).decode("utf-8", "replace")
            if text.strip() == tail.as_text(record.get("source")).strip():
                for certificate in (file.with_suffix(".ndjson"), file.with_suffix(".ndjson.gz")):
                    if tail.file_stat(certificate) is not None:
                        return certificate
                return None
        return None

    def tree(self, name: str, index: int) -> dict[str, Any] | None:
        """Return the search tree of a result; None if it was not kept."""
        if name not in self._rows:
            return None
        results, folder = self._all_results(name), self._paths[name] / "trees"
        if not 0 <= index < len(results.items):
            return None
        result = results.items[index]
        for file in _namesakes(folder, result, ".json.gz"):
            data = load_tree(file) or {}
            theorem = tail.as_dict(data.get("theorem"))
            if (theorem.get("dataset"), theorem.get("id")) == (result["dataset"], result["id"]):
                return data["tree"]
        return None

    def diff(self, a: str, b: str, other: "EvaluationStore | None" = None) -> schema.EvaluationDiff | None:
        """Compare two evaluations theorem by theorem; None if they are not of the same theorems.

        `b` may be one of the evaluations of another run (`other`).
        """
        theirs = other or self
        before, after = self._by_theorem(a), theirs._by_theorem(b)
        if not before or before.keys() != after.keys():
            return None
        both = 0
        gained, lost, errors = list[str](), list[str](), list[str]()
        for key, result in before.items():
            outcomes = result["outcome"], after[key]["outcome"]
            match outcomes[0] == "proven", outcomes[1] == "proven":
                case True, True:
                    both += 1
                case False, True:
                    gained.append(result["id"])
                case True, False:
                    lost.append(result["id"])
            # Counted as not solved, and listed: the comparison is fair only without them.
            if "error" in outcomes:
                errors.append(result["id"])
        difference, low, high = paired_difference(len(lost), len(gained), len(before))
        return {
            "run_a": "",
            "run_b": "",
            "a": self._rows[a],
            "b": theirs._rows[b],
            "total": len(before),
            "both": both,
            "only_a": len(lost),
            "only_b": len(gained),
            "neither": len(before) - both - len(lost) - len(gained),
            "p": mcnemar_exact(len(lost), len(gained)),
            "difference": difference,
            "low": low,
            "high": high,
            "gained": gained[:MAX_LISTED],
            "lost": lost[:MAX_LISTED],
            "errors": errors[:MAX_LISTED],
            "settings": _changed(self._settings(a), theirs._settings(b)),
        }

    def _by_theorem(self, name: str) -> dict[tuple[str, str], schema.EvaluationResult]:
        return {(result["dataset"], result["id"]): result for result in self._all_results(name).items}

    def _settings(self, name: str) -> dict[str, Any]:
        return tail.as_dict((read_settings(self._paths[name]) or {}).get("settings"))

    def _results(self, path: Path) -> Results:
        """Return the results of an evaluation as far as they were read; those of the last few are kept."""
        results = self._cache.setdefault(path, Results(path))
        self._cache.move_to_end(path)
        if len(self._cache) > _MAX_CACHED_RESULTS:
            self._cache.popitem(last=False)
        return results

    def _all_results(self, name: str) -> Results:
        results = self._results(self._paths[name])
        while results.poll(1 << 20):
            pass
        return results


def benchmark_of(row: schema.EvaluationRow) -> _Benchmark:
    """Return what two evaluations must share to be compared: data set, split, simulations and number of theorems."""
    return row["dataset"], row["split"], row["simulations"], row["total"]


def evaluation_state(paths: Sequence[Path]) -> schema.RunState:
    """Tell how evaluations of a folder fare together: under way while the process of one of them lives."""
    files: list[Path] = []
    unfinished: list[Path] = []
    for path in paths:
        files += [path / "summary.json", path / "results.jsonl"]
        if tail.file_stat(path / "summary.json") is None:
            unfinished.append(path)
    newest = tail.newest_change(files)
    if not unfinished:
        return {"name": "finished", "since": newest}
    locks = list(filter(None, map(read_lock, unfinished)))
    # On another machine (None) it counts as alive: nothing here can tell.
    if any(lock.alive is not False for lock in locks):
        return {"name": "running", "since": None}
    # Who ends in order takes the lock away.
    return {"name": "died" if locks else "stopped", "since": newest}


def _changed(before: dict[str, Any], after: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the settings that differ, apart from those that are expected to."""
    changed: dict[str, list[Any]] = {}
    for name in {**before, **after}:
        if name not in _EXPECTED_DIFFERENCES and before.get(name) != after.get(name):
            changed[name] = [before.get(name), after.get(name)]
    return changed


def _to_point(row: schema.EvaluationRow) -> schema.EvaluationPoint:
    return {name: row[name] for name in schema.EvaluationPoint.__annotations__}  # type: ignore[literal-required, return-value]


def _benchmark_names(benchmarks: Collection[_Benchmark]) -> dict[_Benchmark, str]:
    """Name the benchmarks in words, each with as much of its budget as tells it from the others of its split."""
    simulations_of: dict[tuple[str, str], set[int]] = {}
    totals_of: dict[tuple[str, str], set[int]] = {}
    for dataset, split, simulations, total in benchmarks:
        simulations_of.setdefault((dataset, split), set()).add(simulations)
        totals_of.setdefault((dataset, split), set()).add(total)
    names = {}
    for dataset, split, simulations, total in benchmarks:
        parts = ["/".join(filter(None, (dataset, split)))]
        if len(simulations_of[dataset, split]) > 1:
            parts.append(counted(simulations, "simulation"))
        if len(totals_of[dataset, split]) > 1:
            parts.append(counted(total, "theorem"))
        names[dataset, split, simulations, total] = ", ".join(parts)
    return names


def _time_of_row(row: schema.EvaluationRow) -> tuple[float, int, str]:
    return row["time"] or 0.0, row["step"] or 0, row["name"]


def _result_files(path: Path) -> list[Path]:
    """Return the file of the first rank, which is there from the beginning, and those of the others."""
    return [path / "results.jsonl", *sorted(path.glob("results_r*.jsonl"))]


def read_settings(path: Path) -> dict[str, Any] | None:
    """Read the `settings.json` of an evaluation, which is there from its beginning; None if it is not."""
    return tail.read_object(path / "settings.json")


def model_path(summary: dict[str, Any]) -> str:
    """Return the path of the checkpoint that was evaluated; empty where there was none."""
    return tail.as_text(tail.as_dict(summary.get("model")).get("path"), 1000)


def _about(record: dict[str, Any], settings: dict[str, Any]) -> str:
    """Return what was evaluated, in a few words: checkpoint or policy, seed, and how many tactics of each state."""
    policy = tail.as_text(record.get("policy") or settings.get("policy"), 100)
    parts = ["/".join(Path(model_path(record)).parts[-2:]) or policy]
    for name, template in (("seed", "seed {}"), ("num_sampled_tactics", "{} tactics each")):
        if isinstance(settings.get(name), int):
            parts.append(template.format(settings[name]))
    return ", ".join(filter(None, parts))[:300]


def _step_of(name: str, record: dict[str, Any], settings: dict[str, Any]) -> int | None:
    """Return the checkpoint's step: as recorded, else the first word of the folder's name, as in `120_nanolean`."""
    step = record.get("step", settings.get("step"))
    if isinstance(step, int):
        return tail.as_int(step)
    head = name.removeprefix("eval_").removeprefix("whole_").split("_")[0]
    return int(head) if head.isdigit() and len(head) < 12 else None


def _to_row(name: str, record: dict[str, Any], results: Results | None) -> schema.EvaluationRow:
    """Sum an evaluation up; one that is under way counts the results so far."""
    settings = tail.as_dict(record.get("settings"))
    # When it ended, or is now: by its last part, as an evaluation may be stopped and go on.
    parts = tail.as_list(record.get("parts"))
    last_part = tail.as_dict(parts[-1]) if parts else {}
    time = tail.as_float(last_part.get("started"))
    if time is not None:
        time += tail.as_float(last_part.get("seconds")) or 0.0
    if results is None:
        tried = total = tail.as_int(record.get("total"))
        solved, errors = tail.as_int(record.get("solved")), tail.as_int(record.get("errors"))
    else:
        outcomes = Counter(result["outcome"] for result in results.items)
        solved, errors = outcomes["proven"], outcomes["error"]
        tried = len(results.items)
        total = max(tried, tail.as_int(settings.get("theorems")))
    low, high = wilson(min(solved, tried), tried)
    return {
        "name": name,
        "about": _about(record, settings),
        "model": model_path(record),
        "dataset": tail.as_text(record.get("dataset")) or tail.as_text(settings.get("dataset")) or "unknown",
        "split": tail.as_text(record.get("split")) or tail.as_text(settings.get("split")),
        "step": _step_of(name, record, settings),
        "time": time,
        "over": results is None,
        "done": tried,
        "total": total,
        "solved": solved,
        "low": low,
        "high": high,
        "failed": max(0, tried - solved - errors),
        "errors": errors,
        "simulations": tail.as_int(record.get("simulations"), tail.as_int(settings.get("num_simulations"))),
        "tactic_samples": tail.as_int(record["tactic_samples"]) if "tactic_samples" in record else None,
        "seconds": tail.as_float(record.get("seconds")),
        "solved_at": tail.as_counts(record.get("solved_at")),
        "baseline": tail.as_counts(tail.as_dict(record.get("baseline")).get("solved_at")) or None,
        "accepted": _accepted(tail.as_dict(record.get("verdicts"))),
    }


def _accepted(verdicts: dict[str, Any]) -> str:
    outside = {tail.as_text(name, 100): count for name, count in tail.as_counts(verdicts.get("outside")).items()}
    counts = {name: tail.as_int(verdicts.get(name)) for name in ("proofs", "nanolean")}
    return accepted_by({**counts, "outside": outside})


def _namesakes(folder: Path, result: schema.EvaluationResult, ending: str) -> list[Path]:
    """Return the files that may be those of a result: of its name, and of others whose names begin like that."""
    if folder.is_symlink():
        return []
    # Spelled as in `evaluation/results.py:proof_names`, which puts a hash behind names that several theorems share.
    stem = cut_name(re.sub(r"[^\w.'+-]|^\.", "_", result["id"]))
    return sorted(folder.glob(f"{stem}*{ending}"))[:_MAX_NAMESAKES]
