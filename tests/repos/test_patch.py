"""Proofs as a diff that git applies, as a branch, and over the files."""

import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from nanoproof.common.errors import UserError
from nanoproof.repos.patch import overwrite, patch_text, require_branch, unified_diff, write_branch

CASES = {
    "Plain.lean": ("theorem a : True := by\n  sorry\n", "theorem a : True := by\n  trivial\n"),
    "Crlf.lean": ("-- one\r\ntheorem b : True := sorry\r\n", "-- one\r\ntheorem b : True := by\r\n  trivial\r\n"),
    "Mixed.lean": ("a\r\nb\nsorry\r\n", "a\r\nb\ntrivial\r\n"),
    "NoEnd.lean": ("theorem c : True := sorry", "theorem c : True := trivial"),
    "Breaks.lean": ("-- \u2028 \x0b \x85\nsorry\n", "-- \u2028 \x0b \x85\ntrivial\n"),
    "sub dir/Ωμ «x».lean": ("α\nsorry\n", "α\ntrivial\n"),
    'quo"te.lean': ("sorry\n", "trivial\n"),
}
OLD = {path: old for path, (old, _) in CASES.items()}
NEW = {path: new for path, (_, new) in CASES.items()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose project is in a folder of its own."""
    top = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", "-b", "main", str(top)], check=True)
    for path, text in OLD.items():
        (top / "lean" / path).parent.mkdir(parents=True, exist_ok=True)
        (top / "lean" / path).write_bytes(text.encode())
    (top / "lean" / "Plain.lean").chmod(0o755)
    (top / "README").write_text("a project\n")
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "-C", str(top), "add", "-A"], check=True)
    subprocess.run(["git", "-C", str(top), *identity, "commit", "-qm", "one"], check=True)
    return top


def git(at: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(at), *words], capture_output=True, text=True, check=True).stdout


def data(paths: Iterable[str]) -> dict[str, bytes]:
    return {path: OLD[path].encode() for path in paths}


def read(root: Path) -> dict[str, str]:
    return {path: (root / path).read_bytes().decode() for path in OLD}


def test_git_applies_the_patch_to_the_byte_wherever_it_is_called(made: Path, tmp_path: Path) -> None:
    patch = tmp_path / "proofs.patch"
    patch.write_bytes(patch_text(made / "lean", OLD, NEW).encode())
    git(made / "lean", "apply", str(patch))
    assert read(made / "lean") == NEW
    git(made, "apply", "--reverse", str(patch))
    assert read(made / "lean") == OLD and git(made, "status", "--porcelain") == ""


def test_a_diff_has_three_lines_around_a_change_and_none_without_one() -> None:
    old = "".join(f"{number}\n" for number in range(10))
    assert unified_diff("A.lean", old, old) == ""
    assert unified_diff("A.lean", old, old.replace("5\n", "five\n")) == (
        "diff --git a/A.lean b/A.lean\n--- a/A.lean\n+++ b/A.lean\n@@ -3,7 +3,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
    )


def test_a_branch_holds_the_proofs_and_nothing_else_changes(made: Path) -> None:
    def everything() -> tuple[str, str, dict[str, str]]:
        return git(made, "status", "--porcelain"), git(made, "rev-parse", "HEAD"), read(made / "lean")

    before = everything()
    base = require_branch(made / "lean", "proofs", data(OLD))
    lines = write_branch(made / "lean", base, data(OLD), NEW, "Prove 7 sorries\n")
    assert everything() == before
    assert lines == [f"branch proofs: commit {git(made, 'rev-parse', 'proofs')[:12]}"]
    assert git(made, "rev-parse", "proofs^") == before[1]
    changed = git(made, "diff", "--name-only", "-z", "main", "proofs").split("\0")
    assert sorted(changed) == sorted(["", *(f"lean/{path}" for path in OLD)])
    for path, text in NEW.items():
        command = ["git", "-C", str(made), "show", f"proofs:lean/{path}"]
        assert subprocess.run(command, capture_output=True, check=True).stdout == text.encode()
    assert git(made, "ls-tree", "proofs", "lean/Plain.lean").startswith("100755 ")
    with pytest.raises(UserError, match="there is such a branch already"):
        require_branch(made, "proofs", {})
    git(made, "branch", "-D", "proofs")


def test_what_is_in_the_way_of_a_branch_is_said_before_anything_is_tried(made: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no name for a branch"):
        require_branch(made, "a..b", {})
    with pytest.raises(UserError, match="in no git repository; take --patch"):
        require_branch(tmp_path, "proofs", {})
    file = made / "lean" / "Plain.lean"
    file.write_text("-- more\n" + OLD["Plain.lean"])
    try:
        with pytest.raises(UserError, match=r"Plain\.lean has changes that are not committed"):
            require_branch(made / "lean", "proofs", {**data(OLD), "Plain.lean": file.read_bytes()})
        require_branch(made / "lean", "proofs", data(["Crlf.lean"]))
    finally:
        file.write_text(OLD["Plain.lean"])


def test_files_are_overwritten_with_their_mode_unless_somebody_changed_them(tmp_path: Path) -> None:
    for name in ("A.lean", "B.lean"):
        (tmp_path / name).write_bytes(b"sorry\r\n")
    (tmp_path / "A.lean").chmod(0o640)
    old = dict.fromkeys(("A.lean", "B.lean"), b"sorry\r\n")
    (tmp_path / "B.lean").write_bytes(b"mine\n")
    assert overwrite(tmp_path, old, dict.fromkeys(old, "trivial\r\n")) == {"B.lean": "it was changed meanwhile"}
    assert (tmp_path / "A.lean").read_bytes() == b"trivial\r\n"
    assert (tmp_path / "A.lean").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "B.lean").read_bytes() == b"mine\n"
