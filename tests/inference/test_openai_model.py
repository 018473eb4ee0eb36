"""A model behind an OpenAI-compatible endpoint that fails in every way: right texts, in order, and no secret told."""

import logging
import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nanoproof.common.errors import UserError
from nanoproof.inference.language_model import GenerationOptions, TextSample
from nanoproof.inference.openai_model import TOKEN_VARIABLE, EndpointOptions, OpenAIModel
from nanoproof.search import policy
from tests.fakes.openai_server import FAULTS, OpenAIServer, openai_server, text_of

KEY = "sk-very-secret-0123456789"
QUICK = EndpointOptions(timeout=5.0, patience=20.0, requests=8)
THREE = GenerationOptions(num_samples=3, max_new_tokens=20)


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with openai_server() as running:
        yield running


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nanoproof.inference.openai_model.FIRST_PAUSE_SECONDS", 0.02)
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)


def texts(answers: list[list[TextSample]]) -> list[list[str]]:
    return [[sample.text for sample in samples] for samples in answers]


@pytest.mark.parametrize("chat", [False, True])
@pytest.mark.parametrize("stream", [False, True])
def test_texts_come_with_their_log_probabilities_in_the_order_of_the_prompts(
    server: OpenAIServer, chat: bool, stream: bool
) -> None:
    model = OpenAIModel(server.base, "tiny", replace(QUICK, stream=stream), chat=chat)
    answers = model.generate(["a", "b", "a"], THREE, [1, 2, 3])
    assert texts(answers) == [[text_of(p, s, i) for i in range(3)] for p, s in (("a", 1), ("b", 2), ("a", 3))]
    assert all(sample == TextSample(sample.text, -1.5, 3, True) for samples in answers for sample in samples)
    assert model.name == f"openai:{server.base}#tiny"
    asked = server.requests[0]
    assert (asked["n"], asked["max_tokens"], asked["temperature"], asked["model"]) == (3, 20, 1.0, "tiny")
    model.close()


def test_a_text_ends_before_a_stop_text_and_one_that_is_cut_off_is_not_finished(server: OpenAIServer) -> None:
    server.writer = lambda body: [
        {"index": 0, "text": "rfl\n```\nmore", "logprobs": [], "reason": "stop"},
        {"index": 1, "text": "simp at", "logprobs": [], "reason": "length"},
    ]
    model = OpenAIModel(server.base, "tiny", QUICK)
    samples = model.generate(["a"], GenerationOptions(2, stop=("\n```",)), [0])[0]
    assert samples == [TextSample("rfl", None, 0, True), TextSample("simp at", None, 0, False)]
    assert server.requests[0]["stop"] == ["\n```"]
    model.close()


def test_a_server_that_gives_one_text_at_a_time_is_asked_until_there_are_enough(server: OpenAIServer) -> None:
    whole = server.writer
    server.writer = lambda body: whole({**body, "n": 1})
    model = OpenAIModel(server.base, "tiny", QUICK)
    assert len(set(texts(model.generate(["a"], THREE, [5]))[0])) == 3
    assert [body["n"] for body in server.requests] == [3, 2, 1]
    assert len({body["seed"] for body in server.requests}) == 3 and server.requests[0]["seed"] == 5
    model.close()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("fault", FAULTS)
def test_what_fails_once_is_asked_again(server: OpenAIServer, fault: str, stream: bool) -> None:
    server.fault = lambda number: fault if number == 0 else ""
    server.slow_seconds = 1.5
    timeout = 0.3 if fault in ("slow", "trickle") else 5.0
    model = OpenAIModel(server.base, "tiny", replace(QUICK, timeout=timeout, stream=stream))
    answers = texts(model.generate(["a"], THREE, [7]))
    if fault == "short":
        assert answers[0][0] == text_of("a", 7, 0) and len(set(answers[0])) == 3
    else:
        assert answers == [[text_of("a", 7, index) for index in range(3)]]
    assert len(server.requests) == 2
    model.close()


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        ("busy", policy.PolicyBusy, "answered 429: full"),
        ("error", policy.PolicyServerError, r"answered 500: out of luck, Bearer \*\*\*$"),
        ("gateway", policy.PolicyUnreachable, "answered 502"),
        ("html", policy.PolicyServerError, "answered nonsense: it is no JSON"),
        ("wrong", policy.PolicyServerError, "answered nonsense: a text must be a string"),
        ("half", policy.PolicyServerError, "answered nonsense: it is no JSON"),
        ("drop", policy.PolicyUnreachable, "cannot be reached"),
        ("slow", policy.PolicyTimeout, "did not answer in 0.3 s"),
    ],
)
def test_what_fails_for_good_is_an_error_with_its_kind_and_one_line(
    server: OpenAIServer, fault: str, kind: type[Exception], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, KEY)
    server.fault, server.token = lambda number: fault, KEY
    model = OpenAIModel(server.base, "tiny", replace(QUICK, timeout=0.3, patience=0.5))
    with pytest.raises(kind, match=words) as caught:
        model.generate(["a"], THREE, [0])
    assert type(caught.value) is kind and KEY not in str(caught.value) and "\n" not in str(caught.value)
    model.close()


