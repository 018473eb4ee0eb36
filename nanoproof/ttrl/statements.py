"""Statements as text: binders and claim of a theorem, its operators, names in it, and goals stated as theorems.

All of it works on the text alone, for real Lean and NanoLean alike, so what is made here is a guess that Lean has to
accept before anything is done with it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from nanoproof.lean.lexical import ASCII_SYMBOLS, ATOM, CLOSING, NAME_REST, OPENING, find_top_level, mask
from nanoproof.lean.source import parse_declaration
from nanoproof.lean.types import Goal, SourceError

_CLOSED_BY = {"(": ")", "{": "}", "[": "]", "⦃": "⦄"}
_RELATIONS = ("=", "≠", "<", "≤", ">", "≥", "∣", "≡", "∈", "∉", "⊆", "⊂", "≈", "∼", "~")
_PRECEDENCE = {"↔": 20, "→": 25, "∨": 30, "∧": 35} | dict.fromkeys(_RELATIONS, 50)
"""How tightly operators between propositions bind, as in Lean's `Prelude` (a negation stands above them all)."""
_ASCII = {**ASCII_SYMBOLS, "!=": "≠"}
_OPERATOR = re.compile(
    rf"<\|>|<\||\|>|<;>|=>|:=|==|<->|->|\\/|/\\|<=|>=|!=|(?:∃!|[∀∃λ∑∏∫])|[{''.join(_PRECEDENCE)}]|{ATOM}"
)
_SWALLOW = frozenset(("∀", "∃", "∃!", "λ", "∑", "∏", "∫", "fun", "let", "have", "if", "match", "show", "by", "<|"))
"""What is not over until its bracket closes: the operators behind it are part of it."""
_BOUND = re.compile(r"(?:∃!|[∀∃λ∑∏∫]|(?<![\w.'])(?:fun|let|have|match)(?![\w.']))(?P<names>[^,⟩]*?)(?:,|=>|:=|\Z)")
_NAME = re.compile(ATOM)
_UNIVERSE = re.compile(r"(?<![\w.'])(Type|Sort) (?:u|v|w)_\d+|(?<![\w.'])(Type|Sort) \(max [^()]*\)")
_INACCESSIBLE = re.compile(rf"({ATOM})✝[⁰¹²³⁴⁵⁶⁷⁸⁹]*")


@dataclass(frozen=True)
class Binder:
    """Names bound with one type (empty: none is written), in brackets of the kind that `opening` begins."""

    names: tuple[str, ...]
    type: str
    opening: str = "("

    def __str__(self) -> str:
        inside = " ".join(self.names)
        if self.type:
            inside = f"{inside} : {self.type}" if inside else self.type
        return f"{self.opening}{inside}{_CLOSED_BY[self.opening]}"


@dataclass(frozen=True)
class Statement:
    """A statement in parts: `before` is the text in front of the declaration, `universes` what follows its name."""

    binders: tuple[Binder, ...]
    claim: str
    before: str = ""
    universes: str = ""

    def source(self, name: str) -> str:
        """Write the statement as a theorem without its proof."""
        binders = "".join(f" {binder}" for binder in self.binders)
        return f"{self.before}theorem {name}{self.universes}{binders} : {self.claim} := by\n  sorry"

    @property
    def text(self) -> str:
        """The statement alone, in one line: equal for those that are the same text."""
        return " ".join(f"{' '.join(map(str, self.binders))} : {self.claim}".split())

    @property
    def names(self) -> list[str]:
        """All bound names in order."""
        return [name for binder in self.binders for name in binder.names]

    def fresh(self, stem: str) -> str:
        """Return a name that occurs nowhere in the statement: `stem`, or with a number."""
        used = set(_NAME.findall(self.text))
        name, number = stem, 0
        while name in used:
            number += 1
            name = f"{stem}{number}"
        return name

    def mentions(self, name: str, after: int = -1) -> bool:
        """Tell whether a name occurs in the types behind the binder number `after`, or in the claim."""
        texts = [*(binder.type for binder in self.binders[after + 1 :]), self.claim]
        return any(has_word(text, name) for text in texts)

    def binds_inside(self, name: str) -> bool:
        """Tell whether a quantifier within a type or the claim binds the name (or may do so)."""
        texts = [*(binder.type for binder in self.binders), self.claim]
        return any(name in bound_names(text) for text in texts)


# -- Reading a declaration -------------------------------------------------------------------------------------------


