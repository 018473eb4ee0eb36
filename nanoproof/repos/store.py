"""The store of repositories: one SQLite file with their files, theorems, tactics, premises, and the proofs found.

    with Store() as store:                                 # $NANOPROOF_HOME/repos/store.sqlite
        repository = store.add_repository("https://host/owner/name", commit="1f3e...")
        store.put_file(repository, traced_file)            # idempotent: replaces what is known of that file
        for stored in store.theorems(repository, state="sorry"):
            store.record_proof(stored.id, "by simp", how="repos prove")

Opening a store changes nothing in it. Several processes may read and write at once. Reads are streams that hold the
theorems of one file at a time, and see what others have written in the meantime. A proof belongs to a name and a
statement in a file, so it survives that the file is traced again, and counts as long as the theorem is stated so and
open.
"""

import difflib
import json
import re
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import metadata as packages
from pathlib import Path
from typing import Any

from nanoproof.common.errors import UserError, cannot
from nanoproof.common.files import MOST_NAME_BYTES, cut_name
from nanoproof.common.process import Closing
from nanoproof.common.run_dir import home
from nanoproof.lean.lean_file import OpenPlace
from nanoproof.repos.store_tables import (
    APPLICATION_ID,
    FROM,
    SINCE_VERSION_1,
    STATE_COLUMN,
    TABLES,
    THEOREM_COLUMNS,
    VERSION,
    json_text,
    repository_columns,
    stored_theorem,
    tactic_row,
)
from nanoproof.repos.traced_files import (
    STATES,
    Position,
    Premise,
    Repository,
    State,
    StoredTheorem,
    TracedFile,
    TracedTheorem,
    open_places,
)

BUSY_SECONDS = 60.0
"""How long to wait for another process that writes."""


def default_path() -> Path:
    """Return `$NANOPROOF_HOME/repos/store.sqlite`."""
    return home() / "repos" / "store.sqlite"


def tool_version() -> str:
    """Return what our traces are said to be made by."""
    return f"nanoproof {packages.version('nanoproof')}"


