"""Line breaking, as Lean's formatter does it for terms.

The printer marks where a text may be broken: `OPEN` and `CLOSE` around what belongs together (indented by two when it
breaks), `LINE` for a space that may become a new line, a line break for one that must be, and `BREAK` for a line
break that must be, indented by one group less (the alternatives of `match`). Most texts fit and only lose
their marks. In the others each group is filled: a break comes only where the next item, nested groups taken whole,
would not fit, or where the item before had to be broken itself.
"""

import re

OPEN, CLOSE, LINE, BREAK = "\x01", "\x02", "\x03", "\x04"
WIDTH = 120
INDENT = 2

_FLAT = {ord(OPEN): None, ord(CLOSE): None, ord(LINE): " ", ord(BREAK): "\n"}
_PIECE = re.compile(r"[\x01-\x04\n]|[^\x01-\x04\n]+")


def flat(marked: str) -> str:
    """The text on one line (but for the breaks that must be)."""
    return marked.translate(_FLAT)


def lay_out(marked: str, column: int = 0, indent: int = 0, rest: int = 0, width: int = WIDTH) -> str:
    """The text in lines of at most `width` columns where possible.

    It starts at `column`, continuation lines are indented by `indent` and two more for each group, and `rest` columns
    must stay free behind its last line.
    """
    text = flat(marked)
    if column + len(text) + rest <= width and "\n" not in text:
        return text
    return _Filler(_PIECE.findall(OPEN + marked + CLOSE), column, indent, rest, width).fill()


class _Filler:
    def __init__(self, pieces: list[str], column: int, indent: int, rest: int, width: int) -> None:
        self.pieces = pieces
        self.column = column
        self.indent = indent
        self.rest = rest
        self.width = width
        self.out: list[str] = []

    def fits(self, start: int, column: int) -> bool:
        """Whether the item from `start` to the next break outside of nested groups fits at `column`."""
        depth = 0
        for piece in self.pieces[start:]:
            if piece == OPEN:
                depth += 1
            elif piece == CLOSE:
                depth -= 1
            elif piece == BREAK:
                return depth <= 0 and column <= self.width
            elif piece == "\n" or (piece == LINE and depth <= 0):
                return column <= self.width
            else:
                column += 1 if piece == LINE else len(piece)
                if column > self.width:
                    return False
        return column + self.rest <= self.width

    def fill(self) -> str:
        fitted: list[bool] = []  # for each open group: did its last item fit on one line
        for i, piece in enumerate(self.pieces):
            if piece == OPEN:
                fitted.append(self.fits(i + 1, self.column))
            elif piece == CLOSE:
                fitted.pop()
            elif piece == LINE and fitted[-1] and self.fits(i + 1, self.column + 1):
                self.out.append(" ")
                self.column += 1
            elif piece in (LINE, "\n", BREAK):
                self.column = self.indent + INDENT * (len(fitted) - (piece == BREAK))
                self.out.append("\n" + " " * self.column)
                fitted[-1] = self.fits(i + 1, self.column)
            else:
                self.out.append(piece)
                self.column += len(piece)
        return "".join(self.out)
