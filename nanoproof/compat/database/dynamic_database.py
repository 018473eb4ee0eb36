"""`DynamicDatabase`: repositories in a JSON file, as LeanDojo-v2's scripts use it.

Where it differs: a file that is there is read when the object is made, and written only by methods that say so;
`update_json` adds what is not in the file; splits are by stable hashes (`repos.splits`), so that no theorem of the test
split is for training at a later step; and thresholds of difficulty are finite.
"""

import logging
import os
from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import httpx2

from nanoproof.common.errors import UserError, cannot
from nanoproof.common.files import atomic_write_json, read_json
from nanoproof.compat.database.models.repository import Repository
from nanoproof.compat.database.models.theorems import Theorem
from nanoproof.repos.difficulty import Curriculum, Item
from nanoproof.repos.leandojo import HELD_OUT, export, export_stored
from nanoproof.repos.manage import AddOptions, add_repository, repository_folder, trace_files
from nanoproof.repos.splits import HoldOut
from nanoproof.repos.store import Store

log = logging.getLogger(__name__)

INFO_FILE = Path("raid/data/repo_info_compatible.json")
LEAST_THEOREMS = 3
"""A repository with fewer has not enough for training, validation and test."""
TOKEN_VARIABLE = "GITHUB_ACCESS_TOKEN"
"""A token is not needed; with one GitHub answers more often."""
API_VARIABLE, API = "GITHUB_API_URL", "https://api.github.com"
"""Where GitHub's API is; an installation of a company has its own address."""
PAGE = 100
SECONDS = 30.0
LEFT_OUT = (
    "leanprover/lean4",
    "leanprover/std4",
    "leanprover-community/aesop",
    "leanprover-community/batteries",
    "leanprover-community/mathlib",
    "leanprover-community/mathlib4",
)
"""Lean itself, its libraries, and Mathlib, on which provers are trained already."""


def popular_repositories(left_out: Collection[str] = LEFT_OUT) -> Iterator[str]:
    """Yield the addresses of repositories whose language is Lean, but those named `owner/name` in `left_out`.

    Raises UserError where GitHub cannot be reached, or refuses.
    """
    base = os.environ.get(API_VARIABLE, "").rstrip("/") or API
    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    query: dict[str, str | int] = {"q": "language:Lean", "sort": "stars", "order": "desc", "per_page": PAGE, "page": 0}
    while True:
        query["page"] = int(query["page"]) + 1
        try:
            answer = httpx2.get(f"{base}/search/repositories", params=query, headers=headers, timeout=SECONDS)
            answer.raise_for_status()
            items = answer.json()["items"]
            # All of a page before any is passed on: a damaged answer is none.
            listed = [(str(item["full_name"]), str(item["clone_url"])) for item in items]
        except httpx2.HTTPStatusError as error:
            raise UserError(f"{base} answered {error.response.status_code} to a search for repositories") from None
        except (httpx2.TransportError, httpx2.InvalidURL) as error:
            raise UserError(f"repositories cannot be searched for, {base} cannot be reached: {error}") from None
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"{base} answered something else than a list of repositories") from error
        for name, address in listed:
            if name not in left_out:
                yield address.removesuffix(".git")
        if len(listed) < PAGE:  # the last page
            return


