import errno
import json

import pytest

from nanoproof.common.errors import UserError
from nanoproof.lean.types import Theorem
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.attempt_log import AttemptIndex, AttemptLog, IndexReader, attempts_file, index_file, last_entry


def record(sequence, step=0, rank=0, outcome="proven"):
    attempt = Attempt(
        Theorem("theorem t : 1 = 1 := by sorry", "toy", f"t{sequence}"),
        outcome,
        num_tactics=2,
        budget=64,
        counts={"simulations": 7},
        seconds={"search": 1.0, "check": 0.5, "lean": 1.2},
    )
    number = {"step": step, "rank": rank, "sequence": sequence}
    return {"number": number, "time": 1000.0 + sequence, **attempt.to_json()}


def write(path, sequences, rank=0):
    log = AttemptLog(path, rank)
    for sequence in sequences:
        log.write(record(sequence, rank=rank), kept_tree=sequence == 1)
    log.close()


def names(path, rank=0):
    return [json.loads(line)["id"] for line in index_file(path, rank).read_text().splitlines()]


def test_every_attempt_has_a_line_that_says_where_its_record_is(tmp_path):
    write(tmp_path, range(3))
    index = AttemptIndex(tmp_path)
    assert index.poll() == 3
    entry = index.entries[1]
    assert (entry.number, entry.dataset, entry.id, entry.outcome) == ((0, 0, 1), "toy", "t1", "proven")
    assert (entry.simulations, entry.budget, entry.tactics, entry.seconds, entry.time) == (7, 64, 2, 1.5, 1001.0)
    assert [each.tree for each in index.entries] == [False, True, False]
    assert index.record(entry) == record(1)


def test_pages_begin_with_the_last_attempts_of_all_ranks_and_count_the_wanted_ones(tmp_path):
    write(tmp_path, range(5), rank=0)
    write(tmp_path, range(5), rank=1)
    index = AttemptIndex(tmp_path)
    index.poll()
    page, total = index.page(1, 2)
    assert ([entry.number for entry in page], total) == ([(0, 1, 4), (0, 1, 3)], 10)
    page, total = index.page(2, 2, lambda entry: entry.rank == 0)
    assert ([entry.sequence for entry in page], total) == ([2, 1], 5)
    assert index.page(9, 2) == ([], 10)


@pytest.mark.parametrize("left", [0, 1, 2])
def test_lines_that_a_killed_run_did_not_write_to_its_index_are_there_after_a_restart(tmp_path, left):
    write(tmp_path, range(3))
    lines = index_file(tmp_path, 0).read_text().splitlines(keepends=True)
    index_file(tmp_path, 0).write_text("".join(lines[:left]) + lines[left][:20])
    write(tmp_path, [3])
    assert names(tmp_path) == ["t0", "t1", "t2", "t3"]
    assert last_entry(index_file(tmp_path, 0)).id == "t3"


def test_an_index_of_another_log_is_made_anew(tmp_path):
    write(tmp_path, range(5))
    attempts_file(tmp_path, 0).unlink()
    write(tmp_path, [7])
    assert names(tmp_path) == ["t7"]


def test_a_reader_makes_up_a_missing_index_and_writes_nothing(tmp_path):
    write(tmp_path, range(3))
    index_file(tmp_path, 0).unlink()
    index = AttemptIndex(tmp_path)
    index.poll()
    assert [entry.id for entry in index.entries] == ["t0", "t1", "t2"]
    assert index.record(index.entries[2]) == record(2)
    assert not index_file(tmp_path, 0).exists()


def test_a_reader_of_a_live_run_tells_of_each_attempt_once(tmp_path):
    log, reader = AttemptLog(tmp_path, 0), IndexReader(tmp_path, 0)
    found = reader.poll()
    for sequence in range(4):
        log.write(record(sequence))
        index = index_file(tmp_path, 0)
        whole = index.read_bytes()
        index.write_bytes(whole[: -10 if sequence % 2 else None])  # the line is being written
        found += reader.poll()
        index.write_bytes(whole)
        found += reader.poll()
    log.close()
    assert [entry.sequence for entry in found] == [0, 1, 2, 3]


