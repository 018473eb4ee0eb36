"""Single files of public repositories over HTTPS, as the repositories' host serves them raw.

`NANOPROOF_RAW_ENDPOINT` names a mirror: it serves `/OWNER/NAME/COMMIT/PATH`, and may serve
`/repos/OWNER/NAME/commits/REVISION` with the commit as its text. Where the commit cannot be learned, the file is taken
at the revision's name, and the manifest leaves the commit empty. Proxies are those of the environment.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

import requests

from nanoproof.data.catalog import Source
from nanoproof.data.transfer import PASSING_STATUS, Body, PassingError, RemoteFile, TransferError

RAW_ENDPOINT = "https://raw.githubusercontent.com"
COMMITS_ENDPOINT = "https://api.github.com"
VARIABLE = "NANOPROOF_RAW_ENDPOINT"
PIECE_BYTES = 1 << 16
HEXADECIMAL = frozenset("0123456789abcdef")


class RawHost:
    """The host of raw files. `timeout` is how many seconds of silence are borne."""

    def __init__(self, timeout: float) -> None:
        mirror = os.environ.get(VARIABLE, "").rstrip("/")
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
        except (TransferError, PassingError):  # such as too many questions today; the file itself may well be had
            return ""
        return text if is_commit(text) else ""

    def files(self, source: Source, revision: str) -> list[RemoteFile]:
        url = f"{self.endpoint}/{source.repository}/{quote(revision, safe='')}/{quote(source.path)}"
        with self._request("HEAD", url) as response:
            if response.status_code == 404:
                raise TransferError(
                    f"{source.page} has no {source.path} at {revision[:12]} (404 from {url}); it may have moved "
                    "(choose a --revision that has it)"
                )
            length = response.headers.get("Content-Length", "")
        size = int(length) if length.isdigit() and response.status_code == 200 else None
        commit = revision if is_commit(revision) else ""
        return [RemoteFile(source, source.path, source.local, url, commit, size)]

    @contextmanager
    def open(self, file: RemoteFile, offset: int) -> Iterator[Body]:
        headers = {"Range": f"bytes={offset}-"} if offset else {}
        with self._request("GET", file.url, headers) as response:
            if response.status_code == 416:
                yield Body(offset, iter(()))
            elif response.status_code >= 400:
                raise TransferError(f"{file.url} answers {response.status_code}")
            else:
                start = offset if response.status_code == 206 else 0
                yield Body(start, response.iter_content(PIECE_BYTES))

    @contextmanager
    def _request(self, method: str, url: str, headers: dict[str, str] | None = None) -> Iterator[requests.Response]:
        try:
            with self._session.request(
                method, url, headers=headers, stream=True, timeout=self._timeout, allow_redirects=True
            ) as response:
                if response.status_code in PASSING_STATUS:
                    wait = response.headers.get("Retry-After", "")
                    message = f"{self.endpoint} answers {response.status_code}"
                    raise PassingError(message, float(wait) if wait.isdigit() else None)
                yield response
        except (requests.exceptions.InvalidURL, requests.exceptions.MissingSchema) as error:
            raise TransferError(f"{VARIABLE}={self.endpoint} is no address such as {RAW_ENDPOINT}") from error
        except requests.exceptions.InvalidSchema as error:
            raise TransferError(f"{VARIABLE}={self.endpoint} is no address such as {RAW_ENDPOINT}") from error
        except requests.exceptions.Timeout as error:
            message = f"no answer from {self.endpoint} within {self._timeout:g} s"
            raise PassingError(message, reached=False) from error
        except requests.exceptions.ChunkedEncodingError as error:
            raise PassingError(f"the connection to {self.endpoint} broke ({error})") from error
        except requests.exceptions.RequestException as error:
            raise PassingError(f"{self.endpoint} cannot be reached ({_cause(error)})", reached=False) from error


def is_commit(text: str) -> bool:
    """Whether a text is a whole commit hash."""
    return len(text) == 40 and set(text) <= HEXADECIMAL


def _cause(error: BaseException) -> str:
    """The innermost reason, in a line; the outer ones repeat the address."""
    while error.args and isinstance(error.args[0], BaseException):
        error = error.args[0]
    reason = getattr(error, "reason", None)
    return _cause(reason) if isinstance(reason, BaseException) else " ".join(str(error).split())[:200]
