"""The work that tools for agents do on one Lean project: prove, try, suggest, check. Nothing here knows of a protocol.

Files are read anew at each call, as the agent edits them, and none is written. Every path is one of the project's.
"""

import logging
import os
import random
import re
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from nanoproof.common.terminal import counted
from nanoproof.lean.lean_file import PLACEHOLDER, Gap, LeanFile, OpenPlace
from nanoproof.lean.lexical import imported_modules, mask
from nanoproof.lean.session import HttpLeanSession
from nanoproof.lean.source import ALLOWED_AXIOMS, parse_declaration, splice
from nanoproof.lean.types import Branch, CheckReport, TacticApplied, TacticFailed, Theorem
from nanoproof.mcp.calls import Place, Watch, gap_at, is_library, parsed_state, require_harmless, state_theorem, text_of
from nanoproof.mcp.results import (
    CheckResult,
    Explanation,
    LeanMessage,
    OpenSorry,
    PremiseFound,
    PremisesFound,
    ProofResult,
    SorriesResult,
    StatementResult,
    SuggestedTactic,
    Suggestions,
    ToolProblem,
    TriedTactic,
    TriedTactics,
)
from nanoproof.mcp.searches import Refusals, Searches, shortened
from nanoproof.mcp.shared_lean import SharedLean
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.check import check_proof
from nanoproof.prover.cli_input import SorryFiller, lean_words, parse_theorem
from nanoproof.prover.prover import AttemptObserver, Prover
from nanoproof.prover.resting import SORRY_AXIOM, Rest, axioms_of_file, read_axioms
from nanoproof.repos.patch import patch_text
from nanoproof.repos.project import Project, path_inside
from nanoproof.repos.prove import work
from nanoproof.repos.proving import ProjectProver, by_axioms, said_of
from nanoproof.repos.tries import Task
from nanoproof.repos.ways import Ways
from nanoproof.retrieval.premises import Retriever
from nanoproof.search.expand import SearchLog
from nanoproof.search.node import Node
from nanoproof.search.policy import policy_for

log = logging.getLogger(__name__)

MOST_TACTICS = 64
_CHECKED = (
    "the theorem with its proof in a fresh environment, the statement unchanged, without sorry and foreign axioms; "
    "then the whole file with all proofs"
)
_STATEMENT_FILE = "statement"
_BUSY_SECONDS = 120.0


class _Opened(NamedTuple):
    """A place in Lean: the file, its filler, the `sorry`, its theorem as the search for it reads it."""

    file: LeanFile
    filler: SorryFiller
    gap: Gap
    theorem: Theorem


class _Searched(NamedTuple):
    """The last attempt at a theorem, what Lean refused in it, and the simulations of all attempts of the call."""

    attempt: Attempt
    refusals: Refusals
    simulations: int


class _SearchObserver(AttemptObserver):
    """Tells a watch how far a search is, and counts refusals."""

    __slots__ = ("_before", "_log", "_watch", "refusals")

    def __init__(self, watch: Watch) -> None:
        self._watch, self.refusals = watch, Refusals()
        self._log: SearchLog | None = None
        self._before = 0

    def begin(self, root: Node, log: SearchLog) -> None:
        self._log, self._before = log, 0

    def applied(self, state: str, tactics: Sequence[str], results: Sequence[TacticApplied | TacticFailed]) -> None:
        self.refusals.note(tactics, results)
        if self._log is not None:
            # The log has the sum of one search; the watch adds up searches that run beside each other.
            now = self._log.counts.simulations
            self._watch.simulations += now - self._before
            self._before = now


