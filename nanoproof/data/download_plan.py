"""What a download has to do for one data set: which files it wants, which are here, which are to be fetched.

A set stays at the commit that its manifest records, so that a second download changes nothing; that its repository has
moved on is only noted. `--force` takes the newest commit, `--revision NAME=COMMIT` the one that is named.
"""

import shutil
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from nanoproof.common.config import check, opt, validate
from nanoproof.common.errors import UserError
from nanoproof.data.catalog import CATALOG, DataSet, Source
from nanoproof.data.content import count_rows
from nanoproof.data.manifest import (
    FileRecord,
    Manifest,
    dataset_dir,
    find_problems,
    now,
    read_manifest,
    sha256_of,
    write_manifest,
)
from nanoproof.data.transfer import Remote, RemoteFile, TransferError, partial_path, patiently

ROUNDED = 0.02
"""How far a number of rows may be from one that is only roughly known."""


@dataclass(frozen=True)
class DownloadConfig:
    """How data sets are downloaded."""

    dry_run: bool = opt(False, "Only list the files with their sizes.")
    force: bool = opt(False, "Fetch everything again, at the newest commit.")
    verify: bool = opt(False, "Compare the checksums of the files that are here, and fetch damaged ones again.")
    shards: int | None = opt(None, "Training shards of nemotron to fetch, besides the validation shard.", min=1)
    revision: tuple[str, ...] = opt((), "Commits, tags or branches to take data sets from.", metavar="NAME=REVISION")
    workers: int = opt(8, "Files that are fetched at a time.", min=1, max=64)
    timeout: float = opt(30.0, "Seconds without a byte after which a request is given up and tried again.", above=0)

    def __post_init__(self) -> None:
        validate(self, "download")
        for text in self.revision:
            name, _, revision = text.partition("=")
            known = name in CATALOG and CATALOG[name].files
            check(bool(known and revision), f"--revision must be NAME=REVISION with a downloaded data set, got {text}")

    def pin(self, name: str) -> str:
        """The revision that was asked for of a data set; "" if none was."""
        return dict(text.partition("=")[::2] for text in self.revision).get(name, "")


@dataclass
class Plan:
    """The work for one data set, and then what has become of it. `here` are the good files, by local name."""

    data_set: DataSet
    before: Manifest | None = None
    here: dict[str, FileRecord] = field(default_factory=dict)
    to_fetch: list[RemoteFile] = field(default_factory=list)
    wanted: dict[str, int | None] = field(default_factory=dict)
    commits: dict[str, str] = field(default_factory=dict)
    fetched: list[str] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    closed: dict[str, str] = field(default_factory=dict)
    """Repositories of which nothing can be had, with the reason."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def name(self) -> str:
        """The data set's name."""
        return self.data_set.name

    @property
    def missing(self) -> tuple[str, ...]:
        """Names of files that are wanted and not here."""
        return tuple(sorted(set(self.wanted) - set(self.here)))

    def target(self, file: RemoteFile) -> Path:
        """Where a file belongs."""
        return dataset_dir(self.name) / file.local

    @property
    def bytes_to_come(self) -> int:
        """Bytes to fetch, as far as sizes are known, less what waits half done."""
        return sum(max(0, (file.size or 0) - waiting_bytes(file, self.target(file))) for file in self.to_fetch)

    def add(self, file: RemoteFile, size: int, sha256: str, rows: int | None) -> None:
        """A file has arrived: it is listed from now on."""
        record = FileRecord(size, sha256, rows, file.source.address, file.path, file.source.revision, file.commit)
        with self.lock:
            self.here[file.local] = record
            self.fetched.append(file.local)
            self.save()

    def fail(self, file: RemoteFile, error: TransferError) -> None:
        """A file did not arrive."""
        with self.lock:
            self.failures[file.local] = str(error)
            if error.for_all:
                self.closed[file.source.repository] = str(error)

    def end(self) -> None:
        """All is done that could be done: write down what is here and what is missing."""
        self.to_fetch = []
        self.save()

    def save(self) -> None:
        """Write the manifest if there is something to list and it is news."""
        if not self.here:
            return
        main = self.data_set.files[0]
        commit = self.commits.get(main.repository) or (self.before.commit if self.before else "")
        known = (self.before.commit, self.before.files, self.before.missing) if self.before else None
        if known != (commit, self.here, self.missing):
            revision = main.revision
            self.before = Manifest(self.name, main.address, revision, commit, now(), dict(self.here), self.missing)
            write_manifest(self.before)

    def row_warnings(self) -> list[str]:
        """Files with another number of rows than the catalog expects."""
        found = []
        for filename, record in sorted(self.here.items()):
            expected = self.data_set.expected_rows(filename)
            if expected is None or record.rows is None:
                continue
            if abs(record.rows - expected) > (expected * ROUNDED if self.data_set.about else 0):
                about = "about " if self.data_set.about else ""
                found.append(f"{filename} has {record.rows:,} rows, {about}{expected:,} were expected")
        return found


def waiting_bytes(file: RemoteFile, target: Path) -> int:
    """Bytes of a file that came in an earlier attempt."""
    partial = partial_path(file, target)
    return partial.stat().st_size if file.resume_key and partial.exists() else 0


