"""The hosts that data sets are downloaded from: the hub (`Hub`), and raw files of git repositories (`RawHost`).

Commits, file lists and addresses of the hub come from `huggingface_hub`, which also handles the token (`HF_TOKEN` or
that of `hf auth login`), `HF_ENDPOINT`, `HF_HUB_OFFLINE` and proxies. Only the loop that writes a file is ours
(`transfer.py`), because the library keeps nothing of a download that was stopped. Contents come over plain HTTPS, which
the hub offers for every file of less than 50 GB.

Raw files come from `NANOPROOF_RAW_ENDPOINT` if it names a mirror: this serves `/OWNER/NAME/COMMIT/PATH`, may serve
`/repos/OWNER/NAME/commits/REVISION` with the commit as its text, and for a set of many files
`/repos/OWNER/NAME/git/trees/REVISION?recursive=1` as GitHub's API does. Where the commit cannot be learned, the file is
taken at the revision's name, and the manifest leaves the commit empty. Proxies are those of the environment.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from operator import attrgetter
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

import httpx2
import requests
from huggingface_hub import HfApi, errors, get_session, get_token, hf_hub_url, hf_raise_for_status
from huggingface_hub.hf_api import RepoSibling
from huggingface_hub.utils import build_hf_headers

from nanoproof.data.sources.catalog import Source
from nanoproof.data.sources.transfer import TRANSIENT_STATUS, Body, RemoteFile, TransferError, TransientError

HUB_ENDPOINT = "https://huggingface.co"
RAW_ENDPOINT = "https://raw.githubusercontent.com"
COMMITS_ENDPOINT = "https://api.github.com"
RAW_ENDPOINT_VARIABLE = "NANOPROOF_RAW_ENDPOINT"
READ_BYTES = 1 << 16
HEXADECIMAL = frozenset("0123456789abcdef")


class Hub:
    """The hub, or what `HF_ENDPOINT` names in its place. `timeout` is in seconds without a byte."""

    def __init__(self, timeout: float) -> None:
        self.endpoint = (os.environ.get("HF_ENDPOINT") or HUB_ENDPOINT).rstrip("/")
        self._timeout = timeout
        self._api = HfApi(endpoint=self.endpoint)

    def commit(self, source: Source, revision: str) -> str:
        with self._errors(source, revision, source.path):
            return self._api.dataset_info(source.repository, revision=revision, timeout=self._timeout).sha or ""

    def files(self, source: Source, revision: str) -> list[RemoteFile]:
        with self._errors(source, revision, source.path):
            info = self._api.dataset_info(
                source.repository, revision=revision, files_metadata=True, timeout=self._timeout
            )
            commit = info.sha or ""
            files = []
            for entry in sorted(info.siblings or [], key=attrgetter("rfilename")):
                if fnmatch(entry.rfilename, source.path):
                    files.append(self._remote_file(source, commit, entry))
            if not files:
                raise TransferError(_no_file(source, commit, source.path))
            return files

    @contextmanager
    def open(self, file: RemoteFile, offset: int) -> Iterator[Body]:
        headers = {**build_hf_headers(), "Accept-Encoding": "identity"}  # ranges and sizes are those of the file
        if offset:
            headers["Range"] = f"bytes={offset}-"
        with (
            self._errors(file.source, file.commit, file.path),
            get_session().stream("GET", file.url, headers=headers, timeout=self._timeout) as response,
        ):
            if response.status_code == 416:  # nothing is behind `offset`
                yield Body(offset, iter(()))
                return
            hf_raise_for_status(response)
            if response.status_code != 206:  # a host that ignores ranges sends the whole
                offset = 0
            yield Body(offset, response.iter_bytes())

    def _remote_file(self, source: Source, commit: str, entry: RepoSibling) -> RemoteFile:
        path, local = entry.rfilename, source.local
        if source.is_pattern:
            local = str(PurePosixPath(local) / PurePosixPath(path).name)
        url = hf_hub_url(source.repository, path, repo_type="dataset", revision=commit or None, endpoint=self.endpoint)
        sha256, blob = "", entry.blob_id or ""
        if entry.lfs:  # its blob is a pointer, not the file
            sha256, blob = entry.lfs.sha256, ""
        return RemoteFile(source, path, local, url, commit, entry.size, sha256, blob)

    @contextmanager
    def _errors(self, source: Source, revision: str, path: str) -> Iterator[None]:
        """Turn the library's exceptions into ours, each with what to do about it."""
        try:
            yield
        except errors.OfflineModeIsEnabled as error:
            message = "HF_HUB_OFFLINE is set, so nothing is asked of the hub; unset it to download"
            raise TransferError(message, whole_repository=True, offline=True) from error
        except errors.GatedRepoError as error:
            raise TransferError(_gated(source), whole_repository=True) from error
        except errors.RevisionNotFoundError as error:
            raise TransferError(f"{source.page} has no revision {revision}", whole_repository=True) from error
        except errors.EntryNotFoundError as error:
            raise TransferError(_no_file(source, revision, path)) from error
        except (errors.RepositoryNotFoundError, errors.HFValidationError) as error:
            raise TransferError(self._no_repository(source), whole_repository=True) from error
        except errors.HfHubHTTPError as error:
            raise self._by_status(source, error) from error
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
            message = f"HF_ENDPOINT={self.endpoint} is no address such as {HUB_ENDPOINT}"
            raise TransferError(message, whole_repository=True) from error
        except httpx2.TimeoutException as error:
            message = f"no answer from {self.endpoint} within {self._timeout:g} s"
            raise TransientError(message, reached=False) from error
        except httpx2.ConnectError as error:
            raise TransientError(f"{self.endpoint} cannot be reached ({error})", reached=False) from error
        except httpx2.HTTPError as error:
            raise TransientError(f"the connection to {self.endpoint} broke ({_one_line(error)})") from error
        except (ValueError, TypeError, KeyError) as error:  # of the library, at an answer that is not the hub's JSON
            message = f"{self.endpoint} does not answer as the hub does ({_one_line(error)}); does a proxy answer?"
            raise TransferError(message, whole_repository=True) from error

    def _by_status(self, source: Source, error: errors.HfHubHTTPError) -> Exception:
        status = error.response.status_code
        if status in TRANSIENT_STATUS:
            return TransientError(f"{self.endpoint} answers {status}", _retry_after(error.response.headers))
        if status in (401, 403) and _is_token_refused(error):
            message = f"{self.endpoint} does not accept your token; log in with `hf auth login` or mend HF_TOKEN"
            return TransferError(message, whole_repository=True)
        if status in (401, 403) and source.gated:
            return TransferError(_gated(source), whole_repository=True)
        message = f"{self.endpoint} answers {status} for {source.repository}: {_one_line(error)}"
        return TransferError(message, whole_repository=status in (401, 403))

    def _no_repository(self, source: Source) -> str:
        if source.gated:  # the hub does not tell hidden repositories from missing ones
            return _gated(source)
        problem = f"there is no data set repository {source.repository} at {self.endpoint}"
        if not get_token():
            problem += ", or it is not public and you are not logged in (`hf auth login`, HF_TOKEN)"
        return problem


