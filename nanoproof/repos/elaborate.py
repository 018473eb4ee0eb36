"""Elaborating the files of a project on a Lean server, and running each of their tactics there once more.

NanoLean knows no modules but its own: it is given what a file imports, one file after another, in an environment that
the next file over the same imports goes on from. Real Lean reads the imports of a file itself.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Self

from nanoproof.lean.check_command import CheckCommand
from nanoproof.lean.client import LeanFleet
from nanoproof.lean.declarations import without_private_names
from nanoproof.lean.lean_file import LeanFile, OpenPlace
from nanoproof.lean.lexical import blank, header, mask, up_to_exit, without_header
from nanoproof.lean.session import HttpLeanSession
from nanoproof.lean.types import (
    CheckReport,
    LeanError,
    ProcessLost,
    ProtocolError,
    ServerTimeout,
    SourceError,
    TheoremRejected,
)
from nanoproof.prover.resting import SORRY_AXIOM, UNKNOWN_PLACE, read_axioms
from nanoproof.repos.project import Project, before_text
from nanoproof.repos.source_file import SourceFile
from nanoproof.repos.trees import Ran, dedent, nest, split_goals

NANOLEAN_MODULES = ("Init", "Std", "Lean")
FILES_PER_LEASE = 40
"""After so many files NanoLean's environments are given up, which bounds the memory that they take."""
STEPS_AT_ONCE = 200
"""Tactics in a request. The server forgets the proof states of a file with the last of them."""
_LOSSES = 3
"""How often a process may end at a file: memory runs out, or a tactic takes the process with it."""
_OPEN = re.compile(r"(?<![\w'])(?:sorry|admit|sorryAx|stop)(?![\w'])")
"""A text without one of these words, and without imports that hold one, leaves nothing open."""


class FileFailed(Exception):
    """A file cannot be traced, for the reason in the message; `may_pass` if it could be another time, unchanged."""

    def __init__(self, reason: str, may_pass: bool = False) -> None:
        super().__init__(reason)
        self.may_pass = may_pass


@dataclass
class Elaborated:
    """What Lean says of a file: its tactics, run again, and the constants of each declaration by its name.

    `constants` is None where the server does not tell them.
    """

    tactics: list[Ran]
    constants: dict[str, tuple[str, ...]] | None = None
    resting: dict[str, tuple[OpenPlace, ...]] | None = field(default_factory=dict)
    """What is open that each theorem rests on, by its name; empty where nothing is, None if Lean does not say."""
    exceptions: list[Ran] = field(default_factory=list)
    """Tactics that ran in the file, but are refused on their own, or for which no time was left."""


