"""What a Lean text declares, and where: the one reader of declarations, their names and their scopes, without Lean.

Whoever needs the theorems of a file stands on `outline`: the positions of `sorry`s (`lean_file`), data sets, the names
whose axioms are asked for (`check_command`), the names in a repository. What it cannot know is what a library's own
syntax declares; Lean checks everything afterwards.

Also the text of a file as an importer has it: a section of its own, with an `end` for each scope that it leaves open.
"""

import hashlib
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from nanoproof.lean import lexical
from nanoproof.lean.source import (
    ATTRIBUTES,
    COMMAND,
    EXPLICIT,
    IN_FRONT_OF,
    NAME,
    mask_for_commands,
    parse_declaration,
    without_documentation,
)

PROVABLE = ("theorem", "lemma", "def")
"""Keywords of declarations whose axioms and statements are asked for."""
# An instance may say how it is preferred before its name: `instance (priority := low) name : C`.
_NAMED = re.compile(rf"(?:\s*\(priority\s*:=[^()]*\))?\s+(?P<name>{NAME})")
_SCOPE_WORD = r"(?:namespace|section|mutual|end)"
_NAME_AFTER_SCOPE = rf"(?!{_SCOPE_WORD}(?:\s|\Z))(?:«[^»\n]*»|[^\s.«»]+)(?:\.(?:«[^»\n]*»|[^\s.«»]+))*"
_NEXT_SCOPE = rf"(?:{ATTRIBUTES}|(?:public|meta|noncomputable|namespace|section|mutual|end|open|universes?)(?![\w.]))"
_SCOPE = re.compile(
    # Lean's keywords also behind other code on their line: `end B end A`.
    rf"(?:^[ \t]*(?:(?:{ATTRIBUTES}|public|meta|noncomputable)[ \t]+)*|(?<=[ \t]))(?P<word>{_SCOPE_WORD})"
    rf"(?![{lexical.NAME_REST}.])(?:(?<=namespace)\s+|[ \t]*)(?P<name>{_NAME_AFTER_SCOPE})?"
    r"|^[ \t]*universes?(?P<universes>[ \t][^\n]*)"
    # On indented lines names go on, but what begins the next command is none, however it is indented.
    rf"|^[ \t]*open(?:[ \t]+scoped)?(?P<opened>[ \t]+(?:[^\n]|\n[ \t]+(?=\S)(?!{_NEXT_SCOPE}))*)",
    re.MULTILINE,
)
# A scope may have no name, and then a command may follow on its line: `section open Nat`, `end theorem ..`.
_NOT_A_NAME = re.compile(r"theorem|lemma|def|open|variable|--.*")
_NAME_PART = re.compile(r"«[^»]*»|[^.«»]+")
_LAST_COMMAND = re.compile(r"[ \t]*#(?:exit|doc)(?![\w.'!?])")
"""Matches what no command follows: Lean reads nothing behind `#exit`, and behind `#doc` stands the text of a book."""
_OPEN_IN = re.compile(r"(?<![\w.'])open(?:\s+scoped)?\s(?P<names>[^()]*?)\s(?:hiding\s|renaming\s|in(?![\w.']))")
_WHERE = re.compile(r"(?<![\w.'])where(?![\w.'])")
_INDENTED_TACTICS = re.compile(r":=\s*by(?:[ \t]*\n\s*(?<=[ \t])|[ \t]+)\S")
_GOES_ON = r"where|termination_by|decreasing_by|deriving|with|at|using|in|then|else|from|by|do|catch|finally"
_AT_THE_MARGIN = re.compile(rf"^(?!(?:{_GOES_ON})(?![\w.'!?]))[^\W\d]", re.MULTILINE)
_BLANK_LINE = re.compile(r"\n[ \t]*\n\Z")
_VALUE = re.compile(":=|=>")
# The end of a proof that is not over: an operator, a comma, or a word that a term or tactic follows.
_EXPECTS_MORE = re.compile(rf"(?:[^\w'!?)\]}}⟩»]|(?<![\w.'])(?:{_GOES_ON}|exact|refine|apply|have|show|fun|intro))\Z")

# -- Scopes ----------------------------------------------------------------------------------------------------------


class _Scope(NamedTuple):
    """A scope that is open: one component of a name, or empty, and what its `open` and `universe` lines gave."""

    word: str
    name: str
    opened: list[str]
    universes: list[str]


