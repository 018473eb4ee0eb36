"""A small run that is just being written, and ways to ask a monitor about a run."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import TestResponse

from nanoproof import sft
from nanoproof.monitor.app import create_app
from nanoproof.monitor.ranks import STALE_SECONDS
from nanoproof.monitor.routes import CurrentRun
from tests.fakes.simulated_run import SimulatedRun, write_history
from tests.training import sft_runs

EVALUATION = {"kind": "evaluation", "step": 0, "dataset": "nanolean", "split": "valid", "solved": 3, "total": 9}


def lines(*records: Any) -> str:
    """JSONL."""
    return "".join(json.dumps(record) + "\n" for record in records)


def attempt(
    sequence: int, name: str = "t", outcome: str = "proven", step: int = 0, rank: int = 0, tactics: int = 1
) -> Any:
    """A record of the log of attempts."""
    theorem = {"source": f"theorem {name} : True := by\n  sorry\n", "dataset": "demo", "id": name}
    number = {"step": step, "rank": rank, "sequence": sequence}
    counts = {"simulations": 3}
    proof = {"proof": "trivial", "num_tactics": tactics, "transitions": [["⊢ True", "trivial", 1]]}
    found = {"number": number, "theorem": theorem, "outcome": outcome, "counts": counts, "budget": 8}
    return {**found, "time": 1000.0 + sequence, **(proof if outcome == "proven" else {})}


class Asker:
    """Asks a monitor about one run; what is written is seen at once."""

    def __init__(self, path: Path, token: str | None = None) -> None:
        self.current = CurrentRun()
        self.current.show(path, every_seconds=0)
        self.app = create_app(self.current, token)
        self.client = self.app.test_client()

    def ask(self, question: str, **kwargs: Any) -> TestResponse:
        """Any answer."""
        return self.client.get(question, **kwargs)

    def get(self, question: str) -> Any:
        """The JSON of an answer that must be good."""
        answer = self.ask(question)
        assert answer.status_code == 200, answer.text
        return strict(answer.text)


def strict(text: str) -> Any:
    """JSON as a browser reads it: NaN and Infinity are errors."""

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.fixture
def look() -> Iterator[Callable[..., Asker]]:
    askers = []

    def make(path: Path, token: str | None = None) -> Asker:
        askers.append(Asker(path, token))
        return askers[-1]

    yield make
    for asker in askers:
        asker.current.close()


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of two ranks that was resumed at step 2 and is just writing the metrics of step 4."""
    path = tmp_path / "2030-01-02_03-04-05_demo"
    path.mkdir()
    steps = [{"step": step, "loss": 9.0 - step} for step in range(4)]
    again = [{"step": 2, "loss": 5.0}, {"step": 3, "loss": 4.0}]
    (path / "metrics.jsonl").write_text(lines(*steps, *again) + '{"step": 4, "lo')
    events = [EVALUATION, {"kind": "checkpoint", "step": 2}, {"kind": "start"}, {**EVALUATION, "step": 4, "solved": 5}]
    (path / "events.jsonl").write_text(lines(*events))
    actors = [{"actor": 0, "state": "lean", "theorem": "add_zero", "simulations": 7}]
    for rank, (age, phase) in enumerate([(0.0, "collect"), (STALE_SECONDS + 5, "collect")]):
        status = {"rank": rank, "time": time.time() - age, "phase": phase, "actors": actors}
        (path / f"status_r{rank}.json").write_text(json.dumps(status))
    (path / "meta.json").write_text(json.dumps({"command": ["rl"]}))
    return path


@pytest.fixture(scope="session")
def finetuned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short run of finetuning that has come to its end, with validation."""
    folder = tmp_path_factory.mktemp("finetuned")
    assert sft.main(sft_runs.words(folder, "short", "--epochs", 1, "--eval-every", "2steps", "--seed", 3)) == 0
    return folder / "short"


@pytest.fixture(scope="session")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> SimulatedRun:
    """Some minutes of a simulated run that has come to its end."""
    run = write_history(tmp_path_factory.mktemp("runs") / "simulated", 400.0, actors=2, theorems=24, trees=20)
    run.close()
    return run
