"""The premises of a library: which of them a place may use, how they are written, and which ones proofs used.

A premise is accessible at a place of a file if it is in a file that this one imports, also through others, or in the
same file and ends before the place (LeanDojo, Yang et al. 2023, section 4). Premises are numbered file by file, so that
those of a file are a slice.

Shapes: N premises.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_text, json_line, read_jsonl
from nanoproof.lean.source import DECLARING, NAME

Place = tuple[int, int]
"""Line and column, both from 1 up."""
MARK_START, MARK_END = "<a>", "</a>"
_GOALS = re.compile(r"\d+ goals\b")
_DECLARED = re.compile(rf"(?<![\w.'])(?:{DECLARING})\s+(?P<name>{NAME})")
_COMPILER_MADE = "user__.n"
"""In names that Lean makes up for declarations without one."""


class Declared(Protocol):
    """A declaration as tracing finds it: `code` is its text without comments and, of a theorem, without its proof."""

    @property
    def full_name(self) -> str: ...
    @property
    def code(self) -> str: ...
    @property
    def start(self) -> Place: ...
    @property
    def end(self) -> Place: ...
    @property
    def kind(self) -> str: ...


class DeclaringFile(Protocol):
    """A file with what it imports directly (paths) and declares."""

    @property
    def path(self) -> str: ...
    @property
    def imports(self) -> Sequence[str]: ...
    @property
    def premises(self) -> Sequence[Declared]: ...


@dataclass(frozen=True, slots=True)
class CorpusPremise:
    """A premise of a corpus, with the path of its file."""

    full_name: str
    path: str
    code: str
    start: Place
    end: Place
    kind: str = ""

    @property
    def text(self) -> str:
        """Its code, where the marked full name stands in place of the name: what encoders read."""
        return with_name(self.code, self.full_name, f"{MARK_START}{self.full_name}{MARK_END}")

    @property
    def plain(self) -> str:
        """Its code with the full name, on one line: what language models read that know no marks."""
        return " ".join(with_name(self.code, self.full_name, self.full_name).split())


def with_name(code: str, full_name: str, name: str) -> str:
    """Put `name` in place of the longest ending of a full name that a declaration has, where it is declared.

    If it is declared nowhere in the code, as a constructor is not, then where it first stands; code that has none of
    the endings stays as it is.
    """
    for head in _DECLARED.finditer(code):  # attributes may mention the name: `@[deprecated old] theorem new`
        own = head["name"].removeprefix("_root_.").replace("«", "").replace("»", "")
        if f".{full_name}".replace("«", "").replace("»", "").endswith(f".{own}"):
            return code[: head.start("name")] + name + code[head.end("name") :]
    # The longest first: inside of a namespace a file writes only the end of the name, and `_root_.` leaves all of them.
    root = f"_root_.{full_name}"
    parts = full_name.split(".")
    for ending in (root, *(".".join(parts[first:]) for first in range(len(parts)))):
        if ending not in code:  # to compile an expression for each name takes most of the time to read a corpus
            continue
        # A whole identifier behind the keyword: `add` begins `add'` and `add_comm` too.
        match = re.search(rf"(?<=\s)«?{re.escape(ending)}»?(?![\w'!?])", code)
        if match is not None:
            return code[: match.start()] + name + code[match.end() :]
    return code


def context_text(state: str) -> str:
    """Return a proof state as encoders read it: without the line `N goals` that may begin it."""
    match = _GOALS.match(state)
    if match is not None:
        state = state[match.end() :]
    return state.strip()


def is_context(text: str) -> bool:
    """Tell whether a text is that of a proof state: it has a goal, and no marks."""
    return "⊢" in text and MARK_START not in text and MARK_END not in text


def _is_kept(declared: Declared) -> bool:
    # LeanDojo leaves out the same ones: the numbers of accessible premises, and so the scores, are to compare.
    name = declared.full_name
    made_up = not name or _COMPILER_MADE in name or (name.startswith("[") and name.endswith("]"))
    return not made_up and bool(declared.code.strip())


@dataclass(frozen=True)
class _File:
    """A file of a corpus: the numbers of the files that it imports, and the slice of its premises."""

    imports: tuple[int, ...]
    first: int
    last: int


class Corpus:
    """The premises of a collection of files, and which of them are accessible where."""

    def __init__(self, files: Iterable[DeclaringFile]) -> None:
        """Take files in any order; imports of files that are not among them are left out.

        Of several files with one path the first counts.
        """
        listed: dict[str, DeclaringFile] = {}
        for file in files:
            listed.setdefault(file.path, file)
        self.paths = tuple(listed)
        self._numbers = {path: number for number, path in enumerate(self.paths)}
        self._files: list[_File] = []
        premises: list[CorpusPremise] = []
        for path, file in listed.items():
            first = len(premises)
            for declared in file.premises:
                if _is_kept(declared):
                    start, end = _place(declared.start), _place(declared.end)
                    premises.append(CorpusPremise(declared.full_name, path, declared.code, start, end, declared.kind))
            # An export need not have the files of Lean itself, or of packages that were not traced.
            imports = tuple(self._numbers[name] for name in file.imports if name in self._numbers)
            self._files.append(_File(imports, first, len(premises)))
        self.premises = tuple(premises)
        self._named: dict[str, int] = {}
        for number, premise in enumerate(premises):
            self._named.setdefault(premise.full_name, number)
        # Not a decorator of the method, whose cache would keep every corpus alive. Limited, as a closure has up to
        # eight bytes for each premise of the corpus; a search asks for that of one file again and again.
        self._imported = lru_cache(maxsize=256)(self._imported_numbers)

    def __len__(self) -> int:
        return len(self.premises)

    def __contains__(self, path: str) -> bool:
        """Tell whether a file is in the corpus."""
        return path in self._numbers

    def find(self, full_name: str) -> CorpusPremise | None:
        """Return the first premise of a name; None if there is none."""
        number = self._named.get(full_name)
        if number is None:
            return None
        return self.premises[number]

    # -- places ------------------------------------------------------------------------------------------------------

    def in_file(self, path: str) -> range:
        """Return the numbers of a file's premises."""
        file = self._files[self._numbers[path]]
        return range(file.first, file.last)

    def accessible(self, path: str, place: Place) -> np.ndarray:
        """Return the numbers of the premises that may be used at a place, ascending, int64; KeyError without the file.

        A premise that ends exactly there is accessible.
        """
        own = [number for number in self.in_file(path) if self.premises[number].end <= place]
        # Ascending, whatever the order of the files: search breaks ties by the lower number.
        return np.sort(np.concatenate([self._imported(path), np.array(own, np.int64)]))

    def before(self, premise: CorpusPremise) -> np.ndarray:
        """Return the numbers of the premises that may be used where a premise is declared."""
        return self.accessible(premise.path, premise.start)

    def _imported_numbers(self, path: str) -> np.ndarray:
        """Return the numbers of the premises of all files that a file imports, also through others."""
        own = self._numbers[path]
        reached: set[int] = set()
        todo = list(self._files[own].imports)
        while todo:
            number = todo.pop()
            # Its own place decides in the file itself, also where a damaged export has imports in a circle.
            if number != own and number not in reached:
                reached.add(number)
                todo += self._files[number].imports
        parts = [np.zeros(0, np.int64)]  # numpy concatenates no empty list
        for number in sorted(reached):
            parts.append(np.arange(self._files[number].first, self._files[number].last, dtype=np.int64))
        return np.concatenate(parts)

    def locate(self, path: str, place: Place) -> int | None:
        """Return the number of the first premise of a file that a place is in, its ends included; None without one."""
        if path not in self._numbers:
            return None
        for number in self.in_file(path):
            if self.premises[number].start <= place <= self.premises[number].end:
                return number
        return None

    # -- as files ----------------------------------------------------------------------------------------------------

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield a record of each file, as a line of LeanDojo's `corpus.jsonl` has it."""
        for path, file in zip(self.paths, self._files):
            premises: list[dict[str, Any]] = []
            for premise in self.premises[file.first : file.last]:
                record = {"full_name": premise.full_name, "code": premise.code}
                places = {"start": list(premise.start), "end": list(premise.end)}
                premises.append({**record, **places, "kind": premise.kind})
            yield {"path": path, "imports": [self.paths[number] for number in file.imports], "premises": premises}

    @classmethod
    def merged(cls, corpora: "Sequence[Corpus]") -> "Corpus":
        """Return the corpus of the files of several; of those with one path that of the first counts."""
        if len(corpora) == 1:
            return corpora[0]
        return cls(_ReadFile.from_json(record) for corpus in corpora for record in corpus.records())

    def save(self, file: Path) -> None:
        """Write the corpus, a line for each file."""
        atomic_write_text(file, "".join(map(json_line, self.records())))

    @classmethod
    def load(cls, file: Path) -> "Corpus":
        """Read what `save` wrote. Raises UserError for anything else."""
        try:
            return cls(_ReadFile.from_json(record) for record in read_jsonl(file))
        except OSError as error:
            raise UserError(f"cannot read {file}: {error.strerror}") from error
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UserError(f"{file} is no corpus of premises: {error!r}") from error

    def with_files(self, files: Iterable[DeclaringFile]) -> "Corpus":
        """Return the corpus with some files in place of those of the same paths, or added."""
        changed = {file.path: file for file in files}
        # By records, which name imports by their paths: without a file the numbers of all behind it are others.
        kept = [_ReadFile.from_json(record) for record in self.records() if record["path"] not in changed]
        return Corpus([*kept, *changed.values()])


