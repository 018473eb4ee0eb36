"""The worker over a scripted engine: who asks is answered alone, and nobody hangs whatever happens."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from nanoproof.inference.sampling import Completion, SamplingOptions
from nanoproof.inference.worker import EngineWorker, PendingCompletion
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.search.policy import BadState, ModelFailed, PolicyCancelled, PolicyClosed, PolicyTimeout
from tests.fakes.engine import ScriptedEngine
from tests.helpers import wait_for

OPTIONS = SamplingOptions(num_samples=2, max_new_tokens=8)


class Asker(threading.Thread):
    """A thread that asks once and keeps what it got."""

    def __init__(self, ask: Callable[[], Any]) -> None:
        super().__init__(daemon=True)
        self._ask = ask
        self.result: Any = None
        self.start()

    def run(self) -> None:
        try:
            self.result = self._ask()
        except Exception as error:
            self.result = error

    def outcome(self) -> Any:
        self.join(20)
        assert not self.is_alive()
        return self.result


def asking(worker: EngineWorker, token: int = 1, **how: Any) -> Asker:
    return Asker(lambda: worker.result(worker.submit([token], OPTIONS, 0), **how))


@pytest.fixture
def engine(words: Tokenizer) -> ScriptedEngine:
    return ScriptedEngine(words)


@pytest.fixture
def worker(engine: ScriptedEngine) -> Iterator[EngineWorker]:
    worker = EngineWorker(engine)  # type: ignore[arg-type]
    yield worker
    engine.gate.set()
    worker.close()


def hold(engine: ScriptedEngine, worker: EngineWorker, token: int = 1) -> Asker:
    """A question whose step has begun and does not end before the gate opens."""
    engine.gate.clear()
    asker = asking(worker, token)
    assert engine.entered.acquire(timeout=20)
    return asker


def test_a_lone_question_is_answered(worker: EngineWorker) -> None:
    assert isinstance(asking(worker).outcome(), Completion)


def test_questions_join_what_is_being_decoded(worker: EngineWorker, engine: ScriptedEngine) -> None:
    engine.steps = 3
    first = hold(engine, worker)
    second = asking(worker, 2)
    wait_for(lambda: worker.num_open == 2)
    engine.gate.set()
    assert isinstance(first.outcome(), Completion) and isinstance(second.outcome(), Completion)
    assert engine.batches == [1, 2, 2, 1], "the second came in after the first one's first step"


def test_who_is_answered_does_not_wait_for_the_others(worker: EngineWorker, engine: ScriptedEngine) -> None:
    engine.steps = 10**9
    endless = asking(worker)
    wait_for(lambda: len(engine.submitted) == 1)
    engine.steps = 1
    assert isinstance(asking(worker, 2).outcome(), Completion)
    assert endless.is_alive()


def test_only_the_thread_whose_answer_came_is_woken(
    worker: EngineWorker, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[PendingCompletion] = []
    wait = PendingCompletion.wait
    monkeypatch.setattr(PendingCompletion, "wait", lambda self, seconds: waits.append(self) or wait(self, seconds))
    engine.gate.clear()
    askers = [asking(worker, token) for token in range(100)]
    wait_for(lambda: len(waits) == 100)
    engine.gate.set()
    assert all(isinstance(asker.outcome(), Completion) for asker in askers)
    assert len(waits) == 100, "each waited once"


def test_the_error_of_a_request_reaches_only_who_asked(worker: EngineWorker, engine: ScriptedEngine) -> None:
    engine.fail_prompt[(13,)] = FloatingPointError("not finite")
    first = hold(engine, worker)
    unlucky, lucky = asking(worker, 13), asking(worker, 14)
    wait_for(lambda: worker.num_open == 3)
    engine.gate.set()
    assert isinstance(first.outcome(), Completion) and isinstance(lucky.outcome(), Completion)
    error = unlucky.outcome()
    assert isinstance(error, ModelFailed) and isinstance(error.__cause__, FloatingPointError)
    assert "not finite" in str(error)


def test_a_question_that_never_fits_is_refused_by_itself(worker: EngineWorker, engine: ScriptedEngine) -> None:
    engine.room = 3
    asker = Asker(lambda: worker.result(worker.submit([1, 2, 3], OPTIONS, 0)))
    error = asker.outcome()
    assert isinstance(error, BadState) and "more memory than there is" in str(error)
    assert isinstance(asking(worker).outcome(), Completion)


def test_a_failed_step_fails_who_waits_and_the_next_are_answered(worker: EngineWorker, engine: ScriptedEngine) -> None:
    first = hold(engine, worker)
    engine.fail_step = MemoryError("no room")
    engine.gate.set()
    assert isinstance(first.outcome(), ModelFailed)
    assert isinstance(asking(worker, 2).outcome(), Completion)
    assert worker.stats.failed == 1 and worker.stats.answered == 1


@pytest.mark.parametrize("how", ["step", "cancel"])
def test_a_broken_engine_fails_all_who_wait_and_all_who_come(
    worker: EngineWorker, engine: ScriptedEngine, how: str
) -> None:
    first = hold(engine, worker)
    later = asking(worker, 2)
    wait_for(lambda: worker.num_open == 2)
    engine.fail_step = SystemExit() if how == "step" else RuntimeError("device lost")
    engine.fail_cancel = RuntimeError("device lost")
    engine.gate.set()
    assert isinstance(first.outcome(), ModelFailed)
    assert isinstance(later.outcome(), ModelFailed)
    wait_for(lambda: isinstance(asking(worker, 3).outcome(), ModelFailed))
    worker.pause()  # returns
    with pytest.raises(ModelFailed):
        worker.resume()


def test_an_engine_that_says_it_is_broken_fails_all_who_come(worker: EngineWorker, engine: ScriptedEngine) -> None:
    first = hold(engine, worker)
    engine.fail_step, engine.broken = RuntimeError("device lost"), True
    engine.gate.set()
    assert isinstance(first.outcome(), ModelFailed)
    wait_for(lambda: worker._dead)
    with pytest.raises(ModelFailed, match="the model failed before: device lost"):
        worker.submit([2], OPTIONS, 0)


def test_who_comes_while_a_withdrawal_breaks_the_engine_is_told(worker: EngineWorker, engine: ScriptedEngine) -> None:
    engine.steps = 100
    engine.gate.clear()
    first = worker.submit([1], OPTIONS, 0)
    engine.entered.acquire()
    worker.cancel(first)
    later = asking(worker, 2)
    wait_for(lambda: worker.num_open == 2)
    engine.fail_cancel = RuntimeError("device lost")
    engine.gate.set()
    assert isinstance(later.outcome(), ModelFailed)


def test_pause_waits_for_the_engine_and_lets_in_nobody(worker: EngineWorker, engine: ScriptedEngine) -> None:
    first = hold(engine, worker)
    pausing = Asker(worker.pause)
    wait_for(lambda: worker._paused)
    assert pausing.is_alive()
    second = asking(worker, 2)
    engine.gate.set()
    pausing.outcome()
    assert isinstance(first.outcome(), Completion)
    wait_for(lambda: worker.num_open == 1)
    second.join(0.05)
    assert second.is_alive() and engine.idle
    worker.resume()
    assert isinstance(second.outcome(), Completion)
    assert engine.refreshed == 1


def test_weights_are_renewed_between_two_steps_and_nobody_who_waits_is_lost(
    worker: EngineWorker, engine: ScriptedEngine
) -> None:
    engine.steps = 3
    first = hold(engine, worker)
    second = asking(worker, 2)
    renewing = Asker(worker.renew)
    wait_for(lambda: worker._renewing and worker.num_open == 2)
    assert engine.refreshed == 0, "a step is under way"
    engine.gate.set()
    renewing.outcome()
    assert isinstance(first.outcome(), Completion) and isinstance(second.outcome(), Completion)
    assert engine.refreshed == 1 and len(engine.submitted) == 2
    assert engine.batches[:2] == [1, 2], "the first was begun again beside the second"


def test_an_idle_or_paused_worker_renews_its_weights_too(worker: EngineWorker, engine: ScriptedEngine) -> None:
    worker.renew()
    worker.pause()
    waiting = asking(worker)
    worker.renew()
    assert engine.refreshed == 2 and waiting.is_alive() and engine.submitted == []
    worker.resume()
    assert isinstance(waiting.outcome(), Completion)


def test_weights_that_cannot_be_copied_end_the_worker_and_the_closed_one_says_nothing(
    worker: EngineWorker, engine: ScriptedEngine
) -> None:
    engine.fail_refresh = MemoryError("no room for weights")
    with pytest.raises(ModelFailed, match="no room for weights"):
        worker.renew()
    assert isinstance(Asker(lambda: worker.submit([1], OPTIONS, 0)).outcome(), ModelFailed)
    worker.close()
    worker.renew()  # returns


def test_a_deadline_ends_the_wait_and_the_samples(worker: EngineWorker, engine: ScriptedEngine) -> None:
    engine.steps = 10**9
    late = asking(worker, deadline=time.monotonic() + 0.05)
    assert isinstance(late.outcome(), PolicyTimeout)
    wait_for(lambda: engine.cancelled == 1 and worker.num_open == 0)


def test_a_deadline_counts_while_paused_too(worker: EngineWorker, engine: ScriptedEngine) -> None:
    worker.pause()
    assert isinstance(asking(worker, deadline=time.monotonic() + 0.02).outcome(), PolicyTimeout)
    assert worker.num_open == 0
    worker.resume()
    assert engine.submitted == []


def test_who_loses_interest_is_let_go(worker: EngineWorker, engine: ScriptedEngine) -> None:
    engine.steps = 10**9
    gone = threading.Event()
    asker = asking(worker, cancelled=gone.is_set)
    wait_for(lambda: len(engine.submitted) == 1)
    gone.set()
    assert isinstance(asker.outcome(), PolicyCancelled)
    wait_for(lambda: engine.cancelled == 1)


@pytest.mark.parametrize("paused", [True, False])
def test_close_releases_those_who_wait(worker: EngineWorker, engine: ScriptedEngine, paused: bool) -> None:
    if paused:
        worker.pause()
    engine.steps = 10**9
    asker = asking(worker)
    wait_for(lambda: worker.num_open == 1)
    worker.close()
    assert isinstance(asker.outcome(), PolicyClosed)
    with pytest.raises(PolicyClosed):
        worker.submit([1], OPTIONS, 0)
    worker.close()


@pytest.mark.nightly
def test_a_thousand_threads_are_answered_through_pauses(worker: EngineWorker, engine: ScriptedEngine) -> None:
    askers = [asking(worker, token) for token in range(1000)]
    for _ in range(50):
        worker.pause()
        assert engine.idle
        worker.resume()
    assert all(isinstance(asker.outcome(), Completion) for asker in askers)
    assert sorted(request.prompt[0] for request in engine.submitted) == list(range(1000))
    assert worker.stats.answered == 1000 and worker.num_open == 0


def test_the_worker_prepares_itself_first(engine: ScriptedEngine) -> None:
    names: list[str] = []
    worker = EngineWorker(engine, prepare=lambda: names.append(threading.current_thread().name))  # type: ignore
    assert isinstance(asking(worker).outcome(), Completion)
    worker.close()
    assert names == ["policy-worker"]
