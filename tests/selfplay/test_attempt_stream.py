import json
import tracemalloc

import pytest

from nanoproof.common.errors import UserError
from nanoproof.prover.attempt import Attempt, FailedTactic, Transition
from nanoproof.selfplay import collect
from nanoproof.selfplay.attempt_stream import logged_attempts
from nanoproof.selfplay.buffers import Buffers
from nanoproof.selfplay.collect import BEFORE_THIS_RUN, Experience, relearn, relearn_other
from nanoproof.selfplay.matchmaker import Matchmaker, MatchmakerConfig
from tests.selfplay.small import theorems

THEOREM = theorems(1)[0]


def line(step, rank, sequence, **fields):
    attempt = Attempt(THEOREM, "unproven", message=f"{step} {rank} {sequence}", **fields)
    return json.dumps({"number": {"step": step, "rank": rank, "sequence": sequence}, **attempt.to_json()}) + "\n"


def write(path, rank, *numbers, end=""):
    lines = [line(step, rank, sequence) for step, sequence in numbers]
    (path / f"attempts_r{rank}.jsonl").write_text("".join(lines) + end)


def read(path):
    return [tuple(map(int, attempt.message.split())) for _, attempt in logged_attempts(path)]


def experience():
    return Experience([THEOREM], Matchmaker(1, MatchmakerConfig()), Buffers(100, 100))


def test_attempts_of_all_ranks_come_by_step_rank_and_sequence(tmp_path):
    write(tmp_path, 0, (0, 0), (0, 1), (2, 0))
    write(tmp_path, 1, (0, 0), (1, 1))
    write(tmp_path, 10, (0, 0), (2, 1))
    ordered = [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 10, 0), (1, 1, 1), (2, 0, 0), (2, 10, 1)]
    assert read(tmp_path) == ordered
    (tmp_path / "attempts_r0.index.jsonl").write_text("no log of attempts\n")
    assert read(tmp_path) == ordered


def test_a_torn_last_line_is_left_out(tmp_path):
    write(tmp_path, 0, (0, 0), end=line(0, 0, 1)[:-1])
    write(tmp_path, 1, end='{"number"')
    assert read(tmp_path) == [(0, 0, 0)]


def test_a_number_that_came_before_counts_once(tmp_path, caplog):
    write(tmp_path, 0, (0, 0), (0, 0), (1, 1), (0, 2), (1, 2))
    (tmp_path / "attempts_r5.jsonl").write_text(line(1, 0, 1))
    assert read(tmp_path) == [(0, 0, 0), (1, 0, 1), (1, 0, 2)]
    assert "attempts_r0.jsonl: 2 attempts are left out" in caplog.text


@pytest.mark.parametrize("bad", ["{}\n", "[1]\n", "\0\0\n", '{"number": 3}\n'])
def test_a_line_that_is_no_attempt_is_named(tmp_path, bad):
    write(tmp_path, 0, (0, 0), end=bad + line(0, 0, 1))
    with pytest.raises(UserError, match=rf"attempts_r0\.jsonl: what begins at byte {len(line(0, 0, 0))} is no attempt"):
        read(tmp_path)


def test_a_long_log_is_not_held_in_memory(tmp_path):
    for rank in range(3):
        with open(tmp_path / f"attempts_r{rank}.jsonl", "w") as file:
            for sequence in range(120):
                state = f"⊢ {sequence}" + "x" * 50_000
                file.write(line(sequence // 10, rank, sequence, failed_tactics=(FailedTactic(state, "t"),)))
    learned = Experience([THEOREM], Matchmaker(1, MatchmakerConfig()), Buffers(1, 1))
    tracemalloc.start()
    try:
        assert relearn(learned, tmp_path) == 12
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert learned.attempts == 360
    assert peak < 4_000_000, "18 MB were read"


def test_a_long_log_shows_how_far_its_reader_is(tmp_path, monkeypatch, capsys):
    write(tmp_path, 0, (0, 0))
    relearn(experience(), tmp_path, show=True)
    assert capsys.readouterr().out == ""
    monkeypatch.setattr("nanoproof.selfplay.attempt_stream.LONG_BYTES", 1)
    relearn(experience(), tmp_path, show=True)
    assert f"attempts of {tmp_path.name}: 0" in capsys.readouterr().out


def test_attempts_of_an_earlier_run_are_older_than_the_first_step(tmp_path):
    attempt = Attempt(THEOREM, "proven", transitions=(Transition("s", "t", 1),))
    record = {"number": {"step": 900, "rank": 0, "sequence": 0}, **attempt.to_json()}
    (tmp_path / "attempts_r0.jsonl").write_text(json.dumps(record) + "\n")
    learned = experience()
    relearn_other(learned, tmp_path)
    assert learned.attempts == 1
    assert learned.buffers.replay.staleness(0) == -BEFORE_THIS_RUN


def test_ranks_that_see_other_logs_do_not_begin(tmp_path, monkeypatch):
    write(tmp_path, 0, (0, 0), (0, 1))
    monkeypatch.setattr(collect, "gather_json", lambda value: [value, 0])
    for read in (relearn, relearn_other):  # another run may still go on
        with pytest.raises(UserError, match=r"must see the same run directory .* they found 2, 0 attempts in it"):
            read(experience(), tmp_path)