def _place(value: Sequence[int]) -> Place:
    line, column = value
    return int(line), int(column)


@dataclass(frozen=True)
class _ReadFile:
    path: str
    imports: tuple[str, ...]
    premises: tuple[CorpusPremise, ...]

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "_ReadFile":
        path = record["path"]
        premises = tuple(
            CorpusPremise(p["full_name"], path, p["code"], _place(p["start"]), _place(p["end"]), p["kind"])
            for p in record["premises"]
        )
        return cls(path, tuple(record["imports"]), premises)


# -- What proofs used ------------------------------------------------------------------------------------------------


class UsedPremise(Protocol):
    """A premise that a tactic names, with the place of its declaration where that is known."""

    @property
    def path(self) -> str: ...
    @property
    def start(self) -> Place | None: ...


class UsingTactic(Protocol):
    """A tactic with the state before it and the premises that it names."""

    @property
    def state_before(self) -> str: ...
    @property
    def premises(self) -> Sequence[UsedPremise]: ...


class UsingTheorem(Protocol):
    """A theorem with the tactics of its proof."""

    @property
    def full_name(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def start(self) -> Place: ...
    @property
    def tactics(self) -> Sequence[UsingTactic]: ...


@dataclass(frozen=True, slots=True)
class Query:
    """A state that premises are wanted for, and the numbers of those that the tactic there used."""

    path: str
    full_name: str
    start: Place
    tactic: int
    """Number of the tactic in the proof, from 0."""
    context: str
    positives: tuple[int, ...]
    origin: tuple[str, str] = ("", "")
    """Address and commit of the repository."""


def queries(
    corpus: Corpus, theorems: Iterable[UsingTheorem], origin: tuple[str, str] = ("", "")
) -> tuple[list[Query], int]:
    """Make a query of each tactic that names a premise of the corpus.

    Also returns how many more tactics name one in a theorem whose file is not in the corpus. Tactics whose state is no
    proof state (see `is_context`) are left out.
    """
    asked: list[Query] = []
    elsewhere = 0
    for theorem in theorems:
        for number, tactic in enumerate(theorem.tactics):
            positives: list[int] = []
            for premise in tactic.premises:
                if premise.start is None:
                    continue
                # By its place and not its name, which a constructor, say, does not share with what declares it.
                located = corpus.locate(premise.path, premise.start)
                if located is not None and located not in positives:
                    positives.append(located)
            context = context_text(tactic.state_before)
            if not positives or not is_context(context):
                continue
            if theorem.path not in corpus:
                elsewhere += 1
                continue
            start = _place(theorem.start)
            asked.append(Query(theorem.path, theorem.full_name, start, number, context, tuple(positives), origin))
    return asked, elsewhere
