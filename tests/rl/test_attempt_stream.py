import json
import tracemalloc

import pytest

from nanoproof.common.errors import UserError
from nanoproof.lean.types import Transition
from nanoproof.prover.attempt import Attempt, FailedTactic
from nanoproof.prover.attempt_log import logged_attempts
from nanoproof.rl import collection
from nanoproof.rl.batch_sampler import Buffers
from nanoproof.rl.collection import BEFORE_THIS_RUN, Experience, relearn, relearn_other
from nanoproof.rl.matchmaker import Matchmaker, MatchmakerConfig
from tests.rl.small import CHECKED, theorems

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


def proven(**changes):
    """The record of a proof of three tactics, with other fields where a test says so."""
    steps = (Transition("⊢ a ∧ b", "constructor", 2), Transition("⊢ a", "exact h.1", 1), Transition("⊢ b", "simp", 1))
    proof = "constructor\n· exact h.1\n· simp"
    found = Attempt(
        THEOREM, "proven", proof=proof, source=proof, num_tactics=3, transitions=steps, check=CHECKED, seed=3
    )
    record = {"number": {"step": 0, "rank": 0, "sequence": 5}, **found.to_json()}
    return {**record, **changes}


def unchecked(rung):
    return {**CHECKED, "rungs": {**CHECKED["rungs"], rung: False}}


def test_the_record_of_a_checked_proof_is_learned_from(tmp_path, caplog):
    earlier = proven(hindsight=[{"source": "theorem s : p := by simp"}], solved_states=[["a", 2]], origin=None)
    for record in (proven(), proven(outcome="disproven", disproving=True), proven(num_tactics=9), earlier):
        (tmp_path / "attempts_r0.jsonl").write_text(json.dumps(record) + "\n")
        assert [len(attempt.transitions) for _, attempt in logged_attempts(tmp_path)] == [3]
    assert not caplog.text


@pytest.mark.parametrize(
    ("forged", "reason"),
    [
        (proven(check=None), "its proof was not checked"),
        (proven(check={**CHECKED, "accepted": 1}), "its proof was not checked"),
        (proven(proof=""), "its proof was not checked"),
        (proven(check={"accepted": True}), "has not passed every rung"),
        (proven(check=unchecked("axioms")), "has not passed every rung"),
        (proven(check=unchecked("statement")), "has not passed every rung"),
        (proven(check="yes"), "`check`: input should be an object"),
        (proven(outcome="unproven"), "it is unproven and has steps of a proof"),
        (proven(outcome="error"), "it is error and has steps of a proof"),
        (proven(outcome="disproven"), "the negation was not what was to be proved"),
        (proven(outcome="solved"), "`outcome`: input should be 'proven', 'disproven', 'unproven' or 'error'"),
        (proven(proof="sorry"), "`sorry` is not allowed in a proof"),
        (proven(proof="simp\naxiom lie : False"), "`axiom` begins a command"),
        (proven(transitions=[["⊢ a", "sorry", 1]]), "`sorry` is not allowed in a proof"),
        (proven(transitions=[["⊢ a", "native_decide", 1]]), "`native_decide` is not allowed"),
        (proven(transitions=[["⊢ a", "omega", 1]]), "`omega` is a step, and not in the proof"),
        (proven(transitions=[["⊢ a", "simp", -7]]), "depth '-7' in a proof of 3 tactics"),
        (proven(transitions=[["⊢ a", "simp", 0]]), "depth '0'"),
        (proven(transitions=[["⊢ a", "simp", "deep"]]), "depth 'deep'"),
        (proven(transitions=[["⊢ a", "simp", True]]), "depth 'True'"),
        (proven(transitions=[["⊢ a", "simp", 4]]), "depth '4'"),
        (proven(transitions=[["⊢ a", "simp", 2], ["⊢ a", "simp", 2], ["⊢ a", "simp", 1]]), "no step follows"),
        (proven(transitions=[["⊢ a", "simp", 1]] * 4), "it has 4 steps, and a proof of 3 tactics"),
        (proven(transitions=[["⊢ a", 7, 1]]), "`transitions[0][1]`: input should be a valid string"),
        (proven(transitions=[["⊢ a", "simp"]]), "`transitions[0][2]`: field required"),
        (proven(failed_tactics=[[["⊢ a"], "simp"]]), "`failed_tactics[0][0]`: input should be a valid string"),
        (proven(num_tactics="many"), "`num_tactics`: input should be a valid integer"),
        (proven(counts={"simulations": -1}), "`counts.simulations`: input should be greater than or equal to 0"),
        (proven(theorem={"source": 1, "dataset": "d", "id": "i"}), "`theorem.source`: input should be a valid string"),
        (proven(theorem={"name": "t"}), "`theorem.source`: field required"),
        (proven(surprise=1), "`surprise`: there is no such field"),
        (proven(number={"step": "a", "rank": 0, "sequence": 0}), "`number.step`: input should be a valid integer"),
        (proven(number={"step": -1, "rank": 0, "sequence": 0}), "`number.step`: input should be greater than"),
        (proven(number=3), "`number`: input should be"),
        ({}, "field required"),
        ([1], "nput should be an object"),
        ("\0", "nput should be an object"),
    ],
)
def test_what_was_never_attempted_is_left_out_and_counted(tmp_path, caplog, forged, reason):
    last = "[" * 100_000 + "\n"  # nor does a line that no parser can follow end a run
    write(tmp_path, 0, (0, 0), end=json.dumps(forged) + "\n" + line(0, 0, 7) + last)
    assert read(tmp_path) == [(0, 0, 0), (0, 0, 7)]
    (said,) = caplog.messages
    assert "attempts_r0.jsonl: 2 lines are left out that are no attempts to learn from" in said
    assert f"begins at byte {len(line(0, 0, 0))}: " in said and reason in said


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
    monkeypatch.setattr("nanoproof.prover.attempt_log.LONG_BYTES", 1)
    relearn(experience(), tmp_path, show=True)
    assert f"attempts of {tmp_path.name}: 0" in capsys.readouterr().out


def test_attempts_of_an_earlier_run_are_older_than_the_first_step(tmp_path):
    record = proven(number={"step": 900, "rank": 0, "sequence": 0})
    (tmp_path / "attempts_r0.jsonl").write_text(json.dumps(record) + "\n")
    learned = experience()
    relearn_other(learned, tmp_path)
    assert learned.attempts == 1
    assert learned.buffers.replay.staleness(0) == -BEFORE_THIS_RUN


def test_ranks_that_see_other_logs_do_not_begin(tmp_path, monkeypatch):
    write(tmp_path, 0, (0, 0), (0, 1))
    monkeypatch.setattr(collection, "gather_json", lambda value: [value, 0])
    for read in (relearn, relearn_other):  # another run may still go on
        with pytest.raises(UserError, match=r"must see the same run directory .* they found 2, 0 attempts in it"):
            read(experience(), tmp_path)
