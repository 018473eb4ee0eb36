"""The parser's place in the tokens: looking, stepping, and failing in Lean's words."""

from typing import NoReturn

from nanolean.lexer import BAD, EOF, IDENT, Tokens

MAX_DEPTH = 100  # nested terms and blocks; each costs the parser and the elaborator a few Python frames
MAX_CHAIN = 100  # things in a row that nest: `a + b + ..`, `h.1.1..`, `t <;> t ..`, `∀ x y ..`
NO_COLUMN = -1


class Cursor:
    """A place in the tokens of one text. Methods that read something leave the cursor behind it."""

    def __init__(self, source: str) -> None:
        self.tokens = Tokens(source)
        self.kinds = self.tokens.kinds
        self.texts = self.tokens.texts
        self.starts = self.tokens.starts
        self.ends = self.tokens.ends
        self.cols = self.tokens.cols
        self.i = 0
        self.depth = 0
        # The column of the enclosing block: what belongs to one of its tactics stands to the right of it.
        self.column = NO_COLUMN

    def fail(self, expected: str) -> NoReturn:
        """Raise at the current token."""
        kind, text, start = self.kinds[self.i], self.texts[self.i], self.starts[self.i]
        if kind == EOF:
            found = "unexpected end of input"
        elif kind == BAD:
            found = text if len(text) > 1 else f"unexpected character {text!r}"
        elif kind == IDENT:
            found = f"unexpected identifier '{text}'"
        else:
            found = f"unexpected token '{text}'"
        raise self.tokens.error(f"{found}; expected {expected}", start)

    def refuse(self, what: str) -> NoReturn:
        """Raise at the current token for something that Lean has and NanoLean does not."""
        raise self.tokens.error(f"{what} not supported", self.starts[self.i])

    def accept(self, *texts: str) -> bool:
        """Step over the current token if it is one of `texts`."""
        if self.texts[self.i] in texts:
            self.i += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if self.texts[self.i] != text:
            self.fail(f"'{text}'")
        self.i += 1

    def pos(self) -> int:
        """Where the current token starts."""
        return self.starts[self.i]

    def last_end(self) -> int:
        """Where the token before the current one ends."""
        return self.ends[self.i - 1] if self.i else 0

    def spaced(self) -> bool:
        """Whether something skipped stands between the last token and the current one."""
        return self.i == 0 or self.starts[self.i] > self.ends[self.i - 1]

    def on_new_line(self) -> bool:
        return self.i == 0 or "\n" in self.tokens.source[self.ends[self.i - 1] : self.starts[self.i]]

    def indented(self) -> bool:
        """Whether the current token stands to the right of the enclosing block's column."""
        return self.cols[self.i] > self.column

    def enter(self) -> None:
        """Count one more level of nesting; whoever enters does `self.depth -= 1` when done."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.tokens.error(f"nested more than {MAX_DEPTH} deep", self.pos())

    def check_chain(self, count: int) -> None:
        """Raise when a chain has become too long."""
        if count > MAX_CHAIN:
            raise self.tokens.error(f"a chain of more than {MAX_CHAIN} links", self.pos())

    def name(self, what: str = "identifier") -> str:
        """An identifier, dots allowed."""
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
