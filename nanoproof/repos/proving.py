"""Prove the `sorry`s of a project on several Lean processes: what is tried in which order, and the log of it.

All `sorry`s get a cheap try with solver tactics alone, then one with a small budget of the policy, and what is left
gets rising budgets, first where the root of the last search seemed closest to a proof. A search sees other `sorry`s,
and those of imported files, as axioms, so it depends on no other search, and its result holds whatever else is found.

Every try is a line in the log of the project, written at once. It is known by a digest of what Lean reads for it
without comments and without the proofs of earlier theorems, so that a later run knows what was tried before, a proof
that was filled in elsewhere invalidates nothing, and a statement that was changed whatever comes after it.
"""

import hashlib
import heapq
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from nanoproof.common.errors import UserError
from nanoproof.common.files import JsonlWriter, atomic_write_text, read_jsonl
from nanoproof.common.option_groups import LeanOptions
from nanoproof.lean.client import FleetServer, LeanFleet
from nanoproof.lean.lean_file import Gap, LeanFile
from nanoproof.lean.lexical import blank, find_top_level, mask, spans, without_header
from nanoproof.lean.source import ALLOWED_AXIOMS, COMMAND
from nanoproof.lean.types import CheckReport, LeanCalls, LeanError, SourceError
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.cli_input import SorryFiller
from nanoproof.prover.interactive import best_line, describe_effort
from nanoproof.prover.prover import Prover
from nanoproof.repos.project import Project, before_text, whole_text
from nanoproof.repos.traced_files import TracedTheorem
from nanoproof.search.render import SearchView, tree_page
from nanoproof.search.tree_json import tree_from_json

Outcome = Literal["proved", "not proved", "refused", "left alone", "not tried"]
LOG = "attempts.jsonl"
_TRIES_OF_A_FAILING_SERVER = 3
_FAILURES_IN_A_ROW = 8
_REST_SECONDS = 1.0
_LEASE_SECONDS = 120.0


# -- What is known from earlier runs ---------------------------------------------------------------------------------


def gap_key(source: str, lean: str) -> str:
    """Compute the digest of a gap's context: of what Lean reads for it, and the Lean that reads it.

    Comments, empty lines and the proofs of theorems before its own are left out: no later proof depends on them.
    """
    for kind, start, end in reversed(list(spans(source))):
        if kind in ("line", "block"):
            source = source[:start] + blank(source[start:end]) + source[end:]
    masked = mask(source)
    commands = list(COMMAND.finditer(masked))
    ends = [*(command.start() for command in commands[1:]), len(source)]
    pieces = [source[: commands[0].start()]] if commands else [source]
    for command, end in zip(commands, ends):
        start = command.start()
        if command["declaration"] in ("theorem", "lemma") and end < len(source):
            assign = find_top_level(masked[:end], ":=", command.end())
            end = end if assign < 0 else assign
        pieces.append(source[start:end] + "\n")
    lines = [line.rstrip() for line in "".join(pieces).split("\n") if line.strip()]
    return hashlib.sha256("\n".join([lean, *lines]).encode("utf-8", "surrogatepass")).hexdigest()[:24]


@dataclass
class Known:
    """What earlier tries at one gap have given: a proof, whether Lean refuses its statement, and the budgets tried."""

    proof: str = ""
    refused: str = ""
    budgets: dict[str, int] = field(default_factory=dict)
    tries: list[dict[str, Any]] = field(default_factory=list)

    def add(self, record: Mapping[str, Any]) -> None:
        """Take a record of the log into account."""
        outcome, method = record.get("outcome"), str(record.get("method", ""))
        if outcome == "proved":
            self.proof = str(record.get("proof", ""))
        elif outcome == "does not fit" and record.get("proof") == self.proof:
            self.proof = ""
        elif outcome == "refused":
            self.refused = str(record.get("message", ""))
        if outcome in ("proved", "not proved", "does not fit"):
            self.budgets[method] = max(self.budgets.get(method, 0), int(record.get("budget", 0)))
        if "simulations" in record:
            self.tries.append({name: record.get(name) for name in _OF_A_TRY})


_OF_A_TRY = ("method", "budget", "outcome", "message", "simulations", "seconds", "tactics_left", "line", "stopped")


