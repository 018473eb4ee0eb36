"""The state of one run directory, read once for all viewers.

It works the same while a run writes its files and afterwards. Missing files are empty, and a line that is torn or
damaged hides no other. Nothing is ever written here.
"""

import logging
import secrets
import threading
import time
from pathlib import Path
from typing import Any

from nanoproof.monitor.attempts import AttemptStore, TheoremTable
from nanoproof.monitor.baselines import SolverBaselines
from nanoproof.monitor.evaluations import EvaluationStore, evaluation_state
from nanoproof.monitor.identity import (
    UNBOUNDED_STEPS,
    ActiveTime,
    identity,
    planned_steps,
    read_note,
    resume_command,
    run_state,
    stage_of,
)
from nanoproof.monitor.ranks import MAX_ACTORS, RankStore, StateAsker, Watch
from nanoproof.monitor.records import CalibrationSums, LineFiles
from nanoproof.monitor.rounds import is_selfplay
from nanoproof.monitor.schema import Actors, Indexing, LiveOverview, Overview, RunInfo, RunState
from nanoproof.monitor.series import EventStore, MetricStore
from nanoproof.monitor.tail import Tail, as_dict, as_float, as_int, file_stat, parse_object, read_object
from nanoproof.monitor.timeline import TimelineReader

log = logging.getLogger(__name__)

_MAX_EVENTS = 50
_IDLE_AFTER_SECONDS = 20.0
_POLL_SECONDS = 0.05
_MAX_JSON_BYTES = 1 << 20


