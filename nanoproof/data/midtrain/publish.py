"""Upload leangithubraw to a data set repository of the hub: shards, licences, the report, and a page about it.

Repositories whose licence is none or unknown are left out unless asked for: their authors have not allowed others to
pass their files on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import CommitOperationAdd, HfApi
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalTokenNotFoundError

from nanoproof.common.errors import UserError
from nanoproof.common.files import read_json
from nanoproof.data.midtrain.build import NAME, NO_DECONTAMINATION, READABLE_REPORT, REPORT
from nanoproof.data.midtrain.licences import NO_LICENSE, UNKNOWN

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
    """A file or text, and where it goes."""

    target: str
    content: Path | bytes

    @property
    def bytes(self) -> int:
        """Its size."""
        return self.content.stat().st_size if isinstance(self.content, Path) else len(self.content)


def plan(directory: Path, shards: Sequence[Path], include_unlicensed: bool) -> tuple[list[Upload], list[str]]:
    """What is uploaded, and the names of the repositories that are left out for want of a licence."""
    report = read_json(directory / REPORT)
    uploads: list[Upload] = []
    left_out: list[str] = []
    table: list[str] = []
    there = {shard.stem: shard for shard in shards}
    for repository in report["repositories"]:
        name, licence = repository["name"], repository["licence"]
        if name not in there:
            continue
        if licence in (NO_LICENSE, UNKNOWN) and not include_unlicensed:
            left_out.append(name)
            continue
        uploads.append(Upload(f"data/{name}.parquet", there[name]))
        licences = sorted(file for file in (directory / "licences" / name).iterdir() if file.is_file())
        uploads += [Upload(f"licences/{name}/{file.name}", file) for file in licences]
        table.append(f"| {repository['url']} | {repository['commit'][:12]} | {licence} | {repository['files']} |\n")
    rule = report["decontamination"]
    card = _CARD.format(rule=rule[:1].upper() + rule[1:]) + "".join(table)
    uploads.append(Upload("README.md", card.encode()))
    uploads += [Upload(file, directory / file) for file in (REPORT, READABLE_REPORT)]
    return uploads, left_out


def publish(
    directory: Path, shards: Sequence[Path], repo: str, really: bool, public: bool, include_unlicensed: bool
) -> None:
    """Upload in one commit, or say what would be uploaded. Raises UserError for what the hub refuses."""
    uploads, left_out = plan(directory, shards, include_unlicensed)
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
        api.create_repo(repo, repo_type="dataset", private=not public, exist_ok=True)
        made = api.create_commit(repo, operations, commit_message=f"Build of {NAME}", repo_type="dataset")
    except LocalTokenNotFoundError as error:
        raise UserError("uploading needs a token with write access: set HF_TOKEN or run: hf auth login") from error
    except (HfHubHTTPError, HFValidationError, OSError) as error:
        raise UserError(f"the hub refuses the upload to {repo}: {' '.join(str(error).split())}") from error
    print(f"uploaded {total} to {made.repo_url}")