class Scopes:
    """The scopes that are open at an offset of a text, outermost first, while one goes through it.

    Lean's rule: `namespace A.B` opens two scopes, `end` closes as many of the last ones as its name has parts, and
    at least one; `mutual` and `section` are scopes too.
    """

    def __init__(self, masked: str) -> None:
        masked = lexical.without_quotations(masked)
        self._edges = []
        for edge in _SCOPE.finditer(masked):
            if not lexical.is_quoted(masked, edge.start()) and not lexical.is_library_end(masked, edge.start("word")):
                self._edges.append(edge)
        self._passed = 0
        self._open = [_Scope("file", "", [], [])]

    def at(self, offset: int) -> list[_Scope]:
        """Return the scopes that are open at an offset, which is not before that of the last call; first the file."""
        while self._passed < len(self._edges) and self._edges[self._passed].start() < offset:
            self._pass(self._edges[self._passed])
            self._passed += 1
        return self._open

    def _pass(self, edge: re.Match[str]) -> None:
        if edge["universes"] is not None:
            # `universe u in` is of the next command alone, and that is what is asked about where it matters.
            self._open[-1].universes.extend(edge["universes"].removesuffix(" in").split())
            return
        if edge["word"] is None:
            # `open A B hiding x`, `open A (x)`; an `open A in` holds for one command and opens nothing here.
            names = re.split(r"\s(?:in|hiding|renaming)\s|\(", f"{edge['opened']} ")[0]
            if not re.search(r"\sin\s", f"{edge['opened']} "):
                self._open[-1].opened.extend(names.split())
            return
        name = edge["name"] or ""
        parts: list[str] = []
        if not _NOT_A_NAME.fullmatch(name):
            parts = _NAME_PART.findall(name)
        if edge["word"] == "end":
            num_closed = max(1, len(parts))
            del self._open[max(1, len(self._open) - num_closed) :]  # the file itself stays open
        elif edge["word"] == "mutual" or not parts:
            self._open.append(_Scope(edge["word"], "", [], []))
        else:
            self._open += [_Scope(edge["word"], part, [], []) for part in parts]


def open_scopes(text: str) -> list[str]:
    """Return the names of the scopes that are open at the end of a text, outermost first; empty for nameless ones."""
    masked = lexical.mask(text)
    return [scope.name for scope in Scopes(masked).at(len(masked))[1:]]


def universes_of(text: str) -> list[str]:
    """Return the universes that are declared at the end of a text."""
    masked = lexical.mask(text)
    universes: list[str] = []
    for scope in Scopes(masked).at(len(masked)):
        universes += scope.universes
    return universes


# -- Declarations ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declaration of a text: its keyword, names and place as offsets, and in what it stands.

    `[start, end)` is its text with `open .. in` and attributes in front, without comments after its last word;
    `documented` is where its doc comment begins, if one precedes `start`. An `example` and a nameless `instance` have
    empty names. `name` is the name as written, without universes.
    """

    keyword: str
    name: str
    full_name: str
    documented: int
    start: int
    head: int
    """Where its keyword begins."""
    head_end: int
    """Where its name ends, or its keyword if it has none."""
    end: int
    namespaces: tuple[str, ...]
    """The namespaces around it as full names, innermost first."""
    opens: tuple[str, ...]
    """The names that `open` lines gave before it."""
    in_mutual: bool
    masked: str = field(repr=False, compare=False)
    """The masked text that it is in."""

    @property
    def statement_end(self) -> int:
        """Where the `:=` of its proof or value begins, or the first arm; `end` if it has neither."""
        masked = self.masked[: self.end]
        end = lexical.find_top_level(masked, ":=", self.head_end)
        if end < 0:
            end = len(masked)
        # Equations and `where` have no `:=` before them; one that follows is inside of an arm or a field.
        arms = lexical.find_arms(masked, self.head_end, end)
        if arms >= 0:
            end = arms
        where = _WHERE.search(masked, self.head_end, end)
        if where is not None:
            end = where.start()
        return end


@dataclass(frozen=True)
class Outline:
    """What is read of a text once: its masked form, where its commands begin, and its declarations.

    `by_command` has the declaration that each command begins, or None for other commands.
    """

    text: str
    masked: str
    starts: tuple[int, ...]
    by_command: tuple[Declaration | None, ...]

    @property
    def declarations(self) -> list[Declaration]:
        """All declarations of the text, in order, those without a name too."""
        return [declaration for declaration in self.by_command if declaration is not None]

    def command_at(self, offset: int) -> int:
        """Return the number of the command that an offset is part of; -1 before the first one."""
        return bisect_right(self.starts, offset) - 1

    def end_of(self, command: int) -> int:
        """Return where a command ends: at the next one, or at the end of the text."""
        if command + 1 < len(self.starts):
            return self.starts[command + 1]
        return len(self.text)


@lru_cache(maxsize=32)
def outline(text: str) -> Outline:
    """Read what a text declares. The last few texts are remembered: each theorem of a file asks for the file's."""
    masked = mask_for_commands(text)
    commands = list(COMMAND.finditer(lexical.without_quotations(masked)))
    for number, command in enumerate(commands):
        if _LAST_COMMAND.match(masked, command.start()):
            del commands[number + 1 :]
            break
    scopes = Scopes(masked)
    starts = [command.start() for command in commands]
    prefixes = list(starts)
    # A prefix is looked for behind the last declaration only: from the top of the file it would be quadratic.
    prefix_from = 0
    for number, command in enumerate(commands):
        if command["declaration"] is not None:
            while prefix := IN_FRONT_OF.search(masked, prefix_from, prefixes[number]):
                prefixes[number] = prefix.start()
            if not number or prefixes[number] > starts[number - 1]:
                starts[number] = prefixes[number]  # an indented `open .. in`, which is no command by itself
            prefix_from = command.end()
    all_starts: list[int] = []
    by_command: list[Declaration | None] = []
    for number, command in enumerate(commands):
        all_starts.append(starts[number])
        if command["declaration"] is None:
            by_command.append(None)
            continue
        next_start = starts[number + 1] if number + 1 < len(starts) else len(text)
        end = _end_of_value(masked, command, next_start)
        by_command.append(_read(text, masked, command, end, prefixes[number], scopes.at(command.start())))
        if end < next_start:
            all_starts.append(end)
            by_command.append(None)
    return Outline(text, masked, tuple(all_starts), tuple(by_command))


