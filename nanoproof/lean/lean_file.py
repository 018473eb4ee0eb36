"""A Lean file with `sorry`s: their positions, the theorem that a prover works on for each, and the file with proofs.

A prover works on one declaration with exactly one `sorry`, with everything before it as context. Every other `sorry` of
the file is replaced there by an axiom that proves anything, so that what is not proved yet can be used like a theorem.
No proof may name such an axiom, and the file that is written does not contain one: the whole file is checked without.

Each `sorry` has an axiom of its own. So two open definitions of one type are not the same (Lean makes each `sorry` its
own since 4.16; one `sorry` is equal to itself, whatever the arguments of the function that it is in), and the axioms
that Lean reports for a theorem say on which open places it rests.
"""

import hashlib
import re
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby, pairwise
from typing import NamedTuple

from nanoproof.lean.declarations import PROVABLE, Declaration, outline
from nanoproof.lean.lexical import blank_comments, mask, up_to_exit, without_header
from nanoproof.lean.source import COMMAND, blank_sorries, expects_tactic, insert_proof, parse_declaration, sorries
from nanoproof.lean.types import SourceError, Theorem

PLACEHOLDER = "nanoproof_not_proved_yet"
"""What the names of the axioms begin with; no file and no proof may contain it."""
BYTE_ORDER_MARK = "\ufeff"
STAND_IN = re.compile(rf"{PLACEHOLDER}\w*")
"""Matches the name of such an axiom."""
AXIOM = ".{u} {α : Sort u} : α"
"""What follows the name in the line that declares it."""
_STAYS = "sorry"
"""In place of a proof: this one is to be proved."""
# `noncomputable` has its place among a declaration's modifiers: before these, behind attributes and `private`.
_BEHIND_NONCOMPUTABLE = re.compile(r"(?:(?:unsafe|partial|nonrec|scoped|local)\s+)*\Z")
_OWN_AXIOM = re.compile(r"^[ \t]*(?:private[ \t]+|protected[ \t]+)?axiom[ \t]+([^\s:({\[⦃]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Gap:
    """One `sorry`: its offsets in the original file, its position (lines from 1, columns from 0), and its theorem.

    `skip_reason` is why there is nothing to prove here; empty for those that are tried. `head_line` is the line of the
    name of its declaration.
    """

    start: int
    end: int
    line: int
    column: int
    name: str
    skip_reason: str = ""
    head_line: int = 0


@dataclass(frozen=True, slots=True)
class OpenPlace:
    """A declaration with a `sorry` that others may rest on: its name, the path of its file, and the line of its name.

    `name` is empty, and the line that of the `sorry`, where it is in no declaration; `file` is where there is one only.
    """

    name: str
    file: str
    line: int

    def described(self, file: str = "") -> str:
        """Describe it for a reader of `file`, in words."""
        if not self.line:  # Lean names no place: the name says so in words
            return self.name
        place = f"line {self.line}" if self.file in ("", file) else f"{self.file}, line {self.line}"
        return f"`{self.name}` ({place})" if self.name else f"the sorry of {place}"


@dataclass(frozen=True)
class LeanFile:
    """The text of a file and the proofs found so far.

    `flipped` are the `sorry`s that are a term although they look like a tactic, or the other way round. `newline` ends
    the lines of the file; if all are alike, those of `text` end with a line feed. `mark` is the byte order mark that
    editors of Windows put first, which `text` is without. `before` is what Lean reads ahead of
    the file: the text of files that it imports, with axioms in place of their `sorry`s, which `open_before` tells by
    their names. `path` is that of the file within its project.
    """

    text: str
    gaps: tuple[Gap, ...]
    filled: tuple[tuple[Gap, str], ...] = ()
    flipped: frozenset[Gap] = frozenset()
    newline: str = "\n"
    mark: str = ""
    before: str = ""
    path: str = ""
    open_before: Mapping[str, OpenPlace] = field(default_factory=dict)

    @classmethod
    def parse(
        cls, text: str, before: str = "", path: str = "", open_before: Mapping[str, OpenPlace] | None = None
    ) -> "LeanFile":
        """Find the `sorry`s of a text. Raises `SourceError` if it contains the name of our axioms."""
        if PLACEHOLDER in text:
            raise SourceError(f"the name {PLACEHOLDER} is taken: it stands for what is not proved yet")
        mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
        text = text.removeprefix(mark)
        # A file of mixed line ends stays as it is: to make them alike would change lines that nobody proved.
        newline = "\n"
        if 0 < text.count("\n") == text.count("\r\n"):
            newline = "\r\n"
            text = text.replace(newline, "\n")
        read = outline(text)
        end = len(up_to_exit(text))
        gaps = []
        # Lines are counted from the last `sorry` on: from the top it would be quadratic in their number.
        line, counted = 1, 0
        for match in sorries(read.masked):
            line += text.count("\n", counted, match.start())
            counted = match.start()
            column = match.start() - text.rfind("\n", 0, match.start()) - 1
            command = read.command_at(match.start())
            declaration = None
            head_line = 0
            if command >= 0:
                declaration = read.by_command[command]
            if declaration is not None:
                head_line = text.count("\n", 0, declaration.head) + 1
            gap = Gap(match.start(), match.end(), line, column, "", head_line=head_line)
            if gap.start > end:
                gaps.append(replace(gap, skip_reason="it is behind `#exit`, where Lean reads nothing"))
            else:
                gaps.append(_classify_gap(gap, read.masked, declaration))
        places = open_before or {}
        return cls(text, tuple(gaps), newline=newline, mark=mark, before=before, path=path, open_before=places)

    def written(self) -> str:
        """Return the text to write: `proved()` with the line ends of the file, and its mark."""
        return self.mark + self.proved().replace("\n", self.newline)

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

    def without(self, gaps: Collection[Gap]) -> "LeanFile":
        """Return the file with some `sorry`s open again, read as tactics or terms as they are now."""
        return replace(self, filled=tuple(pair for pair in self.filled if pair[0] not in gaps))

    def stand_in(self, gap: Gap) -> str:
        """Return the name of the axiom in place of a `sorry`: that of its file and place, so no other has it."""
        file = hashlib.sha256(self.path.encode("utf-8", "surrogatepass")).hexdigest()[:8] if self.path else "0"
        return f"{PLACEHOLDER}_{file}_{gap.line}_{gap.column}"

    @property
    def places(self) -> dict[str, OpenPlace]:
        """The place of each axiom, by its name: those for `sorry`s of this file, and those of what comes before it."""
        own = {self.stand_in(gap): OpenPlace(gap.name, self.path, gap.head_line or gap.line) for gap in self.gaps}
        return {**self.open_before, **own}

    def proved(self) -> str:
        """Return the text with the proofs that were found."""
        return "".join(self.pieces())

    def pieces(self) -> list[str]:
        """Return that text in pieces: what stands before the first command, then each command of its outline."""
        return self._rewrite((), None)

    def checked(self, up_to: Gap | None = None) -> str:
        """Return what Lean checks: the text with the proofs, without imports, behind what comes `before` it.

        With `up_to` it ends with the command that holds this `sorry`.
        """
        pieces = self.pieces()
        if up_to is not None:
            pieces = self._up_to(pieces, up_to)
        text = without_header("".join(pieces))
        if not STAND_IN.search(self.before):
            return self.before + text
        return _with_axioms(self.before, [text])

    def _up_to(self, pieces: list[str], gap: Gap) -> list[str]:
        """Leave out the pieces behind the command that holds a `sorry`, and the comments behind that command.

        The doc comment of the next command would be an error at the end of a text.
        """
        kept = pieces[: outline(self.text).command_at(gap.start) + 2]
        return [*kept[:-1], kept[-1][: len(blank_comments(kept[-1]).rstrip())]]

    def assuming(self, gaps: Collection[Gap]) -> str:
        """Return the text without imports, with the proofs, and with axioms in place of some `sorry`s."""
        return _with_axioms(self.before, self._rewrite(gaps, None))

    def imported(self) -> str:
        """Return the text as a file that imports this one reads it: with the proofs, an axiom for each other `sorry`.

        Neither what comes `before` it nor the lines that declare the axioms are in it.
        """
        return without_header("".join(self._rewrite(self.gaps, None)))

    def theorem(self, gap: Gap, dataset: str, name: str) -> Theorem:
        """Return the theorem to prove for one `sorry`: its declaration and all before it, without imports."""
        pieces = self._up_to(self._rewrite(self.gaps, gap), gap)
        return Theorem(_with_axioms(self.before, pieces), dataset, name)

    def declaration_numbers(self) -> dict[Gap, int]:
        """Map each `sorry` to which declaration of what Lean checks it is in, as `declared_names` lists them; from 0.

        A proof declares nothing, so the numbers are the same however many of the `sorry`s are filled.
        """
        ahead = sum(map(_is_asked_for, outline(self.before).declarations))
        heads = [declaration.start for declaration in outline(self.text).declarations if _is_asked_for(declaration)]
        return {gap: ahead + bisect_right(heads, gap.start) - 1 for gap in self.gaps}

    @property
    def axioms(self) -> frozenset[str]:
        """The names of the axioms that the file, or what comes before it, declares, without namespaces."""
        masked = mask(self.before + self.text)
        return frozenset(name.rpartition(".")[2] for name in _OWN_AXIOM.findall(masked))

    def _rewrite(self, assumed: Collection[Gap], subject: Gap | None) -> list[str]:
        """Return what stands before the first command, then each command, with all proofs and placeholders.

        `subject` is the `sorry` that stays. Only commands that hold a `sorry` are written anew, each on its own: the
        text work for one of n theorems is linear in the file, not in n times the file.
        """
        read = outline(self.text)
        bounds = [0, *read.starts, len(self.text)]
        pieces = [self.text[start:end] for start, end in pairwise(bounds)]
        proofs = dict(self.filled)
        assumed = frozenset(assumed)
        for number, gaps in groupby(self.gaps, key=lambda gap: read.command_at(gap.start)):
            edits = []
            for gap in gaps:
                replacement: str | None = proofs.get(gap)
                if gap == subject:
                    replacement = _STAYS
                elif gap not in proofs and gap in assumed:
                    replacement = self.stand_in(gap)
                start = gap.start - bounds[number + 1]
                edits.append(_Edit(start, start + gap.end - gap.start, gap in self.flipped, replacement))
            pieces[number + 1] = _rewrite_command(pieces[number + 1], tuple(edits))
        return pieces


class _Edit(NamedTuple):
    """What takes the place of one `sorry` of a command, at `[start, end)` of its text.

    `flipped` is true if it is the other kind, tactic or term, than it looks. `replacement` is a proof, the name of an
    axiom, or `_STAYS`; with None the `sorry` is left as it is.
    """

    start: int
    end: int
    flipped: bool
    replacement: str | None


# For one of n theorems the commands of all others are the same as for the theorem before.
@lru_cache(maxsize=4096)
def _rewrite_command(text: str, edits: tuple[_Edit, ...]) -> str:
    """Return the text of a command with its `sorry`s replaced."""
    rewritten = text
    for edit in edits:
        if edit.replacement is not None:
            rewritten = _replaced(text, rewritten, edit)
    return rewritten


# For one of n `sorry`s of a proof, what is put in place of those before it is the same as for the `sorry` before.
@lru_cache(maxsize=4096)
def _replaced(original: str, text: str, edit: _Edit) -> str:
    """Replace one more `sorry` of a command: `text` is what the edits before have made of the original."""
    shift = len(text) - len(original)
    start, end = edit.start + shift, edit.end + shift
    is_tactic = _expects_tactic(original, edit.start) != edit.flipped
    assert edit.replacement is not None, "there is nothing to replace"
    if edit.replacement.startswith(PLACEHOLDER):
        exact = "exact " if is_tactic else ""
        return text[:start] + exact + edit.replacement + text[end:]
    text, start, end = _disambiguate(text, start, end, is_tactic)
    if edit.replacement == _STAYS:
        return text[:start] + "sorry" + text[end:]  # it may have been an `admit`
    return _insert(text, start, end, edit.replacement)


@lru_cache(maxsize=4096)
def _expects_tactic(text: str, start: int) -> bool:
    """Tell whether a `sorry` is a tactic, by the original text: an axiom before it might look like something else."""
    return expects_tactic(mask(text)[:start])


def _disambiguate(text: str, start: int, end: int, tactic: bool) -> tuple[str, int, int]:
    """Make the `sorry` at `[start, end)` a tactic or a term beyond doubt; return the text and its new offsets."""
    if expects_tactic(mask(text)[:start]) == tactic:
        return text, start, end
    before, after = "(by ", ")"
    if tactic:
        before, after = "focus ", ""
    text = text[:start] + before + text[start:end] + after + text[end:]
    return text, start + len(before), end + len(before)


def _classify_gap(gap: Gap, masked: str, declaration: Declaration | None) -> Gap:
    """Return the gap with the name of its theorem, or the reason to skip it."""
    if declaration is None:
        return replace(gap, skip_reason="it is not in a theorem")
    keyword = declaration.keyword
    name = keyword if keyword == "instance" else declaration.name or keyword
    gap = replace(gap, name=name)
    if keyword not in ("theorem", "lemma", "example"):
        return replace(gap, skip_reason=f"it is in the {keyword} {name}, where it may stand for data")
    if declaration.in_mutual:
        return replace(gap, skip_reason="it is in a `mutual` block, whose declarations cannot be proved one by one")
    # With a `sorry` right there it would be a proof, if there is a `:=` at all.
    try:
        parse_declaration(blank_sorries(masked[declaration.start : gap.start]) + "sorry", whole=False)
    except SourceError:
        return replace(gap, skip_reason="no `:=` comes before it: it is in the statement, or in a proof by equations")
    return gap


def _insert(text: str, start: int, end: int, proof: str) -> str:
    """Put a proof in place of one `sorry` of several of a command."""
    masked = mask(text)
    blanked = blank_sorries(masked)
    only = blanked[:start] + "sorry" + blanked[end:]
    with_proof = insert_proof(text, parse_declaration(only, whole=False), proof)
    # The blank before a proof that goes on a line of its own would be left at the end of the line above.
    if with_proof[start - 1 : start + 1] == " \n":
        return with_proof[: start - 1] + with_proof[start:]
    return with_proof


def _is_asked_for(declaration: Declaration) -> bool:
    """Tell whether Lean is asked for the axioms of a declaration; an `example` is given a name for that."""
    return declaration.keyword == "example" or (declaration.keyword in PROVABLE and bool(declaration.name))


def _with_axioms(before: str, commands: Sequence[str]) -> str:
    """Declare the axioms that texts name before them, and make definitions that may depend on one `noncomputable`.

    Lean compiles no definition that uses an axiom, and refuses it without that word. Which ones do, the text does not
    tell, so those are all definitions from the first one with such a name on. `commands` are the text before the first
    command, with the header of a file, and then a command each. A text that names no axiom has the line of one all the
    same: so it is the text that it was when there was one axiom, and what is known of it stays known.
    """
    names = dict.fromkeys(name for text in (before, *commands) for name in STAND_IN.findall(text))
    above, resting = _completed(before)
    axioms = [f"axiom {name}{AXIOM}\n" for name in names or [PLACEHOLDER]]
    pieces = [*axioms, above, without_header(commands[0])]
    for command in commands[1:]:
        if not up_to_exit(command).strip():
            break
        text, resting = _noncomputable(command, resting)
        pieces.append(text)
    return "".join(pieces)


@lru_cache(maxsize=32)
def _completed(text: str) -> tuple[str, bool]:
    """Make definitions of a text `noncomputable` that need it; return it, and whether those behind it need it."""
    bounds = [0, *outline(text).starts, len(text)]
    pieces, resting = [text[: bounds[1]]], False
    for start, end in pairwise(bounds[1:]):
        piece, resting = _noncomputable(text[start:end], resting)
        pieces.append(piece)
    return "".join(pieces), resting


@lru_cache(maxsize=8192)
def _noncomputable(command: str, resting: bool) -> tuple[str, bool]:
    """Make a command `noncomputable` if it is a definition that holds a placeholder, or may rest on one that does."""
    masked = mask(command)
    first = COMMAND.search(masked)
    if first is None or first["declaration"] not in ("def", "abbrev", "instance"):
        return command, resting
    resting = resting or PLACEHOLDER in command
    modifiers = masked[: first.start("declaration")]
    behind = _BEHIND_NONCOMPUTABLE.search(modifiers)
    if resting and behind is not None and "noncomputable" not in modifiers:
        command = f"{command[: behind.start()]}noncomputable {command[behind.start() :]}"
    return command, resting