class Ledger:
    """The log of a project's tries, in a folder; a killed run loses at most what it had not finished."""

    def __init__(self, folder: Path) -> None:
        """Read the log, and open it to go on. Raises UserError if it is damaged."""
        self.folder = folder
        self._known: dict[str, Known] = {}
        path = folder / LOG
        if path.exists():
            for record in read_jsonl(path):
                if isinstance(record, dict) and isinstance(record.get("key"), str):
                    self.known(record["key"]).add(record)
        self._writer = JsonlWriter(path)
        self._lock = threading.Lock()

    def known(self, key: str) -> Known:
        """Return what is known about a gap."""
        return self._known.setdefault(key, Known())

    def write(self, record: dict[str, Any]) -> None:
        """Append a record; it is on its way to the disk when this returns."""
        with self._lock:
            self._writer.write(record)
            self.known(record["key"]).add(record)

    def tree_path(self, key: str) -> Path:
        """Return the page with the tree of the last search for a gap."""
        return self.folder / "trees" / f"{key}.html"

    def close(self) -> None:
        """Close the log."""
        self._writer.close()


# -- What there is to do ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rung:
    """One way to try a gap: `method` says what decides the outcome besides the budget (policy, weights, options)."""

    name: str
    method: str
    budget: int
    prover: Prover


@dataclass
class Task:
    """A gap that is worked on, and what came of it."""

    path: str
    gap: Gap
    key: str
    number: int
    outcome: Outcome = "not tried"
    message: str = ""
    proof: str = ""
    from_before: bool = False
    """Whether the proof is one of an earlier run."""
    tactics_left: float = float("inf")
    """How many tactics the root of the last search seemed to need."""
    effort: str = ""
    """What the last search took, in words."""
    rung: int = 0
    failures: int = 0

    @property
    def place(self) -> str:
        """Where it is, for people."""
        return f"{self.path}:{self.gap.line}"

    @property
    def theorem_id(self) -> str:
        """What the theorem of a search for it is called; retrieval reads path and line."""
        return f"{self.path}, line {self.gap.line}"

    def is_in(self, theorem: TracedTheorem) -> bool:
        """Tell whether it is a `sorry` of a theorem that a trace found, where it was then."""
        inside = theorem.path == self.path and theorem.start.line <= self.gap.line <= theorem.end.line
        return inside and theorem.full_name.endswith(self.gap.name)


class TaskQueue:
    """Hands out tasks: the lowest rung first, in it those closest to a proof; ends when no task can come any more."""

    def __init__(self, stopped: Callable[[], bool]) -> None:
        self._heap: list[tuple[int, float, int, Task]] = []
        self._changed = threading.Condition()
        self._in_hand = 0
        self._stopped = stopped

    def put(self, task: Task) -> None:
        """Add a task."""
        with self._changed:
            heapq.heappush(self._heap, (task.rung, task.tactics_left, task.number, task))
            self._changed.notify()

    def take(self) -> Task | None:
        """Wait for a task; None if all is done or stopped. `done` has to follow."""
        with self._changed:
            while not self._stopped():
                if self._heap:
                    self._in_hand += 1
                    return heapq.heappop(self._heap)[-1]
                if not self._in_hand:
                    break
                self._changed.wait(0.2)
            self._changed.notify_all()
            return None

    def done(self) -> None:
        """Note that a task that was taken is finished, or was put back."""
        with self._changed:
            self._in_hand -= 1
            self._changed.notify_all()


# -- The work --------------------------------------------------------------------------------------------------------


@dataclass
class FileState:
    """A file with `sorry`s: what fills it, the check of it before anything was filled, and why it is left alone."""

    filler: SorryFiller
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True)
class FileCheck:
    """The check of a file with all it imports, before and after: both as Lean reports them."""

    path: str
    before: CheckReport
    after: CheckReport
    declared: frozenset[str] = frozenset()
    """The axioms that the file or one that it imports declares itself, without namespaces."""

    @property
    def fault(self) -> str:
        """What is worse than before; empty if nothing is."""
        if news := list((Counter(self.after.errors) - Counter(self.before.errors)).elements()):
            return f"a new error: {' '.join(news[0].split())}"
        if self.after.sorries > self.before.sorries:
            return f"{self.after.sorries} sorries, there were {self.before.sorries}"
        new = set(self.after.axioms) - set(self.before.axioms) - ALLOWED_AXIOMS
        new = {axiom for axiom in new if axiom.rpartition(".")[2] not in self.declared}
        return f"it rests on {', '.join(sorted(new))}" if new and not self.before.errors else ""