def make_plan(
    data_set: DataSet,
    config: DownloadConfig,
    remotes: Mapping[str, Remote],
    stop: threading.Event,
    on_hashed: Callable[[int], None],
) -> Plan:
    """Ask the hosts and look at the disk. What a host refuses ends up in the plan's failures.

    `on_hashed` hears how many bytes of files that are here have been compared.
    """
    plan = Plan(data_set)
    try:
        plan.before = read_manifest(data_set.name)
    except UserError as error:
        plan.notes.append(f"the manifest is made anew: {error}")
    if plan.before is not None:
        problems = find_problems(plan.before, hashes=config.verify and not config.force, on_bytes=on_hashed)
        plan.here = {name: record for name, record in plan.before.files.items() if name not in problems}
        plan.notes += [f"{name} {problem}; it is fetched again" for name, problem in problems.items()]
    for source in (*data_set.files, *(source for _, source in data_set.whitelists)):
        pin = config.pin(data_set.name) if source in data_set.files else ""
        try:
            for file in _list_files(plan, source, pin, config, remotes[source.host], stop):
                plan.wanted[file.local] = file.size
                if config.force or not _is_here(plan, file):
                    plan.to_fetch.append(file)
        except TransferError as error:
            _without_listing(plan, source, error)
    return plan


def _list_files(
    plan: Plan, source: Source, pin: str, config: DownloadConfig, remote: Remote, stop: threading.Event
) -> list[RemoteFile]:
    """The files to have of a source, at the right commit."""
    recorded = "" if config.force else _recorded_commit(plan, source)
    newest = patiently(lambda: remote.commit(source, pin or source.revision), stop)
    if recorded and newest and newest != recorded:
        if pin:
            plan.notes.append(f"{source.repository} was at {recorded[:12]} and is taken at {newest[:12]} now")
        else:
            plan.notes.append(
                f"{source.repository} is at {newest[:12]} by now, the files here are of {recorded[:12]} and stay so; "
                "--force takes the new ones"
            )
    commit = newest if pin or not recorded else recorded
    plan.commits[source.repository] = commit
    files = patiently(lambda: remote.files(source, commit or pin or source.revision), stop)
    if source.is_pattern and plan.data_set.shards:
        if len(files) != plan.data_set.shards:
            plan.notes.append(f"{source.repository} has {len(files)} shards, {plan.data_set.shards} were expected")
        if config.shards is not None:
            files = [*files[:-1][: config.shards], files[-1]]
    return files


def _recorded_commit(plan: Plan, source: Source) -> str:
    """The commit that the files of a repository were taken from; those too that are damaged or gone since."""
    known = plan.before.files.values() if plan.before else ()
    return next((record.commit for record in known if record.source == source.address), "")


def _without_listing(plan: Plan, source: Source, error: TransferError) -> None:
    """Of a host that does not answer or refuses, what was known before stays known.

    One that is not reached is no failure if all of its files are here.
    """
    known = [name for name, record in plan.here.items() if record.source == source.address]
    lacking = plan.before.missing if plan.before else ()
    plan.wanted |= {name: plan.here[name].bytes for name in known}
    if error.offline and not lacking and (source.local in known or (source.is_pattern and known)):
        plan.notes.append(f"{source.local} is here but was not compared with its host: {error}")
        return
    plan.wanted |= dict.fromkeys(lacking)
    if not source.is_pattern or not known:
        plan.wanted |= {source.path if source.is_pattern else source.local: None}
    plan.failures[source.path if source.is_pattern else source.local] = str(error)


def _is_here(plan: Plan, file: RemoteFile) -> bool:
    """Whether a file is on disk as its host has it; one that nobody has listed yet is hashed and listed."""
    record, target = plan.here.get(file.local), plan.target(file)
    if record is not None and record.source != file.source.address:
        plan.notes.append(f"{file.local} was made here and is kept; --force takes the published one")
        return True
    if record is not None:
        same_version = file.commit == record.commit and file.size in (None, record.bytes)
        same = file.sha256 == record.sha256 if file.sha256 else same_version
        if same:
            plan.here[file.local] = replace(record, commit=file.commit)
        return same
    if not file.sha256 or not target.is_file() or target.stat().st_size != file.size:
        return False
    if sha256_of(target) != file.sha256:
        return False
    address, revision = file.source.address, file.source.revision
    rows = count_rows(target, file.local)
    plan.here[file.local] = FileRecord(file.size, file.sha256, rows, address, file.path, revision, file.commit)
    return True


def refuse_what_does_not_fit(plans: list[Plan], place: Path) -> None:
    """Give up the largest sets if there is no room for all; the reason becomes their failure."""
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    for plan in sorted(plans, key=lambda plan: plan.bytes_to_come):
        need = plan.bytes_to_come
        if need <= free:
            free -= need
            continue
        reason = f"no room: {readable(need)} are to come and {readable(free)} are left at {place}"
        if plan.data_set.shards:
            reason += "; --shards N fetches less"
        plan.failures |= {file.local: reason for file in plan.to_fetch}
        plan.to_fetch = []


def readable(count: float) -> str:
    """Bytes for people: 12.3 MB."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"
