"""Prove the `sorry`s of a project on several Lean processes: what is tried in which order, and the log of it.

All `sorry`s get a cheap try with solver tactics alone, then one with a small budget of the policy, and what is left
gets rising budgets, first where the root of the last search seemed closest to a proof. A search sees other `sorry`s,
and those of imported files, as axioms, so it depends on no other search, and its result holds whatever else is found.
What a proof rests on is asked of Lean in the end, with all proofs in their places (`prover/resting.py`).
"""

import hashlib
import json
import random
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_text
from nanoproof.common.option_groups import LeanOptions
from nanoproof.common.terminal import counted
from nanoproof.lean.client import FleetServer, LeanFleet, runs_nanolean
from nanoproof.lean.jobs import Jobs
from nanoproof.lean.lean_file import Gap, LeanFile, OpenPlace
from nanoproof.lean.lexical import without_header
from nanoproof.lean.project.layout import EMBEDDED_LEAN
from nanoproof.lean.source import ALLOWED_AXIOMS
from nanoproof.lean.types import CheckReport, LeanCalls, LeanError, SourceError, Theorem
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.check import check_proof
from nanoproof.prover.cli_input import SorryFiller, with_what_lacks
from nanoproof.prover.interactive import best_line, describe_effort
from nanoproof.prover.resting import Rest
from nanoproof.repos.project import Project, before_text, whole_text
from nanoproof.repos.source_file import SourceFile, as_sent
from nanoproof.repos.tries import LOG, PROVED, Ledger, Outcome, Rung, Task, gap_key
from nanoproof.search.render import SearchView, tree_page
from nanoproof.search.tree_json import tree_from_json

_TRIES_OF_A_FAILING_SERVER = 3
_FAILURES_IN_A_ROW = 8
"""So many failures, of whatever tasks, and no success between them: the servers are to blame, and the run ends."""
_REST_SECONDS = 1.0
_LEASE_SECONDS = 120.0
"""How long to wait for a free process of a server: others may be using it."""


