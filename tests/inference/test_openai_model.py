"""A model behind an OpenAI-compatible endpoint that fails in every way: right texts, in order, and no secret told."""

import json
import logging
import random
import re
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nanolean.tests.each import each
from nanoproof.common.errors import UserError
from nanoproof.inference import openai_answers, openai_model
from nanoproof.inference.language_model import GenerationOptions, TextSample
from nanoproof.inference.model_options import TOKEN_VARIABLE, EndpointOptions
from nanoproof.inference.openai_answers import listed_models
from nanoproof.inference.openai_model import OpenAIModel
from nanoproof.search import policy
from tests.fakes.openai_server import FAULTS, OpenAIServer, openai_server, text_of
from tests.helpers import NIGHTLY

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


def test_headers_that_trickle_meet_the_deadline_too(server: OpenAIServer) -> None:
    server.fault = lambda number: "trickling headers" if number == 0 else ""
    model = OpenAIModel(server.base, "tiny", replace(QUICK, timeout=0.3))
    assert texts(model.generate(["a"], THREE, [7])) == [[text_of("a", 7, index) for index in range(3)]]
    assert server.hung_up.wait(5), "the client read on to the end"
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
        ("http://host..example/v1", "m", "not an address"),
        ("http://host/v1\nHost: other", "m", "not an address"),
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


@pytest.mark.nightly
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


# -- servers of other makes --------------------------------------------------------------------------------------


def writing(*choices: tuple[str | None, str | None]):  # type: ignore[no-untyped-def]
    """Write texts that end for given reasons, as often as is asked for."""

    def write(body: Mapping[str, Any]) -> list[dict[str, Any]]:
        chosen = [choices[index % len(choices)] for index in range(body.get("n", 1))]
        return [{"index": i, "text": text, "logprobs": [], "reason": why} for i, (text, why) in enumerate(chosen)]

    return write


@each("chat", [False, True])
@each(
    ("reason", "finished"),
    [(why, True) for why in ("stop", "eosFound", "stop_sequence", "complete", "EOS", "something new")]
    + [(why, True) for why in ("endTurn", "FinishReason.STOP", " stop ", {"type": "stop"})]
    + [(why, False) for why in ("length", "max_tokens", "model_length", "content_filter", None, "", {"type": "length"})]
    + [(why, False) for why in ("FINISH_REASON_MAX_TOKENS", "maxTokens", "a new limit of tokens", "truncated")]
    + [(why, False) for why in ("repetition", "not_finished", "guardrail_intervened", "ERROR_TOXIC", "None")],
)
def test_what_a_reason_means_is_in_one_table(server: OpenAIServer, chat: bool, reason: Any, finished: bool) -> None:
    server.writer, before = writing(("simp", reason)), len(server.requests)
    ((sample,),) = OpenAIModel(server.base, "tiny", QUICK, chat=chat).generate(["a"], GenerationOptions(), [1])
    assert (sample.text, sample.finished) == ("simp", finished) and len(server.requests) == before + 1


@pytest.mark.parametrize("chat", [False, True])
def test_a_text_that_was_cut_off_is_a_sample_though_there_is_nothing_of_it(server: OpenAIServer, chat: bool) -> None:
    server.writer = writing(("simp", "stop"), (None, "length"))
    (samples,) = OpenAIModel(server.base, "tiny", QUICK, chat=chat).generate(["a"], replace(THREE, num_samples=8), [1])
    assert [(sample.text, sample.finished) for sample in samples] == [("simp", True), ("", False)] * 4
    assert len(server.requests) == 1


def test_texts_without_any_reason_are_said_once(server: OpenAIServer, caplog: pytest.LogCaptureFixture) -> None:
    openai_answers._warned.clear()
    server.writer = writing(("simp", None))
    OpenAIModel(server.base, "tiny", QUICK).generate(["a", "b"], THREE, [1, 2])
    assert caplog.text.count("without finish_reason") == 1