class _WatchedProver(Prover):
    """A prover that tells a watch of its searches and keeps their outcomes by the id of the theorem."""

    def __init__(self, prover: Prover, watch: Watch, kept: dict[str, _Searched]) -> None:
        super().__init__(prover.policy, prover.search_config, prover.options, prover.policy_revision)
        self._watch, self._kept = watch, kept

    def prove(
        self,
        session: object,
        theorem: Theorem,
        num_simulations: int,
        rng: random.Random,
        should_stop: Callable[[], bool] | None = None,
        *_: object,
    ) -> Attempt:
        """Prove as the prover does, with its budget; the last attempt at each theorem is kept, and what all took."""
        observer = _SearchObserver(self._watch)

        def stopped() -> bool:
            return self._watch.stopped or (should_stop is not None and should_stop())

        attempt = super().prove(session, theorem, num_simulations, rng, stopped, observer)  # type: ignore[arg-type]
        earlier = self._kept.get(theorem.id)
        # A ladder of budgets tries a theorem several times in one call.
        before = 0 if earlier is None else earlier.simulations
        self._kept[theorem.id] = _Searched(attempt, observer.refusals, before + attempt.simulations)
        return attempt


_NO_TACTICS = re.compile(r"\s*(?::=|by(?![\w.'!?])|```)")


