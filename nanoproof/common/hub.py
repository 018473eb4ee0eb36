"""The hub: files of a repository that are downloaded into its cache, and folders that are pushed to it.

Tokens, the cache's place and the offline mode are those of `huggingface_hub` (`hf auth login`, HF_TOKEN, HF_HOME,
HF_HUB_OFFLINE); HF_ENDPOINT names another hub. What goes wrong is a UserError that says what to do.
"""

import os
import re
import socket
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit
from urllib.request import getproxies

from nanoproof.common.errors import UserError

NAME = re.compile(r"(?P<repository>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w.+/-]+))?")
"""`OWNER/NAME` or `OWNER/NAME@REVISION`: a branch, a tag or a commit."""
_SECONDS, _CONNECT_SECONDS = 10.0, 3.0
_PORTS = {"http": 80, "https": 443}


class NotReached(UserError):
    """A file is not in the cache, and the hub cannot be asked."""


def _endpoint() -> str | None:
    return os.environ.get("HF_ENDPOINT") or None


def require_reach(shown: str) -> None:
    """Raise NotReached, within seconds, if the hub cannot be asked about `shown`, which the cache does not have.

    Its library tries six times before it says so, for half a minute, and so for each file.
    """
    from huggingface_hub import constants

    # Through a proxy, and where nothing is to be asked, it has its own way of telling.
    if constants.HF_HUB_OFFLINE or getproxies():
        return
    address = urlsplit(_endpoint() or constants.ENDPOINT)
    reason = _why_out_of_reach(address.hostname or "", address.port or _PORTS.get(address.scheme, 443))
    if reason is not None:
        raise NotReached(
            f"{shown} is no folder here and not in the hub's cache, and the hub cannot be reached "
            f"({address.hostname}: {reason}): give a folder, hf:FOLDER (for --dry-run one with its config.json will do)"
        )


@lru_cache(maxsize=8)
def _why_out_of_reach(host: str, port: int) -> str | None:
    try:
        socket.create_connection((host, port), _CONNECT_SECONDS).close()
    except OSError as error:
        return error.strerror or str(error)
    return None


@lru_cache(maxsize=256)
def fetch_file(repository: str, file: str, revision: str | None = None) -> Path | None:
    """Return a file of a model's repository in the cache, downloading it where it is not there; None if it has none.

    What the cache has of a branch stays as it is, as runs should not change by themselves; a commit, or
    `hf download`, brings another one. Raises NotReached if the hub cannot be asked, and UserError if there is no such
    repository or revision, or it is not for this user.
    """
    from huggingface_hub import hf_hub_download, try_to_load_from_cache  # half a second, for those who need it
    from huggingface_hub.errors import (
        EntryNotFoundError,
        GatedRepoError,
        HfHubHTTPError,
        HFValidationError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    shown = f"hf:{repository}" + (f"@{revision}" if revision else "")
    try:
        cached = try_to_load_from_cache(repository, file, revision=revision)
        if isinstance(cached, str):
            return Path(cached)
        require_reach(shown)
        return Path(hf_hub_download(repository, file, revision=revision, etag_timeout=_SECONDS, endpoint=_endpoint()))
    except HFValidationError:
        return None
    except GatedRepoError as error:
        raise UserError(f"{shown}: its owner has to grant access; ask for it on its page, then log in") from error
    except RepositoryNotFoundError as error:
        raise UserError(f"{shown}: the hub has no such model, or it is private: {_LOG_IN}") from error
    except RevisionNotFoundError as error:
        raise UserError(f"{shown}: the model has no such revision") from error
    except LocalEntryNotFoundError as error:  # also of those that follow, when the hub was not reached
        raise NotReached(f"{shown} is not in the hub's cache, and the hub cannot be reached: {_why(error)}") from error
    except EntryNotFoundError:
        return None
    except HfHubHTTPError as error:
        raise UserError(f"{shown}: {_why(error)}") from error
    except OSError as error:
        raise UserError(f"{shown} cannot be downloaded: {_why(error)}") from error


_LOG_IN = "check the name, and log in by `hf auth login` or HF_TOKEN"


def fetch_files(repository: str, files: Sequence[str], revision: str | None) -> None:
    """Download files of a model's repository into the cache. Raises what `fetch_file` raises; UserError for a missing
    one.
    """
    for file in files:
        if fetch_file(repository, file, revision) is None:
            raise UserError(f"hf:{repository}: the repository holds no {file}")


def push_folder(
    repository: str, folder: Path, files: Sequence[str], kind: Literal["model", "dataset"], private: bool, message: str
) -> str:
    """Push files of a folder as one commit to a repository of the hub, which is made if it is not there; returns the
    commit. Raises UserError.
    """
    match = NAME.fullmatch(repository)
    if match is None or match["revision"]:
        raise UserError(f"--push {repository}: expected OWNER/NAME")
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, HTTPError, LocalTokenNotFoundError

    api = HfApi(endpoint=_endpoint())
    try:
        api.create_repo(repository, repo_type=kind, private=private or None, exist_ok=True)
        commit = api.upload_folder(
            repo_id=repository, folder_path=folder, repo_type=kind, allow_patterns=list(files), commit_message=message
        )
    except LocalTokenNotFoundError as error:
        raise UserError(f"--push {repository}: log in by `hf auth login`, or set HF_TOKEN") from error
    except HFValidationError as error:
        raise UserError(f"--push {repository}: {_why(error)}") from error
    except HfHubHTTPError as error:
        status = getattr(error.response, "status_code", None)
        if status in (401, 403):
            raise UserError(f"--push {repository}: the token may not write there: {_why(error)}") from error
        raise UserError(f"--push {repository}: {_why(error)}") from error
    except (HTTPError, OSError, RuntimeError, ValueError) as error:  # connections, and what their client makes of them
        raise UserError(f"--push {repository}: {_why(error)}") from error
    return str(commit.oid)


def _why(error: BaseException) -> str:
    """Return the first line of an error, or of its cause."""
    text = str(error).strip() or str(error.__cause__ or "").strip() or type(error).__name__
    return text.splitlines()[0][:300]
