"""A run of reinforcement learning that never happened: its directory, file by file, up to now and on from there.

`SimulatedRun` has a clock of its own. `catch_up(t)` writes all that would have happened until `t`; called again and
again with the time of day it is a live run, called once it is one that is over.
"""

import gzip
import heapq
import json
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from nanoproof.common.files import JsonlWriter, atomic_write_json, json_line
from nanoproof.evaluation.summary import event_fields, summarize
from nanoproof.monitor.server import start_monitor
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.attempt_log import AttemptLog
from tests.fakes.simulated_lean import (
    Invented,
    invent_attempt,
    invent_state,
    invent_tactic,
    invent_theorem,
    invent_tree,
)

BENCHMARKS = ("simulated", "simulated-hard")
"""Names that no benchmark has, so that a picture of an invented curve cannot be taken for a result."""


class SimulatedRun:
    """Ranks with actors that try theorems; steps; evaluations every few steps."""

    def __init__(
        self,
        path: Path,
        start: float | None = None,
        ranks: int = 2,
        actors: int = 8,
        theorems: int = 600,
        collect_seconds: float = 40.0,
        num_steps: int = 400,
        trees: int = 60,
        first_step: int = 0,
        details_from: float = 0.0,
        seed: int = 0,
    ) -> None:
        """`details_from` is the time from which on timelines and search trees are written.

        With a `first_step` it continues what is in the directory, as a run that was resumed there.
        """
        self.path, self.ranks, self.actors, self.num_steps = Path(path), ranks, actors, num_steps
        self.now = self.start = time.time() if start is None else start
        self.step, self.phase, self.trees, self.details_from = first_step, "starting", trees, details_from
        self._collect_seconds, self._rng = collect_seconds, Random(seed)
        self._theorems = [invent_theorem(number, seed) for number in range(theorems)]
        self._queue: list[tuple[float, int, Callable[[], None]]] = []
        self._order = 0
        self._files: dict[str, JsonlWriter] = {}
        self._logs = [AttemptLog(self.path, rank) for rank in range(ranks)]
        self._sequence = [0] * ranks
        self._kept: list[Path] = []
        self._who: dict[tuple[int, int], dict[str, Any]] = {}
        self._seconds: dict[tuple[int, int], dict[str, float]] = {}
        self._actor_spans: list[list[tuple[int, str, float, float]]] = [[] for _ in range(ranks)]
        self._batches: list[list[tuple[float, float, int, int, int]]] = [[] for _ in range(ranks)]
        self._phases: list[tuple[str, float, float]] = []
        self._written = self.details_from
        self.counts = {"attempts": 0, "proofs": 0, "errors": 0}
        self._proven: set[str] = set()
        self._begin()

    # -- the clock ---------------------------------------------------------------------------------------------------

    def catch_up(self, until: float) -> None:
        """Let everything happen that happens before `until`."""
        while self._queue and self._queue[0][0] <= until:
            self.now, _, happen = heapq.heappop(self._queue)
            happen()
        self.now = until
        self._write_timelines()

    def go_on(self, stopped: Callable[[], bool], tick: float = 0.5) -> None:
        """Be live until `stopped()`."""
        while not stopped():
            self.catch_up(time.time())
            self.write_status()
            time.sleep(tick)
        self.close()

    def close(self) -> None:
        """End the run."""
        self.phase = "stopped"
        self.write_status()
        for file in self._files.values():
            file.close()
        for log in self._logs:
            log.close()

    def _at(self, seconds: float, happen: Callable[[], None]) -> None:
        self._order += 1
        heapq.heappush(self._queue, (self.now + seconds, self._order, happen))

    # -- what happens ------------------------------------------------------------------------------------------------

    @property
    def skill(self) -> float:
        """How good the model is by now."""
        return skill_at(self.step)

    def _begin(self) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        started = time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(self.start))
        decisions = {"model": "11,534,336 parameters", "lean": "simulated", "device": "cpu: simulated"}
        args = {"run": "simulated", "num_steps": self.num_steps, "collect_transitions": 400, "datasets": ["simulated"]}
        meta = {"command": ["nanoproof.rl", "--run", "simulated"], "started": started}
        atomic_write_json(self.path / "args.json", args)
        atomic_write_json(self.path / "meta.json", {**meta, "versions": {"python": "3.11"}, "decisions": decisions})
        self._event("start", run="simulated")
        self._log(0, "INFO", "nanoproof.rl", f"simulated run of {self.ranks} ranks with {self.actors} actors each")
        for rank in range(self.ranks):
            for actor in range(self.actors):
                self._who[rank, actor] = {"state": "idle", "theorem": "", "simulations": 0, "budget": 0}
                self._seconds[rank, actor] = {"model": 0.0, "lean": 0.0, "idle": 0.0, "error": 0.0}
        self._evaluate(then=self._collect)

    def _enter(self, phase: str) -> None:
        self.phase, self._phase_began = phase, self.now
        self._event("phase", phase=phase, step=self.step)

    def _leave(self) -> None:
        self._phases.append((self.phase, self._phase_began, self.now))

    def _collect(self) -> None:
        self._enter("collect")
        self._before = dict(self.counts)
        for who in self._who:
            self._attempt(who, self.now + self._collect_seconds * (0.8 + 0.4 * self._rng.random()))
        self._at(1.2 * self._collect_seconds + 4, self._train)

    def _attempt(self, who: tuple[int, int], until: float) -> None:
        rng, (rank, _) = self._rng, who
        one = self._theorems[min(len(self._theorems) - 1, int(rng.random() ** 1.5 * len(self._theorems)))]
        budget = rng.choice((16, 32, 64, 128))
        attempt = invent_attempt(one, rng, self.skill, budget, self.step)
        seconds = min(8 * attempt.seconds["search"], max(1.0, 1.15 * until - self.now))
        self._who[who] = {"state": "model", "theorem": one.theorem.id, "simulations": 0, "budget": budget}
        self._work(who, seconds, attempt.simulations)

        def end() -> None:
            self._who[who] = {"state": "idle", "theorem": "", "simulations": 0, "budget": 0}
            self._finish(rank, one, attempt)
            if self.now < until:
                self._attempt(who, until)

        self._at(seconds, end)

    def _work(self, who: tuple[int, int], seconds: float, simulations: int) -> None:
        """An actor's time: model and Lean by turns."""
        if self.now < self.details_from:
            return
        rng, moment, turn = self._rng, 0.0, 0
        while moment < seconds:
            state = ("model", "lean")[turn % 2] if rng.random() > 0.002 else "error"
            length = min(seconds - moment, 0.15 + rng.expovariate(3.0))
            begin = self.now + moment

            def spend(begin: float = begin, length: float = length, state: str = state, at: float = moment) -> None:
                now = {**self._who[who], "state": state, "simulations": int(simulations * at / seconds)}
                self._who[who] = now
                self._seconds[who][state] += length
                self._actor_spans[who[0]].append((who[1], state, begin, begin + length))
                if state == "model" and rng.random() < 0.3:
                    rows = rng.randint(1, self.actors)
                    self._batches[who[0]].append((begin, length / 2, 6 * rows, rows, rng.randint(0, self.actors)))

            self._at(moment, spend)
            moment, turn = moment + length, turn + 1

    def _finish(self, rank: int, one: Invented, attempt: Attempt) -> None:
        number = {"step": self.step, "rank": rank, "sequence": self._sequence[rank]}
        name = [self.step, rank, self._sequence[rank]]
        self._sequence[rank] += 1
        tree = self.now >= self.details_from and self.trees > 0 and attempt.outcome != "error"
        if tree:
            self._keep_tree(one, attempt, name)
        record = {"number": number, "time": round(self.now, 3), **attempt.to_json()}
        self._logs[rank].write(record, kept_tree=tree)
        self.counts["attempts"] += 1
        self.counts["proofs"] += attempt.outcome == "proven"
        self.counts["errors"] += attempt.outcome == "error"
        if attempt.outcome == "proven":
            self._proven.add(one.theorem.id)
        if attempt.outcome == "error":
            self._log(rank, "WARNING", "nanoproof.actors.actor", f"actor gave up {one.theorem.id}: server away")
        if self._rng.random() < 0.05:
            self._sample(rank, one)

    def _keep_tree(self, one: Invented, attempt: Attempt, name: list[int]) -> None:
        size = int(4 + attempt.simulations * (2 + 4 * self._rng.random()))
        size = 5000 if len(self._kept) == self.trees // 2 else size  # one that is as large as they come
        file = self.path / "trees" / f"{name[0]}_{name[1]}_{name[2]}.json.gz"
        file.parent.mkdir(exist_ok=True)
        tree = invent_tree(one, attempt, self._rng, size)
        file.write_bytes(gzip.compress(json.dumps(tree, ensure_ascii=False).encode(), compresslevel=1))
        self._kept.append(file)
        if len(self._kept) > self.trees * self.ranks:
            self._kept.pop(0).unlink(missing_ok=True)

    def _sample(self, rank: int, one: Invented) -> None:
        rng, left = self._rng, self._rng.randint(1, one.length)
        value = max(1.0, left * (0.7 + 0.6 * rng.random()) + rng.gauss(0, 3 * (1 - self.skill)))
        weights = [2.0 ** -abs(depth - value) for depth in range(1, 65)]
        outcomes = ["applied"] * 3 + ["rejected"] * 4 + ["timeout", "cycle", "solved"]
        tactics = [
            {"tactic": invent_tactic(rng, rng.random() < 0.3), "logprob": round(-rng.expovariate(0.25), 3)}
            | {"count": rng.randint(1, 3), "outcome": rng.choice(outcomes), "message": ""}
            for _ in range(rng.randint(2, 6))
        ]
        known = rng.random() < 0.6
        self._write(
            f"samples_r{rank}.jsonl",
            {
                **{"time": round(self.now, 3), "step": self.step, "rank": rank},
                **{"dataset": one.theorem.dataset, "id": one.theorem.id, "state": invent_state(one, rng, left)},
                **{"tactics": tactics, "dropped": rng.randint(0, 1), "value": round(value, 3)},
                "distribution": [round(weight / sum(weights), 5) for weight in weights],
                "depth": left if known else None,
            },
        )

    def _train(self) -> None:
        self._leave()
        self._enter("train")
        self._at(6 + 3 * self._rng.random(), self._trained)

    def _trained(self) -> None:
        rng = self._rng
        self._leave()
        self.step += 1
        new = {name: self.counts[name] - self._before[name] for name in self.counts}
        loss = 0.6 + 1.9 / (1 + self.step / 25) + rng.gauss(0, 0.04)
        self._write(
            "metrics.jsonl",
            {
                **{"step": self.step, "time": round(self.now, 3), **new, "loss": loss, "tactic_loss": 0.8 * loss},
                **{"value_loss": 0.2 * loss, "grad_norm": 0.5 + rng.random(), "transitions": 3 * new["proofs"]},
                **{"simulations": 40 * new["attempts"], "theorems_proven": len(self._proven)},
                **{"replay": min(20000, 3 * self.counts["proofs"]), "staleness": self.step / 2},
                **{"seconds/collect": 1.2 * self._collect_seconds + 4, "seconds/train": 6 + rng.random()},
            },
        )
        self._log(0, "INFO", "nanoproof.rl.loop", f"step {self.step}: loss {loss:.3f}, {new['proofs']} proofs")
        for kind in ("sft", "replay"):
            one = rng.choice(self._theorems)
            tokens = (invent_state(one, rng, 1) + "\n" + invent_tactic(rng)).replace(" ", " \0").split("\0")
            losses = [None if i < len(tokens) // 2 else round(rng.expovariate(1.2), 3) for i in range(len(tokens))]
            sample = {"time": round(self.now, 3), "step": self.step, "kind": kind, "tokens": tokens, "losses": losses}
            self._write("train_samples.jsonl", {**sample, "loss": round(loss, 3)})
        if self.step >= self.num_steps:
            self.phase = "stopped"
        elif self.step % 10 == 0:
            self._event("checkpoint", step=self.step, path=f"step_{self.step:06d}")
            self._evaluate(then=self._collect)
        else:
            self._collect()

    def _evaluate(self, then: Callable[[], None]) -> None:
        self._enter("evaluate")

        def end() -> None:
            self._leave()
            for benchmark in BENCHMARKS:
                fields = write_evaluation(self.path, benchmark, self.step, self.now, self.skill)
                self._event("evaluation", **fields)
            then()

        self._at(20, end)

    # -- files -------------------------------------------------------------------------------------------------------

    def _write(self, name: str, record: dict[str, Any]) -> None:
        if name not in self._files:
            self._files[name] = JsonlWriter(self.path / name)
        self._files[name].write(record)

    def _event(self, kind: str, **fields: Any) -> None:
        self._write("events.jsonl", {"time": round(self.now, 3), "kind": kind, **fields})

    def _log(self, rank: int, level: str, logger: str, text: str) -> None:
        clock = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.now))
        with open(self.path / ("log.txt" if rank == 0 else f"log_r{rank}.txt"), "a", encoding="utf-8") as file:
            file.write(f"{clock} r{rank} {level} {logger}: {text}\n")

    def _write_timelines(self) -> None:
        """A line for what happened since the last one; spans are cut at its ends."""
        start, self._written = max(self._written, self.details_from), self.now
        if self.now <= start:
            self._phases.clear()
            return

        def cut(begin: float, end: float) -> tuple[float, float]:
            begin, end = max(begin, start), min(end, self.now)
            return round(1000 * (begin - start), 1), round(1000 * (end - begin), 1)

        phases = [*self._phases, (self.phase, self._phase_began, self.now)]
        for rank in range(self.ranks):
            spans, batches = self._actor_spans[rank], self._batches[rank]
            actors = [[actor, state, *cut(*when)] for actor, state, *when in spans if when[0] < self.now]
            steps = [[*cut(begin, begin + length), *rest] for begin, length, *rest in batches]
            lines = {"actors": actors, "steps": steps, "phases": [[name, *cut(*when)] for name, *when in phases]}
            self._write(f"timeline_r{rank}.jsonl", {"from": round(start, 3), "to": round(self.now, 3), **lines})
            self._actor_spans[rank] = [span for span in spans if span[3] > self.now]
            batches.clear()
        self._phases.clear()

    def write_status(self) -> None:
        """What each rank is doing now."""
        for rank in range(self.ranks):
            snapshot = {
                **{"time": self.now, "pid": 4000 + rank, "phase": self.phase, "step": self.step, "rank": rank},
                **{"num_steps": self.num_steps, "seconds": round(self.now - self.start, 1), "collected": 123},
                **{"collect_transitions": 400, "attempts": self.counts["attempts"], "proofs": self.counts["proofs"]},
                **{"theorems_proven": len(self._proven), "theorems": len(self._theorems)},
                **{"replay": min(20000, 3 * self.counts["proofs"]), "negative": 5 * self.counts["attempts"]},
                "memory": 1_400_000_000 + 1_000_000 * self.step,
                "gpu": {"name": "simulated GPU", "utilization": 0.7, "memory": 41e9, "memory_total": 80e9},
                "actors": [
                    {"actor": actor, **self._who[rank, actor], "server": f"127.0.0.1:{8000 + actor % 2}"}
                    | {"seconds": {name: round(value, 2) for name, value in self._seconds[rank, actor].items()}}
                    for actor in range(self.actors)
                ],
            }
            atomic_write_json(self.path / f"status_r{rank}.json", snapshot)


