"""What two sets of Lean text share: names, statements, runs of 13 words. The index of one set is kept in memory.

    index = Index(pieces_of_b)
    for piece in pieces_of_a:
        for hit in index.hits(piece): ...

It serves `contamination.py`, which reports, and the making of leangithubraw, which leaves such files out.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from nanoproof.data.statements import code_words, declared_statements, name_key, name_keys, normal_form
from nanoproof.lean.theorem import Theorem

GRAM = 13
"""Words of a run."""
SHORT_FORM = 3
"""Statements with fewer signs than this (`: p`) say nothing, so they are never equal."""

Kind = Literal["name", "statement", "key", "words"]
KINDS: dict[Kind, str] = {
    "name": "by name",
    "statement": "by normalized statement",
    "key": "by statement as elaborated",
    "words": f"by {GRAM}-gram",
}


@dataclass(frozen=True)
class Piece:
    """A theorem, or a whole document: its names and statements, each with the line, and its words.

    `keys` are those of statements that were elaborated (of the embedded prover's sets only).
    """

    label: str
    names: dict[str, int] = field(default_factory=dict)
    forms: dict[str, int] = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    def grams(self) -> Iterator[int]:
        """The runs of words, as hashes, good within this process."""
        for start in range(len(self.words) - GRAM + 1):
            yield hash(" ".join(self.words[start : start + GRAM]))


@dataclass(frozen=True)
class Hit:
    """A piece has something of a piece of the index: which, in what way, and what or how much (a share) it is."""

    kind: Kind
    piece: Piece
    other: Piece
    what: str
    line: int = 0
    share: float = 1.0


def document_piece(text: str, label: str, with_words: bool = True) -> Piece:
    """A file of Lean, or text that holds some. A declaration counts under its own name and its namespaces' names."""
    names: dict[str, int] = {}
    forms: dict[str, int] = {}
    for statement in declared_statements(text):
        for key in name_keys(statement.name):
            names.setdefault(key, statement.line)
        forms.setdefault(normal_form(statement.text), statement.line)
    return Piece(label, names, _telling(forms), words=tuple(code_words(text)) if with_words else ())


def statement_pieces(text: str, label: str) -> Iterator[Piece]:
    """The declarations of a file of Lean, a piece each; text without any is one piece."""
    none = True
    for statement in declared_statements(text):
        none = False
        names = {name_key(statement.name.rpartition(".")[2]): statement.line} if statement.name else {}
        forms = _telling({normal_form(statement.text): statement.line})
        where = f"{label}, line {statement.line}: {statement.name or 'example'}"
        yield Piece(where, names, forms, words=tuple(code_words(statement.text)))
    if none:
        yield document_piece(text, label)


def theorem_piece(theorem: Theorem, key: Callable[[str], str] | None = None) -> Piece:
    """One theorem: the last declaration of its source. What comes before (`open`, definitions) does not count."""
    label = f"{theorem.dataset}: {theorem.id}" if theorem.dataset else theorem.id
    statements = list(declared_statements(theorem.source))
    if not statements:
        return Piece(label)
    last = statements[-1]
    names = {name_key(last.name.rpartition(".")[2]): last.line} if last.name else {}
    keys = (key(theorem.source),) if key else ()
    return Piece(label, names, _telling({normal_form(last.text): last.line}), keys, tuple(code_words(last.text)))


def _telling(forms: dict[str, int]) -> dict[str, int]:
    return {form: line for form, line in forms.items() if form.count(" ") + 1 >= SHORT_FORM}


class Index:
    """Pieces by name, statement and runs of words."""

    def __init__(self, pieces: Iterable[Piece], with_words: bool = True) -> None:
        self.pieces: list[Piece] = []
        self._by: dict[Kind, dict[str, list[int]]] = {kind: defaultdict(list) for kind in KINDS}
        self._grams: dict[int, list[int]] = defaultdict(list)
        self._gram_counts: list[int] = []
        for number, piece in enumerate(pieces):
            grams = set(piece.grams()) if with_words else set()
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
        """Pieces with too few words for a run: they can be found in the other ways only."""
        return self._gram_counts.count(0)

    def hits(self, piece: Piece) -> Iterator[Hit]:
        """What a piece shares with those of the index, each of them once in each way."""
        for kind, values in _values(piece):
            seen: set[int] = set()
            for value, line in values.items():
                for number in self._by[kind].get(value, ()):
                    if number not in seen:
                        seen.add(number)
                        yield Hit(kind, piece, self.pieces[number], value, line)
        if self._grams:
            common = Counter(number for gram in set(piece.grams()) for number in self._grams.get(gram, ()))
            for number, count in common.items():
                share = count / self._gram_counts[number]
                yield Hit("words", piece, self.pieces[number], f"{share:.0%} of its runs", share=share)


def _values(piece: Piece) -> Iterator[tuple[Kind, dict[str, int]]]:
    yield "name", piece.names
    yield "statement", piece.forms
    yield "key", dict.fromkeys(piece.keys, 0)
