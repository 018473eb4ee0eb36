"""Download data sets to `$NANOPROOF_HOME/data`.

    python -m nanoproof.data.download                           # every data set, as `all`
    python -m nanoproof.data.download rl bench                  # those of some stages
    python -m nanoproof.data.download nemotron --shards 4       # four training shards and the validation shard
    python -m nanoproof.data.download leantree --dry-run        # what would be fetched

Files that are here are not fetched again, what was interrupted is continued, and a set that fails does not stop the
others; the exit code is 1 then. docs/data.md says what the sets are.
"""

import argparse
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from multiprocessing.pool import ThreadPool

from filelock import FileLock, Timeout

from nanoproof.common.config import Parser, add_flags, from_args
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.progress import Progress
from nanoproof.common.run_dir import home
from nanoproof.data.catalog import CATALOG, STAGES, DataSet, choose
from nanoproof.data.content import count_rows
from nanoproof.data.download_plan import (
    DownloadConfig,
    Plan,
    make_plan,
    readable,
    refuse_what_does_not_fit,
    waiting_bytes,
)
from nanoproof.data.https import RawHost
from nanoproof.data.hub import Hub
from nanoproof.data.manifest import Manifest, dataset_dir, read_manifest
from nanoproof.data.transfer import Remote, RemoteFile, Stopped, TransferError, fetch

MEGABYTE = 10**6


class HelpFormatter(argparse.RawDescriptionHelpFormatter, argparse.ArgumentDefaultsHelpFormatter):
    """Keeps the lines of the table of data sets, and says defaults."""


class Downloader:
    """Plans and fetches several data sets at once."""

    def __init__(self, config: DownloadConfig) -> None:
        self._config = config
        self._remotes: dict[str, Remote] = {"hub": Hub(config.timeout), "git": RawHost(config.timeout)}
        self._stop = threading.Event()

    def plan(self, data_sets: Sequence[DataSet], closed: Mapping[str, str]) -> list[Plan]:
        """What is to be done for each set but the closed ones."""
        opened = [data_set for data_set in data_sets if data_set.name not in closed]
        manifests = [manifest_if_good(data_set.name) for data_set in opened if self._config.verify]
        sizes = [record.bytes for manifest in manifests if manifest for record in manifest.files.values()]
        with Counter("verify", sum(sizes), len(sizes)) as counter, self._pool() as pool:
            plans = list(
                pool.imap(lambda s: make_plan(s, self._config, self._remotes, self._stop, counter.bytes), opened)
            )
        plans += [Plan(s, failures={s.files[0].local: closed[s.name]}) for s in data_sets if s.name in closed]
        refuse_what_does_not_fit(plans, home() / "data")
        return plans

    def fetch(self, plans: Sequence[Plan]) -> None:
        """Do it. Failures are written into the plans."""
        work = [(plan, file) for plan in plans for file in plan.to_fetch]
        total = sum(file.size or 0 for _, file in work)
        with Counter("download", total, len(work)) as counter, self._pool() as pool:
            for _ in pool.imap_unordered(lambda job: self._fetch_one(*job, counter), work):
                pass
        for plan in plans:
            plan.end()

    def _fetch_one(self, plan: Plan, file: RemoteFile, counter: "Counter") -> None:
        try:
            closed = plan.closed.get(file.source.repository)
            if closed:
                raise TransferError(closed)
            remote, rows_of = self._remotes[file.source.host], partial(count_rows, filename=file.local)
            plan.add(file, *fetch(remote, file, plan.target(file), rows_of, counter.bytes, self._stop))
        except TransferError as error:
            plan.fail(file, error)
        except Stopped:
            return
        counter.file()

    @contextmanager
    def _pool(self) -> Iterator[ThreadPool]:
        """Threads that Ctrl-C does not wait for: one of them may be listening to a host that says nothing."""
        with ThreadPool(self._config.workers) as pool:
            try:
                yield pool
            except BaseException:
                self._stop.set()
                raise