def now() -> str:
    """Return the present time, ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Store(Closing):
    """The store in a SQLite file, created if it is missing; for use by any thread, and a context manager.

    Raises UserError for a file that is no store, one of a later version, and whatever SQLite cannot do (a full disk, a
    process that keeps it locked).
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = default_path() if path is None else Path(path)
        self._lock = threading.RLock()
        with cannot(f"make the folder of the store {self.path}"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._errors():
            # In autocommit mode, as Python's own transactions begin at writes only and end at some statements. One
            # connection for all threads, one at a time by `_lock`.
            self._db = sqlite3.connect(
                self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=64
            )
        try:
            with self._errors():
                self._open()
        except BaseException:
            self._db.close()
            raise

    def _open(self) -> None:
        """Check what the file is before anything is written to it, and make the tables of a new one."""
        self._db.execute("BEGIN")  # so that all that is read of it is from one moment
        is_made, version = self._is_made(), self._version()
        self._db.execute("COMMIT")
        if is_made and version < VERSION:
            with self._transaction():
                if self._version() < VERSION:  # another process may have been faster
                    self._run(SINCE_VERSION_1)
        elif not is_made:
            with self._transaction():
                if not self._is_made():  # another process may have been faster
                    self._run(TABLES)
                    self._db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        self._write_ahead()
        # With a write-ahead log a power cut may lose the last change, and damages nothing (SQLite's documentation).
        self._db.execute("PRAGMA synchronous = NORMAL")
        # Off by default for each connection; without it no deletion cascades.
        self._db.execute("PRAGMA foreign_keys = ON")

    def _write_ahead(self) -> None:
        """Let readers and a writer work at once; the file remembers it. SQLite does not wait for others to end here."""
        deadline = time.monotonic() + BUSY_SECONDS
        while self._db.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def _run(self, statements: str) -> None:
        """Run statements that bring the tables to the present version."""
        for statement in filter(str.strip, statements.split(";")):
            self._db.execute(statement)
        self._db.execute(f"PRAGMA user_version = {VERSION}")

    def _version(self) -> int:
        return int(self._db.execute("PRAGMA user_version").fetchone()[0])

    def _is_made(self) -> bool:
        """Tell whether the file has our tables; False if it is empty. Raises UserError if it is something else."""
        (application,) = self._db.execute("PRAGMA application_id").fetchone()
        version = self._version()
        (tables,) = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if not (application or version or tables):
            return False
        if application != APPLICATION_ID:
            raise UserError(f"{self.path} is a database of something else, not a store of repositories")
        if version > VERSION:
            raise UserError(
                f"{self.path} was written by a later version of nanoproof (store version {version}; this one reads up "
                f"to {VERSION})"
            )
        return True

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn errors of SQLite into a UserError that names the file."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            if "not a database" in str(error):
                raise UserError(f"{self.path} is not a store of repositories (nor any database of SQLite)") from error
            raise UserError(f"the store {self.path}: {error}") from error

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Write all of something or nothing; within another transaction it is part of that."""
        with self._lock, self._errors():
            if self._db.in_transaction:
                yield
                return
            # A transaction that begins with reading cannot wait for another's write in the middle: it fails at once.
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Make what is written within one change: other processes see all of it or nothing, as after a kill."""
        with self._transaction():
            yield

    def _rows(self, query: str, values: Iterable[Any] = ()) -> list[Any]:
        with self._lock, self._errors():
            return self._db.execute(query, tuple(values)).fetchall()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    # -- settings ----------------------------------------------------------------------------------------------------

    def setting(self, name: str) -> str | None:
        """Return a setting of this store; None if it was never set."""
        for (value,) in self._rows("SELECT value FROM settings WHERE name = ?", [name]):
            return str(value)
        return None

    def set_once(self, name: str, value: str, replace: bool = False) -> str:
        """Set a setting unless it has a value, and return what it is then; `replace` sets it in any case."""
        verb = "REPLACE" if replace else "IGNORE"
        with self._transaction():
            self._db.execute(f"INSERT OR {verb} INTO settings VALUES (?, ?)", (name, value))
            present = self.setting(name)
        assert present is not None
        return present

    # -- repositories ------------------------------------------------------------------------------------------------

    def repositories(self) -> list[Repository]:
        """List the repositories in the order in which they were added."""
        rows = self._rows(
            "SELECT name, url, commit_hash, lean_version, tool, date, source, pr_url, metadata FROM repositories "
            "ORDER BY id"
        )
        repositories = []
        for *columns, about in rows:
            name, url, commit, version, tool, date, source, pr_url = columns
            more = json.loads(about)
            repositories.append(Repository(name, url, commit, version, tool, date, source, pr_url, more))
        return repositories

    def repository(self, name: str) -> Repository:
        """Return a repository by name. Raises UserError, with the nearest name, if there is none."""
        known = {repository.name: repository for repository in self.repositories()}
        if name not in known:
            hint = f"there are: {', '.join(known) or 'none'}"
            for near in difflib.get_close_matches(name, known, n=1):
                hint = f"did you mean {near}?"
            raise UserError(f"no repository {name!r} in {self.path}; {hint}")
        return known[name]

    def find_repository(self, url: str, commit: str) -> Repository | None:
        """Return the repository with an address at a commit; None if there is none."""
        for repository in self.repositories():
            if (repository.url, repository.commit) == (url, commit):
                return repository
        return None

    def add_repository(
        self,
        url: str,
        commit: str = "",
        name: str | None = None,
        lean_version: str = "",
        source: Path | str | None = None,
        tool: str | None = None,
        date: str | None = None,
        pr_url: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Repository:
        """Add a repository and return it; one that is there with this address and commit is returned as it is.

        Without a name it is called after its address, with the commit behind it if that name is taken. Raises UserError
        for a name that is taken or is none.
        """
        with self._transaction():
            present = self.find_repository(url, commit)
            if present is not None:
                return present
            taken = {repository.name for repository in self.repositories()}
            if name is None:
                name = free_name(url, commit, taken)
            elif name in taken:
                raise UserError(f"the name {name!r} is taken by another repository; choose one with --name")
            # It becomes the name of a folder beside the store, and an argument of commands.
            if not re.fullmatch(r"[\w.+-]+", name) or name.startswith((".", "-")):
                raise UserError(f"a name must be made of letters, digits, and . _ + -; got {name!r}")
            if cut_name(name) != name:
                raise UserError(f"a name may have {MOST_NAME_BYTES} bytes; {name[:20]}... has {len(name.encode())}")
            added = Repository(
                name=name,
                url=url,
                commit=commit,
                lean_version=lean_version,
                tool=tool or tool_version(),
                date=date or now(),
                source=None if source is None else str(source),
                pr_url=pr_url,
                metadata=dict(metadata or {}),
            )
            self._db.execute(
                "INSERT INTO repositories (name, url, commit_hash, lean_version, tool, date, source, pr_url, metadata) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*repository_columns(added), json_text(dict(added.metadata))),
            )
            return added

    def update_repository(self, changed: Repository) -> None:
        """Write what is known of a repository, found by its name. Raises UserError if it is not there."""
        with self._transaction():
            key = self._key(changed.name)
            self._db.execute(
                "UPDATE repositories SET name = ?, url = ?, commit_hash = ?, lean_version = ?, tool = ?, date = ?, "
                "source = ?, pr_url = ?, metadata = ? WHERE id = ?",
                (*repository_columns(changed), json_text(dict(changed.metadata)), key),
            )

    def remove_repository(self, name: str) -> None:
        """Remove a repository with all that is known of it. Raises UserError if it is not there."""
        with self._transaction():
            self._db.execute("DELETE FROM repositories WHERE id = ?", (self._key(name),))

    def _key(self, repository: Repository | str) -> int:
        if isinstance(repository, Repository):
            repository = repository.name
        rows = self._rows("SELECT id FROM repositories WHERE name = ?", [repository])
        if not rows:
            self.repository(repository)  # raises
        return int(rows[0][0])

    def counts(self, repository: Repository | str) -> dict[str, int]:
        """Count what a repository holds: `files`, `failed` files, `premises`, `theorems`, and theorems by state.

        There is a count of `conditional` theorems only where there are such.
        """
        key = self._key(repository)
        ((files, failed),) = self._rows("SELECT count(*), count(error) FROM files WHERE repository = ?", [key])
        ((premises,),) = self._rows(
            "SELECT count(*) FROM premises p JOIN files f ON f.id = p.file WHERE f.repository = ?", [key]
        )
        by_state = dict(self._rows(f"SELECT {STATE_COLUMN}, count(*) {FROM} WHERE r.id = ? GROUP BY 1", [key]))
        theorems = sum(by_state.values())
        counts: dict[str, int] = {"files": files, "failed": failed, "premises": premises, "theorems": theorems}
        for state in STATES:
            if state != "conditional" or state in by_state:
                counts[state] = by_state.get(state, 0)
        return counts

    # -- files -------------------------------------------------------------------------------------------------------

    def put_file(self, repository: Repository | str, file: TracedFile) -> None:
        """Write what tracing found in a file, in place of what was known of it.

        A theorem that has the name and statement of one before keeps its number, and its proof where it is still open.
        """
        with self._transaction():
            key = self._key(repository)
            kept = {}
            for number, *identity in self._rows(
                "SELECT t.id, t.full_name, t.statement, t.occurrence FROM theorems t JOIN files f ON f.id = t.file "
                "WHERE f.repository = ? AND f.path = ?",
                [key, file.path],
            ):
                kept[tuple(identity)] = number
            file_key = self._put(key, file)
            self._db.execute("DELETE FROM theorems WHERE file = ?", (file_key,))
            self._insert(key, file_key, file.path, file.theorems, kept)

    def put_premises(self, repository: Repository | str, file: TracedFile) -> None:
        """Write what is known of a file but for its theorems, which stay as they are."""
        with self._transaction():
            self._put(self._key(repository), file)

    def _put(self, repository: int, file: TracedFile) -> int:
        """Write imports, error and premises of a file, and return its number."""
        key = self._file(repository, file.path)
        self._db.execute(
            "UPDATE files SET imports = ?, error = ? WHERE id = ?", (json_text(file.imports), file.error, key)
        )
        self._db.execute("DELETE FROM premises WHERE file = ?", (key,))
        rows = []
        for number, premise in enumerate(file.premises):
            rows.append((key, number, premise.full_name, premise.kind, *premise.start, *premise.end, premise.code))
        self._db.executemany("INSERT INTO premises VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        return key

    def add_theorems(self, repository: Repository | str, theorems: Iterable[TracedTheorem]) -> int:
        """Add theorems, in whatever order, to the files that they name; returns how many.

        For data sets whose theorems do not come file by file. A theorem that is there (by name and place) is not added
        again.
        """
        with self._transaction():
            key = self._key(repository)
            added = 0
            for theorem in theorems:
                file_key = self._file(key, theorem.path)
                namesakes = self._rows(
                    "SELECT statement, start_line, start_column, end_line, end_column FROM theorems "
                    "WHERE file = ? AND full_name = ?",
                    [file_key, theorem.full_name],
                )
                if any(row[1:] == (*theorem.start, *theorem.end) for row in namesakes):
                    continue
                # `example`s of a file all have one name, and some even the statement of another.
                first = sum(row[0] == theorem.statement for row in namesakes)
                self._insert(key, file_key, theorem.path, [theorem], {}, first)
                added += 1
            return added

    def _file(self, repository: int, path: str) -> int:
        self._db.execute(
            "INSERT OR IGNORE INTO files (repository, path, imports) VALUES (?, ?, '[]')", (repository, path)
        )
        rows = self._rows("SELECT id FROM files WHERE repository = ? AND path = ?", [repository, path])
        return int(rows[0][0])

    def _insert(
        self,
        repository: int,
        file: int,
        path: str,
        theorems: Iterable[TracedTheorem],
        kept: Mapping[tuple[Any, ...], int],
        first: int = 0,
    ) -> None:
        """Insert theorems of a file; `first` is how many others have their name and statement.

        `kept` are the numbers of those before, by name, statement and occurrence.
        """
        seen: Counter[tuple[str, str]] = Counter()
        proofs: dict[tuple[Any, ...], int] = {}
        for *identity, number in self._rows(
            # The latest of each: it counts.
            "SELECT full_name, statement, occurrence, max(id) FROM proofs WHERE repository = ? AND path = ? "
            "GROUP BY 1, 2, 3",
            [repository, path],
        ):
            proofs[tuple(identity)] = number
        for theorem in theorems:
            occurrence = first + seen[theorem.full_name, theorem.statement]
            seen[theorem.full_name, theorem.statement] += 1
            key = (theorem.full_name, theorem.statement, occurrence)
            sorries = open_places(theorem)
            # Where the file has a proof by now, ours counts no more.
            proof = proofs.get(key) if sorries else None
            self._db.execute(
                "INSERT INTO theorems VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(kept.get(key), file, theorem.full_name, *theorem.start, *theorem.end, occurrence, sorries),
                    *(len(theorem.tactics), proof, theorem.statement, json_text(theorem.premises)),
                    json_text(list(map(tactic_row, theorem.tactics))),
                    json_text(list(map(asdict, theorem.rests_on))),
                ),
            )

    def remove_file(self, repository: Repository | str, path: str) -> None:
        """Remove a file with its theorems, as when it is no longer in the repository; nothing if it is not there."""
        with self._transaction():
            self._db.execute("DELETE FROM files WHERE repository = ? AND path = ?", (self._key(repository), path))

    def files(self, repository: Repository | str, theorems: bool = True) -> Iterator[TracedFile]:
        """Yield the files of a repository in the order in which they came, without theorems if those are not asked for.

        One file is in memory at a time.
        """
        for key, path in self._file_keys(self._key(repository)):
            rows = self._rows("SELECT imports, error FROM files WHERE id = ?", [key])
            if not rows:
                continue  # removed in the meantime
            premises = []
            for name, code, *place, kind in self._rows(
                "SELECT full_name, code, start_line, start_column, end_line, end_column, kind FROM premises "
                "WHERE file = ? ORDER BY number",
                [key],
            ):
                premises.append(Premise(name, code, Position(*place[:2]), Position(*place[2:]), kind))
            own = [stored.theorem for stored in self._theorems_of(key, None, True)] if theorems else []
            yield TracedFile(path, tuple(json.loads(rows[0][0])), tuple(premises), tuple(own), rows[0][1])

    def _file_keys(self, repository: int) -> Iterator[tuple[int, str]]:
        """Yield number and path of each file, some at a time."""
        # Not by one cursor that is left open: while it is, no write-ahead log gets shorter, whoever writes.
        query = "SELECT id, path FROM files WHERE repository = ? AND id > ? ORDER BY id LIMIT 16"
        last = 0
        while rows := self._rows(query, [repository, last]):
            yield from rows
            last = rows[-1][0]

    # -- theorems ----------------------------------------------------------------------------------------------------

    def theorems(
        self,
        repository: Repository | str | None = None,
        state: State | None = None,
        path: str | None = None,
        tactics: bool = True,
    ) -> Iterator[StoredTheorem]:
        """Yield theorems by file and place, those in one state or file only if one is given.

        `tactics=False` leaves their tactics and premises unread. A proof that is recorded meanwhile counts from the
        next file on. Raises UserError for an unknown repository or state.
        """
        if state is not None and state not in STATES:
            raise UserError(f"no state {state!r}; there are: {', '.join(STATES)}")
        for owner in self.repositories() if repository is None else [repository]:
            for key, file in self._file_keys(self._key(owner)):
                if path is None or file == path:
                    yield from self._theorems_of(key, state, tactics)

    def _theorems_of(self, file: int, state: State | None, tactics: bool) -> list[StoredTheorem]:
        columns = THEOREM_COLUMNS
        if not tactics:  # they are most of a store: goals, before and after each
            columns = columns.replace("t.premises, t.tactics", "'[]', '[]'")
        query = f"SELECT {columns} {FROM} WHERE t.file = ? AND (? IS NULL OR {STATE_COLUMN} = ?)"
        ordered = f"{query} ORDER BY t.start_line, t.start_column, t.id"
        return list(map(stored_theorem, self._rows(ordered, [file, state, state])))

    def theorem(self, theorem_id: int) -> StoredTheorem:
        """Return a theorem by its number. Raises UserError if it is not there."""
        rows = self._rows(f"SELECT {THEOREM_COLUMNS} {FROM} WHERE t.id = ?", [theorem_id])
        if not rows:
            raise UserError(f"no theorem number {theorem_id} in {self.path}")
        return stored_theorem(rows[0])

    def find_theorems(self, repository: Repository | str, full_name: str) -> list[StoredTheorem]:
        """Return the theorems of a repository that have a name."""
        query = f"SELECT {THEOREM_COLUMNS} {FROM} WHERE r.id = ? AND t.full_name = ? ORDER BY f.id, t.start_line"
        return list(map(stored_theorem, self._rows(query, [self._key(repository), full_name])))

    def lengths(self, repository: Repository | str) -> Iterator[tuple[int, str, int, bool]]:
        """Yield number, name, tactics and whether it or what it rests on is open, of each theorem, by place."""
        for key, _ in self._file_keys(self._key(repository)):
            for number, name, tactics, is_open in self._rows(
                "SELECT id, full_name, num_tactics, sorries > 0 OR rests_on <> '[]' FROM theorems WHERE file = ? "
                "ORDER BY start_line, start_column, id",
                [key],
            ):
                yield number, name, tactics, bool(is_open)

    def record_proof(
        self,
        theorem_id: int,
        proof: str,
        how: str,
        when: str | None = None,
        rests_on: Iterable[OpenPlace] = (),
    ) -> None:
        """Record that what a theorem's file leaves open was proved: `proof` is its proof, `how` tells what found it.

        With `rests_on` it is proved if these hold. Raises UserError if there is no such theorem, or it is not open. A
        later proof of the same is kept beside the earlier one, and counts; one that rests on something is not recorded
        beside one that does not.
        """
        places = json_text(list(map(asdict, rests_on)))
        with self._transaction():
            rows = self._rows(
                "SELECT f.repository, f.path, t.full_name, t.statement, t.occurrence, t.sorries, "
                f"{STATE_COLUMN} {FROM} WHERE t.id = ?",
                [theorem_id],
            )
            if not rows:
                raise UserError(f"no theorem number {theorem_id} in {self.path}")
            *identity, sorries, state = rows[0]
            if not sorries:
                raise UserError(f"{identity[2]} in {identity[1]} is proved there; there is nothing open to record")
            if state == "sorry_proved" and places != "[]":
                return
            added = self._db.execute(
                "INSERT INTO proofs (repository, path, full_name, statement, occurrence, proof, how, time, rests_on) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*identity, proof, how, when or now(), places),
            )
            self._db.execute("UPDATE theorems SET proof = ? WHERE id = ?", (added.lastrowid, theorem_id))


def free_name(url: str, commit: str, taken: Collection[str]) -> str:
    """Choose a name after an address that none of `taken` is: its last part, then with the commit, then numbered."""
    last = re.split(r"[/\\:]", url.rstrip("/\\").removesuffix(".git"))[-1]
    base = cut_name(re.sub(r"[^\w.+-]+", "-", last).strip(".-")) or "repository"
    if base not in taken:
        return base
    if commit and f"{base}-{commit[:8]}" not in taken:
        return f"{base}-{commit[:8]}"
    number = 2
    while f"{base}-{number}" in taken:
        number += 1
    return f"{base}-{number}"
