"""What tracing a repository finds: files, theorems with their tactics, and the premises that they use.

The fields are those of LeanDojo's export (`leandojo.py` reads and writes it), so that nothing is lost on the way.
"""

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple


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
            premises=tuple(
                Premise(p["full_name"], p["code"], Position(*p["start"]), Position(*p["end"]), p["kind"])
                for p in value["premises"]
            ),
            theorems=tuple(map(_theorem, value["theorems"])),
            error=value["error"],
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not the record of a traced file: {error!r}") from error


def _theorem(value: Any) -> TracedTheorem:
    return TracedTheorem(
        full_name=value["full_name"],
        path=value["path"],
        start=Position(*value["start"]),
        end=Position(*value["end"]),
        statement=value["statement"],
        tactics=tuple(
            TracedTactic(
                t["tactic"], t["state_before"], t["state_after"], t["marked"], tuple(map(_provenance, t["premises"]))
            )
            for t in value["tactics"]
        ),
        premises=tuple(value["premises"]),
        sorries=value["sorries"],
    )


def _provenance(value: Any) -> Provenance:
    start, end = (None if value[key] is None else Position(*value[key]) for key in ("start", "end"))
    return Provenance(value["full_name"], value["path"], start, end)
