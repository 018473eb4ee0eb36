"""The theorems of a Lean file as problems of their own: each `theorem` or `lemma` whose proof is a `sorry`.

Each is given what the file says before it, but not the other open theorems: a score must not depend on what is assumed.
What cannot be used so is named with its line and the reason, and takes nothing else with it.
"""

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from nanoproof.lean.declarations import Declaration, Outline, outline
from nanoproof.lean.lean_file import Gap, LeanFile
from nanoproof.lean.lexical import ATOM, find_top_level, header_as_comments
from nanoproof.lean.source import expects_tactic, parse_declaration, sorries
from nanoproof.lean.types import SourceError

_PART = rf"(?:«[^«»\n]*»|{ATOM})"
_IDENTIFIER = re.compile(rf"{_PART}(?:\.{_PART})*")
_LAST = re.compile(r"(?:«[^«»\n]*»|[^.«»]+)\Z")
_NAMESPACE = re.compile(rf"^(?:namespace|end)[ \t]+{_IDENTIFIER.pattern}", re.MULTILINE)
_BINDING = r"(?:[({\[⦃,]|(?<![\w.'])(?:fun|let|have|obtain|intro)(?![\w.'])|[∀∃λΣΠ∑∏])[^(){}\[\]⦃⦄:=,]*(?<![\w.'])"
"""Matches what stands between the begin of a binder and a name in it: `(n m`, `∀ x`."""
_INSTANCE = re.compile(r"@\[[^\]]*(?<![\w.'])instance(?![\w.'])")
_ANOTHER_NAME = re.compile(r"(?<![\w'«])(?<!\S\.)(?:sorryAx|stop)(?![\w'!?])")
"""Matches what leaves a proof open without the word; `stop` is a tactic, or a name."""
TWICE = "the name occurs twice"
NO_NAME = "an example has no name to go by"


@dataclass(frozen=True, slots=True)
class FileTheorem:
    """A theorem of a file: its full name, its line (from 1 on), and its source, or why it cannot be used."""

    name: str
    line: int
    source: str = ""
    skipped: str = ""


@dataclass
class _Open:
    """A stretch of a text with a `sorry` in it: what it declares, where it is, and how it can stand as an axiom.

    That is the text to put in its place, None where there is none. `theorem` is set if it is one to prove.
    """

    start: int
    end: int
    line: int
    declared: tuple[Declaration, ...]
    reason: str
    axiom: str | None
    theorem: bool = False
    mentioned: frozenset[str] = field(default_factory=frozenset)

    @property
    def name(self) -> str:
        for declaration in self.declared:
            if declaration.name:
                return declaration.full_name
        return ""

    @property
    def is_instance(self) -> bool:
        for declaration in self.declared:
            modifiers = declaration.masked[declaration.start : declaration.head]
            if declaration.keyword == "instance" or _INSTANCE.search(modifiers):
                return True
        return False

    @property
    def shown(self) -> str:
        if not self.declared:
            return f"the command of line {self.line}"
        return f"the {self.declared[0].keyword} {self.name}".rstrip() + f" (line {self.line})"


def theorems_of(text: str) -> list[FileTheorem]:
    """List the open theorems of a file's text and all else that holds a `sorry`, in order.

    Raises SourceError where `LeanFile.parse` does.
    """
    text = header_as_comments(text.replace("\r\n", "\n"))
    read = outline(text)
    used = _without_declared_names(read)
    stretches = list(_open_stretches(read, used, LeanFile.parse(text)))
    ends = [0, *(stretch.end for stretch in stretches)]
    between = [_mentioned_in(used[end : stretch.start]) for end, stretch in zip(ends, stretches)]
    names: set[str] = set()
    theorems = []
    for number, stretch in enumerate(stretches):
        source, skipped = "", stretch.reason
        if stretch.theorem and stretch.name in names:
            skipped = TWICE
        elif stretch.theorem:
            names.add(stretch.name)
            before, missing = _before(read, stretches[: number + 1], between)
            if missing is None:
                source = before + text[stretch.start : stretch.end]
            else:
                skipped = f"it may rest on {missing.shown}, which holds a sorry"
        theorems.append(FileTheorem(stretch.name, stretch.line, source, skipped))
    return theorems


