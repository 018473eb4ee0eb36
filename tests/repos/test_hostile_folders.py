"""Folders as an attacker, or a file system, may make them: what is read, what is written, and what is said of it."""

import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nanoproof.common.errors import UserError
from nanoproof.common.files import remove_tree
from nanoproof.lean.project.layout import lean_version
from nanoproof.repos import prove
from nanoproof.repos.__main__ import main
from nanoproof.repos.patch import overwrite, patch_text, require_branch, write_branch
from nanoproof.repos.project import DEEPEST, Project
from nanoproof.repos.source_file import MAX_BYTES
from nanoproof.repos.trace import record_path

OPEN = "theorem a : True := by\n  sorry\n"
DONE = "theorem a : True := by\n  trivial\n"


def git(at: Path, *words: str) -> str:
    command = ["git", "-C", str(at), "-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"]
    return subprocess.run([*command, *words], capture_output=True, text=True, check=True).stdout.strip()


def committed(at: Path, **files: str) -> Path:
    at.mkdir(parents=True, exist_ok=True)
    git(at, "init", "-q", "-b", "main")
    for name, text in files.items():
        (at / f"{name}.lean").write_text(text)
    git(at, "add", "-A")
    git(at, "commit", "-qm", "one")
    return at


def faults(root: Path) -> dict[str, str]:
    return {file.path: file.error for file in Project.read(root).files if file.error}


# -- reading ---------------------------------------------------------------------------------------------------------


def test_what_is_no_file_of_the_project_is_named_and_never_opened(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "project"
    (root / "Folder.lean").mkdir(parents=True)
    outside.mkdir()
    (root / "Folder.lean" / "In.lean").write_text(OPEN)
    (outside / "Secret.lean").write_text(OPEN)
    for name in ("lakefile.lean", "lakefile.toml", "lean-toolchain", "lake-manifest.json", "Pipe.lean"):
        os.mkfifo(root / name)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(root / "Socket.lean"))  # the path of a socket has 108 bytes at most
        (root / "Zero.lean").symlink_to("/dev/zero")
        (root / "Secret.lean").symlink_to(outside / "Secret.lean")
        (root / "Loop.lean").symlink_to("Loop.lean")
        (root / "Elsewhere").symlink_to(outside)
        with open(root / "Huge.lean", "wb") as huge:
            huge.truncate(MAX_BYTES + 1)
        with open(os.fsencode(root) + b"/bad\xff.lean", "w") as file:
            file.write(OPEN)
        said = faults(root)
    assert [file.path for file in Project.read(root).files if not file.error] == ["Folder.lean/In.lean"]
    assert said["Pipe.lean"] == said["Socket.lean"] == "cannot be read: not a plain file"
    assert said["Zero.lean"] == "is a symbolic link to /dev/zero, which is none of the project's files"
    assert "Secret.lean, which is none of the project's files" in said["Secret.lean"]
    assert said["Loop.lean"] == "is a symbolic link that leads nowhere"
    assert said["Huge.lean"] == f"cannot be read: {MAX_BYTES + 1:,} bytes, more than {MAX_BYTES:,}"
    assert said["bad\\xff.lean"] == "has a name that is not UTF-8, which no module has"
    with pytest.raises(UserError, match="not a plain file"):
        lean_version(root)


def test_a_link_within_the_project_is_another_name_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "A.lean").write_text(OPEN)
    (tmp_path / "Other.lean").symlink_to("A.lean")
    (tmp_path / "B.lean").write_text("import Other\n" + OPEN.replace("a :", "b :"))
    project = Project.read(tmp_path)
    assert [file.path for file in project.files] == ["A.lean", "B.lean"]
    assert [file.path for file in project.closure(project.file("B.lean"))] == ["A.lean"]
    alone = Project.read(tmp_path / "B.lean")
    assert [file.path for file in alone.closure(alone.file("B.lean"))] == ["A.lean"]


@pytest.mark.parametrize(
    "module", ["«{outside}/Secret»", "«..».outside.Secret", "«../outside/Secret»", "B..C", "a" * 300]
)
def test_no_import_and_no_folder_of_lake_leads_out_of_the_project(tmp_path: Path, module: str) -> None:
    outside, root = tmp_path / "outside", tmp_path / "project"
    outside.mkdir()
    (root / ".lake" / "packages" / "Lib").mkdir(parents=True)
    (outside / "Secret.lean").write_text(OPEN)
    (root / "lakefile.toml").write_text(
        f'srcDir = "../outside"\n[[lean_lib]]\nsrcDir = "{outside}"\n[[lean_exe]]\nsrcDir = "\\u0000"\n'
    )
    (root / "A.lean").write_text(f"import {module.format(outside=outside)}\nimport Secret\n{OPEN}")
    for path in (root, root / "A.lean"):
        project = Project.read(path)
        assert [file.path for file in project.files] == ["A.lean"]
        assert project.import_paths(project.files[0]) == () and list(project.declared(False)) == ["a"]


