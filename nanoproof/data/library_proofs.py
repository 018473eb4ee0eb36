"""The proofs of NanoLean's library as trees of single tactics, read from the library's text."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nanoproof.data.problem import Step
from nanoproof.data.statement_key import signature_key
from nanoproof.lean.nanolean.loader import library_files
from nanoproof.lean.nanolean.parser import parse_commands
from nanoproof.lean.nanolean.syntax import (
    BulletStx,
    By,
    CasesStx,
    HaveStx,
    InductionAlt,
    InductionStx,
    Tactic,
    TacticSeq,
    TheoremCmd,
)

UNIVERSES = "universe u v w"


@dataclass(frozen=True)
class LibraryProof:
    """A theorem of the library that is proved by tactics; `source` states it as an example with `sorry`."""

    name: str
    source: str
    key: str
    proof: Step


class NotSingleTactics(Exception):
    """A proof that cannot be taken apart into single tactics on one line each."""


def library_theorems() -> Iterator[tuple[str, TheoremCmd, str]]:
    """Every theorem of the library in order: full name, its syntax, the text of its file."""
    for path in library_files():
        text = Path(path).read_text(encoding="utf-8")
        for command in parse_commands(text):
            if isinstance(command, TheoremCmd) and command.signature.name:
                yield command.signature.name, command, text


def library_keys() -> frozenset[str]:
    """The canonical keys of all statements of the library that `statement_key` can read."""
    return frozenset(signature_key(command.signature) for _, command, _ in library_theorems())


def library_proofs() -> Iterator[LibraryProof]:
    """The tactic proofs of the library. Those with a block inside of a term are left out."""
    for name, command, text in library_theorems():
        if not isinstance(command.value, By):
            continue
        statement = text[command.signature.end : command.value.pos].rstrip().removesuffix(":=").strip()
        try:
            proof = _steps(command.value.tactics, text)
        except NotSingleTactics:
            continue
        source = f"{UNIVERSES}\nexample {statement} := by\n  sorry"
        yield LibraryProof(name, source, signature_key(command.signature), proof)


def _steps(seq: TacticSeq, text: str) -> Step:
    """A sequence as a tree: bullets after a tactic prove the goals that it left, what follows proves the last one."""
    tactics = list(seq.tactics)
    if not tactics or isinstance(tactics[0], BulletStx):
        raise NotSingleTactics
    first, rest = tactics[0], tactics[1:]
    if isinstance(first, CasesStx | InductionStx) and first.alts is not None:
        if rest:
            raise NotSingleTactics
        return _structured(first, first.alts, text)
    bullets: list[Step] = []
    while rest and isinstance(rest[0], BulletStx):
        bullets.append(_steps(rest.pop(0).tactics, text))
    if rest:
        bullets.append(_steps(TacticSeq(tuple(rest)), text))
    return Step(_one_line(first, text), tuple(bullets))


def _structured(tactic: CasesStx | InductionStx, alts: tuple[InductionAlt, ...], text: str) -> Step:
    """`induction n with | zero => .. | succ n ih => ..` as one tactic whose alternatives are new goals."""
    head = " ".join(text[tactic.pos : alts[0].pos].split()).removesuffix("|").rstrip()
    parts = [head]
    children = []
    for alt in alts:
        if not isinstance(alt.rhs, TacticSeq) or alt.explicit:
            raise NotSingleTactics
        parts.append("| " + " ".join([alt.ctor, *alt.names]) + " => ?_")
        children.append(_steps(alt.rhs, text))
    return Step(" ".join(parts), tuple(children))


def _one_line(tactic: Tactic, text: str) -> str:
    """The text of a tactic; `have h : T := by t` may break the line after `by` when one tactic follows."""
    written = text[tactic.pos : tactic.end].strip()
    if isinstance(tactic, HaveStx) and isinstance(tactic.value, By) and len(tactic.value.tactics.tactics) > 1:
        raise NotSingleTactics
    words = " ".join(written.split())
    if "\n" in written and not isinstance(tactic, HaveStx):
        raise NotSingleTactics
    return words