def _without_declared_names(read: Outline) -> str:
    """Replace the names of a masked text where they are declared: who declares `a.b` uses neither that nor `a`.

    Nor does `namespace a.b`, or the `end` of it.
    """
    pieces, position = [], 0
    for declaration in read.declarations:
        start = declaration.head_end - len(declaration.name)
        pieces += [read.masked[position:start], " " * len(declaration.name)]
        position = declaration.head_end
    return _NAMESPACE.sub(lambda scope: " " * len(scope.group()), "".join([*pieces, read.masked[position:]]))


def _open_stretches(read: Outline, used: str, file: LeanFile) -> Iterator[_Open]:
    """Yield each declaration, `mutual` block or other command that holds a `sorry`."""
    last_end = 0
    for gap in sorted([*file.gaps, *_by_another_name(read)], key=lambda gap: gap.start):
        if gap.start < last_end:
            continue  # another `sorry` of the last stretch
        command = max(0, read.command_at(gap.start))
        declaration = read.by_command[command] if read.by_command else None
        if declaration is None:
            start = read.starts[command] if read.starts else 0
            last_end = read.end_of(command) if read.starts else len(read.text)
            asks = read.text.startswith("#", start)
            stretch = _Open(start, last_end, gap.line, (), gap.skip_reason, "" if asks else None)
        elif declaration.in_mutual:
            first, last = _mutual_block(read, command)
            members = tuple(member for member in read.by_command[first:last] if member is not None)
            start, last_end = read.starts[first], read.starts[last] + len("end")
            stretch = _Open(start, last_end, gap.line, members, gap.skip_reason, None)
        else:
            last_end = declaration.end
            stretch = _open_declaration(read, declaration, gap.skip_reason)
        stretch.mentioned = _mentioned_in(used[stretch.start : stretch.end])
        yield stretch


def _by_another_name(read: Outline) -> Iterator[Gap]:
    """Yield each `sorryAx` and each tactic `stop`: nothing can be put in their places."""
    for word in _ANOTHER_NAME.finditer(read.masked):
        start = word.start()
        command = read.command_at(start)
        before = read.masked[read.starts[command] if command >= 0 else 0 : start]
        if word.group() == "sorryAx" or expects_tactic(before):
            line = read.text.count("\n", 0, start) + 1
            reason = f"it holds `{word.group()}`, a sorry by another name"
            yield Gap(start, word.end(), line, start - read.text.rfind("\n", 0, start) - 1, "", reason)


def _open_declaration(read: Outline, declaration: Declaration, reason: str) -> _Open:
    start, end = declaration.documented, declaration.end
    line = read.text.count("\n", 0, declaration.head) + 1
    is_theorem = declaration.keyword in ("theorem", "lemma")
    if declaration.keyword == "example":
        reason = NO_NAME
    elif is_theorem and not declaration.name:
        reason = f"the {declaration.keyword} has no name"
    elif is_theorem and not reason:
        reason = unusable_because(read.text[declaration.start : end]) or ""
    axiom = None
    if declaration.name and declaration.keyword in ("theorem", "lemma", "def", "abbrev", "opaque"):
        # With its statement, so that what only names it can still be read; not where that is open itself, or left out.
        stated = read.masked[: declaration.statement_end]
        is_stated = find_top_level(stated, ":", declaration.head_end) >= 0
        if is_stated and not sorries(stated[declaration.start :]):
            head = read.text[declaration.head + len(declaration.keyword) : declaration.statement_end]
            axiom = f"axiom{head.rstrip()}\n"
    elif declaration.keyword == "example":
        axiom = ""
    return _Open(start, end, line, (declaration,), reason, axiom, is_theorem and not reason)


