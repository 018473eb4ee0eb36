"""Text to tokens: one compiled regular expression, whitespace and comments skipped on the way.

Tokens are kept as parallel lists, because the parser looks at single texts most of the time. A character that Lean does
not know becomes a token of kind `BAD`, so that it is reported only when the parser gets there: commands before it still
count.
"""

import re
from bisect import bisect_right

# Character classes of a name's first and further characters (Lean's `isLetterLike` and `isSubScriptAlnum`).
NAME_START = (
    "a-zA-Z_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017f"  # Latin, without × and ÷
    "\u0391-\u039f\u03a1\u03a2\u03a4-\u03a9\u03b1-\u03ba\u03bc-\u03fb"  # Greek, without Π Σ λ
    "\u1f00-\u1ffe\u2100-\u214f\U0001d49c-\U0001d59f"  # old Greek, letter-like symbols, script letters
)
NAME_REST = NAME_START + "0-9'!?\u2080-\u2089\u2090-\u209c\u1d62-\u1d6a\u2c7c"
ATOM = f"[{NAME_START}][{NAME_REST}]*"
"""Matches a name without dots."""
MAX_NAME_PARTS = 100
"""Looking up a name takes time with the square of its parts, so none has more."""


class ParseError(Exception):
    """The text is not in the language. `line` is 1-based, `column` 0-based, both in code points, as Lean counts."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(f"{line}:{column}: {message}")
        self.message = message
        self.line = line
        self.column = column


# Token kinds; the first eight are also the group numbers of `_TOKEN`.
IDENT, NUM, HOLE, FIELD, SYMBOL, COMMENT, STRING, BAD, DOC, EOF = range(1, 11)
# IDENT  x  Nat.succ  h.left       NUM     12           HOLE  ?x  ?_
# FIELD  .1  .left  .left.right    SYMBOL  operators, brackets and reserved words
# DOC    the text of a `/-- -/`    STRING  "..." with its quotes and escapes
# BAD    an unknown character, a name of too many parts, or a comment or string that does not end


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NAME = rf"{ATOM}(?:\.{ATOM})*"

_SYMBOLS = _words(
    "<;> <-> |>. @[ .{ <| |> -> <- => := /\\ \\/ <= >= != == && || :: ++ .. "
    "→ ← ↔ ∧ ∨ ¬ ≠ ≤ ≥ ∣ ∀ ∃ ⟨ ⟩ ⦃ ⦄ ▸ ↦ ⊢ ∘ × λ ‹ › ↑ ↓ ∈ ∉ · "
    "( ) [ ] { } , ; : | = < > + - * / % ^ ! @ $"
)

_INSIDE = r'[^"\\]*+(?:\\.[^"\\]*+)*+'
_TOKEN = re.compile(
    r"[ \r\n]*(?:--[^\n]*[ \r\n]*)*"
    r"(?:(" + _NAME + r")"
    r"|([0-9]+)"
    r"|(\?" + ATOM + r")"
    r"|(\.(?:[0-9]+|" + _NAME + r"))"
    r"|((?!/-)(?:" + "|".join(re.escape(symbol) for symbol in sorted(_SYMBOLS, key=len, reverse=True)) + r")|#[a-z_]+)"
    r"|(/-)"
    r'|("' + _INSIDE + r'")'
    r'|("' + _INSIDE + r"\\?\Z|.)"
    r"|\Z)",
    re.DOTALL,
)
_TOO_LONG = f"a name of more than {MAX_NAME_PARTS} parts"
_COMMENT_EDGE = re.compile(r"/-|-/")

_PART = rf"(?:«[^«»\n]*»|{ATOM})"
_IMPORT = rf"(?:(?:public|private)\s+)?(?:meta\s+)?import\s+(?:all\s+)?(?P<module>{_PART}(?:\.{_PART})*)"
_HEADER = re.compile(rf"\s*(?P<words>(?:module|prelude)(?![{NAME_REST}.])|{_IMPORT})")
"""What a file may begin with, as `Lean.Parser.Module.header` has it (`private` is of older versions)."""
_BEFORE_CODE = re.compile(rf"(?:\s+|(?P<line>--[^\n]*)|(?P<block>/-)|[.«»{NAME_REST}]+)")
"""What is in a header and between its words."""

COMMAND_WORDS = _words(
    "theorem lemma example def abbrev axiom inductive structure class instance opaque namespace section end open "
    "variable universe set_option attribute private protected noncomputable partial unsafe nonrec local scoped mutual "
    "macro macro_rules syntax elab elab_rules notation infix infixl infixr prefix postfix import export initialize "
    "builtin_initialize declare_syntax_cat deriving public meta module include omit "
    "#print #check #eval #reduce #synth #exit #help #guard #guard_msgs #check_failure #where #version"
)
RESERVED = COMMAND_WORDS | _words(
    "_ fun let have show suffices from by match with if then else do at forall exists sorry Type Prop Sort where in "
    "using generalizing nomatch nofun calc haveI letI return for unless mut extends termination_by decreasing_by "
    "assert! dbg_trace panic! unreachable! let_fun"
)


class Tokens:
    """The tokens of one text; all lists have the same length and end with an `EOF` token of empty text."""

    __slots__ = ("cols", "ends", "kinds", "lines", "source", "starts", "texts")

    def __init__(self, source: str) -> None:
        self.source = source
        self.kinds: list[int] = []
        self.texts: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        _scan(source, self)
        self.lines = [0] + [match.end() for match in re.finditer("\n", source)] if "\n" in source else [0]
        # Columns decide where a block ends; on a single line they are the offsets.
        if len(self.lines) == 1:
            self.cols = self.starts
        else:
            self.cols = [start - self.lines[bisect_right(self.lines, start) - 1] for start in self.starts]

    def error(self, message: str, offset: int) -> ParseError:
        """A `ParseError` at a character offset."""
        line = bisect_right(self.lines, offset)
        return ParseError(message, line, offset - self.lines[line - 1])


def _scan(source: str, tokens: Tokens) -> None:
    match_at, reserved = _TOKEN.match, RESERVED
    kinds, texts, starts, ends = tokens.kinds, tokens.texts, tokens.starts, tokens.ends
    offset = 0
    while True:
        match = match_at(source, offset)
        assert match is not None  # the last two alternatives leave nothing over
        kind = match.lastindex
        if kind is None:
            break
        start, offset = match.span(kind)
        text = match.group(kind)
        if kind == IDENT:
            if text in reserved:
                kind = SYMBOL
            elif text.count(".") >= MAX_NAME_PARTS:
                kind, text = BAD, _TOO_LONG
        elif kind == FIELD and text.count(".") > MAX_NAME_PARTS:
            kind, text = BAD, _TOO_LONG
        elif kind == BAD and text[0] == '"':
            text = "unterminated string"
        elif kind == COMMENT:
            offset = _end_of_comment(source, start)
            if offset < 0:
                kind, text, offset = BAD, "unterminated comment", len(source)
            elif source.startswith("/--", start) and not source.startswith("/--/", start):
                kind, text = DOC, source[start + 3 : offset - 2].strip()
            else:
                continue
        kinds.append(kind)
        texts.append(text)
        starts.append(start)
        ends.append(offset)
    kinds.append(EOF)
    texts.append("")
    starts.append(len(source))
    ends.append(len(source))


def _end_of_comment(source: str, start: int) -> int:
    """Where the nested comment that opens at `start` ends, or -1."""
    depth, offset = 1, start + 2
    while depth:
        match = _COMMENT_EDGE.search(source, offset)
        if match is None:
            return -1
        depth += 1 if match.group() == "/-" else -1
        offset = match.end()
    return offset


# -- the header of a file


def blank(text: str) -> str:
    """As many spaces, with the line breaks kept."""
    return "\n".join(" " * len(line) for line in text.split("\n"))


def header(text: str) -> list[re.Match[str]]:
    """The header of a file: a match, with its `words`, for `module`, `prelude` and each import.

    Those of imports have a `module`; several may stand on one line.
    """
    masked = _without_comments(text)
    found: list[re.Match[str]] = []
    while match := _HEADER.match(masked, found[-1].end() if found else 0):
        found.append(match)
    return found


def without_header(text: str) -> str:
    """A file without its header; its comments stay and so do its lines, empty, so that others keep their numbers."""
    for match in reversed(header(text)):
        start, end = match.span("words")
        text = text[:start] + "\n" * text.count("\n", start, end) + text[end:].lstrip(" \t")
    return text


def _without_comments(text: str) -> str:
    """The beginning of a text, as far as a header can reach, with blanks in the place of its comments."""
    pieces: list[str] = []
    offset = 0
    while match := _BEFORE_CODE.match(text, offset):
        start, offset = match.span()
        if match["block"]:
            end = _end_of_comment(text, start)
            offset = end if end >= 0 else len(text)
        is_comment = match["line"] or match["block"]
        pieces.append(blank(text[start:offset]) if is_comment else text[start:offset])
    return "".join(pieces)
