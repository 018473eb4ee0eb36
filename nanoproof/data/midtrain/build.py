"""The build of leangithubraw (clone, collect, refine, report), and its upload to the hub.

Repositories without a known licence are not uploaded unless asked for: their authors have not allowed others to pass
their files on.
"""

import os
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any

from filelock import FileLock
from huggingface_hub import CommitOperationAdd, HfApi
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalTokenNotFoundError

from nanoproof.common.config import opt, validated
from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_json, atomic_write_text, read_json
from nanoproof.common.git import GitError
from nanoproof.common.terminal import Progress
from nanoproof.data.midtrain.clone import Repository, read_lists
from nanoproof.data.midtrain.collect import NO_LICENSE, UNKNOWN, Collected, collect, find_collected, write_files
from nanoproof.data.midtrain.refine import Drop, Refined, benchmark_index, count_reasons, refine
from nanoproof.data.sources import manifest
from nanoproof.data.theorems.overlap import Index

NAME = "leangithubraw"
LIST = Path(__file__).with_name("leangithub_urls.txt")
REPORT, READABLE_REPORT = "report.json", "report.txt"
NO_DECONTAMINATION = "not decontaminated"


@validated("build")
class BuildConfig:
    """Options of the build."""

    urls: tuple[str, ...] = opt(
        (), "Lists of repositories, one address per line, in place of the list of this project.", metavar="FILE"
    )
    more_urls: tuple[str, ...] = opt((), "Lists of repositories that come after those.", metavar="FILE")
    out: str = opt("", "Directory to build in (default: $NANOPROOF_HOME/data/leangithubraw).")
    workers: int = opt(4, "Repositories that are cloned at once, and processes that examine files.", min=1)
    deadline: float = opt(1800.0, "Seconds that cloning a repository may take.", above=0)
    force: bool = opt(False, "Clone again what was collected earlier.")
    keep_clones: bool = opt(False, "Keep the bare clones, in clones/.")
    decontamination: bool = opt(True, "Leave out files with theorems of minif2f, proofnet or putnambench.")

    @property
    def directory(self) -> Path:
        """Return the directory to build in."""
        if not self.out:
            return manifest.dataset_dir(NAME)
        return Path(self.out).expanduser()

    @property
    def lists(self) -> list[Path]:
        """Return the lists of addresses."""
        names = [*(self.urls or (str(LIST),)), *self.more_urls]
        return [Path(name).expanduser() for name in names]


@dataclass(frozen=True)
class Built:
    """The outcome of a repository: collected, kept from an earlier build, or failed for a reason."""

    repository: Repository
    status: str
    collected: Collected | None = None
    reason: str = ""

    @property
    def commit(self) -> str:
        """Return the commit of what was collected; "" of nothing."""
        return getattr(self.collected, "commit", "")

    @property
    def licence(self) -> str:
        """Return the licence of what was collected; "" of nothing."""
        return getattr(self.collected, "licence", "")


@dataclass(frozen=True)
class Kept:
    """The number of files of a repository that stay, and those that were left out."""

    files: int = 0
    dropped: tuple[Drop, ...] = ()


def build(config: BuildConfig) -> int:
    """Build the data set and print the outcome of each repository; returns the exit code."""
    repositories = read_lists(config.lists)
    index: Index | None = None
    commits: dict[str, str] = {}
    if config.decontamination:
        index, commits = benchmark_index()  # before the hours of cloning: a benchmark may be missing
    out = config.directory
    try:
        out.mkdir(parents=True, exist_ok=True)
        lock = FileLock(out / ".build.lock")
        with lock.acquire(timeout=0):
            built = _collect_all(repositories, config)
            collected = [outcome.collected for outcome in built if outcome.collected is not None]
            # `workers` may be many, for clones wait for the network; examining takes processors.
            processes = min(config.workers, os.cpu_count() or 1)
            kept = _write_shards(out, built, refine(collected, index, processes))
            _finish(out, config, built, kept, commits)
    except TimeoutError as error:
        raise UserError(f"another build is at work in {out}") from error
    except PermissionError as error:
        raise UserError(f"cannot write to {out}: {error.strerror}") from error
    print("\n".join(summary(built, kept)))
    print(f"files: {out}")
    return int(any(outcome.status == "failed" for outcome in built))


