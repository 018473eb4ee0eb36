"""Download data sets to `$NANOPROOF_HOME/data`.

    python -m nanoproof.data.download                           # every data set, as `all`
    python -m nanoproof.data.download rl bench                  # those of some stages
    python -m nanoproof.data.download nemotron --shards 4       # four training shards and the validation shard
    python -m nanoproof.data.download leantree --dry-run        # what would be fetched

A set stays at the commit that its manifest records, so that a second download changes nothing; newer commits of its
repository are only noted. `--force` takes the newest commit, `--revision NAME=COMMIT` the one that is named.

Complete files are not fetched again, interrupted ones are resumed, and a set that fails does not stop the others; the
exit code is 1 then. docs/data.md describes the sets.
"""

import argparse
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, repeat
from multiprocessing.pool import ThreadPool
from pathlib import Path

from filelock import FileLock, Timeout

from nanoproof.common.config import Parser, add_flags, check, from_args, opt, validated
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.run_dir import home
from nanoproof.common.terminal import Progress, size
from nanoproof.data.sources import manifest, transfer
from nanoproof.data.sources.catalog import CATALOG, STAGES, DataSet, Source, select_data_sets
from nanoproof.data.sources.hub import Hub, RawHost
from nanoproof.data.sources.transfer import RemoteFile, TransferError

ROUNDED = 0.02
"""Relative error of a rounded number of rows."""
MEGABYTE = 10**6


@validated("download")
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
        for text in self.revision:
            name, _, revision = text.partition("=")
            known = name in CATALOG and CATALOG[name].files
            check(bool(known and revision), f"--revision must be NAME=REVISION with a downloaded data set, got {text}")

    def pin(self, name: str) -> str:
        """Return the revision that the user asked for of a data set; "" for none."""
        pin = ""
        for text in self.revision:
            data_set, _, revision = text.partition("=")
            if data_set == name:
                pin = revision
        return pin


@dataclass
class DownloadPlan:
    """The files to download of one data set, and what has become of them. Files go by their names on disk."""

    data_set: DataSet
    recorded: manifest.Manifest | None = None
    """The manifest on disk."""
    wanted: dict[str, int | None] = field(default_factory=dict)
    """All files that the set should have, with their sizes in bytes where these are known."""
    complete: dict[str, manifest.FileRecord] = field(default_factory=dict)
    """Those that are on disk, fetched now or before."""
    to_fetch: list[RemoteFile] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)
    """Files that did not arrive, with the reason; a source of unknown files goes by its path."""
    unavailable: dict[str, str] = field(default_factory=dict)
    """Repositories whose files cannot be downloaded, with the reason."""
    commits: dict[str, str] = field(default_factory=dict)
    """The commit at which each repository is taken."""
    notes: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def name(self) -> str:
        """Return the data set's name."""
        return self.data_set.name

    @property
    def missing(self) -> tuple[str, ...]:
        """Names of wanted files that are not complete."""
        return tuple(sorted(set(self.wanted) - set(self.complete)))

    def target(self, file: RemoteFile) -> Path:
        """Return the path at which a file is stored."""
        return manifest.dataset_dir(self.name) / file.local

    @property
    def bytes_to_fetch(self) -> int:
        """Return the bytes to fetch, as far as sizes are known, without those that arrived in an earlier attempt."""
        total = 0
        for file in self.to_fetch:
            total += max(0, (file.size or 0) - partial_bytes(file, self.target(file)))
        return total

    def add(self, file: RemoteFile, num_bytes: int, sha256: str, rows: int | None) -> None:
        """Record a file that has arrived, and write the manifest."""
        record = _file_record(file, num_bytes, sha256, rows)
        with self.lock:
            self.complete[file.local] = record
            self.fetched.append(file.local)
            self.save()  # after each file: what has arrived counts, whatever ends this download

    def fail(self, file: RemoteFile, error: TransferError) -> None:
        """Record that a file did not arrive."""
        with self.lock:
            self.failures[file.local] = str(error)
            if error.whole_repository:
                self.unavailable[file.source.repository] = str(error)

    def finish(self) -> None:
        """End the download of this set, and write the manifest with what is complete and what is missing."""
        self.to_fetch = []
        self.save()

    def save(self) -> None:
        """Write the manifest if any file is complete and something has changed."""
        if not self.complete:
            return
        main, recorded = self.data_set.files[0], self.recorded
        commit = self.commits.get(main.repository, "")
        if recorded is not None:
            commit = commit or recorded.commit
            # The date says when files arrived, so a download that changed nothing leaves it.
            if (recorded.commit, recorded.files, recorded.missing) == (commit, self.complete, self.missing):
                return
        date, files = manifest.now(), dict(self.complete)
        self.recorded = manifest.Manifest(self.name, main.address, main.revision, commit, date, files, self.missing)
        manifest.write_manifest(self.recorded)

    def row_warnings(self) -> list[str]:
        """Describe the files with another number of rows than the catalog expects."""
        warnings = []
        for filename, record in sorted(self.complete.items()):
            expected = self.data_set.expected_rows(filename)
            if expected is None or record.rows is None:
                continue
            shown, allowed = f"{expected:,}", 0.0
            if self.data_set.about:
                shown, allowed = f"about {expected:,}", expected * ROUNDED
            if abs(record.rows - expected) > allowed:
                warnings.append(f"{filename} has {record.rows:,} rows, {shown} were expected")
        return warnings