class Elaborator:
    """Elaborates files on one leased process, for one thread; a context manager.

    `elaborations` counts the texts that Lean was given.
    """

    def __init__(
        self, fleet: LeanFleet, project: Project, nanolean: bool, file_seconds: float, tactic_seconds: float
    ) -> None:
        self._fleet, self._project, self._nanolean = fleet, project, nanolean
        self._file_seconds, self._tactic_seconds = file_seconds, tactic_seconds
        self._session: HttpLeanSession | None = None
        self._envs: dict[tuple[str, ...], int] = {}
        self._files = 0
        self.elaborations = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: object) -> None:
        self.release()

    def release(self) -> None:
        """Give the process back, and with it all environments."""
        session, self._session = self._session, None
        self._envs.clear()
        self._files = 0
        if session is not None:
            with suppress(LeanError):
                session.close()

    def run(self, file: SourceFile) -> Elaborated:
        """Elaborate a file and run its tactics again.

        Raises `FileFailed` for a file with errors, and one at which Lean's process ends again and again.
        """
        if self._nanolean:
            self._check_imports(file)
        losses = 0
        resting: dict[str, tuple[OpenPlace, ...]] | None = None
        done: dict[tuple[int, int], dict[str, Any]] = {}  # by the number of the tactic, and whether it is its head
        # A process that ends takes the file's proof states with it: the next one elaborates the file again, and goes on
        # behind the tactic at which the last one ended. Numbers of tactics are the same in each round, as the text is.
        while True:
            try:
                answer = self._elaborate(file)
                _require_no_errors(answer, self._nanolean)
                tactics = _tactics(answer, file)
                if self._run_steps(tactics, done):
                    resting = self._resting(file)
                    break
                losses += 1
                if losses > _LOSSES:
                    break
            except (ProcessLost, ServerTimeout) as error:
                losses += 1
                # Twice at the file itself, before any tactic: a third time would take as long, half an hour by default.
                if (losses > 1 and not done) or losses > _LOSSES:
                    raise FileFailed(f"Lean does not come to an end with it: {error}", may_pass=True) from error
            finally:
                self._files += 1
            self.release()
        # Real Lean shares nothing between files, and other clients of its server wait for the process.
        if not self._nanolean or self._files >= FILES_PER_LEASE:
            self.release()
        return _elaborated(tactics, done, answer, resting)

    # -- Elaboration -------------------------------------------------------------------------------------------------

    def _elaborate(self, file: SourceFile) -> dict[str, Any]:
        if not self._nanolean:
            return self._run_text(file.text, header=True, allTactics=True)
        imported = self._project.closure(file)
        # One environment for each beginning of the list: files in order of dependency have long ones in common.
        for count in range(1, len(imported) + 1):
            self._environment(imported[:count])
        body = _body(file)
        answer = self._run_text(
            body,
            self._env(imported),
            allTactics=True,
            module=True,
            constants=True,
            **self._from_nothing(imported),
        )
        # What has private names is read once more for those that import it: they may have the same ones.
        if without_private_names(body) == body:
            self._envs[_key((*imported, file))] = _env_of(answer)
        return answer

    def _environment(self, files: Sequence[SourceFile]) -> None:
        """Make sure that there is an environment with these files."""
        if _key(files) not in self._envs:
            *before, last = files
            body = without_private_names(_body(last))
            answer = self._run_text(body, self._env(before), module=True, **self._from_nothing(before))
            if errors := _errors(answer):
                raise FileFailed(f"it imports {last.path}, which is not traced: {errors[0]}")
            self._envs[_key(files)] = _env_of(answer)

    def _env(self, files: Sequence[SourceFile]) -> int | None:
        return self._envs[_key(files)] if files else None

    def _from_nothing(self, before: Sequence[SourceFile]) -> dict[str, bool]:
        # The library of NanoLean itself: its first file must not find that library declared already.
        if self._project.is_nanolean and not before:
            return {"prelude": True}
        return {}

    def _run_text(self, text: str, env: int | None = None, **asked: bool) -> dict[str, Any]:
        if self._session is None:
            self._session = self._fleet.lease(self._file_seconds)
        self.elaborations += 1
        try:
            return self._session.run_file(text, self._file_seconds, env, **asked)
        except TheoremRejected as error:
            raise FileFailed(str(error)) from error

    def _check_imports(self, file: SourceFile) -> None:
        for module in self._project.external_imports(file):
            if module not in NANOLEAN_MODULES:
                raise FileFailed(f"it imports {module}, which NanoLean does not have (trace it with --lean-servers)")

    # -- What is open --------------------------------------------------------------------------------------------------

    def _resting(self, file: SourceFile) -> dict[str, tuple[OpenPlace, ...]] | None:
        """Ask Lean for the axioms of each theorem where something is open, with an axiom for each `sorry`.

        If the file cannot be read so, its own text still says whether a theorem rests on some `sorry`.
        """
        imported = self._project.closure(file)
        if self._project.is_nanolean or not any(_OPEN.search(mask(source.text)) for source in (*imported, file)):
            return {}
        texts: dict[str, str] = {}
        raw: dict[str, str] = {}
        places: dict[str, OpenPlace] = {}
        before = before_raw = ""
        try:
            for source in imported:
                parsed = LeanFile.parse(source.written, path=source.path)
                texts[source.path] = parsed.imported()
                raw[source.path] = without_header(source.text)
                places |= parsed.places
            if self._nanolean:  # real Lean reads the imports itself
                before, before_raw = before_text(texts, imported), before_text(raw, imported)
            own = LeanFile.parse(file.written, before, file.path, places)
        except SourceError:
            return None
        axioms_of: dict[str, tuple[str, ...]] = {}
        # First with an axiom for each `sorry`, by whose name a place is known. Where Lean has errors in that, what it
        # says is completed from the text as it is, which tells only that `sorryAx` is used.
        for text in (own.assuming(own.gaps), before_raw + without_header(file.text)):
            report = self._report(file, text)
            if report is not None:
                axioms_of = {**dict(report.axioms_of), **axioms_of}
                if not report.errors:
                    break
        resting: dict[str, tuple[OpenPlace, ...]] = {}
        for name, axioms in axioms_of.items():
            open_places = read_axioms(axioms, own, None, {}).places
            if SORRY_AXIOM in axioms:
                open_places = (*open_places, OpenPlace(UNKNOWN_PLACE, "", 0))
            # `#print axioms` writes «» where a name needs them, declarations are listed without.
            resting[name.replace("«", "").replace("»", "")] = open_places
        return resting or None

    def _report(self, file: SourceFile, text: str) -> CheckReport | None:
        """Ask for the axioms of each theorem of a text, which follows the header of the file; None if none come."""
        heads = ""
        options: dict[str, bool] = {}
        if not self._nanolean:
            heads = "\n".join(match["words"] for match in header(mask(file.text)))
            options["header"] = True
        command = CheckCommand.build(text, heads)
        try:
            return command.read_answer(self._run_text(command.text, **options))
        except (FileFailed, ProtocolError):
            return None

    # -- Tactics -----------------------------------------------------------------------------------------------------

    def _run_steps(self, tactics: Sequence[Ran], done: dict[tuple[int, int], dict[str, Any]]) -> bool:
        """Run the tactics, and their heads, that are not `done`; false if the process ended at one of them.

        That one counts as done.
        """
        assert self._session is not None
        keys: list[tuple[int, int]] = []
        steps: list[tuple[int, str]] = []
        for is_head in (0, 1):
            for number, ran in enumerate(tactics):
                text = (ran.text, ran.head)[is_head]
                if text and (number, is_head) not in done:
                    keys.append((number, is_head))
                    steps.append((ran.proof_state, text))
        for start in range(0, len(steps), STEPS_AT_ONCE):
            end = start + STEPS_AT_ONCE
            answers = self._session.run_steps(steps[start:end], self._tactic_seconds, forget=end >= len(steps))
            # An `error` is no refusal but the end of the process: what comes behind it has not run.
            for key, answer in zip(keys[start:end], answers):
                done[key] = answer
                if "error" in answer:
                    return False
        return True