class Workbench:
    """The tools on one project; any number of threads may call, and each call uses at most the Lean processes."""

    def __init__(
        self,
        root: Path,
        lean: SharedLean,
        ways: Ways,
        retriever: Callable[[], Retriever | None],
        searches: Searches,
        seed: int = 0,
    ) -> None:
        """`root` is a resolved path; `retriever` returns one that knows the project's files as they are now."""
        self.root, self.lean, self.ways, self.retriever, self.searches = root, lean, ways, retriever, searches
        self._seed = seed
        self._free = threading.BoundedSemaphore(lean.processes)

    # -- proving -----------------------------------------------------------------------------------------------------

    def prove_statement(
        self, statement: str, context: str, imports: Sequence[str], num_simulations: int, watch: Watch
    ) -> StatementResult:
        """Prove one theorem, after a context and with imports."""
        theorem = parse_theorem(text_of(statement, "statement"), embedded=False)
        declaration = parse_declaration(theorem.source)
        if not declaration.name:
            raise ToolProblem("bad argument", "statement: give the theorem a name (`theorem my_name ...`)")
        # The answer is about the `sorry`: what comes behind it would look proved too.
        if mask(theorem.source)[declaration.sorry_end :].strip():
            raise ToolProblem("bad argument", "statement: give one theorem, with nothing behind its `sorry`")
        project = self._virtual(theorem.source, context, imports)
        # The context comes first and may have sorries of its own: the statement's is the last.
        place = project.with_imports(self.lean.imports).gaps[-1]
        prover, kept = self._run(project, num_simulations, watch, lambda task: task.gap.start == place.start)
        (task,) = self._tasks(prover)
        if task.outcome == "refused":
            raise ToolProblem("Lean refuses", f"the statement: {task.message}")
        result = self._result(prover, task, kept)
        text = ""
        if result.proof:
            text = splice(theorem.source, result.proof)
        # The agent never saw the imports and context that we put before its statement: lines count from its own first.
        lines_before = project.file(project.only).text.count("\n", 0, place.start)
        lines_before -= theorem.source.count("\n", 0, declaration.sorry_start)
        fields = result.model_dump() | {"file": "", "line": max(1, result.line - lines_before)}
        return StatementResult(**fields, theorem=text)

    def prove_sorries(
        self, file: str, line: int | None, column: int | None, num_simulations: int, watch: Watch
    ) -> SorriesResult:
        """Prove the sorries of a file, or the one at a line, and return their proofs as a patch."""
        project = self._project(file)
        parsed = project.with_imports(self.lean.imports)
        starts = {gap.start for gap in parsed.gaps}
        if line is not None:
            starts = {gap_at(parsed.gaps, file, line, column).start}
        prover, kept = self._run(project, num_simulations, watch, lambda task: task.gap.start in starts)
        tasks = self._tasks(prover)
        results = [self._result(prover, task, kept) for task in tasks]
        problems = list(dict.fromkeys(prover.left_alone.values()))
        for path in prover.withdrawn:
            problems.append(f"the proofs of {path} are withdrawn: the file is worse with them")
        old = {path: project.file(path).written for path in prover.changed}
        conditional = {}
        if any(task.outcome == "conditional" for task in tasks):
            conditional = prover.changed_conditionally
        old |= {path: project.file(path).written for path in conditional}
        return SorriesResult(
            results=results,
            proved=sum(result.outcome == "proved" for result in results),
            total=len(results),
            patch=patch_text(self.root, old, prover.changed),
            conditional_patch=patch_text(self.root, old, conditional),
            problems=problems,
        )

    def _run(
        self, project: Project, num_simulations: int, watch: Watch, wanted: Callable[[Task], bool]
    ) -> tuple[ProjectProver, dict[str, _Searched]]:
        """Work on the sorries of a file; where Lean goes away with its owner, once more with the next one."""
        kept: dict[str, _Searched] = {}

        def watched(prover: Prover) -> Prover:
            return _WatchedProver(prover, watch, kept)

        rungs = self.ways.rungs(num_simulations, watched)
        for is_last in (False, True):
            with self._slots(watch, project.file(project.only).sorries) as processes:
                servers = self.lean.servers()
                provided = project.provided_by(self.lean.imports)
                prover = ProjectProver(
                    project,
                    self.searches.ledger,
                    rungs,
                    servers[:processes],
                    self.lean.lean,
                    provided,
                    self._seed,
                    watch.deadline,
                    watch.tell,
                )
                failure = work(prover, wanted)
            if failure is None or watch.stopped:
                break
            # The same list again: Lean is there, and fails for another reason than its owner's end.
            if is_last or self.lean.servers() is servers:
                raise failure
        for task in prover.tasks:
            if task.theorem_id in kept and task.key:
                searched = kept[task.theorem_id]
                place = f"{task.place} {task.gap.name}"
                self.searches.keep(task.key, place, searched.attempt, searched.refusals)
        return prover, kept

    @staticmethod
    def _tasks(prover: ProjectProver) -> list[Task]:
        """Return the tasks; a file that cannot be worked on is a problem of the call."""
        if not prover.tasks and prover.left_alone:
            path, reason = next(iter(prover.left_alone.items()))
            raise ToolProblem("Lean refuses", f"{path}: {reason}")
        return prover.tasks

    def _result(self, prover: ProjectProver, task: Task, kept: dict[str, _Searched]) -> ProofResult:
        checked, proof, open_goals = "", "", []
        if task.outcome in ("proved", "conditional"):
            proof = task.proof
            checked = f"by {self.lean.described}: {_CHECKED}"
        elif task.key:
            open_goals = self.searches.states_of(task.key)
        message = task.message
        if task.outcome == "not tried" and not message:
            message = "the time was up before it was tried, or while it was: call again to go on"
        simulations = 0
        if task.theorem_id in kept:
            simulations = kept[task.theorem_id].simulations
        search = tree = None
        if task.key and self.searches.tree_address(task.key):
            search, tree = task.key, self.searches.tree_address(task.key)
        return ProofResult(
            file=task.path,
            line=task.gap.line,
            column=task.gap.column,
            name=task.gap.name,
            outcome=task.outcome,
            said=said_of(task.outcome, task.rest, task.path),
            proof=proof,
            checked=checked,
            rests_on=_open_sorries(task.rest.open_places),
            axioms=list(task.rest.axioms),
            message=message,
            open_goals=open_goals,
            search=search,
            tree=tree,
            simulations=simulations,
        )

    # -- looking at a place ------------------------------------------------------------------------------------------

    def try_tactics(self, place: Place, tactics: Sequence[str], watch: Watch) -> TriedTactics:
        """Try each tactic on its own at a place."""
        if not 1 <= len(tactics) <= MOST_TACTICS:
            raise ToolProblem("bad argument", f"tactics: give 1 to {MOST_TACTICS}, not {len(tactics)}")
        for tactic in tactics:
            if not text_of(tactic, "tactics").strip():
                raise ToolProblem("bad argument", "tactics: one of them is empty")
        with self._session(watch) as session, self._started(place, session) as (_, branch):
            results = []
            for tactic, result in zip(tactics, session.apply(branch, list(tactics)), strict=True):
                results.append(_tried(tactic, result))
            return TriedTactics(state=branch.state.text, results=results)

    def suggest_tactics(self, place: Place, count: int, watch: Watch) -> Suggestions:
        """Ask the policy for tactics at a place, the likeliest first."""
        theorem = Theorem("", "user", "")
        # The policy reads text alone: for a state that stands for itself no process of Lean is taken.
        if place.state is not None and not place.context and not place.imports:
            state = parsed_state(place.state)
        else:
            with self._session(watch) as session, self._started(place, session) as (opened, branch):
                state, theorem = branch.state.text, opened.theorem
        policy = policy_for(self.ways.policy.prover.policy, theorem)
        suggestion = policy.suggest(state, self._seed)
        tactics = []
        for tactic, logprob, drawn in zip(suggestion.tactics, suggestion.logprobs, suggestion.counts):
            tactics.append(SuggestedTactic(tactic=tactic, logprob=round(logprob, 4), count=drawn))
        tactics.sort(key=lambda suggested: -suggested.logprob)
        tactics_left = None
        if suggestion.value_distribution:  # policies without a value head have none
            tactics_left = round(suggestion.value, 3)
        return Suggestions(
            state=state, policy=self.ways.policy.name, tactics=tactics[:count], tactics_left=tactics_left
        )

    def premises(self, place: Place, count: int, watch: Watch) -> PremisesFound:
        """Find declarations that may help at a place: of a file only those that are accessible there."""
        name = ""
        if place.state is not None:
            state = parsed_state(place.state)
        else:
            with self._session(watch) as session, self._started(place, session) as (opened, branch):
                state, name = branch.state.text, opened.theorem.id
        retriever, listed = self.retriever(), list[PremiseFound]()
        if retriever is None:
            return PremisesFound(state=state, premises=listed)
        for premise in retriever.premises(state, name)[:count]:
            listed.append(
                PremiseFound(name=premise.full_name, statement=premise.plain, file=premise.path, line=premise.start[0])
            )
        return PremisesFound(state=state, premises=listed)

    def explain(self, search: str | None) -> Explanation:
        """Say why a search found no proof."""
        explanation = self.searches.explain(search)
        if explanation is None:
            raise ToolProblem("bad argument", "there is no such search; the resource nanoproof://searches lists them")
        return explanation

    # -- checking ----------------------------------------------------------------------------------------------------

    def check_proof(self, place: Place, source: str | None, proof: str, watch: Watch) -> CheckResult:
        """Check a proof of the `sorry` at a place, or of the last one of a text: of its theorem, then in its file."""
        if _NO_TACTICS.match(text_of(proof, "proof")):
            raise ToolProblem("bad argument", "proof: give tactics alone, without `:=`, `by` and fences")
        with self._session(watch) as session:
            if source is None:
                opened = self._open(place, session)
            else:
                project = self._virtual("", source, place.imports)
                opened = self._opened(project, session, None, place.line, place.column)
            return self._check_at(opened, proof, session)

    def check_text(self, file: str | None, source: str, imports: Sequence[str], watch: Watch) -> CheckResult:
        """Check a whole file of the project, or a text with imports."""
        if file is not None:
            project = self._project(file)
        else:
            project = self._virtual("", source, imports)
        with self._session(watch) as session:
            parsed = project.with_imports(self.lean.imports)
            report = session.check(parsed.checked(), watch.seconds_left)
        # Its own sorries are told by their places: Lean has one axiom for all of them.
        axioms = set(axioms_of_file(parsed, report))
        if parsed.gaps:
            axioms.discard(SORRY_AXIOM)
        rest = read_axioms(axioms, parsed, None, {})
        own = [place for name, place in parsed.places.items() if name not in parsed.open_before]
        rest = replace(rest, places=tuple(dict.fromkeys([*own, *rest.places])))
        lines_added = 0
        if file is None:
            lines_added = len(imports)
        return _verdict(report, rest, axioms, parsed, lines_added)

    def _check_at(self, opened: _Opened, proof: str, session: HttpLeanSession) -> CheckResult:
        file, filler, gap, theorem = opened
        if PLACEHOLDER in proof:
            raise ToolProblem("bad argument", f"proof: the name {PLACEHOLDER} is taken")
        verdict = check_proof(filler.trusting(session), theorem, proof)
        reason = verdict.reason
        # The theorem with its proof holds by itself; now within the file, where what follows may use it.
        if verdict.accepted:
            reason = filler.accept(session, gap, proof)
        if not verdict.accepted or reason:
            errors = [LeanMessage(line=0, column=0, message=shortened(text)) for text in verdict.errors]
            said = f"not a proof: {' '.join(reason.split())}"
            return CheckResult(accepted=False, said=said, errors=errors, sorries=0, axioms=[], rests_on=[])
        filler.rest_of(gap, verdict.rests_on)
        rest = filler.judge(session)[gap]
        said = "Lean accepts the proof"
        if rest.is_conditional:
            said += f", and it holds only {rest.condition(file.path)}"
        said += by_axioms(rest)
        axioms = sorted((ALLOWED_AXIOMS & set(verdict.axioms)) | set(rest.axioms))
        return CheckResult(
            accepted=not rest.is_conditional,
            said=said,
            errors=[],
            sorries=0,
            axioms=axioms,
            rests_on=_open_sorries(rest.open_places),
        )

    # -- places ------------------------------------------------------------------------------------------------------

    @contextmanager
    def _started(self, place: Place, session: HttpLeanSession) -> Iterator[tuple[_Opened, Branch]]:
        opened = self._open(place, session)
        yield opened, opened.filler.trusting(session).start(opened.theorem)

    def _open(self, place: Place, session: HttpLeanSession) -> _Opened:
        """Read a place, and let Lean read what comes before it."""
        if (place.file is None) == (place.state is None):
            raise ToolProblem("bad argument", "give either file (with line) or state")
        if place.file is not None:
            return self._opened(self._project(place.file), session, place.file, place.line, place.column)
        assert place.state is not None
        project = self._virtual(state_theorem(place.state), place.context, place.imports)
        gap = project.with_imports(self.lean.imports).gaps[-1]
        return self._opened(project, session, None, gap.line, gap.column)

    def _opened(
        self, project: Project, session: HttpLeanSession, name: str | None, line: int | None, column: int | None
    ) -> _Opened:
        file = project.with_imports(self.lean.imports)
        chosen = gap_at(file.gaps, name or "the text", line, column)
        if chosen.skip_reason:
            raise ToolProblem("bad argument", f"the sorry of line {chosen.line} cannot be proved: {chosen.skip_reason}")
        filler = SorryFiller(file, session, tolerant=True)
        theorem = filler.theorem(chosen)
        return _Opened(file, filler, chosen, replace(theorem, id=f"{file.path}, line {chosen.line}"))

    def place_of(self, file: str, line: int | None, column: int | None) -> tuple[int, int]:
        """Return line and column of the `sorry` that is meant. Raises ToolProblem if it is not clear which."""
        gap = gap_at(self._project(file).with_imports(self.lean.imports).gaps, file, line, column)
        return gap.line, gap.column

    def _project(self, file: str) -> Project:
        return Project.of_file(self.root, self.located(file))

    def _virtual(self, text: str, context: str, imports: Sequence[str]) -> Project:
        """Make a project of a text that is in no file, behind a context and with imports of the project's modules."""
        require_harmless(text_of(context, "context"), "context")
        require_harmless(text, "the statement or state")
        if imported_modules(context):
            raise ToolProblem("bad argument", "context: name its modules in imports, not in the text")
        name = _STATEMENT_FILE
        while (self.root / f"{name}.lean").exists():
            name += "_"
        header = "".join(f"import {module}\n" for module in imports)
        parts = [part.strip("\n") for part in (context, text) if part.strip()]
        whole = header + "\n\n".join(parts) + "\n"
        # Within a comment or string that the context leaves open the text says nothing, and the last `sorry` of the
        # file is one of the context: its proof would be taken for that of the text.
        if not mask(whole).rstrip().endswith(mask(text).strip()):
            raise ToolProblem("bad argument", "context: it ends within a comment or a string")
        project = Project.of_file(self.root, self.root / f"{name}.lean", whole)
        known = set(self.lean.imports or ())
        for module in imports:
            if project.file_of(module) is None and module not in known and not is_library(module):
                raise ToolProblem("bad argument", f"imports: there is no module {module} in the project")
        return project

    def located(self, file: str) -> Path:
        """Return the path of a file of the project; a ToolProblem if it is none, or leads out of it."""
        text_of(file, "file")
        if "\0" in file or not file.strip():
            raise ToolProblem("bad argument", "file: that is no path")
        path = path_inside(self.root, file)
        if path is None:
            raise ToolProblem("outside the project", f"file: {file} is not below {self.root}")
        if path.suffix != ".lean":
            raise ToolProblem("bad argument", f"file: {file} is no .lean file")
        if not os.path.isfile(path):  # which of a name that is too long just says no
            raise ToolProblem("bad argument", f"file: there is no {file[:200]} in {self.root}")
        return path

    # -- Lean --------------------------------------------------------------------------------------------------------

    @contextmanager
    def _slots(self, watch: Watch, most: int) -> Iterator[int]:
        """Wait for a Lean process that no other call uses, and take more if they are free; yields how many."""
        while not self._free.acquire(timeout=0.2):
            if watch.stopped:
                raise ToolProblem("timed out", "all Lean processes are busy with other calls; try again later")
        taken = 1
        # Never waited for: two calls that wait for more while each has some would wait for each other.
        while taken < most and self._free.acquire(blocking=False):
            taken += 1
        try:
            yield taken
        finally:
            for _ in range(taken):
                self._free.release()

    @contextmanager
    def _session(self, watch: Watch) -> Iterator[HttpLeanSession]:
        with self._slots(watch, 1), self.lean.servers()[0].lease(min(_BUSY_SECONDS, watch.seconds_left)) as session:
            yield session


