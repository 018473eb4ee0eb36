"""The tree of a search that is under way, written for the monitor while somebody looks at it.

Two files of a run directory for each rank whose actors are threads:

- `watch_r<rank>.json`, which the monitor writes anew, every second or so, as long as a page asks: `{"actor": 3,
  "after": 17}`. With `after` the search of this number, which is over, is not to be shown any longer.
- `live_r<rank>.json.gz`, which the rank writes as long as it is asked: the search of that actor as it is,

      {"time": ..., "actor": 3, "search": 18, "theorem": "lists_17", "dataset": "nanolean", "purpose": "collect",
       "simulations": 40, "budget": 64, "nodes": 311, "outcome": null, "message": "", "attempt": null, "tree": {...}}

  `tree` is what `search/tree_json.py` describes; null where it has more than `MAX_NODES` nodes. When the search is over
  `outcome` says how, and the file stays so until the next one is asked for; `attempt` then names it, as
  {"step": 3, "sequence": 17, "tree": true} with whether its tree is kept, which is then written. `{"actor": 3,
  "elsewhere": true}` is all that can be told of a search in another process.

An actor takes the snapshot itself, between two simulations, when its tree is whole; another thread writes it. An actor
that nobody looks at pays for one comparison with None in each simulation.
"""

import gzip
import os
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from nanoproof.common.files import atomic_write, json_line, read_object
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.prover import AttemptObserver
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import Node
from nanoproof.search.tree_json import tree_to_json

LEAST_SECONDS = 0.4
"""Between two snapshots."""
SHARE = 0.03
"""Taking snapshots costs no more of the time of the search that is watched, and writing them no more of a processor."""
ASKED_SECONDS = 4.0
"""So long after the last question a search is still watched: some questions may be late."""
MAX_NODES = 20_000
"""Of a larger tree only the numbers are shown; people could not read it, and it would hold up the actor."""


def watch_file(run_path: Path, rank: int) -> Path:
    """Return the path of the question for a search of a rank."""
    return run_path / f"watch_r{rank}.json"


def live_file(run_path: Path, rank: int) -> Path:
    """Return the path of the search of a rank that is watched."""
    return run_path / f"live_r{rank}.json.gz"


class Searching(Protocol):
    """What an actor shows of its search: the number of the attempt, from 1, and the root of its tree."""

    viewer: "LiveTree | None"
    number: int
    attempts: int
    theorem: str
    dataset: str
    purpose: str
    budget: int
    root: Node | None
    search: SearchLog
    trace: AttemptObserver


