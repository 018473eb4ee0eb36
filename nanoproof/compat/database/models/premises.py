"""`Premise` and `PremiseFile`: what the files of a repository declare."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nanoproof.compat.database.models.annotations import Pos, parse_pos, require
from nanoproof.repos import traced_files as records
from nanoproof.repos.database_json import premise_file_json, premise_json
from nanoproof.repos.traced_files import Position, TracedFile


@dataclass
class Premise:
    """A declaration that proofs may use."""

    full_name: str
    code: str
    start: Pos
    end: Pos
    kind: str

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Premise":
        """Read an entry of the database's file. Raises ValueError for another shape."""
        require(data, ("full_name", "code", "start", "end", "kind"), cls.__name__)
        return cls(data["full_name"], data["code"], parse_pos(data["start"]), parse_pos(data["end"]), data["kind"])

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of the database's file."""
        return premise_json(self.to_record())

    def to_record(self) -> records.Premise:
        """Return it as the store has it."""
        places = Position(*self.start), Position(*self.end)
        return records.Premise(self.full_name, self.code, *places, self.kind)


@dataclass
class PremiseFile:
    """A file with the paths that it imports and the premises that it declares."""

    path: Path
    imports: list[str]
    premises: list[Premise]

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "PremiseFile":
        """Read an entry of the database's file. Raises ValueError for another shape."""
        require(data, ("path", "imports", "premises"), cls.__name__)
        return cls(Path(data["path"]), list(data["imports"]), list(map(Premise.from_dict, data["premises"])))

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of the database's file."""
        return premise_file_json(self.to_record())

    @classmethod
    def from_record(cls, file: TracedFile) -> "PremiseFile":
        """Return a file of the store."""
        premises = [Premise(p.full_name, p.code, Pos(*p.start), Pos(*p.end), p.kind) for p in file.premises]
        return cls(Path(file.path), list(file.imports), premises)

    def to_record(self, error: str | None = None) -> TracedFile:
        """Return it as the store has it, without theorems; `error` is why it was not traced."""
        premises = tuple(premise.to_record() for premise in self.premises)
        return TracedFile(self.path.as_posix(), tuple(self.imports), premises, (), error)