# -- Answers ---------------------------------------------------------------------------------------------------------


def _open_sorries(places: Sequence[OpenPlace]) -> list[OpenSorry]:
    sorries = []
    for place in places:
        sorries.append(OpenSorry(name=place.name, file=place.file or None, line=place.line or None))
    return sorries


def _tried(tactic: str, result: TacticApplied | TacticFailed) -> TriedTactic:
    if isinstance(result, TacticFailed):
        return TriedTactic(tactic=tactic, outcome=result.kind, goals=[], message=lean_words(result.message))
    if not result.branches:
        return TriedTactic(tactic=tactic, outcome="closes", goals=[], message="")
    goals = [branch.state.text for branch in result.branches]
    return TriedTactic(tactic=tactic, outcome="applied", goals=goals, message="")


def _verdict(
    report: CheckReport, rest: Rest, axioms_used: Collection[str], file: LeanFile, lines_added: int
) -> CheckResult:
    """Say what Lean found in a text: its errors by lines of the file itself, without those that we put at its top."""
    # Lean reads the file without its imports and behind the files that it imports.
    lines_before = file.checked().count("\n") - file.text.count("\n") + lines_added
    last = file.text.count("\n") + 1 - lines_added
    errors = []
    for number, message in enumerate(report.errors):
        line, column = 0, 0
        if number < len(report.error_positions):
            line, column = report.error_positions[number]
        line -= lines_before
        # In a file that this one imports, or in our lines: no line that the caller could look at.
        if not 1 <= line <= last:
            line, column = 0, 0
        errors.append(LeanMessage(line=line, column=column, message=shortened(message)))
    problems = []
    if errors:
        problems.append(counted(len(errors), "error"))
    if report.sorries:
        problems.append(counted(report.sorries, "sorry"))
    if rest.is_conditional and not report.sorries:
        problems.append(f"it holds only {rest.condition(file.path)}")
    said = "accepted"
    if problems:
        said = f"not accepted: {', '.join(problems)}"
    said += by_axioms(rest)
    axioms = sorted((ALLOWED_AXIOMS & set(axioms_used)) | set(rest.axioms))
    return CheckResult(
        accepted=not problems,
        said=said,
        errors=errors,
        sorries=report.sorries,
        axioms=axioms,
        rests_on=_open_sorries(rest.open_places),
    )
