"""What other programs are answered over a socket: OpenAI's completions, LeanDojo's external API, models by name."""

import json
import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import requests
import torch

from nanolean.tests.each import each
from nanoproof.common.errors import UserError
from nanoproof.common.web.http_server import HttpServer, bind
from nanoproof.inference.engine import Engine
from nanoproof.inference.language_model import GenerationOptions, TextSample
from nanoproof.inference.model_options import EndpointOptions
from nanoproof.inference.openai_model import OpenAIModel
from nanoproof.inference.own_model import OwnModel
from nanoproof.model.gpt import GPT, GPTConfig
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.policy import endpoints
from nanoproof.policy.policy_options import short_name
from nanoproof.policy.prompt_formats import FORMATS
from nanoproof.policy.protocol import SamplingConfig, ServiceOptions
from nanoproof.policy.served_models import ServedModel, ServedModels, merged_scores, served_policy
from nanoproof.policy.server import PolicyService, create_app
from nanoproof.policy.tactic_policy import TacticPolicy
from nanoproof.policy.text_policy import TextPolicy
from nanoproof.search.policy import BadState, PolicyServerError, PolicyUnreachable
from tests.helpers import wait_for

STATE = "h : p\n⊢ p"
PROMPT = f"{STATE}\n<|tactic|>"
SAMPLING = SamplingConfig(num_sampled_tactics=16, max_gen_tokens=24, first_token_occurrences_cap=None)
TOKEN = "s3cret"


class Scripted:
    """A model of others, which writes given texts; `error` is raised instead, and `gate` holds it."""

    name = "scripted"

    def __init__(self) -> None:
        self.samples = [TextSample("simp", -1.0, 2, True)]
        self.error: Exception | None = None
        self.gate = threading.Event()
        self.gate.set()
        self.asked: list[tuple[list[str], GenerationOptions, list[int]]] = []

    def generate(
        self, prompts: Sequence[str], options: GenerationOptions, seeds: Sequence[int]
    ) -> list[list[TextSample]]:
        self.asked.append((list(prompts), options, list(seeds)))
        self.gate.wait(20)
        if self.error is not None:
            raise self.error
        return [self.samples for _ in prompts]

    def score(self, prompt: str, continuation: str) -> float:
        raise NotImplementedError

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        raise UserError("scripted embeds no texts")

    def num_tokens(self, text: str) -> int:
        return len(text.split())

    def close(self) -> None:
        pass


class Countdown:
    """A scorer for which a tactic leaves as many steps as it has words."""

    def steps_remaining(self, goal: str, tactics: Sequence[str], prefix: str | None = None) -> list[float]:
        return [float(len(tactic.split())) for tactic in tactics]


@dataclass
class Serving:
    """A server in this process, its own model, and one of others."""

    base: str
    own: OwnModel
    other: Scripted
    service: PolicyService

    def post(self, path: str, **body: Any) -> requests.Response:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        return requests.post(f"{self.base}{path}", json=body, headers=headers, timeout=20)

    def get(self, path: str) -> requests.Response:
        return requests.get(f"{self.base}{path}", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=20)

    def client(self, special: bool = True, **how: Any) -> OpenAIModel:
        return OpenAIModel(f"{self.base}/v1", "own", EndpointOptions(patience=0, **how), special=special)


@pytest.fixture(scope="module")
def network(words: Tokenizer) -> GPT:
    torch.manual_seed(3)
    config = GPTConfig(vocab_size=words.vocab_size, depth=1, aspect_ratio=16, head_dim=16, sequence_len=96)
    model = GPT.create(config, compute_dtype=torch.float64)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
        broken = [token for token, spelled in enumerate(words.bpe.tokens) if not spelled.isascii()]
        model.head.weight[broken] = 0  # texts are mostly valid UTF-8
        model.head.weight *= 3
    return model


