"""Lean's lexical rules, as far as they are needed: comments, strings, names, brackets, and the header of a file."""

import re
from collections.abc import Iterator

OPENING = "([{⟨⦃"
CLOSING = ")]}⟩⦄"
# Character classes of a name's first and further characters (Lean's `isLetterLike` and `isSubScriptAlnum`).
NAME_START = (
    "a-zA-Z_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017f"  # Latin, without × and ÷
    "\u0391-\u039f\u03a1\u03a2\u03a4-\u03a9\u03b1-\u03ba\u03bc-\u03fb"  # Greek, without Π Σ λ
    "\u1f00-\u1ffe\u2100-\u214f\U0001d49c-\U0001d59f"  # old Greek, letter-like symbols, script letters
)
NAME_REST = NAME_START + "0-9'!?\u2080-\u2089\u2090-\u209c\u1d62-\u1d6a\u2c7c"
ATOM = f"[{NAME_START}][{NAME_REST}]*"
"""Matches a name without dots."""
NAME_BEGINS = rf"(?<![{NAME_REST.replace('!', '')}.»])"
"""Holds where a name may begin, also behind the `!` of `!p`; a search from left to right has passed over `x!p`."""

_SKIPPED_WORDS = r"""
      (?P<line>--[^\n]*)
    | (?P<block>/-)
    | (?P<raw>\br(?P<hashes>\#*)"(?s:.*?)(?:"(?P=hashes)|\Z))
    | (?P<string>"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z))
    | (?P<char>'(?:"|\\"|--)'|(?<![\w'!?])'[()\[\]{}⟨⟩⦃⦄]')
    | (?P<quoted>«[^«»\n]*»)
"""
_SKIPPED = re.compile(_SKIPPED_WORDS, re.VERBOSE | re.DOTALL)
# Tokens of Lean wherever they are no part of a name (of `Init`; `m!` is one of `import Lean`, and a name without it).
_INTERPOLATES = rf"(?P<interpolates>(?<![{NAME_REST}.»])!*[sf]!)"
_IN_TEXT = re.compile(f"{_SKIPPED_WORDS} | {_INTERPOLATES}", re.VERBOSE | re.DOTALL)
_IN_TERM = re.compile(f"{_SKIPPED_WORDS} | {_INTERPOLATES} | (?P<brace>[{{}}])", re.VERBOSE | re.DOTALL)
_LITERAL = re.compile(r'[^"\\{]*+(?:\\.[^"\\{]*+)*+(?P<edge>["{]|\\?\Z)', re.DOTALL)
ASCII_SYMBOLS = {"<->": "↔", "->": "→", "<=": "≤", ">=": "≥", "/\\": "∧", "\\/": "∨"}
"""Two ways to write one symbol of Lean. `!=` is none of them: it is another relation than `≠`."""
_BINDS_VALUE = frozenset({"let", "have", "letI", "haveI", "let_fun", "letI'", "haveI'"})
_BAR = re.compile(r"\n[ \t]*\|(?![|>])")
_ARM = re.compile(r"\s*\|(?!\|)")
_BLOCK_EDGE = re.compile(r"/-|-/")
WORD = re.compile(r"[^\W\d][\w.'!?₀-₉]*")
_PART = rf"(?:«[^«»\n]*»|{ATOM})"
_IMPORT = rf"(?:(?:public|private)\s+)?(?:meta\s+)?import\s+(?:all\s+)?(?P<module>{_PART}(?:\.{_PART})*)"
_HEADER = re.compile(rf"\s*(?P<words>(?:module|prelude)(?![{NAME_REST}.])|{_IMPORT})")
"""The header of a file, as in `Lean.Parser.Module.header` (`private` is of older versions)."""
_NOTED_IMPORT = re.compile(r"/- [^/\n]*\bimport\s[^/]*? -/")
"""What `header_as_comments` leaves of an import."""
_EXIT = re.compile(r"(?<![\w.'#])#exit(?![\w.'!?])")
_LIBRARY_END = re.compile(r"(?!(?:namespace|section|mutual|end)[ \t])[^\W\d]\w*[ \t]+(?P<end>end)[ \t]*$", re.MULTILINE)
_IMPORT_LINE = re.compile(rf"^[ \t]*(?P<words>{_IMPORT})", re.MULTILINE)


