"""The overlap of two sets of Lean text: equal names, equal statements in a normal form, shared 13-grams of words.

    index = Index(pieces_of_b)
    for piece in pieces_of_a:
        for hit in index.hits(piece): ...

`nanoproof.data.contamination` reports it, and the build of leangithubraw leaves out files with benchmark theorems.

No Lean runs here: what counts as equal is decided by the text alone. The normal form (`normal_form`) ignores: comments,
white space and line breaks; the theorem's name, attributes and universes; the names of binders (variables, hypotheses,
bound variables, instances); `(a b : T)` for `(a : T) (b : T)`; a leading `∀` for binders before the colon; ASCII for
Unicode (`->`, `<=`, `fun x =>`, ..), `Real` for `ℝ` and the like, `∑ i in s` for `∑ i ∈ s`; prefixes of dotted names
(`Real.sqrt`, `sqrt`). It does not ignore: the order of binders, a hypothesis before the colon for one before an arrow,
`variable` lines, notation, definitions, or anything that needs elaboration.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Literal

from nanoproof.lean.declarations import outline
from nanoproof.lean.lexical import ATOM, NAME_START, mask
from nanoproof.lean.types import Theorem

_PART = f"(?:{ATOM}|[0-9]+|«[^«»\\n]*»)"
_UNIVERSES = re.compile(r"\.\{[^}]*\}")
_TOKEN = re.compile(
    rf"{ATOM}(?:\.{_PART})*|«[^«»\n]*»|[0-9]+(?:\.[0-9]+)?|<->|->|<-|<=|>=|!=|=>|:=|/\\|\\/|∃!|\.\.\.?|\S"
)
_WORD = re.compile(r"\w+|[^\w\s]")
_FIRST = re.compile(f"[{NAME_START}«]")

LONGEST = 20_000
"""Characters of the longest statement that has a normal form."""
GRAM = 13
"""Words of an n-gram."""
SHORT_FORM = 3
"""Statements with fewer tokens than this (`: p`) are too common, so they are never equal."""

# What Lean reads alike: signs of ASCII and their Unicode, and the notations of Mathlib for types of numbers.
_PLAIN = {"->": "→", "<-": "←", "<=": "≤", ">=": "≥", "!=": "≠", "=>": "↦", "/\\": "∧", "\\/": "∨", "<->": "↔"}
_PLAIN |= {"λ": "fun", "Real": "ℝ", "Nat": "ℕ", "Int": "ℤ", "Rat": "ℚ", "Complex": "ℂ"}
_OPENING = {"(": ")", "{": "}", "[": "]", "⦃": "⦄", "⟨": "⟩"}
_CLOSING = {close: opening for opening, close in _OPENING.items()}
_BINDERS = {"∀", "∃", "∃!", "fun", "Σ", "∑", "∏", "⋃", "⋂", "⨆", "⨅", "∫", "let", "have"}
_KEYWORDS = {"in", "if", "then", "else", "from", "at", "by", "do", "with", "match", "show", "Type", "Prop", "Sort"}


# -- Statements of Lean text -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Statement:
    """A declaration of Lean text: full name ("" for an `example`), the text between name and proof, its line."""

    name: str
    text: str
    line: int


def declared_statements(text: str) -> Iterator[Statement]:
    """Yield the theorems, lemmas, examples and defs of a text in order; names include the namespaces around them."""
    read = outline(text)
    line, counted = 1, 0
    for declaration in read.declarations:
        # On from the declaration before: from the text's start each time it would be quadratic.
        line += text.count("\n", counted, declaration.head)
        counted = declaration.head
        if declaration.keyword in ("theorem", "lemma", "example", "def"):
            start = declaration.head_end
            if universes := _UNIVERSES.match(read.masked, start):
                start = universes.end()
            statement = read.masked[start : declaration.statement_end].strip()
            yield Statement(declaration.full_name, statement, line)


def code_words(text: str) -> list[str]:
    """Return the words and signs of a text without its comments and strings."""
    return _WORD.findall(mask(text))


def name_key(name: str) -> str:
    """Normalize a name: without case and optional underscores, and with `p1` for the `q1` of some contests.

    So `imo_1959_p1` and `imo1959_q1` are one name, while `exercise_1_13` and `exercise_11_3` are two.
    """
    plain = re.sub(r"_(?!\d)|(?<!\d)_", "", name.casefold().strip("«»"))
    return re.sub(r"(?<=\d)q(?=\d)", "p", plain)


def name_keys(full_name: str) -> set[str]:
    """Return the keys of a declaration's name and of the namespaces that it lies in."""
    return {name_key(part) for part in full_name.split(".") if part}


# -- Normal form of statements ---------------------------------------------------------------------------------------


