"""What becomes of a text that the network proposes as a conjecture, before any attempt: read, known, held out, empty?

A text passes these filters in their order; the first that stops it is its verdict:

    unreadable  no statement `(x : ℕ) : x = x`, or it did not end in time
    known       equal to a theorem of the training sets, of the library, or to an earlier conjecture
    held out    equal to a theorem of a benchmark
    refused     Lean does not accept it as a statement
    vacuous     a finisher proves `False` from what it assumes
    trivial     a finisher proves it
    false       small numbers, lists and truth values refute it (`decide`)
    new         none of these

Equal means: up to names, the order of variables and hypotheses, and, on the embedded prover, notation as well, since
there statements are compared as elaborated (`data/theorems/overlap.py` says what texts are compared by).
"""

import random
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from nanoproof.data.nanolean import held_out_keys, statement_key
from nanoproof.data.theorems.overlap import unordered_form, unordered_key
from nanoproof.data.transitions.conjecture_pairs import held_out_theorems, unordered_form_of
from nanoproof.lean.lexical import find_top_level, mask
from nanoproof.lean.source import negate, parse_declaration
from nanoproof.lean.types import Branch, LeanCalls, SourceError, TacticApplied, Theorem, TheoremRejected
from nanoproof.ttrl.statements import parse_statement
from nanoproof.ttrl.variants import is_hypothesis

