"""The policy service over real sockets: what it answers, what it refuses, and how it ends."""

import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest
import requests

from nanoproof.common.errors import UserError
from nanoproof.common.web.http_server import HttpServer, Shutdown, bind
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.policy.client import RemotePolicy
from nanoproof.policy.factory import open_policy
from nanoproof.policy.protocol import SamplingConfig, ServiceOptions
from nanoproof.policy.server import PolicyService, create_app
from nanoproof.policy.tactic_policy import TacticPolicy
from nanoproof.search.policy import (
    BadState,
    PolicyAccessDenied,
    PolicyBusy,
    PolicyServerError,
    PolicyTimeout,
    PolicyUnreachable,
)
from tests.fakes.engine import ScriptedEngine
from tests.helpers import free_port, wait_for

IMPATIENT = {"answer_seconds": 20.0, "connect_seconds": 2.0, "patience_seconds": 0.0}


@dataclass
class Serving:
    """A policy server in this process."""

    engine: ScriptedEngine
    policy: TacticPolicy
    service: PolicyService
    server: HttpServer
    port: int
    requests_log: Any

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def post(self, body: Any, **how: Any) -> requests.Response:
        data = body if isinstance(body, (str, bytes)) else json.dumps(body)
        headers = {"Content-Type": "application/json", **how.pop("headers", {})}
        return requests.post(f"http://{self.address}/generate", data=data, headers=headers, timeout=20, **how)

    def client(self, waits: dict[str, float] = IMPATIENT, **how: Any) -> RemotePolicy:
        return RemotePolicy(self.address, **waits, **how)


Serve = Callable[..., Serving]


@pytest.fixture
def serve(words: Tokenizer) -> Iterator[Serve]:
    with ExitStack() as stack:

        def start(token: str | None = None, engine: ScriptedEngine | None = None, **options: Any) -> Serving:
            settings = ServiceOptions(port=0, **{"max_requests": 8, **options})
            engine = engine or ScriptedEngine(words, ["simp", "exact h", "simp", "sorry"])
            policy = stack.enter_context(TacticPolicy(engine))  # type: ignore[arg-type]
            service = PolicyService(policy, settings, {"path": "somewhere"})
            listener = bind(settings)
            app = create_app(service, token)
            server = HttpServer(app, settings, listener)
            threading.Thread(target=server.run, daemon=True).start()
            stack.callback(server.close)
            stack.callback(engine.gate.set)
            return Serving(engine, policy, service, server, listener.getsockname()[1], app.extensions["requests"])

        yield start


def metrics(serving: Serving) -> str:
    return requests.get(f"http://{serving.address}/metrics", timeout=20).text