@pytest.fixture(scope="module")
def running(words: Tokenizer, network: GPT) -> Iterator[Serving]:
    with ExitStack() as stack:
        policy = stack.enter_context(TacticPolicy(Engine(network, words), SAMPLING))
        own = OwnModel("own", network, words)
        stack.callback(own.close)
        other = Scripted()
        models = ServedModels(
            [
                served_policy("own", "own", policy),
                ServedModel("other", other, FORMATS["bfs-prover"], SAMPLING),
                ServedModel("scored", other, FORMATS["bfs-prover"], SAMPLING, Countdown()),
                ServedModel("mute", other, None, SAMPLING),
                ServedModel("o/n", other, None, SAMPLING),
            ]
        )
        options = ServiceOptions(port=0, max_requests=8, max_states=4, max_samples=16, longest_text=64)
        service = PolicyService(policy, options, {}, models)
        listener = bind(options)
        server = HttpServer(create_app(service, TOKEN), options, listener)
        threading.Thread(target=server.run, daemon=True).start()
        stack.callback(server.close)
        yield Serving(f"http://127.0.0.1:{listener.getsockname()[1]}", own, other, service)


@pytest.fixture
def serving(running: Serving, monkeypatch: pytest.MonkeyPatch) -> Serving:
    monkeypatch.setenv("NANOPROOF_MODEL_TOKEN", TOKEN)
    running.other.samples = [TextSample("simp", -1.0, 2, True)]
    running.other.error = None
    running.other.asked.clear()
    return running


def texts(answer: requests.Response) -> list[str]:
    return [choice["text"] for choice in answer.json()["choices"]]


# -- completions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [False, True])
def test_our_client_gets_the_samples_that_the_model_gives_here(serving: Serving, stream: bool) -> None:
    options = GenerationOptions(num_samples=4, max_new_tokens=8, temperature=0.8, top_p=0.9, stop=(")",))
    client = serving.client(stream=stream)
    for seed in (3, 2**62 + 1):
        near, far = (model.generate([PROMPT], options, [seed])[0] for model in (serving.own, client))
        assert [(s.text, s.num_tokens, s.finished) for s in far] == [(s.text, s.num_tokens, s.finished) for s in near]
        assert [s.logprob for s in far] == pytest.approx([s.logprob for s in near], abs=1e-6)
    client.close()


def test_a_marker_is_text_unless_the_request_says_otherwise(serving: Serving, words: Tokenizer, network: GPT) -> None:
    options = GenerationOptions(num_samples=4, max_new_tokens=8)
    plain = OwnModel("plain", network, words, special=False)
    wanted = plain.generate([PROMPT], options, [3])[0]
    plain.close()
    client = serving.client(special=False)
    assert [s.text for s in client.generate([PROMPT], options, [3])[0]] == [s.text for s in wanted]
    assert [s.text for s in wanted] != [s.text for s in serving.own.generate([PROMPT], options, [3])[0]]
    client.close()
    refused = serving.post("/v1/completions", model="other", prompt="x", parse_special=True)
    assert refused.status_code == 400 and "reads no control tokens" in refused.json()["error"]["message"]


def test_scores_are_read_from_an_echo(serving: Serving) -> None:
    client = serving.client()
    for prompt in (PROMPT, "x = x "):
        assert client.score(prompt, "exact h") == pytest.approx(serving.own.score(prompt, "exact h"), abs=1e-9)
    client.close()
    body = {"prompt": f"{PROMPT}simp ℕ", "max_tokens": 0, "echo": True, "logprobs": 1}
    choice = serving.post("/v1/completions", **body, parse_special=True).json()["choices"][0]
    listed = choice["logprobs"]
    assert choice["text"] == body["prompt"] == "".join(listed["tokens"])
    assert listed["tokens"][:2] == [f"{STATE}\n", "<|tactic|>"] and listed["token_logprobs"][:2] == [None, None]
    assert listed["text_offset"][:3] == [0, len(STATE) + 1, len(PROMPT)]
    assert sum(listed["token_logprobs"][2:]) == pytest.approx(serving.own.score(PROMPT, "simp ℕ"), abs=1e-9)
    long = serving.post("/v1/completions", prompt="x " * 200, max_tokens=0, echo=True, logprobs=1)
    assert long.status_code == 400 and "and the model 96 positions" in long.json()["error"]["message"]


