"""Git, as all of nanoproof runs it: nothing that a repository brings along is executed, and nothing hangs.

A folder from elsewhere may hold a `.git/config` of its own, and git executes much of what stands there: hooks, the
file system monitor, filters, transports, pagers. Those are set to nothing on the command line, which goes before every
file. What the user or the administrator has in *their* configuration stays: proxies, `safe.directory`, who commits.
"""

import contextlib
import hashlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from nanoproof.common.errors import UserError

LOCAL_SECONDS = 60.0
"""How long a command without a network may take: a FIFO in place of `.git/config` would keep git waiting for ever."""
_POLL_SECONDS = 0.2
_OF_ANOTHER_REPOSITORY = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_EXTERNAL_DIFF",
)
"""Variables that a caller (a hook, say) may have set for a repository of its own."""
_HARMLESS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.editor=false",
    "core.sshCommand=",
    "core.gitProxy=",
    "core.askPass=",
    "core.alternateRefsCommand=",
    "credential.helper=",
    "diff.external=",
    "gpg.program=false",
    "submodule.recurse=false",
    "protocol.ext.allow=never",  # `ext::COMMAND` runs a command
    "gc.auto=0",
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=60",
)
_FETCHING = ("clone", "fetch")


class GitError(UserError):
    """Git failed, took too long, or was stopped; the message is one line."""


def git(
    *arguments: str,
    at: Path | None = None,
    seconds: float = LOCAL_SECONDS,
    stop: threading.Event | None = None,
    stdin: bytes | None = None,
    env: Mapping[str, str] | None = None,
) -> bytes:
    """Run git in the folder `at` and return what it prints.

    It never prompts, and the processes that it started are ended with it. Only `clone` and `fetch` reach any transport:
    a partial clone would fetch what is missing by whatever its configuration names. Raises GitError if it fails, takes
    longer than `seconds`, or `stop` is set, and UserError if there is no git.
    """
    command = git_command(*arguments, at=at)
    # Of all commands here these two write a work tree, which is where filters of attributes run.
    if arguments[0] in ("clone", "checkout"):
        command[1:1] = _without_filters()
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**git_environment(), **(env or {})},
            start_new_session=True,
        )
    except FileNotFoundError as error:
        raise UserError("git is not installed, or not on the PATH") from error
    end = time.monotonic() + seconds
    given = stdin
    try:
        while True:
            try:
                out, errors = process.communicate(given, timeout=_POLL_SECONDS)
                break
            except subprocess.TimeoutExpired:
                given = None  # it keeps what is left of it
                if stop is not None and stop.is_set():
                    raise GitError("stopped") from None
                if time.monotonic() > end:
                    raise GitError(f"git did not end within {seconds:g} seconds") from None
    finally:
        end_process(process)
    if process.returncode != 0:
        raise GitError(_reason(errors) or f"git ended with code {process.returncode}")
    return out


def git_command(*arguments: str, at: Path | None = None) -> list[str]:
    """Return the command line of git with what a folder could make it run switched off, for `git_environment`."""
    command = ["git", "--no-pager", "--literal-pathspecs"]
    # What stands on the command line goes before every file of configuration.
    for setting in _HARMLESS:
        command += ["-c", setting]
    if arguments[0] not in _FETCHING:
        command += ["-c", "protocol.allow=never"]
    if at is not None:
        command += ["-C", str(at)]
    return [*command, *arguments]


def git_environment() -> dict[str, str]:
    """Return the environment for `git_command`: no prompts, messages in English, no variables of other repositories."""
    environment = {name: value for name, value in os.environ.items() if name not in _OF_ANOTHER_REPOSITORY}
    environment.setdefault("GIT_SSH_COMMAND", "ssh -oBatchMode=yes")
    return {
        **environment,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "true",
        "SSH_ASKPASS": "true",
        "GCM_INTERACTIVE": "never",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "LC_ALL": "C",
    }


def end_process(process: subprocess.Popen[bytes]) -> None:
    """End a process that leads a session, and what it started, unless it has ended."""
    if process.poll() is not None:
        return
    for number in (signal.SIGTERM, signal.SIGKILL):  # the second is for what the first does not end
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=2)


def _without_filters() -> list[str]:
    """Return settings that switch off the filters of the user's own configuration.

    They are for the user's files; the attributes that would apply them to a fresh clone are the clone's.
    """
    command = git_command("config", "--null", "--name-only", "--get-regexp", r"^filter\.")
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=git_environment(),
            cwd="/",
            timeout=LOCAL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):  # the command itself will say so
        return []
    settings: list[str] = []
    for name in done.stdout.decode("utf-8", "surrogateescape").split("\0"):
        if name and "=" not in name:
            settings += ["-c", f"{name}="]
    return settings


def _reason(errors: bytes) -> str:
    """Return the last line of git's output that reports an error."""
    lines = [line.strip() for line in errors.decode("utf-8", "replace").splitlines() if line.strip()]
    # Progress and hints come on the same stream, and a hint is often last.
    telling = [line for line in lines if line.startswith(("fatal:", "error:", "remote:"))]
    return (telling or lines or [""])[-1]


def blob_id(data: bytes, like: str) -> str:
    """Compute the name that git gives to the content of a file, in the hash that a name of the repository is of."""
    algorithm = hashlib.sha1
    if len(like) == 64:
        algorithm = hashlib.sha256
    # Git hashes a header of kind and length with the content; sha256 is of repositories that chose it.
    return algorithm(b"blob %d\0" % len(data) + data).hexdigest()


def repository_top(folder: Path) -> Path | None:
    """Find the top of the repository that a folder is in: the nearest folder from it upwards that has a `.git`.

    Git is not asked: it refuses repositories of other users, and `core.worktree` of a foreign folder may name any.
    """
    for parent in (folder, *folder.parents):
        if os.path.lexists(parent / ".git"):
            return parent
    return None