def spans(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield kind, start and end of each comment (`line`, `block`), literal (`raw`, `string`, `char`) and `quoted` name.

    They come in order, with offsets into the text; one that is never closed ends with the text. Of an interpolated
    string, `s!".."` or `f!".."`, they are the parts around its terms, each with the braces at its ends.
    """
    position = 0
    depths: list[int] = []  # for each term that is open, how many braces are in it
    interpolates = -1  # the end of an `s!` that the string is still to come of
    outside = _IN_TEXT if "s!" in text or "f!" in text else _SKIPPED
    # From left to right: which of them comes first decides, as a `--` in a string is no comment and a `"` in a comment
    # no string.
    while match := (_IN_TERM if depths else outside).search(text, position):
        kind = str(match.lastgroup)  # the group that closed last, which is never the inner one of `raw`
        start, position = match.start(), match.end()
        if kind == "interpolates":
            interpolates = position
            continue
        of_string = interpolates >= 0 and not text[interpolates:start].strip()
        if kind == "block":
            position = _block_end(text, position)
        elif kind == "brace":
            interpolates = -1
            depths[-1] += 1 if match.group() == "{" else -1
            if depths[-1] >= 0:
                continue
            depths.pop()
        # Comments may stand between `s!` and its string.
        interpolates = position if of_string and kind in ("line", "block") else -1
        if kind == "brace" or (kind == "string" and of_string):
            literal = _LITERAL.match(text, start + 1)
            assert literal is not None  # the end of the text is an edge, too
            kind, position = "string", literal.end()
            if literal["edge"] == "{":
                depths.append(0)
        yield kind, start, position


def mask(text: str) -> str:
    """Replace comments and literals by spaces; line breaks are kept, and offsets stay the same."""
    pieces: list[str] = []
    position = 0
    for kind, start, end in spans(text):
        if kind != "quoted":  # a name, and so code
            pieces += [text[position:start], blank(text[start:end])]
            position = end
    return "".join([*pieces, text[position:]])


def is_quoted(masked: str, position: int) -> bool:
    """Tell whether a place in a masked text is within a quoted name: words in `«my theorem»` are none of Lean's."""
    line = masked.rfind("\n", 0, position) + 1
    return masked.rfind("«", line, position) > masked.rfind("»", line, position)


def is_library_end(masked: str, position: int) -> bool:
    """Tell whether an `end` is the second word of a library's own command, as in Compfiles' `snip end`."""
    line = _LIBRARY_END.match(masked, masked.rfind("\n", 0, position) + 1)
    return line is not None and line.start("end") == position


def without_quotations(masked: str) -> str:
    """Blank what a macro says in a quotation of a masked text: commands in it are none of the text; offsets stay."""
    position = masked.find("`(")
    while position >= 0:
        end, depth = position + 1, 0
        while end < len(masked):
            depth += (masked[end] == "(") - (masked[end] == ")")
            end += 1
            if not depth:
                break
        if depth:  # it never ends, so that it may be none
            return masked
        masked = masked[:position] + blank(masked[position:end]) + masked[end:]
        position = masked.find("`(", end)
    return masked


def blank_comments(text: str) -> str:
    """Replace comments alone by spaces; line breaks are kept, and offsets stay the same."""
    pieces, position = [], 0
    for kind, start, end in spans(text):
        if kind in ("line", "block"):
            pieces += [text[position:start], blank(text[start:end])]
            position = end
    return "".join([*pieces, text[position:]])


def blank(text: str) -> str:
    """Replace all characters but line breaks by spaces."""
    return "\n".join(" " * len(line) for line in text.split("\n"))


def header(masked: str) -> list[re.Match[str]]:
    """Find the header of a masked file: a match with a group `words` for `module`, `prelude` and each import.

    Matches of imports have a group `module` too; several may stand on one line.
    """
    found: list[re.Match[str]] = []
    while match := _HEADER.match(masked, found[-1].end() if found else 0):
        found.append(match)
    return found


def imported_modules(text: str) -> list[str]:
    """List the modules that a file imports, in order."""
    return [match["module"] for match in header(mask(text)) if match["module"]]


def up_to_exit(text: str) -> str:
    """Return the text of a file before `#exit`, behind which Lean reads nothing; all of it if there is none."""
    found = _EXIT.search(mask(text)) if "#exit" in text else None
    return text[: found.start()] if found else text


def without_header(text: str) -> str:
    """Return what Lean reads of a file behind its header; comments and line breaks stay, and so the line numbers."""
    text = up_to_exit(text)
    for match in reversed(header(mask(text))):  # from the end, so that the offsets of the others stay right
        start, end = match.span("words")
        text = text[:start] + "\n" * text.count("\n", start, end) + text[end:].lstrip(" \t")
    return text


def header_as_comments(text: str) -> str:
    """Put each import of a file's header between `/-` and `-/` and remove `module` and `prelude`; lines stay.

    Every server has imports of its own. NanoLean, which has no library, reads there that one is missing: otherwise it
    would take `card` in a statement for a variable, and prove something else.
    """
    for match in reversed(header(mask(text))):
        start, end = match.span("words")
        words = text[start:end]
        if match["module"] is None:
            text = text[:start] + text[end:]
        elif "-/" not in words:
            text = f"{text[:start]}/- {words} -/{text[end:]}"
        else:  # a comment between `import` and the module
            noted = f"/- import {match['module']} -/" + "\n" * words.count("\n")
            text = text[:start] + noted + text[end:]
    return text


def without_noted_imports(text: str) -> str:
    """Remove what `header_as_comments` has left of a header."""
    code_start = len(mask(text)) - len(mask(text).lstrip())
    return _NOTED_IMPORT.sub("", text[:code_start]).lstrip("\n") + text[code_start:]


def misplaced_header(masked: str) -> str:
    """Return the first words of a header in a masked text that may have none, also of one below other code; else ""."""
    found = [*header(masked)[:1], *_IMPORT_LINE.finditer(masked)]
    return " ".join(found[0]["words"].split()) if found else ""


def _block_end(text: str, position: int) -> int:
    """Find the end of the block comment that was opened before `position`; block comments nest."""
    if text.find("-/", position) < 0:  # it never ends: thousands that are opened inside of it are not looked at
        return len(text)
    depth = 1
    while depth:
        match = _BLOCK_EDGE.search(text, position)
        if match is None:
            return len(text)
        depth += 1 if match.group() == "/-" else -1
        position = match.end()
    return position


def find_top_level(masked: str, token: str, start: int = 0) -> int:
    """Find the first `:=` or `:` outside of brackets that is not part of a `let` or `have`; -1 if there is none."""
    # `pending` counts the `let` and `have` of a statement, each of which has a `:=` of its own to come, or a `←`.
    depth = pending = 0
    position = start
    while position < len(masked):
        char = masked[position]
        if char in OPENING:
            depth += 1
        elif char in CLOSING:
            depth -= 1
        elif char == ":" and depth <= 0:
            found = ":=" if masked.startswith(":=", position) else "::" if masked.startswith("::", position) else ":"
            if found == token and not pending:
                return position
            if found == ":=":
                pending = max(0, pending - 1)
            position += len(found)
            continue
        elif depth <= 0 and masked.startswith(("←", "<-"), position):
            pending = max(0, pending - 1)
        elif word := WORD.match(masked, position):
            if depth <= 0 and word.group() in _BINDS_VALUE:
                pending += 1
            position = word.end()
            continue
        elif char == "«":  # `«let»` is a name
            position = max(position, masked.find("»", position))
        position += 1
    return -1


def find_arms(masked: str, start: int, end: int) -> int:
    """Find the line break before the arms of a declaration by equations, `| 0 => ..`; -1 if none come before `end`.

    A line of a statement may begin with `|` as well: `|x| ≤ 1`, `{x | p x}`, `|>.succ = 3`, an arm of a `match`. Only
    an arm of the declaration has a `=>` outside of brackets that is no `fun`'s.
    """
    depth = functions = 0
    first = -1
    position = start
    while position < end:
        char = masked[position]
        word = WORD.match(masked, position)
        if char in OPENING:
            depth += 1
        elif char in CLOSING:
            depth -= 1
        elif depth > 0:
            pass
        elif char == "\n" and first < 0 and _BAR.match(masked, position):
            first = position
        elif word is not None and word.group() == "match":
            return -1
        elif word is not None and (word.group() == "fun" or char == "λ"):
            if _ARM.match(masked, word.end()):  # the arms that follow are its own
                return -1
            functions += 1
        elif masked.startswith("=>", position):
            if first >= 0 and not functions:
                return first
            functions = max(0, functions - 1)
        position = word.end() if word is not None else position + 1
    return -1