def test_several_prompts_have_seeds_of_their_own_and_the_first_that_of_the_request(serving: Serving) -> None:
    serving.other.samples = [TextSample("a", None, 1, True), TextSample("b", None, 7, False)]
    answer = serving.post("/v1/completions", model="other", prompt=["x", "x", "y"], n=2, seed=9, logprobs=1).json()
    ((prompts, options, seeds),) = serving.other.asked
    assert prompts == ["x", "x", "y"] and seeds[0] == 9 and len(set(seeds)) == 3
    assert (options.num_samples, options.max_new_tokens, options.temperature, options.top_p) == (2, 16, 1.0, 1.0)
    assert [(c["index"], c["text"], c["finish_reason"]) for c in answer["choices"]] == [
        (index, "ab"[index % 2], ["stop", "length"][index % 2]) for index in range(6)
    ]
    assert all(choice["logprobs"] is None for choice in answer["choices"])
    assert answer["usage"] == {"prompt_tokens": 3, "completion_tokens": 24, "total_tokens": 27}
    assert answer["model"] == "other"
    assert serving.post("/v1/completions", model="other", prompt=["x", "x", "y"], n=2, seed=9).ok
    assert serving.other.asked[1][2] == seeds
    serving.post("/v1/completions", model="other", prompt="x")
    serving.post("/v1/completions", model="other", prompt="x")
    assert serving.other.asked[2][2] != serving.other.asked[3][2]  # without a seed another one each time