def _file_record(file: RemoteFile, num_bytes: int, sha256: str, rows: int | None) -> manifest.FileRecord:
    source = file.source
    return manifest.FileRecord(num_bytes, sha256, rows, source.address, file.path, source.revision, file.commit)


def partial_bytes(file: RemoteFile, target: Path) -> int:
    """Return the bytes of a file that arrived in an earlier attempt."""
    partial = transfer.partial_path(file, target)
    if not file.resume_key or not partial.exists():
        return 0
    return partial.stat().st_size


def make_plan(
    data_set: DataSet,
    config: DownloadConfig,
    remotes: Mapping[str, transfer.Remote],
    stop: threading.Event,
    on_hashed: Callable[[int], None],
) -> DownloadPlan:
    """Compare the hosts' files with those on disk. What a host refuses becomes a failure of the plan.

    `on_hashed` is called with the numbers of bytes on disk that have been hashed.
    """
    plan = DownloadPlan(data_set)
    try:
        plan.recorded = manifest.read_manifest(data_set.name)
    except UserError as error:
        plan.notes.append(f"the manifest is made anew: {error}")
    if plan.recorded is not None:
        hashes = config.verify and not config.force
        problems = manifest.find_problems(plan.recorded, hashes=hashes, on_bytes=on_hashed)
        plan.complete = dict(plan.recorded.files)
        for name, problem in problems.items():
            del plan.complete[name]
            plan.notes.append(f"{name} {problem}; it is fetched again")
    # A pin is of the data's repository; whitelists are in another.
    pins = dict.fromkeys(data_set.files, config.pin(data_set.name))
    for source in (*data_set.files, *dict(data_set.whitelists).values()):
        try:
            for file in _list_files(plan, source, pins.get(source, ""), config, remotes[source.host], stop):
                plan.wanted[file.local] = file.size
                if config.force or not _is_complete(plan, file):
                    plan.to_fetch.append(file)
        except TransferError as error:
            _keep_known_files(plan, source, error)
    return plan


def _list_files(
    plan: DownloadPlan,
    source: Source,
    pin: str,
    config: DownloadConfig,
    remote: transfer.Remote,
    stop: threading.Event,
) -> list[RemoteFile]:
    """Return the files to have of a source: of the pinned, the recorded or the newest commit."""
    recorded = ""
    if not config.force:
        recorded = _recorded_commit(plan, source)
    newest = transfer.with_retries(lambda: remote.commit(source, pin or source.revision), stop)
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
    files = transfer.with_retries(lambda: remote.files(source, commit or pin or source.revision), stop)
    if source.is_pattern and plan.data_set.shards:
        if len(files) != plan.data_set.shards:
            plan.notes.append(f"{source.repository} has {len(files)} shards, {plan.data_set.shards} were expected")
        if config.shards is not None:
            files = [*files[:-1][: config.shards], files[-1]]  # the last shard is for validation
    return files


def _recorded_commit(plan: DownloadPlan, source: Source) -> str:
    """Return the commit that the files of a repository were taken from, even if they are damaged or gone since."""
    if plan.recorded is not None:
        for record in plan.recorded.files.values():
            if record.source == source.address:
                return record.commit
    return ""