def parse_statement(source: str) -> Statement:
    """Read the statement of a theorem's source. Raises `SourceError` where its text has no parts that are known."""
    # In the masked text comments and strings are blank, at the same places: a colon in a comment is none of Lean's.
    declaration, masked = parse_declaration(source), mask(source)
    colon = find_top_level(masked, ":", declaration.head_end)
    if colon < 0 or colon > declaration.assign:
        raise SourceError("the declaration has no stated type")
    if '"' in source[declaration.head_end : declaration.assign]:
        raise SourceError("a statement with a string literal is not taken apart")
    universes = ""
    match = re.search(r"\.\{[^}]*\}$", source[declaration.keyword : declaration.head_end])
    if match is not None:
        universes = match.group()
    binders = parse_binders(masked[declaration.head_end : colon])
    claim = " ".join(masked[colon + 1 : declaration.assign].split())
    return telescoped(Statement(binders, claim, source[: declaration.start], universes))


def parse_binders(text: str) -> tuple[Binder, ...]:
    """Read binders such as `(a b : Nat) {α : Type} [Group α] x`. Raises `SourceError` for others."""
    binders, position = [], 0
    while position < len(text):
        char = text[position]
        if char.isspace():
            position += 1
        elif char in _CLOSED_BY:
            end = _closing(text, position)
            binders.append(_binder(text[position + 1 : end - 1], char))
            position = end
        elif match := _NAME.match(text, position):
            binders.append(Binder((match.group(),), ""))
            position = match.end()
        else:
            raise SourceError(f"not a binder: {text[position : position + 40]!r}")
    return tuple(binders)


def _binder(inside: str, opening: str) -> Binder:
    colon = find_top_level(inside, ":")
    if colon < 0:
        if opening == "[":
            return Binder((), " ".join(inside.split()), opening)
        return Binder(tuple(inside.split()), "", opening)
    if ":=" in inside:
        raise SourceError(f"a binder with a default value is not taken apart: {inside!r}")
    return Binder(tuple(inside[:colon].split()), " ".join(inside[colon + 1 :].split()), opening)


def _closing(text: str, start: int) -> int:
    """Find the end of the bracket that opens at `start`."""
    depth = 0
    for position in range(start, len(text)):
        depth += (text[position] in OPENING) - (text[position] in CLOSING)
        if depth == 0:
            return position + 1
    raise SourceError(f"a bracket is never closed: {text[start : start + 40]!r}")


def telescoped(statement: Statement) -> Statement:
    """Move leading `∀ ..,` and `A →` of the claim to the binders, as far as names do not clash."""
    while True:
        claim = without_brackets(statement.claim)
        statement = replace(statement, claim=claim)
        parts = split(claim)
        moved: Statement | None = None
        if claim.startswith("∀"):
            moved = _quantified(statement)
        elif parts is not None and parts.symbol == "→":
            hypothesis = Binder((statement.fresh("h"),), without_brackets(parts.left))
            moved = replace(statement, binders=(*statement.binders, hypothesis), claim=parts.right)
        if moved is None:
            return statement
        statement = moved


def _quantified(statement: Statement) -> Statement | None:
    claim = statement.claim
    comma = _top_comma(claim)
    inside = claim[1:comma].strip()
    if comma < 0:
        return None
    try:
        binders: tuple[Binder, ...]
        if inside[:1] in _CLOSED_BY:
            binders = parse_binders(inside)
        else:  # `∀ x y : Nat,` has no brackets
            binders = (_binder(inside, "("),)
    except SourceError:
        return None
    names = [name for binder in binders for name in binder.names]
    if any(not _NAME.fullmatch(name) or name in statement.names for name in names):
        return None  # `∀ x < 3,`, or a name that is bound before
    return replace(statement, binders=(*statement.binders, *binders), claim=claim[comma + 1 :].strip())


def _top_comma(text: str) -> int:
    """Find the first comma outside of brackets; -1 if there is none."""
    depth = 0
    for position, char in enumerate(text):
        depth += (char in OPENING) - (char in CLOSING)
        if char == "," and depth == 0:
            return position
    return -1


# -- Formulas --------------------------------------------------------------------------------------------------------


def without_brackets(text: str) -> str:
    """Remove parentheses around the whole text."""
    text = text.strip()
    while text.startswith("(") and _closing(text, 0) == len(text) and find_top_level(text[1:-1], ":") < 0:
        text = text[1:-1].strip()
    return text