def test_a_stream_says_that_it_lives_and_ends_with_done_or_an_error(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoints, "KEEP_ALIVE_SECONDS", 0.02)
    events: dict[bool, list[str]] = {}
    for fails in (False, True):
        serving.other.error = PolicyServerError("out of memory") if fails else None
        serving.other.gate.clear()
        threading.Timer(0.2, serving.other.gate.set).start()
        stream = {"stream": True, "stream_options": {"include_usage": True}}
        answer = serving.post("/v1/completions", model="other", prompt="x", **stream)
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        assert answer.text.startswith(": ")
        events[fails] = [line[6:] for line in answer.text.splitlines() if line.startswith("data: ")]
    first, usage, end = events[False]
    assert json.loads(first)["choices"][0]["text"] == "simp" and json.loads(first)["id"] == json.loads(usage)["id"]
    assert json.loads(usage)["usage"] == {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    assert json.loads(usage)["choices"] == [] and end == "[DONE]"
    assert [json.loads(each)["error"]["message"] for each in events[True]] == ["out of memory"]
    wait_for(lambda: serving.service.open_requests == 0)


@each(
    ("body", "said"),
    [
        ({"prompt": "x", "nn": 1}, "`nn`: there is no such field"),
        ({}, "`prompt`"),
        ({"prompt": [1, 2]}, "`prompt"),
        ({"prompt": []}, "`prompt"),
        ({"prompt": ["x"] * 5}, "`prompt` must be <= 4 on this server, got 5"),
        ({"prompt": "x", "n": 17}, "`n` must be <= 16"),
        ({"prompt": "x", "max_tokens": 65}, "`max_tokens` must be <= 64"),
        ({"prompt": "x", "max_tokens": 0}, "`max_tokens` must be >= 1, unless `echo`"),
        ({"prompt": "x", "best_of": 3}, "`best_of`: this server returns all"),
        ({"prompt": "x", "presence_penalty": 0.5}, "`presence_penalty`"),
        ({"prompt": "x", "suffix": "y"}, "`suffix`"),
        ({"prompt": "x", "temperature": -1}, "`temperature`"),
        ({"prompt": "x", "top_p": 0}, "`top_p`"),
        ({"prompt": "x", "stop": ""}, "`stop`: an empty text"),
        ({"prompt": "x", "stream": "yes"}, "`stream`"),
        ({"prompt": "x", "model": "other", "max_tokens": 0, "echo": True, "logprobs": 1}, "other is none of ours"),
        ({"prompt": "", "max_tokens": 4}, "the prompt is empty"),
    ],
)
def test_what_cannot_be_is_refused_with_the_field(serving: Serving, body: dict[str, Any], said: str) -> None:
    answer = serving.post("/v1/completions", **body)
    error = answer.json()["error"]
    assert answer.status_code == 400 and error["type"] == "invalid_request_error"
    assert said in error["message"] and "\n" not in error["message"]


def test_a_prompt_that_is_too_long_is_refused_unless_its_end_will_do(serving: Serving, words: Tokenizer) -> None:
    tokens = words.encode("exact h " * 60)
    assert len(tokens) > 96
    most = 96 - 8 - 1  # the model has 96 positions, one of them for BOS
    kept, long = (words.decode(tokens[len(tokens) - count :]) for count in (most, most + 1))
    assert [serving.own.num_tokens(text) for text in (kept, long)] == [most, most + 1]
    ask = {"model": "own", "max_tokens": 8, "n": 2, "seed": 5}
    whole, refused = (serving.post("/v1/completions", prompt=text, **ask) for text in (kept, long))
    assert whole.ok and whole.json()["usage"]["prompt_tokens"] == most
    error = refused.json()["error"]
    assert refused.status_code == 400 and error["code"] == "context_length_exceeded"
    assert f"the prompt has {most + 1} tokens, and the model room for {most} beside `max_tokens` 8" in error["message"]
    cut = serving.post("/v1/completions", prompt=long, **ask, truncate_prompt_tokens=-1)
    assert texts(cut) == texts(whole)
    client = serving.client()  # ours cuts, as the model does here
    options = GenerationOptions(num_samples=2, max_new_tokens=8)
    far, near = (model.generate([long + PROMPT], options, [5])[0] for model in (client, serving.own))
    assert [sample.text for sample in far] == [sample.text for sample in near]
    client.close()


def test_every_refusal_below_v1_has_the_shape_that_clients_of_that_api_read(serving: Serving) -> None:
    url, headers = f"{serving.base}/v1/completions", {"Authorization": f"Bearer {TOKEN}"}
    leaves = [serving.service.admit(1) for _ in range(8)]
    full = serving.post("/v1/completions", model="other", prompt="x")
    for leave in leaves:
        leave()
    refused = [
        (full, 429, "rate_limit_error", None),
        (requests.post(url, json={"prompt": "x"}, timeout=20), 401, "authentication_error", "invalid_api_key"),
        (serving.post("/v1/chat/completions", messages=[]), 404, "not_found_error", None),
        (requests.post(url, data="prompt=x", headers=headers, timeout=20), 415, "invalid_request_error", None),
        (serving.get("/v1/completions"), 405, "invalid_request_error", None),
    ]
    for answer, status, kind, code in refused:
        error = answer.json()["error"]
        assert (answer.status_code, error["type"], error["code"]) == (status, kind, code)
        assert error["message"] and "param" in error
    assert refused[0][0].headers["Retry-After"] and refused[1][0].headers["WWW-Authenticate"] == "Bearer"
    assert "/v1/chat/completions here; there are /v1/completions" in refused[2][0].json()["error"]["message"]
    assert serving.get("/nowhere").json() == {"error": "404 Not Found"}


def test_neutral_fields_of_other_clients_are_taken(serving: Serving) -> None:
    neutral = {"presence_penalty": 0, "frequency_penalty": 0.0, "logit_bias": {}, "best_of": 1, "user": "me"}
    none = dict.fromkeys(("n", "stop", "seed", "logprobs", "echo", "stream", "suffix", "max_tokens"))
    assert texts(serving.post("/v1/completions", model="other", prompt="x", **neutral, **none)) == ["simp"]
    assert texts(serving.post("/v1/completions", model="other", prompt="x", echo=True)) == ["xsimp"]


def test_models_are_listed_and_found_by_name_behind_the_token(serving: Serving) -> None:
    listed = serving.get("/v1/models").json()
    assert [each["id"] for each in listed["data"]] == ["own", "other", "scored", "mute", "o/n"]
    assert requests.get(f"{serving.base}/v1/models", timeout=20).status_code == 401
    missing = serving.post("/v1/completions", model="nobody", prompt="x")
    assert missing.status_code == 404
    assert missing.json()["error"]["message"] == "there is no model 'nobody'; served are own, other, scored, mute, o/n"
    assert missing.json()["error"]["code"] == "model_not_found"
    shown = [serving.get(f"/v1/models/{name}") for name in ("other", "o/n", "nobody")]
    assert [each.status_code for each in shown] == [200, 200, 404]
    assert [each.json() for each in shown[:2]] == [listed["data"][1], listed["data"][4]]
    with pytest.raises(UserError, match="there is no such model"):
        OpenAIModel(f"{serving.base}/v1", "nobody", EndpointOptions(patience=0))


@pytest.mark.parametrize(
    ("error", "status"), [(PolicyServerError("broken"), 500), (PolicyUnreachable("gone"), 503), (BadState("no"), 400)]
)
def test_failures_of_a_model_have_their_status(serving: Serving, error: Exception, status: int) -> None:
    serving.other.error = error
    openai = serving.post("/v1/completions", model="other", prompt="x")
    external = serving.post("/generate", name="other", input=STATE)
    assert (openai.status_code, external.status_code) == (status, status)
    assert openai.json()["error"]["message"] == external.json()["error"] == str(error)


def test_a_full_server_says_so_and_who_leaves_frees_a_place_when_the_model_is_done(serving: Serving) -> None:
    serving.other.gate.clear()
    with pytest.raises(requests.exceptions.ReadTimeout):
        url, headers = f"{serving.base}/v1/completions", {"Authorization": f"Bearer {TOKEN}"}
        requests.post(url, json={"model": "other", "prompt": "x"}, headers=headers, timeout=0.3)
    assert serving.service.open_requests == 1
    leaves = [serving.service.admit(1) for _ in range(7)]
    full = serving.post("/v1/completions", model="other", prompt="x")
    assert full.status_code == 429 and "Retry-After" in full.headers
    for leave in leaves:
        leave()
    serving.other.gate.set()
    wait_for(lambda: serving.service.open_requests == 0)


# -- LeanDojo's external API -------------------------------------------------------------------------------------------


def test_candidates_come_once_by_their_probability(serving: Serving) -> None:
    rows = [("simp", -2.0), ("exact h", -0.5), ("simp", -1.0), ("sorry", -0.1), ("", -0.1)]
    serving.other.samples = [TextSample(text, logprob, 2, True) for text, logprob in rows]
    serving.other.samples.append(TextSample("exact", -0.1, 8, False))
    outputs = serving.post("/generate", name="other", input=STATE, prefix=None).json()["outputs"]
    assert [(each["output"], each["score"]) for each in outputs] == [
        ("exact h", pytest.approx(math.exp(-0.5))),
        ("simp", pytest.approx(math.exp(-1))),
    ]
    assert all(each[name] is None for each in outputs for name in ("model_score", "steps_remaining", "reward"))
    assert serving.other.asked[0][0] == [f"{STATE}:::"] and serving.other.asked[0][2] == [0]


def test_a_model_without_numbers_is_scored_by_shares() -> None:
    samples = [TextSample(text, None, 1, True) for text in ("simp", "rfl", "simp", "")]
    assert merged_scores(samples, str.strip) == {"simp": 0.5, "rfl": 0.25}


def test_rewards_are_minus_the_steps_and_sort_the_candidates(serving: Serving) -> None:
    rows = [("a b c", -0.1), ("a", -3.0), ("b", -1.0), ("c d", -0.2)]
    serving.other.samples = [TextSample(text, logprob, 2, True) for text, logprob in rows]
    outputs = serving.post("/generate", name="scored", input=STATE, use_reward=True).json()["outputs"]
    assert [each["output"] for each in outputs] == ["b", "a", "c d", "a b c"]
    assert [each["score"] for each in outputs] == [each["reward"] for each in outputs] == [-1.0, -1.0, -2.0, -3.0]
    assert [each["steps_remaining"] for each in outputs] == [1.0, 1.0, 2.0, 3.0]
    assert outputs[0]["model_score"] == pytest.approx(math.exp(-1))


def test_our_network_scores_with_its_value_head_and_continues_a_prefix(serving: Serving) -> None:
    plain = serving.post("/generate", name="own", input=STATE).json()["outputs"]
    scores = [each["score"] for each in plain]
    assert scores and scores == sorted(scores, reverse=True)
    for step in plain:
        assert math.log(step["score"]) <= 0
    value = serving.service.policy.suggest(STATE).value
    rewarded = serving.post("/generate", name="own", input=STATE, use_reward=True).json()["outputs"]
    assert [each["steps_remaining"] for each in rewarded] == pytest.approx([value] * len(plain), abs=1e-6)
    assert [each["output"] for each in rewarded] == [each["output"] for each in plain]
    begun = serving.post("/generate", name="own", input=STATE, prefix="exact ").json()["outputs"]
    assert begun and all(each["output"].startswith("exact") for each in begun)


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"name": "other", "use_reward": True}, 400, "there is no scorer of the steps remaining for model other"),
        ({"name": "nobody"}, 404, "there is no model 'nobody'"),
        ({"name": "mute"}, 400, "not known how model mute is asked for a tactic"),
        ({"name": "own", "prefix": "x <|tactic|>"}, 400, "prefix: it may hold no control tokens"),
        ({}, 400, "`name`"),
        ({"name": "own", "more": 1}, 400, "`more`: there is no such field"),
    ],
)
def test_the_external_api_refuses_with_the_intended_codes(
    serving: Serving, body: dict[str, Any], status: int, said: str
) -> None:
    answer = serving.post("/generate", input=STATE, **body)
    assert answer.status_code == status and said in answer.json()["error"]


