"""The state of one run directory, read once for all viewers.

It works the same while a run writes its files and afterwards. Missing files are empty, and a line that is torn or
damaged hides no other. Nothing is ever written here.
"""

import logging
import secrets
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nanoproof.monitor import identity
from nanoproof.monitor.attempts import AttemptStore, TheoremTable
from nanoproof.monitor.baselines import SolverBaselines
from nanoproof.monitor.evaluations import EvaluationStore, evaluation_state
from nanoproof.monitor.ranks import MAX_ACTORS, RankStore, StateAsker, Watch
from nanoproof.monitor.records import CalibrationSums, LineFiles
from nanoproof.monitor.rounds import is_selfplay, last_heard
from nanoproof.monitor.schema import Actors, Best, Indexing, LiveOverview, Overview, RunInfo, RunState
from nanoproof.monitor.series import EventStore, MetricStore
from nanoproof.monitor.tail import Tail, as_dict, as_float, as_int, file_stamp, int_or_none, read_object, without_none
from nanoproof.monitor.timeline import TimelineReader

log = logging.getLogger(__name__)

_MAX_EVENTS = 50
_IDLE_AFTER_SECONDS = 20.0
_POLL_SECONDS = 0.05
_MAX_JSON_BYTES = 1 << 20


class RunReader:
    """One run, or some `evaluations` that may lie anywhere. Hold `lock` while reading its stores."""

    def __init__(self, path: Path, every_seconds: float = 0.5, evaluations: Sequence[Path] = ()) -> None:
        self.path, self._only = Path(path), evaluations
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
        self.ranks, self.evaluations = RankStore(self.path), EvaluationStore(self.path, self._only)
        self.solvers = SolverBaselines(self.path)
        self.samples = LineFiles(self.path, "samples_r*", self.calibration.add)
        self.train_samples = LineFiles(self.path, "train_samples")
        self.timeline = TimelineReader(self.path)
        self.active = identity.ActiveTime()
        self.watch, self.states = Watch(self.path), StateAsker(self.path)
        self._options: tuple[Any, dict[str, Any], dict[str, Any]] = (None, {}, {})
        self._metrics_tail = Tail(self.path / "metrics.jsonl")
        self._event_tails: dict[int, Tail] = {}
        self.has_more = True
        """Whether there is something that was not read yet."""

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
            if self.has_more:
                self._stop.wait(0.001)  # so that requests get the lock in between
                continue
            # Nobody looks: a monitor that is forgotten in a terminal takes no time of the machine.
            is_idle = time.monotonic() - self._last_request >= _IDLE_AFTER_SECONDS
            self._wake.wait(None if is_idle else self._every_seconds)
            self._wake.clear()
            self._stop.wait(self._every_seconds / 2)

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
            # Requests wait for the lock: a log of gigabytes is read a twentieth of a second at a time.
            deadline = self._last_poll + _POLL_SECONDS
            more = True
            while more and time.monotonic() < deadline:
                more = self._poll_once()
                if self._metrics_tail.restarts or any(tail.restarts for tail in self._event_tails.values()):
                    self._reset()  # files became shorter or disappeared: this is another run now
                    more = True
            self.has_more = more

    def _poll_once(self) -> bool:
        for file in self.path.glob("events*.jsonl"):
            rank = file.stem.removeprefix("events").removeprefix("_r")
            if rank == "" or rank.isdigit():
                self._event_tails.setdefault(int(rank or 0), Tail(file))
        for number, tail in self._event_tails.items():
            for record in tail.records():
                self.events.add(record, number)
                self._note_time(record)
        for record in self._metrics_tail.records():
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
            "identity": identity.identity(self.path, args, meta),
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
        return {"done": not self.has_more, "bytes": self.attempts.covered, "total_bytes": self.attempts.size}

    def _args_and_meta(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the run's `args.json` and `meta.json`; empty where they are missing or damaged."""
        args, meta = self.path / "args.json", self.path / "meta.json"
        stamps = file_stamp(args), file_stamp(meta)
        if stamps != self._options[0]:
            self._options = stamps, self._read(args), self._read(meta)
        return self._options[1:]

    def _read(self, file: Path) -> dict[str, Any]:
        return read_object(file, _MAX_JSON_BYTES) or {}

    def state(self, now: float) -> RunState:
        """Tell whether the run goes on, or how it ended."""
        if self._is_evaluation():
            return evaluation_state(self.evaluations.paths())
        times = without_none([as_float(status.get("time")) for status in self.ranks.statuses.values()])
        stopped = self._main_status().get("phase") == "stopped"  # the first rank is the last to stop
        heard = last_heard(self.path) if is_selfplay(self.path) else self.active.last
        return identity.run_state(self.path, max(times, default=None), stopped, heard, now)

    def _main_status(self) -> dict[str, Any]:
        """Return the status of the first rank, which counts for the whole run; empty if there is none."""
        return next(iter(self.ranks.statuses.values()), {})

    def _is_evaluation(self) -> bool:
        """Tell whether this is a folder of evaluations, which has none of the files of a run."""
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
        main = self._main_status()
        newest_step = self.metrics.rows[-1].step if self.metrics.rows else None
        step = main.get("step", newest_step)
        num_steps = as_float(main.get("num_steps")) or identity.planned_steps(*self._args_and_meta())
        if num_steps is not None:
            num_steps = int(num_steps) if num_steps < identity.UNBOUNDED_STEPS else None
        # A run that has ended was at work up to its last sign, and nothing is to come.
        elapsed = self._elapsed(main, now if live else None)
        remaining = self._remaining(main, step, num_steps, now) if live else None
        until_evaluation = self._until_evaluation(main) if live else None

        def number(name: str) -> int | None:
            value = as_float(main.get(name))
            return None if value is None else as_int(main.get(name), round(value))

        counts = self.attempts.outcomes
        return {
            "time": now,
            "live": live,
            "state": state,
            "phase": str(main.get("phase") or "")[:100],
            "step": int_or_none(step),
            "num_steps": num_steps,
            "elapsed": elapsed,
            "seconds": as_float(main.get("seconds")),
            "max_seconds": as_float(main.get("max_seconds")),
            "remaining": remaining,
            "until_evaluation": until_evaluation,
            "collected": number("collected"),
            "collect_transitions": number("collect_transitions"),
            "indexing": self._indexing(),
            "attempts": len(self.attempts),
            # Of the newest step on: an attempt has the number of the step whose weights it began with.
            "since_step": self.attempts.count_from(newest_step or 0),
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
        """Return the seconds until the next evaluation: by the clock, or by the pace of the newest steps."""
        left, pace = as_dict(main.get("until_evaluation")), self.metrics.seconds_per_step()
        seconds, steps = as_float(left.get("seconds")), as_float(left.get("steps"))
        if seconds is None and steps is not None and pace is not None:
            return steps * pace
        return seconds

    def full_step(self) -> float | None:
        """Return how many transitions a step of the run is to collect; None if that is unknown."""
        return as_float(self._main_status().get("collect_transitions"))

    def _elapsed(self, main: dict[str, Any], now: float | None) -> float | None:
        """Return the seconds at work, over all parts of the run: never fewer than the run counts itself."""
        return max(without_none([self.active.seconds(now), as_float(main.get("seconds"))]), default=None)

    def _remaining(self, main: dict[str, Any], step: Any, num_steps: float | None, now: float) -> float | None:
        """Return the seconds that the run reports itself, or an estimate from its newest steps."""
        reported = as_float(main.get("remaining"))
        limited = num_steps is not None or as_float(main.get("max_seconds")) is not None
        if reported is not None and limited:
            # It was true when the status was written.
            return max(0.0, reported - (now - (as_float(main.get("time")) or now)))
        pace = self.metrics.seconds_per_step()
        if not isinstance(step, int) or num_steps is None or pace is None:
            return None
        return max(0.0, (num_steps - step) * pace)

    def overview(self) -> Overview:
        """Return what the first page shows."""
        record = self._read(self.path / "best.json")
        best: Best | None = None
        if isinstance(record.get("step"), int) and isinstance(record.get("solved"), int):
            best = {"step": record["step"], "solved": record["solved"]}
        meta = self._args_and_meta()[1]
        command = identity.command_of(meta)
        return {
            **self.live_overview(),
            "run": self.path.name,
            "title": identity.read_note(self.path)["title"],
            "stage": self._stage(command),
            "rounds": is_selfplay(self.path),
            "resume": identity.resume_command(self.path, command, as_dict(meta.get("decisions"))),
            "benchmarks": self.solvers.beside(self.evaluations.benchmarks()),
            "best": best,
            "checkpoints": list(self.events.checkpoints),
            "events": list(self.events.newest)[: -_MAX_EVENTS - 1 : -1],
        }

    def _stage(self, command: list[str]) -> str:
        if is_selfplay(self.path):
            return "self-play"
        return "evaluation" if self._is_evaluation() else identity.stage_of(command)

    def actors(self, most: int = MAX_ACTORS) -> Actors:
        """Return what the actors are doing."""
        now = time.time()
        return {"time": now, "ranks": self.ranks.actors(now, most)}
