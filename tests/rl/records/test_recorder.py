"""What a rank tells of itself while scripted actors work."""

import json
import logging
import threading
import time
from itertools import pairwise
from types import SimpleNamespace

import pytest
import torch

from nanoproof.actors.actor import ActorPool
from nanoproof.common.distributed import DistInfo
from nanoproof.common.process import gpu_status
from nanoproof.common.run_dir import RunDir
from nanoproof.lean.types import TacticFailed
from nanoproof.prover.attempt_log import AttemptIndex
from nanoproof.rl import recorder as recorder_module
from nanoproof.rl.batch_sampler import Buffers
from nanoproof.rl.collection import CollectSource, Experience
from nanoproof.rl.matchmaker import Matchmaker, MatchmakerConfig
from nanoproof.rl.recorder import Pace, Recorder, RecordOptions, status_file
from nanoproof.rl.records import (
    Timeline,
    kept_trees,
    outcomes_of,
    samples_file,
    timeline_file,
    train_samples_file,
)
from nanoproof.search.node import Kind, Node
from tests.fakes.policy import suggestion
from tests.rl.records.both_parts import both_parts
from tests.rl.small import ScriptedClient, make_prover, policy, theorems

ALONE = DistInfo(0, 0, 1, torch.device("cpu"), "test", torch.float32, "test")


