"""The `sorry`s of a Lean file, proved one after the other: what is proved stands in the file for those that follow."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from nanoproof.lean.errors import SourceError
from nanoproof.lean.lean_file import PLACEHOLDER, Gap, LeanFile
from nanoproof.lean.lexical import without_header
from nanoproof.lean.source import ALLOWED_AXIOMS
from nanoproof.lean.theorem import Theorem
from nanoproof.lean.wire import CheckReport, LeanCalls
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.typed import first_error

Prove = Callable[[LeanCalls, Theorem], Attempt]


@dataclass(frozen=True)
class Filled:
    """What became of one `sorry`: proved, tried in vain (`message` says why), or left alone."""

    gap: Gap
    outcome: Literal["proved", "not proved", "left alone"]
    message: str = ""
    attempt: Attempt | None = None


class SorryFiller:
    """Tries the `sorry`s of one file with one session; `file` holds the proofs found so far."""

    def __init__(self, file: LeanFile, session: LeanCalls, prove: Prove) -> None:
        """Raises `SourceError` if Lean refuses the file as it is."""
        self.file = file
        self._session = session
        self._trusting = TrustingSession(session, file.axioms)
        self._prove = prove
        self._report = self._check(file)
        if self._report.errors:
            raise SourceError(f"Lean refuses the file: {first_error(self._report, without_header(file.text))}")
        self._without_stand_in: dict[Gap, str] = {}
        self._settle(file.gaps)

    def fill(self, gap: Gap) -> Filled:
        """Try one `sorry`; its proof is kept if the whole file holds with it. LeanError if the server fails."""
        if gap.left_alone:
            return Filled(gap, "left alone", gap.left_alone)
        attempt = self._prove(
            self._trusting, self.file.theorem(gap, "file", f"{gap.name}, line {gap.line}, column {gap.column}")
        )
        if attempt.outcome != "proven":
            reason = _one_line(attempt.message)
            if attempt.refused:
                reason = self._missing_before(gap) or reason
            return Filled(gap, "not proved", reason, attempt)
        if PLACEHOLDER in attempt.proof:
            return Filled(gap, "not proved", "the proof names what stands for a sorry", attempt)
        file = self.file.with_proof(gap, attempt.proof)
        report = self._check(file)
        if report.errors:
            reason = f"the proof does not fit into the file: {_one_line(report.errors[0])}"
            return Filled(gap, "not proved", reason, attempt)
        self.file, self._report = file, report
        return Filled(gap, "proved", attempt=attempt)

    @property
    def complete(self) -> bool:
        """Whether the file as it is now holds no `sorry` and rests on nothing that it does not declare itself."""
        return self._report.accepted and not self.file.open_gaps and not self.foreign_axioms

    @property
    def foreign_axioms(self) -> tuple[str, ...]:
        """The axioms that the theorems of the file rest on, without the usual three and those it declares."""
        found = (axiom for axiom in self._report.axioms if axiom not in ALLOWED_AXIOMS)
        return tuple(axiom for axiom in found if axiom.rpartition(".")[2] not in self.file.axioms)

    def _missing_before(self, gap: Gap) -> str:
        """Which `sorry` before a theorem makes Lean refuse what is given of the file; empty if none does."""
        for other, said in self._without_stand_in.items():
            if other.start < gap.start and other in self.file.open_gaps:
                return f"nothing can stand in for the sorry of line {other.line}, column {other.column}: {said}"
        return ""

    def _settle(self, gaps: Sequence[Gap]) -> None:
        """Find the `sorry`s that were taken for a tactic and are a term, or the other way round: Lean refuses those.

        What it refuses as both stays as it is; a theorem behind it cannot be tried.
        """
        report = self._session.check(self.file.supposing(gaps))
        if report.errors and len(gaps) > 1:
            self._settle(gaps[: len(gaps) // 2])
            self._settle(gaps[len(gaps) // 2 :])
        elif report.errors:
            flipped = self.file.with_flipped(gaps[0])
            if self._session.check(flipped.supposing(gaps)).errors:
                self._without_stand_in[gaps[0]] = _one_line(report.errors[0])
            else:
                self.file = flipped

    def _check(self, file: LeanFile) -> CheckReport:
        return self._session.check(without_header(file.proved()))


class TrustingSession:
    """A session whose checks do not mind the axioms that stand in the file, and what stands there for a `sorry`."""

    def __init__(self, session: LeanCalls, axioms: frozenset[str]) -> None:
        self._session = session
        self._trusted = axioms | {PLACEHOLDER}
        self.start, self.apply = session.start, session.apply

    def check(self, source: str) -> CheckReport:
        report = self._session.check(source)
        axioms = tuple(axiom for axiom in report.axioms if axiom.rpartition(".")[2] not in self._trusted)
        return replace(report, axioms=axioms)


def _one_line(text: str) -> str:
    return " ".join(text.split())