class ProjectProver:
    """Proves the `sorry`s of a project; `tasks` and `changed` hold what came of it, at any time."""

    def __init__(
        self,
        project: Project,
        ledger: Ledger,
        rungs: Sequence[Rung],
        servers: Sequence[FleetServer],
        lean: str,
        provided: Collection[str] = (),
        seed: int = 0,
        deadline: float = float("inf"),
        tell: Callable[[str], None] = lambda line: None,
    ) -> None:
        """`servers` has one entry for each Lean process; `provided` are files of the project that they have imported.

        `deadline` is by `time.monotonic`, and `tell` gets a line on whatever happens.
        """
        self.project, self.ledger, self.rungs, self.servers = project, ledger, rungs, servers
        self.lean, self.provided, self.seed, self.deadline, self.tell = lean, frozenset(provided), seed, deadline, tell
        self.tasks: list[Task] = []
        self.left_alone: dict[str, str] = {}
        """Files that cannot be worked on, and why."""
        self.checks: list[FileCheck] = []
        self.withdrawn: list[str] = []
        self._files: dict[str, FileState] = {}
        self._stop = threading.Event()
        self._failure: BaseException | None = None
        self._failures_in_a_row = 0

    # -- from outside --

    def stop(self) -> None:
        """End all searches soon, as at the deadline."""
        self._stop.set()

    @property
    def stopped(self) -> bool:
        """Whether the run was ended, or its time is up."""
        return self._stop.is_set() or time.monotonic() > self.deadline

    @property
    def changed(self) -> dict[str, str]:
        """The new text of each file in which something was proved, with its line ends."""
        return {path: state.filler.file.written() for path, state in self._files.items() if state.filler.file.filled}

    def prepare(self) -> None:
        """Read and check the files with `sorry`s, and make the tasks. Raises LeanError if the server fails."""
        imported: dict[str, str] = {}
        with self.servers[0].lease(_LEASE_SECONDS) as session:
            for file in self.project.files:
                path = file.path
                if self._stop.is_set():
                    return
                needed = [other for other in self.project.closure(file) if other.path not in self.provided]
                unreadable = [other.path for other in needed if other.path in self.left_alone and other.fault]
                if file.fault:
                    self.left_alone[path] = file.fault
                elif unreadable:
                    self.left_alone[path] = f"it imports {unreadable[0]}, which {self.left_alone[unreadable[0]]}"
                elif path in self.provided and file.sorries:
                    self.left_alone[path] = (
                        "the Lean server has imported it: start one with --imports of what it imports"
                    )
                if path in self.left_alone:
                    imported.setdefault(path, without_header(file.text))
                    continue
                parsed = LeanFile.parse(file.written, before_text(imported, needed))
                if parsed.gaps and self._is_wanted(path):
                    parsed = self._open(path, parsed, session)
                imported[path] = parsed.imported()

    def run(self) -> None:
        """Work on the tasks until all is done, time is up, or `stop` is called; then check all that has changed.

        Raises UserError if the servers fail; what was proved by then is kept.
        """
        queue = TaskQueue(lambda: self.stopped or self._failure is not None)
        for task in self.tasks:
            if task.outcome == "not tried":
                queue.put(task)
        threads = [
            threading.Thread(target=self._work, args=(server, queue), name=f"prove-{number}", daemon=True)
            for number, server in enumerate(self.servers)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():  # so that Ctrl-C is noticed
                thread.join(0.2)
        if self._failure is not None and self.failure is None:
            raise self._failure

    @property
    def failure(self) -> UserError | None:
        """Why the work ended early, if a server or the policy failed."""
        return self._failure if isinstance(self._failure, UserError) else None

    def verify(self) -> None:
        """Check every file with a proof in it, and every file that imports one, as they will be.

        Where that is worse than before the proofs of the file, else those of what it imports, are withdrawn. Raises
        LeanError if the server fails.
        """
        original = {file.path: file.text for file in self.project.files}
        before: dict[str, CheckReport] = {}
        with self.servers[0].lease(_LEASE_SECONDS) as session:
            while True:
                texts = {**original, **{path: _lean_text(text) for path, text in self.changed.items()}}
                touched = [file for file in self.project.files if file.path in self.changed]
                self.checks = []
                for file in [*touched, *self.project.importers([each.path for each in touched])]:
                    path = file.path
                    if path in self.provided:
                        continue
                    given = whole_text(self.project, file, original, self.provided)
                    if path not in before:
                        before[path] = session.check(given)
                    now = session.check(whole_text(self.project, file, texts, self.provided))
                    self.checks.append(FileCheck(path, before[path], now, LeanFile.parse(given).axioms))
                    if fault := self.checks[-1].fault:
                        culprits = [
                            each.path for each in (*self.project.closure(file), file) if each.path in self.changed
                        ]
                        self._withdraw(culprits[-1], f"{path} has {fault}")
                        break
                else:
                    return

    def _withdraw(self, path: str, reason: str) -> None:
        self._empty(path)
        self.withdrawn.append(path)
        for task in self.tasks:
            if task.path == path and task.outcome == "proved":
                task.outcome = "not proved"
                task.message = f"its proof was withdrawn: with the proofs of {path} {reason}"
                self.ledger.write({**self._record(task), "outcome": "does not fit", "proof": task.proof})
                task.proof = ""

    def take_back(self, reason: str) -> None:
        """Leave all proofs out of the files, as they could not be checked there; the log keeps them."""
        for path in self.changed:
            self._empty(path)
        for task in self.tasks:
            if task.outcome == "proved":
                task.outcome, task.message = "not tried", f"its proof waits in the log for the next run: {reason}"

    def _empty(self, path: str) -> None:
        filler = self._files[path].filler
        filler.file = LeanFile.parse(self.project.file(path).written, filler.file.before)

    # -- files --

    def _is_wanted(self, path: str) -> bool:
        return not self.project.only or path == self.project.only

    def _open(self, path: str, parsed: LeanFile, session: LeanCalls) -> LeanFile:
        """Check a file and make its tasks; returns it with its `sorry`s read as Lean reads them."""
        try:
            filler = SorryFiller(parsed, session, tolerant=True)
        except SourceError as error:
            self.left_alone[path] = str(error)
            return parsed
        self._files[path] = FileState(filler)
        if filler.errors:
            self.tell(f"{path}: Lean has errors in it already ({filler.first_error})")
        for gap in filler.file.gaps:
            task = Task(path, gap, "", len(self.tasks))
            self.tasks.append(task)
            if gap.skip_reason:
                task.outcome, task.message = "left alone", gap.skip_reason
                continue
            task.key = gap_key(filler.theorem(gap).source, self.lean)
            self._recall(task)
        return filler.file

    def _recall(self, task: Task) -> None:
        """Begin where earlier runs have ended."""
        known = self.ledger.known(task.key)
        task.proof, task.from_before = known.proof, bool(known.proof)
        left = [each["tactics_left"] for each in known.tries if each.get("tactics_left") is not None]
        task.tactics_left = left[-1] if left else float("inf")
        if known.proof:
            task.rung = -1
            return
        if known.refused:
            task.outcome, task.message = "refused", known.refused
            return
        self._next_rung(task, 0)
        if task.rung >= len(self.rungs):
            task.outcome = "not proved"
            task.message = "tried before with this budget; more: --num-simulations, or another model"

    def _next_rung(self, task: Task, first: int) -> None:
        """Move on to the first rung from `first` that was not tried."""
        budgets = self.ledger.known(task.key).budgets
        task.rung = first
        while task.rung < len(self.rungs) and self.rungs[task.rung].budget <= budgets.get(
            self.rungs[task.rung].method, 0
        ):
            task.rung += 1

    # -- tries --

    def _work(self, server: FleetServer, queue: TaskQueue) -> None:
        """Work on tasks with one process; what else fails than a server ends all."""
        session = None
        while (task := queue.take()) is not None:
            try:
                session = session or server.lease(_LEASE_SECONDS)
                if self._try(session, task):
                    queue.put(task)
                self._failures_in_a_row = 0
            except LeanError as error:
                if self._note_failure(task, error):
                    queue.put(task)
                self._stop.wait(_REST_SECONDS)
            except BaseException as error:
                self._failure = self._failure or error
            finally:
                queue.done()
        if session is not None:
            session.close()

    def _note_failure(self, task: Task, error: LeanError) -> bool:
        """Take note that a server failed at a task; returns whether it is to be tried again."""
        task.failures += 1
        self._failures_in_a_row += 1
        task.message = " ".join(str(error).split())
        self.tell(f"{task.place} {task.gap.name}: the Lean server failed: {task.message}")
        if self._failures_in_a_row >= max(_FAILURES_IN_A_ROW, len(self.servers)):
            self._failure = self._failure or UserError(f"the Lean servers fail again and again: {task.message}")
        return task.failures < _TRIES_OF_A_FAILING_SERVER

    def _try(self, session: LeanCalls, task: Task) -> bool:
        """Try a task once; returns whether it has to come again. Raises LeanError if the server fails."""
        state = self._files[task.path]
        if task.proof:  # of an earlier run, or one that could not be put into the file because a server failed
            return self._fit(session, task, state)
        rung = self.rungs[task.rung]
        rng = random.Random(f"{self.seed}/{task.key}/{rung.method}/{rung.budget}")
        began = time.monotonic()
        attempt = rung.prover.prove(
            state.filler.trusting(session),
            LeanFile.theorem(self._original(state), task.gap, "file", task.theorem_id),
            rung.budget,
            rng,
            lambda: self.stopped or self._failure is not None,
        )
        if attempt.outcome == "error" and not attempt.refused:
            raise LeanError(attempt.message)
        self._keep(task, rung, attempt, time.monotonic() - began)
        if attempt.outcome == "proven":
            task.proof = attempt.proof
            return self._fit(session, task, state)
        task.message = state.filler.explain(task.gap, attempt)
        if attempt.refused:
            task.outcome = "refused"
            self._say(task)
            return False
        if attempt.stop_reason == "stopped":
            return False
        self._next_rung(task, task.rung + 1)
        if task.rung < len(self.rungs):
            return True
        task.outcome = "not proved"
        self._say(task)
        return False

    @staticmethod
    def _original(state: FileState) -> LeanFile:
        """The file without the proofs found so far, so that a search depends on no other one."""
        file = state.filler.file
        return LeanFile(file.text, file.gaps, (), file.flipped, file.newline, file.before)

    def _fit(self, session: LeanCalls, task: Task, state: FileState) -> bool:
        """Put a proof into its file, which Lean has to accept; returns whether the task has to come again."""
        with state.lock:
            reason = state.filler.accept(session, task.gap, task.proof)
        if not reason:
            task.outcome, task.message = "proved", ""
            self._say(task)
            return False
        self.ledger.write({**self._record(task), "outcome": "does not fit", "message": reason, "proof": task.proof})
        task.proof, task.message, task.from_before = "", reason, False
        self._next_rung(task, max(0, task.rung))
        if task.rung < len(self.rungs):
            return True
        task.outcome = "not proved"
        self._say(task)
        return False

    def _keep(self, task: Task, rung: Rung, attempt: Attempt, seconds: float) -> None:
        """Write a try to the log, and its tree to a page."""
        outcome = "proved" if attempt.outcome == "proven" else "refused" if attempt.refused else "not proved"
        task.effort = f"{rung.name}, {attempt.simulations} simulations, {seconds:.1f} s"
        record: dict[str, Any] = {**self._record(task), "method": rung.method, "budget": rung.budget}
        if attempt.stop_reason == "stopped" and outcome == "not proved":
            outcome = "stopped"
        record |= {"outcome": outcome, "simulations": attempt.simulations, "seconds": round(seconds, 3)}
        record |= {"proof": attempt.proof} if attempt.proof else {"message": " ".join(attempt.message.split())}
        root = None if attempt.tree is None else tree_from_json(attempt.tree)
        if root is not None:
            if root.visits:
                task.tactics_left = round(-root.value, 3)
                record["tactics_left"] = task.tactics_left
            record["line"] = best_line(root)
        self.ledger.write(record)  # before the page, which can be lost
        if attempt.tree is not None:
            title = f"{task.place} {task.gap.name}"
            page = tree_page([SearchView(title, describe_effort(attempt), attempt.outcome, attempt.tree)])
            atomic_write_text(self.ledger.tree_path(task.key), page)

    def _record(self, task: Task) -> dict[str, Any]:
        return {"key": task.key, "file": task.path, "name": task.gap.name, "at": [task.gap.line, task.gap.column]}

    def _say(self, task: Task) -> None:
        known = " (known from before)" if task.from_before else f" ({task.effort})" if task.effort else ""
        reason = f": {task.message}" if task.message else ""
        self.tell(f"  {task.place} {task.gap.name}: {task.outcome}{known}{reason}")


def server_imports(options: LeanOptions) -> list[str]:
    """Return the modules that all the servers named by options have imported; none where none is named."""
    if not options.servers:
        return []
    reports = LeanFleet(options.servers, options.token).statuses()
    found = [set((report.status or {}).get("imports") or ()) for report in reports]
    return sorted(set.intersection(*found)) if found else []


def _lean_text(text: str) -> str:
    """The text with the line ends that Lean is sent."""
    return text.replace("\r\n", "\n")


def method_of(description: Mapping[str, Any]) -> str:
    """Return a short name for what decides how a search goes: the same for the same description, else another."""
    text = json.dumps(description, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def rising(most: int, factor: int = 4, least: int = 4) -> list[int]:
    """Return budgets that rise by a factor, up to the highest one: `rising(64)` is 4, 16, 64."""
    budgets = [most]
    while budgets[0] // factor >= least:
        budgets.insert(0, budgets[0] // factor)
    return budgets
