"""What ends a block of tactics: our few lexical rules against a slow lexer that follows Lean's letter by letter."""

import random

from nanolean.tests.each import each
from nanoproof.lean.forbidden import block_reason

PIECES = [
    *("(", ")", "(", ")", " ", " ", "\n", "x", "x'", "'", "''", '"', '"', "\\", "--", "-", "/-", "-/", "/--", "/-!"),
    *("«", "»", 'r"', 'r#"', '"#', "#", "5", 's!"', "{", "}", "<", "'('", "')'", "'\"'", "'\\''", "(by x", "⟨", "⟩"),
]
COUNT = 15_000


class Unreadable(Exception):
    """Lean's lexer, or the parser behind it, stops with an error."""


class Lexer:
    """Lean's whitespace and tokens, with operators that might hold dashes (`<--`); `depths` are those of `)`."""

    def __init__(self, text: str) -> None:
        self.text = text + "\n"
        self.at = 0
        self.depth = 0
        self.lowest = 0

    def run(self, until: str = "") -> None:
        """Read to the end, or to the character that ends a hole of a string."""
        while self.at < len(self.text):
            if until and self.text.startswith(until, self.at):
                return
            self.token()
        if until:
            raise Unreadable

    def token(self) -> None:
        text, at = self.text, self.at
        char = text[at]
        if char in " \n":
            self.at += 1
        elif text.startswith("--", at):
            self.at = text.index("\n", at)
        elif text.startswith("/-", at):
            self.comment()
        elif text.startswith(("<--", "</-"), at):
            self.at += 3
        elif text.startswith("-/", at):
            self.at += 2
        elif char == '"':
            self.string()
        elif char == "r" and self.raw():
            pass
        elif text.startswith('s!"', at):
            self.at += 2
            self.string(holes=True)
        elif char == "«":
            end = text.find("»", at)
            if end < 0:
                raise Unreadable
            self.at = end + 1
        elif char.isalpha():
            while self.at < len(text) and (text[self.at].isalnum() or text[self.at] in "'_"):
                self.at += 1
        elif char == "'" and text[at + 1] != "'":
            self.at += 3 if text[at + 1] == "\\" else 2
            if not text.startswith("'", self.at):
                raise Unreadable
            self.at += 1
        elif char == "'":
            self.at += 2
        else:
            self.depth += (char == "(") - (char == ")")
            self.lowest = min(self.lowest, self.depth)
            self.at += 1

    def comment(self) -> None:
        nesting, self.at = 1, self.at + (3 if self.text[self.at + 2] in "-!" else 2)
        while nesting:
            if self.at >= len(self.text):
                raise Unreadable
            if self.text.startswith(("/-", "-/"), self.at):
                nesting += 1 if self.text[self.at] == "/" else -1
                self.at += 1
            self.at += 1

    def string(self, holes: bool = False) -> None:
        self.at += 1
        while not self.text.startswith('"', self.at):
            if self.at >= len(self.text):
                raise Unreadable
            if holes and self.text[self.at] == "{":
                self.at += 1
                self.run(until="}")
            self.at += 2 if self.text[self.at] == "\\" else 1
        self.at += 1

    def raw(self) -> bool:
        hashes = 0
        while self.text.startswith("#", self.at + 1 + hashes):
            hashes += 1
        if not self.text.startswith('"', self.at + 1 + hashes):
            return False
        end = self.text.find('"' + "#" * hashes, self.at + 2 + hashes)
        if end < 0:
            raise Unreadable
        self.at = end + 1 + hashes
        return True


def is_one_block(text: str) -> bool:
    """Whether Lean would find a parenthesis that stands before the text closed by one that stands behind it."""
    lexer = Lexer(text)
    try:
        lexer.run()
    except (Unreadable, IndexError, ValueError):
        return True  # an error of Lean, which refuses the whole text
    return lexer.lowest == 0 and lexer.depth == 0


def test_what_passes_is_one_block_for_lean_too() -> None:
    rng = random.Random(0)
    passed = 0
    for _ in range(COUNT):
        text = "".join(rng.choices(PIECES, k=rng.randint(1, 14)))
        if block_reason(text) is None:
            passed += 1
            assert is_one_block(text), repr(text)
    assert passed > COUNT // 20


ESCAPES = [
    "x) (x",
    "x'--' (\n) (x'--' )",
    '"(" )(',
    '5r"\\" ) ( "x"',
    "f '(' )( ')'",
    "<-- )(",
    '"\\\\" )(',
    "«(» )(",
]


@each("text", ESCAPES)
def test_the_lexer_of_this_test_sees_what_it_should(text: str) -> None:
    assert not is_one_block(text)
    assert block_reason(text) is not None