def _keep_known_files(plan: DownloadPlan, source: Source, error: TransferError) -> None:
    """Plan without the list of a host that does not answer or refuses: what was known before stays known.

    A host that is not reached is no failure if all of its files are complete.
    """
    sizes = {name: record.bytes for name, record in plan.complete.items() if record.source == source.address}
    plan.wanted |= sizes
    lacking: tuple[str, ...] = ()
    if plan.recorded is not None:
        lacking = plan.recorded.missing
    # Which files a pattern stands for, its host alone can tell: those that the manifest lists are taken for all.
    name, is_here = source.local, source.local in sizes
    if source.is_pattern:
        name, is_here = source.path, bool(sizes)
    if error.offline and not lacking and is_here:
        plan.notes.append(f"{source.local} is here but was not compared with its host: {error}")
        return
    plan.wanted |= dict.fromkeys(lacking)
    if not source.is_pattern or not sizes:
        plan.wanted[name] = None
    plan.failures[name] = str(error)


def _is_complete(plan: DownloadPlan, file: RemoteFile) -> bool:
    """Return whether a file is on disk as its host has it; one that no manifest lists is hashed and added."""
    record, target = plan.complete.get(file.local), plan.target(file)
    if record is not None and record.source != file.source.address:
        plan.notes.append(f"{file.local} was made here and is kept; --force takes the published one")
        return True
    if record is not None:
        # A checksum says more than a commit: another commit may have the same file. Raw git hosts tell none.
        same = file.commit == record.commit and file.size in (None, record.bytes)
        if file.sha256:
            same = file.sha256 == record.sha256
        if same:
            plan.complete[file.local] = replace(record, commit=file.commit)
        return same
    if not file.sha256 or not target.is_file() or target.stat().st_size != file.size:
        return False
    if manifest.sha256_of(target) != file.sha256:  # seconds a gigabyte, where fetching it again takes minutes
        return False
    rows = transfer.count_rows(target, file.local)
    plan.complete[file.local] = _file_record(file, file.size, file.sha256, rows)
    return True


def drop_sets_over_free_space(plans: list[DownloadPlan], directory: Path) -> None:
    """Give up the largest sets if the disk has not enough space for all; the reason becomes their failure."""
    while not directory.exists():  # it may be the first download
        directory = directory.parent
    free = shutil.disk_usage(directory).free
    # The smallest first, so that as many sets as possible arrive.
    for plan in sorted(plans, key=lambda plan: plan.bytes_to_fetch):
        need = plan.bytes_to_fetch
        if need <= free:
            free -= need
            continue
        reason = f"no room: {size(need)} are to come and {size(free)} are left at {directory}"
        if plan.data_set.shards:
            reason += "; --shards N fetches less"
        for file in plan.to_fetch:
            plan.failures[file.local] = reason
        plan.to_fetch = []


class Downloader:
    """Plans and fetches several data sets at once, with `DownloadConfig.workers` threads."""

    def __init__(self, config: DownloadConfig) -> None:
        self._config = config
        self._remotes: dict[str, transfer.Remote] = {"hub": Hub(config.timeout), "git": RawHost(config.timeout)}
        self._stop = threading.Event()

    def plan(self, data_sets: Sequence[DataSet], unwritable: Mapping[str, str]) -> list[DownloadPlan]:
        """Plan the download of each set; those whose directories are not writable fail with the given reason."""
        writable = [data_set for data_set in data_sets if data_set.name not in unwritable]
        total = num_files = 0
        for data_set in writable:
            recorded = read_manifest_or_none(data_set.name)
            if self._config.verify and recorded is not None:
                total += recorded.bytes
                num_files += len(recorded.files)
        with ByteProgress("verify", total, num_files) as progress, self._pool() as pool:
            plans = list(
                pool.imap(lambda s: make_plan(s, self._config, self._remotes, self._stop, progress.add_bytes), writable)
            )
        for data_set in data_sets:
            if reason := unwritable.get(data_set.name):
                plans.append(DownloadPlan(data_set, failures={data_set.files[0].local: reason}))
        drop_sets_over_free_space(plans, home() / "data")
        return plans

    def fetch(self, plans: Sequence[DownloadPlan]) -> None:
        """Fetch the files of all plans. Failures are recorded in the plans."""
        work: list[tuple[DownloadPlan, RemoteFile]] = []
        for plan in plans:
            work += zip(repeat(plan), plan.to_fetch)
        total = sum(file.size or 0 for _, file in work)
        with ByteProgress("download", total, len(work)) as progress, self._pool() as pool:
            for _ in pool.imap_unordered(lambda job: self._fetch_one(*job, progress), work):
                pass
        for plan in plans:
            plan.finish()

    def _fetch_one(self, plan: DownloadPlan, file: RemoteFile, progress: "ByteProgress") -> None:
        try:
            # One refusal is enough: a gated set of 46 shards would be asked for 46 times.
            if reason := plan.unavailable.get(file.source.repository):
                raise TransferError(reason)
            remote, count = self._remotes[file.source.host], partial(transfer.count_rows, filename=file.local)
            plan.add(file, *transfer.fetch(remote, file, plan.target(file), count, progress.add_bytes, self._stop))
        except TransferError as error:
            plan.fail(file, error)
        except transfer.Stopped:
            return
        progress.add_file()

    @contextmanager
    def _pool(self) -> Iterator[ThreadPool]:
        """Make threads that Ctrl-C does not wait for: one of them may be listening to a host that says nothing."""
        with ThreadPool(self._config.workers) as pool:
            try:
                yield pool
            except BaseException:
                self._stop.set()
                raise