def test_states_still_go_to_the_policy(serving: Serving) -> None:
    answer = serving.post("/generate", states=['a "input" : p\n⊢ p'])
    assert answer.status_code == 200 and len(answer.json()["suggestions"]) == 1


def test_texts_are_encoded_where_the_model_can(serving: Serving) -> None:
    vector = serving.post("/encode", name="own", input="x = x").json()["outputs"]
    assert np.allclose(vector, serving.own.embed(["x = x"])[0]) and math.hypot(*vector) == pytest.approx(1)
    refused = serving.post("/encode", name="other", input="x")
    assert refused.status_code == 400 and refused.json()["error"] == "scripted embeds no texts"
    assert serving.post("/encode", name="nobody", input="x").status_code == 404


# -- models by name ----------------------------------------------------------------------------------------------------


def test_names_are_those_of_the_specs_and_no_two_are_the_same(tmp_path: Any) -> None:
    (tmp_path / "out").mkdir()
    names = {
        "sft/run": "run",
        "/home/me/sft/run/model_12.pt": "run/model_12",
        "hf:owner/name": "owner/name",
        f"hf:{tmp_path}/out": "out",
        "openai:http://a:1/v1#m": "m",
    }
    assert {spec: short_name(spec) for spec in names} == names
    model = ServedModel("a", Scripted(), None, SAMPLING)
    with pytest.raises(UserError, match=r"--model a=\.\.\.: there is another model of this name"):
        ServedModels([model, model])