def test_folders_nested_without_end_are_named_and_can_be_removed(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "A.lean").write_text(OPEN)
    here = os.getcwd()
    try:
        os.chdir(root)
        for _ in range(1005):
            os.mkdir("n")
            os.chdir("n")
        Path("Deep.lean").write_text(OPEN)
    finally:
        os.chdir(here)
    (root / "lakefile.toml").write_text("a = " + "[" * 10_000)
    ((path, reason),) = faults(root).items()
    assert path.endswith("n/*.lean") and reason == f"cannot be read: more than {DEEPEST} folders deep"
    remove_tree(root)
    assert not root.exists()


def test_records_of_a_trace_have_a_place_whatever_the_files_are_called(tmp_path: Path) -> None:
    paths = ["A.lean", "A.lean.json/B.lean", "x" * 250 + ".lean", "/".join(["y" * 99] * 60) + "/C.lean"]
    places = [record_path(tmp_path, path) for path in paths]
    for place in places:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("{}")
    assert places[0] == tmp_path / "files" / "A.lean.json" and len(set(places)) == 4


# -- writing ---------------------------------------------------------------------------------------------------------


def branch_of(root: Path, *paths: str) -> Callable[[], list[str]]:
    """Begin a run that reads files and is to make the branch `proofs`; returns what makes it with a proof in each."""
    data = {path: (root / path).read_bytes() for path in paths}
    base = require_branch(root, "proofs", data)
    return lambda: write_branch(root, base, data, dict.fromkeys(paths, DONE), "Prove\n")


def test_a_commit_that_is_made_meanwhile_is_not_undone_by_the_branch(tmp_path: Path) -> None:
    root = committed(tmp_path / "project", A=OPEN, B="-- one\n")
    finish, first = branch_of(root, "A.lean"), git(root, "rev-parse", "HEAD")
    (root / "A.lean").write_text("-- mine\n" + OPEN)
    (root / "B.lean").write_text("-- two\n")
    git(root, "commit", "-qam", "two")
    (line,) = finish()
    assert f"on {first[:12]}; HEAD is at {git(root, 'rev-parse', 'HEAD')[:12]} by now" in line
    assert git(root, "rev-parse", "proofs^") == first and git(root, "diff", "--name-only", first, "proofs") == "A.lean"
    git(root, "merge", "-q", "-m", "both", "proofs")
    assert (root / "A.lean").read_text() == "-- mine\n" + DONE and (root / "B.lean").read_text() == "-- two\n"


@pytest.mark.parametrize("kind", ["index", "detached", "worktree", "bare"])
def test_a_branch_leaves_the_index_and_head_as_they_are(tmp_path: Path, kind: str) -> None:
    root = committed(tmp_path / "project", A=OPEN, B="-- one\n")
    if kind == "index":
        (root / "B.lean").write_text("-- staged\n")
        git(root, "add", "B.lean")
    if kind == "detached":
        git(root, "checkout", "-q", "--detach")
    if kind in ("worktree", "bare"):
        source = root
        if kind == "bare":
            git(tmp_path, "clone", "-q", "--bare", str(root), str(tmp_path / "bare.git"))
            source = tmp_path / "bare.git"
        root = tmp_path / "tree"
        git(source, "worktree", "add", "-q", "-b", "own", str(root))
    before = git(root, "status", "--porcelain", "--branch"), git(root, "rev-parse", "HEAD")
    assert branch_of(root, "A.lean")()[0].startswith("branch proofs: commit")
    assert (git(root, "status", "--porcelain", "--branch"), git(root, "rev-parse", "HEAD")) == before
    assert git(root, "diff", "--name-only", "HEAD", "proofs") == "A.lean"


def test_files_of_a_submodule_are_left_off_the_branch_and_are_in_the_patch(tmp_path: Path) -> None:
    inner = committed(tmp_path / "inner", S=OPEN)
    root = committed(tmp_path / "project", A=OPEN)
    git(root, "submodule", "--quiet", "add", str(inner), "sub")
    git(root, "commit", "-qm", "two")
    lines = branch_of(root, "A.lean", "sub/S.lean")()
    assert git(root, "diff", "--name-only", "HEAD", "proofs") == "A.lean"
    assert "NOT on the branch, it belongs to another repository, sub: sub/S.lean" in lines[1]
    git(root, "branch", "-D", "proofs")
    assert branch_of(root, "sub/S.lean")()[0].startswith("branch proofs is not made")
    assert "a/sub/S.lean" in patch_text(root, {"sub/S.lean": OPEN}, {"sub/S.lean": DONE})