def _end_of_value(masked: str, command: re.Match[str], end: int) -> int:
    """Find a command that a library adds, `blueprint_comment` or `TODO`, below a declaration; else `end`.

    Lean reads no line at the margin as part of a block of tactics that is indented, but within brackets. Below anything
    else such a line might be an argument: it is a command if nothing but comments is on the line above the first one.
    """
    below = _AT_THE_MARGIN.search(masked, command.end(), end)
    if below is None:
        return end
    value = masked[command.end() : below.start()]
    # Below a `where` fields may be at the margin.
    is_apart = (
        _BLANK_LINE.search(value) is not None and _WHERE.search(value) is None and _VALUE.search(value) is not None
    )
    if is_apart and command["declaration"] in (*PROVABLE, "example", "abbrev") and _is_complete(value):
        return below.start()
    block = _INDENTED_TACTICS.match(masked, max(0, lexical.find_top_level(masked[:end], ":=", command.end())))
    if block is None:
        return end
    below = _AT_THE_MARGIN.search(masked, block.end(), end)
    return below.start() if below is not None and _is_complete(masked[block.end() - 1 : below.start()]) else end


def _is_complete(value: str) -> bool:
    """Tell whether a term or block of tactics may end here: its brackets are closed, and no word expects more."""
    value = value.rstrip()
    is_closed = sum(map(value.count, lexical.OPENING)) == sum(map(value.count, lexical.CLOSING))
    return is_closed and _EXPECTS_MORE.search(value) is None


def _read(
    text: str, masked: str, command: re.Match[str], end: int, start: int, around: Sequence[_Scope]
) -> Declaration:
    """Read the declaration that a command begins, and that ends before `end`; its prefixes begin at `start`."""
    keyword = command["declaration"]
    name, head_end = "", command.end()
    if keyword != "example":
        named = _NAMED.match(masked, command.end(), end)
        if named is not None and named["name"] not in (":", "where"):  # of a nameless instance
            name, head_end = named["name"], named.end()
    start += len(masked[start:end]) - len(masked[start:end].lstrip())
    opens: list[str] = []
    for scope in around:
        opens += scope.opened
    for match in _OPEN_IN.finditer(masked[start : command.start("declaration")]):
        opens += match["names"].split()
    components = [scope.name for scope in around if scope.word == "namespace"]
    spaces = [".".join(components[: count + 1]) for count in range(len(components))]
    full_name = name.removeprefix("_root_.")
    if full_name == name and name and spaces:
        full_name = f"{spaces[-1]}.{name}"
    return Declaration(
        keyword=keyword,
        name=name,
        full_name=full_name,
        documented=_documentation(text, len(masked[:start].rstrip()), start),
        start=start,
        head=command.start("declaration"),
        head_end=head_end,
        end=command.start() + len(masked[command.start() : end].rstrip()),
        namespaces=tuple(reversed(spaces)),
        opens=tuple(opens),
        in_mutual=around[-1].word == "mutual",
        masked=masked,
    )


def _documentation(text: str, code_end: int, start: int) -> int:
    """Find where the doc comment begins that stands before `start`, behind other code; `start` if there is none.

    One on the line of other code is that code's: `library_note "x" /-- .. -/`.
    """
    documented = start
    for kind, begin, _ in lexical.spans(text[code_end:start]):
        is_own = not code_end or "\n" in text[code_end : code_end + begin]
        if kind == "block" and is_own and text.startswith("/--", code_end + begin):
            documented = code_end + begin
    return documented