def test_a_reader_takes_a_long_log_in_parts(tmp_path):
    write(tmp_path, range(20))
    index_file(tmp_path, 0).unlink()
    reader, parts = IndexReader(tmp_path, 0), []
    while reader.covered < reader.size:
        parts.append(len(reader.poll(max_bytes=1000)))
    assert sum(parts) == 20
    assert len(parts) > 3


def test_damaged_lines_of_log_and_index_hide_no_other(tmp_path):
    write(tmp_path, range(4))
    index = index_file(tmp_path, 0)
    lines = index.read_text().splitlines(keepends=True)
    index.write_text(lines[0] + "nonsense\n" + "".join(lines[2:]))
    with open(attempts_file(tmp_path, 0), "a") as log:
        log.write('{"number": 1}\n[]\n' + json.dumps(record(9)) + "\n" + '{"torn')
    reader = IndexReader(tmp_path, 0)
    assert [entry.sequence for entry in reader.poll()] == [0, 1, 2, 3, 9]
    assert reader.poll() == []


@pytest.mark.parametrize("change", [{"number": {"step": None, "rank": 0, "sequence": 7}}, {"outcome": "\ud800"}])
def test_a_record_with_damaged_values_is_in_no_index_and_ends_nobody(tmp_path, change):
    write(tmp_path, range(2))
    with open(attempts_file(tmp_path, 0), "a") as log:
        log.write(json.dumps({**record(7), **change}) + "\n")
    write(tmp_path, [8])  # a resumed run makes up the lines that the index lacks
    index = AttemptIndex(tmp_path)
    index.poll()
    assert [entry.sequence for entry in index.page(1, 9)[0]] == [8, 1, 0]


def test_a_log_that_has_lost_attempts_is_told(tmp_path, caplog):
    write(tmp_path, range(3))
    write(tmp_path, [3])
    assert not caplog.records
    attempts_file(tmp_path, 0).write_bytes(b"")
    write(tmp_path, [4])
    assert "lacks attempts that its index lists" in caplog.text
    assert names(tmp_path) == ["t4"]


def test_a_log_that_became_another_one_is_read_anew(tmp_path):
    write(tmp_path, range(5))
    index = AttemptIndex(tmp_path)
    index.poll()
    for file in (attempts_file(tmp_path, 0), index_file(tmp_path, 0)):
        file.unlink()
    write(tmp_path, [8])
    index.poll()
    assert [entry.id for entry in index.entries] == ["t8"]
    attempts_file(tmp_path, 0).unlink()
    with pytest.raises(UserError, match="no record at byte 0"):
        index.record(index.entries[0])


def full_disk(after, file):
    """Writes of `file` fail after so many bytes."""

    def write(data, real=file.write):
        nonlocal after
        if after <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = real(data[:after])
        after -= written
        return written

    return write


class Failing:
    """A file whose disk is full after some bytes."""

    def __init__(self, file, after):
        self._file, self.write = file, full_disk(after, file)

    def __getattr__(self, name):
        return getattr(self._file, name)


def test_a_full_disk_leaves_nothing_of_the_attempt_and_says_so(tmp_path):
    log = AttemptLog(tmp_path, 0)
    log.write(record(0))
    size = attempts_file(tmp_path, 0).stat().st_size
    log._log = Failing(log._log, 50)
    with pytest.raises(UserError, match=r"attempts_r0\.jsonl cannot be written.*No space left"):
        log.write(record(1))
    log.close()
    assert attempts_file(tmp_path, 0).stat().st_size == size
    assert names(tmp_path) == ["t0"]


def test_a_run_goes_on_without_an_index_that_cannot_be_written(tmp_path, caplog):
    log = AttemptLog(tmp_path, 0)
    log._index = Failing(log._index, 10)
    for sequence in range(3):
        log.write(record(sequence))
    log.close()
    assert caplog.text.count("continues without it") == 1
    write(tmp_path, [3])
    assert names(tmp_path) == ["t0", "t1", "t2", "t3"]
