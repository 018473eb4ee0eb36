"""The proofs of NanoLean's library as trees of single tactics, read from the library's text.

A proof that is a term is the tactic `exact` with that term.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property

from nanolean.loader import library_files
from nanolean.parser import parse_commands
from nanolean.syntax import (
    BulletStx,
    By,
    CasesStx,
    InductionAlt,
    InductionStx,
    Tactic,
    TacticSeq,
    Term,
    TheoremCmd,
)
from nanoproof.data.nanolean.problem import Step
from nanoproof.data.nanolean.statement_key import statement_key

UNIVERSES = "universe u v w"


@dataclass(frozen=True)
class Entry:
    """A theorem with its proof by tactics; `source` states it with `sorry`."""

    name: str
    source: str
    proof: Step

    @cached_property
    def key(self) -> str:
        """What is equal for equal statements."""
        return statement_key(f"{UNIVERSES}\n{self.renamed_source()}")

    def renamed_source(self) -> str:
        """The statement as a theorem of this name."""
        statement = self.source.split(" ", 1 if self.source.startswith("example ") else 2)[-1]
        return f"theorem {self.name} {statement}"


class NotSingleTactics(Exception):
    """A proof that cannot be taken apart into single tactics on one line each."""


def library_proofs() -> Iterator[Entry]:
    """The tactic proofs of the library in order."""
    for path in library_files():
        for entry in tactic_proofs(path.read_text(encoding="utf-8")):
            yield Entry(entry.name, f"{UNIVERSES}\n{entry.source}", entry.proof)


def tactic_proofs(text: str) -> Iterator[Entry]:
    """The proofs of a file, stated as examples. Those with several lines of tactics inside of a term are left out."""
    for command in _theorems(text):
        if isinstance(command.value, tuple):
            continue  # proved by equations
        statement = text[command.signature.end : command.value.pos].rstrip().removesuffix(":=").strip()
        try:
            if isinstance(command.value, By):
                proof = _steps(command.value.tactics, text)
            else:
                proof = Step("exact " + _one_line(command.value, text))
        except NotSingleTactics:
            continue
        source = f"example {statement} := by\n  sorry"
        yield Entry(command.signature.name or "", source, proof)


def _theorems(text: str) -> Iterator[TheoremCmd]:
    for command in parse_commands(text):
        if isinstance(command, TheoremCmd):
            yield command


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
        bullet = rest.pop(0)
        assert isinstance(bullet, BulletStx)
        bullets.append(_steps(bullet.tactics, text))
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


def _one_line(node: Tactic | Term, text: str) -> str:
    """The text of a tactic or term; lines are joined where that changes nothing: no block in it is longer than one."""
    written = text[node.pos : node.end].strip()
    if "\n" in written and any(len(block.tactics) > 1 for block in _blocks(node)):
        raise NotSingleTactics
    return " ".join(written.split())


def _blocks(node: object) -> Iterator[TacticSeq]:
    """The tactic blocks inside of a piece of syntax."""
    if isinstance(node, TacticSeq):
        yield node
    if is_dataclass(node):
        for field in fields(node):
            yield from _blocks(getattr(node, field.name))
    elif isinstance(node, tuple):
        for part in node:
            yield from _blocks(part)
