"""Notation that parser and printer share: operators with Lean 4's precedences, and what constants they stand for."""

from typing import NamedTuple

MAX_PREC = 1024  # what can be an argument
LEAD_PREC = 1023  # `∀ x, p` and the like: an operand, but no argument without parentheses
ARROW_PREC = 25
NOT_PREC = 40  # what `¬` and `!` reach for


class Operator(NamedTuple):
    """A binary operator: its own precedence, and what it demands of the terms on its left and right."""

    symbol: str
    prec: int
    left: int
    right: int


def _infix(prec: int, *symbols: str) -> list[Operator]:
    return [Operator(symbol, prec, prec + 1, prec + 1) for symbol in symbols]


def _infixl(prec: int, *symbols: str) -> list[Operator]:
    return [Operator(symbol, prec, prec, prec + 1) for symbol in symbols]


def _infixr(prec: int, *symbols: str) -> list[Operator]:
    return [Operator(symbol, prec, prec + 1, prec) for symbol in symbols]


_ALL = [
    Operator("<|", 10, 0, 10),
    *_infixl(10, "|>"),
    *_infix(20, "↔"),
    Operator("→", ARROW_PREC, 0, ARROW_PREC),
    *_infixr(30, "∨"),
    *_infixl(30, "||"),
    *_infixr(35, "∧", "×"),
    *_infixl(35, "&&"),
    *_infix(50, "=", "≠", "==", "!=", "<", ">", "≤", "≥", "∣", "∈", "∉"),
    *_infixl(65, "+", "-", "++"),
    *_infixr(67, "::"),
    *_infixl(70, "*", "/", "%"),
    *_infixr(75, "^"),
    Operator("▸", 75, 75, 75),
    *_infixr(90, "∘"),
]
OPERATORS = {operator.symbol: operator for operator in _ALL}
ASCII = {"->": "→", "$": "<|", "<->": "↔", "\\/": "∨", "/\\": "∧", "<=": "≤", ">=": "≥"}

# constant -> (number of arguments, operator); the operands are the last two arguments
INFIX: dict[str, tuple[int, Operator]] = {
    name: (count, OPERATORS[symbol])
    for name, count, symbol in [
        ("Iff", 2, "↔"),
        ("Or", 2, "∨"),
        ("or", 2, "||"),
        ("And", 2, "∧"),
        ("and", 2, "&&"),
        ("Eq", 3, "="),
        ("Ne", 3, "≠"),
        ("Nat.le", 2, "≤"),
        ("Nat.lt", 2, "<"),
        ("Nat.ge", 2, "≥"),
        ("Nat.gt", 2, ">"),
        ("Nat.dvd", 2, "∣"),
        ("Nat.beq", 2, "=="),
        ("BEq.beq", 4, "=="),
        ("List.Mem", 3, "∈"),
        ("Nat.add", 2, "+"),
        ("Nat.sub", 2, "-"),
        ("List.append", 3, "++"),
        ("List.cons", 3, "::"),
        ("Nat.mul", 2, "*"),
        ("Nat.div", 2, "/"),
        ("Nat.mod", 2, "%"),
        ("Nat.pow", 2, "^"),
        ("Function.comp", 5, "∘"),
        ("Prod", 2, "×"),
    ]
}
CLASS_OPERATIONS = frozenset(
    [name for name in INFIX if name.startswith(("Nat.", "BEq."))] + ["List.append", "List.Mem", "Min.min", "Max.max"]
)
"""Constants that stand for operations of type classes in Lean, where no tactic can unfold them by these names."""
# Constants that Lean exports to the root: they are written and print without their namespace.
EXPORTED = {
    "Bool.true": "true",
    "Bool.false": "false",
    "Decidable.decide": "decide",
    "Decidable.isTrue": "isTrue",
    "Decidable.isFalse": "isFalse",
    "Option.some": "some",
    "Option.none": "none",
    "Min.min": "min",
    "Max.max": "max",
}