def test_an_unknown_reason_is_said_once(server: OpenAIServer, caplog: pytest.LogCaptureFixture) -> None:
    server.writer = writing(("simp", "sat down"), ("", "sat down"))
    (samples,) = OpenAIModel(server.base, "tiny", QUICK).generate(["a"], THREE, [1])
    assert [sample.finished for sample in samples] == [True, False, True]
    assert caplog.text.count("sat down") == 1


@pytest.mark.parametrize("reason", ["error", "modelUnloaded", "prefill_failed"])
def test_a_text_that_the_server_failed_at_is_asked_for_again(server: OpenAIServer, reason: str) -> None:
    good, bad = writing(("simp", "stop")), writing(("half", reason))
    server.writer = lambda body: bad(body) if len(server.requests) == 1 else good(body)
    (samples,) = OpenAIModel(server.base, "tiny", QUICK).generate(["a"], THREE, [1])
    assert len(server.requests) == 2 and {sample.text for sample in samples} == {"simp"}


def test_the_parts_of_a_message_are_its_text(server: OpenAIServer) -> None:
    parts = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "simp"}]
    server.writer = lambda body: [{"index": 0, "text": parts, "logprobs": [], "reason": "stop"}]
    ((sample,),) = OpenAIModel(server.base, "tiny", QUICK, chat=True).generate(["a"], GenerationOptions(), [1])
    assert sample.text == "simp"


ONE = "Invalid n value (currently only n = 1 is supported)"


@pytest.mark.parametrize(
    ("most", "said"),
    [
        (1, ONE),
        (1, "Only one completion choice is allowed"),
        (2, "n must be at most 2"),
        (3, "`n` must be <= 3"),
        (1, ""),
        (4, "You requested 8 choices"),
        (1, (422, {"detail": [{"loc": ["body", "n"], "msg": "Input should be less than or equal to 1"}]})),
        (1, (400, {"error": {"message": "must be between 1 and 1", "param": "n"}})),
        (1, (501, {"error": "n > 1 is not implemented"})),
        (1, (500, b"n > 1 is not supported")),
        (1, (400, "n is limited to 1")),
        (1, (400, {"errors": [{"message": "n is limited to 1"}]})),
        (1, (400, {"error": "Bad Request", "message": "body/n must be equal to constant"})),
        (1, (400, {"error": {"message": "Provider returned error", "metadata": {"raw": json.dumps({"error": ONE})}}})),
        (1, "Malformed input request: extraneous key [n] is not permitted"),
        (1, "n cannot be greater than 1"),
        (1, "Argument not supported on this model: n"),
        (1, "1 validation error for Request\nn\n  Extra inputs are not permitted"),
        (1, "We do not generate multiple responses"),
    ],
)
def test_a_server_that_takes_few_texts_at_a_time_is_asked_for_few(
    server: OpenAIServer, caplog: pytest.LogCaptureFixture, most: int, said: Any
) -> None:
    answer = said
    if isinstance(said, str):
        answer = (400, {"error": {"message": said}})
    server.refusal = lambda body: answer if body.get("n", 1) > most else None
    model = OpenAIModel(server.base, "tiny", QUICK)
    for prompt in ("a", "b"):
        (samples,) = model.generate([prompt], replace(THREE, num_samples=8), [1])
        assert len({sample.text for sample in samples}) == 8
    assert all(body["n"] <= most for body in server.requests)
    assert 1 <= len(caplog.records) <= 3


@pytest.mark.parametrize(
    "refused", [["seed"], ["logprobs"], ["stop"], ["temperature"], ["seed", "logprobs", "stop", "top_p", "n"]]
)
def test_parameters_that_a_server_refuses_by_name_are_left_out(
    server: OpenAIServer, caplog: pytest.LogCaptureFixture, refused: list[str]
) -> None:
    def refuse(body: Mapping[str, Any]) -> tuple[int, Any] | None:
        for name in refused:
            if name in body:
                return 422, {"detail": [{"loc": ["body", name], "msg": "extra fields not permitted"}]}
        return None

    server.refusal = refuse
    model = OpenAIModel(server.base, "tiny", QUICK)
    options = GenerationOptions(stop=("h",))
    for prompt in ("a", "b"):
        ((sample,),) = model.generate([prompt], options, [1])
        assert sample.text == "exact "  # the texts of `stop` hold all the same
    assert len(server.requests) == 2
    assert len(caplog.records) == len([name for name in refused if name != "n"])


