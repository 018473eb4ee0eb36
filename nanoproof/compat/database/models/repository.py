"""`Repository`: a repository at a commit, with its theorems by state, its premises and its files."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from nanoproof.common.errors import cannot
from nanoproof.common.files import json_items
from nanoproof.compat.database.models.annotations import require
from nanoproof.compat.database.models.premises import PremiseFile
from nanoproof.compat.database.models.theorems import Theorem
from nanoproof.repos import traced_files as records
from nanoproof.repos.database_json import LISTS, counts_json, list_of
from nanoproof.repos.store import Store
from nanoproof.repos.traced_files import TracedFile, TracedTheorem


@dataclass(eq=False)
class Repository:
    """A repository; two are equal if address, name, commit and versions are."""

    url: str
    name: str
    commit: str
    lean_version: str
    lean_dojo_version: str
    metadata: dict[str, Any]
    proven_theorems: list[Theorem] = field(default_factory=list)
    sorry_theorems_proved: list[Theorem] = field(default_factory=list)
    sorry_theorems_unproved: list[Theorem] = field(default_factory=list)
    premise_files: list[PremiseFile] = field(default_factory=list)
    files_traced: list[Path] = field(default_factory=list)
    pr_url: str | None = None

    def _identity(self) -> tuple[str, ...]:
        return (self.url, self.name, self.commit, self.lean_version, self.lean_dojo_version)

    def __eq__(self, other: object) -> bool:
        # Not by what is in it: a repository that was traced again takes the place of the one before.
        return self._identity() == other._identity() if isinstance(other, Repository) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._identity())

    def __str__(self) -> str:
        return f"{self.name}_{self.commit}"

    # -- counts ------------------------------------------------------------------------------------------------------

    @property
    def total_theorems(self) -> int:
        """How many theorems there are."""
        return self.num_proven_theorems + self.num_sorry_theorems

    @property
    def num_proven_theorems(self) -> int:
        """How many are proved in their files."""
        return len(self.proven_theorems)

    @property
    def num_sorry_theorems_proved(self) -> int:
        """How many are open in their files, and proved since."""
        return len(self.sorry_theorems_proved)

    @property
    def num_sorry_theorems_unproved(self) -> int:
        """How many are open."""
        return len(self.sorry_theorems_unproved)

    @property
    def num_sorry_theorems(self) -> int:
        """How many are open in their files."""
        return self.num_sorry_theorems_proved + self.num_sorry_theorems_unproved

    @property
    def num_premise_files(self) -> int:
        """How many files have premises listed."""
        return len(self.premise_files)

    @property
    def num_premises(self) -> int:
        """How many premises they declare."""
        return sum(len(file.premises) for file in self.premise_files)

    @property
    def num_files_traced(self) -> int:
        """How many files were traced."""
        return len(self.files_traced)

    # -- theorems and files ------------------------------------------------------------------------------------------

    @property
    def get_all_theorems(self) -> list[Theorem]:
        """All theorems: those proved in their files, those proved since, and the open ones."""
        return self.proven_theorems + self.sorry_theorems_proved + self.sorry_theorems_unproved

    def get_theorem(self, full_name: str, file_path: str) -> Theorem | None:
        """Return the theorem with a name in a file; None if there is none."""
        for theorem in self.get_all_theorems:
            if theorem.full_name == full_name and str(theorem.file_path) == str(Path(file_path)):
                return theorem
        return None

    def update_theorem(self, theorem: Theorem) -> None:
        """Put a theorem in the place of the one with its name and place. Raises ValueError if there is none."""
        for name in LISTS:
            listed: list[Theorem] = getattr(self, name)
            if theorem in listed:
                listed[listed.index(theorem)] = theorem
                return
        raise ValueError(f"Theorem '{theorem.full_name}' not found.")

    def get_premise_file(self, path: str) -> PremiseFile | None:
        """Return a file with its premises; None if there is none."""
        return next((file for file in self.premise_files if str(file.path) == path), None)

    def get_file_traced(self, path: str) -> Path | None:
        """Return the path of a file that was traced; None if it was not."""
        return next((traced for traced in self.files_traced if str(traced) == path), None)

    def change_sorry_to_proven(self, theorem: Theorem, log_file: str) -> None:
        """Move an open theorem to those proved since, and append a line to a log.

        Raises ValueError if it is not among the open ones; then, or if the log cannot be written, nothing moves.
        """
        if theorem not in self.sorry_theorems_unproved:
            raise ValueError("The theorem is not in the list of unproved sorry theorems.")
        # LeanDojo-v2's line. Before the move, so that a log that cannot be written leaves all as it was.
        where = f"{theorem.full_name} in {theorem.file_path} for repo {self.name} (commit: {self.commit})"
        with cannot(f"write {log_file}"):
            Path(log_file).parent.mkdir(parents=True, exist_ok=True)
            with open(log_file, "a", encoding="utf-8") as log:
                log.write(f"{datetime.now():%Y-%m-%d %H:%M:%S} - Theorem proved: {where}\n")
        self.sorry_theorems_unproved.remove(theorem)
        self.sorry_theorems_proved.append(theorem)

    # -- as JSON, and in the store -----------------------------------------------------------------------------------

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Repository":
        """Read an entry of the database's file, or of a data set that `theorems_folder`, `premise_files_corpus` and
        `files_traced` are the paths of. Raises ValueError for another shape."""
        require(data, ("url", "name", "commit", "lean_version", "lean_dojo_version", "metadata"), cls.__name__)
        if "date_processed" not in data["metadata"]:
            raise ValueError("Metadata must contain the 'date_processed' key")
        metadata = dict(data["metadata"])
        if isinstance(metadata["date_processed"], str):
            metadata["date_processed"] = datetime.fromisoformat(metadata["date_processed"])
        versions = data["lean_version"], data["lean_dojo_version"]
        repo = cls(data["url"], data["name"], data["commit"], *versions, metadata, pr_url=data.get("pr_url"))
        # LeanDojo-v2 makes a repository of the data set that it has just written by such a record.
        if "theorems_folder" in data and "premise_files_corpus" in data:
            repo._read_data_set(*(Path(data[key]) for key in _DATA_SET))
            return repo
        for name in LISTS:
            theorems: list[Theorem] = getattr(repo, name)
            for record in data.get(name) or []:
                theorems.append(Theorem.from_dict(record, repo.url, repo.commit))
        repo.premise_files = list(map(PremiseFile.from_dict, data.get("premise_files") or []))
        repo.files_traced = list(map(Path, data.get("files_traced") or []))
        return repo

    def _read_data_set(self, folder: Path, corpus: Path, traced: Path) -> None:
        missing = [str(path) for path in (folder, corpus, traced) if not path.exists()]
        if missing:
            raise ValueError(f"Paths to data cannot be empty when creating repo from dataset: no {', '.join(missing)}")
        for path in sorted(folder.glob("*.json")):
            for record in json_items(path):
                theorem = Theorem.from_dict(record, self.url, self.commit)
                # A data set says nothing of states: what its tactics show is all that is known.
                if theorem.has_sorry:
                    self.sorry_theorems_unproved.append(theorem)
                else:
                    self.proven_theorems.append(theorem)
        for line in filter(None, corpus.read_text(encoding="utf-8").split("\n")):
            self.premise_files.append(PremiseFile.from_dict(json.loads(line)))
        for line in filter(None, traced.read_text(encoding="utf-8").split("\n")):
            self.files_traced.append(Path(json.loads(line)["traced_file_path"]))

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of the database's file."""
        date = self.metadata.get("date_processed")
        if isinstance(date, datetime):
            date = date.isoformat()
        return {
            "url": self.url,
            "name": self.name,
            "commit": self.commit,
            "lean_version": self.lean_version,
            "lean_dojo_version": self.lean_dojo_version,
            "metadata": {**self.metadata, "date_processed": date},
            **counts_json(self.counts()),
            **{name: [theorem.to_dict() for theorem in getattr(self, name)] for name in LISTS},
            "premise_files": [file.to_dict() for file in self.premise_files],
            "files_traced": list(map(str, self.files_traced)),
            "pr_url": self.pr_url,
        }

    @classmethod
    def from_store(cls, store: Store, repository: records.Repository) -> "Repository":
        """Return a repository of the store with all that it holds."""
        url, commit = repository.url, repository.commit
        name = repository.metadata.get("name") or "/".join(url.rstrip("/").split("/")[-2:])
        date = datetime.fromisoformat(repository.date)
        metadata = {**repository.metadata, "date_processed": date}
        repo = cls(url, name, commit, repository.lean_version, repository.tool, metadata, pr_url=repository.pr_url)
        for stored in store.theorems(repository):
            getattr(repo, list_of(stored.state)).append(Theorem.from_record(stored.theorem, url, commit))
        for file in store.files(repository, theorems=False):
            repo.premise_files.append(PremiseFile.from_record(file))
            if file.error is None:
                repo.files_traced.append(Path(file.path))
        return repo

    # -- as a source of exports (`leandojo.Source`) --------------------------------------------------------------------

    @property
    def about(self) -> records.Repository:
        """What the store would know of it."""
        rest = dict(self.metadata)
        date = rest.pop("date_processed", "")
        date = date.isoformat() if isinstance(date, datetime) else str(date)
        versions = self.lean_version, self.lean_dojo_version
        return records.Repository(self.name, self.url, self.commit, *versions, date, None, self.pr_url, rest)

    def counts(self) -> Mapping[str, int]:
        """Count as `Store.counts`."""
        states: dict[str, int] = {state: len(getattr(self, name)) for name, state in LISTS.items()}
        failed = self.num_premise_files - self.num_files_traced
        files = {"files": self.num_premise_files, "failed": failed, "premises": self.num_premises}
        return {**files, "theorems": self.total_theorems, **states}

    def theorems(self) -> Iterator[TracedTheorem]:
        """Yield its theorems as the store has them."""
        return (theorem.to_record() for theorem in self.get_all_theorems)

    def files(self) -> Iterator[TracedFile]:
        """Yield its files as the store has them, without theorems."""
        traced = {path.as_posix() for path in self.files_traced}
        for file in self.premise_files:
            yield file.to_record(None if file.path.as_posix() in traced else "it is not among the traced files")


_DATA_SET = ("theorems_folder", "premise_files_corpus", "files_traced")
