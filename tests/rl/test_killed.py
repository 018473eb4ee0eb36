"""A run that is killed again and again, wherever it is, loses nothing that was finished."""

import multiprocessing
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from nanoproof.common.files import read_jsonl
from nanoproof.prover.attempt_log import attempts_file, logged_attempts, number_of
from tests.helpers import NIGHTLY, start_forked
from tests.rl import killable
from tests.rl.killable import PHASES, WINDOWS, describe, new_experience, words

pytestmark = pytest.mark.slow

KILLS = 10 * NIGHTLY
MOST_KILLS = 2 * KILLS + 8


class Runs:
    """Starts runs, kills them, and hears what they tell."""

    def __init__(self, model: Path) -> None:
        self.model = model
        theirs, self.lines = multiprocessing.Pipe(duplex=False)
        self.hears, hearer = multiprocessing.Pipe(duplex=False)
        self.process = start_forked(killable.serve, model, theirs, hearer)
        theirs.close()
        hearer.close()
        assert self._next() == ["ready"]

    def _next(self) -> list[Any]:
        what: list[Any] = self.hears.recv()  # EOFError: the runs' parent ended
        return what

    def run(self, line: list[str], phase: str = "", times: int = 1, delay: float = 0.0) -> tuple[int, list[list[Any]]]:
        """A run until its end, or until `delay` seconds after it enters `phase` for so many times: then it is killed.

        Returns its exit code and all that it told.
        """
        self.lines.send(line)
        told: list[list[Any]] = []
        child = 0
        while True:
            what = self._next()
            if what[0] == "began":
                child = what[1]
            elif what[0] == "ended":
                return what[1], told
            told.append(what)
            times -= what == ["phase", phase]
            if times == 0 and child:
                time.sleep(delay)
                os.kill(child, signal.SIGKILL)
                times = -1

    def close(self) -> None:
        self.lines.close()
        self.process.join(20)
        self.process.kill()


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    started = Runs(tmp_path_factory.mktemp("model"))
    yield started
    started.close()


@pytest.fixture(scope="module")
def killed(runs: Runs, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[list[Any]], Counter]:
    """A run killed at random moments of every phase and then left to end: its directory, what it told, and where."""
    path = tmp_path_factory.mktemp("runs") / "killed"
    rng = random.Random(0)
    line, told, died = words(runs.model, path), [], Counter[str]()
    while died.total() < KILLS or any(died[phase] < 2 for phase in PHASES):
        assert died.total() < MOST_KILLS, f"killed in {died}"
        rarest = min(PHASES, key=lambda phase: (died[phase], rng.random()))
        phase, times = (rarest, rng.choice((1, 1, 1, 2))) if told else ("collect", 2)  # by then there is a checkpoint
        code, said = runs.run(line, phase, times, rng.uniform(0, 0.01))
        assert code == -signal.SIGKILL, said[-3:]
        told += said
        died[[name for kind, *rest in said if kind == "phase" for name in rest][-1]] += 1
        line = ["--resume-from", str(path)]
    done = max(record["step"] for record in read_jsonl(path / "metrics.jsonl"))
    code, said = runs.run([*line, "--num-steps", str(done + 1)])
    assert code == 0, said[-3:]
    return path, told + said, died


def test_every_attempt_that_was_finished_is_in_the_log(killed: Any) -> None:
    path, told, died = killed
    assert died.total() >= KILLS and all(died[phase] >= 2 for phase in PHASES)
    logged = {number_of(record) for record in read_jsonl(attempts_file(path, 0))}
    finished = {(step, 0, sequence) for kind, *rest in told if kind == "attempt" for step, sequence in [rest]}
    assert finished <= logged
    assert len(finished) > 5 * KILLS


def test_attempts_are_numbered_without_gaps_or_repetitions(killed: Any) -> None:
    numbers = [number_of(record) for record in read_jsonl(attempts_file(killed[0], 0))]
    for (step, _, sequence), (next_step, _, next_sequence) in pairwise(numbers):
        goes_on = next_step >= step and next_sequence == sequence + 1
        begins_anew = next_step == step + 1 and next_sequence == 0
        assert goes_on or begins_anew, f"({step}, {sequence}) then ({next_step}, {next_sequence})"
    assert {step for step, _, _ in numbers} == set(range(numbers[-1][0] + 1))


