import os
import resource
import threading

import pytest

from nanolean import system
from nanolean.tests.each import each
from nanoproof.common.errors import UserError
from nanoproof.common.files import (
    JsonlWriter,
    atomic_write,
    atomic_write_json,
    atomic_write_text,
    cut_name,
    read_json,
    read_jsonl,
)


def test_a_failed_atomic_write_leaves_the_old_content_and_no_other_file(tmp_path):
    path = tmp_path / "state.json"
    atomic_write_json(path, {"a": 1})

    def fail(file):
        file.write(b"half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        atomic_write(path, fail)
    assert read_json(path) == {"a": 1}
    assert [file.name for file in tmp_path.iterdir()] == ["state.json"]


def test_a_file_that_cannot_be_written_is_named_itself(tmp_path):
    (tmp_path / "scores.json").mkdir()
    with pytest.raises(IsADirectoryError) as error:
        atomic_write_json(tmp_path / "scores.json", {})
    assert error.value.filename == str(tmp_path / "scores.json") and error.value.filename2 is None


@each("write", [atomic_write_text, lambda path, text: system.atomic_write(path, text.encode())])
def test_pipes_and_open_files_are_written_into_and_stay(tmp_path, write):
    pipe, opened = tmp_path / "pipe", tmp_path / "stdout"
    if not pipe.exists():
        os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write(pipe, "a line")
    assert os.read(reader, 100) == b"a line" and pipe.is_fifo()
    os.close(reader)
    with open(tmp_path / "redirected", "w+b", buffering=0) as file:  # as `> redirected` does for /dev/stdout
        file.write(b"before, ")
        opened.unlink(missing_ok=True)
        opened.symlink_to(f"/proc/self/fd/{file.fileno()}")
        write(opened, "within, ")
        file.write(b"behind")
    assert (tmp_path / "redirected").read_bytes() == b"before, within, behind" and opened.is_symlink()


def test_half_a_character_is_written_as_an_escape_and_comes_back(tmp_path):
    record = {"text": "ℕ \ud83d"}
    atomic_write_json(tmp_path / "a.json", record)
    writer = JsonlWriter(tmp_path / "a.jsonl")
    writer.write(record)
    writer.close()
    assert read_json(tmp_path / "a.json") == record == next(iter(read_jsonl(tmp_path / "a.jsonl")))


def test_a_written_file_has_the_rights_that_the_umask_leaves(tmp_path):
    for mask, rights in ((0o022, 0o644), (0o077, 0o600), (0o002, 0o664)):
        before = os.umask(mask)
        try:
            atomic_write_json(tmp_path / "state.json", {})
        finally:
            os.umask(before)
        assert (tmp_path / "state.json").stat().st_mode & 0o777 == rights


def test_read_json_names_a_missing_and_a_damaged_file(tmp_path):
    with pytest.raises(UserError, match="no such file"):
        read_json(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(UserError, match="not valid JSON"):
        read_json(tmp_path / "bad.json")


def test_a_torn_last_line_is_ignored(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"a": 1}\n{"a": 2}\n{"a":')
    assert [record["a"] for record in read_jsonl(path)] == [1, 2]


def test_damage_inside_a_log_is_an_error_with_its_line(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"a": 1}\n{"a":\n{"a": 3}\n')
    with pytest.raises(UserError, match="line 2"):
        list(read_jsonl(path))


def test_a_writer_goes_on_after_a_torn_line(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"a": 1}\n{"a":')
    writer = JsonlWriter(path)
    writer.write({"a": 2})
    assert [record["a"] for record in read_jsonl(path)] == [1, 2]


def test_nothing_stays_of_a_line_for_which_there_is_no_room(tmp_path):
    writer = JsonlWriter(tmp_path / "log.jsonl")
    writer.write({"a": 1})
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, limits[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            writer.write({"b": "x" * 100})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (tmp_path / "log.jsonl").read_bytes() == b'{"a":1}\n'
    writer.write({"c": 3})
    assert list(read_jsonl(tmp_path / "log.jsonl")) == [{"a": 1}, {"c": 3}]


def test_lines_of_many_threads_do_not_mix(tmp_path):
    writer = JsonlWriter(tmp_path / "log.jsonl")
    threads = [
        threading.Thread(target=lambda n=n: [writer.write({"n": n, "text": "x" * 500}) for _ in range(50)])
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    records = list(read_jsonl(tmp_path / "log.jsonl"))
    assert len(records) == 400 and all(record["text"] == "x" * 500 for record in records)


@each("from_end", [False, True])
@each("name", ["a" * 300, "定" * 300, "a" + "ℝ" * 100, "kurz"])
def test_names_are_cut_in_bytes_at_a_letter(name: str, from_end: bool) -> None:
    cut = cut_name(name, from_end)
    assert len(cut.encode()) <= 120 and len(cut.encode()) > min(116, len(name) - 1)
    assert name.endswith(cut) if from_end else name.startswith(cut)