def test_an_endpoint_that_only_streams_is_asked_for_pieces(server: OpenAIServer) -> None:
    words = "This model only support stream mode, please enable the stream parameter to access the model."
    server.refusal = lambda body: None if body.get("stream") else (400, {"error": {"message": words}})
    (samples,) = OpenAIModel(server.base, "tiny", QUICK, chat=True).generate(["a"], THREE, [1])
    assert len(samples) == 3


@pytest.mark.parametrize("fault", ["unsaid", "no line break", "cr", "crlf"])
def test_a_stream_is_whole_where_every_text_has_ended(server: OpenAIServer, fault: str) -> None:
    server.fault = lambda number: fault
    model = OpenAIModel(server.base, "tiny", replace(QUICK, stream=True, patience=0.0))
    (samples,) = model.generate(["a"], THREE, [1])
    assert len(samples) == 3 and len(server.requests) == 1


def events(*said: Any) -> bytes:
    lines = [event if isinstance(event, bytes) else json.dumps(event).encode() for event in said]
    return b"".join(b"data: " + line + b"\n\n" for line in lines)


def piece(text: str | None, reason: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": reason, **more}]}


@pytest.mark.parametrize(
    "between",
    [
        {"type": "ping"},
        {"usage": {"completion_tokens": 3}},
        {"choices": None, "usage": {"completion_tokens": 3}},
        {"choices": [{"index": 0, "delta": None, "finish_reason": None}]},
        b": PROCESSING",
        b"",
    ],
)
def test_what_a_stream_says_besides_its_texts_is_passed_over(server: OpenAIServer, between: Any) -> None:
    # Declared as JSON, as proxies do; with the whole message at the end, as some do that put it together themselves.
    whole = {"message": {"content": "simp"}}
    stream = events(between, piece("si"), between, piece("mp"), piece("", "stop", **whole), b"[DONE]")
    server.refusal = lambda body: (200, stream)
    model = OpenAIModel(server.base, "tiny", replace(QUICK, patience=0.0, stream=True), chat=True)
    ((sample,),) = model.generate(["a"], GenerationOptions(), [1])
    assert (sample.text, sample.finished) == ("simp", True)


def test_of_signs_of_life_alone_there_is_no_sample(server: OpenAIServer) -> None:
    server.refusal = lambda body: (200, events({"choices": [{"index": 0}]}, b"[DONE]"))
    model = OpenAIModel(server.base, "tiny", replace(QUICK, patience=0.0, stream=True), chat=True)
    with pytest.raises(policy.PolicyServerError, match="there is no text in it"):
        model.generate(["a"], GenerationOptions(), [1])


def test_the_error_at_the_end_of_a_stream_is_told(server: OpenAIServer) -> None:
    stream = events(piece("si"), {"error": {"message": "the provider is gone"}, **piece("", "error")})
    server.refusal = lambda body: (200, stream)
    model = OpenAIModel(server.base, "tiny", replace(QUICK, patience=0.0, stream=True), chat=True)
    with pytest.raises(policy.PolicyServerError, match="the provider is gone"):
        model.generate(["a"], THREE, [1])


@pytest.mark.parametrize(("status", "times"), [(520, 2), (524, 2), (201, 1), (501, 1)])
def test_statuses_of_proxies_pass_and_created_is_an_answer(server: OpenAIServer, status: int, times: int) -> None:
    asked: list[Any] = []
    good = {"choices": [{"index": 0, "message": {"content": "simp"}, "finish_reason": "stop"}]}
    server.refusal = lambda body: asked.append(body) or (status if len(asked) == 1 else 200, good)
    model = OpenAIModel(server.base, "tiny", QUICK, chat=True)
    if status == 501:
        with pytest.raises(policy.PolicyServerError, match="answered 501"):
            model.generate(["a"], GenerationOptions(), [1])
    else:
        assert texts(model.generate(["a"], GenerationOptions(), [1])) == [["simp"]]
    assert len(asked) == times


def test_a_body_that_is_not_as_compressed_as_it_says_is_nonsense(server: OpenAIServer) -> None:
    server.refusal = lambda body: (200, {"choices": []}, {"Content-Encoding": "gzip"})
    with pytest.raises(policy.PolicyServerError, match="answered nonsense"):
        OpenAIModel(server.base, "tiny", replace(QUICK, patience=0.0)).generate(["a"], THREE, [1])


def test_a_server_that_loads_its_model_is_waited_for_where_its_name_is_asked(
    server: OpenAIServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_model, "TOLD_PAUSE_SECONDS", 0.02)
    server.loading = 2
    assert OpenAIModel(server.base, None, QUICK).name.endswith("#tiny")
    assert caplog.text.count("503: Loading model; asked again for up to 20 s more") == 1
    server.loading = 1000
    with pytest.raises(policy.PolicyUnreachable, match="503: Loading model"):
        OpenAIModel(server.base, None, replace(QUICK, patience=0.05))


@pytest.mark.parametrize(
    ("listed", "name"),
    [(["openai/*"], "openai/gpt-9"), (["*"], "any"), (["a/b", "c"], "a/b:nitro"), (["a/b:free"], "a/b:free")],
)
def test_names_that_a_list_covers_without_having_them_are_taken(
    server: OpenAIServer, listed: list[str], name: str
) -> None:
    server.models = listed
    assert OpenAIModel(server.base, name, QUICK).name.endswith(f"#{name}")
    with pytest.raises(UserError, match="there is no such model"):
        server.models = ["a/b", "c"]
        OpenAIModel(server.base, "b:nitro", QUICK)


@pytest.mark.parametrize("folder", ["", "/api"])
@pytest.mark.parametrize(
    "answer",
    [
        (404, b"404 page not found"),
        (405, b"<html>"),
        (200, {"content": "simp", "stop": True}),
        (200, {"error": "Unexpected endpoint or method. (POST /chat/completions)"}),
    ],
)
def test_an_address_that_stops_too_early_is_told_so(server: OpenAIServer, folder: str, answer: Any) -> None:
    server.refusal = lambda body: answer
    model = OpenAIModel(server.base.replace("/v1", folder), "tiny", replace(QUICK, patience=0.0), chat=True)
    with pytest.raises(policy.PolicyServerError, match=r"the address goes up to where \S+ follows, mostly /v1"):
        model.generate(["a"], THREE, [1])


def test_an_address_that_wants_another_scheme_or_form_is_told_so(server: OpenAIServer) -> None:
    server.refusal = lambda body: (400, b"Client sent an HTTP request to an HTTPS server.")
    with pytest.raises(UserError, match=r"give https://"):
        OpenAIModel(server.base, "tiny", QUICK).generate(["a"], THREE, [1])
    with pytest.raises(UserError, match=r"of Azure give https://HOST/openai/v1#DEPLOYMENT"):
        OpenAIModel("https://x.example/openai/deployments/d/chat/completions?api-version=2024-10-21", None)


@pytest.mark.parametrize(
    ("said", "helps"),
    [
        ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", True),
        ("'max_tokens' or 'max_completion_tokens' is too large: 1024. This model's maximum context length is 9", False),
    ],
)
def test_the_length_of_a_text_gets_its_other_name_where_the_first_is_unknown(
    server: OpenAIServer, caplog: pytest.LogCaptureFixture, said: str, helps: bool
) -> None:
    server.refusal = lambda body: (400, {"error": {"message": said}}) if "max_tokens" in body else None
    model = OpenAIModel(server.base, "tiny", QUICK)
    if helps:
        assert len(model.generate(["a"], THREE, [1])[0]) == 3
    else:
        with pytest.raises(policy.BadState, match="too large"):
            model.generate(["a"], THREE, [1])
    assert len(caplog.records) == int(helps)


@pytest.mark.parametrize(("seconds", "is_there"), [(0.3, True), (3.0, False)])
def test_who_waits_for_the_list_of_models_is_told(
    server: OpenAIServer,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    seconds: float,
    is_there: bool,
) -> None:
    monkeypatch.setattr(openai_model, "SILENCE_SECONDS", 0.1)
    monkeypatch.setattr(openai_model, "LONGEST_SILENCE_SECONDS", 20.0 if is_there else 0.3)
    server.silent_seconds = seconds
    try:
        found = OpenAIModel(server.base, "tiny").name
    except policy.PolicyUnreachable as error:
        found = str(error)
    assert ("cannot be reached" not in found) == is_there
    assert "has not answered in 0.1 s" in caplog.text


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((200, {"error": {"message": "Insufficient credits", "code": 402}}), "402: Insufficient credits"),
        ((200, {"object": "error", "message": "no such adapter", "code": 404}), "404: no such adapter"),
        ((200, {"code": "InvalidParameter", "msg": "it is too long", "data": None}), "it is too long"),
        ((429, {"error": {"message": "You exceeded your current quota"}}), "429: You exceeded"),
        ((400, {"error_code": 336003, "error_msg": "the max input is 9"}), "400: the max input is 9"),
        ((403, {"error": {"message": "Country not supported"}}), "403: .*Country not supported"),
        ((400, {"error": {"message": "max_tokens is too large: at most 9 completion tokens"}}), "is too large"),
        ((200, {"choices": [{"message": {}, "finish_reason": "error", "error": {"message": "down"}}]}), "down"),
        ((200, {"error": {"message": "who are you?", "code": "401"}}), "answered 401: .*who are you"),
        ((200, {"error": {"message": "come back", "status": 429}}), "answered 429: come back"),
        ((200, {"choices": [{"message": "simp", "finish_reason": "stop"}]}), "must have a message or a text"),
    ],
)
def test_what_an_endpoint_says_is_told_wherever_it_says_it(server: OpenAIServer, answer: Any, words: str) -> None:
    server.refusal = lambda body: answer
    with pytest.raises(policy.PolicyError, match=words):
        OpenAIModel(server.base, "tiny", replace(QUICK, patience=0.0), chat=True).generate(["a"], THREE, [1])


