"""A Lean file with `sorry`s: where each stands, what it may be replaced by, and the source a prover can work on.

A prover works on one declaration with exactly one `sorry`, and everything before it as context. Every other `sorry` of
the file is replaced there by an axiom that proves anything, so that what is not proved yet can be used like a theorem.
No proof may name that axiom, and what is written in the end holds none: the whole file is checked without it.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass, replace

from nanoproof.lean.errors import SourceError
from nanoproof.lean.gaps import SORRY, is_tactic
from nanoproof.lean.lexical import mask
from nanoproof.lean.source import parts, put_proof
from nanoproof.lean.theorem import Theorem

PLACEHOLDER = "nanoproof_not_proved_yet"
_AXIOM = f"axiom {PLACEHOLDER}.{{u}} {{α : Sort u}} : α"
_IMPORT = re.compile(r"^[ \t]*(?:(?:public|private|meta)[ \t]+)*import[ \t][^\n]*|^[ \t]*module[ \t]*$", re.MULTILINE)
_MODIFIERS = r"(?:@\[[^\]]*\]\s*|(?:private|protected|noncomputable|nonrec|unsafe|partial|scoped|local)\s+)*"
_DATA = r"def|abbrev|instance|structure|class|inductive|axiom|opaque"
_COMMAND = re.compile(
    rf"^[ \t]*{_MODIFIERS}(?P<declaration>theorem|lemma|example|{_DATA})(?![\w.'])"
    r"|^(?:@\[|#[a-z]|(?:namespace|section|end|open|variable|universe|set_option|attribute|mutual|macro|macro_rules|"
    r"syntax|notation|infix[lr]?|prefix|postfix|elab|elab_rules|export|include|omit|initialize|run_cmd|deriving|"
    r"noncomputable[ \t]+section)(?![\w.']))",
    re.MULTILINE,
)
_OWN_AXIOM = re.compile(r"^[ \t]*(?:private[ \t]+|protected[ \t]+)?axiom[ \t]+([^\s:({\[⦃]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Gap:
    """One `sorry`: its offsets in the file as it was given, its place (lines from 1, columns from 0), its theorem.

    `left_alone` says why there is nothing to prove here; empty for those that are tried.
    """

    start: int
    end: int
    line: int
    column: int
    name: str
    left_alone: str = ""


@dataclass(frozen=True)
class LeanFile:
    """The text of a file; `masked` is the text without comments and strings, `filled` the proofs found so far."""

    text: str
    gaps: tuple[Gap, ...]
    filled: tuple[tuple[Gap, str], ...] = ()

    @classmethod
    def parse(cls, text: str) -> "LeanFile":
        """Find the `sorry`s of a text. Raises `SourceError` if it uses our name for what is not proved yet."""
        if PLACEHOLDER in text:
            raise SourceError(f"the name {PLACEHOLDER} is taken: it stands for what is not proved yet")
        masked = mask(text)
        commands = list(_COMMAND.finditer(masked))
        starts = [command.start() for command in commands]
        gaps = []
        for match in SORRY.finditer(masked):
            index = bisect_right(starts, match.start()) - 1
            line = text.count("\n", 0, match.start()) + 1
            column = match.start() - text.rfind("\n", 0, match.start()) - 1
            gap = Gap(match.start(), match.end(), line, column, "")
            gaps.append(_look_at(gap, masked, text, commands[index] if index >= 0 else None))
        return cls(text, tuple(gaps))

    @property
    def open_gaps(self) -> tuple[Gap, ...]:
        """The `sorry`s that are still there, those that are left alone too."""
        done = {gap for gap, _ in self.filled}
        return tuple(gap for gap in self.gaps if gap not in done)

    def with_proof(self, gap: Gap, proof: str) -> "LeanFile":
        """The file with a proof in place of a `sorry`."""
        return replace(self, filled=(*self.filled, (gap, proof)))

    def proved(self) -> str:
        """The text with the proofs in their places."""
        return self._rewrite(None)[0]

    def theorem(self, gap: Gap, dataset: str, name: str) -> Theorem:
        """What a prover has to work on for one `sorry`: its declaration and all before it, without imports."""
        text, start = self._rewrite(gap)
        return Theorem(up_to_declaration(text, start), dataset, name)

    @property
    def axioms(self) -> frozenset[str]:
        """The names of the axioms that the file itself declares, without namespaces."""
        masked = mask(self.text)
        return frozenset(name.rpartition(".")[2] for name in _OWN_AXIOM.findall(masked))

    def _rewrite(self, subject: Gap | None) -> tuple[str, int]:
        """The text with all proofs, and where `subject` stands in it now.

        With a subject every other `sorry` is the placeholder, and the line of the first import declares it.
        """
        proofs = dict(self.filled)
        text, shift, start = self.text, 0, 0
        for gap in self.gaps:
            at, size = gap.start + shift, len(text)
            if gap == subject:
                start = at
            elif gap in proofs:
                text = _put(text, at, gap.end + shift, proofs[gap])
            elif subject is not None:
                text = _put_placeholder(text, at, gap.end + shift)
            shift += len(text) - size
        if subject is None:
            return text, start
        before, after = without_imports(text[:start]), text[start:]  # behind a `sorry` only comments hold such lines
        return f"{_AXIOM}\n{before}{after}", len(_AXIOM) + 1 + len(before)


def _look_at(gap: Gap, masked: str, text: str, command: re.Match[str] | None) -> Gap:
    """The gap with the name of its theorem, or with the reason to leave it alone."""
    keyword = command["declaration"] if command is not None else None
    if command is None or keyword is None:
        return replace(gap, left_alone="it is not in a theorem")
    rest = text[command.end() :].split(None, 1)
    name = keyword if keyword in ("example", "instance") or not rest else re.split(r"[\s:({\[⦃]", rest[0])[0]
    gap = replace(gap, name=name)
    if keyword not in ("theorem", "lemma", "example"):
        return replace(gap, left_alone=f"it is in the {keyword} {name}, where it may stand for data")
    try:
        parts(_hide(masked[command.start() : gap.start]) + "sorry", whole=False)
    except SourceError:
        return replace(gap, left_alone="no `:=` comes before it: it is in the statement, or in a proof by equations")
    return gap


def _put(text: str, start: int, end: int, proof: str) -> str:
    """The text with a proof in place of one `sorry` of several."""
    masked = mask(text)
    command = [match.start() for match in _COMMAND.finditer(masked, 0, start)][-1]
    only = _hide(masked[command:start]) + masked[start:end] + _hide(masked[end:])
    put = text[:command] + put_proof(text[command:], parts(only, whole=False), proof)
    return put[: start - 1] + put[start:] if put[start - 1 : start + 1] == " \n" else put


def _put_placeholder(text: str, start: int, end: int) -> str:
    masked = mask(text)
    command = list(_COMMAND.finditer(masked, 0, start))[-1:]
    word = f"exact {PLACEHOLDER}" if is_tactic(masked, start) else PLACEHOLDER
    text = text[:start] + word + text[end:]
    for match in command:
        if match["declaration"] in ("def", "abbrev", "instance") and "noncomputable" not in match.group():
            at = match.start("declaration")  # an axiom has no code
            text = text[:at] + "noncomputable " + text[at:]
    return text


def _hide(masked: str) -> str:
    """The text without `sorry`, its offsets kept."""
    return SORRY.sub("_" * len("sorry"), masked)


def without_imports(text: str) -> str:
    """The text with empty lines in place of its imports: what servers import is theirs to say."""
    return _IMPORT.sub("", text)


def up_to_declaration(text: str, start: int) -> str:
    """The text up to the end of the declaration around `start`, without comments behind it."""
    masked = mask(text)
    following = _COMMAND.search(masked, start)
    end = following.start() if following else len(text)
    return text[: len(masked[:end].rstrip())]