Verdict = Literal["unreadable", "known", "held out", "refused", "vacuous", "trivial", "false", "new"]
VERDICTS: tuple[Verdict, ...] = ("unreadable", "known", "held out", "refused", "vacuous", "trivial", "false", "new")
NAME = "conjecture"
"""The name that a conjecture has as a theorem."""
_LONGEST = 2000
MOST_INSTANCES = 16
"""Instances of a statement by which it may be refuted: the first two have one value for all variables of a type."""
_NUMBERS, _LISTS = ("0", "1", "2", "3"), ("[]", "[0]", "[0, 1]", "[1, 0, 1]")
_VALUES = {"Nat": _NUMBERS, "ℕ": _NUMBERS, "List": _LISTS, "Prop": ("True", "False"), "Type": ("Nat", "Nat")}
"""Values of the variables of a type, by its first word; lists are of numbers, or of a type that is."""
_FORBIDDEN = (":=", "sorry", "\n", "--", "/-", '"', "«", "⋯", "✝", "?")
"""What no statement in one line holds."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """A text of the network, made from `origin`, with the statement that it is, its verdict, and why.

    `form` is what equal statements have in common by their texts, `key` the same as elaborated ("" before that).
    """

    text: str
    origin: Mapping[str, str]
    source: str = ""
    form: str = ""
    key: str = ""
    verdict: Verdict = "new"
    reason: str = ""


def read_proposed(text: str, finished: bool, before: str, origin: Mapping[str, str]) -> Proposed:
    """Read what the network wrote as a statement; `before` is what stands in front of it as a theorem."""
    said = " ".join(text.split())
    proposed = Proposed(said, origin)
    if not finished:
        return replace(proposed, verdict="unreadable", reason="it has no end")
    found = next((word for word in _FORBIDDEN if word in text), None)
    if found is not None or len(said) > _LONGEST:
        return replace(proposed, verdict="unreadable", reason=f"it holds {found!r}" if found else "it is too long")
    source = f"{before}theorem {NAME} {said} := by\n  sorry"
    try:
        parsed = parse_declaration(source)
    except SourceError as error:
        return replace(proposed, verdict="unreadable", reason=str(error))
    if find_top_level(mask(source), ":", parsed.head_end) < 0 or parsed.name != NAME:
        return replace(proposed, verdict="unreadable", reason="it states nothing")
    return replace(proposed, source=source, form=unordered_form(said))


# -- What is known, and what is held out -----------------------------------------------------------------------------


@dataclass
class Statements:
    """Statements that no conjecture may equal, by their forms and keys. Any number of threads may share them.

    `key` computes the key of a source, "" where there is none to compare by; it raises SourceError for what is no
    statement.
    """

    known: set[str] = field(default_factory=set)
    held_out: set[str] = field(default_factory=set)
    key: Callable[[str], str] = lambda source: ""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def know(self, *forms: str) -> None:
        """Note forms or keys of statements."""
        with self._lock:
            self.known.update(form for form in forms if form)

    def checked(self, proposed: Proposed, claim: bool = False) -> Proposed:
        """Return a proposal with its verdict, if it is known or held out; with `claim` it is known from now on."""
        forms = {form for form in (proposed.form, proposed.key) if form}
        with self._lock:
            if forms & self.known:
                return replace(proposed, verdict="known")
            if forms & self.held_out:
                return replace(proposed, verdict="held out")
            if claim:
                self.known |= forms
        return proposed


def embedded_key(source: str) -> str:
    """Return the key of a statement on the embedded prover, without the order of hypotheses.

    Raises SourceError for text that does not elaborate.
    """
    try:
        return unordered_key(statement_key(source))
    except RecursionError as error:
        raise SourceError("the statement is nested too deeply") from error


def statements_of(
    theorems: Iterable[Theorem], lemmas: Mapping[str, str], eval_datasets: Sequence[str], embedded: bool
) -> Statements:
    """Collect what no conjecture may equal: training theorems and lemmas are known, all benchmarks held out.

    On the embedded prover its benchmarks are held out as elaborated, too; a minute's work, whose result is kept.
    """
    known = {unordered_form_of(theorem) for theorem in theorems}
    known |= {unordered_form(statement) for statement in lemmas.values()}
    held_out = {unordered_form_of(theorem) for theorem in held_out_theorems(eval_datasets)}
    if not embedded:
        return Statements(known - {""}, held_out - {""})
    keys = {unordered_key(key) for key in held_out_keys()}
    return Statements(known - {""}, (held_out - {""}) | keys, embedded_key)


# -- What Lean says --------------------------------------------------------------------------------------------------


def examined(session: LeanCalls, proposed: Proposed, statements: Statements, finishers: Sequence[str]) -> Proposed:
    """Have Lean elaborate a statement, compare it as elaborated, try `finishers` on it and on `False`, and instances.

    A new one is known from then on. Raises LeanError if the server fails.
    """
    proposed = statements.checked(proposed)
    if proposed.verdict != "new":
        return proposed
    try:
        start = session.start(Theorem(proposed.source, "conjectures", NAME))
        proposed = replace(proposed, key=statements.key(proposed.source))
    except TheoremRejected as error:
        return replace(proposed, verdict="refused", reason=" ".join(str(error).split())[:300])
    proposed = statements.checked(proposed, claim=True)
    if proposed.verdict != "new":
        return proposed
    if not start.state.goals:
        return replace(proposed, verdict="trivial", reason="no goal")
    if (tactic := _contradicting(session, start, finishers)) is not None:
        return replace(proposed, verdict="vacuous", reason=tactic)
    if (tactic := _closing(session, start, finishers)) is not None:
        return replace(proposed, verdict="trivial", reason=tactic)
    if (tactic := _refuting(session, proposed.source)) is not None:
        return replace(proposed, verdict="false", reason=tactic)
    return proposed


def _contradicting(session: LeanCalls, start: Branch, finishers: Sequence[str]) -> str | None:
    """Return the finisher that proves `False` from what a statement assumes; None if none does."""
    assumed = _only_branch(session, start, "intros") or start
    if assumed.state.goals[0].type == "False":
        return None  # it claims a contradiction: to prove that is no emptiness
    absurd = _only_branch(session, assumed, "exfalso")
    return _closing(session, absurd, finishers) if absurd is not None else None


def _refuting(session: LeanCalls, source: str) -> str | None:
    """Return the tactic that proves the negation of a statement by an instance of it; None if none does."""
    tactics = refutations(source)
    if not tactics:
        return None
    try:
        start = session.start(negate(Theorem(source, "conjectures", NAME)))
    except TheoremRejected:
        return None
    assumed = _only_branch(session, start, "intro instances")
    return _closing(session, assumed, tactics) if assumed is not None else None


def refutations(source: str) -> list[str]:
    """List tactics that refute `instances`, a statement as a hypothesis, each by values of its variables.

    Hypotheses of the instance and the negation of its claim are left to `decide`. None for a statement with a variable
    of another type than numbers, lists, propositions and types.
    """
    try:
        statement = parse_statement(source)
    except SourceError:
        return []
    found = []
    for number in range(MOST_INSTANCES):
        rng, arguments = random.Random(number), []
        for place, binder in enumerate(statement.binders):
            head = binder.type.split(" ")[0]
            if binder.opening != "(" or not binder.names:
                return []
            if binder.type == head in _VALUES or (head in ("List", "Type") and "→" not in binder.type):
                values = _VALUES[head]
                arguments += [values[number] if number < 2 else rng.choice(values) for _ in binder.names]
            elif is_hypothesis(statement, place):
                arguments += ["(by decide)"] * len(binder.names)
            else:
                return []
        found.append(" ".join(["exact absurd (instances", *arguments]) + ") (by decide)")
    return list(dict.fromkeys(found))


def _only_branch(session: LeanCalls, branch: Branch, tactic: str) -> Branch | None:
    (result,) = session.apply(branch, [tactic])
    return result.branches[0] if isinstance(result, TacticApplied) and len(result.branches) == 1 else None


def _closing(session: LeanCalls, branch: Branch, finishers: Sequence[str]) -> str | None:
    results = session.apply(branch, finishers) if finishers else []
    closed = (isinstance(result, TacticApplied) and not result.branches for result in results)
    return next((tactic for tactic, done in zip(finishers, closed, strict=True) if done), None)
