"""How proofs leave: as a unified diff that `git apply` takes, as a branch of the repository, or over the files."""

import difflib
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_text

_PLAIN_NAME = re.compile(r'[^\x00-\x1f\x7f"\\]+')
_IDENTITY = {"user.name": "nanoproof", "user.email": "nanoproof@localhost"}


# -- A unified diff --------------------------------------------------------------------------------------------------


def unified_diff(path: str, old: str, new: str) -> str:
    """Return the difference of two versions of a text file, as git writes it; empty if there is none.

    Lines end where a line feed is, so a carriage return before it is part of the line, and whatever else Unicode has
    for line breaks is text. A last line without line end is marked as such.
    """
    if old == new:
        return ""
    pieces = [f"diff --git {_name('a/' + path)} {_name('b/' + path)}\n"]
    lines = list(difflib.unified_diff(_lines(old), _lines(new), n=3))
    pieces += [f"--- {_name('a/' + path)}{_tab(path)}\n", f"+++ {_name('b/' + path)}{_tab(path)}\n"]
    for line in lines[2:]:
        pieces.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(pieces)


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+\Z", text)


def _name(path: str) -> str:
    """A path as git writes it in a diff: in quotes if a character needs an escape."""
    if _PLAIN_NAME.fullmatch(path):
        return path
    escapes = {"\n": "\\n", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
    return '"' + "".join(escapes.get(c) or (c if c.isprintable() else f"\\{ord(c):03o}") for c in path) + '"'


def _tab(path: str) -> str:
    """What ends a name with a space in it, as otherwise a date could follow."""
    return "\t" if " " in path and _PLAIN_NAME.fullmatch(path) else ""


# -- Files and git ---------------------------------------------------------------------------------------------------


def git(root: Path, *words: str, env: Mapping[str, str] | None = None, stdin: bytes | None = None) -> str:
    """Run git in a folder, without hooks; return what it prints. Raises UserError with its last words if it fails."""
    command = [
        "git",
        "--literal-pathspecs",
        "-C",
        str(root),
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "core.quotePath=false",
        *words,
    ]
    try:
        done = subprocess.run(
            command, input=stdin, stdin=None if stdin is not None else subprocess.DEVNULL, capture_output=True,
            env={**os.environ, **(env or {})}, timeout=300,
        )  # fmt: skip
    except FileNotFoundError as error:
        raise UserError("there is no git on the PATH") from error
    except subprocess.TimeoutExpired as error:
        raise UserError(f"git {words[0]} did not end in {error.timeout:g} s") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise UserError(f"git {words[0]} in {root} failed: {said or f'exit code {done.returncode}'}")
    return done.stdout.decode("utf-8", "replace")


def git_prefix(root: Path) -> str | None:
    """Return the path of a folder within its git repository, with a `/` behind it; None if it is in none."""
    try:
        return git(root, "rev-parse", "--show-prefix").rstrip("\n")
    except UserError:
        return None


def patch_text(root: Path, old: Mapping[str, str], new: Mapping[str, str]) -> str:
    """Return one diff for all changed files, its paths from the top of the git repository, else from `root`."""
    prefix = git_prefix(root) or ""
    return "".join(unified_diff(prefix + path, old[path], text) for path, text in sorted(new.items()))


def require_branch(root: Path, branch: str, paths: Sequence[str]) -> None:
    """Check that a branch can be made with these files; raises UserError that says what is in the way."""
    if git_prefix(root) is None:
        raise UserError(f"--branch {branch}: {root} is in no git repository; take --patch FILE")
    try:
        git(root, "check-ref-format", "--branch", branch)
    except UserError as error:
        raise UserError(f"--branch {branch}: that is no name for a branch") from error
    if git(root, "branch", "--list", branch).strip():
        raise UserError(f"--branch {branch}: there is such a branch already; give another name")
    git(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    for first in range(0, len(paths), 200):
        changed = git(root, "status", "--porcelain", "--untracked-files=all", "--", *paths[first : first + 200])
        if changed.strip():
            name = changed.split("\n")[0][3:]
            raise UserError(
                f"--branch {branch}: {name} has changes that are not committed; commit them, or use --patch"
            )


def write_branch(root: Path, branch: str, new: Mapping[str, str], message: str) -> str:
    """Commit the new texts on a branch from HEAD, and return the commit.

    The commit is made with an index of its own: neither the working tree, nor the index, nor the present branch of the
    repository changes, and none of its hooks runs. Raises UserError if git fails.
    """
    prefix = git_prefix(root) or ""
    top = Path(git(root, "rev-parse", "--show-toplevel").rstrip("\n"))
    with tempfile.TemporaryDirectory() as folder:
        env = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        git(top, "read-tree", "HEAD", env=env)
        for path, text in new.items():
            mode = git(top, "ls-files", "--stage", "--", prefix + path, env=env).split(" ")[0] or "100644"
            blob = git(top, "hash-object", "-w", "--stdin", f"--path={prefix}{path}", stdin=text.encode()).strip()
            git(top, "update-index", "--add", "--cacheinfo", f"{mode},{blob},{prefix}{path}", env=env)
        tree = git(top, "write-tree", env=env).strip()
    missing = [name for name in _IDENTITY if not _configured(top, name)]
    identity = [word for name in missing for word in ("-c", f"{name}={_IDENTITY[name]}")]
    commit = git(top, *identity, "commit-tree", tree, "-p", "HEAD", "-F", "-", stdin=message.encode()).strip()
    git(top, "branch", branch, commit)
    return commit


def _configured(root: Path, name: str) -> bool:
    try:
        return bool(git(root, "config", name).strip())
    except UserError:
        return False


def overwrite(root: Path, old: Mapping[str, bytes], new: Mapping[str, str]) -> list[str]:
    """Write the new texts over the files; returns the paths of those that somebody has changed meanwhile: not written.

    A file keeps its mode, and a link what it leads to. Raises UserError if a file cannot be written.
    """
    skipped = []
    for path, text in new.items():
        file = (root / path).resolve()
        try:
            if file.read_bytes() != old[path]:
                skipped.append(path)
                continue
            mode = file.stat().st_mode & 0o7777
            atomic_write_text(file, text)
            file.chmod(mode)
        except OSError as error:
            raise UserError(f"--write: cannot write {file}: {error.strerror}") from error
    return skipped
