"""`benchmarks.whole_proofs`, small: Lean crashes and stalls, the evaluation is killed, and its judge would see it."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks.faulty_lean import CRASH, PREMISES, PROOF, READ, RENAMED, STALL, Faults
from benchmarks.whole_proofs import Evaluation, Measurement, Reading, Writer, measure, second_stage

A, B, C = "a" * 12, "b" * 12, "c" * 12


def sample(mark: str, outcome: str, number: int = 0) -> dict[str, Any]:
    return {"theorem": {"id": "t"}, "sample": number, "text": f"x -- #{mark}", "outcome": outcome, "stop_reason": ""}


class Scripted(Evaluation):
    """Each run leaves these records in place of the earlier ones, and these readings besides."""

    def __init__(self, *runs: tuple[list[dict[str, Any]], list[Reading]]) -> None:
        super().__init__([], Path(), Path(), Path())
        self.runs = list(runs)
        self.found: list[dict[str, Any]] = []
        self.read: list[Reading] = []

    def run(self, until: Any = None) -> bool:
        self.found, read = self.runs.pop(0)
        self.read += read
        return until is None

    def lines(self) -> int:
        return len(self.found)

    def records(self) -> list[dict[str, Any]]:
        return self.found

    def readings(self) -> list[Reading]:
        return list(self.read)


def problems(*runs: tuple[list[dict[str, Any]], list[Reading]], kills: int = 1) -> list[str]:
    """What is said of an evaluation of three samples, of which `A` is a proof."""
    writer = Writer({}, {A: True, B: False, C: False}, {A: "proof", B: "sorry", C: "sorry"})
    return Measurement(Scripted(*runs), writer, 3, 1).run(kills, 0).problems


ALL = [sample(A, "proven"), sample(B, "unproven", 1), sample(C, "unproven", 2)]
ONCE = [Reading(READ, PROOF, mark) for mark in (A, B, C)]


def test_what_is_not_as_it_must_be_is_said() -> None:
    assert problems((ALL, ONCE), kills=0) == []
    assert problems((ALL[:2], ONCE), (ALL, ONCE[2:])) == []  # C was under way when it died
    again = problems((ALL[:2], ONCE), (ALL, ONCE[1:]))
    assert len(again) == 2 and f"1 texts were read again whose verdict was on record: {B}" == again[0]
    often = problems((ALL, [*ONCE, ONCE[0]]), kills=0)
    assert often == [f"1 texts were read more often than faults and deaths explain: {A}"]
    assert problems((ALL, [Reading(STALL, RENAMED, A), *ONCE, ONCE[0]]), kills=0) == []
    assert problems((ALL[:1], ONCE), (ALL, [])) == ["2 verdicts were not on record at the end of a run"]
    wrong = problems(([ALL[0], sample(B, "proven", 1), ALL[2]], ONCE), kills=0)
    assert wrong == ["1 wrong verdicts on 'sorry': t: proven, not unproven: "]
    lost = problems((ALL[:2], ONCE[:2]), kills=0)
    assert lost == ["2 results of 2 samples, not 3"]
    without = ([*ALL[:2], sample(C, "error", 2)], ONCE)
    assert problems(without, (ALL, [ONCE[2]]), kills=0) == []


def test_the_second_stage_is_what_is_read_after_it_was_put_off() -> None:
    crashes = [Reading(CRASH, PROOF, A)] * 2
    read = Reading(READ, PROOF, A)
    assert second_stage([*crashes, read]) == set()  # the client's own third try
    assert second_stage([*crashes, crashes[0], read]) == {A}
    assert second_stage([Reading(STALL, RENAMED, A), Reading(READ, RENAMED, A)]) == set()
    assert second_stage([Reading(STALL, RENAMED, A), read, Reading(STALL, "statement", "-")]) == {A}


def test_a_text_meets_its_fault_so_often_in_whatever_process(tmp_path: Path) -> None:
    texts = [f"theorem t : True := by\n  trivial -- #{number:012x}" for number in range(2000)]
    met = {text: [Faults(tmp_path, 0.02, 1).next({"cmd": text}) for _ in range(5)] for text in texts}
    kinds = [found for found in met.values() if found[0] != READ]
    assert {tuple(found) for found in kinds} == {(CRASH, CRASH, CRASH, READ, READ), (STALL, READ, READ, READ, READ)}
    assert 20 <= len(kinds) <= 60
    faults = Faults(tmp_path, 1.0, 2)
    asked = {"cmd": "theorem nanoproof_0f := by -- #" + A}
    faults.note(faults.next(asked), asked)
    faults.note(READ, {**asked, "allTactics": True})
    first, second = (tmp_path / "readings").read_text().splitlines()
    assert first.split()[1:] == [RENAMED, A, "nanoproof_0f"] and second == f"{READ} {PREMISES} {A} nanoproof_0f"


@pytest.mark.slow
def test_every_verdict_is_right_and_none_is_asked_for_twice(tmp_path: Path, nanoproof_home: str) -> None:
    report = measure(tmp_path, samples=60, theorems=3, faults=0.05, kills=1, processes=2, seconds=5.0, seed=0)
    found = report.details
    assert report.problems == [] and report.right == found["samples"] == 60
    assert found["crashes"] >= 3 and found["stalls"] >= 1
    assert len(found["deaths"]) == 1 and found["texts_verified_in_the_second_stage"] >= 1
    assert 0 < found["proven"] < found["texts_that_lean_read"] < 60