def in_thread(call: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    results: list[Any] = []

    def run() -> None:
        try:
            results.append(call())
        except Exception as error:
            results.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, results


def test_a_server_that_an_answer_wakes_closes_nothing_that_stop_still_writes_to(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    serving = serve()
    assert serving.post({"states": ["⊢ p"]}).status_code == 200
    trigger = serving.server._server.trigger
    wake = trigger._physical_pull

    def woken_before() -> None:
        wake()  # as an answer does: the thread that runs finds what `stop` has left for it
        time.sleep(0.1)
        wake()

    monkeypatch.setattr(trigger, "_physical_pull", woken_before)
    serving.server.close()  # OSError: bad file descriptor, where the pipe was closed between
    assert not serving.server._sockets


def test_states_go_in_and_tactics_and_values_come_out(serve: Serve) -> None:
    serving = serve()
    answer = serving.post({"states": ["⊢ p", "⊢ q"], "seeds": [3, 4]})
    assert answer.status_code == 200
    first, second = answer.json()["suggestions"]
    assert first["tactics"] == second["tactics"] == ["simp", "exact h"]
    assert first["counts"] == [2, 1] and first["num_dropped"] == 3 and first["value"] == 2.0
    assert len(first["value_distribution"]) == 64
    assert serving.engine.seeds == [3, 4]


def test_the_client_is_told_exactly_what_the_policy_says(serve: Serve) -> None:
    serving = serve()
    with serving.client() as remote:
        assert remote.suggest("x : ℕ\n⊢ x = x", seed=7) == serving.policy.suggest("x : ℕ\n⊢ x = x", seed=7)
        assert remote.suggest_all(["⊢ p", ""], [1, 2]) == serving.policy.suggest_all(["⊢ p", ""], [1, 2])
    assert serving.engine.seeds == [7, 7, 1, 2, 1, 2]


def test_a_client_says_how_to_sample(serve: Serve) -> None:
    serving = serve()
    how = SamplingConfig(num_sampled_tactics=3, first_token_occurrences_cap=None, temperature=0.5, max_gen_tokens=9)
    with serving.client(sampling=how) as remote:
        assert remote.suggest("⊢ p").num_samples == 3
    assert serving.engine.submitted[-1].options == how.options()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("{", "not JSON"),
        ([], "must be a JSON object"),
        ({}, "`states`: field required"),
        ({"states": []}, "`states`: list should have at least 1 item"),
        ({"states": ["p"] * 6}, "`states`: there are 6, and this server takes 5"),
        ({"states": ["p", 3]}, r"`states\[1\]`: input should be a valid string"),
        ('{"states": ["p", "a\\ud800"]}', r"`states\[1\]`: this is not Unicode: lone surrogate at 1"),
        ({"states": ["p"], "seeds": [1, 2]}, "2 seeds for 1 states"),
        ({"states": ["p"], "seeds": [2**63]}, r"`seeds\[0\]`: input should be less than 9223372036854775808"),
        ({"states": ["p"], "seeds": [True]}, r"`seeds\[0\]`: input should be a valid integer"),
        ({"states": ["p"], "seeds": 0}, "`seeds`: input should be a valid list"),
        ({"states": ["p"], "temperature": 0}, "temperature must be >= 1e-06, got 0"),
        ('{"states": ["p"], "temperature": NaN}', "`temperature`: input should be a finite number"),
        ({"states": ["p"], "temperature": 1e39}, r"temperature must be <= 1000000.0, got 1e\+39"),
        ('{"states": ["p"], "temperature": Infinity}', "`temperature`: input should be a finite number"),
        ({"states": ["p"], "temperature": "hot"}, "`temperature`: input should be a valid number"),
        ({"states": ["p"], "num_sampled_tactics": 2.5}, "`num_sampled_tactics`: input should be a valid integer"),
        ({"states": ["p"], "num_sampled_tactics": None}, "`num_sampled_tactics`: input should be a valid integer"),
        ({"states": ["p"], "num_sampled_tactics": 129}, "must be <= 128 on this server, got 129"),
        ({"states": ["p"], "max_gen_tokens": 63}, "max_gen_tokens must be <= 62 for this model, got 63"),
        ({"states": ["p"], "max_tokens": 3}, "`max_tokens`: there is no such field"),
        ({"states": ["p"], "timeout_seconds": -1}, "`timeout_seconds`: input should be greater than or equal to 0"),
    ],
)
def test_what_is_wrong_with_a_request_is_said(serve: Serve, body: Any, said: str) -> None:
    serving = serve(max_states=5)
    answer = serving.post(body)
    assert answer.status_code == 400
    assert re.search(said, answer.json()["error"])
    assert serving.engine.submitted == []


def test_other_refusals_are_json_too(serve: Serve) -> None:
    serving = serve(max_body_mb=0.01)
    base = f"http://{serving.address}"
    for answer, status in (
        (serving.post({"states": ["p" * 20_000]}), 413),
        (requests.post(f"{base}/generate", data="{}", timeout=20), 415),
        (requests.get(f"{base}/generate", timeout=20), 405),
        (requests.get(f"{base}/nothing", timeout=20), 404),
        (requests.get(f"{base}/status", headers={"Host": "evil.example"}, timeout=20), 403),
    ):
        assert answer.status_code == status
        assert "error" in answer.json()