def declarations(text: str) -> list[Declaration]:
    """List the declarations of a text that have a name, in order."""
    return [declaration for declaration in outline(text).declarations if declaration.name]


def declared_names(text: str) -> list[str]:
    """List the full names of the theorems, lemmas and defs of a text, in order."""
    return [declaration.full_name for declaration in declarations(text) if declaration.keyword in PROVABLE]


# -- The text of a file as an importer has it ------------------------------------------------------------------------

_PART = rf"(?:«[^«»\n]*»|{lexical.ATOM})"
_IDENTIFIER = re.compile(rf"{lexical.NAME_BEGINS}{_PART}(?:\.{_PART})*")
_FIELD = re.compile(r"\s*:=")


def enclosed(text: str) -> str:
    """Put the text of an imported file between `section` and `end`, with an `end` for each scope that it leaves open.

    `text` has no header. What the file opens, declares as variable or sets as option ends with it, and its private
    names are no importer's: that may have the same ones, and no proof in it may use them.
    """
    ends = "".join(f"end {name}".rstrip() + "\n" for name in reversed(open_scopes(text)))
    return f"section\n{without_private_names(text).rstrip()}\n{ends}end\n"


@lru_cache(maxsize=1024)
def without_private_names(text: str) -> str:
    """Give the private theorems and definitions of a text names that no other text has.

    Those stay as they are whose uses the text alone does not tell: where something else has the same last part, or
    where it is written behind a dot, as in `h.name`.
    """
    masked = lexical.mask(text)
    if "private" not in masked:
        return text
    declared = declarations(text)
    last_parts = [_NAME_PART.findall(declaration.full_name)[-1] for declaration in declared]
    names: dict[str, list[str]] = {}
    for declaration, last in zip(declared, last_parts, strict=True):
        modifiers = masked[declaration.start : declaration.head].split()
        if "private" not in modifiers or declaration.keyword not in (*PROVABLE, "abbrev") or last.startswith("«"):
            continue
        is_prefix = any(other.full_name.startswith(f"{declaration.full_name}.") for other in declared)
        if last_parts.count(last) == 1 and not is_prefix:
            names[last] = _NAME_PART.findall(declaration.full_name)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    places: list[tuple[int, str]] = []
    for token in _IDENTIFIER.finditer(masked):
        parts = re.findall(_PART, token.group())
        # The last part of the name may follow those of its namespaces, and be followed by a field of what it is.
        for number, part in enumerate(parts):
            full = names.get(part)
            if full is None:
                continue
            before = masked[: token.start()].rstrip()[-1:]
            is_field = before in ("{", "(", ",") and _FIELD.match(masked, token.end()) is not None
            written = parts[: number + 1]
            if is_field or written not in (full[-len(written) :], ["_root_", *full]):
                del names[part]
            else:
                places.append((token.start() + len(".".join(written)), part))
    # Behind a dot, as in `h.name`, it may be this one or a field: the type of `h` decides.
    for name in list(names):
        if re.search(rf"(?<![{lexical.NAME_REST}»])\.{re.escape(name)}(?![{lexical.NAME_REST}])", masked):
            del names[name]
    pieces, position = [], 0
    for end, name in places:
        if name in names:
            pieces += [text[position:end], f"_private_{digest}"]
            position = end
    return "".join([*pieces, text[position:]])


# -- Another theorem in the place of one -----------------------------------------------------------------------------

_SORT = re.compile(r"(?<![\w.'])(?:Type|Sort) (\([^()\n]*\)|[^\W\d][\w']*)")
_LEVEL_NAME = re.compile(r"(?!(?:max|imax)(?![\w']))(?<![\w'])[^\W\d][\w']*")


def restate(source: str, name: str, statement: str) -> str:
    """Replace the declaration with the `sorry`, and what follows it, by the theorem of a statement, `(x : ℕ) : x = x`.

    Universes that the statement names and the source does not declare are parameters of the theorem; any other name
    that it does not bind is an error in it. Raises `SourceError` where `parse_declaration` does.
    """
    declaration = parse_declaration(source, whole=False)
    indent = declaration.indent
    before = without_documentation(source[: declaration.start], lexical.mask(source))
    before = before.removesuffix(EXPLICIT + indent)  # the source may be a negation or a restatement
    levels: dict[str, None] = {}
    for level in _SORT.findall(statement):
        levels.update(dict.fromkeys(_LEVEL_NAME.findall(level)))
    # Lean refuses a parameter with the name of a `universe` in scope.
    for declared in universes_of(before):
        levels.pop(declared, None)
    universes = ""
    if levels:
        universes = f".{{{', '.join(levels)}}}"
    indented = statement.replace("\n", "\n" + indent + "    ")
    head = f"{before}{EXPLICIT}{indent}theorem {name}{universes} {indented}"
    return f"{head} := by\n{indent}  sorry\n"
