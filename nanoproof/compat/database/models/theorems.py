"""`Theorem`: a theorem with its place, its statement and the tactics of its proof."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nanoproof.compat.database.models.annotations import AnnotatedTactic, Pos, parse_pos, require
from nanoproof.repos.database_json import theorem_json
from nanoproof.repos.difficulty import difficulty
from nanoproof.repos.traced_files import Position, TracedTheorem


@dataclass(eq=False)
class Theorem:
    """A theorem; two are equal if name, file and place are."""

    full_name: str
    file_path: Path
    start: Pos
    end: Pos
    url: str
    commit: str
    theorem_statement: str | None = None
    traced_tactics: list[AnnotatedTactic] | None = field(default_factory=list)
    difficulty_rating: float | None = None

    def __eq__(self, other: object) -> bool:
        return self.is_same_theorem(other) if isinstance(other, Theorem) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.get_theorem_identifier())

    def __str__(self) -> str:
        return self.theorem_statement or self.full_name

    def is_same_theorem(self, other: "Theorem") -> bool:
        """Tell whether name, file and place are the same."""
        return self.get_theorem_identifier() == other.get_theorem_identifier()

    def get_theorem_identifier(self) -> tuple[str, str, tuple[int, int], tuple[int, int]]:
        """Return name, file and place."""
        start, end = Pos(*self.start), Pos(*self.end)
        return (self.full_name, str(self.file_path), (start[0], start[1]), (end[0], end[1]))

    @property
    def has_sorry(self) -> bool:
        """Whether a tactic has `sorry` in its text."""
        # As LeanDojo-v2 does, by the text alone: `sorry` in a comment counts, which `open_places` does not.
        return any("sorry" in tactic.tactic for tactic in self.traced_tactics or [])

    def calculate_difficulty(self) -> float | None:
        """Return e^n for n tactics; infinity with a `sorry`, None without tactics."""
        return difficulty(len(self.traced_tactics or []), self.has_sorry)

    @classmethod
    def from_dict(cls, data: dict[str, Any], url: str, commit: str) -> "Theorem":
        """Read an entry of the database's file or of a data set. Raises ValueError for another shape."""
        require(data, ("full_name", "file_path", "start", "end"), cls.__name__)
        tactics = list(map(AnnotatedTactic.from_dict, data.get("traced_tactics") or []))
        places = parse_pos(data["start"]), parse_pos(data["end"])
        statement, rating = data.get("theorem_statement"), data.get("difficulty_rating")
        path = Path(data["file_path"])
        return cls(data["full_name"], path, *places, url, commit, statement, tactics, rating)

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of the database's file."""
        return theorem_json(self.to_record(), self.url, self.commit, self.difficulty_rating)

    @classmethod
    def from_record(cls, record: TracedTheorem, url: str, commit: str) -> "Theorem":
        """Return a theorem of the store."""
        tactics = list(map(AnnotatedTactic.from_record, record.tactics))
        places = Pos(*record.start), Pos(*record.end)
        return cls(record.full_name, Path(record.path), *places, url, commit, record.statement or None, tactics)

    def to_record(self) -> TracedTheorem:
        """Return it as the store has it."""
        tactics = []
        names: dict[str, None] = {}
        sorries = 0
        for annotated in self.traced_tactics or []:
            tactic = annotated.to_record()
            tactics.append(tactic)
            names |= dict.fromkeys(premise.full_name for premise in tactic.premises)
            sorries += "sorry" in tactic.tactic
        place = (Path(self.file_path).as_posix(), Position(*self.start), Position(*self.end))
        statement = self.theorem_statement or ""
        return TracedTheorem(self.full_name, *place, statement, tuple(tactics), tuple(names), sorries)