def _mutual_block(read: Outline, command: int) -> tuple[int, int]:
    """Return the numbers of the commands that begin and end the `mutual` block around a command."""
    first = last = command
    while first > 0 and not read.masked.startswith("mutual", _code_start(read, first)):
        first -= 1
    while last + 1 < len(read.starts) and not read.masked.startswith("end", _code_start(read, last)):
        last += 1
    return first, last


def _code_start(read: Outline, command: int) -> int:
    start = read.starts[command]
    line = read.masked[start:]
    return start + len(line) - len(line.lstrip(" \t"))


def _before(read: Outline, stretches: Sequence[_Open], between: Sequence[frozenset[str]]) -> tuple[str, _Open | None]:
    """Return the text before the last stretch without what is open; and what of that it cannot be without, or None.

    An open declaration that is named further down becomes an axiom: a proof that rests on it fails the final check.
    `between` are the names before each stretch, behind the one before it.
    """
    theorem = stretches[-1]
    # From the theorem upwards: whether something open is needed depends on what follows it and is kept.
    pieces: list[str] = []
    end = theorem.start
    mentioned = set(theorem.mentioned | between[len(stretches) - 1])
    for number in range(len(stretches) - 2, -1, -1):
        stretch = stretches[number]
        pieces.append(read.text[stretch.end : end])
        end = stretch.start
        # A command without a name (a notation, an `attribute`) may be needed by anything, as an instance by its type.
        needed = stretch.axiom is None or stretch.is_instance
        if stretch.name and not stretch.is_instance:
            needed = _names(stretch, mentioned)
        if needed and (stretch.axiom is None or stretch.is_instance or _states(read, theorem, stretch)):
            return "", stretch
        if needed and stretch.axiom is not None:
            pieces.append(stretch.axiom)
            mentioned |= stretch.mentioned
        mentioned |= between[number]
    pieces.append(read.text[:end])
    return "".join(reversed(pieces)), None


def _mentioned_in(masked: str) -> frozenset[str]:
    """Return all names in a text, and those that they may be parts of: of `a.b.c` also `a`, `a.b` and `.c`."""
    names: set[str] = set()
    for match in _IDENTIFIER.finditer(masked):
        name = match.group()
        names.add(name)
        parts = re.findall(_PART, name)
        for count in range(1, len(parts)):
            names.add(".".join(parts[:count]))
            names.add(f".{parts[count]}")
    return frozenset(names)


def _names(stretch: _Open, mentioned: AbstractSet[str]) -> bool:
    """Tell whether one of the names that a stretch declares may be among those that a text mentions."""
    for declaration in stretch.declared:
        # With any of its namespaces left out, as these may be open.
        parts = re.findall(_PART, declaration.full_name)
        if any(".".join(parts[first:]) in mentioned for first in range(len(parts))):
            return True
        if len(parts) > 1 and f".{parts[-1]}" in mentioned:  # `h.name` for a name in the namespace of the type of `h`
            return True
    return False


def _states(read: Outline, theorem: _Open, stretch: _Open) -> bool:
    """Tell whether the statement of a theorem names what a stretch declares, and does not bind the name itself."""
    own = theorem.declared[0]
    statement = read.masked[own.head_end : own.statement_end]
    if not _names(stretch, _mentioned_in(statement)):
        return False
    last = _LAST.search(stretch.name)
    assert last is not None, "a name has a last part"
    return re.search(_BINDING + re.escape(last.group()) + r"(?![\w.'])", statement) is None


def unusable_because(source: str) -> str | None:
    """Tell in a few words why the prover cannot work with a source; None if it can."""
    try:
        parse_declaration(source)
    except SourceError as error:
        return str(error).split(" in '")[0].split(' in "')[0].split(", got '")[0]
    return None
