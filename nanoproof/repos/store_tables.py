"""The tables of the store of repositories, and what is made of their rows."""

import json
from typing import Any

from nanoproof.repos.traced_files import (
    Position,
    Provenance,
    Repository,
    StoredTheorem,
    TracedTactic,
    TracedTheorem,
    places_from_json,
)

VERSION = 2
"""Of the tables below; a store with a larger one was written by later code."""
APPLICATION_ID = 0x6E505246
"""What SQLite's header says of our stores, by which they are told from other files of SQLite."""
TABLES = """
CREATE TABLE repositories (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, url TEXT NOT NULL, commit_hash TEXT NOT NULL,
    lean_version TEXT NOT NULL, tool TEXT NOT NULL, date TEXT NOT NULL, source TEXT, pr_url TEXT,
    metadata TEXT NOT NULL, UNIQUE (url, commit_hash));
CREATE TABLE files (
    id INTEGER PRIMARY KEY, repository INTEGER NOT NULL REFERENCES repositories ON DELETE CASCADE,
    path TEXT NOT NULL, imports TEXT NOT NULL, error TEXT, UNIQUE (repository, path));
CREATE TABLE premises (
    file INTEGER NOT NULL REFERENCES files ON DELETE CASCADE, number INTEGER NOT NULL, full_name TEXT NOT NULL,
    kind TEXT NOT NULL, start_line INTEGER, start_column INTEGER, end_line INTEGER, end_column INTEGER,
    code TEXT NOT NULL, PRIMARY KEY (file, number)) WITHOUT ROWID;
CREATE INDEX premises_by_name ON premises (full_name);
CREATE TABLE theorems (
    id INTEGER PRIMARY KEY, file INTEGER NOT NULL REFERENCES files ON DELETE CASCADE, full_name TEXT NOT NULL,
    start_line INTEGER, start_column INTEGER, end_line INTEGER, end_column INTEGER, occurrence INTEGER NOT NULL,
    sorries INTEGER NOT NULL, num_tactics INTEGER NOT NULL, proof INTEGER REFERENCES proofs ON DELETE SET NULL,
    statement TEXT NOT NULL,
    premises TEXT NOT NULL, tactics TEXT NOT NULL, rests_on TEXT NOT NULL DEFAULT '[]');
CREATE INDEX theorems_by_file ON theorems (file);
CREATE INDEX theorems_by_name ON theorems (full_name);
CREATE TABLE proofs (
    id INTEGER PRIMARY KEY, repository INTEGER NOT NULL REFERENCES repositories ON DELETE CASCADE, path TEXT NOT NULL,
    full_name TEXT NOT NULL, statement TEXT NOT NULL, occurrence INTEGER NOT NULL, proof TEXT NOT NULL,
    how TEXT NOT NULL, time TEXT NOT NULL, rests_on TEXT NOT NULL DEFAULT '[]');
CREATE INDEX proofs_by_theorem ON proofs (repository, path, full_name);
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""
SINCE_VERSION_1 = """
ALTER TABLE theorems ADD COLUMN rests_on TEXT NOT NULL DEFAULT '[]';
ALTER TABLE proofs ADD COLUMN rests_on TEXT NOT NULL DEFAULT '[]';
"""
"""What a store of version 1 lacks: it did not say what a proof rests on."""
# A proof counts where the file leaves something open: else what the file's own proof rests on is what counts.
_RESTS_ON = "CASE WHEN t.sorries = 0 THEN t.rests_on ELSE coalesce(p.rests_on, '[]') END"
STATE_COLUMN = (
    "CASE WHEN t.sorries > 0 AND t.proof IS NULL THEN 'sorry' "
    f"WHEN {_RESTS_ON} <> '[]' THEN 'conditional' "
    "WHEN t.sorries = 0 THEN 'proved' ELSE 'sorry_proved' END"
)
THEOREM_COLUMNS = (
    "t.id, r.name, t.full_name, f.path, t.start_line, t.start_column, t.end_line, t.end_column, t.sorries, "
    f"{STATE_COLUMN}, p.proof, p.how, p.time, {_RESTS_ON}, t.num_tactics, t.statement, t.premises, t.tactics"
)
FROM = (
    "FROM theorems t JOIN files f ON f.id = t.file JOIN repositories r ON r.id = f.repository "
    "LEFT JOIN proofs p ON p.id = t.proof"
)


def repository_columns(repository: Repository) -> tuple[str | None, ...]:
    about = repository
    return (about.name, about.url, about.commit, about.lean_version, about.tool, about.date, about.source, about.pr_url)


def stored_theorem(row: tuple[Any, ...]) -> StoredTheorem:
    number, repository, name, path, *places, sorries, state, proof, how, when, rests_on = row[:14]
    count, statement, premises, tactics = row[14:]
    resting = places_from_json(json.loads(rests_on))
    theorem = TracedTheorem(
        *(name, path, Position(*places[:2]), Position(*places[2:]), statement),
        *(tuple(map(_tactic, json.loads(tactics))), tuple(json.loads(premises)), sorries),
        rests_on=() if sorries else resting,  # of an open one these are of the proof that we found
    )
    return StoredTheorem(number, repository, theorem, state, count, proof, how, when, resting)


def tactic_row(tactic: TracedTactic) -> list[Any]:
    # A list, and no object, which would repeat the names of its fields with every tactic.
    premises = [[premise.full_name, premise.path, premise.start, premise.end] for premise in tactic.premises]
    return [tactic.tactic, tactic.state_before, tactic.state_after, tactic.marked, premises]


def _tactic(row: list[Any]) -> TracedTactic:
    tactic, before, after, marked, premises = row
    provenances = []
    for name, path, start, end in premises:
        provenances.append(Provenance(name, path, start and Position(*start), end and Position(*end)))
    return TracedTactic(tactic, before, after, marked, tuple(provenances))


def json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