def normal_form(statement: str) -> str:
    """Return the normal form of a statement, the text between a theorem's name and its proof; "" if it is too long."""
    if len(statement) > LONGEST:
        return ""
    tokens = [_PLAIN.get(token, token) for token in _TOKEN.findall(mask(statement))]
    groups, conclusion = _telescope(tokens)
    if conclusion:
        tokens = [*chain.from_iterable(groups), ":", *conclusion]
    return " ".join(_renamed(tokens))


def _telescope(tokens: list[str]) -> tuple[list[list[str]], list[str]]:
    """Return the binders before the colon, each variable in a group of its own, and the conclusion."""
    groups: list[list[str]] = []
    position = 0
    while position < len(tokens) and tokens[position] in _OPENING:
        end = _closing(tokens, position)
        groups += _single(tokens[position:end])
        position = end
    if position >= len(tokens) or tokens[position] != ":":
        return groups, []
    rest = tokens[position + 1 :]
    while rest[:1] == ["∀"]:
        binders_and_rest = _leading_forall(rest)
        if binders_and_rest is None:
            break
        groups += binders_and_rest[0]
        rest = binders_and_rest[1]
    return groups, rest


def _leading_forall(tokens: list[str]) -> tuple[list[list[str]], list[str]] | None:
    """Return the binders of `∀ .., rest` and the rest; None for `∀ x ∈ s` and the like."""
    groups: list[list[str]] = []
    position = 1
    while position < len(tokens) and tokens[position] in _OPENING:
        end = _closing(tokens, position)
        groups += _single(tokens[position:end])
        position = end
    if position == 1:  # no brackets: `∀ x y : T, ..` or `∀ x y, ..`
        comma = _top_level(tokens, ",", 1)
        body = tokens[1:comma]
        names = _names(body, 0)
        if comma < 0 or not names or (len(names) < len(body) and body[len(names)] != ":"):
            return None
        if ":" not in body:
            body = [*names, ":", "_"]
        groups, position = _single(["(", *body, ")"]), comma
    if position >= len(tokens) or tokens[position] != ",":
        return None
    return groups, tokens[position + 1 :]


def _single(group: list[str]) -> list[list[str]]:
    """Split `(a b : T)` into `(a : T) (b : T)`; brackets become round, but for instances, which lose their name."""
    names = _names(group, 1)
    typed = bool(names) and len(names) + 1 < len(group) and group[len(names) + 1] == ":"
    if group[0] == "[" and typed:
        return [["[", *group[len(names) + 2 :]]]
    if group[0] == "[":
        return [group]
    if not typed:
        return [["(", *group[1:-1], ")"]]
    return [["(", name, *group[len(names) + 1 : -1], ")"] for name in names]


def _names(tokens: list[str], start: int) -> list[str]:
    """Return the names that follow each other from a position on."""
    end = start
    while end < len(tokens) and (tokens[end] == "_" or (_is_name(tokens[end]) and "." not in tokens[end])):
        end += 1
    return tokens[start:end]


def _is_name(token: str) -> bool:
    return token not in _KEYWORDS and token not in _BINDERS and _FIRST.match(token) is not None


def _closing(tokens: list[str], position: int) -> int:
    """Return the position after the bracket that closes the one at `position`."""
    depth = 0
    for index in range(position, len(tokens)):
        depth += (tokens[index] in _OPENING) - (tokens[index] in _CLOSING)
        if depth == 0:
            return index + 1
    return len(tokens)


def _top_level(tokens: list[str], wanted: str, start: int) -> int:
    depth = 0
    for index in range(start, len(tokens)):
        if tokens[index] == wanted and depth == 0:
            return index
        depth += (tokens[index] in _OPENING) - (tokens[index] in _CLOSING)
    return -1


def _renamed(tokens: list[str]) -> Iterator[str]:
    """Rename bound names to v0, v1, .. in the order in which they are bound; other dotted names lose their prefix."""
    numbers: dict[str, str] = {}
    for index, token in enumerate(tokens):
        binder = token in _BINDERS
        if not binder and token not in _OPENING:
            continue
        names = _names(tokens, index + 1)
        after_names = tokens[index + 1 + len(names) :][:1]
        # `(x : T)`, and the sets `{x | p}` and `{x ∈ s | p}`; other brackets, as `(f x)`, bind nothing.
        if binder or after_names == [":"] or (token == "{" and after_names in (["|"], ["∈"])):
            for name in names:
                numbers.setdefault(name, f"v{len(numbers)}")
    summed = False
    for token in tokens:
        head, dot, rest = token.partition(".")
        summed = token in ("∑", "∏") or (summed and token != ",")
        if head in numbers:
            yield numbers[head] + dot + rest
        elif token == "in" and summed:
            yield "∈"
        elif rest and _is_name(token):
            yield token.rpartition(".")[2]
        else:
            yield token


# -- Index of pieces -------------------------------------------------------------------------------------------------

Kind = Literal["name", "statement", "key", "words"]
KINDS: dict[Kind, str] = {
    "name": "by name",
    "statement": "by normalized statement",
    "key": "by statement as elaborated",
    "words": f"by {GRAM}-gram",
}


