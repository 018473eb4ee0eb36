"""leangithubraw: addresses, clones, licences, and which files are text that people wrote."""

import gzip
import os
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psutil
import pytest

from nanolean.tests.each import each
from nanoproof.common.errors import UserError
from nanoproof.common.git import GitError, git
from nanoproof.data.midtrain.build import LIST, BuildConfig
from nanoproof.data.midtrain.clone import MAX_BYTES, Repository, open_repository, read_lists
from nanoproof.data.midtrain.collect import Licences, decode, guess_licence, is_licence_file, refused_path, refused_text
from nanoproof.data.midtrain.refine import examine
from nanoproof.data.theorems.overlap import Index
from tests.data.repositories import make_repository

# ---------------------------------------------------------------------------------------------------------------------
# The list


def test_the_list_has_mathlib_first_and_no_solutions_of_olympiads_or_benchmarks() -> None:
    repositories = read_lists([LIST])
    assert len(repositories) >= 60
    assert repositories[0] == Repository(
        "leanprover-community_mathlib4", "https://github.com/leanprover-community/mathlib4"
    )
    assert all(repository.url.startswith("https://") for repository in repositories)
    names = " ".join(repository.name.casefold() for repository in repositories)
    for word in ("compfiles", "imo", "minif2f", "proofnet", "putnam", "olympiad", "fimo"):
        assert word not in names


def test_addresses_that_are_one_repository_count_once_and_names_never_clash(tmp_path: Path) -> None:
    (tmp_path / "proj").mkdir()
    path = tmp_path / "urls.txt"
    lines = ["# comment", "https://h.org/a/Lib # first", "https://H.org/a/lib.git/", "https://other.org/A/LIB"]
    path.write_text("\n".join([*lines, "", str(tmp_path / "proj"), "https://h.org/tree/a/lib#x"]))
    names = [repository.name for repository in read_lists([path])]
    assert names[0] == "a_Lib" and names[1].startswith("A_LIB-") and names[2] == "proj"
    assert len({name.casefold() for name in names}) == len(names) == 4


def test_several_lists_are_one_in_their_order_and_what_is_in_two_counts_once(tmp_path: Path) -> None:
    first, second = tmp_path / "first.txt", tmp_path / "second.txt"
    first.write_text("https://h.org/a/one\nhttps://h.org/a/two\n")
    second.write_text("https://h.org/A/One.git\nhttps://h.org/b/three\n")
    repositories = read_lists([first, second])
    assert [repository.url for repository in repositories] == [
        f"https://h.org/{x}" for x in ("a/one", "a/two", "b/three")
    ]
    assert [repository.name for repository in read_lists([second, first])] == ["A_One", "b_three", "a_two"]


def test_lists_extend_that_of_the_project_or_take_its_place() -> None:
    assert BuildConfig().lists == [LIST]
    assert BuildConfig(more_urls=("a.txt", "b.txt")).lists == [LIST, Path("a.txt"), Path("b.txt")]
    assert BuildConfig(urls=("a.txt", "b.txt"), more_urls=("c.txt",)).lists == [Path(f"{x}.txt") for x in "abc"]


@pytest.mark.parametrize(
    "line",
    [
        "ftp://h.org/a",
        "--upload-pack=x",
        "no/such/folder",
        "ext::sh -c x",
        "https://a b",
        "https://",
        "https://h.org",
        "file:///",
    ],
)
def test_lines_that_are_no_addresses_are_refused_by_their_list_and_number(tmp_path: Path, line: str) -> None:
    (tmp_path / "good.txt").write_text("https://h.org/a/one\n")
    (tmp_path / "urls.txt").write_text(f"# list\n{line}\n")
    with pytest.raises(UserError, match=rf"^{tmp_path}/urls\.txt, line 2: '{line}' is n"):
        read_lists([tmp_path / "good.txt", tmp_path / "urls.txt"])


@pytest.mark.parametrize("text", [None, "# nothing\n"])
def test_a_list_that_is_missing_or_empty_is_named(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "urls.txt").write_text(text)
    with pytest.raises(UserError, match=rf"{tmp_path}/urls\.txt"):
        read_lists([LIST, tmp_path / "urls.txt"])


# ---------------------------------------------------------------------------------------------------------------------
# Trees


def files_of(url: Path | str, keep_at: Path | None = None) -> tuple[str, dict[str, bytes | None]]:
    with open_repository(Repository("r", str(url)), 60, threading.Event(), keep_at) as tree:
        entries = tree.entries()
        return tree.commit, {e.path: None if e.bytes is None else tree.read(e) for e in entries}