@pytest.mark.parametrize("listed", [b"[" * 200_000, b" " * (65 << 20)])
def test_a_list_of_models_that_cannot_be_one_is_none(server: OpenAIServer, listed: bytes) -> None:
    server.listed = listed
    assert OpenAIModel(server.base, "tiny", QUICK).listed() == []


def test_a_text_that_is_not_unicode_is_refused_before_it_is_sent(server: OpenAIServer) -> None:
    with pytest.raises(policy.BadState, match="lone surrogate"):
        OpenAIModel(server.base, "tiny", QUICK).generate(["h \ud83d"], THREE, [1])
    assert not server.requests


@pytest.mark.parametrize(("pieces", "text"), [(("h \ud835", "\udd52"), "h 𝕒"), (("h \ud835",), "h \ufffd")])
def test_halves_of_characters_are_joined_or_replaced(server: OpenAIServer, pieces: tuple[str], text: str) -> None:
    parts = [{"type": "text", "text": piece} for piece in pieces]
    server.refusal = lambda body: (200, {"choices": [{"message": {"content": parts}, "finish_reason": "stop"}] * 3})
    (samples,) = OpenAIModel(server.base, "tiny", QUICK, chat=True).generate(["a"], THREE, [1])
    assert [sample.text for sample in samples] == [text] * 3