class DynamicDatabase:
    """The repositories of a JSON file."""

    def __init__(self, json_path: str = "dynamic_database.json") -> None:
        """Read the file, or make an empty one if there is none. Raises UserError for a damaged one."""
        self.json_path = json_path
        self.repositories: list[Repository] = []
        self._held_out: HoldOut | None = None
        if Path(json_path).exists():
            self._read(Path(json_path))
        else:
            self.to_json()

    # -- repositories ------------------------------------------------------------------------------------------------

    def add_repository(self, repo: Repository) -> None:
        """Add a repository, unless it is there."""
        if repo in self.repositories:
            log.info("%s at %s is in the database already", repo.url, repo.commit)
        else:
            self.repositories.append(repo)

    def get_repository(self, url: str, commit: str) -> Repository | None:
        """Return the repository with an address at a commit; None if there is none."""
        return next((repo for repo in self.repositories if (repo.url, repo.commit) == (url, commit)), None)

    def update_repository(self, updated_repo: Repository) -> None:
        """Put a repository in the place of its equal. Raises ValueError if there is none."""
        if updated_repo not in self.repositories:
            raise ValueError(f"Repository '{updated_repo.url}' with commit '{updated_repo.commit}' not found.")
        self.repositories[self.repositories.index(updated_repo)] = updated_repo

    def delete_repository(self, url: str, commit: str) -> None:
        """Remove the repository with an address at a commit. Raises ValueError if there is none."""
        repo = self.get_repository(url, commit)
        if repo is None:
            raise ValueError(f"Repository '{url}' with commit '{commit}' not found.")
        self.repositories.remove(repo)

    def print_database_contents(self) -> None:
        """Print address and commit of each repository."""
        print("Current database contents:")
        for repo in self.repositories:
            print(f"  - {repo.url} (commit: {repo.commit})")

    # -- JSON --------------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the file; the premises held out are in it from the first export on."""
        data: dict[str, Any] = {"repositories": [repo.to_dict() for repo in self.repositories]}
        # LeanDojo-v2's reader ignores it. Without it a theorem of the test split could be for training after the next
        # export, in another process.
        if self._held_out is not None:
            data[HELD_OUT] = str(self._held_out)
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any], json_path: str = "dynamic_database.json") -> "DynamicDatabase":
        """Return a database with this content; no file is touched. Raises ValueError for another shape."""
        database = cls.__new__(cls)  # `__init__` reads the file, or writes one
        database.json_path, database.repositories, database._held_out = json_path, [], None
        database._take(data)
        return database

    def _take(self, data: dict[str, Any]) -> None:
        if not isinstance(data, dict) or not isinstance(data.get("repositories"), list):
            raise ValueError("Invalid DynamicDatabase data format")
        for record in data["repositories"]:
            self.add_repository(Repository.from_dict(record))
        held_out = data.get(HELD_OUT)
        self._held_out = None if held_out is None else HoldOut.parse(str(held_out))

    def _read(self, path: Path) -> None:
        try:
            self._take(read_json(path))
        except ValueError as error:
            raise UserError(f"{path}: {error}") from error

    def to_json(self, file_path: str | None = None) -> None:
        """Write the file, atomically; without a path that of the database. Raises UserError where that cannot be."""
        path = Path(file_path or self.json_path)
        with cannot(f"write {path}"):
            atomic_write_json(path, self.to_dict())

    @classmethod
    def from_json(cls, file_path: str) -> "DynamicDatabase":
        """Read a file. Raises FileNotFoundError if there is none, and UserError for a damaged one."""
        if not Path(file_path).exists():
            raise FileNotFoundError(file_path)
        return cls(file_path)

    def update_json(self, file_path: str) -> None:
        """Put the repositories into a file, beside others that are there."""
        path = Path(file_path)
        # What is in memory counts, of a repository that both have.
        other = self.from_json(file_path) if path.exists() else self.from_dict({"repositories": []})
        for repo in self.repositories:
            if repo in other.repositories:
                other.update_repository(repo)
            else:
                other.add_repository(repo)
        other._held_out = self._held_out or other._held_out
        other.to_json(file_path)

    # -- data sets and curriculum --------------------------------------------------------------------------------------

    def export_merged_data(self, repositories: list[Repository], output_path: Path | str) -> None:
        """Write LeanDojo's data set of several repositories, in place of an earlier one in the folder.

        Which premises are held out is chosen at the first export, and kept in the database's file from then on. Raises
        UserError if the folder holds something else.
        """
        done = export(repositories, Path(output_path), held_out=self._held_out)
        if self._held_out is None and done.held_out is not None:
            self._held_out = done.held_out
            self.to_json()

    def sort_repositories_by_difficulty(self) -> list[Repository]:
        """Rate each theorem, save the database, print a summary, and return the easiest repositories first."""
        # By number too, as an address may be there at several commits.
        items: dict[str, list[Item[str]]] = {}
        by_title: dict[str, Repository] = {}
        for number, repo in enumerate(self.repositories, start=1):
            title = f"{number}. {repo.url}"
            by_title[title] = repo
            items[title] = list(map(_item, repo.get_all_theorems))
        curriculum = Curriculum.of(items)
        self.to_json()
        print("Summary of theorem difficulties by URL:")
        for line in curriculum.summary():
            print(line)
        return [by_title[title] for title in curriculum.order]

    def trace_repository(
        self, url: str, commit: str, build_deps: bool = False, options: AddOptions | None = None
    ) -> Repository | None:
        """Trace the repository at an address or in a folder, in the store too, and return it; it is not added yet.

        Its data set is written beside the store. None if it holds fewer than three theorems. The project has to be
        built where real Lean traces it; `build_deps` is accepted and changes nothing, as the declarations of
        dependencies are read from their files; `options` name Lean servers. Raises UserError where tracing fails.
        """
        target = f"{url.removesuffix('.git')}@{commit}" if commit else url
        with Store() as store:
            added = add_repository(store, target, options=options, trace=trace_files)
            if store.counts(added)["theorems"] < LEAST_THEOREMS:  # it stays in the store
                log.warning("%s has fewer than %d theorems", url, LEAST_THEOREMS)
                return None
            data_set = repository_folder(store, added.name) / "leandojo"
            export_stored(store, [added.name], data_set)
            print(f"{url}: {store.counts(added)['theorems']} theorems traced, the data set is in {data_set}")
            return Repository.from_store(store, added)

    def discover_repositories(
        self, num_repos: int, curriculum_learning: bool, build_deps: bool = False, options: AddOptions | None = None
    ) -> list[Repository]:
        """Trace the most starred repositories of Lean on GitHub, so many, and add them; returns those added.

        One that cannot be traced is named and passed over. With `curriculum_learning` the easiest come first. Their
        addresses and commits are written to `raid/data/repo_info_compatible.json`, as LeanDojo-v2 writes them. Raises
        UserError where GitHub cannot be asked.
        """
        added: list[Repository] = []
        # So many are looked at: those that cannot be traced are not made up for.
        for url in islice(popular_repositories(), num_repos):
            try:
                repo = self.trace_repository(url, "", build_deps, options)
            except UserError as error:
                print(f"{url} is passed over: {error}")
                continue
            if repo is None:
                print(f"{url} is passed over: it has fewer than {LEAST_THEOREMS} theorems")
                continue
            self.add_repository(repo)
            added.append(repo)
        self.to_json()
        if curriculum_learning and added:
            added = [repo for repo in self.sort_repositories_by_difficulty() if repo in added]
        rows = [{"url": repo.url, "commit": repo.commit, "version": repo.lean_version} for repo in added]
        with cannot(f"write {INFO_FILE}"):
            atomic_write_json(INFO_FILE, rows)
        print(f"{len(added)} repositories added, listed in {INFO_FILE}")
        return added


def _item(theorem: Theorem) -> Item[str]:
    theorem.difficulty_rating = theorem.calculate_difficulty()
    return Item(theorem.full_name, len(theorem.traced_tactics or []), theorem.has_sorry)
