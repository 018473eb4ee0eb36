"""How proofs leave: as a unified diff that `git apply` takes, as a branch of the repository, or over the files.

The texts that they are put into are those that were read when the run began. So a branch begins at the commit that
holds these texts, wherever HEAD is by then, and a file that is another one by then is not written over.
"""

import difflib
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_text, read_regular
from nanoproof.common.git import GitError, blob_id, git, repository_top

_PLAIN_NAME = re.compile(r'[^\x00-\x1f\x7f-\x9f"\\\ud800-\udfff]+')
"""What git writes as it is, with `core.quotePath` off."""
_ESCAPES = {"\n": "\\n", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_PLAIN_FILES = ("100644", "100755")
"""Git's modes of files, not executable and executable; a symbolic link is 120000, a submodule 160000."""
CHANGED = "it was changed meanwhile"
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
    for line in lines[2:]:  # behind difflib's own two lines, which do not quote names
        pieces.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(pieces)


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+\Z", text)


def _name(path: str) -> str:
    """Write a path as git does in a diff: in quotes if a character needs an escape, which are those of its bytes."""
    if _PLAIN_NAME.fullmatch(path):
        return path
    pieces = []
    for character in path:
        if character in _ESCAPES:
            pieces.append(_ESCAPES[character])
        elif character.isprintable():
            pieces.append(character)
        else:
            pieces += [f"\\{byte:03o}" for byte in os.fsencode(character)]
    return f'"{"".join(pieces)}"'


def _tab(path: str) -> str:
    """Return what ends a name with a space in it, as otherwise a date could follow."""
    return "\t" if " " in path and _PLAIN_NAME.fullmatch(path) else ""


# -- Files and git ---------------------------------------------------------------------------------------------------


def patch_text(root: Path, old: Mapping[str, str], new: Mapping[str, str]) -> str:
    """Return one diff for all changed files, its paths from the top of the git repository, else from `root`."""
    prefix = _prefix(root, repository_top(root) or root)
    return "".join(unified_diff(prefix + path, old[path], text) for path, text in sorted(new.items()))


def _prefix(root: Path, top: Path) -> str:
    """Return the path of a folder within its repository, with a `/` behind it; empty if it is the top."""
    return "" if root == top else f"{root.relative_to(top).as_posix()}/"


@dataclass(frozen=True)
class Base:
    """The commit that a branch begins at, with the files that it may change.

    `files` maps paths from the project's root to mode and name of their blob; `elsewhere` has those that no commit of
    this repository can hold, with the reason.
    """

    top: Path
    branch: str
    commit: str
    files: Mapping[str, tuple[str, str]]
    elsewhere: Mapping[str, str]


def require_branch(root: Path, branch: str, data: Mapping[str, bytes]) -> Base:
    """Check that a branch can be made from HEAD with these files as they were read; returns where it begins.

    Neither index nor working tree is looked at: the content of a file has to be that of HEAD, but for line ends that
    git has changed. Raises UserError that says what is in the way.
    """
    option = f"--branch {branch}"
    top = repository_top(root)
    if top is None:
        raise UserError(f"{option}: {root} is in no git repository; take --patch FILE")
    try:
        commit = git("rev-parse", "--verify", "--end-of-options", "HEAD^{commit}", at=top).decode().strip()
        listed = git("ls-tree", "-r", "-z", "--full-tree", commit, at=top)
    except GitError as error:
        raise UserError(f"{option}: git cannot tell what is committed in {top} ({error}); take --patch FILE") from error
    try:
        git("check-ref-format", f"refs/heads/{branch}", at=top)
        if branch.startswith("-"):
            raise GitError("it begins with a dash")
    except GitError as error:
        raise UserError(f"{option}: that is no name for a branch") from error
    if _has_branch(top, branch):
        raise UserError(f"{option}: there is such a branch already; give another name")
    entries, submodules = _entries(listed)
    prefix = _prefix(root, top)
    files, elsewhere = {}, {}
    for path, content in data.items():
        whole = os.fsencode(prefix + path)
        if (owner := _owner(root / path, top, whole, submodules)) is not None:
            elsewhere[path] = f"it belongs to another repository, {owner}"
            continue
        mode, name = entries.get(whole, ("", ""))
        # By the names of blobs, which are hashes of contents: with `core.autocrlf` the commit has line feeds where the
        # working tree has carriage returns too.
        if mode not in _PLAIN_FILES or name not in (blob_id(content, name), blob_id(_with_line_feeds(content), name)):
            raise UserError(f"{option}: {path} has changes that are not committed; commit them, or use --patch")
        files[path] = mode, name
    return Base(top, branch, commit, files, elsewhere)


def _has_branch(top: Path, branch: str) -> bool:
    try:
        git("show-ref", "--verify", "--quiet", f"refs/heads/{branch}", at=top)
    except GitError:
        return False
    return True


def _entries(listed: bytes) -> tuple[dict[bytes, tuple[str, str]], set[bytes]]:
    """Read what `git ls-tree -r -z` prints: mode and name of each file, and the paths of submodules."""
    entries: dict[bytes, tuple[str, str]] = {}
    submodules = set()
    for record in listed.split(b"\0"):
        head, _, path = record.partition(b"\t")
        if not path:
            continue
        mode, _, name = head.decode().split(" ")
        entries[path] = mode, name
        if mode == "160000":
            submodules.add(path)
    return entries, submodules


def _owner(file: Path, top: Path, path: bytes, submodules: set[bytes]) -> str | None:
    """Return the folder of the repository below `top` that a file is in: a submodule, or one that lies there."""
    parts = path.split(b"/")
    for length in range(1, len(parts)):
        if (folder := b"/".join(parts[:length])) in submodules:
            return os.fsdecode(folder)
    nearest = repository_top(file.parent)
    return None if nearest in (top, None) else str(nearest)


def _with_line_feeds(content: bytes) -> bytes:
    return content.replace(b"\r\n", b"\n")


def write_branch(root: Path, base: Base, old: Mapping[str, bytes], new: Mapping[str, str], message: str) -> list[str]:
    """Commit the new texts on the branch, from its base; returns lines on what was done.

    The commit is made with an index of its own: neither the working tree, nor the index, nor the present branch of the
    repository changes, and none of its hooks runs. What was committed meanwhile is not in it, and not undone by merging
    it. Raises UserError if git fails.
    """
    prefix, top = _prefix(root, base.top), base.top
    changes = []
    for path, text in new.items():
        if path not in base.files:
            continue
        mode, name = base.files[path]
        content = text.encode()
        if name != blob_id(old[path], name):  # git turns line ends around, as `core.autocrlf` or an attribute says
            content = _with_line_feeds(content)
        blob = git("hash-object", "-w", "--stdin", at=top, stdin=content).decode().strip()
        changes.append(f"{mode} {blob}\t".encode() + os.fsencode(prefix + path) + b"\0")
    lines = []
    for path, reason in base.elsewhere.items():
        if path in new:
            lines.append(f"NOT on the branch, {reason}: {path} (its proofs are in the patch)")
    if not changes:
        return [f"branch {base.branch} is not made: no proof is for a file of {top}", *lines]
    with tempfile.TemporaryDirectory() as folder:
        env = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        git("read-tree", base.commit, at=top, env=env)
        git("update-index", "-z", "--index-info", at=top, env=env, stdin=b"".join(changes))
        tree = git("write-tree", at=top, env=env).decode().strip()
    # Git refuses a commit by nobody, as on a machine for computing where no name was ever set.
    identity = []
    for name, value in _IDENTITY.items():
        if not _configured(top, name):
            identity += ["-c", f"{name}={value}"]
    committed = git(*identity, "commit-tree", tree, "-p", base.commit, "-F", "-", at=top, stdin=message.encode())
    commit = committed.decode().strip()
    # With an empty old value git makes the branch only if there is none by now.
    git("update-ref", "-m", "nanoproof: proofs", f"refs/heads/{base.branch}", commit, "", at=top)
    lines.insert(0, f"branch {base.branch}: commit {commit[:12]}")
    head = git("rev-parse", "--verify", "HEAD^{commit}", at=top).decode().strip()
    if head != base.commit:
        lines[0] += f" on {base.commit[:12]}; HEAD is at {head[:12]} by now: merge the branch, or rebase it"
    return lines


def _configured(root: Path, name: str) -> bool:
    try:
        return bool(git("config", name, at=root).strip())
    except GitError:
        return False


def overwrite(root: Path, old: Mapping[str, bytes], new: Mapping[str, str]) -> dict[str, str]:
    """Write the new texts over the files; returns the paths of those that are not written, with the reason.

    A file keeps its mode. One that somebody has changed meanwhile stays as it is, and nothing is written through
    symbolic links: they may lead out of the project.
    """
    root = root.resolve()
    skipped: dict[str, str] = {}
    for path, text in new.items():
        file = root / path
        try:
            if file.resolve() != file:
                skipped[path] = "a symbolic link leads there by now"
            elif read_regular(file) != old[path]:
                skipped[path] = CHANGED
            else:
                mode = file.stat().st_mode & 0o7777
                atomic_write_text(file, text)
                file.chmod(mode)
        except (OSError, RuntimeError) as error:  # the latter is what `resolve` calls links in a circle
            skipped[path] = getattr(error, "strerror", None) or str(error)
    return skipped