class Model:
    """A policy that takes a moment, and says how busy it is."""

    def __init__(self):
        self._policy = policy()
        self.steps = 0

    def suggest(self, state_text, seed=0):
        time.sleep(0.005)
        self.steps += 1
        return self._policy.suggest(state_text, seed)

    def load(self):
        return SimpleNamespace(steps=self.steps, busy_seconds=0.005 * self.steps, rows=12, states=2, waiting=1)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Two actors at work for a little more than a second of timeline, and what they left behind."""
    path = tmp_path_factory.mktemp("run")
    run, model = RunDir(path), Model()
    learned = Experience(theorems(6), Matchmaker(6, MatchmakerConfig()), Buffers(100, 100))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recorder_module, "WRITE_SECONDS", 0.1)
        patch.setattr(recorder_module, "LOOK_SECONDS", 0.02)
        with Recorder(run, 0, RecordOptions(samples_per_step=4)) as recorder:
            source = CollectSource(learned, path, ALONE, seed=0, first_step=0, observer=recorder)
            pool = ActorPool([ScriptedClient(), ScriptedClient()], model, make_prover, observer=recorder)
            recorder.watch(
                lambda: {"phase": "collect", "step": 1, "actors": [actor.snapshot() for actor in pool.actors]},
                pool.actors,
                model.load,
            )
            recorder.phase("collect", 0)
            source.begin(30, None)
            pool.set_source(source)
            pool.wait(source.enough)
            recorder.phase("train", 0)
            recorder.trained([{"step": 0, "kind": "sft", "tokens": ["a"], "losses": [0.5], "loss": 0.5}], 0.0)
            time.sleep(0.15)
            pool.stop()
            pool.join()
            logging.getLogger("some.part").warning("odd: %d", 1)
            logging.getLogger("some.part").warning("odd: %d", 2)
        source.close()
    run.close()
    logging.getLogger("some.part").warning("odd: afterwards")
    return path


def events(path, kind):
    found = [json.loads(line) for line in (path / "events.jsonl").read_text().splitlines()]
    return [event for event in found if event["kind"] == kind]


def test_attempts_with_trees_are_those_that_the_index_says(recorded):
    index = AttemptIndex(recorded)
    index.poll()
    assert {entry.number for entry in index.entries if entry.tree} == set(kept_trees(recorded)) != set()


def test_samples_say_what_became_of_each_tactic_and_how_far_it_was(recorded):
    samples = {sample["state"]: sample for sample in both_parts(samples_file(recorded, 0))}
    assert set(samples) == {"⊢ A", "⊢ B"}
    first, last = samples["⊢ A"], samples["⊢ B"]
    assert [first["depth"], last["depth"]] == [2, 1]
    assert {tactic["tactic"]: tactic["outcome"] for tactic in first["tactics"]} == {
        "wrong": "rejected",
        "step": "solved",
    }
    assert [tactic["outcome"] for tactic in last["tactics"]] == ["solved"]
    assert first["value"] == 2.0
    assert (first["dataset"], first["step"], first["rank"]) == ("scripted", 0, 0)


def test_a_step_gives_so_many_samples_and_no_more(recorded):
    assert 1 <= len(list(both_parts(samples_file(recorded, 0)))) <= 4


def test_the_timeline_tells_what_actors_model_and_phases_did(recorded):
    lines = list(both_parts(timeline_file(recorded, 0)))
    for before, after in pairwise(lines):
        assert after["from"] == pytest.approx(before["to"], abs=0.01)
    spans = [(*span, 1000 * (line["to"] - line["from"])) for line in lines for span in line["actors"]]
    assert {span[0] for span in spans} == {0, 1}
    assert {span[1] for span in spans} == {"model", "lean"}
    assert all(start >= 0 and start + length <= total + 1 for _, _, start, length, total in spans)
    assert {tuple(step[2:]) for line in lines for step in line["steps"]} == {(12, 2, 1)}
    assert list(dict.fromkeys(phase for line in lines for phase, _, _ in line["phases"])) == ["collect", "train"]


def test_the_status_is_that_of_the_end_with_memory(recorded):
    status = json.loads(status_file(recorded, 0).read_text())
    assert status["phase"] == "collect"
    assert status["memory"] > 1 << 20
    assert [actor["actor"] for actor in status["actors"]] == [0, 1]
    assert {"state_seconds", "budget", "theorem", "server"} <= set(status["actors"][0])


def test_phases_and_warnings_are_events_and_repetitions_are_left_out(recorded):
    assert [(event["phase"], event["step"]) for event in events(recorded, "phase")] == [("collect", 0), ("train", 0)]
    assert [event["message"] for event in events(recorded, "warning") if event["logger"] == "some.part"] == ["odd: 1"]


def test_examples_that_were_trained_on_are_there(recorded):
    assert [sample["loss"] for sample in both_parts(train_samples_file(recorded))] == [0.5]


def test_losses_of_tokens_take_a_hundredth_of_the_time_at_most(tmp_path):
    run = RunDir(tmp_path)
    recorder = Recorder(run, 0, RecordOptions())
    assert recorder.wants_training
    recorder.trained([], seconds=10.0)
    assert recorder._next_train_sample - time.monotonic() == pytest.approx(1000.0, abs=5.0)
    assert not recorder.wants_training
    assert not Recorder(run, 1, RecordOptions()).wants_training
    run.close()


def test_what_lean_refused_and_what_was_not_tried_is_told_apart(recorded):
    node = Node(Kind.OR, "A", ("A",), None, 1.0)
    child = Node(Kind.OR, "B", ("B",), None, 1.0)
    node.known = {"on": child, "round": None, "late": None}
    refused = {"late": TacticFailed("timeout", "too slow"), "bad": TacticFailed("banned", "no")}
    found = outcomes_of(suggestion(["on", "round", "late", "bad", "other"]), node, refused)
    assert {one["tactic"]: one["outcome"] for one in found} == {
        **{"on": "applied", "round": "cycle", "late": "timeout", "bad": "banned", "other": "untried"}
    }


def test_a_recorder_that_fails_says_so_once_and_the_run_goes_on(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(recorder_module, "WRITE_SECONDS", 0.0)
    monkeypatch.setattr(recorder_module, "LOOK_SECONDS", 0.001)
    asked = threading.Semaphore(0)

    def snapshot():
        asked.release()
        raise RuntimeError("no snapshot")

    run = RunDir(tmp_path)
    with Recorder(run, 0, RecordOptions()) as recorder:
        recorder.watch(snapshot, [], Model().load)
        assert all(asked.acquire(timeout=10) for _ in range(3))
    run.close()
    assert caplog.text.count("the run continues") == 1


def test_a_state_that_lasts_is_seen_in_every_line(tmp_path):
    timeline = Timeline(tmp_path, 0, minutes=1)
    since = time.monotonic()
    timeline.phase("evaluate")
    for _ in range(3):
        time.sleep(0.01)
        timeline.flush([(7, "lean", since), (8, "idle", since)])
    timeline.close()
    lines = list(both_parts(timeline_file(tmp_path, 0)))
    for line in lines:
        length = 1000 * (line["to"] - line["from"])
        (actor, state, start, span), (phase, _, _) = line["actors"][0], line["phases"][0]
        assert (actor, state, phase) == (7, "lean", "evaluate")
        assert len(line["actors"]) == 1
        assert start + span == pytest.approx(length, abs=1.0)


def test_the_pace_of_the_newest_steps_says_how_long_a_run_will_take():
    pace = Pace()
    assert pace.remaining(0, 5.0, 10, None) is None
    assert pace.remaining(0, 5.0, 10, 60.0) == 55.0
    assert pace.remaining(1, 15.0, 10, None) == 90.0
    assert pace.remaining(2, 35.0, 10, None) == 120.0
    assert pace.remaining(2, 40.0, 10, None) == 115.0
    assert pace.remaining(2, 40.0, 10, 100.0) == 60.0
    assert pace.remaining(10, 200.0, 10, None) == 0.0


def test_a_processor_is_no_gpu():
    assert gpu_status(torch.device("cpu")) is None
