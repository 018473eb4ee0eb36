"""The final check: only a text that passes every test of it, its rungs, is a proof.

Lean reads three texts, each in a fresh environment with the imports of its server, which are ours:

1. the theorem with its proof, as it will be exported;
2. the same under a name that nobody can know beforehand, the proof between parentheses: there Lean's parser takes no
   commands, so nothing in the proof can begin one, and the answer about that name can only be about this theorem;
3. the theorem as it was given, under that name, without the proof: what Lean prints as its statement must be what it
   prints for the second text. The proof is no part of this text, so it cannot change what it says.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from nanoproof.lean.forbidden import banned_reason, banned_word, block_reason
from nanoproof.lean.lean_file import PLACEHOLDER, STAND_IN
from nanoproof.lean.repl_goals import ran_out
from nanoproof.lean.source import (
    ALLOWED_AXIOMS,
    last_part,
    parse_declaration,
    rename_theorem,
    splice,
    unforeseeable_name,
    up_to_value,
)
from nanoproof.lean.types import CheckReport, LeanCalls, Theorem
from nanoproof.prover.resting import SORRY_AXIOM

RUNGS = ("replayed", "words", "whole_text", "no_sorry", "axioms", "one_block", "statement")
"""What a proof has to pass, in this order; docs/checking.md says what each stops."""

UNLIMITED = "set_option maxHeartbeats 0\n"
"""Prepended to a text whose proof needs more work than Lean allows a declaration."""
_OUT_OF_HEARTBEATS = re.compile(r"maximum number of heartbeats|\(deterministic\) timeout")
_OF_THE_SERVER = re.compile(
    r"\balready (?:been )?declared\b|\bunknown (?:module|package)\b|\bobject file\b.*\bdoes not exist\b"
    r"|invalid 'import' command",
    re.DOTALL,
)
"""Lean's messages about texts that were not read in a fresh environment with the imports: no tactic is to blame. Nor
for those of `ran_out`, about the limits of a machine."""


class TrustingSession:
    """A session whose checks do not count the axioms that stand for a `sorry`, nor those that a file declares itself
    (`axioms`, names without namespaces).

    They count where a text names them more often than `given`, the theorem's own text: a proof must not. What a proof
    rests on is told all the same (`Verdict.rests_on`).
    """

    def __init__(self, session: LeanCalls, axioms: frozenset[str] = frozenset(), given: str | None = None) -> None:
        self._session, self._trusted, self._given = session, axioms, given
        self.start, self.apply = session.start, session.apply

    def check(self, source: str, seconds: float | None = None, since: int = 0) -> CheckReport:
        """Check a text, and leave the trusted axioms out of the report."""
        report = self._session.check(source, seconds, since)
        given = source if self._given is None else self._given
        trusted = {axiom for axiom in self._trusted if source.count(axiom) <= given.count(axiom)}
        if source.count(PLACEHOLDER) <= given.count(PLACEHOLDER):
            trusted |= {axiom for axiom in report.axioms if STAND_IN.fullmatch(axiom)}
        return replace(report, axioms=tuple(a for a in report.axioms if a.rpartition(".")[2] not in trusted))


class Checker(Protocol):
    """What the final check needs of Lean; every `LeanSession` has it."""

    def check(self, source: str, *, since: int = 0) -> CheckReport: ...


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of the final check: `source` is the text to export, `reason` why it is no proof.

    `rungs` maps each rung that was reached to whether it held; `statement` is what was proved, as printed by Lean.
    `rests_on` are the axioms of the theorem beyond Lean's three, which a `TrustingSession` lets pass.
    `fault` means that the proof is not to blame: the server does not read the text as it should. `errors` are Lean's
    messages about the text that it refused.
    """

    source: str
    accepted: bool
    reason: str = ""
    axioms: tuple[str, ...] = ()
    rungs: dict[str, bool] = field(default_factory=dict)
    statement: str = ""
    fault: bool = False
    errors: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Convert to JSON data, the `check` of an attempt; `rests_on` is there if it is something."""
        rests_on = {"rests_on": list(self.rests_on)} if self.rests_on else {}
        return {
            "environment": "fresh",
            "accepted": self.accepted,
            "reason": self.reason,
            "axioms": list(self.axioms),
            "rungs": dict(self.rungs),
            "statement": self.statement,
            **rests_on,
        }


class _Refused(Exception):
    """A rung does not hold; the message says why, and `fault` whether that cannot be the proof."""

    def __init__(self, reason: str, fault: bool) -> None:
        super().__init__(reason)
        self.fault = fault


@dataclass(frozen=True)
class Texts:
    """The three texts that Lean reads about one proof, and the name that the theorem has in the last two."""

    whole: str
    enclosed: str
    given: str
    name: str

    @classmethod
    def of(cls, source: str, proof: str) -> "Texts":
        """Make the texts for a proof in place of the `sorry` of a source; raises SourceError if it does not fit."""
        name = unforeseeable_name(source, proof)
        given = rename_theorem(source, name)
        return cls(splice(source, proof), _enclosed(given, proof), given, name)


def check_proof(checker: Checker, theorem: Theorem, proof_text: str, replayed: bool = False) -> Verdict:
    """Put the proof into its theorem and check it; raises LeanError if the server fails, SourceError for no text.

    `replayed` means that Lean has run the proof step by step from the start. Lean's limit of work (heartbeats) is for a
    whole declaration, while each step of a search has as much of its own: a proof that exceeds it is checked once more
    without the limit.
    """
    check = _FinalCheck(checker, theorem.source, proof_text, replayed)
    verdict = _verdict(check)
    # Only then, as without a limit a wrong proof may keep Lean busy up to the time limit of the whole check.
    if verdict.accepted or not any(map(_OUT_OF_HEARTBEATS.search, check.errors)):
        return verdict
    return _verdict(_FinalCheck(checker, UNLIMITED + theorem.source, proof_text, replayed))


def _verdict(check: "_FinalCheck") -> Verdict:
    try:
        check.run()
    except _Refused as refused:
        return Verdict(
            check.texts.whole, False, str(refused), check.axioms, check.rungs, "", refused.fault, tuple(check.errors)
        )
    return Verdict(check.texts.whole, True, "", check.axioms, check.rungs, check.statement, rests_on=check.rests_on)


class _FinalCheck:
    """The check of one proof: the rungs so far, and what Lean answered on them."""

    def __init__(self, checker: Checker, source: str, proof: str, replayed: bool) -> None:
        self.checker = checker
        self.source = source
        self.proof = proof
        self.texts = Texts.of(source, proof)
        # Alike up to there in all three texts. A false theorem before it is seen by the axioms of what rests on it.
        self.start = parse_declaration(source, whole=False).start
        self.rungs: dict[str, bool] = {"replayed": True} if replayed else {}
        self.axioms: tuple[str, ...] = ()
        self.rests_on: tuple[str, ...] = ()
        self.errors: Sequence[str] = ()
        self.statement = ""

    def run(self) -> None:
        """Check every rung in order; raises `_Refused` at the first that does not hold."""
        banned = banned_reason if self.rungs else banned_word  # `have h` alone is refused in steps of a search only
        self._hold("words", block_reason(self.proof) or banned(self.proof) or "")
        report = self.checker.check(self.texts.whole, since=self.start)
        self.axioms, self.errors = report.axioms, report.errors
        refusal = f"Lean refuses the finished text: {_first_line(report.errors)}" if report.errors else ""
        self._hold("whole_text", refusal)
        self._hold("no_sorry", "the finished text still holds a sorry" if report.sorries else "")
        self._hold("axioms", foreign_axioms(report))
        name = self.texts.name
        enclosed = self.checker.check(self.texts.enclosed, since=self.start)
        self.errors = enclosed.errors
        self._hold("one_block", _refusal(enclosed))
        for known, axioms in enclosed.axioms_of:
            if known.rpartition(".")[2] == name:  # a name that no text can hold, so the answer is about this proof
                self.rests_on = tuple(sorted(set(axioms) - ALLOWED_AXIOMS))
        given = self.checker.check(self.texts.given, since=self.start)
        self.errors = given.errors
        if given.errors:  # there is no proof in this text
            self._hold("statement", f"Lean refuses the statement by itself: {_first_line(given.errors)}", fault=True)
        for known, axioms in given.axioms_of:
            # Where the text was read wrongly, the `sorry` may be in another theorem, about which nothing was asked.
            if known.rpartition(".")[2] == name and SORRY_AXIOM not in axioms:
                self._hold("statement", f"the `sorry` is not in the theorem {self._own_name()}")
        before, after = _statement(given, name), _statement(enclosed, name)
        if not after or before != after:
            self._hold("statement", f"`{before}` is given, `{after}` is what is proved")
        self.rungs["statement"] = True
        self.statement = after.replace(name, last_part(self._own_name()))  # that alone was renamed

    def _own_name(self) -> str:
        return parse_declaration(self.source, whole=False).name or "example"

    def _hold(self, rung: str, reason: str, fault: bool = False) -> None:
        """Record whether a rung holds; raises `_Refused` where there is a reason why not."""
        self.rungs[rung] = not reason
        if reason:
            raise _Refused(reason, fault or any(map(_of_the_server, self.errors)))


def _of_the_server(error: str) -> bool:
    return _OF_THE_SERVER.search(error) is not None or ran_out(error)


def _refusal(report: CheckReport) -> str:
    """Return why a text of one theorem is no proof; empty if it is one."""
    if report.errors:
        return f"the proof is not one block of tactics: {_first_line(report.errors)}"
    return "the proof between parentheses holds a sorry" if report.sorries else foreign_axioms(report)


def foreign_axioms(report: CheckReport) -> str:
    """Name the forbidden axioms that the theorems of a text rest on, as a sentence; empty if there are none."""
    foreign = sorted(set(report.axioms) - ALLOWED_AXIOMS)
    if not foreign:
        return ""
    return f"the proof rests on {', '.join(foreign)}; allowed are {', '.join(sorted(ALLOWED_AXIOMS))}"


def _statement(report: CheckReport, name: str) -> str:
    """Return the statement of our theorem as Lean prints it; empty unless exactly one theorem has this name."""
    found = [text for known, text in report.statements if known.rpartition(".")[2] == name]
    return found[0] if len(found) == 1 else ""


def _enclosed(source: str, proof: str) -> str:
    """Put the proof in place of the `sorry` of a source, between parentheses."""
    declaration = parse_declaration(source, whole=False)
    text = splice(source, proof)
    end = len(text) - (len(source) - declaration.sorry_end)
    if declaration.whole:
        start = len(up_to_value(source, declaration))
        block, column = text[start:end], len(declaration.indent)
    else:
        start = declaration.sorry_start
        # The parenthesis moves the first line by a column, and the others have to follow it.
        block, column = text[start:end].replace("\n", "\n "), start - text.rfind("\n", 0, start)
    return f"{text[:start]}({block}\n{' ' * column}){text[end:]}"


def _first_line(errors: Sequence[str]) -> str:
    return errors[0].strip().split("\n")[0]
