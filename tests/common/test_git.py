"""Git in folders from elsewhere: nothing that they hold is executed, and nothing waits for ever."""

import os
import subprocess
from pathlib import Path

import pytest

from nanoproof.common.errors import UserError
from nanoproof.common.git import GitError, git

IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@b")


def plain_git(at: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(at), *IDENTITY, *words], check=True, capture_output=True)


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """A program that leaves a file behind when it is run."""
    program = tmp_path / "mark"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\ncat\n")
    program.chmod(0o755)
    return program


def repository(at: Path) -> Path:
    at.mkdir()
    plain_git(at, "init", "-q", "-b", "main")
    (at / "A.lean").write_text("theorem a : True := trivial\n")
    (at / ".gitattributes").write_text("*.lean filter=evil diff=evil\n")
    plain_git(at, "add", "-A")
    plain_git(at, "commit", "-qm", "one")
    return at


def test_nothing_that_a_folder_configures_is_run(tmp_path: Path, mark: Path) -> None:
    folder = repository(tmp_path / "evil")
    gone = "0123456789" * 4
    settings = ["core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "credential.helper"]
    settings += ["diff.external", "diff.evil.textconv", "gpg.program", "core.alternateRefsCommand", "alias.rev-parse"]
    settings += ["filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "remote.far.uploadpack"]
    for name in settings:
        plain_git(folder, "config", name, str(mark))
    for name, value in {
        "core.hooksPath": str(tmp_path / "hooks"),
        "remote.far.url": f"ext::{mark}",
        "remote.far.promisor": "true",
        "extensions.partialClone": "far",
        "core.repositoryFormatVersion": "1",
        "commit.gpgSign": "true",
    }.items():
        plain_git(folder, "config", name, value)
    for hooks in (tmp_path / "hooks", folder / ".git" / "hooks"):
        hooks.mkdir(exist_ok=True)
        for hook in ("reference-transaction", "post-checkout", "post-index-change", "pre-commit", "post-commit"):
            (hooks / hook).write_bytes(mark.read_bytes())
            (hooks / hook).chmod(0o755)
    os.utime(folder / "A.lean", (0, 0))  # so that a status has to look at the file itself

    head = git("rev-parse", "HEAD", at=folder).decode().strip()
    tree = git("rev-parse", "HEAD^{tree}", at=folder).decode().strip()
    git("ls-tree", "-r", "-z", head, at=folder)
    git("hash-object", "-w", "--stdin", at=folder, stdin=b"text\n")
    commit = git(*IDENTITY, "commit-tree", tree, "-p", head, "-m", "two", at=folder).decode().strip()
    git("read-tree", head, at=folder)
    git("update-ref", "refs/heads/new", commit, "", at=folder)
    with pytest.raises(GitError):
        git("cat-file", "-p", gone, at=folder)  # a partial clone would ask its remote
    assert not (tmp_path / "ran").exists()
    subprocess.run(["git", "-C", str(folder), "update-ref", "refs/heads/other", head], check=True)
    assert (tmp_path / "ran").exists(), "the folder is as hostile as it was meant to be"


def test_filters_of_the_users_own_configuration_are_not_for_fresh_clones(
    tmp_path: Path, mark: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = repository(tmp_path / "evil")
    configuration = tmp_path / "gitconfig"
    configuration.write_text(f'[filter "evil"]\n\tsmudge = {mark}\n\trequired = true\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(configuration))
    git("clone", "--quiet", "--", folder.as_uri(), str(tmp_path / "clone"))
    git("checkout", "--quiet", "--detach", "HEAD", at=tmp_path / "clone")
    assert (tmp_path / "clone" / "A.lean").read_text() == "theorem a : True := trivial\n"
    assert not (tmp_path / "ran").exists()


def test_a_pipe_in_place_of_the_configuration_keeps_nobody_waiting(tmp_path: Path) -> None:
    folder = repository(tmp_path / "evil")
    (folder / ".git" / "config").unlink()
    os.mkfifo(folder / ".git" / "config")
    with pytest.raises(GitError, match="did not end within 1 seconds"):
        git("rev-parse", "HEAD", at=folder, seconds=1)


def test_without_git_a_line_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="git is not installed"):
        git("clone", "--quiet", "--", "file:///nowhere", str(tmp_path / "clone"))