def _key(files: Sequence[SourceFile]) -> tuple[str, ...]:
    return tuple(file.module for file in files)


def _body(file: SourceFile) -> str:
    """Return what Lean reads of a file, with spaces in place of its header, so that all places stay the same."""
    text = up_to_exit(file.text)
    for match in header(mask(text)):
        start, end = match.span("words")
        text = text[:start] + blank(text[start:end]) + text[end:]
    return text


def _env_of(answer: Mapping[str, Any]) -> int:
    env = answer.get("env")
    if not isinstance(env, int):
        raise ProtocolError(f"no environment in the answer to a file: {str(answer)[:200]!r}")
    return env


def _require_no_errors(answer: Mapping[str, Any], nanolean: bool) -> None:
    """Raise `FileFailed` for a file with errors; real Lean may only lack modules that are not built yet."""
    if errors := _errors(answer):
        raise FileFailed(errors[0], may_pass=not nanolean)


def _errors(answer: Mapping[str, Any]) -> list[str]:
    """List the errors of an answer, each with line (from 1) and column (from 0) in front."""
    # The REPL answers so to what it could not read at all, as a file whose import fails.
    if "message" in answer and "env" not in answer:
        return [str(answer["message"])[:500]]
    errors = []
    for message in answer.get("messages") or ():
        if message.get("severity") == "error":
            place, text = message.get("pos") or {}, " ".join(str(message.get("data")).split())
            errors.append(f"{place.get('line', 0)}:{place.get('column', 0)}: {text[:300]}")
    return errors


def _tactics(answer: Mapping[str, Any], file: SourceFile) -> list[Ran]:
    """Read the tactics of an answer, sorted by their places; those inside of others are linked to them."""
    tactics = []
    text = file.text
    try:
        for record in answer.get("tactics") or ():
            start = file.places.offset(record["pos"]["line"], record["pos"]["column"])
            end = file.places.offset(record["endPos"]["line"], record["endPos"]["column"])
            number, constants = record.get("proofState"), record.get("usedConstants")
            goals = split_goals(record["goals"])
            # What runs where no goal is left (behind `all_goals`, `<;>`) says nothing that could be learned.
            if start < end and goals and isinstance(number, int):
                column = start - text.rfind("\n", 0, start) - 1
                if constants is not None:
                    constants = tuple(map(str, constants))
                tactics.append(Ran(start, end, dedent(text[start:end], column), number, goals, constants))
    except (KeyError, TypeError) as error:
        raise ProtocolError(f"not a list of tactics as the REPL gives it: {error!r}") from error
    # A tactic before those inside of it that begin where it does.
    tactics.sort(key=lambda ran: (ran.start, -ran.end))
    nest(tactics, text)
    return tactics


def _elaborated(
    tactics: list[Ran],
    done: Mapping[tuple[int, int], dict[str, Any]],
    answer: Mapping[str, Any],
    resting: dict[str, tuple[OpenPlace, ...]] | None,
) -> Elaborated:
    result = Elaborated(tactics, resting=resting)
    for number, ran in enumerate(tactics):
        ran.after, ran.refusal = _outcome(done.get((number, 0), {"error": "Lean's process ended too often"}))
        ran.head_after, _ = _outcome(done.get((number, 1), {"error": ""}))
        if ran.after is None:
            result.exceptions.append(ran)
    listed = answer.get("constants")
    # NanoLean alone is asked for them: the REPL of real Lean does not know the question.
    if isinstance(listed, list):
        result.constants = {}
        for declared in listed:
            result.constants[str(declared["name"])] = tuple(map(str, declared["usedConstants"]))
    return result


def _outcome(answer: Mapping[str, Any]) -> tuple[list[str] | None, str]:
    """Read the goals that a tactic leaves, or None and why it is refused."""
    refusal = answer.get("error") or answer.get("message")
    for message in answer.get("messages") or ():
        if message.get("severity") == "error":
            refusal = refusal or message.get("data") or "an error"
    goals = answer.get("goals")
    if refusal or not isinstance(goals, list):
        return None, " ".join(str(refusal or "no goals in the answer").split())
    return [str(goal).strip("\n") for goal in goals], ""
