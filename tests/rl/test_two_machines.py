"""Two torchrun agents, as on two machines: ranks train as one, one dies in the middle, and the run continues alone."""

import os
import signal

import pytest

from nanoproof.common.files import read_json, read_jsonl
from nanoproof.prover.attempt_log import logged_attempts
from nanoproof.rl import __main__ as rl
from tests.helpers import as_command, free_port, start_forked, torchrun, wait_for
from tests.rl import scripted_rl

pytestmark = pytest.mark.slow

DEADLINE = 120.0


def records(path):
    return list(read_jsonl(path)) if path.exists() else []


def digests(path):
    """The digest of the weights after each step, by rank."""
    files = (path / "events.jsonl", path / "events_r1.jsonl")
    return [{e["step"]: e["digest"] for e in records(file) if e["kind"] == "weights"} for file in files]


class Story:
    """What happened."""

    def __init__(self, folder):
        self.folder, self.path = folder, folder / "run"
        scripted_rl.make_model(folder)
        options = {"num_steps": 100_000, "save_every": "1steps", "keep_checkpoints": 2, "check_ranks": True}
        self.words = scripted_rl.words(folder, self.path, **options, collect_transitions=4)
        self.port = free_port()
        self.agents = [self.agent(number) for number in range(2)]
        try:
            self.tell()
        finally:
            self.codes = [self.end(agent) for agent in self.agents]
        self.said = [(folder / f"agent_{number}.txt").read_text() for number in range(2)]

    def agent(self, number):
        line = ["--nnodes=2", "--nproc_per_node=1", "--rdzv_backend=c10d", f"--rdzv_endpoint=127.0.0.1:{self.port}"]
        line += ["--rdzv_id=two", "--local_addr=127.0.0.1", "-m", "tests.rl.two_machines", "--", *self.words]
        said = self.folder / f"agent_{number}.txt"
        return start_forked(as_command, torchrun, said, line, SPAN=self.folder)

    def tell(self):
        self.wait_for_steps(2)
        (self.folder / "frozen_1").touch()
        self.wait_for_steps(2)
        (self.folder / "frozen_0").touch()
        status = self.path / "status_r1.json"
        wait_for(
            status.exists, processes=self.agents
        )  # it is written once a second, which may be later than these steps
        self.killed = read_json(status)["pid"]
        os.kill(self.killed, signal.SIGKILL)
        for agent in self.agents:
            agent.join(DEADLINE)
            assert agent.exitcode is not None

    def wait_for_steps(self, more):
        metrics = self.path / "metrics.jsonl"
        before = len(records(metrics))
        wait_for(lambda: len(records(metrics)) >= before + more, "steps", DEADLINE, self.agents)

    def end(self, agent):
        if agent.exitcode is None:
            agent.terminate()
            agent.join(20)
            agent.kill()
            agent.join()
        return agent.exitcode


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    return Story(tmp_path_factory.mktemp("two"))


@pytest.mark.nightly
def test_ranks_of_two_agents_have_equal_weights_also_when_the_servers_of_one_stall(story):
    first, second = digests(story.path)
    both = first.keys() & second.keys()
    assert len(both) >= 3 and all(first[step] == second[step] for step in both)  # the fourth may die with its rank


def test_a_rank_that_is_killed_ends_the_whole_run_with_a_line_that_names_it(story):
    assert all(story.codes)
    text = "".join(story.said)
    lines = [line for line in text.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1, text
    assert lines[0].startswith("error: rank 1 (process ") and f"process {story.killed} " in lines[0]
    assert "resume with --resume-from" in lines[0] and "stopped by a signal" not in text


def test_what_is_left_goes_on_alone_with_all_attempts_that_ended(story):
    before = [(step, attempt.theorem.id) for step, attempt in logged_attempts(story.path)]
    logs = [records(story.path / f"attempts_r{rank}.jsonl") for rank in (0, 1)]
    assert [{attempt["number"]["rank"] for attempt in log} for log in logs] == [{0}, {1}]
    step = max(record["step"] for record in records(story.path / "metrics.jsonl"))
    with scripted_rl.scripted():
        assert rl.main(["--resume-from", str(story.path), "--num-steps", str(step + 1), "--no-check-ranks"]) == 0
    after = [(step, attempt.theorem.id) for step, attempt in logged_attempts(story.path)]
    assert after[: len(before)] == before and len(after) > len(before)
    assert read_json(story.path / "status_r0.json")["attempts"] >= len(before)
