"""`Annotation` and `AnnotatedTactic`: a tactic, its goals, and the premises that it names."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from nanoproof.repos.database_json import tactic_json
from nanoproof.repos.leandojo import position, read_tactic
from nanoproof.repos.traced_files import Position, Provenance, TracedTactic


class Pos(NamedTuple):
    """A place in a file: line and column, both from 1 up. Prints as `(line, column)`."""

    line_nb: int
    column_nb: int

    def __repr__(self) -> str:
        return f"({self.line_nb}, {self.column_nb})"


def parse_pos(value: Any) -> Pos:
    """Read `(l, c)`, `Pos(l, c)`, or `[l, c]`. Raises ValueError for anything else."""
    return Pos(*position({"place": value}, "place"))


def require(data: Any, keys: tuple[str, ...], kind: str) -> None:
    """Raise ValueError unless `data` is an object with all of `keys`."""
    missing = keys
    if isinstance(data, dict):
        missing = tuple(key for key in keys if key not in data)
    if missing:
        raise ValueError(f"Invalid {kind} data format: no {', '.join(missing)}")


@dataclass
class Annotation:
    """A premise that a tactic names: its full name, and the file and place of its declaration."""

    full_name: str
    def_path: str
    def_pos: Pos
    def_end_pos: Pos

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Annotation":
        """Read an entry of the database's file. Raises ValueError for another shape."""
        require(data, ("full_name", "def_path", "def_pos", "def_end_pos"), cls.__name__)
        places = parse_pos(data["def_pos"]), parse_pos(data["def_end_pos"])
        return cls(data["full_name"], data["def_path"], *places)

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of the database's file."""
        # Scripts may have set plain pairs, which print otherwise.
        places = {"def_pos": repr(Pos(*self.def_pos)), "def_end_pos": repr(Pos(*self.def_end_pos))}
        return {"full_name": self.full_name, "def_path": str(self.def_path), **places}

    def to_record(self) -> Provenance:
        """Return it as the store has it."""
        return Provenance(self.full_name, str(self.def_path), Position(*self.def_pos), Position(*self.def_end_pos))


@dataclass
class AnnotatedTactic:
    """A tactic with the goals around it; `annotated_tactic` is its marked text and the premise of each mark."""

    tactic: str
    annotated_tactic: tuple[str, list[Annotation]]
    state_before: str
    state_after: str

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "AnnotatedTactic":
        """Read an entry of the database's file. Raises ValueError for another shape."""
        require(data, ("tactic", "annotated_tactic", "state_before", "state_after"), cls.__name__)
        return cls.from_record(read_tactic(data))

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of the database's file."""
        return tactic_json(self.to_record())

    @classmethod
    def from_record(cls, record: TracedTactic) -> "AnnotatedTactic":
        """Return a tactic of the store."""
        premises = []
        for premise in record.premises:
            # As in the file: (0, 0) for a place that is not known, as LeanDojo-v2's classes have one in any case.
            start = premise.start or Position(0, 0)
            end = premise.end or start
            premises.append(Annotation(premise.full_name, premise.path, Pos(*start), Pos(*end)))
        return cls(record.tactic, (record.marked, premises), record.state_before, record.state_after)

    def to_record(self) -> TracedTactic:
        """Return it as the store has it."""
        marked, premises = self.annotated_tactic
        records = tuple(premise.to_record() for premise in premises)
        return TracedTactic(self.tactic, self.state_before, self.state_after, marked, records)