@pytest.mark.parametrize("count", [-5, 10**400, "3", None])
def test_a_number_of_tokens_that_none_can_have_counts_as_none(server: OpenAIServer, count: Any) -> None:
    choice = {"text": "simp", "finish_reason": "stop"}
    server.refusal = lambda body: (200, {"choices": [choice] * 3, "usage": {"completion_tokens": count}})
    (samples,) = OpenAIModel(server.base, "tiny", QUICK).generate(["a"], THREE, [1])
    assert [sample.num_tokens for sample in samples] == [0] * 3


def test_a_quota_of_a_minute_passes(server: OpenAIServer) -> None:
    said = {"error": {"message": "You exceeded your current quota.\nPlease retry in 9 s"}}
    server.refusal = lambda body: (429, said)
    with pytest.raises(policy.PolicyBusy):
        OpenAIModel(server.base, "tiny", replace(QUICK, patience=0.0)).generate(["a"], THREE, [1])


@pytest.mark.parametrize(
    "content", [7, True, *([{"logprob": number}, None] for number in (None, float("nan"), float("-inf"), -9999.0))]
)
def test_what_is_no_log_probability_counts_as_none(server: OpenAIServer, content: Any) -> None:
    message = {"message": {"content": "simp"}, "finish_reason": "stop", "index": 0}
    server.refusal = lambda body: (200, {"choices": [{**message, "logprobs": {"content": content}}]})
    (samples,) = OpenAIModel(server.base, "tiny", QUICK, chat=True).generate(["a"], THREE, [1])
    assert [sample.logprob for sample in samples] == [None] * 3


