"""Data set repositories of the hub: commits, file lists and contents, through `huggingface_hub`.

The token (`HF_TOKEN` or that of `hf auth login`), `HF_ENDPOINT`, `HF_HUB_OFFLINE` and proxies are that library's. Only
the loop that writes a file is ours (`transfer.py`), because the library keeps nothing of a download that was stopped.
Contents come over plain HTTPS, which the hub offers for every file of less than 50 GB.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import PurePosixPath
from typing import Any

import httpx2
from huggingface_hub import HfApi, get_session, get_token, hf_hub_url, hf_raise_for_status
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.hf_api import RepoSibling
from huggingface_hub.utils import build_hf_headers

from nanoproof.data.catalog import Source
from nanoproof.data.transfer import PASSING_STATUS, Body, PassingError, RemoteFile, TransferError

DEFAULT_ENDPOINT = "https://huggingface.co"


class Hub:
    """The hub, or what `HF_ENDPOINT` names in its place. `timeout` is how many seconds of silence are borne."""

    def __init__(self, timeout: float) -> None:
        self.endpoint = (os.environ.get("HF_ENDPOINT") or DEFAULT_ENDPOINT).rstrip("/")
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
            found = [entry for entry in info.siblings or [] if fnmatch(entry.rfilename, source.path)]
            if not found:
                raise TransferError(_no_file(source, commit, source.path))
            return [self._remote_file(source, commit, entry) for entry in sorted(found, key=lambda e: e.rfilename)]

    @contextmanager
    def open(self, file: RemoteFile, offset: int) -> Iterator[Body]:
        headers = {**build_hf_headers(), "Accept-Encoding": "identity"}
        if offset:
            headers["Range"] = f"bytes={offset}-"
        with (
            self._errors(file.source, file.commit, file.path),
            get_session().stream("GET", file.url, headers=headers, timeout=self._timeout) as response,
        ):
            if response.status_code == 416:
                yield Body(offset, iter(()))
                return
            hf_raise_for_status(response)
            yield Body(offset if response.status_code == 206 else 0, response.iter_bytes())

    def _remote_file(self, source: Source, commit: str, entry: RepoSibling) -> RemoteFile:
        path, local = entry.rfilename, source.local
        if source.is_pattern:
            local = str(PurePosixPath(local) / PurePosixPath(path).name)
        url = hf_hub_url(source.repository, path, repo_type="dataset", revision=commit or None, endpoint=self.endpoint)
        sha256, blob = (entry.lfs.sha256, "") if entry.lfs else ("", entry.blob_id or "")
        return RemoteFile(source, path, local, url, commit, entry.size, sha256, blob)

    @contextmanager
    def _errors(self, source: Source, revision: str, path: str) -> Iterator[None]:
        """The library's exceptions as ours, each with what to do about it."""
        try:
            yield
        except OfflineModeIsEnabled as error:
            message = "HF_HUB_OFFLINE is set, so nothing is asked of the hub; unset it to download"
            raise TransferError(message, for_all=True, offline=True) from error
        except GatedRepoError as error:
            raise TransferError(_gated(source), for_all=True) from error
        except RevisionNotFoundError as error:
            raise TransferError(f"{source.page} has no revision {revision}", for_all=True) from error
        except EntryNotFoundError as error:
            raise TransferError(_no_file(source, revision, path)) from error
        except (RepositoryNotFoundError, HFValidationError) as error:
            raise TransferError(self._no_repository(source), for_all=True) from error
        except HfHubHTTPError as error:
            raise self._by_status(source, error) from error
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
            message = f"HF_ENDPOINT={self.endpoint} is no address such as {DEFAULT_ENDPOINT}"
            raise TransferError(message, for_all=True) from error
        except httpx2.TimeoutException as error:
            message = f"no answer from {self.endpoint} within {self._timeout:g} s"
            raise PassingError(message, reached=False) from error
        except httpx2.ConnectError as error:
            raise PassingError(f"{self.endpoint} cannot be reached ({error})", reached=False) from error
        except httpx2.HTTPError as error:
            raise PassingError(f"the connection to {self.endpoint} broke ({_one_line(error)})") from error
        except (ValueError, TypeError, KeyError) as error:
            message = f"{self.endpoint} does not answer as the hub does ({_one_line(error)}); does a proxy answer?"
            raise TransferError(message, for_all=True) from error

    def _by_status(self, source: Source, error: HfHubHTTPError) -> Exception:
        status = error.response.status_code
        if status in PASSING_STATUS:
            return PassingError(f"{self.endpoint} answers {status}", _seconds(error.response.headers))
        if status in (401, 403) and _is_token_refused(error):
            message = f"{self.endpoint} does not accept your token; log in with `hf auth login` or mend HF_TOKEN"
            return TransferError(message, for_all=True)
        if status in (401, 403) and source.gated:
            return TransferError(_gated(source), for_all=True)
        message = f"{self.endpoint} answers {status} for {source.repository}: {_one_line(error)}"
        return TransferError(message, for_all=status in (401, 403))

    def _no_repository(self, source: Source) -> str:
        if source.gated:  # the hub does not tell hidden repositories from missing ones
            return _gated(source)
        private = "" if get_token() else ", or it is not public and you are not logged in (`hf auth login`, HF_TOKEN)"
        return f"there is no data set repository {source.repository} at {self.endpoint}{private}"


def _is_token_refused(error: HfHubHTTPError) -> bool:
    """Whether it is the token that was refused, whatever it was to read."""
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


def _seconds(headers: Any) -> float | None:
    value = headers.get("Retry-After", "")
    return float(value) if value.isdigit() else None


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
