"""States that are typed into the monitor's page, answered by the policy of the run."""

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nanoproof.actors.state_questions import MAX_QUESTION, StateQuestions, answer_file, question_file
from nanoproof.common.run_dir import RunDir
from nanoproof.monitor import ranks
from nanoproof.rl import recorder as recorder_module
from nanoproof.rl.recorder import Recorder, RecordOptions
from nanoproof.search.policy import BadState, Suggestion
from tests.monitor.conftest import Asker


class Policy:
    """Answers once it is let go, as one that does not train any longer."""

    def __init__(self) -> None:
        self.resumed = threading.Event()
        self.resumed.set()

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        assert self.resumed.wait(10)
        if "refuse" in state_text:
            raise BadState("the state has no room")
        if "break" in state_text:
            raise RuntimeError("out of memory")
        return Suggestion(("simp", "rfl"), (-2.0, -0.5), (1, 3), 2.5, (0.5, 0.5), 1)


class Page:
    """A page that asks a monitor as the page in a browser does."""

    def __init__(self, asker: Asker) -> None:
        self.asker = asker

    def put(self, id: str, state: Any) -> Any:
        return self.asker.client.put("/api/ask", json={"id": id, "state": state})

    def answer(self, id: str, state: str) -> Any:
        for _ in range(1000):
            answer = self.put(id, state).json
            if answer["state"] not in ("asked", "taken"):
                return answer
            time.sleep(0.01)
        raise AssertionError(answer)


@pytest.fixture
def policy() -> Policy:
    return Policy()


@pytest.fixture
def page(tmp_path: Path, policy: Policy, monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    """The page of a run of one rank that is at step 7."""
    monkeypatch.setattr(recorder_module, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(recorder_module, "WRITE_SECONDS", 0.02)
    question_file(tmp_path, 0).write_text('{"id": "old", "state": "asked of another process"}')
    run, asker = RunDir(tmp_path), Asker(tmp_path)
    load = SimpleNamespace(steps=0)
    with Recorder(run, 0, RecordOptions(timeline_minutes=0)) as recorder:
        status = {"rank": 0, "phase": "collect", "step": 7, "actors": [{"actor": 0}]}
        recorder.watch(lambda: status, [], lambda: load, policy)
        while not (tmp_path / "status_r0.json").exists():
            time.sleep(0.005)
        yield Page(asker)
        policy.resumed.set()
        status["phase"] = "stopped"
    run.close()
    assert not question_file(tmp_path, 0).exists() and not answer_file(tmp_path, 0).exists()
    assert Page(asker).put("late", "⊢ True").json["state"] == "silent"
    asker.current.close()


def test_the_answer_has_tactics_value_and_the_step_of_the_weights(page: Page) -> None:
    answer = page.answer("a", "n : ℕ\n⊢ n = n")
    sample = answer["sample"]
    assert (sample["state"], sample["step"], sample["value"], sample["dropped"]) == ("n : ℕ\n⊢ n = n", 7, 2.5, 1)
    assert [(one["tactic"], one["logprob"], one["count"]) for one in sample["tactics"]] == [
        ("rfl", -0.5, 3),
        ("simp", -2.0, 1),
    ]
    assert page.answer("b", "refuse")["error"] == "the state has no room"
    assert page.answer("c", "break")["error"] == "RuntimeError: out of memory"


def test_questions_of_several_pages_are_answered_in_turn_once_the_policy_is_free(
    page: Page, policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy.resumed.clear()
    assert page.put("a", "⊢ A").json["state"] == "asked"
    assert page.put("b", "⊢ B").json["state"] == "taken"
    assert page.put("a", "⊢ A").json["state"] == "asked"
    policy.resumed.set()
    assert page.answer("a", "⊢ A")["sample"]["state"] == "⊢ A"
    assert page.answer("b", "⊢ B")["sample"]["state"] == "⊢ B"
    monkeypatch.setattr(ranks, "GIVEN_UP_SECONDS", 0.0)  # the page of the first question is closed, and it never ends
    policy.resumed.clear()
    page.put("c", "⊢ C")
    assert page.put("d", "⊢ D").json["state"] == "asked"
    policy.resumed.set()
    assert page.answer("d", "⊢ D")["sample"]["state"] == "⊢ D"


@pytest.mark.parametrize("state", ["", " \n", "x" * (MAX_QUESTION + 1), 3, None])
def test_what_is_no_state_is_refused(page: Page, state: Any) -> None:
    assert page.put("a", state).status_code == 400


def test_damaged_questions_do_no_harm(tmp_path: Path) -> None:
    questions = StateQuestions(tmp_path, 0, lambda state: {})
    question_file(tmp_path, 0).write_text('["not", "an object')
    while question_file(tmp_path, 0).exists():
        questions.poll()
        time.sleep(0.002)
    assert json.loads(answer_file(tmp_path, 0).read_text())["id"] is None


def test_an_ended_run_says_what_asks_its_newest_checkpoint(tmp_path: Path) -> None:
    asker = Asker(tmp_path)
    assert Page(asker).put("a", "⊢ True").json["command"] == ""
    (tmp_path / "model_3.json").write_text("{}")
    command = Page(asker).put("a", "⊢ True").json["command"]
    assert command == f"python -m scripts.interact --no-lean --model-path {tmp_path}"
    asker.current.close()
