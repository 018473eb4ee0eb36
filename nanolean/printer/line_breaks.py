"""Line breaking as Lean's formatter does it, and what printing needs to know about constants."""

import re
from dataclasses import dataclass

from nanolean.kernel.declaration import AxiomInfo, ConstantInfo, Constants, CtorInfo, InductiveInfo, TheoremInfo
from nanolean.kernel.expr import PROP, BVar, Const, Expr, Pi, get_app_args, get_app_fn

OPEN, CLOSE, LINE, BREAK = "\x01", "\x02", "\x03", "\x04"
WIDTH = 120
INDENT = 2

_FLAT = {ord(OPEN): None, ord(CLOSE): None, ord(LINE): " ", ord(BREAK): "\n"}
_PIECE = re.compile(r"[\x01-\x04\n]|[^\x01-\x04\n]+")


def flat(marked: str) -> str:
    """Lay out the text on one line (but for the breaks that must be)."""
    return marked.translate(_FLAT)


def lay_out(marked: str, column: int = 0, indent: int = 0, rest: int = 0, width: int = WIDTH) -> str:
    """Lay out the text in lines of at most `width` columns where possible.

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
        """Return whether the item from `start` to the next break outside of nested groups fits at `column`."""
        depth, pieces = 0, self.pieces
        for place in range(start, len(pieces)):  # not a copy of the rest: of a huge goal that takes minutes
            piece = pieces[place]
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


@dataclass(frozen=True, slots=True)
class Signature:
    """How applications of a constant print."""

    infos: tuple[str, ...]
    """The binder info of each argument that its type shows."""
    dot: int | None
    """The argument that is written in front of the dot in `x.f`, if the constant prints that way."""
    is_proof: bool
    """Whether a full application is a proof."""
    result: Expr
    """What its type says behind the arguments, with loose indices for them."""


PLAIN = Signature((), None, False, PROP)


def telescope(type_: Expr) -> tuple[list[Pi], Expr]:
    """Split a type into its leading binders and the rest."""
    binders = []
    while isinstance(type_, Pi):
        binders.append(type_)
        type_ = type_.body
    return binders, type_


def signature_of(env: Constants, name: str) -> Signature:
    """Return the signature of a constant; `PLAIN` for a name that the environment does not have."""
    info = env.get(name)
    if info is None:
        return PLAIN
    binders, result = telescope(info.type)
    is_proof = _is_proof(env, info, result)
    dot = _dot_argument(env, name, binders, is_proof)
    return Signature(tuple(binder.info or "default" for binder in binders), dot, is_proof, result)


def result_sort_is_prop(env: Constants, head: Const, args: list[Expr]) -> bool:
    """Return whether a constant applied to arguments is a proposition, as far as its type tells without computing."""
    info = env.get(head.name)
    if info is None:
        return False
    type_ = info.type
    for _ in args:
        if not isinstance(type_, Pi):
            return False
        type_ = type_.body
    if isinstance(type_, BVar):
        return type_.idx < len(args) and args[len(args) - 1 - type_.idx] is PROP
    return type_ is PROP


def _is_proof(env: Constants, info: ConstantInfo, result: Expr) -> bool:
    match info:
        case TheoremInfo():
            return True
        case CtorInfo(induct=induct):
            family = env.get(induct)
            return isinstance(family, InductiveInfo) and family.is_prop
        case AxiomInfo():
            head = get_app_fn(result)
            return isinstance(head, Const) and result_sort_is_prop(env, head, get_app_args(result))
        case _:
            return False


def _dot_argument(env: Constants, name: str, binders: list[Pi], is_proof: bool) -> int | None:
    """Lean's rule: a field of a structure, or no proof and the first explicit argument lives in the namespace."""
    namespace, _, field = name.rpartition(".")
    if not namespace:
        return None
    structure = env.get(namespace)
    if isinstance(structure, InductiveInfo) and structure.is_structure:
        ctor = env.get(structure.ctors[0])
        fields = telescope(ctor.type)[0][structure.num_params :] if ctor is not None else []
        place = structure.num_params
        if any(binder.name == field for binder in fields) and place < len(binders):
            return place if binders[place].info in ("default", "") else None
    if is_proof:
        return None
    for place, binder in enumerate(binders):
        if binder.name == "motive":
            return None
        if binder.info in ("default", ""):
            head = get_app_fn(binder.type)
            return place if isinstance(head, Const) and head.name == namespace else None
    return None