class LiveTree:
    """Shows the search of one actor of a rank at a time, as long as it is asked for.

    `poll` and `close` are called by the thread that writes, `between` and `ended` by the actor that is watched.
    """

    def __init__(self, run_path: Path, rank: int) -> None:
        self._watch, self._live = watch_file(run_path, rank), live_file(run_path, rank)
        self._stamp = self._stamp_now()  # a question that was there before was not asked of this process
        self._asked: float | None = None
        self._actor: Searching | None = None
        self._lock = threading.Lock()
        self._shown: dict[str, Any] | None = None
        self._fresh = False
        self._trace: AttemptObserver | None = None
        self._over = -1
        self._not_before = float("-inf")
        with suppress(OSError):
            self._live.unlink(missing_ok=True)

    # -- The actor -----------------------------------------------------------------------------------------------

    def between(self, actor: Searching) -> None:
        """Take a snapshot of the actor's search, if it is time for one."""
        if time.monotonic() >= self._not_before and self._over == -1 and actor.root is not None:
            self._take(actor, None)

    def ended(self, actor: Searching, attempt: Attempt) -> None:
        """Take the last snapshot of the search whose attempt has ended."""
        if self._over == -1 and actor.root is not None:
            self._take(actor, attempt)

    def _take(self, actor: Searching, attempt: Attempt | None) -> None:
        began, nodes = time.thread_time(), actor.search.counts.nodes
        tree: dict[str, Any] | None = None
        if actor.root is not None and nodes <= MAX_NODES:
            tree = tree_to_json(actor.root)
            nodes = len(tree["kind"])
        outcome: str | None = None
        message = ""
        if attempt is not None:
            outcome, message = attempt.outcome, attempt.message
        shown = {
            "time": round(time.time(), 3),
            "actor": actor.number,
            "search": actor.attempts,
            "theorem": actor.theorem,
            "dataset": actor.dataset,
            "purpose": actor.purpose,
            "simulations": actor.search.counts.simulations,
            "budget": actor.budget,
            "nodes": nodes,
            "outcome": outcome,
            "message": message,
            "attempt": None,
            "tree": tree,
        }
        with self._lock:
            if actor.viewer is not self:  # somebody chose another one meanwhile
                return
            self._shown, self._fresh = shown, True
            self._trace = actor.trace
            if attempt is not None:
                self._over = actor.attempts
        self._not_before = time.monotonic() + max(LEAST_SECONDS, (time.thread_time() - began) / SHARE)

    # -- Attempts that are logged --------------------------------------------------------------------------------

    def shows(self, trace: AttemptObserver) -> bool:
        """Tell whether the attempt of this trace is the one that is watched, and over."""
        return self._over != -1 and self._trace is trace

    def logged(self, trace: AttemptObserver, step: int, sequence: int, tree: bool) -> None:
        """Note as what the attempt of this trace was logged, if it is shown still, and whether its tree is kept."""
        with self._lock:
            if self._shown is not None and self.shows(trace):
                attempt = {"step": step, "sequence": sequence, "tree": tree}
                self._shown, self._fresh = {**self._shown, "attempt": attempt}, True

    # -- The thread that writes ----------------------------------------------------------------------------------

    def poll(self, actors: Sequence[object]) -> None:
        """Look whether somebody asks, and write what is new. Raises OSError if that cannot be written."""
        stamp = self._stamp_now()
        if stamp is not None and stamp != self._stamp:
            self._stamp, self._asked = stamp, time.monotonic()
            self._answer(read_object(self._watch) or {}, actors)
        elif self._asked is not None and time.monotonic() - self._asked > ASKED_SECONDS:
            self.close()
        with self._lock:
            shown, fresh, self._fresh = self._shown, self._fresh, False
        if fresh and shown is not None:
            began = time.thread_time()
            self._write(shown)
            busy = time.thread_time() - began
            self._not_before = max(self._not_before, time.monotonic() + busy / SHARE)

    def close(self) -> None:
        """Show nothing any more, and leave neither question nor answer behind."""
        self._turn_to(None)
        self._asked = self._stamp = None
        for file in (self._watch, self._live):
            file.unlink(missing_ok=True)

    def _answer(self, question: dict[str, Any], actors: Sequence[object]) -> None:
        number, after = question.get("actor"), question.get("after")
        actor: Any = next((actor for actor in actors if getattr(actor, "number", None) == number), None)
        if actor is not None and not hasattr(actor, "viewer"):  # a `RemoteActor`, whose tree is in another process
            self._turn_to(None)
            self._write({"time": round(time.time(), 3), "actor": number, "elsewhere": True})
            return
        self._turn_to(actor)
        with self._lock:
            if after is not None and after == self._over:
                self._over, self._shown = -1, None

    def _turn_to(self, actor: Searching | None) -> None:
        if actor is self._actor:
            return
        if self._actor is not None:
            self._actor.viewer = None
        with self._lock:
            self._shown, self._fresh, self._trace, self._over = None, False, None, -1
            self._not_before = float("-inf")
        self._actor = actor
        if actor is not None:
            actor.viewer = self

    def _stamp_now(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self._watch)
        except OSError:
            return None
        # The number of the file, too: it is replaced by each question, and clocks of file systems are coarse.
        return status.st_mtime_ns, status.st_ino

    def _write(self, shown: dict[str, Any]) -> None:
        content = gzip.compress(json_line(shown).encode("utf-8", "replace"), 1)  # a lone surrogate of a model's text
        atomic_write(self._live, lambda file: file.write(content), sync=False)