def _collect_all(repositories: Sequence[Repository], config: BuildConfig) -> list[Built]:
    """Collect each, several at once; one that fails does not stop the others."""
    stop = threading.Event()

    def collect_or_keep(repository: Repository) -> Built:
        before = find_collected(config.directory, repository)
        if before is not None and not config.force:
            return Built(repository, "kept", before)
        try:
            collected = collect(config.directory, repository, config.deadline, stop, config.keep_clones)
        except GitError as error:
            return Built(repository, "failed", before, str(error))
        return Built(repository, "collected", collected)

    built = []
    # threads that Ctrl-C does not wait for: git, which they wait for, is ended by `stop`
    with Progress(len(repositories), "clone", unit="repositories") as progress, ThreadPool(config.workers) as pool:
        try:
            for result in pool.imap(collect_or_keep, repositories):
                built.append(result)
                progress.update(note=result.repository.name)
        except BaseException:
            stop.set()
            raise
    return built


def _write_shards(out: Path, built: Sequence[Built], refined: Iterable[Refined]) -> dict[str, Kept]:
    """Write a shard with the files of each repository that stay."""
    kept: dict[str, Kept] = {}
    names = [outcome.repository.name for outcome in built if outcome.collected is not None]
    for name, result in zip(names, refined):  # `refine` keeps the order
        if result.files:
            write_files(out / f"{name}.parquet", result.files)
        kept[name] = Kept(len(result.files), tuple(result.dropped))
    return kept


def _finish(
    out: Path, config: BuildConfig, built: Sequence[Built], kept: dict[str, Kept], commits: dict[str, str]
) -> None:
    """Write manifest and reports, and remove files that only an earlier build's manifest lists."""
    files: dict[str, manifest.FileRecord] = {}
    for outcome in built:
        name, url = outcome.repository.name, outcome.repository.url
        if outcome.collected is not None and kept[name].files:
            shard = out / f"{name}.parquet"
            files[shard.name] = manifest.record_file(shard, kept[name].files, url, "HEAD", outcome.collected.commit)
    earlier: dict[str, Any] = {}
    if (out / manifest.FILENAME).exists():
        earlier = read_json(out / manifest.FILENAME).get("files", {})
    rule = NO_DECONTAMINATION
    if config.decontamination:
        against = ", ".join(f"{name} at {commit}" for name, commit in commits.items())
        rule = f"decontaminated against {against}"
    source = f"repositories of {', '.join(path.name for path in config.lists)}"
    manifest.write_manifest(manifest.Manifest(NAME, source, rule, "", manifest.now(), files), out)
    # Only names that a manifest lists, and only their last part: `--out` may be a folder with other files.
    for name in set(earlier) - set(files):
        (out / Path(name).name).unlink(missing_ok=True)
    report = make_report(built, kept, rule)
    atomic_write_json(out / REPORT, report)
    atomic_write_text(out / READABLE_REPORT, readable_report(report))


# -- Reports ---------------------------------------------------------------------------------------------------------


def make_report(built: Sequence[Built], kept: dict[str, Kept], rule: str) -> dict[str, Any]:
    """Return the report: counts of each repository, and every file that was left out with the reason."""
    repositories = []
    dropped: list[Drop] = []
    for outcome in built:
        repository = outcome.repository
        result = kept.get(repository.name, Kept())
        dropped += result.dropped
        repositories.append(
            {
                "name": repository.name,
                "url": repository.url,
                "commit": outcome.commit,
                "licence": outcome.licence,
                "status": outcome.status,
                "reason": outcome.reason,
                "files": result.files,
                "left_out": dict(count_reasons(result.dropped).most_common()),
            }
        )
    total = count_reasons(dropped)
    return {
        "decontamination": rule,
        "files": sum(result.files for result in kept.values()),
        "left_out": dict(total.most_common()),
        "repositories": repositories,
        "dropped": [asdict(drop) for drop in dropped],
    }


def readable_report(report: dict[str, Any]) -> str:
    """Format the report: contaminated files first, with the theorems, then the rest by repository."""
    lines = [f"{report['files']:,} files; {report['decontamination']}", ""]
    lines += [f"{count:>8,}  {reason}" for reason, count in report["left_out"].items()]
    contaminated = [drop for drop in report["dropped"] if drop["findings"]]
    lines += ["", f"Files with theorems of a benchmark: {len(contaminated):,}"]
    for drop in contaminated:
        lines.append(f"  {drop['url']} {drop['path']}")
        for finding in drop["findings"]:
            lines.append(f"    line {finding['line']}: {finding['theorem']}, {finding['way']}: {finding['what'][:160]}")
    lines += ["", "Other files that were left out:"]
    for drop in report["dropped"]:
        if not drop["findings"]:
            line = f"  {drop['url']} {drop['path']}: {drop['reason']}"
            if drop["same_as"]:
                line += f" of {drop['same_as']}"
            lines.append(line)
    return "\n".join(lines) + "\n"