@pytest.mark.parametrize(
    ("status", "answer", "kind", "words"),
    [
        (400, {"error": {"message": "too many tokens"}}, policy.BadState, "answered 400: too many tokens"),
        (422, {"detail": "n must be 1"}, policy.BadState, "answered 422: n must be 1"),
        (404, {"message": "no such route"}, policy.PolicyServerError, "answered 404: no such route"),
        (301, {}, policy.PolicyServerError, "answered 301$"),
        (403, {}, policy.PolicyAccessDenied, "answered 403: give one in NANOPROOF_MODEL_TOKEN"),
    ],
)
def test_what_the_server_refuses_is_not_asked_again(
    server: OpenAIServer, status: int, answer: object, kind: type[Exception], words: str
) -> None:
    server.refusal = lambda body: (status, answer)
    model = OpenAIModel(server.base, "tiny", QUICK)
    began = time.monotonic()
    with pytest.raises(kind, match=words):
        model.generate(["a"], THREE, [0])
    assert time.monotonic() - began < 2
    model.close()


def test_a_server_without_log_probabilities_is_asked_without_them(server: OpenAIServer) -> None:
    whole = server.writer
    server.writer = lambda body: [{**choice, "logprobs": []} for choice in whole(body)]
    server.refusal = lambda body: (400, {"error": "no support for logprobs"}) if "logprobs" in body else None
    model = OpenAIModel(server.base, "tiny", QUICK)
    samples = model.generate(["a"], THREE, [0])[0]
    assert [sample.logprob for sample in samples] == [None] * 3
    assert [sample.num_tokens for sample in samples] == [0] * 3
    model.close()


def test_retry_after_makes_all_threads_wait(server: OpenAIServer) -> None:
    server.fault = lambda number: "busy" if number == 0 else ""
    server.retry_after = "0.7"
    model = OpenAIModel(server.base, "tiny", QUICK)
    began = time.monotonic()
    first = ThreadPoolExecutor(1)
    waiting = first.submit(model.generate, ["a"], THREE, [0])
    while not server.requests:
        time.sleep(0.01)
    time.sleep(0.1)
    model.generate(["b"], THREE, [0])
    assert time.monotonic() - began > 0.65
    assert texts(waiting.result())[0][0] == text_of("a", 0, 0)
    first.shutdown()
    model.close()


def test_requests_stay_within_their_number_and_rate(server: OpenAIServer) -> None:
    server.fault = lambda number: "slow"
    server.slow_seconds = 0.05
    model = OpenAIModel(server.base, "tiny", replace(QUICK, requests=3))
    model.generate([str(n) for n in range(12)], THREE, range(12))
    assert server.most_at_once == 3
    model.close()
    server.fault = lambda number: ""
    paced = OpenAIModel(server.base, "tiny", replace(QUICK, requests_per_minute=600))
    began = time.monotonic()
    paced.generate([str(n) for n in range(6)], THREE, range(6))
    assert time.monotonic() - began >= 0.5
    paced.close()


def test_closing_ends_calls_that_wait(server: OpenAIServer) -> None:
    server.fault = lambda number: "busy"
    server.retry_after = "20"
    model = OpenAIModel(server.base, "tiny", replace(QUICK, patience=1000))
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(model.generate, ["a", "b"], THREE, [0, 0])
        while not server.requests:
            time.sleep(0.01)
        time.sleep(0.05)
        model.close()
        with pytest.raises(policy.PolicyClosed):
            waiting.result(timeout=5)


def test_scores_and_vectors_are_read_from_the_endpoint(server: OpenAIServer) -> None:
    server.echo = lambda text: {"text_offset": [0, 3, 6], "token_logprobs": [None, -1.0, -2.5], "tokens": ["", "", ""]}
    model = OpenAIModel(server.base, "tiny", QUICK)
    assert model.score("abcdef", "ghi") == -2.5
    assert model.score("abcde", "fghi") == -3.5  # the token across the border counts
    assert np.allclose(model.embed(["x", "y"]), [[0.6, 0.8]] * 2)
    server.refusal = lambda body: (400, {"error": "no"})
    with pytest.raises(UserError, match="embeds no texts"):
        model.embed(["x"])
    with pytest.raises(UserError, match="scores no texts"):
        model.score("a", "b")
    model.close()