def test_texts_that_all_have_one_number_stay_apart(server: OpenAIServer) -> None:
    choices = [{"index": 0, "message": {"content": text}, "finish_reason": "stop"} for text in ("a", "b", "c")]
    server.refusal = lambda body: (200, {"choices": choices})
    (samples,) = OpenAIModel(server.base, "tiny", QUICK, chat=True).generate(["a"], THREE, [1])
    assert [sample.text for sample in samples] == ["a", "b", "c"]


@pytest.mark.parametrize("listed", [[{"id": "tiny"}], {"models": [{"model": "tiny"}]}, {"data": [{"name": "tiny"}]}])
def test_lists_of_models_of_other_makes_are_read(listed: Any) -> None:
    assert listed_models(listed) == ["tiny"]


@pytest.mark.parametrize(
    "listed",
    [
        {"data": [{"id": "a"}], "has_more": True},
        {"data": [{"id": "gpt", "lifecycle_status": "preview"}]},
        {"error": "no"},
    ],
)
def test_lists_that_do_not_say_what_can_be_asked_for_are_none(listed: Any) -> None:
    assert listed_models(listed) == []


@pytest.mark.parametrize(("listed", "name"), [("tiny:latest", "tiny"), ("models/tiny", "tiny"), ("tiny", None)])
def test_an_address_as_people_copy_it_and_a_name_as_people_say_it(server: OpenAIServer, listed: str, name: str) -> None:
    server.models = [listed, "other"][: 1 + (name is not None)]
    model = OpenAIModel(f" {server.base}/chat/completions ", name, QUICK, chat=True)
    assert model.name == f"openai:{server.base}#{listed}"


def test_a_temperature_that_was_asked_for_is_not_left_out(server: OpenAIServer) -> None:
    server.refusal = lambda body: (400, {"error": {"message": "temperature: only the default is supported"}})
    with pytest.raises(policy.BadState, match="only the default is supported"):
        OpenAIModel(server.base, "tiny", QUICK).generate(["a"], replace(THREE, temperature=0.6), [1])


def test_what_a_server_refuses_for_another_reason_is_raised_at_once(server: OpenAIServer) -> None:
    server.refusal = lambda body: (400, {"error": {"message": "maximum context length is 9; 4 in the completion"}})
    with pytest.raises(policy.BadState, match="maximum context length"):
        OpenAIModel(server.base, "tiny", QUICK).generate(["a"], THREE, [1])


