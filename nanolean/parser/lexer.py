"""The lexer, and the parser's position in its tokens.

One compiled regular expression makes the tokens; whitespace and comments are skipped on the way. They are kept as
parallel lists, because the parser looks at single texts most of the time. A character that Lean does not know becomes a
token of kind `BAD`, so that it is reported only when the parser gets there: commands before it still count.
"""

import re
from bisect import bisect_right
from collections.abc import Callable
from typing import NoReturn, TypeVar

_Node = TypeVar("_Node")

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


_QUOTED = "«[^«».\n]+»"
_NAME = rf"(?:{ATOM}|{_QUOTED})(?:\.(?:{ATOM}|{_QUOTED}))*"

_SYMBOLS = _words(
    "<;> <-> |>. @[ .{ <| |> -> <- => := /\\ \\/ <= >= != == && || :: ++ .. "
    "→ ← ↔ ∧ ∨ ¬ ≠ ≤ ≥ ∣ ∀ ∃ ⟨ ⟩ ⦃ ⦄ ▸ ↦ ⊢ ∘ × λ ‹ › ↑ ↓ ∈ ∉ · "
    "( ) [ ] { } , ; : . | = < > + - * / % ^ ! @ $"
)

_BLANKS = r"[ \n]*+(?:\r\n[ \n]*+)*+"  # neither tabs nor, by themselves, carriage returns
_INSIDE = r'[^"\\]*+(?:\\.[^"\\]*+)*+'
_TOKEN = re.compile(
    rf"{_BLANKS}(?:--[^\n]*{_BLANKS})*"
    r"(?:(" + _NAME + r")"
    r"|(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|[0-9]+(?:_+[0-9]+)*)"
    r"|(\?" + ATOM + r")"
    r"|(\.(?:[0-9]+|" + _NAME + r"))"
    r"|((?!/-)(?:" + "|".join(re.escape(symbol) for symbol in sorted(_SYMBOLS, key=len, reverse=True)) + r")|#[a-z_]+)"
    r"|(/-)"
    r'|("' + _INSIDE + r'")'
    r'|("' + _INSIDE + r"\\?\Z|.)"
    r"|\Z)",
    re.DOTALL,
)
_NO_BLANKS = {
    "\r": "isolated carriage returns are not allowed",
    "\t": "tabs are not allowed; please configure your editor to expand them",
}
_TOO_LONG = f"a name of more than {MAX_NAME_PARTS} parts"
_LITERAL = re.compile(r'[^"\\{]*+(?:\\.[^"\\{]*+)*+["{]', re.DOTALL)
_IN_TERM = re.compile(
    rf"""(?P<string>(?<![{NAME_REST}.»])[sf]!{_BLANKS}")|"{_INSIDE}"|--[^\n]*|(?P<comment>/-)|'[{{}}"]'|[{{}}]""",
    re.DOTALL,
)
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
    "assert! dbg_trace panic! unreachable! let_fun "
    # Words of Lean's language for which there is nothing here: no name of a text of Lean can be one of them.
    "add_decl_doc assert_not_exists assert_not_imported binder_predicate break catch coinductive coinductive_fixpoint "
    "continue debug_assert! deprecated_syntax docs_to_verso finally grind_pattern hiding idbg inductive_fixpoint "
    "init_grind_norm init_quot leading_parser let_delayed let_expr let_tmp match_expr monotonicity_by no_index "
    "partial_fixpoint recall recall? recommended_spelling register_error_explanation register_tactic_tag renaming "
    "repeat show_term_elab tactic_alt tactic_extension termination_by? trailing_parser try until while "
    "with_weak_namespace"
)


_PLAIN = re.compile(ATOM)
_BASES = {"0x": 16, "0b": 2, "0o": 8}


def value_of(numeral: str) -> int:
    """Return the number that a numeral stands for: `16`, `0x10`, `1_000`."""
    base = _BASES.get(numeral[:2].lower())
    return int(numeral[2:], base) if base else int(numeral)


def plain_name(part: str) -> str:
    """Return a part of a name without the `«»` around it where it does not need them."""
    inside = part.strip("«»")
    return inside if _PLAIN.fullmatch(inside) and inside not in RESERVED else part


class Tokens:
    """The tokens of one text; all lists have the same length and end with an `EOF` token of empty text."""

    __slots__ = ("cols", "ends", "kinds", "lines", "source", "starts", "texts")

    def __init__(self, source: str, begin: int = 0) -> None:
        """Read the tokens from the offset `begin` on, where one begins."""
        self.source = source
        self.kinds: list[int] = []
        self.texts: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        _scan(source, self, begin)
        self.lines = [0] + [match.end() for match in re.finditer("\n", source)]
        # Columns decide where a block ends; on a single line they are the offsets.
        if len(self.lines) == 1:
            self.cols = self.starts
        else:
            self.cols = [start - self.lines[bisect_right(self.lines, start) - 1] for start in self.starts]

    def split_dot(self, i: int) -> None:
        """Make two tokens of a dot and the name or number behind it."""
        start, text = self.starts[i], self.texts[i][1:]
        kind = IDENT
        if text[0].isdigit():
            kind = NUM
        elif text in RESERVED:
            kind = SYMBOL
        self.kinds[i : i + 1] = [SYMBOL, kind]
        self.texts[i : i + 1] = [".", text]
        self.ends[i : i + 1] = [start + 1, self.ends[i]]
        if self.cols is not self.starts:  # on a single line both are the same list
            self.cols.insert(i + 1, self.cols[i] + 1)
        self.starts.insert(i + 1, start + 1)

    def error(self, message: str, offset: int) -> ParseError:
        """Make a `ParseError` at a character offset."""
        line = bisect_right(self.lines, offset)
        return ParseError(message, line, offset - self.lines[line - 1])