class ByteProgress:
    """A progress bar in megabytes that several threads advance; not shown without files."""

    def __init__(self, title: str, total_bytes: int, files: int) -> None:
        self._lock = threading.Lock()
        self._bytes, self._shown, self._done, self._files = 0, 0, 0, files
        self._progress = Progress(total_bytes // MEGABYTE, title, unit="MB", show=files > 0)

    def add_bytes(self, count: int) -> None:
        """Advance by so many bytes."""
        with self._lock:
            self._bytes += count  # pieces are of kilobytes; a bar that moved by each would take time from them
            step = self._bytes // MEGABYTE - self._shown
            self._shown += step
            self._progress.update(step)

    def add_file(self) -> None:
        """Count a file that has been fetched or has failed."""
        with self._lock:
            self._done += 1
            self._progress.update(0, f"{self._done} of {self._files} files")

    def __enter__(self) -> "ByteProgress":
        self._progress.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.__exit__(None, None, None)


@contextmanager
def lock_data_sets(data_sets: Sequence[DataSet]) -> Iterator[dict[str, str]]:
    """Lock the directories of these sets against other downloads, and wait for those that run.

    Yields the names of sets whose directories cannot be written, with the reason.
    """
    unwritable: dict[str, str] = {}
    with ExitStack() as stack:
        for data_set in data_sets:
            directory = manifest.dataset_dir(data_set.name)
            try:
                directory.mkdir(parents=True, exist_ok=True)
                lock = FileLock(directory / ".download.lock")  # the system frees it when a process is killed
                try:
                    stack.enter_context(lock.acquire(timeout=0))
                except Timeout:
                    print(f"waiting for another download of {data_set.name} to end", flush=True)
                    stack.enter_context(lock.acquire())
            except OSError as error:
                unwritable[data_set.name] = f"cannot write to {directory}: {error.strerror or error}"
        yield unwritable


# -- Output ----------------------------------------------------------------------------------------------------------


def read_manifest_or_none(name: str) -> manifest.Manifest | None:
    """Read the manifest of a data set; None if there is none, or if it is damaged."""
    try:
        return manifest.read_manifest(name)
    except UserError:
        return None


def list_files(plan: DownloadPlan) -> list[str]:
    """Return a line for each wanted file: its size, and whether it is to be fetched."""
    to_fetch = {file.local: file for file in plan.to_fetch}
    page = plan.data_set.files[0].page
    if plan.data_set.gated:
        page += "; gated, its terms must be accepted there"
    lines = [f"{plan.name}: {plan.data_set.title} ({page})"]
    for name in dict.fromkeys((*plan.wanted, *plan.failures)):
        state, shown, num_bytes = "here", "?", plan.wanted.get(name)
        if num_bytes is not None:
            shown = size(num_bytes)
        if name in to_fetch:
            state = "to fetch"
            if waiting := partial_bytes(to_fetch[name], plan.target(to_fetch[name])):
                state += f", {size(waiting)} of it wait"
        elif name in plan.failures:
            state = "not to be had"
        lines.append(f"  {name:<60} {shown:>10}  {state}")
    return lines


def announce(plans: Sequence[DownloadPlan]) -> None:
    """Print the sets to be fetched with their sizes, as far as hosts tell them; nothing if all are complete."""
    parts, total = [], 0
    for plan in plans:
        count = plan.bytes_to_fetch
        total += count
        if count:
            parts.append(f"{plan.name} {size(count)}")
        elif plan.to_fetch:
            parts.append(f"{plan.name} ?")
    if parts:
        print(f"to fetch: {', '.join(parts)}; {size(total)} in all", flush=True)


def status_of(plan: DownloadPlan) -> str:
    """Return the status of a set for the table: failed, incomplete, fetched, to fetch, or up to date."""
    whitelists = {source.local for _, source in plan.data_set.whitelists}
    if set(plan.failures) - whitelists:  # a whitelist can be made here instead (`check-init`)
        return "failed"
    if plan.failures:
        return "incomplete"
    if plan.fetched:
        return "fetched"
    return "to fetch" if plan.to_fetch else "up to date"


def summary(plans: Sequence[DownloadPlan], made_here: Sequence[DataSet]) -> list[str]:
    """Return the lines of a table of the sets, then notes and warnings, then failures with their reasons."""
    lines = [f"{'data set':<16} {'status':<11} {'files':>7} {'size':>9}  commit"]
    for plan in plans:
        files = f"{len(set(plan.wanted) & set(plan.complete))}/{len({*plan.wanted, *plan.failures})}"
        total = size(sum(record.bytes for record in plan.complete.values()))
        commit = plan.recorded.commit[:12] if plan.recorded is not None else ""
        lines.append(f"{plan.name:<16} {status_of(plan):<11} {files:>7} {total:>9}  {commit or '-'}")
    for data_set in made_here:
        counts = f"{'':>17}"
        if recorded := read_manifest_or_none(data_set.name):
            counts = f"{len(recorded.files):>7} {size(recorded.bytes):>9}"
        lines.append(f"{data_set.name:<16} {'made here':<11} {counts}  {data_set.build}")
    for plan in plans:
        lines += [f"note: {plan.name}: {note}" for note in plan.notes]
    for plan in plans:
        lines += [f"warning: {plan.name}: {text}" for text in plan.row_warnings()]
    for plan in plans:
        reasons: dict[str, list[str]] = {}
        for name, reason in plan.failures.items():
            reasons.setdefault(reason, []).append(name)
        for reason, names in reasons.items():
            failed = f"{len(names)} files" if len(names) > 1 else names[0]
            lines.append(f"failed: {plan.name}: {failed}: {reason}")
    return lines


def download(names: Sequence[str], config: DownloadConfig) -> int:
    """Download data sets, print the outcome of each, and return the exit code."""
    chosen = select_data_sets(names)
    for text in config.revision:
        if text.partition("=")[0] not in {data_set.name for data_set in chosen}:
            raise UserError(f"--revision {text}: this data set is not among those to download")
    data_sets = [data_set for data_set in chosen if data_set.files]
    made_here = [data_set for data_set in chosen if not data_set.files]
    downloader = Downloader(config)
    locked = data_sets
    if config.dry_run:
        locked = []  # it writes nothing, so it need not wait for a download that runs
    with lock_data_sets(locked) as unwritable:
        plans = downloader.plan(data_sets, unwritable)
        if config.dry_run:
            print("\n".join(chain.from_iterable(map(list_files, plans))))
            print(f"to fetch: {size(sum(plan.bytes_to_fetch for plan in plans))}")
        else:
            announce(plans)
            downloader.fetch(plans)
    print("\n".join(summary(plans, made_here)))
    failed = [plan.name for plan in plans if plan.failures]
    if failed and not config.dry_run:
        again = f"python -m nanoproof.data.download {' '.join(failed)}"
        print(f"{len(failed)} of {len(plans)} data sets are not complete; continue with: {again}")
    return int(bool(failed))


# -- Command line ----------------------------------------------------------------------------------------------------


class HelpFormatter(argparse.RawDescriptionHelpFormatter, argparse.ArgumentDefaultsHelpFormatter):
    """Keeps the line breaks of the table of data sets, and shows defaults."""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    width = max(map(len, CATALOG))
    table = [f"  {s.name:<{width}}  {', '.join(s.stages)}: {s.title}" for s in CATALOG.values()]
    command = Parser(
        prog="python -m nanoproof.data.download",
        description=(__doc__ or "").splitlines()[0],
        epilog="data sets:\n" + "\n".join(table),
        formatter_class=HelpFormatter,
    )
    command.add_argument(
        "names", nargs="*", metavar="NAME", help=f"Data sets, stages ({', '.join(STAGES)}) or all, as without any."
    )
    add_flags(command, DownloadConfig, title="what to do")
    return command


def main(argv: Sequence[str] | None = None) -> int:
    """Download what the command line names."""
    args = parser().parse_args(argv)
    return download(args.names or ["all"], from_args(DownloadConfig, args))


if __name__ == "__main__":
    run_main(main)
