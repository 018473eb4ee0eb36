"""Formulas and number terms of the problem generator: plain tuples, how they print, and how they are rewritten.

Number terms: `("var", name)`, `("num", k)`, `(op, s, t)` with op one of `+ * ^ -`, `("fn", f, t)`. Lists: also
`("++", s, t)`, `("::", x, t)`, `("fn", "List.map", f, t)`; `("app", f, t)` applies a variable.
Formulas: `("atom", name, *args)`, `("false",)`, `("not", p)`, `(op, p, q)` with op one of `∧ ∨ → ↔`, `("raw", text)`
for what is only shown, `(rel, s, t)` with rel one of `= ≠ < ≤ ∣`, and `("all" | "ex", x, body)` over natural numbers.
Tuples hash and compare by structure, which is all that the generator needs.
"""

from collections.abc import Iterator

Term = tuple
Formula = tuple

FALSE: Formula = ("false",)
NUMBER_OPS = ("+", "*", "^", "-")
RELATIONS = ("=", "≠", "<", "≤", "∣")
CONNECTIVES = ("∧", "∨", "→", "↔")

# (own precedence, precedence asked of the left side, of the right side), as in Lean 4.
_PRECEDENCE = {
    "^": (75, 76, 75),
    "*": (70, 70, 71),
    "+": (65, 65, 66),
    "-": (65, 65, 66),
    "++": (65, 65, 66),
    "::": (67, 68, 67),
    "=": (50, 51, 51),
    "≠": (50, 51, 51),
    "<": (50, 51, 51),
    "≤": (50, 51, 51),
    "∣": (50, 51, 51),
    "∧": (35, 36, 35),
    "∨": (30, 31, 30),
    "→": (25, 26, 25),
    "↔": (20, 21, 21),
}
_MAX = 1024


def var(name: str) -> Term:
    """A number variable."""
    return ("var", name)


def num(value: int) -> Term:
    """A numeral."""
    return ("num", value)


def atom(name: str, *args: Term) -> Formula:
    """A proposition variable, or a predicate applied to number terms."""
    return ("atom", name, *args)


def raw(text: str) -> Formula:
    """A formula that is only shown, never taken apart."""
    return ("raw", text)


def show(e: tuple, precedence: int = 0) -> str:
    """Prints with the fewest parentheses that Lean's grammar allows."""
    head = e[0]
    if head in ("var", "raw"):
        return e[1]
    if head == "num":
        return str(e[1])
    if head == "false":
        return "False"
    if head in ("fn", "atom"):
        if len(e) == 2:
            return e[1]
        return _wrap(" ".join([e[1], *(show(a, _MAX) for a in e[2:])]), precedence > _MAX - 1)
    if head == "app":
        return _wrap(" ".join(show(a, _MAX) for a in e[1:]), precedence > _MAX - 1)
    if head == "not":
        return f"¬{show(e[1], 40)}"
    if head in ("all", "ex"):
        return _wrap(f"{'∀' if head == 'all' else '∃'} {e[1]} : Nat, {show(e[2])}", precedence > 0)
    own, left, right = _PRECEDENCE[head]
    return _wrap(f"{show(e[1], left)} {head} {show(e[2], right)}", precedence > own)


def _wrap(text: str, parentheses: bool) -> str:
    return f"({text})" if parentheses else text


def arg(e: tuple) -> str:
    """Prints as the argument of an application."""
    return show(e, _MAX)


def substitute(e: tuple, name: str, value: Term) -> tuple:
    """Replaces the number variable `name`; bound names are chosen fresh by the generator, so nothing is captured."""
    head = e[0]
    if head == "var":
        return value if e[1] == name else e
    if head in ("num", "false", "raw"):
        return e
    if head in ("all", "ex"):
        return e if e[1] == name else (head, e[1], substitute(e[2], name, value))
    start = 2 if head in ("fn", "atom") else 1
    return (*e[:start], *(substitute(a, name, value) for a in e[start:]))


def replace(e: tuple, old: tuple, new: tuple) -> tuple:
    """Replaces every occurrence of the term `old`, as `rw` does."""
    if e == old:
        return new
    head = e[0]
    if head in ("var", "num", "false", "raw"):
        return e
    start = 2 if head in ("fn", "atom", "all", "ex") else 1
    return (*e[:start], *(replace(a, old, new) for a in e[start:]))


def subterms(e: tuple) -> Iterator[tuple]:
    """The term and everything below it, outermost first, left before right (the order in which `rw` looks)."""
    yield e
    if e[0] in ("var", "num", "false", "raw"):
        return
    start = 2 if e[0] in ("fn", "atom", "all", "ex") else 1
    for child in e[start:]:
        yield from subterms(child)


def variables(e: tuple) -> set[str]:
    """The free number variables."""
    head = e[0]
    if head == "var":
        return {e[1]}
    if head in ("num", "false", "raw"):
        return set()
    if head in ("all", "ex"):
        return variables(e[2]) - {e[1]}
    start = 2 if head in ("fn", "atom") else 1
    return set().union(*(variables(a) for a in e[start:])) if len(e) > start else set()


def match(pattern: tuple, target: tuple, holes: set[str], found: dict[str, Term]) -> dict[str, Term] | None:
    """First-order matching of the variables in `holes`; gives the extended substitution or None."""
    if pattern[0] == "var" and pattern[1] in holes:
        known = found.get(pattern[1])
        if known is None:
            return {**found, pattern[1]: target}
        return found if known == target else None
    if pattern[0] != target[0] or len(pattern) != len(target):
        return None
    if pattern[0] in ("var", "num", "false", "raw"):
        return found if pattern == target else None
    start = 2 if pattern[0] in ("fn", "atom", "all", "ex") else 1
    if pattern[:start] != target[:start]:
        return None
    for a, b in zip(pattern[start:], target[start:], strict=True):
        result = match(a, b, holes, found)
        if result is None:
            return None
        found = result
    return found
