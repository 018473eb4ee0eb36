"""What tracing a repository finds: files, theorems with their tactics, and the premises that they use.

The fields are those of LeanDojo's export (`leandojo.py` reads and writes it), so that nothing is lost on the way. The
store adds to them what it knows of a theorem: its state, and the proof that we found.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple, get_args

from nanoproof.lean.lean_file import OpenPlace
from nanoproof.lean.lexical import mask
from nanoproof.lean.source import sorries

State = Literal["proved", "sorry", "sorry_proved", "conditional"]
"""Proved in its file; open in its file; open there, and proved by us; proved in its file or by us, if others hold."""
STATES: tuple[State, ...] = get_args(State)


class Position(NamedTuple):
    """A place in a file: line and column, both from 1 up, columns in characters."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a premise that a tactic names was declared; the path is relative to the repository, or a module's."""

    full_name: str
    path: str
    start: Position | None
    end: Position | None


@dataclass(frozen=True, slots=True)
class TracedTactic:
    """One tactic of a proof, with the goals as Lean prints them before and after it (`no goals` if none is left)."""

    tactic: str
    state_before: str
    state_after: str
    marked: str
    """The tactic with each premise that it names between `<a>` and `</a>`."""
    premises: tuple[Provenance, ...] = ()
    """One for each mark, in order."""


@dataclass(frozen=True, slots=True)
class TheoremId:
    """What makes a theorem the same one: name and place, within a repository."""

    full_name: str
    path: str
    start: Position
    end: Position


@dataclass(frozen=True, slots=True)
class TracedTheorem:
    """A theorem of a file, with the tactics of its proof: none if its proof is a term."""

    full_name: str
    path: str
    start: Position
    end: Position
    statement: str
    """Its source up to the `:=` of its proof."""
    tactics: tuple[TracedTactic, ...]
    premises: tuple[str, ...]
    """Full names of the constants that the whole declaration uses, statement and proof."""
    sorries: int = 0
    """How many places of the proof are open."""
    rests_on: tuple[OpenPlace, ...] = ()
    """The open declarations that it rests on besides, by the axioms that Lean reports."""

    @property
    def id(self) -> TheoremId:
        """What makes it the same theorem."""
        return TheoremId(self.full_name, self.path, self.start, self.end)


@dataclass(frozen=True, slots=True)
class Premise:
    """A declaration that proofs may use: `kind` is its keyword, `code` its text without comments and proof."""

    full_name: str
    code: str
    start: Position
    end: Position
    kind: str


@dataclass(frozen=True, slots=True)
class TracedFile:
    """A file of a repository, or of a library that it imports."""

    path: str
    """Relative to the repository's root, with `/`."""
    imports: tuple[str, ...]
    """Paths of the files that it imports directly, those of libraries too."""
    premises: tuple[Premise, ...]
    theorems: tuple[TracedTheorem, ...]
    error: str | None = None
    """Why it could not be traced; then there are no theorems."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository of the store."""

    name: str
    """What the commands call it; unique."""
    url: str
    """Its address, or the folder that it is in."""
    commit: str
    lean_version: str = ""
    tool: str = ""
    """What traced it."""
    date: str = ""
    """When it was added or last changed, ISO 8601."""
    source: str | None = None
    """The folder with its files; None if there is none, as for imported data sets."""
    pr_url: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StoredTheorem:
    """A theorem of the store, with its state and, where we found one, the proof of what its file leaves open."""

    id: int
    repository: str
    theorem: TracedTheorem
    state: State
    num_tactics: int
    """How many tactics its proof has, those that were not read included."""
    proof: str | None = None
    how: str | None = None
    time: str | None = None
    rests_on: tuple[OpenPlace, ...] = ()
    """What is open that its proof rests on: the one in its file, or where that is open, ours."""


def open_places(theorem: TracedTheorem) -> int:
    """Count the places of a theorem that are open: those that tracing saw, or else the tactics with `sorry` in them."""
    if theorem.sorries:
        return theorem.sorries
    # Behind `by`, where a tactic stands: `sorry` is found in code only, not as a part of a name or in a comment.
    return sum(bool(sorries(mask(f"by {traced.tactic}"))) for traced in theorem.tactics)


def own_axioms(file: TracedFile) -> list[str]:
    """List the axioms that a file of the project declares, with their places: what is proved may rest on them."""
    if file.path.startswith(".lake/"):  # of a library
        return []
    axioms = []
    for premise in file.premises:
        if premise.kind == "axiom":
            axioms.append(f"{premise.full_name}  {file.path}:{premise.start.line}")
    return axioms


# -- As JSON -----------------------------------------------------------------------------------------------------------


def file_to_json(file: TracedFile) -> dict[str, Any]:
    """Convert a traced file to JSON values; positions become `[line, column]`."""
    return asdict(file)


def file_from_json(value: Any) -> TracedFile:
    """Read what `file_to_json` wrote, after JSON has made lists of tuples; raises ValueError for anything else."""
    try:
        return TracedFile(
            path=value["path"],
            imports=tuple(value["imports"]),
            premises=tuple(map(_premise, value["premises"])),
            theorems=tuple(map(_theorem, value["theorems"])),
            error=value["error"],
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not the record of a traced file: {error!r}") from error


def _premise(value: Any) -> Premise:
    start, end = Position(*value["start"]), Position(*value["end"])
    return Premise(value["full_name"], value["code"], start, end, value["kind"])


def _theorem(value: Any) -> TracedTheorem:
    return TracedTheorem(
        full_name=value["full_name"],
        path=value["path"],
        start=Position(*value["start"]),
        end=Position(*value["end"]),
        statement=value["statement"],
        tactics=tuple(map(_tactic, value["tactics"])),
        premises=tuple(value["premises"]),
        sorries=value["sorries"],
        rests_on=places_from_json(value.get("rests_on", [])),  # traces of before this field have none
    )


def _tactic(value: Any) -> TracedTactic:
    premises = tuple(map(_provenance, value["premises"]))
    return TracedTactic(value["tactic"], value["state_before"], value["state_after"], value["marked"], premises)


def places_from_json(value: Any) -> tuple[OpenPlace, ...]:
    """Read a list of `{name, file, line}`; one without a place has no file and line 0."""
    places = []
    for place in value:
        places.append(OpenPlace(str(place["name"]), str(place["file"] or ""), int(place["line"] or 0)))
    return tuple(places)


def _provenance(value: Any) -> Provenance:
    start, end = value["start"], value["end"]
    places = (None if start is None else Position(*start), None if end is None else Position(*end))
    return Provenance(value["full_name"], value["path"], *places)