def test_a_repository_of_another_user_is_patched_and_its_branch_refused_with_gits_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = committed(tmp_path / "project" / "lean", A=OPEN).parent
    (root / "lean" / ".git").rename(root / ".git")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(UserError, match=r"dubious ownership.*; take --patch FILE"):
        branch_of(root / "lean", "A.lean")
    assert "a/lean/A.lean" in patch_text(root / "lean", {"A.lean": OPEN}, {"A.lean": DONE})


@pytest.mark.parametrize("name", ["-dash", "new\nline", "tab\t", 'quo"te\\', "x\x85\x1b[31m", ":(top)x", "a,b"])
def test_names_that_git_and_terminals_have_a_meaning_for(tmp_path: Path, name: str) -> None:
    root = committed(tmp_path / "project", **{name: OPEN})
    path = f"{name}.lean"
    branch_of(root, path)()
    assert git(root, "diff", "--name-only", "-z", "HEAD", "proofs") == f"{path}\0"
    patch = tmp_path / "proofs.patch"
    patch.write_text(patch_text(root, {path: OPEN}, {path: DONE}))
    git(root, "apply", str(patch))
    assert (root / path).read_text() == DONE


def test_nothing_is_written_through_a_link_that_has_come_in_place_of_a_file(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "project"
    for folder in (outside, root / "sub"):
        folder.mkdir(parents=True)
        (folder / "A.lean").write_text(OPEN)
    (root / "B.lean").symlink_to(outside / "A.lean")
    (root / "sub" / "A.lean").unlink()
    (root / "sub").rmdir()
    (root / "sub").symlink_to(outside)
    os.mkfifo(root / "C.lean")
    paths = ["B.lean", "sub/A.lean", "C.lean", "Gone.lean"]
    skipped = overwrite(root, dict.fromkeys(paths, OPEN.encode()), dict.fromkeys(paths, DONE))
    assert skipped["B.lean"] == skipped["sub/A.lean"] == "a symbolic link leads there by now"
    assert skipped["C.lean"] == "not a plain file" and "Gone.lean" in skipped
    assert (outside / "A.lean").read_text() == OPEN


def test_reports_and_what_can_be_written_are_written_whatever_fails_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root, report, patches = committed(tmp_path / "project", A=OPEN), tmp_path / "report", tmp_path / "patches"
    patches.mkdir()
    work = prove.work

    def troubled(*arguments: Any) -> Any:
        failure = work(*arguments)
        patches.rmdir()
        patches.write_text("a file by now")
        git(root, "branch", "proofs")
        return failure

    monkeypatch.setattr(prove, "work", troubled)
    words = ["prove", str(root), "--policy", "solver-only", "--num-simulations", "2", "--lean-processes", "1"]
    words += ["--report", str(report), "--patch", str(patches / "p.patch"), "--branch", "proofs"]
    with pytest.raises(UserError, match="--patch"):
        main(words)
    said = capsys.readouterr().out
    assert "1 of 1 proved" in said and f"it is in {report / 'proofs.patch'}" in said
    assert "NOT written: --branch proofs:" in said and "reference already exists" in said
    assert "1 of 1 sorries proved" in (report / "report.html").read_text()
    assert "+  " in (report / "proofs.patch").read_text()


@pytest.mark.parametrize(("change", "failed"), [(False, True), (True, False)])
def test_a_file_that_cannot_be_written_is_an_error_and_one_that_was_changed_is_not(
    tmp_path: Path, change: bool, failed: bool
) -> None:
    for name in ("A.lean", "B.lean"):
        (tmp_path / name).write_text(OPEN)
    project = Project.read(tmp_path)
    options: Any = SimpleNamespace(patch=None, write=True)
    (tmp_path / "A.lean").unlink()
    if change:
        (tmp_path / "A.lean").write_text("-- mine\n")
    prover: Any = SimpleNamespace(changed={"A.lean": DONE, "B.lean": DONE}, changed_conditionally={}, tasks=[])
    patch, conditional, files, check = prove._ways_out(options, project, prover, tmp_path / "report", None)
    assert "proofs.patch" in patch()[0] and conditional() == []
    assert "written: B.lean" in files() and (tmp_path / "B.lean").read_text() == DONE
    if failed:
        with pytest.raises(UserError, match=r"--write: A\.lean cannot be written: No such file"):
            check()
    else:
        assert check() == []
