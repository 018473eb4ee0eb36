"""`dynamic_database.json`: LeanDojo-v2's file of repositories, read into the store and written from it.

`{"repositories": [...]}`, each with its theorems in three lists (proved; proved by us; open), the premises of its
files, the files traced, and counts of them. Positions are texts, `"(line, column)"`; `"Pos(line, column)"` and
`[line, column]` are read too. What we proved has its proof in the fields `proof`, `proof_found_by` and `proof_time`,
which others ignore. Files that could not be traced are among `premise_files` only.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO, Any

from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write, read_json
from nanoproof.lean.lean_file import OpenPlace
from nanoproof.repos.difficulty import difficulty
from nanoproof.repos.leandojo import ShapeError, premise_record, read_corpus_line, read_theorem
from nanoproof.repos.store import Store
from nanoproof.repos.traced_files import (
    STATES,
    Position,
    Premise,
    Repository,
    State,
    StoredTheorem,
    TracedFile,
    TracedTactic,
    TracedTheorem,
    open_places,
    places_from_json,
)

LISTS: Mapping[str, State] = {
    "proven_theorems": "proved",
    "sorry_theorems_proved": "sorry_proved",
    "sorry_theorems_unproved": "sorry",
}
"""Where the theorems of each state are; one that is proved if others hold is not proved, and says which they are."""
UNKNOWN_PROOF = "imported without its proof"


def list_of(state: State) -> str:
    """Return the name of the list with the theorems of a state."""
    for name, listed in LISTS.items():
        if listed == state:
            return name
    # `conditional`: LeanDojo-v2 has no such state, and a reader of its file must not take it for proved.
    return "sorry_theorems_unproved"


# -- Records as JSON -------------------------------------------------------------------------------------------------


def position_text(place: Sequence[int]) -> str:
    """Write a position as the file has it."""
    line, column = place
    return f"({line}, {column})"


def theorem_json(theorem: TracedTheorem, url: str, commit: str, rating: float | None) -> dict[str, Any]:
    """Return a theorem as the file has it, with all of its tactics."""
    return {
        "full_name": theorem.full_name,
        "theorem_statement": theorem.statement or None,
        "file_path": theorem.path,
        "start": position_text(theorem.start),
        "end": position_text(theorem.end),
        "url": url,
        "commit": commit,
        "traced_tactics": list(map(tactic_json, theorem.tactics)),
        "difficulty_rating": rating,
    }


def tactic_json(tactic: TracedTactic) -> dict[str, Any]:
    """Return a tactic as the file has it; a premise whose place is not known is at (0, 0)."""
    # LeanDojo-v2 reads a position in any case. Lines count from 1, so that no premise is at this one, and `read_tactic`
    # takes it for a place that is not known.
    nowhere = Position(0, 0)
    premises = []
    for premise in tactic.premises:
        start = premise.start or nowhere
        record = {
            "full_name": premise.full_name,
            "def_path": premise.path,
            "def_pos": position_text(start),
            "def_end_pos": position_text(premise.end or start),
        }
        premises.append(record)
    return {
        "tactic": tactic.tactic,
        "annotated_tactic": [tactic.marked, premises],
        "state_before": tactic.state_before,
        "state_after": tactic.state_after,
    }


def premise_json(premise: Premise) -> dict[str, Any]:
    """Return a premise as the file has it."""
    places = {"start": position_text(premise.start), "end": position_text(premise.end)}
    return premise_record(premise) | places


def premise_file_json(file: TracedFile) -> dict[str, Any]:
    """Return the imports and premises of a file as the file has them."""
    return {
        "path": file.path,
        "imports": list(file.imports),
        "premises": list(map(premise_json, file.premises)),
    }


# -- Writing ---------------------------------------------------------------------------------------------------------


def export_database(store: Store, names: Sequence[str], path: Path) -> None:
    """Write repositories of the store to a JSON file, atomically; a theorem or file is in memory at a time."""
    repositories = [store.repository(name) for name in dict.fromkeys(names)]

    def write(file: IO[bytes]) -> None:
        file.write(b'{\n"repositories": [')
        separator = b"\n"
        for repository in repositories:
            file.write(separator)
            separator = b",\n"
            _write_repository(store, repository, file)
        file.write(b"\n]\n}\n")

    atomic_write(path, write)


def _write_repository(store: Store, repository: Repository, file: IO[bytes]) -> None:
    head = _dump({**head_json(repository), **counts_json(store.counts(repository))})
    # Without the brace that ends it: the lists, which may not fit into memory, are further fields of this object.
    file.write(head[:-1])
    for name in LISTS:
        _write_list(file, name, _stored_of_list(store, repository, name))
    _write_list(file, "premise_files", map(premise_file_json, store.files(repository, theorems=False)))
    traced = (source.path for source in store.files(repository, theorems=False) if source.error is None)
    _write_list(file, "files_traced", traced)
    file.write(b', "pr_url": ' + _dump(repository.pr_url) + b"}")


def _stored_of_list(store: Store, repository: Repository, name: str) -> Iterator[dict[str, Any]]:
    for state in STATES:
        if list_of(state) == name:
            for stored in store.theorems(repository, state):
                yield _stored_json(stored, repository)


def head_json(repository: Repository) -> dict[str, Any]:
    """Return what the file says of a repository before its counts; `name` is the last two parts of its address."""
    metadata = {**repository.metadata, "date_processed": repository.date}
    # A file that called a repository otherwise gets that name back: `read_head` keeps it among the metadata.
    name = metadata.pop("name", None) or _default_name(repository.url)
    return {
        "url": repository.url,
        "name": name,
        "commit": repository.commit,
        "lean_version": repository.lean_version,
        "lean_dojo_version": repository.tool,
        "metadata": metadata,
    }


def _default_name(url: str) -> str:
    """Return LeanDojo-v2's name for a repository: `owner/name`."""
    return "/".join(url.rstrip("/").split("/")[-2:])