def operators(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield each operator between propositions outside of brackets, with start and end, up to a quantifier."""
    depth, position = 0, 0
    while position < len(text):
        char = text[position]
        match = _OPERATOR.match(text, position)
        if char in OPENING:
            depth += 1
        elif char in CLOSING:
            depth -= 1
        elif match is not None and depth == 0:
            symbol = _ASCII.get(match.group(), match.group())
            if symbol in _SWALLOW:
                return
            if symbol in _PRECEDENCE:
                yield symbol, position, match.end()
        if match is None:
            position += 1
        else:  # behind the whole name or symbol: the `<` of `<;>` is none
            position = match.end()


class Split(NamedTuple):
    """A formula in parts: an operator between propositions, in its Unicode form, and its two sides."""

    symbol: str
    left: str
    right: str


def split(text: str) -> Split | None:
    """Split a formula at its loosest operator; None if it has none.

    Of several equal ones it is the first: `→`, `∨` and `∧` group to the right.
    """
    loosest = min(operators(text), key=lambda operator: _PRECEDENCE[operator[0]], default=None)
    if loosest is None:
        return None
    symbol, start, end = loosest
    # `¬ a = b` is `¬ (a = b)` (precedence 50 of `=`, 40 of the operand of `¬`), while `¬ a ∧ b` is `(¬ a) ∧ b`.
    if text.lstrip().startswith("¬") and _PRECEDENCE[symbol] >= 50:
        return None
    left, right = text[:start].strip(), text[end:].strip()
    if not left or not right:
        return None
    return Split(symbol, left, right)


def has_word(text: str, name: str) -> bool:
    """Tell whether a local name occurs in a text as a word."""
    return _word(name).search(text) is not None


def substitute(text: str, terms: Mapping[str, str]) -> str:
    """Replace local names by terms, which must be in brackets unless they are single words."""
    for name, term in terms.items():
        text = _word(name).sub(term.replace("\\", r"\\"), text)
    return text


def _word(name: str) -> re.Pattern[str]:
    # Not behind a dot, where it is the last part of another name, nor behind `?`, of a metavariable.
    return re.compile(rf"(?<![{NAME_REST}.?]){re.escape(name)}(?![{NAME_REST}✝])")


def bound_names(text: str) -> set[str]:
    """Collect the names that quantifiers, `fun` and `let` within the text bind, and maybe a few more."""
    names: set[str] = set()
    for match in _BOUND.finditer(text):
        names.update(_NAME.findall(match["names"]))
    return names


# -- Goals of a search as statements ---------------------------------------------------------------------------------


def goal_statement(goal: Goal, before: str = "", added: Sequence[Binder] = (), claim: str | None = None) -> Statement:
    """State a goal as a theorem: its hypotheses, inaccessible ones under new names, as binders.

    `added` are binders behind them, `claim` is what to state in place of the target. Raises `SourceError` for goals
    with metavariables or `let`s, which cannot stand alone.
    """
    if any(hypothesis.value is not None for hypothesis in goal.hypotheses):
        raise SourceError("a goal with a `let` is not stated as a theorem")
    if claim is None:
        claim = goal.type
    if "?" in goal.untagged_text or "?" in claim:
        raise SourceError("a goal with metavariables is not stated as a theorem")
    names = _accessible(goal, claim)

    def readable(text: str) -> str:
        text = _INACCESSIBLE.sub(lambda match: names.get(match.group(), match.group()), " ".join(text.split()))
        # Lean prints levels that a goal does not declare, `Type u_1`; a theorem has it find them again.
        return _UNIVERSE.sub(lambda match: f"{match[1] or match[2]} _", text)

    binders = []
    for hypothesis in goal.hypotheses:
        name, opening = names.get(hypothesis.user_name, hypothesis.user_name), "("
        if hypothesis.user_name.startswith("inst✝"):  # how Lean names an instance without a name, `[Group α]`
            opening = "["
        binders.append(Binder((name,), readable(hypothesis.type), opening))
    binders += [replace(binder, type=readable(binder.type)) for binder in added]
    statement = Statement(tuple(binders), readable(claim), before)
    # Otherwise a name in a type would mean another variable than it does in the goal.
    if "✝" in statement.text or len(set(statement.names)) < len(statement.names):
        raise SourceError("a goal with names that are hidden twice is not stated as a theorem")
    return statement


def _accessible(goal: Goal, claim: str) -> dict[str, str]:
    """Choose new names for the inaccessible ones of a goal."""
    used = set(_NAME.findall(f"{goal.untagged_text} {claim}"))
    names: dict[str, str] = {}
    for hypothesis in goal.hypotheses:
        match = _INACCESSIBLE.fullmatch(hypothesis.user_name)
        if match is None:
            continue
        number = 1
        while f"{match[1]}_{number}" in used:
            number += 1
        names[hypothesis.user_name] = f"{match[1]}_{number}"
        used.add(f"{match[1]}_{number}")
    return names
