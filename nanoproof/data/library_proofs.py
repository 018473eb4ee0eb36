"""The proofs of NanoLean's library as trees of single tactics, read from the library's text."""

from collections.abc import Iterator
from dataclasses import dataclass

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
class Entry:
    """A theorem that is proved by tactics; `source` states it with `sorry`."""

    name: str
    source: str
    key: str
    proof: Step

    def renamed_source(self) -> str:
        """The statement as a theorem of this name."""
        statement = self.source.split(" ", 1 if self.source.startswith("example ") else 2)[-1]
        return f"theorem {self.name} {statement}"


class NotSingleTactics(Exception):
    """A proof that cannot be taken apart into single tactics on one line each."""


def library_keys() -> frozenset[str]:
    """The canonical keys of all statements of the library."""
    texts = [path.read_text(encoding="utf-8") for path in library_files()]
    return frozenset(signature_key(command.signature) for text in texts for command in _theorems(text))


def library_proofs() -> Iterator[Entry]:
    """The tactic proofs of the library in order."""
    for path in library_files():
        for entry in tactic_proofs(path.read_text(encoding="utf-8")):
            yield Entry(entry.name, f"{UNIVERSES}\n{entry.source}", entry.key, entry.proof)


def tactic_proofs(text: str) -> Iterator[Entry]:
    """The tactic proofs of a file, stated as examples. Those with a block inside of a term are left out."""
    for command in _theorems(text):
        if not isinstance(command.value, By):
            continue
        statement = text[command.signature.end : command.value.pos].rstrip().removesuffix(":=").strip()
        try:
            proof = _steps(command.value.tactics, text)
        except NotSingleTactics:
            continue
        source = f"example {statement} := by\n  sorry"
        yield Entry(command.signature.name or "", source, signature_key(command.signature), proof)


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


def _one_line(tactic: Tactic, text: str) -> str:
    """The text of a tactic; `have h : T := by t` may break the line after `by` when one tactic follows."""
    written = text[tactic.pos : tactic.end].strip()
    if isinstance(tactic, HaveStx) and isinstance(tactic.value, By) and len(tactic.value.tactics.tactics) > 1:
        raise NotSingleTactics
    words = " ".join(written.split())
    if "\n" in written and not isinstance(tactic, HaveStx):
        raise NotSingleTactics
    return words