def _by_rung(task: Task) -> tuple[float, ...]:
    """Order tasks: the lowest rung first, in it those closest to a proof."""
    return task.rung, task.tactics_left, task.number


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
    filled: int = 0
    """How many `sorry`s have a proof after, in the file and those that it imports."""
    gaps: tuple[int, int] | None = None
    """How many `sorry`s the texts hold, before and after."""

    @property
    def fault(self) -> str:
        """What is worse than before; empty if nothing is."""
        if news := self.after.errors_beyond(self.before):
            return f"a new error: {' '.join(news[0].split())}"
        if self.gaps is not None and self.gaps[1] != self.gaps[0] - self.filled:
            return f"{self.gaps[1]} sorries, there were {self.gaps[0]}, and {self.filled} of them have proofs"
        # Lean's count must fall too, where it has one for each: it lists none for one that does not run (`first`)
        most, fallen = self.before.sorries, ""
        if self.gaps is not None and not self.before.errors and self.before.sorries == self.gaps[0]:
            most, fallen = most - self.filled, f", and {self.filled} of them have proofs"
        if self.after.sorries > most:
            return f"{self.after.sorries} sorries, there were {self.before.sorries}{fallen}"
        # Of what had an error before, Lean could not tell the axioms: those would all be new.
        if self.before.errors:
            return ""
        new = set(self.after.axioms) - set(self.before.axioms) - ALLOWED_AXIOMS
        new = {axiom for axiom in new if axiom.rpartition(".")[2] not in self.declared}
        return f"it rests on {', '.join(sorted(new))}" if new else ""


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
        self._by_axiom: dict[str, Task] = {}
        self._stop = threading.Event()
        self.failure: UserError | None = None
        """Why the work ended early, if a server or the policy failed."""
        self._is_over: Callable[[], bool] = lambda: self.stopped
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
        """The new text of each file in which something was proved, with its line ends; without conditional proofs."""
        return {path: file.written() for path, file in self.settled.items() if file.filled}

    @property
    def settled(self) -> dict[str, LeanFile]:
        """The files that were worked on, with their proofs; without conditional ones."""
        return {path: state.filler.settled for path, state in self._files.items()}

    @property
    def changed_conditionally(self) -> dict[str, str]:
        """The same with the conditional proofs; nothing if there are none."""
        if not self._is_conditional:
            return {}
        filled = {path: state.filler.file for path, state in self._files.items() if state.filler.file.filled}
        return {path: file.written() for path, file in filled.items()}

    @property
    def _is_conditional(self) -> bool:
        return any(state.filler.conditional for state in self._files.values())

    def reading(self, path: str) -> LeanFile | None:
        """Return a file as Lean reads its `sorry`s, as terms or tactics, without proofs; None if it is left alone."""
        state = self._files.get(path)
        return None if state is None else state.filler.file.without(state.filler.file.gaps)

    def prepare(self) -> None:
        """Read and check the files with `sorry`s, and make the tasks. Raises LeanError if the server fails."""
        imported: dict[str, str] = {}
        places: dict[str, OpenPlace] = {}
        with self.servers[0].lease(_LEASE_SECONDS) as session:
            for file in self.project.files:
                path = file.path
                if self._stop.is_set():
                    return
                needed = self.project.needed(file, self.provided)
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
                parsed = LeanFile.parse(
                    file.written, before_text(imported, needed, self._opening(file)), path, dict(places)
                )
                if parsed.gaps and self.project.only in ("", path):
                    parsed = self._open(path, parsed, session)
                imported[path] = parsed.imported()
                places |= parsed.places

    def _opening(self, file: SourceFile) -> str:
        return self.project.opening(file, by_nanolean=self.lean == EMBEDDED_LEAN)

    def run(self) -> None:
        """Work on the tasks until all is done, time is up, or `stop` is called; then check all that has changed.

        If the servers or the policy fail, `failure` says so; what was proved by then is kept.
        """
        sessions = [partial(server.lease, _LEASE_SECONDS) for server in self.servers]
        jobs = Jobs(sessions, self._work, self._note_failure, _by_rung, lambda: self.stopped)
        self._is_over = lambda: jobs.stopped
        try:
            jobs.run(task for task in self.tasks if task.outcome == "not tried")
        except UserError as error:
            self.failure = error

    def verify(self) -> None:
        """Check every file with a proof in it, and every file that imports one, as they will be, and ask Lean what each
        proof rests on.

        Where a file is worse than before the proofs of the file, else those of what it imports, are withdrawn. Raises
        LeanError if the server fails.
        """
        before: dict[str, CheckReport] = {}
        with self.servers[0].lease(_LEASE_SECONDS) as session:
            while True:
                self._check_files(session, before, lambda state: state.filler.file)
                self._judge(session)
                # Without the conditional proofs the files are other texts, and these are what is given back. What is
                # withdrawn there may be what another proof rests on: then all is judged anew.
                withdrawn = len(self.withdrawn)
                if self._is_conditional:
                    self._check_files(session, before, lambda state: state.filler.settled)
                if len(self.withdrawn) == withdrawn:
                    return

    def _check_files(
        self, session: LeanCalls, before: dict[str, CheckReport], chosen: Callable[[FileState], LeanFile]
    ) -> None:
        """Check the files as they will be, and withdraw proofs until none is worse than it was; `before` keeps that."""
        original = {file.path: file.text for file in self.project.files}
        while True:
            filled: dict[str, LeanFile] = {}
            texts = dict(original)
            for path, state in self._files.items():
                proved = chosen(state)
                if proved.filled:
                    filled[path] = proved
                    texts[path] = as_sent(proved.written())
            touched = [file for file in self.project.files if file.path in filled]
            self.checks = []
            for file in [*touched, *self.project.importers(filled)]:
                path = file.path
                if path in self.provided:
                    continue
                given = whole_text(self.project, file, original, self.provided, self._opening(file))
                if path not in before:
                    before[path] = session.check(given)
                text = whole_text(self.project, file, texts, self.provided, self._opening(file))
                # Imports first: the proofs of the file itself are the first to be withdrawn.
                read = [other.path for other in (*self.project.closure(file), file) if other.path in filled]
                proofs = sum(len(filled[name].filled) for name in read if name not in self.provided)
                was, now = LeanFile.parse(given), LeanFile.parse(text)
                counts = (len(was.gaps), len(now.gaps))
                check = FileCheck(path, before[path], session.check(text), was.axioms, proofs, counts)
                self.checks.append(check)
                if fault := check.fault:
                    self._withdraw(read[-1], f"{path} has {fault}")
                    break
            else:
                return

    def _judge(self, session: LeanCalls) -> None:
        """Ask Lean on what each proof rests, in its file with all proofs, behind the imported ones with theirs."""
        imported: dict[str, str] = {}
        places: dict[str, OpenPlace] = {}
        for file in self.project.files:
            state = self._files.get(file.path)
            if state is None and file.path in self.left_alone:
                imported[file.path] = without_header(file.text)
                continue
            needed = self.project.needed(file, self.provided)
            if state is None:
                read = LeanFile.parse(file.written, path=file.path)
            else:
                read = replace(
                    state.filler.file,
                    before=before_text(imported, needed, self._opening(file)),
                    open_before=dict(places),
                )
                state.filler.file = read
                for task in self.tasks:
                    if task.path == file.path and task.outcome in PROVED:
                        state.filler.rest_of(task.gap, self._open_now(task.axioms))
                self._settle(file.path, state.filler.judge(session))
            imported[file.path] = read.imported()
            places |= read.places

    def _settle(self, path: str, rests: Mapping[Gap, Rest]) -> None:
        """Note what the proofs of a file rest on, and say it where it is something else than was said before."""
        for task in self.tasks:
            if task.path == path and task.gap in rests:
                said = (task.outcome, task.rest.condition(path))
                task.rest = rests[task.gap]
                task.outcome = _proved(task.rest)
                if said != (task.outcome, task.rest.condition(path)):
                    self._say(task)

    def _withdraw(self, path: str, reason: str) -> None:
        self._empty(path)
        self.withdrawn.append(path)
        for task in self.tasks:
            if task.path == path and task.outcome in PROVED:
                task.outcome, task.rest = "not proved", Rest()
                task.message = f"its proof was withdrawn: with the proofs of {path} {reason}"
                self.ledger.write({**self._record(task), "outcome": "does not fit", "proof": task.proof})
                task.proof = ""

    def take_back(self, reason: str) -> None:
        """Leave all proofs out of the files, as they could not be checked there; the log keeps them."""
        for path in self._files:
            self._empty(path)
        for task in self.tasks:
            if task.outcome in PROVED:
                task.rest = Rest()
                task.outcome, task.message = "not tried", f"its proof waits in the log for the next run: {reason}"

    def _empty(self, path: str) -> None:
        filler = self._files[path].filler
        filler.file, filler.conditional = filler.file.without(filler.file.gaps), {}

    # -- files --

    def _open(self, path: str, parsed: LeanFile, session: LeanCalls) -> LeanFile:
        """Check a file and make its tasks; returns it with its `sorry`s read as Lean reads them."""
        try:
            filler = SorryFiller(parsed, session, tolerant=True)
        except SourceError as error:
            self.left_alone[path] = str(error)
            return parsed
        self._files[path] = FileState(filler)
        if filler.errors:
            self.tell(f"{path}: Lean has errors in it already ({self._explained(filler.first_error, parsed)})")
        for gap in filler.file.gaps:
            task = Task(path, gap, "", len(self.tasks))
            self.tasks.append(task)
            self._by_axiom[filler.file.stand_in(gap)] = task
            if gap.skip_reason:
                task.outcome, task.message = "left alone", gap.skip_reason
                continue
            task.key = gap_key(filler.theorem(gap).source, self.lean)
            self._recall(task)
        return filler.file

    def _explained(self, message: str, file: LeanFile) -> str:
        # NanoLean lacks libraries and parts of Lean; real Lean's messages need no such word.
        if self.lean != EMBEDDED_LEAN:
            return message
        return with_what_lacks(message, file.text, self.project.missing_library(self.project.file(file.path)))

    def _recall(self, task: Task) -> None:
        """Begin where earlier runs have ended."""
        known = self.ledger.known(task.key)
        task.proof, task.from_before, task.axioms = known.proof, bool(known.proof), ()
        task.tactics_left = float("inf")
        for earlier in known.tries:
            if earlier.get("tactics_left") is not None:
                task.tactics_left = earlier["tactics_left"]
        if known.proof:  # before everything that has to be searched: it only has to be checked
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
        for rung in self.rungs[first:]:
            if rung.budget > budgets.get(rung.method, 0):
                return
            task.rung += 1

    # -- tries --

    def _work(self, session: LeanCalls, task: Task) -> bool:
        comes_again = self._try(session, task)
        self._failures_in_a_row = 0
        return comes_again

    def _note_failure(self, task: Task, error: LeanError) -> bool:
        """Take note that a server failed at a task; returns whether it is to be tried again.

        Raises UserError if the servers fail again and again.
        """
        task.failures += 1
        self._failures_in_a_row += 1
        task.message = " ".join(str(error).split())
        self.tell(f"{task.place} {task.gap.name}: the Lean server failed: {task.message}")
        if self._failures_in_a_row >= max(_FAILURES_IN_A_ROW, len(self.servers)):
            raise UserError(f"the Lean servers fail again and again: {task.message}")
        self._stop.wait(_REST_SECONDS)
        return task.failures < _TRIES_OF_A_FAILING_SERVER

    def _try(self, session: LeanCalls, task: Task) -> bool:
        """Try a task once; returns whether it has to come again. Raises LeanError if the server fails."""
        state = self._files[task.path]
        if task.proof:  # of an earlier run, or one that could not be put into the file because a server failed
            return self._fit(session, task, state)
        rung = self.rungs[task.rung]
        # By what is tried and not by when: another order of tasks, or another number of processes, gives the same.
        rng = random.Random(f"{self.seed}/{task.key}/{rung.method}/{rung.budget}")
        began = time.monotonic()
        attempt = rung.prover.prove(
            state.filler.trusting(session),
            self._theorem(state, task),
            rung.budget,
            rng,
            self._is_over,
        )
        if attempt.outcome == "error" and not attempt.refused:
            raise LeanError(attempt.message)
        self._keep(task, rung, attempt, time.monotonic() - began)
        if attempt.outcome == "proven":
            task.proof, task.axioms = attempt.proof, tuple((attempt.check or {}).get("rests_on", ()))
            return self._fit(session, task, state)
        task.message = self._explained(state.filler.explain(task.gap, attempt), state.filler.file)
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
    def _theorem(state: FileState, task: Task) -> Theorem:
        """The theorem in the file without the proofs found so far, so that a search depends on no other one."""
        file = state.filler.file
        return file.without(file.gaps).theorem(task.gap, "file", task.theorem_id)

    def _fit(self, session: LeanCalls, task: Task, state: FileState) -> bool:
        """Put a proof into its file, which Lean has to accept; returns whether the task has to come again."""
        if task.from_before and (reason := self._disbelief(session, task, state)):
            self.tell(f"  {task.place} {task.gap.name}: the proof in {LOG} counts as nothing: {reason}")
            self.ledger.write({**self._record(task), "outcome": "not believed", "message": reason, "proof": task.proof})
            task.message = reason
            self._recall(task)
            return bool(task.proof) or (task.outcome == "not tried" and task.rung < len(self.rungs))
        # One proof of a file at a time: each is tried in the file with those that are in it already.
        with state.lock:
            reason = state.filler.accept(session, task.gap, task.proof)
        if not reason:
            task.rest = state.filler.rest_of(task.gap, self._open_now(task.axioms))
            task.outcome, task.message = _proved(task.rest), ""
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

    def _disbelief(self, session: LeanCalls, task: Task, state: FileState) -> str:
        """Check a proof of an earlier run as if it was found now; returns why it is none, empty if it is one."""
        try:
            verdict = check_proof(state.filler.trusting(session), self._theorem(state, task), task.proof)
        except SourceError as error:
            return " ".join(str(error).split())
        task.axioms = verdict.rests_on
        return "" if verdict.accepted else " ".join(verdict.reason.split())

    def _open_now(self, axioms: Collection[str]) -> set[str]:
        """Return the axioms of a search that stand for what is open by now: for what is proved, those of its own proof.

        It is what a line can say while the work goes on; in the end Lean is asked.
        """
        todo, seen, still_open = list(axioms), set[str](), set[str]()
        while todo:
            axiom = todo.pop()
            task = self._by_axiom.get(axiom)
            if axiom in seen:
                continue
            seen.add(axiom)
            if task is not None and task.outcome in PROVED:
                todo += task.axioms
            else:
                still_open.add(axiom)
        return still_open

    def _keep(self, task: Task, rung: Rung, attempt: Attempt, seconds: float) -> None:
        """Write a try to the log, and its tree to a page."""
        outcome = "not proved"
        if attempt.outcome == "proven":
            outcome = "proved"
        elif attempt.refused:
            outcome = "refused"
        elif attempt.stop_reason == "stopped":  # its budget was not spent: the next run tries it again
            outcome = "stopped"
        task.effort = f"{rung.name}, {counted(attempt.simulations, 'simulation')}, {seconds:.1f} s"
        record: dict[str, Any] = {**self._record(task), "method": rung.method, "budget": rung.budget}
        record |= {"outcome": outcome, "simulations": attempt.simulations, "seconds": round(seconds, 3)}
        if attempt.proof:
            record["proof"] = attempt.proof
        else:
            record["message"] = " ".join(attempt.message.split())
        if attempt.tree is not None:
            root = tree_from_json(attempt.tree)
            if root.visits:  # values of a search are minus the number of tactics to go
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
        line = f"  {task.place} {task.gap.name}: {said_of(task.outcome, task.rest, task.path)}"
        if task.from_before:
            line += " (known from before)"
        elif task.effort:
            line += f" ({task.effort})"
        if task.message:
            line += f": {task.message}"
        self.tell(line)


def _proved(rest: Rest) -> Outcome:
    return "conditional" if rest.is_conditional else "proved"


def said_of(outcome: str, rest: Rest, path: str) -> str:
    """Return an outcome in words for a reader of the file: what a proof rests on is part of them."""
    if outcome == "conditional":
        return f"proved, {rest.condition(path)}"
    return outcome + by_axioms(rest)


def by_axioms(rest: Rest) -> str:
    """Return in words by which axioms of the user's own files something holds; empty for none."""
    if not rest.axioms:
        return ""
    return f", by the axiom{'s' * (len(rest.axioms) > 1)} {', '.join(rest.axioms)} of the project"


def server_imports(options: LeanOptions) -> list[str] | None:
    """Return the modules that all the servers named by options have imported; None if NanoLean reads the texts."""
    if not options.servers:
        return None
    reports = LeanFleet(options.servers, options.token).statuses()
    if any(report.status is not None and runs_nanolean(report.status) for report in reports):
        return None
    # What each of them has: a task may go to any.
    imports = [set((report.status or {}).get("imports") or ()) for report in reports]
    return sorted(imports[0].intersection(*imports[1:]))


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
