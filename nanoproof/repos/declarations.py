"""What a Lean text declares, and where: names as Lean gives them, found without Lean from scopes, `open`s and keywords.

Also the text of a file as an importer has it: a section of its own, with an `end` for each scope that it leaves open.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import NamedTuple

from nanoproof.lean import lexical
from nanoproof.lean.source import COMMAND, NAME
from nanoproof.repos.traced_files import Position

_NAMED = re.compile(rf"\s+(?P<name>{NAME})")
_SCOPE = re.compile(
    r"^[ \t]*(?:(?:(?:@\[[^\]]*\]|public|meta|noncomputable)[ \t]+)*(?P<word>namespace|section|mutual|end)"
    rf"(?![{lexical.NAME_REST}.])[ \t]*(?P<name>«[^»\n]*»(?:\.\S+)?|[^\s]*)"
    r"|open(?:[ \t]+scoped)?(?P<opened>[ \t]+(?:[^\n]|\n[ \t]+(?=\S))*))",
    re.MULTILINE,
)
_NOT_A_NAME = re.compile(r"namespace|section|mutual|end|theorem|lemma|def|open|variable|--.*")
_NAME_PART = re.compile(r"«[^»]*»|[^.«»]+")
_OPEN_IN = re.compile(r"(?<![\w.'])open(?:\s+scoped)?\s(?P<names>[^()]*?)\s(?:hiding\s|renaming\s|in(?![\w.']))")
_BEFORE_NEXT = re.compile(r"(?<![\w.'])in\s*\Z")
_ARM = re.compile(r"\n[ \t]*\|")
_WHERE = re.compile(r"(?<![\w.'])where(?![\w.'])")

# -- Scopes ----------------------------------------------------------------------------------------------------------


class _Scope(NamedTuple):
    """A scope that is open: one component of a name, or empty, and what `open` lines in it gave."""

    word: str
    name: str
    opened: list[str]


class _Scopes:
    """The scopes that are open at an offset of a text, outermost first, while one goes through it."""

    def __init__(self, masked: str) -> None:
        self._edges = list(_SCOPE.finditer(masked))
        self._passed = 0
        self._open = [_Scope("file", "", [])]

    def at(self, offset: int) -> list[_Scope]:
        """Return the scopes that are open at an offset, which is not before that of the last call; first the file."""
        while self._passed < len(self._edges) and self._edges[self._passed].start() < offset:
            self._pass(self._edges[self._passed])
            self._passed += 1
        return self._open

    def _pass(self, edge: re.Match[str]) -> None:
        if edge["word"] is None:
            names = re.split(r"\s(?:in|hiding|renaming)\s|\(", f"{edge['opened']} ")[0]
            if not re.search(r"\sin\s", f"{edge['opened']} "):
                self._open[-1].opened.extend(names.split())
            return
        parts = [] if _NOT_A_NAME.fullmatch(edge["name"]) else _NAME_PART.findall(edge["name"])
        if edge["word"] == "end":
            del self._open[max(1, len(self._open) - max(1, len(parts))) :]
        else:
            self._open += [_Scope(edge["word"], part, []) for part in (edge["word"] != "mutual" and parts) or [""]]


def open_scopes(text: str) -> list[str]:
    """Return the names of the scopes that are open at the end of a text, outermost first; empty for nameless ones."""
    masked = lexical.mask(text)
    return [scope.name for scope in _Scopes(masked).at(len(masked))[1:]]


def enclosed(text: str) -> str:
    """Put the text of an imported file between `section` and `end`, with an `end` for each scope that it leaves open.

    `text` has no header. What the file opens, declares as variable or sets as option ends with it.
    """
    ends = "".join(f"end {name}".rstrip() + "\n" for name in reversed(open_scopes(text)))
    return f"section\n{text.rstrip()}\n{ends}end\n"


# -- Declarations ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declaration of a text: its keyword, name and place as offsets, and in what it stands."""

    keyword: str
    full_name: str
    start: int
    end: int
    statement_end: int
    """Where the `:=` of its proof or value begins, or the first arm; `end` if it has neither."""
    namespaces: tuple[str, ...]
    """The namespaces around it as full names, innermost first."""
    opens: tuple[str, ...]
    """The names that `open` lines gave before it."""


def declarations(text: str) -> list[Declaration]:
    """List the declarations of a text that have a name, in order."""
    masked = lexical.mask(text)
    commands = list(COMMAND.finditer(masked))
    ends = [*(command.start() for command in commands[1:]), len(masked)]
    scopes = _Scopes(masked)
    found = []
    begins = 0
    for number, (command, end) in enumerate(zip(commands, ends)):
        if not number or not _BEFORE_NEXT.search(masked[commands[number - 1].start() : command.start()]):
            begins = command.start()  # else it belongs to `open .. in` and the like, on lines of their own
        named = _NAMED.match(masked, command.end(), end) if command["declaration"] else None
        keyword = command["declaration"]
        if named is None or keyword is None or keyword == "example" or named["name"] in (":", "where"):
            continue
        name = re.sub(r"\.\{[^}]*\}?\Z", "", named["name"]).rstrip(".")
        around = scopes.at(command.start())
        opens = tuple(name for scope in around for name in scope.opened)
        before = masked[begins : command.start("declaration")]
        opens += tuple(name for match in _OPEN_IN.finditer(before) for name in match["names"].split())
        components = [scope.name for scope in around if scope.word == "namespace"]
        spaces = [".".join(components[: count + 1]) for count in range(len(components))]
        rooted = name.startswith("_root_.")
        full_name = name.removeprefix("_root_.") if rooted or not spaces else f"{spaces[-1]}.{name}"
        start = begins + len(masked[begins:end]) - len(masked[begins:end].lstrip())
        end = command.start() + len(masked[command.start() : end].rstrip())
        stop = _statement_end(masked[:end], named.end())
        found.append(Declaration(keyword, full_name, start, end, stop, tuple(reversed(spaces)), opens))
    return found


def _statement_end(masked: str, start: int) -> int:
    """Find where the statement of a declaration ends whose name ends at `start`, in a text that ends with it."""
    assign = lexical.find_top_level(masked, ":=", start)
    stops = [assign] if assign >= 0 else []
    for pattern in (_ARM, _WHERE):
        if match := pattern.search(masked, start, min(stops, default=len(masked))):
            stops.append(match.start())
    return min(stops, default=len(masked))


def without_comments(text: str) -> str:
    """Remove the comments of a text, and lines that are empty then."""
    pieces, position = [], 0
    for kind, start, end in lexical.spans(text):
        if kind in ("line", "block"):
            pieces.append(text[position:start])
            position = end
    lines = "".join([*pieces, text[position:]]).split("\n")
    return "\n".join(line.rstrip() for line in lines if line.strip())


class Places:
    """Offsets of a text as positions, and the other way round."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def position(self, offset: int) -> Position:
        """Return the position of an offset, from 1 on."""
        line = bisect_right(self._starts, offset)
        return Position(line, offset - self._starts[line - 1] + 1)

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a line (from 1) and column (from 0), as Lean gives them."""
        return self._starts[min(max(line, 1), len(self._starts)) - 1] + column
