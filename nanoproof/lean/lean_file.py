"""A Lean file with `sorry`s: their positions, the theorem that a prover works on for each, and the file with proofs.

A prover works on one declaration with exactly one `sorry`, with everything before it as context. Every other `sorry` of
the file is replaced there by an axiom that proves anything, so that what is not proved yet can be used like a theorem.
No proof may name that axiom, and the file that is written does not contain it: the whole file is checked without it.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from nanoproof.lean.lexical import mask, without_header
from nanoproof.lean.source import COMMAND, NAME, SORRY, insert_proof, is_tactic, parse_declaration
from nanoproof.lean.types import SourceError, Theorem

PLACEHOLDER = "nanoproof_not_proved_yet"
_AXIOM = f"axiom {PLACEHOLDER}.{{u}} {{α : Sort u}} : α"
_BEHIND_NONCOMPUTABLE = re.compile(r"(?:(?:unsafe|partial|nonrec|scoped|local)\s+)*\Z")
_NAMED = re.compile(rf"\s+(?P<name>{NAME})")
_OWN_AXIOM = re.compile(r"^[ \t]*(?:private[ \t]+|protected[ \t]+)?axiom[ \t]+([^\s:({\[⦃]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Gap:
    """One `sorry`: its offsets in the original file, its position (lines from 1, columns from 0), and its theorem.

    `skip_reason` is why there is nothing to prove here; empty for those that are tried.
    """

    start: int
    end: int
    line: int
    column: int
    name: str
    skip_reason: str = ""


@dataclass(frozen=True)
class LeanFile:
    """The text of a file and the proofs found so far.

    `flipped` are the `sorry`s that are a term although they look like a tactic, or the other way round. `newline` ends
    the lines of the file; if all are alike, those of `text` end with a line feed. `before` is what Lean reads ahead of
    the file: the text of files that it imports, with the axiom in place of their `sorry`s.
    """

    text: str
    gaps: tuple[Gap, ...]
    filled: tuple[tuple[Gap, str], ...] = ()
    flipped: frozenset[Gap] = frozenset()
    newline: str = "\n"
    before: str = ""

    @classmethod
    def parse(cls, text: str, before: str = "") -> "LeanFile":
        """Find the `sorry`s of a text. Raises `SourceError` if it contains the name of our axiom."""
        if PLACEHOLDER in text:
            raise SourceError(f"the name {PLACEHOLDER} is taken: it stands for what is not proved yet")
        newline = "\r\n" if 0 < text.count("\n") == text.count("\r\n") else "\n"
        text = text.replace(newline, "\n")
        masked = mask(text)
        commands = list(COMMAND.finditer(masked))
        starts = [command.start() for command in commands]
        gaps = []
        for match in SORRY.finditer(masked):
            above = commands[: bisect_right(starts, match.start())]
            line = text.count("\n", 0, match.start()) + 1
            column = match.start() - text.rfind("\n", 0, match.start()) - 1
            gaps.append(_classify_gap(Gap(match.start(), match.end(), line, column, ""), masked, text, above))
        return cls(text, tuple(gaps), newline=newline, before=before)

    def written(self) -> str:
        """Return the text to write: `proved()` with the line ends of the file."""
        return self.proved().replace("\n", self.newline)

    @property
    def open_gaps(self) -> tuple[Gap, ...]:
        """The `sorry`s without a proof, those that are skipped included."""
        done = {gap for gap, _ in self.filled}
        return tuple(gap for gap in self.gaps if gap not in done)

    def with_proof(self, gap: Gap, proof: str) -> "LeanFile":
        """Return the file with a proof in place of a `sorry`."""
        return replace(self, filled=(*self.filled, (gap, proof)))

    def with_flipped(self, gap: Gap) -> "LeanFile":
        """Return the file with a `sorry` taken for a term instead of a tactic, or the other way round."""
        return replace(self, flipped=self.flipped ^ {gap})

    def proved(self) -> str:
        """Return the text with the proofs that were found."""
        return self._rewrite((), None)[0]

    def checked(self) -> str:
        """Return what Lean checks: the text with the proofs, without imports, behind what comes `before` it."""
        text = without_header(self.proved())
        return _with_axiom(self.before) + text if self.before else text

    def assuming(self, gaps: Collection[Gap]) -> str:
        """Return the text without imports, with the proofs, and with the axiom in place of some `sorry`s."""
        return _with_axiom(self.before + without_header(self._rewrite(gaps, None)[0]))

    def imported(self) -> str:
        """Return the text as a file that imports this one reads it: with the proofs, the axiom for other `sorry`s.

        Neither what comes `before` it nor the axiom itself is in it.
        """
        return without_header(self._rewrite(self.gaps, None)[0])

    def theorem(self, gap: Gap, dataset: str, name: str) -> Theorem:
        """Return the theorem to prove for one `sorry`: its declaration and all before it, without imports."""
        text, start = self._rewrite(self.gaps, gap)
        before = _with_axiom(self.before + without_header(text[:start]))
        after = text[start:]  # behind a `sorry` only comments hold such lines
        return Theorem(up_to_declaration(before + after, len(before)), dataset, name)

    @property
    def axioms(self) -> frozenset[str]:
        """The names of the axioms that the file, or what comes before it, declares, without namespaces."""
        masked = mask(self.before + self.text)
        return frozenset(name.rpartition(".")[2] for name in _OWN_AXIOM.findall(masked))

    def _rewrite(self, assumed: Collection[Gap], subject: Gap | None) -> tuple[str, int]:
        """Return the text with all proofs and placeholders, and the offset of `subject`, the `sorry` that stays."""
        proofs, masked = dict(self.filled), mask(self.text)
        text, shift, start = self.text, 0, 0
        for gap in self.gaps:
            at, end, size = gap.start + shift, gap.end + shift, len(text)
            tactic = is_tactic(masked, gap.start) != (gap in self.flipped)
            if gap == subject or gap in proofs:
                text, at, end = _disambiguate(text, at, end, tactic)
            if gap == subject:
                start = at
            elif gap in proofs:
                text = _insert(text, at, end, proofs[gap])
            elif gap in assumed:
                text = text[:at] + ("exact " if tactic else "") + PLACEHOLDER + text[end:]
            shift += len(text) - size
        return text, start


def _disambiguate(text: str, start: int, end: int, tactic: bool) -> tuple[str, int, int]:
    """Make the `sorry` at `[start, end)` a tactic or a term beyond doubt; return the text and its new offsets."""
    if is_tactic(mask(text), start) == tactic:
        return text, start, end
    before, after = ("focus ", "") if tactic else ("(by ", ")")
    text = text[:start] + before + text[start:end] + after + text[end:]
    return text, start + len(before), end + len(before)


def _classify_gap(gap: Gap, masked: str, text: str, commands: Sequence[re.Match[str]]) -> Gap:
    """Return the gap with the name of its theorem, or the reason to skip it; the last command is its own."""
    command = commands[-1] if commands else None
    keyword = command["declaration"] if command is not None else None
    if command is None or keyword is None:
        return replace(gap, skip_reason="it is not in a theorem")
    named = None if keyword in ("example", "instance") else _NAMED.match(text, command.end())
    name = keyword if named is None else named["name"]
    gap = replace(gap, name=name)
    if keyword not in ("theorem", "lemma", "example"):
        return replace(gap, skip_reason=f"it is in the {keyword} {name}, where it may stand for data")
    if [each["scope"] for each in commands if each["scope"] in ("mutual", "end")][-1:] == ["mutual"]:
        return replace(gap, skip_reason="it is in a `mutual` block, whose declarations cannot be proved one by one")
    try:
        parse_declaration(_blank_sorries(masked[command.start() : gap.start]) + "sorry", whole=False)
    except SourceError:
        return replace(gap, skip_reason="no `:=` comes before it: it is in the statement, or in a proof by equations")
    return gap


def _insert(text: str, start: int, end: int, proof: str) -> str:
    """Put a proof in place of one `sorry` of several."""
    masked = mask(text)
    command = [match.start() for match in COMMAND.finditer(masked, 0, start)][-1]
    only = _blank_sorries(masked[command:start]) + masked[start:end] + _blank_sorries(masked[end:])
    put = text[:command] + insert_proof(text[command:], parse_declaration(only, whole=False), proof)
    return put[: start - 1] + put[start:] if put[start - 1 : start + 1] == " \n" else put


def _with_axiom(text: str) -> str:
    """Put the axiom before a text, and make definitions that may depend on it `noncomputable`.

    Those are all definitions from the first one with a placeholder on.
    """
    masked = mask(text)
    commands = list(COMMAND.finditer(masked))
    pieces, position, resting = [f"{_AXIOM}\n"], 0, False
    for command, end in zip(commands, [*(each.start() for each in commands[1:]), len(text)]):
        if command["declaration"] in ("def", "abbrev", "instance"):
            resting = resting or PLACEHOLDER in masked[command.start() : end]
            words = masked[command.start() : command.start("declaration")]
            behind = _BEHIND_NONCOMPUTABLE.search(words)
            if resting and behind is not None and "noncomputable" not in words:
                at = command.start() + behind.start()
                pieces += [text[position:at], "noncomputable "]
                position = at
    return "".join([*pieces, text[position:]])


def _blank_sorries(masked: str) -> str:
    """Blank out each `sorry`; offsets stay the same."""
    return SORRY.sub("_" * len("sorry"), masked)


def up_to_declaration(text: str, start: int) -> str:
    """Cut the text at the end of the declaration around `start`, before comments that follow it."""
    masked = mask(text)
    following = COMMAND.search(masked, start)
    end = following.start() if following else len(text)
    return text[: len(masked[:end].rstrip())]