def _scan(source: str, tokens: Tokens, offset: int) -> None:
    match_at, reserved = _TOKEN.match, RESERVED
    kinds, texts, starts, ends = tokens.kinds, tokens.texts, tokens.starts, tokens.ends
    while True:
        match = match_at(source, offset)
        assert match is not None  # the last two alternatives leave nothing over
        kind = match.lastindex
        if kind is None:
            break
        start, offset = match.span(kind)
        text = match.group(kind)
        if "«" in text and kind in (IDENT, FIELD):
            text = ".".join(map(plain_name, text.split(".")))
        if kind == IDENT:
            if text in reserved:
                kind = SYMBOL
            elif text.count(".") >= MAX_NAME_PARTS:
                kind, text = BAD, _TOO_LONG
        elif kind == FIELD and text.count(".") > MAX_NAME_PARTS:
            kind, text = BAD, _TOO_LONG
        elif text[0] == '"' and texts and texts[-1] in ("s!", "f!"):
            kind, offset = STRING, _end_of_interpolated(source, start)
            text = source[start:offset]
            if offset < 0:
                kind, text, offset = BAD, "unterminated string", len(source)
        # The last alternative took all that is left, so that what follows is no command of its own.
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


def _end_of_interpolated(source: str, start: int, depth: int = 0) -> int:
    """Where the string behind an `s!` ends, or -1: it holds terms in braces, with strings and comments of their own."""
    offset = start + 1
    while depth < MAX_DEPTH and (literal := _LITERAL.match(source, offset)):
        offset = literal.end()
        if literal.group()[-1] == '"':
            return offset
        braces = 1
        while braces:
            found = _IN_TERM.search(source, offset)
            if found is None:
                return -1
            offset = found.end()
            if found["comment"]:
                offset = _end_of_comment(source, found.start())
            elif found["string"]:
                offset = _end_of_interpolated(source, offset - 1, depth + 1)
            if offset < 0:
                return -1
            braces += {"{": 1, "}": -1}.get(found.group(), 0)
    return -1


def _end_of_comment(source: str, start: int) -> int:
    """Where the nested comment that opens at `start` ends, or -1."""
    depth, offset = 1, start + 2
    while depth:
        match = _COMMENT_EDGE.search(source, offset)
        if match is None:
            return -1
        # Comments nest, as in Lean: what is commented out may have comments of its own.
        if match.group() == "/-":
            depth += 1
        else:
            depth -= 1
        offset = match.end()
    return offset


# -- the header of a file


def blank(text: str) -> str:
    """As many spaces, with the line breaks kept."""
    return "\n".join(" " * len(line) for line in text.split("\n"))


def header(text: str) -> list[re.Match[str]]:
    """Split off the header of a file: a match, with its `words`, for `module`, `prelude` and each import.

    Those of imports have a `module`; several may stand on one line.
    """
    masked = _without_comments(text)
    matches: list[re.Match[str]] = []
    offset = 0
    while match := _HEADER.match(masked, offset):
        matches.append(match)
        offset = match.end()
    return matches


def without_header(text: str) -> str:
    """Blank the header of a file; its comments stay and so do its lines, empty, so that line numbers stay."""
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
            offset = _end_of_comment(text, start)
            if offset < 0:  # it does not end
                offset = len(text)
        piece = text[start:offset]
        if match["line"] or match["block"]:
            piece = blank(piece)  # of the same length, so that offsets stay those of the text
        pieces.append(piece)
    return "".join(pieces)


MAX_DEPTH = 100  # nested terms and blocks; each costs the parser and the elaborator a few Python frames
MAX_CHAIN = 100  # things in a row that nest: `a + b + ..`, `h.1.1..`, `t <;> t ..`, `∀ x y ..`
NO_COLUMN = -1