def _is_token_refused(error: errors.HfHubHTTPError) -> bool:
    """Return whether it is the token that was refused, whatever it was to read."""
    return "credentials" in (error.server_message or str(error)).lower()


def _gated(source: Source) -> str:
    if get_token() is None:
        return (
            f"it is gated: accept the terms at {source.page} with your account, "
            "then log in with `hf auth login` or set HF_TOKEN"
        )
    return (
        f"it is gated and your token may not read it: accept the terms at {source.page} with the token's account, "
        "and let the token read gated repositories"
    )


def _no_file(source: Source, revision: str, path: str) -> str:
    return (
        f"{source.page} has no {path} at revision {revision[:12]}; it may have moved (choose a --revision that has it)"
    )


def _retry_after(headers: Any) -> float | None:
    """Return the seconds to wait that a host asks for; None if it names none."""
    value = headers.get("Retry-After", "")
    if value.isdigit():  # it may also be a date
        return float(value)
    return None


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


class RawHost:
    """The host of single raw files of public git repositories. `timeout` is in seconds without a byte."""

    def __init__(self, timeout: float) -> None:
        mirror = os.environ.get(RAW_ENDPOINT_VARIABLE, "").rstrip("/")
        self.endpoint = mirror or RAW_ENDPOINT
        self._commits = mirror or COMMITS_ENDPOINT
        self._timeout = timeout
        self._session = requests.Session()
        self._session.headers["Accept-Encoding"] = "identity"  # sizes are those of the files

    def commit(self, source: Source, revision: str) -> str:
        if is_commit(revision):
            return revision
        url = f"{self._commits}/repos/{source.repository}/commits/{quote(revision, safe='')}"
        try:
            with self._request("GET", url, {"Accept": "application/vnd.github.sha"}) as response:
                text = response.text.strip()
        except (TransferError, TransientError):  # such as a rate limit; the file itself may still be available
            return ""
        if not is_commit(text):  # a mirror may answer with a page of its own
            return ""
        return text

    def files(self, source: Source, revision: str) -> list[RemoteFile]:
        if source.is_pattern:
            return self._matching(source, revision)
        url = self._url(source, revision, source.path)
        with self._request("HEAD", url) as response:
            if response.status_code == 404:
                raise TransferError(
                    f"{source.page} has no {source.path} at {revision[:12]} (404 from {url}); it may have moved "
                    "(choose a --revision that has it)"
                )
            length = response.headers.get("Content-Length", "")
        size = int(length) if length.isdigit() and response.status_code == 200 else None
        return [RemoteFile(source, source.path, source.local, url, _commit_of(revision), size)]

    @contextmanager
    def open(self, file: RemoteFile, offset: int) -> Iterator[Body]:
        headers = {}
        if offset:
            headers["Range"] = f"bytes={offset}-"
        with self._request("GET", file.url, headers) as response:
            if response.status_code == 416:
                yield Body(offset, iter(()))
            elif response.status_code >= 400:
                raise TransferError(f"{file.url} answers {response.status_code}")
            else:
                if response.status_code != 206:
                    offset = 0
                yield Body(offset, response.iter_content(READ_BYTES))

    def _url(self, source: Source, revision: str, path: str) -> str:
        return f"{self.endpoint}/{source.repository}/{quote(revision, safe='')}/{quote(path)}"

    def _matching(self, source: Source, revision: str) -> list[RemoteFile]:
        """List the files of a pattern, with their sizes and git's checksums, from the repository's tree."""
        listing = f"{self._commits}/repos/{source.repository}/git/trees/{quote(revision, safe='')}"
        with self._request("GET", f"{listing}?recursive=1", {"Accept": "application/vnd.github+json"}) as response:
            if response.status_code in (404, 422):
                raise TransferError(f"{source.page} has no revision {revision}, or is not there", whole_repository=True)
            if response.status_code >= 400:  # 403 when too many have been sent from this address
                message = f"{self._commits} answers {response.status_code} to the list of files; try again in an hour"
                raise TransferError(message, whole_repository=True, offline=response.status_code == 403)
            try:
                tree = response.json()
                whole = tree["truncated"] is False
                files = []
                for entry in tree["tree"]:
                    path, num_folders = str(entry["path"]), source.path.count("/")
                    # For `fnmatch` a star may stand for a `/`, too.
                    if entry["type"] != "blob" or not fnmatch(path, source.path) or path.count("/") != num_folders:
                        continue
                    files.append(
                        RemoteFile(
                            source,
                            path,
                            str(PurePosixPath(source.local) / PurePosixPath(path).name),
                            self._url(source, revision, path),
                            _commit_of(revision),
                            int(entry["size"]),
                            git_blob=str(entry["sha"]),
                        )
                    )
                files.sort(key=attrgetter("path"))
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                message = f"{listing} answers with no list of files ({_one_line(error)}); does a proxy answer?"
                raise TransferError(message, whole_repository=True) from error
        if not whole:
            raise TransferError(f"{listing} answers with a part of the files only", whole_repository=True)
        if not files:
            raise TransferError(_no_file(source, revision, source.path), whole_repository=True)
        return files

    @contextmanager
    def _request(self, method: str, url: str, headers: dict[str, str] | None = None) -> Iterator[requests.Response]:
        try:
            with self._session.request(
                method, url, headers=headers, stream=True, timeout=self._timeout, allow_redirects=True
            ) as response:
                if response.status_code in TRANSIENT_STATUS:
                    message = f"{self.endpoint} answers {response.status_code}"
                    raise TransientError(message, _retry_after(response.headers))
                yield response
        except (
            requests.exceptions.InvalidURL,
            requests.exceptions.MissingSchema,
            requests.exceptions.InvalidSchema,
        ) as error:
            message = f"{RAW_ENDPOINT_VARIABLE}={self.endpoint} is no address such as {RAW_ENDPOINT}"
            raise TransferError(message) from error
        except requests.exceptions.Timeout as error:
            message = f"no answer from {self.endpoint} within {self._timeout:g} s"
            raise TransientError(message, reached=False) from error
        except requests.exceptions.ChunkedEncodingError as error:
            raise TransientError(f"the connection to {self.endpoint} broke ({error})") from error
        except requests.exceptions.RequestException as error:
            raise TransientError(f"{self.endpoint} cannot be reached ({_cause(error)})", reached=False) from error


def is_commit(text: str) -> bool:
    """Return whether a text is a full commit hash: 40 hexadecimal digits."""
    return len(text) == 40 and set(text) <= HEXADECIMAL


def _commit_of(revision: str) -> str:
    """Return a revision that is a commit; "" for a name, whose commit may be another one by tomorrow."""
    return revision if is_commit(revision) else ""


def _cause(error: BaseException) -> str:
    """Return the innermost reason in a line; the outer ones repeat the address."""
    while error.args and isinstance(error.args[0], BaseException):
        error = error.args[0]
    reason = getattr(error, "reason", None)
    return _cause(reason) if isinstance(reason, BaseException) else " ".join(str(error).split())[:200]