def counts_json(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the counters of a repository, from `Store.counts`."""
    return {
        "total_theorems": counts["theorems"],
        "num_proven_theorems": counts["proved"],
        "num_sorry_theorems": counts["sorry"] + counts["sorry_proved"] + counts.get("conditional", 0),
        "num_sorry_theorems_proved": counts["sorry_proved"],
        "num_sorry_theorems_unproved": counts["sorry"] + counts.get("conditional", 0),
        "num_premise_files": counts["files"],
        "num_premises": counts["premises"],
        "num_files_traced": counts["files"] - counts["failed"],
    }


def _stored_json(stored: StoredTheorem, repository: Repository) -> dict[str, Any]:
    # LeanAgent rates by the proof in the file: one that we found does not make an open theorem easier.
    rating = difficulty(stored.num_tactics, stored.state != "proved")
    record = theorem_json(stored.theorem, repository.url, repository.commit, rating)
    if stored.proof is not None and stored.how != UNKNOWN_PROOF:
        record |= {"proof": stored.proof, "proof_found_by": stored.how, "proof_time": stored.time}
    if stored.rests_on:
        # `sorries` beside it tells whether the file's proof rests on these, or ours: see `_import_repository`.
        record |= {"rests_on": list(map(asdict, stored.rests_on)), "sorries": stored.theorem.sorries}
    return record


def _write_list(file: IO[bytes], name: str, items: Iterable[Any]) -> None:
    file.write(f', "{name}": ['.encode())
    for number, item in enumerate(items):
        file.write((b",\n" if number else b"\n") + _dump(item))
    file.write(b"]")


def _dump(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8")


# -- Reading ---------------------------------------------------------------------------------------------------------


def read_database(path: Path) -> list[Any]:
    """Read the repositories of a file as JSON. Raises UserError if it is damaged or something else."""
    value = read_json(path)
    repositories = value.get("repositories") if isinstance(value, dict) else None
    if not isinstance(repositories, list):
        raise UserError(f'{path} is no dynamic_database.json: it has no list "repositories"')
    return repositories


def import_database(store: Store, path: Path, name: str | None = None) -> list[Repository]:
    """Read a file into the store: all of it, or nothing if it is damaged or the process is killed.

    Repositories that are there (by address and commit) get the files and theorems that they lack. Raises UserError that
    names the repository and the field where the shape is wrong.
    """
    repositories = []
    records = read_database(path)
    if name is not None and len(records) != 1:
        raise UserError(f"--name names one repository; {path} holds {len(records)}")
    with store.all_or_nothing():
        for number, record in enumerate(records):
            try:
                repositories.append(_import_repository(store, record, name))
            except ShapeError as error:
                raise UserError(f"{path}, repository {number}: {error}") from None
    return repositories


def read_head(record: Any) -> Repository:
    """Read what the file says of a repository itself. Raises ShapeError."""
    if not isinstance(record, dict):
        raise ShapeError(f"expected an object, got {record!r:.60}")
    url, commit, metadata = record.get("url"), record.get("commit"), record.get("metadata")
    if not isinstance(metadata, dict) or "date_processed" not in metadata:
        raise ShapeError("metadata: expected an object with date_processed")
    if not isinstance(url, str) or not isinstance(commit, str):
        raise ShapeError("url and commit: expected texts")
    rest = dict(metadata)
    date = str(rest.pop("date_processed") or "")
    full_name = str(record.get("name") or "")
    # Our names are the store's own; a name that the address does not tell is kept for the next export.
    if full_name != _default_name(url):
        rest["name"] = full_name
    version, tool = str(record.get("lean_version") or ""), str(record.get("lean_dojo_version") or "")
    return Repository("", url, commit, version, tool, date, None, record.get("pr_url"), rest)


def _import_repository(store: Store, record: Any, name: str | None) -> Repository:
    about = read_head(record)
    repository = store.add_repository(
        *(about.url, about.commit, name, about.lean_version, None, about.tool, about.date, about.pr_url),
        metadata=about.metadata,
    )
    traced = set(_list(record, "files_traced"))
    for file in map(read_corpus_line, _list(record, "premise_files")):
        if file.path not in traced:
            file = replace(file, error="it is not among the traced files")
        store.put_premises(repository, file)
        traced.discard(file.path)
    # Files without any premise are in the list of traced files only.
    for path in sorted(traced):
        store.put_premises(repository, TracedFile(path, (), (), ()))
    for key, state in LISTS.items():
        for theorem_record in _list(record, key):
            theorem, resting = read_theorem(theorem_record), _resting(theorem_record)
            # In the list of open theorems, with `rests_on` and no `sorry`: complete in its file, if others hold.
            if state == "proved" or (resting and theorem_record.get("sorries") == 0):
                theorem = replace(theorem, sorries=0, rests_on=resting)
            else:
                # The list says that it is open, also where no tactic shows a `sorry` (a term, or tactics left out).
                theorem = replace(theorem, sorries=max(1, open_places(theorem)), rests_on=())
            store.add_theorems(repository, [theorem])
            if state == "sorry_proved" or (resting and theorem.sorries):
                _record(store, repository, theorem, theorem_record)
    return repository


def _resting(record: Mapping[str, Any]) -> tuple[OpenPlace, ...]:
    """Read what an imported theorem rests on. Raises ShapeError."""
    try:
        return places_from_json(record.get("rests_on") or [])
    except (KeyError, TypeError, ValueError) as error:
        raise ShapeError(f"rests_on: {error!r}") from error


def _record(store: Store, repository: Repository, theorem: TracedTheorem, record: Mapping[str, Any]) -> None:
    """Record the proof of an imported theorem that was proved, unless the store has one."""
    # LeanDojo-v2 says that a theorem was proved and not how: `UNKNOWN_PROOF` marks the empty proof as none to show.
    proof, how = "", UNKNOWN_PROOF
    if isinstance(record.get("proof"), str):
        proof, how = record["proof"], str(record.get("proof_found_by") or "imported")
    for stored in store.find_theorems(repository, theorem.full_name):
        if stored.theorem.id == theorem.id:
            if stored.state == "sorry":
                store.record_proof(stored.id, proof, how, record.get("proof_time"), _resting(record))
            return


def _list(record: Mapping[str, Any], name: str) -> Iterator[Any]:
    value = record.get(name) or []
    if not isinstance(value, list):
        raise ShapeError(f"{name}: expected a list")
    return iter(value)