def summary(built: Sequence[Built], kept: dict[str, Kept]) -> list[str]:
    """Return the lines of a table of the repositories, then the reasons for leaving out files, then failures."""
    width = max(len(outcome.repository.name) for outcome in built)
    lines = [f"{'repository':<{width}}  {'status':<9} {'files':>7} {'left out':>8}  {'commit':<12}  licence"]
    reasons: Counter[str] = Counter()
    for outcome in built:
        name = outcome.repository.name
        result = kept.get(name, Kept())
        reasons += count_reasons(result.dropped)
        commit, licence = outcome.commit[:12] or "-", outcome.licence or "-"
        counts = f"{result.files:>7,} {len(result.dropped):>8,}"
        lines.append(f"{name:<{width}}  {outcome.status:<9} {counts}  {commit:<12}  {licence}")
    lines += [f"left out: {count:,} files: {reason}" for reason, count in reasons.most_common()]
    for outcome in built:
        if outcome.status == "failed":
            line = f"failed: {outcome.repository.url}: {outcome.reason}"
            if outcome.collected:
                line += "; what was collected earlier is used"
            lines.append(line)
    return lines


# -- Upload to the hub -----------------------------------------------------------------------------------------------

_CARD = """---
pretty_name: Lean 4 of public repositories
task_categories: [text-generation]
license: other
---
Lean 4 files of public repositories, one parquet file per repository with the columns `text`, `url`, `commit`, `path`
and `licence`. Every file keeps the licence of its repository; the texts are in `licences/`. {rule}.

| repository | commit | licence | files |
|---|---|---|---|
"""


@dataclass(frozen=True)
class Upload:
    """A file or text, and its path in the hub's repository."""

    target: str
    content: Path | bytes

    @property
    def bytes(self) -> int:
        """Return the size of the content."""
        return self.content.stat().st_size if isinstance(self.content, Path) else len(self.content)


def plan_upload(directory: Path, shards: Sequence[Path], include_unlicensed: bool) -> tuple[list[Upload], list[str]]:
    """Return the files to upload, and the names of the repositories that are left out for want of a licence."""
    report = read_json(directory / REPORT)
    uploads: list[Upload] = []
    left_out: list[str] = []
    table: list[str] = []
    by_name = {shard.stem: shard for shard in shards}
    for repository in report["repositories"]:
        name, licence = repository["name"], repository["licence"]
        if name not in by_name:
            continue
        if licence in (NO_LICENSE, UNKNOWN) and not include_unlicensed:
            left_out.append(name)
            continue
        uploads.append(Upload(f"data/{name}.parquet", by_name[name]))
        licences = sorted(file for file in (directory / "licences" / name).iterdir() if file.is_file())
        uploads += [Upload(f"licences/{name}/{file.name}", file) for file in licences]
        table.append(f"| {repository['url']} | {repository['commit'][:12]} | {licence} | {repository['files']} |\n")
    rule = report["decontamination"]
    card = _CARD.format(rule=rule[:1].upper() + rule[1:]) + "".join(table)  # `capitalize` would lower names in it
    uploads.append(Upload("README.md", card.encode()))
    uploads += [Upload(file, directory / file) for file in (REPORT, READABLE_REPORT)]
    return uploads, left_out


def publish(
    directory: Path, shards: Sequence[Path], repo: str, really: bool, public: bool, include_unlicensed: bool
) -> None:
    """Upload in one commit, or print what would be uploaded. Raises UserError for what the hub refuses."""
    uploads, left_out = plan_upload(directory, shards, include_unlicensed)
    for upload in uploads:
        print(f"  {upload.target:<60} {upload.bytes:>12,} bytes")
    for name in left_out:
        print(f"left out: {name} has no licence that is known; --include-unlicensed takes it along")
    if read_json(directory / REPORT)["decontamination"] == NO_DECONTAMINATION:
        print(f"warning: {NAME} was built with --no-decontamination: it may hold theorems of the benchmarks")
    total = f"{len(uploads)} files, {sum(upload.bytes for upload in uploads):,} bytes"
    if not really:
        print(f"dry run: {total} would go to {repo}; give --really to upload them")
        return
    api = HfApi()
    operations = [CommitOperationAdd(upload.target, upload.content) for upload in uploads]
    try:
        # Private unless asked otherwise: the texts are other people's.
        api.create_repo(repo, repo_type="dataset", private=not public, exist_ok=True)
        # One commit: whoever downloads meanwhile gets all of the old build, or all of the new one.
        commit = api.create_commit(repo, operations, commit_message=f"Build of {NAME}", repo_type="dataset")
    except LocalTokenNotFoundError as error:
        raise UserError("uploading needs a token with write access: set HF_TOKEN or run: hf auth login") from error
    except (HfHubHTTPError, HFValidationError, OSError) as error:
        raise UserError(f"the hub refuses the upload to {repo}: {' '.join(str(error).split())}") from error
    print(f"uploaded {total} to {commit.repo_url}")