class Counter:
    """Progress in megabytes, from many threads; silent without files."""

    def __init__(self, title: str, total_bytes: int, files: int) -> None:
        self._lock = threading.Lock()
        self._bytes, self._shown, self._done, self._files = 0, 0, 0, files
        self._progress = Progress(total_bytes // MEGABYTE, title, unit="MB", show=files > 0)

    def bytes(self, count: int) -> None:
        """So many bytes are done with."""
        with self._lock:
            self._bytes += count
            step = self._bytes // MEGABYTE - self._shown
            self._shown += step
            self._progress.update(step)

    def file(self) -> None:
        """A file is done with."""
        with self._lock:
            self._done += 1
            self._progress.update(0, f"{self._done} of {self._files} files")

    def __enter__(self) -> "Counter":
        self._progress.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.__exit__(None, None, None)


@contextmanager
def locked(data_sets: Sequence[DataSet]) -> Iterator[dict[str, str]]:
    """Keep other downloads away from these sets, and wait for those that run.

    Yields the names of sets whose directories cannot be written, with the reason.
    """
    closed: dict[str, str] = {}
    with ExitStack() as stack:
        for data_set in data_sets:
            directory = dataset_dir(data_set.name)
            try:
                directory.mkdir(parents=True, exist_ok=True)
                lock = FileLock(directory / ".download.lock")
                try:
                    stack.enter_context(lock.acquire(timeout=0))
                except Timeout:
                    print(f"waiting for another download of {data_set.name} to end", flush=True)
                    stack.enter_context(lock.acquire())
            except OSError as error:
                closed[data_set.name] = f"cannot write to {directory}: {error.strerror or error}"
        yield closed


# ---------------------------------------------------------------------------------------------------------------------
# What is said


def manifest_if_good(name: str) -> Manifest | None:
    """The manifest of a data set, None also if it is damaged."""
    try:
        return read_manifest(name)
    except UserError:
        return None


def list_files(plan: Plan) -> list[str]:
    """A line for each file that is wanted: its size, and whether it is here."""
    to_come = {file.local: file for file in plan.to_fetch}
    gated = "; gated, its terms must be accepted there" if plan.data_set.gated else ""
    lines = [f"{plan.name}: {plan.data_set.title} ({plan.data_set.files[0].page}{gated})"]
    for name, size in plan.wanted.items():
        state = "here"
        if name in to_come:
            waiting = waiting_bytes(to_come[name], plan.target(to_come[name]))
            state = f"to fetch, {readable(waiting)} of it wait" if waiting else "to fetch"
        elif name in plan.failures:
            state = "not to be had"
        lines.append(f"  {name:<60} {'?' if size is None else readable(size):>10}  {state}")
    lines += [f"  {name:<60} {'?':>10}  not to be had" for name in plan.failures if name not in plan.wanted]
    return lines


def announce(plans: Sequence[Plan]) -> None:
    """Say what is about to be fetched and how large it is, as far as hosts tell; nothing if all is here."""
    sizes = {plan.name: plan.bytes_to_come for plan in plans if plan.to_fetch}
    if sizes:
        parts = ", ".join(f"{name} {readable(size) if size else '?'}" for name, size in sizes.items())
        print(f"to fetch: {parts}; {readable(sum(sizes.values()))} in all", flush=True)


def status_of(plan: Plan) -> str:
    """One word or two for the table."""
    whitelists = {source.local for _, source in plan.data_set.whitelists}
    if set(plan.failures) - whitelists:
        return "failed"
    if plan.failures:
        return "incomplete"
    if plan.fetched:
        return "fetched"
    return "to fetch" if plan.to_fetch else "up to date"


def summary(plans: Sequence[Plan], made_here: Sequence[DataSet]) -> list[str]:
    """A table of the sets, then what is to be known, then what failed and why."""
    lines = [f"{'data set':<16} {'status':<11} {'files':>7} {'size':>9}  commit"]
    for plan in plans:
        files = f"{len(set(plan.wanted) & set(plan.here))}/{len({*plan.wanted, *plan.failures})}"
        size = readable(sum(record.bytes for record in plan.here.values()))
        commit = plan.before.commit[:12] if plan.before else ""
        lines.append(f"{plan.name:<16} {status_of(plan):<11} {files:>7} {size:>9}  {commit or '-'}")
    for data_set in made_here:
        manifest = manifest_if_good(data_set.name)
        counts = f"{len(manifest.files):>7} {readable(manifest.bytes):>9}" if manifest else f"{'':>17}"
        lines.append(f"{data_set.name:<16} {'made here':<11} {counts}  {data_set.build}")
    lines += [f"note: {plan.name}: {note}" for plan in plans for note in plan.notes]
    lines += [f"warning: {plan.name}: {text}" for plan in plans for text in plan.row_warnings()]
    for plan in plans:
        reasons: dict[str, list[str]] = {}
        for name, reason in plan.failures.items():
            reasons.setdefault(reason, []).append(name)
        for reason, names in reasons.items():
            what = names[0] if len(names) == 1 else f"{len(names)} files"
            lines.append(f"failed: {plan.name}: {what}: {reason}")
    return lines


def download(names: Sequence[str], config: DownloadConfig) -> int:
    """Download data sets and print what has become of each; returns the exit code."""
    chosen = choose(names)
    for text in config.revision:
        if text.partition("=")[0] not in {data_set.name for data_set in chosen}:
            raise UserError(f"--revision {text}: this data set is not among those to download")
    data_sets = [data_set for data_set in chosen if data_set.files]
    made_here = [data_set for data_set in chosen if not data_set.files]
    downloader = Downloader(config)
    with locked(() if config.dry_run else data_sets) as closed:
        plans = downloader.plan(data_sets, closed)
        if config.dry_run:
            print("\n".join(line for plan in plans for line in list_files(plan)))
            print(f"to fetch: {readable(sum(plan.bytes_to_come for plan in plans))}")
        else:
            announce(plans)
            downloader.fetch(plans)
    print("\n".join(summary(plans, made_here)))
    failed = [plan.name for plan in plans if plan.failures]
    if failed and not config.dry_run:
        again = f"python -m nanoproof.data.download {' '.join(failed)}"
        print(f"{len(failed)} of {len(plans)} data sets are not complete; go on with: {again}")
    return 1 if failed else 0


def parser() -> argparse.ArgumentParser:
    """The command's flags."""
    width = max(map(len, CATALOG))
    table = [f"  {s.name:<{width}}  {', '.join(s.stages)}: {s.title}" for s in CATALOG.values()]
    made = Parser(
        prog="python -m nanoproof.data.download",
        description=(__doc__ or "").splitlines()[0],
        epilog="data sets:\n" + "\n".join(table),
        formatter_class=HelpFormatter,
    )
    made.add_argument(
        "names", nargs="*", metavar="NAME", help=f"Data sets, stages ({', '.join(STAGES)}) or all, as without any."
    )
    add_flags(made, DownloadConfig, title="what to do")
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Download what the command line names."""
    args = parser().parse_args(argv)
    return download(args.names or ["all"], from_args(DownloadConfig, args))


if __name__ == "__main__":
    run_main(main)
