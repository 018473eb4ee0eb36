"""Just enough of Lean's lexical rules to look at source text: comments, strings, words and brackets."""

import re

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

_SKIPPED = re.compile(
    r"""
      (?P<line>--[^\n]*)
    | (?P<block>/-)
    | (?P<raw>\br(?P<hashes>\#*)"(?s:.*?)(?:"(?P=hashes)|\Z))
    | (?P<string>"(?:[^"\\]|\\.)*(?:"|\Z))
    | (?P<char>'(?:"|\\"|--)')
    | (?P<quoted>«[^«»\n]*»)
    """,
    re.VERBOSE | re.DOTALL,
)
_BLOCK_EDGE = re.compile(r"/-|-/")
WORD = re.compile(r"[^\W\d][\w.'!?₀-₉]*")


def mask(text: str) -> str:
    """The text with comments and string literals replaced by spaces (line breaks kept); offsets stay the same."""
    pieces: list[str] = []
    position = 0
    while match := _SKIPPED.search(text, position):
        pieces.append(text[position : match.start()])
        end = _block_end(text, match.end()) if match["block"] else match.end()
        covered = text[match.start() : end]
        pieces.append(covered if match["quoted"] else "".join("\n" if c == "\n" else " " for c in covered))
        position = end
    pieces.append(text[position:])
    return "".join(pieces)


def _block_end(text: str, position: int) -> int:
    """Where the block comment that was opened before `position` ends; block comments nest."""
    depth = 1
    while depth:
        match = _BLOCK_EDGE.search(text, position)
        if match is None:
            return len(text)
        depth += 1 if match.group() == "/-" else -1
        position = match.end()
    return position


def find_top_level(masked: str, token: str, start: int = 0) -> int:
    """Offset of the first `:=` or `:` outside brackets that is not part of a `let` or `have`; -1 if there is none."""
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
        elif word := WORD.match(masked, position):
            if depth <= 0 and word.group() in ("let", "have", "letI", "haveI"):
                pending += 1
            position = word.end()
            continue
        position += 1
    return -1