def write_evaluation(
    path: Path, benchmark: str, step: int, now: float, skill: float, theorems: int = 48
) -> dict[str, Any]:
    """The directory of an evaluation that is over; returns what the run's events say of it."""
    rng = Random(f"{benchmark}/{step}")
    chosen = [invent_theorem(50_000 + number) for number in range(theorems)]
    harder = 0.12 if benchmark == "simulated-hard" else 0.0
    attempts = [invent_attempt(one, rng, skill - harder, 64, step) for one in chosen]
    summary = {"dataset": benchmark, "split": "valid", "seed": 0, **summarize(attempts, 64, 19.5), "step": step}
    settings = {"dataset": benchmark, "split": "valid", "num_simulations": 64, "theorems": theorems, "seed": 0}
    record = {"settings": settings, "parts": [{"started": round(now - 20, 1), "seconds": 19.5}]}
    place = path / "evals" / f"{step}_{benchmark}_valid"
    place.mkdir(parents=True, exist_ok=True)
    text = "".join(json_line(attempt.to_json()) for attempt in attempts)
    (place / "results.jsonl").write_text(text, encoding="utf-8")
    (place / "settings.json").write_text(json.dumps(record))
    (place / "summary.json").write_text(json.dumps({**summary, **record}))
    return event_fields(summary)


def skill_at(step: int) -> float:
    """How good the model is after so many steps."""
    return 0.25 + 0.6 * step / (step + 80)


def write_history(path: Path, seconds: float, **options: Any) -> SimulatedRun:
    """A run that began so many seconds ago, up to now; its last five minutes in detail."""
    now = time.time()
    run = SimulatedRun(path, start=now - seconds, details_from=now - min(300.0, seconds), **options)
    moment = max(now - 300.0, run.start)
    run.catch_up(moment)
    while moment < now:  # timelines are written second by second
        moment = min(now, moment + 1.0)
        run.catch_up(moment)
    run.write_status()
    return run


def show_until_interrupted(path: Path, port: int, what: str, token: str | None = None) -> None:
    """Show a run on a monitor until Ctrl-C, and say where."""
    monitor = start_monitor(port, token=token)
    monitor.show(path)
    print(f"{what}\nmonitor: {monitor.address} (Ctrl-C ends it)", flush=True)
    try:
        monitor.wait()
    except KeyboardInterrupt:
        pass
    finally:
        monitor.close()