def test_what_a_run_knows_is_always_what_its_log_teaches(killed: Any) -> None:
    path, told, _ = killed
    known = {step: digest for kind, *rest in told if kind == "learned" for step, digest in [rest]}
    assert len(known) > KILLS / 2
    experience, taught = new_experience(), {}
    for step, attempt in logged_attempts(path):
        experience.learn(step, [attempt])
        taught[step] = describe(experience)
    assert {step: taught[step] for step in known if step >= 0} == {step: known[step] for step in known if step >= 0}


def test_buffers_are_the_newest_distinct_examples_of_the_log(killed: Any) -> None:
    experience, replay, negative = new_experience(), {}, {}
    for step, attempt in logged_attempts(killed[0]):
        experience.learn(step, [attempt])
        for found in attempt.transitions:
            state, tactic, depth = found.state, found.tactic, found.depth
            replay.pop((state, tactic), None)
            negative.pop((state, tactic), None)
            replay[state, tactic] = (depth, step)
            replay = dict(list(replay.items())[-WINDOWS["replay"] :])
        for key in attempt.failed_tactics:
            if tuple(key) not in replay:
                negative.pop(tuple(key), None)
                negative[tuple(key)] = (1, step)
        negative = dict(list(negative.items())[-WINDOWS["negative"] :])
    for buffer, plain in ((experience.buffers.replay, replay), (experience.buffers.negative, negative)):
        assert [(key, (item.depth, step)) for key, item, step in buffer.entries()] == list(plain.items())
        assert len(plain) == buffer.window


@pytest.mark.nightly
def test_an_asynchronous_run_killed_while_it_trains_has_all_attempts_that_were_finished(
    runs: Runs, tmp_path: Path
) -> None:
    path = tmp_path / "rl"
    line, told, rng = [*words(runs.model, path), "--asynchronous", "--max-staleness", "2"], [], random.Random(2)
    for phase, times in (("train", 3), ("train", 1), ("collect", 2)):
        code, said = runs.run(line, phase, times, rng.uniform(0, 0.01))
        assert code == -signal.SIGKILL, said[-3:]
        told += said
        line = ["--resume-from", str(path)]
    steps = [record["step"] for record in read_jsonl(path / "metrics.jsonl")]
    code, said = runs.run([*line, "--num-steps", str(max(steps))])
    assert code == 0, said[-3:]
    told += said
    records = list(read_jsonl(attempts_file(path, 0)))
    finished = {(step, 0, sequence) for kind, *rest in told if kind == "attempt" for step, sequence in [rest]}
    assert finished <= {number_of(record) for record in records} and len(finished) > 10
    assert all(0 <= ended - began <= 2 for began, ended in (record["revisions"] for record in records))
    experience, taught = new_experience(), {-1: describe(new_experience())}
    for step, attempt in logged_attempts(path):
        experience.learn(step, [attempt])
        taught[step] = describe(experience)
    known = [(step, digest) for kind, *rest in told if kind == "learned" for step, digest in [rest]]
    assert len(known) > 6 and all(taught[step] == digest for step, digest in known)


def test_metrics_go_on_without_a_gap(killed: Any) -> None:
    steps = [record["step"] for record in read_jsonl(killed[0] / "metrics.jsonl")]
    assert steps == list(range(1, len(steps) + 1))


@pytest.mark.nightly
def test_losses_are_those_of_a_run_that_was_not_killed(runs: Runs, tmp_path: Path) -> None:
    same = ["--collect-transitions", "0", "--fraction-sft", "1", "--eval-every", "never", "--num-steps", "12"]
    losses = []
    for name, kills in (("whole", 0), ("killed", 3)):
        line = [*words(runs.model, tmp_path / name), *same]
        rng = random.Random(1)
        for _ in range(kills):
            phase = rng.choice(("train", "save"))
            assert runs.run(line, phase, 2, rng.uniform(0, 0.01))[0] == -signal.SIGKILL
            line = ["--resume-from", str(tmp_path / name)]
        assert runs.run(line)[0] == 0
        losses.append([record["loss"] for record in read_jsonl(tmp_path / name / "metrics.jsonl")])
    assert losses[0] == losses[1]
    assert len(losses[0]) == 12