@pytest.mark.parametrize(
    ("base", "model", "words"),
    [
        ("127.0.0.1:1/v1", "m", "expected http://host:port/v1#model"),
        ("ftp://host/v1", "m", "expected http://host:port/v1#model"),
        ("http://me:hunter2@host/v1", "m", f"leave secrets out of the address, and give them in {TOKEN_VARIABLE}"),
        ("http://host/v1?api_key=hunter2", "m", "leave secrets out of the address"),
        ("http://[::1/v1", "m", "not an address"),
        ("http://host:99999/v1", "m", "not an address"),
    ],
)
def test_addresses_that_are_none_or_hold_secrets_are_refused(base: str, model: str, words: str) -> None:
    with pytest.raises(UserError, match=words) as caught:
        OpenAIModel(base, model)
    assert "hunter2" not in str(caught.value)


def test_what_is_not_there_is_said_at_once(server: OpenAIServer) -> None:
    with pytest.raises(UserError, match=r"#big: there is no such model \(it has tiny\)"):
        OpenAIModel(server.base, "big")
    only = OpenAIModel(server.base, None)
    assert only.name.endswith("#tiny")
    only.close()
    server.models = ["one", "two"]
    with pytest.raises(UserError, match=r"name a model behind # \(it has one, two\)"):
        OpenAIModel(server.base, None)
    with pytest.raises(policy.PolicyUnreachable, match="cannot be reached"):
        OpenAIModel("http://127.0.0.1:1/v1", "m")


def test_tokens_come_from_a_file_or_the_environment_and_are_told_to_nobody(
    server: OpenAIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.token = KEY
    with pytest.raises(policy.PolicyAccessDenied, match="401: give one in"):
        OpenAIModel(server.base, "tiny", QUICK)
    (tmp_path / "key").write_text(f"{KEY}\n")
    given = OpenAIModel(server.base, "tiny", replace(QUICK, token_file=str(tmp_path / "key")))
    assert texts(given.generate(["a"], THREE, [0]))[0][0] == text_of("a", 0, 0)
    given.close()
    monkeypatch.setenv(TOKEN_VARIABLE, "another")
    with pytest.raises(policy.PolicyAccessDenied, match="401: it refuses our token") as caught:
        OpenAIModel(server.base, "tiny", QUICK)
    assert "another" not in str(caught.value)
    for text, words in (("two words", "holds no token"), ("clé", "holds no token"), ("", "is empty")):
        (tmp_path / "key").write_text(text, encoding="utf-8")
        with pytest.raises(UserError, match=words) as failed:
            replace(QUICK, token_file=str(tmp_path / "key")).token()
        assert not text or text not in str(failed.value)
    with pytest.raises(UserError, match="cannot be read: No such file"):
        replace(QUICK, token_file=str(tmp_path / "none")).token()


def hammer(server: OpenAIServer, calls: int, threads: int, stream: bool, share: float) -> None:
    """Ask from many threads while a share of the answers is bad; every prompt must get its own texts, in order."""
    rng = random.Random(0)
    plan = [rng.choice(FAULTS) if rng.random() < share else "" for _ in range(20 * calls)]
    server.fault = lambda number: plan[number]
    server.token, server.slow_seconds = KEY, 1.2
    how = EndpointOptions(timeout=0.8, patience=60.0, requests=threads, stream=stream)
    model = OpenAIModel(server.base, "tiny", how)
    wrong: list[str] = []

    def ask(call: int) -> None:
        prompts, seeds = [f"{call}/{part}" for part in range(1 + call % 3)], [100 * call + part for part in range(3)]
        options = GenerationOptions(num_samples=1 + call % 4, max_new_tokens=8)
        answers = model.generate(prompts, options, seeds[: len(prompts)])
        for prompt, seed, samples in zip(prompts, seeds, answers, strict=False):
            if len(samples) != options.num_samples or samples[0].text != text_of(prompt, seed, 0):
                wrong.append(prompt)
            if len({sample.text for sample in samples}) != len(samples):
                wrong.append(prompt)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(ask, range(calls)))
    model.close()
    assert wrong == []


@pytest.mark.parametrize("stream", [False, True])
def test_many_threads_and_a_bad_server_end_with_the_right_texts_and_no_word_of_the_key(
    server: OpenAIServer,
    stream: bool,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, KEY)
    caplog.set_level(logging.DEBUG)
    hammer(server, calls=120, threads=16, stream=stream, share=0.2)
    assert set(server.faults) == {"", *FAULTS}
    written = capfd.readouterr()
    assert KEY not in caplog.text and KEY not in written.out + written.err
    assert caplog.records  # what was repeated is said to those who ask for it