@given(st.integers(0, 2**32), st.sampled_from([1, 2, 3, 8]), st.booleans())
@settings(max_examples=10 * NIGHTLY, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_samples_are_what_was_drawn_whatever_the_endpoint_does(
    server: OpenAIServer, seed: int, most: int, ignores_n: bool
) -> None:
    """Nothing chooses among texts: of texts of which half are proofs the samples are those that came, in order.

    So k-of-n is unbiased. The server gives fewer texts than asked for, none at all, cuts off, and fails for a while.
    """
    rng = random.Random(seed)
    drawn: list[str] = []

    def write(body: Mapping[str, Any]) -> list[dict[str, Any]]:
        count = 1 if ignores_n else rng.randint(1, body.get("n", 1))
        choices = []
        for index in range(count):
            text, reason = rng.choice([("good", "stop"), ("bad", "eos_token"), (None, "length"), ("go", "length")])
            choices.append({"index": index, "text": text, "logprobs": [], "reason": reason})
            drawn.append(text or "")
        return choices

    def refuse(body: Mapping[str, Any]) -> tuple[int, Any] | None:
        if body["n"] > most:
            return 400, {"error": ONE}
        return (503, {"error": "later"}) if rng.random() < 0.2 else None

    server.writer, server.refusal, server.retry_after = write, refuse, "0"
    (samples,) = OpenAIModel(server.base, "tiny", QUICK, chat=True).generate(["a"], replace(THREE, num_samples=8), [1])
    assert [sample.text for sample in samples] == drawn[:8]
    assert all(sample.finished == (sample.text in ("good", "bad")) for sample in samples)


# -- proxies -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])  # servers say that they listen on the second
def test_an_endpoint_on_this_machine_is_reached_past_a_proxy(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    model = OpenAIModel(server.base.replace("127.0.0.1", host), "tiny", QUICK)
    assert len(model.generate(["a"], THREE, [1])[0]) == 3


@pytest.mark.parametrize(
    ("proxy", "shown"),
    [
        ("http://user:secret@127.0.0.1:9", "http://127.0.0.1:9"),
        ("http://user:se@secret@127.0.0.1:9", "http://127.0.0.1:9"),
        ("user:secret@127.0.0.1:9", "127.0.0.1:9"),
    ],
)
def test_a_proxy_is_named_where_a_connection_fails(monkeypatch: pytest.MonkeyPatch, proxy: str, shown: str) -> None:
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, proxy)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with pytest.raises(policy.PolicyUnreachable, match=rf"through the proxy {shown} \(of HTTP_PROXY") as caught:
        OpenAIModel("http://models.example:8000/v1", "tiny", QUICK)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("status", [200, 403, 407])
def test_a_proxy_that_answers_itself_is_named(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    proxy = server.base.removesuffix("/v1")
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, proxy)
    monkeypatch.delenv("NO_PROXY", raising=False)
    server.refusal = lambda body: (status, b"<html>Log in</html>")
    model = OpenAIModel("http://models.example:8000/v1", "tiny", replace(QUICK, patience=0.0))
    with pytest.raises(policy.PolicyError, match=f"through the proxy {proxy}"):
        model.generate(["a"], THREE, [1])


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "socks4://127.0.0.1:9", "http://[::1"])
def test_a_proxy_that_cannot_be_used_is_an_error_of_one_line(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setitem(sys.modules, "socksio", None)  # as where it is not installed
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, proxy)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with pytest.raises(UserError, match=re.escape(f"through the proxy {proxy}")):
        OpenAIModel("http://models.example:8000/v1", "tiny", QUICK)


def test_certificates_that_are_not_there_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "no.pem"))
    openai_model._certificates.cache_clear()
    with pytest.raises(UserError, match=r"the certificates of .*no\.pem cannot be read"):
        OpenAIModel("https://models.example/v1", "tiny", QUICK)


def test_the_usual_variable_is_honoured_but_its_token_goes_nowhere_unencrypted(monkeypatch):
    monkeypatch.delenv("NANOPROOF_MODEL_TOKEN", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "usual")
    assert EndpointOptions().token(private=True) == "usual"
    assert EndpointOptions().token(private=False) is None
    monkeypatch.setenv("NANOPROOF_MODEL_TOKEN", "own")
    assert EndpointOptions().token(private=True) == EndpointOptions().token(private=False) == "own"