def test_a_text_policy_is_served_with_its_values() -> None:
    class Far:
        def value(self, state_text: str) -> Any:
            from nanoproof.policy.text_policy import Value

            return Value(7.5)

    with TextPolicy(Scripted(), FORMATS["llmstep"], SAMPLING, Far()) as policy:
        served = served_policy("x", "x", policy)
        assert [each.reward for each in served.candidates(STATE, use_reward=True)] == [-7.5]
    with TextPolicy(Scripted(), FORMATS["llmstep"], SAMPLING) as policy:
        assert served_policy("x", "x", policy).scorer is None


def test_a_caller_who_leaves_lets_our_engine_drop_the_samples(serving: Serving, network: GPT, words: Tokenizer) -> None:
    own = OwnModel("slow", network, words)
    step, entered, gate = own.engine.step, threading.Event(), threading.Event()

    def held() -> Any:
        entered.set()
        gate.wait(20)
        return step()

    own.engine.step = held  # type: ignore[method-assign]
    models = ServedModels([ServedModel("slow", own, None, SAMPLING)])
    ended = threading.Event()
    options = GenerationOptions(num_samples=4, max_new_tokens=90, temperature=0)
    call = models.submit(lambda gone: own.generate(["x = x"], options, [0], cancelled=gone), ended.set)
    assert entered.wait(20)
    call.leave()
    assert ended.wait(20)
    gate.set()
    wait_for(lambda: own.engine.stats.cancelled == 1 and own.engine.idle)
    models.close()
    own.close()