def test_what_is_committed_is_read_without_links_submodules_or_trouble_with_names(tmp_path: Path) -> None:
    work = make_repository(tmp_path / "work", {"A.lean": "def a := 1", "a.lean": "def b := 2", "é x/B.lean": b"\xff"})
    (work / "Link.lean").symlink_to("A.lean")
    (work / "Loop").symlink_to(".")
    commit = "1" * 40
    subprocess.run(
        ["git", "-C", work, "update-index", "--add", "--cacheinfo", f"160000,{commit},vendor/Sub"], check=True
    )
    make_repository(work, {"new\nline.lean": "def c := 3"})
    (work / "A.lean").write_text("changed and not committed")
    head, files = files_of(work)
    assert files == {
        "A.lean": b"def a := 1",
        "a.lean": b"def b := 2",
        "new\nline.lean": b"def c := 3",
        "é x/B.lean": b"\xff",
    }
    assert (
        head == subprocess.run(["git", "-C", work, "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
    )


def test_a_bare_repository_gives_the_same_and_a_clone_can_be_kept(tmp_path: Path) -> None:
    work = make_repository(tmp_path / "work", {"A.lean": "def a := 1"})
    bare = tmp_path / "bare.git"
    subprocess.run(["git", "clone", "--quiet", "--bare", work, bare], check=True)
    assert files_of(bare) == files_of(work)
    files_of(bare, tmp_path / "clones/kept.git")
    assert (tmp_path / "clones/kept.git/HEAD").is_file()


def test_large_files_are_not_fetched_where_the_host_can_leave_them_out(tmp_path: Path) -> None:
    work = make_repository(tmp_path / "work", {"A.lean": "def a := 1", "Big.lean": "-- x\n" * MAX_BYTES})
    assert len(files_of(work)[1]["Big.lean"] or b"") > MAX_BYTES
    subprocess.run(["git", "-C", work, "config", "uploadpack.allowFilter", "true"], check=True)
    assert files_of(work)[1] == {"A.lean": b"def a := 1", "Big.lean": None}


def test_a_folder_that_is_no_repository_is_read_as_it_is_without_following_links(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub/B.lean").write_text("def b := 1")
    (folder / "sub/Link.lean").symlink_to("B.lean")
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "Pipe.lean")
    assert files_of(folder) == ("", {"sub/B.lean": b"def b := 1"})


def test_what_cannot_be_cloned_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    subprocess.run(["git", "init", "--quiet", "--bare", tmp_path / "empty"], check=True)
    with pytest.raises(GitError, match=r"^[^\n]+$"):
        files_of(tmp_path / "empty")
    with pytest.raises(GitError, match=r"^fatal: [^\n]+$"):
        files_of("file:///no/such/repository")


def ended(pid: int) -> bool:
    """Whether a process is gone, or is but waiting to be taken notice of."""
    try:
        psutil.wait_procs([psutil.Process(pid)], timeout=5)
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_git_that_hangs_is_ended_at_its_deadline_with_all_it_started(tmp_path: Path) -> None:
    left = tmp_path / "left"
    alias = f"alias.hang=!sh -c 'echo $$ > {left}; exec sleep 60'"
    with pytest.raises(GitError, match=r"did not end within 3 seconds"):
        git("-c", alias, "hang", seconds=3)
    assert ended(int(left.read_text()))
    stop = threading.Event()
    stop.set()
    with pytest.raises(GitError, match="stopped"):
        git("-c", alias, "hang", stop=stop)


class GitHost(BaseHTTPRequestHandler):
    """Git's own server behind plain HTTP; what is below /private asks for a password."""

    root = Path()

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        if path.startswith("/private"):
            self.send_response(401)
            self.send_header("WWW-Authenticate", "Basic")
            self.end_headers()
            return
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        environment = {"GIT_PROJECT_ROOT": str(self.root), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path}
        environment |= {"QUERY_STRING": query, "REQUEST_METHOD": self.command, "CONTENT_LENGTH": str(len(body))}
        environment |= {"CONTENT_TYPE": self.headers.get("Content-Type") or "", "PATH": os.environ["PATH"]}
        environment["GIT_PROTOCOL"] = self.headers.get("Git-Protocol") or ""
        answer = subprocess.run(["git", "http-backend"], input=body, env=environment, capture_output=True).stdout
        head, _, content = answer.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send_response(int(headers.pop("Status", "200").split()[0]))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def git_host(tmp_path: Path) -> Iterator[str]:
    """The address of a host of the repositories below the test's folder."""
    handler = type("Handler", (GitHost,), {"root": tmp_path})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_repositories_are_cloned_over_http_without_history_and_without_questions(tmp_path: Path, git_host: str) -> None:
    work = make_repository(tmp_path / "work", {"A.lean": "def a := 1", "Big.lean": "-- x\n" * MAX_BYTES})
    make_repository(work, {"A.lean": "def a := 2"})
    subprocess.run(["git", "clone", "--quiet", "--bare", work, tmp_path / "bare.git"], check=True)
    subprocess.run(["git", "-C", tmp_path / "bare.git", "config", "uploadpack.allowFilter", "true"], check=True)
    assert files_of(f"{git_host}/bare.git", tmp_path / "kept")[1] == {"A.lean": b"def a := 2", "Big.lean": None}
    count = subprocess.run(["git", "-C", tmp_path / "kept", "rev-list", "--count", "HEAD"], capture_output=True)
    assert count.stdout.strip() == b"1"
    for wrong in ("gone.git", "private/x.git"):
        with pytest.raises(GitError, match=r"^fatal: [^\n]+$"):
            files_of(f"{git_host}/{wrong}")


# ---------------------------------------------------------------------------------------------------------------------
# Licences


@each(
    ("text", "name"),
    [
        ("                 Apache License\n           Version 2.0, January 2004\n", "Apache-2.0"),
        ("MIT License\n\nCopyright (c) 2024 Someone\n\nPermission is hereby granted, free of charge, to", "MIT"),
        ("Copyright X\n\nPermission is hereby granted, free of charge, to any person", "MIT"),
        (
            "GNU GENERAL PUBLIC LICENSE\n  Version 3, 29 June 2007\n and the GNU Lesser General Public License",
            "GPL-3.0",
        ),
        ("GNU LESSER GENERAL PUBLIC LICENSE\n Version 3, 29 June 2007", "LGPL-3.0"),
        ("Redistribution and use in source and binary forms, .. Neither the name of X", "BSD-3-Clause"),
        ("Redistribution and use in source and binary forms, with or without", "BSD-2-Clause"),
        ("Creative Commons Attribution-NonCommercial 4.0 International", "CC-BY-NC-4.0"),
        ("Creative Commons Attribution 4.0 International", "CC-BY-4.0"),
        ("All rights reserved.", "unknown"),
    ],
)
def test_common_licences_are_known_by_their_beginning(text: str, name: str) -> None:
    assert guess_licence(text) == name


def test_a_file_has_the_licence_of_the_nearest_folder() -> None:
    mit, apache = "Permission is hereby granted, free of charge", "Apache License Version 2.0"
    licences = Licences([("LICENSE", apache), ("vendor/x/LICENCE.md", mit), ("NOTICE", "notice")])
    assert [licences.of(path) for path in ("A/B.lean", "vendor/x/y/C.lean")] == ["Apache-2.0", "MIT"]
    assert Licences([("LICENSE-MIT", mit), ("LICENSE-APACHE", apache)]).of("A.lean") == "Apache-2.0 OR MIT"
    assert Licences([("NOTICE", "x")]).of("A.lean") == "NO_LICENSE"


def test_licence_files_are_known_by_name() -> None:
    assert all(
        map(is_licence_file, ("LICENSE", "a/COPYING.LESSER", "Licence.txt", "NOTICE", "UNLICENSE", "LICENSE-MIT"))
    )
    assert not any(map(is_licence_file, ("License.lean", "licensed.txt", "license_check.py", "README.md")))


# ---------------------------------------------------------------------------------------------------------------------
# Files


@pytest.mark.parametrize("path", [".lake/packages/m/A.lean", "build/A.lean", "x/lake-packages/A.lean", "lakefile.lean"])
def test_build_folders_and_lakefiles_are_refused(path: str) -> None:
    assert refused_path(path)
    assert not refused_path("Mathlib/Order/Basic.lean") and not refused_path("src/builder/A.lean")


@each(
    "text",
    [
        "/- This file was automatically generated by a script. -/\ndef a := 1",
        "-- Auto-generated, DO NOT EDIT\ndef a := 1",
        "-- generated by gen.py\ndef a := 1",
        "def a := [" + "1, " * 4000 + "1]",
        "def a := [\n" + "123456,\n" * 1000 + "1]",
        " \n",
    ],
)
def test_generated_files_and_data_are_refused(text: str) -> None:
    assert refused_text(text)


def test_files_about_what_is_generated_by_a_set_are_taken() -> None:
    text = "/-! # The subgroup generated by a set\nThe σ-algebra generated by `s`. -/\n"
    assert refused_text(text + "theorem generated_by : True := trivial\n" * 50) == ""


def test_text_is_utf8_with_unix_line_ends_or_refused() -> None:
    assert decode("\ufeffdef α\r\n".encode()) == ("def α\n", "")
    assert decode(b"\xff\xfe")[1] == "invalid UTF-8"
    assert decode(b"a\0b")[1] == "binary"
    assert decode(b"version https://git-lfs.github.com/spec/v1\n")[1] == "pointer to a large file"


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "piece",
    [
        "∀ x : T, ",
        *(pytest.param(piece, marks=pytest.mark.nightly) for piece in ["\n", "«", "/-", "@[", "a.", "{x : N} ", '"']),
        "open a in ",
        "\n  | a => |b",
    ],
)
def test_the_time_to_look_at_a_hostile_file_grows_with_its_size_only(piece: str) -> None:
    text = "theorem t : " + piece * (200_000 // len(piece))  # half a minute, if it grew with the square
    assert refused_text(text) in ("", "data in very long lines")
    assert examine(text, Index([])).findings == ()