class RunReader:
    """One run. Hold `lock` while reading its stores."""

    def __init__(self, path: Path, every_seconds: float = 0.5) -> None:
        self.path = Path(path)
        self.server = secrets.token_hex(4)
        self.lock = threading.RLock()
        self._every_seconds = every_seconds
        self._last_request = self._last_poll = float("-inf")
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._reset()

    def _reset(self) -> None:
        self.attempts = AttemptStore(self.path)
        self.theorems = TheoremTable(self.attempts)
        self.metrics, self.events, self.calibration = MetricStore(), EventStore(), CalibrationSums()
        self.ranks, self.evaluations = RankStore(self.path), EvaluationStore(self.path)
        self.solvers = SolverBaselines(self.path)
        self.samples = LineFiles(self.path, "samples_r*", self.calibration.add)
        self.train_samples = LineFiles(self.path, "train_samples")
        self.timeline = TimelineReader(self.path)
        self.active = ActiveTime()
        self.watch, self.states = Watch(self.path), StateAsker(self.path)
        self._options: tuple[Any, dict[str, Any], dict[str, Any]] = (None, {}, {})
        self._metrics_tail = Tail(self.path / "metrics.jsonl")
        self._event_tails: dict[int, Tail] = {}
        self._has_more = True

    # -- reading -------------------------------------------------------------------------------------------------

    def start(self) -> "RunReader":
        """Begin to read in the background: all there is at once, and afterwards while requests come."""
        self._thread = threading.Thread(target=self._run, name="monitor-reader", daemon=True)
        self._thread.start()
        return self

    def close(self) -> None:
        """Stop reading."""
        self._stop.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout=10)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self.poll()
            except Exception:
                log.exception("the monitor could not read %s; it tries again", self.path)
                self._stop.wait(5.0)
            if not self._has_more:
                self._wake.wait(
                    self._every_seconds if time.monotonic() - self._last_request < _IDLE_AFTER_SECONDS else None
                )
                self._wake.clear()
            self._stop.wait(0.001 if self._has_more else self._every_seconds / 2)

    @property
    def has_more(self) -> bool:
        """Whether there is something that was not read yet."""
        return self._has_more

    def refresh(self) -> None:
        """Make sure that data is not older than the polling interval; called with each request."""
        now = time.monotonic()
        was_idle = now - self._last_request >= _IDLE_AFTER_SECONDS
        self._last_request = now
        if was_idle:
            self._wake.set()
        if now - self._last_poll >= self._every_seconds:
            self.poll()

    def poll(self) -> None:
        """Read what is new, for a bounded time."""
        with self.lock:
            self._last_poll = time.monotonic()
            deadline = self._last_poll + _POLL_SECONDS
            more = True
            while more and time.monotonic() < deadline:
                more = self._poll_once()
                if self._metrics_tail.restarts or any(tail.restarts for tail in self._event_tails.values()):
                    self._reset()  # files became shorter or disappeared: this is another run now
                    more = True
            self._has_more = more

    def _poll_once(self) -> bool:
        for file in self.path.glob("events*.jsonl"):
            rank = file.stem.removeprefix("events").removeprefix("_r")
            if rank == "" or rank.isdigit():
                self._event_tails.setdefault(int(rank or 0), Tail(file))
        for number, tail in self._event_tails.items():
            for line in tail.read():
                record = parse_object(line.text)
                if record is not None:
                    self.events.add(record, number)
                    self._note_time(record)
        for line in self._metrics_tail.read():
            record = parse_object(line.text)
            if record is not None:
                self.metrics.add(record)
                self._note_time(record)
        self.ranks.poll()
        more = [self.attempts.poll(), self.samples.poll(), self.train_samples.poll(), self.evaluations.poll()]
        tails = (self._metrics_tail, *self._event_tails.values())
        return any(more) or any(tail.behind > 1 << 20 for tail in tails)

    def _note_time(self, record: dict[str, Any]) -> None:
        moment = as_float(record.get("time"))
        if record.get("kind") == "resumed" and moment is not None:
            self.active.resumed(moment)
        self.active.heard(moment)

    # -- responses -----------------------------------------------------------------------------------------------

    def run_info(self) -> RunInfo:
        """Describe the run: name, options, and which files it has."""
        now = time.time()
        args, meta = self._args_and_meta()
        return {
            "name": self.path.name,
            "exists": self.path.is_dir(),
            "live": self._live(now),
            "time": now,
            "server": self.server,
            "ranks": list(self.ranks.statuses),
            "datasets": sorted(self.attempts.datasets),
            "args": args,
            "meta": meta,
            "identity": identity(self.path, args, meta),
            "indexing": self._indexing(),
            "has": {
                "attempts": len(self.attempts) > 0,
                "trees": any((self.path / "trees").glob("*.json.gz")),
                "timeline": any(self.path.glob("timeline_r*.jsonl")),
                "samples": any(self.path.glob("samples_r*.jsonl")),
                "train_samples": (self.path / "train_samples.jsonl").exists(),
                "evaluations": len(self.evaluations.rows()) > 0,
                "logs": any(self.path.glob("log*.txt")),
                "rounds": is_selfplay(self.path),
            },
        }

    def _indexing(self) -> Indexing:
        return {"done": not self._has_more, "bytes": self.attempts.covered, "total_bytes": self.attempts.size}

    def _args_and_meta(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The run's `args.json` and `meta.json`; empty where they are missing or damaged."""
        files = [self.path / name for name in ("args.json", "meta.json")]
        stamps = [(stat.st_mtime_ns, stat.st_size) if (stat := file_stat(file)) else None for file in files]
        if stamps != self._options[0]:
            args, meta = (read_object(file, _MAX_JSON_BYTES) or {} for file in files)
            self._options = stamps, args, meta
        return self._options[1:]

    def state(self, now: float) -> RunState:
        """Tell whether the run goes on, or how it ended."""
        if self._is_evaluation():
            return evaluation_state(self.evaluations.paths())
        statuses = list(self.ranks.statuses.values())
        times = [moment for status in statuses if (moment := as_float(status.get("time"))) is not None]
        stopped = bool(statuses) and statuses[0].get("phase") == "stopped"  # the first rank is the last to stop
        return run_state(self.path, max(times, default=None), stopped, self.active.last, now)

    def _is_evaluation(self) -> bool:
        """Whether this is a folder of evaluations, which has none of the files of a run."""
        args, meta = self._args_and_meta()
        is_run = args or meta or self.metrics.rows or self.ranks.statuses or self.events.newest
        return not is_run and bool(self.evaluations.rows())

    def _live(self, now: float) -> bool:
        return self.state(now)["name"] == "running"

    def live_overview(self) -> LiveOverview:
        """Return the part of the overview that changes all the time."""
        now = time.time()
        state = self.state(now)
        live = state["name"] == "running"
        main = next(iter(self.ranks.statuses.values()), {})
        step = main.get("step", self.metrics.rows[-1].step if self.metrics.rows else None)
        num_steps = as_float(main.get("num_steps")) or planned_steps(*self._args_and_meta())
        if num_steps is not None and num_steps >= UNBOUNDED_STEPS:
            num_steps = None

        def number(name: str) -> int | None:
            return None if as_float(main.get(name)) is None else as_int(main.get(name), round(main[name]))

        counts = self.attempts.outcomes
        return {
            "time": now,
            "live": live,
            "state": state,
            "phase": str(main.get("phase") or "")[:100],
            "step": step if isinstance(step, int) else None,
            "num_steps": None if num_steps is None else int(num_steps),
            "elapsed": self._elapsed(main, now if live else None),
            "seconds": as_float(main.get("seconds")),
            "max_seconds": as_float(main.get("max_seconds")),
            "remaining": self._remaining(main, step, num_steps, now) if live else None,
            "until_evaluation": self._until_evaluation(main) if live else None,
            "collected": number("collected"),
            "collect_transitions": number("collect_transitions"),
            "indexing": self._indexing(),
            "attempts": len(self.attempts),
            "since_step": self.attempts.count_from(self.metrics.rows[-1].step if self.metrics.rows else 0),
            "proofs": counts["proven"],
            "disproofs": counts["disproven"],
            "errors": counts["error"],
            "lost_proofs": self.attempts.lost,
            "refused_proofs": self.attempts.refused,
            "last_loss": self.attempts.last_loss,
            "theorems": number("theorems"),
            "theorems_proven": self.attempts.proven_theorems,
            "proofs_per_hour": self.attempts.proofs_per_hour(now if live else self.attempts.last_time() or now),
            "replay": number("replay"),
            "negative": number("negative"),
            "metrics": self.metrics.latest,
            "previous": self.metrics.previous,
            "ranks": self.ranks.rank_statuses(now),
            "servers": self.ranks.servers(self.events.servers, now),
            "hosts": self.ranks.hosts(self.events.hosts, now),
            "remote": self.ranks.remote(now),
        }

    def _until_evaluation(self, main: dict[str, Any]) -> float | None:
        """Seconds until the next evaluation: by the clock, or by the pace of the newest steps."""
        left, pace = as_dict(main.get("until_evaluation")), self.metrics.seconds_per_step()
        seconds, steps = as_float(left.get("seconds")), as_float(left.get("steps"))
        if seconds is not None:
            return seconds
        return None if steps is None or pace is None else steps * pace

    def full_step(self) -> float | None:
        """Return how many transitions a step of the run is to collect; None if that is unknown."""
        return as_float(next(iter(self.ranks.statuses.values()), {}).get("collect_transitions"))

    def _elapsed(self, main: dict[str, Any], now: float | None) -> float | None:
        """Seconds at work, over all parts of the run: never fewer than the run counts itself."""
        at_work, own = self.active.seconds(now), as_float(main.get("seconds"))
        return max((one for one in (at_work, own) if one is not None), default=None)

    def _remaining(self, main: dict[str, Any], step: Any, num_steps: float | None, now: float) -> float | None:
        """Seconds that the run reports itself, or an estimate from its newest steps."""
        reported = as_float(main.get("remaining"))
        limited = num_steps is not None or as_float(main.get("max_seconds")) is not None
        if reported is not None and limited:
            return max(0.0, reported - (now - (as_float(main.get("time")) or now)))
        pace = self.metrics.seconds_per_step()
        known = isinstance(step, int) and num_steps is not None and pace is not None
        return max(0.0, (num_steps - step) * pace) if known else None

    def overview(self) -> Overview:
        """Return what the first page shows."""
        best = read_object(self.path / "best.json", _MAX_JSON_BYTES) or {}
        known = isinstance(best.get("step"), int) and isinstance(best.get("solved"), int)
        meta = self._args_and_meta()[1]
        command = meta.get("command")
        words = [str(word) for word in command] if isinstance(command, list) else []
        return {
            **self.live_overview(),
            "run": self.path.name,
            "title": read_note(self.path)["title"],
            "stage": self._stage(words),
            "rounds": is_selfplay(self.path),
            "resume": resume_command(self.path, words, as_dict(meta.get("decisions"))),
            "benchmarks": self.solvers.beside(self.evaluations.benchmarks()),
            "best": {"step": best["step"], "solved": best["solved"]} if known else None,
            "checkpoints": list(self.events.checkpoints),
            "events": list(self.events.newest)[: -_MAX_EVENTS - 1 : -1],
        }

    def _stage(self, words: list[str]) -> str:
        if is_selfplay(self.path):
            return "self-play"
        return "evaluation" if self._is_evaluation() else stage_of(words)

    def actors(self, most: int = MAX_ACTORS) -> Actors:
        """Return what the actors are doing."""
        now = time.time()
        return {"time": now, "ranks": self.ranks.actors(now, most)}