@dataclass(frozen=True)
class Piece:
    """A theorem or a whole document: its names and normal forms of statements, each with the line, and its words.

    `keys` are those of elaborated statements (of the embedded prover's sets only).
    """

    label: str
    names: dict[str, int] = field(default_factory=dict)
    forms: dict[str, int] = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    def grams(self) -> Iterator[int]:
        """Yield the n-grams of words as hashes, which are valid within this process."""
        for start in range(len(self.words) - GRAM + 1):
            yield hash(" ".join(self.words[start : start + GRAM]))


@dataclass(frozen=True)
class Hit:
    """A piece overlaps with one of the index: of what kind, with which name, statement or share of the n-grams."""

    kind: Kind
    piece: Piece
    other: Piece
    what: str
    line: int = 0
    share: float = 1.0


def document_piece(text: str, label: str, with_words: bool = True) -> Piece:
    """Make one piece of a text with Lean code. A declaration counts under its own name and its namespaces' names."""
    names: dict[str, int] = {}
    forms: dict[str, int] = {}
    for statement in declared_statements(text):
        for key in name_keys(statement.name):
            names.setdefault(key, statement.line)
        forms.setdefault(normal_form(statement.text), statement.line)
    words: list[str] = code_words(text) if with_words else []
    return Piece(label, names, _without_short(forms), words=tuple(words))


def statement_pieces(text: str, label: str) -> Iterator[Piece]:
    """Yield a piece for each declaration of a text; a text without any is one piece."""
    statements = list(declared_statements(text))
    for statement in statements:
        where = f"{label}, line {statement.line}: {statement.name or 'example'}"
        yield _statement_piece(statement, where)
    if not statements:
        yield document_piece(text, label)


def theorem_piece(theorem: Theorem, key: Callable[[str], str] | None = None) -> Piece:
    """Make a piece of a theorem: the last declaration of its source. What precedes it (`open`, ..) does not count."""
    label = f"{theorem.dataset}: {theorem.id}" if theorem.dataset else theorem.id
    statements = list(declared_statements(theorem.source))
    if not statements:
        return Piece(label)
    piece = _statement_piece(statements[-1], label)
    if key is not None:
        piece = replace(piece, keys=(key(theorem.source),))
    return piece


def _statement_piece(statement: Statement, label: str) -> Piece:
    names: dict[str, int] = {}
    if statement.name:
        # Without its namespaces: a data set may have the theorem in others, or in none.
        names[name_key(statement.name.rpartition(".")[2])] = statement.line
    forms = _without_short({normal_form(statement.text): statement.line})
    return Piece(label, names, forms, words=tuple(code_words(statement.text)))


def _without_short(forms: dict[str, int]) -> dict[str, int]:
    return {form: line for form, line in forms.items() if form.count(" ") + 1 >= SHORT_FORM}


class Index:
    """Pieces by name, statement and n-grams of words."""

    def __init__(self, pieces: Iterable[Piece], with_words: bool = True) -> None:
        self.pieces: list[Piece] = []
        self._by: dict[Kind, dict[str, list[int]]] = {kind: defaultdict(list) for kind in KINDS}
        self._grams: dict[int, list[int]] = defaultdict(list)
        self._gram_counts: list[int] = []
        for number, piece in enumerate(pieces):
            grams: set[int] = set()
            if with_words:
                grams.update(piece.grams())
            # words are not needed once they are counted
            self.pieces.append(Piece(piece.label, piece.names, piece.forms, piece.keys))
            self._gram_counts.append(len(grams))
            for gram in grams:
                self._grams[gram].append(number)
            for kind, values in _values(piece):
                for value in values:
                    self._by[kind][value].append(number)

    @property
    def without_grams(self) -> int:
        """Return the number of pieces with too few words for an n-gram: they are found by name or statement only."""
        return self._gram_counts.count(0)

    def hits(self, piece: Piece) -> Iterator[Hit]:
        """Yield the overlaps of a piece with those of the index, each of them once per kind."""
        for kind, values in _values(piece):
            seen: set[int] = set()
            for value, line in values.items():
                for number in self._by[kind].get(value, ()):
                    if number not in seen:
                        seen.add(number)
                        yield Hit(kind, piece, self.pieces[number], value, line)
        if self._grams:
            common: Counter[int] = Counter()
            for gram in set(piece.grams()):
                common.update(self._grams.get(gram, ()))
            for number, count in common.items():
                share = count / self._gram_counts[number]
                yield Hit("words", piece, self.pieces[number], f"{share:.0%} of its runs", share=share)


def _values(piece: Piece) -> Iterator[tuple[Kind, dict[str, int]]]:
    """Yield each kind of overlap but n-grams with the piece's values of it and their lines."""
    yield "name", piece.names
    yield "statement", piece.forms
    yield "key", dict.fromkeys(piece.keys, 0)