def test_a_token_is_asked_for_everywhere(serve: Serve) -> None:
    serving = serve(token="s3cret")
    for path in ("status", "metrics", "generate"):
        assert requests.get(f"http://{serving.address}/{path}", timeout=20).status_code == 401
    with serving.client(token="wrong") as remote, pytest.raises(PolicyAccessDenied, match="refuses our token"):
        remote.suggest("⊢ p")
    with serving.client(token="s3cret") as remote:
        assert remote.suggest("⊢ p").tactics == ("simp", "exact h")


def test_the_token_comes_from_the_environment(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    serving = serve(token="s3cret")
    monkeypatch.setenv("NANOPROOF_POLICY_TOKEN", "s3cret")
    with serving.client() as remote:
        assert remote.status()["model"] == {"path": "somewhere"}


@pytest.mark.parametrize("limit", [{"max_requests": 1}, {"max_open_states": 2, "max_states": 2}])
def test_a_full_server_sends_others_away_and_still_says_how_it_is(serve: Serve, limit: dict[str, int]) -> None:
    serving = serve(**limit)
    serving.engine.gate.clear()
    waiting, results = in_thread(lambda: serving.post({"states": ["⊢ p", "⊢ q"]}))
    wait_for(lambda: serving.service.open_requests == 1)
    refused = serving.post({"states": ["⊢ r"]})
    assert refused.status_code == 429 and refused.headers["Retry-After"] == "1"
    with serving.client() as remote:
        with pytest.raises(PolicyBusy, match="waiting for the model"):
            remote.suggest("⊢ r")
        assert remote.status()["open_requests"] == 1
    serving.engine.gate.set()
    waiting.join(20)
    assert results[0].status_code == 200
    assert serving.post({"states": ["⊢ r"]}).status_code == 200


def test_a_client_comes_again_when_the_server_was_full(serve: Serve) -> None:
    serving = serve(max_requests=1)
    serving.engine.gate.clear()
    first, _ = in_thread(lambda: serving.post({"states": ["⊢ p"]}))
    wait_for(lambda: serving.service.open_requests == 1)
    patient = {"patience_seconds": 20.0}
    with serving.client(patient) as remote:
        second, results = in_thread(lambda: remote.suggest("⊢ q"))
        wait_for(lambda: '"/generate",status="429"' in metrics(serving))
        serving.engine.gate.set()
        second.join(20)
        first.join(20)
    assert results[0].tactics == ("simp", "exact h")


def test_a_failing_model_is_an_error_of_the_server_and_it_goes_on(serve: Serve) -> None:
    serving = serve()
    serving.engine.fail_step = FloatingPointError("not finite")
    with serving.client() as remote:
        with pytest.raises(PolicyServerError, match="the model failed: FloatingPointError: not finite"):
            remote.suggest("⊢ p")
        assert remote.suggest("⊢ p").tactics == ("simp", "exact h")


def test_a_deadline_ends_a_request(serve: Serve) -> None:
    serving = serve()
    serving.engine.steps = 10**9
    assert serving.post({"states": ["⊢ p"], "timeout_seconds": 0.05}).status_code == 504
    with serving.client() as remote, pytest.raises(PolicyTimeout):
        remote.suggest("⊢ p", deadline=time.monotonic() + 0.05)
    wait_for(lambda: serving.policy.num_open == 0)


def test_who_hangs_up_is_not_computed_for(serve: Serve) -> None:
    serving = serve()
    serving.engine.steps = 10**9
    body = json.dumps({"states": ["⊢ p"]})
    with socket.create_connection(("127.0.0.1", serving.port)) as caller:
        head = "POST /generate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json"
        caller.sendall(f"{head}\r\nContent-Length: {len(body.encode())}\r\n\r\n{body}".encode())
        wait_for(lambda: serving.policy.num_open == 1)
    wait_for(lambda: serving.policy.num_open == 0)
    assert serving.engine.cancelled == 1


def test_status_and_metrics_count_what_was_done(serve: Serve) -> None:
    serving = serve()
    serving.post({"states": ["⊢ p", "⊢ q"]})
    serving.post({"states": []})
    with serving.client() as remote:
        status = remote.status()
    assert status["questions"]["answered"] == 2 and status["samples"]["sampled"] == 12
    assert status["limits"] == {"states": 1024, "num_sampled_tactics": 128, "max_gen_tokens": 62}
    text = metrics(serving)
    for line in (
        'nanoproof_policy_requests_total{route="/generate",status="200"} 1.0',
        'nanoproof_policy_requests_total{route="/generate",status="400"} 1.0',
        'nanoproof_policy_states_total{outcome="answered"} 2.0',
        'nanoproof_policy_samples_total{kind="banned"} 2.0',
        "nanoproof_policy_generate_seconds_count 1.0",
        "nanoproof_policy_open_requests 0.0",
        "# TYPE nanoproof_policy_engine_total counter",
    ):
        assert f"\n{line}\n" in f"\n{text}"


def test_an_ending_server_answers_whom_it_let_in_and_nobody_else(serve: Serve) -> None:
    serving = serve()
    serving.engine.gate.clear()
    waiting, results = in_thread(lambda: serving.post({"states": ["⊢ p"]}))
    wait_for(lambda: serving.policy.num_open == 1)
    end = Shutdown(serving.service.drain, serving.policy.close, 20.0, serving.requests_log, serving.server)
    end(15, None)
    wait_for(lambda: serving.service.closing)
    refused = serving.post({"states": ["⊢ q"]})
    assert refused.status_code == 503 and "Retry-After" in refused.headers
    with serving.client() as remote, pytest.raises(PolicyUnreachable, match="shutting down"):
        remote.suggest("⊢ q")
    serving.engine.gate.set()
    waiting.join(20)
    assert results[0].status_code == 200


def test_a_server_that_is_not_there_is_said_at_once() -> None:
    remote = RemotePolicy(f"127.0.0.1:{free_port()}", **IMPATIENT)
    with pytest.raises(PolicyUnreachable, match=r"cannot be reached: Connection refused"):
        remote.status()
    with pytest.raises(PolicyUnreachable):
        remote.suggest("⊢ p")


@pytest.mark.parametrize("address", ["", "a b", "host:99999", "https://host"])
def test_what_is_no_address_is_said(address: str) -> None:
    with pytest.raises(Exception, match="not the address of a policy server"):
        RemotePolicy(address)


def test_a_lone_surrogate_is_refused_before_it_is_sent() -> None:
    with pytest.raises(BadState, match="lone surrogate"):
        RemotePolicy("127.0.0.1:1", **IMPATIENT).suggest("\ud800")


@pytest.mark.parametrize(
    "change",
    [
        {"tactics": ["simp", "simp"]},
        {"tactics": "ab"},
        {"tactics": [1, 2]},
        {"logprobs": [-1.0]},
        {"logprobs": [-1.0, None]},
        {"logprobs": [float("nan"), -1.0]},
        {"counts": [0, 1]},
        {"counts": [1.5, 1]},
        {"value": "high"},
        {"value_distribution": [0.5]},
        {"num_dropped": -1},
    ],
)
def test_a_strange_answer_is_an_error_of_the_server(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any]
) -> None:
    good = {"tactics": ["a", "b"], "logprobs": [-1.0, -2.0], "counts": [1, 1], "value": 1.0}
    monkeypatch.setattr("nanoproof.policy.protocol.suggestion_to_json", lambda _: {**good, **change})
    with serve().client() as remote, pytest.raises(PolicyServerError, match="no suggestion"):
        remote.suggest("⊢ p")


def test_sampling_that_a_server_does_not_allow_is_found_before_the_first_question(serve: Serve) -> None:
    serving = serve()
    with open_policy("model", None, SamplingConfig(), server=serving.address) as policy:
        assert isinstance(policy, RemotePolicy)
    told = rf"^--num-sampled-tactics 129: the policy server {serving.address} allows at most 128$"
    with (
        pytest.raises(UserError, match=told),
        open_policy("model", None, SamplingConfig(num_sampled_tactics=129), server=serving.address),
    ):
        pass