class Cursor:
    """A place in the tokens of one text. Methods that read something leave the cursor behind it."""

    def __init__(self, source: str, begin: int = 0) -> None:
        self.tokens = Tokens(source, begin)
        self.kinds = self.tokens.kinds
        self.texts = self.tokens.texts
        self.starts = self.tokens.starts
        self.ends = self.tokens.ends
        self.cols = self.tokens.cols
        self.i = 0
        self.depth = 0
        # The column of the enclosing block: what belongs to one of its tactics stands to the right of it.
        self.column = NO_COLUMN
        # Whether some tactic block is around what is read, so that a column 0 is that block's.
        self.in_block = False

    def fail(self, expected: str) -> NoReturn:
        """Raise at the current token."""
        kind, text, start = self.kinds[self.i], self.texts[self.i], self.starts[self.i]
        # Tokens that Lean takes in places of many kinds, so that what was expected says nothing.
        if text.startswith('"'):
            self.refuse("texts in quotes are")
        if kind == BAD and text == "«":
            self.refuse("a name with a dot in «» is")
        if kind == BAD and text == "'":
            self.refuse("characters in quotes are")
        # In the words of Lean's own messages, as far as they go.
        if kind == BAD and text in _NO_BLANKS:
            raise self.tokens.error(_NO_BLANKS[text], start)
        if kind == EOF:
            mistake = "unexpected end of input"
        elif kind == BAD and len(text) == 1:
            mistake = f"unexpected character {text!r}"
        elif kind == BAD:  # the lexer says by itself what is wrong
            mistake = text
        elif kind == IDENT:
            mistake = f"unexpected identifier '{text}'"
        else:
            mistake = f"unexpected token '{text}'"
        raise self.tokens.error(f"{mistake}; expected {expected}", start)

    def refuse(self, what: str) -> NoReturn:
        """Raise at the current token for something that Lean has and NanoLean does not."""
        raise self.tokens.error(f"{what} not supported", self.starts[self.i])

    def accept(self, *texts: str) -> bool:
        """Step over the current token if it is one of `texts`."""
        if self.texts[self.i] in texts:
            self.i += 1
            return True
        return False

    def after(self, word: str, read: Callable[[], _Node]) -> _Node | None:
        """Parse what stands behind a word; None if the word is not there."""
        return read() if self.accept(word) else None

    def expect(self, text: str) -> None:
        if self.texts[self.i] != text:
            self.fail(f"'{text}'")
        self.i += 1

    def pos(self) -> int:
        """Return the start of the current token."""
        return self.starts[self.i]

    def last_end(self) -> int:
        """Return the end of the token before the current one."""
        return self.ends[self.i - 1] if self.i else 0

    def spaced(self) -> bool:
        """Return whether something skipped stands between the last token and the current one."""
        return self.i == 0 or self.starts[self.i] > self.ends[self.i - 1]

    def on_new_line(self) -> bool:
        return self.i == 0 or "\n" in self.tokens.source[self.ends[self.i - 1] : self.starts[self.i]]

    def indented(self) -> bool:
        """Return whether the current token stands to the right of the enclosing block's column."""
        return self.cols[self.i] > self.column

    def enter(self) -> None:
        """Count one more level of nesting; the caller does `self.depth -= 1` when done."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.tokens.error(f"nested more than {MAX_DEPTH} deep", self.pos())

    def check_chain(self, count: int) -> None:
        """Raise when a chain has become too long."""
        if count > MAX_CHAIN:
            raise self.tokens.error(f"a chain of more than {MAX_CHAIN} links", self.pos())

    def name(self, what: str = "identifier") -> str:
        """Parse an identifier, dots allowed."""
        # A word of Lean's is no name, even where nothing else could stand.
        if self.kinds[self.i] != IDENT:
            self.fail(what)
        self.i += 1
        return self.texts[self.i - 1]

    def at_binder_name(self) -> bool:
        text = self.texts[self.i]
        return text == "_" or (self.kinds[self.i] == IDENT and "." not in text)

    def binder_name(self) -> str:
        """`x` or `_`."""
        if not self.at_binder_name():
            self.fail("identifier without dots or '_'")
        self.i += 1
        return self.texts[self.i - 1]

    def binder_names(self) -> tuple[str, ...]:
        """`x _ y` as far as they are indented, possibly none."""
        first = self.i
        while self.at_binder_name() and self.indented():
            self.i += 1
            self.check_chain(self.i - first)
        return tuple(self.texts[first : self.i])


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


UNSUPPORTED = _names(
    "exact? apply? rw? simp? simp_all? simpa? decide? grind? solve_by_elim simp_arith simp_all_arith simp! "
    "delta norm_cast push_cast exact_mod_cast rw_mod_cast native_decide bv_decide bv_omega bv_normalize "
    "false_or_by_contra apply_assumption apply_rules "
    "haveI letI let_to_have repeat1 ac_nf ac_nf0 subst_eqs eq_refl apply_rfl expose_names stop "
    "fail trace_state dbg_trace sleep checkpoint run_tac show_term unhygienic fun_cases fun_induction mvcgen simp_wf "
    "decreasing_tactic decreasing_with get_elem_tactic set_option open as_aux_lemma refine_lift refine_lift' "
    "with_reducible with_reducible_and_instances with_unfolding_all symm_saturate"
)
"""Tactics of Lean that NanoLean does not have; anything else is unknown to Lean core too."""

MATHLIB = _names(
    "abel aesop by_contra cases' cc choose contrapose conv_lhs conv_rhs fin_cases field_simp gcongr group hint "
    "induction' interval_cases lift linarith nlinarith norm_num nth_rewrite nth_rw order peel polyrith positivity "
    "exacts push_neg rcongr ring ring1 ring_nf set simp_rw tauto use zify qify rify"
)
"""Tactics that courses with Mathlib teach, and Lean without it does not know."""
